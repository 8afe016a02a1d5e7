/* The step: a walk through the stages.
 *
 *     user -> collide -> control -> assemble -> solve (formulation and solver, island by island) -> integrate
 *
 * After the integration the contacts of the new state are found at once: their gaps are the penetration of
 * this step as the geometry sees it, and the next step uses them if nothing was changed in between, so
 * collision runs once per step. */
#include "base/workers.h"
#include "collision/detect.h"
#include "control/control.h"
#include "formulation/assemble.h"
#include "formulation/rows.h"
#include "model/world.h"
#include "step/smooth.h"
#include "step/stabilise.h"

#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------------------- stages */

void mor_stage_user(mor_world* w)
{
    if (w->on_user) w->on_user(w->on_user_data, w);
}

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

static void detect_now(mor_world* w)
{
    w->contacts.count = 0;
    if (w->on_collide) w->on_collide(w->on_collide_data, w);
    else w->collision->detect(w, w->collision_options);
}

static void swap_contacts(mor_world* w)
{
    mor_buffer t = w->contacts;
    w->contacts = w->old_contacts;
    w->old_contacts = t;
}

void mor_stage_collide(mor_world* w)
{
    aim_kinematic(w);
    swap_contacts(w); /* last step's contacts become the memory for warm starts */
    if (!w->detected) detect_now(w);
    w->detected = false;
}

void mor_stage_control(mor_world* w) { mor_control_begin(w); }

void mor_stage_assemble(mor_world* w)
{
    mor_arena_reset(w->arena);
    w->smooth = NULL; /* of the last step, from the same arena */
    w->smooth_group = NULL;
    mor_assemble(w);
}

typedef struct solve_user {
    mor_world* world;
    mor_island* island;
    const mor_solver* solver;
    const void* options;
} solve_user;

/* What a formulation calls: the chosen solver, timed and judged. */
static mor_report run_solver(mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z)
{
    solve_user* u = stage->user;
    const mor_solver_options* own = &u->world->solver_options;
    mor_solve_options o = mor_solve_options_default();
    /* the world's tolerance is a velocity; converted problems are judged by their relative error */
    bool step = problem->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE);
    o.tol = step ? fmax(own->tol, stage->coarse) : fmin(own->tol, 1e-10);
    o.max_iter = own->max_iter;
    o.time_limit = own->time_limit;
    o.warm = warm;
    double start = mor_clock();
    mor_report report = mor_solve(u->solver, u->options, problem, &o, z, stage->arena);
    u->island->solve_time += mor_clock() - start;
    return report;
}

static void solve_with(mor_world* w, mor_island* island, const mor_solver* solver, const void* options,
                       mor_arena* arena)
{
    solve_user user = { w, island, solver, options };
    mor_solve_stage stage = { run_solver, arena, &user, 0.0 };
    double start = mor_clock();
    size_t mark = mor_arena_mark(arena);
    island->report = w->on_solve
                         ? w->on_solve(w->on_solve_data, &island->system, &stage, &island->answer)
                         : w->formulation->step(&island->system, w->formulation_options, &stage, &island->answer);
    mor_arena_release(arena, mark);
    island->formulate_time += mor_clock() - start;
}

static void solve_island(void* user, int index, int worker)
{
    mor_world* w = user;
    mor_island* island = &w->islands[index];
    mor_arena* arena = w->thread_arenas[worker];
    if (island->skip) return;
    solve_with(w, island, w->solver, w->solver_own_options, arena);
    if (island->report.status == MOR_SOLVED || w->options.on_failure != MOR_RETRY) return;
    /* retry: the library's `auto`, or the pivoting method where there is none */
    const mor_solver* other = mor_library_solver(w->library, "auto");
    if (!other) other = mor_library_solver(w->library, "lemke");
    if (!other || other == w->solver) return;
    memset(island->answer.impulses, 0, (size_t)island->system.row_count * sizeof(double));
    solve_with(w, island, other, NULL, arena);
}

/* Checks the velocities of an island and hands them to the world. */
static void take_answer(mor_world* w, mor_island* island)
{
    const mor_system* s = &island->system;
    for (int k = 0; k < s->dof; k++)
        if (!isfinite(island->answer.nu[k]) && island->report.status == MOR_SOLVED) {
            island->report.status = MOR_NUMERICAL;
            snprintf(island->report.detail, sizeof island->report.detail, "a velocity is not finite");
        }
    for (int t = 0; t < s->tree_count; t++)
        memcpy(w->nu_new + w->trees[island->tree_of[t]].offset, island->answer.nu + s->trees[t].offset,
               (size_t)s->trees[t].dof * sizeof(double));
}

