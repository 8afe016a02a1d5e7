/* How auto chooses on time steps: by counted costs and rates, not by the tolerance or the clock. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

static mor_world* world_of(double tol)
{
    char text[32];
    mor_world* w = test_world(0.01);
    test_method(w, "formulation", "ncp");
    test_method(w, "solver", "auto");
    snprintf(text, sizeof text, "%g", tol);
    test_option(w, "solver", "tol", text);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    return w;
}

/* A wall of boxes, `n` in its lowest row. */
static mor_world* pyramid(int n, double tol)
{
    mor_world* w = world_of(tol);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n - k; i++)
            test_body(w, test_box(1, 1, 1), 1.0, mor_v3((i - 0.5 * (n - k - 1)) * 1.05, 0, 0.5 + k), no_turn);
    return w;
}

static mor_world* spheres(int n, double tol)
{
    mor_world* w = world_of(tol);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) test_body(w, test_sphere(0.5), 1.0, mor_v3(i, j, k + 0.5), no_turn);
    return w;
}

static double work(mor_world* w, int steps)
{
    double sum = 0.0;
    for (int i = 0; i < steps; i++) sum += test_steps(w, 1).iterations;
    mor_world_destroy(w);
    return sum;
}

/* The next looser tolerance never costs more than 1.1 times as many iterations. */
static void a_loose_tolerance_costs_no_more_than_a_tight_one(void** state)
{
    (void)state;
    for (int scene = 0; scene < 2; scene++) {
        double tighter = INFINITY;
        for (int k = 10; k >= 3; k--) {
            double tol = pow(10.0, -k);
            double here = scene ? work(spheres(4, tol), 40) : work(pyramid(7, tol), 40);
            if (here > 1.1 * tighter) fail_msg("scene %d: %g iterations at %g, %g before", scene, here, tol, tighter);
            tighter = here;
        }
    }
}

/* The same on stock scenes, one of each kind: sliding, a large mass ratio, a peg in a hole, rolling, a stack. */
static void a_loose_tolerance_costs_no_more_on_stock_scenes(void** state)
{
    (void)state;
    const char* names[] = { "s4_slide", "s4_stick", "s5", "s6", "s8_roll", "s8_bounce", "stack" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double tighter = INFINITY;
        for (int k = 10; k >= 3; k--) {
            char text[32];
            mor_scene* scene;
            mor_world* w = test_scene_file(names[i], &scene);
            snprintf(text, sizeof text, "1e-%d", k);
            test_method(w, "solver", "auto");
            test_option(w, "solver", "tol", text);
            double here = work(w, 60);
            mor_scene_destroy(scene);
            if (here > 1.1 * tighter) fail_msg("%s: %g iterations at %s, %g before", names[i], here, text, tighter);
            tighter = here;
        }
    }
}

/* Nothing moves, so the last answer is nearly the next one: a step needs one Newton iteration or none. */
static void walls_at_rest_are_solved_once(void** state)
{
    (void)state;
    mor_world* w = pyramid(7, 1e-8);
    int worked = 0;
    test_steps(w, 1);
    for (int i = 0; i < 100; i++) worked += test_steps(w, 1).iterations;
    assert_true(worked <= 100);
    mor_world_destroy(w);
}

/* Contact chains of spheres are short and their factors dear: 512 of them are swept. */
static void spheres_are_swept_and_walls_are_factored(void** state)
{
    (void)state;
    mor_world* w = spheres(8, 1e-8);
    mor_step_report r = test_steps(w, 1);
    assert_true(r.iterations > 60 && r.iterations < 600);
    mor_world_destroy(w);
    w = pyramid(12, 1e-8);
    r = test_steps(w, 1);
    assert_true(r.iterations < 60);
    mor_world_destroy(w);
}

/* A ball that falls onto a floor with friction, spinning. Until it touches, no impulse is the answer and nothing is
 * iterated; the touch itself is one system of equations, not an iteration from afar. */
