/* Impacts: restitution at the moment of the impact, and the laws.
 *
 * Expected values: parabolas and e^2 for the heights, a list of balls on a line that meet two by two (written here, no
 * part of the library) for Newton's cradle, closed forms of a spinning ball, conservation of energy. Angles, masses,
 * heights, coefficients and steps are random. */
#include "common/random_scenes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

static int material(mor_world* w, double mu, double e, const char* law)
{
    mor_material m = mor_material_default();
    m.friction = mu;
    m.restitution = e;
    m.impact = mor_impact_law_index(law);
    assert_true(m.impact >= 0);
    return mor_world_add_material(w, &m);
}

static mor_body_id body(mor_world* w, mor_geometry* g, int m, double mass, mor_vec3 x, mor_quat q)
{
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { g, mor_pose_identity(), -1 };
    mor_error error = { 0 };
    def.shapes = &s;
    def.shape_count = 1;
    def.mass = mass;
    def.material = m;
    def.pose = (mor_pose){ x, q };
    mor_body_id b = mor_world_add_body(w, &def, &error);
    if (!b.index1) fail_msg("%s", error.text);
    mor_geometry_release(g);
    return b;
}

static mor_world* default_world(double h, const char* formulation)
{
    mor_world_def def = mor_world_def_default();
    mor_error error = { 0 };
    def.step = h;
    mor_world* w = mor_world_create(&def, &error);
    assert_non_null(w);
    if (strcmp(formulation, "peg") == 0) test_method(w, "collision", "features");
    if (formulation[0]) test_method(w, "formulation", formulation);
    return w;
}

/* ----------------------------------------------------------------------------------- heights */

/* Balls side by side, each with its own height: the apexes are e^2 times the ones before. An apex is read at steps, so
 * it may be g h^2/8 too low; below 4 v_rest^2/g bounces end. */
static void apexes_are_exact_for_every_e_height_and_step(void** state)
{
    (void)state;
    mor_rng r = { test_seed(81) };
    static const char* const formulations[] = { "", "st", "mncp", "implicit", "peg" };
    int seen = 0;
    for (int k = 0; k < 40; k++) {
        double h = k % 3 == 0 ? 0.01 : between(&r, 0.001, 0.02), e = k % 5 == 0 ? 1.0 : between(&r, 0.2, 1.0);
        double g = 9.81, least = 4.0 * (2 * g * h) * (2 * g * h) / g;
        mor_world* w = default_world(h, formulations[k % 5]);
        if (k % 5 == 3) test_method(w, "solver", "implicit-gn");
        int m = material(w, 0.5, e, "reflections");
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        enum { BALLS = 4 };
        mor_body_id b[BALLS];
        double expected[BALLS], last[BALLS] = { 0 }, height[BALLS] = { 0 };
        for (int i = 0; i < BALLS; i++) {
            expected[i] = between(&r, 0.2, 1.5);
            bool flat = k % 5 == 4;
            mor_geometry* shape = flat ? test_box(0.4, 0.3, 0.2) : test_sphere(0.1);
            b[i] = body(w, shape, m, between(&r, 0.1, 10), mor_v3(i, 0, 0.1 + expected[i]), no_turn);
        }
        for (int n = 0; n * h < 2.5; n++) {
            test_steps(w, 1);
            for (int i = 0; i < BALLS; i++) {
                mor_body_state s = test_state(w, b[i]);
                if (last[i] > 0 && s.velocity.z <= 0 && expected[i] * e * e > least) {
                    expected[i] *= e * e;
                    double off = fmax(s.com.z, height[i]) - 0.1 - expected[i];
                    if (!(off < 1e-9) || !(off > -g * h * h / 8 - 1e-9))
                        fail_msg("case %d, h %g, e %g: apex %g off by %g", k, h, e, expected[i], off);
                    seen++;
                }
                last[i] = s.velocity.z;
                height[i] = s.com.z;
            }
        }
        mor_world_destroy(w);
    }
    printf("  %d apexes\n", seen);
    assert_true(seen > 300);
}

