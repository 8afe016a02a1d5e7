/* Eigenvalues of a dense symmetric matrix: Householder reflections to tridiagonal form, then QL steps with implicit
 * shifts.
 *
 * Cost: 4/3 n^3 + O(n^2). Reference: Golub & Van Loan, Matrix Computations (4th ed.), alg. 8.3.1, 8.3.2; Martin &
 * Wilkinson (1968), The implicit QL algorithm. */
#include "linalg/eigenvalues.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "base/elementary.h"
#include "linalg/rows.h"

/* Lower triangle of A := tridiagonal; d its diagonal, e_i the entry (i + 1, i). p: n. */
static void make_tridiagonal(int n, double* A, double* d, double* e, double* p)
{
#define AT(i, j) A[(i) + (size_t)(j) * (size_t)n]
    for (int k = 0; k + 2 < n; k++) {
        int m = n - k - 1;
        double *v = &AT(k + 1, k), scale = 0.0, sum = 0.0;
        for (int i = 0; i < m; i++) scale = fabs(v[i]) > scale ? fabs(v[i]) : scale;
        e[k] = v[0];
        if (!(scale > 0.0)) continue;
        for (int i = 0; i < m; i++) v[i] /= scale, sum += v[i] * v[i];
        double beta = v[0] > 0.0 ? -sqrt(sum) : sqrt(sum), half = sum - v[0] * beta; /* v'v / 2 after the change */
        e[k] = scale * beta;
        v[0] -= beta;
        if (!(half > 0.0)) continue;
        /* A := A - v w' - w v', w = p - (v'p / 2 half) v, p = A v / half */
        for (int i = 0; i < m; i++) p[i] = 0.0;
        for (int j = 0; j < m; j++) {
            const double* column = &AT(k + 1 + j, k + 1 + j);
            p[j] += column[0] * v[j] + mor_inner(m - j - 1, column + 1, v + j + 1);
            mor_subtract(m - j - 1, -v[j], column + 1, p + j + 1);
        }
        double along = 0.0;
        for (int i = 0; i < m; i++) p[i] /= half, along += p[i] * v[i];
        along /= 2.0 * half;
        for (int i = 0; i < m; i++) p[i] -= along * v[i];
        for (int j = 0; j < m; j++) {
            double* column = &AT(k + 1 + j, k + 1 + j);
            mor_subtract(m - j, p[j], v + j, column);
            mor_subtract(m - j, v[j], p + j, column);
        }
    }
    for (int i = 0; i < n; i++) d[i] = AT(i, i);
    if (n > 1) e[n - 2] = AT(n - 1, n - 2);
#undef AT
}

static double length(double a, double b)
{
    double m = mor_max(fabs(a), fabs(b));
    return m > 0.0 ? m * sqrt(a / m * (a / m) + b / m * (b / m)) : 0.0;
}

/* One QL step on d_l ... d_m with Wilkinson's shift. */
static void ql_step(int l, int m, double* d, double* e)
{
    double g = (d[l + 1] - d[l]) / (2.0 * e[l]), r = length(g, 1.0);
    double s = 1.0, c = 1.0, p = 0.0;
    g = d[m] - d[l] + e[l] / (g + (g >= 0.0 ? r : -r));
    for (int i = m - 1; i >= l; i--) {
        double f = s * e[i], b = c * e[i];
        r = length(f, g);
        e[i + 1] = r;
        if (r == 0.0) { /* a split on the way */
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        s = f / r, c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
    }
    d[l] -= p, e[l] = g, e[m] = 0.0;
}

bool mor_symmetric_eigenvalues(int n, double* A, double* values, double* work)
{
    enum { MOST = 60 }; /* steps per value; two or three are usual */
    double *e = work, *p = work + n;
    if (n == 0) return true;
    make_tridiagonal(n, A, values, e, p);
    e[n - 1] = 0.0;
    double size = 0.0; /* of the matrix: what is below its rounding is zero, also beside values that are */
    for (int i = 0; i < n; i++) size = mor_max(size, fabs(values[i]) + fabs(e[i]));
    for (int l = 0; l < n; l++)
        for (int step = 0;; step++) {
            int m = l;
            for (; m + 1 < n; m++) {
                double near = fabs(values[m]) + fabs(values[m + 1]);
                if (fabs(e[m]) + near == near || fabs(e[m]) <= DBL_EPSILON * size) break;
            }
            if (m == l) break;
            if (step == MOST || !isfinite(values[l])) return false;
            ql_step(l, m, values, e);
        }
    for (int i = 1; i < n; i++) { /* ascending */
        double v = values[i];
        int j = i;
        for (; j > 0 && values[j - 1] > v; j--) values[j] = values[j - 1];
        values[j] = v;
    }
    return true;
}
