/* Blocks, scaling and linear algebra of the interior-point method (interior_system.h). */
#include "solver/interior_system.h"

#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/krylov.h"
#include "problem/entries.h"
#include "solver/lorentz.h"

/* --------------------------------------------------------------------------- Newton system */

/* What is added to the diagonal: rows held at zero (scale 0) need something there. */
static double extra(const mor_interior* c, int i) { return (c->scale[i] == 0.0 ? 1.0 : 0.0) + c->shift; }

static void apply_K(void* user, const double* x, double* y)
{
    mor_interior* c = user;
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
    mor_interior* c = user;
    mor_csr_apply_transposed(&c->A, x, y);
    for (int i = 0; i < c->n; i++) y[i] += extra(c, i) * x[i];
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k], d = c->dim[k];
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) y[a + i] += c->V2[9 * k + 3 * j + i] * x[a + j];
    }
}

bool mor_interior_factor(mor_interior* c)
{
    size_t n = (size_t)c->n;
    if (c->method != MOR_INTERIOR_DIRECT) {
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

static void solve_K(mor_interior* c)
{
    memcpy(c->dx, c->rhs, (size_t)c->n * sizeof *c->dx);
    if (c->method == MOR_INTERIOR_DIRECT) {
        if (c->dense) mor_lu_solve(c->n, c->LU, c->pivot, c->dx);
        else mor_sparse_lu_solve(c->lu, 1, c->dx);
        return;
    }
    memset(c->dx, 0, (size_t)c->n * sizeof *c->dx);
    if (c->method == MOR_INTERIOR_GMRES)
        mor_gmres(c->n, apply_K, c, c->diagonal, c->rhs, c->dx, c->tol, 40, 40 + 4 * c->n, c->work);
    else if (c->symmetric && !c->plain) mor_cg(c->n, apply_K, c, c->rhs, c->dx, c->tol, 40 + 4 * c->n, c->work);
    else mor_cg_normal(c->n, apply_K, apply_Kt, c, c->rhs, c->dx, c->tol, 40 + 8 * c->n, c->work);
}

/* dx, ds from rc */
void mor_interior_direction(mor_interior* c)
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

double mor_interior_room(const mor_interior* c)
{
    double t = INFINITY;
    for (int k = 0; k < c->count; k++) {
        int a = c->start[k], d = c->dim[k];
        if (d > 0)
            t = mor_min(t, mor_min(mor_lorentz_room(d, c->x + a, c->dx + a), mor_lorentz_room(d, c->s + a, c->ds + a)));
    }
    return t;
}

/* ---------------------------------------------------------------------------------- set-up */

/* Blocks and scaling of the problem. Contacts without friction keep their normal row; tangents are held at zero by a
 * scale of 0. */
static bool make_blocks(mor_interior* c, const mor_problem* p, mor_arena* arena)
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

static bool make_matrix(mor_interior* c, const mor_problem* p, mor_arena* arena)
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
    for (int e = 0; e < c->A.p[n]; e++) largest = mor_max(largest, fabs(c->A.x[e]));
    for (int i = 0; i < n && c->symmetric && c->method == MOR_INTERIOR_CG; i++)
        for (int e = c->A.p[i]; e < c->A.p[i + 1]; e++)
            if (fabs(c->A.x[e] - mor_csr_get(&c->A, c->A.i[e], i)) > 1e-13 * largest) c->symmetric = false;
    for (int k = 0; k < c->count; k++)
        if (c->dim[k] == 0) c->symmetric = false;
    return true;
}

static bool make_linear(mor_interior* c, mor_arena* arena)
{
    size_t n = (size_t)c->n;
    double density = n ? (double)c->A.p[n] / ((double)n * (double)n) : 1.0;
    c->dense = n <= 260 || (density > 0.15 && n <= 6000);
    if (c->method != MOR_INTERIOR_DIRECT) {
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

bool mor_interior_open(mor_interior* c, const mor_problem* p, mor_arena* arena)
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
