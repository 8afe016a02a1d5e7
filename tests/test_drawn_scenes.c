/* Scenes drawn at random with the defaults of everything: none may fail, gain energy or stay overlapped. Fifteen of
 * them, and one whose capsules need ten passes to be moved apart; MOREAU_LONG=1: two hundred. MOREAU_DRAWN=n runs scene
 * n alone and prints it first, n-m runs several.
 *
 * The energy scale of a scene is the largest kinetic energy of its run, or its weight times its size if that is larger.
 * A step may gain 1e-6 of it.
 *
 * Undoing what overlaps at the start may lift bodies by as much as they are in each other, and all steps together by
 * 1e-3 of the size of the scene (step/projection_energy.c).
 *
 * The first twenty steps may undo what the scene overlaps at the start; afterwards no contact is deeper than 1e-3 of
 * the smaller body. Steps on which the solver fails are taken in parts, the default. */
#include "common/drawn_scenes.h"
#include "common/worlds.h"
#include "moreau/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 500, SETTLE = 20, MANY_PASSES = 136 };

typedef struct outcome {
    int failures, below_goal;
    double gain, depth; /* relative: largest gain of a step, deepest contact */
    int gain_step, depth_step;
    double start_work, work; /* of the projections, over what they may be: before the first step, and in all others */
    double seconds;
    char detail[200];
} outcome;

/* Deepest contact over the size of the smaller body that moves. */
static double relative_depth(const mor_world* w, const test_drawn* d)
{
    int n;
    double worst = 0.0;
    const mor_contact* c = mor_world_contacts(w, &n);
    for (int i = 0; i < n; i++) {
        double size = INFINITY;
        for (int side = 0; side < 2; side++)
            if (c[i].body[side] > 0) size = fmin(size, d->size[c[i].body[side] - 1]); /* body 0 is the floor */
        worst = fmax(worst, -c[i].gap / size);
    }
    return worst;
}

static outcome run(const test_drawn* d, int steps)
{
    outcome o = { 0 };
    mor_scene* scene;
    mor_error error = { 0 };
    mor_world* w = test_scene_text(d->text, &scene);
    mor_start look = { 0 };
    assert_int_equal(mor_world_look(w, &look, &error), MOR_OK);
    mor_run* run = mor_run_create(w, steps, &error);
    assert_non_null(run);
    double scale = d->weight * d->extent, energy = mor_world_kinetic_energy(w) + mor_world_potential_energy(w);
    double most = 0.0, first = 0.0, start = mor_cpu_clock();
    for (int k = 1; k <= steps && !mor_run_stopped(run); k++) {
        mor_step_report r;
        if (mor_run_step(run, &r, &error)) fail_msg("%s", error.text);
        double E = r.kinetic + r.potential, gain = E - energy - fmax(0.0, r.projection_work);
        if (gain > most) most = gain, o.gain_step = k;
        energy = E;
        if (k == 1) first = r.projection_work;
        scale = fmax(scale, r.kinetic);
        double depth = k > SETTLE ? relative_depth(w, d) : 0.0;
        if (depth > o.depth) o.depth = depth, o.depth_step = k;
    }
    mor_run_summary s = mor_run_summarise(run);
    o.failures = s.failures;
    o.below_goal = s.below_goal;
    o.gain = most / scale;
    const double slack = 1e-3 * d->weight * d->extent; /* bodies in each other end on each other: depths add up */
    o.start_work = first / (d->weight * look.penetration * look.overlaps + slack);
    o.work = (s.energy.projection_work - first) / slack;
    mor_start_free(&look);
    o.seconds = mor_cpu_clock() - start;
    snprintf(o.detail, sizeof o.detail, "%s", s.detail);
    mor_run_destroy(run);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    return o;
}

static bool good(const outcome* o)
{
    return o->failures == 0 && o->gain <= 1e-6 && o->depth <= 1e-3 && o->start_work <= 1.0 && o->work <= 1.0;
}

static void scenes_drawn_at_random_run_with_the_defaults(void** state)
{
    (void)state;
    static test_drawn d;
    const char* one = getenv("MOREAU_DRAWN");
    bool whole = getenv("MOREAU_LONG") != NULL;
    int first = one ? atoi(one) : 1, last = one ? first : whole ? 200 : 16, bad = 0;
    if (one && strchr(one, '-')) last = atoi(strchr(one, '-') + 1);
    for (int seed = first; seed <= last; seed++) {
        test_draw_scene(!one && !whole && seed == last ? MANY_PASSES : (uint64_t)seed, &d);
        if (one && first == last) fputs(d.text, stdout), fflush(stdout);
        outcome o = run(&d, whole || one ? STEPS : STEPS / 4);
        bad += !good(&o);
        if (one || !good(&o))
            print_message(
                "scene %d (%s, %d bodies): %d failed steps, %d below the goal, gain %.2g (step %d), depth %.2g "
                "(step %d), work %.2g and %.2g, %.2f s %s\n",
                seed, d.kind, d.count, o.failures, o.below_goal, o.gain, o.gain_step, o.depth, o.depth_step,
                o.start_work, o.work, o.seconds, o.detail);
    }
    if (bad) fail_msg("%d of %d scenes are bad; MOREAU_DRAWN=n shows scene n", bad, last - first + 1);
}

/* 515: a rod that spins, 1166: joints next to singular, which gave a step 1e11 times its energy, 670 and 3004:
 * mechanisms that rest on the floor and are open by 1e-8 m, which friction did not let them close, in nearly every
 * step; 5102: a base of 2.5 g that carries 944 kg, 7189: a light body that rocks between two heavy ones; 5121 and 7133:
 * bodies of 2 g on joints between those of 60 and 137 kg, whose equations Newton's method meets through a compliance.
 */
static void scenes_that_gained_or_missed_the_goal_do_so_no_more(void** state)
{
    (void)state;
    static test_drawn d;
    static const uint64_t seeds[] = { 515, 1166, 670, 3004, 5102, 7189, 5121, 7133 };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        test_draw_scene(seeds[i], &d);
        outcome o = run(&d, STEPS);
        if (!good(&o) || o.below_goal > STEPS / 100)
            fail_msg("scene %d: %d failed steps, %d below the goal, gain %.2g (step %d), depth %.2g", (int)seeds[i],
                     o.failures, o.below_goal, o.gain, o.gain_step, o.depth);
    }
}

/* Too long a step for bodies that turn far: 8167 was lifted by 4e-3 of its size in later steps, the others had contacts
 * 0.02 to 1.4 of the body deep for up to 103 steps. */
static void steps_too_long_for_their_bodies_are_taken_in_parts(void** state)
{
    (void)state;
    static test_drawn d;
    static const uint64_t seeds[] = { 8167, 10111, 10456, 10802, 11011, 12968 };
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        test_draw_scene(seeds[i], &d);
        outcome o = run(&d, STEPS);
        if (!good(&o))
            fail_msg("scene %d: %d failed steps, gain %.2g (step %d), depth %.2g (step %d), work %.2g and %.2g",
                     (int)seeds[i], o.failures, o.gain, o.gain_step, o.depth, o.depth_step, o.start_work, o.work);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_drawn_at_random_run_with_the_defaults),
        cmocka_unit_test(scenes_that_gained_or_missed_the_goal_do_so_no_more),
        cmocka_unit_test(steps_too_long_for_their_bodies_are_taken_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
