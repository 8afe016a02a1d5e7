/* Rows of a step that no velocity fulfils (solver/contradiction.c), made so by their drawing: the last row is minus a
 * combination of others, J_l = -sum c_i J_i, and for every velocity
 *
 *     u_l + sum c_i u_i = b_l + sum c_i b_i = -gap,   c_i >= 0 for contacts,
 *
 * so that one of the rows is missed by gap/(1 + sum |c_i|) at least, and no proof can say more. */
#include "common/random_scenes.h"
#include "moreau/solver.h"
#include "solver/contradiction.h"

#include <math.h>
#include <string.h>

enum { MOST = 40 };

typedef struct drawn {
    mor_problem problem;
    mor_tree_block tree;
    mor_block blocks[MOST];
    mor_entry entries[MOST];
    double identity[12 * 12], J[MOST * 12], diagonal[MOST], bias[MOST], free[12], share;
    int start[MOST];
} drawn;

/* A tree of unit masses, contacts without friction, limits and equations that one velocity fulfils; if `miss` is not
 * zero the last row contradicts them by `miss` m/s. */
static void draw(uint64_t* seed, double miss, drawn* d)
{
    memset(d, 0, sizeof *d);
    const int dof = 2 + (int)test_random(seed, 0, 10), rows = 2 + (int)test_random(seed, 0, MOST - 2);
    const int equations = (int)test_random(seed, 0, 0.6 * dof);
    double hidden[12], *last = d->J + (rows - 1) * dof, combined = 0.0;
    for (int i = 0; i < dof; i++) {
        d->identity[i * dof + i] = 1.0;
        d->free[i] = test_random(seed, -3, 3);
        hidden[i] = test_random(seed, -1, 1);
    }
    d->share = 1.0;
    for (int r = 0; r < rows; r++) {
        const bool closing = miss != 0.0 && r == rows - 1, equation = r < equations && r < rows - 1;
        const double c = test_random(seed, 0, 1) < 0.5 ? 0.0 : test_random(seed, equation ? -2 : 0, 2);
        double u = 0.0;
        for (int i = 0; i < dof && !closing; i++) d->J[r * dof + i] = test_random(seed, -1, 1);
        for (int i = 0; i < dof; i++) u += d->J[r * dof + i] * hidden[i];
        const mor_block_kind kind = equation ? MOR_BLOCK_EQUATION : r % 3 ? MOR_BLOCK_CONTACT : MOR_BLOCK_BOUNDED;
        d->blocks[r] = (mor_block){
            .kind = kind, .dim = 1, .row = r, .entry = r, .entry_count = 1, .lower = 0.0, .upper = INFINITY
        };
        d->entries[r] = (mor_entry){ 0, r * dof };
        d->bias[r] = closing ? 0.0 : -u + (equation ? 0.0 : fmax(0.0, test_random(seed, -1, 1)));
        if (!closing && miss != 0.0) {
            for (int i = 0; i < dof; i++) last[i] -= c * d->J[r * dof + i];
            combined += c * d->bias[r];
            d->share += fabs(c);
        }
        if (closing) d->bias[r] = -combined - miss * d->share;
        d->start[r] = r;
        for (int i = 0; i < dof; i++) d->diagonal[r] += d->J[r * dof + i] * d->J[r * dof + i];
    }
    d->tree = (mor_tree_block){ dof, 0, d->identity, d->identity };
    d->problem = (mor_problem){ .form = MOR_STEP_CONE, .size = rows, .b = d->bias };
    d->problem.step = (mor_step_form){ 1,          dof,  &d->tree, d->free,     rows,     rows,   d->blocks,
                                       d->entries, d->J, d->J,     d->diagonal, d->start, d->bias };
}

static void rows_that_a_velocity_fulfils_contradict_nothing(void** state)
{
    (void)state;
    uint64_t seed = test_seed(3);
    mor_arena* arena = mor_arena_create(NULL);
    drawn d;
    for (int k = 0; k < 2000; k++) {
        draw(&seed, 0.0, &d);
        assert_false(mor_step_contradicts(&d.problem, k % 2 ? 1e-6 : 1e-9, arena));
    }
    mor_arena_destroy(arena);
}

static void rows_that_are_missed_by_more_than_the_limit_are_proved_to(void** state)
{
    (void)state;
    uint64_t seed = test_seed(4);
    mor_arena* arena = mor_arena_create(NULL);
    drawn d;
    for (int k = 0; k < 2000; k++) {
        const double limit = pow(10.0, test_random(&seed, -7, -5));
        const double beyond = limit * pow(10.0, test_random(&seed, 0.3, 4));
        draw(&seed, beyond, &d);
        if (!mor_step_contradicts(&d.problem, limit, arena))
            fail_msg("case %d: %d rows, missed by %g of %g m/s", k, d.problem.size, beyond, limit);
    }
    mor_arena_destroy(arena);
}

/* No method that looks for an answer is tried for long. */
static void auto_says_at_once_that_there_is_no_answer(void** state)
{
    (void)state;
    uint64_t seed = test_seed(5);
    mor_arena* arena = mor_arena_create(NULL);
    drawn d;
    for (int k = 0; k < 100; k++) {
        draw(&seed, 1e-3, &d);
        double z[MOST] = { 0 };
        mor_solve_options o = mor_solve_options_default();
        o.tol = 1e-8, o.limit = 1e-6;
        mor_report report = mor_solve(mor_library_solver(NULL, "auto"), NULL, &d.problem, &o, z, arena);
        assert_int_equal(report.status, MOR_NO_SOLUTION);
        assert_non_null(strstr(report.detail, "contradiction"));
        assert_true(report.iterations < 150);
    }
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_a_velocity_fulfils_contradict_nothing),
        cmocka_unit_test(rows_that_are_missed_by_more_than_the_limit_are_proved_to),
        cmocka_unit_test(auto_says_at_once_that_there_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
