/* Springs, dampers, motors, dry friction and limits of joints against closed forms, in both coordinates; the three
 * stabilisations; redundant hinges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "moreau/moreau.h"

static const double I = 0.5; /* of the wheel about its axis */

static mor_world* make_world(double h, mor_vec3 gravity)
{
    mor_world_def def = mor_world_def_default();
    def.step = h;
    def.gravity = gravity;
    mor_error error;
    mor_world* w = mor_world_create(&def, &error);
    assert_non_null(w);
    assert_int_equal(mor_world_set_option(w, "solver", "tol", "1e-12", &error), MOR_OK); /* closed forms to 1e-9 */
    return w;
}

static void step(mor_world* w)
{
    mor_error error;
    mor_step_report r;
    if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("%s", error.text);
    if (r.status != MOR_SOLVED) fail_msg("at %g s: %s (%g)", mor_world_time(w), r.detail, r.velocity_error);
}

/* A wheel on an axle through its centre along y, or a slide along y. */
static mor_body_id add_wheel(mor_world* w, mor_joint_def* j, mor_joint_kind kind, mor_vec3 at, double omega)
{
    mor_body_def d = mor_body_def_default();
    d.mass = I; /* the slide has the same inertia */
    d.has_inertia = true;
    d.inertia = mor_mat3_diag(0.3, I, 0.4);
    d.pose.position = at;
    if (kind == MOR_JOINT_REVOLUTE) d.angular_velocity = mor_v3(0, omega, 0);
    else d.velocity = mor_v3(0, omega, 0);
    mor_error error;
    mor_body_id id = mor_world_add_body(w, &d, &error);
    if (!id.index1) fail_msg("%s", error.text);
    j->kind = kind;
    j->axis = mor_v3(0, 1, 0);
    j->body[0] = id;
    j->point[0] = j->point[1] = at;
    if (mor_world_add_joint(w, j, &error) < 0) fail_msg("%s", error.text);
    return id;
}

static double speed(const mor_world* w, mor_body_id id, mor_joint_kind kind)
{
    mor_body_state s = mor_body_get_state(w, id);
    return kind == MOR_JOINT_REVOLUTE ? s.angular_velocity.y : s.velocity.y;
}

/* One step of m x'' = -k x - c x' by the rule that src/formulation/springs.c states: the midpoint rule as long as
 * (h^2 k/2 + h c)/m is at most 50, more and more the implicit one beyond. */
static void spring_step(double m, double k, double c, double h, double* x, double* v)
{
    double A = (0.5 * h * h * k + h * c) / m, s = A > 50.0 ? 1.0 - 25.0 / A : 0.5, D = s * h * h * k + h * c;
    double next = (m * *v - h * k * *x - D * (1.0 - s) * *v) / (m + D * s);
    *x += h * ((1.0 - s) * *v + s * next);
    *v = next;
}

static void springs_and_dampers_take_the_implicit_step_for_any_stiffness(void** state)
{
    (void)state;
    const double stiffness[] = { 0.0, 10.0, 1e4, 1e9 }, damping[] = { 3.0, 0.2, 50.0, 0.0 };
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 4; i++) {
            mor_joint_kind kind = k ? MOR_JOINT_PRISMATIC : MOR_JOINT_REVOLUTE;
            mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
            mor_joint_def j = mor_joint_def_default();
            j.stiffness = stiffness[i];
            j.damping = damping[i];
            j.rest = 0.1;
            mor_body_id id = add_wheel(w, &j, kind, mor_v3(0, 0, 0), 2.0);
            double x = -0.1, v = 2.0;
            for (int n = 0; n < 100; n++) {
                step(w);
                spring_step(I, stiffness[i], damping[i], 0.01, &x, &v);
                assert_near(speed(w, id, kind), v, 1e-9);
                assert_near(mor_world_joint_position(w, 0), x + 0.1, 1e-9);
            }
            mor_world_destroy(w);
        }
}

/* Two wheels on one axle line, a stiff spring and damper between them: the sum of momenta stays, the difference follows
 * the implicit step with the reduced inertia, which springs that are implicit in one body at a time miss. */
