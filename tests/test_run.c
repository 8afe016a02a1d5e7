/* The numbers of a run (moreau/run.h): closed forms, failures, many runs at once. */
#include "common/worlds.h"
#include "moreau/run.h"

#include "common/near.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

static mor_run* begin(mor_world* w, int steps)
{
    mor_error error = { 0 };
    mor_run* run = mor_run_create(w, steps, &error);
    if (!run) fail_msg("%s", error.text);
    return run;
}

/* Semi-implicit Euler in free fall: after n steps v = -g n h, drop = g h^2 n (n + 1) / 2, so energy falls by
 * m g^2 h^2 n / 2. */
static void a_free_fall_has_the_numbers_of_its_closed_form(void** state)
{
    (void)state;
    mor_error error = { 0 };
    double h = 0.01, g = 9.81, m = 2.0;
    int n = 50;
    mor_world* w = test_world(h);
    test_body(w, test_sphere(0.5), m, mor_v3(0, 0, 100), no_turn);
    mor_run* run = begin(w, n);
    assert_int_equal(mor_run_advance(run, n, &error), MOR_OK);
    mor_run_summary s = mor_run_summarise(run);
    double drop = 0.5 * g * h * h * n * (n + 1), v = g * h * n;
    assert_int_equal(s.steps, n);
    assert_int_equal(s.failures, 0);
    assert_int_equal(s.status, MOR_RUN_OK);
    assert_near(s.energy.initial, m * g * 100.0, 1e-9);
    assert_near(s.energy.final, m * g * (100.0 - drop) + 0.5 * m * v * v, 1e-9);
    assert_near(s.energy.max_gain, 0.0, 1e-9);
    assert_near(s.max_drift, drop, 1e-12);
    assert_near(s.momentum[1][2], -m * v, 1e-12);
    assert_int_equal(s.contacts, 0);
    assert_int_equal(s.max_contacts, 0);
    assert_true(s.state_hash == mor_world_hash(w));
    assert_true(s.wall > 0.0 && s.timing.total > 0.0 && s.timing.total <= s.wall);
    assert_false(mor_run_stopped(run));
    mor_run_destroy(run);
    mor_world_destroy(w);
}

static void push(void* user, mor_world* w)
{
    mor_body_id body = *(mor_body_id*)user;
    mor_body_apply(w, body, mor_v3(6, 0, 0), mor_body_get_state(w, body).com);
}

/* A force F on a mass m along x: the speed after n steps is v = F h n / m, the work m v^2 / 2 plus what the rule of the
 * step, F h v_(k+1), adds: F^2 h^2 n / (2 m). */
static void applied_work_is_no_gain(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    mor_body_id body = test_body(w, test_sphere(0.5), 3.0, mor_v3(0, 0, 0), no_turn);
    mor_world_on_user(w, push, &body);
    mor_run* run = begin(w, 1); /* memory for one step only: it grows */
    assert_int_equal(mor_run_advance(run, 100, &error), MOR_OK);
    mor_run_summary s = mor_run_summarise(run);
    double v = 6.0 * 0.01 * 100 / 3.0, rule = 36.0 * 1e-4 * 100 / 6.0;
    assert_near(s.energy.applied_work, 0.5 * 3.0 * v * v + rule, 1e-12);
    assert_near(s.energy.final, 0.5 * 3.0 * v * v, 1e-12);
    assert_near(s.energy.max_gain, 0.0, 1e-12);
    /* the last step adds most: m (v_n^2 - v_(n-1)^2) / 2 */
    double last = v - 6.0 * 0.01 / 3.0;
    assert_near(s.energy.max_step_gain, 0.5 * 3.0 * (v * v - last * last), 1e-12);
    assert_int_equal(s.steps, 100);
    mor_run_destroy(run);
    mor_world_destroy(w);
}

