/* The same mechanics from tenths of a millimetre to kilometres, and with masses far apart. */
#include "exam/exam.h"

#include <math.h>

#define AREA "scales"

static double slide(exam* e, double h, double size, double mass)
{
    const double a = 0.5;
    exam_open(e, h,
              "gravity: [%.17g, 0, %.17g]\nmaterials: { default: { friction: 0.3 } }\nbodies:\n  - { name: b, shape: { "
              "box: [%g, %g, "
              "%g] }, mass: %g, position: [0, 0, %g] }\n" EXAM_FLOOR,
              EXAM_G * sin(a), -EXAM_G * cos(a), size, size, 0.5 * size, mass, 0.25 * size);
    exam_until(e, 100 * h);
    e->expected = 100 * h * EXAM_G * (sin(a) - 0.3 * cos(a));
    return exam_body(e, "b").velocity.x;
}
static double slide_small(exam* e, double h) { return slide(e, h, 1e-4, 1e-9); }
static double slide_large(exam* e, double h) { return slide(e, h, 1000, 1e9); }

/* A column of spheres of 0.1 mm: the floor carries all. */
static double grains_of_a_tenth(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: s, shape: { sphere: 5e-5 }, mass: 1e-9, grid: { count: [3, 3, 1], spacing: "
              "[1.2e-4, 1.2e-4, 1], "
              "origin: [0, 0, 5e-5] } }\n" EXAM_FLOOR);
    exam_until(e, 0.2);
    e->expected = -9e-9 * EXAM_G;
    return exam_force(e, "floor").z;
}

static double heavy_on_light(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: low, shape: { box: [1, 1, 1] }, mass: 0.001, position: [0, 0, 0.5] }\n  - { name: "
              "top, shape: { "
              "box: [1, 1, 1] }, mass: 1000, position: [0, 0, 1.5] }\n" EXAM_FLOOR);
    exam_until(e, 2);
    e->expected = 1.5;
    return exam_body(e, "top").com.z;
}

static double heavy_pulled_over_light(exam* e, double h)
{
    exam_open(e, h,
              "materials: { default: { friction: 0.4 } }\nbodies:\n  - { name: low, shape: { box: [2, 1, 0.1] }, mass: "
              "0.001, position: "
              "[0, 0, 0.05] }\n  - { name: top, shape: { box: [0.2, 0.2, 0.2] }, mass: 1000, position: [0, 0, 0.2], "
              "velocity: [1, 0, 0] "
              "}\n  - { name: floor, shape: plane, fixed: true, friction: 0 }\n");
    exam_until(e, 0.5);
    /* the light plate goes with it at once */
    e->expected = 1000 / 1000.001;
    return exam_body(e, "low").velocity.x;
}

static double fast_against_a_thin_wall(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { sphere: 0.01 }, mass: 1, position: [-3, 0, 0], "
              "velocity: [1000, 0, 0] }\n"
              "  - { name: wall, shape: { box: [0.001, 1, 1] }, fixed: true }\n");
    exam_until(e, 0.1);
    e->expected = -0.0105;
    return exam_body(e, "b").com.x;
}

static double tiny_step(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, position: [0, 0, 0.1], velocity: [2, 0, 0] "
              "}\n" EXAM_FLOOR);
    exam_until(e, 0.01);
    e->expected = 2 - 0.5 * EXAM_G * 0.01;
    return exam_body(e, "b").velocity.x;
}

static double far_from_the_origin(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { box: [0.2, 0.2, 0.1] }, mass: 1, position: [10000, -20000, 0.05], "
              "velocity: [2, 0, 0] }\n" EXAM_FLOOR);
    exam_until(e, 0.3);
    e->expected = 2 - 0.3 * 0.5 * EXAM_G;
    return exam_body(e, "b").velocity.x;
}

static double weak_gravity(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, -0.0001]\nbodies:\n  - { name: b, shape: { box: [0.2, 0.2, 0.1] }, mass: 1, position: "
              "[0, 0, 0.05], "
              "velocity: [0.0002, 0, 0] }\n" EXAM_FLOOR);
    exam_until(e, 2);
    e->expected = 0.0002 - 2 * 0.5 * 0.0001;
    return exam_body(e, "b").velocity.x;
}

const experiment exam_scales[] = {
    { AREA, "box of 0.1 mm down a slope", "g (sin a - mu cos a) t", "m/s", 1e-4, 1e-4, slide_small, 0, 0, 0 },
    { AREA, "box of 1 km down a slope", "g (sin a - mu cos a) t", "m/s", 0.1, 1e-6, slide_large, 0, 0, 0 },
    { AREA, "floor under nine grains of 0.1 mm", "m g", "N", 1e-3, 1e-4, grains_of_a_tenth, 0, 0, 0 },
    { AREA, "a tonne on a gram", "it does not sink", "m", 0.01, 1e-6, heavy_on_light, 0, 0, 0 },
    { AREA, "a tonne slides onto a gram", "momentum", "m/s", 0.01, 1e-6, heavy_pulled_over_light, 0, 0, 0 },
    { AREA, "1000 m/s against 1 mm", "it stops there", "m", 0.01, 1e-3, fast_against_a_thin_wall, 0, 0, 0 },
    { AREA, "steps of 10 us", "v - mu g t", "m/s", 1e-5, 1e-6, tiny_step, 0, 0, 0 },
    { AREA, "22 km from the origin", "v - mu g t", "m/s", 0.01, 1e-6, far_from_the_origin, 0, 0, 0 },
    { AREA, "gravity of 1e-5 g", "v - mu g t", "m/s", 0.01, 1e-3, weak_gravity, 0, 0, 0 },
    { 0 }
};
