/* The derivative of a step by the implicit function theorem.
 *
 * A step is   nu+ = V(z) = nu_free(z) + M^-1 G p,   u = G' nu+ + b(z),   (p, u) obey the contact law,   z+ = E(z, nu+).
 * Along a direction dz, with dV and du_0 the changes of V and u at fixed p and nu+ (look.h), W = G' M^-1 G:
 *
 *     du = du_0 + G' dV + W dp,    A_p dp + A_u du + g dmu = 0  (law.c)
 *     (A_p + A_u W) dp = -A_u (du_0 + G' dV) - g dmu,    dnu+ = dV + M^-1 G dp,    dz+ = E_z dz + E_nu dnu+
 *
 * Only contacts that bear an impulse have rows (active.c). dV, du_0 and dE are made tree by tree and contact by contact
 * (slopes.h), or where that is not known as central differences of assemblies (look.h); the solve itself, which is not
 * smooth, is never differenced.
 *
 * A contact on the edge between two phases has two derivatives. It is taken as open (sliding); if its velocity changes
 * along any direction the step is not differentiable, and the report says so.
 *
 * docs/methods/derivatives.md has the whole story and the references. */
#include "derivative/active.h"
#include "derivative/look.h"
#include "derivative/patch.h"
#include "derivative/projection.h"
#include "derivative/sided.h"
#include "derivative/slopes.h"
#include "derivative/smooth.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "formulation/registry.h"
#include "formulation/rows.h"
#include "formulation/step_problem.h"
#include "linalg/dense.h"
#include "linalg/rows.h"
#include "moreau/control.h"
#include "moreau/state.h"
#include "step/draft.h"
#include "step/stages.h"

#include <stdio.h>
#include <string.h>

#define EDGE 1e-7   /* m/s: velocities below it do not tell a phase */
#define ASKED 1e-12 /* m/s: accuracy the step is solved to */
#define ROUGHLY                                                                                                        \
    1e-10            /* m/s: and at first, where it can be solved again; enough for contacts that stick or slide fast */
#define OF_SLIP 1e-9 /* of the slowest slip: its direction must be known */
#define ENOUGH 1e-7  /* m/s: and what it must have reached */

/* ------------------------------------------------------------------------------------ what is refused */

static bool named(const char* name, const char* const* list)
{
    for (; *list; list++)
        if (strcmp(name, *list) == 0) return true;
    return false;
}

/* Formulations whose rows are not those of look.h: which planes hold is part of their answer, or gaps are left out.
 * They are solved exactly, so differences of whole steps tell (whole.c). */
static const char* by_steps(const mor_world* w)
{
    static const char* const exact[] = { "peg", "peg-heuristic", "peg-exact", NULL };
    if (named(w->formulation->name, exact)) return "exact geometry, which chooses planes";
    return strcmp(w->formulation->name, "ap") == 0 ? "rows that leave gaps out" : NULL;
}

static mor_code check_gain(const mor_world* w, const mor_input* in, int k, mor_error* error)
{
    int count = mor_world_controller_count(w);
    if (in->index < 0 || in->index >= count)
        return mor_fail(error, MOR_BAD_INPUT, "input %d: controller %d; there are %d", k, in->index, count);
    const mor_controller_def* def = mor_world_controller(w, in->index);
    int joints = mor_robot_joint_count(w->robots[def->robot]->model);
    if (in->component < 0 || in->component >= joints)
        return mor_fail(error, MOR_BAD_INPUT, "input %d: joint %d; there are %d", k, in->component, joints);
    return mor_input_gain(w, in)
               ? MOR_OK
               : mor_fail(error, MOR_BAD_INPUT, "input %d: controller %d has no such number", k, in->index);
}

mor_code mor_input_check(const mor_world* w, const mor_input* in, int k, mor_error* error)
{
    if (in->kind >= MOR_INPUT_KP) return check_gain(w, in, k, error);
    bool body = in->kind == MOR_INPUT_FORCE || in->kind == MOR_INPUT_MASS || in->kind == MOR_INPUT_SIZE;
    bool material = in->kind == MOR_INPUT_FRICTION || in->kind == MOR_INPUT_RESTITUTION;
    int most = body                                ? w->alive_count
               : material                          ? w->material_count
               : in->kind == MOR_INPUT_JOINT_FORCE ? w->robot_count
                                                   : 1;
    int parts = in->kind == MOR_INPUT_FORCE ? 6 : in->kind == MOR_INPUT_GRAVITY ? 3 : 1;
    if (in->index < 0 || in->index >= most)
        return mor_fail(error, MOR_BAD_INPUT, "input %d: index %d; there are %d", k, in->index, most);
    if (in->kind == MOR_INPUT_JOINT_FORCE) parts = mor_robot_joint_count(w->robots[in->index]->model);
    if (in->component < 0 || in->component >= parts)
        return mor_fail(error, MOR_BAD_INPUT, "input %d: component %d; there are %d", k, in->component, parts);
    const mor_body* b = body ? &w->bodies[w->order[in->index]] : NULL;
    if (b && in->kind != MOR_INPUT_SIZE && (b->kind != MOR_DYNAMIC || (b->robot && in->kind == MOR_INPUT_MASS)))
        return mor_fail(error, MOR_BAD_INPUT, "input %d: body '%s' has no %s of its own", k, b->name,
                        in->kind == MOR_INPUT_MASS ? "mass" : "motion");
    return MOR_OK;
}

