/* (A_p + A_u W) dp = -A_u (du_0 + G' dV) - g dmu,   W = G' M^-1 G,   dnu+ = dV + M^-1 G dp,   for all columns at once.
 *
 * Contacts that hold two bodies to each other are one block of six equations (patch.h). So a stack of boxes has a
 * matrix of full rank, half as large, and LU within its envelope will do (linalg/envelope.c). What du_0 has outside of
 * the range of a patch cannot be followed (`torn`).
 *
 * Otherwise redundant contacts make the matrix singular. Then the shortest answer is taken (linalg/least_norm.c): dp is
 * not unique, but dnu+ is, unless sliding contacts share their load (`many`).
 *
 * Only columns of the trees of the island and of inputs take part. They lie next to each other in memory, row by row,
 * and one more with them: S^-1 of about 1 m/s, which tells how far the matrix is from singular. */
#include "derivative/active.h"
#include "derivative/patch.h"
#include "derivative/pull.h"

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/envelope.h"

#include <string.h>

#define SINGULAR 1e-9 /* least pivot over largest: below, ranks are looked at */
#define RANK 1e-11
#define AMPLE 1e4 /* m/s */

/* One side of a block: J and Y = M^-1 J' of a tree, column-major: J dim x dof, Y dof x dim. */
typedef struct part {
    int at, dof; /* first of its rows in V */
    double *J, *Y;
} part;

typedef struct block {
    int row, dim, count; /* first row of the reduced system; parts */
    int first, last;     /* kept blocks it stands for */
    part parts[3];
    const mor_law* law; /* NULL: du = 0 */
    mor_patch* patch;   /* NULL: one kept block */
} block;

typedef struct reduced {
    mor_derivation* d;
    block* blocks;
    int count, size;
    int *columns, width; /* those that take part; the test stands behind them */
    int* index;          /* column -> where it is, -1: not here */
    const int* trees;    /* of the island */
    int tree_count, rows;
    int* tree_row; /* tree -> its first row in V */
    double* V;     /* rows x (width + 1), row-major */
    double* U;     /* size x (width + 1) */
} reduced;

/* The part of a law that rows beyond three do not have: equations hold. */
static double law_p(const block* b, int i, int j) { return b->law ? b->law->A_p[i * b->dim + j] : 0.0; }
static double law_u(const block* b, int i, int j) { return b->law ? b->law->A_u[i * b->dim + j] : i == j; }

void mor_active_velocity(const mor_derivation* d, const mor_kept* k, const double* v, double* u)
{
    const mor_island* it = &d->base->islands[k->island];
    const mor_system* s = &it->system;
    const mor_block* b = &s->blocks[k->block];
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        int dof = s->trees[s->entries[e].tree].dof;
        const double* at = v + d->base->w->trees[it->tree_of[s->entries[e].tree]].offset;
        const double* J = s->jacobian + s->entries[e].start;
        for (int i = 0; i < b->dim; i++)
            for (int m = 0; m < dof; m++) u[i] += J[i * dof + m] * at[m];
    }
}

/* ------------------------------------------------------------------------------------------- columns */

/* The trees of the island, the columns that move them, and room for these. */
static bool make_columns(reduced* x, int island, const mor_columns* c)
{
    mor_derivation* d = x->d;
    const mor_world* w = d->base->w;
    const mor_island* it = &d->base->islands[island];
    x->tree_row = mor_arena_alloc(d->arena, ((size_t)w->tree_count + 1) * sizeof *x->tree_row);
    x->columns = mor_arena_alloc(d->arena, ((size_t)c->count + 1) * sizeof *x->columns);
    x->index = mor_arena_alloc(d->arena, ((size_t)c->count + 1) * sizeof *x->index);
    if (!x->tree_row || !x->columns || !x->index) return false;
    for (int i = 0; i < w->tree_count; i++) x->tree_row[i] = -1;
    x->trees = it->tree_of, x->tree_count = it->system.tree_count;
    for (int t = 0; t < x->tree_count; t++) {
        x->tree_row[x->trees[t]] = x->rows;
        x->rows += w->trees[x->trees[t]].dof;
    }
    bool state = c->count >= 2 * d->n && !c->own;
    for (int j = 0; j < c->count; j++) {
        bool here = !state || j >= 2 * d->n || x->tree_row[d->tree[j % d->n]] >= 0;
        x->index[j] = here ? x->width : -1;
        if (here) x->columns[x->width++] = j;
    }
    return true;
}

