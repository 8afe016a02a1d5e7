/* path, dantzig and interior-point: tiny problems with known answers, boxed ones against enumeration, and the stored
 * set against the counts of Siconos. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "io/fclib/fclib.h"
#include "moreau/solver.h"

static mor_problem boxed(mor_form form, int n, double* A, const double* b, const double* lower, const double* upper)
{
    mor_problem p = { .form = form, .size = n, .b = b, .lower = lower, .upper = upper };
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = A };
    return p;
}

static mor_report solve(const char* name, const mor_problem* p, double* z)
{
    return mor_solve(mor_solver_builtin(name), NULL, p, NULL, z, NULL);
}

static const char* const all[] = { "path", "dantzig", "interior-point" };
enum { ALL = 3, PIVOTING = 2 };

static void tiny_problems_have_their_known_answers(void** state)
{
    (void)state;
    for (int s = 0; s < ALL; s++) {
        double z[8], A[4] = { 2, 1, 1, 2 }, b[2] = { -5, -6 };
        mor_problem p = boxed(MOR_LCP, 2, A, b, NULL, NULL);
        assert_int_equal(solve(all[s], &p, z).status, MOR_SOLVED);
        assert_near(z[0], 4.0 / 3.0, 1e-9);
        assert_near(z[1], 7.0 / 3.0, 1e-9);
        double positive[2] = { 1, 0 };
        p.b = positive;
        assert_int_equal(solve(all[s], &p, z).status, MOR_SOLVED);
        assert_near(z[0], 0.0, 1e-8);
        p = boxed(MOR_LCP, 0, NULL, NULL, NULL, NULL);
        assert_int_equal(solve(all[s], &p, z).status, MOR_SOLVED);
        double one[1] = { 4 }, minus[1] = { -2 };
        p = boxed(MOR_LCP, 1, one, minus, NULL, NULL);
        assert_int_equal(solve(all[s], &p, z).status, MOR_SOLVED);
        assert_near(z[0], 0.5, 1e-9);
        /* one equation: z0 free, z0 + z1 = 1 with z1 = max(0, ...): A = [1 1; -1 2], b = (-1, 3): z1 = 0, z0 = 1, w1 =
         * 2 */
        double mixed[4] = { 1, -1, 1, 2 }, c[2] = { -1, 3 }, lower[2] = { -INFINITY, 0 };
        p = boxed(MOR_MLCP, 2, mixed, c, lower, NULL);
        assert_int_equal(solve(all[s], &p, z).status, MOR_SOLVED);
        assert_near(z[0], 1.0, 1e-8);
        assert_near(z[1], 0.0, 1e-8);
        /* infinitely many solutions: z0 + z1 = 1 */
        double ones[4] = { 1, 1, 1, 1 }, both[2] = { -1, -1 };
        p = boxed(MOR_LCP, 2, ones, both, NULL, NULL);
        assert_int_equal(solve(all[s], &p, z).status, MOR_SOLVED);
        assert_near(z[0] + z[1], 1.0, 1e-8);
        /* no solution: never called solved */
        double zero[4] = { 0 }, none[2] = { -1, 1 };
        p = boxed(MOR_LCP, 2, zero, none, NULL, NULL);
        mor_report r = solve(all[s], &p, z);
        assert_true(r.status == MOR_NO_SOLUTION || r.status == MOR_NOT_CONVERGED || r.status == MOR_NUMERICAL);
    }
}

/* Every choice of "lower, between, upper" of a boxed problem with n = 3, solved by Cramer's rule. */
static int enumerate(const double* A, const double* b, const double* l, const double* u, double answer[3])
{
    int found = 0;
    for (int code = 0; code < 27; code++) {
        int kind[3] = { code % 3, code / 3 % 3, code / 9 };
        double M[9], r[3], z[3];
        bool finite = true;
        for (int i = 0; i < 3; i++) finite = finite && (kind[i] != 2 || u[i] < INFINITY);
        if (!finite) continue;
        for (int i = 0; i < 3; i++) {
            r[i] = kind[i] == 0 ? l[i] : kind[i] == 1 ? -b[i] : u[i];
            for (int j = 0; j < 3; j++) M[i + 3 * j] = kind[i] == 1 ? A[i + 3 * j] : i == j;
        }
        double det = M[0] * (M[4] * M[8] - M[7] * M[5]) - M[3] * (M[1] * M[8] - M[7] * M[2]) +
                     M[6] * (M[1] * M[5] - M[4] * M[2]);
        if (fabs(det) < 1e-12) continue;
        for (int c = 0; c < 3; c++) {
            double T[9];
            memcpy(T, M, sizeof T);
            for (int i = 0; i < 3; i++) T[i + 3 * c] = r[i];
            z[c] = (T[0] * (T[4] * T[8] - T[7] * T[5]) - T[3] * (T[1] * T[8] - T[7] * T[2]) +
                    T[6] * (T[1] * T[5] - T[4] * T[2])) /
                   det;
        }
        bool good = true;
        for (int i = 0; i < 3; i++) {
            double w = b[i];
            for (int j = 0; j < 3; j++) w += A[i + 3 * j] * z[j];
            good = good && (kind[i] == 0 ? w >= 0 : kind[i] == 2 ? w <= 0 : z[i] >= l[i] && z[i] <= u[i]);
        }
        if (good) memcpy(answer, z, 3 * sizeof *z), found++;
    }
    return found;
}

