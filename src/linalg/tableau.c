/* Kernels of pivoting; see tableau.h, and wide.h for how one body serves every machine with the same bits.
 *
 * Reference: Ruiz (2001), A scaling algorithm to equilibrate both rows and columns norms in matrices. */
#include "linalg/tableau.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/elementary.h"
#include "linalg/wide.h"

/* Two rows at a time, so that the pivot row is read half as often. */
MOR_ALWAYS_INLINE void add_to_rows(int count, const double* x, double a, double* y, double b, double* z)
{
    const mor_four A = { a, a, a, a }, B = { b, b, b, b };
    for (int k = 0; k < count; k += 4) {
        const mor_four X = MOR_FOUR_AT(x + k);
        MOR_FOUR_TO(y + k) += A * X;
        MOR_FOUR_TO(z + k) += B * X;
    }
}

MOR_ALWAYS_INLINE void add_to_row(int count, const double* x, double a, double* y)
{
    const mor_four A = { a, a, a, a };
    for (int k = 0; k < count; k += 4) MOR_FOUR_TO(y + k) += A * MOR_FOUR_AT(x + k);
}

MOR_ALWAYS_INLINE void mor_tableau_pivot_body(int n, int width, int stride, double* T, int r, int s, int* index)
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

MOR_WIDE_VOID(extern, mor_tableau_pivot, (int n, int width, int stride, double* T, int r, int s, int* index),
              (n, width, stride, T, r, s, index))

/* The power of two just above x > 0; 1 for zero, subnormal and huge x. */
static double power_of_two(double x)
{
    uint64_t bits, exponent;
    memcpy(&bits, &x, sizeof bits);
    exponent = bits >> 52 & 0x7ff;
    if (exponent == 0 || exponent >= 0x7fd) return 1.0;
    bits = (exponent + 1) << 52;
    memcpy(&x, &bits, sizeof bits);
    return x;
}

double mor_scale_row(int n, int stride, double* row)
{
    double size = 0.0;
    for (int j = 0; j < n; j++) size = mor_max(size, fabs(row[(size_t)j * stride]));
    const double scale = 1.0 / power_of_two(size);
    for (int j = 0; j < n; j++) row[(size_t)j * stride] *= scale;
    return scale;
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
    for (int i = 0; i < n; i++) R[i] = power_of_two(R[i]), C[i] = power_of_two(C[i]);
    for (int i = 0; i < n; i++) {
        double* row = T + (size_t)i * stride;
        for (int j = 0; j < n; j++) row[j] *= R[i] * C[j];
    }
}
