/* Joints in planar worlds, against the same mechanisms in closed form or integrated in reduced coordinates. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81;

/* Double pendulum of two uniform rods, length 1, mass 1; angles from the horizontal. M(q) a = f:
 *   4/3 a1 + 1/2 cos(d) a2 = -1/2 sin(d) w2^2 - 3/2 g cos q1,   d = q1 - q2
 *   1/2 cos(d) a1 + 1/3 a2 = 1/2 sin(d) w1^2 - 1/2 g cos q2 */
static void rates(const double* y, double* f)
{
    double d = y[0] - y[1], a = 4.0 / 3.0, b = 0.5 * cos(d), c = 1.0 / 3.0;
    double p = -0.5 * sin(d) * y[3] * y[3] - 1.5 * g * cos(y[0]), q = 0.5 * sin(d) * y[2] * y[2] - 0.5 * g * cos(y[1]);
    f[0] = y[2], f[1] = y[3];
    f[2] = (c * p - b * q) / (a * c - b * b), f[3] = (a * q - b * p) / (a * c - b * b);
}

static void reference(double time, double* y)
{
    int n = 20000;
    double h = time / n;
    for (int i = 0; i < n; i++) {
        double k[4][4], z[4];
        for (int s = 0; s < 4; s++) {
            for (int j = 0; j < 4; j++) z[j] = y[j] + (s == 0 ? 0.0 : (s == 3 ? h : 0.5 * h) * k[s - 1][j]);
            rates(z, k[s]);
        }
        for (int j = 0; j < 4; j++) y[j] += h / 6.0 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    }
}

static const char double_pendulum[] =
    "moreau: 1\ndimension: 2\ntime: { step: %g }\nmethod: { integrator: %s }\nbodies:\n"
    "  - { name: a, shape: { box: [1, 0.0000001] }, mass: 1, position: [0.5, 0], collide: false }\n"
    "  - { name: b, shape: { box: [1, 0.0000001] }, mass: 1, position: [1.5, 0], collide: false }\n"
    "joints:\n  - { type: revolute, bodies: [a, world], point: [0, 0] }\n"
    "  - { type: revolute, bodies: [b, a], point: [1, 0] }\n";

