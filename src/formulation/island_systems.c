/* Writing M, G, gaps and guesses of every island, on threads.
 *
 * All islands share a few long arrays. First it is counted where the numbers of each island begin; then islands are
 * written in any order. An island with many contacts is written in parts of PART contacts, for each of which it is
 * counted where its rows begin: rows of a contact depend on nothing but the contact, its bodies and their trees. The
 * parts do not depend on the number of threads, and neither do the numbers.
 *
 * Rows of robots are made with scratch in the robot: islands with anything but free bodies are one part each. */
#include "formulation/island_systems.h"

#include "base/arena.h"
#include "base/elementary.h"
#include "base/workers.h"
#include "formulation/contact_rows.h"
#include "formulation/kept_rows.h"

#include <string.h>

/* PART: contacts. WORTH: coefficients of G from which waking the threads, some microseconds, is worth it.
 * INVERSE_DOF: trees that give products cheaply have no larger inverse. */
enum { PART = 64, WORTH = 4096, INVERSE_DOF = 64 };

/* Where numbers begin: of an island in the arrays of all, of a part in those of its island. */
typedef struct place {
    int dof, rows, entries, coefficients, diagonals;
} place;

typedef struct part {
    int island, first, last; /* contacts: places in the list */
    place at;
} part;

typedef struct writer {
    mor_step* step;
    const mor_island_lists* lists;
    mor_row_builder rows; /* beginnings of the arrays */
    mor_tree_block* trees;
    double *nu, *nu_free, *answer, *impulses, *shift;
    bool* held;
    int widest; /* tree with responses of six velocities (mor_row_builder.six); 0: none */
    place* places;
    part* parts;
    int part_count;
} writer;

static bool make_arrays(writer* k)
{
    mor_step* step = k->step;
    const mor_world* w = step->w;
    const mor_island_lists* g = k->lists;
    mor_arena* arena = step->arena;
    size_t contacts = (size_t)g->contact_count, n = contacts + (size_t)g->row_count, dof = (size_t)step->dof;
    mor_row_builder* b = &k->rows;
    *b = (mor_row_builder){ .step = step, .local = g->local };
    b->rows = mor_arena_take(arena, n * sizeof *b->rows);
    b->blocks = mor_arena_take(arena, n * sizeof *b->blocks);
    b->entries = mor_arena_take(arena, 3 * n * sizeof *b->entries);
    b->jacobian = mor_arena_take(arena, (size_t)g->coefficients * sizeof(double));
    b->response = mor_arena_take(arena, (size_t)g->coefficients * sizeof(double));
    b->diagonal = mor_arena_take(arena, (size_t)g->diagonals * sizeof(double));
    b->bias = mor_arena_zero(arena, (size_t)g->row_total, sizeof(double));
    b->diagonal_start = mor_arena_take(arena, n * sizeof(int));
    bool ok =
        b->rows && b->blocks && b->entries && b->jacobian && b->response && b->diagonal && b->bias && b->diagonal_start;
    for (int i = 0; i < w->tree_count; i++)
        if (w->trees[i].kind->respond6 && w->trees[i].dof > k->widest) k->widest = w->trees[i].dof;
    if (k->widest) b->six = mor_arena_take(arena, 14 * (size_t)(k->widest * step->threads) * sizeof(double));
    if (contacts && (step->geometry || w->formulation->geometry || w->on_solve)) {
        b->geometry = mor_arena_take(arena, contacts * sizeof *b->geometry);
        ok = ok && b->geometry;
    }
    k->trees = mor_arena_take(arena, (size_t)w->tree_count * sizeof *k->trees);
    k->nu = mor_arena_take(arena, dof * sizeof(double));
    k->nu_free = mor_arena_take(arena, dof * sizeof(double));
    k->answer = mor_arena_take(arena, dof * sizeof(double));
    k->shift = mor_arena_zero(arena, dof, sizeof(double));
    k->impulses = mor_arena_zero(arena, (size_t)g->row_total, sizeof(double));
    k->held = mor_arena_zero(arena, contacts, sizeof(bool));
    k->places = mor_arena_take(arena, (size_t)g->count * sizeof *k->places);
    k->parts = mor_arena_take(arena, ((size_t)g->count + contacts / PART) * sizeof *k->parts);
    step->islands = mor_arena_zero(arena, (size_t)g->count, sizeof *step->islands);
    ok = ok && k->places && k->parts && k->held && (b->six || !k->widest);
    return ok && k->trees && k->nu && k->nu_free && k->answer && k->shift && k->impulses && step->islands;
}

