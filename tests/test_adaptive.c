/* Variable steps: the error at the end falls with the tolerance, the steps are the same on every run, instants that
 * matter are met. Expected values: closed forms of the bouncing and of the rolling sphere (scenes s8_bounce, s8_roll);
 * for the chain of s7, which has none, a run with a fixed step of 1e-5 s. */
#include "common/random_scenes.h"
#include "common/scenes.h"
#include "common/worlds.h"
#include "io/recording/recording.h"
#include "moreau/lab.h"
#include "moreau/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double tolerances[] = { 1e-3, 1e-4, 1e-5, 1e-6, 1e-7 };
#define EXACT 1e-9 /* m: where a step is exact the tolerance cannot show */
enum { TOLERANCES = sizeof tolerances / sizeof *tolerances };

static int variations(void) { return getenv("MOREAU_LONG") ? 20 : 4; }

/* A scene of the tree with variable steps. */
static mor_world* load(const char* name, double tolerance, mor_scene** scene)
{
    char text[64];
    mor_error error = { 0 };
    snprintf(text, sizeof text, "time.tolerance=%g", tolerance);
    const char* sets[] = { "time.step=adaptive", text, NULL };
    *scene = mor_scene_load(scene_path(name), sets, NULL, &error);
    mor_world* w = *scene ? mor_scene_build(*scene, 1, &error) : NULL;
    if (!w) fail_msg("%s", error.text);
    return w;
}

static mor_run_summary advance(mor_world* w, double end)
{
    mor_error error = { 0 };
    mor_run* run = mor_run_create(w, 1000, &error);
    assert_non_null(run);
    if (mor_run_advance_to(run, end, &error)) fail_msg("%s", error.text);
    mor_run_summary s = mor_run_summarise(run);
    mor_run_destroy(run);
    return s;
}

static mor_run_summary run_to(const char* name, double tolerance, double end, mor_body_state* last)
{
    mor_scene* scene;
    mor_world* w = load(name, tolerance, &scene);
    mor_run_summary s = advance(w, end);
    test_near(mor_world_time(w), end, 1e-12, "the end is met");
    *last = test_state(w, mor_world_body(w, mor_world_body_count(w) - 1));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return s;
}

/* Runs at all tolerances; the error must fall at least by `falls` over the four decades, and with every second one. */
static void check_convergence(const char* name, double end, mor_vec3 expected, double falls)
{
    double error[TOLERANCES];
    for (int k = 0; k < TOLERANCES; k++) {
        mor_body_state a, b;
        mor_run_summary s = run_to(name, tolerances[k], end, &a);
        assert_int_equal(s.failures, 0);
        assert_int_equal(s.missed, 0);
        error[k] = mor_norm(mor_sub(a.com, expected));
        if (k < 3) assert_true(run_to(name, tolerances[k], end, &b).state_hash == s.state_hash);
        if (k > 1 && !(error[k] < error[k - 2] || error[k] < EXACT))
            fail_msg("%s: error %g at tolerance %g, %g at %g", name, error[k], tolerances[k], error[k - 2],
                     tolerances[k - 2]);
    }
    if (!(error[TOLERANCES - 1] * falls < error[0] || error[0] < EXACT))
        fail_msg("%s: from %g to %g", name, error[0], error[TOLERANCES - 1]);
}

/* Height of the sphere of s8_bounce: falls 1 m, keeps half of its speed at each impact. */
static double bounce(double t)
{
    double g = 9.81, at = sqrt(2.0 / g), v = sqrt(2.0 * g);
    if (t < at) return 1.5 - 0.5 * g * t * t;
    for (;;) {
        v *= 0.5;
        if (t < at + 2.0 * v / g) return 0.5 + v * (t - at) - 0.5 * g * (t - at) * (t - at);
        at += 2.0 * v / g;
    }
}

static void the_error_of_a_bouncing_sphere_falls_with_the_tolerance(void** state)
{
    (void)state;
    check_convergence("s8_bounce", 0.8, mor_v3(0, 0, bounce(0.8)), 30.0);
    check_convergence("s8_bounce", 1.05, mor_v3(0, 0, bounce(1.05)), 30.0);
}

