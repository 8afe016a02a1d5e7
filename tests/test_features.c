/* Separating planes against brute force: max-of-gaps and max-min identities, rows, memory, what the formulations see.
 * */
#include "collision/features.h"
#include "common/scenes.h"
#include "common/worlds.h"
#include "formulation/assemble.h"
#include "model/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const mor_quat no_turn = { 1, 0, 0, 0 };

static mor_geometry* random_hull(mor_rng* r, int points)
{
    mor_error error = { 0 };
    mor_vec3 p[32];
    for (int i = 0; i < points; i++)
        p[i] = mor_v3(mor_rng_uniform(r) - 0.5, mor_rng_uniform(r) - 0.5, mor_rng_uniform(r) - 0.5);
    mor_geometry* g = mor_geometry_hull(p, points, &error);
    if (!g) fail_msg("%s", error.text);
    return g;
}

/* min n.b - max n.a: what any plane with normal n can do */
static double width(const mor_geometry* a, const mor_pose* pa, const mor_geometry* b, const mor_pose* pb, mor_vec3 n)
{
    mor_vec3 sa = mor_pose_point(pa, mor_geometry_support(a, mor_unrotate(pa->rotation, n)));
    mor_vec3 sb = mor_pose_point(pb, mor_geometry_support(b, mor_unrotate(pb->rotation, mor_neg(n))));
    return mor_dot(n, mor_sub(sb, sa));
}

/* All face normals and all crosses of edges: the separating axis theorem without any cleverness. */
static double brute_force(const mor_geometry* a, const mor_pose* pa, const mor_geometry* b, const mor_pose* pb)
{
    const mor_polyhedron *P = a->polyhedron, *Q = b->polyhedron;
    double best = -HUGE_VAL;
    for (int f = 0; f < P->face_count; f++)
        best = fmax(best, width(a, pa, b, pb, mor_rotate(pa->rotation, P->normals[f])));
    for (int f = 0; f < Q->face_count; f++)
        best = fmax(best, width(a, pa, b, pb, mor_neg(mor_rotate(pb->rotation, Q->normals[f]))));
    for (int i = 0; i < P->edge_count; i++)
        for (int j = 0; j < Q->edge_count; j++) {
            mor_vec3 u =
                mor_rotate(pa->rotation, mor_sub(P->vertices[P->edges[i].head], P->vertices[P->edges[i].tail]));
            mor_vec3 v = mor_rotate(pb->rotation,
                                    mor_sub(Q->vertices[Q->edges[j].head], Q->vertices[Q->edges[j].tail])),
                     n = mor_cross(u, v);
            if (mor_norm(n) < 1e-6 * mor_norm(u) * mor_norm(v)) continue;
            n = mor_scale(1.0 / mor_norm(n), n);
            best = fmax(best, fmax(width(a, pa, b, pb, n), width(a, pa, b, pb, mor_neg(n))));
        }
    return best;
}

static void the_largest_separation_is_that_of_brute_force(void** state)
{
    (void)state;
    mor_rng r = { 11 };
    int overlapping = 0;
    for (int k = 0; k < 10000; k++) {
        mor_geometry* a = k % 3 ? random_hull(&r, 5 + k % 8) : test_box(0.5 + mor_rng_uniform(&r), 0.7, 0.3);
        mor_geometry* b = k % 5 ? random_hull(&r, 5 + k % 6) : test_box(0.6, 0.4 + mor_rng_uniform(&r), 0.5);
        mor_pose pa = { { 0.1, -0.2, 0.3 }, mor_rng_rotation(&r) }, pb = { { 0, 0, 0 }, mor_rng_rotation(&r) };
        pb.position =
            mor_v3(0.1 + 0.9 * mor_rng_uniform(&r), -0.2 + 0.9 * mor_rng_uniform(&r), 0.3 + 0.9 * mor_rng_uniform(&r));
        mor_feature_query q = { .window = 10.0, .motion = 10.0, .turn = 0.0, .held = MOR_NO_PLANE };
        uint32_t cache[4] = { 0 };
        mor_feature_set set;
        mor_features_pair(a, &pa, b, &pb, 0, &q, cache, &set);
        double exact = brute_force(a, &pa, b, &pb);
        /* apart, a direction that is no facet may separate more; the sign and the depth are what planes must tell */
        if (exact <= 0.0) test_near(set.separation, exact, 1e-9, "max over planes");
        else assert_true(set.separation > -1e-9 && set.separation <= exact + 1e-9);
        overlapping += exact < 0.0;
        /* max-min: the rows of the planes reported say the same, unless the list was cut */
        double best = -HUGE_VAL;
        for (int p = 0; p < set.plane_count; p++) {
            double s = HUGE_VAL;
            for (int i = set.planes[p].row; i < set.planes[p].row + set.planes[p].row_count; i++) {
                s = fmin(s, set.rows[i].gap);
                if (mor_plane_kind(set.planes[p].id) == MOR_EDGE_PAIR) continue;
                test_near(set.rows[i].gap, mor_dot(set.planes[p].n, mor_sub(set.rows[i].on_b, set.rows[i].on_a)), 1e-12,
                          "gap of the points");
            }
            if (mor_plane_kind(set.planes[p].id) != MOR_EDGE_PAIR) test_near(s, set.planes[p].s, 1e-12, "least row");
            best = fmax(best, s);
        }
        /* the row of an edge pair is taken at the segments, so it may exceed the separation of the lines, never a
         * face's */
        if (mor_plane_kind(set.best) != MOR_EDGE_PAIR && set.row_count < MOR_MAX_ROWS &&
            set.plane_count < MOR_MAX_PLANES)
            assert_true(best >= set.separation - 1e-9);
        mor_geometry_release(a);
        mor_geometry_release(b);
    }
    assert_true(overlapping > 1000 && overlapping < 9000);
}

