/* Detection: which shapes may touch in this step (broad phase), and where (pair tests).
 *
 * Reach. A pair is looked at within epsilon, widened (reach: swept) by what it can travel in the step,
 *
 *     h (|v_a - v_b| + |omega_a| r_a + |omega_b| r_b) + h^2 |g|,      r: farthest point from the centre of mass,
 *
 * so nothing reachable is missed. Boxes in the tree are widened by the halves of a bound of this. Round shapes turn in
 * place, r is that of their centre; and of gravity only the part along a contact's normal can close its gap.
 *
 * What acts. Shapes that are apart are followed through the free motion of the step (sweep.c): contacts that would stop
 * a body that only passes by are replaced or dropped. Where corners or parallel edges are nearest, the line between
 * them is no plane the bodies must respect: such contacts are kept only if the pair touches in free motion.
 * What lies flush with a neighbour has no edge there: seams.c.
 *
 * Order. Pairs come from the tree sorted by shape number, so the contacts do not depend on the tree's form;
 * the words a pair test may keep from step to step (its last separating axis) only save time.
 *
 * Threads. Runs of pairs are looked at apart, each with lists of its own, which are put together in the order of the
 * pairs: the same contacts in the same order with any number of threads.
 *
 * Cost: near linear in the number of shapes for bounded density; planes are tested against all. */
#include "base/elementary.h"
#include "base/workers.h"
#include "collision/detect.h"
#include "collision/bvh.h"
#include "collision/kept_pairs.h"
#include "collision/pair_table.h"
#include "collision/seams.h"
#include "collision/struck.h"
#include "collision/sweep.h"

#include <stdio.h>
#include <string.h>

/* the default of epsilon, as a share of the smaller shape's bounding radius */
#define AUTO_EPSILON 0.01
#define RESTING_POINTS 8
/* runs of pairs for threads, and how many pairs are worth it */
enum { PARTS = 32, MANY_PAIRS = 256 };

typedef struct shape_slot {
    int body, shape; /* body slot, or -1 when free */
    int proxy;       /* -1: unbounded */
    mor_pose pose;
    double speed, margin; /* of its surface; how far its box was widened */
    double arm;           /* farthest point from the centre of mass that turning moves */
    double epsilon;       /* half of what it asks for by itself */
    bool rests, stays;    /* its body has no velocity; nor had it at the last detection, in the same pose */
    bool placed, fixed;   /* its box was set in this detection; its body is fixed */
} shape_slot;

typedef struct body_slot {
    uint32_t generation; /* 0: not in the broad phase */
    int first, count;    /* ids in shape_slot, in a chain of consecutive numbers */
} body_slot;

typedef struct cached_pair {
    int i, j;
    uint32_t words[4];
} cached_pair;

/* What one thread finds in a run of pairs. */
typedef struct part {
    mor_buffer contacts, touches, cache; /* mor_contact, mor_touch, cached_pair */
    mor_kept_pairs kept;
} part;

struct mor_broad_phase {
    mor_allocator allocator;
    mor_bvh* tree;
    mor_buffer shapes;     /* shape_slot */
    mor_buffer bodies;     /* body_slot, by body slot */
    mor_buffer unbounded;  /* int: shape ids */
    mor_buffer moved;      /* int: proxies */
    mor_buffer cache[2];   /* cached_pair: last step's and this step's */
    mor_buffer touches;    /* mor_touch: pairs with contacts, of this step */
    mor_buffer head, next; /* int: lists of the seams */
    mor_buffer met, blow;  /* struck.h: bool by pair, whether it has contacts; mor_vec3 by body slot */
    /* pairs at rest, of shapes without bounds (first number: its place in `unbounded`) and of others: those of the last
     * detection, which was for `keeper`, and of this one */
    mor_kept_pairs kept_unbounded[2], kept[2];
    const void* keeper;
    part parts[PARTS]; /* unused with one thread */
    bool admitted;     /* bodies have come since the last update */
    uint32_t revision; /* of the world whose bodies it has; 0: not known */
    double epsilon;    /* the option, then */
};

void* mor_broad_phase_create(const mor_allocator* allocator)
{
    mor_broad_phase* bp = allocator->resize(allocator->user, NULL, sizeof *bp);
    if (!bp) return NULL;
    *bp = (mor_broad_phase){ .allocator = *allocator, .tree = mor_bvh_create(allocator, 0.1) };
    if (!bp->tree) {
        allocator->resize(allocator->user, bp, 0);
        return NULL;
    }
    return bp;
}

