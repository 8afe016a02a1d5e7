/* Velocities that joints allow (formulation/linkage.c). What they shall be is known without solving for them: the rates
 * of all joints are zero, and the change is orthogonal to the result in the norm of the kinetic energy, so that the
 * energies of result and change add up to that of the start, and no velocity that the joints allow is nearer. */
#include "common/worlds.h"

#include "formulation/linkage.h"
#include "step/draft.h"

#include <math.h>
#include <stdio.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_become_the_nearest_that_joints_allow),
        cmocka_unit_test(linkages_do_not_know_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
