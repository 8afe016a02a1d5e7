/* LU by rows, with partial pivoting, of a matrix that has few entries beside its diagonal: contacts of bodies that
 * stand in a row, feet of a robot.
 *
 * Row i of the matrix is zero outside of first .. last. Elimination widens a row to the end of the pivot's row, an
 * exchange of rows takes the interval along; nothing outside is touched. Many right-hand sides lie next to each other,
 * so that the inner loop runs over them: y -= sum_j a_j x_j, four rows x_j at a time, in the order of j.
 *
 * I. S. Duff, A. M. Erisman, J. K. Reid, Direct methods for sparse matrices, Oxford 1986, section 8 (variable band). */
#include "linalg/envelope.h"

#include "base/elementary.h"
#include "linalg/rows.h"

#include <string.h>

/* y -= sum of count rows x_j times a_j */
MOR_ALWAYS_INLINE void take_rows_body(int m, int count, const double* a, const double* const* x, double* restrict y)
{
    int j = 0;
    for (; j + 4 <= count; j += 4) {
        const double *p = x[j], *q = x[j + 1], *r = x[j + 2], *s = x[j + 3];
        const mor_four a4 = { a[j], a[j], a[j], a[j] }, b4 = { a[j + 1], a[j + 1], a[j + 1], a[j + 1] };
        const mor_four c4 = { a[j + 2], a[j + 2], a[j + 2], a[j + 2] }, d4 = { a[j + 3], a[j + 3], a[j + 3], a[j + 3] };
        int k = 0;
        for (; k + 4 <= m; k += 4)
            MOR_FOUR_TO(y + k) = MOR_FOUR_AT(y + k) - a4 * MOR_FOUR_AT(p + k) - b4 * MOR_FOUR_AT(q + k) -
                                 c4 * MOR_FOUR_AT(r + k) - d4 * MOR_FOUR_AT(s + k);
        for (; k < m; k++) y[k] = y[k] - a[j] * p[k] - a[j + 1] * q[k] - a[j + 2] * r[k] - a[j + 3] * s[k];
    }
    for (; j < count; j++)
        if (a[j] != 0.0) mor_subtract(m, a[j], x[j], y);
}

MOR_WIDE_VOID(static, take_rows, (int m, int count, const double* a, const double* const* x, double* restrict y),
              (m, count, a, x, y))

enum { AT_ONCE = 32 };

/* y -= sum over j of a_j times row j of X */
static void take(int m, int count, const double* a, const double* X, double* y)
{
    for (int from = 0; from < count; from += AT_ONCE) {
        const double* rows[AT_ONCE];
        int now = count - from < AT_ONCE ? count - from : AT_ONCE;
        for (int j = 0; j < now; j++) rows[j] = X + (size_t)(from + j) * (size_t)m;
        take_rows(m, now, a + from, rows, y);
    }
}

bool mor_envelope_create(int n, mor_arena* arena, mor_envelope* e)
{
    size_t count = (size_t)n + 1;
    e->n = n;
    e->A = mor_arena_zero(arena, (size_t)n * (size_t)n + 1, sizeof *e->A);
    e->rows = mor_arena_alloc(arena, count * sizeof *e->rows);
    e->order = mor_arena_alloc(arena, count * sizeof *e->order);
    e->first = mor_arena_alloc(arena, count * sizeof *e->first);
    e->last = mor_arena_alloc(arena, count * sizeof *e->last);
    return e->A && e->rows && e->order && e->first && e->last;
}

static void exchange(mor_envelope* e, int a, int b)
{
    double* row = e->rows[a];
    int order = e->order[a], first = e->first[a], last = e->last[a];
    e->rows[a] = e->rows[b], e->order[a] = e->order[b], e->first[a] = e->first[b], e->last[a] = e->last[b];
    e->rows[b] = row, e->order[b] = order, e->first[b] = first, e->last[b] = last;
}