/* ----------------------------------------------------------------------------------- counting */

static void count_contact(const mor_world* w, const mor_contact* c, const int trees[2], place* n)
{
    int dim = mor_contact_dim(w, c);
    n->rows += dim;
    n->diagonals += dim * dim;
    for (int side = 0; side < 2; side++) {
        int tree = trees[side];
        if (tree < 0) continue;
        n->entries++; /* two links of one robot have one, and the room of the other is scratch */
        n->coefficients += dim * w->trees[tree].dof;
    }
}

static void count_joint(const mor_world* w, const mor_row_block* b, place* n)
{
    n->rows += b->dim;
    n->diagonals += b->dim * b->dim;
    for (int t = 0; t < 3 && b->tree[t] >= 0; t++) {
        n->entries++;
        n->coefficients += b->dim * w->trees[b->tree[t]].dof;
    }
}

static bool has_free_bodies_only(const mor_world* w, const int* trees, int count)
{
    for (int t = 0; t < count; t++)
        if (w->trees[trees[t]].kind != &mor_tree_free) return false;
    return true;
}

/* The parts of island i, which begins at *at; *at moves on. */
static void count_island(writer* k, int i, bool whole, place* at)
{
    const mor_island_lists* g = k->lists;
    const mor_world* w = k->step->w;
    const mor_contact* contacts = k->step->contacts.data;
    int begin = g->contact_start[i], end = g->contact_start[i + 1];
    place n = { 0 };
    for (int c = begin; c < end; c++) {
        bool starts = c == begin || (!whole && (c - begin) % PART == 0);
        if (starts) {
            if (c > begin) k->parts[k->part_count - 1].last = c;
            k->parts[k->part_count++] = (part){ i, c, end, n };
        }
        const int number = g->contact_list[c];
        count_contact(w, &contacts[number], g->contact_trees[number], &n);
    }
    if (begin == end) k->parts[k->part_count++] = (part){ i, begin, end, n };
    for (int r = g->row_start[i]; r < g->row_start[i + 1]; r++) count_joint(w, g->row_list[r], &n);
    k->places[i] = *at;
    for (int t = g->tree_start[i]; t < g->tree_start[i + 1]; t++) at->dof += w->trees[g->tree_list[t]].dof;
    at->rows += n.rows;
    at->entries += n.entries;
    at->coefficients += n.coefficients;
    at->diagonals += n.diagonals;
}

/* ------------------------------------------------------------------------------------ writing */

/* What a system has of the world and its methods. */
static mor_system empty_system(const mor_world* w)
{
    /* approaches slower than velocities are known are none: contacts that move together would bounce without end */
    double v_rest = mor_max(w->options.v_rest >= 0.0 ? w->options.v_rest : 2.0 * mor_norm(w->gravity) * w->h,
                            w->solver_options.tol);
    return (mor_system){ .h = w->h,
                         .time = w->time,
                         .gravity = w->gravity,
                         .dimension = w->dimension,
                         .v_rest = v_rest,
                         .directions = w->options.friction_directions,
                         .tol = w->solver_options.tol,
                         .step = w->step,
                         .cones = mor_solver_applies(w->solver, MOR_STEP_CONE) };
}