/* V of these trees and columns, row by row: into x->V, or back. */
static void exchange_velocities(const reduced* x, mor_columns* c, bool back)
{
    const mor_derivation* d = x->d;
    size_t W = (size_t)x->width + 1;
    for (int t = 0; t < x->tree_count; t++) {
        const mor_tree* tree = &d->base->w->trees[x->trees[t]];
        double* to = x->V + (size_t)x->tree_row[x->trees[t]] * W;
        for (int j = 0; j < x->width; j++) {
            double *from = c->V + (size_t)x->columns[j] * (size_t)d->dof + tree->offset, *at = to + j;
            if (back)
                for (int i = 0; i < tree->dof; i++, at += W) from[i] = *at;
            else
                for (int i = 0; i < tree->dof; i++, at += W) *at = from[i];
        }
    }
}

/* ------------------------------------------------------------------------------------------- blocks */

/* Three rows of a contact in a patch: J += P J_c, Y += Y_c P', P 6 x 3, column-major. */
static void add_projected(const double* P, int dof, const double* J, const double* Y, part* to)
{
    mor_rows_combine(6, dof, 3, P, 1, 6, Y, dof, to->Y, dof);
    for (int m = 0; m < dof; m++) {
        double *row = to->J + 6 * m, a = J[m], b = J[m + dof], c = J[m + 2 * dof];
        if (a != 0.0 || b != 0.0 || c != 0.0)
            for (int i = 0; i < 6; i++) row[i] += P[i] * a + P[6 + i] * b + P[12 + i] * c;
    }
}

/* A single body in a patch in which nothing moves: t is the motion at its middle, turns times its length. */
static bool fill_still(const reduced* x, block* b)
{
    const mor_derivation* d = x->d;
    const mor_island* it = &d->base->islands[d->kept[b->first].island];
    const mor_system* s = &it->system;
    const mor_block* from = &s->blocks[d->kept[b->first].block];
    const mor_world* w = d->base->w;
    const mor_contact* c = (const mor_contact*)d->base->contacts.data + d->kept[b->first].contact;
    for (int e = 0; e < from->entry_count; e++) {
        const mor_tree* t = &w->trees[it->tree_of[s->entries[from->entry + e].tree]];
        if (t->kind != &mor_tree_free) return false;
    }
    for (int e = 0; e < from->entry_count; e++) {
        int tree = it->tree_of[s->entries[from->entry + e].tree];
        const mor_body* body = &w->bodies[w->trees[tree].body];
        double sign = body == &w->bodies[w->order[c->body[1]]] ? 1.0 : -1.0;
        const double* Mi = d->base->mass_inverse + d->base->mass_start[tree];
        mor_vec3 r = mor_sub(b->patch->at, body->x);
        const double arm[9] = { 0, r.z, -r.y, -r.z, 0, r.x, r.y, -r.x, 0 }; /* e_m x r, row i */
        double *J = mor_arena_zero(d->arena, 72, sizeof *J), *Y = J ? J + 36 : NULL, turn = sign * b->patch->length;
        if (!J) return false;
        for (int i = 0; i < 3; i++) {
            J[7 * i] = sign, J[21 + 7 * i] = turn;
            for (int m = 0; m < 3; m++) J[18 + i + 6 * m] = sign * arm[3 * i + m];
        }
        for (int i = 0; i < 6; i++) /* J is zero where translations meet turns */
            for (int m = 0; m < 6; m++)
                for (int j = m < 3 ? 0 : 3; j < (m < 3 ? 3 : 6); j++) Y[m + 6 * i] += Mi[6 * m + j] * J[i + 6 * j];
        b->parts[e] = (part){ x->tree_row[tree], 6, J, Y };
    }
    b->count = from->entry_count;
    return true;
}

