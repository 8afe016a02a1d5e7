/* Exact geometry where something else moves: restitution, kinematic obstacles, belts; and open chains in the plane.
 *
 * Expected values: Newton's law of restitution and the heights of a bouncing body, the same scene on one half-space,
 * the motion of the obstacle, the closed-form motion of a particle. */
#include "common/choices.h"
#include "common/worlds.h"
#include "lab/particle.h"

#include <math.h>
#include <stdio.h>

static const double g = 9.81;
static const mor_quat no_turn = { 1, 0, 0, 0 };

static mor_world* peg_world(double h, double mu, double e)
{
    mor_error error = { 0 };
    mor_world* w = test_world(h);
    test_option(w, "solver", "tol", "1e-10"); /* expected values to 1e-9; the default asks for 1e-8 m/s */
    test_method(w, "formulation", "peg");
    test_method(w, "collision", "features");
    test_method(w, "solver", "auto");
    mor_world_set_pair(w, 0, 0, mu, e, &error);
    return w;
}

static double deepest;

static mor_step_report step(mor_world* w)
{
    mor_step_report r = test_steps(w, 1);
    test_choice_report choice = { 0 };
    test_choices(w, &choice);
    assert_true(choice.worst < 1e-7);
    deepest = fmax(deepest, r.penetration);
    return r;
}

/* Floor of tiles whose seams run under the body, or one half-space. */
static void lay_floor(mor_world* w, bool tiles)
{
    if (!tiles) test_fixed(w, test_plane(), mor_v3(0, 0, 0), no_turn);
    for (int i = 0; tiles && i < 64; i++)
        test_fixed(w, test_box(0.5, 0.5, 0.2), mor_v3(0.5 * (i % 8) - 1.75, 0.5 * (i / 8) - 1.75, -0.1), no_turn);
}

/* ------------------------------------------------------------------------------ restitution */

/* Highest clearances after the first two bounces of a cube dropped flat. */
static void bounce(double h, bool tiles, double e, double apex[2], mor_vec3 v, mor_vec3* end)
{
    mor_world* w = peg_world(h, 0.3, e);
    lay_floor(w, tiles);
    mor_body_id cube = test_body(w, test_box(0.4, 0.4, 0.4), 1.0, mor_v3(0.05, -0.07, 1.2), no_turn);
    test_velocity(w, cube, v, mor_v3(0, 0, 0));
    apex[0] = apex[1] = 0.0;
    int bounces = 0;
    double before = 0.0, energy = HUGE_VAL;
    deepest = 0.0;
    for (int k = 0; k < (int)(1.2 / h + 0.5); k++) {
        mor_step_report r = step(w);
        mor_body_state s = test_state(w, cube);
        if (before < 0.0 && s.velocity.z > 0.0) bounces++;
        if (bounces > 0 && bounces < 3) apex[bounces - 1] = fmax(apex[bounces - 1], s.com.z - 0.2);
        before = s.velocity.z;
        assert_true(r.kinetic + r.potential <= energy + 1e-9);
        energy = r.kinetic + r.potential;
    }
    assert_true(deepest < 1e-9);
    *end = test_state(w, cube).com;
    mor_world_destroy(w);
}

static void a_cube_bounces_to_e_squared_of_its_height(void** state)
{
    (void)state;
    const double steps[] = { 0.004, 0.002, 0.001 };
    const mor_vec3 none = { 0, 0, 0 };
    mor_vec3 end;
    for (int i = 0; i < 3; i++) {
        double apex[2];
        bounce(steps[i], false, 0.5, apex, none, &end);
        printf("  h %g: %.4f and %.4f m (exact 0.25 and 0.0625)\n", steps[i], apex[0], apex[1]);
        test_near(apex[0], 0.25, 5.0 * steps[i], "first bounce");
        test_near(apex[1], 0.0625, 5.0 * steps[i], "second bounce");
    }
}

