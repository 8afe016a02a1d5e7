/* Physics with known answers: closed forms, conservation laws, orders of convergence. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81;
static const mor_quat no_turn = { 1, 0, 0, 0 };

static void free_fall_is_the_discrete_parabola(void** state)
{
    (void)state;
    const double h = 0.01, z0 = 10.0;
    mor_world* w = test_world(h);
    mor_body_id ball = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, z0), no_turn);
    for (int n = 1; n <= 200; n++) {
        test_steps(w, 1);
        double exact = z0 - g * h * h * n * (n + 1) / 2;
        test_near(test_state(w, ball).com.z, exact, 1e-12 * fmax(fabs(exact), z0), "z");
    }
    mor_world_destroy(w);
}

/* Two bodies that collide with friction across a positive gap, without gravity. Impulses keep all momenta; moving
 * bodies apart (`projection`) keeps the linear ones, and the angular one but for (change of x) x m v. */
static void collide_two(mor_geometry* a, mor_geometry* b, const char* solver, const char* correction, double turning)
{
    mor_world* w = test_world(0.01);
    test_option(w, "method", "gap_correction", correction);
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    test_method(w, "solver", solver);
    mor_body_id one = test_body(w, a, 1.0, mor_v3(0, 0.03, 0.01), no_turn);
    mor_body_id two = test_body(w, b, 2.5, mor_v3(1.05, 0, 0), no_turn);
    test_velocity(w, one, mor_v3(2.0, 1.0, -0.3), mor_v3(0.5, -1, 3));
    test_velocity(w, two, mor_v3(-1.0, 0, 0.2), mor_v3(0, 2, 0.1));
    double before[6], after[6], size = 0;
    mor_world_momentum(w, before);
    double impulse = 0;
    for (int i = 0; i < 50; i++) {
        test_steps(w, 1);
        int n;
        const mor_contact* c = mor_world_contacts(w, &n);
        for (int k = 0; k < n; k++) {
            /* the gap really was open when the impulse acted, and friction took part */
            if (c[k].normal_impulse > 0 && c[k].gap > 1e-4)
                impulse += mor_norm(mor_madd(c[k].impulse, -c[k].normal_impulse, c[k].normal));
        }
    }
    mor_world_momentum(w, after);
    assert_true(impulse > 1e-3);
    for (int i = 0; i < 6; i++) size = fmax(size, fabs(before[i]));
    for (int i = 0; i < 6; i++) test_near(after[i], before[i], (i < 3 ? 1e-12 : turning) * size, "momentum");
    mor_world_destroy(w);
}

static void two_spheres_keep_linear_and_angular_momentum(void** state)
{
    (void)state;
    collide_two(test_sphere(0.5), test_sphere(0.5), "pgs", "projection", 1e-12);
    collide_two(test_sphere(0.5), test_sphere(0.5), "lemke", "projection", 1e-12);
}

static void two_boxes_keep_linear_and_angular_momentum(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const char* solver = k ? "lemke" : "pgs";
        collide_two(test_box(1, 1, 1), test_box(1, 0.8, 1.2), solver, "velocity", 1e-12);
        collide_two(test_box(1, 1, 1), test_box(1, 0.8, 1.2), solver, "projection", 1e-4);
    }
}

/* Largest relative energy error of a tumbling body (J = 1, 2, 3) over 20 s, and that L is kept. */
static double tumble(double h)
{
    mor_world* w = test_world(h);
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    mor_error error = { 0 };
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { test_box(1, 1, 1), mor_pose_identity(), -1 };
    def.shapes = &s;
    def.shape_count = 1;
    def.mass = 1;
    def.has_inertia = true;
    def.inertia = mor_mat3_diag(1, 2, 3);
    def.angular_velocity = mor_v3(1e-3, 2, 1e-3); /* about the middle axis: it flips */
    mor_body_id b = mor_world_add_body(w, &def, &error);
    assert_true(b.index1);
    mor_geometry_release(s.geometry);
    double L0[6], L[6], E0 = mor_world_kinetic_energy(w), worst = 0, flipped = 1;
    mor_world_momentum(w, L0);
    for (int i = 0; i < (int)(20 / h + 0.5); i++) {
        test_steps(w, 1);
        worst = fmax(worst, fabs(mor_world_kinetic_energy(w) / E0 - 1));
        mor_body_state now = test_state(w, b);
        flipped = fmin(flipped, mor_rotate(now.pose.rotation, mor_v3(0, 1, 0)).y);
    }
    mor_world_momentum(w, L);
    for (int i = 3; i < 6; i++) test_near(L[i], L0[i], 1e-12 * 4, "angular momentum");
    assert_true(flipped < -0.9);
    mor_world_destroy(w);
    return worst;
}

