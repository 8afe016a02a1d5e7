/* How contacts are put into packs (packs.h). */
#include "solver/packs.h"

#include <string.h>

enum { EMPTY = 8 }; /* numbers of the place that empty lanes act on */

/* Which contacts go together: found before there is room for the packs. */
typedef struct plan {
    const mor_step_form* form;
    int* lanes; /* MOR_LANES for each pack: blocks, -1 for none */
    int count;
    int* taken; /* tree_count: the last pack that acts on it, + 1 */
    int waiting[MOR_PACK_WINDOW];
    int waits;
} plan;

static bool of_six(const mor_step_form* f, const mor_block* b)
{
    if (b->dim != MOR_PACK_ROWS || b->entry_count < 1 || b->entry_count > 2) return false;
    for (int e = b->entry; e < b->entry + b->entry_count; e++)
        if (f->trees[f->entries[e].tree].dof != 6) return false;
    return true;
}

static void fill_inverse(const mor_step_form* f, int block, int lane, mor_pack* q)
{
    const mor_block* b = &f->blocks[block];
    const double* W = f->diagonal + f->diagonal_start[block];
    for (int d = 0; d < b->dim && d < MOR_PACK_ROWS; d++) {
        double w = W[d * (b->dim + 1)];
        q->inverse[d][lane] = w > 0.0 ? 1.0 / w : 0.0;
    }
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
MOR_ALWAYS_INLINE void fill_lanes_body(const mor_packs* packs, mor_pack* q)
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
            q->at[e][lane] = acts ? packs->at[entry->tree] : packs->room - EMPTY;
        }
        turn_rows(J, 6 * MOR_PACK_ROWS, q->J[e]);
        turn_rows(Y, 6 * MOR_PACK_ROWS, q->Y[e]);
    }
}

MOR_WIDE_VOID(static, fill_lanes, (const mor_packs* packs, mor_pack* q), (packs, q))

/* May this contact go into the pack under way? */
static bool fits(const plan* k, int block, int number)
{
    const mor_block* b = &k->form->blocks[block];
    for (int e = b->entry; e < b->entry + b->entry_count; e++)
        if (k->taken[k->form->entries[e].tree] == number) return false;
    return true;
}

static int* next_lanes(plan* k)
{
    int* lanes = k->lanes + (size_t)MOR_LANES * (size_t)k->count++;
    for (int i = 0; i < MOR_LANES; i++) lanes[i] = -1;
    return lanes;
}

/* The next pack from what waits. */
static void take_four(plan* k)
{
    int *lanes = next_lanes(k), lane = 0, left = 0;
    for (int i = 0; i < k->waits; i++) {
        int block = k->waiting[i];
        const mor_block* b = &k->form->blocks[block];
        if (lane == MOR_LANES || !fits(k, block, k->count)) {
            k->waiting[left++] = block;
            continue;
        }
        for (int e = b->entry; e < b->entry + b->entry_count; e++) k->taken[k->form->entries[e].tree] = k->count;
        lanes[lane++] = block;
    }
    k->waits = left;
}

/* The first `contacts` blocks by packs. False: out of memory. */
static bool make_plan(plan* k, const mor_step_form* form, int contacts, mor_arena* arena)
{
    *k = (plan){ .form = form };
    k->lanes = mor_arena_alloc(arena, (size_t)MOR_LANES * ((size_t)contacts + 1) * sizeof *k->lanes);
    k->taken = mor_arena_zero(arena, (size_t)form->tree_count + 1, sizeof *k->taken);
    if (!k->lanes || !k->taken) return false;
    for (int c = 0; c < contacts; c++) {
        if (!of_six(form, &form->blocks[c])) {
            next_lanes(k)[0] = c;
            continue;
        }
        k->waiting[k->waits++] = c;
        if (k->waits == MOR_PACK_WINDOW) take_four(k);
    }
    while (k->waits > 0) take_four(k);
    return true;
}

static void fill_pack(const mor_packs* packs, const int* lanes, mor_pack* q)
{
    q->alone = !of_six(packs->form, &packs->form->blocks[lanes[0]]);
    for (int d = 0; d < MOR_PACK_ROWS; d++) q->inverse[d] = (mor_four){ 0, 0, 0, 0 };
    for (int lane = 0; lane < MOR_LANES; lane++) {
        q->block[lane] = lanes[lane];
        q->at[0][lane] = q->at[1][lane] = packs->room - EMPTY;
        if (lanes[lane] >= 0) fill_inverse(packs->form, lanes[lane], lane, q);
    }
    if (!q->alone) fill_lanes(packs, q);
}

bool mor_packs_make(mor_packs* packs, const mor_step_form* form, int contacts, mor_arena* arena)
{
    *packs = (mor_packs){ .form = form };
    packs->at = mor_arena_alloc(arena, ((size_t)form->tree_count + 1) * sizeof *packs->at);
    plan k;
    if (!packs->at || !make_plan(&k, form, contacts, arena)) return false;
    for (int t = 0; t < form->tree_count; t++) {
        packs->at[t] = packs->room;
        packs->room += (form->trees[t].dof + 3) / 4 * 4;
    }
    packs->room += EMPTY;
    packs->count = k.count;
    packs->packs = mor_arena_alloc(arena, ((size_t)k.count + 1) * sizeof *packs->packs);
    if (!packs->packs) return false;
    for (int i = 0; i < k.count; i++) fill_pack(packs, k.lanes + (size_t)MOR_LANES * (size_t)i, &packs->packs[i]);
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
