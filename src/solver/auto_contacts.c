/* auto on contact problems: the trivial answers, and Gauss-Seidel sweeps over the blocks of W while the rate seen
 * predicts that they end sooner than Newton's method would:
 *
 *   remaining sweeps t_sweep <= 4 t_factor,   t_sweep = 25e-9 contacts + 0.9e-9 nnz,
 *   t_factor = 1.5e-6 + 2e-9 n^2 + 0.12e-9 n^3 dense, or 40e-9 nnz sparse
 *
 * in seconds of one machine; only the ratio matters. Up to 30 rows: 10 sweeps to come, at most 15. */
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/inline.h"
#include "solver/auto.h"
#include "solver/block_rows.h"

bool mor_auto_start(mor_auto* R, const mor_auto_stage* stage)
{
    (void)stage;
    const mor_problem* problem = R->problem;
    size_t bytes = (size_t)problem->size * sizeof *R->z;
    bool open = true;
    for (int c = 0; c < problem->contact_count; c++) open = open && problem->b[c * problem->dim] >= 0.0;
    if (!open && !R->context->warm) return false;
    if (open) memset(R->work, 0, bytes);
    R->best = R->context->error(R->context, R->work, open ? problem->b : NULL);
    if (!(R->best <= R->context->tol)) return false;
    memcpy(R->z, R->work, bytes);
    mor_auto_note(R, open ? "zero" : "guess", 0);
    return true;
}

/* Block row c of A: the diagonal block D, row-major, and q = b + the others times r. */
static void row_of_contact(const mor_problem* problem, int c, const double* r, double* D, double* q)
{
    const mor_matrix* A = &problem->A;
    int d = problem->dim, first = c * d;
    for (int i = 0; i < d; i++) q[i] = problem->b[first + i];
    if (A->storage == MOR_DENSE) {
        const double* row = A->x + first;
        for (int j = 0; j < A->cols; j++) {
            if (j < first || j >= first + d)
                for (int i = 0; i < d && r[j] != 0.0; i++) q[i] += row[i + (size_t)j * (size_t)A->rows] * r[j];
            else
                for (int i = 0; i < d; i++) D[i * d + j - first] = row[i + (size_t)j * (size_t)A->rows];
        }
        return;
    }
    for (int i = 0; i < d * d; i++) D[i] = 0.0;
    for (int i = 0; i < d; i++)
        for (int k = A->p[first + i]; k < A->p[first + i + 1]; k++) {
            int j = A->i[k];
            if (j < first || j >= first + d) q[i] += A->x[k] * r[j];
            else D[i * d + j - first] = A->x[k];
        }
}

/* One sweep on the matrix as it is: enough where contacts hardly touch each other's bodies. True if solved. */
static bool first_sweep(mor_auto* R, double* r)
{
    const mor_problem* problem = R->problem;
    int d = problem->dim;
    for (int c = 0; c < problem->contact_count; c++) {
        double D[25], inverse[9], q[5], root = 0.0;
        row_of_contact(problem, c, r, D, q);
        bool regular = d == 3 && mor_local_inverse(D, inverse);
        mor_local_cone(MOR_LOCAL_EXACT, d, D, regular ? inverse : NULL, q,
                       (mor_cone){ { problem->mu[c], d == 5 ? problem->mu_roll[c] : 0.0, 0.0 } }, &root, r + c * d);
    }
    mor_trace_add(R->context, R->report.iterations + 1, 1.0, r);
    if (!(mor_auto_keep(R, r, false) <= R->context->tol)) return false;
    mor_auto_note(R, "nsgs", 1);
    return true;
}

/* q += rows first ... last-1 of W's block row c, without the diagonal block, times r */
MOR_ALWAYS_INLINE void add_rows(const int d, const mor_block_rows* W, int c, int first, int last, const double* r,
                                double* q)
{
    for (int k = W->p[c]; k < W->p[c + 1]; k++) {
        if (k == W->own[c]) continue;
        const double *x = W->x + (size_t)k * (size_t)(d * d), *y = r + (size_t)W->j[k] * (size_t)d;
        for (int i = first; i < last; i++) {
            double s = x[i * d] * y[0];
            for (int l = 1; l < d; l++) s += x[i * d + l] * y[l];
            q[i] += s;
        }
    }
}

