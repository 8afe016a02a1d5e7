/* Integrators of smooth motion: orders, invariants, one-sided rows, failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/random_robot.h"
#include "common/worlds.h"
#include "model/motion.h"

static const char* const smooth[] = { "rk4", "midpoint", "variational", "gauss6" };
static const int order[] = { 4, 2, 2, 6 };
enum { SMOOTH = 4 };

/* A world of its own for an integrator, fixed steps. */
static mor_world* world_with(const char* integrator, double h)
{
    mor_world* w = test_world(h);
    test_method(w, "integrator", integrator);
    test_option(w, "integrator", "tol", "0");
    return w;
}

static int add_robot(mor_world* w, mor_robot_model* model, const double* s, const double* nu)
{
    mor_robot_def d = mor_robot_def_default();
    d.model = model;
    d.s = s;
    d.nu = nu;
    d.limits = d.friction = d.mimic = false;
    mor_error error;
    int robot = mor_world_add_robot(w, &d, &error);
    if (robot < 0) fail_msg("%s", error.text);
    return robot;
}

static double energy(const mor_world* w) { return mor_world_kinetic_energy(w) + mor_world_potential_energy(w); }

/* ------------------------------------------------------------------------------------- one tree */

static void rotation_vectors_are_differentiated_right(void** state)
{
    (void)state;
    mor_vec3 y = mor_v3(0.3, -0.7, 0.5);
    for (int k = 0; k < 40; k++) {
        mor_vec3 x = mor_scale(pow(10.0, -6.0 + 0.16 * k), mor_normalize(mor_v3(0.2, 0.9, -0.4), y));
        mor_vec3 back = mor_dexp_inverse(x, mor_dexp(x, y));
        assert_near(mor_norm(mor_sub(back, y)), 0.0, 1e-13);
        double e = 1e-5; /* exp(x + e y) exp(x - e y)^-1 = exp(2 e dexp_x y) */
        mor_quat d = mor_quat_mul(mor_quat_exp(mor_madd(x, e, y)), mor_quat_conj(mor_quat_exp(mor_madd(x, -e, y))));
        mor_vec3 w = mor_scale(1.0 / e, mor_v3(d.x, d.y, d.z)), v = mor_dexp(x, y);
        assert_near(mor_norm(mor_sub(w, v)), 0.0, 1e-9);
    }
}

/* M nu and its rate, against the mass matrix and the rate of the momentum along the true motion. */
static void momentum_and_its_rate_belong_together(void** state)
{
    (void)state;
    mor_rng rng = { 11 };
    for (int trial = 0; trial < 40; trial++) {
        bool floating = trial % 2;
        mor_robot_model* model = random_robot(&rng, 2 + trial % 9, floating);
        int N = mor_robot_dof(model), n = mor_robot_joint_count(model);
        double s[32], nu[32], p[32], f[32], a[32], M[32 * 32], before[32], after[32], q[64], xi[32], other[32],
            unused[32];
        for (int i = 0; i < n; i++) s[i] = random_number(&rng, 1.0);
        for (int i = 0; i < N; i++) nu[i] = random_number(&rng, 2.0);
        mor_world* w = world_with("gauss6", 0.01);
        add_robot(w, model, s, nu);
        const mor_tree* t = &w->trees[0];
        mor_motion_momentum(w, t, p, f);
        mor_robot_mass_matrix(model, t->robot->work, M);
        for (int i = 0; i < N; i++) {
            double sum = 0.0;
            for (int j = 0; j < N; j++) sum += M[i * N + j] * nu[j];
            assert_near(p[i], sum, 1e-11 * (1.0 + fabs(sum)));
        }
        assert_true(mor_motion_accelerate(w, t, a));
        mor_motion_get(w, t, q, other);
        double e = 1e-5;
        for (int side = 0; side < 2; side++) { /* to first order in e the motion is q (+) e nu, nu + e a: central, so
                                                  second */
            for (int i = 0; i < N; i++) {
                double d = side ? e : -e;
                xi[i] = d * nu[i] + 0.5 * d * d * a[i];
                other[i] = nu[i] + d * a[i];
            }
            mor_motion_place(w, t, q, xi, other, false);
            mor_motion_momentum(w, t, side ? after : before, unused);
        }
        for (int i = 0; i < N; i++)
            assert_near((after[i] - before[i]) / (2.0 * e), f[i], 1e-6 * (1.0 + fabs(f[i]) + fabs(p[i])));
        mor_world_destroy(w);
        mor_robot_destroy(model);
    }
}

