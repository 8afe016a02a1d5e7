/* Robots and joints in a world: minimal against maximal coordinates, limits, motors, loops, contact. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "moreau/moreau.h"
#include "model/joints.h"

#define ARM2 MOREAU_SOURCE_DIR "/scenes/robots/arm2.urdf"
#define ARM6 MOREAU_SOURCE_DIR "/scenes/robots/arm6.urdf"

static mor_world* make_world(double h)
{
    mor_world_def def = mor_world_def_default();
    def.step = h;
    mor_error error;
    mor_world* w = mor_world_create(&def, &error);
    assert_non_null(w);
    return w;
}

static void run(mor_world* w, int steps)
{
    for (int i = 0; i < steps; i++) {
        mor_error error;
        mor_step_report r;
        if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("%s", error.text);
        if (r.status != MOR_SOLVED) fail_msg("step %d: %s", i, r.detail);
    }
}

static int add_arm(mor_world* w, const char* file, bool floating, mor_vec3 position, const double* s, bool ideal)
{
    mor_error error;
    mor_urdf_options o = mor_urdf_options_default();
    o.floating = floating;
    o.shapes = true;
    mor_robot_def d = mor_robot_def_default();
    d.model = mor_urdf_read(file, &o, NULL, 0, &error);
    if (!d.model) fail_msg("%s", error.text);
    strcpy(d.name, "arm");
    d.pose.position = position;
    d.s = s;
    d.limits = d.damping = d.friction = !ideal;
    d.collide = !ideal;
    int robot = mor_world_add_robot(w, &d, &error);
    if (robot < 0) fail_msg("%s", error.text);
    mor_robot_destroy(d.model);
    return robot;
}

/* A bar of length l along x from `point`, hinged there about y. */
static mor_body_id add_bar(mor_world* w, mor_vec3 from, mor_vec3 direction, double l, double m, const char* name)
{
    mor_body_def d = mor_body_def_default();
    strcpy(d.name, name);
    d.mass = m;
    d.has_inertia = true;
    d.inertia = mor_mat3_diag(m * 1e-4, m * l * l / 12, m * l * l / 12);
    d.pose.position = mor_madd(from, 0.5 * l, direction);
    double angle = atan2(-direction.z, direction.x);
    d.pose.rotation = mor_quat_axis_angle(mor_v3(0, 1, 0), angle);
    mor_error error;
    mor_body_id id = mor_world_add_body(w, &d, &error);
    if (!id.index1) fail_msg("%s", error.text);
    return id;
}

static int add_joint(mor_world* w, mor_joint_kind kind, mor_body_id a, mor_body_id b, mor_vec3 point, mor_vec3 axis)
{
    mor_joint_def d = mor_joint_def_default();
    d.kind = kind;
    d.body[0] = a;
    d.body[1] = b;
    d.point[0] = d.point[1] = point;
    d.axis = axis;
    d.axis2 = fabs(axis.z) > 0.5 ? mor_v3(1, 0, 0) : mor_v3(0, 0, 1);
    mor_error error;
    int j = mor_world_add_joint(w, &d, &error);
    if (j < 0) fail_msg("%s", error.text);
    return j;
}

/* ------------------------------------------------------------------------------------- robots */

static void a_swinging_arm_keeps_its_energy(void** state)
{
    (void)state;
    double drift[2];
    for (int k = 0; k < 2; k++) {
        mor_world* w = make_world(k ? 5e-4 : 1e-3);
        double s[2] = { 0.3, 0.2 };
        add_arm(w, ARM2, false, mor_v3(0, 0, 0), s, true);
        double E = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
        run(w, k ? 2000 : 1000);
        drift[k] = fabs(mor_world_kinetic_energy(w) + mor_world_potential_energy(w) - E);
        mor_world_destroy(w);
    }
    assert_true(drift[0] < 1e-10 && drift[1] < 1e-10); /* of some 30 J in motion */
}