static void a_tumbling_box_keeps_momentum_and_energy(void** state)
{
    (void)state;
    assert_true(tumble(0.02) < 1e-12);
    assert_true(tumble(0.005) < 1e-12);
}

/* Apex clearances of a ball with e = 0.5 dropped from a clearance of 1 m. */
/* The same inertia about all axes: the velocity stays and the turn is its exponential, however fast. */
static void a_cube_turns_steadily_about_any_axis(void** state)
{
    (void)state;
    const mor_vec3 spins[] = { { 3, -2, 1 }, { 40, 55, -61 }, { 300, 0.5, 0 } };
    for (int i = 0; i < 3; i++) {
        const double h = 0.004;
        mor_world* w = test_world(h);
        mor_world_set_gravity(w, mor_v3(0, 0, 0));
        mor_body_id cube = test_body(w, test_box(0.3, 0.3, 0.3), 2.0, mor_v3(0, 0, 0), (mor_quat){ 0.6, 0, 0.8, 0 });
        test_velocity(w, cube, mor_v3(0, 0, 0), spins[i]);
        test_steps(w, 250);
        mor_body_state s = test_state(w, cube);
        mor_quat expected = mor_quat_mul(mor_quat_exp(mor_scale(250 * h, spins[i])), (mor_quat){ 0.6, 0, 0.8, 0 });
        mor_vec3 off = mor_sub(s.angular_velocity, spins[i]);
        test_near(mor_norm(off), 0.0, 1e-13 * mor_norm(spins[i]), "angular velocity");
        mor_quat q = s.pose.rotation;
        double along = fabs(q.w * expected.w + q.x * expected.x + q.y * expected.y + q.z * expected.z);
        test_near(along, 1.0, 1e-12, "cosine of half the angle between the turns");
        mor_world_destroy(w);
    }
}

static void apexes(double h, double out[3])
{
    mor_world* w = test_world(h);
    mor_material rubber = mor_material_default();
    rubber.restitution = 0.5;
    int m = mor_world_add_material(w, &rubber);
    mor_error error = { 0 };
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { test_sphere(0.5), mor_pose_identity(), -1 };
    def.shapes = &s;
    def.shape_count = 1;
    def.mass = 1;
    def.material = m;
    def.pose.position.z = 1.5;
    mor_body_id b = mor_world_add_body(w, &def, &error);
    mor_geometry_release(s.geometry);
    int found = 0;
    double last = 0;
    for (int i = 0; i < (int)(2.0 / h) && found < 3; i++) {
        test_steps(w, 1);
        double v = test_state(w, b).velocity.z;
        if (last > 0 && v <= 0) out[found++] = test_state(w, b).com.z - 0.5;
        last = v;
    }
    assert_int_equal(found, 3);
    mor_world_destroy(w);
}

static void bounce_apexes_converge_to_the_exact_ones(void** state)
{
    (void)state;
    const double exact[3] = { 0.25, 0.0625, 0.015625 };
    double a[3], steps[] = { 1e-2, 1e-3, 1e-4 };
    for (int k = 0; k < 3; k++) {
        apexes(steps[k], a);
        print_message("h %g: apexes %.5f %.5f %.5f\n", steps[k], a[0], a[1], a[2]);
        /* First order. The ball meets the floor up to one step early or late and at most v h = 4.43 h off, and the
         * apex is read at a step: 5 h bounds both. */
        for (int i = 0; i < 3; i++) test_near(a[i], exact[i], 5 * steps[k], "apex");
    }
}

static void a_sliding_sphere_starts_to_roll_at_five_sevenths(void** state)
{
    (void)state;
    mor_world* w = test_world(0.001);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id b = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.5), no_turn);
    test_velocity(w, b, mor_v3(2, 0, 0), mor_v3(0, 0, 0));
    test_steps(w, 2000);
    mor_body_state s = test_state(w, b);
    test_near(s.velocity.x, 10.0 / 7.0, 1e-9, "v");
    test_near(s.angular_velocity.y, 10.0 / 7.0 / 0.5, 1e-9, "omega");
    /* x(2) = 2.890428 exactly; the discrete step is first order in h */
    test_near(s.com.x, 2.890428, 2e-3, "x");
    mor_world_destroy(w);
}

