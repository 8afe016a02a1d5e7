/* The step: a policy around one list of stages.
 *
 *     user -> collide -> control -> assemble -> solve -> integrate -> stabilise -> sense -> measure -> commit
 *
 * A step that is not solved is not taken (stop), taken all the same and counted (warn), or tried in 2, 4, ... 16 parts
 * (parts; retry, which tries the solver auto before). Whatever happens, a step that was not taken leaves the world as
 * it was. */
#include "step/adaptive.h"
#include "step/draft.h"
#include "base/elementary.h"
#include "formulation/assemble.h"
#include "step/stages.h"
#include "step/surprise.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- report */

/* Why an island, or the integrator, was not content. */
static void describe(const mor_step* k, mor_status status, char* text, size_t size)
{
    text[0] = '\0';
    for (int i = 0; i < k->island_count && !text[0]; i++) {
        const mor_report* one = &k->islands[i].report;
        if (mor_report_answers(k->w, one)) continue;
        snprintf(text, size, "%s%s%s", mor_status_name(one->status), one->detail[0] ? ": " : "", one->detail);
    }
    if (!text[0] && k->plan.detail[0]) snprintf(text, size, "%s: %s", mor_status_name(status), k->plan.detail);
}

bool mor_step_lacks_memory(const mor_step* k)
{
    static const char words[] = "out of memory"; /* the whole sentence, or "... for a tableau of 5 rows" */
    for (int i = 0; i < k->island_count; i++) {
        const mor_report* one = &k->islands[i].report;
        if (one->status != MOR_NUMERICAL || strncmp(one->detail, words, sizeof words - 1) != 0) continue;
        if (one->detail[sizeof words - 1] != ',') return true; /* ", or the matrix is singular" */
    }
    return false;
}

mor_code mor_step_not_taken(const mor_step* k, mor_error* error)
{
    char why[sizeof k->report.detail];
    if (mor_step_lacks_memory(k)) return mor_fail(error, MOR_SYSTEM, "out of memory in step %d", k->w->step + 1);
    describe(k, k->status, why, sizeof why);
    return mor_fail(error, MOR_STOPPED, "step %d was not taken: %s", k->w->step + 1,
                    why[0] ? why : mor_status_name(k->status));
}

static void add_timing(mor_timing* to, const mor_timing* t)
{
    to->user += t->user;
    to->collision += t->collision;
    to->assemble += t->assemble;
    to->formulate += t->formulate;
    to->solve += t->solve;
    to->integrate += t->integrate;
}

static double sum_of(const mor_timing* t)
{
    return t->user + t->collision + t->assemble + t->formulate + t->solve + t->integrate;
}

/* Fills step->report from the step and the world after it, or before it if it was not taken. */
static void fill_report(const mor_world* w, mor_step* k)
{
    mor_step_report* r = &k->report;
    memset(r, 0, sizeof *r);
    r->step = w->step;
    r->time = w->time;
    r->status = k->status;
    r->islands = k->island_count;
    r->contacts = k->phase == MOR_STAGE_COMMIT ? w->contacts.count : k->contacts.count;
    for (int i = 0; i < k->island_count; i++) {
        const mor_report* one = &k->islands[i].report;
        if (k->islands[i].system.row_count > r->problem_size) r->problem_size = k->islands[i].system.row_count;
        if (one->iterations > r->iterations) r->iterations = one->iterations;
        if (one->residual.relative > r->residual) r->residual = one->residual.relative;
        if (one->residual.velocity > r->velocity_error) r->velocity_error = one->residual.velocity;
        r->below_goal += mor_report_below_goal(w, one);
        r->approximate += one->status == MOR_APPROXIMATE;
        r->failures += !mor_report_answers(w, one);
    }
    describe(k, k->status, r->detail, sizeof r->detail);
    r->smooth = k->plan.groups;
    r->reduced = k->plan.reduced;
    r->halvings = k->plan.halvings;
    r->rescued = k->plan.rescued;
    r->sweeps = k->plan.sweeps;
    r->struck = k->struck;
    r->cured = k->cured;
    r->correction_work = k->correction_work;
    r->contact_work = k->contact_work;
    r->applied_work = k->applied_work;
    r->penetration = mor_world_penetration(w);
    r->raw_penetration = mor_max(r->penetration, k->raw_penetration);
    r->projection_work = k->projection_work;
    r->length = w->h;
    r->rejected = w->adaptive.on ? w->adaptive.rejected : 0;
    r->missed = w->adaptive.on ? w->adaptive.missed : 0;
    r->kinetic = mor_world_kinetic_energy(w);
    r->potential = mor_world_potential_energy(w);
    r->timing = k->earlier;
    add_timing(&r->timing, &k->timing);
    r->timing.total = sum_of(&r->timing);
}