static void minimal_and_maximal_coordinates_give_the_same_motion_as_the_step_shrinks(void** state)
{
    (void)state;
    double difference[2];
    for (int k = 0; k < 2; k++) {
        double h = k ? 5e-4 : 1e-3;
        /* two bars of 1 m, 1 kg, hinged about y, from the horizontal */
        mor_world* maximal = make_world(h);
        mor_body_id world = { 0, 0 }, a = add_bar(maximal, mor_v3(0, 0, 0), mor_v3(1, 0, 0), 1, 1, "a"),
                    b = add_bar(maximal, mor_v3(1, 0, 0), mor_v3(1, 0, 0), 1, 1, "b");
        add_joint(maximal, MOR_JOINT_REVOLUTE, a, world, mor_v3(0, 0, 0), mor_v3(0, 1, 0));
        add_joint(maximal, MOR_JOINT_REVOLUTE, b, a, mor_v3(1, 0, 0), mor_v3(0, 1, 0));
        mor_world* minimal = make_world(h);
        mor_link_def links[3] = { mor_link_def_default(), mor_link_def_default(), mor_link_def_default() };
        for (int i = 1; i < 3; i++) {
            links[i].parent = links[i].joint = i - 1;
            links[i].axis = mor_v3(0, 1, 0);
            links[i].mass = (mor_mass){ 1.0, { 0.5, 0, 0 }, mor_mat3_diag(1e-4, 1.0 / 12, 1.0 / 12) };
        }
        links[2].parent = 1;
        links[2].pose.position = mor_v3(1, 0, 0);
        mor_robot_def d = mor_robot_def_default();
        d.model = mor_robot_create(links, 3, NULL, 0, false, NULL);
        int robot = mor_world_add_robot(minimal, &d, NULL);
        mor_robot_destroy(d.model);
        int steps = (int)(0.7 / h + 0.5);
        run(maximal, steps);
        run(minimal, steps);
        mor_vec3 x = mor_body_get_state(maximal, b).com,
                 y = mor_body_get_state(minimal, mor_world_robot_link(minimal, robot, 2)).com;
        difference[k] = mor_norm(mor_sub(x, y));
        mor_world_destroy(minimal);
        mor_world_destroy(maximal);
    }
    assert_true(difference[0] < 2e-2);
    assert_true(difference[1] < 0.6 * difference[0]);
}

static void a_chain_of_a_hundred_links_costs_little_and_stays_together(void** state)
{
    (void)state;
    enum { N = 100 };
    mor_link_def links[N + 1];
    links[0] = mor_link_def_default();
    for (int i = 1; i <= N; i++) {
        links[i] = mor_link_def_default();
        links[i].parent = links[i].joint = i - 1;
        links[i].axis = mor_v3(0, 1, 0);
        links[i].mass = (mor_mass){ 0.1, { 0.05, 0, 0 }, mor_mat3_diag(1e-5, 1e-4, 1e-4) };
        links[i].pose.position = mor_v3(i > 1 ? 0.1 : 0.0, 0, 0);
        links[i].damping = 0.05;
    }
    mor_world* w = make_world(1e-3);
    mor_robot_def d = mor_robot_def_default();
    d.model = mor_robot_create(links, N + 1, NULL, 0, false, NULL);
    assert_true(mor_world_add_robot(w, &d, NULL) == 0);
    mor_robot_destroy(d.model);
    double E = mor_world_kinetic_energy(w) + mor_world_potential_energy(w), start = mor_clock();
    run(w, 1000);
    printf("chain of %d links in minimal coordinates: %.1f us per step\n", N, 1e3 * (mor_clock() - start));
    double after = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    double kinetic = mor_world_kinetic_energy(w);
    assert_true(kinetic > 10.0); /* it fell */
    if (!(after < E + 0.01 * kinetic)) fail_msg("energy grew from %g to %g J, %g J in motion", E, after, kinetic);
    mor_world_destroy(w);
}

