/* Control laws in the corners: parts of a robot, integrals, gravity, sampled torques, balance without a ground, and
 * what the bus says of feet. Expected values are torques worked out by hand and the functions of robot.h. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "moreau/control.h"
#include "moreau/robot.h"
#include "moreau/state.h"

/* Two arms of 1.5 kg at 0.3 m, side by side on a fixed base, about y. Angle 0: horizontal. */
static const double arm_mass = 1.5, arm_length = 0.3, g = 9.81;

static mor_robot_model* arms(void)
{
    mor_link_def links[3];
    mor_frame_def frames[3];
    mor_error error = { 0 };
    for (int i = 0; i < 3; i++) {
        links[i] = mor_link_def_default();
        snprintf(links[i].name, sizeof links[i].name, "link%d", i);
        snprintf(links[i].joint_name, sizeof links[i].joint_name, "joint%d", i);
        links[i].parent = i ? 0 : -1;
        links[i].joint = i ? i - 1 : 0;
        links[i].axis = mor_v3(0, 1, 0);
        links[i].pose = mor_pose_identity();
        links[i].mass = (mor_mass){ .mass = arm_mass,
                                    .com = { arm_length, 0, 0 },
                                    .inertia = { { { 0.1, 0, 0 }, { 0, 0.1, 0 }, { 0, 0, 0.1 } } } };
        snprintf(frames[i].name, sizeof frames[i].name, "frame%d", i);
        frames[i].link = i;
        frames[i].pose = mor_pose_identity();
    }
    mor_robot_model* m = mor_robot_create(links, 3, frames, 3, false, &error);
    if (!m) fail_msg("%s", error.text);
    return m;
}

static mor_world* world_of(mor_robot_model* m, int robots, int threads)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.step = 0.01, def.threads = threads;
    mor_world* w = mor_world_create(&def, &error);
    for (int i = 0; i < robots; i++) {
        mor_robot_def d = mor_robot_def_default();
        snprintf(d.name, sizeof d.name, "rig%d", i);
        d.model = m, d.s = (double[]){ 0.2 + 0.1 * i, -0.4 };
        assert_int_equal(mor_world_add_robot(w, &d, &error), i);
        assert_int_equal(mor_world_watch_robot(w, i, &error), MOR_OK);
    }
    return w;
}

static int add(mor_world* w, const char* type, mor_controller_def d)
{
    mor_error error = { 0 };
    d.type = mor_library_controller(NULL, type);
    int number = mor_world_add_controller(w, &d, &error);
    if (number < 0) fail_msg("%s", error.text);
    return number;
}

static void end(mor_world* w, mor_robot_model* m)
{
    mor_world_destroy(w);
    mor_robot_destroy(m);
}

/* What holds the first arm and leaves the second alone: it stays by m g l cos(s), and the second has no torque. */
static void laws_act_on_the_joints_they_are_given(void** state)
{
    (void)state;
    static const char* const types[] = { "velocity", "torque", "pid" };
    for (int k = 0; k < 6; k++) {
        mor_robot_model* m = arms();
        mor_world* w = world_of(m, 1, 1);
        mor_controller_def d = mor_controller_def_default();
        double s[2], tau[2], nu[2];
        d.joints = (bool[]){ true, false };
        d.gravity_compensation = true, d.sampled = k >= 3;
        d.target = (double[]){ k % 3 == 2 ? 0.2 : 0.0, 0.0 };
        d.kp = (double[]){ 30, 30 }, d.ki = (double[]){ 5, 5 }, d.kd = (double[]){ 4, 4 };
        add(w, types[k % 3], d);
        test_steps(w, 20);
        mor_world_robot_state(w, 0, NULL, s, nu);
        mor_world_motor_torques(w, 0, tau);
        test_near(s[0], 0.2, 1e-9, types[k % 3]);
        test_near(fabs(tau[0]), arm_mass * g * arm_length * cos(0.2), 1e-7, "torque of the joint that is held");
        assert_true(tau[1] == 0.0);
        assert_true(fabs(nu[1]) > 0.5); /* it falls */
        end(w, m);
    }
}

/* Sampled torques come from the state at the start, where nu = 0: kd (target - nu) = kd target. */
static void a_sampled_velocity_law_uses_the_state_at_its_instant(void** state)
{
    (void)state;
    mor_robot_model* m = arms();
    mor_world* w = world_of(m, 1, 1);
    mor_controller_def d = mor_controller_def_default();
    double tau[2];
    d.sampled = true;
    d.target = (double[]){ 0.3, -0.2 }, d.kd = (double[]){ 2, 3 };
    add(w, "velocity", d);
    test_steps(w, 1);
    mor_world_motor_torques(w, 0, tau);
    test_near(tau[0], 2 * 0.3, 1e-12, "first joint");
    test_near(tau[1], 3 * -0.2, 1e-12, "second joint");
    end(w, m);
}