static mor_code check(const mor_world* w, const mor_input* inputs, int count, mor_error* error)
{
    static const char* const known[] = { "ncp", "mncp", "implicit", "st", "convex", NULL };
    if (!named(w->formulation->name, known) && !by_steps(w))
        return mor_fail(error, MOR_BAD_INPUT,
                        "the formulation '%s' has no derivative; ncp, mncp, implicit, st, convex, ap, peg, "
                        "peg-heuristic and peg-exact have one",
                        w->formulation->name);
    if (strcmp(w->integrator->name, "semi-implicit") != 0)
        return mor_fail(error, MOR_BAD_INPUT, "the integrator '%s' has no derivative; semi-implicit has one",
                        w->integrator->name);
    if (w->adaptive.on) return mor_fail(error, MOR_BAD_INPUT, "steps of variable length have no derivative");
    if (w->on_solve || w->on_collide || w->on_integrate || w->stored)
        return mor_fail(error, MOR_BAD_INPUT, "a stage of the caller's, or a stored frame, has no derivative");
    mor_code code = MOR_OK;
    for (int i = 0; !code && i < count; i++) code = mor_input_check(w, &inputs[i], i, error);
    return code;
}

/* -------------------------------------------------------------------------------------- the base step */

/* The step was taken before: its contacts need not be found, and its impulses are the guess. */
static bool know_contacts(mor_derivation* d)
{
    mor_step* k = d->base;
    size_t size = sizeof *d->known;
    if (!mor_buffer_reserve(&k->allocator, &k->ahead, d->known_count, size)) return false;
    if (d->known_count) memcpy(k->ahead.data, d->known, (size_t)d->known_count * size);
    k->ahead.count = d->known_count;
    k->last = d->known, k->last_count = d->known_count;
    return true;
}

/* Velocities from the impulses that the step had when it was taken. False: other rows than contacts, or impacts. */
static bool take_known(mor_derivation* d)
{
    mor_step* k = d->base;
    bool can = d->known && !k->w->joints.count && !mor_world_bounces(k->w) && !k->w->options.relinearise;
    for (int i = 0; i < k->island_count && can; i++) can = !k->islands[i].row_block_count;
    k->nu_move = NULL;
    for (int i = 0; i < k->island_count && can; i++) {
        const mor_island* island = &k->islands[i];
        const mor_system* s = &island->system;
        mor_system_velocity(s, island->answer.impulses, island->answer.nu);
        for (int t = 0; t < s->tree_count; t++)
            memcpy(k->nu_new + k->w->trees[island->tree_of[t]].offset, island->answer.nu + s->trees[t].offset,
                   (size_t)s->trees[t].dof * sizeof(double));
    }
    if (can) k->status = MOR_SOLVED, k->usable = true;
    return can;
}

/* Which contacts the rows hold at the point where they stuck; the answer of the step decides anew. */
static bool note_anchors(mor_derivation* d)
{
    const mor_contact* contacts = d->base->contacts.data;
    if (!d->base->w->options.sticking) return true;
    d->anchored = mor_arena_zero(d->arena, (size_t)d->base->contacts.count + 1, sizeof *d->anchored);
    for (int i = 0; d->anchored && i < d->base->contacts.count; i++) d->anchored[i] = contacts[i].anchored;
    return d->anchored != NULL;
}

static mor_code solve_base(mor_derivation* d, mor_error* error)
{
    mor_world* w = d->world;
    mor_code code = mor_stage_user(w, d->base, error);
    if (code) return code;
    d->finest = w->control || w->joints.count;
    d->base->w->solver_options.tol = mor_min(w->solver_options.tol, d->finest ? ASKED : ROUGHLY);
    d->base->w->detected = d->base->found_ahead = d->known != NULL;
    if (d->known && !know_contacts(d)) return MOR_SYSTEM;
    if (!code) code = mor_do_collide(w, d->base, error);
    if (!code) code = mor_do_control(w, d->base, error);
    if (!code) code = mor_do_assemble(w, d->base, error);
    if (!code && !note_anchors(d)) return MOR_SYSTEM;
    d->taken = !code && take_known(d);
    if (!code && !d->taken) code = mor_do_solve(w, d->base, error);
    return code;
}

static double base_error(const mor_step* k)
{
    double error = 0.0;
    for (int i = 0; i < k->island_count; i++) error = mor_max(error, k->islands[i].report.residual.velocity);
    return error;
}

