/* Forces of a user stage that the state does not change, for scenes: derivatives are whole with them. */
#ifndef MOREAU_STEP_STEADY_H
#define MOREAU_STEP_STEADY_H

#include "model/world.h"

/* What the function of mor_world_on_user applies depends on the time alone; until another function is given. */
void mor_world_user_is_steady(mor_world* world);

#endif