/* A bounce leaves a box turned by what the solver's tolerance allows; its corners come down at once all the same, in
 * front of what it lands on they differ by less than 1e-7 of its radius (solver errors of an earlier bounce made a box
 * land on one corner, and turn). */
static void flat_boxes_land_on_all_corners_at_once(void** state)
{
    (void)state;
    mor_rng r = { test_seed(86) };
    for (int k = 0; k < 20; k++) {
        double h = between(&r, 0.001, 0.02), e = between(&r, 0.3, 1.0), top = between(&r, 0.3, 1.5);
        mor_world* w = default_world(h, k % 2 ? "peg" : "");
        int m = material(w, 0.5, e, "reflections");
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        mor_quat tilt = mor_quat_exp(mor_v3(between(&r, -3e-8, 3e-8), between(&r, -3e-8, 3e-8), 0));
        mor_body_id b = body(w, test_box(0.4, 0.3, 0.2), m, 2, mor_v3(0, 0, 0.1 + top), tilt);
        while (mor_world_time(w) < 1.5) test_steps(w, 1);
        char what[80];
        snprintf(what, sizeof what, "case %d (h %g, e %g)", k, h, e);
        test_near(mor_norm(test_state(w, b).angular_velocity), 0.0, 1e-6, what);
        mor_world_destroy(w);
    }
}

