/* Shapes that are apart: conservative advancement over the free motion of the step.
 *
 * A contact with a gap is a half-space n . (x_b - x_a) >= 0, taken from where the shapes are now. It is a good model of
 * the shapes only near the place where they will touch. A body that passes another at a distance is in front of a
 * different plane a moment later; the plane of now would stop it (a ghost). So, for shapes that are apart,
 *
 *   - no point passes its plane in free motion, gap + h G nu >= 0: the points stay, they cannot act by themselves.
 *     For convex shapes that do not turn this also proves that they do not touch;
 *   - else the free motion x + t v, exp(t w) R is followed to the first t* <= h at which the shapes touch
 *     (B. Mirtich, 1996, "Impulse-based dynamic simulation of rigid body systems", section 2.3): with distance d and
 *     direction n at time t no point can be met before
 *         t + d / mu,     mu = max(0, -n.(v_b - v_a)) + |n x w_a| r_a + |n x w_b| r_b,
 *     since the separation along the fixed direction n, a lower bound of the distance of convex shapes, shrinks at
 *     most at the rate mu. For shapes that do not turn, the distance is a convex function of time and these steps are
 *     Newton's: they come from the left and converge quadratically. For shapes that turn, mu is the rate of a point
 *     that may be far from the nearest one; a bound of second order goes farther then (clear_time.c).
 *       Touching at t*: the points are those of the placed shapes at t*, with arms r* from the centres of mass and
 *     rates w = n.(v + w x r*)_b-a. The gap handed over is gap(t*) - t* w: the linear model gap + t w is right at t*.
 *     If the direction is still the same and the way there is short, the points of now are the same model and stay:
 *     the moment itself is not needed for that, shapes that overlap a little later have met (met_alike).
 *       Never touching: the points of the moment of nearest approach are taken in the same way. Their planes leave
 *     the free motion alone, and hold if something else pushes the bodies together. Corners are dropped.
 *
 * Chains are not convex: |v_b - v_a| takes the place of n.(v_b - v_a), the distance is that of the boundaries, and
 * without touching the points that would act are dropped.
 *
 * Points of an impact. With one body that never moves, the common point is the arm of the other. With two that move,
 * the arms do not meet in one point now: they are apart across n by what the bodies slide on the way there. As long as
 * that is short, one point between them serves both, and angular momentum is kept to rounding. It divides the way by
 * the masses: a wrong arm turns the lighter body, so that one has its own (a ball that drops on a heavy plate without
 * friction does not spin). Else, and for two balls without friction, which nothing may turn, each point is its own
 * body's arm (formulation/assemble.c): the impulses are those of the impact, and angular momentum, which knows only the
 * positions at the start of the step, is off by impulse times way. Pairs that bounce always have their own arms: their
 * impact is resolved within the step (formulation/impact.c), at the positions of that moment.
 *
 * Cost: nothing for shapes that touch, a few products per point for shapes that stay apart, else some pair tests. */
#include "base/elementary.h"
#include "collision/sweep.h"
#include "collision/pair_table.h"
#include "collision/pair_tests.h"

/* share of the size of the smaller shape: nearer shapes touch */
#define TOUCHING 1e-8
/* share of the size below which an advancement ends; the gap left over goes into the model */
#define ARRIVED 1e-8
/* rad: turning by more than this in the step may bring up features that are not among the points */
#define TURNING 0.1
/* the points of now serve for an impact whose way there is shorter than this share of the size ... */
#define SHORT_WAY 0.05
/* ... and whose normal makes an angle with theirs of at most (the cosine): 1e-3 rad, two polyhedra that move 0.1 rad */
#define SAME_NORMAL (1.0 - 5e-7)
#define LIKE_NORMAL 0.995
/* share of the size: with a shorter way to the impact nothing has changed when it comes */
#define NO_WAY 1e-4
/* of the time at which the first point passes its plane: by then shapes that meet there overlap */
#define LATER 1.25
/* a corner that swings past at the distance d takes about pi sqrt(r/2d) advances */
#define MAX_ADVANCES 1000
/* of the time of nearest approach, before points of it are wanted; then until there are some */
#define NARROWINGS 7
#define BISECTIONS 24

