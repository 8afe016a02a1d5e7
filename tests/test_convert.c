/* Conversions both ways: values against plain dense algebra, and answers through the judge. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/random_step.h"
#include "linalg/dense.h"
#include "moreau/solver.h"
#include "problem/cone.h"
#include "problem/convert.h"
#include "problem/judge.h"
#include "problem/step.h"

static double entry(const mor_matrix* A, int i, int j)
{
    if (A->storage == MOR_DENSE) return A->x[i + (size_t)j * A->rows];
    for (int k = A->p[i]; k < A->p[i + 1]; k++)
        if (A->i[k] == j) return A->x[k];
    return 0.0;
}

static void convert(const mor_problem* from, mor_form to, mor_conversion* c, mor_arena* arena)
{
    mor_error error = { 0 };
    bool none;
    if (mor_convert(from, to, c, &none, arena, &error) != MOR_OK) fail_msg("%s", error.text);
    assert_int_equal(mor_problem_check(&c->to, &error), MOR_OK);
}

static void a_step_becomes_the_stewart_trinkle_lcp_of_the_papers(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    enum { NC = 5, ND = 7 };
    random_step spec = {
        .trees = 4, .dof = 6, .contacts = NC, .dim = 3, .directions = ND, .mu = 0.4, .mass_ratio = 10
    };
    mor_problem p = random_step_make(&spec, 3, arena);
    mor_conversion c;
    convert(&p, MOR_MLCP, &c, arena);
    int n = NC * (2 + ND), rows = 3 * NC;
    assert_int_equal(c.to.size, n);
    double* W = mor_arena_alloc(arena, (size_t)(rows * rows) * sizeof *W);
    double* q = mor_arena_alloc(arena, (size_t)rows * sizeof *q);
    random_step_dense(&p, W, q);
    /* [Wnn Wnf 0; Wfn Wff E; U -E' 0] with Wnf by the direction vectors */
    const double tau = 6.283185307179586;
    for (int a = 0; a < NC; a++)
        for (int b = 0; b < NC; b++) {
            assert_near(entry(&c.to.A, a, b), W[3 * a * rows + 3 * b], 1e-13);
            for (int j = 0; j < ND; j++) {
                double dx = cos(tau * j / ND), dy = sin(tau * j / ND);
                double nf = dx * W[3 * a * rows + 3 * b + 1] + dy * W[3 * a * rows + 3 * b + 2];
                assert_near(entry(&c.to.A, a, NC + b * ND + j), nf, 1e-13);
                for (int i = 0; i < ND; i++) {
                    double ex = cos(tau * i / ND), ey = sin(tau * i / ND);
                    double ff = ex * (dx * W[(3 * a + 1) * rows + 3 * b + 1] + dy * W[(3 * a + 1) * rows + 3 * b + 2]) +
                                ey * (dx * W[(3 * a + 2) * rows + 3 * b + 1] + dy * W[(3 * a + 2) * rows + 3 * b + 2]);
                    assert_near(entry(&c.to.A, NC + a * ND + i, NC + b * ND + j), ff, 1e-13);
                }
                double one = a == b ? 1.0 : 0.0;
                assert_near(entry(&c.to.A, NC + a * ND + j, NC + NC * ND + b), one, 0.0);
                assert_near(entry(&c.to.A, NC + NC * ND + b, NC + a * ND + j), -one, 0.0);
            }
            assert_near(entry(&c.to.A, NC + NC * ND + a, b), a == b ? 0.4 : 0.0, 0.0);
        }
    for (int a = 0; a < NC; a++) assert_near(c.to.b[a], q[3 * a], 1e-13);
    mor_arena_destroy(arena);
}

