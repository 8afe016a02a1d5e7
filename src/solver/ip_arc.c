/* The central path of ip_tree.c round its folds.
 *
 * |u_T| makes Coulomb's law non-convex, and the path p~ o u~ = tau e need not be a function of tau: on piles and in
 * silos it turns back, tau grows for a while, and turns again. A method that only lets tau fall ends at the first
 * fold. Here the path is followed by its length (Keller). With the residual r_u carried along as in an infeasible
 * method, the curve
 *
 *     p~ o u~ = tau e,    r_u(p~, u~, tau) = tau/tau_0 r_u0,
 *
 * begins at p~ = u~ = e, tau_0 = 1, where it holds as it stands. |u_T| is rounded, sqrt(|u_T|^2 + r^2) - r, r
 * proportional to tau, so that the curve is smooth. In general data such a curve has no branches and leads to tau = 0,
 * or to infinity where there is no answer.
 *
 * At each point one factor of the matrix of ip_tree.c gives two directions: d0 brings the residuals down at the same
 * tau, t is the change with log tau. Both are measured in the scaling of Nesterov and Todd, |V dp~|/sqrt(tau), in
 * which a unit step reaches the boundary of its cone. The correction c = d0 - (d0, t)/(t, t) t is orthogonal to the
 * curve; the step along it goes on in the sense of the last one, whichever way tau goes. A step is taken back and made
 * shorter where the correction after it is large or the tangent has turned too far; and where that is of no use, the
 * point it began from was not near enough to the curve for its tangent, and is corrected first.
 *
 * From points on the way, at every tenth of tau below 1e-8, Newton's method is tried, as at the end of a path in
 * ip_tree.c. Of 33 problems of silos of 64 rough spheres that no other method of auto brought below 1e-8 m/s, 29 are
 * solved, in 250 factors each; their paths have up to ten folds. What is left are piles at rest, whose gaps of 1e-11 m
 * ask for impulses that differ as a whole.
 *
 * iterations: factors, and Newton steps. References: Keller (1977), Numerical solution of bifurcation and nonlinear
 * eigenvalue problems; Allgower & Georg (1990), Numerical continuation methods; Acary, Armand, Nguyen & Shpakovych
 * (2024), Second order cone programming for frictional contact mechanics using interior point algorithm. */
#include "solver/ip_arc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "solver/ip_system.h"
#include "solver/lorentz.h"
#include "solver/tree_newton.h"

enum { MOST_CORRECTIONS = 5, MOST_REJECTED = 12, NEWTON_STEPS = 40 };
#define LONGEST 0.6    /* step, in the scaling of its worst cone */
#define NEAR 0.1       /* correction, in the same, of a point whose tangent is good enough */
#define VERY_NEAR 0.01 /* after a step that had to be taken back twice */
#define TOO_FAR 1.0    /* correction that takes a step back */
#define WANTED 0.1     /* correction after a step of the right length */
#define TURNED 0.7     /* cosine between tangents that takes a step back */
#define FIRST_NEWTON 1e-8
#define LAST_TAU 1e-13
#define WITHOUT_BOUND 1e8 /* scaled impulses of a step without an answer, to which the path leads away */

const mor_ip_arc_settings mor_ip_arcs[2] = { { 1.0, 0.3, 800 }, { 0.3, 0.1, 800 } };

/* A change of the iterate; of bounded rows also that of their multipliers. In the scaling, q has its parts of p~, then
 * of u~. */
typedef struct motion {
    double *dp, *du, *dz_lower, *dz_upper, *q;
    double log_tau;
    double worst; /* block */
} motion;

typedef struct arc {
    mor_ip I;
    const mor_ip_arc_settings* settings;
    int n;
    double tau;
    double* first;            /* r_u0 */
    motion correction, slope; /* c and t of the point that was looked at last */
    double cosine;            /* of t against the tangent of the step that led here */
    /* the point from which steps are made */
    double *p, *u, *z_lower, *z_upper, from;
    motion back, along; /* its c, and t as a unit vector that points ahead */
    double *q, *q_before;
    double ahead, ahead_before; /* unit tangents at that point and the one before: their parts of log tau */
    bool begun;
} arc;

/* ------------------------------------------------------------------------------- memory */

static double* take(double** memory, int count)
{
    double* at = *memory;
    *memory += count;
    return at;
}

