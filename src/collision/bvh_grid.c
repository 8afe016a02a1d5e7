/* Pairs by a grid, where most boxes have moved and are of like size.
 *
 * The cells are cubes with sides s, the longest side of any box in the grid (rounded up). A box belongs to the cell of
 * its lower corner l, floor((l - o)/s) along each axis, held within the grid. Two boxes that meet have lower corners
 * that differ by at most s along each axis, so their cells are the same or neighbours; holding the numbers within the
 * grid only brings them nearer. So every box is compared with those of 27 cells. Cells lie one after the other along x:
 * half of the neighbourhood, each pair once, is five runs of boxes,
 *
 *     the rest of its own cell and the next one;   three cells each of the rows (y,z) + (1,0), (-1,1), (0,1), (1,1).
 *
 * Boxes of more than four times the mean length would make the cells too large: they are compared with all. The grid
 * has at most two cells for each box; one box far away makes it end before that box, not coarser.
 *
 * Cost: for n boxes with bounded overlap O(n), some 25 comparisons each, and nothing for the tree, whose boxes are put
 * right when it is asked next. Not for boxes that are crowded in few cells, for many of very different size, or where
 * most neighbours are of one group (robots): the tree passes over these. */
#include "collision/bvh_node.h"

#include "base/elementary.h"
#include "base/workers.h"

#include <string.h>

/* LEAST: boxes from which a grid is worth it. LARGE: boxes that are compared with all. CROWD: mean over the boxes of
 * how many share their cell. ALONE: on threads from so many boxes on. */
enum { LEAST = 32, LARGE = 8, CROWD = 16, ALONE = 256, PARTS = MOR_BVH_PARTS, RUNS = 5 };
#define LONG 4.0   /* times the mean length */
#define SLACK 1e-6 /* of a cell, beyond the rounding of its number */

/* A box in single precision, widened by its rounding: six comparisons in two. In the order of the cells. */
typedef float four_floats __attribute__((vector_size(16), aligned(4)));
typedef int four_ints __attribute__((vector_size(16)));
typedef long long two_longs __attribute__((vector_size(16)));

struct mor_bvh_shadow {
    four_floats lower, upper;
};

struct mor_bvh_item {
    mor_aabb box;
    int index, group;
    bool moved;
};

typedef struct grid {
    mor_bvh* tree;
    const struct mor_bvh_item* items;
    int count, large;               /* boxes, and how many of them, the first ones, are large */
    struct mor_bvh_shadow* shadows; /* by places in `order` */
    int *cell, *order;              /* of each box; the boxes cell by cell */
    int* start;                     /* first place of each cell in `order` */
    int size[3];                    /* cells along each axis */
    double origin[3], inverse;
    long looked[PARTS];
    bool failed[PARTS];
} grid;

static bool reserve(mor_bvh* tree)
{
    if (tree->grid_capacity >= tree->count) return true;
    int capacity = tree->count > tree->grid_capacity * 3 / 2 ? tree->count : tree->grid_capacity * 3 / 2;
    const mor_allocator* a = &tree->allocator;
    struct mor_bvh_item* items = a->resize(a->user, tree->items, (size_t)capacity * sizeof *items);
    if (items) tree->items = items;
    struct mor_bvh_shadow* shadows = a->resize(a->user, tree->shadows, (size_t)capacity * sizeof *shadows);
    if (shadows) tree->shadows = shadows;
    int* cells = a->resize(a->user, tree->cells, (4 * (size_t)capacity + 2) * sizeof *cells);
    if (cells) tree->cells = cells;
    if (!items || !shadows || !cells) return false;
    tree->grid_capacity = capacity;
    return true;
}

static double length_of(const mor_aabb* b)
{
    return mor_max(b->upper.x - b->lower.x, mor_max(b->upper.y - b->lower.y, b->upper.z - b->lower.z));
}

static bool is_finite(const mor_aabb* b)
{
    double sum = b->lower.x + b->lower.y + b->lower.z + b->upper.x + b->upper.y + b->upper.z;
    return sum - sum == 0.0;
}

