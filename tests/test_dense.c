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
#include "linalg/eigenvalues.h"
#include "linalg/rows.h"
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

/* What dense.c computes by blocks, one entry at a time as the definition reads. */
static bool textbook_lu(int n, double* A, int* pivot)
{
    for (int k = 0; k < n; k++) {
        int r = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(A[i + k * n]) > fabs(A[r + k * n])) r = i;
        pivot[k] = r + 1;
        for (int j = 0; j < n; j++) {
            double t = A[k + j * n];
            A[k + j * n] = A[r + j * n], A[r + j * n] = t;
        }
        for (int i = k + 1; i < n; i++) A[i + k * n] /= A[k + k * n];
        for (int j = k + 1; j < n; j++)
            for (int i = k + 1; i < n; i++) A[i + j * n] -= A[k + j * n] * A[i + k * n];
    }
    return true;
}

static void textbook_cholesky(int n, double* A)
{
    for (int k = 0; k < n; k++) {
        A[k + k * n] = sqrt(A[k + k * n]);
        double inverse = 1.0 / A[k + k * n];
        for (int i = k + 1; i < n; i++) A[i + k * n] *= inverse;
        for (int j = k + 1; j < n; j++)
            for (int i = j; i < n; i++) A[i + j * n] -= A[j + k * n] * A[i + k * n];
    }
}

static void blocked_factors_have_the_bits_of_the_textbook_loops(void** state)
{
    (void)state;
    enum { LARGE = 211 };
    static const int orders[] = { 1, 7, 16, 17, 40, 41, 63, 64, 95, 96, 97, 150, LARGE };
    double *A = malloc(LARGE * LARGE * sizeof *A), *B = malloc(LARGE * LARGE * sizeof *B);
    double* C = malloc(LARGE * LARGE * sizeof *C);
    int p[LARGE], q[LARGE];
    mor_rng rng = { 8 };
    for (size_t s = 0; s < sizeof orders / sizeof *orders; s++) {
        int n = orders[s];
        size_t bytes = (size_t)(n * n) * sizeof *A;
        random_matrix(&rng, n, A);
        memcpy(B, A, bytes);
        assert_true(mor_lu_factor(n, A, p) && textbook_lu(n, B, q));
        assert_memory_equal(A, B, bytes);
        assert_memory_equal(p, q, (size_t)n * sizeof *p);
        /* many right sides as one by one */
        random_matrix(&rng, n, B);
        memcpy(C, B, bytes);
        mor_lu_solve_many(n, A, p, n, B);
        for (int j = 0; j < n; j++) mor_lu_solve(n, A, p, C + j * n);
        assert_memory_equal(B, C, bytes);
        random_matrix(&rng, n, A);
        for (int j = 0; j < n; j++) {
            A[j + j * n] += n;
            for (int i = 0; i < j; i++) A[i + j * n] = 7.0; /* not touched */
        }
        memcpy(B, A, bytes);
        assert_true(mor_cholesky_factor(n, A));
        textbook_cholesky(n, B);
        assert_memory_equal(A, B, bytes);
    }
    free(A), free(B), free(C);
}

static void eigenvalues_are_those_of_a_matrix_made_from_them(void** state)
{
    (void)state;
    /* the second difference has 2 - 2 cos(k pi/(n + 1)); a rotation of a diagonal keeps its values */
    for (int n = 1; n <= 60; n += 7) {
        double A[60 * 60] = { 0 }, values[60], work[120];
        for (int i = 0; i < n; i++) A[i + i * n] = 2.0;
        for (int i = 0; i + 1 < n; i++) A[i + 1 + i * n] = -1.0;
        assert_true(mor_symmetric_eigenvalues(n, A, values, work));
        for (int k = 0; k < n; k++) assert_near(values[k], 2.0 - 2.0 * cos((k + 1) * acos(-1.0) / (n + 1)), 1e-13);
        /* H D H, H = I - 2 u u'/n with u of ones */
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double s = 0.0;
                for (int k = 0; k < n; k++)
                    s += ((i == k) - 2.0 / n) * (k % 5 - 2.0 + 0.001 * k) * ((k == j) - 2.0 / n);
                A[i + j * n] = s;
            }
        double sorted[60];
        for (int k = 0; k < n; k++) {
            int at = k;
            double v = k % 5 - 2.0 + 0.001 * k;
            for (; at > 0 && sorted[at - 1] > v; at--) sorted[at] = sorted[at - 1];
            sorted[at] = v;
        }
        assert_true(mor_symmetric_eigenvalues(n, A, values, work));
        for (int k = 0; k < n; k++) assert_near(values[k], sorted[k], 1e-13);
    }
    double bad[4] = { NAN, 1, 1, 1 }, values[2], work[4];
    assert_false(mor_symmetric_eigenvalues(2, bad, values, work));
}

