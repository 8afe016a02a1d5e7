/* Closed chains of other people's robots, from their closed configurations, under gravity and motor torques: the loops
 * stay closed, and what of their equations is redundant is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/worlds.h"
#include "io/json/json_read.h"
#include "moreau/moreau.h"

#define ROBOTS MOREAU_SOURCE_DIR "/../shared/data/robots"
#define HEAD                                                                                                           \
    "moreau: 1\ntime: { step: 0.001, end: 10 }\nmethod: { stabilisation: { name: impulse, position: 1e-11, velocity: " \
    "1e-11 } }\n"

/* The scene of a chain with its stored closed configuration; false if it is not there. */
static bool write_chain(const char* name, char* text, size_t room)
{
    char path[1000];
    snprintf(path, sizeof path, ROBOTS "/closed_chain/%s/closed_configuration.json", name);
    mor_error error;
    mor_json_document* d = mor_json_read_file(path, &error);
    if (!d) return false;
    size_t n = (size_t)snprintf(text, room,
                                HEAD "robots:\n  - name: robot\n    urdf: '" ROBOTS
                                     "/closed_chain/%s/robot.urdf'\n    collide: none\n    loops:\n",
                                name);
    const mor_json_value* root = mor_json_root(d);
    const mor_json_value* type = mor_json_get(root, "type")->first;
    for (const mor_json_value* l = mor_json_get(root, "loops")->first; l; l = l->next, type = type->next)
        n += (size_t)snprintf(text + n, room - n, "      - { frames: [%s, %s], type: %s }\n", l->first->text,
                              l->first->next->text, strcmp(type->text, "6d") == 0 ? "weld" : "point");
    n += (size_t)snprintf(text + n, room - n, "    joints: {");
    const mor_json_value* q = mor_json_get(root, "q_closed")->first;
    for (const mor_json_value* j = mor_json_get(root, "joint_order")->first; j; j = j->next, q = q->next)
        n += (size_t)snprintf(text + n, room - n, "%s %s: %.17g", q == mor_json_get(root, "q_closed")->first ? "" : ",",
                              j->text, q->number);
    snprintf(text + n, room - n, " }\n");
    mor_json_free(d);
    return true;
}

/* Ten seconds with torques on joints whose names begin with `motor`. Returns the farthest any of them turned. */
static double ten_seconds(mor_world* w, const char* motor, double torque)
{
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    int n = mor_robot_joint_count(m);
    double s[64], start[64], tau[64], farthest = 0.0, early = 0.0, late = 0.0;
    assert_true(n <= 64);
    mor_world_robot_state(w, 0, NULL, start, NULL);
    mor_error error;
    for (int i = 0; i < 10000; i++) {
        double t = mor_world_time(w);
        for (int j = 0; j < n; j++) {
            const char* name = mor_robot_link(m, mor_robot_link_of_joint(m, j))->joint_name;
            tau[j] = strncmp(name, motor, strlen(motor)) == 0 ? torque * sin((2.0 + 0.3 * j) * t) : 0.0;
        }
        mor_world_robot_apply(w, 0, tau);
        mor_step_report r;
        if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("%s", error.text);
        if (r.status != MOR_SOLVED) fail_msg("%s at %g s (velocity error %g)", r.detail, t, r.velocity_error);
        double left = mor_world_joint_error(w);
        if (!(left < 1e-9)) fail_msg("a loop is open by %g at %g s", left, t);
        if (i < 2000) early = fmax(early, left);
        if (i >= 8000) late = fmax(late, left);
        mor_world_robot_state(w, 0, NULL, s, NULL);
        for (int j = 0; j < n; j++)
            if (tau[j] != 0.0) farthest = fmax(farthest, fabs(s[j] - start[j]));
    }
    printf("closure error at most %.1e in the first, %.1e in the last two seconds; motors turned by up to %.2g rad\n",
           early, late, farthest);
    assert_true(late < 2e-11); /* no drift: the tolerance of the stabilisation, and no more */
    return farthest;
}

