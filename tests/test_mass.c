/* Mass properties against closed forms, and sums, frames and checks of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "moreau/geometry.h"

static const double PI = 3.14159265358979323846;
static mor_error error;

static void near(double value, double expected, double scale)
{
    if (!(fabs(value - expected) <= 1e-13 * scale)) fail_msg("%.17g, expected %.17g", value, expected);
}

static void has_mass(mor_geometry* g, double mass, double Jx, double Jy, double Jz)
{
    if (!g) fail_msg("%s", error.text);
    double J[3] = { Jx, Jy, Jz }, largest = fmax(Jx, fmax(Jy, Jz));
    near(g->unit.mass, mass, mass);
    near(mor_norm(g->unit.com), 0, g->radius);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) near(g->unit.inertia.m[i][k], i == k ? J[i] : 0, largest);
    assert_int_equal(mor_mass_check(&g->unit, &error), MOR_OK);
    mor_geometry_release(g);
}

static void smooth_shapes_have_the_textbook_mass_properties(void** state)
{
    (void)state;
    double m = 4.0 / 3 * PI * 8;
    has_mass(mor_geometry_sphere(2, &error), m, 0.4 * m * 4, 0.4 * m * 4, 0.4 * m * 4);
    m = PI * 0.25 * 3;
    has_mass(mor_geometry_cylinder(0.5, 3, 0, &error), m, m * (0.75 + 9) / 12, m * (0.75 + 9) / 12, m * 0.125);
    m = PI * 0.25 * 2 / 3;
    has_mass(mor_geometry_cone(0.5, 2, &error), m, m * (0.0375 + 0.15), m * (0.0375 + 0.15), 0.3 * m * 0.25);
    m = PI * 4;
    has_mass(mor_geometry_disc(2, &error), m, m, m, 2 * m);
    m = 2 * 3 * 5;
    has_mass(mor_geometry_box(2, 3, 5, &error), m, m * 34 / 12, m * 29 / 12, m * 13 / 12);
}

/* A capsule is a cylinder and two half balls: half ball of mass m, J about its own centre of mass,
 * 3r/8 from its flat: 83/320 m r^2 across, 2/5 m r^2 along. Put together with mor_mass_combine. */
static void a_capsule_is_the_sum_of_a_cylinder_and_two_half_balls(void** state)
{
    (void)state;
    double r = 0.3, l = 1.1, m = 2.0 / 3 * PI * r * r * r, c = PI * r * r * l;
    double across = 83.0 / 320 * m * r * r, along = 0.4 * m * r * r;
    mor_mass parts[3] = {
        { c, { 0, 0, 0 }, mor_mat3_diag(c * (3 * r * r + l * l) / 12, c * (3 * r * r + l * l) / 12, c * r * r / 2) },
        { m, { 0, 0, l / 2 + 3 * r / 8 }, mor_mat3_diag(across, across, along) },
        { m, { 0, 0, -l / 2 - 3 * r / 8 }, mor_mat3_diag(across, across, along) },
    };
    mor_mass sum = mor_mass_combine(parts, 3);
    has_mass(mor_geometry_capsule(r, l, &error), sum.mass, sum.inertia.m[0][0], sum.inertia.m[1][1],
             sum.inertia.m[2][2]);
}

static void platonic_solids_have_the_inertia_of_their_edge_length(void** state)
{
    (void)state;
    const double a = 0.7, s5 = sqrt(5.0);
    static const char* names[] = { "tetrahedron", "octahedron", "icosahedron", "dodecahedron" };
    const double volume[] = { a * a * a / (6 * sqrt(2.0)), sqrt(2.0) / 3 * a * a * a, 5 * (3 + s5) / 12 * a * a * a,
                              (15 + 7 * s5) / 4 * a * a * a };
    const double factor[] = { 1.0 / 20, 1.0 / 10, (3 + s5) / 20, (95 + 39 * s5) / 300 };
    for (int i = 0; i < 4; i++) {
        double J = factor[i] * volume[i] * a * a;
        has_mass(mor_geometry_platonic(names[i], a, 0, &error), volume[i], J, J, J);
    }
    /* the octahedron with vertices at +-1 has J = 1/5 per mass, not the 1/10 of edge 1 */
    mor_geometry* g = mor_geometry_platonic("octahedron", 0, 1, &error);
    near(g->unit.inertia.m[0][0] / g->unit.mass, 0.2, 1);
    mor_geometry_release(g);
}

