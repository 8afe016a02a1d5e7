/* Robots on their feet: the default methods against closed forms, and the defects of the original whole-body simulator
 * side by side in the compatibility mode of `gauss`. Expected values are Newton's: weight, mu N, g (sin a - mu cos a).
 * */
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
#include "moreau/control.h"

#define G 9.81

static void fine(mor_code code, const mor_error* error)
{
    if (code != MOR_OK) fail_msg("%s", error->text);
}

/* A plane through the origin with this normal and friction on both sides. */
static mor_world* ground(double h, mor_vec3 normal, double mu, mor_vec3 belt)
{
    mor_error error;
    mor_world_def d = mor_world_def_default();
    d.step = h;
    mor_world* w = mor_world_create(&d, &error);
    mor_material material = mor_material_default();
    material.friction = mu;
    assert_int_equal(mor_world_add_material(w, &material), 1);
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_body_def b = mor_body_def_default();
    b.kind = MOR_FIXED;
    b.material = 1;
    mor_vec3 axis = mor_cross(mor_v3(0, 0, 1), normal);
    double angle = atan2(mor_norm(axis), normal.z);
    b.pose.rotation = mor_quat_exp(mor_scale(mor_norm(axis) > 0 ? angle / mor_norm(axis) : 0.0, axis));
    b.surface_velocity = belt;
    b.shapes = &(mor_body_shape){ plane, mor_pose_identity(), -1 };
    b.shape_count = 1;
    assert_true(mor_world_add_body(w, &b, &error).index1);
    mor_geometry_release(plane);
    return w;
}

static void use(mor_world* w, const char* formulation, const char* solver)
{
    test_method(w, "formulation", formulation);
    test_method(w, "solver", solver);
}

/* The sledge standing on the plane with this normal, its body frame turned with the plane. */
static void add_sledge(mor_world* w, mor_vec3 normal, double height, const double nu[6], double radius)
{
    mor_error error;
    mor_robot_def d = mor_robot_def_default();
    d.model = walker_sledge();
    walker_put_feet(d.model, "left", "right", walker_print, radius);
    snprintf(d.name, sizeof d.name, "sledge");
    mor_vec3 axis = mor_cross(mor_v3(0, 0, 1), normal);
    double angle = atan2(mor_norm(axis), normal.z);
    d.pose.rotation = mor_quat_exp(mor_scale(mor_norm(axis) > 0 ? angle / mor_norm(axis) : 0.0, axis));
    d.pose.position = mor_scale(0.04 + height + radius, normal);
    d.nu = nu;
    d.material = 1;
    if (mor_world_add_robot(w, &d, &error) < 0) fail_msg("%s", error.text);
    for (int s = 0; s < 2; s++)
        assert_int_equal(mor_world_add_foot(w, 0, mor_robot_find_frame(d.model, s ? "right" : "left"), &error), s);
    mor_robot_destroy(d.model);
}

static mor_vec3 total_force(const mor_world* w)
{
    int n;
    const mor_contact* c = mor_world_contacts(w, &n);
    mor_vec3 f = mor_v3(0, 0, 0);
    for (int i = 0; i < n; i++) f = mor_madd(f, 1.0 / mor_world_get_step(w), c[i].impulse);
    return f;
}

static mor_step_report steps(mor_world* w, int n)
{
    mor_step_report r = { 0 };
    mor_error error;
    for (int i = 0; i < n; i++) {
        fine(mor_world_step(w, &r, &error), &error);
        if (r.status != MOR_SOLVED) fail_msg("step %d: %s (%g m/s)", r.step, r.detail, r.velocity_error);
    }
    return r;
}

/* --------------------------------------------------------------------------------------- defects */

