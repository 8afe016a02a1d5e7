/* Robots written as MJCF and URDF and read again are the same robots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "common/near.h"
#include "common/scratch.h"
#include "io/mjcf/mjcf.h"
#include "io/urdf/urdf.h"
#include "moreau/scene.h"

#define MODELS MOREAU_SOURCE_DIR "/tests/mjcf/"
#define SHARED MOREAU_SOURCE_DIR "/../shared/data/"

/* The joint of b that is joint j of a; names in b may begin with the robot's. */
static int counterpart(const mor_robot_model* a, int j, const mor_robot_model* b)
{
    const char* name = mor_robot_link(a, mor_robot_link_of_joint(a, j))->joint_name;
    for (int k = 0; k < mor_robot_joint_count(b); k++) {
        const char* other = mor_robot_link(b, mor_robot_link_of_joint(b, k))->joint_name;
        size_t n = strlen(other), m = strlen(name);
        if (n >= m && strcmp(other + n - m, name) == 0 && (n == m || other[n - m - 1] == '/')) return k;
    }
    fail_msg("there is no joint '%s'", name);
    return -1;
}

/* M and h at random states, to 1e-10 of the largest; `armature`: of a, taken from its M. */
static void assert_same(const mor_robot_model* a, const mor_robot_model* b, bool armature)
{
    int n = mor_robot_joint_count(a), N = mor_robot_dof(a), offset = N - n;
    assert_int_equal(mor_robot_dof(b), N);
    assert_near(mor_robot_mass(b), mor_robot_mass(a), 1e-10 * mor_robot_mass(a));
    mor_robot_work *wa = mor_robot_work_create(a), *wb = mor_robot_work_create(b);
    double s[2][64], nu[2][64], h[2][64], *M[2] = { calloc(64 * 64, sizeof(double)), calloc(64 * 64, sizeof(double)) };
    int to[64];
    assert_true(N <= 64);
    for (int k = 0; k < N; k++) to[k] = k < offset ? k : offset + counterpart(a, k - offset, b);
    mor_rng rng = { 5 };
    for (int round = 0; round < 5; round++) {
        mor_pose base = { { 0.1, -0.2, 0.8 }, mor_rng_rotation(&rng) };
        for (int k = 0; k < N; k++) nu[0][k] = nu[1][to[k]] = mor_rng_uniform(&rng) - 0.5;
        for (int j = 0; j < n; j++) s[0][j] = s[1][to[offset + j] - offset] = mor_rng_uniform(&rng) - 0.5;
        mor_robot_update(a, wa, &base, s[0], nu[0]);
        mor_robot_update(b, wb, &base, s[1], nu[1]);
        mor_vec3 g = { 0.1, 0.2, -9.81 };
        mor_robot_inverse_dynamics(a, wa, g, NULL, NULL, h[0]);
        mor_robot_inverse_dynamics(b, wb, g, NULL, NULL, h[1]);
        mor_robot_mass_matrix(a, wa, M[0]);
        mor_robot_mass_matrix(b, wb, M[1]);
        double size = 0.0, force = 0.0;
        for (int i = 0; i < N; i++) size = fmax(size, M[0][i * (N + 1)]), force = fmax(force, fabs(h[0][i]));
        for (int i = 0; i < N; i++) {
            assert_near(h[1][to[i]], h[0][i], 1e-10 * force);
            for (int k = 0; k < N; k++)
                if (i != k || armature) assert_near(M[1][to[i] * N + to[k]], M[0][i * N + k], 1e-10 * size);
        }
    }
    free(M[0]);
    free(M[1]);
    mor_robot_work_destroy(wa);
    mor_robot_work_destroy(wb);
}

