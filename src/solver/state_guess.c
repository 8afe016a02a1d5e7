/* Contacts mostly go on doing what they did: open, stick or slide. With the states given, the step is a linear system.
 *
 *   open     p = 0                                 bounded row at a bound   p = bound
 *   stick    u = 0, p free                         between them, equation   u = 0, p free
 *   slide    u_n = 0, p = a (1, mu t)              t the direction of p_T - rho u_T (polygon: its nearest corner)
 *
 * The state of a row comes from its natural map p - rho u, rho = 1/|W_cc|. E the equations, B the directions of all
 * active blocks:
 *
 *     (E'W B + e D) x = -E'u,   p <- p + B x,      D the mean diagonal of each W_cc, e = 1e-9
 *
 * Four feet points on one rigid foot make W singular; e makes the step the proximal one from the last impulses, so that
 * the split between the points stays as it was. If the caller's judge is not content, the factor is used once more
 * (that removes what e and rounding left), then all is done again from there, at most four times: states change,
 * sliding directions turn. Where more than a few states turn out wrong that is in vain, and left to others at once.
 *
 * Where contacts slide, the split decides the motion. There the part of p that the equations do not determine is taken
 * out, p <- p - P^2 p with P = e (E'W B + e D)^-1 D: the answer of least norm, by the rule of tree_newton.c. Feet of
 * robots, whose impulses change with their control, keep p where that is no answer with these states.
 *
 * Without a guess p begins at zero. Then there is no split to keep, and e would make noise of it: only steps whose
 * impulses are unique are answered.
 *
 * It is a guess: nothing is claimed that the judge has not seen. Cost: k^2 dof/2 + k^3/6 (all stick) or k^3/3; memory
 * k^2. */
#include "solver/state_guess.h"

#include "base/arena.h"
#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/rows.h"
#include "problem/cone.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

/* MANY: states. Where more were wrong than that, another round helped in 5 of 650 steps of stock scenes; with fewer in
 * 395 of 1297. */
enum { ROUNDS = 4, MANY = 4 };
#define SHIFT 1e-9
#define TOUCH 1e-7     /* of the largest normal impulse */
#define REDUNDANT 1e-5 /* of the largest diagonal: pivots below may be those of equations that depend on each other */

typedef enum state { OPEN, STICK, SLIDE } state;

/* A block's part of the system: its columns, and the direction of a sliding one. */
typedef struct part {
    state now;
    int first, count;
    unsigned long long used; /* columns that matter (mor_used3) */
    double slide[3];         /* (1, mu t) */
} part;

static bool slide_along(const mor_block* b, double radius, const double t[2], part* out)
{
    double size = mor_hypot(t[0], t[1]);
    out->slide[0] = 1.0;
    if (b->dim == 2 || b->directions < 3) {
        if (size <= radius) return false;
        out->slide[1] = b->mu * t[0] / size, out->slide[2] = b->mu * t[1] / size;
        return true;
    }
    double beta[2], d[2];
    int j = mor_polygon_split(b->directions, t, beta);
    if (beta[0] + beta[1] <= radius) return false;
    mor_polygon_direction(b->directions, beta[0] >= beta[1] ? j : (j + 1) % b->directions, d);
    out->slide[1] = b->mu * d[0], out->slide[2] = b->mu * d[1];
    return true;
}

/* The state of a block; puts p on it. touch: a contact that just touches is closed, so that rounding does not decide
 * which of several carry. */
static void classify(const mor_block* b, double rho, double touch, const double* u, double* p, part* out)
{
    out->now = STICK;
    out->count = b->dim;
    if (b->kind == MOR_BLOCK_EQUATION) return;
    double n = p[0] - rho * u[0];
    if (b->kind == MOR_BLOCK_BOUNDED) {
        if (n > b->lower && n < b->upper) return;
        p[0] = n <= b->lower ? b->lower : b->upper;
        out->now = OPEN, out->count = 0;
        return;
    }
    if (!(n > -touch)) {
        for (int d = 0; d < b->dim; d++) p[d] = 0.0;
        out->now = OPEN, out->count = 0;
        return;
    }
    double t[2] = { b->dim > 1 ? p[1] - rho * u[1] : 0.0, b->dim > 2 ? p[2] - rho * u[2] : 0.0 };
    if (b->dim > 1 && slide_along(b, b->mu * mor_max(n, 0.0), t, out)) {
        out->now = SLIDE, out->count = 1;
        for (int d = 1; d < b->dim; d++) p[d] = out->slide[d] * p[0];
    }
}

