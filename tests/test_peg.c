/* Exact geometry in space: bodies pass what they miss by micrometres, rest on what they touch, and never tunnel.
 *
 * Expected values: the discrete free fall, geometry of rest poses, mirror symmetry, the same scene on one plane, closed
 * forms. After every step of every scene no plane pushes while another one is open (common/choices.h). */
#include "common/choices.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81;
static const mor_quat no_turn = { 1, 0, 0, 0 };

static mor_world* peg_world(double h, double mu, const char* solver, const char* cone)
{
    mor_error error = { 0 };
    mor_world* w = test_world(h);
    test_option(w, "solver", "tol", "1e-10"); /* expected values to 1e-9; the default asks for 1e-8 m/s */
    test_method(w, "formulation", "peg");
    test_method(w, "collision", "features");
    test_method(w, "solver", solver);
    test_option(w, "formulation", "cone", cone);
    mor_world_set_pair(w, 0, 0, mu, 0.0, &error);
    return w;
}

static double max_raw, max_pen, max_gain, energy;

/* One solved step; keeps the worst of what is measured. */
static mor_step_report step(mor_world* w)
{
    mor_step_report r = test_steps(w, 1);
    max_raw = fmax(max_raw, r.raw_penetration);
    max_pen = fmax(max_pen, r.penetration);
    if (isfinite(energy)) max_gain = fmax(max_gain, r.kinetic + r.potential - r.projection_work - energy);
    energy = r.kinetic + r.potential;
    test_choice_report choice = { 0 };
    test_choices(w, &choice);
    assert_true(choice.worst < 1e-7);
    return r;
}

static void begin(void)
{
    max_raw = max_pen = max_gain = 0.0;
    energy = NAN;
}

/* ------------------------------------------------------------------------------- peg in hole */

static mor_body_id hole_and_peg(mor_world* w, double size, mor_vec3 x, mor_quat q)
{
    const double at[4][2] = { { -1, 0 }, { 1, 0 }, { 0, 1 }, { 0, -1 } };
    for (int i = 0; i < 4; i++) test_fixed(w, test_box(1, 1, 1), mor_v3(at[i][0], at[i][1], 0), no_turn);
    return test_body(w, test_box(size, size, size), 1.0, x, q);
}

static const char* epsilons[] = { "1e-3", "0.01", "0.1", "0.5" };

static void a_peg_passes_or_rests_whatever_epsilon(void** state)
{
    (void)state;
    const double sizes[] = { 0.99999, 1.00001, 1.0001, 1.001, 1.01, 1.02 };
    const double mus[] = { 0.0, 0.5 };
    for (int s = 0; s < 6; s++)
        for (int m = 0; m < 2; m++)
            for (int e = 0; e < 4; e++) {
                mor_world* w = peg_world(0.01, mus[m], m ? "nsn" : "lemke", m ? "exact" : "pyramid");
                test_option(w, "collision", "epsilon", epsilons[e]);
                mor_body_id peg = hole_and_peg(w, sizes[s], mor_v3(0, 0, 1.5), no_turn);
                begin();
                for (int k = 1; k <= 300; k++) {
                    step(w);
                    if (s == 0)
                        test_near(test_state(w, peg).com.z, 1.5 - g * 1e-4 * k * (k + 1) / 2, 1e-9, "free fall");
                    else if (k > 40) test_near(test_state(w, peg).com.z, 0.5 + 0.5 * sizes[s], 1e-6, "rests on top");
                }
                mor_body_state b = test_state(w, peg);
                double z = s == 0 ? 1.5 - g * 1e-4 * 300 * 301 / 2 : 0.5 + 0.5 * sizes[s];
                test_near(b.com.z, z, 1e-9, "height");
                test_near(b.com.x, 0, 1e-9, "x");
                test_near(b.com.y, 0, 1e-9, "y");
                assert_true(max_pen < 1e-9);
                mor_world_destroy(w);
            }
}

/* Position at t of an offset or tilted peg. */
static mor_vec3 crooked(double size, mor_vec3 x, double tilt, double mu, double h, double t, const char* epsilon)
{
    mor_world* w = peg_world(h, mu, "nsn", "exact");
    test_option(w, "collision", "epsilon", epsilon);
    test_option(w, "method", "on_failure", "retry");
    mor_body_id peg = hole_and_peg(w, size, x, mor_quat_axis_angle(mor_v3(0, 1, 0), tilt));
    begin();
    for (int k = 0; k < (int)(t / h + 0.5); k++) step(w);
    mor_vec3 p = test_state(w, peg).com;
    mor_world_destroy(w);
    return p;
}

