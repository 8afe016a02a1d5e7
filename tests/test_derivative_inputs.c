/* Every kind of input of the derivative on many scenes, against central differences of whole steps: forces, joint
 * forces, friction, restitution, masses, sizes, gravity, gains and targets of controllers, and the state. */
#include "common/probe.h"

#include "derivative/pull.h"
#include "model/world.h"
#include "moreau/control.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT "time: { step: 0.01 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\n"
#define SURFACES "materials: { m: { friction: 0.4, restitution: 0.0 }, r: { friction: 0.3, restitution: 0.6 } }\n"
#define FLOOR "bodies:\n  - { name: floor, shape: plane, fixed: true, material: m }\n"
#define HUMAN                                                                                                          \
    "robots:\n  - { name: human, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, 0.8561], joints: { "     \
    "l_hip_pitch: -0.3, l_knee: 0.6, l_ankle_pitch: -0.3, r_hip_pitch: -0.3, r_knee: 0.6, r_ankle_pitch: -0.3 } }\n"   \
    "controllers:\n  - { type: pid, robot: human, kp: 1500, kd: 80, gravity_compensation: true }\n"

/* Bodies meet within the step: gaps are above zero and count on both sides of the state. */
static const struct {
    const char* name;
    int steps;
    const char* text; /* or the name of a file */
    bool stuck;       /* all contacts stick: forces, masses, friction and gravity change nothing */
    bool undriven;    /* the least force changes the step: none is an input */
} scenes[] = {
    { "a ball that lands", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { sphere: 0.3 }, mass: 2, material: m, position: [0, 0, 0.301], velocity: [1, 0.5, -1], "
      "angular_velocity: [3, 1, 2] }\n",
      false, false },
    { "a ball that lands and sticks", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { sphere: 0.3 }, mass: 2, material: m, position: [0, 0, 0.3005], velocity: [0.01, 0, -1] "
      "}\n",
      false, false },
    { "a ball that bounces", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { sphere: 0.3 }, mass: 2, material: r, position: [0, 0, 0.31], velocity: [1, 0.5, -3], "
      "angular_velocity: [3, 1, 2] }\n",
      false, false },
    { "a box that lands on a corner", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { box: [0.6, 0.4, 0.5] }, mass: 2, material: m, position: [0, 0, 0.433], orientation: { "
      "axis: [1, 0.8, 0], angle: 50 }, velocity: [1, 0.5, -3] }\n",
      false, false },
    { "a box that lands flat", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR "  - { name: a, shape: { box: [0.6, 0.4, 0.5] }, mass: 2, material: m, "
      "position: [0, 0, 0.2504], velocity: [0.001, "
      "0, -0.2] }\n",
      false, false },
    { "a box that lands flat, polygon", 0,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { formulation: st, solver: { name: auto, tol: 1e-13 } }\n" SURFACES
          FLOOR "  - { name: a, shape: { box: [0.6, 0.4, 0.5] }, mass: 2, material: m, position: [0, 0, 0.2504], "
      "velocity: [0.001, "
      "0, -0.2] }\n",
      false, false },
    { "a heavy ball on a light one, 1e6", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { sphere: 0.5 }, mass: 1, material: m, position: [0, 0, 0.5003] }\n"
      "  - { name: b, shape: { sphere: 0.5 }, mass: 1e6, material: m, position: [0.3, 0.1, 1.45024], velocity: [0.1, "
      "0, "
      "0] }\n",
      false, false },
    { "a box between two boxes", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { box: [1, 1, 0.5] }, mass: 2, material: m, position: [0, 0, 0.2502] }\n"
      "  - { name: b, shape: { box: [0.8, 0.8, 0.4] }, mass: 3, material: m, position: [0.03, 0, 0.7004] }\n"
      "  - { name: c, shape: { box: [0.6, 0.6, 0.3] }, mass: 1, material: m, position: [0, 0.02, 1.0506] }\n",
      false, false },
    { "a capsule and a cylinder", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { capsule: { radius: 0.2, length: 0.6 } }, mass: 2, material: m, position: [0, 0, 0.42], "
      "orientation: { axis: [0, 1, 0], angle: 50 }, velocity: [1, 0, -3] }\n"
      "  - { name: b, shape: { cylinder: { radius: 0.2, length: 0.6 } }, mass: 2, material: m, position: [2, 0, 0.4], "
      "orientation: { axis: [0, 1, 0], angle: 30 }, velocity: [1, 0, -3] }\n",
      false, false },
    { "a disc in the plane", 0,
      "moreau: 1\ndimension: 2\n" EXACT SURFACES
      "bodies:\n  - { name: ground, shape: { chain: [[-5, 0.5], [5, -0.5]] }, fixed: true, material: m }\n"
      "  - { name: disc, shape: { disc: 0.3 }, mass: 1, material: m, position: [0, 0.303], velocity: [2, -1] }\n",
      false, false },
    { "an arm with gains", 20,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\n" SURFACES FLOOR
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 3] }\n"
      "controllers:\n  - { type: pid, robot: arm, kp: 100, ki: 10, kd: 5, targets: 0.3 }\n",
      false, false },
    { "a humanoid in the air", 5,
      "moreau: 1\ntime: { step: 0.001 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\n" SURFACES FLOOR
      "robots:\n  - { name: human, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, 1.2] }\n"
      "controllers:\n  - { type: pid, robot: human, kp: 1500, kd: 80, gravity_compensation: true }\n",
      false, false },
    { "a humanoid that lands", 0,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\n" SURFACES FLOOR HUMAN, 0.0,
      false },
    { "a humanoid that stands", 20, "control/humanoid_stand", false, false },
    { "a humanoid that walks", 1300, "control/humanoid_walk", false, false },
    { "a quadruped that trots", 513, "control/quadruped_trot", false, false },
    { "exact geometry: a box that lands on a box", 0,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { formulation: { name: peg, cone: exact }, solver: { name: auto, tol: "
      "1e-13 }, collision: { name: features, epsilon: 0.1 } }\nmaterials: { m: { friction: 0.4 } }\nbodies:\n"
      "  - { name: floor, shape: { box: [4, 4, 1] }, fixed: true, material: m, position: [0, 0, -0.5] }\n"
      "  - { name: a, shape: { box: [0.6, 0.4, 0.5] }, mass: 2, material: m, position: [0, 0, 0.433], orientation: { "
      "axis: [1, 0.8, 0], angle: 50 }, velocity: [1, 0.5, -3] }\n",
      false, false },
    { "exact geometry: a particle on hills", 10,
      "moreau: 1\ndimension: 2\ntime: { step: 0.01 }\nmethod: { formulation: peg, solver: { name: auto, tol: 1e-13 }, "
      "collision: { name: features, epsilon: 0.5 } }\nmaterials: { m: { friction: 0.1 } }\nbodies:\n"
      "  - { name: hill, shape: { polygon: [[-0.5, 0], [-0.35, 0.35], [0, 0.5], [0.35, 0.35], [0.5, 0]] }, fixed: "
      "true, "
      "material: m, grid: { count: [6, 1], spacing: [0.58, 1], origin: [0.3, 0] } }\n"
      "  - { name: grain, shape: { particle: {} }, material: m, mass: 2, position: [0.13, 0.5], velocity: [0.3, 0] "
      "}\n",
      false, false },
    { "exact geometry, LCP: a box in the plane", 0,
      "moreau: 1\ndimension: 2\ntime: { step: 0.01 }\nmethod: { formulation: peg-heuristic, solver: lemke, collision: "
      "{ "
      "name: features, epsilon: 0.5 } }\nmaterials: { m: { friction: 0.3 } }\nbodies:\n"
      "  - { name: ground, shape: { polygon: [[-3, -1], [3, -1], [3, 0], [-3, 0]] }, fixed: true, material: m }\n"
      "  - { name: a, shape: { polygon: [[-0.3, -0.2], [0.3, -0.2], [0.3, 0.2], [-0.3, 0.2]] }, material: m, mass: 2, "
      "position: [0, 0.345], angle: 30, velocity: [1, -2] }\n",
      false, false },
    { "exact geometry, all planes: a box in the plane", 0,
      "moreau: 1\ndimension: 2\ntime: { step: 0.01 }\nmethod: { formulation: peg-exact, collision: { name: features, "
      "epsilon: 0.5 } }\nmaterials: { m: { friction: 0.3 } }\nbodies:\n"
      "  - { name: ground, shape: { polygon: [[-3, -1], [3, -1], [3, 0], [-3, 0]] }, fixed: true, material: m }\n"
      "  - { name: a, shape: { polygon: [[-0.3, -0.2], [0.3, -0.2], [0.3, 0.2], [-0.3, 0.2]] }, material: m, mass: 2, "
      "position: [0, 0.345], angle: 30, velocity: [1, -2] }\n",
      false, false },
    { "gaps left out (ap): a box on a corner", 0,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { formulation: ap, solver: lemke }\nmaterials: { m: { friction: 0.4 } "
      "}\n" FLOOR "  - { name: a, shape: { box: [0.6, 0.4, 0.5] }, mass: 2, material: m, position: [0, 0, 0.425], "
      "orientation: { axis: [1, 0.8, 0], angle: 50 }, velocity: [1, 0.5, -3] }\n",
      false, false },
    { "a box of mass 1e6 on a light one", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { box: [1, 1, 0.5] }, mass: 1, material: m, position: [0, 0, 0.2502] }\n"
      "  - { name: b, shape: { box: [0.8, 0.8, 0.4] }, mass: 1e6, material: m, position: [0.03, 0, 0.7004] }\n",
      true, false },
    { "a light box on one of mass 1e6", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { box: [1, 1, 0.5] }, mass: 1e6, material: m, position: [0, 0, 0.2502] }\n"
      "  - { name: b, shape: { box: [0.8, 0.8, 0.4] }, mass: 1, material: m, position: [0.03, 0, 0.7004] }\n",
      false, false },
    { "a chain of hinges, stabilised", 34,
      "moreau: 1\ntime: { step: 0.005 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\n" SURFACES FLOOR
      "  - { name: a, shape: { box: [0.5, 0.1, 0.1] }, mass: 1, material: m, position: [0.25, 0, 0.4] }\n"
      "  - { name: b, shape: { box: [0.5, 0.1, 0.1] }, mass: 2, material: m, position: [0.75, 0, 0.4] }\n"
      "joints:\n  - { name: j, type: revolute, bodies: [a, world], point: [0, 0, 0.4], axis: [0, 1, 0] }\n"
      "  - { name: k, type: revolute, bodies: [a, b], point: [0.5, 0, 0.4], axis: [0, 1, 0] }\n",
      false, true }, /* the energy of mechanisms that something drives is left as it is */
    { "ten boxes at rest", 3,
      "moreau: 1\n" EXACT SURFACES FLOOR "  - { name: a, shape: { box: [0.5, 0.5, 0.5] }, mass: 1, material: m, grid: "
      "{ count: [1, 1, 10], spacing: [0, 0, "
      "0.5], origin: [0, 0, 0.25] } }\n",
      false, false },
    { "a box held where it stuck, pushed", 25,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { sticking: anchored, solver: { name: auto, tol: 1e-13 } }\n" SURFACES
      "gravity: [3, 1, -9]\n" FLOOR "  - { name: a, shape: { box: [0.6, 0.4, 0.5] }, mass: 2, material: m, position: "
      "[0, 0, 0.25], velocity: [0.05, 0.02, "
      "0] }\n",
      false, false },
    { "balls held where they stuck", 9,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { sticking: anchored, solver: { name: auto, tol: 1e-13 } }\n" SURFACES
          FLOOR "  - { name: a, shape: { sphere: 0.3 }, mass: 2, material: m, position: [0, 0, 0.3], angular_velocity: "
      "[1, 2, 0] }\n"
      "  - { name: b, shape: { sphere: 0.2 }, mass: 1, material: m, position: [0.3, 0.1, 0.6872983346], velocity: "
      "[0.3, 0, "
      "0] }\n",
      false, false },
    { "a pendulum on a hinge, stabilised", 40,
      "moreau: 1\ntime: { step: 0.005 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\n" SURFACES FLOOR
      "  - { name: a, shape: { box: [0.4, 0.1, 0.1] }, mass: 1.3, material: m, position: [0.2, 0, 2] }\n"
      "joints:\n  - { name: j, type: spherical, bodies: [world, a], point: [0, 0, 2] }\n",
      false, true },
    { "a box and a ball that overlap, by their masses and sizes", 0,
      "moreau: 1\n" EXACT SURFACES FLOOR
      "  - { name: a, shape: { box: [0.5, 0.4, 0.3] }, mass: 1.3, material: m, position: [0, 0, 0.3], orientation: { "
      "axis: [1, 0.5, 0.2], angle: 30 }, velocity: [0.3, 0.1, 0] }\n"
      "  - { name: b, shape: { sphere: 0.2 }, mass: 0.7, material: m, position: [0.05, 0.02, 0.64], velocity: [0, 0.5, "
      "-1] }\n",
      false, false },
    { "two boxes, convex law", 1,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { formulation: convex }\n" SURFACES FLOOR
      "  - { name: a, shape: { box: [0.5, 0.5, 0.3] }, mass: 2, material: m, position: [0, 0, 0.1501] }\n"
      "  - { name: b, shape: { box: [0.4, 0.4, 0.3] }, mass: 1, material: m, position: [0.03, 0.02, 0.4502] }\n",
      false, false },
    { "a cylinder that meets a box with its rim", 0,
      "moreau: 1\n" EXACT SURFACES "bodies:\n"
      "  - { name: a, shape: { box: [0.5, 0.4, 0.3] }, mass: 2, material: m, position: [0, 0, 1], orientation: { axis: "
      "[1, "
      "0.8, 0.2], angle: 40 } }\n"
      "  - { name: b, shape: { cylinder: { radius: 0.15, length: 0.5 } }, mass: 1, material: m, position: [0.1, 0.03, "
      "1.53], orientation: { axis: [0.3, 1, 0], angle: 35 }, velocity: [0.2, 0.1, -4] }\n",
      false, false },
    { "a humanoid that is pushed and balances", 420, "control/humanoid_push", false, false },
    { "a humanoid that squats", 700, "control/humanoid_squat", false, false },
    { "a ball that hits a box in flight", 0,
      "moreau: 1\n" EXACT SURFACES "bodies:\n"
      "  - { name: a, shape: { sphere: 0.3 }, mass: 2, material: m, position: [0, 0, 1], velocity: [3, 0.2, 0.1] }\n"
      "  - { name: b, shape: { box: [0.4, 0.5, 0.6] }, mass: 1, material: m, position: [0.52, 0.05, 1.1], orientation: "
      "{ "
      "axis: [0, 0, 1], angle: 10 } }\n",
      false, false },
};

