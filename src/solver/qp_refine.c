/* The last digits of a quadratic programme: the proximal method of multipliers with exact minimisations; see qp.h.
 *
 * Problem. minimise x'Px/2 + q'x, l <= G x <= u, from a point and multipliers that a splitting or an interior point
 * left near the answer. Guessing which rows are active and solving the equations (mor_qp_polish) gives all digits at
 * once, but at a degenerate answer - a slack and its multiplier both zero, dependent rows, P singular - there may be no
 * guess whose multipliers have the right signs, and exchanging rows by hand runs in circles.
 *
 * Derivation. With multipliers y (P x + q = G'y) and w(x) = G x - y/rho, each round minimises
 *
 *     phi(x) = x'Px/2 + q'x + sigma/2 |x - x_k|^2 + rho/2 |w(x) - mid(l, w(x), u)|^2
 *
 * which is strictly convex, once differentiable and quadratic in pieces: Newton's method with the matrix P + sigma I +
 * rho G_A'G_A, A the rows whose w is outside, and the exact step along each direction (phi' is linear in pieces along
 * it) ends after finitely many steps. Then
 *
 *     y+ = rho (mid(l, w, u) - w),   x_{k+1} = x
 *
 * This is the proximal point method on the optimality conditions, for QPs linear with a factor of about max(sigma,
 * 1/rho): no regularity is needed, and rows may depend on each other. When a round brings less than a factor of 10, rho
 * grows if the rows miss more than the slopes (a multiplier on its way to a large value), else sigma falls (a slope of
 * 1e-9 along a direction without curvature).
 *
 * Cost: O(n^3 + m n^2) per Newton step, a handful per round, a handful of rounds. Limits: dense.
 *
 * References: Rockafellar (1976), Augmented Lagrangians and applications of the proximal point algorithm; Hermans,
 * Themelis & Patrinos (2022), QPALM: a proximal augmented Lagrangian method for nonconvex quadratic programs, Math.
 * Prog. Comp. 14 (sec. 3: the exact step). */
#include "base/elementary.h"
#include "solver/qp.h"

#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"

enum { ROUNDS = 40, STEPS = 60 };

typedef struct knot {
    double at, slope; /* phi' gains `slope` per unit of t beyond `at` */
} knot;

static int by_place(const void* a, const void* b)
{
    double x = ((const knot*)a)->at, y = ((const knot*)b)->at;
    return (x > y) - (x < y);
}

/* phi'(t) = start + bend t, and `bend` changes at the knots: its zero. */
static double exact_step(double start, double bend, knot* knots, int count)
{
    double t = 0.0, value = start;
    qsort(knots, (size_t)count, sizeof *knots, by_place);
    for (int k = 0; k < count; k++) {
        double next = value + bend * (knots[k].at - t);
        if (next >= 0.0) break;
        value = next, t = knots[k].at, bend += knots[k].slope;
    }
    return bend > 0.0 ? t - value / bend : 1.0;
}

/* How far w is outside of its bounds: w - mid(l, w, u). */
static double outside(const mor_qp* qp, int i, double w)
{
    return w < qp->l[i] ? w - qp->l[i] : w > qp->u[i] ? w - qp->u[i] : 0.0;
}

typedef struct refinement {
    const mor_qp* qp;
    double cost, sigma, rho; /* P and q are divided by cost */
    double *x, *centre, *y;  /* n, n, M */
    double *g, *d, *Pd;      /* n */
    double *w, *Gd, *t;      /* M */
    double* L;               /* n x n */
    knot* knots;             /* 2 M */
} refinement;

/* grad phi, and w */
static double slope(refinement* r)
{
    const mor_qp* qp = r->qp;
    int n = qp->n, M = qp->m + n;
    mor_qp_rows(qp, r->x, r->w);
    for (int i = 0; i < M; i++) {
        r->w[i] -= r->y[i] / r->rho;
        r->t[i] = r->rho * outside(qp, i, r->w[i]);
    }
    mor_qp_rows_transposed(qp, r->t, r->d);
    mor_dense_apply(n, n, qp->P, r->x, r->g);
    double size = 0.0;
    for (int j = 0; j < n; j++) {
        double a = r->g[j] / r->cost, b = qp->q[j] / r->cost;
        size = mor_max(size, mor_max(fabs(a), mor_max(fabs(b), fabs(r->d[j]))));
        r->g[j] = a + b + r->sigma * (r->x[j] - r->centre[j]) + r->d[j];
    }
    return mor_norm_max(n, r->g) / mor_max(size, 1e-300);
}