/* Calls the observers. */
static void observe(const mor_world* w, mor_step* k)
{
    if (!w->observer_count) return;
    double start = mor_clock();
    for (int i = 0; i < w->observer_count; i++) w->observers[i].function(w->observers[i].user, w, &k->report);
    k->report.timing.record = mor_clock() - start;
    k->report.timing.total += k->report.timing.record;
}

/* --------------------------------------------------------------------------------------- step */

/* The one list of stages. `user` may change the world and `commit` does: they have functions of their own type. */
static const struct {
    const char* name;
    mor_stage after; /* the stage that must have gone well before */
    mor_code (*run)(const mor_world* world, mor_step* step, mor_error* error);
    size_t time; /* where its time is added up in mor_timing */
} stages[] = {
    [MOR_STAGE_NONE] = { .name = "none" },
    [MOR_STAGE_USER] = { "user", MOR_STAGE_NONE, NULL, offsetof(mor_timing, user) },
    [MOR_STAGE_COLLIDE] = { "collide", MOR_STAGE_USER, mor_do_collide, offsetof(mor_timing, collision) },
    [MOR_STAGE_CONTROL] = { "control", MOR_STAGE_COLLIDE, mor_do_control, offsetof(mor_timing, user) },
    [MOR_STAGE_ASSEMBLE] = { "assemble", MOR_STAGE_COLLIDE, mor_do_assemble, offsetof(mor_timing, assemble) },
    [MOR_STAGE_SOLVE] = { "solve", MOR_STAGE_ASSEMBLE, mor_do_solve, offsetof(mor_timing, formulate) },
    [MOR_STAGE_INTEGRATE] = { "integrate", MOR_STAGE_SOLVE, mor_do_integrate, offsetof(mor_timing, integrate) },
    [MOR_STAGE_STABILISE] = { "stabilise", MOR_STAGE_INTEGRATE, mor_do_stabilise, offsetof(mor_timing, integrate) },
    [MOR_STAGE_SENSE] = { "sense", MOR_STAGE_INTEGRATE, mor_do_sense, offsetof(mor_timing, integrate) },
    [MOR_STAGE_MEASURE] = { "measure", MOR_STAGE_INTEGRATE, mor_do_measure, offsetof(mor_timing, collision) },
    [MOR_STAGE_COMMIT] = { "commit", MOR_STAGE_INTEGRATE, NULL, offsetof(mor_timing, integrate) },
};

/* Of the time of the solve stage, what the solvers took; islands may overlap in time. */
static void share_solve_time(mor_step* k, double time)
{
    double solve = 0.0, all = 0.0;
    for (int i = 0; i < k->island_count; i++) {
        solve += k->islands[i].solve_time;
        all += k->islands[i].formulate_time;
    }
    if (k->threads == 1) all = time;
    double share = all > 0.0 ? mor_min(solve / all, 1.0) : 0.0;
    k->timing.solve += share * time;
    k->timing.formulate -= share * time;
}

/* Reading the clock ten times takes a tenth of a step of one or two microseconds. So short steps are timed as a whole,
 * but for one of EVERY: its shares tell what the stages of the others took. Observers get what was measured. */
static bool timed_as_a_whole(const mor_world* w, const mor_step* k)
{
    enum { EVERY = 16 };
    const double brief = 20e-6; /* s */
    return k->shares.total > 0.0 && k->shares.total < brief && w->observer_count == 0 && w->step % EVERY != 0;
}

static mor_timing scaled(const mor_timing* t, double by)
{
    return (mor_timing){ .total = by,
                         .user = by * t->user,
                         .collision = by * t->collision,
                         .assemble = by * t->assemble,
                         .formulate = by * t->formulate,
                         .solve = by * t->solve,
                         .integrate = by * t->integrate };
}

/* The times of an attempt that began at `start`, if it was timed as a whole; else its shares. */
static void settle_times(mor_step* k, double start)
{
    if (k->whole) {
        k->timing = scaled(&k->shares, mor_clock() - start);
    } else {
        double total = sum_of(&k->timing);
        k->shares = scaled(&k->timing, total > 0.0 ? 1.0 / total : 0.0);
        k->shares.total = total;
    }
}

