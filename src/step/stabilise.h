/* Keeping joints together. */
#ifndef MOREAU_STEP_STABILISE_H
#define MOREAU_STEP_STABILISE_H

#include "model/world.h"

/* After the solve: tries the step and solves islands again with `solve` until every joint's |phi| at its end is within
 * the position tolerance (at most 10 rounds). After the step: makes the velocities fit the joints and sets
 * world->joint_error. Both do nothing without joints; `impulse` does both, `projection` the second,
 * which then also projects the positions. */
mor_status mor_stabilise_positions(mor_world* world, mor_status status, void (*solve)(mor_world* world, int island));
void mor_stabilise_velocities(mor_world* world);

/* What an assembly beside the step would overwrite of it. Contacts are set aside too: joints alone are assembled. */
typedef struct mor_step_memory {
    mor_island* islands;
    int island_count, contacts, old;
    double *nu, *nu_free, *nu_new;
} mor_step_memory;
mor_step_memory mor_step_set_aside(mor_world* world);
void mor_step_put_back(mor_world* world, const mor_step_memory* memory);

/* Moves all bodies and robots by the velocities of the step (step.c). */
void mor_integrate_bodies(mor_world* world);

#endif
