/* Careless plans, tables and options of sweep, calibrate, trust and inverse: every one is answered before the first run
 * with its place and a sentence that helps, or told in a note. The plans are right ones in which one thing is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/command.h"

static const char scene[] = "moreau: 1\n"
                            "time: { step: 0.002, end: 0.3 }\n"
                            "materials: { rubber: { restitution: 0.8 } }\n"
                            "bodies:\n"
                            "  - { name: floor, fixed: true, shape: plane }\n"
                            "  - { name: ball, shape: { sphere: 0.1 }, material: rubber, position: [0, 0, 1] }\n";

static const char calibration[] =
    "moreau-calibrate: 1\n"
    "scene: ball.yaml\n"
    "data: { file: b.csv, time: time, columns: { bodies.ball.position: [ball.x, ball.y, ball.z] } }\n"
    "parameters:\n"
    "  - { path: materials.rubber.restitution, range: [0.5, 1], start: 0.6 }\n"
    "optimiser: { name: sbplx, starts: 1, evaluations: 6 }\n"
    "intervals: { bootstrap: 0 }\n";

static const char sweep[] = "moreau-sweep: 1\n"
                            "scene: ball.yaml\n"
                            "set: { time.end: 0.05 }\n"
                            "parameters:\n"
                            "  - { path: time.step, values: [0.01, 0.005] }\n"
                            "measures:\n"
                            "  - { name: energy, path: energy.final }\n";

typedef struct careless {
    const char *right, *wrong; /* in the plan; right "": added at its end */
    const char* says;
} careless;

static void write(const char* name, const char* text)
{
    FILE* out = fopen(command_at(name), "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void write_wrong(const char* plan, const careless* c)
{
    char text[2000];
    const char* at = *c->right ? strstr(plan, c->right) : plan + strlen(plan);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - plan), plan, c->wrong, at + strlen(c->right));
    write("plan.yaml", text);
}

static int make_scene(void** state)
{
    if (command_open(state)) return 1;
    write("ball.yaml", scene);
    command_expect("$M run ball.yaml --quiet --csv b.csv", 0, NULL);
    return 0;
}

