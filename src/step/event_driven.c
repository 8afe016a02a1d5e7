/* The event-driven integrator: the reference for few contacts in the plane.
 *
 * Time stepping finds impulses of a whole step and is of first order. Here the motion between events is a smooth
 * differential equation, solved to 1e-13: which closed contacts stick, slide or open is decided by the acceleration
 * level problem (event_modes.c), gaps and their derivatives are in closed form (event_gaps.c). Events end a piece:
 *
 *     a gap closes; a contact opens (its force falls to 0); a sticking contact begins to slide (the force reaches the
 *     cone); a sliding one stops; a feature is left (a corner slides past the end of a side)
 *
 * They are located by bisection of the length of the piece down to rounding. Where a gap closes with a speed, the
 * velocities jump: contacts that approach bounce with e, again until none approaches (as the impact law `reflections`,
 * without its bound on the energy); with e = 0 all closed contacts act at once, as in time stepping.
 *
 * It refuses, with a sentence: worlds in 3-D, joints, robots, kinematic bodies and belts, bodies of several shapes,
 * moving bodies that may touch each other, ground that is not made of chains and polygons, more than four closed
 * contacts, states without or with several accelerations (Painleve), infinitely many impacts (Zeno; below `v_rest`, if
 * given, e is 0).
 *
 * C. Glocker, F. Pfeiffer, "Dynamical systems with unilateral contacts", Nonlinear Dynamics 3 (1992) 245-259. */
#include "base/elementary.h"
#include "step/events.h"
#include "step/stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CLOSED 1e-9 /* of the size: gaps that are closed */
#define BELOW 1e-13 /* of the size: a gap that has closed */
#define PASSED 1e-9 /* of the largest force: what it is beyond 0 or the cone when that counts, above event_modes.c's */
enum { MOST_EVENTS = 2000, MOST_STUCK = 200, MOST_PARTS = 256 };

typedef struct run {
    const mor_event_body* b;
    mor_event_state s;
    mor_event_mode mode;
    double v_rest;
    char* why;
    size_t room;
} run;

/* Speeds that are no impact [m/s]. A gap is seen to close when it is BELOW the size, and weight alone brings a contact
 * at rest there with sqrt(2 g gap): with less, two contacts that both stay would take turns for ever. What bounces
 * really does so: there every speed counts. */
static double resting(const mor_event_body* b, const mor_event_gap* g)
{
    const double least = 1e-9;
    return g->e > 0.0 ? least : mor_max(least, sqrt(4.0 * mor_norm(b->gravity) * BELOW * b->size));
}

static bool refuse(run* k, const char* why)
{
    snprintf(k->why, k->room, "%s", why);
    return false;
}

/* ---------------------------------------------------------------------------------- motion */

static void gaps_of(const run* k, const mor_event_state* s, mor_event_gap* g)
{
    for (int i = 0; i < k->mode.count; i++) {
        mor_event_pair p = mor_event_pair_at(k->b, k->mode.pair[i]);
        g[i] = mor_event_gap_at(k->b, &p, s);
    }
}

/* Velocity and acceleration at a state, in the mode. */
static bool rates(const run* k, const mor_event_state* s, double out[6])
{
    mor_event_gap g[MOR_EVENT_CONTACTS];
    mor_event_mode m = k->mode;
    gaps_of(k, s, g);
    if (!mor_event_forces(k->b, g, &m)) return false;
    for (int d = 0; d < 3; d++) out[d] = s->v[d], out[3 + d] = m.change[d];
    return true;
}

static mor_event_state moved(const mor_event_state* s, double h, const double* r)
{
    mor_event_state x = *s;
    for (int d = 0; d < 3; d++) x.q[d] += h * r[d], x.v[d] += h * r[3 + d];
    return x;
}

/* Runge-Kutta of order 4, n parts. */
static bool kutta(const run* k, double h, int n, mor_event_state* out)
{
    mor_event_state s = k->s;
    double dt = h / n, a[6], b[6], c[6], d[6];
    for (int i = 0; i < n; i++) {
        if (!rates(k, &s, a)) return false;
        mor_event_state x = moved(&s, 0.5 * dt, a);
        if (!rates(k, &x, b)) return false;
        x = moved(&s, 0.5 * dt, b);
        if (!rates(k, &x, c)) return false;
        x = moved(&s, dt, c);
        if (!rates(k, &x, d)) return false;
        for (int j = 0; j < 6; j++) a[j] = (a[j] + 2.0 * (b[j] + c[j]) + d[j]) / 6.0;
        s = moved(&s, dt, a);
    }
    *out = s;
    return true;
}

