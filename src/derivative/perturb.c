/* Moves the draft of a step by a little along one direction: the state, a force, a parameter (look.h). */
#include "base/elementary.h"
#include "derivative/look.h"
#include "moreau/control.h"

#include <string.h>

/* Differences are taken over this part of a length or an angle: curvature leaves twelve digits, rounding ten. */
#define LITTLE 1e-6

static double size_of(const mor_body* b)
{
    double size = 0.0;
    for (int i = 0; i < b->shape_count; i++) {
        mor_pose own = { .rotation = { 1, 0, 0, 0 } };
        mor_aabb box = mor_geometry_bounds(b->shapes[i].geometry, &own);
        double diagonal = mor_norm(mor_sub(box.upper, box.lower));
        if (isfinite(diagonal)) size = mor_max(size, diagonal);
    }
    return size > 0.0 ? size : 1.0;
}

static const mor_body* input_body(const mor_derivation* d, const mor_input* in)
{
    return &d->world->bodies[d->world->order[in->index]];
}

double* mor_input_gain(const mor_world* w, const mor_input* in)
{
    const mor_controller_def* def = mor_world_controller(w, in->index);
    const double* of = in->kind == MOR_INPUT_KP   ? def->kp
                       : in->kind == MOR_INPUT_KI ? def->ki
                       : in->kind == MOR_INPUT_KD ? def->kd
                                                  : def->target;
    return of ? (double*)of + in->component : NULL; /* the world owns its copy */
}

double mor_perturbation(const mor_derivation* d, int direction)
{
    if (direction < 2 * d->n) {
        int k = direction % d->n;
        const mor_tree* t = &d->world->trees[d->tree[k]];
        bool velocity = direction >= d->n;
        if (t->robot || t->body < 0) return velocity ? 1e-6 : LITTLE;
        double size = mor_min(1.0, size_of(&d->world->bodies[t->body]));
        bool turn = d->part[k] >= (d->world->dimension == 3 ? 3 : 2);
        return velocity ? 1e-6 : turn ? LITTLE : LITTLE * size;
    }
    const mor_input* in = &d->inputs[direction - 2 * d->n];
    switch (in->kind) {
    case MOR_INPUT_MASS:
        return 1e-5 * input_body(d, in)->mass.mass; /* velocities of 10 m/s are known to 1e-15 */
    case MOR_INPUT_SIZE:
        return LITTLE;
    case MOR_INPUT_FORCE:
        return 1e-5 * input_body(d, in)->mass.mass;
    case MOR_INPUT_KP:
    case MOR_INPUT_KI:
    case MOR_INPUT_KD:
        return 1e-4 * mor_max(1.0, fabs(*mor_input_gain(d->world, in))); /* forces are linear in it */
    case MOR_INPUT_GRAVITY:
    case MOR_INPUT_JOINT_FORCE:
        return 1e-4; /* velocities are linear in it */
    default:
        return 1e-6;
    }
}

/* A body of its own: positions move and the angular velocity stays. */
static void move_body(mor_world* w, const mor_tree* t, const double* delta, bool velocity)
{
    mor_body* b = &w->bodies[t->body];
    mor_vec3 omega = b->w;
    t->kind->correct(w, t, delta, velocity);
    if (velocity || t->kind != &mor_tree_free) return;
    mor_mat3 R = mor_quat_matrix(b->q), I = mor_mat3_rotate(&R, &b->mass.inertia);
    b->w = omega;
    b->L = mor_mul(&I, b->w);
}

static bool move_state(mor_derivation* d, int direction, double amount)
{
    mor_world* w = d->trial->w;
    int k = direction % d->n;
    const mor_tree* t = &w->trees[d->tree[k]];
    double* delta = mor_arena_zero(d->arena, (size_t)t->dof, sizeof *delta);
    if (!delta) return false;
    delta[d->part[k]] = amount;
    if (t->robot) t->kind->correct(w, t, delta, direction >= d->n);
    else move_body(w, t, delta, direction >= d->n);
    return true;
}

