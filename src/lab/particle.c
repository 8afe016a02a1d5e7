/* Event-driven reference of the particle experiments.
 *
 * flight   x'' = pull until the parabola crosses a wall from its front, within its ends: the smallest t > 0 with
 *          n.(x + v t + pull t^2/2 - p) = 0 and n.v(t) < 0
 * impact   inelastic, with Coulomb's law for the impulse: v_n = 0, v_t shrinks by mu |v_n|, at most to zero
 * slide    along the wall with pull_t - mu |pull_n| sign(v); ends at rest, at a turning point, at the end of the wall,
 * or in
 *          a corner with another wall
 * rest     for good: the pull is constant
 *
 * These are the limits of the time-stepping schemes as h -> 0 (e = 0). Times of events are roots of quadratics, so the
 * answer is exact to rounding. Hitting a corner head-on is not treated specially: the first wall found counts. Cost
 * O(walls) per event. */
#include "lab/particle.h"

#include <stddef.h>

#define TINY 1e-11

static double cross_z(mor_vec3 a, mor_vec3 b) { return a.x * b.y - a.y * b.x; }

/* Smallest root t > from of a t^2/2 + b t + c where the derivative is negative; HUGE_VAL if none. */
static double crossing(double a, double b, double c, double from)
{
    double best = HUGE_VAL, d = b * b - 2.0 * a * c;
    if (fabs(a) < 1e-300) {
        double t = b < 0.0 ? -c / b : HUGE_VAL;
        return t > from ? t : HUGE_VAL;
    }
    if (d < 0.0) return HUGE_VAL;
    double q = -(b + copysign(sqrt(d), b)), roots[2] = { q / a, q != 0.0 ? 2.0 * c / q : 0.0 };
    for (int i = 0; i < 2; i++)
        if (roots[i] > from && roots[i] < best && a * roots[i] + b < 0.0) best = roots[i];
    return best;
}

static mor_vec3 at(mor_vec3 x, mor_vec3 v, mor_vec3 a, double t) { return mor_madd(mor_madd(x, t, v), 0.5 * t * t, a); }

/* The first wall a motion crosses after `from`, not counting wall `skip`. */
static int first_wall(const mor_wall* walls, int count, mor_vec3 x, mor_vec3 v, mor_vec3 a, int skip, double* when)
{
    int best = -1;
    *when = HUGE_VAL;
    for (int i = 0; i < count; i++) {
        if (i == skip) continue;
        const mor_wall* w = &walls[i];
        double c = mor_dot(w->n, mor_sub(x, w->p));
        double t = crossing(mor_dot(w->n, a), mor_dot(w->n, v), fabs(c) < TINY ? 0.0 : c, -TINY);
        if (!(t < *when) || (c < -TINY && t < TINY)) continue; /* behind its line: it may come before it and cross */
        if (t < 0.0) t = 0.0;
        mor_vec3 p = at(x, v, a, t), e = mor_sub(w->q, w->p);
        double s = mor_dot(mor_sub(p, w->p), e) / mor_dot(e, e);
        if (s < -TINY || s > 1.0 + TINY) continue;
        /* passing a ridge is no hit: at an end the motion must go into the wall's own side */
        if ((s < TINY && mor_dot(v, e) < 0.0 && t < TINY) || (s > 1.0 - TINY && mor_dot(v, e) > 0.0 && t < TINY))
            continue;
        *when = t;
        best = i;
    }
    return best;
}

/* The velocity after an inelastic impact. */
static mor_vec3 impact(const mor_wall* w, mor_vec3 v, double mu)
{
    double vn = mor_dot(w->n, v);
    mor_vec3 t = mor_madd(v, -vn, w->n);
    double speed = mor_norm(t), left = fmax(0.0, speed - mu * fmax(0.0, -vn));
    return speed > 0.0 ? mor_scale(left / speed, t) : mor_v3(0, 0, 0);
}

/* Can friction and normal forces on one wall, or on two, hold the pull? */
static bool holds(const mor_wall* a, const mor_wall* b, mor_vec3 pull, double mu)
{
    mor_vec3 push = mor_neg(pull);
    if (!b) {
        double n = mor_dot(a->n, push), t = cross_z(a->n, push);
        return n >= 0.0 && fabs(t) <= mu * n;
    }
    /* the edges of the two friction cones: the push lies between the outermost */
    double angle = atan(mu), turn = cross_z(a->n, b->n) >= 0.0 ? 1.0 : -1.0;
    mor_quat back = mor_quat_exp(mor_v3(0, 0, -turn * angle)), on = mor_quat_exp(mor_v3(0, 0, turn * angle));
    mor_vec3 from = mor_rotate(back, a->n), to = mor_rotate(on, b->n);
    return turn * cross_z(from, push) >= -TINY && turn * cross_z(push, to) >= -TINY;
}

