/* Contacts as forces in substeps: the loop that spring laws share (penalty.c). */
#ifndef MOREAU_FORMULATION_PENALTY_H
#define MOREAU_FORMULATION_PENALTY_H

#include "moreau/world.h"

typedef struct mor_penalty_law {
    const char* name; /* of the formulation, for messages */
    /* Normal impulse of a substep h of a contact with the gap and the normal velocity u; the velocity rises by W times
     * the impulse. Not negative. */
    double (*normal)(const void* options, double h, double gap, double u, double W);
    double slip_speed; /* below it friction is viscous [m/s] */
    int substeps;
} mor_penalty_law;

/* One step. path (dof, zero on entry, or NULL) gets the way along the substeps. */
mor_report mor_penalty_step(const mor_system* system, const void* options, const mor_penalty_law* law,
                            mor_solve_stage* stage, mor_answer* answer, double* path);
/* Springs carry by being pressed in. */
bool mor_penalty_overlaps(const void* options);
#endif