/* Shapes of its own for a body of the trial, larger by a factor. */
static bool grow(mor_derivation* d, const mor_input* in, double factor)
{
    mor_world* w = d->trial->w;
    mor_body* b = &w->bodies[w->order[in->index]];
    mor_body_shape* shapes = mor_arena_zero(d->arena, (size_t)b->shape_count, sizeof *shapes);
    if (!shapes) return false;
    for (int i = 0; i < b->shape_count; i++) {
        shapes[i] = b->shapes[i];
        shapes[i].geometry = mor_geometry_scaled(b->shapes[i].geometry, factor, NULL);
        mor_vec3 from = mor_sub(b->shapes[i].pose.position, b->mass.com);
        shapes[i].pose.position = mor_madd(b->mass.com, factor, from);
        if (!shapes[i].geometry) return false;
    }
    b->shapes = shapes;
    d->growth = factor, d->grown = w->order[in->index];
    return true;
}

static bool move_input(mor_derivation* d, const mor_input* in, double amount)
{
    mor_world* w = d->trial->w;
    mor_body* b = in->kind == MOR_INPUT_FORCE || in->kind == MOR_INPUT_MASS ? &w->bodies[w->order[in->index]] : NULL;
    double *force = NULL, factor;
    switch (in->kind) {
    case MOR_INPUT_FORCE:
        force = in->component < 3 ? &b->force.x : &b->torque.x;
        force[in->component % 3] += amount;
        return true;
    case MOR_INPUT_JOINT_FORCE:
        w->robots[in->index]->tau[in->component] += amount;
        return true;
    case MOR_INPUT_FRICTION:
        d->materials[in->index].friction += amount;
        return true;
    case MOR_INPUT_RESTITUTION:
        d->materials[in->index].restitution += amount;
        return true;
    case MOR_INPUT_GRAVITY:
        (&w->gravity.x)[in->component] += amount;
        return true;
    case MOR_INPUT_MASS:
        factor = 1.0 + amount / b->mass.mass;
        b->mass.mass *= factor;
        for (int i = 0; i < 9; i++) {
            b->mass.inertia.m[i / 3][i % 3] *= factor;
            b->inertia_inverse.m[i / 3][i % 3] /= factor;
        }
        b->L = mor_scale(factor, b->L);
        return true;
    case MOR_INPUT_SIZE:
        return grow(d, in, 1.0 + amount);
    case MOR_INPUT_KP:
    case MOR_INPUT_KI:
    case MOR_INPUT_KD:
    case MOR_INPUT_TARGET: /* drafts share the controllers of the world: put back by mor_perturb_release */
        d->gain = *mor_input_gain(d->world, in);
        *mor_input_gain(d->world, in) += amount;
        d->moved = true;
        return true;
    }
    return false;
}

bool mor_perturb(mor_derivation* d, int direction, double amount)
{
    if (direction < 0 || amount == 0.0) return true;
    if (direction < 2 * d->n) return move_state(d, direction, amount);
    return move_input(d, &d->inputs[direction - 2 * d->n], amount);
}

void mor_perturb_release(mor_derivation* d, int direction)
{
    if (direction >= 2 * d->n && d->inputs[direction - 2 * d->n].kind >= MOR_INPUT_KP && d->moved)
        *mor_input_gain(d->world, &d->inputs[direction - 2 * d->n]) = d->gain;
    d->moved = false;
    if (direction < 2 * d->n || d->inputs[direction - 2 * d->n].kind != MOR_INPUT_SIZE) return;
    const mor_body* was = input_body(d, &d->inputs[direction - 2 * d->n]);
    mor_body* b = &d->trial->w->bodies[was - d->world->bodies];
    for (int i = 0; b->shapes != was->shapes && i < b->shape_count; i++) mor_geometry_release(b->shapes[i].geometry);
    b->shapes = was->shapes;
    d->growth = 0.0;
}
