/* The draft of a step: a world with the model of another and a state of its own.
 *
 * Copied when a step begins: bodies, trees, joints, the state of robots, the numbers of control. A body is some 500
 * bytes, a robot's state some kilobytes: next to nothing beside a step. Shared: shapes, materials, models, options,
 * methods. Written back by commit: what a step changes of these. */
#include "step/draft.h"
#include "step/adaptive.h"
#include "step/rest.h"

#include "base/workers.h"
#include "control/control.h"
#include "formulation/immovable.h"

#include <string.h>

static mor_step* create(const mor_world* w, int threads)
{
    const mor_allocator a = w->allocator;
    mor_step* k = a.resize(a.user, NULL, sizeof *k);
    if (!k) return NULL;
    memset(k, 0, sizeof *k);
    k->allocator = a;
    k->threads = threads;
    k->w = a.resize(a.user, NULL, sizeof *k->w);
    k->arena = mor_arena_create(&a);
    k->workers = mor_workers_create(&a, k->threads);
    k->thread_arenas = a.resize(a.user, NULL, (size_t)k->threads * sizeof(mor_arena*));
    bool ok = k->w && k->arena && k->workers && k->thread_arenas;
    if (k->w) memset(k->w, 0, sizeof *k->w);
    for (int i = 0; k->thread_arenas && i < k->threads; i++) {
        k->thread_arenas[i] = mor_arena_create(&a);
        ok = ok && k->thread_arenas[i];
    }
    if (ok) return k;
    mor_step_destroy(k);
    return NULL;
}

mor_step* mor_step_create_plain(const mor_world* w) { return create(w, 1); }

mor_step* mor_step_create(const mor_world* w, mor_error* error)
{
    mor_step* k = create(w, w->threads);
    if (!k) mor_fail(error, MOR_SYSTEM, "out of memory or threads");
    return k;
}

static void drop_robots(mor_step* k)
{
    mor_control_twin_destroy(k->control);
    k->control = NULL;
    for (int i = 0; i < k->robot_count; i++) mor_robot_free(NULL, k->robots[i]);
    k->robot_count = 0;
}

void mor_step_destroy(mor_step* k)
{
    if (!k) return;
    const mor_allocator a = k->allocator;
    mor_step_leave(k);
    mor_adaptive_free(k);
    mor_step_destroy(k->before);
    mor_workers_destroy(k->workers);
    for (int i = 0; k->thread_arenas && i < k->threads; i++) mor_arena_destroy(k->thread_arenas[i]);
    mor_arena_destroy(k->arena);
    drop_robots(k);
    mor_buffer* buffers[] = { &k->bodies,       &k->trees,         &k->joints,       &k->contacts, &k->ahead,
                              &k->applied,      &k->applied_tau,   &k->trial,        &k->start,    &k->kept_of_tree,
                              &k->kept_islands, &k->kept_bytes[0], &k->kept_bytes[1] };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) mor_buffer_free(&a, buffers[i]);
    void* blocks[] = { k->thread_arenas, k->robots, k->snapshot, k->w, k };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i]) a.resize(a.user, blocks[i], 0);
}

void mor_step_leave(mor_step* k)
{
    if (!k) return;
    if (k->of) k->of->last = k->of->own;
    k->of = NULL;
    k->taken_from = NULL;
    k->found_ahead = false;
    k->phase = MOR_STAGE_NONE;
}

mor_step mor_step_beside(const mor_step* k)
{
    return (mor_step){ .allocator = k->allocator,
                       .w = k->w,
                       .beside = true,
                       .arena = k->arena,
                       .thread_arenas = k->thread_arenas,
                       .threads = k->threads,
                       .workers = k->workers };
}

/* ------------------------------------------------------------------------------------- taking */

static bool copy_array(mor_step* k, mor_buffer* to, const void* from, int count, size_t size)
{
    to->count = 0;
    if (count == 0) return true;
    if (!mor_buffer_reserve(&k->allocator, to, count, size)) return false;
    memcpy(to->data, from, (size_t)count * size);
    to->count = count;
    return true;
}