/* The boxes of all leaves, large ones first; returns the length of a cell, 0: no grid. */
static double gather(grid* g)
{
    const mor_bvh* tree = g->tree;
    struct mor_bvh_item* items = tree->items;
    double sum = 0.0, longest = 0.0;
    int measured = 0;
    for (int k = 0; k < g->count; k++) {
        const mor_bvh_node* n = &tree->nodes[tree->leaves[k]];
        items[k] = (struct mor_bvh_item){ n->tight, n->index, n->group, n->moved };
        if (!is_finite(&n->tight)) continue;
        const double length = length_of(&n->tight);
        sum += length, measured++;
        longest = mor_max(longest, length);
    }
    const double limit = measured ? LONG * sum / measured : 0.0;
    if (measured == g->count && longest <= limit) return longest * (1.0 + SLACK); /* none is large */
    longest = 0.0;
    for (int k = 0; k < g->count; k++) {
        double length = length_of(&items[k].box);
        if (is_finite(&items[k].box) && length <= limit) {
            longest = mor_max(longest, length);
            continue;
        }
        if (g->large == LARGE) return 0.0;
        struct mor_bvh_item t = items[k];
        items[k] = items[g->large];
        items[g->large++] = t;
    }
    return longest * (1.0 + SLACK);
}

/* Where the grid lies: at most two cells for each box. */
static void lay_out(grid* g, double length)
{
    double lower[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, upper[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    double mean[3] = { 0, 0, 0 }, size[3];
    for (int k = g->large; k < g->count; k++) {
        const double l[3] = { g->items[k].box.lower.x, g->items[k].box.lower.y, g->items[k].box.lower.z };
        for (int d = 0; d < 3; d++) {
            lower[d] = l[d] < lower[d] ? l[d] : lower[d];
            upper[d] = l[d] > upper[d] ? l[d] : upper[d];
            mean[d] += l[d] / (g->count - g->large);
        }
    }
    for (;;) {
        int widest = 0;
        for (int d = 0; d < 3; d++) {
            size[d] = floor((upper[d] - lower[d]) / length) + 1.0;
            if (size[d] > size[widest]) widest = d;
        }
        if (!(size[0] * size[1] * size[2] > 2.0 * g->count)) break;
        lower[widest] = mean[widest] - 0.5 * (mean[widest] - lower[widest]);
        upper[widest] = mean[widest] + 0.5 * (upper[widest] - mean[widest]);
    }
    for (int d = 0; d < 3; d++) g->size[d] = (int)size[d], g->origin[d] = lower[d];
    g->inverse = 1.0 / length;
}

static int number(const grid* g, int d, double x)
{
    double at = (x - g->origin[d]) * g->inverse;
    return !(at >= 1.0) ? 0 : at >= g->size[d] ? g->size[d] - 1 : (int)at;
}

/* Below or above x by more than the rounding of a float. */
static float below(double x) { return (float)(x - 1.5e-7 * fabs(x) - 1e-37); }
static float above(double x) { return (float)(x + 1.5e-7 * fabs(x) + 1e-37); }

static void cast_shadows(const grid* g)
{
    for (int p = 0; p < g->count - g->large; p++) {
        const mor_aabb* b = &g->items[g->order[p]].box;
        g->shadows[p] = (struct mor_bvh_shadow){ { below(b->lower.x), below(b->lower.y), below(b->lower.z), 0.0f },
                                                 { above(b->upper.x), above(b->upper.y), above(b->upper.z), 0.0f } };
    }
}

static inline bool shadows_meet(const struct mor_bvh_shadow* a, const struct mor_bvh_shadow* b)
{
    const four_ints met = (four_ints)(a->lower <= b->upper) & (four_ints)(b->lower <= a->upper);
    const two_longs all = (two_longs)met;
    return (all[0] & all[1]) == -1;
}

/* Boxes by cells, as a counting sort; false: too many in too few. */
static bool fill(grid* g)
{
    const int cells = g->size[0] * g->size[1] * g->size[2];
    long crowd = 0;
    memset(g->start, 0, (size_t)(cells + 1) * sizeof *g->start);
    for (int k = g->large; k < g->count; k++) {
        mor_vec3 l = g->items[k].box.lower;
        g->cell[k] = number(g, 0, l.x) + g->size[0] * (number(g, 1, l.y) + g->size[1] * number(g, 2, l.z));
        g->start[g->cell[k]]++;
    }
    int sum = 0;
    for (int c = 0; c <= cells; c++) {
        long n = g->start[c];
        g->start[c] = sum;
        sum += (int)n;
        crowd += n * n;
    }
    if (crowd > (long)CROWD * g->count) return false;
    for (int k = g->large; k < g->count; k++) g->order[g->start[g->cell[k]]++] = k;
    for (int c = cells; c > 0; c--) g->start[c] = g->start[c - 1];
    g->start[0] = 0;
    return true;
}

/* Notes the pair, in the list of a thread or of the tree. */
static bool note(mor_bvh* tree, const struct mor_bvh_item* a, const struct mor_bvh_item* b, mor_bvh_part* part,
                 int* count)
{
    if (!a->moved && !b->moved) return true;
    if (a->group != 0 && a->group == b->group) return true;
    uint64_t i = (uint32_t)(a->index < b->index ? a->index : b->index);
    uint64_t j = (uint32_t)(a->index < b->index ? b->index : a->index);
    if (part) return mor_bvh_add_key(tree, part, i << 32 | j);
    if (*count == tree->key_capacity && !mor_bvh_grow_keys(tree)) return false;
    tree->keys[(*count)++] = i << 32 | j;
    return true;
}

/* The runs of boxes that those of cell c are compared with; the first begins with the cell itself. */
static void find_runs(const grid* g, int c, int begin[RUNS], int end[RUNS])
{
    static const int rows[RUNS][2] = { { 0, 0 }, { 1, 0 }, { -1, 1 }, { 0, 1 }, { 1, 1 } };
    const int x = c % g->size[0], y = c / g->size[0] % g->size[1], z = c / g->size[0] / g->size[1];
    for (int r = 0; r < RUNS; r++) {
        int v = y + rows[r][0], w = z + rows[r][1], row = g->size[0] * (v + g->size[1] * w);
        begin[r] = end[r] = 0;
        if (v < 0 || v >= g->size[1] || w >= g->size[2]) continue;
        begin[r] = g->start[row + (r == 0 || x == 0 ? x : x - 1)];
        end[r] = g->start[row + (x + 1 < g->size[0] ? x + 2 : x + 1)];
    }
}

/* The boxes at places first ... last - 1 against what follows; false: out of memory. */
static bool compare(grid* g, int first, int last, mor_bvh_part* part, int* count, long* looked)
{
    int cell = -1, begin[RUNS], end[RUNS];
    for (int p = first; p < last; p++) {
        const struct mor_bvh_item* a = &g->items[g->order[p]];
        if (g->cell[g->order[p]] != cell) find_runs(g, cell = g->cell[g->order[p]], begin, end);
        const struct mor_bvh_shadow shadow = g->shadows[p];
        for (int r = 0; r < RUNS; r++) {
            int from = r == 0 ? p + 1 : begin[r];
            *looked += end[r] - from;
            for (int q = from; q < end[r]; q++) {
                if (!shadows_meet(&shadow, &g->shadows[q])) continue;
                const struct mor_bvh_item* b = &g->items[g->order[q]];
                if (mor_aabb_meet(&a->box, &b->box) && !note(g->tree, a, b, part, count)) return false;
            }
        }
    }
    return true;
}

static void compare_part(void* user, int index, int worker)
{
    (void)worker;
    grid* g = user;
    const int n = g->count - g->large;
    int first = (int)((int64_t)n * index / PARTS), last = (int)((int64_t)n * (index + 1) / PARTS);
    g->tree->parts[index].count = 0;
    g->failed[index] = !compare(g, first, last, &g->tree->parts[index], NULL, &g->looked[index]);
}

/* Are most boxes beside one of the same group in the tree? Looked up when boxes came or went. */
static bool by_groups(mor_bvh* tree)
{
    if (!tree->changed) return tree->grouped;
    int same = 0;
    for (int k = 0; k < tree->count; k++) {
        int parent = tree->nodes[tree->leaves[k]].parent;
        same += parent != MOR_BVH_NONE && tree->nodes[parent].group != 0;
    }
    tree->changed = false;
    tree->grouped = same > tree->count / 4;
    return tree->grouped;
}

int mor_bvh_pairs_by_grid(mor_bvh* tree, struct mor_workers* workers, long* looked)
{
    if (tree->count < LEAST || by_groups(tree) || !reserve(tree)) return MOR_BVH_NO_GRID;
    grid g = { .tree = tree, .items = tree->items, .shadows = tree->shadows, .count = tree->count };
    g.cell = tree->cells, g.order = g.cell + g.count, g.start = g.order + g.count;
    double length = gather(&g);
    if (!(length > 0.0)) return MOR_BVH_NO_GRID;
    lay_out(&g, length);
    if (!fill(&g)) return MOR_BVH_NO_GRID;
    cast_shadows(&g);
    int count = 0;
    if (workers && g.count >= ALONE) {
        mor_workers_run(workers, PARTS, compare_part, &g);
        for (int p = 0; p < PARTS; p++) {
            if (g.failed[p] || !mor_bvh_take_keys(tree, &tree->parts[p], &count)) return -1;
            *looked += g.looked[p];
        }
    } else if (!compare(&g, 0, g.count - g.large, NULL, &count, looked)) {
        return -1;
    }
    for (int k = 0; k < g.large; k++)
        for (int m = k + 1; m < g.count; m++)
            if (mor_aabb_meet(&g.items[k].box, &g.items[m].box) && !note(tree, &g.items[k], &g.items[m], NULL, &count))
                return -1;
    *looked += (long)g.large * g.count;
    return count;
}
