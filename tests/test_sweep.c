/* moreau sweep from inside and outside: designs, measures, plans, journals, shards, crashes. */
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
#include "lab/farm.h"
#include "lab/plan.h"
#include "lab/sensitivity.h"

/* ------------------------------------------------------------------------------------ designs */

/* The distribution function of the C library is the independent source. */
static void a_normal_quantile_has_its_probability(void** state)
{
    (void)state;
    for (double u = 1e-12; u < 1.0; u = u < 0.01 ? 1.7 * u : u + 0.0137) {
        double p = 0.5 * erfc(-mor_normal_quantile(u) / sqrt(2.0));
        assert_true(fabs(p - u) <= 1e-14 + 1e-13 * u);
        double q = 0.5 * erfc(mor_normal_quantile(1.0 - u) / sqrt(2.0));
        assert_true(fabs(q - (1.0 - (1.0 - u))) <= 1e-14 + 1e-13 * u);
    }
}

/* Every axis of a Sobol sequence: each of 2^k slices holds one of the first 2^k points, whatever the shift. */
static void every_axis_of_a_sobol_sequence_is_stratified(void** state)
{
    (void)state;
    enum { N = 256 };
    static double x[N * MOR_SOBOL_DIMENSIONS];
    for (int seed = 0; seed < 5; seed++) {
        assert_int_equal(mor_design_fill(MOR_DESIGN_SOBOL, N, MOR_SOBOL_DIMENSIONS, (uint64_t)seed, 4, x, NULL),
                         MOR_OK);
        for (int k = 0; k < MOR_SOBOL_DIMENSIONS; k++)
            for (int slices = 1; slices <= N; slices *= 2) {
                bool taken[N] = { false };
                for (int i = 0; i < slices; i++) {
                    int slice = (int)(x[i * MOR_SOBOL_DIMENSIONS + k] * slices);
                    assert_in_range(slice, 0, slices - 1);
                    assert_false(taken[slice]);
                    taken[slice] = true;
                }
            }
    }
}

/* The integral of a product that no axis alone explains: prod (1 + (x_k - 1/2)) has the mean 1. */
static void a_sobol_sequence_integrates_better_than_chance(void** state)
{
    (void)state;
    enum { N = 4096, D = 12 };
    static double x[N * D];
    double error[2];
    for (int which = 0; which < 2; which++) {
        mor_design_fill(which ? MOR_DESIGN_RANDOM : MOR_DESIGN_SOBOL, N, D, 3, 4, x, NULL);
        double sum = 0.0;
        for (int i = 0; i < N; i++) {
            double f = 1.0;
            for (int k = 0; k < D; k++) f *= 1.0 + (x[i * D + k] - 0.5);
            sum += f;
        }
        error[which] = fabs(sum / N - 1.0);
    }
    assert_true(error[0] < 2e-3); /* chance: sqrt(((13/12)^12 - 1) / 4096) = 0.02 */
}

static void a_latin_hypercube_has_one_point_in_every_slice(void** state)
{
    (void)state;
    enum { N = 37, D = 5 };
    double x[N * D];
    assert_int_equal(mor_design_fill(MOR_DESIGN_LATIN, N, D, 7, 4, x, NULL), MOR_OK);
    for (int k = 0; k < D; k++) {
        bool taken[N] = { false };
        for (int i = 0; i < N; i++) {
            int slice = (int)(x[i * D + k] * N);
            assert_false(taken[slice]);
            taken[slice] = true;
        }
    }
}

static void a_morris_trajectory_moves_every_factor_once(void** state)
{
    (void)state;
    enum { N = 20, D = 4, P = 6 };
    double x[N * (D + 1) * D], delta = P / (2.0 * (P - 1));
    assert_int_equal(mor_design_fill(MOR_DESIGN_MORRIS, N, D, 11, P, x, NULL), MOR_OK);
    for (int j = 0; j < N; j++) {
        int moved = 0;
        for (int r = 0; r < D; r++) {
            int changes = 0;
            for (int k = 0; k < D; k++) {
                double u = x[(j * (D + 1) + r) * D + k], v = x[(j * (D + 1) + r + 1) * D + k];
                assert_true(v >= 0.0 && v <= 1.0);
                if (u == v) continue;
                assert_true(fabs(fabs(u - v) - delta) < 1e-12);
                changes++;
                moved |= 1 << k;
            }
            assert_int_equal(changes, 1);
        }
        assert_int_equal(moved, (1 << D) - 1);
    }
}

