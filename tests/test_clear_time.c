/* How long shapes in free motion stay apart for certain: checked against the shapes at many moments, and how many pair
 * tests the search for the moment of an impact needs. */
#include "common/worlds.h"

#include <math.h>

#include "collision/pair_table.h"
#include "collision/sweep.h"

static mor_rng rng = { 11 };
static double uniform(double low, double high) { return low + (high - low) * mor_rng_uniform(&rng); }
static mor_vec3 random_vector(double size)
{
    return mor_v3(uniform(-size, size), uniform(-size, size), uniform(-size, size));
}

enum { KINDS = 7, PLANE = KINDS }; /* planes only where it is said */

static mor_geometry* random_shape(int kind)
{
    mor_error e = { 0 };
    double x = uniform(0.1, 1), y = uniform(0.1, 1), z = uniform(0.1, 1);
    if (kind == 0) return mor_geometry_box(x, y, z, &e);
    if (kind == 1) return mor_geometry_sphere(x, &e);
    if (kind == 2) return mor_geometry_capsule(0.3 * x, y, &e);
    if (kind == 3) return mor_geometry_cylinder(x, y, 0, &e);
    if (kind == 4) return mor_geometry_cone(x, y, &e);
    if (kind == 5) return mor_geometry_ellipsoid(x, y, z, &e);
    if (kind == PLANE) return mor_geometry_plane(&e);
    return mor_geometry_platonic("dodecahedron", 0, x, &e);
}

/* A shape whose centre of mass is somewhere in or near it; one in four never moves. */
static mor_flight random_flight(const mor_geometry* g, mor_vec3 at, double speed, double spin)
{
    mor_flight f = { .pose = { at, mor_rng_rotation(&rng) }, .x = at };
    f.still = uniform(0, 1) < 0.25 || g->kind == MOR_PLANE;
    if (f.still) return f;
    f.x = mor_add(at, random_vector(uniform(0, 1) < 0.5 ? 0.0 : 0.3));
    f.v = random_vector(speed);
    f.w = random_vector(uniform(0, 1) < 0.2 ? 0.0 : spin);
    f.arm = (g->kind == MOR_SPHERE ? 0.0 : g->radius) + mor_norm(mor_sub(at, f.x));
    f.tumble = mor_norm(f.w);
    return f;
}

static int tests_run;
static mor_pair_test counted;
static int counting(const mor_geometry* a, const mor_pose* pa, const mor_geometry* b, const mor_pose* pb, double reach,
                    uint32_t cache[4], mor_point* points)
{
    tests_run++;
    return counted(a, pa, b, pb, reach, cache, points);
}

/* The point of least gap of the shapes at time t; false: none within 10 m. */
static bool nearest_at(const mor_sweep* s, double t, mor_point* nearest)
{
    mor_point points[MOR_MAX_POINTS];
    uint32_t words[4] = { 0 };
    mor_pose pa = mor_flight_at(&s->flight[0], t), pb = mor_flight_at(&s->flight[1], t);
    int n = mor_pair_run(s->test, s->swap, s->a, &pa, s->b, &pb, 10.0, words, points);
    for (int i = 0; i < n; i++)
        if (i == 0 || points[i].gap < nearest->gap) *nearest = points[i];
    return n > 0;
}

