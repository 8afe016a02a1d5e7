/* Contacts four at a time.
 *
 * A pack is four contacts of which no two act on the same tree, so that their visits do not see each other: done
 * together they are what they would be one after the other. It holds, lane by lane, the coefficients G_c' and
 * G_c' M^-1 of three rows on two sides of six velocities. Packs are filled from a window of WINDOW contacts in their
 * order, the first of which is always taken: the order of a sweep hardly changes (on a pile of 1000 boxes 97 % of the
 * lanes are full), and its convergence with it. The empty lane acts on a place of its own with zeros. Contacts that are
 * likely to get no impulse have a window of their own: a visit to four of these ends early.
 *
 * Many contacts come in groups (pack_groups.h), whether there are threads or not: so the answer does not depend on
 * their number. Packs are of one group each.
 *
 * A contact on anything else than one or two trees of six velocities, or with another number of rows than three, has a
 * pack to itself, which works on the rows as they are stored (`alone`).
 *
 * Velocities are kept by trees in places of a multiple of four numbers (mor_packs.at), so that a tree of six is read as
 * four and two. The kernels are for functions made by MOR_WIDE (linalg/wide.h): the same bits with and without AVX2. */
#ifndef MOR_SOLVER_PACKS_H
#define MOR_SOLVER_PACKS_H

#include "base/inline.h"
#include "linalg/rows.h"
#include "linalg/wide.h"
#include "moreau/problem.h"
#include "solver/pack_groups.h"

struct mor_workers;

enum { MOR_LANES = 4, MOR_PACK_ROWS = 3, MOR_PACK_WINDOW = 64 };

typedef struct mor_pack {
    int block[MOR_LANES]; /* number of the contact's block; -1: the lane is empty */
    bool alone;           /* one contact, in lane 0, that goes by its stored rows */
    int at[2][MOR_LANES]; /* places of its trees */
    mor_four J[2][6 * MOR_PACK_ROWS], Y[2][6 * MOR_PACK_ROWS]; /* by sides; unset in one that is alone */
    mor_four inverse[MOR_PACK_ROWS]; /* 1/W_dd; 0: nothing moves along this row, or there is none */
} mor_pack;

typedef struct mor_packs {
    const mor_step_form* form;
    int* at;  /* tree_count: place of each tree's velocities */
    int room; /* numbers of an array of velocities */
    mor_pack* packs;
    int count;
    struct mor_workers* workers;    /* threads; NULL: none */
    int start[MOR_PACK_GROUPS + 1]; /* first pack of each group */
    int group_count, inner;         /* groups, and those that are visited first */
} mor_packs;

/* Packs of the first `contacts` blocks of the form, which are contacts. idle: of each, whether it is likely to get no
 * impulse; NULL: not known. False: out of memory. */
bool mor_packs_make(mor_packs* packs, const mor_step_form* form, int contacts, const bool* idle,
                    struct mor_workers* workers, mor_arena* arena);

/* Visits packs begin ... end - 1 in their order. */
typedef void (*mor_packs_visit)(void* user, int begin, int end);
/* Calls visit once for every group, as if one after the other. */
void mor_packs_sweep(const mor_packs* packs, mor_packs_visit visit, void* user);
/* The same where the order does not matter: every pack by itself. */
void mor_packs_each(const mor_packs* packs, mor_packs_visit visit, void* user);

/* An array of velocities, all zero; NULL: out of memory. */
double* mor_packs_velocities(const mor_packs* packs, mor_arena* arena);
/* From velocities tree after tree to places, and back. */
void mor_packs_spread(const mor_packs* packs, const double* nu, double* v);
void mor_packs_collect(const mor_packs* packs, const double* v, double* nu);

/* (G' v)_d of row d of a block, and v += M^-1 G_d p, on velocities by places. */
double mor_packs_row_speed(const mor_packs* packs, int block, int d, const double* v);
void mor_packs_row_push(const mor_packs* packs, int block, int d, double p, double* v);

/* ------------------------------------------------------------------------------------- a visit */

/* The velocities of a pack's trees, component by component; of one that is alone those of the empty place. */
typedef struct mor_pack_view {
    mor_four v[2][6];
} mor_pack_view;

