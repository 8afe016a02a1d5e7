/* Shapes: topology of every polyhedron, support and bounds against brute force, hulls, bad input. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "moreau/geometry.h"

static mor_error error;

/* One of every kind of polyhedron. */
enum { SOLIDS = 11 };
static mor_geometry* solid(int i)
{
    mor_vec3 p[200];
    mor_rng rng = { 7 };
    switch (i) {
    case 0:
        return mor_geometry_box(0.3, 1.0, 2.5, &error);
    case 1:
        return mor_geometry_platonic("tetrahedron", 1, 0, &error);
    case 2:
        return mor_geometry_platonic("octahedron", 0, 1, &error);
    case 3:
        return mor_geometry_platonic("dodecahedron", 0, 1, &error);
    case 4:
        return mor_geometry_platonic("icosahedron", 2, 0, &error);
    case 5:
        return mor_geometry_cylinder(0.5, 2, 3, &error);
    case 6:
        return mor_geometry_cylinder(0.5, 0.01, 17, &error);
    case 7:
        return mor_geometry_cylinder(1, 1, 1000, &error);
    case 8: /* points in a ball */
        for (int k = 0; k < 200; k++) do
                p[k] =
                    mor_v3(2 * mor_rng_uniform(&rng) - 1, 2 * mor_rng_uniform(&rng) - 1, 2 * mor_rng_uniform(&rng) - 1);
            while (mor_norm(p[k]) > 1);
        return mor_geometry_hull(p, 200, &error);
    case 9: /* on a sphere, tiny and off-centre: every point is a vertex */
        for (int k = 0; k < 200; k++)
            p[k] = mor_madd(mor_v3(1e-3, 2e-3, 0), 1e-6, mor_rotate(mor_rng_rotation(&rng), mor_v3(1, 0, 0)));
        return mor_geometry_hull(p, 200, &error);
    default: /* points of a 5x5x5 grid: a box of six faces must come out */
        for (int k = 0; k < 125; k++) p[k] = mor_v3(k % 5 - 2, k / 5 % 5 - 2, k / 25 - 2);
        return mor_geometry_hull(p, 125, &error);
    }
}

static void every_solid_is_closed_convex_and_consistently_numbered(void** state)
{
    (void)state;
    for (int i = 0; i < SOLIDS; i++) {
        mor_geometry* g = solid(i);
        if (!g) fail_msg("solid %d: %s", i, error.text);
        const mor_polyhedron* P = g->polyhedron;
        int V = P->vertex_count, E = P->edge_count, F = P->face_count;
        assert_int_equal(V - E + F, 2);
        assert_int_equal(P->face_start[F], 2 * E);
        assert_int_equal(P->vertex_start[V], 2 * E);
        for (int f = 0; f < F; f++) {
            int begin = P->face_start[f], end = P->face_start[f + 1];
            assert_true(end - begin >= 3);
            assert_true(fabs(mor_norm(P->normals[f]) - 1) < 1e-14);
            for (int k = begin; k < end; k++) {
                int a = P->face_vertices[k], b = P->face_vertices[k + 1 < end ? k + 1 : begin];
                int c = P->face_vertices[begin + (k - begin + 2) % (end - begin)];
                const mor_edge* e = &P->edges[P->face_edges[k]];
                bool forward = e->tail == a && e->head == b && e->left == f && e->right != f;
                bool backward = e->tail == b && e->head == a && e->right == f && e->left != f;
                assert_true(forward != backward);
                assert_true(fabs(mor_dot(P->normals[f], P->vertices[a]) - P->offsets[f]) < 1e-8 * g->radius);
                mor_vec3 ab = mor_sub(P->vertices[b], P->vertices[a]), bc = mor_sub(P->vertices[c], P->vertices[b]);
                assert_true(mor_dot(mor_cross(ab, bc), P->normals[f]) > 0); /* strictly convex corners */
            }
            for (int v = 0; v < V; v++)
                assert_true(mor_dot(P->normals[f], P->vertices[v]) - P->offsets[f] < 1e-8 * g->radius);
        }
        for (int e = 0; e < E; e++) { /* strictly convex edges: nothing coplanar is left unmerged */
            const mor_edge* edge = &P->edges[e];
            mor_vec3 d = mor_sub(P->vertices[edge->head], P->vertices[edge->tail]);
            assert_true(mor_dot(mor_cross(P->normals[edge->left], P->normals[edge->right]), d) > 0);
            int along = P->edge_direction[e]; /* its direction, or ~ that of an edge the other way */
            mor_vec3 u = mor_scale(along < 0 ? -1.0 : 1.0, P->directions[along < 0 ? ~along : along]);
            assert_true(mor_norm(mor_sub(d, mor_scale(mor_norm(d), u))) < 1e-13 * mor_norm(d));
        }
        const int directions[] = { 3, 6, 6, 15, 15 }; /* box and Platonic solids: half of the edges where opposite ones
                                                         are parallel */
        if (i < 5) assert_int_equal(P->direction_count, directions[i]);
        assert_true(P->direction_count <= E);
        for (int v = 0; v < V; v++) {
            assert_true(P->vertex_start[v + 1] - P->vertex_start[v] >= 3);
            for (int k = P->vertex_start[v]; k < P->vertex_start[v + 1]; k++) {
                const mor_edge* e = &P->edges[P->vertex_edges[k]];
                assert_true(e->tail == v || e->head == v);
                if (k > P->vertex_start[v]) assert_true(P->vertex_edges[k - 1] < P->vertex_edges[k]);
            }
        }
        mor_geometry_release(g);
    }
}

