/* The stages `user`, `collide`, `control`, `assemble`, `sense`, `measure` and `commit` (solve.c and integrate.c have
 * the others).
 *
 * After the integration the contacts of the new state are found at once: their gaps are the penetration of this step as
 * the geometry sees it, and the next step uses them if nothing was changed in between, so collision runs once per step.
 * */
#include "step/deep.h"
#include "step/project.h"
#include "step/stages.h"
#include "base/elementary.h"

#include "collision/self_pairs.h"
#include "control/control.h"
#include "formulation/assemble.h"
#include "formulation/immovable.h"
#include "formulation/rows.h"
#include "step/close_joints.h"
#include "step/draft.h"
#include "step/projection_energy.h"
#include "step/rest.h"
#include "step/surprise.h"

#include <stdio.h>
#include <string.h>

/* of the position projection: before the first step, and after each. Most need one or two; where contacts change from
 * pass to pass, as between long bodies that turn fast, what is left halves in each. */
enum { FIRST_PASSES = 50, PASSES = 12 };

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

/* The world's step from now on is this one. A step knows a world only as long as the world knows it as its last, so
 * neither can be left with a pointer to what is gone. */
static void begin_with(mor_world* w, mor_step* k)
{
    if (k->of == w) return;
    mor_step_leave(k);
    mor_step_leave(w->last);
    k->of = w;
    w->last = k;
}

static mor_code check_methods(mor_world* w, mor_error* error)
{
    if (mor_world_own_solve(w) || (w->fitting_formulation == w->formulation && w->fitting_solver == w->solver &&
                                   w->fitting_collision == w->collision))
        return MOR_OK;
    mor_code code = mor_world_check_methods(w, error);
    if (code) return code;
    w->fitting_formulation = w->formulation;
    w->fitting_solver = w->solver;
    w->fitting_collision = w->collision;
    return MOR_OK;
}

