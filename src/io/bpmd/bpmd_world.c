/* Frames from worlds and worlds from frames.
 *
 * A step is M nu+ = M nu_free + G p with rows from contacts. A frame stores what M, G and nu_free are made of, and the
 * world made from it is assembled by mor_stage_assemble as every other: the same code makes the same numbers, so
 * an answer can be repeated to rounding. M is that of the midpoint rule of tree.c; q, L, forces and the inertia in body
 * axes determine it.
 *
 * Cost: linear in bodies and contacts. Not held: shapes; mor_bpmd_shapes makes them from the scene's text in /meta. */
#include "io/bpmd/bpmd.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formulation/assemble.h"
#include "model/stored.h"
#include "step/draft.h"

void mor_bpmd_frame_clear(mor_bpmd_frame* frame)
{
    void* const arrays[] = { frame->bodies,         frame->contacts,  frame->trees,
                             frame->constraints,    frame->rows,      frame->columns,
                             frame->values,         frame->mass,      frame->nu,
                             frame->nu_free,        frame->nu_new,    frame->q,
                             frame->link_jacobian,  frame->contact_p, frame->contact_columns,
                             frame->contact_values, frame->lines,     frame->states };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    memset(frame, 0, sizeof *frame);
}

/* ------------------------------------------------------------------------ world to frame */

mor_code mor_bpmd_capture_bodies(const mor_world* w, mor_bpmd_before* before)
{
    mor_bpmd_body* grown = realloc(before->bodies, ((size_t)w->alive_count + 1) * sizeof *grown);
    if (!grown) return MOR_SYSTEM;
    before->bodies = grown;
    before->count = w->alive_count;
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        double m = b->kind == MOR_DYNAMIC ? b->mass.mass : INFINITY;
        grown[i] = (mor_bpmd_body){ .id = i + 1,
                                    .kind = b->kind,
                                    .dof = b->tree >= 0 ? w->trees[b->tree].dof : 0,
                                    .mass = m,
                                    .inertia = b->mass.inertia,
                                    .x = b->x,
                                    .q = b->q,
                                    .angle = b->angle,
                                    .v = b->v,
                                    .w = b->w,
                                    .L = mor_body_spin(b),
                                    .force = b->force,
                                    .torque = b->torque,
                                    .tree = -1,
                                    .link = -1 };
        if (b->kind == MOR_DYNAMIC) grown[i].force = mor_madd(b->force, m, w->gravity);
    }
    return mor_bpmd_capture_trees(w, before);
}

/* 1 sticks, 0 slides, -1 open, from the answer of an island. */
static int state_of(const mor_system* s, int contact, const mor_answer* answer)
{
    const mor_block* b = &s->blocks[s->contacts[contact].block];
    double u[2] = { s->contacts[contact].drift[1], s->contacts[contact].drift[2] };
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start;
        for (int d = 1; d < b->dim && d < 3; d++)
            for (int m = 0; m < t->dof; m++) u[d - 1] += J[d * t->dof + m] * answer->nu[t->offset + m];
    }
    double slip = b->dim > 2 ? sqrt(u[0] * u[0] + u[1] * u[1]) : b->dim > 1 ? fabs(u[0]) : 0.0;
    return !(answer->impulses[b->row] > 0.0) ? -1 : b->dim < 2 || !(b->mu > 0.0) || slip > 1e-6 ? 0 : 1;
}

/* Free velocity and the inertia it goes with of every body that is a tree of its own. */
static void capture_free(const mor_world* w, mor_bpmd_frame* f)
{
    for (int i = 0; i < f->body_count; i++) {
        mor_bpmd_body* b = &f->bodies[i];
        const mor_body* now = &w->bodies[w->order[i]];
        memcpy(b->free, b->velocity, sizeof b->free);
        mor_mat3 R = mor_quat_matrix(b->q);
        b->free_inertia = mor_mat3_rotate(&R, &b->inertia);
        if (b->dof == 0 || now->tree < 0 || now->robot) continue;
        const double* nu = w->last->nu_free + w->last->w->trees[now->tree].offset;
        memset(b->free, 0, sizeof b->free);
        if (b->dof == 6) memcpy(b->free, nu, sizeof b->free);
        else b->free[0] = nu[0], b->free[1] = nu[1], b->free[5] = b->dof == 3 ? nu[2] : 0.0;
        const double* M = w->last->mass + w->last->mass_start[now->tree];
        for (int r = 0; b->dof == 6 && r < 3; r++)
            for (int c = 0; c < 3; c++) b->free_inertia.m[r][c] = M[6 * (r + 3) + c + 3];
    }
}

