/* Boxes and hulls that come down half over the edge of a step, with `peg` in space.
 *
 * A block with its top at 0 ends at x = 0; beside it the ground is lower. What lands flat and overhangs lands on the
 * edge of the block, not on its plane beyond. Judges:
 *
 *   the plane        a box that is not turned about the vertical moves as its section: the event-driven integrator,
 *                    with 10 h and three times what a disturbance of a step's size makes of its own motion
 *   other contacts   boxes, frusta and random hulls turned anyhow: `ncp` with `manifold` at an eighth of the step, with
 *                    the same allowance */
#include "common/terrain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOOKS = 25 };
#define DURATION 0.25 /* s */
#define STEP (-0.2)   /* the lower ground */

typedef struct drop {
    mor_vec3 size, x, v, w;
    mor_quat q;
    double mu;
    int kind; /* 0 box, 1 frustum, 2 hull of 24 points */
    uint64_t seed;
} drop;

typedef struct pose {
    mor_vec3 x;
    mor_quat q;
} pose;

static mor_vec3 random_vector(mor_rng* r, double size)
{
    double x = terrain_between(r, -size, size), y = terrain_between(r, -size, size);
    return mor_v3(x, y, terrain_between(r, -size, size));
}

/* `flat`: its section in the plane x, z says all. */
static drop random_drop(uint64_t seed, bool flat)
{
    mor_rng r = { seed };
    for (int i = 0; i < 8; i++) mor_rng_uniform(&r);
    drop d = { .seed = seed, .kind = flat ? 0 : (int)(3.0 * mor_rng_uniform(&r)) };
    d.size = mor_v3(terrain_between(&r, 0.1, 0.4), terrain_between(&r, 0.1, 0.4), terrain_between(&r, 0.05, 0.3));
    d.mu = mor_rng_uniform(&r) < 0.3 ? 0.0 : mor_rng_uniform(&r);
    double tilt = mor_rng_uniform(&r) < 0.3 ? 0.0 : terrain_between(&r, -0.4, 0.4);
    mor_vec3 axis = flat ? mor_v3(0, -1, 0) : mor_normalize(random_vector(&r, 1.0), mor_v3(1, 0, 0));
    d.q = mor_quat_mul(mor_quat_axis_angle(axis, tilt),
                       mor_quat_axis_angle(mor_v3(0, 0, 1), flat ? 0.0 : terrain_between(&r, 0, 6)));
    d.x = mor_v3(terrain_between(&r, -0.15, 0.15), 0, 0.5 * mor_norm(d.size) + terrain_between(&r, 0.0, 0.05));
    d.v = random_vector(&r, 0.5);
    d.v.z -= 0.5;
    d.w = random_vector(&r, 2.0);
    if (flat) d.v.y = d.w.x = d.w.z = 0.0;
    return d;
}

static mor_geometry* shape_of(const drop* d)
{
    mor_error error = { 0 };
    mor_vec3 p[24];
    mor_rng r = { d->seed + 99 };
    int n = d->kind == 1 ? 8 : 24;
    if (d->kind == 0) return test_box(d->size.x, d->size.y, d->size.z);
    for (int i = 0; i < n; i++) {
        mor_vec3 u = mor_normalize(random_vector(&r, 1.0), mor_v3(1, 0, 0));
        double narrow = i & 4 ? 0.6 : 1.0;
        if (d->kind == 1) u = mor_v3(i & 1 ? narrow : -narrow, i & 2 ? narrow : -narrow, i & 4 ? 1 : -1);
        p[i] = mor_v3(0.5 * d->size.x * u.x, 0.5 * d->size.y * u.y, 0.5 * d->size.z * u.z);
    }
    return mor_geometry_hull(p, n, &error);
}

static void run(const drop* d, const char* formulation, const char* collision, double h, pose* out)
{
    mor_error error = { 0 };
    mor_world* w = test_world(h);
    mor_world_set_gravity(w, mor_v3(0, 0, -9.81));
    mor_world_set_pair(w, 0, 0, d->mu, 0.0, &error);
    test_method(w, "formulation", formulation);
    test_method(w, "collision", collision);
    test_method(w, "solver", "auto");
    test_fixed(w, test_box(2, 2, 1), mor_v3(-1, 0, -0.5), mor_quat_identity());
    test_fixed(w, test_box(2, 2, 1.0 + STEP), mor_v3(1, 0, -1.0 + 0.5 * (1.0 + STEP)), mor_quat_identity());
    mor_body_id id = test_body(w, shape_of(d), 1.0, d->x, d->q);
    test_velocity(w, id, d->v, d->w);
    for (int k = 0; k < LOOKS; k++) {
        test_steps(w, (int)(DURATION / LOOKS / h + 0.5));
        mor_body_state s = test_state(w, id);
        out[k] = (pose){ s.com, s.pose.rotation };
    }
    mor_world_destroy(w);
}

