/* Trees in minimal coordinates that touch nothing keep momentum and energy, and stay where a finer integrator of the
 * project puts them. References: conservation laws; the regular precession of a gyroscope; integrator gauss6. */
#include "common/random_robot.h"
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

static mor_world* free_world(double h, double gravity)
{
    mor_world* w = test_world(h);
    mor_world_set_gravity(w, mor_v3(0, 0, -gravity));
    return w;
}

static int add(mor_world* w, mor_robot_model* model, const double* s, const double* nu)
{
    mor_error error = { 0 };
    mor_robot_def d = mor_robot_def_default();
    snprintf(d.name, sizeof d.name, "tree");
    d.model = model;
    d.s = s;
    d.nu = nu;
    d.collide = d.limits = d.damping = d.friction = d.mimic = false;
    d.pose.position = mor_v3(0.3, -0.2, 0.7);
    int robot = mor_world_add_robot(w, &d, &error);
    if (robot < 0) fail_msg("%s", error.text);
    return robot;
}

typedef struct record {
    double energy, gain;    /* over the largest kinetic energy: drift at the end, largest gain in a step */
    double linear, angular; /* change of momentum over its size; angular about the centre of mass */
    double fall;            /* of the centre of mass from its parabola, m */
} record;

static void measure(const mor_world* w, double P[6], mor_vec3* com)
{
    double mass = 0.0;
    *com = mor_v3(0, 0, 0);
    mor_world_momentum(w, P);
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        double m = mor_body_mass(w, id).mass;
        *com = mor_madd(*com, m, mor_body_get_state(w, id).com);
        mass += m;
    }
    *com = mor_scale(1.0 / mass, *com);
    mor_vec3 L = mor_sub(mor_v3(P[3], P[4], P[5]), mor_cross(*com, mor_v3(P[0], P[1], P[2])));
    P[3] = L.x, P[4] = L.y, P[5] = L.z;
}

static double total_mass(const mor_world* w)
{
    double mass = 0.0;
    for (int i = 0; i < mor_world_body_count(w); i++) mass += mor_body_mass(w, mor_world_body(w, i)).mass;
    return mass;
}

static record tumble(mor_world* w, double time, double gravity, bool floating)
{
    record r = { 0 };
    double first[6], last[6], kinetic = mor_world_kinetic_energy(w), h = mor_world_get_step(w), mass = total_mass(w);
    mor_vec3 from, to;
    measure(w, first, &from);
    double start = kinetic + mor_world_potential_energy(w), before = start;
    int steps = (int)(time / h + 0.5);
    for (int i = 0; i < steps; i++) {
        mor_step_report report = test_steps(w, 1);
        double now = report.kinetic + report.potential;
        kinetic = fmax(kinetic, report.kinetic);
        r.gain = fmax(r.gain, now - before);
        before = now;
    }
    /* the velocity of a falling body is that of the end of the step in which it moves with it */
    if (floating) before += 0.5 * mass * gravity * gravity * h * h * steps;
    r.energy = (before - start) / kinetic;
    r.gain /= kinetic;
    if (!floating) return r;
    measure(w, last, &to);
    mor_vec3 p = mor_v3(first[0], first[1], first[2]), g = mor_v3(0, 0, -gravity);
    double t = steps * h;
    mor_vec3 fell = mor_madd(mor_madd(from, t / mass, p), 0.5 * t * (t + h), g);
    r.fall = mor_norm(mor_sub(fell, to));
    last[2] += mass * gravity * t;
    double size[2] = { sqrt(2.0 * mass * kinetic), mor_norm(mor_v3(first[3], first[4], first[5])) };
    for (int k = 0; k < 3; k++) {
        r.linear = fmax(r.linear, fabs(last[k] - first[k]) / size[0]);
        r.angular = fmax(r.angular, fabs(last[k + 3] - first[k + 3]) / size[1]);
    }
    return r;
}

