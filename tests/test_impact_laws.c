/* The laws that follow an impact along its normal impulse, the law with restitution of slip, and the compliant one.
 *
 * Expected values: the classes of Routh's planar impact in closed form (Wang and Mason 1992), a walk along the impulse
 * with many small implicit steps (written here), the closed relation of speeds of Hunt and Crossley, a ball with e_t,
 * conservation of energy. Mass matrices, velocities and coefficients are random. */
#include "common/random_scenes.h"
#include "formulation/routh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

/* A symmetric positive definite matrix, often with strong coupling of its directions. */
static void random_matrix(mor_rng* r, int n, double* W)
{
    double A[9];
    for (int i = 0; i < n * n; i++) A[i] = between(r, -1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            W[n * i + j] = i == j ? 0.02 : 0.0;
            for (int k = 0; k < n; k++) W[n * i + j] += A[n * i + k] * A[n * j + k];
        }
}

static double work(int n, const double* W, const double* u, const double* p)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double mean = u[i];
        for (int j = 0; j < n; j++) mean += 0.5 * W[n * i + j] * p[j];
        sum += p[i] * mean;
    }
    return sum;
}

/* ---------------------------------------------------------------------------------- planar */

/* Poisson's impulse in the plane after Wang and Mason: lines of maximum compression, sticking and reversed slip in the
 * plane of impulses. Valid without the bound on energy. */
static void wang_mason(const double* W, double mu, double e, const double* u, double* p)
{
    double B1 = W[3], B2 = W[0], B3 = -W[1]; /* tangential, normal, coupling with the sign of that paper */
    double S0 = u[1], C0 = u[0], s = S0 < 0 ? -1.0 : 1.0;
    double slip_n = -C0 / (B2 + s * mu * B3);    /* compression ends while it slips */
    double stop_n = s * S0 / (mu * B1 + s * B3); /* slip ends */
    double at;                                   /* normal impulse at the end of compression */
    bool stops = stop_n > 0.0;
    bool sticks = fabs(B3) <= mu * B1;
    double f = sticks ? B3 / B1 : (B3 > 0 ? mu : -mu); /* p_t per p_n after slip has ended */
    if (!(B2 + s * mu * B3 > 0)) slip_n = HUGE_VAL;
    if (!stops || slip_n <= stop_n) at = slip_n;
    else {
        double C = C0 + (B2 + s * mu * B3) * stop_n;
        at = stop_n - C / (B2 - B3 * f);
    }
    p[0] = (1 + e) * at;
    double slid = stops ? fmin(stop_n, p[0]) : p[0];
    p[1] = -s * mu * slid + f * (p[0] - slid);
}

static void planar_impacts_are_those_of_the_closed_form(void** state)
{
    (void)state;
    mor_rng r = { test_seed(11) };
    int cases[4] = { 0 };
    for (int k = 0; k < 4000; k++) {
        double W[4], u[2], p[2], q[2], mu = between(&r, 0.01, 1.5), e = between(&r, 0, 1);
        random_matrix(&r, 2, W);
        u[0] = -between(&r, 0.1, 3), u[1] = between(&r, -3, 3);
        if (!mor_routh_impact(2, W, 2, mu, e, MOR_ROUTH_POISSON, u, p)) fail_msg("case %d does not end", k);
        wang_mason(W, mu, e, u, q);
        double after = u[1] + W[2] * p[0] + W[3] * p[1];
        /* the closed form knows no bound on energy: there ours ends early */
        if (p[0] < q[0] * (1 - 1e-9)) {
            cases[3]++;
            assert_true(work(2, W, u, q) > work(2, W, u, p) - 1e-12);
            continue;
        }
        test_near(p[0], q[0], 1e-9 * fmax(1, q[0]), "normal impulse");
        test_near(p[1], q[1], 1e-9 * fmax(1, q[0]), "tangential impulse");
        cases[fabs(after) < 1e-9 ? 0 : after * u[1] > 0 ? 1 : 2]++;
    }
    printf("  sticks %d, slips on %d, slips back %d, ended by energy %d\n", cases[0], cases[1], cases[2], cases[3]);
    assert_true(cases[0] > 200 && cases[1] > 200 && cases[2] > 50);
}

