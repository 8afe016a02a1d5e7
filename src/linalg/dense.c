/* Dense LU, Cholesky and LDL: plain loops for small n, LAPACK above (dense.h says when).
 *
 * The small kernels run down columns, as the storage does; each is the textbook right-looking form,
 * so the inner loop is a contiguous y -= a x. */
#include "linalg/rows.h"
#include "linalg/dense.h"
#include "base/inline.h"

#include <cblas.h>
#include <lapacke.h>
#include <string.h>

double mor_norm2(int n, const double* x)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    return sqrt(s);
}

double mor_norm_max(int n, const double* x)
{
    double m = 0.0;
    for (int i = 0; i < n; i++)
        if (!(fabs(x[i]) <= m)) m = fabs(x[i]); /* lets NaN through */
    return m;
}

/* ------------------------------------------------------------------------------------- LU */

static bool lu_small(int n, double* A, int* pivot)
{
    for (int k = 0; k < n; k++) {
        double* column = A + (size_t)k * n;
        int r = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(column[i]) > fabs(column[r])) r = i;
        pivot[k] = r + 1;
        double p = column[r];
        if (!(fabs(p) > 0.0) || !isfinite(p)) return false;
        if (r != k)
            for (int j = 0; j < n; j++) {
                double t = A[k + (size_t)j * n];
                A[k + (size_t)j * n] = A[r + (size_t)j * n];
                A[r + (size_t)j * n] = t;
            }
        for (int i = k + 1; i < n; i++) column[i] /= p;
        for (int j = k + 1; j < n; j++) {
            double* other = A + (size_t)j * n;
            if (other[k] != 0.0) mor_subtract(n - k - 1, other[k], column + k + 1, other + k + 1);
        }
    }
    return true;
}

bool mor_lu_factor(int n, double* A, int* pivot)
{
    if (n < MOR_DENSE_SMALL) return lu_small(n, A, pivot);
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, A, n, pivot) != 0) return false;
    for (int k = 0; k < n; k++)
        if (!isfinite(A[k + (size_t)k * n])) return false;
    return true;
}

void mor_lu_solve(int n, const double* LU, const int* pivot, double* b)
{
    for (int k = 0; k < n; k++) {
        int r = pivot[k] - 1;
        double t = b[k];
        b[k] = b[r];
        b[r] = t;
    }
    for (int k = 0; k < n; k++)
        if (b[k] != 0.0) mor_subtract(n - k - 1, b[k], LU + (size_t)k * n + k + 1, b + k + 1);
    for (int k = n - 1; k >= 0; k--) {
        b[k] /= LU[k + (size_t)k * n];
        if (b[k] != 0.0) mor_subtract(k, b[k], LU + (size_t)k * n, b);
    }
}

void mor_lu_solve_many(int n, const double* LU, const int* pivot, int m, double* B)
{
    if (n < MOR_DENSE_SMALL || m < 4)
        for (int j = 0; j < m; j++) mor_lu_solve(n, LU, pivot, B + (size_t)j * n);
    else LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', n, m, LU, n, pivot, B, n);
}

double mor_lu_refine(int n, const double* A, const double* LU, const int* pivot, const double* b, double* x, int steps,
                     double* work)
{
    double *r = work, *trial = work + n, last = INFINITY;
    for (int s = 0;; s++) {
        /* the residual of the trial point decides whether it replaces x */
        const double* at = s == 0 ? x : trial;
        memcpy(r, b, (size_t)n * sizeof *r);
        for (int j = 0; j < n; j++)
            if (at[j] != 0.0) mor_subtract(n, at[j], A + (size_t)j * n, r);
        double now = mor_norm_max(n, r);
        if (!(now < last)) return last;
        if (s > 0) memcpy(x, trial, (size_t)n * sizeof *x);
        last = now;
        if (s == steps || now == 0.0) return last;
        mor_lu_solve(n, LU, pivot, r);
        for (int i = 0; i < n; i++) trial[i] = x[i] + r[i];
    }
}

/* ------------------------------------------------------------------------------- Cholesky */

