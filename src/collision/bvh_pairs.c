/* All pairs of boxes of the tree that meet.
 *
 * Few boxes moved: each goes down from the root. Many: boxes of like size are put into a grid (bvh_grid.c). Else the
 * tree goes down against itself, with inner boxes that fit the boxes of the leaves tightly (the widened ones of
 * neighbours in a pile overlap). Two nodes that do not meet end the
 * way of all pairs below them; two that have one box in common are split at the taller one. Threads share that walk.
 *
 * While no box leaves its fat one, the pairs of leaves whose fat boxes meet stay the same. They are looked for when
 * that was so between two calls, and kept: the next calls go through this list, and not into the tree, until it
 * changes.
 *
 * Cost: for n moved boxes and k pairs O((n + k) log n), or about 10 (n + k) pairs of nodes together; of the list, n and
 * the pairs in it.
 *
 * Pairs are sorted by a radix sort on the 64-bit key (i << 32 | j), 11 bits at a time, only over the
 * bits that occur: linear, stable, without further memory. */
#include "collision/bvh_node.h"

#include "base/workers.h"

#include <assert.h>
#include <string.h>

/* MANY: the tree goes down as a whole if more than one in so many boxes moved; on threads from WORTH moved boxes on.
 * CROWD: pairs for each box from which no list is kept */
enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS, FEW = 64, MANY = 8, WORTH = 256, CROWD = 32 };

bool mor_bvh_grow_keys(mor_bvh* tree)
{
    if (tree->key_capacity > 1 << 29) return false;
    int capacity = tree->key_capacity ? 2 * tree->key_capacity : 256;
    mor_allocator a = tree->allocator;
    uint64_t* keys = a.resize(a.user, tree->keys, (size_t)capacity * sizeof *keys);
    if (keys) tree->keys = keys;
    uint64_t* spare = a.resize(a.user, tree->spare, (size_t)capacity * sizeof *spare);
    if (spare) tree->spare = spare;
    mor_index_pair* pairs = a.resize(a.user, tree->pairs, (size_t)capacity * sizeof *pairs);
    if (pairs) tree->pairs = pairs;
    if (!keys || !spare || !pairs) return false;
    tree->key_capacity = capacity;
    return true;
}

/* Sorts keys[0..count) with `spare` as the other half of the passes; returns the sorted buffer. Few keys are inserted
 * one by one: a pass costs RADIX_SIZE however few they are. */
