/* The scenes of mechanisms give the answers their first lines promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/scenes.h"
#include "io/json/json_read.h"
#include "moreau/moreau.h"

/* Runs a scene for `seconds` (< 0: to its end), calling `each` after every step. */
static mor_world* run(const char* name, double seconds, mor_scene** scene, void (*each)(mor_world*))
{
    mor_error error;
    *scene = mor_scene_load(scene_path(name), NULL, NULL, &error);
    if (!*scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(*scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    double end = seconds < 0 ? mor_scene_end(*scene) : seconds;
    while (mor_world_time(w) < end - 1e-9) {
        mor_step_report r;
        if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("%s", error.text);
        if (r.status != MOR_SOLVED) fail_msg("%s at %g s: %s", name, mor_world_time(w), r.detail);
        if (each) each(w);
    }
    return w;
}

static void done(mor_world* w, mor_scene* scene)
{
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static double energy(const mor_world* w) { return mor_world_kinetic_energy(w) + mor_world_potential_energy(w); }

static void joints_hold(mor_world* w) { assert_true(mor_world_joint_error(w) < 1.001e-5); }
static void joints_hold_well(mor_world* w) { assert_true(mor_world_joint_error(w) < 1e-9); }

static void the_hanging_rod_swings_with_little_loss(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = run("hanging_rod", -1, &scene, joints_hold);
    assert_near(energy(w), 0.0, 0.05); /* 2.45 J in the swing, semi-implicit gravity at h = 0.005 */
    done(w, scene);
}

static void the_cart_rolls_down_as_a_rolling_cart_does(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = run("cart", 2.0, &scene, joints_hold);
    mor_body_state s = mor_body_get_state(w, mor_world_find_body(w, "chassis"));
    /* a = m g_x/(m + 4 I/r^2), I = 2/5 m_w r^2: v = a t exactly, by the discrete step as well */
    double a = 7.0 * 1.7034881 / (7.0 + 4.0 * 0.4 * 0.5);
    assert_near(s.velocity.x, a * 2.0, 0.01); /* the first steps settle */
    assert_near(s.com.z, 0.4, 1e-9);
    done(w, scene);
}

static void the_four_bar_turns_round_and_stays_closed(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = run("four_bar", 3.0, &scene, joints_hold_well);
    /* 3 rad/s by a strong motor */
    assert_near(mor_world_joint_position(w, 0), 9.0, 0.02);
    done(w, scene);
}

static double least, most;
static void watch_slider(mor_world* w)
{
    joints_hold_well(w);
    double x = mor_body_get_state(w, mor_world_find_body(w, "slider")).com.x, angle = mor_world_joint_position(w, 0);
    least = fmin(least, x);
    most = fmax(most, x);
    /* the crank starts along z and turns about y towards x */
    assert_near(x, 0.3 * sin(angle) + sqrt(1.0 - 0.09 * cos(angle) * cos(angle)), 1e-8);
}

static void the_slider_moves_as_the_crank_says(void** state)
{
    (void)state;
    least = most = 1.0;
    mor_scene* scene;
    mor_world* w = run("slider_crank", 3.0, &scene, watch_slider);
    assert_near(least, 0.7, 1e-3);
    assert_near(most, 1.3, 1e-3);
    done(w, scene);
}

static void the_chain_moves_alike_in_both_coordinates(void** state)
{
    (void)state;
    mor_scene *a, *b;
    mor_world *minimal = run("s7", 0.3, &a, NULL), *maximal = run("s7_maximal", 0.3, &b, joints_hold_well);
    for (int i = 0; i < 10; i++) {
        char link[32], body[32];
        snprintf(link, sizeof link, "chain/link_%d", i);
        snprintf(body, sizeof body, "link_%d", i);
        mor_vec3 x = mor_body_get_state(minimal, mor_world_find_body(minimal, link)).com,
                 y = mor_body_get_state(maximal, mor_world_find_body(maximal, body)).com;
        assert_true(mor_norm(mor_sub(x, y)) < 5e-3); /* both of first order in h = 1e-3 */
    }
    done(minimal, a);
    done(maximal, b);
}

static void the_arm_comes_to_rest_on_the_floor(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = run("arm_on_floor", -1, &scene, NULL);
    assert_true(mor_world_kinetic_energy(w) < 1e-12);
    assert_true(mor_world_penetration(w) < 1e-9);
    done(w, scene);
}

static void the_six_axis_arm_sinks_on_the_boxes(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = run("arm6_drop", 3.0, &scene, NULL); /* every step meets its tolerance; a wrist settles after 2 s */
    assert_true(mor_world_kinetic_energy(w) < 1e-12);
    assert_true(mor_world_penetration(w) < 1e-6);
    done(w, scene);
}

static void the_tree_of_bars_hangs_together(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = run("joint_tree", 0.3, &scene, joints_hold);
    assert_int_equal(mor_world_joint_count(w), 127);
    done(w, scene);
}

static void loops_of_robots_close_before_the_first_step(void** state)
{
    (void)state;
    static const char text[] = "moreau: 1\n"
                               "time: { step: 0.001, end: 0.2 }\n"
                               "robots:\n"
                               "  - { name: arm, urdf: robots/arm2.urdf, joints: { shoulder: -0.5, elbow: 1.1 },\n"
                               "      loops: [ { frames: [tip, world], at: [[0, 0, 0], [1.6, 0, 0.05]] } ] }\n";
    mor_error error;
    mor_scene* scene = mor_scene_parse(text, strlen(text), MOREAU_SOURCE_DIR "/scenes/text.yaml", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    assert_true(mor_world_joint_error(w) < 1e-11);
    double s[2], t[2];
    mor_world_robot_state(w, 0, NULL, s, NULL);
    assert_near(2.0 * cos(0.5 * s[1]), 1.6, 1e-9); /* a triangle of sides 1, 1, 1.6 */
    for (int i = 0; i < 200; i++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    mor_world_robot_state(w, 0, NULL, t, NULL);
    assert_near(t[0], s[0], 1e-8);
    done(w, scene);
}

/* A closed chain from the shared models, from its closed configuration, under gravity. */
static void a_five_bar_from_urdf_stays_closed(void** state)
{
    (void)state;
    static const char directory[] = MOREAU_SOURCE_DIR "/../shared/data/robots/closed_chain/5bar_linkage_iso3d";
    char path[1000], text[4000];
    snprintf(path, sizeof path, "%s/closed_configuration.json", directory);
    mor_error error;
    mor_json_document* d = mor_json_read_file(path, &error);
    if (!d) {
        printf("SKIP no closed chains\n");
        skip();
    }
    int n = snprintf(text, sizeof text,
                     "moreau: 1\ntime: { step: 0.001, end: 2 }\n"
                     "method: { stabilisation: { name: impulse, position: 1e-11, velocity: 1e-11 } }\n"
                     "robots:\n  - { urdf: '%s/robot.urdf', collide: none, loops: [ { frames: [closedloop3D_1B, "
                     "closedloop3D_1A] } ], joints: {",
                     directory);
    const mor_json_value *name = mor_json_get(mor_json_root(d), "joint_order")->first,
                         *q = mor_json_get(mor_json_root(d), "q_closed")->first;
    for (const char* comma = ""; name; name = name->next, q = q->next, comma = ",")
        n += snprintf(text + n, sizeof text - (size_t)n, "%s %s: %.17g", comma, name->text, q->number);
    snprintf(text + n, sizeof text - (size_t)n, " } }\n");
    mor_json_free(d);
    mor_scene* scene = mor_scene_parse(text, strlen(text), "five_bar", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    double start = energy(w), fastest = 0.0;
    for (int i = 0; i < 2000; i++) {
        mor_step_report r;
        assert_int_equal(mor_world_step(w, &r, &error), MOR_OK);
        assert_int_equal(r.status, MOR_SOLVED);
        joints_hold_well(w);
        fastest = fmax(fastest, r.kinetic);
    }
    assert_true(fastest > 1.0); /* it moves */
    assert_near(energy(w), start, 0.05 * fastest);
    done(w, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hanging_rod_swings_with_little_loss),
        cmocka_unit_test(the_cart_rolls_down_as_a_rolling_cart_does),
        cmocka_unit_test(the_four_bar_turns_round_and_stays_closed),
        cmocka_unit_test(the_slider_moves_as_the_crank_says),
        cmocka_unit_test(the_chain_moves_alike_in_both_coordinates),
        cmocka_unit_test(the_arm_comes_to_rest_on_the_floor),
        cmocka_unit_test(the_six_axis_arm_sinks_on_the_boxes),
        cmocka_unit_test(the_tree_of_bars_hangs_together),
        cmocka_unit_test(loops_of_robots_close_before_the_first_step),
        cmocka_unit_test(a_five_bar_from_urdf_stays_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
