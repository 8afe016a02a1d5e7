/* Assembly: M, G, gaps, drifts and warm starts, island by island (MATH section 1).
 *
 * Trees that touch, directly or through other trees, form an island; fixed and kinematic bodies do
 * not connect. Islands are numbered by their first tree, their trees and contacts keep world order,
 * so the systems do not depend on the order in which contacts were found.
 *
 * Contact rows for bodies 0 and 1, normal n from 0 to 1, tangents t, o and the common point
 * c = (p_0 + p_1)/2:
 *
 *     row d:  -[d; r_0 x d] on body 0,  +[d; r_1 x d] on body 1,   r_i = c - x_i
 *
 * The normal row may use c for both bodies because p_1 - p_0 is parallel to n; the friction rows must,
 * or a separated contact makes a couple and loses angular momentum. What fixed and kinematic bodies
 * contribute to d . (v_1 - v_0), and belts, goes into `drift`. Rows of joints (rows.c) come as blocks after the
 * contacts of their island. Two links of one robot give one entry.
 *
 * Cost: linear in trees and contacts, plus sorting when the contacts come unsorted. */
#include "formulation/assemble.h"

#include "formulation/rows.h"
#include "linalg/rows.h"

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

/* Bottom-up merge sort: stable, no recursion, scratch from the arena. */
static void sort_contacts(mor_world* w)
{
    mor_contact* a = w->contacts.data;
    int n = w->contacts.count;
    bool sorted = true;
    for (int i = 1; i < n && sorted; i++) sorted = compare(&a[i - 1], &a[i]) <= 0;
    if (sorted) return;
    mor_contact* b = mor_arena_alloc(w->arena, (size_t)n * sizeof *b);
    if (!b) {
        w->out_of_memory = true;
        return;
    }
    for (int width = 1; width < n; width *= 2) {
        for (int lo = 0; lo < n; lo += 2 * width) {
            int mid = lo + width < n ? lo + width : n, hi = mid + width < n ? mid + width : n;
            for (int i = lo, j = mid, k = lo; k < hi; k++)
                b[k] = i < mid && (j >= hi || compare(&a[i], &a[j]) <= 0) ? a[i++] : a[j++];
        }
        mor_contact* t = a;
        a = b;
        b = t;
    }
    if (a != w->contacts.data) memcpy(w->contacts.data, a, (size_t)n * sizeof *a);
}

/* ------------------------------------------------------------------------------- islands */

