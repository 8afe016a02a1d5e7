/* Dynamic bounding-volume tree.
 *
 * A binary tree; every leaf is a proxy, every inner node has two children and the union of their
 * boxes. A new leaf goes down to the sibling S that adds least surface area: at a node with box N the
 * cost of stopping is 2|N u L|, of descending into child C at least |C u L| - |C| (+ |C u L| for a new
 * parent if C is a leaf) + 2(|N u L| - |N|) for the growth of what is above
 * (J. Goldsmith, J. Salmon, 1987, "Automatic creation of object hierarchies for ray tracing";
 * E. Catto, 2019, "Dynamic bounding volume hierarchies", GDC). On the way up every node is kept in
 * AVL balance by lifting the higher child, its taller (at equal height: larger) grandchild staying on
 * top, so that the height is at most 1.44 log2 n + 1.
 *
 * Cost: insert, remove, move O(log n). Memory: one node pool and two pair buffers that only grow.
 * Pairs: bvh_pairs.c. */
#include "collision/bvh_node.h"

#include "base/elementary.h"

#include <assert.h>
#include <string.h>

/* Half the surface. For flat (2-D) boxes half the circumference enters through the zero side. */
static double area(const mor_aabb* b)
{
    double x = b->upper.x - b->lower.x, y = b->upper.y - b->lower.y, z = b->upper.z - b->lower.z;
    return z == 0.0 ? x + y : x * y + y * z + z * x;
}

static mor_aabb fatten(const mor_bvh* tree, mor_aabb b)
{
    double x = b.upper.x - b.lower.x, y = b.upper.y - b.lower.y, z = b.upper.z - b.lower.z;
    double m = tree->margin * mor_max(x, mor_max(y, z));
    /* flat boxes stay flat: 2-D worlds keep their cheaper measure */
    double mz = z == 0.0 ? 0.0 : m;
    b.lower = mor_sub(b.lower, mor_v3(m, m, mz));
    b.upper = mor_add(b.upper, mor_v3(m, m, mz));
    return b;
}

mor_bvh* mor_bvh_create(const mor_allocator* allocator, double margin)
{
    assert(allocator && margin >= 0.0);
    mor_bvh* tree = allocator->resize(allocator->user, NULL, sizeof *tree);
    if (!tree) return NULL;
    memset(tree, 0, sizeof *tree);
    tree->allocator = *allocator;
    tree->margin = margin;
    tree->root = tree->free = MOR_BVH_NONE;
    return tree;
}

void mor_bvh_destroy(mor_bvh* tree)
{
    if (!tree) return;
    mor_allocator a = tree->allocator;
    if (tree->nodes) a.resize(a.user, tree->nodes, 0);
    if (tree->keys) a.resize(a.user, tree->keys, 0);
    if (tree->spare) a.resize(a.user, tree->spare, 0);
    if (tree->pairs) a.resize(a.user, tree->pairs, 0);
    if (tree->leaves) a.resize(a.user, tree->leaves, 0);
    if (tree->near) a.resize(a.user, tree->near, 0);
    if (tree->items) a.resize(a.user, tree->items, 0);
    if (tree->shadows) a.resize(a.user, tree->shadows, 0);
    if (tree->cells) a.resize(a.user, tree->cells, 0);
    for (int p = 0; p < MOR_BVH_PARTS; p++)
        if (tree->parts[p].keys) a.resize(a.user, tree->parts[p].keys, 0);
    a.resize(a.user, tree, 0);
}

/* New nodes are free in their order, then comes `after`. A node is written when the one before it is taken: memory that
 * nobody needs is not touched. `fresh` is the last that was written. */
static void make_free(mor_bvh* tree, int i)
{
    tree->nodes[i].height = -1;
    tree->nodes[i].parent = i + 1 < tree->capacity ? i + 1 : tree->after;
    tree->fresh = i;
}

/* Makes at least two free nodes available: one insertion needs a leaf and a parent. */
static bool reserve_two(mor_bvh* tree)
{
    if (tree->free != MOR_BVH_NONE && tree->nodes[tree->free].parent != MOR_BVH_NONE) return true;
    int capacity = tree->capacity ? 2 * tree->capacity : 64;
    mor_bvh_node* nodes = tree->allocator.resize(tree->allocator.user, tree->nodes, (size_t)capacity * sizeof *nodes);
    if (!nodes) return false;
    tree->nodes = nodes;
    int* leaves =
        tree->allocator.resize(tree->allocator.user, tree->leaves, ((size_t)capacity / 2 + 1) * sizeof *leaves);
    if (!leaves) return false;
    tree->leaves = leaves;
    tree->after = tree->free;
    tree->free = tree->capacity;
    tree->capacity = capacity;
    make_free(tree, tree->free);
    return true;
}

