/* Ellipsoids: mass, bounds, and contacts whose certificate is checked: the points lie on both shapes, the normal is
 * that of both, and the points are apart by the gap along it. For convex shapes that are apart nothing is nearer. */
#include "common/random_scenes.h"

#include <math.h>
#include <stdio.h>

#include "collision/pair_table.h"

static mor_rng rng;
static double uniform(double low, double high) { return low + (high - low) * mor_rng_uniform(&rng); }

static mor_quat random_turn(void)
{
    mor_quat q = { uniform(-1, 1), uniform(-1, 1), uniform(-1, 1), uniform(-1, 1) };
    return mor_quat_normalize(q);
}

/* x'D^-2 x - 1 in the frame of the ellipsoid, and how far its normal is from n (sine). */
static double on_surface(const mor_geometry* g, const mor_pose* pose, mor_vec3 x, mor_vec3 n, double* sine)
{
    mor_vec3 p = mor_pose_unpoint(pose, x);
    const double* a = g->size;
    mor_vec3 out = mor_v3(p.x / (a[0] * a[0]), p.y / (a[1] * a[1]), p.z / (a[2] * a[2]));
    mor_vec3 m = mor_rotate(pose->rotation, mor_normalize(out, mor_v3(1, 0, 0)));
    *sine = mor_norm(mor_cross(m, n));
    if (mor_dot(m, n) < 0.0) *sine = 2.0;
    return p.x * p.x / (a[0] * a[0]) + p.y * p.y / (a[1] * a[1]) + p.z * p.z / (a[2] * a[2]) - 1.0;
}

/* How far on_a is from the farthest point of the other shape along n [m]. */
static double from_support(const mor_geometry* g, const mor_pose* pose, mor_vec3 x, mor_vec3 n)
{
    mor_vec3 far = mor_pose_point(pose, mor_geometry_support(g, mor_unrotate(pose->rotation, n)));
    return fabs(mor_dot(n, mor_sub(far, x)));
}

static mor_geometry* partner(int kind)
{
    mor_error error = { 0 };
    double a = uniform(0.1, 1), b = uniform(0.1, 1), c = uniform(0.1, 1);
    switch (kind) {
    case 0:
        return mor_geometry_sphere(a, &error);
    case 1:
        return mor_geometry_box(a, b, c, &error);
    case 2:
        return mor_geometry_platonic("icosahedron", 0, a, &error);
    case 3:
        return mor_geometry_capsule(0.3 * a, b, &error);
    case 4:
        return mor_geometry_ellipsoid(a, b, c, &error);
    case 5:
        return mor_geometry_cylinder(a, b, 0, &error);
    case 6:
        return mor_geometry_cone(a, b, &error);
    default:
        return mor_geometry_plane(&error);
    }
}

static void contacts_with_every_shape_have_their_certificate(void** state)
{
    (void)state;
    static const char* const names[] = { "sphere",    "box",      "icosahedron", "capsule",
                                         "ellipsoid", "cylinder", "cone",        "plane" };
    mor_error error = { 0 };
    for (int kind = 0; kind < 8; kind++) {
        double worst_place = 0, worst_normal = 0, worst_support = 0;
        int found = 0;
        for (int k = 0; k < 400; k++) {
            mor_geometry* a = partner(kind);
            mor_geometry* b =
                mor_geometry_ellipsoid(uniform(0.05, 0.5), uniform(0.05, 0.5), uniform(0.05, 0.5), &error);
            mor_pose A = { { uniform(-1, 1), uniform(-1, 1), uniform(-1, 1) }, random_turn() }, B = A;
            B.rotation = random_turn();
            mor_vec3 d = mor_rotate(random_turn(), mor_v3(1, 0, 0));
            double reach = mor_dot(
                d, mor_rotate(A.rotation, mor_geometry_support(kind == 7 ? b : a, mor_unrotate(A.rotation, d))));
            /* from 2 % deep to 10 % apart, and flush */
            double off = k % 4 == 0 ? 1e-9 : uniform(-0.02, 0.1);
            B.position = mor_madd(A.position, reach + 0.9 * b->radius + off, d);
            if (kind == 7) B.position = mor_add(A.position, mor_rotate(A.rotation, mor_v3(0.3, 0.2, b->radius + off)));
            bool swap;
            mor_pair_test test = mor_pair_builtin(a->kind, b->kind, &swap);
            assert_non_null(test);
            assert_false(swap && a->kind != b->kind);
            uint32_t cache[4] = { 0 };
            mor_point p[MOR_MAX_POINTS];
            int n = test(a, &A, b, &B, 2.0, cache, p);
            if (n == 0) {
                assert_true(kind != 7);
                mor_geometry_release(a), mor_geometry_release(b);
                continue;
            }
            assert_int_equal(n, 1);
            found++;
            double sine;
            worst_place = fmax(worst_place, fabs(on_surface(b, &B, p->on_b, mor_neg(p->normal), &sine)));
            worst_normal = fmax(worst_normal, sine);
            test_near(mor_norm(mor_sub(mor_sub(p->on_b, p->on_a), mor_scale(p->gap, p->normal))), 0.0, 1e-12, "apart");
            if (kind == 4) {
                worst_place = fmax(worst_place, fabs(on_surface(a, &A, p->on_a, p->normal, &sine)));
                worst_normal = fmax(worst_normal, sine);
            } else if (kind != 7) worst_support = fmax(worst_support, from_support(a, &A, p->on_a, p->normal));
            /* the point on a is in the shape: no direction sees it outside */
            for (int t = 0; kind != 7 && t < 30; t++) {
                mor_vec3 m = mor_rotate(random_turn(), mor_v3(1, 0, 0));
                mor_vec3 far = mor_pose_point(&A, mor_geometry_support(a, mor_unrotate(A.rotation, m)));
                worst_support = fmax(worst_support, mor_dot(m, mor_sub(p->on_a, far)));
            }
            mor_geometry_release(a), mor_geometry_release(b);
        }
        print_message("%s: %d contacts, surface %.1e, normal %.1e, support %.1e m\n", names[kind], found, worst_place,
                      worst_normal, worst_support);
        assert_true(found > 200);
        bool rims = kind == 5 || kind == 6;
        assert_true(worst_place < (rims ? 1e-6 : 1e-9));
        assert_true(worst_normal < (rims ? 1e-6 : 1e-9));
        assert_true(worst_support < (rims ? 1e-6 : 1e-9));
    }
}

