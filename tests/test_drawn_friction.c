/* Friction in scenes drawn at random, against closed forms: boxes on belts, balls slowed by rolling friction and by
 * drilling friction, balls at rest on slopes up to the angle of rolling friction. MOREAU_SEED=n: others.
 *
 *   belt       the slip u - v of a box shrinks by mu g h in every step until it is zero
 *   rolling    a ball that rolls without slip loses c g h/(1 + 2/5)/R in every step
 *   drilling   a ball that spins about the normal loses d g h/(2/5 R^2) in every step
 *   slope      a ball stays on a slope of angle a if c >= R tan a */
#include "common/random_scenes.h"

#include <math.h>
#include <stdio.h>

#define G 9.81

static double between(uint64_t* seed, double a, double b) { return test_random(seed, a, b); }

/* The state of body `b` after `steps` steps of a scene, none of which may fail or gain energy it was not given. */
static mor_body_state run(const char* text, int steps, const char* what)
{
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    mor_error error = { 0 };
    for (int n = 0; n < steps; n++) {
        if (mor_world_step(w, NULL, &error)) fail_msg("%s, step %d: %s", what, n + 1, error.text);
    }
    if (!(mor_world_penetration(w) <= 1e-6)) fail_msg("%s: %g m deep", what, mor_world_penetration(w));
    mor_body_state s = test_state(w, mor_world_find_body(w, "b"));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return s;
}

/* Methods with circular cones take any direction of the slip, those with polygons one along a corner. */
static void boxes_on_belts_take_up_their_speed(void** state)
{
    (void)state;
    static const char* const methods[] = { "formulation: ncp",   "formulation: mncp",
                                           "formulation: gauss", "formulation: peg, collision: features",
                                           "formulation: st",    "formulation: ap" };
    uint64_t seed = test_seed(61);
    for (int k = 0; k < 24; k++) {
        const double mu = between(&seed, 0.1, 1.0), h = pow(10, between(&seed, -3, -1.7)), u = between(&seed, 0.2, 3);
        const double size = pow(10, between(&seed, -2, 0)), turn = k % 6 < 4 ? between(&seed, -3, 3) : 0.0;
        const double vx = between(&seed, -1, 1) * cos(turn), vy = between(&seed, -1, 1) * sin(turn);
        const double c = cos(turn), s = sin(turn), v = vx * c + vy * s; /* the slip is along the belt */
        const int steps = 20 + (int)between(&seed, 0, 60);
        char text[1200], what[120];
        snprintf(what, sizeof what, "belt %d (%s, mu %g, h %g, u %g, v %g, size %g)", k, methods[k % 6], mu, h, u, v,
                 size);
        snprintf(
            text, sizeof text,
            "moreau: 1\nname: belt\nmethod: { %s }\ntime: { step: %.17g, end: 1 }\nbodies:\n"
            "  - { name: belt, fixed: true, shape: { box: [400, 400, 1] }, position: [0, 0, -0.5], friction: %.17g, "
            "surface_velocity: [%.17g, %.17g, 0] }\n"
            "  - { name: b, shape: { box: [%.17g, %.17g, %.17g] }, mass: %g, friction: %.17g, position: [0, 0, "
            "%.17g], orientation: { axis: [0, 0, 1], angle: %g }, velocity: [%.17g, %.17g, 0] }\n",
            methods[k % 6], h, mu, u * c, u * s, size, size * 1.2, 0.4 * size, pow(10, between(&seed, -3, 3)), mu,
            0.2 * size, k % 6 < 4 ? between(&seed, 0, 90) : 0.0, v * c, v * s);
        const mor_body_state b = run(text, steps, what);
        const double slip = u - v, left = fmax(0.0, fabs(slip) - mu * G * h * steps);
        const double expected = u - (slip < 0.0 ? -left : left);
        test_near(b.velocity.x, expected * c, 1e-6 * (1 + fabs(u)), what);
        test_near(b.velocity.y, expected * s, 1e-6 * (1 + fabs(u)), what);
    }
}

