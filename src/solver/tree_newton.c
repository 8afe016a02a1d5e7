/* Newton's method in the space of velocities (tree_newton.h).
 *
 * With u = G' nu + b, nu = nu_free + M^-1 G p and F_c(p_c, u_c) = 0 per block of rows, the regularised step of nsn,
 *
 *   B_c dp_c + A_c (du_c + a_c dp_c) = -F_c,   du = G' dnu,   M dnu = G dp,   a_c = a/D_c^2, D_c = sqrt(d/trace W_cc),
 *
 * is solved for dp block by block, T_c = (B_c + a_c A_c)^-1:
 *
 *   dp_c = -T_c (F_c + A_c du_c),    [M + sum_c G_c T_c A_c G_c'] dnu = -sum_c G_c T_c F_c.
 *
 * The matrix has the size of the velocities and the graph of the bodies: piles of boxes have seven times fewer
 * velocities than contact rows, and redundant contacts cost nothing. The price: 1/a enters the matrix, so a must not
 * fall to rounding level: a step leaves about 1e-16/a of the error, which the next one removes, as F is computed from p
 * itself. a starts to fall from 1, stops at `floor` and grows by 4 when the steps there make no progress.
 *
 * Maps: contacts Alart-Curnier, with a disc or a polygon of friction; equations F = rho u; bounded rows F = p -
 * mid(lower, p - rho u, upper). Line search and regularisation as in contact_newton.h, on sum |F_c/D_c|^2.
 *
 * Least norm (mor_tree_least). Where impulses are not unique and contacts slide, the split decides the motion: friction
 * turns a plank on two rollers by the difference of the normal impulses along each line of contact, which no equation
 * determines. The answer taken is the limit of contacts that all yield a little, F(p, u + a p) = 0 for a -> 0. In each
 * step of Newton's method
 *
 *   P x = (B + A (W + a))^-1 A a x,    p <- p - P^2 p,    a = 1e-8,
 *
 * takes out what is not determined; P^2 changes the rest by the order of a^2. With G_E the normals of sliding and all
 * rows of sticking contacts, p_E is then orthogonal to { y: G_E y = 0 } in the metric a: of all ways to split the least
 * norm. All contacts are treated alike, so the answer is as symmetric as the problem, to rounding, whatever was the
 * start.
 *
 * Cost per iteration: assembly O(contacts), one LU by trees (tree_matrix.h; dense up to 90 velocities) and products
 * with G. iterations: Newton steps. References: Alart & Curnier (1991), A mixed formulation for frictional contact
 * problems prone to Newton like solution methods; Woodbury (1950), Inverting modified matrices. */
#include "solver/state_guess.h"
#include "solver/tree_newton.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/rows.h"
#include "problem/step.h"
#include "solver/contact_map.h"
#include "solver/local.h"

enum { MOST_ROWS = 6, MOST_DOF = 64, SHORTEST = 11, WINDOW = 64 };
#define TOUCH 1e-9      /* of the projection: rounding must not decide which of several contacts carry */
#define COMPLIANCE 1e-8 /* a of the projection: its square is below rounding */
#define SETTLED 1e-9    /* of the impulses: a step that changes them by no more has arrived */
#define NEARLY 1e-5     /* of the impulses: what is left is soft, see restore */
#define FINE 1e-3       /* of the error allowed: no more steps for its sake */

typedef struct tree_newton {
    const mor_step_form* step;
    mor_contact_law* law; /* per block */
    double* scale;        /* D per block */
    double beta;          /* size of the data, in scaled units */
    double touch;         /* times beta: a contact whose p - rho u is above minus this counts as closed */
    double *p, *u, *F, *dp, *du, *trial, *trial_u, *nu, *dnu, *moved;
    double *A, *TA, *T; /* per block, at diagonal_start */
    double* dense;      /* K, column-major; NULL: by trees */
    int* pivot;
    mor_tree_matrix* K;
} tree_newton;

/* -------------------------------------------------------------------------------- one block */

