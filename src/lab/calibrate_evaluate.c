/* One evaluation: every run simulated with one set of values, and what its motion misses.
 *
 * Errors of a run with samples k = 0 ... N, positions x (m) and rotations theta (angle between simulated and measured):
 *
 *     pose   mean over k >= 1 of |x - x'| + rotation_weight |theta|, of several bodies the mean
 *     eq18   (1/N) [ |q_0 - q_0'|^2 + sum over k = 1 ... N of |q_k - q_k'|^2 ],  q = (x, rotation_weight theta):
 *            equation (18) of the paper with the sum inside the bracket that 1/N_j stands before
 *     warp   as pose, each measured sample compared with the best simulated one within `window` seconds, samples in
 *            order (dynamic time warping)
 *
 * The error of a set is the mean over its runs. Missing samples are left out. Samples between two steps are
 * interpolated. A step that fails ends the run: its error is not a number, and the set's is infinite. So it is with
 * values that the scene does not take together. */
#include "base/elementary.h"
#include "base/workers.h"
#include "io/scene/scene_def.h"
#include "lab/calibrate_engine.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct evaluation {
    mor_calibration* c;
    const char* sets[MOR_CAL_SETS + MOR_CAL_PARAMETERS * MOR_CAL_PATHS + 1];
    char text[MOR_CAL_PARAMETERS * MOR_CAL_PATHS][220];
    mor_scene* scenes[64]; /* of each worker */
    bool test, flights;
    mor_engine_function engine; /* steps the runs; NULL: Moreau */
    mor_engine_value values[MOR_CAL_ENGINE_VALUES];
    int value_count;
    mor_cal_score* scores;
    double* curves;    /* run_count x MOR_CAL_PARTS x 3: sums of distance, angle, samples; NULL: not wanted */
    double longest;    /* [s] */
    atomic_int failed; /* a run could not be simulated at all; the first to fail writes why */
    mor_code code;
    mor_error* error;
} evaluation;

/* Motion of one measured body along the samples. */
typedef struct motion {
    mor_body_id id;
    const char* body;
    mor_vec3* x;
    mor_quat* q;
} motion;

static int find_bodies(const mor_calibration* c, const mor_world* w, motion* all)
{
    int count = 0;
    for (int i = 0; i < c->measured_count; i++) {
        bool first = c->measured[i].kind <= MOR_CAL_ANGLE;
        for (int k = 0; k < count; k++) first = first && strcmp(all[k].body, c->measured[i].body) != 0;
        if (first)
            all[count++] = (motion){ mor_world_find_body(w, c->measured[i].body), c->measured[i].body, NULL, NULL };
    }
    return count;
}

static int samples_of(const mor_calibration* c, const mor_cal_run* r)
{
    if (!c->after_contact) return r->count;
    return r->flight + c->after_contact < r->count ? r->flight + c->after_contact : r->count;
}

static bool touches(const mor_world* w)
{
    int n;
    const mor_contact* contacts = mor_world_contacts(w, &n);
    for (int i = 0; i < n; i++)
        if (contacts[i].normal_impulse > 0.0) return true;
    return false;
}

/* Poses at the samples, between steps interpolated. With `flight` it ends at the first contact. The number of samples
 * reached. */
static int follow(const mor_calibration* c, const mor_cal_run* r, mor_world* w, motion* bodies, int body_count,
                  int samples, bool flight, mor_error* error)
{
    mor_pose before[MOR_CAL_QUANTITIES], now[MOR_CAL_QUANTITIES];
    double last = 0.0;
    for (int b = 0; b < body_count; b++) before[b] = now[b] = mor_body_get_state(w, bodies[b].id).pose;
    for (int k = 0; k < samples; k++) {
        double t = mor_cal_time(c, r, k), h = mor_world_get_step(w);
        while (mor_world_time(w) < t - 1e-6 * h) {
            last = mor_world_time(w);
            for (int b = 0; b < body_count; b++) before[b] = now[b];
            if (mor_world_step(w, NULL, error)) return k;
            for (int b = 0; b < body_count; b++) now[b] = mor_body_get_state(w, bodies[b].id).pose;
            if (flight && touches(w)) return k;
        }
        double span = mor_world_time(w) - last, part = span > 0.0 ? (t - last) / span : 1.0;
        if (part > 1.0 || !(span > 0.0)) part = 1.0;
        for (int b = 0; b < body_count && !flight; b++) {
            mor_vec3 turn = mor_cal_turn(before[b].rotation, now[b].rotation);
            mor_vec3 way = mor_sub(now[b].position, before[b].position);
            bodies[b].x[k] = mor_madd(now[b].position, part - 1.0, way);
            bodies[b].q[k] = mor_quat_mul(mor_quat_exp(mor_scale(part - 1.0, turn)), now[b].rotation);
        }
    }
    return samples;
}

