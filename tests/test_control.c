/* Motors, sensors, controllers and the bus against closed forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "moreau/moreau.h"

static const double PI = 3.14159265358979323846;

/* A world with a wheel of inertia I on a vertical axis (gravity does nothing), or on a horizontal one as a pendulum of
 * mass m at distance l. */
typedef struct rig {
    mor_world* w;
    mor_robot_model* m;
    mor_error error;
} rig;

static rig make(int joints, double I, double mass, double l, double h)
{
    rig r = { 0 };
    mor_link_def links[4];
    for (int i = 0; i <= joints; i++) {
        links[i] = mor_link_def_default();
        snprintf(links[i].name, sizeof links[i].name, "link%d", i);
        snprintf(links[i].joint_name, sizeof links[i].joint_name, "joint%d", i);
        links[i].parent = i ? 0 : -1;
        links[i].joint = i ? i - 1 : 0;
        links[i].axis = l > 0.0 ? mor_v3(0, 1, 0) : mor_v3(0, 0, 1);
        links[i].pose = mor_pose_identity();
        links[i].mass =
            (mor_mass){ .mass = mass, .com = { l, 0, 0 }, .inertia = { { { I, 0, 0 }, { 0, I, 0 }, { 0, 0, I } } } };
    }
    mor_frame_def frames[4];
    for (int i = 0; i <= joints; i++) {
        snprintf(frames[i].name, sizeof frames[i].name, "frame%d", i);
        frames[i].link = i;
        frames[i].pose = mor_pose_identity();
    }
    r.m = mor_robot_create(links, joints + 1, frames, joints + 1, false, &r.error);
    if (!r.m) fail_msg("%s", r.error.text);
    mor_world_def def = mor_world_def_default();
    def.step = h;
    r.w = mor_world_create(&def, &r.error);
    return r;
}

static void put(rig* r, const double* s)
{
    mor_robot_def d = mor_robot_def_default();
    snprintf(d.name, sizeof d.name, "rig");
    d.model = r->m;
    d.s = s;
    assert_int_equal(mor_world_add_robot(r->w, &d, &r->error), 0);
    assert_int_equal(mor_world_watch_robot(r->w, 0, &r->error), MOR_OK);
}

static void motors(rig* r, mor_motors m)
{
    if (mor_world_set_motors(r->w, 0, &m, &r->error)) fail_msg("%s", r->error.text);
}

static void controller(rig* r, const char* type, mor_controller_def d)
{
    d.type = mor_library_controller(NULL, type);
    assert_non_null(d.type);
    if (mor_world_add_controller(r->w, &d, &r->error) < 0) fail_msg("%s", r->error.text);
}

static void step(rig* r, int n)
{
    for (int i = 0; i < n; i++) {
        mor_step_report report;
        if (mor_world_step(r->w, &report, &r->error) || report.status != MOR_SOLVED)
            fail_msg("%s %s", r->error.text, report.detail);
    }
}

static double angle(const rig* r)
{
    double s[4];
    mor_world_robot_state(r->w, 0, NULL, s, NULL);
    return s[0];
}

static double speed(const rig* r)
{
    double nu[4];
    mor_world_robot_state(r->w, 0, NULL, NULL, nu);
    return nu[0];
}

static double torque(const rig* r)
{
    double tau[4];
    mor_world_motor_torques(r->w, 0, tau);
    return tau[0];
}

static void end(rig* r)
{
    mor_world_destroy(r->w);
    mor_robot_destroy(r->m);
}

static mor_controller_def plain(void) { return mor_controller_def_default(); }

/* ------------------------------------------------------------------------------------- motors */

static void a_torque_limited_joint_saturates_exactly(void** state)
{
    (void)state;
    rig r = make(1, 0.5, 1, 0, 0.001);
    put(&r, NULL);
    motors(&r, (mor_motors){ .torque_limit = (double[]){ 3.0 } });
    mor_controller_def d = plain();
    d.target = (double[]){ 1.0 }, d.kp = (double[]){ 1e5 }, d.kd = (double[]){ 3e4 };
    controller(&r, "pid", d);
    for (int i = 1; i <= 300; i++) {
        step(&r, 1);
        assert_true(torque(&r) == 3.0);
        assert_near(speed(&r), 3.0 / 0.5 * 0.001 * i, 1e-12);
    }
    double most = 0.0;
    for (int i = 0; i < 12000; i++) {
        step(&r, 1);
        most = fmax(most, fabs(torque(&r)));
    }
    assert_true(most <= 3.0 * (1.0 + 1e-8)); /* also where the implicit gain brakes */
    assert_near(angle(&r), 1.0, 1e-9);
    end(&r);
}

static void currents_limit_the_torque_through_the_gear(void** state)
{
    (void)state;
    rig r = make(1, 0.5, 1, 0, 0.001);
    put(&r, NULL);
    motors(&r, (mor_motors){ .ratio = (double[]){ 50 }, .kt = (double[]){ 0.04 }, .current_limit = (double[]){ 2.5 } });
    mor_controller_def d = plain();
    d.target = (double[]){ 100.0 };
    controller(&r, "torque", d);
    step(&r, 1);
    assert_near(torque(&r), 50 * 0.04 * 2.5, 1e-14);
    end(&r);
}