static void the_error_of_a_rolling_sphere_falls_with_the_tolerance(void** state)
{
    (void)state;
    double slides = 2.0 / 7.0 * 2.0 / (0.5 * 9.81), x = 2.0 * slides - 0.25 * 9.81 * slides * slides;
    check_convergence("s8_roll", 2.0, mor_v3(x + 10.0 / 7.0 * (2.0 - slides), 0, 0.5), 50.0);
}

static void the_error_of_a_falling_chain_falls_with_the_tolerance(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_file("s7", &scene);
    mor_world_set_step(w, 1e-5);
    advance(w, 0.6);
    mor_vec3 expected = test_state(w, mor_world_body(w, mor_world_body_count(w) - 1)).com;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    check_convergence("s7", 0.6, expected, 50.0);
}

/* ------------------------------------------------------------------------------- drawn at random */

/* The world of a text with a place for `step: ...`; tolerance 0: a fixed step of 1e-3 s with gauss6. */
static mor_world* drawn_world(const char* text, double tolerance, mor_scene** scene)
{
    char whole[2048], time[96];
    snprintf(time, sizeof time,
             tolerance > 0.0 ? "time: { step: adaptive, tolerance: %g }"
                             : "time: { step: 0.001 }\nmethod: { integrator: gauss6 }",
             tolerance);
    snprintf(whole, sizeof whole, "moreau: 1\n%s\n%s", time, text);
    return test_scene_text(whole, scene);
}

static mor_body_state drawn_end(const char* text, double tolerance, double end, mor_run_summary* s)
{
    mor_scene* scene;
    mor_world* w = drawn_world(text, tolerance, &scene);
    *s = advance(w, end);
    assert_int_equal(s->failures, 0);
    assert_int_equal(s->missed, 0);
    mor_body_state last = test_state(w, mor_world_body(w, mor_world_body_count(w) - 1));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return last;
}

/* The error must fall with every tolerance, and by `falls` over the four decades; the same run twice has one hash. */
static void check_drawn(const char* text, double end, mor_vec3 expected, double falls)
{
    double error[TOLERANCES];
    for (int k = 0; k < TOLERANCES; k++) {
        mor_run_summary s, again;
        error[k] = mor_norm(mor_sub(drawn_end(text, tolerances[k], end, &s).com, expected));
        if (k == 2) {
            drawn_end(text, tolerances[k], end, &again);
            assert_true(s.state_hash == again.state_hash && s.steps == again.steps);
        }
    }
    for (int k = 1; k < TOLERANCES; k++)
        if (!(error[k] < error[k - 1] || error[k] < EXACT))
            fail_msg("error %g at tolerance %g, %g at %g:\n%s", error[k], tolerances[k], error[k - 1],
                     tolerances[k - 1], text);
    if (!(error[TOLERANCES - 1] * falls < error[0] || error[0] < EXACT))
        fail_msg("from %g to %g:\n%s", error[0], error[TOLERANCES - 1], text);
}

/* The sphere of s8_bounce with another radius, height, speed, restitution and weight; the end is before the fourth
 * impact. */