/* Impulses that are not on an edge of their sets survive the way there and back. */
static void answers_survive_the_way_there_and_back(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int dim = 1; dim <= 3; dim++) {
        random_step spec = { .trees = 3,
                             .dof = 6,
                             .contacts = 4,
                             .dim = dim,
                             .directions = dim == 3 ? 5 : 0,
                             .equations = 2,
                             .bounded = 3,
                             .mu = 0.5,
                             .mass_ratio = 1 };
        mor_problem p = random_step_make(&spec, 17 + (uint64_t)dim, arena);
        mor_conversion c;
        convert(&p, MOR_MLCP, &c, arena);
        mor_rng rng = { 5 };
        double r[32], back[32], z[128];
        for (int k = 0; k < p.size; k++) r[k] = 0.2 * mor_rng_uniform(&rng) - 0.1;
        for (int k = 0; k < p.step.block_count; k++)
            if (p.step.blocks[k].kind == MOR_BLOCK_CONTACT) r[p.step.blocks[k].row] = 1.0;
        c.forward(&c, r, z, arena);
        c.back(&c, z, back, arena);
        for (int k = 0; k < p.size; k++) assert_near(back[k], r[k], 1e-14);
    }
    mor_arena_destroy(arena);
}

static void check_solve(const random_step* spec, uint64_t seed, double tol, mor_arena* arena, int* solved)
{
    mor_problem p = random_step_make(spec, seed, arena);
    double* z = mor_arena_zero(arena, (size_t)p.size, sizeof *z);
    mor_solve_options o = mor_solve_options_default();
    o.tol = tol;
    mor_report r = mor_solve(mor_solver_builtin("lemke"), NULL, &p, &o, z, NULL);
    if (r.status != MOR_SOLVED) {
        print_message("seed %d: %s, %g, %s\n", (int)seed, mor_status_name(r.status), r.residual.velocity, r.detail);
        return;
    }
    ++*solved;
    /* independent of the judge: dense W, the rows written out */
    int n = p.size;
    double* W = mor_arena_alloc(arena, (size_t)(n * n) * sizeof *W);
    double* u = mor_arena_alloc(arena, (size_t)n * sizeof *u);
    random_step_dense(&p, W, u);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) u[i] += W[i * n + j] * z[j];
    double slack = 1e-7;
    for (int k = 0; k < p.step.block_count; k++) {
        const mor_block* b = &p.step.blocks[k];
        const double *x = z + b->row, *v = u + b->row;
        if (b->kind == MOR_BLOCK_EQUATION) assert_true(fabs(v[0]) < slack && fabs(v[1]) < slack);
        else if (b->kind == MOR_BLOCK_BOUNDED) {
            assert_true(x[0] >= b->lower - slack && x[0] <= b->upper + slack);
            if (x[0] > b->lower + slack) assert_true(v[0] < slack);
            if (x[0] < b->upper - slack) assert_true(v[0] > -slack);
        } else {
            assert_true(x[0] > -slack && v[0] > -slack && fabs(x[0] * v[0]) < slack);
            double power = 0.0, size = 0.0;
            for (int i = 1; i < b->dim; i++) power += x[i] * v[i], size += x[i] * x[i];
            assert_true(sqrt(size) <= b->mu * x[0] + slack);
            assert_true(power < slack); /* friction takes energy */
        }
    }
}

static void solved_steps_obey_their_laws_in_two_and_three_dimensions(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    int solved = 0, tried = 0;
    for (int dim = 1; dim <= 3; dim++)
        for (uint64_t seed = 1; seed <= 20; seed++, tried++) {
            random_step spec = { .trees = 5,
                                 .dof = dim == 3 ? 6 : 3,
                                 .contacts = 6,
                                 .dim = dim,
                                 .directions = dim == 3 ? 8 : 0,
                                 .equations = (int)seed % 3,
                                 .bounded = (int)seed % 4,
                                 .mu = 0.3,
                                 .mass_ratio = 100 };
            check_solve(&spec, seed, 1e-9, arena, &solved);
            mor_arena_reset(arena);
        }
    assert_int_equal(solved, tried);
    mor_arena_destroy(arena);
}

static void a_mass_ratio_of_a_million_is_solved(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    int solved = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        random_step spec = {
            .trees = 6, .dof = 6, .contacts = 10, .dim = 3, .directions = 4, .mu = 0.3, .mass_ratio = 1e6
        };
        check_solve(&spec, seed, 1e-10, arena, &solved);
        mor_arena_reset(arena);
    }
    assert_int_equal(solved, 10);
    mor_arena_destroy(arena);
}

