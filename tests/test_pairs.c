/* Every pair test of bounded 3-D shapes and of planes against a distance found another way:
 *   - polyhedra: brute force over all features (apart) or all axes (overlapping);
 *   - every convex pair: the greatest separation over directions, by search on support functions;
 *   - planes: the support function in the direction of the plane;
 * and the properties every answer must have. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collision/pair_table.h"
#include "moreau/geometry.h"
#include "moreau/world.h"

typedef struct placed {
    const mor_geometry* shape;
    mor_pose pose;
} placed;

static int contacts(placed a, placed b, double reach, mor_point* points)
{
    bool swap;
    uint32_t cache[4] = { 0 };
    mor_pair_test test = mor_pair_builtin(a.shape->kind, b.shape->kind, &swap);
    assert_non_null(test);
    return mor_pair_run(test, swap, a.shape, &a.pose, b.shape, &b.pose, reach, cache, points);
}

static double least_gap(const mor_point* p, int n, int* at)
{
    double least = HUGE_VAL;
    for (int k = 0; k < n; k++)
        if (p[k].gap < least) {
            least = p[k].gap;
            if (at) *at = k;
        }
    return least;
}

static void assert_near(double a, double b, double tol)
{
    if (!(fabs(a - b) <= tol)) fail_msg("%.17g is not %.17g to %g (off by %g)", a, b, tol, a - b);
}

/* ------------------------------------------------------------------------------- oracles */

static mor_vec3 support(placed x, mor_vec3 d)
{
    return mor_pose_point(&x.pose, mor_geometry_support(x.shape, mor_unrotate(x.pose.rotation, d)));
}

static double separation(placed a, placed b, mor_vec3 n)
{
    return mor_dot(n, mor_sub(support(b, mor_neg(n)), support(a, n)));
}

static mor_vec3 fibonacci(int k, int count)
{
    double z = 1.0 - (2.0 * k + 1.0) / count, r = sqrt(1.0 - z * z), t = k * 2.399963229728653;
    return mor_v3(r * cos(t), r * sin(t), z);
}

/* Greatest separation over directions by sampling and a shrinking compass search from the best of them
 * and from the normal the test gives. Never more than the signed distance; A test is right if its own normal separates
 * by its gap (check_normal) and the search finds nothing better. */
static double search_distance(placed a, placed b)
{
    enum { SAMPLES = 800, STARTS = 7 };
    double best[STARTS], result = -HUGE_VAL;
    mor_vec3 dir[STARTS];
    for (int s = 0; s < STARTS; s++) best[s] = -HUGE_VAL;
    for (int k = 0; k < SAMPLES; k++) {
        mor_vec3 n = fibonacci(k, SAMPLES);
        double v = separation(a, b, n);
        for (int s = 0; s < STARTS; s++)
            if (v > best[s]) {
                for (int m = STARTS - 1; m > s; m--) {
                    best[m] = best[m - 1];
                    dir[m] = dir[m - 1];
                }
                best[s] = v;
                dir[s] = n;
                break;
            }
    }
    mor_point p[MOR_MAX_POINTS];
    int at = 0, n_points = contacts(a, b, 10.0, p);
    assert_true(n_points > 0);
    least_gap(p, n_points, &at);
    dir[STARTS - 1] = p[at].normal;
    result = best[STARTS - 1] = separation(a, b, p[at].normal);
    for (int s = 0; s < STARTS; s++) {
        double step = 0.1;
        mor_vec3 n = dir[s];
        double v = best[s];
        for (int rounds = 0; step > 1e-11 && rounds < 300; rounds++) {
            mor_vec3 t, o;
            mor_tangents(n, mor_v3(0.3, 0.5, 0.8), &t, &o);
            bool moved = false;
            for (int k = 0; k < 12; k++) {
                double angle = k * 0.5235987755982988 + step;
                mor_vec3 m = mor_add(n, mor_scale(step, mor_add(mor_scale(cos(angle), t), mor_scale(sin(angle), o))));
                m = mor_normalize(m, n);
                double w = separation(a, b, m);
                if (w > v) {
                    v = w;
                    n = m;
                    moved = true;
                }
            }
            if (!moved) step *= 0.5;
        }
        if (v > result) result = v;
    }
    return result;
}

