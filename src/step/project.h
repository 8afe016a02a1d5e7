/* Overlaps and joints outside their limits, undone in the positions. */
#ifndef MOREAU_STEP_PROJECT_H
#define MOREAU_STEP_PROJECT_H

#include "model/step.h"

/* Detection of the contacts of the draft into `contacts`. */
typedef mor_code (*mor_detect_again)(mor_step* step, mor_buffer* contacts, mor_error* error);

/* Moves the draft until no contact of `contacts` (found at its present state) is deep and no limit is exceeded, at most
 * `passes` times; finds the contacts again after each. Adds to step->projection_work. */
mor_code mor_project_positions(mor_step* step, mor_buffer* contacts, int passes, mor_detect_again detect,
                               mor_error* error);

#endif
