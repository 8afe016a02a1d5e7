/* nsn-tree: nonsmooth Newton for a time step, in the space of velocities (tree_newton.c holds the derivation and the
 * iteration).
 *
 * Problem: STEP with circular cones, polygons, intervals, rolling friction, bounded rows and equations, mixed as they
 * come. From zero impulses with the residual-proportional regularisation of nsn; with a guess, a few steps with little
 * regularisation first.
 *
 * Where impulses are not unique and decide the motion: those of least norm (mor_tree_least).
 *
 * iterations: Newton steps. Limits: regularisation does not fall below 1e-8 of the diagonal of W, so problems with mass
 * ratios above 1e8 converge slowly.
 * Reference: Alart & Curnier (1991), A mixed formulation for frictional contact problems prone to Newton like solution
 * methods. */
#include <string.h>

#include "solver/tree_newton.h"

typedef struct nsn_tree_options {
    double sigma;
    bool kappa;
    int window;
} nsn_tree_options;

static mor_report nsn_tree_solve(const mor_problem* problem, const void* options, mor_context* context, double* p)
{
    const nsn_tree_options* o = options;
    mor_tree_newton_settings s = {
        .sigma = o->sigma, .floor = 1e-8, .adapt = o->kappa, .window = o->window, .max_iter = context->max_iter
    };
    mor_report report = { .status = MOR_NOT_CONVERGED };
    if (context->warm) {
        mor_tree_newton_settings quick = s;
        quick.sigma = 0.01 * s.sigma, quick.max_iter = s.max_iter < 10 ? s.max_iter : 10, quick.give_up = 4;
        report = mor_tree_newton(problem, &quick, NULL, context, p);
        if (report.status == MOR_SOLVED) mor_tree_least(problem, context, context->tol, NULL, p);
        if (report.status != MOR_NOT_CONVERGED) return report;
        memset(p, 0, (size_t)problem->size * sizeof *p);
    }
    int before = report.iterations;
    s.max_iter -= before;
    report = mor_tree_newton(problem, &s, NULL, context, p);
    report.iterations += before;
    if (report.status == MOR_SOLVED) mor_tree_least(problem, context, context->tol, NULL, p);
    return report;
}

static const mor_field fields[] = {
    { "sigma", MOR_TYPE_DOUBLE, offsetof(nsn_tree_options, sigma), 1.0, 1e-12, 1000, NULL, "",
      "regularisation per residual" },
    { "kappa", MOR_TYPE_BOOL, offsetof(nsn_tree_options, kappa), 1, 0, 1, NULL, "",
      "regularisation halves after full steps" },
    { "window", MOR_TYPE_INT, offsetof(nsn_tree_options, window), 8, 1, 64, NULL, "",
      "merits remembered by the non-monotone line search" },
    { 0 },
};

extern const mor_solver mor_solver_nsn_tree;
const mor_solver mor_solver_nsn_tree = {
    .name = "nsn-tree",
    .summary = "nonsmooth Newton on tree velocities, never forming W",
    .reference = "alart1991",
    .accepts = MOR_STEP_CONE | MOR_STEP_PYRAMID,
    .options_size = sizeof(nsn_tree_options),
    .fields = fields,
    .max_iter = 500,
    .solve = nsn_tree_solve,
};
