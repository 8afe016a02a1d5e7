/* fischer-newton: the LCP  w = A z + b,  0 <= z _|_ w >= 0  as the semismooth system
 *
 *   Phi_i(z) = phi(z_i, w_i) = 0,   phi(a, b) = a + b - sqrt(a^2 + b^2)
 *
 * and Newton's method on it: H = D_b + D_a A with D_b = 1 - z/s, D_a = 1 - w/s, s = sqrt(z^2 + w^2) (at z = w = 0 both
 * 1 - 1/sqrt 2), regularised by sigma |Phi|/|Phi_0| in the matrix, after symmetric equilibration of A. phi^2 is
 * continuously differentiable, so the merit is smooth; the method may stop at a stationary point that is no solution
 * when A is not P_0. Line search, scaling and linear algebra: contact_newton.h.
 *
 * Cost: one LU (2/3 n^3 dense) and one product per iteration; cg and gmres only products. iterations: Newton steps.
 * References: Fischer (1992), A special Newton-type optimization method; De Luca, Facchinei & Kanzow (1996), A
 * semismooth equation approach to the solution of nonlinear complementarity problems. */
#include "solver/scalar_newton.h"

static mor_report solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    return mor_scalar_newton(MOR_MAP_FISCHER, problem, options, context, z);
}

static const mor_field fields[] = {
    MOR_SCALAR_NEWTON_FIELDS,
    { 0 },
};

extern const mor_solver mor_solver_fischer_newton;
const mor_solver mor_solver_fischer_newton = {
    .name = "fischer-newton",
    .summary = "Newton's method on the Fischer-Burmeister function",
    .reference = "fischer1992",
    .accepts = MOR_LCP,
    .options_size = sizeof(mor_scalar_newton_options),
    .fields = fields,
    .max_iter = 500,
    .solve = solve,
};
