#include "common/random_scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

uint64_t test_seed(uint64_t own)
{
    const char* other = getenv("MOREAU_SEED");
    return other ? own + 1000003u * strtoull(other, NULL, 10) : own;
}

double test_random(uint64_t* seed, double lower, double upper)
{
    *seed += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = *seed;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return lower + (upper - lower) * ((double)(z >> 11) * 0x1p-53);
}

double test_normal(mor_rng* rng)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) sum += mor_rng_uniform(rng);
    return sum;
}

mor_vec3 test_random_vector(uint64_t* seed)
{
    for (;;) {
        mor_vec3 v = mor_v3(test_random(seed, -1, 1), test_random(seed, -1, 1), test_random(seed, -1, 1));
        if (mor_dot(v, v) <= 1.0) return v;
    }
}

mor_quat test_random_turn(uint64_t* seed) { return mor_quat_exp(mor_scale(3.0, test_random_vector(seed))); }

mor_geometry* test_solid(uint64_t* seed, int k, double size, double* radius)
{
    mor_error e = { 0 };
    double a = size * test_random(seed, 0.5, 1), b = size * test_random(seed, 0.5, 1),
           c = size * test_random(seed, 0.5, 1);
    *radius = a;
    switch (k % 5) {
    case 0:
        return test_sphere(a);
    case 1:
        *radius = sqrt(a * a + b * b + c * c);
        return test_box(2 * a, 2 * b, 2 * c);
    case 2:
        *radius = a + b;
        return mor_geometry_capsule(a, 2 * b, &e);
    case 3:
        *radius = hypot(a, b);
        return mor_geometry_cylinder(a, 2 * b, 0, &e);
    default:
        *radius = hypot(a, b);
        return mor_geometry_cylinder(a, 2 * b, 7, &e);
    }
}

mor_world* test_default_world(int dimension, double h, mor_vec3 gravity)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.dimension = dimension;
    def.step = h;
    def.gravity = gravity;
    mor_world* w = mor_world_create(&def, &error);
    if (!w) fail_msg("%s", error.text);
    test_option(w, "solver", "tol", "1e-12"); /* closed forms are met to rounding, not to the goal of the default */
    return w;
}

mor_body_id test_add(mor_world* w, mor_body_kind kind, mor_geometry* const* shapes, const mor_pose* poses, int count,
                     double mass, double mu, mor_pose pose)
{
    mor_error error = { 0 };
    mor_body_shape list[64];
    mor_material m = mor_material_default();
    m.friction = mu;
    assert_true(count <= 64);
    for (int i = 0; i < count; i++) {
        if (!shapes[i]) fail_msg("a shape could not be made");
        list[i] = (mor_body_shape){ shapes[i], poses ? poses[i] : mor_pose_identity(), -1 };
    }
    mor_body_def def = mor_body_def_default();
    def.kind = kind;
    def.shapes = list;
    def.shape_count = count;
    def.mass = mass;
    def.pose = pose;
    def.material = mor_world_add_material(w, &m);
    for (int k = 0; k <= def.material; k++) mor_world_set_pair(w, k, def.material, mu, 0.0, &error);
    mor_body_id id = mor_world_add_body(w, &def, &error);
    if (!id.index1) fail_msg("%s", error.text);
    for (int i = 0; i < count; i++) mor_geometry_release(shapes[i]);
    return id;
}

double test_run(mor_world* w, int n, double* depth)
{
    double energy = mor_world_kinetic_energy(w) + mor_world_potential_energy(w), gain = -INFINITY;
    for (int i = 0; i < n; i++) {
        mor_step_report r = test_steps(w, 1);
        gain = fmax(gain, r.kinetic + r.potential - energy);
        energy = r.kinetic + r.potential;
        if (depth) *depth = fmax(*depth, r.penetration);
    }
    return gain;
}

void test_glancing(double h, double v, double sine, double until, double mass, double tol)
{
    const double r = 0.1, cosine = sqrt(1 - sine * sine);
    mor_world* w = test_default_world(3, h, mor_v3(0, 0, 0));
    mor_geometry *a = test_sphere(r), *b = test_sphere(r);
    mor_pose pa = mor_pose_identity(), pb = pa;
    pb.position = mor_v3(-2 * r * cosine - v * h * until, 2 * r * sine, 0);
    mor_body_id first = test_add(w, mass > 0 ? MOR_DYNAMIC : MOR_FIXED, &a, NULL, 1, mass > 0 ? mass : 1.0, 0, pa);
    mor_body_id second = test_add(w, MOR_DYNAMIC, &b, NULL, 1, 1.0, 0, pb);
    test_velocity(w, second, mor_v3(v, 0, 0), mor_v3(0, 0, 0));
    test_run(w, 1, NULL);
    mor_vec3 n = mor_v3(-cosine, sine, 0), across = mor_v3(sine, cosine, 0);
    mor_body_state s = test_state(w, second), t = test_state(w, first);
    char what[120];
    snprintf(what, sizeof what, "h %g, v %g, sine %g, until %g, mass %g", h, v, sine, until, mass);
    test_near(mor_dot(s.velocity, across), v * sine, tol * v, what);
    test_near(mor_dot(mor_sub(s.velocity, t.velocity), n), -until * v * cosine, tol * v, what);
    if (mass > 0) test_near(s.velocity.x + mass * t.velocity.x, v, 1e-9 * v, what);
    test_near(mor_norm(s.angular_velocity) + mor_norm(t.angular_velocity), 0.0, 1e-9 * v, what);
    mor_world_destroy(w);
}