static int find_root(int* parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static const mor_body* body_of(const mor_world* w, const mor_contact* c, int side)
{
    return &w->bodies[w->order[c->body[side]]];
}

/* ---------------------------------------------------------------------------------- rows */

void mor_contact_tangents(const mor_world* w, const mor_contact* c, mor_vec3* t, mor_vec3* o)
{
    if (w->dimension == 2) {
        *t = mor_v3(-c->normal.y, c->normal.x, 0.0);
        *o = mor_v3(0.0, 0.0, 1.0);
        return;
    }
    mor_vec3 along = mor_v3(1, 0, 0);
    if (w->options.friction_align == 1) {
        mor_vec3 slip = mor_sub(mor_body_point_velocity(body_of(w, c, 1), c->point[1]),
                                mor_body_point_velocity(body_of(w, c, 0), c->point[0]));
        slip = mor_add(slip, c->surface_velocity);
        slip = mor_madd(slip, -mor_dot(slip, c->normal), c->normal);
        if (mor_norm(slip) > 1e-9) along = slip; /* slower slip has no direction worth following */
    }
    mor_tangents(c->normal, along, t, o);
}

typedef struct builder {
    mor_world* w;
    mor_contact_row* rows;
    mor_block* blocks;
    mor_entry* entries;
    double *jacobian, *response, *diagonal, *bias;
    int* diagonal_start;
    const int* local;      /* world tree -> tree within its island */
    const int* world_tree; /* and back */
    int entry_count, coef_count, diagonal_count, row_count, block_count, contact_count;
    double* six;        /* responses of the six velocities of a body (mor_tree_kind.respond6), row by row, and scratch
                           for eight */
    const mor_body* of; /* whose they are; NULL: nobody's */
} builder;

/* Y = C X, C 3 x 6, X 6 x n */
MOR_ALWAYS_INLINE void combine_six_body(int n, const double* X, const double* C, double* Y)
{
    mor_four f[18];
    for (int j = 0; j < 18; j++) f[j] = (mor_four){ C[j], C[j], C[j], C[j] };
    int i = 0;
    for (; i + 4 <= n; i += 4, X += 4) {
        const mor_four a = MOR_FOUR_AT(X), b = MOR_FOUR_AT(X + n), c = MOR_FOUR_AT(X + 2 * n);
        const mor_four x = MOR_FOUR_AT(X + 3 * n), y = MOR_FOUR_AT(X + 4 * n), z = MOR_FOUR_AT(X + 5 * n);
        MOR_FOUR_TO(Y + i) = a * f[0] + b * f[1] + c * f[2] + (x * f[3] + y * f[4] + z * f[5]);
        MOR_FOUR_TO(Y + n + i) = a * f[6] + b * f[7] + c * f[8] + (x * f[9] + y * f[10] + z * f[11]);
        MOR_FOUR_TO(Y + 2 * n + i) = a * f[12] + b * f[13] + c * f[14] + (x * f[15] + y * f[16] + z * f[17]);
    }
    for (; i < n; i++, X++)
        for (int d = 0; d < 3; d++) {
            const double* c = C + 6 * d;
            Y[d * n + i] =
                X[0] * c[0] + X[n] * c[1] + X[2 * n] * c[2] + (X[3 * n] * c[3] + X[4 * n] * c[4] + X[5 * n] * c[5]);
        }
}

MOR_WIDE_VOID(static, combine_six, (int n, const double* X, const double* C, double* Y), (n, X, C, Y))

/* Responses of the rows of a contact on one side by those of the body's six velocities: several contacts share them.
 * False: not this way. */
static bool respond_by_six(builder* k, int tree, const mor_body* b, mor_vec3 r, const mor_vec3* direction, double sign,
                           int dim, double* Y)
{
    const mor_tree* t = &k->w->trees[tree];
    if (dim != 3 || !t->kind->respond6 || !k->six) return false;
    int n = t->dof;
    if (k->of != b) { /* and turned round: six rows of n */
        double* x = k->six + 6 * n;
        k->of = NULL;
        if (!t->kind->respond6(t, b, x)) return false;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < 6; c++) k->six[c * n + i] = x[8 * i + c];
        k->of = b;
    }
    double C[18];
    for (int d = 0; d < 3; d++) {
        mor_vec3 v = mor_scale(sign, direction[d]), m = mor_cross(r, v);
        double* c = C + 6 * d;
        c[0] = v.x, c[1] = v.y, c[2] = v.z, c[3] = m.x, c[4] = m.y, c[5] = m.z;
    }
    combine_six(n, k->six, C, Y);
    return true;
}

/* Responses of a block whose Jacobian is written; closes it. `done`: entries that have theirs. */
static void finish_block(builder* k, const mor_block* block, unsigned done)
{
    for (int e = block->entry; e < block->entry + block->entry_count; e++) {
        int tree = k->world_tree[k->entries[e].tree], dof = k->w->trees[tree].dof;
        const double* J = k->jacobian + k->entries[e].start;
        double* Y = k->response + k->entries[e].start;
        for (int d = 0; d < block->dim && !(done & 1u << (e - block->entry)); d++)
            mor_tree_response(k->w, tree, J + d * dof, Y + d * dof);
    }
    k->diagonal_start[k->block_count] = k->diagonal_count;
    k->diagonal_count += block->dim * block->dim;
    k->row_count += block->dim;
    k->block_count++;
}

/* W_cc of all blocks and the approach of the contacts of an island; apart from the rows, which the processor has not
 * yet stored when they are just written. */
MOR_ALWAYS_INLINE void fill_diagonals_body(const builder* k, const mor_system* s)
{
    for (int b = 0; b < k->block_count; b++) {
        const mor_block* block = &k->blocks[b];
        int dim = block->dim;
        double* W = k->diagonal + k->diagonal_start[b];
        memset(W, 0, (size_t)(dim * dim) * sizeof *W);
        for (int e = block->entry; e < block->entry + block->entry_count; e++) {
            const mor_tree_block* t = &s->trees[k->entries[e].tree];
            const double *J = k->jacobian + k->entries[e].start, *Y = k->response + k->entries[e].start;
            if (b < k->contact_count) k->rows[b].approach += mor_inner(t->dof, J, s->nu + t->offset);
            if (dim == 3) {
                mor_gram3(t->dof, Y, J, W);
                continue;
            }
            for (int i = 0; i < dim; i++)
                for (int j = 0; j < dim; j++)
                    for (int m = 0; m < t->dof; m++) W[i * dim + j] += Y[i * t->dof + m] * J[j * t->dof + m];
        }
    }
}

