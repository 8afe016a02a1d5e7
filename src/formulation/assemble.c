/* Assembly: M, G, gaps, drifts and warm starts, island by island (MATH section 1).
 *
 * Trees that touch, directly or through other trees, form an island; fixed and kinematic bodies do
 * not connect. Islands are numbered by their first tree, their trees and contacts keep world order,
 * so the systems do not depend on the order in which contacts were found.
 *
 *     label    which island every tree, contact and block of joint rows belongs to
 *     count    how many of each every island has, and where its list begins
 *     scatter  the lists
 *     write    M, G and the rest of every island (island_systems.c)
 *
 * Cost: linear in trees and contacts, plus sorting when the contacts come unsorted. */
#include "formulation/assemble.h"

#include "base/arena.h"
#include "base/union_find.h"
#include "formulation/island_systems.h"
#include "formulation/rows.h"
#include "formulation/stout.h"
#include "model/each_tree.h"
#include "model/support.h"

#include <string.h>

/* ------------------------------------------------------------------------------- sorting */

static int compare(const mor_contact* a, const mor_contact* b)
{
    if (a->body[0] != b->body[0]) return a->body[0] < b->body[0] ? -1 : 1;
    if (a->body[1] != b->body[1]) return a->body[1] < b->body[1] ? -1 : 1;
    if (a->shape[0] != b->shape[0]) return a->shape[0] < b->shape[0] ? -1 : 1;
    if (a->shape[1] != b->shape[1]) return a->shape[1] < b->shape[1] ? -1 : 1;
    if (a->feature != b->feature) return a->feature < b->feature ? -1 : 1;
    return 0;
}

enum { RUN = 32 }; /* contacts of two bodies that are sorted in place */

/* A contact to be sorted: its bodies, which decide mostly, and where it is. */
typedef struct place {
    uint64_t bodies;
    int at;
} place;

static bool comes_first(const mor_contact* contacts, const place* a, const place* b)
{
    if (a->bodies != b->bodies) return a->bodies < b->bodies;
    return compare(&contacts[a->at], &contacts[b->at]) <= 0;
}

/* Contact k becomes the one at order[k].at, each is moved once. */
static void permute(mor_contact* contacts, place* order, int n)
{
    for (int k = 0; k < n; k++) {
        if (order[k].at == k) continue;
        mor_contact first = contacts[k];
        int to = k;
        for (int from = order[k].at; from != k; from = order[to].at) {
            contacts[to] = contacts[from];
            order[to].at = to;
            to = from;
        }
        contacts[to] = first;
        order[to].at = to;
    }
}

static bool same_bodies(const mor_contact* a, const mor_contact* b)
{
    return a->body[0] == b->body[0] && a->body[1] == b->body[1];
}

static bool bodies_in_order(const mor_contact* a, const mor_contact* b)
{
    return a->body[0] < b->body[0] || (a->body[0] == b->body[0] && a->body[1] <= b->body[1]);
}

/* A run of contacts of the same two bodies, at most RUN. */
static void sort_run(mor_contact* contacts, int n)
{
    place order[RUN];
    bool moved = false;
    for (int i = 0; i < n; i++) {
        int k = i;
        for (; k > 0 && compare(&contacts[order[k - 1].at], &contacts[i]) > 0; k--) order[k] = order[k - 1];
        order[k].at = i;
        moved = moved || k < i;
    }
    if (moved) permute(contacts, order, n);
}

/* Pairs of bodies mostly come in order, and only the few contacts of each do not: then each run is sorted where it is.
 * False: they did not; nothing is lost. */
static bool sort_runs(mor_contact* contacts, int n)
{
    for (int begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && same_bodies(&contacts[begin], &contacts[end]);) end++;
        if (end - begin > RUN || (end < n && !bodies_in_order(&contacts[begin], &contacts[end]))) return false;
        if (end - begin > 1) sort_run(contacts + begin, end - begin);
    }
    return true;
}

/* Contacts of the same two bodies come one after the other, a few of them: by insertion. */
static void sort_neighbours(const mor_contact* contacts, place* a, int n)
{
    for (int i = 1; i < n; i++) {
        place moved = a[i];
        int k = i;
        while (k > 0 && a[k - 1].bodies == moved.bodies && compare(&contacts[a[k - 1].at], &contacts[moved.at]) > 0)
            a[k] = a[k - 1], k--;
        a[k] = moved;
    }
}