/* J and Y of the kept blocks of a block, projected. */
static bool fill_parts(const reduced* x, block* b)
{
    mor_derivation* d = x->d;
    if (b->patch && b->patch->still && fill_still(x, b)) return true;
    for (int k = b->first; k < b->last; k++) {
        const mor_island* it = &d->base->islands[d->kept[k].island];
        const mor_system* s = &it->system;
        const mor_block* from = &s->blocks[d->kept[k].block];
        for (int e = 0; e < from->entry_count; e++) {
            const mor_entry* entry = &s->entries[from->entry + e];
            part* p = &b->parts[e];
            int dof = s->trees[entry->tree].dof;
            if (k == b->first) {
                size_t numbers = (size_t)dof * (size_t)b->dim;
                *p = (part){ x->tree_row[it->tree_of[entry->tree]], dof, NULL, NULL };
                p->J = mor_arena_zero(d->arena, numbers, sizeof *p->J);
                p->Y = mor_arena_zero(d->arena, numbers, sizeof *p->Y);
                if (!p->J || !p->Y) return false;
            }
            const double *J = s->jacobian + entry->start, *Y = s->response + entry->start;
            if (b->patch) add_projected(mor_patch_projector(b->patch) + 18 * (k - b->first), dof, J, Y, p);
            for (int r = 0; r < from->dim && !b->patch; r++)
                for (int m = 0; m < dof; m++) {
                    p->J[r + m * b->dim] = J[r * dof + m];
                    p->Y[m + r * dof] = Y[r * dof + m];
                }
        }
        b->count = from->entry_count;
    }
    return true;
}

/* The patch from kept block k on; NULL: none. */
static mor_patch* patch_from(mor_derivation* d, const mor_law* laws, int k, int last)
{
    if (d->patches && d->patch_laws == laws) return d->patch_of[k] >= 0 ? &d->patches[d->patch_of[k]] : NULL;
    int end = mor_patch_end(d, laws, k, last);
    mor_patch* own = end - k < 3 ? NULL : mor_arena_alloc(d->arena, sizeof *own);
    return own && mor_patch_make(d, k, end, own) ? own : NULL;
}

static mor_code make_blocks(reduced* x, const mor_law* laws, int first, int last)
{
    mor_derivation* d = x->d;
    x->blocks = mor_arena_zero(d->arena, (size_t)(last - first) + 1, sizeof *x->blocks);
    if (!x->blocks) return MOR_SYSTEM;
    for (int k = first; k < last;) {
        block* b = &x->blocks[x->count++];
        mor_patch* patch = patch_from(d, laws, k, last);
        *b = (block){ .row = x->size, .first = k, .last = patch ? patch->last : k + 1, .patch = patch };
        b->dim = patch ? 6 : d->kept[k].dim;
        b->law = patch || b->dim > 3 ? NULL : &laws[k];
        if (!fill_parts(x, b)) return MOR_SYSTEM;
        x->size += b->dim;
        k = b->last;
    }
    return MOR_OK;
}

/* Block (A, B) of S := A_p + A_u W, row-major; element i, j of W at W[i si + j sj]. */
static void put_block(const reduced* x, const block* A, const block* B, const double* W, int si, int sj, double* S)
{
    for (int i = 0; i < A->dim; i++) {
        double* row = S + (size_t)(A->row + i) * (size_t)x->size + B->row;
        for (int j = 0; j < B->dim; j++) {
            double sum = A->law && A == B ? law_p(A, i, j) : 0.0;
            for (int m = 0; m < A->dim && A->law; m++) sum += A->law->A_u[i * A->dim + m] * W[m * si + j * sj];
            row[j] = A->law ? sum : W[i * si + j * sj];
        }
    }
}