static void bouncing_spheres_drawn_at_random(void** state)
{
    (void)state;
    uint64_t seed = 88;
    for (int i = 0; i < variations(); i++) {
        double r = test_random(&seed, 0.05, 1.0), fall = test_random(&seed, 0.2, 2.0), e = test_random(&seed, 0.3, 0.9);
        double g = test_random(&seed, 3.0, 20.0), v = test_random(&seed, -2.0, 2.0), m = exp(test_random(&seed, -5, 5));
        double u = sqrt(v * v + 2 * g * fall), end = (v + u) / g, part = test_random(&seed, 0.2, 0.8);
        u *= e;
        for (int n = (int)test_random(&seed, 0, 3); n > 0; n--, u *= e) end += 2 * u / g;
        double t = part * 2 * u / g; /* since the last impact, which it left with u */
        char text[1024];
        snprintf(text, sizeof text,
                 "gravity: [0, 0, %.17g]\nmaterials:\n  rubber: { friction: 0.5, restitution: %.17g }\nbodies:\n"
                 "  - { name: floor, shape: plane, material: rubber, fixed: true }\n"
                 "  - { name: ball, shape: { sphere: %.17g }, material: rubber, mass: %.17g, position: [0, 0, %.17g], "
                 "velocity: [0, 0, %.17g] }\n",
                 -g, e, r, m, r + fall, v);
        check_drawn(text, end + t, mor_v3(0, 0, r + u * t - 0.5 * g * t * t), 30.0);
    }
}

/* The sphere of s8_roll: it slides for a while, then rolls with 5/7 of its speed. */
static void rolling_spheres_drawn_at_random(void** state)
{
    (void)state;
    uint64_t seed = 89;
    for (int i = 0; i < variations(); i++) {
        double r = test_random(&seed, 0.05, 1.0), v = test_random(&seed, 0.5, 4.0), mu = test_random(&seed, 0.1, 1.0);
        double g = test_random(&seed, 3.0, 20.0), m = exp(test_random(&seed, -5, 5)), slides = 2.0 / 7.0 * v / (mu * g);
        double end = slides * test_random(&seed, 1.5, 4.0), angle = test_random(&seed, -3.0, 3.0);
        double way = v * slides - 0.5 * mu * g * slides * slides + 5.0 / 7.0 * v * (end - slides);
        char text[1024];
        snprintf(text, sizeof text,
                 "gravity: [0, 0, %.17g]\nmaterials:\n  stone: { friction: %.17g }\nbodies:\n"
                 "  - { name: floor, shape: plane, material: stone, fixed: true }\n"
                 "  - { name: ball, shape: { sphere: %.17g }, material: stone, mass: %.17g, position: [0, 0, %.17g], "
                 "velocity: [%.17g, %.17g, 0] }\n",
                 -g, mu, r, m, r, v * cos(angle), v * sin(angle));
        check_drawn(text, end, mor_v3(way * cos(angle), way * sin(angle), r), 30.0);
    }
}

/* The chain of s7 from bent poses, under another weight. It is chaotic: the longer it moves the larger every error. */
static void falling_chains_drawn_at_random(void** state)
{
    (void)state;
    uint64_t seed = 90;
    for (int i = 0; i < variations(); i++) {
        double g = test_random(&seed, 3.0, 20.0), end = 1e-3 * floor(test_random(&seed, 200, 600) * sqrt(9.81 / g));
        char text[1024];
        int n = snprintf(text, sizeof text,
                         "gravity: [0, 0, %.17g]\nrobots:\n  - { name: chain, urdf: "
                         "robots/chain10.urdf, base: fixed, joints: {",
                         -g);
        for (int j = 0; j < 10; j++)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s hinge_%d: %.17g", j ? "," : "", j,
                          test_random(&seed, -0.6, 0.6));
        snprintf(text + n, sizeof text - (size_t)n, " } }\n");
        mor_run_summary s;
        mor_vec3 expected = drawn_end(text, 0.0, end, &s).com;
        check_drawn(text, end, expected, 150.0);
    }
}

/* ------------------------------------------------------------------------------- what it works with */

static void count_call(void* user, mor_world* w)
{
    (void)w;
    ++*(int*)user;
}