/* Orders: from the errors at h and h/2 against gauss6 at a step far below. `build` fills a world; `measure` reads
 * `count` numbers. */
static void check_orders(void (*build)(mor_world*), int (*measure)(mor_world*, double*), double end, double h)
{
    double truth[400];
    mor_world* w = world_with("gauss6", h / 16.0);
    build(w);
    test_steps(w, (int)(16.0 * end / h + 0.5));
    int count = measure(w, truth);
    mor_world_destroy(w);
    for (int i = 0; i < SMOOTH; i++) {
        double error[2] = { 0.0, 0.0 };
        for (int k = 0; k < 2; k++) {
            double x[400], step = (order[i] < 6 ? 0.25 : 1.0) * h / (1 << k);
            w = world_with(smooth[i], step);
            build(w);
            mor_step_report r = test_steps(w, (int)(end / step + 0.5));
            assert_true(r.smooth > 0 && r.reduced == 0 && r.halvings == 0);
            measure(w, x);
            for (int c = 0; c < count; c++) error[k] = fmax(error[k], fabs(x[c] - truth[c]));
            mor_world_destroy(w);
        }
        double found = log2(error[0] / error[1]);
        if (!(found > order[i] - 0.35) || !(error[1] < 1e-2))
            fail_msg("%s: order %.2f, errors %g and %g", smooth[i], found, error[0], error[1]);
        printf("  %-12s order %.2f, error %.1e\n", smooth[i], found, error[1]);
    }
}

static void build_tumbling(mor_world* w)
{
    mor_body_id b = test_body(w, test_box(1.0, 0.6, 0.2), 2.0, mor_v3(0, 0, 0), mor_quat_identity());
    test_velocity(w, b, mor_v3(1, 2, 3), mor_v3(1.0, 3.0, 0.3));
}

static int measure_body(mor_world* w, double* x)
{
    mor_body_state s = mor_body_get_state(w, mor_world_body(w, 0));
    mor_mat3 R = mor_quat_matrix(s.pose.rotation);
    memcpy(x, &R, 9 * sizeof *x);
    memcpy(x + 9,
           (double[9]){ s.com.x, s.com.y, s.com.z, s.velocity.x, s.velocity.y, s.velocity.z, s.angular_velocity.x,
                        s.angular_velocity.y, s.angular_velocity.z },
           9 * sizeof *x);
    return 18;
}

static void a_tumbling_box_converges_at_the_order_of_each(void** state)
{
    (void)state;
    check_orders(build_tumbling, measure_body, 1.0, 0.1);
}

static mor_robot_model* shared_model;

static void build_robot(mor_world* w)
{
    double s[8] = { 0.3, -0.5, 0.2, 0.4, -0.1, 0.6, 0.1, 0.2 },
           nu[16] = { 0.1, 0.2, -0.3, 0.5, -0.4, 1.0, 0.5, -1.0, 0.3, 0.8, -0.6, 0.4, 0.2, 0.1, -0.2, 0.3 };
    add_robot(w, shared_model, s, nu);
}

static int measure_robot(mor_world* w, double* x)
{
    mor_pose base;
    int n = mor_robot_joint_count(shared_model), N = mor_robot_dof(shared_model);
    mor_world_robot_state(w, 0, &base, x, x + n);
    mor_mat3 R = mor_quat_matrix(base.rotation);
    memcpy(x + n + N, &R, 9 * sizeof *x);
    return n + N + 9;
}