/* Without a floating base, or without a ground, only the posture is held: kp (target - s) - kd nu. */
static void balance_without_a_ground_holds_the_posture(void** state)
{
    (void)state;
    static const char* const robots[][2] = { { "arm2", "fixed" }, { "humanoid", "floating" } };
    for (int k = 0; k < 2; k++) {
        char text[600];
        mor_scene* scene;
        double tau[64];
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.01, end: 1 }\nrobots:\n  - { name: arm, urdf: robots/%s.urdf, base: %s, "
                 "position: [0, 0, 5] }\ncontrollers:\n  - { robot: arm, type: balance, targets: 0.3, options: { "
                 "posture_kp: 7, posture_kd: 2 } }\n",
                 robots[k][0], robots[k][1]);
        mor_world* w = test_scene_text(text, &scene);
        assert_int_equal(mor_world_watch_robot(w, 0, NULL), MOR_OK);
        test_steps(w, 1);
        mor_world_motor_torques(w, 0, tau);
        test_near(tau[0], 7 * 0.3, 1e-12, "shoulder");
        test_near(tau[1], 7 * 0.3, 1e-12, "elbow");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* Six robots by one thread and by three: the same bits. */
static void robots_that_are_held_by_threads_have_the_same_torques(void** state)
{
    (void)state;
    double s[2][6][2];
    for (int k = 0; k < 2; k++) {
        mor_robot_model* m = arms();
        mor_world* w = world_of(m, 6, k ? 3 : 1);
        for (int i = 0; i < 6; i++) {
            mor_controller_def d = mor_controller_def_default();
            d.robot = i, d.gravity_compensation = i != 2, d.until = i == 3 ? 0.05 : INFINITY;
            d.kp = (double[]){ 3, 2 }, d.kd = (double[]){ 1, 1 };
            add(w, "pid", d);
        }
        test_steps(w, 20);
        for (int i = 0; i < 6; i++) mor_world_robot_state(w, i, NULL, s[k][i], NULL);
        end(w, m);
    }
    assert_memory_equal(s[0], s[1], sizeof s[0]);
}

/* Nose up and down: the yaw takes it all, the roll is 0. */
static void an_imu_that_looks_straight_up_has_no_roll(void** state)
{
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        mor_robot_model* m = arms();
        mor_error error = { 0 };
        mor_world_def def = mor_world_def_default();
        def.gravity = mor_v3(0, 0, 0);
        mor_world* w = mor_world_create(&def, &error);
        mor_robot_def d = mor_robot_def_default();
        snprintf(d.name, sizeof d.name, "rig");
        d.model = m, d.s = (double[]){ sign * 1.5707963267948966, 0 };
        assert_int_equal(mor_world_add_robot(w, &d, &error), 0);
        mor_sensor_def sensor = mor_sensor_def_default();
        sensor.frame = 1;
        int number = mor_world_add_sensor(w, &sensor, &error), count;
        assert_true(number >= 0);
        test_steps(w, 1);
        const double* x = mor_world_sensor_value(w, number, &count);
        assert_int_equal(count, 13);
        test_near(x[4], 0.0, 1e-12, "roll");
        test_near(x[5], sign * 1.5707963267948966, 1e-6, "pitch");
        test_near(x[6], 0.0, 1e-12, "yaw");
        end(w, m);
    }
}

static void ignore(void* user, double time, const mor_bus_channel* channel, const double* values)
{
    (void)user, (void)time, (void)channel, (void)values;
}

