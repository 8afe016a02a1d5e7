/* Memory runs out at every place of the library that allocates, once each (tests/faults/places.h), while scenes are
 * read and stepped, recordings written, read and shown, problems stored: the call must give MOR_SYSTEM and say so, or
 * do without, and give back all it had. Allocations of other libraries do not fail here: HDF5 crashes on them, which is
 * why the command ends at once (cli/memory.c, scripts/test-faults).
 *
 * Then every place that calls HDF5 fails, once each (tests/faults/hdf5.c): the call must give a sentence, or do
 * without, and give back all it had. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "faults/places.h"
#include "faults/stored.h"
#include "fmi/export.h"
#include "fmi/unit.h"
#include "io/bpmd/bpmd.h"
#include "io/json/json_read.h"
#include "io/mjcf/mjcf.h"
#include "io/urdf/urdf.h"
#include "lab/measured.h"
#include "lab/plan.h"
#include "moreau/derivative.h"
#include "moreau/inverse.h"
#include "moreau/lab.h"
#include "moreau/optimise.h"
#include "moreau/state.h"
#include "plot/figure.h"
#include "plot/series.h"
#include "serve/export.h"
#include "serve/live.h"
#include "serve/problem_view.h"

/* ------------------------------------------------------------------------------- the allocator */

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void __libc_free(void* block);

enum { BLOCKS = 1 << 18, NUMBERS = 1 << 16 };
static volatile bool armed, counting, by_hdf5; /* by_hdf5: not memory fails but calls of HDF5 */
static long seen, wanted;                      /* allocations of this attempt; the one that fails, 0: none */
static long numbers[NUMBERS];                  /* the first of every place */
static int number_count;
static void* blocks[BLOCKS]; /* what the library holds; by address, NULL: empty */
static long held;

static size_t slot(const void* block)
{
    size_t k = ((uintptr_t)block >> 4) * 0x9e3779b97f4a7c15u >> 46;
    while (blocks[k % BLOCKS] && blocks[k % BLOCKS] != block) k++;
    return k % BLOCKS;
}

static void keep(void* block)
{
    if (!block) return;
    blocks[slot(block)] = block;
    held++;
}

/* Takes a block out of the table and closes the gap. */
static void lose(const void* block)
{
    size_t k = slot(block);
    if (!block || !blocks[k]) return;
    blocks[k] = NULL;
    held--;
    for (size_t i = (k + 1) % BLOCKS; blocks[i]; i = (i + 1) % BLOCKS) {
        void* moved = blocks[i];
        blocks[i] = NULL;
        blocks[slot(moved)] = moved;
    }
}

/* Is this an allocation of the library while it is looked at, and does it fail? */
static bool ours(const void* caller) { return armed && !places_looking && places_own(caller); }

/* Nothing fails from now on: for what counts the coverage of this test (scripts/coverage). */
void faults_rest(void);
void faults_rest(void) { armed = false; }

static bool fails(const void* caller)
{
    seen++;
    if (counting && number_count < NUMBERS && places_new(places_here(caller, NULL))) numbers[number_count++] = seen;
    if (seen != wanted) return false;
    errno = ENOMEM;
    return true;
}

/* Does this allocation fail? */
static bool lacks(const void* caller) { return !by_hdf5 && fails(caller); }

bool faults_hdf5(const void* caller);
bool faults_hdf5(const void* caller) { return by_hdf5 && ours(caller) && fails(caller); }

void* malloc(size_t size)
{
    const void* caller = __builtin_return_address(0);
    if (!ours(caller)) return __libc_malloc(size);
    if (lacks(caller)) return NULL;
    void* block = __libc_malloc(size);
    keep(block);
    return block;
}

void* calloc(size_t count, size_t size)
{
    const void* caller = __builtin_return_address(0);
    if (!ours(caller)) return __libc_calloc(count, size);
    if (lacks(caller)) return NULL;
    void* block = __libc_calloc(count, size);
    keep(block);
    return block;
}

/* Scratch comes from a block that is there already; each place that asks for some fails once, too. The linker puts
 * these before the functions of base/arena.c. */
void* __real_mor_arena_alloc(mor_arena* arena, size_t size);
void* __real_mor_arena_zero(mor_arena* arena, size_t count, size_t size);
void* __wrap_mor_arena_alloc(mor_arena* arena, size_t size);
void* __wrap_mor_arena_zero(mor_arena* arena, size_t count, size_t size);

