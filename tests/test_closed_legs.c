/* Closed chains that stand and hop on the ground: a five-bar leg and a delta-like leg with one loop too many. Closure
 * is measured by the joints' own equations, the force at rest by the weight. And the same leg with its dynamics from
 * another library's table. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/walker.h"
#include "common/worlds.h"

typedef struct leg {
    mor_world* w;
    int n, motors[3], motor_count;
    double s0[16], kick; /* targets; added to the motors' targets */
    double weight;
} leg;

static void hold(void* user, mor_world* w)
{
    leg* l = user;
    double s[16], nu[16], tau[16] = { 0 };
    mor_world_robot_state(w, 0, NULL, s, nu);
    for (int k = 0; k < l->motor_count; k++) {
        int j = l->motors[k];
        double towards = l->s0[j] < 0 ? 1.0 : -1.0; /* straighter */
        tau[j] = 1500.0 * (l->s0[j] + towards * l->kick - s[j]) - 15.0 * nu[j];
    }
    mor_world_robot_apply(w, 0, tau);
}

static void join(mor_world* w, const mor_robot_model* m, const char* a, const char* b)
{
    mor_error error;
    mor_joint_def d = mor_joint_def_default();
    mor_robot_work* work = mor_robot_work_create(m);
    double s[16];
    mor_pose base;
    mor_world_robot_state(w, 0, &base, s, NULL);
    mor_robot_update(m, work, &base, s, NULL);
    const char* name[2] = { a, b };
    d.kind = MOR_JOINT_SPHERICAL;
    for (int i = 0; i < 2; i++) {
        int frame = mor_robot_find_frame(m, name[i]);
        d.body[i] = mor_world_robot_link(w, 0, mor_robot_frame(m, frame)->link);
        d.point[i] = mor_robot_frame_pose(m, work, frame).position;
    }
    if (mor_world_add_joint(w, &d, &error) < 0) fail_msg("%s", error.text);
    mor_robot_work_destroy(work);
}

/* Three legs: delta; else five-bar. */
static leg make(bool delta, bool redundant, const char* formulation, const mor_dynamics* table, mor_robot_model* model)
{
    mor_error error;
    mor_world_def wd = mor_world_def_default();
    wd.step = 1e-3;
    leg l = { .w = mor_world_create(&wd, &error) };
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_body_def g = mor_body_def_default();
    g.kind = MOR_FIXED;
    g.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    g.shape_count = 1;
    mor_world_add_body(l.w, &g, &error);
    mor_geometry_release(plane);
    mor_robot_def d = mor_robot_def_default();
    d.model = model ? model : delta ? walker_delta() : walker_five_bar();
    const char* foot = delta ? "tip_0" : "tip_a";
    mor_geometry* ball = mor_geometry_sphere(0.02, &error);
    const mor_frame_def* f = mor_robot_frame(d.model, mor_robot_find_frame(d.model, foot));
    if (mor_robot_shape_count(d.model) == 0)
        mor_robot_add_shape(
            d.model, &(mor_link_shape){ .link = f->link, .geometry = ball, .pose = f->pose, .frame = -1 }, &error);
    mor_geometry_release(ball);
    l.n = mor_robot_joint_count(d.model);
    l.weight = 9.81 * (mor_robot_mass(d.model) - 1.0); /* the root link is held */
    double knee = delta ? 1.9345 : 1.8063;
    l.s0[0] = (delta ? 0.2188 : 0.2428) + 0.02;
    for (int k = 0; k < (delta ? 3 : 2); k++) {
        int motor = delta ? 1 + 3 * k : 1 + 2 * k;
        double side = !delta && k ? -1.0 : 1.0;
        l.motors[l.motor_count++] = motor;
        l.s0[motor] = -0.7 * side;
        l.s0[motor + 1] = knee * side;
    }
    snprintf(d.name, sizeof d.name, "leg");
    d.s = l.s0;
    d.limits = false;
    d.dynamics = table;
    if (mor_world_add_robot(l.w, &d, &error) < 0) fail_msg("%s", error.text);
    if (delta) {
        join(l.w, d.model, "tip_0", "tip_1");
        join(l.w, d.model, "tip_0", "tip_2");
        if (redundant) join(l.w, d.model, "tip_1", "tip_2");
    } else join(l.w, d.model, "tip_a", "tip_b");
    assert_true(mor_world_assemble(l.w) < 1e-11);
    if (!model) mor_robot_destroy(d.model);
    test_method(l.w, "formulation", formulation);
    test_method(l.w, "solver", strcmp(formulation, "gauss") == 0 ? "qp-active-set" : "auto");
    test_option(l.w, "stabilisation", "position", "1e-11");
    test_option(l.w, "stabilisation", "velocity", "1e-10");
    return l;
}