static void the_user_function_runs_once_per_step(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = load("s8_bounce", 1e-5, &scene);
    int calls = 0;
    mor_world_on_user(w, count_call, &calls);
    mor_run_summary s = advance(w, 0.6);
    assert_true(s.rejected > 0);
    assert_int_equal(calls, s.steps);
    assert_true(s.min_step < 0.1 * s.max_step);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* From a snapshot the run goes on with the same bits, wherever it was taken. */
static void a_snapshot_goes_on_with_the_same_steps(void** state)
{
    (void)state;
    mor_scene *scene, *other;
    mor_error error = { 0 };
    mor_world *w = load("s8_bounce", 1e-4, &scene), *again = load("s8_bounce", 1e-2, &other);
    size_t size = 0;
    void* bytes = NULL;
    for (int k = 0; k < 120; k++) {
        if (k == 61 || k == 62) {
            size = mor_world_save(w, NULL, 0);
            bytes = realloc(bytes, size);
            assert_true(mor_world_save(w, bytes, size) == size);
            assert_int_equal(mor_world_restore(again, bytes, size, &error), MOR_OK);
        }
        assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
        if (k >= 61) assert_int_equal(mor_world_step(again, NULL, &error), MOR_OK);
    }
    assert_true(mor_world_hash(w) == mor_world_hash(again) && mor_world_time(w) == mor_world_time(again));
    free(bytes);
    mor_world_destroy(w);
    mor_world_destroy(again);
    mor_scene_destroy(scene);
    mor_scene_destroy(other);
}

/* A force of 3 N from 0.1234 to 0.2345 s on 2 kg: the speed is that of the impulse, to rounding. */
static void a_force_begins_and_ends_when_it_should(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text("moreau: 1\ngravity: [0, 0, 0]\ntime: { step: adaptive, end: 0.5 }\nbodies:\n"
                                   "  - { name: a, shape: { sphere: 0.1 }, mass: 2, position: [0, 0, 0] }\n"
                                   "forces:\n  - { body: a, force: [3, 0, 0], from: 0.1234, until: 0.2345 }\n",
                                   &scene);
    advance(w, 0.5);
    test_near(test_state(w, mor_world_find_body(w, "a")).velocity.x, 1.5 * (0.2345 - 0.1234), 1e-12, "speed");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Controllers run at their own instants: steps end there. */
static void controllers_are_called_at_their_instants(void** state)
{
    (void)state;
    mor_error error = { 0 };
    static const char* const sets[] = { "time.step=adaptive", "time.tolerance=1e-4", "method.control_step=0.004",
                                        NULL };
    mor_scene* scene = mor_scene_load(scene_path("gripper_lift"), sets, NULL, &error);
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (!w) fail_msg("%s", error.text);
    int met = 0;
    for (double last = 0.0; mor_world_time(w) < 0.1;) {
        mor_step_report r;
        if (mor_world_step(w, &r, &error)) fail_msg("%s", error.text);
        double now = mor_world_time(w);
        test_near(now - last, r.length, 1e-15, "length");
        double periods = now / 0.004;
        met += fabs(periods - floor(periods + 0.5)) < 1e-9;
        assert_true(floor(periods - 1e-7) <= floor(last / 0.004 + 1e-7)); /* no instant within a step */
        last = now;
    }
    assert_true(met >= 24);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void a_recording_has_the_length_of_every_step(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_error error = { 0 };
    char path[] = "/tmp/moreau-adaptive-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    mor_world* w = load("s8_bounce", 1e-4, &scene);
    mor_recorder* r = mor_recorder_open(path, w, scene, &error);
    assert_int_equal(mor_world_add_observer(w, mor_recorder_observe, r, &error), MOR_OK);
    if (!r) fail_msg("%s", error.text);
    mor_run_summary s = advance(w, 0.6);
    assert_int_equal(mor_recorder_close(r, &error), MOR_OK);
    mor_recording* file_back = mor_recording_open(path, &error);
    if (!file_back) fail_msg("%s", error.text);
    int n = s.steps + 1;
    double *h = calloc((size_t)n, sizeof *h), *t = calloc((size_t)n, sizeof *t), least = 1.0, most = 0.0;
    assert_true(h && t);
    assert_int_equal(mor_recording_rows(file_back, "/step_size", 0, (size_t)n, 1, h, &error), MOR_OK);
    assert_int_equal(mor_recording_rows(file_back, "/time", 0, (size_t)n, 1, t, &error), MOR_OK);
    for (int i = 1; i < n; i++) {
        test_near(t[i] - t[i - 1], h[i], 1e-15, "step of a frame");
        least = fmin(least, h[i]);
        most = fmax(most, h[i]);
    }
    assert_true(least == s.min_step && most == s.max_step && least < 0.2 * most);
    free(h);
    free(t);
    mor_recording_close(file_back);
    unlink(path);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* The least step is taken whatever its error is, and told. */
static void the_least_step_is_taken_and_told(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_error error = { 0 };
    mor_world* w = load("s7", 1e-9, &scene);
    mor_adaptive steps = { .tolerance = 1e-9, .min = 2e-3, .max = 0.01 };
    assert_int_equal(mor_world_set_adaptive(w, &steps, &error), MOR_OK);
    mor_run_summary s = advance(w, 0.4);
    assert_true(s.missed > 50 && s.failures == 0);
    assert_true(s.min_step >= 2e-3 * (1.0 - 1e-9) * 0.5);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void bad_numbers_are_refused_with_their_place(void** state)
{
    (void)state;
    static const struct {
        const char *time, *message;
    } bad[] = {
        { "{ step: adaptiv }", ":2:15: " },
        { "{ step: adaptive, tolerance: 0 }", ":2:36: tolerance 0 is out of range" },
        { "{ step: adaptive, tolerance: small }", ":2:36: " },
        { "{ step: adaptive, min: 0.1, max: 0.01 }", ":2:30: min 0.1 s is above max 0.01 s" },
        { "{ step: adaptive, min: -1 }", ":2:30: min -1 is out of range" },
        { "{ step: adaptive, max: 1e9 }", ":2:30: max 1e9 is out of range" },
        { "{ step: 0.01, tolerance: 1e-3 }", ":2:32: tolerance, min and max go with `step: adaptive` only" },
        { "{ step: 0 }", ":2:15: step 0 is out of range" },
        { "{ step: .nan }", ":2:15: " },
        { "{ step: [adaptive] }", ":2:15: " },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[300];
        mor_error error = { 0 };
        snprintf(text, sizeof text, "moreau: 1\ntime: %s\n", bad[i].time);
        mor_scene* scene = mor_scene_parse(text, strlen(text), "bad.yaml", NULL, NULL, &error);
        if (scene) fail_msg("%s was taken", bad[i].time);
        assert_int_equal(error.code, MOR_BAD_INPUT);
        if (!strstr(error.text, bad[i].message)) fail_msg("%s: %s", bad[i].time, error.text);
    }
    mor_world* w = test_world(0.01);
    mor_error error = { 0 };
    static const mor_adaptive wrong[] = {
        { 0, 1e-6, 0.1 }, { 1e-5, 0, 0.1 }, { 1e-5, 0.2, 0.1 }, { NAN, 1e-6, 0.1 }, { 1e-5, 1e-6, INFINITY }
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(mor_world_set_adaptive(w, &wrong[i], &error), MOR_BAD_INPUT);
    assert_false(mor_world_get_adaptive(w, NULL));
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_of_a_bouncing_sphere_falls_with_the_tolerance),
        cmocka_unit_test(the_error_of_a_rolling_sphere_falls_with_the_tolerance),
        cmocka_unit_test(the_error_of_a_falling_chain_falls_with_the_tolerance),
        cmocka_unit_test(bouncing_spheres_drawn_at_random),
        cmocka_unit_test(rolling_spheres_drawn_at_random),
        cmocka_unit_test(falling_chains_drawn_at_random),
        cmocka_unit_test(the_user_function_runs_once_per_step),
        cmocka_unit_test(a_snapshot_goes_on_with_the_same_steps),
        cmocka_unit_test(a_force_begins_and_ends_when_it_should),
        cmocka_unit_test(controllers_are_called_at_their_instants),
        cmocka_unit_test(a_recording_has_the_length_of_every_step),
        cmocka_unit_test(the_least_step_is_taken_and_told),
        cmocka_unit_test(bad_numbers_are_refused_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