static void an_arm_falls_on_the_floor_and_comes_to_rest(void** state)
{
    (void)state;
    mor_world* w = make_world(2e-3);
    mor_error error;
    mor_body_def floor = mor_body_def_default();
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_body_shape shape = { plane, mor_pose_identity(), -1 };
    floor.kind = MOR_FIXED;
    floor.shapes = &shape;
    floor.shape_count = 1;
    mor_world_add_body(w, &floor, &error);
    mor_geometry_release(plane);
    double s[2] = { -0.6, 0.9 };
    int robot = add_arm(w, ARM2, false, mor_v3(0, 0, 0.4), s, false);
    mor_body_id base = mor_world_robot_link(w, robot, 0);
    mor_world_ignore_pair(w, base, mor_world_body(w, 0));
    assert_int_equal(mor_world_set_option(w, "solver", "tol", "1e-9", &error), MOR_OK);
    assert_int_equal(mor_world_set_method(w, "formulation", "st", &error), MOR_OK);
    assert_int_equal(mor_world_set_method(w, "solver", "lemke", &error), MOR_OK); /* a strut: sweeps creep */
    run(w, 2000);
    double nu[2];
    mor_world_robot_state(w, robot, NULL, s, nu);
    assert_true(fabs(nu[0]) < 1e-6 && fabs(nu[1]) < 1e-6);
    assert_true(mor_world_penetration(w) < 1e-6);
    int contacts;
    const mor_contact* c = mor_world_contacts(w, &contacts);
    double up = 0.0;
    for (int i = 0; i < contacts; i++) up += fabs(c[i].impulse.z);
    assert_true(up / 2e-3 > 1.0); /* the floor carries part of 20 N */
    mor_world_destroy(w);
}

static void joint_limits_stop_the_joint(void** state)
{
    (void)state;
    mor_world* w = make_world(1e-3);
    double s[2] = { 0.0, 0.0 };
    int robot = add_arm(w, ARM2, false, mor_v3(0, 0, 0), s, false);
    for (int i = 0; i < 4000; i++) {
        double tau[2] = { 60.0, 0.0 };
        mor_world_robot_apply(w, robot, tau);
        run(w, 1);
        mor_world_robot_state(w, robot, NULL, s, NULL);
        assert_true(s[0] < 2.5 + 1e-9 && s[1] < 2.5 + 1e-9 && s[1] > -2.5 - 1e-9);
    }
    assert_near(s[0], 2.5, 1e-6); /* pushed against its stop */
    mor_world_destroy(w);
}

static void a_floating_link_moves_as_a_free_body(void** state)
{
    (void)state;
    /* a robot of one link is a rigid body; spheres have no gyroscopic terms, so both integrate alike */
    mor_world *a = make_world(1e-3), *b = make_world(1e-3);
    mor_link_def link = mor_link_def_default();
    link.mass = (mor_mass){ 2.0, { 0, 0, 0 }, mor_mat3_diag(0.3, 0.3, 0.3) };
    mor_robot_def d = mor_robot_def_default();
    double nu[6] = { 1, 2, 3, 0.4, 0.5, -0.6 };
    d.model = mor_robot_create(&link, 1, NULL, 0, true, NULL);
    d.nu = nu;
    int robot = mor_world_add_robot(a, &d, NULL);
    mor_robot_destroy(d.model);
    mor_body_def body = mor_body_def_default();
    body.mass = 2.0;
    body.has_inertia = true;
    body.inertia = link.mass.inertia;
    body.velocity = mor_v3(1, 2, 3);
    body.angular_velocity = mor_v3(0.4, 0.5, -0.6);
    mor_body_id id = mor_world_add_body(b, &body, NULL);
    for (int i = 0; i < 500; i++) {
        mor_body_id l = mor_world_robot_link(a, robot, 0);
        mor_body_apply(a, l, mor_v3(1, 0, 2), mor_add(mor_body_get_state(a, l).com, mor_v3(0, 0.3, 0)));
        mor_body_apply(b, id, mor_v3(1, 0, 2), mor_add(mor_body_get_state(b, id).com, mor_v3(0, 0.3, 0)));
        run(a, 1);
        run(b, 1);
    }
    mor_body_state x = mor_body_get_state(a, mor_world_robot_link(a, robot, 0)), y = mor_body_get_state(b, id);
    assert_near(mor_norm(mor_sub(x.com, y.com)), 0.0, 1e-12);
    assert_near(mor_norm(mor_sub(x.angular_velocity, y.angular_velocity)), 0.0, 1e-12);
    /* the couple turns the link with the mean velocity of each step, the body with that of its end */
    assert_near(x.pose.rotation.x, y.pose.rotation.x, 5e-4);
    mor_world_destroy(a);
    mor_world_destroy(b);
}

