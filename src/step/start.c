/* What is wrong with a state before its first step: overlaps, joints outside their limits, joints that are open
 * (moreau/run.h). */
#include "base/elementary.h"
#include "collision/self_pairs.h"
#include "formulation/assemble.h"
#include "formulation/immovable.h"
#include "formulation/rows.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "moreau/run.h"
#include "step/close_joints.h"
#include "step/draft.h"
#include "step/stages.h"

#include <stdio.h>
#include <stdlib.h>

#define LEFT 1e-3     /* of the size of the smaller shape: overlap that is told (step/deep.c) */
#define ROUNDING 1e-9 /* of the size of the smaller shape; rad or m of a limit: less is no violation */

/* Adds one exceeded limit; false: out of memory. */
static bool add_limit(mor_start* s, const char* owner, const char* joint, double by)
{
    if (!(by > ROUNDING)) return true;
    mor_start_limit* grown = realloc(s->limits, ((size_t)s->limit_count + 1) * sizeof *grown);
    if (!grown) return false;
    s->limits = grown;
    mor_start_limit* l = &grown[s->limit_count++];
    snprintf(l->joint, sizeof l->joint, "%s%s%s", owner, *owner ? "/" : "", joint);
    l->by = by;
    return true;
}

static bool find_limits(const mor_world* w, mor_start* s)
{
    bool ok = true;
    for (int i = 0; i < w->robot_count; i++) {
        const mor_robot* r = w->robots[i];
        for (int j = 0; r->limits && ok && j < r->model->joint_count; j++) {
            const mor_link_def* l = &r->model->links[r->model->link_of_joint[j]];
            ok = add_limit(s, r->name, l->joint_name, mor_max(l->lower - r->s[j], r->s[j] - l->upper));
        }
    }
    for (int i = 0; ok && i < w->joints.count; i++) {
        const mor_joint* j = &((const mor_joint*)w->joints.data)[i];
        mor_joint_row row;
        if ((isinf(j->def.lower) && isinf(j->def.upper)) || !mor_joint_free_row(w, j, &row)) continue;
        ok = add_limit(s, "", j->def.name, mor_max(j->def.lower - row.phi, row.phi - j->def.upper));
    }
    return ok;
}

/* Pairs of bodies that are deeper in each other than `least` of the smaller shape, the deepest of them and its names;
 * `welds`: of welded bodies only. The contacts of a pair come one after the other. */
static int find_pairs(const mor_world* w, const mor_buffer* contacts, double least, bool welds, double* deepest,
                      char names[2][64])
{
    const mor_contact* c = contacts->data;
    int pair[2] = { -1, -1 }, pairs = 0;
    mor_choice_depth last = { -1, 0.0 };
    for (int i = 0; i < contacts->count; i++) {
        const mor_body *a = &w->bodies[w->order[c[i].body[0]]], *b = &w->bodies[w->order[c[i].body[1]]];
        if (!(-c[i].gap > least * mor_contact_size(w, &c[i])) || (welds && a->weld != b->weld)) continue;
        const double depth = mor_contact_depth(c, contacts->count, i, &last);
        if (!(depth > least * mor_contact_size(w, &c[i]))) continue;
        pairs += c[i].body[0] != pair[0] || c[i].body[1] != pair[1];
        pair[0] = c[i].body[0], pair[1] = c[i].body[1];
        if (depth <= *deepest) continue;
        *deepest = depth;
        snprintf(names[0], sizeof names[0], "%s", a->name);
        snprintf(names[1], sizeof names[1], "%s", b->name);
    }
    return pairs;
}

static double error_of(const mor_world* w, int joint)
{
    mor_joint_row rows[6];
    int n = mor_joint_equations(w, &((const mor_joint*)w->joints.data)[joint], rows);
    double square = 0.0;
    for (int d = 0; d < n; d++) square += rows[d].phi * rows[d].phi;
    return sqrt(square);
}

/* Joints that are open, and what closing them in the draft leaves. */
static mor_code find_open(mor_world* world, mor_start* s)
{
    double tolerance = mor_joint_tolerance(world);
    const bool close = world->options.stabilisation != MOR_STABILISE_NONE;
    for (int i = 0; i < world->joints.count; i++) s->open_count += error_of(world, i) > tolerance;
    if (s->open_count == 0 || world->stored) return MOR_OK;
    s->open = calloc((size_t)s->open_count, sizeof *s->open);
    if (!s->open || mor_step_take(world, world->own) || (close && mor_joints_close(world->own))) return MOR_SYSTEM;
    for (int i = 0, at = 0; i < world->joints.count && at < s->open_count; i++) {
        const mor_joint* j = &((const mor_joint*)world->own->w->joints.data)[i];
        double by = error_of(world, i);
        if (!(by > tolerance)) continue;
        mor_start_open* o = &s->open[at++];
        snprintf(o->joint, sizeof o->joint, "%s", j->def.name);
        o->by = by;
        o->left = error_of(world->own->w, i);
        s->exclusive = s->exclusive || j->apart;
    }
    return MOR_OK;
}

/* All contacts of the draft, those that nothing can change among them. */
static mor_code detect(const mor_world* w, mor_buffer* contacts, mor_error* error)
{
    mor_found found = { .world = w, .contacts = contacts };
    contacts->count = 0;
    return w->collision->detect(w->collision_memory, w, w->collision_options, &found, error);
}

/* Which overlaps are left when the bodies have been moved? Where methods do not move them: those of welded bodies. */
static mor_code find_held(mor_world* world, mor_buffer* contacts, mor_start* s, mor_error* error)
{
    mor_step* k = world->own;
    double deepest;
    if (mor_step_take(world, k)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    const bool close = world->options.stabilisation != MOR_STABILISE_NONE && s->open_count > 0 && !world->stored;
    if (close && mor_joints_close(k)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    const bool moved = mor_settles(k->w);
    mor_code code = mor_settle_draft(k, &deepest, error);
    if (!code) code = detect(k->w, contacts, error);
    if (!code) s->stays = find_pairs(k->w, contacts, LEFT, !moved, &s->left, s->held);
    return code;
}

/* Overlaps, by contacts in a draft. */
static mor_code find_contacts(mor_world* world, mor_start* s, mor_error* error)
{
    if (world->on_collide || !world->collision) return MOR_OK;
    if (mor_step_take(world, world->own)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    const mor_world* w = world->own->w;
    mor_buffer contacts = { 0 };
    mor_code code = detect(w, &contacts, error);
    if (code == MOR_OK) s->overlaps = find_pairs(w, &contacts, ROUNDING, false, &s->penetration, s->pair);
    if (code == MOR_OK && s->overlaps) code = find_held(world, &contacts, s, error);
    mor_buffer_free(&w->allocator, &contacts);
    return code;
}

mor_code mor_world_look(mor_world* world, mor_start* s, mor_error* error)
{
    *s = (mor_start){ 0 };
    if (!find_limits(world, s) || !mor_world_leave_out(world) || find_open(world, s))
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    return find_contacts(world, s, error);
}

void mor_start_free(mor_start* s)
{
    free(s->limits);
    free(s->open);
    s->limits = NULL;
    s->open = NULL;
    s->limit_count = s->open_count = 0;
}
