/* Careless edits of files that are right: each word and number is left out, negated, made huge, not a number, another
 * word, or written twice; each line is left out or written twice. Every reader of text must take the file as it is now
 * or refuse it with a sentence that names the file, or one that it uses. `make test` tries some edits of each word,
 * drawn in a fixed order, MOREAU_LONG=1 all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/folder.h"
#include "common/scenes.h"
#include "io/fclib/fclib.h"
#include "io/json/json_read.h"
#include "io/text/text_file.h"
#include "lab/calibrate.h"
#include "lab/plan.h"
#include "moreau/moreau.h"

typedef mor_code (*loader)(const char* path, mor_error* error);

/* What is tried, and what went wrong. */
typedef struct careless {
    const char* file; /* its name in the folder */
    loader load;
    int most; /* edits of a word */
    long tried, refused, wrong;
} careless;

static const char* const words[] = {
    "", "-1", "nan", "qqq", "1e999", "0", "1e9", "[", "1 2 3", "true", "-0.5", "99999"
};
enum { WORDS = sizeof words / sizeof *words };

static void try_text(careless* c, const char* text, size_t size, const char* what)
{
    mor_error error = { 0 };
    FILE* f = fopen(path_of(c->file), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
    mor_code code = c->load(path_of(c->file), &error);
    c->tried++;
    if (!code) return;
    if (c->tried == 1) print_error("%s: %.300s\n", c->file, error.text);
    c->refused++;
    if (error.code == code && (strstr(error.text, c->file) || strstr(error.text, folder))) return;
    if (strstr(error.text, "does not take the problems of formulation")) return; /* of no line: two that do not fit */
    if (c->wrong++ < 5) print_error("%s: %s: code %d, '%.300s'\n", c->file, what, (int)code, error.text);
}

static bool in_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_.+-", c) != NULL;
}

/* The text with `count` bytes at `at` replaced. */
static void try_edit(careless* c, const char* text, size_t size, size_t at, size_t count, const char* by)
{
    static char edited[1 << 17];
    char what[120];
    size_t n = strlen(by);
    if (size + n >= sizeof edited) return;
    memcpy(edited, text, at);
    memcpy(edited + at, by, n);
    memcpy(edited + at + n, text + at + count, size - at - count);
    snprintf(what, sizeof what, "byte %zu, '%.*s' now '%.40s'", at, (int)(count < 40 ? count : 40), text + at, by);
    try_text(c, edited, size - count + n, what);
}

static void try_words(careless* c, const char* text, size_t size)
{
    unsigned turn = 0;
    for (size_t at = 0; at < size;) {
        size_t n = 0;
        while (at + n < size && text[at + n] && in_word(text[at + n])) n++;
        if (n == 0) {
            at++;
            continue;
        }
        for (int k = 0; k < c->most && k < WORDS; k++) {
            turn = c->most < WORDS ? turn * 1664525u + 1013904223u : (unsigned)k << 20;
            try_edit(c, text, size, at, n, words[(turn >> 20) % WORDS]);
        }
        at += n;
    }
}

static void try_lines(careless* c, const char* text, size_t size)
{
    char twice[2048];
    for (size_t at = 0; at < size;) {
        const char* end = memchr(text + at, '\n', size - at);
        size_t n = end ? (size_t)(end - text) + 1 - at : size - at;
        try_edit(c, text, size, at, n, "");
        snprintf(twice, sizeof twice, "%.*s%.*s", (int)n, text + at, (int)n, text + at);
        if (2 * n < sizeof twice) try_edit(c, text, size, at, n, twice);
        at += n;
    }
}

/* All edits of one text. */
static void try_all(const char* file, loader load, const char* text, size_t size, int most)
{
    careless c = { file, load, getenv("MOREAU_LONG") ? WORDS : most, 0, 0, 0 };
    try_text(&c, text, size, "as it is");
    if (c.refused) fail_msg("%s is refused as it is", file);
    try_words(&c, text, size);
    try_lines(&c, text, size);
    try_text(&c, text, size, "as it was"); /* others may use it */
    print_message("    %s: %ld edits, %ld refused\n", file, c.tried, c.refused);
    if (c.wrong) fail_msg("%s: %ld of %ld edits are refused without a sentence that names it", file, c.wrong, c.tried);
}

