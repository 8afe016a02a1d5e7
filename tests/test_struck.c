/* Bodies that fall side by side, the lower one of which lands.
 *
 * Expected, without gravity: cube A (edge a) is g1 above the floor and cube B g2 above A, both with the speed v
 * straight down, g1 + g2 < v h. In one step A goes down by g1 and stops; B stops on it, having gone g1 + g2. Nothing
 * that looks at velocities before the step alone can know of the second contact: B would end v h - g1 - g2 deep in A.
 * Where B is beside A it goes on as if A were not there, with the same bits. The same holds where A lands on a cube R
 * that rests on the floor: R has A's mass but does not give way, so A stops as on the floor. */
#include <math.h>
#include <stdio.h>

#include "common/random_scenes.h"

static const char* const methods[] = { "{ name: sequential-impulses, iterations: 40 }",
                                       "{ name: soft-step, substeps: 8 }", "{ name: xpbd, substeps: 40 }" };

typedef struct fall {
    double a, v, h, lower, upper, aside; /* aside: of B, in edges */
    bool held;                           /* A lands on a cube that rests on the floor */
} fall;

static fall random_fall(uint64_t* seed, double aside)
{
    fall f = { .a = pow(10, test_random(seed, -1.5, 0.5)), .v = test_random(seed, 2, 8), .aside = aside };
    f.h = test_random(seed, 0.1, 0.3) * f.a / f.v;
    f.lower = test_random(seed, 0.05, 0.3) * f.v * f.h;
    f.upper = test_random(seed, 0.05, 0.3) * f.v * f.h;
    return f;
}

static mor_world* fall_scene(const char* method, const fall* f)
{
    char text[2000], rest[300] = "";
    mor_scene* made = NULL;
    const double ground = f->held ? f->a : 0.0;
    if (f->held)
        snprintf(rest, sizeof rest,
                 "  - { name: R, shape: { box: [%.17g, %.17g, %.17g] }, mass: 1, position: [0, 0, %.17g] }\n", f->a,
                 f->a, f->a, 0.5 * f->a);
    snprintf(
        text, sizeof text,
        "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: %.17g, end: 1 }\nmethod: { formulation: %s }\nbodies:\n"
        "  - { name: floor, shape: plane, fixed: true }\n"
        "  - { name: A, shape: { box: [%.17g, %.17g, %.17g] }, mass: 1, position: [0, 0, %.17g], velocity: [0, 0, "
        "%.17g] }\n"
        "  - { name: B, shape: { box: [%.17g, %.17g, %.17g] }, mass: 1, position: [%.17g, 0, %.17g], velocity: [0, "
        "0, %.17g] }\n%s",
        f->h, method, f->a, f->a, f->a, ground + f->lower + 0.5 * f->a, -f->v, f->a, f->a, f->a, f->aside * f->a,
        ground + f->lower + f->upper + 1.5 * f->a, -f->v, rest);
    mor_world* w = test_scene_text(text, &made);
    mor_scene_destroy(made);
    return w;
}

static void what_falls_behind_a_body_that_lands_stops_on_it(void** state)
{
    (void)state;
    uint64_t seed = 81;
    for (int k = 0; k < 30; k++) {
        fall f = random_fall(&seed, k % 2 ? test_random(&seed, -0.3, 0.3) : 0.0);
        char what[200];
        mor_world* w = fall_scene(methods[k % 3], &f);
        test_steps(w, 1);
        double A = test_state(w, mor_world_find_body(w, "A")).pose.position.z,
               B = test_state(w, mor_world_find_body(w, "B")).pose.position.z;
        double deep = f.v * f.h - f.lower - f.upper; /* without the second contact */
        snprintf(what, sizeof what, "case %d, %s: edge %g, %g m/s, gaps %g and %g, h %g", k, methods[k % 3], f.a, f.v,
                 f.lower, f.upper, f.h);
        test_near((B - A - f.a) / deep, 0.0, 0.15, what); /* what so few visits leave */
        mor_world_destroy(w);
    }
}

static void what_falls_behind_a_body_that_lands_on_one_at_rest_stops_on_it(void** state)
{
    (void)state;
    uint64_t seed = 83;
    for (int k = 0; k < 30; k++) {
        fall f = random_fall(&seed, k % 2 ? test_random(&seed, -0.3, 0.3) : 0.0);
        f.held = true;
        f.lower = test_random(&seed, 0.02, 0.1) * f.v * f.h;
        f.upper = test_random(&seed, 0.65, 0.75) * f.v * f.h; /* more than half of the way */
        char what[200];
        mor_world* w = fall_scene(methods[k % 3], &f);
        test_steps(w, 1);
        double A = test_state(w, mor_world_find_body(w, "A")).pose.position.z,
               B = test_state(w, mor_world_find_body(w, "B")).pose.position.z;
        double deep = f.v * f.h - f.lower - f.upper; /* without the second contact */
        snprintf(what, sizeof what, "case %d, %s: edge %g, %g m/s, gaps %g and %g, h %g", k, methods[k % 3], f.a, f.v,
                 f.lower, f.upper, f.h);
        assert_true(deep > 0.0);
        test_near((B - A - f.a) / deep, 0.0, 0.35, what); /* what so few visits leave */
        mor_world_destroy(w);
    }
}

static void what_falls_beside_it_goes_on(void** state)
{
    (void)state;
    uint64_t seed = 82;
    for (int k = 0; k < 30; k++) {
        fall f = random_fall(&seed, test_random(&seed, 1.001, 1.5));
        mor_world* w = fall_scene(methods[k % 3], &f);
        test_steps(w, 1);
        mor_body_state B = test_state(w, mor_world_find_body(w, "B"));
        assert_true(B.velocity.z == -f.v && B.velocity.x == 0.0 && mor_norm(B.angular_velocity) == 0.0);
        mor_world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_falls_behind_a_body_that_lands_stops_on_it),
        cmocka_unit_test(what_falls_behind_a_body_that_lands_on_one_at_rest_stops_on_it),
        cmocka_unit_test(what_falls_beside_it_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