mor_pose mor_flight_at(const mor_flight* f, double t)
{
    if (f->still) return f->pose;
    mor_vec3 arm = mor_sub(f->pose.position, f->x);
    mor_quat q = f->pose.rotation;
    if (mor_dot(f->w, f->w) > 0.0) {
        mor_quat turn = mor_quat_exp(mor_scale(t, f->w));
        arm = mor_rotate(turn, arm);
        q = mor_quat_mul(turn, q);
    }
    return (mor_pose){ mor_add(mor_madd(f->x, t, f->v), arm), q };
}

mor_vec3 mor_flight_velocity(const mor_flight* f, mor_vec3 p, double t)
{
    return mor_add(f->v, mor_cross(f->w, mor_sub(p, mor_madd(f->x, t, f->v))));
}

double mor_flight_rate(const mor_flight* a, const mor_flight* b, const mor_point* p, double t)
{
    return mor_dot(p->normal, mor_sub(mor_flight_velocity(b, p->on_b, t), mor_flight_velocity(a, p->on_a, t)));
}

bool mor_flight_tumbles(const mor_flight* a, const mor_flight* b, mor_vec3 n, double size, double h)
{
    return h * (a->tumble + b->tumble + mor_max(0.0, -mor_dot(n, mor_sub(b->v, a->v))) / size) > TURNING;
}

static double rate(const mor_sweep* s, const mor_point* p, double t)
{
    return mor_flight_rate(&s->flight[0], &s->flight[1], p, t);
}

static int deepest_of(const mor_point* points, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (points[i].gap < points[best].gap) best = i;
    return best;
}

static double size_of(const mor_sweep* s)
{
    double a = s->a->kind == MOR_PARTICLE ? HUGE_VAL : s->a->radius,
           b = s->b->kind == MOR_PARTICLE ? HUGE_VAL : s->b->radius;
    double size = mor_min(a, b);
    return isfinite(size) && size > 0.0 ? size : 1.0;
}

static double chain_distance(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b);

static bool are_boxes(const mor_sweep* s)
{
    return s->test == mor_pair_polyhedron_polyhedron && s->a->polyhedron->is_box && s->b->polyhedron->is_box;
}

static bool with_chain(const mor_sweep* s) { return s->a->kind == MOR_CHAIN || s->b->kind == MOR_CHAIN; }

/* ------------------------------------------------------------------------------ advancing */

/* The points at time t, with reach `limit`; *distance of the shapes, HUGE_VAL if they are farther than that. */
static int look(const mor_sweep* s, double t, double limit, mor_point* points, double* distance)
{
    mor_pose pa = mor_flight_at(&s->flight[0], t), pb = mor_flight_at(&s->flight[1], t);
    uint32_t words[4] = { 0 };
    int n = mor_pair_run(s->test, s->swap, s->a, &pa, s->b, &pb, limit, words, points);
    *distance = n > 0 ? points[deepest_of(points, n)].gap : HUGE_VAL;
    if (n > 0 && *distance > 0.0 && with_chain(s))
        *distance =
            s->a->kind == MOR_CHAIN ? chain_distance(s->b, &pb, s->a, &pa) : chain_distance(s->a, &pa, s->b, &pb);
    return n;
}

/* Greatest rate at which the separation along n shrinks. */
static double closing_bound(const mor_sweep* s, mor_vec3 n)
{
    const mor_flight *a = &s->flight[0], *b = &s->flight[1];
    mor_vec3 v = mor_sub(b->v, a->v);
    double bound = with_chain(s) ? mor_norm(v) : mor_max(0.0, -mor_dot(n, v));
    if (with_chain(s)) return bound + mor_norm(a->w) * a->arm + mor_norm(b->w) * b->arm;
    if (a->arm > 0.0) bound += mor_norm(mor_cross(n, a->w)) * a->arm;
    if (b->arm > 0.0) bound += mor_norm(mor_cross(n, b->w)) * b->arm;
    return bound;
}