static void a_sliding_foot_feels_mu_n_and_carries_the_weight(void** state)
{
    (void)state;
    const double weight = 10 * G, mu = 1.0, nu[6] = { 0.3, 0, 0, 0, 0, 0 };
    static const struct {
        const char *formulation, *compat, *variant, *label;
    } modes[] = { { "ncp", NULL, NULL, "ncp (default)" },
                  { "gauss", NULL, NULL, "gauss (default)" },
                  { "gauss", "true", "continuous", "compat continuous" },
                  { "gauss", "true", "discrete", "compat discrete" } };
    printf("a sledge of weight %.1f N slides at 0.3 m/s with mu = 1, step 1 ms\n", weight);
    mor_vec3 f[4];
    for (int k = 0; k < 4; k++) {
        mor_world* w = ground(1e-3, mor_v3(0, 0, 1), mu, mor_v3(0, 0, 0));
        add_sledge(w, mor_v3(0, 0, 1), 0, nu, 0);
        test_method(w, "formulation", modes[k].formulation);
        if (modes[k].compat) test_option(w, "formulation", "compat", modes[k].compat);
        if (modes[k].variant) test_option(w, "formulation", "variant", modes[k].variant);
        steps(w, 1);
        f[k] = total_force(w);
        printf("  %-18s force (%8.2f, %6.2f, %8.2f) N\n", modes[k].label, f[k].x, f[k].y, f[k].z);
        mor_world_destroy(w);
    }
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(f[k].x + mu * weight) < 1e-6 && fabs(f[k].y) < 1e-6 && fabs(f[k].z - weight) < 1e-6);
    }
    assert_true(fabs(f[2].x) < 1e-6 && fabs(f[2].z - weight) < 1e-6); /* no friction at all */
    assert_true(f[3].z > 5 * weight);                                 /* thrown up */
}

static void an_impact_with_little_friction_keeps_the_tangential_velocity(void** state)
{
    (void)state;
    const double mu = 0.1, nu[6] = { 1, 0, -1, 0, 0, 0 };
    static const char* const laws[] = { "two-phase", "qp", "stick" };
    printf("touch-down at (1, 0, -1) m/s with mu = %.1f: velocity after it\n", mu);
    for (int compat = 0; compat < 2; compat++)
        for (int k = 0; k < 3; k++) {
            mor_world* w = ground(1e-6, mor_v3(0, 0, 1), mu, mor_v3(0, 0, 0)); /* a short step: the impact alone */
            mor_world_set_gravity(w, mor_v3(0, 0, 0));
            add_sledge(w, mor_v3(0, 0, 1), 0.5e-6, nu, 0);
            use(w, "gauss", "qp-active-set");
            if (compat) test_option(w, "formulation", "compat", "true");
            test_option(w, "formulation", "impact", laws[k]);
            if (compat) test_option(w, "formulation", "variant", "continuous");
            steps(w, 3);
            double v[6];
            mor_world_robot_state(w, 0, NULL, NULL, v);
            printf("  %-8s %-10s (%.6f, %.6f, %.6f)\n", compat ? "compat" : "default", laws[k], v[0], v[1], v[2]);
            if (k == 0 && !compat) assert_true(v[0] > 0.85 && v[0] < 0.91 && v[2] > -1e-9);
            if (k == 2) assert_true(fabs(v[0]) < 1e-6 && fabs(v[2]) < 1e-6);
            mor_world_destroy(w);
        }
}

/* Newton: u_n+ = -e u_n-; friction has mu of the whole impulse (1 + e) m |u_n-|. Every law, every QP method; where
 * there is no law it is refused. */
static void an_impact_with_restitution_throws_back_as_newton_says(void** state)
{
    (void)state;
    const double mu = 0.1, e = 0.5, nu[6] = { 1, 0, -1, 0, 0, 0 };
    static const char* const laws[] = { "two-phase", "qp", "stick", "none", "compat" };
    static const char* const solvers[] = { "qp-active-set", "qp-admm", "qp-interior-point" };
    for (int k = 0; k < 5; k++)
        for (int m = 0; m < 3; m++) {
            mor_error error;
            mor_step_report r;
            mor_world* w = ground(1e-6, mor_v3(0, 0, 1), mu, mor_v3(0, 0, 0));
            fine(mor_world_set_pair(w, 1, 1, mu, e, &error), &error);
            mor_world_set_gravity(w, mor_v3(0, 0, 0));
            add_sledge(w, mor_v3(0, 0, 1), 0.5e-6, nu, 0);
            use(w, "gauss", solvers[m]);
            if (k == 4) test_option(w, "formulation", "compat", "true");
            else test_option(w, "formulation", "impact", laws[k]);
            mor_status status = MOR_SOLVED;
            for (int i = 0; i < 3 && status == MOR_SOLVED; i++) {
                mor_code code = mor_world_step(w, &r, &error);
                if (code != MOR_STOPPED) fine(code, &error);
                status = r.status;
            }
            double v[6];
            mor_world_robot_state(w, 0, NULL, NULL, v);
            if (k > 2) {
                assert_int_equal(status, MOR_REFUSED);
                assert_non_null(strstr(r.detail, "restitution 0.5 needs an impact law"));
            } else {
                assert_int_equal(status, MOR_SOLVED);
                /* one QP lifts what it slows down */
                assert_true(fabs(v[2] - (k == 1 ? v[2] : e)) < 1e-9 && v[2] >= e - 1e-9);
                if (k == 0) assert_true(fabs(v[0] - (1 - mu * (1 + e))) < 1e-4);
                if (k == 2) assert_true(fabs(v[0]) < 1e-9);
                assert_true(v[0] * v[0] + v[2] * v[2] <= 2 + 1e-12);
            }
            mor_world_destroy(w);
        }
}

