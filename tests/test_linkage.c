/* Velocities that joints allow (formulation/linkage.c). What they shall be is known without solving for them: the rates
 * of all joints are zero, and the change is orthogonal to the result in the norm of the kinetic energy, so that the
 * energies of result and change add up to that of the start, and no velocity that the joints allow is nearer. */
#include "common/worlds.h"

#include "formulation/linkage.h"
#include "step/draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 12 };

static double draw(mor_rng* rng, double from, double to) { return from + (to - from) * mor_rng_uniform(rng); }

static mor_vec3 draw3(mor_rng* rng, double size)
{
    double x = draw(rng, -size, size), y = draw(rng, -size, size), z = draw(rng, -size, size);
    return mor_v3(x, y, z);
}

/* Boxes at random places with random velocities, each jointed to one before it or, the first, to the world; `loops`
 * more joints between any two. Some hold a kinematic body. */
static mor_world* draw_world(mor_rng* rng, int loops, mor_body_id* body)
{
    mor_world* w = test_world(0.01);
    for (int i = 0; i < BODIES; i++) {
        mor_body_def d = mor_body_def_default();
        d.kind = i == 1 && mor_rng_uniform(rng) < 0.5 ? MOR_KINEMATIC : MOR_DYNAMIC;
        double x = draw(rng, 0.05, 0.3), y = draw(rng, 0.05, 0.3), z = draw(rng, 0.05, 0.3);
        mor_body_shape shape = { .geometry = test_box(x, y, z), .pose = mor_pose_identity(), .material = -1 };
        d.shapes = &shape;
        d.shape_count = 1;
        d.mass = draw(rng, 0.1, 10.0);
        d.pose.position = draw3(rng, 1.0);
        d.pose.rotation = mor_quat_exp(draw3(rng, 3.0));
        d.velocity = draw3(rng, 2.0);
        d.angular_velocity = draw3(rng, 5.0);
        body[i] = mor_world_add_body(w, &d, NULL);
        mor_geometry_release(shape.geometry);
    }
    for (int i = 0; i < BODIES + loops; i++) {
        mor_joint_def j = mor_joint_def_default();
        do j.kind = (mor_joint_kind)(mor_rng_uniform(rng) * MOR_JOINT_KINDS);
        while (j.kind == MOR_JOINT_FREE || j.kind == MOR_JOINT_DISTANCE);
        int a = i < BODIES ? i : (int)(mor_rng_uniform(rng) * BODIES), b = (int)(mor_rng_uniform(rng) * (i % BODIES));
        if (a == b) continue;
        j.body[0] = body[a];
        if (i > 0) j.body[1] = body[b];
        j.point[0] = j.point[1] = draw3(rng, 1.0);
        j.axis = mor_normalize(draw3(rng, 1.0), mor_v3(0, 0, 1));
        j.axis2 = mor_normalize(mor_cross(j.axis, mor_v3(0.3, -0.5, 0.8)), mor_v3(1, 0, 0));
        mor_world_add_joint(w, &j, NULL); /* one between kinematic body and world is refused */
    }
    return w;
}

/* Twice the energy of the difference of two velocities of a body; that of a motion: the other is NULL. */
static double energy(const mor_body* b, const mor_body* other)
{
    mor_vec3 v = other ? mor_sub(b->v, other->v) : b->v, w = other ? mor_sub(b->w, other->w) : b->w;
    mor_vec3 own = mor_unrotate(b->q, w);
    return b->mass.mass * mor_dot(v, v) + mor_dot(own, mor_mul(&b->mass.inertia, own));
}

