/* The built-in collision methods. */
#ifndef MOREAU_COLLISION_REGISTRY_H
#define MOREAU_COLLISION_REGISTRY_H

#include "moreau/world.h"

/* NULL-terminated. */
const mor_collision* const* mor_collisions(void);

#endif
