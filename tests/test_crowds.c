/* Silos, piles and bodies without room, drawn at random and run with the defaults: no step fails, no passive step
 * gains energy, few miss the accuracy asked for, and what stays deep is told with its cause.
 *
 * Two of each, short; MOREAU_LONG=1: twenty of each, silos of 64 spheres and of 40 to 120 with other steps, and piles
 * of 60 boxes, and MOREAU_BOXES=n for one pile of n boxes alone. MOREAU_SEED=n begins with seed n. In no silo and no
 * pile do more than 1 % of the steps miss the goal. */
#include "common/worlds.h"
#include "moreau/run.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[120000];
static size_t used;

static void put(const char* format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text + used, sizeof text - used, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text - used) fail_msg("the text is too long");
    used += (size_t)n;
}

static bool is_long(void) { return getenv("MOREAU_LONG") != NULL; }
static int variations(void) { return is_long() ? 20 : 2; }

static uint64_t first_seed(void)
{
    const char* s = getenv("MOREAU_SEED");
    return s ? strtoull(s, NULL, 10) : 1;
}

static double between(mor_rng* r, double a, double b) { return a + (b - a) * mor_rng_uniform(r); }

static mor_run_summary run(const char* what, int steps, double scale)
{
    mor_scene* scene;
    mor_error error = { 0 };
    mor_world* w = test_scene_text(text, &scene);
    mor_run* run = mor_run_create(w, steps, &error);
    assert_non_null(run);
    for (int k = 0; k < steps && !mor_run_stopped(run); k++) {
        mor_step_report r;
        if (mor_run_step(run, &r, &error)) fail_msg("%s: %s", what, error.text);
        scale = fmax(scale, r.kinetic);
    }
    mor_run_summary s = mor_run_summarise(run);
    print_message("%s: %d of %d steps below the goal, gain of a step %.1e of the scale, %.1f ms CPU per step%s%s\n",
                  what, s.below_goal, s.steps, s.energy.max_step_gain / scale, 1e3 * s.cpu / s.steps,
                  s.deep.steps ? ", deep: " : "", s.deep.steps ? s.deep.why : "");
    if (s.failures || s.steps < steps) fail_msg("%s: step %d failed: %s", what, s.steps + 1, s.detail);
    if (!(s.energy.max_step_gain <= 1e-6 * scale)) fail_msg("%s: a step gains %g J", what, s.energy.max_step_gain);
    mor_run_destroy(run);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return s;
}

/* --------------------------------------------------------------------------------------- silos */

/* Spheres of different size above a narrow floor between four walls; returns weight times height. */
static double write_silo(mor_rng* r, int spheres, double h, double friction)
{
    const double width = between(r, 0.5, 0.8), cell = width / 3, wall = 0.1, height = spheres > 64 ? 12 : 6;
    double weight = 0.0;
    used = 0;
    put("moreau: 1\ntime: { step: %.6f, end: 1.2 }\nmaterials: { default: { friction: %.3f } }\nbodies:\n"
        "  - { name: floor, shape: plane, fixed: true }\n",
        h, friction);
    for (int k = 0; k < 4; k++) {
        double at = (k % 2 ? 1 : -1) * 0.5 * (width + wall);
        put("  - { name: wall%d, fixed: true, shape: { box: [%.6f, %.6f, %g] }, position: [%.6f, %.6f, %g] }\n", k,
            k < 2 ? wall : 2 * width, k < 2 ? 2 * width : wall, height, k < 2 ? at : 0.0, k < 2 ? 0.0 : at,
            0.5 * height);
    }
    for (int i = 0; i < spheres; i++) {
        double radius = cell * between(r, 0.28, 0.48), play = 0.9 * (0.5 * cell - radius);
        put("  - { name: s%d, shape: { sphere: %.6f }, density: 1000, position: [%.6f, %.6f, %.6f] }\n", i, radius,
            cell * (i % 3 - 1) + between(r, -play, play), cell * (i / 3 % 3 - 1) + between(r, -play, play),
            cell * (i / 9 + 0.5) + between(r, -play, play));
        weight += 9.81 * 1000 * 4.19 * radius * radius * radius;
    }
    return weight * cell * (spheres / 9 + 1);
}

