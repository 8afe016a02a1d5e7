/* Broad phase: where shapes are, how fast, and the boxes of their ways in the step.
 *
 * A box is widened by half of epsilon and by half of a bound of what its shape can travel,
 *
 *     h (|v| + |omega| r) + h^2 |g| / 2,      r: farthest point from the centre of mass that turning moves,
 *
 * so that two boxes overlap whenever the pair can touch in the step. Round shapes turn in place, r is that of their
 * centre. Shapes of fixed bodies are placed once.
 *
 * Cost: linear in the number of shapes, by threads where there are many. */
#include "base/elementary.h"
#include "collision/broad_phase.h"

#include <string.h>

/* the default of epsilon, as a share of the smaller shape's bounding radius */
#define AUTO_EPSILON 0.01

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
    for (int i = 0; i < MOR_SCAN_PARTS; i++) {
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

/* Takes the shapes of a body out; their numbers stay unused until the next body needs as many. */
static void forget_body(mor_broad_phase* bp, mor_body_slot* b)
{
    mor_shape_slot* shapes = bp->shapes.data;
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
    const mor_shape_slot* shapes = bp->shapes.data;
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
    if (!mor_buffer_reserve(&w->allocator, &bp->shapes, end, sizeof(mor_shape_slot)) ||
        !mor_buffer_reserve(&w->allocator, &bp->unbounded, bp->unbounded.count + count, sizeof(int)) ||
        !mor_buffer_reserve(&w->allocator, &bp->moved, end, sizeof(int)))
        return false;
    bp->admitted = true;
    if (end > bp->shapes.count) bp->shapes.count = end;
    ((mor_body_slot*)bp->bodies.data)[slot] = (mor_body_slot){ b->generation, first, count };
    for (int i = 0; i < count; i++) {
        mor_shape_slot* s = &((mor_shape_slot*)bp->shapes.data)[first + i];
        *s = (mor_shape_slot){ .body = slot, .shape = i, .proxy = -1, .pose = mor_body_shape_pose(b, i) };
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
static void place_shape(const placing* p, mor_shape_slot* s)
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
        s->fast = w->h * s->speed > 0.25 * g->radius;
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
    mor_shape_slot* shapes = p->bp->shapes.data;
    int count = p->bp->shapes.count, end = (index + 1) * PLACED < count ? (index + 1) * PLACED : count;
    for (int i = index * PLACED; i < end; i++) {
        mor_shape_slot* s = &shapes[i];
        if (s->fixed && !p->fresh && s->margin == s->epsilon + p->fall) s->placed = false; /* already in place */
        else if (s->body >= 0) place_shape(p, s);
    }
}

/* Bodies that came and went since the last detection. */
static bool follow_bodies(const mor_world* w, mor_broad_phase* bp)
{
    int known = bp->bodies.count;
    if (bp->revision == w->revision && known == w->body_count) return true;
    if (!mor_buffer_reserve(&w->allocator, &bp->bodies, w->body_count, sizeof(mor_body_slot))) return false;
    mor_body_slot* bodies = bp->bodies.data;
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
bool mor_broad_phase_update(const mor_world* w, mor_broad_phase* bp, const mor_collision_options* o, double sweep,
                            mor_workers* workers)
{
    if (!follow_bodies(w, bp)) return false;
    bool fresh = bp->admitted || bp->epsilon != o->epsilon;
    bp->admitted = false;
    bp->epsilon = o->epsilon;
    bp->moved.count = 0;
    bp->fast = false;
    placing p = { .w = w, .bp = bp, .o = o, .sweep = sweep, .fresh = fresh };
    p.fall = o->reach == 0 ? 0.5 * sweep * w->h * w->h * mor_norm(w->gravity) : 0.0;
    int parts = (bp->shapes.count + PLACED - 1) / PLACED;
    if (workers && bp->shapes.count >= MANY_SHAPES) mor_workers_run(workers, parts, place_part, &p);
    else
        for (int i = 0; i < parts; i++) place_part(&p, i, 0);
    for (int i = 0; i < bp->shapes.count; i++) {
        const mor_shape_slot* s = &((const mor_shape_slot*)bp->shapes.data)[i];
        if (s->body < 0 || !s->placed) continue;
        if (s->fixed) {
            mor_bvh_settle(bp->tree, s->proxy);
            continue;
        }
        bp->fast |= s->fast;
        ((int*)bp->moved.data)[bp->moved.count++] = s->proxy;
    }
    return true;
}

double mor_pair_epsilon(const mor_collision_options* o, const mor_geometry* a, const mor_geometry* b)
{
    if (o->epsilon >= 0.0) return o->epsilon;
    double ra = a->kind == MOR_PARTICLE ? HUGE_VAL : a->radius, rb = b->kind == MOR_PARTICLE ? HUGE_VAL : b->radius;
    double size = mor_min(ra, rb), most = 1.0; /* m: for particles, and where nothing has a size */
    if (a->kind == MOR_PARTICLE || b->kind == MOR_PARTICLE || !isfinite(size)) size = mor_min(size, most);
    return AUTO_EPSILON * size;
}