static void bouncing_on_seams_is_bouncing_on_one_plane(void** state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        mor_vec3 a, b, v = i ? mor_v3(0.7, 0.4, 0) : mor_v3(0, 0, 0);
        double apex[2];
        bounce(0.005, true, 0.6, apex, v, &a);
        bounce(0.005, false, 0.6, apex, v, &b);
        printf("  v %g: tiles differ by %.1e\n", v.x, mor_norm(mor_sub(a, b)));
        assert_true(mor_norm(mor_sub(a, b)) < 1e-9);
    }
}

/* A corner first: Newton's law at one contact point, v_n+ = -e v_n-, at the step that would close it. */
static void a_corner_leaves_at_e_times_its_approach(void** state)
{
    (void)state;
    const double e = 0.8;
    mor_world* w = peg_world(0.001, 0.0, e);
    lay_floor(w, true);
    mor_quat q = mor_quat_normalize((mor_quat){ 1, 0.3, 0.2, 0.1 });
    mor_body_id cube = test_body(w, test_box(0.4, 0.4, 0.4), 1.0, mor_v3(0.1, 0.1, 0.6), q);
    test_velocity(w, cube, mor_v3(0, 0, -2), mor_v3(0.5, 0.3, 0));
    for (int k = 0; k < 300; k++) {
        mor_body_state s = test_state(w, cube);
        /* lowest corner and its velocity before the step */
        mor_vec3 low = { 0, 0, HUGE_VAL };
        for (int c = 0; c < 8; c++) {
            mor_vec3 r =
                mor_rotate(s.pose.rotation, mor_v3(c & 1 ? 0.2 : -0.2, c & 2 ? 0.2 : -0.2, c & 4 ? 0.2 : -0.2));
            if (s.com.z + r.z < low.z) low = mor_v3(r.x, r.y, s.com.z + r.z);
        }
        mor_vec3 arm = mor_v3(low.x, low.y, low.z - s.com.z);
        double before = mor_add(s.velocity, mor_cross(s.angular_velocity, arm)).z;
        step(w);
        mor_body_state t = test_state(w, cube);
        double after = mor_add(t.velocity, mor_cross(t.angular_velocity, arm)).z;
        if (after < 0.0) continue;
        printf("  approach %.4f m/s, leaves at %.4f m/s\n", before, after);
        test_near(after, -e * before, 0.02, "speed of the corner"); /* gravity and rotation of one step */
        mor_world_destroy(w);
        return;
    }
    fail_msg("it never landed");
}

/* ---------------------------------------------------------------------------- moving obstacles */

static mor_body_id moving(mor_world* w, mor_geometry* shape, mor_vec3 x, mor_vec3 v, mor_vec3 spin)
{
    mor_error error = { 0 };
    mor_body_shape part = { shape, mor_pose_identity(), -1 };
    mor_body_def def = mor_body_def_default();
    def.kind = MOR_KINEMATIC;
    def.shapes = &part;
    def.shape_count = 1;
    def.pose.position = x;
    def.velocity = v;
    def.angular_velocity = spin;
    mor_body_id id = mor_world_add_body(w, &def, &error);
    mor_geometry_release(shape);
    return id;
}

/* A lift of two plates with a seam under the cube, rising and moving sideways. */
static void a_moving_floor_carries_a_cube(void** state)
{
    (void)state;
    mor_world* w = peg_world(0.01, 0.5, 0.0);
    mor_vec3 v = mor_v3(0.3, 0.1, 0.2);
    mor_body_id left = moving(w, test_box(1, 2, 0.1), mor_v3(-0.5, 0, -0.05), v, mor_v3(0, 0, 0));
    moving(w, test_box(1, 2, 0.1), mor_v3(0.5, 0, -0.05), v, mor_v3(0, 0, 0));
    mor_body_id cube = test_body(w, test_box(0.3, 0.3, 0.3), 1.0, mor_v3(0.02, 0, 0.15), no_turn);
    test_velocity(w, cube, v, mor_v3(0, 0, 0));
    deepest = 0.0;
    mor_vec3 start = mor_sub(test_state(w, cube).com, test_state(w, left).com);
    for (int k = 0; k < 300; k++) step(w);
    mor_vec3 end = mor_sub(test_state(w, cube).com, test_state(w, left).com);
    printf("  moved against the lift by %.1e m in 3 s, penetration %.1e m\n", mor_norm(mor_sub(end, start)), deepest);
    assert_true(mor_norm(mor_sub(end, start)) < 1e-9 && deepest < 1e-9);
    mor_world_destroy(w);
}

