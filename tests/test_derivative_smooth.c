/* The smoothed derivative is that of the smoothed step: against central differences of its velocities. It goes to the
 * exact one as the parameter goes to zero, and is defined at switches. */
#include "common/probe.h"

#include "moreau/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "moreau: 1\ntime: { step: 0.01 }\nbodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.4 }\n"

static const struct {
    const char* name;
    const char* text;
} scenes[] = {
    { "a ball at rest", HEAD "  - { name: a, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n" },
    { "a ball that just reaches the floor",
      HEAD "  - { name: a, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.505], velocity: [0.3, 0, -0.4019] }\n" },
    { "a ball that slides and spins",
      HEAD "  - { name: a, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], velocity: [2, 1, 0], "
           "angular_velocity: [0, 0, 3] }\n" },
    { "a box at rest", HEAD "  - { name: a, shape: { box: [1, 0.8, 0.6] }, mass: 2, position: [0, 0, 0.3] }\n" },
    { "a box that lands on a corner",
      HEAD "  - { name: a, shape: { box: [0.6, 0.4, 0.5] }, mass: 2, position: [0, 0, 0.433], orientation: { axis: [1, "
           "0.8, 0], angle: 50 }, velocity: [1, 0.5, -3] }\n" },
    { "two balls",
      HEAD "  - { name: a, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5] }\n"
           "  - { name: b, shape: { sphere: 0.4 }, mass: 1, position: [0.02, 0.01, 1.4], angular_velocity: "
           "[0, 0, 1] }\n" },
    { "a humanoid that lands", HEAD
      "robots:\n  - { name: human, urdf: robots/humanoid.urdf, base: floating, position: [0, 0, 0.8561], joints: { "
      "l_hip_pitch: -0.3, l_knee: 0.6, l_ankle_pitch: -0.3, r_hip_pitch: -0.3, r_knee: 0.6, r_ankle_pitch: -0.3 } "
      "}\n" },
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static mor_derivative* smoothed(mor_world* w, const mor_input* in, int count, double k)
{
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    if (mor_world_derivative_smoothed(w, in, count, k, &d, &error)) fail_msg("%s", error.text);
    return d;
}

/* Velocities after the smoothed step from the state moved along number j. */
static void end_of(prober* p, int j, double by, double k, double* out)
{
    double *q = p->ends[0], *nu = p->ends[1];
    probe_move(p, j, by, q, nu);
    mor_derivative* d = smoothed(p->w, NULL, 0, k);
    memcpy(out, d->end_velocities, (size_t)p->n * sizeof *out);
    mor_derivative_destroy(d);
}

static double differences_error(mor_world* w, double k)
{
    mor_derivative* d = smoothed(w, NULL, 0, k);
    assert_true(d->differentiable);
    prober p = probe_begin(w);
    int n = p.n;
    double worst = 0.0, *a = calloc(2 * (size_t)n, sizeof *a), *b = a + n;
    for (int j = 0; j<2 * n; j += n> 24 ? 5 : 1) {
        double best = INFINITY;
        for (double by = 1e-4; by > 1e-8; by /= 10.0) {
            double error = 0.0, size = 1.0;
            end_of(&p, j, by, k, a);
            end_of(&p, j, -by, k, b);
            for (int i = 0; i < n; i++) {
                double is = d->matrix[(size_t)(n + i) * (size_t)d->columns + (size_t)j];
                error = fmax(error, fabs((a[i] - b[i]) / (2.0 * by) - is));
                size = fmax(size, fabs(is));
            }
            best = fmin(best, error / size);
        }
        worst = fmax(worst, best);
    }
    free(a);
    probe_end(&p);
    mor_derivative_destroy(d);
    return worst;
}

static void differences_of_smoothed_steps_agree(void** state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++)
        for (double k = 0.1; k > 1e-3; k /= 10.0) {
            mor_scene* scene;
            mor_world* w = test_scene_text(scenes[i].text, &scene);
            double e = differences_error(w, k);
            print_message("%-36s smoothed by %g m/s: %.2g\n", scenes[i].name, k, e);
            assert_true(e < 1e-6);
            mor_world_destroy(w);
            mor_scene_destroy(scene);
        }
}

static void set_friction(mor_world* w, double mu)
{
    mor_body_id id = mor_world_find_body(w, "floor");
    ((mor_material*)mor_world_material(w, 1))->friction = mu;
    assert_true(mor_body_valid(w, id));
}

