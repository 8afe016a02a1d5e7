/* Methods with a fixed budget: what they promise (a status that says so, the error reached), and what they share with
 * mechanics. Expected values are closed forms. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char* const family[] = { "sequential-impulses", "soft-step", "xpbd" };
enum { FAMILY = sizeof family / sizeof *family };
static const double g = 9.81;
static const mor_quat no_turn = { 1, 0, 0, 0 };

static mor_world* world_of(const char* name, double h)
{
    mor_world* w = test_world(h);
    test_method(w, "formulation", name);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    return w;
}

static void steps_are_approximate_and_tell_the_error(void** state)
{
    (void)state;
    for (int f = 0; f < FAMILY; f++) {
        mor_world* w = world_of(family[f], 0.01);
        for (int i = 0; i < 5; i++) test_body(w, test_box(1, 1, 1), 1.0, mor_v3(0.1 * i, 0, 0.5 + i), no_turn);
        mor_step_report r = test_steps(w, 20);
        assert_int_equal(r.failures, 0);
        assert_int_equal(r.approximate, 1);
        assert_true(isfinite(r.velocity_error) && r.velocity_error > 0.0);
        mor_world_destroy(w);
    }
}

/* v = v0 - mu g t, and then rest; h g in each step is the resolution of explicit gravity. */
static void a_box_that_slides_is_braked_by_mu_g(void** state)
{
    (void)state;
    for (int f = 0; f < FAMILY; f++) {
        mor_world* w = world_of(family[f], 0.005);
        mor_body_id b = test_body(w, test_box(1, 1, 0.2), 2.0, mor_v3(0, 0, 0.1), no_turn);
        test_velocity(w, b, mor_v3(3, 4, 0), mor_v3(0, 0, 0));
        double mu = mor_material_default().friction;
        test_steps(w, 100);
        mor_vec3 v = test_state(w, b).velocity;
        double lost = 5.0 - mor_norm(v);
        if (f > 0) test_near(lost, mu * g * 0.5, 0.1, family[f]);
        else assert_true(lost > mu * g * 0.5 - 0.1 && lost < sqrt(2.0) * mu * g * 0.5 + 0.1); /* a box of friction */
        if (f > 0) test_near(v.y / v.x, 4.0 / 3.0, 0.02, "direction");
        test_steps(w, 400);
        test_near(mor_norm(test_state(w, b).velocity), 0.0, 2e-3, "rest");
        mor_world_destroy(w);
    }
}

/* Momentum: impulses between two bodies cancel, moving them apart keeps their centre. */
static void a_collision_keeps_momentum(void** state)
{
    (void)state;
    for (int f = 0; f < FAMILY; f++) {
        mor_world* w = test_world(0.01);
        test_method(w, "formulation", family[f]);
        mor_world_set_gravity(w, mor_v3(0, 0, 0));
        mor_body_id a = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0.2, 0), no_turn);
        mor_body_id b = test_body(w, test_sphere(0.5), 3.0, mor_v3(1.1, 0, 0), no_turn);
        test_velocity(w, a, mor_v3(2, 0, 0), mor_v3(0, 0, 5));
        test_steps(w, 50);
        mor_vec3 p = mor_madd(test_state(w, a).velocity, 3.0, test_state(w, b).velocity);
        test_near(p.x, 2.0, 1e-12, family[f]);
        test_near(p.y, 0.0, 1e-12, family[f]);
        assert_true(test_state(w, b).velocity.x > 0.3); /* they did meet */
        mor_world_destroy(w);
    }
}

/* A ball pressed 0.1 m into the floor comes out without flying off: its kinetic energy stays far below the potential
 * energy it gained. Baumgarte's feedback at erp 0.2 would throw it up with 0.1*0.2/h = 2 m/s. */
static void undoing_an_overlap_gives_no_speed(void** state)
{
    (void)state;
    for (int f = 0; f < FAMILY; f++) {
        mor_world* w = world_of(family[f], 0.01);
        test_option(w, "method", "gap_correction", "velocity"); /* the world's own projection leaves the start alone */
        if (f == 0) test_option(w, "formulation", "split_threshold", "0");
        mor_body_id b = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.4), no_turn);
        double fastest = 0.0;
        for (int i = 0; i < 200; i++) {
            test_steps(w, 1);
            fastest = fmax(fastest, fabs(test_state(w, b).velocity.z));
        }
        test_near(test_state(w, b).com.z, 0.5, 0.01, family[f]);
        assert_true(fastest < 0.2);
        mor_world_destroy(w);
    }
}

