/* MLCP -> LCP: free variables eliminated from the equations.
 *
 * With f the free variables and equations, c the rest:  0 = b_f + A_ff f + A_fc x,
 * w = b_c + A_cf f + A_cc x. When A_ff is well conditioned (equilibrated LU):
 *   S = A_cc - A_cf A_ff^-1 A_fc,   s = b_c - A_cf A_ff^-1 b_f,   f = -A_ff^-1 (b_f + A_fc x).
 * When it is singular (redundant joints, diode bridges) the tableau w = b + A z, rows and columns
 * scaled by powers of two, is pivoted instead:
 *   (a) equation row g with free column f, largest |T_gf| first;
 *   (b) equations left: the triple (free column f, equation g, pair k) with the largest
 *       |T_kf T_gk| is pivoted at (w_k, f), then (g, z_k): the pair k is exchanged, w_k for z_k, and
 *       the rest is an LCP again.
 *   (c) an equation e(x) = 0 that is left without any free variable becomes two rows, e(x) >= 0 and -e(x) >= 0,
 *       each paired with a variable that enters nowhere; without any coefficient at all it is redundant
 *       if its constant vanishes, else the problem has no solution.
 *
 * Cost: 2/3 f^3 + 2 f n^2. Dense; meant for up to a few thousand unknowns.
 * Reference: Cottle, Pang & Stone (1992), The Linear Complementarity Problem, sec. 1.5 and 2.3
 * (Schur complements and principal pivotal transforms). */
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/tableau.h"
#include "problem/convert.h"
#include "problem/entries.h"

typedef struct mlcp_data {
    int n, f, c;
    int *free_rows, *other; /* indices in the MLCP */
    /* Schur complement */
    double *A, *LU;   /* scaled A_ff and its factor */
    double *Afc, *bf; /* scaled */
    int* pivot;
    /* tableau: basic = T [nonbasic; 1], scaled */
    int stride;            /* n + 1 columns, padded (tableau.h) */
    double* T;             /* n rows */
    int *basic, *nonbasic; /* variable of each row and column: z_i is i, w_i is n + i */
    double* row_scale;     /* w_i = w'_i / row_scale_i */
    double* column_scale;  /* z_j = column_scale_j z'_j */
    int* index;            /* scratch of a pivot */
    /* while pivoting */
    bool *is_free, *row_done, *column_done;
    double size; /* of the scaled constants */
} mlcp_data;

/* ---------------------------------------------------------------------------------- Schur */

static void schur_back(const mor_conversion* conversion, const double* x, double* z, mor_arena* arena)
{
    const mlcp_data* d = conversion->data;
    size_t mark = mor_arena_mark(arena);
    double* work = mor_arena_alloc(arena, 4 * ((size_t)d->f + 1) * sizeof *work);
    for (int k = 0; k < d->c; k++) z[d->other[k]] = x[k];
    if (work && d->f) {
        double *g = work, *b = work + d->f, *spare = work + 2 * d->f;
        mor_dense_apply(d->f, d->c, d->Afc, x, b);
        for (int i = 0; i < d->f; i++) g[i] = b[i] = -(b[i] + d->bf[i]);
        mor_lu_solve(d->f, d->LU, d->pivot, g);
        mor_lu_refine(d->f, d->A, d->LU, d->pivot, b, g, 2, spare);
        for (int i = 0; i < d->f; i++) z[d->free_rows[i]] = g[i];
    }
    mor_arena_release(arena, mark);
}

static void pick(const mor_conversion* conversion, const double* z, double* x, mor_arena* arena)
{
    (void)arena;
    const mlcp_data* d = conversion->data;
    for (int k = 0; k < d->c; k++) x[k] = z[d->other[k]];
}