static double segment_distance(mor_vec3 p, mor_vec3 p1, mor_vec3 q, mor_vec3 q1)
{
    mor_vec3 u = mor_sub(p1, p), v = mor_sub(q1, q);
    double best = HUGE_VAL;
    /* ends against segments, and the inside of both */
    for (int k = 0; k < 4; k++) {
        mor_vec3 x = k == 0 ? p : k == 1 ? p1 : k == 2 ? q : q1, base = k < 2 ? q : p, e = k < 2 ? v : u;
        double t = mor_dot(mor_sub(x, base), e) / mor_dot(e, e);
        t = fmin(1, fmax(0, t));
        best = fmin(best, mor_norm(mor_sub(x, mor_madd(base, t, e))));
    }
    double a = mor_dot(u, u), b = mor_dot(u, v), c = mor_dot(v, v), det = a * c - b * b;
    mor_vec3 w = mor_sub(p, q);
    if (det > 1e-12 * a * c) {
        double s = (b * mor_dot(v, w) - c * mor_dot(u, w)) / det, t = (a * mor_dot(v, w) - b * mor_dot(u, w)) / det;
        if (s > 0 && s < 1 && t > 0 && t < 1)
            best = fmin(best, mor_norm(mor_sub(mor_madd(p, s, u), mor_madd(q, t, v))));
    }
    return best;
}

static double vertex_face(placed x, placed y)
{
    const mor_polyhedron *P = x.shape->polyhedron, *Q = y.shape->polyhedron;
    double best = HUGE_VAL;
    for (int f = 0; f < P->face_count; f++)
        for (int v = 0; v < Q->vertex_count; v++) {
            mor_vec3 p = mor_pose_unpoint(&x.pose, mor_pose_point(&y.pose, Q->vertices[v]));
            double s = mor_dot(P->normals[f], p) - P->offsets[f];
            bool in = s >= 0;
            int start = P->face_start[f], end = P->face_start[f + 1];
            for (int k = start; k < end && in; k++) {
                mor_vec3 a = P->vertices[P->face_vertices[k]],
                         b = P->vertices[P->face_vertices[k + 1 < end ? k + 1 : start]];
                in = mor_dot(mor_cross(P->normals[f], mor_sub(b, a)), mor_sub(p, a)) >= 0;
            }
            if (in) best = fmin(best, s);
        }
    return best;
}

static double project_gap(placed a, placed b, mor_vec3 n)
{
    double lo[2] = { HUGE_VAL, HUGE_VAL }, hi[2] = { -HUGE_VAL, -HUGE_VAL };
    placed s[2] = { a, b };
    for (int i = 0; i < 2; i++)
        for (int v = 0; v < s[i].shape->polyhedron->vertex_count; v++) {
            double d = mor_dot(n, mor_pose_point(&s[i].pose, s[i].shape->polyhedron->vertices[v]));
            lo[i] = fmin(lo[i], d);
            hi[i] = fmax(hi[i], d);
        }
    return fmax(lo[1] - hi[0], lo[0] - hi[1]);
}

/* Signed distance of two polyhedra by brute force. */
static double brute_distance(placed a, placed b)
{
    const mor_polyhedron *P = a.shape->polyhedron, *Q = b.shape->polyhedron;
    double sat = -HUGE_VAL;
    for (int f = 0; f < P->face_count; f++)
        sat = fmax(sat, project_gap(a, b, mor_rotate(a.pose.rotation, P->normals[f])));
    for (int f = 0; f < Q->face_count; f++)
        sat = fmax(sat, project_gap(a, b, mor_rotate(b.pose.rotation, Q->normals[f])));
    for (int i = 0; i < P->edge_count; i++)
        for (int j = 0; j < Q->edge_count; j++) {
            mor_vec3 u =
                mor_rotate(a.pose.rotation, mor_sub(P->vertices[P->edges[i].head], P->vertices[P->edges[i].tail]));
            mor_vec3 v =
                mor_rotate(b.pose.rotation, mor_sub(Q->vertices[Q->edges[j].head], Q->vertices[Q->edges[j].tail]));
            mor_vec3 n = mor_cross(u, v);
            double l = mor_norm(n);
            if (l > 1e-6 * mor_norm(u) * mor_norm(v)) sat = fmax(sat, project_gap(a, b, mor_scale(1 / l, n)));
        }
    if (sat <= 0) return sat;
    double d = fmin(vertex_face(a, b), vertex_face(b, a));
    for (int i = 0; i < P->edge_count; i++)
        for (int j = 0; j < Q->edge_count; j++)
            d = fmin(d, segment_distance(mor_pose_point(&a.pose, P->vertices[P->edges[i].tail]),
                                         mor_pose_point(&a.pose, P->vertices[P->edges[i].head]),
                                         mor_pose_point(&b.pose, Q->vertices[Q->edges[j].tail]),
                                         mor_pose_point(&b.pose, Q->vertices[Q->edges[j].head])));
    return d;
}

/* ---------------------------------------------------------------------------- properties */

