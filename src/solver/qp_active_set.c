/* qp-active-set: the dual active-set method inside a proximal loop.
 *
 * Problem. minimise z'Pz/2 + q'z, l <= G z <= u (qp.h), P semidefinite of any rank, rows of G possibly dependent.
 *
 * Derivation. With H = P + eps I positive definite, the proximal point step from z_k is the strictly convex QP
 *
 *     minimise d'H d/2 + (P z_k + q)'d,   l - G z_k <= G d <= u - G z_k,      z_{k+1} = z_k + d,
 *
 * whose fixed points are the solutions; the error falls by eps/(eps + lambda) per step, lambda the least non-zero
 * curvature, and since the data are recomputed from z_k the steps are also iterative refinement. Each is solved by
 * Goldfarb & Idnani's dual method: J with J'HJ = I and N'J = [R' 0] for the normals N of the working set, so that with
 * J = [J1 J2]
 *
 *     d = J1 R^-T b - J2 J2'g,     lambda = R^-1 (R^-T b + J1'g)
 *
 * is the minimiser on the working set. Violated rows are added one by one (most violated first), rows whose multiplier
 * reaches zero are dropped. J and R do not depend on z_k: the working set is kept from one proximal step to the next
 * and from a warm start (rows active at the guess), and costs nothing to reuse.
 *
 * Where the slope has a part that P does not reach, z drifts by (that part)/eps a step until it meets a bound: if steps
 * bring nothing, eps is divided by 100 and the factor made again.
 *
 * A row that depends on the working set with no multiplier to trade is a contradiction; it is reported as no_solution
 * only when the multipliers pass the test of qp.h.
 *
 * Cost: O(n^3) once, O(n^2) per change of the working set. Iterations are changes of the working set plus proximal
 * steps. Limits: dense; convex. Deterministic: ties go to the lowest row.
 *
 * References: Goldfarb & Idnani (1983), A numerically stable dual method for solving strictly convex quadratic
 * programs, Math. Prog. 27; Arnstroem, Bemporad & Axehill (2022), A dual active-set solver for embedded QP using
 * recursive LDL' updates (the proximal loop); Rockafellar (1976), Monotone operators and the proximal point algorithm.
 * */
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "solver/qp.h"

typedef struct active_set_options {
    double proximal;
} active_set_options;

enum { IGNORED = 2 };

typedef struct working {
    const mor_qp* qp;
    int k;             /* rows in the working set */
    double *J, *R;     /* n x n each, column-major */
    int* row;          /* k rows of G */
    double* sign;      /* k: 1 at lower, -1 at upper */
    double* lambda;    /* k, >= 0 except for equations */
    signed char* at;   /* every row of G: 0 or where it is held */
    double *d, *g;     /* step and slope */
    double *lo, *up;   /* bounds on G d */
    double *v, *r, *t; /* n each */
} working;

static bool is_equation(const mor_qp* qp, int row) { return qp->l[row] == qp->u[row]; }

/* v = J'(sign * normal of row) */
static void transform(working* s, int row, double sign)
{
    int n = s->qp->n;
    for (int c = 0; c < n; c++) s->v[c] = sign * mor_qp_row_dot(s->qp, row, s->J + (size_t)c * n);
}

/* Plane rotation of columns a and b of J and entries a, b of v so that v[b] = 0. */
static void rotate(working* s, int a, int b)
{
    double h = mor_hypot(s->v[a], s->v[b]);
    if (s->v[b] == 0.0 || h == 0.0) return;
    int n = s->qp->n;
    double c = s->v[a] / h, e = s->v[b] / h, *x = s->J + (size_t)a * n, *y = s->J + (size_t)b * n;
    s->v[a] = h, s->v[b] = 0.0;
    for (int i = 0; i < n; i++) {
        double p = x[i], q = y[i];
        x[i] = c * p + e * q, y[i] = c * q - e * p;
    }
}