/* F and, with A and B not NULL, its derivatives. */
static void block_map(const tree_newton* N, int c, const double* p, const double* u, double* F, double* A, double* B)
{
    const mor_block* b = &N->step->blocks[c];
    const mor_contact_law* law = &N->law[c];
    int d = b->dim;
    if (b->kind == MOR_BLOCK_CONTACT && d > 1) {
        bool on = mor_contact_map_eval(MOR_MAP_ALART_CURNIER, d, law, N->touch * N->beta * N->scale[c], p, u, F, A, B);
        if (!on && A) {
            memset(A, 0, (size_t)(d * d) * sizeof *A);
            memset(B, 0, (size_t)(d * d) * sizeof *B);
            for (int i = 0; i < d; i++) B[i * d + i] = 1.0;
        }
        return;
    }
    if (A) memset(A, 0, (size_t)(d * d) * sizeof *A), memset(B, 0, (size_t)(d * d) * sizeof *B);
    for (int i = 0; i < d; i++) {
        double lower = -INFINITY, upper = INFINITY, x = p[i] - law->rho[0] * u[i];
        if (b->kind == MOR_BLOCK_CONTACT) lower = -N->touch * N->beta * N->scale[c];
        else if (b->kind == MOR_BLOCK_BOUNDED) lower = b->lower, upper = b->upper;
        bool fixed = x < lower || x > upper;
        double bound = b->kind == MOR_BLOCK_CONTACT ? 0.0 : x < lower ? lower : upper;
        F[i] = fixed ? p[i] - bound : law->rho[0] * u[i];
        if (A) A[i * d + i] = fixed ? 0.0 : law->rho[0], B[i * d + i] = fixed ? 1.0 : 0.0;
    }
}

static double merit(const tree_newton* N, const double* p, const double* u, double* F)
{
    double theta = 0.0;
    for (int c = 0; c < N->step->block_count; c++) {
        const mor_block* b = &N->step->blocks[c];
        block_map(N, c, p + b->row, u + b->row, F + b->row, NULL, NULL);
        double w = 1.0 / (N->scale[c] * N->scale[c]);
        for (int i = 0; i < b->dim; i++) theta += w * F[b->row + i] * F[b->row + i];
    }
    return theta;
}

/* T = M^-1 of a contact whose first row is (m, 0, 0), as those of Alart and Curnier are; false if singular. */
static bool invert_contact(const double* M, double* T)
{
    double det = M[4] * M[8] - M[5] * M[7];
    if (!(M[0] != 0.0) || !(fabs(det) > 0.0)) return false;
    double n = 1.0 / M[0], f = 1.0 / det;
    T[0] = n, T[1] = T[2] = 0.0;
    T[4] = M[8] * f, T[5] = -M[5] * f, T[7] = -M[7] * f, T[8] = M[4] * f;
    T[3] = -(T[4] * M[3] + T[5] * M[6]) * n, T[6] = -(T[7] * M[3] + T[8] * M[6]) * n;
    return true;
}

static bool invert3(const double* A, const double* B, double a, double* T, double* TA)
{
    double M[9];
    for (int i = 0; i < 9; i++) M[i] = B[i] + a * A[i];
    if (!invert_contact(M, T)) return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) TA[3 * i + j] = T[3 * i] * A[j] + T[3 * i + 1] * A[3 + j] + T[3 * i + 2] * A[6 + j];
    return true;
}

/* T = (B + a A)^-1 and T A; false if singular. */
static bool invert(int d, const double* A, const double* B, double a, double* T, double* TA)
{
    double M[MOST_ROWS * MOST_ROWS], e[MOST_ROWS];
    int pivot[MOST_ROWS];
    if (d == 3 && A[1] == 0.0 && A[2] == 0.0 && B[1] == 0.0 && B[2] == 0.0) return invert3(A, B, a, T, TA);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) M[i + j * d] = B[i * d + j] + a * A[i * d + j];
    if (!mor_lu_factor(d, M, pivot)) return false;
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) e[i] = i == j ? 1.0 : 0.0;
        mor_lu_solve(d, M, pivot, e);
        for (int i = 0; i < d; i++) T[i * d + j] = e[i];
    }
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double s = 0.0;
            for (int k = 0; k < d; k++) s += T[i * d + k] * A[k * d + j];
            TA[i * d + j] = s;
        }
    return true;
}

