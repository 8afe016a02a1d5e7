/* Sensitivity bands of recordings (lab/bands.h) against closed forms of free flight, and what the viewer is told. */
#include "common/worlds.h"
#include "lab/bands.h"
#include "moreau/lab.h"
#include "serve/frame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 20 };
#define H 0.01

static const char flight[] = "moreau: 1\ngravity: [0, 0, -10]\ntime: { step: 0.01, end: 0.2 }\nbodies:\n"
                             "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 20] }\n"
                             "  - { name: wall, shape: plane, fixed: true }\n";

static mor_world* build(const char* text, mor_scene** scene)
{
    mor_error error = { 0 };
    *scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    mor_world* w = *scene ? mor_scene_build(*scene, 1, &error) : NULL;
    if (!w) fail_msg("%s", error.text);
    return w;
}

static mor_recording* record(const char* text)
{
    mor_error error = { 0 };
    mor_scene* scene;
    mor_world* w = build(text, &scene);
    char path[] = "/tmp/moreau-test-bands-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    mor_recorder* recorder = mor_recorder_open(path, w, scene, &error);
    if (!recorder) fail_msg("%s", error.text);
    mor_world_add_observer(w, mor_recorder_observe, recorder, &error);
    for (int i = 0; i < STEPS; i++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_int_equal(mor_recorder_close(recorder, &error), MOR_OK);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    mor_recording* r = mor_recording_open(path, &error);
    if (!r) fail_msg("%s", error.text);
    remove(path); /* it stays open */
    return r;
}

/* Of a body in flight, inputs off by s: gravity by s changes v by s n h and x by s h^2 n (n + 1)/2, a force along x by
 * the same divided by the mass; the mass changes nothing; independent inputs add as squares. */
static void bands_of_free_flight_are_those_of_the_closed_form(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_scene* scene;
    mor_recording* r = record(flight);
    mor_world* w = build(flight, &scene);
    const mor_band_inputs of = { .inputs = { { MOR_INPUT_GRAVITY, 0, 2 },
                                             { MOR_INPUT_FORCE, 0, 0 },
                                             { MOR_INPUT_FORCE, 0, 2 },
                                             { MOR_INPUT_MASS, 0, 0 } },
                                 .spreads = { 0.3, 1.0, 0.8, 0.5 },
                                 .count = 4,
                                 .label = "all" };
    int rough = -1;
    if (mor_bands_make(w, r, &of, &rough, &error)) fail_msg("%s", error.text);
    assert_int_equal(rough, 0);
    const mor_recording_bands* b = mor_recording_get_bands(r);
    assert_non_null(b);
    assert_string_equal(b->label, "band: all");
    assert_int_equal(b->bodies, 1); /* the wall is fixed */
    assert_string_equal(mor_recording_body_name(r, b->body[0]), "ball");
    assert_int_equal(b->points, STEPS + 1);
    double up = hypot(0.3, 0.8 / 2.0), along = 1.0 / 2.0;
    for (int n = 0; n <= STEPS; n++) {
        double v = H * n, x = H * H * n * (n + 1) / 2;
        assert_float_equal(b->time[n], n * H, 1e-12);
        const double expected[6] = { along * x, 0.0, up * x, along * v, 0.0, up * v };
        for (int c = 0; c < 6; c++) assert_float_equal(b->half[c * b->points + n], expected[c], 1e-9);
    }
    char* text = NULL;
    size_t length = 0;
    FILE* memory = open_memstream(&text, &length);
    assert_int_equal(mor_view_describe_recording(memory, r, &error), MOR_OK);
    fclose(memory);
    const char* told = strstr(text, "\"bands\"");
    assert_non_null(told);
    assert_non_null(strstr(told, "\"label\": \"band: all\""));
    assert_non_null(strstr(told, "\"half\""));
    free(text);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    mor_recording_close(r);
}

static void a_scene_that_goes_elsewhere_is_told(void** state)
{
    (void)state;
    static const char other[] = "moreau: 1\ngravity: [0, 0, -9]\ntime: { step: 0.01, end: 0.2 }\nbodies:\n"
                                "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 20] }\n"
                                "  - { name: wall, shape: plane, fixed: true }\n";
    mor_error error = { 0 };
    mor_scene* scene;
    mor_recording* r = record(flight);
    mor_world* w = build(other, &scene);
    const mor_band_inputs of = {
        .inputs = { { MOR_INPUT_GRAVITY, 0, 2 } }, .spreads = { 1 }, .count = 1, .label = "g"
    };
    int rough;
    assert_int_equal(mor_bands_make(w, r, &of, &rough, &error), MOR_BAD_INPUT);
    /* h^2 n (n + 1)/2 (10 - 9) = 0.021 m */
    assert_non_null(strstr(error.text, "has 'ball' 0.021 m off at t = 0.2 s"));
    assert_null(mor_recording_get_bands(r));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    mor_recording_close(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_of_free_flight_are_those_of_the_closed_form),
        cmocka_unit_test(a_scene_that_goes_elsewhere_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