/* Ends a stage that began at *clock. */
static mor_code end_stage(const mor_world* w, mor_step* k, mor_stage stage, mor_code code, double* clock,
                          mor_error* error)
{
    if (!k->whole) {
        double now = mor_clock();
        *(double*)((char*)&k->timing + stages[stage].time) += now - *clock;
        if (stage == MOR_STAGE_SOLVE && !code) share_solve_time(k, now - *clock);
        *clock = now;
    }
    if (!code) k->phase = stage;
    return code == MOR_SYSTEM ? mor_fail(error, code, "out of memory in step %d", w->step + 1) : code;
}

static mor_code run_user(mor_world* w, mor_step* k, double* clock, mor_error* error)
{
    k->timing = (mor_timing){ 0 };
    mor_code code = mor_do_user(w, k, error);
    if (code) k->phase = MOR_STAGE_NONE;
    return end_stage(w, k, MOR_STAGE_USER, code, clock, error);
}

static mor_code run_stage(const mor_world* w, mor_step* k, mor_stage stage, double* clock, mor_error* error)
{
    return end_stage(w, k, stage, stages[stage].run(w, k, error), clock, error);
}

static mor_code run_commit(mor_world* w, mor_step* k, double* clock, mor_error* error)
{
    mor_code code = end_stage(w, k, MOR_STAGE_COMMIT, mor_do_commit(w, k, error), clock, error);
    settle_times(k, *clock);
    fill_report(w, k);
    if (!k->in_parts) observe(w, k);
    return code;
}

/* Variable steps: the length of this one. The time counts with the integration. */
static mor_code choose_length(mor_step* k, double* clock, mor_error* error)
{
    mor_code code = mor_adaptive_choose(k, error);
    if (k->whole) return code;
    double now = mor_clock();
    k->timing.integrate += now - *clock;
    *clock = now;
    return code;
}

/* The step is not taken because somebody does not want to wait for it. */
static mor_code interrupted(const mor_world* w, mor_step* k, mor_error* error)
{
    k->status = MOR_TIME_LIMIT;
    snprintf(k->plan.detail, sizeof k->plan.detail, "interrupted");
    return mor_fail(error, MOR_STOPPED, "step %d was not taken: interrupted", w->step + 1);
}

/* The stages from `first` to `last`, timed. */
static mor_code run_stages(const mor_world* w, mor_step* k, mor_stage first, mor_stage last, double* clock,
                           mor_error* error)
{
    mor_code code = MOR_OK;
    for (mor_stage i = first; i <= last && !code; i++) {
        code = stages[i].run(w, k, error);
        if (!code && mor_world_interrupted(w)) code = interrupted(w, k, error);
        /* timed together with the next: two of one kind, and what has nothing to do */
        bool together =
            i < last && (stages[i].time == stages[i + 1].time || (i == MOR_STAGE_CONTROL && w->robot_count == 0));
        if (!code && (together || k->whole)) k->phase = i;
        else code = end_stage(w, k, i, code, clock, error);
    }
    return code;
}

/* After `measure`: where the step has met a pair that it did not look at, the same from `collide` on, looking farther.
 */
static mor_code look_farther(const mor_world* w, mor_step* k, double* clock, mor_error* error)
{
    if (!mor_surprise_met(k)) return MOR_OK;
    add_timing(&k->earlier, &k->timing);
    k->timing = (mor_timing){ 0 };
    mor_code code = mor_surprise_back(k);
    if (!code) code = end_stage(w, k, MOR_STAGE_COLLIDE, mor_do_collide(w, k, error), clock, error);
    return code ? code : run_stages(w, k, MOR_STAGE_ASSEMBLE, MOR_STAGE_MEASURE, clock, error);
}

mor_code mor_step_run_stages(const mor_world* w, mor_step* k, mor_error* error)
{
    double clock = mor_clock();
    mor_code code = run_stages(w, k, MOR_STAGE_COLLIDE, MOR_STAGE_MEASURE, &clock, error);
    return code ? code : look_farther(w, k, &clock, error);
}