static void wrenches_are_in_the_frame_of_their_own_foot(void** state)
{
    (void)state;
    mor_world* w = ground(1e-3, mor_v3(0, 0, 1), 0.8, mor_v3(0, 0, 0));
    add_sledge(w, mor_v3(0, 0, 1), 0, NULL, 0);
    mor_error error;
    mor_robot_model* m = walker_sledge();
    mor_robot_work* work = mor_robot_work_create(m);
    mor_pose base;
    for (int k = 0; k < 20; k++) { /* pushed forward with 20 N, below the friction */
        mor_body_apply(w, mor_world_robot_link(w, 0, 0), mor_v3(20, 5, 0), mor_v3(0, 0, 0.04));
        fine(mor_world_step(w, NULL, &error), &error);
    }
    mor_world_robot_state(w, 0, &base, NULL, NULL);
    mor_robot_update(m, work, &base, NULL, NULL);
    mor_vec3 force = mor_v3(0, 0, 0), moment = force;
    for (int f = 0; f < 2; f++) {
        mor_foot_state s = mor_world_foot(w, 0, f);
        double original[6];
        mor_world_foot_original(w, 0, f, original);
        assert_true(s.contact);
        const char* name = mor_robot_frame(m, s.frame)->name;
        assert_string_equal(name, f ? "right" : "left");
        double H[16];
        mor_robot_frame_matrix(m, work, s.frame, H);
        mor_mat3 R = { { { H[0], H[1], H[2] }, { H[4], H[5], H[6] }, { H[8], H[9], H[10] } } };
        mor_vec3 F = mor_mul(&R, mor_v3(s.wrench[0], s.wrench[1], s.wrench[2])),
                 M = mor_mul(&R, mor_v3(s.wrench[3], s.wrench[4], s.wrench[5]));
        force = mor_add(force, F);
        moment = mor_add(moment, mor_add(M, mor_cross(mor_v3(H[3], H[7], H[11]), F)));
        mor_vec3 cop = mor_sub(mor_v3(s.cop[0], s.cop[1], s.cop[2]), mor_v3(H[3], H[7], H[11])); /* under the foot */
        cop = mor_v3(H[0] * cop.x + H[4] * cop.y, H[1] * cop.x + H[5] * cop.y, 0);
        assert_true(fabs(cop.x - 0.02) < 0.0801 && fabs(cop.y) < 0.0401);
        printf("  %-5s wrench (%.2f %.2f %.2f | %.3f %.3f %.3f), as the original tells it (%.2f %.2f %.2f | %.3f %.3f "
               "%.3f)\n",
               name, s.wrench[0], s.wrench[1], s.wrench[2], s.wrench[3], s.wrench[4], s.wrench[5], original[0],
               original[1], original[2], original[3], original[4], original[5]);
        if (f) assert_true(fabs(original[1] - s.wrench[1]) > 0.5);
        assert_true(fabs(original[3] + s.wrench[3]) < (f ? 10 : 1e-9));
    }
    /* equilibrium: ground + weight + push = 0, about the origin */
    mor_vec3 com = mor_robot_com(m, work), weight = mor_v3(0, 0, -10 * G), push = mor_v3(20, 5, 0);
    mor_vec3 sum = mor_add(force, mor_add(weight, push));
    mor_vec3 turn = mor_add(moment, mor_add(mor_cross(com, weight), mor_cross(mor_v3(0, 0, 0.04), push)));
    assert_true(mor_norm(sum) < 1e-6 && mor_norm(turn) < 1e-6);
    mor_robot_work_destroy(work);
    mor_robot_destroy(m);
    mor_world_destroy(w);
}

