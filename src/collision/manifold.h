/* What the pair tests share: placed shapes, supporting facets, clipping, reduction, and the numbers
 * that tell one contact point from another.
 *
 * Every test works in world axes with the origin moved to the position of shape a, so that contacts
 * far from the world origin lose no digits, and moves its points back at the end. */
#ifndef MOR_COLLISION_MANIFOLD_H
#define MOR_COLLISION_MANIFOLD_H

#include "moreau/geometry.h"
#include "moreau/world.h"

/* A shape with its rotation as a matrix. */
typedef struct mor_placed {
    const mor_geometry* shape;
    mor_mat3 R;
    mor_vec3 p;
} mor_placed;

static inline mor_vec3 mor_placed_point(const mor_placed* X, mor_vec3 v) { return mor_add(X->p, mor_mul(&X->R, v)); }
static inline mor_vec3 mor_placed_vector(const mor_placed* X, mor_vec3 v) { return mor_mul(&X->R, v); }
static inline mor_vec3 mor_placed_unpoint(const mor_placed* X, mor_vec3 v) { return mor_tmul(&X->R, mor_sub(v, X->p)); }
static inline mor_vec3 mor_placed_unvector(const mor_placed* X, mor_vec3 v) { return mor_tmul(&X->R, v); }
/* Direction of the axis of a cylinder, capsule or cone; the normal of a plane. */
static inline mor_vec3 mor_placed_axis(const mor_placed* X) { return mor_v3(X->R.m[0][2], X->R.m[1][2], X->R.m[2][2]); }

/* Both shapes with the origin at pose_a's position. */
static inline void mor_place_pair(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                                  const mor_pose* pose_b, mor_placed* A, mor_placed* B)
{
    A->shape = a;
    A->R = mor_quat_matrix(pose_a->rotation);
    A->p = mor_v3(0, 0, 0);
    B->shape = b;
    B->R = mor_quat_matrix(pose_b->rotation);
    B->p = mor_sub(pose_b->position, pose_a->position);
}

/* Moves points back to the world origin; returns `count`. */
static inline int mor_points_to_world(mor_point* points, int count, const mor_pose* pose_a)
{
    for (int k = 0; k < count; k++) {
        points[k].on_a = mor_add(points[k].on_a, pose_a->position);
        points[k].on_b = mor_add(points[k].on_b, pose_a->position);
    }
    return count;
}

/* Feature numbers: two bits for the kind and fifteen for the part of each shape. Which shape served
 * as the reference of a clip does not enter, so the numbers survive a change of the reference. */
enum {
    MOR_VERTEX_OF_B = 0, /* a vertex of b against a face of a */
    MOR_VERTEX_OF_A = 1, /* a vertex of a against a face of b */
    MOR_EDGE_EDGE = 2,
    MOR_CLOSEST = 3 /* the closest points of the shapes, wherever they lie */
};
static inline uint32_t mor_feature(int kind, int of_a, int of_b)
{
    return (uint32_t)kind << 30 | ((uint32_t)of_a & 0x7fffu) << 15 | ((uint32_t)of_b & 0x7fffu);
}

/* on_b = q, on_a = q - gap n */
static inline mor_point mor_point_on_b(mor_vec3 q, mor_vec3 n, double gap, uint32_t feature)
{
    return (mor_point){ .on_a = mor_madd(q, -gap, n), .on_b = q, .normal = n, .gap = gap, .feature = feature };
}
/* on_a = q, on_b = q + gap n */
static inline mor_point mor_point_on_a(mor_vec3 q, mor_vec3 n, double gap, uint32_t feature)
{
    return (mor_point){ .on_a = q, .on_b = mor_madd(q, gap, n), .normal = n, .gap = gap, .feature = feature };
}

/* The part of a shape that lies farthest in a direction: a vertex (count 1), an edge (2) or a face
 * (counter-clockwise seen from outside, with its normal). */
#define MOR_FACET_POINTS 64
typedef struct mor_facet {
    int count;
    int face;
    mor_vec3 normal;
    mor_vec3 point[MOR_FACET_POINTS];
    int vertex[MOR_FACET_POINTS];
    int edge[MOR_FACET_POINTS]; /* from point k to the next */
} mor_facet;

/* Face f of a polyhedron. Loops longer than MOR_FACET_POINTS are thinned evenly. */
void mor_facet_face(const mor_placed* X, int f, mor_facet* facet);
/* The face at vertex v whose normal is nearest to n. */
int mor_polyhedron_face_at(const mor_placed* X, int v, mor_vec3 n);
/* The facet of any convex bounded shape (its core for capsules and spheres, without the radius) that
 * supports the unit direction n: a face or edge counts if it is turned from its supporting position by
 * less than about 11 degrees, else a vertex is returned. Cylinders and cones give caps as 16-gons with
 * vertices fixed in the shape, and side lines as edges. */
void mor_facet_support(const mor_placed* X, mor_vec3 n, mor_facet* facet);

/* Intersection of two facets projected along the unit vector n (from a to b), with the gaps along n of
 * its corners. At least one of them is a face with a normal not far from -+n, or both are edges that
 * are nearly parallel; otherwise no points result. `radius` (sum of the radii around core shapes) is
 * taken off every gap. Returns the points with gap < reach and, in *least, the least gap of all
 * corners (HUGE_VAL if there are none). `tol` is a length below which corners count as inside. At most MOR_MAX_POINTS.
 * */
int mor_manifold_clip(const mor_facet* a, const mor_facet* b, mor_vec3 n, double radius_a, double radius_b, double tol,
                      double reach, mor_point* points, double* least);

/* Keeps about `limit` (8 or more) of the points, order kept. First the corners of what carries now: of the points not
 * more than `level` [m] above the lowest, the farthest in eight directions of the contact plane; a corner of their
 * polygon that turns by more than 45 degrees is never dropped. Then the others, those that land next before the rest:
 * by `later`, their gaps at the end of the step in free motion [m], or by their gaps if it is NULL. Points that land in
 * the step are kept beyond the limit, up to twice as many. */
int mor_manifold_reduce(mor_point* points, int count, int limit, double level, const double* later);

/* What pair tests leave for the step to choose from. */
#define MOR_PAIR_POINTS 32

#endif
