/* The 2-D pair tests against brute force and against cases done by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collision/pair_table.h"
#include "moreau/geometry.h"
#include "moreau/world.h"

typedef struct placed {
    const mor_geometry* shape;
    mor_pose pose;
} placed;

static int contacts(placed a, placed b, double reach, mor_point* p)
{
    bool swap;
    uint32_t cache[4] = { 0 };
    mor_pair_test test = mor_pair_builtin(a.shape->kind, b.shape->kind, &swap);
    assert_non_null(test);
    int n = mor_pair_run(test, swap, a.shape, &a.pose, b.shape, &b.pose, reach, cache, p);
    for (int k = 0; k < n; k++) {
        assert_true(p[k].normal.z == 0.0);
        assert_true(fabs(mor_norm(p[k].normal) - 1) < 1e-12);
        assert_true(p[k].gap < reach);
        mor_vec3 d = mor_sub(mor_sub(p[k].on_b, p[k].on_a), mor_scale(p[k].gap, p[k].normal));
        assert_true(mor_norm(d) < 1e-13 * (1 + mor_norm(p[k].on_a)));
        for (int m = 0; m < k; m++) assert_true(p[m].feature != p[k].feature);
    }
    return n;
}

static double least_gap(const mor_point* p, int n)
{
    double g = HUGE_VAL;
    for (int k = 0; k < n; k++) g = fmin(g, p[k].gap);
    return g;
}

static void assert_near(double a, double b, double tol)
{
    if (!(fabs(a - b) <= tol)) fail_msg("%.17g is not %.17g to %g", a, b, tol);
}

static placed put(const mor_geometry* g, double x, double y, double angle)
{
    return (placed){ g, { { x, y, 0 }, { cos(angle / 2), 0, 0, sin(angle / 2) } } };
}

static double point_segment(mor_vec3 p, mor_vec3 a, mor_vec3 b)
{
    mor_vec3 e = mor_sub(b, a);
    double t = fmin(1, fmax(0, mor_dot(mor_sub(p, a), e) / mor_dot(e, e)));
    return mor_norm(mor_sub(p, mor_madd(a, t, e)));
}

static mor_vec3 corner(placed x, int k)
{
    return mor_pose_point(&x.pose, x.shape->polyline->points[k % x.shape->polyline->point_count]);
}

/* Signed distance of two polygons by brute force. */
static double brute(placed a, placed b)
{
    int na = a.shape->polyline->point_count, nb = b.shape->polyline->point_count;
    double sat = -HUGE_VAL, d = HUGE_VAL;
    placed s[2] = { a, b };
    for (int w = 0; w < 2; w++)
        for (int k = 0; k < s[w].shape->polyline->point_count; k++) {
            mor_vec3 e = mor_sub(corner(s[w], k + 1), corner(s[w], k));
            mor_vec3 n = mor_normalize(mor_v3(e.y, -e.x, 0), mor_v3(1, 0, 0));
            double least = HUGE_VAL;
            for (int j = 0; j < s[1 - w].shape->polyline->point_count; j++)
                least = fmin(least, mor_dot(n, mor_sub(corner(s[1 - w], j), corner(s[w], k))));
            sat = fmax(sat, least);
        }
    if (sat <= 0) return sat;
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            d = fmin(d, point_segment(corner(a, i), corner(b, j), corner(b, j + 1)));
            d = fmin(d, point_segment(corner(b, j), corner(a, i), corner(a, i + 1)));
        }
    return d;
}

static mor_geometry* polygon(int k)
{
    mor_error e;
    static const mor_vec3 box[4] = { { -0.5, -0.3, 0 }, { 0.5, -0.3, 0 }, { 0.5, 0.3, 0 }, { -0.5, 0.3, 0 } };
    static const mor_vec3 triangle[3] = { { -0.4, -0.2, 0 }, { 0.6, -0.1, 0 }, { 0, 0.5, 0 } };
    static const mor_vec3 five[5] = {
        { 0.5, 0, 0 }, { 0.2, 0.4, 0 }, { -0.3, 0.4, 0 }, { -0.5, -0.1, 0 }, { 0.1, -0.5, 0 }
    };
    return k == 0   ? mor_geometry_polygon(box, 4, &e)
           : k == 1 ? mor_geometry_polygon(triangle, 3, &e)
                    : mor_geometry_polygon(five, 5, &e);
}