static void boxed_problems_have_the_answer_enumeration_finds(void** state)
{
    (void)state;
    mor_rng rng = { 77 };
    for (int k = 0; k < 500; k++) {
        double F[9], A[9], b[3], l[3], u[3], z[3], expected[3];
        for (int i = 0; i < 9; i++) F[i] = 2 * mor_rng_uniform(&rng) - 1;
        for (int i = 0; i < 3; i++) {
            b[i] = 4 * mor_rng_uniform(&rng) - 2;
            l[i] = -mor_rng_uniform(&rng), u[i] = mor_rng_uniform(&rng);
            for (int j = 0; j < 3; j++) {
                /* symmetric or not, positive definite */
                A[i + 3 * j] = i == j ? 0.1 : k % 2 ? 0.3 * (i < j ? 1 : -1) * F[i + j] : 0.0;
                for (int c = 0; c < 3; c++) A[i + 3 * j] += F[i + 3 * c] * F[j + 3 * c];
            }
        }
        assert_int_equal(enumerate(A, b, l, u, expected), 1);
        mor_problem p = boxed(MOR_MCP, 3, A, b, l, u);
        for (int s = 0; s < PIVOTING; s++) {
            mor_report r = solve(all[s], &p, z);
            if (r.status != MOR_SOLVED)
                fail_msg("%s on %d: %s %g %s", all[s], k, mor_status_name(r.status), r.residual.relative, r.detail);
            for (int i = 0; i < 3; i++) assert_near(z[i], expected[i], 1e-7);
        }
    }
}

static void no_solution_is_only_said_when_there_is_none(void** state)
{
    (void)state;
    mor_rng rng = { 31 };
    int solved[ALL] = { 0 }, existing = 0;
    for (int k = 0; k < 500; k++) {
        double A[9], b[3], zero[3] = { 0 }, far[3] = { INFINITY, INFINITY, INFINITY }, z[3], expected[3];
        for (int i = 0; i < 9; i++) A[i] = 2 * mor_rng_uniform(&rng) - 1;
        for (int i = 0; i < 3; i++) b[i] = 2 * mor_rng_uniform(&rng) - 1;
        bool exists = enumerate(A, b, zero, far, expected) > 0;
        existing += exists;
        mor_problem p = boxed(MOR_LCP, 3, A, b, NULL, NULL);
        for (int s = 0; s < ALL; s++) {
            mor_report r = solve(all[s], &p, z);
            if (r.status == MOR_NO_SOLUTION) assert_false(exists);
            solved[s] += r.status == MOR_SOLVED;
        }
    }
    print_message("of %d solvable: path %d, dantzig %d, interior-point %d\n", existing, solved[0], solved[1],
                  solved[2]);
    assert_true(solved[0] > existing / 2);
}

