/* SDF models against URDF twins; a world; what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "common/damage.h"
#include "common/near.h"
#include "common/scratch.h"
#include "io/sdf/sdf.h"
#include "moreau/scene.h"

#define MODELS MOREAU_SOURCE_DIR "/tests/sdf/"

/* M, h and the pose of every link of the SDF model, at random states. */
static void assert_twins(const mor_robot_model* a, const mor_robot_model* b, const char* scope)
{
    int n = mor_robot_joint_count(a), N = mor_robot_dof(a);
    assert_int_equal(mor_robot_dof(b), N);
    mor_robot_work *wa = mor_robot_work_create(a), *wb = mor_robot_work_create(b);
    double s[32], nu[32], h[2][32], M[2][32 * 32];
    mor_rng rng = { 9 };
    for (int round = 0; round < 5; round++) {
        mor_pose base = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
        if (N > n) base = (mor_pose){ { 0.1, -0.2, 0.8 }, mor_rng_rotation(&rng) };
        for (int k = 0; k < N; k++) nu[k] = mor_rng_uniform(&rng) - 0.5;
        for (int j = 0; j < n; j++) s[j] = mor_rng_uniform(&rng) - 0.5;
        mor_robot_update(a, wa, &base, s, nu);
        mor_robot_update(b, wb, &base, s, nu);
        mor_robot_inverse_dynamics(a, wa, mor_v3(0, 0, -9.81), NULL, NULL, h[0]);
        mor_robot_inverse_dynamics(b, wb, mor_v3(0, 0, -9.81), NULL, NULL, h[1]);
        mor_robot_mass_matrix(a, wa, M[0]);
        mor_robot_mass_matrix(b, wb, M[1]);
        for (int i = 0; i < N; i++) assert_near(h[1][i], h[0][i], 1e-10);
        for (int i = 0; i < N * N; i++) assert_near(M[1][i], M[0][i], 1e-10);
        for (int i = 0; i < mor_robot_frame_count(b); i++) {
            const char* name = mor_robot_frame(b, i)->name;
            if (strcmp(name, "world") == 0) continue;
            int other = mor_robot_find_frame(a, name + strlen(scope));
            assert_true(other >= 0);
            mor_pose x = mor_robot_frame_pose(a, wa, other), y = mor_robot_frame_pose(b, wb, i);
            assert_near(mor_norm(mor_sub(x.position, y.position)), 0.0, 1e-10);
        }
    }
    for (int j = 0; j < n; j++) {
        const mor_link_def *x = mor_robot_link(a, mor_robot_link_of_joint(a, j)),
                           *y = mor_robot_link(b, mor_robot_link_of_joint(b, j));
        assert_near(x->damping, y->damping, 0);
        assert_near(x->friction, y->friction, 0);
        assert_true(x->lower == y->lower && x->upper == y->upper);
    }
    assert_int_equal(mor_robot_shape_count(a), mor_robot_shape_count(b));
    mor_robot_work_destroy(wa);
    mor_robot_work_destroy(wb);
}

static void models_agree_with_their_urdf_twins(void** state)
{
    (void)state;
    static const char* const names[] = { "1_arm", "2_floating", "3_ball", "4_offset", "5_world" };
    for (int i = 0; i < 5; i++) {
        char sdf[512], urdf[512];
        mor_error error = { 0 };
        snprintf(sdf, sizeof sdf, MODELS "%s.sdf", names[i]);
        snprintf(urdf, sizeof urdf, MODELS "%s.urdf", names[i]);
        mor_mjcf* m = mor_sdf_read(sdf, NULL, true, NULL, 0, &error);
        if (!m) fail_msg("%s", error.text);
        mor_urdf_options o = mor_urdf_options_default();
        o.shapes = true;
        o.floating = m->trees[0].floating;
        mor_robot_model* twin = mor_urdf_read(urdf, &o, NULL, 0, &error);
        if (!twin) fail_msg("%s", error.text);
        assert_twins(twin, m->trees[0].model, i == 4 ? "cart::" : "");
        mor_robot_destroy(twin);
        mor_mjcf_destroy(m);
    }
}

