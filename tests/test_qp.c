/* The three QP methods: known answers, random semidefinite problems on which they must agree, friction problems of the
 * kind a standing robot makes (24 forces, rank 12), contradictions and unbounded problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "moreau/solver.h"

enum { MOST = 220, ROWS = 260 };
static const char* const names[] = { "qp-active-set", "qp-admm", "qp-interior-point" };

typedef struct qp {
    int n, m;
    double P[MOST * MOST], q[MOST], C[ROWS * MOST], l[MOST], u[MOST], cl[ROWS], cu[ROWS];
    mor_problem problem;
} qp;

static double uniform(mor_rng* r) { return 2.0 * mor_rng_uniform(r) - 1.0; }

static void finish(qp* d)
{
    d->problem = (mor_problem){
        .form = MOR_QP, .size = d->n, .b = d->q, .lower = d->l, .upper = d->u, .c_lower = d->cl, .c_upper = d->cu
    };
    d->problem.A = (mor_matrix){ .storage = MOR_DENSE, .rows = d->n, .cols = d->n, .x = d->P };
    d->problem.C = (mor_matrix){ .storage = MOR_DENSE, .rows = d->m, .cols = d->n, .x = d->C };
}

/* P = B B' of the given rank; a point z with l <= z <= u and rows around it, some of them repeated or equations; q in
 * the range of P plus multipliers of the constraints, so that a minimum exists. */
static void random_qp(qp* d, int n, int rank, int m, mor_rng* r)
{
    d->n = n, d->m = m;
    double *B = malloc((size_t)(n * rank + 1) * sizeof *B), z[MOST], t[MOST];
    for (int i = 0; i < n * rank; i++) B[i] = uniform(r);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            d->P[i + n * j] = 0.0;
            for (int k = 0; k < rank; k++) d->P[i + n * j] += B[i + n * k] * B[j + n * k];
        }
    free(B);
    for (int i = 0; i < n; i++) {
        z[i] = uniform(r);
        d->l[i] = i % 3 == 0 ? z[i] : i % 3 == 1 ? z[i] - mor_rng_uniform(r) : -INFINITY;
        d->u[i] = i % 4 == 0 ? z[i] + mor_rng_uniform(r) : INFINITY;
        d->q[i] = i % 3 == 0 ? mor_rng_uniform(r) : 0.0;
        t[i] = uniform(r);
    }
    for (int k = 0; k < m; k++) {
        double s = 0.0;
        for (int j = 0; j < n; j++) {
            d->C[k + m * j] = k % 5 == 4 ? 2.0 * d->C[k - 1 + m * j] : uniform(r);
            s += d->C[k + m * j] * z[j];
        }
        bool equation = k % 7 == 3 || k % 35 == 4;
        d->cl[k] = equation || k % 2 ? s : -INFINITY;
        d->cu[k] = equation ? s : k % 2 ? INFINITY : s + 0.5 * mor_rng_uniform(r);
        double y = k % 2 ? mor_rng_uniform(r) : 0.0;
        for (int j = 0; j < n; j++) d->q[j] += y * d->C[k + m * j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) d->q[i] -= d->P[i + n * j] * t[j];
    finish(d);
}

/* Judged here: feasibility and the objective; optimality follows because a convex minimum is a number all methods must
 * share. */
static double objective(const qp* d, const double* z, double* violation)
{
    double f = 0.0, worst = 0.0;
    for (int i = 0; i < d->n; i++) {
        f += d->q[i] * z[i];
        for (int j = 0; j < d->n; j++) f += 0.5 * z[i] * d->P[i + d->n * j] * z[j];
        worst = fmax(worst, fmax(d->l[i] - z[i], z[i] - d->u[i]));
    }
    for (int k = 0; k < d->m; k++) {
        double s = 0.0;
        for (int j = 0; j < d->n; j++) s += d->C[k + d->m * j] * z[j];
        worst = fmax(worst, fmax(d->cl[k] - s, s - d->cu[k]));
    }
    *violation = worst;
    return f;
}