static void open_motion(motion* m, double** memory, int n)
{
    m->dp = take(memory, n), m->du = take(memory, n), m->dz_lower = take(memory, n), m->dz_upper = take(memory, n);
    m->q = take(memory, 2 * n);
}

/* On the curve from the beginning: bounded rows too. */
static void begin_bounds(mor_ip* I)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        int row = s->blocks[c].row;
        if (I->kinds[c] != MOR_IP_BOUNDED || I->upper[row] == I->lower[row]) continue;
        if (isfinite(I->lower[row])) I->z_lower[row] = 1.0 / (I->p[row] - I->lower[row]);
        if (isfinite(I->upper[row])) I->z_upper[row] = 1.0 / (I->upper[row] - I->p[row]);
    }
}

static bool open_arc(arc* A, const mor_step_form* s, const mor_ip_arc_settings* settings, mor_tree_matrix* K,
                     mor_arena* arena)
{
    *A = (arc){ .settings = settings, .n = s->row_count + 1, .tau = 1.0, .ahead = -1.0, .ahead_before = -1.0 };
    double* memory = mor_arena_zero(arena, 33 * (size_t)A->n, sizeof *memory);
    if (!memory || !mor_ip_open(&A->I, s, K, arena)) return false;
    motion* motions[] = { &A->correction, &A->slope, &A->back, &A->along };
    for (int k = 0; k < 4; k++) open_motion(motions[k], &memory, A->n);
    A->p = take(&memory, A->n), A->u = take(&memory, A->n);
    A->z_lower = take(&memory, A->n), A->z_upper = take(&memory, A->n);
    A->first = take(&memory, A->n);
    A->q = take(&memory, 2 * A->n), A->q_before = take(&memory, 2 * A->n);
    A->I.share = 1.0;
    begin_bounds(&A->I);
    return true;
}

static void copy(const arc* A, double* to, const double* from) { memcpy(to, from, (size_t)A->n * sizeof *to); }

static double product(const arc* A, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < 2 * A->n; i++) sum += a[i] * b[i];
    return sum * A->settings->weight;
}

/* --------------------------------------------------------------------------- directions */

/* m += t other */
static void add(const arc* A, motion* m, double t, const motion* other)
{
    for (int i = 0; i < A->n; i++) {
        m->dp[i] += t * other->dp[i], m->du[i] += t * other->du[i];
        m->dz_lower[i] += t * other->dz_lower[i], m->dz_upper[i] += t * other->dz_upper[i];
    }
    m->log_tau += t * other->log_tau;
}

/* q of a bounded row; the largest of its parts. */
static double measure_bounds(const mor_ip* I, int row, motion* m, double* q_p, double* q_u)
{
    double D = mor_ip_bounded_stiffness(I, row), most = 0.0;
    if (!(D > 0.0)) return 0.0;
    *q_p = sqrt(D) * m->dp[row], *q_u = (m->dz_lower[row] - m->dz_upper[row]) / sqrt(D);
    const double x[2] = { I->p[row] - I->lower[row], I->upper[row] - I->p[row] };
    const double z[2] = { I->z_lower[row], I->z_upper[row] }, dz[2] = { m->dz_lower[row], m->dz_upper[row] };
    for (int k = 0; k < 2; k++) {
        if (!isfinite(x[k])) continue;
        most = mor_max(most, mor_max(fabs(m->dp[row]) * sqrt(z[k] / x[k]), fabs(dz[k]) * sqrt(x[k] / z[k])));
    }
    return most;
}

/* q and the worst block of a motion. */
static void measure(const arc* A, motion* m)
{
    const mor_ip* I = &A->I;
    const mor_step_form* s = I->step;
    const double w = 1.0 / sqrt(A->tau);
    memset(m->q, 0, 2 * (size_t)A->n * sizeof *m->q);
    m->worst = 0.0;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        double *q_p = m->q + row, *q_u = m->q + A->n + row, x = 0.0, y = 0.0;
        if (I->kinds[c] == MOR_IP_EQUATION) continue;
        if (I->kinds[c] == MOR_IP_BOUNDED) {
            if (I->upper[row] == I->lower[row]) continue;
            m->worst = mor_max(m->worst, w * measure_bounds(I, row, m, q_p, q_u));
            *q_p *= w, *q_u *= w;
            continue;
        }
        mor_lorentz_scale(d, I->v + 3 * c, I->eta[c], false, m->dp + row, q_p);
        mor_lorentz_scale(d, I->v + 3 * c, I->eta[c], true, m->du + row, q_u);
        for (int i = 0; i < d; i++) {
            q_p[i] *= w, q_u[i] *= w;
            x += q_p[i] * q_p[i], y += q_u[i] * q_u[i];
        }
        double most = sqrt(mor_max(x, y));
        if (!(most <= m->worst)) m->worst = most;
    }
}

