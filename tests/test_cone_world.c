/* Worlds with the exact friction cone, and what its convex relaxation does to them. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>

static const double g = 9.81, pi = 3.14159265358979323846;
static const mor_quat no_turn = { 1, 0, 0, 0 };

/* Benchmark S4: plane and unit cube turned by Rz(azimuth) Ry(30 deg). */
static mor_world* incline(double azimuth, double mu, const char* formulation, const char* solver, mor_body_id* cube,
                          mor_vec3* down)
{
    mor_world* w = test_world(0.01);
    mor_error error = { 0 };
    test_method(w, "formulation", formulation);
    test_method(w, "solver", solver);
    test_option(w, "solver", "tol", "1e-13");
    mor_quat q =
        mor_quat_mul(mor_quat_axis_angle(mor_v3(0, 0, 1), azimuth), mor_quat_axis_angle(mor_v3(0, 1, 0), pi / 6));
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), q);
    *cube = test_body(w, test_box(1, 1, 1), 1.0, mor_rotate(q, mor_v3(0, 0, 0.5)), q);
    *down = mor_rotate(q, mor_v3(1, 0, 0));
    assert_int_equal(mor_world_set_pair(w, 0, 0, mu, 0, &error), MOR_OK);
    return w;
}

static void a_cube_slides_with_the_exact_acceleration_whatever_the_azimuth(void** state)
{
    (void)state;
    const double exact = g * (sin(pi / 6) - 0.5 * cos(pi / 6));
    for (int k = 0; k < 2; k++) {
        mor_body_id cube;
        mor_vec3 down;
        mor_world* w = incline(k * pi / 4, 0.5, "ncp", "nsgs", &cube, &down);
        test_steps(w, 100);
        double v1 = mor_dot(test_state(w, cube).velocity, down);
        test_steps(w, 400);
        mor_vec3 v = test_state(w, cube).velocity;
        double a = (mor_dot(v, down) - v1) / 4.0;
        print_message("azimuth %g: acceleration %.12f, off by %.2e\n", k * 45.0, a, a - exact);
        test_near(a, exact, 1e-9, "acceleration");
        test_near(mor_norm(mor_madd(v, -mor_dot(v, down), down)), 0.0, 1e-9, "sideways speed");
        mor_world_destroy(w);
    }
}

static void a_cube_below_the_friction_angle_does_not_creep_whatever_the_azimuth(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        mor_body_id cube;
        mor_vec3 down;
        mor_world* w = incline(k * pi / 4, 0.6, "ncp", "nsgs", &cube, &down);
        test_steps(w, 100);
        mor_vec3 x1 = test_state(w, cube).com;
        test_steps(w, 400);
        double creep = mor_norm(mor_sub(test_state(w, cube).com, x1)) / 4.0;
        print_message("azimuth %g: creep %.2e m/s\n", k * 45.0, creep);
        assert_true(creep < 1e-12);
        mor_world_destroy(w);
    }
}

/* 5x5 balls (1 kg) on a box (10 kg) pushed with 150 N: mu 0.4 below the box, 0.8 under the balls. With
 * f1 = mu1 (M + n m) g and f2 = (F - f1)/M / (3.5/m + n/M): a_ball = f2/m, a_box = (F - f1 - n f2)/M. */
static double rolling(mor_vec3 direction)
{
    const double M = 10, m = 1, F = 150, n = 25, f1 = 0.4 * (M + n * m) * g, f2 = (F - f1) / M / (3.5 / m + n / M);
    const double a_ball = f2 / m, a_box = (F - f1 - n * f2) / M;
    mor_world* w = test_world(0.01);
    mor_error error = { 0 };
    test_method(w, "formulation", "ncp");
    test_method(w, "solver", "nsgs");
    mor_material material = mor_material_default();
    int of[3];
    for (int k = 0; k < 3; k++) of[k] = mor_world_add_material(w, &material);
    assert_int_equal(mor_world_set_pair(w, of[0], of[1], 0.4, 0, &error), MOR_OK);
    assert_int_equal(mor_world_set_pair(w, of[1], of[2], 0.8, 0, &error), MOR_OK);
    mor_body_id box = { 0 }, ball = { 0 };
    for (int k = 0; k < 27; k++) { /* plane, box, balls */
        mor_body_def def = mor_body_def_default();
        mor_body_shape shape = { k == 0   ? test_plane()
                                 : k == 1 ? test_box(20, 20, 1)
                                          : test_sphere(0.5),
                                 mor_pose_identity(), -1 };
        int i = (k - 2) % 5, j = (k - 2) / 5;
        def.kind = k == 0 ? MOR_FIXED : MOR_DYNAMIC;
        def.shapes = &shape;
        def.shape_count = 1;
        def.mass = k == 1 ? M : m;
        def.material = of[k < 2 ? k : 2];
        def.pose.position = k == 0   ? mor_v3(0, 0, 0)
                            : k == 1 ? mor_v3(0, 0, 0.5)
                                     : mor_v3(2.0 * (i - 2), 2.0 * (j - 2), 1.5);
        mor_body_id id = mor_world_add_body(w, &def, &error);
        if (!id.index1) fail_msg("%s", error.text);
        mor_geometry_release(shape.geometry);
        if (k == 1) box = id;
        if (k == 2) ball = id;
    }
    double sum = 0.0;
    for (int k = 1; k <= 400; k++) {
        mor_body_apply(w, box, mor_scale(F, direction), test_state(w, box).com);
        test_steps(w, 1);
        mor_vec3 e1 = mor_madd(test_state(w, box).velocity, -0.01 * k * a_box, direction);
        mor_vec3 e2 = mor_madd(test_state(w, ball).velocity, -0.01 * k * a_ball, direction);
        sum += mor_dot(e1, e1) + mor_dot(e2, e2);
    }
    mor_world_destroy(w);
    return sum / 400;
}