static void the_solids_have_the_known_numbers_of_vertices_and_faces(void** state)
{
    (void)state;
    static const int vertices[] = { 8, 4, 6, 20, 12, 6, 34, 2000, 0, 200, 8 };
    static const int faces[] = { 6, 4, 8, 12, 20, 5, 19, 1002, 0, 396, 6 };
    for (int i = 0; i < SOLIDS; i++) {
        mor_geometry* g = solid(i);
        if (vertices[i]) {
            assert_int_equal(g->polyhedron->vertex_count, vertices[i]);
            assert_int_equal(g->polyhedron->face_count, faces[i]);
        }
        mor_geometry_release(g);
    }
}

static void the_platonic_solids_have_the_edge_and_circumradius_asked_for(void** state)
{
    (void)state;
    static const char* names[] = { "tetrahedron", "octahedron", "dodecahedron", "icosahedron" };
    for (int i = 0; i < 4; i++) {
        mor_geometry* a = mor_geometry_platonic(names[i], 0.7, 0, &error);
        mor_geometry* b = mor_geometry_platonic(names[i], 0, 0.7, &error);
        assert_non_null(a);
        assert_non_null(b);
        for (int e = 0; e < a->polyhedron->edge_count; e++) {
            const mor_edge* edge = &a->polyhedron->edges[e];
            mor_vec3 d = mor_sub(a->polyhedron->vertices[edge->head], a->polyhedron->vertices[edge->tail]);
            assert_true(fabs(mor_norm(d) - 0.7) < 1e-15);
        }
        for (int v = 0; v < b->polyhedron->vertex_count; v++)
            assert_true(fabs(mor_norm(b->polyhedron->vertices[v]) - 0.7) < 1e-15);
        assert_string_equal(a->label, names[i]);
        mor_geometry_release(a);
        mor_geometry_release(b);
    }
}

static void a_box_has_exact_planes_and_is_recognised_as_one(void** state)
{
    (void)state;
    mor_geometry* g = mor_geometry_box(0.1, 0.7, 3.3, &error);
    const mor_polyhedron* P = g->polyhedron;
    assert_true(P->is_box && P->half.x == 0.05 && P->half.y == 0.35 && P->half.z == 1.65);
    for (int f = 0; f < 6; f++) {
        double n[3] = { 0, 0, 0 }, half[3] = { 0.05, 0.35, 1.65 };
        n[f / 2] = f % 2 ? 1 : -1;
        assert_true(P->normals[f].x == n[0] && P->normals[f].y == n[1] && P->normals[f].z == n[2]);
        assert_true(P->offsets[f] == half[f / 2]);
    }
    mor_geometry_release(g);
    g = solid(10);
    assert_true(g->polyhedron->is_box && g->polyhedron->half.y == 2);
    mor_geometry_release(g);
    g = mor_geometry_cylinder(sqrt(2), 2, 4, &error); /* a box turned by 45 degrees is not axis-aligned */
    assert_false(g->polyhedron->is_box);
    assert_true(g->polyhedron->vertices[0].x == sqrt(2) && g->polyhedron->vertices[0].y == 0);
    mor_geometry_release(g);
}