/* The section of a flat drop by the event-driven integrator, as places in space; how many looks it does. */
static int judged(const drop* d, pose* out)
{
    mor_error error = { 0 };
    mor_world* w = test_world_2d(DURATION / LOOKS);
    mor_vec3 high[4] = { { -2, -1, 0 }, { 0, -1, 0 }, { 0, 0, 0 }, { -2, 0, 0 } };
    mor_vec3 low[4] = { { 0, -1, 0 }, { 2, -1, 0 }, { 2, STEP, 0 }, { 0, STEP, 0 } };
    double a = 0.5 * d->size.x, b = 0.5 * d->size.z;
    mor_vec3 box[4] = { { -a, -b, 0 }, { a, -b, 0 }, { a, b, 0 }, { -a, b, 0 } };
    mor_world_set_gravity(w, mor_v3(0, -9.81, 0));
    mor_world_set_pair(w, 0, 0, d->mu, 0.0, &error);
    test_fixed(w, mor_geometry_polygon(high, 4, &error), mor_v3(0, 0, 0), mor_quat_identity());
    test_fixed(w, mor_geometry_polygon(low, 4, &error), mor_v3(0, 0, 0), mor_quat_identity());
    double angle = -2.0 * atan2(d->q.y, d->q.w);
    mor_body_id id = test_body(w, mor_geometry_polygon(box, 4, &error), 1.0, mor_v3(d->x.x, d->x.z, 0),
                               mor_quat_axis_angle(mor_v3(0, 0, 1), angle));
    test_velocity(w, id, mor_v3(d->v.x, d->v.z, 0), mor_v3(0, 0, -d->w.y));
    test_method(w, "integrator", "event-driven");
    int n = 0;
    for (; n < LOOKS && mor_world_step(w, NULL, &error) == MOR_OK; n++) {
        mor_body_state s = test_state(w, id);
        mor_quat q = s.pose.rotation;
        out[n] = (pose){ mor_v3(s.com.x, 0, s.com.y), { .w = q.w, .y = -q.z } };
    }
    mor_world_destroy(w);
    return n;
}

static double apart(const pose* a, const pose* b, double radius)
{
    mor_quat d = mor_quat_mul(a->q, mor_quat_conj(b->q));
    return mor_norm(mor_sub(a->x, b->x)) + 2.0 * radius * sqrt(d.x * d.x + d.y * d.y + d.z * d.z);
}

static int reference(const drop* d, bool flat, double h, pose* out)
{
    if (flat) return judged(d, out);
    run(d, "ncp", "manifold", h, out);
    return LOOKS;
}

/* The error over h and, returned, over what is allowed. */
static double check(uint64_t seed, bool flat, double h, double* error, int* looks)
{
    pose truth[LOOKS], other[LOOKS], got[LOOKS];
    drop d = random_drop(seed, flat);
    const double radius = 0.5 * mor_norm(d.size);
    double allowed[LOOKS], worst = 0.0;
    int n = reference(&d, flat, h / 8.0, truth);
    mor_rng r = { seed + 7 };
    for (int k = 0; k < LOOKS; k++) allowed[k] = 10.0 * h;
    for (int i = 0; i < 8; i++) {
        drop moved = d;
        mor_vec3 x = random_vector(&r, 4.0 * h), v = random_vector(&r, 10.0 * h),
                 w = random_vector(&r, 10.0 * h / radius);
        x.z = fabs(x.z);
        if (flat) x.y = v.y = w.x = w.z = 0.0;
        moved.x = mor_add(d.x, x), moved.v = mor_add(d.v, v), moved.w = mor_add(d.w, w);
        int m = reference(&moved, flat, h / 4.0, other);
        if (m < n) n = m;
        for (int k = 0; k < n; k++) allowed[k] = fmax(allowed[k], 10.0 * h + 3.0 * apart(&truth[k], &other[k], radius));
    }
    run(&d, "peg", "features", h, got);
    *error = 0.0;
    int k = 0;
    for (; k < n && allowed[k] < 0.1; k++) {
        double off = apart(&truth[k], &got[k], radius);
        *error = fmax(*error, off / h);
        worst = fmax(worst, off / allowed[k]);
    }
    *looks += k;
    return worst;
}

static void check_drops(bool flat)
{
    const uint64_t first = getenv("MOREAU_SEED") ? strtoull(getenv("MOREAU_SEED"), NULL, 10) : 1;
    const int count = getenv("MOREAU_LONG") ? 100 : 20;
    const double h = 1e-3;
    int bad = 0, looks = 0;
    double largest = 0.0;
    for (int i = 0; i < count; i++) {
        double error, ratio = check(first + (uint64_t)i, flat, h, &error, &looks);
        largest = fmax(largest, error);
        if (ratio <= 1.0) continue;
        printf("  seed %llu: %.1f h off, %.1f times what is allowed\n", (unsigned long long)first + (unsigned)i, error,
               ratio);
        bad++;
    }
    printf("  %s: %d drops, %.0f %% of the time, largest error %.1f h\n", flat ? "sections" : "turned anyhow", count,
           100.0 * looks / (count * LOOKS), largest);
    assert_int_equal(bad, 0);
    assert_true(looks > count * LOOKS * 8 / 10);
}

static void boxes_that_overhang_land_on_the_edge_as_in_the_plane(void** state)
{
    (void)state;
    check_drops(true);
}

static void bodies_over_an_edge_move_as_with_other_contacts_and_small_steps(void** state)
{
    (void)state;
    check_drops(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_that_overhang_land_on_the_edge_as_in_the_plane),
        cmocka_unit_test(bodies_over_an_edge_move_as_with_other_contacts_and_small_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
