/* Contacts that are added to what a detection found: materials and belts are filled in here. */
#include "base/elementary.h"
#include "collision/scan.h"

#include <string.h>

mor_contact* mor_found_next(mor_found* found)
{
    mor_buffer* list = found->contacts;
    if (!mor_buffer_reserve(&found->world->allocator, list, list->count + 1, sizeof(mor_contact))) return NULL;
    return &((mor_contact*)list->data)[list->count++];
}

static void name_pair(const mor_world* w, const mor_near_pair* pair, mor_contact* c)
{
    c->body[0] = w->order_of[pair->slot_a];
    c->body[1] = w->order_of[pair->slot_b];
    c->shape[0] = pair->shape_a;
    c->shape[1] = pair->shape_b;
    mor_world_combine(w, pair->a, pair->shape_a, pair->b, pair->shape_b, c);
    c->surface_velocity = mor_sub(pair->b->surface_velocity, pair->a->surface_velocity);
}

void mor_pair_contact(const mor_world* w, const mor_near_pair* pair, mor_contact* c)
{
    memset(c, 0, sizeof *c);
    name_pair(w, pair, c);
}

mor_code mor_near_pair_contact(mor_found* found, const mor_near_pair* pair, const mor_contact* contact)
{
    mor_contact* c = mor_found_next(found);
    if (!c) return MOR_SYSTEM;
    *c = *contact;
    name_pair(found->world, pair, c);
    return MOR_OK;
}

mor_code mor_found_add(mor_found* found, const mor_contact* contact)
{
    const mor_world* w = found->world;
    mor_contact* c = mor_found_next(found);
    if (!c) return MOR_SYSTEM;
    *c = *contact;
    const mor_body *a = &w->bodies[w->order[c->body[0]]], *b = &w->bodies[w->order[c->body[1]]];
    double friction = c->friction, restitution = c->restitution;
    mor_world_combine(w, a, c->shape[0], b, c->shape[1], c);
    if (friction >= 0.0) c->friction = friction;
    if (restitution >= 0.0) c->restitution = restitution, c->impact = contact->impact;
    c->impulse = c->moment = mor_v3(0, 0, 0);
    c->normal_impulse = 0.0;
    if (-c->gap > found->deepest) found->deepest = -c->gap;
    return MOR_OK;
}

const mor_contact* mor_found_last(const mor_found* found, int* count)
{
    *count = found->last_count;
    return found->last;
}
