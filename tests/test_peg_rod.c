/* The slender rod S9 and random piles with exact geometry.
 *
 * Truth: energy may not rise; penetration measured by the collision geometry; the positions must agree as the step
 * shrinks. The pile's bound on the kinetic energy is fact 1 of peg.c. */
#include "common/choices.h"
#include "common/scenes.h"
#include "common/worlds.h"
#include "model/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rod_run {
    mor_vec3 half, end; /* positions at 0.5 s and 1.75 s */
    double gain, pen, raw, us, initial;
    test_choice_report choice;
} rod_run;

static rod_run rod_with(double h, const char* mu, double end, const char* integrator)
{
    mor_error error = { 0 };
    char step[64], friction[64], rule[64];
    snprintf(step, sizeof step, "time.step=%.17g", h);
    snprintf(friction, sizeof friction, "materials.stone.friction=%s", mu);
    snprintf(rule, sizeof rule, "method.integrator=%s", integrator);
    const char* sets[] = { step, friction, rule, "seed=777", NULL };
    mor_scene* scene = mor_scene_load(scene_path("peg_rod"), sets, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(scene, 1, &error);
    mor_body_id body = mor_world_find_body(w, "rod");
    rod_run r = { 0 };
    double energy = r.initial = mor_world_kinetic_energy(w) + mor_world_potential_energy(w), start = mor_cpu_clock();
    int steps = (int)(end / h + 0.5);
    for (int i = 1; i <= steps; i++) {
        mor_step_report s = test_steps(w, 1);
        test_choices(w, &r.choice);
        r.gain = fmax(r.gain, s.kinetic + s.potential - energy);
        energy = s.kinetic + s.potential;
        r.pen = fmax(r.pen, s.penetration);
        r.raw = fmax(r.raw, s.raw_penetration);
        if (i == (int)(0.5 / h + 0.5)) r.half = test_state(w, body).com;
    }
    assert_true(r.choice.worst < 1e-7);
    r.us = 1e6 * (mor_cpu_clock() - start) / steps;
    r.end = test_state(w, body).com;
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return r;
}

static rod_run rod(double h, const char* mu, double end) { return rod_with(h, mu, end, "semi-implicit"); }

static void the_rod_gains_no_energy_and_stays_out_of_the_rocks(void** state)
{
    (void)state;
    const double steps[] = { 2e-3, 1e-3, 5e-4, 2.5e-4 };
    for (int i = 0; i < 4; i++) {
        rod_run r = rod(steps[i], "0.5", 1.75);
        printf("  h %g: end (%.4f, %.4f, %.4f), at 0.5 s (%.4f, %.4f, %.4f), raw penetration %.1e, %.1e after "
               "projection, gain %.1e J, %.0f us per step\n",
               steps[i], r.end.x, r.end.y, r.end.z, r.half.x, r.half.y, r.half.z, r.raw, r.pen, r.gain, r.us);
        assert_true(r.gain < 1e-6 * r.initial);
        assert_true(r.pen < 1e-9);
        if (steps[i] <= 1e-3) assert_true(r.raw < 1e-5);
    }
}

/* Error of the position at 0.5 s against h = 2e-3/128, and its order by least squares over five halvings. */
static void without_friction_the_rod_converges_at_first_order(void** state)
{
    (void)state;
    mor_vec3 limit = rod(2e-3 / 128, "0", 0.5).half;
    double h = 2e-3, sx = 0, sy = 0, sxx = 0, sxy = 0;
    const int n = 6;
    for (int i = 0; i < n; i++, h *= 0.5) {
        rod_run r = rod(h, "0", 0.5);
        double e = mor_norm(mor_sub(r.half, limit)), x = log(h), y = log(e);
        printf("  h %g: (%.5f, %.5f, %.5f), error %.1e m = %.1f h, raw penetration %.2e = %.2f h^2\n", h, r.half.x,
               r.half.y, r.half.z, e, e / h, r.raw, r.raw / (h * h));
        assert_true(r.pen < 1e-9 && r.gain < 1e-6 * r.initial);
        assert_true(e < 8.0 * h);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    double order = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    printf("  order %.2f\n", order);
    assert_true(order > 0.85 && order < 1.5);
}

/* Largest distance between any two of the positions. */
static double spread(const mor_vec3* p, int n)
{
    double most = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++) most = fmax(most, mor_norm(mor_sub(p[i], p[j])));
    return most;
}

/* h = 2.5e-4 and finer. The semi-implicit step falls too far by g h t/2 in flight, 0.6 mm at the coarsest; the midpoint
 * rule in steps in which nothing pushes does not. */
static void with_friction_fine_steps_agree(void** state)
{
    (void)state;
    const char* integrators[] = { "semi-implicit", "midpoint" };
    for (int k = 0; k < 2; k++) {
        mor_vec3 p[6];
        double h = 2.5e-4;
        for (int i = 0; i < 6; i++, h *= 0.5) {
            rod_run r = rod_with(h, "0.5", 0.5, integrators[k]);
            p[i] = r.half;
            printf("  %s, h %g: (%.5f, %.5f, %.5f), %.1e m from the one before\n", integrators[k], h, p[i].x, p[i].y,
                   p[i].z, i ? mor_norm(mor_sub(p[i], p[i - 1])) : 0.0);
            if (i) assert_true(mor_norm(mor_sub(p[i], p[i - 1])) < 1e-3);
            assert_true(r.gain < 1e-6 * r.initial && r.pen < 1e-9 && r.raw < 1e-5);
        }
        printf("  %s: any two within %.2e m\n", integrators[k], spread(p, 6));
        assert_true(spread(p, 6) < (k ? 1e-3 : 2e-3)); /* 2e-3: what the default step reaches (1.52 mm), not what is
                                                          asked of any two steps */
    }
}

/* nu+'M nu+ - nu_free'M nu_free over two: what contact did to the kinetic energy of the step just made. */
static double contact_gain(const mor_world* w)
{
    double sum = 0.0;
    for (int i = 0; i < w->island_count; i++) {
        const mor_system* s = &w->islands[i].system;
        for (int t = 0; t < s->tree_count; t++) {
            const mor_tree_block* b = &s->trees[t];
            const double *after = w->islands[i].answer.nu + b->offset, *before = s->nu_free + b->offset;
            for (int k = 0; k < b->dof; k++)
                for (int l = 0; l < b->dof; l++)
                    sum += 0.5 * b->mass[k * b->dof + l] * (after[k] * after[l] - before[k] * before[l]);
        }
    }
    return sum;
}

/* Piles of random hulls in a box of walls. MOREAU_LONG=1 runs 20000 steps, otherwise four piles in which, near steps
 * 54, 77, 84 and 83, two planes of a pair disown each other (peg_yield.c). */
static void random_piles_neither_explode_nor_gain_kinetic_energy(void** state)
{
    (void)state;
    const int few[] = { 6, 8, 27, 89 };
    const bool all = getenv("MOREAU_LONG") != NULL;
    int total = all ? 20000 : 400, per_run = all ? 200 : 100, missed = 0, done = 0, wrong = 0;
    double worst = 0.0, lifted = 0.0;
    for (int run = 0; done < total; run++) {
        const int seed = all ? run + 1 : few[run];
        mor_error error = { 0 };
        mor_rng r = { (uint64_t)seed };
        mor_world* w = test_world(0.01);
        test_method(w, "formulation", "peg");
        test_method(w, "collision", "features");
        test_method(w, "solver", "auto");
        test_option(w, "solver", "tol", "1e-9");
        test_option(w, "method", "on_failure", "warn");
        const mor_quat q0 = { 1, 0, 0, 0 };
        test_fixed(w, test_box(4, 4, 1), mor_v3(0, 0, -0.5), q0);
        for (int i = 0; i < 4; i++)
            test_fixed(w, i < 2 ? test_box(1, 4, 4) : test_box(4, 1, 4),
                       mor_v3(i < 2 ? 3 * i - 1.5 : 0, i < 2 ? 0 : 3 * i - 7.5, 1), q0);
        for (int i = 0; i < 6; i++) {
            mor_vec3 p[14];
            int n = 8 + i;
            for (int k = 0; k < n; k++) {
                mor_quat q = mor_rng_rotation(&r);
                /* q first: the order of draws is fixed */
                p[k] = mor_rotate(q, mor_v3(0.25 + 0.1 * mor_rng_uniform(&r), 0, 0));
            }
            mor_geometry* g = mor_geometry_hull(p, n, &error);
            if (!g) fail_msg("%s", error.text);
            double x = 0.6 * (mor_rng_uniform(&r) - 0.5), y = 0.6 * (mor_rng_uniform(&r) - 0.5);
            test_body(w, g, 1.0, mor_v3(x, y, 0.5 + 0.8 * i), mor_rng_rotation(&r));
        }
        double e0 = mor_world_potential_energy(w), up = 0.0, deepest = 0.0;
        for (int k = 0; k < per_run; k++, done++) {
            mor_step_report s;
            if (mor_world_step(w, &s, &error) != MOR_OK) fail_msg("%s", error.text);
            assert_true(isfinite(s.kinetic) && isfinite(s.potential));
            assert_true(s.kinetic < 1e4);
            up += s.projection_work;
            deepest = fmax(deepest, s.raw_penetration);
            test_choice_report choice = { 0 };
            test_choices(w, &choice);
            /* the bodies' size is a third of a metre; the projection moves them afterwards */
            wrong += !(choice.worst < 1e-6 + 4.0 * s.raw_penetration);
            if (s.status != MOR_SOLVED) missed++;
            else worst = fmax(worst, contact_gain(w));
        }
        if (up / e0 > 5e-4)
            printf("  seed %d: projection added %.1e of the initial energy, raw penetration %.1e\n", seed, up / e0,
                   deepest);
        lifted = fmax(lifted, up / e0);
        mor_world_destroy(w);
    }
    printf("  %d steps: %d missed the tolerance, kinetic energy rose by at most %.1e J, projection added at most %.1e "
           "of the initial energy\n",
           done, missed, worst, lifted);
    printf("  %d steps in which a plane pushes while another open one separates\n", wrong);
    assert_int_equal(wrong, 0);
    assert_true(lifted < 1e-3); /* per run */
    assert_true(worst <= 1e-9);
    assert_true(missed < total / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rod_gains_no_energy_and_stays_out_of_the_rocks),
        cmocka_unit_test(without_friction_the_rod_converges_at_first_order),
        cmocka_unit_test(with_friction_fine_steps_agree),
        cmocka_unit_test(random_piles_neither_explode_nor_gain_kinetic_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