void* __wrap_mor_arena_alloc(mor_arena* arena, size_t size)
{
    const void* caller = __builtin_return_address(0);
    return ours(caller) && lacks(caller) ? NULL : __real_mor_arena_alloc(arena, size);
}

void* __wrap_mor_arena_zero(mor_arena* arena, size_t count, size_t size)
{
    const void* caller = __builtin_return_address(0);
    return ours(caller) && lacks(caller) ? NULL : __real_mor_arena_zero(arena, count, size);
}

void* realloc(void* block, size_t size)
{
    const void* caller = __builtin_return_address(0);
    bool mine = ours(caller);
    if (mine && size && lacks(caller)) return NULL;
    lose(block);
    void* grown = __libc_realloc(block, size);
    if (mine && size) keep(grown);
    return grown;
}

void free(void* block)
{
    lose(block);
    __libc_free(block);
}

/* ------------------------------------------------------------------------------- what is done */

/* A scene of the library, its world, and steps. */
static mor_code run_scene(const char* name, int steps, mor_error* error)
{
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/%s", MOREAU_SOURCE_DIR, name);
    mor_scene* scene = mor_scene_load(path, NULL, NULL, error);
    mor_world* w = scene ? mor_scene_build(scene, 1, error) : NULL;
    mor_code code = w ? MOR_OK : error->code;
    for (int i = 0; i < steps && !code; i++) code = mor_world_step(w, NULL, error);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

static mor_code with_world(mor_code (*what)(mor_world*, mor_scene*, mor_error*), const char* name, mor_error* error)
{
    char path[512];
    snprintf(path, sizeof path, "%s/scenes/%s", MOREAU_SOURCE_DIR, name);
    mor_scene* scene = mor_scene_load(path, NULL, NULL, error);
    mor_world* w = scene ? mor_scene_build(scene, 1, error) : NULL;
    mor_code code = w ? what(w, scene, error) : error->code;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

static mor_code record_world(mor_world* w, mor_scene* scene, mor_error* error)
{
    mor_recorder* r = mor_recorder_open(faults_at("out.h5"), w, scene, error);
    if (!r) return error->code;
    mor_code code = mor_world_add_observer(w, mor_recorder_observe, r, error);
    for (int i = 0; i < 2 && !code; i++) code = mor_world_step(w, NULL, error);
    mor_code closed = mor_recorder_close(r, code ? NULL : error);
    return code ? code : closed;
}

static mor_code store_world(mor_world* w, mor_scene* scene, mor_error* error)
{
    remove(faults_at("bpmd.h5")); /* frames are never written over others */
    mor_bpmd_recorder* r = mor_bpmd_record(faults_at("bpmd.h5"), w, scene, 1, error);
    if (!r) return error->code;
    mor_code code = MOR_OK;
    for (int i = 0; i < 2 && !code; i++) code = mor_world_step(w, NULL, error);
    mor_code closed = mor_bpmd_close(r, code ? NULL : error);
    return code ? code : closed;
}

static mor_code derive_world(mor_world* w, mor_scene* scene, mor_error* error)
{
    (void)scene;
    enum { STEPS = 2, MOST = 128 };
    const mor_input gravity = { MOR_INPUT_GRAVITY, 0, 2 };
    mor_derivative* d = NULL;
    double gradient[2 * MOST] = { 1.0 }, back[2 * MOST], by_step[STEPS];
    if (mor_world_nu_count(w) > MOST) return mor_fail(error, MOR_BAD_INPUT, "too large");
    mor_code code = mor_world_step(w, NULL, error);
    if (!code) code = mor_world_derivative(w, &gravity, 1, &d, error);
    mor_derivative_destroy(d), d = NULL;
    if (!code) code = mor_world_derivative_sided(w, &gravity, 1, 1, &d, error);
    mor_derivative_destroy(d), d = NULL;
    if (!code) code = mor_world_derivative_smoothed(w, &gravity, 1, 0.01, &d, error);
    mor_derivative_destroy(d), d = NULL;
    if (!code) code = mor_world_derivatives(w, STEPS, &gravity, 1, &d, error);
    mor_derivative_destroy(d), d = NULL;
    if (!code) code = mor_world_adjoint(w, STEPS, gradient, &gravity, 1, back, by_step, &d, error);
    mor_derivative_destroy(d);
    return code;
}

/* Forces from a motion, and velocities for a goal. */
static mor_code invert_world(mor_world* w, mor_scene* scene, mor_error* error)
{
    (void)scene;
    double nu[128];
    if (mor_world_nu_count(w) > 128) return mor_fail(error, MOR_BAD_INPUT, "too large");
    mor_code code = mor_world_step(w, NULL, error);
    if (!code) code = mor_world_get_nu(w, nu, mor_world_nu_count(w), error);
    for (int law = 0; law < 2 && !code; law++) {
        mor_inverse_options o = mor_inverse_options_default();
        mor_inverse_dynamics* answer = NULL;
        o.law = law ? MOR_INVERSE_EXACT : MOR_INVERSE_CONVEX;
        code = mor_world_inverse(w, NULL, nu, &o, &answer, error);
        mor_inverse_dynamics_destroy(answer);
    }
    mor_unknown unknown = { .kind = MOR_UNKNOWN_VELOCITY, .number = 0 };
    mor_goal goal = { .number = 0, .value = 0.5, .weight = 1 };
    mor_optimise_options o = mor_optimise_options_default();
    mor_optimum best;
    double x = 0.1;
    o.most_simulations = 4;
    for (o.search = 0; o.search < 2 && !code; o.search++) /* by derivatives, and without */
        code = mor_world_optimise(w, 2, &unknown, 1, &goal, 1, &o, &x, &best, error);
    return code;
}

static mor_code show_world(mor_world* w, mor_scene* scene, mor_error* error)
{
    (void)w;
    mor_live* live = mor_live_create(scene, &(mor_live_options){ .threads = 1, .paused = true }, error);
    if (!live) return error->code;
    mor_live_destroy(live);
    return MOR_OK;
}

static const char* scene_name;
static mor_code scene(mor_error* e) { return run_scene(scene_name, 1, e); }
static mor_code record(mor_error* e) { return with_world(record_world, "benchmark/s4_slide.yaml", e); }
static mor_code store(mor_error* e) { return with_world(store_world, "benchmark/s4_slide.yaml", e); }
static mor_code derive(mor_error* e) { return with_world(derive_world, scene_name, e); }
static mor_code invert(mor_error* e) { return with_world(invert_world, "benchmark/s4_slide.yaml", e); }
static mor_code show(mor_error* e) { return with_world(show_world, scene_name, e); }

/* A recording as the viewer sees it: opened, described, all series, a frame, a page. */
static mor_code view(mor_error* error)
{
    mor_recording* r = mor_recording_open(faults_at("run.h5"), error);
    if (!r) return error->code;
    mor_bytes bytes = { 0 };
    mor_view_frame frame = { 0 };
    const mor_recording_info* info = mor_recording_get_info(r);
    mor_code code = mor_view_series(&bytes, r, 100, error);
    if (!code) code = mor_view_body(&bytes, r, 0, 100, error);
    if (!code) code = mor_view_frame_create(&frame, info->bodies, error);
    if (!code) code = mor_view_frame_read(&frame, r, info->frames - 1, error);
    if (!code) mor_view_frame_write(&bytes, &frame);
    if (!code && bytes.failed) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_export_report report;
    const mor_export_options options = { .most_bytes = 1e7, .rate = 60.0 };
    if (!code) code = mor_export_html(faults_at("page.html"), &r, 1, &options, &report, error);
    mor_view_frame_free(&frame);
    mor_bytes_free(&bytes);
    mor_recording_close(r);
    return code;
}

static mor_code read_problems(mor_error* error)
{
    mor_bpmd* file = mor_bpmd_open(faults_at("problems.h5"), error);
    if (!file) return error->code;
    mor_bpmd_frame frame;
    mor_code code = mor_bpmd_read(file, 0, &frame, error);
    if (!code) mor_bpmd_frame_clear(&frame);
    mor_bpmd_free(file);
    if (code) return code;
    mor_recording* r = mor_view_open(faults_at("problems.h5"), 0, NULL, NULL, error);
    if (!r) return error->code;
    mor_recording_close(r);
    return MOR_OK;
}

static mor_code read_json(mor_error* error)
{
    static const char text[] =
        "{\"a\": [1, 2, {\"b\": \"long \\u00e4 text\"}], \"c\": null, \"d\": [true, false, [[]]]}";
    mor_json_document* d = mor_json_read_text("text", text, sizeof text - 1, error);
    if (!d) return error->code;
    mor_json_free(d);
    return MOR_OK;
}

static mor_code read_plan(mor_error* error)
{
    static const char text[] =
        "moreau-sweep: 1\nscene: scene.yaml\nset: { time.end: 0.02 }\nparameters:\n"
        "  - { path: time.step, values: [0.01, 0.005] }\n  - { path: bodies.box.mass, grid: [1, 2, 3] }\n"
        "measures:\n  - { name: energy, path: energy.final }\n";
    mor_plan* plan = mor_plan_parse(text, sizeof text - 1, "plan", error);
    if (!plan) return error->code;
    mor_plan_destroy(plan);
    mor_measured table = { 0 };
    mor_code code = mor_measured_read(&table, faults_at("motion.csv"), error);
    mor_measured_free(&table);
    return code;
}

/* A unit for co-simulation: written, made from its folder, driven, stored and put back. */
static mor_code run_unit(mor_error* error)
{
    char scene[256], state[1 << 16];
    snprintf(scene, sizeof scene, "%s/scenes/control/plate_arm.yaml", MOREAU_SOURCE_DIR);
    const char* sets[] = { "time.end=1", NULL };
    mor_fmu_export what = { scene, sets, faults_at("motion.csv"), faults_at("unit.fmu"), 2 };
    int count = 0;
    mor_code code = mor_fmu_write(&what, &count, error);
    mor_fmu* unit = code ? NULL : mor_fmu_create(faults_folder, "token", error);
    if (!unit) return error->code;
    double x;
    for (unsigned i = 0; i < 200 && !code; i++)
        if (mor_fmu_get(unit, i, &x, error) == MOR_SYSTEM) code = error->code;
    size_t size = mor_fmu_save(unit, state, sizeof state);
    if (!code && size == 0) code = mor_fail(error, MOR_BAD_INPUT, "no room for the state");
    if (!code) code = mor_fmu_advance(unit, 0.02, error);
    if (!code) code = mor_fmu_restore(unit, state, size, error);
    if (!code) code = mor_fmu_reset(unit, error);
    mor_fmu_destroy(unit);
    return code;
}

/* Models in other formats, written and read again. */
static mor_code convert_models(mor_error* error)
{
    char path[256], notes[4096];
    snprintf(path, sizeof path, "%s/scenes/robots/arm2.urdf", MOREAU_SOURCE_DIR);
    mor_urdf_options o = mor_urdf_options_default();
    o.shapes = true;
    mor_robot_model* m = mor_urdf_read(path, &o, notes, sizeof notes, error);
    mor_code code = m ? mor_urdf_write(m, "arm", faults_at("arm.urdf"), notes, sizeof notes, error) : error->code;
    mor_robot_destroy(m);
    snprintf(path, sizeof path, "%s/scenes/mechanisms/arm_on_floor.yaml", MOREAU_SOURCE_DIR);
    mor_scene* scene = code ? NULL : mor_scene_load(path, NULL, NULL, error);
    mor_world* w = scene ? mor_scene_build(scene, 1, error) : NULL;
    if (!code) code = w ? mor_mjcf_write(w, faults_at("arm.xml"), notes, sizeof notes, error) : error->code;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    scene = code ? NULL : mor_scene_load(faults_at("arm.xml"), NULL, NULL, error);
    w = scene ? mor_scene_build(scene, 1, error) : NULL;
    if (!code) code = w ? mor_world_step(w, NULL, error) : error->code;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

/* Panels of a recording, as many as fit, and the figure. */
static mor_code draw(mor_error* error)
{
    static const char* const quantities[] = { "position", "velocity:box", "energy",   "contact-forces",
                                              "gap",      "iterations",   "residual", "status",
                                              "work",     "timing",       "/time",    "orientation:box" };
    mor_recording* r = mor_recording_open(faults_at("run.h5"), error);
    mor_figure* figure = r ? calloc(1, sizeof *figure) : NULL;
    mor_code code = figure ? MOR_OK : r ? mor_fail(error, MOR_SYSTEM, "out of memory") : error->code;
    if (!code) mor_plot_title(figure, &r, 1);
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities && !code; i++)
        code = mor_plot_add(figure, &r, 1, quantities[i], error);
    if (!code) code = mor_figure_write(figure, faults_at("figure.svg"), error);
    if (figure) mor_figure_clear(figure);
    free(figure);
    mor_recording_close(r);
    return code;
}

/* ------------------------------------------------------------------------------- the attempts */

/* What the child that tries them is at, and what was wrong. */
typedef struct told {
    long number, tried, wrong;
    char text[4096];
} told;

static mor_code attempt(mor_code (*what)(mor_error*), long number, mor_error* error)
{
    *error = (mor_error){ 0 };
    seen = 0;
    wanted = number;
    armed = true;
    mor_code code = what(error);
    armed = false;
    return code;
}

static void try_all(mor_code (*what)(mor_error*), told* t)
{
    mor_error error;
    if (attempt(what, 0, &error)) { /* the first time fills what is kept for good, by HDF5 and others */
        snprintf(t->text, sizeof t->text, "without a fault: %.400s", error.text);
        t->wrong++;
        return;
    }
    counting = true;
    long before = held;
    if (attempt(what, 0, &error)) snprintf(t->text, sizeof t->text, "the second time: %.400s", error.text), t->wrong++;
    counting = false;
    if (held != before)
        snprintf(t->text, sizeof t->text, "%ld blocks are lost without a fault", held - before), t->wrong++;
    for (int i = 0; i < number_count; i++) {
        t->number = numbers[i];
        before = held;
        mor_code code = attempt(what, numbers[i], &error);
        t->tried++;
        bool good = code == MOR_OK || (by_hdf5 ? error.text[0] : code == MOR_SYSTEM && strstr(error.text, "memory"));
        if (good && held == before) continue;
        size_t used = strlen(t->text);
        snprintf(t->text + used, sizeof t->text - used, "\n    call %ld: code %d, '%.200s', %ld blocks lost",
                 numbers[i], (int)code, error.text, held - before);
        t->wrong++;
    }
}

/* In a child: a crash is one of the answers that are wrong. */
static void survives(mor_code (*what)(mor_error*))
{
    told* t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(t != MAP_FAILED);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        static const int signals[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL }; /* not cmocka's */
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
        try_all(what, t);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status)) fail_msg("ends by signal %d at call %ld", WTERMSIG(status), t->number);
    if (t->wrong) fail_msg("%ld of %ld wrong: %s", t->wrong, t->tried, t->text);
    assert_true(t->tried > 0);
    printf("    %ld places\n", t->tried);
    munmap(t, sizeof *t);
}