static void a_spring_between_two_bodies_sees_both(void** state)
{
    (void)state;
    mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
    mor_joint_def free = mor_joint_def_default(), j = free;
    mor_body_id a = add_wheel(w, &free, MOR_JOINT_REVOLUTE, mor_v3(0, 0, 0), 3.0);
    free = mor_joint_def_default();
    mor_body_id b = add_wheel(w, &free, MOR_JOINT_REVOLUTE, mor_v3(0, 1, 0), -1.0);
    j.kind = MOR_JOINT_REVOLUTE;
    j.axis = mor_v3(0, 1, 0);
    j.body[0] = a;
    j.body[1] = b;
    j.point[0] = j.point[1] = mor_v3(0, 0.5, 0);
    j.stiffness = 5e3;
    j.damping = 7.0;
    mor_error error;
    int k = mor_world_add_joint(w, &j, &error); /* redundant: both are on the line already */
    assert_true(k >= 0);
    assert_int_equal(mor_world_joint_rank(w).rank, 10);
    assert_int_equal(mor_world_joint_rank(w).equations, 15);
    assert_int_equal(mor_world_joint_rank(w).freedom, 2);
    double q = 0.0, v = 4.0;
    for (int n = 0; n < 50; n++) {
        step(w);
        spring_step(I / 2.0, j.stiffness, j.damping, 0.01, &q, &v);
        double x = speed(w, a, MOR_JOINT_REVOLUTE), y = speed(w, b, MOR_JOINT_REVOLUTE);
        assert_near(x + y, 2.0, 1e-9);
        assert_near(x - y, v, 1e-9);
        assert_near(mor_world_joint_position(w, k), q, 1e-9);
    }
    mor_world_remove_body(w, b); /* and the spring with it */
    double before = speed(w, a, MOR_JOINT_REVOLUTE);
    step(w);
    assert_near(speed(w, a, MOR_JOINT_REVOLUTE), before, 1e-12);
    mor_world_destroy(w);
}

/* A mass on a soft distance to the world: the implicit step along it; and every integrator finds the oscillation of a
 * hinge with a spring, of which the smooth ones know nothing of the trees that stand for springs. */
static void soft_distances_and_springs_work_in_every_integrator(void** state)
{
    (void)state;
    mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
    mor_error error;
    mor_body_def d = mor_body_def_default();
    d.mass = 2.0;
    d.has_inertia = true;
    d.inertia = mor_mat3_diag(1, 1, 1);
    d.pose.position = mor_v3(1.5, 0, 0);
    mor_joint_def j = mor_joint_def_default();
    j.kind = MOR_JOINT_DISTANCE;
    j.body[0] = mor_world_add_body(w, &d, &error);
    j.point[0] = d.pose.position;
    j.length = 1.0;
    j.stiffness = 1e5;
    j.damping = 30.0;
    assert_true(mor_world_add_joint(w, &j, &error) >= 0);
    double x = 0.5, v = 0.0;
    for (int n = 0; n < 50; n++) {
        step(w);
        spring_step(2.0, j.stiffness, j.damping, 0.01, &x, &v);
        assert_near(mor_body_get_state(w, j.body[0]).com.x, 1.0 + x, 1e-9);
    }
    mor_world_destroy(w);

    static const char* const integrators[] = { "semi-implicit", "rk4", "midpoint", "variational", "gauss6" };
    for (int i = 0; i < 5; i++) {
        w = make_world(1e-3, mor_v3(0, 0, 0));
        assert_int_equal(mor_world_set_method(w, "integrator", integrators[i], &error), MOR_OK);
        j = mor_joint_def_default();
        j.stiffness = 8.0; /* omega = 4 */
        add_wheel(w, &j, MOR_JOINT_REVOLUTE, mor_v3(0, 0, 0), 1.0);
        for (int n = 0; n < 500; n++) step(w);
        assert_near(mor_world_joint_position(w, 0), 0.25 * sin(4.0 * 0.5), i ? 1e-5 : 2e-3);
        assert_true(!i || fabs(mor_world_joint_position(w, 0) - 0.25 * sin(2.0)) < 1e-6);
        mor_world_destroy(w);
    }
}

static void a_motor_accelerates_with_its_torque_and_keeps_its_speed(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        mor_joint_kind kind = k ? MOR_JOINT_PRISMATIC : MOR_JOINT_REVOLUTE;
        mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
        mor_joint_def j = mor_joint_def_default();
        j.motor = true;
        j.motor_speed = 2.0;
        j.motor_force = 3.0; /* 2 rad/s after I 2/3 = 1/3 s */
        mor_body_id id = add_wheel(w, &j, kind, mor_v3(0, 0, 0), -1.0);
        for (int n = 1; n <= 100; n++) {
            step(w);
            assert_near(speed(w, id, kind), fmin(2.0, -1.0 + 3.0 * 0.01 * n / I), 1e-9);
        }
        mor_world_destroy(w);
    }
}

