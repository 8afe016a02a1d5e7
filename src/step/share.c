/* Islands whose positions move with a share of the end velocity take the rest back of what equations gave it
 * (formulation/springs.c). */
#include "base/arena.h"
#include "linalg/rows.h"
#include "step/stabilise.h"

#include <string.h>

/* What the equations of an island gave its velocities. False: there are none. */
static bool given(const mor_step* k, const mor_island* island, double* out)
{
    const mor_system* s = &island->system;
    bool any = false, others = k->w->on_solve != NULL;
    for (int b = 0; b < s->block_count; b++)
        if (s->blocks[b].kind == MOR_BLOCK_EQUATION) any = true;
        else others = true;
    if (!any) return false;
    if (!others) { /* all that anything gave */
        for (int i = 0; i < s->dof; i++) out[i] = island->answer.nu[i] - s->nu_free[i];
        return true;
    }
    memset(out, 0, (size_t)s->dof * sizeof *out);
    for (int b = s->contact_count; b < s->block_count; b++) {
        const mor_block* block = &s->blocks[b];
        for (int e = block->entry; block->kind == MOR_BLOCK_EQUATION && e < block->entry + block->entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            mor_push(block->dim, t->dof, s->response + s->entries[e].start, island->answer.impulses + block->row,
                     out + t->offset);
        }
    }
    return true;
}

mor_code mor_take_back_share(const mor_step* k)
{
    for (int i = 0; i < k->island_count; i++) {
        const mor_island* island = &k->islands[i];
        const mor_system* s = &island->system;
        double rest = 1.0 - k->w->trees[island->tree_of[0]].share;
        if (!(rest > 0.0)) continue;
        size_t mark = mor_arena_mark(k->arena);
        double* delta = mor_arena_take(k->arena, (size_t)s->dof * sizeof *delta);
        if (!delta) return MOR_SYSTEM;
        const bool any = given(k, island, delta);
        for (int d = 0; any && d < s->dof; d++) delta[d] *= -rest;
        for (int t = 0; any && t < s->tree_count; t++) {
            const mor_tree* tree = &k->w->trees[island->tree_of[t]];
            tree->kind->correct(k->w, tree, delta + s->trees[t].offset, true);
        }
        mor_arena_release(k->arena, mark);
    }
    return MOR_OK;
}