/* --------------------------------------------------------------------------------------- changes */

static void move_force(mor_world* w, double amount, void* user)
{
    const mor_input* in = user;
    mor_body_id body = mor_world_body(w, in->index);
    double f[6] = { 0 };
    f[in->component] = amount;
    mor_body_apply(w, body, mor_v3(f[0], f[1], f[2]), mor_body_get_state(w, body).com);
    mor_body_apply_torque(w, body, mor_v3(f[3], f[4], f[5]));
}

static void move_joint_force(mor_world* w, double amount, void* user)
{
    const mor_input* in = user;
    double tau[64] = { 0 };
    tau[in->component] = amount;
    mor_world_robot_apply(w, in->index, tau);
}

/* The world's own numbers: the tests may reach them. */
static void move_number(mor_world* w, double amount, void* user)
{
    const mor_input* in = user;
    if (in->kind == MOR_INPUT_GRAVITY) {
        mor_vec3 g = mor_world_gravity(w);
        (&g.x)[in->component] += amount;
        mor_world_set_gravity(w, g);
        return;
    }
    if (in->kind == MOR_INPUT_FRICTION || in->kind == MOR_INPUT_RESTITUTION) {
        mor_material* m = (mor_material*)mor_world_material(w, in->index);
        *(in->kind == MOR_INPUT_FRICTION ? &m->friction : &m->restitution) += amount;
        w->detected = false;
        return;
    }
    const mor_controller_def* c = mor_world_controller(w, in->index);
    const double* of = in->kind == MOR_INPUT_KP   ? c->kp
                       : in->kind == MOR_INPUT_KI ? c->ki
                       : in->kind == MOR_INPUT_KD ? c->kd
                                                  : c->target;
    ((double*)of)[in->component] += amount;
}