/* Part (a, b) of K = E'W B, K column-major with leading dimension k. */
MOR_ALWAYS_INLINE void couple(const mor_step_form* s, int a, int b, const part* A, const part* B, int k, double* K)
{
    const mor_block *x = &s->blocks[a], *y = &s->blocks[b];
    double W[9] = { 0 };
    int m = A->now == SLIDE ? 1 : x->dim, n = y->dim;
    if (m > 3 || n > 3) return;      /* never: too_large */
    if (a == b && A->now == STICK) { /* its own W is known */
        const double* own = s->diagonal + s->diagonal_start[a];
        for (int c = 0; c < n; c++)
            for (int r = 0; r < n; r++) K[A->first + r + (size_t)(A->first + c) * k] = own[r * n + c];
        return;
    }
    if (m == 3 && n == 3 && B->now == STICK && x->entry_count == 1 && y->entry_count == 1) { /* on what does not move */
        const mor_entry *e = &s->entries[x->entry], *f = &s->entries[y->entry];
        const int dof = s->trees[e->tree].dof;
        if (e->tree == f->tree && dof <= MOR_USED_MOST) {
            mor_gram3_columns(dof, A->used, s->jacobian + e->start, s->response + f->start, k,
                              K + A->first + (size_t)B->first * k);
            return;
        }
    }
    for (int e = x->entry; e < x->entry + x->entry_count; e++)
        for (int f = y->entry; f < y->entry + y->entry_count; f++) {
            if (s->entries[e].tree != s->entries[f].tree) continue;
            int dof = s->trees[s->entries[e].tree].dof;
            const double *J = s->jacobian + s->entries[e].start, *Y = s->response + s->entries[f].start;
            if (m == 3 && n == 3 && dof <= MOR_USED_MOST) {
                mor_gram3_used(dof, A->used, J, Y, W);
                continue;
            }
            mor_gram(m, n, dof, J, Y, W);
        }
    for (int r = 0; r < A->count; r++) {
        double* to = K + A->first + r + (size_t)B->first * k;
        if (B->now == SLIDE) {
            double sum = 0.0;
            for (int c = 0; c < n; c++) sum += W[r * n + c] * B->slide[c];
            *to = sum;
        } else
            for (int c = 0; c < n; c++) to[(size_t)c * k] = W[r * n + c];
    }
}

MOR_ALWAYS_INLINE void couple_all_body(const mor_step_form* s, const part* parts, bool sliding, int k, double* K)
{
    for (int b = 0; b < s->block_count; b++)
        for (int a = sliding ? 0 : b; parts[b].count && a < s->block_count; a++)
            if (parts[a].count) couple(s, a, b, &parts[a], &parts[b], k, K);
}

MOR_WIDE_VOID(static, couple_all, (const mor_step_form* s, const part* parts, bool sliding, int k, double* K),
              (s, parts, sliding, k, K))

static bool too_large(const mor_step_form* s)
{
    if (s->row_count > MOR_STATE_GUESS_ROWS) return true;
    for (int i = 0; i < s->block_count; i++)
        if (s->blocks[i].dim > 3) return true;
    return false;
}

/* -------------------------------------------------------------------------------- one round */

typedef struct guess {
    const mor_step_form* step;
    part* parts;
    int k;                          /* unknowns */
    bool fresh;                     /* p began at zero: there is no split to keep */
    bool robots;                    /* there are trees of several bodies */
    bool sliding, moved, redundant; /* any contact slides; states changed p; p is not unique */
    int changed;                    /* states that did since the round before */
    bool turned;                    /* directions of sliding did */
    double *u, *x, *nu, *K, *shift; /* shift: SHIFT D */
    double* null;                   /* k, of keep_least */
    double* before;                 /* row_count: p before it */
    int* pivot;
} guess;