static void capture_answer(const mor_world* w, const mor_bpmd_before* before, mor_bpmd_frame* f)
{
    for (int i = 0; i < w->last->island_count; i++) {
        const mor_island* island = &w->last->islands[i];
        const mor_system* s = &island->system;
        for (int c = 0; c < s->contact_count; c++) {
            const mor_block* b = &s->blocks[s->contacts[c].block];
            mor_bpmd_contact* contact = &f->contacts[s->contacts[c].contact];
            const mor_bpmd_start* start =
                i < before->island_room && before->islands[i].rows == s->row_count ? &before->islands[i] : NULL;
            memcpy(contact->guess, s->contacts[c].guess, sizeof contact->guess);
            int dim = b->dim < 3 ? b->dim : 3; /* worlds with more are refused (bpmd_record.c) */
            for (int d = 0; d < dim && start; d++) contact->guess[d] = start->guess[b->row + d];
            contact->held = s->contacts[c].held;
            for (int d = 0; d < dim; d++) contact->impulse[d] = island->answer.impulses[b->row + d];
            contact->stick = state_of(s, c, &island->answer);
        }
        const mor_report* r = &island->report;
        if (r->iterations > f->iterations) f->iterations = r->iterations;
        if (r->status != MOR_SOLVED) f->status = (int)r->status;
        if (r->residual.velocity > f->velocity_error) f->velocity_error = r->residual.velocity;
        f->total_fb += r->residual.fb, f->total_cck += r->residual.cck, f->natural += r->residual.natural;
        f->friction_power += r->residual.friction_power;
        f->normal_error = fmax(f->normal_error, r->residual.normal_error);
        f->friction_error = fmax(f->friction_error, r->residual.friction_error);
    }
    for (int i = 0; i < f->body_count; i++) {
        mor_bpmd_body* b = &f->bodies[i];
        const mor_body* now = &w->bodies[w->order[i]];
        const double v[6] = { now->v.x, now->v.y, now->v.z, now->w.x, now->w.y, now->w.z };
        memcpy(b->velocity, v, sizeof v);
        if (b->dof == 0 || now->tree < 0 || now->robot) continue;
        const double* nu = w->last->nu_new + w->last->w->trees[now->tree].offset;
        memset(b->velocity, 0, sizeof b->velocity);
        if (b->dof == 6) memcpy(b->velocity, nu, sizeof b->velocity);
        else b->velocity[0] = nu[0], b->velocity[1] = nu[1], b->velocity[5] = b->dof == 3 ? nu[2] : 0.0;
    }
}

mor_code mor_bpmd_capture(const mor_world* w, const mor_bpmd_before* start, mor_bpmd_frame* f)
{
    const mor_bpmd_body* before = start->bodies;
    int before_count = start->count;
    if (before_count != w->alive_count) return MOR_BAD_INPUT; /* bodies came or went inside the step */
    int contacts = w->contacts.count;
    const mor_system* first = w->last->island_count ? &w->last->islands[0].system : NULL;
    *f = (mor_bpmd_frame){ .step = w->step,
                           .time = first ? first->time : w->time - w->h,
                           .h = first ? first->h : w->h,
                           .dimension = w->dimension,
                           .gravity = w->gravity,
                           .v_rest = first ? first->v_rest : 2.0 * mor_norm(w->gravity) * w->h,
                           .directions = w->options.friction_directions,
                           .friction_align = w->options.friction_align,
                           .body_count = before_count,
                           .contact_count = contacts,
                           .answered = true };
    f->bodies = malloc(((size_t)before_count + 1) * sizeof *f->bodies);
    f->contacts = calloc((size_t)contacts + 1, sizeof *f->contacts);
    if (!f->bodies || !f->contacts) {
        mor_bpmd_frame_clear(f);
        return MOR_SYSTEM;
    }
    memcpy(f->bodies, before, (size_t)before_count * sizeof *before);
    for (int i = 0; i < before_count; i++) { /* kinematic bodies get their velocity after the user stage */
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->kind == MOR_KINEMATIC) f->bodies[i].v = b->v, f->bodies[i].w = b->w;
    }
    const mor_contact* from = w->contacts.data;
    for (int i = 0; i < contacts; i++) {
        const mor_contact* c = &from[i];
        f->contacts[i] = (mor_bpmd_contact){ .body = { c->body[0], c->body[1] },
                                             .point = { c->point[0], c->point[1] },
                                             .normal = c->normal,
                                             .gap = c->gap,
                                             .friction = c->friction,
                                             .friction_2 = c->friction,
                                             .stick = -1,
                                             .restitution = c->restitution,
                                             .epsilon = mor_contact_epsilon(w, c),
                                             .recovery = mor_contact_recovery(w, c),
                                             .surface_velocity = c->surface_velocity,
                                             .group = c->group,
                                             .plane = c->plane,
                                             .shape = { c->shape[0], c->shape[1] },
                                             .feature = c->feature };
    }
    for (int i = 0; i < contacts; i++) f->epsilon = fmax(f->epsilon, f->contacts[i].epsilon);
    capture_answer(w, start, f);
    capture_free(w, f);
    mor_code code = mor_bpmd_capture_rows(w, start, f);
    if (!code) code = mor_bpmd_capture_lines(w, start, f);
    if (code) {
        mor_bpmd_frame_clear(f);
        return code;
    }
    snprintf(f->formulation, sizeof f->formulation, "%s", w->formulation->name);
    snprintf(f->solver, sizeof f->solver, "%s", w->solver->name);
    return MOR_OK;
}