static void robots_converge_at_the_order_of_each(void** state)
{
    (void)state;
    for (int floating = 0; floating < 2; floating++) {
        mor_rng rng = { 5 };
        shared_model = random_robot(&rng, 6, floating);
        check_orders(build_robot, measure_robot, 0.4, 0.04);
        mor_robot_destroy(shared_model);
    }
}

static int add_joint(mor_world* w, mor_joint_kind kind, mor_body_id a, mor_body_id b, mor_vec3 point, mor_vec3 axis)
{
    mor_joint_def d = mor_joint_def_default();
    d.kind = kind;
    d.body[0] = a;
    d.body[1] = b;
    d.point[0] = d.point[1] = point;
    d.axis = axis;
    d.axis2 = mor_v3(0, 0, 1);
    mor_error error;
    int j = mor_world_add_joint(w, &d, &error);
    if (j < 0) fail_msg("%s", error.text);
    return j;
}

/* A crank, a coupler on a ball joint, a universal joint and a spring-damper: a loop out of the plane. */
static void build_loop(mor_world* w)
{
    const mor_body_id world = { 0, 0 };
    mor_body_id a = test_body(w, test_box(0.1, 0.1, 1.0), 1.0, mor_v3(0, 0, 0.5), mor_quat_identity());
    mor_body_id b = test_body(w, test_box(1.0, 0.1, 0.1), 0.7, mor_v3(0.5, 0, 1), mor_quat_identity());
    mor_body_id c = test_body(w, test_box(0.1, 0.1, 1.2), 1.3, mor_v3(1, 0, 0.4), mor_quat_identity());
    add_joint(w, MOR_JOINT_REVOLUTE, a, world, mor_v3(0, 0, 0), mor_v3(0, 1, 0));
    add_joint(w, MOR_JOINT_SPHERICAL, b, a, mor_v3(0, 0, 1), mor_v3(0, 1, 0));
    add_joint(w, MOR_JOINT_UNIVERSAL, c, b, mor_v3(1, 0, 1), mor_v3(0, 1, 0));
    add_joint(w, MOR_JOINT_REVOLUTE, c, world, mor_v3(1, 0, -0.2), mor_v3(0.2, 1, 0));
    mor_joint_def spring = mor_joint_def_default();
    spring.kind = MOR_JOINT_DISTANCE;
    spring.body[0] = a;
    spring.point[0] = mor_v3(0, 0, 0.5);
    spring.point[1] = mor_v3(-0.7, 0, 0.8);
    spring.stiffness = 30.0;
    spring.damping = 0.5;
    spring.length = 0.5;
    assert_true(mor_world_add_joint(w, &spring, NULL) >= 0);
    for (int i = 0; i < 3; i++) mor_world_ignore_pair(w, mor_world_body(w, i), mor_world_body(w, (i + 1) % 3));
}

static int measure_bodies(mor_world* w, double* x)
{
    int n = 0;
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_state s = mor_body_get_state(w, mor_world_body(w, i));
        memcpy(x + n, (double[6]){ s.com.x, s.com.y, s.com.z, s.velocity.x, s.velocity.y, s.velocity.z },
               6 * sizeof *x);
        n += 6;
    }
    assert_true(mor_world_joint_error(w) < 1e-12);
    assert_true(mor_world_joint_rate(w) < 1e-11);
    return n;
}

static void closed_loops_converge_at_the_order_of_each(void** state)
{
    (void)state;
    check_orders(build_loop, measure_bodies, 0.4, 0.04);
}