static void balls_are_slowed_by_rolling_friction(void** state)
{
    (void)state;
    static const char* const methods[] = { "ncp", "mncp" };
    uint64_t seed = test_seed(62);
    for (int k = 0; k < 20; k++) {
        const double R = pow(10, between(&seed, -2, 0.3)), c = R * between(&seed, 0.002, 0.1),
                     h = pow(10, between(&seed, -3, -2));
        const double v = between(&seed, 0.2, 3), turn = between(&seed, -3, 3);
        const int steps = 100;
        char text[800], what[120];
        snprintf(what, sizeof what, "ball %d (%s, R %g, c %g, h %g, v %g)", k, methods[k % 2], R, c, h, v);
        snprintf(text, sizeof text,
                 "moreau: 1\nname: ball\nmethod: { formulation: %s }\ntime: { step: %.17g, end: 1 }\n"
                 "materials: { m: { friction: 0.7, rolling: %.17g } }\nbodies:\n"
                 "  - { name: floor, fixed: true, shape: plane, material: m }\n"
                 "  - { name: b, shape: { sphere: %.17g }, mass: %g, material: m, position: [0, 0, %.17g], velocity: "
                 "[%.17g, %.17g, 0], angular_velocity: [%.17g, %.17g, 0] }\n",
                 methods[k % 2], h, c, R, pow(10, between(&seed, -3, 3)), R, v * cos(turn), v * sin(turn),
                 -v * sin(turn) / R, v * cos(turn) / R);
        const mor_body_state b = run(text, steps, what);
        const double left = fmax(0.0, v - c * G * h * steps / (1.4 * R));
        test_near(b.velocity.x, left * cos(turn), 1e-6 * v, what);
        test_near(b.velocity.y, left * sin(turn), 1e-6 * v, what);
        test_near(b.angular_velocity.y * R, left * cos(turn), 1e-6 * v, what);
    }
}

static void spinning_balls_are_slowed_by_drilling_friction(void** state)
{
    (void)state;
    uint64_t seed = test_seed(63);
    for (int k = 0; k < 20; k++) {
        const double R = pow(10, between(&seed, -2, 0.3)), d = R * between(&seed, 0.002, 0.1),
                     h = pow(10, between(&seed, -3, -2));
        const double spin = between(&seed, 1, 40);
        char text[800], what[120];
        snprintf(what, sizeof what, "spin %d (R %g, d %g, h %g, w %g)", k, R, d, h, spin);
        snprintf(text, sizeof text,
                 "moreau: 1\nname: spin\ntime: { step: %.17g, end: 1 }\n"
                 "materials: { m: { friction: 0.7, rolling: %.17g, drilling: %.17g } }\nbodies:\n"
                 "  - { name: floor, fixed: true, shape: plane, material: m }\n"
                 "  - { name: b, shape: { sphere: %.17g }, mass: %g, material: m, position: [0, 0, %.17g], "
                 "angular_velocity: [0, 0, %.17g] }\n",
                 h, 0.5 * d, d, R, pow(10, between(&seed, -3, 3)), R, spin);
        const mor_body_state b = run(text, 100, what);
        test_near(b.angular_velocity.z, fmax(0.0, spin - d * G * h * 100 / (0.4 * R * R)), 1e-6 * spin, what);
        test_near(b.velocity.x, 0.0, 1e-8, what);
    }
}

static void balls_rest_on_slopes_up_to_the_angle_of_rolling_friction(void** state)
{
    (void)state;
    uint64_t seed = test_seed(64);
    for (int k = 0; k < 20; k++) {
        const double R = pow(10, between(&seed, -2, 0.3)), angle = between(&seed, 0.01, 0.3),
                     turn = between(&seed, -3, 3), h = pow(10, between(&seed, -3, -2)), mass = between(&seed, 0.1, 10);
        for (int rests = 0; rests < 2; rests++) {
            const double c = R * tan(angle) * (rests ? 1.01 : 0.99);
            char text[800], what[120];
            snprintf(what, sizeof what, "slope %d (R %g, angle %g, c %g, h %g)", k, R, angle, c, h);
            snprintf(text, sizeof text,
                     "moreau: 1\nname: slope\ntime: { step: %.17g, end: 1 }\ngravity: [%.17g, %.17g, %.17g]\n"
                     "materials: { m: { friction: 1, rolling: %.17g } }\nbodies:\n"
                     "  - { name: floor, fixed: true, shape: plane, material: m }\n"
                     "  - { name: b, shape: { sphere: %.17g }, mass: %g, material: m, position: [0, 0, %.17g] }\n",
                     h, G * sin(angle) * cos(turn), G * sin(angle) * sin(turn), -G * cos(angle), c, R, mass, R);
            const mor_body_state b = run(text, 100, what);
            const double pull = rests ? 0.0 : (sin(angle) - c / R * cos(angle)) * G * h * 100 / 1.4;
            test_near(b.velocity.x, pull * cos(turn), 1e-8 + 1e-6 * pull, what);
            test_near(b.velocity.y, pull * sin(turn), 1e-8 + 1e-6 * pull, what);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_on_belts_take_up_their_speed),
        cmocka_unit_test(balls_are_slowed_by_rolling_friction),
        cmocka_unit_test(spinning_balls_are_slowed_by_drilling_friction),
        cmocka_unit_test(balls_rest_on_slopes_up_to_the_angle_of_rolling_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
