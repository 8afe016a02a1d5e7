/* Contacts that stay deep: after the first steps, which undo what a scene overlaps at the start, no contact of a method
 * that moves bodies apart should be deeper than
 *
 *     1e-3 R,     R the radius of the smaller shape.
 *
 * Where one is, the deepest is kept with its bodies and the cause, so that nobody takes the run for a good one. The
 * contacts of a step are those its problem was made of: an overlap that a step leaves is seen by the next one. */
#include "step/deep.h"

#include "base/elementary.h"
#include "formulation/assemble.h"

#include <stdio.h>

enum { SETTLE = 20 }; /* steps that may undo the start */
#define DEEP 1e-3     /* of R */
#define LONG_WAY 0.1  /* of R in one step: the step is too long for the shape */

/* The body of the contact that moves farther in a step, and how far [m]. */
static double farthest(const mor_world* w, const mor_contact* c, const char** name)
{
    double most = 0.0;
    for (int side = 0; side < 2; side++) {
        const mor_body* b = &w->bodies[w->order[c->body[side]]];
        double way = w->h * mor_norm(b->v);
        if (way >= most) most = way, *name = b->name;
    }
    return most;
}

/* Most contacts are not deep: what their pair says is looked at only where they are. */
static double relative_depth(const mor_world* w, const mor_contact* all, int count, int i, mor_choice_depth* last)
{
    if (!(all[i].gap < -DEEP * mor_contact_size(w, &all[i]))) return 0.0;
    return mor_max(mor_contact_depth(all, count, i, last) / mor_contact_size(w, &all[i]), 0.0);
}

/* Is a body that moves deep in another one too? Then there is no place for it between them. */
static bool is_jammed(const mor_world* w, const mor_contact* c)
{
    int count;
    const mor_contact* all = mor_world_contacts(w, &count);
    mor_choice_depth last = { -1, 0.0 };
    for (int i = 0; i < count; i++)
        for (int side = 0; side < 4; side++) {
            int body = c->body[side / 2], other = c->body[1 - side / 2];
            if (w->bodies[w->order[body]].tree < 0 || all[i].body[side % 2] != body) continue;
            if (all[i].body[1 - side % 2] != other && relative_depth(w, all, count, i, &last) > DEEP) return true;
        }
    return false;
}

/* Why it is there, and what helps. */
static void explain(const mor_world* w, const mor_contact* c, const mor_step_report* r, mor_run_deep* d)
{
    const char* name = "";
    double way = farthest(w, c, &name);
    const mor_formulation* f = w->formulation;
    size_t room = sizeof d->why;
    if (f->overlaps && f->overlaps(w->formulation_options))
        snprintf(d->why, room, "%s lets bodies in contact overlap on purpose", f->name);
    else if (w->options.gap_correction == MOR_GAP_VELOCITY)
        snprintf(d->why, room, "gap_correction: velocity does not move bodies apart; projection does");
    else if (w->options.gap_correction == MOR_GAP_BOUNDED)
        snprintf(d->why, room, "gap_correction: bounded takes overlap away at %.3g m/s; projection does at once",
                 w->options.recovery_speed);
    else if (r->failures || r->below_goal)
        snprintf(d->why, room, "the step was solved to %.3g m/s only", r->velocity_error);
    else if (f->accelerations && !is_jammed(w, c))
        snprintf(d->why, room,
                 "%s acts on bodies once they touch and takes half of the overlap away in a step: a shorter step or "
                 "another formulation helps",
                 f->name);
    else if (way > LONG_WAY * d->size && !is_jammed(w, c))
        snprintf(d->why, room,
                 "'%.40s' moves %.3g m in a step and the smaller shape has the radius %.3g m; "
                 "a shorter step helps",
                 name, way, d->size);
    else snprintf(d->why, room, "other contacts or joints hold them there: they cannot be moved apart");
}

bool mor_deep_any(const mor_world* w, const mor_contact* contacts, int count)
{
    mor_choice_depth last = { -1, 0.0 };
    for (int i = 0; i < count; i++)
        if (contacts[i].gap < 0.0 && relative_depth(w, contacts, count, i, &last) > DEEP) return true;
    return false;
}

void mor_deep_count(const mor_world* w, const mor_step_report* r, int steps, mor_run_deep* d)
{
    int count;
    const mor_contact *c = mor_world_contacts(w, &count), *worst = NULL;
    mor_choice_depth last = { -1, 0.0 };
    double most = DEEP;
    if (steps <= SETTLE) return;
    for (int i = 0; i < count; i++) {
        double relative = c[i].gap < 0.0 ? relative_depth(w, c, count, i, &last) : 0.0;
        if (relative > most) most = relative, worst = &c[i];
    }
    if (!worst) return;
    d->steps++;
    if (most <= d->relative) return;
    d->relative = most;
    d->depth = most * mor_contact_size(w, worst);
    d->size = mor_contact_size(w, worst);
    d->step = r->step;
    for (int side = 0; side < 2; side++)
        snprintf(d->pair[side], sizeof d->pair[side], "%s", w->bodies[w->order[worst->body[side]]].name);
    explain(w, worst, r, d);
}
