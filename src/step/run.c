/* The numbers of a run, see moreau/run.h.
 *
 * Energy bookkeeping: with E_k the kinetic and potential energy after step k and W_k the works up to it
 * (docs/notation.md),
 *
 *     max_gain      = max_k  E_k - E_0 - W_applied,k - W_contact,k - W_correction,k - W_projection,k
 *     max_step_gain = max_k  E_k - E_(k-1) - W_projection of step k                 (both 0 for a passive method)
 *
 * Cost per step: O(1). */
#include "moreau/run.h"

#include "base/elementary.h"
#include "model/world.h"
#include "step/deep.h"
#include "step/plain_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mor_run {
    mor_world* world;
    mor_start begin;      /* what was wrong at the start */
    mor_run_summary sums; /* what is complete only at the end is filled by mor_run_summarise */
    double energy;        /* after the last step [J] */
    double work;          /* applied_work + contact_work, added step by step [J] */
    double iterations;    /* of all steps */
    double* residuals;    /* of every stride-th step */
    int kept, stride;
    int capacity;
    mor_body_id* bodies; /* at the start, and where they were */
    mor_vec3* start;
    int body_count;
    double wall, cpu; /* clocks at the start */
    bool stopped;
    bool plain; /* see step/plain_run.h */
    int asked;  /* of a plain run: MOR_SUMS_... */
};

/* A kinetic energy beyond this is no motion of a machine [J]: squares of it still fit a double. */
#define LARGEST_ENERGY 1e30

const char* mor_run_status_name(mor_run_status status)
{
    static const char* const names[] = { "ok", "below_goal", "failed", "diverged", "approximate" };
    return names[status];
}

/* Residuals that are kept for the median; of longer runs every second, fourth ... step. */
enum { MOST_RESIDUALS = 1 << 20 };

static bool reserve(mor_run* run, int steps)
{
    if (steps > MOST_RESIDUALS) steps = MOST_RESIDUALS;
    if (steps <= run->capacity) return true;
    double* grown = realloc(run->residuals, (size_t)steps * sizeof *grown);
    if (!grown) return false;
    run->residuals = grown;
    run->capacity = steps;
    return true;
}

static mor_run* create(mor_world* world, int steps, bool plain, int sums, mor_error* error)
{
    mor_run* run = calloc(1, sizeof *run);
    int n = mor_world_body_count(world);
    if (run) {
        run->bodies = malloc((size_t)(n + 1) * sizeof *run->bodies);
        run->start = malloc((size_t)(n + 1) * sizeof *run->start);
    }
    if (!run || !run->bodies || !run->start || (!plain && !reserve(run, steps > 0 ? steps : 1))) {
        mor_run_destroy(run);
        mor_fail(error, MOR_SYSTEM, "out of memory for the numbers of %d steps", steps);
        return NULL;
    }
    bool look = !plain || (sums & MOR_SUMS_PENETRATION);
    if (look && mor_world_look(world, &run->begin, error) == MOR_SYSTEM) {
        mor_run_destroy(run);
        return NULL;
    } /* a pair of shapes without a test is told by the first step */
    run->world = world;
    run->plain = plain;
    run->asked = sums;
    run->body_count = n;
    run->stride = 1;
    run->sums.max_penetration = run->sums.max_raw_penetration = run->begin.penetration;
    for (int i = 0; i < n; i++) {
        run->bodies[i] = mor_world_body(world, i);
        run->start[i] = mor_body_get_state(world, run->bodies[i]).com;
    }
    run->sums.energy.initial = run->energy = mor_world_kinetic_energy(world) + mor_world_potential_energy(world);
    mor_world_momentum(world, run->sums.momentum[0]);
    if (!plain) run->sums.joints[0] = mor_world_joint_rank(world);
    run->wall = mor_clock();
    run->cpu = mor_cpu_clock();
    return run;
}

