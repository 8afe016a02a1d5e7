/* Mechanisms whose step is not passive by itself: bodies and robots with joints between them.
 *
 * Joints do no work in nature. Those of a step do some: the stabilisation adds to their rows, and bodies that turn far
 * within the step have another inertia at its end. For an island, before and after the step,
 *
 *     E = sum 1/2 nu' M nu - m g' x,     excess = E+ - E - (work of the position projection).
 *
 * Where contacts, limits or friction act, which can only take energy, an excess above SLIGHT of the kinetic energy is
 * taken out. Where nothing but joints acts, the step is RATTLE (stabilise.c): its energy goes up and down but not away,
 * by little where the step resolves the motion. Beyond SLIGHT, up or down, the energy is set to what it was: taking out
 * the ups alone would brake the mechanism. (What a start whose velocities do not fit the joints loses by the blow of
 * the first step is not given back.) The velocities are scaled,
 *
 *     nu <- nu_r + s (nu - nu_r),     s^2 = 1 - excess / (K+ - K_r),     s at most FASTER,
 *
 * with nu_r the rigid motion that has the momentum of the island: it keeps its linear and angular momentum. An island
 * that hangs on or touches something fixed has nu_r = 0, as has one with a robot in it. Rows of joints and of contacts
 * are homogeneous in nu, so the scaled velocities fit them as well.
 *
 * A step that lifted an island that is held by more than it has kinetic energy cannot be cured so: its bodies turned by
 * radians and opened their joints far. They stay where they were, at rest.
 *
 * What closing joints with damping (step/close_joints.c) added is taken out of the velocities, too, and what it took is
 * lost. Islands whose joints are too far open (formulation/wide.c) are never sped up. Of Baumgarte's stabilisation only
 * a gain above COARSE is taken out.
 *
 * Left alone: untouched mechanisms whose joints are not kept closed (stabilisation); islands that something drives
 * (applied forces, motors, belts, kinematic bodies), those with springs, whose energy is not that above, and impacts by
 * Newton's law, which do gain energy with friction. Cost: O(bodies). */
#include "step/mechanism_energy.h"

#include "base/elementary.h"
#include "formulation/equations.h"
#include "formulation/impact.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

#define SLIGHT 1e-7    /* of the kinetic energy: what a step may gain, a tenth of what counts as a gain */
#define COARSE 1e-3    /* the same of Baumgarte's, which gains and loses with the drift of its joints */
#define ROUNDING 1e-14 /* of the energies that are compared */
#define FITTING 1e-7   /* m/s: velocities of the start that fit the joints */
#define FASTER 1.05    /* next to rest little energy is much speed */

typedef struct energies {
    double kinetic, potential;
} energies;

typedef struct motion {
    double mass;
    mor_vec3 P, L, x; /* momentum, angular momentum about the origin, mass times position */
} motion;

static mor_mat3 world_inertia(const mor_world* w, const mor_body* b)
{
    mor_mat3 R = mor_quat_matrix(b->q);
    return w->dimension == 3 ? mor_mat3_rotate(&R, &b->mass.inertia) : mor_mat3_diag(1, 1, b->mass.inertia.m[2][2]);
}

static void add_body(const mor_world* w, const mor_body* b, motion* m)
{
    m->mass += b->mass.mass;
    m->P = mor_madd(m->P, b->mass.mass, b->v);
    m->x = mor_madd(m->x, b->mass.mass, b->x);
    mor_vec3 spin = w->dimension == 3 ? b->L : mor_v3(0, 0, b->mass.inertia.m[2][2] * b->w.z);
    m->L = mor_add(m->L, mor_add(spin, mor_scale(b->mass.mass, mor_cross(b->x, b->v))));
}