static void balls_roll_on_a_pushed_box_as_they_should_in_every_direction(void** state)
{
    (void)state;
    double along = rolling(mor_v3(0, 1, 0)), oblique = rolling(mor_normalize(mor_v3(0.5, 0.866, 0), mor_v3(1, 0, 0)));
    print_message("mean squared velocity error: %.2e along y, %.2e along (0.5, 0.866)\n", along, oblique);
    assert_true(along < 1e-12);
    assert_true(oblique < 1e-12);
}

/* A box thrown at 3 m/s over a plane with mu 0.5: the highest it gets and the worst velocity error reported. */
static void slide(const char* formulation, const char* solver, double* highest, double* error)
{
    mor_world* w = test_world(0.01);
    test_method(w, "formulation", formulation);
    test_method(w, "solver", solver);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id box = test_body(w, test_box(1, 1, 0.2), 1.0, mor_v3(0, 0, 0.1), no_turn);
    test_velocity(w, box, mor_v3(3, 0, 0), mor_v3(0, 0, 0));
    *highest = *error = 0.0;
    for (int k = 0; k < 30; k++) {
        mor_step_report r = test_steps(w, 1);
        *highest = fmax(*highest, test_state(w, box).com.z - 0.1);
        *error = fmax(*error, r.velocity_error);
    }
    mor_world_destroy(w);
}

static void a_sliding_box_never_hops_with_the_exact_cone(void** state)
{
    (void)state;
    double highest, error;
    const char* const formulations[] = { "ncp", "mncp", "implicit" };
    for (int k = 0; k < 3; k++) {
        slide(formulations[k], "nsgs", &highest, &error);
        print_message("%s: rises %.2e m\n", formulations[k], highest);
        assert_true(highest < 1e-9);
        assert_true(error < 1e-7);
    }
}

/* Without mu |u_T| the normal row of a sliding contact is u_n = mu |u_T|. With P the normal impulse per mass: P - g h =
 * mu (3 - mu P), and the box takes off with u_n = P - g h. (Its tilt changes this little.) */
static void a_sliding_box_hops_with_the_convex_relaxation_and_the_report_says_so(void** state)
{
    (void)state;
    double highest, error, u = (1.5 + g * 0.01) / 1.25 - g * 0.01, flight = 0.0;
    for (; u > 0.0; u -= g * 0.01) flight += 0.01 * u;
    const char* const solvers[] = { "convex-newton", "apgd", "admm", "extragradient" };
    for (int k = 0; k < 4; k++) {
        slide("convex", solvers[k], &highest, &error);
        print_message("%s: rises %.4f m, relaxation error %.3f m/s\n", solvers[k], highest, error);
        test_near(highest, flight, 0.02 * flight, "height");
        assert_true(error > 0.5);
    }
}

static void the_cone_formulations_give_the_same_motion(void** state)
{
    (void)state;
    const char* const formulations[] = { "ncp", "mncp", "implicit", "ncp", "ncp", "ncp", "implicit", "mncp" };
    const char* const solvers[] = {
        "nsgs", "nsgs", "nsgs", "psor", "extragradient", "prox-ncp", "implicit-gn", "admm"
    };
    mor_vec3 first = { 0 };
    for (int k = 0; k < 8; k++) {
        mor_world* w = test_world(0.01);
        test_method(w, "formulation", formulations[k]);
        test_method(w, "solver", solvers[k]);
        test_option(w, "solver", "tol", "1e-11");
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        mor_body_id ball = test_body(w, test_sphere(0.5), 2.0, mor_v3(0, 0, 0.5), no_turn);
        mor_body_id other = test_body(w, test_sphere(0.5), 1.0, mor_v3(1.001, 0.1, 0.5), no_turn);
        test_velocity(w, ball, mor_v3(2, 1, 0), mor_v3(0, 0, 5));
        test_steps(w, 50);
        mor_vec3 x = mor_sub(test_state(w, ball).com, test_state(w, other).com);
        if (k == 0) first = x;
        if (!(mor_norm(mor_sub(x, first)) < 1e-8))
            fail_msg("%s with %s: off by %g", formulations[k], solvers[k], mor_norm(mor_sub(x, first)));
        mor_world_destroy(w);
    }
}