/* Where the numbers of nu are in the trees. */
static bool map_velocities(mor_derivation* d)
{
    const mor_world* w = d->world;
    d->n = mor_world_nu_count(w);
    d->tree = mor_arena_alloc(d->arena, ((size_t)d->n + 1) * sizeof(int));
    d->part = mor_arena_alloc(d->arena, ((size_t)d->n + 1) * sizeof(int));
    if (!d->tree || !d->part) return false;
    int k = 0;
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->robot || b->tree < 0) continue;
        for (int j = 0; j < w->trees[b->tree].dof; j++, k++) d->tree[k] = b->tree, d->part[k] = j;
    }
    for (int i = 0; i < w->robot_count; i++)
        for (int j = 0; j < w->trees[w->robots[i]->tree].dof; j++, k++) d->tree[k] = w->robots[i]->tree, d->part[k] = j;
    return k == d->n;
}

static void not_here(mor_derivative* out, const char* format, const char* a, const char* b)
{
    if (!out->differentiable) return;
    out->differentiable = false;
    snprintf(out->why, sizeof out->why, format, a, b);
}

/* A bounded row strictly between its bounds holds its velocity; at a bound its impulse stays. */
static bool row_moves(const mor_system* s, const mor_block* b, const double* p, double u, double* margin, bool* weak)
{
    double W = s->diagonal[s->diagonal_start[b - s->blocks]];
    double inside = W * mor_min(p[0] - b->lower, b->upper - p[0]);
    *margin = fabs(inside - fabs(u));
    *weak = inside < EDGE && fabs(u) < EDGE;
    return inside > fabs(u) && !*weak;
}

static double row_velocity(const mor_system* s, const mor_block* b, int r, const double* nu, double bias)
{
    double u = bias;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + r * t->dof;
        for (int m = 0; m < t->dof; m++) u += J[m] * nu[t->offset + m];
    }
    return u;
}

/* Keeps a block of an island: its impulses and its law. */
static void keep(mor_derivation* d, int island, int block, int contact, const mor_law* law, mor_laws* l)
{
    const mor_island* it = &d->base->islands[island];
    const mor_block* b = &it->system.blocks[block];
    mor_kept* k = &d->kept[d->kept_count];
    bool clipped = contact >= 0 && -it->system.contacts[block].gap / it->system.h > it->system.contacts[block].recovery;
    *k = (mor_kept){ island, block, d->rows, b->dim, contact, law->phase == MOR_PHASE_STICK, clipped, 0 };
    memcpy(d->p + d->rows, it->answer.impulses + b->row, (size_t)b->dim * sizeof(double));
    if (law->weak) l->weak[l->weak_count++] = d->kept_count;
    l->law[d->kept_count++] = *law;
    d->rows += b->dim;
    for (int e = b->entry; e < b->entry + b->entry_count; e++)
        d->loaded[it->tree_of[it->system.entries[e].tree]] = true;
}

/* A contact that pushes, and a tree of it that moves neither with nu+ nor with the mean: the impact splits its step. */
static bool bounces(const mor_derivation* d, const mor_island* it, const mor_block* b)
{
    for (int e = b->entry; d->base->nu_move && e < b->entry + b->entry_count; e++) {
        const mor_tree* t = &d->base->w->trees[it->tree_of[it->system.entries[e].tree]];
        if (!mor_moves_by(d, t, 1.0)) return true;
    }
    return false;
}

/* By how much an answer of the cone misses the law of its phase [m/s]. */
static double law_error(const mor_law* l, int dim, const double* p, const double* u, double mu, const double* W)
{
    double error = 0.0, slip = mor_hypot(l->slip[0], l->slip[1]);
    if (l->phase == MOR_PHASE_OPEN) {
        for (int r = 0; r < dim; r++) error = mor_max(error, W[0] * fabs(p[r]));
        return mor_max(error, -u[0]);
    }
    error = fabs(u[0]);
    for (int r = 1; r < dim && l->phase == MOR_PHASE_STICK; r++) error = mor_max(error, fabs(u[r]));
    for (int r = 1; r < dim && l->phase == MOR_PHASE_SLIDE && slip > 0.0; r++)
        error = mor_max(error, W[dim + 1] * fabs(p[r] + mu * p[0] * l->slip[r - 1] / slip));
    return error;
}

/* Joints that a step closes, and mechanisms whose energy it keeps where that is off by more than 1e-9
 * (step/stabilise.c, step/mechanism_energy.c). Within their tolerances neither acts, but next to the state they do: the
 * slope over any length that matters is theirs. */
static bool joints_are_closed(const mor_world* w)
{
    int how = w->options.stabilisation;
    return w->joints.count && (how == MOR_STABILISE_IMPULSE || how == MOR_STABILISE_PROJECTION);
}