/* ---------------------------------------------------------------------------------- matrix */

/* out (rows of tree E, columns of tree F, column-major, m rows) += J_E' TA J_F for one block */
static inline void add_product(int d, int rows, int cols, const double* JE, const double* TA, const double* JF,
                               double* out, int m)
{
    double Q[MOST_ROWS * MOST_DOF];
    for (int r = 0; r < d; r++)
        for (int j = 0; j < cols; j++) {
            double x = 0.0;
            for (int k = 0; k < d; k++) x += TA[r * d + k] * JF[k * cols + j];
            Q[r * cols + j] = x;
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            double x = 0.0;
            for (int r = 0; r < d; r++) x += JE[r * rows + i] * Q[r * cols + j];
            out[i + (size_t)j * m] += x;
        }
}

/* The same for d rows, three or one, between trees of six: six numbers of a column at once, every sum in the same
 * order. */
MOR_ALWAYS_INLINE void add_six(int d, const double* JE, const double* TA, const double* JF, double* out, int m)
{
    for (int j = 0; j < 6; j++, out += m) {
        mor_four sum4 = { 0, 0, 0, 0 };
        mor_two sum2 = { 0, 0 };
        for (int r = 0; r < d; r++) {
            double q = 0.0;
            for (int k = 0; k < d; k++) q += TA[r * d + k] * JF[k * 6 + j];
            sum4 += MOR_FOUR_AT(JE + 6 * r) * (mor_four){ q, q, q, q };
            sum2 += MOR_TWO_AT(JE + 6 * r + 4) * (mor_two){ q, q };
        }
        MOR_FOUR_TO(out) += sum4;
        MOR_TWO_TO(out + 4) += sum2;
    }
}

/* K = M + sum G TA G', dense; sizes known to the compiler where it matters */
MOR_ALWAYS_INLINE void assemble_dense_body(const tree_newton* N)
{
    const mor_step_form* s = N->step;
    int m = s->dof;
    memset(N->dense, 0, (size_t)m * (size_t)m * sizeof *N->dense);
    for (int t = 0; t < s->tree_count; t++) {
        const mor_tree_block* tree = &s->trees[t];
        for (int i = 0; i < tree->dof; i++)
            for (int j = 0; j < tree->dof; j++)
                N->dense[tree->offset + i + (size_t)(tree->offset + j) * m] = tree->mass[i * tree->dof + j];
    }
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        const double* TA = N->TA + s->diagonal_start[c];
        int d = b->dim;
        bool zero = true;
        for (int k = 0; k < d * d; k++) zero = zero && TA[k] == 0.0;
        if (zero) continue;
        for (int e = b->entry; e < b->entry + b->entry_count; e++)
            for (int f = b->entry; f < b->entry + b->entry_count; f++) {
                const mor_tree_block *from = &s->trees[s->entries[e].tree], *to = &s->trees[s->entries[f].tree];
                const double *JE = s->jacobian + s->entries[e].start, *JF = s->jacobian + s->entries[f].start;
                double* out = N->dense + from->offset + (size_t)to->offset * m;
                const bool six = from->dof == 6 && to->dof == 6;
                if (six && d == 3) add_six(3, JE, TA, JF, out, m);
                else if (six && d == 1) add_six(1, JE, TA, JF, out, m);
                else add_product(d, from->dof, to->dof, JE, TA, JF, out, m);
            }
    }
}

MOR_WIDE_VOID(static, assemble_dense, (const tree_newton* N), (N))

