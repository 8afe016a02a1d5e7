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
 * nothing and do not make it singular. nu follows p exactly, so only r_u is carried. Frictionless contacts are pairs
 * 0 <= p _|_ u >= 0. Bounded rows lower <= p <= upper have a multiplier for each finite bound, u = z_l - z_u. Equations
 * are met by multipliers, u + delta dp = 0 with delta = 1e-8 of their diagonal, which the next iteration undoes.
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
 * followed to the end in half, and one of several in turn in three quarters.
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
#include "base/elementary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "problem/step.h"
#include "solver/lorentz.h"
#include "solver/tree_matrix.h"
#include "solver/tree_newton.h"

/* LARGE: rows from which a path that jams is worth much work; smaller problems are better left to other methods */
enum { MOST_ROWS = 6, MOST_STEPS = 80, LARGE = 300 };
#define DELTA 1e-8    /* compliance of equations, of their diagonal of W: undone by the next iteration */
#define SHORT_OF 0.95 /* part of the way to the boundary that a step may take */
/* and where the predictor alone brings the complementarity down by more than this, nothing curves the path any more */
#define STRAIGHT 1e-6
#define ROUNDING 1e-9 /* mean complementarity at which rounding begins to decide how large r_u is */
#define JAMMED 0.1    /* a shorter predictor is tried again with less of the derivative of |u_T| */
#define SHORT_OF_STRAIGHT 0.9995

typedef enum kind { CONE, PAIR, BOUNDED, EQUATION } kind;

typedef struct ip {
    const mor_step_form* step;
    kind* kinds;
    double* scale; /* row_count: Q and the row's own unit; p = scale p~ size, u~ = scale u / size */
    double* unit;  /* 1/scale */
    double size;   /* m/s: of the data */
    double *p, *u; /* scaled: p~ and u~; bounded rows: p~ and z_l - z_u */
    double *lower, *upper, *z_lower, *z_upper; /* of bounded rows, scaled; at the row's number */
    double *dp, *du, *r, *ru, *g, *spare;
    double *v, *eta, *lambda; /* scaling: 3 per block, 1, row_count */
    double* H;                /* scaled, at diagonal_start; then in the units of the step */
    double *nu, *dnu, *rows, *impulses;
    mor_tree_matrix* K;
    double share; /* of the derivative of |u_T| in T: 1, less where the path is jammed */
    double round; /* r of |u_T|, scaled; 0: sharp */
} ip;

/* ----------------------------------------------------------------------------------- start */

static const char* unfit(const mor_step_form* s)
{
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        if (b->kind == MOR_BLOCK_CONTACT && (b->dim > 3 || mor_block_is_polygonal(b)))
            return "takes circular cones without rolling friction";
        if (b->kind == MOR_BLOCK_CONTACT && b->dim > 1 && !(b->mu > 0.0))
            return "a contact with tangents but no friction";
    }
    return mor_tree_matrix_unfit(s);
}

static bool allocate(ip* I, const mor_step_form* s, mor_tree_matrix* K, mor_arena* arena)
{
    size_t n = (size_t)s->row_count + 1, blocks = (size_t)s->block_count + 1, dof = (size_t)s->dof + 1, squares = 0;
    for (int c = 0; c < s->block_count; c++) {
        size_t end = (size_t)(s->diagonal_start[c] + s->blocks[c].dim * s->blocks[c].dim);
        if (end > squares) squares = end;
    }
    *I = (ip){ .step = s, .K = K };
    I->kinds = mor_arena_alloc(arena, blocks * sizeof *I->kinds);
    double* v = mor_arena_zero(arena, 18 * n + 4 * blocks + 2 * dof + squares, sizeof *v);
    if (!I->kinds || !v || !K) return false;
    double** rows[] = { &I->scale, &I->p,  &I->u, &I->lower, &I->upper, &I->z_lower, &I->z_upper,  &I->dp,  &I->du,
                        &I->r,     &I->ru, &I->g, &I->spare, &I->rows,  &I->lambda,  &I->impulses, &I->unit };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++, v += n) *rows[k] = v;
    I->v = v, v += 3 * blocks;
    I->eta = v, v += blocks;
    I->nu = v, v += dof;
    I->dnu = v, v += dof;
    I->H = v;
    return true;
}

