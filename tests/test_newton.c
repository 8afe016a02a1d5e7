/* The Newton family: contact maps, linear algebra beneath, nsn, ppa, the scalar Newtons, auto. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/piles.h"
#include "common/random_step.h"
#include "io/fclib/fclib.h"
#include "linalg/front_lu.h"
#include "linalg/dense.h"
#include "linalg/krylov.h"
#include "moreau/solver.h"
#include "problem/step.h"
#include "solver/contact_map.h"
#include "solver/local.h"

static mor_rng rng = { 7 };
static double uniform(void) { return 2.0 * mor_rng_uniform(&rng) - 1.0; }

/* ------------------------------------------------------------------------------------ maps */

static void derivatives_of_every_map_agree_with_finite_differences(void** state)
{
    (void)state;
    static const struct {
        mor_contact_map map;
        int d, directions;
    } cases[] = { { MOR_MAP_ALART_CURNIER, 3, 4 }, { MOR_MAP_ALART_CURNIER, 3, 5 }, { MOR_MAP_ALART_CURNIER, 3, 8 },
                  { MOR_MAP_ALART_CURNIER, 2, 0 }, { MOR_MAP_ALART_CURNIER, 3, 0 }, { MOR_MAP_ALART_CURNIER, 5, 0 },
                  { MOR_MAP_ALART_CURNIER, 6, 0 }, { MOR_MAP_ALART_CURNIER, 6, 8 }, { MOR_MAP_JEAN_MOREAU, 6, 0 },
                  { MOR_MAP_JEAN_MOREAU, 2, 0 },   { MOR_MAP_JEAN_MOREAU, 3, 0 },   { MOR_MAP_JEAN_MOREAU, 5, 0 },
                  { MOR_MAP_NATURAL, 2, 0 },       { MOR_MAP_NATURAL, 3, 0 },       { MOR_MAP_FISCHER, 3, 0 },
                  { MOR_MAP_CCK, 3, 0 },           { MOR_MAP_CCK, 2, 0 },           { MOR_MAP_FISCHER, 1, 0 },
                  { MOR_MAP_CCK, 1, 0 },           { MOR_MAP_MINMAP, 1, 0 } };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double corners[18];
        const mor_contact_law law = { .cone = { { 0.6, 0.3, 0.2 } },
                                      .rho = { 0.9, 1.1, 1.3, 0.8 },
                                      .directions = cases[k].directions,
                                      .corners = corners };
        if (law.directions) mor_polygon_corners(law.directions, corners);
        int d = cases[k].d, open = 0, checked = 0;
        double parameter = d == 1 ? 0.7 : 0.0;
        for (int trial = 0; trial < 300; trial++) {
            double r[6], u[6], F[6], G[6], A[36], B[36];
            for (int i = 0; i < d; i++) r[i] = uniform(), u[i] = uniform();
            if (trial % 3 == 0) r[0] += 2.0; /* sticking happens too */
            if (!mor_contact_map_eval(cases[k].map, d, &law, parameter, r, u, F, A, B)) {
                for (int i = 0; i < d; i++) assert_true(F[i] == r[i]);
                open++;
                continue;
            }
            const double h = 1e-7;
            for (int j = 0; j < 2 * d; j++) {
                double* x = j < d ? &r[j] : &u[j - d];
                double old = *x, forward[5];
                *x = old + h;
                mor_contact_map_eval(cases[k].map, d, &law, parameter, r, u, forward, NULL, NULL);
                *x = old - h;
                mor_contact_map_eval(cases[k].map, d, &law, parameter, r, u, G, NULL, NULL);
                *x = old;
                for (int i = 0; i < d; i++) {
                    double expected = (forward[i] - G[i]) / (2 * h), got = (j < d ? B[i * d + j] : A[i * d + j - d]);
                    if (!(fabs(expected - got) < 1e-5))
                        fail_msg("map %d, d %d, trial %d, entry %d %d: %g, not %g", (int)cases[k].map, d, trial, i, j,
                                 got, expected);
                }
            }
            checked++;
        }
        assert_true(checked > 100);
        if (d > 1 && cases[k].map < MOR_MAP_FISCHER) assert_true(open > 20);
    }
}