/* -------------------------------------------------------------------------------- sensitivity */

static mor_plan* plan_of(const char* text)
{
    mor_error error = { 0 };
    mor_plan* plan = mor_plan_parse(text, strlen(text), "plan.yaml", &error);
    if (!plan) fail_msg("%s", error.text);
    return plan;
}

#define THREE                                                                                                          \
    "moreau-sweep: 1\nscene: s.yaml\nmeasures: [energy.final]\nparameters:\n"                                          \
    "  - { path: a, uniform: [-3.141592653589793, 3.141592653589793] }\n"                                              \
    "  - { path: b, uniform: [-3.141592653589793, 3.141592653589793] }\n"                                              \
    "  - { path: c, uniform: [-3.141592653589793, 3.141592653589793] }\n"

/* Ishigami's function, whose indices are known: y = sin a + 7 sin^2 b + 0.1 c^4 sin a. */
static void fill_ishigami(mor_sweep* s, const char* text)
{
    mor_error error = { 0 };
    assert_int_equal(mor_sweep_hold(s, plan_of(text), &error), MOR_OK);
    for (long t = 0; t < s->tasks; t++) {
        double a = mor_plan_number(s->plan, t, 0), b = mor_plan_number(s->plan, t, 1);
        double c = mor_plan_number(s->plan, t, 2);
        double y = sin(a) + 7.0 * sin(b) * sin(b) + 0.1 * c * c * c * c * sin(a);
        mor_trial_result r = { .values = &y };
        assert_int_equal(mor_sweep_keep(s, t, &r, &error), MOR_OK);
    }
}

static void sobol_indices_of_the_ishigami_function_are_right(void** state)
{
    (void)state;
    const double pi4 = 97.40909103400244, pi8 = 9488.531016070574;
    double v1 = 0.5 * (1 + 0.1 * pi4 / 5) * (1 + 0.1 * pi4 / 5), v2 = 49.0 / 8,
           v13 = 0.01 * pi8 * (1.0 / 18 - 1.0 / 50);
    double v = v1 + v2 + v13;
    double first[3] = { v1 / v, v2 / v, 0.0 }, total[3] = { (v1 + v13) / v, v2 / v, v13 / v };
    mor_sweep s;
    mor_sensitivity x;
    fill_ishigami(&s, THREE "design: { name: saltelli, samples: 4096 }\n");
    assert_int_equal(s.tasks, 4096 * 5);
    assert_true(mor_sensitivity_make(&s, 0, 0, &x));
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(x.index[k].first - first[k]) < 0.02);
        assert_true(fabs(x.index[k].total - total[k]) < 0.02);
        assert_true(x.index[k].first_interval[0] <= first[k] && first[k] <= x.index[k].first_interval[1]);
        assert_true(x.index[k].total_interval[0] <= total[k] && total[k] <= x.index[k].total_interval[1]);
        assert_true(x.index[k].first_interval[1] - x.index[k].first_interval[0] < 0.2);
    }
    mor_sensitivity_free(&x);
    mor_sweep_end(&s);
    fill_ishigami(&s, THREE "design: { name: latin, samples: 4000 }\n"); /* from any points */
    assert_true(mor_sensitivity_make(&s, 0, 0, &x));
    for (int k = 0; k < 3; k++) assert_true(fabs(x.index[k].first - first[k]) < 0.03);
    mor_sensitivity_free(&x);
    mor_sweep_end(&s);
}