static void currents_of_coupled_motors_are_limited_at_the_motors(void** state)
{
    (void)state;
    /* s1' = m1', s2' = m1' + m2': tau_m = T' tau = (tau1 + tau2, tau2). Asked (10, 2): motor 1 gets 12, is cut to 6;
     * back: tau2 = tau_m2 = 2, tau1 = 6 - 2 = 4 */
    rig r = make(2, 0.5, 1, 0, 0.001);
    put(&r, NULL);
    motors(&r, (mor_motors){ .kt = (double[]){ 1, 1 },
                             .current_limit = (double[]){ 6, 6 },
                             .coupling = (double[]){ 1, 0, 1, 1 } });
    mor_controller_def d = plain();
    d.target = (double[]){ 10.0, 2.0 };
    controller(&r, "torque", d);
    step(&r, 1);
    double tau[2];
    mor_world_motor_torques(r.w, 0, tau);
    assert_near(tau[0], 4.0, 1e-13);
    assert_near(tau[1], 2.0, 1e-13);
    end(&r);
}

static void reflected_inertia_shifts_the_resonance_as_computed(void** state)
{
    (void)state;
    double periods[2];
    for (int geared = 0; geared < 2; geared++) {
        double I = 0.5, h = 1e-4, reflected = geared ? 60.0 * 60.0 * 1.5e-4 : 0.0; /* 0.54 */
        rig r = make(1, I, 1, 0, h);
        double ratio = 60, rotor = 1.5e-4, matrix;
        assert_int_equal(mor_reflected_inertia(1, &ratio, &rotor, NULL, &matrix, &r.error), MOR_OK);
        assert_near(matrix, 0.54, 1e-15);
        if (geared) assert_int_equal(mor_robot_set_reflected(r.m, &matrix, NULL, &r.error), MOR_OK);
        put(&r, (double[]){ 0.1 });
        mor_controller_def d = plain();
        d.kp = (double[]){ 200.0 };
        controller(&r, "pid", d);
        double first = 0.0, last = 0.0, before = angle(&r);
        int crossings = 0;
        for (int i = 1; crossings < 9; i++) { /* upward and downward crossings, interpolated */
            step(&r, 1);
            double now = angle(&r);
            if ((before > 0.0) != (now > 0.0)) {
                double t = h * (i - 1 + before / (before - now));
                if (crossings++ == 0) first = t;
                last = t;
            }
            before = now;
        }
        periods[geared] = (last - first) / 4.0;
        assert_near(periods[geared], 2.0 * PI * sqrt((I + reflected) / 200.0), 2e-5 * periods[geared]);
        end(&r);
    }
    assert_near(periods[1] / periods[0], sqrt(1.04 / 0.5), 1e-5);
}

static void couplings_reflect_rotors_as_the_icub_torso_and_shoulder_do(void** state)
{
    (void)state;
    /* published numbers: gears of 100, rotors 1.367e-5 and 7.95e-6 kg m^2 */
    const double T[9] = { 0.5, -0.5, 0, 0.5, 0.5, 0, 0.275, 0.275, 0.55 }, ratio[3] = { 100, 100, 100 };
    const double rotor[3] = { 0.0827e-4 + 0.054e-4, 0.0827e-4 + 0.054e-4, 0.0585e-4 + 0.021e-4 };
    double M[9];
    mor_error error = { 0 };
    assert_int_equal(mor_reflected_inertia(3, ratio, rotor, T, M, &error), MOR_OK);
    assert_near(M[0], 0.2734, 5e-5);
    assert_near(M[4], 0.3529, 5e-5);
    assert_near(M[8], 0.2628, 5e-5);
    assert_near(M[5], -0.1445, 5e-5);
    assert_near(M[5], M[7], 1e-16);
    const double S[9] = { 1, 0, 0, 1, 0.615, 0, 0, -0.615, 0.615 }, arm[3] = { 7.95e-6, 7.95e-6, 7.95e-6 };
    assert_int_equal(mor_reflected_inertia(3, ratio, arm, S, M, &error), MOR_OK);
    assert_near(M[0], 0.4999, 5e-5);
    assert_near(M[4], 0.4204, 5e-5);
    assert_near(M[8], 0.2102, 5e-5);
    const double singular[9] = { 1, 1, 0, 1, 1, 0, 0, 0, 1 };
    assert_int_equal(mor_reflected_inertia(3, ratio, arm, singular, M, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "singular"));
}

/* The wheel's speed is the integral of the torque over I: for any step exactly that of the continuous actuator. */
/* A step is nu + h M^-1 (tau - h) with the dense M of inverse dynamics, whether motors couple joints of one limb or of
 * two. */