/* The same impact as a cube's: in space with W of block form the second tangent stays at rest. */
static void space_with_a_still_direction_is_the_plane(void** state)
{
    (void)state;
    mor_rng r = { test_seed(12) };
    for (int k = 0; k < 400; k++) {
        double W[4], V[9] = { 0 }, u[3] = { 0 }, p[2], q[3], mu = between(&r, 0.01, 1.5), e = between(&r, 0, 1);
        double a = between(&r, -3, 3), c = cos(a), s = sin(a);
        random_matrix(&r, 2, W);
        double other = between(&r, 0.1, 2);
        mor_routh_end end = k % 2 ? MOR_ROUTH_STRONGE : MOR_ROUTH_POISSON;
        u[0] = -between(&r, 0.1, 3), u[1] = between(&r, -3, 3);
        double v[3] = { u[0], c * u[1], s * u[1] };
        V[0] = W[0];
        V[1] = V[3] = c * W[1], V[2] = V[6] = s * W[1];
        V[4] = c * c * W[3] + s * s * other, V[8] = s * s * W[3] + c * c * other;
        V[5] = V[7] = c * s * (W[3] - other);
        assert_true(mor_routh_impact(2, W, 2, mu, e, end, u, p));
        assert_true(mor_routh_impact(3, V, 3, mu, e, end, v, q));
        double size = fmax(1, p[0]);
        test_near(q[0], p[0], 1e-7 * size, "normal impulse");
        test_near(c * q[1] + s * q[2], p[1], 1e-7 * size, "tangential impulse");
        test_near(c * q[2] - s * q[1], 0, 1e-7 * size, "across");
    }
}

/* ---------------------------------------------------------------------------------- space */

/* The same path by many small steps of normal impulse, slip taken at the end of each: a fixed point on the disc. */
static void small_steps(const double* W, double mu, double e, mor_routh_end end, const double* u0, int steps, double* p)
{
    double u[3] = { u0[0], u0[1], u0[2] }, taken = 0, d = -u0[0] / W[0] / steps, at = 0, most = HUGE_VAL, target = 0;
    bool expands = false;
    memset(p, 0, 3 * sizeof *p);
    for (int n = 0; n < 100 * steps; n++) {
        double f[2] = { 0, 0 }, trace = W[4] + W[8];
        for (int i = 0; i < 400; i++) {
            double x = f[0] - (u[1] + W[3] * d + W[4] * f[0] + W[5] * f[1]) / trace;
            double y = f[1] - (u[2] + W[6] * d + W[7] * f[0] + W[8] * f[1]) / trace;
            double length = hypot(x, y), scale = length > mu * d ? mu * d / length : 1;
            double moved = fabs(x * scale - f[0]) + fabs(y * scale - f[1]);
            f[0] = x * scale, f[1] = y * scale;
            if (moved < 1e-14 * d) break;
        }
        double before = u[0];
        for (int i = 0; i < 3; i++) u[i] += W[3 * i] * d + W[3 * i + 1] * f[0] + W[3 * i + 2] * f[1];
        p[0] += d, p[1] += f[0], p[2] += f[1];
        taken += 0.5 * (before + u[0]) * d;
        if (!expands && u[0] >= 0) {
            expands = true;
            at = p[0];
            most = end == MOR_ROUTH_POISSON ? (1 + e) * at : HUGE_VAL;
            target = end == MOR_ROUTH_POISSON ? 0 : (1 - e * e) * taken;
        }
        if (expands && (p[0] >= most || taken >= target)) return;
    }
    fail_msg("small steps do not end");
}

static void impacts_in_space_are_those_of_many_small_steps(void** state)
{
    (void)state;
    mor_rng r = { test_seed(13) };
    double worst = 0;
    int steps = getenv("MOREAU_LONG") ? 100000 : 5000;
    for (int k = 0; k < 60; k++) {
        double W[9], u[3], p[3], q[3], mu = between(&r, 0.05, 1.2), e = between(&r, 0, 1);
        mor_routh_end end = k % 2 ? MOR_ROUTH_STRONGE : MOR_ROUTH_POISSON;
        random_matrix(&r, 3, W);
        u[0] = -between(&r, 0.3, 3), u[1] = between(&r, -3, 3), u[2] = between(&r, -3, 3);
        assert_true(mor_routh_impact(3, W, 3, mu, e, end, u, p));
        small_steps(W, mu, e, end, u, steps, q);
        for (int d = 0; d < 3; d++) worst = fmax(worst, fabs(p[d] - q[d]) / p[0]);
    }
    printf("  largest difference %.1e of the normal impulse with %d steps\n", worst, steps);
    assert_true(worst < 60.0 / steps);
}

