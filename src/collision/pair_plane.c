/* Polyhedra, cylinders and cones on a plane, in closed form.
 *
 * Plane: a point p and unit normal n; the gap of a point x is n . (x - p), and of a convex shape the
 * least gap of its extreme points. So that a body can rest, all candidates nearer than `reach` count:
 *   polyhedron   its vertices;
 *   cylinder     the lowest point of each rim, and, when the axis is within about 30 degrees of n,
 *                eight points fixed on the lower rim;
 *   cone         the apex, the lowest point of the base rim, and its eight points likewise.
 * The lowest point of a rim with axis u and radius r is c - r m / |m|, m = n - (n.u) u. When |m| is so
 * small that rounding decides its direction, the fixed points alone carry the contact: what is lost
 * is below r |m| (1 - cos 22.5 deg). */
#include "collision/manifold.h"
#include "collision/pair_tests.h"

#define RIM_POINTS 8
#define STANDING_COSINE 0.87
/* radians of tilt below which the lowest rim point has no well defined place */
#define LEAST_TILT 1e-9

static int add(mor_vec3 x, mor_vec3 n, double reach, int vertex, mor_point* points, int count)
{
    double gap = mor_dot(n, x);
    if (gap < reach) points[count++] = mor_point_on_b(x, n, gap, mor_feature(MOR_VERTEX_OF_B, 0, vertex));
    return count;
}

/* Lowest point of the circle about c with axis u, radius r. False if it is undefined. */
static bool lowest(mor_vec3 c, mor_vec3 u, double r, mor_vec3 n, mor_vec3* x)
{
    mor_vec3 m = mor_madd(n, -mor_dot(n, u), u);
    double l = mor_norm(m);
    if (l < LEAST_TILT) return false;
    *x = mor_madd(c, -r / l, m);
    return true;
}

static int add_rim(const mor_placed* B, double r, double z, mor_vec3 n, double reach, int first, mor_point* points,
                   int count)
{
    static const double cosine[RIM_POINTS] = { 1,  0.70710678118654752440,  0, -0.70710678118654752440,
                                               -1, -0.70710678118654752440, 0, 0.70710678118654752440 };
    for (int k = 0; k < RIM_POINTS; k++)
        count = add(mor_placed_point(B, mor_v3(r * cosine[k], r * cosine[(k + 6) % RIM_POINTS], z)), n, reach,
                    first + k, points, count);
    return count;
}

int mor_pair_plane_cylinder(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                            const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    mor_vec3 n = mor_placed_axis(&A), u = mor_placed_axis(&B), x;
    double r = b->size[0], h = 0.5 * b->size[1], c = mor_dot(n, u);
    int count = 0;
    for (int k = 0; k < 2; k++) {
        double z = k == 0 ? -h : h;
        if (lowest(mor_madd(B.p, z, u), u, r, n, &x)) count = add(x, n, reach, k, points, count);
    }
    if (fabs(c) > STANDING_COSINE) count = add_rim(&B, r, c > 0.0 ? -h : h, n, reach, c > 0.0 ? 16 : 32, points, count);
    return mor_points_to_world(points, count, pose_a);
}

int mor_pair_plane_cone(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                        double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    mor_vec3 n = mor_placed_axis(&A), u = mor_placed_axis(&B), x;
    double r = b->size[0], height = b->size[1];
    int count = add(mor_madd(B.p, 0.75 * height, u), n, reach, 1, points, 0);
    if (lowest(mor_madd(B.p, -0.25 * height, u), u, r, n, &x)) count = add(x, n, reach, 0, points, count);
    if (mor_dot(n, u) > STANDING_COSINE) count = add_rim(&B, r, -0.25 * height, n, reach, 16, points, count);
    return mor_points_to_world(points, count, pose_a);
}

int mor_pair_plane_polyhedron(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                              const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_placed A, B;
    mor_place_pair(a, pose_a, b, pose_b, &A, &B);
    mor_vec3 n = mor_placed_axis(&A), d = mor_placed_unvector(&B, n);
    const mor_polyhedron* P = b->polyhedron;
    double height = mor_dot(n, B.p);
    if (!(height - b->radius < reach)) return 0;
    int count = 0;
    for (int v = 0; v < P->vertex_count; v++) {
        if (!(height + mor_dot(d, P->vertices[v]) < reach)) continue;
        if (count == MOR_MAX_POINTS)
            count = mor_manifold_reduce(points, count, MOR_PAIR_POINTS, 1e-5 * b->radius, NULL);
        count = add(mor_placed_point(&B, P->vertices[v]), n, reach, v, points, count);
    }
    count = mor_manifold_reduce(points, count, MOR_PAIR_POINTS, 1e-5 * b->radius, NULL);
    return mor_points_to_world(points, count, pose_a);
}
