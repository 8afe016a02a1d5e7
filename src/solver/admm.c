/* Alternating direction method of multipliers on the friction cones.
 *
 * Split u^ = W r + q + s in K*, r in K, with s = mu |u_T| e_n held during an iteration, into an equation for r and a
 * projection for a copy z of r; y is the multiplier of r = z, in the end y = u^:
 *
 *     (W + (rho + eta) D^-1) r = -q - s(y) + y + rho D^-1 z + eta D^-1 r_old
 *     r~ = 1.6 r - 0.6 z,   z <- P_K(r~ - D y/rho),   y <- y + rho D^-1 (z - r~)
 *
 * D = diag(d_c), d_c = 3/trace W_cc, makes rho a number without unit. One LU is used until rho changes: rho <- rho
 * sqrt(primal/dual), primal = |r - z|, dual = rho |z - z_old| in the metric of D, after 10, 20, 40, 80 iterations and
 * then every 160. The small eta keeps the matrix regular for redundant contacts without moving the solution. With s = 0
 * (CQP) this is ADMM for a convex QP and converges; with friction there is no proof, in practice 1e-4 to 1e-6 quickly
 * and then a slow tail.
 *
 * Cost: one factorisation per rho, then one solve and one projection per iteration. Unsymmetric W is allowed (LU).
 *
 * S. Boyd et al. (2011), Distributed optimization and statistical learning via ADMM, section 3.4; J. Carpentier, Q. Le
 * Lidec, L. Montaut (2024), From compliant to rigid contact simulation: a unified and efficient approach. */
#include "base/elementary.h"
#include "solver/scaled_lu.h"
#include "solver/cone_system.h"
#include "solver/sweep.h"

#include <math.h>
#include <string.h>

typedef struct admm_options {
    double rho, relaxation, eta;
    bool adapt;
} admm_options;

static const mor_field admm_fields[] = {
    { "rho", MOR_TYPE_DOUBLE, offsetof(admm_options, rho), 1.0, 1e-9, 1e9, NULL, "",
      "penalty at the start, in units of W_cc" },
    { "relaxation", MOR_TYPE_DOUBLE, offsetof(admm_options, relaxation), 1.6, 0.1, 1.99, NULL, "", "over-relaxation" },
    { "eta", MOR_TYPE_DOUBLE, offsetof(admm_options, eta), 1e-6, 0, 1, NULL, "", "proximal term, in units of W_cc" },
    { "adapt", MOR_TYPE_BOOL, offsetof(admm_options, adapt), 1, 0, 0, NULL, "",
      "balance primal and dual residuals by rho" },
    { 0 }
};

static bool refactor(mor_scaled_lu* lu, const mor_cone_system* s, double shift, double* E)
{
    int d = s->problem->dim;
    memset(E, 0, (size_t)s->n * d * sizeof *E);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < d; i++) E[(size_t)c * d * d + i * (d + 1)] = shift / s->weight[c * d + i];
    return mor_scaled_lu_factor(lu, NULL, NULL, E);
}

static bool time_to_adapt(int k) { return k == 10 || k == 20 || k == 40 || k == 80 || (k > 80 && k % 160 == 0); }

static mor_report iterate(const mor_cone_system* s, mor_scaled_lu* lu, const admm_options* o, double* memory,
                          mor_context* context, double* z)
{
    int n = s->n;
    const double* q = s->problem->b;
    double *y = memory, *r = y + n, *rt = r + n, *old = rt + n, *E = old + n, rho = o->rho;
    if (context->warm) {
        mor_cone_system_velocity(s, z, y);
        mor_cone_system_hat(s, y, y);
    } else memset(y, 0, (size_t)n * sizeof *y);
    memcpy(r, z, (size_t)n * sizeof *r);
    if (!refactor(lu, s, rho + o->eta, E)) return mor_ended(MOR_NUMERICAL, 0, "W + rho is singular");
    int next = 5;
    for (int k = 1; k <= context->max_iter; k++) {
        mor_cone_system_hat(s, y, rt); /* y + s(y) */
        for (int i = 0; i < n; i++) r[i] = -q[i] - (rt[i] - y[i]) + y[i] + (rho * z[i] + o->eta * r[i]) / s->weight[i];
        mor_scaled_lu_solve(lu, r);
        memcpy(old, z, (size_t)n * sizeof *old);
        for (int i = 0; i < n; i++) {
            rt[i] = o->relaxation * r[i] + (1.0 - o->relaxation) * old[i];
            z[i] = rt[i] - s->weight[i] / rho * y[i];
        }
        mor_cone_system_project(s, z);
        double primal = 0.0, dual = 0.0;
        for (int i = 0; i < n; i++) {
            y[i] += rho / s->weight[i] * (z[i] - rt[i]);
            primal += (r[i] - z[i]) * (r[i] - z[i]) / s->weight[i];
            dual += rho * rho * (z[i] - old[i]) * (z[i] - old[i]) / s->weight[i];
        }
        mor_trace_add(context, k, rho, z);
        if (!isfinite(primal + dual)) return mor_ended(MOR_NUMERICAL, k, "diverged");
        if (k >= next) {
            if (mor_cone_system_runaway(s, z, context->tol))
                return mor_ended(MOR_NOT_CONVERGED, k, "the impulses grow without bound");
            if (context->error(context, z, NULL) <= context->tol) return mor_ended(MOR_SOLVED, k, "");
            if (mor_out_of_time(context)) return mor_ended(MOR_TIME_LIMIT, k, "");
            next = k + (k < 100 ? 5 : 20);
        }
        if (o->adapt && time_to_adapt(k) && primal > 0.0 && dual > 0.0) {
            double factor = sqrt(sqrt(primal / dual));
            if (factor > 1.2 || factor < 1.0 / 1.2) {
                rho = mor_min(1e9, mor_max(1e-9, rho * mor_min(10.0, mor_max(0.1, factor))));
                if (!refactor(lu, s, rho + o->eta, E)) return mor_ended(MOR_NUMERICAL, k, "W + rho is singular");
            }
        }
    }
    return mor_ended(MOR_NOT_CONVERGED, context->max_iter, "");
}

static mor_report admm_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    mor_cone_system s;
    mor_scaled_lu lu = { 0 };
    const char* why;
    mor_status status = mor_cone_system_open(&s, problem, context->arena, &why);
    if (status != MOR_SOLVED) return mor_ended(status, 0, why);
    if (context->error(context, z, NULL) <= context->tol) return mor_ended(MOR_SOLVED, 0, "the start was good enough");
    double* memory = mor_arena_alloc(context->arena, (4 + (size_t)problem->dim) * (size_t)s.n * sizeof *memory);
    mor_report report = mor_ended(MOR_NUMERICAL, 0, "out of memory");
    if (memory && mor_scaled_lu_open(&lu, &s.W, context->arena)) report = iterate(&s, &lu, options, memory, context, z);
    mor_scaled_lu_close(&lu);
    return report;
}

const mor_solver mor_solver_admm = {
    .name = "admm",
    .summary = "alternating directions: one factorisation, then projections on the cones",
    .reference = "boyd2011",
    .accepts = MOR_FC2D | MOR_FC3D | MOR_FC_ROLLING | MOR_CQP,
    .options_size = sizeof(admm_options),
    .fields = admm_fields,
    .max_iter = 1000000,
    .solve = admm_solve,
};
