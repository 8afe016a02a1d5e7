/* Least squares over runs of a world (moreau/optimise.h).
 *
 * Residuals r(x), x initial states and constant forces, with slopes J chained through the steps,
 *
 *     X_k+1 = A_k X_k + [0 B_k],     J = weight . X_N.
 *
 * Levenberg and Marquardt: (J'J + l D) d = -J' r with D the diagonal of J'J, l smaller after a success and larger after
 * a failure. A trial is a run without derivatives; these are taken where a trial succeeded. Without any slope it
 * stalls, and says so: a block that sticks does not tell which way to push.
 *
 * Nelder and Mead: a simplex of values, reflected, stretched, contracted and shrunk, for comparison.
 *
 * D. W. Marquardt (1963), J. SIAM 11; J. A. Nelder, R. Mead (1965), Computer Journal 7. */
#include "moreau/optimise.h"

#include "base/elementary.h"
#include "derivative/look.h"
#include "linalg/dense.h"
#include "model/world.h"
#include "moreau/state.h"

#include <string.h>

typedef struct problem {
    mor_world* w;
    int steps, count, goal_count;
    const mor_unknown* unknowns;
    const mor_goal* goals;
    mor_arena* arena;
    char* start; /* the world before */
    size_t size;
    int n, q_count;
    double *q, *nu, *forces; /* scratch */
    mor_input* inputs;       /* unknowns that are inputs, in their order */
    int* column;             /* unknown -> its column of a derivative */
    int input_count;
} problem;

mor_optimise_options mor_optimise_options_default(void)
{
    return (mor_optimise_options){ MOR_SEARCH_GRADIENT, 1e-6, 1000, 0.1 };
}

/* Where the position of a number of nu is in q; -1: it is a rotation, or there is none. */
static int place(const mor_world* w, int number)
{
    int q = 0, nu = 0;
    for (int i = 0; i < w->alive_count + w->robot_count; i++) {
        const mor_body* b = i < w->alive_count ? &w->bodies[w->order[i]] : NULL;
        if (b && (b->robot || b->tree < 0)) continue;
        int dof = b ? w->trees[b->tree].dof : mor_robot_dof(w->robots[i - w->alive_count]->model);
        bool floating = b ? dof == 6 : dof > mor_robot_joint_count(w->robots[i - w->alive_count]->model);
        int at = number - nu;
        if (at < dof) return !floating || at < 3 ? q + at : at < 6 ? -1 : q + at + 1;
        nu += dof, q += dof + (floating ? 1 : 0);
    }
    return -1;
}

static mor_code check_unknown(const mor_world* w, const mor_unknown* u, int i, mor_error* error)
{
    int n = mor_world_nu_count(w);
    bool input = u->kind == MOR_UNKNOWN_INPUT;
    if (!input && (u->number < 0 || u->number >= n))
        return mor_fail(error, MOR_BAD_INPUT, "unknown %d: number %d; there are %d", i, u->number, n);
    if (u->kind == MOR_UNKNOWN_POSITION && place(w, u->number) < 0)
        return mor_fail(error, MOR_BAD_INPUT, "unknown %d: a rotation; give a translation or a joint", i);
    mor_input_kind k = u->input.kind;
    if (input && k != MOR_INPUT_FORCE && k != MOR_INPUT_JOINT_FORCE && k != MOR_INPUT_GRAVITY)
        return mor_fail(error, MOR_BAD_INPUT, "unknown %d: forces, joint forces and gravity can be looked for", i);
    return input ? mor_input_check(w, &u->input, i, error) : MOR_OK;
}

static mor_code check(const mor_world* w, const problem* p, mor_error* error)
{
    mor_code code = MOR_OK;
    int n = mor_world_nu_count(w);
    if (p->steps < 1 || p->count < 1 || p->goal_count < 1)
        return mor_fail(error, MOR_BAD_INPUT, "give at least one step, one unknown and one goal");
    for (int i = 0; i < p->count && !code; i++) code = check_unknown(w, &p->unknowns[i], i, error);
    for (int i = 0; i < p->goal_count && !code; i++) {
        const mor_goal* g = &p->goals[i];
        if (g->number < 0 || g->number >= n || !isfinite(g->value) || !isfinite(g->weight))
            code = mor_fail(error, MOR_BAD_INPUT, "goal %d: number %d (there are %d), or not finite", i, g->number, n);
        else if (!g->velocity && place(w, g->number) < 0)
            code = mor_fail(error, MOR_BAD_INPUT, "goal %d: a rotation; give a translation, a joint or a velocity", i);
    }
    return code;
}