/* S := A_p + A_u W. W is symmetric. */
static void fill_matrix(const reduced* x, double* S)
{
    double W[36];
    for (int a = 0; a < x->count; a++)
        for (int c = a; c < x->count; c++) {
            const block *A = &x->blocks[a], *B = &x->blocks[c];
            bool any = a == c;
            memset(W, 0, sizeof W);
            for (int e = 0; e < A->count; e++)
                for (int f = 0; f < B->count; f++) {
                    const part *p = &A->parts[e], *q = &B->parts[f];
                    if (p->at != q->at) continue;
                    mor_dense_multiply_add(A->dim, B->dim, p->dof, 1.0, p->J, A->dim, q->Y, q->dof, W, A->dim);
                    any = true;
                }
            if (any) put_block(x, A, B, W, 1, A->dim, S);
            if (any && a != c) put_block(x, B, A, W, A->dim, 1, S);
        }
}

/* ----------------------------------------------------------------------------------- right-hand sides */

/* du_0 of a block in all columns. A patch in which nothing moves knows it of the state. */
static void own_changes(const reduced* x, const block* b, mor_columns* c)
{
    size_t W = (size_t)x->width + 1;
    double *to = x->U + (size_t)b->row * W, u[6];
    bool known = b->patch && b->patch->still;
    for (int j = 0; j < x->width; j++) {
        int column = x->columns[j];
        if (known && column < 2 * x->d->n) continue;
        const double* from = c->u + (size_t)column * x->d->rows + x->d->kept[b->first].row;
        if (b->patch) mor_patch_project(b->patch, from, u, &c->torn);
        for (int i = 0; i < b->dim; i++) to[(size_t)i * W + (size_t)j] = b->patch ? u[i] : from[i];
    }
    for (int k = 0; known && k < b->patch->count; k++)
        for (int i = 0; i < 6; i++)
            to[(size_t)i * W + (size_t)x->index[b->patch->columns[k]]] = b->patch->du[6 * k + i];
}

/* u := -A_u u - g dmu in all columns of a block. */
static void apply_law(const reduced* x, const block* b, const mor_columns* c, double* room)
{
    const mor_derivation* d = x->d;
    size_t W = (size_t)x->width + 1, numbers = (size_t)b->dim * W;
    double* u = x->U + (size_t)b->row * W;
    if (!b->law) {
        for (size_t i = 0; i < numbers; i++) u[i] = -u[i];
        return;
    }
    memcpy(room, u, numbers * sizeof *u);
    memset(u, 0, numbers * sizeof *u);
    double A[9];
    for (int i = 0; i < b->dim * b->dim; i++) A[i] = -b->law->A_u[i];
    mor_rows_combine(b->dim, x->width, b->dim, A, b->dim, 1, room, (ptrdiff_t)W, u, (ptrdiff_t)W);
    for (int j = 0; j < x->width; j++) {
        double mu = mor_column_mu(d, c, x->columns[j], b->first);
        for (int i = 0; i < b->dim && mu != 0.0; i++) u[(size_t)i * W + (size_t)j] -= b->law->g[i] * mu;
    }
}

/* From 1 to 2, the same for the same i, and without any law in i that a null vector could share. */
static double any_number(int i)
{
    uint32_t x = (uint32_t)i + 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return 1.0 + (double)((x ^ x >> 16) & 0xffff) / 65536.0;
}

/* The test: 1 m/s in the rows. Rows of impulses get those that give as much. */
static void fill_test(const reduced* x)
{
    size_t W = (size_t)x->width + 1;
    for (int b = 0; b < x->count; b++) {
        const block* k = &x->blocks[b];
        for (int i = 0; i < k->dim; i++) {
            double own = 0.0;
            for (int e = 0; e < k->count; e++)
                for (int m = 0; m < k->parts[e].dof; m++)
                    own += k->parts[e].J[i + m * k->dim] * k->parts[e].Y[m + i * k->parts[e].dof];
            bool impulse = k->law && law_p(k, i, i) == 1.0 && own > 0.0;
            x->U[(size_t)(k->row + i) * W + W - 1] = any_number(k->row + i) * (impulse ? 1.0 / own : 1.0);
        }
    }
}