/* Passes converge to the answer of the exact step where the friction box does not matter: a stack that stands. */
static void many_passes_reach_the_exact_step(void** state)
{
    (void)state;
    double before = INFINITY;
    const char* const passes[] = { "10", "100", "1000", "10000" };
    for (int k = 0; k < 4; k++) {
        mor_world* w = world_of("sequential-impulses", 0.01);
        test_option(w, "formulation", "iterations", passes[k]);
        test_option(w, "formulation", "warm_start", "0");
        for (int i = 0; i < 4; i++) test_body(w, test_box(1, 1, 1), 1.0, mor_v3(0, 0, 0.5 + i), no_turn);
        mor_step_report r = test_steps(w, 1);
        assert_true(r.velocity_error < before);
        before = r.velocity_error;
        mor_world_destroy(w);
    }
    assert_true(before < 1e-9);
}

/* A ball that touches and comes with 2 m/s leaves with e times that. */
static void a_blow_gives_restitution(void** state)
{
    (void)state;
    for (int f = 0; f < FAMILY; f++) {
        mor_scene* scene;
        mor_world* w = test_scene_text("moreau: 1\n"
                                       "time: { step: 0.001, end: 1 }\n"
                                       "gravity: [0, 0, 0]\n"
                                       "bodies:\n"
                                       "  - { name: floor, shape: { plane: { normal: [0, 0, 1] } }, fixed: true }\n"
                                       "  - { name: ball, shape: { sphere: 0.5 }, mass: 3, restitution: 0.7,\n"
                                       "      position: [0, 0, 0.5], velocity: [0, 0, -2] }\n",
                                       &scene);
        test_method(w, "formulation", family[f]);
        test_steps(w, 5);
        test_near(test_state(w, mor_world_find_body(w, "ball")).velocity.z, 1.4, 1e-9, family[f]);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* Apex e^2 H after a fall from H. Small steps: times of impact are resolved to h. Sequential impulses slow a body down
 * over the gap that is left (gap/h is part of what they aim at), and lose restitution by that: not tested here. */
static void a_ball_bounces_to_e_squared(void** state)
{
    (void)state;
    for (int f = 1; f < FAMILY; f++) {
        mor_scene* scene;
        mor_world* w = test_scene_text("moreau: 1\n"
                                       "time: { step: 0.0005, end: 1 }\n"
                                       "bodies:\n"
                                       "  - { name: floor, shape: { plane: { normal: [0, 0, 1] } }, fixed: true,\n"
                                       "      restitution: 0.5 }\n"
                                       "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, restitution: 0.5,\n"
                                       "      position: [0, 0, 1.5] }\n",
                                       &scene);
        test_method(w, "formulation", family[f]);
        mor_body_id ball = mor_world_find_body(w, "ball");
        double apex = 0.0;
        bool met = false;
        while (mor_world_time(w) < 0.85) {
            test_steps(w, 1);
            mor_body_state s = test_state(w, ball);
            met = met || s.velocity.z > 0.1;
            if (met) apex = fmax(apex, s.com.z - 0.5);
        }
        test_near(apex, 0.25, 0.01, family[f]);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* A pendulum of a maximal joint keeps its length. */
static void a_joint_holds(void** state)
{
    (void)state;
    for (int f = 0; f < FAMILY; f++) {
        mor_scene* scene;
        mor_world* w = test_scene_file("s7_maximal", &scene);
        test_method(w, "formulation", family[f]);
        test_steps(w, 100);
        assert_true(mor_world_joint_error(w) < 1e-2);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* A motor that is too weak for its speed turns a wheel by its torque alone: omega = T t / I, to either side. */
static void a_weak_motor_gives_its_torque_and_no_more(void** state)
{
    (void)state;
    for (int f = 0; f < FAMILY; f++)
        for (int side = -1; side <= 1; side += 2) {
            char text[600];
            sprintf(text,
                    "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.01, end: 9 }\nmethod: { formulation: %s }\n"
                    "bodies:\n  - { name: wheel, shape: { cylinder: { radius: 0.5, length: 0.2 } }, mass: 4 }\n"
                    "joints:\n  - { name: axle, type: revolute, bodies: [wheel, world], axis: [0, 0, 1], "
                    "motor: { velocity: %d, max_torque: 0.3 } }\n",
                    family[f], 1000 * side);
            mor_scene* scene;
            mor_world* w = test_scene_text(text, &scene);
            test_steps(w, 50);
            mor_body_state s = test_state(w, mor_world_find_body(w, "wheel"));
            test_near(s.angular_velocity.z, side * 0.3 * 0.5 / (0.5 * 4 * 0.25), 1e-9, family[f]);
            test_near(mor_norm(s.com), 0.0, 1e-9, "the axle");
            mor_world_destroy(w);
            mor_scene_destroy(scene);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_approximate_and_tell_the_error),
        cmocka_unit_test(a_box_that_slides_is_braked_by_mu_g),
        cmocka_unit_test(a_collision_keeps_momentum),
        cmocka_unit_test(undoing_an_overlap_gives_no_speed),
        cmocka_unit_test(many_passes_reach_the_exact_step),
        cmocka_unit_test(a_blow_gives_restitution),
        cmocka_unit_test(a_ball_bounces_to_e_squared),
        cmocka_unit_test(a_joint_holds),
        cmocka_unit_test(a_weak_motor_gives_its_torque_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