/* The state h later: parts are halved until two answers agree, and these are extrapolated to order 5. */
static bool later(const run* k, double h, mor_event_state* out)
{
    mor_event_state coarse, fine;
    if (!kutta(k, h, 1, &coarse)) return false;
    for (int n = 2;; n *= 2) {
        if (!kutta(k, h, n, &fine)) return false;
        double off = 0.0, scale = k->b->size;
        for (int d = 0; d < 3; d++) {
            off = mor_max(off, mor_max(fabs(fine.q[d] - coarse.q[d]), fabs(fine.v[d] - coarse.v[d])));
            scale = mor_max(scale, mor_max(fabs(fine.q[d]), fabs(fine.v[d])));
            out->q[d] = fine.q[d] + (fine.q[d] - coarse.q[d]) / 15.0;
            out->v[d] = fine.v[d] + (fine.v[d] - coarse.v[d]) / 15.0;
        }
        if (off <= 1e-13 * scale || n >= MOST_PARTS) return true;
        coarse = fine;
    }
}

/* ---------------------------------------------------------------------------------- events */

static bool in_mode(const run* k, int pair)
{
    for (int i = 0; i < k->mode.count; i++)
        if (k->mode.pair[i] == pair && k->mode.what[i] != MOR_EVENT_OPEN) return true;
    return false;
}

/* Has anything happened between the state now and s? */
static bool happened(const run* k, const mor_event_state* s)
{
    const mor_event_body* b = k->b;
    mor_event_gap g[MOR_EVENT_CONTACTS];
    mor_event_mode m = k->mode;
    gaps_of(k, s, g);
    if (!mor_event_forces(b, g, &m)) return true;
    double force = 1e-12;
    for (int i = 0; i < m.count; i++) force = mor_max(force, fabs(m.force[i][0]));
    for (int i = 0; i < m.count; i++) {
        if (m.what[i] == MOR_EVENT_OPEN) continue;
        if (!g[i].valid || m.force[i][0] < -PASSED * force) return true;
        if (m.what[i] == MOR_EVENT_STICK && fabs(m.force[i][1]) > g[i].mu * m.force[i][0] + PASSED * force) return true;
        if (m.what[i] == MOR_EVENT_SLIDE && g[i].mu > 0.0 && m.direction[i] * g[i].slip < -1e-13) return true;
    }
    for (int i = 0, n = mor_event_pair_count(b); i < n; i++) {
        if (in_mode(k, i)) continue;
        mor_event_pair p = mor_event_pair_at(b, i);
        mor_event_gap now = mor_event_gap_at(b, &p, s);
        if (!now.valid || !(now.gap < -BELOW * b->size)) continue;
        mor_event_gap before = mor_event_gap_at(b, &p, &k->s);
        if (before.gap >= -CLOSED * b->size) return true;
    }
    return false;
}

/* Contacts that are closed now, into the mode. */
static bool find_closed(run* k, mor_event_gap* g)
{
    const mor_event_body* b = k->b;
    k->mode.count = 0;
    for (int i = 0, n = mor_event_pair_count(b); i < n; i++) {
        mor_event_pair p = mor_event_pair_at(b, i);
        mor_event_gap now = mor_event_gap_at(b, &p, &k->s);
        if (!now.valid || fabs(now.gap) > CLOSED * b->size || now.speed > resting(b, &now)) continue;
        bool known = false; /* ends of two sides, corners on flush sides */
        for (int j = 0; j < k->mode.count && !known; j++)
            known = fabs(now.n[0] - g[j].n[0]) + fabs(now.n[1] - g[j].n[1]) < 1e-9 &&
                    fabs(now.n[2] - g[j].n[2]) + fabs(now.t[2] - g[j].t[2]) < 1e-9 * b->size;
        if (known) continue;
        if (k->mode.count == MOR_EVENT_CONTACTS) return refuse(k, "more than four contacts of a body are closed");
        k->mode.pair[k->mode.count] = i;
        g[k->mode.count++] = now;
    }
    return true;
}

