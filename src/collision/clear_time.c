/* How long two convex shapes in free motion stay apart for certain: a bound of second order along one direction.
 *
 * n points from a to b, d is the separation along n at time t. Any direction bounds the distance from below, also one
 * that turns: n(s) = exp(s f) n, with f the angular velocity of one of the two bodies. Of two edges u and v it may be
 * one that keeps both across n to first order, so that their ends do not come nearer than what lies between,
 *
 *     f.(u x n) = w_a.(u x n),   f.(v x n) = w_b.(v x n),   f.n = (w_a + w_b).n/2.
 *
 * Seen from the frame that turns with f, the points p_i of a and p_j of b (arms r from the centres, X = x_b - x_a,
 * V = v_b - v_a) have the separation
 *
 *     n.(p_j - p_i),   rate n.(V - f x X) + n.(w_b - f) x r_j - n.(w_a - f) x r_i,
 *
 * and the rate shrinks by at most c per second,
 *
 *     c = h (3 |f|^2 |V| + |f|^3 |X|) + sum_k |w_k - f| (|w_k| + |f|) r_k - n.(f x (f x X) - 2 f x V)
 *
 * (how the Coriolis and centrifugal terms change in the step, the relative turning, these terms now; |X| at most that
 * of now + h |V|). So the separation is at least
 *
 *     S(s) = d + s n.(V - f x X) - max_i (z_i + s u_i) - max_j (z_j + s u_j) - c s^2/2,
 *
 * with heights z towards the other shape over the plane of the nearest point. S is concave with S(0) = d: its only root
 * is bracketed by the root of the chord (left of it) and Newton's step from the right.
 *   The bound is exact to first order where the nearest points approach each other, and bodies that move as one have
 * no relative rates. So steps to its root converge as Newton's do. The bound d / mu of Mirtich (sweep.c), which takes
 * the fastest point of a shape for the nearest one, converges linearly for shapes that turn: boxes that lie on each
 * other and turn together needed a thousand steps.
 *   Shapes without corners (cylinders, cones, ellipsoids) and those with very many have the same maximum by their
 * support function: z_i + s u_i = (e + s e x (w - f)) . r_i + const, e being the direction towards the other shape, so
 * it is taken at the farthest point in the direction e + s e x (w - f).
 *
 * Cost: O(corners), of a box O(1), some four evaluations of S for each f. */
#include "base/elementary.h"
#include "collision/manifold.h"
#include "collision/sweep.h"

/* shapes with more corners than this count as a whole; points that stand for a rim */
enum { MOST = 64, RIM = 8 };
/* evaluations of S, and the share of the bracket at which they end */
enum { ROUNDS = 8 };
#define NARROW 1e-3
/* sine of the angle below which two edges decide no frame */
#define PARALLEL 0.05

/* Heights over the plane of the nearest point, towards the other shape, and their rates. Of a box, count 0, those of
 * its centre and, after them, how much each half axis adds to either side: its highest corner is their sum. */
typedef struct heights {
    int count;
    double z[MOST], rate[MOST];
    const mor_geometry* whole; /* not NULL: all points of this shape, base + s spin + (up + s turn) . r */
    mor_vec3 up, turn;         /* in its frame */
    double base, spin;
} heights;

/* A shape at the time of its nearest point. */
typedef struct snapshot {
    bool known;
    mor_mat3 R;
    mor_vec3 position, offset; /* of the shape; from the centre of mass */
} snapshot;

int mor_corner_count(const mor_geometry* g)
{
    switch (g->kind) {
    case MOR_POLYHEDRON:
        return g->polyhedron->vertex_count;
    case MOR_CAPSULE:
        return 2;
    case MOR_CYLINDER:
        return 2 * RIM;
    case MOR_CONE:
        return 1 + RIM;
    case MOR_ELLIPSOID:
        return 6;
    default:
        return 0;
    }
}

mor_vec3 mor_corner_at(const mor_geometry* g, int i)
{
    static const double cosine[RIM] = { 1,  0.70710678118654752440,  0, -0.70710678118654752440,
                                        -1, -0.70710678118654752440, 0, 0.70710678118654752440 };
    if (g->kind == MOR_POLYHEDRON) return g->polyhedron->vertices[i];
    if (g->kind == MOR_ELLIPSOID) {
        double x = i % 2 ? g->size[i / 2] : -g->size[i / 2];
        return mor_v3(i / 2 == 0 ? x : 0.0, i / 2 == 1 ? x : 0.0, i / 2 == 2 ? x : 0.0);
    }
    if (g->kind == MOR_CAPSULE) return mor_v3(0, 0, i ? 0.5 * g->size[1] : -0.5 * g->size[1]);
    if (g->kind == MOR_CONE && i == RIM) return mor_v3(0, 0, 0.75 * g->size[1]);
    double z = g->kind == MOR_CONE ? -0.25 * g->size[1] : i < RIM ? -0.5 * g->size[1] : 0.5 * g->size[1];
    return mor_v3(g->size[0] * cosine[i % RIM], g->size[0] * cosine[(i + 6) % RIM], z);
}

