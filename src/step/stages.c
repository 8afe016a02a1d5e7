/* The stages `user`, `collide`, `control`, `assemble`, `sense`, `measure` and `commit` (solve.c and integrate.c have the
 * others).
 *
 * After the integration the contacts of the new state are found at once: their gaps are the penetration of this step as
 * the geometry sees it, and the next step uses them if nothing was changed in between, so collision runs once per step.
 * */
#include "step/stages.h"

#include "control/control.h"
#include "formulation/assemble.h"
#include "step/draft.h"

#include <stdio.h>
#include <string.h>

mor_code mor_step_needs(const mor_world* w, mor_step* k, mor_step_phase phase, const char* stage, const char* before,
                        mor_error* error)
{
    if (k->phase < phase || k->phase == MOR_PHASE_COMMITTED)
        return mor_fail(error, MOR_BAD_INPUT,
                        "the stage '%s' needs the stage '%s' before it; a step begins with 'user'", stage, before);
    if (k->w->revision != w->revision || k->from_step != w->step || k->w->library != w->library)
        return mor_fail(error, MOR_BAD_INPUT, "the stage '%s': the world has changed since the step began", stage);
    mor_step_follow(w, k);
    return MOR_OK;
}

/* --------------------------------------------------------------------------------------- user */

/* What was applied before the user function runs. */
static bool keep_applied(const mor_world* w, mor_step* k)
{
    int joints = 0, at = 0;
    for (int i = 0; i < w->robot_count; i++) joints += mor_robot_joint_count(w->robots[i]->model);
    if (!mor_buffer_reserve(&k->allocator, &k->applied, w->body_count + 1, sizeof(mor_applied)) ||
        !mor_buffer_reserve(&k->allocator, &k->applied_tau, joints + 1, sizeof(double)))
        return false;
    mor_applied* forces = k->applied.data;
    for (int i = 0; i < w->body_count; i++)
        forces[i] = (mor_applied){ w->bodies[i].force, w->bodies[i].torque, w->bodies[i].generation };
    double* tau = k->applied_tau.data;
    for (int i = 0; i < w->robot_count; i++) {
        int n = mor_robot_joint_count(w->robots[i]->model);
        memcpy(tau + at, w->robots[i]->tau, (size_t)n * sizeof *tau);
        at += n;
    }
    k->applied.count = w->body_count;
    k->applied_tau.count = joints;
    return true;
}

/* The forces of the user function are in the step now: the world has again what it had before. */
static void put_back_applied(mor_world* w, const mor_step* k)
{
    const mor_applied* forces = k->applied.data;
    const double* tau = k->applied_tau.data;
    for (int i = 0; i < w->body_count; i++) {
        bool known = i < k->applied.count && forces[i].generation == w->bodies[i].generation;
        w->bodies[i].force = known ? forces[i].force : mor_v3(0, 0, 0);
        w->bodies[i].torque = known ? forces[i].torque : mor_v3(0, 0, 0);
    }
    for (int i = 0, at = 0; i < w->robot_count; i++) {
        int n = mor_robot_joint_count(w->robots[i]->model);
        if (at + n <= k->applied_tau.count) memcpy(w->robots[i]->tau, tau + at, (size_t)n * sizeof *tau);
        else memset(w->robots[i]->tau, 0, (size_t)n * sizeof *tau);
        at += n;
    }
}

mor_code mor_stage_user(mor_world* w, mor_step* k, mor_error* error)
{
    double start = mor_clock();
    if (k->of && k->of != w && k->of->last == k) k->of->last = k->of->own;
    k->of = w;
    w->last = k;
    k->phase = MOR_PHASE_EMPTY;
    k->timing = (mor_timing){ 0 };
    memset(&k->report, 0, sizeof k->report);
    mor_code code = mor_world_check_methods(w, error);
    if (code) return code;
    if (w->on_user) {
        if (!keep_applied(w, k)) return mor_fail(error, MOR_SYSTEM, "out of memory in step %d", w->step + 1);
        w->on_user(w->on_user_data, w);
    }
    code = mor_step_take(w, k);
    if (w->on_user) put_back_applied(w, k);
    k->timing.user += mor_clock() - start;
    return code ? mor_fail(error, code, "out of memory in step %d", w->step + 1) : MOR_OK;
}

/* ------------------------------------------------------------------------------------ collide */

/* Kinematic bodies with a path get the velocity that takes them along it during the coming step. */
static void aim_kinematic(mor_world* w)
{
    for (int i = 0; i < w->alive_count; i++) {
        mor_body* b = &w->bodies[w->order[i]];
        if (b->kind != MOR_KINEMATIC || !b->motion) continue;
        mor_pose now = mor_body_pose(b), next = now;
        b->motion(b->motion_user, w->time + w->h, &next);
        mor_vec3 x = mor_add(next.position, mor_rotate(next.rotation, b->mass.com));
        b->v = mor_scale(1.0 / w->h, mor_sub(x, b->x));
        /* the rotation from now to next as a vector: 2 atan2(|v|, w) v/|v|, the short way round */
        mor_quat d = mor_quat_mul(mor_quat_normalize(next.rotation), mor_quat_conj(b->q));
        if (d.w < 0.0) d = (mor_quat){ -d.w, -d.x, -d.y, -d.z };
        mor_vec3 axis = mor_v3(d.x, d.y, d.z);
        double s = mor_norm(axis), angle = 2.0 * atan2(s, d.w);
        b->w = s > 0.0 ? mor_scale(angle / (s * w->h), axis) : mor_v3(0, 0, 0);
        w->detected = false;
    }
}

