/* The world as a machine: stages, islands, threads, snapshots, memory, failures, replaced stages. */
#include "common/counter.h"
#include "common/worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

static mor_world* counted_world(counter* c, int threads)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.allocator = (mor_allocator){ counting_resize, c };
    def.threads = threads;
    mor_world* w = mor_world_create(&def, &error);
    if (!w) fail_msg("%s", error.text);
    test_method(w, "formulation", "st");
    test_method(w, "solver", "pgs");
    return w;
}

/* S2: rows of 10, 9, ... 1 unit cubes. */
static void add_pyramid(mor_world* w, int rows)
{
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_geometry* cube = test_box(1, 1, 1);
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < rows - k; i++)
            test_body(w, mor_geometry_retain(cube), 1.0, mor_v3((i - (rows - k - 1) / 2.0) * 1.05, 0, 0.5 + k),
                      no_turn);
    mor_geometry_release(cube);
}

/* Towers and a rolling ball far apart: several islands. */
static void add_towers(mor_world* w)
{
    test_option(w, "solver", "tol", "1e-4"); /* the towers topple; Gauss-Seidel need not follow to the last digit */
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_geometry* cube = test_box(1, 1, 1);
    for (int t = 0; t < 6; t++)
        for (int k = 0; k < 3; k++) {
            mor_body_id b = test_body(w, mor_geometry_retain(cube), 1.0 + k, mor_v3(4 * t, 0.01 * k, 0.5 + 1.0 * k),
                                      mor_quat_axis_angle(mor_v3(0, 0, 1), 0.1 * t));
            test_velocity(w, b, mor_v3(0.1 * t, 0.2, 0), mor_v3(0, 0, 0));
        }
    mor_geometry_release(cube);
    mor_body_id ball = test_body(w, test_sphere(0.4), 2.0, mor_v3(0, 5, 1), no_turn);
    test_velocity(w, ball, mor_v3(1, 0.3, 0), mor_v3(0, 0, 4));
}

static void a_warm_step_of_the_pyramid_allocates_nothing(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world* w = counted_world(&c, 1);
    test_option(w, "solver", "tol", "1e-6"); /* the count does not depend on it */
    add_pyramid(w, 10);
    test_steps(w, 5);
    c.armed = true;
    test_steps(w, 20);
    int contacts;
    mor_world_contacts(w, &contacts);
    assert_true(contacts >= 400);
    assert_int_equal(c.calls, 0);
    mor_world_destroy(w);
}

static void out_of_memory_is_reported_at_every_allocation(void** state)
{
    (void)state;
    long needed = 0;
    for (long at = 0; at <= needed; at++) {
        counter c = { 0 };
        mor_world* w = counted_world(&c, 1);
        add_pyramid(w, 3);
        c.armed = true;
        c.fail_at = at;
        mor_error error = { 0 };
        mor_step_report r;
        mor_code code = mor_world_step(w, &r, &error);
        if (at == 0) {
            assert_int_equal(code, MOR_OK);
            needed = c.calls;
            assert_true(needed > 3);
        } else {
            /* told as an error, or as a failed solve when a solver's scratch was missing */
            assert_true(code == MOR_SYSTEM || r.status != MOR_SOLVED);
        }
        mor_world_destroy(w);
    }
}

static uint64_t run_towers(int threads, const char* solver, int steps)
{
    counter c = { 0 };
    mor_world* w = counted_world(&c, threads);
    test_method(w, "solver", solver);
    add_towers(w);
    test_steps(w, steps);
    uint64_t hash = mor_world_hash(w);
    mor_world_destroy(w);
    return hash;
}

static void the_state_does_not_depend_on_run_or_threads(void** state)
{
    (void)state;
    const char* solvers[] = { "pgs", "lemke" };
    for (int k = 0; k < 2; k++) {
        uint64_t hash = run_towers(1, solvers[k], 60);
        assert_true(hash == run_towers(1, solvers[k], 60));
        assert_true(hash == run_towers(2, solvers[k], 60));
        assert_true(hash == run_towers(4, solvers[k], 60));
        assert_true(hash != run_towers(1, solvers[k], 61));
    }
}

static void independent_groups_are_solved_apart(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world* w = counted_world(&c, 1);
    add_towers(w);
    mor_step_report r = { 0 };
    for (int i = 0; i < 40; i++) r = test_steps(w, 1);
    assert_int_equal(r.islands, 7);
    mor_world_destroy(w);
}