double mor_sweep_rate(const mor_sweep* s)
{
    const mor_flight *a = &s->flight[0], *b = &s->flight[1];
    mor_vec3 v = mor_sub(b->v, a->v);
    return mor_norm(v) + mor_norm(a->w) * a->arm + mor_norm(b->w) * b->arm;
}

typedef struct passage {
    bool touches;
    double time;             /* of the impact */
    double nearing, parting; /* times between which the approach turns into a retreat; parting < 0: none seen */
    mor_point points[MOR_MAX_POINTS];
    int count;
} passage;

/* First touch in free motion. `start` are the points of now. */
static void advance(const mor_sweep* s, const mor_point* start, int count, double size, passage* p)
{
    double t = 0.0, distance = start[deepest_of(start, count)].gap, bound = mor_sweep_rate(s);
    mor_vec3 n = start[deepest_of(start, count)].normal;
    p->touches = false, p->time = p->nearing = 0.0, p->parting = -1.0, p->count = 0; /* no points yet */
    if (with_chain(s)) p->count = look(s, 0.0, s->reach, p->points, &distance);
    bool nearing = rate(s, &start[deepest_of(start, count)], 0.0) < 0.0;
    for (int k = 0; k < MAX_ADVANCES; k++) {
        double mu = closing_bound(s, n);
        if (!(mu > 0.0)) return;
        const mor_point* near = k == 0 ? &start[deepest_of(start, count)] : &p->points[deepest_of(p->points, p->count)];
        t += mor_max(distance / mu, with_chain(s) ? 0.0 : mor_clear_time(s, near, t, s->h - t));
        if (!(t < s->h)) return;
        p->count = look(s, t, bound * (s->h - t) + ARRIVED * size, p->points, &distance);
        if (p->count == 0) return;
        const mor_point* d = &p->points[deepest_of(p->points, p->count)];
        n = d->normal;
        p->time = t;
        bool still_nearing = rate(s, d, t) < 0.0;
        if (nearing && !still_nearing && p->parting < 0.0) p->parting = t;
        if (still_nearing) p->nearing = t, p->parting = -1.0;
        nearing = still_nearing;
        if (distance <= ARRIVED * size) {
            p->touches = true;
            return;
        }
    }
    p->touches = true; /* cannot be told apart in so many steps: a contact with what gap is left */
}

/* ------------------------------------------------------------------------------- handing over */

/* Where between the arms of a (0) and b (1) the common point of an impact lies: at that of the lighter body. */
static double share_of_b(const mor_sweep* s)
{
    double a = s->flight[0].yields, b = s->flight[1].yields;
    if (s->flight[0].still || s->flight[1].still) return s->flight[0].still ? 1.0 : 0.0;
    return a + b > 0.0 ? b / (a + b) : 0.5;
}

/* Points found at time t become points of now: the linear model of gap and arms is that of time t. Those that the free
 * motion would pass are left out if `quiet`. */
static int hand_over(const mor_sweep* s, double t, const mor_point* later, int count, bool quiet, double size,
                     mor_point* points)
{
    int n = 0;
    const mor_flight *a = &s->flight[0], *b = &s->flight[1];
    const bool balls = s->smooth && !a->still && !b->still && a->arm == 0.0 && b->arm == 0.0;
    for (int i = 0; i < count; i++) {
        mor_point p = later[i];
        double w = rate(s, &p, t);
        p.gap -= t * w;
        if (quiet && (p.gap < 0.0 || p.gap + s->h * w < -ARRIVED * size)) continue;
        if (p.gap < 0.0) p.gap = 0.0;
        if (!(p.gap < s->reach)) continue;
        /* the arms of time t, put to where the bodies are now */
        for (int side = 0; side < 2; side++) {
            mor_vec3* q = side ? &p.on_b : &p.on_a;
            if (!s->flight[side].still) *q = mor_madd(*q, -t, s->flight[side].v);
        }
        mor_vec3 slide = mor_sub(p.on_b, p.on_a), common = mor_lerp(p.on_a, p.on_b, share_of_b(s));
        slide = mor_madd(slide, -mor_dot(slide, p.normal), p.normal);
        bool still = a->still || b->still;
        if (!s->bounces && !balls && (still || mor_norm(slide) <= 2.0 * SHORT_WAY * size)) {
            p.on_a = mor_madd(common, -0.5 * p.gap, p.normal);
            p.on_b = mor_madd(common, 0.5 * p.gap, p.normal);
        }
        points[n++] = p;
    }
    return n;
}

