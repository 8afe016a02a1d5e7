/* Flush shapes are one surface: nothing stops or bumps at a seam, and real steps and gaps stay what they are.
 *
 * Expected values are closed forms: a sliding body loses mu g h of speed in a step, so it comes to rest after
 * sum_k h max(0, v - k mu g h); a rolling body keeps its speed and height; two leaning cards of length L and thickness
 * T stand if mu >= (L cos - T sin) / (2 L sin) of their angle to the floor (torque about the lower edge). */
#include <math.h>
#include <stdio.h>

#include "common/random_scenes.h"

#define G 9.81

static double slide(double v, double mu, double h, int steps)
{
    double x = 0.0;
    for (int k = 1; k <= steps; k++) x += h * fmax(0.0, v - k * mu * G * h);
    return x;
}

static mor_geometry* box2(double x, double y)
{
    mor_error e = { 0 };
    mor_vec3 p[4] = { { -x / 2, -y / 2, 0 }, { x / 2, -y / 2, 0 }, { x / 2, y / 2, 0 }, { -x / 2, y / 2, 0 } };
    return mor_geometry_polygon(p, 4, &e);
}

enum { TILES = 40 };

/* Tiles side by side along the x axis of `frame`, tops at height 0 (z, in the plane y) up to `noise`. */
static void lay_tiles(mor_world* w, uint64_t* seed, int dimension, bool compound, double length, double noise,
                      double mu, mor_pose frame)
{
    mor_geometry* shapes[TILES];
    mor_pose poses[TILES];
    double x = -1.0;
    for (int i = 0; i < TILES; i++) {
        double size = test_random(seed, 0.6, 1.4) * (length + 2.0) / TILES, thick = test_random(seed, 0.1, 0.3),
               up = test_random(seed, -noise, noise) - 0.5 * thick;
        shapes[i] = dimension == 2 ? box2(size, thick) : test_box(size, 6.0, thick);
        poses[i] = mor_pose_identity();
        poses[i].position = dimension == 2 ? mor_v3(x + 0.5 * size, up, 0) : mor_v3(x + 0.5 * size, 0, up);
        x += size;
    }
    if (compound) {
        test_add(w, MOR_FIXED, shapes, poses, TILES, 0, mu, frame);
        return;
    }
    for (int i = 0; i < TILES; i++) test_add(w, MOR_FIXED, &shapes[i], NULL, 1, 0, mu, mor_pose_mul(&frame, &poses[i]));
}

/* Cases `first` to `last`, with the default methods or with exact geometry. */
static void slide_over_tiles(int first, int last, bool exact)
{
    uint64_t seed = test_seed(11 + (uint64_t)first);
    for (int k = first; k < last; k++) {
        int dimension = k % 4 == 3 ? 2 : 3;
        double mu = k % 5 == 0 ? 0.0 : test_random(&seed, 0.05, 1.0), h = test_random(&seed, 0.001, 0.02);
        double v = test_random(&seed, 1.0, 9.0), size = test_random(&seed, 0.05, 0.5), time = 0.8;
        int steps = (int)(time / h);
        double length = slide(v, mu, h, steps);
        mor_quat tilt =
            dimension == 2 ? mor_quat_axis_angle(mor_v3(0, 0, 1), test_random(&seed, -3, 3)) : test_random_turn(&seed);
        mor_vec3 up = dimension == 2 ? mor_v3(0, 1, 0) : mor_v3(0, 0, 1);
        mor_world* w = test_default_world(dimension, h, mor_rotate(tilt, mor_scale(-G, up)));
        if (exact) {
            test_method(w, "formulation", "peg");
            test_method(w, "collision", "features");
        }
        mor_pose frame = { dimension == 2 ? mor_v3(1, 2, 0) : mor_v3(1, 2, 3), tilt };
        lay_tiles(w, &seed, dimension, k % 2, length + 1.0, k % 3 ? 1e-12 : 0.0, mu, frame);
        /* low, so that it does not tip; turned about its normal, moving a little across */
        double height = size * test_random(&seed, 0.2, 0.5), yaw = dimension == 2 ? 0.0 : test_random(&seed, -1, 1);
        double across = dimension == 2 ? 0.0 : test_random(&seed, -0.3, 0.3);
        mor_geometry* shape = dimension == 2 ? box2(size, height) : test_box(size, 1.3 * size, height);
        mor_pose place = { mor_scale(0.5 * height, up), mor_quat_axis_angle(mor_v3(0, 0, 1), yaw) };
        place = mor_pose_mul(&frame, &place);
        mor_body_id body = test_add(w, MOR_DYNAMIC, &shape, NULL, 1, 2.0, mu, place);
        mor_vec3 along = mor_rotate(tilt, mor_v3(cos(across), dimension == 2 ? 0.0 : sin(across), 0));
        test_velocity(w, body, mor_scale(v, along), mor_v3(0, 0, 0));
        double gain = test_run(w, steps, NULL);
        mor_vec3 way = mor_sub(test_state(w, body).com, place.position);
        char what[160];
        snprintf(what, sizeof what, "case %d (%d-D, mu %g, h %g, v %g, size %g)", k, dimension, mu, h, v, size);
        test_near(mor_dot(way, along), length, 1e-6 * length, what);
        test_near(mor_dot(way, mor_rotate(tilt, up)), 0.0, 1e-9, what);
        assert_true(gain < 1e-9);
        mor_world_destroy(w);
    }
}