static void the_floor_carries_the_weight(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    mor_body_id floor = test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id low = test_body(w, test_box(1, 1, 1), 3.0, mor_v3(2, 1, 0.5), no_turn);
    mor_body_id top = test_body(w, test_box(1, 1, 1), 1.0, mor_v3(2, 1, 1.5), no_turn);
    mor_run* run = begin(w, 20);
    assert_int_equal(mor_run_advance(run, 20, &error), MOR_OK);
    mor_run_summary s = mor_run_summarise(run);
    double weight = 4.0 * 9.81, wrench[6];
    /* N (0, 0, weight) at (2, 1, 0): moment (y F, -x F, 0) */
    const double expected[6] = { 0, 0, weight, weight, -2.0 * weight, 0 };
    for (int i = 0; i < 6; i++) assert_near(s.contact_wrench[i], expected[i], 1e-6);
    mor_body_contact_wrench(w, top, wrench);
    assert_near(wrench[2], 9.81, 1e-6);
    for (int i = 3; i < 6; i++) assert_near(wrench[i], 0.0, 1e-6);
    mor_body_contact_wrench(w, low, wrench);
    assert_near(wrench[2], 3.0 * 9.81, 1e-6);
    mor_body_contact_wrench(w, floor, wrench);
    assert_near(wrench[2], -weight, 1e-6);
    assert_int_equal(s.contacts, 8);
    assert_int_equal(s.max_contacts, 8);
    assert_true(s.max_iterations >= 1 && s.mean_iterations >= 1.0);
    assert_true(s.median_residual <= s.max_residual);
    mor_run_destroy(run);
    mor_world_destroy(w);
}

/* Watching changes nothing: same bits with and without, and with a summary in between. */
static void a_watched_run_has_the_bits_of_one_that_is_not(void** state)
{
    (void)state;
    mor_error error = { 0 };
    uint64_t hash[2];
    for (int watched = 0; watched < 2; watched++) {
        mor_scene* scene;
        mor_world* w =
            test_scene_text("moreau: 1\n"
                            "name: two links and a ball\n"
                            "time: { step: 0.002, end: 1 }\n"
                            "bodies:\n"
                            "  - { name: floor, shape: { plane: {} }, fixed: true }\n"
                            "  - { name: a, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [0.5, 0, 3] }\n"
                            "  - { name: b, shape: { box: [1, 0.1, 0.1] }, mass: 1, position: [1.5, 0, 3] }\n"
                            "  - { name: ball, shape: { sphere: 0.2 }, mass: 1, position: [5, 0, 0.3] }\n"
                            "joints:\n"
                            "  - { name: i, type: revolute, bodies: [a, world], point: [0, 0, 3], axis: [0, 1, 0] }\n"
                            "  - { name: j, type: revolute, bodies: [b, a], point: [1, 0, 3], axis: [0, 1, 0] }\n",
                            &scene);
        if (watched) {
            mor_run* run = begin(w, 0);
            mor_run_advance(run, 150, &error);
            mor_run_summary half = mor_run_summarise(run);
            assert_int_equal(half.steps, 150);
            assert_int_equal(half.joints[0].equations, 10);
            mor_run_advance(run, 150, &error);
            mor_run_summary s = mor_run_summarise(run);
            assert_int_equal(s.steps, 300);
            assert_true(s.max_contacts > 0);
            assert_true(s.max_joint_error >= mor_world_joint_error(w));
            mor_run_destroy(run);
        } else {
            for (int i = 0; i < 300; i++) mor_world_step(w, NULL, &error);
        }
        hash[watched] = mor_world_hash(w);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    assert_true(hash[0] == hash[1]);
}

static void a_step_that_cannot_be_taken_stops_the_run(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    test_option(w, "solver", "max_iter", "1");
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    for (int k = 0; k < 5; k++) test_body(w, test_box(1, 1, 1), 1.0, mor_v3(0.1 * k, 0, 0.5 + k), no_turn);
    mor_run* run = begin(w, 10);
    mor_run_advance(run, 1000, &error);
    mor_run_summary s = mor_run_summarise(run);
    assert_true(mor_run_stopped(run));
    assert_int_equal(s.status, MOR_RUN_FAILED);
    assert_string_equal(mor_run_status_name(s.status), "failed");
    assert_int_equal(s.steps, 0);
    assert_int_equal(s.failures, 1);
    assert_true(s.detail[0] != '\0');
    assert_true(s.max_velocity_error > 0.0);
    assert_near(s.energy.final, s.energy.initial, 0.0);
    mor_run_destroy(run);
    mor_world_destroy(w);
}

static void a_diverging_run_says_so(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    mor_body_id b = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0), no_turn);
    mor_run* run = begin(w, 10);
    mor_run_advance(run, 3, &error);
    test_velocity(w, b, mor_v3(1e16, 0, 0), mor_v3(0, 0, 0));
    mor_run_advance(run, 10, &error);
    mor_run_summary s = mor_run_summarise(run);
    assert_int_equal(s.status, MOR_RUN_DIVERGED);
    assert_int_equal(s.steps, 3);
    assert_true(mor_run_stopped(run));
    mor_run_destroy(run);
    mor_world_destroy(w);
}

