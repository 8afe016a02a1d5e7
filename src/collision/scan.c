/* Narrow phase: the contacts of one pair of shapes.
 *
 * What acts. Shapes that are apart are followed through the free motion of the step (sweep.c): contacts that would stop
 * a body that only passes by are replaced or dropped. Where corners or parallel edges are nearest, the line between
 * them is no plane the bodies must respect: such contacts are kept only if the pair touches in free motion.
 *
 * What is kept. The words a pair test may keep from step to step (its last separating axis) only save time; a pair that
 * rests as it did has the contacts it had (kept_pairs.c). */
#include "base/elementary.h"
#include "collision/scan.h"
#include "collision/pair_table.h"
#include "collision/pair_tests.h"
#include "collision/seams.h"
#include "collision/sweep.h"

#include <string.h>

#define RESTING_POINTS 8

/* The words remembered for this pair, which comes later than all asked for before. */
static uint32_t* recall(mor_scan* k, int i, int j, uint32_t words[4])
{
    const mor_buffer* old = &k->bp->cache[0];
    const mor_cached_pair* pairs = old->data;
    while (k->cursor < old->count && (pairs[k->cursor].i < i || (pairs[k->cursor].i == i && pairs[k->cursor].j < j)))
        k->cursor++;
    bool hit = k->cursor < old->count && pairs[k->cursor].i == i && pairs[k->cursor].j == j;
    for (int n = 0; n < 4; n++) words[n] = hit ? pairs[k->cursor].words[n] : 0;
    return words;
}

static void remember(mor_scan* k, int i, int j, const uint32_t words[4])
{
    mor_buffer* fresh = k->fresh;
    if (!mor_buffer_reserve(&k->w->allocator, fresh, fresh->count + 1, sizeof(mor_cached_pair))) return;
    mor_cached_pair* c = &((mor_cached_pair*)fresh->data)[fresh->count++];
    c->i = i;
    c->j = j;
    memcpy(c->words, words, sizeof c->words);
}

/* How the shape moves in the step if nothing holds it. */
static mor_flight flight(const mor_scan* k, const mor_shape_slot* s)
{
    const mor_world* w = k->w;
    const mor_body* b = &w->bodies[s->body];
    if (b->kind == MOR_FIXED) return (mor_flight){ .pose = s->pose, .x = s->pose.position, .still = true };
    const mor_geometry* g = b->shapes[s->shape].geometry;
    double tumble = s->arm > 0.0 ? mor_norm(b->w) : 0.0;
    if (s->arm == g->radius && (g->kind == MOR_CAPSULE || g->kind == MOR_CYLINDER || g->kind == MOR_CONE)) {
        mor_vec3 u = mor_rotate(s->pose.rotation, mor_v3(0, 0, 1));
        tumble = mor_norm(mor_cross(u, b->w));
    }
    const mor_vec3 v = b->tree >= 0 ? mor_madd(b->v, w->h, w->gravity) : b->v;
    return (mor_flight){ .pose = s->pose,
                         .x = b->x,
                         .tumble = tumble,
                         .v = k->blow ? mor_add(v, k->blow[s->body]) : v,
                         .w = b->w,
                         .arm = s->arm,
                         .yields = b->tree >= 0 && b->mass.mass > 0.0 ? 1.0 / b->mass.mass : 0.0 };
}

/* At most eight points, and those that land in this step. */
static int points_that_carry(const mor_scan* k, const mor_geometry* ga, const mor_geometry* gb, const mor_shape_slot* a,
                             const mor_shape_slot* b, mor_point* points, int n)
{
    const mor_world* w = k->w;
    if (n <= RESTING_POINTS) return n;
    const mor_flight fa = flight(k, a), fb = flight(k, b);
    double later[MOR_MAX_POINTS];
    for (int i = 0; i < n; i++) later[i] = points[i].gap + w->h * mor_flight_rate(&fa, &fb, &points[i], 0.0);
    double size = mor_min(ga->radius, gb->radius), level = 1e-5 * size; /* surfaces this level carry together */
    if (mor_flight_tumbles(&fa, &fb, points[0].normal, size, w->h)) return n;
    return mor_manifold_reduce(points, n, RESTING_POINTS, level, later);
}

