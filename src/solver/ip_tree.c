/* ip-tree: interior point on tree velocities, for steps with circular cones.
 *
 * Contacts. With Q = diag(1/mu, 1, 1), p = Q p~ and u~ = Q u + |u_T| e_n (De Saxce), Coulomb's law is a complementarity
 * of Lorentz cones L = { x_0 >= |x_1| },
 *
 *     L contains p~ _|_ u~ in L,
 *
 * so a central path can be followed: p~ o u~ = tau e with the Jordan product, tau -> 0. With the scaling of Nesterov
 * and Todd, V^-1 u~ = V p~, and T = I + e_n t', t = u_T/|u_T| the derivative of the term that makes the problem
 * non-convex, a step of Newton's method is
 *
 *     V^-1 du~ + V dp~ = r,   du~ = T (Q G' dnu - r_u),   M dnu = G Q dp~,    r_u = u~ - (Q u + |u_T| e_n),
 *     [M + sum_c G_c Q V^-2 T Q G_c'] dnu = sum_c G_c Q (V^-1 r + V^-2 T r_u).
 *
 * The matrix has the size of the velocities and the graph of the bodies (tree_matrix.h): redundant contacts cost
 * nothing and do not make it singular. nu follows p exactly in small problems, so that only r_u is carried. In large
 * ones, whose paths are long, that would end them at tau = 1e-12: dp~ is known to V^-2 times the rounding of du~ only,
 * and comes out in u~, which is as small as tau where contacts press. There nu moves by dnu, and what rounding leaves
 * of the momentum, M (nu - nu_free) - G p, goes into the next step. Frictionless contacts are pairs 0 <= p _|_ u >= 0.
 * Bounded rows lower <= p <= upper have a multiplier for each finite bound, u = z_l - z_u. Equations are met by
 * multipliers, u + delta dp = 0 with delta = 1e-8 of their diagonal, which the next iteration undoes.
 *
 * |u_T| makes the problem non-convex: on large piles the path may end, with steps that become ever shorter, long before
 * tau is small. Three cures, for large problems:
 *   - Contacts that stick have u_T of the order of tau, and its direction, which |u_T| follows, turns at every step.
 *     sqrt(|u_T|^2 + r^2) - r with r proportional to tau is smooth there, and the same where a contact slides.
 *   - Without the derivative of |u_T|, T = I, the direction is that of a convex problem with |u_T| as data, as in
 *     Cadoux's fixed point, and does not jam; it leaves a residual r_u. Where the predictor is short, a half, a quarter
 *     and nothing of the derivative is tried.
 *   - The complementarity waits until r_u has come down as well; a path that runs ahead ends at the answer of another
 *     problem.
 * Of 97 problems from silos of 64 rough spheres on which the sharp path ended early, the rounded and balanced one is
 * followed to the end in half, and one of several in turn in three quarters. The path itself turns back there: ip_arc.c
 * follows it round its folds, and solves nine in ten of them.
 *
 * Predictor and corrector of Mehrotra with one factor. The path ends where rounding does, at errors of 1e-6 to 1e-8 of
 * the speeds; there the state of each contact is known, and Newton's method (tree_newton.h) goes from there to the
 * tolerance. Every contact is treated alike, so the answer has the symmetry of the problem and, where impulses are not
 * unique, lies in the middle of them. It takes 15 to 40 iterations, hardly more for a thousand bodies than for ten; a
 * guess is of no use to it.
 *
 * iterations: those of the interior point method, then the Newton steps.
 * References: Nesterov & Todd (1998), Primal-dual interior-point methods for self-scaled cones; Mehrotra (1992), On the
 * implementation of a primal-dual interior point method; De Saxce & Feng (1998), The bipotential method; Acary, Cadoux,
 * Lemarechal & Malick (2011), A formulation of the linear discrete Coulomb friction problem via convex optimization;
 * Acary, Armand, Nguyen & Shpakovych (2024), Second order cone programming for frictional contact mechanics using
 * interior point algorithm. */
#include "solver/ip_tree.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "solver/ip_arc.h"
#include "solver/ip_system.h"
#include "solver/lorentz.h"
#include "solver/tree_newton.h"

enum { MOST_STEPS = 80, LARGE = MOR_IP_LARGE };
#define SHORT_OF 0.95 /* part of the way to the boundary that a step may take */
/* and where the predictor alone brings the complementarity down by more than this, nothing curves the path any more */
#define STRAIGHT 1e-6
#define ROUNDING 1e-9 /* mean complementarity at which rounding begins to decide how large r_u is */
#define JAMMED 0.1    /* a shorter predictor is tried again with less of the derivative of |u_T| */
#define SHORT_OF_STRAIGHT 0.9995

