/* Statics: forces and thresholds of rest. */
#include "exam/exam.h"

#include <math.h>

#define AREA "statics"

static double weight_of_a_stack(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { box: [0.2, 0.2, 0.1] }, mass: 2, position: [0, 0, 0.05], repeat: { "
              "count: 5, step: { position: [0, 0, 0.1] } } }\n" EXAM_FLOOR);
    exam_until(e, 0.5);
    e->expected = -10 * EXAM_G;
    return exam_force(e, "floor").z;
}

/* A plank on two blocks with a load at a quarter of the span: reactions by moments. */
static double reaction_of_a_beam(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: left, shape: { cylinder: { radius: 0.05, length: 0.2 }, axis: y }, fixed: true, "
              "position: [-0.5, 0, 0.05] }\n"
              "  - { name: right, shape: { cylinder: { radius: 0.05, length: 0.2 }, axis: y }, fixed: true, position: "
              "[0.5, 0, 0.05] }\n"
              "  - { name: plank, shape: { box: [1.4, 0.2, 0.02] }, mass: 1, position: [0, 0, 0.11] }\n"
              "  - { name: load, shape: { box: [0.1, 0.1, 0.1] }, mass: 3, position: [-0.25, 0, 0.17] }\n");
    exam_until(e, 0.5);
    e->expected = -(0.5 * 1 + 0.75 * 3) * EXAM_G;
    return exam_force(e, "left").z;
}

/* Rod of length 2 at 60 degrees, rough floor, smooth wall: the wall carries m g/(2 tan 60). */
static double ladder(exam* e, double h)
{
    const double a = EXAM_PI / 3;
    exam_open(e, h,
              "dimension: 2\nmaterials: { rough: { friction: 1 }, smooth: { friction: 0 } }\nbodies:\n"
              "  - { name: ladder, shape: { polygon: [[-1, -0.000005], [1, -0.000005], [1, 0.000005], [-1, 0.000005]] "
              "}, mass: 5, "
              "material: rough, position: [%.17g, %.17g], angle: %.17g }\n"
              "  - { name: floor, shape: { chain: [[-9, 0], [9, 0]] }, material: rough, fixed: true }\n"
              "  - { name: wall, shape: { box: [1, 9] }, position: [-0.5, 4.5], material: smooth, fixed: true }\n",
              cos(a) + 0.000005 * sin(a), sin(a) + 0.000005 * cos(a), EXAM_PI - a);
    exam_until(e, 0.2);
    e->expected = -5 * EXAM_G / (2 * tan(a));
    return exam_force(e, "wall").x;
}

/* A sphere in a groove of 90 degrees: each face carries m g/sqrt 2 without friction. */
static double groove(exam* e, double h)
{
    exam_open(
        e, h,
        "materials: { default: { friction: 0 } }\nbodies:\n"
        "  - { name: ball, shape: { sphere: 0.1 }, mass: 2, position: [0, 0, %.17g] }\n"
        "  - { name: left, shape: { box: [1, 1, 0.1] }, fixed: true, orientation: { rpy: [0, 45, 0] }, position: "
        "[%.17g, 0, %.17g] }\n"
        "  - { name: right, shape: { box: [1, 1, 0.1] }, fixed: true, orientation: { rpy: [0, -45, 0] }, position: "
        "[%.17g, 0, %.17g] }\n",
        0.1 * sqrt(2), -0.55 / sqrt(2), 0.55 / sqrt(2) - 0.1 / sqrt(2), 0.55 / sqrt(2), 0.55 / sqrt(2) - 0.1 / sqrt(2));
    exam_until(e, 0.3);
    e->expected = 2 * EXAM_G / sqrt(2);
    return mor_norm(exam_force(e, "left"));
}

static bool block_rests(exam* e, double h, double mu)
{
    const double a = 20 * EXAM_PI / 180;
    exam_open(e, h,
              "gravity: [%.17g, 0, %.17g]\nmaterials: { default: { friction: %.17g } }\nbodies:\n  - { name: b, "
              "shape: { box: [0.2, 0.1, 0.1] }, mass: 1, position: [0, 0, 0.05] }\n" EXAM_FLOOR,
              EXAM_G * sin(a), -EXAM_G * cos(a), mu);
    exam_until(e, 0.2);
    return exam_body(e, "b").velocity.x < 1e-7;
}

static double friction_of_rest(exam* e, double h)
{
    e->expected = tan(20 * EXAM_PI / 180);
    return exam_threshold(e, h, 0.2, 0.6, block_rests);
}

