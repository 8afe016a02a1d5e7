/* The broad phase against brute force, its costs by counting, and its memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/workers.h"
#include "collision/bvh.h"

typedef struct boxes {
    int count;
    mor_aabb box[4096];
    int proxy[4096];
    bool alive[4096];
    int group[4096]; /* 0: none */
} boxes;

static mor_aabb random_box(mor_rng* rng, double space, double size)
{
    mor_aabb b;
    b.lower = mor_v3(space * mor_rng_uniform(rng), space * mor_rng_uniform(rng), space * mor_rng_uniform(rng));
    b.upper =
        mor_add(b.lower, mor_v3(size * mor_rng_uniform(rng), size * mor_rng_uniform(rng), size * mor_rng_uniform(rng)));
    return b;
}

static bool meet(const mor_aabb* a, const mor_aabb* b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

/* Every pair the tree reports, in order, is the next one brute force finds. */
static void compare_pairs(mor_bvh* tree, const boxes* s, const bool* moved)
{
    int* list = malloc(sizeof(int) * (size_t)(s->count + 1));
    int n = 0, k = 0;
    for (int i = s->count - 1; i >= 0; i--)
        if (s->alive[i] && moved[i]) list[n++] = s->proxy[i];
    const mor_index_pair* pairs;
    mor_workers* workers = mor_workers_create(NULL, 3);
    const mor_index_pair* shared;
    int same = mor_bvh_pairs(tree, list, n, workers, &shared, NULL);
    mor_index_pair* kept = malloc(sizeof *kept * (size_t)(same + 1));
    if (same > 0) memcpy(kept, shared, sizeof *kept * (size_t)same);
    int count = mor_bvh_pairs(tree, list, n, NULL, &pairs, NULL);
    assert_int_equal(same, count);
    if (same > 0) assert_memory_equal(kept, pairs, sizeof *kept * (size_t)same);
    free(kept);
    mor_workers_destroy(workers);
    for (int i = 0; i < s->count; i++)
        for (int j = i + 1; j < s->count; j++)
            if (s->alive[i] && s->alive[j] && (moved[i] || moved[j]) &&
                (s->group[i] == 0 || s->group[i] != s->group[j]) && meet(&s->box[i], &s->box[j])) {
                assert_true(k < count);
                assert_int_equal(pairs[k].i, i);
                assert_int_equal(pairs[k].j, j);
                k++;
            }
    assert_int_equal(k, count);
    free(list);
}

/* With several groups every fourth box belongs to none; with one all belong to it. */
static void check_pairs(int groups)
{
    mor_rng rng = { 7 };
    mor_allocator allocator = mor_allocator_default();
    mor_bvh* tree = mor_bvh_create(&allocator, 0.1);
    boxes* s = calloc(1, sizeof *s);
    bool* moved = calloc(4096, sizeof *moved);
    s->count = 500;
    for (int i = 0; i < s->count; i++) {
        s->box[i] = random_box(&rng, 10, 1.5);
        s->alive[i] = true;
        s->group[i] = groups == 1 ? 1 : i % 4 ? i % (groups + 1) : 0;
        s->proxy[i] = mor_bvh_insert(tree, s->box[i], i);
        mor_bvh_set_group(tree, s->proxy[i], s->group[i]);
        moved[i] = true;
    }
    assert_true(mor_bvh_check(tree));
    compare_pairs(tree, s, moved);
    for (int round = 0; round < 30; round++) {
        for (int i = 0; i < s->count; i++) {
            moved[i] = mor_rng_uniform(&rng) < (round % 2 ? 0.5 : 0.05); /* the tree as a whole, and one by one */
            if (!s->alive[i]) {
                if (mor_rng_uniform(&rng) < 0.5) {
                    s->box[i] = random_box(&rng, 10, 1.5);
                    s->alive[i] = true;
                    s->proxy[i] = mor_bvh_insert(tree, s->box[i], i);
                    mor_bvh_set_group(tree, s->proxy[i], s->group[i]);
                }
            } else if (mor_rng_uniform(&rng) < 0.1) {
                mor_bvh_remove(tree, s->proxy[i]);
                s->alive[i] = false;
            } else if (moved[i]) {
                mor_vec3 d =
                    mor_v3(mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5, mor_rng_uniform(&rng) - 0.5);
                d = mor_scale(round % 3 == 0 ? 4.0 : 0.1, d);
                s->box[i].lower = mor_add(s->box[i].lower, d);
                s->box[i].upper = mor_add(s->box[i].upper, d);
                mor_bvh_move(tree, s->proxy[i], s->box[i]);
            }
        }
        assert_true(mor_bvh_check(tree));
        compare_pairs(tree, s, moved);
    }
    for (int i = 0; i < s->count; i++)
        if (s->alive[i]) mor_bvh_remove(tree, s->proxy[i]);
    assert_int_equal(mor_bvh_count(tree), 0);
    assert_true(mor_bvh_check(tree));
    mor_bvh_destroy(tree);
    free(s);
    free(moved);
}

static void pairs_equal_brute_force_through_inserts_moves_and_removals(void** state)
{
    (void)state;
    check_pairs(0);
}

static void boxes_of_one_group_make_no_pairs(void** state)
{
    (void)state;
    check_pairs(1);
    check_pairs(3);
}

/* Boxes a grid must get right or leave to the tree: 0 like sizes, 1 a few very large, 2 sizes over three decades, 3 all
 * in one place, 4 some far away, 5 in a plane, 6 shifted far from the origin. */
static mor_aabb box_of_kind(mor_rng* rng, int kind, int i)
{
    mor_aabb b = random_box(rng, kind == 3 ? 0.1 : 12, 1.5);
    double grow = kind == 1 && i % 100 == 0 ? 9.0 : kind == 2 ? 3.0 * (i % 3 ? (i % 3 == 1 ? 0.01 : 0.1) : 1.0) : 0.0;
    b.upper = mor_add(b.upper, mor_v3(grow, grow, grow));
    mor_vec3 shift = mor_v3(0, 0, 0);
    if (kind == 4 && i % 50 == 0) shift = mor_v3(i % 100 ? 1e9 : -1e5, 300.0 * i, 0);
    if (kind == 6) shift = mor_v3(1e6, -1e7, 1e5);
    b.lower = mor_add(b.lower, shift), b.upper = mor_add(b.upper, shift);
    if (kind == 5) b.lower.z = b.upper.z = 0.0;
    return b;
}

/* Boxes are set and left for mor_bvh_pairs to settle, many or few in turn, so that grid and tree follow each other. */
static void boxes_of_any_sizes_and_places_meet_as_by_brute_force(void** state)
{
    (void)state;
    for (int kind = 0; kind < 7; kind++) {
        mor_rng rng = { 100 + (uint64_t)kind };
        mor_allocator allocator = mor_allocator_default();
        mor_bvh* tree = mor_bvh_create(&allocator, 0.1);
        boxes* s = calloc(1, sizeof *s);
        bool* moved = calloc(4096, sizeof *moved);
        s->count = 400;
        for (int i = 0; i < s->count; i++) {
            s->box[i] = box_of_kind(&rng, kind, i);
            s->alive[i] = moved[i] = true;
            s->proxy[i] = mor_bvh_insert(tree, s->box[i], i);
        }
        compare_pairs(tree, s, moved);
        for (int round = 0; round < 12; round++) {
            for (int i = 0; i < s->count; i++) {
                moved[i] = mor_rng_uniform(&rng) < (round % 3 ? 0.8 : 0.03);
                if (moved[i]) mor_bvh_set_box(tree, s->proxy[i], s->box[i] = box_of_kind(&rng, kind, i));
            }
            compare_pairs(tree, s, moved);
            if (round % 3 == 0) assert_true(mor_bvh_check(tree)); /* the tree was asked: all is settled */
        }
        mor_bvh_destroy(tree);
        free(s);
        free(moved);
    }
}

/* Bodies of ten boxes that go their ways slowly, some of them with a leap now and then. The tree is not asked while
 * all stay in their fat boxes: the pairs are those of brute force, and what is looked at becomes less. */
static void pairs_of_boxes_that_hardly_move_come_from_a_kept_list(void** state)
{
    (void)state;
    mor_rng rng = { 21 };
    mor_allocator allocator = mor_allocator_default();
    mor_bvh* tree = mor_bvh_create(&allocator, 0.1);
    boxes* s = calloc(1, sizeof *s);
    bool* moved = calloc(4096, sizeof *moved);
    int list[400];
    s->count = 400;
    for (int i = 0; i < s->count; i++) {
        const mor_vec3 at = mor_v3(1.1 * (i / 10 % 7), 1.1 * (i / 70), 0);
        s->box[i] = random_box(&rng, 1, 0.5);
        s->box[i].lower = mor_add(s->box[i].lower, at), s->box[i].upper = mor_add(s->box[i].upper, at);
        s->alive[i] = moved[i] = true;
        s->group[i] = 1 + i / 10;
        s->proxy[i] = list[i] = mor_bvh_insert(tree, s->box[i], i);
        mor_bvh_set_group(tree, s->proxy[i], s->group[i]);
    }
    long visits[40];
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < s->count; i++) {
            const bool leaps = round % 10 == 9 && i % 100 == round % 7;
            const mor_vec3 d = mor_scale(leaps ? 2.0 : 1e-3, mor_v3(mor_rng_uniform(&rng) - 0.5, 0, 0));
            s->box[i].lower = mor_add(s->box[i].lower, d), s->box[i].upper = mor_add(s->box[i].upper, d);
            mor_bvh_set_box(tree, s->proxy[i], s->box[i]);
        }
        const mor_index_pair* pairs;
        mor_bvh_pairs(tree, list, s->count, NULL, &pairs, &visits[round]);
        compare_pairs(tree, s, moved);
    }
    assert_true(visits[8] < visits[0] / 2);
    mor_bvh_destroy(tree);
    free(s);
    free(moved);
}

