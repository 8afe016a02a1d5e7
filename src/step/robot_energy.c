/* Robots whose step is not passive by itself: those with loops that equations close, where contacts, limits or friction
 * act as well, and all where contacts are held by their accelerations (`gauss`).
 *
 * Loops. The equations of a loop do no work in nature. Those of a step do some, p_e . G_e'(q) nu+ with what the
 * stabilisation added to the rows, and M of the start is not that of the end: a leg that swings with its loop closed
 * while a foot stands gained 1e-5 of its energy in every step.
 *
 * Contacts held by accelerations, G' nu+ = -h dG'/dt nu, leave a velocity that their impulses may push along; a contact
 * with something that does not move cannot bring energy in.
 *
 * With E the energy of the robot,
 *
 *     E+ <= E + W - W_e - sum_c max(0, W_c),     W: work of all impulses but gravity's,  W_e: of the equations,
 *                                                W_c: of a contact with something fixed
 *
 * all at the velocity of the end. What a projection of the formulation added or took counts as well. What is more is
 * taken out of the velocities of the joints, in such a way that loops stay closed and the momentum stays what it is.
 *
 * Islands with equations only are left alone: the stabilisation is RATTLE there, whose energy goes up and down but not
 * away. Equations between two trees have no energy of one tree: such trees are left alone, too. */
#include "step/robot_energy.h"

#include "base/elementary.h"
#include "model/robot_motion.h"

/* p . G' nu of the rows of a block on one tree. */
static double block_work(const mor_island* island, const mor_block* block)
{
    const mor_system* s = &island->system;
    const mor_entry* e = &s->entries[block->entry];
    const mor_tree_block* t = &s->trees[e->tree];
    const double* nu = island->answer.nu + t->offset;
    double work = 0.0;
    for (int d = 0; d < block->dim; d++)
        for (int m = 0; m < t->dof; m++)
            work += island->answer.impulses[block->row + d] * s->jacobian[e->start + d * t->dof + m] * nu[m];
    return work;
}

/* Work that must not have been done on a tree. False: equations act on other trees too, or nothing but equations
 * acts. */
static bool false_work(const mor_island* island, int tree, bool held, double* work)
{
    const mor_system* s = &island->system;
    bool others = false;
    for (int b = 0; b < s->block_count; b++) {
        const mor_block* block = &s->blocks[b];
        bool mine = false, alone = block->entry_count == 1, contact = block->kind == MOR_BLOCK_CONTACT;
        for (int e = block->entry; e < block->entry + block->entry_count; e++)
            mine = mine || s->entries[e].tree == tree;
        if (!mine) continue;
        if (block->kind == MOR_BLOCK_EQUATION) {
            if (!alone) return false;
            *work += block_work(island, block);
            continue;
        }
        others = true;
        const double* drift = contact ? s->contacts[b].drift : NULL; /* contacts come first, in their order */
        if (held && contact && alone && drift[0] == 0.0 && drift[1] == 0.0 && drift[2] == 0.0)
            *work += mor_max(0.0, block_work(island, block));
    }
    return others;
}

void mor_robots_lose_energy(mor_step* k)
{
    mor_world* w = k->w;
    bool held = w->formulation->accelerations && !w->formulation->overlaps(w->formulation_options);
    for (int i = 0; i < k->island_count; i++) {
        const mor_island* island = &k->islands[i];
        for (int t = 0; t < island->system.tree_count; t++) {
            const mor_tree* tree = &w->trees[island->tree_of[t]];
            if (tree->kind != &mor_tree_robot || !(tree->robot->looped || held)) continue;
            double work = 0.0;
            mor_robot* r = tree->robot;
            if (!false_work(island, t, held, &work)) continue;
            if (!mor_robot_lose_energy(w, r, r->energy - work + r->projected)) continue;
            k->cured++;
            mor_robot_write_bodies(w, r);
        }
    }
}
