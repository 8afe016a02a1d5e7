/* Derivatives of a step against central differences of whole steps, solved to 1e-13 (common/probe.h). */
#include "common/probe.h"

#include "derivative/look.h"

#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All state columns of the coming step against differences; of large scenes every seventh, unless there is time. */
static double columns_error(mor_world* w, const mor_derivative* d)
{
    prober p = probe_begin(w);
    double worst = 0.0;
    for (int j = 0; j<d->rows; j += d->rows> 48 && !getenv("MOREAU_LONG") ? 7 : 1) {
        double e = probe_error(&p, d, j, NULL, NULL, 1.0, 1.0);
        if (getenv("MOREAU_VERBOSE")) printf("column %d: %.2g\n", j, e);
        worst = fmax(worst, e);
    }
    probe_end(&p);
    return worst;
}

static double state_error(mor_world* w)
{
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    uint64_t hash = mor_world_hash(w);
    if (mor_world_derivative(w, NULL, 0, &d, &error) != MOR_OK) fail_msg("%s", error.text);
    assert_true(mor_world_hash(w) == hash);
    if (!d->differentiable) fail_msg("%s", d->why);
    double worst = columns_error(w, d);
    mor_derivative_destroy(d);
    return worst;
}

/* --------------------------------------------------------------------------------------- scenes */

#define EXACT "time: { step: 0.01 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\n"
#define TOLD "method: { solver: { name: auto, tol: 1e-13 } }\n"
#define FLOOR "  - { name: floor, shape: plane, fixed: true, friction: 0.4 }\n"

