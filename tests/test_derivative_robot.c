/* Derivatives of inverse dynamics in closed form against central differences of inverse dynamics: random trees of
 * revolute and prismatic joints, fixed and floating, with forces that move along with their links. */
#include "common/random_robot.h"
#include "common/worlds.h"

#include "derivative/inverse.h"
#include "moreau/derivative.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 30 };

typedef struct sample {
    mor_robot_model* model;
    mor_robot_work *work, *start;
    mor_pose base;
    double s[MOST], nu[MOST], a[MOST], wrenches[6 * MOST];
    mor_vec3 gravity;
} sample;

/* tau with the state moved by `by` along number k, which is a position or a velocity. */
static void tau_at(const sample* x, int k, bool velocity, double by, double* tau)
{
    double s[MOST], nu[MOST], step[MOST] = { 0 }, wrenches[6 * MOST];
    mor_pose base = x->base;
    memcpy(s, x->s, sizeof s);
    memcpy(nu, x->nu, sizeof nu);
    if (velocity) nu[k] += by;
    else {
        step[k] = by;
        random_robot_move(x->model, &base, s, step);
    }
    mor_robot_update(x->model, x->work, &base, s, nu);
    for (int i = 0; i < mor_robot_link_count(x->model); i++) {
        mor_quat was = mor_robot_link_pose(x->model, x->start, i).rotation,
                 is = mor_robot_link_pose(x->model, x->work, i).rotation;
        mor_quat turn = mor_quat_mul(is, mor_quat_conj(was));
        for (int h = 0; h < 2; h++) {
            const double* w = x->wrenches + 6 * i + 3 * h;
            mor_vec3 v = mor_rotate(turn, mor_v3(w[0], w[1], w[2]));
            memcpy(wrenches + 6 * i + 3 * h, (double[3]){ v.x, v.y, v.z }, sizeof(double[3]));
        }
    }
    mor_robot_inverse_dynamics(x->model, x->work, x->gravity, x->a, wrenches, tau);
}

static double worst_column(const sample* x, const double* slopes, int k, bool velocity)
{
    int N = mor_robot_dof(x->model);
    double up[MOST], down[MOST], worst = 0.0, size = 1.0, by = 1e-5;
    tau_at(x, k, velocity, by, up);
    tau_at(x, k, velocity, -by, down);
    for (int i = 0; i < N; i++) {
        double slope = (up[i] - down[i]) / (2.0 * by);
        worst = fmax(worst, fabs(slope - slopes[i * N + k]));
        size = fmax(size, fabs(slope));
    }
    return worst / size;
}

/* Random weights, backward, against the products with the matrices: with and without velocities, forces, by_nu. */
static double worst_pull(const mor_inverse* all, mor_arena* arena, mor_rng* rng)
{
    size_t N = (size_t)mor_robot_dof(all->model);
    double by_q[MOST * MOST], by_nu[MOST * MOST], y[MOST], pulled[2 * MOST], worst = 0.0;
    for (int kind = 0; kind < 4; kind++) {
        mor_inverse of = *all;
        if (kind & 1) of.nu = NULL;
        if (kind & 2) of.wrenches = NULL;
        double factor = random_number(rng, 2.0), size = 1.0;
        for (size_t i = 0; i < N; i++) y[i] = random_number(rng, 1.0);
        memset(pulled, 0, sizeof pulled);
        assert_true(mor_inverse_slopes(&of, arena, by_q, of.nu ? by_nu : NULL));
        assert_true(mor_inverse_pull(&of, arena, y, factor, pulled, of.nu ? pulled + N : NULL));
        for (size_t k = 0; k < 2 * N; k++) {
            const double* A = k < N ? by_q : by_nu;
            double sum = 0.0;
            for (size_t i = 0; i < N && (k < N || of.nu); i++) sum += factor * y[i] * A[i * N + k % N];
            size = fmax(size, fabs(sum));
            worst = fmax(worst, fabs(sum - pulled[k]) / size);
        }
    }
    return worst;
}