static void crooked_pegs_keep_mirror_symmetry_and_converge(void** state)
{
    (void)state;
    const double sizes[] = { 0.99999, 0.99, 0.99999 }, tilts[] = { 0.0, 0.02, 0.02 }, offsets[] = { 0.1, 0.0, 0.0 };
    for (int c = 0; c < 6; c++) {
        double size = sizes[c % 3], tilt = tilts[c % 3], mu = c < 3 ? 0.5 : 0.0, h = 0.01;
        mor_vec3 x = mor_v3(offsets[c % 3], 0, 1.5), before = x;
        for (int k = 0; k < 5; k++, h *= 0.5) {
            mor_vec3 p = crooked(size, x, tilt, mu, h, 0.6, "0.01");
            printf("  peg of %g, offset %g, tilt %g, mu %g, h %g: (%.7f, %.1e, %.7f), raw penetration %.1e\n", size,
                   x.x, tilt, mu, h, p.x, p.y, p.z, max_raw);
            test_near(p.y, 0, 1e-9, "mirror symmetry");
            assert_true(max_pen < 1e-9);
            /* without friction the tilted pegs hit the far wall near 0.5 s and come up again, at h = 0.01 a tenth
             * slower: 1 cm at the end */
            if (k > (mu == 0.0 && tilt != 0.0)) assert_true(mor_norm(mor_sub(p, before)) < 1e-3);
            before = p;
        }
        mor_vec3 first = crooked(size, x, tilt, mu, 0.01, 0.6, epsilons[0]);
        for (int e = 1; e < 4; e++)
            assert_true(mor_norm(mor_sub(crooked(size, x, tilt, mu, 0.01, 0.6, epsilons[e]), first)) < 1e-9);
    }
}

static void a_peg_that_catches_the_ledge_tips_without_leaving_its_plane(void** state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        mor_vec3 first = { 0, 0, 0 };
        for (int e = 0; e < 4; e++) {
            mor_vec3 p = crooked(0.9998, mor_v3(1.1e-4, 0, 1.5), 0, m ? 0.5 : 0.0, 0.01, 1.0, epsilons[e]);
            if (e == 0)
                printf("  mu %g: ends at (%.6f, %.1e, %.6f), raw penetration %.1e, step gain %.1e J\n", m ? 0.5 : 0.0,
                       p.x, p.y, p.z, max_raw, max_gain);
            test_near(p.y, 0, 1e-6, "y");
            assert_true(max_pen < 1e-9);
            assert_true(p.z < 1.0); /* it went down into the hole or hangs in it, it does not stand on the ledge */
            if (e == 0) first = p;
            test_near(mor_norm(mor_sub(p, first)), 0, 1e-9, "whatever epsilon");
        }
    }
}

/* ------------------------------------------------------------------------------------ tiles */

enum { SLIDE = 80 };

static void slide(bool tiles, double mu, mor_vec3 x, mor_vec3 v, double yaw, mor_body_state at[SLIDE])
{
    mor_world* w = peg_world(0.01, mu, mu > 0 ? "nsn" : "lemke", mu > 0 ? "exact" : "pyramid");
    if (tiles)
        for (int i = 0; i < 100; i++)
            test_fixed(w, test_box(0.5, 0.5, 0.2), mor_v3(0.5 * (i % 10) - 0.75, 0.5 * (i / 10) - 2.25, -0.1), no_turn);
    else test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id cube = test_body(w, test_box(0.3, 0.3, 0.3), 1.0, x, mor_quat_axis_angle(mor_v3(0, 0, 1), yaw));
    test_velocity(w, cube, v, mor_v3(0, 0, 0));
    begin();
    for (int k = 0; k < SLIDE; k++) {
        step(w);
        at[k] = test_state(w, cube);
    }
    assert_true(max_pen < 1e-9);
    mor_world_destroy(w);
}

