/* The signed distance of two convex shapes, for judging what collision methods find. */
#ifndef MOR_COLLISION_EXACT_H
#define MOR_COLLISION_EXACT_H

#include "moreau/world.h"

/* False where it is not known: polygons, chains, custom shapes. `normal` from a to b, zero where it has no direction:
 * centres that coincide, axes that cross. */
MOR_API bool mor_exact_distance(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                                const mor_pose* pose_b, double* distance, mor_vec3* normal);

#endif