static void copy_motion(const mor_body* from, mor_body* to) { memcpy(&to->x, &from->x, MOR_BODY_MOTION); }

static void copy_joint(const mor_joint* from, mor_joint* to)
{
    to->coordinate = from->coordinate;
    to->apart = from->apart;
    to->held = false;
    memcpy(to->memory, from->memory, sizeof to->memory);
    memcpy(to->correction, from->correction, sizeof to->correction);
    memcpy(to->differences, from->differences, sizeof to->differences);
}

/* Bodies, trees and joints as they are, after a change of the world or in another one. */
static bool take_all(const mor_world* w, mor_step* k)
{
    bool copied = copy_array(k, &k->bodies, w->bodies, w->body_count, sizeof *w->bodies) &&
                  copy_array(k, &k->trees, w->trees, w->tree_count, sizeof *w->trees) &&
                  copy_array(k, &k->joints, w->joints.data, w->joints.count, sizeof(mor_joint));
    if (copied) mor_find_welds(k->bodies.data, w->body_count, k->joints.data, w->joints.count);
    return copied;
}

/* What steps and users change of them. */
static void take_motion(const mor_world* w, mor_step* k)
{
    mor_body* bodies = k->bodies.data;
    for (int i = 0; i < w->body_count; i++) {
        copy_motion(&w->bodies[i], &bodies[i]);
        bodies[i].struck = false; /* of a step that was not taken */
    }
    mor_joint* joints = k->joints.data;
    for (int i = 0; i < w->joints.count; i++) copy_joint(&((const mor_joint*)w->joints.data)[i], &joints[i]);
}

static void take_forces(const mor_world* w, mor_step* k)
{
    mor_body* bodies = k->bodies.data;
    for (int i = 0; i < w->body_count; i++) {
        bodies[i].force = w->bodies[i].force;
        bodies[i].torque = w->bodies[i].torque;
    }
    for (int i = 0; i < w->robot_count; i++)
        memcpy(k->robots[i]->tau, w->robots[i]->tau,
               (size_t)mor_robot_joint_count(w->robots[i]->model) * sizeof(double));
}

static bool take_robots(const mor_world* w, mor_step* k)
{
    bool same = k->robot_count == w->robot_count;
    for (int i = 0; i < w->robot_count && same; i++) same = k->robots[i]->model == w->robots[i]->model;
    if (!same) {
        drop_robots(k);
        size_t bytes = ((size_t)w->robot_count + 1) * sizeof *k->robots;
        mor_robot** robots = k->allocator.resize(k->allocator.user, k->robots, bytes);
        if (!robots) return false;
        k->robots = robots;
        for (; k->robot_count < w->robot_count; k->robot_count++)
            if (!(k->robots[k->robot_count] = mor_robot_twin(w->robots[k->robot_count]))) return false;
    }
    for (int i = 0; i < w->robot_count; i++) mor_robot_copy(w->robots[i], k->robots[i]);
    mor_tree* trees = k->trees.data;
    for (int i = 0; i < w->robot_count; i++) trees[w->robots[i]->tree].robot = k->robots[i];
    return mor_control_take(w, &k->control);
}

mor_code mor_step_take(const mor_world* w, mor_step* k)
{
    bool same = k->taken_from == w && k->revision == w->revision;
    /* the draft is what this step committed last, and nothing was changed since */
    bool synchronous = same && k->phase == MOR_STAGE_COMMIT && w->last == k && w->detected && k->found_ahead;
    k->phase = MOR_STAGE_NONE;
    k->taken_from = NULL;
    k->island_count = k->rough = 0;
    k->plan.group = NULL, k->plan.smooth = NULL;
    k->tried = NULL;
    k->usable = k->measured = false;
    k->status = MOR_SOLVED;
    k->contacts.count = 0;
    mor_arena_reset(k->arena);
    if (!same && !take_all(w, k)) return MOR_SYSTEM;
    if (same && !synchronous) take_motion(w, k);
    if (!synchronous && !take_robots(w, k)) return MOR_SYSTEM;
    if (!synchronous || w->forced || k->forced) take_forces(w, k);
    k->unchanged = synchronous && !w->forced && !k->forced && mor_rest_may_skip(w);
    k->forced = w->forced;
    *k->w = *w;
    k->w->bodies = k->bodies.data;
    k->w->trees = k->trees.data;
    k->w->joints = k->joints;
    k->w->robots = k->robots;
    k->w->control = w->control ? k->control : NULL;
    k->w->contacts = k->contacts;
    k->w->own = k->w->last = NULL;
    k->from_step = w->step;
    k->last = w->contacts.data;
    k->last_count = w->contacts.count;
    k->taken_from = w;
    k->revision = w->revision;
    k->phase = MOR_STAGE_USER;
    return MOR_OK;
}

