/* Undoing an overlap in the positions (step/project.c) lifts bodies. Before the first step that is work done by whoever
 * put them there. In a later step it is not: the step itself let them into each other, by the linearisation of its
 * gaps. So a step as a whole may not rise by it.
 *
 *     net = E+ - E - (work of applied forces and belts),     projection_work = max(0, min(work, net))
 *
 * of the whole scene; what bodies were let down by stays below zero. Most steps with contacts lose more than their
 * projection adds, and net is below zero. What is left is taken out of the kinetic energy of the
 * islands that were lifted: with the lift V_i and the kinetic energy K_i of an island in each pass, its velocities are
 * scaled by
 *
 *     s_i^2 = 1 - (net/work) sum V_i/K_i,     s_i >= 0.
 *
 * Rows of contacts and joints with what does not move are homogeneous in the velocities, so they hold afterwards as
 * well; and only what touches something fixed is lifted, as two bodies that fall are moved apart about their common
 * centre of mass. What has no velocity to lose remains projection_work. Bodies that turn far in a step that is too long
 * for them, and have little velocity, are lifted so: where that is more than LIFT of the weight times the size, the
 * step is taken in parts, if it may be (step/step.c). */
#include "step/projection_energy.h"

#include "base/elementary.h"
#include "formulation/assemble.h"

#define SLIGHT 1e-9    /* of the kinetic energy: less is left alone */
#define LIFT 1e-4      /* of the weight of all times the size of what touches: ten such steps are allowed to a run */
#define ROUNDING 1e-14 /* of the energies that are compared */

void mor_projection_energy_begin(const mor_step* k)
{
    for (int i = 0; i < k->w->tree_count; i++) k->w->trees[i].raised = 0.0;
}

void mor_projection_energy_add(mor_world* w, const mor_island* island, double kinetic, double work)
{
    if (!(work > 0.0)) return;
    const double part = work < kinetic ? work / kinetic : 1.0;
    for (int t = 0; t < island->system.tree_count; t++) w->trees[island->tree_of[t]].raised += part;
}

/* Scales the velocities of a tree by sqrt(1 - part); false: out of memory. */
static bool slow_tree(mor_step* k, const mor_tree* t, double part)
{
    const mor_robot* r = t->robot;
    const mor_body* b = t->body >= 0 ? &k->w->bodies[t->body] : NULL;
    const double less = 1.0 - sqrt(mor_max(0.0, 1.0 - part));
    double six[6], *change = t->dof <= 6 ? six : mor_arena_alloc(k->arena, (size_t)t->dof * sizeof *change);
    if (!change) return false;
    if (r) {
        for (int d = 0; d < t->dof; d++) change[d] = -less * r->nu[d];
    } else if (b) {
        const double v[6] = { b->v.x, b->v.y, b->v.z, b->w.x, b->w.y, b->w.z };
        const bool flat = k->w->dimension == 2;
        for (int d = 0; d < t->dof; d++) change[d] = -less * (flat && d == 2 ? v[5] : v[d]);
    } else {
        return true;
    }
    t->kind->correct(k->w, t, change, true);
    return true;
}

/* Of all that moves, and of the largest shape that touches. */
static double weight_times_size(const mor_step* k)
{
    const mor_world* w = k->w;
    const mor_contact* c = k->ahead.data;
    double mass = 0.0, size = 0.0;
    for (int i = 0; i < w->alive_count; i++)
        if (w->bodies[w->order[i]].tree >= 0) mass += w->bodies[w->order[i]].mass.mass;
    for (int i = 0; i < k->ahead.count; i++) size = mor_max(size, mor_contact_size(w, &c[i]));
    return mass * mor_norm(w->gravity) * size;
}

mor_code mor_projection_energy_end(const mor_world* start, mor_step* k)
{
    k->lifts = false;
    const double first = start->step == 0 ? start->start_work : 0.0, work = k->projection_work - first;
    if (!(work > 0.0)) return MOR_OK;
    mor_world* w = k->w;
    const double kinetic = mor_world_kinetic_energy(w), potential = mor_world_potential_energy(w);
    const double before = mor_world_kinetic_energy(start) + mor_world_potential_energy(start);
    const double driven = k->applied_work + k->contact_work;
    const double net = mor_min(work, mor_max(0.0, kinetic + potential - before - driven));
    k->projection_work = first + net;
    if (!(net > SLIGHT * kinetic + ROUNDING * (fabs(potential) + kinetic))) return MOR_OK;
    const size_t mark = mor_arena_mark(k->arena);
    mor_code code = MOR_OK;
    for (int i = 0; i < w->tree_count && !code; i++)
        if (w->trees[i].raised > 0.0 && !slow_tree(k, &w->trees[i], net / work * w->trees[i].raised)) code = MOR_SYSTEM;
    mor_arena_release(k->arena, mark);
    const double taken = kinetic - mor_world_kinetic_energy(w);
    k->projection_work = first + mor_max(0.0, net - taken);
    k->lifts = k->projected && !w->formulation->accelerations && net - taken > LIFT * weight_times_size(k);
    k->cured += taken > 0.0;
    return code;
}
