/* Fast bodies that turn by radians in a step: none passes a plate of 5 mm, whatever the formulation.
 *
 * Expected: the centre stays on its side of the plate; kinetic energy does not grow (no gravity, nothing bounces);
 * after the step hardly anything overlaps. Frictionless balls that meet askew part along the line of centres of the
 * impact and do not spin. */
#include <math.h>
#include <stdio.h>

#include "common/random_scenes.h"

/* Solids of 0.05 m, and every sixth a thin rod. */
static mor_geometry* bullet(uint64_t* seed, int k, double* radius)
{
    if (k % 6 < 5) return test_solid(seed, k % 6, 0.05, radius);
    double half = test_random(seed, 0.15, 0.3), thin = test_random(seed, 1e-3, 5e-3);
    *radius = hypot(thin, half);
    return test_box(thin, thin, 2 * half);
}

typedef struct method {
    const char *formulation, *collision;
    bool papers; /* the papers' contacts: overlap is left to the next step, which pushes it out at depth over h */
} method;

static int told(mor_world* w)
{
    mor_world_destroy(w);
    return 1;
}

/* One body, ten steps, against a plate across x of that width; turning by `least` to `turn` rad in a step. Returns
 * whether the run stopped, which only the papers' contacts may, and said so. */
static int shoot(uint64_t* seed, int k, method m, double width, double least, double turn)
{
    double h = test_random(seed, 0.001, 0.02), v = exp(test_random(seed, 0, log(500))), mu = test_random(seed, 0, 1), r;
    mor_world* w = test_default_world(3, h, mor_v3(0, 0, 0));
    test_method(w, "formulation", m.formulation);
    test_method(w, "collision", m.collision);
    mor_geometry *plate = test_box(0.005, width, width), *shape = bullet(seed, k, &r);
    test_add(w, MOR_FIXED, &plate, NULL, 1, 0, mu, mor_pose_identity());
    mor_pose at = { mor_v3(-r - 0.001 - v * h * test_random(seed, 0, 2), 0, 0), test_random_turn(seed) };
    mor_body_id body = test_add(w, MOR_DYNAMIC, &shape, NULL, 1, 1.0, mu, at);
    mor_vec3 way = mor_v3(1, test_random(seed, -0.2, 0.2), test_random(seed, -0.2, 0.2));
    mor_vec3 axis = mor_normalize(test_random_vector(seed), mor_v3(1, 0, 0));
    test_velocity(w, body, mor_scale(v / mor_norm(way), way), mor_scale(test_random(seed, least, turn) / h, axis));
    double start = mor_world_kinetic_energy(w), energy = start, gain = 0.0, depth = 0.0;
    for (int i = 0; i < 10; i++) {
        mor_error error = { 0 };
        mor_step_report report;
        mor_code code = mor_world_step(w, &report, &error);
        if (code == MOR_STOPPED && m.papers) return told(w); /* jammed: no impulse undoes depth over h */
        if (code) fail_msg("%s", error.text);
        double now = mor_world_kinetic_energy(w);
        gain = fmax(gain, now - energy - report.correction_work);
        depth = fmax(depth, report.penetration);
        energy = now;
    }
    mor_vec3 x = test_state(w, body).com;
    char what[120];
    snprintf(what, sizeof what, "%s, shape %d (h %g, v %g, mu %g)", m.formulation, k % 6, h, v, mu);
    if (fabs(x.y) < 0.45 * width && fabs(x.z) < 0.45 * width && !(x.x < 0.0)) fail_msg("%s: behind the plate", what);
    test_near(gain, 0.0, 1e-9 * start, what);
    if (!m.papers && depth > 0.15 * r) fail_msg("%s: %g m deep", what, depth);
    mor_world_destroy(w);
    return 0;
}