static double total_force(const mor_world* w)
{
    int n;
    const mor_contact* c = mor_world_contacts(w, &n);
    double f = 0.0;
    for (int i = 0; i < n; i++) f += c[i].impulse.z / mor_world_get_step(w) * (c[i].body[0] == 0 ? 1.0 : -1.0);
    return f;
}

static void stand_and_hop(bool delta, bool redundant, const char* formulation)
{
    mor_error error;
    leg l = make(delta, redundant, formulation, NULL, NULL);
    mor_world_on_user(l.w, hold, &l);
    double worst = 0.0, force = 0.0, highest = 0.0, s[16];
    int airborne = 0, landed = 0;
    for (int k = 0; k < 2500; k++) {
        mor_step_report r;
        l.kick = k >= 1500 && k < 1530 ? 0.1 : 0.0;
        if (mor_world_step(l.w, &r, &error) != MOR_OK || r.status != MOR_SOLVED)
            fail_msg("step %d: %s (%g m/s)", k, r.detail, r.velocity_error);
        worst = fmax(worst, mor_world_joint_error(l.w));
        if (k == 1499) force = total_force(l.w);
        mor_world_robot_state(l.w, 0, NULL, s, NULL);
        if (k > 1500) {
            highest = fmax(highest, s[0]);
            airborne += total_force(l.w) == 0.0;
            landed += airborne > 0 && total_force(l.w) > 0.0;
        }
    }
    printf("  %-8s %-6s closure %.2g m, force at rest/weight - 1 = %.2g, in the air for %d steps, up to %.3f m, on the "
           "ground again for %d\n",
           delta ? redundant ? "delta+1" : "delta" : "five-bar", formulation, worst, force / l.weight - 1.0, airborne,
           highest, landed);
    assert_true(worst < 1e-9);
    assert_true(fabs(force / l.weight - 1.0) < 1e-6);
    assert_true(airborne > 20 && landed > 100);
    mor_world_destroy(l.w);
}

static void a_five_bar_leg_stands_and_hops(void** state)
{
    (void)state;
    stand_and_hop(false, false, "ncp");
    stand_and_hop(false, false, "gauss");
}

static void a_delta_leg_stands_and_hops_also_with_a_loop_too_many(void** state)
{
    (void)state;
    stand_and_hop(true, false, "ncp");
    stand_and_hop(true, false, "gauss");
    stand_and_hop(true, true, "ncp");
    stand_and_hop(true, true, "gauss");
}

/* gauss tells how many equations of the loops depend on the others. */
static mor_report watch(void* user, const mor_system* system, mor_solve_stage* stage, mor_answer* answer)
{
    const mor_formulation* f = mor_library_formulation(NULL, "gauss");
    char options[256] = { 0 };
    assert_true(f->options_size <= sizeof options);
    mor_fields_default(f->fields, options);
    mor_error error;
    assert_int_equal(mor_fields_set(f->fields, options, "direct", "false", &error), MOR_OK);
    mor_report r = f->step(system, options, stage, answer);
    snprintf(user, 160, "%s", r.detail);
    return r;
}

static void dependent_loops_are_told(void** state)
{
    (void)state;
    mor_error error;
    leg l = make(true, true, "gauss", NULL, NULL);
    char told[160] = "";
    mor_world_on_solve(l.w, watch, told);
    mor_step_report r;
    assert_int_equal(mor_world_step(l.w, &r, &error), MOR_OK);
    assert_int_equal(r.status, MOR_SOLVED);
    printf("  %s\n", told);
    assert_string_equal(told, "3 of 9 loop equations depend on the others");
    mor_world_destroy(l.w);
}

/* ------------------------------------------------------------------------- another library */

/* M = sum J'IJ over the links and h by differences of momentum: nothing of the recursions but poses and Jacobians. */
typedef struct other {
    const mor_robot_model* model;
    mor_robot_work* work;
    int calls;
    double heavier;
} other;

static void other_update(void* self, const mor_pose* base, const double* s, const double* nu)
{
    other* o = self;
    o->calls++;
    mor_robot_update(o->model, o->work, base, s, nu);
}

static void other_jacobian(void* self, int link, double* J)
{
    other* o = self;
    int N = mor_robot_dof(o->model);
    const mor_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    mor_pose p = mor_robot_link_pose(o->model, o->work, link);
    for (int k = 0; k < 3; k++) {
        double a[32];
        mor_robot_point_row(o->model, o->work, link, p.position, axes[k], J + k * N);
        /* angular: velocity of two points one apart: w . e_k from e_i x e_j */
        mor_vec3 x = mor_add(p.position, axes[(k + 1) % 3]);
        mor_robot_point_row(o->model, o->work, link, x, axes[(k + 2) % 3], a);
        mor_robot_point_row(o->model, o->work, link, p.position, axes[(k + 2) % 3], J + (3 + k) * N);
        for (int d = 0; d < N; d++) J[(3 + k) * N + d] = a[d] - J[(3 + k) * N + d];
    }
}