static void try_file(const char* path, loader load, int most)
{
    char* text;
    size_t size;
    mor_error error = { 0 };
    if (mor_text_read(path, 1 << 16, &text, &size, &error)) fail_msg("%s", error.text);
    const char* name = strrchr(path, '/');
    try_all(name ? name + 1 : path, load, text, size, most);
    free(text);
}

/* ------------------------------------------------------------------------------- the readers */

static mor_code built(mor_scene* scene, mor_error* error)
{
    mor_world* w = scene ? mor_scene_build(scene, 1, error) : NULL;
    mor_code code = w ? MOR_OK : error->code;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

static mor_code load_scene(const char* path, mor_error* error)
{
    return built(mor_scene_load(path, NULL, NULL, error), error);
}

/* A scene that uses the file; `text` has one %s for its path. */
static mor_code load_within(const char* text, const char* path, mor_error* error)
{
    char scene[1024];
    int n = snprintf(scene, sizeof scene, text, path);
    return built(mor_scene_parse(scene, (size_t)n, path, NULL, NULL, error), error);
}

static mor_code load_mjcf(const char* path, mor_error* error)
{
    return load_within("moreau: 1\nrobots: [{ mjcf: '%s' }]\n", path, error);
}

static mor_code load_sdf(const char* path, mor_error* error)
{
    return load_within("moreau: 1\nrobots: [{ sdf: '%s' }]\n", path, error);
}

static mor_code load_urdf(const char* path, mor_error* error)
{
    return load_within("moreau: 1\nrobots: [{ urdf: '%s' }]\n", path, error);
}

static mor_code load_mesh(const char* path, mor_error* error)
{
    return load_within("moreau: 1\nbodies: [{ mass: 1, shape: { mesh: '%s' } }]\n", path, error);
}

static mor_code load_motion(const char* path, mor_error* error)
{
    return load_within("moreau: 1\nbodies: [{ shape: { sphere: 1 }, kinematic: { motion: '%s' } }]\n", path, error);
}

static mor_code load_heights(const char* path, mor_error* error)
{
    return load_within("moreau: 1\nbodies: [{ fixed: true, shape: { heightfield: { size: [1, 1], file: '%s' } } }]\n",
                       path, error);
}

static mor_code load_plan(const char* path, mor_error* error)
{
    mor_plan* plan = mor_plan_load(path, error);
    mor_plan_destroy(plan);
    return plan ? MOR_OK : error->code;
}

static mor_code load_calibration(const char* path, mor_error* error)
{
    static mor_calibration c; /* large */
    mor_code code = mor_calibration_read(&c, path, NULL, NULL, error);
    mor_calibration_free(&c);
    return code;
}

static const char* kind;
static mor_code load_problem(const char* path, mor_error* error)
{
    mor_problem_file file = { 0 };
    mor_code code = mor_problem_load(path, kind, &file, error);
    if (!code) mor_problem_file_free(&file);
    return code;
}

static mor_code load_json(const char* path, mor_error* error)
{
    mor_json_document* d = mor_json_read_file(path, error);
    mor_json_free(d);
    return d ? MOR_OK : error->code;
}

/* ------------------------------------------------------------------------------- the files */

static void copy_in(const char* what)
{
    char line[1024];
    snprintf(line, sizeof line, "cp -rL %s/%s %s/", MOREAU_SOURCE_DIR, what, folder);
    assert_int_equal(system(line), 0);
}

static const char* source(const char* name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", MOREAU_SOURCE_DIR, name);
    return path;
}

static void models_of_mujoco_are_read_or_refused(void** state)
{
    (void)state;
    static const char* const names[] = { "01_classes",   "02_joints",    "03_balls", "04_free",   "05_shapes",
                                         "06_meshes",    "07_inertials", "08_total", "09_turns",  "10_loops",
                                         "11_actuators", "12_contacts",  "13_keys",  "15_static", "16_fluid",
                                         "17_spatial",   "attached",     "carried",  "field",     "part_arm",
                                         "replicas",     "shells" };
    copy_in("tests/mjcf/*");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[64];
        snprintf(name, sizeof name, "tests/mjcf/%s.xml", names[i]);
        try_file(source(name), load_mjcf, 6);
    }
}