/* Points at the nearest approach: the rate of the gap changes its sign there. */
static int nearest_approach(const mor_sweep* s, const passage* p, double size, mor_point* points)
{
    double lower = p->nearing, upper = p->parting >= 0.0 ? p->parting : s->h, distance;
    mor_point later[MOR_MAX_POINTS];
    for (int k = 0; k < NARROWINGS; k++) {
        double t = k == 0 ? upper : 0.5 * (lower + upper);
        int n = look(s, t, s->reach, later, &distance);
        bool nears = n > 0 && rate(s, &later[deepest_of(later, n)], t) < 0.0;
        if (k == 0 && nears) break; /* to the end */
        *(nears ? &lower : &upper) = t;
    }
    for (int k = 0; k < BISECTIONS; k++) {
        double t = k == 0 ? upper : 0.5 * (lower + upper);
        int n = look(s, t, s->reach, later, &distance);
        if (n == 0) return 0;
        int kept = hand_over(s, t, later, n, true, size, points);
        if (kept > 0) return kept;
        if (rate(s, &later[deepest_of(later, n)], t) < 0.0) {
            if (k == 0) return 0; /* nearing all the time, and yet no touch */
            lower = t;
        } else {
            upper = t;
        }
    }
    return 0;
}

static bool all_corners(const mor_point* points, int count)
{
    for (int i = 0; i < count; i++)
        if (!points[i].corner) return false;
    return true;
}

/* The cosine from which normals are the same. */
static double same_normal(const mor_sweep* s)
{
    bool still = s->flight[0].still || s->flight[1].still;
    return still || s->a->kind != MOR_POLYHEDRON || s->b->kind != MOR_POLYHEDRON ? SAME_NORMAL : LIKE_NORMAL;
}

/* Is the way in the time t so short that points with the same normal serve then as well? */
static bool is_short_way(const mor_sweep* s, double t, double size)
{
    return t * mor_norm(mor_sub(s->flight[1].v, s->flight[0].v)) <= SHORT_WAY * size;
}

/* Do the shapes overlap soon after the first point passes its plane, along the normal of now and after a short way?
 * Then they met before that, in front of the same planes. */
static bool met_alike(const mor_sweep* s, const mor_point* points, int count, double soonest, double size)
{
    double t = mor_min(LATER * soonest, s->h), distance;
    if (with_chain(s) || !is_short_way(s, t, size)) return false;
    const mor_vec3 now = points[deepest_of(points, count)].normal;
    if (are_boxes(s)) { /* an axis is all that is wanted of them */
        mor_pose pa = mor_flight_at(&s->flight[0], t), pb = mor_flight_at(&s->flight[1], t);
        mor_vec3 then;
        if (mor_boxes_overlap(s->a, &pa, s->b, &pb, &then)) return mor_dot(now, then) > same_normal(s);
    }
    mor_point later[MOR_MAX_POINTS];
    int n = look(s, t, s->reach, later, &distance);
    return n > 0 && distance <= 0.0 && mor_dot(now, later[deepest_of(later, n)].normal) > same_normal(s);
}

