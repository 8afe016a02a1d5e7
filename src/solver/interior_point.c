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

#include "linalg/dense.h"
#include "linalg/krylov.h"
#include "linalg/sparse.h"
#include "moreau/solver.h"
#include "problem/convert.h"
#include "problem/entries.h"
#include "solver/lorentz.h"
#include "solver/pivot_table.h"

enum { DIRECT, CG, GMRES };

typedef struct interior_options {
    int linear;
    double centre;
    double krylov_tol;
} interior_options;

typedef struct cones {
    int n, count;
    int *start, *dim; /* blocks; dim 1 orthant, 2 or 3 Lorentz, 0: one free row */
    double* scale;    /* n: original z = scale x, original w = s/scale */
    mor_csr A;        /* scaled */
    double *b, *x, *s, *dx, *ds, *rp, *rc, *rhs;
    double* V2;      /* 9 per block: V^-2 */
    double *v, *eta; /* scaling: unit v (3 per block) and length eta: V = eta (2 v v' - J) */
    double* lambda;  /* n */
    bool plain;      /* this iteration linearises x o s itself */
    /* linear algebra */
    bool dense, symmetric;
    double *D, *LU; /* dense A, factor */
    int* pivot;
    mor_sparse_lu* lu;
    mor_csr K;           /* pattern of A with full diagonal blocks */
    int *from_A, *place; /* A.x[k] -> K.x; 9 per block -> K.x */
    int* diagonal_place; /* (i, i) -> K.x */
    double *work, *diagonal;
    double shift; /* added to the diagonal when the factorisation fails without */
    int method;
    double tol;
} cones;

/* --------------------------------------------------------------------------- Newton system */

static double inner(int d, const double* a, const double* b)
{
    double s = 0.0;
    for (int i = 0; i < d; i++) s += a[i] * b[i];
    return s;
}

/* What is added to the diagonal: rows held at zero (scale 0) need something there. */
static double extra(const cones* c, int i) { return (c->scale[i] == 0.0 ? 1.0 : 0.0) + c->shift; }

static void apply_K(void* user, const double* x, double* y)
{
    cones* c = user;
    mor_csr_apply(&c->A, x, y);
    for (int i = 0; i < c->n; i++) y[i] += extra(c, i) * x[i];
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k], d = c->dim[k];
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) y[a + i] += c->V2[9 * k + 3 * i + j] * x[a + j];
    }
}

static void apply_Kt(void* user, const double* x, double* y)
{
    cones* c = user;
    mor_csr_apply_transposed(&c->A, x, y);
    for (int i = 0; i < c->n; i++) y[i] += extra(c, i) * x[i];
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k], d = c->dim[k];
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) y[a + i] += c->V2[9 * k + 3 * j + i] * x[a + j];
    }
}

static bool factor(cones* c)
{
    size_t n = (size_t)c->n;
    if (c->method != DIRECT) {
        for (int i = 0; i < c->n; i++) c->diagonal[i] = mor_csr_get(&c->A, i, i) + extra(c, i);
        for (int k = 0; k < c->count; k++)
            for (int i = 0; i < c->dim[k]; i++) c->diagonal[c->start[k] + i] += c->V2[9 * k + 4 * i];
        for (int i = 0; i < c->n; i++)
            if (!(fabs(c->diagonal[i]) > 0.0)) c->diagonal[i] = 1.0;
        return true;
    }
    if (c->dense) {
        memcpy(c->LU, c->D, n * n * sizeof *c->LU);
        for (int i = 0; i < c->n; i++) c->LU[(n + 1) * (size_t)i] += extra(c, i);
        for (int k = 0; k < c->count; k++) {
            size_t a = (size_t)c->start[k];
            for (int i = 0; i < c->dim[k]; i++)
                for (int j = 0; j < c->dim[k]; j++) c->LU[a + i + (a + j) * n] += c->V2[9 * k + 3 * i + j];
        }
        return mor_lu_factor(c->n, c->LU, c->pivot);
    }
    memset(c->K.x, 0, (size_t)c->K.p[c->n] * sizeof *c->K.x);
    for (int k = 0; k < c->A.p[c->n]; k++) c->K.x[c->from_A[k]] += c->A.x[k];
    for (int i = 0; i < c->n; i++) c->K.x[c->diagonal_place[i]] += extra(c, i);
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < c->dim[k]; i++)
            for (int j = 0; j < c->dim[k]; j++) c->K.x[c->place[9 * k + 3 * i + j]] += c->V2[9 * k + 3 * i + j];
    return mor_sparse_lu_factor(c->lu, &c->K);
}

