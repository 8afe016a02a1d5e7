/* A running scene (serve/live.h) that is pulled, changed and broken: closed forms of the spring that pulls, limits, and
 * what is said when a step cannot be taken. Its wire is tested in test_server.c, its edits in test_edits.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "serve/live.h"

static mor_scene* scene;
static uint64_t seen; /* number of the last frame looked at */

static mor_live* start(const char* text)
{
    mor_error error = { 0 };
    seen = 0;
    scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    mor_live* live = scene ? mor_live_create(scene, &(mor_live_options){ .threads = 1, .paused = true }, &error) : NULL;
    if (!live) fail_msg("%s", error.text);
    return live;
}

static void stop(mor_live* live)
{
    mor_live_destroy(live);
    mor_scene_destroy(scene);
}

static void say(mor_live* live, const char* text) { mor_live_command(live, text, strlen(text)); }

/* Waits until the note or another text of the state says this. */
static mor_live_state wait_for_note(mor_live* live, const char* text)
{
    for (int i = 0; i < 12000; i++) {
        mor_live_state s = mor_live_get_state(live);
        if (strstr(s.note, text)) return s;
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    }
    fail_msg("it never says '%s' but '%s'", text, mor_live_get_state(live).note);
    return mor_live_get_state(live);
}

/* One step by hand, and where body 0 is then. */
static void step_to(mor_live* live, int wanted, float position[3])
{
    say(live, "step");
    for (int i = 0; i < 12000; i++) {
        mor_bytes bytes = { 0 };
        int32_t number = -1;
        seen = mor_live_frame(live, seen, &bytes);
        if (bytes.size > 0) {
            memcpy(&number, bytes.data + 24, sizeof number);
            memcpy(position, bytes.data + 32 + 4 * MOR_VIEW_SCALARS, 3 * sizeof *position);
        }
        mor_bytes_free(&bytes);
        if (number == wanted) return;
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    }
    fail_msg("no step %d", wanted);
}

/* From rest, without gravity, the first step moves by h^2 w^2 (target - x), w = 8 rad/s, whatever the mass; in the
 * plane the third number of the target has no effect. */
static void a_pulled_body_moves_as_its_spring_says(void** state)
{
    (void)state;
    static const char* const scenes[] = {
        "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.01, end: 1 }\nbodies:\n"
        "  - { name: stone, shape: { box: [1, 1, 1] }, mass: 3 }\n",
        "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: 0.01, end: 1 }\nbodies:\n"
        "  - { name: stone, shape: { disc: 1 }, mass: 7 }\n",
    };
    for (int k = 0; k < 2; k++) {
        mor_live* live = start(scenes[k]);
        float x[3];
        say(live, "drag 0 0 0 0 1 2 3");
        step_to(live, 1, x);
        const double move = 1e-4 * 64.0;
        assert_float_equal(x[0], move, 1e-7);
        assert_float_equal(x[1], 2 * move, 1e-7);
        assert_float_equal(x[2], k == 0 ? 3 * move : 0.0, 1e-7);
        say(live, "drop"); /* and then it flies on */
        step_to(live, 2, x);
        assert_float_equal(x[1], 4 * move, 1e-7);
        stop(live);
    }
}

static void what_stands_fast_cannot_be_pulled(void** state)
{
    (void)state;
    mor_live* live = start("moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n"
                           "  - { name: post, shape: { box: [1, 1, 1] }, fixed: true }\n");
    float x[3];
    say(live, "drag 0 0 0 0 1 2 3");
    step_to(live, 1, x);
    for (int i = 0; i < 3; i++) assert_float_equal(x[i], 0.0, 0.0);
    stop(live);
}

/* Gravity of strength g goes down, also where the scene's goes up or sideways in the plane. */
static void gravity_set_by_hand_goes_down(void** state)
{
    (void)state;
    mor_live* live = start("moreau: 1\ngravity: [0, 0, 5]\ntime: { step: 0.1, end: 1 }\nbodies:\n"
                           "  - { name: ball, shape: { sphere: 1 } }\n");
    assert_float_equal(mor_live_get_state(live).gravity, -5.0, 1e-12); /* upwards */
    float x[3];
    say(live, "gravity 3");
    step_to(live, 1, x);
    assert_float_equal(x[2], -3.0 * 0.01, 1e-6);
    assert_float_equal(mor_live_get_state(live).gravity, 3.0, 1e-12);
    say(live, "gravity -2");
    say(live, "gravity 1e4"); /* too strong: ignored */
    say(live, "reset");
    step_to(live, 1, x);
    assert_float_equal(x[2], 2.0 * 0.01, 1e-6);
    stop(live);
    live = start("moreau: 1\ndimension: 2\ngravity: [0, 4]\ntime: { step: 0.1, end: 1 }\nbodies:\n"
                 "  - { name: ball, shape: { disc: 1 } }\n");
    assert_float_equal(mor_live_get_state(live).gravity, -4.0, 1e-12);
    say(live, "gravity 3");
    step_to(live, 1, x);
    assert_float_equal(x[1], -3.0 * 0.01, 1e-6);
    stop(live);
}

static void changes_are_kept_up_to_a_limit(void** state)
{
    (void)state;
    mor_live* live =
        start("moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n  - { name: ball, shape: { sphere: 1 } }\n"
              "  - { name: other, shape: { sphere: 1 }, position: [5, 0, 0] }\n");
    char text[64];
    for (int i = 0; i < 519; i++) { /* another body each time, so that none replaces the one before */
        snprintf(text, sizeof text, "mass %d %d %s", i % 2, 1 + i, i % 2 ? "other" : "ball");
        say(live, text);
        while (i % 40 == 39 && mor_live_get_state(live).edits < (i + 1 < 500 ? i + 1 : 500))
            nanosleep(&(struct timespec){ 0, 1000000 }, NULL); /* 64 commands may wait */
    }
    assert_int_equal(wait_for_note(live, "Too many changes").edits, 500);
    say(live, "original");
    say(live, "mass 0 3 ball");
    say(live, "mass 0 4 ball"); /* takes the place of the one before */
    say(live, "mass 0 -1 ball");
    assert_int_equal(wait_for_note(live, "out of range").edits, 1);
    stop(live);
}

static void a_step_that_cannot_be_taken_stops_the_run_and_says_why(void** state)
{
    (void)state;
    mor_live* live = start(
        "moreau: 1\ntime: { step: 0.01, end: 1 }\n"
        "method: { formulation: st, solver: { name: pgs, max_iter: 1 }, on_failure: stop }\n"
        "bodies:\n  - { name: floor, shape: plane, fixed: true }\n"
        "  - { name: a, shape: { box: [1, 1, 1] }, position: [0, 0, 0.5], friction: 0.5, velocity: [1, 0.3, 0] }\n"
        "  - { name: b, shape: { box: [1, 1, 1] }, position: [0.2, 0, 1.5], friction: 0.5 }\n");
    say(live, "run");
    mor_live_state s = wait_for_note(live, "Stopped at step ");
    assert_false(s.running);
    assert_non_null(strstr(s.note, "Change the method or reset."));
    stop(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pulled_body_moves_as_its_spring_says),
        cmocka_unit_test(what_stands_fast_cannot_be_pulled),
        cmocka_unit_test(gravity_set_by_hand_goes_down),
        cmocka_unit_test(changes_are_kept_up_to_a_limit),
        cmocka_unit_test(a_step_that_cannot_be_taken_stops_the_run_and_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
