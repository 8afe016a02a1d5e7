/* Rolling of round bodies. */
#include "exam/exam.h"

#include <math.h>

#define AREA "rolling"

static double sliding_to_rolling(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.1], velocity: [2, 0, 0] "
              "}\n" EXAM_FLOOR);
    exam_until(e, 1);
    e->expected = 2 * 5.0 / 7;
    return exam_body(e, "b").velocity.x;
}

/* x at 1 s: v0 t - mu g t^2/2 until t = 2 v0/(7 mu g), then 5/7 v0. */
static double way_to_rolling(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.1], velocity: [2, 0, 0] "
              "}\n" EXAM_FLOOR);
    exam_until(e, 1);
    double t = 4 / (7 * 0.5 * EXAM_G);
    e->expected = 2 * t - 0.25 * EXAM_G * t * t + (1 - t) * 10 / 7;
    return exam_body(e, "b").com.x;
}

static double down(exam* e, double h, const char* shape, const char* more, double factor, double z)
{
    const double a = 0.3;
    exam_open(e, h,
              "gravity: [%.17g, 0, %.17g]\nbodies:\n  - { name: b, shape: { %s }, mass: 1, position: [0, 0, %g]%s "
              "}\n" EXAM_FLOOR,
              EXAM_G * sin(a), -EXAM_G * cos(a), shape, z, more);
    exam_until(e, 1);
    e->expected = factor * EXAM_G * sin(a);
    return exam_body(e, "b").velocity.x;
}

static double sphere_down(exam* e, double h) { return down(e, h, "sphere: 0.1", "", 5.0 / 7, 0.1); }
static double cylinder_down(exam* e, double h)
{
    return down(e, h, "cylinder: { radius: 0.1, length: 0.3 }, axis: y", "", 2.0 / 3, 0.1);
}
static double hollow_down(exam* e, double h)
{
    return down(e, h, "sphere: 0.1",
                ", inertia: [0.0066666666666666667, 0.0066666666666666667, 0.0066666666666666667, 0, 0, 0]", 0.6, 0.1);
}

static double rolling_friction(exam* e, double h)
{
    exam_open(e, h,
              "materials: { m: { friction: 0.5, rolling: 0.002 } }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, "
              "material: m, mass: 1, position: [0, 0, 0.1], velocity: [1, 0, 0], angular_velocity: [0, 10, 0] "
              "}\n" EXAM_FLOOR);
    exam_until(e, 3);
    e->expected = 1 - 3 * 0.002 * EXAM_G / (1.4 * 0.1);
    return exam_body(e, "b").velocity.x;
}

static bool ball_rests(exam* e, double h, double c)
{
    exam_open(
        e, h,
        "gravity: [%.17g, 0, %.17g]\nmaterials: { m: { friction: 0.5, rolling: %.17g } }\nbodies:\n  - { name: b, "
        "shape: { sphere: 0.1 }, material: m, mass: 1, position: [0, 0, 0.1] }\n" EXAM_FLOOR,
        EXAM_G * sin(0.1), -EXAM_G * cos(0.1), c);
    exam_until(e, 0.2);
    return exam_body(e, "b").velocity.x < 1e-7;
}

static double rolling_threshold(exam* e, double h)
{
    e->expected = 0.1 * tan(0.1);
    return exam_threshold(e, h, 0.005, 0.02, ball_rests);
}

/* A disc rolls off a fixed one without friction: it leaves where the cosine of the angle is 2/3. */
static double leaves_a_sphere(exam* e, double h)
{
    const double a = 0.05;
    exam_open(e, h,
              "materials: { default: { friction: 0 } }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, "
              "position: [%.17g, 0, %.17g] }\n  - { name: hill, shape: { sphere: 1 }, fixed: true }\n",
              1.1 * sin(a), 1.1 * cos(a));
    mor_vec3 x = mor_v3(0, 0, 1);
    while (exam_going(e, 5) && mor_norm(exam_body(e, "b").com) < 1.11) {
        exam_step(e);
        if (mor_norm(exam_force(e, "b")) > 0.01) x = exam_body(e, "b").com; /* the last place with a force */
    }
    e->expected = 2.0 / 3 * cos(a);
    return x.z / mor_norm(x);
}