static void check_points(const mor_point* p, int n, double reach)
{
    assert_true(n >= 0 && n <= MOR_MAX_POINTS);
    for (int k = 0; k < n; k++) {
        assert_near(mor_norm(p[k].normal), 1, 1e-12);
        assert_true(p[k].gap < reach);
        double far = 1 + mor_norm(p[k].on_a);
        assert_near(mor_norm(mor_sub(mor_sub(p[k].on_b, p[k].on_a), mor_scale(p[k].gap, p[k].normal))), 0, 1e-14 * far);
        for (int m = 0; m < k; m++) assert_true(p[m].feature != p[k].feature);
    }
}

/* Checks one configuration against the signed distance d. */
static void check_pair(placed a, placed b, double reach, double d, double tol)
{
    mor_point p[MOR_MAX_POINTS], q[MOR_MAX_POINTS];
    int n = contacts(a, b, reach, p), at = 0;
    check_points(p, n, reach);
    if (d >= reach + tol) {
        assert_int_equal(n, 0);
        return;
    }
    if (d > reach - tol) return;
    assert_true(n > 0);
    double gap = least_gap(p, n, &at);
    assert_near(gap, d, tol);
    int m = contacts(b, a, reach, q);
    assert_near(least_gap(q, m, NULL), d, tol);
}

/* The normal of the deepest point separates by its gap. */
static void check_normal(placed a, placed b, double reach, double tol)
{
    mor_point p[MOR_MAX_POINTS];
    int n = contacts(a, b, reach, p), at = 0;
    if (n == 0) return;
    double gap = least_gap(p, n, &at);
    assert_near(separation(a, b, p[at].normal), gap, tol);
}

/* Moving both shapes moves the answer. */
static void check_motion(placed a, placed b, double reach, mor_rng* rng, double tol)
{
    mor_point p[MOR_MAX_POINTS], q[MOR_MAX_POINTS];
    mor_pose X = { mor_v3(100 * mor_rng_uniform(rng), -50 * mor_rng_uniform(rng), 30), mor_rng_rotation(rng) };
    placed c = { a.shape, mor_pose_mul(&X, &a.pose) }, d = { b.shape, mor_pose_mul(&X, &b.pose) };
    int n = contacts(a, b, reach, p), m = contacts(c, d, reach, q), i = 0, j = 0;
    double g = least_gap(p, n, &i), h = least_gap(q, m, &j);
    if (n == 0 || m == 0) {
        assert_true((n == 0 || g > reach - tol) && (m == 0 || h > reach - tol));
        return;
    }
    assert_near(g, h, tol);
}

static mor_pose random_pose(mor_rng* rng, double range)
{
    mor_vec3 p = mor_v3(range * (2 * mor_rng_uniform(rng) - 1), range * (2 * mor_rng_uniform(rng) - 1),
                        range * (2 * mor_rng_uniform(rng) - 1));
    return (mor_pose){ p, mor_rng_rotation(rng) };
}

/* -------------------------------------------------------------------------------- shapes */

static mor_geometry* make(int k)
{
    mor_error e;
    switch (k) {
    case 0:
        return mor_geometry_sphere(0.4, &e);
    case 1:
        return mor_geometry_capsule(0.25, 0.8, &e);
    case 2:
        return mor_geometry_cylinder(0.4, 0.9, 0, &e);
    case 3:
        return mor_geometry_cone(0.5, 1.0, &e);
    case 4:
        return mor_geometry_box(1.0, 0.6, 0.8, &e);
    case 5:
        return mor_geometry_cylinder(0.5, 0.7, 7, &e);
    case 6:
        return mor_geometry_platonic("icosahedron", 0, 0.6, &e);
    case 7:
        return mor_geometry_platonic("tetrahedron", 0.9, 0, &e);
    default:
        return mor_geometry_box(0.5, 0.5, 0.5, &e);
    }
}
enum { SHAPES = 8, FIRST_POLYHEDRON = 4 };

static void convex_pairs_find_the_signed_distance(void** state)
{
    (void)state;
    mor_rng rng = { 42 };
    for (int i = 0; i < SHAPES; i++)
        for (int j = i; j < SHAPES; j++) {
            mor_geometry *g = make(i), *h = make(j);
            int rounds = i >= FIRST_POLYHEDRON ? 10 : 25;
            for (int k = 0; k < rounds; k++) {
                placed a = { g, random_pose(&rng, 0.2) }, b = { h, random_pose(&rng, 0.9) };
                double d = search_distance(a, b);
                /* a sphere inside a solid reports the nearest face of the solid, as the search does */
                check_pair(a, b, 10.0, d, 3e-8);
                check_pair(a, b, 0.1, d, 3e-8);
                check_normal(a, b, 10.0, 1e-8);
                check_motion(a, b, 0.5, &rng, 1e-9);
            }
            mor_geometry_release(g);
            mor_geometry_release(h);
        }
}

/* Moved along the normal, convex shapes keep their closest points: those of shapes that just touch are those of shapes
 * that are apart. */