static void a_hull_contains_its_points_and_ignores_their_order(void** state)
{
    (void)state;
    mor_rng rng = { 20240607 };
    mor_vec3 p[300], q[300];
    for (int i = 0; i < 300; i++)
        p[i] = mor_v3(mor_rng_uniform(&rng), 10 * mor_rng_uniform(&rng), 0.1 * mor_rng_uniform(&rng));
    for (int i = 0; i < 300; i++) q[i] = p[299 - i];
    mor_geometry *a = mor_geometry_hull(p, 300, &error), *b = mor_geometry_hull(q, 300, &error),
                 *c = mor_geometry_hull(p, 300, &error);
    assert_true(a && b && c);
    for (int i = 0; i < 300; i++)
        for (int f = 0; f < a->polyhedron->face_count; f++)
            assert_true(mor_dot(a->polyhedron->normals[f], p[i]) <= a->polyhedron->offsets[f] + 1e-8);
    assert_int_equal(a->polyhedron->face_count, b->polyhedron->face_count);
    assert_true(fabs(a->unit.mass - b->unit.mass) < 1e-14);
    /* the same points give the same bits */
    assert_memory_equal(a->polyhedron->vertices, c->polyhedron->vertices,
                        (size_t)a->polyhedron->vertex_count * sizeof(mor_vec3));
    assert_memory_equal(&a->unit, &c->unit, sizeof a->unit);
    mor_geometry_release(a);
    mor_geometry_release(b);
    mor_geometry_release(c);
}