/* The convex problem over friction cones, judged by its definition: r in K, u in K*, r'u = 0. */
static void conic_problems_are_solved_in_two_and_three_dimensions(void** state)
{
    (void)state;
    enum { MOST = 90 };
    static double W[MOST * MOST], F[MOST * MOST], b[MOST], mu[MOST], r[MOST], u[MOST];
    mor_rng rng = { 41 };
    for (int trial = 0; trial < 60; trial++) {
        int dim = 2 + trial % 2, contacts = 1 + trial % 30, n = dim * contacts, rank = trial % 3 ? n : (n + 1) / 2;
        for (int k = 0; k < n * rank; k++) F[k] = mor_rng_uniform(&rng) - 0.5;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                W[i + n * j] = 0.0;
                for (int k = 0; k < rank; k++) W[i + n * j] += F[i + n * k] * F[j + n * k];
            }
        /* b = W v: a minimum exists whatever the rank */
        for (int i = 0; i < n; i++) b[i] = 0.0;
        for (int j = 0; j < n; j++) {
            double v = 2 * mor_rng_uniform(&rng) - 1.5;
            for (int i = 0; i < n; i++) b[i] += W[i + n * j] * v;
        }
        for (int c = 0; c < contacts; c++) mu[c] = c % 7 == 6 ? 0.0 : 0.1 + mor_rng_uniform(&rng);
        mor_problem p = { .form = MOR_CQP, .size = n, .b = b, .mu = mu, .contact_count = contacts, .dim = dim };
        p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = n, .cols = n, .x = W };
        mor_report report = solve("interior-point", &p, r);
        if (report.status != MOR_SOLVED)
            fail_msg("conic %d: %s %g after %d %s", trial, mor_status_name(report.status), report.residual.relative,
                     report.iterations, report.detail);
        assert_true(report.iterations < 60);
        double size = 1.0, power = 0.0;
        for (int i = 0; i < n; i++) {
            u[i] = b[i];
            for (int j = 0; j < n; j++) u[i] += W[i + n * j] * r[j];
            size = fmax(size, fmax(fabs(u[i]), fabs(r[i])));
            power += u[i] * r[i];
        }
        for (int c = 0; c < contacts; c++) {
            const double *R = r + dim * c, *U = u + dim * c;
            double rt = dim == 3 ? hypot(R[1], R[2]) : fabs(R[1]), ut = dim == 3 ? hypot(U[1], U[2]) : fabs(U[1]);
            assert_true(rt <= mu[c] * R[0] + 1e-6 * size);
            assert_true(U[0] >= mu[c] * ut - 1e-6 * size);
        }
        assert_true(fabs(power) <= 1e-6 * size * size);
    }
}

static void krylov_methods_give_the_answers_of_the_direct_one(void** state)
{
    (void)state;
    enum { N = 40 };
    static double A[N * N], b[N], z[3][N];
    mor_rng rng = { 6 };
    for (int i = 0; i < N; i++) {
        b[i] = 2 * mor_rng_uniform(&rng) - 1.5;
        for (int j = 0; j < N; j++) A[i + N * j] = i == j ? 4 : abs(i - j) <= 2 ? -1 : 0;
    }
    mor_problem p = boxed(MOR_LCP, N, A, b, NULL, NULL);
    const mor_solver* solver = mor_solver_builtin("interior-point");
    const char* const words[] = { "direct", "cg", "gmres" };
    for (int k = 0; k < 3; k++) {
        char own[256] = { 0 };
        mor_error error = { 0 };
        assert_true(solver->options_size <= sizeof own);
        mor_fields_default(solver->fields, own);
        assert_int_equal(mor_fields_set(solver->fields, own, "linear", words[k], &error), MOR_OK);
        assert_int_equal(mor_solve(solver, own, &p, NULL, z[k], NULL).status, MOR_SOLVED);
        for (int i = 0; i < N; i++) assert_near(z[k][i], z[0][i], 1e-6);
    }
}

static void the_start_of_a_split_step_method_is_no_trouble_for_one_step_length(void** state)
{
    (void)state;
    /* a stack of N balls: W = tridiagonal, b = -g h: the case on which two step lengths exploded */
    enum { N = 60 };
    static double A[N * N], b[N], z[N];
    for (int i = 0; i < N; i++) {
        b[i] = i == 0 ? -0.0981 : 0.0;
        for (int j = 0; j < N; j++) A[i + N * j] = i == j ? (i == 0 ? 1 : 2) : abs(i - j) == 1 ? -1 : 0;
    }
    mor_problem p = boxed(MOR_LCP, N, A, b, NULL, NULL);
    mor_report r = solve("interior-point", &p, z);
    assert_int_equal(r.status, MOR_SOLVED);
    for (int i = 0; i < N; i++) assert_near(z[i], 0.0981 * (N - i), 1e-6);
}

/* w = A z + b with A = [1 1; 0 1], b = (-1, -2): the second row is the worst, and z_1 = 2 puts both right in one pivot.
 * Driven first, the first row brings z_0 = 1, which the second drive must take back. */
