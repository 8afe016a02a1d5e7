/* Worlds from frames with trees and constraints, in minimal or maximal coordinates; see bpmd_trees.c for what the two
 * are.
 *
 * Minimal: an articulated tree becomes a stored tree (model/stored.h) with the frame's M and its inverse by Cholesky
 * with one round of refinement per column; rows are the frame's on generalised velocities. Maximal: every link is a
 * free body and rows act on pairs of bodies, the joints of robots among them. Free velocities of bodies that are trees
 * of their own are the frame's in both, since springs of joints are in them. Cost: dof^3 per tree. */
#include "io/bpmd/bpmd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formulation/rows.h"
#include "linalg/dense.h"
#include "model/stored.h"

mor_world* mor_bpmd_shapes(const mor_bpmd* file, const mor_library* library)
{
    const char* text = mor_bpmd_scene_text(file);
    char name[512], lines[4096];
    const char* overrides[256];
    int count = 0;
    if (!text[0] || mor_bpmd_count(file) == 0) return NULL;
    mor_bpmd_meta_text(file, "scene_file", name, sizeof name);
    mor_bpmd_meta_text(file, "scene_overrides", lines, sizeof lines);
    for (char *rest, *line = strtok_r(lines, "\n", &rest); line && count < 255; line = strtok_r(NULL, "\n", &rest))
        overrides[count++] = line;
    overrides[count] = NULL;
    mor_scene* scene = mor_scene_parse(text, strlen(text), name[0] ? name : "scene", overrides, library, NULL);
    mor_world* w = scene ? mor_scene_build(scene, 1, NULL) : NULL;
    mor_bpmd_frame f;
    bool same = w && mor_bpmd_read(file, 0, &f, NULL) == MOR_OK;
    if (same) { /* the scene may have been changed since, or by the caller */
        same = f.body_count == w->alive_count;
        for (int i = 0; i < f.body_count && same; i++) {
            const mor_body* b = &w->bodies[w->order[i]];
            same = f.bodies[i].kind == b->kind &&
                   (b->kind != MOR_DYNAMIC || fabs(f.bodies[i].mass - b->mass.mass) <= 1e-12 * b->mass.mass);
        }
        mor_bpmd_frame_clear(&f);
    }
    mor_scene_destroy(scene);
    if (!same) mor_world_destroy(w), w = NULL;
    return w;
}

static bool inverse(int n, const double* M, double* out, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    double *L = mor_arena_alloc(arena, (size_t)n * (size_t)n * sizeof *L),
           *r = mor_arena_alloc(arena, (size_t)n * sizeof *r);
    if (!L || !r) return false;
    memcpy(L, M, (size_t)n * (size_t)n * sizeof *L);
    bool good = mor_cholesky_factor(n, L);
    for (int k = 0; k < n && good; k++) {
        double* x = out + (size_t)k * (size_t)n;
        memset(x, 0, (size_t)n * sizeof *x);
        x[k] = 1.0;
        mor_cholesky_solve(n, L, x);
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < n; i++) {
                long double sum = i == k ? 1.0L : 0.0L; /* the residual needs more digits than the numbers */
                for (int j = 0; j < n; j++) sum -= (long double)M[(size_t)i * (size_t)n + (size_t)j] * x[j];
                r[i] = (double)sum;
            }
            mor_cholesky_solve(n, L, r);
            for (int i = 0; i < n; i++) x[i] += r[i];
        }
    }
    for (int i = 0; i < n && good; i++)
        for (int j = 0; j < i; j++) {
            double *a = &out[(size_t)i * (size_t)n + (size_t)j], *b = &out[(size_t)j * (size_t)n + (size_t)i];
            *a = *b = 0.5 * (*a + *b);
        }
    mor_arena_release(arena, mark);
    return good;
}

/* Without links there is only one kind of coordinates. */
static bool maximal(const mor_bpmd_frame* f) { return f->maximal && f->link_count > 0; }

static double* copy(mor_arena* arena, const double* from, size_t n)
{
    double* to = mor_arena_alloc(arena, (n + 1) * sizeof *to);
    if (to && n) memcpy(to, from, n * sizeof *to);
    return to;
}