#define SURVIVES(name, what, hdf5)                                                                                     \
    static void name(void** state)                                                                                     \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        by_hdf5 = hdf5;                                                                                                \
        survives(what);                                                                                                \
        by_hdf5 = false;                                                                                               \
    }

static void survive_scenes(mor_code (*what)(mor_error*), const char* const* names)
{
    for (; *names; names++) {
        scene_name = *names;
        printf("    %s\n", *names);
        survives(what);
    }
}

/* One of every kind: contacts, chains, robots, controllers, loops, exact geometry, the plane, walks, models
 * of other programs. */
static void scenes_of_all_kinds_run(void** state)
{
    (void)state;
    static const char* const names[] = { "benchmark/s4_slide.yaml",
                                         "benchmark/s7.yaml",
                                         "benchmark/s7_maximal.yaml",
                                         "benchmark/sphere_stack.yaml",
                                         "benchmark/s9_rod.yaml",
                                         "control/gripper_lift.yaml",
                                         "control/humanoid_stand.yaml",
                                         "control/five_bar_hop.yaml",
                                         "control/plate_arm.yaml",
                                         "iftomm/iftomm_a03.yaml",
                                         "mechanisms/slider_crank.yaml",
                                         "mechanisms/stewart.yaml",
                                         "mechanisms/arm_on_floor.yaml",
                                         "new/new_planar.yaml",
                                         "peg/peg_hills.yaml",
                                         "peg/peg_in_hole.yaml",
                                         "../tests/mjcf/06_meshes.xml",
                                         "../tests/mjcf/11_actuators.xml",
                                         "../tests/mjcf/12_contacts.xml",
                                         "../tests/mjcf/13_keys.xml",
                                         "../tests/mjcf/17_spatial.xml",
                                         "../tests/mjcf/attached.xml",
                                         "../tests/mjcf/field.xml",
                                         "../tests/mjcf/replicas.xml",
                                         "../tests/mjcf/shells.xml",
                                         "../tests/sdf/1_arm.sdf",
                                         "../tests/sdf/5_world.sdf",
                                         NULL };
    survive_scenes(scene, names);
}

