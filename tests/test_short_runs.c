/* What makes short runs cheap changes no result: numbers read without strtod, runs that count no sums, values set
 * without YAML, results in shared memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/number.h"
#include "common/command.h"
#include "common/scenes.h"
#include "lab/farm.h"
#include "lab/trial.h"
#include "moreau/math.h"

static void same_as_strtod(const char* text)
{
    char* end[2];
    double a = strtod(text, &end[0]), b = mor_strtod(text, &end[1]);
    if (memcmp(&a, &b, sizeof a) != 0 || end[0] != end[1]) fail_msg("'%s': %a and %a", text, a, b);
}

/* strtod of the C library is the independent source. */
static void numbers_are_read_as_strtod_reads_them(void** state)
{
    (void)state;
    static const char* const odd[] = { "",
                                       "-",
                                       "+",
                                       ".",
                                       "-.",
                                       "0",
                                       "-0",
                                       "+0.0",
                                       "1.",
                                       ".5",
                                       "-.5e",
                                       "1e3",
                                       "1e",
                                       "1e+",
                                       "0x1p3",
                                       "0x",
                                       "007",
                                       "1.2.3",
                                       "12abc",
                                       " 3",
                                       "1,5",
                                       "inf",
                                       "-nan",
                                       "1_0",
                                       "--1",
                                       "999999999999999",
                                       "9999999999999999",
                                       "0.000000000000001",
                                       "1e-400",
                                       "123456789012345678901234567890",
                                       "0.1234567890123456" };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) same_as_strtod(odd[i]);
    mor_rng rng = { 41 };
    for (int i = 0; i < 200000; i++) {
        char text[64];
        int before = (int)(9.0 * mor_rng_uniform(&rng)), after = (int)(10.0 * mor_rng_uniform(&rng)), n = 0;
        if (mor_rng_uniform(&rng) < 0.3) text[n++] = '-';
        for (int k = 0; k < before; k++) text[n++] = (char)('0' + (int)(10.0 * mor_rng_uniform(&rng)));
        if (after) text[n++] = '.';
        for (int k = 0; k < after; k++) text[n++] = (char)('0' + (int)(10.0 * mor_rng_uniform(&rng)));
        text[n] = '\0';
        if (i % 7 == 0) snprintf(text + n, sizeof text - (size_t)n, "e%d", (int)(40.0 * mor_rng_uniform(&rng)) - 20);
        same_as_strtod(text);
    }
}

/* Measures of a run with these paths; false: refused. */
static int measured(const char* scene, const char* const* paths, int count, double* values, uint64_t* hash)
{
    mor_error error = { 0 };
    mor_trial trial;
    mor_measure m[24] = { 0 };
    for (int i = 0; i < count; i++) m[i] = (mor_measure){ .name = paths[i], .path = paths[i] };
    if (mor_trial_open(&trial, scene, NULL, &error)) fail_msg("%s", error.text);
    trial.measures = m, trial.measure_count = count;
    const double times[] = { 0.03, 0.11 };
    trial.times = times, trial.time_count = 2;
    mor_trial_result r = { .values = values };
    const char* set[] = { "time.end=0.4", NULL };
    if (mor_trial_run(&trial, set, &r, &error)) fail_msg("%s", error.text);
    mor_trial_close(&trial);
    *hash = r.state_hash;
    return r.status;
}

/* A path that needs the sums over all steps makes the run count them: nothing else may change. */
static void a_run_without_sums_has_the_same_numbers(void** state)
{
    (void)state;
    static const char* const scenes[] = { "bounce", "s8_roll", "stack", "four_bar", "arm6_drop", "s9_rod" };
    static const char* const paths[] = {
        "energy.initial", "energy.final", "momentum.final",    "steps",    "time",           "step", "contacts.final",
        "contacts.force", "max_drift",    "final_penetration", "failures", "residual.median"
    };
    enum { N = sizeof paths / sizeof *paths };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        double with[N], without[N];
        uint64_t hash[2];
        int status = measured(scene_path(scenes[i]), paths, N, with, &hash[0]);
        assert_int_equal(measured(scene_path(scenes[i]), paths, N - 1, without, &hash[1]), status);
        assert_true(hash[0] == hash[1]);
        assert_memory_equal(with, without, (N - 1) * sizeof *with);
    }
}

/* Every member that a run can be asked for, alone and together with all the others: parts of the document that nobody
 * asks for are not written. */