static void solve_K(cones* c)
{
    memcpy(c->dx, c->rhs, (size_t)c->n * sizeof *c->dx);
    if (c->method == DIRECT) {
        if (c->dense) mor_lu_solve(c->n, c->LU, c->pivot, c->dx);
        else mor_sparse_lu_solve(c->lu, 1, c->dx);
        return;
    }
    memset(c->dx, 0, (size_t)c->n * sizeof *c->dx);
    if (c->method == GMRES) mor_gmres(c->n, apply_K, c, c->diagonal, c->rhs, c->dx, c->tol, 40, 40 + 4 * c->n, c->work);
    else if (c->symmetric && !c->plain) mor_cg(c->n, apply_K, c, c->rhs, c->dx, c->tol, 40 + 4 * c->n, c->work);
    else mor_cg_normal(c->n, apply_K, apply_Kt, c, c->rhs, c->dx, c->tol, 40 + 8 * c->n, c->work);
}

/* dx, ds from rc */
static void direction(cones* c)
{
    for (int i = 0; i < c->n; i++) c->rhs[i] = -c->rp[i];
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k], d = c->dim[k];
        if (d == 0) continue;
        double t[3], back[3];
        if (c->plain) mor_lorentz_divide(d, c->x + a, c->rc + a, back);
        else {
            mor_lorentz_divide(d, c->lambda + a, c->rc + a, t);
            mor_lorentz_scale(d, c->v + 3 * k, c->eta[k], true, t, back);
        }
        for (int i = 0; i < d; i++) c->rhs[a + i] += back[i];
    }
    solve_K(c);
    mor_csr_apply(&c->A, c->dx, c->ds);
    for (int i = 0; i < c->n; i++) c->ds[i] += c->rp[i];
    for (int k = 0; k < c->count; k++)
        if (c->dim[k] == 0) c->ds[c->start[k]] = 0.0;
}

static double to_boundary(const cones* c)
{
    double t = INFINITY;
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k], d = c->dim[k];
        if (d > 0)
            t = fmin(t, fmin(mor_lorentz_room(d, c->x + a, c->dx + a), mor_lorentz_room(d, c->s + a, c->ds + a)));
    }
    return t;
}

/* ---------------------------------------------------------------------------------- set-up */

/* Blocks and scaling of the problem. Contacts without friction keep their normal row; tangents are held at zero by a
 * scale of 0. */
static bool make_blocks(cones* c, const mor_problem* p, mor_arena* arena)
{
    int n = c->n;
    c->start = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof(int));
    c->dim = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof(int));
    c->scale = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof(double));
    if (!c->start || !c->dim || !c->scale) return false;
    for (int i = 0; i < n; i++) c->scale[i] = 1.0;
    if (p->form != MOR_CQP) {
        for (int i = 0; i < n; i++)
            c->start[c->count] = i, c->dim[c->count++] = mor_lower_of(p, i) == -INFINITY ? 0 : 1;
        return true;
    }
    for (int k = 0; k < p->contact_count; k++) {
        int a = k * p->dim;
        if (p->mu[k] > 0.0) {
            c->scale[a] = 1.0 / p->mu[k];
            c->start[c->count] = a, c->dim[c->count++] = p->dim;
        } else {
            c->start[c->count] = a, c->dim[c->count++] = 1;
            for (int i = 1; i < p->dim; i++) c->start[c->count] = a + i, c->dim[c->count++] = 0, c->scale[a + i] = 0.0;
        }
    }
    return true;
}

static int find_entry(const mor_csr* K, int row, int column)
{
    for (int e = K->p[row]; e < K->p[row + 1]; e++)
        if (K->i[e] == column) return e;
    return -1;
}

