/* All pairs of boxes of the tree that meet.
 *
 * Few boxes moved: each goes down from the root. Many: the tree goes down against itself, with inner boxes that fit the
 * boxes of the leaves tightly (the widened ones of neighbours in a pile overlap). Two nodes that do not meet end the
 * way of all pairs below them; two that have one box in common are split at the taller one.
 *
 * Cost: for n moved boxes and k pairs O((n + k) log n), or about 10 (n + k) pairs of nodes together.
 *
 * Pairs are sorted by a radix sort on the 64-bit key (i << 32 | j), 11 bits at a time, only over the
 * bits that occur: linear, stable, without further memory. */
#include "collision/bvh_node.h"

#include <assert.h>
#include <string.h>

/* MANY: the tree goes down as a whole if more than one in so many boxes moved */
enum { RADIX_BITS = 11, RADIX_SIZE = 1 << RADIX_BITS, FEW = 64, MANY = 8 };

static bool grow_keys(mor_bvh* tree)
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

/* Notes the pair of two leaves whose boxes meet; false: out of memory. */
static bool note_pair(mor_bvh* tree, const mor_bvh_node* a, const mor_bvh_node* b, int* count)
{
    if (*count == tree->key_capacity && !grow_keys(tree)) return false;
    uint32_t i = (uint32_t)a->index, j = (uint32_t)b->index;
    tree->keys[(*count)++] = i < j ? (uint64_t)i << 32 | j : (uint64_t)j << 32 | i;
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
        const mor_bvh_node *a = &tree->nodes[i], *b = &tree->nodes[j];
        ++*looked;
        if ((!a->moved && !b->moved) || (a->group != 0 && a->group == b->group)) continue;
        if (i != j && !mor_aabb_meet(&a->tight, &b->tight)) continue;
        assert(depth + 6 <= 2 * MOR_BVH_STACK);
        if (i == j) {
            if (a->height == 0) continue;
            const int pairs[6] = { a->child[0], a->child[1], a->child[1], a->child[1], a->child[0], a->child[0] };
            memcpy(stack + depth, pairs, sizeof pairs);
            depth += 6;
        } else if (a->height == 0 && b->height == 0) {
            if (!note_pair(tree, a, b, &count)) return -1;
        } else {
            int split = a->height >= b->height ? i : j, other = split == i ? j : i;
            for (int k = 0; k < 2; k++) {
                stack[depth++] = tree->nodes[split].child[k];
                stack[depth++] = other;
            }
        }
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

int mor_bvh_pairs(mor_bvh* tree, const int* moved, int moved_count, const mor_index_pair** pairs, long* visits)
{
    long looked = 0;
    int count = 0;
    mark(tree, moved, moved_count, true);
    if (moved_count > tree->count / MANY) count = descend_together(tree, &looked);
    else if (moved_count > 0) count = query_each(tree, moved, moved_count, &looked);
    mark(tree, moved, moved_count, false);
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
