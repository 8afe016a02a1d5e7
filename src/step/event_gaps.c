/* Gaps between a planar body and the sides of the ground, in closed form, with their first two derivatives.
 *
 * With x the centre of mass, r the contact point from it, n the unit normal out of the ground, t = k x n, w the rate of
 * the angle: rows [n, r x n], [t, r x t], and psi'' = rows a + curve:
 *
 *     corner on a side     psi = n.(x + r - p),                        curve = -w^2 (n.r, t.r)
 *     end on an edge       psi = m.(p - x) - c, n = -m, r = p - x,     curve = 2 w k x (n, t).v + w^2 (n.r, t.r)
 *     disc on a side       psi = n.(x - p) - R, r = -R n,              curve = 0
 *     disc on an end       psi = |x - p| - R, n = (x - p)/|x - p|,     curve = turn (t.v, -n.v), turn = t.v/|x - p|
 */
#include "base/elementary.h"
#include "step/events.h"

#include <math.h>

#define TIP 1e-9 /* of the size, as gaps that count as closed: a corner so near a ridge is at its tip */

int mor_event_pair_count(const mor_event_body* b)
{
    int features = b->corners ? b->corners : 1;
    bool ends = b->corners || b->radius > 0.0; /* a particle does not touch points */
    return b->side_count * features * (ends ? 3 : 1);
}

mor_event_pair mor_event_pair_at(const mor_event_body* b, int i)
{
    int features = b->corners ? b->corners : 1, all = b->side_count * features;
    return (mor_event_pair){ .side = i % all / features, .end = i / all - 1, .feature = i % features };
}

static double cross(mor_vec3 a, mor_vec3 b) { return a.x * b.y - a.y * b.x; }
static mor_vec3 turned(mor_vec3 a) { return mor_v3(-a.y, a.x, 0.0); } /* k x a */

static mor_vec3 rotated(double angle, mor_vec3 a)
{
    double s, c;
    mor_sincos(angle, &s, &c);
    return mor_v3(c * a.x - s * a.y, s * a.x + c * a.y, 0.0);
}

/* Fills rows and rates from normal, arm and curvature. */
static void fill(mor_event_gap* g, mor_vec3 n, mor_vec3 r, const mor_event_state* s)
{
    mor_vec3 t = turned(n);
    const double normal[3] = { n.x, n.y, cross(r, n) }, tangent[3] = { t.x, t.y, cross(r, t) };
    g->speed = g->slip = 0.0;
    for (int i = 0; i < 3; i++) {
        g->n[i] = normal[i], g->t[i] = tangent[i];
        g->speed += normal[i] * s->v[i];
        g->slip += tangent[i] * s->v[i];
    }
}

/* Is the point p within the side, or a little beyond? */
static bool within(mor_vec3 from, mor_vec3 to, mor_vec3 p, double slack)
{
    mor_vec3 d = mor_sub(to, from);
    double length = mor_norm(d), at = mor_dot(mor_sub(p, from), d) / length;
    return at >= -slack && at <= length + slack;
}

/* Is the point p, with velocity v, at a ridge rather out of the other side than of this one? There the larger of both
 * gaps keeps it out: it meets that side alone, or passes the tip. */
static bool other_side_keeps(const mor_event_side* side, mor_vec3 p, mor_vec3 v, double slack)
{
    double turn = cross(mor_sub(side->to, side->from), side->normal) > 0.0 ? 1.0 : -1.0;
    for (int end = 0; end < 2; end++) {
        mor_vec3 tip = end ? side->to : side->from, far = end ? side->from : side->to;
        mor_vec3 other = mor_sub(side->beyond[end], tip), d = mor_sub(p, tip);
        bool alone = mor_norm(mor_sub(side->beyond[end], far)) == 0.0; /* nothing goes on from there */
        if (!side->ridge[end] || alone) continue;
        mor_vec3 out = mor_scale((end ? turn : -turn) / mor_norm(other), turned(other));
        double more = mor_dot(out, d) - mor_dot(side->normal, d);
        bool faster = mor_dot(out, v) > mor_dot(side->normal, v);
        if (more > slack || (more > -slack && mor_norm(d) <= 2.0 * slack && faster)) return true;
    }
    return false;
}

