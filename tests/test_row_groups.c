/* Gauss-Seidel and Jacobi on the rows of LCPs and mixed LCPs in which rows have no diagonal: random time steps with
 * friction, joints and bounds in Stewart and Trinkle's form. Complementarity is measured by plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/random_step.h"
#include "moreau/solver.h"
#include "problem/convert.h"

enum { MOST = 160 };

/* Row i of A z + b; both storages. */
static double row_of(const mor_problem* p, int i, const double* z)
{
    double w = p->b[i];
    if (p->A.storage == MOR_DENSE)
        for (int j = 0; j < p->size; j++) w += p->A.x[i + (size_t)j * (size_t)p->size] * z[j];
    else
        for (int k = p->A.p[i]; k < p->A.p[i + 1]; k++) w += p->A.x[k] * z[p->A.i[k]];
    return w;
}

/* Largest violation of 0 <= z _|_ w >= 0, w = 0 where z is free. */
static double violation(const mor_problem* p, const double* z)
{
    double worst = 0.0;
    for (int i = 0; i < p->size; i++) {
        double w = row_of(p, i, z);
        bool free = p->form == MOR_MLCP && p->lower && isinf(p->lower[i]);
        worst = fmax(worst, free ? fabs(w) : fabs(fmin(z[i], w)));
    }
    return worst;
}

static bool has_no_diagonal(const mor_problem* p)
{
    double unit[MOST] = { 0 }, zero[MOST] = { 0 };
    for (int i = 0; i < p->size; i++) {
        unit[i] = 1.0;
        double own = row_of(p, i, unit) - row_of(p, i, zero);
        unit[i] = 0.0;
        if (own == 0.0) return true;
    }
    return false;
}

static void sweeps_solve_stewart_and_trinkles_rows_as_they_are(void** state)
{
    (void)state;
    static const char* const names[] = { "pgs", "psor", "jacobi" };
    mor_arena* arena = mor_arena_create(NULL);
    int runs = 0, solved[3] = { 0 };
    for (uint64_t seed = 1; seed <= 24; seed++) {
        random_step spec = { .trees = 4,
                             .dof = 6,
                             .contacts = 3 + (int)(seed % 4),
                             .dim = seed % 3 ? 3 : 2,
                             .directions = seed % 2 ? 8 : 4,
                             .equations = (int)(seed % 3),
                             .bounded = (int)(seed % 2),
                             .mu = 0.1 + 0.05 * (double)(seed % 9),
                             .mass_ratio = 3 };
        mor_problem step = random_step_make(&spec, seed, arena);
        mor_conversion c;
        mor_error error = { 0 };
        bool none = false;
        assert_int_equal(mor_convert(&step, MOR_MLCP, &c, &none, arena, &error), MOR_OK);
        assert_true(c.to.size <= MOST);
        assert_true(has_no_diagonal(&c.to));
        mor_solve_options options = { .tol = 1e-9, .max_iter = 200000 };
        double z[MOST], p[MOST];
        for (int k = 0; k < 3; k++) {
            memset(z, 0, sizeof z);
            mor_report r = mor_solve(mor_solver_builtin(names[k]), NULL, &c.to, &options, z, arena);
            runs++;
            if (r.status != MOR_SOLVED) continue; /* no proof with slip (pgs.c): counted below */
            solved[k]++;
            double size = 1.0;
            for (int i = 0; i < c.to.size; i++) size = fmax(size, fabs(z[i]));
            double found = violation(&c.to, z);
            if (!(found <= 1e-7 * size)) fail_msg("%s, seed %d: %g", names[k], (int)seed, found);
            c.back(&c, z, p, arena);
            assert_true(mor_judge(&step, p, arena).velocity <= 1e-6);
        }
        mor_conversion_destroy(&c);
        mor_arena_reset(arena);
    }
    print_message("of %d: pgs %d, psor %d, jacobi %d\n", runs / 3, solved[0], solved[1], solved[2]);
    for (int k = 0; k < 3; k++) assert_true(solved[k] >= 20);
    mor_arena_destroy(arena);
}

/* w_0 = 2 - z_1, w_1 = z_0 - 1: z = (1, 2). */
static void a_pair_without_diagonals_is_solved_by_hand(void** state)
{
    (void)state;
    double A[4] = { 0, 1, -1, 0 }, b[2] = { 2, -1 }; /* by columns */
    mor_problem p = { .form = MOR_LCP, .size = 2, .A = { .storage = MOR_DENSE, .rows = 2, .cols = 2, .x = A }, .b = b };
    static const char* const names[] = { "pgs", "psor", "jacobi" };
    for (int k = 0; k < 3; k++) {
        double z[2] = { 0, 0 };
        mor_solve_options options = { .tol = 1e-10 };
        assert_int_equal(mor_solve(mor_solver_builtin(names[k]), NULL, &p, &options, z, NULL).status, MOR_SOLVED);
        assert_true(fabs(z[0] - 1.0) < 1e-9 && fabs(z[1] - 2.0) < 1e-9);
    }
}

static void what_cannot_be_grouped_is_refused_with_a_sentence(void** state)
{
    (void)state;
    double A[4] = { 0, 1, -1, 1 }, b[2] = { 1, 1 }, lower[2] = { -INFINITY, 0 }, z[200] = { 0 };
    mor_problem p = {
        .form = MOR_MLCP, .size = 2, .A = { .storage = MOR_DENSE, .rows = 2, .cols = 2, .x = A }, .b = b, .lower = lower
    };
    mor_report r = mor_solve(mor_solver_builtin("psor"), NULL, &p, NULL, z, NULL);
    assert_int_equal(r.status, MOR_REFUSED);
    assert_non_null(strstr(r.detail, "equation 0"));
    static double large[200 * 200], q[200];
    for (int i = 0; i < 200; i++) {
        q[i] = 1.0;
        for (int j = 0; j < 200; j++)
            large[i + 200 * j] = i == j ? (i ? 1.0 : 0.0) : i == 0 ? 1.0 : j == 0 ? -1.0 : 0.0;
    }
    p = (mor_problem){
        .form = MOR_LCP, .size = 200, .A = { .storage = MOR_DENSE, .rows = 200, .cols = 200, .x = large }, .b = q
    };
    r = mor_solve(mor_solver_builtin("jacobi"), NULL, &p, NULL, z, NULL);
    assert_true(r.status == MOR_REFUSED || r.status == MOR_SOLVED); /* the driver may see that 0 solves it */
    q[1] = -1.0;
    r = mor_solve(mor_solver_builtin("jacobi"), NULL, &p, NULL, z, NULL);
    assert_int_equal(r.status, MOR_REFUSED);
    assert_non_null(strstr(r.detail, "200 rows"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_solve_stewart_and_trinkles_rows_as_they_are),
        cmocka_unit_test(a_pair_without_diagonals_is_solved_by_hand),
        cmocka_unit_test(what_cannot_be_grouped_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