static const struct {
    const char* name;
    int steps; /* before */
    const char* text;
} scenes[] = {
    { "a ball in flight", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 3], "
      "velocity: [1, 2, 0.5], angular_velocity: [1, 2, 3] }\n" },
    { "a box that tumbles in the air", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, mass: 2, position: [0, "
      "0, 3], angular_velocity: [4, -2, 3] }\n" },
    { "a ball at rest", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n" },
    { "a ball that slides and spins", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], "
      "velocity: [2, 1, 0], angular_velocity: [0, 0, 3] }\n" },
    { "a ball that rolls", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], "
      "velocity: [2, 0, 0], angular_velocity: [0, 4, 0] }\n" },
    { "a box at rest", 3,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: box, shape: { box: [1, 0.8, 0.6] }, mass: 2, position: [0, 0, 0.3] }\n" },
    { "a box that slides", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: box, shape: { box: [1, 0.8, 0.3] }, mass: 2, position: [0, 0, 0.15], velocity: [3, 1, 0] }\n" },
    { "a ball on a ball", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: low, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n"
      "  - { name: top, shape: { sphere: 0.4 }, mass: 1, position: [0.02, 0.01, 1.3997222], angular_velocity: [0, 0, "
      "1] }\n" },
    /* they meet the floor and each other within the step: gaps count on both sides of a state then */
    { "two balls, mass ratio 1e6", 0,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: a, shape: { sphere: 0.5 }, mass: 1, position: [0, 0, 0.5003] }\n"
      "  - { name: b, shape: { sphere: 0.5 }, mass: 1e6, position: [0, 0, 1.5005] }\n" },
    { "a tower of three boxes", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: a, shape: { box: [1, 1, 1] }, mass: 1, position: [0, 0, 0.5] }\n"
      "  - { name: b, shape: { box: [0.8, 0.8, 0.8] }, mass: 2, position: [0.05, 0, 1.4] }\n"
      "  - { name: c, shape: { box: [0.6, 0.6, 0.6] }, mass: 3, position: [0, 0.03, 2.1] }\n" },
    { "ten equal boxes exactly on each other", 2,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: box, shape: { box: [1, 1, 1] }, mass: 1, grid: { count: [1, "
      "1, 10], spacing: [0, 0, 1], origin: [0, 0, 0.5] } }\n" },
    { "a disc in the plane", 2,
      "moreau: 1\ndimension: 2\n" EXACT
      "bodies:\n  - { name: ground, shape: { chain: [[-5, 0.5], [5, -0.5]] }, fixed: true, friction: 0.02 }\n"
      "  - { name: disc, shape: { disc: 0.3 }, mass: 1, friction: 0.02, position: [0, 0.3014963] }\n" },
    { "a pendulum of two hinges, maximal", 20,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 }, stabilisation: { name: none } "
      "}\nbodies:\n"
      "  - { name: a, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, 0, 2] }\n"
      "  - { name: b, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [1.5, 0, 2] }\n"
      "joints:\n  - { name: j, type: spherical, bodies: [a, world], point: [0, 0, 2] }\n"
      "  - { name: k, type: spherical, bodies: [b, a], point: [1, 0, 2] }\n" },
    { "an arm that swings", 20,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 } "
      "}\nbodies:\n" FLOOR "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 3] }\n" },
    { "an arm pushed on its links", 20,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\nbodies:\n" FLOOR
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 3] }\n"
      "forces:\n  - { robot: arm, link: tip, force: [3, 1, -2], torque: [0.5, 1, 0.2] }\n"
      "  - { robot: arm, link: upper, force: [3, 1, -2] }\n" },
    { "an arm pushed, on smooth ice", 300,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\nbodies:\n"
      "  - { name: ice, shape: plane, fixed: true, friction: 0 }\n"
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 0.5] }\n"
      "forces:\n  - { robot: arm, link: tip, force: [1, 1, -2], torque: [0.5, 1, 0.2] }\n" },
    { "an arm on smooth ice, motors with a speed limit", 300,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\nbodies:\n"
      "  - { name: ice, shape: plane, fixed: true, friction: 0 }\n"
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 0.5], "
      "motors: { speed_limit: 10 } }\n"
      "controllers:\n  - { type: pid, robot: arm, kp: 2, kd: 1, gravity_compensation: false }\n" },
    { "an arm on smooth ice, gravity compensated", 300,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 } }\nbodies:\n"
      "  - { name: ice, shape: plane, fixed: true, friction: 0 }\n"
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 0.5], "
      "motors: { speed_limit: 10 } }\n"
      "controllers:\n  - { type: pid, robot: arm, kp: 2, kd: 1, gravity_compensation: true }\n"
      "forces:\n  - { robot: arm, link: tip, force: [1, 1, -12] }\n" },
    { "an arm on smooth ice", 300,
      "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: auto, tol: 1e-13 } "
      "}\nbodies:\n"
      "  - { name: ice, shape: plane, fixed: true, friction: 0 }\n"
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 0.5] }\n" },
    { "a box that slides, polygon", 2,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { formulation: st, solver: { name: auto, tol: 1e-13 } }\n"
      "bodies:\n" FLOOR
      "  - { name: box, shape: { box: [1, 0.8, 0.3] }, mass: 2, position: [0, 0, 0.15], velocity: [3, 1, 0] }\n" },
    { "a ball that rolls, polygon", 3,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { formulation: st, solver: { name: lemke } "
      "}\n"
      "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], velocity: [2, 0, "
      "0], angular_velocity: [0, 4, 0] }\n" },
    { "a stack, Newton-Euler rows kept", 2,
      "moreau: 1\ntime: { step: 0.01 }\nmethod: { formulation: mncp, solver: { name: auto, tol: 1e-12 }, "
      " }\n"
      "bodies:\n" FLOOR "  - { name: a, shape: { box: [1, 1, 1] }, mass: 3, position: [0, 0, 0.5] }\n"
      "  - { name: b, shape: { sphere: 0.4 }, mass: 2, position: [0.05, 0, 1.4] }\n" },
    { "a humanoid on its feet", 25,
      "moreau: 1\ntime: { step: 0.001 }\nmethod: { solver: { name: auto, tol: 1e-13 } "
      "}\nbodies:\n" FLOOR "robots:\n  - { name: human, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, "
      "0.856055732], joints: { "
      "l_hip_pitch: -0.3, l_knee: 0.6, l_ankle_pitch: -0.3, r_hip_pitch: -0.3, r_knee: 0.6, r_ankle_pitch: -0.3, "
      "l_shoulder_roll: 0.15, r_shoulder_roll: -0.15, l_elbow: -0.4, r_elbow: -0.4 } }\n"
      "controllers:\n  - { type: pid, robot: human, kp: 1500, kd: 80, gravity_compensation: true }\n" },
    { "a humanoid that stands", 5,
      "moreau: 1\ntime: { step: 0.001 }\nmethod: { solver: { name: auto, tol: 1e-13 } "
      "}\nbodies:\n" FLOOR
      "robots:\n  - { name: human, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, 0.89] }\n"
      "controllers:\n  - { type: pid, robot: human, kp: 1500, kd: 80, gravity_compensation: true }\n" },
};

static void states_agree_with_differences_of_steps(void** state)
{
    (void)state;
    const char* only = getenv("MOREAU_ONLY");
    int failed = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (only && !strstr(scenes[i].name, only)) continue;
        mor_scene* scene;
        mor_world* w = test_scene_text(scenes[i].text, &scene);
        test_steps(w, scenes[i].steps);
        double e = state_error(w);
        print_message("%-36s %.2g\n", scenes[i].name, e);
        failed += !(e < 1e-6);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    assert_int_equal(failed, 0);
}

/* ------------------------------------------------------------------------------ whole default runs */