/* Shapes that are apart: what of the points acts in this step. */
static int points_that_act(const mor_scan* k, const mor_near_pair* pair, const mor_shape_slot* a,
                           const mor_shape_slot* b, mor_pair_test test, bool swap, mor_point* points, int n)
{
    const mor_world* w = k->w;
    double least = HUGE_VAL, epsilon = pair->reach - k->sweep * pair->motion;
    bool corners = true;
    for (int i = 0; i < n; i++) {
        least = mor_min(least, points[i].gap);
        corners &= points[i].corner;
    }
    const mor_geometry *ga = pair->a->shapes[a->shape].geometry, *gb = pair->b->shapes[b->shape].geometry;
    if (!(least > 0.0) && !(pair->motion > 0.1 * mor_min(ga->radius, gb->radius))) return n; /* slow: see sweep.c */
    bool swept = k->o->reach == 0 && k->o->activation == 0;
    if (!swept && !corners) return n;
    int near = 0; /* of gravity the part along the normal counts */
    double fall = w->h * w->h * mor_norm(w->gravity);
    for (int i = 0; i < n; i++) {
        double least_fall = w->h * w->h * fabs(mor_dot(w->gravity, points[i].normal));
        if (!swept || points[i].gap < epsilon + pair->motion - fall + least_fall) points[near++] = points[i];
    }
    const bool balls = ga->kind == MOR_SPHERE && gb->kind == MOR_SPHERE;
    mor_contact meet; /* its materials */
    meet.restitution = meet.friction = 0.0;
    if (k->bounces || balls) mor_world_combine(w, pair->a, pair->shape_a, pair->b, pair->shape_b, &meet);
    mor_sweep s = { test,
                    swap,
                    ga,
                    gb,
                    { flight(k, a), flight(k, b) },
                    w->h,
                    pair->reach,
                    meet.restitution > 0.0,
                    balls && meet.friction == 0.0 };
    return mor_sweep_contacts(&s, points, near);
}

/* Two shapes, that of the earlier body first, and what they may move towards each other in the step. */
typedef struct couple {
    const mor_shape_slot *a, *b;
    const mor_body *body_a, *body_b;
    const mor_geometry *geometry_a, *geometry_b;
    double motion, reach;
} couple;

static couple couple_of(const mor_scan* k, int i, int j)
{
    const mor_world* w = k->w;
    const mor_shape_slot *shapes = k->bp->shapes.data, *a = &shapes[i], *b = &shapes[j];
    if (w->order_of[a->body] > w->order_of[b->body]) {
        const mor_shape_slot* t = a;
        a = b;
        b = t;
    }
    const mor_body *x = &w->bodies[a->body], *y = &w->bodies[b->body];
    couple c = { a, b, x, y, x->shapes[a->shape].geometry, y->shapes[b->shape].geometry, 0.0, 0.0 };
    double spin =
        (a->speed - mor_norm(x->v)) * (x->kind != MOR_FIXED) + (b->speed - mor_norm(y->v)) * (y->kind != MOR_FIXED);
    mor_vec3 slip = mor_sub(x->v, y->v);
    if (k->blow) slip = mor_add(slip, mor_sub(k->blow[a->body], k->blow[b->body]));
    c.motion = w->h * (mor_norm(slip) + spin + w->surprise) + w->h * w->h * mor_norm(w->gravity);
    c.reach = mor_pair_epsilon(k->o, c.geometry_a, c.geometry_b) + (k->o->reach == 0 ? k->sweep * c.motion : 0.0);
    return c;
}

/* May they touch at all? */
static bool may_meet(const mor_world* w, const couple* c)
{
    const mor_body *x = c->body_a, *y = c->body_b;
    const int slot_a = c->a->body, slot_b = c->b->body;
    return slot_a != slot_b && (x->tree >= 0 || y->tree >= 0) && !mor_world_ignores(w, slot_a, slot_b) &&
           !((x->filters || y->filters) && !mor_shapes_meet(x, c->a->shape, y, c->b->shape));
}