static void a_world_runs(void** state)
{
    (void)state;
    mor_error error = { 0 };
    mor_scene* scene = mor_scene_load(MODELS "5_world.sdf", NULL, NULL, &error);
    if (!scene) fail_msg("%s", error.text);
    mor_world* w = mor_scene_build(scene, 1, &error);
    if (!w) fail_msg("%s", error.text);
    assert_near(mor_world_get_step(w), 0.002, 0);
    double friction = -1.0;
    while (mor_world_time(w) < 1.5) {
        if (mor_world_step(w, NULL, &error)) fail_msg("%s", error.text);
        int count;
        const mor_contact* c = mor_world_contacts(w, &count);
        for (int i = 0; i < count; i++)
            if (strstr(mor_body_name(w, mor_world_body(w, c[i].body[1])), "stone") ||
                strstr(mor_body_name(w, mor_world_body(w, c[i].body[0])), "stone"))
                friction = c[i].friction;
    }
    assert_near(mor_body_get_state(w, mor_world_find_body(w, "yard_stone::l/stone::l")).com.z, 0.1, 1e-4);
    assert_near(friction, 0.6, 0); /* the smaller of 0.6 and 1 */
    mor_world_destroy(w);
    mor_scene_destroy(scene);
}

static void what_is_wrong_is_refused_with_its_place(void** state)
{
    (void)state;
    static const struct {
        const char *inside, *where, *what;
    } cases[] = {
        { "", ":1:1:", "no <model>" },
        { "<model/>", ":2:1:", "no name" },
        { "<model name='m'><link/></model>", ":2:17:", "no name" },
        { "<model name='m'><link name='a'><pose>1 2</pose></link></model>", ":2:32:", "2 numbers" },
        { "<model name='m'><link name='a'><pose relative_to='b'>0 0 0 0 0 0</pose></link></model>", ":2:17:", "'b'" },
        { "<model name='m'><link name='a'/><joint name='j' type='screw'><parent>world</parent><child>a</child></joint>"
          "</model>",
          ":2:33:", "screw" },
        { "<model name='m'><link name='a'/><joint name='j' type='fixed'><parent>x</parent><child>a</child></joint>"
          "</model>",
          ":2:33:", "no link 'x'" },
        { "<model name='m'><link name='a'><inertial><mass>-1</mass></inertial></link></model>", ":2:32:", "mass" },
        { "<include><uri>nowhere.sdf</uri></include>", ":2:1:", "not found" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        mor_error error = { 0 };
        snprintf(text, sizeof text, "<sdf version='1.9'>\n%s\n</sdf>\n", cases[i].inside);
        write_bytes(text, strlen(text));
        mor_mjcf* m = mor_sdf_read(path, NULL, true, NULL, 0, &error);
        if (m) fail_msg("accepted: %s", cases[i].inside);
        assert_int_equal(error.code, MOR_BAD_INPUT);
        if (!strstr(error.text, cases[i].where) || !strstr(error.text, cases[i].what))
            fail_msg("'%s' is not as expected (%s, %s)", error.text, cases[i].where, cases[i].what);
    }
}

/* 240 files broken by dice: read, or refused with a sentence and a place; under the sanitizers this means something. */
static void no_broken_file_breaks_the_reader(void** state)
{
    (void)state;
    static const char* const files[] = { "1_arm", "2_floating", "3_ball", "4_offset", "5_world" };
    static char text[65536];
    mor_rng rng = { 21 };
    int refused = 0, accepted = 0;
    for (int k = 0; k < 240; k++) {
        char name[512];
        snprintf(name, sizeof name, MODELS "%s.sdf", files[k % 5]);
        FILE* f = fopen(name, "rb");
        assert_non_null(f);
        size_t n = fread(text, 1, sizeof text / 2, f);
        fclose(f);
        for (int c = 0; c <= k % 4; c++) n = damage(&rng, text, n, sizeof text);
        write_bytes(text, n);
        mor_error error = { 0 };
        char notes[3000];
        mor_mjcf* m = mor_sdf_read(path, NULL, true, notes, sizeof notes, &error);
        if (m) {
            mor_mjcf_destroy(m);
            accepted++;
        } else {
            assert_int_equal(error.code, MOR_BAD_INPUT);
            assert_true(strlen(error.text) > 10);
            if (n > 1 && error.line < 1 && !strstr(error.text, path)) fail_msg("no place: %s", error.text);
            refused++;
        }
    }
    assert_true(refused > 80 && accepted > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_agree_with_their_urdf_twins),
        cmocka_unit_test(a_world_runs),
        cmocka_unit_test_setup_teardown(what_is_wrong_is_refused_with_its_place, make_file, remove_file),
        cmocka_unit_test_setup_teardown(no_broken_file_breaks_the_reader, make_file, remove_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
