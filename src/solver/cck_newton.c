/* cck-newton: the LCP  w = A z + b,  0 <= z _|_ w >= 0  by the penalised Fischer-Burmeister function
 *
 *   phi(a, b) = lambda (a + b - sqrt(a^2 + b^2)) + (1 - lambda) a+ b+,   0 < lambda <= 1
 *
 * The penalty has the sign of phi_FB on the positive quadrant, so that phi = 0 still says complementarity; it bounds
 * the level sets of the merit where phi_FB alone is flat (both a and b large). The derivative adds (1 - lambda) b+ [a >
 * 0] to d/da and (1 - lambda) a+ [b > 0] to d/db. The rest is fischer-newton's: line search, regularisation and linear
 * algebra of contact_newton.h. The penalty is quadratic: it depends on the scale of the problem, here |D b| = 1.
 *
 * Cost: one LU and one product per iteration. iterations: Newton steps.
 * Reference: Chen, Chen & Kanzow (2000), A penalized Fischer-Burmeister NCP-function, eq. 3 and prop. 2.2. */
#include "solver/scalar_newton.h"

static mor_report solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    return mor_scalar_newton(MOR_MAP_CCK, problem, options, context, z);
}

static const mor_field fields[] = {
    MOR_SCALAR_NEWTON_FIELDS,
    { "lambda", MOR_TYPE_DOUBLE, offsetof(mor_scalar_newton_options, lambda), 0.7, 0.01, 1, NULL, "",
      "weight of the Fischer-Burmeister part" },
    { 0 },
};

extern const mor_solver mor_solver_cck_newton;
const mor_solver mor_solver_cck_newton = {
    .name = "cck-newton",
    .summary = "Newton's method on the penalised Fischer-Burmeister function",
    .reference = "chen2000",
    .accepts = MOR_LCP,
    .options_size = sizeof(mor_scalar_newton_options),
    .fields = fields,
    .max_iter = 500,
    .solve = solve,
};