MOR_ALWAYS_INLINE bool cholesky_small_body(int n, double* A)
{
    /* two columns at a time: what they take from the columns after them passes through the registers once */
    for (int k = 0; k < n; k += 2) {
        double *x = A + (size_t)k * n, *y = x + n, p = x[k];
        if (!(p > 0.0) || !isfinite(p)) return false;
        x[k] = p = sqrt(p);
        p = 1.0 / p;
        for (int i = k + 1; i < n; i++) x[i] *= p;
        if (k + 1 == n) break;
        mor_subtract(n - k - 1, x[k + 1], x + k + 1, y + k + 1);
        p = y[k + 1];
        if (!(p > 0.0) || !isfinite(p)) return false;
        y[k + 1] = p = sqrt(p);
        p = 1.0 / p;
        for (int i = k + 2; i < n; i++) y[i] *= p;
        for (int j = k + 2; j < n; j++) {
            const double f = x[j], g = y[j];
            const mor_four f4 = { f, f, f, f }, g4 = { g, g, g, g };
            double* to = A + (size_t)j * n;
            int i = j;
            for (; i + 4 <= n; i += 4)
                MOR_FOUR_TO(to + i) = MOR_FOUR_AT(to + i) - f4 * MOR_FOUR_AT(x + i) - g4 * MOR_FOUR_AT(y + i);
            for (; i < n; i++) to[i] = to[i] - f * x[i] - g * y[i];
        }
    }
    return true;
}

MOR_WIDE(static, bool, cholesky_small, (int n, double* A), (n, A))

bool mor_cholesky_factor(int n, double* A)
{
    if (n >= 2 * MOR_DENSE_SMALL) {
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, n) != 0) return false;
        for (int k = 0; k < n; k++)
            if (!isfinite(A[k + (size_t)k * n])) return false;
        return true;
    }
    return cholesky_small(n, A);
}

MOR_ALWAYS_INLINE void mor_cholesky_solve_body(int n, const double* L, double* b)
{
    /* divisions beforehand, where none waits for another */
    double own[2 * MOR_DENSE_SMALL], *inverse = n <= 2 * MOR_DENSE_SMALL ? own : NULL;
    for (int k = 0; inverse && k < n; k++) inverse[k] = 1.0 / L[k + (size_t)k * n];
    for (int k = 0; k < n; k++) {
        b[k] = inverse ? b[k] * inverse[k] : b[k] / L[k + (size_t)k * n];
        mor_subtract(n - k - 1, b[k], L + (size_t)k * n + k + 1, b + k + 1);
    }
    for (int k = n - 1; k >= 0; k--) {
        const double* column = L + (size_t)k * n;
        double left = b[k] - mor_inner(n - k - 1, column + k + 1, b + k + 1);
        b[k] = inverse ? left * inverse[k] : left / column[k];
    }
}

MOR_WIDE_VOID(extern, mor_cholesky_solve, (int n, const double* L, double* b), (n, L, b))

/* ------------------------------------------------------------------------------------ LDL */

/* Exchanges rows and columns k and r of the trailing lower triangle (k < r). */
static void swap_symmetric(int n, double* A, int k, int r)
{
    double t;
#define AT(i, j) A[(i) + (size_t)(j)*n]
    for (int i = r + 1; i < n; i++) t = AT(i, k), AT(i, k) = AT(i, r), AT(i, r) = t;
    for (int i = k + 1; i < r; i++) t = AT(i, k), AT(i, k) = AT(r, i), AT(r, i) = t;
    t = AT(k, k), AT(k, k) = AT(r, r), AT(r, r) = t;
#undef AT
}

