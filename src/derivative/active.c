/* (A_p + A_u W) dp = -A_u (du_0 + G' dV) - g dmu,   W = G' M^-1 G,   dnu+ = dV + M^-1 G dp,   for all columns at once.
 *
 * Three or more contacts of the same two bodies that all stick hold these bodies to each other, six equations however
 * many points: with u = T t, t the motion of one body against the other, T (3 m x 6), they are replaced by t = 0 and
 * the unknown T' dp. So a stack of boxes has a matrix of full rank, half as large, and LU will do. What du_0 has
 * outside of the range of T cannot be followed (`torn`).
 *
 * Otherwise redundant contacts make the matrix singular. Then the shortest answer is taken (linalg/least_norm.c): dp is
 * not unique, but dnu+ is, unless sliding contacts share their load (`many`). */
#include "derivative/active.h"

#include "base/elementary.h"
#include "formulation/assemble.h"
#include "linalg/dense.h"

#include <string.h>

#define TORN 1e-6     /* of the largest right-hand side, at least of 1 m/s per unit */
#define SINGULAR 1e-9 /* least pivot over largest: below, ranks are looked at */
#define RANK 1e-11
#define AMPLE 1e4 /* m/s */

/* One side of a block: J and Y = M^-1 J' of a tree, column-major: J dim x dof, Y dof x dim. */
typedef struct part {
    int offset, dof;
    double *J, *Y;
} part;

typedef struct block {
    int row, dim, count; /* first row of the reduced system; parts */
    int first, last;     /* kept blocks it stands for */
    part parts[3];
    const mor_law* law; /* NULL: du = 0 */
    double* project;    /* of a patch: (T'T)^-1 T', 6 x 3 m column-major; NULL: one kept block */
    double* T;          /* 3 m x 6, column-major */
} block;

typedef struct reduced {
    mor_derivation* d;
    block* blocks;
    int count, size;
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

/* ------------------------------------------------------------------------------------------- patches */

static bool sticks(const mor_derivation* d, const mor_law* laws, int k)
{
    return d->kept[k].contact >= 0 && d->kept[k].dim == 3 && laws[k].phase == MOR_PHASE_STICK && !laws[k].weak &&
           laws[k].A_p[0] == 0.0; /* not the convex law, which yields */
}

/* The end of the contacts from `first` that stick between the same two bodies. */
static int patch_end(const mor_derivation* d, const mor_law* laws, int first, int last)
{
    const mor_contact* contacts = d->base->contacts.data;
    int k = first;
    if (!sticks(d, laws, first)) return first + 1;
    const mor_contact* a = &contacts[d->kept[first].contact];
    for (; k < last && sticks(d, laws, k); k++) {
        const mor_contact* b = &contacts[d->kept[k].contact];
        if (b->body[0] != a->body[0] || b->body[1] != a->body[1]) break;
    }
    return k;
}

/* T and (T'T)^-1 T' of a patch; false: its rank is below six, or out of memory. */
static bool make_patch(mor_derivation* d, block* b)
{
    const mor_contact* contacts = d->base->contacts.data;
    int m = 3 * (b->last - b->first);
    mor_vec3 at = mor_v3(0, 0, 0);
    for (int k = b->first; k < b->last; k++) {
        const mor_contact* c = &contacts[d->kept[k].contact];
        at = mor_madd(at, 1.0 / (b->last - b->first), mor_lerp(c->point[0], c->point[1], 0.5));
    }
    double length = 0.0, full[36] = { 0 }, L[36];
    for (int k = b->first; k < b->last; k++)
        length = mor_max(length, mor_norm(mor_sub(contacts[d->kept[k].contact].point[0], at)));
    b->T = mor_arena_alloc(d->arena, 6 * (size_t)m * sizeof *b->T);
    b->project = mor_arena_alloc(d->arena, 6 * (size_t)m * sizeof *b->project);
    if (!b->T || !b->project || !(length > 0.0)) return false;
    for (int k = b->first; k < b->last; k++) {
        const mor_contact* c = &contacts[d->kept[k].contact];
        mor_vec3 way[3] = { c->normal },
                 arm = mor_scale(1.0 / length, mor_sub(mor_lerp(c->point[0], c->point[1], 0.5), at));
        mor_contact_tangents(d->base->w, c, &way[1], &way[2]);
        for (int r = 0; r < 3; r++) {
            mor_vec3 turn = mor_cross(arm, way[r]);
            const double row[6] = { way[r].x, way[r].y, way[r].z, turn.x, turn.y, turn.z };
            for (int i = 0; i < 6; i++) b->T[3 * (k - b->first) + r + i * m] = row[i];
            for (int i = 0; i < 36; i++) full[i] += row[i / 6] * row[i % 6];
        }
    }
    if (!mor_cholesky6(full, L)) return false;
    for (int i = 0; i < 6; i++)
        if (!(L[7 * i] * L[7 * i] > 1e-6)) return false;
    for (int r = 0; r < m; r++) {
        double* column = b->project + 6 * r;
        for (int i = 0; i < 6; i++) column[i] = b->T[r + i * m];
        mor_cholesky6_solve(L, column);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------- blocks */

/* J and Y of the kept blocks of a block, projected. */
static bool fill_parts(mor_derivation* d, block* b)
{
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
                *p = (part){ d->base->w->trees[it->tree_of[entry->tree]].offset, dof, NULL, NULL };
                p->J = mor_arena_zero(d->arena, numbers, sizeof *p->J);
                p->Y = mor_arena_zero(d->arena, numbers, sizeof *p->Y);
                if (!p->J || !p->Y) return false;
            }
            const double *J = s->jacobian + entry->start, *Y = s->response + entry->start;
            for (int r = 0; r < from->dim; r++)
                for (int i = 0; i < b->dim; i++) {
                    double share = b->project ? b->project[6 * (3 * (k - b->first) + r) + i] : i == r;
                    if (share == 0.0) continue;
                    for (int m = 0; m < dof; m++) {
                        p->J[i + m * b->dim] += share * J[r * dof + m];
                        p->Y[m + i * dof] += share * Y[r * dof + m];
                    }
                }
        }
        b->count = from->entry_count;
    }
    return true;
}

