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

/* ------------------------------------------------------------------------------ blocks */

static double inner(int d, const double* a, const double* b)
{
    double s = 0.0;
    for (int i = 0; i < d; i++) s += a[i] * b[i];
    return s;
}

static double determinant(int d, const double* a)
{
    double tail = 0.0;
    for (int i = 1; i < d; i++) tail += a[i] * a[i];
    tail = sqrt(tail);
    return (a[0] - tail) * (a[0] + tail);
}

/* out := V x or, inverse, V^-1 x. V = eta (2 v v' - J), V^-1 = (2 Jv v'J - J)/eta, J = diag(1, -1, -1). */
static void scale_block(int d, const double* v, double eta, bool inverse, const double* x, double* out)
{
    if (d == 1) {
        out[0] = inverse ? x[0] / eta : x[0] * eta;
        return;
    }
    double dot = v[0] * x[0];
    for (int i = 1; i < d; i++) dot += (inverse ? -1.0 : 1.0) * v[i] * x[i];
    double f = inverse ? 1.0 / eta : eta;
    for (int i = d - 1; i >= 0; i--) {
        double vi = i > 0 && inverse ? -v[i] : v[i];
        out[i] = f * (2.0 * dot * vi - (i == 0 ? x[i] : -x[i]));
    }
}

/* Scaling of x and s (both inside): fills v, eta, V^-2, lambda. False at the boundary. */
static bool scale_cone(int d, const double* x, const double* s, double* v, double* eta, double* V2, double* lambda)
{
    if (d == 1) {
        if (!(x[0] > 0.0 && s[0] > 0.0)) return false;
        *eta = sqrt(x[0] / s[0]), v[0] = 1.0;
        V2[0] = s[0] / x[0];
        lambda[0] = sqrt(x[0]) * sqrt(s[0]);
        return true;
    }
    double X = determinant(d, x), S = determinant(d, s);
    if (!(X > 0.0 && S > 0.0 && x[0] > 0.0 && s[0] > 0.0)) return false;
    double rx = sqrt(X), rs = sqrt(S), gamma = 0.0;
    for (int i = 0; i < d; i++) gamma += (x[i] / rx) * (s[i] / rs);
    gamma = sqrt(0.5 * (1.0 + gamma));
    double wbar[3];
    for (int i = 0; i < d; i++) wbar[i] = (x[i] / rx + (i == 0 ? 1.0 : -1.0) * s[i] / rs) / (2.0 * gamma);
    double f = 1.0 / sqrt(2.0 * (wbar[0] + 1.0));
    for (int i = 0; i < d; i++) v[i] = f * (wbar[i] + (i == 0 ? 1.0 : 0.0));
    *eta = sqrt(rx / rs);
    /* V^2 = eta^2 (2 wbar wbar' - J), V^-2 = (2 J wbar wbar'J - J)/eta^2 */
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double a = i ? -wbar[i] : wbar[i], b = j ? -wbar[j] : wbar[j];
            V2[3 * i + j] = (2.0 * a * b - (i == j ? (i == 0 ? 1.0 : -1.0) : 0.0)) / (*eta * *eta);
        }
    scale_block(d, v, *eta, false, s, lambda);
    return true;
}

/* out := a o b */
static void jordan(int d, const double* a, const double* b, double* out)
{
    double first = inner(d, a, b);
    for (int i = 1; i < d; i++) out[i] = a[0] * b[i] + b[0] * a[i];
    out[0] = first;
}

/* out := lambda \ r: the solution of lambda o out = r */
static void jordan_solve(int d, const double* l, const double* r, double* out)
{
    if (d == 1) {
        out[0] = r[0] / l[0];
        return;
    }
    double det = determinant(d, l), tail = 0.0;
    for (int i = 1; i < d; i++) tail += l[i] * r[i];
    double first = (l[0] * r[0] - tail) / det;
    for (int i = 1; i < d; i++) out[i] = (r[i] - l[i] * first) / l[0];
    out[0] = first;
}

/* V2 := L_x^-1 L_s */
static void plain_block(int d, const double* x, const double* s, double* V2)
{
    for (int j = 0; j < d; j++) {
        double e[3] = { 0 }, t[3], column[3];
        e[j] = 1.0;
        jordan(d, s, e, t);
        jordan_solve(d, x, t, column);
        for (int i = 0; i < d; i++) V2[3 * i + j] = column[i];
    }
}

/* Largest t with x + t d in the cone. */
static double room(int n, const double* x, const double* d)
{
    if (n == 1) return d[0] < 0.0 ? -x[0] / d[0] : INFINITY;
    /* determinant(x + t d) = 0: a t^2 + 2 b t + c */
    double a = determinant(n, d), b = x[0] * d[0], c = determinant(n, x), t = INFINITY;
    for (int i = 1; i < n; i++) b -= x[i] * d[i];
    double disc = b * b - a * c;
    if (disc >= 0.0) {
        double root = sqrt(disc), q = b > 0.0 ? -(b + root) : -(b - root);
        double first = q != 0.0 ? c / q : INFINITY, second = a != 0.0 ? q / a : INFINITY;
        if (first > 0.0) t = fmin(t, first);
        if (second > 0.0) t = fmin(t, second);
    }
    if (d[0] < 0.0) t = fmin(t, -x[0] / d[0]);
    return t;
}