mor_run* mor_run_create(mor_world* world, int steps, mor_error* error) { return create(world, steps, false, 0, error); }
mor_run* mor_run_create_plain(mor_world* world, int sums, mor_error* error)
{
    return create(world, 0, true, sums, error);
}

void mor_run_destroy(mor_run* run)
{
    if (!run) return;
    free(run->bodies);
    free(run->start);
    free(run->residuals);
    mor_start_free(&run->begin);
    free(run);
}

const mor_start* mor_run_start(const mor_run* run) { return &run->begin; }

/* -------------------------------------------------------------------------------- counting */

static int larger(int a, int b) { return a > b ? a : b; }

/* False: out of memory. */
static bool keep_residual(mor_run* run, int step, double residual)
{
    if (step % run->stride != 0) return true;
    if (run->kept == MOST_RESIDUALS) {
        run->kept /= 2;
        run->stride *= 2;
        for (int i = 0; i < run->kept; i++) run->residuals[i] = run->residuals[2 * i];
        if (step % run->stride != 0) return true;
    }
    if (run->kept == run->capacity && !reserve(run, 2 * run->capacity)) return false;
    run->residuals[run->kept++] = residual;
    return true;
}

static void count_energy(mor_run* run, const mor_step_report* r)
{
    mor_run_energy* e = &run->sums.energy;
    double E = r->kinetic + r->potential, work = run->work + (r->applied_work + r->contact_work);
    run->work = work;
    e->applied_work += r->applied_work;
    e->contact_work += r->contact_work;
    e->correction_work += r->correction_work;
    e->projection_work += r->projection_work;
    double gain = E - e->initial - work - e->correction_work - e->projection_work;
    double step_gain = E - run->energy - (r->projection_work > 0.0 ? r->projection_work : 0.0);
    if (gain > e->max_gain) e->max_gain = gain; /* NaN is no gain */
    if (step_gain > e->max_step_gain) e->max_step_gain = step_gain;
    run->energy = E;
}

static void count_integrator(mor_run_integrator* sum, const mor_step_report* r)
{
    sum->smooth += r->smooth;
    sum->reduced += r->reduced;
    sum->reduced_steps += r->reduced > 0;
    sum->halvings += r->halvings;
    sum->rescued += r->rescued;
    sum->sweeps += r->sweeps;
}

static void count_timing(mor_timing* sum, const mor_timing* one)
{
    sum->total += one->total;
    sum->user += one->user;
    sum->collision += one->collision;
    sum->assemble += one->assemble;
    sum->formulate += one->formulate;
    sum->solve += one->solve;
    sum->integrate += one->integrate;
    sum->record += one->record;
}

/* A step that was not solved as asked for, or that the energy guard took part in. */
static void count_trouble(mor_run_summary* s, const mor_step_report* r)
{
    if (r->failures > 0 || r->status != MOR_SOLVED) {
        s->failures++;
        s->status = MOR_RUN_FAILED;
        if (!s->detail[0]) snprintf(s->detail, sizeof s->detail, "%s", r->detail);
    }
    s->below_goal += r->below_goal > 0 && r->failures == 0;
    if (s->below_goal && s->status == MOR_RUN_OK) s->status = MOR_RUN_BELOW_GOAL;
    s->approximate += r->approximate > 0;
    s->cured += r->cured > 0 || r->struck > 0;
    if (s->approximate && (s->status == MOR_RUN_OK || s->status == MOR_RUN_BELOW_GOAL)) s->status = MOR_RUN_APPROXIMATE;
}

static void count_sizes(mor_run* run, const mor_step_report* r)
{
    mor_run_summary* s = &run->sums;
    run->iterations += r->iterations;
    s->max_residual = mor_max(s->max_residual, r->residual);
    s->max_iterations = larger(s->max_iterations, r->iterations);
    s->max_contacts = larger(s->max_contacts, r->contacts);
    s->max_problem_size = larger(s->max_problem_size, r->problem_size);
    s->max_joint_error = mor_max(s->max_joint_error, run->world->joint_error);
}