/* ------------------------------------------------------------------------- linear algebra */

typedef struct dense {
    int n;
    const double* A;
} dense;
static void dense_product(void* user, const double* x, double* y)
{
    mor_dense_apply(((dense*)user)->n, ((dense*)user)->n, ((dense*)user)->A, x, y);
}
static void dense_transposed(void* user, const double* x, double* y)
{
    mor_dense_apply_transposed(((dense*)user)->n, ((dense*)user)->n, ((dense*)user)->A, x, y);
}

static void krylov_methods_solve_what_lu_solves(void** state)
{
    (void)state;
    enum { N = 60 };
    static double A[N * N], S[N * N], work[70 * N + 4000], LU[N * N];
    double b[N], x[N], exact[N], diagonal[N];
    int pivot[N];
    for (int i = 0; i < N * N; i++) A[i] = uniform();
    for (int i = 0; i < N; i++) A[i + i * N] += 8.0, b[i] = uniform(), diagonal[i] = A[i + i * N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            S[i + j * N] = i == j ? 1.0 : 0.0;
            for (int k = 0; k < N; k++) S[i + j * N] += A[k + i * N] * A[k + j * N] / N;
        }
    dense user = { N, A }, symmetric = { N, S };
    for (int method = 0; method < 4; method++) {
        const double* M = method == 3 ? S : A;
        memcpy(LU, M, sizeof LU);
        memcpy(exact, b, sizeof exact);
        assert_true(mor_lu_factor(N, LU, pivot));
        mor_lu_solve(N, LU, pivot, exact);
        memset(x, 0, sizeof x);
        int products = method == 0   ? mor_gmres(N, dense_product, &user, NULL, b, x, 1e-12, 20, 2000, work)
                       : method == 1 ? mor_gmres(N, dense_product, &user, diagonal, b, x, 1e-12, 60, 2000, work)
                       : method == 2 ? mor_cg_normal(N, dense_product, dense_transposed, &user, b, x, 1e-12, 2000, work)
                                     : mor_cg(N, dense_product, &symmetric, b, x, 1e-12, 2000, work);
        assert_true(products > 3 && products < 1000);
        for (int i = 0; i < N; i++) assert_true(fabs(x[i] - exact[i]) < 1e-9);
    }
}

static void block_rows_multiply_like_scalar_rows_in_any_order(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int d = 1; d <= 5; d++) {
        enum { BLOCKS = 40 };
        int n = BLOCKS * d, count = 0, row[2000], col[2000], order[BLOCKS];
        double value[2000], x[BLOCKS * 5], y[BLOCKS * 5], px[BLOCKS * 5], py[BLOCKS * 5];
        for (int k = 0; k < 2000; k++)
            row[k] = (int)(mor_rng_uniform(&rng) * n), col[k] = (row[k] + (int)(mor_rng_uniform(&rng) * 9)) % n,
            value[k] = uniform(), count++;
        mor_csr A;
        mor_bsr B;
        assert_true(mor_csr_from_triplets(&A, n, n, count, row, col, value, arena));
        assert_true(mor_bsr_from_csr(&B, &A, d, true, order, arena));
        for (int i = 0; i < n; i++) x[i] = uniform();
        for (int k = 0; k < BLOCKS; k++)
            for (int i = 0; i < d; i++) px[k * d + i] = x[order[k] * d + i];
        for (int side = 0; side < 2; side++) {
            (side ? mor_csr_apply_transposed : mor_csr_apply)(&A, x, y);
            (side ? mor_bsr_apply_transposed : mor_bsr_apply)(&B, px, py);
            for (int k = 0; k < BLOCKS; k++)
                for (int i = 0; i < d; i++) assert_true(fabs(py[k * d + i] - y[order[k] * d + i]) < 1e-12);
        }
        for (int a = 0; a < BLOCKS; a++) /* the pattern is symmetric */
            for (int k = B.p[a]; k < B.p[a + 1]; k++) {
                int found = 0;
                for (int l = B.p[B.i[k]]; l < B.p[B.i[k] + 1]; l++) found += B.i[l] == a;
                assert_int_equal(found, 1);
            }
    }
    mor_arena_destroy(arena);
}