/* Boxes, robots with laws of control, robots on the floor. */
static void steps_are_derived(void** state)
{
    (void)state;
    survive_scenes(derive, (const char* const[]){ "benchmark/s4_slide.yaml", "control/plate_arm.yaml",
                                                  "mechanisms/arm_on_floor.yaml", NULL });
}

static void a_scene_runs_for_a_viewer(void** state)
{
    (void)state;
    survive_scenes(show, (const char* const[]){ "benchmark/s4_slide.yaml", "mechanisms/arm_on_floor.yaml",
                                                "../tests/mjcf/06_meshes.xml", "../tests/mjcf/field.xml", NULL });
}

SURVIVES(a_recording_is_written, record, false)
SURVIVES(problems_are_written, store, false)
SURVIVES(forces_come_from_a_motion, invert, false)
SURVIVES(a_recording_is_shown, view, false)
SURVIVES(problems_are_read, read_problems, false)
SURVIVES(json_is_read, read_json, false)
SURVIVES(plans_and_motions_are_read, read_plan, false)
SURVIVES(a_unit_runs, run_unit, false)
SURVIVES(models_are_converted, convert_models, false)
SURVIVES(figures_are_drawn, draw, false)
SURVIVES(traces_and_stored_problems_are_read, faults_stored, false)
SURVIVES(hdf5_fails_under_a_recording, record, true)
SURVIVES(hdf5_fails_under_problems, store, true)
SURVIVES(hdf5_fails_for_a_viewer, view, true)
SURVIVES(hdf5_fails_while_problems_are_read, read_problems, true)
SURVIVES(hdf5_fails_under_traces_and_stored_problems, faults_stored, true)
SURVIVES(hdf5_fails_under_figures, draw, true)