MOR_WIDE_VOID(static, fill_diagonals, (const builder* k, const mor_system* s), (k, s))

/* The part of a contact's arm that keeps its direction while the body turns: the radius of round shapes. */
static mor_vec3 round_arm(const mor_body* b, const mor_contact* c, int side)
{
    if (c->shape[side] < 0 || c->shape[side] >= b->shape_count) return mor_v3(0, 0, 0);
    const mor_geometry* g = b->shapes[c->shape[side]].geometry;
    bool is_round = g->kind == MOR_SPHERE || g->kind == MOR_CAPSULE || g->kind == MOR_DISC;
    return is_round ? mor_scale(side ? -g->size[0] : g->size[0], c->normal) : mor_v3(0, 0, 0);
}

/* d/dt(G)' nu of the rows of a contact, kinematic bodies included, and the part of it that turns with the points of a
 * body about its reference point: no acceleration of the body can undo that at several points. */
static void contact_acceleration(const mor_world* w, const mor_contact* c, mor_vec3 middle, const mor_vec3 direction[3],
                                 int dim, double* out, double* centripetal)
{
    for (int side = 0; side < 2; side++) {
        const mor_body* b = body_of(w, c, side);
        mor_vec3 r = mor_sub(middle, b->x), arm = round_arm(b, c, side);
        mor_vec3 a = b->tree >= 0 ? w->trees[b->tree].kind->acceleration(&w->trees[b->tree], b, r, arm)
                                  : mor_cross(b->w, mor_cross(b->w, mor_sub(r, arm)));
        mor_vec3 from = b->robot ? mor_body_pose(b).position : b->x;
        mor_vec3 turning = mor_cross(b->w, mor_cross(b->w, mor_sub(mor_sub(middle, arm), from)));
        for (int d = 0; d < dim; d++) {
            out[d] += (side ? 1.0 : -1.0) * mor_dot(direction[d], a);
            centripetal[d] += (side ? 1.0 : -1.0) * mor_dot(direction[d], turning);
        }
    }
}

/* A contact that has stuck since an earlier step gets the velocity that takes the two points where it stuck together
 * again: what the step made of G' nu = 0 beyond first order, along the normal as the gap does. */
static void hold_anchor(const mor_world* w, mor_contact* c, const mor_contact* old, const mor_vec3* direction, int dim,
                        mor_contact_row* row)
{
    const double most = 1e-3; /* m: farther apart it is another place */
    c->anchored = old && old->anchored && dim > 1;
    if (!c->anchored) return;
    mor_vec3 apart = mor_v3(0, 0, 0);
    for (int side = 0; side < 2; side++) {
        const mor_body* b = body_of(w, c, side);
        c->anchor[side] = old->anchor[side];
        apart = mor_madd(apart, side ? 1.0 : -1.0, mor_add(b->x, mor_rotate(b->q, c->anchor[side])));
    }
    if (!(mor_norm(apart) <= most)) c->anchored = false;
    for (int d = 1; c->anchored && d < dim; d++) row->drift[d] += mor_dot(direction[d], apart) / w->h;
}