static void count_penetration(mor_run_summary* s, const mor_step_report* r)
{
    s->max_penetration = mor_max(s->max_penetration, r->penetration);
    s->max_raw_penetration = mor_max(s->max_raw_penetration, r->raw_penetration);
}

static void count_asked(mor_run* run, const mor_step_report* r)
{
    if (run->asked & MOR_SUMS_ENERGY) count_energy(run, r);
    if (run->asked & MOR_SUMS_SIZES) count_sizes(run, r);
    if (run->asked & MOR_SUMS_PENETRATION) count_penetration(&run->sums, r);
}

/* What most steps have none of is asked for at once: a step of one ball takes a microsecond, and every number that is
 * looked at costs a thousandth of it. */
mor_code mor_run_count(mor_run* run, const mor_step_report* r, bool advanced, mor_error* error)
{
    mor_run_summary* s = &run->sums;
    if ((int)r->status | r->failures | r->below_goal | r->approximate | r->cured | r->struck) count_trouble(s, r);
    bool diverged = !(fabs(r->kinetic) <= LARGEST_ENERGY);
    if (diverged) s->status = MOR_RUN_DIVERGED;
    s->max_velocity_error = mor_max(s->max_velocity_error, r->velocity_error);
    if (!advanced || diverged) {
        run->stopped = true;
        if (s->failures == 0) s->failures = 1;
        return MOR_OK;
    }
    if (run->plain) {
        s->steps++;
        if (run->asked) count_asked(run, r);
        return MOR_OK;
    }
    if (!keep_residual(run, s->steps, r->residual))
        return mor_fail(error, MOR_SYSTEM, "out of memory for the numbers of %d steps", 2 * run->capacity);
    s->steps++;
    count_energy(run, r);
    if (r->smooth | r->reduced | r->halvings | r->rescued | r->sweeps) count_integrator(&s->integrator, r);
    count_timing(&s->timing, &r->timing);
    count_sizes(run, r);
    s->min_step = s->steps > 1 ? mor_min(s->min_step, r->length) : r->length;
    s->max_step = mor_max(s->max_step, r->length);
    if (r->rejected | r->missed | r->parts) {
        s->rejected += r->rejected;
        s->missed += r->missed;
        s->divided += r->parts > 0;
    }
    count_penetration(s, r);
    mor_deep_count(run->world, r, s->steps, &s->deep);
    return MOR_OK;
}

mor_code mor_run_step(mor_run* run, mor_step_report* report, mor_error* error)
{
    mor_step_report local;
    mor_step_report* r = report ? report : &local;
    mor_code code = mor_world_step(run->world, r, error);
    if (code != MOR_OK && code != MOR_STOPPED) return code;
    if (code == MOR_STOPPED && mor_world_interrupted(run->world)) { /* nobody's failure */
        run->stopped = true;
        return MOR_OK;
    }
    return mor_run_count(run, r, code == MOR_OK, error);
}

mor_code mor_run_advance(mor_run* run, int steps, mor_error* error)
{
    mor_code code = MOR_OK;
    for (int k = 0; k < steps && !run->stopped && code == MOR_OK; k++) code = mor_run_step(run, NULL, error);
    return code;
}

mor_code mor_run_advance_to(mor_run* run, double end, mor_error* error)
{
    mor_code code = MOR_OK;
    while (!run->stopped && code == MOR_OK && !mor_world_reached(run->world, end)) {
        mor_world_limit_step(run->world, end);
        code = mor_run_step(run, NULL, error);
    }
    return code;
}

bool mor_run_stopped(const mor_run* run) { return run->stopped; }

/* --------------------------------------------------------------------------------- summary */

/* The value that would stand at place k of x if it were in order (C. A. R. Hoare (1961), Algorithm 65: find): a tenth
 * of the work of sorting, which was 2 % of a short run. */