static void shapes_that_just_touch_have_the_point_they_had_before(void** state)
{
    (void)state;
    mor_rng rng = { 45 };
    for (int i = 0; i < SHAPES; i++)
        for (int j = i; j < SHAPES; j++) {
            mor_geometry *g = make(i), *h = make(j);
            for (int k = 0; k < 40; k++) {
                placed a = { g, random_pose(&rng, 0.2) }, b = { h, random_pose(&rng, 0.2) };
                mor_vec3 away = mor_normalize(mor_sub(b.pose.position, a.pose.position), mor_v3(0, 0, 1));
                b.pose.position = mor_madd(b.pose.position, 1.6, away);
                mor_point p[MOR_MAX_POINTS], q[MOR_MAX_POINTS];
                if (contacts(a, b, 10.0, p) != 1 || !(p[0].gap > 0.0)) continue;
                for (int s = -1; s <= 1; s++) {
                    placed c = b;
                    c.pose.position = mor_madd(b.pose.position, s * 1e-12 - p[0].gap, p[0].normal);
                    int n = contacts(a, c, 1e-6, q), near = 0;
                    assert_true(n > 0);
                    assert_near(least_gap(q, n, &near), s * 1e-12, 1e-7);
                    mor_vec3 on_b = mor_sub(q[near].on_b, c.pose.position), was = mor_sub(p[0].on_b, b.pose.position);
                    if (!(mor_norm(mor_sub(on_b, was)) < 1e-4))
                        fail_msg("%s and %s, case %d: the point is %g m off", g->label, h->label, k,
                                 mor_norm(mor_sub(on_b, was)));
                }
            }
            mor_geometry_release(g);
            mor_geometry_release(h);
        }
}

static void polyhedra_agree_with_brute_force_over_features_and_axes(void** state)
{
    (void)state;
    mor_rng rng = { 4711 };
    for (int i = FIRST_POLYHEDRON; i <= SHAPES; i++)
        for (int j = i; j <= SHAPES; j++) {
            mor_geometry *g = make(i), *h = make(j);
            for (int k = 0; k < 200; k++) {
                double range = k % 2 ? 0.3 : 0.9;
                placed a = { g, random_pose(&rng, 0.1) }, b = { h, random_pose(&rng, range) };
                double d = brute_distance(a, b);
                check_pair(a, b, 10.0, d, 2e-9 + 1e-6 * fabs(fmin(d, 0)));
                check_pair(a, b, 0.05, d, 2e-9 + 1e-6 * fabs(fmin(d, 0)));
                check_normal(a, b, 10.0, 1e-8);
            }
            mor_geometry_release(g);
            mor_geometry_release(h);
        }
}

/* Axis-aligned and nearly aligned boxes: parallel edges and faces everywhere. */
static void aligned_boxes_agree_with_brute_force(void** state)
{
    (void)state;
    mor_rng rng = { 99 };
    mor_geometry *g = make(4), *h = make(8);
    const double tilt[4] = { 0, 1e-12, 1e-7, 1e-3 };
    for (int k = 0; k < 2000; k++) {
        placed a = { g, mor_pose_identity() }, b = { h, mor_pose_identity() };
        b.pose = random_pose(&rng, 0.9);
        mor_vec3 w = mor_v3(mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5);
        b.pose.rotation = mor_quat_exp(mor_scale(tilt[k % 4], w));
        if (k % 8 >= 4) b.pose.rotation = mor_quat_mul(b.pose.rotation, mor_quat_exp(mor_v3(0, 0, 0.7853981633974483)));
        double d = brute_distance(a, b);
        check_pair(a, b, 10.0, d, 1e-7 + 1e-6 * fabs(d));
        check_normal(a, b, 10.0, 1e-7);
    }
    mor_geometry_release(g);
    mor_geometry_release(h);
}

static void planes_report_the_lowest_point(void** state)
{
    (void)state;
    mor_rng rng = { 8 };
    mor_error e;
    mor_geometry* plane = mor_geometry_plane(&e);
    for (int i = 0; i < SHAPES; i++) {
        mor_geometry* g = make(i);
        for (int k = 0; k < 300; k++) {
            placed a = { g, random_pose(&rng, 1) }, b = { plane, random_pose(&rng, 0.3) };
            mor_vec3 u = mor_rotate(b.pose.rotation, mor_v3(0, 0, 1));
            double d = mor_dot(u, mor_sub(support(a, mor_neg(u)), b.pose.position));
            check_pair(a, b, 10.0, d, 1e-12);
            check_pair(a, b, 0.1, d, 1e-12);
            check_motion(a, b, 0.5, &rng, 1e-11);
            mor_point p[MOR_MAX_POINTS];
            int n = contacts(a, b, 10.0, p);
            for (int c = 0; c < n; c++) assert_near(mor_dot(p[c].normal, u), -1, 1e-12);
        }
        mor_geometry_release(g);
    }
    mor_geometry_release(plane);
}

