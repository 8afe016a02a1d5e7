/* Kernels for blocks of three rows over the velocities of one tree: what contact code spends its time in.
 *
 * Rows are contiguous, n apart. Sums run over k mod 4 apart and are added at the end: the same order and the same bits
 * with every compiler and machine (wide.h). For use inside functions made by MOR_WIDE, or as they are. */
#ifndef MOR_LINALG_ROWS_H
#define MOR_LINALG_ROWS_H

#include "linalg/wide.h"

/* y -= a x */
MOR_ALWAYS_INLINE void mor_subtract(int n, double a, const double* restrict x, double* restrict y)
{
    const mor_four f = { a, a, a, a };
    const mor_two g = { a, a };
    int k = 0;
    for (; k + 4 <= n; k += 4) MOR_FOUR_TO(y + k) -= f * MOR_FOUR_AT(x + k);
    if (k + 2 <= n) MOR_TWO_TO(y + k) -= g * MOR_TWO_AT(x + k), k += 2;
    if (k < n) y[k] -= a * x[k];
}

/* x'y */
MOR_ALWAYS_INLINE double mor_inner(int n, const double* x, const double* y)
{
    mor_four wide = { 0, 0, 0, 0 };
    int k = 0;
    for (; k + 4 <= n; k += 4) wide += MOR_FOUR_AT(x + k) * MOR_FOUR_AT(y + k);
    mor_two sum = MOR_FOLD(wide);
    if (k + 2 <= n) sum += MOR_TWO_AT(x + k) * MOR_TWO_AT(y + k), k += 2;
    if (k < n) sum[0] += x[k] * y[k];
    return sum[0] + sum[1];
}

/* v += A' p, A 3 x n */
MOR_ALWAYS_INLINE void mor_push3(int n, const double* A, const double* p, double* v)
{
    const double a = p[0], b = p[1], c = p[2], *B = A + n, *C = B + n;
    if (a == 0.0 && b == 0.0 && c == 0.0) return;
    const mor_four a4 = { a, a, a, a }, b4 = { b, b, b, b }, c4 = { c, c, c, c };
    const mor_two a2 = { a, a }, b2 = { b, b }, c2 = { c, c };
    int k = 0;
    for (; k + 4 <= n; k += 4)
        MOR_FOUR_TO(v + k) += MOR_FOUR_AT(A + k) * a4 + MOR_FOUR_AT(B + k) * b4 + MOR_FOUR_AT(C + k) * c4;
    if (k + 2 <= n)
        MOR_TWO_TO(v + k) += MOR_TWO_AT(A + k) * a2 + MOR_TWO_AT(B + k) * b2 + MOR_TWO_AT(C + k) * c2, k += 2;
    if (k < n) v[k] += A[k] * a + B[k] * b + C[k] * c;
}

/* u += A v */
MOR_ALWAYS_INLINE void mor_rows3(int n, const double* A, const double* v, double* u)
{
    const double *B = A + n, *C = B + n;
    mor_four a4 = { 0, 0, 0, 0 }, b4 = a4, c4 = a4;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        mor_four x = MOR_FOUR_AT(v + k);
        a4 += MOR_FOUR_AT(A + k) * x, b4 += MOR_FOUR_AT(B + k) * x, c4 += MOR_FOUR_AT(C + k) * x;
    }
    mor_two a = MOR_FOLD(a4), b = MOR_FOLD(b4), c = MOR_FOLD(c4);
    if (k + 2 <= n) {
        mor_two x = MOR_TWO_AT(v + k);
        a += MOR_TWO_AT(A + k) * x, b += MOR_TWO_AT(B + k) * x, c += MOR_TWO_AT(C + k) * x, k += 2;
    }
    if (k < n) a[0] += A[k] * v[k], b[0] += B[k] * v[k], c[0] += C[k] * v[k];
    u[0] += a[0] + a[1], u[1] += b[0] + b[1], u[2] += c[0] + c[1];
}

