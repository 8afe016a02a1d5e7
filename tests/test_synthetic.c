/* Synthetic truth in the scene of the tossed cube: motions made with known values, noise added, values fitted again.
 *
 * Expected values: those that made the data. The tosses begin as the measured ones do, if ../shared is beside the
 * project. MOREAU_LONG: more of them. */
#include "common/random_scenes.h"
#include "common/folder.h"
#include "lab/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mor_scene* load(const char* name, const char* const* sets)
{
    char path[640];
    mor_error error = { 0 };
    snprintf(path, sizeof path, MOREAU_SOURCE_DIR "/bench/reality/%s", name);
    mor_scene* scene = mor_scene_load(path, sets, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    return scene;
}

static mor_calibration* calibrate(const char* plan)
{
    mor_error error = { 0 };
    mor_calibration* c = calloc(1, sizeof *c);
    FILE* f = fopen(path_of("plan.yaml"), "w");
    assert_non_null(f);
    fputs(plan, f);
    fclose(f);
    if (mor_calibration_read(c, path_of("plan.yaml"), NULL, NULL, &error) ||
        mor_calibration_run(c, 2, NULL, false, NULL, NULL, &error))
        fail_msg("%s", error.text);
    return c;
}

static void drop(mor_calibration* c)
{
    mor_calibration_free(c);
    free(c);
}

/* ------------------------------------------------------------------------------- tosses */

static const char tosses[] = MOREAU_SOURCE_DIR "/../shared/data/measured/contactnets_cube_tosses.csv";

/* The state of the cube at a row of the measured table. */
static mor_body_state first_state(const mor_measured* t, const int* column, int row)
{
    double v[13];
    for (int i = 0; i < 13; i++) v[i] = mor_measured_at(t, row, column[i]);
    mor_body_state s = { .pose = { { v[0], v[1], v[2] }, { v[3], v[4], v[5], v[6] } } };
    s.pose.rotation = mor_quat_normalize(s.pose.rotation);
    s.angular_velocity = mor_rotate(s.pose.rotation, mor_v3(v[10], v[11], v[12]));
    s.velocity = mor_v3(v[7], v[8], v[9]);
    return s;
}

/* Simulated motion of one toss at the times of the camera, with white noise of place (m) and turn (rad). */
static void write_toss(FILE* f, const mor_scene* scene, mor_body_state s, int run, int samples, mor_rng* r)
{
    const double place = 5.5e-5, turn = 4.7e-4;
    mor_error error = { 0 };
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    mor_body_id id = mor_world_find_body(w, "cube");
    mor_body_set_state(w, id, &s);
    for (int k = 0; k < samples; k++) {
        mor_body_state n = test_state(w, id);
        mor_vec3 o = mor_v3(turn * test_normal(r), turn * test_normal(r), turn * test_normal(r)), x = n.pose.position;
        mor_quat q = mor_quat_mul(mor_quat_exp(o), n.pose.rotation);
        mor_vec3 arm = mor_rotate(n.pose.rotation, mor_body_mass(w, id).com);
        mor_vec3 v = mor_sub(n.velocity, mor_cross(n.angular_velocity, arm)), a = n.angular_velocity;
        fprintf(f, "%d,%.9f,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g\n", run,
                k / 148.0, x.x + place * test_normal(r), x.y + place * test_normal(r), x.z + place * test_normal(r),
                q.w, q.x, q.y, q.z, v.x, v.y, v.z, a.x, a.y, a.z);
        test_steps(w, 4);
    }
    mor_world_destroy(w);
}

static int write_tosses(const mor_measured* t, int wanted, const mor_scene* scene)
{
    static const char* const names[] = { "px_m",   "py_m",   "pz_m",   "qw",       "qx",       "qy",      "qz",
                                         "vx_mps", "vy_mps", "vz_mps", "wx_radps", "wy_radps", "wz_radps" };
    int column[13], run = mor_measured_column(t, "toss"), count = 0;
    for (int i = 0; i < 13; i++) assert_true((column[i] = mor_measured_column(t, names[i])) >= 0);
    FILE* f = fopen(path_of("data.csv"), "w");
    assert_non_null(f);
    fputs("run,t,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n", f);
    mor_rng r = { 11 };
    for (int row = 0, last; row < t->row_count && count < wanted; row = last) {
        for (last = row; last < t->row_count && mor_measured_at(t, last, run) == mor_measured_at(t, row, run);) last++;
        write_toss(f, scene, first_state(t, column, row), ++count, last - row, &r);
    }
    fclose(f);
    return count;
}

static void tosses_with_white_noise_give_back_their_values(void** state)
{
    (void)state;
    mor_measured t;
    mor_error error = { 0 };
    if (access(tosses, R_OK) != 0) {
        printf("  skipped: %s is not there\n", tosses);
        return;
    }
    if (mor_measured_read(&t, tosses, &error)) fail_msg("%s", error.text);
    const char* const truth[] = { "materials.cube.friction=0.18", "materials.cube.restitution=0.2", NULL };
    mor_scene* scene = load("cube.yaml", truth);
    int count = write_tosses(&t, getenv("MOREAU_LONG") ? 120 : 24, scene);
    char plan[3000];
    snprintf(
        plan, sizeof plan,
        "moreau-calibrate: 1\nscene: %s/bench/reality/cube.yaml\n"
        "data: { file: data.csv, run: run, time: t, columns: { bodies.cube.position: [x, y, z], "
        "bodies.cube.quaternion: [qw, qx, qy, qz] } }\n"
        "initial: { fit: flight, bodies.cube.velocity: [vx, vy, vz], bodies.cube.angular_velocity: [wx, wy, wz] }\n"
        "parameters:\n"
        "  - { name: mu, path: materials.cube.friction, range: [0.05, 0.4], start: 0.22 }\n"
        "  - { name: e, path: materials.cube.restitution, range: [0.01, 0.6], start: 0.3 }\n"
        "  - { name: com, path: bodies.cube.com.2, range: [0, 0.012], start: 0.004 }\n"
        "split: { train: %d }\noptimiser: { starts: 1, evaluations: 80, horizons: [8] }\n"
        "intervals: { bootstrap: 0 }\n",
        MOREAU_SOURCE_DIR, count / 3);
    mor_calibration* c = calibrate(plan);
    const mor_cal_result* r = &c->results[0];
    double position = 100.0 * r->test[1] / 0.1048, rotation = 57.29577951308232 * r->test[2];
    printf(
        "  %d tosses, %d held out: position %.3f %% of the width, rotation %.3f degrees; mu %.4f (0.18), e %.4f (0.2), "
        "centre of mass %.3f mm (6.4)\n",
        count, count - count / 3, position, rotation, r->x[0], r->x[1], 1e3 * r->x[2]);
    assert_true(position <= 0.6 && rotation <= 0.7);
    drop(c);
    mor_scene_destroy(scene);
    mor_measured_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tosses_with_white_noise_give_back_their_values),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