/* Cube on a 30 degree slope; the steepest direction at `azimuth` from the plane's own x. Velocity along the slope
 * and across it after 1 s and 5 s. */
static mor_world* incline(double azimuth, double mu, int directions, const char* solver, mor_body_id* cube,
                          mor_vec3* down)
{
    mor_world* w = test_world(0.01);
    test_method(w, "solver", solver);
    char text[32];
    snprintf(text, sizeof text, "%d", directions);
    test_option(w, "method", "friction_directions", text);
    test_option(w, "solver", "tol", "1e-13");
    mor_material m = mor_material_default();
    m.friction = mu;
    int material = mor_world_add_material(w, &m);
    mor_error error = { 0 };
    assert_int_equal(mor_world_set_pair(w, 0, material, mu, 0, &error), MOR_OK);
    mor_quat q = mor_quat_mul(mor_quat_axis_angle(mor_v3(0, 0, 1), azimuth),
                              mor_quat_axis_angle(mor_v3(0, 1, 0), acos(-1.0) / 6));
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), q);
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { test_box(1, 1, 1), mor_pose_identity(), -1 };
    def.shapes = &s;
    def.shape_count = 1;
    def.mass = 1;
    def.material = material;
    def.pose = (mor_pose){ mor_rotate(q, mor_v3(0, 0, 0.5)), q };
    *cube = mor_world_add_body(w, &def, &error);
    assert_true(cube->index1);
    mor_geometry_release(s.geometry);
    *down = mor_rotate(q, mor_v3(1, 0, 0));
    return w;
}

static void a_block_slides_down_an_incline_with_the_exact_acceleration(void** state)
{
    (void)state;
    double exact = g * (0.5 - 0.5 * cos(acos(-1.0) / 6));
    const char* solvers[] = { "pgs", "lemke" };
    for (int k = 0; k < 2; k++) {
        mor_body_id cube;
        mor_vec3 down;
        mor_world* w = incline(0, 0.5, 4, solvers[k], &cube, &down);
        test_steps(w, 100);
        double v1 = mor_dot(test_state(w, cube).velocity, down);
        test_steps(w, 400);
        double v5 = mor_dot(test_state(w, cube).velocity, down);
        test_near((v5 - v1) / 4, exact, 1e-10, "acceleration");
        mor_world_destroy(w);
    }
}

static void a_block_below_the_friction_angle_does_not_creep(void** state)
{
    (void)state;
    const char* solvers[] = { "pgs", "lemke" };
    for (int k = 0; k < 2; k++) {
        mor_body_id cube;
        mor_vec3 down;
        mor_world* w = incline(0, 0.6, 4, solvers[k], &cube, &down);
        for (int i = 0; i < 500; i++) {
            test_steps(w, 1);
            assert_true(mor_norm(test_state(w, cube).velocity) < 1e-13);
        }
        mor_world_destroy(w);
    }
}

/* Four friction directions at 45 degrees to the slope: |p_t| + |p_o| <= mu p_n, so sliding along the diagonal
 * friction is mu/sqrt(2), and the block at mu = 0.6 slides with g (sin a - mu/sqrt2 cos a). */
static void a_pyramid_is_weaker_along_its_edges_as_the_polygon_predicts(void** state)
{
    (void)state;
    double a = acos(-1.0) / 6, exact = g * (sin(a) - 0.6 / sqrt(2.0) * cos(a));
    mor_body_id cube;
    mor_vec3 down;
    /* world x projected on this slope: choose the azimuth at which the slope direction is at 45 degrees to it */
    double low = 0, high = acos(-1.0) / 2;
    for (int i = 0; i < 60; i++) {
        double az = 0.5 * (low + high);
        mor_quat q = mor_quat_mul(mor_quat_axis_angle(mor_v3(0, 0, 1), az), mor_quat_axis_angle(mor_v3(0, 1, 0), a));
        mor_vec3 n = mor_rotate(q, mor_v3(0, 0, 1)), d = mor_rotate(q, mor_v3(1, 0, 0)), t, o;
        mor_tangents(n, mor_v3(1, 0, 0), &t, &o);
        double angle = acos(fmin(1, mor_dot(t, d)));
        if (angle < acos(-1.0) / 4) low = az;
        else high = az;
    }
    mor_world* w = incline(0.5 * (low + high), 0.6, 4, "pgs", &cube, &down);
    test_steps(w, 100);
    double v1 = mor_dot(test_state(w, cube).velocity, down);
    test_steps(w, 100);
    double v2 = mor_dot(test_state(w, cube).velocity, down);
    test_near(v2 - v1, exact, 1e-8, "acceleration");
    mor_world_destroy(w);
}