static mor_report solve(const char* name, const qp* d, double* z)
{
    mor_solve_options o = mor_solve_options_default();
    o.tol = 1e-10;
    return mor_solve(mor_solver_builtin(name), NULL, &d->problem, &o, z, NULL);
}

/* All three agree in what is unique: the objective and P z. */
static void agree(const qp* d, const char* what, int seed)
{
    static double z[3][MOST];
    double f[3], v, size = 1.0;
    for (int s = 0; s < 3; s++) {
        mor_report r = solve(names[s], d, z[s]);
        if (r.status != MOR_SOLVED)
            fail_msg("%s on %s %d: %s, error %g after %d (%s)", names[s], what, seed, mor_status_name(r.status),
                     r.residual.relative, r.iterations, r.detail);
        f[s] = objective(d, z[s], &v);
        for (int i = 0; i < d->n; i++) size = fmax(size, fabs(z[s][i]));
        if (!(v <= 1e-7 * size)) fail_msg("%s on %s %d violates a bound by %g", names[s], what, seed, v);
    }
    double scale = fmax(1.0, fabs(f[0])), Pz = 0.0, apart[3] = { 0 };
    for (int i = 0; i < d->n; i++) {
        double w[3] = { 0 };
        for (int s = 0; s < 3; s++)
            for (int j = 0; j < d->n; j++) w[s] += d->P[i + d->n * j] * z[s][j];
        Pz = fmax(Pz, fabs(w[0]));
        for (int s = 1; s < 3; s++) apart[s] = fmax(apart[s], fabs(w[s] - w[0]));
    }
    for (int s = 1; s < 3; s++) {
        if (!(fabs(f[s] - f[0]) <= 1e-8 * scale))
            fail_msg("%s on %s %d: objective %.15g, not %.15g", names[s], what, seed, f[s], f[0]);
        if (!(apart[s] <= 1e-8 * fmax(1.0, Pz)))
            fail_msg("%s on %s %d: P z differs by %g of %g", names[s], what, seed, apart[s], Pz);
    }
}

static qp data;

static void tiny_problems_have_their_known_answers(void** state)
{
    (void)state;
    for (int s = 0; s < 3; s++) {
        double z[4];
        /* nearest point of the line x + y = 1, x >= 0.8, to the origin: (0.8, 0.2) */
        qp d = { .n = 2,
                 .m = 1,
                 .P = { 1, 0, 0, 1 },
                 .C = { 1, 1 },
                 .cl = { 1 },
                 .cu = { 1 },
                 .l = { 0.8, -INFINITY },
                 .u = { INFINITY, INFINITY } };
        finish(&d);
        assert_int_equal(solve(names[s], &d, z).status, MOR_SOLVED);
        assert_near(z[0], 0.8, 1e-10);
        assert_near(z[1], 0.2, 1e-10);
        /* a linear programme: maximise x + 2 y in the triangle x + y <= 1: (0, 1) */
        qp lp = { .n = 2,
                  .m = 1,
                  .q = { -1, -2 },
                  .C = { 1, 1 },
                  .cl = { -INFINITY },
                  .cu = { 1 },
                  .u = { INFINITY, INFINITY } };
        finish(&lp);
        assert_int_equal(solve(names[s], &lp, z).status, MOR_SOLVED);
        assert_near(z[0], 0.0, 1e-7);
        assert_near(z[1], 1.0, 1e-7);
        /* no constraint at all */
        qp bare = {
            .n = 2, .P = { 2, 1, 1, 2 }, .q = { -3, -3 }, .l = { -INFINITY, -INFINITY }, .u = { INFINITY, INFINITY }
        };
        finish(&bare);
        assert_int_equal(solve(names[s], &bare, z).status, MOR_SOLVED);
        assert_near(z[0], 1.0, 1e-10);
        /* nothing to find */
        qp none = { .n = 0 };
        finish(&none);
        assert_int_equal(solve(names[s], &none, z).status, MOR_SOLVED);
        /* one value allowed */
        qp fixed = { .n = 1, .P = { 1 }, .q = { 5 }, .l = { 3 }, .u = { 3 } };
        finish(&fixed);
        assert_int_equal(solve(names[s], &fixed, z).status, MOR_SOLVED);
        assert_near(z[0], 3.0, 0.0);
    }
}