static void models_of_sdf_and_urdf_are_read_or_refused(void** state)
{
    (void)state;
    static const char* const sdf[] = { "1_arm", "2_floating", "3_ball", "4_offset", "5_world" };
    static const char* const urdf[] = { "goblet", "plate_arm", "gripper", "five_bar" };
    char name[64];
    for (size_t i = 0; i < sizeof sdf / sizeof *sdf; i++) {
        snprintf(name, sizeof name, "tests/sdf/%s.sdf", sdf[i]);
        try_file(source(name), load_sdf, WORDS);
    }
    copy_in("scenes/robots/*");
    for (size_t i = 0; i < sizeof urdf / sizeof *urdf; i++) {
        snprintf(name, sizeof name, "scenes/robots/%s.urdf", urdf[i]);
        try_file(source(name), load_urdf, 6);
    }
}

static void meshes_and_tables_are_read_or_refused(void** state)
{
    (void)state;
    try_file(source("tests/fuzz/corpus/dae/box.dae"), load_mesh, 4);
    try_file(source("tests/fuzz/corpus/obj/tetra.obj"), load_mesh, 12);
    try_file(source("tests/fuzz/corpus/poly/tetra.poly"), load_mesh, 12);
    static const char motion[] = "t,x,y,z,qw,qx,qy,qz\n0,0,0,0,1,0,0,0\n1,1,0,0,1,0,0,0\n2,1,0.5,0,0,1,0,0\n";
    try_all("motion.csv", load_motion, motion, strlen(motion), WORDS);
    try_file(source("tests/fuzz/corpus/heights/hills.csv"), load_heights, 12);
    try_file(source("tests/fuzz/corpus/json/state.json"), load_json, 12);
}

/* One edit of every word of every short scene of the tree. */
static void scenes_are_read_or_refused(void** state)
{
    (void)state;
    static const char* const slow[] = { "humanoid", "crowd", "decompose" }; /* which take long to build */
    int count;
    char** names = scene_names(&count);
    copy_in("scenes");
    for (char** n = names; *n; n++) {
        char* text;
        size_t size;
        mor_error error = { 0 };
        bool skipped = false;
        for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) skipped |= strstr(*n, slow[i]) != NULL;
        if (mor_text_read(scene_path(*n), 1 << 20, &text, &size, &error)) fail_msg("%s", error.text);
        const char* file = scene_path(*n) + strlen(MOREAU_SOURCE_DIR "/"); /* scenes/FOLDER/NAME.yaml */
        if (size < 2500 && !skipped) try_all(file, load_scene, text, size, 1);
        free(text);
    }
    scene_names_free(names);
}

static const char sweep[] =
    "moreau-sweep: 1\nscene: slide.yaml\nset: { time.end: 0.02, time.step: 0.01 }\nparameters:\n"
    "  - { path: materials.stone.friction, values: [0.1, 0.2] }\n  - { path: bodies.box.mass, grid: [1, 2, 3] }\n"
    "  - { path: method.solver.name, values: [nsgs, auto] }\n  - { path: time.tolerance, log-grid: [1e-4, 0.1, 3] }\n"
    "  - { path: gravity.2, range: [-10, -9, 0.5] }\nrepeats: 2\nat: [0.01, 0.02]\nmeasures:\n"
    "  - { name: energy, path: energy.final }\n  - { name: way, path: samples.0.bodies.box.position.0 }\n"
    "  - { name: top, over: max, path: bodies.box.position.2, from: 0.01, until: 0.02 }\n";

static const char drawn[] =
    "moreau-sweep: 1\nscenes: [slide.yaml]\nparameters:\n  - { path: bodies.box.mass, uniform: [1, 2] }\n"
    "  - { path: materials.stone.friction, log-uniform: [0.1, 1] }\n  - { path: gravity.2, normal: [-9.8, 0.01] }\n"
    "design: { name: morris, samples: 3, levels: 4, seed: 1 }\n"
    "measures:\n  - { name: energy, path: energy.final }\n";

static const char fit[] =
    "moreau-calibrate: 1\nscene: slide.yaml\n"
    "data: { file: motion.csv, time: time, columns: { bodies.box.position: [box.x, box.y, box.z] } }\n"
    "initial:\n  bodies.box.velocity: { columns: [box.vx, box.vy, box.vz], frame: world }\n"
    "parameters:\n  - { path: materials.stone.friction, range: [0.1, 0.6], start: 0.4, log: true }\n"
    "  - { name: weight, path: [bodies.box.mass], range: [0.5, 2] }\n"
    "error: { name: pose, rotation_weight: 0.05 }\n"
    "optimiser: { name: sbplx, starts: 1, evaluations: 4 }\nintervals: { bootstrap: 10 }\n"
    "methods:\n  - { formulation: ncp }\n"
    "  - { name: soft, formulation: { name: hunt-crossley, substeps: 10 },\n"
    "      parameters: [ { path: method.formulation.dissipation, range: [0.05, 5], log: true } ] }\n";