mor_status mor_stage_solve(mor_world* w)
{
    for (int i = 0; i < w->threads; i++) mor_arena_reset(w->thread_arenas[i]);
    mor_workers_run(w->workers, w->island_count, solve_island, w);
    mor_status worst = MOR_SOLVED;
    for (int i = 0; i < w->island_count; i++) {
        take_answer(w, &w->islands[i]);
        if (w->islands[i].report.status != MOR_SOLVED) worst = w->islands[i].report.status;
    }
    return worst;
}

/* One island once more, after its rows were changed. */
static void solve_again(mor_world* w, int index)
{
    mor_arena_reset(w->thread_arenas[0]);
    solve_island(w, index, 0);
    take_answer(w, &w->islands[index]);
}

void mor_stage_integrate(mor_world* w)
{
    mor_integrate_bodies(w);
    w->raw_penetration = w->projection_work = 0.0;
    if (w->formulation->project && !w->on_integrate)
        w->raw_penetration = w->formulation->project(w, w->formulation_options, &w->projection_work);
    for (int i = 0; i < w->alive_count; i++)
        w->bodies[w->order[i]].force = w->bodies[w->order[i]].torque = mor_v3(0, 0, 0);
    w->step++;
    w->time = w->time_base + w->h * (w->step - w->step_base); /* no sum of rounding over long runs */
}

/* Positions by the velocities of the start of the step, then the new velocities. */
static void explicit_euler(mor_world* w, const mor_tree* t)
{
    double *from = w->nu + t->offset, *change = w->nu_new + t->offset;
    t->kind->advance(w, t, from, from, w->mass + w->mass_start[t - w->trees]);
    for (int k = 0; k < t->dof; k++) change[k] -= from[k];
    t->kind->correct(w, t, change, true);
    for (int k = 0; k < t->dof; k++) change[k] += from[k];
}

void mor_integrate_bodies(mor_world* w)
{
    if (w->on_integrate) {
        w->on_integrate(w->on_integrate_data, w);
    } else {
        bool old = w->formulation->explicit_positions && w->formulation->explicit_positions(w->formulation_options);
        for (int i = 0; i < w->tree_count; i++) {
            const mor_tree* t = &w->trees[i];
            if (w->smooth && w->smooth[i]) continue;
            if (old) explicit_euler(w, t);
            else t->kind->advance(w, t, w->nu_free + t->offset, w->nu_new + t->offset, w->mass + w->mass_start[i]);
        }
    }
    for (int i = 0; i < w->alive_count; i++) {
        mor_body* b = &w->bodies[w->order[i]];
        if (b->kind != MOR_KINEMATIC) continue;
        b->x = mor_madd(b->x, w->h, b->v);
        b->angle += w->h * b->w.z;
        b->q = w->dimension == 2 ? mor_quat_exp(mor_v3(0, 0, b->angle))
                                 : mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(w->h, b->w)), b->q));
    }
}

/* ----------------------------------------------------------------------------- book-keeping */

/* A contact strictly inside its cone sticks: it is anchored here, unless it is already. */
static void anchor_contact(const mor_world* w, mor_contact* c, const double* p, int dim)
{
    double tangential = dim > 2 ? hypot(p[1], p[2]) : dim > 1 ? fabs(p[1]) : INFINITY;
    bool belt = mor_dot(c->surface_velocity, c->surface_velocity) > 0.0;
    bool sticks = p[0] > 0.0 && tangential < c->friction * p[0] * (1.0 - 1e-6) && !belt;
    if (sticks && !c->anchored) {
        mor_vec3 middle = mor_lerp(c->point[0], c->point[1], 0.5);
        for (int side = 0; side < 2; side++) {
            const mor_body* b = &w->bodies[w->order[c->body[side]]];
            c->anchor[side] = mor_rotate(mor_quat_conj(b->q), mor_sub(middle, b->x));
        }
    }
    c->anchored = sticks;
}