/* The end of the run that begins at `begin`: places in order. Those of the same bodies are, where they are neighbours:
 * they were sorted, then merged. */
static int end_of_run(const place* a, int begin, int n)
{
    int end = begin < n ? begin + 1 : n;
    while (end < n && a[end - 1].bodies <= a[end].bodies) end++;
    return end;
}

/* Merge sort of places by the runs that are there, mostly two, bounded shapes and planes: stable, no recursion, scratch
 * from the arena. */
static bool sort_contacts(mor_step* step)
{
    mor_contact* contacts = step->contacts.data;
    int n = step->contacts.count;
    if (sort_runs(contacts, n)) return true;
    const size_t mark = mor_arena_mark(step->arena);
    place* a = mor_arena_take(step->arena, 2 * (size_t)n * sizeof *a);
    if (!a) return false;
    place* b = a + n;
    const uint32_t sign = 0x80000000u; /* keeps the order of signed numbers */
    for (int i = 0; i < n; i++) {
        uint32_t one = (uint32_t)contacts[i].body[0] ^ sign, two = (uint32_t)contacts[i].body[1] ^ sign;
        a[i] = (place){ (uint64_t)one << 32 | two, i };
    }
    sort_neighbours(contacts, a, n);
    while (end_of_run(a, 0, n) < n) {
        for (int lo = 0; lo < n;) {
            int mid = end_of_run(a, lo, n), hi = end_of_run(a, mid, n);
            for (int i = lo, j = mid, k = lo; k < hi; k++)
                b[k] = i < mid && (j >= hi || comes_first(contacts, &a[i], &a[j])) ? a[i++] : a[j++];
            lo = hi;
        }
        place* t = a;
        a = b;
        b = t;
    }
    permute(contacts, a, n);
    mor_arena_release(step->arena, mark);
    return true;
}

/* --------------------------------------------------------------------------------- trees */

/* Room for a tree's mass block. */
static int block_size(const mor_tree* t) { return t->kind->fill && t->dof > MOR_MASS_DOF ? 0 : t->dof * t->dof; }

double* mor_prepared_mass(const mor_step* k, int tree)
{
    return k->w->trees[tree].kind->fill && !k->beside ? NULL : k->mass + k->mass_start[tree];
}

/* Of two trees with blocks that stay. */
static bool same_mass(const mor_world* w, int tree1, int tree2)
{
    const mor_body *a = &w->bodies[w->trees[tree1].body], *b = &w->bodies[w->trees[tree2].body];
    return a->mass.mass == b->mass.mass && a->mass.inertia.m[0][0] == b->mass.inertia.m[0][0] &&
           a->inertia_inverse.m[0][0] == b->inertia_inverse.m[0][0];
}

static int contact_tree(const mor_world* w, const mor_contact* c, int side)
{
    return w->bodies[w->order[c->body[side]]].tree;
}

/* Robots that something touches factor M another way (model/robots.c). */
static void mark_touched(const mor_step* k)
{
    const mor_world* w = k->w;
    for (int i = 0; i < w->robot_count; i++) w->robots[i]->touched = false;
    const mor_contact* contacts = k->contacts.data;
    for (int i = 0; w->robot_count && i < k->contacts.count; i++)
        for (int side = 0; side < 2; side++) {
            int tree = contact_tree(w, &contacts[i], side);
            if (tree >= 0 && w->trees[tree].robot) w->trees[tree].robot->touched = true;
        }
}

static void prepare_tree(mor_step* k, int tree)
{
    const mor_tree* t = &k->w->trees[tree];
    double *mass = mor_prepared_mass(k, tree), *inverse = k->mass_inverse + k->mass_start[tree];
    if (k->mass_shared[tree]) mass = inverse = NULL;
    t->kind->prepare(k->w, t, k->nu + t->offset, k->nu_free + t->offset, mass, inverse);
    if (k->stout && t->kind == &mor_tree_free)
        mor_stout_mass(k->mass + k->mass_start[tree], k->mass + k->mass_start[tree],
                       k->mass_inverse + k->mass_start[tree]);
}