/* Adds the row whose transformed normal is v. */
static void add_row(working* s, int row, double sign)
{
    int n = s->qp->n, k = s->k;
    for (int b = n - 1; b > k; b--) rotate(s, b - 1, b);
    for (int i = 0; i <= k; i++) s->R[i + (size_t)k * n] = s->v[i];
    s->row[k] = row, s->sign[k] = sign, s->lambda[k] = 0.0;
    s->at[row] = sign > 0.0 ? -1 : 1;
    s->k++;
}

static void drop_row(working* s, int at)
{
    int n = s->qp->n;
    s->at[s->row[at]] = 0;
    for (int c = at; c < s->k - 1; c++) {
        memcpy(s->R + (size_t)c * n, s->R + (size_t)(c + 1) * n, (size_t)(c + 2) * sizeof(double));
        s->row[c] = s->row[c + 1], s->sign[c] = s->sign[c + 1], s->lambda[c] = s->lambda[c + 1];
    }
    s->k--;
    /* R is upper Hessenberg from column `at`: rotate rows c, c+1 of R and columns of J */
    for (int c = at; c < s->k; c++) {
        double a = s->R[c + (size_t)c * n], b = s->R[c + 1 + (size_t)c * n], h = mor_hypot(a, b);
        if (b == 0.0 || h == 0.0) continue;
        double co = a / h, si = b / h, *x = s->J + (size_t)c * n, *y = x + n;
        for (int j = c; j < s->k; j++) {
            double p = s->R[c + (size_t)j * n], q = s->R[c + 1 + (size_t)j * n];
            s->R[c + (size_t)j * n] = co * p + si * q, s->R[c + 1 + (size_t)j * n] = co * q - si * p;
        }
        for (int i = 0; i < n; i++) {
            double p = x[i], q = y[i];
            x[i] = co * p + si * q, y[i] = co * q - si * p;
        }
    }
}

/* x := R^-1 x on the first k */
static void back_solve(const working* s, double* x)
{
    int n = s->qp->n;
    for (int c = s->k - 1; c >= 0; c--) {
        x[c] /= s->R[c + (size_t)c * n];
        for (int i = 0; i < c; i++) x[i] -= s->R[i + (size_t)c * n] * x[c];
    }
}

/* d and lambda of the working set as it is. */
static void minimise(working* s)
{
    int n = s->qp->n, k = s->k;
    mor_dense_apply_transposed(n, n, s->J, s->g, s->t);
    for (int c = 0; c < k; c++) {
        double b = s->sign[c] > 0.0 ? s->lo[s->row[c]] : -s->up[s->row[c]];
        for (int i = 0; i < c; i++) b -= s->R[i + (size_t)c * n] * s->v[i];
        s->v[c] = b / s->R[c + (size_t)c * n];
    }
    for (int c = 0; c < k; c++) s->r[c] = s->v[c] + s->t[c];
    for (int c = k; c < n; c++) s->v[c] = -s->t[c];
    mor_dense_apply(n, n, s->J, s->v, s->d);
    back_solve(s, s->r);
    memcpy(s->lambda, s->r, (size_t)k * sizeof *s->lambda);
}

/* The most violated row, its side in *sign and by how much in *violation; -1 if none is violated by more than `slack`.
 * */
static int most_violated(const working* s, double slack, double* sign, double* violation)
{
    int best = -1;
    double worst = slack + 1e-13 * mor_norm_max(s->qp->n, s->d); /* d is long where P has no curvature */
    for (int i = 0; i < s->qp->m + s->qp->n; i++) {
        if (s->at[i] || (s->lo[i] == -INFINITY && s->up[i] == INFINITY)) continue;
        double x = mor_qp_row_dot(s->qp, i, s->d), below = s->lo[i] - x, above = x - s->up[i];
        if (below > worst) worst = below, best = i, *sign = 1.0;
        if (above > worst) worst = above, best = i, *sign = -1.0;
    }
    *violation = worst;
    return best;
}

typedef enum verdict { DONE, CONTRADICTION, USED_UP } verdict;

/* Goldfarb-Idnani from the current working set. On CONTRADICTION `proof` (m + n, then n scratch) holds the multipliers.
 * */
