/* Flush neighbours: which contacts exist only because shapes are tested one by one.
 *
 * A box S slides over tiles T1, T2 whose tops are level. Seen alone, T2 has a side wall and an upper edge; S would stop
 * at the wall and a ball would climb the edge. Both are covered by T1. The rule, for every shape S with contacts on two
 * other shapes:
 *
 *     T1 lies behind the plane (m1, o1) of its contact, m1 from T1 to S, o1 = max over T1 of m1.x, and S in front of
 *     it; if T2 lies behind the same plane, max over T2 of m1.x <= o1 + tol, and is not nearer to S than T1, then S
 *     cannot meet T2 before it breaks the contact with T1. A contact with T2 along another direction is void.
 *
 * In its place come the points of S over T2 along m1: the common surface of T1 and T2 is one plane for S. If S is not
 * over T2, there are none. Nothing is removed at a real obstacle: a step that rises above the plane by more than tol is
 * not behind it; in a corner of floor and wall neither is behind the other's plane; a body that tips into a gap between
 * tiles is no longer in front of the plane of the first tile, or the second tile is in front of the plane of its edge.
 *
 * Two shapes may each be flush with a third: a box whose front is level with the end of its tile is behind the plane of
 * the next tile's wall. So the new direction must not be one in which the bodies close faster than in the old one.
 *
 * Planes tried: the contact's own and, where S rests on a tile's face but the contact has the direction of a face of S,
 * that face of T1. tol is a share of the smaller shape: level within tol is flush.
 *
 * Inside the ground. A shape whose centre lies in a piece of a height field is nearer to the walls between the
 * pieces, or to the floor, than to the surface, and these would hold it, push it sideways, or let it out below. It goes
 * out through the top of the piece that holds its centre, and no other piece of that body touches it.
 *
 * Round shapes are nobody's flush neighbours. Cost: shapes with one neighbour or parallel normals, nothing; else some
 * products per pair of neighbours. */
#include "base/elementary.h"
#include "collision/seams.h"
#include "collision/gjk.h"
#include "geometry/heightfield.h"

/* share of the size of the smaller shape within which surfaces are level [-] */
#define FLUSH 1e-5
/* cosine beyond which two normals are one */
#define SAME (1.0 - 1e-10)
/* share of the size: surfaces less level than this need no second look */
#define NEARLY_FLUSH 0.1
/* a shape behind the plane pushes forward, rounding aside (cosine) */
#define AGAINST -0.1
#define POINTS 8

static double round_radius(const mor_geometry* g)
{
    return g->kind == MOR_SPHERE || g->kind == MOR_CAPSULE || g->kind == MOR_DISC ? g->size[0] : 0.0;
}

static double chain_reach(const mor_polyline* C, const mor_pose* pose, mor_vec3 d, mor_vec3 centre, double radius)
{
    mor_vec3 local = mor_unrotate(pose->rotation, d), c = mor_pose_unpoint(pose, centre);
    double far = -HUGE_VAL;
    for (int i = 0; i < C->edge_count; i++) {
        /* the part p + t e, t0 <= t <= t1, of the segment inside the circle */
        mor_vec3 p = C->points[i], e = mor_sub(C->points[i + 1], p), r = mor_sub(c, p);
        double ee = mor_dot(e, e), middle = mor_dot(r, e) / ee;
        mor_vec3 off = mor_madd(r, -middle, e);
        double half2 = (radius * radius - mor_dot(off, off)) / ee;
        if (half2 < 0.0) continue;
        double half = sqrt(half2), t0 = mor_max(0.0, middle - half), t1 = mor_min(1.0, middle + half);
        if (t0 > t1) continue;
        far = mor_max(far, mor_max(mor_dot(local, mor_madd(p, t0, e)), mor_dot(local, mor_madd(p, t1, e))));
    }
    return far + mor_dot(d, pose->position);
}