/* Points that fill the surface of a shape, by its definition. */
static double highest_by_sampling(const mor_geometry* g, mor_vec3 d)
{
    double best = -INFINITY, r = g->size[0], l = g->size[1];
    for (int i = 0; i < 2000; i++) {
        double a = 2 * acos(-1) * i / 2000, ca = r * cos(a), sa = r * sin(a);
        mor_vec3 p[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
        switch (g->kind) {
        case MOR_CYLINDER:
            p[0] = mor_v3(ca, sa, l / 2);
            p[1] = mor_v3(ca, sa, -l / 2);
            break;
        case MOR_CONE:
            p[0] = mor_v3(ca, sa, -l / 4);
            p[1] = mor_v3(0, 0, 3 * l / 4);
            break;
        case MOR_DISC:
            p[0] = p[1] = mor_v3(ca, sa, 0);
            break;
        default:
            break;
        }
        best = fmax(best, fmax(mor_dot(p[0], d), mor_dot(p[1], d)));
    }
    if (g->polyhedron || g->polyline) best = -INFINITY;
    if (g->kind == MOR_SPHERE) best = r * mor_norm(d);
    if (g->kind == MOR_CAPSULE) best = r * mor_norm(d) + fabs(d.z) * l / 2;
    if (g->kind == MOR_POLYHEDRON)
        for (int v = 0; v < g->polyhedron->vertex_count; v++) best = fmax(best, mor_dot(g->polyhedron->vertices[v], d));
    if (g->kind == MOR_POLYGON)
        for (int v = 0; v < g->polyline->point_count; v++) best = fmax(best, mor_dot(g->polyline->points[v], d));
    return best;
}

enum { ROUND_SHAPES = 6 };
static mor_geometry* any_shape(int i)
{
    static const mor_vec3 triangle[] = { { -1, 0, 0 }, { 2, 0, 0 }, { 0, 1, 0 } };
    switch (i) {
    case 0:
        return mor_geometry_sphere(0.7, &error);
    case 1:
        return mor_geometry_capsule(0.2, 1.5, &error);
    case 2:
        return mor_geometry_cylinder(0.4, 0.9, 0, &error);
    case 3:
        return mor_geometry_cone(0.6, 1.1, &error);
    case 4:
        return mor_geometry_disc(0.3, &error);
    case 5:
        return mor_geometry_polygon(triangle, 3, &error);
    default:
        return solid(i - ROUND_SHAPES);
    }
}

static void the_support_point_is_the_highest_point_of_the_shape(void** state)
{
    (void)state;
    mor_rng rng = { 3 };
    for (int i = 0; i < ROUND_SHAPES + SOLIDS; i++) {
        mor_geometry* g = any_shape(i);
        assert_non_null(g);
        for (int k = 0; k < 200; k++) {
            mor_vec3 d = mor_rotate(mor_rng_rotation(&rng), mor_v3(2, 0, 0));
            double value = mor_dot(mor_geometry_support(g, d), d), sampled = highest_by_sampling(g, d);
            /* 2000 samples of a circle miss its top by at most r |d| (pi/2000)^2/2 */
            assert_true(value >= sampled - 1e-12 && value <= sampled + 2e-6);
        }
        mor_vec3 up = mor_geometry_support(g, mor_v3(0, 0, 1)), zero = mor_geometry_support(g, mor_v3(0, 0, 0));
        assert_true(isfinite(up.x) && isfinite(up.y) && isfinite(up.z) && isfinite(zero.x) && isfinite(zero.y));
        assert_true(mor_norm(up) <= g->radius * (1 + 1e-15));
        mor_geometry_release(g);
    }
}

static void the_bounds_touch_the_support_points_on_all_six_sides(void** state)
{
    (void)state;
    mor_rng rng = { 5 };
    for (int i = 0; i < ROUND_SHAPES + SOLIDS; i++) {
        mor_geometry* g = any_shape(i);
        for (int k = 0; k < 20; k++) {
            mor_pose X = { { 1, -2, 3 }, mor_rng_rotation(&rng) };
            if (g->dimension == 2) X = (mor_pose){ { 1, -2, 0 }, mor_quat_axis_angle(mor_v3(0, 0, 1), k) };
            mor_aabb box = mor_geometry_bounds(g, &X);
            for (int axis = 0; axis < g->dimension; axis++) {
                mor_vec3 d = { axis == 0, axis == 1, axis == 2 };
                mor_vec3 local = mor_unrotate(X.rotation, d);
                mor_vec3 top = mor_pose_point(&X, mor_geometry_support(g, local));
                mor_vec3 bottom = mor_pose_point(&X, mor_geometry_support(g, mor_neg(local)));
                assert_true(fabs(mor_axis(box.upper, axis) - mor_axis(top, axis)) < 1e-12);
                assert_true(fabs(mor_axis(box.lower, axis) - mor_axis(bottom, axis)) < 1e-12);
            }
        }
        mor_geometry_release(g);
    }
}

static void a_plane_is_bounded_only_along_its_normal(void** state)
{
    (void)state;
    mor_geometry* g = mor_geometry_plane(&error);
    mor_pose X = { { 0, 0, 2 }, { 1, 0, 0, 0 } };
    mor_aabb box = mor_geometry_bounds(g, &X);
    assert_true(box.upper.z == 2 && isinf(box.lower.z) && isinf(box.upper.x) && isinf(box.lower.y));
    X.rotation = mor_quat_axis_angle(mor_v3(1, 0, 0), 0.3);
    box = mor_geometry_bounds(g, &X);
    assert_true(isinf(box.upper.z));
    assert_true(g->unit.mass == 0 && isinf(g->radius));
    mor_geometry_release(g);
}

static void polygons_are_turned_cleaned_and_have_outward_normals(void** state)
{
    (void)state;
    /* clockwise square with a repeated, a closing and a collinear point */
    const mor_vec3 p[] = {
        { 0, 0, 0 }, { 0, 1, 0 }, { 0, 1, 0 }, { 0.5, 1, 0 }, { 1, 1, 0 }, { 1, 0, 0 }, { 0, 0, 0 }
    };
    mor_geometry* g = mor_geometry_polygon(p, 7, &error);
    if (!g) fail_msg("%s", error.text);
    const mor_polyline* L = g->polyline;
    assert_int_equal(L->point_count, 4);
    assert_int_equal(L->edge_count, 4);
    static const double expected[4][4] = { { 0, 0, 0, -1 }, { 1, 0, 1, 0 }, { 1, 1, 0, 1 }, { 0, 1, -1, 0 } };
    for (int i = 0; i < 4; i++) {
        assert_true(L->points[i].x == expected[i][0] && L->points[i].y == expected[i][1]);
        assert_true(L->normals[i].x == expected[i][2] && L->normals[i].y == expected[i][3]);
    }
    mor_geometry_release(g);
}

static void chains_keep_their_order_and_have_the_solid_on_the_right(void** state)
{
    (void)state;
    const mor_vec3 p[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, -2, 0 }, { 3, -2, 0 } };
    mor_geometry* g = mor_geometry_chain(p, 4, &error);
    assert_non_null(g);
    assert_int_equal(g->polyline->edge_count, 3);
    assert_true(g->polyline->normals[0].y == 1);
    assert_true(g->polyline->normals[1].x == 1 && g->polyline->normals[1].y == 0);
    assert_true(g->unit.mass == 0);
    mor_geometry_release(g);
    const mor_vec3 ring[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 }, { 0, 0, 0 } };
    g = mor_geometry_chain(ring, 5, &error);
    assert_non_null(g);
    assert_true(g->polyline->normals[0].y == 1); /* a container: the solid is outside */
    mor_geometry_release(g);
}

