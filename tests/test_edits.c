/* Changes of a running scene by hand (serve/edits.h) and joints put at a position (step/set_joint.h), against closed
 * forms. The page that sends them is tested in a browser: viewer/tests/edit.test.mjs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/joint_places.h"
#include "moreau/moreau.h"
#include "serve/edits.h"
#include "step/set_joint.h"

static mor_scene* scene;

static mor_world* build(const char* text)
{
    mor_error error = { 0 };
    mor_scene_destroy(scene);
    scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    mor_world* world = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!world) fail_msg("%s", error.text);
    return world;
}

static mor_world* load(const char* path)
{
    mor_error error = { 0 };
    mor_scene_destroy(scene);
    scene = mor_scene_load(path, NULL, NULL, &error);
    mor_world* world = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!world) fail_msg("%s", error.text);
    return world;
}

static void apply(mor_world* world, const char* command)
{
    mor_error error = { 0 };
    if (mor_edit_apply(world, command, &error)) fail_msg("%s: %s", command, error.text);
}

static void refused(mor_world* world, const char* command, const char* because)
{
    mor_error error = { 0 };
    assert_int_equal(mor_edit_apply(world, command, &error), MOR_BAD_INPUT);
    if (!strstr(error.text, because)) fail_msg("%s: %s", command, error.text);
}

static void steps(mor_world* world, int count)
{
    mor_error error = { 0 };
    for (int i = 0; i < count; i++)
        if (mor_world_step(world, NULL, &error)) fail_msg("%s", error.text);
}

static const char pair[] = "moreau: 1\n"
                           "gravity: [0, 0, -10]\n"
                           "time: { step: 0.01, end: 1 }\n"
                           "materials: { ice: { friction: 0.02 }, rough: { friction: 0.8 } }\n"
                           "bodies:\n"
                           "  - { name: floor, shape: plane, fixed: true, material: rough }\n"
                           "  - { name: a box, shape: { box: [1, 1, 1] }, mass: 2, position: [0, 0, 0.5],\n"
                           "      velocity: [1, 0, 0], material: rough }\n"
                           "  - { name: ball, shape: { sphere: 0.5 }, mass: 3, position: [5, 0, 9],\n"
                           "      angular_velocity: [0, 2, 0] }\n";

/* Twice the mass: twice the inertia and momentum at the same velocity. */
static void a_mass_changes_its_inertia_in_proportion(void** state)
{
    (void)state;
    mor_world* w = build(pair);
    double before[6], after[6];
    mor_body_id ball = mor_world_body(w, 2);
    mor_mass old = mor_body_mass(w, ball);
    double energy = mor_world_kinetic_energy(w);
    mor_world_momentum(w, before);
    apply(w, "mass 2 7.5 ball");
    mor_world_momentum(w, after);
    mor_mass now = mor_body_mass(w, ball);
    assert_float_equal(now.mass, 7.5, 0);
    for (int i = 0; i < 3; i++) assert_float_equal(now.inertia.m[i][i], 2.5 * old.inertia.m[i][i], 1e-14);
    assert_float_equal(mor_body_get_state(w, ball).angular_velocity.y, 2.0, 1e-15);
    /* spin energy of a ball: 1/2 2/5 m r^2 w^2 = 0.2 m at r = 0.5, w = 2; here 0.6 before, 1.5 after */
    assert_float_equal(mor_world_kinetic_energy(w) - energy, 0.2 * 7.5 - 0.2 * 3.0, 1e-12);
    assert_float_equal(after[0], before[0], 1e-14);
    steps(w, 20); /* it spins on as before */
    assert_float_equal(mor_body_get_state(w, ball).angular_velocity.y, 2.0, 1e-12);
    refused(w, "mass 2 0 ball", "out of range");
    refused(w, "mass 2 nan ball", "out of range");
    refused(w, "mass 0 1 floor", "cannot be changed");
    refused(w, "mass 1 1 ball", "not 'ball' any more");
    refused(w, "mass 99 1 ball", "not 'ball' any more");
    mor_world_destroy(w);
}