static void polygons_agree_with_brute_force(void** state)
{
    (void)state;
    mor_rng rng = { 12 };
    mor_point p[MOR_MAX_POINTS];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            mor_geometry *g = polygon(i), *h = polygon(j);
            for (int k = 0; k < 1000; k++) {
                placed a = put(g, 5, 3, 6.3 * mor_rng_uniform(&rng));
                placed b = put(h, 5 + 2.4 * mor_rng_uniform(&rng) - 1.2, 3 + 2.4 * mor_rng_uniform(&rng) - 1.2,
                               6.3 * mor_rng_uniform(&rng));
                if (k % 5 == 0) b.pose.rotation = a.pose.rotation;
                double d = brute(a, b), tol = 1e-9 + 1e-6 * fabs(d);
                int n = contacts(a, b, 10, p);
                assert_true(n > 0);
                assert_near(least_gap(p, n), d, tol);
                n = contacts(a, b, 0.1, p);
                if (d > 0.1 + tol) assert_int_equal(n, 0);
                if (d < 0.1 - tol) assert_near(least_gap(p, n), d, tol);
            }
            mor_geometry_release(g);
            mor_geometry_release(h);
        }
}

static void a_box_rests_on_two_corners(void** state)
{
    (void)state;
    mor_point p[MOR_MAX_POINTS];
    mor_geometry* g = polygon(0);
    int n = contacts(put(g, 0, 0, 0), put(g, 0.3, 0.601, 0), 0.01, p);
    assert_int_equal(n, 2);
    for (int k = 0; k < 2; k++) {
        assert_near(p[k].gap, 0.001, 1e-14);
        assert_near(p[k].normal.y, 1, 1e-14);
    }
    assert_near(fmin(p[0].on_a.x, p[1].on_a.x), -0.2, 1e-14);
    assert_near(fmax(p[0].on_a.x, p[1].on_a.x), 0.5, 1e-14);
    mor_geometry_release(g);
}

static void discs_and_particles_find_the_nearest_place(void** state)
{
    (void)state;
    mor_error e;
    mor_rng rng = { 5 };
    mor_point p[MOR_MAX_POINTS];
    mor_geometry *disc = mor_geometry_disc(0.2, &e), *particle = mor_geometry_particle(&e);
    for (int i = 0; i < 3; i++) {
        mor_geometry* g = polygon(i);
        for (int k = 0; k < 1000; k++) {
            placed b = put(g, 1, 2, 6.3 * mor_rng_uniform(&rng));
            placed a =
                put(k % 2 ? disc : particle, 1 + 2 * mor_rng_uniform(&rng) - 1, 2 + 2 * mor_rng_uniform(&rng) - 1, 0);
            double outside = HUGE_VAL, inside = -HUGE_VAL, r = k % 2 ? 0.2 : 0.0;
            for (int c = 0; c < g->polyline->point_count; c++) {
                mor_vec3 u = mor_sub(corner(b, c + 1), corner(b, c));
                inside = fmax(inside, mor_dot(mor_scale(1 / mor_norm(u), mor_v3(u.y, -u.x, 0)),
                                              mor_sub(a.pose.position, corner(b, c))));
                outside = fmin(outside, point_segment(a.pose.position, corner(b, c), corner(b, c + 1)));
            }
            int n = contacts(a, b, 10, p);
            assert_int_equal(n, 1);
            assert_near(p[0].gap, (inside > 0 ? outside : inside) - r, 1e-12);
        }
        mor_geometry_release(g);
    }
    int n = contacts(put(disc, 0, 0, 0), put(disc, 0.3, 0.4, 0), 1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0.1, 1e-15);
    assert_near(p[0].normal.x, 0.6, 1e-15);
    n = contacts(put(disc, 0, 0, 0), put(disc, 0, 0, 0), 1, p);
    assert_near(p[0].gap, -0.4, 1e-15);
    n = contacts(put(particle, 0, 0.5, 0), put(disc, 0, 0, 0), 1, p);
    assert_near(p[0].gap, 0.3, 1e-15);
    bool swap;
    assert_null(mor_pair_builtin(MOR_PARTICLE, MOR_PARTICLE, &swap));
    mor_geometry_release(disc);
    mor_geometry_release(particle);
}

/* Ground from left to right: flat, down a step of height 1 (ridge, then valley), flat. */
static mor_geometry* steps(void)
{
    mor_error e;
    static const mor_vec3 points[4] = { { -2, 1, 0 }, { 0, 1, 0 }, { 0, 0, 0 }, { 2, 0, 0 } };
    return mor_geometry_chain(points, 4, &e);
}

