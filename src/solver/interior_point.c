/* interior-point: infeasible primal-dual path following for monotone complementarity problems over orthants and Lorentz
 * cones.
 *
 * Problem. LCP, MLCP: w = A z + b, 0 <= z _|_ w >= 0, w = 0 on free rows. CQP: minimise r'W r/2 + b'r over the friction
 * cones, that is K contains r _|_ u = W r + b in K* (dims 2 and 3). With x = (mu r_N, r_T), s = (u_N/mu, u_T) a
 * friction cone is the Lorentz cone L = {x_0 >= |x_1|}, and everything reads
 *
 *     s = A x + b,   L contains x _|_ s in L,   L a product of orthants, Lorentz cones and free rows (s = 0)
 *
 * Derivation. The central path is x o s = mu e with the Jordan product x o s = (x's, x_0 s_1 + s_0 x_1) (orthant: x s).
 * The Nesterov-Todd scaling V of a block maps both to one point: lambda = V^-1 x = V s. With r_p = A x + b - s Newton's
 * step is
 *
 *     (A + V^-2) dx = -r_p + V^-1 (lambda \ r_c),     ds = A dx + r_p,
 *     r_c = sigma mu e - lambda o lambda - (V^-1 dx_a) o (V ds_a)
 *
 * (orthant: V^-2 = s/x). Near the end the product itself is linearised, s o dx + x o ds = sigma mu e - x o s - dx_a o
 * ds_a (the direction of Alizadeh, Haeberly & Overton): V^-2 becomes L_x^-1 L_s, unsymmetric, with L_x y = x o y. On a
 * sliding contact the NT direction leaves x and s misaligned by sqrt(mu), this one by mu; it is the same on orthants.
 * Predictor with r_c = -lambda o lambda, sigma = (1 - alpha_a)^3, then the corrector; one step length for x and s.
 * (With two, A dx - ds no longer removes r_p: the split steps of the original diverge on sphere stacks.) 0.99 of the
 * way to the boundary at most. Near the end the active rows of an LCP or MLCP are solved exactly.
 *
 * Cost: one factorisation of an n x n unsymmetric matrix per iteration (dense below 260 unknowns or above 15 % density,
 * else sparse), 10 to 40 iterations. `linear`: cg and gmres replace the factorisation by Krylov iterations
 * preconditioned by the diagonal (cg on the normal equations unless A is symmetric).
 * Limits: theory holds for monotone problems (symmetric part of A semidefinite). The pyramids of Stewart and Trinkle
 * are not monotone: there the method often works but may stall, which is reported as not_converged. Rolling cones (dim
 * 5) are refused.
 *
 * References: Wright (1997), Primal-Dual Interior-Point Methods, ch. 5, 6, 8; Nesterov & Todd (1997), Self-scaled
 * barriers and interior-point methods for convex programming; Alizadeh & Goldfarb (2003), Second-order cone
 * programming, sec. 7; Vandenberghe (2010), The CVXOPT linear and quadratic cone program solvers, sec. 4, 5; Kojima,
 * Megiddo, Noma & Yoshise (1991), A unified approach to interior point algorithms for linear complementarity problems.
 * */
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "moreau/solver.h"
#include "problem/convert.h"
#include "solver/interior_system.h"
#include "solver/lorentz.h"
#include "solver/pivot_table.h"

typedef struct interior_options {
    int linear;
    double centre;
    double krylov_tol;
} interior_options;

static double inner(int d, const double* a, const double* b)
{
    double s = 0.0;
    for (int i = 0; i < d; i++) s += a[i] * b[i];
    return s;
}

/* e times sizes taken from the data. Returns the degree of the cones. */
static int start(mor_interior* c, double force, double length)
{
    int degree = 0;
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k];
        if (c->dim[k] == 0) continue;
        c->x[a] = length, c->s[a] = force, degree++;
    }
    return degree;
}

