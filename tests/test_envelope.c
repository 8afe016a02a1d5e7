/* LU within the envelope of a matrix: random matrices of many widths, exchanges of rows included, against the product
 * with the answer. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "linalg/envelope.h"

static uint64_t seed = 20;

static double number(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(seed >> 11) / 4503599627370496.0 - 1.0;
}

/* The largest entry of A X - B and of A' x - b. */
static double residual(int n, int below, int above, int m)
{
    mor_arena* arena = mor_arena_create(NULL);
    mor_envelope e;
    assert_true(mor_envelope_create(n, arena, &e));
    size_t N = (size_t)n, M = (size_t)m;
    double *A = calloc(N * N, sizeof *A), *B = calloc(N * M, sizeof *B), *X = calloc(N * M, sizeof *X), worst = 0.0;
    double *b = calloc(N, sizeof *b), *x = calloc(N, sizeof *x), ratio;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (j >= i - below && j <= i + above)
                A[i * n + j] = i == j ? 0.01 * number() : number(); /* pivots matter */
    for (size_t i = 0; i < N * M; i++) B[i] = number();
    memcpy(e.A, A, N * N * sizeof *A);
    assert_true(mor_envelope_factor(&e, &ratio));
    assert_true(ratio > 0.0 && ratio <= 1.0);
    mor_envelope_solve(&e, m, B, X);
    double size = 1.0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++) {
            double sum = -B[i * m + k];
            for (int j = 0; j < n; j++) sum += A[i * n + j] * X[j * m + k];
            worst = fmax(worst, fabs(sum));
            size = fmax(size, fabs(X[i * m + k]));
        }
    for (int i = 0; i < n; i++) b[i] = B[i * m];
    mor_envelope_solve_transposed(&e, b, x);
    for (int i = 0; i < n; i++) {
        double sum = -B[i * m];
        for (int j = 0; j < n; j++) sum += A[j * n + i] * x[j];
        worst = fmax(worst, fabs(sum));
        size = fmax(size, fabs(x[i]));
    }
    free(A), free(B), free(X), free(b), free(x);
    mor_arena_destroy(arena);
    return worst / size;
}

static void random_matrices_are_solved(void** state)
{
    (void)state;
    for (int n = 1; n < 40; n += 3)
        for (int below = 1; below < n + 2; below += 4)
            for (int above = 1; above < n + 2; above += 5)
                for (int m = 1; m < 12; m += 3) assert_true(residual(n, below, above, m) < 1e-11);
}

static void a_singular_matrix_is_told(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    mor_envelope e;
    double ratio;
    assert_true(mor_envelope_create(3, arena, &e));
    memcpy(e.A, (double[9]){ 1, 2, 0, 2, 4, 0, 0, 0, 1 }, 9 * sizeof(double));
    assert_false(mor_envelope_factor(&e, &ratio));
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_matrices_are_solved),
                                        cmocka_unit_test(a_singular_matrix_is_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