/* The velocities jump until no closed contact approaches. */
static bool impacts(run* k)
{
    for (int pass = 0; pass < 200; pass++) {
        mor_event_gap g[MOR_EVENT_CONTACTS], act[MOR_EVENT_CONTACTS];
        double target[MOR_EVENT_CONTACTS] = { 0 };
        if (!find_closed(k, g)) return false;
        bool any = false, bounces = false;
        for (int i = 0; i < k->mode.count; i++) {
            const double rests = resting(k->b, &g[i]);
            any = any || g[i].speed < -rests;
            bounces = bounces || (g[i].speed < -mor_max(rests, k->v_rest) && g[i].e > 0.0);
        }
        if (!any) return true;
        mor_event_mode m = { .count = 0 };
        for (int i = 0; i < k->mode.count; i++) {
            if (bounces && !(g[i].speed < -resting(k->b, &g[i]))) continue;
            if (bounces && -g[i].speed > k->v_rest) target[m.count] = -g[i].e * g[i].speed;
            act[m.count++] = g[i];
        }
        int answers = mor_event_find_mode(k->b, act, target, &m);
        if (answers == 0) return refuse(k, "an impact has no solution with this friction (Painleve)");
        if (answers > 1) return refuse(k, "an impact has several solutions with this friction (Painleve)");
        for (int d = 0; d < 3; d++) k->s.v[d] += m.change[d];
    }
    return refuse(k, "impacts at one place do not end");
}

static bool choose_mode(run* k)
{
    mor_event_gap g[MOR_EVENT_CONTACTS];
    if (!impacts(k) || !find_closed(k, g)) return false;
    int answers = mor_event_find_mode(k->b, g, NULL, &k->mode);
    if (answers == 0) return refuse(k, "no acceleration fits the contacts (Painleve)");
    if (answers > 1) return refuse(k, "several accelerations fit the contacts (Painleve)");
    mor_event_settle(k->b, g, &k->mode, true, k->s.q);
    mor_event_settle(k->b, g, &k->mode, false, k->s.v);
    return true;
}

/* A length of time in which nothing can happen twice. */
static double short_piece(const run* k, double rest)
{
    double speed = mor_hypot(k->s.v[0], k->s.v[1]) + k->b->size * fabs(k->s.v[2]);
    double gravity = mor_norm(k->b->gravity) + 1e-3;
    double dt = 0.02 * k->b->size / (speed + 1e-3), fall = sqrt(0.02 * k->b->size / gravity);
    return mor_min(rest, mor_min(dt, fall));
}

static bool move(run* k, double h)
{
    double t = 0.0;
    int stuck = 0;
    if (!choose_mode(k)) return false;
    for (int events = 0; t < h;) {
        double dt = short_piece(k, h - t), low = 0.0, high = dt;
        mor_event_state end;
        if (!later(k, dt, &end)) return refuse(k, "no acceleration fits the contacts (Painleve)");
        if (!happened(k, &end)) {
            k->s = end;
            t = dt >= h - t ? h : t + dt;
            stuck = 0;
            continue;
        }
        for (int i = 0; i < 60 && high - low > 1e-17; i++) {
            double middle = 0.5 * (low + high);
            if (!later(k, middle, &end)) return refuse(k, "no acceleration fits the contacts (Painleve)");
            if (happened(k, &end)) high = middle;
            else low = middle;
        }
        if (!later(k, high, &end)) return refuse(k, "no acceleration fits the contacts (Painleve)");
        k->s = end;
        t += high;
        stuck = high > 1e-12 ? 0 : stuck + 1;
        if (stuck > MOST_STUCK || ++events > MOST_EVENTS)
            return refuse(k, "impacts follow each other without end (Zeno); v_rest > 0 ends them");
        if (!choose_mode(k)) return false;
    }
    return true;
}

/* ----------------------------------------------------------------------------------- world */