static void calibrations_are_answered_with_their_place(void** state)
{
    (void)state;
    static const careless all[] = {
        { "ball.z]", "ball.zz]", "plan.yaml:3:84: b.csv has no column 'ball.zz'; did you mean 'ball.z'?" },
        { "ball.y, ball.z]", "ball.y]", "plan.yaml:3:67: bodies.ball.position needs 3 columns, not 2" },
        { "time: time", "time: t", "plan.yaml:3:28: b.csv has no column 't'" },
        { "file: b.csv", "file: c.csv", "plan.yaml:3:15: the data cannot be read: c.csv" },
        { "bodies.ball", "bodies.bal", "plan.yaml:3:7: the scene has no body 'bal'" },
        { "scene: ball", "scene: bal", "plan.yaml:2:8: the scene cannot be read" },
        { "[0.5, 1]", "[1, 0.5]", "plan.yaml:5:50: range must be [less, more]" },
        { "start: 0.6", "start: 2", "plan.yaml:5:67: start 2 is outside the range" },
        { "restitution", "restitusion", "plan.yaml:5:13: materials.rubber.restitusion: unknown key" },
        { "start: 0.6", "begin: 0.6", "plan.yaml:5:60: unknown key 'begin'" },
        { "sbplx", "simplex", "plan.yaml:6:20: unknown optimiser 'simplex'; did you mean 'sbplx'?" },
        { "time: time", "after_contact: 9, time: time", "plan.yaml:3:37: with the start values no run touches" },
        { "evaluations: 6", "evaluations: 6, horizons: [8]", "plan.yaml:6:64: with the start values no run touches" },
        { "start: 0.6 }\noptimiser: { name: sbplx", "step: 0.01 }\noptimiser: { name: grid",
          "plan.yaml:6:50: the grid of 'as in the scene' has 51 points, more than 6 evaluations" },
        { "start: 0.6 }\noptimiser: { name: sbplx", "step: 0.3 }\noptimiser: { name: grid",
          "plan.yaml:5:13: 'materials.rubber.restitution': its range 0.5 to 1 is no whole number of steps of 0.3" },
        { "start: 0.6", "step: 0", "plan.yaml:5:66: step 0 is zero" },
        { "", "methods:\n  - { formulation: npc }\n", "plan.yaml:9:5: unknown formulation 'npc'; did you mean 'ncp'?" },
        { "", "methods:\n  - { formulation: ncp, solver: lemke }\n", "plan.yaml:9:5: solver 'lemke' does not take" },
        { "", "methods:\n  - { formulation: ncp }\n  - { formulation: ncp }\n",
          "plan.yaml:10:5: two methods are called 'ncp'" },
        { "", "split: { train: 5 }\n", "plan.yaml:8:17: train is" },
        { "", "scene: ball.yaml\n", "plan.yaml:8:1: key 'scene' is given twice; the first is in line 2" },
        { "  - {", "\t- {", "plan.yaml:5:1: the line begins with a tab; indent with spaces" },
        { calibration, "", "plan.yaml:1:1: the file is empty; a scene begins with 'moreau: 1', a plan with" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        write_wrong(calibration, &all[i]);
        command_expect("$M calibrate plan.yaml --jobs 1", 2, all[i].says);
    }
}

static void what_may_be_meant_is_told_and_run(void** state)
{
    (void)state;
    static const careless all[] = {
        { "restitution, range: [0.5, 1]", "restitution, range: [-1, 1]",
          "note: plan.yaml:5:13: the scene does not take -1, an end of the range" },
        { "file: b.csv", "file: ms.csv", "note: plan.yaml:3:29: samples are 2 s apart, 1000 steps of the scene" },
    };
    command_expect("awk -F, -v OFS=, 'NR > 1 { $1 *= 1000 } 1' b.csv > ms.csv", 0, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        write_wrong(calibration, &all[i]);
        command_expect("$M calibrate plan.yaml --jobs 1", 0, all[i].says);
    }
    command_expect("$M inverse ball.yaml --motion ms.csv", 0, "note: ms.csv: samples are 2 s apart");
}

/* A mass below zero ended the whole calibration when a search came upon it. */
static void values_that_the_scene_refuses_are_never_best(void** state)
{
    (void)state;
    write_wrong(calibration, &(careless){ "materials.rubber.restitution, range: [0.5, 1], start: 0.6",
                                          "bodies.ball.mass, range: [-1, 1], start: 0.1", NULL });
    command_expect("$M calibrate plan.yaml --jobs 1 --csv t.csv && awk -F, 'END { exit !($4 > 0) }' t.csv", 0,
                   "which can never be best");
}

/* One run has no interval and no held-out error: neither "nan" nor [0, 0] is printed for them. */
static void what_is_not_known_is_not_printed(void** state)
{
    (void)state;
    write("plan.yaml", calibration);
    command_expect("$M calibrate plan.yaml --jobs 1 > out && ! grep -e nan -e '\\[0, 0\\]' -e 'cannot be' out", 0,
                   NULL);
}

static void sweeps_are_answered_with_their_place(void** state)
{
    (void)state;
    static const careless all[] = {
        { "time.step", "time.stepp", "plan.yaml:5:34: time.stepp=0.01: unknown key 'stepp'" },
        { "energy.final", "energy.finall", "did you mean 'final'?" },
        { "0.005]", "fast]", "plan.yaml:5:39: time.step=fast: step must be a number" },
        { "values: [0.01, 0.005]", "values: []", "plan.yaml:5:32: values is empty" },
        { "values: [0.01, 0.005]", "grid: [0.001, 0.01, 1e9]", "must be a whole number from 1 to 1e6" },
        { "values: [0.01, 0.005]", "range: [0.001, 0.01, 1e-12]", "plan.yaml:5:31: range is [from, to, step]: these" },
        { "values: [0.01, 0.005]", "range: [0.01, 0.001, 0.001]", "0.001 is not reached from 0.01" },
        { "values: [0.01, 0.005]", "log-grid: [0, 0.01, 3]", "plan.yaml:5:34: log-grid needs positive numbers" },
        { "values: [0.01, 0.005]", "uniform: [0.001, 0.01]", "plan.yaml:5:5: 'time.step' is drawn" },
        { "path: energy.final", "over: max, path: energy, from: 10", "energy: from 10: the run ends at 0.05 s" },
        { "energy.final", "samples.0.bodies.ball.position.2", "it is empty: name times of samples with at: [...]" },
        { "", "at: [5]\n", "plan.yaml:8:5: at 5: the run ends at 0.05 s" },
        { "", "measure: 1\n", "plan.yaml:8:1: unknown key 'measure' in the plan; did you mean 'measures'?" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        write_wrong(sweep, &all[i]);
        command_expect("$M sweep plan.yaml --jobs 1 --csv out.csv", 2, all[i].says);
    }
    write_wrong(sweep, &(careless){ "path: energy.final", "function: mine, plugin: mine.so", NULL });
    command_expect("$M sweep plan.yaml --jobs 1 --csv out.csv", 2, "plan.yaml:7:45");
    assert_null(strstr(command_errors, "did you mean")); /* not 'plan.yaml' for 'plan.yaml:7:45' */
}

static void trust_and_inverse_are_answered(void** state)
{
    (void)state;
    command_expect("$M trust ball.yaml --time 0.0001", 2, "less than four steps of 0.002 s");
    command_expect("$M trust ball.yaml --within 0", 2, "expected metres");
    command_expect("$M inverse ball.yaml --motion b.csv --regularisation 0.1", 2, "--regularisation is of the convex");
    command_expect("$M inverse ball.yaml --motion b.csv --law convex --slip 0.1", 2, "--slip is of the exact law");
    command_expect("$M inverse ball.yaml --motion b.csv --rows contacts=7", 2, "b.csv: 0 samples");
    command_expect("$M inverse ball.yaml --motion b.csv --time-column tim", 2, "did you mean 'time'?");
    command_expect("awk 'NR == 5 { print last } { last = $0 } 1' b.csv > twice.csv", 0, NULL);
    command_expect("$M inverse ball.yaml --motion twice.csv", 2, "twice.csv:5:1: the times do not rise");
    command_expect("$M inverse ball.yaml --motion b.csv --fit bodies.ball.mas=1", 2, "did you mean 'mass'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calibrations_are_answered_with_their_place),
        cmocka_unit_test(what_may_be_meant_is_told_and_run),
        cmocka_unit_test(values_that_the_scene_refuses_are_never_best),
        cmocka_unit_test(what_is_not_known_is_not_printed),
        cmocka_unit_test(sweeps_are_answered_with_their_place),
        cmocka_unit_test(trust_and_inverse_are_answered),
    };
    return cmocka_run_group_tests(tests, make_scene, command_close);
}
