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

#include "linalg/dense.h"
#include "linalg/tableau.h"
#include "problem/convert.h"

typedef struct mlcp_data {
    int n, f, c;
    int *free_rows, *other; /* indices in the MLCP */
    /* Schur complement */
    double *A, *LU;    /* scaled A_ff and its factor */
    double* row_scale; /* of the equations */
    double *Afc, *bf;  /* scaled */
    int* pivot;
    /* tableau */
    bool tableau;
    double *T, *q;         /* n x n column-major, n: basic = q + T nonbasic, scaled */
    int *basic, *nonbasic; /* variable of each row and column: z_i is i, w_i is n + i */
    double* column_scale;  /* z_j = column_scale_j z'_j ; w_i = w'_i / row_scale_i */
} mlcp_data;

static double entry(const mor_matrix* A, int i, int j)
{
    if (A->storage == MOR_DENSE) return A->x[i + (size_t)j * A->rows];
    for (int k = A->p[i]; k < A->p[i + 1]; k++)
        if (A->i[k] == j) return A->x[k];
    return 0.0;
}

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
        double size = 0.0;
        for (int j = 0; j < f; j++)
            size = fmax(size, fabs(d->A[i + (size_t)j * f] = entry(&from->A, d->free_rows[i], d->free_rows[j])));
        double scale = 1.0 / mor_power_of_two(size);
        for (int j = 0; j < f; j++) d->A[i + (size_t)j * f] *= scale;
        for (int j = 0; j < c; j++) d->Afc[i + (size_t)j * f] = scale * entry(&from->A, d->free_rows[i], d->other[j]);
        d->bf[i] = scale * from->b[d->free_rows[i]];
    }
    memcpy(d->LU, d->A, (size_t)f * f * sizeof(double));
    if (!mor_lu_factor(f, d->LU, d->pivot)) return false;
    double most = 0.0, least = INFINITY;
    for (int i = 0; i < f; i++) {
        /* columns of the equilibrated block may differ in size: compare each pivot with its column */
        double size = 0.0, u = fabs(d->LU[i + (size_t)i * f]);
        for (int k = 0; k < f; k++) size = fmax(size, fabs(d->A[k + (size_t)i * f]));
        most = fmax(most, 1.0), least = fmin(least, size > 0.0 ? u / size : 0.0);
    }
    if (!(least > 1e-10 * most)) return false;

    memcpy(X, d->Afc, (size_t)f * c * sizeof(double));
    memcpy(X + (size_t)f * c, d->bf, (size_t)f * sizeof(double));
    mor_lu_solve_many(f, d->LU, d->pivot, c + 1, X);
    for (int i = 0; i < c; i++) {
        for (int j = 0; j < f; j++) Acf[i + (size_t)j * c] = entry(&from->A, d->other[i], d->free_rows[j]);
        for (int j = 0; j < c; j++) S[i + (size_t)j * c] = entry(&from->A, d->other[i], d->other[j]);
        s[i] = from->b[d->other[i]];
    }
    mor_dense_multiply_add(c, c, f, -1.0, Acf, c, X, f, S, c);
    mor_dense_multiply_add(c, 1, f, -1.0, Acf, c, X + (size_t)f * c, f, s, c);
    mor_arena_release(arena, mark);
    return true;
}

/* -------------------------------------------------------------------------------- tableau */

static void pivot_tableau(mlcp_data* d, int r, int s)
{
    int n = d->n;
    double p = d->T[r + (size_t)s * n];
    double* leaving = d->T + (size_t)s * n;
    for (int j = 0; j < n; j++) {
        double* column = d->T + (size_t)j * n;
        if (j == s || column[r] == 0.0) continue;
        double t = -column[r] / p; /* the new entry of row r */
        for (int i = 0; i < n; i++)
            if (i != r) column[i] += leaving[i] * t;
        column[r] = t;
    }
    double t = -d->q[r] / p;
    for (int i = 0; i < n; i++)
        if (i != r) d->q[i] += leaving[i] * t;
    d->q[r] = t;
    for (int i = 0; i < n; i++) leaving[i] /= p;
    leaving[r] = 1.0 / p;
    int v = d->basic[r];
    d->basic[r] = d->nonbasic[s], d->nonbasic[s] = v;
}