/* Chooses the rows of one island. */
static mor_code keep_island(mor_derivation* d, int island, mor_laws* l, mor_derivative* out, mor_error* error)
{
    const mor_island* it = &d->base->islands[island];
    const mor_system* s = &it->system;
    bool relaxed = strcmp(d->world->formulation->name, "convex") == 0;
    int directions = strcmp(d->world->formulation->name, "st") == 0 ? s->directions : 0;
    double regularisation = d->regular = relaxed ? *(const double*)d->world->formulation_options : 0.0;
    double* bias = mor_arena_zero(d->arena, (size_t)s->row_count + 1, sizeof *bias);
    if (!bias) return MOR_SYSTEM;
    mor_bias_stewart_trinkle(s, bias);
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        const double *p = it->answer.impulses + b->row, *W = s->diagonal + s->diagonal_start[i];
        mor_law law = { .margin = INFINITY, .phase = MOR_PHASE_STICK };
        if (b->kind == MOR_BLOCK_CONTACT) {
            if (b->dim > 3) return mor_fail(error, MOR_BAD_INPUT, "rolling and drilling friction have no derivative");
            double u[3];
            for (int r = 0; r < b->dim; r++) u[r] = row_velocity(s, b, r, it->answer.nu, bias[b->row + r]);
            law = mor_contact_law(b->dim, p, u, s->contacts[i].friction, W, directions, relaxed, regularisation * W[0],
                                  EDGE);
            const mor_contact_row* c = &s->contacts[i];
            if (d->taken) d->law_error = mor_max(d->law_error, law_error(&law, b->dim, p, u, c->friction, W));
            if (law.phase != MOR_PHASE_OPEN && !law.weak) /* deeper, the gap does not count; less deep, it does */
                law.margin = mor_min(law.margin, fabs(c->gap / s->h + c->recovery));
            if (c->restitution > 0.0 && p[0] > 0.0 && bounces(d, it, b)) d->unknown = "an impact with restitution";
            out->open += law.phase == MOR_PHASE_OPEN;
            out->sticking += law.phase == MOR_PHASE_STICK;
            out->sliding += law.phase == MOR_PHASE_SLIDE;
            if (law.phase == MOR_PHASE_SLIDE) l->slip = mor_min(l->slip, mor_hypot(law.slip[0], law.slip[1]));
            if (law.phase == MOR_PHASE_OPEN && !law.weak) out->distance = mor_min(out->distance, law.margin);
            if (law.phase == MOR_PHASE_OPEN && !law.weak && d->smoothing == 0.0) continue;
            if (d->smoothing > 0.0) law.weak = false, law.phase = MOR_PHASE_SLIDE; /* none of its own (smooth.c) */
        } else if (b->kind == MOR_BLOCK_BOUNDED) {
            double u = row_velocity(s, b, 0, it->answer.nu, bias[b->row]);
            bool moves = row_moves(s, b, p, u, &law.margin, &law.weak);
            if (law.weak) law.A_p[0] = 1.0;
            else if (moves) law.A_u[0] = 1.0;
            else law.A_p[0] = 1.0; /* at a bound: its impulse acts and stays */
        }
        for (int r = 0; b->kind == MOR_BLOCK_EQUATION && r < b->dim && b->dim <= 3; r++) law.A_u[r * b->dim + r] = 1.0;
        if (b->kind == MOR_BLOCK_EQUATION && joints_are_closed(d->world)) d->unknown = "the stabilisation of joints";
        out->distance = mor_min(out->distance, law.weak ? 0.0 : law.margin);
        keep(d, island, i, i < s->contact_count ? s->contacts[i].contact : -1, &law, l);
        if (i >= s->contact_count)
            d->kept[d->kept_count - 1].key = mor_memory_key(d->base, it->rows[i - s->contact_count]->memory);
        out->weak += law.weak;
    }
    return MOR_OK;
}

/* What the contacts of the base step did, by their impulses alone. */
static void count_contacts(const mor_derivation* d, mor_derivative* out)
{
    const mor_contact* c = d->base->contacts.data;
    for (int i = 0; i < d->base->contacts.count; i++) {
        double tangential = mor_norm(mor_madd(c[i].impulse, -c[i].normal_impulse, c[i].normal));
        bool closed = c[i].normal_impulse > 0.0;
        bool sticks = closed && tangential < c[i].friction * c[i].normal_impulse * (1.0 - 1e-9);
        out->open += !closed;
        out->sticking += sticks;
        out->sliding += closed && !sticks;
    }
    out->distance = NAN;
}

static mor_code keep_rows(mor_derivation* d, mor_laws* l, mor_derivative* out, mor_error* error)
{
    int blocks = 1, rows = 1;
    for (int i = 0; i < d->base->island_count; i++) {
        blocks += d->base->islands[i].system.block_count;
        rows += d->base->islands[i].system.row_count;
    }
    d->kept = mor_arena_zero(d->arena, (size_t)blocks, sizeof *d->kept);
    d->p = mor_arena_zero(d->arena, (size_t)rows, sizeof(double));
    d->loaded = mor_arena_zero(d->arena, (size_t)d->base->w->tree_count + 1, sizeof *d->loaded);
    d->bias_shift = mor_arena_zero(d->arena, (size_t)rows, sizeof(double));
    l->law = mor_arena_zero(d->arena, (size_t)blocks, sizeof *l->law);
    l->weak = mor_arena_zero(d->arena, (size_t)blocks, sizeof(int));
    if (!d->kept || !d->p || !d->loaded || !d->bias_shift || !l->law || !l->weak) return MOR_SYSTEM;
    mor_code code = MOR_OK;
    l->slip = INFINITY;
    d->unknown = by_steps(d->world);
    if (d->unknown) {
        count_contacts(d, out);
        return MOR_OK;
    }
    for (int i = 0; !code && i < d->base->island_count; i++) code = keep_island(d, i, l, out, error);
    return code;
}

