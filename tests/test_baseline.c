/* moreau compare --baseline: what became worse is found, what did not is not. Times are made by hand with the noise of
 * a busy machine, so that nothing depends on the clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"
#include "lab/baseline.h"

enum { PROBLEMS = 24, SOLVERS = 3, RUNS = PROBLEMS * SOLVERS };

static uint32_t seed;
static double noise(double size) /* log-normal, from twelve uniform numbers */
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        seed = seed * 1664525u + 1013904223u;
        sum += (seed >> 8) / 16777216.0;
    }
    return exp(size * sum);
}

static mor_lab lab;
static mor_lab_problem problems[PROBLEMS];
static mor_lab_run runs[RUNS];

/* Three solvers on 24 problems; `size` of noise in every time, and the whole machine `machine` times as slow. */
static void make_noisy(uint32_t start, double machine, double size)
{
    seed = start;
    for (int i = 0; i < RUNS; i++)
        runs[i] = (mor_lab_run){ .problem = i / SOLVERS,
                                 .solver = i % SOLVERS,
                                 .status = MOR_SOLVED,
                                 .iterations = 10 + i,
                                 .total_s = machine * 1e-3 * (1 + i % 7) * noise(size),
                                 .error = 3e-9 };
}

static void make_runs(uint32_t start, double machine) { make_noisy(start, machine, 0.15); }

static void begin(void)
{
    mor_lab_options o = mor_lab_options_default();
    mor_error error = { 0 };
    o.solvers[0] = "nsgs", o.solvers[1] = "nsn", o.solvers[2] = "apgd", o.formulations[0] = "ncp";
    o.tol_count = 1, o.tols[0] = 1e-8;
    assert_int_equal(mor_lab_begin(&lab, &o, &error), MOR_OK);
    for (int i = 0; i < PROBLEMS; i++) {
        problems[i] = (mor_lab_problem){ .frame = i, .mass_ratio = 1, .condition = 1 };
        snprintf(problems[i].name, sizeof problems[i].name, "p#%d", i);
    }
    lab.problems = problems, lab.problem_count = PROBLEMS, lab.runs = runs, lab.run_count = RUNS, lab.complete = true;
}

static void write_old(void)
{
    FILE* out = fopen(command_at("old.json"), "w");
    assert_non_null(out);
    mor_lab_write_json(&lab, out);
    fclose(out);
}

static mor_lab_watch watch_now(void)
{
    mor_lab_watch w;
    mor_error error = { 0 };
    if (mor_lab_watch_make(&lab, command_at("old.json"), &w, &error)) fail_msg("%s", error.text);
    assert_int_equal(w.compared, RUNS);
    return w;
}

static void expect_only(mor_lab_watch* w, mor_lab_change what, int solver)
{
    if (w->count != 1) fail_msg("%d findings, one was expected", w->count);
    assert_int_equal(w->findings[0].what, what);
    assert_int_equal(w->findings[0].solver, solver);
    mor_lab_watch_free(w);
}

static void ten_noisy_repetitions_are_silent(void** state)
{
    (void)state;
    begin();
    for (uint32_t k = 0; k < 10; k++) {
        make_runs(100 + k, 1.0);
        write_old();
        make_runs(900 + k, 1.0 + 0.2 * k); /* busier and busier */
        mor_lab_watch w = watch_now();
        if (w.count)
            fail_msg("repetition %u: %s, solver %d", k, mor_lab_change_name(w.findings[0].what), w.findings[0].solver);
        assert_true(fabs(w.machine / (1.0 + 0.2 * k) - 1.0) < 0.2);
        mor_lab_watch_free(&w);
    }
}

static void a_slowdown_of_a_third_is_found(void** state)
{
    (void)state;
    begin();
    for (uint32_t k = 0; k < 10; k++) {
        make_noisy(200 + k, 1.0, 0.1);
        write_old();
        make_noisy(700 + k, 1.5, 0.1);
        for (int i = 1; i < RUNS; i += SOLVERS) runs[i].total_s *= 1.3;
        mor_lab_watch w = watch_now();
        assert_true(w.count == 1 && w.findings[0].ratio > 1.15 && w.findings[0].ratio < 1.6);
        expect_only(&w, MOR_LAB_SLOWER, 1);
    }
}

static void a_loosened_tolerance_more_iterations_and_failures_are_found(void** state)
{
    (void)state;
    begin();
    make_runs(1, 1.0);
    write_old();
    for (int i = 2; i < RUNS; i += SOLVERS) runs[i].error *= 3.0;
    mor_lab_watch w = watch_now();
    expect_only(&w, MOR_LAB_LESS_ACCURATE, 2);
    make_runs(1, 1.0);
    for (int i = 0; i < RUNS; i += SOLVERS) runs[i].iterations += runs[i].iterations / 8 + 2;
    w = watch_now();
    expect_only(&w, MOR_LAB_MORE_STEPS, 0);
    make_runs(1, 1.0);
    runs[4].status = MOR_NOT_CONVERGED;
    w = watch_now();
    assert_int_equal(w.findings[0].example, 1);
    expect_only(&w, MOR_LAB_UNSOLVED, 1);
    make_runs(1, 1.0); /* at the limit then, over it now: no news */
    runs[4].total_s = 0.9;
    write_old();
    runs[4].status = MOR_TIME_LIMIT;
    w = watch_now();
    assert_int_equal(w.count, 0);
    mor_lab_watch_free(&w);
}

static void the_command_tells_and_its_status_says_so(void** state)
{
    (void)state;
    const char* compare =
        "compare d/box-stack-5.h5 d/box-stack-2.h5 --formulations ncp --solvers jacobi,nsn-tree --tol 1e-6 "
        "--traces 0 --json";
    char line[400];
    assert_int_equal(command_run("$M dataset build -o d --family box-stack"), 0);
    snprintf(line, sizeof line, "$M %s >old.json", compare);
    assert_int_equal(command_run(line), 0);
    /* as if every answer had been exact */
    assert_int_equal(
        command_run("sed 's/^\\( *\"error\": \\)[^,]*,/\\1 1e-30,/; s/\"error\": [0-9.e+-]*/\"error\": 1e-30/' "
                    "old.json >exact.json"),
        0);
    snprintf(line, sizeof line, "$M %s --baseline exact.json >new.json", compare);
    command_expect(line, 1, "less accurate: ncp jacobi at 1e-06");
    command_expect("$M compare d/box-stack-2.h5 --formulations st --solvers lemke --baseline old.json", 2,
                   "no run in common");
    command_expect("$M compare d/box-stack-2.h5 --formulations st --solvers lemke --baseline nowhere.json", 2,
                   "nowhere.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_noisy_repetitions_are_silent),
        cmocka_unit_test(a_slowdown_of_a_third_is_found),
        cmocka_unit_test(a_loosened_tolerance_more_iterations_and_failures_are_found),
        cmocka_unit_test(the_command_tells_and_its_status_says_so),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