MOR_ALWAYS_INLINE void mor_pack_load(const mor_pack* q, const double* v, mor_pack_view* k)
{
    for (int side = 0; side < 2; side++) {
        const double *a = v + q->at[side][0], *b = v + q->at[side][1], *c = v + q->at[side][2], *d = v + q->at[side][3];
        const mor_four A = MOR_FOUR_AT(a), B = MOR_FOUR_AT(b), C = MOR_FOUR_AT(c), D = MOR_FOUR_AT(d);
        const mor_four s = __builtin_shufflevector(A, B, 0, 4, 2, 6), t = __builtin_shufflevector(A, B, 1, 5, 3, 7);
        const mor_four x = __builtin_shufflevector(C, D, 0, 4, 2, 6), y = __builtin_shufflevector(C, D, 1, 5, 3, 7);
        k->v[side][0] = __builtin_shufflevector(s, x, 0, 1, 4, 5);
        k->v[side][1] = __builtin_shufflevector(t, y, 0, 1, 4, 5);
        k->v[side][2] = __builtin_shufflevector(s, x, 2, 3, 6, 7);
        k->v[side][3] = __builtin_shufflevector(t, y, 2, 3, 6, 7);
        const mor_two e = MOR_TWO_AT(a + 4), f = MOR_TWO_AT(b + 4), g = MOR_TWO_AT(c + 4), h = MOR_TWO_AT(d + 4);
        const mor_four m = __builtin_shufflevector(e, g, 0, 1, 2, 3), n = __builtin_shufflevector(f, h, 0, 1, 2, 3);
        k->v[side][4] = __builtin_shufflevector(m, n, 0, 4, 2, 6);
        k->v[side][5] = __builtin_shufflevector(m, n, 1, 5, 3, 7);
    }
}

MOR_ALWAYS_INLINE void mor_pack_store(const mor_pack* q, const mor_pack_view* k, double* v)
{
    for (int side = 0; side < 2; side++) {
        double *a = v + q->at[side][0], *b = v + q->at[side][1], *c = v + q->at[side][2], *d = v + q->at[side][3];
        const mor_four* x = k->v[side];
        const mor_four s = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6);
        const mor_four t = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
        const mor_four y = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6);
        const mor_four z = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
        MOR_FOUR_TO(a) = __builtin_shufflevector(s, y, 0, 1, 4, 5);
        MOR_FOUR_TO(b) = __builtin_shufflevector(t, z, 0, 1, 4, 5);
        MOR_FOUR_TO(c) = __builtin_shufflevector(s, y, 2, 3, 6, 7);
        MOR_FOUR_TO(d) = __builtin_shufflevector(t, z, 2, 3, 6, 7);
        const mor_four m = __builtin_shufflevector(x[4], x[5], 0, 4, 2, 6);
        const mor_four n = __builtin_shufflevector(x[4], x[5], 1, 5, 3, 7);
        MOR_TWO_TO(a + 4) = __builtin_shufflevector(m, m, 0, 1),
                       MOR_TWO_TO(c + 4) = __builtin_shufflevector(m, m, 2, 3);
        MOR_TWO_TO(b + 4) = __builtin_shufflevector(n, n, 0, 1),
                       MOR_TWO_TO(d + 4) = __builtin_shufflevector(n, n, 2, 3);
    }
}

/* u = (G' v)_d of every lane. v: the array that was loaded. */
MOR_ALWAYS_INLINE void mor_pack_speed(const mor_packs* packs, const mor_pack* q, int d, const mor_pack_view* k,
                                      const double* v, mor_four* u)
{
    if (q->alone) {
        *u = (mor_four){ d < packs->form->blocks[q->block[0]].dim ? mor_packs_row_speed(packs, q->block[0], d, v) : 0 };
        return;
    }
    const mor_four *a = q->J[0] + 6 * d, *b = q->J[1] + 6 * d, *x = k->v[0], *y = k->v[1];
    *u = (a[0] * x[0] + a[1] * x[1] + a[2] * x[2] + (a[3] * x[3] + a[4] * x[4] + a[5] * x[5])) +
         (b[0] * y[0] + b[1] * y[1] + b[2] * y[2] + (b[3] * y[3] + b[4] * y[4] + b[5] * y[5]));
}

/* v += M^-1 G_d p of every lane. */
MOR_ALWAYS_INLINE void mor_pack_push(const mor_packs* packs, const mor_pack* q, int d, const mor_four* p,
                                     mor_pack_view* k, double* v)
{
    if (q->alone) {
        if (d < packs->form->blocks[q->block[0]].dim) mor_packs_row_push(packs, q->block[0], d, (*p)[0], v);
        return;
    }
    const mor_four f = *p;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 6; i++) k->v[side][i] += q->Y[side][6 * d + i] * f;
}

#endif