void mor_step_follow(const mor_world* w, mor_step* k)
{
    mor_world* d = k->w;
    for (int i = 0; i < k->island_count; i++) {    /* what assembled systems know of the solver */
        if (!w->detected) k->islands[i].kept = -1; /* something was chosen since: it is solved */
        k->islands[i].system.tol = w->solver_options.tol;
        if (d->solver != w->solver) k->islands[i].system.cones = mor_solver_applies(w->solver, MOR_STEP_CONE);
    }
    d->collision = w->collision;
    d->collision_memory = w->collision_memory;
    d->formulation = w->formulation;
    d->solver = w->solver;
    d->integrator = w->integrator;
    d->collision_options = w->collision_options;
    d->formulation_options = w->formulation_options;
    d->solver_own_options = w->solver_own_options;
    d->solver_options = w->solver_options;
    d->options = w->options;
    d->interrupt = w->interrupt;
    d->on_user = w->on_user, d->on_user_data = w->on_user_data;
    d->on_collide = w->on_collide, d->on_collide_data = w->on_collide_data;
    d->on_solve = w->on_solve, d->on_solve_data = w->on_solve_data, d->watched = w->watched;
    d->on_integrate = w->on_integrate, d->on_integrate_data = w->on_integrate_data;
}

/* ------------------------------------------------------------------------------------- giving */

void mor_step_give_motion(mor_world* w, const mor_step* k)
{
    for (int i = 0; i < w->body_count; i++)
        if (w->bodies[i].kind != MOR_FIXED || w->bodies[i].robot) copy_motion(&k->w->bodies[i], &w->bodies[i]);
    const bool hand = k == w->own; /* which lives as long as the world */
    for (int i = 0; i < w->robot_count; i++) mor_robot_give_motion(k->robots[i], w->robots[i], hand);
}

void mor_step_give(mor_world* w, mor_step* k)
{
    mor_step_give_motion(w, k);
    if (w->forced) {
        for (int i = 0; i < w->body_count; i++) w->bodies[i].force = w->bodies[i].torque = mor_v3(0, 0, 0);
        for (int i = 0; i < w->robot_count; i++)
            memset(w->robots[i]->tau, 0, (size_t)mor_robot_joint_count(w->robots[i]->model) * sizeof(double));
        w->forced = false;
    }
    for (int i = 0; i < w->robot_count; i++) /* what motors and the integrator left of it */
        memset(k->robots[i]->tau, 0, (size_t)mor_robot_joint_count(w->robots[i]->model) * sizeof(double));
    mor_joint* joints = w->joints.data;
    for (int i = 0; i < w->joints.count; i++) copy_joint(&((const mor_joint*)k->joints.data)[i], &joints[i]);
    if (w->control) mor_control_give(w, k->control);
    w->joint_error = k->w->joint_error;
    w->step = k->w->step;
    w->time = k->w->time;
    w->h = k->w->h;
    w->time_base = k->w->time_base;
    w->step_base = k->w->step_base;
    w->adaptive = k->w->adaptive;
    w->deepest = k->w->deepest;
    mor_buffer old = w->contacts;
    w->contacts = k->contacts;
    k->contacts = old;
    w->detected = k->found_ahead = k->measured;
}
