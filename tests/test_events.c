/* The event-driven integrator, and time stepping judged by it.
 *
 * Expected values of the integrator itself: closed forms (sliding, rolling, bouncing, a valley), to 1e-10. Time
 * stepping must come closer to it as the step shrinks. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define G 9.81

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

/* One body over a chain of ground; the state of the body at `end`. */
static mor_body_state run(const char* integrator, const char* more, const char* body, const char* ground, double mu,
                          double e, double h, double end)
{
    char text[2000];
    snprintf(text, sizeof text,
             "moreau: 1\ndimension: 2\ntime: { step: %.17g, end: %.17g }\nmethod: { integrator: %s%s }\n"
             "materials: { r: { friction: %.17g, restitution: %.17g } }\nbodies:\n"
             "  - { name: ground, shape: { chain: %s }, material: r, fixed: true }\n"
             "  - { name: body, %s, material: r }\n",
             h, end, integrator, more, mu, e, ground, body);
    mor_scene* scene = NULL;
    mor_world* w = test_scene_text(text, &scene);
    test_until(w, end - 0.5 * h);
    mor_body_state s = test_state(w, mor_world_find_body(w, "body"));
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return s;
}

static mor_body_state exact(const char* body, const char* ground, double mu, double e, double h, double end)
{
    return run("event-driven", "", body, ground, mu, e, h, end);
}

static const char* const flat = "[[-50, 0], [50, 0]]";

static void a_block_slides_to_rest_on_a_slope(void** state)
{
    (void)state;
    mor_rng r = { 4 };
    for (int k = 0; k < 10; k++) {
        double a = between(&r, 0.05, 0.6), mu = tan(a) + between(&r, 0.05, 0.4), v = between(&r, 0.3, 2);
        double c = cos(a), s = sin(a), way = v * v / (2 * G * (mu * c - s)), half = 0.1;
        char body[300], ground[200];
        snprintf(ground, sizeof ground, "[[%.17g, %.17g], [%.17g, %.17g]]", -30 * c, 30 * s, 30 * c, -30 * s);
        snprintf(
            body, sizeof body,
            "shape: { box: [0.9, 0.2] }, mass: 2, position: [%.17g, %.17g], angle: %.17g, velocity: [%.17g, %.17g]",
            half * s, half * c, -a, v * c, -v * s);
        double stop = v / (G * (mu * c - s)), h = 0.01;
        mor_body_state x = exact(body, ground, mu, 0, h, h * ceil(stop / h + 3));
        test_near(x.com.x, half * s + way * c, 1e-10, "x");
        test_near(x.com.y, half * c - way * s, 1e-10, "y");
        test_near(x.velocity.x, 0, 1e-10, "v");
    }
}

static void a_disc_slides_rolls_and_bounces_with_spin(void** state)
{
    (void)state;
    mor_rng r = { 6 };
    for (int k = 0; k < 10; k++) {
        double mu = between(&r, 0.1, 0.5), v = between(&r, 0.5, 3), radius = between(&r, 0.1, 0.5);
        char body[200];
        snprintf(body, sizeof body, "shape: { disc: %.17g }, mass: 1, position: [0, %.17g], velocity: [%.17g, 0]",
                 radius, radius, v);
        double slides = v / (3 * mu * G), end = 0.02 * ceil(slides / 0.02 + 5);
        mor_body_state s = exact(body, flat, mu, 0, 0.02, end);
        test_near(s.velocity.x, 2 * v / 3, 1e-10, "rolling speed");
        test_near(s.angular_velocity.z, -2 * v / 3 / radius, 1e-9, "rolling");
        test_near(s.com.x, v * slides - mu * G * slides * slides / 2 + (end - slides) * 2 * v / 3, 1e-10, "way");
        /* bounce with spin: sticks where (1/3) m |u| <= mu p, slides else */
        double e = between(&r, 0.3, 0.9), w = between(&r, -30, 30), high = between(&r, 0.3, 1),
               fall = sqrt(2 * G * high);
        snprintf(body, sizeof body,
                 "shape: { disc: %.17g }, mass: 1, position: [0, %.17g], velocity: [%.17g, 0], angular_velocity: %.17g",
                 radius, radius + high, v, w);
        double u = v + radius * w, f = -u / 3, most = mu * (1 + e) * fall, t = fall / G, later = 0.3 * e * fall / G;
        if (fabs(f) > most) f = copysign(most, f);
        s = exact(body, flat, mu, e, t + later, t + later);
        test_near(s.velocity.y, e * fall - G * later, 1e-10, "up");
        test_near(s.velocity.x, v + f, 1e-10, "along");
        test_near(s.angular_velocity.z, w + 2 * f / radius, 1e-9, "spin");
        test_near(s.com.x, v * t + (v + f) * later, 1e-10, "x");
    }
}

