/* Bodies and joints of a scene in minimal coordinates (method.coordinates: minimal) against the same scene in maximal
 * ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/worlds.h"
#include "moreau/moreau.h"

/* Places of the bodies of a scene at `end`; `rest` follows the method. */
static int places(bool minimal, double h, double end, const char* rest, mor_vec3* x, double* joint_error)
{
    char text[4000];
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: %g, end: 1 }\nmethod: { coordinates: %s, stabilisation: { name: impulse, "
             "position: 1e-11, velocity: 1e-11 } }\n%s",
             h, minimal ? "minimal" : "maximal", rest);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    assert_int_equal(mor_world_robot_count(w) > 0, minimal);
    test_until(w, end);
    int n = mor_world_body_count(w);
    for (int i = 0; i < n; i++) x[i] = mor_body_get_state(w, mor_world_body(w, i)).com;
    *joint_error = mor_world_joint_error(w);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return n;
}

/* Two bodies and a joint of every kind that trees hold, between them and to the world, either way round, turned in
 * space. */
static const char pair[] =
    "bodies:\n"
    "  - { name: a, shape: { box: [0.3, 0.1, 0.2] }, mass: 1.3, collide: false, position: [0.1, 0.2, 0.3], "
    "orientation: { axis: [1, 2, 3], angle: 40 }%s }\n"
    "  - { name: b, shape: { box: [0.1, 0.4, 0.1] }, mass: 0.6, collide: false, position: [0.4, 0.5, 0.2], "
    "orientation: { axis: [2, -1, 1], angle: 70 }%s }\n"
    "joints:\n"
    "  - { name: j, type: %s, bodies: [%s], point: [0.25, 0.3, 0.3], axis: [0.6, 0, 0.8], axis2: [0, 1, 0]%s }\n";

static void every_kind_of_joint_moves_as_in_maximal_coordinates(void** state)
{
    (void)state;
    static const char* const kinds[] = { "revolute", "prismatic", "cylindrical", "universal", "planar" };
    static const char* const bodies[] = { "a, b", "b, a", "a, world", "world, b" };
    for (int k = 0; k < 5; k++)
        for (int b = 0; b < 4; b++) {
            double difference[3] = { 0.0 };
            const double h[3] = { 1e-3, 2.5e-4, 6.25e-5 };
            int steps = 2;
            for (int fine = 0; fine < steps; fine++) {
                char text[2000];
                /* velocities that the joints do not allow: both sides must take them out in the same way */
                snprintf(text, sizeof text, pair, ", velocity: [0.3, 0, 1], angular_velocity: [1, 0, 0.5]",
                         ", angular_velocity: [0, 2, 0]", kinds[k], bodies[b], "");
                mor_vec3 x[2], y[2];
                double error;
                assert_int_equal(places(true, h[fine], 0.3, text, x, &error), 2);
                assert_true(error == 0.0);
                assert_int_equal(places(false, h[fine], 0.3, text, y, &error), 2);
                assert_true(error < 1e-10);
                difference[fine] = fmax(mor_norm(mor_sub(x[0], y[0])), mor_norm(mor_sub(x[1], y[1])));
                /* of little they may cancel each other in the long step: it takes shorter ones to see the order */
                if (fine == 1 && difference[1] > 1e-9 && difference[0] < 1e-5) steps = 3;
            }
            printf("%-11s [%s]: apart by %.2e m at h = 1 ms, %.2e m at 0.25 ms, %.2e m at 0.0625 ms\n", kinds[k],
                   bodies[b], difference[0], difference[1], difference[2]);
            /* first order or better; where little of that is left, terms of second order show beside it */
            assert_true(difference[0] < 5e-3);
            const double* d = difference + steps - 2;
            assert_true(d[1] < (d[0] > 1e-4 ? 0.27 : 0.4) * d[0] + 1e-12);
        }
}

