/* Iterations in the frames of a run: every formulation tells its errors and contact states, within bounds, and a run is
 * the same with them and without. Their numbers are computed again outside (tests/outside/frames.py). */
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

#include "common/scenes.h"
#include "io/bpmd/bpmd.h"
#include "io/hdf5/h5.h"
#include "moreau/state.h"

static char folder[] = "/tmp/moreau_bpmd_iterations_XXXXXX";

static int remove_file(const char* name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    remove(path);
    return 0;
}

/* Two piles, one of them two boxes high, that slide, and a box at rest: three islands. */
static const char scene_text[] =
    "moreau: 1\n"
    "time: { step: 0.005, end: 1 }\n"
    "method: { on_failure: warn }\n"
    "bodies:\n"
    "  - { name: floor, fixed: true, friction: 0.5, shape: { plane: { normal: [0, 0, 1] } } }\n"
    "  - { name: a, shape: { box: [1, 1, 1] }, friction: 0.5, position: [0, 0, 0.5], "
    "velocity: [1.3, 0.4, 0] }\n"
    "  - { name: b, shape: { box: [1, 1, 1] }, friction: 0.5, position: [0, 0, 1.5] }\n"
    "  - { name: c, shape: { box: [1, 1, 1] }, friction: 0.5, position: [9, 0, 0.5], "
    "velocity: [0, 0.7, 0] }\n"
    "  - { name: d, shape: { box: [1, 0.7, 0.9] }, friction: 0.5, position: [-9, 0, 0.45] }\n";

/* Without friction: a box that slips and one at rest. */
static const char smooth_text[] =
    "moreau: 1\n"
    "time: { step: 0.005, end: 1 }\n"
    "bodies:\n"
    "  - { name: floor, fixed: true, friction: 0, shape: { plane: { normal: [0, 0, 1] } } }\n"
    "  - { name: a, shape: { box: [1, 1, 1] }, friction: 0, position: [0, 0, 0.5], velocity: [1.3, 0.4, 0] }\n"
    "  - { name: b, shape: { box: [1, 1, 1] }, friction: 0, position: [9, 0, 0.5] }\n";

static const char* text = scene_text;

typedef struct stored {
    size_t lines, contacts;
    double* errors[6];
    double* iteration;
    int* states;
    uint64_t hash;
} stored;

enum { STEPS = 3 };

static mor_world* build(const mor_scene* scene, const char* formulation, const char* form, const char* solver)
{
    mor_error error = { 0 };
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    if (mor_world_set_method(w, "formulation", formulation, &error) ||
        (strncmp(formulation, "peg", 3) == 0 && mor_world_set_method(w, "collision", "features", &error)) ||
        (form && mor_world_set_option(w, "formulation", "form", form, &error)) ||
        (solver && mor_world_set_method(w, "solver", solver, &error)))
        fail_msg("%s", error.text);
    return w;
}

static mor_scene* piles(void)
{
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "piles", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    return scene;
}

/* Without a recorder. */
static uint64_t plain_hash(const char* formulation, const char* form, const char* solver)
{
    mor_scene* scene = piles();
    mor_world* w = build(scene, formulation, form, solver);
    for (int k = 0; k < STEPS; k++) assert_int_equal(mor_world_step(w, NULL, NULL), MOR_OK);
    const uint64_t hash = mor_world_hash(w);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return hash;
}