static void coupled_motors_accelerate_as_their_mass_matrix_says(void** state)
{
    (void)state;
    for (int across = 0; across < 2; across++) {
        mor_link_def links[5];
        for (int i = 0; i < 5; i++) { /* two limbs of two links on a floating base */
            links[i] = mor_link_def_default();
            links[i].parent = i == 0 ? -1 : i == 3 ? 0 : i - 1;
            links[i].joint = i ? i - 1 : 0;
            links[i].axis = i % 2 ? mor_v3(0, 1, 0) : mor_v3(0.6, 0, 0.8);
            links[i].pose = (mor_pose){ { 0.1, i == 3 ? -0.2 : 0.2, 0.05 }, { 1, 0, 0, 0 } };
            links[i].mass = (mor_mass){ 1.0 + 0.3 * i, { 0.05, 0.02, -0.1 }, mor_mat3_diag(0.02, 0.03, 0.025) };
        }
        mor_error error = { 0 };
        mor_robot_model* m = mor_robot_create(links, 5, NULL, 0, true, &error);
        double R[16] = { 0.5, 0.1, 0, 0, 0.1, 0.4, 0, 0, 0, 0, 0.3, -0.1, 0, 0, -0.1, 0.2 };
        if (across) R[1 * 4 + 2] = R[2 * 4 + 1] = 0.05;
        assert_non_null(m);
        assert_int_equal(mor_robot_set_reflected(m, NULL, R, &error), MOR_OK);
        const double s[4] = { 0.3, -0.5, 0.2, 0.7 }, nu[10] = { 0.1, -0.2, 0.3, 0.5, 0.4, -0.3, 1.0, -0.5, 0.8, 0.3 };
        mor_world_def def = mor_world_def_default();
        def.step = 1e-5;
        mor_world* w = mor_world_create(&def, &error);
        mor_robot_def d = mor_robot_def_default();
        d.model = m, d.s = s, d.nu = nu;
        assert_int_equal(mor_world_add_robot(w, &d, &error), 0);
        /* M column by column from inverse dynamics, so without the algorithms under test */
        double M[100], h[10], unit[10], x[10], after[10];
        mor_robot_work* work = mor_robot_work_create(m);
        mor_robot_update(m, work, &d.pose, s, nu);
        mor_robot_inverse_dynamics(m, work, def.gravity, NULL, NULL, h);
        for (int c = 0; c < 10; c++) {
            memset(unit, 0, sizeof unit);
            unit[c] = 1.0;
            mor_robot_inverse_dynamics(m, work, def.gravity, unit, NULL, x);
            for (int r = 0; r < 10; r++) M[10 * r + c] = x[r] - h[r];
        }
        assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
        mor_world_robot_state(w, 0, NULL, NULL, after);
        for (int r = 0; r < 10; r++) {
            double left = h[r];
            for (int c = 0; c < 10; c++) left += M[10 * r + c] * (after[c] - nu[c]) / def.step;
            assert_near(left, 0.0, 1e-4); /* the mean over the step: of first order in it */
        }
        mor_robot_work_destroy(work);
        mor_world_destroy(w);
        mor_robot_destroy(m);
    }
}

static void actuator_dynamics_are_exact_at_any_step(void** state)
{
    (void)state;
    const double f = 5.0, w = 2.0 * PI * f, I = 0.5, c = 2.0, T = 0.32;
    for (int order = 1; order <= 4; order++) /* 2: it swings; 3: critical; 4: it creeps */
        for (int coarse = 0; coarse < 2; coarse++) {
            double zeta = order == 2 ? 0.6 : order == 3 ? 1.0 : 2.0, h = coarse ? 0.016 : 0.002;
            rig r = make(1, I, 1, 0, h);
            put(&r, NULL);
            motors(&r, (mor_motors){ .bandwidth = &f, .damping_ratio = order > 1 ? &zeta : NULL });
            mor_controller_def d = plain();
            d.target = &c;
            controller(&r, "torque", d);
            step(&r, (int)floor(T / h + 0.5));
            double expected;
            if (order == 1) {
                expected = c / I * (T - (1.0 - exp(-w * T)) / w);
            } else { /* step response integrated once: T - 2 zeta/w + (tail), from the equation itself */
                double d_ = w * sqrt(fabs(1 - zeta * zeta)), e = exp(-zeta * w * T);
                double C = order == 2 ? cos(d_ * T) : cosh(d_ * T);
                double S = order == 2 ? sin(d_ * T) / d_ : order == 3 ? T : sinh(d_ * T) / d_;
                /* of tau/c - 1 */
                double y = -e * (C + zeta * w * S), v = e * w * w * S;
                expected = c / I * (T - (v + 2 * zeta * w * (y + 1.0)) / (w * w));
            }
            assert_near(speed(&r), expected, 1e-11);
            end(&r);
        }
}

/* The torque of gravity is known by the lever; a sensor and a controller are what was asked for. */
static void what_was_added_can_be_asked_for(void** state)
{
    (void)state;
    rig r = make(1, 0.01, 1.5, 0.3, 0.002);
    put(&r, (double[]){ 0.4 });
    double tau = 0.0;
    mor_world_gravity_torque(r.w, 0, &tau);
    assert_near(tau, -1.5 * 9.81 * 0.3 * cos(0.4), 1e-12);
    assert_int_equal(mor_world_sensor_count(r.w), 0);
    mor_sensor_def s = mor_sensor_def_default();
    s.kind = MOR_SENSOR_ENCODER, s.joint = 0, s.resolution = 0.25;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), 0);
    assert_int_equal(mor_world_sensor_count(r.w), 1);
    assert_true(mor_world_sensor(r.w, 0)->kind == MOR_SENSOR_ENCODER && mor_world_sensor(r.w, 0)->resolution == 0.25);
    end(&r);
}

/* Without the limit the integral of one second would be 200 N m. */
static void the_integral_of_a_law_stays_within_its_limit(void** state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        rig r = make(1, 1000.0, 1, 0, 0.01); /* heavy: it hardly moves */
        put(&r, NULL);
        mor_controller_def d = plain();
        d.kp = (double[]){ 0.0 }, d.ki = (double[]){ 200.0 }, d.integral_limit = 3.0;
        d.target = (double[]){ side };
        controller(&r, "pid", d);
        step(&r, 100);
        assert_near(torque(&r), 3.0 * side, 1e-12);
        end(&r);
    }
}

