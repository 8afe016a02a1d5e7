/* Bodies that a blow of this step stops.
 *
 * Pairs are looked at within what they move relative to each other in the step, and followed through their free motion
 * (sweep.c). Two bodies that fall side by side have next to no such motion; when the lower one lands, the other one
 * runs into it by up to its speed times h in one step. So for every contact that closes within the step, rate u < 0 and
 * gap < -h u, each of its bodies gets the change of velocity
 *
 *     -+ n (-u - gap/h),
 *
 * the largest one if it has several. That is the blow to a body that does not turn and whose partner does not give way,
 * the most it can be: what lies on a pile is held by it, whatever its own mass is. Pairs without contact are looked at
 * once more with these velocities; what they find strikes the next ones. A contact found so is a row that acts only if
 * the bodies really close.
 *
 * Methods that project overlaps away or look for such pairs themselves (step/surprise.c) do without. Cost: some
 * products per contact, and a test of each pair beside a blow. */
#include "collision/struck.h"

#include "base/elementary.h"

bool mor_struck_count(const mor_world* w)
{
    return w->formulation && w->formulation->overlaps && w->formulation->overlaps(w->formulation_options);
}

bool mor_struck_add(const mor_world* w, const mor_contact* contacts, int first, int last, mor_vec3* blow)
{
    bool any = false;
    for (int i = first; i < last; i++) {
        const mor_contact* c = &contacts[i];
        const int slot[2] = { w->order[c->body[0]], w->order[c->body[1]] };
        const mor_body *a = &w->bodies[slot[0]], *b = &w->bodies[slot[1]];
        mor_vec3 u = mor_sub(mor_body_point_velocity(b, c->point[1]), mor_body_point_velocity(a, c->point[0]));
        u = mor_add(u, mor_sub(blow[slot[1]], blow[slot[0]]));
        double change = -mor_dot(c->normal, u) - mor_max(c->gap, 0.0) / w->h;
        if (!(change > 0.0)) continue;
        for (int side = 0; side < 2; side++) {
            mor_vec3* known = &blow[slot[side]];
            if ((side ? b : a)->tree < 0 || !(change * change > mor_dot(*known, *known))) continue;
            *known = mor_scale(side ? change : -change, c->normal);
            any = true;
        }
    }
    return any;
}
