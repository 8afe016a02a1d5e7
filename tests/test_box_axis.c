/* The axis along which two boxes were apart, tried first in the next step: what it says holds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "collision/pair_tests.h"
#include "moreau/geometry.h"

#include <math.h>

/* The point of a box nearest to p. */
static mor_vec3 nearest(const mor_geometry* g, const mor_pose* pose, mor_vec3 p)
{
    const mor_vec3 h = g->polyhedron->half;
    mor_vec3 q = mor_pose_unpoint(pose, p);
    q.x = fmin(fmax(q.x, -h.x), h.x), q.y = fmin(fmax(q.y, -h.y), h.y), q.z = fmin(fmax(q.z, -h.z), h.z);
    return mor_pose_point(pose, q);
}

/* Distance by alternating projections, from above. */
static double distance(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b)
{
    mor_vec3 p = pose_a->position, q = p;
    for (int i = 0; i < 2000; i++) {
        q = nearest(b, pose_b, p);
        p = nearest(a, pose_a, q);
    }
    return mor_norm(mor_sub(q, p));
}

/* Boxes that drift and turn past each other, as in a pile; far from the origin, where positions are rounded. */
static void boxes_that_are_called_apart_are(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_geometry *a = mor_geometry_box(0.7, 1.1, 0.4, &error), *b = mor_geometry_box(0.9, 0.3, 1.3, &error);
    mor_rng rng = { 20 };
    int asked = 0, apart = 0, edges = 0, touching = 0;
    for (int run = 0; run < 300; run++) {
        const double far = run % 3 == 0 ? 1e4 : 0.0, reach = run % 2 ? 0.03 : 0.2;
        mor_pose A = { mor_v3(far, -far, 2), mor_rng_rotation(&rng) }, B = { A.position, mor_rng_rotation(&rng) };
        const mor_vec3 way = mor_v3(1.6 * (mor_rng_uniform(&rng) - 0.5), 1.6 * (mor_rng_uniform(&rng) - 0.5), 1.1);
        const mor_vec3 spin = mor_v3(mor_rng_uniform(&rng), mor_rng_uniform(&rng), -mor_rng_uniform(&rng));
        uint32_t cache[4] = { 0 };
        for (int step = 0; step < 40; step++) {
            B.position = mor_madd(A.position, 1.4 - 0.05 * step, way);
            B.rotation = mor_quat_normalize(mor_quat_mul(mor_quat_exp(mor_scale(0.02, spin)), B.rotation));
            const bool known = cache[0] != 0, edge = cache[0] >= 7;
            const bool said = mor_boxes_apart(a, &A, b, &B, reach, cache);
            mor_point points[MOR_MAX_POINTS];
            uint32_t fresh[4] = { 0 };
            const int count = mor_pair_box_box(a, &A, b, &B, reach, fresh, points);
            asked += known, apart += said, edges += said && edge, touching += count > 0;
            assert_true(known || !said);
            if (said) {
                assert_int_equal(count, 0);
                assert_true(distance(a, &A, b, &B) > reach);
            }
            assert_int_equal(mor_pair_box_box(a, &A, b, &B, reach, cache, points), count);
            if (count > 0) assert_int_equal(cache[0], 0); /* nothing to try next time */
        }
    }
    /* it is of use: most that were apart are so again though they approach, by faces and by edges */
    assert_true(apart > 1000 && apart > asked / 2);
    assert_true(edges > 50 && touching > 1000);
    mor_geometry_release(a), mor_geometry_release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(boxes_that_are_called_apart_are) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