static void friction_of_motors_holds_brakes_and_ends_in_a_terminal_speed(void** state)
{
    (void)state;
    const double below = 0.9, above = 1.5, dry = 1.0, wet = 0.25, I = 0.5;
    rig r = make(1, I, 1, 0, 0.001);
    put(&r, NULL);
    motors(&r, (mor_motors){ .coulomb = &dry });
    mor_controller_def d = plain();
    d.target = &below, d.until = 0.5;
    controller(&r, "torque", d);
    d.target = &above, d.from = 0.5, d.until = INFINITY;
    controller(&r, "torque", d);
    step(&r, 500);
    assert_near(angle(&r), 0.0, 1e-12);
    step(&r, 1000);
    assert_near(speed(&r), (1.5 - 1.0) / I * 1.0, 1e-9);
    end(&r);
    r = make(1, I, 1, 0, 0.01);
    put(&r, NULL);
    motors(&r, (mor_motors){ .viscous = &wet });
    d = plain();
    d.target = &above;
    controller(&r, "torque", d);
    step(&r, 6000);
    assert_near(speed(&r), 1.5 / 0.25, 1e-9);
    end(&r);
}

static void no_motor_drives_a_joint_beyond_its_speed_limit(void** state)
{
    (void)state;
    const double tau = 5.0, limit = 2.0;
    rig r = make(1, 0.5, 1, 0, 0.001);
    put(&r, NULL);
    motors(&r, (mor_motors){ .speed_limit = &limit });
    mor_controller_def d = plain();
    d.target = &tau;
    controller(&r, "torque", d);
    for (int i = 0; i < 2000; i++) {
        step(&r, 1);
        assert_true(speed(&r) <= limit);
    }
    assert_near(speed(&r), limit, 1e-3);
    end(&r);
}

/* -------------------------------------------------------------------------------- controllers */

static void stiff_gains_are_stable_at_a_step_of_16_ms(void** state)
{
    (void)state;
    rig r = make(1, 0.01, 1, 0.3, 0.016); /* sampled, kp h^2/I = 8 would blow up */
    put(&r, (double[]){ 0.7 });
    mor_controller_def d = plain();
    d.target = (double[]){ -0.4 }, d.kp = (double[]){ 3000.0 }, d.kd = (double[]){ 100.0 };
    d.gravity_compensation = true;
    controller(&r, "pid", d);
    step(&r, 200);
    assert_near(angle(&r), -0.4, 1e-9);
    end(&r);
    r = make(1, 0.01, 1, 0.3, 0.016);
    put(&r, (double[]){ 0.7 });
    d.sampled = true;
    controller(&r, "pid", d);
    double most = 0.0;
    mor_step_report report;
    for (int i = 0; i < 200 && mor_world_step(r.w, &report, &r.error) == MOR_OK && report.status == MOR_SOLVED; i++)
        most = fmax(most, fabs(angle(&r)));
    assert_true(!(most < 10.0));
    end(&r);
}

static void without_gravity_compensation_a_pd_law_sags_by_the_torque_over_kp(void** state)
{
    (void)state;
    rig r = make(1, 0.01, 1.5, 0.3, 0.002);
    put(&r, NULL);
    mor_controller_def d = plain();
    d.kp = (double[]){ 100.0 }, d.kd = (double[]){ 10.0 };
    controller(&r, "pid", d);
    step(&r, 5000);
    double s = angle(&r);
    assert_near(100.0 * s, 1.5 * 9.81 * 0.3 * cos(s), 1e-9); /* pitch down is positive */
    end(&r);
    r = make(1, 0.01, 1.5, 0.3, 0.002); /* an integral removes it */
    put(&r, NULL);
    d.ki = (double[]){ 200.0 };
    controller(&r, "pid", d);
    step(&r, 10000);
    assert_near(angle(&r), 0.0, 1e-9);
    assert_near(torque(&r), -1.5 * 9.81 * 0.3, 1e-7);
    end(&r);
}

static void a_velocity_law_reaches_its_speed(void** state)
{
    (void)state;
    rig r = make(1, 0.5, 1, 0, 0.01);
    put(&r, NULL);
    mor_controller_def d = plain();
    d.target = (double[]){ 3.0 }, d.kd = (double[]){ 50.0 };
    controller(&r, "velocity", d);
    step(&r, 500);
    assert_near(speed(&r), 3.0, 1e-10);
    end(&r);
}

typedef struct log {
    int calls;
    double times[100], speeds[100];
} call_log;
static call_log calls;

static void counting(const mor_control_call* c)
{
    calls.times[calls.calls] = c->time;
    calls.speeds[calls.calls++] = c->s[0];
    c->tau[0] = (double)calls.calls;
}

static const mor_controller counter = { .name = "counter", .summary = "", .reference = "", .control = counting };