static void fronts_solve_any_selection_of_blocks(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int d = 2; d <= 5; d++)
        for (int side = 3; side <= 12; side += 3) { /* a grid of blocks, with neighbours */
            int blocks = side * side, n = blocks * d, order[144], active[144], mirror[144 * 5], count = 0, used = 0;
            int row[18000], col[18000];
            double value[18000];
            for (int a = 0; a < blocks; a++)
                for (int b = 0; b < blocks; b++) {
                    int dx = abs(a % side - b % side), dy = abs(a / side - b / side);
                    if (dx + dy > 1) continue;
                    for (int i = 0; i < d; i++)
                        for (int j = 0; j < d; j++)
                            row[used] = a * d + i, col[used] = b * d + j,
                            value[used++] = uniform() + (a == b && i == j ? 4.0 : 0.0);
                }
            mor_csr A;
            mor_bsr B;
            mor_front_lu lu;
            assert_true(mor_csr_from_triplets(&A, n, n, used, row, col, value, arena));
            assert_true(mor_bsr_from_csr(&B, &A, d, true, order, arena));
            mor_bsr_mirror(&B, mirror);
            for (int a = 0; a < blocks; a++)
                if (uniform() > -0.6) active[count++] = a;
            int m = count * d;
            double* D = mor_arena_zero(arena, (size_t)m * m, sizeof *D);
            double *b = mor_arena_alloc(arena, (size_t)m * sizeof *b),
                   *x = mor_arena_alloc(arena, (size_t)m * sizeof *x);
            int* pivot = mor_arena_alloc(arena, (size_t)m * sizeof *pivot);
            for (int p = 0; p < count; p++)
                for (int q = 0; q < count; q++)
                    for (int k = B.p[active[p]]; k < B.p[active[p] + 1]; k++)
                        if (B.i[k] == active[q])
                            for (int i = 0; i < d; i++)
                                for (int j = 0; j < d; j++)
                                    D[p * d + i + (size_t)(q * d + j) * m] = B.x[(size_t)k * d * d + i * d + j];
            for (int i = 0; i < m; i++) b[i] = x[i] = uniform();
            assert_true(mor_front_lu_analyse(&lu, &B, active, count, arena));
            assert_true(mor_front_lu_factor(&lu, &B, mirror, B.x));
            mor_front_lu_solve(&lu, active, x);
            assert_true(mor_lu_factor(m, D, pivot));
            mor_lu_solve(m, D, pivot, b);
            for (int i = 0; i < m; i++) assert_true(fabs(x[i] - b[i]) < 1e-9);
        }
    mor_arena_destroy(arena);
}

/* ------------------------------------------------------------------------- small problems */

static const char* const scalar_solvers[] = { "fischer-newton", "cck-newton", "minmap-newton", "nsn", "ppa",
                                              "auto",           NULL };

static mor_problem lcp(int n, double* A, double* b)
{
    return (
        mor_problem){ .form = MOR_LCP, .size = n, .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = A }, .b = b };
}

static mor_report solve(const char* name, const mor_problem* problem, double* z)
{
    const mor_solver* solver = mor_solver_builtin(name);
    assert_non_null(solver);
    mor_solve_options options = mor_solve_options_default();
    return mor_solve(solver, NULL, problem, &options, z, NULL);
}