static void boxes_slide_over_flush_tiles_as_over_one(void** state)
{
    (void)state;
    slide_over_tiles(0, 40, false);
}

static void so_they_do_with_exact_geometry(void** state)
{
    (void)state;
    slide_over_tiles(40, 64, true);
}

static void round_bodies_roll_over_seams_without_a_bump(void** state)
{
    (void)state;
    uint64_t seed = test_seed(12);
    mor_error e = { 0 };
    for (int k = 0; k < 36; k++) {
        int kind = k % 4, dimension = kind == 3 ? 2 : 3; /* ball, capsule, cylinder, disc */
        double h = test_random(&seed, 0.001, 0.02), v = test_random(&seed, 0.3, 8.0), r = test_random(&seed, 0.03, 0.3);
        double mu = test_random(&seed, 0.1, 1.0);
        mor_vec3 up = dimension == 2 ? mor_v3(0, 1, 0) : mor_v3(0, 0, 1);
        mor_world* w = test_default_world(dimension, h, mor_scale(-G, up));
        lay_tiles(w, &seed, dimension, k % 2, v * 0.6 + 1.0, 0.0, mu, mor_pose_identity());
        mor_geometry* shape = kind == 0   ? test_sphere(r)
                              : kind == 1 ? mor_geometry_capsule(r, 2 * r, &e)
                              : kind == 2 ? mor_geometry_cylinder(r, r, 0, &e)
                                          : mor_geometry_disc(r, &e);
        mor_pose place = { mor_scale(r, up), mor_pose_identity().rotation };
        if (kind == 1 || kind == 2) place.rotation = mor_quat_axis_angle(mor_v3(1, 0, 0), acos(-1) / 2);
        mor_body_id body = test_add(w, MOR_DYNAMIC, &shape, NULL, 1, 1.0, mu, place);
        test_velocity(w, body, mor_v3(v, 0, 0), dimension == 2 ? mor_v3(0, 0, -v / r) : mor_v3(0, v / r, 0));
        double highest = 0.0;
        int steps = (int)(0.6 / h);
        for (int i = 0; i < steps; i++) {
            test_steps(w, 1);
            highest = fmax(highest, fabs(mor_dot(test_state(w, body).com, up) - r));
        }
        char what[160];
        snprintf(what, sizeof what, "case %d (kind %d, h %g, v %g, r %g)", k, kind, h, v, r);
        test_near(highest, 0.0, 1e-8, what);
        test_near(test_state(w, body).com.x, v * h * steps, 1e-6 * v, what);
        mor_world_destroy(w);
    }
}

