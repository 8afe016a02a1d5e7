/* The viewer's C side: descriptions, frames, pages, a running scene. The page itself is tested in a browser:
 * viewer/tests. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "common/shown.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"
#include "moreau/lab.h"
#include "serve/export.h"
#include "serve/live.h"
#include "serve/problem_view.h"

static char directory[64];

static char* path_of(const char* name, char path[256])
{
    snprintf(path, 256, "%s/%s", directory, name);
    return path;
}

/* 51 frames in DIRECTORY/run.h5 */
static int make_recording(void** state)
{
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/moreau-test-view-XXXXXX");
    if (!mkdtemp(directory)) return -1;
    mor_scene* scene = shown_parse(shown_text);
    char path[256];
    bool done = shown_record(scene, path_of("run.h5", path));
    mor_scene_destroy(scene);
    return done ? 0 : -1;
}

static int remove_recording(void** state)
{
    (void)state;
    char path[256];
    remove(path_of("run.h5", path));
    remove(path_of("run.html", path));
    return rmdir(directory);
}

static mor_recording* open_recording(void)
{
    mor_error error = { 0 };
    char path[256];
    mor_recording* r = mor_recording_open(path_of("run.h5", path), &error);
    if (!r) fail_msg("%s", error.text);
    return r;
}

static void a_frame_holds_poses_velocities_contacts_and_forces(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_recording* r = open_recording();
    mor_view_frame frame;
    assert_int_equal(mor_view_frame_create(&frame, 3, &error), MOR_OK);
    assert_int_equal(mor_view_frame_read(&frame, r, 40, &error), MOR_OK);
    assert_int_equal(frame.step, 40);
    /* semi-implicit free fall: z = z0 - g h^2 n (n + 1)/2 */
    assert_float_equal(frame.pose[7 * 2 + 2], 20.0 - 10 * 1e-4 * 40 * 41 / 2, 1e-5);
    assert_float_equal(frame.velocity[6 * 2 + 2], -4.0, 1e-5);
    assert_int_equal(frame.contact_count, 1);
    const mor_view_contact* c = &frame.contacts[0];
    double sign = c->body[1] == 1 ? 1.0 : -1.0;
    assert_float_equal(sign * c->force[2], 20.0, 1e-3);
    assert_float_equal(c->point[2], 0.0, 1e-6);
    mor_bytes bytes = { 0 };
    mor_view_frames_begin(&bytes, 1, 3);
    mor_view_frame_write(&bytes, &frame);
    assert_int_equal(bytes.size, 16 + 8 + 8 + 4 * MOR_VIEW_SCALARS + 3 * 13 * 4 + 56);
    mor_bytes_free(&bytes);
    assert_int_not_equal(mor_view_frame_read(&frame, r, 51, &error), MOR_OK);
    mor_view_frame_free(&frame);
    mor_recording_close(r);
}

