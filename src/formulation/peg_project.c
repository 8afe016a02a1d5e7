/* Position projection: what linearisation left of penetration is taken out of the positions, never put into velocities.
 *
 *     min |dq|_M    such that    psi_i(q+) + G_i' dq >= 0    for the rows of the planes the pairs were left on
 *
 * at most twelve times, in the mass of the step. It is the frictionless step problem nu = M^-1 G p, 0 <= p _|_ G' nu +
 * psi >= 0, so the library's solvers do it: pivoting for small islands, Gauss-Seidel for large ones, whose remainder is
 * left to the next step. Pairs that some other plane separates at q+ keep that plane. Angular momentum and velocity
 * turn with the body, so the kinetic energy is untouched; the potential energy added is returned as work. Cost: one
 * evaluation of each held plane; a solve only when something is deeper than 1e-10 of its size. */
#include "base/elementary.h"
#include "collision/features.h"
#include "collision/pair_table.h"
#include "formulation/rows.h"
#include "formulation/peg_planes.h"
#include "formulation/stout.h"

#include <math.h>
#include <string.h>

#define DEEP 1e-10
#define NEAR 0.01 /* of the size: rows and pairs that a pass may close */
enum { PASSES = 12, PIVOTING_ROWS = 200 };

typedef struct row {
    mor_vec3 point, n;
    double psi;
    int body[2]; /* slots */
} row;

typedef struct rows {
    row* data;
    int count, capacity;
    mor_arena* arena;
    double deepest; /* violation over the size of its pair */
    double raw;     /* penetration of the bodies */
} rows;

static bool add_row(rows* list, row r)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 64;
        row* grown = mor_arena_alloc(list->arena, (size_t)capacity * sizeof *grown);
        if (!grown) return false;
        if (list->count) memcpy(grown, list->data, (size_t)list->count * sizeof *grown);
        list->data = grown;
        list->capacity = capacity;
    }
    list->data[list->count++] = r;
    return true;
}

/* The held plane that starts at contact c of the island, at the present state. */
static bool plane_now(const mor_world* w, const mor_contact* c, bool full, rows* list)
{
    int slot[2] = { w->order[c->body[0]], w->order[c->body[1]] };
    const mor_body *a = &w->bodies[slot[0]], *b = &w->bodies[slot[1]];
    const mor_geometry *ga = a->shapes[c->shape[0]].geometry, *gb = b->shapes[c->shape[1]].geometry;
    mor_pose pa = mor_body_shape_pose(a, c->shape[0]), pb = mor_body_shape_pose(b, c->shape[1]);
    uint32_t id = (uint32_t)(c->feature >> 32);
    mor_feature_set set;
    if (mor_plane_kind(id) == MOR_EDGE_PAIR && !full && mor_features_along(ga, &pa, gb, &pb, id) >= 0.0) return true;
    mor_features_plane(ga, &pa, gb, &pb, id, HUGE_VAL, &set);
    const double size = set.size;
    /* a face that is clear separates; an edge pair may have lost its meaning at the new state */
    if (set.planes[0].s < -DEEP * size || mor_plane_kind(id) == MOR_EDGE_PAIR) {
        mor_feature_set all;
        mor_feature_query query = {
            .window = (full ? NEAR : 1e-3) * size, .motion = 1e-3 * size, .turn = 1e-3, .held = MOR_NO_PLANE
        };
        uint32_t cache[4] = { 0 };
        mor_features_pair(ga, &pa, gb, &pb, mor_features_piece_of(ga, gb, id), &query, cache, &all);
        const bool apart = !(all.separation < -DEEP * size);
        if (all.plane_count == 0 || (apart && !full)) return true; /* some plane separates them */
        if (!apart) {
            list->raw = mor_max(list->raw, -all.separation);
            list->deepest = mor_max(list->deepest, -all.separation / size);
        }
        /* a plane that separates them must go on doing so while others are moved. A face held that says far more than
         * the overlap has been turned out of: it would lift the bodies for nothing
         * */
        if (apart) mor_peg_nearest_plane(&all, mor_peg_normal_of(&all, all.best), &set);
        else if ((mor_plane_kind(id) == MOR_EDGE_PAIR || set.planes[0].s < 2.0 * all.separation) &&
                 !mor_peg_nearest_plane(&all, set.planes[0].n, &set)) {
            query.window = size; /* thin bodies: the way out on the other side is shorter, and hid the deeper planes */
            mor_features_pair(ga, &pa, gb, &pb, mor_features_piece_of(ga, gb, id), &query, cache, &all);
            mor_peg_nearest_plane(&all, set.planes[0].n, &set);
        }
    }
    for (int i = 0; i < set.row_count; i++) {
        if (set.rows[i].gap > NEAR * size) continue;
        row r = {
            mor_lerp(set.rows[i].on_a, set.rows[i].on_b, 0.5), set.planes[0].n, set.rows[i].gap, { slot[0], slot[1] }
        };
        if (!add_row(list, r)) return false;
    }
    return true;
}