/* The scalings of all blocks. False: the iterate is at the boundary. */
static bool scale_blocks(mor_interior* c)
{
    for (int j = 0; j < c->count; j++) {
        int a = c->start[j], d = c->dim[j];
        if (d == 0) continue;
        if (!mor_lorentz_scaling(d, c->x + a, c->s + a, c->v + 3 * j, &c->eta[j], c->V2 + 9 * j, c->lambda + a))
            return false;
        if (c->plain) mor_lorentz_quotient(d, c->x + a, c->s + a, c->V2 + 9 * j);
    }
    return true;
}

/* rc of the predictor: aims at x o s = 0. */
static void aim_at_zero(mor_interior* c)
{
    for (int j = 0; j < c->count; j++) {
        int a = c->start[j], d = c->dim[j];
        if (d == 0) continue;
        mor_lorentz_product(d, c->plain ? c->x + a : c->lambda + a, c->plain ? c->s + a : c->lambda + a, c->rc + a);
        for (int i = 0; i < d; i++) c->rc[a + i] = -c->rc[a + i];
    }
}

/* rc of the corrector: aims at x o s = target e, without what the predictor's step adds of second order. */
static void aim_at_centre(mor_interior* c, double target)
{
    for (int j = 0; j < c->count; j++) {
        int a = c->start[j], d = c->dim[j];
        if (d == 0) continue;
        double p[3], q[3], t[3];
        if (c->plain) mor_lorentz_product(d, c->dx + a, c->ds + a, t);
        else {
            mor_lorentz_scale(d, c->v + 3 * j, c->eta[j], true, c->dx + a, p);
            mor_lorentz_scale(d, c->v + 3 * j, c->eta[j], false, c->ds + a, q);
            mor_lorentz_product(d, p, q, t);
        }
        for (int i = 0; i < d; i++) c->rc[a + i] += (i == 0 ? target : 0.0) - t[i];
    }
}

/* Scales and factors, with a shift of the diagonal if it must be. False: report says why. */
static bool prepare_step(mor_interior* c, double largest, mor_report* report)
{
    bool inside = scale_blocks(c);
    c->shift = 0.0;
    if (inside && mor_interior_factor(c)) return true;
    c->shift = 1e-11 * largest;
    if (inside && mor_interior_factor(c)) return true;
    snprintf(report->detail, sizeof report->detail, "%s",
             inside ? "the Newton matrix is singular" : "the iterate reached the boundary");
    report->status = inside ? MOR_NUMERICAL : MOR_NOT_CONVERGED;
    return false;
}