/* Mean complementarity after a step t. */
static double gap_after(const mor_ip* I, double t)
{
    const mor_step_form* s = I->step;
    double gap = 0.0, a, b;
    int count = 0;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == MOR_IP_EQUATION) continue;
        if (I->kinds[c] == MOR_IP_BOUNDED) {
            if (I->upper[row] == I->lower[row]) continue;
            mor_ip_room_of_bounds(I, row, 0.0, &a, &b);
            double p = I->p[row] + t * I->dp[row];
            if (isfinite(I->lower[row])) gap += (I->z_lower[row] + t * a) * (p - I->lower[row]), count++;
            if (isfinite(I->upper[row])) gap += (I->z_upper[row] + t * b) * (I->upper[row] - p), count++;
            continue;
        }
        for (int i = row; i < row + d; i++) gap += (I->p[i] + t * I->dp[i]) * (I->u[i] + t * I->du[i]);
        count++;
    }
    return count ? gap / count : 0.0;
}

/* Aims of cones and pairs: the predictor's -lambda, or the corrector's. `weight` of the second-order term: 0 where the
 * predictor ended at the boundary at once, and tells nothing. */
static void aim_cones(mor_ip* I, double aim, bool second, double weight)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == MOR_IP_EQUATION || I->kinds[c] == MOR_IP_BOUNDED) continue;
        const double *lambda = I->lambda + row, *v = I->v + 3 * c;
        if (!second) {
            for (int i = 0; i < d; i++) I->r[row + i] = -lambda[i];
            continue;
        }
        double a[3], b[3], product[3], square[3];
        mor_lorentz_scale(d, v, I->eta[c], false, I->dp + row, a);
        mor_lorentz_scale(d, v, I->eta[c], true, I->du + row, b);
        mor_lorentz_product(d, a, b, product);
        mor_lorentz_product(d, lambda, lambda, square);
        for (int i = 0; i < d; i++) product[i] = -square[i] - weight * product[i] + (i == 0 ? aim : 0.0);
        mor_lorentz_divide(d, lambda, product, I->r + row);
    }
}

static void move(mor_ip* I, double t, double aim)
{
    const mor_step_form* s = I->step;
    I->carries = s->row_count > LARGE;
    for (int i = 0; I->carries && i < s->dof; i++) I->nu[i] += t * I->dnu[i];
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == MOR_IP_BOUNDED) {
            double a, b;
            mor_ip_room_of_bounds(I, row, aim, &a, &b);
            I->z_lower[row] += t * a, I->z_upper[row] += t * b;
        }
        for (int i = row; i < row + d; i++) I->p[i] += t * I->dp[i], I->u[i] += t * I->du[i];
    }
}

/* The predictor's direction, from the factor to dp~; false: no factor. */
static bool predict(mor_ip* I, double share)
{
    I->share = share;
    if (!mor_ip_factor(I)) return false;
    aim_cones(I, 0.0, false, 0.0);
    mor_ip_constant_part(I, 0.0, MOR_IP_PREDICTOR);
    mor_ip_direction(I);
    return true;
}

/* Follows the path; p: the best answer by the judge. */
static mor_status follow(mor_ip* I, const mor_ip_path* path, mor_context* context, double* p, int* iterations)
{
    double best = INFINITY, previous = INFINITY;
    int quiet = 0;
    for (int it = 0; it < MOST_STEPS && it < context->max_iter; it++) {
        double gap = mor_ip_evaluate(I), behind = mor_ip_subtract_slip(I, path->rounding * gap);
        double error = context->error(context, I->impulses, NULL);
        if (context->trace) mor_trace_add(context, it, 1.0, I->impulses);
        if (isnan(error)) return MOR_NUMERICAL;
        quiet = error < 0.9 * best ? 0 : quiet + 1;
        if (error < best) {
            best = error;
            memcpy(p, I->impulses, (size_t)I->step->row_count * sizeof *p);
        }
        if (best <= context->tol && !mor_worth_going_on(context, error, previous)) return MOR_SOLVED;
        previous = error;
        if (quiet > path->patience || !predict(I, 1.0)) break;
        if (mor_out_of_time(context)) return MOR_TIME_LIMIT;
        bool large = I->step->row_count > LARGE;
        for (double share = 0.5; large && share >= 0.0 && mor_ip_room(I, 0.0) < JAMMED; share -= 0.25)
            if (!predict(I, share)) return MOR_NOT_CONVERGED;
        double t = mor_min(1.0, mor_ip_room(I, 0.0)), after = gap_after(I, t), sigma = gap > 0.0 ? after / gap : 0.0;
        sigma = t > 0.1 ? mor_min(0.9, sigma * sigma * sigma) : 0.9;
        double aim = mor_max(sigma, 0.0) * gap;
        if (gap > ROUNDING) aim = mor_max(aim, mor_min(gap, path->balance * behind));
        double weight = t > 0.1 ? 1.0 : 0.0;
        aim_cones(I, aim, true, weight);
        mor_ip_constant_part(I, aim, MOR_IP_CORRECTOR);
        mor_ip_direction(I);
        t = mor_min(1.0, (sigma < STRAIGHT ? SHORT_OF_STRAIGHT : SHORT_OF) * mor_ip_room(I, aim));
        move(I, t, aim);
        ++*iterations;
    }
    return MOR_NOT_CONVERGED;
}

