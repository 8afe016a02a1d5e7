/* Taking joints back to where they belong after the step. */
#ifndef MOREAU_STEP_STABILISE_H
#define MOREAU_STEP_STABILISE_H

#include "model/world.h"

/* Corrects positions until every joint's |phi| is within the position tolerance (at most 10 rounds), then velocities.
 * Does nothing without joints or with another stabilisation than `impulse`. Sets world->joint_error. */
void mor_stabilise_joints(mor_world* world);

#endif