static void small_pairs_have_their_known_answers(void** state)
{
    (void)state;
    for (const char* const* s = scalar_solvers; *s; s++) {
        double one[] = { 2.0 }, b1[] = { -3.0 }, z[3];
        mor_problem p = lcp(1, one, b1);
        assert_int_equal(solve(*s, &p, z).status, MOR_SOLVED);
        assert_true(fabs(z[0] - 1.5) < 1e-8);

        double positive[] = { 0.0, 1.0 }; /* b >= 0: z = 0 whatever the matrix */
        double skew[] = { 0.0, -1.0, 1.0, 0.0 };
        p = lcp(2, skew, positive);
        assert_int_equal(solve(*s, &p, z).status, MOR_SOLVED);
        assert_true(fabs(z[0]) < 1e-8 && fabs(z[1]) < 1e-8);

        double pd[] = { 2.0, 1.0, 1.0, 2.0 }, b2[] = { -5.0, -6.0 }; /* Murty: (4/3, 7/3) */
        p = lcp(2, pd, b2);
        assert_int_equal(solve(*s, &p, z).status, MOR_SOLVED);
        assert_true(fabs(z[0] - 4.0 / 3.0) < 1e-7 && fabs(z[1] - 7.0 / 3.0) < 1e-7);

        double ones[] = { 1.0, 1.0, 1.0, 1.0 }, b3[] = { -1.0, -1.0 }; /* every z >= 0 on z1 + z2 = 1 */
        p = lcp(2, ones, b3);
        assert_int_equal(solve(*s, &p, z).status, MOR_SOLVED);
        assert_true(fabs(z[0] + z[1] - 1.0) < 1e-7);

        double zero[] = { 0.0 }, b4[] = { -1.0 }; /* none */
        p = lcp(1, zero, b4);
        mor_report r = solve(*s, &p, z);
        assert_true(r.status == MOR_NOT_CONVERGED || r.status == MOR_NO_SOLUTION || r.status == MOR_NUMERICAL);
        if (strcmp(*s, "auto") == 0) assert_int_equal(r.status, MOR_NO_SOLUTION);

        p = lcp(0, zero, b4);
        assert_int_equal(solve(*s, &p, z).status, MOR_SOLVED);
    }
}

static void random_pairs_agree_with_pivoting_for_every_linear_solver(void** state)
{
    (void)state;
    enum { N = 80 };
    static double A[N * N], L[N * N];
    double b[N], z[N], expected[N];
    for (int i = 0; i < N * N; i++) L[i] = uniform();
    for (int i = 0; i < N; i++) {
        b[i] = uniform();
        for (int j = 0; j < N; j++) {
            /* positive definite, unsymmetric */
            A[i + j * N] = (i == j ? 0.5 : 0.0) + 0.3 * (L[i + j * N] - L[j + i * N]);
            for (int k = 0; k < N; k++) A[i + j * N] += L[i + k * N] * L[j + k * N] / N;
        }
    }
    mor_problem p = lcp(N, A, b);
    assert_int_equal(solve("lemke", &p, expected).status, MOR_SOLVED);
    for (const char* const* s = scalar_solvers; *s; s++) {
        const mor_solver* solver = mor_solver_builtin(*s);
        bool scalar = strstr(*s, "-newton") != NULL;
        for (int linear = 0; linear < (scalar ? 3 : 1); linear++) {
            static const char* const words[] = { "direct", "cg", "gmres" };
            void* options = calloc(1, solver->options_size + 1);
            if (solver->fields) mor_fields_default(solver->fields, options);
            if (scalar)
                assert_int_equal(mor_fields_set(solver->fields, options, "linear", words[linear], NULL), MOR_OK);
            mor_report r = mor_solve(solver, options, &p, NULL, z, NULL);
            if (r.status != MOR_SOLVED)
                fail_msg("%s %s: %s, error %g", *s, words[linear], mor_status_name(r.status), r.residual.relative);
            for (int i = 0; i < N; i++) assert_true(fabs(z[i] - expected[i]) < 1e-6);
            free(options);
        }
    }
}