/* Points whose hull, rounded by *radius, is the shape; 0: there are none, or too many. */
static int extreme_count(const mor_geometry* g, double* radius)
{
    *radius = 0.0;
    switch (g->kind) {
    case MOR_POLYHEDRON:
        return g->polyhedron->vertex_count <= MOST ? g->polyhedron->vertex_count : 0;
    case MOR_POLYGON:
        return g->polyline->point_count <= MOST ? g->polyline->point_count : 0;
    case MOR_CAPSULE:
        *radius = g->size[0];
        return 2;
    case MOR_SPHERE:
    case MOR_DISC:
        *radius = g->size[0];
        return 1;
    case MOR_PARTICLE:
        return 1;
    default:
        return 0;
    }
}

static mor_vec3 extreme_at(const mor_geometry* g, int i)
{
    if (g->kind == MOR_POLYGON) return g->polyline->points[i];
    return g->kind == MOR_POLYHEDRON || g->kind == MOR_CAPSULE ? mor_corner_at(g, i) : mor_v3(0, 0, 0);
}

static void look_at(snapshot* now, const mor_flight* flight, double t)
{
    if (now->known) return;
    mor_pose pose = mor_flight_at(flight, t);
    now->known = true;
    now->R = mor_quat_matrix(pose.rotation);
    now->position = pose.position;
    now->offset = mor_sub(pose.position, mor_madd(flight->x, t, flight->v));
}

/* Heights of a shape in the direction `up` over the point `nearest`, at time t, seen from a frame that turns with f;
 * returns its part of c. */
static double measure(const mor_geometry* g, const mor_flight* flight, snapshot* now, double t, mor_vec3 up, mor_vec3 f,
                      mor_vec3 nearest, heights* out)
{
    mor_vec3 u = mor_sub(flight->w, f);
    double radius, uu = mor_dot(u, u), arm = flight->still ? g->radius : flight->arm;
    int count = extreme_count(g, &radius);
    out->count = 1;
    out->z[0] = out->rate[0] = 0.0;
    out->whole = NULL;
    if (!(uu > 0.0)) return 0.0;
    look_at(now, flight, t);
    mor_vec3 turn = mor_cross(up, u), z = mor_tmul(&now->R, up), y = mor_tmul(&now->R, turn); /* up.(u x r) = turn.r */
    double base = mor_dot(up, mor_sub(now->position, nearest)) + radius, spin = mor_dot(turn, now->offset);
    const bool box = g->kind == MOR_POLYHEDRON && g->polyhedron->is_box;
    out->count = box ? 0 : count;
    if (count == 0) out->whole = g, out->up = z, out->turn = y, out->base = base, out->spin = spin;
    if (box) {
        out->z[0] = base, out->rate[0] = spin;
        for (int i = 0; i < 3; i++) {
            const double half = mor_axis(g->polyhedron->half, i);
            out->z[i + 1] = half * mor_axis(z, i), out->rate[i + 1] = half * mor_axis(y, i);
        }
    }
    for (int i = 0; !box && i < count; i++) {
        mor_vec3 p = extreme_at(g, i);
        out->z[i] = base + mor_dot(z, p);
        out->rate[i] = spin + mor_dot(y, p);
    }
    return sqrt(uu) * (mor_norm(flight->w) + mor_norm(f)) * arm;
}

/* The greatest height of a box after the time s, and the rate of its highest corner. */
static double highest_corner(const heights* z, double s, double* rate)
{
    double top = z->z[0] + s * z->rate[0];
    *rate = z->rate[0];
    for (int i = 1; i <= 3; i++) {
        const double side = z->z[i] + s * z->rate[i];
        top += fabs(side);
        *rate += side < 0.0 ? -z->rate[i] : z->rate[i];
    }
    return top;
}

/* The greatest height after the time s, and the rate of the highest point. */
static double highest(const heights* z, double s, double* rate)
{
    double top = -HUGE_VAL;
    if (z->whole) {
        mor_vec3 d = mor_madd(z->up, s, z->turn), p = mor_geometry_support(z->whole, d);
        *rate = z->spin + mor_dot(z->turn, p);
        return z->base + s * z->spin + mor_dot(d, p);
    }
    if (z->count == 0) return highest_corner(z, s, rate);
    for (int i = 0; i < z->count; i++) {
        double at = z->z[i] + s * z->rate[i];
        if (!(at > top)) continue;
        top = at;
        *rate = z->rate[i];
    }
    return top;
}

/* The part of c that comes from the centres, and their rate. */
static double centres(const mor_sweep* s, mor_vec3 n, mor_vec3 f, double t, double most, double* rate)
{
    const mor_flight *a = &s->flight[0], *b = &s->flight[1];
    mor_vec3 V = mor_sub(b->v, a->v), X = mor_madd(mor_sub(b->x, a->x), t, V), fX = mor_cross(f, X);
    *rate = mor_dot(n, mor_sub(V, fX));
    double ff = mor_dot(f, f), speed = mor_norm(V);
    if (!(ff > 0.0)) return 0.0;
    mor_vec3 swing = mor_cross(f, mor_madd(fX, -2.0, V));
    double change = 3.0 * ff * speed + ff * sqrt(ff) * (mor_norm(X) + most * speed);
    return most * change - mor_dot(n, swing);
}

