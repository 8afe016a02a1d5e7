/* Where a simulation can be trusted, see trust.h. trust_run.c runs, trust_look.c compares. */
#include "lab/trust.h"
#include "base/failed.h"

#include "lab/farm.h"
#include "lab/plan.h"
#include "lab/trust_look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double step_factors[] = { 0.125, 0.25, 0.5, 1.0, 2.0, 4.0 };
static const double tolerances[] = { 1e-10, 1e-8, 1e-6, 1e-4 };
static const double friction_factors[] = { 0.8, 0.95, 1.05, 1.2 };
static const double start_sizes[MOR_TRUST_LEVELS] = { 1e-9, 1e-6, 1e-3, 1e-2 };
enum { STEPS = 6, TOLERANCES = 4, FRICTIONS = 4, NOMINAL = 3, MOST_SETS = 300 };

mor_trust_options mor_trust_options_default(void) { return (mor_trust_options){ .jobs = 1, .members = 8, .seed = 1 }; }

const char* mor_trust_kind_name(mor_trust_kind kind)
{
    static const char* const names[] = { "step", "tolerance", "friction", "start" };
    return names[kind];
}

/* Everything while the runs go on. */
typedef struct session {
    mor_trust* trust;
    mor_trial trial;
    const mor_trust_options* options;
    size_t record_size;
    char* records; /* one for each run */
    int bodies, first, before;
} session;

static mor_trust_record* record_of(const session* s, int run)
{
    return (mor_trust_record*)(void*)(s->records + (size_t)run * s->record_size);
}

/* ------------------------------------------------------------------------------------- the runs */

static void run_one(void* user, long task, void* record)
{
    const session* s = user;
    const mor_trust_run* r = &s->trust->runs[s->first + task];
    const char* set[MOST_SETS + 3];
    char step[64], tolerance[64], number[40];
    int n = 0;
    for (; s->options->set && s->options->set[n] && n < MOST_SETS; n++) set[n] = s->options->set[n];
    double h = r->kind == MOR_TRUST_STEP ? r->value : s->trust->step;
    snprintf(step, sizeof step, "time.step=%s", mor_short_number(number, sizeof number, h));
    set[n++] = step;
    snprintf(tolerance, sizeof tolerance, "method.solver.tol=%s", mor_short_number(number, sizeof number, r->value));
    if (r->kind == MOR_TRUST_TOLERANCE) set[n++] = tolerance;
    set[n] = NULL;
    double factor = r->kind == MOR_TRUST_FRICTION ? r->value : 1.0;
    double change = r->kind == MOR_TRUST_START ? r->value * s->trust->speed : 0.0;
    mor_trust_run_one(&s->trial, set, s->trust->end, factor, change, s->options->seed + 1000003u * (uint64_t)r->member,
                      record);
}

static mor_code keep_one(void* user, long task, const void* record, const char* why, bool late, mor_error* error)
{
    (void)why, (void)error;
    session* s = user;
    int run = s->first + (int)task;
    if (record) memcpy(record_of(s, run), record, s->record_size);
    else {
        mor_trust_record* r = record_of(s, run);
        size_t n = mor_trust_at(s->bodies, MOR_TRUST_SAMPLES + 1);
        for (size_t i = 0; i < n; i++) r->positions[i] = NAN;
        r->status = late ? MOR_TRIAL_TIME_LIMIT : MOR_TRIAL_CRASHED;
    }
    s->trust->runs[run].status = record_of(s, run)->status;
    s->trust->runs[run].reached = record_of(s, run)->reached;
    return MOR_OK;
}

static bool tell(void* user, long done, long count)
{
    const session* s = user;
    (void)count;
    long all = STEPS + TOLERANCES + FRICTIONS + (long)MOR_TRUST_LEVELS * s->trust->members;
    return !s->options->progress || s->options->progress(s->options->user, s->first + done, all);
}

/* The runs from `first` on. */
static mor_code run_all(session* s, int first, mor_error* error)
{
    s->first = first;
    mor_farm farm = { .count = s->trust->run_count - first,
                      .jobs = s->options->jobs,
                      .record = s->record_size,
                      .time_limit = s->options->time_limit,
                      .user = s,
                      .run = run_one,
                      .keep = keep_one,
                      .progress = tell };
    mor_code code = mor_farm_run(&farm, error);
    s->trust->stopped = s->trust->stopped || farm.stopped;
    return code;
}

static void add_run(mor_trust* t, mor_trust_kind kind, double value, int member)
{
    t->runs[t->run_count++] = (mor_trust_run){ .kind = kind, .value = value, .member = member };
}

/* ------------------------------------------------------------------------------------- the scene */