static mor_code begin(problem* p, mor_error* error)
{
    mor_world* w = p->w;
    mor_code code = check(w, p, error);
    if (code) return code;
    p->n = mor_world_nu_count(w), p->q_count = mor_world_q_count(w);
    p->size = mor_world_save(w, NULL, 0);
    p->arena = mor_arena_create(&w->allocator);
    if (!p->arena) return mor_fail(error, MOR_SYSTEM, "out of memory");
    p->start = mor_arena_alloc(p->arena, p->size + 1);
    p->q = mor_arena_alloc(p->arena, ((size_t)p->q_count + 1) * sizeof(double));
    p->nu = mor_arena_alloc(p->arena, ((size_t)p->n + 1) * sizeof(double));
    p->inputs = mor_arena_alloc(p->arena, (size_t)p->count * sizeof *p->inputs);
    p->column = mor_arena_alloc(p->arena, (size_t)p->count * sizeof(int));
    int joints = 1;
    for (int i = 0; i < w->robot_count; i++) joints += mor_robot_joint_count(w->robots[i]->model);
    p->forces = mor_arena_alloc(p->arena, (size_t)joints * sizeof(double));
    if (!p->start || !p->q || !p->nu || !p->inputs || !p->column || !p->forces)
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < p->count; i++) {
        const mor_unknown* u = &p->unknowns[i];
        p->column[i] = u->kind == MOR_UNKNOWN_POSITION   ? u->number
                       : u->kind == MOR_UNKNOWN_VELOCITY ? p->n + u->number
                                                         : 2 * p->n + p->input_count;
        if (u->kind == MOR_UNKNOWN_INPUT) p->inputs[p->input_count++] = u->input;
    }
    mor_world_save(w, p->start, p->size);
    return MOR_OK;
}

/* ---------------------------------------------------------------------------------------------- runs */

static mor_code set_start(const problem* p, const double* x, mor_error* error)
{
    mor_code code = mor_world_restore(p->w, p->start, p->size, error);
    if (!code) code = mor_world_get_q(p->w, p->q, p->q_count, error);
    if (!code) code = mor_world_get_nu(p->w, p->nu, p->n, error);
    bool moved = false;
    for (int i = 0; i < p->count && !code; i++) {
        const mor_unknown* u = &p->unknowns[i];
        if (u->kind == MOR_UNKNOWN_POSITION) p->q[place(p->w, u->number)] = x[i], moved = true;
        if (u->kind == MOR_UNKNOWN_VELOCITY) p->nu[u->number] = x[i];
    }
    if (!code && moved) code = mor_world_set_q(p->w, p->q, p->q_count, error);
    if (!code) code = mor_world_set_nu(p->w, p->nu, p->n, error);
    return code;
}

/* Forces of the coming step; gravity changes by x and is put back by `undo`. */
static void apply(const problem* p, const double* x, bool undo)
{
    mor_world* w = p->w;
    for (int i = 0; i < p->count; i++) {
        const mor_input* in = &p->unknowns[i].input;
        if (p->unknowns[i].kind != MOR_UNKNOWN_INPUT) continue;
        if (in->kind == MOR_INPUT_GRAVITY) {
            mor_vec3 g = mor_world_gravity(w);
            (&g.x)[in->component] += undo ? -x[i] : x[i];
            mor_world_set_gravity(w, g);
        } else if (!undo && in->kind == MOR_INPUT_FORCE) {
            mor_body_id b = mor_world_body(w, in->index);
            double f[6] = { 0 };
            f[in->component] = x[i];
            mor_body_apply(w, b, mor_v3(f[0], f[1], f[2]), mor_body_get_state(w, b).com);
            mor_body_apply_torque(w, b, mor_v3(f[3], f[4], f[5]));
        } else if (!undo) {
            memset(p->forces, 0, (size_t)mor_robot_joint_count(w->robots[in->index]->model) * sizeof(double));
            p->forces[in->component] = x[i];
            mor_world_robot_apply(w, in->index, p->forces);
        }
    }
}

