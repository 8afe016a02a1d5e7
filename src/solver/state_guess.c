/* Contacts mostly go on doing what they did: open, stick or slide. With the states given, the step is a linear system.
 *
 *   open     p = 0                                 bounded row at a bound   p = bound
 *   stick    u = 0, p free                         between them, equation   u = 0, p free
 *   slide    u_n = 0, p = a (1, mu t)              t the direction of p_T - rho u_T (polygon: its nearest corner)
 *
 * The state of a row comes from its natural map p - rho u, rho = 1/|W_cc|. E the equations, B the directions of all
 * active blocks:
 *
 *     (E'W B + e D) x = -E'u,   p <- p + B x,      D the diagonal of E'W B, e = 1e-9
 *
 * Four feet points on one rigid foot make W singular; e makes the step the proximal one from the last impulses, so that
 * the split between the points stays as it was. If the caller's judge is not content, the factor is used once more
 * (that removes what e and rounding left), then all is done again from there, at most four times: states change,
 * sliding directions turn.
 *
 * It is a guess: nothing is claimed that the judge has not seen. Cost: k^2 dof/2 + k^3/6 (all stick) or k^3/3; memory
 * k^2. */
#include "solver/state_guess.h"

#include "base/elementary.h"
#include "linalg/dense.h"
#include "linalg/rows.h"
#include "problem/cone.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4 };
#define SHIFT 1e-9

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

/* The state of a block; puts p on it. */
static void classify(const mor_block* b, double rho, const double* u, double* p, part* out)
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
    if (!(n > 0.0)) {
        for (int d = 0; d < b->dim; d++) p[d] = 0.0;
        out->now = OPEN, out->count = 0;
        return;
    }
    double t[2] = { b->dim > 1 ? p[1] - rho * u[1] : 0.0, b->dim > 2 ? p[2] - rho * u[2] : 0.0 };
    if (b->dim > 1 && slide_along(b, b->mu * n, t, out)) {
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
    if (a == b && A->now == STICK) { /* its own W is known */
        const double* own = s->diagonal + s->diagonal_start[a];
        for (int c = 0; c < n; c++)
            for (int r = 0; r < n; r++) K[A->first + r + (size_t)(A->first + c) * k] = own[r * n + c];
        return;
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
            for (int r = 0; r < m; r++)
                for (int c = 0; c < n; c++) {
                    double sum = 0.0;
                    for (int i = 0; i < dof; i++) sum += J[r * dof + i] * Y[c * dof + i];
                    W[r * n + c] += sum;
                }
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

bool mor_state_guess(const mor_problem* problem, mor_judged good_enough, const void* user, double* p, mor_arena* arena)
{
    const mor_step_form* s = &problem->step;
    if (too_large(s)) return false;
    size_t mark = mor_arena_mark(arena), n = (size_t)s->row_count;
    part* parts = mor_arena_alloc(arena, ((size_t)s->block_count + 1) * sizeof *parts);
    double* u = mor_arena_alloc(arena, (2 * n + (size_t)s->dof + 1) * sizeof *u);
    double* K = mor_arena_alloc(arena, (n * n + 1) * sizeof *K);
    int* pivot = mor_arena_alloc(arena, (n + 1) * sizeof *pivot);
    bool sound = parts && u && K && pivot, done = false;
    double *x = u + n, *nu = x + n;
    for (int round = 0; sound && !done && round < ROUNDS; round++) {
        int k = 0;
        bool sliding = false, moved = false;
        mor_step_velocity(s, p, nu);
        mor_step_rows(s, nu, u);
        for (int i = 0; i < s->block_count; i++) {
            double* own = p + s->blocks[i].row;
            double before[3] = { own[0], s->blocks[i].dim > 1 ? own[1] : 0.0, s->blocks[i].dim > 2 ? own[2] : 0.0 };
            parts[i].first = k;
            classify(&s->blocks[i], mor_step_rho(s, i), u + s->blocks[i].row, own, &parts[i]);
            for (int d = 0; d < s->blocks[i].dim; d++) moved = moved || own[d] != before[d];
            sliding = sliding || parts[i].now == SLIDE;
            const mor_entry* entry = &s->entries[s->blocks[i].entry];
            parts[i].used = ~0ull;
            if (s->blocks[i].dim == 3 && s->blocks[i].entry_count == 1 && s->trees[entry->tree].dof <= MOR_USED_MOST)
                parts[i].used = mor_used3(s->trees[entry->tree].dof, s->jacobian + entry->start);
            k += parts[i].count;
        }
        if (k == 0) break;
        couple_all(s, parts, sliding, k, K);
        double largest = 0.0;
        for (int i = 0; i < k; i++) largest = mor_max(largest, K[i + (size_t)i * k]);
        for (int i = 0; i < k; i++) K[i + (size_t)i * k] += SHIFT * mor_max(K[i + (size_t)i * k], 1e-3 * largest);
        sound = largest > 0.0 && (sliding ? mor_lu_factor(k, K, pivot) : mor_cholesky_factor(k, K));
        for (int again = 0; sound && !done && again < 2; again++) {
            if (again || moved) {
                mor_step_velocity(s, p, nu);
                mor_step_rows(s, nu, u);
            }
            for (int i = 0; i < s->block_count; i++)
                for (int r = 0; r < parts[i].count; r++) x[parts[i].first + r] = -u[s->blocks[i].row + r];
            if (sliding) mor_lu_solve(k, K, pivot, x);
            else mor_cholesky_solve(k, K, x);
            for (int i = 0; i < s->block_count; i++) {
                double* to = p + s->blocks[i].row;
                const double* from = x + parts[i].first;
                for (int d = 0; parts[i].now == STICK && d < s->blocks[i].dim; d++) to[d] += from[d];
                for (int d = 0; parts[i].now == SLIDE && d < s->blocks[i].dim; d++)
                    to[d] += parts[i].slide[d] * from[0];
            }
            double sum = 0.0;
            for (size_t i = 0; i < n; i++) sum += 0.0 * p[i];
            sound = sum == 0.0;
            done = sound && good_enough(user, p);
        }
    }
    mor_arena_release(arena, mark);
    return done;
}
