/* Mechanisms with joints. */
#include "exam/exam.h"

#include <math.h>

#define AREA "mechanisms"

static double pendulum_period(exam* e, double h)
{
    const double a = 1.0;
    exam_open(
        e, h,
        "dimension: 2\nbodies:\n  - { name: b, shape: { box: [1, 0.0001] }, mass: 1, collide: false, position: [%.17g, "
        "%.17g], angle: %.17g }\njoints:\n  - { type: revolute, bodies: [b, world], point: [0, 0] }\n",
        0.5 * sin(a), -0.5 * cos(a), a - EXAM_PI / 2);
    double before = 1, crossing = 0;
    int count = 0;
    while (exam_going(e, 4) && count < 3) {
        exam_step(e);
        double now = exam_body(e, "b").com.x;
        if (now * before < 0) count++, crossing = mor_world_time(e->world) - h * now / (now - before);
        before = now;
    }
    /* rod: w0^2 = 3 g/(2 l); the third crossing is at 5/4 periods, a period is 4 K(sin(a/2))/w0 */
    e->expected = 5 * exam_elliptic(sin(a / 2)) / sqrt(1.5 * EXAM_G);
    return crossing;
}

/* Two rods of length and mass 1 from the horizontal (tests/test_planar_joints.c has the equations). */
static void double_pendulum_rates(double t, const double* y, double* f, const void* user)
{
    (void)t, (void)user;
    double d = y[0] - y[1], a = 4.0 / 3.0, b = 0.5 * cos(d), c = 1.0 / 3.0;
    double p = -0.5 * sin(d) * y[3] * y[3] - 1.5 * EXAM_G * cos(y[0]),
           q = 0.5 * sin(d) * y[2] * y[2] - 0.5 * EXAM_G * cos(y[1]);
    f[0] = y[2], f[1] = y[3];
    f[2] = (c * p - b * q) / (a * c - b * b), f[3] = (a * q - b * p) / (a * c - b * b);
}

static double double_pendulum(exam* e, double h)
{
    exam_open(
        e, h,
        "dimension: 2\nbodies:\n  - { name: a, shape: { box: [1, 0.0000001] }, mass: 1, position: [0.5, 0], collide: "
        "false }\n  - { name: b, shape: { box: [1, 0.0000001] }, mass: 1, position: [1.5, 0], collide: false }\n"
        "joints:\n  - { type: revolute, bodies: [a, world], point: [0, 0] }\n"
        "  - { type: revolute, bodies: [b, a], point: [1, 0] }\n");
    exam_until(e, 1);
    double y[4] = { 0, 0, 0, 0 }, time = 1;
    exam_integrate(double_pendulum_rates, NULL, 4, y, &time, 20000, NULL);
    e->expected = sin(y[0]) + 0.5 * sin(y[1]), e->scale = 1;
    return exam_body(e, "b").com.y;
}

#define CRANK                                                                                                          \
    "dimension: 2\nbodies:\n  - { name: crank, shape: { box: [0.2, 0.02] }, mass: 1, position: [0.1, 0], collide: "    \
    "false, "                                                                                                          \
    "velocity: [0, 1], angular_velocity: 10 }\n"                                                                       \
    "  - { name: rod, shape: { box: [0.5, 0.02] }, mass: 1, position: [0.45, 0], collide: false, velocity: [0, 1], "   \
    "angular_velocity: -4 }\n"

static double slider_crank(exam* e, double h)
{
    exam_open(e, h,
              CRANK "  - { name: slider, shape: { box: [0.1, 0.1] }, mass: 1, position: [0.7, 0], collide: false }\n"
                    "joints:\n  - { type: revolute, bodies: [crank, world], point: [0, 0], motor: { velocity: 10, "
                    "max_torque: 10000 } }\n  - { type: revolute, bodies: [rod, crank], point: [0.2, 0] }\n"
                    "  - { type: revolute, bodies: [slider, rod], point: [0.7, 0] }\n"
                    "  - { type: prismatic, bodies: [slider, world], point: [0.7, 0], axis: [1, 0] }\n");
    exam_until(e, 1);
    e->expected = 0.2 * cos(10.0) + sqrt(0.25 - 0.04 * sin(10.0) * sin(10.0));
    return exam_body(e, "slider").com.x;
}