static void move_mass(mor_world* w, double amount, void* user)
{
    const mor_input* in = user;
    mor_body_id body = mor_world_body(w, in->index);
    assert_int_equal(mor_body_set_mass(w, body, mor_body_mass(w, body).mass + amount, NULL), MOR_OK);
}

/* Shapes larger about the centre of mass, by a factor; the step that follows takes it back. */
static void move_size(mor_world* w, double amount, void* user)
{
    const mor_input* in = user;
    static const mor_geometry* was[8];
    static mor_vec3 at[8];
    static bool grown;
    mor_body* b = &w->bodies[w->order[in->index]];
    for (int i = 0; i < b->shape_count; i++) {
        if (grown) {
            mor_geometry_release((mor_geometry*)b->shapes[i].geometry);
            b->shapes[i].geometry = (mor_geometry*)was[i], b->shapes[i].pose.position = at[i];
        } else {
            was[i] = b->shapes[i].geometry, at[i] = b->shapes[i].pose.position;
            b->shapes[i].geometry = mor_geometry_scaled(was[i], 1.0 + amount, NULL);
            b->shapes[i].pose.position = mor_madd(b->mass.com, 1.0 + amount, mor_sub(at[i], b->mass.com));
        }
    }
    grown = !grown;
    w->revision++, w->detected = false;
}

