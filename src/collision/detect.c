/* Detection: which shapes may touch in this step (broad_phase.c), and where (scan.c).
 *
 * Reach. A pair is looked at within epsilon, widened (reach: swept) by what it can travel in the step,
 *
 *     h (|v_a - v_b| + |omega_a| r_a + |omega_b| r_b) + h^2 |g|,      r: farthest point from the centre of mass,
 *
 * so nothing reachable is missed; of gravity only the part along a contact's normal can close its gap. Pairs without a
 * contact are looked at again where a blow of this step changes a body's speed (struck.h).
 * What lies flush with a neighbour has no edge there: seams.c.
 *
 * Order. Pairs come from the tree sorted by shape number, so the contacts do not depend on the tree's form.
 *
 * Cost: near linear in the number of shapes for bounded density; planes are tested against all. */
#include "collision/scan.h"
#include "collision/seams.h"
#include "collision/struck.h"

#include <string.h>

/* Contacts that only a seam between flush shapes pretends are taken out. */
static void close_seams(mor_scan* k)
{
    mor_broad_phase* bp = k->bp;
    mor_buffer* contacts = k->found->contacts;
    const mor_allocator* allocator = &k->w->allocator;
    int touches = bp->touches.count, known = bp->head.count, count = contacts->count;
    if (touches == 0 || (touches == 1 && !mor_has_ground(bp->touches.data))) return; /* no neighbours */
    int room = mor_seams_most(bp->touches.data, touches, count);
    if (!mor_buffer_reserve(allocator, &bp->head, bp->shapes.count, sizeof(int)) ||
        !mor_buffer_reserve(allocator, &bp->next, 2 * touches, sizeof(int)) ||
        !mor_buffer_reserve(allocator, contacts, room, sizeof(mor_contact))) {
        k->code = MOR_SYSTEM;
        return;
    }
    for (; known < bp->shapes.count; known++) ((int*)bp->head.data)[known] = -1;
    bp->head.count = known;
    mor_seam_lists lists = { bp->head.data, bp->next.data };
    contacts->count = mor_seams(bp->touches.data, touches, &lists, contacts->data, count, room);
}

/* Shapes without bounds (planes, chains) against all others. */
static void test_unbounded(mor_scan* k)
{
    const mor_broad_phase* bp = k->bp;
    for (int u = 0; u < bp->unbounded.count; u++) {
        int id = ((const int*)bp->unbounded.data)[u];
        const mor_shape_slot* wide = &((const mor_shape_slot*)bp->shapes.data)[id];
        bool plane = k->w->bodies[wide->body].shapes[wide->shape].geometry->kind == MOR_PLANE;
        mor_vec3 n = mor_rotate(wide->pose.rotation, mor_v3(0, 0, 1));
        for (int i = 0; i < bp->shapes.count; i++) {
            const mor_shape_slot* s = &((const mor_shape_slot*)bp->shapes.data)[i];
            if (s->body < 0 || s->proxy < 0 || k->w->bodies[s->body].tree < 0) continue;
            double above = mor_dot(n, mor_sub(s->pose.position, wide->pose.position)) -
                           k->w->bodies[s->body].shapes[s->shape].geometry->radius;
            /* half of epsilon is in the margin of the shape; that of a plane has no size to go by */
            if (!plane || above <= s->margin + wide->margin + s->epsilon) mor_scan_pair(k, u, id, i, false);
        }
    }
}

/* Pairs that had no contact but may get one because a blow changes the speed of one of them (struck.h); then those that
 * these may strike in turn. They are not remembered: pairs are looked up in order. */