/* Crank (length 0.2, turning with 10 rad/s), rod (L = 0.5, mass 1) and a slider (mass 1) hinged to it at its centre,
 * between guides with 2 mm of play. Until the slider touches one it does not turn, and the rod swings on the moving pin
 * p(t): (1/3 + 1) L^2 b'' = -(1/2 + 1) L (p_y'' + g, p_x'') . (cos b, -sin b). y = (b, b', t). */
static void clearance_rates(double t, const double* y, double* f, const void* user)
{
    (void)user;
    double L = 0.5, q = 10 * t, ax = -0.2 * 100 * cos(q), ay = -0.2 * 100 * sin(q) + EXAM_G;
    /* I b'' = -(m L/2 + M L) (ay cos b - ax sin b) */
    f[0] = y[1];
    f[1] = -(0.5 * L + L) * (ay * cos(y[0]) - ax * sin(y[0])) / (L * L / 3 + L * L);
    f[2] = 1;
}

/* Gap of the slider, which does not turn, to the guide below or above: 2 mm minus its way from the middle. */
static double clearance_gap(const double* y, const void* user)
{
    (void)user;
    double height = 0.2 * sin(10 * y[2]) + 0.5 * sin(y[0]);
    return 0.002 - fabs(height);
}

static double slider_crank_with_clearance(exam* e, double h)
{
    exam_open(e, h,
              CRANK "  - { name: slider, shape: { box: [0.1, 0.1] }, mass: 1, position: [0.7, 0] }\n"
                    "  - { name: below, shape: { box: [2, 1] }, fixed: true, position: [0.7, -0.552] }\n"
                    "  - { name: above, shape: { box: [2, 1] }, fixed: true, position: [0.7, 0.552] }\n"
                    "joints:\n  - { type: revolute, bodies: [crank, world], point: [0, 0], motor: { velocity: 10, "
                    "max_torque: 10000 } }\n  - { type: revolute, bodies: [rod, crank], point: [0.2, 0] }\n"
                    "  - { type: revolute, bodies: [slider, rod], point: [0.7, 0] }\n");
    double y[3] = { 0, -4, 0 }, time = 1;
    bool touched = !exam_integrate(clearance_rates, NULL, 3, y, &time, 200000, clearance_gap);
    e->expected = touched ? time : NAN;
    /* it touches when its height is that of the play */
    while (exam_going(e, 1) && fabs(exam_body(e, "slider").com.y) < 0.002 - 2e-6) exam_step(e);
    return e->world ? mor_world_time(e->world) : NAN;
}

/* Four bars 0.1, 0.4, 0.3 on a base of 0.4: angle of the rocker by closure after the crank has turned by 2 rad. */
static double four_bar(exam* e, double h)
{
    const double a = 0.1, b = 0.4, c = 0.3, d = 0.4;
    double bx, by, angle[2];
    for (int k = 0; k < 2; k++) {
        double q = k ? 2.0 : 0.0, x = a * cos(q), y = a * sin(q), l2 = (d - x) * (d - x) + y * y, l = sqrt(l2);
        double alpha = acos((b * b + l2 - c * c) / (2 * b * l)), base = atan2(-y, d - x);
        bx = x + b * cos(base + alpha), by = y + b * sin(base + alpha);
        angle[k] = atan2(by, bx - d);
        if (k == 0)
            exam_open(e, h,
                      "dimension: 2\nbodies:\n  - { name: crank, shape: { box: [0.1, 0.01] }, mass: 1, collide: false, "
                      "position: "
                      "[0.05, 0] }\n  - { name: coupler, shape: { box: [0.4, 0.01] }, mass: 1, collide: false, "
                      "position: [%.17g, "
                      "%.17g], angle: %.17g }\n  - { name: rocker, shape: { box: [0.3, 0.01] }, mass: 1, collide: "
                      "false, position: "
                      "[%.17g, %.17g], angle: %.17g }\njoints:\n"
                      "  - { type: revolute, bodies: [crank, world], point: [0, 0], motor: { velocity: 2, max_torque: "
                      "1e5 } }\n"
                      "  - { type: revolute, bodies: [coupler, crank], point: [0.1, 0] }\n"
                      "  - { type: revolute, bodies: [rocker, coupler], point: [%.17g, %.17g] }\n"
                      "  - { type: revolute, bodies: [rocker, world], point: [0.4, 0] }\n",
                      0.5 * (0.1 + bx), 0.5 * by, atan2(by, bx - 0.1), 0.5 * (d + bx), 0.5 * by, angle[0], bx, by);
    }
    exam_until(e, 1);
    mor_vec3 x = exam_body(e, "rocker").com;
    e->expected = angle[1];
    return atan2(x.y, x.x - d);
}