static void a_snapshot_restores_robots_and_joints_bit_for_bit(void** state)
{
    (void)state;
    mor_world* w = make_world(1e-3);
    double s[2] = { 0.3, 0.2 };
    int robot = add_arm(w, ARM2, false, mor_v3(0, 0, 0), s, false);
    mor_body_id bar = add_bar(w, mor_v3(0, 3, 0), mor_v3(1, 0, 0), 1, 1, "bar");
    add_joint(w, MOR_JOINT_SPHERICAL, bar, (mor_body_id){ 0, 0 }, mor_v3(0, 3, 0), mor_v3(0, 1, 0));
    run(w, 100);
    size_t size = mor_world_save(w, NULL, 0);
    void* snapshot = malloc(size);
    assert_int_equal(mor_world_save(w, snapshot, size), size);
    run(w, 100);
    uint64_t hash = mor_world_hash(w);
    double after[2];
    mor_world_robot_state(w, robot, NULL, after, NULL);
    mor_error error;
    assert_int_equal(mor_world_restore(w, snapshot, size, &error), MOR_OK);
    assert_true(mor_world_hash(w) != hash);
    run(w, 100);
    assert_true(mor_world_hash(w) == hash);
    mor_world_robot_state(w, robot, NULL, s, NULL);
    assert_memory_equal(s, after, sizeof s);
    free(snapshot);
    mor_world_destroy(w);
}

/* ------------------------------------------------------------------------------------- joints */

static void the_equations_of_every_joint_have_their_rates(void** state)
{
    (void)state;
    static const int rows_of[MOR_JOINT_KINDS] = { 6, 5, 5, 4, 3, 4, 3, 1, 0 };
    mor_rng rng = { 3 };
    for (int kind = 0; kind < MOR_JOINT_KINDS; kind++)
        for (int trial = 0; trial < 20; trial++) {
            mor_world* w = make_world(1e-3);
            mor_body_id id[2];
            for (int i = 0; i < 2; i++)
                id[i] = add_bar(w, mor_v3(0.3 * i, 0.1, 0.2), mor_v3(1, 0, 0), 1, 1, i ? "b" : "a");
            mor_joint_def d = mor_joint_def_default();
            d.kind = (mor_joint_kind)kind;
            d.body[0] = id[0], d.body[1] = id[1];
            d.point[0] = d.point[1] = mor_v3(0.2, 0.3, -0.1);
            if (kind == MOR_JOINT_DISTANCE) d.point[1].x += 0.4;
            d.axis = mor_rotate(mor_rng_rotation(&rng), mor_v3(0, 0, 1));
            mor_vec3 t, o;
            mor_tangents(d.axis, mor_v3(1, 0, 0), &t, &o);
            d.axis2 = t;
            mor_error error;
            if (mor_world_add_joint(w, &d, &error) < 0) fail_msg("%s", error.text);
            assert_near(mor_world_joint_error(w), 0.0, 1e-14);
            /* random velocities; phi changes by their rows */
            mor_body_state s[2];
            for (int i = 0; i < 2; i++) {
                s[i] = mor_body_get_state(w, id[i]);
                s[i].velocity = mor_v3(mor_rng_uniform(&rng), mor_rng_uniform(&rng), -mor_rng_uniform(&rng));
                s[i].angular_velocity = mor_v3(-mor_rng_uniform(&rng), mor_rng_uniform(&rng), mor_rng_uniform(&rng));
            }
            const mor_joint* joint = w->joints.data;
            mor_joint_row now[6], side[2][6];
            int n = mor_joint_equations(w, joint, now);
            assert_int_equal(n, rows_of[kind]);
            const double e = 1e-6;
            for (int k = 0; k < 2; k++) {
                for (int i = 0; i < 2; i++) {
                    mor_body_state moved = s[i];
                    double dt = k ? e : -e;
                    moved.pose.position = mor_madd(s[i].pose.position, dt, s[i].velocity);
                    moved.pose.rotation =
                        mor_quat_mul(mor_quat_exp(mor_scale(dt, s[i].angular_velocity)), s[i].pose.rotation);
                    mor_body_set_state(w, id[i], &moved);
                }
                mor_joint_equations(w, joint, side[k]);
            }
            for (int r = 0; r < n; r++) {
                mor_vec3 v[2];
                for (int i = 0; i < 2; i++)
                    v[i] = now[r].spin ? s[i].angular_velocity
                                       : mor_add(s[i].velocity,
                                                 mor_cross(s[i].angular_velocity, mor_sub(now[r].point, s[i].com)));
                assert_near((side[1][r].phi - side[0][r].phi) / (2 * e), mor_dot(now[r].direction, mor_sub(v[0], v[1])),
                            1e-8);
            }
            mor_world_destroy(w);
        }
}

