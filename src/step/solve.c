/* The stage `solve`: formulation and solver, island by island.
 *
 *     plan smooth motion -> solve the islands -> stabilise the positions of joints -> revise motors -> relinearise ->
 *     find struck bodies -> store impulses
 *
 * A motor that reached or left its limit changes the mass block of its robot: the systems are assembled and solved
 * again until the set of limits fits (control/control.c). So does a blow that turns a free body further than the step
 * resolves (model/tree.c), and friction of planar bodies with the plane they lie on whose slip is not yet the one it
 * was linearised about (model/support_step.c). Islands run on as many threads as the world was given; the answers do
 * not depend on it. Large islands come first, one after the other, where the formulation gives each of them to all
 * threads. */
#include "base/workers.h"
#include "base/elementary.h"
#include "control/control.h"
#include "formulation/assemble.h"
#include "formulation/equations.h"
#include "formulation/impact.h"
#include "formulation/kept_rows.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "model/support.h"
#include "solver/untimed.h"
#include "step/relinearise.h"
#include "step/rest.h"
#include "step/smooth.h"
#include "step/stabilise.h"
#include "step/stages.h"

#include <stdio.h>
#include <string.h>

/* m/s: what fast methods are asked for, so that the errors of many steps from each other's answers stay below the goal
 * */
#define AIM 1e-10
#define EXACT 1e-11 /* m/s: the error of an answer that no method needs to improve */

typedef struct solve_user {
    const mor_world* world;
    mor_island* island;
    const mor_solver* solver;
    const void* options;
    bool whole;     /* the step is timed as a whole */
    bool divisible; /* it may be taken in parts */
} solve_user;

/* The velocity error that counts as failure [m/s]. */
static double failing_error(const mor_world* w) { return mor_max(w->options.limit, 10.0 * w->solver_options.tol); }

/* What a formulation calls: the chosen solver, timed and judged. */
static mor_report run_solver(mor_solve_stage* stage, const mor_problem* problem, bool warm, double* z)
{
    solve_user* u = stage->user;
    const mor_solver_options* own = &u->world->solver_options;
    mor_solve_options o = mor_solve_options_default();
    /* the world's tolerance is a velocity; converted problems are judged by their relative error */
    bool step = problem->form & (MOR_STEP_PYRAMID | MOR_STEP_CONE);
    o.tol = step ? mor_max(own->tol, stage->coarse) : mor_min(own->tol, 1e-10);
    if (step) o.aim = mor_min(o.tol, mor_max(AIM, stage->coarse)), o.limit = failing_error(u->world);
    o.max_iter = own->max_iter;
    o.time_limit = own->time_limit;
    o.interrupt = u->world->interrupt;
    o.divisible = u->divisible;
    o.warm = warm;
    o.trace = u->island->trace;
    mor_report report = u->whole ? mor_solve_untimed(u->solver, u->options, problem, &o, z, stage->arena)
                                 : mor_solve(u->solver, u->options, problem, &o, z, stage->arena);
    u->island->solve_time += report.time_s;
    return report;
}

static void solve_with(const mor_step* k, mor_island* island, const mor_solver* solver, const void* options,
                       mor_arena* arena, struct mor_workers* workers)
{
    const mor_world* w = k->w;
    solve_user user = { w, island, solver, options, k->whole, k->may_part };
    const mor_system* s = &island->system;
    /* one factor for this solve and for the rounds of stabilise.c: it stays in the arena */
    if (!island->equations && w->options.stabilisation == MOR_STABILISE_IMPULSE && s->contact_count == 0 &&
        w->formulation->produces & (MOR_STEP_PYRAMID | MOR_STEP_CONE)) {
        mor_step_form form = mor_system_form(s);
        if (mor_equations_only(&form)) island->equations = mor_equations_factor(&form, island->free_bodies, arena);
        if (island->equations && strcmp(solver->name, "auto") == 0) /* it would take the answer as it is */
            mor_equations_accept(island->equations, mor_min(EXACT, w->solver_options.tol));
    }
    mor_solve_stage stage = { run_solver, arena, &user, 0.0, island->equations, workers, NULL };
    size_t mark = mor_arena_mark(arena);
    island->report =
        w->on_solve ? w->on_solve(w->on_solve_data, &island->system, &stage, &island->answer)
                    : mor_impact_step(w->formulation, w->formulation_options, &island->system, &stage, &island->answer);
    mor_arena_release(arena, mark);
}