/* Where velocities and mass blocks begin, and room for the blocks. Blocks that several trees may share are written. */
static bool place_trees(mor_step* k)
{
    mor_world* w = k->w;
    int dof = 0, mass = 0, one = -1; /* the last tree with a block for others */
    k->mass_start = mor_arena_take(k->arena, (size_t)w->tree_count * sizeof(int));
    k->mass_shared = mor_arena_take(k->arena, (size_t)w->tree_count * sizeof(bool));
    if (!k->mass_start || !k->mass_shared) return false;
    for (int i = 0; i < w->tree_count; i++) {
        w->trees[i].offset = dof;
        w->trees[i].share = 1.0;
        w->trees[i].move = NULL;
        dof += w->trees[i].dof;
        k->mass_shared[i] = !k->stout && mor_free_mass_stays(w, &w->trees[i], NULL, NULL);
        const bool known = one >= 0 && k->mass_shared[i] && same_mass(w, one, i);
        k->mass_start[i] = known ? k->mass_start[one] : mass;
        if (known) continue;
        mass += block_size(&w->trees[i]);
        if (k->mass_shared[i]) one = i;
    }
    k->dof = dof;
    k->mass = mor_arena_take(k->arena, (size_t)mass * sizeof(double));
    k->mass_inverse = mor_arena_take(k->arena, (size_t)mass * sizeof(double));
    if (!k->mass || !k->mass_inverse) return false;
    for (int i = 0, written = -1; i < w->tree_count; i++) {
        const int at = k->mass_start[i];
        if (at <= written || !k->mass_shared[i]) continue;
        mor_free_mass_stays(w, &w->trees[i], k->mass + at, k->mass_inverse + at);
        written = at;
    }
    return true;
}

/* Velocities, free velocities and mass blocks of every tree. */
static bool prepare_trees(mor_step* k)
{
    if (!place_trees(k)) return false;
    const int dof = k->dof;
    k->nu = mor_arena_take(k->arena, (size_t)dof * sizeof(double));
    k->nu_free = mor_arena_take(k->arena, (size_t)dof * sizeof(double));
    k->nu_new = mor_arena_take(k->arena, (size_t)dof * sizeof(double));
    if (!k->nu || !k->nu_free || !k->nu_new) return false;
    mark_touched(k);
    mor_support_mark(k);
    mor_step_each_tree(k, prepare_tree);
    memcpy(k->nu_new, k->nu_free, (size_t)dof * sizeof(double));
    return true;
}

/* ------------------------------------------------------------------------------- islands */

/* The contact of the last step with the same bodies, shapes and feature, or NULL. */
static const mor_contact* remembered(const mor_step* k, const mor_contact* c, int* cursor)
{
    int order = -1;
    while (*cursor < k->last_count && (order = compare(&k->last[*cursor], c)) < 0) ++*cursor;
    return order == 0 ? &k->last[*cursor] : NULL;
}

/* Unites what touches, and adds up what the rows need. False: out of memory. */
static bool label_islands(mor_step* k, mor_island_lists* g)
{
    const mor_world* w = k->w;
    const mor_contact* contacts = k->contacts.data;
    int n = w->tree_count, cursor = 0;
    int* parent = mor_arena_take(k->arena, (size_t)n * sizeof *parent);
    bool* touched = mor_arena_zero(k->arena, (size_t)n, sizeof *touched);
    g->label = mor_arena_take(k->arena, (size_t)n * sizeof *g->label);
    k->old = mor_arena_take(k->arena, (size_t)g->contact_count * sizeof *k->old);
    g->contact_trees = mor_arena_take(k->arena, (size_t)g->contact_count * sizeof *g->contact_trees);
    if (!parent || !touched || !g->label || !k->old || !g->contact_trees) return false;
    mor_sets_begin(parent, n);
    for (int i = 0; i < g->contact_count; i++) {
        k->old[i] = remembered(k, &contacts[i], &cursor);
        int a = contact_tree(w, &contacts[i], 0), b = contact_tree(w, &contacts[i], 1);
        g->contact_trees[i][0] = a, g->contact_trees[i][1] = b;
        int rows = contacts[i].rolling > 0.0 || contacts[i].drilling > 0.0 ? 6 : 3;
        g->row_total += rows, g->diagonals += rows * rows;
        if (a >= 0) touched[a] = true, g->coefficients += rows * w->trees[a].dof;
        if (b >= 0) touched[b] = true, g->coefficients += rows * w->trees[b].dof;
        if (a >= 0 && b >= 0) mor_sets_unite(parent, a, b);
    }
    for (int i = 0; i < g->row_count; i++) {
        const mor_row_block* b = &g->rows[i];
        g->row_total += b->dim;
        g->diagonals += b->dim * b->dim;
        for (int t = 0; t < 3 && b->tree[t] >= 0; t++) {
            touched[b->tree[t]] = true;
            g->coefficients += b->dim * w->trees[b->tree[t]].dof;
            mor_sets_unite(parent, b->tree[0], b->tree[t]);
        }
    }
    for (int i = 0; i < n; i++) {
        int root = mor_sets_root(parent, i); /* the smallest tree of the island, so it is labelled first */
        g->label[i] = !touched[i] ? -1 : root == i ? g->count++ : g->label[root];
    }
    return true;
}