bool mor_envelope_factor(mor_envelope* e, double* ratio)
{
    int n = e->n;
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < n; i++) {
        double* row = e->rows[i] = e->A + (size_t)i * (size_t)n;
        e->order[i] = i, e->first[i] = 0, e->last[i] = n - 1;
        while (e->first[i] < i && row[e->first[i]] == 0.0) e->first[i]++;
        while (e->last[i] > i && row[e->last[i]] == 0.0) e->last[i]--;
    }
    for (int k = 0; k < n; k++) {
        int r = k;
        for (int i = k + 1; i < n; i++)
            if (e->first[i] <= k && fabs(e->rows[i][k]) > fabs(e->rows[r][k])) r = i;
        if (r != k) exchange(e, k, r);
        const double *pivot = e->rows[k], p = pivot[k];
        if (!(fabs(p) > 0.0) || !isfinite(p)) return false;
        least = mor_min(least, fabs(p)), most = mor_max(most, fabs(p));
        for (int i = k + 1; i < n; i++) {
            double* row = e->rows[i];
            if (e->first[i] > k || row[k] == 0.0) continue;
            row[k] /= p;
            if (e->last[i] < e->last[k]) e->last[i] = e->last[k];
            mor_subtract(e->last[k] - k, row[k], pivot + k + 1, row + k + 1);
        }
    }
    *ratio = n ? least / most : 1.0;
    return true;
}

static void solve_one(const mor_envelope* e, const double* b, double* x)
{
    for (int i = 0; i < e->n; i++) {
        int from = e->first[i] < i ? e->first[i] : i;
        x[i] = b[e->order[i]];
        for (int k = from; k < i; k++) x[i] -= e->rows[i][k] * x[k];
    }
    for (int i = e->n - 1; i >= 0; i--) {
        for (int k = i + 1; k <= e->last[i]; k++) x[i] -= e->rows[i][k] * x[k];
        x[i] /= e->rows[i][i];
    }
}

void mor_envelope_solve(const mor_envelope* e, int m, const double* B, double* X)
{
    int n = e->n;
    if (m == 1) {
        solve_one(e, B, X);
        return;
    }
    for (int i = 0; i < n; i++) {
        double* x = X + (size_t)i * (size_t)m;
        int from = e->first[i] < i ? e->first[i] : i;
        memcpy(x, B + (size_t)e->order[i] * (size_t)m, (size_t)m * sizeof *x);
        take(m, i - from, e->rows[i] + from, X + (size_t)from * (size_t)m, x);
    }
    for (int i = n - 1; i >= 0; i--) {
        double *x = X + (size_t)i * (size_t)m, over = 1.0 / e->rows[i][i];
        take(m, e->last[i] - i, e->rows[i] + i + 1, x + m, x);
        for (int k = 0; k < m; k++) x[k] *= over;
    }
}

void mor_envelope_solve_transposed(const mor_envelope* e, double* b, double* x)
{
    int n = e->n;
    for (int i = 0; i < n; i++) { /* U' */
        b[i] /= e->rows[i][i];
        if (b[i] != 0.0) mor_subtract(e->last[i] - i, b[i], e->rows[i] + i + 1, b + i + 1);
    }
    for (int i = n - 1; i >= 0; i--) { /* L' */
        int from = e->first[i] < i ? e->first[i] : i;
        if (b[i] != 0.0) mor_subtract(i - from, b[i], e->rows[i] + from, b + from);
    }
    for (int i = 0; i < n; i++) x[e->order[i]] = b[i];
}

void mor_rows_combine(int rows, int m, int k, const double* A, ptrdiff_t si, ptrdiff_t sj, const double* B,
                      ptrdiff_t ldb, double* C, ptrdiff_t ldc)
{
    for (int i = 0; i < rows; i++)
        for (int from = 0; from < k; from += AT_ONCE) {
            const double* at[AT_ONCE];
            double a[AT_ONCE];
            int now = 0, end = from + AT_ONCE < k ? from + AT_ONCE : k;
            for (int j = from; j < end; j++) {
                double share = A[i * si + j * sj];
                if (share == 0.0) continue;
                at[now] = B + j * ldb, a[now++] = -share;
            }
            take_rows(m, now, a, at, C + i * ldc);
        }
}
