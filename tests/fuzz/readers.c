/* Every reader of foreign bytes, see readers.h. */
#include "fuzz/readers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/bpmd/bpmd.h"
#include "io/fclib/fclib.h"
#include "io/hdf5/trace_file.h"
#include "io/json/json_read.h"
#include "io/problem/problem_file.h"
#include "io/problem/problem_text.h"
#include "io/recording/recording.h"
#include "lab/plan.h"
#include "moreau/moreau.h"
#include "serve/live.h"

static const char prefix[] = "moreau: 1\nbodies:\n  - { name: a, mass: 1, shape: { mesh: \"";

static void use_scene(mor_scene* scene)
{
    mor_error error = { 0 };
    mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
    if (w && mor_world_body_count(w) < 40) mor_world_step(w, NULL, &error);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void read_scene(const char* path, const char* bytes, size_t size)
{
    mor_error error = { 0 };
    use_scene(mor_scene_parse(bytes, size, path, NULL, NULL, &error));
}

/* The bytes are a file that a scene includes. */
static void read_include(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    char text[800];
    snprintf(text, sizeof text, "moreau: 1\ninclude: [\"%s\"]\n", path);
    use_scene(mor_scene_parse(text, strlen(text), "including", NULL, NULL, &error));
}

/* The bytes are the mesh of a body, or the table of its motion. */
static void read_mesh(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    char text[800];
    snprintf(text, sizeof text, "%s%s\" } }\n", prefix, path);
    use_scene(mor_scene_parse(text, strlen(text), "mesh", NULL, NULL, &error));
}

static void read_motion(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    char text[800];
    snprintf(text, sizeof text, "moreau: 1\nbodies:\n  - { shape: { sphere: 1 }, kinematic: { motion: \"%s\" } }\n",
             path);
    use_scene(mor_scene_parse(text, strlen(text), "motion", NULL, NULL, &error));
}

static void read_urdf(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    char notes[500];
    mor_urdf_options options = mor_urdf_options_default();
    mor_robot_destroy(mor_urdf_read(path, &options, notes, sizeof notes, &error));
}

/* The bytes are the ground of a scene: a picture or a table of heights. */
static void read_ground(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    const char* range = strstr(path, ".csv") ? "" : ", height: [0, 1]";
    char text[800];
    snprintf(text, sizeof text,
             "moreau: 1\nbodies:\n  - { fixed: true, shape: { heightfield: { size: [1, 1], file: \"%s\"%s } } }\n",
             path, range);
    use_scene(mor_scene_parse(text, strlen(text), "ground", NULL, NULL, &error));
}

/* The bytes are a model under `robots:` of a scene, in the format of this name. */
static void read_model(const char* path, const char* format)
{
    mor_error error = { 0 };
    char text[800];
    snprintf(text, sizeof text, "moreau: 1\nrobots:\n  - { %s: \"%s\" }\n", format, path);
    use_scene(mor_scene_parse(text, strlen(text), "model", NULL, NULL, &error));
}

static void read_mjcf(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    read_model(path, "mjcf");
}

static void read_sdf(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    read_model(path, "sdf");
}

static void read_json(const char* path, const char* bytes, size_t size)
{
    mor_error error = { 0 };
    mor_json_document* d = mor_json_read_text(path, bytes, size, &error);
    if (d) mor_json_get(mor_json_root(d), "x");
    mor_json_free(d);
}

static void read_problem(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    static const char* const kinds[] = { "lcp", "mlcp", "fc3d", "gfc3d" };
    for (int k = 0; k < 4; k++) {
        mor_problem_file file;
        mor_error error = { 0 };
        if (mor_problem_load(path, kinds[k], &file, &error) == MOR_OK) mor_problem_file_free(&file);
    }
}

static void read_fclib(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_problem_file file;
    mor_error error = { 0 };
    if (mor_problem_load(path, NULL, &file, &error) == MOR_OK) mor_problem_file_free(&file);
}

static void read_bpmd(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    mor_bpmd* file = mor_bpmd_open(path, &error);
    for (int i = 0; file && i < mor_bpmd_count(file) && i < 3; i++) {
        mor_bpmd_frame f;
        if (mor_bpmd_read(file, i, &f, &error)) continue;
        mor_world_destroy(mor_bpmd_world(&f, NULL, NULL, &error));
        mor_bpmd_frame_clear(&f);
    }
    mor_bpmd_free(file);
}

static void read_recording(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    mor_recording* r = mor_recording_open(path, &error);
    if (!r) return;
    int frames = mor_recording_get_info(r)->frames;
    double* x = frames > 0 && frames < 100000 ? malloc((size_t)frames * 7 * sizeof *x) : NULL;
    if (x) mor_recording_series(r, "/time", x, &error);
    if (x && mor_recording_get_info(r)->bodies > 0) mor_recording_body(r, 0, x, NULL, &error);
    free(x);
    mor_recording_close(r);
}

static void read_trace(const char* path, const char* bytes, size_t size)
{
    (void)bytes, (void)size;
    mor_error error = { 0 };
    mor_trace_record* records = NULL;
    int count = 0;
    if (mor_trace_file_read(path, &records, &count, &error) == MOR_OK) mor_trace_records_free(records, count);
}

/* Commands of a browser, one per line, to a scene of one ball. */
static void read_commands(const char* path, const char* bytes, size_t size)
{
    (void)path;
    static const char text[] = "moreau: 1\nbodies: [{ name: ball, shape: { sphere: 1 }, mass: 1 }]\n";
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "ball", NULL, NULL, &error);
    mor_live* live = scene ? mor_live_create(scene, &(mor_live_options){ .threads = 1 }, &error) : NULL;
    for (size_t at = 0; live && at < size;) {
        const char* end = memchr(bytes + at, '\n', size - at);
        size_t n = end ? (size_t)(end - bytes) - at : size - at;
        mor_live_command(live, bytes + at, n);
        at += n + 1;
    }
    mor_live_destroy(live);
    mor_scene_destroy(scene);
}

static void read_plan(const char* path, const char* bytes, size_t size)
{
    mor_error error = { 0 };
    mor_plan_destroy(mor_plan_parse(bytes, size, path, &error));
}

const reader readers[] = {
    { "plan", ".yaml", read_plan },        { "scene", ".yaml", read_scene },       { "include", ".yaml", read_include },
    { "urdf", ".urdf", read_urdf },        { "obj", ".obj", read_mesh },           { "stl", ".stl", read_mesh },
    { "dae", ".dae", read_mesh },          { "poly", ".poly", read_mesh },         { "motion", ".csv", read_motion },
    { "json", ".json", read_json },        { "problem", ".dat", read_problem },    { "fclib", ".hdf5", read_fclib },
    { "bpmd", ".h5", read_bpmd },          { "recording", ".h5", read_recording }, { "trace", ".h5", read_trace },
    { "commands", ".txt", read_commands }, { "mjcf", ".xml", read_mjcf },          { "sdf", ".sdf", read_sdf },
    { "png", ".png", read_ground },        { "heights", ".csv", read_ground },     { NULL, NULL, NULL },
};

void reader_try(const reader* r, const char* folder, const char* bytes, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/input%s", folder, r->ending);
    FILE* f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, size, f) != size) abort();
    fclose(f);
    char* copy = malloc(size + 1); /* of its own, so that a byte too far is seen */
    if (!copy) abort();
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    r->read(path, copy, size);
    free(copy);
    remove(path);
}