typedef struct hits {
    bool found[4096];
    int count, stop_after;
} hits;

static bool note(void* user, int proxy, int index)
{
    (void)proxy;
    hits* h = user;
    assert_false(h->found[index]);
    h->found[index] = true;
    return ++h->count != h->stop_after;
}

static void a_query_finds_exactly_the_boxes_it_meets_and_stops_when_told(void** state)
{
    (void)state;
    mor_rng rng = { 3 };
    mor_allocator allocator = mor_allocator_default();
    mor_bvh* tree = mor_bvh_create(&allocator, 0.2);
    static mor_aabb box[300];
    for (int i = 0; i < 300; i++) {
        box[i] = random_box(&rng, 5, 1);
        mor_bvh_insert(tree, box[i], i);
    }
    hits* h = calloc(1, sizeof *h);
    for (int q = 0; q < 200; q++) {
        mor_aabb probe = random_box(&rng, 5, 2);
        memset(h, 0, sizeof *h);
        mor_bvh_query(tree, probe, note, h);
        for (int i = 0; i < 300; i++) assert_int_equal(h->found[i], meet(&probe, &box[i]));
    }
    memset(h, 0, sizeof *h);
    h->stop_after = 3;
    mor_bvh_query(tree, (mor_aabb){ { 0, 0, 0 }, { 9, 9, 9 } }, note, h);
    assert_int_equal(h->count, 3);
    free(h);
    mor_bvh_destroy(tree);
}