static void one_contact_slides_sticks_or_opens(void** state)
{
    (void)state;
    static const char* const names[] = { "nsn", "ppa", "auto", NULL };
    double W[9] = { 2, 0, 0, 0, 4, 0, 0, 0, 4 }, mu[1] = { 0.5 }, r[3];
    for (const char* const* s = names; *s; s++) {
        double b[3] = { -1.0, 3.0, 4.0 };
        mor_problem p = { .form = MOR_FC3D,
                          .size = 3,
                          .A = { .storage = MOR_DENSE, .rows = 3, .cols = 3, .x = W },
                          .b = b,
                          .contact_count = 1,
                          .dim = 3,
                          .mu = mu };
        assert_int_equal(solve(*s, &p, r).status, MOR_SOLVED); /* slides along (3,4)/5 */
        assert_true(fabs(r[0] - 0.5) < 1e-7 && fabs(r[1] + 0.15) < 1e-7 && fabs(r[2] + 0.2) < 1e-7);
        b[1] = 0.3, b[2] = 0.4; /* sticks: r_T = -b_T/4, |r_T| = 0.125 < 0.25 */
        assert_int_equal(solve(*s, &p, r).status, MOR_SOLVED);
        assert_true(fabs(r[0] - 0.5) < 1e-7 && fabs(r[1] + 0.075) < 1e-7 && fabs(r[2] + 0.1) < 1e-7);
        b[0] = 0.1; /* opens */
        assert_int_equal(solve(*s, &p, r).status, MOR_SOLVED);
        assert_true(fabs(r[0]) < 1e-8 && fabs(r[1]) < 1e-8);
        mu[0] = 0.0, b[0] = -1.0; /* without friction */
        assert_int_equal(solve(*s, &p, r).status, MOR_SOLVED);
        assert_true(fabs(r[0] - 0.5) < 1e-7 && fabs(r[1]) < 1e-8 && fabs(r[2]) < 1e-8);
        mu[0] = 0.5;
        double nan[3] = { NAN, 0, 0 };
        p.b = nan;
        assert_int_equal(solve(*s, &p, r).status, MOR_REFUSED);
    }
}

/* ----------------------------------------------------------------------------------- piles */

static void a_resting_tower_carries_the_weight_above_each_contact(void** state)
{
    (void)state;
    enum { N = 30 };
    pile p;
    double r[3 * N], above = 0.0;
    assert_true(pile_build(&p, PILE_TOWER, N, 1, 0.5, 1e6, 0.0));
    for (int i = N - 1; i >= 0; i--) /* masses 0.5236 1e6^(i/29) from below */
        above += 0.52359877559829887 * pow(1e6, (double)i / (N - 1));
    for (int k = 0; k < 2; k++) {
        /* at this ratio of masses a relative 1e-8 still permits millimetres per second */
        mor_solve_options options = { .tol = 1e-13 };
        mor_report report = mor_solve(mor_solver_builtin(k ? "ppa" : "nsn"), NULL, &p.problem, &options, r, NULL);
        assert_int_equal(report.status, MOR_SOLVED);
        assert_true(report.iterations < 150);
        double weight = above * 9.81 * 0.01;
        for (int i = 0; i < N; i++) {
            assert_true(fabs(r[3 * i] - weight) < 1e-4 * above * 9.81 * 0.01);
            weight -= 0.52359877559829887 * pow(1e6, (double)i / (N - 1)) * 9.81 * 0.01;
        }
    }
    pile_free(&p);
}

/* From its own answer a method has nothing left to do. */
static void a_method_that_starts_at_its_answer_is_done(void** state)
{
    (void)state;
    static const char* const names[] = { "ppa", "nsn" };
    pile p;
    assert_true(pile_build(&p, PILE_TOWER, 12, 1, 0.5, 1e3, 0.0));
    double* r = calloc((size_t)p.problem.size, sizeof *r);
    for (int k = 0; k < 2; k++) {
        mor_solve_options o = { .tol = 1e-10 };
        mor_report cold = mor_solve(mor_solver_builtin(names[k]), NULL, &p.problem, &o, r, NULL);
        assert_int_equal(cold.status, MOR_SOLVED);
        assert_true(cold.iterations > 2);
        o.warm = true;
        mor_report warm = mor_solve(mor_solver_builtin(names[k]), NULL, &p.problem, &o, r, NULL);
        assert_int_equal(warm.status, MOR_SOLVED);
        assert_true(warm.iterations <= 1);
    }
    free(r);
    pile_free(&p);
}