static void controllers_run_at_1_khz_in_steps_of_16_ms(void** state)
{
    (void)state;
    memset(&calls, 0, sizeof calls);
    rig r = make(1, 0.5, 1, 0, 0.016);
    put(&r, NULL);
    mor_controller_def d = plain();
    d.type = &counter;
    assert_true(mor_world_add_controller(r.w, &d, &r.error) >= 0);
    assert_int_equal(mor_world_set_control_step(r.w, 0.001, &r.error), MOR_OK);
    step(&r, 2);
    assert_int_equal(calls.calls, 32);
    for (int i = 0; i < 32; i++) assert_near(calls.times[i], 0.001 * i, 1e-15);
    assert_near(torque(&r), (17 + 32) / 2.0, 1e-12); /* the mean */
    /* extrapolated with the first step's speed */
    assert_near(calls.speeds[31] - calls.speeds[30], 0.001 * 8.5 / 0.5 * 0.016, 1e-15);
    end(&r);
    memset(&calls, 0, sizeof calls);
    r = make(1, 0.5, 1, 0, 0.001);
    put(&r, NULL);
    assert_true(mor_world_add_controller(r.w, &d, &r.error) >= 0);
    assert_int_equal(mor_world_set_control_step(r.w, 0.004, &r.error), MOR_OK);
    for (int i = 0; i < 12; i++) {
        step(&r, 1);
        assert_near(torque(&r), 1 + i / 4, 1e-15); /* held */
    }
    assert_int_equal(calls.calls, 3);
    end(&r);
}

/* Gains far beyond what a digital controller of that period could use: (kd + p kp) p is many times the inertia. */
static void a_long_control_step_with_implicit_gains_stays_stable(void** state)
{
    (void)state;
    const double periods[] = { 0.005, 0.02, 0.05 }, gains[] = { 50, 2e3, 1e5 };
    for (int i = 0; i < 9; i++) {
        rig r = make(1, 0.01 + 0.2 * (i % 2), 1, 0.3, 0.001);
        put(&r, (double[]){ 0.7 });
        mor_controller_def d = plain();
        double kp = gains[i / 3], p = periods[i % 3];
        d.target = (double[]){ 0.2 }, d.kp = &kp, d.kd = (double[]){ 0.05 * kp };
        d.gravity_compensation = true;
        controller(&r, "pid", d);
        assert_int_equal(mor_world_set_control_step(r.w, p, &r.error), MOR_OK);
        double fastest = 0.0;
        for (int n = 0; n < 4000; n++) {
            step(&r, 1);
            fastest = fmax(fastest, fabs(speed(&r)));
        }
        assert_true(fastest < 60.0); /* 0.5 rad in the shortest time the torque takes */
        assert_near(angle(&r), 0.2, 1e-3);
        assert_near(speed(&r), 0.0, 1e-2);
        end(&r);
    }
}

static void motion_tables_pass_their_rows_without_overshoot(void** state)
{
    (void)state;
    const double times[] = { 0, 1, 1.5, 3 }, values[] = { 0, 2, 2, -1 };
    const bool has[] = { true };
    mor_motion_table t = { .rows = 4, .joints = 1, .times = times, .values = values, .has = has };
    double v, rate, low = 1e9, high = -1e9;
    for (int i = 0; i < 4; i++) {
        mor_motion_at(&t, 0, times[i], &v, &rate);
        assert_near(v, values[i], 1e-15);
    }
    for (double x = -1; x < 4; x += 0.001) {
        double after, slope;
        mor_motion_at(&t, 0, x, &v, &rate);
        mor_motion_at(&t, 0, x + 1e-6, &after, &slope);
        assert_near((after - v) / 1e-6, 0.5 * (rate + slope), 1e-4);
        low = fmin(low, v), high = fmax(high, v);
    }
    assert_true(low >= -1.0 && high <= 2.0);
    t.period = 3.0;
    t.values = (const double[]){ 0, 2, 2, 0 };
    double again;
    mor_motion_at(&t, 0, 0.7, &v, &rate);
    mor_motion_at(&t, 0, 0.7 + 6.0, &again, &rate);
    assert_near(v, again, 1e-12);
}

static void the_pendulum_follows_torques_of_a_table(void** state)
{
    (void)state;
    /* tau = t (linear): omega = t^2/(2 I), exactly, because each instant takes the middle of its interval */
    rig r = make(1, 0.5, 1, 0, 0.01);
    put(&r, NULL);
    mor_motion_table t = {
        .rows = 2, .joints = 1, .times = (double[]){ 0, 10 }, .values = (double[]){ 0, 10 }, .interpolation = 1
    };
    mor_controller_def d = plain();
    d.table = &t;
    controller(&r, "torque", d);
    step(&r, 200);
    assert_near(speed(&r), 2.0 * 2.0 / (2 * 0.5), 1e-12);
    end(&r);
}

/* ------------------------------------------------------------------------------------ sensors */

static void an_imu_at_rest_reads_g_upwards_in_any_orientation(void** state)
{
    (void)state;
    mor_rng rng = { 7 };
    for (int k = 0; k < 50; k++) {
        rig r = make(2, 0.01, 1.5, 0.3, 0.002);
        mor_robot_def rd = mor_robot_def_default();
        snprintf(rd.name, sizeof rd.name, "rig");
        rd.model = r.m;
        rd.pose.rotation = mor_rng_rotation(&rng);
        rd.s = (double[]){ 6 * mor_rng_uniform(&rng), 6 * mor_rng_uniform(&rng) };
        assert_int_equal(mor_world_add_robot(r.w, &rd, &r.error), 0);
        mor_controller_def d = plain();
        d.target = rd.s, d.kp = (double[]){ 100, 100 }, d.kd = (double[]){ 10, 10 };
        d.gravity_compensation = true;
        controller(&r, "pid", d);
        mor_sensor_def s = mor_sensor_def_default();
        s.kind = MOR_SENSOR_IMU, s.robot = 0, s.frame = 1;
        int imu = mor_world_add_sensor(r.w, &s, &r.error);
        assert_int_equal(imu, 0);
        step(&r, 3);
        int n;
        const double* x = mor_world_sensor_value(r.w, imu, &n);
        assert_int_equal(n, 13);
        mor_quat q = { x[0], x[1], x[2], x[3] };
        mor_vec3 up = mor_rotate(q, mor_v3(x[7], x[8], x[9]));
        assert_near(up.x, 0.0, 1e-10);
        assert_near(up.y, 0.0, 1e-10);
        assert_near(up.z, 9.81, 1e-10);
        for (int i = 10; i < 13; i++) assert_near(x[i], 0.0, 1e-10);
        /* roll, pitch, yaw make the same rotation */
        mor_quat a = { cos(x[6] / 2), 0, 0, sin(x[6] / 2) }, b = { cos(x[5] / 2), 0, sin(x[5] / 2), 0 },
                 c = { cos(x[4] / 2), sin(x[4] / 2), 0, 0 };
        mor_quat p = mor_quat_mul(a, mor_quat_mul(b, c));
        assert_near(fabs(p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z), 1.0, 1e-12);
        end(&r);
    }
}