/* No more than 1 % of the steps below the goal. */
static void run_silo(const char* what, int steps, double scale)
{
    mor_run_summary s = run(what, steps, scale);
    if (s.below_goal > 0.01 * s.steps) fail_msg("%s: %d steps below the goal", what, s.below_goal);
    if (s.deep.steps) fail_msg("%s: %s", what, s.deep.why);
}

static void silos_fill(void** state)
{
    (void)state;
    for (int k = 0; k < variations(); k++) {
        char what[40];
        mor_rng r = { 7700 + first_seed() + (uint64_t)k };
        double friction = between(&r, 0.3, 0.8), scale = write_silo(&r, is_long() || k == 0 ? 64 : 27, 0.004, friction);
        snprintf(what, sizeof what, "silo %d", k);
        run_silo(what, is_long() ? 300 : k == 0 ? 150 : 100, scale);
    }
}

/* Other numbers of spheres, steps and frictions. */
static void other_silos_fill(void** state)
{
    (void)state;
    for (int k = 0; k < (is_long() ? 20 : 1); k++) {
        char what[80];
        mor_rng r = { 6600 + first_seed() + (uint64_t)k };
        int spheres = (int)between(&r, 40, 121);
        double h = between(&r, 0.001, 0.005), friction = between(&r, 0.2, 1.0);
        double scale = write_silo(&r, is_long() ? spheres : 40, h, friction);
        snprintf(what, sizeof what, "silo of %d spheres, step %.1f ms, friction %.2f", spheres, 1e3 * h, friction);
        run_silo(what, is_long() ? (int)(1.2 / h) : 100, scale);
    }
}

/* --------------------------------------------------------------------------------------- piles */

static double write_pile(mor_rng* r, int boxes)
{
    double weight = 0.0;
    int side = boxes > 200 ? 6 : 3;
    used = 0;
    put("moreau: 1\ntime: { step: 0.005, end: 1 }\nbodies:\n  - { name: floor, shape: plane, fixed: true }\n");
    for (int i = 0; i < boxes; i++) {
        double a = between(r, 0.1, 0.25), b = between(r, 0.1, 0.25), c = between(r, 0.1, 0.25);
        put("  - { name: b%d, shape: { box: [%.4f, %.4f, %.4f] }, density: 800, position: [%.4f, %.4f, %.4f], "
            "orientation: { axis: [%.4f, %.4f, %.4f], angle: %.2f } }\n",
            i, a, b, c, 0.32 * (i % side) + between(r, 0, 0.05), 0.32 * (i / side % side) + between(r, 0, 0.05),
            0.25 + 0.45 * (i / (side * side)), between(r, -1, 1), between(r, -1, 1), between(r, 0.1, 1),
            between(r, 0, 360));
        weight += 9.81 * 800 * a * b * c;
    }
    return weight * 0.45 * (boxes / (side * side) + 1);
}

static void piles_fall(void** state)
{
    (void)state;
    const char* many = getenv("MOREAU_BOXES");
    int boxes = many ? atoi(many) : is_long() ? 60 : 20, steps = many ? 250 : is_long() ? 200 : 120;
    for (int k = 0; k < (many ? 1 : variations()); k++) {
        char what[40];
        mor_rng r = { 8800 + first_seed() + (uint64_t)k };
        double scale = write_pile(&r, boxes);
        snprintf(what, sizeof what, "pile %d of %d boxes", k, boxes);
        mor_run_summary s = run(what, steps, scale);
        if (s.below_goal > 0.01 * s.steps) fail_msg("%s: %d steps below the goal", what, s.below_goal);
        if (s.deep.steps) fail_msg("%s: %s", what, s.deep.why);
    }
}

/* --------------------------------------------------------------------------------------- walls */

/* A wall of bricks in bond, hit by a ball in its upper half. Contacts are four times redundant and everything moves, so
 * that no guess is near. */