/* u += A v, A dim x 6, two rows at a time */
MOR_ALWAYS_INLINE void mor_rows_six(int dim, const double* A, const double* v, double* u)
{
    const mor_four a = MOR_FOUR_AT(v);
    const mor_two c = MOR_TWO_AT(v + 4);
    int d = 0;
    for (; d + 2 <= dim; d += 2, A += 12) {
        mor_four x = a * MOR_FOUR_AT(A), y = a * MOR_FOUR_AT(A + 6);
        mor_two s = MOR_FOLD(x) + c * MOR_TWO_AT(A + 4), t = MOR_FOLD(y) + c * MOR_TWO_AT(A + 10);
        MOR_TWO_TO(u + d) += __builtin_shufflevector(s, t, 0, 2) + __builtin_shufflevector(s, t, 1, 3);
    }
    if (d < dim) u[d] += mor_inner(6, A, v);
}

/* u += A v, A dim x n: contacts with friction have three rows, joints up to six, and most trees six velocities. */
MOR_ALWAYS_INLINE void mor_rows(int dim, int n, const double* A, const double* v, double* u)
{
    if (dim == 3) {
        if (n == 6) mor_rows3(6, A, v, u); /* known lengths: no loops */
        else mor_rows3(n, A, v, u);
    } else if (n == 6) {
        if (dim == 5) mor_rows_six(5, A, v, u);
        else mor_rows_six(dim, A, v, u);
    } else {
        for (int d = 0; d < dim; d++, A += n) u[d] += mor_inner(n, A, v);
    }
}

/* v += A' p */
MOR_ALWAYS_INLINE void mor_push(int dim, int n, const double* A, const double* p, double* v)
{
    if (dim == 3) {
        if (n == 6) mor_push3(6, A, p, v);
        else mor_push3(n, A, p, v);
    } else if (n == 6) {
        mor_four wide = MOR_FOUR_AT(v);
        mor_two rest = MOR_TWO_AT(v + 4);
        for (int d = 0; d < dim; d++, A += 6) {
            const double x = p[d];
            wide += (mor_four){ x, x, x, x } * MOR_FOUR_AT(A);
            rest += (mor_two){ x, x } * MOR_TWO_AT(A + 4);
        }
        MOR_FOUR_TO(v) = wide;
        MOR_TWO_TO(v + 4) = rest;
    } else {
        for (int d = 0; d < dim; d++, A += n)
            if (p[d] != 0.0) mor_subtract(n, -p[d], A, v);
    }
}

enum { MOR_USED_MOST = 252 }; /* columns of mor_used3 and mor_gram3_used */

/* Bit k: A, 3 x n, has something in columns 4k ... 4k + 3 (the last may be fewer). The rows of a foot know the base and
 * one leg of a robot. */
MOR_ALWAYS_INLINE unsigned long long mor_used3(int n, const double* A)
{
    unsigned long long used = 0;
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        mor_four_bits x = MOR_FOUR_BITS_AT(A + k) | MOR_FOUR_BITS_AT(A + n + k) | MOR_FOUR_BITS_AT(A + 2 * n + k);
        mor_two_bits y = __builtin_shufflevector(x, x, 0, 1) | __builtin_shufflevector(x, x, 2, 3);
        used |= (unsigned long long)((unsigned long long)(y[0] | y[1]) << 1 != 0) << (k / 4); /* but for the signs */
    }
    for (int j = k; j < n; j++)
        used |= (unsigned long long)(A[j] != 0.0 || A[n + j] != 0.0 || A[2 * n + j] != 0.0) << (k / 4);
    return used;
}

/* Nine sums of products of the rows of A with those of B, by name: an array of them would live in memory. */
#define MOR_GRAM3_STEP(type, AT, j, W)                                                                                 \
    do {                                                                                                               \
        type a = AT(A + (j)), b = AT(A + n + (j)), c = AT(A + 2 * n + (j)), x = AT(B + (j)), y = AT(B + n + (j)),      \
             z = AT(B + 2 * n + (j));                                                                                  \
        W##0 += a * x, W##1 += a * y, W##2 += a * z, W##3 += b * x, W##4 += b * y, W##5 += b * z, W##6 += c * x,       \
            W##7 += c * y, W##8 += c * z;                                                                              \
    } while (0)
