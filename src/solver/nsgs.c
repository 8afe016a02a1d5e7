/* Nonsmooth Gauss-Seidel: contact by contact with the exact Coulomb cone.
 *
 * Problem: FC (reduced, 2-D, 3-D, rolling), or a STEP directly on its tree velocities (sweep.h), where circular cones,
 * polygons, intervals, bounded rows and equations may be mixed. For contact c
 *
 *     q_c = b_c + sum_{j != c} W_cj r_j,   r_c <- solution of  u = W_cc r + q_c,  K* contains u^ _|_ r in K
 *
 * with the newest r_j. W is stored by blocks of rows; a sweep costs one product with W, or with G and M^-1 G on a STEP.
 * Options: the local solver (local.h) and the direction of the sweeps. A sweep is invariant under scaling of contacts,
 * so the data are used as they are.
 *
 * Where impulses are not unique and decide the motion, sweeps end in an answer that depends on the order of contacts;
 * on a STEP of up to 90 velocities one more step leads from there to the answer of least norm (tree_newton.c).
 *
 * Converges linearly where it converges; no proof with friction. The number of sweeps grows with the length of contact
 * chains, and with mass ratios beyond use (1e6: stalls). Redundant contacts do no harm, W may be unsymmetric.
 *
 * Stops when the judge is content; it is asked when the change of a sweep is small, and at growing intervals (5 sweeps,
 * later a tenth of the sweeps done), so that judging costs at most a fifth.
 *
 * M. Jean, J. J. Moreau (1992), Unilaterality and dry friction in the dynamics of rigid body collections; F. Jourdan,
 * P. Alart, M. Jean (1998), A Gauss-Seidel like algorithm to solve frictional contact problems. */
#include "solver/block_rows.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

typedef struct nsgs_options {
    int local, order;
    bool least_norm;
} nsgs_options;

static const mor_field nsgs_fields[] = {
    { "local", MOR_TYPE_CHOICE, offsetof(nsgs_options, local), MOR_LOCAL_EXACT, 0, 0, "exact|newton|projection", "",
      "how one contact is solved: to rounding, by Alart-Curnier Newton, or by one projection" },
    { "order", MOR_TYPE_CHOICE, offsetof(nsgs_options, order), MOR_SWEEP_ALTERNATE, 0, 0, "alternate|forward", "",
      "direction of the sweeps" },
    { "least_norm", MOR_TYPE_BOOL, offsetof(nsgs_options, least_norm), 1, 0, 1, NULL, "",
      "of several answers that of least norm; false: the one the sweeps end in" },
    { 0 }
};

static mor_report solve_step(const mor_problem* problem, const nsgs_options* o, mor_context* context, double* p)
{
    mor_sweep sweep;
    const char* why;
    mor_status status = mor_sweep_open(&sweep, &problem->step, true, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    sweep.local = (mor_local_kind)o->local;
    return mor_gauss_seidel_answer(&sweep, (mor_sweep_order)o->order, o->least_norm, problem, context, p);
}

/* One contact of the reduced problem; returns |change|^2. */
static double visit(const mor_block_rows* W, const mor_problem* problem, int c, mor_local_kind local,
                    const double* inverse, double* root, double* r)
{
    enum { MOST = 5 };
    int d = W->dim;
    double q[MOST], old[MOST], *own = r + c * d, change = 0.0;
    for (int i = 0; i < d; i++) q[i] = problem->b[c * d + i], old[i] = own[i];
    mor_block_rows_others(W, c, r, q);
    if (!isfinite(q[0])) return NAN;
    mor_local_cone(local, d, mor_block_rows_own(W, c), inverse, q,
                   (mor_cone){ { problem->mu[c], d == 5 ? problem->mu_roll[c] : 0.0, 0.0 } }, root, own);
    for (int i = 0; i < d; i++) change += (own[i] - old[i]) * (own[i] - old[i]);
    return change;
}

static mor_report solve_reduced(const mor_problem* problem, const nsgs_options* o, mor_context* context, double* r)
{
    int n = problem->contact_count, d = problem->dim;
    mor_block_rows W;
    if (problem->A.storage == MOR_OPERATOR)
        return mor_ended(MOR_REFUSED, 0, "needs the rows of the matrix, not an operator");
    double* root = mor_arena_zero(context->arena, (size_t)n, sizeof *root);
    double* inverse = mor_arena_alloc(context->arena, 9 * (size_t)n * sizeof *inverse);
    bool* regular = mor_arena_zero(context->arena, (size_t)n, sizeof *regular);
    if (!root || !inverse || !regular || !mor_block_rows_build(&W, &problem->A, d, context->arena))
        return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    for (int c = 0; c < n && d == 3; c++) regular[c] = mor_local_inverse(mor_block_rows_own(&W, c), inverse + 9 * c);
    if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, 0, "the start was good enough");
    int next = 5;
    for (int k = 1; k <= context->max_iter; k++) {
        double change = 0.0, size = 0.0;
        bool backward = o->order == MOR_SWEEP_ALTERNATE && k % 2 == 0;
        for (int i = 0; i < n; i++) {
            int c = backward ? n - 1 - i : i;
            change += visit(&W, problem, c, (mor_local_kind)o->local, regular[c] ? inverse + 9 * c : NULL, &root[c], r);
            for (int l = 0; l < d; l++) size += r[c * d + l] * r[c * d + l];
        }
        mor_trace_add(context, k, 1.0, r);
        if (!isfinite(change)) return mor_ended(MOR_NUMERICAL, k, "the sweep diverged");
        if (k >= next || change <= 0.01 * context->tol * context->tol * size) {
            if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
            if (change == 0.0) return mor_ended(MOR_NOT_CONVERGED, k, "the sweep changes nothing any more");
            next = k + (k < 50 ? 5 : k / 10);
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

static mor_report nsgs_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    if (problem->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) return solve_step(problem, options, context, z);
    return solve_reduced(problem, options, context, z);
}

const mor_solver mor_solver_nsgs = {
    .name = "nsgs",
    .summary = "nonsmooth Gauss-Seidel with exact friction cones, on W or on tree velocities",
    .reference = "jourdan1998",
    .accepts = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_STEP_CONE | MOR_STEP_PYRAMID,
    .options_size = sizeof(nsgs_options),
    .fields = nsgs_fields,
    .max_iter = 1000000,
    .solve = nsgs_solve,
};
