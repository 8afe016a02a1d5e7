/* The state of a world as flat arrays (moreau/state.h): order, round trips, refusals. */
#include "common/random_robot.h"
#include "common/worlds.h"
#include "moreau/state.h"

#include "common/near.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

/* A floor, a box whose centre of mass is away from its frame, a sphere. */
static mor_world* boxes(mor_body_id ids[3])
{
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    ids[0] = test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    mor_geometry* box = test_box(1, 2, 3);
    mor_body_def def = mor_body_def_default();
    def.shapes = &(mor_body_shape){ box, { { 0.5, 0, 0 }, no_turn }, -1 };
    def.shape_count = 1;
    def.mass = 2.0;
    def.pose = (mor_pose){ mor_v3(1, 2, 5), mor_quat_axis_angle(mor_v3(0, 0, 1), 0.5 * 3.14159265358979323846) };
    def.velocity = mor_v3(0.1, 0.2, 0.3);
    def.angular_velocity = mor_v3(0, 0, 1);
    ids[1] = mor_world_add_body(w, &def, &error);
    mor_geometry_release(box);
    ids[2] = test_body(w, test_sphere(0.5), 1.0, mor_v3(-3, 0, 0.5), no_turn);
    return w;
}

static void rows_are_in_body_order_with_the_quaternion_w_first(void** state)
{
    (void)state;
    mor_body_id ids[3];
    mor_error error = { 0 };
    mor_world* w = boxes(ids);
    double poses[21], velocities[18];
    assert_int_equal(mor_world_get_poses(w, poses, 21, &error), MOR_OK);
    assert_int_equal(mor_world_get_velocities(w, velocities, 18, &error), MOR_OK);
    const double box[7] = { 1, 2, 5, sqrt(0.5), 0, 0, sqrt(0.5) }; /* as defined: a quarter turn about z */
    for (int i = 0; i < 7; i++) assert_near(poses[7 + i], box[i], 1e-15);
    const double speed[6] = { 0.1, 0.2, 0.3, 0, 0, 1 };
    for (int i = 0; i < 6; i++) assert_near(velocities[6 + i], speed[i], 0.0);
    assert_near(poses[14], -3.0, 0.0);
    mor_world_destroy(w);
}

static void q_begins_at_the_centre_of_mass(void** state)
{
    (void)state;
    mor_body_id ids[3];
    mor_error error = { 0 };
    mor_world* w = boxes(ids);
    double q[14], nu[12];
    assert_int_equal(mor_world_q_count(w), 14);
    assert_int_equal(mor_world_nu_count(w), 12);
    assert_int_equal(mor_world_get_q(w, q, 14, &error), MOR_OK);
    assert_int_equal(mor_world_get_nu(w, nu, 12, &error), MOR_OK);
    /* the centre is 0.5 along the box's x, which points along the world's y */
    assert_near(q[0], 1.0, 1e-15);
    assert_near(q[1], 2.5, 1e-15);
    assert_near(q[2], 5.0, 1e-15);
    assert_near(nu[5], 1.0, 0.0);
    mor_span s = mor_body_span(w, ids[2]);
    assert_int_equal(s.q, 7);
    assert_int_equal(s.nu, 6);
    assert_near(q[s.q], -3.0, 0.0);
    assert_int_equal(mor_body_span(w, ids[0]).q_count, 0);
    mor_world_destroy(w);
}