static int contact_island(const mor_island_lists* g, int contact)
{
    const int* tree = g->contact_trees[contact];
    return g->label[tree[0] >= 0 ? tree[0] : tree[1]];
}

/* Where the list of every island begins. */
static bool count_members(mor_step* k, mor_island_lists* g)
{
    const mor_world* w = k->w;
    size_t room = (size_t)g->count + 1;
    g->tree_start = mor_arena_zero(k->arena, room, sizeof(int));
    g->contact_start = mor_arena_zero(k->arena, room, sizeof(int));
    g->row_start = mor_arena_zero(k->arena, room, sizeof(int));
    if (!g->tree_start || !g->contact_start || !g->row_start) return false;
    for (int i = 0; i < w->tree_count; i++)
        if (g->label[i] >= 0) g->tree_start[g->label[i] + 1]++;
    for (int i = 0; i < g->contact_count; i++) g->contact_start[contact_island(g, i) + 1]++;
    for (int i = 0; i < g->row_count; i++) g->row_start[g->label[g->rows[i].tree[0]] + 1]++;
    for (int i = 0; i < g->count; i++) {
        g->row_start[i + 1] += g->row_start[i];
        g->tree_start[i + 1] += g->tree_start[i];
        g->contact_start[i + 1] += g->contact_start[i];
    }
    return true;
}

/* The lists, in world order. */
static bool scatter_members(mor_step* k, mor_island_lists* g)
{
    const mor_world* w = k->w;
    size_t n = (size_t)w->tree_count, filled = (size_t)g->count * sizeof(int);
    g->local = mor_arena_take(k->arena, n * sizeof(int));
    g->tree_list = mor_arena_take(k->arena, n * sizeof(int));
    g->contact_list = mor_arena_take(k->arena, (size_t)g->contact_count * sizeof(int));
    g->row_list = mor_arena_take(k->arena, (size_t)g->row_count * sizeof *g->row_list);
    int* fill = mor_arena_take(k->arena, 3 * filled + 1);
    if (!g->local || !g->tree_list || !g->contact_list || !g->row_list || !fill) return false;
    int *trees = fill, *contacts = fill + g->count, *rows = contacts + g->count;
    memcpy(trees, g->tree_start, filled);
    memcpy(contacts, g->contact_start, filled);
    memcpy(rows, g->row_start, filled);
    for (int i = 0; i < w->tree_count; i++) {
        int island = g->label[i];
        if (island < 0) continue;
        g->local[i] = trees[island] - g->tree_start[island];
        g->tree_list[trees[island]++] = i;
    }
    for (int i = 0; i < g->contact_count; i++) g->contact_list[contacts[contact_island(g, i)]++] = i;
    for (int i = 0; i < g->row_count; i++) g->row_list[rows[g->label[g->rows[i].tree[0]]]++] = &g->rows[i];
    return true;
}

bool mor_assemble(mor_step* k)
{
    mor_island_lists g = { 0 };
    k->island_count = 0;
    if (!sort_contacts(k) || !prepare_trees(k) || !mor_collect_rows(k, &g.rows, &g.row_count)) return false;
    g.contact_count = k->contacts.count;
    if (g.contact_count + g.row_count == 0) return true;
    if (!label_islands(k, &g) || !count_members(k, &g) || !scatter_members(k, &g)) return false;
    return mor_write_islands(k, &g);
}