static mor_code read_residuals(const problem* p, double* r, mor_error* error)
{
    mor_code code = mor_world_get_q(p->w, p->q, p->q_count, error);
    if (!code) code = mor_world_get_nu(p->w, p->nu, p->n, error);
    for (int i = 0; i < p->goal_count && !code; i++) {
        const mor_goal* g = &p->goals[i];
        double is = g->velocity ? p->nu[g->number] : p->q[place(p->w, g->number)];
        r[i] = g->weight * (is - g->value);
    }
    return code;
}

/* X := A X + B, X 2 n x count, row-major; `next` as large. */
static void chain(const problem* p, const mor_derivative* d, double* X, double* next)
{
    int rows = 2 * p->n, count = p->count;
    memset(next, 0, (size_t)rows * (size_t)count * sizeof *next);
    for (int i = 0; i < rows; i++) {
        const double* A = d->matrix + (size_t)i * (size_t)d->columns;
        double* to = next + (size_t)i * (size_t)count;
        for (int j = 0; j < rows; j++)
            for (int k = 0; k < count && A[j] != 0.0; k++) to[k] += A[j] * X[(size_t)j * (size_t)count + k];
        for (int k = 0; k < count; k++)
            if (p->unknowns[k].kind == MOR_UNKNOWN_INPUT) to[k] += A[p->column[k]];
    }
    memcpy(X, next, (size_t)rows * (size_t)count * sizeof *X);
}

static mor_code take_step(const problem* p, const double* x, double* X, double* next, int* rough, mor_error* error)
{
    mor_derivative* d = NULL;
    mor_code code = MOR_OK;
    apply(p, x, false);
    if (X) code = mor_world_derivative(p->w, p->inputs, p->input_count, &d, error);
    if (!code && X) {
        *rough += !d->differentiable;
        chain(p, d, X, next);
    }
    mor_derivative_destroy(d);
    if (!code) code = mor_world_step(p->w, NULL, error);
    apply(p, x, true);
    return code;
}

static mor_code run(const problem* p, const double* x, double* r, double* J, int* rough, mor_error* error)
{
    size_t mark = mor_arena_mark(p->arena), numbers = 2 * (size_t)p->n * (size_t)p->count;
    double* X = J ? mor_arena_zero(p->arena, numbers + 1, sizeof *X) : NULL;
    double* next = J ? mor_arena_alloc(p->arena, (numbers + 1) * sizeof *next) : NULL;
    if (J && (!X || !next)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int k = 0; k < p->count && J; k++)
        if (p->unknowns[k].kind != MOR_UNKNOWN_INPUT) X[(size_t)p->column[k] * (size_t)p->count + (size_t)k] = 1.0;
    int uneven = 0;
    mor_code code = set_start(p, x, error);
    for (int s = 0; s < p->steps && !code; s++) code = take_step(p, x, X, next, &uneven, error);
    if (!code) code = read_residuals(p, r, error);
    for (int i = 0; i < p->goal_count && J && !code; i++) {
        const mor_goal* g = &p->goals[i];
        for (int k = 0; k < p->count; k++)
            J[i * p->count + k] = g->weight * X[(size_t)((g->velocity ? p->n : 0) + g->number) * (size_t)p->count + k];
    }
    if (rough) *rough = uneven;
    mor_arena_release(p->arena, mark);
    return code;
}

/* The world as it was. */
static mor_code finish(problem* p, mor_code code, mor_error* error)
{
    if (p->arena && p->start && p->column) {
        mor_code back = mor_world_restore(p->w, p->start, p->size, code ? NULL : error);
        if (!code) code = back;
    }
    mor_arena_destroy(p->arena);
    return code;
}

mor_code mor_world_residuals(mor_world* w, int steps, const mor_unknown* unknowns, int count, const double* x,
                             const mor_goal* goals, int goal_count, double* residuals, double* slopes, int* rough,
                             mor_error* error)
{
    problem p = {
        .w = w, .steps = steps, .unknowns = unknowns, .count = count, .goals = goals, .goal_count = goal_count
    };
    mor_code code = begin(&p, error);
    if (!code) code = run(&p, x, residuals, slopes, rough, error);
    return finish(&p, code, error);
}