static void penetration_is_corrected_and_in_the_original_it_stays(void** state)
{
    (void)state;
    double depth[2], speed = 0;
    for (int compat = 0; compat < 2; compat++) {
        mor_world* w = ground(1e-3, mor_v3(0, 0, 1), 0.5, mor_v3(0, 0, 0));
        add_sledge(w, mor_v3(0, 0, 1), -0.005, NULL, 0);
        use(w, "gauss", "qp-active-set");
        if (compat) test_option(w, "formulation", "compat", "true");
        mor_step_report r = steps(w, 100);
        double v[6];
        mor_world_robot_state(w, 0, NULL, NULL, v);
        if (!compat) speed = fabs(v[2]);
        depth[compat] = r.penetration;
        mor_world_destroy(w);
    }
    printf("  started 5 mm deep, after 0.1 s: default %.2g m, compat %.2g m\n", depth[0], depth[1]);
    assert_true(depth[0] <= 1.1e-6 && depth[1] > 0.0049);
    assert_true(speed < 1e-9); /* moved out, not thrown out */
}

static double sunk(bool compat, int count)
{
    mor_world* w = ground(1e-3, mor_v3(0, 0, 1), 0.5, mor_v3(0, 0, 0));
    mor_error error;
    mor_robot_def d = mor_robot_def_default();
    d.model = walker_biped();
    d.pose.position = mor_v3(0, 0, 2);
    d.s = (double[6]){ 0.5, -0.3, 0.1, -0.4, 0.6, 0.2 };
    d.collide = false;
    snprintf(d.name, sizeof d.name, "biped");
    assert_int_equal(mor_world_add_robot(w, &d, &error), 0);
    mor_robot_destroy(d.model);
    mor_joint_def hold = mor_joint_def_default(); /* the original's fixed frame */
    hold.kind = MOR_JOINT_FIXED;
    hold.body[0] = mor_world_robot_link(w, 0, 0);
    hold.point[0] = hold.point[1] = mor_v3(0, 0, 2);
    assert_int_equal(mor_world_add_joint(w, &hold, &error), 0);
    use(w, "gauss", "qp-active-set");
    if (compat) {
        test_option(w, "formulation", "compat", "true");
        test_method(w, "stabilisation", "none");
    }
    steps(w, count);
    mor_pose base;
    mor_world_robot_state(w, 0, &base, NULL, NULL);
    mor_world_destroy(w);
    return 2.0 - base.position.z;
}

static void a_fixed_frame_does_not_sink_in_a_minute(void** state)
{
    (void)state;
    double ours = sunk(false, 60000), original = sunk(true, 60000);
    printf("  sunk after 60 s: default %.3g m, compat %.3g m\n", ours, original);
    assert_true(fabs(ours) < 1e-9);
    assert_true(original > 1e-5);
}

/* --------------------------------------------------------------------------- slopes and belts */

static void on_a_slope_it_slides_as_newton_says_for_every_azimuth(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "gauss" };
    const double a = 0.5, mu = 0.3, expected = G * (sin(a) - mu * cos(a));
    for (int k = 0; k < 2; k++) {
        double worst = 0.0, sideways = 0.0;
        for (int azimuth = 0; azimuth < 24; azimuth++) {
            double p = 0.1 + azimuth * 0.2617993877991494;
            mor_vec3 n = mor_v3(sin(a) * cos(p), sin(a) * sin(p), cos(a)),
                     down = mor_v3(cos(a) * cos(p), cos(a) * sin(p), -sin(a));
            mor_world* w = ground(1e-3, n, mu, mor_v3(0, 0, 0));
            add_sledge(w, n, 0, NULL, 0);
            test_method(w, "formulation", formulations[k]);
            test_option(w, "solver", "tol", "1e-12");
            double v[6], v0;
            steps(w, 20); /* at 0.06 m/s */
            mor_world_robot_state(w, 0, NULL, NULL, v);
            v0 = mor_dot(mor_v3(v[0], v[1], v[2]), down);
            steps(w, 100);
            mor_world_robot_state(w, 0, NULL, NULL, v);
            double along = mor_dot(mor_v3(v[0], v[1], v[2]), down);
            worst = fmax(worst, fabs((along - v0) / 0.1 - expected) / expected);
            sideways = fmax(sideways, mor_norm(mor_sub(mor_v3(v[0], v[1], v[2]), mor_scale(along, down))));
            mor_world_destroy(w);
        }
        printf("  %-6s acceleration on a slope of %.2f rad, mu %.1f, 24 azimuths: relative error %.2g, sideways %.2g "
               "m/s\n",
               formulations[k], a, mu, worst, sideways);
        assert_true(worst < 1e-6 && sideways < 1e-8);
    }
}