static void a_turning_imu_feels_the_centripetal_acceleration(void** state)
{
    (void)state;
    rig r = make(1, 0.5, 1, 0, 0.001);
    mor_robot_destroy(r.m);
    mor_link_def links[2] = { mor_link_def_default(), mor_link_def_default() };
    links[0].parent = -1;
    links[0].pose = links[1].pose = mor_pose_identity();
    links[1].parent = 0, links[1].axis = mor_v3(0, 0, 1);
    links[1].mass = links[0].mass = (mor_mass){ .mass = 1, .inertia = { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } };
    mor_frame_def f = { .name = "tip", .link = 1, .pose = { { 0.4, 0, 0 }, { 1, 0, 0, 0 } } };
    r.m = mor_robot_create(links, 2, &f, 1, false, &r.error);
    assert_non_null(r.m);
    mor_robot_def rd = mor_robot_def_default();
    rd.model = r.m, rd.nu = (double[]){ 3.0 };
    assert_int_equal(mor_world_add_robot(r.w, &rd, &r.error), 0);
    mor_sensor_def s = mor_sensor_def_default();
    s.kind = MOR_SENSOR_IMU, s.frame = 0;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), 0);
    step(&r, 1);
    const double* x = mor_world_sensor_value(r.w, 0, NULL);
    assert_near(x[7], -0.4 * 9.0, 1e-12);
    assert_near(x[8], 0.0, 1e-12);
    assert_near(x[9], 9.81, 1e-12);
    assert_near(x[12], 3.0, 1e-12);
    end(&r);
}

static void a_joint_carries_the_weight_behind_it(void** state)
{
    (void)state;
    rig r = make(1, 0.01, 1.5, 0.3, 0.002);
    put(&r, (double[]){ 0.5 });
    mor_controller_def d = plain();
    d.target = (double[]){ 0.5 }, d.kp = (double[]){ 100 }, d.kd = (double[]){ 10 };
    d.gravity_compensation = true;
    controller(&r, "pid", d);
    mor_sensor_def s = mor_sensor_def_default();
    s.kind = MOR_SENSOR_TORQUE, s.joint = 0;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), 0);
    s.kind = MOR_SENSOR_ENCODER, s.resolution = 0.3;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), 1);
    step(&r, 3);
    const double* x = mor_world_sensor_value(r.w, 0, NULL);
    double g = 1.5 * 9.81; /* the link is pitched by 0.5 about y: upwards is (-sin, 0, cos) in its axes */
    assert_near(x[0], -g * sin(0.5), 1e-9);
    assert_near(x[2], g * cos(0.5), 1e-9);
    assert_near(x[4], -0.3 * g * cos(0.5), 1e-9);
    assert_near(mor_world_sensor_value(r.w, 1, NULL)[0], 0.6, 1e-12);
    end(&r);
}

static void noise_comes_from_the_seed_and_has_the_spread_asked_for(void** state)
{
    (void)state;
    enum { SAMPLES = 4000 };
    static double first[SAMPLES];
    for (int run = 0; run < 2; run++) {
        rig r = make(1, 0.5, 1, 0, 0.001);
        put(&r, (double[]){ 0.25 });
        mor_sensor_def s = mor_sensor_def_default();
        s.kind = MOR_SENSOR_ENCODER, s.joint = 0, s.noise = 0.1, s.bias = 0.05, s.seed = 42;
        assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), 0);
        double sum = 0, square = 0;
        for (int i = 0; i < SAMPLES; i++) {
            step(&r, 1);
            double x = mor_world_sensor_value(r.w, 0, NULL)[0];
            if (run == 0) first[i] = x;
            assert_true(x == first[i]);
            sum += x, square += x * x;
        }
        double mean = sum / SAMPLES, spread = sqrt(square / SAMPLES - mean * mean);
        assert_near(spread, 0.1, 0.005);
        assert_true(fabs(mean - 0.25) < 0.2 && fabs(mean - 0.25) > 1e-3); /* the bias: not zero, of its size */
        end(&r);
    }
}

/* ---------------------------------------------------------------------------- bus and the rest */

static int heard;
static void listen(void* user, double time, const mor_bus_channel* channel, const double* values)
{
    heard++;
    *(double*)user = values[0];
    assert_string_equal(channel->name, "rig.s");
    assert_true(time > 0.0);
    assert_true(*channel->unit && *channel->when && *channel->frame);
}