/* One attempt with the present h. The world changes only if all stages go well. */
static mor_code attempt(mor_world* w, mor_step* k, mor_error* error)
{
    double clock = mor_clock();
    k->whole = timed_as_a_whole(w, k);
    k->lifts = false;
    mor_code code = run_user(w, k, &clock, error);
    if (!code && w->adaptive.on && !k->in_parts) code = choose_length(k, &clock, error);
    if (!code) code = run_stages(w, k, MOR_STAGE_COLLIDE, MOR_STAGE_MEASURE, &clock, error);
    if (!code) code = look_farther(w, k, &clock, error);
    if (!code && k->lifts && k->may_part) code = MOR_STOPPED;
    if (!code) return run_commit(w, k, &clock, error);
    settle_times(k, clock);
    if (code == MOR_STOPPED) fill_report(w, k);
    add_timing(&k->earlier, &k->timing);
    return code;
}

/* Before a stage that is called by hand: MOR_BAD_INPUT with a sentence if the step has not come as far, or the world is
 * no longer the one it began with. The draft takes over the methods of the world, which may have been chosen since. */
static mor_code check_stage(const mor_world* w, mor_step* k, mor_stage stage, mor_error* error)
{
    if (k->phase < stages[stage].after || k->phase == MOR_STAGE_COMMIT)
        return mor_fail(error, MOR_BAD_INPUT,
                        "the stage '%s' needs the stage '%s' before it; a step begins with 'user'", stages[stage].name,
                        stages[stages[stage].after].name);
    if (k->of != w || k->w->revision != w->revision || k->from_step != w->step)
        return mor_fail(error, MOR_BAD_INPUT, "the stage '%s': the world has changed since the step began",
                        stages[stage].name);
    mor_step_follow(w, k);
    return MOR_OK;
}

/* A stage alone. */
static mor_code alone(const mor_world* w, mor_step* k, mor_stage stage, mor_error* error)
{
    double clock = mor_clock();
    mor_code code = check_stage(w, k, stage, error);
    return code ? code : run_stage(w, k, stage, &clock, error);
}

mor_code mor_stage_user(mor_world* w, mor_step* k, mor_error* error)
{
    double clock = mor_clock();
    k->earlier = (mor_timing){ 0 };
    k->whole = false;
    return run_user(w, k, &clock, error);
}

mor_code mor_stage_collide(const mor_world* w, mor_step* k, mor_error* error)
{
    return alone(w, k, MOR_STAGE_COLLIDE, error);
}

mor_code mor_stage_control(const mor_world* w, mor_step* k, mor_error* error)
{
    return alone(w, k, MOR_STAGE_CONTROL, error);
}

mor_code mor_stage_assemble(const mor_world* w, mor_step* k, mor_error* error)
{
    return alone(w, k, MOR_STAGE_ASSEMBLE, error);
}

mor_code mor_stage_solve(const mor_world* w, mor_step* k, mor_error* error)
{
    return alone(w, k, MOR_STAGE_SOLVE, error);
}

mor_code mor_stage_integrate(const mor_world* w, mor_step* k, mor_error* error)
{
    return alone(w, k, MOR_STAGE_INTEGRATE, error);
}

mor_code mor_stage_stabilise(const mor_world* w, mor_step* k, mor_error* error)
{
    return alone(w, k, MOR_STAGE_STABILISE, error);
}

mor_code mor_stage_sense(const mor_world* w, mor_step* k, mor_error* error)
{
    return alone(w, k, MOR_STAGE_SENSE, error);
}

mor_code mor_stage_measure(const mor_world* w, mor_step* k, mor_error* error)
{
    double clock = mor_clock();
    mor_code code = alone(w, k, MOR_STAGE_MEASURE, error);
    return code ? code : look_farther(w, k, &clock, error);
}

mor_code mor_stage_commit(mor_world* w, mor_step* k, mor_error* error)
{
    double clock = mor_clock();
    mor_code code = check_stage(w, k, MOR_STAGE_COMMIT, error);
    return code ? code : run_commit(w, k, &clock, error);
}

/* Room for the state before a step that is taken in parts. */
static bool keep_state(const mor_world* w, mor_step* k)
{
    size_t size = mor_world_save(w, NULL, 0);
    if (size > k->snapshot_size) {
        void* block = k->allocator.resize(k->allocator.user, k->snapshot, size);
        if (!block) return false;
        k->snapshot = block;
        k->snapshot_size = size;
    }
    return mor_world_save(w, k->snapshot, size) == size;
}