/* Eight contacts with eight directions on two bodies: W has rank 12 of 24, the LCP of 80 unknowns is mostly null space.
 * */
static void redundant_contacts_are_solved_at_every_mass_ratio(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    int solved = 0;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        random_step spec = { .trees = 2,
                             .dof = 6,
                             .contacts = 8,
                             .dim = 3,
                             .directions = 8,
                             .mu = 0.3,
                             .mass_ratio = seed % 3 == 0   ? 1e6
                                           : seed % 3 == 1 ? 1e3
                                                           : 1.0 };
        check_solve(&spec, seed, 1e-10, arena, &solved);
        mor_arena_reset(arena);
    }
    assert_int_equal(solved, 30);
    mor_arena_destroy(arena);
}

static void keeping_the_velocities_gives_the_same_impulses(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    random_step spec = { .trees = 3,
                         .dof = 6,
                         .contacts = 3,
                         .dim = 3,
                         .directions = 4,
                         .equations = 1,
                         .bounded = 2,
                         .mu = 0.3,
                         .mass_ratio = 3 };
    for (uint64_t seed = 1; seed < 6; seed++) {
        mor_problem p = random_step_make(&spec, seed, arena);
        mor_conversion kept;
        mor_error error = { 0 };
        assert_int_equal(mor_convert_step_keep_velocity(&p, &kept, arena, &error), MOR_OK);
        assert_int_equal(mor_problem_check(&kept.to, &error), MOR_OK);
        double* z = mor_arena_zero(arena, (size_t)kept.to.size, sizeof *z);
        double r[64], nu[32];
        mor_report report = mor_solve(mor_solver_builtin("lemke"), NULL, &kept.to, NULL, z, NULL);
        assert_int_equal(report.status, MOR_SOLVED);
        kept.back(&kept, z, r, arena);
        assert_true(mor_judge(&p, r, arena).velocity < 1e-7);
        mor_step_velocity(&p.step, r, nu);
        for (int k = 0; k < p.step.dof; k++) assert_near(z[k], nu[k], 1e-7);
        mor_arena_reset(arena);
    }
    mor_arena_destroy(arena);
}

static void a_step_with_cones_becomes_a_cone_problem_with_the_same_velocities(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    random_step spec = {
        .trees = 4, .dof = 6, .contacts = 5, .dim = 3, .directions = 0, .equations = 2, .mu = 0.5, .mass_ratio = 5
    };
    mor_problem p = random_step_make(&spec, 9, arena);
    mor_conversion c;
    convert(&p, MOR_FC3D, &c, arena);
    assert_int_equal(c.to.contact_count, 5);
    mor_rng rng = { 11 };
    double r[15], full[32], nu[32], u[32], w[15];
    for (int k = 0; k < 15; k++) r[k] = mor_rng_uniform(&rng) - 0.3;
    c.back(&c, r, full, arena);
    mor_step_velocity(&p.step, full, nu);
    mor_step_rows(&p.step, nu, u);
    mor_matrix_apply(&c.to.A, r, w);
    for (int k = 0; k < 15; k++) assert_near(w[k] + c.to.b[k], u[k], 1e-11);
    for (int k = 15; k < p.size; k++) assert_near(u[k], 0.0, 1e-11); /* the joints hold */
    mor_arena_destroy(arena);
}

