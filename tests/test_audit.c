/* The audit of measured motion (moreau calibrate --audit) on tumbling flights that were made with known values, and on
 * the same data altered on purpose: another unit, another gravity, axes swapped, velocities in the other frame,
 * degrees, velocities that are differences, a centre of mass that is not the scene's.
 *
 * Expected values: those that made the data, in closed form: the centre of mass falls on a parabola, the body turns
 * steadily. */
#include "common/worlds.h"
#include "common/folder.h"
#include "lab/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct alter {
    double length;   /* all lengths and velocities times this */
    double gravity;  /* m/s^2 */
    double com;      /* m, along the body's x */
    bool world_spin; /* angular velocities in world axes; the plan says body */
    bool backward;   /* velocities are backward differences */
    bool swapped;    /* y and z exchanged */
    double spin;     /* angular velocities times this */
    double floor;    /* m: where the body lies at the end */
} alter;

static const double h = 0.01, side = 0.1;
enum { RUNS = 20, FLIES = 20, RESTS = 5 };

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

static void write_row(FILE* f, const alter* a, int run, int k, mor_vec3 x, mor_quat q, mor_vec3 v, mor_vec3 w)
{
    if (a->swapped) x = mor_v3(x.x, x.z, x.y), v = mor_v3(v.x, v.z, v.y);
    x = mor_scale(a->length, x), v = mor_scale(a->length, v), w = mor_scale(a->spin, w);
    fprintf(f, "%d,%.9g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g,%.12g\n", run, h * k,
            x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z);
}

static void write_data(const alter* a)
{
    FILE* f = fopen(path_of("data.csv"), "w");
    mor_rng r = { 5 };
    assert_non_null(f);
    fputs("run,t,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n", f);
    for (int run = 1; run <= RUNS; run++) {
        mor_vec3 x0 = { between(&r, -1, 1), between(&r, -1, 1), 1.0 },
                 v0 = { between(&r, -1, 1), between(&r, -1, 1), 1.5 };
        mor_vec3 w = { between(&r, -9, 9), between(&r, -9, 9), between(&r, -9, 9) }, last = { 0 };
        mor_quat q0 = mor_quat_exp(mor_v3(between(&r, -1, 1), between(&r, -1, 1), between(&r, -1, 1)));
        for (int k = -1; k < FLIES; k++) {
            double t = h * k;
            mor_quat q = mor_quat_mul(mor_quat_exp(mor_scale(t, w)), q0);
            mor_vec3 arm = mor_rotate(q, mor_v3(a->com, 0, 0)), x = mor_madd(x0, t, v0);
            x.z -= 0.5 * a->gravity * t * t;
            mor_vec3 v = mor_sub(mor_sub(v0, mor_v3(0, 0, a->gravity * t)), mor_cross(w, arm));
            mor_vec3 frame = mor_sub(x, arm);
            for (int i = 0; i < 3; i++) /* noise of 20 micrometres */
                *(i == 0 ? &frame.x : i == 1 ? &frame.y : &frame.z) += between(&r, -3.5e-5, 3.5e-5);
            mor_vec3 given = a->backward ? mor_scale(1.0 / h, mor_sub(frame, last)) : v;
            if (k >= 0) write_row(f, a, run, k, frame, q, given, a->world_spin ? w : mor_unrotate(q, w));
            last = frame;
        }
        for (int k = FLIES; k < FLIES + RESTS; k++)
            write_row(f, a, run, k + 100, mor_v3(0, 0, 0.5 * side + a->floor), (mor_quat){ 1, 0, 0, 0 },
                      mor_v3(0, 0, 0), mor_v3(0, 0, 0));
    }
    fclose(f);
}