/* A floor of triangular prisms, as a mesh is cut: a shape meets several walls at once, behind each other's planes. */
static void bodies_slide_over_triangles(void** state)
{
    (void)state;
    enum { N = 4, COUNT = 2 * N * N };
    uint64_t seed = test_seed(17);
    mor_error e = { 0 };
    for (int k = 0; k < 24; k++) {
        mor_geometry* shapes[COUNT];
        double a = test_random(&seed, 0.15, 0.5), mu = test_random(&seed, 0.1, 0.6), way = 1.2 * a,
               v = sqrt(2 * mu * G * way), h = v / (mu * G) / (k % 2 ? 300 : 700), r = test_random(&seed, 0.1, 0.4) * a;
        for (int i = 0; i < COUNT; i++) {
            double x = (i / 2 % N - N / 2) * a, y = (i / 2 / N - N / 2) * a;
            mor_vec3 p[6] = { { x, y, 0 }, { x + a, y + a, 0 }, { i % 2 ? x + a : x, i % 2 ? y : y + a, 0 } };
            for (int c = 0; c < 3; c++) p[c + 3] = mor_sub(p[c], mor_v3(0, 0, 0.1));
            shapes[i] = mor_geometry_hull(p, 6, &e);
        }
        mor_world* w = test_default_world(3, h, mor_v3(0, 0, -G));
        test_add(w, MOR_FIXED, shapes, NULL, COUNT, 0, mu, mor_pose_identity());
        double angle = test_random(&seed, -3, 3), height = 0.3 * r;
        mor_geometry* body =
            k % 3 == 2 ? test_box(2 * r, 1.5 * r, height) : mor_geometry_cylinder(r, height, k % 3 ? 0 : 5 + k % 4, &e);
        mor_vec3 d = mor_v3(cos(angle), sin(angle), 0);
        mor_pose at = { mor_madd(mor_v3(0, 0, 0.5 * height), -0.5 * way, d),
                        mor_quat_axis_angle(mor_v3(0, 0, 1), test_random(&seed, -3, 3)) };
        mor_body_id id = test_add(w, MOR_DYNAMIC, &body, NULL, 1, 1.0, mu, at);
        test_velocity(w, id, mor_scale(v, d), mor_v3(0, 0, 0));
        int steps = (int)(1.1 * v / (mu * G * h));
        assert_true(test_run(w, steps, NULL) < 1e-9 * v * v);
        mor_vec3 end = mor_madd(at.position, slide(v, mu, h, steps), d);
        char what[80];
        snprintf(what, sizeof what, "case %d (a %g, r %g, mu %g, h %g)", k, a, r, mu, h);
        test_near(mor_norm(mor_sub(test_state(w, id).com, end)), 0.0, 1e-5 * way, what);
        mor_world_destroy(w);
    }
}

/* Tiles that could move lie on a floor, heavier than the box. */
static void boxes_slide_over_tiles_that_lie_loose(void** state)
{
    (void)state;
    uint64_t seed = test_seed(13);
    for (int k = 0; k < 6; k++) {
        double h = test_random(&seed, 0.004, 0.012), mu = test_random(&seed, 0.2, 0.6),
               v = test_random(&seed, 1.0, 3.0);
        int steps = (int)(0.8 / h);
        mor_world* w = test_default_world(3, h, mor_v3(0, 0, -G));
        mor_geometry* floor = test_plane();
        test_add(w, MOR_FIXED, &floor, NULL, 1, 0, mu, mor_pose_identity());
        for (int i = 0; i < 6; i++) {
            mor_geometry* tile = test_box(0.4, 0.6, 0.1);
            mor_pose at = { mor_v3(-0.2 + 0.4 * i, 0, 0.05), mor_pose_identity().rotation };
            test_add(w, MOR_DYNAMIC, &tile, NULL, 1, 60.0, mu, at);
        }
        mor_geometry* shape = test_box(0.2, 0.2, 0.08);
        mor_pose at = { mor_v3(0, 0, 0.14), mor_pose_identity().rotation };
        mor_body_id body = test_add(w, MOR_DYNAMIC, &shape, NULL, 1, 0.5, mu, at);
        test_velocity(w, body, mor_v3(v, 0, 0), mor_v3(0, 0, 0));
        test_run(w, steps, NULL);
        test_near(test_state(w, body).com.x, slide(v, mu, h, steps), 1e-5, "way over loose tiles");
        mor_world_destroy(w);
    }
}