static void the_bus_tells_by_name_and_by_callback(void** state)
{
    (void)state;
    rig r = make(2, 0.01, 1.5, 0.3, 0.002);
    put(&r, (double[]){ 0.5, 0.2 });
    int s = mor_bus_find(r.w, "rig.s");
    assert_true(s >= 0);
    assert_int_equal(mor_bus_find(r.w, "rig.nothing"), -1);
    double last = 0.0;
    heard = 0;
    assert_int_equal(mor_bus_subscribe(r.w, s, listen, &last, &r.error), MOR_OK);
    assert_int_equal(mor_bus_subscribe(r.w, 999, listen, &last, &r.error), MOR_BAD_INPUT);
    double nu0[2], nu1[2], nudot[2], M[4], h[2];
    step(&r, 10);
    mor_bus_read(r.w, mor_bus_find(r.w, "rig.nu"), nu0);
    mor_bus_read(r.w, mor_bus_find(r.w, "rig.M"), M);
    mor_bus_read(r.w, mor_bus_find(r.w, "rig.h"), h);
    step(&r, 1);
    assert_int_equal(mor_bus_subscribe(r.w, s, NULL, &last, &r.error), MOR_BAD_INPUT);
    mor_bus_read(r.w, mor_bus_find(r.w, "rig.nu"), nu1);
    mor_bus_read(r.w, mor_bus_find(r.w, "rig.nudot"), nudot);
    assert_int_equal(heard, 11);
    assert_true(last == angle(&r));
    for (int i = 0; i < 2; i++) {
        assert_near(nudot[i], (nu1[i] - nu0[i]) / 0.002, 1e-9);
        /* M and h of the step's start, no torques; nudot is the mean over the step */
        assert_near(M[2 * i] * nudot[0] + M[2 * i + 1] * nudot[1] + h[i], 0.0, 5e-3);
    }
    assert_true(mor_bus_match("*.s", "rig.s") && mor_bus_match("rig.*", "rig.s") && mor_bus_match("*", "") &&
                !mor_bus_match("rig.t*", "rig.s") && !mor_bus_match("a*b*c", "axbx"));
    end(&r);
}

static void snapshots_carry_the_state_of_controllers_and_sensors(void** state)
{
    (void)state;
    const double f = 20.0;
    rig r = make(1, 0.01, 1.5, 0.3, 0.002);
    put(&r, NULL);
    motors(&r, (mor_motors){ .bandwidth = &f, .torque_limit = (double[]){ 6 } });
    mor_controller_def d = plain();
    d.target = (double[]){ 0.3 }, d.kp = (double[]){ 50 }, d.kd = (double[]){ 2 }, d.ki = (double[]){ 30 };
    controller(&r, "pid", d);
    mor_sensor_def s = mor_sensor_def_default();
    s.kind = MOR_SENSOR_ENCODER, s.joint = 0, s.noise = 0.1;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), 0);
    step(&r, 77);
    size_t size = mor_world_save(r.w, NULL, 0);
    void* bytes = malloc(size);
    assert_int_equal(mor_world_save(r.w, bytes, size), size);
    step(&r, 200);
    uint64_t hash = mor_world_hash(r.w);
    double reading = mor_world_sensor_value(r.w, 0, NULL)[0], tau = torque(&r);
    assert_int_equal(mor_world_restore(r.w, bytes, size, &r.error), MOR_OK);
    step(&r, 200);
    assert_true(mor_world_hash(r.w) == hash);
    assert_true(mor_world_sensor_value(r.w, 0, NULL)[0] == reading && torque(&r) == tau);
    free(bytes);
    end(&r);
}

static int allocations;
static void* counted(void* user, void* block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    allocations++;
    return realloc(block, size);
}

static void a_warm_step_with_controllers_and_sensors_allocates_nothing(void** state)
{
    (void)state;
    rig r = make(2, 0.01, 1.5, 0.3, 0.002);
    mor_world_destroy(r.w);
    mor_world_def def = mor_world_def_default();
    def.step = 0.002;
    def.allocator = (mor_allocator){ counted, NULL };
    r.w = mor_world_create(&def, &r.error);
    put(&r, NULL);
    mor_controller_def d = plain();
    d.kp = (double[]){ 50, 50 }, d.kd = (double[]){ 2, 2 }, d.gravity_compensation = true;
    controller(&r, "pid", d);
    mor_sensor_def s = mor_sensor_def_default();
    s.kind = MOR_SENSOR_IMU, s.frame = 1, s.noise = 0.1;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), 0);
    step(&r, 20);
    int before = allocations;
    step(&r, 100);
    assert_int_equal(allocations, before);
    end(&r);
}