static double shape_reach(const mor_geometry* g, const mor_pose* pose, mor_vec3 d, mor_vec3 centre, double radius)
{
    double far = -HUGE_VAL;
    mor_vec3 local;
    switch (g->kind) {
    case MOR_PLANE: {
        mor_vec3 n = mor_rotate(pose->rotation, mor_v3(0, 0, 1));
        return mor_dot(n, d) > SAME ? mor_dot(n, pose->position) : HUGE_VAL;
    }
    case MOR_CHAIN:
        return chain_reach(g->polyline, pose, d, centre, radius);
    case MOR_POLYGON:
        local = mor_unrotate(pose->rotation, d);
        for (int k = 0; k < g->polyline->point_count; k++) far = mor_max(far, mor_dot(local, g->polyline->points[k]));
        return far + mor_dot(d, pose->position);
    case MOR_POLYHEDRON:
        if (g->polyhedron->is_box) {
            local = mor_unrotate(pose->rotation, d);
            mor_vec3 half = g->polyhedron->half;
            return fabs(local.x) * half.x + fabs(local.y) * half.y + fabs(local.z) * half.z +
                   mor_dot(d, pose->position);
        }
        break;
    case MOR_SPHERE:
    case MOR_DISC:
    case MOR_PARTICLE:
        return mor_dot(d, pose->position) + round_radius(g);
    case MOR_CAPSULE:
    case MOR_CYLINDER:
    case MOR_CONE:
    case MOR_ELLIPSOID:
        break;
    default:
        return HUGE_VAL; /* a shape of the caller's: nothing is known of it */
    }
    mor_placed X = { g, mor_quat_matrix(pose->rotation), pose->position };
    return mor_dot(d, mor_support(&X, d)) + round_radius(g);
}

/* ------------------------------------------------------------------------------- one pair */

/* A touch as S sees it: the other shape T, and the direction from T to S. */
typedef struct view {
    mor_touch* touch;
    int other; /* side of T */
    mor_vec3 m;
} view;

static double length_of(const mor_geometry* g) { return g->kind == MOR_PARTICLE ? HUGE_VAL : g->radius; }

static double level(const view* v, mor_vec3 d, const mor_pose* s, double radius)
{
    return shape_reach(v->touch->geometry[v->other], &v->touch->pose[v->other], d, s->position, radius);
}

/* Is S in front of the plane (m, o1) and T2 behind it? *rise: by how much T2 is in front. */
static bool covers(const view* v1, const view* v2, mor_vec3 m, double tol, double* rise)
{
    const int side = 1 - v1->other;
    const mor_geometry* S = v1->touch->geometry[side];
    const mor_pose* pose = &v1->touch->pose[side];
    double near = 2.0 * length_of(S) + v2->touch->reach; /* how much of a chain counts */
    if (!isfinite(near)) near = v2->touch->reach;
    double o1 = level(v1, m, pose, near);
    *rise = level(v2, m, pose, near) - o1;
    if (!(*rise <= tol)) return false;
    double front = -shape_reach(S, pose, mor_neg(m), pose->position, 0.0) - o1;
    return front >= mor_min(v1->touch->gap, 0.0) - tol;
}

/* The face of T1 nearest to the direction of its contact. */
static bool face_of(const view* v, mor_vec3* m)
{
    const mor_geometry* T = v->touch->geometry[v->other];
    const mor_pose* pose = &v->touch->pose[v->other];
    mor_vec3 d = mor_unrotate(pose->rotation, v->m), best = d;
    double most = 0.98; /* 11 degrees */
    if (T->kind == MOR_POLYHEDRON) {
        for (int f = 0; f < T->polyhedron->face_count; f++)
            if (mor_dot(T->polyhedron->normals[f], d) > most)
                most = mor_dot(T->polyhedron->normals[f], d), best = T->polyhedron->normals[f];
    } else if (T->kind == MOR_POLYGON) {
        for (int k = 0; k < T->polyline->point_count; k++)
            if (mor_dot(T->polyline->normals[k], d) > most)
                most = mor_dot(T->polyline->normals[k], d), best = T->polyline->normals[k];
    }
    if (most == 0.98 || most > SAME) return false;
    *m = mor_rotate(pose->rotation, best);
    return true;
}

/* Normals that look neither the same way nor against each other: only then one may be void because of the other. */
static bool is_aside(double cosine) { return !(cosine > SAME || cosine < AGAINST); }

