/* src/linalg/dense: every factorisation, below and above the size where LAPACK takes over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "linalg/dense.h"
#include "moreau/base.h"

enum { MOST = 60 };
static const int sizes[] = { 1, 2, 3, 5, 12, 23, 24, 25, MOST };

static void random_matrix(mor_rng* rng, int n, double* A)
{
    for (int k = 0; k < n * n; k++) A[k] = mor_rng_uniform(rng) - 0.5;
}

/* A := B B' + shift I (rank of B: columns) */
static void gram(mor_rng* rng, int n, int columns, double shift, double* A)
{
    static double B[MOST * MOST];
    for (int k = 0; k < n * columns; k++) B[k] = mor_rng_uniform(rng) - 0.5;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double s = i == j ? shift : 0.0;
            for (int k = 0; k < columns; k++) s += B[i + k * n] * B[j + k * n];
            A[i + j * n] = s;
        }
}

static double residual(int n, const double* A, const double* x, const double* b)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        double s = -b[i];
        for (int j = 0; j < n; j++) s += A[i + j * n] * x[j];
        worst = fmax(worst, fabs(s));
    }
    return worst;
}

static void lu_solves(void** state)
{
    (void)state;
    static double A[MOST * MOST], LU[MOST * MOST];
    mor_rng rng = { 1 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s], pivot[MOST];
        double b[MOST] = { 0 }, x[MOST] = { 0 };
        random_matrix(&rng, n, A);
        for (int i = 0; i < n; i++) b[i] = mor_rng_uniform(&rng);
        memcpy(LU, A, sizeof A);
        assert_true(mor_lu_factor(n, LU, pivot));
        memcpy(x, b, sizeof x);
        mor_lu_solve(n, LU, pivot, x);
        assert_true(residual(n, A, x, b) < 1e-11);
    }
}

static void a_singular_matrix_is_refused(void** state)
{
    (void)state;
    double A[4] = { 1, 2, 2, 4 };
    int pivot[2];
    assert_false(mor_lu_factor(2, A, pivot));
    double N[1] = { NAN };
    assert_false(mor_lu_factor(1, N, pivot));
    double D[4] = { 1, 2, 2, 1 };
    assert_false(mor_cholesky_factor(2, D));
    double Z[9] = { 0 };
    assert_false(mor_ldl_factor(3, Z, pivot));
}

static void refinement_lowers_the_residual_of_an_ill_conditioned_system(void** state)
{
    (void)state;
    enum { N = 10 };
    double H[N * N], LU[N * N], b[N], x[N], work[2 * N];
    int pivot[N];
    for (int i = 0; i < N; i++) {
        b[i] = 0.0;
        for (int j = 0; j < N; j++) b[i] += H[i + j * N] = 1.0 / (1 + i + j); /* Hilbert: condition 1e13 */
    }
    memcpy(LU, H, sizeof H);
    assert_true(mor_lu_factor(N, LU, pivot));
    for (int i = 0; i < N; i++) x[i] = 1.0 + 1e-3 * i;
    double before = residual(N, H, x, b);
    double after = mor_lu_refine(N, H, LU, pivot, b, x, 5, work);
    assert_true(after < 1e-12 && after < 1e-6 * before);
    assert_near(after, residual(N, H, x, b), 1e-15);
}

static void cholesky_solves_positive_definite_systems(void** state)
{
    (void)state;
    static double A[MOST * MOST], L[MOST * MOST];
    mor_rng rng = { 2 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s];
        double b[MOST] = { 0 }, x[MOST] = { 0 };
        gram(&rng, n, n, 0.1, A);
        for (int i = 0; i < n; i++) x[i] = b[i] = mor_rng_uniform(&rng);
        memcpy(L, A, sizeof A);
        assert_true(mor_cholesky_factor(n, L));
        mor_cholesky_solve(n, L, x);
        assert_true(residual(n, A, x, b) < 1e-12);
    }
}

static void ldl_solves_indefinite_systems_with_a_zero_diagonal(void** state)
{
    (void)state;
    static double A[MOST * MOST], F[MOST * MOST];
    mor_rng rng = { 3 };
    for (size_t s = 1; s < sizeof sizes / sizeof *sizes; s++) {
        int n = sizes[s], pivot[MOST];
        double b[MOST] = { 0 }, x[MOST] = { 0 };
        random_matrix(&rng, n, A);
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++)
                A[j + i * n] = A[i + j * n] = i == j ? (n % 2 ? A[i + i * n] : 0.0) : A[i + j * n];
        for (int i = 0; i < n; i++) x[i] = b[i] = mor_rng_uniform(&rng);
        memcpy(F, A, sizeof A);
        assert_true(mor_ldl_factor(n, F, pivot));
        mor_ldl_solve(n, F, pivot, x);
        assert_true(residual(n, A, x, b) < 1e-10);
    }
}

static void semidefinite_factor_finds_the_rank_and_the_sign(void** state)
{
    (void)state;
    static double A[MOST * MOST], work[MOST * MOST + MOST];
    int order[MOST];
    double least;
    mor_rng rng = { 4 };
    for (int rank = 0; rank <= 20; rank += 4) {
        gram(&rng, 20, rank, 0.0, A);
        assert_true(mor_symmetric_part_is_semidefinite(20, A, 1e-12, work, order));
        assert_int_equal(mor_semidefinite_factor(20, A, order, 1e-10, &least, work), rank);
        assert_true(least > -1e-9);
    }
    double indefinite[4] = { 1, 2, 2, 1 }, skew[4] = { 1, 5, -5, 1 };
    assert_false(mor_symmetric_part_is_semidefinite(2, indefinite, 1e-12, work, order));
    assert_true(mor_symmetric_part_is_semidefinite(2, skew, 1e-12, work, order));
    double hollow[4] = { 0, 1, 1, 0 };
    assert_false(mor_symmetric_part_is_semidefinite(2, hollow, 1e-12, work, order));
}

static void six_rows_are_solved(void** state)
{
    (void)state;
    double A[36], L[36], b[6], x[6];
    mor_rng rng = { 5 };
    gram(&rng, 6, 6, 0.5, A);
    for (int i = 0; i < 6; i++) x[i] = b[i] = mor_rng_uniform(&rng);
    assert_true(mor_cholesky6(A, L));
    mor_cholesky6_solve(L, x);
    assert_true(residual(6, A, x, b) < 1e-13);
    A[14] = -1.0;
    assert_false(mor_cholesky6(A, L));
}

static void least_norm_gives_the_shortest_solution_of_a_singular_system(void** state)
{
    (void)state;
    double A[9] = { 1, 1, 0, 1, 1, 0, 0, 0, 2 }, b[3] = { 2, 2, 6 };
    mor_arena* arena = mor_arena_create(NULL);
    assert_int_equal(mor_least_norm(3, A, b, 1e-12, arena), 2);
    assert_near(b[0], 1.0, 1e-14);
    assert_near(b[1], 1.0, 1e-14);
    assert_near(b[2], 3.0, 1e-14);
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lu_solves),
        cmocka_unit_test(a_singular_matrix_is_refused),
        cmocka_unit_test(refinement_lowers_the_residual_of_an_ill_conditioned_system),
        cmocka_unit_test(cholesky_solves_positive_definite_systems),
        cmocka_unit_test(ldl_solves_indefinite_systems_with_a_zero_diagonal),
        cmocka_unit_test(semidefinite_factor_finds_the_rank_and_the_sign),
        cmocka_unit_test(least_norm_gives_the_shortest_solution_of_a_singular_system),
        cmocka_unit_test(six_rows_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
