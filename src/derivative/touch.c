/* Geometry of contacts by local differences (touch.h): only the two shapes of a contact are looked at, and only their
 * motion against each other, six numbers. A motion of both together carries the contact along. So the cost is that of
 * twelve pair tests per pair of shapes that touch (36 where the test iterates), whatever the number of bodies. */
#include "base/elementary.h"
#include "collision/pair_table.h"
#include "collision/pair_tests.h"
#include "derivative/patch.h"
#include "derivative/touch.h"
#include "formulation/assemble.h"

#include <string.h>

#define LITTLE 1e-6 /* of a length below 1 m, and rad */
#define LONG 4e-3   /* the same, where normals are iterated and known to 1e-8 (collision/pair_convex.c) */
#define BENT 1e-3   /* what differences over LONG and half of it may differ by */
#define SAME 1e-9   /* m: the contact is what the pair test finds */

typedef struct pair {
    const mor_body* body[2];
    const mor_geometry* shape[2];
    mor_pose pose[2];
    mor_pair_test test;
    bool swap;
    double reach, size;
} pair;

static bool same_pair(const mor_contact* a, const mor_contact* b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1] && a->shape[0] == b->shape[0] &&
           a->shape[1] == b->shape[1];
}

static bool make_pair(const mor_world* w, const mor_contact* contacts, int first, int last, pair* p)
{
    const mor_contact* c = &contacts[first];
    for (int side = 0; side < 2; side++) {
        const mor_body* b = p->body[side] = &w->bodies[w->order[c->body[side]]];
        if (c->shape[side] < 0 || c->shape[side] >= b->shape_count) return false;
        p->shape[side] = b->shapes[c->shape[side]].geometry;
        p->pose[side] = mor_body_shape_pose(b, c->shape[side]);
    }
    p->test = mor_library_pair(w->library, p->shape[0], p->shape[1], &p->swap);
    p->size = mor_min(1.0, mor_contact_size(w, c));
    p->reach = 0.0;
    for (int i = first; i < last; i++) p->reach = mor_max(p->reach, contacts[i].gap);
    p->reach += 1e-3 * p->size;
    return p->test != NULL;
}

/* The points of the pair when its second shape is moved by `by` along one of six numbers (-1: not) at a point. */
static int look(const pair* p, mor_vec3 at, int direction, double by, mor_point* points)
{
    mor_pose moved = p->pose[1];
    mor_vec3 e = mor_v3(direction % 3 == 0, direction % 3 == 1, direction % 3 == 2);
    if (direction >= 3) {
        mor_quat turn = mor_quat_exp(mor_scale(by, e));
        moved.position = mor_add(at, mor_rotate(turn, mor_sub(moved.position, at)));
        moved.rotation = mor_quat_normalize(mor_quat_mul(turn, moved.rotation));
    } else if (direction >= 0) moved.position = mor_madd(moved.position, by, e);
    uint32_t words[4] = { 0 };
    return mor_pair_run(p->test, p->swap, p->shape[0], &p->pose[0], p->shape[1], &moved, p->reach, words, points);
}

static const mor_point* find(const mor_point* points, int count, uint64_t feature)
{
    for (int i = 0; i < count; i++)
        if (points[i].feature == feature) return &points[i];
    return NULL;
}

static double apart(mor_vec3 a, mor_vec3 b) { return mor_norm(mor_sub(a, b)); }

static bool is_found(const mor_contact* c, const mor_point* points, int count)
{
    const mor_point* p = find(points, count, c->feature);
    double size = SAME * (1.0 + mor_norm(c->point[0]));
    mor_vec3 across = mor_sub(mor_sub(c->point[1], c->point[0]), mor_scale(c->gap, c->normal));
    return p && apart(p->on_a, c->point[0]) < size && apart(p->on_b, c->point[1]) < size &&
           apart(p->normal, c->normal) < SAME && fabs(p->gap - c->gap) < SAME && mor_norm(across) < size;
}

/* Directions of the rows, and how the tangents follow the normal. */
static void fill_frame(const mor_world* w, const mor_contact* c, mor_touch* t)
{
    t->direction[0] = c->normal;
    mor_contact_tangents(w, c, &t->direction[1], &t->direction[2]);
    for (int k = 0; k < 2; k++) {
        mor_vec3 side[2][2];
        for (int s = 0; s < 2; s++) {
            mor_contact moved = *c;
            moved.normal = mor_normalize(mor_madd(c->normal, s ? LITTLE : -LITTLE, t->direction[1 + k]), c->normal);
            mor_contact_tangents(w, &moved, &side[s][0], &side[s][1]);
        }
        for (int i = 0; i < 2; i++) t->tangent_by[i][k] = mor_scale(0.5 / LITTLE, mor_sub(side[1][i], side[0][i]));
    }
}

/* Faces that lie exactly on each other: the points stay on their bodies and the normal on the first. */
static void carry(const mor_contact* c, int k, mor_touch* t)
{
    mor_vec3 e = mor_v3(k % 3 == 0, k % 3 == 1, k % 3 == 2);
    mor_vec3 move = k < 3 ? e : mor_cross(e, mor_sub(c->point[1], t->middle));
    t->middle_by[k] = mor_scale(0.5, move);
    t->normal_by[k] = mor_v3(0, 0, 0);
    t->gap_by[k] = mor_dot(c->normal, move);
}

/* By one of the six numbers, before turns are about the middle of the contact. */
typedef struct slope {
    mor_vec3 middle, normal;
    double gap;
} slope;