static void below_the_friction_angle_it_does_not_creep(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "gauss" };
    const double mu = 0.5, a = atan(mu) - 0.001;
    for (int k = 0; k < 2; k++) {
        double worst = 0.0;
        for (int azimuth = 0; azimuth < 12; azimuth++) {
            double p = 0.1 + azimuth * 0.5235987755982988;
            mor_vec3 n = mor_v3(sin(a) * cos(p), sin(a) * sin(p), cos(a));
            mor_world* w = ground(1e-3, n, mu, mor_v3(0, 0, 0));
            add_sledge(w, n, 0, NULL, 0);
            test_method(w, "formulation", formulations[k]);
            test_option(w, "solver", "tol", "1e-13");
            mor_pose start, end;
            mor_world_robot_state(w, 0, &start, NULL, NULL);
            steps(w, 1000);
            mor_world_robot_state(w, 0, &end, NULL, NULL);
            worst = fmax(worst, mor_norm(mor_sub(start.position, end.position)));
            mor_world_destroy(w);
        }
        printf("  %-6s moved %.2g m in 1 s at 0.001 rad below the friction angle\n", formulations[k], worst);
        assert_true(worst < 1e-10);
    }
}

static void a_belt_and_a_moving_plate_carry_the_robot(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "gauss" };
    for (int k = 0; k < 2; k++) {
        mor_world* w = ground(1e-3, mor_v3(0, 0, 1), 0.5, mor_v3(-0.2, -0.1, 0));
        add_sledge(w, mor_v3(0, 0, 1), 0, NULL, 0);
        test_method(w, "formulation", formulations[k]);
        double v[6];
        steps(w, 500);
        mor_world_robot_state(w, 0, NULL, NULL, v);
        printf("  %-6s on a belt: (%.12f, %.12f) m/s\n", formulations[k], v[0], v[1]);
        assert_true(fabs(v[0] + 0.2) < 1e-9 && fabs(v[1] + 0.1) < 1e-9);
        mor_world_destroy(w);

        mor_error error;
        mor_world_def d = mor_world_def_default();
        d.step = 1e-3;
        w = mor_world_create(&d, &error);
        mor_material material = mor_material_default();
        assert_int_equal(mor_world_add_material(w, &material), 1);
        mor_geometry* box = test_box(3, 3, 0.2);
        mor_body_def b = mor_body_def_default();
        b.kind = MOR_KINEMATIC;
        b.shapes = &(mor_body_shape){ box, mor_pose_identity(), -1 };
        b.shape_count = 1;
        b.pose.position = mor_v3(0, 0, -0.1);
        b.velocity = mor_v3(0.3, 0, 0.1);
        b.material = 1;
        assert_true(mor_world_add_body(w, &b, &error).index1);
        mor_geometry_release(box);
        add_sledge(w, mor_v3(0, 0, 1), 0, NULL, 0);
        test_method(w, "formulation", formulations[k]);
        steps(w, 500);
        mor_world_robot_state(w, 0, NULL, NULL, v);
        assert_true(fabs(v[0] - 0.3) < 1e-9 && fabs(v[1]) < 1e-9 && fabs(v[2] - 0.1) < 1e-9);
        mor_world_destroy(w);
    }
}

static void round_feet_stand_and_roll(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "gauss" };
    for (int k = 0; k < 2; k++) {
        mor_world* w = ground(1e-3, mor_v3(0, 0, 1), 0.5, mor_v3(0, 0, 0));
        add_sledge(w, mor_v3(0, 0, 1), 0, NULL, 0.03);
        test_method(w, "formulation", formulations[k]);
        mor_pose start, end;
        mor_world_robot_state(w, 0, &start, NULL, NULL);
        steps(w, 200);
        mor_world_robot_state(w, 0, &end, NULL, NULL);
        assert_true(mor_norm(mor_sub(start.position, end.position)) < 1e-9);
        assert_true(fabs(total_force(w).z - 10 * G) < 1e-6);
        mor_world_destroy(w);
    }
}

/* ----------------------------------------------------------------------------------- bad input */