/* A box that slides and turns on a slope: a recording and problems of the same steps. */
static void record_both(const char* align, const char* recording, const char* problems)
{
    char text[1024];
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.01, end: 0.2 }\nmethod: { formulation: ncp, friction_align: %s }\n"
             "bodies:\n  - { name: slope, shape: plane, fixed: true, friction: 0.3, orientation: { axis: [0, 1, 0], "
             "angle: 40 } }\n  - { name: block, shape: { box: [1, 0.5, 0.25] }, mass: 2, friction: 0.3, position: "
             "[0.0803484, 0, 0.0957556], orientation: { axis: [0, 1, 0], angle: 40 }, velocity: [0.1, 0.4, 0], "
             "angular_velocity: [0, 0, 0.5] }\n",
             align);
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(scene, 1, &error);
    mor_recorder* one = mor_recorder_open(recording, w, scene, &error);
    mor_bpmd_recorder* two = mor_bpmd_record(problems, w, scene, 1, &error);
    if (!one || !two) fail_msg("%s", error.text);
    mor_world_add_observer(w, mor_recorder_observe, one, &error);
    for (int i = 0; i < 20; i++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_int_equal(mor_recorder_close(one, &error), MOR_OK);
    assert_int_equal(mor_bpmd_close(two, &error), MOR_OK);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A problem is the state before its step and the forces of the step: the recording has both. */
static void stored_problems_look_like_the_recording_of_their_run(void** state)
{
    (void)state;
    static const char* const aligns[] = { "world-x", "slip" };
    for (int k = 0; k < 2; k++) {
        char recording[256], problems[256];
        mor_error error = { 0 };
        record_both(aligns[k], path_of("both.h5", recording), path_of("problems.h5", problems));
        int left_out;
        mor_recording *a = mor_recording_open(recording, &error),
                      *b = mor_view_open(problems, 0, NULL, &left_out, &error), *c;
        if (!a || !b) fail_msg("%s", error.text);
        assert_int_equal(left_out, 0);
        assert_int_equal(mor_recording_get_info(b)->frames, 20);
        assert_string_equal(mor_recording_body_name(b, 1), "block");
        mor_view_frame before, after, shown;
        mor_view_frame_create(&before, 2, &error);
        mor_view_frame_create(&after, 2, &error);
        mor_view_frame_create(&shown, 2, &error);
        double sliding = 0.0;
        for (int step = 1; step <= 20; step++) {
            assert_int_equal(mor_view_frame_read(&before, a, step - 1, &error), MOR_OK);
            assert_int_equal(mor_view_frame_read(&after, a, step, &error), MOR_OK);
            assert_int_equal(mor_view_frame_read(&shown, b, step - 1, &error), MOR_OK);
            assert_float_equal(shown.time, before.time, 1e-12);
            for (int i = 0; i < 7; i++) assert_float_equal(shown.pose[7 + i], before.pose[7 + i], 1e-6);
            for (int i = 0; i < 6; i++) assert_float_equal(shown.velocity[6 + i], before.velocity[6 + i], 1e-6);
            assert_int_equal(shown.contact_count, after.contact_count);
            for (int i = 0; i < shown.contact_count; i++)
                for (int j = 0; j < 3; j++) {
                    assert_float_equal(shown.contacts[i].force[j], after.contacts[i].force[j], 1e-4);
                    sliding = fmax(sliding, fabs(shown.contacts[i].force[1]));
                }
        }
        assert_true(sliding > 0.1); /* friction has both directions */
        c = mor_view_open(problems, 7, NULL, NULL, &error);
        if (!c) fail_msg("%s", error.text);
        assert_int_equal(mor_recording_get_info(c)->frames, 1);
        assert_int_equal(mor_view_frame_read(&before, b, 6, &error), MOR_OK);
        assert_int_equal(mor_view_frame_read(&shown, c, 0, &error), MOR_OK);
        assert_memory_equal(shown.pose, before.pose, 14 * sizeof *shown.pose);
        assert_null(mor_view_open(problems, 21, NULL, NULL, &error));
        assert_non_null(strstr(error.text, "there are 20"));
        assert_null(mor_view_open(recording, 2, NULL, NULL, &error));
        mor_view_frame_free(&before);
        mor_view_frame_free(&after);
        mor_view_frame_free(&shown);
        mor_recording_close(a);
        mor_recording_close(b);
        mor_recording_close(c);
        remove(recording);
        remove(problems);
    }
}

/* Without the scene a block is the box of its mass and inertia, and the slope the plane of its contacts. */
static void stored_problems_without_a_scene_have_bodies_too(void** state)
{
    (void)state;
    char recording[256], problems[256], bare[256];
    mor_error error = { 0 };
    record_both("world-x", path_of("both.h5", recording), path_of("problems.h5", problems));
    mor_bpmd* file = mor_bpmd_open(problems, &error);
    mor_bpmd_frame frame;
    assert_int_equal(mor_bpmd_read(file, 4, &frame, &error), MOR_OK);
    const mor_bpmd_meta meta = { .scene_name = "",
                                 .scene_text = "",
                                 .formulation = "ncp",
                                 .solver = "auto",
                                 .collision = "",
                                 .formulation_options = "",
                                 .solver_options = "",
                                 .gravity = frame.gravity,
                                 .dimension = 3 };
    assert_int_equal(mor_bpmd_create(path_of("bare.h5", bare), &meta, &error), MOR_OK);
    assert_int_equal(mor_bpmd_append(bare, &frame, 1, 1, &error), MOR_OK);
    mor_recording* r = mor_view_open(bare, 0, NULL, NULL, &error);
    if (!r) fail_msg("%s", error.text);
    int rows, columns;
    double* vertex = mor_recording_table(r, "/shapes/vertex", &rows, &columns, &error);
    assert_int_equal(rows, 8);
    for (int i = 0; i < 8; i++) {
        assert_float_equal(fabs(vertex[3 * i]), 0.5, 1e-9);
        assert_float_equal(fabs(vertex[3 * i + 1]), 0.25, 1e-9);
        assert_float_equal(fabs(vertex[3 * i + 2]), 0.125, 1e-9);
    }
    double* pose = mor_recording_table(r, "/shapes/pose", &rows, &columns, &error);
    assert_int_equal(rows, 2); /* the slope first: its z is the normal of the slope, in its own axes z */
    mor_vec3 up = mor_rotate((mor_quat){ pose[3], pose[4], pose[5], pose[6] }, mor_v3(0, 0, 1));
    up = mor_rotate(frame.bodies[0].q, up);
    assert_float_equal(up.x, sin(40.0 * 3.14159265358979 / 180.0), 1e-6);
    assert_float_equal(up.z, cos(40.0 * 3.14159265358979 / 180.0), 1e-6);
    free(vertex);
    free(pose);
    mor_recording_close(r);
    mor_bpmd_frame_clear(&frame);
    mor_bpmd_free(file);
    remove(recording);
    remove(problems);
    remove(bare);
}

static void series_are_grouped_and_keep_their_peaks(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_recording* r = open_recording();
    mor_bytes bytes = { 0 };
    assert_int_equal(mor_view_series(&bytes, r, 10, &error), MOR_OK);
    uint32_t head[4];
    memcpy(head, bytes.data, sizeof head);
    assert_int_equal(head[0], 9); /* 51 frames in groups of 6 */
    assert_int_equal(head[1], MOR_VIEW_SCALARS);
    assert_int_equal(head[2], 6);
    assert_int_equal(bytes.size, 16 + 9 * 8 + 4 * 9 * MOR_VIEW_SCALARS);
    double time;
    memcpy(&time, bytes.data + 16 + 8, sizeof time);
    assert_float_equal(time, 0.06, 1e-12);
    float contacts; /* the seventh column; frame 0 has none, its group has one */
    memcpy(&contacts, bytes.data + 16 + 9 * 8 + 4 * 9 * 6, sizeof contacts);
    assert_float_equal(contacts, 1.0f, 0.0f);
    mor_bytes_free(&bytes);
    mor_recording_close(r);
}

static char* describe(const mor_recording* r, mor_code* code)
{
    char* text = NULL;
    size_t length = 0;
    mor_error error = { 0 };
    FILE* memory = open_memstream(&text, &length);
    *code = mor_view_describe_recording(memory, r, &error);
    fclose(memory);
    return text;
}

static void a_description_tells_bodies_and_shapes(void** state)
{
    (void)state;
    mor_recording* r = open_recording();
    mor_code code;
    char* text = describe(r, &code);
    assert_int_equal(code, MOR_OK);
    assert_non_null(strstr(text, "\"a <b>bold</b> name\""));
    assert_non_null(strstr(text, "\"kind\": \"sphere\""));
    assert_non_null(strstr(text, "\"kind\": \"plane\""));
    assert_non_null(strstr(text, "\"faces\": ["));
    free(text);
    mor_recording_close(r);
}

/* One step of a scene, recorded. */
static mor_recording* record_scene(const char* text, const char* name)
{
    mor_error error = { 0 };
    char path[256];
    mor_scene* scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* world = mor_scene_build(scene, 1, &error);
    if (!world) fail_msg("%s", error.text);
    mor_recorder* recorder = mor_recorder_open(path_of(name, path), world, scene, &error);
    if (!recorder) fail_msg("%s", error.text);
    mor_world_add_observer(world, mor_recorder_observe, recorder, &error);
    mor_world_step(world, NULL, &error);
    mor_recorder_close(recorder, &error);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    mor_recording* r = mor_recording_open(path, &error);
    if (!r) fail_msg("%s", error.text);
    remove(path); /* it stays open */
    return r;
}

static void a_description_tells_where_joints_sit(void** state)
{
    (void)state;
    mor_recording* r = record_scene(
        "moreau: 1\n"
        "gravity: [0, 0, 0]\n"
        "time: { step: 0.01, end: 1 }\n"
        "bodies:\n"
        "  - { name: door, shape: { box: [1, 0.1, 2] }, position: [0.5, 0, 3] }\n"
        "joints:\n"
        "  - { name: hinge, type: revolute, bodies: [door, world], point: [0, 0, 2.5], axis: [0, 0, 1] }\n",
        "door.h5");
    mor_code code;
    char* text = describe(r, &code);
    assert_int_equal(code, MOR_OK);
    const char* joints = strstr(text, "\"joints\"");
    assert_non_null(joints);
    assert_non_null(strstr(joints, "\"hinge\""));
    assert_non_null(strstr(joints, "\"revolute\""));
    /* in the door's frame half a metre to the side and below; in the world where it was put */
    double p[6] = { 0 };
    const char* points = strstr(joints, "\"points\"");
    assert_non_null(points);
    for (int i = 0; i < 6; i++) {
        points += strcspn(points, "-0123456789");
        char* end;
        p[i] = strtod(points, &end);
        points = end;
    }
    const double expected[6] = { -0.5, 0, -0.5, 0, 0, 2.5 };
    for (int i = 0; i < 6; i++) assert_float_equal(p[i], expected[i], 1e-12);
    free(text);
    mor_recording_close(r);
}

static void a_frame_tells_groups_and_their_primary_plane(void** state)
{
    (void)state;
    mor_recording* r =
        record_scene("moreau: 1\n"
                     "dimension: 2\n"
                     "gravity: [0, 0]\n"
                     "time: { step: 0.01, end: 1 }\n"
                     "method: { formulation: peg, solver: lemke, collision: { name: features, epsilon: 2 } }\n"
                     "bodies:\n"
                     "  - { name: roof, shape: { polygon: [[-2, -1], [2, -1], [0, 1]] }, fixed: true }\n"
                     "  - { name: dot, shape: { particle: {} }, mass: 1, position: [0.3, 1.5] }\n",
                     "roof.h5");
    mor_error error = { 0 };
    mor_view_frame frame;
    assert_int_equal(mor_view_frame_create(&frame, 2, &error), MOR_OK);
    assert_int_equal(mor_view_frame_read(&frame, r, 1, &error), MOR_OK);
    assert_true(frame.contact_count >= 2);
    int primary = -1;
    for (int i = 0; i < frame.contact_count; i++) {
        assert_int_equal(frame.contacts[i].group, frame.contacts[0].group);
        assert_true(frame.contacts[i].group > 0 && frame.contacts[i].plane != 0);
        if (frame.contacts[i].plane >= 0) continue;
        assert_int_equal(primary, -1);
        primary = i;
    }
    assert_true(primary >= 0);
    /* the plane on whose outer side it is farthest: that of the right edge, outward (1, 1)/sqrt 2 */
    assert_float_equal(fabsf(frame.contacts[primary].normal[0]), (float)sqrt(0.5), 1e-6f);
    assert_float_equal(frame.contacts[primary].gap, (float)((0.3 + 1.5 - 1.0) / sqrt(2.0)), 1e-6f);
    mor_view_frame_free(&frame);
    mor_recording_close(r);
}

static void a_page_holds_the_recording_and_no_markup_of_it(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_recording* r = open_recording();
    mor_export_options options = mor_export_options_default();
    mor_export_report report;
    options.look = "theme=light,body=\"><script>";
    char path[256];
    if (mor_export_html(path_of("run.html", path), &r, 1, &options, &report, &error)) fail_msg("%s", error.text);
    assert_int_equal(report.frames, 26); /* at most 60 per second: every second of 51 */
    assert_true(report.bytes < 3e6);
    FILE* file = fopen(path, "rb");
    char* page = calloc(1, (size_t)report.bytes + 1);
    assert_int_equal(fread(page, 1, (size_t)report.bytes, file), (size_t)report.bytes);
    fclose(file);
    assert_null(strstr(page, "bold"));
    assert_non_null(strstr(page, "theme=light&body=%22%3E%3Cscript%3E</script>"));
    assert_non_null(strstr(page, "class=\"recording\">eN")); /* zlib at its best begins 78 da */
    free(page);
    mor_recording_close(r);
}

static void a_page_that_must_be_small_leaves_frames_out(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_recording* r = open_recording();
    mor_export_options options = mor_export_options_default();
    options.rate = 1000.0;
    mor_export_report all, few;
    char path[256];
    assert_int_equal(mor_export_html(path_of("run.html", path), &r, 1, &options, &all, &error), MOR_OK);
    options.most_bytes = (double)mor_viewer_page_size + 4096.0 + 0.9 * (all.bytes - (double)mor_viewer_page_size);
    assert_int_equal(mor_export_html(path, &r, 1, &options, &few, &error), MOR_OK);
    assert_int_equal(all.frames, 51);
    assert_true(few.frames < all.frames);
    assert_true(few.bytes < all.bytes);
    mor_recording_close(r);
}

/* ---------------------------------------------------------------------------------- live */

/* Waits until the newest frame is of step `step` or later; its step. */
static int wait_for_step(mor_live* live, int step)
{
    int found = -1;
    uint64_t seen = 0;
    for (int i = 0; i < 12000 && found < step; i++) {
        mor_bytes bytes = { 0 };
        seen = mor_live_frame(live, seen, &bytes);
        int32_t number;
        if (bytes.size > 0) {
            memcpy(&number, bytes.data + 24, sizeof number);
            found = number;
        }
        mor_bytes_free(&bytes);
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    }
    return found;
}

static void command(mor_live* live, const char* text) { mor_live_command(live, text, strlen(text)); }

static void a_running_scene_obeys(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_scene* scene = shown_parse(shown_text);
    mor_live* live = mor_live_create(scene, &(mor_live_options){ .threads = 1, .paused = true }, &error);
    assert_non_null(live);
    assert_int_equal(wait_for_step(live, 0), 0);
    command(live, "step");
    command(live, "step");
    assert_int_equal(wait_for_step(live, 2), 2);
    command(live, "solver pgs");
    command(live, "formulation st");
    command(live, "gravity 1.5");
    command(live, "run");
    assert_true(wait_for_step(live, 10) >= 10);
    mor_live_state s = mor_live_get_state(live);
    assert_true(s.running);
    assert_string_equal(s.solver, "pgs");
    assert_float_equal(s.gravity, 1.5, 1e-12);
    command(live, "solver nonsense");
    for (int i = 0; i < 12000 && !mor_live_get_state(live).note[0]; i++)
        nanosleep(&(struct timespec){ 0, 5000000 }, NULL);
    assert_non_null(strstr(mor_live_get_state(live).note, "nonsense"));
    mor_live_destroy(live);
    mor_scene_destroy(scene);
}

/* A frame is written into the same memory again and again, and is the same every time. */
static void a_frame_of_a_thousand_bodies_is_the_same_every_time(void** state)
{
    (void)state;
    static const char text[] =
        "moreau: 1\n"
        "bodies:\n"
        "  - { name: ball, shape: { sphere: 0.2 }, grid: { count: [10, 10, 10], spacing: [1, 1, 1] } }\n";
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "test", NULL, NULL, &error);
    mor_world* world = mor_scene_build(scene, 1, &error);
    mor_step_report report;
    assert_int_equal(mor_world_step(world, &report, &error), MOR_OK);
    mor_view_frame frame;
    assert_int_equal(mor_view_frame_create(&frame, 1000, &error), MOR_OK);
    mor_bytes bytes = { 0 };
    size_t size = 0;
    uint64_t first = 0;
    for (int i = 0; i < 50; i++) {
        assert_true(mor_view_frame_take(&frame, world, &report));
        bytes.size = 0;
        mor_view_frames_begin(&bytes, 1, 1000);
        mor_view_frame_write(&bytes, &frame);
        uint64_t sum = 0;
        for (size_t k = 0; k < bytes.size; k++) sum = 31 * sum + (unsigned char)bytes.data[k];
        if (i == 0) size = bytes.size, first = sum;
        assert_true(bytes.size == size && sum == first);
    }
    assert_true(size > 1000 * 7 * sizeof(float)); /* position and rotation of every body */
    mor_bytes_free(&bytes);
    mor_view_frame_free(&frame);
    mor_world_destroy(world);
    mor_scene_destroy(scene);
}

