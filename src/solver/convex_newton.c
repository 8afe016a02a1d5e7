/* Semismooth Newton for the convex contact model, in the impulses (dual).
 *
 * Problem: CQP, A = W + R. Its optimality conditions are the natural map
 *
 *     F(r) = r - P_K(y) = 0,   y = r - d u,   u = A r + b,   d_c = 3/trace A_cc
 *
 * P_K is smooth inside K (identity), inside the polar cone (zero) and between, where with t = |y_T|, e = y_T/t, n =
 * (y_n + mu t)/(1 + mu^2) the projection is (n, mu n e) and
 *
 *     D = 1/(1 + mu^2) [1, mu e'; mu e, mu^2 e e'] + (mu n/t) [0, 0; 0, I - e e']
 *
 * A step solves (I - D + D d A + alpha D) dr = -F, alpha = max(1e-13, kappa |F|/|F_0|) in units of 1/d: a proximal term
 * that fades with the residual, so redundant contacts with R = 0 are no obstacle. Step lengths 1, 1/2, ... until |F|^2
 * is below the largest of the last 8; kappa halves after full steps and grows tenfold after short ones. Quadratic near
 * the solution, typically 5 to 20 steps; a step costs one LU of the size of the problem (scaled_lu.h).
 *
 * The primal (velocity) form of MuJoCo and SAP has the same solution; here A is all there is, so the dual is solved.
 *
 * L. Qi, J. Sun (1993), A nonsmooth version of Newton's method; E. Todorov (2011), A convex, smooth and invertible
 * contact model; A. Castro, F. Permenter, X. Han (2022), An unconstrained convex formulation of compliant contact. */
#include "base/elementary.h"
#include "solver/scaled_lu.h"
#include "solver/cone_system.h"
#include "solver/sweep.h"

#include "problem/cone.h"

#include <math.h>
#include <string.h>

enum { WINDOW = 8, HALVINGS = 12 };

/* D = dP_K/dy (row-major) of one contact with two or three rows */
static void projection_slope(int dim, double mu, const double* y, double* D)
{
    double t = dim == 2 ? fabs(y[1]) : sqrt(y[1] * y[1] + y[2] * y[2]);
    memset(D, 0, (size_t)(dim * dim) * sizeof *D);
    if (mu * t <= -y[0]) return;
    if (t <= mu * y[0]) {
        for (int i = 0; i < dim; i++) D[i * (dim + 1)] = 1.0;
        return;
    }
    double e[2] = { y[1] / t, dim == 3 ? y[2] / t : 0.0 }, f = 1.0 / (1.0 + mu * mu), n = (y[0] + mu * t) * f;
    D[0] = f;
    for (int i = 1; i < dim; i++) {
        D[i] = D[i * dim] = f * mu * e[i - 1];
        for (int j = 1; j < dim; j++)
            D[i * dim + j] =
                f * mu * mu * e[i - 1] * e[j - 1] + mu * n / t * ((i == j ? 1.0 : 0.0) - e[i - 1] * e[j - 1]);
    }
}

/* F at (r, u), and sum |F_c|^2/d_c. With L and E: the parts of the Jacobian. */
static double natural_map(const mor_cone_system* s, const double* r, const double* u, double alpha, double* F,
                          double* L, double* E)
{
    double sum = 0.0;
    for (int c = 0; c < s->count; c++) {
        const mor_cone_block* b = &s->blocks[c];
        int d = b->dim, at = b->row;
        double y[3], D[9];
        for (int i = 0; i < d; i++) y[i] = r[at + i] - b->weight * u[at + i];
        if (L) {
            projection_slope(d, b->cone.mu[0], y, D);
            for (int i = 0; i < d * d; i++) {
                L[(size_t)c * d * d + i] = b->weight * D[i];
                E[(size_t)c * d * d + i] = (i % (d + 1) == 0 ? 1.0 : 0.0) - D[i] + alpha * D[i];
            }
        }
        mor_cone_project(d, b->cone, y);
        for (int i = 0; i < d; i++) F[at + i] = r[at + i] - y[i], sum += F[at + i] * F[at + i] / b->weight;
    }
    return sum;
}

