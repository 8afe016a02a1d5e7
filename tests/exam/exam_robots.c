/* Robots and trees in minimal coordinates. */
#include "exam/exam.h"

#include <math.h>

#define AREA "robots"

/* The ten-link chain falls from the horizontal: nothing may be lost or gained. */
static double chain_energy(exam* e, double h)
{
    exam_open(e, h, "robots:\n  - { name: c, urdf: robots/chain10.urdf }\n");
    if (!e->world) return NAN;
    double before = mor_world_kinetic_energy(e->world) + mor_world_potential_energy(e->world);
    exam_until(e, 2);
    e->expected = before, e->scale = 1.0 * EXAM_G * 0.5; /* the energy of the fall */
    return mor_world_kinetic_energy(e->world) + mor_world_potential_energy(e->world);
}

/* Two hinged rods as a tree of two joints: the equations of mechanisms.c. */
static void rates(double t, const double* y, double* f, const void* user)
{
    (void)t, (void)user;
    double d = y[0] - y[1], a = 4.0 / 3.0, b = 0.5 * cos(d), c = 1.0 / 3.0;
    double p = -0.5 * sin(d) * y[3] * y[3] - 1.5 * EXAM_G * cos(y[0]),
           q = 0.5 * sin(d) * y[2] * y[2] - 0.5 * EXAM_G * cos(y[1]);
    f[0] = y[2], f[1] = y[3];
    f[2] = (c * p - b * q) / (a * c - b * b), f[3] = (a * q - b * p) / (a * c - b * b);
}

static double tree_pendulum(exam* e, double h)
{
    exam_open(e, h,
              "method: { coordinates: minimal }\nbodies:\n  - { name: a, shape: { box: [1, 0.0001, 0.0001] }, mass: 1, "
              "position: "
              "[0.5, 0, 0], collide: false }\n  - { name: b, shape: { box: [1, 0.0001, 0.0001] }, mass: 1, position: "
              "[1.5, 0, 0], "
              "collide: false }\njoints:\n  - { type: revolute, bodies: [a, world], axis: [0, 1, 0] }\n"
              "  - { type: revolute, bodies: [b, a], axis: [0, 1, 0], point: [1, 0, 0] }\n");
    exam_until(e, 1);
    double y[4] = { 0, 0, 0, 0 }, time = 1;
    exam_integrate(rates, NULL, 4, y, &time, 20000, NULL);
    e->expected = sin(y[0]) + 0.5 * sin(y[1]), e->scale = 1;
    return exam_body(e, "b").com.z;
}

static double weight_of_a_humanoid(exam* e, double h)
{
    exam_open(
        e, h,
        "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.8 }\nrobots:\n  - { name: human, urdf: "
        "robots/humanoid.urdf, base: floating, position: [0, 0, 0.856055732], joints: { l_hip_pitch: -0.3, l_knee: "
        "0.6, "
        "l_ankle_pitch: -0.3, r_hip_pitch: -0.3, r_knee: 0.6, r_ankle_pitch: -0.3 }, feet: [ { link: l_sole }, { link: "
        "r_sole } ] }\ncontrollers:\n  - { type: pid, robot: human, kp: 1500, kd: 80, gravity_compensation: true }\n");
    exam_until(e, 2);
    e->expected = -62.3 * EXAM_G;
    return exam_force(e, "floor").z;
}

static double weight_of_a_quadruped(exam* e, double h)
{
    exam_open(e, h,
              "bodies:\n" EXAM_FLOOR
              "robots:\n  - { name: dog, urdf: robots/quadruped.urdf, base: floating, position: [0, 0, 0.6] "
              "}\n");
    if (!e->world) return NAN;
    double mass = 0;
    for (int i = 0; i < mor_world_body_count(e->world); i++) {
        mor_body_id id = mor_world_body(e->world, i);
        if (mor_body_get_kind(e->world, id) == MOR_DYNAMIC) mass += mor_body_mass(e->world, id).mass;
    }
    exam_until(e, 6); /* it lies */
    e->expected = -mass * EXAM_G;
    return exam_force(e, "floor").z;
}

/* The arm holds its pose with gravity compensation. */
static double holds_its_pose(exam* e, double h)
{
    exam_open(
        e, h,
        "robots:\n  - { name: arm, urdf: robots/arm2.urdf, joints: { shoulder: -0.7, elbow: 0.9 } }\ncontrollers:\n  - "
        "{ type: "
        "pid, robot: arm, targets: { shoulder: -0.7, elbow: 0.9 }, kp: 50, kd: 5, gravity_compensation: true }\n");
    exam_until(e, 2);
    double s[2] = { 0 };
    if (e->world) mor_world_robot_state(e->world, 0, NULL, s, NULL);
    e->expected = -0.7;
    return s[0];
}