static void shapes_are_apart_as_long_as_the_bound_says(void** state)
{
    (void)state;
    int used = 0, good = 0;
    for (int k = 0; k < 4000; k++) {
        mor_geometry *a = random_shape(k % (KINDS + 1)), *b = random_shape(k / (KINDS + 1) % KINDS);
        double speed = pow(10, uniform(-2, 1)), spin = pow(10, uniform(-2, 1.5)), h = pow(10, uniform(-3, -1));
        mor_sweep s = { .a = a, .b = b, .h = h };
        s.test = mor_pair_builtin(a->kind, b->kind, &s.swap);
        s.flight[0] = random_flight(a, mor_v3(0, 0, 0), speed, spin);
        s.flight[1] = random_flight(b, random_vector(b->radius + (isfinite(a->radius) ? a->radius : 0.5)), speed, spin);
        if (uniform(0, 1) < 0.3) s.flight[1].w = s.flight[1].still ? s.flight[1].w : s.flight[0].w;
        mor_point nearest;
        if (nearest_at(&s, 0.0, &nearest) && nearest.gap > 1e-9) {
            double clear = mor_clear_time(&s, &nearest, 0.0, h), mu = 0.0;
            for (int i = 0; i < 2; i++)
                mu += mor_norm(s.flight[i].v) + mor_norm(s.flight[i].w) * (s.flight[i].still ? 0.0 : s.flight[i].arm);
            used++;
            good += clear >= fmin(h, nearest.gap / mu);
            assert_true(clear >= 0.0 && clear <= h);
            for (int i = 1; i <= 25; i++) {
                mor_point then;
                bool near = nearest_at(&s, clear * i / 25, &then);
                if (near && then.gap < -1e-8)
                    fail_msg("case %d: %s and %s overlap by %g m after %g of %g s", k, a->label, b->label, -then.gap,
                             clear * i / 25, clear);
            }
        }
        mor_geometry_release(a);
        mor_geometry_release(b);
    }
    print_message("%d pairs that are apart; the bound of the fastest point is less in %d\n", used, good);
    assert_true(used > 1000 && good > used / 2);
}

/* Boxes that lie on each other, almost touch and turn together: the old search took up to 1000 tests for these. */
static void an_impact_of_bodies_that_turn_together_takes_few_tests(void** state)
{
    (void)state;
    mor_error error = { 0 };
    tests_run = 0;
    enum { CASES = 300 };
    for (int k = 0; k < CASES; k++) {
        mor_geometry* box = mor_geometry_box(1, 1, 1, &error);
        double gap = pow(10, uniform(-7, -2));
        mor_vec3 w = random_vector(3), x = mor_v3(uniform(-0.5, 0.5), uniform(-0.5, 0.5), 1 + gap);
        mor_sweep s = { .a = box, .b = box, .h = 0.01, .reach = 0.1, .bounces = true };
        counted = mor_pair_builtin(box->kind, box->kind, &s.swap);
        s.flight[0] = (mor_flight){ .pose = { { 0, 0, 0 }, { 1, 0, 0, 0 } }, .w = w, .arm = box->radius };
        s.flight[1] = s.flight[0];
        s.flight[1].pose.position = s.flight[1].x = x;
        s.flight[1].v = mor_madd(mor_cross(w, x), -uniform(0.5, 20) * gap / s.h, mor_v3(0, 0, 1));
        s.flight[0].tumble = s.flight[1].tumble = mor_norm(w);
        mor_point points[MOR_MAX_POINTS];
        uint32_t words[4] = { 0 };
        int n = mor_pair_run(counted, s.swap, box, &s.flight[0].pose, box, &s.flight[1].pose, s.reach, words, points);
        s.test = counting;
        mor_sweep_contacts(&s, points, n);
        mor_geometry_release(box);
    }
    print_message("%.1f pair tests for an impact\n", (double)tests_run / CASES);
    assert_true(tests_run < 12 * CASES);
}

/* Shapes that roll over a slab, almost touching: with the rate of the fastest point of cylinders, cones and ellipsoids
 * an impact took 124 tests in the mean. */