static void bad_plane_shapes_are_refused_with_a_sentence(void** state)
{
    (void)state;
    static const struct {
        bool chain;
        int count;
        mor_vec3 p[6];
        const char* says;
    } cases[] = {
        { false, 2, { { 0, 0, 0 }, { 1, 0, 0 } }, "at least 3" },
        { false, 3, { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } }, "on a line" },
        { false, 3, { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0.5 } }, "z = 0.5" },
        { false, 3, { { 0, 0, 0 }, { NAN, 0, 0 }, { 1, 1, 0 } }, "not finite" },
        { false, 3, { { 0, 0, 0 }, { 2e9, 0, 0 }, { 1, 1, 0 } }, "wrong unit" },
        { false, 3, { { 0, 0, 0 }, { 1e-11, 0, 0 }, { 0, 1e-11, 0 } }, "wrong unit" },
        { false, 4, { { 0, 0, 0 }, { 2, 0, 0 }, { 0.5, 0.5, 0 }, { 0, 2, 0 } }, "not convex" },
        { false,
          5,
          { { 0, 1, 0 }, { -0.59, -0.81, 0 }, { 0.95, 0.31, 0 }, { -0.95, 0.31, 0 }, { 0.59, -0.81, 0 } },
          "not convex" }, /* a pentagram turns left at every corner */
        { true, 1, { { 0, 0, 0 } }, "at least 2" },
        { true, 3, { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 } }, "coincide" },
        { true, 3, { { 0, 0, 0 }, { 1, 0, 0 }, { 0.5, 0, 0 } }, "doubles back" },
        { true, 4, { { 0, 0, 0 }, { 2, 0, 0 }, { 1, 1, 0 }, { 1, -1, 0 } }, "cross" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error.text[0] = '\0';
        mor_geometry* g = cases[i].chain ? mor_geometry_chain(cases[i].p, cases[i].count, &error)
                                         : mor_geometry_polygon(cases[i].p, cases[i].count, &error);
        if (g || !strstr(error.text, cases[i].says)) fail_msg("case %zu: %s", i, g ? "accepted" : error.text);
        assert_int_equal(error.code, MOR_BAD_INPUT);
    }
}

static void bad_sizes_are_refused_with_a_sentence(void** state)
{
    (void)state;
    static const double bad[] = { 0, -1, NAN, INFINITY, 1e-10, 1e10 };
    for (int i = 0; i < 6; i++) {
        double b = bad[i];
        mor_geometry* made[] = {
            mor_geometry_sphere(b, &error),         mor_geometry_box(1, b, 1, &error),
            mor_geometry_capsule(1, b, &error),     mor_geometry_capsule(b, 1, &error),
            mor_geometry_cylinder(1, b, 0, &error), mor_geometry_cylinder(b, 1, 6, &error),
            mor_geometry_cone(b, 1, &error),        mor_geometry_cone(1, b, &error),
            mor_geometry_disc(b, &error),           mor_geometry_platonic("octahedron", b, 0, &error)
        };
        for (size_t k = 0; k < sizeof made / sizeof *made; k++) assert_null(made[k]);
    }
    assert_null(mor_geometry_cylinder(1, 1, 2, &error));
    assert_non_null(strstr(error.text, "3 to"));
    assert_null(mor_geometry_cylinder(1, 1, -3, &error));
    assert_null(mor_geometry_platonic("octahedron", 1, 1, &error));
    assert_non_null(strstr(error.text, "both"));
    assert_null(mor_geometry_platonic("cube", 1, 0, &error));
    assert_non_null(strstr(error.text, "box"));
    assert_null(mor_geometry_sphere(-1, NULL)); /* an error struct is not required */
    const mor_vec3 flat[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 }, { 0.3, 0.2, 0 } };
    assert_null(mor_geometry_hull(flat, 5, &error));
    assert_non_null(strstr(error.text, "flat"));
    assert_null(mor_geometry_hull(flat, 3, &error));
    const mor_vec3 same[4] = { { 0 } };
    assert_null(mor_geometry_hull(same, 4, &error));
    const mor_vec3 nan[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, NAN } };
    assert_null(mor_geometry_hull(nan, 4, &error));
    assert_non_null(strstr(error.text, "not finite"));
}