static double oscillator(exam* e, double h)
{
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { box: [0.1, 0.1, 0.1] }, mass: 2, position: [0, 0, 0] }\n"
        "joints:\n  - { type: prismatic, bodies: [b, world], axis: [1, 0, 0], spring: { stiffness: 200, rest: 0.1 } "
        "}\n");
    exam_until(e, 1);
    e->expected = 0.1 - 0.1 * cos(10.0), e->scale = 0.1;
    return exam_body(e, "b").com.x;
}

static double damped_oscillator(exam* e, double h)
{
    const double k = 200, c = 8, m = 2, d = c / (2 * m), w = sqrt(k / m - d * d);
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { box: [0.1, 0.1, 0.1] }, mass: 2, position: [0, 0, 0] }\n"
        "joints:\n  - { type: prismatic, bodies: [b, world], axis: [1, 0, 0], damping: 8, spring: { stiffness: 200, "
        "rest: 0.1 } }\n");
    exam_until(e, 0.5);
    e->expected = 0.1 - 0.1 * exp(-d * 0.5) * (cos(0.5 * w) + d / w * sin(0.5 * w));
    return exam_body(e, "b").com.x;
}

/* A lift stops at its limit: v = 0 where it should. */
static double joint_limit(exam* e, double h)
{
    exam_open(
        e, h,
        "bodies:\n  - { name: b, shape: { box: [0.1, 0.1, 0.1] }, mass: 2, collide: false }\njoints:\n  - { type: "
        "prismatic, bodies: [b, world], axis: [0, 0, 1], limits: [-0.3, 1] }\n");
    exam_until(e, 1);
    e->expected = -0.3;
    return exam_body(e, "b").com.z;
}

/* Dry friction in a hinge stops a disc: w - M t/I. */
static double hinge_friction(exam* e, double h)
{
    exam_open(
        e, h,
        "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { cylinder: { radius: 0.2, length: 0.02 } }, mass: 1, "
        "angular_velocity: [0, 0, 10] }\njoints:\n  - { type: revolute, bodies: [b, world], axis: [0, 0, 1], friction: "
        "0.1 }\n");
    exam_until(e, 1);
    e->expected = 10 - 0.1 / 0.02;
    return exam_body(e, "b").angular_velocity.z;
}

/* --------------------------------------------------------------------------- dominoes */

enum { DOMINOES = 14 };

/* Thin dominoes of height H and distance d, hinged at their feet, smooth faces, no restitution. A domino at angle b
 * has the tip of its neighbour, at angle a, on its face: sin(a - b) = (d/H) cos b. So all that lean move with the
 * front one: kinetic energy J(b) b'^2/2 with J = I sum (da_i/db)^2. Between blows energy is kept; a blow adds a
 * standing one, w := J w/(J + I). Returns the time in which the front goes on by one domino at the end. */
static double domino_time(double H, double ratio, double w)
{
    double I = H * H / 3, J = I, total = 0, first = 0;
    const double reach = asin(ratio);
    for (int front = 0; front < DOMINOES; front++) {
        /* from b = 0 to sin b = ratio; the first one starts with w */
        double E = 0.5 * J * w * w, time = 0, V0 = 0, speed = w, inertia = J;
        for (int k = 0, n = 4000; k <= n; k++) {
            double b = reach * k / n, V = 0, sum = 0, a = b, slope = 1;
            for (int i = 0; i <= front; i++) {
                V += 0.5 * EXAM_G * H * cos(a), sum += slope * slope;
                double c = ratio * cos(a), next = a + asin(c), gain = 1 - ratio * sin(a) / sqrt(1 - c * c);
                slope *= gain, a = next;
            }
            if (k == 0) V0 = V;
            inertia = I * sum;
            speed = sqrt(2 * (E + V0 - V) / inertia);
            time += (k == 0 || k == n ? 0.5 : 1.0) * reach / n / speed;
        }
        w = inertia * speed / (inertia + I), J = inertia + I;
        if (front == 3) first = total + time;
        total += time;
    }
    return (total - first) / (DOMINOES - 4);
}