/* A measure that is the same number in every run had a variance of rounding, of which every parameter explained all. */
static void a_measure_that_does_not_vary_has_no_indices(void** state)
{
    (void)state;
    static const char* const designs[] = { "sobol, samples: 100", "latin, samples: 37", "saltelli, samples: 50" };
    for (int i = 0; i < 3; i++) {
        char text[600];
        mor_sweep s;
        mor_sensitivity x;
        mor_error error = { 0 };
        snprintf(text, sizeof text, THREE "design: { name: %s }\n", designs[i]);
        assert_int_equal(mor_sweep_hold(&s, plan_of(text), &error), MOR_OK);
        for (long t = 0; t < s.tasks; t++) {
            double y = 0.7 + 0.1 * i;
            mor_trial_result r = { .values = &y };
            assert_int_equal(mor_sweep_keep(&s, t, &r, &error), MOR_OK);
        }
        assert_false(mor_sensitivity_make(&s, 0, 0, &x));
        mor_sweep_end(&s);
    }
}

/* y = 2 a + 3 b^2 in the unit cube: the effect of a is 2 everywhere, that of c is 0. */
static void morris_effects_of_a_polynomial_are_right(void** state)
{
    (void)state;
    mor_sweep s;
    mor_sensitivity x;
    mor_error error = { 0 };
    assert_int_equal(mor_sweep_hold(&s,
                                    plan_of("moreau-sweep: 1\nscene: s.yaml\nmeasures: [energy.final]\nparameters:\n"
                                            "  - { path: a, uniform: [0, 1] }\n  - { path: b, uniform: [0, 1] }\n"
                                            "  - { path: c, uniform: [0, 1] }\n"
                                            "design: { name: morris, samples: 30 }\n"),
                                    &error),
                     MOR_OK);
    assert_int_equal(s.tasks, 120);
    for (long t = 0; t < s.tasks; t++) {
        double b = mor_plan_number(s.plan, t, 1), y = 2.0 * mor_plan_number(s.plan, t, 0) + 3.0 * b * b;
        mor_trial_result r = { .values = &y };
        mor_sweep_keep(&s, t, &r, &error);
    }
    assert_true(mor_sensitivity_make(&s, 0, 0, &x));
    assert_true(x.morris && fabs(x.index[0].mu_star - 2.0) < 1e-9 && x.index[0].sigma < 1e-6);
    assert_true(x.index[1].mu_star > 1.9 && x.index[1].sigma > 0.1); /* 3 (b + b') is 2 or 4 with four levels */
    assert_true(x.index[2].mu_star == 0.0);
    mor_sensitivity_free(&x);
    mor_sweep_end(&s);
}

/* --------------------------------------------------------------------------------------- plans */

static void tasks_run_through_all_combinations(void** state)
{
    (void)state;
    mor_plan* p = plan_of("moreau-sweep: 1\nscenes: [a.yaml, b.yaml]\nparameters:\n  - { path: x, grid: [0, 1, 3] }\n"
                          "  - { path: s, values: [nsgs, [1, 2], 'q'] }\n  - { path: r, range: [0, 1, 0.25] }\n"
                          "  - { path: l, log-grid: [1e-4, 1e-2, 3] }\nrepeats: 2\n");
    assert_int_equal(mor_plan_tasks(p), 2 * 3 * 3 * 5 * 3 * 2);
    char text[MOR_PLAN_TEXT];
    const char* expected[] = { "0.5", "[1, 2]", "0.75", "0.001", "2" };
    long task = 270 + ((((1 * 3 + 1) * 5 + 3) * 3 + 1) * 2 + 1);
    for (int i = 0; i < 5; i++) {
        mor_plan_text(p, task, i, text, sizeof text);
        assert_string_equal(text, expected[i]);
    }
    assert_int_equal(mor_plan_scene(p, task), 1);
    assert_true(isnan(mor_plan_number(p, task, 1)) && mor_plan_number(p, task, 2) == 0.75);
    mor_plan_destroy(p);
}