static bool make_matrix(cones* c, const mor_problem* p, mor_arena* arena)
{
    int n = c->n;
    const mor_matrix* S = &p->A;
    if (S->storage == MOR_DENSE) {
        if (!mor_csr_from_dense(&c->A, n, n, S->x, arena)) return false;
    } else {
        size_t nnz = (size_t)S->p[n];
        c->A = (mor_csr){ .rows = n, .cols = n, .p = S->p, .i = S->i };
        c->A.x = mor_arena_alloc(arena, (nnz + 1) * sizeof(double));
        if (!c->A.x) return false;
        memcpy(c->A.x, S->x, nnz * sizeof(double));
    }
    for (int i = 0; i < n; i++)
        for (int e = c->A.p[i]; e < c->A.p[i + 1]; e++) c->A.x[e] *= c->scale[i] * c->scale[c->A.i[e]];
    c->symmetric = true;
    double largest = 0.0;
    for (int e = 0; e < c->A.p[n]; e++) largest = fmax(largest, fabs(c->A.x[e]));
    for (int i = 0; i < n && c->symmetric && c->method == CG; i++)
        for (int e = c->A.p[i]; e < c->A.p[i + 1]; e++)
            if (fabs(c->A.x[e] - mor_csr_get(&c->A, c->A.i[e], i)) > 1e-13 * largest) c->symmetric = false;
    for (int k = 0; k < c->count; k++)
        if (c->dim[k] == 0) c->symmetric = false;
    return true;
}

static bool make_linear(cones* c, mor_arena* arena)
{
    size_t n = (size_t)c->n;
    double density = n ? (double)c->A.p[n] / ((double)n * (double)n) : 1.0;
    c->dense = n <= 260 || (density > 0.15 && n <= 6000);
    if (c->method != DIRECT) {
        c->diagonal = mor_arena_alloc(arena, (n + 1) * sizeof(double));
        c->work = mor_arena_alloc(arena, (mor_gmres_work(c->n, 40) + 4 * n) * sizeof(double));
        return c->diagonal && c->work;
    }
    if (c->dense) {
        c->D = mor_arena_zero(arena, n * n + 1, sizeof(double));
        c->LU = mor_arena_alloc(arena, (n * n + 1) * sizeof(double));
        c->pivot = mor_arena_alloc(arena, (n + 1) * sizeof(int));
        if (!c->D || !c->LU || !c->pivot) return false;
        mor_csr_to_dense(&c->A, c->D);
        return true;
    }
    /* pattern: A and the diagonal blocks */
    size_t most = (size_t)c->A.p[n] + 9 * (size_t)c->count + n;
    int* row = mor_arena_alloc(arena, most * sizeof(int));
    int* column = mor_arena_alloc(arena, most * sizeof(int));
    double* one = mor_arena_alloc(arena, most * sizeof(double));
    c->from_A = mor_arena_alloc(arena, ((size_t)c->A.p[n] + 1) * sizeof(int));
    c->place = mor_arena_alloc(arena, (9 * (size_t)c->count + 1) * sizeof(int));
    c->diagonal_place = mor_arena_alloc(arena, n * sizeof(int));
    if (!row || !column || !one || !c->from_A || !c->place || !c->diagonal_place) return false;
    int count = 0;
    for (int i = 0; i < c->n; i++) {
        row[count] = column[count] = i, one[count++] = 1.0;
        for (int e = c->A.p[i]; e < c->A.p[i + 1]; e++) row[count] = i, column[count] = c->A.i[e], one[count++] = 1.0;
    }
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < c->dim[k]; i++)
            for (int j = 0; j < c->dim[k]; j++)
                row[count] = c->start[k] + i, column[count] = c->start[k] + j, one[count++] = 1.0;
    if (!mor_csr_from_triplets(&c->K, c->n, c->n, count, row, column, one, arena)) return false;
    for (int i = 0; i < c->n; i++)
        for (int e = c->A.p[i]; e < c->A.p[i + 1]; e++) c->from_A[e] = find_entry(&c->K, i, c->A.i[e]);
    for (int k = 0; k < c->count; k++)
        for (int i = 0; i < c->dim[k]; i++)
            for (int j = 0; j < c->dim[k]; j++)
                c->place[9 * k + 3 * i + j] = find_entry(&c->K, c->start[k] + i, c->start[k] + j);
    for (int i = 0; i < c->n; i++) c->diagonal_place[i] = find_entry(&c->K, i, i);
    c->lu = mor_sparse_lu_create(&c->K, NULL);
    return c->lu != NULL;
}

