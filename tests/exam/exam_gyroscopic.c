/* Spinning bodies. */
#include "exam/exam.h"

#include <math.h>

#define AREA "gyroscopic"

/* A symmetric body turns about its momentum with L/I_1. */
static double free_precession(exam* e, double h)
{
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { box: [0.2, 0.2, 0.6] }, mass: 1, inertia: [0.04, 0.04, "
        "0.01, 0, 0, 0], angular_velocity: [3, 0, 12] }\n");
    exam_until(e, 1);
    /* axis about L = (0.12, 0, 0.12) with |L|/I_1: its y is sin(tilt) sin(rate t) with tilt 45 degrees */
    double L = 0.12 * sqrt(2);
    e->expected = -sin(EXAM_PI / 4) * sin(L / 0.04), e->scale = 1;
    mor_vec3 z = mor_rotate(exam_body(e, "b").pose.rotation, mor_v3(0, 0, 1));
    return z.y;
}

/* Tennis racket: the time between two flips about the middle axis is 2 K(k)/... of Euler's equations. */
static double flips(exam* e, double h)
{
    const double I[3] = { 1, 2, 3 }, w[3] = { 1e-3, 5, 0 };
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { box: [1, 1, 1] }, mass: 1, inertia: [1, 2, 3, 0, 0, 0], "
        "angular_velocity: [0.001, 5, 0] }\n");
    double T2 = 0, L2 = 0;
    for (int i = 0; i < 3; i++) T2 += I[i] * w[i] * w[i], L2 += I[i] * I[i] * w[i] * w[i];
    /* rate and modulus after Landau and Lifschitz, Mechanics, section 37, with the axes 3 and 1 exchanged */
    double A = I[2], B = I[1], C = I[0];
    double rate = sqrt((C - B) * (L2 - A * T2) / (A * B * C)),
           k = sqrt((B - A) * (T2 * C - L2) / ((C - B) * (L2 - A * T2)));
    if (k > 1) {
        rate *= k;
        k = 1 / k;
    }
    double quarter = exam_elliptic(k) / rate, before = 5;
    int crossings = 0;
    double first = 0, second = 0;
    while (exam_going(e, 12) && crossings < 2) {
        exam_step(e);
        mor_body_state s = exam_body(e, "b");
        double now = mor_unrotate(s.pose.rotation, s.angular_velocity).y;
        if (now * before < 0) {
            double t = mor_world_time(e->world) - h * now / (now - before);
            if (crossings++ == 0) first = t;
            else second = t;
        }
        before = now;
    }
    e->expected = 2 * quarter;
    return second - first;
}

/* Steady precession of a heavy top at 60 degrees: I_1 cos(a) W^2 - I_3 w_3 W + m g l = 0, the slow root. */
static double heavy_top(exam* e, double h)
{
    const double m = 1, l = 0.2, I1 = 0.01, I3 = 0.004, a = EXAM_PI / 3, w3 = 300;
    const double A = (I1 + m * l * l) * cos(a), B = I3 * w3, W = (B - sqrt(B * B - 4 * A * m * EXAM_G * l)) / (2 * A);
    mor_vec3 axis = mor_v3(sin(a), 0, cos(a));
    /* spin along the axis so that the total component is w3, plus precession about z */
    mor_vec3 w = mor_add(mor_v3(0, 0, W), mor_scale(w3 - W * cos(a), axis));
    mor_vec3 v = mor_cross(w, mor_scale(l, axis));
    exam_open(
        e, h,
        "bodies:\n  - { name: top, shape: { sphere: 0.05 }, mass: 1, collide: false, inertia: [0.01, 0.01, 0.004, 0, "
        "0, 0], position: [%.17g, 0, %.17g], orientation: { rpy: [0, 60, 0] }, velocity: [%.17g, %.17g, %.17g], "
        "angular_velocity: [%.17g, %.17g, %.17g] }\njoints:\n  - { type: spherical, bodies: [top, world] }\n",
        l * axis.x, l * axis.z, v.x, v.y, v.z, w.x, w.y, w.z);
    exam_until(e, 1);
    mor_vec3 x = exam_body(e, "top").com;
    e->expected = W;
    return atan2(x.y, x.x);
}