static void no_impact_of_routh_gains_energy(void** state)
{
    (void)state;
    mor_rng r = { test_seed(14) };
    double most = -HUGE_VAL;
    for (int k = 0; k < 3000; k++) {
        int n = 2 + k % 2;
        double W[9], u[3], p[3], mu = k % 7 == 0 ? 0 : between(&r, 0, 3), e = k % 5 == 0 ? 1 : between(&r, 0, 1);
        mor_routh_end end = k % 4 < 2 ? MOR_ROUTH_STRONGE : MOR_ROUTH_POISSON;
        random_matrix(&r, n, W);
        u[0] = -between(&r, 1e-6, 3), u[1] = k % 11 ? between(&r, -3, 3) : 0, u[2] = k % 13 ? between(&r, -3, 3) : 0;
        if (!mor_routh_impact(n, W, n, mu, e, end, u, p)) fail_msg("case %d does not end", k);
        double gain = work(n, W, u, p), slip = 0, after = u[0];
        for (int d = 1; d < n; d++) slip = hypot(slip, p[d]);
        for (int d = 0; d < n; d++) after += W[d] * p[d];
        most = fmax(most, gain / (u[0] * u[0] / W[0]));
        if (gain > 1e-9 * u[0] * u[0] / W[0]) fail_msg("case %d: gains %g", k, gain);
        if (slip > mu * p[0] * (1 + 1e-9) + 1e-15) fail_msg("case %d: impulse outside the cone", k);
        if (mu == 0) test_near(after, -e * u[0], 1e-9 * -u[0], "speed after without friction");
    }
    printf("  largest gain %.1e\n", most);
}

/* ---------------------------------------------------------------------------------- in worlds */

static int material(mor_world* w, double mu, double e, double slip, const char* law)
{
    mor_material m = mor_material_default();
    m.friction = mu, m.restitution = e, m.tangential = slip;
    m.impact = mor_impact_law_index(law);
    assert_true(m.impact >= 0);
    return mor_world_add_material(w, &m);
}

static mor_world* world_of(double h, double g)
{
    mor_world_def def = mor_world_def_default();
    mor_error error = { 0 };
    def.step = h;
    def.gravity = mor_v3(0, 0, -g);
    mor_world* w = mor_world_create(&def, &error);
    assert_non_null(w);
    return w;
}

static mor_body_id body(mor_world* w, mor_geometry* g, int m, double mass, mor_vec3 x, mor_quat q)
{
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { g, mor_pose_identity(), -1 };
    mor_error error = { 0 };
    def.shapes = &s, def.shape_count = 1, def.mass = mass, def.material = m;
    def.pose = (mor_pose){ x, q };
    mor_body_id b = mor_world_add_body(w, &def, &error);
    if (!b.index1) fail_msg("%s", error.text);
    mor_geometry_release(g);
    return b;
}