static void contradictions_and_unbounded_problems_are_proved(void** state)
{
    (void)state;
    for (int s = 0; s < 3; s++) {
        double z[4];
        /* x + y >= 3 in the unit square */
        qp d = { .n = 2, .m = 1, .P = { 1, 0, 0, 1 }, .C = { 1, 1 }, .cl = { 3 }, .cu = { INFINITY }, .u = { 1, 1 } };
        finish(&d);
        mor_report r = solve(names[s], &d, z);
        if (r.status != MOR_NO_SOLUTION)
            fail_msg("%s: %s %d %s", names[s], mor_status_name(r.status), r.iterations, r.detail);
        /* two equations that differ */
        qp e = { .n = 2,
                 .m = 2,
                 .P = { 1, 0, 0, 1 },
                 .C = { 1, 2, 1, 2 },
                 .cl = { 1, 3 },
                 .cu = { 1, 3 },
                 .l = { -INFINITY, -INFINITY },
                 .u = { INFINITY, INFINITY } };
        finish(&e);
        r = solve(names[s], &e, z);
        if (r.status != MOR_NO_SOLUTION)
            fail_msg("%s, equations: %s %d %s", names[s], mor_status_name(r.status), r.iterations, r.detail);
        /* the same two equations made consistent are no contradiction */
        e.cl[1] = e.cu[1] = 2;
        r = solve(names[s], &e, z);
        if (r.status != MOR_SOLVED)
            fail_msg("%s, consistent equations: %s %g", names[s], mor_status_name(r.status), r.residual.relative);
        assert_near(z[0], 0.5, 1e-9);
        /* no curvature along y and a slope */
        qp f = { .n = 2, .P = { 1, 0, 0, 0 }, .q = { 0, -1 }, .u = { INFINITY, INFINITY } };
        finish(&f);
        r = solve(names[s], &f, z);
        if (r.status != MOR_NO_SOLUTION)
            fail_msg("%s, unbounded: %s %d %s", names[s], mor_status_name(r.status), r.iterations, r.detail);
        /* a saddle is refused */
        qp g = { .n = 2, .P = { 1, 0, 0, -1 }, .q = { -1, -1 }, .u = { 1, 1 } };
        finish(&g);
        assert_int_equal(solve(names[s], &g, z).status, MOR_REFUSED);
    }
}

static void the_three_agree_on_random_semidefinite_problems(void** state)
{
    (void)state;
    mor_rng r = { 11 };
    for (int k = 0; k < 150; k++) {
        int n = 2 + k % 40, rank = k % 3 == 0 ? n / 2 : k % 3 == 1 ? n : n / 3 + 1, m = (k * 7) % (n + 3);
        random_qp(&data, n, rank, m, &r);
        agree(&data, "random problem", k);
    }
    random_qp(&data, 200, 100, 150, &r);
    agree(&data, "large problem", 0);
}

/* Eight corners of two soles, each sole a rigid body of six freedoms of a chain with a random mass matrix: 24 forces,
 * rank 12, linearised cones, normal forces not negative. */