static verdict dual_method(working* s, double slack, int* iterations, const mor_context* context, double* proof)
{
    const mor_qp* qp = s->qp;
    int n = qp->n;
    minimise(s);
    for (;;) { /* dual feasibility of a kept set: drop the most negative multiplier until there is none */
        int worst = -1;
        for (int c = 0; c < s->k; c++)
            if (!is_equation(qp, s->row[c]) && s->lambda[c] < 0.0 && (worst < 0 || s->lambda[c] < s->lambda[worst]))
                worst = c;
        if (worst < 0) break;
        drop_row(s, worst);
        minimise(s);
    }
    for (;;) {
        double sign = 1.0, violation = 0.0, multiplier = 0.0;
        int p = most_violated(s, slack, &sign, &violation);
        if (p < 0) return DONE;
        for (;;) {
            if (++*iterations > context->max_iter || ((*iterations & 31) == 0 && mor_out_of_time(context)))
                return USED_UP;
            transform(s, p, sign);
            double whole = 0.0, free_part = 0.0;
            for (int c = 0; c < n; c++) whole += s->v[c] * s->v[c];
            for (int c = s->k; c < n; c++) free_part += s->v[c] * s->v[c];
            bool dependent = !(free_part > 1e-18 * whole);
            memcpy(s->r, s->v, (size_t)s->k * sizeof *s->r);
            back_solve(s, s->r);
            double dual_step = INFINITY, largest = 0.0;
            int blocking = -1;
            for (int c = 0; c < s->k; c++) largest = mor_max(largest, fabs(s->r[c]));
            for (int c = 0; c < s->k; c++) {
                if (is_equation(qp, s->row[c]) || !(s->r[c] > 1e-12 * largest)) continue;
                double t = mor_max(s->lambda[c], 0.0) / s->r[c];
                if (t < dual_step || (t == dual_step && s->row[c] < s->row[blocking])) dual_step = t, blocking = c;
            }
            double full = INFINITY;
            if (!dependent) {
                double x = sign * mor_qp_row_dot(qp, p, s->d), b = sign > 0.0 ? s->lo[p] : -s->up[p];
                full = mor_max(b - x, 0.0) / free_part;
            }
            double step = mor_min(full, dual_step);
            if (step == INFINITY) {
                memset(proof, 0, (size_t)(qp->m + n) * sizeof *proof);
                proof[p] = sign;
                for (int c = 0; c < s->k; c++) proof[s->row[c]] -= s->r[c] * s->sign[c];
                if (mor_qp_proves_infeasible(qp, proof, proof + qp->m + n)) return CONTRADICTION;
                s->at[p] = IGNORED; /* rounding of a dependent row: looked at again in the next proximal step */
                break;
            }
            for (int c = 0; c < s->k; c++) s->lambda[c] -= step * s->r[c];
            multiplier += step;
            if (!dependent)
                for (int c = s->k; c < n; c++) {
                    const double* column = s->J + (size_t)c * n;
                    for (int i = 0; i < n; i++) s->d[i] += step * s->v[c] * column[i];
                }
            if (full <= dual_step) {
                add_row(s, p, sign);
                s->lambda[s->k - 1] = multiplier;
                break;
            }
            drop_row(s, blocking);
        }
    }
}

static bool prepare(working* s, double eps, mor_arena* arena)
{
    const mor_qp* qp = s->qp;
    size_t n = (size_t)qp->n, M = n + (size_t)qp->m;
    s->J = mor_arena_zero(arena, n * n + 1, sizeof(double));
    s->R = mor_arena_zero(arena, n * n + 1, sizeof(double));
    s->row = mor_arena_alloc(arena, (n + 1) * sizeof(int));
    s->at = mor_arena_zero(arena, M + 1, 1);
    double* v = mor_arena_zero(arena, 7 * n + 2 * M + 1, sizeof(double));
    double* L = mor_arena_alloc(arena, (n * n + 1) * sizeof(double));
    if (!s->J || !s->R || !s->row || !s->at || !v || !L) return false;
    s->sign = v, s->lambda = v + n, s->d = v + 2 * n, s->g = v + 3 * n, s->v = v + 4 * n, s->r = v + 5 * n,
    s->t = v + 6 * n;
    s->lo = v + 7 * n, s->up = s->lo + M;
    memcpy(L, qp->P, n * n * sizeof *L);
    for (size_t i = 0; i < n; i++) L[i + n * i] += eps;
    if (!mor_cholesky_factor(qp->n, L)) return false;
    /* J = L^-T: column c solves L'x = e_c */
    for (size_t c = 0; c < n; c++) {
        double* x = s->J + c * n;
        for (size_t i = c + 1; i-- > 0;) {
            double b = i == c ? 1.0 : 0.0;
            for (size_t k = i + 1; k <= c; k++) b -= L[k + n * i] * x[k];
            x[i] = b / L[i + n * i];
        }
    }
    return true;
}