mor_vec3 mor_bpmd_half_edges(const mor_bpmd_body* b)
{
    double half[3] = { 0 };
    for (int k = 0; k < 3 && b->kind == MOR_DYNAMIC && b->mass > 0.0; k++) {
        double sum = b->inertia.m[0][0] + b->inertia.m[1][1] + b->inertia.m[2][2] - 2.0 * b->inertia.m[k][k];
        half[k] = sqrt(fmax(0.0, 1.5 * sum / b->mass));
    }
    return mor_v3(half[0], half[1], half[2]);
}

/* ------------------------------------------------------------------------ frame to world */

/* A link of a stored tree: the tree comes with its first link. */
static mor_code add_link(mor_world* w, const mor_bpmd_frame* f, const mor_bpmd_body* from, mor_error* error)
{
    int stored = 0, tree = -1, link = 0;
    for (int t = 0; t < from->tree; t++) stored += f->trees[t].articulated;
    for (int t = 0; t < w->tree_count; t++)
        if (w->trees[t].stored == &w->stored->trees[stored]) tree = t;
    for (const mor_bpmd_body* b = f->bodies; b < from; b++) link += b->tree == from->tree && b->link >= 0;
    if (tree < 0) {
        if (!mor_world_reserve_tree(w)) return mor_fail(error, MOR_SYSTEM, "out of memory");
        tree = w->tree_count++;
        w->trees[tree] = (mor_tree){
            .kind = &mor_tree_stored, .body = -1, .dof = f->trees[from->tree].dof, .stored = &w->stored->trees[stored]
        };
    }
    mor_body_def def = mor_body_def_default();
    mor_body b = { .alive = true,
                   .kind = MOR_DYNAMIC,
                   .tree = tree,
                   .link = link,
                   .mass = { .mass = from->mass, .inertia = from->inertia },
                   .x = from->x,
                   .q = from->q,
                   .v = from->v,
                   .w = from->w };
    snprintf(b.name, sizeof b.name, "body_%d", from->id);
    return mor_world_place_body(w, &def, b) < 0 ? mor_fail(error, MOR_SYSTEM, "out of memory") : MOR_OK;
}

static mor_code add_body(mor_world* w, const mor_bpmd_frame* f, const mor_bpmd_body* from, mor_error* error)
{
    if (from->link >= 0 && !f->maximal) return add_link(w, f, from, error);
    mor_body_def def = mor_body_def_default();
    snprintf(def.name, sizeof def.name, "body_%d", from->id);
    const mor_body* model = f->shapes ? &f->shapes->bodies[f->shapes->order[from - f->bodies]] : NULL;
    if (model) def.shapes = model->shapes, def.shape_count = model->shape_count, def.has_com = true;
    def.kind = from->kind;
    def.pose = (mor_pose){ from->x, from->q };
    if (from->kind == MOR_DYNAMIC) {
        def.mass = from->mass;
        def.has_inertia = true;
        def.inertia = from->inertia;
        if (from->dof == 2) def.inertia.m[2][2] = 1.0; /* a particle has none; only the check below looks at it */
    }
    mor_error reason = { 0 };
    mor_body_id id = mor_world_add_body(w, &def, &reason);
    if (!id.index1) return mor_fail(error, reason.code, "%s/bodies: body %d: %s", f->name, from->id, reason.text);
    mor_body* b = mor_body_at(w, id); /* the state bit for bit, which a definition would round */
    if (model) b->mass.com = model->mass.com;
    b->x = from->x;
    b->q = from->q;
    b->angle = from->angle;
    b->v = from->v;
    b->w = from->w;
    b->L = from->L;
    b->torque = from->torque;
    w->forced = true;
    if (from->kind != MOR_DYNAMIC) return MOR_OK;
    b->force = mor_madd(from->force, -from->mass, f->gravity);
    if (from->dof == 2) w->trees[b->tree].kind = &mor_tree_particle, w->trees[b->tree].dof = 2;
    return MOR_OK;
}

