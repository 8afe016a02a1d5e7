/* Keeping joints together. */
#ifndef MOREAU_STEP_STABILISE_H
#define MOREAU_STEP_STABILISE_H

#include "model/world.h"

/* After the solve: tries the step and solves islands again with `solve` until every joint's |phi| at its end is within
 * the position tolerance (at most 10 rounds). After the step: makes the velocities fit the joints and sets
 * world->joint_error. Both do nothing without joints; only `impulse` stabilisation corrects. */
mor_status mor_stabilise_positions(mor_world* world, mor_status status, void (*solve)(mor_world* world, int island));
void mor_stabilise_velocities(mor_world* world);

/* Moves all bodies and robots by the velocities of the step (step.c). */
void mor_integrate_bodies(mor_world* world);

#endif