void mor_broad_phase_destroy(void* memory)
{
    mor_broad_phase* bp = memory;
    if (!bp) return;
    mor_allocator a = bp->allocator;
    mor_bvh_destroy(bp->tree);
    mor_buffer* buffers[] = { &bp->shapes,  &bp->bodies, &bp->unbounded, &bp->moved, &bp->cache[0], &bp->cache[1],
                              &bp->touches, &bp->head,   &bp->next,      &bp->met,   &bp->blow };
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) mor_buffer_free(&a, buffers[i]);
    for (int i = 0; i < PARTS; i++) {
        mor_buffer_free(&a, &bp->parts[i].contacts);
        mor_buffer_free(&a, &bp->parts[i].touches);
        mor_buffer_free(&a, &bp->parts[i].cache);
        mor_kept_free(&a, &bp->parts[i].kept);
    }
    for (int i = 0; i < 2; i++) {
        mor_kept_free(&a, &bp->kept_unbounded[i]);
        mor_kept_free(&a, &bp->kept[i]);
    }
    a.resize(a.user, bp, 0);
}

/* ---------------------------------------------------------------------------- broad phase */

/* Takes the shapes of a body out; their numbers stay unused until the next body needs as many. */
static void forget_body(mor_broad_phase* bp, body_slot* b)
{
    shape_slot* shapes = bp->shapes.data;
    for (int i = b->first; i < b->first + b->count; i++) {
        if (shapes[i].proxy >= 0) mor_bvh_remove(bp->tree, shapes[i].proxy);
        int* list = bp->unbounded.data;
        for (int k = 0; shapes[i].proxy < 0 && k < bp->unbounded.count; k++)
            if (list[k] == i) {
                memmove(list + k, list + k + 1, (size_t)(bp->unbounded.count - k - 1) * sizeof *list);
                bp->unbounded.count--;
            }
        shapes[i].body = -1;
    }
    b->generation = 0;
    bp->cache[0].count = 0;
}

/* Consecutive free numbers for the shapes of a new body. */
static int find_room(mor_broad_phase* bp, int count)
{
    const shape_slot* shapes = bp->shapes.data;
    int run = 0;
    for (int i = 0; i < bp->shapes.count; i++) {
        run = shapes[i].body < 0 ? run + 1 : 0;
        if (run == count) return i - count + 1;
    }
    return bp->shapes.count;
}

static bool admit_body(const mor_world* w, mor_broad_phase* bp, int slot)
{
    const mor_body* b = &w->bodies[slot];
    int count = b->no_collision ? 0 : b->shape_count;
    int first =
        count > 0 && bp->shapes.count > 0 && w->alive_count < w->body_count ? find_room(bp, count) : bp->shapes.count;
    int end = first + count;
    if (!mor_buffer_reserve(&w->allocator, &bp->shapes, end, sizeof(shape_slot)) ||
        !mor_buffer_reserve(&w->allocator, &bp->unbounded, bp->unbounded.count + count, sizeof(int)) ||
        !mor_buffer_reserve(&w->allocator, &bp->moved, end, sizeof(int)))
        return false;
    bp->admitted = true;
    if (end > bp->shapes.count) bp->shapes.count = end;
    ((body_slot*)bp->bodies.data)[slot] = (body_slot){ b->generation, first, count };
    for (int i = 0; i < count; i++) {
        shape_slot* s = &((shape_slot*)bp->shapes.data)[first + i];
        *s = (shape_slot){ .body = slot, .shape = i, .proxy = -1, .pose = mor_body_shape_pose(b, i) };
        if (isfinite(b->shapes[i].geometry->radius)) {
            s->proxy = mor_bvh_insert(bp->tree, mor_geometry_bounds(b->shapes[i].geometry, &s->pose), first + i);
            if (s->proxy < 0) return false;
            mor_bvh_set_group(bp->tree, s->proxy,
                              b->robot && !w->robots[b->robot - 1]->self_collision ? b->robot : -(slot + 1));
        } else {
            ((int*)bp->unbounded.data)[bp->unbounded.count++] = first + i;
        }
    }
    return true;
}

