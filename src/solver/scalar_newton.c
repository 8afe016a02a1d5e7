/* Newton's method on a scalar complementarity function, row by row (scalar_newton.h). */
#include "solver/scalar_newton.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    if (guess) mor_contact_newton_start(&newton, guess);
    mor_newton_end end = mor_contact_newton_run(&newton, &s, context);
    report.status = mor_newton_status(end);
    if (end == MOR_NEWTON_BROKEN) {
        if (isfinite(newton.best)) report.status = MOR_NOT_CONVERGED;
        snprintf(report.detail, sizeof report.detail, "the Newton matrix is singular");
    }
    report.iterations = newton.iterations;
    mor_contact_newton_close(&newton);
    return report;
}
