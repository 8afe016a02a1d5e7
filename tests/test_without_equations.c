/* A step on the velocities that its equations leave free (solver/without_equations.c), on random steps: what is left
 * has the velocities of the step itself, whatever the impulses, and the equations hold. Drawn chains that it was made
 * for, with bodies of 2 g between bodies of 60 kg, are in test_drawn_scenes. */
#include "common/random_step.h"
#include "common/worlds.h"
#include "common/near.h"
#include "moreau/solver.h"
#include "problem/step.h"
#include "solver/without_equations.h"

#include <math.h>
#include <string.h>

static int below(mor_rng* r, int n) { return (int)(mor_rng_uniform(r) * n); }

static mor_problem draw(mor_rng* r, double ratio, mor_arena* arena)
{
    static const int dims[] = { 3, 3, 2, 1 };
    random_step s = { .trees = 3 + below(r, 8), .dof = 6, .dim = dims[below(r, 4)] };
    s.contacts = 1 + below(r, 2 * s.trees);
    s.equations = 1 + below(r, 2 * s.trees);
    s.bounded = below(r, 4);
    s.mu = 0.1 + 1.2 * mor_rng_uniform(r);
    s.mass_ratio = ratio;
    mor_problem problem = random_step_make(&s, (uint64_t)(mor_rng_uniform(r) * 1e9), arena);
    problem.form = MOR_STEP_CONE; /* intervals are circles too */
    return problem;
}

/* u = W p + q by plain loops, and by the step that is left. */
static void what_is_left_has_the_velocities_of_the_step(void** state)
{
    (void)state;
    mor_rng r = { 20261 };
    for (int k = 0; k < 40; k++) {
        mor_arena* arena = mor_arena_create(NULL);
        mor_problem problem = draw(&r, k % 2 ? 1.0 : 1e4, arena);
        const int n = problem.size;
        mor_without_equations w;
        assert_true(mor_without_equations_open(&problem, &w, arena));
        assert_int_equal(w.rank, w.equations);
        const int m = w.problem.size;
        mor_error error;
        assert_int_equal(mor_problem_check(&w.problem, &error), MOR_OK);
        assert_int_equal(m + w.equations, n);
        double* p = mor_arena_zero(arena, (size_t)m, sizeof *p);
        double* z = mor_arena_zero(arena, (size_t)n, sizeof *z);
        double* W = mor_arena_zero(arena, (size_t)n * (size_t)n, sizeof *W);
        double* u = mor_arena_zero(arena, (size_t)n, sizeof *u);
        double* rest = mor_arena_zero(arena, (size_t)m, sizeof *rest);
        double* all = mor_arena_zero(arena, (size_t)m, sizeof *all);
        double* nu = mor_arena_zero(arena, (size_t)w.problem.step.dof, sizeof *nu);
        for (int i = 0; i < m; i++) p[i] = mor_rng_uniform(&r) - 0.5;
        mor_without_equations_back(&w, p, z);
        random_step_dense(&problem, W, u);
        double size = 1.0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) u[i] += W[(size_t)i * n + j] * z[j], size = fmax(size, fabs(u[i]));
        mor_step_velocity(&w.problem.step, p, nu);
        mor_step_rows(&w.problem.step, nu, rest);
        mor_without_equations_forward(&w, u, all);
        for (int i = 0; i < m; i++) assert_near(rest[i], all[i], 1e-10 * size);
        for (int c = 0; c < problem.step.block_count; c++)
            for (int d = 0; problem.step.blocks[c].kind == MOR_BLOCK_EQUATION && d < problem.step.blocks[c].dim; d++)
                assert_near(u[problem.step.blocks[c].row + d], 0.0, 1e-10 * size);
        mor_without_equations_forward(&w, z, all);
        for (int i = 0; i < m; i++) assert_true(all[i] == p[i]);
        mor_arena_destroy(arena);
    }
}

/* An equation that is there twice leaves the same freedom as once. */
static void equations_that_repeat_others_take_no_freedom(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    const random_step s = {
        .trees = 3, .dof = 6, .contacts = 4, .dim = 3, .equations = 4, .mu = 0.5, .mass_ratio = 100
    };
    mor_problem problem = random_step_make(&s, 7, arena);
    mor_block* blocks = mor_arena_alloc(arena, (size_t)problem.step.block_count * sizeof *blocks);
    memcpy(blocks, problem.step.blocks, (size_t)problem.step.block_count * sizeof *blocks);
    problem.step.blocks = blocks;
    blocks[7].entry = blocks[5].entry,
    blocks[7].entry_count = blocks[5].entry_count; /* the last equation: the second */
    mor_without_equations w;
    assert_true(mor_without_equations_open(&problem, &w, arena));
    assert_int_equal(w.equations, 8);
    assert_int_equal(w.rank, 6);
    assert_int_equal(w.problem.step.dof, 12);
    mor_arena_destroy(arena);
}

/* More equations than velocities: nothing is left. */
static void what_equations_hold_whole_is_refused(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    const random_step s = {
        .trees = 2, .dof = 6, .contacts = 2, .dim = 3, .equations = 16, .mu = 0.5, .mass_ratio = 1
    };
    mor_problem problem = random_step_make(&s, 5, arena);
    mor_without_equations w;
    assert_false(mor_without_equations_open(&problem, &w, arena));
    mor_arena_destroy(arena);
}

/* The solver that uses it, on masses from 1 to 1e6; the judge says. */
static void auto_solves_steps_with_equations_at_any_ratio_of_masses(void** state)
{
    (void)state;
    mor_rng r = { 515 };
    for (int k = 0; k < 60; k++) {
        mor_arena* arena = mor_arena_create(NULL);
        mor_problem problem = draw(&r, k % 3 == 0 ? 1e2 : k % 3 == 1 ? 1e4 : 1e6, arena);
        double* p = mor_arena_zero(arena, (size_t)problem.size + 1, sizeof *p);
        const mor_solver* solver = mor_solver_builtin("auto");
        mor_report report =
            mor_solve(solver, NULL, &problem, &(mor_solve_options){ .tol = 1e-8, .aim = 1e-10 }, p, arena);
        if (report.status != MOR_SOLVED) print_message("%d: %g %s\n", k, report.residual.velocity, report.detail);
        assert_int_equal(report.status, MOR_SOLVED);
        mor_arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_has_the_velocities_of_the_step),
        cmocka_unit_test(equations_that_repeat_others_take_no_freedom),
        cmocka_unit_test(what_equations_hold_whole_is_refused),
        cmocka_unit_test(auto_solves_steps_with_equations_at_any_ratio_of_masses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