/* All of the trajectory, positions and attitudes. */
static void a_tiled_floor_is_one_plane(void** state)
{
    (void)state;
    for (int c = 0; c < 8; c++) {
        double mu = c & 1 ? 0.3 : 0.0, yaw = c & 2 ? 0.3 : 0.0, worst = 0.0, turned = 0.0, speed = 0.0;
        mor_vec3 x = c & 4 ? mor_v3(-0.35, 0, 0.25) : mor_v3(0, 0, 0.15),
                 v = c & 4 ? mor_v3(3, 1, -2) : mor_v3(3, 1, 0);
        mor_body_state a[SLIDE], b[SLIDE];
        slide(true, mu, x, v, yaw, a);
        slide(false, mu, x, v, yaw, b);
        for (int k = 0; k < SLIDE; k++) {
            mor_quat p = a[k].pose.rotation, q = b[k].pose.rotation;
            worst = fmax(worst, mor_norm(mor_sub(a[k].com, b[k].com)));
            turned = fmax(turned, fabs(p.w - q.w) + fabs(p.x - q.x) + fabs(p.y - q.y) + fabs(p.z - q.z));
            speed = fmax(speed, mor_norm(mor_sub(a[k].velocity, b[k].velocity)));
        }
        printf("  mu %g, yaw %g, %s: x = %.9f, tiles differ by at most %.1e m, quaternion %.1e, %.1e m/s\n", mu, yaw,
               c & 4 ? "oblique landing" : "sliding", b[SLIDE - 1].com.x, worst, turned, speed);
        test_near(worst, 0, 1e-9, "position");
        test_near(turned, 0, 1e-9, "attitude");
        test_near(speed, 0, 1e-7, "velocity");
    }
}

/* ----------------------------------------------------------------------------------- others */

static void a_thin_plate_stops_a_fast_cube(void** state)
{
    (void)state;
    const double speeds[] = { 5, 20, 50, 200 };
    for (int c = 0; c < 8; c++) {
        mor_world* w = peg_world(0.01, 0.5, "lemke", "pyramid");
        test_fixed(w, test_box(4, 4, 0.01), mor_v3(0, 0, -0.005), no_turn);
        mor_body_id cube = test_body(w, test_box(0.1, 0.1, 0.1), 1.0, mor_v3(0, 0, 1.234), no_turn);
        test_velocity(w, cube, mor_v3(0, 0, -speeds[c % 4]), c < 4 ? mor_v3(0, 0, 0) : mor_v3(3, -5, 2));
        begin();
        for (int k = 0; k < 100; k++) step(w);
        mor_body_state b = test_state(w, cube);
        if (c < 4) test_near(b.com.z, 0.05, 1e-9, "height");
        assert_true(b.com.z > 0.049);
        assert_true(max_pen < 1e-9);
        mor_world_destroy(w);
    }
}

/* A cube of edge a spinning about the vertical on a large box, pressed by its weight. The four corners at r = a/sqrt 2
 * carry mg/4 each if the pressure is even, slip tangentially, and take the spin off at mu m g r / I per second while it
 * slides. */
static void a_spinning_cube_loses_spin_at_the_rate_of_its_own_contacts(void** state)
{
    (void)state;
    const double a = 1.0, mu = 0.1;
    mor_world* w = peg_world(0.01, mu, "nsn", "exact");
    test_fixed(w, test_box(20, 20, 1), mor_v3(0, 0, -0.5), no_turn);
    mor_body_id cube = test_body(w, test_box(a, a, a), 1.0, mor_v3(0, 0, 0.5), no_turn);
    test_velocity(w, cube, mor_v3(0, 0, 0), mor_v3(0, 0, 10));
    for (int k = 0; k < 20; k++) step(w);
    double rate = mu * 1.0 * g * (a / sqrt(2.0)) / (a * a / 6.0);
    test_near(test_state(w, cube).angular_velocity.z, 10.0 - 0.2 * rate, 1e-6, "spin");
    mor_world_destroy(w);
}

static void a_cube_comes_to_rest_in_a_corner_of_three_walls(void** state)
{
    (void)state;
    /* gravity leans into the corner: up to about mu 0.2 the only rest is in it; with more friction the cube may lean on
     * the walls */
    const double mus[] = { 0.0, 0.1, 0.2, 0.5 };
    for (int m = 0; m < 4; m++) {
        mor_world* w = peg_world(0.01, mus[m], m ? "nsn" : "lemke", m ? "exact" : "pyramid");
        mor_world_set_gravity(w, mor_v3(-5, -5, -9.81));
        test_option(w, "method", "on_failure", "retry");
        test_fixed(w, test_box(6, 6, 1), mor_v3(2, 2, -0.5), no_turn);
        test_fixed(w, test_box(1, 6, 6), mor_v3(-0.5, 2, 2), no_turn);
        test_fixed(w, test_box(6, 1, 6), mor_v3(2, -0.5, 2), no_turn);
        mor_body_id cube = test_body(w, test_box(1, 1, 1), 1.0, mor_v3(1.2, 1.4, 1.6),
                                     mor_quat_normalize((mor_quat){ 1, 0.1, 0.2, 0.15 }));
        begin();
        for (int k = 0; k < 500; k++) step(w);
        mor_body_state b = test_state(w, cube);
        printf("  mu %g: rests at (%.9f, %.9f, %.9f), raw penetration %.1e, step gain %.1e J\n", mus[m], b.com.x,
               b.com.y, b.com.z, max_raw, max_gain);
        if (mus[m] < 0.3) {
            test_near(b.com.x, 0.5, 1e-6, "x");
            test_near(b.com.y, 0.5, 1e-6, "y");
            test_near(b.com.z, 0.5, 1e-6, "z");
        }
        for (int k = 0; k < 500; k++) step(w);
        assert_true(mor_norm(mor_sub(test_state(w, cube).com, b.com)) < 1e-6);
        assert_true(max_pen < 1e-9);
        mor_world_destroy(w);
    }
}

