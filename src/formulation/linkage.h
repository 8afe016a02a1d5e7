/* Bodies held together by joints: velocities that their equations allow. */
#ifndef MOREAU_FORMULATION_LINKAGE_H
#define MOREAU_FORMULATION_LINKAGE_H

#include "model/step.h"

/* Changes the velocities of free bodies in the step's draft by the least kinetic energy that makes the equations of
 * their joints hold, where one of a linkage is off by more than `tolerance` [m/s]. False: a joint is of another kind of
 * body, robots are there, or there is no answer: nothing was done. */
bool mor_linkage_velocities(mor_step* step, double tolerance);

#endif