static bool newton_step(refinement* r)
{
    const mor_qp* qp = r->qp;
    int n = qp->n, M = qp->m + n, count = 0;
    size_t N = (size_t)n;
    for (size_t k = 0; k < N * N; k++) r->L[k] = qp->P[k] / r->cost;
    for (int i = 0; i < M; i++) {
        if (r->t[i] == 0.0 && qp->l[i] != qp->u[i]) continue;
        if (i >= qp->m) r->L[(N + 1) * (size_t)(i - qp->m)] += r->rho;
        else {
            const double* c = qp->C + (size_t)i * N;
            for (int b = 0; b < n; b++)
                for (int a = b; c[b] != 0.0 && a < n; a++) r->L[a + N * b] += r->rho * c[a] * c[b];
        }
    }
    for (int j = 0; j < n; j++) r->L[(N + 1) * (size_t)j] += r->sigma, r->d[j] = -r->g[j];
    if (!mor_cholesky_factor(n, r->L)) return false;
    mor_cholesky_solve(n, r->L, r->d);
    mor_dense_apply(n, n, qp->P, r->d, r->Pd);
    mor_qp_rows(qp, r->d, r->Gd);
    double start = 0.0, bend = 0.0;
    for (int j = 0; j < n; j++) start += r->g[j] * r->d[j], bend += r->d[j] * (r->Pd[j] / r->cost + r->sigma * r->d[j]);
    for (int i = 0; i < M; i++) {
        double rate = r->Gd[i], own = r->rho * rate * rate;
        if (rate == 0.0) continue;
        if (outside(qp, i, r->w[i]) != 0.0) bend += own;
        for (int h = 0; h < 2; h++) { /* enters or leaves the outside of this bound on its way */
            double bound = h ? qp->u[i] : qp->l[i], at = (bound - r->w[i]) / rate;
            if (!isfinite(bound) || !(at > 0.0)) continue;
            r->knots[count++] = (knot){ at, (rate > 0.0) == (h == 1) ? own : -own };
        }
    }
    if (!(start < 0.0)) return false;
    double t = exact_step(start, bend, r->knots, count);
    for (int j = 0; j < n; j++) r->x[j] += t * r->d[j];
    return isfinite(t);
}

static bool refine(const mor_qp* qp, double* x, double* y, mor_arena* arena)
{
    int n = qp->n, M = qp->m + n;
    size_t N = (size_t)n, m = (size_t)M, mark = mor_arena_mark(arena);
    refinement r = { .qp = qp,
                     .cost = qp->size > 0.0 ? qp->size : mor_max(mor_norm_max(n, qp->q), 1e-300),
                     .sigma = 1e-7,
                     .rho = 10.0,
                     .x = x,
                     .y = y };
    double* a = mor_arena_alloc(arena, (4 * N + 3 * m + N * N + 1) * sizeof *a);
    r.knots = mor_arena_alloc(arena, (2 * m + 1) * sizeof *r.knots);
    bool done = false;
    if (a && r.knots) {
        r.centre = a, r.g = a + N, r.d = a + 2 * N, r.Pd = a + 3 * N, r.w = a + 4 * N, r.Gd = r.w + m, r.t = r.Gd + m,
        r.L = r.t + m;
        for (int i = 0; i < M; i++) y[i] /= r.cost;
        double before = INFINITY;
        int stalled = 0;
        for (int round = 0; round < ROUNDS && !done; round++) {
            memcpy(r.centre, x, N * sizeof *x);
            double error = slope(&r);
            for (int step = 0; step < STEPS && error > 1e-15; step++) {
                if (!newton_step(&r)) break;
                double next = slope(&r);
                if (step > 3 && next < 1e-12 && next > 0.5 * error) break; /* rounding */
                error = next;
            }
            double moved = 0.0, size = mor_max(mor_norm_max(n, x), 1e-300), lambda = 1e-300, change = 0.0;
            for (int j = 0; j < n; j++) moved = mor_max(moved, r.sigma * fabs(x[j] - r.centre[j]));
            for (int i = 0; i < M; i++) {
                double next = -r.t[i];
                change = mor_max(change, fabs(next - y[i]) / r.rho);
                lambda = mor_max(lambda, fabs(next));
                y[i] = next;
            }
            /* what is left of the conditions: sigma (x - centre) in the slope, (y+ - y)/rho in the rows */
            double slopes = moved / mor_max(lambda, mor_norm_max(n, qp->q) / r.cost), rows = change / size,
                   left = mor_max(slopes, rows);
            done = left <= 1e-14;
            if (!(left < 0.5 * before) && ++stalled > 12) break;
            if (left > 0.1 * before && rows >= slopes && r.rho < 1e8) r.rho *= 10.0;
            if (left > 0.1 * before && slopes > rows && r.sigma > 1e-11) r.sigma *= 0.1;
            if (!isfinite(left)) break;
            before = left;
        }
        done = done || before <= 1e-9;
        for (int i = 0; i < M; i++) y[i] *= r.cost;
    }
    mor_arena_release(arena, mark);
    return done;
}

/* x becomes z, in units of the problem, if the judge finds nothing better so far. */
static void judge(const mor_qp* qp, const mor_context* context, const double* unit, const double* x, double* scaled,
                  double* least, double* z)
{
    for (int j = 0; j < qp->n; j++)
        scaled[j] = (unit ? unit[j] : 1.0) * mor_min(qp->u[qp->m + j], mor_max(qp->l[qp->m + j], x[j]));
    double error = context->error(context, scaled, NULL);
    if (error < *least) *least = error, memcpy(z, scaled, (size_t)qp->n * sizeof *z);
}

void mor_qp_refine(const mor_qp* qp, const mor_context* context, const double* unit, double* x, double* y,
                   double* least, double* z)
{
    int n = qp->n, M = qp->m + n;
    mor_arena* arena = context->arena;
    size_t mark = mor_arena_mark(arena);
    double* scaled = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof *scaled);
    signed char* at = mor_arena_alloc(arena, (size_t)M + 1);
    if (scaled && at && refine(qp, x, y, arena)) {
        judge(qp, context, unit, x, scaled, least, z);
        for (int i = 0; i < M; i++) at[i] = qp->l[i] == qp->u[i] || y[i] > 0.0 ? -1 : y[i] < 0.0 ? 1 : 0;
        if (mor_qp_polish(qp, at, x, y, arena)) judge(qp, context, unit, x, scaled, least, z);
    }
    mor_arena_release(arena, mark);
}
