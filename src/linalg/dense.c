/* Dense LU by halves, products and norms (dense.h).
 *
 * The columns are halved: the left half is factored, the right half gets its rows U by a triangular solve and the rest
 * by a product, then the rest is factored. Up to 16 columns are eliminated one by one, the textbook right-looking form
 * with the contiguous inner loop y -= a x. Every entry sees the same operations in the same order either way. */
#include "linalg/dense.h"

#include <string.h>

#include "linalg/blocks.h"
#include "linalg/rows.h"

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

/* The first n columns of m rows; rows are exchanged in these columns only. */
MOR_ALWAYS_INLINE bool eliminate_body(int m, int n, double* A, int lda, int* pivot)
{
    for (int k = 0; k < n; k++) {
        double* column = A + (size_t)k * lda;
        int r = k;
        for (int i = k + 1; i < m; i++)
            if (fabs(column[i]) > fabs(column[r])) r = i;
        pivot[k] = r + 1;
        double p = column[r];
        if (!(fabs(p) > 0.0) || !isfinite(p)) return false;
        if (r != k)
            for (int j = 0; j < n; j++) {
                double t = A[k + (size_t)j * lda];
                A[k + (size_t)j * lda] = A[r + (size_t)j * lda];
                A[r + (size_t)j * lda] = t;
            }
        for (int i = k + 1; i < m; i++) column[i] /= p;
        for (int j = k + 1; j < n; j++) {
            double* other = A + (size_t)j * lda;
            if (other[k] != 0.0) mor_subtract(m - k - 1, other[k], column + k + 1, other + k + 1);
        }
    }
    return true;
}

MOR_WIDE(static, bool, eliminate, (int m, int n, double* A, int lda, int* pivot), (m, n, A, lda, pivot))

static void exchange_rows(int count, const int* pivot, int columns, double* A, int lda)
{
    for (int j = 0; j < columns; j++, A += lda)
        for (int k = 0; k < count; k++) {
            double t = A[k];
            A[k] = A[pivot[k] - 1], A[pivot[k] - 1] = t;
        }
}

static bool lu_halves(int m, int n, double* A, int lda, int* pivot)
{
    enum { ONE_BY_ONE = 16, SQUARE = 40 }; /* small squares are not worth the splitting */
    if (n <= ONE_BY_ONE || (n == m && n <= SQUARE)) return eliminate(m, n, A, lda, pivot);
    int h = n / 2 / 8 * 8, rest = n - h;
    double *right = A + (size_t)h * lda, *corner = right + h;
    if (!lu_halves(m, h, A, lda, pivot)) return false;
    exchange_rows(h, pivot, rest, right, lda);
    mor_block_solve_unit_lower(h, rest, A, lda, right, lda);
    mor_block_product(m - h, rest, h, -1.0, A + h, lda, right, 1, lda, corner, lda);
    if (!lu_halves(m - h, rest, corner, lda, pivot + h)) return false;
    exchange_rows(rest, pivot + h, h, A + h, lda);
    for (int k = h; k < n; k++) pivot[k] += h;
    return true;
}

bool mor_lu_factor(int n, double* A, int* pivot) { return lu_halves(n, n, A, n, pivot); }

MOR_ALWAYS_INLINE void mor_lu_solve_body(int n, const double* LU, const int* pivot, double* b)
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

MOR_WIDE_VOID(extern, mor_lu_solve, (int n, const double* LU, const int* pivot, double* b), (n, LU, pivot, b))

void mor_lu_solve_many(int n, const double* LU, const int* pivot, int m, double* B)
{
    if (m < 4) {
        for (int j = 0; j < m; j++) mor_lu_solve(n, LU, pivot, B + (size_t)j * n);
        return;
    }
    exchange_rows(n, pivot, m, B, n);
    mor_block_solve_unit_lower(n, m, LU, n, B, n);
    mor_block_solve_upper(n, m, LU, n, B, n);
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
    if (m > 0 && n > 0 && k > 0) mor_block_product(m, n, k, alpha, A, lda, B, 1, ldb, C, ldc);
}
