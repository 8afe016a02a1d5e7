/* The collision stage `manifold`: broad phase, pair tests, contacts. */
#ifndef MOREAU_COLLISION_DETECT_H
#define MOREAU_COLLISION_DETECT_H

#include "model/world.h"

typedef struct mor_broad_phase mor_broad_phase;

/* NULL when out of memory. */
mor_broad_phase* mor_broad_phase_create(const mor_allocator* allocator);
void mor_broad_phase_destroy(mor_broad_phase* broad_phase);

/* Finds all contacts of the world by the broad phase and the library's pair tests. */
void mor_detect(mor_world* world, const mor_collision_options* options);

#endif
