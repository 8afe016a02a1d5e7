/* How contacts are put into packs (packs.h). */
#include "solver/packs.h"

#include "base/workers.h"

#include <string.h>

enum { EMPTY = 8 }; /* numbers of the place that empty lanes act on */

/* Contacts that wait for a pack, in their order. */
typedef struct window {
    int waiting[MOR_PACK_WINDOW], waits;
} window;

/* Which contacts of a group go together: found before there is room for the packs. */
typedef struct plan {
    const int (*trees)[2]; /* of each contact */
    int* lanes;            /* MOR_LANES for each pack: blocks, -1 for none */
    int count;
    int* taken; /* tree_count: the last pack that acts on it */
    int number; /* of the pack under way, unlike those of other groups */
} plan;

static bool of_six(const mor_step_form* f, const mor_block* b)
{
    if (b->dim != MOR_PACK_ROWS || b->entry_count < 1 || b->entry_count > 2) return false;
    for (int e = b->entry; e < b->entry + b->entry_count; e++)
        if (f->trees[f->entries[e].tree].dof != 6) return false;
    return true;
}

/* The trees of a contact, the one twice if it has one; -1: it goes alone. */
static void find_trees(const mor_step_form* f, int contact, int trees[2])
{
    const mor_block* b = &f->blocks[contact];
    trees[0] = trees[1] = -1;
    if (!of_six(f, b)) return;
    trees[0] = f->entries[b->entry].tree;
    trees[1] = f->entries[b->entry + b->entry_count - 1].tree;
}

/* 1/W_dd of the contacts in the lanes. */
static void fill_inverses(const mor_step_form* f, mor_pack* q)
{
    const mor_four zero = { 0, 0, 0, 0 };
    mor_four w[MOR_PACK_ROWS] = { zero, zero, zero };
    for (int lane = 0; lane < MOR_LANES; lane++) {
        if (q->block[lane] < 0) continue;
        const int dim = f->blocks[q->block[lane]].dim;
        const double* W = f->diagonal + f->diagonal_start[q->block[lane]];
        for (int d = 0; d < dim && d < MOR_PACK_ROWS; d++) w[d][lane] = W[d * (dim + 1)];
    }
    for (int d = 0; d < MOR_PACK_ROWS; d++) q->inverse[d] = MOR_FOUR_SELECT(w[d] > zero, 1.0 / w[d], zero);
}

/* Rows of four lanes, each in order, become vectors over the lanes. from: NULL for an empty lane. */
MOR_ALWAYS_INLINE void turn_rows(const double* const from[MOR_LANES], int count, mor_four* to)
{
    static const double zeros[6 * MOR_PACK_ROWS + 2];
    const double *a = from[0] ? from[0] : zeros, *b = from[1] ? from[1] : zeros;
    const double *c = from[2] ? from[2] : zeros, *d = from[3] ? from[3] : zeros;
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        const mor_four A = MOR_FOUR_AT(a + i), B = MOR_FOUR_AT(b + i), C = MOR_FOUR_AT(c + i), D = MOR_FOUR_AT(d + i);
        const mor_four s = __builtin_shufflevector(A, B, 0, 4, 2, 6), t = __builtin_shufflevector(A, B, 1, 5, 3, 7);
        const mor_four x = __builtin_shufflevector(C, D, 0, 4, 2, 6), y = __builtin_shufflevector(C, D, 1, 5, 3, 7);
        to[i] = __builtin_shufflevector(s, x, 0, 1, 4, 5);
        to[i + 1] = __builtin_shufflevector(t, y, 0, 1, 4, 5);
        to[i + 2] = __builtin_shufflevector(s, x, 2, 3, 6, 7);
        to[i + 3] = __builtin_shufflevector(t, y, 2, 3, 6, 7);
    }
    for (; i < count; i++) to[i] = (mor_four){ a[i], b[i], c[i], d[i] };
}

/* Coefficients of the contacts in the lanes of a pack. */
MOR_ALWAYS_INLINE void fill_lanes_body(const mor_packs* packs, int empty, mor_pack* q)
{
    const mor_step_form* f = packs->form;
    for (int e = 0; e < 2; e++) {
        const double *J[MOR_LANES], *Y[MOR_LANES];
        for (int lane = 0; lane < MOR_LANES; lane++) {
            const mor_block* b = q->block[lane] >= 0 ? &f->blocks[q->block[lane]] : NULL;
            bool acts = b && e < b->entry_count;
            const mor_entry* entry = acts ? &f->entries[b->entry + e] : NULL;
            J[lane] = acts ? f->jacobian + entry->start : NULL;
            Y[lane] = acts ? f->response + entry->start : NULL;
            q->at[e][lane] = acts ? packs->at[entry->tree] : empty;
        }
        turn_rows(J, 6 * MOR_PACK_ROWS, q->J[e]);
        turn_rows(Y, 6 * MOR_PACK_ROWS, q->Y[e]);
    }
}