/* Once more: the answer of the known step is not as good as is needed; or to ASKED: a contact slips so slowly that its
 * direction is not known well enough. */
static mor_code solve_finer(mor_derivation* d, mor_laws* l, mor_derivative* out, mor_error* error)
{
    bool fine = out->residual <= OF_SLIP * l->slip || out->residual <= ASKED;
    if (d->taken) fine = out->residual <= (d->finest || isfinite(l->slip) ? ASKED : ROUGHLY);
    if (fine || (d->finest && !d->taken)) return MOR_OK;
    if (!d->taken) d->finest = true;
    d->taken = false;
    d->base->w->solver_options.tol = mor_min(d->world->solver_options.tol, d->finest ? ASKED : ROUGHLY);
    mor_code code = mor_do_solve(d->world, d->base, error);
    if (code) return code;
    out->residual = base_error(d->base);
    memcpy(d->nu, d->base->nu_new, (size_t)d->dof * sizeof(double));
    out->open = out->sticking = out->sliding = out->weak = 0;
    out->distance = INFINITY;
    d->kept_count = d->rows = 0;
    d->unknown = NULL;
    *l = (mor_laws){ 0 };
    code = keep_rows(d, l, out, error);
    return code || d->finest ? code : solve_finer(d, l, out, error);
}

/* ---------------------------------------------------------------------------------------- verdict */

/* Blocks on an edge do no harm when no direction changes their velocity: redundant supports, for instance. */
static void judge_weak(const mor_derivation* d, const mor_laws* l, const mor_columns* c, mor_derivative* out)
{
    for (int i = 0; i < l->weak_count; i++) {
        const mor_kept* k = &d->kept[l->weak[i]];
        double most = 0.0, u[6];
        for (int j = 0; j < c->count; j++) {
            memset(u, 0, sizeof u);
            mor_active_velocity(d, k, c->V + (size_t)j * d->dof, u);
            for (int m = 0; m < k->dim; m++) most = mor_max(most, fabs(u[m] + c->u[(size_t)j * d->rows + k->row + m]));
        }
        if (most < 1e-7) continue;
        if (k->contact < 0) {
            not_here(out, "a bound of a joint is about to act or to let go", "", "");
            continue;
        }
        const mor_contact* contact = (const mor_contact*)d->base->contacts.data + k->contact;
        const mor_world* w = d->world;
        not_here(out, "the contact of '%s' and '%s' is on the edge between two states",
                 w->bodies[w->order[contact->body[0]]].name, w->bodies[w->order[contact->body[1]]].name);
    }
}

/* The trial at the state itself must repeat the base step: its velocities, and rows of joints that hold. */
static mor_code compare_with_base(mor_derivation* d, mor_look* look, mor_error* error)
{
    mor_code code = mor_look_at(d, -1, 0.0, look, error);
    if (code) return code;
    double most = 0.0, scale = 1.0, off = 0.0;
    for (int i = 0; i < d->dof; i++) {
        most = mor_max(most, fabs(look->V[i] - d->nu[i]));
        scale = mor_max(scale, fabs(d->nu[i]));
    }
    for (int k = 0; k < d->kept_count; k++) {
        const mor_kept* kept = &d->kept[k];
        const mor_block* b = &d->base->islands[kept->island].system.blocks[kept->block];
        for (int r = 0; r < kept->dim && b->kind == MOR_BLOCK_EQUATION; r++)
            off = mor_max(off, fabs(look->u[kept->row + r]));
    }
    if (most > ENOUGH * scale || look->lost) d->unknown = "a solve with other means, as of a motor at its limit";
    else if (off > ENOUGH * scale) d->unknown = "the stabilisation of joints, which solved the step again";
    size_t count = (size_t)mor_world_q_count(d->world);
    d->end_q = mor_arena_alloc(d->arena, (count + 1) * sizeof(double));
    d->end_nu = mor_arena_alloc(d->arena, ((size_t)d->n + 1) * sizeof(double));
    if (!d->end_q || !d->end_nu) return MOR_SYSTEM;
    memcpy(d->end_q, look->q, count * sizeof(double));
    memcpy(d->end_nu, look->nu, (size_t)d->n * sizeof(double));
    return MOR_OK;
}

/* ---------------------------------------------------------------------------------------- all of it */