/* The maps at p and u, and the factor of the matrix. dp: -T F. */
static bool linearise(tree_newton* N, double alpha)
{
    const mor_step_form* s = N->step;
    double B[MOST_ROWS * MOST_ROWS];
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int d = b->dim, at = s->diagonal_start[c];
        block_map(N, c, N->p + b->row, N->u + b->row, N->F + b->row, N->A + at, B);
        if (!invert(d, N->A + at, B, alpha / (N->scale[c] * N->scale[c]), N->T + at, N->TA + at)) return false;
        for (int i = 0; i < d; i++) {
            double g = 0.0;
            for (int j = 0; j < d; j++) g -= N->T[at + i * d + j] * N->F[b->row + j];
            N->dp[b->row + i] = g;
        }
    }
    if (!N->dense) return mor_tree_matrix_factor(N->K, N->TA);
    assemble_dense(N);
    return mor_lu_factor(s->dof, N->dense, N->pivot);
}

/* dnu and du of the impulses dp = g, then dp = g - T A du. */
static bool respond(tree_newton* N)
{
    const mor_step_form* s = N->step;
    mor_step_forces(s, N->dp, N->dnu);
    if (N->dense) mor_lu_solve(s->dof, N->dense, N->pivot, N->dnu);
    else mor_tree_matrix_solve(N->K, N->dnu);
    mor_step_rows_change(s, N->dnu, N->du);
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int d = b->dim, at = s->diagonal_start[c];
        for (int i = 0; i < d; i++) {
            double x = N->dp[b->row + i];
            for (int j = 0; j < d; j++) x -= N->TA[at + i * d + j] * N->du[b->row + j];
            N->dp[b->row + i] = x;
            if (!isfinite(x)) return false;
        }
    }
    return true;
}

static bool direction(tree_newton* N, double alpha) { return linearise(N, alpha) && respond(N); }

/* ------------------------------------------------------------------------------- iteration */

/* u of the impulses p */
static void velocities(tree_newton* N, const double* p, double* u)
{
    mor_step_velocity(N->step, p, N->nu);
    mor_step_rows(N->step, N->nu, u);
}

static const char* unfit(const mor_step_form* s)
{
    for (int t = 0; t < s->tree_count; t++)
        if (!s->trees[t].mass || s->trees[t].dof > MOST_DOF) return "needs mass blocks of at most 64 velocities";
    for (int c = 0; c < s->block_count; c++) {
        if (s->blocks[c].dim > MOST_ROWS) return "a block of more than six rows";
    }
    return NULL;
}