static motion motion_of(const mor_world* w, const mor_island* island)
{
    motion m = { 0 };
    for (int i = 0; i < island->system.tree_count; i++) {
        const mor_tree* t = &w->trees[island->tree_of[i]];
        if (t->body >= 0) add_body(w, &w->bodies[t->body], &m);
        for (int l = 0; t->robot && l < mor_robot_link_count(t->robot->model); l++)
            if (t->robot->bodies[l] >= 0) add_body(w, &w->bodies[t->robot->bodies[l]], &m);
    }
    return m;
}

static double height_energy(const mor_world* w, const mor_body* b) { return b->mass.mass * mor_dot(w->gravity, b->x); }

static energies energies_of(const mor_world* w, const mor_island* island)
{
    energies e = { 0 };
    for (int i = 0; i < island->system.tree_count; i++) {
        const mor_tree* t = &w->trees[island->tree_of[i]];
        if (t->body >= 0) {
            const mor_body* b = &w->bodies[t->body];
            double turning = w->dimension == 3 ? mor_dot(b->w, b->L) : b->mass.inertia.m[2][2] * b->w.z * b->w.z;
            e.potential -= height_energy(w, b);
            e.kinetic += 0.5 * (b->mass.mass * mor_dot(b->v, b->v) + turning);
        } else if (t->robot) {
            e.kinetic += mor_robot_kinetic_energy(t->robot->model, t->robot->work);
            for (int l = 0; l < mor_robot_link_count(t->robot->model); l++)
                if (t->robot->bodies[l] >= 0) e.potential -= height_energy(w, &w->bodies[t->robot->bodies[l]]);
        }
    }
    return e;
}

/* ------------------------------------------------------------------------------- which islands */

static int tree_of_slot(const mor_world* w, int slot) { return slot < 0 ? -1 : w->bodies[slot].tree; }

static bool zero(const double* x, int n)
{
    for (int i = 0; i < n; i++)
        if (x[i] != 0.0) return false;
    return true;
}

static bool tree_is_driven(const mor_world* w, int tree)
{
    const mor_tree* t = &w->trees[tree];
    if (t->kind == &mor_tree_spring) return true;
    if (t->body >= 0) {
        const mor_body* b = &w->bodies[t->body];
        return !zero(&b->force.x, 3) || !zero(&b->torque.x, 3) || mor_dot(b->surface_velocity, b->surface_velocity) > 0;
    }
    const mor_robot* r = t->robot;
    int n = mor_robot_joint_count(r->model);
    bool driven = !zero(r->tau, n) || !zero(r->gain, n);
    for (int l = 0; !driven && l < mor_robot_link_count(r->model); l++) {
        const mor_body* b = r->bodies[l] >= 0 ? &w->bodies[r->bodies[l]] : NULL;
        if (b) driven = mor_dot(b->force, b->force) + mor_dot(b->torque, b->torque) > 0.0;
    }
    return driven;
}

/* Is there anything in the island that may give it energy? */
static bool island_is_driven(const mor_step* k, const mor_island* island)
{
    const mor_world* w = k->w;
    for (int t = 0; t < island->system.tree_count; t++)
        if (tree_is_driven(w, island->tree_of[t])) return true;
    const mor_contact* contacts = k->contacts.data;
    for (int c = 0; c < island->system.contact_count; c++) {
        const mor_contact* own = &contacts[island->system.contacts[c].contact];
        if (!zero(island->system.contacts[c].drift, 3)) return true;
        if (own->restitution > 0.0 && mor_impact_law_at(own->impact) == &mor_impact_newton) return true;
    }
    for (int r = 0; r < island->row_block_count; r++)
        if (!zero(island->rows[r]->drift, island->rows[r]->dim)) return true;
    return false;
}

static bool in_island(const mor_island* island, int tree)
{
    for (int t = 0; tree >= 0 && t < island->system.tree_count; t++)
        if (island->tree_of[t] == tree) return true;
    return false;
}

/* Joints of the island with motors or springs. */
static bool joints_drive(const mor_world* w, const mor_island* island)
{
    const mor_joint* joints = w->joints.data;
    for (int j = 0; j < w->joints.count; j++) {
        if (!joints[j].def.motor && !(joints[j].def.stiffness > 0.0)) continue;
        for (int side = 0; side < 2; side++)
            if (in_island(island, tree_of_slot(w, joints[j].body[side]))) return true;
    }
    return false;
}