static void a_prism_has_the_inertia_of_its_polygon_and_tends_to_the_cylinder(void** state)
{
    (void)state;
    double r = 0.4, l = 0.9, last = INFINITY;
    mor_geometry* smooth = mor_geometry_cylinder(r, l, 0, &error);
    static const int sides[] = { 3, 4, 5, 12, 100, 1000 };
    for (int i = 0; i < 6; i++) {
        int n = sides[i];
        mor_geometry* g = mor_geometry_cylinder(r, l, n, &error);
        double area = 0.5 * n * r * r * sin(2 * PI / n), m = area * l;
        double Jz = m * r * r * (2 + cos(2 * PI / n)) / 6; /* regular polygon with circumradius r */
        near(g->unit.mass, m, m);
        near(g->unit.inertia.m[2][2], Jz, 10 * Jz);
        near(g->unit.inertia.m[0][0], Jz / 2 + m * l * l / 12, 10 * m);
        double off = fabs(g->unit.mass / smooth->unit.mass - 1);
        assert_true(off < last);
        last = off;
        mor_geometry_release(g);
    }
    assert_true(last < 1e-5); /* 2 pi^2 / (3 n^2) */
    mor_geometry_release(smooth);
}

static void any_tetrahedron_has_the_inertia_of_its_four_corners(void** state)
{
    (void)state;
    /* a uniform tetrahedron has the second moments of masses m/20 at the corners and 4m/5 at the
     * centre: an independent form of the same integral */
    mor_rng rng = { 11 };
    for (int trial = 0; trial < 50; trial++) {
        mor_vec3 p[4];
        for (int i = 0; i < 4; i++)
            p[i] = mor_v3(3 + mor_rng_uniform(&rng), mor_rng_uniform(&rng) - 5, mor_rng_uniform(&rng));
        double volume = fabs(mor_dot(mor_sub(p[1], p[0]), mor_cross(mor_sub(p[2], p[0]), mor_sub(p[3], p[0])))) / 6;
        if (volume < 1e-3) continue;
        mor_vec3 c = mor_scale(0.25, mor_add(mor_add(p[0], p[1]), mor_add(p[2], p[3])));
        mor_mass points[5];
        for (int i = 0; i < 5; i++)
            points[i] = (mor_mass){ i < 4 ? volume / 20 : 0.8 * volume, i < 4 ? p[i] : c, mor_mat3_diag(0, 0, 0) };
        mor_mass expected = mor_mass_combine(points, 5);
        mor_geometry* g = mor_geometry_hull(p, 4, &error);
        if (!g) fail_msg("%s", error.text);
        near(g->unit.mass, volume, 10);
        assert_true(mor_norm(mor_sub(g->unit.com, c)) < 1e-12);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) near(g->unit.inertia.m[i][j], expected.inertia.m[i][j], 10);
        mor_geometry_release(g);
    }
}

static void a_turned_box_as_a_hull_equals_the_formula_in_its_frame(void** state)
{
    (void)state;
    mor_rng rng = { 2 };
    mor_geometry* box = mor_geometry_box(0.2, 0.5, 1.7, &error);
    for (int trial = 0; trial < 20; trial++) {
        mor_pose X = { { 1, -3, 0.5 }, mor_rng_rotation(&rng) };
        mor_vec3 p[8];
        for (int i = 0; i < 8; i++) p[i] = mor_pose_point(&X, box->polyhedron->vertices[i]);
        mor_geometry* g = mor_geometry_hull(p, 8, &error);
        if (!g) fail_msg("%s", error.text);
        assert_int_equal(g->polyhedron->face_count, 6);
        mor_mass expected = mor_mass_transform(&box->unit, &X);
        near(g->unit.mass, expected.mass, 10 * expected.mass);
        assert_true(mor_norm(mor_sub(g->unit.com, X.position)) < 1e-13);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) near(g->unit.inertia.m[i][j], expected.inertia.m[i][j], 1);
        mor_geometry_release(g);
    }
    mor_geometry_release(box);
}

static void polygons_have_the_area_and_inertia_of_the_lamina(void** state)
{
    (void)state;
    const mor_vec3 rectangle[] = { { 1, 2, 0 }, { 4, 2, 0 }, { 4, 4, 0 }, { 1, 4, 0 } };
    mor_geometry* g = mor_geometry_polygon(rectangle, 4, &error);
    near(g->unit.mass, 6, 10);
    near(g->unit.com.x, 2.5, 10);
    near(g->unit.com.y, 3, 10);
    near(g->unit.inertia.m[2][2], 6 * (9 + 4) / 12.0, 100);
    near(g->unit.inertia.m[0][0], 6 * 4 / 12.0, 100);
    near(g->unit.inertia.m[0][1], 0, 100);
    mor_geometry_release(g);
    const mor_vec3 triangle[] = { { 0, 0, 0 }, { 3, 0, 0 }, { 0, 2, 0 } }; /* J_xy about the centre: +m b h/36 */
    g = mor_geometry_polygon(triangle, 3, &error);
    near(g->unit.mass, 3, 10);
    near(g->unit.inertia.m[0][0], 3 * 4 / 18.0, 10);
    near(g->unit.inertia.m[1][1], 3 * 9 / 18.0, 10);
    near(g->unit.inertia.m[0][1], 3 * 6 / 36.0, 10);
    mor_geometry_release(g);
    g = mor_geometry_particle(&error);
    assert_true(g->unit.mass == 0 && g->radius == 0);
    mor_geometry_release(g);
}

