/* Bodies that a blow of this step stops. */
#ifndef MOREAU_COLLISION_STRUCK_H
#define MOREAU_COLLISION_STRUCK_H

#include "model/world.h"

/* Do they count? Methods that move bodies out of each other afterwards need it not. */
bool mor_struck_count(const mor_world* world);

/* Sets blow[slot] to the largest change of velocity that contacts first ... last - 1 may make of a body [m/s], from
 * what it is; false: none has become larger. */
bool mor_struck_add(const mor_world* world, const mor_contact* contacts, int first, int last, mor_vec3* blow);

#endif