#define MOR_GRAM3_SUMS(k, rest)                                                                                        \
    mor_two t0 = MOR_FOLD(w0), t1 = MOR_FOLD(w1), t2 = MOR_FOLD(w2), t3 = MOR_FOLD(w3), t4 = MOR_FOLD(w4),             \
            t5 = MOR_FOLD(w5), t6 = MOR_FOLD(w6), t7 = MOR_FOLD(w7), t8 = MOR_FOLD(w8);                                \
    if ((rest) && n & 2) MOR_GRAM3_STEP(mor_two, MOR_TWO_AT, k, t);                                                    \
    double s0 = t0[0] + t0[1], s1 = t1[0] + t1[1], s2 = t2[0] + t2[1], s3 = t3[0] + t3[1], s4 = t4[0] + t4[1],         \
           s5 = t5[0] + t5[1], s6 = t6[0] + t6[1], s7 = t7[0] + t7[1], s8 = t8[0] + t8[1];                             \
    if ((rest) && n & 1) MOR_GRAM3_STEP(double, *, n - 1, s)
#define MOR_GRAM3_ADD                                                                                                  \
    W[0] += s0, W[1] += s1, W[2] += s2, W[3] += s3, W[4] += s4, W[5] += s5, W[6] += s6, W[7] += s7, W[8] += s8
/* The sums over the columns that `used` says A knows: the same bits. */
#define MOR_GRAM3_USED(used)                                                                                           \
    mor_four w0 = { 0, 0, 0, 0 }, w1 = w0, w2 = w0, w3 = w0, w4 = w0, w5 = w0, w6 = w0, w7 = w0, w8 = w0;              \
    const int whole = n & ~3;                                                                                          \
    for (unsigned long long left = (used) & ((1ull << (whole / 4)) - 1); left; left &= left - 1) {                     \
        int j = 4 * __builtin_ctzll(left);                                                                             \
        MOR_GRAM3_STEP(mor_four, MOR_FOUR_AT, j, w);                                                                   \
    }                                                                                                                  \
    MOR_GRAM3_SUMS(whole, (used) >> (whole / 4) & 1)

/* W += A B', both 3 x n, W row-major */
MOR_ALWAYS_INLINE void mor_gram3(int n, const double* A, const double* B, double* W)
{
    mor_four w0 = { 0, 0, 0, 0 }, w1 = w0, w2 = w0, w3 = w0, w4 = w0, w5 = w0, w6 = w0, w7 = w0, w8 = w0;
    int k = 0;
    for (; k + 4 <= n; k += 4) MOR_GRAM3_STEP(mor_four, MOR_FOUR_AT, k, w);
    MOR_GRAM3_SUMS(k, true);
    MOR_GRAM3_ADD;
}

/* The same over the columns that `used` says A knows. */
MOR_ALWAYS_INLINE void mor_gram3_used(int n, unsigned long long used, const double* A, const double* B, double* W)
{
    MOR_GRAM3_USED(used);
    MOR_GRAM3_ADD;
}

/* The same product by itself, with columns `apart` numbers apart. */
MOR_ALWAYS_INLINE void mor_gram3_columns(int n, unsigned long long used, const double* A, const double* B, int apart,
                                         double* W)
{
    MOR_GRAM3_USED(used);
    double *X = W + apart, *Y = X + apart;
    W[0] = 0.0 + s0, W[1] = 0.0 + s3, W[2] = 0.0 + s6, X[0] = 0.0 + s1, X[1] = 0.0 + s4, X[2] = 0.0 + s7;
    Y[0] = 0.0 + s2, Y[1] = 0.0 + s5, Y[2] = 0.0 + s8;
}

/* W += A B', A p x n, B q x n, W p x q row-major: joints of five equations between bodies of six velocities are
 * frequent. */
MOR_ALWAYS_INLINE void mor_gram(int p, int q, int n, const double* A, const double* B, double* W)
{
    if (p == 3 && q == 3) {
        if (n == 6) mor_gram3(6, A, B, W);
        else mor_gram3(n, A, B, W);
    } else if (n == 6 && p == 5 && q == 5) {
        for (int i = 0; i < 5; i++) mor_rows_six(5, B, A + 6 * i, W + 5 * i);
    } else if (n == 6) {
        for (int i = 0; i < p; i++) mor_rows_six(q, B, A + 6 * i, W + q * i);
    } else {
        for (int i = 0; i < p; i++, A += n, W += q)
            for (int j = 0; j < q; j++) W[j] += mor_inner(n, A, B + j * n);
    }
}

#endif