static void combining_two_half_boxes_gives_the_whole_by_parallel_axes(void** state)
{
    (void)state;
    mor_geometry *half = mor_geometry_box(1, 1, 2, &error), *whole = mor_geometry_box(1, 1, 4, &error);
    mor_pose up = { { 5, 0, 1 }, { 1, 0, 0, 0 } }, down = { { 5, 0, -1 }, { 0, 1, 0, 0 } };
    mor_mass parts[2] = { mor_mass_transform(&half->unit, &up), mor_mass_transform(&half->unit, &down) };
    mor_mass sum = mor_mass_combine(parts, 2);
    near(sum.mass, whole->unit.mass, 10);
    near(sum.com.x, 5, 10);
    near(sum.com.z, 0, 10);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) near(sum.inertia.m[i][j], whole->unit.inertia.m[i][j], 100);
    mor_geometry_release(half);
    mor_geometry_release(whole);
    mor_mass nothing = mor_mass_combine(NULL, 0);
    assert_true(nothing.mass == 0);
}

static void principal_axes_diagonalise_the_inertia(void** state)
{
    (void)state;
    mor_rng rng = { 9 };
    for (int trial = 0; trial < 100; trial++) {
        double d[3] = { 1, 1 + mor_rng_uniform(&rng), 2 + mor_rng_uniform(&rng) };
        if (trial % 3 == 0) d[1] = d[0]; /* double moments have no unique axes */
        mor_mat3 D = mor_mat3_diag(d[2], d[0], d[1]), R = mor_quat_matrix(mor_rng_rotation(&rng));
        mor_mat3 J = mor_mat3_rotate(&R, &D);
        double moments[3];
        mor_quat axes;
        mor_inertia_principal(&J, moments, &axes);
        mor_mat3 Q = mor_quat_matrix(axes), P = mor_mat3_diag(moments[0], moments[1], moments[2]);
        mor_mat3 back = mor_mat3_rotate(&Q, &P);
        for (int i = 0; i < 3; i++) {
            near(moments[i], d[i], 100);
            for (int j = 0; j < 3; j++) near(back.m[i][j], J.m[i][j], 100);
        }
    }
    double moments[3];
    mor_quat axes;
    mor_mat3 J = mor_mat3_diag(1, 2, 3);
    mor_inertia_principal(&J, moments, &axes);
    assert_true(axes.w == 1 && moments[0] == 1 && moments[2] == 3);
}

static void impossible_masses_are_refused_with_their_numbers(void** state)
{
    (void)state;
    static const struct {
        mor_mass mass;
        const char* says;
    } cases[] = {
        { { 0, { 0, 0, 0 }, { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } }, "mass is 0" },
        { { -2, { 0, 0, 0 }, { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } }, "mass is -2" },
        { { NAN, { 0, 0, 0 }, { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } }, "mass is" },
        { { 1, { 0, INFINITY, 0 }, { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } }, "not finite" },
        { { 1, { 0, 0, 0 }, { { { 1, 0, 0 }, { 0, NAN, 0 }, { 0, 0, 1 } } } }, "Iyy" },
        { { 1, { 0, 0, 0 }, { { { 1, 0.1, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } } }, "not symmetric" },
        { { 1, { 0, 0, 0 }, { { { 1, 2, 0 }, { 2, 1, 0 }, { 0, 0, 1 } } } }, "-1, 1, 3" },
        { { 1, { 0, 0, 0 }, { { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 } } } }, "positive definite" },
        { { 1, { 0, 0, 0 }, { { { 1, 0, 0 }, { 0, 2, 0 }, { 0, 0, 4 } } } }, "exceeds the sum of the others (3)" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        error.text[0] = '\0';
        assert_int_equal(mor_mass_check(&cases[i].mass, &error), MOR_BAD_INPUT);
        if (!strstr(error.text, cases[i].says)) fail_msg("case %zu: %s", i, error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_shapes_have_the_textbook_mass_properties),
        cmocka_unit_test(a_capsule_is_the_sum_of_a_cylinder_and_two_half_balls),
        cmocka_unit_test(platonic_solids_have_the_inertia_of_their_edge_length),
        cmocka_unit_test(a_prism_has_the_inertia_of_its_polygon_and_tends_to_the_cylinder),
        cmocka_unit_test(any_tetrahedron_has_the_inertia_of_its_four_corners),
        cmocka_unit_test(a_turned_box_as_a_hull_equals_the_formula_in_its_frame),
        cmocka_unit_test(polygons_have_the_area_and_inertia_of_the_lamina),
        cmocka_unit_test(combining_two_half_boxes_gives_the_whole_by_parallel_axes),
        cmocka_unit_test(principal_axes_diagonalise_the_inertia),
        cmocka_unit_test(impossible_masses_are_refused_with_their_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