/* Largest joint error in 10 s and the mean period of a 1 m point-like pendulum released at 1 rad. */
static double pendulum(const char* stabilisation, double h, double* period, double* velocity_error)
{
    mor_world* w = make_world(h);
    mor_error error;
    assert_int_equal(mor_world_set_method(w, "stabilisation", stabilisation, &error), MOR_OK);
    mor_body_def d = mor_body_def_default();
    d.mass = 1.0;
    d.has_inertia = true;
    d.inertia = mor_mat3_diag(1e-4, 1e-4, 1e-4);
    double a = 1.0;
    d.pose.position = mor_v3(sin(a), 0, -cos(a));
    mor_body_id id = mor_world_add_body(w, &d, &error), world = { 0, 0 };
    add_joint(w, MOR_JOINT_REVOLUTE, id, world, mor_v3(0, 0, 0), mor_v3(0, 1, 0));
    double worst = 0.0, last = d.pose.position.x, first = -1.0, latest = -1.0;
    int crossings = 0;
    *velocity_error = 0.0;
    for (int i = 0; i < (int)(10.0 / h + 0.5); i++) {
        run(w, 1);
        worst = fmax(worst, mor_world_joint_error(w));
        mor_body_state s = mor_body_get_state(w, id);
        /* velocity of the material point on the pivot, half the position error beside the joint's own measure */
        double there = mor_norm(mor_add(s.velocity, mor_cross(s.angular_velocity, mor_neg(s.com)))),
               beside = mor_norm(s.angular_velocity) * mor_world_joint_error(w);
        assert_true(there <= mor_world_joint_rate(w) + beside);
        *velocity_error = fmax(*velocity_error, mor_world_joint_rate(w));
        if (last > 0 && s.com.x <= 0) { /* crossing, interpolated */
            latest = mor_world_time(w) - h * s.com.x / (s.com.x - last);
            if (crossings++ == 0) first = latest;
        }
        last = s.com.x;
    }
    *period = (latest - first) / (crossings - 1);
    mor_world_destroy(w);
    return worst;
}