/* --------------------------------------------------------------------------- Newton system */

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
        if (c->plain) jordan_solve(d, c->x + a, c->rc + a, back);
        else {
            jordan_solve(d, c->lambda + a, c->rc + a, t);
            scale_block(d, c->v + 3 * k, c->eta[k], true, t, back);
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
        if (d > 0) t = fmin(t, fmin(room(d, c->x + a, c->dx + a), room(d, c->s + a, c->ds + a)));
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

static mor_report follow(cones* c, const mor_problem* problem, const interior_options* o, mor_context* context,
                         double* z)
{
    mor_report report = { .status = MOR_NOT_CONVERGED };
    int n = c->n, degree = 0;
    size_t N = (size_t)n;
    double* trial = mor_arena_alloc(context->arena, (N + 1) * sizeof *trial);
    if (!trial) return report.status = MOR_NUMERICAL, report;
    /* start: e times sizes taken from the data */
    double largest = 0.0, force = fmax(mor_norm_max(n, c->b), 1e-300);
    for (int e = 0; e < c->A.p[n]; e++) largest = fmax(largest, fabs(c->A.x[e]));
    double length = fmin(fmax(force / fmax(largest, 1e-300), 1e-100), 1e100);
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k];
        if (c->dim[k] == 0) continue;
        c->x[a] = length, c->s[a] = force, degree++;
    }
    double least = INFINITY, smallest = INFINITY, step = 0.0;
    int stalled = 0;
    for (int k = 0;; k++) {
        mor_csr_apply(&c->A, c->x, c->rp);
        for (int i = 0; i < n; i++) c->rp[i] += c->b[i] - c->s[i];
        double mu = inner(n, c->x, c->s) / (degree ? degree : 1), primal = mor_norm_max(n, c->rp) / force;
        if (!isfinite(mu) || !isfinite(primal)) {
            report.status = MOR_NUMERICAL;
            break;
        }
        for (int i = 0; i < n; i++) trial[i] = c->scale[i] * c->x[i];
        report.iterations = k;
        if (k > 0) mor_trace_add(context, k, step, trial);
        double gap = mu / (force * length), error = context->error(context, trial, NULL);
        if (gap < 1e-7 && primal < 1e-5 && error > 1e-2 * context->tol && problem->form != MOR_CQP)
            error = mor_boxed_polish(problem, trial, mor_context_measure, context, context->arena);
        if (error < least || k == 0) least = error, memcpy(z, trial, N * sizeof *z);
        if (least <= context->tol) {
            report.status = MOR_SOLVED;
            break;
        }
        double merit = fmax(error, 0.0);
        stalled = merit > 0.95 * smallest && step < 0.1 ? stalled + 1 : 0;
        smallest = fmin(smallest, merit);
        if (k >= context->max_iter || stalled > 10) {
            if (stalled > 10)
                snprintf(report.detail, sizeof report.detail, "stalled: steps of %.1e; the problem may not be monotone",
                         step);
            break;
        }
        if (mor_out_of_time(context)) {
            report.status = MOR_TIME_LIMIT;
            break;
        }
        c->plain = problem->form == MOR_CQP && gap < 1e-3 && primal < 1e-3 && (!c->plain || step > 0.1);
        bool inside = true;
        for (int j = 0; j < c->count && inside; j++) {
            int a = c->start[j];
            if (c->dim[j] > 0)
                inside =
                    scale_cone(c->dim[j], c->x + a, c->s + a, c->v + 3 * j, &c->eta[j], c->V2 + 9 * j, c->lambda + a);
            if (c->plain && inside && c->dim[j] > 0) plain_block(c->dim[j], c->x + a, c->s + a, c->V2 + 9 * j);
        }
        c->shift = 0.0;
        bool factored = inside && factor(c);
        if (inside && !factored) {
            c->shift = 1e-11 * largest;
            factored = factor(c);
        }
        if (!factored) {
            snprintf(report.detail, sizeof report.detail, "%s",
                     inside ? "the Newton matrix is singular" : "the iterate reached the boundary");
            report.status = inside ? MOR_NUMERICAL : MOR_NOT_CONVERGED;
            break;
        }
        for (int j = 0; j < c->count; j++) {
            int a = c->start[j], d = c->dim[j];
            if (d == 0) continue;
            jordan(d, c->plain ? c->x + a : c->lambda + a, c->plain ? c->s + a : c->lambda + a, c->rc + a);
            for (int i = 0; i < d; i++) c->rc[a + i] = -c->rc[a + i];
        }
        c->tol = o->krylov_tol;
        direction(c);
        double affine = fmin(1.0, to_boundary(c)), sigma = pow(1.0 - affine, o->centre);
        sigma = fmin(fmax(sigma, 1e-8), 1.0);
        for (int j = 0; j < c->count; j++) {
            int a = c->start[j], d = c->dim[j];
            if (d == 0) continue;
            double p[3], q[3], t[3];
            if (c->plain) jordan(d, c->dx + a, c->ds + a, t);
            else {
                scale_block(d, c->v + 3 * j, c->eta[j], true, c->dx + a, p);
                scale_block(d, c->v + 3 * j, c->eta[j], false, c->ds + a, q);
                jordan(d, p, q, t);
            }
            for (int i = 0; i < d; i++) c->rc[a + i] += (i == 0 ? sigma * mu : 0.0) - t[i];
        }
        direction(c);
        step = fmin(1.0, 0.99 * to_boundary(c));
        for (int i = 0; i < n; i++) c->x[i] += step * c->dx[i], c->s[i] += step * c->ds[i];
    }
    return report;
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