static bool open_guess(guess* g, const mor_step_form* s, mor_arena* arena)
{
    size_t n = (size_t)s->row_count;
    *g = (guess){ .step = s };
    g->parts = mor_arena_zero(arena, (size_t)s->block_count + 1, sizeof *g->parts);
    g->u = mor_arena_take(arena, (5 * n + (size_t)s->dof + 1) * sizeof *g->u);
    g->K = mor_arena_take(arena, (n * n + 1) * sizeof *g->K);
    g->pivot = mor_arena_take(arena, (n + 1) * sizeof *g->pivot);
    if (!g->parts || !g->u || !g->K || !g->pivot) return false;
    for (int t = 0; t < s->tree_count; t++) g->robots = g->robots || s->trees[t].dof > 6;
    g->x = g->u + n, g->shift = g->x + n, g->null = g->shift + n, g->before = g->null + n, g->nu = g->before + n;
    return true;
}

static void velocities(guess* g, const double* p)
{
    mor_step_velocity(g->step, p, g->nu);
    mor_step_rows(g->step, g->nu, g->u);
}

static void classify_all(guess* g, double* p)
{
    const mor_step_form* s = g->step;
    g->k = 0, g->changed = 0, g->sliding = g->moved = g->turned = false;
    velocities(g, p);
    double most = 0.0;
    for (int i = 0; i < s->block_count; i++)
        if (s->blocks[i].kind == MOR_BLOCK_CONTACT) most = mor_max(most, p[s->blocks[i].row]);
    for (int i = 0; i < s->block_count; i++) {
        part* own = &g->parts[i];
        double *q = p + s->blocks[i].row, before[3] = { q[0] };
        for (int d = 1; d < s->blocks[i].dim; d++) before[d] = q[d];
        part last = *own;
        own->first = g->k;
        classify(&s->blocks[i], mor_step_rho(s, i), TOUCH * most, g->u + s->blocks[i].row, q, own);
        for (int d = 0; d < s->blocks[i].dim; d++) g->moved = g->moved || q[d] != before[d];
        g->sliding = g->sliding || own->now == SLIDE;
        g->changed += own->now != last.now;
        g->turned = g->turned || own->slide[1] != last.slide[1] || own->slide[2] != last.slide[2];
        const mor_entry* entry = &s->entries[s->blocks[i].entry];
        own->used = ~0ull;
        if (s->blocks[i].dim == 3 && s->blocks[i].entry_count == 1 && s->trees[entry->tree].dof <= MOR_USED_MOST)
            own->used = mor_used3(s->trees[entry->tree].dof, s->jacobian + entry->start);
        g->k += own->count;
    }
}

/* K + e D, factored. False: singular all the same. */
static bool factor(guess* g)
{
    int k = g->k;
    double largest = 0.0, least = INFINITY, *K = g->K;
    couple_all(g->step, g->parts, g->sliding, k, K);
    for (int i = 0; i < g->step->block_count; i++) {
        const double* W = g->step->diagonal + g->step->diagonal_start[i];
        int d = g->step->blocks[i].dim;
        double mean = 0.0;
        for (int r = 0; r < d; r++) mean += W[r * d + r] / d;
        largest = mor_max(largest, mean);
        for (int r = g->parts[i].first; r < g->parts[i].first + g->parts[i].count; r++) {
            g->shift[r] = SHIFT * mean;
            K[r + (size_t)r * k] += g->shift[r];
        }
    }
    if (!(largest > 0.0) || !(g->sliding ? mor_lu_factor(k, K, g->pivot) : mor_cholesky_factor(k, K))) return false;
    const bool looks = g->sliding || g->fresh;
    for (int i = 0; looks && i < k; i++) {
        double pivot = fabs(K[i + (size_t)i * k]);
        least = mor_min(least, g->sliding ? pivot : pivot * pivot);
    }
    g->redundant = looks && least <= REDUNDANT * largest;
    return true;
}

static void solve(const guess* g, double* x)
{
    if (g->sliding) mor_lu_solve(g->k, g->K, g->pivot, x);
    else mor_cholesky_solve(g->k, g->K, x);
}

/* p <- p + factor B x */
static void add_active(const guess* g, double factor, const double* x, double* p)
{
    for (int i = 0; i < g->step->block_count; i++) {
        const part* own = &g->parts[i];
        double* to = p + g->step->blocks[i].row;
        const double* from = x + own->first;
        for (int d = 0; own->now == STICK && d < g->step->blocks[i].dim; d++) to[d] += factor * from[d];
        for (int d = 0; own->now == SLIDE && d < g->step->blocks[i].dim; d++) to[d] += factor * own->slide[d] * from[0];
    }
}