static void a_measure_alone_is_the_one_among_others(void** state)
{
    (void)state;
    static const char* const paths[] = { "energy.max_gain",
                                         "momentum.initial.2",
                                         "contacts.max",
                                         "problem_size.max",
                                         "residual.median",
                                         "iterations.mean",
                                         "integrator.smooth",
                                         "start.penetration",
                                         "bodies.1.position.2",
                                         "max_penetration",
                                         "energy.max_step_gain",
                                         "energy.correction_work",
                                         "energy.projection_work",
                                         "residual.max",
                                         "residual.velocity_max",
                                         "iterations.max",
                                         "max_joint_error",
                                         "max_raw_penetration",
                                         "samples.1.bodies.1.velocity" };
    enum { N = sizeof paths / sizeof *paths };
    static const char* const scenes[] = { "s8_bounce", "stack", "four_bar" }; /* impacts, contacts at rest, joints */
    double all[N], one;
    uint64_t hash[2];
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        measured(scene_path(scenes[k]), paths, N, all, &hash[0]);
        for (int i = 0; i < N; i++) {
            measured(scene_path(scenes[k]), &paths[i], 1, &one, &hash[1]);
            assert_true((k || isfinite(one)) && memcmp(&one, &all[i], sizeof one) == 0 && hash[0] == hash[1]);
        }
    }
}

/* ------------------------------------------------------------------------------------ results */

typedef struct tally {
    int kept[300], rests, failed;
    bool wrong;
} tally;

/* One task of this process kills it, after others that were not told yet. */
static void count_or_die(void* user, long task, void* record)
{
    (void)user;
    if (task == 137) kill(getpid(), SIGABRT);
    *(long*)record = 3 * task + 1;
}

static mor_code keep_count(void* user, long task, const void* record, const char* why, bool late, mor_error* error)
{
    tally* t = user;
    (void)why, (void)late, (void)error;
    t->kept[task]++;
    if (record) t->wrong = t->wrong || *(const long*)record != 3 * task + 1;
    else t->failed += task == 137 ? 1 : 1000;
    return MOR_OK;
}

static mor_code count_rests(void* user, mor_error* error)
{
    (void)error;
    ((tally*)user)->rests++;
    return MOR_OK;
}

static void results_outlive_the_process_that_made_them(void** state)
{
    (void)state;
    tally t = { 0 };
    mor_error error = { 0 };
    mor_farm farm = { .count = 300,
                      .jobs = 2,
                      .record = sizeof(long),
                      .user = &t,
                      .run = count_or_die,
                      .keep = keep_count,
                      .rest = count_rests };
    assert_int_equal(mor_farm_run(&farm, &error), MOR_OK);
    for (int i = 0; i < 300; i++) assert_int_equal(t.kept[i], 1);
    assert_false(t.wrong);
    assert_int_equal(t.failed, 1);
    assert_in_range(t.rests, 1, 299); /* results are taken many at a time */
}

/* --set of a plain number goes past YAML; a sign, an exponent and leading zeros as YAML has them. */
static void a_number_after_set_is_the_one_in_the_file(void** state)
{
    (void)state;
    static const char* const values[] = { "0.5", "+0.5", "5e-1", "5.E-1", "00.5", "0.50000000000000001", ".5" };
    mor_error error = { 0 };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[400], set[60];
        const char* format =
            "moreau: 1\ntime: { step: 0.01, end: %s }\nbodies:\n  - { name: b, shape: { sphere: 1 } }\n";
        snprintf(text, sizeof text, format, values[i]);
        mor_scene* a = mor_scene_parse(text, strlen(text), "a.yaml", NULL, NULL, &error);
        snprintf(text, sizeof text, format, "7");
        snprintf(set, sizeof set, "time.end=%s", values[i]);
        mor_scene* b = mor_scene_parse(text, strlen(text), "b.yaml", (const char*[]){ set, NULL }, NULL, &error);
        assert_true((a == NULL) == (b == NULL));
        if (a) assert_true(mor_scene_end(a) == mor_scene_end(b) && mor_scene_end(b) == 0.5);
        mor_scene_destroy(a);
        mor_scene_destroy(b);
    }
    command_expect("$M run s8_bounce --set time.end=1e --quiet", 2, "time.end=1e");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_strtod_reads_them),
        cmocka_unit_test(a_run_without_sums_has_the_same_numbers),
        cmocka_unit_test(a_measure_alone_is_the_one_among_others),
        cmocka_unit_test(results_outlive_the_process_that_made_them),
        cmocka_unit_test(a_number_after_set_is_the_one_in_the_file),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