static bool open_newton(tree_newton* N, const mor_step_form* s, mor_tree_matrix* K, mor_arena* arena)
{
    size_t n = (size_t)s->row_count, dof = (size_t)s->dof, blocks = (size_t)s->block_count, entries = 0;
    for (int c = 0; c < s->block_count; c++) { /* a step made of some blocks of another has gaps between their places */
        size_t end = (size_t)(s->diagonal_start[c] + s->blocks[c].dim * s->blocks[c].dim);
        if (end > entries) entries = end;
    }
    *N = (tree_newton){ .step = s, .touch = 1e-14 };
    double* v = mor_arena_alloc(arena, (7 * n + 3 * dof + blocks + 8) * sizeof *v);
    N->law = mor_arena_alloc(arena, blocks * sizeof *N->law);
    N->A = mor_arena_alloc(arena, (3 * entries + 1) * sizeof *N->A);
    N->pivot = mor_arena_alloc(arena, (dof + 1) * sizeof *N->pivot);
    if (!v || !N->law || !N->A || !N->pivot) return false;
    N->TA = N->A + entries, N->T = N->TA + entries;
    N->p = v, N->u = v + n, N->F = v + 2 * n, N->dp = v + 3 * n, N->du = v + 4 * n, N->trial = v + 5 * n,
    N->trial_u = v + 6 * n;
    v += 7 * n;
    N->nu = v, N->dnu = v + dof, N->moved = v + 2 * dof, N->scale = v + 3 * dof;
    if (s->dof <= MOR_TREE_NEWTON_DENSE) {
        N->dense = mor_arena_alloc(arena, (dof * dof + 1) * sizeof *N->dense);
        if (!N->dense) return false;
    } else if (K) N->K = K;
    else {
        N->K = mor_arena_alloc(arena, sizeof *N->K);
        if (!N->K || !mor_tree_matrix_open(N->K, s, arena)) return false;
    }
    mor_step_rows(s, s->nu_free, N->u);
    double sum = 0.0;
    const double* corners = NULL;
    int polygon = 0;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        const double* W = s->diagonal + s->diagonal_start[c];
        int d = b->dim, k = d < 3 || b->kind != MOR_BLOCK_CONTACT ? d : 3;
        double trace = 0.0, most[4] = { 0, 0, 0, 0 };
        for (int i = 0; i < k; i++) trace += W[i * d + i];
        for (int i = 0; i < d; i++) {
            int at = b->kind != MOR_BLOCK_CONTACT || i == 0 ? 0 : 1 + mor_disc_of(i);
            most[at] = mor_max(most[at], W[i * d + i]);
        }
        N->scale[c] = trace > 0.0 ? sqrt(k / trace) : 1.0;
        N->law[c] = (mor_contact_law){ .cone = mor_block_cone(b) };
        if (mor_block_is_polygonal(b)) {
            if (b->directions != polygon) {
                double* own = mor_arena_alloc(arena, 2 * ((size_t)b->directions + 1) * sizeof *own);
                if (!own) return false;
                mor_polygon_corners(b->directions, own);
                corners = own, polygon = b->directions;
            }
            N->law[c].directions = polygon, N->law[c].corners = corners;
        }
        for (int i = 0; i < 4; i++) N->law[c].rho[i] = most[i] > 0.0 ? 1.0 / most[i] : 1.0;
        for (int i = 0; i < d; i++) sum += N->scale[c] * N->scale[c] * N->u[b->row + i] * N->u[b->row + i];
    }
    N->beta = sum > 0.0 ? sqrt(sum) : 1.0;
    return true;
}

static mor_status iterate(tree_newton* N, const mor_tree_newton_settings* s, mor_context* context, double* p,
                          int* iterations)
{
    const mor_step_form* step = N->step;
    int n = step->row_count, window = s->window < 1 ? 1 : s->window > WINDOW ? WINDOW : s->window, quiet = 0;
    double history[WINDOW], best_error = INFINITY, previous = INFINITY, t_used = 0.0;
    mor_tree_newton_course at = { .kappa = 1.0, .floor = s->floor, .last = INFINITY, .least = INFINITY };
    const bool goes_on = s->memory && s->memory->begun;
    if (goes_on) at = s->memory->at;
    memcpy(N->p, goes_on ? s->memory->p : p, (size_t)n * sizeof *N->p);
    for (int it = 0;; it++) {
        velocities(N, N->p, N->u);
        double error = context->error(context, N->p, NULL);
        if (context->trace) mor_trace_add(context, it, t_used, N->p);
        if (isnan(error)) return MOR_NUMERICAL;
        if (error < best_error) {
            best_error = error;
            memcpy(p, N->p, (size_t)n * sizeof *p);
        }
        if (best_error <= context->tol && !mor_worth_going_on(context, error, previous)) return MOR_SOLVED;
        previous = error;
        double theta = merit(N, N->p, N->u, N->F), size = sqrt(theta);
        /* from a guess: relative to the data, not to the guess */
        if (it == 0 && !goes_on) at.first = mor_max(size, N->beta);
        quiet = size < 0.999 * at.least ? 0 : quiet + 1;
        at.least = mor_min(at.least, size);
        if (s->memory && it >= s->max_iter) {
            memcpy(s->memory->p, N->p, (size_t)n * sizeof *N->p);
            s->memory->begun = true, s->memory->at = at;
        }
        if (!(size > 0.0) || it >= s->max_iter || (s->give_up > 0 && quiet >= s->give_up)) return MOR_NOT_CONVERGED;
        if (mor_out_of_time(context)) return MOR_TIME_LIMIT;
        history[it % window] = theta;
        double alpha = mor_max(at.floor, at.kappa * s->sigma * size / at.first);
        /* no progress at the floor: rounding, amplified by 1/alpha, keeps pace with the steps */
        if (alpha <= at.floor && size > 0.3 * at.last && at.floor < 1e-5) alpha = at.floor *= 4.0;
        at.last = size;
        int attempt = 0;
        while (!direction(N, alpha) && ++attempt < 6) alpha = mor_max(1e-10, 100.0 * alpha);
        if (attempt == 6) return MOR_NOT_CONVERGED;
        /* du of the impulses themselves, not of the solved velocity: exact in p */
        mor_step_change(step, N->dp, N->moved);
        mor_step_rows_change(step, N->moved, N->du);
        double limit = 0.0, best = INFINITY, best_t = 1.0, t = 1.0;
        for (int k = 0; k <= it && k < window; k++) limit = mor_max(limit, history[k]);
        bool accepted = false;
        for (int k = 0; k <= SHORTEST && !accepted; k++, t *= 0.5) {
            for (int i = 0; i < n; i++) N->trial[i] = N->p[i] + t * N->dp[i], N->trial_u[i] = N->u[i] + t * N->du[i];
            double value = merit(N, N->trial, N->trial_u, N->F);
            if (value < best) best = value, best_t = t;
            accepted = value <= (1.0 - 1e-4 * t) * limit;
        }
        t_used = accepted ? 2.0 * t : best_t;
        if (!isfinite(best)) return MOR_NOT_CONVERGED;
        for (int i = 0; i < n; i++) N->p[i] += t_used * N->dp[i];
        ++*iterations;
        if (s->adapt) {
            if (t_used == 1.0) at.kappa *= 0.5;
            else if (t_used < 0.25) at.kappa = mor_min(1.0, 10.0 * at.kappa);
        }
    }
}

