/* The impulses of one island from the velocities at the end of a step.
 *
 * With i = M (nu+ - nu_free) the impulse that the step needs and u = G' nu+ + b the velocities of the rows:
 *
 *     convex law   K* contains u + R p, orthogonal to p in K, is the optimality of min p'R p/2 + p'u over K:
 *                      p = P_K(-u/R),    R = regularisation W_nn as in formulation/convex.c
 *     exact law    u_n > 0: p = 0.  u_n = 0, u_t != 0: p = s (1, -mu u_t/|u_t|), s >= 0.  u = 0: p in K.
 *     joints       equations: p free; bounded rows: at the bound that u points away from, between them where u = 0
 *
 * What a law leaves open is chosen so that the rest f = i - G p is least in the norm of M^-1: least squares
 *
 *     min | L^-1 (i - G p) |,    M = L L',    p = sum over generators of x_j g_j,  x_j >= 0 (equations: any sign)
 *
 * A cone is the hull of its rays (1, mu d), |d| = 1. It begins with four of them, and after each solve gets the one
 * along which the rest falls fastest, until there is none: a fully corrective conditional gradient method, whose inner
 * problem is solved exactly (linalg/nnls.h). The rest is the projection on a convex cone, so it is unique; p is unique
 * where the columns of the closed contacts are independent.
 *
 * A contact with restitution that hits within the step obeys neither law at its end: it is treated as a sticking one.
 *
 * Cost: the convex law without joints one projection per contact; else O(dof columns^2).
 *
 * E. Todorov (2011), A convex, smooth and invertible contact model for trajectory optimization; C. L. Lawson, R. J.
 * Hanson (1974), Solving Least Squares Problems. */
#include "derivative/inverse_impulses.h"

#include "base/elementary.h"
#include "formulation/registry.h"
#include "linalg/nnls.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

#define ROUNDS 60      /* of new rays */
#define RAYS 12        /* most of one cone, beside the first ones, on average */
#define DEPENDENT 1e-9 /* of a column's norm: what is left of it by the others when it depends on them */
#define STEEP 1e-12    /* of |rest| |column|: slopes below are rounding */

typedef enum kind { NOTHING, KNOWN, RAY, CONE, FREE, ABOVE, BELOW } kind;

typedef struct rows {
    mor_inverse_island* k;
    kind* kind;        /* of each block */
    double* u;         /* row_count */
    double* direction; /* row_count: of rays, with p_n = 1 */
    double *E, *goal, *x, *residual;
    bool* is_free;
    int *block, count, most; /* columns: their block */
    double* generator;       /* 6 each */
} rows;

void mor_inverse_whiten(int n, const double* L, bool back, double* x)
{
    for (int a = 0; a < n; a++) {
        int i = back ? n - 1 - a : a;
        double sum = back ? 0.0 : x[i];
        for (int j = 0; j < (back ? i + 1 : i); j++) sum += back ? L[i * n + j] * x[j] : -L[i * n + j] * x[j];
        x[i] = back ? sum : sum / L[i * n + i];
    }
}

static void whiten(const mor_inverse_island* k, bool back, double* x)
{
    for (int t = 0; t < k->s->tree_count; t++)
        mor_inverse_whiten(k->s->trees[t].dof, k->factor[t], back, x + k->s->trees[t].offset);
}

/* out += a G_row */
static void add_row(const mor_system* s, const mor_block* b, int r, double a, double* out)
{
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + r * t->dof;
        for (int m = 0; m < t->dof; m++) out[t->offset + m] += a * J[m];
    }
}

static double along_row(const mor_system* s, const mor_block* b, int r, const double* x)
{
    double sum = 0.0;
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + r * t->dof;
        for (int m = 0; m < t->dof; m++) sum += J[m] * x[t->offset + m];
    }
    return sum;
}