static double write_wall(mor_rng* r, int rows, int columns)
{
    const double length = between(r, 0.18, 0.3), width = 0.5 * length, height = between(r, 0.35, 0.6) * length;
    const double radius = between(r, 0.8, 1.3) * width, speed = between(r, 4, 12), density = between(r, 1000, 4000);
    used = 0;
    put("moreau: 1\ntime: { step: %.5f, end: 1 }\nmaterials: { default: { friction: %.3f, density: 2000 } }\nbodies:\n"
        "  - { name: floor, shape: plane, fixed: true }\n",
        between(r, 0.002, 0.008), between(r, 0.3, 0.9));
    for (int k = 0; k < rows; k++)
        for (int i = 0; i < columns; i++)
            put("  - { name: b%d_%d, shape: { box: [%.6f, %.6f, %.6f] }, position: [%.6f, 0, %.6f] }\n", k, i, length,
                width, height, length * (i + 0.5 * (k % 2) - 0.5 * columns), height * (k + 0.5));
    put("  - { name: ball, shape: { sphere: %.6f }, density: %.1f, position: [%.6f, %.6f, %.6f], "
        "velocity: [0, %.3f, 0] }\n",
        radius, density, between(r, -0.5, 0.5) * length, -1.2 * (width + radius), height * rows * between(r, 0.5, 0.8),
        speed);
    return 0.5 * density * 4.19 * radius * radius * radius * speed * speed;
}

/* Before Newton's method went on beside the paths of the interior point method, walls of 8 x 8 bricks took 660 to 800
 * iterations per step in the mean, and 24 s of CPU time in the step in which the ball strikes. Open: 1 % of the steps
 * below the goal, which walls with a wedged ball miss (docs/results/robust.md); more
 * than one in ten was never seen. */
static void walls_are_hit(void** state)
{
    (void)state;
    for (int k = 0; k < variations(); k++) {
        char what[60];
        mor_rng r = { 5500 + first_seed() + (uint64_t)k };
        int rows = is_long() ? (int)between(&r, 5, 9) : 5, columns = is_long() ? (int)between(&r, 5, 9) : 5;
        double scale = write_wall(&r, rows, columns);
        snprintf(what, sizeof what, "wall of %d x %d bricks", rows, columns);
        mor_run_summary s = run(what, is_long() ? 200 : 80, scale);
        print_message("  %.0f iterations per step, %d steps in parts\n", s.mean_iterations, s.divided);
        if (s.below_goal > 0.1 * s.steps) fail_msg("%s: %d steps below the goal", what, s.below_goal);
        if (s.mean_iterations > 1200.0) fail_msg("%s: %g iterations per step", what, s.mean_iterations);
    }
}

/* ------------------------------------------------------------------------------------- no room */

/* A ball between walls that are too near, above a floor. It cannot be moved out: it must be told, and the ball falls
 * or stays, but nothing throws it. It moves sideways by its overlap at most. */