static int destroyed;
static void destroy(void* user) { destroyed += *(int*)user; }
static mor_aabb no_bounds(const mor_geometry* geometry, const mor_pose* pose)
{
    (void)geometry;
    return (mor_aabb){ pose->position, pose->position };
}

static void a_shape_lives_until_its_last_reference_is_released(void** state)
{
    (void)state;
    static const mor_custom_shape blob = { "blob", no_bounds, destroy };
    int one = 1;
    mor_mass unit = { 1, { 0, 0, 0 }, mor_mat3_identity() };
    mor_geometry* g = mor_geometry_custom(&blob, &one, &unit, 2, 3, &error);
    assert_non_null(g);
    assert_ptr_equal(mor_geometry_retain(g), g);
    mor_geometry_release(g);
    assert_int_equal(destroyed, 0);
    mor_pose X = { { 4, 5, 6 }, { 1, 0, 0, 0 } };
    assert_true(mor_geometry_bounds(g, &X).lower.y == 5);
    assert_null(mor_geometry_scaled(g, 2, &error));
    mor_geometry_release(g);
    assert_int_equal(destroyed, 1);
    mor_geometry_release(NULL);
    assert_null(mor_geometry_custom(&blob, &one, &unit, 2, 4, &error));
}

static void scaling_multiplies_lengths_and_mass_properties_by_the_right_powers(void** state)
{
    (void)state;
    for (int i = 0; i < ROUND_SHAPES + SOLIDS; i++) {
        mor_geometry *g = any_shape(i), *s = mor_geometry_scaled(g, 3, &error);
        if (!s) fail_msg("%s", error.text);
        double volume = g->dimension == 3 ? 27 : 9;
        assert_int_equal(s->kind, g->kind);
        assert_true(fabs(s->radius - 3 * g->radius) <= 1e-14 * s->radius);
        assert_true(fabs(s->unit.mass - volume * g->unit.mass) <= 1e-12 * s->unit.mass);
        assert_true(fabs(s->unit.inertia.m[2][2] - 9 * volume * g->unit.inertia.m[2][2]) <=
                    1e-12 * s->unit.inertia.m[2][2]);
        mor_vec3 d = { 0.3, 0.5, 0.7 };
        mor_vec3 a = mor_geometry_support(g, d), b = mor_geometry_support(s, d);
        assert_true(mor_norm(mor_sub(b, mor_scale(3, a))) <= 1e-14 * s->radius);
        if (g->polyhedron) assert_int_equal(s->polyhedron->edge_count, g->polyhedron->edge_count);
        mor_geometry_release(g);
        mor_geometry_release(s);
    }
    mor_geometry* g = mor_geometry_sphere(1, &error);
    assert_null(mor_geometry_scaled(g, 0, &error));
    assert_null(mor_geometry_scaled(g, -1, &error));
    assert_null(mor_geometry_scaled(g, 1e12, &error));
    mor_geometry_release(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solid_is_closed_convex_and_consistently_numbered),
        cmocka_unit_test(the_solids_have_the_known_numbers_of_vertices_and_faces),
        cmocka_unit_test(the_platonic_solids_have_the_edge_and_circumradius_asked_for),
        cmocka_unit_test(a_box_has_exact_planes_and_is_recognised_as_one),
        cmocka_unit_test(a_hull_contains_its_points_and_ignores_their_order),
        cmocka_unit_test(the_support_point_is_the_highest_point_of_the_shape),
        cmocka_unit_test(the_bounds_touch_the_support_points_on_all_six_sides),
        cmocka_unit_test(a_plane_is_bounded_only_along_its_normal),
        cmocka_unit_test(polygons_are_turned_cleaned_and_have_outward_normals),
        cmocka_unit_test(chains_keep_their_order_and_have_the_solid_on_the_right),
        cmocka_unit_test(bad_plane_shapes_are_refused_with_a_sentence),
        cmocka_unit_test(bad_sizes_are_refused_with_a_sentence),
        cmocka_unit_test(a_shape_lives_until_its_last_reference_is_released),
        cmocka_unit_test(scaling_multiplies_lengths_and_mass_properties_by_the_right_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