/* Steps as users take them: default methods, deep landings that the position projection undoes, switches on the way. */
static const struct {
    const char* name;
    int steps, smooth, projected; /* of the run; differentiable ones; of these moved by the projection; at least */
    const char* text;
} runs[] = {
    { "a spinning box", 30, 25, 8,
      "moreau: 1\ntime: { step: 0.02 }\n" TOLD "bodies:\n" FLOOR
      "  - { name: box, shape: { box: [0.8, 0.6, 0.4] }, mass: 2, position: [0, 0, 0.55], orientation: { axis: [1, "
      "0.3, "
      "0], angle: 35 }, velocity: [0.3, 0, -1], angular_velocity: [30, 5, 3] }\n" },
    { "a box that spins onto a box", 30, 5, 0,
      "moreau: 1\ntime: { step: 0.02 }\n" TOLD "bodies:\n" FLOOR
      "  - { name: low, shape: { box: [1, 1, 0.2] }, mass: 3, position: [0, 0, 0.1], velocity: [1, 0, 0] }\n"
      "  - { name: box, shape: { box: [0.8, 0.6, 0.4] }, mass: 2, position: [0, 0, 0.82], orientation: { axis: [1, "
      "0.3, "
      "0], angle: 35 }, velocity: [0.3, 0, -1], angular_velocity: [24, 5, 3] }\n" },
    { "a ball that bounces and spins", 60, 50, 0,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: ball, shape: { sphere: 0.2 }, mass: 2, restitution: 0.7, "
      "position: [0, 0, 0.5], velocity: [1, 0.5, -3], "
      "angular_velocity: [5, 2, 1] }\n" },
    { "two balls that meet in flight", 30, 25, 0,
      "moreau: 1\n" EXACT "bodies:\n"
      "  - { name: a, shape: { sphere: 0.2 }, mass: 2, restitution: 0.7, friction: 0.3, position: [0, 0, 1], velocity: "
      "[3, 0, 0], angular_velocity: [5, 2, 1] }\n"
      "  - { name: b, shape: { sphere: 0.3 }, mass: 1, restitution: 0.7, friction: 0.3, position: [1, 0.1, 1.05] }\n" },
    { "a box that bounces", 40, 30, 0,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR "  - { name: box, shape: { box: [0.8, 0.6, 0.4] }, mass: 2, restitution: "
      "0.6, position: [0, 0, 0.6], orientation: { "
      "axis: [1, 0.3, 0], angle: 35 }, velocity: [0.3, 0, -2], angular_velocity: [4, 2, 1] }\n" },
    { "an arm that falls on the floor", 60, 30, 0,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: [0, 0, 0.5] }\n" },
    /* the later steps are at rest, nearer to a switch than differences reach */
    { "a chain of hinges that falls on the floor", 12, 10, 0,
      "moreau: 1\n" EXACT "bodies:\n" FLOOR
      "  - { name: a, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, 0, 0.1] }\n"
      "  - { name: b, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [1.5, 0, 0.1] }\n"
      "joints:\n  - { name: j, type: spherical, bodies: [a, world], point: [0, 0, 0.1] }\n"
      "  - { name: k, type: spherical, bodies: [b, a], point: [1, 0, 0.1] }\n" },
};

static void every_step_of_default_runs_agrees(void** state)
{
    (void)state;
    const char* only = getenv("MOREAU_ONLY");
    int failed = 0;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        if (only && !strstr(runs[i].name, only)) continue;
        mor_scene* scene;
        mor_world* w = test_scene_text(runs[i].text, &scene);
        test_steps(w, 1);
        int smooth = 0, projected = 0;
        double worst = 0.0;
        for (int k = 1; k < runs[i].steps; k++) {
            mor_derivative* d = NULL;
            mor_error error = { 0 };
            if (mor_world_derivative(w, NULL, 0, &d, &error) != MOR_OK) fail_msg("step %d: %s", k, error.text);
            bool told = d->differentiable && d->unique && d->distance > 1e-6;
            bool looked = isfinite(d->distance) || d->differences || k % 8 == 0 || getenv("MOREAU_LONG");
            double e = told && looked ? columns_error(w, d) : 0.0;
            mor_step_report r;
            if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("step %d: %s", k, error.text);
            smooth += told, projected += told && r.raw_penetration > r.penetration + 1e-6;
            worst = fmax(worst, e);
            if (getenv("MOREAU_VERBOSE"))
                printf("%3d %.2g %s distance %.2g raw %.2g left %.2g\n", k, e, d->why, d->distance, r.raw_penetration,
                       r.penetration);
            mor_derivative_destroy(d);
        }
        print_message("%-36s %.2g, %d of %d steps, %d projected\n", runs[i].name, worst, smooth, runs[i].steps,
                      projected);
        failed += !(worst < 1e-6) || smooth < runs[i].smooth || projected < runs[i].projected;
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    assert_int_equal(failed, 0);
}

/* --------------------------------------------------------------------------------------- inputs */

typedef struct input_change {
    mor_input input;
    mor_body_id body;
} input_change;

static void apply_force(mor_world* w, double amount, void* user)
{
    const input_change* c = user;
    double f[6] = { 0 };
    f[c->input.component] = amount;
    mor_body_state s = mor_body_get_state(w, c->body);
    mor_body_apply(w, c->body, mor_v3(f[0], f[1], f[2]), s.com);
    mor_body_apply_torque(w, c->body, mor_v3(f[3], f[4], f[5]));
}

static void apply_gravity(mor_world* w, double amount, void* user)
{
    const input_change* c = user;
    mor_vec3 g = mor_world_gravity(w);
    (&g.x)[c->input.component] += amount;
    mor_world_set_gravity(w, g);
}