static uint64_t* radix_sort(uint64_t* keys, uint64_t* spare, int count)
{
    for (int k = 1; k < count && count <= FEW; k++) {
        uint64_t key = keys[k];
        int at = k;
        for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
    if (count <= FEW) return keys;
    uint64_t varying = 0;
    for (int k = 1; k < count; k++) varying |= keys[k] ^ keys[0];
    for (int shift = 0; shift < 64; shift += RADIX_BITS) {
        if (((varying >> shift) & (RADIX_SIZE - 1)) == 0) continue;
        int start[RADIX_SIZE] = { 0 }, sum = 0;
        for (int k = 0; k < count; k++) start[(keys[k] >> shift) & (RADIX_SIZE - 1)]++;
        for (int d = 0; d < RADIX_SIZE; d++) {
            int n = start[d];
            start[d] = sum;
            sum += n;
        }
        for (int k = 0; k < count; k++) spare[start[(keys[k] >> shift) & (RADIX_SIZE - 1)]++] = keys[k];
        uint64_t* swap = keys;
        keys = spare;
        spare = swap;
    }
    return keys;
}

static uint64_t key_of(const mor_bvh_node* a, const mor_bvh_node* b)
{
    uint32_t i = (uint32_t)a->index, j = (uint32_t)b->index;
    return i < j ? (uint64_t)i << 32 | j : (uint64_t)j << 32 | i;
}

/* Notes the pair of two leaves whose boxes meet; false: out of memory. */
static bool note_pair(mor_bvh* tree, const mor_bvh_node* a, const mor_bvh_node* b, int* count)
{
    if (*count == tree->key_capacity && !mor_bvh_grow_keys(tree)) return false;
    tree->keys[(*count)++] = key_of(a, b);
    return true;
}

/* Few proxies moved: each goes down from the root. Returns the number of keys, -1 when out of memory. */
static int query_each(mor_bvh* tree, const int* moved, int moved_count, long* looked)
{
    int count = 0;
    for (int k = 0; k < moved_count; k++) {
        int proxy = moved[k], stack[MOR_BVH_STACK], depth = 0;
        const mor_bvh_node* self = &tree->nodes[proxy];
        const mor_aabb box = self->tight;
        stack[depth++] = tree->root;
        while (depth > 0) {
            int i = stack[--depth];
            const mor_bvh_node* n = &tree->nodes[i];
            ++*looked;
            if ((n->group != 0 && n->group == self->group) || !mor_aabb_meet(&n->fat, &box)) continue;
            if (n->height > 0) {
                assert(depth + 2 <= MOR_BVH_STACK);
                stack[depth++] = n->child[1];
                stack[depth++] = n->child[0];
                continue;
            }
            /* of two moved proxies the lower one reports */
            if (i == proxy || (n->moved && i < proxy) || !mor_aabb_meet(&n->tight, &box)) continue;
            if (!note_pair(tree, self, n, &count)) return -1;
        }
    }
    return count;
}

/* Tight boxes of inner nodes. */
static void tighten(mor_bvh_node* nodes, int i)
{
    mor_bvh_node* n = &nodes[i];
    if (n->height == 0) return;
    tighten(nodes, n->child[0]);
    tighten(nodes, n->child[1]);
    n->tight = mor_aabb_join(nodes[n->child[0]].tight, nodes[n->child[1]].tight);
}

/* What becomes of a pair of nodes: nothing (0), a pair of leaves that meet (LEAVES), or pairs of nodes below. Returns
 * the number of nodes in `out`. */
enum { LEAVES = -1, BELOW = 6 };

static inline int split_by(const mor_bvh_node* nodes, bool fat, int i, int j, int out[BELOW])
{
    const mor_bvh_node *a = &nodes[i], *b = &nodes[j];
    if ((!fat && !a->moved && !b->moved) || (a->group != 0 && a->group == b->group)) return 0;
    if (i == j) {
        if (a->height == 0) return 0;
        const int pairs[BELOW] = { a->child[0], a->child[1], a->child[1], a->child[1], a->child[0], a->child[0] };
        memcpy(out, pairs, sizeof pairs);
        return BELOW;
    }
    if (!mor_aabb_meet(fat ? &a->fat : &a->tight, fat ? &b->fat : &b->tight)) return 0;
    if (a->height == 0 && b->height == 0) return LEAVES;
    int taller = a->height >= b->height ? i : j, other = taller == i ? j : i;
    out[0] = nodes[taller].child[0], out[1] = other;
    out[2] = nodes[taller].child[1], out[3] = other;
    return 4;
}

static inline int split(const mor_bvh_node* nodes, int i, int j, int out[BELOW])
{
    return split_by(nodes, false, i, j, out);
}

/* Many moved: the tree against itself. A pair of nodes that do not meet ends the way of all pairs below them at once.
 */
static int descend_together(mor_bvh* tree, long* looked)
{
    tighten(tree->nodes, tree->root);
    int count = 0, stack[2 * MOR_BVH_STACK], depth = 0;
    stack[depth++] = tree->root;
    stack[depth++] = tree->root;
    while (depth > 0) {
        int j = stack[--depth], i = stack[--depth];
        ++*looked;
        assert(depth + BELOW <= 2 * MOR_BVH_STACK);
        int more = split(tree->nodes, i, j, stack + depth);
        if (more != LEAVES) depth += more;
        else if (!note_pair(tree, &tree->nodes[i], &tree->nodes[j], &count)) return -1;
    }
    return count;
}

/* ------------------------------------------------------------------------------- the kept list */

/* Pairs of leaves whose fat boxes meet. False: out of memory, or too many. */
static bool list_near(mor_bvh* tree)
{
    int count = 0, stack[2 * MOR_BVH_STACK], depth = 0;
    stack[depth++] = tree->root;
    stack[depth++] = tree->root;
    while (depth > 0) {
        int j = stack[--depth], i = stack[--depth];
        assert(depth + BELOW <= 2 * MOR_BVH_STACK);
        int more = split_by(tree->nodes, true, i, j, stack + depth);
        if (more != LEAVES) {
            depth += more;
            continue;
        }
        if (count == tree->near_capacity) {
            int capacity = tree->near_capacity ? 2 * tree->near_capacity : 64;
            mor_allocator a = tree->allocator;
            int* near = count < CROWD * tree->count
                            ? a.resize(a.user, tree->near, 2 * (size_t)capacity * sizeof *tree->near)
                            : NULL;
            if (!near) return false;
            tree->near = near;
            tree->near_capacity = capacity;
        }
        tree->near[2 * count] = i, tree->near[2 * count + 1] = j;
        count++;
    }
    tree->near_count = count;
    return true;
}

/* Many moved, and the tree is as it was: pairs of the list. MOR_BVH_NO_GRID: there is none. */
static int look_through_near(mor_bvh* tree, const int* moved, int moved_count, long* looked)
{
    if (tree->near_of != tree->changes) {
        const bool quiet = tree->seen == tree->changes;
        tree->seen = tree->changes;
        if (!quiet) return MOR_BVH_NO_GRID;
        tree->near_of = tree->changes;
        if (!list_near(tree)) tree->near_count = -1;
    }
    if (tree->near_count < 0) return MOR_BVH_NO_GRID;
    mor_bvh_node* nodes = tree->nodes;
    int count = 0;
    bool room = true;
    for (int k = 0; k < moved_count; k++) nodes[moved[k]].moved = true;
    for (int k = 0; k < tree->near_count && room; k++) {
        const mor_bvh_node *a = &nodes[tree->near[2 * k]], *b = &nodes[tree->near[2 * k + 1]];
        if ((a->moved || b->moved) && mor_aabb_meet(&a->tight, &b->tight)) room = note_pair(tree, a, b, &count);
    }
    for (int k = 0; k < moved_count; k++) nodes[moved[k]].moved = false;
    *looked += tree->near_count;
    return room ? count : -1;
}

/* ------------------------------------------------------------------------------------- threads */

/* The same on threads: the first pairs of nodes are split until there are FRONT of them, or no more; PARTS tasks go on
 * from these, each with a list of its own. The keys are sorted afterwards: their order does not matter. */
enum { PARTS = MOR_BVH_PARTS, FRONT = 8 * PARTS };

typedef struct descent {
    mor_bvh* tree;
    int front[2 * 3 * FRONT], front_count; /* pairs of nodes */
    int tops[FRONT], top_count;            /* subtrees */
    long looked[PARTS];
    bool failed[PARTS];
} descent;

bool mor_bvh_add_key(mor_bvh* tree, mor_bvh_part* part, uint64_t key)
{
    if (part->count == part->capacity) {
        int capacity = part->capacity ? 2 * part->capacity : 256;
        mor_allocator a = tree->allocator;
        uint64_t* keys = capacity <= 1 << 29 ? a.resize(a.user, part->keys, (size_t)capacity * sizeof *keys) : NULL;
        if (!keys) return false;
        part->keys = keys;
        part->capacity = capacity;
    }
    part->keys[part->count++] = key;
    return true;
}

bool mor_bvh_take_keys(mor_bvh* tree, const mor_bvh_part* part, int* count)
{
    while (*count + part->count > tree->key_capacity)
        if (!mor_bvh_grow_keys(tree)) return false;
    if (part->count) memcpy(tree->keys + *count, part->keys, (size_t)part->count * sizeof *part->keys);
    *count += part->count;
    return true;
}

static void descend_part(void* user, int index, int worker)
{
    (void)worker;
    descent* k = user;
    const mor_bvh_node* nodes = k->tree->nodes;
    mor_bvh_part* part = &k->tree->parts[index];
    int stack[2 * MOR_BVH_STACK];
    long looked = 0;
    part->count = 0;
    for (int f = index; f < k->front_count && !k->failed[index]; f += PARTS) {
        int depth = 2;
        memcpy(stack, k->front + 2 * f, 2 * sizeof *stack);
        while (depth > 0) {
            int j = stack[--depth], i = stack[--depth];
            looked++;
            assert(depth + BELOW <= 2 * MOR_BVH_STACK);
            int more = split(nodes, i, j, stack + depth);
            if (more != LEAVES) depth += more;
            else if (!mor_bvh_add_key(k->tree, part, key_of(&nodes[i], &nodes[j]))) {
                k->failed[index] = true;
                break;
            }
        }
    }
    k->looked[index] = looked;
}

/* Splits the pairs of the front until there are enough. Leaves that meet stay in it. */
static void make_front(descent* k)
{
    const mor_bvh_node* nodes = k->tree->nodes;
    k->front[0] = k->front[1] = k->tree->root;
    k->front_count = 1;
    for (bool grows = true; grows && k->front_count < FRONT;) {
        int next[2 * 3 * FRONT], count = 0;
        grows = false;
        for (int f = 0; f < k->front_count; f++) {
            int out[BELOW], *pair = k->front + 2 * f, more = split(nodes, pair[0], pair[1], out);
            memcpy(next + 2 * count, more == LEAVES ? pair : out, (size_t)(more == LEAVES ? 2 : more) * sizeof *next);
            count += more == LEAVES ? 1 : more / 2;
            grows = grows || more > 0;
        }
        memcpy(k->front, next, 2 * (size_t)count * sizeof *next);
        k->front_count = count;
    }
}

static void tighten_part(void* user, int index, int worker)
{
    (void)worker;
    const descent* k = user;
    tighten(k->tree->nodes, k->tops[index]);
}

/* Subtrees by the threads, what is above them after that. */
static void tighten_all(descent* k, struct mor_workers* workers)
{
    mor_bvh_node* nodes = k->tree->nodes;
    int above[FRONT], above_count = 0;
    k->tops[0] = k->tree->root;
    k->top_count = 1;
    for (int read = 0; read < k->top_count && k->top_count < PARTS;) {
        int top = k->tops[read];
        if (nodes[top].height == 0) {
            read++;
            continue;
        }
        above[above_count++] = top;
        k->tops[read] = nodes[top].child[0];
        k->tops[k->top_count++] = nodes[top].child[1];
        read = (read + 1) % k->top_count;
    }
    mor_workers_run(workers, k->top_count, tighten_part, k);
    for (int i = above_count - 1; i >= 0; i--) {
        mor_bvh_node* n = &nodes[above[i]];
        n->tight = mor_aabb_join(nodes[n->child[0]].tight, nodes[n->child[1]].tight);
    }
}

static int descend_on_threads(mor_bvh* tree, struct mor_workers* workers, long* looked)
{
    descent k = { .tree = tree };
    tighten_all(&k, workers);
    make_front(&k);
    mor_workers_run(workers, PARTS, descend_part, &k);
    int count = 0;
    for (int p = 0; p < PARTS; p++) {
        if (k.failed[p] || !mor_bvh_take_keys(tree, &tree->parts[p], &count)) return -1;
        *looked += k.looked[p];
    }
    return count;
}

/* Marks of leaves that moved, and of all that is above them. */
static void mark(mor_bvh* tree, const int* moved, int moved_count, bool value)
{
    for (int k = 0; k < moved_count; k++) {
        assert(mor_bvh_is_leaf(tree, moved[k]));
        for (int i = moved[k]; i != MOR_BVH_NONE && tree->nodes[i].moved != value; i = tree->nodes[i].parent)
            tree->nodes[i].moved = value;
    }
}

/* The tree is not needed then, and is left as it is. */
static int find_by_grid(mor_bvh* tree, const int* moved, int moved_count, struct mor_workers* workers, long* looked)
{
    for (int k = 0; k < moved_count; k++) tree->nodes[moved[k]].moved = true;
    int count = mor_bvh_pairs_by_grid(tree, workers, looked);
    for (int k = 0; k < moved_count; k++) tree->nodes[moved[k]].moved = false;
    tree->unsettled = tree->unsettled || count != MOR_BVH_NO_GRID;
    return count;
}

/* Puts boxes that left their fat ones in anew. */
static void settle_all(mor_bvh* tree, const int* moved, int moved_count)
{
    const int *list = tree->unsettled ? tree->leaves : moved, count = tree->unsettled ? tree->count : moved_count;
    for (int k = 0; k < count; k++) mor_bvh_settle(tree, list[k]);
    tree->unsettled = false;
}

int mor_bvh_pairs(mor_bvh* tree, const int* moved, int moved_count, struct mor_workers* workers,
                  const mor_index_pair** pairs, long* visits)
{
    long looked = 0;
    bool many = moved_count > tree->count / MANY;
    if (tree->count < 2) { /* nobody to meet */
        tree->unsettled = tree->unsettled || moved_count > 0;
        if (visits) *visits = 0;
        *pairs = tree->pairs;
        return 0;
    }
    int count = many ? find_by_grid(tree, moved, moved_count, workers, &looked) : MOR_BVH_NO_GRID;
    if (count == MOR_BVH_NO_GRID) {
        settle_all(tree, moved, moved_count);
        if (many) count = look_through_near(tree, moved, moved_count, &looked);
    }
    if (count == MOR_BVH_NO_GRID) {
        count = 0;
        mark(tree, moved, moved_count, true);
        if (many && workers && moved_count >= WORTH) count = descend_on_threads(tree, workers, &looked);
        else if (many) count = descend_together(tree, &looked);
        else if (moved_count > 0) count = query_each(tree, moved, moved_count, &looked);
        mark(tree, moved, moved_count, false);
    }
    if (visits) *visits = looked;
    *pairs = tree->pairs;
    if (count <= 0) return count;

    const uint64_t* sorted = radix_sort(tree->keys, tree->spare, count);
    int unique = 0;
    for (int k = 0; k < count; k++)
        if (k == 0 || sorted[k] != sorted[k - 1])
            tree->pairs[unique++] = (mor_index_pair){ (int)(sorted[k] >> 32), (int)(sorted[k] & 0xffffffffu) };
    return unique;
}
