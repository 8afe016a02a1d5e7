/* Damped projected Jacobi: every row or block is solved with the old values of all others.
 *
 * LCP, MLCP:  z_i <- max(0, z_i - omega_i w_i/A_ii) for all i at once. Damping 0 (automatic): omega_i = |A_ii| / sum_j
 * |A_ij|, for which
 *             the diagonal matrix A_ii/omega_i majorises A: on symmetric positive semidefinite A every step lowers the
 *             energy.
 * STEP:       p_c <- p_c + omega_c (p*_c - p_c), p*_c the block's own exact solution at the velocities of the last
 * sweep. Automatic:
 *             omega_c = 1/(most blocks on a tree that c touches), the same bound by blocks: each block sees its share
 *             of the mass. Friction sets are convex: damped impulses stay inside.
 *
 * The order of rows does not matter and the loop is parallel by nature; it needs several times the sweeps of
 * Gauss-Seidel, more the more contacts a body has. Converges where the energy argument holds (frictionless, or
 * sticking); no proof with slip. Cost per sweep as pgs. Rows without a positive diagonal entry are solved together with
 * those they depend on (row_groups.c).
 *
 * Cottle, Pang, Stone (1992), section 5.2; R. Tonge, F. Benevolenski, A. Voroshilov (2012), Mass splitting for
 * jitter-free parallel rigid body simulation. */
#include "base/elementary.h"
#include "solver/row_groups.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

enum { JUDGE_EVERY = 50 };

typedef struct jacobi_options {
    double damping;
} jacobi_options;

static const mor_field jacobi_fields[] = {
    { "damping", MOR_TYPE_DOUBLE, offsetof(jacobi_options, damping), 0, 0, 1, NULL, "",
      "step taken towards the Jacobi update; 0: as much as the energy argument allows" },
    { 0 }
};

static mor_report solve_rows(const mor_problem* problem, double damping, mor_context* context, double* z)
{
    mor_rows rows;
    mor_report refused;
    if (!mor_rows_open(&rows, problem, context->arena, &refused)) return refused;
    int n = rows.n;
    for (int i = 0; i < n; i++)
        if (!mor_rows_relax(&rows, i)) return mor_jacobi_groups(&rows, damping, context, z);
    double* step = mor_arena_alloc(context->arena, (size_t)n * sizeof *step);
    double* w = mor_arena_alloc(context->arena, (size_t)n * sizeof *w);
    if (!step || !w) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        int first = rows.p ? rows.p[i] : 0, last = rows.p ? rows.p[i + 1] : n;
        const double* x = rows.p ? rows.x : rows.x + (size_t)i * n;
        for (int k = first; k < last; k++) sum += fabs(x[k]);
        step[i] = damping > 0.0 ? damping / rows.diagonal[i] : copysign(1.0 / sum, rows.diagonal[i]);
    }
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0, largest = 0.0;
        for (int i = 0; i < n; i++) w[i] = mor_rows_product(&rows, i, z) + rows.b[i];
        for (int i = 0; i < n; i++) {
            double x = z[i] - step[i] * w[i];
            if (mor_rows_signed(&rows, i)) x = mor_max(0.0, x);
            change = mor_max(change, fabs(x - z[i]));
            largest = mor_max(largest, fabs(x));
            z[i] = x;
        }
        mor_trace_add(context, k, damping, z);
        if (!isfinite(largest)) return mor_ended(MOR_NUMERICAL, k, "diverged");
        if (change <= context->tol * largest || k % JUDGE_EVERY == 0) {
            if (context->error(context, z, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
            if (change == 0.0) return mor_ended(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

/* omega_c = 1/(most blocks on one of its trees) */
static bool shares(const mor_step_form* s, double* omega, mor_arena* arena)
{
    int* blocks = mor_arena_zero(arena, (size_t)s->tree_count, sizeof *blocks);
    if (!blocks) return false;
    for (int c = 0; c < s->block_count; c++)
        for (int e = 0; e < s->blocks[c].entry_count; e++) blocks[s->entries[s->blocks[c].entry + e].tree]++;
    for (int c = 0; c < s->block_count; c++) {
        int most = 1;
        for (int e = 0; e < s->blocks[c].entry_count; e++) {
            int here = blocks[s->entries[s->blocks[c].entry + e].tree];
            if (here > most) most = here;
        }
        omega[c] = 1.0 / most;
    }
    return true;
}

static mor_report solve_step(const mor_problem* problem, double damping, mor_context* context, double* p)
{
    const mor_step_form* s = &problem->step;
    mor_sweep sweep;
    const char* why;
    mor_status status = mor_sweep_open(&sweep, s, true, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    double* omega = mor_arena_alloc(context->arena, (size_t)s->block_count * sizeof *omega);
    if (!omega || !shares(s, omega, context->arena)) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    for (int c = 0; damping > 0.0 && c < s->block_count; c++) omega[c] = damping;
    mor_sweep_restart(&sweep, p);
    if (context->warm && context->error(context, p, NULL) <= context->tol)
        return mor_ended(MOR_SOLVED, 0, "the guess was good enough");
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0;
        for (int c = 0; c < s->block_count; c++) {
            mor_visit* v = &sweep.visits[c];
            double u[MOR_SWEEP_ROWS], x[MOR_SWEEP_ROWS], *own = p + v->row;
            mor_visit_velocity(v, s->bias + v->row, sweep.nu, u);
            for (int d = 0; d < v->dim; d++) x[d] = own[d];
            mor_visit_solve(&sweep, v, u, x);
            for (int d = 0; d < v->dim; d++) {
                double dp = x[d] - own[d]; /* undamped: what is still wrong */
                if (!(fabs(dp) * v->scale <= change)) change = fabs(dp) * v->scale;
                own[d] += omega[c] * dp;
            }
        }
        mor_sweep_restart(&sweep, p);
        mor_trace_add(context, k, damping, p);
        if (isnan(change)) return mor_ended(MOR_NUMERICAL, k, "not a number in the sweep");
        if (change <= context->tol || k % JUDGE_EVERY == 0) {
            if (context->error(context, p, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
            if (change == 0.0) return mor_ended(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

static mor_report jacobi_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const jacobi_options* o = options;
    if (problem->form & (MOR_LCP | MOR_MLCP)) return solve_rows(problem, o->damping, context, z);
    return solve_step(problem, o->damping, context, z);
}

const mor_solver mor_solver_jacobi = {
    .name = "jacobi",
    .summary = "damped projected Jacobi, by rows of an LCP or MLCP or by blocks of a time step",
    .reference = "cottle1992",
    .accepts = MOR_LCP | MOR_MLCP | MOR_STEP_PYRAMID | MOR_STEP_CONE,
    .options_size = sizeof(jacobi_options),
    .fields = jacobi_fields,
    .max_iter = 100000,
    .solve = jacobi_solve,
};