static void other_mass(void* self, double* M)
{
    other* o = self;
    int N = mor_robot_dof(o->model);
    memset(M, 0, (size_t)(N * N) * sizeof *M);
    double J[6 * 32];
    for (int i = 1; i < mor_robot_link_count(o->model); i++) {
        const mor_mass* m = &mor_robot_link(o->model, i)->mass;
        mor_pose p = mor_robot_link_pose(o->model, o->work, i);
        mor_vec3 c = mor_rotate(p.rotation, m->com);
        mor_mat3 R = mor_quat_matrix(p.rotation), I = mor_mat3_rotate(&R, &m->inertia);
        other_jacobian(self, i, J);
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                mor_vec3 wa = mor_v3(J[3 * N + a], J[4 * N + a], J[5 * N + a]),
                         wb = mor_v3(J[3 * N + b], J[4 * N + b], J[5 * N + b]);
                mor_vec3 va = mor_add(mor_v3(J[a], J[N + a], J[2 * N + a]), mor_cross(wa, c)),
                         vb = mor_add(mor_v3(J[b], J[N + b], J[2 * N + b]), mor_cross(wb, c));
                M[a * N + b] += o->heavier * (m->mass * mor_dot(va, vb) + mor_dot(wa, mor_mul(&I, wb)));
            }
    }
}

static void other_bias(void* self, mor_vec3 gravity, double* h)
{
    other* o = self;
    mor_robot_inverse_dynamics(o->model, o->work, gravity, NULL, NULL, h);
    for (int k = 0; k < mor_robot_dof(o->model); k++) h[k] *= o->heavier;
}

static void other_pose(void* self, int link, mor_pose* pose)
{
    other* o = self;
    *pose = mor_robot_link_pose(o->model, o->work, link);
}

static void other_link_bias(void* self, int link, double bias[6])
{
    other* o = self;
    int frame = mor_robot_find_frame(o->model, mor_robot_link(o->model, link)->name);
    assert_true(frame >= 0); /* the link that touches is one */
    mor_robot_frame_bias(o->model, o->work, frame, bias);
}

static void dynamics_of_another_library_give_the_same_motion(void** state)
{
    (void)state;
    mor_error error;
    static const char* const formulations[] = { "ncp", "gauss" };
    for (int k = 0; k < 2; k++) {
        double z[3];
        for (int which = 0; which < 3; which++) { /* built in, the table, the table with other masses */
            mor_robot_model* m = walker_five_bar();
            other o = { m, mor_robot_work_create(m), 0, which == 2 ? 2.0 : 1.0 };
            mor_dynamics table = { "sums",     &o,         other_update,   other_mass,
                                   other_bias, other_pose, other_jacobian, other_link_bias };
            leg l = make(false, false, formulations[k], which ? &table : NULL, m);
            mor_world_on_user(l.w, hold, &l);
            for (int i = 0; i < 300; i++) {
                mor_step_report r;
                if (mor_world_step(l.w, &r, &error) != MOR_OK || r.status != MOR_SOLVED) fail_msg("%s", r.detail);
            }
            double s[16];
            mor_world_robot_state(l.w, 0, NULL, s, NULL);
            z[which] = s[0];
            assert_true(which == 0 || o.calls > 300);
            mor_world_destroy(l.w);
            mor_robot_work_destroy(o.work);
            mor_robot_destroy(m);
        }
        printf("  %-6s hip after 0.3 s: own %.12f, table %.12f, table with twice the mass %.6f\n", formulations[k],
               z[0], z[1], z[2]);
        assert_true(fabs(z[0] - z[1]) < 1e-9);
        assert_true(fabs(z[0] - z[2]) > 1e-4);
    }
}

static void a_table_with_a_hole_is_refused(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_world_def wd = mor_world_def_default();
    mor_world* w = mor_world_create(&wd, &error);
    mor_robot_def d = mor_robot_def_default();
    mor_dynamics table = { .name = "half", .update = other_update, .mass = other_mass };
    d.model = walker_five_bar();
    d.dynamics = &table;
    assert_int_equal(mor_world_add_robot(w, &d, &error), -1);
    assert_non_null(strstr(error.text, "empty entry"));
    mor_robot_destroy(d.model);
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_five_bar_leg_stands_and_hops),
        cmocka_unit_test(a_delta_leg_stands_and_hops_also_with_a_loop_too_many),
        cmocka_unit_test(dependent_loops_are_told),
        cmocka_unit_test(dynamics_of_another_library_give_the_same_motion),
        cmocka_unit_test(a_table_with_a_hole_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