/* A plate of 1 cm at 30 and 200 m/s against a cube of 10 cm at rest, h = 0.01: it passes 0.3 and 2 m in a step. */
static void a_fast_plate_does_not_pass_through_a_cube(void** state)
{
    (void)state;
    const double speeds[] = { 1, 30, 200 };
    for (int i = 0; i < 3; i++) {
        mor_world* w = peg_world(0.01, 0.0, 0.0);
        mor_world_set_gravity(w, mor_v3(0, 0, 0));
        mor_body_id plate =
            moving(w, test_box(0.01, 2, 2), mor_v3(-0.333, 0, 0), mor_v3(speeds[i], 0, 0), mor_v3(0, 0, 0));
        mor_body_id cube = test_body(w, test_box(0.1, 0.1, 0.1), 1.0, mor_v3(0, 0, 0), no_turn);
        deepest = 0.0;
        for (int k = 0; k < 100; k++) step(w);
        mor_body_state s = test_state(w, cube);
        test_near(s.velocity.x, speeds[i], 1e-9, "speed of the cube");
        test_near(s.com.x - test_state(w, plate).com.x, 0.055, 1e-9, "it lies on the plate");
        assert_true(deepest < 1e-9);
        mor_world_destroy(w);
    }
}

/* A paddle turns and pushes a cube along the floor: the cube is never inside, and what it gains is the paddle's work.
 * */
static void a_turning_paddle_pushes_a_cube_ahead(void** state)
{
    (void)state;
    mor_world* w = peg_world(0.005, 0.2, 0.0);
    lay_floor(w, true);
    moving(w, test_box(2, 0.05, 0.2), mor_v3(0, 0, 0.11), mor_v3(0, 0, 0), mor_v3(0, 0, 2));
    mor_body_id cube = test_body(w, test_box(0.2, 0.2, 0.2), 1.0, mor_v3(0.7, 0.3, 0.1), no_turn);
    deepest = 0.0;
    double fastest = 0.0;
    for (int k = 0; k < 400; k++) {
        step(w);
        fastest = fmax(fastest, mor_norm(test_state(w, cube).velocity));
    }
    mor_body_state s = test_state(w, cube);
    printf("  pushed to (%.3f, %.3f), at most %.2f m/s, penetration %.1e m\n", s.com.x, s.com.y, fastest, deepest);
    assert_true(mor_norm(mor_sub(s.com, mor_v3(0.7, 0.3, 0.1))) > 0.3);
    assert_true(fastest < 2.0 * 1.5 * 2.0); /* the paddle's tip has 2 m/s */
    assert_true(deepest < 1e-7 && fabs(s.com.z - 0.1) < 1e-2);
    mor_world_destroy(w);
}

/* -------------------------------------------------------------------------------- open chains */

/* One open boundary with a slope, a valley, a hill and a shelf. */
static const mor_vec3 terrain[] = { { -2, 1.2, 0 }, { 0, 0.2, 0 }, { 1, 0, 0 },
                                    { 2, 0.3, 0 },  { 3, 0.1, 0 }, { 6, 0.1, 0 } };
enum { POINTS = sizeof terrain / sizeof *terrain };

static mor_world* terrain_world(double h, mor_geometry* shape, mor_vec3 x, mor_vec3 v, double mu, mor_body_id* body)
{
    mor_error error = { 0 };
    mor_world* w = test_world_2d(h);
    test_method(w, "formulation", "peg");
    test_method(w, "collision", "features");
    test_method(w, "solver", "lemke");
    mor_world_set_pair(w, 0, 0, mu, 0.0, &error);
    test_fixed(w, mor_geometry_chain(terrain, POINTS, &error), mor_v3(0, 0, 0), no_turn);
    *body = test_body(w, shape, 1.0, x, no_turn);
    test_velocity(w, *body, v, mor_v3(0, 0, 0));
    return w;
}