static void bad_plans_are_refused_with_their_place(void** state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "a secret that is no plan", "must be a mapping (key: value), not a text; its keys: moreau-sweep" },
        { "scene: a\n", "has no 'moreau-sweep'" },
        { "moreau-sweep: 2\nscene: a\n", "plan.yaml:1:15: " },
        { "moreau-sweep: 1\n", "needs a scene" },
        { "moreau-sweep: 1\nscene: a\nscenes: [b]\n", "needs a scene" },
        { "moreau-sweep: 1\nscenes: []\n", "scenes is empty" },
        { "moreau-sweep: 1\nscenes: [a, a]\n", "plan.yaml:2:13: 'a' is there already" },
        { "moreau-sweep: 1\nscene: a\nparameter: []\n", "plan.yaml:3:1: unknown key 'parameter'" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x } ]\n", "has no values" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { grid: [0, 1, 2] } ]\n", "has no 'path'" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, grid: [0, 1] } ]\n", "grid has 2 numbers; give 3" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, grid: [0, 1, 0] } ]\n", "count 0" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, values: [] } ]\n", "values is empty" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, values: 3 } ]\n", "values must be a list" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, range: [0, 1, -1] } ]\n", "is not reached" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, log-grid: [0, 1, 3] } ]\n", "positive" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, uniform: [1, 0] } ]\n", "1 is not below 0" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, values: [1], grid: [0, 1, 2] } ]\n", "give one of" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, values: [1] }, { path: x, values: [2] } ]\n",
          "already" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x.y.2, values: [1] }, { path: x.y, values: [2] } ]\n",
          "'x.y' replaces 'x.y.2', a parameter before it" },
        { "moreau-sweep: 1\nscene: a\ndesign: { name: latim, samples: 3 }\n", "must be one of" },
        { "moreau-sweep: 1\nscene: a\ndesign: { name: latin, samples: 3 }\n", "no parameter has one" },
        { "moreau-sweep: 1\nscene: a\ndesign: latin\nparameters: [ { path: x, uniform: [0, 1] } ]\n", "needs samples" },
        { "moreau-sweep: 1\nscene: a\nat: [-1]\n", "negative" },
        { "moreau-sweep: 1\nscene: a\nmeasures: [ { name: x } ]\n", "a path" },
        { "moreau-sweep: 1\nscene: a\nmeasures: [ { name: x, path: a, from: 1 } ]\n", "add over" },
        { "moreau-sweep: 1\nscene: a\nmeasures: [ { name: x, function: f } ]\n", "add plugin" },
        { "moreau-sweep: 1\nscene: a\nmeasures: [ a, a ]\n", "already" },
        { "moreau-sweep: 1\nscene: a\nparameters: [ { path: x, grid: [0, 1, 100000] }, { path: y, grid: [0, 1, 100000] "
          "} ]\n",
          "tasks; at most" },
        { "moreau-sweep: 1\nscene: [a\n", "plan.yaml:" },
        { "", "plan.yaml" },
        { "3\n", "plan.yaml:1:1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_error error = { 0 };
        mor_plan* p = mor_plan_parse(cases[i].text, strlen(cases[i].text), "plan.yaml", &error);
        if (p || error.code != MOR_BAD_INPUT || !strstr(error.text, cases[i].says))
            fail_msg("'%s' gives '%s'; expected '%s'", cases[i].text, error.text, cases[i].says);
    }
}

/* A table had two columns 'status', and readers by name took either. */
static void a_measure_is_not_called_as_another_column(void** state)
{
    (void)state;
    static const char* const names[] = { "task", "scene", "status", "state_hash", "time.step", "seed" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[300];
        mor_error error = { 0 };
        snprintf(text, sizeof text,
                 "moreau-sweep: 1\nscene: a\nrepeats: 2\nparameters: [ { path: time.step, values: [1] } ]\n"
                 "measures:\n  - { name: %s, path: energy.final }\n",
                 names[i]);
        mor_plan* p = mor_plan_parse(text, strlen(text), "plan.yaml", &error);
        if (p || !strstr(error.text, "plan.yaml:6:5: ") || !strstr(error.text, "give the measure another name"))
            fail_msg("'%s' gives '%s'", names[i], error.text);
    }
}