static int take(mor_bvh* tree)
{
    int i = tree->free;
    mor_bvh_node* n = &tree->nodes[i];
    tree->free = n->parent;
    if (i == tree->fresh && i + 1 < tree->capacity) make_free(tree, i + 1);
    n->parent = n->child[0] = n->child[1] = MOR_BVH_NONE;
    n->height = 0;
    n->index = MOR_BVH_NONE;
    n->group = 0;
    n->moved = false;
    return i;
}

static void give_back(mor_bvh* tree, int i)
{
    tree->nodes[i].height = -1;
    tree->nodes[i].parent = tree->free;
    tree->free = i;
}

static void refit(mor_bvh_node* nodes, int i)
{
    mor_bvh_node *n = &nodes[i], *a = &nodes[n->child[0]], *b = &nodes[n->child[1]];
    n->fat = mor_aabb_join(a->fat, b->fat);
    n->height = 1 + (a->height > b->height ? a->height : b->height);
    n->group = a->group == b->group ? a->group : 0;
}

static void replace_child(mor_bvh* tree, int parent, int from, int to)
{
    if (parent == MOR_BVH_NONE) tree->root = to;
    else tree->nodes[parent].child[tree->nodes[parent].child[0] == from ? 0 : 1] = to;
}

/* AVL step at node a whose children's boxes are right; returns the root of the subtree. */
static int balance(mor_bvh* tree, int a)
{
    mor_bvh_node* n = tree->nodes;
    if (n[a].height < 2) return a;
    int difference = n[n[a].child[1]].height - n[n[a].child[0]].height;
    if (difference >= -1 && difference <= 1) return a;
    int side = difference > 1 ? 1 : 0;
    int c = n[a].child[side], f = n[c].child[0], g = n[c].child[1];
    /* keep the taller grandchild (by area if equal) with c, hand the other to a */
    bool keep_f = n[f].height > n[g].height || (n[f].height == n[g].height && area(&n[f].fat) > area(&n[g].fat));
    int kept = keep_f ? f : g, given = keep_f ? g : f;
    n[c].parent = n[a].parent;
    replace_child(tree, n[c].parent, a, c);
    n[a].parent = c;
    n[a].child[side] = given;
    n[given].parent = a;
    n[c].child[0] = a;
    n[c].child[1] = kept;
    refit(n, a);
    refit(n, c);
    return c;
}

static void mend_upwards(mor_bvh* tree, int i)
{
    while (i != MOR_BVH_NONE) {
        refit(tree->nodes, i);
        i = balance(tree, i);
        i = tree->nodes[i].parent;
    }
}

/* The sibling that costs least surface area. */
static int best_sibling(const mor_bvh* tree, const mor_aabb* box)
{
    const mor_bvh_node* n = tree->nodes;
    int i = tree->root;
    while (n[i].height > 0) {
        mor_aabb joined = mor_aabb_join(n[i].fat, *box);
        double joined_area = area(&joined), stop = 2.0 * joined_area;
        double inherited = 2.0 * (joined_area - area(&n[i].fat)), cost[2];
        for (int k = 0; k < 2; k++) {
            const mor_bvh_node* c = &n[n[i].child[k]];
            mor_aabb u = mor_aabb_join(c->fat, *box);
            cost[k] = area(&u) - (c->height > 0 ? area(&c->fat) : 0.0) + inherited;
        }
        if (stop < cost[0] && stop < cost[1]) break;
        i = n[i].child[cost[1] < cost[0] ? 1 : 0];
    }
    return i;
}

/* Hangs a detached leaf in; `parent` is a spare node. */
static void attach(mor_bvh* tree, int leaf, int parent)
{
    mor_bvh_node* n = tree->nodes;
    tree->changes++;
    if (tree->root == MOR_BVH_NONE) {
        give_back(tree, parent);
        tree->root = leaf;
        n[leaf].parent = MOR_BVH_NONE;
        return;
    }
    int sibling = best_sibling(tree, &n[leaf].fat);
    n[parent].parent = n[sibling].parent;
    replace_child(tree, n[parent].parent, sibling, parent);
    n[parent].child[0] = sibling;
    n[parent].child[1] = leaf;
    n[sibling].parent = n[leaf].parent = parent;
    mend_upwards(tree, parent);
}

/* Takes a leaf out and returns its former parent node as a spare, MOR_BVH_NONE if it was alone. */
static int detach(mor_bvh* tree, int leaf)
{
    mor_bvh_node* n = tree->nodes;
    int parent = n[leaf].parent;
    tree->changes++;
    if (parent == MOR_BVH_NONE) {
        tree->root = MOR_BVH_NONE;
        return MOR_BVH_NONE;
    }
    int sibling = n[parent].child[n[parent].child[0] == leaf ? 1 : 0];
    n[sibling].parent = n[parent].parent;
    replace_child(tree, n[parent].parent, parent, sibling);
    mend_upwards(tree, n[parent].parent);
    return parent;
}