int mor_particle_exact(const mor_wall* walls, int wall_count, mor_vec3 x, mor_vec3 v, mor_vec3 pull, double mu,
                       double end, mor_phase* phases, int capacity)
{
    double t = 0.0;
    int count = 0, wall = -1, left_wall = -1;
    while (t < end && count < capacity) {
        if (wall < 0) { /* flight */
            double dt;
            int hit = first_wall(walls, wall_count, x, v, pull, left_wall, &dt);
            phases[count++] = (mor_phase){ MOR_FLIGHT, t, x, v, pull, -1 };
            if (hit < 0 || t + dt >= end) break;
            x = at(x, v, pull, dt);
            v = impact(&walls[hit], mor_madd(v, dt, pull), mu);
            t += dt;
            wall = hit;
            left_wall = -1;
            continue;
        }
        const mor_wall* w = &walls[wall];
        mor_vec3 e = mor_sub(w->q, w->p);
        double length = mor_norm(e), press = -mor_dot(w->n, pull);
        e = mor_scale(1.0 / length, e);
        if (press < 0.0) { /* nothing holds it on the wall */
            left_wall = wall;
            wall = -1;
            continue;
        }
        double speed = mor_dot(v, e), along = mor_dot(pull, e), place = mor_dot(mor_sub(x, w->p), e);
        double sign = fabs(speed) > TINY ? copysign(1.0, speed) : copysign(1.0, along);
        if (fabs(speed) <= TINY && (holds(w, NULL, pull, mu) || along == 0.0)) {
            phases[count++] = (mor_phase){ MOR_REST, t, x, { 0, 0, 0 }, { 0, 0, 0 }, wall };
            break;
        }
        if (fabs(speed) <= TINY) speed = 0.0;
        double a = along - mu * press * sign;
        mor_vec3 acceleration = mor_scale(a, e);
        v = mor_scale(speed, e);
        /* the end of the wall ahead, a turning point, another wall */
        double ahead = sign > 0.0 ? length - place : place;
        double end_time = crossing(-sign * a, -fabs(speed), fmax(ahead, 0.0), 0.0);
        if (ahead <= TINY && sign * (speed + a * TINY) >= 0.0) end_time = 0.0;
        double turn_time = speed * a < 0.0 ? -speed / a : HUGE_VAL, hit_time;
        int hit = first_wall(walls, wall_count, x, mor_norm(v) > 0.0 ? v : mor_scale(1e-9, acceleration), acceleration,
                             wall, &hit_time);
        double dt = fmin(fmin(end_time, turn_time), hit_time);
        if (dt > 0.0) phases[count++] = (mor_phase){ MOR_SLIDE, t, x, v, acceleration, wall };
        if (t + dt >= end || dt == HUGE_VAL) break;
        x = at(x, v, acceleration, dt);
        v = mor_madd(v, dt, acceleration);
        t += dt;
        if (hit >= 0 && hit_time <= dt + TINY) { /* a corner */
            mor_vec3 after = impact(&walls[hit], v, mu);
            if (mor_dot(after, w->n) < -TINY || mor_norm(after) < 1e-9) {
                if (holds(w, &walls[hit], pull, mu)) {
                    if (count < capacity)
                        phases[count++] = (mor_phase){ MOR_REST, t, x, { 0, 0, 0 }, { 0, 0, 0 }, hit };
                    break;
                }
                after = mor_v3(0, 0, 0);
            }
            v = after;
            wall = hit;
        } else if (dt == turn_time) {
            v = mor_v3(0, 0, 0);
        } else { /* over the edge */
            left_wall = wall;
            wall = -1;
        }
    }
    return count;
}

mor_vec3 mor_particle_at(const mor_phase* phases, int count, double t)
{
    int i = count - 1;
    while (i > 0 && phases[i].from > t) i--;
    return at(phases[i].x, phases[i].v, phases[i].a, t - phases[i].from);
}