static mor_geometry* hull(const mor_vec3* p, int n)
{
    mor_error error = { 0 };
    mor_geometry* s = mor_geometry_hull(p, n, &error);
    if (!s) fail_msg("%s", error.text);
    return s;
}

/* A wedge with its edge down between two fixed wedges whose slopes are parallel to its own: it comes to rest on both.
 * */
static void a_wedge_rests_between_two_wedges(void** state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        mor_world* w = peg_world(0.01, m ? 0.5 : 0.0, m ? "nsn" : "lemke", m ? "exact" : "pyramid");
        /* fixed: solid below the planes z = +-x, from the line x = 0, z = 0 outwards */
        mor_vec3 right[6] = { { 0, -1, 0 }, { 2, -1, 2 }, { 2, -1, 0 }, { 0, 1, 0 }, { 2, 1, 2 }, { 2, 1, 0 } };
        mor_vec3 left[6] = { { 0, -1, 0 }, { -2, -1, 2 }, { -2, -1, 0 }, { 0, 1, 0 }, { -2, 1, 2 }, { -2, 1, 0 } };
        test_fixed(w, hull(right, 6), mor_v3(0, 0, 0), no_turn);
        test_fixed(w, hull(left, 6), mor_v3(0, 0, 0), no_turn);
        mor_vec3 wedge[6] = { { 0, -0.5, 0 }, { 1, -0.5, 1 }, { -1, -0.5, 1 },
                              { 0, 0.5, 0 },  { 1, 0.5, 1 },  { -1, 0.5, 1 } };
        mor_body_id body = test_body(w, hull(wedge, 6), 1.0, mor_v3(0, 0, 0.3), no_turn);
        begin();
        for (int k = 0; k < 200; k++) step(w);
        mor_body_state b = test_state(w, body);
        test_near(b.pose.position.z, 0, 1e-6, "height of its edge");
        test_near(b.pose.position.x, 0, 1e-6, "x");
        for (int k = 0; k < 500; k++) step(w);
        assert_true(mor_norm(mor_sub(test_state(w, body).com, b.com)) < 1e-6);
        assert_true(max_pen < 1e-9);
        mor_world_destroy(w);
    }
}

static void a_tower_of_six_levels_of_planks_stands_still(void** state)
{
    (void)state;
    mor_world* w = peg_world(0.01, 0.5, "auto", "exact");
    mor_body_id planks[18];
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    for (int i = 0; i < 18; i++) {
        int level = i / 3, k = i % 3 - 1;
        mor_quat q = level % 2 ? mor_quat_axis_angle(mor_v3(0, 0, 1), 1.5707963267948966) : no_turn;
        mor_vec3 x = level % 2 ? mor_v3(0.25 * k, 0, 0.15 * level + 0.075) : mor_v3(0, 0.25 * k, 0.15 * level + 0.075);
        planks[i] = test_body(w, test_box(0.75, 0.24, 0.15), 1.0, x, q);
    }
    begin();
    double drift = 0.0;
    mor_vec3 start[18];
    for (int i = 0; i < 18; i++) start[i] = test_state(w, planks[i]).com;
    for (int k = 0; k < 500; k++) step(w);
    for (int i = 0; i < 18; i++) drift = fmax(drift, mor_norm(mor_sub(test_state(w, planks[i]).com, start[i])));
    printf("  drift %.1e m in 5 s, penetration %.1e\n", drift, max_pen);
    assert_true(drift < 1e-6);
    mor_world_destroy(w);
}