static void polygons_are_not_passed_off_as_cones_nor_cones_as_polygons(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    random_step spec = { .trees = 2, .dof = 6, .contacts = 2, .dim = 3, .directions = 4, .mu = 0.5, .mass_ratio = 1 };
    mor_problem pyramid = random_step_make(&spec, 1, arena);
    spec.directions = 0;
    mor_problem cone = random_step_make(&spec, 1, arena);
    mor_conversion c;
    mor_error error = { 0 };
    bool none;
    assert_int_equal(mor_convert(&pyramid, MOR_FC3D, &c, &none, arena, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_convert(&cone, MOR_MLCP, &c, &none, arena, &error), MOR_BAD_INPUT);
    double z[6];
    assert_int_equal(mor_solve(mor_solver_builtin("lemke"), NULL, &cone, NULL, z, NULL).status, MOR_REFUSED);
    assert_false(mor_solver_applies(mor_solver_builtin("lemke"), MOR_STEP_CONE));
    assert_true(mor_solver_applies(mor_solver_builtin("lemke"), MOR_STEP_PYRAMID));
    mor_arena_destroy(arena);
}

static void global_problems_reduce_to_local_ones_and_come_back_with_velocities(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    /* two blocks of mass, one contact in 2-D */
    double M[9] = { 2, 0.5, 0, 0.5, 1, 0, 0, 0, 4 }, H[6] = { 1, 0, 1, 0, 1, -1 }, f[3] = { 1, -3, 0.5 },
           b[2] = { 0.1, 0.2 };
    double mu[1] = { 0.3 };
    mor_problem p = { .form = MOR_GFC2D, .size = 2, .contact_count = 1, .dim = 2, .mu = mu, .b = b, .f = f };
    p.M = (mor_matrix){ .storage = MOR_DENSE, .rows = 3, .cols = 3, .x = M };
    p.H = (mor_matrix){ .storage = MOR_DENSE, .rows = 3, .cols = 2, .x = H };
    mor_conversion c;
    convert(&p, MOR_FC2D, &c, arena);
    double r[2] = { 0.7, -0.1 }, z[5], u[2], w[2], Mv[3];
    c.back(&c, r, z, arena);
    mor_matrix_apply(&p.M, z + 2, Mv);
    for (int i = 0; i < 3; i++) assert_near(Mv[i], f[i] + H[i] * r[0] + H[3 + i] * r[1], 1e-14);
    mor_matrix_apply_transposed(&p.H, z + 2, u);
    mor_matrix_apply(&c.to.A, r, w);
    for (int i = 0; i < 2; i++) assert_near(w[i] + c.to.b[i], u[i] + b[i], 1e-14);
    mor_conversion_destroy(&c);
    mor_arena_destroy(arena);
}

static void singular_equations_are_pivoted_and_contradictions_proved(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    /* x free with 0 = y - 1 (no x in it), w = x + y - 3 with y >= 0: y = 1, x = 2 */
    double A[4] = { 0, 1, 1, 1 }, b[2] = { -1, -3 }, lower[2] = { -INFINITY, 0 }, z[2];
    mor_problem p = { .form = MOR_MLCP, .size = 2, .b = b, .lower = lower };
    p.A = (mor_matrix){ .storage = MOR_DENSE, .rows = 2, .cols = 2, .x = A };
    mor_report r = mor_solve(mor_solver_builtin("lemke"), NULL, &p, NULL, z, arena);
    assert_int_equal(r.status, MOR_SOLVED);
    assert_near(z[0], 2.0, 1e-14);
    assert_near(z[1], 1.0, 1e-14);
    /* 0 = 1 */
    double zero[4] = { 0, 0, 0, 1 };
    p.A.x = zero;
    r = mor_solve(mor_solver_builtin("lemke"), NULL, &p, NULL, z, arena);
    assert_int_equal(r.status, MOR_NO_SOLUTION);
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_becomes_the_stewart_trinkle_lcp_of_the_papers),
        cmocka_unit_test(answers_survive_the_way_there_and_back),
        cmocka_unit_test(solved_steps_obey_their_laws_in_two_and_three_dimensions),
        cmocka_unit_test(a_mass_ratio_of_a_million_is_solved),
        cmocka_unit_test(redundant_contacts_are_solved_at_every_mass_ratio),
        cmocka_unit_test(keeping_the_velocities_gives_the_same_impulses),
        cmocka_unit_test(a_step_with_cones_becomes_a_cone_problem_with_the_same_velocities),
        cmocka_unit_test(polygons_are_not_passed_off_as_cones_nor_cones_as_polygons),
        cmocka_unit_test(global_problems_reduce_to_local_ones_and_come_back_with_velocities),
        cmocka_unit_test(singular_equations_are_pivoted_and_contradictions_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