/* Impulses of the answer go back to the contacts; the works of the step (docs/notation.md). */
static void store_impulses(mor_world* w)
{
    mor_contact* contacts = w->contacts.data;
    w->correction_work = w->contact_work = 0.0;
    for (int i = 0; i < w->island_count; i++) {
        const mor_system* s = &w->islands[i].system;
        for (int c = 0; c < s->contact_count; c++) {
            const mor_contact_row* row = &s->contacts[c];
            const mor_block* b = &s->blocks[row->block];
            const double* p = w->islands[i].answer.impulses + b->row;
            mor_contact* contact = &contacts[row->contact];
            mor_vec3 direction[3] = { contact->normal };
            mor_contact_tangents(w, contact, &direction[1], &direction[2]);
            contact->impulse = mor_v3(0, 0, 0);
            for (int d = 0; d < b->dim; d++) contact->impulse = mor_madd(contact->impulse, p[d], direction[d]);
            contact->normal_impulse = p[0];
            contact->held = w->islands[i].answer.held[c];
            if (w->options.sticking) anchor_contact(w, contact, p, b->dim);
            if (!w->formulation->project) w->correction_work += p[0] * fmax(0.0, -row->gap) / s->h;
            for (int d = 0; d < b->dim; d++) w->contact_work -= p[d] * row->drift[d];
        }
        for (int r = 0; r < w->islands[i].row_block_count; r++) {
            const mor_row_block* rows = w->islands[i].rows[r];
            const double* p = w->islands[i].answer.impulses + s->blocks[s->contact_count + r].row;
            if (rows->memory) memcpy(rows->memory, p, (size_t)rows->dim * sizeof *p);
        }
    }
}

static void apply_work(mor_world* w)
{
    w->applied_work = 0.0;
    for (int i = 0; i < w->robot_count; i++) { /* f' nu, with the forces on links and joints gathered by the assembly */
        const mor_robot* r = w->robots[i];
        const double* nu = w->nu_new + w->trees[r->tree].offset;
        int n = r->model->joint_count, offset = w->trees[r->tree].dof - n;
        for (int k = 0; k < w->trees[r->tree].dof; k++) w->applied_work += w->h * r->force[k] * nu[k];
        for (int j = 0; j < n; j++)
            w->applied_work -= w->h * r->gain[j] * (nu[offset + j] - r->nu[offset + j]) * nu[offset + j];
    }
    for (int i = 0; i < w->tree_count; i++) {
        if (w->trees[i].body < 0) continue;
        const mor_body* b = &w->bodies[w->trees[i].body];
        const double* nu = w->nu_new + w->trees[i].offset;
        mor_vec3 v = mor_v3(nu[0], nu[1], w->dimension == 3 ? nu[2] : 0.0);
        mor_vec3 omega =
            w->dimension == 3 ? mor_v3(nu[3], nu[4], nu[5]) : mor_v3(0, 0, w->trees[i].dof == 3 ? nu[2] : 0.0);
        w->applied_work += w->h * (mor_dot(b->force, v) + mor_dot(b->torque, omega));
    }
}

static void fill_report(const mor_world* w, mor_status status, mor_step_report* r)
{
    r->step = w->step;
    r->time = w->time;
    r->status = status;
    r->islands = w->island_count;
    r->contacts = w->contacts.count;
    for (int i = 0; i < w->island_count; i++) {
        const mor_report* one = &w->islands[i].report;
        if (w->islands[i].system.row_count > r->problem_size) r->problem_size = w->islands[i].system.row_count;
        if (one->iterations > r->iterations) r->iterations = one->iterations;
        if (one->residual.relative > r->residual) r->residual = one->residual.relative;
        if (one->residual.velocity > r->velocity_error) r->velocity_error = one->residual.velocity;
        if (one->status != MOR_SOLVED) {
            if (r->failures++ == 0)
                snprintf(r->detail, sizeof r->detail, "%s%s%s", mor_status_name(one->status),
                         one->detail[0] ? ": " : "", one->detail);
        }
    }
    if (w->smooth_detail[0] && !r->detail[0])
        snprintf(r->detail, sizeof r->detail, "%s: %s", mor_status_name(status), w->smooth_detail);
    r->smooth = w->smooth_groups;
    r->reduced = w->reduced_groups;
    r->halvings = w->halvings;
    r->rescued = w->rescued;
    r->sweeps = w->sweeps;
    r->correction_work = w->correction_work;
    r->contact_work = w->contact_work;
    r->applied_work = w->applied_work;
    r->timing = w->timing;
}

/* Solves the islands; `rough` of them are not left to the integrator of smooth motion. */
static mor_status solve_planned(mor_world* w, int* rough)
{
    mor_smooth_plan(w);
    if (w->out_of_memory) return MOR_NUMERICAL;
    mor_status status = mor_stage_solve(w);
    int islands = w->island_count;
    *rough = mor_smooth_sort(w);
    w->island_count = *rough; /* smooth islands need no stabilisation */
    if (*rough || !w->smooth) status = mor_stabilise_positions(w, status, solve_again);
    w->island_count = islands;
    return status;
}