static void a_ball_without_room_is_told_and_not_thrown(void** state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        mor_rng r = { 9900 + first_seed() + (uint64_t)k };
        double radius = between(&r, 0.05, 0.3), room = 2 * radius * between(&r, 0.6, 0.98), wall = 0.1;
        double z = radius * between(&r, 1.2, 4.0), mass = between(&r, 0.1, 50);
        used = 0;
        put("moreau: 1\ntime: { step: %.5f, end: 1 }\nmaterials: { default: { friction: %.3f } }\nbodies:\n"
            "  - { name: floor, shape: plane, fixed: true }\n"
            "  - { name: left, shape: { box: [%g, 2, 4] }, position: [%.6f, 0, 1], fixed: true }\n"
            "  - { name: right, shape: { box: [%g, 2, 4] }, position: [%.6f, 0, 1], fixed: true }\n"
            "  - { name: ball, shape: { sphere: %.6f }, mass: %.4f, position: [0, 0, %.6f] }\n",
            between(&r, 0.002, 0.02), between(&r, 0, 0.8), wall, -0.5 * (room + wall), wall, 0.5 * (room + wall),
            radius, mass, z);
        mor_scene* scene;
        mor_error error = { 0 };
        mor_world* w = test_scene_text(text, &scene);
        mor_run* run = mor_run_create(w, 100, &error);
        mor_body_id ball = mor_world_find_body(w, "ball");
        for (int step = 0; step < 100; step++) {
            mor_step_report report;
            if (mor_run_step(run, &report, &error)) fail_msg("%s", error.text);
            mor_body_state s = test_state(w, ball);
            double fallen = z - s.com.z;
            assert_true(s.com.z > radius * (1 - 1e-3) && fallen > -1e-3 * radius);
            assert_true(fabs(s.com.x) <= 2 * radius - room + 1e-3 * radius);
            assert_true(mor_norm(s.velocity) <=
                        1e-3 * radius / mor_world_get_step(w) + sqrt(2 * 9.81 * (fallen + 1e-3)));
        }
        mor_run_summary s = mor_run_summarise(run);
        assert_int_equal(s.failures, 0);
        assert_true(s.deep.steps >= 79 && s.deep.relative > 1e-3);
        assert_string_equal(s.deep.pair[1], "ball");
        assert_non_null(strstr(s.deep.why, "cannot be moved apart"));
        mor_run_destroy(run);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

/* A box below a ceiling that is too low. Rows that would push it both ways have no answer: every formulation must hold
 * it all the same, at the cost of a few iterations. Collision method and solver are chosen to fit the formulation. */
static void a_box_without_room_is_held_by_every_formulation(void** state)
{
    (void)state;
    static const char* const formulations[] = { "ncp", "st", "ap", "mncp", "convex", "peg" };
    for (int k = 0; k < 12; k++) {
        mor_rng r = { 300 + first_seed() + (uint64_t)k };
        double side = between(&r, 0.05, 0.5), room = side * between(&r, 0.6, 0.95);
        used = 0;
        put("moreau: 1\ntime: { step: %.5f, end: 1 }\nmethod: { formulation: %s }\nbodies:\n"
            "  - { name: floor, shape: plane, fixed: true, friction: %.3f }\n"
            "  - { name: ceiling, shape: { box: [2, 2, 0.2] }, position: [0, 0, %.6f], fixed: true }\n"
            "  - { name: box, shape: { box: [%.6f, %.6f, %.6f] }, mass: %.4f, position: [0, 0, %.6f] }\n",
            between(&r, 0.002, 0.02), formulations[k % 6], between(&r, 0, 1), room + 0.1, side, 0.8 * side, side,
            between(&r, 0.1, 50), 0.5 * side);
        mor_run_summary s = run(formulations[k % 6], 60, 1e9);
        assert_int_equal(s.failures, 0);
        assert_true(s.mean_iterations < 20.0);
        assert_true(s.energy.max_step_gain < 1e-9);
        assert_non_null(strstr(s.deep.why, "cannot be moved apart"));
    }
}

/* Methods that let bodies sink in say so; a ball that rests on the floor is not deep. */
static void the_cause_of_a_deep_contact_is_told(void** state)
{
    (void)state;
    static const struct {
        const char *method, *why;
    } cases[] = {
        { "{ formulation: penalty }", "on purpose" },
        { "{ gap_correction: bounded, recovery_speed: 1e-4 }", "bounded" },
        { "{ formulation: gauss }", "once they touch" },
        { "{ }", NULL },
    };
    for (int k = 0; k < 4; k++) {
        used = 0;
        put("moreau: 1\ntime: { step: 0.001, end: 1 }\nmethod: %s\nbodies:\n"
            "  - { name: floor, shape: plane, fixed: true }\n"
            "  - { name: ball, shape: { sphere: 0.1 }, density: 1000, position: [0, 0, %g] }\n",
            cases[k].method, strstr(cases[k].method, "gauss") ? 0.1152 : 0.0996);
        mor_run_summary s = run(cases[k].method, 60, 1e9);
        if (!cases[k].why) assert_int_equal(s.deep.steps, 0);
        else if (!strstr(s.deep.why, cases[k].why)) fail_msg("%s: %s", cases[k].method, s.deep.why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silos_fill),
        cmocka_unit_test(other_silos_fill),
        cmocka_unit_test(piles_fall),
        cmocka_unit_test(walls_are_hit),
        cmocka_unit_test(a_ball_without_room_is_told_and_not_thrown),
        cmocka_unit_test(a_box_without_room_is_held_by_every_formulation),
        cmocka_unit_test(the_cause_of_a_deep_contact_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
