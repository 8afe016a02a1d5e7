/* `on: NAME` and `drop: true`: bodies and robots are set down so that their lowest point touches. Heights from geometry
 * by hand: corners of boxes, radii of spheres; and from the other side: after it, nothing overlaps and something
 * touches. */
#include "common/foreign_robots.h"
#include "common/random_robot.h"
#include "common/worlds.h"
#include "moreau/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "moreau: 1\ntime: { step: 0.001, end: 1 }\n"

static mor_body_state of(const mor_world* w, const char* name) { return test_state(w, mor_world_find_body(w, name)); }

static void shapes_touch_where_geometry_says(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(
        HEAD
        "bodies:\n"
        "  - { name: floor, shape: plane, fixed: true }\n"
        "  - { name: table, shape: { box: [2, 2, 0.5] }, fixed: true, position: [10, 0, 0.25] }\n"
        "  - { name: ramp, shape: { plane: { normal: [0.6, 0, 0.8], point: [-50, 0, 0] } }, fixed: true }\n"
        "  - { name: ball, shape: { sphere: 0.3 }, position: [0, 0, 7], on: floor }\n"
        "  - { name: cube, shape: { box: [1, 1, 1] }, position: [0, 5, -3], on: floor, orientation: { axis: [1, 0, "
        "0], angle: 45 } }\n"
        "  - { name: cup, shape: { cylinder: { radius: 0.1, length: 0.4 } }, position: [10, 0.3, 9], on: table }\n"
        "  - { name: pea, shape: { sphere: 0.05 }, position: [10, 0.3, 0], on: cup }\n"
        "  - { name: edge, shape: { sphere: 0.5 }, position: [11.3, 0, 0], on: table }\n"
        "  - { name: slope, shape: { sphere: 0.5 }, position: [-50, 0, 0], on: ramp }\n"
        "  - { name: stack, shape: { box: [0.2, 0.2, 0.2] }, drop: true, grid: { count: [1, "
        "1, 3], spacing: [1, 1, 0], origin: [20, 0, 0] } }\n",
        &scene);
    test_near(of(w, "ball").com.z, 0.3, 1e-11, "ball");
    test_near(of(w, "cube").com.z, sqrt(0.5), 1e-11, "cube on its edge");
    test_near(of(w, "cup").com.z, 0.7, 1e-11, "cup on the table");
    test_near(of(w, "pea").com.z, 0.95, 1e-11, "pea on the cup");
    test_near(of(w, "edge").com.z, 0.5 + 0.4, 1e-9, "ball on the edge of the table, 0.3 beside it: 3-4-5");
    test_near(of(w, "slope").com.z, 0.5 / 0.8, 1e-11, "ball on the ramp");
    for (int k = 0; k < 3; k++) { /* each on the ones before it, and all above the floor */
        char name[20];
        snprintf(name, sizeof name, "stack_0_0_%d", k);
        test_near(of(w, name).com.z, 0.1 + 0.2 * k, 1e-11, name);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    w = test_scene_text("moreau: 1\ndimension: 2\ntime: { step: 0.01, end: 1 }\nbodies:\n"
                        "  - { name: ground, shape: { chain: [[-5, 5], [0, 0], [5, 0]] }, fixed: true }\n"
                        "  - { name: coin, shape: { disc: 0.25 }, position: [3, 9], drop: true }\n"
                        "  - { name: tile, shape: { box: [1, 0.5] }, position: [1.5, -2], on: ground }\n",
                        &scene);
    test_near(of(w, "coin").com.y, 0.25, 1e-9, "coin");
    test_near(of(w, "tile").com.y, 0.25, 1e-9, "tile");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Lowest point of all shapes of a robot of boxes, by their corners. */
static void robots_touch_with_their_lowest_point(void** state)
{
    (void)state;
    mor_rng rng = { 7 };
    for (int trial = 0; trial < 20; trial++) {
        mor_robot_model* m = random_robot(&rng, 2 + trial % 7, trial % 3 > 0);
        mor_error error = { 0 };
        double size[10][3], s[10];
        mor_pose at[10];
        int links = mor_robot_link_count(m);
        for (int i = 0; i < links; i++) {
            for (int k = 0; k < 3; k++) size[i][k] = 0.05 + 0.3 * mor_rng_uniform(&rng);
            at[i] = (mor_pose){ mor_v3(random_number(&rng, 0.2), random_number(&rng, 0.2), random_number(&rng, 0.2)),
                                mor_rng_rotation(&rng) };
            s[i] = random_number(&rng, 1.5);
            mor_geometry* box = test_box(size[i][0], size[i][1], size[i][2]);
            mor_link_shape shape = { i, box, at[i], -1 };
            assert_int_equal(mor_robot_add_shape(m, &shape, &error), MOR_OK);
            mor_geometry_release(box);
        }
        mor_world* w = test_world(1e-3);
        mor_body_id floor = test_fixed(w, test_plane(), mor_v3(0, 0, 0.4), (mor_quat){ 1, 0, 0, 0 }), ids[10];
        mor_robot_def d = mor_robot_def_default();
        snprintf(d.name, sizeof d.name, "r");
        d.model = m;
        d.s = s;
        d.limits = false;
        d.pose = (mor_pose){ mor_v3(1, 2, random_number(&rng, 3.0)), mor_rng_rotation(&rng) };
        int robot = mor_world_add_robot(w, &d, &error);
        if (robot < 0) fail_msg("%s", error.text);
        for (int i = 0; i < links; i++) ids[i] = mor_world_robot_link(w, robot, i);
        double lift;
        if (mor_world_put_on(w, ids, links, trial % 2 ? floor : (mor_body_id){ 0, 0 }, &lift, &error))
            fail_msg("%s", error.text);
        mor_pose base;
        double now[10], lowest = INFINITY;
        mor_world_robot_state(w, robot, &base, now, NULL);
        for (int i = 0; i < links; i++) {
            mor_pose link = test_state(w, ids[i]).pose, shape = mor_pose_mul(&link, &at[i]);
            for (int c = 0; c < 8; c++) {
                mor_vec3 corner = mor_v3((c & 1 ? 0.5 : -0.5) * size[i][0], (c & 2 ? 0.5 : -0.5) * size[i][1],
                                         (c & 4 ? 0.5 : -0.5) * size[i][2]);
                lowest = fmin(lowest, mor_pose_point(&shape, corner).z);
            }
        }
        test_near(lowest, 0.4, 1e-11, "lowest corner");
        test_near(base.position.x, 1.0, 0.0, "x stays");
        test_near(base.position.z - d.pose.position.z, lift, 1e-12, "lift");
        for (int i = 0; i + 1 < links; i++) test_near(now[i], s[i], 0.0, "joints stay");
        mor_world_destroy(w);
        mor_robot_destroy(m);
    }
}

static void foreign_robots_stand_on_the_floor_at_once(void** state)
{
    (void)state;
    static char entry[8000], text[9000];
    int tried = 0;
    for (int i = 0; i < foreign_robot_count && (getenv("MOREAU_LONG") || i < 10); i++) {
        const foreign_robot* r = &foreign_robots[i];
        if (!foreign_robot_is_there(r)) continue;
        for (int maximal = 0; maximal < (i == 3 ? 2 : 1); maximal++) { /* h1 in maximal coordinates, too */
            foreign_robot_entry(r, "base: floating, orientation: { axis: [1, 2, 0.5], angle: 25 }, on: floor", entry,
                                sizeof entry);
            snprintf(text, sizeof text,
                     HEAD "%sbodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.6 }\nrobots:\n%s",
                     maximal ? "method: { coordinates: maximal }\n" : "", entry);
            mor_scene* scene;
            mor_world* w = test_scene_text(text, &scene);
            mor_start start;
            mor_error error = { 0 };
            assert_int_equal(mor_world_look(w, &start, &error), MOR_OK);
            if (!(start.penetration < 1e-9)) fail_msg("%s: %g m deep", r->name, start.penetration);
            bool limits = start.limit_count > 0;
            mor_start_free(&start);
            mor_step_report report;
            if (!limits) { /* else joints move first */
                assert_int_equal(mor_world_step(w, &report, &error), MOR_OK);
                int count;
                mor_world_contacts(w, &count);
                if (count == 0) fail_msg("%s touches nothing", r->name);
            }
            mor_world_destroy(w);
            mor_scene_destroy(scene);
        }
        tried++;
    }
    if (tried) return;
    print_message("SKIP: ../shared is not there\n");
    skip();
}

static void refused(const char* text, const char* sentence)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), MOREAU_SOURCE_DIR "/scenes/text.yaml", NULL, NULL, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (w) fail_msg("not refused: %s", sentence);
    if (!strstr(error.text, sentence)) fail_msg("'%s' is not in '%s'", sentence, error.text);
    mor_scene_destroy(scene);
}

