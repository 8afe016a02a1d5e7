/* Which links of a robot cannot touch each other although its self_collision is on. */
#ifndef MOR_COLLISION_SELF_PAIRS_H
#define MOR_COLLISION_SELF_PAIRS_H

#include "model/world.h"

/* Finds these pairs for robots and joints that were added since the last call, ignores and lists them
 * (mor_world_left_out). False: out of memory. Does nothing, at no cost, when nothing was added. */
bool mor_world_leave_out(mor_world* world);

#endif
