/* Keeping joints together. */
#ifndef MOREAU_STEP_STABILISE_H
#define MOREAU_STEP_STABILISE_H

#include "model/step.h"

/* After the solve, over the first `rough` islands: tries the step on the draft and solves islands again with `solve`
 * until every joint's |phi| at its end is within the position tolerance (at most 10 rounds); the draft is put back
 * where it was. After the step: makes the velocities of the draft fit the joints and sets its joint_error. Both do
 * nothing without joints; `impulse` does both, `projection` the second, which then also projects the positions.
 * MOR_SYSTEM: out of memory. */
mor_code mor_stabilise_positions(mor_step* step, void (*solve)(mor_step* step, int island));
mor_code mor_stabilise_velocities(mor_step* step);

/* Moves all bodies and robots of the draft by the velocities of the step (step/integrate.c). */
void mor_integrate_bodies(mor_step* step);

#endif