static double select_place(double* x, int n, int k)
{
    int low = 0, high = n - 1;
    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i > j) break;
            double swap = x[i];
            x[i++] = x[j], x[j--] = swap;
        }
        if (k <= j) high = j;
        else if (k >= i) low = i;
        else break;
    }
    return x[k];
}

/* The upper median; NaN without memory. */
static double median(const double* values, int n)
{
    if (n == 0) return 0.0;
    double* copy = malloc((size_t)n * sizeof *copy);
    if (!copy) return NAN;
    memcpy(copy, values, (size_t)n * sizeof *copy);
    double middle = select_place(copy, n, n / 2);
    free(copy);
    return middle;
}

static double drift(const mor_run* run)
{
    double largest = 0.0;
    for (int i = 0; i < run->body_count; i++)
        if (mor_body_valid(run->world, run->bodies[i]))
            largest =
                mor_max(largest, mor_norm(mor_sub(mor_body_get_state(run->world, run->bodies[i]).com, run->start[i])));
    return largest;
}

mor_run_summary mor_run_summarise(mor_run* run)
{
    mor_world* w = run->world;
    mor_run_summary s = run->sums;
    s.wall = mor_clock() - run->wall;
    s.cpu = mor_cpu_clock() - run->cpu;
    s.energy.final = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    mor_world_momentum(w, s.momentum[1]);
    if (!run->plain) s.joints[1] = mor_world_joint_rank(w);
    s.final_penetration = mor_world_penetration(w);
    s.max_drift = drift(run);
    mor_world_contacts(w, &s.contacts);
    mor_world_contact_wrench(w, s.contact_wrench);
    s.median_residual = median(run->residuals, run->kept);
    s.mean_iterations = s.steps ? run->iterations / s.steps : 0.0;
    s.state_hash = mor_world_hash(w);
    return s;
}

/* ------------------------------------------------------------------------ contact wrenches */

/* Adds the force of a contact, times sign, with its moment about a point. */
static void add_contact(const mor_contact* c, double sign, mor_vec3 about, mor_vec3* force, mor_vec3* moment)
{
    mor_vec3 f = mor_scale(sign, c->impulse);
    *force = mor_add(*force, f);
    *moment = mor_add(*moment, mor_cross(mor_sub(mor_lerp(c->point[0], c->point[1], 0.5), about), f));
}

static void write_wrench(mor_vec3 f, mor_vec3 m, double wrench[6])
{
    memcpy(wrench, (double[6]){ f.x, f.y, f.z, m.x, m.y, m.z }, 6 * sizeof(double));
}

void mor_world_contact_wrench(const mor_world* w, double wrench[6])
{
    int n;
    const mor_contact* c = mor_world_contacts(w, &n);
    mor_vec3 f = mor_v3(0, 0, 0), m = f;
    for (int i = 0; i < n; i++) {
        bool first = mor_body_get_kind(w, mor_world_body(w, c[i].body[0])) == MOR_DYNAMIC;
        bool second = mor_body_get_kind(w, mor_world_body(w, c[i].body[1])) == MOR_DYNAMIC;
        if (first != second) add_contact(&c[i], (second ? 1.0 : -1.0) / mor_world_get_step(w), mor_v3(0, 0, 0), &f, &m);
    }
    write_wrench(f, m, wrench);
}

void mor_body_contact_wrench(const mor_world* w, mor_body_id body, double wrench[6])
{
    int n, index = mor_body_index(w, body);
    const mor_contact* c = mor_world_contacts(w, &n);
    mor_vec3 f = mor_v3(0, 0, 0), m = f, com = mor_body_get_state(w, body).com;
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++)
            if (c[i].body[side] == index) add_contact(&c[i], (side ? 1.0 : -1.0) / mor_world_get_step(w), com, &f, &m);
    write_wrench(f, m, wrench);
}