/* A ball on a turntable runs in a circle with 2/7 of its angular velocity. */
static double turntable(exam* e, double h)
{
    exam_open(
        e, h,
        "bodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0.5, 0, 0.1], velocity: [0, 0.5, 0], "
        "angular_velocity: [%.17g, 0, 0] }\n  - { name: table, shape: { cylinder: { radius: 5, length: 0.2 } }, "
        "position: [0, 0, -0.1], kinematic: { angular_velocity: [0, 0, 7] } }\n",
        /* v = w x z + W x r at the contact: w_x = (3.5 - 0.5)/0.1 */ 30.0);
    exam_until(e, 1);
    mor_vec3 v = exam_body(e, "b").velocity;
    /* v' = 2/7 W z x v */
    e->expected = 0.5 * cos(2.0), e->scale = 0.5;
    return v.y;
}

/* Balls on a pushed box (n = 1): f1 = mu (M + m) g, f2 = (F - f1)/M/(3.5/m + 1/M), a_ball = f2/m. */
static double ball_on_a_pushed_box(exam* e, double h)
{
    exam_open(
        e, h,
        "materials: { box: { friction: 0.8 }, floor: { friction: 0.8 } }\npairs: [ { materials: [box, floor], "
        "friction: "
        "0.4 } ]\nbodies:\n  - { name: box, shape: { box: [10, 10, 0.1] }, mass: 10, material: box, position: [0, 0, "
        "0.05] }\n  - { name: ball, shape: { sphere: 0.1 }, mass: 1, material: box, position: [0, 0, 0.2] }\n"
        "  - { name: floor, shape: plane, material: floor, fixed: true }\n"
        "forces: [ { body: box, force: [75, 129.9, 0] } ]\n");
    exam_until(e, 1);
    double F = hypot(75, 129.9), f1 = 0.4 * 11 * EXAM_G, f2 = (F - f1) / 10 / (3.5 + 0.1);
    e->expected = f2;
    mor_vec3 v = exam_body(e, "ball").velocity;
    return hypot(v.x, v.y);
}

/* An ellipsoid rocks on its flat side: w^2 = g (rho - c)/(I/m + c^2), rho = a^2/c. */
static double rocking_ellipsoid(exam* e, double h)
{
    const double a = 0.3, c = 0.1, tilt = 1e-3, w = sqrt(EXAM_G * (a * a / c - c) / ((a * a + c * c) / 5 + c * c));
    exam_open(
        e, h,
        "materials: { default: { friction: 5 } }\nbodies:\n  - { name: egg, shape: { ellipsoid: [0.3, 0.2, 0.1] }, "
        "mass: 1, position: [0, 0, %.17g], orientation: { axis: [0, 1, 0], angle: %.17g } }\n" EXAM_FLOOR,
        sqrt(c * c * cos(tilt) * cos(tilt) + a * a * sin(tilt) * sin(tilt)), tilt * 180 / EXAM_PI);
    double before = tilt, time = 0, crossing = 0;
    int turns = 0;
    while (exam_going(e, 3) && turns < 4) {
        exam_step(e);
        double now = 2 * exam_body(e, "egg").pose.rotation.y;
        time = mor_world_time(e->world);
        if (now * before < 0) turns++, crossing = time - h * now / (now - before);
        before = now;
    }
    e->expected = 1.75 * 2 * EXAM_PI / w;
    return crossing;
}

static double smooth_ball_keeps_speed(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.1], velocity: [1, 0.5, 0], "
              "angular_velocity: [-5, 10, 3] }\n" EXAM_FLOOR);
    exam_until(e, 10);
    e->expected = 10;
    return exam_body(e, "b").com.x;
}

