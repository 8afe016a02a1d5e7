/* The formulation gauss against the reference of the whole-body simulator's contact problem (DART dynamics, an
 * interior-point solve with certificates): accelerations, sole wrenches and objective of 16 cases of the 23-joint iCub,
 * for every QP method. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/icub23.h"
#include "common/near.h"
#include "io/json/json_read.h"
#include "moreau/control.h"

static const char* const methods[] = { "qp-active-set", "qp-admm", "qp-interior-point" };

static void fine(mor_code code, const mor_error* error)
{
    if (code != MOR_OK) fail_msg("%s", error->text);
}

static void numbers(const mor_json_document* d, const mor_json_value* v, const char* key, int n, double* out)
{
    mor_error error;
    fine(mor_json_numbers_of(d, mor_json_get(v, key), key, n, out, &error), &error);
}

static double member(const mor_json_value* v, const char* key) { return mor_json_get(v, key)->number; }

/* All eight vertices touch, whatever their height, as in the reference. */
static void touch_all(void* user, mor_world* w)
{
    (void)user;
    const mor_robot_model* m = mor_world_robot_model(w, 0);
    static const char* const soles[] = { "l_sole", "r_sole" };
    mor_robot_work* work = mor_robot_work_create(m);
    mor_pose base;
    double s[23], nu[29];
    mor_world_robot_state(w, 0, &base, s, nu);
    mor_robot_update(m, work, &base, s, nu);
    for (int f = 0; f < 2; f++)
        for (int k = 0; k < 4; k++) {
            int frame = mor_robot_find_frame(m, soles[f]);
            mor_pose pose = mor_robot_frame_pose(m, work, frame);
            mor_vec3 x = mor_pose_point(&pose, icub23_print[k]);
            mor_contact c = { .body = { 0, mor_body_index(
                                               w, mor_world_robot_link(w, 0, mor_robot_frame(m, frame)->link)) },
                              .point = { x, x },
                              .normal = { 0, 0, 1 },
                              .feature = (uint64_t)(4 * f + k),
                              .friction = -1,
                              .restitution = -1 };
            mor_world_add_contact(w, &c);
        }
    mor_robot_work_destroy(work);
}

static mor_world* reference_world(const mor_json_document* states, int state, double mu, bool reflected,
                                  const char* solver)
{
    mor_error error;
    mor_world_def wd = mor_world_def_default();
    wd.step = 0.001;
    mor_world* w = mor_world_create(&wd, &error);
    mor_material material = mor_material_default();
    material.friction = mu;
    int number = mor_world_add_material(w, &material);
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_body_def ground = mor_body_def_default();
    ground.kind = MOR_FIXED;
    ground.material = number;
    ground.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    ground.shape_count = 1;
    assert_true(mor_world_add_body(w, &ground, &error).index1);
    mor_geometry_release(plane);

    const mor_json_value* v = mor_json_get(mor_json_root(states), "states")->first;
    for (int i = 0; i < state; i++) v = v->next;
    double all[64], p[3], q[4], s[23], nu[29];
    int n = mor_json_get(mor_json_root(states), "joint_order")->count, k = 0;
    numbers(states, v, "base_pos", 3, p);
    numbers(states, v, "base_quat_wxyz", 4, q);
    numbers(states, v, "base_lin_vel_world", 3, nu);
    numbers(states, v, "base_ang_vel_world", 3, nu + 3);
    const mor_json_value* index = mor_json_get(mor_json_root(states), "wbs23_index_into_joint_order")->first;
    numbers(states, v, "s", n, all);
    for (const mor_json_value* i = index; i; i = i->next) s[k++] = all[(int)i->number];
    numbers(states, v, "s_dot", n, all);
    k = 6;
    for (const mor_json_value* i = index; i; i = i->next) nu[k++] = all[(int)i->number];

    mor_robot_def d = mor_robot_def_default();
    d.model = icub23_model(reflected, false);
    snprintf(d.name, sizeof d.name, "icub");
    d.pose = (mor_pose){ mor_v3(p[0], p[1], p[2]), { q[0], q[1], q[2], q[3] } };
    d.s = s;
    d.nu = nu;
    d.material = number;
    d.damping = d.friction = d.limits = false;
    if (mor_world_add_robot(w, &d, &error) < 0) fail_msg("%s", error.text);
    for (int f = 0; f < 2; f++)
        assert_int_equal(mor_world_add_foot(w, 0, mor_robot_find_frame(d.model, f ? "r_sole" : "l_sole"), &error), f);
    mor_robot_destroy(d.model);
    mor_world_on_collide(w, touch_all, NULL);
    fine(mor_world_set_method(w, "formulation", "gauss", &error), &error);
    fine(mor_world_set_method(w, "solver", solver, &error), &error);
    fine(mor_world_set_option(w, "solver", "tol", "1e-14", &error), &error);
    fine(mor_world_set_option(w, "method", "on_failure", "warn", &error), &error);
    return w;
}