static void two_spheres_keep_momentum_with_the_exact_cone(void** state)
{
    (void)state;
    mor_world* w = test_world(0.01);
    test_method(w, "formulation", "ncp");
    test_method(w, "solver", "nsgs");
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    mor_body_id a = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0.2, 0), no_turn);
    test_body(w, test_sphere(0.5), 2.5, mor_v3(1.3, 0, 0), no_turn);
    test_velocity(w, a, mor_v3(2, 0, 0.5), mor_v3(0, 3, 7));
    double before[6], after[6], energy = mor_world_kinetic_energy(w);
    mor_world_momentum(w, before);
    test_steps(w, 40);
    mor_world_momentum(w, after);
    for (int i = 0; i < 6; i++) test_near(after[i], before[i], 1e-12, "momentum");
    assert_true(mor_world_kinetic_energy(w) < energy - 0.1);
    mor_world_destroy(w);
}

/* A smooth ball beside rough ones: islands with one-row and three-row contacts, reduced to W for the methods that need
 * it. */
static void smooth_and_rough_contacts_mix(void** state)
{
    (void)state;
    const char* const solvers[] = { "nsgs", "jacobi", "admm", "implicit-gn" };
    mor_vec3 first = { 0 };
    for (int k = 0; k < 4; k++) {
        mor_world* w = test_world(0.01);
        mor_error error = { 0 };
        test_method(w, "formulation", "ncp");
        test_method(w, "solver", solvers[k]);
        test_option(w, "solver", "tol", "1e-10");
        mor_material smooth = mor_material_default();
        smooth.friction = 0.0;
        int material = mor_world_add_material(w, &smooth);
        assert_int_equal(mor_world_set_pair(w, 0, 0, 0.5, 0, &error), MOR_OK);
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        mor_body_id rough = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.5), no_turn);
        mor_body_def def = mor_body_def_default();
        mor_body_shape shape = { test_sphere(0.5), mor_pose_identity(), -1 };
        def.shapes = &shape;
        def.shape_count = 1;
        def.mass = 1.0;
        def.material = material;
        def.pose.position = mor_v3(1.0001, 0.05, 0.5);
        mor_body_id glass = mor_world_add_body(w, &def, &error);
        assert_true(glass.index1);
        mor_geometry_release(shape.geometry);
        test_velocity(w, rough, mor_v3(2, 0, 0), mor_v3(0, 0, 0));
        test_steps(w, 40);
        mor_vec3 spin = test_state(w, glass).angular_velocity;
        test_near(mor_norm(spin), 0.0, 1e-12, "spin of the smooth ball");
        mor_vec3 x = mor_sub(test_state(w, rough).com, test_state(w, glass).com);
        if (k == 0) first = x;
        test_near(mor_norm(mor_sub(x, first)), 0.0, 1e-7, solvers[k]);
        mor_world_destroy(w);
    }
}

/* In the plane the cone is an interval: the exact cone and the pyramid are the same problem. */
static void in_the_plane_the_cone_is_the_pyramid(void** state)
{
    (void)state;
    mor_vec3 x[2];
    for (int k = 0; k < 2; k++) {
        mor_world* w = test_world_2d(0.01);
        test_method(w, "formulation", k ? "ncp" : "st");
        test_method(w, "solver", k ? "nsgs" : "pgs");
        test_option(w, "solver", "tol", "1e-12");
        mor_error error = { 0 };
        mor_vec3 line[] = { { 10, 0, 0 }, { -10, 0, 0 } }; /* walked to the left: solid below */
        test_fixed(w, mor_geometry_chain(line, 2, &error), mor_v3(0, 0, 0), no_turn);
        mor_body_id disc = test_body(w, mor_geometry_disc(0.5, &error), 1.0, mor_v3(0, 0.5, 0), no_turn);
        test_body(w, mor_geometry_disc(0.5, &error), 1.0, mor_v3(1.3, 0.5, 0), no_turn);
        test_body(w, mor_geometry_disc(0.5, &error), 1.0, mor_v3(1.7, 1.4, 0), no_turn);
        test_velocity(w, disc, mor_v3(3, 0, 0), mor_v3(0, 0, -1));
        test_steps(w, 60);
        x[k] = test_state(w, disc).com;
        mor_world_destroy(w);
    }
    test_near(x[1].x, x[0].x, 1e-8, "x");
    test_near(x[1].y, x[0].y, 1e-8, "y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_slides_with_the_exact_acceleration_whatever_the_azimuth),
        cmocka_unit_test(a_cube_below_the_friction_angle_does_not_creep_whatever_the_azimuth),
        cmocka_unit_test(balls_roll_on_a_pushed_box_as_they_should_in_every_direction),
        cmocka_unit_test(a_sliding_box_never_hops_with_the_exact_cone),
        cmocka_unit_test(a_sliding_box_hops_with_the_convex_relaxation_and_the_report_says_so),
        cmocka_unit_test(the_cone_formulations_give_the_same_motion),
        cmocka_unit_test(two_spheres_keep_momentum_with_the_exact_cone),
        cmocka_unit_test(smooth_and_rough_contacts_mix),
        cmocka_unit_test(in_the_plane_the_cone_is_the_pyramid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
