#include "common/worlds.h"
#include "common/scenes.h"

#include <string.h>

#include <math.h>
#include <stdio.h>

static mor_world* make(int dimension, double h)
{
    mor_error error = { 0 };
    mor_world_def def = mor_world_def_default();
    def.dimension = dimension;
    if (dimension == 2) def.gravity = mor_v3(0, -9.81, 0);
    def.step = h;
    mor_world* w = mor_world_create(&def, &error);
    if (!w) fail_msg("%s", error.text);
    test_method(w, "formulation", "st");
    test_method(w, "solver", "pgs");
    return w;
}

mor_world* test_world(double h) { return make(3, h); }
mor_world* test_world_2d(double h) { return make(2, h); }

void test_method(mor_world* w, const char* stage, const char* name)
{
    mor_error error = { 0 };
    if (mor_world_set_method(w, stage, name, &error) != MOR_OK) fail_msg("%s", error.text);
}

void test_option(mor_world* w, const char* stage, const char* option, const char* value)
{
    mor_error error = { 0 };
    if (mor_world_set_option(w, stage, option, value, &error) != MOR_OK) fail_msg("%s", error.text);
}

static mor_body_id add(mor_world* w, mor_body_kind kind, mor_geometry* shape, double mass, mor_vec3 x, mor_quat q)
{
    mor_error error = { 0 };
    mor_body_def def = mor_body_def_default();
    mor_body_shape s = { shape, mor_pose_identity(), -1 };
    def.kind = kind;
    def.shapes = &s;
    def.shape_count = 1;
    def.mass = mass;
    def.pose = (mor_pose){ x, q };
    mor_body_id id = mor_world_add_body(w, &def, &error);
    if (!id.index1) fail_msg("%s", error.text);
    mor_geometry_release(shape);
    return id;
}

mor_body_id test_body(mor_world* w, mor_geometry* shape, double mass, mor_vec3 x, mor_quat q)
{
    return add(w, MOR_DYNAMIC, shape, mass, x, q);
}
mor_body_id test_fixed(mor_world* w, mor_geometry* shape, mor_vec3 x, mor_quat q)
{
    return add(w, MOR_FIXED, shape, 0, x, q);
}

mor_geometry* test_sphere(double r)
{
    mor_error error = { 0 };
    mor_geometry* g = mor_geometry_sphere(r, &error);
    if (!g) fail_msg("%s", error.text);
    return g;
}

mor_geometry* test_box(double x, double y, double z)
{
    mor_error error = { 0 };
    mor_geometry* g = mor_geometry_box(x, y, z, &error);
    if (!g) fail_msg("%s", error.text);
    return g;
}

mor_geometry* test_plane(void)
{
    mor_error error = { 0 };
    mor_geometry* g = mor_geometry_plane(&error);
    if (!g) fail_msg("%s", error.text);
    return g;
}

mor_body_state test_state(const mor_world* w, mor_body_id body) { return mor_body_get_state(w, body); }

void test_velocity(mor_world* w, mor_body_id body, mor_vec3 v, mor_vec3 omega)
{
    mor_body_state s = mor_body_get_state(w, body);
    s.velocity = v;
    s.angular_velocity = omega;
    mor_body_set_state(w, body, &s);
}

mor_step_report test_steps(mor_world* w, int n)
{
    mor_step_report r = { 0 };
    mor_error error = { 0 };
    for (int i = 0; i < n; i++) {
        if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("%s", error.text);
        if (r.status != MOR_SOLVED)
            fail_msg("step %d: %s, velocity error %g after %d iterations", r.step, r.detail, r.velocity_error,
                     r.iterations);
    }
    return r;
}

void test_near(double a, double b, double tol, const char* what)
{
    if (!(fabs(a - b) <= tol)) fail_msg("%s: %.17g, expected %.17g within %g (off by %g)", what, a, b, tol, a - b);
}

static mor_world* build(mor_scene* scene, mor_error* error)
{
    if (!scene) fail_msg("%s", error->text);
    mor_world* w = mor_scene_build(scene, 1, error);
    if (!w) fail_msg("%s", error->text);
    return w;
}

mor_world* test_scene_text(const char* text, mor_scene** scene)
{
    mor_error error = { 0 };
    return build(*scene =
                     mor_scene_parse(text, strlen(text), MOREAU_SOURCE_DIR "/scenes/text.yaml", NULL, NULL, &error),
                 &error);
}

mor_world* test_scene_file(const char* name, mor_scene** scene)
{
    mor_error error = { 0 };
    return build(*scene = mor_scene_load(scene_path(name), NULL, NULL, &error), &error);
}

void test_until(mor_world* w, double time)
{
    mor_error error = { 0 };
    while (mor_world_time(w) < time - 1e-9) {
        mor_step_report r;
        if (mor_world_step(w, &r, &error) != MOR_OK) fail_msg("%s", error.text);
        if (r.status != MOR_SOLVED) fail_msg("%s at %g s", r.detail, mor_world_time(w));
    }
}
