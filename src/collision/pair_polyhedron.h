/* From an axis of separation to contact points: shared by the test for boxes and the general one. */
#ifndef MOR_COLLISION_PAIR_POLYHEDRON_H
#define MOR_COLLISION_PAIR_POLYHEDRON_H

#include "collision/manifold.h"

enum { MOR_AXIS_FACE_A, MOR_AXIS_FACE_B, MOR_AXIS_EDGES };

/* The axis with the greatest separation: unit normal from a to b, and the face or edges it comes from. */
typedef struct mor_axis_choice {
    int kind;
    int i, j; /* FACE_A: i of a; FACE_B: j of b; EDGES: both */
    mor_vec3 n;
    double separation;
} mor_axis_choice;

/* Points of the contact along the axis; where no axis realises the distance (vertices facing vertices
 * or edges), the closest points take over. Points relative to the origin of A and B. */
int mor_polyhedra_contact(const mor_placed* A, const mor_placed* B, const mor_axis_choice* axis, double reach,
                          mor_point* points);

/* How much greater than a face axis the separation along an edge axis must be to replace it, so that
 * rounding does not let the choice flicker [m]. `size` is a length of the shapes. */
static inline double mor_axis_tolerance(double separation, double size)
{
    return 1e-6 * fabs(separation) + 1e-10 * size;
}

#endif
