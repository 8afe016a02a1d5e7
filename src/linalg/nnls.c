/* Lawson-Hanson least squares with sign conditions; see nnls.h. */
#include "linalg/nnls.h"

#include <string.h>

#include "linalg/dense.h"

typedef struct basis {
    int n, k, most;
    const double* E;
    double *Q, *R; /* n x most; R upper triangular, column-major with leading dimension `most` */
    int* column;   /* column of E behind column k of Q */
} basis;

static double dot(int n, const double* x, const double* y)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* Appends column j; false if it depends on the others. */
static bool append(basis* B, int j)
{
    if (B->k >= B->most) return false;
    int n = B->n, k = B->k;
    double *q = B->Q + (size_t)n * k, *r = B->R + (size_t)B->most * k;
    memcpy(q, B->E + (size_t)n * j, (size_t)n * sizeof *q);
    double before = mor_norm2(n, q);
    memset(r, 0, (size_t)B->most * sizeof *r);
    for (int round = 0; round < 2; round++)
        for (int c = 0; c < k; c++) {
            const double* qc = B->Q + (size_t)n * c;
            double a = dot(n, qc, q);
            r[c] += a;
            for (int i = 0; i < n; i++) q[i] -= a * qc[i];
        }
    double after = mor_norm2(n, q);
    if (!(after > 1e-10 * before)) return false;
    for (int i = 0; i < n; i++) q[i] /= after;
    r[k] = after;
    B->column[B->k++] = j;
    return true;
}

static void drop(basis* B, int at)
{
    int count = B->k - at - 1;
    for (int c = 0; c < count; c++) B->column[at + c] = B->column[at + c + 1];
    B->k = at;
    for (int c = 0; c < count; c++) append(B, B->column[at + c]);
}

/* y := argmin |g - E_columns y| */
static void solve(const basis* B, const double* g, double* y)
{
    for (int c = 0; c < B->k; c++) y[c] = dot(B->n, B->Q + (size_t)B->n * c, g);
    for (int c = B->k - 1; c >= 0; c--) {
        const double* r = B->R + (size_t)B->most * c;
        y[c] /= r[c];
        for (int i = 0; i < c; i++) y[i] -= r[i] * y[c];
    }
}

/* g - E x without the part the chosen columns explain. */
static void remainder_of(const basis* B, const double* g, double* residual)
{
    memcpy(residual, g, (size_t)B->n * sizeof *residual);
    for (int round = 0; round < 2; round++)
        for (int c = 0; c < B->k; c++) {
            const double* q = B->Q + (size_t)B->n * c;
            double a = dot(B->n, q, residual);
            for (int i = 0; i < B->n; i++) residual[i] -= a * q[i];
        }
}

bool mor_nnls(int n, int m, const double* E, const bool* is_free, const double* g, double* x, double* residual,
              mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    basis B = { .n = n, .most = n < m ? n : m, .E = E };
    size_t most = (size_t)B.most + 1;
    B.Q = mor_arena_alloc(arena, (size_t)n * most * sizeof *B.Q);
    B.R = mor_arena_alloc(arena, most * most * sizeof *B.R);
    B.column = mor_arena_alloc(arena, most * sizeof *B.column);
    double* y = mor_arena_alloc(arena, most * sizeof *y);
    bool* banned = mor_arena_zero(arena, (size_t)m + 1, sizeof *banned);
    bool enough = B.Q && B.R && B.column && y && banned;
    memset(x, 0, (size_t)m * sizeof *x);
    memcpy(residual, g, (size_t)n * sizeof *residual);
    if (!enough) return false;
    for (int j = 0; j < m; j++)
        if (is_free && is_free[j]) append(&B, j);
    double small = 1e-15 * mor_norm2(n, g);
    for (int round = 0; round < 6 * m + 10; round++) {
        /* towards the least-squares point of the chosen columns, as far as the signs allow */
        for (int inner = 0; inner <= m; inner++) {
            solve(&B, g, y);
            double step = 1.0;
            int blocking = -1;
            for (int c = 0; c < B.k; c++) {
                int j = B.column[c];
                if ((is_free && is_free[j]) || y[c] > 0.0) continue;
                double t = x[j] > 0.0 ? x[j] / (x[j] - y[c]) : 0.0;
                if (t < step || blocking < 0) step = t < step ? t : step, blocking = c;
            }
            for (int c = 0; c < B.k; c++) x[B.column[c]] += step * (y[c] - x[B.column[c]]);
            if (blocking < 0) break;
            x[B.column[blocking]] = 0.0;
            banned[B.column[blocking]] = step == 0.0;
            drop(&B, blocking);
        }
        remainder_of(&B, g, residual);
        int best = -1;
        double steepest = 0.0;
        for (int j = 0; j < m; j++) {
            if ((is_free && is_free[j]) || x[j] > 0.0 || banned[j]) continue;
            const double* e = E + (size_t)n * j;
            double size = mor_norm2(n, e), slope = size > 0.0 ? dot(n, e, residual) / size : 0.0;
            if (slope > small && slope > steepest) steepest = slope, best = j;
        }
        if (best < 0) break;
        if (!append(&B, best)) banned[best] = true;
        else
            for (int j = 0; j < m; j++) banned[j] = false;
    }
    /* the residual of the x returned, not of the projection */
    memcpy(residual, g, (size_t)n * sizeof *residual);
    for (int j = 0; j < m; j++)
        for (int i = 0; x[j] != 0.0 && i < n; i++) residual[i] -= E[(size_t)n * j + i] * x[j];
    mor_arena_release(arena, mark);
    return true;
}