/* Bytes lost, doubled and changed: refused or read, never a crash; what is read has tasks. */
static void damaged_plans_are_refused_or_read(void** state)
{
    (void)state;
    static const char good[] =
        "moreau-sweep: 1\nscenes: [a.yaml, b.yaml]\nset: { x.y: [1, 2] }\nparameters:\n"
        "  - { path: x, grid: [0, 1, 3] }\n  - { path: y, values: [a, [1, 2], 3] }\n"
        "  - { path: z, uniform: [0, 1] }\n  - { path: w, log-uniform: [0.1, 1] }\n"
        "design: { name: sobol, samples: 7, seed: 3, levels: 4 }\nrepeats: 2\nat: [0.5, 1]\n"
        "measures: [ energy.final, { name: n, path: contacts, over: max, from: 1, until: 2 } ]\n";
    mor_rng rng = { 5 };
    int read = 0;
    for (int i = 0; i < 3000; i++) {
        char text[sizeof good + 64];
        memcpy(text, good, sizeof good);
        size_t n = sizeof good - 1;
        for (int k = 0; k < 1 + i % 3; k++) {
            size_t at = (size_t)(mor_rng_uniform(&rng) * (double)n), how = (size_t)(3.0 * mor_rng_uniform(&rng));
            if (how == 0) memmove(text + at, text + at + 1, --n - at);
            else if (how == 1) memmove(text + at + 1, text + at, n++ - at);
            else text[at] = (char)(32.0 + 95.0 * mor_rng_uniform(&rng));
        }
        mor_error error = { 0 };
        mor_plan* p = mor_plan_parse(text, n, "plan.yaml", &error);
        if (p) assert_true(mor_plan_tasks(p) > 0), read++;
        else assert_true(error.code == MOR_BAD_INPUT && strncmp(error.text, "plan.yaml", 9) == 0);
        mor_plan_destroy(p);
    }
    assert_in_range(read, 100, 2900);
}

/* ---------------------------------------------------------------------------------------- farm */

typedef struct farm_test {
    int kept[200], crashed;
    bool wrong;
} farm_test;

static void square_or_crash(void* user, long task, void* record)
{
    (void)user;
    if (task == 7 || task == 50 || task == 51) abort();
    *(double*)record = (double)(task * task);
}

static mor_code count_it(void* user, long task, const void* record, const char* why, bool late, mor_error* error)
{
    (void)error, (void)late;
    farm_test* t = user;
    t->kept[task]++;
    if (!record) t->crashed++, t->wrong = t->wrong || !strstr(why, "signal 6");
    else t->wrong = t->wrong || *(const double*)record != (double)(task * task);
    return MOR_OK;
}

static void a_task_that_crashes_costs_only_itself(void** state)
{
    (void)state;
    for (int jobs = 1; jobs <= 3; jobs++) {
        farm_test t = { .crashed = 0 };
        mor_error error = { 0 };
        mor_farm farm = {
            .count = 200, .jobs = jobs, .record = 8, .user = &t, .run = square_or_crash, .keep = count_it
        };
        assert_int_equal(mor_farm_run(&farm, &error), MOR_OK);
        for (int i = 0; i < 200; i++) assert_int_equal(t.kept[i], 1);
        assert_int_equal(t.crashed, 3);
        assert_false(t.wrong);
    }
}

/* --------------------------------------------------------------------------------- the command */

static const char write_plan[] =
    "cat > plan.yaml <<'E'\nmoreau-sweep: 1\nscene: ball.yaml\nset: { time.end: 0.8 }\nparameters:\n"
    "  - { path: materials.rubber.restitution, grid: [0, 1, 5] }\n  - { path: time.step, values: [0.01, 0.004] }\n"
    "at: [0.4]\nmeasures:\n  - { name: height, path: samples.0.bodies.ball.position.2 }\n"
    "  - { name: top, over: max, path: bodies.ball.position.2, from: 0.3 }\n  - { name: energy, path: energy.final }\n"
    "E\ncat > ball.yaml <<'E'\nmoreau: 1\ntime: { step: 0.002, end: 4 }\nmaterials:\n"
    "  rubber: { friction: 0.5, restitution: 0.8 }\nbodies:\n"
    "  - { name: floor, fixed: true, shape: { plane: { normal: [0, 0, 1], point: [0, 0, 0] } } }\n"
    "  - { name: ball, shape: { sphere: 0.1 }, material: rubber, position: [0, 0, 0.3] }\nE\ntrue";