/* B B' with half as many columns as rows, entries of two sizes: half of the values are zero, their sum is the trace. QL
 * steps that deflate only against their neighbours do not end here. */
static void eigenvalues_of_a_singular_matrix_are_found(void** state)
{
    (void)state;
    uint32_t seed = 7;
    for (int n = 40; n <= 240; n += 40) {
        int k = n / 2, rank = 0;
        double *A = calloc((size_t)(n * n), sizeof *A), *B = calloc((size_t)(n * k), sizeof *B), trace = 0.0, sum = 0.0;
        double *values = malloc((size_t)n * sizeof *values), *work = malloc(2 * (size_t)n * sizeof *work);
        for (int i = 0; i < n * k; i++) {
            seed = seed * 1664525u + 1013904223u;
            B[i] = ((int)(seed >> 20) % 3 - 1) * (seed >> 31 ? 1.0 : 0.05);
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int c = 0; c < k; c++) A[i + j * n] += B[i * k + c] * B[j * k + c];
        for (int i = 0; i < n; i++) trace += A[i + i * n];
        assert_true(mor_symmetric_eigenvalues(n, A, values, work));
        for (int i = 0; i < n; i++) rank += values[i] > 1e-10 * values[n - 1], sum += values[i];
        assert_int_equal(rank, k);
        assert_near(sum / trace, 1.0, 1e-12);
        free(A), free(B), free(values), free(work);
    }
}

static void least_norm_is_orthogonal_to_what_the_matrix_ignores(void** state)
{
    (void)state;
    enum { N = 30 };
    mor_arena* arena = mor_arena_create(NULL);
    mor_rng rng = { 12 };
    for (int rank = 1; rank <= N; rank++) {
        /* A = X Y', X and Y N x rank; b = A z: the shortest solution is in the span of Y and solves A x = b */
        static double X[N * N], Y[N * N], A[N * N], F[N * N];
        double b[N] = { 0 }, x[N];
        for (int k = 0; k < N * N; k++) X[k] = mor_rng_uniform(&rng) - 0.5, Y[k] = mor_rng_uniform(&rng) - 0.5;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                A[i + j * N] = 0.0;
                for (int k = 0; k < rank; k++) A[i + j * N] += X[i + k * N] * Y[j + k * N];
            }
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) b[i] += A[i + j * N] * (j % 3 - 1.0);
        memcpy(F, A, sizeof A);
        memcpy(x, b, sizeof x);
        assert_int_equal(mor_least_norm(N, F, x, 1e-11, arena), rank);
        assert_true(residual(N, A, x, b) < 1e-9);
        /* x is in the span of the columns of A': no component is left after projecting on it */
        double left[N];
        memcpy(left, x, sizeof left);
        static double Q[N * N];
        memcpy(Q, Y, sizeof Q);
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < rank; k++) {
                double* q = Q + k * N;
                for (int l = 0; l < k; l++) {
                    double s = 0.0;
                    for (int i = 0; i < N; i++) s += q[i] * Q[i + l * N];
                    for (int i = 0; i < N; i++) q[i] -= s * Q[i + l * N];
                }
                double size = mor_norm2(N, q);
                for (int i = 0; i < N; i++) q[i] /= size;
            }
        for (int k = 0; k < rank; k++) {
            double s = 0.0;
            for (int i = 0; i < N; i++) s += left[i] * Q[i + k * N];
            for (int i = 0; i < N; i++) left[i] -= s * Q[i + k * N];
        }
        assert_true(mor_norm2(N, left) < 1e-9 * (1.0 + mor_norm2(N, x)));
    }
    double bad[4] = { INFINITY, 1, 1, 1 }, b[2] = { 1, 1 };
    assert_int_equal(mor_least_norm(2, bad, b, 1e-12, arena), -1);
    mor_arena_destroy(arena);
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

