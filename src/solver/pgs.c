/* Projected Gauss-Seidel, by blocks on a time step, by rows on an LCP.
 *
 * On a STEP the unknowns are visited contact by contact on the tree velocities,
 *
 *     u_c = G_c' nu + b_c,   p_c <- exact solution of the contact's own problem with W_cc and
 *     q_c = u_c - W_cc p_c,  nu <- nu + M^-1 G_c (p_c_new - p_c_old),
 *
 * so W = G' M^-1 G is never formed and a sweep costs O(number of Jacobian coefficients). Equations and bounded
 * rows are relaxed by their own blocks. Sweeps alternate direction, which carries loads through stacks both
 * ways.
 *
 * On an LCP or mixed LCP: z_i <- max(0, z_i - w_i/A_ii), no max on equations; rows without a positive diagonal entry,
 * as those of s in the ST problem, are solved together with those they depend on (row_groups.c).
 *
 * Where impulses are not unique and decide the motion, sweeps end in an answer that depends on the order of contacts;
 * on a STEP of up to 90 velocities one more step leads from there to the answer of least norm (tree_newton.c).
 *
 * Converges linearly for symmetric positive semidefinite W; the number of sweeps grows with the height of a
 * stack and with mass ratios. Stops when the judge's error is within the tolerance; the judge is asked when
 * the largest change of a sweep, in m/s, has fallen below it, and every 50 sweeps.
 *
 * R. W. Cottle, J.-S. Pang, R. E. Stone, "The Linear Complementarity Problem", 1992, section 5.2 (PSOR);
 * block form: M. Jean, J. J. Moreau, 1992; F. Jourdan, P. Alart, M. Jean, 1998. */
#include "solver/sweep.h"

typedef struct pgs_options {
    int order;
    bool least_norm;
} pgs_options;

static const mor_field pgs_fields[] = { { "order", MOR_TYPE_CHOICE, offsetof(pgs_options, order), MOR_SWEEP_ALTERNATE,
                                          0, 0, "alternate|forward", "", "direction of the sweeps" },
                                        { "least_norm", MOR_TYPE_BOOL, offsetof(pgs_options, least_norm), 1, 0, 1, NULL,
                                          "",
                                          "of several answers that of least norm; false: the one the sweeps end in" },
                                        { 0 } };

static mor_report pgs_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const pgs_options* o = options;
    if (problem->form & (MOR_LCP | MOR_MLCP)) {
        mor_rows rows;
        mor_report refused;
        if (!mor_rows_open(&rows, problem, context->arena, &refused)) return refused;
        return mor_gauss_seidel_rows(&rows, 1.0, context, z);
    }
    mor_sweep sweep;
    const char* why;
    mor_status status = mor_sweep_open(&sweep, &problem->step, false, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    return mor_gauss_seidel_answer(&sweep, (mor_sweep_order)o->order, o->least_norm, problem, context, z);
}

const mor_solver mor_solver_pgs = {
    .name = "pgs",
    .summary = "projected Gauss-Seidel, contact by contact, on tree velocities",
    .reference = "cottle1992",
    .accepts = MOR_LCP | MOR_MLCP | MOR_STEP_PYRAMID,
    .options_size = sizeof(pgs_options),
    .fields = pgs_fields,
    .max_iter = 100000,
    .solve = pgs_solve,
};
