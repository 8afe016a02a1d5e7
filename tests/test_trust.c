/* moreau trust on motions whose answer is known: a block that slides, one that is about to, a double pendulum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/command.h"
#include "lab/trust_look.h"

static mor_trust trust;
static double most_seconds; /* of a run; 0: any */
static double within;       /* m; 0: the default */

static void look_at(const char* name, const char* text, const char* const* set)
{
    mor_error error = { 0 };
    FILE* out = fopen(command_at(name), "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
    mor_trust_options options = mor_trust_options_default();
    options.jobs = 2;
    options.set = set;
    options.goal = within;
    if (most_seconds > 0.0) options.time_limit = most_seconds;
    if (mor_trust_make(&trust, command_at(name), &options, &error)) fail_msg("%s", error.text);
}

static const mor_trust_run* run_of(mor_trust_kind kind, double value)
{
    for (int i = 0; i < trust.run_count; i++)
        if (trust.runs[i].kind == kind && fabs(trust.runs[i].value - value) <= 1e-9 * value) return &trust.runs[i];
    fail_msg("no run with %g", value);
    return NULL;
}

static void expect(const char* part)
{
    if (!strstr(trust.sentence, part)) fail_msg("'%s' is not in: %s", part, trust.sentence);
}

/* A slope of 30 degrees, as gravity that leans. */
static const char slope[] =
    "moreau: 1\ntime: { step: 0.01, end: 2 }\ngravity: [4.905, 0, -8.495709211125343]\n"
    "materials: { wood: { friction: 0.4 } }\nbodies:\n"
    "  - { name: floor, fixed: true, material: wood, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } } }\n"
    "  - { name: box, shape: { box: [0.5, 0.5, 0.2] }, material: wood, position: [0, 0, 0.1] }\n";

/* s = (g sin a - mu g cos a) t^2 / 2: everything is known, and nothing is uncertain. */
static void a_sliding_block_is_trusted_to_the_end(void** state)
{
    (void)state;
    look_at("slide.yaml", slope, NULL);
    double way = 0.5 * (4.905 - 0.4 * 8.495709211125343) * 4.0;
    assert_true(fabs(trust.way - way) < 0.02 * way);
    assert_true(trust.horizon == trust.end && isnan(trust.growth));
    assert_true(trust.largest_step >= trust.step);
    /* 5 % of friction: 0.05 mu g cos a t^2 / 2 */
    assert_true(fabs(run_of(MOR_TRUST_FRICTION, 0.95)->error_at[MOR_TRUST_SAMPLES] - 0.05 * 0.4 * 8.4957 * 2.0) < 0.01);
    assert_true(run_of(MOR_TRUST_TOLERANCE, 1e-8)->agrees_until == trust.end);
    /* velocities off by dv at the start are off by dv at the end */
    const mor_trust_level* l = &trust.levels[1];
    double off = l->spread[MOR_TRUST_SAMPLES] / (l->size * trust.speed * trust.end);
    assert_true(off > 0.3 && off < 5.0); /* the largest of eight normal numbers, in two directions */
    for (int i = 0; i < trust.level_count; i++) assert_int_equal(trust.levels[i].other, 0);
    expect("until t = 2 s");
    expect("small changes stay small");
    mor_trust_free(&trust);
}

/* Nothing is known of runs that were cut off, and nothing is said of them. */
static void a_run_without_an_end_is_not_called_chaotic(void** state)
{
    (void)state;
    static const char* const set[] = { "time.end=20000", NULL };
    most_seconds = 0.05;
    look_at("endless.yaml", slope, set);
    most_seconds = 0.0;
    expect("The run of the scene itself has no end ('time_limit'): nothing can be compared.");
    assert_null(strstr(trust.sentence, "chaotic"));
    mor_trust_free(&trust);
}

/* mu = 0.6 is 4 % more than tan 30: it sticks, and with 95 % of it the block slides away. */
static void a_block_that_is_about_to_slide_is_told(void** state)
{
    (void)state;
    const char* set[] = { "materials.wood.friction=0.6", "bodies.box.position=[0, 0, 0.1]", NULL };
    look_at("stick.yaml", slope, set);
    assert_int_equal(run_of(MOR_TRUST_FRICTION, 1.05)->outcome, 0);
    assert_int_not_equal(run_of(MOR_TRUST_FRICTION, 0.95)->outcome, 0);
    assert_int_not_equal(run_of(MOR_TRUST_FRICTION, 0.8)->outcome, 0);
    assert_true(trust.horizon == trust.end);
    expect("With 95 % of the friction it ends otherwise: 'box' moves on");
    mor_trust_free(&trust);
}

/* A peg in a slot, pushed with F at the end of an arm e: two corners, one l above the other, push with N = F e / l
 * against the walls, and 2 mu N holds F + m g if mu > (F + m g) l / (2 F e) = 0.63 for l = 0.6 m. */
static const char slot[] =
    "moreau: 1\ndimension: 2\ntime: { step: 0.002, end: 1 }\nmaterials: { steel: { friction: 0.75 } }\nbodies:\n"
    "  - { name: left, fixed: true, material: steel, shape: { box: [1, 8] }, position: [-0.605, -4] }\n"
    "  - { name: right, fixed: true, material: steel, shape: { box: [1, 8] }, position: [0.605, -4] }\n"
    "  - { name: peg, shape: { box: [0.2, 0.6] }, mass: 0.1, material: steel, position: [0, -0.5] }\n"
    "forces: [ { body: peg, force: [0, -20], at: [0.5, 0.3] } ]\n";

static void a_peg_that_jams_is_told(void** state)
{
    (void)state;
    look_at("slot.yaml", slot, NULL);
    assert_int_equal(run_of(MOR_TRUST_FRICTION, 1.2)->outcome, 0);
    assert_int_equal(run_of(MOR_TRUST_FRICTION, 0.95)->outcome, 0);    /* 0.7125 */
    assert_int_not_equal(run_of(MOR_TRUST_FRICTION, 0.8)->outcome, 0); /* 0.6 */
    assert_true(trust.largest_step >= trust.step && trust.horizon == trust.end);
    expect("With 80 % of the friction it ends otherwise: 'peg' moves on (does not jam or stick)");
    mor_trust_free(&trust);
}

/* A domino that turns about its edge falls if m g (r - H/2) < I w^2/2, r to the edge, I about it. Near that speed some
 * of the runs that begin almost alike fall and some do not, and the sentence tells of it. */
static void a_domino_that_may_fall_is_told(void** state)
{
    (void)state;
    const double t = 0.03, H = 0.24, r = sqrt(t * t + H * H) / 2.0;
    double critical = sqrt(2.0 * 9.81 * (r - H / 2.0) / ((t * t + H * H) / 12.0 + r * r));
    bool told = false;
    for (int k = 0; k < 12 && !told; k++) {
        double w = critical * (0.98 + 0.005 * k);
        char text[600], says[80];
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.002, end: 1.2 }\nmaterials: { m: { friction: 0.6 } }\nbodies:\n"
                 "  - { name: floor, shape: plane, fixed: true, material: m }\n"
                 "  - { name: tall, shape: { box: [%g, 0.08, %g] }, material: m, position: [0, 0, %g], "
                 "angular_velocity: [0, %.17g, 0], velocity: [%.17g, 0, %.17g] }\n",
                 t, H, H / 2.0, w, w * H / 2.0, w * t / 2.0);
        look_at("domino.yaml", text, NULL);
        const mor_trust_body* tall = &trust.bodies[0];
        for (int i = 0; i < trust.body_count; i++)
            if (strcmp(trust.bodies[i].name, "tall") == 0) tall = &trust.bodies[i];
        if (tall->turned > 0 && tall->turned < trust.members) {
            snprintf(says, sizeof says, "end otherwise, in 2 different ways; 'tall' turns over in %d", tall->turned);
            expect(says);
            told = true;
        }
        mor_trust_free(&trust);
    }
    assert_true(told);
}

