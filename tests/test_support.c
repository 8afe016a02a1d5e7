/* Friction of planar bodies with the plane they lie on.
 *
 * Expected values: closed forms of a body that slides or spins alone, equilibrium of a pushed body, and the answer's
 * own conditions (Coulomb's law at every point) on random states. */
#include "common/worlds.h"
#include "model/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

static mor_world* body_on_plane(double h, const char* kind, double mu, double R, double mass, double inertia,
                                const char* more, mor_scene** scene)
{
    char text[1000];
    snprintf(
        text, sizeof text,
        "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: %.17g, end: 1 }\nbodies:\n"
        "  - { name: b, shape: { disc: 0.05 }, mass: %.17g, inertia: %.17g, support: { friction: %.17g, radius: %.17g, "
        "kind: %s }%s }\n",
        h, mass, inertia, mu, R, kind, more);
    return test_scene_text(text, scene);
}

/* Without spin every point slides alike: v falls by mu g t and stays 0. */
static void a_sliding_body_stops(void** state)
{
    (void)state;
    mor_rng r = { 3 };
    for (int k = 0; k < 10; k++) {
        double mu = between(&r, 0.05, 0.8), v = between(&r, 0.2, 2), a = between(&r, -3, 3), h = 0.002;
        mor_scene* scene = NULL;
        mor_world* w = body_on_plane(h, k % 2 ? "area" : "tripod", mu, between(&r, 0, 0.05), between(&r, 0.1, 2), 1e-3,
                                     "", &scene);
        mor_body_id b = mor_world_find_body(w, "b");
        test_velocity(w, b, mor_v3(v * cos(a), v * sin(a), 0), mor_v3(0, 0, 0));
        int half = (int)(0.5 * v / (mu * 9.81) / h);
        test_steps(w, half);
        test_near(mor_norm(test_state(w, b).velocity), v - mu * 9.81 * h * half, 1e-9, "speed on the way");
        test_steps(w, half + 3);
        test_near(mor_norm(test_state(w, b).velocity), 0, 1e-12, "speed at the end");
        double way = mor_norm(test_state(w, b).com);
        test_near(way, v * v / (2 * mu * 9.81), v * h, "way");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* Spin alone: w falls by mu m g R/I, of a disc by 2/3 of it. */
static void a_spinning_body_stops(void** state)
{
    (void)state;
    mor_rng r = { 4 };
    for (int k = 0; k < 10; k++) {
        double mu = between(&r, 0.05, 0.8), R = between(&r, 0.01, 0.05), I = between(&r, 1e-4, 1e-3), m = 0.5,
               h = 0.001;
        double w0 = between(&r, 5, 20), rate = mu * m * 9.81 * R / I * (k % 2 ? 2.0 / 3.0 : 1.0);
        mor_scene* scene = NULL;
        mor_world* w = body_on_plane(h, k % 2 ? "area" : "tripod", mu, R, m, I, "", &scene);
        mor_body_id b = mor_world_find_body(w, "b");
        test_velocity(w, b, mor_v3(0, 0, 0), mor_v3(0, 0, w0));
        int half = (int)(0.5 * w0 / rate / h);
        test_steps(w, half);
        test_near(test_state(w, b).angular_velocity.z, w0 - rate * h * half, (k % 2 ? 0.01 : 1e-9) * w0, "spin");
        test_near(mor_norm(test_state(w, b).velocity), 0, 1e-9, "it stays in its place");
        test_steps(w, 2 * half);
        test_near(test_state(w, b).angular_velocity.z, 0, 1e-12, "spin at the end");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* The answer on random states: impulses of points that slide are on the rim against the slip. Checked by the least
 * point's own property: no small change of the velocity lowers 1/2 |nu - nu_f|^2_M + c sum |u_k|. */
static void the_answer_is_the_least_point(void** state)
{
    (void)state;
    mor_rng r = { 5 };
    for (int k = 0; k < 200; k++) {
        mor_body_support s = { between(&r, 0.05, 1), between(&r, 0.005, 0.1), false, 9.81 };
        double m = between(&r, 0.1, 2), I = between(&r, 1e-4, 1e-2), angle = between(&r, -3, 3), h = 0.01;
        double from[3] = { between(&r, -0.1, 0.1), between(&r, -0.1, 0.1), between(&r, -2, 2) }, nu[3], least = 0;
        if (k % 3 == 0) from[0] *= 10, from[1] *= 10;
        memcpy(nu, from, sizeof nu);
        mor_support_slow(&s, m, I, angle, h, nu);
        for (int n = -1; n < 60; n++) {
            double x[3], cost = 0, c = h * s.friction * m * s.gravity / 3;
            for (int d = 0; d < 3; d++) x[d] = nu[d] + (n < 0 ? 0 : between(&r, -1e-3, 1e-3));
            for (int d = 0; d < 3; d++) cost += 0.5 * (d < 2 ? m : I) * (x[d] - from[d]) * (x[d] - from[d]);
            for (int p = 0; p < 3; p++) {
                double a = angle + 2.0943951023931953 * p, rx = s.radius * cos(a), ry = s.radius * sin(a);
                cost += c * hypot(x[0] - x[2] * ry, x[1] + x[2] * rx);
            }
            if (n < 0) least = cost;
            else if (cost < least - 1e-15) fail_msg("case %d: %g below %g", k, cost, least);
        }
        assert_true(m * (nu[0] * nu[0] + nu[1] * nu[1]) + I * nu[2] * nu[2] <=
                    m * (from[0] * from[0] + from[1] * from[1]) + I * from[2] * from[2] + 1e-15);
    }
}

/* A pusher moves a disc through its middle: the force of the contact is mu m g, and the disc does not turn. */
static void a_push_feels_the_friction(void** state)
{
    (void)state;
    const char* text =
        "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: 0.005, end: 1 }\nbodies:\n"
        "  - { name: object, shape: { disc: 0.03 }, mass: 0.2, friction: 0, support: { friction: 0.3, radius: "
        "0.02 } }\n"
        "  - { name: pusher, shape: { box: [0.02, 0.02] }, friction: 0, position: [-0.0401, 0], kinematic: { "
        "velocity: [0.05, 0] } }\n";
    mor_scene* scene = NULL;
    mor_world* w = test_scene_text(text, &scene);
    test_steps(w, 100);
    int n;
    const mor_contact* c = mor_world_contacts(w, &n);
    double force = 0;
    for (int i = 0; i < n; i++) force += c[i].normal_impulse / 0.005;
    test_near(force, 0.3 * 0.2 * 9.81, 1e-6, "force of the push");
    mor_body_state s = test_state(w, mor_world_find_body(w, "object"));
    test_near(s.velocity.x, 0.05, 1e-9, "speed");
    test_near(s.angular_velocity.z, 0, 1e-9, "spin");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* What the points rub of with these velocities, per c. */
static double rub(double R, double angle, double vx, double vy, double w)
{
    double sum = 0;
    for (int p = 0; p < 3; p++) {
        double a = angle + 2.0943951023931953 * p, x = R * cos(a), y = R * sin(a);
        sum += hypot(vx - w * y, vy + w * x);
    }
    return sum;
}

/* A slow push off the middle, without friction at the contact: the body moves such that the plane's friction takes the
 * least power of all motions with that speed of the contact (Goyal, Ruina and Papadopoulos 1991). Least by brute force:
 * a grid that shrinks. */
static void a_slow_push_takes_the_least_power(void** state)
{
    (void)state;
    mor_rng r = { 9 };
    for (int k = 0; k < 12; k++) {
        double R = between(&r, 0.005, 0.04), V = 1e-3, d = between(&r, -0.02, 0.02);
        char text[1000];
        snprintf(
            text, sizeof text,
            "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: 0.01, end: 1 }\nmethod: { formulation: %s }\n"
            "bodies:\n  - { name: b, shape: { disc: 0.03, position: [0, %.17g] }, mass: 0.2, com: [0, 0], inertia: "
            "1.0e-4, friction: 0, support: { friction: 0.3, radius: %.17g } }\n"
            "  - { name: pusher, shape: { box: [0.02, 0.2] }, friction: 0, position: [-0.04, 0], kinematic: { "
            "velocity: [0.001, 0] } }\n",
            k % 2 ? "st" : "ncp", d, R);
        mor_scene* scene = NULL;
        mor_world* w = test_scene_text(text, &scene);
        mor_body_id b = mor_world_find_body(w, "b");
        test_steps(w, 20);
        mor_body_state before = test_state(w, b);
        test_steps(w, 1);
        mor_body_state s = test_state(w, b);
        double angle = 2.0 * atan2(before.pose.rotation.z, before.pose.rotation.w);
        double arm = d * cos(angle); /* of the disc's middle, and so of the contact, above the centre of mass */
        double best[2] = { 0, 0 }, least = 1e9;
        for (double size = 10 * V; size > 1e-9; size *= 0.5)
            for (int i = 0; i < 81; i++) {
                double vy = best[0] + 0.25 * size * (i % 9 - 4), spin = best[1] + 0.25 * size / R * (i / 9 - 4);
                double power = rub(R, angle, V + spin * arm, vy, spin);
                if (power < least) least = power, best[0] = vy, best[1] = spin;
            }
        double mine = rub(R, angle, s.velocity.x, s.velocity.y, s.angular_velocity.z);
        test_near(s.velocity.x - s.angular_velocity.z * arm, V, 1e-3 * V, "speed of the contact");
        test_near(mine, least, 1e-4 * least, "power");
        test_near(s.angular_velocity.z, best[1], 0.02 * V / R, "spin");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* A body that rests is hit by another one: it is no wall. Without bounce both go on together, and friction takes
 * mu m g h of each in a step. */
static void a_body_at_rest_is_no_wall(void** state)
{
    (void)state;
    const char* text =
        "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: 0.001, end: 1 }\nbodies:\n"
        "  - { name: a, shape: { disc: 0.03 }, mass: 0.2, friction: 0, position: [-0.0605, 0], velocity: "
        "[1, 0], support: { friction: 0.3, radius: 0.02 } }\n"
        "  - { name: b, shape: { disc: 0.03 }, mass: 0.6, friction: 0, support: { friction: 0.3, radius: "
        "0.02 } }\n";
    mor_scene* scene = NULL;
    mor_world* w = test_scene_text(text, &scene);
    test_steps(w, 10);
    double v[2], t = mor_world_time(w);
    v[0] = test_state(w, mor_world_find_body(w, "a")).velocity.x;
    v[1] = test_state(w, mor_world_find_body(w, "b")).velocity.x;
    test_near(0.2 * v[0] + 0.6 * v[1], 0.2 - 0.8 * 0.3 * 9.81 * t, 0.6 * 0.3 * 9.81 * 0.002, "momentum");
    test_near(v[1], v[0], 0.01, "together");
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A force on the first of two bodies that touch: they stay below the friction of both, and go with (F - mu m g)/m. */
static void a_row_of_bodies_is_pushed(void** state)
{
    (void)state;
    const double weight = 0.3 * 0.8 * 9.81;
    const char* text = "moreau: 1\ndimension: 2\ngravity: [0, 0]\ntime: { step: 0.002, end: 1 }\nbodies:\n"
                       "  - { name: a, shape: { box: [0.06, 0.06] }, mass: 0.2, friction: 0, position: [-0.06, 0], "
                       "support: { friction: 0.3, radius: 0.02 } }\n"
                       "  - { name: b, shape: { box: [0.06, 0.06] }, mass: 0.6, friction: 0, support: { friction: 0.3, "
                       "radius: 0.02 } }\n";
    for (int k = 0; k < 2; k++) {
        double F = (k ? 1.5 : 0.9) * weight;
        mor_scene* scene = NULL;
        mor_world* w = test_scene_text(text, &scene);
        mor_body_id a = mor_world_find_body(w, "a"), b = mor_world_find_body(w, "b");
        for (int i = 0; i < 200; i++) {
            mor_body_apply(w, a, mor_v3(F, 0, 0), test_state(w, a).com);
            test_steps(w, 1);
        }
        mor_body_state s = test_state(w, b);
        double speed = (F - weight) / 0.8 * 0.4;
        if (k) test_near(s.velocity.x, speed, 0.01 * speed, "speed");
        else test_near(s.com.x, 0, 1e-6, "it stays");
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

static void bad_supports_are_refused(void** state)
{
    (void)state;
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        { "moreau: 1\nbodies: [ { shape: { sphere: 1 }, support: { radius: 1 } } ]\n", "support" },
        { "moreau: 1\ndimension: 2\nbodies: [ { shape: { disc: 1 }, support: { friction: 1 } } ]\n", "radius" },
        { "moreau: 1\ndimension: 2\nbodies: [ { shape: { disc: 1 }, support: { radius: -1 } } ]\n", "radius" },
        { "moreau: 1\ndimension: 2\nbodies: [ { shape: { disc: 1 }, fixed: true, support: { radius: 1 } } ]\n",
          "move freely" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mor_error error = { 0 };
        assert_null(mor_scene_parse(bad[i].text, strlen(bad[i].text), "bad.yaml", NULL, NULL, &error));
        if (!strstr(error.text, bad[i].sentence) || !strstr(error.text, "bad.yaml:")) fail_msg("%s", error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sliding_body_stops),
        cmocka_unit_test(a_spinning_body_stops),
        cmocka_unit_test(the_answer_is_the_least_point),
        cmocka_unit_test(a_push_feels_the_friction),
        cmocka_unit_test(a_slow_push_takes_the_least_power),
        cmocka_unit_test(a_body_at_rest_is_no_wall),
        cmocka_unit_test(a_row_of_bodies_is_pushed),
        cmocka_unit_test(bad_supports_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
