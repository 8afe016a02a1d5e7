/* Contacts that are not touched do nothing, and what touches is never missed.
 *
 * Expected: free flight to rounding for bodies that pass; bullets stay in front of plates of 5 mm and of each other;
 * momentum is kept; kinetic energy never grows (balls only: how others turn is not the contacts' matter). A prism that
 * rolls on its edges loses, at each,
 *     1 - ((k^2 + R^2 cos 2a) / (k^2 + R^2))^2,   a = pi/n,  k^2 = R^2 (2 + cos 2a) / 6
 * of its kinetic energy and none between them (angular momentum about the edge that lands). */
#include <math.h>
#include <stdio.h>

#include "common/random_scenes.h"

static void expect_free(const mor_world* w, mor_body_id body, mor_body_state start, double time, const char* what)
{
    mor_body_state s = test_state(w, body);
    mor_vec3 x = mor_madd(start.com, time, start.velocity);
    double speed = mor_norm(start.velocity);
    test_near(mor_norm(mor_sub(s.com, x)), 0.0, 1e-11 * (1 + speed * time + mor_norm(x)), what);
    test_near(mor_norm(mor_sub(s.velocity, start.velocity)), 0.0, 1e-11 * (1 + speed), what);
}

/* The two bounding balls pass at the given clearance. */
static void bodies_that_pass_keep_their_speed(void** state)
{
    (void)state;
    uint64_t seed = test_seed(21);
    for (int k = 0; k < 100; k++) {
        double h = test_random(&seed, 0.001, 0.02), v = test_random(&seed, 1, 100),
               clear = pow(10, test_random(&seed, -4, -1));
        double ra, rb, spin = k % 3 == 0 ? 0.0 : test_random(&seed, 0, 60);
        mor_world* w = test_default_world(3, h, mor_v3(0, 0, 0));
        mor_geometry *a = test_solid(&seed, k, 0.3, &ra), *b = test_solid(&seed, k / 5, 0.2, &rb);
        mor_pose pa = { mor_v3(0, 0, 0), test_random_turn(&seed) }, pb = { mor_v3(0, 0, 0), test_random_turn(&seed) };
        pb.position = mor_v3(-v * h * test_random(&seed, 2, 5), 0, ra + rb + clear);
        mor_body_id post = test_add(w, k % 2 ? MOR_FIXED : MOR_DYNAMIC, &a, NULL, 1, 1.0, 0.5, pa);
        mor_body_id body = test_add(w, MOR_DYNAMIC, &b, NULL, 1, 1.0, 0.5, pb);
        test_velocity(w, body, mor_v3(v, 0, 0), mor_scale(spin, test_random_vector(&seed)));
        if (k % 2 == 0) test_velocity(w, post, mor_v3(-0.3 * v, 0, 0), mor_scale(spin, test_random_vector(&seed)));
        mor_body_state start = test_state(w, body), other = test_state(w, post);
        test_run(w, 10, NULL);
        char what[120];
        snprintf(what, sizeof what, "case %d (h %g, v %g, clearance %g, spin %g)", k, h, v, clear, spin);
        expect_free(w, body, start, 10 * h, what);
        expect_free(w, post, other, 10 * h, what);
        mor_world_destroy(w);
    }
}