/* The contacts of the frame are those of the world's step, as if its collision stage had found them. */
static mor_code add_contacts(mor_world* w, const mor_bpmd_frame* f, mor_step* k)
{
    if (mor_step_take(w, k) || !mor_buffer_reserve(&k->allocator, &k->contacts, f->contact_count, sizeof(mor_contact)))
        return MOR_SYSTEM;
    mor_contact* to = k->contacts.data;
    for (int i = 0; i < f->contact_count; i++) {
        const mor_bpmd_contact* c = &f->contacts[i];
        to[i] = (mor_contact){ .point = { c->point[0], c->point[1] },
                               .normal = c->normal,
                               .gap = c->gap,
                               .feature = c->feature,
                               .shape = { c->shape[0], c->shape[1] },
                               .group = c->group,
                               .plane = c->plane,
                               .held = c->held,
                               .friction = c->friction,
                               .restitution = c->restitution,
                               .surface_velocity = c->surface_velocity,
                               .normal_impulse = i };
        for (int s = 0; s < 2; s++) to[i].body[s] = c->body[s] < 0 ? f->body_count : c->body[s];
    }
    k->contacts.count = f->contact_count;
    k->w->contacts = k->contacts;
    k->geometry = true; /* any formulation may be tried on it */
    k->of = w;
    k->phase = MOR_STAGE_COLLIDE;
    return MOR_OK;
}

mor_world* mor_bpmd_world(const mor_bpmd_frame* f, const mor_library* library, int* order, mor_error* error)
{
    mor_world_def def = mor_world_def_default();
    def.dimension = f->dimension;
    def.gravity = f->gravity;
    def.step = f->h;
    def.library = library;
    mor_world* w = mor_world_create(&def, error);
    if (!w) return NULL;
    w->time = f->time;
    if (!f->formulation[0]) w->options.gap_correction = MOR_GAP_VELOCITY; /* other spellings mean gap/h */
    w->options.v_rest = f->v_rest;
    w->options.friction_directions = f->directions;
    w->options.friction_align = f->friction_align;
    mor_code code = mor_bpmd_store(w, f, error);
    for (int i = 0; i < f->body_count && !code; i++) code = add_body(w, f, &f->bodies[i], error);
    if (!code) { /* the world as a body, last */
        mor_body_def ground = mor_body_def_default();
        ground.kind = MOR_FIXED;
        if (!mor_world_add_body(w, &ground, error).index1) code = MOR_SYSTEM;
    }
    if (!code) code = mor_bpmd_store_rows(w, f, error);
    mor_step* k = w->own;
    if (!code) code = add_contacts(w, f, k);
    if (!code) code = mor_stage_assemble(w, k, NULL);
    if (code == MOR_SYSTEM) mor_fail(error, MOR_SYSTEM, "%s: out of memory", f->name);
    if (code) {
        mor_world_destroy(w);
        return NULL;
    }
    mor_contact* sorted = k->contacts.data; /* normal_impulse: the frame's number, until here */
    for (int i = 0; order && i < f->contact_count; i++) order[i] = (int)sorted[i].normal_impulse;
    for (int i = 0; i < k->island_count; i++) {
        mor_island* island = &k->islands[i];
        mor_contact_row* rows = (mor_contact_row*)island->system.contacts; /* the world's own memory */
        for (int c = 0; c < island->system.contact_count; c++) {
            const mor_block* b = &island->system.blocks[rows[c].block];
            const mor_bpmd_contact* from = &f->contacts[(int)sorted[rows[c].contact].normal_impulse];
            rows[c].epsilon = from->epsilon >= 0.0 ? from->epsilon : f->epsilon;
            rows[c].recovery = from->recovery;
            memcpy(rows[c].guess, from->guess, sizeof rows[c].guess);
            for (int d = 0; d < b->dim; d++) island->answer.impulses[b->row + d] = from->guess[d];
        }
    }
    for (int i = 0; i < f->contact_count; i++) sorted[i].normal_impulse = 0.0;
    return w;
}
