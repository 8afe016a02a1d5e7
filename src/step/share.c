/* Islands whose positions move with a share of the end velocity take the rest back of what equations gave it
 * (formulation/springs.c). */
#include "linalg/rows.h"
#include "step/stabilise.h"

mor_code mor_take_back_share(const mor_step* k)
{
    for (int i = 0; i < k->island_count; i++) {
        const mor_island* island = &k->islands[i];
        const mor_system* s = &island->system;
        double rest = 1.0 - k->w->trees[island->tree_of[0]].share;
        if (!(rest > 0.0)) continue;
        size_t mark = mor_arena_mark(k->arena);
        double* delta = mor_arena_zero(k->arena, (size_t)s->dof, sizeof *delta);
        if (!delta) return MOR_SYSTEM;
        bool any = false;
        for (int b = s->contact_count; b < s->block_count; b++) {
            const mor_block* block = &s->blocks[b];
            if (block->kind != MOR_BLOCK_EQUATION) continue;
            any = true;
            double back[6];
            for (int d = 0; d < block->dim; d++) back[d] = -rest * island->answer.impulses[block->row + d];
            for (int e = block->entry; e < block->entry + block->entry_count; e++) {
                const mor_tree_block* t = &s->trees[s->entries[e].tree];
                mor_push(block->dim, t->dof, s->response + s->entries[e].start, back, delta + t->offset);
            }
        }
        for (int t = 0; any && t < s->tree_count; t++) {
            const mor_tree* tree = &k->w->trees[island->tree_of[t]];
            tree->kind->correct(k->w, tree, delta + s->trees[t].offset, true);
        }
        mor_arena_release(k->arena, mark);
    }
    return MOR_OK;
}