static void a_double_pendulum_follows_its_reduced_equations(void** state)
{
    (void)state;
    double y[4] = { 0, 0, 0, 0 }, error[2];
    reference(1.0, y);
    mor_vec3 end = mor_v3(cos(y[0]) + 0.5 * cos(y[1]), sin(y[0]) + 0.5 * sin(y[1]), 0);
    for (int k = 0; k < 3; k++) {
        char text[900];
        mor_scene* scene;
        snprintf(text, sizeof text, double_pendulum, k == 1 ? 0.001 : 0.002, k == 2 ? "gauss6" : "semi-implicit");
        mor_world* w = test_scene_text(text, &scene);
        test_until(w, 1.0);
        mor_body_state b = test_state(w, mor_world_find_body(w, "b"));
        double off = mor_norm(mor_sub(b.com, end));
        print_message("double pendulum, variant %d: off by %.2e m\n", k, off);
        if (k < 2) error[k] = off;
        else test_near(off, 0.0, 1e-8, "gauss6");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
    assert_true(error[1] < 1e-5);
    assert_true(error[0] / error[1] > 3.5); /* second order */
}

static void a_slider_crank_has_the_stroke_of_its_closed_form(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(
        "moreau: 1\ndimension: 2\ntime: { step: 0.001 }\nbodies:\n"
        "  - { name: crank, shape: { box: [0.2, 0.02] }, mass: 1, position: [0.1, 0], collide: false, velocity: [0, "
        "1], "
        "angular_velocity: 10 }\n"
        "  - { name: rod, shape: { box: [0.5, 0.02] }, mass: 1, position: [0.45, 0], collide: false }\n"
        "  - { name: slider, shape: { box: [0.1, 0.1] }, mass: 1, position: [0.7, 0], collide: false }\n"
        "joints:\n"
        "  - { name: motor, type: revolute, bodies: [crank, world], point: [0, 0], motor: { velocity: 10, max_torque: "
        "1000 } }\n"
        "  - { type: revolute, bodies: [rod, crank], point: [0.2, 0] }\n"
        "  - { type: revolute, bodies: [slider, rod], point: [0.7, 0] }\n"
        "  - { type: prismatic, bodies: [slider, world], point: [0.7, 0], axis: [1, 0] }\n",
        &scene);
    for (int k = 1; k <= 20; k++) {
        test_until(w, 0.1 * k);
        double q = mor_world_joint_position(w, 0), x = 0.2 * cos(q) + sqrt(0.25 - 0.04 * sin(q) * sin(q));
        mor_body_state s = test_state(w, mor_world_find_body(w, "slider"));
        test_near(q, k, 1e-3, "the motor holds its speed");
        test_near(s.com.x, x, 1e-5, "stroke");
        test_near(s.com.y, 0.0, 1e-5, "guide");
        test_near(s.com.z, 0.0, 0.0, "the plane");
    }
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A particle on a spring of the distance joint: m a = -k (x - l); a fixed joint carries a body; a distance holds. */
static void springs_distances_and_fixed_joints_work_in_the_plane(void** state)
{
    (void)state;
    mor_scene* scene;
    mor_world* w = test_scene_text(
        "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: 0.001 }\nbodies:\n"
        "  - { name: p, shape: particle, mass: 2, position: [1.1, 0], collide: false }\n"
        "  - { name: q, shape: { disc: 0.1 }, mass: 1, position: [0, 2], velocity: [1, 0], collide: false }\n"
        "  - { name: r, shape: { disc: 0.1 }, mass: 1, position: [0.5, 2], velocity: [1, 0], collide: false }\n"
        "joints:\n"
        "  - { type: distance, bodies: [p, world], points: [[1.1, 0], [0, 0]], length: 1, spring: { stiffness: 50 } }\n"
        "  - { type: distance, bodies: [q, world], points: [[0, 2], [0, 1]] }\n"
        "  - { type: fixed, bodies: [r, q], point: [0.25, 2] }\n",
        &scene);
    test_until(w, 1.0);
    test_near(test_state(w, mor_world_find_body(w, "p")).com.x, 1.0 + 0.1 * cos(5.0), 1e-5, "spring");
    mor_vec3 q = test_state(w, mor_world_find_body(w, "q")).com, r = test_state(w, mor_world_find_body(w, "r")).com;
    test_near(hypot(q.x, q.y - 1.0), 1.0, 2e-5, "distance");
    test_near(hypot(q.x - r.x, q.y - r.y), 0.5, 2e-5, "fixed");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void what_the_plane_has_not_is_refused(void** state)
{
    (void)state;
    static const struct {
        const char *joint, *sentence;
        int line, column;
    } cases[] = { { "{ type: spherical, bodies: [a, world] }", "in 2-D joints are fixed", 5, 5 },
                  { "{ type: prismatic, bodies: [a, world] }", "has an 'axis': [x, y]", 5, 5 },
                  { "{ type: prismatic, bodies: [a, world], axis: [1, 0, 0] }", "axis has 3 numbers; give 2", 5, 50 },
                  { "{ type: prismatic, bodies: [a, world], axis: [0, 0] }", "has no length", 5, 5 },
                  { "{ type: revolute, bodies: [a, world], axis: [0, 1] }", "only prismatic joints have an axis", 5,
                    43 },
                  { "{ type: revolute, bodies: [a, world], point: [0, 1, 2] }", "point has 3 numbers", 5, 50 },
                  { "{ type: distance, bodies: [a, world] }", "'points': [[x, y], [x, y]]", 5, 5 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        mor_error error = { 0 };
        int n = snprintf(text, sizeof text,
                         "moreau: 1\ndimension: 2\nbodies: [ { name: a, shape: { disc: 1 } } ]\njoints:\n  - %s\n",
                         cases[i].joint);
        mor_scene* scene = mor_scene_parse(text, (size_t)n, "planar.yaml", NULL, NULL, &error);
        mor_world* w = scene ? mor_scene_build(scene, 1, &error) : NULL;
        assert_null(w);
        if (!strstr(error.text, cases[i].sentence) || error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("%s: %d:%d: %s", cases[i].joint, error.line, error.column, error.text);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_double_pendulum_follows_its_reduced_equations),
        cmocka_unit_test(a_slider_crank_has_the_stroke_of_its_closed_form),
        cmocka_unit_test(springs_distances_and_fixed_joints_work_in_the_plane),
        cmocka_unit_test(what_the_plane_has_not_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