static void a_stabilised_pendulum_keeps_its_joint_and_its_period(void** state)
{
    (void)state;
    /* T = 4 sqrt(l'/g) K(sin(a/2)), l' = (l^2 + I/m)/l; by the arithmetic-geometric mean */
    double x = 1.0, y = cos(0.5);
    for (int i = 0; i < 10; i++) {
        double m = 0.5 * (x + y);
        y = sqrt(x * y);
        x = m;
    }
    double exact = 2.0 * 3.14159265358979 * sqrt((1.0 + 1e-4) / 9.81) / x;
    for (int i = 0; i < 2; i++) { /* the step of the original's Fig. 4, and a small one */
        double h = i ? 1e-3 : 1e-2, period, drifting, rate, without = pendulum("none", h, &drifting, &rate),
               with = pendulum("impulse", h, &period, &rate);
        printf("pendulum, 10 s, h %g: joint error %.3e m (velocity %.3e m/s), period off by %.1e; without "
               "stabilisation %.2g m, %.1e\n",
               h, with, rate, period / exact - 1.0, without, drifting / exact - 1.0);
        assert_true(with < 1e-5);
        assert_true(rate < 1e-5);
        assert_true(without > 1e-4);
        assert_near(period / exact, 1.0, 3.0 * h * h); /* the energy is kept exactly, the phase at second order */
    }
}

static void a_four_bar_linkage_stays_closed(void** state)
{
    (void)state;
    /* parallelogram: one redundant set of hinges, rank deficient by three */
    mor_world* w = make_world(1e-3);
    mor_error error;
    assert_int_equal(mor_world_set_option(w, "stabilisation", "position", "1e-12", &error), MOR_OK);
    mor_body_id world = { 0, 0 }, a = add_bar(w, mor_v3(0, 0, 0), mor_v3(0, 0, 1), 1, 1, "a"),
                b = add_bar(w, mor_v3(0, 0, 1), mor_v3(1, 0, 0), 2, 1, "b"),
                c = add_bar(w, mor_v3(2, 0, 0), mor_v3(0, 0, 1), 1, 1, "c");
    mor_vec3 y = mor_v3(0, 1, 0);
    add_joint(w, MOR_JOINT_REVOLUTE, a, world, mor_v3(0, 0, 0), y);
    add_joint(w, MOR_JOINT_REVOLUTE, b, a, mor_v3(0, 0, 1), y);
    add_joint(w, MOR_JOINT_REVOLUTE, c, b, mor_v3(2, 0, 1), y);
    add_joint(w, MOR_JOINT_REVOLUTE, c, world, mor_v3(2, 0, 0), y);
    double fastest = 0.0;
    for (int i = 0; i < 3000; i++) {
        if (i < 100) mor_body_apply(w, b, mor_v3(5, 0, 0), mor_body_get_state(w, b).com);
        run(w, 1);
        assert_true(mor_world_joint_error(w) < 1e-9);
        fastest = fmax(fastest, mor_world_kinetic_energy(w));
    }
    assert_true(fastest > 5.0); /* it fell */
    mor_world_destroy(w);
}

static void joints_between_links_close_loops_of_robots(void** state)
{
    (void)state;
    /* the tip of the 2-link arm held to the world by a spherical joint: rank-deficient across the plane */
    mor_world* w = make_world(1e-3);
    double s[2] = { -0.5, 1.0 };
    int robot = add_arm(w, ARM2, false, mor_v3(0, 0, 0), s, true);
    mor_body_id fore = mor_world_robot_link(w, robot, 2), world = { 0, 0 };
    mor_vec3 tip = mor_v3(cos(-0.5) + cos(0.5), 0, 0.05 - sin(-0.5) - sin(0.5));
    add_joint(w, MOR_JOINT_SPHERICAL, fore, world, tip, mor_v3(0, 1, 0));
    for (int i = 0; i < 500; i++) {
        double tau[2] = { 3.0 * sin(0.02 * i), -2.0 };
        mor_world_robot_apply(w, robot, tau);
        run(w, 1);
        assert_true(mor_world_joint_error(w) < 1e-9);
    }
    mor_world_robot_state(w, robot, NULL, s, NULL);
    assert_near(s[0], -0.5, 1e-8); /* a triangle cannot move */
    mor_world_destroy(w);
}

