/* Broad phase: a dynamic tree of bounding boxes. Unbounded shapes (planes) do not belong in it: the
 * caller keeps them in a list of their own.
 *
 * A proxy is one box with a number of the caller's (`index`). The tree stores the box itself and a
 * fattened one; a move that stays within the fat box changes no node. The caller widens boxes by its
 * own reach before it hands them over. */
#ifndef MOR_COLLISION_BVH_H
#define MOR_COLLISION_BVH_H

#include <stdbool.h>
#include <stdint.h>

#include "moreau/base.h"

struct mor_workers;

typedef struct mor_bvh mor_bvh;

/* Two indices of the caller, i < j. */
typedef struct mor_index_pair {
    int i, j;
} mor_index_pair;

/* Fat boxes reach `margin` times the longest side of the box beyond it on every side (0.1 is a good
 * value). NULL when out of memory. The allocator is copied. */
mor_bvh* mor_bvh_create(const mor_allocator* allocator, double margin);
void mor_bvh_destroy(mor_bvh* tree);

/* A new proxy for a bounded box and a non-negative index; -1 when out of memory. */
int mor_bvh_insert(mor_bvh* tree, mor_aabb box, int index);
void mor_bvh_remove(mor_bvh* tree, int proxy);
/* Proxies of the same group other than 0 make no pairs; subtrees of one group are passed over. */
void mor_bvh_set_group(mor_bvh* tree, int proxy, int group);
/* Sets the box; true if it left the fat one, so that the proxy was put in anew. Never allocates. */
bool mor_bvh_move(mor_bvh* tree, int proxy, mor_aabb box);
/* The two halves of it. Boxes may be set by several threads at once; then each proxy is settled, or given to
 * mor_bvh_pairs as moved, which settles it when the tree is needed. */
void mor_bvh_set_box(mor_bvh* tree, int proxy, mor_aabb box);
bool mor_bvh_settle(mor_bvh* tree, int proxy);
int mor_bvh_index(const mor_bvh* tree, int proxy);
int mor_bvh_count(const mor_bvh* tree);
int mor_bvh_height(const mor_bvh* tree);

/* Calls `found` for every proxy whose box meets `box` (touching counts) until it returns false. The
 * order depends on the tree. Returns the number of nodes looked at. */
typedef bool (*mor_bvh_found)(void* user, int proxy, int index);
int mor_bvh_query(const mor_bvh* tree, mor_aabb box, mor_bvh_found found, void* user);

/* All pairs of proxies with meeting boxes of which at least one is in `moved` (distinct proxies), by
 * index, sorted by i then j, without duplicates: independent of the shape of the tree and of the order
 * of `moved`. The list belongs to the tree and holds until the next call. Returns the number of pairs,
 * -1 when out of memory; `visits` (may be NULL) gets the number of nodes looked at. workers: threads,
 * NULL for none; the pairs are the same. */
int mor_bvh_pairs(mor_bvh* tree, const int* moved, int moved_count, struct mor_workers* workers,
                  const mor_index_pair** pairs, long* visits);

/* True if links, boxes and heights are consistent. For tests. */
bool mor_bvh_check(const mor_bvh* tree);

#endif