/* A world of a scene with one value changed, after some steps of the unchanged one: differences by two worlds. */
static void end_of(const char* text, const char* set, int steps, double* q, double* nu)
{
    mor_scene *scene, *changed;
    mor_world* w = test_scene_text(text, &scene);
    test_steps(w, steps);
    size_t Q = (size_t)mor_world_q_count(w), n = (size_t)mor_world_nu_count(w);
    mor_world_get_q(w, q, (int)Q, NULL);
    mor_world_get_nu(w, nu, (int)n, NULL);
    char path[] = "/tmp/moreau_derivative_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    const char* sets[] = { set, NULL };
    mor_error error = { 0 };
    changed = mor_scene_load(path, sets, NULL, &error);
    if (!changed) fail_msg("%s", error.text);
    mor_world* v = mor_scene_build(changed, 1, &error);
    assert_non_null(v);
    probe_set_state(v, q, nu);
    test_steps(v, 1);
    mor_world_get_q(v, q, (int)Q, NULL);
    mor_world_get_nu(v, nu, (int)n, NULL);
    mor_world_destroy(v);
    mor_scene_destroy(changed);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    unlink(path);
}

static const char slider[] =
    "moreau: 1\n" EXACT "materials: { ice: { friction: 0.3 } }\nbodies:\n"
    "  - { name: floor, shape: plane, fixed: true, material: ice }\n"
    "  - { name: low, shape: { sphere: 0.3 }, mass: 2, material: ice, position: [0, 0, 0.3], "
    "velocity: [3, 1, 0], angular_velocity: [1, 2, 3] }\n"
    "  - { name: ball, shape: { sphere: 0.2 }, mass: 1, material: ice, position: [0.1, 0, 0.7898979486], "
    "velocity: [3, 1, 0] }\n";

static int material_named(const mor_world* w, const char* name)
{
    for (int i = 0; mor_world_material(w, i); i++)
        if (strcmp(mor_world_material(w, i)->name, name) == 0) return i;
    fail_msg("no material %s", name);
    return -1;
}

