/* Sets bodies on what lies below them. */
#ifndef MOR_COLLISION_PUT_ON_H
#define MOR_COLLISION_PUT_ON_H

#include "model/world.h"

/* How far the bodies (slots, moved together) must be lifted along `up`, or lowered (< 0), for their lowest point to
 * touch body `on` (a slot; -1: whatever they would meet first, but for bodies with waiting[slot]; may be NULL).
 * -INFINITY: nothing of it lies below them. */
double mor_height_above(const mor_world* world, const int* bodies, int count, int on, const bool* waiting, mor_vec3 up);

/* Up in a world: against gravity; without gravity z, in 2-D y. */
mor_vec3 mor_world_up(const mor_world* world);

#endif
