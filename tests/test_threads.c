/* The same bits with any number of threads where a step uses them all: pairs of shapes, trees, islands, one island,
 * robots and what holds them against gravity. */
#include "common/worlds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int counts[] = { 1, 2, 4, 8 };
enum { COUNTS = sizeof counts / sizeof *counts };

/* Towers of boxes, 512, close to each other; each is pushed aside as `seed` says. */
static mor_world* pile(int threads, uint64_t seed, const char* formulation)
{
    mor_world_def def = mor_world_def_default();
    def.threads = threads;
    mor_world* w = mor_world_create(&def, NULL);
    assert_non_null(w);
    test_method(w, "formulation", formulation);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), (mor_quat){ 1, 0, 0, 0 });
    mor_rng rng = { seed };
    for (int i = 0; i < 512; i++) {
        mor_vec3 x = mor_v3(0.93 * (i % 8), 0.83 * (i / 8 % 8), 0.35 + 0.7 * (i / 64));
        mor_body_id b = test_body(w, test_box(0.9, 0.8, 0.7), 1.0, x, (mor_quat){ 1, 0, 0, 0 });
        double vx = mor_rng_uniform(&rng), vy = mor_rng_uniform(&rng);
        test_velocity(w, b, mor_v3(2.0 * vx - 1.0, 2.0 * vy - 1.0, 0), mor_v3(0, 0, 0));
    }
    return w;
}

static void a_pile_has_one_hash(void** state)
{
    (void)state;
    static const char* const methods[] = { "sequential-impulses", "soft-step", "xpbd" };
    for (int m = 0; m < 3; m++) {
        uint64_t first = 0;
        for (int k = 0; k < COUNTS; k++) {
            mor_world* w = pile(counts[k], 31 + (uint64_t)m, methods[m]);
            mor_step_report r = test_steps(w, 20);
            assert_in_range(r.contacts, 257, 100000);         /* enough pairs for the threads */
            assert_in_range(r.problem_size, 3 * 512, 100000); /* rows of an island that all of them share */
            uint64_t hash = mor_world_hash(w);
            if (k == 0) first = hash;
            assert_true(hash == first);
            mor_world_destroy(w);
        }
    }
}

/* Humanoids beside each other, each pushed by gravity and held by a controller of its own. */
static void humanoids_have_one_hash(void** state)
{
    (void)state;
    enum { ROBOTS = 9, ROOM = 16384 };
    static char text[ROOM];
    int at = snprintf(text, ROOM,
                      "moreau: 1\ntime: { step: 0.001, end: 1 }\nbodies:\n"
                      "  - { name: floor, shape: plane, fixed: true, friction: 0.8 }\nrobots:\n");
    for (int i = 0; i < ROBOTS; i++)
        at += snprintf(
            text + at, (size_t)(ROOM - at),
            "  - { name: human%d, urdf: %s/scenes/robots/humanoid.urdf, base: floating, position: [%d, 0, 0.86], "
            "joints: { l_hip_pitch: -0.3, l_knee: 0.6, l_ankle_pitch: -0.3, r_hip_pitch: -0.3, r_knee: 0.6, "
            "r_ankle_pitch: -0.%d } }\n",
            i, MOREAU_SOURCE_DIR, 2 * i, 30 + i);
    at += snprintf(text + at, (size_t)(ROOM - at), "controllers:\n");
    for (int i = 0; i < ROBOTS; i++)
        at += snprintf(text + at, (size_t)(ROOM - at),
                       "  - { type: pid, robot: human%d, kp: %d, kd: 80, gravity_compensation: true }\n", i, 500 + i);
    assert_in_range(at, 1, ROOM - 1);
    uint64_t first = 0;
    for (int k = 0; k < COUNTS; k++) {
        mor_error error = { 0 };
        mor_scene* scene = mor_scene_parse(text, strlen(text), "humans.yaml", NULL, NULL, &error);
        if (!scene) print_message("%s\n", error.text);
        assert_non_null(scene);
        mor_world* w = mor_scene_build(scene, counts[k], &error);
        assert_non_null(w);
        mor_step_report r = test_steps(w, 40);
        assert_true(r.contacts > 4 * ROBOTS);
        uint64_t hash = mor_world_hash(w);
        if (k == 0) first = hash;
        assert_true(hash == first);
        mor_world_destroy(w);
        mor_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_pile_has_one_hash),
                                        cmocka_unit_test(humanoids_have_one_hash) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
