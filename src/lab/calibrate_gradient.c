/* The optimiser "gradient": Gauss and Newton, damped as by Levenberg and Marquardt, with slopes through contact.
 *
 * Residuals are what the motion misses of the samples, r = (x - x', rotation_weight (q - q')), their slopes those of
 * the chain of all steps (moreau/derivative.h), S+ = A S + B, between two steps interpolated as positions are. With
 *
 *     H = sum J' w J,    b = sum J' w r,    (H + l diag H) d = -b
 *
 * w = 1 for the error eq18, and w = 1/|r| for the error pose, which is a mean of distances (least squares that are
 * weighted anew in every round). A trial counts by the plan's own error, at the price of an evaluation; l falls when it
 * is better and grows when it is not. Values stay in their ranges: one that stands at a border and would leave is held.
 *
 * Friction and restitution of materials, masses of bodies and gravity are inputs of the derivative. The slope by any
 * other parameter is a difference of two more evaluations.
 *
 * D. W. Marquardt, J. SIAM 11 (1963) 431-441; E. J. Schlossmacher, J. Amer. Stat. Assoc. 68 (1973) 857-859. */
#include "base/elementary.h"
#include "lab/calibrate_work.h"
#include "linalg/dense.h"
#include "moreau/derivative.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, TRIALS = 8, MOST_INPUTS = MOR_CAL_PARAMETERS * MOR_CAL_PATHS };
#define LITTLE 1e-4 /* of the range, for differences */
#define FLAT 1e-12  /* of the steepest value: one that changes nothing here is held, as friction where all sticks */
#define SMALL 1e-9  /* m: misses below weigh no more */

typedef struct gradient {
    mor_calibration* c;
    const mor_cal_method* m;
    int method, n;
    mor_cal_cost cost;
    void* user;
    mor_error* error;
    char text[MOST_INPUTS][220];
    const char* sets[MOR_CAL_SETS + MOST_INPUTS + 1];
    double H[MOR_CAL_PARAMETERS * MOR_CAL_PARAMETERS], b[MOR_CAL_PARAMETERS];
} gradient;

/* One run: samples of bodies, six residuals each, and six slopes by every parameter. */
typedef struct path {
    int bodies, samples, rows; /* rows: 6 bodies samples */
    mor_body_id id[MOR_CAL_QUANTITIES];
    const char* name[MOR_CAL_QUANTITIES];
    double* r;
    double* J; /* rows x n; NULL: residuals alone */
} path;

static mor_cal_parameter* parameter(const gradient* g, int i) { return &g->c->parameters[g->m->parameters[i]]; }

/* ---------------------------------------------------------------------------- parameters as inputs */

static int find_material(const mor_world* w, const char* name, size_t length)
{
    for (int i = 0; mor_world_material(w, i); i++) {
        const char* is = mor_world_material(w, i)->name;
        if (strlen(is) == length && strncmp(is, name, length) == 0) return i;
    }
    return -1;
}

/* materials.NAME.friction, materials.NAME.restitution, bodies.NAME.mass; false: no input. */
static bool input_of(const mor_world* w, const char* words, mor_input* in)
{
    const char *dot = strchr(words, '.'), *end = strrchr(words, '.');
    if (!dot || end == dot) return false;
    size_t length = (size_t)(end - dot - 1);
    bool material = strncmp(words, "materials.", 10) == 0, friction = strcmp(end, ".friction") == 0;
    if (material && (friction || strcmp(end, ".restitution") == 0)) {
        int index = find_material(w, dot + 1, length);
        *in = (mor_input){ friction ? MOR_INPUT_FRICTION : MOR_INPUT_RESTITUTION, index, 0 };
        return index >= 0;
    }
    char name[160];
    snprintf(name, sizeof name, "%.*s", (int)length, dot + 1);
    mor_body_id id = strncmp(words, "bodies.", 7) == 0 && strcmp(end, ".mass") == 0 ? mor_world_find_body(w, name)
                                                                                    : (mor_body_id){ 0 };
    if (!mor_body_valid(w, id) || mor_body_get_kind(w, id) != MOR_DYNAMIC) return false;
    *in = (mor_input){ MOR_INPUT_MASS, mor_body_index(w, id), 0 };
    return true;
}