/* Finds the contacts of the draft as it is; `last` are those of the step before. */
static mor_code detect(mor_step* k, mor_buffer* out, const mor_contact* last, int last_count, mor_error* error)
{
    mor_world* w = k->w;
    mor_found found = { .world = w, .contacts = out, .last = last, .last_count = last_count };
    if (!mor_library_has_pairs(w->library)) { /* theirs run on this thread, every time */
        if (k->threads > 1) found.workers = k->workers;
        if (w->options.rest == MOR_REST_SKIP) found.keeper = k, found.unchanged = k->unchanged;
    }
    out->count = 0;
    mor_code code = w->on_collide ? w->on_collide(w->on_collide_data, w, &found, error)
                                  : w->collision->detect(w->collision_memory, w, w->collision_options, &found, error);
    w->deepest = found.deepest;
    if (!code && !mor_drop_immovable(k, out)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    return code;
}

mor_code mor_step_detect(mor_step* k, mor_buffer* out, mor_error* error)
{
    return detect(k, out, k->last, k->last_count, error);
}

static mor_code detect_again(mor_step* k, mor_buffer* contacts, mor_error* error)
{
    return detect(k, contacts, k->last, k->last_count, error);
}

/* Before the first step. Not with a collision method that gives separating planes: gaps are negative there without any
 * overlap, and the formulation knows which planes count. Not where the numbers of an original are wanted that moves
 * nothing (gauss, compat). */
bool mor_settles(const mor_world* w)
{
    const mor_formulation* f = w->formulation;
    if (w->collision->planes) return false;
    if (f->explicit_positions && f->explicit_positions(w->formulation_options)) return false;
    return w->options.gap_correction == MOR_GAP_PROJECTION && !w->on_collide && !w->on_integrate && !w->stored;
}

/* After every step: formulations that let bodies overlap on purpose see to it themselves. */
static bool projects(const mor_world* w)
{
    if (w->formulation->overlaps && w->formulation->overlaps(w->formulation_options)) return false;
    return mor_settles(w);
}

mor_code mor_settle_draft(mor_step* k, double* deepest, mor_error* error)
{
    *deepest = 0.0;
    if (!mor_settles(k->w)) return MOR_OK;
    mor_code code = detect(k, &k->contacts, NULL, 0, error);
    if (code) return code;
    *deepest = k->w->deepest;
    return mor_project_positions(k, &k->contacts, FIRST_PASSES, detect_again, NULL, error);
}

/* Before the first step: what the scene overlaps is undone in the world itself, so that user functions, controllers and
 * recordings begin with the state that the step begins with. */
static mor_code settle(mor_world* w, mor_step* k, mor_error* error)
{
    mor_code code = mor_step_take(w, k);
    if (code) return code;
    k->projection_work = 0.0;
    double deepest;
    code = mor_settle_draft(k, &deepest, error);
    if (code) return code;
    w->start_depth = mor_max(w->start_depth, deepest);
    w->start_work += k->projection_work;
    mor_step_give_motion(w, k);
    return MOR_OK;
}

/* Did a function of the caller's speak against the step? The sentence is taken. */
static mor_code refused(mor_world* w, mor_error* error)
{
    if (!w->refusal[0]) return MOR_OK;
    mor_code code = mor_fail(error, MOR_BAD_INPUT, "%s", w->refusal);
    w->refusal[0] = '\0';
    return code;
}

/* Are there kinematic bodies, and small ones on joints? Looked for after changes of the world. */
static void look_at_bodies(mor_world* w)
{
    if (w->kinds_seen == w->revision + 1) return;
    w->kinds_seen = w->revision + 1;
    w->smallest_jointed = mor_joint_smallest(w);
    w->kinematic = false;
    for (int i = 0; i < w->alive_count; i++)
        w->kinematic = w->kinematic || w->bodies[w->order[i]].kind == MOR_KINEMATIC;
}

mor_code mor_do_user(mor_world* w, mor_step* k, mor_error* error)
{
    begin_with(w, k);
    mor_code code = check_methods(w, error);
    if (!code && !mor_world_leave_out(w)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!code) code = mor_joints_begin(w, k);
    if (!code && w->step == 0 && mor_settles(w)) code = settle(w, k, error);
    if (code) return code;
    if (!w->on_user) {
        look_at_bodies(w);
        return mor_step_take(w, k);
    }
    if (!keep_applied(w, k)) return MOR_SYSTEM;
    bool forced = w->forced;
    w->refusal[0] = '\0';
    w->on_user(w->on_user_data, w);
    code = refused(w, error);
    look_at_bodies(w);
    if (!code) code = mor_step_take(w, k);
    put_back_applied(w, k);
    w->forced = forced;
    return code;
}

/* ------------------------------------------------------------------------------------ collide */

/* Kinematic bodies with a path get the velocity that takes them along it during the coming step. */
static void aim_kinematic(mor_world* w)
{
    for (int i = 0; mor_world_kinematic(w) && i < w->alive_count; i++) {
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
        double s = mor_norm(axis), angle = 2.0 * mor_atan2(s, d.w);
        b->w = s > 0.0 ? mor_scale(angle / (s * w->h), axis) : mor_v3(0, 0, 0);
        w->detected = false;
    }
}

mor_code mor_do_collide(const mor_world* world, mor_step* k, mor_error* error)
{
    mor_world* w = k->w;
    mor_code code = MOR_OK;
    k->raw_penetration = world->step == 0 ? world->start_depth : 0.0;
    k->projection_work = world->step == 0 ? world->start_work : 0.0;
    aim_kinematic(w);
    if (w->detected && k->found_ahead) {
        mor_buffer t = k->contacts;
        k->contacts = k->ahead;
        k->ahead = t;
        k->found_ahead = false;
    } else {
        code = detect(k, &k->contacts, k->last, k->last_count, error);
    }
    w->contacts = k->contacts;
    return code;
}

/* ------------------------------------------------------------------------- control and assembly */

mor_code mor_do_control(const mor_world* world, mor_step* k, mor_error* error)
{
    (void)world;
    mor_control_begin(k->w, k);
    return refused(k->w, error);
}

mor_code mor_do_assemble(const mor_world* world, mor_step* k, mor_error* error)
{
    (void)world, (void)error;
    mor_code code = mor_surprise_keep(k);
    if (code) return code;
    k->w->surprise = 0.0;
    mor_arena_reset(k->arena);
    for (int i = 0; k->struck && i < k->w->body_count; i++) k->w->bodies[i].struck = false;
    k->struck = k->cured = 0;
    k->plan.group = NULL, k->plan.smooth = NULL;
    return mor_assemble(k) ? MOR_OK : MOR_SYSTEM;
}

/* --------------------------------------------------------------------------- sense and measure */

mor_code mor_do_sense(const mor_world* world, mor_step* k, mor_error* error)
{
    (void)world, (void)error;
    mor_control_end(k);
    return MOR_OK;
}

static mor_code detect_ahead(mor_step* k, mor_buffer* contacts, mor_error* error)
{
    return detect(k, contacts, k->contacts.data, k->contacts.count, error);
}

/* Methods whose contacts act by touching move bodies apart themselves, a little in each step. From an overlap of this
 * share of the smaller shape, as bodies make that turn far in a step, they do not find the way out: it may have the
 * wrong side. */
static bool is_gross(const mor_world* w, const mor_buffer* contacts)
{
    const double gross = 1e-2;
    const mor_contact* c = contacts->data;
    bool any = false;
    for (int i = 0; i < contacts->count && w->formulation->accelerations && !any; i++)
        any = c[i].gap < 0.0 && -c[i].gap > gross * mor_contact_size(w, &c[i]);
    return any;
}

mor_code mor_measure_observed(const mor_world* start, mor_step* k, const mor_projection_observer* observer,
                              mor_error* error)
{
    if (k->w->on_collide) return MOR_OK;
    k->found_ahead = false;
    k->projected = 0;
    mor_projection_energy_begin(k);
    mor_code code = detect_ahead(k, &k->ahead, error);
    if (!code && projects(k->w) && (!k->w->formulation->project || is_gross(k->w, &k->ahead))) {
        k->raw_penetration = mor_max(k->raw_penetration, k->w->deepest);
        code = mor_project_positions(k, &k->ahead, PASSES, detect_ahead, observer, error);
        if (k->projected && k->w->joints.count) k->w->joint_error = mor_world_joint_error(k->w);
    }
    if (!code) code = mor_projection_energy_end(start, k);
    /* what could not be moved apart, and was not so deep before the step */
    if (!code && k->may_part && k->projected && !k->w->formulation->accelerations &&
        mor_deep_any(k->w, k->ahead.data, k->ahead.count))
        k->lifts = k->lifts || !mor_deep_any(k->w, k->contacts.data, k->contacts.count);
    k->measured = !code;
    return code;
}

mor_code mor_do_measure(const mor_world* world, mor_step* k, mor_error* error)
{
    return mor_measure_observed(world, k, NULL, error);
}

/* ------------------------------------------------------------------------------------- commit */

mor_code mor_do_commit(mor_world* w, mor_step* k, mor_error* error)
{
    if (!mor_rest_note(w, k)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_step_give(w, k);
    w->failed_in_row = k->status == MOR_SOLVED ? 0 : w->failed_in_row + 1;
    mor_control_tell(w);
    return MOR_OK;
}