/* Counts how often it is asked, and says yes from the `most`-th time on. */
typedef struct patience {
    int asked, most;
} patience;

static bool is_over(const void* user)
{
    patience* p = (patience*)user;
    return ++p->asked >= p->most;
}

static void least_norm_ends_within_a_few_columns_when_it_is_to_stop(void** state)
{
    (void)state;
    enum { N = 100 };
    static double A[N * N], b[N];
    mor_arena* arena = mor_arena_create(NULL);
    for (int most = 1; most < 60; most++)
        for (int rank = N - 30; rank <= N; rank += 30) { /* below full rank there is a second factor */
            memset(A, 0, sizeof A);
            for (int i = 0; i < N; i++) b[i] = 1.0 + i, A[i + i * N] = i < rank ? 2.0 + i % 7 : 0.0;
            patience p = { 0, most };
            const mor_stop stop = { is_over, &p };
            int found = mor_least_norm_until(N, A, b, 1e-12, &stop, arena);
            assert_true(p.asked <= most);
            assert_true(p.asked >= 7 || found == -1);
            if (p.asked < most) assert_int_equal(found, rank);
            else assert_int_equal(found, -1);
        }
    mor_arena_destroy(arena);
}

/* Against sums in plain loops; sizes of contacts, joints and robots, and odd ones. */
static void products_with_rows_are_those_of_plain_loops(void** state)
{
    (void)state;
    enum { WIDEST = 31, ROWS = 6 };
    const int widths[] = { 1, 2, 3, 5, 6, 7, 12, WIDEST };
    mor_rng rng = { 11 };
    for (size_t k = 0; k < sizeof widths / sizeof *widths; k++)
        for (int p = 1; p <= ROWS; p++)
            for (int q = 1; q <= ROWS; q++) {
                int n = widths[k];
                double A[ROWS * WIDEST], B[ROWS * WIDEST], v[WIDEST], u[ROWS], W[ROWS * ROWS], x[ROWS], to[WIDEST];
                for (int i = 0; i < ROWS * WIDEST; i++)
                    A[i] = mor_rng_uniform(&rng) - 0.5, B[i] = mor_rng_uniform(&rng) - 0.5;
                for (int i = 0; i < WIDEST; i++) v[i] = mor_rng_uniform(&rng) - 0.5, to[i] = 1.0;
                for (int i = 0; i < ROWS; i++) u[i] = 2.0, x[i] = mor_rng_uniform(&rng) - 0.5;
                for (int i = 0; i < p * q; i++) W[i] = 3.0;
                mor_rows(p, n, A, v, u);
                mor_push(p, n, A, x, to);
                mor_gram(p, q, n, A, B, W);
                for (int i = 0; i < p; i++) {
                    double sum = 2.0;
                    for (int j = 0; j < n; j++) sum += A[i * n + j] * v[j];
                    assert_near(u[i], sum, 1e-14);
                    for (int c = 0; c < q; c++) {
                        double product = 3.0;
                        for (int j = 0; j < n; j++) product += A[i * n + j] * B[c * n + j];
                        assert_near(W[i * q + c], product, 1e-14);
                    }
                }
                for (int j = 0; j < WIDEST; j++) {
                    double sum = 1.0;
                    for (int i = 0; j < n && i < p; i++) sum += A[i * n + j] * x[i];
                    assert_near(to[j], sum, 1e-14);
                }
                for (int i = p; i < ROWS; i++) assert_true(u[i] == 2.0); /* nothing written beyond */
            }
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
        cmocka_unit_test(products_with_rows_are_those_of_plain_loops),
        cmocka_unit_test(six_rows_are_solved),
        cmocka_unit_test(blocked_factors_have_the_bits_of_the_textbook_loops),
        cmocka_unit_test(eigenvalues_are_those_of_a_matrix_made_from_them),
        cmocka_unit_test(eigenvalues_of_a_singular_matrix_are_found),
        cmocka_unit_test(least_norm_is_orthogonal_to_what_the_matrix_ignores),
        cmocka_unit_test(least_norm_ends_within_a_few_columns_when_it_is_to_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
