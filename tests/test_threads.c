/* The same bits with any number of threads where a step uses them all: pairs of shapes, trees, islands. */
#include "common/worlds.h"

#include <math.h>

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
            assert_in_range(r.contacts, 257, 100000); /* enough pairs for the threads */
            uint64_t hash = mor_world_hash(w);
            if (k == 0) first = hash;
            assert_true(hash == first);
            mor_world_destroy(w);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_pile_has_one_hash) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