static void random_trees_keep_momentum_and_energy(void** state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        mor_rng rng = { (uint64_t)(1000 + 17 * i) };
        bool floating = i % 4 != 3;
        mor_robot_model* m = random_robot(&rng, 2 + i % 9, floating);
        double s[MOST] = { 0 }, nu[MOST] = { 0 }, gravity = i % 3 == 0 ? 9.81 : 0.0, h = i % 2 ? 1e-3 : 4e-3;
        for (int k = 0; k < mor_robot_dof(m); k++) nu[k] = random_number(&rng, 6.0);
        mor_world* w = free_world(h, gravity);
        add(w, m, s, nu);
        record r = tumble(w, 1.0, gravity, floating);
        test_near(r.gain, 0.0, 1e-9, "gain in a step");
        test_near(r.energy, 0.0, 1e-9, "energy");
        test_near(r.linear, 0.0, 1e-11, "momentum");
        test_near(r.angular, 0.0, 1e-10, "angular momentum");
        test_near(r.fall, 0.0, 1e-9, "fall");
        mor_world_destroy(w);
        mor_robot_destroy(m);
    }
}

/* Outer and inner gimbal and a rotor: axes x, y, z through one point. `rings` holds the principal inertias of a ring,
 * `rotor` the inertia about the axis, `flat` the ratio of the other two to it. */
static mor_robot_model* gimbals(mor_vec3 rings, double rotor, double flat)
{
    mor_link_def l[4];
    for (int i = 0; i < 4; i++) {
        l[i] = mor_link_def_default();
        l[i].parent = i - 1;
        l[i].joint = i - 1;
        l[i].mass.mass = 1.0;
        l[i].axis = mor_v3(i == 1, i == 2, i == 3);
        l[i].mass.inertia =
            i < 3 ? mor_mat3_diag(rings.x, rings.y, rings.z) : mor_mat3_diag(flat * rotor, flat * rotor, rotor);
        snprintf(l[i].name, sizeof l[i].name, "ring%d", i);
        snprintf(l[i].joint_name, sizeof l[i].joint_name, "axis%d", i);
    }
    mor_error error = { 0 };
    mor_robot_model* m = mor_robot_create(l, 4, NULL, 0, false, &error);
    if (!m) fail_msg("%s", error.text);
    return m;
}

static void a_gyroscope_in_gimbals_is_stable_at_any_spin(void** state)
{
    (void)state;
    const double spins[] = { 30, 300, 1000, 2500 }, steps[] = { 1e-3, 2e-4, 2e-4, 2e-4 };
    for (int i = 0; i < 4; i++) {
        mor_robot_model* m = gimbals(mor_v3(0.002, 0.002, 0.002), 0.01, 0.6);
        double s[3] = { 0.1, 0.3, 0 }, nu[3] = { 1.0, -0.5, spins[i] };
        mor_world* w = free_world(steps[i], 0.0);
        int robot = add(w, m, s, nu);
        record r = tumble(w, 2.0, 0.0, false);
        double end[3];
        mor_world_robot_state(w, robot, NULL, NULL, end);
        test_near(r.gain, 0.0, 1e-9, "gain in a step");
        test_near(r.energy, 0.0, 1e-6, "energy");
        test_near(end[2], spins[i], 1.5, "spin");
        test_near(hypot(end[0], end[1]), hypot(1.0, 0.5), 0.8, "nutation"); /* it does not grow */
        mor_world_destroy(w);
        mor_robot_destroy(m);
    }
}

static double about_own_axis(const mor_world* w)
{
    mor_body_state rotor = test_state(w, mor_world_body(w, mor_world_body_count(w) - 1));
    return mor_dot(rotor.angular_velocity, mor_rotate(rotor.pose.rotation, mor_v3(0, 0, 1)));
}

/* Any rings, rotor, pose and speeds; the spin turns 0.005 to 1.5 rad in a step. What the motion keeps: the energy; the
 * angular momentum about the fixed axis x of the outer ring; the rotor's about its own axis, as it is symmetric. */