static void steps_do_not_grow_with_the_length_of_a_chain(void** state)
{
    (void)state;
    for (int n = 100; n <= 10000; n *= 10) {
        pile p;
        assert_true(pile_build(&p, PILE_CHAIN, n, 1, 0.5, 1.0, 0.0));
        double* r = calloc((size_t)p.problem.size, sizeof *r);
        mor_report report = solve("nsn", &p.problem, r);
        assert_int_equal(report.status, MOR_SOLVED);
        assert_true(report.iterations <= 40);
        free(r);
        pile_free(&p);
    }
}

static void a_hyperstatic_sheet_is_solved(void** state)
{
    (void)state;
    pile p;
    assert_true(pile_build(&p, PILE_SHEET, 8, 8, 0.5, 1.0, 0.05));
    double* r = calloc((size_t)p.problem.size, sizeof *r);
    assert_int_equal(solve("nsn", &p.problem, r).status, MOR_SOLVED);
    assert_int_equal(solve("auto", &p.problem, r).status, MOR_SOLVED);
    free(r);
    pile_free(&p);
}

/* ----------------------------------------------------------------------------------- steps */

static void steps_with_joints_bounds_and_cones_are_solved_on_tree_velocities(void** state)
{
    (void)state;
    static const random_step specs[] = {
        { .trees = 4, .dof = 6, .contacts = 6, .dim = 3, .mu = 0.5, .mass_ratio = 1 },
        { .trees = 6, .dof = 6, .contacts = 10, .dim = 3, .equations = 3, .mu = 0.4, .mass_ratio = 100 },
        { .trees = 5, .dof = 3, .contacts = 7, .dim = 2, .equations = 1, .bounded = 3, .mu = 0.6, .mass_ratio = 10 },
        { .trees = 8, .dof = 6, .contacts = 12, .dim = 3, .equations = 2, .bounded = 4, .mu = 0.3, .mass_ratio = 1e4 },
        { .trees = 40, .dof = 6, .contacts = 60, .dim = 3, .equations = 5, .bounded = 5, .mu = 0.5, .mass_ratio = 10 },
        { .trees = 4, .dof = 6, .contacts = 5, .dim = 1, .bounded = 2, .mu = 0.0, .mass_ratio = 1 }
    };
    int solved[2] = { 0, 0 }, all = 0, paid = 0;
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            mor_arena* arena = mor_arena_create(NULL);
            mor_problem p = random_step_make(&specs[k], seed, arena);
            p.form = MOR_STEP_CONE;
            double *a = calloc((size_t)p.size + 1, sizeof *a), *b = calloc((size_t)p.size + 1, sizeof *b);
            mor_solve_options options = { .tol = 1e-9 };
            mor_report tree = mor_solve(mor_solver_builtin("nsn-tree"), NULL, &p, &options, a, NULL);
            mor_report best = mor_solve(mor_solver_builtin("auto"), NULL, &p, &options, b, NULL);
            all++;
            solved[0] += tree.status == MOR_SOLVED;
            solved[1] += best.status == MOR_SOLVED;
            if (tree.status != MOR_SOLVED || best.status != MOR_SOLVED)
                printf("case %d seed %d: nsn-tree %s %g (%s), auto %s %g (%s)\n", (int)k, (int)seed,
                       mor_status_name(tree.status), tree.residual.velocity, tree.detail, mor_status_name(best.status),
                       best.residual.velocity, best.detail);
            if (tree.status == MOR_SOLVED) { /* a solution is a guess worth nothing more to do */
                options.warm = true;
                assert_int_equal(mor_solve(mor_solver_builtin("nsn-tree"), NULL, &p, &options, a, NULL).iterations, 0);
                /* one that leads nowhere is given up and paid for: its steps, and those of the start at rest */
                for (int i = 0; i < p.size; i++) a[i] = i % 2 ? -1e9 : 1e9;
                mor_report bad = mor_solve(mor_solver_builtin("nsn-tree"), NULL, &p, &options, a, NULL);
                assert_int_equal(bad.status, MOR_SOLVED);
                paid += bad.iterations > tree.iterations;
            }
            free(a);
            free(b);
            mor_arena_destroy(arena);
        }
    assert_int_equal(solved[0], all);
    assert_int_equal(solved[1], all);
    assert_true(paid > all / 2);
}