/* ----------------------------------------------------------------------------- least norm */

/* Does the friction of any contact act while it slides? One that sticks at its limit moves nothing by its split. */
static bool any_slides(const tree_newton* N)
{
    const mor_step_form* s = N->step;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        if (b->kind != MOR_BLOCK_CONTACT || b->dim < 2 || b->dim > 3) continue;
        const double *p = N->p + b->row, *u = N->u + b->row, rho = N->law[c].rho[1];
        double n = p[0] - N->law[c].rho[0] * u[0], x = p[1] - rho * u[1], y = b->dim > 2 ? p[2] - rho * u[2] : 0.0;
        double slip = rho * sqrt(u[1] * u[1] + (b->dim > 2 ? u[2] * u[2] : 0.0));
        if (n > 0.0 && b->mu > 0.0 && x * x + y * y > b->mu * n * b->mu * n && slip > TOUCH * N->beta * N->scale[c])
            return true;
    }
    return false;
}

/* dp <- P dp; returns the size of P dp in the metric of the regularisation. */
static double not_determined(tree_newton* N, double alpha)
{
    const mor_step_form* s = N->step;
    double sum = 0.0;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        int d = b->dim, at = s->diagonal_start[c];
        double x[MOST_ROWS], a = alpha / (N->scale[c] * N->scale[c]);
        memcpy(x, N->dp + b->row, (size_t)d * sizeof *x);
        for (int i = 0; i < d; i++) {
            double g = 0.0;
            for (int j = 0; j < d; j++) g += N->TA[at + i * d + j] * x[j];
            N->dp[b->row + i] = a * g;
        }
    }
    if (!respond(N)) return INFINITY;
    for (int c = 0; c < s->block_count; c++)
        for (int i = s->blocks[c].row; i < s->blocks[c].row + s->blocks[c].dim; i++)
            sum += N->dp[i] * N->dp[i] / (N->scale[c] * N->scale[c]);
    return sqrt(sum);
}

/* One Newton step from N->p to N->trial, less what is not determined there. Returns the size of that part beside p;
 * negative: no projector, or singular. change: |N->trial - N->p| beside p. */