#define FLOOR "  - { name: floor, shape: plane, fixed: true }\n"

static void what_cannot_be_is_told_with_its_place(void** state)
{
    (void)state;
    refused(HEAD "bodies:\n" FLOOR "  - { name: a, shape: { sphere: 1 }, on: flor }\n", "did you mean 'floor'");
    refused(HEAD "bodies:\n" FLOOR "  - { name: a, shape: { sphere: 1 }, on: floor, drop: true }\n", "not both");
    refused(HEAD "bodies:\n" FLOOR "  - { name: a, shape: { sphere: 1 }, on: a }\n", "on itself");
    refused(HEAD "bodies:\n  - { name: a, shape: { sphere: 1 }, drop: true }\n", "nothing lies below it");
    refused(HEAD "bodies:\n" FLOOR "  - { name: box, shape: { box: [1, 1, 1] }, fixed: true }\n"
                 "  - { name: a, shape: { sphere: 1 }, position: [5, 0, 0], on: box }\n",
            "nothing of 'box' lies below it");
    refused(HEAD "bodies:\n" FLOOR "  - { name: a, shape: { sphere: 1 }, on: floor, fixed: true }\n", "move freely");
    refused(HEAD "bodies:\n" FLOOR "robots:\n  - { name: r, urdf: robots/arm2.urdf, on: flor }\n",
            "did you mean 'floor'");
    refused(HEAD "bodies:\n" FLOOR "robots:\n  - { name: r, urdf: robots/arm6.urdf, on: floor, collide: none }\n",
            "has no shapes");
    refused(HEAD "robots:\n  - { name: r, urdf: robots/arm6.urdf, drop: true }\n", "nothing lies below it");
    refused(HEAD "bodies:\n" FLOOR "robots:\n  - { name: r, mjcf: ../tests/mjcf/02_joints.xml, drop: true }\n",
            "the base of this model is fixed to the world: give 'position'");
    refused(HEAD "bodies:\n" FLOOR "robots:\n  - { name: r, mjcf: ../tests/mjcf/04_free.xml, on: floor }\n",
            "'on' sets one tree down and this model has");
}