static bool ldl_small(int n, double* A, int* pivot)
{
    const double alpha = (1.0 + sqrt(17.0)) / 8.0; /* bounds element growth, Bunch & Kaufman eq. 2.7 */
#define AT(i, j) A[(i) + (size_t)(j)*n]
    for (int k = 0; k < n;) {
        int step = 1, with = k, r = k;
        double diagonal = fabs(AT(k, k)), largest = 0.0;
        for (int i = k + 1; i < n; i++)
            if (fabs(AT(i, k)) > largest) largest = fabs(AT(i, k)), r = i;
        if (!(fmax(diagonal, largest) > 0.0) || !isfinite(diagonal + largest)) return false;
        if (diagonal < alpha * largest) {
            double row = 0.0;
            for (int j = k; j < r; j++) row = fmax(row, fabs(AT(r, j)));
            for (int i = r + 1; i < n; i++) row = fmax(row, fabs(AT(i, r)));
            if (diagonal * row >= alpha * largest * largest) with = k;
            else if (fabs(AT(r, r)) >= alpha * row) with = r;
            else with = r, step = 2;
        }
        int at = k + step - 1;
        if (with != at) {
            swap_symmetric(n, A, at, with);
            if (step == 2) {
                double t = AT(k + 1, k);
                AT(k + 1, k) = AT(with, k), AT(with, k) = t;
            }
        }
        if (step == 1) {
            double d = AT(k, k);
            if (!(fabs(d) > 0.0)) return false;
            for (int j = k + 1; j < n; j++) {
                double a = AT(j, k) / d;
                if (a != 0.0) mor_subtract(n - j, a, A + (size_t)k * n + j, A + (size_t)j * n + j);
            }
            for (int i = k + 1; i < n; i++) AT(i, k) /= d;
            pivot[k] = with + 1;
        } else {
            double a = AT(k, k), b = AT(k + 1, k), c = AT(k + 1, k + 1), det = a * c - b * b;
            if (!(fabs(det) > 0.0)) return false;
            for (int j = k + 2; j < n; j++) {
                double x = (c * AT(j, k) - b * AT(j, k + 1)) / det, y = (a * AT(j, k + 1) - b * AT(j, k)) / det;
                mor_subtract(n - j, x, A + (size_t)k * n + j, A + (size_t)j * n + j);
                mor_subtract(n - j, y, A + (size_t)(k + 1) * n + j, A + (size_t)j * n + j);
                AT(j, k) = x, AT(j, k + 1) = y;
            }
            pivot[k] = pivot[k + 1] = -(with + 1);
        }
        k += step;
    }
    return true;
#undef AT
}

bool mor_ldl_factor(int n, double* A, int* pivot)
{
    if (n < MOR_DENSE_SMALL) return ldl_small(n, A, pivot);
    double size[64 * 64]; /* workspace that still lets LAPACK block for n up to 4096/64 columns at a time */
    int width = (int)(sizeof size / sizeof *size);
    return LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', n, A, n, pivot, size, width) == 0;
}

void mor_ldl_solve(int n, const double* LD, const int* pivot, double* b)
{
#define AT(i, j) LD[(i) + (size_t)(j)*n]
    for (int k = 0; k < n;) {
        int step = pivot[k] > 0 ? 1 : 2, at = k + step - 1, with = (step == 1 ? pivot[k] : -pivot[k]) - 1;
        double t = b[at];
        b[at] = b[with], b[with] = t;
        if (step == 1) {
            mor_subtract(n - k - 1, b[k], LD + (size_t)k * n + k + 1, b + k + 1);
            b[k] /= AT(k, k);
        } else {
            mor_subtract(n - k - 2, b[k], LD + (size_t)k * n + k + 2, b + k + 2);
            mor_subtract(n - k - 2, b[k + 1], LD + (size_t)(k + 1) * n + k + 2, b + k + 2);
            double a = AT(k, k), o = AT(k + 1, k), c = AT(k + 1, k + 1), det = a * c - o * o;
            double x = (c * b[k] - o * b[k + 1]) / det, y = (a * b[k + 1] - o * b[k]) / det;
            b[k] = x, b[k + 1] = y;
        }
        k += step;
    }
    for (int k = n - 1; k >= 0;) {
        int step = pivot[k] > 0 ? 1 : 2, first = k - step + 1, with = (step == 1 ? pivot[k] : -pivot[k]) - 1;
        for (int c = first; c <= k; c++) {
            double s = b[c];
            for (int i = k + 1; i < n; i++) s -= AT(i, c) * b[i];
            b[c] = s;
        }
        double t = b[k];
        b[k] = b[with], b[with] = t;
        k -= step;
    }
#undef AT
}

/* --------------------------------------------------------------------------- semidefinite */