/* By trees and contacts (slopes.h), or if not `local` by looks at the step. Local and nothing done: not that way. */
static mor_code right_hand_sides(mor_derivation* d, mor_slopes* slopes, mor_look* a, mor_look* b, mor_columns* c,
                                 bool* local, bool* lost, mor_error* error)
{
    mor_code code = MOR_OK;
    if (*local) {
        code = mor_slopes_fill(d, slopes, c, local, lost, error);
        if (!*local) return code;
    } else code = compare_with_base(d, a, error);
    for (int j = *local ? 2 * d->n : 0; j < c->count && !code; j++)
        if (!*local || !mor_slopes_has_input(d, &d->inputs[j - 2 * d->n]))
            code = mor_look_columns(d, j, a, b, c, lost, error);
    return code;
}

/* Zeros where columns are summed up. The short way gives all of the ends, knows that no state changes friction, and
 * has no u of contacts whose patch knows its own. */
static void clear_columns(const mor_derivation* d, mor_columns* c, bool local)
{
    size_t count = (size_t)c->count, inputs = (size_t)d->input_count, rows = (size_t)d->rows;
    bool still = local;
    for (int k = 0; k < d->kept_count && still; k++) still = mor_patch_is_still(d, k);
    c->mu_from = local ? 2 * d->n : 0;
    size_t from = still ? count - inputs : 0;
    memset(c->V, 0, count * (size_t)d->dof * sizeof(double));
    memset(c->u + from * rows, 0, (count - from) * rows * sizeof(double));
    from = (size_t)c->mu_from;
    memset(c->mu + from * (size_t)d->kept_count, 0, (count - from) * (size_t)d->kept_count * sizeof(double));
    from = local ? count - inputs : 0;
    memset(c->end + from * 2 * (size_t)d->n, 0, (count - from) * 2 * (size_t)d->n * sizeof(double));
}

/* All columns, solved. *local: asks for the short way on entry; false on return, it was closed. */
static mor_code fill_columns(mor_derivation* d, const mor_laws* l, mor_columns* c, bool* local, bool* resolved,
                             mor_derivative* out, mor_error* error)
{
    bool lost = false, asked = *local;
    mor_slopes slopes = { 0 };
    mor_look a, b;
    c->many = c->torn = false;
    clear_columns(d, c, asked);
    if (!mor_look_create(d, &a) || !mor_look_create(d, &b)) return MOR_SYSTEM;
    mor_code code = right_hand_sides(d, &slopes, &a, &b, c, local, &lost, error);
    if (asked && !*local) return code;
    for (int i = 0; i < d->input_count && d->smoothing > 0.0 && !code; i++)
        if (d->inputs[i].kind == MOR_INPUT_MASS) mor_smooth_mass(d, l->law, 2 * d->n + i, d->inputs[i].index, c);
    bool sided = d->side && l->weak_count;
    if (!code && sided) code = mor_sided_solve(d, l->law, l->weak, l->weak_count, d->side, c, resolved);
    for (int first = 0, last; first < d->kept_count && !code && !sided; first = last) {
        for (last = first; last < d->kept_count && d->kept[last].island == d->kept[first].island;) last++;
        code = mor_active_solve(d, l->law, first, last, c);
    }
    if (!code) code = asked ? mor_slopes_end(d, &slopes, c, local) : mor_look_ends(d, &a, &b, c, error);
    if (lost && (*local || !asked))
        not_here(out, "a contact that bears a force is found on one side of this state only%s%s", "", "");
    return code;
}

/* What the position projection makes of the ends. */
static mor_code follow_projection(mor_derivation* d, mor_columns* c, mor_derivative* out, mor_error* error)
{
    mor_projection_answer p;
    mor_code code = mor_projection_columns(d, c, &p, error);
    if (code) return code;
    if (!p.same) d->unknown = "energy taken out of a mechanism";
    if (d->unknown) return MOR_OK;
    if (p.weak) not_here(out, "the position projection is about to move a body or not%s%s", "", "");
    if (p.lost)
        not_here(out, "a contact that the projection opens is found on one side of this state only%s%s", "", "");
    out->distance = mor_min(out->distance, mor_max(0.0, p.distance) / d->world->h);
    bool bodies = false, agree = true;
    for (int i = 0; i < d->input_count && p.islands; i++)
        bodies = bodies || d->inputs[i].kind == MOR_INPUT_MASS || d->inputs[i].kind == MOR_INPUT_SIZE;
    if (!bodies) return MOR_OK; /* masses and sizes decide what the projection does, too */
    out->differences = true;
    code = mor_whole_inputs(d, c, &agree, error);
    if (!agree)
        not_here(out,
                 "differences by a mass or a size over two lengths or to two sides disagree: a body is moved "
                 "apart from others%s%s",
                 "", "");
    return code;
}

/* Something of the step is not in the equations: differences of it. */
static mor_code by_whole_steps(mor_derivation* d, mor_columns* c, mor_derivative* out, mor_error* error)
{
    bool agree;
    out->differentiable = out->differences = true;
    out->why[0] = '\0';
    mor_code code = mor_whole_columns(d, c, &agree, error);
    if (!code && !agree)
        not_here(out, "the step has %s, and differences of it over two lengths or to two sides disagree%s", d->unknown,
                 "");
    c->many = c->torn = false;
    return code;
}

