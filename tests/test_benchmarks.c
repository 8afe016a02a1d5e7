/* The benchmark scenes S1 and S2 with the default method, and how collision scales (S3). */
#include "common/scenes.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static mor_world* build(const char* name, const char* const* sets, mor_scene** scene)
{
    mor_error error = { 0 };
    *scene = mor_scene_load(scene_path(name), sets, NULL, &error);
    if (!*scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(*scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    return w;
}

typedef struct outcome {
    double velocity_error, drift, penetration, seconds;
} outcome;

static outcome run(const char* name, const char* const* sets, int steps)
{
    mor_scene* scene;
    mor_world* w = build(name, sets, &scene);
    int n = mor_world_body_count(w);
    mor_vec3* start = malloc((size_t)n * sizeof *start);
    for (int i = 0; i < n; i++) start[i] = test_state(w, mor_world_body(w, i)).com;
    outcome o = { 0 };
    double begin = mor_cpu_clock();
    for (int k = 0; k < steps; k++) {
        mor_step_report r = test_steps(w, 1);
        o.velocity_error = fmax(o.velocity_error, r.velocity_error);
        o.penetration = fmax(o.penetration, r.penetration);
    }
    o.seconds = (mor_cpu_clock() - begin) / steps;
    for (int i = 0; i < n; i++)
        o.drift = fmax(o.drift, mor_norm(mor_sub(test_state(w, mor_world_body(w, i)).com, start[i])));
    print_message("%s: velocity error %.2g m/s, drift %.2g m, penetration %.2g m, %.0f us per step\n", name,
                  o.velocity_error, o.drift, o.penetration, 1e6 * o.seconds);
    free(start);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return o;
}

static void a_cube_of_125_spheres_stands_with_4_and_with_7_directions(void** state)
{
    (void)state;
    const char* directions[] = { "method.friction_directions=4", "method.friction_directions=7" };
    for (int k = 0; k < 2; k++) {
        const char* sets[] = { directions[k], "method.formulation=st", "method.solver=pgs", NULL };
        outcome o = run("s1", sets, 400);
        assert_true(o.velocity_error < 1e-8);
        assert_true(o.drift < 1e-6);
    }
}

static void a_pyramid_of_55_boxes_stands(void** state)
{
    (void)state;
    const char* sets[] = { "method.formulation=st", "method.solver={ name: pgs, tol: 1e-10 }", NULL };
    outcome o = run("s2", sets, getenv("MOREAU_SLOW") ? 20 : 500);
    assert_true(o.drift < 1e-4);
    assert_true(o.penetration < 1e-5);
}

static void the_default_method_holds_the_pyramid_and_heavy_boxes_to_a_micrometre(void** state)
{
    (void)state;
    outcome o = run("s2", NULL, getenv("MOREAU_SLOW") ? 20 : 500);
    assert_true(o.drift < 1e-6);
    assert_true(o.penetration < 1e-6);
    const char* masses[] = { "bodies.top.mass=1e3", "bodies.top.mass=1e4", "bodies.top.mass=1e6" };
    for (int k = 0; k < 3; k++) {
        const char* sets[] = { masses[k], NULL };
        o = run("s5", sets, 500);
        assert_true(o.penetration < 1e-7);
        assert_true(o.drift < 1e-6);
    }
}

static void the_default_method_slides_and_sticks_exactly_in_any_direction(void** state)
{
    (void)state;
    const double a = 9.81 * (0.5 - 0.5 * sqrt(0.75));
    const char* sets[] = { "method.solver={ name: auto, tol: 1e-13 }", NULL };
    const char* slides[] = { "s4_slide", "s4_slide_45" };
    const char* sticks[] = { "s4_stick", "s4_stick_45" };
    for (int k = 0; k < 2; k++) {
        mor_scene* scene;
        mor_world* w = build(slides[k], sets, &scene);
        mor_body_id box = mor_world_find_body(w, "box");
        test_steps(w, 100);
        double v1 = mor_norm(test_state(w, box).velocity);
        test_steps(w, 400);
        test_near((mor_norm(test_state(w, box).velocity) - v1) / 4, a, 1e-9, slides[k]);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        w = build(sticks[k], sets, &scene);
        box = mor_world_find_body(w, "box");
        test_steps(w, 100);
        mor_vec3 x = test_state(w, box).com;
        test_steps(w, 400);
        test_near(mor_norm(mor_sub(test_state(w, box).com, x)) / 4, 0, 1e-12, sticks[k]);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* Pair tests are counted, not timed: a test of the library's own in front of the built-in one. */
static mor_pair_test box_box;
static long tests_run;
static int counted(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                   double reach, uint32_t cache[4], mor_point* points)
{
    tests_run++;
    return box_box(a, pose_a, b, pose_b, reach, cache, points);
}

/* Pair tests of one collision stage, boxes of S3 on a grid of n^3. */
static long pair_tests(int n)
{
    mor_error error = { 0 };
    mor_geometry* cube = test_box(1, 1, 1);
    mor_library* library = mor_library_create(&error);
    bool swap;
    box_box = mor_library_pair(NULL, cube, cube, &swap);
    assert_int_equal(mor_library_add_pair(library, MOR_POLYHEDRON, NULL, MOR_POLYHEDRON, NULL, counted, &error),
                     MOR_OK);
    mor_world_def def = mor_world_def_default();
    def.library = library;
    mor_world* w = mor_world_create(&def, &error);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), mor_quat_identity());
    mor_rng rng = { 20240607 };
    for (int i = 0; i < n * n * n; i++)
        test_body(w, mor_geometry_retain(cube), 1.0, mor_v3(1.2 * (i % n), 1.2 * (i / n % n), 1 + 1.2 * (i / n / n)),
                  mor_rng_rotation(&rng));
    mor_geometry_release(cube);
    test_option(w, "method", "gap_correction", "velocity"); /* the boxes overlap, and are to stay where they are */
    mor_step* step = mor_step_create(w, NULL);
    assert_int_equal(mor_stage_user(w, step, NULL), MOR_OK);
    tests_run = 0;
    assert_int_equal(mor_stage_collide(w, step, NULL), MOR_OK);
    int contacts;
    mor_step_contacts(step, &contacts);
    mor_step_destroy(step);
    print_message("%d boxes, %d contacts: %ld pair tests\n", n * n * n, contacts, tests_run);
    assert_true(contacts > n * n * n); /* a pile that touches */
    mor_world_destroy(w);
    mor_library_destroy(library);
    return tests_run;
}

/* A grid of n^3 boxes has 3 n^2 (n - 1) pairs of neighbours across faces, 6 n (n - 1)^2 across edges and 4 (n - 1)^3
 * across corners: 10^3 boxes 10476, 20^3 boxes 93556 together, 9 times as many. All pairs would be 64 times as many. */
static void eight_times_the_boxes_need_at_most_nine_times_the_pair_tests(void** state)
{
    (void)state;
    long small = pair_tests(10), large = pair_tests(20);
    assert_true(small > 0 && small <= 10476);
    assert_true(large <= 9 * small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_of_125_spheres_stands_with_4_and_with_7_directions),
        cmocka_unit_test(a_pyramid_of_55_boxes_stands),
        cmocka_unit_test(the_default_method_holds_the_pyramid_and_heavy_boxes_to_a_micrometre),
        cmocka_unit_test(the_default_method_slides_and_sticks_exactly_in_any_direction),
        cmocka_unit_test(eight_times_the_boxes_need_at_most_nine_times_the_pair_tests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
