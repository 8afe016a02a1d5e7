/* Bodies that a blow of this step stops.
 *
 * Pairs are looked at within what they move relative to each other in the step, and followed through their free motion
 * (sweep.c). Two bodies that fall side by side have next to no such motion; when the lower one lands, the other one
 * runs into it by up to its speed times h in one step. So for every contact that closes within the step, rate u < 0 and
 * gap < -h u, each of its bodies gets the change of velocity
 *
 *     -+ n (1 + e) (-u - gap/h),
 *
 * the largest one if it has several. That is the blow to a body that does not turn and whose partner does not give way,
 * the most it can be: what lies on a pile is held by it, whatever its own mass is. Pairs without contact are looked at
 * once more with these velocities; what they find strikes the next ones. A contact found so is a row that acts only if
 * the bodies really close.
 *
 * Methods that project overlaps away or look for such pairs themselves (step/surprise.c) do without, unless something
 * moves by a quarter of its radius or more in the step: it may be through before anything overlaps. Then a partner that
 * is not struck itself gives way by the masses: these methods solve the blow, and a row that only the most of it makes
 * near may have another normal than the one that acts. Only there do bodies that touch hand a blow on; in a slow pile
 * that would carry every blow to every body. Cost: some products per contact, and a test of each pair beside a blow. */
#include "collision/struck.h"

#include "base/elementary.h"

#define LARGER 1.02 /* of its square: a blow that is not larger than that changes nothing */

bool mor_struck_count(const mor_world* w)
{
    return w->formulation && w->formulation->overlaps && w->formulation->overlaps(w->formulation_options);
}

/* The part of a blow that changes the speed of body `a`; of b the blow so far. `most`: as if b did not give way. */
static double share(const mor_body* a, const mor_body* b, const mor_vec3* blow_of_b, bool most)
{
    if (a->tree < 0) return 0.0;
    if (most || b->tree < 0 || a->robot || b->robot || mor_dot(*blow_of_b, *blow_of_b) > 0.0) return 1.0;
    return b->mass.mass / (a->mass.mass + b->mass.mass);
}

bool mor_struck_add(const mor_world* w, const mor_contact* contacts, int first, int last, mor_vec3* blow)
{
    const bool most = mor_struck_count(w);
    bool any = false;
    for (int i = first; i < last; i++) {
        const mor_contact* c = &contacts[i];
        const int slot[2] = { w->order[c->body[0]], w->order[c->body[1]] };
        const mor_body *a = &w->bodies[slot[0]], *b = &w->bodies[slot[1]];
        mor_vec3 u = mor_sub(mor_body_point_velocity(b, c->point[1]), mor_body_point_velocity(a, c->point[0]));
        u = mor_add(u, mor_sub(blow[slot[1]], blow[slot[0]]));
        double change = -mor_dot(c->normal, u) - mor_max(c->gap, 0.0) / w->h;
        if (!(change > 0.0)) continue;
        change *= 1.0 + c->restitution;
        const double parts[2] = { share(a, b, &blow[slot[1]], most), share(b, a, &blow[slot[0]], most) };
        for (int side = 0; side < 2; side++) {
            double part = change * parts[side];
            mor_vec3* known = &blow[slot[side]];
            if (!(part * part > LARGER * mor_dot(*known, *known))) continue;
            *known = mor_scale(side ? part : -part, c->normal);
            any = true;
        }
    }
    return any;
}