/* Finds the contacts of the draft as it is; `last` are those of the step before. */
static mor_code detect(mor_step* k, mor_buffer* out, const mor_contact* last, int last_count, mor_error* error)
{
    mor_world* w = k->w;
    mor_found found = { .world = w, .contacts = out, .last = last, .last_count = last_count };
    out->count = 0;
    mor_code code = w->on_collide ? w->on_collide(w->on_collide_data, w, &found, error)
                                  : w->collision->detect(w->collision_memory, w, w->collision_options, &found, error);
    w->deepest = found.deepest;
    if (code == MOR_SYSTEM) mor_fail(error, code, "out of memory in collision detection");
    return code;
}

mor_code mor_stage_collide(const mor_world* world, mor_step* k, mor_error* error)
{
    mor_code code = mor_step_needs(world, k, MOR_PHASE_BEGUN, "collide", "user", error);
    if (code) return code;
    double start = mor_clock();
    mor_world* w = k->w;
    aim_kinematic(w);
    if (w->detected) {
        int count = world->ahead.count;
        if (!mor_buffer_reserve(&k->allocator, &k->contacts, count, sizeof(mor_contact)))
            return mor_fail(error, MOR_SYSTEM, "out of memory in step %d", world->step + 1);
        if (count) memcpy(k->contacts.data, world->ahead.data, (size_t)count * sizeof(mor_contact));
        k->contacts.count = count;
    } else {
        code = detect(k, &k->contacts, k->last, k->last_count, error);
    }
    w->contacts = k->contacts;
    if (!code) k->phase = MOR_PHASE_COLLIDED;
    k->timing.collision += mor_clock() - start;
    return code;
}

/* ------------------------------------------------------------------------- control and assembly */

mor_code mor_stage_control(const mor_world* world, mor_step* k, mor_error* error)
{
    mor_code code = mor_step_needs(world, k, MOR_PHASE_COLLIDED, "control", "collide", error);
    if (code) return code;
    double start = mor_clock();
    mor_control_begin(k->w);
    k->phase = MOR_PHASE_CONTROLLED;
    k->timing.user += mor_clock() - start;
    return MOR_OK;
}

mor_code mor_stage_assemble(const mor_world* world, mor_step* k, mor_error* error)
{
    mor_code code = mor_step_needs(world, k, MOR_PHASE_COLLIDED, "assemble", "collide", error);
    if (code) return code;
    double start = mor_clock();
    mor_arena_reset(k->arena);
    k->plan = (mor_smooth_plan_of){ 0 };
    if (!mor_assemble(k)) return mor_fail(error, MOR_SYSTEM, "out of memory in step %d", world->step + 1);
    k->phase = MOR_PHASE_ASSEMBLED;
    k->timing.assemble += mor_clock() - start;
    return MOR_OK;
}

/* --------------------------------------------------------------------------- sense and measure */

mor_code mor_stage_sense(const mor_world* world, mor_step* k, mor_error* error)
{
    mor_code code = mor_step_needs(world, k, MOR_PHASE_INTEGRATED, "sense", "integrate", error);
    if (code) return code;
    double start = mor_clock();
    mor_control_end(k);
    k->phase = MOR_PHASE_SENSED;
    k->timing.integrate += mor_clock() - start;
    return MOR_OK;
}

mor_code mor_stage_measure(const mor_world* world, mor_step* k, mor_error* error)
{
    mor_code code = mor_step_needs(world, k, MOR_PHASE_INTEGRATED, "measure", "integrate", error);
    if (code) return code;
    double start = mor_clock();
    if (!k->w->on_collide) {
        code = detect(k, &k->ahead, k->contacts.data, k->contacts.count, error);
        if (code) return code;
        k->found_ahead = true;
    }
    k->phase = MOR_PHASE_MEASURED;
    k->timing.collision += mor_clock() - start;
    return MOR_OK;
}

/* ------------------------------------------------------------------------------------- commit */

mor_code mor_stage_commit(mor_world* w, mor_step* k, mor_error* error)
{
    mor_code code = mor_step_needs(w, k, MOR_PHASE_INTEGRATED, "commit", "integrate", error);
    if (code) return code;
    mor_step_give(w, k);
    w->failed_in_row = k->status == MOR_SOLVED ? 0 : w->failed_in_row + 1;
    k->phase = MOR_PHASE_COMMITTED;
    mor_control_tell(w);
    mor_step_fill_report(w, k);
    if (!k->in_parts) mor_step_observe(w, k);
    return MOR_OK;
}