static void a_belt_drags_a_box_until_it_moves_along(void** state)
{
    (void)state;
    const double mu = 0.5, belt = 1.0, h = 0.01;
    mor_world* w = test_world(h);
    test_option(w, "solver", "tol", "1e-10"); /* the default asks for 1e-8 m/s in every step */
    mor_error error = { 0 };
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { test_box(20, 4, 1), mor_pose_identity(), -1 };
    def.kind = MOR_FIXED;
    def.shapes = &s;
    def.shape_count = 1;
    def.pose.position = mor_v3(0, 0, -0.5);
    def.surface_velocity = mor_v3(belt, 0, 0);
    assert_true(mor_world_add_body(w, &def, &error).index1);
    mor_geometry_release(s.geometry);
    mor_body_id box = test_body(w, test_box(1, 1, 0.5), 3.0, mor_v3(-5, 0, 0.25), no_turn);
    for (int i = 1; i <= 60; i++) {
        test_steps(w, 1);
        double v = fmin(belt, mu * g * h * i); /* drag mu m g until the belt's speed is reached */
        test_near(test_state(w, box).velocity.x, v, 1e-9, "speed");
        test_near(test_state(w, box).com.z, 0.25, 1e-9, "height");
    }
    mor_world_destroy(w);
}

static void a_kinematic_plate_carries_what_stands_on_it(void** state)
{
    (void)state;
    mor_world* w = test_world(0.01);
    mor_error error = { 0 };
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { test_box(4, 4, 0.2), mor_pose_identity(), -1 };
    def.kind = MOR_KINEMATIC;
    def.shapes = &s;
    def.shape_count = 1;
    def.velocity = mor_v3(0.02, 0, 0.5);
    mor_body_id plate = mor_world_add_body(w, &def, &error);
    assert_true(plate.index1);
    mor_geometry_release(s.geometry);
    mor_body_id box = test_body(w, test_box(1, 1, 1), 1.0, mor_v3(0, 0, 0.6), no_turn);
    test_steps(w, 100);
    test_near(test_state(w, plate).com.z, 0.5, 1e-12, "plate");
    test_near(test_state(w, box).com.z - test_state(w, plate).com.z, 0.6, 1e-8, "box on plate");
    test_near(test_state(w, box).velocity.x, 0.02, 1e-8, "carried");
    test_near(test_state(w, box).velocity.z, 0.5, 1e-8, "lifted");
    mor_world_destroy(w);
}

static void heavy_boxes_stand_on_light_ones(void** state)
{
    (void)state;
    const double masses[] = { 1, 1e3, 1e4, 1e6 };
    for (int k = 0; k < 4; k++) {
        mor_world* w = test_world(0.01);
        test_method(w, "solver", "lemke");
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        test_body(w, test_box(1, 1, 1), 1.0, mor_v3(0, 0, 0.5), no_turn);
        mor_body_id top = test_body(w, test_box(1, 1, 1), masses[k], mor_v3(0, 0, 1.5), no_turn);
        double deepest = 0;
        for (int i = 0; i < 500; i++) deepest = fmax(deepest, test_steps(w, 1).penetration);
        mor_vec3 x = test_state(w, top).com;
        print_message("mass ratio %g: penetration %.3g m, top at (%.3g, %.3g, %.9g)\n", masses[k], deepest, x.x, x.y,
                      x.z);
        assert_true(deepest < 1e-6);
        assert_true(fabs(x.z - 1.5) < 1e-5 && fabs(x.x) < 1e-5 && fabs(x.y) < 1e-5);
        mor_world_destroy(w);
    }
}

static void anitescu_potra_hovers_where_the_contact_became_active(void** state)
{
    (void)state;
    mor_world* w = test_world(0.001);
    test_method(w, "formulation", "ap");
    test_option(w, "collision", "epsilon", "0.05");
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id b = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 1.0), no_turn);
    test_steps(w, 1000);
    double z = test_state(w, b).com.z;
    assert_true(z > 0.5 + 0.04 && z < 0.5 + 0.05);
    test_near(test_state(w, b).velocity.z, 0, 1e-9, "at rest");
    mor_world_destroy(w);
}