static bool box_falls(exam* e, double h, double degrees)
{
    const double a = degrees * EXAM_PI / 180;
    exam_open(e, h,
              "gravity: [%.17g, 0, %.17g]\nmaterials: { default: { friction: 2 } }\nbodies:\n  - { name: b, shape: "
              "{ box: [0.1, 0.1, 0.2] }, mass: 1, position: [0, 0, 0.1] }\n" EXAM_FLOOR,
              EXAM_G * sin(a), -EXAM_G * cos(a));
    exam_until(e, 0.5);
    return fabs(exam_body(e, "b").angular_velocity.y) > 1e-6;
}

static double tipping_angle(exam* e, double h)
{
    e->expected = atan(0.5) * 180 / EXAM_PI;
    return exam_threshold(e, h, 10, 45, box_falls);
}

/* Two discs on the floor and one on top, rough against each other: they hold if the floor has mu >= tan(15)/3. */
static bool pyramid_holds(exam* e, double h, double mu)
{
    exam_open(e, h,
              "dimension: 2\nmaterials: { disc: { friction: 1 }, floor: { friction: 1 } }\n"
              "pairs: [ { materials: [disc, floor], friction: %.17g } ]\nbodies:\n"
              "  - { name: a, shape: { disc: 0.1 }, mass: 1, material: disc, position: [-0.1, 0.1] }\n"
              "  - { name: b, shape: { disc: 0.1 }, mass: 1, material: disc, position: [0.1, 0.1] }\n"
              "  - { name: c, shape: { disc: 0.1 }, mass: 1, material: disc, position: [0, %.17g] }\n"
              "  - { name: floor, shape: { chain: [[-9, 0], [9, 0]] }, material: floor, fixed: true }\n",
              mu, 0.1 + 0.1 * sqrt(3));
    exam_until(e, 0.3);
    return fabs(exam_body(e, "a").velocity.x) < 1e-6 && fabs(exam_body(e, "c").velocity.y) < 1e-6;
}

static double three_discs(exam* e, double h)
{
    e->expected = tan(EXAM_PI / 12) / 3;
    return exam_threshold(e, h, 0.02, 0.2, pyramid_holds);
}

static double spring_at_rest(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n  - { name: b, shape: { sphere: 0.05 }, mass: 3, position: [0, 0, -1] }\njoints:\n  - { type: "
              "distance, bodies: [b, world], points: [[0, 0, -1], [0, 0, 0]], length: 1, damping: 40, spring: { "
              "stiffness: 500 } }\n");
    exam_until(e, 5);
    e->expected = 3 * EXAM_G / 500;
    return -1 - exam_body(e, "b").com.z;
}

/* The hold of the woodpecker toy: a sleeve of half height 0.02 and half width 0.0105 on a pole of half width 0.01,
 * tilted until two opposite corners touch, carries a bird at 0.1 from its axis. Corners: N at both, mu N upwards at
 * both; moments m g e = N H, so it holds if mu >= H/(2 e). */
static double sleeve_tilt(void)
{
    double low = 0, high = 0.1;
    for (int k = 0; k < 60; k++) {
        double a = 0.5 * (low + high);
        if (0.02 * sin(a) - 0.0105 * cos(a) < -0.01) low = a;
        else high = a;
    }
    return low;
}

#define SLEEVE                                                                                                         \
    "dimension: 2\nmaterials: { default: { friction: %.17g } }\nbodies:\n"                                             \
    "  - { name: pole, shape: { box: [0.02, 4] }, fixed: true }\n"                                                     \
    "  - { name: sleeve, shape: [ { box: [0.002, 0.04], position: [-0.0115, 0] }, { box: [0.002, 0.04], position: "    \
    "[0.0115, 0] } ], mass: 0.001, com: [0, 0], inertia: 1e-6, angle: %.17g }\n"                                       \
    "  - { name: bird, shape: { disc: 0.02 }, mass: 0.1, position: [%.17g, %.17g], angle: %.17g, collide: false }\n"

static bool sleeve_holds(exam* e, double h, double mu)
{
    /* a spring carries the bird where it is; without it, to fall freely is an answer too */
    double a = sleeve_tilt(), c = 5, rest = 0.1 * EXAM_G * 0.1 * cos(a) / c;
    exam_open(e, h,
              SLEEVE "joints:\n  - { type: revolute, bodies: [bird, sleeve], point: [0, 0], spring: { stiffness: 5, "
                     "rest: %.17g } }\n",
              mu, -a, 0.1 * cos(a), -0.1 * sin(a), -a, rest);
    exam_until(e, 0.2);
    return fabs(exam_body(e, "sleeve").velocity.y) < 1e-4;
}

static double woodpecker_hold(exam* e, double h)
{
    double a = sleeve_tilt();
    e->expected = 2 * (0.02 * cos(a) + 0.0105 * sin(a)) / (2 * 0.1 * cos(a) * 0.1 / 0.101);
    return exam_threshold(e, h, 0.05, 0.6, sleeve_holds);
}

