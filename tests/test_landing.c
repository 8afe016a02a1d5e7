/* Fast bodies land on the shape that is there, not on the plane it lies in.
 *
 * Expected, without gravity:
 * - A box (edge a, k^2 = a^2/6) falls flat with the speed v on a block and overhangs, its centre the distance d beyond
 *   the edge. No friction, no restitution. Only the edge pushes: p = m v / (1 + d^2/k^2), so that
 *       w = v d / (k^2 + d^2),   the centre goes on with -v d^2 / (k^2 + d^2).
 * - A ball (2/5 m r^2) falls on a plate of any width with the speed u along it, far below the limit of friction: it
 *   rolls afterwards, 5/7 u. Without friction it keeps u.
 * Both hold whether the block is fixed, or free and very heavy.
 * - On a plate that moves with V up and W along, or a belt: u is the slip, the ball leaves with V + e (v + V). */
#include <math.h>
#include <stdio.h>

#include "common/random_scenes.h"

/* `peg` moves its planes with the box: it has tests of its own */
static const char* const formulations[] = { "ncp", "st", "ap", "mncp", "peg" };

static mor_world* scene(const char* method, double h, const char* block, const char* body)
{
    char text[2000];
    mor_scene* made = NULL;
    snprintf(text, sizeof text,
             "moreau: 1\ngravity: [0, 0, 0]\ntime: { step: %.17g, end: 1 }\nmethod: { formulation: %s }\nbodies:\n"
             "  - { name: block, %s }\n  - { name: body, %s }\n",
             h, method, block, body);
    mor_world* w = test_scene_text(text, &made);
    mor_scene_destroy(made);
    return w;
}

static mor_body_state state_of(const mor_world* w, const char* name)
{
    return test_state(w, mor_world_find_body(w, name));
}

/* The same block, fixed or free and 1e9 times as heavy as what lands on it. */
static void block_text(char* text, size_t size, int k, double length, double friction)
{
    snprintf(text, size, "shape: { box: [%.17g, %.17g, %.17g] }, position: [%.17g, 0, %.17g], friction: %g, %s", length,
             length, 0.2 * length, -0.5 * length, -0.1 * length, friction, k % 2 ? "mass: 1e9" : "fixed: true");
}

static void boxes_that_overhang_tip(void** state)
{
    (void)state;
    uint64_t seed = test_seed(71);
    for (int k = 0; k < 40; k++) {
        const char* method = formulations[k % 4];
        double a = pow(10, test_random(&seed, -2, 0)), d = a * test_random(&seed, 0.05, 0.4), k2 = a * a / 6;
        double v = test_random(&seed, 1, 5), share = test_random(&seed, 0.02, 0.6), h = share * a / v;
        /* touching: the impact is all that happens in the first step; apart: it comes within a step */
        double gap = k % 8 < 4 ? 0.0 : test_random(&seed, 0.1, 0.9) * v * h;
        char block[300], body[300], what[200];
        block_text(block, sizeof block, k, a * test_random(&seed, 1, 8), 0.0);
        snprintf(body, sizeof body,
                 "shape: { box: [%.17g, %.17g, %.17g] }, mass: 1, friction: 0, position: [%.17g, 0, %.17g], "
                 "velocity: [0, 0, %.17g]",
                 a, a, a, d, 0.5 * a + gap, -v);
        mor_world* w = scene(method, h, block, body);
        test_steps(w, gap > 0.0 ? 2 : 1);
        mor_body_state s = state_of(w, "body");
        double spin = v * d / (k2 + d * d);
        snprintf(what, sizeof what, "case %d, %s: box %g, %g beyond the edge, %g m/s, gap %g, h %g", k, method, a, d, v,
                 gap, h);
        /* in a step with a gap the box turns before it has stopped: first order in the angle of a step */
        double tol = gap > 0.0 ? 0.1 + 2.0 * h * spin : 1e-6;
        test_near(s.angular_velocity.y / spin, 1.0, tol, what);
        test_near(s.velocity.z / v, -d * d / (k2 + d * d), tol, what);
        mor_world_destroy(w);
    }
}

static void balls_on_wide_plates_touch_in_one_point(void** state)
{
    (void)state;
    uint64_t seed = test_seed(72);
    for (int k = 0; k < 600; k++) { /* those after 40 bounce all */
        const char* method = formulations[k % 5];
        double r = pow(10, test_random(&seed, -2, 0)), u = test_random(&seed, 0.5, 1.5), v = test_random(&seed, 2, 5),
               h = test_random(&seed, 0.12, 0.8) * r / v, e = k % 3 || k >= 40 ? test_random(&seed, 0.1, 0.9) : 0.0;
        double friction = k % 5 ? 1.0 : 0.0, length = r * test_random(&seed, 4, 20);
        char block[300], body[400], what[200];
        block_text(block, sizeof block, k / 2, length, friction);
        snprintf(body, sizeof body,
                 "shape: { sphere: %.17g }, mass: 1, friction: %g, restitution: %g, position: [%.17g, %.17g, %.17g], "
                 "velocity: [%.17g, 0, %.17g]",
                 r, friction, e, -0.5 * length + test_random(&seed, -1, 1) * r, test_random(&seed, -1, 1) * r,
                 r + test_random(&seed, 0, 1) * v * h, u, -v);
        mor_world* w = scene(method, h, block, body);
        test_steps(w, 3);
        mor_body_state s = state_of(w, "body");
        snprintf(what, sizeof what, "case %d, %s: ball %g, e %g, friction %g, plate %g, h %g", k, method, r, e,
                 friction, length, h);
        /* features of `peg` have the arm of the middle of the gap: first order in the way of the step */
        double tol = k % 5 == 4 && e == 0.0 ? 0.05 : 1e-6;
        test_near(s.velocity.x / u, friction > 0.0 ? 5.0 / 7.0 : 1.0, tol, what);
        test_near(s.angular_velocity.y * r / u, friction > 0.0 ? 5.0 / 7.0 : 0.0, tol, what);
        test_near(s.velocity.z / v, e, 1e-6, what);
        mor_world_destroy(w);
    }
}