static test_change change_of(mor_input_kind kind)
{
    switch (kind) {
    case MOR_INPUT_FORCE:
        return move_force;
    case MOR_INPUT_JOINT_FORCE:
        return move_joint_force;
    case MOR_INPUT_MASS:
        return move_mass;
    case MOR_INPUT_SIZE:
        return move_size;
    default:
        return move_number;
    }
}

/* ---------------------------------------------------------------------------------------- inputs */

static int list_inputs(const mor_world* w, bool forces, mor_input* in)
{
    int n = 0;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        const mor_body* b = &w->bodies[w->order[i]];
        if (b->kind != MOR_DYNAMIC || b->robot) continue;
        int last = w->dimension == 2 ? 5 : 4;
        for (int k = 0; k < 6 && forces; k += 2)
            in[n++] = (mor_input){ MOR_INPUT_FORCE, i, w->dimension == 2 && k ? last : k };
        in[n++] = (mor_input){ MOR_INPUT_MASS, i, 0 };
        in[n++] = (mor_input){ MOR_INPUT_SIZE, i, 0 };
    }
    for (int i = 0; i < mor_world_robot_count(w); i++)
        for (int j = 0; j < mor_robot_joint_count(mor_world_robot_model(w, i)); j += 5)
            in[n++] = (mor_input){ MOR_INPUT_JOINT_FORCE, i, j };
    for (int i = 0; mor_world_material(w, i); i++) {
        if (strcmp(mor_world_material(w, i)->name, "m") != 0 && strcmp(mor_world_material(w, i)->name, "r") != 0)
            continue;
        in[n++] = (mor_input){ MOR_INPUT_FRICTION, i, 0 };
        if (mor_world_material(w, i)->restitution > 0.0) in[n++] = (mor_input){ MOR_INPUT_RESTITUTION, i, 0 };
    }
    in[n++] = (mor_input){ MOR_INPUT_GRAVITY, 0, 0 };
    in[n++] = (mor_input){ MOR_INPUT_GRAVITY, 0, w->dimension == 2 ? 1 : 2 };
    for (int i = 0; i < mor_world_controller_count(w); i++) {
        const mor_controller_def* c = mor_world_controller(w, i);
        const double* has[4] = { c->kp, c->ki, c->kd, c->target };
        for (int k = 0; k < 4; k++)
            for (int j = 0; has[k] && j < mor_robot_joint_count(mor_world_robot_model(w, c->robot)); j += 7)
                in[n++] = (mor_input){ (mor_input_kind)(MOR_INPUT_KP + k), i, j };
    }
    return n;
}

