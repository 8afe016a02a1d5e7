/* What has no derivative, and what cannot be looked for: the sentences of derivatives, searches, inverse dynamics. */
#include "common/worlds.h"

#include "moreau/control.h"
#include "moreau/derivative.h"
#include "moreau/inverse.h"
#include "moreau/optimise.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A ball above a floor, an arm of two joints with a controller. */
static const char text[] = "moreau: 1\ntime: { step: 0.01, end: 1 }\nmaterials:\n  stone: { friction: 0.5 }\nbodies:\n "
                           " - { name: floor, shape: "
                           "plane, fixed: true, material: stone }\n  - { name: ball, shape: { sphere: 0.1 }, mass: 1, "
                           "material: stone, position: "
                           "[3, 0, 0.5] }\nrobots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, position: "
                           "[0, 0, 9] }\ncontrollers:\n  "
                           "- { robot: arm, type: pid, kp: 5, kd: 1, targets: 0.1 }\n";

static void says(const mor_error* error, mor_code code, const char* part)
{
    if (code != MOR_BAD_INPUT || !strstr(error->text, part))
        fail_msg("code %d, '%s', not '%s'", (int)code, error->text, part);
}

static int body_number(const mor_world* w, const char* name) { return mor_body_index(w, mor_world_find_body(w, name)); }