static slope differ(const mor_point* a, const mor_point* b, double by)
{
    mor_vec3 middle = mor_add(mor_sub(a->on_a, b->on_a), mor_sub(a->on_b, b->on_b));
    return (slope){ mor_scale(0.25 / by, middle), mor_scale(0.5 / by, mor_sub(a->normal, b->normal)),
                    (a->gap - b->gap) * (0.5 / by) };
}

/* The limit of differences over a length and half of it; false: they tell of a kink. */
static bool extrapolate(const slope* coarse, const slope* fine, slope* out)
{
    mor_vec3 m = mor_sub(fine->middle, coarse->middle), n = mor_sub(fine->normal, coarse->normal);
    double g = fine->gap - coarse->gap, most = mor_max(mor_norm(fine->middle), mor_norm(fine->normal));
    *out = (slope){ mor_madd(fine->middle, 1.0 / 3.0, m), mor_madd(fine->normal, 1.0 / 3.0, n), fine->gap + g / 3.0 };
    return mor_max(mor_max(mor_norm(m), mor_norm(n)), fabs(g)) <= BENT * (1.0 + most);
}

/* Turns were about `at`: about the middle of this contact the second body is also moved. */
static void put(const slope* by, int k, mor_vec3 at, mor_touch* t)
{
    t->middle_by[k] = by->middle, t->normal_by[k] = by->normal, t->gap_by[k] = by->gap;
    if (k < 3) return;
    mor_vec3 move = mor_cross(mor_v3(k == 3, k == 4, k == 5), mor_sub(at, t->middle));
    for (int j = 0; j < 3; j++) {
        double share = mor_axis(move, j);
        t->middle_by[k] = mor_madd(t->middle_by[k], share, t->middle_by[j]);
        t->normal_by[k] = mor_madd(t->normal_by[k], share, t->normal_by[j]);
        t->gap_by[k] += share * t->gap_by[j];
    }
}

/* A pair moved to both sides along one number. */
typedef struct looks {
    mor_point points[2][MOR_MAX_POINTS];
    int count[2];
    double by;
} looks;

static void look_both(const pair* p, mor_vec3 at, int k, double length, looks* l)
{
    l->by = k < 3 ? length * p->size : length;
    for (int side = 0; side < 2; side++) l->count[side] = look(p, at, k, side ? -l->by : l->by, l->points[side]);
}

static bool slope_of(const looks* l, uint64_t feature, slope* out)
{
    const mor_point *a = find(l->points[0], l->count[0], feature), *b = find(l->points[1], l->count[1], feature);
    if (a && b) *out = differ(a, b, l->by);
    return a && b;
}

/* The contacts first .. last of one pair of shapes; false: they are not what the pair test finds. */
static bool touch_pair(const mor_derivation* d, int first, int last, const bool* wanted, const bool* framed,
                       const bool* slides, looks* room, mor_touch* out, bool* lost)
{
    const mor_contact* contacts = d->base->contacts.data;
    pair p;
    if (!make_pair(d->base->w, contacts, first, last, &p)) return false;
    mor_point* points = room->points[0];
    int here = look(&p, mor_v3(0, 0, 0), -1, 0.0, points);
    for (int i = first; i < last; i++) {
        if (!wanted[i]) continue;
        if (!is_found(&contacts[i], points, here)) return false;
        out[i].middle = mor_lerp(contacts[i].point[0], contacts[i].point[1], 0.5);
        if (framed[i]) fill_frame(d->base->w, &contacts[i], &out[i]);
        out[i].known = true;
    }
    mor_vec3 at = mor_lerp(contacts[first].point[0], contacts[first].point[1], 0.5);
    bool rough = mor_touch_iterates(p.test);
    for (int k = 0; k < 6; k++) {
        look_both(&p, at, k, LITTLE, &room[0]);
        for (int i = 1; i < 3 && rough; i++) look_both(&p, at, k, i == 1 ? LONG : 0.5 * LONG, &room[i]);
        for (int i = first; i < last; i++) {
            if (!wanted[i]) continue;
            uint64_t feature = contacts[i].feature;
            slope near, coarse, fine, limit;
            bool found = slope_of(&room[0], feature, &near);
            if (found && rough && slope_of(&room[1], feature, &coarse) && slope_of(&room[2], feature, &fine) &&
                extrapolate(&coarse, &fine, &limit))
                near = limit;
            if (found) put(&near, k, at, &out[i]);
            else carry(&contacts[i], k, &out[i]);
            *lost = *lost || (!found && slides[i]);
        }
    }
    return true;
}

bool mor_touch_iterates(mor_pair_test test)
{
    return test == mor_pair_convex_convex || test == mor_pair_convex_ellipsoid;
}

mor_code mor_touches(const mor_derivation* d, const bool* wanted, mor_touch* out, bool* possible, bool* lost)
{
    const mor_contact* contacts = d->base->contacts.data;
    int count = d->base->contacts.count;
    bool *slides = mor_arena_zero(d->arena, 2 * (size_t)count + 1, sizeof *slides), *framed = slides + count;
    looks* room = mor_arena_alloc(d->arena, 3 * sizeof *room);
    if (!slides || !room) return MOR_SYSTEM;
    for (int k = 0; k < d->kept_count; k++) {
        if (d->kept[k].contact < 0) continue;
        slides[d->kept[k].contact] = !d->kept[k].sticks;
        framed[d->kept[k].contact] = !mor_patch_is_still(d, k);
    }
    for (int first = 0, last; first < count && *possible; first = last) {
        bool any = false;
        for (last = first; last < count && same_pair(&contacts[first], &contacts[last]); last++)
            any = any || wanted[last];
        if (any) *possible = touch_pair(d, first, last, wanted, framed, slides, room, out, lost);
    }
    return MOR_OK;
}
