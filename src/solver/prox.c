/* Proximal fixed point for linear complementarity problems.
 *
 *     z <- (z - alpha R w)+,   w = A z + b;   equations of an MLCP: z <- z - alpha R w
 *
 * all rows at once, R a positive diagonal (a negative diagonal entry of an equation turns its sign). r-factor: `local`
 * R_i = 1/|A_ii|, or 1/max_j |A_ij| where the diagonal is zero; `global` R_i = 1/max_ij |A_ij| for all. alpha is
 * steered as in prox-ncp: a step with alpha |w - w'|/|z - z'| > accept in the metric of R is repeated with a shorter
 * one; below 0.3 it grows by 3/2.
 *
 * Zero diagonals are allowed, so the Stewart-Trinkle LCP can be started; but A of that problem is not positive
 * definite, only copositive, and the iteration then often circles. It is a contraction for symmetric positive definite
 * A. One product with A per iteration.
 *
 * Forg, Pfeiffer, Ulbrich (2005); Studer (2009); Cottle, Pang, Stone (1992), chapter 5 (splittings). */
#include "base/elementary.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

enum { FACTOR_LOCAL, FACTOR_GLOBAL };

typedef struct prox_options {
    int strategy;
    double factor;
    bool adapt;
    double accept;
} prox_options;

static const mor_field prox_fields[] = {
    { "r_factor", MOR_TYPE_CHOICE, offsetof(prox_options, strategy), FACTOR_LOCAL, 0, 0, "local|global", "",
      "R by rows, or one for all" },
    { "factor", MOR_TYPE_DOUBLE, offsetof(prox_options, factor), 1.0, 1e-12, 1e12, NULL, "", "alpha at the start" },
    { "adapt", MOR_TYPE_BOOL, offsetof(prox_options, adapt), 1, 0, 0, NULL, "", "steer alpha by the change of w" },
    { "accept", MOR_TYPE_DOUBLE, offsetof(prox_options, accept), 0.9, 0.01, 2, NULL, "",
      "largest ratio of a step that is kept" },
    { 0 }
};

/* False: a row of zeros */
static bool factors(const mor_rows* rows, int strategy, double* R)
{
    double all = 0.0;
    for (int i = 0; i < rows->n; i++) {
        double most = 0.0;
        int first = rows->p ? rows->p[i] : 0, last = rows->p ? rows->p[i + 1] : rows->n;
        const double* x = rows->p ? rows->x : rows->x + (size_t)i * rows->n;
        for (int k = first; k < last; k++) most = mor_max(most, fabs(x[k]));
        all = mor_max(all, most);
        double own = fabs(rows->diagonal[i]);
        R[i] = own > 1e-12 * most ? 1.0 / own : most > 0.0 ? 1.0 / most : 0.0;
    }
    if (!(all > 0.0)) return false;
    for (int i = 0; i < rows->n; i++) {
        if (R[i] == 0.0 || strategy == FACTOR_GLOBAL) R[i] = 1.0 / all;
        if (!mor_rows_signed(rows, i) && rows->diagonal[i] < 0.0) R[i] = -R[i];
    }
    return true;
}

static mor_report prox_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const prox_options* o = options;
    mor_rows rows;
    mor_report refused;
    if (!mor_rows_open(&rows, problem, context->arena, &refused)) return refused;
    int n = rows.n;
    double* memory = mor_arena_alloc(context->arena, 4 * (size_t)n * sizeof *memory);
    if (!memory) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    double *w = memory, *v = w + n, *x = v + n, *R = x + n, alpha = o->factor;
    if (context->error(context, z, NULL) <= context->tol) return mor_ended(MOR_SOLVED, 0, "the start was good enough");
    if (!factors(&rows, o->strategy, R)) return mor_ended(MOR_NOT_CONVERGED, 0, "the matrix is zero");
    for (int i = 0; i < n; i++) w[i] = mor_rows_product(&rows, i, z) + rows.b[i];
    for (int k = 1; k <= context->max_iter; k++) {
        double ratio = 0.0, size = 0.0;
        for (int inner = 0; inner < 60; inner++) {
            double dz = 0.0, dw = 0.0;
            size = 0.0;
            for (int i = 0; i < n; i++) {
                x[i] = z[i] - alpha * R[i] * w[i];
                if (mor_rows_signed(&rows, i)) x[i] = mor_max(x[i], 0.0);
            }
            for (int i = 0; i < n; i++) {
                v[i] = mor_rows_product(&rows, i, x) + rows.b[i];
                dz += (x[i] - z[i]) * (x[i] - z[i]) / fabs(R[i]);
                dw += (v[i] - w[i]) * (v[i] - w[i]) * fabs(R[i]);
                if (!(fabs(x[i]) <= size)) size = fabs(x[i]);
            }
            ratio = dz > 0.0 ? alpha * sqrt(dw / dz) : 0.0;
            if (!o->adapt || ratio <= o->accept || !isfinite(ratio)) break;
            alpha *= 0.66666666666666663 * mor_min(1.0, o->accept / ratio);
        }
        if (!isfinite(size)) return mor_ended(MOR_NUMERICAL, k, "diverged");
        memcpy(z, x, (size_t)n * sizeof *z);
        memcpy(w, v, (size_t)n * sizeof *w);
        mor_trace_add(context, k, alpha, z);
        if (o->adapt && ratio < 0.3 && alpha < 1e12) alpha *= 1.5;
        if (k % 10 == 0) {
            if (context->error(context, z, w) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

const mor_solver mor_solver_prox = {
    .name = "prox",
    .summary = "proximal fixed point with a steered step, for LCP and MLCP",
    .reference = "forg2005",
    .accepts = MOR_LCP | MOR_MLCP,
    .options_size = sizeof(prox_options),
    .fields = prox_fields,
    .max_iter = 100000,
    .solve = prox_solve,
};