static void what_is_written_is_read_back(void** state)
{
    (void)state;
    mor_body_id ids[3];
    mor_error error = { 0 };
    mor_world* w = boxes(ids);
    double poses[21], velocities[18], q[14], nu[12], again[21];
    mor_world_get_poses(w, poses, 21, &error);
    mor_world_get_velocities(w, velocities, 18, &error);
    const double pose[7] = { 3, -1, 4, 2, 0, 2, 0 }, unit[7] = { 3, -1, 4, sqrt(0.5), 0, sqrt(0.5), 0 };
    memcpy(poses + 7, pose, sizeof pose);
    for (int i = 6; i < 18; i++) velocities[i] = 0.1 * i;
    assert_int_equal(mor_world_set_poses(w, poses, 21, &error), MOR_OK);
    assert_int_equal(mor_world_set_velocities(w, velocities, 18, &error), MOR_OK);
    mor_world_get_poses(w, again, 21, &error);
    for (int i = 0; i < 7; i++) assert_near(again[7 + i], unit[i], 1e-15);
    mor_world_get_velocities(w, again, 18, &error);
    for (int i = 0; i < 18; i++) assert_near(again[i], velocities[i], 0.0);

    mor_world_get_q(w, q, 14, &error);
    for (int i = 0; i < 3; i++) q[i] += 0.25;
    for (int i = 0; i < 12; i++) nu[i] = 1.0 / (i + 1);
    assert_int_equal(mor_world_set_q(w, q, 14, &error), MOR_OK);
    assert_int_equal(mor_world_set_nu(w, nu, 12, &error), MOR_OK);
    mor_world_get_q(w, again, 14, &error);
    for (int i = 0; i < 14; i++) assert_near(again[i], q[i], 1e-15);
    mor_world_get_nu(w, again, 12, &error);
    for (int i = 0; i < 12; i++) assert_near(again[i], nu[i], 0.0);
    mor_world_get_poses(w, again, 21, &error); /* the frame moved with the centre of mass */
    for (int i = 0; i < 3; i++) assert_near(again[7 + i], pose[i] + 0.25, 1e-14);
    mor_world_destroy(w);
}

/* A free body without gravity keeps the angular momentum that follows from what was written: I w about a main axis. */
static void a_written_velocity_is_the_one_that_moves(void** state)
{
    (void)state;
    mor_body_id ids[3];
    mor_error error = { 0 };
    mor_world* w = boxes(ids);
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    double nu[12] = { 1, 0, 0, 0, 0, 2 }, q[14], after[14];
    mor_world_get_q(w, q, 14, &error);
    q[2] = 20.0; /* away from the floor */
    mor_world_set_q(w, q, 14, &error);
    mor_world_set_nu(w, nu, 12, &error);
    test_steps(w, 100);
    mor_world_get_q(w, after, 14, &error);
    assert_near(after[0], q[0] + 1.0, 1e-12);
    /* it turned by 2 rad about z from a quarter turn */
    double angle = 2.0 * atan2(after[6], after[3]);
    assert_near(cos(angle), cos(0.5 * 3.14159265358979323846 + 2.0), 1e-12);
    assert_near(sin(angle), sin(0.5 * 3.14159265358979323846 + 2.0), 1e-12);
    mor_world_destroy(w);
}

static void wrong_sizes_are_refused_and_change_nothing(void** state)
{
    (void)state;
    mor_body_id ids[3];
    mor_world* w = boxes(ids);
    uint64_t before = mor_world_hash(w);
    double x[64];
    for (int i = 0; i < 64; i++) x[i] = 7.0;
    const int bad[] = { 0, 1, 20, 22, -21, 64 };
    for (int i = 0; i < 6; i++) {
        mor_error error = { 0 };
        assert_int_equal(mor_world_get_poses(w, x, bad[i], &error), MOR_BAD_INPUT);
        assert_non_null(strstr(error.text, "21"));
        assert_int_equal(mor_world_set_poses(w, x, bad[i], &error), MOR_BAD_INPUT);
        assert_int_equal(mor_world_get_velocities(w, x, bad[i], &error), MOR_BAD_INPUT);
        assert_int_equal(mor_world_set_velocities(w, x, bad[i], &error), MOR_BAD_INPUT);
        assert_int_equal(mor_world_get_q(w, x, bad[i], &error), MOR_BAD_INPUT);
        assert_int_equal(mor_world_set_q(w, x, bad[i], &error), MOR_BAD_INPUT);
        assert_int_equal(mor_world_get_nu(w, x, bad[i], &error), MOR_BAD_INPUT);
        assert_int_equal(mor_world_set_nu(w, x, bad[i], &error), MOR_BAD_INPUT);
        if (bad[i]) assert_int_equal(mor_world_get_impulses(w, x, bad[i], NULL), MOR_BAD_INPUT);
        if (bad[i]) assert_int_equal(mor_world_set_impulses(w, x, bad[i], NULL), MOR_BAD_INPUT);
    }
    for (int i = 0; i < 64; i++) assert_true(x[i] == 7.0);
    assert_true(mor_world_hash(w) == before);
    mor_world_destroy(w);
}