/* On the held sleeve the bird swings on its spring c: w^2 = c/(J + m l^2); the third crossing of its rest is at 5/4
 * periods. Half of gravity's moment at rest is the amplitude, so the sleeve never comes loose. */
static double woodpecker_swing(exam* e, double h)
{
    const double a = sleeve_tilt(), c = 5, l = 0.1, J = 0.5 * 0.1 * 0.0004 + 0.1 * l * l, sag = 0.1 * EXAM_G * l / c;
    exam_open(e, h,
              SLEEVE "joints:\n  - { type: revolute, bodies: [bird, sleeve], point: [0, 0], spring: { stiffness: 5, "
                     "rest: %.17g } }\n",
              1.0, -a, l * cos(a), -l * sin(a), -a, 0.5 * sag);
    /* gravity's moment m g l cos(q) over the small swing: rest at q0 with c (q0 - 0.5 sag) = -m g l cos(q0 - a) */
    double q0 = 0;
    for (int k = 0; k < 100; k++) q0 = 0.5 * sag - 0.1 * EXAM_G * l * cos(q0 - a) / c;
    double stiffness = c - 0.1 * EXAM_G * l * sin(q0 - a), before = 1, crossing = 0;
    int count = 0;
    while (exam_going(e, 2) && count < 3) {
        exam_step(e);
        mor_vec3 x = exam_body(e, "bird").com, o = exam_body(e, "sleeve").com;
        double now = atan2(x.y - o.y, x.x - o.x) + a - q0;
        if (now * before < 0) count++, crossing = mor_world_time(e->world) - h * now / (now - before);
        before = now;
    }
    e->expected = 1.25 * 2 * EXAM_PI * sqrt(J / stiffness);
    return crossing;
}

static bool ladder_stays(exam* e, double h, double mu)
{
    const double a = 1.1, L = 2, r = 0.02;
    exam_open(
        e, h,
        "bodies:\n  - { name: b, friction: %.17g, shape: { capsule: { radius: 0.02, length: 2 } }, mass: 5, "
        "position: [%.17g, 0, %.17g], orientation: { axis: [0, 1, 0], angle: %.17g } }\n"
        "  - { name: floor, shape: plane, fixed: true, friction: %.17g }\n"
        "  - { name: wall, shape: { plane: { normal: [1, 0, 0], point: [0, 0, 0] } }, fixed: true, friction: 0 }\n",
        mu, 0.5 * L * cos(a) + r, 0.5 * L * sin(a) + r, (a - 0.5 * EXAM_PI) * 180 / EXAM_PI, mu);
    exam_until(e, 0.2);
    return mor_norm(exam_body(e, "b").velocity) < 1e-6;
}

/* Moments about the foot: N (L sin a + r) = m g L cos a/2, and N = mu m g. */
static double ladder_slips(exam* e, double h)
{
    e->expected = cos(1.1) / (2 * sin(1.1) + 0.02);
    return exam_threshold(e, h, 0.1, 0.5, ladder_stays);
}

const experiment exam_statics[] = {
    { AREA, "force under a stack of five", "m g", "N", 0.01, 1e-6, weight_of_a_stack, 0, 0, 0 },
    { AREA, "reaction of a loaded beam", "moments", "N", 0.01, 1e-4, reaction_of_a_beam, 0, 0, 0 },
    { AREA, "ladder at a smooth wall", "m g/(2 tan a)", "N", 0.01, 2e-3, ladder, 0, 0, 0 },
    { AREA, "sphere in a groove", "m g/sqrt 2", "N", 0.01, 1e-5, groove, 0, 0, 0 },
    { AREA, "least friction of a block at rest", "tan a", "", 0.01, 1e-4, friction_of_rest, 0, 0, 0 },
    { AREA, "angle at which a box tips", "atan(w/h)", "degrees", 0.01, 1e-3, tipping_angle, 0, 0, 0 },
    { AREA, "least floor friction under three discs", "tan(15)/3", "", 0.01, 1e-3, three_discs, 0, 0, 0 },
    { AREA, "weight on a damped spring", "m g/k", "m", 0.01, 1e-4, spring_at_rest, 0, 0, 0 },
    { AREA, "woodpecker: least friction that holds the sleeve", "H/(2 e)", "", 0.001, 1e-3, woodpecker_hold, 0, 0,
      true },
    { AREA, "woodpecker: swings on the held sleeve", "5/4 periods on the spring", "s", 0.0005, 1e-2, woodpecker_swing,
      0, 0, 0 },
    { AREA, "least friction below a leaning ladder", "moments about its foot", "", 0.005, 1e-3, ladder_slips, 0, 0, 0 },
    { 0 }
};