/* A ball: the contact's slip becomes -e_t times itself if (1 + e_t) 2/7 |u_t| <= mu (1 + e) |u_n|. */
static void balls_turn_their_slip_round(void** state)
{
    (void)state;
    mor_rng r = { test_seed(15) };
    int held = 0, slid = 0;
    for (int k = 0; k < 60; k++) {
        double e = between(&r, 0.1, 1), et = between(&r, 0, 1), mu = between(&r, 0.05, 1), R = between(&r, 0.05, 0.3);
        double vn = between(&r, 0.5, 3);
        mor_world* w = world_of(0.01, 0);
        int m = material(w, mu, e, et, "tangential");
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        assert_int_equal(mor_world_set_pair(w, 0, m, mu, e, NULL), MOR_OK);
        mor_body_id b = body(w, test_sphere(R), m, between(&r, 0.1, 5), mor_v3(0, 0, R + 0.002), no_turn);
        mor_vec3 v = mor_v3(between(&r, -2, 2), between(&r, -2, 2), -vn);
        mor_vec3 spin = mor_v3(between(&r, -9, 9), between(&r, -9, 9), between(&r, -9, 9));
        test_velocity(w, b, v, spin);
        test_steps(w, 1);
        mor_body_state s = test_state(w, b);
        double ux = v.x - R * spin.y, uy = v.y + R * spin.x, slip = hypot(ux, uy);
        double ax = s.velocity.x - R * s.angular_velocity.y, ay = s.velocity.y + R * s.angular_velocity.x;
        double keep = fmin(1, mu * (1 + e) * vn / ((1 + et) * slip * 2.0 / 7.0));
        double left = 1 - keep * (1 + et);
        test_near(s.velocity.z, e * vn, 1e-8, "speed after");
        test_near(ax, left * ux, 1e-7, "slip after");
        test_near(ay, left * uy, 1e-7, "slip after");
        if (keep < 1) slid++;
        else held++;
        mor_world_destroy(w);
    }
    assert_true(held > 10 && slid > 10);
}

/* For a ball all laws with e_t = 0 agree: friction does not act on the normal. */
static void balls_are_the_same_for_all_laws(void** state)
{
    (void)state;
    static const char* const laws[] = { "newton", "tangential", "poisson", "routh-poisson", "routh-stronge" };
    mor_rng r = { test_seed(16) };
    for (int k = 0; k < 20; k++) {
        double e = between(&r, 0.1, 1), mu = between(&r, 0.05, 1), R = 0.1;
        mor_vec3 v = mor_v3(between(&r, -2, 2), between(&r, -2, 2), -between(&r, 0.5, 3));
        mor_vec3 spin = mor_v3(between(&r, -9, 9), between(&r, -9, 9), between(&r, -9, 9));
        mor_body_state first = { 0 };
        for (int l = 0; l < 5; l++) {
            mor_world* w = world_of(0.01, 9.81);
            int m = material(w, mu, e, 0, laws[l]);
            test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
            assert_int_equal(mor_world_set_pair(w, 0, m, mu, e, NULL), MOR_OK);
            mor_body_id b = body(w, test_sphere(R), m, 1, mor_v3(0, 0, R + 0.002), no_turn);
            test_velocity(w, b, v, spin);
            test_steps(w, 1);
            mor_body_state s = test_state(w, b);
            if (l == 0) first = s;
            test_near(mor_norm(mor_sub(s.velocity, first.velocity)), 0, 1e-7, laws[l]);
            test_near(mor_norm(mor_sub(s.angular_velocity, first.angular_velocity)), 0, 1e-6, laws[l]);
            mor_world_destroy(w);
        }
    }
}

/* Boxes and sticks thrown on a floor and on each other, free and as double pendulums with joints: no step gains. */
static void no_step_gains_energy(void** state)
{
    (void)state;
    static const char* const laws[] = { "tangential", "routh-poisson", "routh-stronge" };
    mor_rng r = { test_seed(17) };
    for (int k = 0; k < 18; k++) {
        double h = between(&r, 0.002, 0.01), e = k % 4 == 0 ? 1 : between(&r, 0.1, 1), mu = between(&r, 0, 1);
        mor_world* w = world_of(h, 9.81);
        int m = material(w, mu, e, between(&r, 0, 1), laws[k % 3]);
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        assert_int_equal(mor_world_set_pair(w, 0, m, mu, e, NULL), MOR_OK);
        for (int i = 0; i < 3; i++) {
            mor_geometry* g = i == 1 ? test_sphere(0.15) : i == 2 ? test_box(0.8, 0.06, 0.05) : test_box(0.3, 0.2, 0.1);
            mor_vec3 axis = mor_v3(between(&r, -1, 1), between(&r, -1, 1), between(&r, -1, 1));
            mor_body_id b =
                body(w, g, m, 3, mor_v3(between(&r, -0.1, 0.1), 0, 0.7 + 0.5 * i), mor_quat_exp(mor_scale(3, axis)));
            test_velocity(w, b, mor_v3(between(&r, -1, 1), 0, between(&r, -3, 0)),
                          mor_v3(between(&r, -9, 9), between(&r, -9, 9), between(&r, -9, 9)));
        }
        double before = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
        for (int n = 0; n * h < 1.0; n++) {
            mor_step_report s = test_steps(w, 1);
            double gain = s.kinetic + s.potential - s.projection_work - before;
            if (gain > 1e-5) fail_msg("case %d (%s), step %d gains %g J", k, laws[k % 3], n, gain);
            before = s.kinetic + s.potential;
        }
        mor_world_destroy(w);
    }
}