int mor_bvh_insert(mor_bvh* tree, mor_aabb box, int index)
{
    assert(index >= 0 && box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z);
    if (!reserve_two(tree)) return -1;
    int leaf = take(tree), parent = take(tree);
    tree->nodes[leaf].tight = box;
    tree->nodes[leaf].fat = fatten(tree, box);
    tree->nodes[leaf].index = index;
    attach(tree, leaf, parent);
    tree->nodes[leaf].place = tree->count;
    tree->leaves[tree->count++] = leaf;
    tree->changed = true;
    return leaf;
}

void mor_bvh_remove(mor_bvh* tree, int proxy)
{
    assert(mor_bvh_is_leaf(tree, proxy));
    int spare = detach(tree, proxy);
    if (spare != MOR_BVH_NONE) give_back(tree, spare);
    give_back(tree, proxy);
    int place = tree->nodes[proxy].place, last = tree->leaves[--tree->count];
    tree->leaves[place] = last;
    tree->nodes[last].place = place;
    tree->changed = true;
}

void mor_bvh_set_group(mor_bvh* tree, int proxy, int group)
{
    assert(mor_bvh_is_leaf(tree, proxy));
    mor_bvh_node* n = tree->nodes;
    n[proxy].group = group;
    tree->changed = true;
    tree->changes++;
    for (int i = n[proxy].parent; i != MOR_BVH_NONE; i = n[i].parent) refit(n, i);
}

void mor_bvh_set_box(mor_bvh* tree, int proxy, mor_aabb box)
{
    assert(mor_bvh_is_leaf(tree, proxy));
    tree->nodes[proxy].tight = box;
}

bool mor_bvh_settle(mor_bvh* tree, int proxy)
{
    assert(mor_bvh_is_leaf(tree, proxy));
    mor_bvh_node* n = &tree->nodes[proxy];
    if (mor_aabb_contains(&n->fat, &n->tight)) return false;
    int spare = detach(tree, proxy);
    n->fat = fatten(tree, n->tight);
    if (spare == MOR_BVH_NONE) tree->root = proxy;
    else attach(tree, proxy, spare);
    return true;
}

bool mor_bvh_move(mor_bvh* tree, int proxy, mor_aabb box)
{
    mor_bvh_set_box(tree, proxy, box);
    return mor_bvh_settle(tree, proxy);
}

int mor_bvh_index(const mor_bvh* tree, int proxy)
{
    assert(mor_bvh_is_leaf(tree, proxy));
    return tree->nodes[proxy].index;
}

int mor_bvh_count(const mor_bvh* tree) { return tree->count; }
int mor_bvh_height(const mor_bvh* tree) { return tree->root == MOR_BVH_NONE ? 0 : tree->nodes[tree->root].height; }

int mor_bvh_query(const mor_bvh* tree, mor_aabb box, mor_bvh_found found, void* user)
{
    int stack[MOR_BVH_STACK], depth = 0, visits = 0;
    if (tree->root != MOR_BVH_NONE) stack[depth++] = tree->root;
    while (depth > 0) {
        int i = stack[--depth];
        const mor_bvh_node* n = &tree->nodes[i];
        visits++;
        if (!mor_aabb_meet(&n->fat, &box)) continue;
        if (n->height > 0) {
            assert(depth + 2 <= MOR_BVH_STACK);
            stack[depth++] = n->child[1];
            stack[depth++] = n->child[0];
        } else if (mor_aabb_meet(&n->tight, &box)) {
            if (!found(user, i, n->index)) break;
        }
    }
    return visits;
}

static bool check_node(const mor_bvh* tree, int i, int parent, int* leaves)
{
    const mor_bvh_node* n = &tree->nodes[i];
    if (n->parent != parent || n->height < 0) return false;
    if (n->height == 0) {
        (*leaves)++;
        return n->child[0] == MOR_BVH_NONE && n->child[1] == MOR_BVH_NONE && mor_aabb_contains(&n->fat, &n->tight);
    }
    const mor_bvh_node *a = &tree->nodes[n->child[0]], *b = &tree->nodes[n->child[1]];
    int taller = a->height > b->height ? a->height : b->height;
    return n->height == 1 + taller && n->group == (a->group == b->group ? a->group : 0) &&
           mor_aabb_contains(&n->fat, &a->fat) && mor_aabb_contains(&n->fat, &b->fat) &&
           check_node(tree, n->child[0], i, leaves) && check_node(tree, n->child[1], i, leaves);
}

bool mor_bvh_check(const mor_bvh* tree)
{
    int leaves = 0;
    if (tree->root == MOR_BVH_NONE) return tree->count == 0;
    return check_node(tree, tree->root, MOR_BVH_NONE, &leaves) && leaves == tree->count;
}