static void bad_motors_and_sensors_are_refused_with_a_sentence(void** state)
{
    (void)state;
    rig r = make(1, 0.5, 1, 0, 0.001);
    put(&r, NULL);
    mor_motors m = { .torque_limit = (double[]){ -1 } };
    assert_int_equal(mor_world_set_motors(r.w, 0, &m, &r.error), MOR_BAD_INPUT);
    assert_non_null(strstr(r.error.text, "torque_limit of joint 'joint1' is -1"));
    m = (mor_motors){ .ratio = (double[]){ 0 } };
    assert_int_equal(mor_world_set_motors(r.w, 0, &m, &r.error), MOR_BAD_INPUT);
    mor_sensor_def s = mor_sensor_def_default();
    s.kind = MOR_SENSOR_ENCODER, s.joint = 5;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), -1);
    s.joint = 0, s.noise = NAN;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), -1);
    mor_controller_def d = plain();
    d.type = mor_library_controller(NULL, "pid"), d.kp = (double[]){ NAN };
    assert_int_equal(mor_world_add_controller(r.w, &d, &r.error), -1);
    d.kp = NULL, d.robot = 3;
    assert_int_equal(mor_world_add_controller(r.w, &d, &r.error), -1);
    assert_int_equal(mor_world_set_control_step(r.w, -1, &r.error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_control_step(r.w, INFINITY, &r.error), MOR_BAD_INPUT);
    for (int robot = -1; robot <= 1; robot += 2) { /* there is one, number 0 */
        m = (mor_motors){ 0 };
        assert_int_equal(mor_world_set_motors(r.w, robot, &m, &r.error), MOR_BAD_INPUT);
        assert_non_null(strstr(r.error.text, "there is no robot number"));
        assert_int_equal(mor_world_watch_robot(r.w, robot, &r.error), MOR_BAD_INPUT);
        assert_int_equal(mor_world_add_foot(r.w, robot, 0, &r.error), -1);
        assert_int_equal(mor_world_add_foot(r.w, 0, robot < 0 ? -1 : 99, &r.error), -1);
        assert_non_null(strstr(r.error.text, "a foot needs a frame of a robot"));
        s = mor_sensor_def_default();
        s.robot = robot;
        assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), -1);
        assert_non_null(strstr(r.error.text, "there is no robot number"));
        s.robot = 0, s.frame = robot < 0 ? -1 : 99;
        assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), -1);
        assert_non_null(strstr(r.error.text, "needs a link"));
        s.kind = MOR_SENSOR_TORQUE, s.joint = s.frame;
        assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), -1);
        assert_int_equal(mor_world_set_target(r.w, robot, (double[]){ 0 }, &r.error), MOR_BAD_INPUT);
        assert_non_null(strstr(r.error.text, "there is no controller number"));
    }
    s = mor_sensor_def_default();
    s.kind = (mor_sensor_kind)99;
    assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), -1);
    assert_non_null(strstr(r.error.text, "there is no sensor kind 99"));
    for (int k = 0; k < 5; k++) {
        s = mor_sensor_def_default();
        *(double*[]){ &s.noise, &s.bias, &s.resolution, &s.threshold, &s.noise }[k] = k < 4 ? -1.0 : INFINITY;
        assert_int_equal(mor_world_add_sensor(r.w, &s, &r.error), -1);
    }
    m = (mor_motors){ .coupling = (double[]){ 0 } };
    assert_int_equal(mor_world_set_motors(r.w, 0, &m, &r.error), MOR_BAD_INPUT);
    assert_non_null(strstr(r.error.text, "the coupling matrix of the motors is singular"));
    d = plain();
    assert_int_equal(mor_world_add_controller(r.w, &d, &r.error), -1);
    assert_non_null(strstr(r.error.text, "a controller needs a type"));
    d.type = mor_library_controller(NULL, "pid");
    assert_int_equal(mor_world_add_controller(r.w, &d, &r.error), 0);
    assert_int_equal(mor_world_set_target(r.w, 0, (double[]){ NAN }, &r.error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_target(r.w, 0, (double[]){ 1 }, &r.error), MOR_OK);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_torque_limited_joint_saturates_exactly),
        cmocka_unit_test(currents_limit_the_torque_through_the_gear),
        cmocka_unit_test(currents_of_coupled_motors_are_limited_at_the_motors),
        cmocka_unit_test(reflected_inertia_shifts_the_resonance_as_computed),
        cmocka_unit_test(couplings_reflect_rotors_as_the_icub_torso_and_shoulder_do),
        cmocka_unit_test(coupled_motors_accelerate_as_their_mass_matrix_says),
        cmocka_unit_test(actuator_dynamics_are_exact_at_any_step),
        cmocka_unit_test(what_was_added_can_be_asked_for),
        cmocka_unit_test(the_integral_of_a_law_stays_within_its_limit),
        cmocka_unit_test(friction_of_motors_holds_brakes_and_ends_in_a_terminal_speed),
        cmocka_unit_test(no_motor_drives_a_joint_beyond_its_speed_limit),
        cmocka_unit_test(stiff_gains_are_stable_at_a_step_of_16_ms),
        cmocka_unit_test(without_gravity_compensation_a_pd_law_sags_by_the_torque_over_kp),
        cmocka_unit_test(a_velocity_law_reaches_its_speed),
        cmocka_unit_test(controllers_run_at_1_khz_in_steps_of_16_ms),
        cmocka_unit_test(a_long_control_step_with_implicit_gains_stays_stable),
        cmocka_unit_test(motion_tables_pass_their_rows_without_overshoot),
        cmocka_unit_test(the_pendulum_follows_torques_of_a_table),
        cmocka_unit_test(an_imu_at_rest_reads_g_upwards_in_any_orientation),
        cmocka_unit_test(a_turning_imu_feels_the_centripetal_acceleration),
        cmocka_unit_test(a_joint_carries_the_weight_behind_it),
        cmocka_unit_test(noise_comes_from_the_seed_and_has_the_spread_asked_for),
        cmocka_unit_test(the_bus_tells_by_name_and_by_callback),
        cmocka_unit_test(snapshots_carry_the_state_of_controllers_and_sensors),
        cmocka_unit_test(a_warm_step_with_controllers_and_sensors_allocates_nothing),
        cmocka_unit_test(bad_motors_and_sensors_are_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
