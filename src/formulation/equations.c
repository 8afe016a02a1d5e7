/* W_ee p = rhs, W_ee = G_e' M^-1 G_e: the equations of joints, sparse and direct.
 *
 * W_ee couples joints that share a tree: for chains and trees of bodies it has almost no fill in a minimum
 * degree order, so the cost is linear in the joints where Gauss-Seidel needs a number of sweeps that grows with
 * the square of the chain's length. Redundant joints make W_ee singular; solved is therefore
 *
 *     (W_ee + e D) p_{k+1} = rhs + e D p_k,     D = diag(W_ee), e = 1e-9
 *
 * the proximal point iteration, whose limit solves the consistent part: each round multiplies the error of a
 * mode by e/(w + e), so three rounds reach rounding unless modes are as small as e.
 *
 * Cost: O(fill) numeric work, plus the analysis of the pattern. */
#include "formulation/equations.h"

#include "linalg/sparse.h"
#include "problem/convert.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4 };

typedef struct assembly {
    const mor_step_form* step;
    const int* number; /* block -> first equation, -1: not an equation */
    int *row, *col;
    double* x;
    int count, room;
    mor_arena* arena;
    bool failed;
} assembly;

static void count_block(void* user, int a, int b, const double* W)
{
    (void)W;
    assembly* s = user;
    if (s->number[a] >= 0 && s->number[b] >= 0) s->room += s->step->blocks[a].dim * s->step->blocks[b].dim;
}

static void add_block(void* user, int a, int b, const double* W)
{
    assembly* s = user;
    if (s->number[a] < 0 || s->number[b] < 0) return;
    int m = s->step->blocks[a].dim, n = s->step->blocks[b].dim;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            s->row[s->count] = s->number[a] + i;
            s->col[s->count] = s->number[b] + j;
            s->x[s->count++] = W[i * n + j];
        }
}

/* (W + e D) x = b + e D x, repeated. */
static bool solve(const mor_csr* W, const double* b, double* x, mor_arena* arena)
{
    const double e = 1e-9;
    int n = W->rows;
    double* d = mor_arena_alloc(arena, (size_t)n * sizeof *d);
    double* y = mor_arena_alloc(arena, (size_t)n * sizeof *y);
    if (!d || !y) return false;
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = fmax(largest, mor_csr_get(W, i, i));
    if (!(largest > 0.0) || !isfinite(largest)) return false;
    for (int i = 0; i < n; i++) {
        d[i] = e * fmax(mor_csr_get(W, i, i), 1e-6 * largest);
        for (int k = W->p[i]; k < W->p[i + 1]; k++)
            if (W->i[k] == i) W->x[k] += d[i];
    }
    mor_sparse_lu* lu = mor_sparse_lu_create(W, NULL);
    bool ok = lu && mor_sparse_lu_factor(lu, W);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int round = 0; ok && round < ROUNDS; round++) { /* residual b - W x with the unshifted W */
        mor_csr_apply(W, x, y);
        for (int i = 0; i < n; i++) y[i] = b[i] - y[i] + d[i] * x[i];
        mor_sparse_lu_solve(lu, 1, y);
        for (int i = 0; i < n; i++) {
            x[i] += y[i];
            ok = ok && isfinite(x[i]);
        }
    }
    if (lu) mor_sparse_lu_destroy(lu);
    return ok;
}

bool mor_equations_solve(const mor_step_form* step, const double* rhs, double* p, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    int* number = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *number);
    bool ok = false;
    int n = 0;
    if (!number) goto done;
    for (int i = 0; i < step->block_count; i++) {
        bool equation = step->blocks[i].kind == MOR_BLOCK_EQUATION;
        number[i] = equation ? n : -1;
        n += equation ? step->blocks[i].dim : 0;
    }
    if (n == 0) {
        ok = true;
        goto done;
    }
    assembly s = { .step = step, .number = number, .arena = arena };
    if (!mor_step_visit_W(step, count_block, &s, arena)) goto done;
    s.row = mor_arena_alloc(arena, (size_t)s.room * sizeof *s.row);
    s.col = mor_arena_alloc(arena, (size_t)s.room * sizeof *s.col);
    s.x = mor_arena_alloc(arena, (size_t)s.room * sizeof *s.x);
    double* b = mor_arena_alloc(arena, (size_t)n * sizeof *b);
    double* x = mor_arena_alloc(arena, (size_t)n * sizeof *x);
    if (!s.row || !s.col || !s.x || !b || !x || !mor_step_visit_W(step, add_block, &s, arena)) goto done;
    for (int i = 0; i < step->block_count; i++)
        for (int d = 0; number[i] >= 0 && d < step->blocks[i].dim; d++) b[number[i] + d] = rhs[step->blocks[i].row + d];
    mor_csr W;
    if (!mor_csr_from_triplets(&W, n, n, s.count, s.row, s.col, s.x, arena) || !solve(&W, b, x, arena)) goto done;
    for (int i = 0; i < step->block_count; i++)
        for (int d = 0; number[i] >= 0 && d < step->blocks[i].dim; d++) p[step->blocks[i].row + d] = x[number[i] + d];
    ok = true;
done:
    mor_arena_release(arena, mark);
    return ok;
}

void mor_equations_guess(const mor_step_form* step, double* p, mor_arena* arena)
{
    bool any = false;
    for (int i = 0; i < step->block_count && !any; i++) any = step->blocks[step->block_count - 1 - i].kind == MOR_BLOCK_EQUATION;
    if (!any) return;
    size_t mark = mor_arena_mark(arena);
    double* trial = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *trial);
    double* u = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *u);
    double* nu = mor_arena_alloc(arena, (size_t)step->dof * sizeof *nu);
    if (trial && u && nu) {
        memcpy(trial, p, (size_t)step->row_count * sizeof *trial);
        for (int i = 0; i < step->block_count; i++)
            for (int d = 0; step->blocks[i].kind == MOR_BLOCK_EQUATION && d < step->blocks[i].dim; d++) trial[step->blocks[i].row + d] = 0.0;
        mor_step_velocity(step, trial, nu);
        mor_step_rows(step, nu, u);
        for (int i = 0; i < step->row_count; i++) u[i] = -u[i];
        if (mor_equations_solve(step, u, trial, arena)) memcpy(p, trial, (size_t)step->row_count * sizeof *trial);
    }
    mor_arena_release(arena, mark);
}