MOR_WIDE_VOID(static, fill_lanes, (const mor_packs* packs, int empty, mor_pack* q), (packs, empty, q))

/* May this contact go into the pack under way? */
static bool fits(const plan* k, int block)
{
    const int* trees = k->trees[block];
    return k->taken[trees[0]] != k->number && k->taken[trees[1]] != k->number;
}

static int* next_lanes(plan* k)
{
    int* lanes = k->lanes + (size_t)MOR_LANES * (size_t)k->count++;
    for (int i = 0; i < MOR_LANES; i++) lanes[i] = -1;
    k->number++;
    return lanes;
}

/* The next pack from what waits. */
static void take_four(plan* k, window* w)
{
    int *lanes = next_lanes(k), lane = 0, left = 0;
    int i = 0;
    for (; i < w->waits && lane < MOR_LANES; i++) {
        int block = w->waiting[i];
        if (!fits(k, block)) {
            w->waiting[left++] = block;
            continue;
        }
        k->taken[k->trees[block][0]] = k->taken[k->trees[block][1]] = k->number;
        lanes[lane++] = block;
    }
    memmove(w->waiting + left, w->waiting + i, (size_t)(w->waits - i) * sizeof *w->waiting);
    w->waits += left - i;
}

/* ------------------------------------------------------------------------------------- groups */

/* All groups, in any order. */
static void run_groups(const mor_packs* packs, void (*task)(void*, int, int), void* user)
{
    if (packs->workers) mor_workers_run(packs->workers, packs->group_count, task, user);
    else
        for (int g = 0; g < packs->group_count; g++) task(user, g, 0);
}

typedef struct visit_run {
    const mor_packs* packs;
    mor_packs_visit visit;
    void* user;
    int first;
} visit_run;

static void visit_group(void* user, int index, int worker)
{
    (void)worker;
    const visit_run* k = user;
    int group = k->first + index;
    k->visit(k->user, k->packs->start[group], k->packs->start[group + 1]);
}

void mor_packs_sweep(const mor_packs* packs, mor_packs_visit visit, void* user)
{
    if (!packs->workers || packs->group_count == 1) {
        visit(user, 0, packs->count);
        return;
    }
    visit_run k = { packs, visit, user, 0 };
    mor_workers_run(packs->workers, packs->inner, visit_group, &k);
    k.first = packs->inner;
    mor_workers_run(packs->workers, packs->group_count - packs->inner, visit_group, &k);
}

void mor_packs_each(const mor_packs* packs, mor_packs_visit visit, void* user)
{
    visit_run k = { packs, visit, user, 0 };
    run_groups(packs, visit_group, &k);
}

/* ------------------------------------------------------------------------------------- making */

typedef struct maker {
    mor_packs* packs;
    mor_pack_groups groups;
    const bool* idle;
    int (*trees)[2]; /* of each contact */
    int* lanes;      /* of each group, from MOR_LANES times its first contact on */
    int* taken[2];   /* of groups of the two kinds, which share trees */
    int count[MOR_PACK_GROUPS];
} maker;

/* The contacts of a group by packs. */
static void plan_group(void* user, int group, int worker)
{
    (void)worker;
    maker* m = user;
    int begin = m->groups.start[group], end = m->groups.start[group + 1];
    plan k = { .trees = (const int(*)[2])m->trees,
               .lanes = m->lanes + (size_t)MOR_LANES * (size_t)begin,
               .taken = m->taken[group >= m->groups.inner],
               .number = begin };
    window windows[2]; /* of contacts that are likely to act, and of others */
    windows[0].waits = windows[1].waits = 0;
    for (int i = begin; i < end; i++) {
        int c = m->groups.order[i];
        find_trees(m->packs->form, c, m->trees[c]);
        if (m->trees[c][0] < 0) {
            next_lanes(&k)[0] = c;
            continue;
        }
        window* w = &windows[m->idle && m->idle[c]];
        w->waiting[w->waits++] = c;
        if (w->waits == MOR_PACK_WINDOW) take_four(&k, w);
    }
    for (int i = 0; i < 2; i++)
        while (windows[i].waits > 0) take_four(&k, &windows[i]);
    m->count[group] = k.count;
}