/* Inputs of the parameters that are inputs in all of their paths; owner: which parameter, factor: by how much. */
static int list_inputs(const gradient* g, const mor_world* w, mor_input* in, int* owner, double* factor, bool* known)
{
    int count = 0;
    for (int i = 0; i < g->n; i++) {
        const mor_cal_parameter* p = parameter(g, i);
        int first = count;
        known[i] = true;
        for (int k = 0; k < p->path_count && known[i]; k++, count++) {
            known[i] = input_of(w, p->paths[k], &in[count]);
            owner[count] = i, factor[count] = p->factors[k];
        }
        if (!known[i]) count = first;
    }
    return count;
}

/* -------------------------------------------------------------------------------------- one motion */

static mor_scene* load(gradient* g, const double* x)
{
    int n = 0, used = 0;
    for (int i = 0; i < g->m->set_count; i++) g->sets[n++] = g->m->sets[i];
    for (int i = 0; i < g->n; i++) {
        const mor_cal_parameter* p = parameter(g, i);
        for (int k = 0; k < p->path_count; k++, used++) {
            snprintf(g->text[used], sizeof g->text[used], "%s=%.17g", p->paths[k], p->factors[k] * x[i]);
            g->sets[n++] = g->text[used];
        }
    }
    g->sets[n] = NULL;
    return mor_scene_load(g->c->scene, g->sets, g->c->library, g->error);
}

static void find_bodies(const mor_calibration* c, const mor_world* w, path* p)
{
    p->bodies = 0;
    for (int i = 0; i < c->measured_count; i++) {
        bool first = c->measured[i].kind <= MOR_CAL_ANGLE;
        for (int k = 0; k < p->bodies; k++) first = first && strcmp(p->name[k], c->measured[i].body) != 0;
        if (!first) continue;
        p->name[p->bodies] = c->measured[i].body;
        p->id[p->bodies++] = mor_world_find_body(w, c->measured[i].body);
    }
}

/* How the frame of a body moves with a parameter: six numbers, from column i of S (2 nu x n). */
static void body_slope(const mor_world* w, mor_body_id id, const double* S, int n, int i, double* out)
{
    mor_span span = mor_body_span(w, id);
    mor_body_state state = mor_body_get_state(w, id);
    int linear = mor_world_dimension(w);
    double v[6] = { 0 };
    for (int k = 0; k < span.nu_count; k++)
        v[k < linear ? k : linear == 3 ? k : 5] = S[(size_t)(span.nu + k) * (size_t)n + (size_t)i];
    mor_vec3 turn = mor_v3(v[3], v[4], v[5]), arm = mor_sub(state.pose.position, state.com);
    mor_vec3 move = mor_add(mor_v3(v[0], v[1], v[2]), mor_cross(turn, arm));
    memcpy(out, (double[6]){ move.x, move.y, move.z, turn.x, turn.y, turn.z }, 6 * sizeof *out);
}

typedef struct chain {
    mor_input in[MOST_INPUTS];
    int owner[MOST_INPUTS], count;
    double factor[MOST_INPUTS];
    double *S, *next; /* 2 nu x n */
} chain;

/* S := A S + B of the coming step. */
static mor_code follow_step(chain* k, mor_world* w, int n, mor_error* error)
{
    mor_derivative* d = NULL;
    mor_code code = mor_world_derivative(w, k->in, k->count, &d, error);
    if (code) return code;
    for (int i = 0; i < d->rows; i++) {
        const double* row = d->matrix + (size_t)i * (size_t)d->columns;
        double* to = k->next + (size_t)i * (size_t)n;
        memset(to, 0, (size_t)n * sizeof *to);
        for (int j = 0; j < d->rows; j++)
            for (int p = 0; p < n && row[j] != 0.0; p++) to[p] += row[j] * k->S[(size_t)j * (size_t)n + (size_t)p];
        for (int j = 0; j < k->count; j++) to[k->owner[j]] += k->factor[j] * row[d->rows + j];
    }
    mor_derivative_destroy(d);
    double* swap = k->S;
    k->S = k->next, k->next = swap;
    return MOR_OK;
}

/* Poses and slopes of the bodies now: 7 + 6 n numbers each. */
static void look(const mor_world* w, const path* p, const chain* k, int n, mor_pose* poses, double* slopes)
{
    for (int b = 0; b < p->bodies; b++) {
        poses[b] = mor_body_get_state(w, p->id[b]).pose;
        for (int i = 0; i < n && k; i++) body_slope(w, p->id[b], k->S, n, i, slopes + 6 * (b * n + i));
    }
}