static void real_steps_stop_boxes_and_lift_balls(void** state)
{
    (void)state;
    uint64_t seed = test_seed(14);
    for (int k = 0; k < 20; k++) {
        double h = test_random(&seed, 0.001, 0.01), up = pow(10.0, test_random(&seed, -3.3, -2)), v = 1.0;
        for (int kind = 0; kind < 2; kind++) {
            double r = 0.1;
            mor_world* w = test_default_world(3, h, mor_v3(0, 0, -G));
            mor_geometry *low = test_box(2, 2, 0.2), *high = test_box(2, 2, 0.2);
            mor_pose a = { mor_v3(-1, 0, -0.1), mor_pose_identity().rotation },
                     b = { mor_v3(1, 0, up - 0.1), mor_pose_identity().rotation };
            test_add(w, MOR_FIXED, &low, NULL, 1, 0, 0.3, a);
            test_add(w, MOR_FIXED, &high, NULL, 1, 0, 0.3, b);
            mor_geometry* shape = kind ? test_sphere(r) : test_box(2 * r, 2 * r, 0.5 * r);
            mor_pose at = { mor_v3(-0.2, 0, kind ? r : 0.25 * r), mor_pose_identity().rotation };
            mor_body_id body = test_add(w, MOR_DYNAMIC, &shape, NULL, 1, 1.0, kind ? 1.0 : 0.0, at);
            test_velocity(w, body, mor_v3(v, 0, 0), kind ? mor_v3(0, v / r, 0) : mor_v3(0, 0, 0));
            double depth = 0.0, gain = test_run(w, (int)(0.13 / h), &depth);
            if (!kind) assert_true(fabs(test_state(w, body).velocity.x) < 0.7 * v);
            gain = fmax(gain, test_run(w, (int)(0.47 / h), &depth));
            mor_vec3 x = test_state(w, body).com;
            assert_true(gain < 1e-9 && depth < 1e-6);
            if (kind) {
                /* inelastic: about the edge with (1 - 5/7 up/r) of the speed; it has the energy to climb */
                test_near(x.z, r + up, 1e-4 + v * h, "a ball on the step");
                assert_true(x.x > 0.0);
            } else {
                assert_true(x.x <= -r + 1e-6); /* it may tip and slide back */
            }
            mor_world_destroy(w);
        }
    }
}

static void a_box_falls_into_a_gap_wider_than_itself(void** state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        mor_world* w = test_default_world(3, 0.002 + 0.002 * k, mor_v3(0, 0, -G));
        mor_geometry *left = test_box(1, 1, 1), *right = test_box(1, 1, 1), *shape = test_box(0.2, 0.2, 0.1);
        mor_pose a = { mor_v3(-0.5, 0, -0.5), mor_pose_identity().rotation },
                 b = { mor_v3(0.9, 0, -0.5), mor_pose_identity().rotation },
                 at = { mor_v3(-0.15, 0, 0.05), mor_pose_identity().rotation };
        test_add(w, MOR_FIXED, &left, NULL, 1, 0, 0, a);
        test_add(w, MOR_FIXED, &right, NULL, 1, 0, 0, b);
        mor_body_id body = test_add(w, MOR_DYNAMIC, &shape, NULL, 1, 1.0, 0.0, at);
        test_velocity(w, body, mor_v3(0.5, 0, 0), mor_v3(0, 0, 0));
        double depth = 0.0;
        test_run(w, (int)(0.9 / mor_world_get_step(w)), &depth);
        assert_true(test_state(w, body).com.z < -0.05);
        assert_true(depth < 1e-4);
        mor_world_destroy(w);
    }
}

/* Discs and boxes on chains: one bent nowhere, two end to end, a chain and a tile. */
static void chains_have_no_seams(void** state)
{
    (void)state;
    uint64_t seed = test_seed(15);
    mor_error e = { 0 };
    for (int k = 0; k < 24; k++) {
        double h = test_random(&seed, 0.001, 0.02), v = test_random(&seed, 0.5, 6.0),
               mu = test_random(&seed, 0.05, 0.5);
        double turn = test_random(&seed, -3, 3), r = test_random(&seed, 0.05, 0.3);
        mor_quat tilt = mor_quat_axis_angle(mor_v3(0, 0, 1), turn);
        mor_world* w = test_default_world(2, h, mor_rotate(tilt, mor_v3(0, -G, 0)));
        mor_pose frame = { mor_v3(0, 0, 0), tilt };
        double joint[] = { -2, 0.3, 0.7, 1.1, 1.15, 2.3, 3.1, 12 };
        mor_vec3 p[8];
        for (int i = 0; i < 8; i++) p[i] = mor_v3(joint[i], 0, 0);
        int cut = k % 3 ? 3 : 7;
        mor_geometry* first = mor_geometry_chain(p, cut + 1, &e);
        test_add(w, MOR_FIXED, &first, NULL, 1, 0, mu, frame);
        mor_geometry* second = k % 3 == 1 ? mor_geometry_chain(p + 3, 5, &e) : box2(10, 1);
        mor_pose at = mor_pose_identity();
        if (k % 3 == 2) at.position = mor_v3(joint[3] + 5, -0.5, 0);
        at = mor_pose_mul(&frame, &at);
        if (k % 3) test_add(w, MOR_FIXED, &second, NULL, 1, 0, mu, at);
        else mor_geometry_release(second);
        mor_geometry* shape = k % 2 ? mor_geometry_disc(r, &e) : box2(r, 0.4 * r);
        double high = k % 2 ? r : 0.2 * r;
        mor_pose place = { mor_rotate(tilt, mor_v3(0, high, 0)), tilt };
        mor_body_id body = test_add(w, MOR_DYNAMIC, &shape, NULL, 1, 1.0, mu, place);
        test_velocity(w, body, mor_rotate(tilt, mor_v3(v, 0, 0)), mor_v3(0, 0, k % 2 ? -v / r : 0));
        int steps = (int)(0.6 / h);
        test_run(w, steps, NULL);
        mor_vec3 way = mor_unrotate(tilt, test_state(w, body).com);
        char what[120];
        snprintf(what, sizeof what, "case %d (h %g, v %g, mu %g, r %g)", k, h, v, mu, r);
        test_near(way.x, k % 2 ? v * h * steps : slide(v, mu, h, steps), 1e-6 * v, what);
        test_near(way.y, high, 1e-8, what);
        mor_world_destroy(w);
    }
}