static mor_code look_at_scene(session* s, mor_error* error)
{
    mor_trust* t = s->trust;
    mor_scene* scene = NULL;
    mor_world* world = mor_trial_world(&s->trial, s->options->set, &scene, error);
    if (!world) return mor_failed(error, MOR_BAD_INPUT);
    mor_body_id ids[MOR_TRUST_BODIES];
    snprintf(t->scene, sizeof t->scene, "%s", mor_scene_name(scene));
    t->end = mor_scene_end(scene);
    t->step = mor_world_get_step(world);
    if (mor_world_get_adaptive(world, NULL)) t->step = fmin(t->step, t->end / 1000.0);
    s->bodies = t->body_count = mor_trust_bodies(world, ids);
    for (int i = 0; i < t->body_count; i++) t->size = fmax(t->size, mor_trust_size(world, ids[i]));
    t->bodies = calloc((size_t)t->body_count + 1, sizeof *t->bodies);
    for (int i = 0; i < t->body_count && t->bodies; i++)
        snprintf(t->bodies[i].name, sizeof t->bodies[i].name, "%s", mor_body_name(world, ids[i]));
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    if (!t->bodies) return mor_fail(error, MOR_SYSTEM, "out of memory");
    if (t->body_count == 0) return mor_fail(error, MOR_BAD_INPUT, "%s: nothing in it can move", s->trial.file);
    if (!(t->end > 0.0)) return mor_fail(error, MOR_BAD_INPUT, "%s: time.end is 0; give --time", s->trial.file);
    if (t->end < 4.0 * t->step) /* the coarsest of the steps that are compared */
        return mor_fail(error, MOR_BAD_INPUT, "%s: %g s are less than four steps of %g s; give a longer --time",
                        s->trial.file, t->end, t->step);
    return MOR_OK;
}

/* The longest way of a point of a body from its start, and the largest mean speed between two samples. */
static void measure_reference(session* s)
{
    mor_trust* t = s->trust;
    const double* x = record_of(s, NOMINAL)->positions;
    int n = MOR_TRUST_POINTS * s->bodies;
    for (int k = 1; k <= MOR_TRUST_SAMPLES; k++)
        for (int i = 0; i < n; i++) {
            const double *a = x + 3 * i, *b = x + 3 * (k * n + i), *c = x + 3 * ((k - 1) * n + i);
            double way = hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
            double step = hypot(hypot(b[0] - c[0], b[1] - c[1]), b[2] - c[2]);
            if (way > t->way) t->way = way;
            if (step * MOR_TRUST_SAMPLES / t->end > t->speed) t->speed = step * MOR_TRUST_SAMPLES / t->end;
        }
    t->goal = s->options->goal > 0.0 ? s->options->goal : 0.01 * fmax(fmax(t->way, t->size), 1e-6);
    if (!(t->speed > 1e-3)) t->speed = 0.1; /* m/s: nothing moves */
}

static mor_code make_room(session* s, mor_error* error)
{
    s->record_size = (mor_trust_record_size(s->bodies) + 63) / 64 * 64;
    s->records = calloc(MOR_TRUST_RUNS, s->record_size);
    return s->records ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

static mor_code look(session* s, mor_error* error)
{
    const mor_trust_record* records[MOR_TRUST_RUNS];
    for (int i = 0; i < s->trust->run_count; i++) records[i] = record_of(s, i);
    return mor_trust_look(s->trust, records, NOMINAL, error);
}

mor_code mor_trust_make(mor_trust* t, const char* scene, const mor_trust_options* options, mor_error* error)
{
    *t = (mor_trust){ .growth = NAN, .members = options->members };
    session s = { .trust = t, .options = options };
    int most = (MOR_TRUST_RUNS - STEPS - TOLERANCES - FRICTIONS) / MOR_TRUST_LEVELS;
    if (t->members > most) t->members = most;
    mor_code code = mor_trial_open(&s.trial, scene, options->library, error);
    if (!code) code = look_at_scene(&s, error);
    if (!code) code = make_room(&s, error);
    for (int i = 0; i < STEPS && !code; i++) add_run(t, MOR_TRUST_STEP, step_factors[i] * t->step, 0);
    if (!code) code = run_all(&s, 0, error);
    if (!code && !t->stopped) {
        measure_reference(&s);
        for (int i = 0; i < TOLERANCES; i++) add_run(t, MOR_TRUST_TOLERANCE, tolerances[i], 0);
        for (int i = 0; i < FRICTIONS; i++) add_run(t, MOR_TRUST_FRICTION, friction_factors[i], 0);
        for (int k = 0; k < MOR_TRUST_LEVELS; k++)
            for (int m = 0; m < t->members; m++) add_run(t, MOR_TRUST_START, start_sizes[k], m);
        code = run_all(&s, STEPS, error);
    }
    if (!code && !t->stopped) code = look(&s, error);
    free(s.records);
    mor_trial_close(&s.trial);
    return code;
}

void mor_trust_free(mor_trust* t)
{
    for (int i = 0; i < t->run_count; i++) free(t->runs[i].error_at);
    for (int i = 0; i < t->level_count; i++) free(t->levels[i].spread);
    free(t->bodies);
    *t = (mor_trust){ 0 };
}