static void plans_are_read_or_refused(void** state)
{
    (void)state;
    char line[2048];
    snprintf(line, sizeof line, "cd %s && cp %s slide.yaml && %s run slide.yaml --steps 5 --quiet --csv motion.csv",
             folder, scene_path("s4_slide"), MOREAU_COMMAND);
    assert_int_equal(system(line), 0);
    const struct {
        const char *name, *text;
        loader load;
    } plans[] = { { "sweep.yaml", sweep, load_plan },
                  { "drawn.yaml", drawn, load_plan },
                  { "fit.yaml", fit, load_calibration } };
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        try_all(plans[i].name, plans[i].load, plans[i].text, strlen(plans[i].text), WORDS);
}

/* Problems of every kind and storage, small. */
static void problems_are_read_or_refused(void** state)
{
    (void)state;
    static const struct {
        const char *kind, *name, *text;
    } all[] = {
        { "lcp", "dense.dat", "2\n0\n2\n2\n2\t2\n2\n1\n1\n2\n-5\n-6\n" },
        { "lcp", "half.dat",
          "2\n2 2 2\n4\nx\ntriplet: 2-by-2, nzmax: 3 nnz: 3\n 0 0 : 2\n 1 0 : 1\n 1 1 : 2\n-5\n-6\n" },
        { "fc3d", "blocks.dat", "3\n1\n1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n0\n0\n1 2 3\n4 5 6\n7 8 9\n-1 -2 -3\n0.7\n" },
        { "fc3d", "pairs.dat",
          "3\n2\n1\n6 6\n2\n2 2\n3 6\n3 6\n3 2\n0 1 2\n0 1\n0\n2 0 0 0 2 0 0 0 2\n1\n2 0 0 0 2 0 0 0 2\n-1 -2 -3 1 0 "
          "0\n"
          "0.7 0.5\n" },
        { "fc3d", "columns.dat",
          "3 1\n2 3 3\n1\nx\n3-by-3, nzmax: 3 nnz: 3\ncol 0 : locations 0 to 0\n 0 : 2\ncol 1 : locations 1 to 1\n 1 : "
          "2\n"
          "col 2 : locations 2 to 2\n 2 : 2\n-1 0 0\n0.5\n" },
        { "fc3d", "rows.dat",
          "3 1\n2 3 3\n3\nx\n3-by-3, nzmax: 3 nnz: 3\ncol 0 : locations 0 to 0\n 0 : 2\ncol 1 : locations 1 to 1\n 1 : "
          "2\n"
          "col 2 : locations 2 to 2\n 2 : 2\n-1 0 0\n0.5\n" },
        { "mlcp", "parts.dat", "0 1\n1 1\n2\n3\n1\n1\n-1\n-2\n" },
        { "mlcp", "groups.dat", "1 0\n1 2\n0 1 3\n0 1\n0 3 3\n3 3\n2 0 0 0 2 0 0 0 2\n-1 -2 -3\n" },
        { "mlcp", "tall.dat", "1 0\n1 1\n0 1 2\n0 1\n0 3 2\n3 2\n2 0 1 0 2 1\n-1 -2\n" },
        { "gfc3d", "global.dat", "3 1\n0 2 2\n2 2\n1 0 0 1\n0 2 3\n2 3\n1 0 0 1 0 0\n-1 -2\n0 0 0\n0.4\n" },
        { "fc2d", "planar.dat", "2 1\n0 2 2\n2 2\n2 0 0 2\n-1 0.5\n0.4\n" },
        { "rfc3d", "rolling.dat",
          "5 1\n0 5 5\n5 5\n2 0 0 0 0 0 2 0 0 0 0 0 2 0 0 0 0 0 2 0 0 0 0 0 2\n-1 0 0 0 0\n0.4\n0.01\n" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        kind = all[i].kind;
        try_all(all[i].name, load_problem, all[i].text, strlen(all[i].text), WORDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_of_mujoco_are_read_or_refused),
        cmocka_unit_test(models_of_sdf_and_urdf_are_read_or_refused),
        cmocka_unit_test(meshes_and_tables_are_read_or_refused),
        cmocka_unit_test(scenes_are_read_or_refused),
        cmocka_unit_test(plans_are_read_or_refused),
        cmocka_unit_test(problems_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
