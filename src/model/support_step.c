/* Friction with the plane in a step in which something acts on the body: passes until its slip fits.
 *
 * Every pass linearises the friction about velocities nu_k (support.c) and solves the step, which gives nu: the next
 * nu_k. The first takes those of the start. It is done when no point began or ceased to stick and the slips changed by
 * less than ENOUGH: the tangent leaves an error of about its square. Passes that have not ended after CALM are by the
 * upper quadratic in turns, which goes down in every pass. In a steady push one or two passes are enough. */
#include "base/elementary.h"
#include "model/support.h"

enum { CALM = 10, PASSES = 40 };
#define ENOUGH 3e-4 /* of the slip */

void mor_support_mark(mor_step* k)
{
    mor_world* w = k->w;
    bool any = false;
    if (w->dimension != 2) return;
    for (int i = 0; i < w->tree_count; i++) {
        if (w->trees[i].kind != &mor_tree_planar) continue;
        mor_body* b = &w->bodies[w->trees[i].body];
        b->look.touched = w->joints.count > 0;
        any = any || b->support.friction > 0.0;
    }
    const mor_contact* contacts = k->contacts.data;
    for (int i = 0; any && i < k->contacts.count; i++)
        for (int side = 0; side < 2; side++) w->bodies[w->order[contacts[i].body[side]]].look.touched = true;
}

static bool revise(const mor_step* k, const mor_tree* t, mor_body* b)
{
    mor_support_look* look = &b->look;
    const double* nu = k->nu_new + t->offset;
    double start[3] = { b->v.x, b->v.y, b->w.z };
    double change =
        mor_support_change(&b->support, b->angle, k->w->h, look->chosen ? look->at : start, nu, &look->sticks);
    if ((change <= ENOUGH && !look->upper) || ++look->passes > PASSES) return false;
    look->upper = look->passes > CALM && look->passes % 2;
    look->chosen = true;
    for (int i = 0; i < 3; i++) look->at[i] = nu[i];
    return true;
}

bool mor_support_revise(mor_step* k)
{
    mor_world* w = k->w;
    bool again = false;
    for (int i = 0; w->dimension == 2 && i < w->tree_count; i++) {
        const mor_tree* t = &w->trees[i];
        if (t->kind != &mor_tree_planar) continue;
        mor_body* b = &w->bodies[t->body];
        if (b->support.friction > 0.0 && b->look.touched && revise(k, t, b)) again = true;
    }
    return again;
}

void mor_support_forget(mor_step* k)
{
    mor_world* w = k->w;
    for (int i = 0; w->dimension == 2 && i < w->tree_count; i++)
        if (w->trees[i].kind == &mor_tree_planar) w->bodies[w->trees[i].body].look = (mor_support_look){ 0 };
}