static void penalty_rests_at_weight_over_stiffness_and_never_pulls(void** state)
{
    (void)state;
    mor_world* w = test_world(0.001);
    test_method(w, "formulation", "penalty");
    test_option(w, "formulation", "stiffness", "1e4");
    test_option(w, "formulation", "damping", "200");
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id b = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.6), no_turn);
    for (int i = 0; i < 3000; i++) {
        test_steps(w, 1);
        int n;
        const mor_contact* c = mor_world_contacts(w, &n);
        for (int k = 0; k < n; k++) assert_true(c[k].normal_impulse >= 0);
    }
    test_near(test_state(w, b).com.z, 0.5 - g / 1e4, 1e-7, "rest height");
    mor_world_destroy(w);
}

static void the_three_forms_of_st_give_the_same_motion(void** state)
{
    (void)state;
    const char* forms[] = { "step", "mlcp", "lcp" };
    mor_vec3 x[3], v[3];
    for (int k = 0; k < 3; k++) {
        mor_world* w = test_world(0.01);
        test_method(w, "solver", "lemke");
        test_option(w, "formulation", "form", forms[k]);
        test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
        mor_body_id b = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.55), no_turn);
        test_body(w, test_sphere(0.5), 2.0, mor_v3(0.97, 0.1, 0.6), no_turn);
        test_velocity(w, b, mor_v3(3, -0.5, 0), mor_v3(0, 0, 2));
        test_steps(w, 60);
        x[k] = test_state(w, b).com;
        v[k] = test_state(w, b).velocity;
        mor_world_destroy(w);
    }
    for (int k = 1; k < 3; k++) {
        test_near(mor_norm(mor_sub(x[k], x[0])), 0, 1e-9, forms[k]);
        test_near(mor_norm(mor_sub(v[k], v[0])), 0, 1e-8, forms[k]);
    }
}

static void planar_bodies_and_particles_fall_slide_and_stop(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world_2d(0.01);
    mor_vec3 line[] = { { -10, 0, 0 }, { 10, 0, 0 } }; /* walked to the right: solid below */
    mor_geometry* floor = mor_geometry_chain(line, 2, &error);
    assert_non_null(floor);
    test_fixed(w, floor, mor_v3(0, 0, 0), no_turn);
    mor_geometry* disc = mor_geometry_disc(0.5, &error);
    mor_body_id d = test_body(w, disc, 1.0, mor_v3(0, 0.5, 0), no_turn);
    test_velocity(w, d, mor_v3(2, 0, 0), mor_v3(0, 0, 0));
    mor_geometry* point = mor_geometry_particle(&error);
    mor_body_id p = test_body(w, point, 1.0, mor_v3(-5, 1, 0), no_turn);
    test_velocity(w, p, mor_v3(1, 0, 0), mor_v3(0, 0, 0));
    test_steps(w, 200);
    /* a uniform disc starts to roll at 2/3 of its speed */
    test_near(test_state(w, d).velocity.x, 4.0 / 3.0, 1e-9, "rolling disc");
    test_near(test_state(w, d).angular_velocity.z, -4.0 / 3.0 / 0.5, 1e-9, "its spin");
    test_near(test_state(w, p).velocity.x, 0, 1e-9, "particle at rest");
    test_near(test_state(w, p).com.y, 0, 1e-9, "on the floor");
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall_is_the_discrete_parabola),
        cmocka_unit_test(two_spheres_keep_linear_and_angular_momentum),
        cmocka_unit_test(two_boxes_keep_linear_and_angular_momentum),
        cmocka_unit_test(a_tumbling_box_keeps_momentum_and_energy),
        cmocka_unit_test(a_cube_turns_steadily_about_any_axis),
        cmocka_unit_test(bounce_apexes_converge_to_the_exact_ones),
        cmocka_unit_test(a_sliding_sphere_starts_to_roll_at_five_sevenths),
        cmocka_unit_test(a_block_slides_down_an_incline_with_the_exact_acceleration),
        cmocka_unit_test(a_block_below_the_friction_angle_does_not_creep),
        cmocka_unit_test(a_pyramid_is_weaker_along_its_edges_as_the_polygon_predicts),
        cmocka_unit_test(a_belt_drags_a_box_until_it_moves_along),
        cmocka_unit_test(a_kinematic_plate_carries_what_stands_on_it),
        cmocka_unit_test(heavy_boxes_stand_on_light_ones),
        cmocka_unit_test(anitescu_potra_hovers_where_the_contact_became_active),
        cmocka_unit_test(penalty_rests_at_weight_over_stiffness_and_never_pulls),
        cmocka_unit_test(the_three_forms_of_st_give_the_same_motion),
        cmocka_unit_test(planar_bodies_and_particles_fall_slide_and_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