typedef struct placing {
    const mor_world* w;
    mor_broad_phase* bp;
    const mor_collision_options* o;
    double sweep, fall;
    bool fresh; /* epsilon is to be found anew */
} placing;

/* Where a shape is, how fast, and the box of its way. */
static void place_shape(const placing* p, shape_slot* s)
{
    const mor_world* w = p->w;
    const mor_collision_options* o = p->o;
    const mor_body* b = &w->bodies[s->body];
    const mor_geometry* g = b->shapes[s->shape].geometry;
    s->placed = false;
    s->fixed = b->kind == MOR_FIXED;
    if (p->fresh) s->epsilon = 0.5 * mor_pair_epsilon(o, g, g);
    double margin = s->epsilon + p->fall;
    if (b->kind != MOR_FIXED) {
        const mor_pose before = s->pose;
        const bool rested = s->rests;
        s->pose = mor_body_shape_pose(b, s->shape);
        s->rests = mor_body_is_still(b) && w->surprise == 0.0; /* other contacts than usual */
        s->stays = rested && s->rests && memcmp(&before, &s->pose, sizeof before) == 0;
        bool turns_in_place = g->kind == MOR_SPHERE || g->kind == MOR_DISC || g->kind == MOR_PARTICLE;
        s->arm = (turns_in_place ? 0.0 : g->radius) + mor_norm(mor_sub(s->pose.position, b->x));
        s->speed = mor_norm(b->v) + s->arm * mor_norm(b->w);
        if (o->reach == 0) margin += p->sweep * w->h * (s->speed + w->surprise);
    } else {
        s->rests = s->stays = true;
        if (s->margin == margin) return; /* already in place */
    }
    s->margin = margin;
    if (s->proxy < 0) return;
    mor_aabb box = mor_geometry_bounds(g, &s->pose);
    mor_vec3 m = mor_v3(margin, margin, margin);
    box.lower = mor_sub(box.lower, m);
    box.upper = mor_add(box.upper, m);
    mor_bvh_set_box(p->bp->tree, s->proxy, box);
    s->placed = true;
}

/* Shapes of a task; shapes from which waking the threads is worth it. */
enum { PLACED = 64, MANY_SHAPES = 256 };

static void place_part(void* user, int index, int worker)
{
    (void)worker;
    const placing* p = user;
    shape_slot* shapes = p->bp->shapes.data;
    int count = p->bp->shapes.count, end = (index + 1) * PLACED < count ? (index + 1) * PLACED : count;
    for (int i = index * PLACED; i < end; i++) {
        shape_slot* s = &shapes[i];
        if (s->fixed && !p->fresh && s->margin == s->epsilon + p->fall) s->placed = false; /* already in place */
        else if (s->body >= 0) place_shape(p, s);
    }
}

/* Bodies that came and went since the last detection. */
static bool follow_bodies(const mor_world* w, mor_broad_phase* bp)
{
    int known = bp->bodies.count;
    if (bp->revision == w->revision && known == w->body_count) return true;
    if (!mor_buffer_reserve(&w->allocator, &bp->bodies, w->body_count, sizeof(body_slot))) return false;
    body_slot* bodies = bp->bodies.data;
    if (w->body_count > known) memset(bodies + known, 0, (size_t)(w->body_count - known) * sizeof *bodies);
    bp->bodies.count = w->body_count;
    bp->revision = 0;
    for (int slot = 0; slot < w->body_count; slot++) {
        const mor_body* b = &w->bodies[slot];
        if (bodies[slot].generation && (!b->alive || bodies[slot].generation != b->generation))
            forget_body(bp, &bodies[slot]);
        if (b->alive && !bodies[slot].generation && !admit_body(w, bp, slot)) return false;
    }
    bp->revision = w->revision;
    return true;
}