static const method methods[] = { { "ncp", "manifold", false },      { "st", "manifold", false },
                                  { "mncp", "manifold", false },     { "peg", "features", false },
                                  { "ap", "manifold", false },       { "convex", "manifold", false },
                                  { "implicit", "manifold", false }, { "gauss", "manifold", false },
                                  { "st", "features", true },        { "ap", "features", true },
                                  { "ncp", "features", true },       { "peg-heuristic", "features", true } };
enum { METHODS = sizeof methods / sizeof *methods };

static void fast_bodies_that_turn_do_not_pass_plates(void** state)
{
    (void)state;
    uint64_t seed = test_seed(71);
    for (int m = 0; m < METHODS; m++) {
        int stopped = 0;
        for (int k = 0; k < 60; k++) stopped += shoot(&seed, k, methods[m], 80, 0, 2.9);
        if (stopped > 6)
            fail_msg("%s with %s stops in %d of 60", methods[m].formulation, methods[m].collision, stopped);
    }
}

/* Half a turn in a step and more: the rod meets the plate in the middle of the step and is clear of it at the end. */
static void rods_that_turn_round_in_a_step_do_not_pass_plates(void** state)
{
    (void)state;
    uint64_t seed = test_seed(74);
    for (int m = 0; m < METHODS; m++)
        for (int k = 0; k < (m == 3 ? 200 : 20); k++) shoot(&seed, 5, methods[m], k % 2 ? 600 : 80, 2.5, 6);
}

/* A rod stuck in a plate is moved out: its inertia about the long axis is 1e4 times less than across. */
static void rods_do_not_stay_in_plates(void** state)
{
    (void)state;
    uint64_t seed = test_seed(72);
    for (int k = 0; k < 20; k++) {
        mor_world* w = test_default_world(3, 0.01, mor_v3(0, 0, 0));
        double length = test_random(&seed, 0.2, 1), thin = length * test_random(&seed, 0.003, 0.02), depth;
        double tilt = test_random(&seed, 0.2, 1.2), in = test_random(&seed, 0.1, 0.4) * length;
        mor_geometry *plate = test_box(3, 3, 0.05), *rod = test_box(thin, thin, length);
        test_add(w, MOR_FIXED, &plate, NULL, 1, 0, 0.5, (mor_pose){ mor_v3(0, 0, -0.025), mor_quat_identity() });
        mor_pose at = { mor_v3(0, 0, (0.5 * length - in) * cos(tilt)), mor_quat_axis_angle(mor_v3(0, 1, 0), tilt) };
        mor_quat spin = mor_quat_axis_angle(mor_v3(0, 0, 1), test_random(&seed, -3, 3));
        at.rotation = mor_quat_mul(at.rotation, spin);
        mor_body_id body = test_add(w, MOR_DYNAMIC, &rod, NULL, 1, 1.0, 0.5, at);
        test_run(w, 3, &depth);
        char what[80];
        snprintf(what, sizeof what, "case %d (thin %g, length %g)", k, thin, length);
        mor_step_report last = test_steps(w, 1);
        test_near(last.penetration, 0.0, 1e-3 * length, what);
        if (!(test_state(w, body).com.z > 0.0)) fail_msg("%s: below the plate", what);
        mor_world_destroy(w);
    }
}

static void balls_that_meet_askew_do_not_spin(void** state)
{
    (void)state;
    uint64_t seed = test_seed(73);
    for (int k = 0; k < 60; k++) {
        double h = test_random(&seed, 0.002, 0.02), v = exp(test_random(&seed, log(0.5), log(200))),
               mass = test_random(&seed, 0.2, 5), sine = test_random(&seed, 0.05, 0.95);
        double until = test_random(&seed, 0.01, 0.7); /* share of the step before the impact */
        /* normals that turn by less than 1e-3 rad on a short way are those of the start */
        test_glancing(h, v, sine, until, mass, 2e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_bodies_that_turn_do_not_pass_plates),
        cmocka_unit_test(rods_that_turn_round_in_a_step_do_not_pass_plates),
        cmocka_unit_test(rods_do_not_stay_in_plates),
        cmocka_unit_test(balls_that_meet_askew_do_not_spin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