mor_code mor_world_unknowns(const mor_world* w, const mor_unknown* unknowns, int count, double* x, mor_error* error)
{
    mor_code code = MOR_OK;
    mor_arena* arena = mor_arena_create(&w->allocator);
    int n = mor_world_nu_count(w), Q = mor_world_q_count(w);
    double *q = arena ? mor_arena_alloc(arena, (size_t)(Q + n + 1) * sizeof *q) : NULL, *nu = q ? q + Q : NULL;
    if (!q) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_world_get_q(w, q, Q, error);
    if (!code) code = mor_world_get_nu(w, nu, n, error);
    for (int i = 0; i < count && !code; i++) {
        code = check_unknown(w, &unknowns[i], i, error);
        if (code) break;
        x[i] = unknowns[i].kind == MOR_UNKNOWN_INPUT      ? 0.0
               : unknowns[i].kind == MOR_UNKNOWN_POSITION ? q[place(w, unknowns[i].number)]
                                                          : nu[unknowns[i].number];
    }
    mor_arena_destroy(arena);
    return code;
}

/* --------------------------------------------------------------------------- Levenberg and Marquardt */

static double norm(int n, const double* r) { return mor_norm2(n, r); }

/* d of (J'J + l D) d = -J' r; false: no slope at all. */
static bool direction(const problem* p, const double* J, const double* r, double l, double* A, double* d)
{
    int n = p->count, m = p->goal_count;
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        d[i] = 0.0;
        for (int k = 0; k < m; k++) d[i] -= J[k * n + i] * r[k];
        for (int j = 0; j < n; j++) {
            A[i + j * n] = 0.0;
            for (int k = 0; k < m; k++) A[i + j * n] += J[k * n + i] * J[k * n + j];
        }
        most = mor_max(most, A[i + i * n]);
    }
    if (!(most > 0.0)) return false;
    for (int i = 0; i < n; i++) A[i + i * n] += l * mor_max(A[i + i * n], 1e-12 * most);
    if (!mor_cholesky_factor(n, A)) return false;
    mor_cholesky_solve(n, A, d);
    return true;
}

static mor_code marquardt(problem* p, const mor_optimise_options* o, double* x, mor_optimum* best, mor_error* error)
{
    size_t n = (size_t)p->count, m = (size_t)p->goal_count;
    double* room = mor_arena_alloc(p->arena, (m * n + n * n + 2 * m + 2 * n) * sizeof *room);
    if (!room) return mor_fail(error, MOR_SYSTEM, "out of memory");
    double *J = room, *A = J + m * n, *r = A + n * n, *s = r + m, *d = s + m, *y = d + n, l = 1e-3;
    mor_code code = run(p, x, r, J, &best->rough, error);
    best->simulations = best->derivatives = 1;
    if (!code) best->miss = norm(p->goal_count, r);
    while (!code && best->miss > o->tolerance && best->simulations < o->most_simulations && l < 1e12) {
        best->stalled = !direction(p, J, r, l, A, d);
        if (best->stalled) break;
        for (size_t i = 0; i < n; i++) y[i] = x[i] + d[i];
        mor_error why = { 0 };
        mor_code tried = run(p, y, s, NULL, NULL, &why);
        best->simulations++;
        if (tried == MOR_SYSTEM) return mor_fail(error, tried, "%s", why.text);
        if (tried || !(norm(p->goal_count, s) < best->miss)) {
            l *= 10.0;
            continue;
        }
        memcpy(x, y, n * sizeof *x);
        l *= 0.1;
        best->miss = norm(p->goal_count, s);
        if (best->miss <= o->tolerance) break;
        code = run(p, x, r, J, &best->rough, error);
        best->simulations++, best->derivatives++;
    }
    return code;
}

/* ---------------------------------------------------------------------------------- Nelder and Mead */

typedef struct simplex {
    problem* p;
    double *points, *values, *middle, *trial, *r; /* (count + 1) x count */
    mor_optimum* best;
    mor_code code;
} simplex;

/* The miss at a point; a run that fails is infinitely bad. */
static double value(simplex* s, const double* x)
{
    mor_error why = { 0 };
    mor_code code = run(s->p, x, s->r, NULL, NULL, &why);
    s->best->simulations++;
    if (code == MOR_SYSTEM) s->code = code;
    double miss = code ? INFINITY : norm(s->p->goal_count, s->r);
    return miss < INFINITY ? miss : INFINITY;
}

/* middle + by (middle - worst), and its value */
static double toward(simplex* s, int worst, double by)
{
    int n = s->p->count;
    for (int i = 0; i < n; i++) s->trial[i] = s->middle[i] + by * (s->middle[i] - s->points[worst * n + i]);
    return value(s, s->trial);
}