/* Pyramids of several directions: the same velocities as by pivoting on the LCP, where friction is not redundant; the
 * judge where pivoting is too slow. */
static void pyramids_are_solved_on_tree_velocities(void** state)
{
    (void)state;
    for (int directions = 4; directions <= 8; directions++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const random_step spec = {
                .trees = 5, .dof = 6, .contacts = 6, .dim = 3, .directions = directions, .mu = 0.5, .mass_ratio = 10
            };
            mor_arena* arena = mor_arena_create(NULL);
            mor_problem p = random_step_make(&spec, seed, arena);
            double *a = calloc((size_t)p.size, sizeof *a), *b = calloc((size_t)p.size, sizeof *b),
                   *nu = calloc(2 * (size_t)p.step.dof, sizeof *nu);
            mor_solve_options options = { .tol = 1e-10 };
            assert_int_equal(p.form, MOR_STEP_PYRAMID);
            assert_int_equal(mor_solve(mor_solver_builtin("nsn-tree"), NULL, &p, &options, a, NULL).status, MOR_SOLVED);
            assert_int_equal(mor_solve(mor_solver_builtin("lemke"), NULL, &p, &options, b, NULL).status, MOR_SOLVED);
            mor_step_velocity(&p.step, a, nu);
            mor_step_velocity(&p.step, b, nu + p.step.dof);
            for (int i = 0; i < p.step.dof; i++) assert_true(fabs(nu[i] - nu[p.step.dof + i]) < 1e-6);
            free(a);
            free(b);
            free(nu);
            mor_arena_destroy(arena);
        }
}

/* --------------------------------------------------------------------------- stored problems */

static int count_solved(const char* solver, const char* folder, int* all)
{
    char pattern[512];
    glob_t files;
    int solved = 0;
    *all = 0;
    snprintf(pattern, sizeof pattern, "%s/../shared/data/problems/%s/*.*", MOREAU_SOURCE_DIR, folder);
    if (glob(pattern, 0, NULL, &files) != 0) return 0;
    for (size_t k = 0; k < files.gl_pathc; k++) {
        mor_problem_file file;
        mor_error error = { 0 };
        if (strstr(files.gl_pathv[k], "07002") && !getenv("MOREAU_LONG")) continue;
        if (mor_problem_load(files.gl_pathv[k], folder, &file, &error)) fail_msg("%s", error.text);
        double* z = calloc((size_t)mor_problem_unknowns(&file.problem) + 1, sizeof *z);
        mor_solve_options options = mor_solve_options_default();
        mor_report report = mor_solve(mor_solver_builtin(solver), NULL, &file.problem, &options, z, NULL);
        ++*all;
        if (report.status == MOR_SOLVED) solved++;
        else
            printf("%s does not solve %s: %s, %g\n", solver, files.gl_pathv[k], mor_status_name(report.status),
                   report.residual.relative);
        if (strcmp(solver, "auto") == 0) assert_true(report.detail[0] != 0);
        free(z);
        mor_problem_file_free(&file);
    }
    globfree(&files);
    return solved;
}