static bool has_equations(const mor_island* island)
{
    for (int r = 0; r < island->row_block_count; r++)
        if (island->rows[r]->joint >= 0) return true;
    return false;
}

/* Do contacts, limits or friction act? */
static bool is_touched(const mor_island* island)
{
    const mor_system* s = &island->system;
    for (int b = 0; b < s->block_count; b++)
        if (s->blocks[b].kind != MOR_BLOCK_EQUATION &&
            !zero(island->answer.impulses + s->blocks[b].row, s->blocks[b].dim))
            return true;
    return false;
}

/* What the step took because the velocities of its start did not fit the joints, as a blow takes it: r' W^-1 r/2 with
 * the rates r = G' nu of the rows. */
static double blow(const mor_step* k, const mor_island* island)
{
    const mor_system* s = &island->system;
    mor_step_form form = mor_system_form(s);
    size_t mark = mor_arena_mark(k->arena);
    double* r = mor_arena_zero(k->arena, (size_t)s->row_count, sizeof *r);
    double* p = mor_arena_zero(k->arena, (size_t)s->row_count, sizeof *p);
    double largest = 0.0, energy = 0.0;
    if (r && p) mor_step_rows_change(&form, s->nu, r);
    for (int b = s->contact_count; r && p && b < s->block_count; b++)
        for (int i = s->blocks[b].row;
             s->blocks[b].kind == MOR_BLOCK_EQUATION && i < s->blocks[b].row + s->blocks[b].dim; i++)
            largest = mor_max(largest, fabs(r[i]));
    if (!(largest > FITTING)) energy = 0.0;
    else if (!mor_equations_solve(&form, r, p, k->arena)) energy = INFINITY;
    else
        for (int i = 0; i < s->row_count; i++) energy += 0.5 * r[i] * p[i];
    mor_arena_release(k->arena, mark);
    return energy;
}

/* Does nothing take energy from it? */
static bool is_conservative(const mor_world* w, const mor_island* island)
{
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_robot* r = w->trees[island->tree_of[t]].robot;
        if (r && !zero(r->drag, mor_robot_joint_count(r->model))) return false;
    }
    const mor_joint* joints = w->joints.data;
    for (int j = 0; j < w->joints.count; j++) {
        if (!(joints[j].def.damping > 0.0)) continue;
        for (int side = 0; side < 2; side++)
            if (in_island(island, tree_of_slot(w, joints[j].body[side]))) return false;
    }
    return !is_touched(island);
}

/* Does it hang on, or touch, what does not move? Robots count as if they did. */
static bool is_held(const mor_step* k, const mor_island* island)
{
    const mor_world* w = k->w;
    const mor_joint* joints = w->joints.data;
    const mor_contact* contacts = k->contacts.data;
    for (int t = 0; t < island->system.tree_count; t++)
        if (w->trees[island->tree_of[t]].body < 0) return true;
    for (int r = 0; r < island->row_block_count; r++) {
        const mor_row_block* b = island->rows[r];
        for (int side = 0; b->joint >= 0 && side < 2; side++)
            if (tree_of_slot(w, joints[b->joint].body[side]) < 0) return true;
    }
    for (int c = 0; c < island->system.contact_count; c++)
        for (int side = 0; side < 2; side++)
            if (w->bodies[w->order[contacts[island->system.contacts[c].contact].body[side]]].tree < 0) return true;
    return false;
}

/* -------------------------------------------------------------------------------------- slowing */