/* Poses at the samples from the engine of the method. The number of samples reached: all or none. */
static int let_follow(const evaluation* e, const mor_cal_run* r, const mor_world* w, motion* bodies, int body_count,
                      int samples, mor_error* error)
{
    mor_body_id ids[MOR_CAL_QUANTITIES];
    double* times = malloc(((size_t)samples + 1) * sizeof *times);
    mor_pose* poses = malloc(((size_t)samples * (size_t)body_count + 1) * sizeof *poses);
    mor_code code = times && poses ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int b = 0; b < body_count; b++) ids[b] = bodies[b].id;
    for (int k = 0; k < samples && !code; k++) times[k] = mor_cal_time(e->c, r, k);
    if (!code) code = e->engine(w, ids, body_count, times, samples, e->values, e->value_count, poses, error);
    for (int b = 0; b < body_count && !code; b++)
        for (int k = 0; k < samples; k++)
            bodies[b].x[k] = poses[b * samples + k].position, bodies[b].q[k] = poses[b * samples + k].rotation;
    free(times), free(poses);
    return code ? 0 : samples;
}

/* Distance and angle between measured sample i and simulated sample k of a body; what is missing is 0. */
static bool differ(const mor_calibration* c, const mor_cal_run* r, const motion* m, int i, int k, double* x,
                   double* turn)
{
    mor_cal_pose seen = mor_cal_measured(c, m->body, r->first + i);
    *x = seen.has_x ? mor_norm(mor_sub(seen.x, m->x[k])) : 0.0;
    *turn = seen.has_q ? mor_norm(mor_cal_turn(m->q[k], seen.q)) : 0.0;
    return seen.has_x || seen.has_q;
}

/* Mean of the cheapest path through the pairs of samples, per measured sample; pairs further apart than the window do
 * not meet. */
static double warp(const mor_calibration* c, const mor_cal_run* r, const motion* m, int samples)
{
    double* cost = malloc(2 * (size_t)samples * sizeof *cost);
    if (!cost) return NAN;
    double *above = cost, *row = cost + samples, answer = 0.0;
    for (int i = 0; i < samples; i++) {
        for (int k = 0; k < samples; k++) {
            row[k] = HUGE_VAL;
            if (fabs(mor_cal_time(c, r, i) - mor_cal_time(c, r, k)) > c->window * (1.0 + 1e-9)) continue;
            double x, turn, best = i == 0 && k == 0 ? 0.0 : HUGE_VAL;
            differ(c, r, m, i, k, &x, &turn);
            if (i > 0) best = mor_min(best, above[k]);
            if (i > 0 && k > 0) best = mor_min(best, above[k - 1]);
            double here = x + c->rotation_weight * turn;
            row[k] = best + here;
            if (k > 0) row[k] = mor_min(row[k], row[k - 1] + (i > 0 ? 0.0 : here)); /* waits at no cost of its own */
        }
        answer = row[samples - 1];
        double* swap = above;
        above = row, row = swap;
    }
    free(cost);
    return answer / samples;
}

static void judge(const mor_calibration* c, const mor_cal_run* r, const motion* bodies, int body_count, int samples,
                  mor_cal_score* score)
{
    double sum[2] = { 0 }, squares = 0.0;
    int counts[2] = { 0 };
    *score = (mor_cal_score){ 0 };
    for (int b = 0; b < body_count; b++)
        for (int k = 0; k < samples; k++) {
            double x, turn;
            if (c->after_contact && k <= r->flight) continue;
            if (!differ(c, r, &bodies[b], k, k, &x, &turn)) continue;
            mor_cal_pose seen = mor_cal_measured(c, bodies[b].body, r->first + k);
            squares += x * x + c->rotation_weight * c->rotation_weight * turn * turn;
            if (k == 0) continue;
            sum[0] += x, counts[0] += seen.has_x;
            sum[1] += turn, counts[1] += seen.has_q;
            if (b == 0) score->last = x;
        }
    score->position = counts[0] ? sum[0] / counts[0] : 0.0;
    score->rotation = counts[1] ? sum[1] / counts[1] : 0.0;
    score->error = score->position + c->rotation_weight * score->rotation;
    if (c->error == MOR_CAL_EQ18) score->error = squares / (body_count * mor_max(samples - 1, 1));
    if (c->error == MOR_CAL_WARP) {
        score->error = 0.0;
        for (int b = 0; b < body_count; b++) score->error += warp(c, r, &bodies[b], samples) / body_count;
    }
}

