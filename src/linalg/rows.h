/* Kernels for blocks of three rows over the velocities of one tree: what contact code spends its time in.
 *
 * Rows are contiguous, n apart. Sums run over even and odd k apart and are added at the end: two at a time, the same order and the
 * same bits with every compiler. */
#ifndef MOR_LINALG_ROWS_H
#define MOR_LINALG_ROWS_H

#include <stdbool.h>
#include <string.h>

typedef double mor_two __attribute__((vector_size(16)));

static inline mor_two mor_two_at(const double* x)
{
    mor_two v;
    memcpy(&v, x, sizeof v);
    return v;
}

static inline void mor_two_put(double* x, mor_two v) { memcpy(x, &v, sizeof v); }

/* v += A' p, A 3 x n */
static inline void mor_push3(int n, const double* A, const double* p, double* v)
{
    const double a = p[0], b = p[1], c = p[2], *B = A + n, *C = B + n;
    if (a == 0.0 && b == 0.0 && c == 0.0) return;
    const mor_two a2 = { a, a }, b2 = { b, b }, c2 = { c, c };
    int k = 0;
    for (; k + 1 < n; k += 2) mor_two_put(v + k, mor_two_at(v + k) + (mor_two_at(A + k) * a2 + mor_two_at(B + k) * b2 + mor_two_at(C + k) * c2));
    if (k < n) v[k] += A[k] * a + B[k] * b + C[k] * c;
}

/* u += A v */
static inline void mor_rows3(int n, const double* A, const double* v, double* u)
{
    const double *B = A + n, *C = B + n;
    mor_two a = { 0, 0 }, b = a, c = a;
    int k = 0;
    for (; k + 1 < n; k += 2) {
        mor_two x = mor_two_at(v + k);
        a += mor_two_at(A + k) * x, b += mor_two_at(B + k) * x, c += mor_two_at(C + k) * x;
    }
    if (k < n) a[0] += A[k] * v[k], b[0] += B[k] * v[k], c[0] += C[k] * v[k];
    u[0] += a[0] + a[1], u[1] += b[0] + b[1], u[2] += c[0] + c[1];
}

/* Bit k: A, 3 x n, has something in columns 2k and 2k + 1. The rows of a foot know the base and one leg of a robot. n up to 128. */
static inline unsigned long long mor_pairs3(int n, const double* A)
{
    unsigned long long pairs = 0;
    for (int k = 0; k + 1 < n; k += 2) {
        bool some = A[k] != 0.0 || A[k + 1] != 0.0 || A[n + k] != 0.0 || A[n + k + 1] != 0.0 || A[2 * n + k] != 0.0 || A[2 * n + k + 1] != 0.0;
        pairs |= (unsigned long long)some << (k / 2);
    }
    return pairs;
}

/* W += A B' as mor_gram3, over the pairs of columns that are not zero in A: the same bits. */
static inline void mor_gram3_pairs(int n, unsigned long long pairs, const double* A, const double* B, double* W)
{
    mor_two w[9] = { { 0, 0 } };
    for (; pairs; pairs &= pairs - 1) {
        int k = 2 * __builtin_ctzll(pairs);
        mor_two a = mor_two_at(A + k), b = mor_two_at(A + n + k), c = mor_two_at(A + 2 * n + k);
        mor_two x = mor_two_at(B + k), y = mor_two_at(B + n + k), z = mor_two_at(B + 2 * n + k);
        w[0] += a * x, w[1] += a * y, w[2] += a * z;
        w[3] += b * x, w[4] += b * y, w[5] += b * z;
        w[6] += c * x, w[7] += c * y, w[8] += c * z;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            if (n & 1) w[3 * r + c][0] += A[r * n + n - 1] * B[c * n + n - 1];
            W[3 * r + c] += w[3 * r + c][0] + w[3 * r + c][1];
        }
}

/* W += A B', both 3 x n, W row-major */
static inline void mor_gram3(int n, const double* A, const double* B, double* W)
{
    mor_two w[9] = { { 0, 0 } };
    int k = 0;
    for (; k + 1 < n; k += 2) {
        mor_two a = mor_two_at(A + k), b = mor_two_at(A + n + k), c = mor_two_at(A + 2 * n + k);
        mor_two x = mor_two_at(B + k), y = mor_two_at(B + n + k), z = mor_two_at(B + 2 * n + k);
        w[0] += a * x, w[1] += a * y, w[2] += a * z;
        w[3] += b * x, w[4] += b * y, w[5] += b * z;
        w[6] += c * x, w[7] += c * y, w[8] += c * z;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            if (k < n) w[3 * r + c][0] += A[r * n + k] * B[c * n + k];
            W[3 * r + c] += w[3 * r + c][0] + w[3 * r + c][1];
        }
}

#endif