static void try_island(const mor_step* k, mor_island* island, mor_arena* arena, struct mor_workers* workers)
{
    const mor_world* w = k->w;
    solve_with(k, island, w->solver, w->solver_own_options, arena, workers);
    if (mor_report_answers(w, &island->report) || w->options.on_failure != MOR_RETRY) return;
    /* retry: the library's `auto`, or the pivoting method where there is none */
    const mor_solver* other = mor_library_solver(w->library, "auto");
    if (!other) other = mor_library_solver(w->library, "lemke");
    if (!other || other == w->solver) return;
    memset(island->answer.impulses, 0, (size_t)island->system.row_count * sizeof(double));
    solve_with(k, island, other, NULL, arena, workers);
}

/* An island by one thread, or by all. */
static void solve_by(mor_step* k, int index, int worker, struct mor_workers* workers)
{
    mor_island* island = &k->islands[index];
    if (island->skip) return;
    if (island->kept >= 0) {
        mor_kept_answer(k, island);
        return;
    }
    const bool timed = k->threads > 1 && !k->whole; /* alone it is what the stage takes */
    double start = timed ? mor_clock() : 0.0;
    try_island(k, island, k->thread_arenas[worker], workers);
    mor_rest_hold(k->w, island, k->thread_arenas[worker]);
    if (timed) island->formulate_time += mor_clock() - start;
}

enum { LARGE = 512 }; /* contacts */

/* Do all threads work on this island together, if there are several? */
static bool is_shared(const mor_step* k, int index)
{
    return k->w->formulation->threads && !k->w->on_solve && k->islands[index].system.contact_count >= LARGE;
}

static void solve_island(void* user, int index, int worker)
{
    mor_step* k = user;
    if (!is_shared(k, index)) solve_by(k, index, worker, NULL);
}

/* Missed the goal, but not so far that it counts as a failure. An error of exactly 0 was not measured: no excuse. */
bool mor_report_below_goal(const mor_world* w, const mor_report* report)
{
    double error = report->residual.velocity;
    return report->status == MOR_NOT_CONVERGED && error > 0.0 && error <= failing_error(w);
}

bool mor_report_answers(const mor_world* w, const mor_report* report)
{
    return report->status == MOR_SOLVED || report->status == MOR_APPROXIMATE || mor_report_below_goal(w, report);
}

/* Checks the velocities of an island and hands them to the step. */
static void take_answer(mor_step* k, mor_island* island)
{
    const mor_system* s = &island->system;
    for (int i = 0; i < s->dof; i++)
        if (!isfinite(island->answer.nu[i]) && island->report.status == MOR_SOLVED) {
            island->report.status = MOR_NUMERICAL;
            snprintf(island->report.detail, sizeof island->report.detail, "a velocity is not finite");
        }
    for (int t = 0; t < s->tree_count; t++)
        memcpy(k->nu_new + k->w->trees[island->tree_of[t]].offset, island->answer.nu + s->trees[t].offset,
               (size_t)s->trees[t].dof * sizeof(double));
    for (int t = 0; k->nu_move && island->answer.move && t < s->tree_count; t++)
        memcpy(k->nu_move + k->w->trees[island->tree_of[t]].offset, island->answer.move + s->trees[t].offset,
               (size_t)s->trees[t].dof * sizeof(double));
}

/* One island once more, after its rows were changed. */
static void solve_again(mor_step* k, int index)
{
    solve_by(k, index, 0, NULL);
    take_answer(k, &k->islands[index]);
}