static void velocities_become_the_nearest_that_joints_allow(void** state)
{
    (void)state;
    mor_rng rng = { 77 };
    int done = 0;
    for (int trial = 0; trial < 200; trial++) {
        mor_body_id body[BODIES];
        mor_world* w = draw_world(&rng, trial % 4 == 3 ? 2 : 0, body);
        mor_step* k = mor_step_create(w, NULL);
        assert_true(k && mor_step_take(w, k) == MOR_OK);
        bool still = mor_body_get_kind(w, body[1]) == MOR_DYNAMIC; /* else the kinematic body drives the others */
        done += mor_linkage_velocities(k, 1e-12);
        if (mor_world_joint_rate(w) > 0.1) assert_true(mor_world_joint_rate(k->w) < 1e-6 * mor_world_joint_rate(w));
        double before = 0.0, after = 0.0, change = 0.0;
        for (int i = 0; i < w->body_count; i++) {
            if (w->bodies[i].tree < 0) continue;
            before += energy(&w->bodies[i], NULL);
            after += energy(&k->w->bodies[i], NULL);
            change += energy(&k->w->bodies[i], &w->bodies[i]);
            mor_vec3 L = mor_rotate(
                w->bodies[i].q, mor_mul(&w->bodies[i].mass.inertia, mor_unrotate(w->bodies[i].q, k->w->bodies[i].w)));
            test_near(mor_norm(mor_sub(L, k->w->bodies[i].L)), 0.0, 1e-9 * (1.0 + mor_norm(L)), "L = I w");
        }
        if (still) test_near(after + change, before, 1e-7 * before, "orthogonal");
        mor_step_destroy(k);
        mor_world_destroy(w);
    }
    assert_int_equal(done, 200);
}

static const char two[] =
    "moreau: 1\nbodies:\n"
    "  - { name: a, shape: { box: [1, 0.1, 0.1] }, position: [0.5, 0, 0], velocity: [%g, 0, 0] }\n"
    "  - { name: b, shape: { box: [1, 0.1, 0.1] }, position: [5.5, 0, 0], velocity: [0, 0, %g] }\n"
    "joints:\n  - { type: spherical, bodies: [a, world], point: [0, 0, 0] }\n"
    "  - { type: revolute, bodies: [b, world], point: [5, 0, 0], axis: [0, 1, 0] }\n"
    "  - { type: revolute, bodies: [b, world], point: [5, 0.04, 0], axis: [0, 1, 0] }\n";

/* Two hinges on one axis say the same twice. A bar that flies upwards at 3 m/s then turns with its moment of momentum
 * about the hinge, m v/2, over that of inertia, m (1/3 + 0.01/12). The bar beside it, whose joint is off by less than
 * the tolerance, keeps its bits. */