static void motors_springs_limits_and_friction_act_on_joints(void** state)
{
    (void)state;
    mor_error error;
    mor_body_id world = { 0, 0 };
    mor_joint_def d = mor_joint_def_default();
    d.axis = mor_v3(0, 1, 0);
    for (int what = 0; what < 5; what++) {
        mor_world* w = make_world(1e-3);
        mor_body_id a = add_bar(w, mor_v3(0, 0, 0), mor_v3(1, 0, 0), 1, 1, "a");
        mor_joint_def j = d;
        j.body[0] = a;
        j.body[1] = world;
        j.damping = what == 3 ? 5.0 : 0.0;
        j.stiffness = what == 3 ? 100.0 : 0.0;
        j.friction = what == 2 ? 6.0 : 0.0; /* gravity: 4.905 N m */
        j.motor = what == 1 || what == 4;
        j.motor_speed = 2.0;
        j.motor_force = what == 4 ? 4.0 : 1000.0;
        if (what == 0) j.upper = 0.3;
        int k = mor_world_add_joint(w, &j, &error);
        if (k < 0) fail_msg("%s", error.text);
        run(w, 500);
        double q = mor_world_joint_position(w, k), speed = mor_body_get_state(w, a).angular_velocity.y;
        if (what == 0) assert_near(q, 0.3, 1e-6); /* the limit holds it */
        if (what == 0) assert_near(speed, 0.0, 1e-6);
        if (what == 1) assert_near(q, 1.0, 1e-5); /* about y: gravity turns x down, positive */
        if (what == 1) assert_near(speed, 2.0, 1e-6);
        if (what == 2) assert_near(q, 0.0, 1e-9);
        if (what == 3) assert_near(100.0 * q, 4.905 * cos(q), 0.4); /* statics of the spring, softened by the step */
        if (what == 4) assert_true(speed > 2.0);                    /* the motor brakes with 4 of 4.9 N m: too weak */
        mor_world_destroy(w);
    }
}

static void a_tree_of_127_bars_takes_little_time(void** state)
{
    (void)state;
    mor_world* w = make_world(1e-2);
    mor_body_id bars[127], world = { 0, 0 };
    mor_vec3 tips[127];
    for (int i = 0; i < 127; i++) {
        int p = (i - 1) / 2, depth = 0;
        for (int k = i; k > 0; k = (k - 1) / 2) depth++;
        double angle = i == 0 ? 0.0 : (i % 2 ? 1.0 : -1.0) * 0.9 / depth;
        mor_vec3 from = i ? tips[p] : mor_v3(0, 0, 0), direction = mor_v3(sin(angle), 0, -cos(angle));
        bars[i] = add_bar(w, from, direction, 0.5, 0.1, i ? "bar" : "root");
        tips[i] = mor_madd(from, 0.5, direction);
        add_joint(w, MOR_JOINT_SPHERICAL, bars[i], i ? bars[p] : world, from, mor_v3(0, 1, 0));
    }
    run(w, 5);
    double start = mor_clock();
    run(w, 50);
    printf("tree of 127 bars, spherical joints: %.0f us per step, joint error %.2g m\n", 2e4 * (mor_clock() - start),
           mor_world_joint_error(w));
    assert_true(mor_world_joint_error(w) < 1e-4);
    mor_world_destroy(w);
}