static void shift(working* s, const double* z)
{
    const mor_qp* qp = s->qp;
    for (int i = 0; i < qp->m + qp->n; i++) {
        double x = mor_qp_row_dot(qp, i, z);
        s->lo[i] = qp->l[i] - x, s->up[i] = qp->u[i] - x;
        if (s->at[i] == IGNORED) s->at[i] = 0;
    }
    mor_qp_slope(qp, z, s->g);
}

static void take_active_rows(working* s, double near)
{
    const mor_qp* qp = s->qp;
    for (int i = 0; i < qp->m + qp->n && s->k < qp->n; i++) {
        double sign = fabs(s->lo[i]) <= near ? 1.0 : fabs(s->up[i]) <= near ? -1.0 : 0.0;
        if (sign == 0.0) continue;
        transform(s, i, sign);
        double whole = 0.0, left = 0.0;
        for (int c = 0; c < qp->n; c++) whole += s->v[c] * s->v[c];
        for (int c = s->k; c < qp->n; c++) left += s->v[c] * s->v[c];
        if (left > 1e-16 * whole) add_row(s, i, sign);
    }
}

/* The equations of the working set without the proximal term: where P has next to no curvature the tolerance alone
 * leaves the answer uncertain by its inverse. */
static void last_digits(const working* s, const mor_context* context, double* least, double* z)
{
    const mor_qp* qp = s->qp;
    int n = qp->n, M = qp->m + n;
    signed char* at = mor_arena_zero(context->arena, (size_t)M + 1, 1);
    double* x = mor_arena_alloc(context->arena, ((size_t)n + (size_t)M + 1) * sizeof *x);
    if (!at || !x) return;
    for (int c = 0; c < s->k; c++) at[s->row[c]] = s->sign[c] > 0.0 ? -1 : 1;
    memcpy(x, z, (size_t)n * sizeof *x);
    if (!mor_qp_polish(qp, at, x, x + n, context->arena)) return;
    double error = context->error(context, x, NULL);
    if (error < *least) *least = error, memcpy(z, x, (size_t)n * sizeof *z);
}

/* One proximal step: the dual method from z; z moves. */
static verdict proximal_step(working* s, bool take, mor_report* report, mor_context* context, double* proof, double* z)
{
    const mor_qp* qp = s->qp;
    int n = qp->n;
    shift(s, z);
    double size = mor_max(mor_norm_max(n, z), qp->reach);
    if (take) take_active_rows(s, 1e-9 * mor_max(size, 1e-300));
    verdict v = dual_method(s, 1e-13 * size + 1e-300, &report->iterations, context, proof);
    if (v == CONTRADICTION) return v;
    for (int i = 0; i < n; i++) z[i] += s->d[i];
    for (int c = 0; c < s->k; c++) /* held bounds exactly */
        if (s->row[c] >= qp->m) z[s->row[c] - qp->m] = s->sign[c] > 0.0 ? qp->l[s->row[c]] : qp->u[s->row[c]];
    ++report->iterations;
    mor_trace_add(context, report->iterations, 1.0, z);
    return v;
}

/* The loop of proximal steps; best (n) and *least: the best answer and its error. False: the constraints contradict
 * each other. */
