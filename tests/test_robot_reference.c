/* `moreau robot --json` against values that other libraries computed (DART, checked with KDL): every
 * state of every reference file, 1e-10 relative to max(1, largest entry). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "common/near.h"
#include "io/json/json_read.h"
#include "moreau/robot.h"

#define ROBOTS MOREAU_SOURCE_DIR "/../shared/data/robots"

static mor_json_document* run_robot(const char* arguments)
{
    char command[3000];
    snprintf(command, sizeof command, "'%s' robot %s --json 2>/dev/null", MOREAU_COMMAND, arguments);
    FILE* pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t room = 1 << 24, length = 0, got;
    char* text = malloc(room);
    while ((got = fread(text + length, 1, room - length, pipe)) > 0) length += got;
    assert_int_equal(pclose(pipe), 0);
    mor_error error;
    mor_json_document* d = mor_json_read_text("output", text, length, &error);
    if (!d) fail_msg("%s", error.text);
    free(text);
    return d;
}

/* Largest difference and largest expected number of two values of the same shape. */
static void compare(const mor_json_value* a, const mor_json_value* b, double* difference, double* size)
{
    assert_non_null(a);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->count, b->count);
    if (b->kind == MOR_JSON_NUMBER) {
        *difference = fmax(*difference, fabs(a->number - b->number));
        *size = fmax(*size, fabs(b->number));
    }
    const mor_json_value* x = a->first;
    for (const mor_json_value* y = b->first; y; y = y->next, x = x->next) compare(x, y, difference, size);
}

static void check(const mor_json_value* a, const mor_json_value* b, const char* key)
{
    double difference = 0.0, size = 1.0;
    assert_non_null(mor_json_get(b, key));
    compare(mor_json_get(a, key), mor_json_get(b, key), &difference, &size);
    if (!(difference <= 1e-10 * size)) fail_msg("%s differs by %g (size %g)", key, difference, size);
}

static void check_file(const char* name)
{
    char path[1000], arguments[2600];
    snprintf(path, sizeof path, "%s/reference/%s.json", ROBOTS, name);
    FILE* f = fopen(path, "r");
    if (!f) {
        printf("SKIP %s: no reference data\n", name);
        skip();
    }
    fclose(f);
    mor_error error;
    mor_json_document* expected = mor_json_read_file(path, &error);
    if (!expected) fail_msg("%s", error.text);
    const mor_json_value* root = mor_json_root(expected);
    snprintf(arguments, sizeof arguments, "'%s/%s' --state '%s'", ROBOTS, mor_json_get(root, "urdf")->text, path);
    mor_json_document* output = run_robot(arguments);
    const mor_json_value* found = mor_json_root(output);
    assert_true(mor_json_get(found, "N")->number == mor_json_get(root, "N")->number);
    assert_near(mor_json_get(found, "total_mass")->number, mor_json_get(root, "total_mass")->number, 1e-10);
    const mor_json_value* order = mor_json_get(found, "joint_order")->first;
    for (const mor_json_value* j = mor_json_get(root, "joint_order")->first; j; j = j->next, order = order->next)
        assert_string_equal(order->text, j->text);
    static const char* const keys[] = { "M", "h", "g", "nudot", "com_world" };
    static const char* const frame_keys[] = { "H", "J", "Jdot_nu" };
    const mor_json_value* s = mor_json_get(found, "states")->first;
    int states = 0, frames = 0;
    for (const mor_json_value* e = mor_json_get(root, "states")->first; e; e = e->next, s = s->next, states++) {
        assert_non_null(s);
        for (int k = 0; k < 5; k++) check(s, e, keys[k]);
        for (const mor_json_value* frame = mor_json_get(e, "frames")->first; frame; frame = frame->next, frames++)
            for (int k = 0; k < 3; k++)
                check(mor_json_get(mor_json_get(s, "frames"), frame->key), frame, frame_keys[k]);
    }
    assert_null(s);
    assert_true(states >= 4 && frames >= 4);
    mor_json_free(output);
    mor_json_free(expected);
}