/* A = B B' + (skew) has a unique solution for definite B B': found by trying all 2^n active sets. */
static void tiny_pairs_agree_with_enumeration(void** state)
{
    (void)state;
    mor_rng rng = { 5 };
    int by_pivots = 0;
    for (int trial = 0; trial < 500; trial++) {
        enum { MOST = 6 };
        int n = 1 + trial % MOST;
        double B[MOST * MOST], A[MOST * MOST] = { 0 }, b[MOST], z[MOST], answer[MOST] = { 0 };
        for (int k = 0; k < n * n; k++) B[k] = mor_rng_uniform(&rng) - 0.5;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                A[i + j * n] = (i == j ? 0.05 : 0.0) + B[i + j * n] - B[j + i * n];
                for (int k = 0; k < n; k++) A[i + j * n] += B[i + k * n] * B[j + k * n];
            }
        for (int i = 0; i < n; i++) b[i] = mor_rng_uniform(&rng) - 0.5;
        bool found = false;
        for (int set = 0; set < 1 << n && !found; set++) {
            double M[MOST * MOST], x[MOST];
            int pivot[MOST];
            for (int i = 0; i < n; i++) { /* rows of A where z may be positive, of the identity elsewhere */
                bool active = set >> i & 1;
                for (int j = 0; j < n; j++) M[i + j * n] = active ? A[i + j * n] : i == j;
                x[i] = active ? -b[i] : 0.0;
            }
            if (!mor_lu_factor(n, M, pivot)) continue;
            mor_lu_solve(n, M, pivot, x);
            found = true;
            for (int i = 0; i < n; i++) {
                double w = b[i];
                for (int j = 0; j < n; j++) w += A[i + j * n] * x[j];
                found = found && x[i] >= -1e-12 && w >= -1e-12;
            }
            if (found) memcpy(answer, x, sizeof answer);
        }
        assert_true(found);
        mor_problem p = {
            .form = MOR_LCP, .size = n, .b = b, .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = A }
        };
        mor_report r = mor_solve(mor_solver_builtin("auto"), NULL, &p, NULL, z, NULL);
        assert_int_equal(r.status, MOR_SOLVED);
        for (int i = 0; i < n; i++) assert_near(z[i], answer[i], 1e-7 * (1.0 + fabs(answer[i])));
        by_pivots += strncmp(r.detail, "pivots(", 7) == 0;
    }
    assert_true(by_pivots > 400);
}

static void stored_problems_are_solved_as_promised(void** state)
{
    (void)state;
    static const struct {
        const char *solver, *folder;
        int least;
    } promised[] = { { "auto", "lcp", 35 },          { "auto", "mlcp", 11 },          { "auto", "fc2d", 6 },
                     { "auto", "fc3d", 25 },         { "auto", "gfc2d", 2 },          { "auto", "gfc3d", 9 },
                     { "auto", "rfc3d", 5 },         { "auto", "grfc3d", 2 },         { "nsn", "lcp", 35 },
                     { "nsn", "fc2d", 6 },           { "nsn", "fc3d", 25 },           { "nsn", "rfc3d", 5 },
                     { "nsn", "gfc3d", 9 },          { "fischer-newton", "lcp", 35 }, { "cck-newton", "lcp", 33 },
                     { "minmap-newton", "lcp", 33 }, { "ppa", "rfc3d", 5 },           { "ppa", "fc2d", 6 },
                     { "ppa", "fc3d", 24 } };
    int all = 0;
    count_solved("auto", "rfc3d", &all);
    if (all == 0) {
        printf("SKIP: no stored problems\n");
        skip();
    }
    for (size_t k = 0; k < sizeof promised / sizeof *promised; k++) {
        int solved = count_solved(promised[k].solver, promised[k].folder, &all);
        if (solved < promised[k].least)
            fail_msg("%s solves %d of %d %s problems", promised[k].solver, solved, all, promised[k].folder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_every_map_agree_with_finite_differences),
        cmocka_unit_test(krylov_methods_solve_what_lu_solves),
        cmocka_unit_test(block_rows_multiply_like_scalar_rows_in_any_order),
        cmocka_unit_test(fronts_solve_any_selection_of_blocks),
        cmocka_unit_test(small_pairs_have_their_known_answers),
        cmocka_unit_test(random_pairs_agree_with_pivoting_for_every_linear_solver),
        cmocka_unit_test(one_contact_slides_sticks_or_opens),
        cmocka_unit_test(a_resting_tower_carries_the_weight_above_each_contact),
        cmocka_unit_test(a_method_that_starts_at_its_answer_is_done),
        cmocka_unit_test(steps_do_not_grow_with_the_length_of_a_chain),
        cmocka_unit_test(a_hyperstatic_sheet_is_solved),
        cmocka_unit_test(steps_with_joints_bounds_and_cones_are_solved_on_tree_velocities),
        cmocka_unit_test(pyramids_are_solved_on_tree_velocities),
        cmocka_unit_test(tiny_pairs_agree_with_enumeration),
        cmocka_unit_test(stored_problems_are_solved_as_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