static double rolls_out(exam* e, double h)
{
    exam_open(e, h,
              "materials: { m: { friction: 0.6, rolling: 0.003 } }\nbodies:\n  - { name: b, shape: { sphere: 0.15 }, "
              "material: m, mass: 1, position: [0, 0, 0.15], velocity: [1.2, 0, 0], angular_velocity: [0, 8, 0] }\n"
              "  - { name: floor, shape: plane, fixed: true, material: m }\n");
    exam_until(e, 10);
    e->expected = 1.2 * 1.2 * 1.4 * 0.15 / (2 * 0.003 * EXAM_G);
    return exam_body(e, "b").com.x;
}

/* A capsule across the slope: cylinder and two halves of a ball. */
static double capsule_rolls_down(exam* e, double h)
{
    const double a = 0.3, r = 0.1, L = 0.5, cylinder = L, ends = 4 * r / 3;
    exam_open(
        e, h,
        "gravity: [%.17g, 0, %.17g]\nbodies:\n  - { name: b, shape: { capsule: { radius: 0.1, length: 0.5 }, axis: "
        "y }, mass: 3, position: [0, 0, 0.1] }\n" EXAM_FLOOR,
        EXAM_G * sin(a), -EXAM_G * cos(a));
    exam_until(e, 1);
    e->expected = EXAM_G * sin(a) / (1 + (0.5 * cylinder + 0.4 * ends) / (cylinder + ends));
    return exam_body(e, "b").velocity.x;
}

const experiment exam_rolling[] = {
    { AREA, "speed of a ball that slid and rolls", "5/7 v", "m/s", 0.01, 1e-6, sliding_to_rolling, 0, 0, 0 },
    { AREA, "way of a ball that slid and rolls", "uniform slowing, then 5/7 v", "m", 0.001, 2e-3, way_to_rolling, 0, 0,
      0 },
    { AREA, "ball down a slope", "5/7 g sin a t", "m/s", 0.01, 1e-6, sphere_down, 0, 0, 0 },
    { AREA, "cylinder down a slope", "2/3 g sin a t", "m/s", 0.01, 1e-6, cylinder_down, 0, 0, 0 },
    { AREA, "hollow ball down a slope", "3/5 g sin a t", "m/s", 0.01, 1e-6, hollow_down, 0, 0, 0 },
    { AREA, "ball slowed by rolling friction", "v - c g t/(1.4 R)", "m/s", 0.01, 1e-6, rolling_friction, 0, 0, 0 },
    { AREA, "least rolling friction of rest", "R tan a", "m", 0.01, 1e-4, rolling_threshold, 0, 0, 0 },
    { AREA, "where a smooth ball leaves a sphere", "2/3 of the height", "", 0.0005, 1e-2, leaves_a_sphere, 0, 0, 0 },
    { AREA, "ball on a turntable", "circle with 2/7 W", "m/s", 0.001, 1e-2, turntable, 0, 0, 0 },
    { AREA, "ball on a box pushed askew", "Newton's law", "m/s", 0.005, 1e-4, ball_on_a_pushed_box, 0, 0, 0 },
    { AREA, "1.75 periods of a rocking ellipsoid", "small angles", "s", 0.0005, 3e-3, rocking_ellipsoid, 0, 0, 0 },
    { AREA, "ball that rolls for 10 s", "v t", "m", 0.01, 1e-6, smooth_ball_keeps_speed, 0, 0, 0 },
    { AREA, "way of a ball stopped by rolling friction", "1.4 R v^2/(2 c g)", "m", 0.005, 5e-3, rolls_out, 0, 0, 0 },
    { AREA, "capsule down a slope", "g sin a t/(1 + I/(m r^2))", "m/s", 0.01, 1e-6, capsule_rolls_down, 0, 0, 0 },
    { 0 }
};
