/* Inverse dynamics: forward steps give back their forces and impulses, forces that were found give back the motion, and
 * closed forms of statics and of sliding. Random forces act in every step; the inverse is not told of them. */
#include "common/worlds.h"

#include "moreau/inverse.h"
#include "moreau/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME "moreau: 1\ntime: { step: 0.01 }\n"
#define CONVEX(r)                                                                                                      \
    "method: { formulation: { name: convex, regularisation: " r                                                        \
    " }, solver: { name: convex-newton, tol: 1e-15 }, gap_correction: velocity }\n"
#define EXACT "method: { formulation: ncp, solver: { name: auto, tol: 1e-15 }, gap_correction: velocity }\n"
#define FLOOR "bodies:\n  - { name: floor, shape: plane, fixed: true, friction: 0.4 }\n"
#define BALL "  - { name: ball, shape: { sphere: 0.5 }, mass: 2, position: [0, 0, 0.5], velocity: [1, 0.3, 0] }\n"
#define BOX                                                                                                            \
    "  - { name: box, shape: { box: [0.4, 0.3, 0.2] }, mass: 3, position: [2, 0, 0.1], velocity: [1, -0.5, 0], "       \
    "angular_velocity: [0, 0, 2], friction: 0.3 }\n"
#define TUMBLE                                                                                                         \
    "  - { name: tumbler, shape: { box: [0.4, 0.3, 0.1] }, mass: 1, position: [5, 0, 0.4], angular_velocity: [6, -4, " \
    "3] }\n"
#define STACK                                                                                                          \
    "  - { name: a, shape: { sphere: 0.2 }, mass: 1, position: [0, 2, 0.2] }\n"                                        \
    "  - { name: b, shape: { sphere: 0.2 }, mass: 2, position: [0.01, 2, 0.5998] }\n"
#define PENDULUM "joints:\n  - { type: revolute, bodies: [world, ball], point: [-1, 0, 0.5], axis: [0, 0, 1] }\n"

static double draw(mor_rng* rng) { return 2.0 * mor_rng_uniform(rng) - 1.0; }

typedef struct flow {
    mor_world *there, *here; /* the world that is stepped, the one that is asked */
    mor_scene *a, *b;
    int n, Q;
    double *q[2], *nu[2], *force;
} flow;

static flow begin(const char* text)
{
    flow f = { 0 };
    f.there = test_scene_text(text, &f.a);
    f.here = test_scene_text(text, &f.b);
    f.n = mor_world_nu_count(f.there), f.Q = mor_world_q_count(f.there);
    for (int i = 0; i < 2; i++)
        f.q[i] = calloc((size_t)f.Q + 1, sizeof(double)), f.nu[i] = calloc((size_t)f.n + 1, sizeof(double));
    f.force = calloc((size_t)f.n + 1, sizeof(double));
    return f;
}

static void end(flow* f)
{
    for (int i = 0; i < 2; i++) free(f->q[i]), free(f->nu[i]);
    free(f->force);
    mor_world_destroy(f->there), mor_world_destroy(f->here);
    mor_scene_destroy(f->a), mor_scene_destroy(f->b);
}

static void read_state(const flow* f, int i)
{
    assert_int_equal(mor_world_get_q(f->there, f->q[i], f->Q, NULL), MOR_OK);
    assert_int_equal(mor_world_get_nu(f->there, f->nu[i], f->n, NULL), MOR_OK);
}

static void put_state(const flow* f, mor_world* w)
{
    assert_int_equal(mor_world_set_q(w, f->q[0], f->Q, NULL), MOR_OK);
    assert_int_equal(mor_world_set_nu(w, f->nu[0], f->n, NULL), MOR_OK);
}

static void ask(const flow* f, const double* q, const double* nu, const mor_inverse_options* o,
                mor_inverse_dynamics** d)
{
    mor_error error = { 0 };
    uint64_t hash = mor_world_hash(f->here);
    if (mor_world_inverse(f->here, q, nu, o, d, &error) != MOR_OK) fail_msg("%s", error.text);
    assert_true(mor_world_hash(f->here) == hash);
}