/* Solves for the aims in I->r and I->ru. */
static void solve(arc* A, mor_ip_aims aims, motion* m)
{
    mor_ip* I = &A->I;
    const mor_step_form* s = I->step;
    mor_ip_constant_part(I, A->tau, aims);
    mor_ip_direction(I);
    copy(A, m->dp, I->dp);
    copy(A, m->du, I->du);
    for (int c = 0; c < s->block_count; c++) {
        int row = s->blocks[c].row;
        if (I->kinds[c] != MOR_IP_BOUNDED) continue;
        mor_ip_room_of_bounds(I, row, A->tau, &m->dz_lower[row], &m->dz_upper[row]);
        if (aims != MOR_IP_TANGENT || I->upper[row] == I->lower[row]) continue;
        if (isfinite(I->lower[row])) m->dz_lower[row] += I->z_lower[row];
        if (isfinite(I->upper[row])) m->dz_upper[row] += I->z_upper[row];
    }
    m->log_tau = aims == MOR_IP_TANGENT ? 1.0 : 0.0;
}

/* Aims of cones and pairs: tau e, less what the products are (whole) or alone. */
static void aim(arc* A, bool whole)
{
    mor_ip* I = &A->I;
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == MOR_IP_EQUATION || I->kinds[c] == MOR_IP_BOUNDED) continue;
        double to[3] = { 0.0, 0.0, 0.0 };
        if (whole) mor_lorentz_product(d, I->lambda + row, I->lambda + row, to);
        for (int i = 0; i < d; i++) to[i] = (i == 0 ? A->tau : 0.0) - to[i];
        mor_lorentz_divide(d, I->lambda + row, to, I->r + row);
    }
}

/* r_u of the curve, changed with log tau. */
static void residual_slope(arc* A)
{
    mor_ip* I = &A->I;
    const mor_step_form* s = I->step;
    for (int i = 0; i < s->row_count; i++) I->ru[i] = -A->tau * A->first[i];
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        if (I->kinds[c] != MOR_IP_CONE) continue;
        double x = I->u[b->row + 1], y = b->dim == 3 ? I->u[b->row + 2] : 0.0, r = I->round;
        I->ru[b->row] -= (r / sqrt(x * x + y * y + r * r) - 1.0) * r;
    }
}

/* Residuals of the iterate; its impulses are in I->impulses. */
static void evaluate(arc* A, bool first)
{
    mor_ip* I = &A->I;
    mor_ip_evaluate(I);
    mor_ip_subtract_slip(I, A->settings->rounding * A->tau);
    if (first) copy(A, A->first, I->ru);
    for (int i = 0; i < I->step->row_count; i++) I->ru[i] -= A->tau * A->first[i];
}

/* c and t of the iterate. False: no factor. */
static bool look(arc* A)
{
    motion *c = &A->correction, *t = &A->slope;
    if (!mor_ip_factor(&A->I)) return false;
    aim(A, true);
    solve(A, MOR_IP_PREDICTOR, c);
    aim(A, false);
    residual_slope(A);
    solve(A, MOR_IP_TANGENT, t);
    measure(A, t);
    double square = product(A, t->q, t->q) + 1.0;
    A->cosine = A->begun ? (product(A, t->q, A->q) + A->ahead) / sqrt(square) : -1.0;
    if (A->begun) {
        measure(A, c);
        add(A, c, -product(A, c->q, t->q) / square, t);
    }
    measure(A, c);
    return c->worst < INFINITY && square < INFINITY;
}

/* -------------------------------------------------------------------------------- steps */

