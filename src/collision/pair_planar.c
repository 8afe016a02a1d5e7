/* Particles, discs and convex polygons in the plane.
 *
 * A particle is a disc of radius 0. A disc against a polygon is the signed distance of its centre less
 * the radius: to the nearest edge or corner outside, to the edge of least depth inside. Two polygons
 * are separated by the edge normal with the greatest s(n) = min n.b - max n.a; the other polygon's edge
 * facing it is clipped to the stretch over the reference edge, and both ends count with their own gap.
 * When the clipped edge is nowhere as near as s, two corners are nearest and their distance is the gap.
 * Cost O(m_a m_b). */
#include "base/elementary.h"
#include "collision/manifold.h"
#include "collision/pair_tests.h"

static double disc_radius(const mor_geometry* g) { return g->kind == MOR_DISC ? g->size[0] : 0.0; }

int mor_pair_disc_disc(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                       double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    mor_vec3 d = mor_sub(pose_b->position, pose_a->position);
    double ra = disc_radius(a), gap = mor_norm(d) - ra - disc_radius(b);
    if (!(gap < reach)) return 0;
    mor_vec3 n = mor_normalize(d, mor_v3(0, 1, 0));
    points[0] = mor_point_on_a(mor_madd(pose_a->position, ra, n), n, gap, mor_feature(MOR_CLOSEST, 0, 0));
    return 1;
}

int mor_pair_disc_polygon(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                          double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    const mor_polyline* P = b->polyline;
    mor_vec3 c = mor_pose_unpoint(pose_b, pose_a->position), outward;
    double r = disc_radius(a), distance = -HUGE_VAL;
    int edge = 0, m = P->point_count;
    for (int k = 0; k < m; k++) {
        double s = mor_dot(P->normals[k], mor_sub(c, P->points[k]));
        if (s > distance) {
            distance = s;
            edge = k;
        }
    }
    outward = P->normals[edge];
    uint32_t feature = mor_feature(MOR_VERTEX_OF_A, 0, edge);
    if (distance > 0.0) {
        /* outside: the nearest point is on this edge or at one of its ends */
        int next = edge + 1 < m ? edge + 1 : 0;
        mor_vec3 p = P->points[edge], e = mor_sub(P->points[next], p), d = mor_sub(c, p);
        double t = mor_dot(d, e), ee = mor_dot(e, e);
        int corner = t < 0.0 ? edge : t > ee ? next : -1;
        if (corner >= 0) {
            d = mor_sub(c, P->points[corner]);
            distance = mor_norm(d);
            outward = mor_normalize(d, outward);
            feature = mor_feature(MOR_CLOSEST, 0, corner);
        }
    }
    if (!(distance - r < reach)) return 0;
    mor_vec3 n = mor_neg(mor_rotate(pose_b->rotation, outward));
    points[0] = mor_point_on_a(mor_madd(pose_a->position, r, n), n, distance - r, feature);
    return 1;
}

typedef struct polygon {
    const mor_polyline* line;
    const mor_pose* pose;
    mor_vec3 shift; /* taken off world positions */
} polygon;

static mor_vec3 corner_of(const polygon* p, int k)
{
    return mor_sub(mor_pose_point(p->pose, p->line->points[k]), p->shift);
}
static mor_vec3 normal_of(const polygon* p, int k) { return mor_rotate(p->pose->rotation, p->line->normals[k]); }
static int after(const polygon* p, int k) { return k + 1 < p->line->point_count ? k + 1 : 0; }

/* Corner farthest in direction d. */
static int far_corner(const polygon* p, mor_vec3 d)
{
    mor_vec3 local = mor_unrotate(p->pose->rotation, d);
    int best = 0;
    double far = -HUGE_VAL;
    for (int k = 0; k < p->line->point_count; k++) {
        double s = mor_dot(local, p->line->points[k]);
        if (s > far) {
            far = s;
            best = k;
        }
    }
    return best;
}

/* Greatest separation of y from an edge of x. */
static double best_edge(const polygon* x, const polygon* y, int* edge)
{
    double best = -HUGE_VAL;
    for (int k = 0; k < x->line->point_count; k++) {
        mor_vec3 n = normal_of(x, k);
        double s = mor_dot(n, mor_sub(corner_of(y, far_corner(y, mor_neg(n))), corner_of(x, k)));
        if (s > best) {
            best = s;
            *edge = k;
        }
    }
    return best;
}