/* The rigid motion with the momentum of the island: velocity at its centre, angular velocity; returns its energy. */
static double rigid_motion(const mor_world* w, const mor_island* island, const motion* m, mor_vec3* V, mor_vec3* W,
                           mor_vec3* centre)
{
    *centre = mor_scale(1.0 / m->mass, m->x);
    *V = mor_scale(1.0 / m->mass, m->P);
    mor_vec3 L = mor_sub(m->L, mor_cross(*centre, m->P));
    mor_mat3 I = mor_mat3_diag(0, 0, 0);
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_body* b = &w->bodies[w->trees[island->tree_of[t]].body];
        mor_vec3 r = mor_sub(b->x, *centre);
        mor_mat3 own = world_inertia(w, b);
        double square = mor_dot(r, r), at[3] = { r.x, r.y, r.z };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                I.m[i][j] += own.m[i][j] + b->mass.mass * ((i == j ? square : 0.0) - at[i] * at[j]);
    }
    mor_mat3 inverse = mor_mat3_inverse(&I);
    *W = mor_mul(&inverse, L);
    return 0.5 * (m->mass * mor_dot(*V, *V) + mor_dot(*W, L));
}

/* nu <- nu - less (nu - nu_r) */
static bool slow_down(mor_step* k, const mor_island* island, double less, mor_vec3 V, mor_vec3 W, mor_vec3 centre)
{
    mor_world* w = k->w;
    for (int i = 0; i < island->system.tree_count; i++) {
        const mor_tree* t = &w->trees[island->tree_of[i]];
        double six[6], *change = t->dof <= 6 ? six : mor_arena_alloc(k->arena, (size_t)t->dof * sizeof *change);
        if (!change) return false;
        if (t->body < 0) {
            for (int d = 0; d < t->dof; d++) change[d] = -less * t->robot->nu[d];
        } else {
            const mor_body* b = &w->bodies[t->body];
            mor_vec3 v = mor_scale(-less, mor_sub(b->v, mor_add(V, mor_cross(W, mor_sub(b->x, centre)))));
            mor_vec3 spin = mor_scale(-less, mor_sub(b->w, W));
            int flat = w->dimension == 2;
            change[0] = v.x, change[1] = v.y, change[2] = flat ? spin.z : v.z;
            if (!flat) change[3] = spin.x, change[4] = spin.y, change[5] = spin.z;
        }
        t->kind->correct(w, t, change, true);
    }
    return true;
}

/* The scale s for an island to lose `excess`. */
static double scale_for(double excess, double inner)
{
    return mor_min(FASTER, sqrt(mor_max(0.0, 1.0 - excess / inner)));
}

void mor_island_energy(const mor_world* w, const mor_island* island, double* kinetic, double* potential)
{
    const energies e = energies_of(w, island);
    *kinetic = e.kinetic;
    *potential = e.potential;
}

void mor_mechanisms_begin(const mor_step* k)
{
    for (int i = 0; k->w->joints.count && i < k->island_count; i++) {
        if (!has_equations(&k->islands[i])) continue;
        const energies e = energies_of(k->w, &k->islands[i]);
        k->islands[i].energy = e.kinetic + e.potential;
        k->islands[i].kinetic = e.kinetic;
        for (int t = 0; t < k->islands[i].system.tree_count; t++) k->w->trees[k->islands[i].tree_of[t]].lifted = 0.0;
    }
}

/* What closing joints with damping added to the energy of an island. */
static double lifted_by_joints(const mor_world* w, const mor_island* island)
{
    double sum = 0.0;
    for (int t = 0; t < island->system.tree_count; t++) sum += w->trees[island->tree_of[t]].lifted;
    return sum;
}

/* The bodies of an island to where they were when the step began; what that takes back of a projection that lifted them
 * was no work. */