/* |gap(x + dx) - gap(x)| <= |dx|: a distance has slope one. */
static void gaps_change_no_faster_than_the_bodies_move(void** state)
{
    (void)state;
    mor_rng rng = { 31 };
    mor_point p[MOR_MAX_POINTS];
    for (int i = 0; i < SHAPES; i++)
        for (int j = i; j < SHAPES; j++) {
            mor_geometry *g = make(i), *h = make(j);
            for (int k = 0; k < 6; k++) {
                placed a = { g, random_pose(&rng, 0.1) }, b = { h, random_pose(&rng, 0.1) };
                mor_vec3 dir = fibonacci(k * 7 + i, 50);
                double last = 0, step = 0.01;
                for (int s = 0; s < 120; s++) {
                    b.pose.position = mor_scale(s * step, dir);
                    int n = contacts(a, b, 10.0, p);
                    double gap = least_gap(p, n, NULL);
                    if (s > 0) assert_true(fabs(gap - last) <= step * (1 + 1e-6) + 1e-7);
                    last = gap;
                }
            }
            mor_geometry_release(g);
            mor_geometry_release(h);
        }
}

/* ------------------------------------------------------------------------------ manifolds */

static bool has_point(const mor_point* p, int n, mor_vec3 q, double tol)
{
    for (int k = 0; k < n; k++)
        if (mor_norm(mor_sub(p[k].on_b, q)) < tol || mor_norm(mor_sub(p[k].on_a, q)) < tol) return true;
    return false;
}

static placed at(const mor_geometry* g, double x, double y, double z)
{
    return (placed){ g, { { x, y, z }, { 1, 0, 0, 0 } } };
}

static void a_box_rests_on_four_corners(void** state)
{
    (void)state;
    mor_error e;
    mor_geometry *small = mor_geometry_box(1, 1, 1, &e), *large = mor_geometry_box(4, 4, 1, &e),
                 *plane = mor_geometry_plane(&e);
    mor_point p[MOR_MAX_POINTS];
    const double gaps[3] = { 0, 1e-3, -1e-3 };
    for (int k = 0; k < 3; k++) {
        double z = 1 + gaps[k];
        for (int turn = 0; turn < 12; turn++) {
            mor_quat q = mor_quat_exp(mor_v3(0, 0, turn * 0.3));
            placed top = at(small, 0.3, 0.2, z), base = at(large, 0, 0, 0), ground = at(plane, 0, 0, 0.5);
            top.pose.rotation = q;
            for (int other = 0; other < 2; other++) {
                int n = contacts(other ? ground : base, top, 0.01, p);
                assert_int_equal(n, 4);
                for (int c = 0; c < 4; c++) {
                    mor_vec3 corner = mor_pose_point(&top.pose, mor_v3(c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5, -0.5));
                    assert_true(has_point(p, n, corner, 1e-12));
                    assert_near(p[c].gap, gaps[k], 1e-12);
                    assert_near(p[c].normal.z, 1, 1e-12);
                }
            }
        }
    }
    /* equal boxes: 4 corners when aligned, also when turned by a hair; the octagon at 45 degrees */
    placed base = at(small, 0, 0, 0), top = at(small, 0, 0, 1);
    assert_int_equal(contacts(base, top, 0.01, p), 4);
    top.pose.rotation = mor_quat_exp(mor_v3(0, 0, 1e-7));
    assert_int_equal(contacts(base, top, 0.01, p), 4);
    top.pose.rotation = mor_quat_exp(mor_v3(0, 0, 0.7853981633974483));
    int n = contacts(base, top, 0.01, p);
    assert_int_equal(n, 8);
    /* octagon corner: |y| = 0.5, |x| = sqrt(1/2) - 0.5 */
    assert_true(has_point(p, n, mor_v3(sqrt(0.5) - 0.5, 0.5, 0.5), 1e-12));
    /* overlap of an offset box is a rectangle */
    top = at(small, 0.7, 0.4, 1);
    n = contacts(base, top, 0.01, p);
    assert_int_equal(n, 4);
    assert_true(has_point(p, n, mor_v3(0.2, -0.1, 0.5), 1e-12));
    assert_true(has_point(p, n, mor_v3(0.5, 0.5, 0.5), 1e-12));
    mor_geometry_release(small);
    mor_geometry_release(large);
    mor_geometry_release(plane);
}