/* The smoothed step in place of the exact one, and where it ends. */
static mor_code smooth(mor_derivation* d, const mor_laws* l, mor_derivative* out, double* end, mor_error* error)
{
    mor_look look;
    if (d->unknown) return mor_fail(error, MOR_BAD_INPUT, "a step with %s cannot be smoothed", d->unknown);
    if (!mor_look_create(d, &look)) return MOR_SYSTEM;
    mor_code code = mor_smooth_answer(d, l->law, &out->smoothed, error);
    if (!code) code = mor_look_at_end(d, d->nu, &look, error);
    if (code) return code;
    memcpy(end, look.nu, (size_t)d->n * sizeof *end);
    out->end_velocities = end;
    return MOR_OK;
}

/* to (rows x columns) := from (columns x rows), eight columns at a time. */
static void transpose(int rows, int columns, const double* from, double* to)
{
    size_t n = (size_t)rows;
    int j = 0;
    for (; j + 8 <= columns; j += 8) {
        const double* at = from + (size_t)j * n;
        for (size_t i = 0; i < n; i++) {
            double* out = to + i * (size_t)columns + (size_t)j;
            out[0] = at[i], out[1] = at[n + i], out[2] = at[2 * n + i], out[3] = at[3 * n + i];
            out[4] = at[4 * n + i], out[5] = at[5 * n + i], out[6] = at[6 * n + i], out[7] = at[7 * n + i];
        }
    }
    for (; j < columns; j++)
        for (size_t i = 0; i < n; i++) to[i * (size_t)columns + (size_t)j] = from[(size_t)j * n + i];
}