int mor_sweep_contacts(const mor_sweep* s, mor_point* points, int count)
{
    double size = size_of(s), least = HUGE_VAL;
    bool passes = false;
    for (int i = 0; i < count; i++) least = mor_min(least, points[i].gap);
    if (count == 0) return 0;
    if (!(least > TOUCHING * size)) return mor_sweep_corners(s, 0.0, size, points, count);
    double rates[MOR_MAX_POINTS], soonest = s->h;
    for (int i = 0; i < count; i++) {
        rates[i] = rate(s, &points[i], 0.0);
        if (!(points[i].gap + s->h * rates[i] < 0.0)) continue;
        passes = true;
        soonest = mor_min(soonest, -points[i].gap / rates[i]);
    }
    if (passes && !s->bounces && least < NO_WAY * size && soonest * mor_sweep_rate(s) <= NO_WAY * size)
        return mor_sweep_corners(s, 0.0, size, points, count);
    const mor_flight *a = &s->flight[0], *b = &s->flight[1];
    double turn = s->h * (a->tumble + b->tumble);
    bool corners = all_corners(points, count);
    if (!passes && !(turn > TURNING && least < s->h * mor_sweep_rate(s))) return corners ? 0 : count;
    if (passes && !s->bounces && turn <= TURNING && met_alike(s, points, count, soonest, size))
        return mor_sweep_corners(s, 0.0, size, points, count);
    passage p;
    advance(s, points, count, size, &p);
    if (!p.touches) {
        if (corners || turn > TURNING) return 0; /* planes of now mean little to a body that turns so fast */
        if (!passes) return count;
        if (!with_chain(s)) return nearest_approach(s, &p, size, points);
        int n = 0;
        for (int i = 0; i < count; i++)
            if (points[i].gap + s->h * rates[i] >= 0.0) points[n++] = points[i];
        return n;
    }
    mor_vec3 n0 = points[deepest_of(points, count)].normal;
    const mor_point* d = &p.points[deepest_of(p.points, p.count)];
    if (passes && !s->bounces && mor_dot(n0, d->normal) > same_normal(s) && is_short_way(s, p.time, size) &&
        turn <= TURNING)
        return mor_sweep_corners(s, 0.0, size, points, count);
    double distance;
    p.count = look(s, p.time, s->reach, p.points, &distance);
    p.count = mor_sweep_corners(s, p.time, size, p.points, p.count);
    return hand_over(s, p.time, p.points, p.count, false, size, points);
}

/* --------------------------------------------------------------------------------- chains */

static double point_segment(mor_vec3 x, mor_vec3 p, mor_vec3 q)
{
    mor_vec3 e = mor_sub(q, p), d = mor_sub(x, p);
    double ee = mor_dot(e, e), t = ee > 0.0 ? mor_dot(d, e) / ee : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return mor_norm(mor_madd(d, -t, e));
}

static double side_of(mor_vec3 p, mor_vec3 q, mor_vec3 x)
{
    return (q.x - p.x) * (x.y - p.y) - (q.y - p.y) * (x.x - p.x);
}

static double segment_segment(mor_vec3 a, mor_vec3 b, mor_vec3 p, mor_vec3 q)
{
    if (side_of(a, b, p) * side_of(a, b, q) < 0.0 && side_of(p, q, a) * side_of(p, q, b) < 0.0) return 0.0;
    return mor_min(mor_min(point_segment(a, p, q), point_segment(b, p, q)),
                   mor_min(point_segment(p, a, b), point_segment(q, a, b)));
}

static double chain_distance(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                             const mor_pose* pose_b)
{
    const mor_polyline* C = b->polyline;
    double least = HUGE_VAL;
    for (int i = 0; i < C->edge_count; i++) {
        mor_vec3 p = C->points[i], q = C->points[i + 1];
        if (a->kind != MOR_POLYGON) {
            least = mor_min(least, point_segment(mor_pose_unpoint(pose_b, pose_a->position), p, q));
            continue;
        }
        const mor_polyline* P = a->polyline;
        for (int k = 0; k < P->point_count; k++) {
            mor_vec3 u = mor_pose_unpoint(pose_b, mor_pose_point(pose_a, P->points[k]));
            mor_vec3 v =
                mor_pose_unpoint(pose_b, mor_pose_point(pose_a, P->points[k + 1 < P->point_count ? k + 1 : 0]));
            least = mor_min(least, segment_segment(u, v, p, q));
        }
    }
    if (a->kind == MOR_DISC) least -= a->size[0];
    return mor_max(least, 0.0);
}