/* Boxes fly over a block, faces parallel; polygons do it in the plane; the clearance is that of the faces. */
static void boxes_that_pass_a_block_keep_their_speed(void** state)
{
    (void)state;
    uint64_t seed = test_seed(22);
    mor_error e = { 0 };
    for (int k = 0; k < 40; k++) {
        double h = test_random(&seed, 0.001, 0.02), v = test_random(&seed, 1, 100),
               clear = pow(10, test_random(&seed, -5, -1));
        double yaw = k % 2 ? test_random(&seed, -1, 1) : 0.0, climb = test_random(&seed, 0, 0.2) * (k % 3 == 0);
        bool flat = k % 4 == 3;
        mor_world* w = test_default_world(flat ? 2 : 3, h, mor_v3(0, 0, 0));
        mor_vec3 s[4] = { { -0.25, -0.25, 0 }, { 0.25, -0.25, 0 }, { 0.25, 0.25, 0 }, { -0.25, 0.25, 0 } }, t[4];
        for (int i = 0; i < 4; i++) t[i] = mor_scale(0.4, s[i]);
        mor_geometry* a = flat ? mor_geometry_polygon(s, 4, &e) : test_box(0.5, 0.5, 0.5);
        mor_geometry* b = flat ? mor_geometry_polygon(t, 4, &e) : test_box(0.2, 0.2, 0.2);
        mor_vec3 up = flat ? mor_v3(0, 1, 0) : mor_v3(0, 0, 1);
        mor_pose pa = mor_pose_identity(), pb = pa;
        test_add(w, MOR_FIXED, &a, NULL, 1, 0, 0.5, pa);
        double back = 0.36 + v * h * test_random(&seed, 0, 3);
        pb.position = mor_add(mor_v3(-back, 0, 0), mor_scale(0.35 + clear, up));
        if (!flat) pb.rotation = mor_quat_axis_angle(mor_v3(0, 0, 1), yaw);
        mor_body_id body = test_add(w, MOR_DYNAMIC, &b, NULL, 1, 1.0, 0.5, pb);
        test_velocity(w, body, mor_add(mor_v3(v, 0, 0), mor_scale(climb * v, up)), mor_v3(0, 0, 0));
        mor_body_state start = test_state(w, body);
        int steps = 5 + (int)((back + 1) / (v * h));
        test_run(w, steps, NULL);
        char what[120];
        snprintf(what, sizeof what, "case %d (%s, h %g, v %g, clearance %g)", k, flat ? "2-D" : "3-D", h, v, clear);
        expect_free(w, body, start, steps * h, what);
        mor_world_destroy(w);
    }
}

static void spinning_bodies_swing_past_walls(void** state)
{
    (void)state;
    uint64_t seed = test_seed(23);
    for (int k = 0; k < 24; k++) {
        double h = test_random(&seed, 0.002, 0.02), clear = pow(10, test_random(&seed, -4, -1.5)), r;
        mor_world* w = test_default_world(3, h, mor_v3(0, 0, 0));
        mor_geometry *wall = k % 2 ? test_plane() : test_box(3, 3, 1), *b = test_solid(&seed, 1 + k % 4, 0.3, &r);
        mor_pose at = { mor_v3(0, 0, k % 2 ? 0 : -0.5), mor_pose_identity().rotation };
        test_add(w, MOR_FIXED, &wall, NULL, 1, 0, 0.5, at);
        at = (mor_pose){ mor_v3(0, 0, r + clear), test_random_turn(&seed) };
        mor_body_id body = test_add(w, MOR_DYNAMIC, &b, NULL, 1, 1.0, 0.5, at);
        double spin = test_random(&seed, 1, 1.2 / h);
        test_velocity(w, body, mor_v3(test_random(&seed, -1, 1), 0, 0), mor_scale(spin, test_random_vector(&seed)));
        mor_body_state start = test_state(w, body);
        test_run(w, 20, NULL);
        char what[120];
        snprintf(what, sizeof what, "case %d (h %g, clearance %g, spin %g)", k, h, clear, spin);
        expect_free(w, body, start, 20 * h, what);
        mor_world_destroy(w);
    }
}

static void bullets_do_not_pass_plates(void** state)
{
    (void)state;
    uint64_t seed = test_seed(24);
    for (int k = 0; k < 60; k++) {
        double h = test_random(&seed, 0.001, 0.02), v = test_random(&seed, 10, 1000), mu = test_random(&seed, 0, 1), r;
        mor_world* w = test_default_world(3, h, mor_v3(0, 0, 0));
        mor_geometry *plate = test_box(0.005, 60, 60), *b = test_solid(&seed, k, 0.05, &r);
        test_add(w, MOR_FIXED, &plate, NULL, 1, 0, mu, mor_pose_identity());
        mor_pose at = { mor_v3(-r - 0.01 - v * h * test_random(&seed, 0, 2), 0, 0), test_random_turn(&seed) };
        mor_body_id body = test_add(w, MOR_DYNAMIC, &b, NULL, 1, 1.0, mu, at);
        mor_vec3 way = mor_v3(1, test_random(&seed, -0.7, 0.7), test_random(&seed, -0.7, 0.7));
        test_velocity(w, body, mor_scale(v / mor_norm(way), way),
                      mor_scale(test_random(&seed, 0, 1.0 / h), test_random_vector(&seed)));
        double before = mor_world_kinetic_energy(w), gain = test_run(w, 8, NULL);
        char what[120];
        snprintf(what, sizeof what, "case %d (h %g, v %g, mu %g)", k, h, v, mu);
        if (!(test_state(w, body).com.x < 0.0)) fail_msg("%s: behind the plate", what);
        if (k % 5 == 0) test_near(fmax(gain, 0.0), 0.0, 1e-9 * before, what);
        mor_world_destroy(w);
    }
}