static void rrbot_on_a_fixed_base_agrees(void** state) { (void)state, check_file("rrbot_fixed"); }
static void rrbot_on_a_floating_base_agrees(void** state) { (void)state, check_file("rrbot_floating"); }
static void anymal_agrees(void** state) { (void)state, check_file("anymal_b_floating"); }
static void icub_agrees(void** state) { (void)state, check_file("icub_genova04_floating"); }
static void h1_agrees(void** state) { (void)state, check_file("h1_floating"); }
static void allegro_hand_agrees(void** state) { (void)state, check_file("allegro_fixed"); }

/* Locking joints and merging their links gives the rows and columns of the joints that are kept. */
static void a_reduced_joint_list_gives_rows_and_columns_of_the_whole(void** state)
{
    (void)state;
    mor_error error;
    mor_json_document* d = mor_json_read_file(ROBOTS "/reference/icub_genova04_floating.json", &error);
    if (!d) {
        printf("SKIP no reference data\n");
        skip();
    }
    const mor_json_value* root = mor_json_root(d);
    const mor_json_value* index = mor_json_get(root, "wbs23_index_into_joint_order");
    assert_non_null(index);
    assert_int_equal(index->count, 23);
    const char* all[64];
    const char* kept[23];
    int at[29] = { 0, 1, 2, 3, 4, 5 }, n = 0;
    for (const mor_json_value* j = mor_json_get(root, "joint_order")->first; j; j = j->next) all[n++] = j->text;
    int k = 0;
    for (const mor_json_value* i = index->first; i; i = i->next, k++)
        kept[k] = all[(int)i->number], at[6 + k] = 6 + (int)i->number;

    mor_urdf_options o = mor_urdf_options_default();
    const mor_json_value* s4 = mor_json_get(root, "states")->first->next->next->next->next; /* others are 0 here */
    double s[64], locked[64], reduced[23], M[29 * 29], h[29];
    assert_int_equal(mor_json_numbers_of(d, mor_json_get(s4, "s"), "s", n, s, &error), MOR_OK);
    memcpy(locked, s, sizeof locked);
    for (int i = 0; i < 23; i++) reduced[i] = s[at[6 + i] - 6];
    o.joints = kept;
    o.joint_count = 23;
    o.locked = locked;
    mor_robot_model* m = mor_urdf_read(ROBOTS "/icub/iCubGenova04/model.urdf", &o, NULL, 0, &error);
    if (!m) fail_msg("%s", error.text);
    assert_int_equal(mor_robot_dof(m), 29);
    double position[3], q[4];
    assert_int_equal(mor_json_numbers_of(d, mor_json_get(s4, "base_pos"), "base_pos", 3, position, &error), MOR_OK);
    assert_int_equal(mor_json_numbers_of(d, mor_json_get(s4, "base_quat_wxyz"), "base_quat", 4, q, &error), MOR_OK);
    mor_pose base = { mor_v3(position[0], position[1], position[2]), { q[0], q[1], q[2], q[3] } };
    mor_robot_work* work = mor_robot_work_create(m);
    mor_robot_update(m, work, &base, reduced, NULL);
    mor_robot_mass_matrix(m, work, M);
    mor_robot_inverse_dynamics(m, work, mor_v3(0, 0, -9.81), NULL, NULL, h);
    int i = 0;
    double full[64 * 64], g[64];
    for (const mor_json_value* row = mor_json_get(s4, "M")->first; row; row = row->next, i++)
        assert_int_equal(mor_json_numbers_of(d, row, "M", n + 6, full + i * (n + 6), &error), MOR_OK);
    assert_int_equal(mor_json_numbers_of(d, mor_json_get(s4, "g"), "g", n + 6, g, &error), MOR_OK);
    for (int a = 0; a < 29; a++) {
        for (int b = 0; b < 29; b++) assert_near(M[29 * a + b], full[at[a] * (n + 6) + at[b]], 1e-9);
        assert_near(h[a], g[at[a]], 1e-8);
    }
    mor_robot_work_destroy(work);
    mor_robot_destroy(m);
    mor_json_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rrbot_on_a_fixed_base_agrees),
        cmocka_unit_test(rrbot_on_a_floating_base_agrees),
        cmocka_unit_test(anymal_agrees),
        cmocka_unit_test(icub_agrees),
        cmocka_unit_test(h1_agrees),
        cmocka_unit_test(allegro_hand_agrees),
        cmocka_unit_test(a_reduced_joint_list_gives_rows_and_columns_of_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