/* A file as MJCF, through a world. */
static mor_mjcf* rewritten(const char* from, mor_error* error)
{
    char text[700];
    snprintf(text, sizeof text, "moreau: 1\nrobots: [{ %s: \"%s\", %s }]\n", strstr(from, ".urdf") ? "urdf" : "mjcf",
             from, strstr(from, ".urdf") ? "base: floating, name: robot" : "key: reference");
    mor_scene* scene = mor_scene_parse(text, strlen(text), "scene.yaml", NULL, NULL, error);
    if (!scene) fail_msg("%s", error->text);
    mor_world* w = mor_scene_build(scene, 1, error);
    if (!w) fail_msg("%s", error->text);
    char notes[2000];
    if (mor_mjcf_write(w, path, notes, sizeof notes, error)) fail_msg("%s", error->text);
    mor_world_destroy(w);
    mor_scene_destroy(scene);
    mor_mjcf* m = mor_mjcf_read(path, true, NULL, 0, error);
    if (!m) fail_msg("%s", error->text);
    return m;
}

static void a_model_written_as_mjcf_is_the_same(void** state)
{
    (void)state;
    static const char* const files[] = { "01_classes",   "02_joints", "03_balls",    "09_turns",
                                         "11_actuators", "13_keys",   "14_quadruped" };
    mor_error error = { 0 };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char from[512];
        snprintf(from, sizeof from, MODELS "%s.xml", files[i]);
        mor_mjcf *a = mor_mjcf_read(from, true, NULL, 0, &error), *b = rewritten(from, &error);
        assert_int_equal(a->trees_count, b->trees_count);
        for (int t = 0; t < a->trees_count; t++) assert_same(a->trees[t].model, b->trees[t].model, true);
        assert_int_equal(a->actuators_count - (i == 4), b->actuators_count); /* one is on a tendon of two joints */
        mor_mjcf_destroy(a);
        mor_mjcf_destroy(b);
    }
}

static void a_model_written_as_urdf_is_the_same_but_for_armature(void** state)
{
    (void)state;
    static const char* const files[] = { "03_balls", "04_free", "06_meshes", "14_quadruped" };
    mor_error error = { 0 };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char from[512], notes[1000];
        snprintf(from, sizeof from, MODELS "%s.xml", files[i]);
        mor_mjcf* a = mor_mjcf_read(from, false, NULL, 0, &error);
        assert_non_null(a);
        mor_robot_model* model = a->trees[0].model;
        if (mor_urdf_write(model, "robot", path, notes, sizeof notes, &error)) fail_msg("%s", error.text);
        assert_true((strstr(notes, "armature") != NULL) == (i == 0 || i == 3));
        mor_urdf_options o = mor_urdf_options_default();
        o.floating = mor_robot_floating(model);
        mor_robot_model* b = mor_urdf_read(path, &o, NULL, 0, &error);
        if (!b) fail_msg("%s", error.text);
        assert_same(model, b, i == 1 || i == 2);
        mor_robot_destroy(b);
        mor_mjcf_destroy(a);
    }
}

static void well_known_robots_survive(void** state)
{
    (void)state;
    mor_error error = { 0 };
    if (access(SHARED "mjcf/agility_cassie/cassie.xml", R_OK) != 0 || access(SHARED "robots/h1/h1.urdf", R_OK) != 0) {
        print_message("SKIP: cassie and h1 are not there\n");
        return;
    }
    mor_mjcf *a = mor_mjcf_read(SHARED "mjcf/agility_cassie/cassie.xml", false, NULL, 0, &error),
             *b = rewritten(SHARED "mjcf/agility_cassie/cassie.xml", &error);
    assert_same(a->trees[0].model, b->trees[0].model, true);
    mor_mjcf_destroy(a);
    mor_mjcf_destroy(b);
    mor_urdf_options o = mor_urdf_options_default();
    mor_robot_model* h1 = mor_urdf_read(SHARED "robots/h1/h1.urdf", &o, NULL, 0, &error);
    assert_non_null(h1);
    assert_false(mor_mjcf_is(SHARED "robots/h1/h1.urdf")); /* it holds an element <mujoco> */
    b = rewritten(SHARED "robots/h1/h1.urdf", &error);
    assert_same(h1, b->trees[0].model, true);
    mor_mjcf_destroy(b);
    mor_robot_destroy(h1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_written_as_mjcf_is_the_same, make_file, remove_file),
        cmocka_unit_test_setup_teardown(a_model_written_as_urdf_is_the_same_but_for_armature, make_file, remove_file),
        cmocka_unit_test_setup_teardown(well_known_robots_survive, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