static void dry_friction_brakes_evenly_stops_and_holds(void** state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        mor_joint_kind kind = k ? MOR_JOINT_PRISMATIC : MOR_JOINT_REVOLUTE;
        mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
        mor_joint_def j = mor_joint_def_default();
        j.friction = 1.5;
        mor_body_id id = add_wheel(w, &j, kind, mor_v3(0, 0, 0), 1.1);
        for (int n = 1; n <= 200; n++) {
            double push = n > 100 ? 1.499 : 0.0; /* less than it holds */
            if (kind == MOR_JOINT_REVOLUTE) mor_body_apply_torque(w, id, mor_v3(0, push, 0));
            else mor_body_apply(w, id, mor_v3(0, push, 0), mor_v3(0, 0, 0));
            step(w);
            assert_near(speed(w, id, kind), fmax(0.0, 1.1 - 1.5 * 0.01 * n / I), 1e-9);
        }
        if (kind == MOR_JOINT_REVOLUTE) mor_body_apply_torque(w, id, mor_v3(0, 2.0, 0));
        else mor_body_apply(w, id, mor_v3(0, 2.0, 0), mor_v3(0, 0, 0));
        step(w);
        assert_near(speed(w, id, kind), (2.0 - 1.5) * 0.01 / I, 1e-9); /* more than it holds: the rest moves it */
        mor_world_destroy(w);
    }
}

static void a_limit_stops_within_the_step_and_lets_go(void** state)
{
    (void)state;
    mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
    mor_joint_def j = mor_joint_def_default();
    j.upper = 0.055;
    mor_body_id id = add_wheel(w, &j, MOR_JOINT_REVOLUTE, mor_v3(0, 0, 0), 1.0);
    for (int n = 0; n < 20; n++) step(w);
    assert_near(mor_world_joint_position(w, 0), 0.055, 1e-9);
    mor_body_apply_torque(w, id, mor_v3(0, -5.0, 0));
    step(w);
    assert_near(speed(w, id, MOR_JOINT_REVOLUTE), -0.1, 1e-9);
    mor_world_destroy(w);
}

/* The same wheel as a robot. */
static int add_robot(mor_world* w, double damping, double friction, double upper, double omega)
{
    mor_link_def links[2] = { mor_link_def_default(), mor_link_def_default() };
    strcpy(links[0].name, "base");
    strcpy(links[1].name, "wheel");
    strcpy(links[1].joint_name, "axle");
    links[0].mass = (mor_mass){ 1.0, { 0, 0, 0 }, mor_mat3_diag(1, 1, 1) };
    links[1].mass = (mor_mass){ I, { 0, 0, 0 }, mor_mat3_diag(0.3, I, 0.4) };
    links[1].parent = 0;
    links[1].axis = mor_v3(0, 1, 0);
    links[1].damping = damping;
    links[1].friction = friction;
    links[1].upper = upper;
    mor_error error;
    mor_robot_def d = mor_robot_def_default();
    d.model = mor_robot_create(links, 2, NULL, 0, false, &error);
    if (!d.model) fail_msg("%s", error.text);
    d.nu = &omega;
    int r = mor_world_add_robot(w, &d, &error);
    if (r < 0) fail_msg("%s", error.text);
    mor_robot_destroy(d.model);
    return r;
}

static void joints_of_robots_have_the_same_damping_friction_and_limits(void** state)
{
    (void)state;
    for (int what = 0; what < 3; what++) {
        mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
        mor_error error; /* the default asks for 1e-8 m/s in every step: in 100 it may creep away from the limit */
        assert_int_equal(mor_world_set_option(w, "solver", "tol", "1e-12", &error), MOR_OK);
        int r = add_robot(w, what == 0 ? 3.0 : 0.0, what == 1 ? 1.5 : 0.0, what == 2 ? 0.055 : INFINITY, 1.1);
        double v = 1.1, s, nu;
        for (int n = 1; n <= 100; n++) {
            step(w);
            mor_world_robot_state(w, r, NULL, &s, &nu);
            if (what == 0) v /= 1.0 + 0.01 * 3.0 / I;
            if (what == 1) v = fmax(0.0, 1.1 - 1.5 * 0.01 * n / I);
            if (what < 2) assert_near(nu, v, 1e-9);
            else assert_true(s <= 0.055 + 1e-9);
        }
        if (what == 2) assert_near(s, 0.055, 1e-9);
        mor_world_destroy(w);
    }
}

/* ---------------------------------------------------------------------------- stabilisation */