/* A ball falls 0.2 m: the gap at the apex is 0.2 e^2. */
static void measures_are_those_of_the_run(void** state)
{
    (void)state;
    command_expect(write_plan, 0, NULL);
    command_expect("$M sweep plan.yaml --csv a.csv --jobs 1 && cat a.csv", 0, NULL);
    int task;
    double e, h, height, top, energy;
    const char* line = strstr(command_output, "\ntask,") ? strstr(command_output, "\ntask,") + 1 : command_output;
    assert_true(strncmp(line, "task,materials.rubber.restitution,time.step,height,top,energy,status,state_hash", 78) ==
                0);
    for (int rows = 0; (line = strchr(line, '\n')) && line[1]; rows++) {
        line++;
        assert_int_equal(sscanf(line, "%d,%lf,%lf,%lf,%lf,%lf,ok", &task, &e, &h, &height, &top, &energy), 6);
        assert_int_equal(task, rows);
        if (e > 0.6) assert_true(fabs(top - 0.1 - 0.2 * e * e) < 2e-4); /* apex after 0.3 s; g h^2 / 8 */
        if (rows == 9) break;
    }
    assert_int_equal(task, 9);
    command_expect(
        "$M run ball.yaml --time 0.8 --step 0.01 --set materials.rubber.restitution=0.25 --json --at 0.4 > r.json"
        " && grep -o 'state_hash\": \"[0-9a-f]*' r.json | cut -c 15- > one && sed -n 4p a.csv | sed 's/.*,//' > two"
        " && cmp one two",
        0, NULL);
}

static void jobs_shards_and_kills_give_the_same_bytes(void** state)
{
    (void)state;
    command_expect(write_plan, 0, NULL);
    command_expect("$M sweep plan.yaml -o a.h5 --csv a.csv --jobs 1 --quiet", 0, NULL);
    command_expect("$M sweep plan.yaml --csv b.csv --jobs 3 --quiet && cmp a.csv b.csv", 0, NULL);
    command_expect("for i in 1 2 3 4; do $M sweep plan.yaml --shard $i/4 -o s$i.h5 --quiet || exit 9; done;"
                   " $M sweep --merge s4.h5 s1.h5 s3.h5 s2.h5 -o m.h5 --csv m.csv --quiet && cmp a.csv m.csv"
                   " && cmp a.h5 m.h5",
                   0, NULL);
    command_expect("$M sweep --merge s1.h5 s2.h5 s3.h5 --csv m.csv", 2, "tasks are in none of the files");
    command_expect("sed -i 's/0.8/0.9/' plan.yaml; $M sweep plan.yaml --merge s1.h5 --csv m.csv", 2, "another plan");
    command_expect("$M sweep plan.yaml --merge plan.yaml --csv m.csv", 2, "two plans");
    command_expect("test ! -e a.h5.journal", 0, NULL);
}

/* The page has a map for every pair, and loads nothing. */
static void the_page_is_complete(void** state)
{
    (void)state;
    command_expect(write_plan, 0, NULL);
    command_expect("$M sweep plan.yaml --html p.html --quiet && grep -c '<svg' p.html | grep -qx 10", 0, NULL);
    command_expect("grep -q 'Parallel coordinates' p.html && ! grep -qE 'src=|href=|http:' p.html", 0, NULL);
    command_expect(
        "sed 's/grid: .0, 1, 5./uniform: [0, 1]/' plan.yaml > q.yaml"
        " && echo 'design: { name: saltelli, samples: 8 }' >> q.yaml && $M sweep q.yaml --html q.html --json > q.json"
        " && grep -q total_interval q.json && grep -q Sobol q.html",
        0, NULL);
}

/* The files for Slurm, without Slurm. */
static void jobs_for_slurm_are_written(void** state)
{
    (void)state;
    command_expect(write_plan, 0, NULL);
    command_expect("$M sweep plan.yaml -o 'a b.h5' --csv m.csv --slurm 3 --no-submit --sbatch '--time=9'", 0, NULL);
    command_expect("grep -q '#SBATCH --array=1-3' 'a b.h5.slurm' && grep -q '#SBATCH --time=9' 'a b.h5.slurm'", 0,
                   NULL);
    command_expect(
        "$M sweep plan.yaml --csv one.csv --quiet && for i in 3 1 2; do"
        " SLURM_ARRAY_TASK_ID=$i sh 'a b.h5.slurm' || exit 9; done; sh 'a b.h5.slurm-merge' && cmp one.csv m.csv",
        0, NULL);
    command_expect("PATH=/nowhere; $M sweep plan.yaml -o x.h5 --slurm 2", 3, "sbatch");
    command_expect("sed 's/scene/sene/' plan.yaml > p.yaml; $M sweep p.yaml -o x.h5 --slurm 2", 2, "p.yaml:2:1");
}