/* -A_u (du_0 + G' dV) - g dmu for all columns. */
static mor_code fill_right(const reduced* x, mor_columns* c)
{
    size_t W = (size_t)x->width + 1;
    double* room = mor_arena_alloc(x->d->arena, 6 * W * sizeof *room);
    if (!room) return MOR_SYSTEM;
    for (int b = 0; b < x->count; b++) {
        const block* k = &x->blocks[b];
        own_changes(x, k, c);
        for (int e = 0; e < k->count; e++) {
            const part* p = &k->parts[e];
            mor_rows_combine(k->dim, x->width, p->dof, p->J, 1, k->dim, x->V + (size_t)p->at * W, (ptrdiff_t)W,
                             x->U + (size_t)k->row * W, (ptrdiff_t)W);
        }
        apply_law(x, k, c, room);
    }
    fill_test(x);
    return MOR_OK;
}

/* V += M^-1 G X, the test included; X as U. */
static void respond(const reduced* x, const double* X, double* V)
{
    size_t W = (size_t)x->width + 1;
    for (int b = 0; b < x->count && W == 1; b++)
        for (int e = 0; e < x->blocks[b].count; e++) {
            const part* p = &x->blocks[b].parts[e];
            for (int i = 0; i < x->blocks[b].dim; i++)
                for (int m = 0; m < p->dof; m++) V[p->at + m] += p->Y[m + i * p->dof] * X[x->blocks[b].row + i];
        }
    if (W == 1) return;
    for (int b = 0; b < x->count; b++)
        for (int e = 0; e < x->blocks[b].count; e++) {
            const part* p = &x->blocks[b].parts[e];
            mor_rows_combine(p->dof, (int)W, x->blocks[b].dim, p->Y, 1, p->dof, X + (size_t)x->blocks[b].row * W,
                             (ptrdiff_t)W, V + (size_t)p->at * W, (ptrdiff_t)W);
        }
}

/* dp of the kept blocks: of a patch the shortest with these sums. */
static void spread_impulses(const reduced* x, const mor_columns* c, const double* X)
{
    size_t W = (size_t)x->width + 1;
    for (int b = 0; b < x->count; b++) {
        const block* k = &x->blocks[b];
        int m = k->patch ? 3 * (k->last - k->first) : k->dim;
        const double* project = k->patch ? mor_patch_projector(k->patch) : NULL;
        for (int j = 0; j < x->width; j++) {
            const double* from = X + (size_t)k->row * W + (size_t)j;
            double* to = c->p + (size_t)x->columns[j] * (size_t)x->d->rows + x->d->kept[k->first].row;
            for (int r = 0; r < m; r++) {
                to[r] = k->patch ? 0.0 : from[(size_t)r * W];
                for (int i = 0; i < 6 && project; i++) to[r] += project[6 * r + i] * from[(size_t)i * W];
            }
        }
    }
}

/* --------------------------------------------------------------------------------------------- solve */

/* X := S^-1 U; false: S is singular or next to it. */
static bool solve_by_lu(const reduced* x, mor_envelope* e, double* X)
{
    double ratio;
    if (!mor_envelope_factor(e, &ratio) || !(ratio > SINGULAR)) return false;
    mor_envelope_solve(e, x->width + 1, x->U, X);
    return true;
}

/* Next to singular: 1 m/s in the rows moves bodies at AMPLE m/s. Sliding contacts share their load in nearly more than
 * one way then: the least change of the state changes the shares, and rounding decides. Impulses that are large but
 * move nothing, as between two points of a foot that stick, do no harm. */
static bool is_ample(const reduced* x)
{
    size_t W = (size_t)x->width + 1;
    double most = 0.0;
    for (int i = 0; i < x->rows; i++) {
        double v = fabs(x->V[(size_t)i * W + W - 1]);
        if (!(v <= most)) most = v;
    }
    return !(most < AMPLE);
}

/* Column `from` of A (rows x W, row-major) to a column of its own. */
static void take_column(int rows, size_t W, const double* A, size_t from, double* to)
{
    for (int i = 0; i < rows; i++) to[i] = A[(size_t)i * W + from];
}