static void numbers_that_are_no_state_are_refused_with_the_body_s_name(void** state)
{
    (void)state;
    mor_body_id ids[3];
    mor_error error = { 0 };
    mor_world* w = boxes(ids);
    uint64_t before = mor_world_hash(w);
    double poses[21], q[14], nu[12] = { 0 }, velocities[18] = { 0 };
    mor_world_get_poses(w, poses, 21, &error);
    poses[14] = NAN;
    assert_int_equal(mor_world_set_poses(w, poses, 21, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, mor_body_name(w, ids[2])));
    poses[14] = 0.0;
    for (int i = 10; i < 14; i++) poses[i] = 0.0;
    assert_int_equal(mor_world_set_poses(w, poses, 21, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "quaternion"));
    assert_non_null(strstr(error.text, mor_body_name(w, ids[1])));
    mor_world_get_q(w, q, 14, &error);
    q[13] = INFINITY;
    assert_int_equal(mor_world_set_q(w, q, 14, &error), MOR_BAD_INPUT);
    q[13] = q[10] = 0.0; /* the sphere's quaternion */
    assert_int_equal(mor_world_set_q(w, q, 14, &error), MOR_BAD_INPUT);
    nu[11] = NAN;
    assert_int_equal(mor_world_set_nu(w, nu, 12, &error), MOR_BAD_INPUT);
    velocities[17] = NAN;
    assert_int_equal(mor_world_set_velocities(w, velocities, 18, &error), MOR_BAD_INPUT);
    velocities[17] = 0.0;
    velocities[0] = NAN; /* of the fixed floor: passed over */
    assert_true(mor_world_hash(w) == before);
    assert_int_equal(mor_world_set_velocities(w, velocities, 18, &error), MOR_OK);
    mor_world_destroy(w);
}

static void planar_bodies_have_three_numbers_and_particles_two(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world_2d(0.01);
    mor_body_id disc = test_body(w, mor_geometry_disc(0.5, &error), 1.0, mor_v3(1, 2, 0), no_turn);
    mor_body_id point = test_body(w, mor_geometry_particle(&error), 1.0, mor_v3(3, 4, 0), no_turn);
    assert_int_equal(mor_world_q_count(w), 5);
    assert_int_equal(mor_world_nu_count(w), 5);
    assert_int_equal(mor_body_span(w, disc).q_count, 3);
    assert_int_equal(mor_body_span(w, point).q, 3);
    const double q[5] = { -1, 5, 20.0, 6, 7 }, nu[5] = { 1, 2, 3, 4, 5 }; /* three turns and more */
    double read[14];
    assert_int_equal(mor_world_set_q(w, q, 5, &error), MOR_OK);
    assert_int_equal(mor_world_set_nu(w, nu, 5, &error), MOR_OK);
    mor_world_get_q(w, read, 5, &error);
    for (int i = 0; i < 5; i++) assert_near(read[i], q[i], 0.0);
    mor_world_get_nu(w, read, 5, &error);
    for (int i = 0; i < 5; i++) assert_near(read[i], nu[i], 0.0);
    double poses[14];
    mor_world_get_poses(w, poses, 14, &error);
    assert_near(poses[3], cos(10.0), 1e-15); /* half of the angle */
    assert_near(poses[6], sin(10.0), 1e-15);
    assert_near(poses[2], 0.0, 0.0);
    poses[0] = 8.0;
    assert_int_equal(mor_world_set_poses(w, poses, 14, &error), MOR_OK);
    poses[2] = 0.1;
    assert_int_equal(mor_world_set_poses(w, poses, 14, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "2-D"));
    double velocities[12] = { 0, 0, 0, 0.5, 0, 0 };
    assert_int_equal(mor_world_set_velocities(w, velocities, 12, &error), MOR_BAD_INPUT);
    assert_near(test_state(w, disc).pose.position.x, 8.0, 1e-15);
    mor_world_destroy(w);
}

