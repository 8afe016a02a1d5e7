/* What a body that turns fast can land on: its corners, and the ball inside it.
 *
 * The points of a pair belong to the features that are nearest at one moment. A body that turns by more than 0.1 rad
 * in the step, or may do so after an impact, comes down on others. So its corners are held in front of the plane of
 * the deepest point, and so is the ball about its centre of mass that lies inside the shape, however it turns.
 *
 * The plane is larger than the shape it belongs to. A corner x that is not above that shape is not held: a box that
 * lands half over the edge of a table tips, and a ball that drops on a wide plate touches it in one point, not at the
 * corners of the plate. With the foot y of x on the plane, the corner counts if
 *
 *     distance(y, other shape) <= |v_t| T + (|w_a|^2 r_a + |w_b|^2 r_b) T^2 / 2
 *
 * where T is the rest of the step, v_t the slip of the two bodies at x and the second term what turning adds to it.
 * Round shapes bend away from their plane: their distance from y is added to the gap.
 *
 * On a ball every point has a normal of its own, through the centre: with that of the plane a smooth ball would be
 * turned by a corner that comes up beside the first contact.
 *
 * Cost: one test of a point against a shape per corner that is near the plane. */
#include "base/elementary.h"
#include "collision/pair_table.h"
#include "collision/sweep.h"

#include <math.h>

#define SAME_POINT 1e-6 /* of the size: corners as near as this are one; a foot as near is on the shape */

typedef struct landing {
    const mor_sweep* s;
    double t, size;
    mor_point d; /* the deepest point at time t: its plane */
} landing;

static double gap_of(const landing* k, int side, mor_vec3 x)
{
    return side ? mor_dot(k->d.normal, mor_sub(x, k->d.on_a)) : mor_dot(k->d.normal, mor_sub(k->d.on_b, x));
}

/* How far the other shape lies below its plane at the foot of the point x of the body on `side`, which has that gap;
 * HUGE_VAL: it is not below x and cannot be before the step ends. */
static double beside(const landing* k, int side, mor_vec3 x, double gap)
{
    const mor_geometry *other = side ? k->s->a : k->s->b, dot = { .kind = MOR_SPHERE, .dimension = 3 };
    const mor_flight *f = &k->s->flight[side], *g = &k->s->flight[!side];
    bool swap;
    mor_pair_test test = mor_pair_builtin(dot.kind, other->kind, &swap);
    if (!test) return 0.0;
    double rest = k->s->h - k->t;
    mor_vec3 slip = mor_sub(mor_flight_velocity(f, x, k->t), mor_flight_velocity(g, x, k->t));
    slip = mor_madd(slip, -mor_dot(slip, k->d.normal), k->d.normal);
    double bend = mor_dot(f->w, f->w) * f->arm + mor_dot(g->w, g->w) * g->arm;
    double reach = SAME_POINT * k->size + mor_norm(slip) * rest + 0.5 * bend * rest * rest;
    const mor_pose foot = { mor_madd(x, side ? -gap : gap, k->d.normal), mor_quat_identity() },
                   pose = mor_flight_at(g, k->t);
    mor_point points[MOR_MAX_POINTS];
    uint32_t words[4] = { 0 };
    int found = mor_pair_run(test, swap, &dot, &foot, other, &pose, reach, words, points);
    if (found == 0) return HUGE_VAL;
    return other->kind == MOR_POLYHEDRON ? 0.0 : mor_max(points[0].gap, 0.0);
}

/* A ball of the body on `side` in front of the other shape: its point x that comes nearest, normal and gap there;
 * HUGE_VAL: it does not reach another ball before the step ends. */
static void meet(const landing* k, int side, mor_vec3 centre, double radius, mor_vec3* x, mor_vec3* n, double* gap)
{
    const mor_geometry* other = side ? k->s->a : k->s->b;
    *n = k->d.normal;
    if (other->kind == MOR_SPHERE) {
        const mor_pose pose = mor_flight_at(&k->s->flight[!side], k->t);
        const mor_vec3 apart = mor_sub(side ? centre : pose.position, side ? pose.position : centre);
        *n = mor_normalize(apart, *n);
        *gap = mor_norm(apart) - radius - other->size[0];
        if (!(*gap < mor_sweep_rate(k->s) * (k->s->h - k->t))) *gap = HUGE_VAL;
    }
    *x = mor_madd(centre, side ? -radius : radius, *n);
    if (other->kind != MOR_SPHERE) *gap = gap_of(k, side, *x);
}