/* Ends that stick out: the next side goes down there, or there is none. */
static void find_ridges(mor_event_side* sides, int count)
{
    for (int i = 0; i < count; i++)
        for (int end = 0; end < 2; end++) {
            mor_event_side* s = &sides[i];
            mor_vec3 p = end ? s->to : s->from;
            s->ridge[end] = true;
            s->beyond[end] = end ? s->from : s->to;
            for (int j = 0; j < count; j++) {
                mor_vec3 near = end ? sides[j].from : sides[j].to, far = end ? sides[j].to : sides[j].from;
                if (j == i || mor_norm(mor_sub(near, p)) > 1e-12) continue;
                s->beyond[end] = far;
                s->ridge[end] = mor_dot(s->normal, mor_sub(far, p)) < -1e-12 * mor_norm(mor_sub(far, p));
            }
        }
}

/* Sides of all fixed bodies as the body i meets them; -1: a shape that is no ground, -2: out of memory. */
static int ground(mor_step* k, int slot, mor_event_side** out)
{
    const mor_world* w = k->w;
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && !(*out = mor_arena_alloc(k->arena, ((size_t)count + 1) * sizeof **out))) return -2;
        count = 0;
        for (int i = 0; i < w->alive_count; i++) {
            const mor_body* f = &w->bodies[w->order[i]];
            if (f->kind != MOR_FIXED || mor_world_ignores(w, slot, w->order[i])) continue;
            for (int s = 0; s < f->shape_count; s++) {
                const mor_geometry* g = f->shapes[s].geometry;
                if (g->kind != MOR_CHAIN && g->kind != MOR_POLYGON) return -1;
                mor_pose pose = mor_body_shape_pose(f, s);
                mor_contact c = { 0 };
                mor_world_combine(w, &w->bodies[slot], 0, f, s, &c);
                for (int e = 0; e < g->polyline->edge_count; e++, count++) {
                    if (!pass) continue;
                    int next = e + 1 < g->polyline->point_count ? e + 1 : 0;
                    (*out)[count] = (mor_event_side){ .from = mor_pose_point(&pose, g->polyline->points[e]),
                                                      .to = mor_pose_point(&pose, g->polyline->points[next]),
                                                      .normal = mor_rotate(pose.rotation, g->polyline->normals[e]),
                                                      .friction = c.friction,
                                                      .restitution = c.restitution };
                }
            }
        }
    }
    /* sides that two flush bodies turn to each other are inside */
    int kept = 0;
    for (int i = 0; i < count; i++) {
        bool inside = false;
        for (int j = 0; j < count && !inside; j++)
            inside = mor_norm(mor_sub((*out)[i].from, (*out)[j].to)) < 1e-12 &&
                     mor_norm(mor_sub((*out)[i].to, (*out)[j].from)) < 1e-12;
        (*out)[i].friction = inside ? -1.0 : (*out)[i].friction;
    }
    for (int i = 0; i < count; i++)
        if ((*out)[i].friction >= 0.0) (*out)[kept++] = (*out)[i];
    find_ridges(*out, kept);
    return kept;
}

/* What of the world it cannot do; NULL: nothing. */
static const char* too_much(const mor_world* w)
{
    if (w->dimension != 2) return "it takes planar worlds only (dimension: 2)";
    if (w->robot_count || w->joints.count) return "it takes no joints and no robots";
    if (mor_world_turning(w)) return "it knows no rolling friction";
    for (int i = 0; i < w->alive_count; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->kind == MOR_KINEMATIC) return "it takes no kinematic bodies";
        if (mor_norm(b->surface_velocity) > 0.0) return "it takes no belts";
        if (b->kind == MOR_FIXED) continue;
        if (b->shape_count != 1) return "it takes bodies of one shape only";
        const mor_geometry* g = b->shapes[0].geometry;
        if (g->kind != MOR_PARTICLE && g->kind != MOR_DISC && g->kind != MOR_POLYGON)
            return "it moves particles, discs and convex polygons only";
        for (int j = 0; j < i; j++) {
            const mor_body* o = &w->bodies[w->order[j]];
            if (o->kind == MOR_FIXED || mor_world_ignores(w, w->order[i], w->order[j])) continue;
            double reach = g->radius + o->shapes[0].geometry->radius + w->h * (mor_norm(b->v) + mor_norm(o->v)) +
                           2.0 * w->h * w->h * mor_norm(w->gravity);
            if (mor_norm(mor_sub(b->x, o->x)) < 1.01 * reach) return "two moving bodies come near each other";
        }
    }
    return NULL;
}