static int closest_corners(const polygon* a, const polygon* b, double reach, mor_point* points)
{
    double least = HUGE_VAL;
    int ia = 0, ib = 0;
    for (int i = 0; i < a->line->point_count; i++)
        for (int j = 0; j < b->line->point_count; j++) {
            mor_vec3 d = mor_sub(corner_of(b, j), corner_of(a, i));
            if (mor_dot(d, d) < least) {
                least = mor_dot(d, d);
                ia = i;
                ib = j;
            }
        }
    double gap = sqrt(least);
    if (!(gap < reach)) return 0;
    mor_vec3 q = corner_of(b, ib), n = mor_normalize(mor_sub(q, corner_of(a, ia)), mor_v3(0, 1, 0));
    points[0] = mor_point_on_b(q, n, gap, mor_feature(MOR_CLOSEST, ia, ib));
    return 1;
}

int mor_pair_polygon_polygon(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points)
{
    (void)cache;
    polygon A = { a->polyline, pose_a, pose_a->position }, B = { b->polyline, pose_b, pose_a->position };
    const double size = mor_min(a->radius, b->radius);
    int edge_a = 0, edge_b = 0;
    double sa = best_edge(&A, &B, &edge_a);
    if (sa >= reach) return 0;
    double sb = best_edge(&B, &A, &edge_b);
    if (sb >= reach) return 0;
    bool swapped = sb > sa + 1e-6 * fabs(sb) + 1e-10 * size;
    const polygon *ref = swapped ? &B : &A, *inc = swapped ? &A : &B;
    int edge = swapped ? edge_b : edge_a;
    double s = swapped ? sb : sa, tol = 1e-9 * (size + fabs(s)), least = HUGE_VAL;

    /* the edge of the other polygon at its nearest corner that faces the reference most */
    mor_vec3 n = normal_of(ref, edge), p = corner_of(ref, edge), u = mor_sub(corner_of(ref, after(ref, edge)), p);
    int near = far_corner(inc, mor_neg(n)), m = inc->line->point_count, before = near > 0 ? near - 1 : m - 1;
    int facing = mor_dot(normal_of(inc, before), n) < mor_dot(normal_of(inc, near), n) ? before : near;
    int end[2] = { facing, after(inc, facing) };
    mor_vec3 q[2] = { corner_of(inc, end[0]), corner_of(inc, end[1]) };
    double l = mor_norm(u), t[2];
    u = mor_scale(1.0 / l, u);
    for (int k = 0; k < 2; k++) t[k] = mor_dot(u, mor_sub(q[k], p));

    int count = 0;
    for (int k = 0; k < 2; k++) {
        double c = t[k] < -tol ? 0.0 : t[k] > l + tol ? l : t[k];
        bool clipped = c != t[k];
        if (clipped && (t[1 - k] < c) == (t[k] < c)) continue; /* all of it beyond this end */
        mor_vec3 x = clipped ? mor_lerp(q[k], q[1 - k], (c - t[k]) / (t[1 - k] - t[k])) : q[k];
        double gap = mor_dot(n, mor_sub(x, p));
        if (gap < least) least = gap;
        if (!(gap < reach)) continue;
        int corner = clipped ? (c == 0.0 ? edge : after(ref, edge)) : end[k], other = clipped ? facing : edge;
        uint32_t feature = swapped == clipped ? mor_feature(MOR_VERTEX_OF_B, other, corner)
                                              : mor_feature(MOR_VERTEX_OF_A, corner, other);
        points[count++] = swapped ? mor_point_on_a(x, mor_neg(n), gap, feature) : mor_point_on_b(x, n, gap, feature);
    }
    if (least > s + tol) {
        if (s > 0.0) return mor_points_to_world(points, closest_corners(&A, &B, reach, points), pose_a);
        mor_vec3 x = corner_of(inc, near);
        points[count++] = swapped ? mor_point_on_a(x, mor_neg(n), s, mor_feature(MOR_CLOSEST, near, edge))
                                  : mor_point_on_b(x, n, s, mor_feature(MOR_CLOSEST, edge, near));
    }
    return mor_points_to_world(points, count, pose_a);
}