static void balls_bounce_on_plates_that_move(void** state)
{
    (void)state;
    uint64_t seed = test_seed(74);
    for (int k = 0; k < 40; k++) {
        const char* method = formulations[k % 4];
        bool belt = k % 2;
        double r = pow(10, test_random(&seed, -2, 0)), v = test_random(&seed, 1, 5), e = test_random(&seed, 0.1, 1);
        double up = belt ? 0.0 : test_random(&seed, -0.8, 3), along = test_random(&seed, -2, 2),
               u = test_random(&seed, -1, 1), h = test_random(&seed, 0.02, 0.5) * r / (v + fabs(up));
        char block[400], body[400], what[400], motion[120];
        snprintf(motion, sizeof motion,
                 belt ? "fixed: true, surface_velocity: [%.17g, 0, %.17g]"
                      : "kinematic: { velocity: [%.17g, 0, %.17g] }",
                 along, up);
        snprintf(block, sizeof block,
                 "shape: { box: [%.17g, %.17g, %.17g] }, position: [0, 0, %.17g], friction: 1, restitution: %.17g, %s",
                 20 * r, 20 * r, r, -0.5 * r, e, motion);
        snprintf(body, sizeof body,
                 "shape: { sphere: %.17g }, mass: 1, friction: 1, restitution: %.17g, position: [0, 0, %.17g], "
                 "velocity: [%.17g, 0, %.17g]",
                 r, e, r + test_random(&seed, 0, 2) * (v + up) * h, u, -v);
        mor_world* w = scene(method, h, block, body);
        test_steps(w, 5);
        mor_body_state s = state_of(w, "body");
        double slip = u - along, most = (1 + e) * (v + up), push = fmin(fmax(2.0 / 7.0 * slip, -most), most);
        snprintf(what, sizeof what, "case %d, %s: ball %g, e %g, %s, h %g", k, method, r, e, motion, h);
        /* polygons of friction: the direction of the slip is one of theirs; `ap` bounces before it touches */
        test_near(s.velocity.z, up + e * (v + up), 1e-6 * v, what);
        test_near(s.velocity.x, u - push, 1e-3, what);
        test_near(s.angular_velocity.y * r, 2.5 * push, 2.5e-3, what);
        mor_world_destroy(w);
    }
}

/* Without friction nothing turns a ball, whatever it hits, however fast, at any step. */
static void smooth_balls_never_spin(void** state)
{
    (void)state;
    static const char* const shapes[] = { "box: [0.4, 0.7, 0.2]",
                                          "capsule: { radius: 0.2, length: 0.6 }",
                                          "cylinder: { radius: 0.3, length: 0.5 }",
                                          "cone: { radius: 0.3, height: 0.5 }",
                                          "icosahedron: { radius: 0.4 }",
                                          "ellipsoid: [0.2, 0.3, 0.4]",
                                          "prism: { sides: 5, radius: 0.4, length: 0.3 }",
                                          "sphere: 0.3" };
    uint64_t seed = test_seed(73);
    for (int k = 0; k < 360; k++) {
        const char* method = formulations[k % 4];
        double r = pow(10, test_random(&seed, -1.5, 0)), v = test_random(&seed, 1, 6),
               h = test_random(&seed, 0.05, 0.6) * fmin(r, 0.2) / v, e = k % 3 ? test_random(&seed, 0.1, 1) : 0.0;
        double mass = k % 2 ? pow(10, test_random(&seed, -1, 1)) : 0.0;
        mor_quat q = test_random_turn(&seed);
        mor_vec3 d = mor_normalize(test_random_vector(&seed), mor_v3(1, 0, 0)), aside = test_random_vector(&seed),
                 x = mor_madd(mor_scale(1.0 + r, d), 0.2, aside), u = mor_scale(-v, d);
        char other[400], body[400], what[200], kind[40];
        snprintf(kind, sizeof kind, mass > 0.0 ? "mass: %g" : "fixed: true", mass);
        snprintf(other, sizeof other,
                 "shape: { %s }, friction: 0, restitution: %g, orientation: [%.17g, %.17g, %.17g, %.17g], %s",
                 shapes[k % 8], e, q.w, q.x, q.y, q.z, kind);
        snprintf(body, sizeof body,
                 "shape: { sphere: %.17g }, mass: 1, friction: 0, restitution: %g, position: [%.17g, %.17g, %.17g], "
                 "velocity: [%.17g, %.17g, %.17g]",
                 r, e, x.x, x.y, x.z, u.x, u.y, u.z);
        mor_world* w = scene(method, h, other, body);
        test_steps(w, (int)(1.5 * (1.0 + r) / (v * h)) + 1);
        mor_body_state s = state_of(w, "body");
        snprintf(what, sizeof what, "case %d, %s: ball %g on %s (%s), e %g, %g m/s, h %g", k, method, r, shapes[k % 8],
                 kind, e, v, h);
        /* two bodies that move and do not bounce: see balls above, first order in the way of a step */
        double tol = e == 0.0 && mass > 0.0 ? 0.1 * v : 1e-9 * v;
        test_near(mor_norm(s.angular_velocity) * r, 0.0, tol, what);
        mor_world_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_that_overhang_tip),
        cmocka_unit_test(balls_on_wide_plates_touch_in_one_point),
        cmocka_unit_test(balls_bounce_on_plates_that_move),
        cmocka_unit_test(smooth_balls_never_spin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