static void dantzig_drives_the_worst_row_unless_told_otherwise(void** state)
{
    (void)state;
    double A[4] = { 1, 0, 1, 1 }, b[2] = { -1, -2 }, z[2];
    mor_problem p = boxed(MOR_LCP, 2, A, b, NULL, NULL);
    const mor_solver* solver = mor_solver_builtin("dantzig");
    int pivots[3];
    for (int k = 0; k < 3; k++) {
        char own[256] = { 0 };
        mor_fields_default(solver->fields, own);
        if (k) assert_int_equal(mor_fields_set(solver->fields, own, "order", k == 1 ? "worst" : "first", NULL), MOR_OK);
        mor_report r = mor_solve(solver, own, &p, NULL, z, NULL);
        assert_int_equal(r.status, MOR_SOLVED);
        assert_near(z[0], 0.0, 1e-12);
        assert_near(z[1], 2.0, 1e-12);
        pivots[k] = r.iterations;
    }
    assert_int_equal(pivots[0], 1);
    assert_int_equal(pivots[1], 1);
    assert_true(pivots[2] > 1);
}

/* -------------------------------------------------------------------------------------------- the stored set */

typedef struct required {
    const char* solver;
    const char* like[3]; /* Siconos solvers of the same kind */
} required;

static bool has_word(const char* list, const char* word)
{
    size_t n = strlen(word);
    for (const char* at = list; (at = strstr(at, word)); at += n)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0)) return true;
    return false;
}

static void the_stored_problems_are_solved_as_often_as_by_siconos(void** state)
{
    (void)state;
    static const required table[] = {
        { "path", { "PATHSEARCH", "AVI_CAOFERRIS", NULL } },
        { "dantzig", { "PIVOT", "MURTY", NULL } },
        { "interior-point", { NULL, NULL, NULL } },
    };
    char name[600], line[4096];
    snprintf(name, sizeof name, "%s/../shared/data/problems/INDEX.tsv", MOREAU_SOURCE_DIR);
    FILE* index = fopen(name, "r");
    if (!index) {
        print_message("SKIP: %s is not here\n", name);
        skip();
    }
    int solved[3][2] = { { 0 } }, theirs[3][2] = { { 0 } }, count[2] = { 0 };
    while (fgets(line, sizeof line, index)) {
        char* column[32] = { 0 };
        int k = 0;
        for (char* at = line; at && k < 32; at = strchr(at, '\t')) {
            if (*at == '\t') *at++ = 0;
            column[k++] = at;
        }
        if (k < 14 || (strcmp(column[1], "lcp") && strcmp(column[1], "mlcp"))) continue;
        int mixed = !strcmp(column[1], "mlcp");
        count[mixed]++;
        mor_problem_file file;
        mor_error error = { 0 };
        char path[1200];
        snprintf(path, sizeof path, "%s/../shared/data/problems/%s", MOREAU_SOURCE_DIR, column[0]);
        if (mor_problem_load(path, NULL, &file, &error)) fail_msg("%s", error.text);
        double* z = calloc((size_t)file.problem.size + 1, sizeof *z);
        for (int s = 0; s < ALL; s++) {
            bool like = false;
            for (int j = 0; j < 3 && table[s].like[j]; j++) like = like || has_word(column[13], table[s].like[j]);
            theirs[s][mixed] += like;
            mor_solve_options o = mor_solve_options_default();
            o.max_iter = 3000; /* pivots or Newton steps; of the largest problems a few seconds */
            mor_report r = mor_solve(mor_solver_builtin(table[s].solver), NULL, &file.problem, &o, z, NULL);
            if (r.status == MOR_SOLVED) solved[s][mixed]++;
            else if (getenv("MOREAU_VERBOSE"))
                print_message("%s %s: %s %g after %d, %.2f s %s\n", table[s].solver, column[0],
                              mor_status_name(r.status), r.residual.relative, r.iterations, r.time_s, r.detail);
        }
        free(z);
        mor_problem_file_free(&file);
    }
    fclose(index);
    assert_int_equal(count[0] + count[1], 46);
    for (int s = 0; s < ALL; s++) {
        print_message("%s: lcp %d of %d (alike: %d), mlcp %d of %d (alike: %d)\n", table[s].solver, solved[s][0],
                      count[0], theirs[s][0], solved[s][1], count[1], theirs[s][1]);
        assert_true(solved[s][0] + solved[s][1] >= theirs[s][0] + theirs[s][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_problems_have_their_known_answers),
        cmocka_unit_test(boxed_problems_have_the_answer_enumeration_finds),
        cmocka_unit_test(no_solution_is_only_said_when_there_is_none),
        cmocka_unit_test(conic_problems_are_solved_in_two_and_three_dimensions),
        cmocka_unit_test(krylov_methods_give_the_answers_of_the_direct_one),
        cmocka_unit_test(dantzig_drives_the_worst_row_unless_told_otherwise),
        cmocka_unit_test(the_start_of_a_split_step_method_is_no_trouble_for_one_step_length),
        cmocka_unit_test(the_stored_problems_are_solved_as_often_as_by_siconos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
