/* One URDF in minimal and in maximal coordinates, materials of links, loops in both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/worlds.h"
#include "io/recording/recording.h"
#include "moreau/lab.h"

static mor_scene* parse(const char* text, mor_error* error)
{
    return mor_scene_parse(text, strlen(text), MOREAU_SOURCE_DIR "/scenes/text.yaml", NULL, NULL, error);
}

/* Places of all links of a moving robot after 0.4 s. */
static int places(const char* coordinates, const char* robot, double h, mor_vec3* x, double* joint_error)
{
    char text[2000];
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: %g, end: 1 }\nmethod: { coordinates: %s, stabilisation: { name: impulse, "
             "position: 1e-11, velocity: 1e-11 } }\nrobots:\n  - { name: r, collide: none, %s }\n",
             h, coordinates, robot);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    test_until(w, 0.4);
    int n = 0;
    for (int i = 0; i < mor_world_body_count(w); i++) x[n++] = mor_body_get_state(w, mor_world_body(w, i)).com;
    *joint_error = mor_world_joint_error(w);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return n;
}

static void both_coordinates_give_the_same_motion_as_the_step_shrinks(void** state)
{
    (void)state;
    static const char* const robots[] = {
        "urdf: robots/arm2.urdf, joints: { shoulder: -0.4, elbow: 0.9 }, joint_velocities: { shoulder: 1, elbow: -2 }",
        "urdf: robots/chain10.urdf, friction: false",
        ("urdf: robots/five_bar_leg.urdf, base: fixed, friction: false, joint_velocities: { rail: 0.3, hip_left: 0.5, "
         "hip_right: 0.5 }, "
         "joints: { hip_left: -0.7, knee_left: 1.32676858253275, hip_right: 0.7, knee_right: -1.32676858253275 }, "
         "loops: [ { frames: [foot_left, foot_right] } ]"),
        "urdf: robots/quadruped.urdf, base: floating, limits: false, angular_velocity: [0.5, 1, 0.3], velocity: [0, 0, "
        "2]",
    };
    for (int k = 0; k < 4; k++) {
        double difference[2], joint_error;
        for (int fine = 0; fine < 2; fine++) {
            mor_vec3 x[32], y[32];
            double h = fine ? 2.5e-4 : 1e-3;
            int n = places("minimal", robots[k], h, x, &joint_error);
            assert_int_equal(places("maximal", robots[k], h, y, &joint_error), n);
            assert_true(joint_error < 1e-10);
            difference[fine] = 0.0;
            for (int i = 0; i < n; i++) difference[fine] = fmax(difference[fine], mor_norm(mor_sub(x[i], y[i])));
        }
        printf("robot %d: links apart by %.2e m at h = 1 ms, %.2e m at 0.25 ms\n", k, difference[0], difference[1]);
        assert_true(difference[0] < 0.01);
        assert_true(difference[1] < 0.35 * difference[0]); /* first order */
    }
}