/* A box that slides stops by mu g: after 20 steps of 0.01 s it is slower by 0.2 mu g. */
static void friction_of_one_body_is_its_own(void** state)
{
    (void)state;
    mor_rng rng = { 5 };
    for (int i = 0; i < 5; i++) {
        mor_world* w = build(pair);
        double mu = 0.05 + 0.3 * mor_rng_uniform(&rng);
        char text[64];
        apply(w, "friction_of 1 0.9 a box");
        snprintf(text, sizeof text, "friction_of 1 %.17g a box", mu);
        apply(w, text);
        assert_float_equal(mor_edit_friction(w, 1), mu, 1e-15);
        assert_float_equal(mor_edit_friction(w, 0), 0.8, 0); /* the floor keeps its own */
        steps(w, 20);
        assert_float_equal(mor_body_get_state(w, mor_world_body(w, 1)).velocity.x, 1.0 - 0.2 * mu * 10.0, 1e-6);
        apply(w, "friction 0");
        double v = mor_body_get_state(w, mor_world_body(w, 1)).velocity.x;
        steps(w, 20);
        assert_float_equal(mor_body_get_state(w, mor_world_body(w, 1)).velocity.x, v, 1e-9);
        mor_world_destroy(w);
    }
}

static void bodies_come_and_go(void** state)
{
    (void)state;
    mor_world* w = build(pair);
    apply(w, "remove 1 a box");
    assert_int_equal(mor_world_body_count(w), 2);
    assert_int_equal(mor_world_find_body(w, "a box").index1, 0);
    refused(w, "remove 1 a box", "any more");
    apply(w, "add box 1 2 3 0 0 0 4");
    apply(w, "add capsule 0.1 0.5 1 2 1 0 4");
    apply(w, "add cylinder 0.1 0.5 1 2 2 0 4");
    apply(w, "add sphere 0.1 1 1 2 3 0 4");
    assert_int_equal(mor_world_body_count(w), 6);
    assert_float_equal(mor_body_mass(w, mor_world_find_body(w, "added_1")).mass, 6000.0, 1e-9);
    refused(w, "add disc 0.1 1 1 2 3 0 4", "no shape 'disc'");
    refused(w, "add sphere -0.1 1 1 2 3 0 4", "");
    refused(w, "add sphere 0.1 1 1 2 3 0 1e300", "larger than");
    refused(w, "add sphere 0.1 1 1 2 3 0 nan", "larger than");
    refused(w, "add sphere 0.1", "expected");
    steps(w, 50); /* all fall: h g n (n + 1) / 2 h for n steps, from z = 4 */
    assert_float_equal(mor_body_get_state(w, mor_world_find_body(w, "added_4")).pose.position.z,
                       4.0 - 0.0001 * 10.0 * 50.0 * 51.0 / 2.0, 1e-9);
    mor_world_destroy(w);
}

static void steps_and_methods_are_checked(void** state)
{
    (void)state;
    mor_world* w = build(pair);
    apply(w, "step 0.003");
    assert_float_equal(mor_world_get_step(w), 0.003, 0);
    refused(w, "step 0", "out of range");
    refused(w, "step -1", "out of range");
    refused(w, "step nan", "out of range");
    refused(w, "step 5", "out of range");
    assert_float_equal(mor_world_get_step(w), 0.003, 0);
    apply(w, "collision features");
    refused(w, "collision nonsense", "nonsense");
    assert_string_equal(mor_world_method(w, "collision"), "features");
    apply(w, "epsilon 0.02");
    apply(w, "epsilon auto");
    refused(w, "epsilon -1", "");
    refused(w, "epsilon x", "");
    assert_true(mor_edit_replaces("step 1", "step 2"));
    assert_true(mor_edit_replaces("mass 1 2 a", "mass 1 3 a"));
    assert_false(mor_edit_replaces("mass 1 2 a", "mass 2 3 a"));
    assert_false(mor_edit_replaces("remove 1 a", "remove 1 b"));
    assert_int_equal(mor_edit_kind("step"), MOR_EDIT_NONE);
    assert_int_equal(mor_edit_kind("run"), MOR_EDIT_NONE);
    mor_world_destroy(w);
}