static double conical_pendulum(exam* e, double h)
{
    const double l = 1, a = 0.5, w = sqrt(EXAM_G / (l * cos(a)));
    exam_open(
        e, h,
        "bodies:\n  - { name: b, shape: { sphere: 0.01 }, mass: 1, inertia: [1e-9, 1e-9, 1e-9, 0, 0, 0], collide: "
        "false, position: [%.17g, 0, %.17g], velocity: [0, %.17g, 0] }\njoints:\n  - { type: distance, bodies: [b, "
        "world], points: [[%.17g, 0, %.17g], [0, 0, 0]] }\n",
        l * sin(a), -l * cos(a), w * l * sin(a), l * sin(a), -l * cos(a));
    exam_until(e, 1);
    mor_vec3 x = exam_body(e, "b").com;
    e->expected = w;
    double turn = atan2(x.y, x.x);
    return turn < 0 ? turn + 2 * EXAM_PI : turn;
}

static double momentum_kept(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { box: [0.1, 0.3, 0.7] }, mass: 1, angular_velocity: "
              "[9, 7, "
              "1] }\n");
    double before[6], after[6];
    if (!e->world) return NAN;
    mor_world_momentum(e->world, before);
    exam_until(e, 20);
    mor_world_momentum(e->world, after);
    e->expected = before[3];
    return after[3];
}

static double energy_kept(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { box: [0.1, 0.3, 0.7] }, mass: 1, angular_velocity: "
              "[9, 7, "
              "1] }\n");
    if (!e->world) return NAN;
    e->expected = mor_world_kinetic_energy(e->world);
    exam_until(e, 20);
    return mor_world_kinetic_energy(e->world);
}

/* --------------------------------------------------------------------------- the rattleback */

/* An ellipsoid whose principal axes are turned by `skew` about the vertical of its rest against those of the surface
 * rolls without slip on the plane. In body axes, with the unit vertical g, the vector r from the centre to the contact
 * and the angular velocity w: r = -D g/sqrt(g.D g), D = diag(a^2, b^2, c^2), and g' = g x w. */
typedef struct rattleback {
    double D[3], J[9], m;
} rattleback;

static mor_vec3 times(const double* J, mor_vec3 w)
{
    return mor_v3(J[0] * w.x + J[1] * w.y + J[2] * w.z, J[3] * w.x + J[4] * w.y + J[5] * w.z,
                  J[6] * w.x + J[7] * w.y + J[8] * w.z);
}

static mor_vec3 contact_of(const rattleback* k, mor_vec3 g)
{
    mor_vec3 d = mor_v3(k->D[0] * g.x, k->D[1] * g.y, k->D[2] * g.z);
    return mor_scale(-1.0 / sqrt(mor_dot(g, d)), d);
}

/* y = (g, w). The centre moves with v = -w x r, r from the centre to the contact (no slip), so in body axes
 * F = m (dv/dt + w x v + g0 g) and J w' + w x J w = r x F, dv/dt = -(w' x r) - w x r'. */
static void rattleback_rates(double t, const double* y, double* f, const void* user)
{
    (void)t;
    const rattleback* k = user;
    mor_vec3 g = mor_v3(y[0], y[1], y[2]), w = mor_v3(y[3], y[4], y[5]), dg = mor_cross(g, w), r = contact_of(k, g);
    mor_vec3 d = mor_v3(k->D[0] * g.x, k->D[1] * g.y, k->D[2] * g.z),
             dd = mor_v3(k->D[0] * dg.x, k->D[1] * dg.y, k->D[2] * dg.z);
    double s = sqrt(mor_dot(g, d)), ds = mor_dot(dg, d) / s;
    mor_vec3 dr = mor_add(mor_scale(-1.0 / s, dd), mor_scale(ds / (s * s), d)), v = mor_neg(mor_cross(w, r));
    mor_vec3 rest = mor_add(mor_add(mor_neg(mor_cross(w, dr)), mor_cross(w, v)), mor_scale(EXAM_G, g));
    mor_vec3 b = mor_sub(mor_scale(k->m, mor_cross(r, rest)), mor_cross(w, times(k->J, w)));
    /* (J + m (r.r I - r r')) w' = b, by Cramer's rule */
    double rr = mor_dot(r, r), x[3] = { r.x, r.y, r.z }, A[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) A[3 * i + j] = k->J[3 * i + j] + k->m * ((i == j ? rr : 0.0) - x[i] * x[j]);
    mor_vec3 c0 = mor_v3(A[0], A[3], A[6]), c1 = mor_v3(A[1], A[4], A[7]), c2 = mor_v3(A[2], A[5], A[8]);
    double det = mor_dot(c0, mor_cross(c1, c2));
    f[0] = dg.x, f[1] = dg.y, f[2] = dg.z;
    f[3] = mor_dot(b, mor_cross(c1, c2)) / det, f[4] = mor_dot(c0, mor_cross(b, c2)) / det,
    f[5] = mor_dot(c0, mor_cross(c1, b)) / det;
}

