/* No step of a mechanism gains energy from nothing. */
#ifndef MOREAU_STEP_PASSIVE_H
#define MOREAU_STEP_PASSIVE_H

#include "model/step.h"

/* After velocities fit the joints: islands with joints that gained energy in this step, though nothing drives them, are
 * slowed down until they have not. `world` is the state before the step. Counts them in step->slowed; MOR_SYSTEM: out
 * of memory. */
mor_code mor_keep_passive(const mor_world* world, mor_step* step);

#endif