static void mistakes_in_joints_and_robots_are_refused(void** state)
{
    (void)state;
    mor_world* w = make_world(1e-3);
    mor_body_id a = add_bar(w, mor_v3(0, 0, 0), mor_v3(1, 0, 0), 1, 1, "a"), world = { 0, 0 };
    mor_error error;
    mor_joint_def d = mor_joint_def_default();
    assert_true(mor_world_add_joint(w, &d, &error) < 0); /* world with world */
    d.body[0] = a;
    d.body[1] = a;
    assert_true(mor_world_add_joint(w, &d, &error) < 0);
    assert_non_null(strstr(error.text, "with itself"));
    d.body[1] = world;
    d.axis = mor_v3(0, 0, 0);
    assert_true(mor_world_add_joint(w, &d, &error) < 0);
    assert_non_null(strstr(error.text, "axis"));
    d.axis = mor_v3(0, 0, 1);
    d.kind = MOR_JOINT_UNIVERSAL;
    d.axis2 = mor_v3(0, 0, 2);
    assert_true(mor_world_add_joint(w, &d, &error) < 0);
    d.kind = MOR_JOINT_DISTANCE;
    assert_true(mor_world_add_joint(w, &d, &error) < 0);
    assert_non_null(strstr(error.text, "spherical"));
    d.kind = MOR_JOINT_REVOLUTE;
    d.lower = 1.0;
    d.upper = 0.0;
    assert_true(mor_world_add_joint(w, &d, &error) < 0);
    mor_link_def links[2] = { mor_link_def_default(), mor_link_def_default() };
    links[1].parent = 0;
    mor_robot_def r = mor_robot_def_default();
    r.model = mor_robot_create(links, 2, NULL, 0, false, NULL);
    assert_true(mor_world_add_robot(w, &r, &error) < 0);
    assert_non_null(strstr(error.text, "singular"));
    mor_robot_destroy(r.model);
    mor_world_destroy(w);
}

/* Two balls on a rope of 1 m, the upper one held: the lower falls freely, hangs, and its partner can lie against it. */
static void a_distance_with_limits_is_a_rope(void** state)
{
    (void)state;
    const char* text =
        "moreau: 1\ntime: { step: 0.002, end: 3 }\nbodies:\n"
        "  - { name: top, shape: { sphere: 0.1 }, fixed: true, position: [0, 0, 2] }\n"
        "  - { name: low, shape: { sphere: 0.1 }, position: [0, 0, 1.7] }\n"
        "  - { name: near, shape: { sphere: 0.1 }, position: [0, 0, 2.3] }\n"
        "joints:\n"
        "  - { name: r, type: distance, bodies: [low, top], points: [[0, 0, 1.7], [0, 0, 2]], limits: [0, 1] }\n"
        "  - { name: s, type: distance, bodies: [near, top], points: [[0, 0, 2.3], [0, 0, 2]], limits: [0, 1] }\n";
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_parse(text, strlen(text), "rope.yaml", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    mor_body_id low = mor_world_find_body(w, "low"), near = mor_world_find_body(w, "near");
    for (int i = 0; i < 100; i++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_near(mor_body_get_state(w, low).velocity.z, -9.81 * 0.2, 1e-9); /* 0.196 m on the way of 0.7 m */
    for (int i = 100; i < 1500; i++) assert_int_equal(mor_world_step(w, NULL, &error), MOR_OK);
    assert_near(mor_body_get_state(w, low).com.z, 1.0, 1e-6);
    assert_near(mor_body_get_state(w, near).com.z, 2.2, 1e-4); /* on the held one */
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_distance_with_limits_is_a_rope),
        cmocka_unit_test(a_swinging_arm_keeps_its_energy),
        cmocka_unit_test(minimal_and_maximal_coordinates_give_the_same_motion_as_the_step_shrinks),
        cmocka_unit_test(a_chain_of_a_hundred_links_costs_little_and_stays_together),
        cmocka_unit_test(an_arm_falls_on_the_floor_and_comes_to_rest),
        cmocka_unit_test(joint_limits_stop_the_joint),
        cmocka_unit_test(a_floating_link_moves_as_a_free_body),
        cmocka_unit_test(a_snapshot_restores_robots_and_joints_bit_for_bit),
        cmocka_unit_test(the_equations_of_every_joint_have_their_rates),
        cmocka_unit_test(a_stabilised_pendulum_keeps_its_joint_and_its_period),
        cmocka_unit_test(a_four_bar_linkage_stays_closed),
        cmocka_unit_test(joints_between_links_close_loops_of_robots),
        cmocka_unit_test(motors_springs_limits_and_friction_act_on_joints),
        cmocka_unit_test(a_tree_of_127_bars_takes_little_time),
        cmocka_unit_test(mistakes_in_joints_and_robots_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