static mor_cal_audit audit(const alter* a)
{
    mor_error error = { 0 };
    mor_calibration* c = calloc(1, sizeof *c);
    mor_cal_audit found[2];
    int count = 0;
    write_data(a);
    FILE* f = fopen(path_of("plan.yaml"), "w");
    assert_non_null(f);
    fputs("moreau-calibrate: 1\nscene: scene.yaml\ndata: { file: data.csv, run: run, time: t, columns: { "
          "bodies.b.position: [x, y, z], bodies.b.quaternion: [qw, qx, qy, qz] } }\ninitial: { bodies.b.velocity: [vx, "
          "vy, vz], bodies.b.angular_velocity: { columns: [wx, wy, wz], frame: body } }\nparameters: [ { path: "
          "bodies.b.mass, range: [0.1, 1] } ]\n",
          f);
    fclose(f);
    f = fopen(path_of("scene.yaml"), "w");
    fputs("moreau: 1\ntime: { step: 0.01 }\nbodies:\n  - { name: ground, fixed: true, shape: { plane: {} } }\n  - { "
          "name: "
          "b, shape: { box: [0.1, 0.1, 0.1] }, mass: 0.5, position: [0, 0, 1] }\n",
          f);
    fclose(f);
    if (mor_calibration_read(c, path_of("plan.yaml"), NULL, NULL, &error) ||
        (c->jobs = 1, mor_calibration_audit(c, found, 2, &count, &error)))
        fail_msg("%s", error.text);
    assert_int_equal(count, 1);
    mor_calibration_free(c);
    free(c);
    return found[0];
}

static bool says(const mor_cal_audit* a, const char* words)
{
    for (int i = 0; i < a->finding_count; i++)
        if (strstr(a->findings[i], words)) return true;
    return false;
}

static const alter right = { 1, 9.81, 0, false, false, false, 1, 0 };

static void right_data_have_nothing_to_look_at(void** state)
{
    (void)state;
    mor_cal_audit a = audit(&right);
    mor_cal_audit_print(&a, stdout);
    assert_int_equal(a.finding_count, 0);
    assert_int_equal(a.runs, RUNS);
    test_near(a.gravity[2], -9.81, 4 * a.gravity_error[2], "gravity");
    assert_true(a.gravity_error[2] < 0.02);
    for (int i = 0; i < 3; i++) test_near(a.com[i], 0, 4 * a.com_error[i] + 1e-5, "centre of mass");
    test_near(a.noise, 2e-5, 4e-6, "noise"); /* 3.5e-5/sqrt 3 */
    test_near(a.spin_scale, 1, 1e-3, "scale of spins");
}

static void what_was_altered_is_told(void** state)
{
    (void)state;
    alter x = right;
    x.length = 1000;
    mor_cal_audit a = audit(&x);
    assert_true(says(&a, "millimetres?"));
    x = right, x.length = 0.979;
    a = audit(&x);
    test_near(a.gravity[2], -9.81 * 0.979, 0.03, "gravity in the data's lengths");
    assert_true(says(&a, "lengths are 0.97") || says(&a, "lengths are 0.98"));
    x = right, x.gravity = 1.62;
    a = audit(&x);
    assert_true(says(&a, "flights fall with 1.6"));
    x = right, x.swapped = true;
    a = audit(&x);
    assert_true(says(&a, "axes are swapped"));
    x = right, x.world_spin = true;
    a = audit(&x);
    assert_true(says(&a, "axes of the world, the plan says body"));
    assert_true(a.spin[0] < 0.1 * a.spin[1]);
    x = right, x.spin = 57.29578;
    a = audit(&x);
    assert_true(says(&a, "degrees"));
    x = right, x.spin = -1;
    a = audit(&x);
    assert_true(a.spin_scale < 0.0 && says(&a, "angular velocities are -1"));
    x = right, x.backward = true;
    a = audit(&x);
    assert_true(says(&a, "backward differences"));
    x = right, x.com = 0.006;
    a = audit(&x);
    test_near(a.com[0], 0.006, 4 * a.com_error[0], "centre of mass");
    assert_true(a.com_error[0] < 5e-4 && says(&a, "centre of mass along x is at"));
    x = right, x.floor = -0.0019;
    a = audit(&x);
    test_near(a.rest_gap, -0.0019, 1e-9, "gap at rest");
    assert_true(says(&a, "inside what it lies on"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_data_have_nothing_to_look_at),
        cmocka_unit_test(what_was_altered_is_told),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