static void a_running_scene_survives_noise(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_scene* scene = shown_parse(shown_text);
    mor_live* live = mor_live_create(scene, &(mor_live_options){ .threads = 1, .paused = false }, &error);
    assert_non_null(live);
    static const char* const words[] = {
        "run",  "pause", "step",           "reset", "formulation", "solver", "gravity", "friction", "speed", "drag",
        "drop", "mass",  "remove",         "add",   "joint",       "st",     "pgs",     "nan",      "inf",   "-1e308",
        "1",    "0.5",   "99999999999999", "%n%s",  "\xff\xfe"
    };
    unsigned seed = 7;
    for (int i = 0; i < 3000; i++) {
        char text[300];
        size_t n = 0;
        seed = seed * 1664525u + 1013904223u;
        for (unsigned k = seed >> 28; k + 1 > 0 && n < 200; k--) {
            seed = seed * 1664525u + 1013904223u;
            n += (size_t)snprintf(text + n, sizeof text - n, "%s ",
                                  words[(seed >> 16) % (sizeof words / sizeof *words)]);
            if (k == 0) break;
        }
        mor_live_command(live, text, n);
        if (i % 50 == 0) nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    command(live, "reset");
    command(live, "pause");
    mor_live_destroy(live);
    mor_scene_destroy(scene);
}

static void a_recording_with_impossible_shapes_is_refused(void** state)
{
    (void)state;
    char path[256], copy[300];
    FILE *in = fopen(path_of("run.h5", path), "rb"), *out;
    snprintf(copy, sizeof copy, "%s/bad.h5", directory);
    out = fopen(copy, "wb");
    for (int c; (c = fgetc(in)) != EOF;) fputc(c, out);
    fclose(in);
    fclose(out);
    /* the last shape claims vertices that are not there */
    hid_t file = H5Fopen(copy, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, "/shapes/vertex_start", H5P_DEFAULT);
    int32_t starts[3] = { 0, 0, 2000000000 };
    assert_true(H5Dwrite(set, H5T_NATIVE_INT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, starts) >= 0);
    H5Dclose(set);
    H5Fclose(file);
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(copy, &error);
    assert_non_null(r);
    mor_code code;
    free(describe(r, &code));
    assert_int_equal(code, MOR_BAD_INPUT);
    mor_recording_close(r);
    remove(copy);
}

/* Every number of a dataset becomes `value`. */
static void spoil(const char* file_name, const char* path, double value)
{
    hid_t file = H5Fopen(file_name, H5F_ACC_RDWR, H5P_DEFAULT), set = H5Dopen2(file, path, H5P_DEFAULT),
          space = H5Dget_space(set);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    double* v = malloc(((size_t)n + 1) * sizeof *v);
    for (hssize_t i = 0; i < n; i++) v[i] = value;
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
    free(v);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

/* A sentence or something to show, but no crash and no gigantic page. */
static void hostile_numbers_do_no_harm(void** state)
{
    (void)state;
    static const char* const sets[] = { "/time",
                                        "/step_number",
                                        "/step_size",
                                        "/pose",
                                        "/velocity",
                                        "/energy/kinetic",
                                        "/bodies/kind",
                                        "/bodies/mass",
                                        "/bodies/com",
                                        "/shapes/body",
                                        "/shapes/kind",
                                        "/shapes/size",
                                        "/shapes/pose",
                                        "/shapes/radius",
                                        "/shapes/vertex_start",
                                        "/shapes/vertex_count",
                                        "/shapes/vertex",
                                        "/shapes/face_start",
                                        "/shapes/face_count",
                                        "/shapes/loop_start",
                                        "/shapes/loop_size",
                                        "/shapes/loop",
                                        "/contacts/start",
                                        "/contacts/count",
                                        "/contacts/body",
                                        "/contacts/point",
                                        "/contacts/gap",
                                        "/contacts/impulse",
                                        "/contacts/group",
                                        "/joints/error" };
    static const double values[] = { 2e9, -1.0, 1e300, NAN, -INFINITY };
    char path[256], copy[300], page[300];
    snprintf(copy, sizeof copy, "%s/bad.h5", directory);
    snprintf(page, sizeof page, "%s/bad.html", directory);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            FILE *in = fopen(path_of("run.h5", path), "rb"), *out = fopen(copy, "wb");
            for (int c; (c = fgetc(in)) != EOF;) fputc(c, out);
            fclose(in);
            fclose(out);
            spoil(copy, sets[s], values[k]);
            mor_error error = { 0 };
            mor_recording* r = mor_recording_open(copy, &error);
            if (!r) {
                assert_true(error.text[0]);
                continue;
            }
            mor_code code;
            free(describe(r, &code));
            mor_view_frame frame;
            mor_bytes bytes = { 0 };
            assert_int_equal(mor_view_frame_create(&frame, mor_recording_get_info(r)->bodies, &error), MOR_OK);
            for (int f = 0; f < 51; f += 25) {
                if (mor_view_frame_read(&frame, r, f, &error) == MOR_OK) mor_view_frame_write(&bytes, &frame);
                assert_true(frame.contact_count >= 0 && frame.contact_count <= MOR_VIEW_CONTACTS);
            }
            mor_view_series(&bytes, r, 10, &error);
            mor_view_body(&bytes, r, 2, 10, &error);
            assert_true(bytes.size < 1000000);
            mor_export_options options = mor_export_options_default();
            mor_export_report report;
            if (mor_export_html(page, &r, 1, &options, &report, &error) == MOR_OK)
                assert_true(report.bytes < options.most_bytes);
            remove(page);
            mor_bytes_free(&bytes);
            mor_view_frame_free(&frame);
            mor_recording_close(r);
        }
    remove(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_holds_poses_velocities_contacts_and_forces),
        cmocka_unit_test(stored_problems_look_like_the_recording_of_their_run),
        cmocka_unit_test(stored_problems_without_a_scene_have_bodies_too),
        cmocka_unit_test(series_are_grouped_and_keep_their_peaks),
        cmocka_unit_test(a_description_tells_bodies_and_shapes),
        cmocka_unit_test(a_description_tells_where_joints_sit),
        cmocka_unit_test(a_frame_tells_groups_and_their_primary_plane),
        cmocka_unit_test(a_page_holds_the_recording_and_no_markup_of_it),
        cmocka_unit_test(a_page_that_must_be_small_leaves_frames_out),
        cmocka_unit_test(a_running_scene_obeys),
        cmocka_unit_test(a_frame_of_a_thousand_bodies_is_the_same_every_time),
        cmocka_unit_test(a_running_scene_survives_noise),
        cmocka_unit_test(a_recording_with_impossible_shapes_is_refused),
        cmocka_unit_test(hostile_numbers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, make_recording, remove_recording);
}