/* A length that moves the step about as much as 1 m or 1 m/s does. */
static double unit_of(const mor_world* w, const mor_input* in)
{
    switch (in->kind) {
    case MOR_INPUT_FORCE:
        return 10.0 * mor_body_mass(w, mor_world_body(w, in->index)).mass;
    case MOR_INPUT_MASS:
        return mor_body_mass(w, mor_world_body(w, in->index)).mass;
    case MOR_INPUT_JOINT_FORCE:
        return 10.0;
    case MOR_INPUT_KP:
    case MOR_INPUT_KI:
    case MOR_INPUT_KD:
        return 100.0;
    default:
        return 1.0;
    }
}

/* Gradients through the step, which form no matrix, against the matrix: of every number of the end in turn would be the
 * matrix itself, a few mixtures tell as much. Returns the largest difference, relative to the largest entry. */
static double backward_error(mor_world* w, const mor_input* in, int count, const mor_derivative* d, bool* direct)
{
    size_t rows = (size_t)d->rows, columns = (size_t)d->columns;
    double *end = calloc(rows, sizeof *end), *g = calloc(columns, sizeof *g), worst = 0.0, size = 1.0;
    for (int k = 0; k < 5; k++) {
        mor_derivative known = { .differentiable = true, .unique = true, .distance = INFINITY };
        mor_error error = { 0 };
        for (size_t i = 0; i < rows; i++) end[i] = sin(1.0 + (double)i * (k + 0.7)) * ((int)i % 5 == k || k == 4);
        if (mor_pull_step(w, in, count, &(mor_taken){ .moved = d->differences }, end, g, &known, direct, &error))
            fail_msg("%s", error.text);
        assert_true(known.open == d->open && known.sticking == d->sticking && known.sliding == d->sliding);
        for (size_t j = 0; j < columns; j++) {
            double sum = 0.0;
            for (size_t i = 0; i < rows; i++) sum += end[i] * d->matrix[i * columns + j];
            if (getenv("MOREAU_VERBOSE") && fabs(sum - g[j]) > 1e-8 * fmax(1.0, fabs(sum)))
                printf("  gradient %d, number %zu: %.10g, by the matrix %.10g\n", k, j, g[j], sum);
            worst = fmax(worst, fabs(sum - g[j]));
            size = fmax(size, fabs(sum));
        }
    }
    free(end), free(g);
    return worst / size;
}