/* A stack that trembles keeps its points and their numbers. */
static void small_tilts_keep_the_points_and_their_features(void** state)
{
    (void)state;
    mor_error e;
    mor_geometry *small = mor_geometry_box(1, 1, 1, &e), *large = mor_geometry_box(1.5, 1.3, 1, &e);
    mor_point p[MOR_MAX_POINTS], q[MOR_MAX_POINTS];
    mor_rng rng = { 77 };
    placed base = at(large, 0, 0, 0), top = at(small, 0.05, 0.02, 1);
    int n = contacts(base, top, 0.01, p);
    assert_int_equal(n, 4);
    for (int k = 0; k < 500; k++) {
        mor_vec3 w = mor_v3(mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5);
        placed t = top;
        t.pose.rotation = mor_quat_exp(mor_scale(2e-3, w));
        t.pose.position.z += 1e-3 * (mor_rng_uniform(&rng) - 0.7);
        int m = contacts(base, t, 0.01, q);
        assert_int_equal(m, 4);
        for (int i = 0; i < 4; i++) {
            bool found = false;
            for (int j = 0; j < 4; j++)
                found |= p[j].feature == q[i].feature && mor_norm(mor_sub(p[j].on_b, q[i].on_b)) < 5e-3;
            assert_true(found);
        }
    }
    /* offset equal boxes (bricks): never fewer than four */
    base = at(small, 0, 0, 0);
    for (int k = 0; k < 500; k++) {
        mor_vec3 w = mor_v3(mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5);
        placed t = at(small, 0.5, 0.1, 1);
        t.pose.rotation = mor_quat_exp(mor_scale(2e-3, w));
        int m = contacts(base, t, 0.01, q);
        assert_true(m >= 4);
    }
    mor_geometry_release(small);
    mor_geometry_release(large);
}

static void crossing_edges_touch_in_one_point(void** state)
{
    (void)state;
    mor_error e;
    mor_geometry* g = mor_geometry_box(1, 1, 1, &e);
    mor_point p[MOR_MAX_POINTS];
    /* both turned by 45 degrees about x and y: edges cross at right angles above each other */
    placed a = at(g, 0, 0, 0), b = at(g, 0.1, -0.05, 2 * sqrt(0.5) + 0.01);
    a.pose.rotation = mor_quat_exp(mor_v3(0.7853981633974483, 0, 0));
    b.pose.rotation = mor_quat_exp(mor_v3(0, 0.7853981633974483, 0));
    int n = contacts(a, b, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0.01, 1e-12);
    assert_near(p[0].normal.z, 1, 1e-12);
    assert_near(p[0].on_a.x, 0.1, 1e-12);
    assert_near(p[0].on_a.y, 0.0, 1e-12);
    b.pose.position.z -= 0.03;
    n = contacts(a, b, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, -0.02, 1e-12);
    /* a box on its edge over a face: the two ends of the edge */
    placed c = at(g, 0, 0, 0), d = at(g, 0, 0, 0.5 + sqrt(0.5) - 1e-3);
    d.pose.rotation = mor_quat_exp(mor_v3(0.7853981633974483, 0, 0));
    n = contacts(c, d, 0.05, p);
    assert_int_equal(n, 2);
    assert_near(p[0].gap, -1e-3, 1e-12);
    assert_near(p[1].gap, -1e-3, 1e-12);
    /* corner over corner: distance of the corners */
    placed f = at(g, 1.03, 1.04, 1.12);
    n = contacts(c, f, 0.5, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0.13, 1e-12);
    assert_near(p[0].normal.z, 12.0 / 13, 1e-12);
    /* parallel edges facing each other: two points */
    f = at(g, 0.3, 1.03, 1.04);
    n = contacts(c, f, 0.5, p);
    assert_int_equal(n, 2);
    assert_near(p[0].gap, 0.05, 1e-12);
    mor_geometry_release(g);
}