/* Where anything bounces, positions move with other velocities than those of the end (formulation/impact.c). */
static bool make_moves(mor_step* k)
{
    const mor_world* w = k->w;
    const mor_formulation* f = w->formulation;
    bool moves = !w->on_integrate && !w->stored && (f->flies || (f->impacts && mor_world_bounces(w)));
    for (int i = 0; i < k->contacts.count && f->impacts && !moves; i++) /* of a custom collision stage */
        moves = ((const mor_contact*)k->contacts.data)[i].restitution > 0.0;
    k->nu_move = NULL;
    if (!moves) return true;
    k->nu_move = mor_arena_alloc(k->arena, ((size_t)k->dof + 1) * sizeof(double));
    double* at = mor_arena_alloc(k->arena, ((size_t)k->dof + 1) * sizeof(double));
    if (!k->nu_move || !at) return false;
    for (int i = 0; i < k->dof; i++) k->nu_move[i] = NAN;
    for (int i = 0; i < k->island_count; i++) {
        k->islands[i].answer.move = at;
        for (int d = 0; d < k->islands[i].system.dof; d++) *at++ = NAN;
    }
    return true;
}

/* All islands of the assembled systems. */
static mor_code solve_islands(mor_step* k)
{
    k->tried = NULL;
    mor_code code = mor_smooth_plan(k);
    if (code) return code;
    if (!make_moves(k)) return MOR_SYSTEM;
    for (int i = 0; i < k->threads; i++) mor_arena_reset(k->thread_arenas[i]);
    for (int i = 0; i < k->island_count; i++)
        if (is_shared(k, i)) solve_by(k, i, 0, k->threads > 1 ? k->workers : NULL);
    mor_workers_run(k->workers, k->island_count, solve_island, k);
    k->status = MOR_SOLVED;
    for (int i = 0; i < k->island_count; i++) {
        take_answer(k, &k->islands[i]);
        const mor_report* report = &k->islands[i].report;
        if (!mor_report_answers(k->w, report)) k->status = report->status;
    }
    k->rough = mor_smooth_sort(k);
    /* smooth islands need no stabilisation */
    return k->rough || !k->plan.smooth ? mor_stabilise_positions(k, solve_again) : MOR_OK;
}