static double column_size(const mor_derivative* d, int j)
{
    double most = 0.0;
    for (int i = 0; i < d->rows; i++) most = fmax(most, fabs(d->matrix[(size_t)i * (size_t)d->columns + (size_t)j]));
    return most;
}

/* edges: moments without a derivative, or next to one, are told and passed over. */
static double scene_error(const char* text, int steps, const char* name, bool stuck, bool forces, bool edges)
{
    mor_scene* scene;
    mor_world* w = strchr(text, '\n') ? test_scene_text(text, &scene) : test_scene_file(text, &scene);
    test_steps(w, steps);
    test_option(w, "solver", "tol", "1e-13"); /* of the differences */
    mor_input in[128];
    int count = list_inputs(w, forces, in);
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    if (mor_world_derivative(w, in, count, &d, &error)) fail_msg("%s: %s", name, error.text);
    if ((!d->differentiable || !d->unique) && !edges) fail_msg("%s: '%s', unique %d", name, d->why, d->unique);
    if (!d->differentiable || !d->unique || (edges && d->distance < 1e-6)) {
        print_message("%-36s '%s', distance %.2g\n", name, d->why, d->distance);
        mor_derivative_destroy(d);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        return 0.0;
    }
    prober p = probe_begin(w);
    double worst = 0.0;
    int stride = d->rows > 48 ? 7 : 1;
    for (int j = 0; j < d->rows; j += stride) {
        double e = probe_error(&p, d, j, NULL, NULL, 1.0, 1.0);
        if (getenv("MOREAU_VERBOSE")) printf("  column %d: %.2g\n", j, e);
        worst = fmax(worst, e);
    }
    for (int k = 0; k < count; k++) {
        double unit = unit_of(w, &in[k]);
        double e = stuck && in[k].kind != MOR_INPUT_SIZE
                       ? column_size(d, d->rows + k) * unit / 1e-2
                       : probe_error(&p, d, d->rows + k, change_of(in[k].kind), &in[k], unit, 1e-2 / unit);
        if (getenv("MOREAU_VERBOSE"))
            printf("  input %d of %d, part %d: %.2g\n", in[k].kind, in[k].index, in[k].component, e);
        worst = fmax(worst, e);
    }
    probe_end(&p);
    bool direct = false;
    double backward = backward_error(w, in, count, d, &direct);
    print_message("%-36s %3d columns, %.2g%s, backward %.1g%s\n", name, d->columns, worst,
                  d->differences ? ", by differences" : "", backward, direct ? "" : " by the matrix");
    worst = fmax(worst, 100.0 * backward);
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return worst;
}