static void particles_meet_the_segments_of_a_chain(void** state)
{
    (void)state;
    mor_error e;
    mor_point p[MOR_MAX_POINTS];
    mor_geometry *particle = mor_geometry_particle(&e), *chain = steps();
    placed ground = put(chain, 0, 0, 0);
    /* above the upper flat */
    int n = contacts(put(particle, -1, 1.05, 0), ground, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0.05, 1e-15);
    assert_near(p[0].normal.y, -1, 1e-15);
    /* in the valley: wall and floor */
    n = contacts(put(particle, 0.03, 0.04, 0), ground, 0.1, p);
    assert_int_equal(n, 2);
    assert_near(p[0].gap, 0.03, 1e-15);
    assert_near(p[0].normal.x, -1, 1e-15);
    assert_near(p[1].gap, 0.04, 1e-15);
    /* beside the wall, just under the ridge: not under the upper flat */
    n = contacts(put(particle, 0.02, 0.95, 0), ground, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0.02, 1e-15);
    /* off the ridge diagonally: both, in front of each */
    n = contacts(put(particle, 0.02, 1.03, 0), ground, 0.1, p);
    assert_int_equal(n, 2);
    /* inside near the ridge: out by the shorter way only */
    n = contacts(put(particle, -0.03, 0.99, 0), ground, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, -0.01, 1e-15);
    assert_near(p[0].normal.y, -1, 1e-15);
    /* inside below the valley: out of both */
    n = contacts(put(particle, -0.01, -0.02, 0), ground, 0.1, p);
    assert_int_equal(n, 2);
    /* deep: the nearest side, however deep */
    n = contacts(put(particle, 1, -0.5, 0), ground, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, -0.5, 1e-15);
    /* beyond the end there is no ground */
    assert_int_equal(contacts(put(particle, 2.02, -0.01, 0), ground, 0.1, p), 0);
    mor_geometry_release(particle);
    mor_geometry_release(chain);
}

static void discs_roll_over_a_ridge(void** state)
{
    (void)state;
    mor_error e;
    mor_point p[MOR_MAX_POINTS];
    mor_geometry *disc = mor_geometry_disc(0.5, &e), *chain = steps();
    placed ground = put(chain, 0, 0, 0);
    int n = contacts(put(disc, -1, 1.5, 0), ground, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0, 1e-15);
    n = contacts(put(disc, 0.3, 1.4, 0), ground, 0.1, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0, 1e-15);
    assert_near(p[0].normal.x, -0.6, 1e-15);
    n = contacts(put(disc, 0.5, 0.5, 0), ground, 0.1, p);
    assert_int_equal(n, 2);
    assert_near(p[0].gap, 0, 1e-15);
    assert_near(p[1].gap, 0, 1e-15);
    n = contacts(put(disc, 1, -0.2, 0), ground, 0.1, p);
    assert_true(n >= 1);
    assert_near(least_gap(p, n), -0.7, 1e-15);
    mor_geometry_release(disc);
    mor_geometry_release(chain);
}

static void polygons_rest_on_chains_and_on_their_ridges(void** state)
{
    (void)state;
    mor_point p[MOR_MAX_POINTS];
    mor_geometry *box = polygon(0), *chain = steps();
    placed ground = put(chain, 0, 0, 0);
    int n = contacts(put(box, 1.2, 0.301, 0), ground, 0.01, p);
    assert_int_equal(n, 2);
    assert_near(p[0].gap, 0.001, 1e-14);
    /* half over the edge: one corner and the ridge */
    n = contacts(put(box, 0.1, 1.299, 0), ground, 0.01, p);
    assert_int_equal(n, 2);
    assert_near(p[0].gap, -0.001, 1e-14);
    assert_near(p[1].gap, -0.001, 1e-14);
    assert_near(fmax(p[0].on_b.x, p[1].on_b.x), 0, 1e-14);
    for (int k = 0; k < 2; k++) assert_near(p[k].normal.y, -1, 1e-14);
    /* leaning over the ridge: its point on the lower edge of the box */
    placed lean = put(box, 0.0, 0.0, -0.7853981633974483);
    mor_vec3 low = mor_pose_point(&lean.pose, mor_v3(0, -0.3, 0));
    lean.pose.position = mor_sub(mor_v3(0.002, 1.002, 0), low);
    n = contacts(lean, ground, 0.05, p);
    assert_int_equal(n, 1);
    assert_near(p[0].gap, 0.002 * sqrt(2), 1e-13);
    assert_near(p[0].normal.x, -sqrt(0.5), 1e-13);
    mor_geometry_release(box);
    mor_geometry_release(chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygons_agree_with_brute_force),
        cmocka_unit_test(a_box_rests_on_two_corners),
        cmocka_unit_test(discs_and_particles_find_the_nearest_place),
        cmocka_unit_test(particles_meet_the_segments_of_a_chain),
        cmocka_unit_test(discs_roll_over_a_ridge),
        cmocka_unit_test(polygons_rest_on_chains_and_on_their_ridges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