/* False if A_ff is singular to working precision. */
static bool schur(const mor_problem* from, mlcp_data* d, double* S, double* s, mor_arena* arena)
{
    int f = d->f, c = d->c;
    d->A = mor_arena_alloc(arena, (size_t)f * f * sizeof(double));
    d->LU = mor_arena_alloc(arena, (size_t)f * f * sizeof(double));
    d->Afc = mor_arena_alloc(arena, (size_t)f * c * sizeof(double));
    d->bf = mor_arena_alloc(arena, (size_t)f * sizeof(double));
    d->pivot = mor_arena_alloc(arena, (size_t)f * sizeof(int));
    size_t mark = mor_arena_mark(arena);
    double* X = mor_arena_alloc(arena, (size_t)f * (size_t)(c + 1) * sizeof(double));
    double* Acf = mor_arena_alloc(arena, (size_t)c * f * sizeof(double));
    if (!d->A || !d->LU || !d->Afc || !d->bf || !d->pivot || !X || !Acf) return false;
    for (int i = 0; i < f; i++) {
        for (int j = 0; j < f; j++)
            d->A[i + (size_t)j * f] = mor_matrix_entry(&from->A, d->free_rows[i], d->free_rows[j]);
        double scale = mor_scale_row(f, f, d->A + i);
        for (int j = 0; j < c; j++)
            d->Afc[i + (size_t)j * f] = scale * mor_matrix_entry(&from->A, d->free_rows[i], d->other[j]);
        d->bf[i] = scale * from->b[d->free_rows[i]];
    }
    memcpy(d->LU, d->A, (size_t)f * f * sizeof(double));
    if (!mor_lu_factor(f, d->LU, d->pivot)) return false;
    double least = INFINITY;
    for (int i = 0; i < f; i++) {
        /* columns of the equilibrated block may differ in size: compare each pivot with its column */
        double size = 0.0, u = fabs(d->LU[i + (size_t)i * f]);
        for (int k = 0; k < f; k++) size = mor_max(size, fabs(d->A[k + (size_t)i * f]));
        least = mor_min(least, size > 0.0 ? u / size : 0.0);
    }
    if (!(least > 1e-10)) return false;

    memcpy(X, d->Afc, (size_t)f * c * sizeof(double));
    memcpy(X + (size_t)f * c, d->bf, (size_t)f * sizeof(double));
    mor_lu_solve_many(f, d->LU, d->pivot, c + 1, X);
    for (int i = 0; i < c; i++) {
        for (int j = 0; j < f; j++) Acf[i + (size_t)j * c] = mor_matrix_entry(&from->A, d->other[i], d->free_rows[j]);
        for (int j = 0; j < c; j++) S[i + (size_t)j * c] = mor_matrix_entry(&from->A, d->other[i], d->other[j]);
        s[i] = from->b[d->other[i]];
    }
    mor_dense_multiply_add(c, c, f, -1.0, Acf, c, X, f, S, c);
    mor_dense_multiply_add(c, 1, f, -1.0, Acf, c, X + (size_t)f * c, f, s, c);
    mor_arena_release(arena, mark);
    return true;
}

/* -------------------------------------------------------------------------------- tableau */

static double* row_of(const mlcp_data* d, int i) { return d->T + (size_t)i * d->stride; }

static void exchange(mlcp_data* d, int r, int s)
{
    mor_tableau_pivot(d->n, d->n + 1, d->stride, d->T, r, s, d->index);
    int v = d->basic[r];
    d->basic[r] = d->nonbasic[s], d->nonbasic[s] = v;
}

static void tableau_back(const mor_conversion* conversion, const double* x, double* z, mor_arena* arena)
{
    const mlcp_data* d = conversion->data;
    int n = d->n;
    size_t mark = mor_arena_mark(arena);
    double* value = mor_arena_zero(arena, (size_t)n, sizeof *value); /* of the nonbasic variables */
    if (!value) return;
    for (int k = 0; k < d->c; k++) value[d->other[k]] = x[k];
    for (int j = 0; j < n; j++)
        if (d->nonbasic[j] < n) z[d->nonbasic[j]] = d->column_scale[d->nonbasic[j]] * value[j];
    for (int i = 0; i < n; i++) {
        if (d->basic[i] >= n) continue;
        const double* row = row_of(d, i);
        double s = 0.0;
        for (int j = 0; j < n; j++) s += row[j] * value[j];
        z[d->basic[i]] = d->column_scale[d->basic[i]] * (s + row[n]);
    }
    mor_arena_release(arena, mark);
}