static void find_units(ip* I)
{
    const mor_step_form* s = I->step;
    I->size = 0.0;
    mor_step_rows(s, s->nu_free, I->rows);
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        const double* W = s->diagonal + s->diagonal_start[c];
        int d = b->dim;
        I->kinds[c] = b->kind == MOR_BLOCK_EQUATION  ? EQUATION
                      : b->kind == MOR_BLOCK_BOUNDED ? BOUNDED
                      : d == 1                       ? PAIR
                                                     : CONE;
        double trace = 0.0;
        for (int i = 0; i < d; i++) {
            double q = I->kinds[c] == CONE && i == 0 ? 1.0 / b->mu : 1.0;
            trace += q * q * W[i * d + i];
        }
        double unit = trace > 0.0 ? sqrt(d / trace) : 1.0;
        for (int i = 0; i < d; i++) {
            I->scale[b->row + i] = unit * (I->kinds[c] == CONE && i == 0 ? 1.0 / b->mu : 1.0);
            I->unit[b->row + i] = 1.0 / I->scale[b->row + i];
            I->size = mor_max(I->size, fabs(I->scale[b->row + i] * I->rows[b->row + i]));
        }
    }
    if (!(I->size > 0.0)) I->size = 1.0;
}

static void begin(ip* I)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int row = b->row;
        if (I->kinds[c] == EQUATION) continue;
        if (I->kinds[c] != BOUNDED) {
            I->p[row] = I->u[row] = 1.0;
            continue;
        }
        double unit = I->scale[row] * I->size, lower = b->lower / unit, upper = b->upper / unit;
        I->lower[row] = lower, I->upper[row] = upper;
        I->z_lower[row] = isfinite(lower) ? 1.0 : 0.0;
        I->z_upper[row] = isfinite(upper) ? 1.0 : 0.0;
        I->p[row] = isfinite(lower) && isfinite(upper) ? 0.5 * (lower + upper)
                    : isfinite(lower)                  ? lower + 1.0
                    : isfinite(upper)                  ? upper - 1.0
                                                       : 0.0;
    }
}

/* --------------------------------------------------------------------------------- iteration */

static void unscale(const ip* I, double* p)
{
    for (int i = 0; i < I->step->row_count; i++) p[i] = I->scale[i] * I->size * I->p[i];
}

/* |u_T| of a cone, rounded. */
static double slip_speed(const ip* I, const mor_block* b)
{
    const double* u = I->u + b->row;
    if (!(I->round > 0.0)) return b->dim == 3 ? mor_hypot(u[1], u[2]) : fabs(u[1]);
    double x = u[1], y = b->dim == 3 ? u[2] : 0.0;
    return sqrt(x * x + y * y + I->round * I->round) - I->round;
}

/* Takes |u_T| out of r_u, with the rounding that belongs to the complementarity. Returns the largest r_u of a cone. */
static double subtract_slip(ip* I, double round)
{
    const mor_step_form* s = I->step;
    double most = 0.0;
    I->round = round;
    for (int c = 0; c < s->block_count; c++) {
        int row = s->blocks[c].row;
        if (I->kinds[c] != CONE) continue;
        I->ru[row] -= slip_speed(I, &s->blocks[c]);
        most = mor_max(most, fabs(I->ru[row]));
    }
    return most;
}

/* nu of the impulses, r_u of every row but for |u_T|; the mean complementarity. */
static double evaluate(ip* I)
{
    const mor_step_form* s = I->step;
    unscale(I, I->impulses);
    mor_step_velocity(s, I->impulses, I->nu);
    mor_step_rows(s, I->nu, I->rows);
    const double per_size = 1.0 / I->size;
    double gap = 0.0;
    int count = 0;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int row = b->row;
        for (int i = row; i < row + b->dim; i++) {
            double v = I->scale[i] * per_size * I->rows[i];
            I->ru[i] = I->kinds[c] == EQUATION ? v : I->u[i] - v;
        }
        if (I->kinds[c] == BOUNDED) {
            I->ru[row] = I->z_lower[row] - I->z_upper[row] - I->scale[row] / I->size * I->rows[row];
            if (I->upper[row] == I->lower[row]) continue;
            if (isfinite(I->lower[row])) gap += I->z_lower[row] * (I->p[row] - I->lower[row]), count++;
            if (isfinite(I->upper[row])) gap += I->z_upper[row] * (I->upper[row] - I->p[row]), count++;
        } else if (I->kinds[c] != EQUATION) {
            for (int i = row; i < row + b->dim; i++) gap += I->p[i] * I->u[i];
            count++;
        }
    }
    return count ? gap / count : 0.0;
}

/* Stiffness of a bounded row: du = ... - D dp. */
static double bounded_stiffness(const ip* I, int row)
{
    double D = 0.0;
    if (isfinite(I->lower[row])) D += I->z_lower[row] / (I->p[row] - I->lower[row]);
    if (isfinite(I->upper[row])) D += I->z_upper[row] / (I->upper[row] - I->p[row]);
    return D;
}