static void mass_and_bounds_are_those_of_the_closed_forms(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_geometry* g = mor_geometry_ellipsoid(0.3, 0.2, 0.1, &error);
    const double pi = 3.14159265358979323846;
    test_near(g->unit.mass, 4.0 / 3.0 * pi * 0.006, 1e-15, "volume");
    test_near(g->unit.inertia.m[0][0] / g->unit.mass, (0.04 + 0.01) / 5, 1e-15, "Jx");
    test_near(g->unit.inertia.m[1][1] / g->unit.mass, (0.09 + 0.01) / 5, 1e-15, "Jy");
    test_near(g->unit.inertia.m[2][2] / g->unit.mass, (0.09 + 0.04) / 5, 1e-15, "Jz");
    for (int k = 0; k < 50; k++) {
        mor_pose pose = { { 1, 2, 3 }, random_turn() };
        mor_aabb box = mor_geometry_bounds(g, &pose);
        for (int i = 0; i < 3; i++) {
            mor_vec3 e = mor_v3(i == 0, i == 1, i == 2);
            mor_vec3 far = mor_pose_point(&pose, mor_geometry_support(g, mor_unrotate(pose.rotation, e)));
            test_near(mor_dot(e, far), mor_axis(box.upper, i), 1e-12, "bound");
        }
    }
    mor_geometry* twice = mor_geometry_scaled(g, 2.0, &error);
    test_near(twice->size[1], 0.4, 1e-15, "scaled");
    test_near(twice->unit.inertia.m[0][0], 32.0 * g->unit.inertia.m[0][0], 1e-12, "scaled inertia");
    mor_geometry_release(twice);
    mor_geometry_release(g);
    assert_null(mor_geometry_ellipsoid(0.3, 0.0, 0.1, &error));
    assert_null(mor_geometry_ellipsoid(0.3, -1.0, 0.1, &error));
    assert_null(mor_geometry_ellipsoid(0.3, NAN, 0.1, &error));
    assert_null(mor_geometry_ellipsoid(3e3, 1.0, 1.0, &error));
}

/* An ellipsoid rocks on the plane about its flat side: small oscillations with w^2 = m g (rho - c)/(I + m c^2), where
 * rho = a^2/c is the radius of curvature below and c the height of the centre. */
static void small_rocking_has_the_period_of_the_closed_form(void** state)
{
    (void)state;
    const double a = 0.3, b = 0.2, c = 0.1, g = 9.81, theta = 1e-3;
    char text[600];
    snprintf(text, sizeof text,
             "moreau: 1\ntime: { step: 0.0005 }\nbodies:\n"
             "  - { name: egg, shape: { ellipsoid: [%g, %g, %g] }, mass: 2, friction: 5, position: [0, 0, %.17g], "
             "orientation: { axis: [0, 1, 0], angle: %.17g } }\n"
             "  - { name: floor, shape: plane, fixed: true, friction: 5 }\n",
             a, b, c, sqrt(c * c * cos(theta) * cos(theta) + a * a * sin(theta) * sin(theta)),
             theta * 57.295779513082323);
    mor_scene* scene;
    mor_world* w = test_scene_text(text, &scene);
    mor_body_id egg = mor_world_find_body(w, "egg");
    double omega = sqrt(g * (a * a / c - c) / ((a * a + c * c) / 5 + c * c)), quarter = 0.5 * 3.14159265358979 / omega;
    double before = theta, crossing = 0.0;
    for (int k = 0; k < 4000 && crossing == 0.0; k++) {
        test_steps(w, 1);
        double now = 2.0 * test_state(w, egg).pose.rotation.y;
        if (now <= 0.0) crossing = mor_world_time(w) - 0.0005 * now / (now - before);
        before = now;
    }
    print_message("quarter period %.6f s, expected %.6f s\n", crossing, quarter);
    test_near(crossing, quarter, 0.0003, "quarter period"); /* first order: about half a step */
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

int main(void)
{
    rng.state = test_seed(5);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_with_every_shape_have_their_certificate),
        cmocka_unit_test(mass_and_bounds_are_those_of_the_closed_forms),
        cmocka_unit_test(small_rocking_has_the_period_of_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
