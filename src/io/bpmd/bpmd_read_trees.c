/* Reading trees and constraints of BPMD frames.
 *
 * Our files have both forms of every row (bpmd_trees.c). Files of others have rows on pairs of bodies only: J v + phi/h
 * = 0 within bounds; rows with infinite bounds are equations, and their joints are rebuilt in maximal coordinates.
 * Bounds of the ODE fork are forces and become impulses by the step. Every size and number is checked against the rest
 * of the frame first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/bpmd/bpmd_reader.h"

enum { MOST = 50000000 };

/* `count` numbers in memory of their own. */
static double* take(mor_bpmd_reader* r, const char* name, const char* other, size_t count, bool any)
{
    if (r->code) return NULL;
    double *kept = r->table, *data = malloc((count + 1) * sizeof *data);
    if (!data) {
        r->code = mor_fail(r->error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    r->table = data;
    if (any) {
        mor_bpmd_find(r, name, other);
        r->code = mor_h5_read_all(&r->file->h5, r->path, MOR_H5_DOUBLE, count, data, r->error);
    } else mor_bpmd_numbers(r, name, other, count, false);
    r->table = kept;
    return data;
}

static int* take_integers(mor_bpmd_reader* r, const char* name, size_t count)
{
    if (r->code) return NULL;
    int *kept = r->integers, *data = malloc((count + 1) * sizeof *data);
    if (!data) {
        r->code = mor_fail(r->error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    r->integers = data;
    mor_bpmd_integers(r, name, count);
    r->integers = kept;
    return data;
}

/* Two-dimensional ones, turned where another writer has turned them. */
static double* take_table(mor_bpmd_reader* r, const char* name, const char* other, size_t rows, size_t cols)
{
    double* data = take(r, name, other, rows * cols, true);
    if (!r->code && mor_bpmd_is_transposed(r, rows, cols)) mor_bpmd_turn(r, data, sizeof *data, rows, cols);
    return data;
}

static int* take_pairs(mor_bpmd_reader* r, const char* name, size_t rows)
{
    int* data = take_integers(r, name, 2 * rows);
    if (!r->code && mor_bpmd_is_transposed(r, rows, 2)) mor_bpmd_turn(r, data, sizeof *data, rows, 2);
    return data;
}

static void fail(mor_bpmd_reader* r, const char* what)
{
    if (!r->code) r->code = mor_fail(r->error, MOR_BAD_INPUT, "%s:%s: %s", r->file->h5.path, r->path, what);
}

/* ----------------------------------------------------------------------------------- trees */

/* Which tree each body is on; links of articulated trees are counted. */
static void read_members(mor_bpmd_reader* r, size_t* jacobian)
{
    mor_bpmd_frame* f = r->frame;
    int* tree = take_integers(r, "bodies/tree", (size_t)f->body_count);
    *jacobian = 0;
    for (int i = 0; i < f->body_count && !r->code; i++) {
        mor_bpmd_body* b = &f->bodies[i];
        if (tree[i] < -1 || tree[i] >= f->tree_count || (tree[i] >= 0) != (b->kind == MOR_DYNAMIC))
            mor_bpmd_complain(r, (size_t)i, "there is no such tree for this body");
        else if (tree[i] >= 0 && !f->trees[tree[i]].articulated && f->trees[tree[i]].dof != b->dof)
            mor_bpmd_complain(r, (size_t)i, "the tree of this body has another number of degrees of freedom");
        if (r->code) break;
        b->tree = tree[i];
        if (tree[i] < 0 || !f->trees[tree[i]].articulated) continue;
        b->link = f->link_count++;
        *jacobian += 6 * (size_t)f->trees[tree[i]].dof;
    }
    free(tree);
}

void mor_bpmd_read_trees(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    for (int i = 0; i < f->body_count; i++) f->bodies[i].tree = f->bodies[i].link = -1;
    if (r->file->dialect != MOR_BPMD_MOREAU || !mor_bpmd_find(r, "trees/dof", NULL)) return;
    size_t n = mor_bpmd_points_of(r, "trees/dof", NULL), mass = 0, jacobian = 0;
    int *dof = take_integers(r, "trees/dof", n), *articulated = take_integers(r, "trees/articulated", n),
        *q = take_integers(r, "trees/q_count", n);
    f->trees = calloc(n + 1, sizeof *f->trees);
    if (!r->code && !f->trees) r->code = mor_fail(r->error, MOR_SYSTEM, "out of memory");
    for (size_t t = 0; t < n && !r->code; t++) {
        mor_bpmd_find(r, "trees/dof", NULL);
        if (dof[t] < 0 || dof[t] > 4096 || f->dof > MOST)
            mor_bpmd_complain(r, t, "this number of degrees of freedom cannot be");
        if (q[t] < 0 || q[t] > 8192)
            mor_bpmd_find(r, "trees/q_count", NULL), mor_bpmd_complain(r, t, "this number of coordinates cannot be");
        if (r->code) break;
        f->trees[t] = (mor_bpmd_tree){ dof[t], articulated[t] != 0, f->q_count, q[t] };
        f->dof += dof[t];
        f->q_count += q[t];
        if (articulated[t]) mass += (size_t)dof[t] * (size_t)dof[t];
        if (mass > MOST) mor_bpmd_complain(r, t, "the trees are too large");
    }
    free(dof);
    free(articulated);
    free(q);
    if (r->code) return;
    f->tree_count = (int)n;
    read_members(r, &jacobian);
    f->mass = take(r, "trees/mass", NULL, mass, false);
    f->nu = take(r, "trees/nu", NULL, (size_t)f->dof, false);
    f->nu_free = take(r, "trees/nu_free", NULL, (size_t)f->dof, false);
    if (!r->code && mor_bpmd_find(r, "trees/nu_new", NULL))
        f->nu_new = take(r, "trees/nu_new", NULL, (size_t)f->dof, false);
    f->q = take(r, "trees/q", NULL, (size_t)f->q_count, false);
    f->link_jacobian = take(r, "bodies/jacobian", NULL, jacobian, false);
}

/* ----------------------------------------------------------------------------- constraints */

/* The rows on generalised velocities. */
static void read_sparse(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    size_t m = (size_t)f->row_count;
    int* p = take_integers(r, "constraints/jacobian/p", m + 1);
    for (size_t i = 0; i < m && !r->code; i++)
        if (p[0] != 0 || p[i + 1] < p[i] || p[i + 1] > MOST) mor_bpmd_complain(r, i, "positions must rise from 0");
    size_t count = r->code ? 0 : (size_t)p[m];
    f->columns = take_integers(r, "constraints/jacobian/i", count);
    for (size_t k = 0; k < count && !r->code; k++)
        if (f->columns[k] < 0 || f->columns[k] >= f->dof)
            mor_bpmd_complain(r, k, "there is no such generalised velocity");
    f->values = take(r, "constraints/jacobian/x", NULL, count, false);
    for (size_t i = 0; i < m && !r->code; i++) f->rows[i].start = p[i], f->rows[i].count = p[i + 1] - p[i];
    free(p);
}

/* Kinds and rows of every constraint; foreign rows with bounds become constraints of one row each. */
static void split(mor_bpmd_reader* r, size_t n, const int* rows, const int* kinds, const int* pairs)
{
    mor_bpmd_frame* f = r->frame;
    int at = 0;
    for (size_t i = 0; i < n && !r->code; i++) {
        int body[2];
        bool moves = false;
        mor_bpmd_find(r, "constraints/pairs", NULL);
        for (int s = 0; s < 2; s++) {
            body[s] = mor_bpmd_body_index(f, pairs[2 * i + (size_t)s]);
            if (body[s] == -2) mor_bpmd_complain(r, i, "there is no body with this id");
            else moves = moves || (body[s] >= 0 && f->bodies[body[s]].kind == MOR_DYNAMIC);
        }
        bool pair = body[0] >= 0 || body[1] >= 0;
        if (pair && body[0] == body[1]) mor_bpmd_complain(r, i, "a joint cannot hold a body to itself");
        else if (pair && !moves) mor_bpmd_complain(r, i, "neither body can move");
        else if (!pair && f->tree_count == 0) mor_bpmd_complain(r, i, "a joint needs a body");
        for (int k = 0; k < rows[i] && !r->code;) {
            bool equation = kinds ? kinds[i] != MOR_BPMD_BOUNDED : isinf(f->rows[at].lower) && isinf(f->rows[at].upper);
            int count = 1;
            while (kinds ? k + count < rows[i]
                         : equation && k + count < rows[i] && isinf(f->rows[at + count].lower) &&
                               isinf(f->rows[at + count].upper))
                count++;
            f->constraints[f->constraint_count++] = (mor_bpmd_constraint){ kinds ? (mor_bpmd_constraint_kind)kinds[i]
                                                                           : equation ? MOR_BPMD_EQUATION
                                                                                      : MOR_BPMD_BOUNDED,
                                                                           { body[0], body[1] },
                                                                           at,
                                                                           count };
            at += count;
            k += count;
        }
    }
}

void mor_bpmd_read_constraints(mor_bpmd_reader* r)
{
    mor_bpmd_frame* f = r->frame;
    if (r->code || !mor_bpmd_find(r, "constraints/pairs", NULL)) return;
    size_t n = mor_bpmd_points_of(r, "constraints/pairs", NULL), m = 0;
    if (!r->code && n % 2) fail(r, "an odd number of ids");
    n /= 2;
    if (r->code || n == 0) return;
    bool ours = r->file->dialect == MOR_BPMD_MOREAU;
    int *rows = take_integers(r, "constraints/rows", n), *pairs = take_pairs(r, "constraints/pairs", n), *kinds = NULL;
    if (!r->code && ours) kinds = take_integers(r, "constraints/kinds", n);
    for (size_t i = 0; i < n && !r->code; i++) {
        mor_bpmd_find(r, "constraints/rows", NULL);
        if (rows[i] < 1 || rows[i] > 6) mor_bpmd_complain(r, i, "a joint has 1 to 6 rows");
        if (kinds && (kinds[i] < 0 || kinds[i] > 2))
            mor_bpmd_find(r, "constraints/kinds", NULL), mor_bpmd_complain(r, i, "kinds are 0, 1 and 2");
        m += r->code ? 0 : (size_t)rows[i];
    }
    double *J = take_table(r, "constraints/Jacobian", "constraints/jacobians", m, 12), *bias = NULL, *guess = NULL,
           *impulses = NULL;
    double *phi = take(r, "constraints/violations", NULL, m, false),
           *bounds = take_table(r, "constraints/bounds", NULL, m, 2);
    if (ours)
        bias = take(r, "constraints/bias", NULL, m, false), guess = take(r, "constraints/guess", NULL, m, false),
        impulses = take(r, "constraints/impulses", NULL, m, true);
    f->constraints = calloc(m + 1, sizeof *f->constraints);
    f->rows = calloc(m + 1, sizeof *f->rows);
    if (!r->code && (!f->constraints || !f->rows)) r->code = mor_fail(r->error, MOR_SYSTEM, "out of memory");
    for (size_t i = 0; i < m && !r->code; i++) {
        double scale = ours ? 1.0 : f->h;
        f->rows[i] = (mor_bpmd_row){ .violation = phi[i],
                                     .bias = bias ? bias[i] : phi[i] / f->h,
                                     .lower = scale * bounds[2 * i],
                                     .upper = scale * bounds[2 * i + 1],
                                     .guess = guess ? guess[i] : 0.0,
                                     .impulse = impulses ? impulses[i] : 0.0 };
        memcpy(f->rows[i].body, J + 12 * i, sizeof f->rows[i].body);
        for (int k = 0; k < 12; k++)
            if (isinf(J[12 * i + (size_t)k]) || (!f->tree_count && isnan(J[12 * i + (size_t)k])))
                mor_bpmd_find(r, "constraints/Jacobian", "constraints/jacobians"),
                    mor_bpmd_complain(r, i, "finite numbers are expected");
        if (!(bounds[2 * i] <= bounds[2 * i + 1]))
            mor_bpmd_find(r, "constraints/bounds", NULL),
                mor_bpmd_complain(r, i, "the lower bound is above the upper one");
    }
    if (!r->code) f->row_count = (int)m;
    if (!r->code) split(r, n, rows, kinds, pairs);
    if (!r->code && f->tree_count) read_sparse(r);
    double* const numbers[] = { J, phi, bounds, bias, guess, impulses };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) free(numbers[i]);
    free(rows);
    free(pairs);
    free(kinds);
}