/* What a journal holds is not run again; a line that was cut off, or damaged, is. */
static void a_journal_is_gone_on_with(void** state)
{
    (void)state;
    command_expect(write_plan, 0, NULL);
    command_expect("$M sweep plan.yaml --csv a.csv --jobs 2 --quiet", 0, NULL);
    command_expect("ln -sf /dev/full z.csv; $M sweep plan.yaml --csv z.csv --quiet --jobs 1; test $? = 3", 0, NULL);
    command_expect("test -s z.csv.journal && rm z.csv && wc -l < z.csv.journal | grep -q 11", 0, NULL);
    command_expect("sed -i '4s/ok/no/;7d' z.csv.journal && truncate -s -9 z.csv.journal", 0, NULL);
    command_expect("$M sweep plan.yaml --csv z.csv --quiet --resume && cmp a.csv z.csv", 0, NULL);
    command_expect("$M sweep plan.yaml --resume", 2, "--resume needs");
    command_expect("echo other work > w.csv.journal; $M sweep plan.yaml --csv w.csv --resume", 2, "other work");
}

static void bad_values_are_told_at_their_place_in_the_plan(void** state)
{
    (void)state;
    command_expect(write_plan, 0, NULL);
    command_expect("sed 's/0.004/-1/' plan.yaml > p.yaml; $M sweep p.yaml", 2, "p.yaml:6:39: time.step=-1");
    command_expect("sed 's/als.rubber/als.ruber/' plan.yaml > p.yaml; $M sweep p.yaml", 2, "did you mean 'rubber'");
    command_expect("sed 's/energy.final/energy.last/' plan.yaml > p.yaml; $M sweep p.yaml", 2, "p.yaml:11:5: ");
    command_expect("sed 's/scene: ball/scene: bull/' plan.yaml > p.yaml; $M sweep p.yaml", 2, "p.yaml:2:8: ");
    command_expect("sed 's/0.4]/4]/' plan.yaml > p.yaml; $M sweep p.yaml", 2, "the run ends at 0.8 s");
    command_expect("sed 's/time.end: 0.8/time.end: -1/' plan.yaml > p.yaml; $M sweep p.yaml", 2, "p.yaml:3:");
    command_expect("$M sweep nothing.yaml", 2, "nothing.yaml");
    command_expect("$M sweep", 2, "which plan");
    command_expect("$M sweep plan.yaml --shard 3/2", 2, "expected i/n");
    command_expect("$M sweep plan.yaml --shard 0/2", 2, "expected i/n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_normal_quantile_has_its_probability),
        cmocka_unit_test(every_axis_of_a_sobol_sequence_is_stratified),
        cmocka_unit_test(a_sobol_sequence_integrates_better_than_chance),
        cmocka_unit_test(a_latin_hypercube_has_one_point_in_every_slice),
        cmocka_unit_test(a_morris_trajectory_moves_every_factor_once),
        cmocka_unit_test(sobol_indices_of_the_ishigami_function_are_right),
        cmocka_unit_test(a_measure_that_does_not_vary_has_no_indices),
        cmocka_unit_test(morris_effects_of_a_polynomial_are_right),
        cmocka_unit_test(tasks_run_through_all_combinations),
        cmocka_unit_test(bad_plans_are_refused_with_their_place),
        cmocka_unit_test(a_measure_is_not_called_as_another_column),
        cmocka_unit_test(damaged_plans_are_refused_or_read),
        cmocka_unit_test(a_task_that_crashes_costs_only_itself),
        cmocka_unit_test(measures_are_those_of_the_run),
        cmocka_unit_test(jobs_shards_and_kills_give_the_same_bytes),
        cmocka_unit_test(the_page_is_complete),
        cmocka_unit_test(jobs_for_slurm_are_written),
        cmocka_unit_test(a_journal_is_gone_on_with),
        cmocka_unit_test(bad_values_are_told_at_their_place_in_the_plan),
    };
    return cmocka_run_group_tests(tests, command_open, command_close);
}