/* A four-bar as a robot of three links whose loop is closed by a joint, and as three bodies with four hinges. */
static void loops_of_robots_and_of_bodies_move_alike(void** state)
{
    (void)state;
    for (int i = 0; i < SMOOTH; i++) {
        mor_world *minimal = world_with(smooth[i], 0.002), *maximal = world_with(smooth[i], 0.002);
        mor_link_def links[4];
        double length[4] = { 0.0, 1.0, 1.5, 1.2 };
        for (int k = 0; k < 4; k++) {
            links[k] = mor_link_def_default();
            links[k].parent = k == 3 ? 0 : k - 1;
            links[k].joint = k - 1;
            links[k].axis = mor_v3(0, 1, 0);
            if (k)
                links[k].mass = (mor_mass){ length[k],
                                            { 0.5 * length[k], 0, 0 },
                                            mor_mat3_diag(1e-3, length[k] / 12.0, length[k] / 12.0) };
        }
        links[2].pose.position = mor_v3(1, 0, 0);
        links[3].pose.position = mor_v3(1.3, 0, 0);
        mor_robot_model* model = mor_robot_create(links, 4, NULL, 0, false, NULL);
        /* the coupler's end meets the rocker's: two circles about (0, -1) and (1.3, 0), found by the assembly */
        double s[3] = { 1.5707963267948966, -1.3, 1.2 };
        int robot = add_robot(minimal, model, s, NULL);
        mor_joint_def loop = mor_joint_def_default();
        loop.kind = MOR_JOINT_SPHERICAL;
        loop.body[0] = mor_world_robot_link(minimal, robot, 2);
        loop.body[1] = mor_world_robot_link(minimal, robot, 3);
        mor_body_state b = test_state(minimal, loop.body[0]), c = test_state(minimal, loop.body[1]);
        loop.point[0] = mor_add(b.pose.position, mor_rotate(b.pose.rotation, mor_v3(1.5, 0, 0)));
        loop.point[1] = mor_add(c.pose.position, mor_rotate(c.pose.rotation, mor_v3(1.2, 0, 0)));
        assert_true(mor_world_add_joint(minimal, &loop, NULL) == 0);
        assert_true(mor_world_assemble(minimal) < 1e-11);
        mor_body_id body[4] = { { 0, 0 } };
        for (int k = 1; k < 4; k++) {
            mor_body_state from = test_state(minimal, mor_world_robot_link(minimal, robot, k));
            mor_body_def d = mor_body_def_default();
            mor_body_shape shape = { test_sphere(0.01), mor_pose_identity(), -1 };
            d.shapes = &shape;
            d.shape_count = 1;
            d.mass = length[k];
            d.has_inertia = d.has_com = true;
            d.inertia = links[k].mass.inertia;
            d.com = links[k].mass.com;
            d.pose = from.pose;
            d.no_collision = true;
            body[k] = mor_world_add_body(maximal, &d, NULL);
            mor_geometry_release(shape.geometry);
            add_joint(maximal, MOR_JOINT_REVOLUTE, body[k], k == 2 ? body[1] : body[0], from.pose.position,
                      mor_v3(0, 1, 0));
        }
        b = test_state(maximal, body[2]);
        add_joint(maximal, MOR_JOINT_SPHERICAL, body[2], body[3],
                  mor_add(b.pose.position, mor_rotate(b.pose.rotation, mor_v3(1.5, 0, 0))), mor_v3(0, 1, 0));
        double E = energy(minimal);
        mor_vec3 start = test_state(minimal, mor_world_robot_link(minimal, robot, 1)).com;
        for (int step = 0; step < 250; step++) {
            mor_step_report r = test_steps(minimal, 1);
            assert_true(r.reduced == 0 && r.smooth == 1);
            test_steps(maximal, 1);
        }
        double tolerance = order[i] == 2 ? 2e-4 : 1e-8;
        assert_near(energy(minimal), E, 10.0 * tolerance);
        assert_true(mor_world_joint_error(minimal) < 1e-11 && mor_world_joint_error(maximal) < 1e-11);
        for (int k = 1; k < 4; k++) {
            mor_vec3 x = test_state(minimal, mor_world_robot_link(minimal, robot, k)).com,
                     y = test_state(maximal, body[k]).com;
            assert_near(mor_norm(mor_sub(x, y)), 0.0, tolerance);
            if (k == 1) assert_true(mor_norm(mor_sub(x, start)) > 0.05);
        }
        mor_world_destroy(minimal);
        mor_world_destroy(maximal);
        mor_robot_destroy(model);
    }
}

/* --------------------------------------------------------------------------------- invariants */