static void write_trees(const writer* k, int i)
{
    mor_step* step = k->step;
    mor_world* w = step->w;
    const mor_island_lists* g = k->lists;
    mor_system* s = &step->islands[i].system;
    mor_tree_block* trees = k->trees + g->tree_start[i];
    double *nu = k->nu + k->places[i].dof, *nu_free = k->nu_free + k->places[i].dof;
    for (int t = 0; t < s->tree_count; t++) {
        int tree = step->islands[i].tree_of[t], dof = w->trees[tree].dof, from = w->trees[tree].offset;
        double *own = step->mass + step->mass_start[tree], *inverse = step->mass_inverse + step->mass_start[tree];
        const double* mass = own;
        if (w->trees[tree].kind->fill) {
            if (dof > INVERSE_DOF || !(w->formulation->mass_inverse || w->on_solve)) inverse = NULL;
            mass = w->trees[tree].kind->fill(w, &w->trees[tree], mor_prepared_mass(step, tree),
                                             dof > MOR_MASS_DOF ? NULL : own, inverse);
        }
        trees[t] = (mor_tree_block){ dof, s->dof, mass, inverse };
        memcpy(nu + s->dof, step->nu + from, (size_t)dof * sizeof(double));
        memcpy(nu_free + s->dof, step->nu_new + from, (size_t)dof * sizeof(double));
        s->dof += dof;
    }
    memcpy(step->islands[i].answer.nu, nu_free, (size_t)s->dof * sizeof(double));
}

static mor_row_builder island_rows(const writer* k, int i)
{
    const mor_island_lists* g = k->lists;
    const place* at = &k->places[i];
    int contacts = g->contact_start[i], blocks = contacts + g->row_start[i];
    mor_row_builder b = k->rows;
    b.world_tree = g->tree_list + g->tree_start[i];
    b.rows += contacts;
    if (b.geometry) b.geometry += contacts;
    b.blocks += blocks;
    b.diagonal_start += blocks;
    b.entries += at->entries;
    b.jacobian += at->coefficients;
    b.response += at->coefficients;
    b.diagonal += at->diagonals;
    b.bias += at->rows;
    return b;
}

/* All of a system but its numbers. */
static void begin_island(writer* k, int i)
{
    const mor_island_lists* g = k->lists;
    const place* at = &k->places[i];
    mor_island* island = &k->step->islands[i];
    mor_system* s = &island->system;
    const mor_row_builder* all = &k->rows;
    const int contacts = g->contact_start[i], blocks = contacts + g->row_start[i];
    s->trees = k->trees + g->tree_start[i];
    s->nu = k->nu + at->dof;
    s->nu_free = k->nu_free + at->dof;
    s->contacts = all->rows + contacts;
    s->geometry = all->geometry ? all->geometry + contacts : NULL;
    s->block_count = s->contact_count + island->row_block_count;
    s->blocks = all->blocks + blocks;
    s->entries = all->entries + at->entries;
    s->jacobian = all->jacobian + at->coefficients;
    s->response = all->response + at->coefficients;
    s->diagonal = k->step->equations ? NULL : all->diagonal + at->diagonals;
    s->diagonal_start = all->diagonal_start + blocks;
    s->bias = island->bias = all->bias + at->rows;
    island->answer = (mor_answer){ k->answer + at->dof, k->impulses + at->rows, k->held + g->contact_start[i], NULL,
                                   k->shift + at->dof };
}

/* Rows of an island that repeats its last step are there already. */
static bool repeat_rows(writer* k, int i)
{
    const mor_island_lists* g = k->lists;
    mor_island* island = &k->step->islands[i];
    mor_system* s = &island->system;
    const mor_members members = { island->tree_of, g->contact_list + g->contact_start[i], s->tree_count,
                                  s->contact_count };
    island->kept = -1;
    if (k->step->equations || island->row_block_count > 0 || s->contact_count == 0) return false;
    int number = mor_kept_island(k->step, &members, k->rows.geometry != NULL);
    if (number < 0) return false;
    mor_kept_use(k->step, number, &members, s);
    island->kept = number;
    return true;
}