static void robots_follow_the_bodies(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_rng rng = { 5 };
    mor_world* w = test_world(0.001);
    mor_world_set_gravity(w, mor_v3(0, 0, 0));
    mor_robot_def def = mor_robot_def_default();
    snprintf(def.name, sizeof def.name, "floating");
    def.model = random_robot(&rng, 4, true);
    int first = mor_world_add_robot(w, &def, &error);
    mor_robot_destroy(def.model);
    snprintf(def.name, sizeof def.name, "standing");
    def.model = random_robot(&rng, 3, false);
    int second = mor_world_add_robot(w, &def, &error);
    mor_robot_destroy(def.model);
    mor_body_id ball = test_body(w, test_sphere(0.1), 1.0, mor_v3(50, 0, 0), no_turn);
    if (first < 0 || second < 0) fail_msg("%s", error.text);
    /* ball 7; 7 + 3 joints; 2 joints */
    assert_int_equal(mor_world_q_count(w), 7 + 10 + 2);
    assert_int_equal(mor_world_nu_count(w), 6 + 9 + 2);
    assert_int_equal(mor_body_span(w, ball).q, 0);
    assert_int_equal(mor_world_robot_span(w, 0).q, 7);
    assert_int_equal(mor_world_robot_span(w, 1).q, 17);
    assert_int_equal(mor_world_robot_span(w, 1).nu, 15);
    assert_int_equal(mor_body_span(w, mor_world_robot_link(w, second, 1)).q, 17);
    double q[19], nu[17], read[19], s[3], v[9];
    for (int i = 0; i < 19; i++) q[i] = 0.1 * i - 0.7;
    const double base[4] = { 0.5, 0.5, -0.5, 0.5 };
    memcpy(q + 3, base, sizeof base);
    memcpy(q + 10, base, sizeof base);
    for (int i = 0; i < 17; i++) nu[i] = 0.05 * i;
    assert_int_equal(mor_world_set_q(w, q, 19, &error), MOR_OK);
    assert_int_equal(mor_world_set_nu(w, nu, 17, &error), MOR_OK);
    mor_world_get_q(w, read, 19, &error);
    for (int i = 0; i < 19; i++) assert_near(read[i], q[i], 1e-15);
    mor_world_get_nu(w, read, 17, &error);
    for (int i = 0; i < 17; i++) assert_near(read[i], nu[i], 0.0);
    mor_pose pose;
    mor_world_robot_state(w, first, &pose, s, v);
    assert_near(pose.position.x, q[7], 0.0);
    assert_near(pose.rotation.y, -0.5, 1e-15);
    assert_near(s[2], q[16], 0.0);
    assert_near(v[8], nu[14], 0.0);
    /* rows of links are read, and passed over when written */
    int n = mor_world_body_count(w);
    double poses[7 * 16];
    assert_true(n <= 16);
    assert_int_equal(mor_world_get_poses(w, poses, 7 * n, &error), MOR_OK);
    for (int i = 0; i < n; i++)
        if (mor_body_index(w, ball) != i) poses[7 * i] += 1.0;
    assert_int_equal(mor_world_set_poses(w, poses, 7 * n, &error), MOR_OK);
    mor_world_get_q(w, read, 19, &error);
    for (int i = 7; i < 19; i++) assert_near(read[i], q[i], 1e-15);
    mor_world_destroy(w);
}