static void put_back(const mor_world* world, mor_step* k, const mor_island* island, double potential)
{
    mor_world* w = k->w;
    for (int i = 0; i < island->system.tree_count; i++) {
        const mor_tree* t = &w->trees[island->tree_of[i]];
        const int links = t->robot ? mor_robot_link_count(t->robot->model) : 1;
        for (int l = 0; l < links; l++) {
            const int body = t->robot ? t->robot->bodies[l] : t->body;
            if (body < 0) continue;
            mor_body* to = &w->bodies[body];
            const mor_body* from = &world->bodies[body];
            to->x = from->x, to->q = from->q, to->angle = from->angle;
        }
        for (int r = 0; t->robot && r < w->robot_count; r++) {
            if (w->robots[r] != t->robot) continue;
            const mor_robot* from = world->robots[r];
            t->robot->base = from->base;
            memcpy(t->robot->s, from->s, (size_t)mor_robot_joint_count(from->model) * sizeof(double));
            mor_robot_update(t->robot->model, t->robot->work, &t->robot->base, t->robot->s, t->robot->nu);
        }
    }
    const double down = energies_of(w, island).potential - potential;
    if (down < 0.0 && k->projection_work > 0.0) k->projection_work = mor_max(0.0, k->projection_work + down);
}

/* Scales the velocities of an island so that `left` J of kinetic energy are left. Where the motion against the rigid
 * one is too little for it, the rigid turning is scaled as well: its angular momentum is not kept then. An energy of
 * many times what is left is known by its rounding only, so it is done twice. False: out of memory. */
static bool take_out(mor_step* k, const mor_island* island, bool held, double left)
{
    for (int round = 0; round < 2; round++) {
        const double kinetic = energies_of(k->w, island).kinetic, excess = kinetic - left;
        const motion now = motion_of(k->w, island);
        mor_vec3 V = mor_v3(0, 0, 0), W = V, centre = V;
        double rigid = held ? 0.0 : rigid_motion(k->w, island, &now, &V, &W, &centre);
        if (round && !(excess > SLIGHT * kinetic)) return true;
        if (!held && excess > kinetic - rigid) {
            W = mor_v3(0, 0, 0);
            rigid = 0.5 * now.mass * mor_dot(V, V);
        }
        const double inner = kinetic - rigid;
        if (!(inner > 0.0)) return true;
        if (!slow_down(k, island, 1.0 - scale_for(excess, inner), V, W, centre)) return false;
    }
    return true;
}

mor_code mor_mechanisms_lose_energy(const mor_world* world, mor_step* k)
{
    if (k->w->joints.count == 0) return MOR_OK;
    int how = k->w->options.stabilisation;
    bool closed = how == MOR_STABILISE_IMPULSE || how == MOR_STABILISE_PROJECTION;
    for (int i = 0; i < k->rough; i++) {
        const mor_island* island = &k->islands[i];
        if (!has_equations(island)) continue;
        const energies after = energies_of(k->w, island);
        double lifted = lifted_by_joints(k->w, island), may = island->energy + mor_min(0.0, lifted);
        if (!island->wide) may += mor_max(0.0, k->projection_work - mor_max(0.0, lifted));
        double excess = after.kinetic + after.potential - may;
        double rounding = ROUNDING * (fabs(after.potential) + after.kinetic);
        if (!(fabs(excess) > SLIGHT * after.kinetic + rounding)) continue;
        if (!is_touched(island) && !closed && !island->wide) {
            if (how != MOR_STABILISE_BAUMGARTE || !(excess > COARSE * after.kinetic)) continue;
        }
        if (island_is_driven(k, island) || joints_drive(k->w, island)) continue;
        if (excess < 0.0) {
            if (island->wide) continue;
            if (!is_conservative(k->w, island)) continue;
            excess -= mor_min(0.0, k->projection_work); /* what bodies that were let down lost is not given back */
            excess = mor_min(0.0, excess + blow(k, island));
            if (!(-excess > SLIGHT * after.kinetic + rounding)) continue;
        }
        const bool held = is_held(k, island);
        double left = excess > 0.0 ? may - after.potential : after.kinetic - excess;
        if (held && -left > SLIGHT * mor_min(after.kinetic, island->kinetic) + ROUNDING * fabs(after.potential))
            put_back(world, k, island, after.potential), left = 0.0;
        if (!take_out(k, island, held, left)) return MOR_SYSTEM;
        k->cured++;
    }
    return MOR_OK;
}
