/* Redundant equations: which rows are left out does not depend on their units, and what is left says the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "common/random_step.h"
#include "formulation/independent.h"

enum { TREES = 3, EQUATIONS = 4 };

/* Row `to` becomes `factor` times row `from` (blocks of two rows on the same trees), in all that the step has of it. */
static void copy_row(mor_problem* p, int to, int from, int of, double factor)
{
    const mor_block *a = &p->step.blocks[to], *b = &p->step.blocks[from];
    for (int e = 0; e < b->entry_count; e++) {
        int dof = p->step.trees[p->step.entries[b->entry + e].tree].dof;
        for (int k = 0; k < dof; k++) {
            size_t x = (size_t)(p->step.entries[a->entry + e].start + of * dof + k),
                   y = (size_t)(p->step.entries[b->entry + e].start + of * dof + k);
            ((double*)p->step.jacobian)[x] = factor * p->step.jacobian[y];
            ((double*)p->step.response)[x] = factor * p->step.response[y];
        }
    }
}

/* A step whose last block repeats the first, each row in a unit of its own. */
static mor_problem make(uint64_t seed, const double* units, mor_arena* arena)
{
    random_step spec = { TREES, 6, 2, 3, 4, EQUATIONS, 1, 0.4, 10 };
    mor_problem p = random_step_make(&spec, seed, arena);
    int first = spec.contacts, last = first + EQUATIONS - 1;
    mor_block* blocks = (mor_block*)p.step.blocks;
    int entries = blocks[first].entry_count;
    mor_entry* E = (mor_entry*)p.step.entries;
    if (blocks[last].entry_count < entries) entries = blocks[first].entry_count = 1;
    blocks[last].entry_count = entries;
    for (int e = 0; e < entries; e++) E[blocks[last].entry + e].tree = E[blocks[first].entry + e].tree;
    for (int of = 0; of < 2; of++) copy_row(&p, last, first, of, 1.0);
    for (int c = first; c <= last; c++)
        for (int of = 0; of < 2; of++) copy_row(&p, c, c, of, units[2 * (c - first) + of]);
    return p;
}

static void units_of_rows_do_not_decide_which_depend(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    mor_rng rng = { 77 };
    for (int n = 0; n < 20; n++) {
        double units[2 * EQUATIONS];
        for (int i = 0; i < 2 * EQUATIONS; i++) units[i] = ldexp(1.0, (int)(40 * mor_rng_uniform(&rng)) - 20);
        mor_problem p = make((uint64_t)n + 500, units, arena), out;
        int* rows = NULL;
        assert_true(mor_independent_problem(&p, 1e-10, &out, &rows, arena));
        assert_int_equal(p.size - out.size, 2);
        for (int i = 1; i < out.size; i++) assert_true(rows[i] > rows[i - 1] && rows[i] < p.size);
        /* one of each pair is left */
        int first = p.step.blocks[2].row, last = p.step.blocks[2 + EQUATIONS - 1].row;
        for (int of = 0; of < 2; of++) {
            int left = 0;
            for (int i = 0; i < out.size; i++) left += rows[i] == first + of || rows[i] == last + of;
            assert_int_equal(left, 1);
        }
    }
    mor_arena_destroy(arena);
}

static void velocities_that_meet_the_equations_agree(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    double units[2 * EQUATIONS];
    for (int i = 0; i < 2 * EQUATIONS; i++) units[i] = 1.0;
    for (int n = 0; n < 20; n++) {
        mor_problem p = make((uint64_t)n + 900, units, arena);
        double nu[6 * TREES] = { 0 }; /* rest meets all equations; what the step starts with does not */
        memset((double*)p.step.bias, 0, (size_t)p.size * sizeof(double));
        assert_true(mor_equations_agree(&p, 1e-10, nu, arena));
        assert_false(mor_equations_agree(&p, 1e-10, p.step.nu_free, arena));
        /* a tenth of the start misses them by a tenth, a thousandth by less than a hundredth */
        for (int i = 0; i < 6 * TREES; i++) nu[i] = 0.1 * p.step.nu_free[i];
        assert_false(mor_equations_agree(&p, 1e-10, nu, arena));
        for (int i = 0; i < 6 * TREES; i++) nu[i] = 1e-3 * p.step.nu_free[i];
        assert_true(mor_equations_agree(&p, 1e-10, nu, arena));
    }
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_rows_do_not_decide_which_depend),
        cmocka_unit_test(velocities_that_meet_the_equations_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