static void linkages_do_not_know_each_other(void** state)
{
    (void)state;
    char text[900];
    mor_scene* scene;
    snprintf(text, sizeof text, two, 1e-9, 3.0);
    mor_world* w = test_scene_text(text, &scene);
    mor_step* k = mor_step_create(w, NULL);
    assert_true(k && mor_step_take(w, k) == MOR_OK);
    assert_true(mor_linkage_velocities(k, 1e-8));
    const mor_body *a = &k->w->bodies[0], *b = &k->w->bodies[1];
    assert_memory_equal(&a->v, &w->bodies[0].v, sizeof a->v);
    assert_memory_equal(&a->w, &w->bodies[0].w, sizeof a->w);
    double spin = 1.5 / (1.0 / 3.0 + 0.01 / 12.0);
    test_near(b->w.y, -spin, 1e-8, "spin");
    test_near(b->v.z, 0.5 * spin, 1e-8, "speed of the middle");
    test_near(b->v.x, 0.0, 1e-9, "along");
    mor_step_destroy(k);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

/* A chain of five bars of 0.24 m that swings from rest, each a little shorter than the one before. */
static mor_world* chain(void)
{
    mor_world* w = test_world(0.002);
    test_option(w, "stabilisation", "position", "1e-10");
    mor_body_id before = { 0 };
    for (int i = 0; i < 5; i++) {
        double length = 0.24 - 0.02 * i, x = 0.25 * i;
        mor_body_id bar =
            test_body(w, test_box(length, 0.03, 0.05), 0.3 + 0.1 * i, mor_v3(x, 0, 0), (mor_quat){ 1, 0, 0, 0 });
        mor_joint_def j = mor_joint_def_default();
        j.kind = i == 2 ? MOR_JOINT_SPHERICAL : MOR_JOINT_REVOLUTE;
        j.body[0] = bar;
        if (i) j.body[1] = before;
        j.point[0] = j.point[1] = mor_v3(x - 0.125, 0, 0);
        j.axis = mor_v3(0, 1, 0);
        assert_true(mor_world_add_joint(w, &j, NULL) == i);
        before = bar;
    }
    return w;
}

/* The correction of a smooth motion lies on the polynomial through the last seven: 7 c1 - 21 c2 + 35 c3 - ... The
 * parabola 3 c1 - 3 c2 + c3 misses it by enough to try the step again. */
static void corrections_of_a_chain_are_foretold(void** state)
{
    (void)state;
    static const double six[7] = { 7, -21, 35, -35, 21, -7, 1 }, two[3] = { 3, -3, 1 };
    enum { STEPS = 60, ROWS = 6 };
    static double c[STEPS][5][ROWS];
    mor_world* w = chain();
    const double h = mor_world_get_step(w);
    double largest = 0.0, coarse = 0.0;
    for (int n = 0; n < STEPS; n++) {
        test_steps(w, 1);
        const mor_joint* joints = w->joints.data;
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < ROWS; k++) {
                c[n][j][k] = joints[j].correction[k];
                if (n < 20) continue;
                double by_six = 0.0, by_two = 0.0, kept = 0.0;
                for (int i = 0; i < 7; i++) by_six += six[i] * c[n - 1 - i][j][k];
                for (int i = 0; i < 3; i++) by_two += two[i] * c[n - 1 - i][j][k];
                largest = fmax(largest, fabs(c[n][j][k] - by_six) * h);
                coarse = fmax(coarse, fabs(c[n][j][k] - by_two) * h);
                /* fifth difference of the six before the last, as the joint keeps it */
                for (int i = 0; i < 6; i++) {
                    static const double binomial[6] = { 1, -5, 10, -10, 5, -1 };
                    kept += binomial[i] * c[n - 1 - i][j][k];
                }
                assert_true(fabs(kept - joints[j].differences[5][k]) <= 1e-12);
            }
    }
    printf("corrections are missed by at most %.1e m, by a parabola %.1e m\n", largest, coarse);
    assert_true(largest < 2e-11 && 20.0 * largest < coarse); /* m */
    mor_world_destroy(w);
}

/* Coefficients that a joint keeps from one step to the next are those of where it is, also after a body was moved by
 * hand: a world that has kept nothing, as it was made anew from a snapshot, goes on with the same bits. */
static void kept_coefficients_are_those_of_the_place(void** state)
{
    (void)state;
    mor_world *one = chain(), *other = chain();
    for (int n = 0; n < 30; n++) {
        if (n % 4 == 1)
            for (int i = 0; i < 2; i++) { /* a little; far and back before in `other` */
                mor_world* w = i ? other : one;
                mor_body_id id = mor_world_body(w, 3);
                mor_body_state s = mor_body_get_state(w, id), far = s;
                far.pose.position.x += 0.5;
                s.pose.position.z += 1e-6;
                if (i) mor_body_set_state(w, id, &far);
                mor_body_set_state(w, id, &s);
            }
        if (n % 3 == 2) { /* in steps 5, 17 and 29 after a move */
            size_t size = mor_world_save(other, NULL, 0);
            void* bytes = malloc(size);
            assert_true(bytes && mor_world_save(other, bytes, size) == size);
            mor_world_destroy(other);
            other = chain();
            assert_int_equal(mor_world_restore(other, bytes, size, NULL), MOR_OK);
            free(bytes);
        }
        test_steps(one, 1);
        test_steps(other, 1);
        if (mor_world_hash(one) != mor_world_hash(other)) fail_msg("step %d has other bits", n);
    }
    mor_world_destroy(one);
    mor_world_destroy(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_become_the_nearest_that_joints_allow),
        cmocka_unit_test(linkages_do_not_know_each_other),
        cmocka_unit_test(corrections_of_a_chain_are_foretold),
        cmocka_unit_test(kept_coefficients_are_those_of_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