static void in_the_plane_too(void** state)
{
    (void)state;
    mor_rng r = { 5 };
    mor_error error = { 0 };
    int overlapping = 0;
    for (int k = 0; k < 10000; k++) {
        mor_geometry* g[2];
        for (int s = 0; s < 2; s++) {
            mor_vec3 p[8];
            int n = 3 + (k + s) % 5;
            for (int i = 0; i < n; i++) {
                double angle = 6.283185307179586 * (i + 0.8 * mor_rng_uniform(&r)) / n;
                p[i] = mor_v3(0.5 * cos(angle), 0.5 * sin(angle), 0);
            }
            g[s] = s == 0 && k % 4 == 0 ? mor_geometry_particle(&error) : mor_geometry_polygon(p, n, &error);
            if (!g[s]) fail_msg("%s", error.text);
        }
        mor_pose pa = { { 1, 2, 0 }, mor_quat_axis_angle(mor_v3(0, 0, 1), 6.28 * mor_rng_uniform(&r)) }, pb = pa;
        pb.position = mor_v3(0.4 + 1.2 * mor_rng_uniform(&r), 1.4 + 1.2 * mor_rng_uniform(&r), 0);
        pb.rotation = mor_quat_axis_angle(mor_v3(0, 0, 1), 6.28 * mor_rng_uniform(&r));
        double exact = -HUGE_VAL;
        for (int s = 0; s < 2; s++) {
            const mor_polyline* P = g[s]->polyline;
            const mor_pose *own = s ? &pb : &pa, *other = s ? &pa : &pb;
            for (int f = 0; P && f < P->edge_count; f++) {
                mor_vec3 n = mor_rotate(own->rotation, P->normals[f]), q = mor_pose_point(own, P->points[f]);
                double least = HUGE_VAL;
                const mor_polyline* Q = g[1 - s]->polyline;
                for (int v = 0; v < (Q ? Q->point_count : 1); v++)
                    least =
                        fmin(least, mor_dot(n, mor_sub(Q ? mor_pose_point(other, Q->points[v]) : other->position, q)));
                exact = fmax(exact, least);
            }
        }
        overlapping += exact < 0.0;
        mor_feature_query q = { .window = 10.0, .held = MOR_NO_PLANE };
        uint32_t cache[4] = { 0 };
        mor_feature_set set;
        mor_features_pair(g[0], &pa, g[1], &pb, 0, &q, cache, &set);
        double best = -HUGE_VAL;
        for (int p = 0; p < set.plane_count; p++) {
            double s = HUGE_VAL;
            for (int i = set.planes[p].row; i < set.planes[p].row + set.planes[p].row_count; i++)
                s = fmin(s, set.rows[i].gap);
            best = fmax(best, s);
        }
        test_near(set.separation, exact, 1e-12, "max over planes");
        test_near(best, exact, 1e-12, "max-min over rows");
        mor_geometry_release(g[0]);
        mor_geometry_release(g[1]);
    }
    assert_true(overlapping > 1000 && overlapping < 9000);
}