static void bullets_do_not_pass_each_other(void** state)
{
    (void)state;
    uint64_t seed = test_seed(25);
    for (int k = 0; k < 40; k++) {
        double h = test_random(&seed, 0.001, 0.02), v = test_random(&seed, 10, 1000), ra, rb;
        bool spins = k % 2;
        mor_world* w = test_default_world(3, h, mor_v3(0, 0, 0));
        mor_geometry *a = test_solid(&seed, k, 0.1, &ra), *b = test_solid(&seed, k / 5, 0.1, &rb);
        double apart = ra + rb + 0.01 + 2.0 * v * h * test_random(&seed, 0, 2), aside = 0.02;
        mor_pose pa = { mor_v3(-0.5 * apart, 0, 0), test_random_turn(&seed) },
                 pb = { mor_v3(0.5 * apart, test_random(&seed, -aside, aside), test_random(&seed, -aside, aside)),
                        test_random_turn(&seed) };
        double mass = test_random(&seed, 0.3, 3);
        mor_body_id first = test_add(w, MOR_DYNAMIC, &a, NULL, 1, 1.0, 0.3, pa);
        mor_body_id second = test_add(w, MOR_DYNAMIC, &b, NULL, 1, mass, 0.3, pb);
        double spin = spins ? test_random(&seed, 0, 0.5 / h) : 0.0;
        test_velocity(w, first, mor_v3(v, 0, 0), mor_scale(spin, test_random_vector(&seed)));
        test_velocity(w, second, mor_v3(-v, 0, 0), mor_scale(spin, test_random_vector(&seed)));
        double before = mor_world_kinetic_energy(w), gain = test_run(w, 6, NULL);
        mor_body_state s = test_state(w, first), t = test_state(w, second);
        char what[120];
        snprintf(what, sizeof what, "case %d (h %g, v %g, spin %g)", k, h, v, spin);
        test_near(s.velocity.x + mass * t.velocity.x, (1 - mass) * v, 1e-9 * v, what);
        if (k % 5 == 0 && k / 5 % 5 == 0) test_near(fmax(gain, 0.0), 0.0, 1e-9 * before, what);
        /* they have met: neither goes on as before */
        if (!(s.velocity.x < v * (1 - 1e-6) && t.velocity.x > -v * (1 - 1e-6))) fail_msg("%s: no impact", what);
        mor_world_destroy(w);
    }
}

static void glancing_balls_part_as_the_closed_form_says(void** state)
{
    (void)state;
    uint64_t seed = test_seed(26);
    for (int k = 0; k < 20; k++) {
        double h = test_random(&seed, 0.002, 0.02), v = test_random(&seed, 20, 200),
               sine = test_random(&seed, 0.05, 0.95);
        double until = test_random(&seed, 0.3, 0.7); /* share of the step before the impact */
        test_glancing(h, v, sine, until, k % 2 ? 0.0 : 1.0, 1e-6);
    }
}

static void small_bodies_have_their_own_contacts_only(void** state)
{
    (void)state;
    uint64_t seed = test_seed(31);
    for (int k = 0; k < 20; k++) { /* 0.05 mm to 10 m */
        double r = k < 4 ? pow(10, -4 + k) : 5e-5 * pow(2e5, test_random(&seed, 0, 1));
        mor_world* w = test_default_world(3, 0.01, mor_v3(0, 0, -9.81));
        mor_geometry* floor = test_plane();
        test_add(w, MOR_FIXED, &floor, NULL, 1, 0, 0.5, mor_pose_identity());
        for (int i = 0; i < 27; i++) {
            mor_geometry* ball = test_sphere(r);
            mor_pose at = { mor_v3(2.1 * r * (i % 9), 2.1 * r * (i / 9), r), mor_pose_identity().rotation };
            test_add(w, MOR_DYNAMIC, &ball, NULL, 1, 1.0, 0.5, at);
        }
        test_run(w, 5, NULL);
        int n;
        mor_world_contacts(w, &n);
        assert_int_equal(n, 27);
        mor_world_destroy(w);
    }
}

