/* moreau doctor: why a scene fails or is slow, and what to change.
 *
 * Three parts. The state at the start: overlaps, limits, mass ratios, redundant joints. One run, watched: steps that
 * failed or missed the goal, penetration, energy, thin and fast bodies, the slowest step. Where that run has a problem,
 * the same scene is run again with one thing changed: advice that was tried, with its price. */
#include "cli/doctor.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "io/json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct arguments {
    const char* scene;
    mor_cli_sets sets;
    double end, limit, time_limit;
    bool json;
} arguments;

/* One thing changed, and what came of it. */
typedef struct trial {
    char change[80]; /* KEY=VALUE */
    bool ran, solved;
    int failures, below_goal;
    double cost; /* CPU time against the watched run, per simulated second; NaN: that run or this one got nowhere */
    double penetration;
} trial;

enum { TRIALS = 6 };

static int take_scene(void* user, char* word) { return mor_cli_one_scene("doctor", &((arguments*)user)->scene, word); }

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--time", "T", "how much of the scene is run, in seconds; default: all of it", MOR_CLI_NUMBER, AT(end),
      .max = 1e300, .expected = "seconds" },
    { "--limit", "SECONDS", "CPU time of each run (20)", MOR_CLI_NUMBER, AT(limit), .min = 0.01, .max = 1e6,
      .expected = "seconds" },
    { "--set", "KEY=VALUE", "any value of the scene, as in moreau run", MOR_CLI_SET, AT(sets) },
    { "--step", "H", "time step in seconds", MOR_CLI_SET, AT(sets), .key = "time.step" },
    MOR_CLI_TIME_LIMIT(AT(time_limit)),
    { "--json", NULL, "one JSON document on standard output", MOR_CLI_FLAG, AT(json) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "doctor",
    .usage = "SCENE [options]",
    .about = "Says why a scene fails or is slow: overlaps, joint limits, mass ratios, redundant joints, thin or fast\n"
             "bodies, accuracy. Where the run has a problem, other steps, solvers and goals are tried.\n",
    .options = options,
    .more = "Exit status: 0 nothing to change, 1 there is, 2 bad usage or input, 3 the system failed.\n",
    .operand = take_scene,
};

/* A world of the scene with the user's values and perhaps one more; NULL after a message in `error`. */
static mor_world* build(const arguments* a, const char* change, mor_scene** scene, mor_error* error)
{
    char path[4096];
    const char* items[MOR_CLI_MOST_SETS + 2];
    int n = 0;
    for (; a->sets.items[n]; n++) items[n] = a->sets.items[n];
    if (change) items[n++] = change;
    items[n] = NULL;
    *scene = mor_scene_load(mor_cli_scene_path(a->scene, path, sizeof path), items, mor_cli_library(), error);
    mor_world* world = *scene ? mor_scene_build(*scene, 1, error) : NULL;
    return world;
}

static int step_count(const arguments* a, const mor_scene* scene, const mor_world* w)
{
    double end = a->end >= 0.0 ? a->end : mor_scene_end(scene);
    return (int)fmin(floor(end / mor_world_get_step(w) + 0.5), 2e9);
}