static void rows_of_a_face_are_the_overlap_of_the_faces(void** state)
{
    (void)state;
    mor_geometry *floor = test_box(20, 20, 1), *cube = test_box(1, 1, 1);
    mor_pose pf = { { 0, 0, -0.5 }, no_turn }, pc = { { 9.8, 0, 0.5 }, no_turn };
    mor_feature_query q = { .window = 0.1, .motion = 0.01, .turn = 1e-3, .held = MOR_NO_PLANE };
    uint32_t cache[4] = { 0 };
    mor_feature_set set;
    mor_features_pair(floor, &pf, cube, &pc, 0, &q, cache, &set);
    assert_int_equal(set.plane_count, 2); /* top of the floor, bottom of the cube */
    for (int p = 0; p < 2; p++) {
        assert_int_equal(set.planes[p].row_count, 4);
        for (int i = set.planes[p].row; i < set.planes[p].row + 4; i++) {
            double x = set.rows[i].on_a.x, y = set.rows[i].on_a.y;
            assert_true((fabs(x - 9.3) < 1e-12 || fabs(x - 10.0) < 1e-12) && fabs(fabs(y) - 0.5) < 1e-12);
        }
    }
    mor_geometry_release(floor);
    mor_geometry_release(cube);
}

static void a_snapshot_restores_the_planes_held(void** state)
{
    (void)state;
    mor_world* w[2];
    for (int i = 0; i < 2; i++) {
        w[i] = test_world(0.01);
        test_method(w[i], "formulation", "peg");
        test_method(w[i], "collision", "features");
        test_method(w[i], "solver", "lemke");
        for (int k = 0; k < 4; k++)
            test_fixed(w[i], test_box(1, 1, 1), mor_v3(k < 2 ? 2 * k - 1 : 0, k < 2 ? 0 : 2 * k - 5, 0), no_turn);
        test_body(w[i], test_box(0.99, 0.99, 0.99), 1.0, mor_v3(0.03, 0.01, 1.2),
                  mor_quat_axis_angle(mor_v3(0, 1, 0), 0.02));
    }
    test_steps(w[0], 40);
    size_t size = mor_world_save(w[0], NULL, 0);
    void* bytes = malloc(size);
    mor_error error = { 0 };
    assert_int_equal(mor_world_save(w[0], bytes, size), size);
    assert_int_equal(mor_world_restore(w[1], bytes, size, &error), MOR_OK);
    for (int k = 0; k < 40; k++) {
        test_steps(w[0], 1);
        test_steps(w[1], 1);
        assert_true(mor_world_hash(w[0]) == mor_world_hash(w[1]));
    }
    free(bytes);
    mor_world_destroy(w[0]);
    mor_world_destroy(w[1]);
}

/* What a pair remembers between calls may only make it faster. */
static void a_warm_cache_gives_the_planes_of_a_cold_one(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_geometry *a = mor_geometry_platonic("icosahedron", 0, 0.5, &error),
                 *b = mor_geometry_platonic("icosahedron", 0, 0.5, &error);
    mor_rng r = { 3 };
    mor_feature_query q = { .window = 0.05, .motion = 0.01, .turn = 1e-2, .held = MOR_NO_PLANE };
    uint32_t warm[4] = { 0 };
    for (int k = 0; k < 200; k++) {
        mor_pose pa = { { 0, 0, 0 }, mor_rng_rotation(&r) }, pb = { { 0.86, 0.1, 0.05 }, mor_rng_rotation(&r) };
        uint32_t cold[4] = { 0 };
        mor_feature_set first = { 0 }, again = { 0 };
        mor_features_pair(a, &pa, b, &pb, 0, &q, cold, &first);
        mor_features_pair(a, &pa, b, &pb, 0, &q, warm, &again);
        assert_int_equal(first.plane_count, again.plane_count);
        assert_int_equal(first.row_count, again.row_count);
        test_near(first.separation, again.separation, 0.0, "separation");
    }
    mor_geometry_release(a);
    mor_geometry_release(b);
}

static bool has_pair(const mor_contact* contacts, int count, const int body[2])
{
    for (int i = 0; i < count; i++)
        if (contacts[i].body[0] == body[0] && contacts[i].body[1] == body[1]) return true;
    return false;
}

