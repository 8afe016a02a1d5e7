/* Newton's method on a scalar complementarity function, row by row (scalar_newton.h).
 *
 * A search that makes no progress for 50 iterations begins again: with rows that have a diagonal, 1/mass, scaled apart
 * from those that have none, the slips of a friction pyramid, whose entries are pure numbers (scaled together, the
 * method stands still where bodies are much heavier than 1 kg); and far out, all unknowns (|q| = 1) at 1e2, 1e4, 1e6,
 * because the answer of a body that is nearly wedged is as much larger than its load, and the merit has minima on the
 * way there from zero. All searches together have max_iter iterations. */
#include "solver/scalar_newton.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { QUIET = 50, SEARCHES = 4 };
static const double far_out[] = { 1e2, 1e4, 1e6 };

/* One search from newton->r; false: the last one. */
static bool go(mor_contact_newton* newton, mor_newton_settings* s, mor_context* context, mor_newton_end* end)
{
    int left = context->max_iter - newton->iterations, share = context->max_iter / SEARCHES;
    if (share < 2 * QUIET) share = 2 * QUIET;
    s->max_iter = left < share ? left : share;
    *end = mor_contact_newton_run(newton, s, context);
    return (*end == MOR_NEWTON_STUCK || *end == MOR_NEWTON_USED_UP) && newton->iterations < context->max_iter;
}

/* From the guess, or zero, and again. */
static mor_newton_end search(mor_contact_newton* newton, mor_newton_settings* s, const double* guess,
                             mor_context* context)
{
    mor_newton_end end;
    s->give_up = QUIET;
    if (guess) mor_contact_newton_start(newton, guess);
    bool more = go(newton, s, context, &end);
    if (more && mor_contact_newton_rescale(newton)) {
        mor_contact_newton_start(newton, guess);
        more = go(newton, s, context, &end);
    }
    for (size_t k = 0; k < sizeof far_out / sizeof *far_out && more; k++) {
        for (int i = 0; i < newton->n; i++) newton->r[i] = far_out[k];
        more = go(newton, s, context, &end);
    }
    return end;
}

mor_report mor_scalar_newton(mor_contact_map map, const mor_problem* problem, const mor_scalar_newton_options* o,
                             mor_context* context, double* z)
{
    mor_report report = { .status = MOR_NUMERICAL };
    mor_contact_newton newton;
    mor_newton_settings s = { .map = map,
                              .weight = o->lambda,
                              .sigma = o->sigma,
                              .floor = o->sigma > 0.0 ? 1e-13 : 0.0,
                              .window = o->window,
                              .max_iter = context->max_iter,
                              .linear = (mor_newton_linear)o->linear };
    double* guess = context->warm ? mor_arena_alloc(context->arena, (size_t)problem->size * sizeof *guess) : NULL;
    if (guess) memcpy(guess, z, (size_t)problem->size * sizeof *guess);
    if (problem->A.storage == MOR_OPERATOR && s.linear != MOR_NEWTON_GMRES) {
        report.status = MOR_REFUSED;
        snprintf(report.detail, sizeof report.detail, "a matrix known by its products only needs linear: gmres");
        return report;
    }
    if (!mor_contact_newton_open(&newton, problem, z, context->arena)) {
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    mor_newton_end end = search(&newton, &s, guess, context);
    report.status = mor_newton_status(end);
    if (end == MOR_NEWTON_BROKEN) {
        if (isfinite(newton.best)) report.status = MOR_NOT_CONVERGED;
        snprintf(report.detail, sizeof report.detail, "the Newton matrix is singular");
    }
    report.iterations = newton.iterations;
    mor_contact_newton_close(&newton);
    return report;
}
