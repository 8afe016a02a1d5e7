/* The stages `integrate` and `stabilise`: from the answers to the state at the end of the step, in the draft.
 *
 * Trees in smooth motion take the chosen integrator (smooth_step.c), all others the step of their kind (model/tree.c,
 * model/robot_motion.c); a formulation may then project the positions. */
#include "base/elementary.h"
#include "model/each_tree.h"
#include "step/mechanism_energy.h"
#include "step/robot_energy.h"
#include "step/events.h"
#include "step/smooth.h"
#include "step/stabilise.h"
#include "step/stages.h"

/* Trees in smooth motion have been moved by the integrator. */
static bool is_moved(const mor_step* k, int tree) { return k->plan.smooth && k->plan.smooth[tree]; }

static void advance_tree(mor_step* k, int tree)
{
    const mor_tree* t = &k->w->trees[tree];
    if (is_moved(k, tree)) return;
    t->kind->advance(k->w, t, k->nu_free + t->offset, k->nu_new + t->offset, k->mass + k->mass_start[tree]);
}

/* Positions by the velocities of the start of the step, then the new velocities. */
static void explicit_euler(mor_step* k, int tree)
{
    mor_world* w = k->w;
    const mor_tree* t = &w->trees[tree];
    if (is_moved(k, tree)) return;
    double *from = k->nu + t->offset, *change = k->nu_new + t->offset;
    t->kind->advance(w, t, from, from, k->mass + k->mass_start[tree]);
    for (int i = 0; i < t->dof; i++) change[i] -= from[i];
    t->kind->correct(w, t, change, true);
    for (int i = 0; i < t->dof; i++) change[i] += from[i];
}

/* Which velocities positions move with: those of the answers or, of bodies that nothing touches, the mean ones. */
static void set_moves(mor_step* k)
{
    mor_world* w = k->w;
    for (int i = 0; i < w->tree_count; i++) {
        mor_tree* t = &w->trees[i];
        double* move = k->nu_move ? k->nu_move + t->offset : NULL;
        bool single = t->kind == &mor_tree_particle || t->kind == &mor_tree_planar || t->kind == &mor_tree_free;
        t->move = single && move && t->share == 1.0 ? move : NULL;
        if (!t->move || !isnan(move[0])) continue;
        const double *from = k->nu + t->offset, *to = k->nu_new + t->offset;
        for (int d = 0; d < t->dof; d++) move[d] = 0.5 * (from[d] + to[d]);
    }
}

void mor_integrate_bodies(mor_step* k)
{
    mor_world* w = k->w;
    set_moves(k);
    if (w->on_integrate) {
        w->on_integrate(w->on_integrate_data, w);
    } else {
        bool old = w->formulation->explicit_positions && w->formulation->explicit_positions(w->formulation_options);
        mor_step_each_tree(k, old ? explicit_euler : advance_tree);
    }
    for (int i = 0; mor_world_kinematic(w) && i < w->alive_count; i++) {
        mor_body* b = &w->bodies[w->order[i]];
        if (b->kind != MOR_KINEMATIC) continue;
        b->x = mor_madd(b->x, w->h, b->v);
        b->angle += w->h * b->w.z;
        b->q = w->dimension == 2 ? mor_quat_exp(mor_v3(0, 0, b->angle))
                                 : mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(w->h, b->w)), b->q));
    }
}

/* Work of the applied forces, with the velocities of the end of the step or, in smooth motion, the mean ones. */
static double applied_work(const mor_step* k)
{
    const mor_world* w = k->w;
    double sum = 0.0;
    for (int i = 0; i < w->robot_count; i++) { /* f' nu, with the forces on links and joints gathered by the assembly */
        const mor_robot* r = w->robots[i];
        const double* nu = k->nu_new + w->trees[r->tree].offset;
        int n = mor_robot_joint_count(r->model), offset = w->trees[r->tree].dof - n;
        for (int d = 0; d < w->trees[r->tree].dof; d++) sum += w->h * r->force[d] * nu[d];
        for (int j = 0; j < n; j++) sum -= w->h * r->gain[j] * (nu[offset + j] - r->nu[offset + j]) * nu[offset + j];
    }
    for (int i = 0; i < w->tree_count; i++) {
        if (w->trees[i].body < 0) continue;
        const mor_body* b = &w->bodies[w->trees[i].body];
        const double* nu = w->trees[i].move ? w->trees[i].move : k->nu_new + w->trees[i].offset;
        mor_vec3 v = mor_v3(nu[0], nu[1], w->dimension == 3 ? nu[2] : 0.0);
        mor_vec3 omega =
            w->dimension == 3 ? mor_v3(nu[3], nu[4], nu[5]) : mor_v3(0, 0, w->trees[i].dof == 3 ? nu[2] : 0.0);
        sum += w->h * (mor_dot(b->force, v) + mor_dot(b->torque, omega));
    }
    return sum;
}

/* Methods that work on positions move bodies beyond their velocities. */
static void shift_positions(mor_step* k)
{
    mor_world* w = k->w;
    bool moved = false;
    double before = 0.0;
    for (int i = 0; i < k->island_count; i++) {
        const mor_system* s = &k->islands[i].system;
        const double* shift = k->islands[i].answer.shift;
        for (int t = 0; shift && t < s->tree_count; t++) {
            bool any = false;
            for (int d = 0; d < s->trees[t].dof; d++) any = any || shift[s->trees[t].offset + d] != 0.0;
            if (!any) continue;
            if (!moved) before = mor_world_potential_energy(w), moved = true;
            k->projection_work += mor_tree_move(w, &w->trees[k->islands[i].tree_of[t]], shift + s->trees[t].offset);
        }
    }
    if (moved) k->projection_work += mor_world_potential_energy(w) - before;
}

mor_code mor_do_integrate(const mor_world* world, mor_step* k, mor_error* error)
{
    (void)world;
    mor_world* w = k->w;
    if (w->integrator == &mor_integrator_event_driven) { /* it makes nothing of the answers */
        mor_code events = mor_event_driven_step(k);
        return events == MOR_STOPPED ? mor_step_not_taken(k, error) : events;
    }
    if (!k->usable) return mor_step_not_taken(k, error);
    mor_mechanisms_begin(k);
    mor_status status;
    mor_code code = mor_smooth_step(k, &status);
    if (code) {
        k->status = status;
        k->usable = false;
        return code == MOR_STOPPED ? mor_step_not_taken(k, error) : code;
    }
    set_moves(k);
    k->applied_work = applied_work(k);
    if (!mor_trial_take(k)) mor_integrate_bodies(k);
    if (!w->on_integrate) shift_positions(k);
    if (w->formulation->project && !w->on_integrate)
        k->raw_penetration =
            mor_max(k->raw_penetration, w->formulation->project(k, w->formulation_options, &k->projection_work));
    for (int i = 0; k->struck && i < w->body_count; i++) w->bodies[i].struck = false;
    w->step++;
    w->time = w->time_base + w->h * (w->step - w->step_base); /* no sum of rounding over long runs */
    return MOR_OK;
}

mor_code mor_do_stabilise(const mor_world* world, mor_step* k, mor_error* error)
{
    (void)error;
    if (k->rough || !k->plan.smooth) {
        mor_code code = mor_stabilise_velocities(k);
        if (!code && k->w->robot_count > 0 && !k->w->on_integrate) mor_robots_lose_energy(k);
        return code || k->w->on_integrate ? code : mor_mechanisms_lose_energy(world, k);
    }
    k->w->joint_error = mor_world_joint_error(k->w);
    return MOR_OK;
}