static void check_rank(mor_world* w, int equations, int rank, int freedom)
{
    mor_joint_rank r = mor_world_joint_rank(w);
    assert_int_equal(r.equations, equations);
    assert_int_equal(r.rank, rank);
    assert_int_equal(r.freedom, freedom);
}

static void the_delta_robot_moves_and_stays_closed(void** state)
{
    (void)state;
    char text[8000];
    if (!write_chain("robot_delta", text, sizeof text)) {
        printf("SKIP no closed chains\n");
        skip();
    }
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    check_rank(w, 18, 9, 5); /* 14 joints; two motors and three doubled markers */
    assert_true(ten_seconds(w, "mot", 2e-4) > 0.2);
    check_rank(w, 18, 9, 5);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void the_five_bar_linkage_moves_and_stays_closed(void** state)
{
    (void)state;
    char text[8000];
    if (!write_chain("5bar_linkage_iso3d", text, sizeof text)) {
        printf("SKIP no closed chains\n");
        skip();
    }
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    check_rank(w, 3, 3, 2); /* one joint turns out of the plane: the loop is spatial */
    assert_true(ten_seconds(w, "mot", 20.0) > 0.2);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void the_four_legs_of_minitaur_move_and_stay_closed(void** state)
{
    (void)state;
    FILE* there = fopen(ROBOTS "/minitaur/minitaur.urdf", "r");
    if (!there) {
        printf("SKIP no minitaur\n");
        skip();
    }
    fclose(there);
    static const char* const legs[] = { "front_right", "front_left", "back_right", "back_left" };
    char text[8000];
    size_t n = (size_t)snprintf(text, sizeof text,
                                HEAD "robots:\n  - name: robot\n    urdf: '" ROBOTS
                                     "/minitaur/minitaur.urdf'\n    collide: none\n    loops:\n");
    for (int i = 0; i < 4; i++)
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "      - { frames: [knee_%sR_link, knee_%sL_link], at: [[0, 0.005, 0.2], [0, 0.01, 0.2]] }\n", legs[i],
            legs[i]);
    n += (size_t)snprintf(text + n, sizeof text - n, "    joints: {");
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s motor_%s%c_joint: 1.5708, knee_%s%c_link: -2.1834",
                                  i + k ? "," : "", legs[i], "RL"[k], legs[i], "RL"[k]);
    snprintf(text + n, sizeof text - n, " }\n");
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    check_rank(w, 12, 12, 4);
    ten_seconds(w, "motor", 0.5);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* ------------------------------------------------------------------------ loops of free bodies */

static void advance(mor_world* w, double until)
{
    mor_error error;
    while (mor_world_time(w) < until - 1e-9) {
        mor_step_report r;
        if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("%s", error.text);
        if (r.status != MOR_SOLVED) fail_msg("%s at %g s", r.detail, mor_world_time(w));
        assert_true(mor_world_joint_error(w) < 1e-10);
        assert_true(r.penetration < 1e-9);
    }
}

/* Bricard's six-bar (IFToMM A04): 30 equations of rank 29 that contradict each other a little off the constraint. It
 * must move, as by half the step, and keep energy and joints. */
static void bricards_six_bar_moves_though_it_should_not(void** state)
{
    (void)state;
    static const char text[] =
        "moreau: 1\ngravity: [0, -9.81, 0]\ntime: { step: 0.001, end: 10 }\nmethod: { stabilisation: { name: impulse, "
        "position: 1e-10, velocity: 1e-10 } }\nbodies:\n"
        "  - { name: rod_1, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, 0, 0], collide: false }\n"
        "  - { name: rod_2, shape: { box: [0.1, 1, 0.1] }, mass: 1, position: [1, -0.5, 0], collide: false }\n"
        "  - { name: rod_3, shape: { box: [0.1, 0.1, 1] }, mass: 1, position: [1, -1, 0.5], collide: false }\n"
        "  - { name: rod_4, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, -1, 1], collide: false }\n"
        "  - { name: rod_5, shape: { box: [0.1, 1, 0.1] }, mass: 1, position: [0, -0.5, 1], collide: false }\njoints:\n"
        "  - { type: revolute, bodies: [rod_1, world], point: [0, 0, 0], axis: [0, 1, 0] }\n"
        "  - { type: revolute, bodies: [rod_2, rod_1], point: [1, 0, 0], axis: [0, 0, 1] }\n"
        "  - { type: revolute, bodies: [rod_3, rod_2], point: [1, -1, 0], axis: [1, 0, 0] }\n"
        "  - { type: revolute, bodies: [rod_4, rod_3], point: [1, -1, 1], axis: [0, 1, 0] }\n"
        "  - { type: revolute, bodies: [rod_5, rod_4], point: [0, -1, 1], axis: [0, 0, 1] }\n"
        "  - { type: revolute, bodies: [rod_5, world], point: [0, 0, 1], axis: [1, 0, 0] }\n";
    mor_vec3 at[2];
    for (int fine = 0; fine < 2; fine++) {
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        if (fine) mor_world_set_step(w, 0.0005);
        check_rank(w, 30, 29, 1);
        double start = mor_world_potential_energy(w);
        mor_error error;
        while (mor_world_time(w) < 3.0 - 1e-9) {
            mor_step_report r;
            assert_int_equal(mor_world_step(w, &r, &error), MOR_OK);
            if (r.status != MOR_SOLVED) fail_msg("%s at %g s", r.detail, mor_world_time(w));
            assert_true(mor_world_joint_error(w) < 1e-9);
            assert_near(r.kinetic + r.potential, start, fine ? 0.002 : 0.004);
        }
        check_rank(w, 30, 29, 1);
        at[fine] = mor_body_get_state(w, mor_world_find_body(w, "rod_3")).com;
        assert_true(at[fine].x < -0.8); /* from x = 1: it turned inside out */
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    assert_true(mor_norm(mor_sub(at[0], at[1])) < 1e-3);
}

static void the_stewart_platform_rises_as_its_legs_say(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_file("stewart", &scene);
    check_rank(w, 72, 72, 12); /* six of the platform, six of the box on it */
    advance(w, 0.4);
    mor_body_state s = mor_body_get_state(w, mor_world_find_body(w, "platform"));
    double l = 1.3714031749479167 + 0.05 * 0.4;
    assert_near(s.com.z, sqrt(l * l - 0.4407466682572263), 1e-6);
    assert_near(fabs(s.pose.rotation.w), 1.0, 1e-12);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* ------------------------------------------------------------------------------- the command */

static void output_of(const char* arguments, char* text, size_t room)
{
    char command[3000];
    snprintf(command, sizeof command, "'%s' %s 2>&1", MOREAU_COMMAND, arguments);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(text, 1, room - 1, pipe);
    text[n] = '\0';
    pclose(pipe);
}

static void contains(const char* text, const char* part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

static void the_command_reports_the_rank_of_loops(void** state)
{
    (void)state;
    static char text[100000];
    output_of("robot '" MOREAU_SOURCE_DIR "/scenes/robots/five_bar_leg.urdf' --loop foot_left,foot_right", text,
              sizeof text);
    contains(text, "3 equations of rank 2 (1 redundant), 4 degrees of freedom left");
    contains(text, "they close when the joints move");
    output_of("robot '" MOREAU_SOURCE_DIR "/scenes/robots/five_bar_leg.urdf' --loop foot_left,world,weld --json", text,
              sizeof text);
    contains(text, "\"equations\": 6");
    contains(text, "\"rank\": 3"); /* in its plane it can be placed anywhere, and turned */
    output_of("robot '" MOREAU_SOURCE_DIR "/scenes/robots/five_bar_leg.urdf' --loop foot_left,hand", text, sizeof text);
    contains(text, "no link 'hand'");
    output_of("robot '" MOREAU_SOURCE_DIR "/scenes/robots/five_bar_leg.urdf' --loop foot_left", text, sizeof text);
    contains(text, "two links");
    output_of("run '" MOREAU_SOURCE_DIR "/scenes/four_bar.yaml' --steps 3", text, sizeof text);
    contains(text, "20 equations of rank 17 (3 redundant), 1 degrees of freedom");
    output_of("run '" MOREAU_SOURCE_DIR "/scenes/four_bar.yaml' --steps 3 --json", text, sizeof text);
    contains(text, "\"rank\": 17");
}

static void the_command_counts_the_loops_of_a_delta_robot(void** state)
{
    (void)state;
    static char text[100000];
    FILE* there = fopen(ROBOTS "/closed_chain/robot_delta/robot.urdf", "r");
    if (!there) {
        printf("SKIP the delta robot\n");
        skip();
    }
    fclose(there);
    output_of("robot '" ROBOTS "/closed_chain/robot_delta/robot.urdf' --base fixed --loop "
              "closedloop1_A,closedloop1_B,weld --loop closedloop2_B,closedloop2_A,weld "
              "--loop closedloop3_A,closedloop3_B,weld",
              text, sizeof text);
    contains(text, "closed: 18 equations of rank 9 (9 redundant), 5 degrees of freedom left");
    contains(text, "very light");
}

/* ------------------------------------------------------------------------- loops and contact */

static void a_five_bar_leg_stands_on_the_ground(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_file("five_bar_leg", &scene);
    check_rank(w, 3, 2, 4);
    advance(w, 1.0);
    double early[6], late[6], nu[6];
    mor_world_robot_state(w, 0, NULL, early, NULL);
    advance(w, 3.0);
    mor_world_robot_state(w, 0, NULL, late, nu);
    for (int i = 0; i < 6; i++) assert_near(late[i], early[i], 1e-9); /* it neither slips nor sags */
    for (int i = 0; i < 6; i++) assert_near(nu[i], 0.0, 1e-9);
    int contacts;
    const mor_contact* c = mor_world_contacts(w, &contacts);
    double up = 0.0, along = 0.0;
    for (int i = 0; i < contacts; i++) up += fabs(c[i].impulse.z), along += fabs(c[i].impulse.x);
    assert_near(up / 0.002, 2.6 * 9.3963, 1e-6);
    assert_near(along / 0.002, 3.1 * 2.8188, 1e-6);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void a_five_bar_leg_slides_as_coulomb_says(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_file("five_bar_leg_slide", &scene);
    double before[6], after[6];
    advance(w, 0.5);
    mor_world_robot_state(w, 0, NULL, NULL, before);
    advance(w, 1.5);
    mor_world_robot_state(w, 0, NULL, NULL, after);
    assert_near(after[0] - before[0], 5.886 - 0.5 * 7.848 * 2.6 / 3.1, 1e-6);
    for (int i = 1; i < 6; i++) assert_near(after[i], 0.0, 1e-8);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_delta_robot_moves_and_stays_closed),
        cmocka_unit_test(the_five_bar_linkage_moves_and_stays_closed),
        cmocka_unit_test(the_four_legs_of_minitaur_move_and_stay_closed),
        cmocka_unit_test(bricards_six_bar_moves_though_it_should_not),
        cmocka_unit_test(the_stewart_platform_rises_as_its_legs_say),
        cmocka_unit_test(the_command_reports_the_rank_of_loops),
        cmocka_unit_test(the_command_counts_the_loops_of_a_delta_robot),
        cmocka_unit_test(a_five_bar_leg_stands_on_the_ground),
        cmocka_unit_test(a_five_bar_leg_slides_as_coulomb_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