/* The works and the accuracy of a step are those of all its parts. */
static void add_part(mor_step_report* sum, const mor_step_report* part)
{
    sum->applied_work += part->applied_work;
    sum->contact_work += part->contact_work;
    sum->correction_work += part->correction_work;
    sum->projection_work += part->projection_work;
    sum->raw_penetration = mor_max(sum->raw_penetration, part->raw_penetration);
    sum->velocity_error = mor_max(sum->velocity_error, part->velocity_error);
    sum->below_goal += part->below_goal;
    sum->cured += part->cured;
    sum->struck += part->struck;
}

/* Retry: the step in 2, 4, ... 16 parts. A part that succeeds stays, the rest is cut finer; if it cannot be cut
 * further, the world goes back to where it was. */
static mor_code attempt_in_parts(mor_world* w, mor_step* k, mor_error* error)
{
    enum { DEEPEST = 4 };
    double h = w->h, end = w->time + h, joint_error = w->joint_error;
    int step = w->step, depth = 1, failed = w->failed_in_row;
    if (!keep_state(w, k)) return mor_fail(error, MOR_SYSTEM, "out of memory in step %d", step + 1);
    size_t size = mor_world_save(w, NULL, 0);
    mor_code code = MOR_OK;
    k->in_parts = true;
    int parts = 0;
    mor_step_report all = { 0 };
    while (depth <= DEEPEST && w->time < end - 1e-12 * h) {
        mor_world_change_step(w, mor_min(h / (1 << depth), end - w->time));
        k->may_part = depth < DEEPEST;
        code = attempt(w, k, error);
        parts += !code;
        if (!code) add_part(&all, &k->report);
        if (code == MOR_STOPPED && !mor_world_interrupted(w)) depth++;
        else if (code) break;
    }
    k->in_parts = false;
    if (code) {
        mor_world_restore(w, k->snapshot, size, NULL);
        w->joint_error = joint_error;
        w->failed_in_row = failed;
        if (code == MOR_STOPPED) fill_report(w, k);
        return code;
    }
    w->step = step + 1;
    mor_world_change_step(w, h);
    fill_report(w, k);
    k->report.applied_work = all.applied_work;
    k->report.contact_work = all.contact_work;
    k->report.correction_work = all.correction_work;
    k->report.projection_work = all.projection_work;
    k->report.raw_penetration = all.raw_penetration;
    k->report.velocity_error = all.velocity_error;
    k->report.below_goal = all.below_goal;
    k->report.cured = all.cured;
    k->report.struck = all.struck;
    k->report.parts = parts;
    observe(w, k);
    return MOR_OK;
}

mor_code mor_world_step(mor_world* w, mor_step_report* report, mor_error* error)
{
    mor_step* k = w->own;
    k->earlier = (mor_timing){ 0 };
    const bool parts = w->options.on_failure == MOR_RETRY || w->options.on_failure == MOR_PARTS;
    k->may_part = parts && !w->adaptive.on;
    mor_code code = attempt(w, k, error);
    const bool divided = code == MOR_STOPPED && k->may_part;
    if (code == MOR_STOPPED && parts && !mor_world_interrupted(w)) code = attempt_in_parts(w, k, error);
    if (code == MOR_STOPPED && divided && !mor_world_interrupted(w)) { /* whole, by all means and as it comes */
        k->may_part = false;
        code = attempt(w, k, error);
    }
    if (code && code != MOR_STOPPED) memset(&k->report, 0, sizeof k->report);
    if (report) *report = k->report;
    return code;
}

/* ---------------------------------------------------------------------------------- accessors */

const mor_world* mor_step_draft(const mor_step* k) { return k->w; }
mor_status mor_step_status(const mor_step* k) { return k->status; }
const mor_step_report* mor_step_last_report(const mor_step* k) { return &k->report; }
int mor_step_island_count(const mor_step* k) { return k->island_count; }
const mor_step* mor_world_last_step(const mor_world* w) { return w->last; }

const mor_contact* mor_step_contacts(const mor_step* k, int* count)
{
    *count = k->contacts.count;
    return k->contacts.data;
}

static const mor_island* island_at(const mor_step* k, int island)
{
    assert(island >= 0 && island < k->island_count);
    return &k->islands[island];
}

const mor_system* mor_step_system(const mor_step* k, int island) { return &island_at(k, island)->system; }
const mor_answer* mor_step_answer(const mor_step* k, int island) { return &island_at(k, island)->answer; }
const mor_report* mor_step_island_report(const mor_step* k, int island) { return &island_at(k, island)->report; }