static double room(const arc* A, const motion* m)
{
    const mor_ip* I = &A->I;
    const mor_step_form* s = I->step;
    double t = INFINITY;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == MOR_IP_EQUATION) continue;
        if (I->kinds[c] != MOR_IP_BOUNDED) {
            t = mor_min(
                t, mor_min(mor_lorentz_room(d, I->p + row, m->dp + row), mor_lorentz_room(d, I->u + row, m->du + row)));
            continue;
        }
        if (m->dp[row] < 0.0) t = mor_min(t, (I->lower[row] - I->p[row]) / m->dp[row]);
        if (m->dp[row] > 0.0) t = mor_min(t, (I->upper[row] - I->p[row]) / m->dp[row]);
        if (m->dz_lower[row] < 0.0) t = mor_min(t, -I->z_lower[row] / m->dz_lower[row]);
        if (m->dz_upper[row] < 0.0) t = mor_min(t, -I->z_upper[row] / m->dz_upper[row]);
    }
    return t;
}

/* As far as 0.9 of the way to the boundary. */
static void move(arc* A, const motion* m)
{
    mor_ip* I = &A->I;
    double t = mor_min(1.0, 0.9 * room(A, m));
    for (int i = 0; i < A->n; i++) {
        I->p[i] += t * m->dp[i], I->u[i] += t * m->du[i];
        I->z_lower[i] += t * m->dz_lower[i], I->z_upper[i] += t * m->dz_upper[i];
    }
    A->tau *= mor_exp(t * m->log_tau);
}

static void copy_motion(const arc* A, motion* to, const motion* from)
{
    const motion own = *to;
    *to = *from;
    to->dp = own.dp, to->du = own.du, to->dz_lower = own.dz_lower, to->dz_upper = own.dz_upper, to->q = own.q;
    copy(A, to->dp, from->dp), copy(A, to->du, from->du);
    copy(A, to->dz_lower, from->dz_lower), copy(A, to->dz_upper, from->dz_upper);
}

/* The iterate is the point from which steps are made. */
static void keep(arc* A)
{
    const mor_ip* I = &A->I;
    copy(A, A->p, I->p), copy(A, A->u, I->u), copy(A, A->z_lower, I->z_lower), copy(A, A->z_upper, I->z_upper);
    A->from = A->tau;
    copy_motion(A, &A->back, &A->correction);
    copy_motion(A, &A->along, &A->slope);
    double f = (A->cosine < 0.0 && A->begun ? -1.0
                : A->begun                  ? 1.0
                                            : -1.0) /
               sqrt(product(A, A->slope.q, A->slope.q) + 1.0);
    memcpy(A->q_before, A->q, 2 * (size_t)A->n * sizeof *A->q);
    A->ahead_before = A->ahead;
    for (int i = 0; i < 2 * A->n; i++) A->q[i] = f * A->slope.q[i];
    A->ahead = f;
    for (int i = 0; i < A->n; i++) {
        A->along.dp[i] *= f, A->along.du[i] *= f, A->along.dz_lower[i] *= f, A->along.dz_upper[i] *= f;
    }
    A->along.log_tau = f, A->along.worst = fabs(f) * A->slope.worst;
    A->begun = true;
}

/* From there, corrected, and `length` ahead. */
static void step_ahead(arc* A, double length)
{
    mor_ip* I = &A->I;
    copy(A, I->p, A->p), copy(A, I->u, A->u), copy(A, I->z_lower, A->z_lower), copy(A, I->z_upper, A->z_upper);
    A->tau = A->from;
    copy_motion(A, &A->correction, &A->back);
    add(A, &A->correction, length, &A->along);
    move(A, &A->correction);
}

/* ------------------------------------------------------------------------------ the path */

typedef struct walk {
    double length, step, nearness, after; /* wanted, taken, c that is near enough, c after the last step */
    int corrections, rejected, in_a_row;
    bool recentred;
} walk;

/* The iterate is bad: a shorter step, or a better point to begin from. False: the end. */
static bool take_back(arc* A, walk* w)
{
    if (!A->begun || w->recentred || ++w->rejected > MOST_REJECTED) return false;
    w->length = 0.3 * mor_min(w->length, w->step);
    w->corrections = 0;
    if (++w->in_a_row < 2) {
        step_ahead(A, w->step = w->length);
        return true;
    }
    w->in_a_row = 0, w->nearness = VERY_NEAR, w->recentred = true;
    memcpy(A->q, A->q_before, 2 * (size_t)A->n * sizeof *A->q);
    A->ahead = A->ahead_before;
    step_ahead(A, 0.0);
    return true;
}

