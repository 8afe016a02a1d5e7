/* Cholesky, LDL and semidefinite factors of dense symmetric matrices (dense.h). Cholesky halves itself as LU does
 * (dense.c); the others run down columns. */
#include <string.h>

#include "base/elementary.h"
#include "linalg/blocks.h"
#include "linalg/dense.h"
#include "linalg/rows.h"

enum { SMALL = 96, INVERSES = 48 }; /* below SMALL: two columns at a time, without halving */

/* ------------------------------------------------------------------------------- Cholesky */

MOR_ALWAYS_INLINE bool cholesky_small_body(int n, double* A, int lda)
{
    /* two columns at a time: what they take from the columns after them passes through the registers once */
    for (int k = 0; k < n; k += 2) {
        double *x = A + (size_t)k * lda, *y = x + lda, p = x[k];
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
            double* to = A + (size_t)j * lda;
            int i = j;
            for (; i + 4 <= n; i += 4)
                MOR_FOUR_TO(to + i) = MOR_FOUR_AT(to + i) - f4 * MOR_FOUR_AT(x + i) - g4 * MOR_FOUR_AT(y + i);
            if (i + 2 <= n) {
                const mor_two f2 = { f, f }, g2 = { g, g };
                MOR_TWO_TO(to + i) = MOR_TWO_AT(to + i) - f2 * MOR_TWO_AT(x + i) - g2 * MOR_TWO_AT(y + i), i += 2;
            }
            if (i < n) to[i] = to[i] - f * x[i] - g * y[i];
        }
    }
    return true;
}

MOR_WIDE(static, bool, cholesky_small, (int n, double* A, int lda), (n, A, lda))

static bool cholesky_halves(int n, double* A, int lda)
{
    if (n < SMALL) return cholesky_small(n, A, lda);
    int h = n / 2 / 8 * 8;
    double *below = A + h, *corner = A + (size_t)h * lda + h;
    if (!cholesky_halves(h, A, lda)) return false;
    mor_block_solve_right(n - h, h, A, lda, below, lda);
    mor_block_subtract_gram(n - h, h, below, lda, corner, lda);
    return cholesky_halves(n - h, corner, lda);
}

bool mor_cholesky_factor(int n, double* A) { return cholesky_halves(n, A, n); }

MOR_ALWAYS_INLINE void mor_cholesky_solve_body(int n, const double* L, double* b)
{
    /* divisions beforehand, where none waits for another */
    double own[INVERSES], *inverse = n <= INVERSES ? own : NULL;
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

MOR_ALWAYS_INLINE bool mor_ldl_factor_body(int n, double* A, int* pivot)
{
    const double alpha = (1.0 + sqrt(17.0)) / 8.0; /* bounds element growth, Bunch & Kaufman eq. 2.7 */
#define AT(i, j) A[(i) + (size_t)(j)*n]
    for (int k = 0; k < n;) {
        int step = 1, with = k, r = k;
        double diagonal = fabs(AT(k, k)), largest = 0.0;
        for (int i = k + 1; i < n; i++)
            if (fabs(AT(i, k)) > largest) largest = fabs(AT(i, k)), r = i;
        if (!(mor_max(diagonal, largest) > 0.0) || !isfinite(diagonal + largest)) return false;
        if (diagonal < alpha * largest) {
            double row = 0.0;
            for (int j = k; j < r; j++) row = mor_max(row, fabs(AT(r, j)));
            for (int i = r + 1; i < n; i++) row = mor_max(row, fabs(AT(i, r)));
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

MOR_WIDE(extern, bool, mor_ldl_factor, (int n, double* A, int* pivot), (n, A, pivot))

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
        for (int i = k; i < n; i++) *least = mor_min(*least, A[i + (size_t)i * n]);
        /* what is left of a semidefinite matrix has nothing off its vanishing diagonal either */
        for (int j = k; j < n; j++)
            for (int i = j + 1; i < n; i++) *least = mor_min(*least, -fabs(A[i + (size_t)j * n]));
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
            largest = mor_max(largest, fabs(s));
        }
    mor_semidefinite_factor(n, work, order, tolerance * largest, &least, work + (size_t)n * n);
    return least >= -10.0 * tolerance * largest;
}
