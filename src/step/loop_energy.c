/* Robots whose loops are closed by equations, with contacts, limits or friction in the same island.
 *
 * The equations of a loop do no work in nature. Those of a step do some, p_e . G_e'(q) nu+ with what the stabilisation
 * added to the rows, and M of the start is not that of the end: a leg that swings with its loop closed while a foot
 * stands gained 1e-5 of its energy in every step. With E the energy of the robot,
 *
 *     E+ <= E + W - W_e,     W: work of all impulses but gravity's,   W_e: of the equations,
 *
 * both at the velocity of the end, where contacts and friction cannot bring energy in. What is more is taken out of the
 * velocities of the joints, in such a way that loops stay closed and the momentum stays what it is.
 *
 * Islands with equations only are left alone: the stabilisation is RATTLE there, whose energy goes up and down but not
 * away. Equations between two trees have no energy of one tree: such trees are left alone, too. */
#include "step/loop_energy.h"

#include "model/robot_motion.h"

/* Adds the work of the equations on a tree. False: they act on other trees too, or nothing but equations acts. */
static bool equation_work(const mor_island* island, int tree, double* work)
{
    const mor_system* s = &island->system;
    const mor_tree_block* t = &s->trees[tree];
    const double* nu = island->answer.nu + t->offset;
    bool others = s->contact_count > 0;
    for (int b = 0; b < s->block_count; b++) {
        const mor_block* block = &s->blocks[b];
        bool mine = false;
        for (int e = block->entry; e < block->entry + block->entry_count; e++)
            mine = mine || s->entries[e].tree == tree;
        if (block->kind != MOR_BLOCK_EQUATION) others = others || mine;
        if (block->kind != MOR_BLOCK_EQUATION || !mine) continue;
        if (block->entry_count != 1) return false;
        for (int d = 0; d < block->dim; d++) {
            const double* J = s->jacobian + s->entries[block->entry].start + d * t->dof;
            for (int m = 0; m < t->dof; m++) *work += island->answer.impulses[block->row + d] * J[m] * nu[m];
        }
    }
    return others;
}

void mor_loops_lose_energy(const mor_step* k)
{
    mor_world* w = k->w;
    for (int i = 0; i < k->island_count; i++) {
        const mor_island* island = &k->islands[i];
        for (int t = 0; t < island->system.tree_count; t++) {
            const mor_tree* tree = &w->trees[island->tree_of[t]];
            if (tree->kind != &mor_tree_robot || !tree->robot->looped) continue;
            double work = 0.0;
            mor_robot* r = tree->robot;
            if (!equation_work(island, t, &work)) continue;
            mor_robot_lose_energy(w, r, r->energy - work);
            mor_robot_write_bodies(w, r);
        }
    }
}
