/* ppa: proximal point algorithm for frictional contact (and the LCP).
 *
 * Problem: u = W r + q with Coulomb's law per contact. Outer iteration k solves
 *
 *   u = (W + alpha_k I) r + q - alpha_k r_k     with the same law,
 *
 * which is well posed for singular W, to |F| <= alpha_k |r - r_k|/10 by the nonsmooth Newton kernel (contact_newton.h,
 * without its own regularisation, at most `inner` steps), then sets r_{k+1} = r. alpha_k falls by `shrink` after every
 * success and grows by `grow`, from the same centre, when the inner Newton fails. Any solution of the problem is a
 * fixed point whatever alpha; with alpha -> 0 the convergence is superlinear. Very insensitive to its parameters,
 * several times slower than nsn.
 *
 * With `extrapolate` the centre moves on along r - r_k once alpha has reached `least`: for problems with soft
 * directions. iterations: Newton steps over all outer iterations. Starts at r = 0, or at the guess when there is one.
 * References: Rockafellar (1976), Monotone operators and the proximal point algorithm; Acary, Bremond & Huber (2018),
 * On solving contact problems with Coulomb friction, sec. 4.4. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solver/proximal.h"

typedef struct ppa_options {
    int function;
    double alpha, shrink, grow, least;
    int inner;
    bool extrapolate;
} ppa_options;

static mor_report ppa_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const ppa_options* o = options;
    static const mor_contact_map maps[] = { MOR_MAP_ALART_CURNIER, MOR_MAP_JEAN_MOREAU, MOR_MAP_NATURAL };
    mor_report report = { .status = MOR_NUMERICAL };
    mor_contact_newton newton;
    double* guess = context->warm ? mor_arena_alloc(context->arena, (size_t)problem->size * sizeof *guess) : NULL;
    if (guess) memcpy(guess, z, (size_t)problem->size * sizeof *guess);
    if (!mor_contact_newton_open(&newton, problem, z, context->arena)) {
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    if (guess) mor_contact_newton_start(&newton, guess);
    mor_proximal_settings s = { .map = problem->form == MOR_LCP ? MOR_MAP_FISCHER : maps[o->function],
                                .alpha = o->alpha,
                                .shrink = o->shrink,
                                .grow = o->grow,
                                .least = o->least,
                                .extrapolate = o->extrapolate,
                                .max_outer = 1000,
                                .max_inner = o->inner,
                                .inner_total = context->max_iter };
    int outer = 0;
    mor_newton_end end = mor_proximal_run(&newton, &s, context, &outer);
    report.status = mor_newton_status(end);
    if (end == MOR_NEWTON_BROKEN && isfinite(newton.best)) report.status = MOR_NOT_CONVERGED;
    report.iterations = newton.iterations;
    snprintf(report.detail, sizeof report.detail, "%d proximal steps", outer + (end == MOR_NEWTON_SOLVED));
    mor_contact_newton_close(&newton);
    return report;
}

static const mor_field fields[] = {
    { "function", MOR_TYPE_CHOICE, offsetof(ppa_options, function), 0, 0, 0, "alart-curnier|jean-moreau|natural", "",
      "equations that say Coulomb's law (pairs: always Fischer-Burmeister)" },
    { "alpha", MOR_TYPE_DOUBLE, offsetof(ppa_options, alpha), 1.0, 1e-12, 1e6, NULL, "",
      "first proximal weight, in units of the diagonal of W" },
    { "shrink", MOR_TYPE_DOUBLE, offsetof(ppa_options, shrink), 0.1, 1e-3, 1, NULL, "",
      "factor after a solved subproblem" },
    { "grow", MOR_TYPE_DOUBLE, offsetof(ppa_options, grow), 10, 1, 1000, NULL, "", "factor after a failed subproblem" },
    { "least", MOR_TYPE_DOUBLE, offsetof(ppa_options, least), 1e-8, 1e-14, 1, NULL, "", "smallest proximal weight" },
    { "inner", MOR_TYPE_INT, offsetof(ppa_options, inner), 30, 1, 10000, NULL, "", "Newton steps per subproblem" },
    { "extrapolate", MOR_TYPE_BOOL, offsetof(ppa_options, extrapolate), 0, 0, 1, NULL, "",
      "move the centre on along the last step" },
    { 0 },
};

extern const mor_solver mor_solver_ppa;
const mor_solver mor_solver_ppa = {
    .name = "ppa",
    .summary = "proximal point algorithm around nonsmooth Newton",
    .reference = "rockafellar1976",
    .accepts = MOR_LCP | MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING,
    .options_size = sizeof(ppa_options),
    .fields = fields,
    .max_iter = 5000,
    .solve = ppa_solve,
};
