/* The central path followed by its length (solver/ip_arc.c) on random time steps of every kind of row it takes, crowded
 * ones among them: the driver's judge, which no solver owns, says whether the end of the path is an answer. Steps whose
 * paths turn back are in the silos of test_crowds. */
#include "common/random_step.h"
#include "common/worlds.h"
#include "moreau/solver.h"
#include "solver/ip_arc.h"

#include <string.h>

static int which;

static mor_report follow(const mor_problem* problem, const void* options, mor_context* context, double* p)
{
    (void)options;
    mor_tree_matrix* K = mor_arena_alloc(context->arena, sizeof *K);
    if (!mor_tree_matrix_open(K, &problem->step, context->arena)) return (mor_report){ .status = MOR_NUMERICAL };
    return mor_ip_arc(problem, &mor_ip_arcs[which], K, context, p);
}

static const mor_solver arc = { .name = "arc", .accepts = MOR_STEP_CONE, .max_iter = 1000, .solve = follow };

static int below(mor_rng* r, int n) { return (int)(mor_rng_uniform(r) * n); }

static random_step draw(mor_rng* r, bool crowded)
{
    static const int dims[] = { 3, 3, 2, 1 };
    random_step s = { .trees = 3 + below(r, 12), .dof = 6, .dim = dims[below(r, 4)] };
    s.contacts = crowded ? 3 * s.trees : 1 + below(r, 2 * s.trees);
    s.equations = crowded ? 0 : below(r, 3);
    s.bounded = crowded ? 0 : below(r, 4);
    s.mu = 0.1 + 1.2 * mor_rng_uniform(r);
    s.mass_ratio = below(r, 2) ? 1.0 : 1000.0;
    return s;
}

/* How many of 60 are solved to 1e-8 m/s. */
static int solved(int method, bool crowded, uint64_t seed)
{
    mor_rng r = { seed };
    int count = 0;
    which = method;
    for (int k = 0; k < 60; k++) {
        mor_arena* arena = mor_arena_create(NULL);
        random_step spec = draw(&r, crowded);
        mor_problem problem = random_step_make(&spec, seed + (uint64_t)k, arena);
        problem.form = MOR_STEP_CONE; /* intervals are circles too */
        double* p = mor_arena_zero(arena, (size_t)problem.size + 1, sizeof *p);
        mor_report report = mor_solve(&arc, NULL, &problem, &(mor_solve_options){ .tol = 1e-8 }, p, arena);
        count += report.status == MOR_SOLVED;
        if (report.status != MOR_SOLVED)
            print_message(
                "method %d seed %d: %d trees, %d contacts of %d rows, %d equations, %d bounded, ratio %g: %s %g\n",
                method, (int)seed + k, spec.trees, spec.contacts, spec.dim, spec.equations, spec.bounded,
                spec.mass_ratio, mor_status_name(report.status), report.residual.velocity);
        mor_arena_destroy(arena);
    }
    return count;
}

static void the_path_ends_in_an_answer(void** state)
{
    (void)state;
    for (int method = 0; method < 2; method++) {
        assert_int_equal(solved(method, false, 100), 60);
        assert_int_equal(solved(method, true, 500), 60);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_ends_in_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