static void the_heights_of_s8_in_the_plane_are_exact(void** state)
{
    (void)state;
    double t = sqrt(2 / G), v = 0.5 * sqrt(2 * G);
    for (int k = 0; k < 3; k++) { /* at the apexes */
        double apex = t + v / G;
        mor_body_state s = exact("shape: { disc: 0.5 }, mass: 1, position: [0, 1.5]", flat, 0.5, 0.5, apex / 40, apex);
        test_near(s.com.y - 0.5, pow(0.25, k + 1), 1e-10, "apex");
        test_near(s.velocity.y, 0, 1e-10, "apex speed");
        t += 2 * v / G;
        v *= 0.5;
    }
}

static void a_particle_leaves_a_frictionless_valley_with_the_energy_it_came_with(void** state)
{
    (void)state;
    /* down one side of a V, a corner takes the normal part of the speed: v cos(turn) up the other side */
    mor_rng r = { 8 };
    for (int k = 0; k < 8; k++) {
        double a = between(&r, 0.1, 0.5), b = between(&r, 0.1, 0.5), high = between(&r, 0.2, 0.8);
        char ground[200], body[200];
        snprintf(ground, sizeof ground, "[[%.17g, %.17g], [0, 0], [%.17g, %.17g]]", -9 * cos(a), 9 * sin(a), 9 * cos(b),
                 9 * sin(b));
        snprintf(body, sizeof body, "shape: { particle: {} }, mass: 1, position: [%.17g, %.17g]", -high / tan(a), high);
        double v = sqrt(2 * G * high), down = v / (G * sin(a)), up = v * cos(a + b), t = 0.5 * up / (G * sin(b));
        mor_body_state s = exact(body, ground, 0, 0, (down + t) / 60, down + t);
        double along = up * t - G * sin(b) * t * t / 2;
        test_near(s.com.x, along * cos(b), 1e-9, "x");
        test_near(s.com.y, along * sin(b), 1e-9, "y");
    }
}