/* Sums over parts of the longest run's time. */
static void draw_curve(const evaluation* e, const mor_cal_run* r, const motion* bodies, int body_count, int samples,
                       double* curve)
{
    for (int k = 0; k < samples; k++) {
        int part = (int)(MOR_CAL_PARTS * mor_cal_time(e->c, r, k) / e->longest);
        double* at = curve + 3 * (part < MOR_CAL_PARTS ? part : MOR_CAL_PARTS - 1);
        for (int b = 0; b < body_count; b++) {
            double x, turn;
            if (!differ(e->c, r, &bodies[b], k, k, &x, &turn)) continue;
            at[0] += x, at[1] += turn, at[2] += 1.0;
        }
    }
}

static void fail(evaluation* e, const mor_error* error)
{
    if (atomic_exchange(&e->failed, 1)) return;
    e->code = error->code ? error->code : MOR_SYSTEM;
    *e->error = *error;
}

static void simulate_run(void* user, int index, int worker)
{
    evaluation* e = user;
    mor_calibration* c = e->c;
    mor_cal_run* r = &c->runs[index];
    mor_cal_score* score = e->flights ? NULL : &e->scores[index];
    if (score) *score = (mor_cal_score){ NAN, NAN, NAN, NAN };
    if (atomic_load(&e->failed) || (!e->flights && !e->test && !r->train)) return;
    mor_error error = { 0 };
    mor_world* w = mor_scene_build(e->scenes[worker], 1, &error);
    int samples = e->flights ? r->count : samples_of(c, r), reached = 0;
    motion bodies[MOR_CAL_QUANTITIES];
    int body_count = w ? find_bodies(c, w, bodies) : 0;
    size_t room = (size_t)samples * (size_t)body_count;
    mor_vec3* x = malloc((room + 1) * sizeof *x);
    mor_quat* q = malloc((room + 1) * sizeof *q);
    if (!w || !x || !q) {
        if (w) mor_fail(&error, MOR_SYSTEM, "out of memory");
        fail(e, &error);
    } else if (mor_cal_set_initial(c, e->scenes[worker], w, index, &error) == MOR_OK) {
        for (int b = 0; b < body_count; b++) bodies[b].x = x + b * samples, bodies[b].q = q + b * samples;
        if (e->engine && !e->flights) reached = let_follow(e, r, w, bodies, body_count, samples, &error);
        else reached = follow(c, r, w, bodies, body_count, samples, e->flights, &error);
        if (e->flights) r->flight = reached > 1 ? reached - 1 : 0;
        else if (reached == samples) judge(c, r, bodies, body_count, samples, score);
        if (e->curves && reached == samples)
            draw_curve(e, r, bodies, body_count, samples, e->curves + (size_t)index * 3 * MOR_CAL_PARTS);
        if (error.code == MOR_SYSTEM || error.code == MOR_BAD_INPUT) fail(e, &error);
    }
    free(x);
    free(q);
    mor_world_destroy(w);
}

static void write_sets(evaluation* e, int method, const double* x)
{
    mor_calibration* c = e->c;
    const mor_cal_method* m = &c->methods[method];
    int n = 0, used = 0;
    for (int i = 0; i < m->set_count; i++) e->sets[n++] = m->sets[i];
    for (int i = 0; i < m->parameter_count; i++) {
        const mor_cal_parameter* p = &c->parameters[m->parameters[i]];
        for (int k = 0; k < p->path_count; k++) {
            if (mor_cal_is_engine_path(p->paths[k])) continue;
            snprintf(e->text[used], sizeof e->text[used], "%s=%.17g", p->paths[k], p->factors[k] * x[i]);
            e->sets[n++] = e->text[used++];
        }
    }
    e->sets[n] = NULL;
    e->engine = m->engine;
    e->value_count = mor_cal_engine_values(c, method, x, e->values);
}

