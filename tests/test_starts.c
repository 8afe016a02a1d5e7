/* Careless starts: bodies that overlap, joints outside their limits. Nothing of it may become speed. And the two
 * numbers of accuracy: what is asked for, and what counts as failure. Expected values are closed forms: where things
 * come to rest, and no energy from nothing. */
#include "common/worlds.h"
#include "moreau/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

static const char* const formulations[] = { "ncp", "st", "mncp", "ap" };

/* Advances a scene and returns its numbers; fails the test when a step does. */
static mor_run_summary run_scene(const char* text, int steps, mor_start* start, double* height, const char* body)
{
    mor_scene* scene;
    mor_error error = { 0 };
    mor_world* w = test_scene_text(text, &scene);
    mor_run* run = mor_run_create(w, steps, &error);
    assert_non_null(run);
    *start = *mor_run_start(run);
    if (mor_run_advance(run, steps, &error) != MOR_OK) fail_msg("%s", error.text);
    mor_run_summary s = mor_run_summarise(run);
    if (height) *height = test_state(w, mor_world_find_body(w, body)).com.z;
    start->limits = NULL; /* freed with the run */
    mor_run_destroy(run);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return s;
}

/* A sphere in the floor comes to rest on it, whatever the depth, size and step. */
static void a_sphere_in_the_floor_is_moved_out_and_rests(void** state)
{
    (void)state;
    mor_rng r = { 41 };
    for (int k = 0; k < 20; k++) {
        double radius = between(&r, 0.02, 2.0), depth = radius * between(&r, 0.01, 0.95), z;
        double h = between(&r, 1e-3, 0.02);
        char text[600];
        mor_start start;
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: %g, end: 1 }\nmethod: { formulation: %s }\nbodies:\n"
                 "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
                 "  - { name: ball, shape: { sphere: %.17g }, mass: 3, position: [0, 0, %.17g] }\n",
                 h, formulations[k % 4], radius, radius - depth);
        mor_run_summary s = run_scene(text, 100, &start, &z, "ball");
        test_near(start.penetration, depth, 1e-12, "depth at the start");
        assert_int_equal(start.overlaps, 1);
        assert_string_equal(start.pair[0], "floor");
        assert_string_equal(start.pair[1], "ball");
        test_near(s.max_penetration, depth, 1e-12, "the start counts");
        assert_int_equal(s.failures, 0);
        test_near(z, radius, 2e-4 * radius, "rests on the floor");
        test_near(s.energy.max_step_gain, 0.0, 1e-6 * 3 * 9.81 * radius, "gain in a step");
        assert_true(s.energy.projection_work <= 3 * 9.81 * (depth + 1e-3 * radius));
    }
}

/* Real-time and compliant methods let bodies overlap on purpose, but not what a scene overlaps at the start: it is
 * undone before the first step as with the others. What they gain later is the energy of their contacts. */
static void methods_that_let_bodies_overlap_do_not_throw_them(void** state)
{
    (void)state;
    static const char* const methods[] = { "xpbd", "soft-step", "sequential-impulses", "penalty", "hunt-crossley" };
    static const char* const shapes[] = { "box: [%.6f, %.6f, %.6f]", "cylinder: { radius: %.6f, length: %.6f }",
                                          "cone: { radius: %.6f, height: %.6f }",
                                          "capsule: { radius: %.6f, length: %.6f }" };
    mor_rng r = { 45 };
    for (int k = 0; k < 40; k++) {
        double size = between(&r, 0.03, 0.5), h = between(&r, 1e-3, 0.03), mass = between(&r, 0.1, 50), z;
        char text[900], shape[200];
        mor_start start;
        snprintf(shape, sizeof shape, shapes[k % 4], size, size * between(&r, 0.5, 1.5), size * between(&r, 0.5, 1.5));
        snprintf(
            text, sizeof text,
            "moreau: 1\ntime: { step: %g, end: 1 }\nmethod: { formulation: %s }\nbodies:\n"
            "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
            "  - { name: body, shape: { %s }, mass: %g, position: [0, 0, %.6f], orientation: [%g, %g, %g, 0.5] }\n",
            h, methods[k % 5], shape, mass, size * between(&r, -0.5, 0.3), between(&r, -1, 1), between(&r, -1, 1),
            between(&r, -1, 1));
        mor_run_summary s = run_scene(text, 60, &start, &z, "body");
        assert_int_equal(start.overlaps, 1);
        test_near(s.energy.max_step_gain, 0.0, 0.05 * mass * 9.81 * size, methods[k % 5]);
        assert_true(z < 3 * size);
    }
}