static void run(const char* formulation, const char* form, const char* solver, int most, bool paper, stored* out)
{
    static const char* const ours[] = { "total_error_fb", "total_error_cck", "natural",
                                        "normal_error",   "friction_error",  "friction_power" };
    static const char* const theirs[] = {
        "total_error", "total_error_cck", NULL, "normal_error", NULL, "friction_error"
    };
    mor_error error = { 0 };
    char path[256], group[128], name[256];
    remove_file("x.h5");
    snprintf(path, sizeof path, "%s/x.h5", folder);
    mor_scene* scene = piles();
    mor_world* w = build(scene, formulation, form, solver);
    mor_bpmd_recorder* r = (paper ? mor_bpmd_record_paper : mor_bpmd_record)(path, w, scene, 1, &error);
    if (!r) fail_msg("%s", error.text);
    mor_bpmd_record_iterations(r, most);
    for (int k = 0; k < STEPS; k++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_int_equal(mor_bpmd_close(r, &error), MOR_OK);
    out->hash = mor_world_hash(w);
    snprintf(group, sizeof group, "/mbs_frame%06d/solutions", STEPS);
    if (!paper)
        snprintf(group + strlen(group), sizeof group - strlen(group), "/%s-%s", formulation,
                 mor_world_method(w, "solver"));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    mor_h5 h5;
    if (mor_h5_open(&h5, path, &error)) fail_msg("%s", error.text);
    int rank;
    size_t dims[MOR_H5_RANK];
    snprintf(name, sizeof name, "%s/stick", group);
    if (mor_h5_dims(&h5, name, &rank, dims, &error)) fail_msg("%s", error.text);
    assert_int_equal(rank, 2);
    out->lines = dims[0], out->contacts = dims[1];
    out->states = calloc(dims[0] * dims[1] + 1, sizeof *out->states);
    assert_int_equal(mor_h5_read_all(&h5, name, MOR_H5_INT, dims[0] * dims[1], out->states, &error), MOR_OK);
    for (int m = 0; m < 6; m++) {
        const char* what = paper ? theirs[m] : ours[m];
        out->errors[m] = calloc(dims[0], sizeof(double));
        snprintf(name, sizeof name, "%s/%s", group, what ? what : "");
        if (what && mor_h5_read_all(&h5, name, MOR_H5_DOUBLE, dims[0], out->errors[m], &error))
            fail_msg("%s", error.text);
    }
    out->iteration = calloc(dims[0], sizeof(double));
    snprintf(name, sizeof name, "%s/iteration", group);
    if (!paper) assert_int_equal(mor_h5_read_all(&h5, name, MOR_H5_DOUBLE, dims[0], out->iteration, &error), MOR_OK);
    assert_int_equal(mor_h5_close(&h5, &error), MOR_OK);
}

static void done(stored* s)
{
    for (int m = 0; m < 6; m++) free(s->errors[m]);
    free(s->iteration);
    free(s->states);
}

static const struct {
    const char *formulation, *form, *solver;
} methods[] = {
    { "ncp", NULL, "nsgs" },
    { "ncp", NULL, "psor" },
    { "st", NULL, "lemke" },
    { "st", "lcp", "lemke" },
    { "st", "mlcp", "path" },
    { "st", "mlcp", "psor" },
    { "mncp", NULL, "nsgs" },
    { "implicit", NULL, "nsgs" },
    { "implicit", NULL, "implicit-gn" },
    { "convex", NULL, "apgd" },
    { "ap", NULL, "pgs" },
    { "peg", NULL, "nsgs" },
    { "gauss", NULL, "qp-admm" },
    { "peg-heuristic", NULL, "lemke" },
};

static void every_formulation_tells_errors_and_contacts_of_every_iteration(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        stored s;
        run(methods[i].formulation, methods[i].form, methods[i].solver, 500, false, &s);
        print_message("%s %s %s: %zu lines\n", methods[i].formulation, methods[i].form ? methods[i].form : "",
                      methods[i].solver, s.lines);
        assert_in_range(s.lines, 1, 500);
        assert_in_range(s.contacts, 8, 64);
        size_t slides = 0;
        for (size_t k = 0; k < s.lines * s.contacts; k++) assert_in_range(s.states[k] + 1, 0, 2);
        for (size_t c = 0; c < s.contacts; c++) slides += s.states[(s.lines - 1) * s.contacts + c] == 0;
        /* boxes a and c slip on the floor; convex lifts what slips */
        if (strcmp(methods[i].formulation, "convex") != 0) assert_true(slides >= 2);
        for (size_t k = 0; k < s.lines; k++)
            for (int m = 0; m < 6; m++) assert_true(s.errors[m][k] >= 0.0);
        for (int m = 0; m < 3; m++) /* the last line is the answer */
            for (size_t k = 0; k < s.lines; k++)
                if (strcmp(methods[i].formulation, "gauss") != 0)
                    assert_true(s.errors[m][s.lines - 1] <= s.errors[m][0] + 1e-12);
        done(&s);
    }
}

static void a_run_has_the_same_bits_with_its_iterations_without_and_unrecorded(void** state)
{
    (void)state;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        stored with, without;
        run(methods[i].formulation, methods[i].form, methods[i].solver, 500, false, &with);
        run(methods[i].formulation, methods[i].form, methods[i].solver, 0, false, &without);
        assert_true(with.hash == without.hash);
        assert_true(with.hash == plain_hash(methods[i].formulation, methods[i].form, methods[i].solver));
        assert_int_equal(without.lines, 1);
        done(&with);
        done(&without);
    }
}

static void iterations_beyond_the_bound_are_left_out_and_the_answer_stays(void** state)
{
    (void)state;
    stored all, few, paper;
    run("ncp", NULL, "jacobi", 100000, false, &all);
    run("ncp", NULL, "jacobi", 7, false, &few);
    run("ncp", NULL, "jacobi", 100000, true, &paper);
    assert_true(all.lines > 7);
    assert_int_equal(few.lines, 7);
    assert_int_equal(paper.lines, all.lines);
    for (size_t k = 0; k < 7; k++) {
        size_t same = k < 6 ? k : all.lines - 1;
        assert_true(few.iteration[k] == all.iteration[same]);
        for (int m = 0; m < 6; m++) assert_true(few.errors[m][k] == all.errors[m][same]);
        for (size_t c = 0; c < all.contacts; c++)
            assert_int_equal(few.states[k * all.contacts + c], all.states[same * all.contacts + c]);
    }
    for (size_t k = 0; k < all.lines; k++) {
        assert_true(paper.errors[0][k] == all.errors[0][k]);
        assert_true(paper.errors[5][k] == all.errors[5][k]); /* the paper's friction error is slip times friction */
    }
    done(&all), done(&few), done(&paper);
}

/* Was 1 for a box that slips: rows of friction, which would tell its slip, are not there. */
static void a_contact_without_friction_never_sticks(void** state)
{
    (void)state;
    text = smooth_text;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        stored s;
        run(methods[i].formulation, methods[i].form, methods[i].solver, 500, false, &s);
        size_t slides = 0;
        for (size_t k = 0; k < s.lines * s.contacts; k++) assert_true(s.states[k] == 0 || s.states[k] == -1);
        for (size_t c = 0; c < s.contacts; c++) slides += s.states[(s.lines - 1) * s.contacts + c] == 0;
        assert_true(slides >= 2);
        done(&s);
    }
    text = scene_text;
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void** state)
{
    (void)state;
    remove_file("x.h5");
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_formulation_tells_errors_and_contacts_of_every_iteration),
        cmocka_unit_test(a_run_has_the_same_bits_with_its_iterations_without_and_unrecorded),
        cmocka_unit_test(iterations_beyond_the_bound_are_left_out_and_the_answer_stays),
        cmocka_unit_test(a_contact_without_friction_never_sticks),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
