/* Slabs of a pile.
 *
 * Trees are the vertices of a graph, contacts its edges. Levels are distances from a tree at the rim: an edge joins two
 * trees of one level or of neighbouring levels. A slab is a run of levels. Contacts within a slab make a group;
 * contacts between a slab and the next make another, which acts on the last level of the one and the first of the
 * other. A slab has at least two levels (the last may have one), so that no two of these share a tree. All slabs can
 * be visited at the same time, then all groups between them: two phases, as with two colours, but of groups so large
 * that a sweep converges as before.
 *
 * The rim: the tree farthest from the first one (A. George, J. Liu, 1979, An implementation of a pseudoperipheral node
 * finder, one round of it).
 *
 * Cost: linear in trees and contacts. */
#include "solver/pack_groups.h"

#include <string.h>

enum { FEW = 512 }; /* contacts: one thread visits them in the time that two take to meet a few times */

/* Neighbours of tree t: list[start[t]] ... list[start[t + 1] - 1]. */
typedef struct graph {
    const mor_step_form* form;
    int contacts, trees;
    int *start, *list;
    int *level, *queue; /* of each tree; trees in the order of their levels */
} graph;

/* The trees of a contact; false: fewer than two. */
static bool joins(const mor_step_form* f, int contact, int tree[2])
{
    const mor_block* b = &f->blocks[contact];
    if (b->entry_count != 2) return false;
    tree[0] = f->entries[b->entry].tree;
    tree[1] = f->entries[b->entry + 1].tree;
    return true;
}

/* Contacts of two bodies come one after the other: one edge. */
static bool next_edge(const graph* g, int* at, int tree[2])
{
    int before[2] = { tree[0], tree[1] };
    while (*at < g->contacts)
        if (joins(g->form, (*at)++, tree) && (tree[0] != before[0] || tree[1] != before[1])) return true;
    return false;
}

static bool make_graph(graph* g, mor_arena* arena)
{
    size_t n = (size_t)g->trees;
    g->start = mor_arena_zero(arena, n + 2, sizeof *g->start);
    g->list = mor_arena_alloc(arena, 2 * (size_t)g->contacts * sizeof *g->list);
    g->level = mor_arena_alloc(arena, 2 * n * sizeof *g->level);
    if (!g->start || !g->list || !g->level) return false;
    g->queue = g->level + n;
    int tree[2] = { -1, -1 };
    for (int at = 0; next_edge(g, &at, tree);) g->start[tree[0] + 2]++, g->start[tree[1] + 2]++;
    for (int t = 0; t < g->trees; t++) g->start[t + 2] += g->start[t + 1];
    tree[0] = tree[1] = -1;
    for (int at = 0; next_edge(g, &at, tree);) {
        g->list[g->start[tree[0] + 1]++] = tree[1];
        g->list[g->start[tree[1] + 1]++] = tree[0];
    }
    return true;
}

/* Levels of all trees, from `root` on; what contacts do not join to it comes after, at levels of its own. */
static void find_levels(graph* g, int root)
{
    int read = 0, written = 0;
    for (int t = 0; t < g->trees; t++) g->level[t] = -1;
    for (int seed = -1; seed < g->trees; seed++) {
        int from = seed < 0 ? root : seed;
        if (g->level[from] >= 0) continue;
        g->level[from] = written ? g->level[g->queue[written - 1]] + 1 : 0;
        g->queue[written++] = from;
        for (; read < written; read++) {
            int t = g->queue[read];
            for (int e = g->start[t]; e < g->start[t + 1]; e++) {
                if (g->level[g->list[e]] >= 0) continue;
                g->level[g->list[e]] = g->level[t] + 1;
                g->queue[written++] = g->list[e];
            }
        }
    }
}

/* The lower level of a contact, and the higher one. */
static void levels_of(const graph* g, int contact, int level[2])
{
    const mor_block* b = &g->form->blocks[contact];
    level[0] = level[1] = b->entry_count ? g->level[g->form->entries[b->entry].tree] : 0;
    for (int e = b->entry + 1; e < b->entry + b->entry_count; e++) {
        int l = g->level[g->form->entries[e].tree];
        if (l < level[0]) level[0] = l;
        if (l > level[1]) level[1] = l;
    }
}

/* Slabs of about the same number of contacts. of: levels of each contact; slab[l]: that of level l. Returns their
 * number, 0: out of memory. */
static int cut(const graph* g, int (*of)[2], int levels, int* slab, mor_arena* arena)
{
    int* weight = mor_arena_zero(arena, (size_t)levels, sizeof *weight);
    if (!weight) return 0;
    for (int c = 0; c < g->contacts; c++) {
        levels_of(g, c, of[c]);
        weight[of[c][0]]++;
    }
    int slabs = 0, since = 0, sum = 0;
    for (int l = 0; l < levels; l++) {
        /* half of the level at the border counts */
        long here = MOR_PACK_SLABS * (2L * sum + weight[l]), wanted = 2L * g->contacts * (slabs + 1);
        if (slabs < MOR_PACK_SLABS - 1 && here >= wanted && l - since >= 2) slabs++, since = l;
        slab[l] = slabs;
        sum += weight[l];
    }
    return slabs + 1;
}

static void one_group(mor_pack_groups* k, int contacts)
{
    for (int c = 0; c < contacts; c++) k->order[c] = c;
    k->count = k->inner = 1;
    k->start[0] = 0, k->start[1] = contacts;
}

bool mor_pack_groups_find(mor_pack_groups* k, const mor_step_form* form, int contacts, mor_arena* arena)
{
    k->order = mor_arena_alloc(arena, ((size_t)contacts + 1) * sizeof *k->order);
    if (!k->order) return false;
    one_group(k, contacts);
    if (contacts < FEW) return true;
    graph g = { .form = form, .contacts = contacts, .trees = form->tree_count };
    if (!make_graph(&g, arena)) return false;
    find_levels(&g, 0);
    find_levels(&g, g.queue[g.trees - 1]);
    int levels = g.level[g.queue[g.trees - 1]] + 1;
    int* slab = mor_arena_alloc(arena, (size_t)levels * sizeof *slab);
    int(*of)[2] = mor_arena_alloc(arena, (size_t)contacts * sizeof *of);
    int slabs = slab && of ? cut(&g, of, levels, slab, arena) : 0;
    if (slabs == 0) return false;
    if (slabs == 1) return true;
    k->inner = slabs;
    k->count = 2 * slabs - 1;
    memset(k->start, 0, sizeof k->start);
    int fill[MOR_PACK_GROUPS + 1] = { 0 };
    for (int c = 0; c < contacts; c++) {
        const int low = slab[of[c][0]], high = slab[of[c][1]];
        of[c][0] = low == high ? low : slabs + low; /* its group */
        k->start[of[c][0] + 1]++;
    }
    for (int i = 0; i < k->count; i++) fill[i + 1] = k->start[i + 1] += k->start[i];
    for (int c = 0; c < contacts; c++) k->order[fill[of[c][0]]++] = c;
    return true;
}