/* Is the contact of S with T2 void because of T1? *m: the common normal, from T to S. */
static bool is_void(const view* v1, const view* v2, mor_vec3 normal2, double gap2, mor_vec3* m)
{
    const mor_touch *t1 = v1->touch, *t2 = v2->touch;
    if (!is_aside(mor_dot(v1->m, normal2))) return false;
    double size = mor_min(length_of(t1->geometry[1 - v1->other]), length_of(t2->geometry[v2->other])), rise;
    if (!isfinite(size)) size = mor_min(length_of(t1->geometry[v1->other]), 1.0);
    double tol = FLUSH * size;
    if (t1->gap > gap2 + tol) return false;
    const mor_vec3 slip = v2->other == 0 ? t2->slip : mor_neg(t2->slip); /* of S on T2 */
    const double closing = mor_dot(slip, normal2);
    *m = v1->m;
    if (covers(v1, v2, *m, tol, &rise)) return mor_dot(slip, *m) >= closing;
    if (!(rise <= NEARLY_FLUSH * size) || !face_of(v1, m)) return false;
    return mor_dot(*m, normal2) < SAME && mor_dot(slip, *m) >= closing && covers(v1, v2, *m, tol, &rise);
}

/* ------------------------------------------------------------------------- common surface */

/* The edge or corner of a polygon that lies farthest along d. */
static void facet_of_polygon(const mor_geometry* g, const mor_placed* X, mor_vec3 d, mor_facet* f)
{
    const mor_polyline* P = g->polyline;
    mor_vec3 local = mor_placed_unvector(X, d);
    int best = 0;
    for (int k = 1; k < P->edge_count; k++)
        if (mor_dot(P->normals[k], local) > mor_dot(P->normals[best], local)) best = k;
    int end[2] = { best, best + 1 < P->point_count ? best + 1 : 0 };
    f->count = 2;
    f->face = best;
    for (int k = 0; k < 2; k++) {
        f->vertex[k] = end[k];
        f->edge[k] = best;
        f->point[k] = mor_placed_point(X, P->points[end[k]]);
    }
}

static bool facet(const mor_geometry* g, const mor_placed* X, mor_vec3 d, mor_facet* f)
{
    if (g->kind == MOR_POLYGON) facet_of_polygon(g, X, d, f);
    else if (g->kind == MOR_PLANE || g->dimension == 2 || g->kind > MOR_POLYHEDRON) return false;
    else mor_facet_support(X, d, f);
    return true;
}

/* Points of the touch along n, from side 0 to side 1. */
static int common_points(const mor_touch* t, mor_vec3 n, mor_point* points)
{
    mor_placed A, B;
    mor_facet fa, fb;
    double least;
    mor_place_pair(t->geometry[0], &t->pose[0], t->geometry[1], &t->pose[1], &A, &B);
    if (!facet(t->geometry[0], &A, n, &fa) || !facet(t->geometry[1], &B, mor_neg(n), &fb)) return 0;
    double tol = 1e-9 * mor_min(length_of(t->geometry[0]), length_of(t->geometry[1]));
    int count = mor_manifold_clip(&fa, &fb, n, round_radius(t->geometry[0]), round_radius(t->geometry[1]), tol,
                                  t->reach, points, &least);
    count = mor_manifold_reduce(points, count, POINTS, 1e4 * tol, NULL);
    return mor_points_to_world(points, count, &t->pose[0]);
}

/* ---------------------------------------------------------------------------------- lists */

static view view_from(mor_touch* touches, int link)
{
    mor_touch* t = &touches[link / 2];
    int side = link % 2; /* of S */
    return (view){ t, 1 - side, side ? t->normal : mor_neg(t->normal) };
}

/* Void contacts are marked by a gap that is no number. */
static int replace(mor_touch* t, mor_vec3 n, mor_contact* contacts, int count, int capacity)
{
    mor_point points[MOR_MAX_POINTS];
    int found = common_points(t, n, points), used = 0;
    mor_contact base = contacts[t->first];
    for (int i = t->first; i < t->first + t->count; i++) contacts[i].gap = NAN;
    t->settled = true;
    t->normal = n;
    t->gap = NAN;
    for (int k = 0; k < found; k++) {
        int at = used < t->count ? t->first + used++ : count;
        if (at == capacity) break;
        if (at == count) count++;
        contacts[at] = base;
        contacts[at].point[0] = points[k].on_a;
        contacts[at].point[1] = points[k].on_b;
        contacts[at].normal = points[k].normal;
        contacts[at].gap = points[k].gap;
        contacts[at].feature = points[k].feature;
        t->gap = isnan(t->gap) ? points[k].gap : mor_min(t->gap, points[k].gap);
    }
    return count;
}