static void a_small_move_stays_in_the_fat_box(void** state)
{
    (void)state;
    mor_allocator allocator = mor_allocator_default();
    mor_bvh* tree = mor_bvh_create(&allocator, 0.1);
    mor_aabb b = { { 0, 0, 0 }, { 1, 1, 1 } };
    int p = mor_bvh_insert(tree, b, 5);
    assert_int_equal(mor_bvh_index(tree, p), 5);
    b.lower.x += 0.05;
    b.upper.x += 0.05;
    assert_false(mor_bvh_move(tree, p, b));
    b.lower.x += 0.2;
    b.upper.x += 0.2;
    assert_true(mor_bvh_move(tree, p, b));
    assert_true(mor_bvh_check(tree));
    mor_bvh_destroy(tree);
}

/* Boxes of a grid, inserted in order: the worst order for a tree that does not balance. */
static long grid_visits(int side, int* height)
{
    mor_allocator allocator = mor_allocator_default();
    mor_bvh* tree = mor_bvh_create(&allocator, 0.1);
    int n = side * side * side, k = 0;
    int* proxy = malloc(sizeof(int) * (size_t)n);
    for (int x = 0; x < side; x++)
        for (int y = 0; y < side; y++)
            for (int z = 0; z < side; z++, k++)
                proxy[k] = mor_bvh_insert(tree, (mor_aabb){ { x, y, z }, { x + 1.01, y + 1.01, z + 1.01 } }, k);
    const mor_index_pair* pairs;
    long visits;
    int count = mor_bvh_pairs(tree, proxy, n, NULL, &pairs, &visits);
    /* a cube has 26 neighbours inside the grid */
    int s = side, expected = (int)(((3L * s - 2) * (3L * s - 2) * (3L * s - 2) - n) / 2);
    assert_int_equal(count, expected);
    *height = mor_bvh_height(tree);
    free(proxy);
    mor_bvh_destroy(tree);
    return visits;
}

static void cost_grows_nearly_linearly_and_the_tree_stays_flat(void** state)
{
    (void)state;
    int small_height, large_height;
    double small = (double)grid_visits(8, &small_height) / (8 * 8 * 8);
    double large = (double)grid_visits(24, &large_height) / (24 * 24 * 24);
    /* 27 times the boxes: visits per box may grow like log n only */
    assert_true(large < 2.0 * small);
    assert_true(small_height <= 1 + 1.45 * 9);
    assert_true(large_height <= 1 + 1.45 * 13.8);
}

static void* counting_resize(void* user, void* block, size_t size)
{
    int* budget = user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    if (*budget == 0) return NULL;
    --*budget;
    return realloc(block, size);
}