/* Is the pair still apart along the axis it was in the last step? Most boxes whose boxes meet are. */
static bool still_apart(const couple* c, mor_pair_test test, const uint32_t words[4])
{
    return words[0] && test == mor_pair_polyhedron_polyhedron && c->geometry_a->polyhedron->is_box &&
           c->geometry_b->polyhedron->is_box &&
           mor_boxes_apart(c->geometry_a, &c->a->pose, c->geometry_b, &c->b->pose, c->reach, words);
}

/* The points of a pair by the library's test; -1: there is none. */
static int pair_points(mor_scan* k, const mor_shape_slot* a, const mor_shape_slot* b, mor_pair_test test, bool swap,
                       const mor_near_pair* pair, mor_point* points)
{
    const mor_geometry *ga = pair->a->shapes[a->shape].geometry, *gb = pair->b->shapes[b->shape].geometry;
    if (!test) {
        k->code = mor_fail(k->error, MOR_BAD_INPUT,
                           "no collision test for a %s (%s) and a %s (%s); add one to the library's pair table",
                           ga->label, pair->a->name, gb->label, pair->b->name);
        return -1;
    }
    int n = mor_pair_run(test, swap, ga, &a->pose, gb, &b->pose, pair->reach, pair->words, points);
    if (n > 0) n = points_that_act(k, pair, a, b, test, swap, points, n);
    if (ga->kind != MOR_CHAIN && gb->kind != MOR_CHAIN) n = points_that_carry(k, ga, gb, a, b, points, n);
    if (n > 0 && k->o->activation == 1) /* one feature is near: report every one */
        n = mor_pair_run(test, swap, ga, &a->pose, gb, &b->pose, 1e9, pair->words, points);
    return n;
}

/* Notes the pair and its contacts, from `first` to the last, for the seams. */
static void add_touch(mor_scan* k, const mor_near_pair* pair, const mor_shape_slot* a, const mor_shape_slot* b,
                      int first, const mor_point* deepest)
{
    const mor_shape_slot* shapes = k->bp->shapes.data;
    mor_buffer* list = k->touches;
    if (!mor_buffer_reserve(&k->w->allocator, list, list->count + 1, sizeof(mor_touch))) {
        k->code = MOR_SYSTEM;
        return;
    }
    ((mor_touch*)list->data)[list->count++] =
        (mor_touch){ .shape = { (int)(a - shapes), (int)(b - shapes) },
                     .body = { a->body, b->body },
                     .fixed = { pair->a->kind == MOR_FIXED, pair->b->kind == MOR_FIXED },
                     .geometry = { pair->a->shapes[a->shape].geometry, pair->b->shapes[b->shape].geometry },
                     .pose = { a->pose, b->pose },
                     .first = first,
                     .count = k->found->contacts->count - first,
                     .reach = pair->reach,
                     .slip = mor_sub(pair->b->v, pair->a->v),
                     .gap = deepest->gap,
                     .normal = deepest->normal };
}

/* A pair that rests as it did: its contacts once more. False: it does not. */
static bool found_again(mor_scan* k, int u, int i, int j, bool cached)
{
    const mor_shape_slot* shapes = k->bp->shapes.data;
    if (!k->kept || !shapes[i].stays || !shapes[j].stays) return false;
    const mor_kept_pair* pair = mor_kept_find(k->kept, &k->kept_cursor, u, j);
    if (!pair) return false;
    const mor_contact* contacts = (const mor_contact*)k->kept->contacts.data + pair->first;
    mor_buffer* list = k->found->contacts;
    int first = list->count, count = pair->count;
    if (!mor_kept_add(&k->w->allocator, k->keep, pair, contacts) ||
        !mor_buffer_reserve(&k->w->allocator, list, first + count, sizeof *contacts) ||
        !mor_buffer_reserve(&k->w->allocator, k->touches, k->touches->count + 1, sizeof(mor_touch))) {
        k->code = MOR_SYSTEM;
        return true;
    }
    if (cached) {
        uint32_t words[4];
        remember(k, i, j, recall(k, i, j, words));
    }
    k->found->deepest = mor_max(k->found->deepest, pair->deepest);
    if (count == 0) return true;
    memcpy((mor_contact*)list->data + first, contacts, (size_t)count * sizeof *contacts);
    list->count += count;
    if (pair->touch.count == 0) return true;
    mor_touch* touch = &((mor_touch*)k->touches->data)[k->touches->count++];
    *touch = pair->touch;
    touch->first = first;
    return true;
}