/* Runs the scene with one thing changed. A change the scene refuses is no trial. */
static void try_change(const arguments* a, const mor_doctor* first, double first_time, trial* t)
{
    mor_error error = { 0 };
    mor_scene* scene = NULL;
    mor_world* w = build(a, t->change, &scene, &error);
    mor_doctor* d = w ? calloc(1, sizeof *d) : NULL;
    if (d) {
        int steps = step_count(a, scene, w);
        t->ran = mor_doctor_watch(d, w, steps, a->limit, &error) == MOR_OK;
        const mor_run_summary* s = &d->summary;
        t->failures = s->failures + d->stops;
        t->below_goal = s->below_goal;
        t->solved = t->failures == 0 && s->status != MOR_RUN_DIVERGED && mor_world_time(w) >= first_time;
        t->penetration = s->max_penetration;
        bool both = first_time > 0.0 && mor_world_time(w) > 0.0;
        t->cost = both ? s->cpu / mor_world_time(w) * first_time / fmax(first->summary.cpu, 1e-12) : NAN;
    }
    free(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static int choose_trials(const mor_world* w, trial* trials)
{
    static const char* const solvers[] = { "nsgs", "nsn", "nsn-tree", "pgs" };
    int n = 0;
    double h = mor_world_get_step(w);
    snprintf(trials[n++].change, sizeof trials->change, "time.step=%.12g", 0.5 * h);
    snprintf(trials[n++].change, sizeof trials->change, "method.accuracy.goal=1e-7");
    if (strcmp(mor_world_method(w, "solver"), "auto") != 0)
        snprintf(trials[n++].change, sizeof trials->change, "method.solver.name=auto");
    for (int i = 0; i < 4 && n < TRIALS; i++)
        if (strcmp(mor_world_method(w, "solver"), solvers[i]) != 0)
            snprintf(trials[n++].change, sizeof trials->change, "method.solver.name=%s", solvers[i]);
    return n;
}

/* ----------------------------------------------------------------------------------- output */

static void print_json(const mor_doctor* d, const trial* trials, int count, const mor_scene* scene)
{
    mor_json json = mor_json_begin(stdout);
    mor_json_object(&json, NULL);
    mor_json_text(&json, "scene", mor_scene_name(scene));
    mor_json_number(&json, "steps", d->summary.steps);
    mor_json_list(&json, "findings");
    for (int i = 0; i < d->count; i++) {
        mor_json_object(&json, NULL);
        mor_json_bool(&json, "problem", d->findings[i].problem);
        mor_json_text(&json, "text", d->findings[i].text);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    mor_json_list(&json, "trials");
    for (int i = 0; i < count; i++) {
        if (!trials[i].ran) continue;
        mor_json_object(&json, NULL);
        mor_json_text(&json, "set", trials[i].change);
        mor_json_bool(&json, "solved", trials[i].solved);
        mor_json_number(&json, "failures", trials[i].failures);
        mor_json_number(&json, "below_goal", trials[i].below_goal);
        mor_json_number(&json, "cost", trials[i].cost);
        mor_json_number(&json, "max_penetration", trials[i].penetration);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    mor_json_end(&json);
    mor_json_finish(&json);
}

static void print_text(const mor_doctor* d, const trial* trials, int count, const mor_scene* scene, const mor_world* w)
{
    printf("%s: %s + %s, %d of %d steps of %g s run\n", mor_scene_name(scene), mor_world_method(w, "formulation"),
           mor_world_method(w, "solver"), d->summary.steps, d->asked, mor_world_get_step(w));
    for (int kind = 1; kind >= 0; kind--) {
        bool heading = false;
        for (int i = 0; i < d->count; i++) {
            if (d->findings[i].problem != kind) continue;
            if (!heading) puts(kind ? "\nto change:" : "\nto know:");
            heading = true;
            printf("  - %s\n", d->findings[i].text);
        }
    }
    if (count)
        printf("\ntried, with everything else as it is:\n  %-34s %-10s %12s %16s\n", "--set", "", "CPU time",
               "penetration");
    for (int i = 0; i < count; i++) {
        if (!trials[i].ran) continue;
        char cost[24] = "- ";
        if (isfinite(trials[i].cost)) snprintf(cost, sizeof cost, "%.2fx", trials[i].cost);
        printf("  %-34s %-10s %11s  %14.3g m\n", trials[i].change, trials[i].solved ? "helps" : "does not", cost,
               trials[i].penetration);
    }
    if (d->count == 0) puts("\nnothing to change was found");
}

/* Whether the run itself failed or is slow: only then are other methods tried. */
static bool troubled(const mor_doctor* d, const mor_world* w)
{
    const mor_run_summary* s = &d->summary;
    return d->stops || s->failures || s->status == MOR_RUN_DIVERGED || s->below_goal > s->steps / 100 ||
           s->timing.total > s->steps * mor_world_get_step(w);
}

static int examine(const arguments* a, mor_scene* scene, mor_world* w, mor_error* error)
{
    trial trials[TRIALS] = { 0 };
    int tried = 0, status = 0;
    mor_doctor* d = calloc(1, sizeof *d);
    if (d) d->thick = calloc((size_t)mor_world_body_count(w) + 1, sizeof(double));
    if (!d || !d->thick) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        status = mor_cli_fail(error);
    }
    for (int i = 0; !status && i < mor_world_body_count(w); i++)
        d->thick[i] = mor_doctor_thickness(w, mor_world_body(w, i));
    if (!status) {
        d->watched = mor_world_body_count(w);
        mor_doctor_look(d, w);
        if (mor_doctor_watch(d, w, step_count(a, scene, w), a->limit, error) != MOR_OK) status = mor_cli_fail(error);
    }
    if (!status) {
        mor_doctor_conclude(d, w);
        if (troubled(d, w)) tried = choose_trials(w, trials);
        for (int i = 0; i < tried; i++) try_change(a, d, mor_world_time(w), &trials[i]);
        if (a->json) print_json(d, trials, tried, scene);
        else print_text(d, trials, tried, scene, w);
        for (int i = 0; i < d->count; i++) status |= d->findings[i].problem;
    }
    if (d) free(d->thick);
    free(d);
    return status;
}

int mor_cli_doctor(int argc, char** argv)
{
    arguments a = { .end = -1.0, .limit = 20.0 };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.scene) return mor_cli_usage("doctor", "which scene?");
    mor_cli_end_after("doctor", a.time_limit);
    mor_error error = { 0 };
    mor_scene* scene = NULL;
    mor_world* w = build(&a, NULL, &scene, &error);
    if (!scene) return mor_cli_no_scene(a.scene, &error);
    if (*mor_scene_notes(scene)) fputs(mor_scene_notes(scene), stderr);
    status = w ? examine(&a, scene, w, &error) : mor_cli_fail(&error);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return status;
}
