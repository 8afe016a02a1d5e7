/* minmap-newton: the LCP  w = A z + b,  0 <= z _|_ w >= 0  as  min(z_i, w_i) = 0.
 *
 * Newton's method takes the rows with z_i > w_i as equations w_i = 0 and sets the others to z_i = 0: only the active
 * block of A enters the linear system, each iteration is a guess of the active set, and the right guess ends it (for
 * M-matrices it is monotone). Without regularisation it cycles or meets singular blocks on most contact problems; sigma
 * |F|/|F_0| on the diagonal cures that. Line search, scaling and linear algebra: contact_newton.h.
 *
 * Cost: one LU of the active rows and one product per iteration. iterations: Newton steps.
 * References: Pang (1990), Newton's method for B-differentiable equations; Kanzow (1996), Some noninterior continuation
 * methods for linear complementarity problems, sec. 2. */
#include "solver/scalar_newton.h"

static mor_report solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    return mor_scalar_newton(MOR_MAP_MINMAP, problem, options, context, z);
}

static const mor_field fields[] = {
    MOR_SCALAR_NEWTON_FIELDS,
    { 0 },
};

extern const mor_solver mor_solver_minmap_newton;
const mor_solver mor_solver_minmap_newton = {
    .name = "minmap-newton",
    .summary = "Newton's method on min(z, w)",
    .reference = "pang1990",
    .accepts = MOR_LCP,
    .options_size = sizeof(mor_scalar_newton_options),
    .fields = fields,
    .max_iter = 500,
    .solve = solve,
};