static mor_code make_blocks(reduced* x, const mor_law* laws, int first, int last)
{
    mor_derivation* d = x->d;
    x->blocks = mor_arena_zero(d->arena, (size_t)(last - first) + 1, sizeof *x->blocks);
    if (!x->blocks) return MOR_SYSTEM;
    for (int k = first, end; k < last; k = end) {
        block* b = &x->blocks[x->count++];
        end = patch_end(d, laws, k, last);
        *b = (block){ .row = x->size, .first = k, .last = end, .dim = 6 };
        if (end - k < 3 || !make_patch(d, b)) {
            end = k + 1;
            *b = (block){ .row = x->size, .first = k, .last = end, .dim = d->kept[k].dim };
            b->law = b->dim > 3 ? NULL : &laws[k];
        }
        if (!fill_parts(d, b)) return MOR_SYSTEM;
        x->size += b->dim;
    }
    return MOR_OK;
}

/* S := A_p + A_u W, column-major. */
static void fill_matrix(const reduced* x, double* S)
{
    double W[36];
    for (int a = 0; a < x->count; a++)
        for (int c = 0; c < x->count; c++) {
            const block *A = &x->blocks[a], *B = &x->blocks[c];
            bool any = a == c;
            memset(W, 0, sizeof W);
            for (int e = 0; e < A->count; e++)
                for (int f = 0; f < B->count; f++) {
                    const part *p = &A->parts[e], *q = &B->parts[f];
                    if (p->offset != q->offset) continue;
                    mor_dense_multiply_add(A->dim, B->dim, p->dof, 1.0, p->J, A->dim, q->Y, q->dof, W, A->dim);
                    any = true;
                }
            for (int j = 0; j < B->dim && any; j++)
                for (int i = 0; i < A->dim; i++) {
                    double sum = a == c ? law_p(A, i, j) : 0.0;
                    for (int m = 0; m < A->dim && A->law; m++) sum += law_u(A, i, m) * W[m + j * A->dim];
                    S[A->row + i + (size_t)(B->row + j) * x->size] = A->law ? sum : W[i + j * A->dim];
                }
        }
}

