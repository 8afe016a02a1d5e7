/* Contacts four at a time (src/solver/packs.h): every contact is in one lane, lanes of a pack share no tree, and a pass
 * over packs is the pass over single rows in the same order. Groups of packs that threads visit at the same time share
 * no tree, and the threads change no bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/workers.h"
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

/* Half of the contacts, drawn. */
static const bool* draw_idle(int contacts, uint64_t seed, mor_arena* arena)
{
    bool* idle = mor_arena_alloc(arena, (size_t)contacts + 1);
    mor_rng rng = { seed };
    assert_non_null(idle);
    for (int c = 0; c < contacts; c++) idle[c] = mor_rng_uniform(&rng) < 0.5;
    return idle;
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
        const bool* idle = i % 2 ? draw_idle(spec->contacts, (uint64_t)i, arena) : NULL;
        assert_true(mor_packs_make(&packs, &problem.step, spec->contacts, idle, NULL, arena));
        int seen[256] = { 0 };
        for (int q = 0; q < packs.count; q++)
            for (int a = 0; a < MOR_LANES; a++) {
                const int* lanes = packs.packs[q].block;
                if (lanes[a] < 0) continue;
                seen[lanes[a]]++;
                assert_true(!idle || idle[lanes[a]] == idle[lanes[0]]);
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
        const int contacts = cases[i % CASES].contacts;
        const bool* idle = i % 2 ? draw_idle(contacts, (uint64_t)i, arena) : NULL;
        assert_true(mor_packs_make(&packs, &problem.step, contacts, idle, NULL, arena));
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

/* A long pile: contacts join trees whose numbers, shuffled, differ by less than `reach`. */
static mor_problem make_long_pile(int trees, int contacts, int reach, uint64_t seed, mor_arena* arena)
{
    const random_step spec = { .trees = trees, .dof = 6, .contacts = contacts, .dim = 3, .mu = 0.5, .mass_ratio = 3 };
    mor_problem problem = random_step_make(&spec, seed, arena);
    mor_entry* entries = (mor_entry*)problem.step.entries; /* the arena's */
    int* name = mor_arena_alloc(arena, (size_t)trees * sizeof *name);
    mor_rng rng = { seed };
    for (int t = 0; t < trees; t++) {
        int k = (int)(mor_rng_uniform(&rng) * (t + 1));
        name[t] = name[k], name[k] = t;
    }
    for (int c = 0; c < contacts; c++) {
        const mor_block* b = &problem.step.blocks[c];
        int at = (int)(mor_rng_uniform(&rng) * (trees - reach)), far = 1 + (int)(mor_rng_uniform(&rng) * (reach - 1));
        for (int e = 0; e < b->entry_count; e++) entries[b->entry + e].tree = name[at + e * far];
    }
    return problem;
}

enum { TREES = 400, CONTACTS = 1500 };

static void groups_that_are_visited_together_share_no_tree(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    int most = 0;
    for (int i = 0; i < 12; i++) {
        mor_arena_reset(arena);
        mor_problem problem = make_long_pile(TREES, CONTACTS, i < 10 ? 2 + 3 * i : TREES / 2, (uint64_t)i + 40, arena);
        mor_pack_groups groups;
        assert_true(mor_pack_groups_find(&groups, &problem.step, CONTACTS, arena));
        int seen[CONTACTS] = { 0 }, owner[2][TREES];
        for (int t = 0; t < TREES; t++) owner[0][t] = owner[1][t] = -1;
        for (int g = 0; g < groups.count; g++)
            for (int c = groups.start[g]; c < groups.start[g + 1]; c++) {
                const mor_block* b = &problem.step.blocks[groups.order[c]];
                seen[groups.order[c]]++;
                for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                    int* of = &owner[g >= groups.inner][problem.step.entries[e].tree];
                    assert_true(*of == -1 || *of == g);
                    *of = g;
                }
            }
        for (int c = 0; c < CONTACTS; c++) assert_int_equal(seen[c], 1);
        for (int g = 0; i < 5 && g < groups.inner; g++) /* a long pile: no slab has more than its share twice over */
            assert_true(groups.start[g + 1] - groups.start[g] <= 2 * CONTACTS / MOR_PACK_SLABS);
        if (groups.inner > most) most = groups.inner;
    }
    assert_int_equal(most, MOR_PACK_SLABS);
    mor_arena_destroy(arena);
}

typedef struct moving {
    const mor_packs* packs;
    double* v;
} moving;

static void pass_some(void* user, int begin, int end)
{
    const moving* m = user;
    mor_packs some = *m->packs;
    some.packs += begin;
    some.count = end - begin;
    pass(&some, m->v);
}

static void threads_change_no_bit_of_a_sweep(void** state)
{
    (void)state;
    mor_arena* arena = mor_arena_create(NULL);
    for (int i = 0; i < 6; i++) {
        mor_arena_reset(arena);
        mor_problem problem = make_long_pile(TREES, CONTACTS, 2 + 4 * i, (uint64_t)i + 70, arena);
        const bool* idle = i % 2 ? draw_idle(CONTACTS, (uint64_t)i, arena) : NULL;
        double* v[3];
        int room = 0;
        for (int n = 0; n < 3; n++) {
            mor_workers* workers = n ? mor_workers_create(NULL, 1 + 2 * n) : NULL;
            mor_packs packs;
            assert_true(mor_packs_make(&packs, &problem.step, CONTACTS, idle, workers, arena));
            v[n] = mor_packs_velocities(&packs, arena);
            mor_packs_spread(&packs, problem.step.nu_free, v[n]);
            moving m = { &packs, v[n] };
            for (int k = 0; k < 5; k++) mor_packs_sweep(&packs, pass_some, &m);
            room = packs.room;
            mor_workers_destroy(workers);
        }
        for (int n = 1; n < 3; n++) assert_memory_equal(v[0], v[n], (size_t)room * sizeof(double));
        assert_memory_not_equal(v[0], problem.step.nu_free, 6 * sizeof(double));
    }
    mor_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_share_no_tree_and_hold_every_contact),
        cmocka_unit_test(a_pass_is_that_over_single_rows),
        cmocka_unit_test(groups_that_are_visited_together_share_no_tree),
        cmocka_unit_test(threads_change_no_bit_of_a_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