/* Every channel of a humanoid on its feet, beside the functions of robot.h; then more listeners than there is room. */
static void the_bus_knows_feet(void** state)
{
    (void)state;
    enum { MOST = 64 };
    mor_scene* scene;
    mor_error error = { 0 };
    mor_world* w = test_scene_file("control/humanoid_stand", &scene);
    test_steps(w, 3);
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    int N = mor_robot_dof(m), frame = mor_robot_find_frame(m, "l_sole");
    double J[6 * MOST], expected[6 * MOST], pose[7], contact, momentum[6], base[7], bias[6], cop[3], nu[MOST], s[MOST];
    assert_true(N <= MOST && frame >= 0);
    mor_robot_work* work = mor_robot_work_create(m);
    mor_pose p;
    mor_world_robot_state(w, 0, &p, s, nu);
    mor_robot_update(m, work, &p, s, nu);
    mor_bus_read(w, mor_bus_find(w, "human.l_sole.J"), J);
    mor_robot_frame_jacobian(m, work, frame, expected);
    assert_memory_equal(J, expected, 6 * (size_t)N * sizeof(double));
    mor_bus_read(w, mor_bus_find(w, "human.l_sole.Jdot_nu"), bias);
    mor_robot_frame_bias(m, work, frame, expected);
    assert_memory_equal(bias, expected, sizeof bias);
    mor_bus_read(w, mor_bus_find(w, "human.l_sole.pose"), pose);
    mor_pose sole = mor_robot_frame_pose(m, work, frame);
    assert_true(pose[0] == sole.position.x && pose[2] == sole.position.z && pose[3] == sole.rotation.w);
    mor_bus_read(w, mor_bus_find(w, "human.l_sole.contact"), &contact);
    assert_true(contact == 1.0);
    mor_bus_read(w, mor_bus_find(w, "human.l_sole.cop"), cop);
    assert_true(fabs(cop[0] - sole.position.x) < 0.2 && fabs(cop[1] - sole.position.y) < 0.1); /* in the sole */
    mor_bus_read(w, mor_bus_find(w, "human.momentum"), momentum);
    for (int i = 0; i < 6; i++) assert_true(fabs(momentum[i]) < 1e-3); /* it stands */
    mor_bus_read(w, mor_bus_find(w, "human.base_pose"), base);
    assert_true(base[2] == p.position.z && base[3] == p.rotation.w);
    mor_bus_channel channel;
    int channels = mor_bus_count(w), taken = 0;
    assert_false(mor_bus_channel_at(w, channels, &channel));
    assert_false(mor_bus_channel_at(w, -1, &channel));
    while (taken < 10000 && mor_bus_subscribe(w, taken % channels, ignore, NULL, &error) == MOR_OK) taken++;
    assert_true(taken < 10000 && strstr(error.text, "listeners"));
    test_steps(w, 1);
    mor_robot_work_destroy(work);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void what_cannot_be_is_told(void** state)
{
    (void)state;
    mor_robot_model* m = arms();
    mor_world *w = world_of(m, 1, 1), *none = test_world(0.01);
    mor_error error = { 0 };
    mor_bus_channel channel;
    const mor_motion_table table = { .rows = 1,
                                     .joints = 3,
                                     .times = (double[]){ 0 },
                                     .values = (double[]){ 0, 0, 0 },
                                     .has = (bool[]){ true, true, true } };
    mor_controller_def d = mor_controller_def_default();
    const mor_controller empty = { .name = "empty" };
    d.type = mor_library_controller(NULL, "pid"), d.table = &table;
    assert_int_equal(mor_world_add_controller(w, &d, &error), -1);
    assert_non_null(strstr(error.text, "has 3 joints, its robot has 2"));
    d.table = NULL, d.type = &empty;
    assert_int_equal(mor_world_add_controller(w, &d, &error), -1);
    assert_non_null(strstr(error.text, "a controller needs a type"));
    d.type = mor_library_controller(NULL, "pid"), d.robot = -1;
    assert_int_equal(mor_world_add_controller(w, &d, &error), -1);
    d.robot = 0;
    assert_int_equal(mor_world_add_controller(w, &d, &error), 0);
    assert_string_equal(mor_world_controller(w, 0)->name, "pid_0");
    assert_int_equal(mor_bus_count(none), 0);
    assert_false(mor_bus_channel_at(none, 0, &channel));
    assert_int_equal(mor_world_controller_count(none), 0);
    assert_int_equal(mor_world_sensor_count(none), 0);
    mor_world_destroy(none);
    end(w, m);
}

/* One row; held between rows; once around. */
static void tables_hold_their_rows(void** state)
{
    (void)state;
    const double times[] = { 0, 1, 3 }, values[] = { 2, 5, -1 };
    mor_motion_table t = {
        .rows = 3, .joints = 1, .times = times, .values = values, .has = (bool[]){ true }, .interpolation = 2
    };
    double value, rate;
    const double at[] = { -1, 0.5, 1.5, 2.9, 9 }, held[] = { 2, 2, 5, 5, -1 };
    for (int i = 0; i < 5; i++) {
        mor_motion_at(&t, 0, at[i], &value, &rate);
        assert_true(value == held[i] && rate == 0.0);
    }
    t.rows = 1;
    mor_motion_at(&t, 0, 7.0, &value, &rate);
    assert_true(value == 2.0 && rate == 0.0);
    t.rows = 3, t.interpolation = 1, t.period = 4.0;
    mor_motion_at(&t, 0, 4.5, &value, &rate);
    test_near(value, 3.5, 1e-12, "half way between the first two rows, one turn later");
    test_near(rate, 3.0, 1e-12, "its slope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws_act_on_the_joints_they_are_given),
        cmocka_unit_test(a_sampled_velocity_law_uses_the_state_at_its_instant),
        cmocka_unit_test(balance_without_a_ground_holds_the_posture),
        cmocka_unit_test(robots_that_are_held_by_threads_have_the_same_torques),
        cmocka_unit_test(an_imu_that_looks_straight_up_has_no_roll),
        cmocka_unit_test(the_bus_knows_feet),
        cmocka_unit_test(what_cannot_be_is_told),
        cmocka_unit_test(tables_hold_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