/* The objective f'A f/2 + a'f of the answer, from the system: what Gauss' principle minimised, forces in N. */
static double objective(const mor_world* w, bool discrete)
{
    const mor_system* s = mor_world_system(w, 0);
    int count;
    const mor_contact* contacts = mor_world_contacts(w, &count);
    double change[64] = { 0 }, linear = 0.0, quadratic = 0.0, h = s->h;
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < s->contact_count; c++) {
            const mor_block* b = &s->blocks[s->contacts[c].block];
            mor_vec3 t, o, n = contacts[s->contacts[c].contact].normal,
                           f = mor_scale(1.0 / h, contacts[s->contacts[c].contact].impulse);
            mor_tangents(n, mor_v3(1, 0, 0), &t, &o);
            double x[3] = { mor_dot(f, n), mor_dot(f, t), mor_dot(f, o) };
            for (int d = 0; d < 3; d++) {
                const double *J = s->jacobian + s->entries[b->entry].start + d * s->dof,
                             *Y = s->response + s->entries[b->entry].start + d * s->dof;
                double a = s->contacts[c].acceleration[d];
                for (int k = 0; k < s->dof; k++) {
                    if (!pass) change[k] += Y[k] * x[d];
                    else quadratic += x[d] * J[k] * change[k];
                    a += J[k] * ((s->nu_free[k] - s->nu[k]) / h + (discrete ? s->nu[k] / h : 0.0));
                }
                if (pass) linear += x[d] * a;
            }
        }
    return 0.5 * quadratic + linear;
}

static void the_sixteen_cases_of_the_icub_agree_for_every_qp_method(void** state)
{
    (void)state;
    mor_error error;
    mor_json_document* d = mor_json_read_file(ICUB_ROBOTS "/reference/icub23_contact_qp.json", &error);
    mor_json_document* states = mor_json_read_file(ICUB_ROBOTS "/reference/icub_genova04_floating.json", &error);
    if (!d || !states) {
        printf("SKIP: no reference data\n");
        skip();
    }
    double worst = 0.0;
    int cases = 0;
    for (int m = 0; m < 3; m++) {
        printf("%s\n state   mu  refl disc    |nudot - ref|  |wrench - ref|    |obj - ref|   status\n", methods[m]);
        for (const mor_json_value* c = mor_json_get(mor_json_root(d), "cases")->first; c; c = c->next, cases++) {
            bool discrete = member(c, "discrete") != 0.0, reflected = member(c, "reflected_inertia") != 0.0;
            double expected[29], wrench[2][6], nu0[29], nu1[29], e[3] = { 0 };
            numbers(d, c, "nudot", 29, expected);
            int f = 0;
            for (const mor_json_value* row = mor_json_get(c, "sole_wrench_l_r_in_sole_frame_correct_sign")->first; row;
                 row = row->next, f++)
                fine(mor_json_numbers_of(d, row, "wrench", 6, wrench[f], &error), &error);
            mor_world* w = reference_world(states, (int)member(c, "state"), member(c, "mu"), reflected, methods[m]);
            fine(mor_world_set_option(w, "formulation", "compat", "true", &error), &error);
            fine(mor_world_set_option(w, "formulation", "variant", discrete ? "discrete" : "continuous", &error),
                 &error);
            mor_step_report r;
            mor_world_robot_state(w, 0, NULL, NULL, nu0);
            fine(mor_world_step(w, &r, &error), &error);
            mor_world_robot_state(w, 0, NULL, NULL, nu1);
            for (int k = 0; k < 29; k++)
                e[0] = fmax(e[0], fabs((nu1[k] - nu0[k]) / 0.001 - expected[k]) / fmax(1.0, fabs(expected[k])));
            for (f = 0; f < 2; f++) {
                mor_foot_state foot = mor_world_foot(w, 0, f);
                assert_true(foot.contact);
                for (int k = 0; k < 6; k++)
                    e[1] = fmax(e[1], fabs(foot.wrench[k] - wrench[f][k]) / fmax(1.0, fabs(wrench[f][k])));
            }
            double value = member(c, "objective");
            e[2] = fabs(objective(w, discrete) - value) / fabs(value);
            printf("   %d   %4.1f   %d    %d   %12.2e   %12.2e   %12.2e   %s\n", (int)member(c, "state"),
                   member(c, "mu"), reflected, discrete, e[0], e[1], e[2], mor_status_name(r.status));
            for (int k = 0; k < 3; k++) worst = fmax(worst, e[k]);
            assert_int_equal(r.status, MOR_SOLVED);
            mor_world_destroy(w);
        }
    }
    assert_int_equal(cases, 48);
    printf("largest deviation %.2e\n", worst);
    assert_true(worst < 1e-8);
    mor_json_free(d);
    mor_json_free(states);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sixteen_cases_of_the_icub_agree_for_every_qp_method),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