/* Notes the contacts from `first` on of a pair that stays; `touched`: the last touch is theirs. */
static void keep_pair(mor_scan* k, int u, int i, int j, int first, double deepest, bool touched)
{
    const mor_shape_slot* shapes = k->bp->shapes.data;
    if (!k->keep || !shapes[i].stays || !shapes[j].stays || k->code) return;
    mor_kept_pair pair = { .i = u, .j = j, .count = k->found->contacts->count - first, .deepest = deepest };
    if (touched) pair.touch = ((const mor_touch*)k->touches->data)[k->touches->count - 1];
    const mor_contact* contacts = pair.count > 0 ? (const mor_contact*)k->found->contacts->data + first : NULL;
    if (!mor_kept_add(&k->w->allocator, k->keep, &pair, contacts)) k->code = MOR_SYSTEM;
}

/* One more contact of a pair whose contacts begin at `first`: what belongs to the pair is found once. */
static void add_point(mor_scan* k, const mor_near_pair* pair, const mor_point* p, int first)
{
    mor_buffer* list = k->found->contacts;
    const bool known = list->count > first;
    mor_contact* c = mor_found_next(k->found);
    if (!c) {
        k->code = MOR_SYSTEM;
        return;
    }
    if (known) *c = ((const mor_contact*)list->data)[first];
    else mor_pair_contact(k->w, pair, c);
    c->point[0] = p->on_a, c->point[1] = p->on_b;
    c->normal = p->normal;
    c->gap = p->gap;
    c->feature = p->feature;
    c->group = p->group, c->plane = p->plane;
}

void mor_scan_pair(mor_scan* k, int u, int i, int j, bool cached)
{
    if (k->code || found_again(k, u, i, j, cached)) return;
    uint32_t words[4] = { 0 };
    if (cached) recall(k, i, j, words);
    const couple c = couple_of(k, i, j);
    bool swap, done = false;
    const mor_pair_test test = mor_library_pair(k->w->library, c.geometry_a, c.geometry_b, &swap);
    if (!k->narrow && still_apart(&c, test, words)) {
        remember(k, i, j, words);
        return;
    }
    if (!may_meet(k->w, &c)) return;
    const mor_shape_slot *a = c.a, *b = c.b;
    const mor_near_pair pair = { c.body_a, c.body_b, a->body, b->body,  a->shape, b->shape,
                                 a->pose,  b->pose,  c.reach, c.motion, words };
    if (k->narrow) k->code = k->narrow(k->user, k->found, k->o, &pair, &done);
    if (done || k->code) {
        if (cached) remember(k, i, j, words);
        return;
    }
    mor_point points[MOR_MAX_POINTS];
    int n = pair_points(k, a, b, test, swap, &pair, points);
    if (n < 0) return;
    if (cached) remember(k, i, j, words);
    int first = k->found->contacts->count, best = 0;
    double deepest = 0.0;
    for (int p = 0; p < n && !k->code; p++) {
        if (points[p].gap < points[best].gap) best = p;
        deepest = mor_max(deepest, -points[p].gap);
        if (!(points[p].gap < k->o->psi_min)) add_point(k, &pair, &points[p], first);
    }
    k->found->deepest = mor_max(k->found->deepest, deepest);
    if (k->narrow || k->code) return;
    const bool touched = k->found->contacts->count > first && mor_may_have_seams(c.geometry_a, c.geometry_b);
    if (touched) add_touch(k, &pair, a, b, first, &points[best]);
    keep_pair(k, u, i, j, first, deepest, touched);
}