static void forces_gravity_mass_size_and_friction_agree(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(slider, &scene);
    test_steps(w, 2);
    int box = mor_body_index(w, mor_world_find_body(w, "low")), ice = material_named(w, "ice");
    mor_input inputs[16];
    int count = 0;
    for (int k = 0; k < 6; k++) inputs[count++] = (mor_input){ MOR_INPUT_FORCE, box, k };
    for (int k = 0; k < 3; k++) inputs[count++] = (mor_input){ MOR_INPUT_GRAVITY, 0, k };
    int other = count;
    inputs[count++] = (mor_input){ MOR_INPUT_MASS, box, 0 };
    inputs[count++] = (mor_input){ MOR_INPUT_FRICTION, ice, 0 };
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    if (mor_world_derivative(w, inputs, count, &d, &error)) fail_msg("%s", error.text);
    if (!d->differentiable) fail_msg("%s", d->why);
    assert_true(d->sliding >= 1 && d->unique && d->columns == d->rows + count);
    prober p = probe_begin(w);
    for (int j = 0; j < other; j++) {
        input_change c = { inputs[j], mor_world_body(w, inputs[j].index) };
        double e = probe_error(&p, d, d->rows + j, inputs[j].kind == MOR_INPUT_FORCE ? apply_force : apply_gravity, &c,
                               100.0, 1.0);
        if (!(e < 1e-6)) fail_msg("input %d: %.3g", j, e);
    }
    static const char* const keys[] = { "bodies.low.mass", "materials.ice.friction" };
    static const double at[] = { 2.0, 0.3 };
    double* out = calloc((size_t)d->rows, sizeof *out);
    for (int k = 0; k < 2; k++) {
        double best = INFINITY;
        for (int length = 4; length < 7; length++) {
            double by = pow(10.0, -length);
            for (int side = 0; side < 2; side++) {
                char set[80];
                snprintf(set, sizeof set, "%s=%.17g", keys[k], at[k] + (side ? -by : by));
                end_of(slider, set, 2, p.ends[2 * side], p.ends[2 * side + 1]);
            }
            probe_difference(w, p.ends[0], p.ends[1], p.ends[2], p.ends[3], 2.0 * by, out);
            double e = 0.0;
            for (int i = 0; i < d->rows; i++)
                e = fmax(e, fabs(out[i] - d->matrix[(size_t)i * (size_t)d->columns + (size_t)(d->rows + other + k)]));
            best = fmin(best, e);
        }
        print_message("%-26s %.2g\n", keys[k], best);
        if (!(best < 2e-6)) fail_msg("%s: %.3g", keys[k], best);
    }
    free(out);
    probe_end(&p);
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A ball that grows is lifted within the step: z+ = r, v+ = (r - r_0)/h. */
static void a_ball_that_grows_is_lifted(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text("moreau: 1\n" EXACT "bodies:\n" FLOOR
                                   "  - { name: ball, shape: { sphere: 0.25 }, mass: 2, position: [0, 0, 0.25] }\n",
                                   &scene);
    mor_input size = { MOR_INPUT_SIZE, 1, 0 };
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    if (mor_world_derivative(w, &size, 1, &d, &error)) fail_msg("%s", error.text);
    assert_true(d->differentiable && d->rows == 12 && d->columns == 13);
    test_near(d->matrix[2 * 13 + 12], 0.25, 1e-7, "dz+/dsize");
    test_near(d->matrix[8 * 13 + 12], 25.0, 1e-5, "dv+/dsize");
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A ball that comes down at speed v and closes the gap c within the step: z+ = r + e (v h - c), v+ = e v. */
static void the_moment_of_an_impact_is_followed(void** state)
{
    (void)state;
    const double e = 0.6, v = 3.0, c = 0.01, h = 0.01;
    mor_scene* scene;
    mor_world* w =
        test_scene_text("moreau: 1\ngravity: [0, 0, 0]\n" EXACT "materials: { rubber: { restitution: 0.6 } }\nbodies:\n"
                        "  - { name: floor, shape: plane, fixed: true, material: rubber }\n"
                        "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, material: rubber, position: [0, 0, "
                        "0.51], velocity: [0, 0, -3] }\n",
                        &scene);
    mor_input in = { MOR_INPUT_RESTITUTION, material_named(w, "rubber"), 0 };
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    if (mor_world_derivative(w, &in, 1, &d, &error)) fail_msg("%s", error.text);
    if (!d->differentiable) fail_msg("%s", d->why);
    assert_true(d->differences && d->columns == 13);
    test_near(d->matrix[2 * 13 + 2], -e, 1e-8, "dz+/dz");
    test_near(d->matrix[8 * 13 + 2], 0.0, 1e-8, "dv+/dz");
    test_near(d->matrix[2 * 13 + 8], -e * h, 1e-8, "dz+/dv");
    test_near(d->matrix[8 * 13 + 8], -e, 1e-8, "dv+/dv");
    test_near(d->matrix[2 * 13 + 12], v * h - c, 1e-8, "dz+/de");
    test_near(d->matrix[8 * 13 + 12], v, 1e-8, "dv+/de");
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* ------------------------------------------------------------------------------------ many steps */

static void many_steps_forward_and_backward_agree(void** state)
{
    (void)state;
    enum { STEPS = 37 };
    mor_scene* scene;
    mor_world* w = test_scene_text(slider, &scene);
    size_t size = mor_world_save(w, NULL, 0);
    void* start = malloc(size);
    mor_world_save(w, start, size);
    int box = mor_body_index(w, mor_world_find_body(w, "low"));
    mor_input inputs[] = { { MOR_INPUT_FORCE, box, 0 }, { MOR_INPUT_FRICTION, material_named(w, "ice"), 0 } };
    mor_derivative *d = NULL, *known = NULL;
    mor_error error = { 0 };
    if (mor_world_derivatives(w, STEPS, inputs, 2, &d, &error)) fail_msg("%s", error.text);
    if (!d->differentiable) fail_msg("%s", d->why);
    uint64_t hash = mor_world_hash(w);
    assert_int_equal(mor_world_step_count(w), STEPS);
    double *g = calloc((size_t)d->rows, sizeof *g), *back = calloc((size_t)d->rows, sizeof *back), by_step[STEPS * 2],
           sums[2] = { 0 };
    for (int i = 0; i < d->rows; i++) g[i] = sin(1.0 + i);
    mor_world_restore(w, start, size, NULL);
    if (mor_world_adjoint(w, STEPS, g, inputs, 2, back, by_step, &known, &error)) fail_msg("%s", error.text);
    assert_true(mor_world_hash(w) == hash); /* it ends where the run ends, bit for bit */
    assert_true(known->differentiable && known->sliding == d->sliding && known->distance == d->distance);
    for (int k = 0; k < STEPS; k++) sums[0] += by_step[2 * k], sums[1] += by_step[2 * k + 1];
    for (int j = 0; j < d->columns; j++) {
        double sum = 0.0;
        for (int i = 0; i < d->rows; i++) sum += g[i] * d->matrix[(size_t)i * (size_t)d->columns + (size_t)j];
        /* both have the rounding of differences of single bodies, 1e-10 per step, at answers of their own */
        test_near(j < d->rows ? back[j] : sums[j - d->rows], sum, 1e-8 * fmax(1.0, fabs(sum)), "gradient");
    }
    free(g), free(back), free(start);
    mor_derivative_destroy(known);
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Arms that are pushed on links, or held by motors: gradients backward are those of the matrix. */
static void gradients_of_arms_agree_with_the_matrix(void** state)
{
    (void)state;
    enum { STEPS = 3, MOST = 64 };
    int looked = 0;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        if (!strstr(scenes[i].name, "an arm")) continue;
        mor_scene* scene;
        mor_world* w = test_scene_text(scenes[i].text, &scene);
        test_steps(w, scenes[i].steps);
        size_t size = mor_world_save(w, NULL, 0);
        void* start = malloc(size);
        mor_world_save(w, start, size);
        mor_derivative *d = NULL, *known = NULL;
        mor_error error = { 0 };
        double g[MOST], back[MOST];
        if (mor_world_derivatives(w, STEPS, NULL, 0, &d, &error)) fail_msg("%s: %s", scenes[i].name, error.text);
        assert_true(d->rows <= MOST);
        for (int k = 0; k < d->rows; k++) g[k] = sin(1.0 + k);
        mor_world_restore(w, start, size, NULL);
        if (mor_world_adjoint(w, STEPS, g, NULL, 0, back, NULL, &known, &error))
            fail_msg("%s: %s", scenes[i].name, error.text);
        for (int j = 0; j < d->rows; j++) {
            double sum = 0.0;
            for (int k = 0; k < d->rows; k++) sum += g[k] * d->matrix[(size_t)k * (size_t)d->columns + (size_t)j];
            test_near(back[j], sum, 1e-7 * fmax(1.0, fabs(sum)), scenes[i].name);
        }
        mor_derivative_destroy(known);
        mor_derivative_destroy(d);
        free(start);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
        looked++;
    }
    assert_true(looked > 5);
}

/* States that do not fit into memory are made again: the same gradient, bit for bit. */
static void little_memory_gives_the_same_gradient(void** state)
{
    (void)state;
    double g[2][24], start[24] = { [0] = 1.0, [8] = 0.3 }, by_inputs[2][50];
    mor_input force = { MOR_INPUT_FORCE, 1, 0 };
    for (int k = 0; k < 2; k++) {
        mor_scene* scene;
        mor_error error = { 0 };
        mor_world* w = test_scene_text(slider, &scene);
        size_t memory = k ? 3 * mor_world_save(w, NULL, 0) : (size_t)1 << 26;
        if (mor_adjoint_within(w, memory, 50, start, &force, 1, g[k], by_inputs[k], NULL, &error))
            fail_msg("%s", error.text);
        assert_int_equal(mor_world_nu_count(w), 12);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    assert_memory_equal(by_inputs[0], by_inputs[1], sizeof by_inputs[0]);
}

/* -------------------------------------------------------------------------------------- switches */

static void switches_are_told(void** state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        /* a block on a slope whose friction is exactly the tangent: 3-4-5 */
        { "moreau: 1\ngravity: [0.6, 0, -0.8]\n" EXACT
          "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.75 }\n"
          "  - { name: box, shape: { box: [1, 1, 0.1] }, mass: 1, friction: 0.75, position: [0, 0, 0.05] }\n",
          "edge" },
        /* a ball that just reaches the floor at the end of the step, without a force */
        { "moreau: 1\ngravity: [0, 0, 0]\n" EXACT "bodies:\n  - { name: floor, shape: plane, fixed: true }\n"
          "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, position: [0, 0, 0.51], velocity: [0, 0, -1] }\n",
          "edge" },
        /* a ball that comes with v_rest exactly: it bounces if it is any faster */
        { "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: 0.01 }\nmethod: { solver: { name: auto, tol: 1e-13 }, v_rest: "
          "1 "
          "}\nbodies:\n  - { name: floor, shape: plane, fixed: true }\n"
          "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, restitution: 0.5, position: [0, 0, 0.505], velocity: [0, "
          "0, -1.00000000001] }\n",
          "restitution" },
    };
    for (size_t i = 0; i < 3; i++) {
        mor_scene* scene;
        mor_world* w = test_scene_text(cases[i].text, &scene);
        mor_derivative* d = NULL;
        mor_error error = { 0 };
        if (mor_world_derivative(w, NULL, 0, &d, &error)) fail_msg("%s", error.text);
        if (d->differentiable || !strstr(d->why, cases[i].words)) fail_msg("case %zu: '%s'", i, d->why);
        assert_true(i == 2 || (d->weak > 0 && d->distance < 1e-6));
        mor_derivative_destroy(d);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* One-sided values at constructed switches, against differences of steps to that side: all state columns. */
static double sided_error(mor_world* w, int side)
{
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    if (mor_world_derivative_sided(w, NULL, 0, side, &d, &error)) fail_msg("%s", error.text);
    if (!d->differentiable) fail_msg("side %d: %s", side, d->why);
    prober p = probe_begin(w);
    double worst = 0.0, *out = calloc((size_t)d->rows, sizeof *out);
    for (int j = 0; j < d->rows; j++) {
        double best = INFINITY;
        for (int k = 0; k < 6; k++) {
            double by = side * pow(10.0, -3.0 - k), e = 0.0, size = 1.0;
            probe_step(&p, j, NULL, NULL, by, p.ends[0], p.ends[1]);
            probe_step(&p, j, NULL, NULL, 0.0, p.ends[2], p.ends[3]);
            probe_difference(w, p.ends[0], p.ends[1], p.ends[2], p.ends[3], by, out);
            for (int i = 0; i < d->rows; i++) {
                double a = d->matrix[(size_t)i * (size_t)d->columns + (size_t)j];
                e = fmax(e, fabs(a - out[i])), size = fmax(size, fabs(out[i]));
            }
            best = fmin(best, e / size);
        }
        if (getenv("MOREAU_VERBOSE")) printf("side %d column %d: %.2g\n", side, j, best);
        worst = fmax(worst, best);
    }
    free(out);
    probe_end(&p);
    mor_derivative_destroy(d);
    return worst;
}

static void one_sided_derivatives_agree_with_steps_to_that_side(void** state)
{
    (void)state;
    static const char* const texts[] = {
        "moreau: 1\ngravity: [0, 0, 0]\n" EXACT
        "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.3 }\n"
        "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, friction: 0.3, position: [0, 0, 0.51], velocity: [2, 1, "
        "-1] "
        "}\n",
        "moreau: 1\ngravity: [0, 0, 0]\n" EXACT "bodies:\n  - { name: floor, shape: plane, fixed: true }\n"
        "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, position: [0, 0, 0.51], velocity: [0, 0, -1] }\n",
        "moreau: 1\ndimension: 2\ngravity: [0.6, -0.8]\n" EXACT
        "bodies:\n  - { name: ground, shape: { chain: [[-5, 0], [5, 0]] }, fixed: true, friction: 0.75 }\n"
        "  - { name: grain, shape: particle, mass: 1, friction: 0.75, position: [0, 0] }\n",
        "moreau: 1\ngravity: [0.6, 0, -0.8]\n" EXACT
        "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.75 }\n"
        "  - { name: box, shape: { box: [1, 1, 0.1] }, mass: 1, friction: 0.75, position: [0, 0, 0.05] }\n",
        "moreau: 1\ndimension: 2\ngravity: [0, 0]\n" EXACT
        "bodies:\n  - { name: ground, shape: { chain: [[-5, 0], [5, 0]] }, fixed: true }\n"
        "  - { name: disc, shape: { disc: 0.3 }, mass: 1, position: [0, 0.31], velocity: [0, -1] }\n",
        /* an arm that stands exactly at the limits of its joints, at one at the upper, at the other at the lower one */
        "moreau: 1\ngravity: [0, 0, 0]\n" EXACT "robots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, "
        "position: [0, 0, 3], joints: { shoulder: 2.5, elbow: -2.5 } }\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (int side = -1; side <= 1; side += 2) {
            mor_scene* scene;
            mor_world* w = test_scene_text(texts[i], &scene);
            double e = sided_error(w, side);
            print_message("switch %zu, side %d: %.2g\n", i, side, e);
            if (!(e < 1e-4)) fail_msg("switch %zu, side %d: %.3g", i, side, e);
            mor_world_destroy(w);
            mor_scene_destroy(scene);
        }
}

/* Switches with a closed form: one number of the end by one of the state, to either side. */
static void one_sided_derivatives_have_their_closed_forms(void** state)
{
    (void)state;
#define GROUND "bodies:\n  - { name: ground, shape: { chain: [[-5, 0], [5, 0]] }, fixed: true, friction: 0.5 }\n"
    static const struct {
        const char *name, *text;
        int row, column;     /* 0, 1: position; 2, 3: velocity */
        double below, above; /* derivative to the one and to the other side */
    } cases[] = {
        { "slides and just stops: v+ = max(0, v - mu g h)",
          "moreau: 1\ndimension: 2\ngravity: [0, -10]\n" EXACT GROUND
          "  - { name: grain, shape: particle, mass: 1, friction: 0.5, position: [0, 0], velocity: [0.05, 0] }\n",
          2, 2, 0.0, 1.0 },
        { "lies on the ground without weight: v+ = max(0, v)",
          "moreau: 1\ndimension: 2\ngravity: [0, 0]\n" EXACT GROUND
          "  - { name: grain, shape: particle, mass: 1, friction: 0.5, position: [0, 0] }\n",
          3, 3, 0.0, 1.0 },
        { "reaches the ground at the end of the step: v+ = max(v, -y/h), by y",
          "moreau: 1\ndimension: 2\ngravity: [0, 0]\n" EXACT GROUND
          "  - { name: grain, shape: particle, mass: 1, friction: 0.5, position: [0, 0.01], velocity: [0, -1] }\n",
          3, 1, -100.0, 0.0 },
        { "slides and just touches: v_x+ = v - mu max(0, -v_y - y/h), by v_y",
          "moreau: 1\ndimension: 2\ngravity: [0, 0]\n" EXACT GROUND
          "  - { name: grain, shape: particle, mass: 1, friction: 0.5, position: [0, 0.01], velocity: [3, -1] }\n",
          2, 3, 0.5, 0.0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_scene* scene;
        mor_world* w = test_scene_text(cases[i].text, &scene);
        for (int side = -1; side <= 1; side++) {
            mor_derivative* d = NULL;
            mor_error error = { 0 };
            if (mor_world_derivative_sided(w, NULL, 0, side, &d, &error)) fail_msg("%s: %s", cases[i].name, error.text);
            assert_int_equal(d->rows, 4);
            if (d->differentiable != (side != 0)) fail_msg("%s, side %d: '%s'", cases[i].name, side, d->why);
            double is = d->matrix[cases[i].row * 4 + cases[i].column];
            if (side) test_near(is, side < 0 ? cases[i].below : cases[i].above, 1e-8, cases[i].name);
            mor_derivative_destroy(d);
        }
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* A ball that bounces has no derivative where it just reaches the floor: its velocity jumps. Without friction a contact
 * that slips has no edge between sticking and sliding. */
static void jumps_are_told_and_smooth_contacts_have_no_edge(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    mor_world* w = test_scene_text("moreau: 1\ngravity: [0, 0, 0]\n" EXACT
                                   "bodies:\n  - { name: floor, shape: plane, fixed: true }\n"
                                   "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, restitution: 0.7, position: "
                                   "[0, 0, 0.51], velocity: [0, 0, -1] }\n",
                                   &scene);
    if (mor_world_derivative(w, NULL, 0, &d, &error)) fail_msg("%s", error.text);
    assert_false(d->differentiable);
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    w = test_scene_text("moreau: 1\n" EXACT "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0 }\n"
                        "  - { name: ball, shape: { sphere: 0.5 }, mass: 1, friction: 0, position: [0, 0, 0.5] }\n",
                        &scene);
    if (mor_world_derivative(w, NULL, 0, &d, &error)) fail_msg("%s", error.text);
    if (!d->differentiable) fail_msg("%s", d->why);
    assert_int_equal(d->weak, 0);
    test_near(d->matrix[6 * 12 + 6], 1.0, 1e-9, "it slips as it did");
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void refused(const char* text, mor_code code, const char* word)
{
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    assert_int_equal(mor_world_derivative(w, NULL, 0, &d, &error), code);
    assert_null(d);
    if (!strstr(error.text, word)) fail_msg("'%s' does not say '%s'", error.text, word);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Steps that are not solved, steps of other integrators, of variable length, with friction against rolling. */
static void careless_use_is_refused_with_a_sentence(void** state)
{
    (void)state;
#define STACK                                                                                                          \
    "bodies:\n" FLOOR "  - { name: a, shape: { box: [1, 1, 1] }, mass: 1, friction: 0.4, position: [0, 0, 0.5] }\n"    \
    "  - { name: b, shape: { box: [1, 1, 1] }, mass: 50, friction: 0.4, position: [0.2, 0, 1.5] }\n"
    refused("moreau: 1\nmethod: { formulation: st, solver: { name: pgs, max_iter: 2 }, on_failure: warn }\n" STACK,
            MOR_STOPPED, "a derivative needs");
    refused("moreau: 1\nmethod: { integrator: rk4 }\n" STACK, MOR_BAD_INPUT, "rk4");
    refused("moreau: 1\nmethod: { formulation: sequential-impulses }\n" STACK, MOR_BAD_INPUT, "sequential-impulses");
    refused("moreau: 1\ntime: { step: adaptive }\n" STACK, MOR_BAD_INPUT, "variable length");
    refused("moreau: 1\nmaterials: { m: { friction: 0.4, rolling: 0.01 } }\nbodies:\n"
            "  - { name: floor, shape: plane, fixed: true, material: m }\n"
            "  - { name: a, shape: { sphere: 0.5 }, mass: 1, material: m, position: [0, 0, 0.5] }\n",
            MOR_BAD_INPUT, "rolling");
}

static void what_has_no_derivative_is_refused(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(slider, &scene);
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    mor_input wrong[] = {
        { MOR_INPUT_MASS, 0, 0 }, { MOR_INPUT_FORCE, 99, 0 }, { MOR_INPUT_FORCE, 1, 6 }, { MOR_INPUT_JOINT_FORCE, 0, 0 }
    };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mor_world_derivative(w, &wrong[i], 1, &d, &error), MOR_BAD_INPUT);
        assert_null(d);
    }
    test_method(w, "formulation", "penalty");
    assert_int_equal(mor_world_derivative(w, NULL, 0, &d, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "penalty"));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_agree_with_differences_of_steps),
        cmocka_unit_test(every_step_of_default_runs_agrees),
        cmocka_unit_test(forces_gravity_mass_size_and_friction_agree),
        cmocka_unit_test(a_ball_that_grows_is_lifted),
        cmocka_unit_test(the_moment_of_an_impact_is_followed),
        cmocka_unit_test(many_steps_forward_and_backward_agree),
        cmocka_unit_test(gradients_of_arms_agree_with_the_matrix),
        cmocka_unit_test(little_memory_gives_the_same_gradient),
        cmocka_unit_test(switches_are_told),
        cmocka_unit_test(one_sided_derivatives_agree_with_steps_to_that_side),
        cmocka_unit_test(one_sided_derivatives_have_their_closed_forms),
        cmocka_unit_test(jumps_are_told_and_smooth_contacts_have_no_edge),
        cmocka_unit_test(careless_use_is_refused_with_a_sentence),
        cmocka_unit_test(what_has_no_derivative_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