static void a_warm_tree_allocates_nothing(void** state)
{
    (void)state;
    int budget = 1000000;
    mor_allocator allocator = { counting_resize, &budget };
    mor_bvh* tree = mor_bvh_create(&allocator, 0.0);
    int proxy[200];
    mor_rng rng = { 11 };
    for (int i = 0; i < 200; i++) proxy[i] = mor_bvh_insert(tree, random_box(&rng, 3, 1), i);
    const mor_index_pair* pairs;
    int count = mor_bvh_pairs(tree, proxy, 200, NULL, &pairs, NULL);
    assert_true(count > 256);
    budget = 0;
    mor_rng again = { 11 };
    for (int round = 0; round < 5; round++) {
        again.state = 11;
        for (int i = 0; i < 200; i++) mor_bvh_move(tree, proxy[i], random_box(&rng, 3, 1));
        for (int i = 0; i < 200; i++) mor_bvh_move(tree, proxy[i], random_box(&again, 3, 1));
        mor_bvh_remove(tree, proxy[17]);
        again.state = 11;
        mor_aabb b = { { 0, 0, 0 }, { 0, 0, 0 } };
        for (int i = 0; i <= 17; i++) b = random_box(&again, 3, 1);
        proxy[17] = mor_bvh_insert(tree, b, 17);
        assert_true(proxy[17] >= 0);
        assert_int_equal(mor_bvh_pairs(tree, proxy, 200, NULL, &pairs, NULL), count);
    }
    mor_bvh_destroy(tree);
}

static void running_out_of_memory_is_told_and_leaves_the_tree_usable(void** state)
{
    (void)state;
    for (int allowed = 1; allowed < 12; allowed++) {
        int budget = allowed, inserted = 0, proxy[600];
        mor_allocator allocator = { counting_resize, &budget };
        mor_bvh* tree = mor_bvh_create(&allocator, 0.1);
        mor_rng rng = { 5 };
        for (int i = 0; i < 600; i++) {
            int p = mor_bvh_insert(tree, random_box(&rng, 1, 1), i);
            if (p >= 0) proxy[inserted++] = p;
        }
        const mor_index_pair* pairs;
        mor_bvh_pairs(tree, proxy, inserted, NULL, &pairs, NULL);
        assert_true(mor_bvh_check(tree));
        budget = 1000;
        assert_true(mor_bvh_pairs(tree, proxy, inserted, NULL, &pairs, NULL) >= 0);
        mor_bvh_destroy(tree);
    }
}

/* A box alone meets nobody, however far it moves, and those that come later meet it where it is. */
static void a_box_alone_meets_nobody_until_another_comes(void** state)
{
    (void)state;
    mor_rng rng = { 77 };
    mor_allocator allocator = mor_allocator_default();
    for (int run = 0; run < 50; run++) {
        mor_bvh* tree = mor_bvh_create(&allocator, 0.1);
        mor_aabb box = random_box(&rng, 10.0, 1.0), far = random_box(&rng, 10.0, 1.0);
        int proxy = mor_bvh_insert(tree, box, 0);
        const mor_index_pair* pairs;
        assert_int_equal(mor_bvh_pairs(tree, &proxy, 1, NULL, &pairs, NULL), 0);
        mor_bvh_set_box(tree, proxy, far);
        assert_int_equal(mor_bvh_pairs(tree, &proxy, 1, NULL, &pairs, NULL), 0);
        mor_aabb near = { mor_sub(far.upper, mor_v3(1e-3, 1e-3, 1e-3)), mor_add(far.upper, mor_v3(1, 1, 1)) };
        int other = mor_bvh_insert(tree, near, 1);
        assert_int_equal(mor_bvh_pairs(tree, &other, 1, NULL, &pairs, NULL), 1);
        assert_true(mor_bvh_check(tree));
        mor_bvh_destroy(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_equal_brute_force_through_inserts_moves_and_removals),
        cmocka_unit_test(boxes_of_one_group_make_no_pairs),
        cmocka_unit_test(boxes_of_any_sizes_and_places_meet_as_by_brute_force),
        cmocka_unit_test(pairs_of_boxes_that_hardly_move_come_from_a_kept_list),
        cmocka_unit_test(a_query_finds_exactly_the_boxes_it_meets_and_stops_when_told),
        cmocka_unit_test(a_small_move_stays_in_the_fat_box),
        cmocka_unit_test(cost_grows_nearly_linearly_and_the_tree_stays_flat),
        cmocka_unit_test(a_warm_tree_allocates_nothing),
        cmocka_unit_test(running_out_of_memory_is_told_and_leaves_the_tree_usable),
        cmocka_unit_test(a_box_alone_meets_nobody_until_another_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