static int place_of(const mor_world* w, const char* name)
{
    int count = mor_joint_places(w, NULL), found = -1;
    mor_joint_place* places = calloc((size_t)count + 1, sizeof *places);
    mor_joint_places(w, places);
    for (int i = 0; i < count; i++)
        if (strcmp(places[i].name, name) == 0) found = i;
    free(places);
    if (found < 0) fail_msg("no joint %s", name);
    return found;
}

static double position(const mor_world* w, int place)
{
    double* q = calloc((size_t)mor_joint_places(w, NULL) + 1, sizeof *q);
    mor_joint_positions(w, q);
    double found = q[place];
    free(q);
    return found;
}

/* A pendulum of two rods in the plane y = 0: their ends follow from the two angles. */
static void joints_of_a_chain_are_set(void** state)
{
    (void)state;
    static const char text[] = "moreau: 1\n"
                               "time: { step: 0.002, end: 1 }\n"
                               "bodies:\n"
                               "  - { name: upper, shape: { box: [1, 0.1, 0.1] }, position: [0.5, 0, 1] }\n"
                               "  - { name: lower, shape: { box: [1, 0.1, 0.1] }, position: [1.5, 0, 1] }\n"
                               "joints:\n"
                               "  - { name: one, type: revolute, bodies: [upper, world], point: [0, 0, 1], "
                               "axis: [0, -1, 0] }\n"
                               "  - { name: two, type: revolute, bodies: [lower, upper], point: [1, 0, 1], "
                               "axis: [0, -1, 0], limits: [-2, 2] }\n";
    mor_rng rng = { 3 };
    for (int i = 0; i < 20; i++) {
        mor_world* w = build(text);
        mor_error error = { 0 };
        steps(w, i); /* it swings */
        double a = 6.0 * mor_rng_uniform(&rng) - 3.0, b = 4.0 * mor_rng_uniform(&rng) - 2.0;
        assert_int_equal(mor_joint_set_position(w, place_of(w, "one"), a, &error), MOR_OK);
        assert_int_equal(mor_joint_set_position(w, place_of(w, "two"), b, &error), MOR_OK);
        mor_body_state s = mor_body_get_state(w, mor_world_body(w, 1));
        assert_float_equal(s.com.x, cos(a) + 0.5 * cos(a + b), 1e-6);
        assert_float_equal(s.com.z, 1.0 + sin(a) + 0.5 * sin(a + b), 1e-6);
        assert_float_equal(position(w, place_of(w, "one")), a, 1e-9);
        assert_float_equal(position(w, place_of(w, "two")), b, 1e-9);
        assert_true(mor_world_joint_error(w) < 1e-6);
        assert_int_equal(mor_joint_set_position(w, place_of(w, "two"), 2.1, &error), MOR_BAD_INPUT);
        assert_int_equal(mor_joint_set_position(w, 7, 0.1, &error), MOR_BAD_INPUT);
        assert_int_equal(mor_joint_set_position(w, -1, 0.1, &error), MOR_BAD_INPUT);
        steps(w, 10);
        mor_world_destroy(w);
    }
}

/* The four-bar closes at every angle of its crank, |OA| = 0.3, |AB| = 1, |BC| = 0.8, |OC| = 1. */
static void a_loop_follows_its_crank(void** state)
{
    (void)state;
    mor_world* w = load(MOREAU_SOURCE_DIR "/scenes/mechanisms/four_bar.yaml");
    mor_error error = { 0 };
    int crank = place_of(w, "drive"), rocker = place_of(w, "rocker_pivot");
    for (int i = 0; i < 12; i++) {
        double q = 0.5 * i - 3.0;
        assert_int_equal(mor_joint_set_position(w, crank, q, &error), MOR_OK);
        assert_true(mor_world_joint_error(w) < 1e-8);
        mor_body_state s = mor_body_get_state(w, mor_world_body(w, 0));
        assert_float_equal(hypot(s.com.x, s.com.z), 0.15, 1e-7);
        assert_float_equal(position(w, crank), q, 0.05);
        /* the end of the rocker, 0.8 from its pivot, is 1 from the end of the crank */
        mor_body_state r = mor_body_get_state(w, mor_world_body(w, 2));
        double ax = 2.0 * s.com.x, az = 2.0 * s.com.z, bx = 1.0 + 2.0 * (r.com.x - 1.0), bz = 2.0 * r.com.z;
        assert_float_equal(hypot(bx - ax, bz - az), 1.0, 1e-7);
    }
    double before = position(w, rocker);
    assert_int_equal(mor_joint_set_position(w, rocker, before + 3.0, &error), MOR_BAD_INPUT); /* it cannot go round */
    assert_float_equal(position(w, rocker), before, 1e-12);
    steps(w, 5);
    mor_world_destroy(w);
}

