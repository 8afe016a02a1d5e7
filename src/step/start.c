/* What is wrong with a state before its first step: overlaps, joints outside their limits, joints that are open
 * (moreau/run.h). */
#include "base/elementary.h"
#include "collision/self_pairs.h"
#include "formulation/assemble.h"
#include "formulation/rows.h"
#include "model/articulated.h"
#include "model/joints.h"
#include "moreau/run.h"
#include "step/close_joints.h"
#include "step/draft.h"

#include <stdio.h>
#include <stdlib.h>

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

/* The contacts of a pair come one after the other. */
static void find_overlaps(const mor_world* w, const mor_contact* c, int count, mor_start* s)
{
    int pair[2] = { -1, -1 };
    for (int i = 0; i < count; i++) {
        if (!(-c[i].gap > ROUNDING * mor_contact_size(w, &c[i]))) continue;
        const double depth = mor_contact_depth(c, count, i);
        if (!(depth > ROUNDING * mor_contact_size(w, &c[i]))) continue;
        if (c[i].body[0] != pair[0] || c[i].body[1] != pair[1]) s->overlaps++;
        pair[0] = c[i].body[0], pair[1] = c[i].body[1];
        if (depth <= s->penetration) continue;
        s->penetration = depth;
        for (int side = 0; side < 2; side++)
            snprintf(s->pair[side], sizeof s->pair[side], "%s", w->bodies[w->order[pair[side]]].name);
    }
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

/* Overlaps, by contacts in a draft. */
static mor_code find_contacts(mor_world* world, mor_start* s, mor_error* error)
{
    if (world->on_collide || !world->collision) return MOR_OK;
    if (mor_step_take(world, world->own)) return mor_fail(error, MOR_SYSTEM, "out of memory");
    const mor_world* w = world->own->w;
    mor_buffer contacts = { 0 };
    mor_found found = { .world = w, .contacts = &contacts };
    mor_code code = w->collision->detect(w->collision_memory, w, w->collision_options, &found, error);
    if (code == MOR_OK) find_overlaps(w, contacts.data, contacts.count, s);
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