/* Direction of slip: the derivative of |u_T|, or a share of it. */
static void slip(const ip* I, int c, double* tau)
{
    const mor_block* b = &I->step->blocks[c];
    tau[0] = tau[1] = 0.0;
    if (I->kinds[c] != CONE) return;
    const double* u = I->u + b->row;
    double x = u[1], y = b->dim == 3 ? u[2] : 0.0, s = sqrt(x * x + y * y + I->round * I->round);
    if (s > 0.0) tau[0] = I->share * x / s, tau[1] = I->share * y / s;
}

/* Scalings of all blocks and the factor of the matrix. */
static bool factor(ip* I)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int d = b->dim, row = b->row;
        double *H = I->H + s->diagonal_start[c], V2[9];
        memset(H, 0, (size_t)(d * d) * sizeof *H);
        if (I->kinds[c] == EQUATION)
            for (int i = 0; i < d; i++) H[i * d + i] = 1.0 / DELTA;
        else if (I->kinds[c] == BOUNDED) {
            double D = bounded_stiffness(I, row);
            H[0] = I->upper[row] == I->lower[row] ? 0.0 : D > 0.0 ? 1.0 / D : 1.0 / DELTA;
        } else {
            if (!mor_lorentz_scaling(d, I->u + row, I->p + row, I->v + 3 * c, &I->eta[c], V2, I->lambda + row))
                return false;
            double tau[2];
            slip(I, c, tau);
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) H[i * d + j] = V2[i * 3 + j] + (j ? V2[i * 3] * tau[j - 1] : 0.0);
        }
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) H[i * d + j] *= I->scale[row + i] * I->scale[row + j];
    }
    return mor_tree_matrix_factor(I->K, I->H);
}

/* The part of dp that does not depend on dnu: V^-1 r + V^-2 r_u and its like. r: aims of cones and pairs, already
 * divided by lambda; for bounded rows the aim of the complementarity, `second` the products of the predictor. */
static void constant_part(ip* I, double aim, bool second)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int d = b->dim, row = b->row;
        if (I->kinds[c] == EQUATION) {
            for (int i = row; i < row + d; i++) I->g[i] = -I->ru[i] / DELTA;
        } else if (I->kinds[c] == BOUNDED) {
            double D = bounded_stiffness(I, row), q = I->ru[row];
            double below = I->p[row] - I->lower[row], above = I->upper[row] - I->p[row], dp = second ? I->dp[row] : 0.0;
            if (isfinite(below)) {
                double dz = second ? -I->z_lower[row] - I->z_lower[row] * dp / below : 0.0; /* of the predictor */
                q += (aim - (second ? dz * dp : 0.0)) / below - I->z_lower[row];
            }
            if (isfinite(above)) {
                double dz = second ? -I->z_upper[row] + I->z_upper[row] * dp / above : 0.0;
                q -= (aim + (second ? dz * dp : 0.0)) / above - I->z_upper[row];
            }
            I->g[row] = I->upper[row] == I->lower[row] ? 0.0 : D > 0.0 ? q / D : q / DELTA;
        } else {
            const double* H = I->H + s->diagonal_start[c];
            double x[3], y[3];
            mor_lorentz_scale(d, I->v + 3 * c, I->eta[c], true, I->r + row, x);
            for (int j = 0; j < d; j++) y[j] = I->ru[row + j] * I->unit[row + j];
            for (int i = 0; i < d; i++) {
                double sum = 0.0;
                for (int j = 0; j < d; j++) sum += H[i * d + j] * y[j];
                I->g[row + i] = x[i] + sum * I->unit[row + i];
            }
        }
    }
}

/* dnu, du~, dp~ from g. */
static void direction(ip* I)
{
    const mor_step_form* s = I->step;
    const double per_size = 1.0 / I->size;
    int n = s->row_count;
    for (int i = 0; i < n; i++) I->spare[i] = I->scale[i] * I->size * I->g[i];
    mor_step_forces(s, I->spare, I->dnu);
    mor_tree_matrix_solve(I->K, I->dnu);
    mor_step_rows(s, I->dnu, I->spare);
    for (int i = 0; i < n; i++) I->spare[i] -= s->bias[i];
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        const double* H = I->H + s->diagonal_start[c];
        int d = b->dim;
        for (int i = 0; i < d; i++) {
            int k = b->row + i;
            double x = 0.0; /* H is in the units of the step: dp = scale H scale rows */
            for (int j = 0; j < d; j++) x += H[i * d + j] * I->spare[b->row + j];
            I->dp[k] = I->g[k] - x * I->unit[k] * per_size;
            I->du[k] = I->scale[k] * per_size * I->spare[k] - I->ru[k];
        }
        double tau[2];
        slip(I, c, tau);
        for (int j = 1; j < d && I->kinds[c] == CONE; j++) I->du[b->row] += tau[j - 1] * I->du[b->row + j];
    }
}