/* A PD law on one link about a vertical axis is a damped oscillator: I q'' + kd q' + kp (q - 1) = 0. */
static double servo(exam* e, double h)
{
    const double I = 1.0 / 3 + 1e-8, kp = 20, kd = 2, d = kd / (2 * I), w = sqrt(kp / I - d * d);
    exam_open(e, h,
              "method: { coordinates: minimal }\nbodies:\n  - { name: a, shape: { box: [1, 0.0001, 0.0001] }, mass: 1, "
              "position: "
              "[0.5, 0, 0], collide: false }\njoints:\n  - { name: j, type: revolute, bodies: [a, world], axis: [0, 0, "
              "1], damping: "
              "%g, spring: { stiffness: %g, rest: 1 } }\n",
              kd, kp);
    exam_until(e, 0.4);
    e->expected = 1 - exp(-0.4 * d) * (cos(0.4 * w) + d / w * sin(0.4 * w));
    mor_vec3 x = exam_body(e, "a").com;
    return atan2(x.y, x.x);
}

/* Cart and pendulum: small swings have w^2 = 3/2 g/l (M + m)/(M + m/4) for a rod. */
static double cart_pole(exam* e, double h)
{
    const double M = 2, m = 1, w = sqrt(1.5 * EXAM_G * (M + m) / (M + m / 4)), a = 0.01;
    exam_open(e, h,
              "method: { coordinates: minimal }\nbodies:\n  - { name: cart, shape: { box: [0.2, 0.1, 0.1] }, mass: 2, "
              "collide: false "
              "}\n  - { name: pole, shape: { box: [0.0001, 0.0001, 1] }, mass: 1, collide: false, position: [%.17g, 0, "
              "%.17g], "
              "orientation: { rpy: [0, %.17g, 0] } }\njoints:\n  - { type: prismatic, bodies: [cart, world], axis: [1, "
              "0, 0] }\n"
              "  - { type: revolute, bodies: [pole, cart], axis: [0, 1, 0] }\n",
              0.5 * sin(a), -0.5 * cos(a), -a * 180 / EXAM_PI);
    double before = 1, crossing = 0;
    int count = 0;
    while (exam_going(e, 5) && count < 3) {
        exam_step(e);
        double now = exam_body(e, "pole").com.x - exam_body(e, "cart").com.x;
        if (now * before < 0) count++, crossing = mor_world_time(e->world) - h * now / (now - before);
        before = now;
    }
    e->expected = 1.25 * 2 * EXAM_PI / w;
    return crossing;
}

/* A gripper's friction holds what it may: the block does not move against the fingers. */
static double grasp(exam* e, double h)
{
    exam_open(e, h,
              "materials: { rubber: { friction: 0.8 } }\nbodies:\n" EXAM_FLOOR
              "  - { name: block, shape: { box: [0.05, 0.05, 0.08] }, mass: 0.5, position: [0, 0, 0.04], material: "
              "rubber }\nrobots:\n"
              "  - { name: gripper, urdf: robots/gripper.urdf, joints: { lift: -0.1 }, material: rubber "
              "}\ncontrollers:\n  - { type: "
              "trajectory, robot: gripper, kp: { lift: 20000, left: 4000, right: 4000 }, kd: { lift: 600, left: 40, "
              "right: 40 }, "
              "gravity_compensation: true, moves: [ { at: 0, targets: { lift: -0.1, left: 0, right: 0 } }, { at: 0.5, "
              "targets: { left: "
              "0.04, right: 0.04 } }, { at: 0.7, targets: { lift: -0.1 } }, { at: 1.5, targets: { lift: 0.1 } } ] }\n");
    exam_until(e, 2.5);
    double z = exam_body(e, "block").com.z;
    exam_until(e, 4);
    e->expected = z;
    return exam_body(e, "block").com.z;
}

const experiment exam_robots[] = {
    { AREA, "energy of a falling chain of ten", "kept", "J", 0.001, 1e-3, chain_energy, 0, 0, 0 },
    { AREA, "double pendulum as a tree after 1 s", "reduced equations", "m", 0.001, 1e-3, tree_pendulum, 0, 0, 0 },
    { AREA, "floor under a standing humanoid", "m g", "N", 0.002, 1e-4, weight_of_a_humanoid, 0, 0, 0 },
    { AREA, "floor under a quadruped that lay down", "m g", "N", 0.002, 1e-3, weight_of_a_quadruped, 0, 0, true },
    { AREA, "arm that holds its pose", "the target", "rad", 0.002, 1e-4, holds_its_pose, 0, 0, 0 },
    { AREA, "joint with spring and damper", "damped oscillator", "rad", 0.001, 1e-3, servo, 0, 0, 0 },
    { AREA, "5/4 periods of a pole on a cart", "small angles", "s", 0.001, 2e-3, cart_pole, 0, 0, 0 },
    { AREA, "block held by a gripper for 1.5 s", "it stays", "m", 0.002, 1e-6, grasp, 0, 0, 0 },
    { 0 }
};