/* Residuals of one sample, and slopes between those before and now. */
static void take_sample(const gradient* g, const mor_cal_run* run, path* p, int sample, double part,
                        const mor_pose* before, const mor_pose* now, const double* before_slopes, const double* slopes)
{
    double weight = g->c->rotation_weight;
    for (int b = 0; b < p->bodies; b++) {
        mor_cal_pose seen = mor_cal_measured(g->c, p->name[b], run->first + sample);
        mor_vec3 turn = mor_cal_turn(before[b].rotation, now[b].rotation);
        mor_vec3 x = mor_madd(now[b].position, part - 1.0, mor_sub(now[b].position, before[b].position));
        mor_quat q = mor_quat_mul(mor_quat_exp(mor_scale(part - 1.0, turn)), now[b].rotation);
        mor_vec3 off = seen.has_x ? mor_sub(x, seen.x) : mor_v3(0, 0, 0);
        mor_vec3 turned = seen.has_q ? mor_scale(weight, mor_cal_turn(seen.q, q)) : mor_v3(0, 0, 0);
        size_t row = 6 * ((size_t)b * (size_t)p->samples + (size_t)sample);
        memcpy(p->r + row, (double[6]){ off.x, off.y, off.z, turned.x, turned.y, turned.z }, 6 * sizeof *p->r);
        for (int i = 0; i < g->n && p->J; i++)
            for (int e = 0; e < 6; e++) {
                size_t at = 6 * (size_t)(b * g->n + i) + (size_t)e;
                double slope = slopes[at] + (part - 1.0) * (slopes[at] - before_slopes[at]);
                bool there = e < 3 ? seen.has_x : seen.has_q;
                p->J[(row + (size_t)e) * (size_t)g->n + (size_t)i] = there ? (e < 3 ? 1.0 : weight) * slope : 0.0;
            }
    }
}

static mor_code trace(gradient* g, mor_world* w, const mor_cal_run* run, path* p, chain* k)
{
    size_t each = 6 * (size_t)p->bodies * (size_t)g->n;
    double *slopes = calloc(2 * each + 1, sizeof *slopes), *before_slopes = slopes + each, last = 0.0;
    mor_pose before[MOR_CAL_QUANTITIES], now[MOR_CAL_QUANTITIES];
    if (!slopes) return mor_fail(g->error, MOR_SYSTEM, "out of memory");
    look(w, p, k, g->n, now, slopes);
    memcpy(before, now, (size_t)p->bodies * sizeof *now);
    mor_code code = MOR_OK;
    for (int s = 0; s < p->samples && !code; s++) {
        double t = mor_cal_time(g->c, run, s), h = mor_world_get_step(w);
        while (mor_world_time(w) < t - 1e-6 * h && !code) {
            last = mor_world_time(w);
            memcpy(before, now, (size_t)p->bodies * sizeof *now);
            memcpy(before_slopes, slopes, each * sizeof *slopes);
            if (k && k->count) code = follow_step(k, w, g->n, g->error);
            if (!code) code = mor_world_step(w, NULL, g->error);
            if (!code) look(w, p, k, g->n, now, slopes);
        }
        double span = mor_world_time(w) - last, part = span > 0.0 ? (t - last) / span : 1.0;
        if (part > 1.0 || !(span > 0.0)) part = 1.0;
        if (!code) take_sample(g, run, p, s, part, before, now, before_slopes, slopes);
    }
    free(slopes);
    return code;
}

/* The motion of a run with the values x. With `slopes` also p->J of the parameters that are inputs, which `known` says.
 * The caller frees p->r and p->J. */