static void tableau_back(const mor_conversion* conversion, const double* x, double* z, mor_arena* arena)
{
    const mlcp_data* d = conversion->data;
    int n = d->n;
    size_t mark = mor_arena_mark(arena);
    double* value = mor_arena_zero(arena, (size_t)n, sizeof *value); /* of the nonbasic variables */
    double* image = mor_arena_alloc(arena, (size_t)n * sizeof *image);
    if (!value || !image) return;
    for (int k = 0; k < d->c; k++) value[d->other[k]] = x[k];
    mor_dense_apply(n, n, d->T, value, image);
    for (int j = 0; j < n; j++)
        if (d->nonbasic[j] < n) z[d->nonbasic[j]] = d->column_scale[d->nonbasic[j]] * value[j];
    for (int i = 0; i < n; i++)
        if (d->basic[i] < n) z[d->basic[i]] = d->column_scale[d->basic[i]] * (image[i] + d->q[i]);
    mor_arena_release(arena, mark);
}

/* Fills `to` with the LCP over the columns d->other; a reason otherwise. */
static mor_code tableau(const mor_problem* from, mlcp_data* d, mor_problem* to, bool* no_solution, mor_arena* arena,
                        mor_error* error)
{
    int n = d->n;
    d->tableau = true;
    d->T = mor_arena_zero(arena, (size_t)n * n, sizeof(double));
    d->q = mor_arena_alloc(arena, (size_t)n * sizeof(double));
    d->basic = mor_arena_alloc(arena, (size_t)n * sizeof(int));
    d->nonbasic = mor_arena_alloc(arena, (size_t)n * sizeof(int));
    d->row_scale = mor_arena_alloc(arena, (size_t)n * sizeof(double));
    d->column_scale = mor_arena_alloc(arena, (size_t)n * sizeof(double));
    bool* is_free = mor_arena_zero(arena, (size_t)n, sizeof *is_free);
    bool* row_done = mor_arena_zero(arena, (size_t)n, sizeof *row_done);
    bool* column_done = mor_arena_zero(arena, (size_t)n, sizeof *column_done);
    if (!d->T || !d->q || !d->basic || !d->nonbasic || !d->row_scale || !d->column_scale || !is_free || !row_done ||
        !column_done)
        return MOR_SYSTEM;
    for (int i = 0; i < n; i++) d->row_scale[i] = d->column_scale[i] = 1.0, d->basic[i] = n + i, d->nonbasic[i] = i;
    for (int k = 0; k < d->f; k++) is_free[d->free_rows[k]] = true;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) d->T[i + (size_t)j * n] = entry(&from->A, i, j);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < n; i++) {
            double size = 0.0;
            for (int j = 0; j < n; j++) size = fmax(size, fabs(d->T[i + (size_t)j * n]));
            double scale = 1.0 / mor_power_of_two(size);
            d->row_scale[i] *= scale;
            for (int j = 0; j < n; j++) d->T[i + (size_t)j * n] *= scale;
        }
        for (int j = 0; j < n; j++) {
            double size = mor_norm_max(n, d->T + (size_t)j * n), scale = 1.0 / mor_power_of_two(size);
            d->column_scale[j] *= scale;
            for (int i = 0; i < n; i++) d->T[i + (size_t)j * n] *= scale;
        }
    }
    double size = 0.0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(d->q[i] = d->row_scale[i] * from->b[i]));

    const double tiny = 1e-11; /* of entries that started near 1 */
    int left = d->f;
    for (; left > 0; left--) { /* (a) */
        int r = -1, c = -1;
        double best = tiny;
        for (int k = 0; k < d->f; k++)
            for (int l = 0; l < d->f; l++) {
                int i = d->free_rows[l], j = d->free_rows[k];
                if (!row_done[i] && !column_done[j] && fabs(d->T[i + (size_t)j * n]) > best)
                    best = fabs(d->T[i + (size_t)j * n]), r = i, c = j;
            }
        if (r < 0) break;
        pivot_tableau(d, r, c);
        row_done[r] = column_done[c] = true;
    }
    for (; left > 0; left--) { /* (b) */
        int f = -1, g = -1, k = -1;
        double best = tiny;
        for (int j = 0; j < n; j++) {
            if (!is_free[j] || column_done[j]) continue;
            for (int i = 0; i < n; i++) {
                if (!is_free[i] || row_done[i]) continue;
                for (int l = 0; l < n; l++) {
                    if (is_free[l]) continue;
                    double product = fabs(d->T[l + (size_t)j * n] * d->T[i + (size_t)l * n]);
                    if (product > best) best = product, f = j, g = i, k = l;
                }
            }
        }
        if (f < 0) break;
        pivot_tableau(d, k, f); /* free variable basic in row k, w_k in column f */
        pivot_tableau(d, g, k); /* z_k basic in row g, the equation's zero in column k */
        /* relabel so that pair k has its row and column again: column k := column f, row k := row g */
        for (int i = 0; i < n; i++) {
            double t = d->T[i + (size_t)k * n];
            d->T[i + (size_t)k * n] = d->T[i + (size_t)f * n], d->T[i + (size_t)f * n] = t;
        }
        for (int j = 0; j < n; j++) {
            double t = d->T[k + (size_t)j * n];
            d->T[k + (size_t)j * n] = d->T[g + (size_t)j * n], d->T[g + (size_t)j * n] = t;
        }
        double t = d->q[k];
        d->q[k] = d->q[g], d->q[g] = t;
        int v = d->nonbasic[k];
        d->nonbasic[k] = d->nonbasic[f], d->nonbasic[f] = v;
        v = d->basic[k];
        d->basic[k] = d->basic[g], d->basic[g] = v;
        row_done[g] = column_done[f] = true;
    }
    int* extra = mor_arena_alloc(arena, ((size_t)left + 1) * sizeof *extra); /* (c) */
    int extras = 0, size_out = 0;
    if (!extra) return MOR_SYSTEM;
    for (int i = 0; i < n && left > 0; i++) {
        if (!is_free[i] || row_done[i]) continue;
        double coefficient = 0.0;
        for (int j = 0; j < n; j++)
            if (!is_free[j]) coefficient = fmax(coefficient, fabs(d->T[i + (size_t)j * n]));
        if (coefficient > tiny) extra[extras++] = i;
        else if (fabs(d->q[i]) > 1e-9 * fmax(size, 1e-300)) {
            *no_solution = true;
            return mor_fail(error, MOR_BAD_INPUT, "equation %d contradicts the others", i);
        }
    }
    size_out = d->c + 2 * extras;
    double* S = mor_arena_zero(arena, (size_t)size_out * size_out, sizeof *S);
    double* s = mor_arena_alloc(arena, (size_t)size_out * sizeof *s);
    if (!S || !s) return MOR_SYSTEM;
    for (int a = 0; a < size_out; a++) {
        int k = a - d->c, row = k < 0 ? d->other[a] : extra[k / 2];
        double sign = k >= 0 && k % 2 ? -1.0 : 1.0;
        s[a] = sign * d->q[row];
        for (int b = 0; b < d->c; b++) S[a + (size_t)b * size_out] = sign * d->T[row + (size_t)d->other[b] * n];
    }
    to->size = size_out;
    to->A = (mor_matrix){ .storage = MOR_DENSE, .rows = size_out, .cols = size_out, .x = S };
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