static void what_it_cannot_do_is_told(void** state)
{
    (void)state;
    static const struct {
        const char *scene, *sentence;
    } cases[] = {
        { "moreau: 1\nmethod: { integrator: event-driven }\nbodies:\n  - { shape: { sphere: 1 }, mass: 1 }\n",
          "planar worlds only" },
        { "moreau: 1\ndimension: 2\nmethod: { integrator: event-driven }\nbodies:\n"
          "  - { shape: { disc: 1 }, mass: 1 }\n  - { shape: { disc: 1 }, mass: 1, position: [2.001, 0] }\n",
          "two moving bodies" },
        { "moreau: 1\ndimension: 2\nmethod: { integrator: event-driven }\nbodies:\n"
          "  - { shape: { disc: 1 }, mass: 1, position: [0, 5] }\n  - { shape: { disc: 1 }, fixed: true }\n",
          "chains and polygons" },
        { "moreau: 1\ndimension: 2\nmethod: { integrator: event-driven }\ntime: { step: 1, end: 4 }\n"
          "materials: { default: { restitution: 0.5 } }\nbodies:\n"
          "  - { shape: { disc: 0.1 }, mass: 1, position: [0, 0.2] }\n"
          "  - { shape: { chain: [[-9, 0], [9, 0]] }, fixed: true }\n",
          "Zeno" },
        /* Painleve: a rod sliding towards a steep side of the cone, mu > 4/3 */
        { "moreau: 1\ndimension: 2\nmethod: { integrator: event-driven }\ntime: { step: 1, end: 4 }\n"
          "materials: { default: { friction: 3 } }\nbodies:\n"
          "  - { shape: { polygon: [[-0.5, 0], [0.5, -0.001], [0.5, 0.001]] }, com: [0, 0], mass: 1, inertia: "
          "0.0833333, "
          "position: [0.32, 0.38377175111801354], angle: 0.875, velocity: [-3, 0] }\n"
          "  - { shape: { chain: [[-9, 0], [9, 0]] }, fixed: true }\n",
          "Painleve" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mor_scene* scene = NULL;
        mor_world* w = test_scene_text(cases[i].scene, &scene);
        mor_step_report report = { 0 };
        mor_error error = { 0 };
        mor_code code = MOR_OK;
        for (int k = 0; k < 4 && !code; k++) code = mor_world_step(w, &report, &error);
        if (code != MOR_STOPPED || !strstr(error.text, cases[i].sentence))
            fail_msg("case %zu: code %d, '%s' without '%s'", i, (int)code, error.text, cases[i].sentence);
        assert_int_equal(report.status, MOR_REFUSED);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* ------------------------------------------------------------------------------- the judge */

/* Bodies on random slopes and valleys, sliding, falling, tipping: time stepping converges to the reference. */
static void time_stepping_is_of_first_order_against_it(void** state)
{
    (void)state;
    static const char* const methods[] = { ", v_rest: 0.05", ", v_rest: 0.05, formulation: peg, collision: features" };
    mor_rng r = { 12 };
    double worst = 0;
    int halved = 0, all = 0;
    for (int k = 0; k < 16; k++) {
        double mu = between(&r, 0, 1), e = k % 8 == 5 ? between(&r, 0.2, 0.8) : 0; /* discs */
        double slope = between(&r, -0.3, 0.3), other = between(&r, 0.1, 0.6);
        char ground[200], body[300];
        snprintf(ground, sizeof ground, "[[-9, %.17g], [0, 0], [9, %.17g]]", 9 * slope, 9 * other);
        const char* shape = k % 4 == 0   ? "shape: { particle: {} }, mass: 1"
                            : k % 4 == 1 ? "shape: { disc: 0.2 }, mass: 1"
                                         : "shape: { box: [0.5, 0.3] }, mass: 1";
        snprintf(body, sizeof body, "%s, position: [-0.8, %.17g], velocity: [%.17g, %.17g]%s", shape,
                 0.45 + 0.8 * fabs(slope), between(&r, 0.5, 2.5), between(&r, -1, 1),
                 k % 4 >= 2 ? ", angle: 0.3, angular_velocity: 1" : "");
        double end = 0.4, error[3];
        mor_body_state judge = run("event-driven", methods[0], body, ground, mu, e, 0.02, end);
        for (int i = 0; i < 3; i++) {
            mor_body_state s =
                run("semi-implicit", methods[k % 2], body, ground, mu, e, (double[]){ 4e-3, 1e-3, 2.5e-4 }[i], end);
            error[i] = hypot(s.com.x - judge.com.x, s.com.y - judge.com.y);
        }
        all++;
        halved += error[2] < 0.5 * error[0] || error[2] < 1e-5;
        worst = fmax(worst, error[2]);
        printf("  case %d, mu %.2f, e %.2f: %.1e %.1e %.1e m\n", k, mu, e, error[0], error[1], error[2]);
    }
    printf("  at h = 0.25 ms at most %.1e m\n", worst);
    assert_int_equal(halved, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_slides_to_rest_on_a_slope),
        cmocka_unit_test(a_disc_slides_rolls_and_bounces_with_spin),
        cmocka_unit_test(the_heights_of_s8_in_the_plane_are_exact),
        cmocka_unit_test(a_particle_leaves_a_frictionless_valley_with_the_energy_it_came_with),
        cmocka_unit_test(what_it_cannot_do_is_told),
        cmocka_unit_test(time_stepping_is_of_first_order_against_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