static void masses_and_friction_agree_too(void** state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        for (int kind = 0; kind < 2; kind++) {
            mor_scene* scene;
            mor_world* w = test_scene_text(scenes[i].text, &scene);
            mor_body_id body = mor_world_find_body(w, "a");
            mor_input in = kind ? (mor_input){ MOR_INPUT_FRICTION, 1, 0 }
                                : (mor_input){ MOR_INPUT_MASS, mor_body_index(w, body), 0 };
            double mass = mor_body_mass(w, body).mass, mu = mor_world_material(w, 1)->friction, by = 1e-5;
            mor_derivative *d = smoothed(w, &in, 1, 0.05), *side[2];
            for (int s = 0; s < 2; s++) {
                double amount = s ? by : -by;
                if (kind) set_friction(w, mu + amount);
                else assert_int_equal(mor_body_set_mass(w, body, mass + amount, NULL), MOR_OK);
                side[s] = smoothed(w, NULL, 0, 0.05);
            }
            int n = d->rows / 2;
            for (int r = 0; r < n; r++)
                test_near(d->matrix[(size_t)(n + r) * (size_t)d->columns + (size_t)d->rows],
                          (side[1]->end_velocities[r] - side[0]->end_velocities[r]) / (2.0 * by), 1e-8, "slope");
            mor_derivative_destroy(d);
            for (int s = 0; s < 2; s++) mor_derivative_destroy(side[s]);
            mor_world_destroy(w);
            mor_scene_destroy(scene);
        }
}

/* Largest difference of two matrices, relative to the larger of 1 and the second. */
static double apart(const mor_derivative* a, const mor_derivative* b)
{
    double off = 0.0, size = 1.0;
    for (int i = 0; i < a->rows * a->columns; i++) {
        off = fmax(off, fabs(a->matrix[i] - b->matrix[i]));
        size = fmax(size, fabs(b->matrix[i]));
    }
    return off / size;
}

static void smoothing_goes_to_the_exact_derivative(void** state)
{
    (void)state;
    static const int smooth_points[] = { 0, 2, 3, 4 };
    for (size_t i = 0; i < sizeof smooth_points / sizeof *smooth_points; i++) {
        mor_scene* scene;
        mor_world* w = test_scene_text(scenes[smooth_points[i]].text, &scene);
        mor_derivative* exact = NULL;
        assert_int_equal(mor_world_derivative(w, NULL, 0, &exact, NULL), MOR_OK);
        double before = INFINITY;
        for (double k = 1e-2; k > 1e-6; k /= 10.0) {
            mor_derivative* d = smoothed(w, NULL, 0, k);
            double off = apart(d, exact);
            print_message("%-36s %g m/s: %.2g from the exact one, velocities by %.2g\n", scenes[smooth_points[i]].name,
                          k, off, d->smoothed);
            assert_true(off < 0.3 * before || off < 1e-6);
            assert_true(d->smoothed < 20.0 * k);
            before = off;
            mor_derivative_destroy(d);
        }
        assert_true(before < 1e-3);
        mor_derivative_destroy(exact);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

static void push(void* user, mor_world* w)
{
    mor_body_id body = *(mor_body_id*)user;
    mor_body_apply(w, body, mor_v3(0.4 * 2.0 * 9.81, 0, 0), test_state(w, body).com);
}

/* A slab pushed exactly as hard as its friction holds: the slope of its velocity by the force is 0 to one side and h/m
 * to the other; smoothed it lies between them. */
static void at_a_switch_the_slope_lies_between_the_sides(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(HEAD "  - { name: a, shape: { box: [1, 1, 0.2] }, mass: 2, position: [0, 0, 0.1] "
                                        "}\n",
                                   &scene);
    mor_body_id body = mor_world_find_body(w, "a");
    mor_world_on_user(w, push, &body);
    mor_input force = { MOR_INPUT_FORCE, mor_body_index(w, body), 0 };
    for (double k = 1e-2; k > 1e-6; k /= 10.0) {
        mor_derivative* d = smoothed(w, &force, 1, k);
        int n = d->rows / 2;
        double slope = d->matrix[(size_t)n * (size_t)d->columns + (size_t)d->rows];
        assert_true(d->differentiable);
        print_message("smoothed by %g m/s: %.3f of h/m\n", k, slope / 0.005);
        assert_true(slope > 0.0 && slope < 0.005);
        mor_derivative_destroy(d);
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void what_cannot_be_smoothed_is_refused(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(scenes[0].text, &scene);
    mor_derivative* d = NULL;
    mor_error error = { 0 };
    assert_int_equal(mor_world_derivative_smoothed(w, NULL, 0, -1.0, &d, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_derivative_smoothed(w, NULL, 0, NAN, &d, &error), MOR_BAD_INPUT);
    test_method(w, "formulation", "convex");
    assert_int_equal(mor_world_derivative_smoothed(w, NULL, 0, 0.01, &d, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "convex"));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(differences_of_smoothed_steps_agree),
                                        cmocka_unit_test(masses_and_friction_agree_too),
                                        cmocka_unit_test(smoothing_goes_to_the_exact_derivative),
                                        cmocka_unit_test(at_a_switch_the_slope_lies_between_the_sides),
                                        cmocka_unit_test(what_cannot_be_smoothed_is_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