/* The stored trees, without the bodies of their links. */
mor_code mor_bpmd_store(mor_world* w, const mor_bpmd_frame* f, mor_error* error)
{
    if (f->tree_count == 0 && f->constraint_count == 0) return MOR_OK;
    mor_arena* arena = mor_arena_create(NULL);
    mor_stored* s = arena ? mor_arena_zero(arena, 1, sizeof *s) : NULL;
    if (s) s->trees = mor_arena_zero(arena, (size_t)f->tree_count + 1, sizeof *s->trees);
    if (!s || !s->trees) {
        mor_arena_destroy(arena);
        return mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    s->arena = arena;
    w->stored = s;
    if (maximal(f)) return MOR_OK;
    const double* M = f->mass;
    int offset = 0;
    for (int t = 0; t < f->tree_count; t++) {
        size_t n = (size_t)f->trees[t].dof, links = 0, at = 0;
        offset += (int)n;
        if (!f->trees[t].articulated) continue;
        mor_stored_tree* to = &s->trees[s->tree_count++];
        for (int i = 0; i < f->body_count; i++) links += f->bodies[i].tree == t && f->bodies[i].link >= 0;
        double* J = mor_arena_alloc(arena, (6 * links * n + 1) * sizeof *J);
        double* inv = mor_arena_alloc(arena, (n * n + 1) * sizeof *inv);
        const double* from = f->link_jacobian;
        for (int i = 0; i < f->body_count && J; i++) {
            if (f->bodies[i].link < 0) continue;
            size_t count = 6 * (size_t)f->trees[f->bodies[i].tree].dof;
            if (f->bodies[i].tree == t) memcpy(J + at, from, count * sizeof *J), at += count;
            from += count;
        }
        *to = (mor_stored_tree){ .dof = (int)n,
                                 .mass = copy(arena, M, n * n),
                                 .inverse = inv,
                                 .nu = copy(arena, f->nu + offset - n, n),
                                 .nu_free = copy(arena, f->nu_free + offset - n, n),
                                 .links = J };
        if (!J || !inv || !to->mass || !to->nu || !to->nu_free) return mor_fail(error, MOR_SYSTEM, "out of memory");
        if (!inverse((int)n, M, inv, arena))
            return mor_fail(error, MOR_BAD_INPUT, "%s/trees/mass: the mass matrix of tree %d is not positive definite",
                            f->name, t);
        M += n * n;
    }
    return MOR_OK;
}

/* One row block of the world from rows of the frame. `map`: frame tree -> the world's. */
static mor_code make_minimal(const mor_world* w, const mor_bpmd_frame* f, const mor_bpmd_constraint* c, const int* map,
                             mor_row_block* b, mor_error* error)
{
    int offset[3] = { 0 }, n = 0;
    for (int d = 0; d < c->rows; d++) {
        const mor_bpmd_row* row = &f->rows[c->row + d];
        for (int k = row->start; k < row->start + row->count; k++) {
            int t = 0, at = 0;
            while (t < f->tree_count && at + f->trees[t].dof <= f->columns[k]) at += f->trees[t++].dof;
            int slot = 0;
            while (slot < n && b->tree[slot] != map[t]) slot++;
            if (slot == 3)
                return mor_fail(error, MOR_BAD_INPUT, "%s/constraints/jacobian: row %d acts on more than three trees",
                                f->name, c->row + d);
            if (slot == n) {
                b->tree[n] = map[t];
                offset[n] = at;
                b->J[n] = mor_arena_zero(w->stored->arena, (size_t)c->rows * (size_t)f->trees[t].dof, sizeof(double));
                if (!b->J[n++]) return mor_fail(error, MOR_SYSTEM, "out of memory");
            }
            b->J[slot][d * w->trees[b->tree[slot]].dof + f->columns[k] - offset[slot]] = f->values[k];
        }
    }
    return n ? MOR_OK
             : mor_fail(error, MOR_BAD_INPUT, "%s/constraints/jacobian: constraint with row %d acts on nothing",
                        f->name, c->row);
}

static mor_code make_maximal(const mor_world* w, const mor_bpmd_frame* f, const mor_bpmd_constraint* c,
                             mor_row_block* b, mor_error* error)
{
    int n = 0;
    for (int side = 0; side < 2; side++) {
        int tree = c->body[side] < 0 ? -1 : w->bodies[w->order[c->body[side]]].tree;
        if (tree < 0) continue;
        if (w->trees[tree].dof != 6)
            return mor_fail(error, MOR_BAD_INPUT, "%s/constraints/pairs: joints of planar bodies cannot be rebuilt",
                            f->name);
        b->tree[n] = tree;
        b->J[n] = mor_arena_zero(w->stored->arena, (size_t)(6 * c->rows), sizeof(double));
        if (!b->J[n]) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (int d = 0; d < c->rows; d++) {
            if (isnan(f->rows[c->row + d].body[0]))
                return mor_fail(error, MOR_BAD_INPUT,
                                "%s/constraints/Jacobian: row %d acts on more than two bodies (a mimic joint?): this "
                                "frame has minimal coordinates only",
                                f->name, c->row + d);
            memcpy(b->J[n] + 6 * d, f->rows[c->row + d].body + 6 * side, 6 * sizeof(double));
        }
        n++;
    }
    return n ? MOR_OK
             : mor_fail(error, MOR_BAD_INPUT, "%s/constraints/pairs: row %d: neither body can move", f->name, c->row);
}

/* Rows that bodies that do not follow forces contribute to (kinematic ones move): the bias has them in minimal form
 * already. */
mor_code mor_bpmd_store_rows(mor_world* w, const mor_bpmd_frame* f, mor_error* error)
{
    mor_stored* s = w->stored;
    if (!s) return MOR_OK;
    s->rows = mor_arena_zero(s->arena, (size_t)f->constraint_count + 1, sizeof *s->rows);
    int* map = mor_arena_alloc(s->arena, ((size_t)f->tree_count + 1) * sizeof *map);
    double* nu_free = mor_arena_alloc(s->arena, ((size_t)f->dof + 6 * (size_t)f->body_count + 1) * sizeof *nu_free);
    double* memory = mor_arena_alloc(s->arena, ((size_t)f->row_count + 1) * sizeof *memory);
    if (!s->rows || !map || !nu_free || !memory) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int t = 0, k = 0; t < f->tree_count; t++) {
        map[t] = -1;
        if (!f->trees[t].articulated || maximal(f)) continue;
        const mor_stored_tree* stored = &s->trees[k++];
        for (int i = 0; i < w->tree_count; i++)
            if (w->trees[i].stored == stored) map[t] = i;
        if (map[t] >= 0) continue;
        /* a tree without bodies: the spring of a joint */
        if (!mor_world_reserve_tree(w)) return mor_fail(error, MOR_SYSTEM, "out of memory");
        map[t] = w->tree_count++;
        w->trees[map[t]] = (mor_tree){ .kind = &mor_tree_stored, .body = -1, .dof = f->trees[t].dof, .stored = stored };
    }
    for (int i = 0; i < f->body_count; i++)
        if (f->tree_count && f->bodies[i].tree >= 0) map[f->bodies[i].tree] = w->bodies[w->order[i]].tree;
    int total = 0, offset = 0;
    for (int t = 0; t < w->tree_count; t++) total += w->trees[t].dof;
    for (int k = 0; k < total; k++) nu_free[k] = NAN;
    for (int t = 0; t < f->tree_count; offset += f->trees[t++].dof) {
        if (f->trees[t].articulated || map[t] < 0) continue;
        int at = 0;
        for (int k = 0; k < map[t]; k++) at += w->trees[k].dof;
        memcpy(nu_free + at, f->nu_free + offset, (size_t)f->trees[t].dof * sizeof *nu_free);
    }
    s->nu_free = f->tree_count ? nu_free : NULL;
    bool sparse = f->tree_count && !maximal(f);
    for (int i = 0; i < f->constraint_count; i++) {
        const mor_bpmd_constraint* c = &f->constraints[i];
        if (sparse && c->kind == MOR_BPMD_LINK) continue;
        mor_row_block* b = &s->rows[s->row_count];
        *b = (mor_row_block){ .kind = c->kind == MOR_BPMD_BOUNDED ? MOR_BLOCK_BOUNDED : MOR_BLOCK_EQUATION,
                              .dim = c->rows,
                              .tree = { -1, -1, -1 },
                              .joint = -1 };
        mor_code code = sparse ? make_minimal(w, f, c, map, b, error) : make_maximal(w, f, c, b, error);
        if (code) return code;
        for (int d = 0; d < c->rows; d++) {
            const mor_bpmd_row* row = &f->rows[c->row + d];
            b->bias[d] = row->bias;
            b->phi[d] = row->violation;
            memory[c->row + d] = row->guess;
        }
        b->lower = f->rows[c->row].lower;
        b->upper = f->rows[c->row].upper;
        b->memory = memory + c->row;
        s->row_count++;
    }
    return MOR_OK;
}