static bool prepare(cones* c, const mor_problem* p, mor_arena* arena)
{
    size_t n = (size_t)p->size;
    if (!make_blocks(c, p, arena) || !make_matrix(c, p, arena) || !make_linear(c, arena)) return false;
    double* v = mor_arena_zero(arena, 9 * n + 14 * (size_t)c->count + 1, sizeof(double));
    if (!v) return false;
    c->b = v, c->x = v + n, c->s = v + 2 * n, c->dx = v + 3 * n, c->ds = v + 4 * n, c->rp = v + 5 * n,
    c->rc = v + 6 * n;
    c->rhs = v + 7 * n, c->lambda = v + 8 * n, c->V2 = v + 9 * n, c->v = c->V2 + 9 * (size_t)c->count,
    c->eta = c->v + 3 * (size_t)c->count;
    for (size_t i = 0; i < n; i++) c->b[i] = c->scale[i] * p->b[i];
    return true;
}

/* ------------------------------------------------------------------------------- the method */

/* e times sizes taken from the data. Returns the degree of the cones. */
static int start(cones* c, double force, double length)
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
static bool scale_blocks(cones* c)
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
static void aim_at_zero(cones* c)
{
    for (int j = 0; j < c->count; j++) {
        int a = c->start[j], d = c->dim[j];
        if (d == 0) continue;
        mor_lorentz_product(d, c->plain ? c->x + a : c->lambda + a, c->plain ? c->s + a : c->lambda + a, c->rc + a);
        for (int i = 0; i < d; i++) c->rc[a + i] = -c->rc[a + i];
    }
}

/* rc of the corrector: aims at x o s = target e, without what the predictor's step adds of second order. */
static void aim_at_centre(cones* c, double target)
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
static bool prepare_step(cones* c, double largest, mor_report* report)
{
    bool inside = scale_blocks(c);
    c->shift = 0.0;
    if (inside && factor(c)) return true;
    c->shift = 1e-11 * largest;
    if (inside && factor(c)) return true;
    snprintf(report->detail, sizeof report->detail, "%s",
             inside ? "the Newton matrix is singular" : "the iterate reached the boundary");
    report->status = inside ? MOR_NUMERICAL : MOR_NOT_CONVERGED;
    return false;
}

static mor_report follow(cones* c, const mor_problem* problem, const interior_options* o, mor_context* context,
                         double* z)
{
    mor_report report = { .status = MOR_NOT_CONVERGED };
    int n = c->n, stalled = 0;
    size_t N = (size_t)n;
    double* trial = mor_arena_alloc(context->arena, (N + 1) * sizeof *trial);
    if (!trial) return report.status = MOR_NUMERICAL, report;
    double largest = 0.0, force = fmax(mor_norm_max(n, c->b), 1e-300);
    for (int e = 0; e < c->A.p[n]; e++) largest = fmax(largest, fabs(c->A.x[e]));
    double length = fmin(fmax(force / fmax(largest, 1e-300), 1e-100), 1e100);
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
        double merit = fmax(error, 0.0);
        stalled = merit > 0.95 * smallest && step < 0.1 ? stalled + 1 : 0;
        smallest = fmin(smallest, merit);
        if (stalled > 10)
            snprintf(report.detail, sizeof report.detail, "stalled: steps of %.1e; the problem may not be monotone",
                     step);
        if (k >= context->max_iter || stalled > 10) return report;
        if (mor_out_of_time(context)) return report.status = MOR_TIME_LIMIT, report;
        c->plain = problem->form == MOR_CQP && gap < 1e-3 && primal < 1e-3 && (!c->plain || step > 0.1);
        if (!prepare_step(c, largest, &report)) return report;
        aim_at_zero(c);
        direction(c);
        double affine = fmin(1.0, to_boundary(c)), sigma = pow(1.0 - affine, o->centre);
        sigma = fmin(fmax(sigma, 1e-8), 1.0);
        aim_at_centre(c, sigma * mu);
        direction(c);
        step = fmin(1.0, 0.99 * to_boundary(c));
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
    cones c = { .n = problem->size, .method = o->linear };
    if (prepare(&c, problem, context->arena)) report = follow(&c, problem, o, context, z);
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