static void domino_text(double w, char* text, size_t size)
{
    const double t = 0.04, H = 0.3;
    snprintf(text, size,
             "moreau: 1\ntime: { step: 0.002, end: 1.5 }\nmaterials: { m: { friction: 0.7 } }\nbodies:\n"
             "  - { name: floor, shape: plane, fixed: true, material: m }\n"
             "  - { name: tall, shape: { box: [%g, 0.1, %g] }, material: m, position: [0, 0, %g], "
             "angular_velocity: [0, %.17g, 0], velocity: [%.17g, 0, %.17g] }\n",
             t, H, H / 2.0, w, w * H / 2.0, w * t / 2.0);
}

static bool domino_falls(double w)
{
    char text[600];
    mor_error error = { 0 };
    domino_text(w, text, sizeof text);
    mor_scene* scene = mor_scene_parse(text, strlen(text), "domino", NULL, NULL, &error);
    mor_world* world = mor_scene_build(scene, 1, &error);
    assert_non_null(world);
    for (int k = 0; k < 750; k++) assert_int_equal(mor_world_step(world, NULL, &error), MOR_OK);
    double height = mor_body_get_state(world, mor_world_body(world, 1)).com.z;
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return height < 0.1;
}

/* A domino pushed so that a millionth of its speed decides whether it falls, looked at from so far that its place is
 * the same either way: which way it ends is chance, and that is told although the motion "agrees" to the end. */