static void momentum_is_kept_to_rounding(void** state)
{
    (void)state;
    mor_rng rng = { 3 };
    shared_model = random_robot(&rng, 6, true);
    for (int kind = 0; kind < 2; kind++)
        for (int i = 1; i < SMOOTH; i++) {
            if (kind == 1 && i != 2) continue; /* on a floating base only the variational one promises it */
            mor_world* w = world_with(smooth[i], 0.02);
            mor_world_set_gravity(w, mor_v3(0, 0, 0));
            if (kind == 0) build_tumbling(w);
            else build_robot(w);
            double before[6], after[6];
            mor_world_momentum(w, before);
            test_steps(w, 500);
            mor_world_momentum(w, after);
            for (int c = 0; c < 6; c++) assert_near(after[c], before[c], 2e-11);
            mor_world_destroy(w);
        }
    mor_robot_destroy(shared_model);
}

/* A pendulum of two links for a long time: the energy of the symplectic method swings and does not drift. */
static void the_variational_integrator_does_not_drift(void** state)
{
    (void)state;
    mor_link_def links[3] = { mor_link_def_default(), mor_link_def_default(), mor_link_def_default() };
    for (int i = 1; i < 3; i++) {
        links[i].parent = links[i].joint = i - 1;
        links[i].axis = mor_v3(0, 1, 0);
        links[i].mass = (mor_mass){ 1.0, { 0.5, 0, 0 }, mor_mat3_diag(1e-3, 1.0 / 12, 1.0 / 12) };
        if (i == 2) links[i].pose.position = mor_v3(1, 0, 0);
    }
    mor_robot_model* model = mor_robot_create(links, 3, NULL, 0, false, NULL);
    double start[2] = { 0.9, 0.3 }; /* regular motion */
    mor_world* w = world_with("variational", 0.02);
    add_robot(w, model, start, NULL);
    double E = energy(w), largest[2] = { 0.0, 0.0 };
    for (int i = 0; i < 20000; i++) {
        test_steps(w, 1);
        double* one = &largest[i < 10000 ? 0 : 1];
        *one = fmax(*one, fabs(energy(w) - E));
    }
    assert_true(largest[0] < 0.05);
    assert_true(largest[1] < 1.2 * largest[0]);
    mor_world_destroy(w);
    mor_robot_destroy(model);
}

static void two_dimensional_bodies_move_smoothly_too(void** state)
{
    (void)state;
    for (int i = 0; i < SMOOTH; i++) {
        mor_world* w = test_world_2d(0.1);
        test_method(w, "integrator", smooth[i]);
        mor_body_id b = test_body(w, mor_geometry_disc(0.1, NULL), 1.0, mor_v3(0, 0, 0), mor_quat_identity());
        test_velocity(w, b, mor_v3(1, 2, 0), mor_v3(0, 0, 3));
        test_steps(w, 10);
        mor_body_state s = test_state(w, b);
        assert_near(s.com.x, 1.0, 1e-12);
        assert_near(s.com.y, 2.0 - 0.5 * 9.81, 1e-12);
        assert_near(2.0 * atan2(s.pose.rotation.z, s.pose.rotation.w), 3.0, 1e-12);
        mor_world_destroy(w);
    }
}