static void bodies_may_come_and_go(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    mor_body_id gone = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0), no_turn);
    mor_body_id stays = test_body(w, test_sphere(0.5), 1.0, mor_v3(5, 0, 0), no_turn);
    test_velocity(w, gone, mor_v3(100, 0, 50), mor_v3(0, 0, 0));
    test_velocity(w, stays, mor_v3(0, 1, 0), mor_v3(0, 0, 0));
    mor_run* run = begin(w, 10);
    mor_run_advance(run, 1, &error);
    mor_world_remove_body(w, gone);
    mor_body_id late = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 40, 0), no_turn); /* takes the slot */
    test_velocity(w, late, mor_v3(70, 0, 0), mor_v3(0, 0, 0));
    mor_run_advance(run, 9, &error);
    assert_near(mor_run_summarise(run).max_drift, 0.1, 1e-14);
    mor_run_destroy(run);
    mor_run_destroy(NULL);
    mor_world_destroy(w);
}

static void the_median_is_that_of_the_steps_in_any_order(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    mor_run* run = begin(w, 2);
    const double residuals[] = { 5e-9, 1e-9, 9e-9, 3e-9, 7e-9 };
    for (int i = 0; i < 5; i++) {
        mor_step_report r = { .status = MOR_SOLVED, .residual = residuals[i], .iterations = i };
        assert_int_equal(mor_run_count(run, &r, true, &error), MOR_OK);
    }
    mor_run_summary s = mor_run_summarise(run);
    assert_near(s.median_residual, 5e-9, 0.0);
    assert_near(s.max_residual, 9e-9, 0.0);
    assert_near(s.mean_iterations, 2.0, 0.0);
    mor_step_report more = { .status = MOR_SOLVED, .residual = 0.0 };
    mor_run_count(run, &more, true, &error);
    mor_run_count(run, &more, true, &error);
    assert_near(mor_run_summarise(run).median_residual, 3e-9, 0.0);
    mor_run_destroy(run);
    mor_world_destroy(w);
}

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Against sorting: drawn numbers, few different ones, all equal ones, rising and falling ones. */
static void the_median_is_the_middle_of_the_sorted_numbers(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_rng rng = { 77 };
    for (int trial = 0; trial < 60; trial++) {
        double numbers[400];
        int n = 1 + (int)(399.0 * mor_rng_uniform(&rng)), kinds = trial % 5;
        mor_world* w = test_world(0.01);
        mor_run* run = begin(w, n);
        for (int i = 0; i < n; i++) {
            double u = mor_rng_uniform(&rng);
            numbers[i] = kinds == 0 ? u : kinds == 1 ? (int)(3.0 * u) : kinds == 2 ? 0.25 : kinds == 3 ? i : n - i;
            mor_step_report r = { .status = MOR_SOLVED, .residual = numbers[i] };
            assert_int_equal(mor_run_count(run, &r, true, &error), MOR_OK);
        }
        qsort(numbers, (size_t)n, sizeof *numbers, ascending);
        assert_near(mor_run_summarise(run).median_residual, numbers[n / 2], 0.0);
        mor_run_destroy(run);
        mor_world_destroy(w);
    }
}

/* Five million steps with residuals that rise evenly: memory for a million is enough to find the middle. */
static void the_median_of_a_very_long_run_needs_no_more_memory(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    mor_run* run = begin(w, 1000);
    const int n = 5000000;
    for (int i = 0; i < n; i++) {
        mor_step_report r = { .status = MOR_SOLVED, .residual = i };
        assert_int_equal(mor_run_count(run, &r, true, &error), MOR_OK);
    }
    mor_run_summary s = mor_run_summarise(run);
    assert_int_equal(s.steps, n);
    assert_near(s.median_residual, 0.5 * n, 16.0);
    mor_run_destroy(run);
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_fall_has_the_numbers_of_its_closed_form),
        cmocka_unit_test(applied_work_is_no_gain),
        cmocka_unit_test(the_floor_carries_the_weight),
        cmocka_unit_test(a_watched_run_has_the_bits_of_one_that_is_not),
        cmocka_unit_test(a_step_that_cannot_be_taken_stops_the_run),
        cmocka_unit_test(a_diverging_run_says_so),
        cmocka_unit_test(bodies_may_come_and_go),
        cmocka_unit_test(the_median_is_that_of_the_steps_in_any_order),
        cmocka_unit_test(the_median_is_the_middle_of_the_sorted_numbers),
        cmocka_unit_test(the_median_of_a_very_long_run_needs_no_more_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