/* A step in which a body goes much deeper than epsilon, and turns: `ap` stops it at the floor. It let it fall, moved it
 * out where epsilon does not see it, and let it fall again, faster and faster. */
static void ap_stops_a_body_that_is_fast_beside_its_size(void** state)
{
    (void)state;
    mor_rng r = { 46 };
    for (int k = 0; k < 20; k++) {
        double size = between(&r, 0.02, 0.1), h = between(&r, 0.01, 0.04), v = between(&r, 1, 15), z;
        char text[900];
        mor_start start;
        snprintf(
            text, sizeof text,
            "moreau: 1\ntime: { step: %g, end: 1 }\nmethod: { formulation: ap }\nbodies:\n"
            "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
            "  - { name: body, shape: { box: [%g, %g, %g] }, mass: 2, position: [0, 0, %.6f], velocity: [0.2, 0.1, %g],"
            " orientation: [1, %g, %g, %g], angular_velocity: [%g, %g, %g] }\n",
            h, size, 0.7 * size, 0.5 * size, 0.9 * size, -v, between(&r, -1, 1), between(&r, -1, 1), between(&r, -1, 1),
            between(&r, -15, 15), between(&r, -15, 15), between(&r, -15, 15));
        mor_run_summary s = run_scene(text, 60, &start, &z, "body");
        assert_true(s.energy.final < 2 * 9.81 * size);
        assert_true(z > 0.1 * size && z < size);
    }
}

/* Boxes in each other and in the floor: no speed comes of it, and they end apart. */
static void boxes_in_each_other_end_apart_without_speed(void** state)
{
    (void)state;
    mor_rng r = { 42 };
    for (int k = 0; k < 20; k++) {
        double x = between(&r, -0.4, 0.4), y = between(&r, -0.4, 0.4);
        double z = between(&r, 0.2, 0.9), low = between(&r, 0.2, 0.5);
        char text[700];
        mor_start start;
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.005, end: 1 }\nmethod: { formulation: %s }\nbodies:\n"
                 "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
                 "  - { name: a, shape: { box: [1, 1, 1] }, mass: 2, position: [0, 0, %.17g] }\n"
                 "  - { name: b, shape: { box: [1, 1, 1] }, mass: 2, position: [%.17g, %.17g, %.17g] }\n",
                 formulations[k % 3], low, x, y, z);
        mor_run_summary s = run_scene(text, 200, &start, NULL, NULL);
        assert_true(start.overlaps >= 1 && start.penetration > 0.0);
        assert_int_equal(s.failures, 0);
        assert_true(s.final_penetration <= 1e-3 * sqrt(0.75));
        test_near(s.energy.max_step_gain, 0.0, 1e-6 * 4 * 9.81, "gain in a step");
        assert_true(s.max_raw_penetration >= start.penetration);
    }
}