static void every_input_agrees_on_every_scene(void** state)
{
    (void)state;
    const char* only = getenv("MOREAU_ONLY");
    int failed = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (only && !strstr(scenes[i].name, only)) continue;
        failed += !(scene_error(scenes[i].text, scenes[i].steps, scenes[i].name, scenes[i].stuck, !scenes[i].undriven,
                                false) < 1e-6);
        char text[4096], name[64];
        snprintf(text, sizeof text, "%s", scenes[i].text);
        char* bounces = strstr(text, "restitution: 0.6");
        if (!bounces) continue;
        memcpy(bounces, "restitution: 0.0", 16); /* nothing may bounce in this world: the short way is open */
        snprintf(name, sizeof name, "%s, short", scenes[i].name);
        failed += !(scene_error(text, scenes[i].steps, name, scenes[i].stuck, !scenes[i].undriven, false) < 1e-6);
    }
    assert_int_equal(failed, 0);
}

/* Moments of a walk: both feet, one foot, landing. */
static void a_walk_has_derivatives_at_other_moments_as_well(void** state)
{
    (void)state;
    int failed = 0, last = getenv("MOREAU_LONG") ? 2400 : 1000;
    for (int k = 700; k <= last; k += 137) {
        char name[64];
        snprintf(name, sizeof name, "the walk after %d steps", k);
        failed += !(scene_error("control/humanoid_walk", k, name, false, true, true) < 1e-6);
    }
    assert_int_equal(failed, 0);
}