static void removed_bodies_leave_no_row(void** state)
{
    (void)state;
    mor_body_id ids[3];
    mor_error error = { 0 };
    mor_world* w = boxes(ids);
    test_steps(w, 1);
    assert_true(mor_world_contact_count(w) > 0);
    mor_world_remove_body(w, ids[1]);
    assert_int_equal(mor_world_q_count(w), 7);
    assert_int_equal(mor_world_contact_count(w), 0);
    double poses[14], q[7];
    assert_int_equal(mor_world_get_poses(w, poses, 21, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_get_poses(w, poses, 14, &error), MOR_OK);
    assert_near(poses[7], -3.0, 1e-12);
    assert_int_equal(mor_world_get_q(w, q, 7, &error), MOR_OK);
    assert_int_equal(mor_body_span(w, ids[2]).q, 0);
    /* a body that takes the free slot comes last */
    mor_body_id late = test_body(w, test_sphere(0.5), 1.0, mor_v3(9, 0, 3), no_turn);
    assert_int_equal(mor_body_span(w, late).q, 7);
    mor_world_destroy(w);
}

/* A block on a plane tilted by tan(angle) = slope: it sticks below mu = 0.5 and slides above (Coulomb). */
static void contacts_stick_below_the_friction_angle_and_slide_above(void** state)
{
    (void)state;
    const char* formulations[] = { "st", "ncp" };
    for (int f = 0; f < 2; f++)
        for (int slides = 0; slides < 2; slides++) {
            mor_error error = { 0 };
            mor_world* w = test_world(0.01);
            test_method(w, "formulation", formulations[f]);
            test_method(w, "solver", "auto");
            double slope = slides ? 0.8 : 0.3, size = sqrt(1.0 + slope * slope);
            /* tilted gravity instead of a tilted plane, 22.5 degrees off the first corner of the octagon: halfway
             * along an edge, where the polygon is nearer than the circle */
            double across = 3.14159265358979323846 / 8.0, down = 9.81 * slope / size;
            mor_world_set_gravity(w, mor_v3(down * cos(across), down * sin(across), -9.81 / size));
            mor_body_id floor = test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
            mor_body_id box = test_body(w, test_box(1, 1, 0.1), 1.0, mor_v3(0, 0, 0.05), no_turn);
            test_steps(w, 20);
            int m = mor_world_contact_count(w), loaded = 0;
            assert_int_equal(m, 4);
            int32_t bodies[8], states[4];
            double points[12], normals[12], gaps[4], impulses[12], only[12], total[3] = { 0 };
            mor_contact_columns c = { bodies, points, normals, gaps, impulses, states };
            assert_int_equal(mor_world_get_contacts(w, &c, 3, &error), MOR_BAD_INPUT);
            assert_int_equal(mor_world_get_contacts(w, &c, 4, &error), MOR_OK);
            assert_int_equal(mor_world_get_impulses(w, only, 12, &error), MOR_OK);
            assert_memory_equal(only, impulses, sizeof only);
            for (int i = 0; i < 4; i++) {
                assert_int_equal(bodies[2 * i], mor_body_index(w, floor));
                assert_int_equal(bodies[2 * i + 1], mor_body_index(w, box));
                assert_near(normals[3 * i + 2], 1.0, 1e-12);
                assert_near(points[3 * i + 2], 0.0, 1e-6);
                assert_near(gaps[i], 0.0, 1e-6);
                for (int k = 0; k < 3; k++) total[k] += impulses[3 * i + k];
                if (impulses[3 * i + 2] < 1e-9) continue;
                loaded++;
                assert_int_equal(states[i], slides ? MOR_CONTACT_SLIDES : MOR_CONTACT_STICKS);
            }
            assert_true(loaded > 0);
            assert_near(total[2], 0.01 * 9.81 / size, 1e-9); /* carries the weight for one step */
            mor_world_destroy(w);
        }
}

static void written_impulses_are_the_start_of_the_next_step(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world* w = test_world(0.01);
    test_option(w, "solver", "tol", "1e-6");
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    for (int k = 0; k < 4; k++) test_body(w, test_box(1, 1, 1), 1.0, mor_v3(0, 0, 0.5 + k), no_turn);
    test_steps(w, 50);
    int m = mor_world_contact_count(w);
    double good[3 * 64], bad[3 * 64];
    assert_true(m > 0 && m <= 64);
    mor_world_get_impulses(w, good, 3 * m, &error);
    char saved[1 << 16];
    size_t size = mor_world_save(w, saved, sizeof saved);
    assert_true(size > 0);
    int warm = test_steps(w, 1).iterations;
    mor_world_restore(w, saved, size, &error);
    memset(bad, 0, sizeof bad);
    assert_int_equal(mor_world_set_impulses(w, bad, 3 * m, &error), MOR_OK);
    int cold = test_steps(w, 1).iterations;
    mor_world_restore(w, saved, size, &error);
    mor_world_set_impulses(w, bad, 3 * m, &error);
    assert_int_equal(mor_world_set_impulses(w, good, 3 * m, &error), MOR_OK);
    int again = test_steps(w, 1).iterations;
    assert_int_equal(warm, again);
    assert_true(cold > 2 * warm + 2); /* Gauss-Seidel from zero climbs the stack again */
    /* contacts do not pull */
    m = mor_world_contact_count(w);
    bad[2] = -1.0;
    assert_int_equal(mor_world_set_impulses(w, bad, 3 * m, &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "push"));
    bad[2] = NAN;
    assert_int_equal(mor_world_set_impulses(w, bad, 3 * m, &error), MOR_BAD_INPUT);
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_in_body_order_with_the_quaternion_w_first),
        cmocka_unit_test(q_begins_at_the_centre_of_mass),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(a_written_velocity_is_the_one_that_moves),
        cmocka_unit_test(wrong_sizes_are_refused_and_change_nothing),
        cmocka_unit_test(numbers_that_are_no_state_are_refused_with_the_body_s_name),
        cmocka_unit_test(planar_bodies_have_three_numbers_and_particles_two),
        cmocka_unit_test(robots_follow_the_bodies),
        cmocka_unit_test(removed_bodies_leave_no_row),
        cmocka_unit_test(contacts_stick_below_the_friction_angle_and_slide_above),
        cmocka_unit_test(written_impulses_are_the_start_of_the_next_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