/* The scaled tableau of the whole problem. False: out of memory. */
static bool load_tableau(const mor_problem* from, mlcp_data* d, mor_arena* arena)
{
    int n = d->n;
    size_t N = (size_t)n;
    d->stride = (n + 1 + 3) & ~3;
    d->T = mor_arena_zero(arena, N * (size_t)d->stride, sizeof(double));
    d->basic = mor_arena_alloc(arena, N * sizeof(int));
    d->nonbasic = mor_arena_alloc(arena, N * sizeof(int));
    d->index = mor_arena_alloc(arena, (size_t)d->stride * sizeof(int));
    d->row_scale = mor_arena_alloc(arena, N * sizeof(double));
    d->column_scale = mor_arena_alloc(arena, N * sizeof(double));
    d->is_free = mor_arena_zero(arena, N, sizeof(bool));
    d->row_done = mor_arena_zero(arena, N, sizeof(bool));
    d->column_done = mor_arena_zero(arena, N, sizeof(bool));
    double* work = mor_arena_alloc(arena, 2 * N * sizeof(double));
    if (!d->T || !d->basic || !d->nonbasic || !d->index || !d->row_scale || !d->column_scale || !work) return false;
    if (!d->is_free || !d->row_done || !d->column_done) return false;
    for (int k = 0; k < d->f; k++) d->is_free[d->free_rows[k]] = true;
    for (int i = 0; i < n; i++) mor_matrix_get_row(&from->A, i, row_of(d, i));
    mor_tableau_equilibrate(n, d->stride, d->T, d->row_scale, d->column_scale, work);
    for (int i = 0; i < n; i++) {
        d->basic[i] = n + i, d->nonbasic[i] = i;
        row_of(d, i)[n] = d->row_scale[i] * from->b[i];
        d->size = mor_max(d->size, fabs(row_of(d, i)[n]));
    }
    return true;
}

static const double tiny = 1e-11; /* of entries that started near 1 */

/* (a) One equation and one free variable, the largest entry. False: none is left. */
static bool eliminate_equation(mlcp_data* d)
{
    int r = -1, c = -1;
    double best = tiny;
    for (int k = 0; k < d->f; k++)
        for (int l = 0; l < d->f; l++) {
            int i = d->free_rows[l], j = d->free_rows[k];
            if (d->row_done[i] || d->column_done[j]) continue;
            if (fabs(row_of(d, i)[j]) > best) best = fabs(row_of(d, i)[j]), r = i, c = j;
        }
    if (r < 0) return false;
    exchange(d, r, c);
    d->row_done[r] = d->column_done[c] = true;
    return true;
}

/* Exchanges the places of rows g and k, columns f and k. */
static void relabel(mlcp_data* d, int f, int g, int k)
{
    double t;
    int v;
    for (int i = 0; i < d->n; i++) t = row_of(d, i)[k], row_of(d, i)[k] = row_of(d, i)[f], row_of(d, i)[f] = t;
    for (int j = 0; j <= d->n; j++) t = row_of(d, k)[j], row_of(d, k)[j] = row_of(d, g)[j], row_of(d, g)[j] = t;
    v = d->nonbasic[k], d->nonbasic[k] = d->nonbasic[f], d->nonbasic[f] = v;
    v = d->basic[k], d->basic[k] = d->basic[g], d->basic[g] = v;
}

/* (b) One equation and one free variable through a pair. False: none is left. */
static bool eliminate_through_pair(mlcp_data* d)
{
    int n = d->n, f = -1, g = -1, k = -1;
    double best = tiny;
    for (int j = 0; j < n; j++) {
        if (!d->is_free[j] || d->column_done[j]) continue;
        for (int i = 0; i < n; i++) {
            if (!d->is_free[i] || d->row_done[i]) continue;
            for (int l = 0; l < n; l++) {
                double product = d->is_free[l] ? 0.0 : fabs(row_of(d, l)[j] * row_of(d, i)[l]);
                if (product > best) best = product, f = j, g = i, k = l;
            }
        }
    }
    if (f < 0) return false;
    exchange(d, k, f);   /* free variable basic in row k, w_k in column f */
    exchange(d, g, k);   /* z_k basic in row g, the equation's zero in column k */
    relabel(d, f, g, k); /* pair k has its row and column again */
    d->row_done[g] = d->column_done[f] = true;
    return true;
}

/* (c) Equations left without a free variable: those with coefficients are listed, the others must vanish. Returns how
 * many, or -1 - (the equation that contradicts the others). */