/* Two cards lean against each other. Returns how far the one that has come down farther has. */
static double cards(double angle, double mu, double thick, double h, int dimension)
{
    double L = 0.09, c = cos(angle), s = sin(angle);
    mor_vec3 up = dimension == 2 ? mor_v3(0, 1, 0) : mor_v3(0, 0, 1);
    mor_world* w = test_default_world(dimension, h, mor_scale(-G, up));
    mor_geometry* floor = dimension == 2 ? box2(4, 1) : test_plane();
    mor_pose at = { mor_v3(0, dimension == 2 ? -0.5 : 0, 0), mor_pose_identity().rotation };
    test_add(w, MOR_FIXED, &floor, NULL, 1, 0, mu, at);
    double x = 0.5 * (L * c + thick * s), z = 0.5 * (L * s + thick * c);
    mor_body_id card_of[2];
    for (int side = -1; side <= 1; side += 2) {
        mor_geometry* card = dimension == 2 ? box2(L, thick) : test_box(L, 0.06, thick);
        at.position = mor_add(mor_v3(side * x, 0, 0), mor_scale(z, up));
        at.rotation = mor_quat_axis_angle(dimension == 2 ? mor_v3(0, 0, -1) : mor_v3(0, 1, 0), side * angle);
        card_of[side > 0] = test_add(w, MOR_DYNAMIC, &card, NULL, 1, 0.0017, mu, at);
    }
    test_run(w, (int)(0.5 / h), NULL);
    double down = 0.0;
    for (int i = 0; i < 2; i++) {
        double one = z - mor_dot(test_state(w, card_of[i]).com, up);
        if (fabs(one) > fabs(down)) down = one;
    }
    mor_world_destroy(w);
    return down;
}

static void two_cards_stand_up_to_the_friction_of_the_closed_form(void** state)
{
    (void)state;
    uint64_t seed = test_seed(16);
    for (int k = 0; k < 20; k++) {
        double angle = test_random(&seed, 0.85, 1.35), thick = test_random(&seed, 2e-4, 2e-3),
               h = test_random(&seed, 0.001, 0.005);
        double mu = (0.09 * cos(angle) - thick * sin(angle)) / (2.0 * 0.09 * sin(angle));
        int dimension = k % 3 == 2 ? 2 : 3;
        char what[120];
        snprintf(what, sizeof what, "case %d (%d-D, angle %g, thickness %g, h %g)", k, dimension, angle, thick, h);
        test_near(cards(angle, 1.02 * mu, thick, h, dimension), 0.0, 1e-7, what);
        if (!(cards(angle, 0.95 * mu, thick, h, dimension) > 1e-3)) fail_msg("%s: stands with too little", what);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_slide_over_flush_tiles_as_over_one),
        cmocka_unit_test(so_they_do_with_exact_geometry),
        cmocka_unit_test(round_bodies_roll_over_seams_without_a_bump),
        cmocka_unit_test(bodies_slide_over_triangles),
        cmocka_unit_test(boxes_slide_over_tiles_that_lie_loose),
        cmocka_unit_test(real_steps_stop_boxes_and_lift_balls),
        cmocka_unit_test(a_box_falls_into_a_gap_wider_than_itself),
        cmocka_unit_test(chains_have_no_seams),
        cmocka_unit_test(two_cards_stand_up_to_the_friction_of_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