/* du_0 of a block in one column: that of its kept blocks, projected. What a patch cannot follow tears it. */
static void own_change(const reduced* x, const block* b, const mor_columns* c, int column, double* u, bool* torn)
{
    const double* from = c->u + (size_t)column * x->d->rows + x->d->kept[b->first].row;
    if (!b->project) {
        memcpy(u, from, (size_t)b->dim * sizeof *u);
        return;
    }
    int m = 3 * (b->last - b->first);
    double any = 0.0, left = 0.0;
    for (int r = 0; r < m; r++) any = mor_max(any, fabs(from[r]));
    memset(u, 0, 6 * sizeof *u);
    if (any == 0.0) return;
    for (int r = 0; r < m; r++)
        for (int i = 0; i < 6; i++) u[i] += b->project[6 * r + i] * from[r];
    for (int r = 0; r < m; r++) {
        double rest = from[r];
        for (int i = 0; i < 6; i++) rest -= b->T[r + i * m] * u[i];
        left = mor_max(left, fabs(rest));
    }
    if (left > TORN * mor_max(any, 1.0)) *torn = true;
}

/* -A_u (du_0 + G' dV) - g dmu for all columns, size x count. */
static void fill_right(const reduced* x, mor_columns* c, double* U)
{
    const mor_derivation* d = x->d;
    for (int b = 0; b < x->count; b++) {
        const block* k = &x->blocks[b];
        for (int j = 0; j < c->count; j++) own_change(x, k, c, j, U + (size_t)j * x->size + k->row, &c->torn);
        for (int e = 0; e < k->count; e++) {
            const part* p = &k->parts[e];
            mor_dense_multiply_add(k->dim, c->count, p->dof, 1.0, p->J, k->dim, c->V + p->offset, d->dof, U + k->row,
                                   x->size);
        }
        for (int j = 0; j < c->count; j++) {
            double *u = U + (size_t)j * x->size + k->row, was[6];
            double mu = k->law ? c->mu[(size_t)j * d->kept_count + k->first] : 0.0;
            memcpy(was, u, (size_t)k->dim * sizeof *was);
            for (int i = 0; i < k->dim; i++) {
                double sum = k->law ? k->law->g[i] * mu : was[i];
                for (int m = 0; m < k->dim && k->law; m++) sum += law_u(k, i, m) * was[m];
                u[i] = -sum;
            }
        }
    }
}

/* V += M^-1 G x */
static void respond(const reduced* x, int count, const double* X, double* V)
{
    for (int b = 0; b < x->count; b++)
        for (int e = 0; e < x->blocks[b].count; e++) {
            const part* p = &x->blocks[b].parts[e];
            mor_dense_multiply_add(p->dof, count, x->blocks[b].dim, 1.0, p->Y, p->dof, X + x->blocks[b].row, x->size,
                                   V + p->offset, x->d->dof);
        }
}

/* dp of the kept blocks: of a patch the shortest with these sums. */
static void spread_impulses(const reduced* x, const mor_columns* c, const double* X)
{
    for (int b = 0; b < x->count; b++) {
        const block* k = &x->blocks[b];
        int m = k->project ? 3 * (k->last - k->first) : k->dim;
        for (int j = 0; j < c->count; j++) {
            const double* from = X + (size_t)j * (size_t)x->size + k->row;
            double* to = c->p + (size_t)j * (size_t)x->d->rows + x->d->kept[k->first].row;
            for (int r = 0; r < m; r++) {
                to[r] = k->project ? 0.0 : from[r];
                for (int i = 0; i < 6 && k->project; i++) to[r] += k->project[6 * r + i] * from[i];
            }
        }
    }
}

/* --------------------------------------------------------------------------------------------- solve */

/* From 1 to 2, the same for the same i, and without any law in i that a null vector could share. */
static double any_number(int i)
{
    uint32_t x = (uint32_t)i + 0x9e3779b9u;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return 1.0 + (double)((x ^ x >> 16) & 0xffff) / 65536.0;
}

/* Next to singular: 1 m/s in the rows moves bodies at AMPLE m/s. Sliding contacts share their load in nearly more than
 * one way then: the least change of the state changes the shares, and rounding decides. Impulses that are large but
 * move nothing, as between two points of a foot that stick, do no harm. test: S^-1 of 1 m/s in the rows. */
static bool is_ample(const reduced* x, const double* test)
{
    double* v = mor_arena_zero(x->d->arena, (size_t)x->d->dof + 1, sizeof *v);
    if (!v) return true;
    respond(x, 1, test, v);
    return !(mor_norm_max(x->d->dof, v) < AMPLE);
}

