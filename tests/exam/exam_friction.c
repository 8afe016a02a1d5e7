/* Dry friction: sliding, stopping, sticking. */
#include "exam/exam.h"

#include <math.h>

#define AREA "friction"
#define BOX "shape: { box: [0.2, 0.2, 0.1] }, mass: 1, position: [0, 0, 0.05]"

static double slide_down(exam* e, double h)
{
    const double a = 0.5, mu = 0.3;
    exam_open(e, h,
              "gravity: [%.17g, 0, %.17g]\nmaterials: { default: { friction: 0.3 } }\nbodies:\n  - { name: b, " BOX
              " }\n" EXAM_FLOOR,
              EXAM_G * sin(a), -EXAM_G * cos(a));
    exam_until(e, 1);
    e->expected = EXAM_G * (sin(a) - mu * cos(a));
    return exam_body(e, "b").velocity.x;
}

static double stopping_way(exam* e, double h)
{
    exam_open(e, h, "bodies:\n  - { name: b, " BOX ", velocity: [2, 0, 0] }\n" EXAM_FLOOR);
    exam_until(e, 1);
    e->expected = 4 / (2 * 0.5 * EXAM_G);
    return exam_body(e, "b").com.x;
}

static double onto_a_belt(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, " BOX " }\n"
              "  - { name: belt, shape: plane, fixed: true, surface_velocity: [1, 0, 0] }\n");
    exam_until(e, 1);
    double t = 1 / (0.5 * EXAM_G);
    e->expected = 0.5 * t + (1 - t);
    return exam_body(e, "b").com.x;
}

static void oblique(double t, const double* y, double* f, const void* user)
{
    (void)t, (void)user;
    double speed = hypot(y[2], y[3]), a = 0.3, mu = 0.2;
    f[0] = y[2], f[1] = y[3];
    f[2] = EXAM_G * (sin(a) - mu * cos(a) * y[2] / speed), f[3] = -EXAM_G * mu * cos(a) * y[3] / speed;
}

static double across_a_slope(exam* e, double h)
{
    const double a = 0.3;
    exam_open(e, h,
              "gravity: [%.17g, 0, %.17g]\nmaterials: { default: { friction: 0.2 } }\nbodies:\n  - { name: b, shape: { "
              "sphere: 0.05 }, mass: 1, inertia: [1e6, 1e6, 1e6, 0, 0, 0], position: [0, 0, 0.05], velocity: [0, 2, "
              "0] }\n" EXAM_FLOOR,
              EXAM_G * sin(a), -EXAM_G * cos(a));
    exam_until(e, 1);
    double y[4] = { 0, 0, 0, 2 }, time = 1;
    exam_integrate(oblique, NULL, 4, y, &time, 20000, NULL);
    e->expected = y[1];
    return exam_body(e, "b").com.y;
}

static double pulled_from_below(exam* e, double h)
{
    exam_open(
        e, h,
        "materials: { a: { friction: 0.2 }, f: { friction: 0.1 } }\npairs: [ { materials: [a, f], friction: 0.1 } "
        "]\nbodies:\n"
        "  - { name: low, shape: { box: [2, 0.4, 0.1] }, mass: 2, material: a, position: [0, 0, 0.05] }\n"
        "  - { name: top, shape: { box: [0.2, 0.2, 0.1] }, mass: 1, material: a, position: [-0.5, 0, 0.15] }\n"
        "  - { name: floor, shape: plane, material: f, fixed: true }\n"
        "forces: [ { body: low, force: [15, 0, 0] } ]\n");
    exam_until(e, 0.5);
    e->expected = 0.5 * (15 - 0.2 * EXAM_G - 0.1 * 3 * EXAM_G) / 2;
    return exam_body(e, "low").velocity.x;
}

/* A block on a moving floor, held by a spring: it goes with the floor until k x = mu m g. */
static double first_slip(exam* e, double h)
{
    exam_open(
        e, h,
        "bodies:\n  - { name: b, shape: { box: [0.1, 0.1, 0.1] }, mass: 1, position: [0, 0, 0.05], velocity: [0.1, 0, "
        "0] }\n  - { name: belt, shape: plane, fixed: true, surface_velocity: [0.1, 0, 0] }\n"
        "joints:\n  - { type: distance, bodies: [b, world], points: [[0, 0, 0.05], [-5, 0, 0.05]], length: 5, spring: "
        "{ stiffness: 50 } }\n");
    while (exam_going(e, 3) && exam_body(e, "b").velocity.x > 0.1 - 1e-6) exam_step(e);
    e->expected = 0.5 * EXAM_G / 50 / 0.1;
    return e->world ? mor_world_time(e->world) : NAN;
}

static double no_creep(exam* e, double h)
{
    exam_open(e, h, "gravity: [%.17g, 0, %.17g]\nbodies:\n  - { name: b, " BOX " }\n" EXAM_FLOOR, EXAM_G * sin(0.45),
              -EXAM_G * cos(0.45));
    exam_until(e, 20);
    e->expected = 0, e->scale = 1;
    return exam_body(e, "b").com.x;
}

