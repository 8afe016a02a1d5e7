/* Contacts four at a time (src/solver/packs.h): every contact is in one lane, lanes of a pack share no tree, and a pass
 * over packs is the pass over single rows in the same order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/random_step.h"
#include "solver/packs.h"

static const random_step cases[] = {
    { .trees = 40, .dof = 6, .contacts = 200, .dim = 3, .mu = 0.5, .mass_ratio = 10 },
    { .trees = 3, .dof = 6, .contacts = 50, .dim = 3, .mu = 0.5, .mass_ratio = 1e3 },
    { .trees = 20, .dof = 6, .contacts = 60, .dim = 1, .mu = 0, .mass_ratio = 2 },
    { .trees = 10, .dof = 9, .contacts = 40, .dim = 3, .mu = 0.3, .mass_ratio = 5 },
    { .trees = 10, .dof = 3, .contacts = 30, .dim = 2, .mu = 0.3, .mass_ratio = 5 },
    { .trees = 2, .dof = 6, .contacts = 1, .dim = 3, .mu = 0.3, .mass_ratio = 1 },
};
enum { CASES = sizeof cases / sizeof *cases, SEEDS = 5 };

static bool acts_on(const mor_step_form* f, int block, int tree)
{
    const mor_block* b = &f->blocks[block];
    for (int e = b->entry; e < b->entry + b->entry_count; e++)
        if (f->entries[e].tree == tree) return true;
    return false;
}

static void lanes_share_no_tree_and_hold_every_contact(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int i = 0; i < CASES * SEEDS; i++) {
        mor_arena_reset(arena);
        const random_step* spec = &cases[i % CASES];
        mor_problem problem = random_step_make(spec, (uint64_t)i + 7000, arena);
        mor_packs packs;
        assert_true(mor_packs_make(&packs, &problem.step, spec->contacts, arena));
        int seen[256] = { 0 };
        for (int q = 0; q < packs.count; q++)
            for (int a = 0; a < MOR_LANES; a++) {
                const int* lanes = packs.packs[q].block;
                if (lanes[a] < 0) continue;
                seen[lanes[a]]++;
                for (int b = 0; b < a; b++)
                    for (int t = 0; t < spec->trees; t++)
                        assert_false(acts_on(&problem.step, lanes[a], t) && acts_on(&problem.step, lanes[b], t));
            }
        for (int c = 0; c < spec->contacts; c++) assert_int_equal(seen[c], 1);
    }
    mor_arena_destroy(arena);
}

/* v += M^-1 G_d (-relaxation u/W) on every row. */
MOR_ALWAYS_INLINE void pass_body(const mor_packs* packs, double* v)
{
    for (int i = 0; i < packs->count; i++) {
        const mor_pack* q = &packs->packs[i];
        mor_pack_view view;
        mor_pack_load(q, v, &view);
        for (int d = 0; d < MOR_PACK_ROWS; d++) {
            mor_four u;
            mor_pack_speed(packs, q, d, &view, v, &u);
            u = -0.7 * u * q->inverse[d];
            mor_pack_push(packs, q, d, &u, &view, v);
        }
        mor_pack_store(q, &view, v);
    }
}

MOR_WIDE_VOID(static, pass, (const mor_packs* packs, double* v), (packs, v))

static void single_pass(const mor_packs* packs, double* v)
{
    for (int i = 0; i < packs->count; i++)
        for (int lane = 0; lane < MOR_LANES; lane++) {
            int block = packs->packs[i].block[lane];
            for (int d = 0; block >= 0 && d < packs->form->blocks[block].dim; d++) {
                double u = mor_packs_row_speed(packs, block, d, v);
                mor_packs_row_push(packs, block, d, -0.7 * u * packs->packs[i].inverse[d][lane], v);
            }
        }
}

static void a_pass_is_that_over_single_rows(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int i = 0; i < CASES * SEEDS; i++) {
        mor_arena_reset(arena);
        mor_problem problem = random_step_make(&cases[i % CASES], (uint64_t)i + 9000, arena);
        mor_packs packs;
        assert_true(mor_packs_make(&packs, &problem.step, cases[i % CASES].contacts, arena));
        double *v = mor_packs_velocities(&packs, arena), *w = mor_packs_velocities(&packs, arena);
        double* nu = mor_arena_alloc(arena, (size_t)problem.step.dof * sizeof *nu);
        assert_true(v && w && nu);
        mor_packs_spread(&packs, problem.step.nu_free, v);
        mor_packs_spread(&packs, problem.step.nu_free, w);
        pass(&packs, v);
        single_pass(&packs, w);
        double size = 0.0, apart = 0.0, moved = 0.0;
        for (int k = 0; k < packs.room; k++) size = fmax(size, fabs(w[k])), apart = fmax(apart, fabs(v[k] - w[k]));
        assert_true(apart <= 1e-12 * size);
        mor_packs_collect(&packs, v, nu);
        for (int k = 0; k < problem.step.dof; k++) moved = fmax(moved, fabs(nu[k] - problem.step.nu_free[k]));
        assert_true(moved > 1e-6 * size);
        for (int k = packs.room - 8; k < packs.room; k++) assert_true(v[k] == 0.0); /* the place of empty lanes */
    }
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_share_no_tree_and_hold_every_contact),
        cmocka_unit_test(a_pass_is_that_over_single_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