static void a_particle_follows_an_open_chain_at_first_order(void** state)
{
    (void)state;
    mor_error error = { 0 };
    for (int c = 0; c < 2; c++) {
        const double mu = c ? 0.2 : 0.0;
        mor_wall walls[POINTS];
        mor_phase phases[64];
        for (int i = 0; i + 1 < POINTS; i++) walls[i] = mor_wall_between(terrain[i], terrain[i + 1]);
        mor_vec3 x = mor_v3(-1.5, 1.3, 0), v = mor_v3(1, 0, 0);
        int count = mor_particle_exact(walls, POINTS - 1, x, v, mor_v3(0, -g, 0), mu, 1.6, phases, 64);
        assert_true(count > 3); /* flight, slides on several segments */
        double before = 0.0;
        for (int k = 0; k < 3; k++) {
            double h = k == 0 ? 1e-2 : k == 1 ? 1e-3 : 1e-4, worst = 0.0;
            mor_body_id p;
            mor_world* w = terrain_world(h, mor_geometry_particle(&error), x, v, mu, &p);
            deepest = 0.0;
            for (int i = 0; i < (int)(1.5 / h + 0.5); i++) {
                step(w);
                worst = fmax(
                    worst, mor_norm(mor_sub(test_state(w, p).com, mor_particle_at(phases, count, mor_world_time(w)))));
            }
            printf("  mu %g, h %g: largest error %.2e m of %d phases\n", mu, h, worst, count);
            assert_true(deepest < 1e-9);
            assert_true(worst < 15.0 * h);
            if (k > 0) assert_true(before / worst > 5.0);
            before = worst;
            mor_world_destroy(w);
        }
    }
}

/* A hexagon and a box come to rest in the valley at (1, 0): nothing falls through the joints of the chain. */
static void polygons_rest_in_the_valley_of_an_open_chain(void** state)
{
    (void)state;
    mor_error error = { 0 };
    for (int c = 0; c < 2; c++) {
        mor_vec3 p[12];
        int n = c ? 4 : 6;
        for (int i = 0; i < n; i++) {
            double a = 6.283185307179586 * (i + 0.5) / n;
            p[i] = mor_v3(0.2 * cos(a), 0.2 * sin(a), 0);
        }
        mor_body_id body;
        mor_world* w = terrain_world(0.005, mor_geometry_polygon(p, n, &error), mor_v3(-1.2, 1.3, 0), mor_v3(0.5, 0, 0),
                                     0.3, &body);
        deepest = 0.0;
        double energy = HUGE_VAL;
        for (int k = 0; k < 1600; k++) {
            mor_step_report r = step(w);
            assert_true(r.kinetic + r.potential - r.projection_work <= energy + 1e-9);
            energy = r.kinetic + r.potential;
        }
        mor_body_state s = test_state(w, body);
        for (int k = 0; k < 200; k++) step(w);
        printf("  %d corners: rests at (%.4f, %.4f), penetration %.1e m, moves by %.1e m in 1 s\n", n, s.com.x, s.com.y,
               deepest, mor_norm(mor_sub(test_state(w, body).com, s.com)));
        assert_true(s.com.x > -2.0 && s.com.x < 6.0 && s.com.y > 0.1);
        assert_true(deepest < 1e-9);
        assert_true(mor_norm(mor_sub(test_state(w, body).com, s.com)) < 1e-6);
        mor_world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cube_bounces_to_e_squared_of_its_height),
        cmocka_unit_test(bouncing_on_seams_is_bouncing_on_one_plane),
        cmocka_unit_test(a_corner_leaves_at_e_times_its_approach),
        cmocka_unit_test(a_moving_floor_carries_a_cube),
        cmocka_unit_test(a_fast_plate_does_not_pass_through_a_cube),
        cmocka_unit_test(a_turning_paddle_pushes_a_cube_ahead),
        cmocka_unit_test(a_particle_follows_an_open_chain_at_first_order),
        cmocka_unit_test(polygons_rest_in_the_valley_of_an_open_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