/* The loads of the supports change as the plank slides; their sum is m g whatever the place. */
static double plank_on_supports(exam* e, double h)
{
    exam_open(
        e, h,
        "materials: { default: { friction: 0.2 } }\nbodies:\n"
        "  - { name: plank, shape: { box: [3, 0.2, 0.05] }, mass: 1, position: [0, 0, 0.125], velocity: [1, 0, 0] }\n"
        "  - { name: a, shape: { sphere: 0.1 }, fixed: true, position: [-0.6, 0, 0] }\n"
        "  - { name: b, shape: { sphere: 0.1 }, fixed: true, position: [0.6, 0.05, 0] }\n"
        "  - { name: c, shape: { sphere: 0.1 }, fixed: true, position: [0.6, -0.05, 0] }\n");
    exam_until(e, 0.3);
    e->expected = 1 - 0.3 * 0.2 * EXAM_G;
    return exam_body(e, "plank").velocity.x;
}

/* A plank on two rollers that turn against each other, half distance a, its centre c above them: friction mu N of both
 * and moments, w^2 = mu g/(a - mu c). */
static double plank_on_rollers(exam* e, double h)
{
    const double mu = 0.3, a = 0.5, c = 0.025, w = sqrt(mu * EXAM_G / (a - mu * c));
    exam_open(
        e, h,
        "materials: { default: { friction: 0.3 } }\nbodies:\n"
        "  - { name: plank, shape: { box: [3, 0.2, 0.05] }, mass: 1, position: [0.1, 0, 0.125] }\n"
        "  - { name: l, shape: { cylinder: { radius: 0.1, length: 0.3 }, axis: y }, kinematic: { angular_velocity: [0, "
        "30, 0] }, position: [-0.5, 0, 0] }\n"
        "  - { name: r, shape: { cylinder: { radius: 0.1, length: 0.3 }, axis: y }, kinematic: { angular_velocity: [0, "
        "-30, 0] }, position: [0.5, 0, 0] }\n");
    exam_until(e, 2);
    e->expected = 0.1 * cos(2 * w), e->scale = 0.1;
    return exam_body(e, "plank").com.x;
}

static double drilling(exam* e, double h)
{
    exam_open(e, h,
              "materials: { m: { friction: 0.5, drilling: 0.002 } }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, "
              "material: m, mass: 1, position: [0, 0, 0.1], angular_velocity: [0, 0, 20] }\n" EXAM_FLOOR);
    exam_until(e, 2);
    e->expected = 20 - 2 * 0.002 * EXAM_G / (0.4 * 0.01);
    return exam_body(e, "b").angular_velocity.z;
}

/* Three balls that do not turn against each other: the pressure on them is m g/3 each, whatever way they slide. */
static double spinning_tripod(exam* e, double h)
{
    const double R = 0.3, I = 0.05, w = 12;
    exam_open(
        e, h,
        "materials: { default: { friction: 0.4 } }\nbodies:\n  - { name: b, mass: 2, com: [0, 0, 0], inertia: [0.05, "
        "0.05, 0.05, 0, 0, 0], position: [0, 0, 0.02], angular_velocity: [0, 0, 12], shape: [\n"
        "    { sphere: 0.02, position: [0.3, 0, 0] }, { sphere: 0.02, position: [-0.15, %.17g, 0] },\n"
        "    { sphere: 0.02, position: [-0.15, %.17g, 0] } ] }\n" EXAM_FLOOR,
        R * sqrt(0.75), -R * sqrt(0.75));
    double before = w;
    while (exam_going(e, 1) && exam_body(e, "b").angular_velocity.z > 1e-6) {
        before = exam_body(e, "b").angular_velocity.z;
        exam_step(e);
    }
    const double slowing = 0.4 * 2 * EXAM_G * R / I;
    e->expected = w / slowing;
    return mor_world_time(e->world) - h + before / slowing;
}

const experiment exam_friction[] = {
    { AREA, "speed of a block down a slope", "g (sin a - mu cos a) t", "m/s", 0.01, 1e-6, slide_down, 0, 0, 0 },
    { AREA, "stopping way of a box", "v^2/(2 mu g)", "m", 0.002, 1e-2, stopping_way, 0, 0, 0 },
    { AREA, "box dropped on a belt", "speeds up at mu g", "m", 0.002, 5e-3, onto_a_belt, 0, 0, 0 },
    { AREA, "sliding across a slope", "reduced equations", "m", 0.001, 5e-3, across_a_slope, 0, 0, 0 },
    { AREA, "board pulled from below a block", "Newton's law", "m/s", 0.005, 1e-6, pulled_from_below, 0, 0, 0 },
    { AREA, "first slip of a block on a spring", "mu m g/(k v)", "s", 0.001, 5e-3, first_slip, 0, 0, 0 },
    { AREA, "creep in 20 s below the angle of friction", "none", "m", 0.01, 1e-9, no_creep, 0, 0, 0 },
    { AREA, "plank over three supports", "v - mu g t", "m/s", 0.005, 1e-5, plank_on_supports, 0, 0, 0 },
    { AREA, "plank on two rollers", "x cos(w t), w^2 = mu g/(a - mu c)", "m", 0.001, 1e-2, plank_on_rollers, 0, 0, 0 },
    { AREA, "spin slowed by drilling friction", "w - d g t/(0.4 R^2)", "rad/s", 0.005, 1e-6, drilling, 0, 0, 0 },
    { AREA, "time until a spinning tripod stops", "I w/(mu m g R)", "s", 0.001, 1e-3, spinning_tripod, 0, 0, 0 },
    { 0 }
};