static void take(simplex* s, int k, double v)
{
    memcpy(s->points + k * s->p->count, s->trial, (size_t)s->p->count * sizeof(double));
    s->values[k] = v;
}

static void shrink(simplex* s, int low)
{
    int n = s->p->count;
    for (int k = 0; k <= n; k++) {
        if (k == low) continue;
        for (int i = 0; i < n; i++) s->points[k * n + i] = 0.5 * (s->points[k * n + i] + s->points[low * n + i]);
        s->values[k] = value(s, s->points + k * n);
    }
}

/* One move; the best vertex afterwards. */
static int move(simplex* s)
{
    int n = s->p->count, low = 0, high = 0, next = 0;
    for (int k = 1; k <= n; k++) {
        if (s->values[k] < s->values[low]) low = k;
        if (s->values[k] > s->values[high]) high = k;
    }
    next = low;
    for (int k = 0; k <= n; k++)
        if (k != high && s->values[k] > s->values[next]) next = k;
    for (int i = 0; i < n; i++) {
        s->middle[i] = 0.0;
        for (int k = 0; k <= n; k++)
            if (k != high) s->middle[i] += s->points[k * n + i] / n;
    }
    double v = toward(s, high, 1.0);
    if (v < s->values[low]) {
        take(s, high, v);
        double far = toward(s, high, -2.0); /* from the reflected point: twice as far out */
        if (far < v) take(s, high, far);
        return high;
    }
    if (v < s->values[next]) {
        take(s, high, v);
        return low;
    }
    if (v < s->values[high]) take(s, high, v);
    double in = toward(s, high, -0.5);
    if (in < s->values[high]) take(s, high, in);
    else shrink(s, low);
    for (int k = 0; k <= n; k++)
        if (s->values[k] < s->values[low]) low = k;
    return low;
}

static mor_code nelder_mead(problem* p, const mor_optimise_options* o, double* x, mor_optimum* best, mor_error* error)
{
    size_t n = (size_t)p->count;
    double* room = mor_arena_alloc(p->arena, ((n + 1) * (n + 3) + 2 * n + (size_t)p->goal_count) * sizeof *room);
    if (!room) return mor_fail(error, MOR_SYSTEM, "out of memory");
    simplex s = { .p = p, .points = room, .best = best };
    s.values = room + (n + 1) * n, s.middle = s.values + n + 1, s.trial = s.middle + n, s.r = s.trial + n;
    int low = 0;
    for (size_t k = 0; k <= n; k++) {
        memcpy(s.points + k * n, x, n * sizeof *x);
        if (k) s.points[k * n + k - 1] += o->first_step;
        s.values[k] = value(&s, s.points + k * n);
        if (s.values[k] < s.values[low]) low = (int)k;
    }
    while (!s.code && s.values[low] > o->tolerance && best->simulations < o->most_simulations) {
        double size = 0.0, scale = 1e-300;
        for (size_t i = 0; i < (n + 1) * n; i++) {
            size = mor_max(size, fabs(s.points[i] - s.points[(size_t)low * n + i % n]));
            scale = mor_max(scale, fabs(s.points[i]));
        }
        if (size < 1e-14 * scale) break; /* it has shrunk to a point */
        low = move(&s);
    }
    memcpy(x, s.points + (size_t)low * n, n * sizeof *x);
    best->miss = s.values[low];
    return s.code ? mor_fail(error, s.code, "out of memory") : MOR_OK;
}

mor_code mor_world_optimise(mor_world* w, int steps, const mor_unknown* unknowns, int count, const mor_goal* goals,
                            int goal_count, const mor_optimise_options* options, double* x, mor_optimum* optimum,
                            mor_error* error)
{
    mor_optimise_options usual = mor_optimise_options_default();
    const mor_optimise_options* o = options ? options : &usual;
    problem p = {
        .w = w, .steps = steps, .unknowns = unknowns, .count = count, .goals = goals, .goal_count = goal_count
    };
    *optimum = (mor_optimum){ .miss = INFINITY };
    mor_code code = begin(&p, error);
    if (!code && !options) code = mor_world_unknowns(w, unknowns, count, x, error);
    if (!code) code = (o->search == MOR_SEARCH_GRADIENT ? marquardt : nelder_mead)(&p, o, x, optimum, error);
    optimum->reached = !code && optimum->miss <= o->tolerance;
    return finish(&p, code, error);
}