/* Patches in which nothing moves know their own share (derivative/patch.c). */
static void gradients_go_back_through_a_stack(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text("moreau: 1\n" EXACT "bodies:\n  - { name: floor, shape: plane, fixed: true }\n"
                                   "  - { name: box, shape: { box: [1, 1, 1] }, mass: 1, grid: { count: [1, 1, 10], "
                                   "spacing: [0, 0, 1], origin: [0, 0, 0.5] } }\n",
                                   &scene);
    test_steps(w, 2);
    mor_input in[] = { { MOR_INPUT_FORCE, 3, 0 }, { MOR_INPUT_FORCE, 5, 4 }, { MOR_INPUT_GRAVITY, 0, 0 } };
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    bool direct = false;
    if (mor_world_derivative(w, in, 3, &d, &error)) fail_msg("%s", error.text);
    assert_true(backward_error(w, in, 3, d, &direct) < 1e-10 && direct);
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Backward through several steps of a robot, each of which finds its end in the step after it, against the product of
 * their matrices; with room for all states, and for hardly any. */
static void gradients_go_back_through_steps_of_robots(void** state)
{
    (void)state;
    enum { STEPS = 7 };
    static const struct {
        const char* scene;
        int from;
    } runs[] = { { "control/humanoid_stand", 20 },
                 { "control/quadruped_trot", 511 },
                 { "control/humanoid_walk", 1298 } };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (int little = 0; little < 2; little++) {
            mor_scene* scene;
            mor_world* w = test_scene_file(runs[i].scene, &scene);
            test_steps(w, runs[i].from);
            size_t n = 2 * (size_t)mor_world_nu_count(w), size = mor_world_save(w, NULL, 0);
            mor_input in[] = { { MOR_INPUT_JOINT_FORCE, 0, 2 }, { MOR_INPUT_JOINT_FORCE, 0, 7 } };
            mor_derivative* d = NULL;
            mor_error error = { 0 };
            void* start = malloc(size);
            double *end = calloc(2 * n, sizeof *end), *back = end + n, by[2 * STEPS], sums[2] = { 0 };
            mor_world_save(w, start, size);
            if (mor_world_derivatives(w, STEPS, in, 2, &d, &error)) fail_msg("%s", error.text);
            for (size_t k = 0; k < n; k++) end[k] = sin(1.0 + (double)k);
            mor_world_restore(w, start, size, &error);
            if (mor_adjoint_within(w, little ? 1 : 1 << 20, STEPS, end, in, 2, back, by, NULL, &error))
                fail_msg("%s", error.text);
            for (int k = 0; k < 2 * STEPS; k++) sums[k % 2] += by[k];
            double worst = 0.0, most = 1.0;
            for (size_t j = 0; j < n + 2; j++) {
                double sum = 0.0;
                for (size_t k = 0; k < n; k++) sum += end[k] * d->matrix[k * (n + 2) + j];
                worst = fmax(worst, fabs(sum - (j < n ? back[j] : sums[j - n])));
                most = fmax(most, fabs(sum));
            }
            print_message("%-24s backward through %d steps: %.1g of %.1g\n", runs[i].scene, STEPS, worst, most);
            assert_true(worst < 1e-9 * most);
            mor_derivative_destroy(d);
            mor_world_destroy(w);
            mor_scene_destroy(scene);
            free(start), free(end);
        }
}

/* The integral of a controller is no state of the derivative: one step has it, a product of steps says that it has
 * not. */
static void a_product_of_steps_tells_what_controllers_remember(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        char text[1024];
        mor_scene* scene;
        mor_derivative* d = NULL;
        mor_error error = { 0 };
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.002 }\nrobots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed }\n"
                 "controllers:\n  - { name: hold, type: pid, robot: arm, kp: 100, ki: %d, kd: 5, targets: 0.3 }\n",
                 k ? 10 : 0);
        mor_world* w = test_scene_text(text, &scene);
        if (mor_world_derivative(w, NULL, 0, &d, &error)) fail_msg("%s", error.text);
        assert_true(d->differentiable);
        mor_derivative_destroy(d);
        if (mor_world_derivatives(w, 3, NULL, 0, &d, &error)) fail_msg("%s", error.text);
        assert_true(d->differentiable == !k);
        if (k && !strstr(d->why, "'hold' remembers its integral")) fail_msg("'%s'", d->why);
        mor_derivative_destroy(d);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_input_agrees_on_every_scene),
                                        cmocka_unit_test(a_walk_has_derivatives_at_other_moments_as_well),
                                        cmocka_unit_test(a_product_of_steps_tells_what_controllers_remember),
                                        cmocka_unit_test(gradients_go_back_through_a_stack),
                                        cmocka_unit_test(gradients_go_back_through_steps_of_robots) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