/* A key: a shaft with a bit (compound of two boxes) above a lock plate with a hole of the same outline (six boxes). */
static mor_body_state key(double clearance, mor_vec3 offset, double tilt)
{
    mor_error error = { 0 };
    mor_world* w = peg_world(0.01, 0.5, "auto", "exact");
    test_option(w, "method", "on_failure", "retry");
    /* hole: shaft [-1,1]x[-1,1] and bit [1,3]x[-.5,.5]; the plate around it, z in [-.5,.5] */
    const double boxes[6][4] = { { -3, -1, -3, 3 }, { -1, 1, 1, 3 },    { -1, 1, -3, -1 },
                                 { 1, 3, 0.5, 3 },  { 1, 3, -3, -0.5 }, { 3, 5, -3, 3 } };
    for (int i = 0; i < 6; i++) {
        const double* b = boxes[i];
        test_fixed(w, test_box(b[1] - b[0], b[3] - b[2], 1), mor_v3(0.5 * (b[0] + b[1]), 0.5 * (b[2] + b[3]), 0),
                   no_turn);
    }
    double c = clearance;
    mor_body_shape parts[2] = { { test_box(2 - 2 * c, 2 - 2 * c, 1), mor_pose_identity(), -1 },
                                { test_box(2 - 2 * c, 1 - 2 * c, 1), { { 2, 0, 0 }, { 1, 0, 0, 0 } }, -1 } };
    mor_body_def def = mor_body_def_default();
    def.shapes = parts;
    def.shape_count = 2;
    def.mass = 1.0;
    def.pose.position = mor_add(mor_v3(0, 0, 1.2), offset);
    def.pose.rotation = mor_quat_axis_angle(mor_v3(0, 1, 0), tilt);
    mor_body_id body = mor_world_add_body(w, &def, &error);
    for (int i = 0; i < 2; i++) mor_geometry_release(parts[i].geometry);
    begin();
    for (int k = 0; k < 100; k++) step(w);
    mor_body_state s = test_state(w, body);
    printf("  clearance %g, offset (%g, %g), tilt %g: at (%.6f, %.1e, %.6f) after 1 s, raw penetration %.1e\n",
           clearance, offset.x, offset.y, tilt, s.pose.position.x, s.pose.position.y, s.pose.position.z, max_raw);
    assert_true(max_pen < 1e-9);
    mor_world_destroy(w);
    return s;
}

static void a_key_passes_its_keyhole_with_clearance_and_not_without(void** state)
{
    (void)state;
    const double fallen = 1.2 - g * 1e-4 * 100 * 101 / 2;
    const mor_vec3 centred = { 0, 0, 0 };
    /* anywhere within the clearance it falls freely */
    test_near(key(1e-4, centred, 0).com.z, fallen, 1e-9, "falls freely");
    test_near(key(1e-4, mor_v3(0.9e-4, -0.9e-4, 0), 0).com.z, fallen, 1e-9, "falls freely");
    test_near(key(1e-4, mor_v3(-0.9e-4, 0.9e-4, 0), 0).com.z, fallen, 1e-9, "falls freely");
    /* beyond it the key catches the ledge by 10 um and tips, in the plane of symmetry */
    mor_body_state s = key(1e-4, mor_v3(1.1e-4, 0, 0), 0);
    test_near(s.com.y, 0, 1e-6, "mirror symmetry");
    assert_true(s.com.z > fallen + 0.1);
    /* too large it stays on the plate, centred, offset and tilted */
    test_near(key(-1e-4, centred, 0).com.z, 1.0, 1e-6, "rests on the plate");
    test_near(key(-1e-4, mor_v3(0.5e-4, 0.3e-4, 0), 0).com.z, 1.0, 1e-6, "rests on the plate");
    s = key(-1e-4, mor_v3(0, 0, 0.1), 0.02);
    test_near(s.com.y, 0, 1e-6, "mirror symmetry");
    assert_true(s.com.z > 0.3); /* jammed: part of it may hang in the hole, it cannot pass */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peg_passes_or_rests_whatever_epsilon),
        cmocka_unit_test(crooked_pegs_keep_mirror_symmetry_and_converge),
        cmocka_unit_test(a_peg_that_catches_the_ledge_tips_without_leaving_its_plane),
        cmocka_unit_test(a_tiled_floor_is_one_plane),
        cmocka_unit_test(a_thin_plate_stops_a_fast_cube),
        cmocka_unit_test(a_spinning_cube_loses_spin_at_the_rate_of_its_own_contacts),
        cmocka_unit_test(a_cube_comes_to_rest_in_a_corner_of_three_walls),
        cmocka_unit_test(a_wedge_rests_between_two_wedges),
        cmocka_unit_test(a_tower_of_six_levels_of_planks_stands_still),
        cmocka_unit_test(a_key_passes_its_keyhole_with_clearance_and_not_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