static void a_snapshot_continues_bit_for_bit(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world *w = counted_world(&c, 1), *other = counted_world(&c, 1);
    add_towers(w);
    add_towers(other);
    test_steps(w, 50);
    size_t size = mor_world_save(w, NULL, 0);
    void* bytes = malloc(size);
    assert_int_equal(mor_world_save(w, bytes, size), size);
    assert_int_equal(mor_world_save(w, bytes, size - 1), 0);
    test_steps(w, 50);
    uint64_t hash = mor_world_hash(w);
    mor_error error = { 0 };
    assert_int_equal(mor_world_restore(w, bytes, size, &error), MOR_OK);
    assert_int_equal(mor_world_step_count(w), 50);
    test_steps(w, 50);
    assert_true(mor_world_hash(w) == hash);
    /* in a fresh world too: nothing hidden is left out */
    assert_int_equal(mor_world_restore(other, bytes, size, &error), MOR_OK);
    test_steps(other, 50);
    assert_true(mor_world_hash(other) == hash);
    /* the warm start is part of it: without it the bits differ */
    assert_int_equal(mor_world_restore(other, bytes, size, &error), MOR_OK);
    mor_body_id first = mor_world_body(other, 1);
    mor_body_state s = mor_body_get_state(other, first);
    s.velocity.x += 1e-12;
    mor_body_set_state(other, first, &s);
    test_steps(other, 50);
    assert_true(mor_world_hash(other) != hash);
    /* bad ones are refused */
    assert_int_equal(mor_world_restore(w, bytes, size - 8, &error), MOR_BAD_INPUT);
    ((char*)bytes)[3] ^= 1;
    assert_int_equal(mor_world_restore(w, bytes, size, &error), MOR_BAD_INPUT);
    free(bytes);
    mor_world_destroy(w);
    mor_world_destroy(other);
}

static void an_unsolved_step_stops_warns_or_retries_as_told(void** state)
{
    (void)state;
    const char* policies[] = { "stop", "warn", "retry" };
    for (int k = 0; k < 3; k++) {
        counter c = { 0 };
        mor_world* w = counted_world(&c, 1);
        add_pyramid(w, 4);
        test_option(w, "solver", "max_iter", "2"); /* far too few sweeps */
        test_option(w, "method", "on_failure", policies[k]);
        uint64_t before = mor_world_hash(w);
        mor_step_report r;
        mor_error error = { 0 };
        assert_int_equal(mor_world_step(w, &r, &error), k == 0 ? MOR_STOPPED : MOR_OK);
        if (k == 0) {
            assert_int_equal(r.status, MOR_NOT_CONVERGED);
            assert_int_equal(r.failures, 1);
            assert_true(mor_world_hash(w) == before);
            assert_int_equal(mor_world_step_count(w), 0);
        } else if (k == 1) {
            assert_int_equal(r.status, MOR_NOT_CONVERGED);
            assert_true(mor_world_hash(w) != before);
            assert_int_equal(mor_world_step_count(w), 1);
        } else {
            assert_int_equal(r.status, MOR_SOLVED);
            assert_int_equal(mor_world_step_count(w), 1);
            test_near(mor_world_time(w), 0.01, 1e-15, "time");
        }
        mor_world_destroy(w);
    }
}

static void bodies_come_and_go_and_stale_ids_are_known(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world* w = counted_world(&c, 1);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id a = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.5), no_turn);
    mor_body_id b = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 1.5), no_turn);
    test_steps(w, 10);
    mor_world_remove_body(w, a);
    assert_false(mor_body_valid(w, a));
    assert_true(mor_body_valid(w, b));
    test_steps(w, 200);
    test_near(test_state(w, b).com.z, 0.5, 1e-8, "fallen to the floor");
    mor_body_id d = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 1.6), no_turn);
    assert_false(mor_body_valid(w, a));
    assert_true(d.index1 == a.index1 && d.generation != a.generation);
    test_steps(w, 100);
    test_near(test_state(w, d).com.z, 1.5, 1e-8, "stands on the other");
    assert_int_equal(mor_world_body_count(w), 3);
    mor_world_destroy(w);
}

static void ignored_pairs_pass_through_each_other(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world* w = counted_world(&c, 1);
    mor_body_id floor = test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_body_id a = test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.6), no_turn);
    mor_world_ignore_pair(w, a, floor);
    test_steps(w, 100);
    assert_true(test_state(w, a).com.z < -4);
    mor_world_destroy(w);
}

