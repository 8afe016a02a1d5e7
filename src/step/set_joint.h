/* Puts a joint at a position by hand: what a slider of the viewer does. */
#ifndef MOREAU_STEP_SET_JOINT_H
#define MOREAU_STEP_SET_JOINT_H

#include "moreau/world.h"

/* Moves joint `place`, a number of mor_joint_places, to angle or displacement q [rad, m]. A robot takes the position;
 * of bodies, the part behind the joint that nothing else holds moves as one and then moves with the part before it.
 * Where loops hold both parts the other joints follow, and the position reached may differ from q. Bad input: a joint
 * without a coordinate, q outside of its limits, or no position near q that closes all joints; then nothing has moved.
 * Between steps. */
mor_code mor_joint_set_position(mor_world* world, int place, double q, mor_error* error);
/* Its limits [rad, m], infinite: none; false: it has no single coordinate. */
bool mor_joint_limits(const mor_world* world, int place, double* lower, double* upper);

#endif