static void round_solids_rest_on_enough_points(void** state)
{
    (void)state;
    mor_error e;
    mor_geometry *cylinder = mor_geometry_cylinder(0.5, 1, 0, &e), *prism = mor_geometry_cylinder(0.5, 1, 16, &e),
                 *capsule = mor_geometry_capsule(0.25, 1, &e), *cone = mor_geometry_cone(0.5, 1, &e),
                 *box = mor_geometry_box(4, 4, 1, &e), *plane = mor_geometry_plane(&e);
    mor_point p[MOR_MAX_POINTS];
    const mor_geometry* bases[2] = { box, plane };
    for (int k = 0; k < 2; k++) {
        placed base = at(bases[k], 0, 0, k == 0 ? 0 : 0.5);
        /* standing: points all around, so that the centre is well inside */
        const mor_geometry* standing[3] = { cylinder, prism, cone };
        for (int s = 0; s < 3; s++) {
            placed x = at(standing[s], 0.2, 0.1, s == 2 ? 0.75 : 1.0);
            int n = contacts(base, x, 0.01, p);
            assert_true(n >= 4 && n <= 16); /* of sixteen corners; the step takes eight (collision/detect.c) */
            for (int d = 0; d < 16; d++) {
                double far = -1;
                for (int c = 0; c < n; c++) {
                    mor_vec3 r = mor_sub(p[c].on_b, x.pose.position);
                    far = fmax(far, r.x * cos(d * 0.3926990816987241) + r.y * sin(d * 0.3926990816987241));
                    assert_near(p[c].gap, 0, 1e-12);
                }
                assert_true(far > 0.45);
            }
        }
        /* lying: two ends of a line */
        const mor_geometry* lying[2] = { cylinder, capsule };
        for (int s = 0; s < 2; s++) {
            placed x = at(lying[s], 0.2, 0.1, 0.5 + (s == 0 ? 0.5 : 0.25) - 1e-4);
            x.pose.rotation = mor_quat_exp(mor_v3(0, 1.5707963267948966, 0));
            int n = contacts(base, x, 0.01, p);
            assert_int_equal(n, 2);
            assert_near(fabs(p[0].on_b.x - p[1].on_b.x), 1.0, 1e-9);
            assert_near(p[0].gap, -1e-4, 1e-12);
            assert_near(p[1].gap, -1e-4, 1e-12);
        }
        /* a cone on its side */
        placed x = at(cone, 0, 0, 0.5);
        double half = atan(0.5);
        x.pose.rotation = mor_quat_exp(mor_v3(0, 1.5707963267948966 + half, 0));
        mor_vec3 low = support(x, mor_v3(0, 0, -1));
        x.pose.position.z += 0.5 - low.z;
        assert_int_equal(contacts(base, x, 0.01, p), 2);
    }
    mor_geometry_release(cylinder);
    mor_geometry_release(prism);
    mor_geometry_release(capsule);
    mor_geometry_release(cone);
    mor_geometry_release(box);
    mor_geometry_release(plane);
}

static void deep_overlap_pushes_out_the_shortest_way(void** state)
{
    (void)state;
    mor_error e;
    mor_geometry *large = mor_geometry_box(4, 3, 2, &e), *small = mor_geometry_box(1, 1, 1, &e),
                 *sphere = mor_geometry_sphere(0.25, &e);
    mor_point p[MOR_MAX_POINTS];
    placed base = at(large, 0, 0, 0);
    int n = contacts(base, at(small, 0, 0, 0.1), 0.01, p);
    assert_true(n >= 1);
    assert_near(least_gap(p, n, NULL), -1.4, 1e-12);
    assert_near(p[0].normal.z, 1, 1e-12);
    n = contacts(base, at(sphere, 0, 0, 0.9), 0.01, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, -0.35, 1e-12);
    assert_near(p[0].normal.z, 1, 1e-12);
    n = contacts(base, at(sphere, 0, 0, 1.0), 0.01, p);
    assert_near(p[0].gap, -0.25, 1e-12);
    assert_near(p[0].normal.z, 1, 1e-12);
    mor_geometry_release(large);
    mor_geometry_release(small);
    mor_geometry_release(sphere);
}

static void degenerate_positions_give_finite_answers(void** state)
{
    (void)state;
    mor_error e;
    mor_point p[MOR_MAX_POINTS];
    const mor_quat turns[4] = {
        { 1, 0, 0, 0 }, { 0.7071067811865476, 0.7071067811865476, 0, 0 }, { 0, 0, 1, 0 }, { 0.5, 0.5, 0.5, 0.5 }
    };
    const double offsets[4] = { 0, 0.5, 1.0, 1e-16 };
    for (int i = 0; i <= SHAPES; i++)
        for (int j = i; j <= SHAPES; j++) {
            mor_geometry *g = make(i), *h = make(j);
            for (int t = 0; t < 4; t++)
                for (int s = 0; s < 16; s++) {
                    placed a = at(g, 0, 0, 0), b = at(h, offsets[s & 3], 0, offsets[s >> 2]);
                    b.pose.rotation = turns[t];
                    int n = contacts(a, b, 10, p);
                    check_points(p, n, 10);
                    for (int k = 0; k < n; k++) {
                        assert_true(isfinite(p[k].gap) && isfinite(mor_norm(p[k].on_a)) &&
                                    isfinite(mor_norm(p[k].on_b)));
                    }
                    double d = search_distance(a, b);
                    assert_near(least_gap(p, n, NULL), d, 2e-7);
                }
            mor_geometry_release(g);
            mor_geometry_release(h);
        }
    (void)e;
}