/* ----------------------------------------------------------------------------- in the ground */

/* Is the centre of the other shape in this piece of a height field? *top: its face that looks up. */
static bool holds_centre(const mor_touch* t, int side, int* top)
{
    const mor_geometry* g = t->geometry[side];
    if (!mor_is_ground(g) || t->geometry[1 - side]->kind == MOR_PLANE) return false;
    const mor_polyhedron* P = g->polyhedron;
    mor_vec3 c = mor_pose_unpoint(&t->pose[side], t->pose[1 - side].position);
    for (int f = 0; f < P->face_count; f++) {
        if (!(mor_dot(P->normals[f], c) < P->offsets[f])) return false;
        if (P->normals[f].z > P->normals[*top].z) *top = f;
    }
    return true;
}

static void remove_contacts(mor_touch* t, mor_contact* contacts)
{
    for (int i = t->first; i < t->first + t->count; i++) contacts[i].gap = NAN;
    t->gap = NAN;
}

/* One contact, as deep as the deepest point of the shape below the plane of the top, under its centre: it does not turn
 * the shape. */
static void lift(mor_touch* t, int side, int top, mor_contact* contacts)
{
    const mor_geometry* S = t->geometry[1 - side];
    const mor_polyhedron* P = t->geometry[side]->polyhedron;
    mor_vec3 n = mor_rotate(t->pose[side].rotation, P->normals[top]);
    mor_placed X = { S, mor_quat_matrix(t->pose[1 - side].rotation), t->pose[1 - side].position };
    double down = mor_dot(n, mor_sub(X.p, mor_support(&X, mor_neg(n)))) + round_radius(S);
    mor_vec3 low = mor_madd(X.p, -down, n);
    mor_contact c = contacts[t->first];
    c.gap = mor_dot(P->normals[top], mor_pose_unpoint(&t->pose[side], low)) - P->offsets[top];
    c.point[1 - side] = low;
    c.point[side] = mor_madd(low, -c.gap, n);
    c.normal = side == 0 ? n : mor_neg(n);
    remove_contacts(t, contacts);
    contacts[t->first] = c;
    t->normal = c.normal;
    t->gap = c.gap;
    t->settled = true;
}

static void leave_ground(mor_touch* touches, int count, mor_contact* contacts)
{
    for (int i = 0; i < 2 * count; i++) {
        mor_touch* t = &touches[i / 2];
        int side = i % 2, top = 0;
        if (isnan(t->gap) || t->count == 0 || !holds_centre(t, side, &top)) continue;
        for (int j = 0; j < 2 * count; j++) {
            mor_touch* u = &touches[j / 2];
            if (u != t && u->body[j % 2] == t->body[side] && u->shape[1 - j % 2] == t->shape[1 - side] &&
                mor_is_ground(u->geometry[j % 2]))
                remove_contacts(u, contacts);
        }
        lift(t, side, top, contacts);
    }
}

/* A chain has a direction per contact: each is looked at by itself. */
static void thin_chain(const view* v1, const view* v2, mor_contact* contacts)
{
    mor_touch* t = v2->touch;
    mor_vec3 m;
    int best = -1;
    for (int i = t->first; i < t->first + t->count; i++) {
        if (isnan(contacts[i].gap)) continue;
        mor_vec3 n = v2->other == 0 ? contacts[i].normal : mor_neg(contacts[i].normal);
        if (is_void(v1, v2, n, contacts[i].gap, &m)) contacts[i].gap = NAN;
        else if (best < 0 || contacts[i].gap < contacts[best].gap) best = i;
    }
    t->gap = best < 0 ? NAN : contacts[best].gap;
    if (best >= 0) t->normal = contacts[best].normal;
}

/* The plane that makes the contact of S with T2 void, from T to S: of several that of the nearest shape. Two walls in
 * front of S lie behind each other's planes, and both below the floor that S is on. False: none does. */