static int open_all(void** state)
{
    (void)state;
    mor_error error = { 0 };
    places_begin();
    snprintf(faults_folder, sizeof faults_folder, "/tmp/moreau-test-memory-XXXXXX");
    if (!mkdtemp(faults_folder) || record(&error) || store(&error)) {
        print_error("%s\n", error.text);
        return -1;
    }
    FILE* f = fopen(faults_at("motion.csv"), "w");
    if (!f) return -1;
    fputs("time,x,y\n0,1,2\n0.1,3,4\n", f);
    fclose(f);
    char line[1024]; /* the files of a unit */
    snprintf(line, sizeof line, "cp -r %s/scenes/control %s/scenes/motions %s/scenes/robots %s", MOREAU_SOURCE_DIR,
             MOREAU_SOURCE_DIR, MOREAU_SOURCE_DIR, faults_folder);
    if (system(line) != 0 || !(f = fopen(faults_at("moreau.txt"), "w"))) return -1;
    fputs("token\ncontrol/plate_arm.yaml\n", f);
    fclose(f);
    return rename(faults_at("out.h5"), faults_at("run.h5")) || rename(faults_at("bpmd.h5"), faults_at("problems.h5"));
}

static int close_all(void** state)
{
    (void)state;
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", faults_folder);
    return system(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read),
        cmocka_unit_test(plans_and_motions_are_read),
        cmocka_unit_test(scenes_of_all_kinds_run),
        cmocka_unit_test(steps_are_derived),
        cmocka_unit_test(forces_come_from_a_motion),
        cmocka_unit_test(a_recording_is_written),
        cmocka_unit_test(a_recording_is_shown),
        cmocka_unit_test(problems_are_written),
        cmocka_unit_test(problems_are_read),
        cmocka_unit_test(a_scene_runs_for_a_viewer),
        cmocka_unit_test(a_unit_runs),
        cmocka_unit_test(models_are_converted),
        cmocka_unit_test(figures_are_drawn),
        cmocka_unit_test(traces_and_stored_problems_are_read),
        cmocka_unit_test(hdf5_fails_under_a_recording),
        cmocka_unit_test(hdf5_fails_under_problems),
        cmocka_unit_test(hdf5_fails_for_a_viewer),
        cmocka_unit_test(hdf5_fails_while_problems_are_read),
        cmocka_unit_test(hdf5_fails_under_traces_and_stored_problems),
        cmocka_unit_test(hdf5_fails_under_figures),
    };
    if (getenv("MOREAU_ONLY")) cmocka_set_test_filter(getenv("MOREAU_ONLY")); /* a name, with * and ? */
    return cmocka_run_group_tests(tests, open_all, close_all);
}
