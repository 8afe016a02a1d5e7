/* Overlaps and joints outside their limits, undone in the positions. */
#ifndef MOREAU_STEP_PROJECT_H
#define MOREAU_STEP_PROJECT_H

#include "model/step.h"

/* Detection of the contacts of the draft into `contacts`. */
typedef mor_code (*mor_detect_again)(mor_step* step, mor_buffer* contacts, mor_error* error);

/* Told of every island before it is moved: the assembly beside the step, impulses p of all rows, dq = M^-1 G p. */
typedef struct mor_projection_observer {
    mor_code (*moves)(void* user, mor_step* beside, int island, const double* p, const double* dq);
    void* user;
} mor_projection_observer;

/* Moves the draft until no contact of `contacts` (found at its present state) is deep and no limit is exceeded, at most
 * `passes` times; finds the contacts again after each. Adds to step->projection_work. `observer` may be NULL. */
mor_code mor_project_positions(mor_step* step, mor_buffer* contacts, int passes, mor_detect_again detect,
                               const mor_projection_observer* observer, mor_error* error);

/* One pass, in parts: the assembly beside the step, with normal rows of the contacts only (their friction becomes 0);
 * and psi of the rows of an island. keep, if not NULL: whether the rows of a block count. */
bool mor_projection_assemble(mor_step* step, mor_buffer* contacts, mor_step* beside);
void mor_projection_bias(const mor_island* island, double* bias, bool* keep);

#endif
