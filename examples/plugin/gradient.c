/* gradient.c: r <- P_K(r - rho (u + mu |u_T| e_n)), one rho for all contacts. */
#include <math.h>
#include "moreau/moreau.h"
#include "moreau/plugin.h"

static void project(double* r, double mu)
{
    double t = hypot(r[1], r[2]);
    if (t <= mu * r[0]) return;
    double n = mu * t <= -r[0] ? 0.0 : (r[0] + mu * t) / (1.0 + mu * mu);
    double s = t > 0.0 ? mu * n / t : 0.0;
    r[0] = n, r[1] *= s, r[2] *= s;
}

static mor_report solve(const mor_problem* p, const void* options, mor_context* c, double* r)
{
    (void)options;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    double *u = mor_arena_alloc(c->arena, (size_t)p->size * sizeof *u), trace = 0.0;
    double* e = mor_arena_zero(c->arena, (size_t)p->size, sizeof *e);
    if (!u || !e) return (mor_report){ .status = MOR_NUMERICAL };
    for (int i = 0; i < p->size; i++) { /* the trace of W bounds its largest eigenvalue */
        e[i] = 1.0;
        mor_matrix_apply(&p->A, e, u);
        trace += u[i];
        e[i] = 0.0;
    }
    double rho = 1.0 / trace;
    for (int k = 1; k <= c->max_iter; k++) {
        mor_matrix_apply(&p->A, r, u);
        for (int i = 0; i < p->size; i++) u[i] += p->b[i];
        for (int i = 0; i < p->contact_count; i++) {
            double *ri = r + 3 * i, *ui = u + 3 * i, mu = p->mu[i];
            ri[0] -= rho * (ui[0] + mu * hypot(ui[1], ui[2]));
            ri[1] -= rho * ui[1];
            ri[2] -= rho * ui[2];
            project(ri, mu);
        }
        report.iterations = k;
        mor_trace_add(c, k, 1.0, r);
        if (k % 10) continue;
        if (c->error(c, r, NULL) <= c->tol) {
            report.status = MOR_SOLVED;
            break;
        }
        if (mor_out_of_time(c)) {
            report.status = MOR_TIME_LIMIT;
            break;
        }
    }
    return report;
}

static const mor_solver gradient = { .name = "gradient",
                                     .summary = "projected gradient steps",
                                     .reference = "none",
                                     .accepts = MOR_FC3D,
                                     .max_iter = 100000,
                                     .solve = solve };

MOR_PLUGIN_SOLVERS(&gradient)
