/* Pairs that a blow brings near.
 *
 * Exact geometry looks for pairs within what bodies move in the step, by the velocities before it. A blow may make a
 * body faster and bring it into a pair that was not looked at. Such a step is solved once more, with pairs looked for
 * as if every body were faster by
 *
 *     s = max over bodies |v+ - v| + r |w+ - w|,     r the arm of the farthest point.
 *
 * The user function and the controllers are not asked again: the state they were asked for is the same, and functions
 * with a memory of their own would take it for another step. So the draft is kept between `control` and `assemble`,
 * forces and states of controllers with it, and taken back from there. Cost: one copy of the draft per step, with
 * exact geometry only. */
#include "step/surprise.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "step/draft.h"

#include <math.h>
#include <string.h>

#define UNSEEN 1e-5 /* of the size of the smaller shape: overlap of a pair that was not looked at */

static bool may_come(const mor_world* w)
{
    return w->collision && w->collision->planes && w->formulation->project && !w->on_collide;
}

mor_code mor_surprise_keep(mor_step* k)
{
    k->may_surprise = may_come(k->w) && k->w->surprise == 0.0;
    if (!k->may_surprise) return MOR_OK;
    if (!k->before && !(k->before = mor_step_create_plain(k->w))) return MOR_SYSTEM;
    return mor_step_take(k->w, k->before);
}

bool mor_surprise_met(const mor_step* k)
{
    const mor_world* w = k->w;
    if (!k->may_surprise || !k->measured || !(w->deepest > 0.0)) return false;
    const mor_contact *ahead = k->ahead.data, *seen = k->contacts.data;
    mor_choice_depth last = { -1, 0.0 };
    for (int i = 0; i < k->ahead.count; i++) {
        const mor_contact* c = &ahead[i];
        const double least = UNSEEN * mor_contact_size(w, c);
        if (!(-c->gap > least) || !(mor_contact_depth(ahead, k->ahead.count, i, &last) > least)) continue;
        int j = 0;
        while (j < k->contacts.count && (memcmp(seen[j].body, c->body, sizeof c->body) != 0 ||
                                         memcmp(seen[j].shape, c->shape, sizeof c->shape) != 0))
            j++;
        if (j == k->contacts.count) return true;
    }
    return false;
}

/* By how much the step has made a point of a body faster, at most [m/s]. */
static double speed_up(const mor_world* from, const mor_world* to)
{
    double most = 0.0;
    for (int i = 0; i < from->alive_count; i++) {
        const mor_body *a = &from->bodies[from->order[i]], *b = &to->bodies[to->order[i]];
        double arm = 0.0;
        for (int s = 0; s < a->shape_count; s++) {
            mor_pose pose = mor_body_shape_pose(a, s);
            arm = mor_max(arm, a->shapes[s].geometry->radius + mor_norm(mor_sub(pose.position, a->x)));
        }
        if (a->kind == MOR_FIXED || !isfinite(arm)) continue;
        most = mor_max(most, mor_norm(mor_sub(b->v, a->v)) + arm * mor_norm(mor_sub(b->w, a->w)));
    }
    return most;
}

mor_code mor_surprise_back(mor_step* k)
{
    const double faster = speed_up(k->before->w, k->w);
    const mor_contact* last = k->last;
    const mor_world* from = k->taken_from;
    const int last_count = k->last_count;
    mor_code code = mor_step_take(k->before->w, k);
    if (code) return code;
    k->taken_from = from;
    k->last = last;
    k->last_count = last_count;
    k->w->detected = false;
    k->w->surprise = faster;
    return MOR_OK;
}
