/* Closest points of convex shapes from their support functions. Round shapes enter by their core: the
 * segment of a capsule, the centre of a sphere; the caller takes the radii off the distance. */
#ifndef MOR_COLLISION_GJK_H
#define MOR_COLLISION_GJK_H

#include "collision/manifold.h"

typedef enum mor_gjk_status {
    MOR_GJK_FAR,    /* farther than the limit; nothing else is filled */
    MOR_GJK_APART,  /* distance, normal and points are filled */
    MOR_GJK_OVERLAP /* meeting, or too near to tell a direction */
} mor_gjk_status;

typedef struct mor_closest {
    double distance; /* signed: negative is the depth */
    mor_vec3 normal; /* from a to b */
    mor_vec3 on_a, on_b;
} mor_closest;

/* The farthest point of the core of X in direction d (need not be of unit length). */
mor_vec3 mor_support(const mor_placed* X, mor_vec3 d);
/* Separation along the unit direction n: min n.b - max n.a. Never more than the signed distance. */
double mor_separation(const mor_placed* A, const mor_placed* B, mor_vec3 n);

/* Distance of the cores. Below about 1e-9 of the size of the shapes the answer is MOR_GJK_OVERLAP. */
mor_gjk_status mor_gjk(const mor_placed* A, const mor_placed* B, double limit, mor_closest* closest);
/* Depth of overlapping cores, of which at least one has a volume. The normal always realises the
 * distance given; that it is the least depth holds to 1e-10 of the size. */
void mor_epa(const mor_placed* A, const mor_placed* B, mor_closest* closest);
/* Climbs the separation from closest->normal by compass search, with steps from `step` radians down to 1e-9; normal and
 * distance are filled (pair_convex.c). */
void mor_climb_separation(const mor_placed* A, const mor_placed* B, double step, mor_closest* closest);

#endif
