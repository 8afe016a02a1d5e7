/* The shortest least-squares solution of a square system of any rank (dense.h), by a complete orthogonal factor:
 *
 *   A P = Q [R; 0], Householder reflections with column pivoting until what is left is below rcond |R_00|: rank r rows;
 *   R' = Z [S; 0] (n x r, S upper triangular), so that R = [S' 0] Z' and
 *   x = P Z [S'^-1 (Q'b)_1..r; 0].
 *
 * Cost: 4/3 n^3 for full rank, less below. Reference: Golub & Van Loan, Matrix Computations (4th ed.), sec. 5.4.1,
 * 5.4.7, 5.5.2. */
#include <string.h>

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/reflections.h"

/* Asked before every 16th column. */
static bool stops(const mor_stop* stop, int column) { return stop && column % 16 == 0 && stop->now(stop->user); }

/* QR with column pivoting of A, applied to the columns of B. left: n, norms of what is left of each column; `whole`:
 * when they were last computed. Returns the rank; -1: it was to stop. */
MOR_ALWAYS_INLINE int factor_body(int n, double* A, int count, double* B, double rcond, const mor_stop* stop,
                                  int* order, double* left, double* whole)
{
    for (int j = 0; j < n; j++) order[j] = j, left[j] = whole[j] = mor_norm2(n, A + (size_t)j * n);
    double first = 0.0;
    for (int k = 0; k < n; k++) {
        if (stops(stop, k)) return -1;
        int best = k;
        for (int j = k + 1; j < n; j++)
            if (left[j] > left[best]) best = j;
        double* column = A + (size_t)k * n;
        if (best != k) {
            double* other = A + (size_t)best * n;
            for (int i = 0; i < n; i++) {
                double t = column[i];
                column[i] = other[i], other[i] = t;
            }
            int t = order[k];
            order[k] = order[best], order[best] = t;
            left[best] = left[k], whole[best] = whole[k];
        }
        double tau = mor_make_reflection(n - k, column + k), size = fabs(column[k]);
        if (k == 0) first = size;
        if (!(size > rcond * first)) return k;
        for (int j = k + 1; j < n; j++) {
            double* y = A + (size_t)j * n;
            mor_reflect(n - k, tau, column + k, y + k);
            if (left[j] == 0.0) continue;
            /* the norm without row k, computed anew before cancellation takes its digits */
            double share = y[k] / left[j], rest = mor_max(0.0, (1.0 - share) * (1.0 + share)),
                   since = left[j] / whole[j];
            if (rest * since * since > 1e-8) left[j] *= sqrt(rest);
            else left[j] = whole[j] = mor_norm2(n - k - 1, y + k + 1);
        }
        for (int j = 0; j < count; j++) mor_reflect(n - k, tau, column + k, B + (size_t)j * n + k);
    }
    return n;
}

MOR_WIDE(static, int, factor,
         (int n, double* A, int count, double* B, double rcond, const mor_stop* stop, int* order, double* left,
          double* whole),
         (n, A, count, B, rcond, stop, order, left, whole))

/* R' = Z [S; 0], R the first r rows of A: T (n x r) holds S and the reflections, tau (r). Returns r; -1: it was to
 * stop. */
MOR_ALWAYS_INLINE int factor_again_body(int n, int r, const double* A, const mor_stop* stop, double* T, double* tau)
{
    for (int i = 0; i < r; i++)
        for (int j = 0; j < n; j++) T[j + (size_t)i * n] = j < i ? 0.0 : A[i + (size_t)j * n];
    for (int k = 0; k < r; k++) {
        if (stops(stop, k)) return -1;
        double* column = T + (size_t)k * n + k;
        tau[k] = mor_make_reflection(n - k, column);
        for (int j = k + 1; j < r; j++) mor_reflect(n - k, tau[k], column, T + (size_t)j * n + k);
    }
    return r;
}

MOR_WIDE(static, int, factor_again, (int n, int r, const double* A, const mor_stop* stop, double* T, double* tau),
         (n, r, A, stop, T, tau))

/* y (n) := the shortest solution of R y = c, c the first r of y. */
MOR_ALWAYS_INLINE void shortest_body(int n, int r, const double* T, const double* tau, double* y)
{
    for (int i = 0; i < r; i++) y[i] = (y[i] - mor_inner(i, T + (size_t)i * n, y)) / T[i + (size_t)i * n];
    for (int i = r; i < n; i++) y[i] = 0.0;
    for (int k = r - 1; k >= 0; k--) mor_reflect(n - k, tau[k], T + (size_t)k * n + k, y + k);
}

MOR_WIDE_VOID(static, shortest, (int n, int r, const double* T, const double* tau, double* y), (n, r, T, tau, y))

static int least_norm(int n, double* A, int count, double* B, double rcond, const mor_stop* stop, mor_arena* arena)
{
    if (n == 0) return 0;
    size_t N = (size_t)n, mark = mor_arena_mark(arena);
    int* order = mor_arena_alloc(arena, N * sizeof *order);
    double* work = mor_arena_alloc(arena, 2 * N * sizeof *work);
    double *T = NULL, size = 0.0;
    for (int j = 0; j < count && isfinite(size); j++) size = mor_max(size, mor_norm_max(n, B + (size_t)j * N));
    for (int j = 0; j < n && isfinite(size); j++) size = mor_max(size, mor_norm_max(n, A + (size_t)j * N));
    int rank = order && work && isfinite(size) ? factor(n, A, count, B, rcond, stop, order, work, work + n) : -1;
    if (rank >= 0 && rank < n) {
        T = mor_arena_alloc(arena, (N * (size_t)rank + 1) * sizeof *T);
        rank = T ? factor_again(n, rank, A, stop, T, work + n) : -1;
    }
    for (int j = 0; j < count && rank >= 0; j++) {
        double* b = B + (size_t)j * N;
        if (T) shortest(n, rank, T, work + n, b);
        else
            for (int k = n - 1; k >= 0; k--) {
                b[k] /= A[k + k * N];
                mor_subtract(k, b[k], A + k * N, b);
            }
        for (int k = 0; k < n; k++) work[order[k]] = b[k];
        memcpy(b, work, N * sizeof *b);
    }
    mor_arena_release(arena, mark);
    return rank;
}

int mor_least_norm_many(int n, double* A, int count, double* B, double rcond, mor_arena* arena)
{
    return least_norm(n, A, count, B, rcond, NULL, arena);
}

int mor_least_norm(int n, double* A, double* b, double rcond, mor_arena* arena)
{
    return least_norm(n, A, 1, b, rcond, NULL, arena);
}

int mor_least_norm_until(int n, double* A, double* b, double rcond, const mor_stop* stop, mor_arena* arena)
{
    return least_norm(n, A, 1, b, rcond, stop, arena);
}