static void springs_motors_limits_and_friction_act_in_both(void** state)
{
    (void)state;
    static const char* const extra[] = { ", spring: { stiffness: 20, rest: 0.1 }, damping: 0.3", ", damping: 0.2",
                                         ", friction: 0.4", ", motor: { velocity: 2, max_torque: 0.5 }",
                                         ", limits: [-0.2, 0.05]" };
    for (int k = 0; k < 5; k++)
        for (int slide = 0; slide < 2; slide++) {
            double difference[2];
            for (int fine = 0; fine < 2; fine++) {
                char text[2000];
                snprintf(text, sizeof text, pair, "", ", velocity: [0.1, 0.2, 0]", slide ? "prismatic" : "revolute",
                         k & 1 ? "a, b" : "world, b", extra[k]);
                mor_vec3 x[2], y[2];
                double error;
                places(true, fine ? 2.5e-4 : 1e-3, 0.3, text, x, &error);
                places(false, fine ? 2.5e-4 : 1e-3, 0.3, text, y, &error);
                difference[fine] = fmax(mor_norm(mor_sub(x[0], y[0])), mor_norm(mor_sub(x[1], y[1])));
            }
            printf("%s%s: apart by %.2e m, %.2e m\n", slide ? "prismatic" : "revolute", extra[k], difference[0],
                   difference[1]);
            assert_true(difference[0] < 5e-3);
            assert_true(difference[1] < 0.5 * difference[0] + 1e-9);
        }
}

static const char chain[] =
    "moreau: 1\ntime: { step: 0.001, end: 10 }\nmethod: { coordinates: minimal, integrator: %s }\nbodies:\n"
    "  - { name: link, collide: false, shape: { box: [0.1, 0.02, 0.02] }, mass: 0.1, position: [0.05, 0, 0],\n"
    "      repeat: { count: %d, step: { position: [0.1, 0, 0] }, joint: { type: revolute, point: [-0.05, 0, 0], axis: "
    "[0, 1, 0], first: world } } }\n";

/* S7: the chain of the contract as bodies, and the same chain as URDF. */
static void a_chain_of_bodies_is_the_robot_of_the_same_links(void** state)
{
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, chain, "semi-implicit", 10);
    mor_scene* scenes[2];
    mor_world* w[2] = { test_scene_text(text, &scenes[0]),
                        test_scene_text("moreau: 1\ntime: { step: 0.001, end: 10 }\nrobots:\n  - { name: chain, urdf: "
                                        "robots/chain10.urdf, base: fixed, collide: none }\n",
                                        &scenes[1]) };
    for (int k = 0; k < 2; k++) test_until(w[k], 0.5);
    assert_int_equal(mor_world_body_count(w[0]), 10);
    assert_int_equal(mor_world_joint_count(w[0]), 0);
    assert_true(mor_world_find_robot(w[0], "link_0") == 0);
    double s[2][10];
    for (int k = 0; k < 2; k++) mor_world_robot_state(w[k], 0, NULL, s[k], NULL);
    for (int i = 0; i < 10; i++) {
        assert_near(fabs(s[0][i]), fabs(s[1][i]), 1e-9);
        char name[16];
        snprintf(name, sizeof name, "link_%d", i);
        mor_vec3 a = mor_body_get_state(w[0], mor_world_find_body(w[0], name)).com,
                 b = mor_body_get_state(w[1], mor_world_body(w[1], i + 1)).com;
        assert_near(mor_norm(mor_sub(a, b)), 0.0, 1e-9);
    }
    for (int k = 0; k < 2; k++) {
        mor_world_destroy(w[k]);
        mor_scene_destroy(scenes[k]);
    }
}