static void joints_keep_their_zero_and_their_limits_in_maximal_coordinates(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(
        "moreau: 1\ntime: { step: 0.002, end: 3 }\nmethod: { coordinates: maximal }\n"
        "robots:\n  - { name: arm, urdf: robots/arm2.urdf, collide: none, joints: { shoulder: -2.4, elbow: 0 } }\n",
        &scene);
    assert_int_equal(mor_world_robot_count(w), 0);
    assert_int_equal(mor_world_joint_count(w), 2);
    assert_string_equal(mor_world_joint(w, 0)->name, "arm/shoulder");
    assert_near(mor_world_joint_position(w, 0), -2.4, 1e-12); /* the joint's own position, not counted from the start */
    double most = 0.0;
    for (int i = 0; i < 400; i++) {
        test_until(w, 0.002 * (i + 1));
        most = fmax(most, fmax(fabs(mor_world_joint_position(w, 0)), fabs(mor_world_joint_position(w, 1))));
    }
    assert_near(most, 2.5, 1e-4); /* the limits of the URDF, to the tolerance of the joints */
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void a_link_has_its_own_material_also_when_it_is_merged(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.002, end: 1 }\nmethod: { coordinates: %s }\nmaterials: { ice: { friction: "
                 "0.01 }, floor: { friction: 1 }, rubber: { friction: 0.81 } }\n"
                 "bodies:\n  - { name: ground, shape: plane, fixed: true, material: floor }\n"
                 "robots:\n  - { name: arm, urdf: robots/arm2.urdf, position: [0, 0, 0.4], material: ice, links: { "
                 "tip: { material: rubber } }, joints: { shoulder: -0.6, elbow: 0.9 } }\n",
                 k ? "maximal" : "minimal");
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        bool tip = false, other = false;
        for (int i = 0; i < 500; i++) {
            test_until(w, 0.002 * (i + 1));
            int count;
            const mor_contact* c = mor_world_contacts(w, &count);
            for (int j = 0; j < count; j++) {
                bool is_tip = fabs(c[j].friction - 0.9) < 1e-12, is_ice = fabs(c[j].friction - 0.1) < 1e-12;
                assert_true(is_tip || is_ice);
                tip = tip || is_tip;
                other = other || is_ice;
            }
        }
        assert_true(tip && other);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

static void what_maximal_coordinates_cannot_do_is_said(void** state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        { "method: { coordinates: maximal }\nrobots: [ { urdf: robots/arm2.urdf, base: floating } ]\n",
          "use coordinates: minimal" },
        { "method: { coordinates: maximum }\n", "minimal or maximal" },
        { "robots: [ { urdf: robots/arm2.urdf, links: { hand: { material: wood } } } ]\n", "no link 'hand'" },
        { "robots: [ { urdf: robots/arm2.urdf, links: { tip: { colour: red } } } ]\n", "known: material" },
        { "robots: [ { urdf: robots/arm2.urdf, links: { tip: { material: wool } } } ]\n", "wool" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1000];
        mor_error error = { 0 };
        snprintf(text, sizeof text, "moreau: 1\n%s", cases[i].text);
        mor_scene* scene = parse(text, &error);
        mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
        assert_null(w);
        if (!strstr(error.text, cases[i].sentence)) fail_msg("'%s' does not say '%s'", error.text, cases[i].sentence);
        assert_non_null(strstr(error.text, "text.yaml:"));
        mor_scene_destroy(scene);
    }
}

/* A weld brings two frames together that start apart. */
static void a_weld_brings_its_frames_to_one_orientation(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(
        "moreau: 1\ntime: { step: 0.002, end: 1 }\nrobots:\n"
        "  - { name: arm, urdf: robots/arm6.urdf, collide: none, limits: false, joints: { waist: 0.1, shoulder: 0.5, "
        "elbow: 0.6, wrist_roll: 0.3, wrist_pitch: 0.4, flange_roll: 0.2 },\n"
        "      loops: [ { frames: [flange, world], at: [[0, 0, 0], [0.6, 0.1, 0.5]], type: weld } ] }\n",
        &scene);
    assert_true(mor_world_joint_error(w) < 1e-11);
    mor_body_state s = mor_body_get_state(w, mor_world_find_body(w, "arm/flange"));
    assert_near(fabs(s.pose.rotation.w), 1.0, 1e-11); /* the world's axes */
    assert_near(s.pose.position.x, 0.6, 1e-11);
    assert_int_equal(mor_world_joint_rank(w).equations, 6);
    test_until(w, 0.5);
    s = mor_body_get_state(w, mor_world_find_body(w, "arm/flange"));
    assert_near(fabs(s.pose.rotation.w), 1.0, 1e-9);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Positions of joints and the joint error, in both coordinates. */
static void joints_are_recorded(void** state)
{
    (void)state;
    static const char file[] = "test_coordinates_joints.h5";
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.002, end: 1 }\nmethod: { coordinates: %s }\nrobots:\n  - { name: arm, "
                 "urdf: robots/arm2.urdf, collide: none, joints: { shoulder: -0.6, elbow: 0.9 } }\n",
                 k ? "maximal" : "minimal");
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        mor_error error;
        mor_recorder* r = mor_recorder_open(file, w, scene, &error);
        if (!r) fail_msg("%s", error.text);
        assert_int_equal(mor_world_add_observer(w, mor_recorder_observe, r, &error), MOR_OK);
        test_until(w, 0.1);
        assert_int_equal(mor_recorder_close(r, &error), MOR_OK);
        mor_recording* recording = mor_recording_open(file, &error);
        if (!recording) fail_msg("%s", error.text);
        double rows[102], wrong[51], s[2];
        assert_int_equal(mor_recording_get_info(recording)->frames, 51);
        assert_int_equal(mor_recording_rows(recording, "/joints/position", 0, 51, 2, rows, &error), MOR_OK);
        assert_int_equal(mor_recording_series(recording, "/joints/error", wrong, &error), MOR_OK);
        assert_near(rows[0], -0.6, 1e-12);
        assert_near(rows[1], 0.9, 1e-12);
        if (!k) mor_world_robot_state(w, 0, NULL, s, NULL);
        for (int j = 0; j < 2; j++) assert_near(rows[100 + j], k ? mor_world_joint_position(w, j) : s[j], 0.0);
        assert_true(fabs(rows[100] - rows[0]) > 0.01);
        assert_true(k ? wrong[50] > 0.0 && wrong[50] < 1e-5 : wrong[50] == 0.0);
        mor_recording_close(recording);
        remove(file);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_coordinates_give_the_same_motion_as_the_step_shrinks),
        cmocka_unit_test(joints_keep_their_zero_and_their_limits_in_maximal_coordinates),
        cmocka_unit_test(a_link_has_its_own_material_also_when_it_is_merged),
        cmocka_unit_test(what_maximal_coordinates_cannot_do_is_said),
        cmocka_unit_test(a_weld_brings_its_frames_to_one_orientation),
        cmocka_unit_test(joints_are_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