mor_code mor_derivation_begin(mor_derivation* d, mor_laws* l, mor_derivative* out, mor_error* error)
{
    mor_code code = solve_base(d, error);
    if (code) return code;
    d->dof = d->base->dof;
    d->nu = mor_arena_alloc(d->arena, ((size_t)d->dof + 1) * sizeof(double));
    d->materials = mor_arena_alloc(d->arena, ((size_t)d->world->material_count + 1) * sizeof *d->materials);
    if (!d->nu || !d->materials) return MOR_SYSTEM;
    memcpy(d->nu, d->base->nu_new, (size_t)d->dof * sizeof(double));
    out->residual = d->taken ? 0.0 : base_error(d->base);
    out->forces_held = d->base->forced && d->world->on_user && !d->world->steady;
    if (mor_step_lacks_memory(d->base)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    if (!(out->residual <= ENOUGH) && strcmp(d->world->formulation->name, "convex") != 0)
        return mor_fail(error, MOR_STOPPED, "the step is solved to %.3g m/s only; a derivative needs %.3g",
                        out->residual, ENOUGH);
    code = keep_rows(d, l, out, error);
    if (d->taken) out->residual = d->law_error;
    if (!code) code = solve_finer(d, l, out, error);
    return code;
}

bool mor_columns_create(mor_derivation* d, mor_columns* c)
{
    *c = (mor_columns){ .count = 2 * d->n + d->input_count };
    c->V = mor_arena_alloc(d->arena, ((size_t)c->count * d->dof + 1) * sizeof(double));
    c->u = mor_arena_alloc(d->arena, ((size_t)c->count * d->rows + 1) * sizeof(double));
    c->mu = mor_arena_alloc(d->arena, ((size_t)c->count * d->kept_count + 1) * sizeof(double));
    c->end = mor_arena_alloc(d->arena, ((size_t)c->count * 2 * d->n + 1) * sizeof(double));
    return c->V && c->u && c->mu && c->end;
}

mor_code mor_derivation_columns(mor_derivation* d, const mor_laws* l, mor_columns* c, mor_derivative* out,
                                mor_error* error)
{
    mor_code code = mor_columns_create(d, c) ? MOR_OK : MOR_SYSTEM;
    bool local = true, resolved = false;
    if (!code && !d->unknown) code = fill_columns(d, l, c, &local, &resolved, out, error);
    for (int i = 0; i < d->patch_count && !local; i++) d->patches[i].still = false; /* looks see every contact */
    if (!code && !d->unknown && !local) code = fill_columns(d, l, c, &local, &resolved, out, error);
    if (!code && !d->unknown && d->smoothing == 0.0) code = follow_projection(d, c, out, error);
    else if (!code && d->unknown && d->smoothing > 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "a step with %s cannot be smoothed", d->unknown);
    if (!code && d->unknown) code = by_whole_steps(d, c, out, error);
    if (code) return code;
    if (!d->unknown && (!d->side || !resolved)) judge_weak(d, l, c, out);
    out->unique = !c->many;
    if (c->torn && !d->unknown)
        not_here(out, "more contacts stick than the bodies can follow: some slip along every direction%s%s", "", "");
    return MOR_OK;
}

static mor_code derive(mor_derivation* d, mor_derivative* out, double* matrix, mor_error* error)
{
    mor_laws l = { 0 };
    mor_columns c;
    mor_code code = mor_derivation_begin(d, &l, out, error);
    if (!code && d->smoothing > 0.0) code = smooth(d, &l, out, matrix + (size_t)out->rows * out->columns, error);
    for (int i = 0; !code && i < l.weak_count && d->side; i++)
        d->one_sided = d->one_sided || d->kept[l.weak[i]].contact < 0;
    if (!code) code = mor_patches_find(d, l.law);
    if (!code) code = mor_derivation_columns(d, &l, &c, out, error);
    if (!code) transpose(2 * d->n, c.count, c.end, matrix);
    return code;
}

/* What is handed out: the answer, who gave the memory, and the numbers. */
typedef struct owned {
    mor_derivative answer;
    mor_allocator allocator;
    double matrix[];
} owned;

mor_derivative* mor_derivative_create(const mor_world* w, int rows, int columns, double** matrix)
{
    size_t numbers = (size_t)rows * (size_t)(columns + 1); /* the velocities at the end of a smoothed step */
    owned* o = w->allocator.resize(w->allocator.user, NULL, sizeof *o + numbers * sizeof(double));
    if (!o) return NULL;
    o->allocator = w->allocator;
    o->answer = (mor_derivative){ .rows = rows,
                                  .columns = columns,
                                  .matrix = o->matrix,
                                  .differentiable = true,
                                  .unique = true,
                                  .distance = INFINITY };
    *matrix = o->matrix;
    return &o->answer;
}

void mor_derivative_destroy(mor_derivative* derivative)
{
    if (!derivative) return;
    mor_allocator a = ((owned*)derivative)->allocator;
    a.resize(a.user, derivative, 0);
}

mor_code mor_world_derivative(mor_world* world, const mor_input* inputs, int count, mor_derivative** derivative,
                              mor_error* error)
{
    return mor_world_derivative_sided(world, inputs, count, 0, derivative, error);
}

static mor_code check_smoothing(const mor_world* w, double smoothing, mor_error* error)
{
    const char* name = w->formulation->name;
    if (!(smoothing >= 0.0) || isinf(smoothing))
        return mor_fail(error, MOR_BAD_INPUT, "smoothing by %g m/s; it must be positive, or zero", smoothing);
    if (smoothing > 0.0 && (strcmp(name, "st") == 0 || strcmp(name, "convex") == 0))
        return mor_fail(error, MOR_BAD_INPUT, "the formulation '%s' cannot be smoothed; ncp, mncp and implicit can",
                        name);
    return MOR_OK;
}

mor_code mor_derivation_open(mor_world* w, const mor_input* inputs, int count, mor_derivation* d, mor_error* error)
{
    *d = (mor_derivation){ .world = w, .inputs = inputs, .input_count = count };
    mor_code code = check(w, inputs, count, error);
    if (code) return code;
    if (!w->derivative_room) w->derivative_room = mor_arena_create(&w->allocator);
    for (int i = 0; i < 2; i++)
        if (!w->derived[i]) w->derived[i] = mor_step_create(w, error);
    d->arena = w->derivative_room, d->base = w->derived[0], d->trial = w->derived[1];
    if (d->arena) mor_arena_reset(d->arena);
    return d->arena && d->base && d->trial && map_velocities(d) ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
}

void mor_derivation_close(mor_derivation* d)
{
    if (d->trial) mor_step_leave(d->trial);
    if (d->base) mor_step_leave(d->base);
}

static mor_code one_step(mor_world* world, const mor_input* inputs, int count, int side, double smoothing,
                         mor_derivative** derivative, mor_error* error)
{
    *derivative = NULL;
    mor_derivation d;
    mor_code code = mor_derivation_open(world, inputs, count, &d, error);
    if (!code) code = check_smoothing(world, smoothing, error);
    if (code) return code;
    d.smoothing = smoothing;
    d.side = side > 0 ? 1 : side < 0 ? -1 : 0;
    double* matrix = NULL;
    int n = mor_world_nu_count(world);
    mor_derivative* out = mor_derivative_create(world, 2 * n, 2 * n + count, &matrix);
    code = out ? derive(&d, out, matrix, error) : MOR_SYSTEM;
    if (code == MOR_SYSTEM) mor_fail(error, MOR_SYSTEM, "out of memory");
    mor_derivation_close(&d);
    if (!code) *derivative = out;
    else mor_derivative_destroy(out);
    return code;
}

mor_code mor_world_derivative_sided(mor_world* world, const mor_input* inputs, int count, int side,
                                    mor_derivative** derivative, mor_error* error)
{
    return one_step(world, inputs, count, side, 0.0, derivative, error);
}

mor_code mor_world_derivative_smoothed(mor_world* world, const mor_input* inputs, int count, double smoothing,
                                       mor_derivative** derivative, mor_error* error)
{
    return one_step(world, inputs, count, 0, smoothing, derivative, error);
}