static void an_end_that_a_millionth_decides_is_chance(void** state)
{
    (void)state;
    double low = 0.5, high = 3.0;
    assert_false(domino_falls(low));
    assert_true(domino_falls(high));
    for (int k = 0; k < 26; k++) {
        double middle = 0.5 * (low + high);
        if (domino_falls(middle)) high = middle;
        else low = middle;
    }
    char text[600];
    domino_text(0.5 * (low + high), text, sizeof text);
    within = 1.0;
    look_at("chance.yaml", text, NULL);
    within = 0.0;
    assert_true(trust.horizon == trust.end);
    expect("already change how it ends, in ");
    mor_trust_free(&trust);
}

/* A coin that spins on its face, and a ball that rolls, have not turned over, wherever they look at the end. */
static void a_spin_about_the_vertical_is_no_toppling(void** state)
{
    (void)state;
    look_at("spin.yaml",
            "moreau: 1\ntime: { step: 0.004, end: 0.8 }\nmaterials: { m: { friction: 0.25 } }\nbodies:\n"
            "  - { name: floor, shape: plane, fixed: true, material: m }\n"
            "  - { name: plate, shape: { box: [0.3, 0.2, 0.03] }, material: m, position: [0, 0, 0.015], "
            "angular_velocity: [0, 0, 9] }\n"
            "  - { name: ball, shape: { sphere: 0.05 }, material: m, position: [1, 0, 0.05], velocity: [0.4, 0, 0] }\n"
            "  - { name: can, shape: { cylinder: { radius: 0.05, length: 0.2 } }, material: m, position: [2, 0, 0.05], "
            "orientation: { axis: [1, 0, 0], angle: 90 }, velocity: [0.3, 0, 0] }\n",
            NULL);
    for (int i = 0; i < trust.body_count; i++) assert_true(trust.bodies[i].turned == 0 && !trust.bodies[i].turns);
    assert_null(strstr(trust.sentence, "topple"));
    mor_trust_free(&trust);
}

/* A box in the air that spins about its middle axis and turns over again and again: its centre stays, and its corners
 * must agree all the same. Expected: two worlds, stepped by hand. */
static void a_motion_in_place_is_compared_too(void** state)
{
    (void)state;
    static const char text[] =
        "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.1, end: 60 }\nbodies:\n"
        "  - { name: box, shape: { box: [0.8, 1.2, 0.3] }, mass: 3, inertia: [2, 3, 4.4, 0, 0, 0], "
        "angular_velocity: [0.03, 2, 0.02] }\n";
    look_at("tumble.yaml", text, NULL);
    mor_vec3 corner[2][2]; /* run; along x, along z */
    for (int k = 0; k < 2; k++) {
        mor_error error = { 0 };
        char step[40];
        snprintf(step, sizeof step, "time.step=%g", k ? 0.4 : 0.0125);
        const char* set[] = { step, NULL };
        mor_scene* scene = mor_scene_load(command_at("tumble.yaml"), set, NULL, &error);
        mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
        if (!w) fail_msg("%s", error.text);
        while (!mor_world_reached(w, 60.0)) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
        mor_quat q = mor_body_get_state(w, mor_world_find_body(w, "box")).pose.rotation;
        corner[k][0] = mor_rotate(q, mor_v3(0.6, 0, 0)), corner[k][1] = mor_rotate(q, mor_v3(0, 0, 0.6));
        mor_world_destroy(w), mor_scene_destroy(scene);
    }
    double expected =
        fmax(mor_norm(mor_sub(corner[1][0], corner[0][0])), mor_norm(mor_sub(corner[1][1], corner[0][1])));
    const mor_trust_run* coarse = run_of(MOR_TRUST_STEP, 0.4);
    printf("  corners %.9g m apart, told %.9g, goal %g\n", expected, coarse->error_at[MOR_TRUST_SAMPLES], trust.goal);
    assert_true(expected > 1.5 * trust.goal && fabs(coarse->error_at[MOR_TRUST_SAMPLES] - expected) < 1e-9);
    assert_true(coarse->agrees_until < trust.end && trust.largest_step < 0.4 && trust.largest_step > 0.0);
    assert_true(trust.way > 1.1 && trust.way < 1.2001 && trust.speed > 1.0); /* 0.6 m from the middle: there and back */
    mor_trust_free(&trust);
}