static double dot(int n, const double* a, const double* b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* ------------------------------------------------------------------------------------ what a law says */

static bool hits(const mor_system* s, int block)
{
    if (block >= s->contact_count) return false;
    const mor_contact_row* c = &s->contacts[block];
    return c->restitution > 0.0 && c->approach < -s->v_rest && c->gap + s->h * c->approach < 0.0;
}

static kind exact_kind(const rows* w, const mor_block* b)
{
    const double *u = w->u + b->row, slip = w->k->options->slip;
    double* d = w->direction + b->row;
    mor_cone cone = mor_block_cone(b);
    bool slides = true;
    if (u[0] > slip) return NOTHING;
    d[0] = 1.0;
    for (int i = 0; i < mor_disc_count(b->dim); i++) {
        int first = mor_disc_row(i), size = mor_disc_size(b->dim, i);
        double speed = size == 1 ? fabs(u[first]) : sqrt(u[first] * u[first] + u[first + 1] * u[first + 1]);
        for (int m = 0; m < size; m++) d[first + m] = speed > slip ? -cone.mu[i] * u[first + m] / speed : 0.0;
        slides = slides && (speed > slip || cone.mu[i] <= 0.0);
    }
    return slides ? RAY : CONE;
}

static kind bounded_kind(const rows* w, const mor_block* b)
{
    double u = w->u[b->row], slip = w->k->options->slip, *p = w->k->p + b->row;
    if (u > slip && isfinite(b->lower)) return *p = b->lower, KNOWN;
    if (u < -slip && isfinite(b->upper)) return *p = b->upper, KNOWN;
    if (isfinite(b->lower)) return *p = b->lower, ABOVE;
    return isfinite(b->upper) ? (*p = b->upper, BELOW) : FREE;
}

/* W_nn of every contact, after joints have been eliminated: |g - Q Q'g|^2 with Q spanning the equations. */
static bool own_responses(const rows* w, double* W)
{
    const mor_inverse_island* k = w->k;
    const mor_system* s = k->s;
    int n = s->dof, rank = 0, equations = 0;
    for (int i = 0; i < s->block_count; i++) {
        if (i < s->contact_count) W[i] = s->diagonal[s->diagonal_start[i]];
        else equations += s->blocks[i].kind == MOR_BLOCK_EQUATION ? s->blocks[i].dim : 0;
    }
    if (equations == 0) return true;
    double* Q = mor_arena_zero(k->arena, (size_t)n * ((size_t)equations + 1), sizeof *Q);
    if (!Q) return false;
    for (int pass = 0; pass < 2; pass++) /* equations, then normals */
        for (int i = pass ? 0 : s->contact_count; i < (pass ? s->contact_count : s->block_count); i++)
            for (int r = 0; r < (pass ? 1 : s->blocks[i].dim); r++) {
                if (!pass && s->blocks[i].kind != MOR_BLOCK_EQUATION) continue;
                double* q = Q + (size_t)n * rank;
                memset(q, 0, (size_t)n * sizeof *q);
                add_row(s, &s->blocks[i], r, 1.0, q);
                whiten(k, false, q);
                double before = sqrt(dot(n, q, q));
                for (int again = 0; again < 2; again++)
                    for (int c = 0; c < rank; c++) {
                        double a = dot(n, Q + (size_t)n * c, q);
                        for (int m = 0; m < n; m++) q[m] -= a * Q[(size_t)n * c + m];
                    }
                double after = sqrt(dot(n, q, q));
                if (pass && after > DEPENDENT * before) W[i] = after * after; /* else joints bear it all */
                if (pass || !(after > DEPENDENT * before)) continue;
                for (int m = 0; m < n; m++) q[m] /= after;
                rank++;
            }
    return true;
}

static bool choose_kinds(rows* w)
{
    mor_inverse_island* k = w->k;
    const mor_system* s = k->s;
    bool convex = k->options->law == MOR_INVERSE_CONVEX;
    double* bias = mor_arena_alloc(k->arena, ((size_t)s->row_count + 1) * sizeof *bias);
    double* W = mor_arena_alloc(k->arena, ((size_t)s->contact_count + 1) * sizeof *W);
    if (!bias || !W || (convex && !own_responses(w, W))) return false;
    mor_bias_stewart_trinkle(s, bias);
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        for (int r = 0; r < b->dim; r++) w->u[b->row + r] = bias[b->row + r] + along_row(s, b, r, k->nu);
        if (b->kind == MOR_BLOCK_EQUATION) w->kind[i] = FREE;
        else if (b->kind == MOR_BLOCK_BOUNDED) w->kind[i] = bounded_kind(w, b);
        else if (hits(s, i)) {
            w->kind[i] = b->dim > 1 ? CONE : RAY;
            w->direction[b->row] = 1.0;
            k->bounces++;
        } else if (!convex) w->kind[i] = exact_kind(w, b);
        else {
            double R = k->options->regularisation * (W[i] > 0.0 ? W[i] : 1.0);
            for (int r = 0; r < b->dim; r++) k->p[b->row + r] = -w->u[b->row + r] / R;
            mor_cone_project(b->dim, mor_block_cone(b), k->p + b->row);
            w->kind[i] = KNOWN;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------ least squares */

static void add_column(rows* w, int block, const double* g, bool is_free)
{
    const mor_system* s = w->k->s;
    const mor_block* b = &s->blocks[block];
    double* e = w->E + (size_t)s->dof * w->count;
    memset(e, 0, (size_t)s->dof * sizeof *e);
    for (int r = 0; r < b->dim; r++)
        if (g[r] != 0.0) add_row(s, b, r, g[r], e);
    whiten(w->k, false, e);
    memset(w->generator + 6 * w->count, 0, 6 * sizeof(double));
    memcpy(w->generator + 6 * w->count, g, (size_t)b->dim * sizeof *g);
    w->is_free[w->count] = is_free;
    w->block[w->count++] = block;
}

static void first_columns(rows* w)
{
    const mor_system* s = w->k->s;
    for (int i = 0; i < s->block_count; i++) {
        const mor_block* b = &s->blocks[i];
        double g[6] = { 0 };
        if (w->kind[i] == RAY) add_column(w, i, w->direction + b->row, false);
        if (w->kind[i] == ABOVE || w->kind[i] == BELOW)
            add_column(w, i, (double[6]){ w->kind[i] == ABOVE ? 1.0 : -1.0 }, false);
        for (int r = 0; w->kind[i] == FREE && r < b->dim; r++) {
            memset(g, 0, sizeof g);
            g[r] = 1.0;
            add_column(w, i, g, true);
        }
        for (int r = 1; w->kind[i] == CONE && r < b->dim; r++)
            for (int sign = -1; sign < 2; sign += 2) {
                memcpy(g, w->direction + b->row, (size_t)b->dim * sizeof *g);
                g[r] = sign * mor_block_cone(b).mu[mor_disc_of(r)];
                if (w->direction[b->row + r] == 0.0) add_column(w, i, g, false);
            }
    }
}

/* The ray of a cone along which the rest falls fastest, if there is one. */
static bool steepest(const rows* w, int block, double* g)
{
    const mor_system* s = w->k->s;
    const mor_block* b = &s->blocks[block];
    mor_cone cone = mor_block_cone(b);
    double slope[6], sum = 0.0, scale = 0.0;
    const double* Lt = w->residual + s->dof; /* L^-T of the residual: slopes are G' of it */
    for (int r = 0; r < b->dim; r++) slope[r] = along_row(s, b, r, Lt);
    memcpy(g, w->direction + b->row, (size_t)b->dim * sizeof *g);
    for (int i = 0; i < mor_disc_count(b->dim); i++) {
        int first = mor_disc_row(i), size = mor_disc_size(b->dim, i);
        bool open = true;
        for (int m = 0; m < size; m++) open = open && w->direction[b->row + first + m] == 0.0;
        double norm =
            size == 1 ? fabs(slope[first]) : sqrt(slope[first] * slope[first] + slope[first + 1] * slope[first + 1]);
        for (int m = 0; m < size && open && norm > 0.0; m++) g[first + m] = cone.mu[i] * slope[first + m] / norm;
    }
    for (int r = 0; r < b->dim; r++) sum += slope[r] * g[r], scale += fabs(slope[r] * g[r]);
    double own = sqrt(s->diagonal[s->diagonal_start[block]]);
    return sum > STEEP * own * sqrt(dot(s->dof, w->goal, w->goal)) && sum > 1e-9 * scale;
}

/* y := L^-T x, tree by tree. */
static void transpose_solve(const mor_inverse_island* k, const double* x, double* y)
{
    for (int t = 0; t < k->s->tree_count; t++) {
        int n = k->s->trees[t].dof, at = k->s->trees[t].offset;
        const double* L = k->factor[t];
        for (int i = n - 1; i >= 0; i--) {
            double sum = x[at + i];
            for (int j = i + 1; j < n; j++) sum -= L[j * n + i] * y[at + j];
            y[at + i] = sum / L[i * n + i];
        }
    }
}

static bool least_squares(rows* w)
{
    mor_inverse_island* k = w->k;
    const mor_system* s = k->s;
    double start = sqrt(dot(s->dof, w->goal, w->goal));
    for (int round = 0; round < ROUNDS; round++) {
        size_t mark = mor_arena_mark(k->arena);
        bool ok = mor_nnls(s->dof, w->count, w->E, w->is_free, w->goal, w->x, w->residual, k->arena);
        mor_arena_release(k->arena, mark);
        if (!ok) return false;
        if (sqrt(dot(s->dof, w->residual, w->residual)) <= 1e-15 * start) break;
        transpose_solve(k, w->residual, w->residual + s->dof);
        int before = w->count;
        for (int i = 0; i < s->contact_count; i++) {
            double g[6];
            if (w->kind[i] == CONE && w->count < w->most && steepest(w, i, g)) add_column(w, i, g, false);
        }
        if (w->count == before) break;
    }
    for (int j = 0; j < w->count; j++) {
        const mor_block* b = &s->blocks[w->block[j]];
        for (int r = 0; r < b->dim; r++) k->p[b->row + r] += w->x[j] * w->generator[6 * j + r];
    }
    return true;
}

/* Are the columns of all closed contacts and of the joints independent? Only asked of contacts: joints may be
 * redundant among themselves. */
static bool independent(rows* w)
{
    const mor_system* s = w->k->s;
    int n = s->dof, rank = 0;
    bool unique = true;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < s->block_count; i++) {
            const mor_block* b = &s->blocks[i];
            bool joint = w->kind[i] == FREE, contact = w->kind[i] == RAY || w->kind[i] == CONE;
            if (pass ? !contact : !joint) continue;
            for (int r = 0; r < (w->kind[i] == RAY ? 1 : b->dim); r++) {
                if (rank >= n) return pass ? false : unique; /* more columns than velocities */
                double *q = w->E + (size_t)n * rank, g[6] = { 0 };
                w->count = rank;
                g[r] = 1.0;
                add_column(w, i, w->kind[i] == RAY ? w->direction + b->row : g, false);
                double before = sqrt(dot(n, q, q));
                for (int c = 0; c < 2 * rank; c++) {
                    double a = dot(n, w->E + (size_t)n * (c % rank), q);
                    for (int m = 0; m < n; m++) q[m] -= a * w->E[(size_t)n * (c % rank) + m];
                }
                double after = sqrt(dot(n, q, q));
                if (!(after > DEPENDENT * before)) {
                    unique = unique && !pass;
                    continue;
                }
                for (int m = 0; m < n; m++) q[m] /= after;
                rank++;
            }
        }
    return unique;
}

/* p of the upper side of bounded rows, which the least squares does not know. */
static void clip(rows* w)
{
    const mor_system* s = w->k->s;
    for (int i = 0; i < s->block_count; i++)
        if (w->kind[i] == ABOVE) {
            double* p = w->k->p + s->blocks[i].row;
            *p = mor_min(*p, s->blocks[i].upper);
        }
}

bool mor_inverse_impulses(mor_inverse_island* k)
{
    const mor_system* s = k->s;
    size_t mark = mor_arena_mark(k->arena);
    int open = 0;
    rows w = { .k = k };
    w.kind = mor_arena_zero(k->arena, (size_t)s->block_count + 1, sizeof *w.kind);
    w.u = mor_arena_zero(k->arena, (size_t)s->row_count + 1, sizeof(double));
    w.direction = mor_arena_zero(k->arena, (size_t)s->row_count + 1, sizeof(double));
    if (!w.kind || !w.u || !w.direction) return false;
    memset(k->p, 0, (size_t)s->row_count * sizeof(double));
    k->unique = true;
    k->bounces = 0;
    if (!choose_kinds(&w)) return false;
    for (int i = 0; i < s->block_count; i++) open += w.kind[i] > KNOWN ? 2 * s->blocks[i].dim + RAYS : 0;
    if (open > 0) {
        size_t n = (size_t)s->dof;
        w.most = open > s->dof ? open : s->dof;
        w.E = mor_arena_alloc(k->arena, n * ((size_t)w.most + 1) * sizeof(double));
        w.goal = mor_arena_alloc(k->arena, (n + 1) * sizeof(double));
        w.residual = mor_arena_alloc(k->arena, (2 * n + 1) * sizeof(double));
        w.x = mor_arena_zero(k->arena, (size_t)w.most + 1, sizeof(double));
        w.generator = mor_arena_alloc(k->arena, 6 * ((size_t)w.most + 1) * sizeof(double));
        w.is_free = mor_arena_zero(k->arena, (size_t)w.most + 1, sizeof *w.is_free);
        w.block = mor_arena_zero(k->arena, (size_t)w.most + 1, sizeof(int));
        if (!w.E || !w.goal || !w.residual || !w.x || !w.generator || !w.is_free || !w.block) return false;
        memcpy(w.goal, k->impulse, n * sizeof(double));
        for (int i = 0; i < s->block_count; i++)
            for (int r = 0; r < s->blocks[i].dim; r++)
                add_row(s, &s->blocks[i], r, -k->p[s->blocks[i].row + r], w.goal);
        whiten(k, false, w.goal);
        first_columns(&w);
        if (!least_squares(&w)) return false;
        clip(&w);
        k->unique = independent(&w);
    }
    memcpy(k->rest, k->impulse, (size_t)s->dof * sizeof(double));
    for (int i = 0; i < s->block_count; i++)
        for (int r = 0; r < s->blocks[i].dim; r++) add_row(s, &s->blocks[i], r, -k->p[s->blocks[i].row + r], k->rest);
    mor_arena_release(k->arena, mark);
    return true;
}