static void forces_springs_and_damping_act_inside_the_step(void** state)
{
    (void)state;
    /* a slider on a spring and damper: x'' = -k x - c x', m = 1, exact e^(-c t/2) (cos w t + c/(2 w) sin w t) */
    double k = 40.0, c = 1.0, w0 = sqrt(k - 0.25 * c * c);
    for (int i = 0; i < SMOOTH; i++) {
        mor_world* w = world_with(smooth[i], 0.005);
        mor_world_set_gravity(w, mor_v3(0, 0, 0));
        mor_body_id b = test_body(w, test_box(0.1, 0.1, 0.1), 1.0, mor_v3(1, 0, 0), mor_quat_identity());
        mor_joint_def d = mor_joint_def_default();
        d.kind = MOR_JOINT_PRISMATIC;
        d.body[0] = b;
        d.point[0] = d.point[1] = mor_v3(1, 0, 0);
        d.axis = mor_v3(1, 0, 0);
        d.stiffness = k;
        d.rest = -1.0; /* relaxed at x = 0 */
        d.damping = c;
        assert_true(mor_world_add_joint(w, &d, NULL) == 0);
        test_steps(w, 200);
        double exact = exp(-0.5 * c) * (cos(w0) + 0.5 * c / w0 * sin(w0));
        assert_near(test_state(w, b).com.x, exact, order[i] == 2 ? 1e-3 : order[i] == 4 ? 1e-8 : 1e-12);
        mor_world_destroy(w);
    }
    /* a robot's joint with strong damping: u' = -(d/I) u, far beyond what an explicit step could do */
    mor_link_def links[2] = { mor_link_def_default(), mor_link_def_default() };
    links[1].parent = 0;
    links[1].mass = (mor_mass){ 1.0, { 0, 0, 0 }, mor_mat3_diag(0.1, 0.1, 0.1) };
    links[1].damping = 50.0;
    mor_robot_model* model = mor_robot_create(links, 2, NULL, 0, false, NULL);
    double speed = 1.0;
    mor_world* w = world_with("midpoint", 0.01);
    add_robot(w, model, NULL, &speed);
    mor_step_report r = test_steps(w, 1);
    assert_int_equal(r.halvings, 0);
    mor_world_robot_state(w, 0, NULL, NULL, &speed);
    assert_near(speed, (1.0 - 2.5) / (1.0 + 2.5), 1e-12); /* the midpoint rule's own answer, h d/(2 I) = 2.5 */
    mor_world_destroy(w);
    mor_robot_destroy(model);
}

static void mimic_joints_follow_to_rounding(void** state)
{
    (void)state;
    mor_link_def links[3] = { mor_link_def_default(), mor_link_def_default(), mor_link_def_default() };
    for (int i = 1; i < 3; i++) {
        links[i].parent = links[i].joint = i - 1;
        links[i].axis = mor_v3(0, 1, 0);
        links[i].mass = (mor_mass){ 1.0, { 0.5, 0, 0 }, mor_mat3_diag(1e-3, 1.0 / 12, 1.0 / 12) };
    }
    links[2].pose.position = mor_v3(1, 0, 0);
    links[2].mimic = 0;
    links[2].mimic_ratio = -2.0;
    links[2].mimic_offset = 0.1;
    mor_robot_model* model = mor_robot_create(links, 3, NULL, 0, false, NULL);
    for (int i = 0; i < SMOOTH; i++) {
        mor_world* w = world_with(smooth[i], 0.01);
        mor_robot_def d = mor_robot_def_default();
        double s[2] = { 0.3, -0.5 };
        d.model = model;
        d.s = s;
        assert_true(mor_world_add_robot(w, &d, NULL) == 0);
        double E = energy(w);
        mor_step_report r = test_steps(w, 100);
        assert_true(r.smooth == 1 && r.reduced == 0);
        mor_world_robot_state(w, 0, NULL, s, NULL);
        assert_near(s[1], -2.0 * s[0] + 0.1, 1e-12);
        assert_near(energy(w), E, order[i] == 2 ? 5e-2 : order[i] == 4 ? 1e-4 : 1e-8);
        assert_true(mor_world_kinetic_energy(w) > 0.01);
        mor_world_destroy(w);
    }
    mor_robot_destroy(model);
}

/* ------------------------------------------------------------------------------- one-sided rows */