/* Steps with random forces; the largest error of the forces that are found, against the largest force. */
static double forces_found(const char* text, mor_inverse_law law, double regularisation, int steps, double size)
{
    flow f = begin(text);
    mor_inverse_options o = mor_inverse_options_default();
    mor_inverse_dynamics* d = NULL;
    mor_rng rng = { 7 };
    double worst = 0.0;
    o.law = law, o.regularisation = regularisation;
    for (int k = 0; k < steps; k++) {
        mor_error error = { 0 };
        read_state(&f, 0);
        for (int i = 0; i < f.n; i++) f.force[i] = size * draw(&rng);
        mor_world_apply_forces(f.there, f.force);
        if (mor_world_step(f.there, NULL, &error) != MOR_OK) fail_msg("step %d: %s", k, error.text);
        read_state(&f, 1);
        put_state(&f, f.here);
        ask(&f, f.q[1], f.nu[1], &o, &d);
        for (int i = 0; i < f.n; i++) worst = fmax(worst, fabs(d->force[i] - f.force[i]));
        if (getenv("MOREAU_VERBOSE"))
            printf("step %d: %.2g (left %.2g, %d contacts, unique %d)\n", k, worst, d->left, d->contact_count,
                   d->unique);
    }
    mor_inverse_dynamics_destroy(d);
    end(&f);
    return worst / fmax(size, 1.0);
}

/* Random velocities at the end of the step; what the forward step makes of the forces that are found. */
static double motion_found(const char* text, mor_inverse_law law, int tries)
{
    flow f = begin(text);
    mor_inverse_options o = mor_inverse_options_default();
    mor_inverse_dynamics* d = NULL;
    mor_rng rng = { 11 };
    double worst = 0.0;
    o.law = law;
    read_state(&f, 0);
    for (int k = 0; k < tries; k++) {
        mor_error error = { 0 };
        for (int i = 0; i < f.n; i++) f.nu[1][i] = f.nu[0][i] + 0.01 * draw(&rng);
        put_state(&f, f.here), put_state(&f, f.there);
        ask(&f, NULL, f.nu[1], &o, &d);
        mor_world_apply_forces(f.there, d->force);
        if (mor_world_step(f.there, NULL, &error) != MOR_OK) fail_msg("try %d: %s", k, error.text);
        assert_int_equal(mor_world_get_nu(f.there, f.nu[1], f.n, NULL), MOR_OK);
        for (int i = 0; i < f.n; i++) worst = fmax(worst, fabs(f.nu[1][i] - d->end[i]));
    }
    mor_inverse_dynamics_destroy(d);
    end(&f);
    return worst;
}

/* --------------------------------------------------------------------------------------- both ways */

static const char* const scenes[] = { BALL, BALL BOX, TUMBLE, STACK, BALL BOX TUMBLE STACK };

static void forces_of_the_convex_step_are_found(void** state)
{
    (void)state;
    char text[4096];
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        snprintf(text, sizeof text, TIME CONVEX("0.01") FLOOR "%s", scenes[i]);
        double e = forces_found(text, MOR_INVERSE_CONVEX, 0.0, 40, 5.0);
        if (!(e < 1e-10)) fail_msg("scene %zu: %.3g", i, e);
    }
}

static void the_convex_step_repeats_any_motion(void** state)
{
    (void)state;
    char text[4096];
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        snprintf(text, sizeof text, TIME CONVEX("0.01") FLOOR "%s", scenes[i]);
        double e = motion_found(text, MOR_INVERSE_CONVEX, 30);
        if (!(e < 1e-10)) fail_msg("scene %zu: %.3g", i, e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_of_the_convex_step_are_found),
        cmocka_unit_test(the_convex_step_repeats_any_motion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