/* Largest and last joint error of a compound pendulum of 2 s at h = 5 ms. */
static double pendulum(const char* how, const char* option, const char* value, double* last)
{
    mor_world* w = make_world(0.005, mor_v3(0, 0, -9.81));
    mor_error error;
    assert_int_equal(mor_world_set_method(w, "stabilisation", how, &error), MOR_OK);
    if (option) assert_int_equal(mor_world_set_option(w, "stabilisation", option, value, &error), MOR_OK);
    mor_body_def d = mor_body_def_default();
    d.mass = 1.0;
    d.has_inertia = true;
    d.inertia = mor_mat3_diag(0.01, 0.02, 0.02);
    d.pose.position = mor_v3(0.5, 0, 0);
    mor_joint_def j = mor_joint_def_default();
    j.kind = MOR_JOINT_SPHERICAL;
    j.body[0] = mor_world_add_body(w, &d, &error);
    if (mor_world_add_joint(w, &j, &error) < 0) fail_msg("%s", error.text);
    double worst = 0.0;
    for (int n = 0; n < 400; n++) {
        step(w);
        worst = fmax(worst, *last = mor_world_joint_error(w));
    }
    mor_world_destroy(w);
    return worst;
}

static void every_stabilisation_holds_the_joint_as_well_as_it_says(void** state)
{
    (void)state;
    double last, none = pendulum("none", NULL, NULL, &last);
    assert_true(last > 0.01); /* it drifts */
    double soft = pendulum("baumgarte", NULL, NULL, &last), hard = pendulum("baumgarte", "gain", "1", &last);
    double impulse = pendulum("impulse", NULL, NULL, &last), tight = pendulum("impulse", "position", "1e-12", &last);
    double projection = pendulum("projection", NULL, NULL, &last),
           exact = pendulum("projection", "position", "1e-12", &last);
    printf("joint error in 2 s: none %.1e, baumgarte %.1e (gain 1: %.1e), impulse %.1e (asked for 1e-12: %.1e), "
           "projection %.1e (%.1e) m\n",
           none, soft, hard, impulse, tight, projection, exact);
    assert_true(hard < soft && soft < 0.1 * none);
    assert_true(impulse <= 1e-5 && projection <= 1e-5);
    assert_true(tight <= 1e-12 && exact <= 1e-12);
    mor_world* w = make_world(0.01, mor_v3(0, 0, 0));
    mor_error error;
    assert_int_equal(mor_world_set_method(w, "stabilisation", "impuls", &error), MOR_BAD_INPUT);
    assert_non_null(strstr(error.text, "did you mean 'impulse'"));
    /* of baumgarte only */
    assert_int_equal(mor_world_set_option(w, "stabilisation", "gain", "0.1", &error), MOR_BAD_INPUT);
    mor_world_destroy(w);
}

/* A door with three hinges on one line, 15 equations of rank 5, falls like a door with one. */
static void three_hinges_of_a_door_count_as_one(void** state)
{
    (void)state;
    double angle[2];
    for (int hinges = 1; hinges <= 3; hinges += 2) {
        mor_world* w = make_world(0.002, mor_v3(0, 2.0, -9.81));
        mor_error error;
        mor_body_def d = mor_body_def_default();
        d.mass = 20.0;
        d.has_inertia = true;
        d.inertia = mor_mat3_diag(7, 8, 1.4);
        d.pose.position = mor_v3(0.4, 0, 1);
        mor_body_id door = mor_world_add_body(w, &d, &error);
        for (int k = 0; k < hinges; k++) {
            mor_joint_def j = mor_joint_def_default();
            j.body[0] = door;
            j.point[0] = j.point[1] = mor_v3(0, 0, 1.0 + (hinges > 1 ? 0.8 * (k - 1) : 0.0));
            if (mor_world_add_joint(w, &j, &error) < 0) fail_msg("%s", error.text);
        }
        mor_joint_rank r = mor_world_joint_rank(w);
        assert_int_equal(r.equations, 5 * hinges);
        assert_int_equal(r.rank, 5);
        assert_int_equal(r.freedom, 1);
        for (int n = 0; n < 500; n++) step(w);
        assert_true(mor_world_joint_error(w) < 1e-5);
        angle[hinges / 2] = mor_world_joint_position(w, 0);
        mor_world_destroy(w);
    }
    assert_true(angle[0] > 0.5);
    assert_near(angle[0], angle[1], 1e-4); /* both to the joint tolerance of 1e-5 m */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_and_dampers_take_the_implicit_step_for_any_stiffness),
        cmocka_unit_test(a_spring_between_two_bodies_sees_both),
        cmocka_unit_test(soft_distances_and_springs_work_in_every_integrator),
        cmocka_unit_test(a_motor_accelerates_with_its_torque_and_keeps_its_speed),
        cmocka_unit_test(dry_friction_brakes_evenly_stops_and_holds),
        cmocka_unit_test(a_limit_stops_within_the_step_and_lets_go),
        cmocka_unit_test(joints_of_robots_have_the_same_damping_friction_and_limits),
        cmocka_unit_test(every_stabilisation_holds_the_joint_as_well_as_it_says),
        cmocka_unit_test(three_hinges_of_a_door_count_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