/* A contact strictly inside its cone sticks: it is anchored here, unless it is already. */
static void anchor_contact(const mor_world* w, mor_contact* c, const double* p, int dim)
{
    double tangential = dim > 2 ? mor_hypot(p[1], p[2]) : dim > 1 ? fabs(p[1]) : INFINITY;
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

/* Impulses of an answer go back to the contacts from `first` to before `last`. */
static void store_contacts(const mor_step* k, const mor_island* island, int first, int last)
{
    const mor_world* w = k->w;
    const mor_system* s = &island->system;
    const mor_contact* before = NULL; /* those of two bodies have mostly one normal, and its tangents */
    mor_vec3 direction[3];
    for (int c = first; c < last; c++) {
        const mor_contact_row* row = &s->contacts[c];
        const mor_block* b = &s->blocks[row->block];
        const double* p = island->answer.impulses + b->row;
        mor_contact* contact = &((mor_contact*)k->contacts.data)[row->contact];
        bool known = before && w->options.friction_align != 1 &&
                     memcmp(&before->normal, &contact->normal, sizeof before->normal) == 0;
        direction[0] = contact->normal;
        if (!known) mor_contact_tangents(w, contact, &direction[1], &direction[2]);
        before = contact;
        contact->impulse = mor_v3(0, 0, 0);
        for (int d = 0; d < b->dim && d < 3; d++) contact->impulse = mor_madd(contact->impulse, p[d], direction[d]);
        contact->moment = mor_v3(0, 0, 0);
        for (int d = 3; d < b->dim; d++)
            contact->moment = mor_madd(contact->moment, row->turning * p[d], direction[(d - 2) % 3]);
        contact->normal_impulse = p[0];
        contact->held = island->answer.held[c];
        if (w->options.sticking) anchor_contact(w, contact, p, b->dim);
    }
}

enum { STORED = 128 }; /* contacts of a task */

typedef struct storing {
    const mor_step* k;
    const mor_island* island;
} storing;

static void store_part(void* user, int index, int worker)
{
    (void)worker;
    const storing* t = user;
    int end = (index + 1) * STORED, count = t->island->system.contact_count;
    store_contacts(t->k, t->island, index * STORED, end < count ? end : count);
}

/* Impulses of the answer go back to the contacts; the works of the step (docs/notation.md). */
static void store_impulses(mor_step* k)
{
    const mor_world* w = k->w;
    k->correction_work = k->contact_work = 0.0;
    for (int i = 0; i < k->island_count; i++) {
        const mor_system* s = &k->islands[i].system;
        storing t = { k, &k->islands[i] };
        if (s->contact_count >= LARGE)
            mor_workers_run(k->workers, (s->contact_count + STORED - 1) / STORED, store_part, &t);
        else store_contacts(k, &k->islands[i], 0, s->contact_count);
        for (int c = 0; c < s->contact_count; c++) {
            const mor_contact_row* row = &s->contacts[c];
            const mor_block* b = &s->blocks[row->block];
            const double* p = k->islands[i].answer.impulses + b->row;
            if (!w->formulation->project && !k->relinearised)
                k->correction_work += p[0] * mor_max(0.0, -row->gap) / s->h;
            for (int d = 0; d < b->dim; d++) k->contact_work -= p[d] * row->drift[d];
        }
        for (int r = 0; r < k->islands[i].row_block_count; r++) {
            const mor_row_block* rows = k->islands[i].rows[r];
            const double* p = k->islands[i].answer.impulses + s->blocks[s->contact_count + r].row;
            if (rows->memory) memcpy(rows->memory, p, (size_t)rows->dim * sizeof *p);
        }
    }
}

/* May the answers become the state? */
static void judge_answers(mor_step* k)
{
    const mor_world* w = k->w;
    bool finite = true;
    for (int i = 0; i < k->dof && finite; i++) finite = isfinite(k->nu_new[i]);
    if (!finite && k->status == MOR_SOLVED) k->status = MOR_NUMERICAL;
    bool patient = w->options.max_failures == 0 || w->failed_in_row < w->options.max_failures;
    k->usable = finite && (k->status == MOR_SOLVED || (w->options.on_failure == MOR_WARN && patient));
}

/* Marks the free bodies that a blow turns further than the step resolves; true if there are new ones: the systems are
 * assembled and solved again. */
static bool find_struck(mor_step* k)
{
    mor_world* w = k->w;
    int before = k->struck;
    if (w->on_integrate) return false;
    if (w->formulation->explicit_positions && w->formulation->explicit_positions(w->formulation_options)) return false;
    for (int i = 0; i < w->tree_count; i++) {
        const mor_tree* t = &w->trees[i];
        if (t->kind != &mor_tree_free || (k->plan.smooth && k->plan.smooth[i])) continue;
        if (!mor_free_is_struck(w, t, k->nu_free + t->offset, k->nu_new + t->offset, k->mass + k->mass_start[i]))
            continue;
        w->bodies[t->body].struck = true;
        k->struck++;
    }
    return k->struck > before;
}

/* The systems once more, after what they are made of has changed. */
static mor_code assemble_again(mor_step* k)
{
    mor_arena_reset(k->arena);
    return mor_assemble(k) ? solve_islands(k) : MOR_SYSTEM;
}

mor_code mor_do_solve(const mor_world* world, mor_step* k, mor_error* error)
{
    k->relinearised = false;
    mor_code code = solve_islands(k);
    for (int pass = 0; !code && k->status == MOR_SOLVED && mor_control_revise(k, pass); pass++)
        code = assemble_again(k);
    if (!code) code = mor_relinearise(k, assemble_again, error);
    while (!code && k->status == MOR_SOLVED && mor_support_revise(k)) code = assemble_again(k);
    mor_support_forget(k);
    while (!code && (k->status == MOR_SOLVED || world->options.on_failure == MOR_WARN) && find_struck(k))
        code = assemble_again(k);
    if (code) return code;
    store_impulses(k);
    judge_answers(k);
    return MOR_OK;
}