static void a_given_epsilon_is_in_metres(void** state)
{
    (void)state;
    static const struct {
        const char* value;
        int contacts;
    } cases[] = { { "0.01", 1 }, { "0.001", 0 }, { "auto", 0 } };
    for (int k = 0; k < 3; k++) {
        mor_world* w = test_default_world(3, 0.001, mor_v3(0, 0, 0));
        test_option(w, "collision", "epsilon", cases[k].value);
        mor_geometry *floor = test_plane(), *ball = test_sphere(0.1);
        test_add(w, MOR_FIXED, &floor, NULL, 1, 0, 0.5, mor_pose_identity());
        mor_pose at = { mor_v3(0, 0, 0.105), mor_pose_identity().rotation };
        test_add(w, MOR_DYNAMIC, &ball, NULL, 1, 1.0, 0.5, at);
        test_run(w, 1, NULL);
        int n;
        mor_world_contacts(w, &n);
        assert_int_equal(n, cases[k].contacts);
        mor_world_destroy(w);
    }
}

/* Turning speed of a prism of n sides after some time, and how deep it was in the floor. */
static double roll(int n, double h, double spin, double time, double* depth)
{
    mor_error e = { 0 };
    double R = 0.2, a = acos(-1) / n;
    mor_vec3 p[2 * 64];
    for (int i = 0; i < 2 * n; i++) {
        double t = 2 * a * (i % n) - acos(-1) / 2 + a;
        p[i] = mor_v3(R * cos(t), i < n ? -0.15 : 0.15, R * sin(t));
    }
    mor_world* w = test_default_world(3, h, mor_v3(0, 0, -9.81));
    mor_geometry *floor = test_plane(), *prism = mor_geometry_hull(p, 2 * n, &e);
    test_add(w, MOR_FIXED, &floor, NULL, 1, 0, 1.0, mor_pose_identity());
    mor_pose at = { mor_v3(0, 0, R * cos(a)), mor_pose_identity().rotation };
    mor_body_id body = test_add(w, MOR_DYNAMIC, &prism, NULL, 1, 10.0, 1.0, at);
    test_velocity(w, body, mor_v3(spin * R * cos(a), 0, spin * R * sin(a)), mor_v3(0, spin, 0));
    double gain = test_run(w, (int)(time / h + 0.5), depth);
    assert_true(gain < 1e-9);
    double end = test_state(w, body).angular_velocity.y;
    mor_world_destroy(w);
    return end;
}

/* The same by the closed form of the impacts and small steps between them. */
static double roll_exactly(int n, double spin, double time)
{
    double R = 0.2, a = acos(-1) / n, k2 = R * R * (2 + cos(2 * a)) / 6, I = k2 + R * R, angle = -a, dt = 1e-6;
    for (double t = 0; t < time; t += dt) {
        spin += dt * 9.81 * R * sin(angle) / I;
        angle += dt * spin;
        if (angle < a) continue;
        spin *= (k2 + R * R * cos(2 * a)) / I;
        angle -= 2 * a;
    }
    return spin;
}

static void a_prism_that_rolls_meets_every_edge(void** state)
{
    (void)state;
    static const struct {
        int n;
        double spin;
    } cases[] = { { 64, 4 }, { 64, 6 }, { 48, 3 }, { 24, 4 } };
    for (int k = 0; k < 4; k++) {
        double exact = roll_exactly(cases[k].n, cases[k].spin, 0.3), error[3], depth = 0.0;
        for (int i = 0; i < 3; i++)
            error[i] = roll(cases[k].n, 1e-3 / (1 << 2 * i), cases[k].spin, 0.3, &depth) - exact;
        char what[120];
        snprintf(what, sizeof what, "%d sides, %g rad/s: errors %g %g %g", cases[k].n, cases[k].spin, error[0],
                 error[1], error[2]);
        test_near(depth, 0.0, 1e-9, what);
        /* first order of the time step; the loss over these edges is about 0.15 to 0.5 rad/s */
        if (!(fabs(error[2]) < 0.15 * fabs(error[0]) + 1e-3 && fabs(error[2]) < 4e-3)) fail_msg("%s", what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_that_pass_keep_their_speed),
        cmocka_unit_test(boxes_that_pass_a_block_keep_their_speed),
        cmocka_unit_test(spinning_bodies_swing_past_walls),
        cmocka_unit_test(bullets_do_not_pass_plates),
        cmocka_unit_test(bullets_do_not_pass_each_other),
        cmocka_unit_test(glancing_balls_part_as_the_closed_form_says),
        cmocka_unit_test(small_bodies_have_their_own_contacts_only),
        cmocka_unit_test(a_given_epsilon_is_in_metres),
        cmocka_unit_test(a_prism_that_rolls_meets_every_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