/* `moreau run` of a scene with one thing wrong: exit status 2 and a sentence with the position. */
static void refused(const char* what, const char* method, const char* friction, const char* robot, const char* expected)
{
    char path[] = "/tmp/moreau-wholebody-XXXXXX", command[600], text[2000] = "";
    int fd = mkstemp(path);
    FILE* f = fdopen(fd, "w");
    assert_non_null(f);
    fprintf(f,
            "moreau: 1\nname: bad\ntime: { step: 0.001, end: 0.005 }\nmethod: { %s }\nbodies: [ { name: floor, shape: "
            "plane, fixed: true, friction: %s } ]\n"
            "robots: [ { name: human, urdf: %s/scenes/robots/humanoid.urdf, base: floating, position: [0, 0, 0.9], %s "
            "} ]\n",
            method, friction, MOREAU_SOURCE_DIR, robot);
    fclose(f);
    snprintf(command, sizeof command, "'%s' run %s --quiet 2>&1", MOREAU_COMMAND, path);
    FILE* pipe = popen(command, "r");
    size_t length = fread(text, 1, sizeof text - 1, pipe);
    text[length] = '\0';
    int status = pclose(pipe);
    remove(path);
    int code = status >> 8;
    if (code != (expected ? 2 : 0) || (expected && !strstr(text, expected)))
        fail_msg("%s: exit %d, said: %s", what, code, text);
}

static void bad_feet_and_options_are_told_with_position(void** state)
{
    (void)state;
    const char *gauss = "formulation: { name: gauss }, solver: qp-active-set",
               *feet = "collide: feet, feet: [ { link: l_sole, points: [[0, 0, 0]] } ]";
    refused("a good scene", gauss, "0.5", feet, NULL);
    refused("a link that is not there", gauss, "0.5", "collide: feet, feet: [ { link: l_sol, points: [[0, 0, 0]] } ]",
            "did you mean 'l_sole'?");
    refused("a foot without points", gauss, "0.5", "collide: feet, feet: [ { link: l_sole } ]", "points");
    refused("a point with two numbers", gauss, "0.5", "collide: feet, feet: [ { link: l_sole, points: [[0, 0]] } ]",
            "give 3");
    refused("a negative radius", gauss, "0.5",
            "collide: feet, feet: [ { link: l_sole, radius: -1, points: [[0, 0, 0]] } ]", "negative");
    refused("negative friction", gauss, "-0.5", feet, "friction -0.5 is negative");
    refused("an option's name", "formulation: { name: gauss, varant: discrete }, solver: qp-admm", "0.5", feet,
            "did you mean 'variant'?");
    refused("an option's value", "formulation: { name: gauss, impact: bounce }, solver: qp-admm", "0.5", feet,
            "two-phase");
    refused("a solver that takes no QPs", "formulation: gauss, solver: lemke", "0.5", feet, "qp-active-set");
    refused("a negative number of failures", "formulation: gauss, solver: auto, max_failures: -1", "0.5", feet,
            "out of range");
}

/* A QP method that may not iterate fails in every step: counted, and no more than max_failures in a row are applied. */
static void failures_are_counted_and_bounded(void** state)
{
    (void)state;
    mor_error error;
    mor_world* w = ground(1e-3, mor_v3(0, 0, 1), 0.5, mor_v3(0, 0, 0));
    add_sledge(w, mor_v3(0, 0, 1), 0, (double[6]){ 0.5, 0, 0, 0, 0, 0 }, 0);
    use(w, "gauss", "qp-admm");
    test_option(w, "solver", "max_iter", "1");
    test_option(w, "formulation", "direct", "false");
    test_option(w, "formulation", "impact", "none");
    test_option(w, "method", "on_failure", "warn");
    test_option(w, "method", "max_failures", "3");
    int failed = 0;
    for (int k = 0; k < 10; k++) {
        mor_step_report r;
        assert_int_equal(mor_world_step(w, &r, &error), k < 3 ? MOR_OK : MOR_STOPPED);
        failed += r.status != MOR_SOLVED;
    }
    assert_int_equal(failed, 10);
    assert_int_equal(mor_world_step_count(w), 3);
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sliding_foot_feels_mu_n_and_carries_the_weight),
        cmocka_unit_test(an_impact_with_little_friction_keeps_the_tangential_velocity),
        cmocka_unit_test(an_impact_with_restitution_throws_back_as_newton_says),
        cmocka_unit_test(wrenches_are_in_the_frame_of_their_own_foot),
        cmocka_unit_test(penetration_is_corrected_and_in_the_original_it_stays),
        cmocka_unit_test(a_fixed_frame_does_not_sink_in_a_minute),
        cmocka_unit_test(on_a_slope_it_slides_as_newton_says_for_every_azimuth),
        cmocka_unit_test(below_the_friction_angle_it_does_not_creep),
        cmocka_unit_test(a_belt_and_a_moving_plate_carry_the_robot),
        cmocka_unit_test(round_feet_stand_and_roll),
        cmocka_unit_test(bad_feet_and_options_are_told_with_position),
        cmocka_unit_test(failures_are_counted_and_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
