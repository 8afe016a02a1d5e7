/* What the assembly of a step makes of bodies and contacts, whatever order they come in. */
#include "common/worlds.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------- mass blocks */

/* A row of bodies on the ground, not touching each other; the systems of one step. */
static mor_step* assembled(mor_world* w)
{
    mor_error error = { 0 };
    mor_step* step = mor_step_create(w, &error);
    assert_non_null(step);
    assert_int_equal(mor_stage_user(w, step, &error), MOR_OK);
    assert_int_equal(mor_stage_collide(w, step, &error), MOR_OK);
    assert_int_equal(mor_stage_control(w, step, &error), MOR_OK);
    assert_int_equal(mor_stage_assemble(w, step, &error), MOR_OK);
    return step;
}

/* M of a free body from mass and inertia: diag(m, R I R'); M M^-1 = 1. */
static void check_block(const mor_tree_block* t, double m, const double inertia[3], mor_quat q)
{
    mor_mat3 R = mor_quat_matrix(q), I = { { { inertia[0], 0, 0 }, { 0, inertia[1], 0 }, { 0, 0, inertia[2] } } };
    I = mor_mat3_rotate(&R, &I);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double expected = i < 3 || j < 3 ? (i == j ? m : 0.0) : I.m[i - 3][j - 3], one = 0.0;
            for (int k = 0; k < 6; k++) one += t->mass[6 * i + k] * t->mass_inverse[6 * k + j];
            test_near(t->mass[6 * i + j], expected, 1e-12, "mass");
            test_near(one, i == j, 1e-12, "mass times inverse");
        }
}

static void equal_bodies_that_are_alike_about_all_axes_share_their_mass_block(void** state)
{
    (void)state;
    const struct {
        double x, y, z, mass;
    } boxes[] = { { 0.4, 0.4, 0.4, 3 }, { 0.4, 0.4, 0.4, 3 }, { 0.4, 0.4, 0.4, 5 }, { 0.4, 0.2, 0.6, 3 },
                  { 0.4, 0.2, 0.6, 3 }, { 0.4, 0.4, 0.4, 3 }, { 0.4, 0.4, 0.4, 3 } };
    enum { COUNT = sizeof boxes / sizeof *boxes };
    mor_world* w = test_world(0.01);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), (mor_quat){ 1, 0, 0, 0 });
    mor_body_id body[COUNT];
    for (int i = 0; i < COUNT; i++) {
        mor_quat turned = mor_quat_exp(mor_v3(0, 0, 0.3 + i));
        body[i] = test_body(w, test_box(boxes[i].x, boxes[i].y, boxes[i].z), boxes[i].mass,
                            mor_v3(2.0 * i, 0, 0.5 * boxes[i].z), turned);
    }
    mor_step* step = assembled(w);
    assert_int_equal(mor_step_island_count(step), COUNT);
    const mor_tree_block* block[COUNT];
    for (int i = 0; i < COUNT; i++) {
        block[i] = mor_step_system(step, i)->trees;
        const double x = boxes[i].x, y = boxes[i].y, z = boxes[i].z, m = boxes[i].mass;
        const double inertia[3] = { m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12 };
        check_block(block[i], m, inertia, test_state(w, body[i]).pose.rotation);
    }
    assert_ptr_equal(block[0]->mass, block[1]->mass);
    assert_ptr_equal(block[0]->mass_inverse, block[1]->mass_inverse);
    assert_ptr_equal(block[5]->mass, block[6]->mass);
    assert_ptr_not_equal(block[1]->mass, block[2]->mass); /* heavier */
    assert_ptr_not_equal(block[3]->mass, block[4]->mass); /* turned otherwise */
    mor_step_destroy(step);
    mor_world_destroy(w);
}

/* ---------------------------------------------------------------------------- order of contacts */

typedef struct list {
    mor_contact contacts[64];
    int count;
} list;

static mor_code report(void* user, const mor_world* world, mor_found* found, mor_error* error)
{
    (void)world, (void)error;
    const list* l = user;
    for (int i = 0; i < l->count; i++) mor_found_add(found, &l->contacts[i]);
    return MOR_OK;
}

static int order_of(const mor_contact* a, const mor_contact* b)
{
    const long long x[5] = { a->body[0], a->body[1], a->shape[0], a->shape[1], (long long)a->feature };
    const long long y[5] = { b->body[0], b->body[1], b->shape[0], b->shape[1], (long long)b->feature };
    for (int i = 0; i < 5; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Steps a world with `count` contacts in the order that `place` gives them, and says what became of them. */
static void check_order(const int pair[][2], int pairs, int each, int stride)
{
    mor_world* w = test_world(0.01);
    test_fixed(w, test_plane(), mor_v3(0, 0, 0), (mor_quat){ 1, 0, 0, 0 });
    for (int i = 0; i < 4; i++) test_body(w, test_sphere(0.5), 1, mor_v3(3.0 * i, 0, 0.5), (mor_quat){ 1, 0, 0, 0 });
    static list l;
    l.count = 0;
    for (int p = 0; p < pairs; p++)
        for (int i = 0; i < each; i++) {
            uint64_t feature = (uint64_t)(i * stride % each);
            double x = 3.0 * (pair[p][1] - 1) + 0.01 * (double)feature;
            l.contacts[l.count++] = (mor_contact){ .body = { pair[p][0], pair[p][1] },
                                                   .point = { { x, 0, 0 }, { x, 0, 0 } },
                                                   .normal = { 0, 0, 1 },
                                                   .feature = feature,
                                                   .friction = 0.5,
                                                   .restitution = 0.0 };
        }
    mor_world_on_collide(w, report, &l);
    mor_step_report r;
    mor_error error = { 0 };
    assert_int_equal(mor_world_step(w, &r, &error), MOR_OK);
    int count;
    const mor_contact* c = mor_world_contacts(w, &count);
    assert_int_equal(count, pairs * each);
    for (int i = 0; i < count; i++) {
        if (i > 0) assert_true(order_of(&c[i - 1], &c[i]) < 0);
        test_near(c[i].point[0].x, 3.0 * (c[i].body[1] - 1) + 0.01 * (double)c[i].feature, 0.0, "place of a feature");
    }
    mor_world_destroy(w);
}

static void contacts_are_sorted_in_whatever_order_they_come(void** state)
{
    (void)state;
    const int in_order[][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 } };
    const int backwards[][2] = { { 0, 4 }, { 0, 3 }, { 0, 2 }, { 0, 1 } };
    const int late[][2] = { { 0, 2 }, { 0, 3 }, { 0, 4 }, { 0, 1 } };
    check_order(in_order, 4, 7, 1);
    check_order(in_order, 4, 7, 3);  /* features of each pair mixed */
    check_order(in_order, 1, 61, 8); /* many of one pair */
    check_order(backwards, 4, 5, 2);
    check_order(late, 4, 7, 4); /* one pair was found last */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bodies_that_are_alike_about_all_axes_share_their_mass_block),
        cmocka_unit_test(contacts_are_sorted_in_whatever_order_they_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