/* Does a shape without end turn, seen from the frame? No direction separates it for any time. */
static bool sweeps_space(const mor_geometry* g, const mor_flight* flight, mor_vec3 f)
{
    mor_vec3 u = mor_sub(flight->w, f);
    return !isfinite(g->radius) && mor_dot(u, u) > 0.0;
}

/* The first root of S, from the left; `most` if there is none before. */
static double clear_time(const mor_sweep* s, const mor_point* nearest, snapshot now[2], mor_vec3 f, double t,
                         double most)
{
    if (sweeps_space(s->a, &s->flight[0], f) || sweeps_space(s->b, &s->flight[1], f)) return 0.0;
    heights a, b;
    mor_vec3 n = nearest->normal;
    double ra = 0.0, rb = 0.0, rate, left = 0.0, right = most, d = nearest->gap;
    double c = centres(s, n, f, t, most, &rate);
    c += measure(s->a, &s->flight[0], &now[0], t, n, f, nearest->on_a, &a);
    c = mor_max(0.0, c + measure(s->b, &s->flight[1], &now[1], t, mor_neg(n), f, nearest->on_b, &b));
    double at_left = d - highest(&a, 0.0, &ra) - highest(&b, 0.0, &rb);
    if (!(at_left > 0.0)) return 0.0;
    for (int k = 0; k < ROUNDS; k++) {
        double at_right = d + right * (rate - 0.5 * c * right) - highest(&a, right, &ra) - highest(&b, right, &rb);
        double slope = rate - ra - rb - c * right;
        if (at_right >= 0.0) return right; /* k = 0: apart to the end; later: the root by rounding */
        double chord = left + (right - left) * (at_left / (at_left - at_right));
        double at_chord = d + chord * (rate - 0.5 * c * chord) - highest(&a, chord, &ra) - highest(&b, chord, &rb);
        if (at_chord >= 0.0) left = chord, at_left = at_chord;
        if (slope < 0.0) right = mor_max(left, right - at_right / slope);
        if (!(right - left > NARROW * right)) break;
    }
    return left;
}

/* Direction of edge e of a polyhedron. */
static mor_vec3 edge_of(const mor_geometry* g, const snapshot* now, int e)
{
    const mor_polyhedron* P = g->polyhedron;
    return mor_mul(&now->R, mor_sub(P->vertices[P->edges[e].head], P->vertices[P->edges[e].tail]));
}

/* The frame in which two edges stay across the normal; false: no two edges, or nearly parallel ones. */
static bool edge_frame(const mor_sweep* s, const mor_point* nearest, snapshot now[2], double t, mor_vec3* f)
{
    const int i = (int)(nearest->feature >> 15 & 0x7fffu), j = (int)(nearest->feature & 0x7fffu);
    if (nearest->feature >> 30 != MOR_EDGE_EDGE || s->swap || s->a->kind != MOR_POLYHEDRON ||
        s->b->kind != MOR_POLYHEDRON || i >= s->a->polyhedron->edge_count || j >= s->b->polyhedron->edge_count)
        return false;
    look_at(&now[0], &s->flight[0], t), look_at(&now[1], &s->flight[1], t);
    const mor_vec3 n = nearest->normal, wa = s->flight[0].w, wb = s->flight[1].w;
    const mor_vec3 u = edge_of(s->a, &now[0], i), v = edge_of(s->b, &now[1], j);
    const mor_vec3 across_u = mor_cross(u, n), across_v = mor_cross(v, n);
    const double vu = mor_dot(v, across_u); /* -u.across_v */
    if (!(vu * vu > PARALLEL * PARALLEL * mor_dot(u, u) * mor_dot(v, v))) return false;
    *f = mor_scale(0.5 * mor_dot(mor_add(wa, wb), n), n);
    *f = mor_madd(*f, mor_dot(wa, across_u) / vu, v);
    *f = mor_madd(*f, -mor_dot(wb, across_v) / vu, u);
    return true;
}

double mor_clear_time(const mor_sweep* s, const mor_point* nearest, double t, double most)
{
    snapshot now[2] = { { .known = false }, { .known = false } };
    double with_a = clear_time(s, nearest, now, s->flight[0].w, t, most);
    if (with_a == most) return most;
    mor_vec3 apart = mor_sub(s->flight[0].w, s->flight[1].w), f;
    if (!(mor_dot(apart, apart) > 0.0)) return with_a;
    double best = mor_max(with_a, clear_time(s, nearest, now, s->flight[1].w, t, most));
    if (best < most && edge_frame(s, nearest, now, t, &f))
        best = mor_max(best, clear_time(s, nearest, now, f, t, most));
    return best;
}