static void inputs_that_are_not_there_are_told(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    int floor = body_number(w, "floor"), ball = body_number(w, "ball"), link = mor_world_body_count(w) - 1;
    const struct {
        mor_input in;
        const char* says;
    } cases[] = {
        { { MOR_INPUT_GRAVITY, 0, 3 }, "component 3; there are 3" },
        { { MOR_INPUT_GRAVITY, 0, -1 }, "component -1; there are 3" },
        { { MOR_INPUT_GRAVITY, 1, 0 }, "index 1; there are 1" },
        { { MOR_INPUT_FORCE, -1, 0 }, "index -1" },
        { { MOR_INPUT_FORCE, 99, 0 }, "index 99" },
        { { MOR_INPUT_FORCE, ball, 6 }, "component 6; there are 6" },
        { { MOR_INPUT_FORCE, floor, 0 }, "body 'floor' has no motion of its own" },
        { { MOR_INPUT_MASS, floor, 0 }, "body 'floor' has no mass of its own" },
        { { MOR_INPUT_MASS, link, 0 }, "has no mass of its own" },
        { { MOR_INPUT_FRICTION, 99, 0 }, "index 99" },
        { { MOR_INPUT_RESTITUTION, -2, 0 }, "index -2" },
        { { MOR_INPUT_JOINT_FORCE, 1, 0 }, "index 1; there are 1" },
        { { MOR_INPUT_JOINT_FORCE, 0, 2 }, "component 2; there are 2" },
        { { MOR_INPUT_KP, 1, 0 }, "controller 1; there are 1" },
        { { MOR_INPUT_KP, -1, 0 }, "controller -1; there are 1" },
        { { MOR_INPUT_KP, 0, 2 }, "joint 2; there are 2" },
        { { MOR_INPUT_KP, 0, -1 }, "joint -1; there are 2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_derivative* d = NULL;
        mor_error error = { 0 };
        says(&error, mor_world_derivative(w, &cases[i].in, 1, &d, &error), cases[i].says);
        assert_null(d);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Stages of the caller's; none of them is called. */
static mor_code collide(void* user, const mor_world* world, mor_found* found, mor_error* error)
{
    (void)user, (void)world, (void)found;
    return mor_fail(error, MOR_BAD_INPUT, "called");
}

static mor_report solve(void* user, const mor_system* system, mor_solve_stage* stage, mor_answer* answer)
{
    (void)user, (void)system, (void)stage, (void)answer;
    return (mor_report){ 0 };
}

static void integrate(void* user, mor_world* world) { (void)user, (void)world; }

static void steps_without_a_derivative_are_told(void** state)
{
    (void)state;
    static const struct {
        const char *set, *says;
    } cases[] = {
        { "method.formulation=xpbd", "the formulation 'xpbd' has no derivative" },
        { "method.integrator=rk4", "has no derivative; semi-implicit has one" },
        { "time.step=adaptive", "steps of variable length have no derivative" },
    };
    mor_error error = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_derivative* d = NULL;
        const char* sets[] = { cases[i].set, NULL };
        mor_scene* scene = mor_scene_load(MOREAU_SOURCE_DIR "/scenes/benchmark/s4_slide.yaml", sets, NULL, &error);
        mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
        if (!w) fail_msg("%s: %s", cases[i].set, error.text);
        says(&error, mor_world_derivative(w, NULL, 0, &d, &error), cases[i].says);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    mor_scene* scene;
    mor_derivative* d = NULL;
    mor_inverse_dynamics* answer = NULL;
    mor_world* w = test_scene_text(text, &scene);
    double nu[64] = { 0 }, bad[64] = { NAN };
    assert_true(mor_world_nu_count(w) <= 64);
    static const double speeds[] = { NAN, -1.0, INFINITY };
    for (int i = 0; i < 3; i++) {
        mor_code code = mor_world_derivative_smoothed(w, NULL, 0, speeds[i], &d, &error);
        says(&error, code, "");
    }
    says(&error, mor_world_inverse(w, NULL, bad, NULL, &answer, &error), "");
    mor_world_on_solve(w, solve, NULL);
    says(&error, mor_world_derivative(w, NULL, 0, &d, &error), "a stage of the caller's");
    says(&error, mor_world_inverse(w, NULL, nu, NULL, &answer, &error), "a stage of the caller's");
    mor_world_on_solve(w, NULL, NULL);
    mor_world_on_integrate(w, integrate, NULL);
    says(&error, mor_world_derivative(w, NULL, 0, &d, &error), "a stage of the caller's");
    says(&error, mor_world_inverse(w, NULL, nu, NULL, &answer, &error), "a stage of the caller's");
    mor_world_on_integrate(w, NULL, NULL);
    mor_world_on_collide(w, collide, NULL);
    says(&error, mor_world_derivative(w, NULL, 0, &d, &error), "a stage of the caller's");
    says(&error, mor_world_inverse(w, NULL, nu, NULL, &answer, &error), "a stage of the caller's");
    mor_world_on_collide(w, NULL, NULL);
    assert_int_equal(mor_world_derivative(w, NULL, 0, &d, &error), MOR_OK);
    mor_derivative_destroy(d);
    mor_inverse_dynamics_destroy(answer);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void what_cannot_be_looked_for_is_told(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    int n = mor_world_nu_count(w), spin = mor_body_span(w, mor_world_find_body(w, "ball")).nu + 4;
    const mor_unknown good = { .kind = MOR_UNKNOWN_VELOCITY };
    const mor_goal goal = { .value = 1, .weight = 1 };
    const struct {
        int steps, unknowns, goals;
        mor_unknown u;
        mor_goal g;
        const char* says;
    } cases[] = {
        { 0, 1, 1, good, goal, "at least one step" },
        { 1, 0, 1, good, goal, "at least one step" },
        { 1, 1, 0, good, goal, "at least one step" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_VELOCITY, .number = -1 }, goal, "unknown 0: number -1" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_VELOCITY, .number = n }, goal, "unknown 0: number" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_POSITION, .number = n + 3 }, goal, "unknown 0: number" },
        { 1,
          1,
          1,
          { .kind = MOR_UNKNOWN_POSITION, .number = spin },
          goal,
          "a rotation; give a translation or a joint" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_MASS, 1, 0 } }, goal, "can be looked for" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_FRICTION, 0, 0 } }, goal, "can be looked for" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_GRAVITY, 0, 5 } }, goal, "component 5" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_GRAVITY, 0, -1 } }, goal, "component -1" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_FORCE, 99, 0 } }, goal, "index 99" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_FORCE, 1, 6 } }, goal, "component 6" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_JOINT_FORCE, 7, 0 } }, goal, "index 7" },
        { 1, 1, 1, { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_JOINT_FORCE, 0, 2 } }, goal, "component 2" },
        { 1, 1, 1, good, { .number = -1, .weight = 1 }, "goal 0: number -1" },
        { 1, 1, 1, good, { .number = n, .weight = 1 }, "goal 0: number" },
        { 1, 1, 1, good, { .value = NAN, .weight = 1 }, "not finite" },
        { 1, 1, 1, good, { .value = 1, .weight = INFINITY }, "not finite" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_error error = { 0 };
        mor_optimum best;
        double x = 0.5;
        says(&error,
             mor_world_optimise(w, cases[i].steps, &cases[i].u, cases[i].unknowns, &cases[i].g, cases[i].goals, NULL,
                                &x, &best, &error),
             cases[i].says);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Without derivatives the simplex finds what the closed form says: a ball thrown up is at height
 * z0 + v t - g t (t + h)/2 after t, so two unknown velocities hit two goals. */
static void a_search_without_derivatives_hits_its_goals(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_error error = { 0 };
    mor_world* w = test_scene_text(text, &scene);
    int nu = mor_body_span(w, mor_world_find_body(w, "ball")).nu;
    const double h = 0.01, t = 0.1, x = 3.07, z = 0.62;
    const mor_unknown unknowns[] = { { .kind = MOR_UNKNOWN_VELOCITY, .number = nu },
                                     { .kind = MOR_UNKNOWN_VELOCITY, .number = nu + 2 } };
    const mor_goal goals[] = { { .number = nu, .value = x, .weight = 1 },
                               { .number = nu + 2, .value = z, .weight = 1 } };
    mor_optimise_options o = mor_optimise_options_default();
    mor_optimum best;
    double v[2] = { 0.0, 0.0 };
    o.search = 1, o.most_simulations = 400, o.tolerance = 1e-9;
    assert_int_equal(mor_world_optimise(w, 10, unknowns, 2, goals, 2, &o, v, &best, &error), MOR_OK);
    test_near(v[0], (x - 3.0) / t, 1e-6, "velocity along x");
    test_near(v[1], (z - 0.5 + 9.81 * t * (t + h) / 2.0) / t, 1e-6, "velocity along z");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* Forces of a scene on a ball in free flight: does the derivative after so many steps say that it holds them? */
static bool holds(const char* forces, int steps, int of)
{
    char all[600];
    snprintf(all, sizeof all,
             "moreau: 1\ntime: { step: 0.01, end: 1 }\nbodies:\n  - { name: ball, shape: { sphere: 0.1 }, mass: 1 }\n"
             "forces:\n%s",
             forces);
    mor_scene* scene;
    mor_world* w = test_scene_text(all, &scene);
    test_steps(w, steps);
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    mor_code code =
        of == 1 ? mor_world_derivative(w, NULL, 0, &d, &error) : mor_world_derivatives(w, of, NULL, 0, &d, &error);
    if (code) fail_msg("%s", error.text);
    bool held = d->forces_held;
    assert_true(d->differentiable);
    mor_derivative_destroy(d);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return held;
}

static void forces_that_follow_the_state_are_told(void** state)
{
    (void)state;
    static const char plain[] = "  - { body: ball, force: [1, 0, 0] }\n";
    static const char turned[] = "  - { body: ball, force: [1, 0, 0], frame: body, from: 0.02, until: 0.04 }\n";
    static const char aside[] = "  - { body: ball, force: [0, 0, 2], at: [0.05, 0, 0] }\n";
    assert_false(holds(plain, 0, 1));
    assert_true(holds(aside, 0, 1));
    assert_false(holds(turned, 0, 1)); /* not yet */
    assert_true(holds(turned, 2, 1));
    assert_false(holds(turned, 4, 1)); /* not any more */
    assert_true(holds(turned, 0, 4));
}

static void push(void* user, mor_world* world)
{
    (void)user;
    mor_body_apply(world, mor_world_find_body(world, "ball"), mor_v3(1, 0, 0), mor_v3(0, 0, 0.1));
}

static void forces_of_a_function_are_told(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    for (int pass = 0; pass < 2; pass++) {
        mor_derivative* d = NULL;
        mor_error error = { 0 };
        if (mor_world_derivative(w, NULL, 0, &d, &error)) fail_msg("%s", error.text);
        assert_int_equal(d->forces_held, pass);
        mor_derivative_destroy(d);
        mor_world_on_user(w, push, NULL);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_that_follow_the_state_are_told),
        cmocka_unit_test(forces_of_a_function_are_told),
        cmocka_unit_test(inputs_that_are_not_there_are_told),
        cmocka_unit_test(steps_without_a_derivative_are_told),
        cmocka_unit_test(what_cannot_be_looked_for_is_told),
        cmocka_unit_test(a_search_without_derivatives_hits_its_goals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