/* Poses, widened boxes and the list of what moved. */
static bool update(const mor_world* w, mor_broad_phase* bp, const mor_collision_options* o, double sweep,
                   mor_workers* workers)
{
    if (!follow_bodies(w, bp)) return false;
    bool fresh = bp->admitted || bp->epsilon != o->epsilon;
    bp->admitted = false;
    bp->epsilon = o->epsilon;
    bp->moved.count = 0;
    placing p = { .w = w, .bp = bp, .o = o, .sweep = sweep, .fresh = fresh };
    p.fall = o->reach == 0 ? 0.5 * sweep * w->h * w->h * mor_norm(w->gravity) : 0.0;
    int parts = (bp->shapes.count + PLACED - 1) / PLACED;
    if (workers && bp->shapes.count >= MANY_SHAPES) mor_workers_run(workers, parts, place_part, &p);
    else
        for (int i = 0; i < parts; i++) place_part(&p, i, 0);
    for (int i = 0; i < bp->shapes.count; i++) {
        const shape_slot* s = &((const shape_slot*)bp->shapes.data)[i];
        if (s->body < 0 || !s->placed) continue;
        if (s->fixed) mor_bvh_settle(bp->tree, s->proxy);
        else ((int*)bp->moved.data)[bp->moved.count++] = s->proxy;
    }
    return true;
}

/* ---------------------------------------------------------------------------- narrow phase */

typedef struct scan {
    const mor_world* w;
    mor_broad_phase* bp;
    const mor_collision_options* o;
    int cursor; /* in last step's pair cache */
    mor_narrow_phase narrow;
    void* user; /* of narrow */
    double sweep;
    bool bounces; /* anything in the world */
    mor_found* found;
    mor_code code; /* of the first pair that failed */
    mor_error* error;
    mor_buffer *fresh, *touches; /* where cached pairs and touches go */
    const mor_kept_pairs* kept;  /* pairs at rest of the last detection, NULL: nothing is known of them */
    mor_kept_pairs* keep;        /* and of this one */
    int kept_cursor;
    bool* met;            /* by pair: has it contacts? NULL: nobody asks */
    const mor_vec3* blow; /* by body slot: how a blow may change its velocity, NULL: not at all */
} scan;

/* The words remembered for this pair, which comes later than all asked for before. */
static uint32_t* recall(scan* k, int i, int j, uint32_t words[4])
{
    const mor_buffer* old = &k->bp->cache[0];
    const cached_pair* pairs = old->data;
    while (k->cursor < old->count && (pairs[k->cursor].i < i || (pairs[k->cursor].i == i && pairs[k->cursor].j < j)))
        k->cursor++;
    bool hit = k->cursor < old->count && pairs[k->cursor].i == i && pairs[k->cursor].j == j;
    for (int n = 0; n < 4; n++) words[n] = hit ? pairs[k->cursor].words[n] : 0;
    return words;
}

static void remember(scan* k, int i, int j, const uint32_t words[4])
{
    mor_buffer* fresh = k->fresh;
    if (!mor_buffer_reserve(&k->w->allocator, fresh, fresh->count + 1, sizeof(cached_pair))) return;
    cached_pair* c = &((cached_pair*)fresh->data)[fresh->count++];
    c->i = i;
    c->j = j;
    memcpy(c->words, words, sizeof c->words);
}

/* How the shape moves in the step if nothing holds it. */
static mor_flight flight(const scan* k, const shape_slot* s)
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
static int points_that_carry(const scan* k, const mor_geometry* ga, const mor_geometry* gb, const shape_slot* a,
                             const shape_slot* b, mor_point* points, int n)
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
static int points_that_act(const scan* k, const mor_near_pair* pair, const shape_slot* a, const shape_slot* b,
                           mor_pair_test test, bool swap, mor_point* points, int n)
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
    bool swept = k->o->reach == 0 && k->o->activation == 0 && !k->narrow;
    if (!swept && !corners) return n;
    int near = 0; /* of gravity the part along the normal counts */
    double fall = w->h * w->h * mor_norm(w->gravity);
    for (int i = 0; i < n; i++) {
        double least_fall = w->h * w->h * fabs(mor_dot(w->gravity, points[i].normal));
        if (!swept || points[i].gap < epsilon + pair->motion - fall + least_fall) points[near++] = points[i];
    }
    mor_contact meet = { .restitution = 0.0 };
    if (k->bounces) mor_world_combine(w, pair->a, pair->shape_a, pair->b, pair->shape_b, &meet);
    mor_sweep s = { test, swap, ga, gb, { flight(k, a), flight(k, b) }, w->h, pair->reach, meet.restitution > 0.0 };
    return mor_sweep_contacts(&s, points, near);
}