static void test_struck(mor_scan* k, const mor_index_pair* pairs, int count)
{
    enum { ROUNDS = 4, HANDED_ON = 16 };
    const mor_world* w = k->w;
    const mor_shape_slot* shapes = k->bp->shapes.data;
    mor_vec3* blow = k->bp->blow.data;
    memset(blow, 0, (size_t)w->body_count * sizeof *blow);
    k->kept = k->keep = NULL;
    const bool fast = k->bp->fast;
    for (int round = 0, first = 0; round < (fast ? HANDED_ON : ROUNDS) && !k->code; round++) {
        /* Where something is fast, bodies that touch hand on what strikes one of them: all contacts are asked again.
         * In slow piles that would carry every blow to every body. */
        const int last = k->found->contacts->count;
        if (!mor_struck_add(w, k->found->contacts->data, fast ? 0 : first, last, blow)) break;
        first = last;
        k->blow = blow;
        for (int p = 0; p < count && !k->code; p++) {
            if (k->met[p]) continue;
            const mor_shape_slot *a = &shapes[pairs[p].i], *b = &shapes[pairs[p].j];
            mor_vec3 slip = mor_sub(blow[b->body], blow[a->body]);
            if (!(w->h * mor_norm(slip) > a->epsilon + b->epsilon)) continue;
            int before = k->found->contacts->count;
            mor_scan_pair(k, pairs[p].i, pairs[p].i, pairs[p].j, false);
            k->met[p] = k->found->contacts->count > before;
        }
    }
    k->blow = NULL;
}

/* Pairs at rest are looked up in list[0], if anything is known of them, and go to list[1]; not in a step that begins
 * with something else than the last one ended with, as the first: most scenes that start from rest begin to move. */
static void keep_in(mor_scan* k, bool known, mor_kept_pairs list[2])
{
    k->kept = known ? &list[0] : NULL;
    k->keep = k->bp->keeper && k->found->unchanged ? &list[1] : NULL;
    k->kept_cursor = 0;
}

static void turn_round(mor_kept_pairs list[2])
{
    mor_kept_pairs t = list[0];
    list[0] = list[1];
    list[1] = t;
}

mor_code mor_detect(mor_broad_phase* bp, mor_found* found, const mor_collision_options* o, mor_narrow_phase narrow,
                    void* user, double sweep, mor_error* error)
{
    const mor_world* w = found->world;
    const mor_index_pair* pairs;
    int count = mor_broad_phase_update(w, bp, o, sweep, found->workers)
                    ? mor_bvh_pairs(bp->tree, bp->moved.data, bp->moved.count, found->workers, &pairs, NULL)
                    : -1;
    if (count < 0) return mor_fail(error, MOR_SYSTEM, "out of memory in collision detection");
    bool known = found->keeper && bp->keeper == found->keeper && found->unchanged; /* of what rests nothing changed */
    mor_scan k = { .w = w,
                   .bp = bp,
                   .o = o,
                   .narrow = narrow,
                   .user = user,
                   .sweep = sweep,
                   .bounces = mor_world_bounces(w),
                   .found = found,
                   .error = error,
                   .fresh = &bp->cache[1],
                   .touches = &bp->touches };
    bp->cache[1].count = 0;
    bp->touches.count = 0;
    bp->keeper = narrow ? NULL : found->keeper;
    mor_kept_empty(&bp->kept_unbounded[1]);
    mor_kept_empty(&bp->kept[1]);
    /* a floor is mostly the first body: its contacts come in their final order then */
    keep_in(&k, known, bp->kept_unbounded);
    test_unbounded(&k);
    keep_in(&k, known, bp->kept);
    const bool struck = o->reach == 0 && (bp->fast || (!narrow && mor_struck_count(w)));
    if (struck && (!mor_buffer_reserve(&w->allocator, &bp->met, count, sizeof(bool)) ||
                   !mor_buffer_reserve(&w->allocator, &bp->blow, w->body_count, sizeof(mor_vec3))))
        return mor_fail(error, MOR_SYSTEM, "out of memory in collision detection");
    k.met = struck ? bp->met.data : NULL;
    mor_scan_pairs(&k, pairs, count);
    if (struck) test_struck(&k, pairs, count);
    mor_buffer t = bp->cache[0];
    bp->cache[0] = bp->cache[1];
    bp->cache[1] = t;
    turn_round(bp->kept_unbounded);
    turn_round(bp->kept);
    if (!narrow && !k.code) close_seams(&k);
    return k.code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "out of memory in collision detection") : k.code;
}