static double room_of_bounds(const ip* I, int row, double aim, double* dz_lower, double* dz_upper)
{
    double t = INFINITY, below = I->p[row] - I->lower[row], above = I->upper[row] - I->p[row], dp = I->dp[row];
    *dz_lower = *dz_upper = 0.0;
    if (I->upper[row] == I->lower[row]) return t;
    if (isfinite(below)) {
        *dz_lower = (aim - I->z_lower[row] * dp) / below - I->z_lower[row];
        if (dp < 0.0) t = mor_min(t, -below / dp);
        if (*dz_lower < 0.0) t = mor_min(t, -I->z_lower[row] / *dz_lower);
    }
    if (isfinite(above)) {
        *dz_upper = (aim + I->z_upper[row] * dp) / above - I->z_upper[row];
        if (dp > 0.0) t = mor_min(t, above / dp);
        if (*dz_upper < 0.0) t = mor_min(t, -I->z_upper[row] / *dz_upper);
    }
    return t;
}

/* Farthest step that stays inside. */
static double room(const ip* I, double aim)
{
    const mor_step_form* s = I->step;
    double t = INFINITY, a, b;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == EQUATION) continue;
        if (I->kinds[c] == BOUNDED) t = mor_min(t, room_of_bounds(I, row, aim, &a, &b));
        else
            t = mor_min(
                t, mor_min(mor_lorentz_room(d, I->p + row, I->dp + row), mor_lorentz_room(d, I->u + row, I->du + row)));
    }
    return t;
}

/* Mean complementarity after a step t. */
static double gap_after(const ip* I, double t)
{
    const mor_step_form* s = I->step;
    double gap = 0.0, a, b;
    int count = 0;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == EQUATION) continue;
        if (I->kinds[c] == BOUNDED) {
            if (I->upper[row] == I->lower[row]) continue;
            room_of_bounds(I, row, 0.0, &a, &b);
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
static void aim_cones(ip* I, double aim, bool second, double weight)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == EQUATION || I->kinds[c] == BOUNDED) continue;
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

static void move(ip* I, double t, double aim)
{
    const mor_step_form* s = I->step;
    for (int c = 0; c < s->block_count; c++) {
        int d = s->blocks[c].dim, row = s->blocks[c].row;
        if (I->kinds[c] == BOUNDED) {
            double a, b;
            room_of_bounds(I, row, aim, &a, &b);
            I->z_lower[row] += t * a, I->z_upper[row] += t * b;
        }
        for (int i = row; i < row + d; i++) I->p[i] += t * I->dp[i], I->u[i] += t * I->du[i];
    }
}

/* The predictor's direction, from the factor to dp~; false: no factor. */
static bool predict(ip* I, double share)
{
    I->share = share;
    if (!factor(I)) return false;
    aim_cones(I, 0.0, false, 0.0);
    constant_part(I, 0.0, false);
    direction(I);
    return true;
}

/* Follows the path; p: the best answer by the judge. */
static mor_status follow(ip* I, const mor_ip_path* path, mor_context* context, double* p, int* iterations)
{
    double best = INFINITY, previous = INFINITY;
    int quiet = 0;
    for (int it = 0; it < MOST_STEPS && it < context->max_iter; it++) {
        double gap = evaluate(I), behind = subtract_slip(I, path->rounding * gap);
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
        for (double share = 0.5; large && share >= 0.0 && room(I, 0.0) < JAMMED; share -= 0.25)
            if (!predict(I, share)) return MOR_NOT_CONVERGED;
        double t = mor_min(1.0, room(I, 0.0)), after = gap_after(I, t), sigma = gap > 0.0 ? after / gap : 0.0;
        sigma = t > 0.1 ? mor_min(0.9, sigma * sigma * sigma) : 0.9;
        double aim = mor_max(sigma, 0.0) * gap;
        if (gap > ROUNDING) aim = mor_max(aim, mor_min(gap, path->balance * behind));
        double weight = t > 0.1 ? 1.0 : 0.0;
        aim_cones(I, aim, true, weight);
        constant_part(I, aim, true);
        direction(I);
        t = mor_min(1.0, (sigma < STRAIGHT ? SHORT_OF_STRAIGHT : SHORT_OF) * room(I, aim));
        move(I, t, aim);
        ++*iterations;
    }
    return MOR_NOT_CONVERGED;
}

mor_report mor_ip_tree(const mor_problem* problem, const mor_ip_path* path, mor_tree_matrix* K, mor_context* context,
                       double* p)
{
    mor_report report = { .status = MOR_REFUSED };
    const char* why = unfit(&problem->step);
    if (why) {
        snprintf(report.detail, sizeof report.detail, "%s", why);
        return report;
    }
    ip I;
    if (!allocate(&I, &problem->step, K, context->arena)) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    find_units(&I);
    begin(&I);
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
    if (!unfit(&problem->step)) {
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
        if (report.status != MOR_NOT_CONVERGED) break;
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