/* One body. */
static bool move_body(mor_step* k, int slot, mor_code* code)
{
    mor_world* w = k->w;
    mor_body* b = &w->bodies[slot];
    const mor_geometry* g = b->shapes[0].geometry;
    mor_event_side* sides = NULL;
    int corners = g->kind == MOR_POLYGON ? g->polyline->point_count : 0;
    mor_vec3* corner = mor_arena_alloc(k->arena, ((size_t)corners + 1) * sizeof *corner);
    int count = ground(k, slot, &sides);
    run r = { .why = k->plan.detail, .room = sizeof k->plan.detail, .v_rest = mor_max(w->options.v_rest, 0.0) };
    if (!corner || count == -2) return *code = MOR_SYSTEM, false;
    if (count < 0) return refuse(&r, "event-driven: the ground must be made of chains and polygons");
    for (int i = 0; i < corners; i++)
        corner[i] = mor_sub(mor_pose_point(&b->shapes[0].pose, g->polyline->points[i]), b->mass.com);
    if (!corners && mor_norm(mor_sub(b->shapes[0].pose.position, b->mass.com)) > 1e-12)
        return refuse(&r, "event-driven: a disc must have its centre of mass in its middle");
    double m = b->mass.mass, I = b->mass.inertia.m[2][2], size = g->kind == MOR_PARTICLE ? 1.0 : g->radius;
    for (int i = 0; i < count; i++) size = mor_min(size, mor_norm(mor_sub(sides[i].to, sides[i].from)));
    bool point = g->kind == MOR_PARTICLE;
    mor_event_body body = { .corners = corners,
                            .corner = corner,
                            .radius = g->kind == MOR_DISC ? g->size[0] : 0.0,
                            .size = size,
                            .mass = m,
                            .inertia = point ? INFINITY : I,
                            .gravity = mor_madd(w->gravity, 1.0 / m, b->force),
                            .spin_up = point ? 0.0 : b->torque.z / I,
                            .side_count = count,
                            .sides = sides };
    r.b = &body;
    r.s = (mor_event_state){ { b->x.x, b->x.y, b->angle }, { b->v.x, b->v.y, point ? 0.0 : b->w.z } };
    mor_vec3 start = b->x;
    if (!move(&r, w->h)) return false;
    b->x = mor_v3(r.s.q[0], r.s.q[1], 0.0);
    b->v = mor_v3(r.s.v[0], r.s.v[1], 0.0);
    k->applied_work += mor_dot(b->force, mor_sub(b->x, start)) + (point ? 0.0 : b->torque.z * (r.s.q[2] - b->angle));
    if (point) return true;
    b->angle = r.s.q[2];
    b->w = mor_v3(0.0, 0.0, r.s.v[2]);
    b->q = mor_quat_exp(mor_v3(0.0, 0.0, b->angle));
    return true;
}

mor_code mor_event_driven_step(mor_step* k)
{
    mor_world* w = k->w;
    mor_code code = MOR_OK;
    const char* why = too_much(w);
    k->status = MOR_SOLVED;
    k->plan.detail[0] = '\0';
    k->applied_work = k->contact_work = k->correction_work = k->projection_work = k->raw_penetration = 0.0;
    if (why) snprintf(k->plan.detail, sizeof k->plan.detail, "event-driven: %s", why);
    for (int i = 0; i < w->alive_count && !k->plan.detail[0] && !code; i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->kind != MOR_FIXED && !move_body(k, w->order[i], &code) && !code) break;
    }
    if (code) return code;
    if (k->plan.detail[0]) {
        k->status = MOR_REFUSED;
        return MOR_STOPPED;
    }
    mor_contact* contacts = k->contacts.data;
    for (int i = 0; i < k->contacts.count; i++) { /* of the solve, which does not count */
        contacts[i].impulse = contacts[i].moment = mor_v3(0, 0, 0);
        contacts[i].normal_impulse = 0.0;
    }
    w->step++;
    w->time = w->time_base + w->h * (w->step - w->step_base);
    return MOR_OK;
}

const mor_integrator mor_integrator_event_driven = {
    "event-driven", "exact events, accelerations between them: a reference for few contacts of planar bodies",
    "glocker1992", 5, NULL
};