/* S8 as it comes: the bar of 2 %. */
static void the_apexes_of_s8_are_within_two_percent(void** state)
{
    (void)state;
    const double exact[] = { 0.25, 0.0625, 0.015625 };
    mor_scene* scene = NULL;
    mor_world* w = test_scene_file("s8_bounce", &scene);
    mor_body_id ball = mor_world_find_body(w, "ball");
    int found = 0;
    double last = 0;
    while (mor_world_time(w) < 2.9 && found < 3) {
        test_steps(w, 1);
        mor_body_state s = test_state(w, ball);
        if (last > 0 && s.velocity.z <= 0) {
            test_near((s.com.z - 0.5) / exact[found], 1.0, 0.02, "apex");
            found++;
        }
        last = s.velocity.z;
    }
    assert_int_equal(found, 3);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* -------------------------------------------------------------------------------- the cradle */

enum { MOST = 6 };

/* Balls on a line with gaps, two at a time, in order of time: what must come out. */
static void meet_two_by_two(int n, const double* mass, const double* x0, const double* v0, double diameter, double e,
                            double end, double* v)
{
    double x[MOST], t = 0;
    for (int i = 0; i < n; i++) x[i] = x0[i], v[i] = v0[i];
    for (;;) {
        int first = -1;
        double soon = end - t;
        for (int i = 0; i + 1 < n; i++) {
            double gap = x[i + 1] - x[i] - diameter, close = v[i] - v[i + 1];
            if (close > 1e-12 && gap / close < soon) soon = fmax(gap / close, 0), first = i;
        }
        for (int i = 0; i < n; i++) x[i] += soon * v[i];
        t += soon;
        if (first < 0) return;
        double a = mass[first], b = mass[first + 1], *u = &v[first], p = (1 + e) * (u[0] - u[1]) * a * b / (a + b);
        u[0] -= p / a;
        u[1] += p / b;
    }
}

static void row_of_balls(double h, int n, const double* mass, const double* gap, const double* v0, double e,
                         const char* law, double end, double* v, double* x, double* gain)
{
    mor_world* w = default_world(h, "");
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    test_option(w, "method", "v_rest", "0");
    int m = material(w, 0, e, law);
    mor_body_id b[MOST];
    for (int i = 0; i < n; i++) {
        x[i] = i ? x[i - 1] + 0.2 + gap[i - 1] : 0;
        b[i] = body(w, test_sphere(0.1), m, mass[i], mor_v3(x[i], 0, 0), no_turn);
        test_velocity(w, b[i], mor_v3(v0[i], 0, 0), mor_v3(0, 0, 0));
    }
    double before = mor_world_kinetic_energy(w);
    *gain = 0;
    for (int k = 0; k < (int)(end / h + 0.5); k++) {
        mor_step_report s = test_steps(w, 1);
        *gain = fmax(*gain, s.kinetic - before);
        before = s.kinetic;
    }
    for (int i = 0; i < n; i++) v[i] = test_state(w, b[i]).velocity.x;
    mor_world_destroy(w);
}

static void newtons_cradle_lets_the_last_ball_go(void** state)
{
    (void)state;
    const double mass[] = { 1, 1, 1, 1, 1 };
    for (int in = 1; in <= 4; in++)
        for (int k = 0; k < 5; k++) {
            const double size = (double[]){ 0, 1e-9, 1e-5, 1e-3, 4e-3 }[k];
            double gap[4] = { size, size, size, size }, v0[5] = { 0 }, v[5], x[5], gain;
            for (int i = 0; i < in; i++) {
                v0[i] = 1.3;
                if (i) gap[i - 1] = 0;
            }
            row_of_balls(0.01, 5, mass, gap, v0, 1.0, "reflections", 0.2, v, x, &gain);
            for (int i = 0; i < 5; i++) test_near(v[i], i >= 5 - in ? 1.3 : 0, 1e-7, "velocity");
            assert_true(gain < 1e-12);
        }
}

/* Without gravity nothing else ends the bouncing: balls that fly in touch came a rounding nearer in every impact. */
static void as_many_balls_go_as_come_without_gravity(void** state)
{
    (void)state;
    uint64_t seed = test_seed(43);
    for (int k = 0; k < 60; k++) {
        int n = 3 + k % 4, drawn = 1 + k / 4 % 2;
        double v = test_random(&seed, 0.3, 3), h = 0.01, gap = k % 2 ? 0.0 : pow(10, test_random(&seed, -5, -2));
        double mass[MOST], gaps[MOST], speed[MOST], got[MOST], x[MOST], gain;
        for (int i = 0; i < n; i++) {
            mass[i] = 1.0, speed[i] = i < drawn ? v : 0.0;
            gaps[i] = i + 1 == drawn ? v * h * test_random(&seed, 1, 5) : i + 1 > drawn ? gap : 0.0;
        }
        row_of_balls(h, n, mass, gaps, speed, 1.0, "reflections", 0.4 + n * gap / v, got, x, &gain);
        char what[80];
        snprintf(what, sizeof what, "case %d (%d of %d balls, gap %g)", k, drawn, n, gap);
        for (int i = 0; i < n; i++) test_near(got[i], i >= n - drawn ? v : 0.0, 1e-6 * v, what);
        assert_true(gain < 1e-9 * v * v);
    }
}

/* Gaps are either below epsilon (1e-3 m here), so that several impacts follow each other in a step, or longer than the
 * way of a step: between them a ball that is struck may reach one that was out of reach, a step too late (at most three
 * of the sixty rows, and none at an eighth of the step).
 * With small e infinitely many impacts follow each other, and what comes out depends on when they are cut off. */
static void rows_of_balls_with_gaps_agree_with_pairs(void** state)
{
    (void)state;
    mor_rng r = { test_seed(11) };
    static const char* const laws[] = { "reflections", "newton", "poisson" };
    int late = 0;
    for (int k = 0; k < 60; k++) {
        int n = 2 + k % 5;
        double mass[MOST], gap[MOST], v0[MOST], v[MOST], x[MOST], exact[MOST], gain;
        double e = k % 4 ? between(&r, 0.7, 1) : 1, h = between(&r, 0.001, 0.005);
        for (int i = 0; i < n; i++) {
            mass[i] = between(&r, 0.2, 3);
            gap[i] = (k + i) % 3 ? between(&r, 1e-6, 9e-4) : between(&r, 0.03, 0.05);
            v0[i] = between(&r, -1, 1) - 0.5 * i;
        }
        double end = 50 * h;
        double off = 0.0;
        row_of_balls(h, n, mass, gap, v0, e, laws[k % 3], end, v, x, &gain);
        meet_two_by_two(n, mass, x, v0, 0.2, e, end, exact);
        for (int i = 0; i < n; i++) off = fmax(off, fabs(v[i] - exact[i]));
        if (off > 1e-6) { /* a step too late: right with shorter ones */
            double again[MOST], unused;
            late++;
            row_of_balls(0.125 * h, n, mass, gap, v0, e, laws[k % 3], end, v, again, &unused);
        }
        for (int i = 0; i < n; i++) test_near(v[i], exact[i], 1e-6, "velocity");
        if (k % 3 != 1 && !(gain < (k % 3 ? 1e-6 : 1e-8))) /* solver: 1e-8 m/s */
            fail_msg("case %d, %s, e %g: gain %g J", k, laws[k % 3], e, gain);
    }
    assert_true(late <= 3);
}

/* With all balls touching, Newton's and Poisson's laws open all contacts behind the first or none: 0.4 each. */
static void newton_and_poisson_spread_the_blow(void** state)
{
    (void)state;
    const double mass[] = { 1, 1, 1, 1, 1 }, gap[4] = { 0 }, v0[5] = { 1 };
    for (int k = 0; k < 2; k++) {
        double v[5], x[5], gain;
        row_of_balls(0.01, 5, mass, gap, v0, 1.0, k ? "poisson" : "newton", 0.1, v, x, &gain);
        for (int i = 0; i < 5; i++) test_near(v[i], i ? 0.4 : -0.6, 1e-6, "velocity");
    }
}

/* ---------------------------------------------------------------------------------- friction */

/* A spinning ball strikes the floor: p_n = m (1 + e) w; it sticks where the slip u needs less than mu p_n:
 * (2/7) m |u|. Newton, Poisson and reflections agree: the directions are not coupled. */
static void a_spinning_ball_slides_or_rolls_off(void** state)
{
    (void)state;
    mor_rng r = { test_seed(5) };
    static const char* const laws[] = { "reflections", "newton", "poisson" };
    for (int k = 0; k < 30; k++) {
        double e = between(&r, 0, 1), mu = between(&r, 0, 0.8), radius = 0.1, mass = between(&r, 0.5, 2);
        double vx = between(&r, -2, 2), vz = -between(&r, 1, 3), wy = between(&r, -30, 30);
        mor_world* w = default_world(0.01, "");
        mor_world_set_gravity(w, mor_v3(0, 0, 0));
        int m = material(w, mu, e, laws[k % 3]);
        mor_body_id floor = test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        (void)floor;
        mor_body_id b = body(w, test_sphere(radius), m, mass, mor_v3(0, 0, radius + 0.013), no_turn);
        assert_int_equal(mor_world_set_pair(w, 0, m, mu, e, NULL), MOR_OK);
        test_velocity(w, b, mor_v3(vx, 0, vz), mor_v3(0, wy, 0));
        test_steps(w, 3);
        mor_body_state s = test_state(w, b);
        double u = vx - radius * wy, p = mass * (1 + e) * -vz;
        double f = -u * 2.0 / 7.0 * mass;
        if (fabs(f) > mu * p) f = copysign(mu * p, f);
        test_near(s.velocity.z, -e * vz, 1e-8, "up");
        test_near(s.velocity.x, vx + f / mass, 1e-8, "along");
        test_near(s.angular_velocity.y, wy - radius * f / (0.4 * mass * radius * radius), 1e-7, "spin");
        mor_world_destroy(w);
    }
}

/* Kane's double pendulum: two rods of 1 m and 1 kg, its tip 1e-7 m above a rough floor. Energy after the impact over
 * that before. */
static double kane(double a, double b, double ua, double ub, double e, double mu, const char* law, bool maximal)
{
    char text[3000];
    double ax = sin(a), az = -cos(a), bx = sin(b), bz = -cos(b), top = 1e-7 - az - bz;
    double vx = ua * cos(a), vz = ua * sin(a);
    snprintf(text, sizeof text,
             "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.001, end: 0.002 }\n"
             "method: { coordinates: %s, v_rest: 0 }\n"
             "materials: { r: { friction: %.17g, restitution: %.17g, impact: %s } }\nbodies:\n"
             "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, -1e-3] } }, material: r, fixed: "
             "true }\n"
             "  - { name: a, shape: { sphere: 1e-3 }, material: r, mass: 1, inertia: [0.0833333333333333, "
             "0.0833333333333333, 0.0833333333333333, 0, 0, 0], position: [%.17g, 0, %.17g], velocity: [%.17g, 0, "
             "%.17g], angular_velocity: [0, %.17g, 0] }\n"
             "  - { name: b, shape: [ { sphere: 1e-3, position: [%.17g, 0, %.17g] } ], com: [0, 0, 0], material: r, "
             "mass: 1, inertia: [0.0833333333333333, 0.0833333333333333, 0.0833333333333333, 0, 0, 0], position: "
             "[%.17g, 0, %.17g], velocity: [%.17g, 0, %.17g], angular_velocity: [0, %.17g, 0] }\n"
             "ignore_pairs: [ [a, b], [a, floor] ]\njoints:\n"
             "  - { name: j1, type: revolute, bodies: [a, world], point: [0, 0, %.17g], axis: [0, 1, 0] }\n"
             "  - { name: j2, type: revolute, bodies: [b, a], point: [%.17g, 0, %.17g], axis: [0, 1, 0] }\n",
             maximal ? "maximal" : "minimal", mu, e, law, ax / 2, top + az / 2, vx / 2, vz / 2, -ua, bx / 2, bz / 2,
             ax + bx / 2, top + az + bz / 2, vx + ub * cos(b) / 2, vz + ub * sin(b) / 2, -ub, top, ax, top + az);
    mor_scene* scene = NULL;
    mor_world* w = test_scene_text(text, &scene);
    double before = mor_world_kinetic_energy(w);
    test_steps(w, 2);
    double ratio = mor_world_kinetic_energy(w) / before;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return ratio;
}

static void kanes_pendulum_gains_energy_with_newton_only(void** state)
{
    (void)state;
    static const char* const laws[] = { "newton",     "poisson",       "reflections",
                                        "tangential", "routh-poisson", "routh-stronge" };
    double most[6] = { 0 };
    mor_rng r = { test_seed(3) };
    for (int k = 0, cases = 0; cases < 60; k++) {
        double a = between(&r, -1.2, 1.2), b = between(&r, -1.4, 1.4), ua = between(&r, -2, 2), ub = between(&r, -2, 2);
        double e = between(&r, 0.3, 1), mu = between(&r, 0.2, 1);
        if (ua * sin(a) + ub * sin(b) > -0.05) continue;
        cases++;
        for (int l = 0; l < 6; l++) most[l] = fmax(most[l], kane(a, b, ua, ub, e, mu, laws[l], k % 2));
    }
    printf("  energy after over before, at most:");
    for (int l = 0; l < 6; l++) printf(" %s %.3f", laws[l], most[l]);
    printf("\n");
    assert_true(most[0] > 1.01);
    for (int l = 2; l < 6; l++) assert_true(most[l] <= 1.0 + 1e-9);
}

/* ------------------------------------------------------------------------------------ energy */

/* Boxes, sticks and balls thrown on a floor and on each other, any e and mu: no step gains energy. What is lifted to
 * undo rounding (1e-7 of a body's size in a step) is allowed. */
static void no_step_gains_energy_with_any_restitution(void** state)
{
    (void)state;
    mor_rng r = { test_seed(23) };
    double most = 0;
    for (int k = 0; k < 24; k++) {
        double h = between(&r, 0.002, 0.02), e = k % 4 == 0 ? 1 : between(&r, 0, 1);
        double mu = k % 3 == 0 ? 0 : between(&r, 0, 1);
        mor_world* w = default_world(h, k % 2 ? "peg" : "");
        int m = material(w, mu, e, "reflections");
        mor_body_id floor = test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        (void)floor;
        assert_int_equal(mor_world_set_pair(w, 0, m, mu, e, NULL), MOR_OK);
        for (int i = 0; i < 3; i++) {
            mor_geometry* g = i == 1 && k % 2 == 0 ? test_sphere(0.15)
                              : i == 2             ? test_box(0.8, 0.06, 0.05)
                                                   : test_box(0.3, 0.2, 0.1);
            mor_vec3 axis = mor_v3(between(&r, -1, 1), between(&r, -1, 1), between(&r, -1, 1));
            mor_body_id b =
                body(w, g, m, 3, mor_v3(between(&r, -0.1, 0.1), 0, 0.7 + 0.5 * i), mor_quat_exp(mor_scale(3, axis)));
            test_velocity(w, b, mor_v3(between(&r, -1, 1), 0, between(&r, -3, 0)),
                          mor_v3(between(&r, -9, 9), between(&r, -9, 9), between(&r, -9, 9)));
        }
        double before = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
        for (int n = 0; n * h < 1.5; n++) {
            mor_step_report s = test_steps(w, 1);
            double gain = s.kinetic + s.potential - s.projection_work - before;
            most = fmax(most, gain);
            if (gain > 1e-5) fail_msg("case %d, h %g, e %g, mu %g: step %d gains %g J", k, h, e, mu, n, gain);
            before = s.kinetic + s.potential;
        }
        mor_world_destroy(w);
    }
    printf("  largest gain in a step %.1e J\n", most);
}

/* ------------------------------------------------------------------------------------- names */

static void laws_have_names_and_materials_choose_them(void** state)
{
    (void)state;
    for (int i = 0; mor_impact_law_at(i); i++) {
        assert_int_equal(mor_impact_law_index(mor_impact_law_name(mor_impact_law_at(i))), i);
        assert_true(mor_impact_law_summary(mor_impact_law_at(i))[0] &&
                    mor_impact_law_reference(mor_impact_law_at(i))[0]);
    }
    assert_int_equal(mor_impact_law_index("none"), -1);
    assert_int_equal(mor_impact_law_index("reflections"), 0);
    /* the material with the larger e names the law */
    mor_world* w = default_world(0.01, "");
    int soft = material(w, 0.5, 0.1, "newton"), hard = material(w, 0.5, 0.9, "poisson");
    body(w, test_sphere(0.5), soft, 1, mor_v3(0, 0, 0), no_turn);
    body(w, test_sphere(0.5), hard, 1, mor_v3(1, 0, 0), no_turn);
    test_steps(w, 1);
    int n;
    const mor_contact* c = mor_world_contacts(w, &n);
    assert_int_equal(n, 1);
    assert_int_equal(c->impact, mor_impact_law_index("poisson"));
    mor_world_destroy(w);
    const char* text = "moreau: 1\nmaterials: { a: { restitution: 0.5, impact: newtom } }\n";
    mor_error error = { 0 };
    assert_null(mor_scene_parse(text, strlen(text), "text.yaml", NULL, NULL, &error));
    assert_non_null(strstr(error.text, "unknown impact law 'newtom'; did you mean 'newton'?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apexes_are_exact_for_every_e_height_and_step),
        cmocka_unit_test(flat_boxes_land_on_all_corners_at_once),
        cmocka_unit_test(the_apexes_of_s8_are_within_two_percent),
        cmocka_unit_test(newtons_cradle_lets_the_last_ball_go),
        cmocka_unit_test(as_many_balls_go_as_come_without_gravity),
        cmocka_unit_test(rows_of_balls_with_gaps_agree_with_pairs),
        cmocka_unit_test(newton_and_poisson_spread_the_blow),
        cmocka_unit_test(a_spinning_ball_slides_or_rolls_off),
        cmocka_unit_test(kanes_pendulum_gains_energy_with_newton_only),
        cmocka_unit_test(no_step_gains_energy_with_any_restitution),
        cmocka_unit_test(laws_have_names_and_materials_choose_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