/* A robot takes the position of one joint and keeps the others. */
static void joints_of_a_robot_are_set(void** state)
{
    (void)state;
    mor_world* w = load(MOREAU_SOURCE_DIR "/scenes/control/arm6_grasp.yaml");
    mor_error error = { 0 };
    const mor_robot_model* model = mor_world_robot_model(w, 0);
    int n = mor_robot_joint_count(model), count = mor_joint_places(w, NULL), set = 0;
    double before[64], after[64];
    for (int i = 0; i < count; i++) {
        double lower, upper, q;
        if (!mor_joint_limits(w, i, &lower, &upper)) continue;
        q = fmax(lower, fmin(upper, 0.1 + 0.05 * i));
        mor_world_robot_state(w, 0, NULL, before, NULL);
        assert_int_equal(mor_joint_set_position(w, i, q, &error), MOR_OK);
        mor_world_robot_state(w, 0, NULL, after, NULL);
        int changed = 0;
        for (int k = 0; k < n; k++) changed += before[k] != after[k];
        assert_true(changed <= 2); /* and the finger that mimics it */
        assert_float_equal(position(w, i), q, 1e-14);
        set++;
    }
    assert_true(set >= 6);
    refused(w, "remove 1 nobody", "any more");
    for (int b = 0; b < mor_world_body_count(w); b++) {
        char text[128];
        const char* name = mor_body_name(w, mor_world_body(w, b));
        if (!strchr(name, '/')) continue;
        snprintf(text, sizeof text, "remove %d %s", b, name);
        refused(w, text, "link of a robot");
        snprintf(text, sizeof text, "mass %d 2 %s", b, name);
        refused(w, text, "model of its robot");
    }
    mor_world_destroy(w);
}