static void fill_pack(const mor_packs* packs, const int* lanes, bool alone, int empty, mor_pack* q)
{
    q->alone = alone;
    for (int lane = 0; lane < MOR_LANES; lane++) {
        q->block[lane] = lanes[lane];
        q->at[0][lane] = q->at[1][lane] = empty;
    }
    fill_inverses(packs->form, q);
    if (!q->alone) fill_lanes(packs, empty, q);
}

static void fill_group(void* user, int group, int worker)
{
    (void)worker;
    const maker* m = user;
    mor_packs* packs = m->packs;
    const int* lanes = m->lanes + (size_t)MOR_LANES * (size_t)m->groups.start[group];
    int empty = packs->room - EMPTY * (packs->group_count - group); /* its own, so that threads do not share it */
    for (int i = packs->start[group]; i < packs->start[group + 1]; i++, lanes += MOR_LANES)
        fill_pack(packs, lanes, m->trees[lanes[0]][0] < 0, empty, &packs->packs[i]);
}

bool mor_packs_make(mor_packs* packs, const mor_step_form* form, int contacts, const bool* idle,
                    struct mor_workers* workers, mor_arena* arena)
{
    *packs = (mor_packs){ .form = form, .workers = workers };
    size_t trees = (size_t)form->tree_count;
    maker m = { .packs = packs, .idle = idle };
    packs->at = mor_arena_alloc(arena, (trees + 1) * sizeof *packs->at);
    m.lanes = mor_arena_alloc(arena, (size_t)MOR_LANES * ((size_t)contacts + 1) * sizeof *m.lanes);
    m.taken[0] = mor_arena_zero(arena, 2 * trees + 1, sizeof *m.taken[0]);
    m.trees = mor_arena_alloc(arena, ((size_t)contacts + 1) * sizeof *m.trees);
    if (!packs->at || !m.lanes || !m.trees || !m.taken[0] || !mor_pack_groups_find(&m.groups, form, contacts, arena))
        return false;
    m.taken[1] = m.taken[0] + trees;
    packs->group_count = m.groups.count;
    packs->inner = m.groups.inner;
    for (int t = 0; t < form->tree_count; t++) {
        packs->at[t] = packs->room;
        packs->room += (form->trees[t].dof + 3) / 4 * 4;
    }
    packs->room += EMPTY * packs->group_count;
    run_groups(packs, plan_group, &m);
    for (int i = 0; i < packs->group_count; i++) packs->start[i + 1] = packs->start[i] + m.count[i];
    packs->count = packs->start[packs->group_count];
    packs->packs = mor_arena_alloc(arena, ((size_t)packs->count + 1) * sizeof *packs->packs);
    if (!packs->packs) return false;
    run_groups(packs, fill_group, &m);
    return true;
}

double* mor_packs_velocities(const mor_packs* packs, mor_arena* arena)
{
    return mor_arena_zero(arena, (size_t)packs->room, sizeof(double));
}

void mor_packs_spread(const mor_packs* packs, const double* nu, double* v)
{
    const mor_step_form* f = packs->form;
    for (int t = 0; t < f->tree_count; t++)
        memcpy(v + packs->at[t], nu + f->trees[t].offset, (size_t)f->trees[t].dof * sizeof *v);
}

void mor_packs_collect(const mor_packs* packs, const double* v, double* nu)
{
    const mor_step_form* f = packs->form;
    for (int t = 0; t < f->tree_count; t++)
        memcpy(nu + f->trees[t].offset, v + packs->at[t], (size_t)f->trees[t].dof * sizeof *v);
}

double mor_packs_row_speed(const mor_packs* packs, int block, int d, const double* v)
{
    const mor_step_form* f = packs->form;
    const mor_block* b = &f->blocks[block];
    double u = 0.0;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        int tree = f->entries[e].tree, dof = f->trees[tree].dof;
        u += mor_inner(dof, f->jacobian + f->entries[e].start + d * dof, v + packs->at[tree]);
    }
    return u;
}

void mor_packs_row_push(const mor_packs* packs, int block, int d, double p, double* v)
{
    const mor_step_form* f = packs->form;
    const mor_block* b = &f->blocks[block];
    if (p == 0.0) return;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        int tree = f->entries[e].tree, dof = f->trees[tree].dof;
        mor_subtract(dof, -p, f->response + f->entries[e].start + d * dof, v + packs->at[tree]);
    }
}