static double least_step(tree_newton* N, double* change)
{
    const mor_step_form* s = N->step;
    const size_t bytes = (size_t)s->row_count * sizeof *N->p;
    double size = 0.0;
    if (!direction(N, COMPLIANCE)) return -1.0;
    for (int c = 0; c < s->block_count; c++)
        for (int i = s->blocks[c].row; i < s->blocks[c].row + s->blocks[c].dim; i++) {
            N->trial[i] = N->p[i] + N->dp[i];
            size += N->trial[i] * N->trial[i] / (N->scale[c] * N->scale[c]);
        }
    double part = 0.0;
    for (int pass = 0; pass < 3; pass++) { /* each leaves 1e-8 of what it takes out, by rounding */
        memcpy(N->dp, N->trial, bytes);
        double once = not_determined(N, COMPLIANCE), twice = not_determined(N, COMPLIANCE);
        if (!(twice <= 2.0 * once + 1e-12 * sqrt(size))) return -1.0; /* jammed contacts: P is no projector */
        if (pass == 0) part = twice;
        if (!(twice > 1e-15 * sqrt(size))) break;
        for (int i = 0; i < s->row_count; i++) N->trial[i] -= N->dp[i];
    }
    double moved = 0.0;
    for (int c = 0; c < s->block_count; c++)
        for (int i = s->blocks[c].row; i < s->blocks[c].row + s->blocks[c].dim; i++)
            moved += (N->trial[i] - N->p[i]) * (N->trial[i] - N->p[i]) / (N->scale[c] * N->scale[c]);
    *change = size > 0.0 ? sqrt(moved / size) : 0.0;
    return size > 0.0 ? part / sqrt(size) : 0.0;
}

/* Few rows on trees of several bodies: their own matrix is far smaller than that of the velocities. */
static bool has_few_rows(const mor_step_form* s)
{
    bool robots = false;
    for (int t = 0; t < s->tree_count; t++) robots = robots || s->trees[t].dof > 6;
    return robots && s->row_count <= MOR_STATE_GUESS_ROWS;
}

typedef struct allowed {
    const mor_context* context;
    double limit;
} allowed;

static bool within(const void* user, const double* p)
{
    const allowed* a = user;
    return a->context->error(a->context, p, NULL) <= a->limit;
}

/* mor_tree_least by the states of the rows. */
static bool least_on_rows(const mor_problem* problem, const mor_context* context, double limit, double* p)
{
    const allowed user = { context, limit };
    size_t bytes = (size_t)problem->size * sizeof *p, mark = mor_arena_mark(context->arena);
    double* trial = mor_arena_alloc(context->arena, bytes);
    bool found = false;
    if (trial) {
        memcpy(trial, p, bytes);
        found = mor_state_least(problem, within, &user, trial, context->arena);
    }
    if (found) memcpy(p, trial, bytes);
    mor_arena_release(context->arena, mark);
    return found;
}

/* |p| in the metric of the regularisation. */
static double scaled_norm(const tree_newton* N, const double* p)
{
    const mor_step_form* s = N->step;
    double sum = 0.0;
    for (int c = 0; c < s->block_count; c++)
        for (int i = s->blocks[c].row; i < s->blocks[c].row + s->blocks[c].dim; i++)
            sum += p[i] * p[i] / (N->scale[c] * N->scale[c]);
    return sqrt(sum);
}

typedef enum split { SPLIT_UNIQUE, SPLIT_FOUND, SPLIT_LOST } split;

/* Newton steps without the projection, from N->p whose error is given; returns the error reached. P^2 takes a little of
 * what is soft but determined, (a/lambda)^2 of it, and these steps bring it back. */
static double restore(tree_newton* N, mor_context* context, double error, double enough)
{
    const mor_step_form* s = N->step;
    for (int step = 0; step < 4 && error > enough; step++) {
        velocities(N, N->p, N->u);
        if (!direction(N, COMPLIANCE)) break;
        for (int i = 0; i < s->row_count; i++) N->trial[i] = N->p[i] + N->dp[i];
        double now = context->error(context, N->trial, NULL);
        if (!(now < error)) break;
        memcpy(N->p, N->trial, (size_t)s->row_count * sizeof *N->p);
        error = now;
    }
    return error;
}

