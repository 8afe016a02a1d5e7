/* Edge against parallel edge, corner against corner: the direction in which they push (edge_touch.c). */
#ifndef MOR_COLLISION_EDGE_TOUCH_H
#define MOR_COLLISION_EDGE_TOUCH_H

#include "collision/manifold.h"

/* share of the size within which edges or corners lie on each other */
#define MOR_EDGE_TOUCH 1e-7

/* The middle of the directions that the cones spanned by (a0, a1) and by (b0, b1) have in common, all unit vectors
 * across the unit vector `along`. False if they have at most one direction in common. */
bool mor_common_direction(mor_vec3 along, mor_vec3 a0, mor_vec3 a1, mor_vec3 b0, mor_vec3 b1, mor_vec3* middle);

/* The contact points of two polyhedra, all in one line that is an edge of both: replaces them by the ends of the common
 * stretch with the common direction. Returns the new count; `count` if this is no such contact. `tol`: length within
 * which points lie on an edge. Points relative to the origin of A and B. */
int mor_edges_touch(const mor_placed* A, const mor_placed* B, double tol, double reach, mor_point* points, int count);

#endif
