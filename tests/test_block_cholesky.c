/* The block Cholesky against dense Cholesky, on random graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "linalg/block_cholesky.h"
#include "linalg/dense.h"

enum { MOST = 40 };

static void random_block_matrices_are_solved_as_dense_ones(void** state)
{
    (void)state;
    mor_rng rng = { 5 };
    mor_arena* arena = mor_arena_create(NULL);
    for (int trial = 0; trial < 300; trial++) {
        int count = 1 + trial % MOST, dims[MOST], offset[MOST + 1] = { 0 };
        for (int i = 0; i < count; i++) {
            dims[i] = 1 + (int)(mor_rng_uniform(&rng) * MOR_BLOCK_DIM);
            offset[i + 1] = offset[i] + dims[i];
        }
        int n = offset[count];
        double* A = calloc((size_t)(n * n), sizeof *A);
        double density = trial % 3 == 0 ? 0.1 : trial % 3 == 1 ? 0.4 : 1.0;
        mor_block_cholesky* c = mor_block_cholesky_create(count, dims, arena);
        assert_non_null(c);
        for (int a = 0; a < count; a++)
            for (int b = a; b < count; b++) {
                if (a != b && mor_rng_uniform(&rng) > density) continue;
                double W[MOR_BLOCK_DIM * MOR_BLOCK_DIM];
                for (int i = 0; i < dims[a]; i++)
                    for (int j = 0; j < dims[b]; j++) W[i * dims[b] + j] = 2.0 * mor_rng_uniform(&rng) - 1.0;
                if (a == b) /* symmetric and heavy: positive definite */
                    for (int i = 0; i < dims[a]; i++)
                        for (int j = 0; j <= i; j++) W[j * dims[a] + i] = W[i * dims[a] + j] += i == j ? n + 1.0 : 0.0;
                for (int i = 0; i < dims[a]; i++)
                    for (int j = 0; j < dims[b]; j++)
                        A[offset[a] + i + (offset[b] + j) * n] = A[offset[b] + j + (offset[a] + i) * n] =
                            W[i * dims[b] + j];
                double* block = mor_block_cholesky_at(c, a, b);
                assert_non_null(block);
                for (int i = 0; i < dims[a] * dims[b]; i++) block[i] = 0.25 * W[i];
                assert_ptr_equal(block, mor_block_cholesky_at(c, a, b)); /* the same, to be added to */
                for (int i = 0; i < dims[a] * dims[b]; i++) block[i] += 0.75 * W[i];
            }
        double *x = malloc((size_t)n * sizeof *x), *y = malloc((size_t)n * sizeof *y);
        for (int i = 0; i < n; i++) x[i] = y[i] = mor_rng_uniform(&rng);
        assert_true(mor_block_cholesky_factor(c));
        mor_block_cholesky_solve(c, x);
        assert_true(mor_cholesky_factor(n, A));
        mor_cholesky_solve(n, A, y);
        for (int i = 0; i < n; i++) assert_near(x[i], y[i], 1e-13);
        free(x);
        free(y);
        free(A);
        mor_arena_reset(arena);
    }
    mor_arena_destroy(arena);
}

static void an_indefinite_matrix_is_refused(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    int dims[2] = { 1, 1 };
    mor_block_cholesky* c = mor_block_cholesky_create(2, dims, arena);
    *mor_block_cholesky_at(c, 0, 0) = 1.0, *mor_block_cholesky_at(c, 0, 1) = 2.0, *mor_block_cholesky_at(c, 1, 1) = 1.0;
    assert_false(mor_block_cholesky_factor(c));
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_block_matrices_are_solved_as_dense_ones),
        cmocka_unit_test(an_indefinite_matrix_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
