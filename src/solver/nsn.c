/* nsn: residual-regularised nonsmooth Newton for frictional contact (and the LCP).
 *
 * Problem: u = W r + q with Coulomb's law per contact (d = 2, 3, 5), or 0 <= z _|_ w >= 0 (d = 1, by the
 * Fischer-Burmeister function). The iteration, its regularisation, line search and scaling are those of
 * contact_newton.h: [B + A (W + a I)] dr = -F, a proportional to |F|.
 *
 * The run starts at r = 0, always: with the large first regularisation it is a homotopy from the contact-free state,
 * and guesses (of Gauss-Seidel, of the last time step) measurably spoil it. Only with context->warm a few steps with
 * little regularisation are tried from the guess first. A run that has not ended after 300 steps is begun again on the
 * natural map with kappa = 1 and a window of 20: slower, but it solved RockPile and eight permutations of it without a
 * failure. (Not with the functions fischer-burmeister and cck, which are there to be compared.)
 *
 * iterations: Newton steps. W may be unsymmetric and rank-deficient. Friction problems with mu large enough for no
 * solution to exist end in not_converged.
 * References: Alart & Curnier (1991), A mixed formulation for frictional contact problems prone to Newton like solution
 * methods, eq. 3.5; Acary, Bremond & Huber (2018), On solving contact problems with Coulomb friction, sec. 4.2. */
#include <math.h>
#include <stdio.h>

#include "solver/contact_newton.h"

enum { PATIENCE = 300 }; /* steps before the second run */

typedef struct nsn_options {
    int function;
    double sigma;
    bool kappa;
    int window;
} nsn_options;

static mor_report nsn_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const nsn_options* o = options;
    static const mor_contact_map maps[] = { MOR_MAP_ALART_CURNIER, MOR_MAP_JEAN_MOREAU, MOR_MAP_NATURAL,
                                            MOR_MAP_FISCHER, MOR_MAP_CCK };
    mor_report report = { .status = MOR_NOT_CONVERGED };
    mor_contact_newton newton;
    bool pairs = problem->form == MOR_LCP, second = o->function <= 2; /* no second run under another name */
    mor_newton_settings s = { .map = pairs ? MOR_MAP_FISCHER : maps[o->function],
                              .sigma = o->sigma > 0.0 ? o->sigma
                                       : pairs        ? 0.1
                                                      : 1.0,
                              .floor = 1e-13,
                              .adapt = o->kappa && !pairs,
                              .window = o->window,
                              .max_iter = context->max_iter };
    double* guess = NULL;
    if (context->warm) {
        guess = mor_arena_alloc(context->arena, (size_t)problem->size * sizeof *guess);
        for (int i = 0; guess && i < problem->size; i++) guess[i] = z[i];
    }
    if (!mor_contact_newton_open(&newton, problem, z, context->arena)) {
        mor_contact_newton_close(&newton);
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    mor_newton_end end = MOR_NEWTON_USED_UP;
    if (guess) {
        mor_newton_settings quick = s;
        quick.sigma = 0.01, quick.max_iter = context->max_iter < 10 ? context->max_iter : 10, quick.give_up = 4;
        mor_contact_newton_start(&newton, guess);
        end = mor_contact_newton_run(&newton, &quick, context);
        mor_contact_newton_start(&newton, NULL);
        s.max_iter -= newton.iterations;
    }
    int whole = s.max_iter;
    if (s.adapt && second && whole > PATIENCE) s.max_iter = PATIENCE;
    if (end != MOR_NEWTON_SOLVED && end != MOR_NEWTON_LATE) end = mor_contact_newton_run(&newton, &s, context);
    if (s.adapt && second && whole > PATIENCE && end != MOR_NEWTON_SOLVED && end != MOR_NEWTON_LATE) {
        s.adapt = false, s.map = MOR_MAP_NATURAL, s.window = s.window < 20 ? 20 : s.window,
        s.max_iter = whole - PATIENCE;
        mor_contact_newton_start(&newton, NULL);
        end = mor_contact_newton_run(&newton, &s, context);
        snprintf(report.detail, sizeof report.detail, "started again on the natural map after %d steps", PATIENCE);
    }
    report.status = mor_newton_status(end);
    if (end == MOR_NEWTON_BROKEN && isfinite(newton.best)) report.status = MOR_NOT_CONVERGED;
    report.iterations = newton.iterations;
    mor_contact_newton_close(&newton);
    return report;
}

static const mor_field fields[] = {
    { "function", MOR_TYPE_CHOICE, offsetof(nsn_options, function), 0, 0, 0,
      "alart-curnier|jean-moreau|natural|fischer-burmeister|cck", "",
      "equations that say Coulomb's law (pairs: always Fischer-Burmeister)" },
    { "sigma", MOR_TYPE_DOUBLE, offsetof(nsn_options, sigma), 0, 0, 1000, NULL, "",
      "regularisation per residual; 0: 1 for contacts, 0.1 for pairs" },
    { "kappa", MOR_TYPE_BOOL, offsetof(nsn_options, kappa), 1, 0, 1, NULL, "",
      "regularisation halves after full steps (needed for large mass ratios)" },
    { "window", MOR_TYPE_INT, offsetof(nsn_options, window), 8, 1, 64, NULL, "",
      "merits remembered by the non-monotone line search" },
    { 0 },
};

extern const mor_solver mor_solver_nsn;
const mor_solver mor_solver_nsn = {
    .name = "nsn",
    .summary = "nonsmooth Newton with residual-proportional regularisation",
    .reference = "alart1991",
    .accepts = MOR_LCP | MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING,
    .options_size = sizeof(nsn_options),
    .fields = fields,
    .max_iter = 1000,
    .solve = nsn_solve,
};