/* Steps from p to the answer of least norm near it; p is left as it is unless that is found. The error is brought down
 * below what is allowed: what an answer is off, its mirror image is off to the other side. */
static split least_from(tree_newton* N, mor_context* context, double limit, double* p)
{
    enum { ROUNDS = 6 };
    const size_t bytes = (size_t)N->step->row_count * sizeof *p;
    memcpy(N->p, p, bytes);
    N->touch = TOUCH;
    for (int round = 0; round < ROUNDS; round++) {
        velocities(N, N->p, N->u);
        if (round == 0 && !any_slides(N)) return SPLIT_UNIQUE;
        double change, part = least_step(N, &change);
        if (part < 0.0 || (round == 0 && part < 1e-14)) return round ? SPLIT_LOST : SPLIT_UNIQUE;
        double error = context->error(context, N->trial, NULL);
        if (isnan(error)) break;
        memcpy(N->p, N->trial, bytes);
        bool settled = part <= 1e-6 || change <= SETTLED;
        if (change > NEARLY && !(settled && error <= limit)) continue;
        if (!(restore(N, context, error, FINE * limit) <= limit)) continue;
        memcpy(p, N->p, bytes);
        return SPLIT_FOUND;
    }
    return SPLIT_LOST;
}

/* Answers may lie apart: with a polygon of friction a pivot may end where few contacts carry all. Newton's method
 * treats all contacts alike, from the impulses of the last step (guess) or from none; what it finds counts if it is
 * shorter. */
static bool least_elsewhere(tree_newton* N, mor_context* context, double limit, const double* guess, double* p)
{
    static const mor_tree_newton_settings settings = {
        .sigma = 1.0, .floor = 1e-8, .adapt = true, .window = 8, .max_iter = 60, .give_up = 20
    };
    const size_t bytes = (size_t)N->step->row_count * sizeof *p, mark = mor_arena_mark(context->arena);
    double* other = mor_arena_zero(context->arena, (size_t)N->step->row_count, sizeof *p);
    if (!other) return false;
    if (guess) memcpy(other, guess, bytes);
    mor_context own = *context;
    int iterations = 0;
    own.tol = own.aim = limit, own.trace = NULL;
    N->touch = 1e-14;
    bool found = iterate(N, &settings, &own, other, &iterations) == MOR_SOLVED &&
                 least_from(N, &own, limit, other) != SPLIT_LOST && scaled_norm(N, other) < scaled_norm(N, p);
    if (found) memcpy(p, other, bytes);
    mor_arena_release(context->arena, mark);
    return found;
}

bool mor_tree_least(const mor_problem* problem, mor_context* context, double limit, const double* guess, double* p)
{
    const mor_step_form* s = &problem->step;
    if (has_few_rows(s)) return least_on_rows(problem, context, limit, p);
    tree_newton N;
    if (unfit(s) || s->dof > MOR_TREE_NEWTON_DENSE || !open_newton(&N, s, NULL, context->arena)) return false;
    split found = least_from(&N, context, limit, p);
    if (found != SPLIT_LOST || !guess) return found == SPLIT_FOUND;
    return least_elsewhere(&N, context, limit, guess, p) || least_elsewhere(&N, context, limit, NULL, p);
}

/* ---------------------------------------------------------------------------------------- */

mor_report mor_tree_newton(const mor_problem* problem, const mor_tree_newton_settings* settings, mor_tree_matrix* K,
                           mor_context* context, double* p)
{
    mor_report report = { .status = MOR_REFUSED };
    const char* why = unfit(&problem->step);
    if (why) {
        snprintf(report.detail, sizeof report.detail, "%s", why);
        return report;
    }
    tree_newton N;
    if (!open_newton(&N, &problem->step, K, context->arena)) {
        report.status = MOR_NUMERICAL;
        snprintf(report.detail, sizeof report.detail, "out of memory");
        return report;
    }
    report.status = iterate(&N, settings, context, p, &report.iterations);
    return report;
}