/* Gauss-Seidel over the contacts; for those that stay open the normal row is enough. */
MOR_ALWAYS_INLINE void sweep(const int d, const mor_block_rows* W, const mor_problem* problem, const double* inverse,
                             const bool* regular, double* root, double* r)
{
    for (int c = 0; c < W->count; c++) {
        const double* own = mor_block_rows_own(W, c);
        double q[5], *p = r + c * d;
        for (int i = 0; i < d; i++) q[i] = problem->b[c * d + i];
        add_rows(d, W, c, 0, 1, r, q);
        if (q[0] >= 0.0 || !(own[0] > 0.0)) {
            for (int i = 0; i < d; i++) p[i] = 0.0;
            continue;
        }
        add_rows(d, W, c, 1, d, r, q);
        if (d == 2) mor_local_interval(own, q, problem->mu[c], p);
        else
            mor_local_cone(MOR_LOCAL_EXACT, d, own, regular[c] ? inverse + 9 * c : NULL, q,
                           (mor_cone){ { problem->mu[c], d == 5 ? problem->mu_roll[c] : 0.0, 0.0 } }, &root[c], p);
    }
}

/* How many more sweeps are worth the time of a factorisation. */
static double sweeps_allowed(const mor_block_rows* W, int n)
{
    double nnz = (double)W->p[W->count] * W->dim * W->dim, m = n;
    bool dense = n <= 260 || nnz > 0.15 * m * m;
    double per_sweep = 25e-9 * W->count + 0.9e-9 * nnz;
    double factor = dense ? 1.5e-6 + 2e-9 * m * m + 0.12e-9 * m * m * m : 40e-9 * nnz;
    return n <= MOR_AUTO_FEW_ROWS ? 10.0 : 4.0 * factor / per_sweep;
}

bool mor_auto_contact_sweeps(mor_auto* R, const mor_auto_stage* stage)
{
    double* r = R->work;
    if (first_sweep(R, r)) return true;
    const mor_problem* problem = R->problem;
    int d = problem->dim, nc = problem->contact_count, n = problem->size;
    bool few = n <= MOR_AUTO_FEW_ROWS;
    int every = d == 2 && !few ? 10 : 5;
    mor_arena* arena = R->context->arena;
    mor_block_rows W;
    double* root = mor_arena_zero(arena, (size_t)nc, sizeof *root);
    double* inverse = mor_arena_alloc(arena, 9 * (size_t)nc * sizeof *inverse);
    bool* regular = mor_arena_zero(arena, (size_t)nc, sizeof *regular);
    if (!root || !inverse || !regular || !mor_block_rows_build(&W, &problem->A, d, arena)) return false;
    double allowed = sweeps_allowed(&W, n), previous = R->best; /* of the first sweep */
    for (int c = 0; c < nc && d == 3; c++) regular[c] = mor_local_inverse(mor_block_rows_own(&W, c), inverse + 9 * c);
    int k = 1, last = 1, next = every, slow = 0;
    bool solved = false;
    while (isfinite(R->best)) {
        k++;
        if (d == 2) sweep(2, &W, problem, inverse, regular, root, r);
        else if (d == 3) sweep(3, &W, problem, inverse, regular, root, r);
        else sweep(5, &W, problem, inverse, regular, root, r);
        mor_trace_add(R->context, R->report.iterations + k, 1.0, r);
        if (k < next) continue;
        double error = mor_auto_keep(R, r, false);
        solved = error <= R->context->tol;
        if (solved || !isfinite(error)) break;
        if (mor_out_of_time(R->context) || (few && k >= 15)) break;
        double rate = mor_log(error / previous) / (k - last);
        double left = rate < 0.0 ? mor_log(R->context->tol / error) / rate : INFINITY;
        if (left > allowed && (few || ++slow == 2)) break; /* the first sweeps may be slow */
        previous = error, last = k;
        next = k + (left < every ? (int)left + 1 : every);
    }
    mor_auto_note(R, stage->name, k);
    R->late = mor_out_of_time(R->context);
    return solved;
}