/* The impulses before the solve are those of the last step. */
static void write_guess(mor_island* island, int first, int last)
{
    const mor_system* s = &island->system;
    double* impulses = island->answer.impulses;
    for (int c = first; c < last; c++) {
        bool contact = c < s->contact_count;
        const double* from = contact ? s->contacts[c].guess : island->rows[c - s->contact_count]->memory;
        for (int d = 0; from && d < s->blocks[c].dim; d++) impulses[s->blocks[c].row + d] = from[d];
    }
}

static void write_part(void* user, int index, int worker)
{
    const writer* k = user;
    const part* p = &k->parts[index];
    const mor_island_lists* g = k->lists;
    mor_step* step = k->step;
    mor_island* island = &step->islands[p->island];
    mor_system* s = &island->system;
    const int begin = g->contact_start[p->island], end = g->contact_start[p->island + 1];
    if (p->first == begin && p->last == end) write_trees(k, p->island);
    if (island->kept >= 0) {
        write_guess(island, 0, s->block_count);
        return;
    }
    mor_row_builder b = island_rows(k, p->island);
    b.free_bodies = island->free_bodies && !step->equations;
    if (b.six) b.six += 14 * (size_t)(k->widest * worker);
    b.row_count = p->at.rows;
    b.entry_count = p->at.entries;
    b.coef_count = p->at.coefficients;
    b.diagonal_count = p->at.diagonals;
    b.contact_count = b.block_count = p->first - begin;
    for (int c = p->first; c < p->last; c++)
        mor_add_contact_rows(&b, g->contact_list[c], step->old[g->contact_list[c]]);
    if (p->last == end) {
        for (int r = 0; r < island->row_block_count; r++) mor_add_joint_rows(&b, island->rows[r]);
        s->row_count = b.row_count;
    }
    if (!step->equations) mor_fill_diagonals(&b, s, p->first - begin);
    write_guess(island, p->first - begin, b.block_count);
}

bool mor_write_islands(mor_step* step, const mor_island_lists* g)
{
    mor_world* w = step->w;
    writer k = { .step = step, .lists = g };
    if (!make_arrays(&k)) return false;
    const mor_system empty = empty_system(w);
    place at = { 0 };
    for (int i = 0; i < g->count; i++) {
        mor_island* island = &step->islands[i];
        mor_system* s = &island->system;
        *s = empty;
        s->tree_count = g->tree_start[i + 1] - g->tree_start[i];
        s->contact_count = g->contact_start[i + 1] - g->contact_start[i];
        island->tree_of = g->tree_list + g->tree_start[i];
        island->rows = g->row_list + g->row_start[i];
        island->row_block_count = g->row_start[i + 1] - g->row_start[i];
        island->wide = island->row_block_count > 0 && !w->stored &&
                       mor_rows_hold(w, island->rows, island->row_block_count, step->beside);
        island->stuck = island->row_block_count > 0 && !w->stored && !island->wide && !step->beside &&
                        s->contact_count > 0 && mor_rows_stuck(w, island->rows, island->row_block_count);
        if (w->joints.count && !w->stored && !step->equations)
            mor_springs_settle(step, island->rows, island->row_block_count, island->tree_of, s->tree_count,
                               s->contact_count > 0 || island->wide);
        k.places[i] = at;
        begin_island(&k, i);
        island->free_bodies = has_free_bodies_only(w, island->tree_of, s->tree_count);
        const bool whole = repeat_rows(&k, i) || s->contact_count <= PART || !island->free_bodies;
        count_island(&k, i, whole, &at);
        if (!whole) write_trees(&k, i);
    }
    if (step->threads > 1 && g->coefficients >= WORTH) mor_workers_run(step->workers, k.part_count, write_part, &k);
    else
        for (int p = 0; p < k.part_count; p++) write_part(&k, p, 0);
    step->island_count = g->count;
    return true;
}