static void incomplete_changes_are_told_their_form(void** state)
{
    (void)state;
    mor_world* w = build(pair);
    static const struct {
        const char *command, *form;
    } bad[] = {
        { "collision ", "collision NAME" },
        { "epsilon ", "epsilon METRES or auto" },
        { "step x", "step SECONDS" },
        { "friction x", "friction MU" },
        { "friction -1", "friction -1 is out of range" },
        { "friction 101", "friction 101 is out of range" },
        { "friction_of 1 0.3", "friction_of BODY MU NAME" },
        { "friction_of 1 x a box", "friction_of BODY MU NAME" },
        { "friction_of 1 nan a box", "friction nan is out of range" },
        { "friction_of 7 0.3 a box", "not 'a box' any more" },
        { "mass 1 2", "mass BODY KG NAME" },
        { "mass 1", "mass BODY KG NAME" },
        { "remove", "no such change" },
        { "remove x", "remove BODY NAME" },
        { "remove -1 ball", "not 'ball' any more" },
        { "joint 0", "joint NUMBER POSITION NAME" },
        { "joint 0 1 hinge", "joint 0 is not 'hinge' any more" },
        { "joint -1 1 hinge", "joint -1 is not 'hinge' any more" },
        { "add capsule -1 1 1 1 0 0 0", "" },
        { "add sphere 1 1 1 -1 0 0 0", "" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refused(w, bad[i].command, bad[i].form);
    assert_int_equal(mor_world_body_count(w), 3);
    mor_world_destroy(w);
}

/* Areas: 4 x 2 and pi/4; the box is a polygon there. */
static void bodies_are_added_in_the_plane(void** state)
{
    (void)state;
    mor_world* w = build("moreau: 1\ndimension: 2\ngravity: [0, -10]\ntime: { step: 0.01, end: 1 }\n"
                         "bodies: [ { name: first, shape: { disc: 1 } } ]\n");
    apply(w, "add box 4 2 9 6 1 2 3");
    apply(w, "add disc 0.5 0 0 2 5 6 7");
    refused(w, "add sphere 1 1 1 1 0 0 0", "disc or box");
    assert_int_equal(mor_world_body_count(w), 3);
    mor_body_id box = mor_world_body(w, 1), disc = mor_world_body(w, 2);
    assert_string_equal(mor_body_name(w, box), "added_1");
    assert_string_equal(mor_body_name(w, disc), "added_2");
    mor_vec3 x = mor_body_get_state(w, box).pose.position;
    assert_true(x.x == 1.0 && x.y == 2.0 && x.z == 0.0);
    /* about the centre: m (a^2 + b^2)/12 and m r^2/2 */
    assert_float_equal(mor_body_mass(w, box).inertia.m[2][2], 6.0 * (16.0 + 4.0) / 12.0, 1e-12);
    assert_float_equal(mor_body_mass(w, disc).inertia.m[2][2], 2.0 * 0.25 / 2.0, 1e-12);
    mor_world_destroy(w);
}

/* "step" and numbers of the same body are replaced, others are not. */
static void a_later_change_of_the_same_number_replaces_the_earlier(void** state)
{
    (void)state;
    assert_true(mor_edit_replaces("step 0.01", "step 0.02"));
    assert_true(mor_edit_replaces("mass 1 2 a", "mass 1 3 a"));
    assert_true(mor_edit_replaces("friction_of 1 2 a", "friction_of 1 3 a"));
    assert_false(mor_edit_replaces("mass 1 2 a", "mass 2 3 b"));
    assert_false(mor_edit_replaces("mass x", "mass 1 2 a"));
    assert_false(mor_edit_replaces("mass 1 2 a", "mass x"));
    assert_false(mor_edit_replaces("mass 1 2 a", "friction_of 1 3 a"));
    assert_false(mor_edit_replaces("remove 1 a", "remove 1 a"));
    assert_false(mor_edit_replaces("nothing", "nothing"));
}

/* Whatever is said, the world can be stepped afterwards. */
static void a_world_survives_noise(void** state)
{
    (void)state;
    static const char* const words[] = { "step",        "mass",    "remove", "add",       "joint",    "friction",
                                         "friction_of", "epsilon", "a box",  "ball",      "sphere",   "box",
                                         "nan",         "-1",      "1",      "0.5",       "1e308",    "0",
                                         "2",           "%n%s",    "auto",   "collision", "features", "added_1" };
    mor_rng rng = { 11 };
    for (int round = 0; round < 20; round++) {
        mor_world* w = build(pair);
        for (int i = 0; i < 300; i++) {
            char text[200];
            size_t n = 0;
            int count = 1 + (int)(9.0 * mor_rng_uniform(&rng));
            for (int k = 0; k < count; k++) {
                const char* word = words[(int)(mor_rng_uniform(&rng) * (double)(sizeof words / sizeof *words))];
                n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", k ? " " : "", word);
            }
            mor_edit_apply(w, text, NULL);
        }
        mor_world_set_step(w, 1e-3);
        mor_error error = { 0 };
        mor_world_step(w, NULL, &error);
        for (int b = 0; b < mor_world_body_count(w); b++)
            assert_true(isfinite(mor_body_get_state(w, mor_world_body(w, b)).pose.position.x));
        mor_world_destroy(w);
    }
}

static int end(void** state)
{
    (void)state;
    mor_scene_destroy(scene);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mass_changes_its_inertia_in_proportion),
        cmocka_unit_test(friction_of_one_body_is_its_own),
        cmocka_unit_test(bodies_come_and_go),
        cmocka_unit_test(steps_and_methods_are_checked),
        cmocka_unit_test(joints_of_a_chain_are_set),
        cmocka_unit_test(a_loop_follows_its_crank),
        cmocka_unit_test(joints_of_a_robot_are_set),
        cmocka_unit_test(incomplete_changes_are_told_their_form),
        cmocka_unit_test(bodies_are_added_in_the_plane),
        cmocka_unit_test(a_later_change_of_the_same_number_replaces_the_earlier),
        cmocka_unit_test(a_world_survives_noise),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