static mor_report follow(mor_interior* c, const mor_problem* problem, const interior_options* o, mor_context* context,
                         double* z)
{
    mor_report report = { .status = MOR_NOT_CONVERGED };
    int n = c->n, stalled = 0;
    size_t N = (size_t)n;
    double* trial = mor_arena_alloc(context->arena, (N + 1) * sizeof *trial);
    if (!trial) return report.status = MOR_NUMERICAL, report;
    double largest = 0.0, force = mor_max(mor_norm_max(n, c->b), 1e-300);
    for (int e = 0; e < c->A.p[n]; e++) largest = mor_max(largest, fabs(c->A.x[e]));
    double length = mor_min(mor_max(force / mor_max(largest, 1e-300), 1e-100), 1e100);
    int degree = start(c, force, length);
    double least = INFINITY, smallest = INFINITY, step = 0.0;
    c->tol = o->krylov_tol;
    for (int k = 0;; k++) {
        mor_csr_apply(&c->A, c->x, c->rp);
        for (int i = 0; i < n; i++) c->rp[i] += c->b[i] - c->s[i];
        double mu = inner(n, c->x, c->s) / (degree ? degree : 1), primal = mor_norm_max(n, c->rp) / force;
        if (!isfinite(mu) || !isfinite(primal)) return report.status = MOR_NUMERICAL, report;
        for (int i = 0; i < n; i++) trial[i] = c->scale[i] * c->x[i];
        report.iterations = k;
        if (k > 0) mor_trace_add(context, k, step, trial);
        double gap = mu / (force * length), error = context->error(context, trial, NULL);
        if (gap < 1e-7 && primal < 1e-5 && error > 1e-2 * context->tol && problem->form != MOR_CQP)
            error = mor_boxed_polish(problem, trial, mor_context_measure, context, context->arena);
        if (error < least || k == 0) least = error, memcpy(z, trial, N * sizeof *z);
        if (least <= context->tol) return report.status = MOR_SOLVED, report;
        double merit = mor_max(error, 0.0);
        stalled = merit > 0.95 * smallest && step < 0.1 ? stalled + 1 : 0;
        smallest = mor_min(smallest, merit);
        if (stalled > 10)
            snprintf(report.detail, sizeof report.detail, "stalled: steps of %.1e; the problem may not be monotone",
                     step);
        if (k >= context->max_iter || stalled > 10) return report;
        if (mor_out_of_time(context)) return report.status = MOR_TIME_LIMIT, report;
        c->plain = problem->form == MOR_CQP && gap < 1e-3 && primal < 1e-3 && (!c->plain || step > 0.1);
        if (!prepare_step(c, largest, &report)) return report;
        aim_at_zero(c);
        mor_interior_direction(c);
        double affine = mor_min(1.0, mor_interior_room(c)), sigma = mor_pow(1.0 - affine, o->centre);
        sigma = mor_min(mor_max(sigma, 1e-8), 1.0);
        aim_at_centre(c, sigma * mu);
        mor_interior_direction(c);
        step = mor_min(1.0, 0.99 * mor_interior_room(c));
        for (int i = 0; i < n; i++) c->x[i] += step * c->dx[i], c->s[i] += step * c->ds[i];
    }
}

static mor_report interior_solve(const mor_problem* problem, const void* options, mor_context* context, double* z)
{
    const interior_options* o = options;
    mor_report report = { .status = MOR_REFUSED };
    memset(z, 0, (size_t)problem->size * sizeof *z);
    if (problem->A.storage == MOR_OPERATOR) {
        snprintf(report.detail, sizeof report.detail, "needs the entries of the matrix");
        return report;
    }
    if (problem->form == MOR_CQP && problem->dim > 3) {
        snprintf(report.detail, sizeof report.detail, "rolling friction has no single Lorentz cone; dims 2 and 3 only");
        return report;
    }
    if (context->error(context, z, NULL) <= context->tol) return report.status = MOR_SOLVED, report;
    mor_interior c = { .n = problem->size, .method = o->linear };
    if (mor_interior_open(&c, problem, context->arena)) report = follow(&c, problem, o, context, z);
    else {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory, or a structurally singular matrix");
    }
    mor_sparse_lu_destroy(c.lu);
    return report;
}

static const mor_field fields[] = {
    { "linear", MOR_TYPE_CHOICE, offsetof(interior_options, linear), 0, 0, 0, "direct|cg|gmres", "",
      "how the Newton system is solved" },
    { "centre", MOR_TYPE_DOUBLE, offsetof(interior_options, centre), 3, 1, 6, NULL, "",
      "exponent of the centring rule" },
    { "krylov_tol", MOR_TYPE_DOUBLE, offsetof(interior_options, krylov_tol), 1e-10, 1e-15, 0.1, NULL, "",
      "relative residual asked of cg and gmres" },
    { 0 },
};

extern const mor_solver mor_solver_interior_point;
const mor_solver mor_solver_interior_point = {
    .name = "interior-point",
    .summary = "infeasible path following with one step length; orthants and Lorentz cones",
    .reference = "wright1997",
    .accepts = MOR_LCP | MOR_MLCP | MOR_CQP,
    .options_size = sizeof(interior_options),
    .fields = fields,
    .max_iter = 200,
    .solve = interior_solve,
};