static double weighted(const guess* g, const double* x)
{
    double sum = 0.0;
    for (int i = 0; i < g->k; i++) sum += g->shift[i] * x[i] * x[i];
    return sqrt(sum);
}

/* Takes the part of p out that the equations do not determine: p <- p - P p. */
static void keep_least(guess* g, double* p)
{
    double *a = g->x, *z = g->null;
    for (int pass = 0; pass < 3; pass++) {
        for (int i = 0; i < g->step->block_count; i++)
            for (int r = 0; r < g->parts[i].count; r++) a[g->parts[i].first + r] = p[g->step->blocks[i].row + r];
        for (int i = 0; i < g->k; i++) z[i] = g->shift[i] * a[i];
        solve(g, z);
        double once = weighted(g, z), size = weighted(g, a);
        for (int i = 0; i < g->k; i++) z[i] *= g->shift[i];
        solve(g, z);
        double twice = weighted(g, z);
        if (!(twice <= 2.0 * once) || !(twice > 1e-15 * size)) return; /* no projector: jammed; or nothing left */
        add_active(g, -1.0, z, p);
    }
}

static bool is_finite(size_t n, const double* p)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += 0.0 * p[i];
    return sum == 0.0;
}

/* Is the answer good enough, of least norm or, with robots, as it is? */
static bool judge(guess* g, mor_judged good_enough, const void* user, double* p)
{
    size_t bytes = (size_t)g->step->row_count * sizeof *p;
    if (!g->redundant) return good_enough(user, p);
    memcpy(g->before, p, bytes);
    keep_least(g, p);
    if (is_finite((size_t)g->step->row_count, p) && good_enough(user, p)) return true;
    if (!g->robots) return false;
    memcpy(p, g->before, bytes);
    return good_enough(user, p);
}

/* p <- the answer that the states of p imply, by the factor at hand. False: not finite. */
static bool solve_states(guess* g, bool fresh_velocities, double* p)
{
    const mor_step_form* s = g->step;
    if (fresh_velocities) velocities(g, p);
    for (int i = 0; i < s->block_count; i++)
        for (int r = 0; r < g->parts[i].count; r++) g->x[g->parts[i].first + r] = -g->u[s->blocks[i].row + r];
    solve(g, g->x);
    add_active(g, 1.0, g->x, p);
    return is_finite((size_t)s->row_count, p);
}

bool mor_state_guess(const mor_problem* problem, bool fresh, mor_judged good_enough, const void* user, double* p,
                     mor_arena* arena)
{
    const mor_step_form* s = &problem->step;
    guess g;
    if (too_large(s)) return false;
    size_t mark = mor_arena_mark(arena);
    bool sound = open_guess(&g, s, arena), done = false;
    g.fresh = fresh;
    for (int round = 0; sound && !done && round < ROUNDS; round++) {
        classify_all(&g, p);
        if (g.k == 0) break;
        /* nothing is new; or only how feet slide that creep, too slowly to wait for */
        if (round > 0 && !g.changed && (g.robots || !g.turned)) break;
        if (round > 0 && g.changed > MANY) break;
        sound = factor(&g) && !(fresh && g.redundant);
        for (int again = 0; sound && !done && again < 2; again++) {
            sound = solve_states(&g, again || g.moved, p);
            done = sound && judge(&g, good_enough, user, p);
        }
    }
    mor_arena_release(arena, mark);
    return done;
}

bool mor_state_least(const mor_problem* problem, mor_judged good_enough, const void* user, double* p, mor_arena* arena)
{
    const mor_step_form* s = &problem->step;
    guess g;
    if (too_large(s)) return false;
    size_t mark = mor_arena_mark(arena);
    bool sound = open_guess(&g, s, arena), done = false;
    for (int round = 0; sound && !done && round < ROUNDS; round++) {
        classify_all(&g, p);
        if (!g.sliding || !factor(&g) || !g.redundant || !solve_states(&g, g.moved, p)) break;
        keep_least(&g, p);
        sound = is_finite((size_t)s->row_count, p);
        done = sound && good_enough(user, p);
    }
    mor_arena_release(arena, mark);
    return done;
}
