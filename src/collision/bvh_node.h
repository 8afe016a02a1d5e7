/* What the tree is made of, for the files that walk it (bvh.c, bvh_pairs.c, bvh_grid.c). */
#ifndef MOR_COLLISION_BVH_NODE_H
#define MOR_COLLISION_BVH_NODE_H

#include "collision/bvh.h"

enum { MOR_BVH_NONE = -1, MOR_BVH_STACK = 256, MOR_BVH_PARTS = 16 };

typedef struct mor_bvh_node {
    mor_aabb fat;   /* leaf: widened box; inner: union of the children's */
    mor_aabb tight; /* leaf: the box; inner: the union of the children's, during descend_together only */
    int parent;     /* next free node in the free list */
    int child[2];   /* MOR_BVH_NONE for leaves */
    int height;     /* 0 for leaves, -1 for free nodes */
    int index;      /* leaf: the caller's number */
    int group;      /* leaf: the caller's; inner: that of all leaves below, 0 if they differ */
    int place;      /* leaf: in the list of leaves */
    bool moved;     /* mark during mor_bvh_pairs: a leaf, or any below */
} mor_bvh_node;

typedef struct mor_bvh_part {
    uint64_t* keys;
    int count, capacity;
} mor_bvh_part;

struct mor_bvh {
    mor_allocator allocator;
    double margin;
    mor_bvh_node* nodes;
    int capacity, free, root, count;
    int fresh, after;       /* the last free node that was written, and what comes after all new ones (bvh.c) */
    uint64_t *keys, *spare; /* pair buffers of `key_capacity` */
    mor_index_pair* pairs;
    int key_capacity;
    uint64_t changes, seen, near_of;      /* of leaves and fat boxes; at the last call; those `near` is of */
    int *near, near_count, near_capacity; /* pairs of leaves whose fat boxes meet; -1: too many */
    mor_bvh_part parts[MOR_BVH_PARTS];    /* what each of them found, on threads */
    int* leaves;                          /* `count` proxies, in any order; room for `capacity` */
    bool unsettled;                       /* boxes may have left their fat ones */
    bool changed, grouped;                /* by_groups (bvh_grid.c), and whether it must be asked again */
    struct mor_bvh_item* items;           /* of the grid, `grid_capacity` of them */
    struct mor_bvh_shadow* shadows;       /* likewise */
    int* cells;                           /* of the grid: four for each item, and two */
    int grid_capacity;
};

/* bvh_pairs.c: room for more keys of the tree, and lists of threads. False: out of memory. */
bool mor_bvh_grow_keys(mor_bvh* tree);
bool mor_bvh_add_key(mor_bvh* tree, mor_bvh_part* part, uint64_t key);
bool mor_bvh_take_keys(mor_bvh* tree, const mor_bvh_part* part, int* count);

/* Keys of all pairs of boxes that meet, of which one is marked as moved; -1: out of memory, MOR_BVH_NO_GRID: the boxes
 * are not for a grid (bvh_grid.c). */
enum { MOR_BVH_NO_GRID = -2 };
int mor_bvh_pairs_by_grid(mor_bvh* tree, struct mor_workers* workers, long* looked);

static inline mor_aabb mor_aabb_join(mor_aabb a, mor_aabb b)
{
    mor_aabb u;
    u.lower.x = a.lower.x < b.lower.x ? a.lower.x : b.lower.x;
    u.lower.y = a.lower.y < b.lower.y ? a.lower.y : b.lower.y;
    u.lower.z = a.lower.z < b.lower.z ? a.lower.z : b.lower.z;
    u.upper.x = a.upper.x > b.upper.x ? a.upper.x : b.upper.x;
    u.upper.y = a.upper.y > b.upper.y ? a.upper.y : b.upper.y;
    u.upper.z = a.upper.z > b.upper.z ? a.upper.z : b.upper.z;
    return u;
}

static inline bool mor_aabb_meet(const mor_aabb* a, const mor_aabb* b)
{
    return a->lower.x <= b->upper.x && b->lower.x <= a->upper.x && a->lower.y <= b->upper.y &&
           b->lower.y <= a->upper.y && a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static inline bool mor_aabb_contains(const mor_aabb* a, const mor_aabb* b)
{
    return a->lower.x <= b->lower.x && a->lower.y <= b->lower.y && a->lower.z <= b->lower.z &&
           b->upper.x <= a->upper.x && b->upper.y <= a->upper.y && b->upper.z <= a->upper.z;
}

static inline bool mor_bvh_is_leaf(const mor_bvh* tree, int proxy)
{
    return proxy >= 0 && proxy < tree->capacity && proxy <= tree->fresh && tree->nodes[proxy].height == 0;
}

#endif