static mor_event_gap on_side(const mor_event_body* b, const mor_event_side* side, int corner, const mor_event_state* s)
{
    mor_event_gap g = { .mu = side->friction, .e = side->restitution };
    mor_vec3 x = mor_v3(s->q[0], s->q[1], 0.0), n = side->normal, t = turned(n);
    double w = s->v[2];
    mor_vec3 r = b->corners ? rotated(s->q[2], b->corner[corner]) : mor_scale(-b->radius, n);
    g.gap = mor_dot(n, mor_sub(mor_add(x, r), side->from));
    if (b->corners) g.curve_n = -w * w * mor_dot(n, r), g.curve_t = -w * w * mor_dot(t, r);
    mor_vec3 at = mor_add(x, r), v = mor_madd(mor_v3(s->v[0], s->v[1], 0.0), w, turned(r));
    g.valid = within(side->from, side->to, at, 1e-12 * b->size) &&
              !(b->corners && other_side_keeps(side, at, v, TIP * b->size));
    fill(&g, n, r, s);
    return g;
}

static mor_event_gap on_end(const mor_event_body* b, const mor_event_side* side, int end, int edge,
                            const mor_event_state* s)
{
    mor_vec3 p = end ? side->to : side->from;
    mor_event_gap g = { .mu = side->friction, .e = side->restitution };
    mor_vec3 x = mor_v3(s->q[0], s->q[1], 0.0), v = mor_v3(s->v[0], s->v[1], 0.0), n, r;
    double w = s->v[2];
    if (b->corners) {
        mor_vec3 from = rotated(s->q[2], b->corner[edge]);
        mor_vec3 to = rotated(s->q[2], b->corner[(edge + 1) % b->corners]);
        mor_vec3 d = mor_sub(to, from), m = mor_scale(1.0 / mor_norm(d), mor_v3(d.y, -d.x, 0.0));
        r = mor_sub(p, x);
        n = mor_scale(-1.0, m);
        g.gap = mor_dot(m, mor_sub(r, from));
        g.valid = within(from, to, r, 0.0);
        g.curve_n = 2.0 * w * mor_dot(turned(n), v) + w * w * mor_dot(n, r);
        g.curve_t = 2.0 * w * mor_dot(turned(turned(n)), v) + w * w * mor_dot(turned(n), r);
    } else {
        mor_vec3 d = mor_sub(x, p);
        double distance = mor_norm(d);
        n = distance > 0.0 ? mor_scale(1.0 / distance, d) : mor_v3(0, 1, 0);
        r = mor_scale(-b->radius, n);
        double turn = distance > 0.0 ? mor_dot(turned(n), v) / distance : 0.0;
        g.gap = distance - b->radius;
        g.curve_n = turn * mor_dot(turned(n), v);
        g.curve_t = -turn * mor_dot(n, v);
        g.valid = true;
    }
    /* both sides of the ridge lie below */
    mor_vec3 far = end ? side->from : side->to;
    g.valid = g.valid && side->ridge[end] && mor_dot(n, mor_sub(far, p)) <= 0.0 &&
              mor_dot(n, mor_sub(side->beyond[end], p)) <= 0.0;
    fill(&g, n, r, s);
    return g;
}

mor_event_gap mor_event_gap_at(const mor_event_body* b, const mor_event_pair* p, const mor_event_state* s)
{
    const mor_event_side* side = &b->sides[p->side];
    if (p->end < 0) return on_side(b, side, p->feature, s);
    return on_end(b, side, p->end, p->feature, s);
}