/* Rows of impulses get those that give as much. */
static void fill_test(const reduced* x, double* test)
{
    for (int b = 0; b < x->count; b++) {
        const block* k = &x->blocks[b];
        for (int i = 0; i < k->dim; i++) {
            double W = 0.0;
            for (int e = 0; e < k->count; e++)
                for (int m = 0; m < k->parts[e].dof; m++)
                    W += k->parts[e].J[i + m * k->dim] * k->parts[e].Y[m + i * k->parts[e].dof];
            bool impulse = k->law && law_p(k, i, i) == 1.0 && W > 0.0;
            test[k->row + i] = any_number(k->row + i) * (impulse ? 1.0 / W : 1.0);
        }
    }
}

static bool solve_by_lu(const reduced* x, const double* S, mor_columns* c, double* U)
{
    int n = x->size;
    double* LU = mor_arena_alloc(x->d->arena, (size_t)n * (size_t)n * sizeof *LU);
    int* pivot = mor_arena_alloc(x->d->arena, (size_t)n * sizeof *pivot);
    if (!LU || !pivot) return false;
    memcpy(LU, S, (size_t)n * (size_t)n * sizeof *LU);
    if (!mor_lu_factor(n, LU, pivot)) return false;
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < n; i++) {
        double p = fabs(LU[(size_t)i * n + i]);
        least = mor_min(least, p), most = mor_max(most, p);
    }
    if (!(least > SINGULAR * most)) return false;
    double* test = U + (size_t)n * (size_t)c->count;
    fill_test(x, test);
    mor_lu_solve_many(n, LU, pivot, c->count + 1, U);
    if (is_ample(x, test)) c->many = true;
    return true;
}

/* x - y is a null vector of S: impulses that may be added. Whether they move nothing. */
static bool motion_is_unique(const reduced* x, const double* a, double* b)
{
    int dof = x->d->dof;
    double* v = mor_arena_zero(x->d->arena, 2 * (size_t)dof + 2, sizeof *v);
    if (!v) return true;
    for (int i = 0; i < x->size; i++) b[i] = a[i] - b[i];
    respond(x, 1, b, v);
    respond(x, 1, a, v + dof);
    return mor_norm_max(dof, v) <= 1e-8 * mor_norm_max(dof, v + dof);
}

/* The shortest answer. One more right-hand side, S r: what of r comes back is no null vector of S. */
static mor_code solve_by_rank(const reduced* x, double* S, mor_columns* c, double* U)
{
    size_t n = (size_t)x->size, count = (size_t)c->count;
    double *again = mor_arena_alloc(x->d->arena, n * n * sizeof *again), *r = U + n * count;
    double* wanted = mor_arena_alloc(x->d->arena, n * (count + 1) * sizeof *wanted);
    if (!again || !wanted) return MOR_SYSTEM;
    for (size_t i = 0; i < n; i++) r[i] = any_number((int)i);
    memcpy(again, S, n * n * sizeof *S);
    memcpy(wanted, U, n * (count + 1) * sizeof *U);
    mor_dense_apply(x->size, x->size, again, wanted + n * count, r);
    int rank = mor_least_norm_many(x->size, S, c->count + 1, U, RANK, x->d->arena);
    if (rank < 0) return MOR_SYSTEM;
    if (rank == x->size) return MOR_OK;
    if (!motion_is_unique(x, wanted + n * count, r)) c->many = true;
    for (size_t j = 0; j < count; j++) {
        double *b = wanted + j * n, scale = mor_norm_max(x->size, b);
        mor_dense_multiply_add(x->size, 1, x->size, -1.0, again, x->size, U + j * n, x->size, b, x->size);
        if (mor_norm_max(x->size, b) > TORN * mor_max(scale, 1.0)) c->torn = true;
    }
    return MOR_OK;
}

mor_code mor_active_solve(mor_derivation* d, const mor_law* laws, int first, int last, mor_columns* c)
{
    size_t mark = mor_arena_mark(d->arena);
    reduced x = { .d = d };
    mor_code code = make_blocks(&x, laws, first, last);
    if (code) return code;
    size_t n = (size_t)x.size;
    double* S = mor_arena_zero(d->arena, n * n + 1, sizeof *S);
    double* U = mor_arena_zero(d->arena, n * ((size_t)c->count + 1) + 1, sizeof *U);
    if (!S || !U) return MOR_SYSTEM;
    fill_matrix(&x, S);
    fill_right(&x, c, U);
    if (!solve_by_lu(&x, S, c, U)) code = solve_by_rank(&x, S, c, U);
    if (!code) respond(&x, c->count, U, c->V);
    if (!code && c->p) spread_impulses(&x, c, U);
    mor_arena_release(d->arena, mark);
    return code;
}
