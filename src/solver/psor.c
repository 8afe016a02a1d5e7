/* Projected successive over-relaxation: Gauss-Seidel whose steps are stretched or shortened.
 *
 * LCP, MLCP:  z_i <- max(0, z_i - omega w_i/A_ii), row after row with the newest z (no max on equations).
 * STEP:       p_c <- p_c + omega (p* - p_c), p* the block's own exact solution (sweep.h), pulled back into its
 * admissible set:
 *             p_n >= 0, friction shortened along its direction. Polygons, circular cones and joints may be mixed.
 *
 * omega = 1 is pgs (or nsgs). For symmetric positive definite A it converges for 0 < omega < 2. With sweeps in one
 * direction omega = 1.3 saves about a tenth of the sweeps on walls and stacks; with alternating sweeps omega > 1 does
 * harm, as for symmetric SOR. Below 1 it calms sweeps that oscillate. Rows without a positive diagonal entry, as those
 * of s in the ST problem as an LCP or mixed LCP, are solved together with those they depend on (row_groups.c). Cost per
 * sweep: one product with A, or with G and M^-1 G.
 *
 * Where impulses are not unique and decide the motion, sweeps end in an answer that depends on the order of contacts;
 * on a STEP of up to 90 velocities one more step leads from there to the answer of least norm (tree_newton.c).
 *
 * C. W. Cryer (1971), The solution of a quadratic programming problem using systematic overrelaxation; Cottle, Pang,
 * Stone (1992), section 5.2. */
#include "solver/sweep.h"

typedef struct psor_options {
    double relaxation;
    int order;
    bool least_norm;
} psor_options;

static const mor_field psor_fields[] = { { "relaxation", MOR_TYPE_DOUBLE, offsetof(psor_options, relaxation), 1.3, 0.01,
                                           1.99, NULL, "", "omega: 1 is Gauss-Seidel" },
                                         { "order", MOR_TYPE_CHOICE, offsetof(psor_options, order), MOR_SWEEP_FORWARD,
                                           0, 0, "alternate|forward", "", "direction of the sweeps of a time step" },
                                         { "least_norm", MOR_TYPE_BOOL, offsetof(psor_options, least_norm), 1, 0, 1,
                                           NULL, "",
                                           "of several answers that of least norm; false: the one the sweeps end in" },
                                         { 0 } };

static mor_report psor_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const psor_options* o = options;
    if (problem->form & (MOR_LCP | MOR_MLCP)) {
        mor_rows rows;
        mor_report refused;
        if (!mor_rows_open(&rows, problem, context->arena, &refused)) return refused;
        return mor_gauss_seidel_rows(&rows, o->relaxation, context, z);
    }
    mor_sweep sweep;
    const char* why;
    mor_status status = mor_sweep_open(&sweep, &problem->step, true, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    sweep.relaxation = o->relaxation;
    return mor_gauss_seidel_answer(&sweep, (mor_sweep_order)o->order, o->least_norm, problem, context, z);
}

const mor_solver mor_solver_psor = {
    .name = "psor",
    .summary = "projected over-relaxation, by rows of an LCP or MLCP or by blocks of a time step",
    .reference = "cottle1992",
    .accepts = MOR_LCP | MOR_MLCP | MOR_STEP_PYRAMID | MOR_STEP_CONE,
    .options_size = sizeof(psor_options),
    .fields = psor_fields,
    .max_iter = 20000,
    .solve = psor_solve,
};
