/* The same motion in other units, at another place, in another direction, in another order.
 *
 * Nature does not know metres. A scene in other units of length (L) and mass (M) has lengths times L, masses times M,
 * forces times M L, and so on; the tolerance of the solver, a velocity, is scaled too. Then all positions are L times
 * the old ones within rounding. Powers of two make the scaling exact in floating point, so what is left is only where a
 * constant of our own has a unit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "moreau/moreau.h"

enum { BODIES = 7, STEPS = 60 };

typedef struct setting {
    double L, M;    /* units of length and mass */
    mor_vec3 shift; /* m, before the units */
    mor_quat turn;
    bool reversed; /* order of the bodies */
} setting;

static mor_vec3 turned(mor_quat q, mor_vec3 v)
{
    mor_vec3 u = mor_v3(q.x, q.y, q.z), t = mor_scale(2.0, mor_cross(u, v));
    return mor_add(v, mor_add(mor_scale(q.w, t), mor_cross(u, t)));
}

/* A slope of planes, boxes and spheres that fall, slide and collide. */
static void simulate(const setting* s, mor_vec3 at[BODIES])
{
    mor_error error = { 0 };
    mor_world_def d = mor_world_def_default();
    d.step = 0.01;
    d.gravity = mor_scale(s->L, turned(s->turn, mor_v3(0, 0, -9.81)));
    mor_world* w = mor_world_create(&d, &error);
    assert_non_null(w);
    char value[64];
    snprintf(value, sizeof value, "%.17g", 1e-10 * s->L); /* a velocity */
    if (mor_world_set_option(w, "solver", "tol", value, &error)) fail_msg("%s", error.text);
    mor_geometry* plane = mor_geometry_plane(&error);
    mor_body_def ground = mor_body_def_default();
    ground.kind = MOR_FIXED;
    mor_body_shape flat = { plane, mor_pose_identity(), -1 };
    ground.shapes = &flat;
    ground.shape_count = 1;
    ground.pose.position = mor_scale(s->L, turned(s->turn, s->shift));
    ground.pose.rotation = s->turn;
    mor_body_id ids[BODIES];
    for (int k = 0; k < BODIES + 1; k++) {
        int i = s->reversed ? BODIES - k : k;
        if (i == BODIES) {
            mor_world_add_body(w, &ground, &error);
            continue;
        }
        mor_geometry* g = i % 2 ? mor_geometry_sphere((0.3 + 0.05 * i) * s->L, &error)
                                : mor_geometry_box(0.8 * s->L, (0.5 + 0.1 * i) * s->L, 0.6 * s->L, &error);
        mor_body_def b = mor_body_def_default();
        mor_body_shape shape = { g, mor_pose_identity(), -1 };
        b.shapes = &shape;
        b.shape_count = 1;
        b.mass = (1.0 + 0.5 * i) * s->M;
        mor_vec3 place = mor_add(s->shift, mor_v3(2.0 * i, 0.1 * i, 0.8 + 0.1 * i));
        b.pose.position = mor_scale(s->L, turned(s->turn, place));
        b.pose.rotation = s->turn;
        b.velocity = mor_scale(s->L, turned(s->turn, mor_v3(-0.7 * i, 0.2, 0)));
        ids[i] = mor_world_add_body(w, &b, &error);
        if (!mor_body_valid(w, ids[i])) fail_msg("%s", error.text);
        mor_geometry_release(g);
    }
    for (int i = 0; i < STEPS; i++)
        if (mor_world_step(w, NULL, &error)) fail_msg("step %d: %s", i, error.text);
    for (int i = 0; i < BODIES; i++) {
        mor_vec3 p = mor_scale(1.0 / s->L, mor_body_get_state(w, ids[i]).com);
        mor_quat back = s->turn;
        back.x = -back.x, back.y = -back.y, back.z = -back.z;
        at[i] = mor_sub(turned(back, p), s->shift);
    }
    mor_geometry_release(plane);
    mor_world_destroy(w);
}

static const setting metres = { 1.0, 1.0, { 0, 0, 0 }, { 1, 0, 0, 0 }, false };

/* The largest distance [m] between the motions of two settings. */
static double distance(const setting* s)
{
    mor_vec3 a[BODIES], b[BODIES];
    simulate(&metres, a);
    simulate(s, b);
    double most = 0.0;
    for (int i = 0; i < BODIES; i++) most = fmax(most, mor_norm(mor_sub(a[i], b[i])));
    return most;
}

static void expect(const char* what, setting s, double bound)
{
    double d = distance(&s);
    print_message("%-28s %.3g m\n", what, d);
    if (!(d <= bound)) fail_msg("%s: the motion differs by %g m, allowed %g m", what, d, bound);
}

/* Bounds: rounding of the numbers (1e-16 of the largest coordinate), which 60 steps with sliding and rolling contacts
 * let grow a thousandfold or more. */
static void units_place_direction_and_order_do_not_matter(void** state)
{
    (void)state;
    setting s = metres;
    s.M = 1024.0;
    expect("mass in 1/1024 kg", s, 1e-12);
    s.M = 1.0 / 4096.0;
    expect("mass in 4096 kg", s, 1e-12);
    s = metres;
    s.L = 1024.0;
    expect("length in 1/1024 m", s, 1e-9);
    s.L = 1.0 / 1024.0;
    expect("length in 1024 m", s, 1e-9);
    s = metres;
    s.shift = mor_v3(1e4, -1e4, 1e4);
    expect("1e4 m away", s, 1e-8);
    s = metres;
    s.turn = (mor_quat){ 0.5, 0.5, 0.5, 0.5 };
    expect("turned by 120 degrees", s, 1e-9);
    s.turn = (mor_quat){ 0.8, 0.0, 0.36, 0.48 };
    expect("turned anyhow", s, 1e-9);
    s = metres;
    s.reversed = true;
    expect("bodies in reverse order", s, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(units_place_direction_and_order_do_not_matter) };
    return cmocka_run_group_tests_name("invariance", tests, NULL, NULL);
}