mor_report mor_ip_tree(const mor_problem* problem, const mor_ip_path* path, mor_tree_matrix* K, mor_context* context,
                       double* p)
{
    mor_report report = { .status = MOR_REFUSED };
    const char* why = mor_ip_unfit(&problem->step);
    if (why) {
        snprintf(report.detail, sizeof report.detail, "%s", why);
        return report;
    }
    mor_ip I;
    if (!mor_ip_open(&I, &problem->step, K, context->arena)) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    report.status = follow(&I, path, context, p, &report.iterations);
    return report;
}

/* Which path a problem allows cannot be seen beforehand. The sharp one is the shortest where it can be followed. */
const mor_ip_path* mor_ip_paths(int rows, int* count)
{
    static const mor_ip_path small[] = { { .patience = 8 } },
                             large[] = { { .patience = 8 }, { 0.3, 0.01, 16 }, { 0.03, 0.1, 16 }, { 0.1, 0.1, 16 } };
    *count = rows > LARGE ? 4 : 1;
    return rows > LARGE ? large : small;
}

/* Large piles take up to a hundred steps, with little regularisation. */
const mor_tree_newton_settings* mor_ip_tree_polish(int rows)
{
    static const mor_tree_newton_settings
        small = { .sigma = 1.0, .floor = 1e-8, .adapt = true, .window = 8, .max_iter = 60, .give_up = 20 },
        large = { .sigma = 0.01, .floor = 1e-8, .adapt = true, .window = 8, .max_iter = 100 };
    return rows > LARGE ? &large : &small;
}

/* One path, and Newton's method from its end. */
static mor_report follow_and_polish(const mor_problem* problem, const mor_ip_path* path, mor_tree_matrix* K,
                                    mor_context* context, double* p)
{
    mor_report report = mor_ip_tree(problem, path, K, context, p);
    if (report.status != MOR_NOT_CONVERGED) return report;
    mor_report second = mor_tree_newton(problem, mor_ip_tree_polish(problem->size), K, context, p);
    snprintf(second.detail, sizeof second.detail, "path(%d) newton(%d)", report.iterations, second.iterations);
    second.iterations += report.iterations;
    return second;
}

static mor_report ip_tree_solve(const mor_problem* problem, const void* options, mor_context* context, double* p)
{
    (void)options;
    mor_tree_matrix* K = NULL;
    if (!mor_ip_unfit(&problem->step)) {
        K = mor_arena_alloc(context->arena, sizeof *K);
        if (!K || !mor_tree_matrix_open(K, &problem->step, context->arena))
            return (mor_report){ .status = MOR_NUMERICAL, .detail = "out of memory" };
    }
    int count, iterations = 0;
    const mor_ip_path* paths = mor_ip_paths(problem->size, &count);
    double best = INFINITY, *z = mor_arena_zero(context->arena, (size_t)problem->size + 1, sizeof *z);
    mor_report report = { .status = MOR_NUMERICAL, .detail = "out of memory" };
    for (int k = 0; z && k < count; k++) {
        report = follow_and_polish(problem, &paths[k], K, context, z);
        report.iterations = iterations += report.iterations;
        if (report.status == MOR_REFUSED) return report;
        double error = context->error(context, z, NULL);
        if (k == 0 || error < best) best = error, memcpy(p, z, (size_t)problem->size * sizeof *p);
        if (report.status != MOR_NOT_CONVERGED) return report;
    }
    for (int k = 0; z && k < 2 && report.status == MOR_NOT_CONVERGED; k++) {
        report = mor_ip_arc(problem, &mor_ip_arcs[k], K, context, z);
        report.iterations = iterations += report.iterations;
        double error = context->error(context, z, NULL);
        if (error < best) best = error, memcpy(p, z, (size_t)problem->size * sizeof *p);
    }
    return report;
}

extern const mor_solver mor_solver_ip_tree;
const mor_solver mor_solver_ip_tree = {
    .name = "ip-tree",
    .summary = "interior point on tree velocities, then Newton's method",
    .reference = "acary2024",
    .accepts = MOR_STEP_CONE,
    .max_iter = 200,
    .solve = ip_tree_solve,
};