static bool proximal_loop(working* s, double eps, double* proof, double* best, double* least, mor_report* report,
                          mor_context* context, double* z)
{
    const mor_qp* qp = s->qp;
    int n = qp->n, stalled = 0;
    bool take = context->warm;
    for (int outer = 0; outer < 500; outer++) {
        verdict v = proximal_step(s, take, report, context, proof, z);
        take = false;
        if (v == CONTRADICTION) {
            report->status = MOR_NO_SOLUTION;
            snprintf(report->detail, sizeof report->detail,
                     "the constraints contradict each other (Farkas certificate)");
            return false;
        }
        double error = context->error(context, z, NULL);
        if (error < *least) {
            stalled = error > 0.7 * *least ? stalled + 1 : 0;
            *least = error;
            memcpy(best, z, (size_t)n * sizeof *z);
        } else stalled++;
        /* one step beyond the tolerance is free accuracy */
        if (error <= 1e-3 * context->tol || (error <= context->tol && (outer > 0 || n > 400))) {
            report->status = MOR_SOLVED;
            return true;
        }
        if (mor_qp_proves_unbounded(qp, s->d, proof)) {
            report->status = MOR_NO_SOLUTION;
            snprintf(report->detail, sizeof report->detail,
                     "unbounded: a direction of descent without curvature or bound");
            return true;
        }
        if (v == USED_UP) {
            report->status = mor_out_of_time(context) ? MOR_TIME_LIMIT : MOR_NOT_CONVERGED;
            return true;
        }
        if (stalled > 20 || !isfinite(error)) return true;
        if (stalled > 3 && v == DONE && eps > 1e-12 * qp->size) { /* drifting where P has no curvature: longer steps */
            eps *= 1e-2;
            working again = { .qp = qp };
            if (!prepare(&again, eps, context->arena)) return true;
            *s = again;
            take = true;
            stalled = 0;
        }
    }
    return true;
}

static mor_report active_set_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const active_set_options* o = options;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    mor_qp qp;
    int n = problem->size;
    if (!context->warm) memset(z, 0, (size_t)n * sizeof *z);
    if (!mor_qp_load(problem, &qp, &report, context->arena)) return report;
    if (n == 0) return report.status = MOR_SOLVED, report;
    int M = qp.m + n;
    double eps = o->proximal * (qp.size > 0.0 ? qp.size : mor_max(mor_norm_max(n, qp.q), 1.0));
    working s = { .qp = &qp };
    double* proof = mor_arena_alloc(context->arena, ((size_t)M + 2 * (size_t)n + 1) * sizeof *proof);
    double* best = mor_arena_alloc(context->arena, ((size_t)n + (size_t)M + 1) * sizeof *best);
    if (!proof || !best || !prepare(&s, eps, context->arena)) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory, or the quadratic form has no Cholesky factor");
        return report;
    }
    double least = INFINITY;
    if (!proximal_loop(&s, eps, proof, best, &least, &report, context, z)) return report;
    if (least < INFINITY) memcpy(z, best, (size_t)n * sizeof *z);
    if (least > context->tol && report.status == MOR_NOT_CONVERGED && isfinite(least)) { /* near, but degenerate */
        double *y = mor_arena_zero(context->arena, (size_t)M + (size_t)n + 1, sizeof *y), *x = y ? y + M : NULL;
        for (int c = 0; y && c < s.k; c++) y[s.row[c]] = s.sign[c] * s.lambda[c];
        if (y) memcpy(x, z, (size_t)n * sizeof *x), mor_qp_refine(&qp, context, NULL, x, y, &least, z);
    }
    if (least <= context->tol) {
        report.status = MOR_SOLVED;
        if (least > 1e-3 * context->tol && n <= 400) last_digits(&s, context, &least, z);
    }
    return report;
}

static const mor_field fields[] = {
    { "proximal", MOR_TYPE_DOUBLE, offsetof(active_set_options, proximal), 1e-6, 1e-10, 1.0, NULL, "",
      "proximal term over the largest entry of the matrix; larger is slower and safer" },
    { 0 },
};

extern const mor_solver mor_solver_qp_active_set;
const mor_solver mor_solver_qp_active_set = {
    .name = "qp-active-set",
    .summary = "dual active set in a proximal loop: semidefinite, dependent rows, warm starts",
    .reference = "goldfarb1983",
    .accepts = MOR_QP,
    .options_size = sizeof(active_set_options),
    .fields = fields,
    .max_iter = 20000,
    .solve = active_set_solve,
};