/* The shortest answer. The test is S r: what of r comes back is no null vector of S, and whether the rest moves
 * anything says if the motion is unique. */
static mor_code solve_by_rank(reduced* x, double* S, mor_columns* c, double* X)
{
    mor_arena* arena = x->d->arena;
    size_t n = (size_t)x->size, W = (size_t)x->width + 1;
    double *A = mor_arena_alloc(arena, n * n * sizeof *A), *B = mor_arena_alloc(arena, n * W * sizeof *B);
    double *r = mor_arena_alloc(arena, n * sizeof *r), *wanted = mor_arena_alloc(arena, n * W * sizeof *B);
    double* again = mor_arena_alloc(arena, n * n * sizeof *A);
    double* moves = mor_arena_zero(arena, (size_t)x->rows * W + 1, sizeof *moves);
    if (!A || !B || !r || !wanted || !again || !moves) return MOR_SYSTEM;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) A[j * n + i] = S[i * n + j];
    memcpy(again, A, n * n * sizeof *A);
    for (size_t j = 0; j + 1 < W; j++) take_column(x->size, W, x->U, j, B + j * n);
    for (size_t i = 0; i < n; i++) r[i] = any_number((int)i);
    mor_dense_apply(x->size, x->size, A, r, B + (W - 1) * n);
    memcpy(wanted, B, n * W * sizeof *B);
    int rank = mor_least_norm_many(x->size, A, (int)W, B, RANK, arena);
    if (rank < 0) return MOR_SYSTEM;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < W; j++) X[i * W + j] = B[j * n + i];
    if (rank == x->size) return MOR_OK;
    double null = 0.0, all = 0.0;
    for (int side = 0; side < 2; side++) { /* M^-1 G of the null vector, and of r */
        double* to = side ? &all : &null;
        for (size_t i = 0; i < n; i++) X[i * W + W - 1] = side ? r[i] : r[i] - B[(W - 1) * n + i];
        memset(moves, 0, (size_t)x->rows * W * sizeof *moves);
        respond(x, X, moves);
        for (int i = 0; i < x->rows; i++) *to = mor_max(*to, fabs(moves[(size_t)i * W + W - 1]));
    }
    if (!(null <= 1e-8 * all)) c->many = true;
    for (size_t j = 0; j + 1 < W; j++) {
        double *b = wanted + j * n, scale = mor_norm_max(x->size, b);
        mor_dense_multiply_add(x->size, 1, x->size, -1.0, again, x->size, B + j * n, x->size, b, x->size);
        if (mor_norm_max(x->size, b) > MOR_TORN * mor_max(scale, 1.0)) c->torn = true;
    }
    return MOR_OK;
}

static mor_code solve(reduced* x, mor_columns* c)
{
    mor_arena* arena = x->d->arena;
    size_t n = (size_t)x->size, W = (size_t)x->width + 1;
    mor_envelope e;
    double* X = mor_arena_alloc(arena, (n * W + 1) * sizeof *X);
    if (!X || !mor_envelope_create(x->size, arena, &e)) return MOR_SYSTEM;
    fill_matrix(x, e.A);
    mor_code code = MOR_OK;
    bool regular = solve_by_lu(x, &e, X);
    if (!regular) {
        memset(e.A, 0, n * n * sizeof *e.A);
        fill_matrix(x, e.A);
        code = solve_by_rank(x, e.A, c, X);
    }
    if (code) return code;
    respond(x, X, x->V);
    if (regular && is_ample(x)) c->many = true;
    if (c->p) spread_impulses(x, c, X);
    return MOR_OK;
}

mor_code mor_active_solve(mor_derivation* d, const mor_law* laws, int first, int last, mor_columns* c)
{
    size_t mark = mor_arena_mark(d->arena);
    reduced x = { .d = d };
    if (!make_columns(&x, d->kept[first].island, c)) return MOR_SYSTEM;
    mor_code code = make_blocks(&x, laws, first, last);
    if (code) return code;
    size_t W = (size_t)x.width + 1;
    x.V = mor_arena_alloc(d->arena, ((size_t)x.rows * W + 1) * sizeof *x.V);
    x.U = mor_arena_zero(d->arena, (size_t)x.size * W + 1, sizeof *x.U);
    if (!x.V || !x.U) return MOR_SYSTEM;
    for (int i = 0; i < x.rows; i++) x.V[((size_t)i + 1) * W - 1] = 0.0;
    exchange_velocities(&x, c, false);
    code = fill_right(&x, c);
    if (!code) code = solve(&x, c);
    if (!code) exchange_velocities(&x, c, true);
    mor_arena_release(d->arena, mark);
    return code;
}