static void a_chain_keeps_its_energy_at_order_six(void** state)
{
    (void)state;
    char text[1000];
    snprintf(text, sizeof text, chain, "gauss6", 10);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    double before = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    test_until(w, 1.0);
    double after = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    assert_near((after - before) / (1.0 * 9.81 * 0.5), 0.0, 1e-9);
    assert_true(mor_world_joint_error(w) == 0.0);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A four-bar linkage: three hinges make the tree, the fourth closes it; a ball joint hangs one more body on it. */
static void loops_and_other_joints_stay_equations(void** state)
{
    (void)state;
    static const char rest[] =
        "bodies:\n"
        "  - { name: ground, shape: { box: [3, 0.2, 0.1] }, fixed: true, position: [0.5, 0, -1] }\n"
        "  - { name: crank, shape: { box: [0.1, 0.1, 0.5] }, mass: 1, collide: false, position: [0, 0, 0.25], "
        "orientation: { axis: [0, 1, 0], angle: 0 } }\n"
        "  - { name: coupler, shape: { box: [1, 0.1, 0.1] }, mass: 2, collide: false, position: [0.5, 0, 0.5] }\n"
        "  - { name: rocker, shape: { box: [0.1, 0.1, 0.5] }, mass: 1, collide: false, position: [1, 0, 0.25], "
        "velocity: [0.5, 0, 0], angular_velocity: [0, 2, 0] }\n"
        "  - { name: bob, shape: { sphere: 0.1 }, mass: 0.5, collide: false, position: [0.5, 0, 0.2] }\n"
        "joints:\n"
        "  - { name: p, type: revolute, bodies: [crank, ground], point: [0, 0, 0], axis: [0, 1, 0] }\n"
        "  - { name: q, type: revolute, bodies: [coupler, crank], point: [0, 0, 0.5], axis: [0, 1, 0] }\n"
        "  - { name: r, type: revolute, bodies: [coupler, rocker], point: [1, 0, 0.5], axis: [0, 1, 0] }\n"
        "  - { name: s, type: revolute, bodies: [rocker, world], point: [1, 0, 0], axis: [0, 1, 0] }\n"
        "  - { name: hang, type: spherical, bodies: [bob, coupler], point: [0.5, 0, 0.5] }\n";
    double difference[2];
    for (int fine = 0; fine < 2; fine++) {
        mor_vec3 x[5], y[5];
        double error;
        assert_int_equal(places(true, fine ? 2.5e-4 : 1e-3, 0.5, rest, x, &error), 5);
        assert_true(error > 0.0 && error < 1e-10); /* there are equations, and they hold */
        assert_int_equal(places(false, fine ? 2.5e-4 : 1e-3, 0.5, rest, y, &error), 5);
        difference[fine] = 0.0;
        for (int i = 0; i < 5; i++) difference[fine] = fmax(difference[fine], mor_norm(mor_sub(x[i], y[i])));
    }
    printf("four-bar with a bob: apart by %.2e m at h = 1 ms, %.2e m at 0.25 ms\n", difference[0], difference[1]);
    assert_true(difference[0] < 5e-3);
    assert_true(difference[1] < 0.35 * difference[0]);
}

/* Links touch other bodies and each other. */
static void links_touch_the_floor(void** state)
{
    (void)state;
    static const char rest[] =
        "bodies:\n"
        "  - { name: floor, shape: plane, fixed: true, friction: 0.5 }\n"
        "  - { name: a, shape: { box: [0.4, 0.1, 0.1] }, mass: 1, position: [0, 0, 0.3], friction: 0.5 }\n"
        "  - { name: b, shape: { box: [0.4, 0.1, 0.1] }, mass: 1, position: [0.41, 0, 0.3], friction: 0.5 }\n"
        "joints:\n"
        "  - { name: hinge, type: revolute, bodies: [b, a], point: [0.205, 0, 0.3], axis: [0, 1, 0] }\n";
    for (int k = 0; k < 2; k++) {
        mor_vec3 x[3];
        double error;
        places(k == 0, 2e-3, 2.0, rest, x, &error);
        assert_near(x[1].z, 0.05, 1e-5); /* both lie flat */
        assert_near(x[2].z, 0.05, 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_joint_moves_as_in_maximal_coordinates),
        cmocka_unit_test(springs_motors_limits_and_friction_act_in_both),
        cmocka_unit_test(a_chain_of_bodies_is_the_robot_of_the_same_links),
        cmocka_unit_test(a_chain_keeps_its_energy_at_order_six),
        cmocka_unit_test(loops_and_other_joints_stay_equations),
        cmocka_unit_test(links_touch_the_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