/* The iterate is near the curve: the next step. */
static void go_on(arc* A, walk* w)
{
    if (w->recentred) w->length = mor_max(w->length, 0.05);
    else if (A->begun) {
        double f = sqrt(WANTED / mor_max(w->after, 1e-3));
        w->length = mor_max(0.3, mor_min(2.0, f)) * mor_min(w->length, 2.0 * w->step);
        if (w->corrections > 1) w->length = mor_min(w->length, 0.7 * w->step);
        w->rejected = w->in_a_row = 0, w->nearness = mor_min(NEAR, 1.5 * w->nearness);
    }
    w->corrections = 0, w->recentred = false;
    keep(A);
    w->step = mor_min(w->length, mor_min(LONGEST / A->along.worst, 1.5 / fabs(A->ahead)));
    step_ahead(A, w->step);
}

/* Do the impulses grow without bound? */
static bool is_endless(const arc* A)
{
    double most = 0.0;
    for (int i = 0; i < A->n; i++) most = mor_max(most, fabs(A->I.p[i]));
    return most > WITHOUT_BOUND;
}

/* Newton's method from the iterate. */
static bool newton(arc* A, const mor_problem* problem, mor_context* context, double* best, double* p, int* iterations)
{
    static const mor_tree_newton_settings settings = {
        .sigma = 0.01, .floor = 1e-8, .adapt = true, .window = 8, .max_iter = NEWTON_STEPS
    };
    size_t mark = mor_arena_mark(context->arena), bytes = (size_t)problem->size * sizeof *p;
    double* z = mor_arena_alloc(context->arena, bytes + sizeof *z);
    if (!z) return false;
    memcpy(z, A->I.impulses, bytes);
    mor_report report = mor_tree_newton(problem, &settings, A->I.K, context, z);
    *iterations += report.iterations;
    double error = context->error(context, z, NULL);
    if (error < *best) *best = error, memcpy(p, z, bytes);
    mor_arena_release(context->arena, mark);
    return *best <= context->tol;
}

static mor_status follow(arc* A, const mor_problem* problem, mor_context* context, double* p, int* iterations)
{
    walk w = { .length = 0.3, .nearness = NEAR };
    double best = INFINITY, next = FIRST_NEWTON;
    const size_t bytes = (size_t)problem->size * sizeof *p;
    for (int it = 0; it < A->settings->max_iter; it++, ++*iterations) {
        evaluate(A, it == 0);
        double error = context->error(context, A->I.impulses, NULL);
        if (context->trace) mor_trace_add(context, *iterations, w.step, A->I.impulses);
        if (error < best) best = error, memcpy(p, A->I.impulses, bytes);
        if (best <= context->tol) return MOR_SOLVED;
        if (mor_out_of_time(context)) return MOR_TIME_LIMIT;
        bool factored = look(A);
        if (w.corrections == 0) w.after = A->correction.worst;
        bool near = factored && A->correction.worst <= w.nearness;
        bool lost = !factored || A->tau > 10.0 ||
                    (A->begun && (A->correction.worst > TOO_FAR || w.corrections > MOST_CORRECTIONS ||
                                  (near && fabs(A->cosine) < TURNED && !w.recentred)));
        if (lost) {
            if (!take_back(A, &w)) break;
            continue;
        }
        if (!near) {
            move(A, &A->correction);
            w.corrections++;
            continue;
        }
        if (A->tau < next) {
            next = 0.1 * A->tau;
            if (newton(A, problem, context, &best, p, iterations)) return MOR_SOLVED;
        }
        if (A->tau < LAST_TAU || is_endless(A)) break;
        go_on(A, &w);
    }
    return newton(A, problem, context, &best, p, iterations) ? MOR_SOLVED : MOR_NOT_CONVERGED;
}

mor_report mor_ip_arc(const mor_problem* problem, const mor_ip_arc_settings* settings, mor_tree_matrix* K,
                      mor_context* context, double* p)
{
    mor_report report = { .status = MOR_REFUSED };
    const char* why = mor_ip_unfit(&problem->step);
    if (why) {
        snprintf(report.detail, sizeof report.detail, "%s", why);
        return report;
    }
    arc A;
    if (!open_arc(&A, &problem->step, settings, K, context->arena)) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    report.status = follow(&A, problem, context, p, &report.iterations);
    return report;
}