static void contact_lowers_the_order_and_is_counted(void** state)
{
    (void)state;
    mor_world* w = world_with("gauss6", 0.01);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), mor_quat_identity());
    mor_body_id falling =
        test_body(w, test_sphere(0.5), 1.0, mor_v3(0, 0, 0.5 + 0.5 * 9.81 * 0.25), mor_quat_identity());
    mor_body_id free = test_body(w, test_sphere(0.5), 1.0, mor_v3(5, 0, 50), mor_quat_identity());
    int reduced = 0, smooth_steps = 0;
    for (int i = 0; i < 100; i++) {
        mor_step_report r = test_steps(w, 1);
        reduced += r.reduced;
        smooth_steps += r.smooth;
        if (i == 40) { /* still in the air: exactly the parabola, unlike the semi-implicit step */
            double t = 0.41;
            assert_near(test_state(w, falling).com.z, 0.5 + 0.5 * 9.81 * (0.25 - t * t), 1e-12);
            assert_int_equal(reduced, 0);
        }
    }
    assert_true(reduced >= 49 && reduced <= 51); /* it lands after 0.5 s and stays */
    assert_int_equal(smooth_steps, 200 - reduced);
    assert_near(test_state(w, falling).com.z, 0.5, 1e-6);
    assert_near(test_state(w, free).com.z, 50.0 - 0.5 * 9.81, 1e-11);
    mor_world_destroy(w);
}

static void limits_and_motors_lower_it_too(void** state)
{
    (void)state;
    mor_world* w = world_with("gauss6", 0.01);
    mor_body_id b = test_body(w, test_box(1.0, 0.1, 0.1), 1.0, mor_v3(0.5, 0, 0), mor_quat_identity());
    mor_joint_def d = mor_joint_def_default();
    d.body[0] = b;
    d.axis = mor_v3(0, 1, 0);
    d.upper = 1.0; /* stops 1 rad below the horizontal */
    assert_true(mor_world_add_joint(w, &d, NULL) == 0);
    int reduced = 0;
    for (int i = 0; i < 100; i++) reduced += test_steps(w, 1).reduced;
    assert_true(reduced > 20 && reduced < 90);
    assert_near(mor_world_joint_position(w, 0), 1.0, 1e-3);
    mor_world_destroy(w);
    w = world_with("rk4", 0.01);
    b = test_body(w, test_box(1.0, 0.1, 0.1), 1.0, mor_v3(0.5, 0, 0), mor_quat_identity());
    d.body[0] = b;
    d.upper = INFINITY;
    d.motor = true;
    d.motor_speed = 1.0;
    d.motor_force = 100.0;
    assert_true(mor_world_add_joint(w, &d, NULL) == 0);
    for (int i = 0; i < 10; i++) assert_int_equal(test_steps(w, 1).reduced, 1);
    mor_world_destroy(w);
}

/* --------------------------------------------------------------------------- failure and restart */

static void a_step_that_cannot_converge_changes_nothing(void** state)
{
    (void)state;
    mor_world* w = world_with("gauss6", 0.1);
    mor_body_id b = test_body(w, test_box(1.0, 0.6, 0.2), 2.0, mor_v3(0, 0, 0), mor_quat_identity());
    test_velocity(w, b, mor_v3(0, 0, 0), mor_v3(200, 300, 100)); /* 37 rad in a step */
    test_option(w, "integrator", "halvings", "0");
    test_option(w, "method", "on_failure", "stop");
    uint64_t hash = mor_world_hash(w);
    mor_step_report r;
    assert_int_equal(mor_world_step(w, &r, NULL), MOR_STOPPED);
    assert_int_equal(r.status, MOR_NOT_CONVERGED);
    assert_non_null(strstr(r.detail, "gauss6"));
    assert_int_equal(mor_world_step_count(w), 0);
    assert_true(hash == mor_world_hash(w));
    test_option(w, "integrator", "halvings", "12");
    r = test_steps(w, 1);
    assert_true(r.halvings > 3);
    mor_world_destroy(w);
}

static void a_snapshot_goes_on_bit_for_bit(void** state)
{
    (void)state;
    for (int i = 0; i < SMOOTH; i++) {
        mor_world* w = world_with(smooth[i], 0.01);
        build_loop(w);
        test_steps(w, 7);
        size_t size = mor_world_save(w, NULL, 0);
        void* bytes = malloc(size);
        assert_true(mor_world_save(w, bytes, size) == size);
        test_steps(w, 9);
        uint64_t hash = mor_world_hash(w);
        assert_int_equal(mor_world_restore(w, bytes, size, NULL), MOR_OK);
        test_steps(w, 9);
        assert_true(hash == mor_world_hash(w));
        free(bytes);
        mor_world_destroy(w);
    }
}