static void restitution_and_friction_follow_the_pair_table(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world* w = counted_world(&c, 1);
    mor_material ice = mor_material_default(), wood = ice;
    ice.friction = 0.04;
    wood.friction = 0.25;
    wood.restitution = 0.3;
    int i = mor_world_add_material(w, &ice), k = mor_world_add_material(w, &wood);
    mor_error error = { 0 };
    mor_body_def def = mor_body_def_default();
    mor_body_shape s[2] = { { test_plane(), mor_pose_identity(), -1 }, { test_sphere(0.5), mor_pose_identity(), k } };
    def.kind = MOR_FIXED;
    def.shapes = &s[0];
    def.shape_count = 1;
    def.material = i;
    assert_true(mor_world_add_body(w, &def, &error).index1);
    def = mor_body_def_default();
    def.shapes = &s[1];
    def.shape_count = 1;
    def.pose.position.z = 0.5;
    assert_true(mor_world_add_body(w, &def, &error).index1);
    mor_geometry_release(s[0].geometry);
    mor_geometry_release(s[1].geometry);
    int n;
    test_steps(w, 1);
    test_near(mor_world_contacts(w, &n)[0].friction, 0.1, 1e-15, "sqrt(0.04 * 0.25)");
    test_near(mor_world_contacts(w, &n)[0].restitution, 0.3, 0, "max(0, 0.3)");
    assert_int_equal(mor_world_set_pair(w, k, i, 0.7, 0, &error), MOR_OK);
    test_steps(w, 1);
    test_near(mor_world_contacts(w, &n)[0].friction, 0.7, 0, "pair");
    test_near(mor_world_contacts(w, &n)[0].restitution, 0, 0, "pair");
    assert_int_equal(mor_world_set_pair(w, k, 99, 0.7, 0, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_pair(w, k, i, -1, 0, &error), MOR_BAD_INPUT);
    mor_world_destroy(w);
}

static void bad_definitions_are_refused_with_a_sentence(void** state)
{
    (void)state;
    counter c = { 0 };
    mor_world* w = counted_world(&c, 1);
    mor_geometry *plane = test_plane(), *ball = test_sphere(1);
    struct {
        mor_body_def def;
        const char* says;
    } cases[8];
    mor_body_shape of_plane = { plane, mor_pose_identity(), -1 }, of_ball = { ball, mor_pose_identity(), -1 };
    for (int i = 0; i < 8; i++) {
        cases[i].def = mor_body_def_default();
        cases[i].def.shapes = &of_ball;
        cases[i].def.shape_count = 1;
    }
    cases[0].def.shapes = &of_plane, cases[0].says = "cannot move";
    cases[1].def.mass = -1, cases[1].says = "not positive";
    cases[2].def.mass = NAN, cases[2].says = "not positive";
    cases[3].def.pose.rotation = (mor_quat){ 0, 0, 0, 0 }, cases[3].says = "zero quaternion";
    cases[4].def.velocity.x = INFINITY, cases[4].says = "not finite";
    cases[5].def.has_inertia = true, cases[5].def.inertia = mor_mat3_diag(1, 1, 3), cases[5].says = "";
    cases[6].def.material = 7, cases[6].says = "no material";
    cases[7].def.shape_count = 0, cases[7].says = "needs a mass";
    for (int i = 0; i < 8; i++) {
        mor_error error = { 0 };
        assert_int_equal(mor_world_add_body(w, &cases[i].def, &error).index1, 0);
        assert_int_equal(error.code, MOR_BAD_INPUT);
        if (!strstr(error.text, cases[i].says)) fail_msg("case %d says: %s", i, error.text);
        assert_true(strlen(error.text) > 10);
    }
    assert_int_equal(mor_world_body_count(w), 0);
    mor_geometry_release(plane);
    mor_geometry_release(ball);
    mor_error error = { 0 };
    assert_int_equal(mor_world_set_method(w, "solver", "psg", &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "did you mean 'pgs'"));
    assert_int_equal(mor_world_set_option(w, "solver", "tolerance", "1", &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_option(w, "solver", "tol", "-1", &error), MOR_BAD_INPUT);
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_step_of_the_pyramid_allocates_nothing),
        cmocka_unit_test(out_of_memory_is_reported_at_every_allocation),
        cmocka_unit_test(the_state_does_not_depend_on_run_or_threads),
        cmocka_unit_test(independent_groups_are_solved_apart),
        cmocka_unit_test(a_snapshot_continues_bit_for_bit),
        cmocka_unit_test(an_unsolved_step_stops_warns_or_retries_as_told),
        cmocka_unit_test(bodies_come_and_go_and_stale_ids_are_known),
        cmocka_unit_test(ignored_pairs_pass_through_each_other),
        cmocka_unit_test(restitution_and_friction_follow_the_pair_table),
        cmocka_unit_test(bad_definitions_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
