/* src/linalg/sparse: compressed rows and the LU handle, against dense loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "linalg/sparse.h"

enum { N = 40 };

/* Random entries with repetitions, and a diagonal. */
static mor_csr random_csr(uint64_t seed, double* dense, mor_arena* arena)
{
    enum { COUNT = 4 * N };
    int row[COUNT], col[COUNT];
    double x[COUNT];
    mor_rng rng = { seed };
    memset(dense, 0, N * N * sizeof *dense);
    for (int k = 0; k < COUNT; k++) {
        row[k] = k < N ? k : (int)(N * mor_rng_uniform(&rng)), col[k] = k < N ? k : (int)(N * mor_rng_uniform(&rng));
        x[k] = k < N ? 3.0 : mor_rng_uniform(&rng) - 0.5;
        dense[row[k] + col[k] * N] += x[k];
    }
    mor_csr A;
    assert_true(mor_csr_from_triplets(&A, N, N, COUNT, row, col, x, arena));
    return A;
}

static void triplets_are_summed_and_sorted(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double dense[N * N];
    mor_csr A = random_csr(1, dense, arena), T, TT;
    for (int i = 0; i < N; i++) {
        for (int k = A.p[i] + 1; k < A.p[i + 1]; k++) assert_true(A.i[k - 1] < A.i[k]);
        for (int j = 0; j < N; j++) assert_near(mor_csr_get(&A, i, j), dense[i + j * N], 1e-15);
    }
    assert_true(mor_csr_transpose(&T, &A, NULL, arena) && mor_csr_transpose(&TT, &T, NULL, arena));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) assert_true(mor_csr_get(&T, j, i) == mor_csr_get(&A, i, j));
    assert_memory_equal(TT.i, A.i, (size_t)A.p[N] * sizeof(int));
    mor_arena_destroy(arena);
}

static void products_agree_with_dense_ones(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double a[N * N], b[N * N], x[N], y[N], t[N];
    mor_csr A = random_csr(2, a, arena), B = random_csr(3, b, arena), C;
    for (int i = 0; i < N; i++) x[i] = 0.1 * i - 1.0;
    mor_csr_apply(&A, x, y);
    mor_csr_apply_transposed(&A, x, t);
    assert_true(mor_csr_multiply(&C, &A, &B, arena));
    for (int i = 0; i < N; i++) {
        double s = 0.0, st = 0.0;
        for (int j = 0; j < N; j++) s += a[i + j * N] * x[j], st += a[j + i * N] * x[j];
        assert_near(y[i], s, 1e-13);
        assert_near(t[i], st, 1e-13);
        for (int j = 0; j < N; j++) {
            double c = 0.0;
            for (int k = 0; k < N; k++) c += a[i + k * N] * b[k + j * N];
            assert_near(mor_csr_get(&C, i, j), c, 1e-13);
        }
    }
    mor_arena_destroy(arena);
}

static void lu_is_analysed_once_and_factored_many_times(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double dense[N * N], b[2 * N], y[N];
    mor_csr A = random_csr(4, dense, arena);
    int order[N];
    assert_true(mor_csr_order(&A, order));
    for (int given = 0; given < 2; given++) {
        mor_sparse_lu* lu = mor_sparse_lu_create(&A, given ? order : NULL);
        assert_non_null(lu);
        for (int round = 0; round < 4; round++) {
            for (int k = 0; k < A.p[N]; k++) A.x[k] *= 1.0 + 0.1 * ((k * 7 + round) % 5);
            assert_true(mor_sparse_lu_factor(lu, &A));
            for (int i = 0; i < 2 * N; i++) b[i] = i % 3 - 1.0;
            mor_sparse_lu_solve(lu, 2, b);
            for (int h = 0; h < 2; h++) {
                mor_csr_apply(&A, b + h * N, y);
                for (int i = 0; i < N; i++) assert_near(y[i], (i + h * N) % 3 - 1.0, 1e-11);
            }
        }
        mor_sparse_lu_destroy(lu);
    }
    mor_arena_destroy(arena);
}

static void a_refactorisation_with_a_vanished_pivot_pivots_anew(void** state)
{
    (void)state;
    int p[3] = { 0, 2, 4 }, i[4] = { 0, 1, 0, 1 };
    double x[4] = { 1, 0.5, 0.25, 1 }, b[2] = { 1, 2 };
    mor_csr A = { 2, 2, p, i, x };
    mor_sparse_lu* lu = mor_sparse_lu_create(&A, NULL);
    assert_true(mor_sparse_lu_factor(lu, &A));
    x[0] = 1e-18, x[1] = 1.0, x[2] = 1.0, x[3] = 1.0;
    assert_true(mor_sparse_lu_factor(lu, &A));
    mor_sparse_lu_solve(lu, 1, b); /* [~0 1; 1 1] b = (1,2): (1,1) */
    assert_near(b[0], 1.0, 1e-14);
    assert_near(b[1], 1.0, 1e-14);
    x[0] = x[1] = x[2] = x[3] = 1.0;
    assert_false(mor_sparse_lu_factor(lu, &A));
    mor_sparse_lu_destroy(lu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triplets_are_summed_and_sorted),
        cmocka_unit_test(products_agree_with_dense_ones),
        cmocka_unit_test(lu_is_analysed_once_and_factored_many_times),
        cmocka_unit_test(a_refactorisation_with_a_vanished_pivot_pivots_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