static mor_code move(gradient* g, const double* x, int index, bool slopes, path* p, bool* known)
{
    const mor_cal_run* run = &g->c->runs[index];
    mor_scene* scene = load(g, x);
    mor_world* w = scene ? mor_scene_build(scene, 1, g->error) : NULL;
    chain* k = slopes ? calloc(1, sizeof *k) : NULL;
    size_t state = w ? 2 * (size_t)mor_world_nu_count(w) * (size_t)g->n + 1 : 1;
    p->samples = run->count;
    if (g->c->after_contact && run->flight + g->c->after_contact < run->count)
        p->samples = run->flight + g->c->after_contact;
    if (w) find_bodies(g->c, w, p);
    p->rows = 6 * p->bodies * p->samples;
    p->r = calloc((size_t)p->rows + 1, sizeof *p->r);
    p->J = slopes ? calloc((size_t)p->rows * (size_t)g->n + 1, sizeof *p->J) : NULL;
    if (k) k->S = calloc(state, sizeof *k->S), k->next = calloc(state, sizeof *k->S);
    bool room = p->r && (!slopes || (p->J && k && k->S && k->next));
    mor_code code = !w ? g->error->code : room ? MOR_OK : mor_fail(g->error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_cal_set_initial(g->c, scene, w, index, g->error);
    if (!code && k) k->count = list_inputs(g, w, k->in, k->owner, k->factor, known);
    if (!code) code = trace(g, w, run, p, k);
    if (k) free(k->S), free(k->next);
    free(k);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return code;
}

/* ---------------------------------------------------------------------------------- the equations */

/* dx/dz of the unit cube. */
static double stretch(const mor_cal_parameter* p, double z)
{
    double a = mor_max(0.0, z - 1e-6), b = mor_min(1.0, z + 1e-6);
    return (mor_cal_from_unit(p, b) - mor_cal_from_unit(p, a)) / (b - a);
}

/* Column i of p->J by differences of two motions. */
static mor_code differ(gradient* g, const double* x, int index, int i, path* p)
{
    const mor_cal_parameter* of = parameter(g, i);
    double by = LITTLE * (of->high - of->low), at[MOR_CAL_PARAMETERS];
    double to[2] = { mor_max(x[i] - by, of->low),
                     mor_min(x[i] + by, of->high) }; /* a range may end where a scene does */
    path side[2] = { { 0 } };
    mor_code code = MOR_OK;
    for (int s = 0; s < 2 && !code; s++) {
        memcpy(at, x, (size_t)g->n * sizeof *at);
        at[i] = to[s];
        code = move(g, at, index, false, &side[s], NULL);
    }
    for (int r = 0; r < p->rows && !code; r++)
        p->J[(size_t)r * (size_t)g->n + (size_t)i] = (side[1].r[r] - side[0].r[r]) / (to[1] - to[0]);
    for (int s = 0; s < 2; s++) free(side[s].r);
    return code;
}

/* H and b of one run, samples weighted as the error has them. */
static void add_run(gradient* g, const mor_cal_run* run, const path* p, const double* by_z)
{
    int n = g->n;
    for (int r = 0; r + 2 < p->rows; r += 3) { /* three of position, three of rotation */
        int sample = r / 6 % p->samples;
        if (sample == 0 || (g->c->after_contact && sample <= run->flight)) continue;
        const double* miss = p->r + r;
        double size = sqrt(miss[0] * miss[0] + miss[1] * miss[1] + miss[2] * miss[2]);
        double w = (g->c->error == MOR_CAL_EQ18 ? 1.0 : 1.0 / mor_max(size, SMALL)) / p->samples;
        for (int e = 0; e < 3; e++) {
            const double* J = p->J + (size_t)(r + e) * (size_t)n;
            for (int i = 0; i < n; i++) {
                g->b[i] += w * J[i] * by_z[i] * miss[e];
                for (int j = 0; j < n; j++) g->H[i * n + j] += w * J[i] * by_z[i] * J[j] * by_z[j];
            }
        }
    }
}

/* H and b of all training runs, or, if `each_H` is not NULL, those of every run after each other. */
static mor_code linearise(gradient* g, const double* z, double* each_H, double* each_b)
{
    double x[MOR_CAL_PARAMETERS], by_z[MOR_CAL_PARAMETERS];
    int others = 0;
    memset(g->H, 0, sizeof g->H);
    memset(g->b, 0, sizeof g->b);
    for (int i = 0; i < g->n; i++) {
        x[i] = mor_cal_from_unit(parameter(g, i), z[i]);
        by_z[i] = stretch(parameter(g, i), z[i]);
    }
    mor_code code = MOR_OK;
    for (int k = 0; k < g->c->run_count && !code; k++) {
        path p = { 0 };
        bool known[MOR_CAL_PARAMETERS];
        if (!g->c->runs[k].train) continue;
        code = move(g, x, k, true, &p, known);
        others = 0;
        for (int i = 0; i < g->n && !code; i++)
            if (!known[i]) code = differ(g, x, k, i, &p), others++;
        size_t square = (size_t)g->n * (size_t)g->n;
        if (each_H) memset(g->H, 0, sizeof g->H), memset(g->b, 0, sizeof g->b);
        if (!code) add_run(g, &g->c->runs[k], &p, by_z);
        if (each_H) {
            memcpy(each_H, g->H, square * sizeof *each_H), each_H += square;
            memcpy(each_b, g->b, (size_t)g->n * sizeof *each_b), each_b += g->n;
        }
        free(p.r);
        free(p.J);
    }
    g->c->results[g->method].evaluations += 1 + 2 * others;
    return code;
}

mor_code mor_cal_linearise_runs(mor_calibration* c, int method, const double* z, double* H, double* b, mor_error* error)
{
    gradient* g = calloc(1, sizeof *g);
    if (!g) return mor_fail(error, MOR_SYSTEM, "out of memory");
    *g = (gradient){ .c = c, .m = &c->methods[method], .method = method, .error = error };
    g->n = g->m->parameter_count;
    mor_code code = linearise(g, z, H, b);
    free(g);
    return code;
}

/* z + d with (H + l diag H) d = -b; values at a border that would leave are held. False: nothing can move. */
static bool propose(const gradient* g, const double* z, double l, double* to)
{
    int n = g->n, pivot[MOR_CAL_PARAMETERS];
    double A[MOR_CAL_PARAMETERS * MOR_CAL_PARAMETERS], d[MOR_CAL_PARAMETERS], most = 0.0;
    for (int i = 0; i < n; i++) most = mor_max(most, g->H[i * n + i]);
    for (int i = 0; i < n; i++) {
        bool held = (z[i] <= 0.0 && g->b[i] > 0.0) || (z[i] >= 1.0 && g->b[i] < 0.0);
        held = held || !(g->H[i * n + i] > FLAT * most);
        for (int j = 0; j < n; j++) A[j * n + i] = held ? i == j : g->H[i * n + j] * (i == j ? 1.0 + l : 1.0);
        A[i * n + i] += 1e-14 * most;
        d[i] = held ? 0.0 : -g->b[i];
    }
    if (!(most > 0.0) || !mor_lu_factor(n, A, pivot)) return false;
    mor_lu_solve(n, A, pivot, d);
    bool moves = false;
    for (int i = 0; i < n; i++) {
        to[i] = mor_max(0.0, mor_min(1.0, z[i] + d[i]));
        moves = moves || to[i] != z[i];
    }
    return moves;
}

mor_code mor_cal_gradient(mor_calibration* c, int method, double* z, mor_cal_cost cost, void* user, int evaluations,
                          volatile bool* stop, double* best, mor_error* error)
{
    gradient* g = calloc(1, sizeof *g);
    if (!g) return mor_fail(error, MOR_SYSTEM, "out of memory");
    *g = (gradient){ .c = c, .m = &c->methods[method], .method = method, .cost = cost, .user = user, .error = error };
    g->n = g->m->parameter_count;
    mor_code code = MOR_OK;
    if (c->error == MOR_CAL_WARP)
        code = mor_fail(error, MOR_BAD_INPUT, "optimiser: gradient: the error 'warp' has no slopes; take pose or eq18");
    double l = 1e-3, to[MOR_CAL_PARAMETERS];
    int from = c->results[method].evaluations;
    bool better = true;
    *best = code ? HUGE_VAL : cost(user, z);
    for (int round = 0; round < ROUNDS && better && !code && !*stop && isfinite(*best); round++) {
        code = linearise(g, z, NULL, NULL);
        better = false;
        if (code && code != MOR_SYSTEM && code != MOR_BAD_INPUT) { /* a run beside this point cannot be simulated */
            *error = (mor_error){ 0 }, code = MOR_OK;
            break;
        }
        for (int k = 0; k < TRIALS && !better && !code && !*stop; k++, l *= 5.0) {
            if (c->results[method].evaluations - from >= evaluations || !propose(g, z, l, to)) break;
            double f = cost(user, to), moved = 0.0;
            for (int i = 0; i < g->n; i++) moved = mor_max(moved, fabs(to[i] - z[i]));
            if (!(f < *best) && moved < c->tolerance) break;
            if (!(f < *best)) continue;
            better = moved >= 0.01 * c->tolerance;
            *best = f, l = mor_max(1e-9, 0.04 * l);
            memcpy(z, to, (size_t)g->n * sizeof *z);
        }
    }
    free(g);
    return code;
}