/* A pair as the narrow phase gets it, contacts naming the earlier body first; false: it cannot touch. */
static bool near_pair(const scan* k, int i, int j, uint32_t* words, const shape_slot** a, const shape_slot** b,
                      mor_near_pair* out)
{
    const mor_world* w = k->w;
    const shape_slot* shapes = k->bp->shapes.data;
    *a = &shapes[i], *b = &shapes[j];
    if (w->order_of[(*a)->body] > w->order_of[(*b)->body]) {
        const shape_slot* t = *a;
        *a = *b;
        *b = t;
    }
    const mor_body *ba = &w->bodies[(*a)->body], *bb = &w->bodies[(*b)->body];
    if ((*a)->body == (*b)->body || (ba->tree < 0 && bb->tree < 0) || mor_world_ignores(w, (*a)->body, (*b)->body) ||
        ((ba->filters || bb->filters) && !mor_shapes_meet(ba, (*a)->shape, bb, (*b)->shape)))
        return false;
    double spin = ((*a)->speed - mor_norm(ba->v)) * (ba->kind != MOR_FIXED) +
                  ((*b)->speed - mor_norm(bb->v)) * (bb->kind != MOR_FIXED);
    mor_vec3 slip = mor_sub(ba->v, bb->v);
    if (k->blow) slip = mor_add(slip, mor_sub(k->blow[(*a)->body], k->blow[(*b)->body]));
    double motion = w->h * (mor_norm(slip) + spin + w->surprise) + w->h * w->h * mor_norm(w->gravity);
    double epsilon = mor_pair_epsilon(k->o, ba->shapes[(*a)->shape].geometry, bb->shapes[(*b)->shape].geometry);
    double reach = epsilon + (k->o->reach == 0 ? k->sweep * motion : 0.0);
    *out = (mor_near_pair){ ba,         bb,         (*a)->body, (*b)->body, (*a)->shape, (*b)->shape,
                            (*a)->pose, (*b)->pose, reach,      motion,     words };
    return true;
}

