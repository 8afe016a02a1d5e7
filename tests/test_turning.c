/* Rolling and drilling friction of contacts, against closed forms. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double g = 9.81;
static mor_scene* scene; /* of the world at hand */

static void end(mor_world* w)
{
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A ball of radius 0.1 m on the floor. c: rolling, d: drilling friction [m]. */
static mor_world* ball(const char* method, double c, double d, const char* state, mor_body_id* id)
{
    char text[1200];
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.001 }\nmethod: { %s }\n"
             "materials: { felt: { friction: 0.5, rolling: %.17g, drilling: %.17g } }\nbodies:\n"
             "  - { name: ball, shape: { sphere: 0.1 }, mass: 0.7, material: felt, position: [0, 0, 0.1], %s }\n"
             "  - { name: floor, shape: plane, fixed: true }\n",
             method, c, d, state);
    mor_world* w = test_scene_text(text, &scene);
    *id = mor_world_find_body(w, "ball");
    return w;
}

static const char* const methods[] = { "formulation: ncp",
                                       "formulation: ncp, solver: nsgs",
                                       "formulation: ncp, solver: nsn-tree",
                                       "formulation: ncp, solver: prox-ncp",
                                       "formulation: mncp",
                                       "formulation: st, friction_directions: 4",
                                       "formulation: st, solver: lemke, friction_directions: 4",
                                       "formulation: st, solver: nsn-tree, friction_directions: 8",
                                       "formulation: ap" };
enum { METHODS = sizeof methods / sizeof *methods };

/* Rolling without slip: the moment c m g slows the ball down by a = c g/(R (1 + 2/5)). */
static void a_rolling_ball_slows_down_and_stops_where_the_closed_form_says(void** state)
{
    (void)state;
    const double R = 0.1, c = 0.004, v0 = 0.2, a = c * g / (1.4 * R), stop = v0 / a, way = 0.5 * v0 * v0 / a;
    for (int i = 0; i < METHODS; i++) {
        mor_body_id id;
        mor_world* w = ball(methods[i], c, 0.0, "velocity: [0.2, 0, 0], angular_velocity: [0, 2, 0]", &id);
        test_until(w, 0.4);
        test_near(test_state(w, id).velocity.x, v0 - 0.4 * a, 1e-7, methods[i]);
        test_until(w, stop + 0.2);
        mor_body_state s = test_state(w, id);
        test_near(s.velocity.x, 0.0, 1e-7, "it stands");
        test_near(s.com.x, way, 1.1e-3 * v0, methods[i]); /* first order: h v0 */
        end(w);
    }
}

/* On a slope it begins to roll where tan(alpha) > c/R, and then a = g (sin - c/R cos)/1.4. */
static void a_ball_rests_on_a_slope_up_to_the_rolling_angle(void** state)
{
    (void)state;
    for (int i = 0; i < METHODS; i++)
        for (int k = 0; k < 2; k++) {
            mor_body_id id;
            mor_world* w = ball(methods[i], 0.005, 0.0, "velocity: [0, 0, 0]", &id);
            double alpha = k ? atan(0.06) : atan(0.049);
            mor_world_set_gravity(w, mor_v3(g * sin(alpha), 0, -g * cos(alpha)));
            test_until(w, 0.5);
            double expected = k ? 0.5 * g * (sin(alpha) - 0.05 * cos(alpha)) / 1.4 : 0.0;
            test_near(test_state(w, id).velocity.x, expected, 1e-7, methods[i]);
            end(w);
        }
}

/* The moment d m g slows the spin about the normal by d g/(2/5 R^2); sliding and rolling are not touched by it. */
static void a_spinning_ball_slows_down_and_stops_by_drilling_friction(void** state)
{
    (void)state;
    const double R = 0.1, d = 0.002, w0 = 3.0, slow = d * g / (0.4 * R * R);
    for (int i = 0; i < METHODS; i++) {
        mor_body_id id;
        mor_world* w = ball(methods[i], 0.0, d, "angular_velocity: [0, 1, 3], velocity: [0.1, 0, 0]", &id);
        test_until(w, 0.3);
        test_near(test_state(w, id).angular_velocity.z, w0 - 0.3 * slow, 1e-6, methods[i]);
        test_near(test_state(w, id).velocity.x, 0.1, 1e-6, "it rolls on");
        test_until(w, 1.0);
        test_near(test_state(w, id).angular_velocity.z, 0.0, 1e-6, methods[i]);
        end(w);
    }
}

