/* Rows of a step that contradict each other (contradiction.h).
 *
 * Every velocity nu that a step may end with fulfils
 *
 *     G_n' nu + b_n >= 0   (contacts, and bounded rows whose impulse may grow without end),
 *     G_e' nu + b_e  = 0   (equations).
 *
 * By Farkas' lemma there is none if and only if some x, x_n >= 0, has G x = 0 and b'x < 0. For any x, x_n >= 0, and any
 * nu that misses no row by more than `limit`,
 *
 *     0 <= (G x)'nu + b'x + limit |x|_1,   so that   |nu| >= (-b'x - limit |x|_1)/|G x|.
 *
 * That is the proof: where the right-hand side is a million times the velocities of the data, nobody wants them.
 * Masses, friction and forces have no part in it. x comes from the least-squares problem of least-distance programming,
 *
 *     minimise |[G; -b'/beta] x - [0; 1]|,   x_n >= 0,
 *
 * whose residual is zero if the rows contradict each other. It is asked only where rest is no answer: rows that ask
 * for no velocity contradict nothing.
 *
 * A mechanism whose limits hold it in the floor and whose joints are open by 1e-6 m is the case: its rows ask for
 * phi/h, the contacts do not let it go. Methods that look for an answer would work for a second.
 *
 * Reference: C. L. Lawson, R. J. Hanson (1974), Solving Least Squares Problems, ch. 23. */
#include "solver/contradiction.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/nnls.h"
#include "solver/auto.h"

enum { MOST_DOF = 240 };

#define UNWANTED 1e6   /* times the velocities of the data */
#define ROUNDING 1e-14 /* of the terms of G x: what it is zero up to */

typedef struct rows {
    int dof, count;
    double* E;     /* dof + 1 x count: G and -b/beta, by column */
    double* b;     /* count; of rows that must not be negative, or with is_free zero */
    bool* is_free; /* an equation */
    double speed;  /* the largest of the data */
} rows;

/* Row `d` of block `b`, as a row that must not be negative (sign 1), must not be positive (-1), or must be zero. */
static void add_row(rows* r, const mor_step_form* s, const mor_block* b, int d, double sign, bool is_free)
{
    double* column = r->E + (size_t)(r->dof + 1) * (size_t)r->count;
    memset(column, 0, (size_t)(r->dof + 1) * sizeof *column);
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + d * t->dof;
        for (int m = 0; m < t->dof; m++) column[t->offset + m] += sign * J[m];
    }
    r->b[r->count] = sign * s->bias[b->row + d];
    r->speed = mor_max(r->speed, fabs(r->b[r->count]));
    r->is_free[r->count++] = is_free;
}

/* The rows of a step that its velocities must fulfil. False: no memory. */
static bool collect(const mor_step_form* s, rows* r, mor_arena* arena)
{
    const size_t most = (size_t)s->row_count + 1;
    *r = (rows){ .dof = s->dof };
    r->E = mor_arena_alloc(arena, most * (size_t)(s->dof + 1) * sizeof *r->E);
    r->b = mor_arena_alloc(arena, most * sizeof *r->b);
    r->is_free = mor_arena_alloc(arena, most * sizeof *r->is_free);
    if (!r->E || !r->b || !r->is_free) return false;
    for (int i = 0; i < s->dof; i++) r->speed = mor_max(r->speed, fabs(s->nu_free[i]));
    for (int k = 0; k < s->block_count; k++) {
        const mor_block* b = &s->blocks[k];
        if (b->kind == MOR_BLOCK_CONTACT) add_row(r, s, b, 0, 1.0, false);
        for (int d = 0; b->kind == MOR_BLOCK_EQUATION && d < b->dim; d++) add_row(r, s, b, d, 1.0, true);
        if (b->kind != MOR_BLOCK_BOUNDED) continue;
        if (b->upper == INFINITY) add_row(r, s, b, 0, 1.0, b->lower == -INFINITY);
        else if (b->lower == -INFINITY) add_row(r, s, b, 0, -1.0, false);
    }
    return true;
}

static bool rest_is_an_answer(const rows* r, double limit)
{
    for (int j = 0; j < r->count; j++)
        if (r->b[j] < -limit || (r->is_free[j] && r->b[j] > limit)) return false;
    return true;
}

/* The least speed of an answer that x leaves possible. */
static double least_speed(const rows* r, const double* x, double limit)
{
    const int n = r->dof;
    double missed = 0.0, square = 0.0;
    for (int j = 0; j < r->count; j++) missed -= r->b[j] * x[j] + limit * fabs(x[j]);
    for (int i = 0; i < n; i++) {
        double sum = 0.0, size = 0.0;
        for (int j = 0; j < r->count; j++) {
            const double term = r->E[(size_t)j * (size_t)(n + 1) + (size_t)i] * x[j];
            sum += term;
            size += fabs(term);
        }
        sum = fabs(sum) + ROUNDING * size;
        square += sum * sum;
    }
    return missed > 0.0 ? missed / sqrt(square) : 0.0;
}

bool mor_step_contradicts(const mor_problem* problem, double limit, mor_arena* arena)
{
    const mor_step_form* s = &problem->step;
    const size_t mark = mor_arena_mark(arena);
    bool proved = false;
    rows r;
    if (s->dof > MOST_DOF || !collect(s, &r, arena) || rest_is_an_answer(&r, limit)) {
        mor_arena_release(arena, mark);
        return false;
    }
    const int n = r.dof + 1;
    double* x = mor_arena_alloc(arena, ((size_t)r.count + 2 * (size_t)n) * sizeof *x);
    double *g = x + r.count, *residual = g + n;
    if (x) {
        memset(g, 0, (size_t)n * sizeof *g);
        g[r.dof] = 1.0;
        for (int j = 0; j < r.count; j++) r.E[(size_t)j * (size_t)n + (size_t)r.dof] = -r.b[j] / r.speed;
        proved = mor_nnls(n, r.count, r.E, r.is_free, g, x, residual, arena) &&
                 least_speed(&r, x, limit) > UNWANTED * r.speed;
    }
    mor_arena_release(arena, mark);
    return proved;
}

#define BAND 0.1 /* of the error that counts as failure: rows that are contradicted by less are left to the methods */

/* After a proof a few sweeps leave velocities that a run may go on with: where the rows are missed by less than counts
 * as failure, or if it is told to (on_failure: warn). */
bool mor_auto_contradiction(mor_auto* R, const mor_auto_stage* stage)
{
    const mor_context* c = R->context;
    if (!mor_step_contradicts(R->problem, mor_max(c->tol, BAND * c->limit), c->arena)) return false;
    mor_auto_note(R, stage->name, 1);
    mor_auto_sweeps_to_the_end(R, stage);
    if (!(R->best <= c->limit)) R->report.status = MOR_NO_SOLUTION;
    return true;
}