static void friction_qp(qp* d, double mu, mor_rng* r)
{
    double J[24][12] = { { 0 } }, B[12][12], Mi[12][12];
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) B[i][j] = uniform(r);
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) {
            Mi[i][j] = i == j ? 0.01 : 0.0;
            for (int k = 0; k < 12; k++) Mi[i][j] += 0.1 * B[i][k] * B[j][k];
        }
    for (int c = 0; c < 8; c++) {
        int foot = c / 4;
        double p[3] = { c % 2 ? 0.1 : -0.1, c / 2 % 2 ? 0.05 : -0.05, -0.06 };
        for (int a = 0; a < 3; a++) {
            J[3 * c + a][6 * foot + a] = 1.0;
            J[3 * c + a][6 * foot + 3 + (a + 1) % 3] = p[(a + 2) % 3];
            J[3 * c + a][6 * foot + 3 + (a + 2) % 3] = -p[(a + 1) % 3];
        }
    }
    d->n = 24, d->m = 32;
    double a[12];
    for (int j = 0; j < 12; j++) a[j] = j % 6 == 2 ? -9.81 : 3.0 * uniform(r);
    memset(d->C, 0, sizeof d->C);
    for (int i = 0; i < 24; i++) {
        d->q[i] = 0.0;
        for (int j = 0; j < 12; j++) d->q[i] += J[i][j] * a[j];
        for (int j = 0; j < 24; j++) {
            double s = 0.0;
            for (int k = 0; k < 12; k++)
                for (int l = 0; l < 12; l++) s += J[i][k] * Mi[k][l] * J[j][l];
            d->P[i + 24 * j] = s;
        }
        d->l[i] = i % 3 == 2 ? 0.0 : -INFINITY, d->u[i] = INFINITY;
    }
    for (int c = 0; c < 8; c++)
        for (int f = 0; f < 4; f++) {
            int row = 4 * c + f;
            d->C[row + 32 * (3 * c + f / 2)] = f % 2 ? 1.0 : -1.0;
            d->C[row + 32 * (3 * c + 2)] = -mu;
            d->cl[row] = -INFINITY, d->cu[row] = 0.0;
        }
    finish(d);
}

static void the_three_agree_on_the_friction_problems_of_a_standing_robot(void** state)
{
    (void)state;
    mor_rng r = { 5 };
    for (int k = 0; k < 60; k++) {
        friction_qp(&data, k % 2 ? 1.0 : 0.1, &r);
        agree(&data, "friction problem", k);
    }
}

static void a_warm_start_from_the_answer_needs_next_to_nothing(void** state)
{
    (void)state;
    mor_rng r = { 23 };
    friction_qp(&data, 0.3, &r);
    double z[24];
    mor_report cold = solve("qp-active-set", &data, z);
    mor_solve_options o = mor_solve_options_default();
    o.warm = true;
    mor_report warm = mor_solve(mor_solver_builtin("qp-active-set"), NULL, &data.problem, &o, z, NULL);
    assert_int_equal(warm.status, MOR_SOLVED);
    assert_true(cold.iterations > 5 && 2 * warm.iterations <= cold.iterations);
}

static void answers_are_the_same_bits_every_time(void** state)
{
    (void)state;
    mor_rng r = { 99 };
    random_qp(&data, 30, 15, 20, &r);
    for (int s = 0; s < 3; s++) {
        double a[MOST], b[MOST];
        solve(names[s], &data, a);
        solve(names[s], &data, b);
        assert_memory_equal(a, b, 30 * sizeof *a);
    }
}

static void the_judge_knows_wrong_answers(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    mor_rng r = { 3 };
    for (int k = 0; k < 20; k++) {
        random_qp(&data, 12, 6, 9, &r);
        double z[MOST];
        assert_int_equal(solve("qp-active-set", &data, z).status, MOR_SOLVED);
        assert_true(mor_judge(&data.problem, z, arena).relative < 1e-8);
        /* the error of a shifted answer is of the size of the shift, not smaller than 1e-3 of its effect */
        double g[MOST], effect = 0.0, v, before = objective(&data, z, &v);
        for (int i = 0; i < 12; i++) g[i] = z[i] + 1e-3 * uniform(&r);
        double after = objective(&data, g, &v);
        effect = fmax(fabs(after - before), v);
        assert_true(mor_judge(&data.problem, g, arena).absolute > 1e-3 * effect);
        g[0] = NAN;
        assert_true(!(mor_judge(&data.problem, g, arena).relative <= 1.0));
    }
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_problems_have_their_known_answers),
        cmocka_unit_test(contradictions_and_unbounded_problems_are_proved),
        cmocka_unit_test(the_three_agree_on_random_semidefinite_problems),
        cmocka_unit_test(the_three_agree_on_the_friction_problems_of_a_standing_robot),
        cmocka_unit_test(a_warm_start_from_the_answer_needs_next_to_nothing),
        cmocka_unit_test(answers_are_the_same_bits_every_time),
        cmocka_unit_test(the_judge_knows_wrong_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