/* The ordinary contact of a pair with a smooth shape, at the present state: without it spheres would sink, and be
 * pushed through floors by what the projection moves. */
static bool smooth_now(const mor_world* w, const mor_contact* c, rows* list)
{
    int slot[2] = { w->order[c->body[0]], w->order[c->body[1]] };
    const mor_body *a = &w->bodies[slot[0]], *b = &w->bodies[slot[1]];
    const mor_geometry *ga = a->shapes[c->shape[0]].geometry, *gb = b->shapes[c->shape[1]].geometry;
    bool swap;
    mor_pair_test test = mor_library_pair(w->library, ga, gb, &swap);
    if (!test) return true;
    mor_pose pa = mor_body_shape_pose(a, c->shape[0]), pb = mor_body_shape_pose(b, c->shape[1]);
    const double size = mor_min(ga->radius, gb->radius);
    mor_point points[MOR_MAX_POINTS];
    uint32_t cache[4] = { 0 };
    int count = mor_pair_run(test, swap, ga, &pa, gb, &pb, 0.01 * size, cache, points);
    for (int i = 0; i < count; i++) {
        row r = {
            mor_lerp(points[i].on_a, points[i].on_b, 0.5), points[i].normal, points[i].gap, { slot[0], slot[1] }
        };
        if (r.psi < -DEEP * size) {
            list->raw = mor_max(list->raw, -r.psi);
            list->deepest = mor_max(list->deepest, -r.psi / size);
        }
        if (!add_row(list, r)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------ */

mor_vec3 mor_peg_normal_of(const mor_feature_set* all, uint32_t id)
{
    int k = 0;
    while (k < all->plane_count - 1 && all->planes[k].id != id) k++;
    return all->planes[k].n;
}

bool mor_peg_nearest_plane(const mor_feature_set* all, mor_vec3 n, mor_feature_set* set)
{
    int best = -1;
    for (int k = 0; k < all->plane_count; k++)
        if (mor_dot(all->planes[k].n, n) > 0.7 && (best < 0 || all->planes[k].s > all->planes[best].s)) best = k;
    if (best < 0) return false;
    /* an edge pair beside a face says the same with one row of the face's: the body would turn about it */
    const mor_feature_plane* widest = &all->planes[best];
    for (int k = 0; k < all->plane_count && mor_plane_kind(all->planes[best].id) == MOR_EDGE_PAIR; k++) {
        const mor_feature_plane* p = &all->planes[k];
        if (mor_plane_kind(p->id) != MOR_EDGE_PAIR && mor_dot(p->n, widest->n) > 1.0 - 1e-6 &&
            p->s >= widest->s - 1e-3 * fabs(widest->s) - 1e-9 * all->size)
            best = k;
    }
    mor_feature_plane plane = all->planes[best];
    memcpy(set->rows, all->rows + plane.row, (size_t)plane.row_count * sizeof *set->rows);
    plane.row = 0;
    set->row_count = plane.row_count;
    set->planes[0] = plane;
    set->separation = plane.s;
    return true;
}

/* Rows of all pairs of the island. Not `full`: enough to tell whether anything overlaps. */
static bool collect(const mor_step* step, const mor_island* island, bool full, rows* list)
{
    const mor_world* w = step->w;
    const mor_contact* contacts = step->contacts.data;
    const mor_contact* before = NULL;
    list->count = 0;
    list->deepest = 0.0;
    for (int i = 0; i < island->system.contact_count; i++) {
        const mor_contact* c = &contacts[island->system.contacts[i].contact];
        bool same = before && memcmp(before->body, c->body, sizeof c->body) == 0 &&
                    memcmp(before->shape, c->shape, sizeof c->shape) == 0;
        if (c->group > 0 && (!c->held || (same && before->group == c->group && before->plane == c->plane))) continue;
        if (c->group == 0 && same) continue;
        before = c;
        const mor_body *a = &w->bodies[w->order[c->body[0]]], *b = &w->bodies[w->order[c->body[1]]];
        if (c->shape[0] >= a->shape_count || c->shape[1] >= b->shape_count) continue; /* a stored frame: no shapes */
        if (!(c->group > 0 ? plane_now(w, c, full, list) : smooth_now(w, c, list))) return false;
    }
    return true;
}

/* The mass blocks of the island, those of free bodies stout. NULL: out of memory. */
static const mor_tree_block* stout_trees(const mor_world* w, const mor_island* island, mor_arena* arena)
{
    const mor_system* s = &island->system;
    mor_tree_block* trees = mor_arena_alloc(arena, (size_t)s->tree_count * sizeof *trees);
    double* room = mor_arena_alloc(arena, (size_t)s->tree_count * 72 * sizeof *room);
    if (!trees || !room) return NULL;
    for (int t = 0; t < s->tree_count; t++, room += 72) {
        trees[t] = s->trees[t];
        if (w->trees[island->tree_of[t]].kind != &mor_tree_free) continue;
        mor_stout_mass(s->trees[t].mass, room, room + 36);
        trees[t].mass = room, trees[t].mass_inverse = room + 36;
    }
    return trees;
}

/* c M^-1 of a row, with the masses `trees` of the island. */
static void response(const mor_step* step, int tree, const mor_tree_block* own, const double* c, double* out)
{
    if (step->w->trees[tree].kind != &mor_tree_free) {
        mor_tree_response(step, tree, c, out);
        return;
    }
    for (int j = 0; j < 6; j++) {
        double sum = 0.0;
        for (int i = 0; i < 6; i++) sum += c[i] * own->mass_inverse[6 * i + j];
        out[j] = sum;
    }
}

/* Writes the frictionless step problem of the rows and solves it for dq. */
static bool solve(const mor_step* step, const mor_island* island, const mor_tree_block* trees, const rows* list,
                  mor_arena* arena, double* dq)
{
    const mor_world* w = step->w;
    const mor_system* s = &island->system;
    int n = list->count, coefs = 0;
    mor_block* blocks = mor_arena_zero(arena, (size_t)n, sizeof *blocks);
    mor_entry* entries = mor_arena_alloc(arena, 2 * (size_t)n * sizeof *entries);
    int widest = 0;
    for (int t = 0; t < s->tree_count; t++) widest = s->trees[t].dof > widest ? s->trees[t].dof : widest;
    double* J = mor_arena_alloc(arena, 2 * (size_t)widest * (size_t)n * sizeof *J);
    double* Y = mor_arena_alloc(arena, 2 * (size_t)widest * (size_t)n * sizeof *Y);
    double* diagonal = mor_arena_zero(arena, (size_t)n, sizeof *diagonal);
    double* zero = mor_arena_zero(arena, (size_t)s->dof, sizeof *zero);
    double* bias = mor_arena_alloc(arena, (size_t)n * sizeof *bias);
    double* p = mor_arena_zero(arena, (size_t)n, sizeof *p);
    int* starts = mor_arena_alloc(arena, (size_t)n * sizeof *starts);
    if (!blocks || !entries || !J || !Y || !diagonal || !zero || !bias || !p || !starts) return false;
    int entry_count = 0;
    for (int i = 0; i < n; i++) {
        const row* r = &list->data[i];
        blocks[i] = (mor_block){ .kind = MOR_BLOCK_CONTACT, .dim = 1, .row = i, .entry = entry_count };
        bias[i] = r->psi;
        starts[i] = i;
        for (int side = 0; side < 2; side++) {
            const mor_body* b = &w->bodies[r->body[side]];
            if (b->tree < 0) continue;
            int local = 0;
            while (island->tree_of[local] != b->tree) local++;
            const mor_tree_block* t = &trees[local];
            const mor_tree* tree = &w->trees[b->tree];
            tree->kind->row(tree, b, mor_sub(r->point, b->x), r->n, side ? 1.0 : -1.0, J + coefs);
            if (trees == s->trees) mor_tree_response(step, b->tree, J + coefs, Y + coefs);
            else response(step, b->tree, t, J + coefs, Y + coefs);
            for (int c = 0; c < t->dof; c++) diagonal[i] += Y[coefs + c] * J[coefs + c];
            entries[entry_count++] = (mor_entry){ local, coefs };
            blocks[i].entry_count++;
            coefs += t->dof;
        }
    }
    mor_problem problem = { .form = MOR_STEP_PYRAMID,
                            .size = n,
                            .b = bias,
                            .step = { s->tree_count, s->dof, trees, zero, n, n, blocks, entries, J, Y, diagonal, starts,
                                      bias } };
    mor_solve_options o = mor_solve_options_default();
    o.tol = 1e-14;
    o.warm = false;
    if (n > PIVOTING_ROWS) problem.form = MOR_STEP_CONE, o.tol = 1e-12;
    const mor_solver* solver = mor_library_solver(w->library, n > PIVOTING_ROWS ? "auto" : "lemke");
    if (!solver) return false;
    mor_solve(solver, NULL, &problem, &o, p, arena);
    memset(dq, 0, (size_t)s->dof * sizeof *dq);
    for (int i = 0; i < n; i++)
        for (int e = blocks[i].entry; e < blocks[i].entry + blocks[i].entry_count; e++) {
            const mor_tree_block* t = &s->trees[entries[e].tree];
            for (int m = 0; m < t->dof; m++) dq[t->offset + m] += Y[entries[e].start + m] * p[i];
        }
    for (int i = 0; i < s->dof; i++)
        if (!isfinite(dq[i])) return false;
    return true;
}

/* Moves the trees of the island; returns the energy added. */
static double move(mor_world* w, const mor_island* island, const double* dq)
{
    double before = mor_world_potential_energy(w);
    for (int t = 0; t < island->system.tree_count; t++) {
        const mor_tree* tree = &w->trees[island->tree_of[t]];
        before -= mor_tree_move(w, tree, dq + island->system.trees[t].offset);
    }
    return mor_world_potential_energy(w) - before;
}

double mor_peg_project(mor_step* step, const void* options, double* work)
{
    (void)options;
    double raw = 0.0;
    for (int i = 0; i < step->island_count; i++) {
        const mor_island* island = &step->islands[i];
        mor_arena* arena = step->thread_arenas[0];
        for (int pass = 0; pass < PASSES; pass++) {
            size_t mark = mor_arena_mark(arena);
            rows list = { .arena = arena };
            double* dq = mor_arena_alloc(arena, (size_t)island->system.dof * sizeof *dq);
            bool go = dq && collect(step, island, pass > 0, &list);
            if (pass == 0) raw = mor_max(raw, list.raw);
            if (pass == 0 && go && list.deepest > 0.0) go = collect(step, island, true, &list);
            go = go && list.deepest > 0.0 && solve(step, island, island->system.trees, &list, arena, dq);
            if (go && mor_turns_far(step->w, island, dq)) {
                const mor_tree_block* trees = stout_trees(step->w, island, arena);
                go = trees && solve(step, island, trees, &list, arena, dq);
            }
            if (go) *work += move(step->w, island, dq);
            mor_arena_release(arena, mark);
            if (!go) break;
        }
    }
    return raw;
}
