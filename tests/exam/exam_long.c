/* Runs of many steps. */
#include "exam/exam.h"

#include <math.h>

#define AREA "long runs"

static double block_on_a_slope(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [%.17g, %.17g, %.17g]\nbodies:\n  - { name: b, shape: { box: [0.2, 0.2, 0.1] }, mass: 1, "
              "position: [0, 0, 0.05] }\n" EXAM_FLOOR,
              2.0, 3.0, -9.0);
    exam_until(e, 100);
    e->expected = 0, e->scale = 1;
    mor_vec3 x = exam_body(e, "b").com;
    return hypot(x.x, x.y);
}

static double tower(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { box: [0.2, 0.2, 0.2] }, mass: 1, position: [0, 0, 0.1], repeat: { "
              "count: 10, step: { "
              "position: [0, 0, 0.2] } } }\n" EXAM_FLOOR);
    exam_until(e, 60);
    e->expected = 1.9;
    return exam_body(e, "b_9").com.z;
}

static double card_house(exam* e, double h)
{
    const double a = 0.25;
    exam_open(e, h,
              "dimension: 2\nmaterials: { default: { friction: 0.5 } }\nbodies:\n  - { name: l, shape: { box: [0.002, "
              "1] }, mass: 0.01, "
              "position: [%.17g, %.17g], angle: %.17g }\n  - { name: r, shape: { box: [0.002, 1] }, mass: 0.01, "
              "position: [%.17g, "
              "%.17g], angle: %.17g }\n  - { name: floor, shape: { chain: [[-5, 0], [5, 0]] }, fixed: true }\n",
              -0.5 * sin(a) - 0.001 * cos(a), 0.5 * cos(a) + 0.001 * sin(a), -a, 0.5 * sin(a) + 0.001 * cos(a),
              0.5 * cos(a) + 0.001 * sin(a), a);
    double z = exam_body(e, "l").com.y;
    exam_until(e, 20);
    e->expected = z;
    return exam_body(e, "l").com.y;
}

static double spinner(exam* e, double h)
{
    exam_open(e, h,
              "gravity: [0, 0, 0]\nbodies:\n  - { name: b, shape: { box: [0.1, 0.2, 0.4] }, mass: 1, angular_velocity: "
              "[10, 2, 30] }\n");
    if (!e->world) return NAN;
    e->expected = mor_world_kinetic_energy(e->world);
    exam_until(e, 500);
    return mor_world_kinetic_energy(e->world);
}

/* A tree keeps its energy: 100 swings of a double pendulum. */
static double swings(exam* e, double h)
{
    exam_open(e, h,
              "method: { coordinates: minimal }\nbodies:\n  - { name: a, shape: { box: [1, 0.01, 0.01] }, mass: 1, "
              "position: [0.5, 0, 0], "
              "collide: false }\n  - { name: b, shape: { box: [1, 0.01, 0.01] }, mass: 1, position: [1.5, 0, 0], "
              "collide: false }\njoints:\n"
              "  - { type: revolute, bodies: [a, world], axis: [0, 1, 0] }\n  - { type: revolute, bodies: [b, a], "
              "axis: [0, 1, 0], point: [1, 0, "
              "0] }\n");
    if (!e->world) return NAN;
    exam_until(e, 100);
    e->expected = 0, e->scale = 2 * EXAM_G;
    return mor_world_kinetic_energy(e->world) + mor_world_potential_energy(e->world);
}

/* Motion on a spring of no length is Kepler's other ellipse: after 20 periods it is where it began. */
static double orbit(exam* e, double h)
{
    exam_open(e, h,
              "dimension: 2\ngravity: [0, 0]\nbodies:\n  - { name: p, shape: particle, mass: 1, position: [2, 0], "
              "velocity: [0, 1], collide: "
              "false }\njoints:\n  - { type: distance, bodies: [p, world], points: [[2, 0], [0, 0]], length: 1e-6, "
              "spring: { stiffness: 1 } }\n");
    exam_until(e, 40 * EXAM_PI);
    e->expected = 0, e->scale = 2;
    return exam_body(e, "p").com.y;
}

static double bounces(exam* e, double h)
{
    exam_open(e, h,
              "materials: { default: { restitution: 1 } }\nbodies:\n  - { name: b, shape: { sphere: 0.1 }, mass: 1, "
              "position: [0, 0, 1.1] }\n" EXAM_FLOOR);
    exam_until(e, 20);
    if (!e->world) return NAN;
    e->expected = 1.1 * EXAM_G;
    return mor_world_kinetic_energy(e->world) + mor_world_potential_energy(e->world);
}

const experiment exam_long[] = {
    { AREA, "block on a slope, 100 s", "it stays", "m", 0.01, 1e-8, block_on_a_slope, 0, 0, 0 },
    { AREA, "tower of ten boxes, 60 s", "it stands", "m", 0.01, 1e-6, tower, 0, 0, true },
    { AREA, "two cards against each other, 20 s", "they stand", "m", 0.005, 1e-6, card_house, 0, 0, 0 },
    { AREA, "energy of a free spinner, 500 s", "kept", "J", 0.01, 1e-9, spinner, 0, 0, 0 },
    { AREA, "energy of a double pendulum, 100 s", "kept", "J", 0.002, 1e-2, swings, 0, 0, true },
    { AREA, "20 orbits on a spring", "closed", "m", 0.002, 1e-2, orbit, 0, 0, 0 },
    { AREA, "energy of ten elastic bounces", "kept", "J", 0.001, 1e-2, bounces, 0, 0, 0 },
    { 0 }
};