static mor_report iterate(const mor_cone_system* s, mor_scaled_lu* lu, double* memory, mor_context* context, double* r)
{
    int n = s->n, d = s->problem->dim;
    double *u = memory, *F = u + n, *dr = F + n, *du = dr + n, *x = du + n, *v = x + n, *best = v + n, *L = best + n,
           *E = L + n * d;
    double past[WINDOW], kappa = 1.0, least = INFINITY;
    mor_cone_system_velocity(s, r, u);
    double merit = natural_map(s, r, u, 0.0, F, NULL, NULL), first = merit;
    for (int k = 0; k < WINDOW; k++) past[k] = merit;
    for (int k = 0; k <= context->max_iter; k++) {
        if (mor_cone_system_runaway(s, r, context->tol))
            return mor_ended(MOR_NOT_CONVERGED, k, "the impulses grow without bound");
        double error = context->error(context, r, u);
        if (error < least) least = error, memcpy(best, r, (size_t)n * sizeof *best);
        if (error <= context->tol) return mor_ended(MOR_SOLVED, k, "");
        if (k == context->max_iter) break;
        if (mor_out_of_time(context)) {
            memcpy(r, best, (size_t)n * sizeof *r);
            return mor_ended(MOR_TIME_LIMIT, k, "");
        }
        double alpha = mor_max(1e-13, kappa * sqrt(merit / first));
        natural_map(s, r, u, alpha, F, L, E);
        if (!mor_scaled_lu_factor(lu, L, NULL, E)) {
            memcpy(r, best, (size_t)n * sizeof *r);
            return mor_ended(MOR_NUMERICAL, k, "the Newton matrix is singular");
        }
        for (int i = 0; i < n; i++) dr[i] = -F[i];
        mor_scaled_lu_solve(lu, dr);
        mor_matrix_apply(&s->problem->A, dr, du);
        double top = 0.0, t = 1.0, lowest = INFINITY, chosen = 1.0;
        for (int j = 0; j < WINDOW; j++) top = mor_max(top, past[j]);
        for (int j = 0; j < HALVINGS; j++, t *= 0.5) {
            for (int i = 0; i < n; i++) x[i] = r[i] + t * dr[i], v[i] = u[i] + t * du[i];
            double m = natural_map(s, x, v, 0.0, F, NULL, NULL);
            if (m < lowest) lowest = m, chosen = t;
            if (m <= (1.0 - 1e-4 * t) * top) break;
        }
        if (!isfinite(lowest)) return mor_ended(MOR_NUMERICAL, k, "not a number");
        for (int i = 0; i < n; i++) r[i] += chosen * dr[i];
        mor_cone_system_velocity(s, r, u);
        merit = natural_map(s, r, u, 0.0, F, NULL, NULL);
        past[k % WINDOW] = merit;
        kappa = chosen == 1.0 ? 0.5 * kappa : chosen < 0.25 ? mor_min(1.0, 10.0 * kappa) : kappa;
        mor_trace_add(context, k + 1, chosen, r);
    }
    memcpy(r, best, (size_t)n * sizeof *r);
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

static mor_report convex_newton_solve(const mor_problem* problem, const void* options, mor_context* context, double* r)
{
    (void)options;
    mor_cone_system s;
    mor_scaled_lu lu = { 0 };
    const char* why;
    if (problem->dim > 3) return mor_ended(MOR_REFUSED, 0, "rolling friction");
    mor_status status = mor_cone_system_open(&s, problem, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    double* memory = mor_arena_alloc(context->arena, (7 + 2 * (size_t)problem->dim) * (size_t)s.n * sizeof *memory);
    mor_report report = mor_ended(MOR_NUMERICAL, 0, "out of memory");
    if (memory && mor_scaled_lu_open(&lu, &s.W, context->arena)) report = iterate(&s, &lu, memory, context, r);
    mor_scaled_lu_close(&lu);
    return report;
}

const mor_solver mor_solver_convex_newton = {
    .name = "convex-newton",
    .summary = "semismooth Newton in the impulses for the convex contact model",
    .reference = "todorov2011",
    .accepts = MOR_CQP,
    .options_size = 0,
    .max_iter = 300,
    .solve = convex_newton_solve,
};