/* A pendulum whose joint is below its lower limit is put at the limit and stays there: gravity pulls it down. */
static void a_joint_outside_its_limits_is_put_back(void** state)
{
    (void)state;
    mor_rng r = { 43 };
    for (int k = 0; k < 12; k++) {
        double by = between(&r, 0.01, 0.6), h = between(&r, 5e-4, 0.01);
        char text[600];
        mor_scene* scene;
        mor_error error = { 0 };
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: %g, end: 1 }\nmethod: { coordinates: %s }\nbodies:\n"
                 "  - { name: rod, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, 0, 0], collide: false }\n"
                 "joints:\n"
                 "  - { name: hinge, type: revolute, bodies: [rod, world], point: [0, 0, 0], axis: [0, -1, 0],\n"
                 "      limits: [%.17g, 2] }\n",
                 h, k % 2 ? "minimal" : "maximal", by);
        mor_world* w = test_scene_text(text, &scene);
        mor_run* run = mor_run_create(w, 200, &error);
        assert_non_null(run);
        const mor_start* start = mor_run_start(run);
        assert_int_equal(start->limit_count, 1);
        test_near(start->limits[0].by, by, 1e-9, "outside by");
        assert_non_null(strstr(start->limits[0].joint, "hinge"));
        if (mor_run_advance(run, 200, &error) != MOR_OK) fail_msg("%s", error.text);
        mor_run_summary s = mor_run_summarise(run);
        assert_int_equal(s.failures, 0);
        test_near(s.energy.max_step_gain, 0.0, 1e-6 * 9.81, "gain in a step");
        /* at the limit the centre of mass is at 0.5 sin(by) */
        test_near(test_state(w, mor_world_find_body(w, "rod")).com.z, 0.5 * sin(by), 2e-4, "held by the limit");
        mor_run_destroy(run);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* The papers' term is there for those who ask: gap/h in one step. */
static void gap_correction_velocity_is_the_papers_term(void** state)
{
    (void)state;
    mor_start start;
    double z;
    mor_run_summary s =
        run_scene("moreau: 1\ntime: { step: 0.01, end: 1 }\nmethod: { gap_correction: velocity }\nbodies:\n"
                  "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
                  "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, position: [0, 0, 0.45] }\n",
                  2, &start, &z, "ball");
    /* 0.05 m in 0.01 s: 5 m/s after the first step, less 9.81 h after the second */
    test_near(z, 0.5 + 0.01 * (5.0 - 9.81 * 0.01), 1e-9, "thrown out");
    assert_true(s.energy.projection_work == 0.0);
}

/* A step that misses the goal but not the limit is taken and counted; above the limit it is not taken. */
static void a_goal_that_is_missed_is_counted_and_a_limit_stops(void** state)
{
    (void)state;
    const char* scene_text =
        "moreau: 1\ntime: { step: 0.01, end: 1 }\n"
        "method: { solver: { name: nsgs, max_iter: %d }, accuracy: { goal: 1e-13, limit: %s } }\nbodies:\n"
        "  - { name: floor, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } }, fixed: true }\n"
        "  - { name: box, shape: { box: [1, 1, 1] }, mass: 1, position: [0, 0, 0.5], repeat: { count: 3, step: { "
        "position: [0, 0, 1] } } }\n";
    char text[700];
    mor_scene* scene;
    mor_error error = { 0 };
    mor_step_report r;
    snprintf(text, sizeof text, scene_text, 800, "1e-6");
    mor_world* w = test_scene_text(text, &scene);
    assert_int_equal(mor_world_step(w, &r, &error), MOR_OK);
    assert_int_equal(r.below_goal, 1);
    assert_int_equal(r.failures, 0);
    assert_true(r.velocity_error > 1e-13 && r.velocity_error <= 1e-6);
    assert_int_equal(mor_world_step_count(w), 1);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    snprintf(text, sizeof text, scene_text, 2, "1e-9");
    w = test_scene_text(text, &scene);
    assert_int_equal(mor_world_step(w, &r, &error), MOR_STOPPED);
    assert_int_equal(r.failures, 1);
    assert_int_equal(mor_world_step_count(w), 0);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_that_let_bodies_overlap_do_not_throw_them),
        cmocka_unit_test(ap_stops_a_body_that_is_fast_beside_its_size),
        cmocka_unit_test(a_sphere_in_the_floor_is_moved_out_and_rests),
        cmocka_unit_test(boxes_in_each_other_end_apart_without_speed),
        cmocka_unit_test(a_joint_outside_its_limits_is_put_back),
        cmocka_unit_test(gap_correction_velocity_is_the_papers_term),
        cmocka_unit_test(a_goal_that_is_missed_is_counted_and_a_limit_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