typedef struct counter {
    bool armed;
    int calls;
} counter;

static void* counting_resize(void* user, void* block, size_t size)
{
    counter* c = user;
    if (c->armed && size) c->calls++;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

static void a_warm_smooth_step_allocates_nothing(void** state)
{
    (void)state;
    for (int i = 0; i < SMOOTH; i++) {
        counter c = { false, 0 };
        mor_world_def def = mor_world_def_default();
        def.allocator = (mor_allocator){ counting_resize, &c };
        mor_world* w = mor_world_create(&def, NULL);
        test_method(w, "integrator", smooth[i]);
        build_loop(w);
        test_steps(w, 5);
        c.armed = true;
        test_steps(w, 5);
        assert_int_equal(c.calls, 0);
        c.armed = false;
        mor_world_destroy(w);
    }
}

static void joint_forces_carry_the_weight(void** state)
{
    (void)state;
    /* a rod hanging at rest, and one let go horizontally: the pivot carries m g, then m g/4 */
    for (int k = 0; k < 2; k++) {
        mor_world* w = world_with("gauss6", 0.01);
        mor_body_id b = test_body(w, test_box(k ? 1.0 : 1e-3, 1e-3, k ? 1e-3 : 1.0), 2.0,
                                  k ? mor_v3(0.5, 0, 0) : mor_v3(0, 0, -0.5), mor_quat_identity());
        const mor_body_id world = { 0, 0 };
        add_joint(w, MOR_JOINT_REVOLUTE, b, world, mor_v3(0, 0, 0), mor_v3(0, 1, 0));
        double f[6];
        assert_int_equal(mor_world_joint_forces(w, f, NULL), MOR_OK);
        assert_near(f[2], k ? 2.0 * 9.81 / 4.0 : 2.0 * 9.81, 1e-4);
        assert_near(f[0], 0.0, 1e-9);
        mor_world_destroy(w);
    }
}

static void unknown_integrators_are_refused_with_a_hint(void** state)
{
    (void)state;
    mor_world* w = test_world(0.01);
    mor_error error;
    assert_int_equal(mor_world_set_method(w, "integrator", "gaus6", &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "did you mean 'gauss6'"));
    assert_int_equal(mor_world_set_option(w, "integrator", "tol", "-1", &error), MOR_BAD_INPUT);
    assert_string_equal(mor_world_method(w, "integrator"), "semi-implicit");
    for (int i = 0; mor_integrator_at(i); i++) {
        assert_int_equal(mor_world_set_method(w, "integrator", mor_integrator_at(i)->name, &error), MOR_OK);
        assert_string_equal(mor_world_method(w, "integrator"), mor_integrator_at(i)->name);
    }
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotation_vectors_are_differentiated_right),
        cmocka_unit_test(momentum_and_its_rate_belong_together),
        cmocka_unit_test(a_tumbling_box_converges_at_the_order_of_each),
        cmocka_unit_test(robots_converge_at_the_order_of_each),
        cmocka_unit_test(closed_loops_converge_at_the_order_of_each),
        cmocka_unit_test(loops_of_robots_and_of_bodies_move_alike),
        cmocka_unit_test(momentum_is_kept_to_rounding),
        cmocka_unit_test(the_variational_integrator_does_not_drift),
        cmocka_unit_test(two_dimensional_bodies_move_smoothly_too),
        cmocka_unit_test(forces_springs_and_damping_act_inside_the_step),
        cmocka_unit_test(mimic_joints_follow_to_rounding),
        cmocka_unit_test(contact_lowers_the_order_and_is_counted),
        cmocka_unit_test(limits_and_motors_lower_it_too),
        cmocka_unit_test(a_step_that_cannot_converge_changes_nothing),
        cmocka_unit_test(a_snapshot_goes_on_bit_for_bit),
        cmocka_unit_test(a_warm_smooth_step_allocates_nothing),
        cmocka_unit_test(joint_forces_carry_the_weight),
        cmocka_unit_test(unknown_integrators_are_refused_with_a_hint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
