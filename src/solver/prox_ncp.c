/* Fixed point of the proximal equations on the friction cone ("augmented Lagrangian", "prox").
 *
 *     r_n <- (r_n - rho_n u_n)+,   r_T <- P(r_T - rho_T u_T, disc of radius mu r_n (new)),   u = W r + q
 *
 * for all contacts at once; rolling rows have a second disc, bounded rows are clipped, equations step freely. A fixed
 * point is a solution for every rho > 0; whether and how fast it is reached depends on rho alone:
 *   local     rho_n = alpha/W_nn, rho_T = alpha/max W_TT of the contact itself
 *   contact   one rho = alpha d_c per contact (3/trace)
 *   global    one rho for all: alpha min d_c
 * With `adapt` the factor alpha is steered: ratio = |F(r) - F(r')|/|r - r'| of a step, in the metric of rho, must not
 * exceed `accept`, else alpha <- 2/3 alpha min(1, accept/ratio) and the step is repeated; below 0.3 it grows by 3/2.
 * Without, alpha is the option `factor` and the iteration may well diverge.
 *
 * One product with W per iteration, nothing formed for a STEP. Linear at best, slower than Gauss-Seidel; a contraction
 * only for well-conditioned W and small mu.
 *
 * P. Alart, A. Curnier (1991); M. Forg, F. Pfeiffer, H. Ulbrich (2005), Simulation of unilateral constrained systems
 * with many bodies (r-factors); C. Studer (2009), Numerics of Unilateral Contacts and Friction. */
#include "base/elementary.h"
#include "solver/cone_system.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

enum { FACTOR_LOCAL, FACTOR_CONTACT, FACTOR_GLOBAL };

typedef struct prox_options {
    int strategy;
    double factor;
    bool adapt;
    double accept;
} prox_options;

static const mor_field prox_fields[] = {
    { "r_factor", MOR_TYPE_CHOICE, offsetof(prox_options, strategy), FACTOR_LOCAL, 0, 0, "local|contact|global", "",
      "rho by rows, by contacts, or one for all" },
    { "factor", MOR_TYPE_DOUBLE, offsetof(prox_options, factor), 1.0, 1e-12, 1e12, NULL, "", "alpha at the start" },
    { "adapt", MOR_TYPE_BOOL, offsetof(prox_options, adapt), 1, 0, 0, NULL, "", "steer alpha by the change of u" },
    { "accept", MOR_TYPE_DOUBLE, offsetof(prox_options, accept), 0.9, 0.01, 2, NULL, "",
      "largest ratio of a step that is kept" },
    { 0 }
};

/* rho of every row, for alpha = 1 */
static void factors(const mor_cone_system* s, int strategy, double* rho)
{
    double least = INFINITY;
    for (int c = 0; c < s->count; c++) least = mor_min(least, s->blocks[c].weight);
    for (int c = 0; c < s->count; c++) {
        const mor_cone_block* b = &s->blocks[c];
        for (int i = 0; i < b->dim; i++) {
            double local = b->kind == MOR_BLOCK_EQUATION ? b->weight
                           : i == 0                      ? b->normal
                           : i < 3                       ? b->tangent
                                                         : b->roll;
            rho[b->row + i] = strategy == FACTOR_LOCAL ? local : strategy == FACTOR_CONTACT ? b->weight : least;
        }
    }
}

static void disc(double radius, int k, double* t)
{
    double size = k == 1 ? fabs(t[0]) : sqrt(t[0] * t[0] + t[1] * t[1]);
    for (int i = 0; i < k && size > radius; i++) t[i] *= radius / size;
}

static void advance(const mor_cone_system* s, const double* r, double alpha, const double* rho, const double* u,
                    double* out)
{
    for (int i = 0; i < s->n; i++) out[i] = r[i] - alpha * rho[i] * u[i];
    for (int c = 0; c < s->count; c++) {
        const mor_cone_block* b = &s->blocks[c];
        double* x = out + b->row;
        if (b->kind == MOR_BLOCK_BOUNDED) x[0] = mor_min(mor_max(x[0], b->lower), b->upper);
        if (b->kind != MOR_BLOCK_CONTACT) continue;
        x[0] = mor_max(x[0], 0.0);
        for (int i = 0; i < mor_disc_count(b->dim); i++)
            disc(b->cone.mu[i] * x[0], mor_disc_size(b->dim, i), x + mor_disc_row(i));
    }
}

static mor_report prox_solve(const mor_problem* problem, const void* options, mor_context* context, double* r)
{
    const prox_options* o = options;
    mor_cone_system s;
    const char* why;
    mor_status status = mor_cone_system_open(&s, problem, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    double* memory = mor_arena_alloc(context->arena, 4 * (size_t)s.n * sizeof *memory);
    if (!memory) return mor_ended(MOR_NUMERICAL, 0, "out of memory");
    double *u = memory, *v = u + s.n, *p = v + s.n, *rho = p + s.n, alpha = o->factor;
    factors(&s, o->strategy, rho);
    if (context->error(context, r, NULL) <= context->tol) return mor_ended(MOR_SOLVED, 0, "the start was good enough");
    mor_cone_system_velocity(&s, r, u);
    for (int k = 1; k <= context->max_iter; k++) {
        double ratio = 0.0, size = 0.0;
        for (int inner = 0; inner < 60; inner++) {
            double dr = 0.0, du = 0.0;
            size = 0.0;
            advance(&s, r, alpha, rho, u, p);
            mor_cone_system_velocity(&s, p, v);
            for (int i = 0; i < s.n; i++) {
                dr += (r[i] - p[i]) * (r[i] - p[i]) / rho[i];
                du += (u[i] - v[i]) * (u[i] - v[i]) * rho[i];
                size = mor_max(size, fabs(p[i]));
            }
            ratio = dr > 0.0 ? alpha * sqrt(du / dr) : 0.0;
            if (!o->adapt || ratio <= o->accept || !isfinite(ratio)) break;
            alpha *= 0.66666666666666663 * mor_min(1.0, o->accept / ratio);
        }
        if (!isfinite(size)) return mor_ended(MOR_NUMERICAL, k, "diverged");
        memcpy(r, p, (size_t)s.n * sizeof *r);
        memcpy(u, v, (size_t)s.n * sizeof *u);
        mor_trace_add(context, k, alpha, r);
        if (o->adapt && ratio < 0.3 && alpha < 1e12) alpha *= 1.5;
        if (k % 10 == 0) {
            if (mor_cone_system_runaway(&s, r, context->tol))
                return mor_ended(MOR_NOT_CONVERGED, k, "the impulses grow without bound");
            if (context->error(context, r, u) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

const mor_solver mor_solver_prox_ncp = {
    .name = "prox-ncp",
    .summary = "fixed point of the proximal equations on the friction cone, with r-factor strategies",
    .reference = "alart1991",
    .accepts = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_STEP_CONE,
    .options_size = sizeof(prox_options),
    .fields = prox_fields,
    .max_iter = 1000000,
    .solve = prox_solve,
};