/* In the plane: a disc, I = m R^2/2, a = c g/(1.5 R). */
static void a_disc_in_the_plane_rolls_to_rest(void** state)
{
    (void)state;
    static const char* const flat[] = { "ncp", "mncp", "st", "ap" };
    for (int i = 0; i < 4; i++) {
        char text[800];
        snprintf(
            text, sizeof text,
            "moreau: 1\ndimension: 2\ntime: { step: 0.001 }\nmethod: { formulation: %s }\n"
            "materials: { felt: { friction: 0.5, rolling: 0.003 } }\nbodies:\n"
            "  - { name: disc, shape: { disc: 0.2 }, mass: 2, material: felt, position: [0, 0.2], velocity: [1, 0], "
            "angular_velocity: -5 }\n"
            "  - { name: floor, shape: { chain: [[-5, 0], [20, 0]] }, fixed: true }\n",
            flat[i]);
        mor_world* w = test_scene_text(text, &scene);
        test_until(w, 2.0);
        test_near(test_state(w, mor_world_find_body(w, "disc")).velocity.x, 1.0 - 2.0 * 0.003 * g / 0.3, 1e-7, flat[i]);
        end(w);
    }
}

/* Bodies of all sizes in one island with contacts of three kinds, the same answer by every solver that takes them. */
static void solvers_agree_on_a_mixed_pile(void** state)
{
    (void)state;
    static const char* const solvers[] = { "auto", "nsgs", "nsn-tree", "prox-ncp", "extragradient" };
    mor_vec3 first[4];
    for (int i = 0; i < 5; i++) {
        char text[1500];
        snprintf(text, sizeof text,
                 "moreau: 1\ntime: { step: 0.002 }\nmethod: { solver: { name: %s, tol: 1e-11 } }\n"
                 "materials: { felt: { friction: 0.5, rolling: 0.001, drilling: 0.002 } }\nbodies:\n"
                 "  - { name: plate, shape: { box: [1, 1, 0.1] }, mass: 5, position: [0, 0, 0.05], velocity: [0.5, 0, "
                 "0] }\n"
                 "  - { name: a, shape: { sphere: 0.1 }, mass: 1, material: felt, position: [0.2, 0, 0.2], "
                 "angular_velocity: [0, 3, 9] }\n"
                 "  - { name: b, shape: { sphere: 0.01 }, mass: 0.01, material: felt, position: [-0.2, 0.1, 0.11] }\n"
                 "  - { name: c, shape: { box: [0.1, 0.2, 0.1] }, position: [-0.2, -0.3, 0.15] }\n"
                 "  - { name: floor, shape: plane, fixed: true, friction: 0 }\n",
                 solvers[i]);
        mor_world* w = test_scene_text(text, &scene);
        test_until(w, 0.1);
        for (int b = 0; b < 4; b++) {
            mor_vec3 v = test_state(w, mor_world_body(w, b)).velocity;
            if (i == 0) first[b] = v;
            /* the four impulses under the sliding box are not unique, so its turning is not quite */
            test_near(mor_norm(mor_sub(v, first[b])), 0.0, 1e-5, solvers[i]);
        }
        end(w);
    }
}

static void what_a_formulation_cannot_do_is_refused(void** state)
{
    (void)state;
    static const char* const others[] = { "penalty", "gauss", "convex", "implicit" };
    for (int i = 0; i < 4; i++) {
        mor_body_id id;
        mor_error error = { 0 };
        mor_world* w = ball("formulation: ncp", 0.0, 0.001, "velocity: [0, 0, 0]", &id);
        assert_int_equal(mor_world_set_method(w, "formulation", others[i], &error), MOR_OK);
        assert_int_equal(mor_world_step(w, NULL, &error), MOR_BAD_INPUT);
        assert_non_null(strstr(error.text, "drilling friction"));
        end(w);
    }
    mor_world* w = test_world(0.01);
    mor_error error = { 0 };
    assert_int_equal(mor_world_set_pair_turning(w, 0, 0, -1.0, 0.0, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_pair_turning(w, 0, 0, 0.0, INFINITY, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_pair_turning(w, 0, 7, 0.0, 0.0, &error), MOR_BAD_INPUT);
    assert_int_equal(mor_world_set_pair_turning(w, 0, 0, 0.1, 0.0, NULL), MOR_OK);
    mor_world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rolling_ball_slows_down_and_stops_where_the_closed_form_says),
        cmocka_unit_test(a_ball_rests_on_a_slope_up_to_the_rolling_angle),
        cmocka_unit_test(a_spinning_ball_slows_down_and_stops_by_drilling_friction),
        cmocka_unit_test(a_disc_in_the_plane_rolls_to_rest),
        cmocka_unit_test(solvers_agree_on_a_mixed_pile),
        cmocka_unit_test(what_a_formulation_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