/* One attempt with the present h. The state changes only if the answer is used. */
static mor_status attempt(mor_world* w, bool* used)
{
    double t0 = mor_clock();
    mor_stage_user(w);
    double t1 = mor_clock();
    mor_stage_collide(w);
    double t2 = mor_clock();
    mor_stage_control(w);
    double tc = mor_clock();
    mor_stage_assemble(w);
    double t3 = mor_clock();
    if (w->out_of_memory) return MOR_NUMERICAL;
    int rough = 0;
    mor_status status = solve_planned(w, &rough);
    /* a motor reached or left its limit */
    for (int pass = 0; status == MOR_SOLVED && mor_control_revise(w, pass); pass++) {
        mor_stage_assemble(w);
        if (w->out_of_memory) return MOR_NUMERICAL;
        status = solve_planned(w, &rough);
    }
    store_impulses(w);
    double t4 = mor_clock();
    double solve = 0.0, all = 0.0;
    for (int i = 0; i < w->island_count; i++) {
        solve += w->islands[i].solve_time;
        all += w->islands[i].formulate_time;
    }
    double share = all > 0.0 ? solve / all : 0.0; /* islands may overlap in time */
    w->timing.user += t1 - t0 + (tc - t2);
    w->timing.collision += t2 - t1;
    w->timing.assemble += t3 - tc;
    w->timing.solve += share * (t4 - t3);
    w->timing.formulate += (1.0 - share) * (t4 - t3);
    bool finite = true;
    for (int i = 0; i < w->dof && finite; i++) finite = isfinite(w->nu_new[i]);
    if (!finite && status == MOR_SOLVED) status = MOR_NUMERICAL;
    bool patient = w->options.max_failures == 0 || w->failed_in_row < w->options.max_failures;
    *used = finite && (status == MOR_SOLVED || (w->options.on_failure == MOR_WARN && patient));
    w->failed_in_row = status == MOR_SOLVED ? 0 : w->failed_in_row + 1;
    if (!*used) {
        swap_contacts(w); /* the last good step stays the memory for warm starts */
        return status;
    }
    mor_status smooth = mor_smooth_step(w);
    if (smooth != MOR_SOLVED) {
        *used = false;
        swap_contacts(w);
        return smooth;
    }
    apply_work(w);
    mor_stage_integrate(w);
    if (rough || !w->smooth) mor_stabilise_velocities(w);
    else w->joint_error = mor_world_joint_error(w);
    mor_control_end(w);
    double t5 = mor_clock();
    if (!w->on_collide) { /* the contacts of the new state, kept aside for the next step */
        swap_contacts(w);
        detect_now(w);
        swap_contacts(w);
        w->detected = true;
    }
    double t6 = mor_clock();
    w->timing.integrate += t5 - t4;
    w->timing.collision += t6 - t5;
    return status;
}

/* Retry: the step in 2, 4, ... 16 parts. A part that succeeds stays; the rest is cut finer. */
static mor_status attempt_in_parts(mor_world* w, bool* used)
{
    double h = w->h, end = w->time + h;
    int step = w->step, depth = 1;
    mor_status status = MOR_SOLVED;
    while (depth <= 4 && w->time < end - 1e-12 * h) {
        mor_world_set_step(w, fmin(h / (1 << depth), end - w->time));
        status = attempt(w, used);
        if (status != MOR_SOLVED) depth++;
    }
    *used = status == MOR_SOLVED;
    w->step = step + *used;
    mor_world_set_step(w, h);
    return status;
}

mor_code mor_world_step(mor_world* w, mor_step_report* report, mor_error* error)
{
    mor_step_report local;
    mor_step_report* r = report ? report : &local;
    memset(r, 0, sizeof *r);
    w->timing = (mor_timing){ 0 };
    w->collision_error[0] = '\0';
    double start = mor_clock();
    bool used = false;
    mor_status status = attempt(w, &used);
    if (!used && !w->out_of_memory && w->options.on_failure == MOR_RETRY) status = attempt_in_parts(w, &used);
    if (w->out_of_memory) {
        w->out_of_memory = false;
        return mor_fail(error, MOR_SYSTEM, "out of memory in step %d", w->step + 1);
    }
    if (w->collision_error[0]) return mor_fail(error, MOR_BAD_INPUT, "%s", w->collision_error);
    w->timing.total = mor_clock() - start;
    fill_report(w, status, r);
    r->penetration = mor_world_penetration(w);
    r->raw_penetration = fmax(r->penetration, w->raw_penetration);
    r->projection_work = w->projection_work;
    r->kinetic = mor_world_kinetic_energy(w);
    r->potential = mor_world_potential_energy(w);
    double before = w->observer_count ? mor_clock() : 0.0;
    for (int i = 0; used && i < w->observer_count; i++) w->observers[i].function(w->observers[i].user, w, r);
    r->timing.record = w->observer_count ? mor_clock() - before : 0.0;
    r->timing.total += r->timing.record;
    return MOR_OK;
}