static mor_code run(evaluation* e, int method, const double* x, double* time_s)
{
    mor_calibration* c = e->c;
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    int jobs = c->jobs < 1 ? 1 : c->jobs > 64 ? 64 : c->jobs;
    write_sets(e, method, x);
    for (int i = 0; i < jobs && !e->code; i++) {
        e->scenes[i] = mor_scene_load(c->scene, e->sets, c->library, e->error);
        if (!e->scenes[i]) e->code = e->error->code ? e->error->code : MOR_BAD_INPUT;
    }
    if (e->code == MOR_BAD_INPUT && e->scores) { /* values that do not go together */
        for (int i = 0; i < c->run_count; i++) e->scores[i] = (mor_cal_score){ NAN, NAN, NAN, NAN };
        if (!c->refusal[0]) snprintf(c->refusal, sizeof c->refusal, "%.399s", e->error->text);
        *e->error = (mor_error){ 0 };
        for (int i = 0; i < jobs; i++) mor_scene_destroy(e->scenes[i]);
        return e->code = MOR_OK;
    }
    mor_workers* workers = e->code ? NULL : mor_workers_create(NULL, jobs);
    if (workers) mor_workers_run(workers, c->run_count, simulate_run, e);
    else if (!e->code) e->code = mor_fail(e->error, MOR_SYSTEM, "out of memory or threads");
    mor_workers_destroy(workers);
    for (int i = 0; i < jobs; i++) mor_scene_destroy(e->scenes[i]);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    if (time_s) *time_s = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    return e->code;
}

mor_code mor_cal_simulate(mor_calibration* c, int method, const double* x, bool test, mor_cal_score* scores,
                          double* time_s, mor_error* error)
{
    evaluation* e = calloc(1, sizeof *e);
    if (!e) return mor_fail(error, MOR_SYSTEM, "out of memory");
    *e = (evaluation){ .c = c, .test = test, .scores = scores, .error = error };
    mor_code code = run(e, method, x, time_s);
    free(e);
    return code;
}

mor_code mor_cal_curve(mor_calibration* c, int method, const double* x, double* curve, mor_error* error)
{
    evaluation* e = calloc(1, sizeof *e);
    mor_cal_score* scores = calloc((size_t)c->run_count + 1, sizeof *scores);
    double *sums = calloc(3 * MOR_CAL_PARTS * (size_t)c->run_count + 1, sizeof *sums), longest = 0.0;
    mor_code code = e && scores && sums ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) {
        for (int i = 0; i < c->run_count; i++)
            longest = mor_max(longest, mor_cal_time(c, &c->runs[i], c->runs[i].count - 1));
        *e = (evaluation){ .c = c, .test = true, .scores = scores, .curves = sums, .error = error };
        e->longest = mor_max(longest, 1e-300);
        code = run(e, method, x, NULL);
        for (int k = 0; k < MOR_CAL_PARTS; k++) {
            double sum[3] = { 0 };
            for (int i = 0; i < c->run_count; i++)
                for (int d = 0; d < 3; d++) sum[d] += sums[3 * (i * MOR_CAL_PARTS + k) + d];
            curve[3 * k] = longest * (k + 0.5) / MOR_CAL_PARTS;
            curve[3 * k + 1] = sum[0] / sum[2], curve[3 * k + 2] = sum[1] / sum[2];
        }
    }
    free(e), free(scores), free(sums);
    return code;
}

mor_code mor_cal_find_flights(mor_calibration* c, mor_error* error)
{
    evaluation* e = calloc(1, sizeof *e);
    if (!e) return mor_fail(error, MOR_SYSTEM, "out of memory");
    *e = (evaluation){ .c = c, .flights = true, .error = error };
    double x[MOR_CAL_PARAMETERS];
    for (int i = 0; i < c->methods[0].parameter_count; i++) x[i] = c->parameters[c->methods[0].parameters[i]].start;
    for (int i = 0; i < c->run_count; i++) c->runs[i].flight = 0;
    mor_code code = run(e, 0, x, NULL);
    free(e);
    return code;
}