static int list_extra(const mlcp_data* d, int* extra)
{
    int n = d->n, extras = 0;
    for (int i = 0; i < n; i++) {
        if (!d->is_free[i] || d->row_done[i]) continue;
        double coefficient = 0.0;
        for (int j = 0; j < n; j++)
            if (!d->is_free[j]) coefficient = mor_max(coefficient, fabs(row_of(d, i)[j]));
        if (coefficient > tiny) extra[extras++] = i;
        else if (fabs(row_of(d, i)[n]) > 1e-9 * mor_max(d->size, 1e-300)) return -1 - i;
    }
    return extras;
}

/* Fills `to` with the LCP over the columns d->other; a reason otherwise. */
static mor_code tableau(const mor_problem* from, mlcp_data* d, mor_problem* to, bool* no_solution, mor_arena* arena,
                        mor_error* error)
{
    if (!load_tableau(from, d, arena)) return MOR_SYSTEM;
    int left = d->f;
    while (left > 0 && eliminate_equation(d)) left--;
    while (left > 0 && eliminate_through_pair(d)) left--;
    int* extra = mor_arena_alloc(arena, ((size_t)left + 1) * sizeof *extra);
    if (!extra) return MOR_SYSTEM;
    int extras = list_extra(d, extra);
    if (extras < 0) {
        *no_solution = true;
        return mor_fail(error, MOR_BAD_INPUT, "equation %d contradicts the others", -1 - extras);
    }
    int size = d->c + 2 * extras;
    double* S = mor_arena_zero(arena, (size_t)size * size, sizeof *S);
    double* s = mor_arena_alloc(arena, (size_t)size * sizeof *s);
    if (!S || !s) return MOR_SYSTEM;
    for (int a = 0; a < size; a++) {
        int k = a - d->c;
        const double* row = row_of(d, k < 0 ? d->other[a] : extra[k / 2]);
        double sign = k >= 0 && k % 2 ? -1.0 : 1.0;
        s[a] = sign * row[d->n];
        for (int b = 0; b < d->c; b++) S[a + (size_t)b * size] = sign * row[d->other[b]];
    }
    to->size = size;
    to->A = (mor_matrix){ .storage = MOR_DENSE, .rows = size, .cols = size, .x = S };
    to->b = s;
    return MOR_OK;
}

/* -------------------------------------------------------------------------------- together */

mor_code mor_convert_mlcp_to_lcp(const mor_problem* from, mor_conversion* conversion, bool* no_solution,
                                 mor_arena* arena, mor_error* error)
{
    int n = from->size;
    mlcp_data* d = mor_arena_zero(arena, 1, sizeof *d);
    if (!d) return MOR_SYSTEM;
    d->n = n;
    d->free_rows = mor_arena_alloc(arena, (size_t)n * sizeof(int));
    d->other = mor_arena_alloc(arena, (size_t)n * sizeof(int));
    if (!d->free_rows || !d->other) return MOR_SYSTEM;
    for (int i = 0; i < n; i++)
        if (from->lower && from->lower[i] == -INFINITY) d->free_rows[d->f++] = i;
        else d->other[d->c++] = i;
    *conversion = (mor_conversion){ .from = from, .back = schur_back, .forward = pick, .data = d };
    conversion->to = (mor_problem){ .form = MOR_LCP, .size = d->c };
    if (d->f == 0) {
        conversion->to.A = from->A;
        conversion->to.b = from->b;
        return MOR_OK;
    }
    if (from->A.storage == MOR_OPERATOR)
        return mor_fail(error, MOR_BAD_INPUT, "free variables of a matrix-free mlcp cannot be eliminated");
    double* S = mor_arena_alloc(arena, (size_t)d->c * d->c * sizeof *S);
    double* s = mor_arena_alloc(arena, (size_t)d->c * sizeof *s);
    if (!S || !s) return MOR_SYSTEM;
    if (!schur(from, d, S, s, arena)) {
        conversion->back = tableau_back;
        conversion->forward = NULL;
        return tableau(from, d, &conversion->to, no_solution, arena, error);
    }
    conversion->to.A = (mor_matrix){ .storage = MOR_DENSE, .rows = d->c, .cols = d->c, .x = S };
    conversion->to.b = s;
    return MOR_OK;
}