/* The cache may hold anything from earlier: the answer is the same bit for bit. */
static void the_cache_never_changes_the_answer(void** state)
{
    (void)state;
    mor_rng rng = { 606 };
    mor_point p[MOR_MAX_POINTS], q[MOR_MAX_POINTS];
    for (int i = 0; i < SHAPES; i++)
        for (int j = i; j < SHAPES; j++) {
            mor_geometry *g = make(i), *h = make(j);
            uint32_t cache[4] = { 0 };
            bool swap;
            mor_pair_test test = mor_pair_builtin(g->kind, h->kind, &swap);
            for (int k = 0; k < 100; k++) {
                placed a = { g, random_pose(&rng, 0.1) }, b = { h, random_pose(&rng, 1.0) };
                int n = mor_pair_run(test, swap, g, &a.pose, h, &b.pose, 0.05, cache, p), m = contacts(a, b, 0.05, q);
                assert_int_equal(n, m);
                for (int c = 0; c < n; c++) {
                    assert_memory_equal(&p[c].on_a, &q[c].on_a, sizeof(mor_vec3));
                    assert_true(p[c].gap == q[c].gap && p[c].feature == q[c].feature);
                }
            }
            mor_geometry_release(g);
            mor_geometry_release(h);
        }
}

static void the_table_is_filled_where_shapes_can_touch(void** state)
{
    (void)state;
    bool swap;
    for (int i = 0; i <= MOR_POLYHEDRON; i++)
        for (int j = 0; j <= MOR_POLYHEDRON; j++) {
            mor_pair_test t = mor_pair_builtin((mor_shape_kind)i, (mor_shape_kind)j, &swap);
            if (i == MOR_PLANE && j == MOR_PLANE) assert_null(t);
            else assert_non_null(t);
            assert_int_equal(swap, i > j);
        }
    for (int i = 0; i <= MOR_POLYHEDRON; i++)
        for (int j = MOR_PARTICLE; j <= MOR_CHAIN; j++)
            assert_null(mor_pair_builtin((mor_shape_kind)i, (mor_shape_kind)j, &swap));
    assert_null(mor_pair_builtin(MOR_CUSTOM, MOR_SPHERE, &swap));
    assert_null(mor_pair_builtin(MOR_CHAIN, MOR_CHAIN, &swap));
}

/* Whatever is a little deep in a floor a hundred times as large touches it where it is. */
static void points_on_a_large_floor_are_under_the_body(void** state)
{
    (void)state;
    mor_error e;
    mor_rng rng = { 8 };
    mor_geometry *floor = mor_geometry_box(112.8, 112.8, 11.28, &e), *solids[2];
    solids[0] = mor_geometry_cone(0.366, 0.385, &e), solids[1] = mor_geometry_cylinder(0.3, 0.5, 0, &e);
    placed a = { floor, { mor_v3(0, 0, -5.64), { 1, 0, 0, 0 } } };
    for (int i = 0; i < 4000; i++) {
        placed b = { solids[i % 2], random_pose(&rng, 20.0) };
        double depth = exp(log(1e-9) + log(1e6) * mor_rng_uniform(&rng)); /* to 1 mm */
        b.pose.position.z -= support(b, mor_v3(0, 0, -1)).z + depth;
        mor_point p[MOR_MAX_POINTS];
        int n = contacts(a, b, 0.01, p);
        assert_true(n > 0);
        for (int k = 0; k < n; k++) {
            mor_vec3 off = mor_sub(p[k].on_b, b.pose.position);
            if (!(mor_norm(mor_v3(off.x, off.y, 0)) < 0.5))
                fail_msg("%d: %g m off, %g m deep", i, mor_norm(off), depth);
        }
    }
    mor_geometry_release(floor), mor_geometry_release(solids[0]), mor_geometry_release(solids[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polyhedra_agree_with_brute_force_over_features_and_axes),
        cmocka_unit_test(aligned_boxes_agree_with_brute_force),
        cmocka_unit_test(planes_report_the_lowest_point),
        cmocka_unit_test(convex_pairs_find_the_signed_distance),
        cmocka_unit_test(gaps_change_no_faster_than_the_bodies_move),
        cmocka_unit_test(shapes_that_just_touch_have_the_point_they_had_before),
        cmocka_unit_test(a_box_rests_on_four_corners),
        cmocka_unit_test(small_tilts_keep_the_points_and_their_features),
        cmocka_unit_test(crossing_edges_touch_in_one_point),
        cmocka_unit_test(round_solids_rest_on_enough_points),
        cmocka_unit_test(deep_overlap_pushes_out_the_shortest_way),
        cmocka_unit_test(degenerate_positions_give_finite_answers),
        cmocka_unit_test(the_cache_never_changes_the_answer),
        cmocka_unit_test(points_on_a_large_floor_are_under_the_body),
        cmocka_unit_test(the_table_is_filled_where_shapes_can_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
