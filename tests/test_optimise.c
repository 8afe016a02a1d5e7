/* Goals that are reached by the derivative through contact, from twenty random starts, with
 * the closed form as judge, and with a simplex of values beside it. */
#include "common/worlds.h"

#include "moreau/optimise.h"
#include "moreau/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METHOD "method: { solver: { name: auto, tol: 1e-12 } }\n"
#define PUCK                                                                                                           \
    "moreau: 1\ntime: { step: 0.02 }\n" METHOD                                                                         \
    "bodies:\n  - { name: ice, shape: plane, fixed: true, friction: 0.1 }\n"                                           \
    "  - { name: puck, shape: { box: [0.2, 0.2, 0.05] }, mass: 0.5, friction: 0.1, position: [0, 0, 0.025], "          \
    "velocity: "                                                                                                       \
    "[2, 0.3, 0] }\n"

static int first_number(const mor_world* w, const char* name)
{
    return mor_body_span(w, mor_world_find_body(w, name)).nu;
}

/* Residuals and slopes against differences of runs; the world stays as it is. */
static void slopes_of_runs_agree_with_differences(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(PUCK, &scene);
    int k = first_number(w, "puck");
    mor_unknown u[3] = { { .kind = MOR_UNKNOWN_VELOCITY, .number = k },
                         { .kind = MOR_UNKNOWN_POSITION, .number = k + 1 },
                         { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_FORCE, 1, 0 } } };
    mor_goal g[3] = { { .number = k, .value = 1, .weight = 2 },
                      { .number = k + 1, .value = 0.5, .weight = 1 },
                      { .number = k, .velocity = true, .value = 0, .weight = 3 } };
    double x[3] = { 2, 0.1, 0.2 }, r[3], J[9], up[3], down[3], by = 1e-5;
    mor_error error = { 0 };
    uint64_t hash = mor_world_hash(w);
    if (mor_world_residuals(w, 50, u, 3, x, g, 3, r, J, NULL, &error)) fail_msg("%s", error.text);
    assert_true(mor_world_hash(w) == hash);
    for (int i = 0; i < 3; i++) {
        double a[3] = { x[0], x[1], x[2] }, b[3] = { x[0], x[1], x[2] };
        a[i] += by, b[i] -= by;
        assert_int_equal(mor_world_residuals(w, 50, u, 3, a, g, 3, up, NULL, NULL, &error), MOR_OK);
        assert_int_equal(mor_world_residuals(w, 50, u, 3, b, g, 3, down, NULL, NULL, &error), MOR_OK);
        for (int j = 0; j < 3; j++) {
            double slope = (up[j] - down[j]) / (2 * by);
            if (!(fabs(slope - J[3 * j + i]) < 1e-6 * fmax(1.0, fabs(slope))))
                fail_msg("goal %d, unknown %d: %.9g, differences %.9g", j, i, J[3 * j + i], slope);
        }
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

enum { STARTS = 20 };

/* From all starts; the mean number of simulations. */
static double search(mor_world* w, int steps, const mor_unknown* u, int n, const mor_goal* g, int m,
                     const double* around, double spread, mor_search how, int* reached, double* last)
{
    mor_rng rng = { 42 };
    double sum = 0.0;
    *reached = 0;
    for (int s = 0; s < STARTS; s++) {
        double x[4];
        mor_optimise_options o = mor_optimise_options_default();
        mor_optimum best;
        mor_error error = { 0 };
        o.search = how;
        for (int i = 0; i < n; i++) x[i] = around[i] + spread * (2.0 * mor_rng_uniform(&rng) - 1.0);
        if (mor_world_optimise(w, steps, u, n, g, m, &o, x, &best, &error)) fail_msg("%s", error.text);
        *reached += best.reached;
        sum += best.simulations;
        if (best.reached) memcpy(last, x, (size_t)n * sizeof *x);
    }
    return sum / STARTS;
}

/* v^2 = 2 mu g s, and what the steps make of it: with N steps of h to rest, s = v^2/(2 mu g) - v h/2 + O(h^2). */
static void a_puck_slides_to_a_spot(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(PUCK, &scene);
    int k = first_number(w, "puck"), reached, plain;
    mor_unknown u[2] = { { .kind = MOR_UNKNOWN_VELOCITY, .number = k },
                         { .kind = MOR_UNKNOWN_VELOCITY, .number = k + 1 } };
    mor_goal g[2] = { { .number = k, .value = 2.0, .weight = 1 }, { .number = k + 1, .value = 0.5, .weight = 1 } };
    double around[2] = { 2.0, 0.5 }, x[2], y[2];
    double by_slopes = search(w, 150, u, 2, g, 2, around, 1.0, MOR_SEARCH_GRADIENT, &reached, x);
    double by_values = search(w, 150, u, 2, g, 2, around, 1.0, MOR_SEARCH_NELDER_MEAD, &plain, y);
    double s = hypot(2.0, 0.5), v = sqrt(2.0 * 0.1 * 9.81 * s);
    print_message("puck: %d of %d with slopes, %.1f simulations; %d with values, %.1f\n", reached, STARTS, by_slopes,
                  plain, by_values);
    assert_int_equal(reached, STARTS);
    assert_true(fabs(hypot(x[0], x[1]) - v) < 0.02); /* h mu g = 0.0196 m/s */
    assert_true(fabs(x[1] / x[0] - 0.25) < 1e-3);
    assert_true(by_values > 10.0 * by_slopes);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A ball over a wall into a bin: it flies, so that x = v t and z = v t - g t^2/2 to the order of the step. */
static void a_ball_is_thrown_into_a_bin(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w =
        test_scene_text("moreau: 1\ntime: { step: 0.01 }\n" METHOD "bodies:\n"
                        "  - { name: floor, shape: plane, fixed: true, friction: 0.5 }\n"
                        "  - { name: near, shape: { box: [0.05, 1, 0.6] }, fixed: true, position: [2, 0, 0.3] }\n"
                        "  - { name: far, shape: { box: [0.05, 1, 0.6] }, fixed: true, position: [2.8, 0, 0.3] }\n"
                        "  - { name: ball, shape: { sphere: 0.05 }, mass: 0.2, position: [0, 0, 0.5] }\n",
                        &scene);
    int k = first_number(w, "ball"), reached, plain;
    mor_unknown u[2] = { { .kind = MOR_UNKNOWN_VELOCITY, .number = k },
                         { .kind = MOR_UNKNOWN_VELOCITY, .number = k + 2 } };
    mor_goal g[2] = { { .number = k, .value = 2.4, .weight = 1 }, { .number = k + 2, .value = 0.4, .weight = 1 } };
    double around[2] = { 3.0, 4.0 }, x[2], t = 0.8;
    double count = search(w, 80, u, 2, g, 2, around, 0.3, MOR_SEARCH_GRADIENT, &reached, x);
    double y[2], by_values = search(w, 80, u, 2, g, 2, around, 0.3, MOR_SEARCH_NELDER_MEAD, &plain, y);
    print_message("ball: %d of %d with slopes, %.1f simulations; %d with values, %.1f\n", reached, STARTS, count, plain,
                  by_values);
    assert_int_equal(reached, STARTS);
    assert_true(by_values > 10.0 * count);
    assert_true(count < 8.0); /* from farther away walls are hit: see below */
    assert_true(fabs(x[0] - 2.4 / t) < 1e-5);
    assert_true(fabs(x[1] - (-0.1 + 0.5 * 9.81 * t * t) / t) < 9.81 * 0.01);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* The same from farther away: balls that stop at a wall are led nowhere by the slope, and it is not told otherwise. */
static void a_wall_misleads(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w =
        test_scene_text("moreau: 1\ntime: { step: 0.01 }\n" METHOD "bodies:\n"
                        "  - { name: wall, shape: { box: [0.05, 9, 9] }, fixed: true, position: [2, 0, 0] }\n"
                        "  - { name: ball, shape: { sphere: 0.05 }, mass: 0.2, position: [0, 0, 0.5], "
                        "velocity: [4, 0, 0] }\n",
                        &scene);
    int k = first_number(w, "ball");
    mor_unknown u = { .kind = MOR_UNKNOWN_VELOCITY, .number = k };
    mor_goal g = { .number = k, .value = 2.4, .weight = 1 };
    mor_optimise_options o = mor_optimise_options_default();
    mor_optimum best;
    double x = 4.0;
    o.most_simulations = 100;
    assert_int_equal(mor_world_optimise(w, 80, &u, 1, &g, 1, &o, &x, &best, NULL), MOR_OK);
    assert_true(!best.reached);
    assert_true(fabs(best.miss - 0.475) < 1e-3); /* it stays where the wall is: 2 - 0.025 - 0.05 */
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A force that friction holds does not move the block: there is no slope to follow, and that is said. */
static void a_block_that_sticks_tells_nothing(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w =
        test_scene_text("moreau: 1\ntime: { step: 0.01 }\n" METHOD
                        "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.5 }\n"
                        "  - { name: block, shape: { box: [0.4, 0.4, 0.2] }, mass: 1, friction: 0.5, position: "
                        "[0, 0, 0.1] }\n",
                        &scene);
    int k = first_number(w, "block");
    mor_unknown u = { .kind = MOR_UNKNOWN_INPUT, .input = { MOR_INPUT_FORCE, 1, 0 } };
    mor_goal g = { .number = k, .value = 0.5, .weight = 1 };
    mor_optimise_options o = mor_optimise_options_default();
    mor_optimum best;
    double x = 1.0;
    assert_int_equal(mor_world_optimise(w, 20, &u, 1, &g, 1, &o, &x, &best, NULL), MOR_OK);
    assert_true(!best.reached && (best.stalled || best.miss > 0.4));
    mor_goal turn = { .number = k + 3, .value = 0.5, .weight = 1 };
    mor_error error = { 0 };
    assert_int_equal(mor_world_optimise(w, 20, &u, 1, &turn, 1, &o, &x, &best, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "rotation"));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_of_runs_agree_with_differences), cmocka_unit_test(a_puck_slides_to_a_spot),
        cmocka_unit_test(a_ball_is_thrown_into_a_bin),           cmocka_unit_test(a_wall_misleads),
        cmocka_unit_test(a_block_that_sticks_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