/* ------------------------------------------------------------------------------------------ backward */

/* The weights of p: Y' of those of dnu+. */
static void gather_weights(const reduced* x, const mor_weights* w, const int* offset, double* to)
{
    for (int b = 0; b < x->count; b++)
        for (int e = 0; e < x->blocks[b].count; e++) {
            const part* p = &x->blocks[b].parts[e];
            for (int i = 0; i < x->blocks[b].dim; i++)
                for (int m = 0; m < p->dof; m++)
                    to[x->blocks[b].row + i] += p->Y[m + i * p->dof] * w->V[offset[p->at] + m];
        }
}

/* From y = S'^-1 of these to the weights of dV, du_0 and dmu. */
static void hand_out(const reduced* x, const double* y, const int* offset, mor_weights* w)
{
    const mor_derivation* d = x->d;
    for (int b = 0; b < x->count; b++) {
        const block* k = &x->blocks[b];
        double a[6] = { 0 }, mu = 0.0;
        for (int i = 0; i < k->dim; i++) {
            for (int j = 0; j < k->dim; j++) a[j] += law_u(k, i, j) * y[k->row + i];
            if (k->law) mu -= k->law->g[i] * y[k->row + i];
        }
        for (int e = 0; e < k->count; e++)
            for (int m = 0; m < k->parts[e].dof; m++)
                for (int i = 0; i < k->dim; i++)
                    w->V[offset[k->parts[e].at] + m] -= k->parts[e].J[i + m * k->dim] * a[i];
        double* u = k->patch ? w->patch + 6 * (k->patch - d->patches) : w->u + d->kept[k->first].row;
        for (int i = 0; i < k->dim; i++) u[i] = -a[i];
        if (!k->patch) w->mu[k->first] = mu;
    }
}

mor_code mor_active_pull(mor_derivation* d, const mor_law* laws, int first, int last, mor_weights* w, bool* many,
                         bool* done)
{
    size_t mark = mor_arena_mark(d->arena);
    reduced x = { .d = d };
    const mor_columns none = { 0 };
    mor_envelope e;
    if (!make_columns(&x, d->kept[first].island, &none)) return MOR_SYSTEM;
    mor_code code = make_blocks(&x, laws, first, last);
    if (code) return code;
    size_t n = (size_t)x.size;
    int* offset = mor_arena_alloc(d->arena, ((size_t)x.rows + 1) * sizeof *offset); /* row of V -> of its tree in all */
    double *from = mor_arena_zero(d->arena, n + 1, sizeof *from), *y = mor_arena_alloc(d->arena, (n + 1) * sizeof *y);
    x.U = mor_arena_zero(d->arena, n + 1, sizeof *x.U);
    x.V = mor_arena_zero(d->arena, (size_t)x.rows + 1, sizeof *x.V);
    if (!offset || !from || !y || !x.U || !x.V || !mor_envelope_create(x.size, d->arena, &e)) return MOR_SYSTEM;
    for (int t = 0; t < x.tree_count; t++) offset[x.tree_row[x.trees[t]]] = d->base->w->trees[x.trees[t]].offset;
    fill_matrix(&x, e.A);
    fill_test(&x);
    if (solve_by_lu(&x, &e, y)) {
        respond(&x, y, x.V);
        *many = *many || is_ample(&x);
        gather_weights(&x, w, offset, from);
        mor_envelope_solve_transposed(&e, from, y);
        hand_out(&x, y, offset, w);
    } else *done = false;
    mor_arena_release(d->arena, mark);
    return MOR_OK;
}