int mor_semidefinite_factor(int n, double* A, int* order, double tolerance, double* least, double* work)
{
    (void)work;
    for (int i = 0; i < n; i++) order[i] = i;
    int k = 0;
    for (; k < n; k++) {
        int r = k;
        for (int i = k + 1; i < n; i++)
            if (A[i + (size_t)i * n] > A[r + (size_t)r * n]) r = i;
        double p = A[r + (size_t)r * n];
        if (!(p > tolerance)) break;
        if (r != k) {
            swap_symmetric(n, A, k, r);
            for (int j = 0; j < k; j++) {
                double t = A[k + (size_t)j * n];
                A[k + (size_t)j * n] = A[r + (size_t)j * n], A[r + (size_t)j * n] = t;
            }
            int t = order[k];
            order[k] = order[r], order[r] = t;
        }
        double* column = A + (size_t)k * n;
        p = sqrt(p);
        column[k] = p;
        for (int i = k + 1; i < n; i++) column[i] /= p;
        for (int j = k + 1; j < n; j++)
            if (column[j] != 0.0) mor_subtract(n - j, column[j], column + j, A + (size_t)j * n + j);
    }
    if (least) {
        *least = k < n ? INFINITY : 0.0;
        for (int i = k; i < n; i++) *least = fmin(*least, A[i + (size_t)i * n]);
        /* what is left of a semidefinite matrix has nothing off its vanishing diagonal either */
        for (int j = k; j < n; j++)
            for (int i = j + 1; i < n; i++) *least = fmin(*least, -fabs(A[i + (size_t)j * n]));
    }
    return k;
}

bool mor_symmetric_part_is_semidefinite(int n, const double* A, double tolerance, double* work, int* order)
{
    double largest = 0.0, least;
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double s = 0.5 * (A[i + (size_t)j * n] + A[j + (size_t)i * n]);
            work[i + (size_t)j * n] = s;
            largest = fmax(largest, fabs(s));
        }
    mor_semidefinite_factor(n, work, order, tolerance * largest, &least, work + (size_t)n * n);
    return least >= -10.0 * tolerance * largest;
}

/* ------------------------------------------------------------------------------- products */

void mor_dense_apply(int rows, int cols, const double* A, const double* x, double* y)
{
    memset(y, 0, (size_t)rows * sizeof *y);
    for (int j = 0; j < cols; j++)
        if (x[j] != 0.0) mor_subtract(rows, -x[j], A + (size_t)j * rows, y);
}

void mor_dense_apply_transposed(int rows, int cols, const double* A, const double* x, double* y)
{
    for (int j = 0; j < cols; j++) {
        const double* column = A + (size_t)j * rows;
        double s = 0.0;
        for (int i = 0; i < rows; i++) s += column[i] * x[i];
        y[j] = s;
    }
}

void mor_dense_multiply_add(int m, int n, int k, double alpha, const double* A, int lda, const double* B, int ldb,
                            double* C, int ldc)
{
    if (m == 0 || n == 0 || k == 0) return;
    if ((double)m * n * k > 20000.0) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, alpha, A, lda, B, ldb, 1.0, C, ldc);
        return;
    }
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++) {
            double b = alpha * B[l + (size_t)j * ldb];
            if (b != 0.0) mor_subtract(m, -b, A + (size_t)l * lda, C + (size_t)j * ldc);
        }
}

/* ------------------------------------------------------------------------- least squares */

int mor_least_norm(int n, double* A, double* b, double rcond, mor_arena* arena)
{
    if (n == 0) return 0;
    size_t mark = mor_arena_mark(arena);
    int size = 4 * n + 1 + 32 * (n + 1), rank = -1;
    int* pivot = mor_arena_zero(arena, (size_t)n, sizeof *pivot);
    double* work = mor_arena_alloc(arena, (size_t)size * sizeof *work);
    if (pivot && work &&
        LAPACKE_dgelsy_work(LAPACK_COL_MAJOR, n, n, 1, A, n, b, n, pivot, rcond, &rank, work, size) != 0)
        rank = -1;
    mor_arena_release(arena, mark);
    return rank;
}