static double spin_of(const double* y, const void* user)
{
    (void)user;
    return y[0] * y[3] + y[1] * y[4] + y[2] * y[5]; /* about the vertical */
}

double exam_rattleback(exam* e, double h, const exam_stone* n)
{
    const double a = n->half[0], b = n->half[1], c = n->half[2], skew = n->skew, J1 = n->inertia[0], J2 = n->inertia[1],
                 J3 = n->inertia[2], spin = n->spin, tilt = n->tilt;
    double cs = cos(skew), sn = sin(skew);
    rattleback k = { { a * a, b * b, c * c },
                     { J1 * cs * cs + J2 * sn * sn, (J1 - J2) * cs * sn, 0, (J1 - J2) * cs * sn,
                       J1 * sn * sn + J2 * cs * cs, 0, 0, 0, J3 },
                     1.0 };
    mor_quat q = mor_quat_axis_angle(mor_v3(0, 1, 0), tilt);
    mor_vec3 g = mor_unrotate(q, mor_v3(0, 0, 1)), w = mor_scale(spin, g), r = contact_of(&k, g);
    double y[6] = { g.x, g.y, g.z, w.x, w.y, w.z }, time = 20;
    bool turned = !exam_integrate(rattleback_rates, &k, 6, y, &time, 400000, spin_of);
    e->expected = turned ? time : NAN;
    mor_vec3 world_w = mor_rotate(q, w), arm = mor_rotate(q, r), v = mor_neg(mor_cross(world_w, arm));
    exam_open(
        e, h,
        "materials: { default: { friction: 20 } }\nbodies:\n  - { name: b, shape: { ellipsoid: [%g, %g, %g] }, mass: "
        "1, "
        "inertia: [%.17g, %.17g, %.17g, %.17g, 0, 0], position: [0, 0, %.17g], orientation: { axis: [0, 1, 0], angle: "
        "%.17g }, velocity: [%.17g, %.17g, %.17g], angular_velocity: [%.17g, %.17g, %.17g] }\n" EXAM_FLOOR,
        a, b, c, k.J[0], k.J[4], k.J[8], k.J[1], -arm.z, tilt * 180 / EXAM_PI, v.x, v.y, v.z, world_w.x, world_w.y,
        world_w.z);
    while (exam_going(e, 20) && exam_body(e, "b").angular_velocity.z > 0) exam_step(e);
    return e->world ? mor_world_time(e->world) : NAN;
}

static double reversal(exam* e, double h)
{
    return exam_rattleback(e, h, &(exam_stone){ { 0.2, 0.03, 0.02 }, { 2e-4, 1.6e-3, 1.7e-3 }, 0.3, 5, 0.01 });
}

const experiment exam_gyroscopic[] = {
    { AREA, "axis of a free symmetric body after 1 s", "L/I_1", "", 0.001, 1e-3, free_precession, 0, 0, 0 },
    { AREA, "time between two flips of a racket", "elliptic integral", "s", 0.002, 1e-3, flips, 0, 0, 0 },
    { AREA, "angular momentum of a tumbling box, 20 s", "kept", "kg m^2/s", 0.01, 1e-12, momentum_kept, 0, 0, 0 },
    { AREA, "energy of a tumbling box, 20 s", "kept", "J", 0.01, 1e-9, energy_kept, 0, 0, 0 },
    { AREA, "precession of a fast top in 1 s", "slow root", "rad", 0.0002, 1e-2, heavy_top, 0, 0, 0 },
    { AREA, "conical pendulum in 1 s", "sqrt(g/(l cos a)) t", "rad", 0.001, 1e-3, conical_pendulum, 0, 0, 0 },
    { AREA, "when a rattleback reverses its spin", "rolling without slip, integrated", "s", 0.0001, 1e-2, reversal, 0,
      0, true },
    { 0 }
};
