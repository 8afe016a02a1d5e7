/* Lemke: tiny problems with known answers, degenerate and infeasible ones, random families, and the stored set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "io/fclib/fclib.h"
#include "moreau/solver.h"

static mor_problem lcp(int n, double* A, const double* b)
{
    mor_problem p = { .form = MOR_LCP, .size = n, .b = b };
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = A };
    return p;
}

static mor_report solve(const mor_problem* p, double* z)
{
    return mor_solve(mor_solver_builtin("lemke"), NULL, p, NULL, z, NULL);
}

static void tiny_problems_have_their_known_answers(void** state)
{
    (void)state;
    double z[8];
    /* Cottle, Pang & Stone: A = [2 1; 1 2], q = (-5,-6): z = (4/3, 7/3) */
    double A[4] = { 2, 1, 1, 2 }, b[2] = { -5, -6 };
    mor_problem p = lcp(2, A, b);
    assert_int_equal(solve(&p, z).status, MOR_SOLVED);
    assert_near(z[0], 4.0 / 3.0, 1e-14);
    assert_near(z[1], 7.0 / 3.0, 1e-14);
    /* nothing to do */
    double positive[2] = { 1, 0 };
    p.b = positive;
    mor_report r = solve(&p, z);
    assert_int_equal(r.status, MOR_SOLVED);
    assert_int_equal(r.iterations, 0);
    assert_true(z[0] == 0.0 && z[1] == 0.0);
    /* one unknown, none at all */
    double one[1] = { 4 }, minus[1] = { -2 };
    p = lcp(1, one, minus);
    assert_int_equal(solve(&p, z).status, MOR_SOLVED);
    assert_near(z[0], 0.5, 0.0);
    p = lcp(0, NULL, NULL);
    assert_int_equal(solve(&p, z).status, MOR_SOLVED);
    /* Murty's family: lower triangular with 2 below the diagonal, q = -1: z = (1, 0, ..., 0) */
    double M[36] = { 0 }, q[6];
    for (int j = 0; j < 6; j++) {
        q[j] = -1;
        for (int i = j; i < 6; i++) M[i + 6 * j] = i == j ? 1 : 2;
    }
    p = lcp(6, M, q);
    assert_int_equal(solve(&p, z).status, MOR_SOLVED);
    for (int j = 0; j < 6; j++) assert_near(z[j], j == 0 ? 1.0 : 0.0, 1e-14);
}

static void infeasible_problems_are_proved_to_have_no_solution(void** state)
{
    (void)state;
    double z[3], zero[4] = { 0 }, b[2] = { -1, 1 };
    mor_problem p = lcp(2, zero, b);
    assert_int_equal(solve(&p, z).status, MOR_NO_SOLUTION);
    /* monotone: [0 -1; 1 0] z + (-1, ...): z2 <= -1 impossible */
    double skew[4] = { 0, 1, -1, 0 };
    p = lcp(2, skew, b);
    assert_int_equal(solve(&p, z).status, MOR_NO_SOLUTION);
    /* rank one, badly scaled: z1 - z2 >= 1 and z2 - z1 >= 1 */
    double gram[4] = { 1e6, -1, -1, 1e-6 }, both[2] = { -1e3, -1e-3 };
    p = lcp(2, gram, both);
    assert_int_equal(solve(&p, z).status, MOR_NO_SOLUTION);
}

static void a_ray_without_proof_is_not_called_infeasible(void** state)
{
    (void)state;
    /* random 2 x 2 problems: the four complementary cones say which have a solution */
    double z[2];
    int unproved = 0;
    mor_rng rng = { 21 };
    for (int k = 0; k < 400; k++) {
        double A[4], b[2];
        for (int i = 0; i < 4; i++) A[i] = 2 * mor_rng_uniform(&rng) - 1;
        for (int i = 0; i < 2; i++) b[i] = 2 * mor_rng_uniform(&rng) - 1;
        bool exists = b[0] >= 0 && b[1] >= 0;
        for (int i = 0; i < 2; i++) {
            double x = -b[i] / A[3 * i];
            exists = exists || (x >= 0 && A[(1 - i) + 2 * i] * x + b[1 - i] >= 0);
        }
        double det = A[0] * A[3] - A[1] * A[2];
        exists = exists || ((-b[0] * A[3] + b[1] * A[2]) / det >= 0 && (-b[1] * A[0] + b[0] * A[1]) / det >= 0);
        mor_problem p = lcp(2, A, b);
        mor_report r = solve(&p, z);
        if (r.status == MOR_NO_SOLUTION) assert_false(exists);
        if (r.status == MOR_SOLVED) assert_true(exists);
        if (r.status == MOR_NOT_CONVERGED) unproved++;
        assert_true(r.status == MOR_SOLVED || r.status == MOR_NO_SOLUTION || r.status == MOR_NOT_CONVERGED);
    }
    assert_true(unproved > 0); /* the family does contain such problems */
}