/* Adds the contact as the next block of the island under construction. */
static void add_contact(builder* k, int index, const mor_contact* old)
{
    mor_world* w = k->w;
    mor_contact* c = &((mor_contact*)w->contacts.data)[index];
    int dim = c->friction > 0.0 ? w->dimension : 1;
    mor_vec3 direction[3];
    direction[0] = c->normal;
    mor_contact_tangents(w, c, &direction[1], &direction[2]);
    mor_vec3 middle = mor_lerp(c->point[0], c->point[1], 0.5);

    mor_block* block = &k->blocks[k->block_count];
    *block = (mor_block){
        .kind = MOR_BLOCK_CONTACT, .dim = dim, .row = k->row_count, .entry = k->entry_count, .mu = c->friction
    };
    mor_contact_row* row = &k->rows[k->contact_count];
    *row = (mor_contact_row){ .contact = index,
                              .block = k->block_count,
                              .gap = c->gap,
                              .friction = c->friction,
                              .restitution = c->restitution,
                              .epsilon = ((const mor_collision_options*)w->collision_options)->epsilon,
                              .group = c->group,
                              .plane = c->plane,
                              .held = c->held,
                              .old_gap = old ? old->gap : INFINITY };
    if (w->formulation->accelerations)
        contact_acceleration(w, c, middle, direction, dim, row->acceleration, row->centripetal);
    int tree[2] = { -1, -1 };
    unsigned done = 0;
    for (int side = 0; side < 2; side++) {
        const mor_body* b = body_of(w, c, side);
        double sign = side ? 1.0 : -1.0;
        mor_vec3 r = mor_sub(middle, b->x);
        if (b->tree < 0) {
            mor_vec3 v = mor_add(b->v, mor_cross(b->w, r));
            for (int d = 0; d < dim; d++) row->drift[d] += sign * mor_dot(direction[d], v);
            row->approach += sign * mor_dot(c->normal, v);
            continue;
        }
        tree[side] = b->tree;
        const mor_tree* t = &w->trees[b->tree];
        bool same = side && tree[0] == tree[1]; /* two links of one robot: one entry */
        double* J = k->jacobian + k->coef_count;
        if (dim == 3 && t->kind->rows3) t->kind->rows3(t, b, r, direction, sign, J);
        else
            for (int d = 0; d < dim; d++) t->kind->row(t, b, r, direction[d], sign, J + d * t->dof);
        if (same) {
            double* first = J - dim * t->dof;
            for (int m = 0; m < dim * t->dof; m++) first[m] += J[m];
        } else {
            k->entries[k->entry_count++] = (mor_entry){ k->local[b->tree], k->coef_count };
            if (respond_by_six(k, b->tree, b, r, direction, sign, dim, k->response + k->coef_count))
                done |= 1u << block->entry_count;
            block->entry_count++;
            k->coef_count += dim * t->dof;
        }
        if (same) done = 0;
    }
    finish_block(k, block, done);
    for (int d = 1; d < dim; d++) row->drift[d] += mor_dot(direction[d], c->surface_velocity);
    if (w->options.sticking) hold_anchor(w, c, old, direction, dim, row);
    if (old) {
        row->guess[0] = old->normal_impulse;
        for (int d = 1; d < dim; d++) row->guess[d] = mor_dot(old->impulse, direction[d]);
    }
    k->contact_count++;
}

/* Adds a block of joint rows. */
static void add_rows(builder* k, const mor_row_block* from)
{
    mor_block* block = &k->blocks[k->block_count];
    *block = (mor_block){ .kind = from->kind,
                          .dim = from->dim,
                          .row = k->row_count,
                          .entry = k->entry_count,
                          .lower = from->lower,
                          .upper = from->upper };
    for (int i = 0; i < 3 && from->tree[i] >= 0; i++) {
        int dof = k->w->trees[from->tree[i]].dof;
        memcpy(k->jacobian + k->coef_count, from->J[i], (size_t)(from->dim * dof) * sizeof(double));
        k->entries[k->entry_count++] = (mor_entry){ k->local[from->tree[i]], k->coef_count };
        block->entry_count++;
        k->coef_count += from->dim * dof;
    }
    memcpy(k->bias + k->row_count, from->bias, (size_t)from->dim * sizeof(double));
    finish_block(k, block, 0);
}

/* ------------------------------------------------------------------------------ assembly */

enum { MASS_DOF = 512, INVERSE_DOF = 64 }; /* trees that give products cheaply have no larger dense blocks */

/* Room for a tree's mass block. */
static int block_size(const mor_tree* t) { return t->kind->fill && t->dof > MASS_DOF ? 0 : t->dof * t->dof; }

/* Velocities, free velocities and mass blocks of every tree. */
static bool prepare_trees(mor_world* w)
{
    int dof = 0, mass = 0;
    w->mass_start = mor_arena_alloc(w->arena, (size_t)w->tree_count * sizeof(int));
    if (!w->mass_start) return false;
    for (int i = 0; i < w->tree_count; i++) {
        w->trees[i].offset = dof;
        w->trees[i].share = 1.0;
        w->mass_start[i] = mass;
        dof += w->trees[i].dof;
        mass += block_size(&w->trees[i]);
    }
    w->dof = dof;
    w->nu = mor_arena_alloc(w->arena, (size_t)dof * sizeof(double));
    w->nu_free = mor_arena_alloc(w->arena, (size_t)dof * sizeof(double));
    w->nu_new = mor_arena_alloc(w->arena, (size_t)dof * sizeof(double));
    w->mass = mor_arena_alloc(w->arena, (size_t)mass * sizeof(double));
    w->mass_inverse = mor_arena_alloc(w->arena, (size_t)mass * sizeof(double));
    if (!w->nu || !w->nu_free || !w->nu_new || !w->mass || !w->mass_inverse) return false;
    for (int i = 0; i < w->tree_count; i++) {
        const mor_tree* t = &w->trees[i];
        t->kind->prepare(w, t, w->nu + t->offset, w->nu_free + t->offset, w->mass + w->mass_start[i],
                         w->mass_inverse + w->mass_start[i]);
    }
    memcpy(w->nu_new, w->nu_free, (size_t)dof * sizeof(double));
    return true;
}