static int add_corners(const landing* k, int side, mor_point* points, int count)
{
    const mor_geometry* g = side ? k->s->b : k->s->a;
    const mor_flight* f = &k->s->flight[side];
    const bool on_ball = (side ? k->s->a : k->s->b)->kind == MOR_SPHERE;
    if (f->still) return count;
    const double radius = g->kind == MOR_CAPSULE ? g->size[0] : 0.0;
    const mor_pose pose = mor_flight_at(f, k->t);
    const double way = mor_sweep_rate(k->s) * (k->s->h - k->t);
    for (int v = 0; v < mor_corner_count(g) && count < MOR_MAX_POINTS; v++) {
        mor_vec3 x, n;
        double gap = HUGE_VAL;
        meet(k, side, mor_pose_point(&pose, mor_corner_at(g, v)), radius, &x, &n, &gap);
        bool known = !(gap < way);
        for (int i = 0; i < count && !known; i++)
            known = mor_norm(mor_sub(side ? points[i].on_b : points[i].on_a, x)) < SAME_POINT * k->size;
        if (known) continue;
        if (!on_ball) gap += beside(k, side, x, gap);
        if (!(gap < way)) continue;
        points[count++] = side ? mor_point_on_b(x, n, gap, mor_feature(MOR_VERTEX_OF_B, 0x7fff, v))
                               : mor_point_on_a(x, n, gap, mor_feature(MOR_VERTEX_OF_A, v, 0x7fff));
    }
    return count;
}

/* Radius of the ball about c, in the frame of the shape, that lies inside it; not positive if c does not. */
static double inner_radius(const mor_geometry* g, mor_vec3 c)
{
    double r = 0.0, across = mor_hypot(c.x, c.y);
    switch (g->kind) {
    case MOR_POLYHEDRON:
        r = HUGE_VAL;
        for (int f = 0; f < g->polyhedron->face_count; f++)
            r = mor_min(r, g->polyhedron->offsets[f] - mor_dot(g->polyhedron->normals[f], c));
        return r;
    case MOR_CAPSULE:
        return g->size[0] - across - mor_max(0.0, fabs(c.z) - 0.5 * g->size[1]);
    case MOR_CYLINDER:
        return mor_min(g->size[0] - across, 0.5 * g->size[1] - fabs(c.z));
    case MOR_ELLIPSOID:
        return mor_min(g->size[0], mor_min(g->size[1], g->size[2])) - mor_norm(c);
    default:
        return r;
    }
}

static int add_core(const landing* k, int side, mor_point* points, int count)
{
    const mor_flight* f = &k->s->flight[side];
    if (f->still || count == MOR_MAX_POINTS) return count;
    double r = inner_radius(side ? k->s->b : k->s->a, mor_pose_unpoint(&f->pose, f->x));
    if (!(r > 0.0)) return count;
    mor_vec3 x = mor_madd(mor_madd(f->x, k->t, f->v), side ? -r : r, k->d.normal);
    double gap = gap_of(k, side, x);
    gap += beside(k, side, x, gap);
    if (!isfinite(gap)) return count;
    points[count++] = side ? mor_point_on_b(x, k->d.normal, gap, mor_feature(MOR_CLOSEST, 0x7fff, 1))
                           : mor_point_on_a(x, k->d.normal, gap, mor_feature(MOR_CLOSEST, 0x7fff, 0));
    return count;
}

int mor_sweep_corners(const mor_sweep* s, double t, double size, mor_point* points, int count)
{
    if (count == 0 || s->a->dimension == 2) return count;
    landing k = { s, t, size, points[0] };
    for (int i = 1; i < count; i++)
        if (points[i].gap < k.d.gap) k.d = points[i];
    if (!mor_flight_tumbles(&s->flight[0], &s->flight[1], k.d.normal, size, s->h)) return count;
    for (int side = 0; side < 2; side++) count = add_core(&k, side, points, count);
    for (int side = 0; side < 2; side++) count = add_corners(&k, side, points, count);
    return count;
}