static void random_families_are_solved(void** state)
{
    (void)state;
    enum { MOST = 120 };
    static double A[MOST * MOST], F[MOST * MOST], b[MOST], z[MOST];
    mor_rng rng = { 5 };
    for (int n = 2; n <= MOST; n = 2 * n + 1)
        for (int family = 0; family < 4; family++)
            for (int trial = 0; trial < 5; trial++) {
                int rank = family == 1 ? (n + 1) / 2 : n;
                for (int k = 0; k < n * rank; k++) F[k] = mor_rng_uniform(&rng) - 0.5;
                for (int i = 0; i < n; i++)
                    for (int j = 0; j < n; j++) {
                        double s = family == 0 && i == j ? 0.1 : 0.0;
                        for (int k = 0; k < rank; k++) s += F[i + k * n] * F[j + k * n];
                        A[i + j * n] = family == 2 ? (i == j ? 2.0 : abs(i - j) == 1 ? -1.0 : 0.0) : s;
                    }
                for (int i = 0; i < n; i++) b[i] = mor_rng_uniform(&rng) - 0.7;
                if (family == 1) /* degenerate and feasible: b = -A z + w with z, w complementary and integer */
                    for (int i = 0; i < n; i++) {
                        b[i] = i % 3 == 0 ? 1.0 : 0.0;
                        for (int j = 1; j < n; j += 3) b[i] -= A[i + j * n];
                    }
                if (family == 3) /* masses from 1 to 1e6 */
                    for (int i = 0; i < n; i++)
                        for (int j = 0; j < n; j++) A[i + j * n] *= pow(10.0, -3.0 * (i + j) / n);
                mor_problem p = lcp(n, A, b);
                mor_report r = solve(&p, z);
                if (r.status != MOR_SOLVED)
                    fail_msg("n %d family %d trial %d: %s %g %s", n, family, trial, mor_status_name(r.status),
                             r.residual.relative, r.detail);
            }
}

static void limits_are_respected_and_reported(void** state)
{
    (void)state;
    enum { N = 60 };
    static double A[N * N], b[N], z[N];
    mor_rng rng = { 8 };
    for (int i = 0; i < N; i++) {
        b[i] = -1.0;
        for (int j = 0; j < N; j++) A[i + j * N] = i == j ? N : mor_rng_uniform(&rng);
    }
    mor_problem p = lcp(N, A, b);
    mor_solve_options o = mor_solve_options_default();
    o.max_iter = 3;
    mor_report r = mor_solve(mor_solver_builtin("lemke"), NULL, &p, &o, z, NULL);
    assert_int_equal(r.status, MOR_NOT_CONVERGED);
    assert_int_equal(r.iterations, 3);
    o.max_iter = 0, o.time_limit = 1e-9;
    r = mor_solve(mor_solver_builtin("lemke"), NULL, &p, &o, z, NULL);
    assert_int_equal(r.status, MOR_TIME_LIMIT);
    /* a trace: every pivot judged, ending near the solution, not counted in the time */
    mor_trace trace = { 0 };
    o.time_limit = 0, o.trace = &trace;
    r = mor_solve(mor_solver_builtin("lemke"), NULL, &p, &o, z, NULL);
    assert_int_equal(r.status, MOR_SOLVED);
    assert_true(trace.count >= r.iterations - 1 && trace.count > 10);
    assert_true(trace.lines[trace.count - 1].residual.natural < trace.lines[0].residual.natural);
    mor_trace_free(&trace);
    b[3] = NAN;
    assert_int_equal(solve(&p, z).status, MOR_REFUSED);
}

static void the_same_problem_gives_the_same_bits(void** state)
{
    (void)state;
    enum { N = 40 };
    static double A[N * N], b[N], first[N], again[N];
    mor_rng rng = { 12 };
    for (int i = 0; i < N; i++) {
        b[i] = mor_rng_uniform(&rng) - 0.8;
        for (int j = 0; j < N; j++) A[i + j * N] = (i == j ? 8.0 : 0.0) + mor_rng_uniform(&rng);
    }
    mor_problem p = lcp(N, A, b);
    mor_arena* arena = mor_arena_create(NULL);
    for (int k = 0; k < 3; k++) {
        mor_solve(mor_solver_builtin("lemke"), NULL, &p, NULL, k ? again : first, arena);
        if (k) assert_memory_equal(first, again, sizeof first);
    }
    mor_arena_destroy(arena);
}

static int compare_names(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static void solve_stored(const char* kind, int expected)
{
    char folder[512], path[1024];
    snprintf(folder, sizeof folder, "%s/../shared/data/problems/%s", MOREAU_SOURCE_DIR, kind);
    DIR* dir = opendir(folder);
    if (!dir) {
        print_message("SKIP: %s is not here\n", folder);
        skip();
    }
    char* names[256];
    int count = 0, solved = 0;
    for (struct dirent* d; (d = readdir(dir)) && count < 256;)
        if (d->d_name[0] != '.') names[count++] = strdup(d->d_name);
    closedir(dir);
    qsort(names, (size_t)count, sizeof *names, compare_names);
    for (int k = 0; k < count; k++) {
        mor_problem_file file;
        mor_error error = { 0 };
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        if (mor_problem_load(path, NULL, &file, &error)) fail_msg("%s", error.text);
        double* z = calloc((size_t)file.problem.size + 1, sizeof *z);
        mor_solve_options o = mor_solve_options_default();
        mor_report r = mor_solve(mor_solver_builtin("lemke"), NULL, &file.problem, &o, z, NULL);
        if (r.status == MOR_SOLVED) solved++;
        else print_message("%s: %s %g %s\n", names[k], mor_status_name(r.status), r.residual.relative, r.detail);
        free(z);
        mor_problem_file_free(&file);
        free(names[k]);
    }
    assert_int_equal(count, expected);
    assert_int_equal(solved, expected);
}

static void all_stored_lcps_are_solved(void** state)
{
    (void)state;
    solve_stored("lcp", 35);
}

static void all_stored_mixed_lcps_are_solved(void** state)
{
    (void)state;
    solve_stored("mlcp", 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_problems_have_their_known_answers),
        cmocka_unit_test(infeasible_problems_are_proved_to_have_no_solution),
        cmocka_unit_test(a_ray_without_proof_is_not_called_infeasible),
        cmocka_unit_test(random_families_are_solved),
        cmocka_unit_test(limits_are_respected_and_reported),
        cmocka_unit_test(the_same_problem_gives_the_same_bits),
        cmocka_unit_test(all_stored_lcps_are_solved),
        cmocka_unit_test(all_stored_mixed_lcps_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