static const char pendulum[] =
    "moreau: 1\ntime: { step: 0.005, end: 16 }\nbodies:\n"
    "  - { name: upper, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, 0, 0], collide: false }\n"
    "  - { name: lower, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [1.5, 0, 0], collide: false }\njoints:\n"
    "  - { name: a, type: revolute, bodies: [upper, world], point: [0, 0, 0], axis: [0, 1, 0] }\n"
    "  - { name: b, type: revolute, bodies: [lower, upper], point: [1, 0, 0], axis: [0, 1, 0] }\n";

/* A double pendulum that falls from the horizontal is chaotic: what differs by 1e-9 and by 1e-6 separates about
 * ln(1000) / growth apart in time. */
static void a_double_pendulum_is_chaotic(void** state)
{
    (void)state;
    look_at("pendulum.yaml", pendulum, NULL);
    assert_true(trust.horizon < trust.end && trust.horizon > 2.0);
    assert_true(trust.growth > 0.5 && trust.growth < 5.0);
    for (int i = 1; i < trust.level_count; i++) assert_true(trust.levels[i].until <= trust.levels[i - 1].until);
    double apart = trust.levels[0].until - trust.levels[1].until, expected = log(1000.0) / trust.growth;
    assert_true(trust.levels[0].until == trust.end || (apart > 0.2 * expected && apart < 3.0 * expected));
    assert_true(trust.levels[3].outcomes > 2);
    expect("the motion is chaotic: trust statistics only");
    mor_trust_free(&trust);
}

/* Touches of two records. */
static void sequences_are_compared_touch_by_touch(void** state)
{
    (void)state;
    size_t size = mor_trust_record_size(1);
    mor_trust_record *a = calloc(1, size), *b = calloc(1, size);
    a->step = b->step = 0.001;
    mor_trust_touch x[] = { { 0.5, 3 }, { 1.0, 3 }, { 1.2, 5 }, { 2.5, 3 } };
    memcpy(a->touches, x, sizeof x), memcpy(b->touches, x, sizeof x);
    a->touch_count = b->touch_count = 4;
    assert_true(mor_trust_sequence(a, b, 4.0) == 4.0);
    b->touches[1].time = 1.03; /* a hundredth of the time is nothing */
    assert_true(mor_trust_sequence(a, b, 4.0) == 4.0);
    b->touches[2].pair = 6; /* another pair: both are missing in the other run */
    assert_true(mor_trust_sequence(a, b, 4.0) == 1.2);
    b->touches[0].time = 0.7;
    assert_true(mor_trust_sequence(a, b, 4.0) == 0.5);
    free(a), free(b);
}

static void the_command_tells_it(void** state)
{
    (void)state;
    FILE* out = fopen(command_at("s.yaml"), "w");
    assert_non_null(out);
    fputs(slope, out);
    fclose(out);
    command_expect("$M trust s.yaml --time 0.5 --html t.html --json > t.json && grep -q '\"largest_step\"' t.json"
                   " && grep -c '<svg' t.html | grep -qx 5 && ! grep -qE 'src=|http:' t.html",
                   0, NULL);
    command_expect(
        "$M trust s.yaml --time 0.5 --quiet --jobs 1 > one; $M trust s.yaml --time 0.5 --quiet --jobs 3 > two;"
        " cmp one two && grep -q 'Steps up to' one",
        0, NULL);
    command_expect("$M trust", 2, "which scene");
    command_expect("$M trust nothing.yaml", 2, "nothing.yaml");
    command_expect("$M trust s.yaml --set bodies.box.mass=-1", 2, "mass");
    command_expect("$M trust s.yaml --set bodies.box.fixed=true", 2, "nothing in it can move");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sliding_block_is_trusted_to_the_end),
        cmocka_unit_test(a_run_without_an_end_is_not_called_chaotic),
        cmocka_unit_test(a_block_that_is_about_to_slide_is_told),
        cmocka_unit_test(a_peg_that_jams_is_told),
        cmocka_unit_test(a_domino_that_may_fall_is_told),
        cmocka_unit_test(an_end_that_a_millionth_decides_is_chance),
        cmocka_unit_test(a_spin_about_the_vertical_is_no_toppling),
        cmocka_unit_test(a_motion_in_place_is_compared_too),
        cmocka_unit_test(a_double_pendulum_is_chaotic),
        cmocka_unit_test(sequences_are_compared_touch_by_touch),
        cmocka_unit_test(the_command_tells_it),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