/* The trunk of the model hangs 0.4 m above its own floor, its feet 0.015 m; turned, it would reach into the floor. */
static void mjcf_robots_touch_too(void** state)
{
    (void)state;
    for (int tilt = 0; tilt <= 60; tilt += 15) {
        char text[400];
        mor_scene* scene;
        mor_start start;
        mor_error error = { 0 };
        snprintf(text, sizeof text,
                 HEAD "robots:\n  - { name: r, mjcf: ../tests/mjcf/14_quadruped.xml, drop: true, "
                      "orientation: { axis: [1, 0.5, 0], angle: %d } }\n",
                 tilt);
        mor_world* w = test_scene_text(text, &scene);
        assert_int_equal(mor_world_look(w, &start, &error), MOR_OK);
        test_near(start.penetration, 0.0, 1e-9, "overlap");
        test_steps(w, 3); /* what touches is held in the first steps */
        assert_true(mor_world_contact_count(w) > 0);
        mor_start_free(&start);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_touch_where_geometry_says),
        cmocka_unit_test(robots_touch_with_their_lowest_point),
        cmocka_unit_test(foreign_robots_stand_on_the_floor_at_once),
        cmocka_unit_test(mjcf_robots_touch_too),
        cmocka_unit_test(what_cannot_be_is_told_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