static void an_impact_of_shapes_that_roll_takes_few_tests(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_geometry* slab = mor_geometry_box(20, 20, 1, &error);
    tests_run = 0;
    int used = 0;
    for (int k = 0; k < 500; k++) {
        mor_geometry* g = random_shape(k % KINDS);
        mor_sweep s = { .a = slab, .b = g, .h = pow(10, uniform(-3, -1.5)), .reach = 0.1 };
        counted = mor_pair_builtin(slab->kind, g->kind, &s.swap);
        s.flight[0] = (mor_flight){ .pose = { { 0, 0, -0.5 }, { 1, 0, 0, 0 } }, .x = { 0, 0, -0.5 }, .still = true };
        mor_vec3 at = mor_v3(uniform(-1, 1), uniform(-1, 1), g->radius);
        mor_flight* f = &s.flight[1];
        *f = (mor_flight){ .pose = { at, mor_rng_rotation(&rng) }, .x = at, .w = random_vector(5) };
        s.test = counted;
        mor_point nearest;
        if (nearest_at(&s, 0.0, &nearest)) {
            double gap = pow(10, uniform(-7, -3)), lower = nearest.gap - gap;
            f->pose.position.z = f->x.z -= lower;
            mor_vec3 arm = mor_sub(mor_madd(nearest.on_b, -lower, mor_v3(0, 0, 1)), f->x);
            f->v = mor_madd(mor_neg(mor_cross(f->w, arm)), -uniform(0.5, 20) * gap / s.h, mor_v3(0, 0, 1));
            f->arm = g->kind == MOR_SPHERE ? 0.0 : g->radius;
            f->tumble = mor_norm(f->w);
            mor_point points[MOR_MAX_POINTS];
            uint32_t words[4] = { 0 };
            int n = mor_pair_run(counted, s.swap, slab, &s.flight[0].pose, g, &f->pose, s.reach, words, points);
            s.test = counting;
            mor_sweep_contacts(&s, points, n);
            used++;
        }
        mor_geometry_release(g);
    }
    mor_geometry_release(slab);
    print_message("%.1f pair tests for an impact of %d shapes that roll\n", (double)tests_run / used, used);
    assert_true(used > 400 && tests_run < 9 * used);
}

/* Cubes that meet edge on edge, turning each in its own way, while the edges come near slowly: with the frames of the
 * two bodies alone the ends of the edges decided, and an impact took 99 tests in the mean. */
static void an_impact_of_two_edges_takes_few_tests(void** state)
{
    (void)state;
    mor_error error = { 0 };
    tests_run = 0;
    enum { CASES = 300 };
    const double r = 0.8, high = r * sqrt(0.5);
    const mor_vec3 up = mor_v3(0, 0, 1);
    for (int k = 0; k < CASES; k++) {
        mor_geometry* box = mor_geometry_box(r, r, r, &error);
        const mor_quat on_edge = mor_quat_exp(mor_v3(0.785 + uniform(-0.3, 0.3), 0, 0)),
                       around = mor_quat_exp(mor_scale(uniform(0.3, 2.8), up));
        double gap = pow(10, uniform(-6, -3));
        mor_sweep s = { .a = box, .b = box, .h = 0.01, .reach = 0.1, .bounces = true };
        counted = s.test = mor_pair_builtin(box->kind, box->kind, &s.swap);
        mor_flight *a = &s.flight[0], *b = &s.flight[1];
        *a = (mor_flight){ .pose = { { 0, 0, 0 }, on_edge }, .w = random_vector(3), .arm = box->radius };
        b->pose.rotation = mor_quat_mul(around, on_edge);
        b->x = b->pose.position = mor_v3(uniform(-0.2, 0.2), uniform(-0.2, 0.2), 2 * high + 0.02);
        b->w = random_vector(3), b->arm = box->radius;
        mor_point nearest;
        assert_true(nearest_at(&s, 0.0, &nearest));
        b->x = b->pose.position = mor_madd(b->x, gap - nearest.gap, nearest.normal);
        assert_true(nearest_at(&s, 0.0, &nearest));
        mor_vec3 turning = mor_sub(mor_cross(b->w, mor_sub(nearest.on_b, b->x)), mor_cross(a->w, nearest.on_a));
        b->v = mor_madd(mor_neg(turning), -uniform(0.2, 3) * gap / s.h, nearest.normal);
        a->tumble = mor_norm(a->w), b->tumble = mor_norm(b->w);
        mor_point points[MOR_MAX_POINTS];
        uint32_t words[4] = { 0 };
        int n = mor_pair_run(counted, s.swap, box, &a->pose, box, &b->pose, s.reach, words, points);
        s.test = counting;
        mor_sweep_contacts(&s, points, n);
        mor_geometry_release(box);
    }
    print_message("%.1f pair tests for an impact of two edges\n", (double)tests_run / CASES);
    assert_true(tests_run < 12 * CASES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_apart_as_long_as_the_bound_says),
        cmocka_unit_test(an_impact_of_bodies_that_turn_together_takes_few_tests),
        cmocka_unit_test(an_impact_of_shapes_that_roll_takes_few_tests),
        cmocka_unit_test(an_impact_of_two_edges_takes_few_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