/* S3 in free fall, at the first impacts and as a pile: the same states for both methods. */
static void features_see_every_pair_that_overlaps_in_a_pile_of_a_thousand_boxes(void** state)
{
    (void)state;
    mor_error error = { 0 };
    const char* sets[2][4] = { { "method.formulation=st", "method.solver={ name: pgs, max_iter: 15 }",
                                 "method.on_failure=warn", NULL },
                               { "method.formulation=peg", "method.collision=features", NULL } };
    mor_scene* scene[2];
    mor_world* w[2];
    for (int i = 0; i < 2; i++) {
        scene[i] = mor_scene_load(scene_path("s3"), sets[i], NULL, &error);
        if (!scene[i]) fail_msg("%s", error.text);
        w[i] = mor_scene_build(scene[i], 1, &error);
        if (!w[i]) fail_msg("%s", error.text);
    }
    for (int part = 0; part < 3; part++) {
        const int steps[] = { 10, 60, 130 };
        for (int k = 0; k < steps[part]; k++) {
            mor_step_report r;
            if (mor_world_step(w[0], &r, &error) != MOR_OK) fail_msg("%s", error.text);
        }
        for (int b = 0; b < mor_world_body_count(w[0]); b++) {
            mor_body_state s = mor_body_get_state(w[0], mor_world_body(w[0], b));
            mor_body_set_state(w[1], mor_world_body(w[1], b), &s);
        }
        const mor_contact* c[2];
        int n[2], overlapping = 0;
        mor_step* step[2];
        for (int i = 0; i < 2; i++) {
            step[i] = mor_step_create(w[i], NULL);
            mor_world_set_gravity(w[i], mor_world_gravity(w[i])); /* forgets what the last step found */
            assert_int_equal(mor_stage_user(w[i], step[i], NULL), MOR_OK);
            assert_int_equal(mor_stage_collide(w[i], step[i], NULL), MOR_OK);
            c[i] = mor_step_contacts(step[i], &n[i]);
        }
        for (int i = 0; i < n[0]; i++) {
            if (!(c[0][i].gap < -1e-9)) continue; /* apart by rounding is no overlap */
            overlapping++;
            if (!has_pair(c[1], n[1], c[0][i].body))
                fail_msg("bodies %d and %d overlap by %g and have no planes", c[0][i].body[0], c[0][i].body[1],
                         -c[0][i].gap);
        }
        printf("  at %.2f s: manifold %d contacts, %d overlap; features %d contacts\n", mor_world_time(w[0]), n[0],
               overlapping, n[1]);
        assert_true(part == 0 || overlapping > 0);
        for (int i = 0; i < 2; i++) mor_step_destroy(step[i]);
    }
    for (int i = 0; i < 2; i++) {
        mor_world_destroy(w[i]);
        mor_scene_destroy(scene[i]);
    }
}

/* The depth of a choice of planes, by definition: the largest over planes of the least gap on each. */
static void the_depth_of_a_choice_is_that_of_its_best_plane(void** state)
{
    (void)state;
    enum { COUNT = 60 };
    mor_rng r = { 77 };
    for (int round = 0; round < 200; round++) {
        mor_contact c[COUNT] = { 0 };
        for (int i = 0, shape = 0; i < COUNT; i++) {
            shape += mor_rng_uniform(&r) < 0.1;
            c[i].body[1] = 1, c[i].shape[1] = shape;
            c[i].group = (int)(3 * mor_rng_uniform(&r)); /* 0: no choice */
            c[i].plane = (int)(5 * mor_rng_uniform(&r));
            c[i].gap = mor_rng_uniform(&r) - 0.7;
        }
        mor_choice_depth last = { -1, 0.0 };
        for (int i = 0; i < COUNT; i++) {
            double best = -INFINITY;
            for (int plane = 0; plane < 5; plane++) {
                double least = INFINITY;
                for (int k = 0; k < COUNT; k++)
                    if (c[k].shape[1] == c[i].shape[1] && c[k].group == c[i].group && (int)c[k].plane == plane)
                        least = fmin(least, c[k].gap);
                if (least < INFINITY) best = fmax(best, least);
            }
            double expected = c[i].group == 0 ? -c[i].gap : -best;
            assert_true(mor_contact_depth(c, COUNT, i, &last) == expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_separation_is_that_of_brute_force),
        cmocka_unit_test(in_the_plane_too),
        cmocka_unit_test(rows_of_a_face_are_the_overlap_of_the_faces),
        cmocka_unit_test(the_depth_of_a_choice_is_that_of_its_best_plane),
        cmocka_unit_test(a_snapshot_restores_the_planes_held),
        cmocka_unit_test(a_warm_cache_gives_the_planes_of_a_cold_one),
        cmocka_unit_test(features_see_every_pair_that_overlaps_in_a_pile_of_a_thousand_boxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