/* The contact of the last step with the same bodies, shapes and feature, or NULL. */
static const mor_contact* remembered(const mor_world* w, const mor_contact* c, int* cursor)
{
    const mor_contact* old = w->old_contacts.data;
    while (*cursor < w->old_contacts.count && compare(&old[*cursor], c) < 0) ++*cursor;
    return *cursor < w->old_contacts.count && compare(&old[*cursor], c) == 0 ? &old[*cursor] : NULL;
}

/* The system of an island whose springs have found their place in it. */
static mor_system* settle(mor_world* w, int i, mor_row_block* const* rows, const int* row_start, const int* trees,
                          const int* tree_start, const int* contact_start)
{
    if (w->joints.count && !w->stored)
        mor_springs_settle(w, rows + row_start[i], row_start[i + 1] - row_start[i], trees + tree_start[i],
                           tree_start[i + 1] - tree_start[i], contact_start[i + 1] > contact_start[i]);
    return &w->islands[i].system;
}

void mor_assemble(mor_world* w)
{
    int nt = w->tree_count, nc, nr;
    mor_row_block* extra;
    w->island_count = 0;
    sort_contacts(w);
    if (w->out_of_memory || !prepare_trees(w) || !mor_collect_rows(w, &extra, &nr)) goto no_memory;
    nc = w->contacts.count;
    if (nc + nr == 0) return;
    const mor_contact* contacts = w->contacts.data;

    /* label the islands */
    int* parent = mor_arena_alloc(w->arena, (size_t)nt * sizeof *parent);
    int* label = mor_arena_alloc(w->arena, (size_t)nt * sizeof *label); /* tree -> island or -1 */
    int* local = mor_arena_alloc(w->arena, (size_t)nt * sizeof *local); /* tree -> index in island */
    int* tree_start = mor_arena_zero(w->arena, (size_t)nt + 1, sizeof *tree_start);
    int* tree_list = mor_arena_alloc(w->arena, (size_t)nt * sizeof *tree_list);
    int* contact_start = mor_arena_zero(w->arena, (size_t)nt + 1, sizeof *contact_start);
    int* contact_list = mor_arena_alloc(w->arena, (size_t)nc * sizeof *contact_list);
    int* row_start = mor_arena_zero(w->arena, (size_t)nt + 1, sizeof *row_start);
    mor_row_block** row_list = mor_arena_alloc(w->arena, (size_t)nr * sizeof *row_list);
    const mor_contact** old = mor_arena_alloc(w->arena, (size_t)nc * sizeof *old);
    bool* touched = mor_arena_zero(w->arena, (size_t)nt, sizeof *touched);
    if (!parent || !label || !local || !tree_start || !tree_list || !contact_start || !contact_list || !old ||
        !touched || !row_start || !row_list)
        goto no_memory;
    for (int i = 0; i < nt; i++) parent[i] = i;
    int cursor = 0, coefs = 0;
    for (int i = 0; i < nc; i++) {
        old[i] = remembered(w, &contacts[i], &cursor);
        int a = body_of(w, &contacts[i], 0)->tree, b = body_of(w, &contacts[i], 1)->tree;
        if (a >= 0) touched[a] = true, coefs += 3 * w->trees[a].dof;
        if (b >= 0) touched[b] = true, coefs += 3 * w->trees[b].dof;
        if (a >= 0 && b >= 0) {
            int ra = find_root(parent, a), rb = find_root(parent, b);
            if (ra < rb) parent[rb] = ra;
            else parent[ra] = rb;
        }
    }
    int row_total = 3 * nc, diagonals = 9 * nc;
    for (int i = 0; i < nr; i++) {
        row_total += extra[i].dim;
        diagonals += extra[i].dim * extra[i].dim;
        for (int t = 0; t < 3 && extra[i].tree[t] >= 0; t++) {
            touched[extra[i].tree[t]] = true;
            coefs += extra[i].dim * w->trees[extra[i].tree[t]].dof;
            int ra = find_root(parent, extra[i].tree[0]), rb = find_root(parent, extra[i].tree[t]);
            if (ra < rb) parent[rb] = ra;
            else parent[ra] = rb;
        }
    }
    int islands = 0;
    for (int i = 0; i < nt; i++) {
        int root = find_root(parent, i); /* the smallest tree of the island, so it is labelled first */
        label[i] = !touched[i] ? -1 : root == i ? islands++ : label[root];
        if (label[i] >= 0) tree_start[label[i] + 1]++;
    }
    for (int i = 0; i < nc; i++) {
        int a = body_of(w, &contacts[i], 0)->tree, b = body_of(w, &contacts[i], 1)->tree;
        contact_start[label[a >= 0 ? a : b] + 1]++;
    }
    for (int i = 0; i < nr; i++) row_start[label[extra[i].tree[0]] + 1]++;
    for (int i = 0; i < islands; i++) {
        row_start[i + 1] += row_start[i];
        tree_start[i + 1] += tree_start[i];
        contact_start[i + 1] += contact_start[i];
    }
    int* tree_fill = mor_arena_alloc(w->arena, (size_t)(islands + 1) * sizeof *tree_fill);
    int* contact_fill = mor_arena_alloc(w->arena, (size_t)(islands + 1) * sizeof *contact_fill);
    int* row_fill = mor_arena_alloc(w->arena, (size_t)(islands + 1) * sizeof *row_fill);
    if (!tree_fill || !contact_fill || !row_fill) goto no_memory;
    memcpy(row_fill, row_start, (size_t)islands * sizeof *row_fill);
    for (int i = 0; i < nr; i++) row_list[row_fill[label[extra[i].tree[0]]]++] = &extra[i];
    memcpy(tree_fill, tree_start, (size_t)islands * sizeof *tree_fill);
    memcpy(contact_fill, contact_start, (size_t)islands * sizeof *contact_fill);
    for (int i = 0; i < nt; i++)
        if (label[i] >= 0) {
            local[i] = tree_fill[label[i]] - tree_start[label[i]];
            tree_list[tree_fill[label[i]]++] = i;
        }
    for (int i = 0; i < nc; i++) {
        int a = body_of(w, &contacts[i], 0)->tree, b = body_of(w, &contacts[i], 1)->tree;
        contact_list[contact_fill[label[a >= 0 ? a : b]]++] = i;
    }

    /* write the systems */
    size_t n = (size_t)(nc + nr);
    builder k = { .w = w, .local = local };
    k.rows = mor_arena_alloc(w->arena, n * sizeof *k.rows);
    k.blocks = mor_arena_alloc(w->arena, n * sizeof *k.blocks);
    k.entries = mor_arena_alloc(w->arena, 3 * n * sizeof *k.entries);
    k.jacobian = mor_arena_alloc(w->arena, (size_t)coefs * sizeof(double));
    k.response = mor_arena_alloc(w->arena, (size_t)coefs * sizeof(double));
    k.diagonal = mor_arena_alloc(w->arena, (size_t)diagonals * sizeof(double));
    k.bias = mor_arena_zero(w->arena, (size_t)row_total, sizeof(double));
    k.diagonal_start = mor_arena_alloc(w->arena, n * sizeof(int));
    int widest = 0;
    for (int i = 0; i < nt; i++)
        if (w->trees[i].kind->respond6 && w->trees[i].dof > widest) widest = w->trees[i].dof;
    k.six = widest ? mor_arena_alloc(w->arena, 14 * (size_t)widest * sizeof(double)) : NULL;
    w->islands = mor_arena_zero(w->arena, (size_t)islands, sizeof *w->islands);
    mor_tree_block* blocks = mor_arena_alloc(w->arena, (size_t)nt * sizeof *blocks);
    double* nu = mor_arena_alloc(w->arena, (size_t)w->dof * sizeof(double));
    double* nu_free = mor_arena_alloc(w->arena, (size_t)w->dof * sizeof(double));
    double* answer_nu = mor_arena_alloc(w->arena, (size_t)w->dof * sizeof(double));
    double* impulses = mor_arena_zero(w->arena, (size_t)row_total, sizeof(double));
    bool* held = mor_arena_zero(w->arena, (size_t)nc, sizeof(bool));
    if (!k.rows || !k.blocks || !k.entries || !k.jacobian || !k.response || !k.diagonal || !k.bias ||
        !k.diagonal_start || !w->islands || !blocks || !nu || !nu_free || !answer_nu || !impulses || !held)
        goto no_memory;

    double v_rest = w->options.v_rest >= 0.0 ? w->options.v_rest : 2.0 * mor_norm(w->gravity) * w->h;
    for (int i = 0; i < islands; i++) {
        mor_system* s = settle(w, i, row_list, row_start, tree_list, tree_start, contact_start);
        *s = (mor_system){ .h = w->h,
                           .time = w->time,
                           .gravity = w->gravity,
                           .dimension = w->dimension,
                           .world = w,
                           .v_rest = v_rest,
                           .directions = w->options.friction_directions,
                           .tree_count = tree_start[i + 1] - tree_start[i],
                           .trees = blocks,
                           .nu = nu,
                           .nu_free = nu_free,
                           .contact_count = contact_start[i + 1] - contact_start[i],
                           .contacts = k.rows };
        w->islands[i].tree_of = k.world_tree = tree_list + tree_start[i];
        w->islands[i].rows = row_list + row_start[i];
        w->islands[i].row_block_count = row_start[i + 1] - row_start[i];
        for (int t = 0; t < s->tree_count; t++) {
            int tree = tree_list[tree_start[i] + t], dof = w->trees[tree].dof, from = w->trees[tree].offset;
            blocks[t] =
                (mor_tree_block){ dof, s->dof, w->mass + w->mass_start[tree], w->mass_inverse + w->mass_start[tree] };
            if (w->trees[tree].kind->fill) {
                if (dof > MASS_DOF) blocks[t].mass = NULL;
                if (dof > INVERSE_DOF || !(w->formulation->mass_inverse || w->on_solve)) blocks[t].mass_inverse = NULL;
                w->trees[tree].kind->fill(w, &w->trees[tree], (double*)blocks[t].mass, (double*)blocks[t].mass_inverse);
            }
            memcpy(nu + s->dof, w->nu + from, (size_t)dof * sizeof(double));
            memcpy(nu_free + s->dof, w->nu_new + from, (size_t)dof * sizeof(double));
            s->dof += dof;
        }
        /* numbers in the blocks are relative to the island: shift the pools, restart the counters */
        k.of = NULL;
        k.entry_count = k.coef_count = k.diagonal_count = k.row_count = k.block_count = k.contact_count = 0;
        for (int c = contact_start[i]; c < contact_start[i + 1]; c++)
            add_contact(&k, contact_list[c], old[contact_list[c]]);
        for (int r = row_start[i]; r < row_start[i + 1]; r++) add_rows(&k, row_list[r]);
        fill_diagonals(&k, s);
        s->block_count = k.block_count;
        s->row_count = k.row_count;
        s->blocks = k.blocks;
        s->entries = k.entries;
        s->jacobian = k.jacobian;
        s->response = k.response;
        s->diagonal = k.diagonal;
        s->diagonal_start = k.diagonal_start;
        s->bias = k.bias;
        w->islands[i].answer = (mor_answer){ answer_nu, impulses, held };
        memcpy(answer_nu, nu_free, (size_t)s->dof * sizeof(double));
        for (int c = 0; c < k.contact_count; c++)
            for (int d = 0; d < k.blocks[c].dim; d++) impulses[k.blocks[c].row + d] = k.rows[c].guess[d];
        for (int c = k.contact_count; c < k.block_count; c++) {
            const double* memory = w->islands[i].rows[c - k.contact_count]->memory;
            for (int d = 0; memory && d < k.blocks[c].dim; d++) impulses[k.blocks[c].row + d] = memory[d];
        }
        blocks += s->tree_count;
        nu += s->dof;
        nu_free += s->dof;
        answer_nu += s->dof;
        impulses += k.row_count;
        k.bias += k.row_count;
        held += k.contact_count;
        k.rows += k.contact_count;
        k.blocks += k.block_count;
        k.entries += k.entry_count;
        k.jacobian += k.coef_count;
        k.response += k.coef_count;
        k.diagonal += k.diagonal_count;
        k.diagonal_start += k.block_count;
    }
    w->island_count = islands;
    return;

no_memory:
    w->out_of_memory = true;
}