/* ------------------------------------------------------------------------------- Hunt-Crossley */

/* v' of a v - ln(1 + a v) = -a v' - ln(1 - a v'), by bisection. */
static double rebound(double a, double v)
{
    double want = a * v - log1p(a * v), low = 0, high = fmin(v, (1 - 1e-15) / a);
    for (int i = 0; i < 200; i++) {
        double x = 0.5 * (low + high);
        if (-a * x - log1p(-a * x) < want) low = x;
        else high = x;
    }
    return low;
}

static void a_blow_leaves_as_hunt_and_crossley_say(void** state)
{
    (void)state;
    mor_rng r = { test_seed(18) };
    for (int k = 0; k < 12; k++) {
        double a = between(&r, 0.05, 1.5), v = between(&r, 0.3, 3), mass = between(&r, 0.2, 3);
        double n = k % 3 == 0 ? 1 : k % 3 == 1 ? 1.5 : between(&r, 1.1, 2.5), error[2];
        for (int fine = 0; fine < 2; fine++) {
            mor_world* w = world_of(0.0005, 0);
            char option[64];
            test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
            test_method(w, "formulation", "hunt-crossley");
            snprintf(option, sizeof option, "%.17g", a);
            test_option(w, "formulation", "dissipation", option);
            snprintf(option, sizeof option, "%.17g", n);
            test_option(w, "formulation", "exponent", option);
            test_option(w, "formulation", "stiffness", "1e5");
            test_option(w, "formulation", "substeps", fine ? "80" : "20");
            mor_body_id b = body(w, test_sphere(0.1), 0, mass, mor_v3(0, 0, 0.1005), no_turn);
            test_velocity(w, b, mor_v3(0, 0, -v), mor_v3(0, 0, 0));
            double before = mor_world_kinetic_energy(w), last = 0;
            for (int i = 0; i < 4000; i++) {
                test_steps(w, 1);
                last = test_state(w, b).velocity.z;
                if (last > 0 && test_state(w, b).com.z > 0.1001) break;
            }
            assert_true(mor_world_kinetic_energy(w) <= before);
            error[fine] = fabs(last - rebound(a, v)) / v;
            mor_world_destroy(w);
        }
        if (!(error[1] < 0.01) || !(error[1] < 0.5 * error[0] + 1e-6))
            fail_msg("case %d, a %g, v %g, n %g: off by %g, %g of v", k, a, v, n, error[0], error[1]);
    }
}

static void a_ball_sinks_by_its_weight_and_flies_a_parabola(void** state)
{
    (void)state;
    mor_world* w = world_of(0.001, 9.81);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    test_method(w, "formulation", "hunt-crossley");
    mor_body_id b = body(w, test_sphere(0.1), 0, 2, mor_v3(0, 0, 0.3), no_turn);
    test_steps(w, 100);
    test_near(test_state(w, b).com.z, 0.3 - 0.5 * 9.81 * 0.01, 1e-12, "height in flight");
    test_steps(w, 5000);
    test_near(0.1 - test_state(w, b).com.z, pow(2 * 9.81 / 1e6, 1 / 1.5), 1e-7, "depth at rest");
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planar_impacts_are_those_of_the_closed_form),
        cmocka_unit_test(space_with_a_still_direction_is_the_plane),
        cmocka_unit_test(impacts_in_space_are_those_of_many_small_steps),
        cmocka_unit_test(no_impact_of_routh_gains_energy),
        cmocka_unit_test(balls_turn_their_slip_round),
        cmocka_unit_test(balls_are_the_same_for_all_laws),
        cmocka_unit_test(no_step_gains_energy),
        cmocka_unit_test(a_blow_leaves_as_hunt_and_crossley_say),
        cmocka_unit_test(a_ball_sinks_by_its_weight_and_flies_a_parabola),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
