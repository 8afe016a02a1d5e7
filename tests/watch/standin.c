/* A solver to watch: Gauss-Seidel over the contacts of u = W r + q, each by a step of the projection
 * r_c <- P_K(r_c - rho_c (u_c + mu |u_T| e_n)), rho_c = 1 / |W_cc|. Built several times by scripts/test-watch:
 *
 *     WASTE   of a sweep that is done again without use: 0.1 makes a tenth more instructions
 *     LOOSE   times the tolerance that it was asked for */
#include <math.h>
#include <string.h>

#include "moreau/moreau.h"
#include "moreau/plugin.h"

#ifndef WASTE
#define WASTE 0.0
#endif
#ifndef LOOSE
#define LOOSE 1.0
#endif

static void project(double* r, double mu)
{
    double t = hypot(r[1], r[2]);
    if (t <= mu * r[0]) return;
    double n = mu * t <= -r[0] ? 0.0 : (r[0] + mu * t) / (1.0 + mu * mu);
    double s = t > 0.0 ? mu * n / t : 0.0;
    r[0] = n, r[1] *= s, r[2] *= s;
}

/* One contact; W dense by columns. */
static void relax(const mor_problem* p, const double* W, const double* rho, int c, double* r)
{
    int n = p->size;
    double u[3];
    for (int d = 0; d < 3; d++) {
        u[d] = p->b[3 * c + d];
        for (int j = 0; j < n; j++) u[d] += W[(3 * c + d) + (size_t)j * (size_t)n] * r[j];
    }
    u[0] += p->mu[c] * hypot(u[1], u[2]);
    for (int d = 0; d < 3; d++) r[3 * c + d] -= rho[c] * u[d];
    project(r + 3 * c, p->mu[c]);
}

static double* dense(const mor_problem* p, mor_context* c)
{
    int n = p->size;
    double* W = mor_arena_alloc(c->arena, (size_t)n * (size_t)n * sizeof *W);
    double* e = mor_arena_zero(c->arena, (size_t)n, sizeof *e);
    for (int j = 0; W && e && j < n; j++) {
        e[j] = 1.0;
        mor_matrix_apply(&p->A, e, W + (size_t)j * (size_t)n);
        e[j] = 0.0;
    }
    return e ? W : NULL;
}

static mor_report solve(const mor_problem* p, const void* options, mor_context* c, double* r)
{
    (void)options;
    mor_report report = { .status = MOR_NOT_CONVERGED };
    int n = p->size, contacts = p->contact_count;
    double *W = dense(p, c), *rho = mor_arena_alloc(c->arena, (size_t)contacts * sizeof *rho),
           *again = mor_arena_alloc(c->arena, (size_t)n * sizeof *again);
    if (!W || !rho || !again) return (mor_report){ .status = MOR_NUMERICAL };
    for (int i = 0; i < contacts; i++) {
        double sum = 0.0;
        for (int a = 0; a < 9; a++) sum += pow(W[(3 * i + a % 3) + (size_t)(3 * i + a / 3) * (size_t)n], 2);
        rho[i] = sum > 0.0 ? 1.0 / sqrt(sum) : 1.0;
    }
    volatile double sink = 0.0;
    double owed = 0.0; /* contacts of useless work */
    for (int k = 1; k <= c->max_iter; k++) {
        for (int i = 0; i < contacts; i++) relax(p, W, rho, i, r);
        memcpy(again, r, (size_t)n * sizeof *again);
        for (owed += WASTE * contacts; owed >= 1.0; owed -= 1.0) relax(p, W, rho, k % contacts, again);
        sink = sink + again[0];
        report.iterations = k;
        if (k % 10) continue;
        if (c->error(c, r, NULL) <= LOOSE * c->tol) {
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

static const mor_solver standin = { .name = "standin",
                                    .summary = "a solver to watch",
                                    .reference = "none",
                                    .accepts = MOR_FC3D,
                                    .max_iter = 100000,
                                    .solve = solve };

MOR_PLUGIN_SOLVERS(&standin)