static void gyroscopes_drawn_at_random_keep_what_they_should(void** state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        mor_rng rng = { (uint64_t)(9000 + 31 * i) };
        double C = 1e-3 * exp(random_number(&rng, 2.3)), flat = 0.8 + random_number(&rng, 0.25);
        double a = 0.2 * C * exp(random_number(&rng, 1.0));
        mor_vec3 rings = mor_v3(a, a * (1.3 + random_number(&rng, 0.3)), a * (1.3 + random_number(&rng, 0.3)));
        double spin = 150 * exp(random_number(&rng, 2.7)), turn = 0.09 * exp(random_number(&rng, 2.8)), h = turn / spin;
        double s[3] = { random_number(&rng, 3.0), random_number(&rng, 1.0), 0 };
        double nu[3] = { random_number(&rng, 0.05 * spin), random_number(&rng, 0.05 * spin), spin };
        mor_robot_model* m = gimbals(rings, C, flat);
        mor_world* w = free_world(h, 0.0);
        int robot = add(w, m, s, nu);
        double first[6], last[6], end[3], size = sqrt(2.0 * C * mor_world_kinetic_energy(w)), own = about_own_axis(w);
        mor_vec3 com;
        measure(w, first, &com);
        record r = tumble(w, (getenv("MOREAU_LONG") ? 40000 : 2000) * h, 0.0, false);
        measure(w, last, &com);
        mor_world_robot_state(w, robot, NULL, NULL, end);
        test_near(r.gain, 0.0, 1e-9, "gain in a step");
        test_near(r.energy, 0.0, 1e-9, "energy");
        test_near((last[3] - first[3]) / size, 0.0, 1e-2 * turn * turn, "angular momentum about the fixed axis");
        test_near(about_own_axis(w) / own, 1.0, 1e-2 * turn * turn, "speed of the rotor about its axis");
        assert_true(hypot(end[0], end[1]) < 0.1 * spin); /* below 0.071 at the start: the nutation does not grow */
        mor_world_destroy(w);
        mor_robot_destroy(m);
    }
}

static void a_humanoid_tumbles_for_ten_seconds(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_urdf_options o = mor_urdf_options_default();
    o.floating = true;
    mor_robot_model* m = mor_urdf_read(MOREAU_SOURCE_DIR "/../shared/data/robots/h1/h1.urdf", &o, NULL, 0, &error);
    if (!m) {
        printf("SKIP: %s\n", error.text);
        skip();
    }
    mor_rng rng = { 7 };
    double s[MOST] = { 0 }, nu[MOST] = { 0 };
    for (int k = 0; k < mor_robot_dof(m); k++) nu[k] = random_number(&rng, k < 3 ? 0.5 : 2.0);
    mor_world* w = free_world(1e-3, 0.0);
    add(w, m, s, nu);
    record r = tumble(w, 10.0, 0.0, true);
    test_near(r.energy, 0.0, 1e-6, "energy");
    test_near(r.gain, 0.0, 1e-9, "gain in a step");
    test_near(r.linear, 0.0, 1e-10, "momentum");
    test_near(r.angular, 0.0, 1e-10, "angular momentum");
    mor_world_destroy(w);
    mor_robot_destroy(m);
}

/* Largest difference of the joints from gauss6 with a small step, at time 0.5. */
static double distance(double h, double gravity, uint64_t seed)
{
    double end[2][MOST] = { { 0 } };
    int n = 0;
    for (int reference = 0; reference < 2; reference++) {
        mor_rng rng = { seed };
        mor_robot_model* m = random_robot(&rng, 5, seed % 2);
        double s[MOST] = { 0 }, nu[MOST] = { 0 };
        for (int k = 0; k < mor_robot_dof(m); k++) nu[k] = random_number(&rng, 3.0);
        mor_world* w = free_world(reference ? 2.5e-3 : h, gravity);
        if (reference) test_method(w, "integrator", "gauss6");
        int robot = add(w, m, s, nu);
        test_until(w, 0.5);
        mor_world_robot_state(w, robot, NULL, end[reference], NULL);
        n = mor_robot_joint_count(m);
        mor_world_destroy(w);
        mor_robot_destroy(m);
    }
    double most = 0.0;
    for (int k = 0; k < n; k++) most = fmax(most, fabs(end[0][k] - end[1][k]));
    return most;
}

static void trees_converge_to_the_motion_of_gauss6(void** state)
{
    (void)state;
    for (uint64_t seed = 11; seed < 17; seed++) {
        double gravity = seed % 3 ? 9.81 : 0.0;
        double a = distance(2e-3, gravity, seed), b = distance(1e-3, gravity, seed), c = distance(5e-4, gravity, seed);
        assert_true(b < 0.65 * a && c < 0.65 * b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_keep_momentum_and_energy),
        cmocka_unit_test(a_gyroscope_in_gimbals_is_stable_at_any_spin),
        cmocka_unit_test(gyroscopes_drawn_at_random_keep_what_they_should),
        cmocka_unit_test(a_humanoid_tumbles_for_ten_seconds),
        cmocka_unit_test(trees_converge_to_the_motion_of_gauss6),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