static void slopes_of_inverse_dynamics_agree_with_differences(void** state)
{
    (void)state;
    mor_rng rng = { 4711 };
    mor_arena* arena = mor_arena_create(NULL);
    double worst = 0.0;
    for (int trial = 0; trial < 40; trial++) {
        int links = 2 + trial % 18;
        bool floating = trial % 2;
        sample x = { .model = random_robot(&rng, links, floating), .gravity = { 1, 2, -9.81 } };
        int N = mor_robot_dof(x.model), n = mor_robot_joint_count(x.model);
        x.work = mor_robot_work_create(x.model);
        x.start = mor_robot_work_create(x.model);
        x.base = (mor_pose){ mor_v3(random_number(&rng, 2), random_number(&rng, 2), 3), mor_rng_rotation(&rng) };
        for (int i = 0; i < n; i++) x.s[i] = random_number(&rng, 2.0);
        for (int i = 0; i < N; i++) x.nu[i] = random_number(&rng, 2.0), x.a[i] = random_number(&rng, 5.0);
        for (int i = 0; i < 6 * links; i++) x.wrenches[i] = random_number(&rng, 5.0);
        mor_robot_update(x.model, x.start, &x.base, x.s, x.nu);
        double by_q[MOST * MOST], by_nu[MOST * MOST];
        mor_inverse of = { x.model, x.start->states, x.gravity, x.nu, x.a, x.wrenches };
        assert_true(mor_inverse_slopes(&of, arena, by_q, by_nu));
        double back = worst_pull(&of, arena, &rng);
        if (!(back < 1e-12)) fail_msg("%d links, backward: %.2g", links, back);
        for (int k = 0; k < N; k++) {
            double q = worst_column(&x, by_q, k, false), v = worst_column(&x, by_nu, k, true);
            if (!(q < 1e-8 && v < 1e-8)) fail_msg("%d links, column %d: %.2g %.2g", links, k, q, v);
            worst = fmax(worst, fmax(q, v));
        }
        mor_robot_work_destroy(x.work);
        mor_robot_work_destroy(x.start);
        mor_robot_destroy(x.model);
    }
    print_message("largest error %.2g\n", worst);
    mor_arena_destroy(arena);
}

/* An arm that hangs at rest, or next to it: its slopes are those of a motion, whatever rounding makes of energies that
 * small. And a little beside rest it begins to swing. */
static void an_arm_at_rest_has_the_slopes_of_one_that_moves(void** state)
{
    (void)state;
    static const char* const speeds[] = { "0", "1e-9", "1e-6", "1e-4" };
    double slopes[4];
    for (int i = 0; i < 4; i++) {
        char text[512];
        mor_scene* scene;
        mor_derivative* d = NULL;
        mor_error error = { 0 };
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.005 }\nrobots:\n  - { name: arm, urdf: robots/arm2.urdf, base: fixed, "
                 "position: [0, 0, 3], joints: { shoulder: 1.5707963267948966 }, joint_velocities: { elbow: %s } }\n",
                 speeds[i]);
        mor_world* w = test_scene_text(text, &scene);
        if (mor_world_derivative(w, NULL, 0, &d, &error)) fail_msg("%s", error.text);
        slopes[i] = d->matrix[2 * d->columns]; /* speed of the shoulder by its position */
        mor_derivative_destroy(d);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    assert_true(slopes[3] < -0.01);
    for (int i = 0; i < 3; i++) test_near(slopes[i], slopes[3], 1e-6, "slope");
}

static void an_arm_next_to_rest_begins_to_swing(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w =
        test_scene_text("moreau: 1\ntime: { step: 0.005 }\nrobots:\n  - { name: arm, urdf: robots/arm2.urdf, "
                        "base: fixed, position: [0, 0, 3], joints: { shoulder: 1.5707973267948966 } }\n",
                        &scene);
    double nu[2];
    test_steps(w, 20);
    assert_int_equal(mor_world_get_nu(w, nu, 2, NULL), MOR_OK);
    assert_true(nu[0] < -1e-7 && nu[0] > -1e-5); /* 1e-6 rad, after 0.1 s: about g/l 1e-6 0.1 rad/s */
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_of_inverse_dynamics_agree_with_differences),
        cmocka_unit_test(an_arm_at_rest_has_the_slopes_of_one_that_moves),
        cmocka_unit_test(an_arm_next_to_rest_begins_to_swing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
