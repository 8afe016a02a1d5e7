/* Kernels of pivoting; see tableau.h. One body, compiled for plain x86-64 (or any machine) and for AVX2; neither fuses
 * multiply and add, so both give the same bits.
 *
 * Reference: Ruiz (2001), A scaling algorithm to equilibrate both rows and columns norms in matrices. */
#include "linalg/tableau.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/inline.h"

#if defined(__GNUC__)
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));

/* Two rows at a time, so that the pivot row is read half as often. */
MOR_ALWAYS_INLINE void add_to_rows(int count, const double* x, double a, double* y, double b, double* z)
{
    const quad A = { a, a, a, a }, B = { b, b, b, b };
    for (int k = 0; k < count; k += 4) {
        const quad X = *(const quad*)(x + k);
        *(quad*)(y + k) += A * X;
        *(quad*)(z + k) += B * X;
    }
}

MOR_ALWAYS_INLINE void add_to_row(int count, const double* x, double a, double* y)
{
    const quad A = { a, a, a, a };
    for (int k = 0; k < count; k += 4) *(quad*)(y + k) += A * *(const quad*)(x + k);
}
#else
static void add_to_row(int count, const double* x, double a, double* y)
{
    for (int k = 0; k < count; k++) y[k] += a * x[k];
}
static void add_to_rows(int count, const double* x, double a, double* y, double b, double* z)
{
    add_to_row(count, x, a, y);
    add_to_row(count, x, b, z);
}
#endif

MOR_ALWAYS_INLINE void pivot_rows(int n, int width, int stride, double* T, int r, int s, int* index)
{
    double *R = T + (size_t)r * stride, inverse = 1.0 / R[s];
    int count = 0;
    for (int j = 0; j < width; j++) {
        index[count] = j;
        count += R[j] != 0.0;
    }
    for (int k = 0; k < count; k++) R[index[k]] *= -inverse;
    R[s] = inverse;
    if (4 * count < width) {
        for (int i = 0; i < n; i++) {
            double *row = T + (size_t)i * stride, f = row[s];
            if (i == r || f == 0.0) continue;
            row[s] = 0.0;
            for (int k = 0; k < count; k++) row[index[k]] += f * R[index[k]];
        }
        return;
    }
    double *held = NULL, with = 0.0;
    for (int i = 0; i < n; i++) {
        double *row = T + (size_t)i * stride, f = row[s];
        if (i == r || f == 0.0) continue;
        row[s] = 0.0;
        if (!held) held = row, with = f;
        else {
            add_to_rows(stride, R, with, held, f, row);
            held = NULL;
        }
    }
    if (held) add_to_row(stride, R, with, held);
}

static void pivot_plain(int n, int width, int stride, double* T, int r, int s, int* index)
{
    pivot_rows(n, width, stride, T, r, s, index);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void pivot_avx2(int n, int width, int stride, double* T, int r, int s,
                                                       int* index)
{
    pivot_rows(n, width, stride, T, r, s, index);
}

void mor_tableau_pivot(int n, int width, int stride, double* T, int r, int s, int* index)
{
    (__builtin_cpu_supports("avx2") ? pivot_avx2 : pivot_plain)(n, width, stride, T, r, s, index);
}
#else
void mor_tableau_pivot(int n, int width, int stride, double* T, int r, int s, int* index)
{
    pivot_plain(n, width, stride, T, r, s, index);
}
#endif

double mor_power_of_two(double x)
{
    uint64_t bits, exponent;
    memcpy(&bits, &x, sizeof bits);
    exponent = bits >> 52 & 0x7ff;
    if (exponent == 0 || exponent >= 0x7fd) return 1.0;
    bits = (exponent + 1) << 52;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

void mor_tableau_equilibrate(int n, int stride, double* T, double* R, double* C, double* work)
{
    double *rows = work, *columns = work + n;
    for (int i = 0; i < n; i++) R[i] = C[i] = 1.0;
    for (int round = 0; round < 3; round++) {
        memset(work, 0, 2 * (size_t)n * sizeof *work);
        for (int i = 0; i < n; i++) {
            const double* row = T + (size_t)i * stride;
            for (int j = 0; j < n; j++) {
                double a = R[i] * fabs(row[j]) * C[j];
                rows[i] = a > rows[i] ? a : rows[i];
                columns[j] = a > columns[j] ? a : columns[j];
            }
        }
        for (int i = 0; i < n; i++) {
            if (rows[i] > 0.0) R[i] /= sqrt(rows[i]);
            if (columns[i] > 0.0) C[i] /= sqrt(columns[i]);
        }
    }
    for (int i = 0; i < n; i++) R[i] = mor_power_of_two(R[i]), C[i] = mor_power_of_two(C[i]);
    for (int i = 0; i < n; i++) {
        double* row = T + (size_t)i * stride;
        for (int j = 0; j < n; j++) row[j] *= R[i] * C[j];
    }
}