/* The points of a pair by the library's test; -1: there is none. */
static int pair_points(scan* k, const shape_slot* a, const shape_slot* b, const mor_near_pair* pair, mor_point* points)
{
    const mor_world* w = k->w;
    const mor_geometry *ga = pair->a->shapes[a->shape].geometry, *gb = pair->b->shapes[b->shape].geometry;
    bool swap;
    mor_pair_test test = mor_library_pair(w->library, ga, gb, &swap);
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
static void add_touch(scan* k, const mor_near_pair* pair, const shape_slot* a, const shape_slot* b, int first,
                      const mor_point* deepest)
{
    const shape_slot* shapes = k->bp->shapes.data;
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

/* Contacts that only a seam between flush shapes pretends are taken out. */
static void close_seams(scan* k)
{
    mor_broad_phase* bp = k->bp;
    mor_buffer* contacts = k->found->contacts;
    const mor_allocator* allocator = &k->w->allocator;
    int touches = bp->touches.count, known = bp->head.count, count = contacts->count;
    if (touches == 0) return;
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

/* A pair that rests as it did: its contacts once more. False: it does not. */
static bool found_again(scan* k, int u, int i, int j, bool cached)
{
    const shape_slot* shapes = k->bp->shapes.data;
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
    mor_touch* touch = &((mor_touch*)k->touches->data)[k->touches->count++];
    *touch = pair->touch;
    touch->first = first;
    return true;
}

/* Notes the contacts from `first` on of a pair that stays; a scene that only starts from rest keeps none. */
static void keep_pair(scan* k, int u, int i, int j, int first, double deepest)
{
    const shape_slot* shapes = k->bp->shapes.data;
    if (!k->keep || !shapes[i].stays || !shapes[j].stays || k->code) return;
    mor_kept_pair pair = { .i = u, .j = j, .count = k->found->contacts->count - first, .deepest = deepest };
    if (pair.count > 0) pair.touch = ((const mor_touch*)k->touches->data)[k->touches->count - 1];
    const mor_contact* contacts = pair.count > 0 ? (const mor_contact*)k->found->contacts->data + first : NULL;
    if (!mor_kept_add(&k->w->allocator, k->keep, &pair, contacts)) k->code = MOR_SYSTEM;
}

/* Room for one more contact, at its end; NULL: out of memory. */
static mor_contact* next_contact(mor_found* found)
{
    mor_buffer* list = found->contacts;
    if (!mor_buffer_reserve(&found->world->allocator, list, list->count + 1, sizeof(mor_contact))) return NULL;
    return &((mor_contact*)list->data)[list->count++];
}

/* One more contact of a pair whose contacts begin at `first`: what belongs to the pair is found once. */
static void add_point(scan* k, const mor_near_pair* pair, const mor_point* p, int first)
{
    mor_buffer* list = k->found->contacts;
    if (list->count == first) {
        mor_contact c = { .point = { p->on_a, p->on_b },
                          .normal = p->normal,
                          .gap = p->gap,
                          .feature = p->feature,
                          .group = p->group,
                          .plane = p->plane };
        k->code = mor_near_pair_contact(k->found, pair, &c);
        return;
    }
    mor_contact* c = next_contact(k->found);
    if (!c) {
        k->code = MOR_SYSTEM;
        return;
    }
    *c = ((const mor_contact*)list->data)[first];
    c->point[0] = p->on_a, c->point[1] = p->on_b;
    c->normal = p->normal;
    c->gap = p->gap;
    c->feature = p->feature;
    c->group = p->group, c->plane = p->plane;
}

/* Shapes i and j. u: what pairs at rest are ordered by, i or, of a shape without bounds, its place in the list. */
static void test_pair(scan* k, int u, int i, int j, bool cached)
{
    const shape_slot *a, *b;
    uint32_t words[4] = { 0 };
    mor_near_pair pair;
    if (k->code || found_again(k, u, i, j, cached) || !near_pair(k, i, j, words, &a, &b, &pair)) return;
    if (cached) recall(k, i, j, words);
    bool done = false;
    if (k->narrow) k->code = k->narrow(k->user, k->found, k->o, &pair, &done);
    if (done || k->code) {
        if (cached) remember(k, i, j, words);
        return;
    }
    mor_point points[MOR_MAX_POINTS];
    int n = pair_points(k, a, b, &pair, points);
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
    if (k->found->contacts->count > first) add_touch(k, &pair, a, b, first, &points[best]);
    keep_pair(k, u, i, j, first, deepest);
}

mor_code mor_near_pair_contact(mor_found* found, const mor_near_pair* pair, const mor_contact* contact)
{
    const mor_world* w = found->world;
    mor_contact* c = next_contact(found);
    if (!c) return MOR_SYSTEM;
    *c = *contact;
    c->body[0] = w->order_of[pair->slot_a];
    c->body[1] = w->order_of[pair->slot_b];
    c->shape[0] = pair->shape_a;
    c->shape[1] = pair->shape_b;
    mor_world_combine(w, pair->a, pair->shape_a, pair->b, pair->shape_b, c);
    c->surface_velocity = mor_sub(pair->b->surface_velocity, pair->a->surface_velocity);
    return MOR_OK;
}

double mor_pair_epsilon(const mor_collision_options* o, const mor_geometry* a, const mor_geometry* b)
{
    if (o->epsilon >= 0.0) return o->epsilon;
    double ra = a->kind == MOR_PARTICLE ? HUGE_VAL : a->radius, rb = b->kind == MOR_PARTICLE ? HUGE_VAL : b->radius;
    double size = mor_min(ra, rb), most = 1.0; /* m: for particles, and where nothing has a size */
    if (a->kind == MOR_PARTICLE || b->kind == MOR_PARTICLE || !isfinite(size)) size = mor_min(size, most);
    return AUTO_EPSILON * size;
}

/* Shapes without bounds (planes, chains) against all others. */
static void test_unbounded(scan* k)
{
    const mor_broad_phase* bp = k->bp;
    for (int u = 0; u < bp->unbounded.count; u++) {
        int id = ((const int*)bp->unbounded.data)[u];
        const shape_slot* wide = &((const shape_slot*)bp->shapes.data)[id];
        bool plane = k->w->bodies[wide->body].shapes[wide->shape].geometry->kind == MOR_PLANE;
        mor_vec3 n = mor_rotate(wide->pose.rotation, mor_v3(0, 0, 1));
        for (int i = 0; i < bp->shapes.count; i++) {
            const shape_slot* s = &((const shape_slot*)bp->shapes.data)[i];
            if (s->body < 0 || s->proxy < 0 || k->w->bodies[s->body].tree < 0) continue;
            double above = mor_dot(n, mor_sub(s->pose.position, wide->pose.position)) -
                           k->w->bodies[s->body].shapes[s->shape].geometry->radius;
            /* half of epsilon is in the margin of the shape; that of a plane has no size to go by */
            if (!plane || above <= s->margin + wide->margin + s->epsilon) test_pair(k, u, id, i, false);
        }
    }
}

/* --------------------------------------------------------------------------------- threads */

typedef struct shared_scan {
    const scan* all;
    const mor_index_pair* pairs;
    int count;
    mor_found found[PARTS];
    mor_code code[PARTS];
    mor_error error[PARTS];
    int at[PARTS][3]; /* where its contacts, touches and cached pairs begin */
} shared_scan;

/* The first cached pair that is not before (i, j). */
static int cached_from(const mor_buffer* cache, int i, int j)
{
    const cached_pair* pairs = cache->data;
    int low = 0, high = cache->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        bool before = pairs[middle].i < i || (pairs[middle].i == i && pairs[middle].j < j);
        *(before ? &low : &high) = before ? middle + 1 : middle;
    }
    return low;
}

static void test_run(scan* k, const mor_index_pair* pairs, int begin, int end)
{
    for (int i = begin; i < end; i++) {
        int before = k->found->contacts->count;
        test_pair(k, pairs[i].i, pairs[i].i, pairs[i].j, true);
        if (k->met) k->met[i] = k->found->contacts->count > before;
    }
}

static void scan_part(void* user, int index, int worker)
{
    (void)worker;
    shared_scan* shared = user;
    part* own = &shared->all->bp->parts[index];
    int begin = (int)((int64_t)shared->count * index / PARTS),
        end = (int)((int64_t)shared->count * (index + 1) / PARTS);
    own->contacts.count = own->touches.count = own->cache.count = 0;
    scan k = *shared->all;
    shared->found[index] = *k.found;
    shared->found[index].contacts = &own->contacts;
    k.found = &shared->found[index];
    k.error = &shared->error[index];
    k.fresh = &own->cache, k.touches = &own->touches;
    if (k.keep) k.keep = &own->kept;
    mor_kept_empty(&own->kept);
    if (begin < end) {
        const mor_index_pair* at = &shared->pairs[begin];
        k.cursor = cached_from(&k.bp->cache[0], at->i, at->j);
        k.kept_cursor = k.kept ? mor_kept_from(k.kept, at->i, at->j) : 0;
    }
    test_run(&k, shared->pairs, begin, end);
    shared->code[index] = k.code;
}

/* Copies what a part found to its place in the lists of all. */
static void move_part(void* user, int index, int worker)
{
    (void)worker;
    const shared_scan* shared = user;
    const scan* k = shared->all;
    const part* p = &k->bp->parts[index];
    const int* at = shared->at[index];
    mor_contact* contacts = (mor_contact*)k->found->contacts->data + at[0];
    mor_touch* touches = (mor_touch*)k->touches->data + at[1];
    if (p->contacts.count) memcpy(contacts, p->contacts.data, (size_t)p->contacts.count * sizeof *contacts);
    if (p->touches.count) memcpy(touches, p->touches.data, (size_t)p->touches.count * sizeof *touches);
    if (p->cache.count)
        memcpy((cached_pair*)k->fresh->data + at[2], p->cache.data, (size_t)p->cache.count * sizeof(cached_pair));
    for (int t = 0; t < p->touches.count; t++) touches[t].first += at[0];
}

/* What the parts found, in their order. The first that failed decides. */
static void put_together(scan* k, shared_scan* shared)
{
    const mor_allocator* allocator = &k->w->allocator;
    int count[3] = { k->found->contacts->count, k->touches->count, k->fresh->count };
    for (int i = 0; i < PARTS && !k->code; i++) {
        const part* p = &k->bp->parts[i];
        memcpy(shared->at[i], count, sizeof count);
        count[0] += p->contacts.count, count[1] += p->touches.count, count[2] += p->cache.count;
        k->found->deepest = mor_max(k->found->deepest, shared->found[i].deepest);
        k->code = shared->code[i];
        if (k->code && k->error) *k->error = shared->error[i];
        if (!k->code && k->keep && !mor_kept_append(allocator, k->keep, &p->kept)) k->code = MOR_SYSTEM;
    }
    if (k->code) return;
    if (!mor_buffer_reserve(allocator, k->found->contacts, count[0], sizeof(mor_contact)) ||
        !mor_buffer_reserve(allocator, k->touches, count[1], sizeof(mor_touch)) ||
        !mor_buffer_reserve(allocator, k->fresh, count[2], sizeof(cached_pair))) {
        k->code = MOR_SYSTEM;
        return;
    }
    mor_workers_run(k->found->workers, PARTS, move_part, shared);
    k->found->contacts->count = count[0], k->touches->count = count[1], k->fresh->count = count[2];
}

static void test_pairs(scan* k, const mor_index_pair* pairs, int count)
{
    if (k->found->workers && !k->narrow && count >= MANY_PAIRS && !k->code) {
        shared_scan shared = { .all = k, .pairs = pairs, .count = count };
        mor_workers_run(k->found->workers, PARTS, scan_part, &shared);
        put_together(k, &shared);
        return;
    }
    test_run(k, pairs, 0, count);
}

/* Pairs that had no contact but may get one because a blow changes the speed of one of them (struck.h); then those that
 * these may strike in turn. They are not remembered: pairs are looked up in order. */
static void test_struck(scan* k, const mor_index_pair* pairs, int count)
{
    enum { ROUNDS = 4 };
    const mor_world* w = k->w;
    const shape_slot* shapes = k->bp->shapes.data;
    mor_vec3* blow = k->bp->blow.data;
    memset(blow, 0, (size_t)w->body_count * sizeof *blow);
    k->kept = k->keep = NULL;
    for (int round = 0, first = 0; round < ROUNDS && !k->code; round++) {
        int known = k->found->contacts->count;
        if (!mor_struck_add(w, k->found->contacts->data, first, known, blow)) break;
        k->blow = blow;
        for (int p = 0; p < count && !k->code; p++) {
            if (k->met[p]) continue;
            const shape_slot *a = &shapes[pairs[p].i], *b = &shapes[pairs[p].j];
            mor_vec3 slip = mor_sub(blow[b->body], blow[a->body]);
            if (!(w->h * mor_norm(slip) > a->epsilon + b->epsilon)) continue;
            int before = k->found->contacts->count;
            test_pair(k, pairs[p].i, pairs[p].i, pairs[p].j, false);
            k->met[p] = k->found->contacts->count > before;
        }
        first = known;
    }
    k->blow = NULL;
}

/* Pairs at rest are looked up in list[0], if anything is known of them, and go to list[1]. */
static void keep_in(scan* k, bool known, mor_kept_pairs list[2])
{
    k->kept = known ? &list[0] : NULL;
    k->keep = k->bp->keeper ? &list[1] : NULL;
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
    int count = update(w, bp, o, sweep, found->workers)
                    ? mor_bvh_pairs(bp->tree, bp->moved.data, bp->moved.count, found->workers, &pairs, NULL)
                    : -1;
    if (count < 0) return mor_fail(error, MOR_SYSTEM, "out of memory in collision detection");
    bool known = found->keeper && bp->keeper == found->keeper && found->unchanged; /* of what rests nothing changed */
    scan k = { .w = w,
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
    const bool struck = !narrow && o->reach == 0 && mor_struck_count(w);
    if (struck && (!mor_buffer_reserve(&w->allocator, &bp->met, count, sizeof(bool)) ||
                   !mor_buffer_reserve(&w->allocator, &bp->blow, w->body_count, sizeof(mor_vec3))))
        return mor_fail(error, MOR_SYSTEM, "out of memory in collision detection");
    k.met = struck ? bp->met.data : NULL;
    test_pairs(&k, pairs, count);
    if (struck) test_struck(&k, pairs, count);
    mor_buffer t = bp->cache[0];
    bp->cache[0] = bp->cache[1];
    bp->cache[1] = t;
    turn_round(bp->kept_unbounded);
    turn_round(bp->kept);
    if (!narrow && !k.code) close_seams(&k);
    return k.code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "out of memory in collision detection") : k.code;
}

mor_code mor_found_add(mor_found* found, const mor_contact* contact)
{
    const mor_world* w = found->world;
    mor_contact* c = next_contact(found);
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
