/* Initial states fitted to the flight of planar bodies that friction with the plane stops, or that lie still.
 *
 * Expected values: the mean of the samples of a body at rest; x = v t - mu g t^2/2 until it stops at t = v/(mu g). */
#include "common/folder.h"
#include "common/random_scenes.h"
#include "lab/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 24 };
static const double interval = 0.02, mu = 0.25;

/* The state that a run with these samples of x, y and angle begins with. */
static mor_body_state first_state(double sample[SAMPLES][3])
{
    mor_error error = { 0 };
    FILE *scene = fopen(path_of("s.yaml"), "w"), *plan = fopen(path_of("p.yaml"), "w"),
         *data = fopen(path_of("d.csv"), "w");
    assert_true(scene && plan && data);
    fprintf(scene,
            "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: 0.001, end: 1 }\nbodies:\n"
            "  - { name: coin, shape: { disc: 0.05 }, mass: 0.3, support: { friction: %g, radius: 0.04 } }\n",
            mu);
    fputs("moreau-calibrate: 1\nscene: s.yaml\n"
          "data: { file: d.csv, time: t, columns: { bodies.coin.position: [x, y], bodies.coin.angle: [a] } }\n"
          "initial: { fit: flight }\nparameters:\n  - { path: bodies.coin.mass, range: [0.1, 1] }\n",
          plan);
    fputs("t,x,y,a\n", data);
    for (int k = 0; k < SAMPLES; k++)
        fprintf(data, "%.17g,%.17g,%.17g,%.17g\n", interval * k, sample[k][0], sample[k][1], sample[k][2]);
    fclose(scene), fclose(plan), fclose(data);
    mor_calibration* c = calloc(1, sizeof *c);
    assert_non_null(c);
    if (mor_calibration_read(c, path_of("p.yaml"), NULL, NULL, &error) || mor_cal_find_flights(c, &error))
        fail_msg("%s", error.text);
    assert_int_equal(c->runs[0].flight, SAMPLES - 1); /* nothing is touched */
    mor_scene* s = mor_scene_load(path_of("s.yaml"), NULL, NULL, &error);
    mor_world* w = s ? mor_scene_build(s, 1, &error) : NULL;
    if (!w || mor_cal_set_initial(c, s, w, 0, &error)) fail_msg("%s", error.text);
    mor_body_state state = mor_body_get_state(w, mor_world_find_body(w, "coin"));
    mor_world_destroy(w), mor_scene_destroy(s), mor_calibration_free(c);
    free(c);
    return state;
}

/* It began where a straight line through the noise begins: twice the noise of a mean, in every run. */
static void a_body_at_rest_begins_in_the_mean_of_its_poses(void** state)
{
    (void)state;
    mor_rng rng = { test_seed(8) };
    double sample[SAMPLES][3], mean[3] = { 0 };
    for (int k = 0; k < SAMPLES; k++)
        for (int i = 0; i < 3; i++) {
            sample[k][i] = 0.1 * (i + 1) + (i < 2 ? 4e-4 : 5e-3) * test_normal(&rng);
            if (k < SAMPLES - 1) mean[i] += sample[k][i] / (SAMPLES - 1);
        }
    mor_body_state s = first_state(sample);
    assert_true(fabs(s.pose.position.x - mean[0]) < 1e-7 && fabs(s.pose.position.y - mean[1]) < 1e-7);
    assert_true(fabs(2.0 * atan2(s.pose.rotation.z, s.pose.rotation.w) - mean[2]) < 1e-6);
    assert_true(mor_norm(s.velocity) == 0.0 && mor_norm(s.angular_velocity) == 0.0);
}

/* It stops after 0.2 s of 0.46: samples at rest say no more than where. */
static void a_body_that_friction_stops_begins_with_its_speed(void** state)
{
    (void)state;
    double sample[SAMPLES][3] = { { 0 } }, v = 0.49, slowing = mu * 9.81;
    for (int k = 0; k < SAMPLES; k++) {
        double t = fmin(interval * k, v / slowing);
        sample[k][0] = -0.2 + (v * t - 0.5 * slowing * t * t) * 0.6;
        sample[k][1] = 0.3 + (v * t - 0.5 * slowing * t * t) * 0.8;
        sample[k][2] = 0.4;
    }
    mor_body_state s = first_state(sample);
    printf("  v %.4f %.4f, true %.4f %.4f\n", s.velocity.x, s.velocity.y, 0.6 * v, 0.8 * v);
    assert_true(fabs(s.velocity.x - 0.6 * v) < 0.01 * v && fabs(s.velocity.y - 0.8 * v) < 0.01 * v);
    assert_true(fabs(s.pose.position.x + 0.2) < 5e-4 && fabs(s.pose.position.y - 0.3) < 5e-4);
    assert_true(fabs(s.angular_velocity.z) < 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_at_rest_begins_in_the_mean_of_its_poses),
        cmocka_unit_test(a_body_that_friction_stops_begins_with_its_speed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