static bool find_cover(mor_touch* touches, const int* next, int begin, int end, int second, mor_vec3* m)
{
    const view v2 = view_from(touches, second);
    double least = HUGE_VAL;
    for (int first = begin; first != end; first = next[first]) {
        const double cosine = mor_dot(touches[first / 2].normal, touches[second / 2].normal);
        if (first == second || !is_aside(first % 2 == second % 2 ? cosine : -cosine)) continue;
        const view v1 = view_from(touches, first);
        mor_vec3 found;
        const double tol = FLUSH * mor_min(length_of(v1.touch->geometry[v1.other]), 1.0);
        if (isnan(v1.touch->gap) || !(v1.touch->gap < least - tol)) continue;
        if (!is_void(&v1, &v2, v2.m, v2.touch->gap, &found)) continue;
        least = v1.touch->gap;
        *m = found;
    }
    return least < HUGE_VAL;
}

/* The touches of one shape from link `begin` to before `end`. */
static int correct_run(mor_touch* touches, const int* next, int begin, int end, mor_contact* contacts, int count,
                       int capacity)
{
    for (int second = begin; second != end; second = next[second]) {
        mor_touch* t = &touches[second / 2];
        const int other = 1 - second % 2;
        mor_vec3 m;
        if (t->geometry[other]->kind != MOR_CHAIN) {
            if (t->settled || isnan(t->gap) || !find_cover(touches, next, begin, end, second, &m)) continue;
            count = replace(t, other == 0 ? m : mor_neg(m), contacts, count, capacity);
            continue;
        }
        for (int first = begin; first != end && !isnan(t->gap); first = next[first]) {
            const view v1 = view_from(touches, first), now = view_from(touches, second);
            if (first != second && !isnan(v1.touch->gap)) thin_chain(&v1, &now, contacts);
        }
    }
    return count;
}

/* All touches of one shape. On a shape that never moves only pieces of one body are neighbours: a floor has many. */
static int correct_shape(mor_touch* touches, const int* next, int link, mor_contact* contacts, int count, int capacity)
{
    if (!touches[link / 2].fixed[link % 2]) return correct_run(touches, next, link, -1, contacts, count, capacity);
    for (int begin = link; begin >= 0;) {
        int body = touches[begin / 2].body[1 - begin % 2], end = next[begin];
        while (end >= 0 && touches[end / 2].body[1 - end % 2] == body) end = next[end];
        if (next[begin] != end) count = correct_run(touches, next, begin, end, contacts, count, capacity);
        begin = end;
    }
    return count;
}

/* Half-spaces push one way, and round shapes have neither edges nor faces: they make no seams with others. */
static bool is_covered_by(const mor_geometry* g, const mor_geometry* other)
{
    return g->kind != MOR_PLANE && round_radius(other) == 0.0 && other->kind != MOR_PARTICLE;
}

static bool can_have_seams(const mor_touch* t, int side)
{
    return is_covered_by(t->geometry[side], t->geometry[1 - side]);
}

bool mor_may_have_seams(const mor_geometry* a, const mor_geometry* b)
{
    return is_covered_by(a, b) || is_covered_by(b, a);
}

bool mor_has_ground(const mor_touch* t) { return mor_is_ground(t->geometry[0]) || mor_is_ground(t->geometry[1]); }

int mor_seams_most(const mor_touch* touches, int touch_count, int count)
{
    const int most = 8; /* corners of a common surface: common_points */
    for (int i = 0; i < touch_count; i++)
        if (can_have_seams(&touches[i], 0) || can_have_seams(&touches[i], 1)) count += most;
    return count;
}

int mor_seams(mor_touch* touches, int touch_count, const mor_seam_lists* lists, mor_contact* contacts, int count,
              int capacity)
{
    leave_ground(touches, touch_count, contacts);
    for (int i = 2 * touch_count - 1; i >= 0; i--) {
        int shape = touches[i / 2].shape[i % 2];
        lists->next[i] = -1;
        if (!can_have_seams(&touches[i / 2], i % 2)) continue;
        lists->next[i] = lists->head[shape];
        lists->head[shape] = i;
    }
    for (int i = 0; i < 2 * touch_count; i++) {
        int shape = touches[i / 2].shape[i % 2];
        if (lists->head[shape] == i && lists->next[i] >= 0)
            count = correct_shape(touches, lists->next, i, contacts, count, capacity);
    }
    for (int i = 0; i < 2 * touch_count; i++) lists->head[touches[i / 2].shape[i % 2]] = -1;
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(contacts[i].gap)) {
            if (kept != i) contacts[kept] = contacts[i];
            kept++;
        }
    return kept;
}