static void a_first_touch_is_one_system(void** state)
{
    (void)state;
    for (int slips = 0; slips < 2; slips++) {
        mor_world* w = world_of(1e-8);
        mor_body_id ball = test_body(w, test_sphere(0.5), 2.0, mor_v3(0, 0, 0.8), no_turn);
        test_velocity(w, ball, mor_v3(slips ? 4.0 : 0.1, 0.3, -0.2), mor_v3(0.2, 0.1, 0.4));
        int touching = 0;
        for (int i = 0; i < 60; i++) {
            mor_step_report r = test_steps(w, 1);
            touching += r.iterations > 0;
            if (r.iterations > 1) fail_msg("step %d: %d iterations", i, r.iterations);
        }
        assert_true(touching > 10 && touching < 60);
        mor_world_destroy(w);
    }
}

/* A box slides down a slope. Its impulses stay the same, so most steps need nothing but a look at them. Correcting what
 * rounding leaves in the gaps would leave impulses that do not fit, and correcting those again: two steps of three were
 * solved. The answers stay good to a tenth of the 1e-10 m/s that are aimed at; the distance is a t^2/2 (docs: S4) but
 * for the first step's half. */
static void a_box_that_slides_keeps_its_impulses(void** state)
{
    (void)state;
    mor_rng rng = { 20261 };
    for (int run = 0; run < 6; run++) {
        const double angle = 0.5 + 0.2 * mor_rng_uniform(&rng), mu = 0.2 + 0.2 * mor_rng_uniform(&rng), h = 0.005;
        char text[600];
        const double x = 4.0 * mor_rng_uniform(&rng), up = 0.3 + 0.5 * mor_rng_uniform(&rng);
        const double turn = angle * 180.0 / 3.14159265358979323846;
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: %.17g, end: 10 }\nmethod: { solver: { name: auto, tol: 1e-8 } }\n"
                 "materials: { stone: { friction: %.17g } }\nbodies:\n"
                 "  - { name: slope, shape: plane, orientation: { axis: [0, 1, 0], angle: %.17g }, fixed: true, "
                 "material: stone }\n"
                 "  - { name: box, shape: { box: [1, 0.8, %.17g] }, mass: 2.5, material: stone, "
                 "position: [%.17g, 0, %.17g], orientation: { axis: [0, 1, 0], angle: %.17g } }\n",
                 h, mu, turn, 2.0 * up, x * cos(angle) + up * sin(angle), up * cos(angle) - x * sin(angle), turn);
        mor_scene* scene;
        mor_world* w = test_scene_text(text, &scene);
        const mor_body_id box = mor_world_body(w, 1);
        const mor_vec3 start = test_state(w, box).pose.position;
        int solved = 0, steps = 400;
        for (int i = 0; i < steps; i++) {
            const mor_step_report r = test_steps(w, 1);
            const mor_report* own = mor_step_island_report(mor_world_last_step(w), 0);
            solved += strstr(own->detail, "guess") != own->detail;
            assert_true(r.velocity_error <= 1e-11);
        }
        if (solved > steps / 4) fail_msg("run %d: %d of %d steps were solved", run, solved, steps);
        const double a = 9.81 * (sin(angle) - mu * cos(angle)), t = h * steps;
        const double far = mor_norm(mor_sub(test_state(w, box).pose.position, start));
        test_near(far, 0.5 * a * t * (t + h), 1e-9, "distance");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loose_tolerance_costs_no_more_than_a_tight_one),
        cmocka_unit_test(a_loose_tolerance_costs_no_more_on_stock_scenes),
        cmocka_unit_test(walls_at_rest_are_solved_once),
        cmocka_unit_test(spheres_are_swept_and_walls_are_factored),
        cmocka_unit_test(a_first_touch_is_one_system),
        cmocka_unit_test(a_box_that_slides_keeps_its_impulses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