static double domino_wave(exam* e, double h)
{
    const double H = 0.1, d = 0.04, w = 3;
    /* hinges at the feet on the world: one entry per domino */
    char text[12000];
    int n = snprintf(text, sizeof text, "dimension: 2\nmaterials: { default: { friction: 0 } }\nbodies:\n");
    for (int i = 0; i <= DOMINOES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - { name: d%d, shape: { box: [0.00002, 0.1] }, mass: 1, position: [%g, 0.05]%s }\n", i, d * i,
                      i ? "" : ", velocity: [0.15, 0], angular_velocity: -3");
    n += snprintf(text + n, sizeof text - (size_t)n, "joints:\n");
    for (int i = 0; i <= DOMINOES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - { type: revolute, bodies: [d%d, world], point: [%g, 0] }\n", i, d * i);
    exam_open(e, h, "%s", text);
    double struck[2] = { 0, 0 };
    char name[2][8];
    snprintf(name[0], sizeof name[0], "d%d", 4), snprintf(name[1], sizeof name[1], "d%d", DOMINOES);
    while (exam_going(e, 3) && struck[1] == 0) {
        exam_step(e);
        for (int k = 0; k < 2; k++)
            if (struck[k] == 0 && fabs(exam_body(e, name[k]).angular_velocity.z) > 0.1)
                struck[k] = mor_world_time(e->world);
    }
    e->expected = d / domino_time(H, d / H, w);
    return d * (DOMINOES - 4) / (struck[1] - struck[0]);
}

/* A bar on two strings of length l, d aside of its middle: 5/4 periods of 2 pi sqrt(I l/(m g d^2)). */
static double bifilar(exam* e, double h)
{
    const double l = 0.8, d = 0.3, turn = 0.02, x = d * cos(turn), y = d * sin(turn);
    const double up = sqrt(l * l - (d - x) * (d - x) - y * y);
    exam_open(
        e, h,
        "bodies:\n  - { name: b, shape: { box: [1, 0.04, 0.04] }, mass: 2, position: [0, 0, 0], orientation: { axis: "
        "[0, 0, 1], angle: %.17g } }\njoints:\n"
        "  - { name: p, type: distance, bodies: [b, world], points: [[%.17g, %.17g, 0], [0.3, 0, %.17g]] }\n"
        "  - { name: q, type: distance, bodies: [b, world], points: [[%.17g, %.17g, 0], [-0.3, 0, %.17g]] }\n",
        turn * 180 / EXAM_PI, x, y, up, -x, -y, up);
    const double inertia = (1 + 0.04 * 0.04) / 12; /* over the mass */
    e->expected = 1.25 * 2 * EXAM_PI * sqrt(inertia * l / (EXAM_G * d * d));
    double before = 1, after = 1, sign = 1;
    int zeros = 0;
    while (exam_going(e, 10) && zeros < 3) {
        before = after;
        exam_step(e);
        mor_quat q = exam_body(e, "b").pose.rotation;
        after = q.z * q.w;
        if (after * sign < 0) zeros++, sign = -sign;
    }
    return mor_world_time(e->world) - h * after / (after - before);
}

const experiment exam_mechanisms[] = {
    { AREA, "5/4 periods of a pendulum, 57 degrees", "elliptic integral", "s", 0.001, 2e-3, pendulum_period, 0, 0, 0 },
    { AREA, "double pendulum in the plane after 1 s", "reduced equations", "m", 0.001, 1e-2, double_pendulum, 0, 0, 0 },
    { AREA, "slider-crank", "closure", "m", 0.001, 1e-3, slider_crank, 0, 0, 0 },
    { AREA, "slider-crank with clearance: first touch", "reduced equations", "s", 0.0001, 1e-2,
      slider_crank_with_clearance, 0, 0, 0 },
    { AREA, "rocker of four bars", "closure", "rad", 0.001, 1e-3, four_bar, 0, 0, 0 },
    { AREA, "mass on a spring after 1 s", "cosine", "m", 0.001, 1e-3, oscillator, 0, 0, 0 },
    { AREA, "damped mass on a spring", "closed form", "m", 0.001, 1e-3, damped_oscillator, 0, 0, 0 },
    { AREA, "lift that falls on its limit", "the limit", "m", 0.01, 1e-5, joint_limit, 0, 0, 0 },
    { AREA, "disc slowed by a dry hinge", "w - M t/I", "rad/s", 0.01, 1e-6, hinge_friction, 0, 0, 0 },
    { AREA, "speed of a wave of dominoes", "energy and blows, integrated", "m/s", 0.0001, 1e-2, domino_wave, 0, 0,
      true },
    { AREA, "5/4 periods of a bifilar pendulum", "small angles", "s", 0.001, 2e-3, bifilar, 0, 0, 0 },
    { 0 }
};
