/* Calibration with slopes through contact: it finds the values that made the data, with fewer evaluations than values
 * alone need. */
#include "common/worlds.h"
#include "lab/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/moreau_gradient_XXXXXX";

static const char puck_scene[] =
    "moreau: 1\ntime: { step: 0.005, end: 1 }\nmaterials:\n  ice: { friction: 0.2, restitution: 0.4 }\nbodies:\n"
    "  - { name: ground, fixed: true, shape: { plane: {} }, material: ice }\n"
    "  - { name: puck, shape: { sphere: 0.1 }, mass: 0.5, material: ice, position: [0, 0, 0.2] }\n";

static void path_of(const char* name, char* path) { snprintf(path, 256, "%s/%s", folder, name); }

static FILE* open_file(const char* name)
{
    char path[256];
    path_of(name, path);
    FILE* f = fopen(path, "w");
    assert_non_null(f);
    return f;
}

/* Throws of a ball with these values, noise of 1 mm. */
static void make_data(double mu, double e, double radius, uint64_t seed)
{
    mor_rng r = { seed };
    char sets[3][80];
    const char* overrides[] = { sets[0], sets[1], sets[2], NULL };
    mor_error error = { 0 };
    snprintf(sets[0], sizeof sets[0], "materials.ice.friction=%.17g", mu);
    snprintf(sets[1], sizeof sets[1], "materials.ice.restitution=%.17g", e);
    snprintf(sets[2], sizeof sets[2], "bodies.puck.shape.sphere=%.17g", radius);
    mor_scene* scene = mor_scene_parse(puck_scene, strlen(puck_scene), "puck.yaml", overrides, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    FILE *f = open_file("data.csv"), *s = open_file("puck.yaml");
    fputs("run,t,x,y,z,vx,vy,vz\n", f);
    fputs(puck_scene, s);
    for (int i = 0; i < 6; i++) {
        mor_world* w = mor_scene_build(scene, 1, &error);
        mor_body_id b = mor_world_find_body(w, "puck");
        mor_body_state at = test_state(w, b);
        at.pose.position = mor_v3(0, 0, 0.2 + 0.1 * mor_rng_uniform(&r));
        at.velocity = mor_v3(2 + 2 * mor_rng_uniform(&r), mor_rng_uniform(&r), -1);
        mor_body_set_state(w, b, &at);
        for (int k = 0; k < 40; k++) {
            mor_body_state n = test_state(w, b);
            double x[3] = { n.pose.position.x, n.pose.position.y, n.pose.position.z };
            for (int d = 0; d < 3 && k > 0; d++) x[d] += 0.002 * (mor_rng_uniform(&r) - 0.5);
            fprintf(f, "%d,%.9f,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g\n", i + 1, 0.01 * k, x[0], x[1], x[2], n.velocity.x,
                    n.velocity.y, n.velocity.z);
            test_steps(w, 2);
        }
        mor_world_destroy(w);
    }
    fclose(f);
    fclose(s);
    mor_scene_destroy(scene);
}

/* The result of a plan with this optimiser, error and parameters. */
static mor_cal_result fit(const char* optimiser, const char* error_name, const char* parameters)
{
    mor_calibration* c = calloc(1, sizeof *c);
    mor_error error = { 0 };
    char path[256];
    FILE* f = open_file("plan.yaml");
    fprintf(f,
            "moreau-calibrate: 1\nscene: puck.yaml\ndata: { file: data.csv, run: run, time: t, columns: { "
            "bodies.puck.position: [x, y, z] } }\ninitial: { bodies.puck.velocity: [vx, vy, vz] }\nparameters:\n%s"
            "error: { name: %s }\noptimiser: { name: %s, starts: 1, evaluations: 400 }\nintervals: { bootstrap: 0, "
            "profile: 0 }\n",
            parameters, error_name, optimiser);
    fclose(f);
    path_of("plan.yaml", path);
    if (mor_calibration_read(c, path, NULL, NULL, &error) || mor_calibration_run(c, 1, NULL, false, NULL, NULL, &error))
        fail_msg("%s", error.text);
    mor_cal_result r = c->results[0];
    mor_calibration_free(c);
    free(c);
    return r;
}

#define FRICTION "  - { path: materials.ice.friction, range: [0.02, 0.5], start: 0.08 }\n"
#define BOUNCE "  - { path: materials.ice.restitution, range: [0.1, 0.9], start: 0.7 }\n"
#define RADIUS "  - { path: bodies.puck.shape.sphere, range: [0.08, 0.12], start: 0.09 }\n"

static void slopes_find_the_truth_sooner_than_values(void** state)
{
    (void)state;
    static const char* const errors[] = { "pose", "eq18" };
    for (int k = 0; k < 2; k++) {
        make_data(0.17, 0.45, 0.1, 11 + (uint64_t)k);
        mor_cal_result slopes = fit("gradient", errors[k], FRICTION BOUNCE);
        mor_cal_result values = fit("sbplx", errors[k], FRICTION BOUNCE);
        print_message("%s: slopes %.4f %.4f, %d evaluations, error %.3g; values %.4f %.4f, %d, %.3g\n", errors[k],
                      slopes.x[0], slopes.x[1], slopes.evaluations, slopes.train[0], values.x[0], values.x[1],
                      values.evaluations, values.train[0]);
        test_near(slopes.x[0], 0.17, 0.01, "friction");
        test_near(slopes.x[1], 0.45, 0.01, "restitution");
        assert_true(slopes.train[0] < 1.02 * values.train[0]);
        assert_true(slopes.evaluations < values.evaluations / 2);
    }
}

/* A radius is no input of the derivative that a scene's path means: its slope is a difference. */
static void other_parameters_have_differences(void** state)
{
    (void)state;
    make_data(0.17, 0.45, 0.105, 5);
    mor_cal_result r = fit("gradient", "eq18", FRICTION BOUNCE RADIUS);
    print_message("%.4f %.4f %.5f, %d evaluations\n", r.x[0], r.x[1], r.x[2], r.evaluations);
    test_near(r.x[0], 0.17, 0.01, "friction");
    test_near(r.x[1], 0.45, 0.01, "restitution");
    test_near(r.x[2], 0.105, 0.001, "radius");
}

static int make_folder(void** state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(slopes_find_the_truth_sooner_than_values),
                                        cmocka_unit_test(other_parameters_have_differences) };
    return cmocka_run_group_tests(tests, make_folder, NULL);
}
