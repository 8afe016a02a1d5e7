/* W_ee p = rhs, W_ee = G_e' M^-1 G_e: the equations of joints, sparse and direct.
 *
 * W_ee couples joints that share a tree: for chains and trees of bodies it has almost no fill in a minimum
 * degree order, so the cost is linear in the joints where Gauss-Seidel needs a number of sweeps that grows with
 * the square of the chain's length. Redundant joints make W_ee singular; solved is therefore
 *
 *     p <- p + (W_ee + e D)^-1 (rhs - W_ee p),     D the largest diagonal of each joint's block, e = 1e-9
 *
 * the proximal point iteration, whose limit solves the consistent part: each round multiplies the error of a
 * mode by e/(w + e), so three rounds reach rounding unless modes are as small as e.
 *
 * As a start for the solvers, bounded rows that were between their bounds (motors, friction) count as equations; those
 * that come out beyond are put on their bound and the rest is solved again.
 *
 * Cost: O(fill); no memory but the arena's. */
#include "formulation/equations.h"

#include "linalg/block_cholesky.h"
#include "problem/convert.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 3, GUESS_ROUNDS = 4 };

#define SHIFT 1e-9 /* e above: far below what matters of W, far above its rounding */

typedef struct assembly {
    const mor_step_form* step;
    const int* number; /* block -> equation block, -1: not one */
    mor_block_cholesky* factor;
    bool failed;
} assembly;

static void add_block(void* user, int a, int b, const double* W)
{
    assembly* s = user;
    int i = s->number[a], j = s->number[b], n = s->step->blocks[a].dim;
    if (i < 0 || j < i || s->failed) return;
    if (i != j) {
        s->failed = !mor_block_cholesky_add(s->factor, i, j, W);
        return;
    }
    double own[MOR_BLOCK_DIM * MOR_BLOCK_DIM], largest = 0.0;
    memcpy(own, W, (size_t)(n * n) * sizeof *own);
    for (int d = 0; d < n; d++) largest = fmax(largest, own[d * n + d]);
    for (int d = 0; d < n; d++) own[d * n + d] += SHIFT * (largest > 0.0 ? largest : 1.0);
    s->failed = !mor_block_cholesky_add(s->factor, i, i, own);
}

/* y = W x on the active blocks, by products with G and M^-1 G. */
static void apply(const mor_step_form* step, const int* number, const int* offset, const double* x, double* nu, double* y)
{
    memset(nu, 0, (size_t)step->dof * sizeof *nu);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < step->block_count; i++) {
            const mor_block* b = &step->blocks[i];
            if (number[i] < 0) continue;
            int at = offset[number[i]];
            for (int d = 0; pass && d < b->dim; d++) y[at + d] = 0.0;
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                const mor_tree_block* t = &step->trees[step->entries[e].tree];
                const double* C = (pass ? step->jacobian : step->response) + step->entries[e].start;
                double* v = nu + t->offset;
                for (int d = 0; d < b->dim; d++, C += t->dof)
                    for (int m = 0; m < t->dof; m++) {
                        if (pass) y[at + d] += C[m] * v[m];
                        else v[m] += C[m] * x[at + d];
                    }
            }
        }
}

/* Blocks with active[block]; NULL: the equations. */
static bool solve_blocks(const mor_step_form* step, const bool* active, const double* rhs, double* p, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    int* number = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *number);
    int* dims = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *dims);
    int* offset = mor_arena_alloc(arena, ((size_t)step->block_count + 1) * sizeof *offset);
    bool ok = false;
    int count = 0, n = 0;
    if (!number || !dims || !offset) goto done;
    for (int i = 0; i < step->block_count; i++) {
        bool mine = active ? active[i] : step->blocks[i].kind == MOR_BLOCK_EQUATION;
        number[i] = mine ? count : -1;
        if (!mine) continue;
        if (step->blocks[i].dim > MOR_BLOCK_DIM) goto done;
        offset[count] = n;
        dims[count++] = step->blocks[i].dim;
        n += step->blocks[i].dim;
    }
    if (n == 0) {
        ok = true;
        goto done;
    }
    assembly s = { .step = step, .number = number };
    s.factor = mor_block_cholesky_create(count, dims, arena);
    double* x = mor_arena_zero(arena, (size_t)n, sizeof *x);
    double* y = mor_arena_alloc(arena, (size_t)n * sizeof *y);
    double* nu = mor_arena_alloc(arena, (size_t)step->dof * sizeof *nu);
    if (!s.factor || !x || !y || !nu || !mor_step_visit_W(step, add_block, &s, arena) || s.failed) goto done;
    if (!mor_block_cholesky_factor(s.factor)) goto done;
    ok = true;
    for (int round = 0; round < ROUNDS && ok; round++) { /* x += (W + e D)^-1 (b - W x) */
        if (round) apply(step, number, offset, x, nu, y);
        else memset(y, 0, (size_t)n * sizeof *y);
        for (int i = 0; i < step->block_count; i++)
            for (int d = 0; number[i] >= 0 && d < step->blocks[i].dim; d++) {
                int at = offset[number[i]] + d;
                y[at] = rhs[step->blocks[i].row + d] - y[at];
            }
        mor_block_cholesky_solve(s.factor, y);
        for (int i = 0; i < n; i++) {
            x[i] += y[i];
            ok = ok && isfinite(x[i]);
        }
    }
    for (int i = 0; ok && i < step->block_count; i++)
        for (int d = 0; number[i] >= 0 && d < step->blocks[i].dim; d++) p[step->blocks[i].row + d] = x[offset[number[i]] + d];
done:
    mor_arena_release(arena, mark);
    return ok;
}

bool mor_equations_solve(const mor_step_form* step, const double* rhs, double* p, mor_arena* arena)
{
    return solve_blocks(step, NULL, rhs, p, arena);
}

void mor_equations_guess(const mor_step_form* step, double* p, mor_arena* arena)
{
    bool any = false;
    for (int i = 0; i < step->block_count && !any; i++) any = step->blocks[step->block_count - 1 - i].kind != MOR_BLOCK_CONTACT;
    if (!any) return;
    size_t mark = mor_arena_mark(arena);
    double* trial = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *trial);
    double* u = mor_arena_alloc(arena, (size_t)step->row_count * sizeof *u);
    double* nu = mor_arena_alloc(arena, (size_t)step->dof * sizeof *nu);
    bool* active = mor_arena_alloc(arena, (size_t)step->block_count * sizeof *active);
    bool good = trial && u && nu && active;
    if (good) memcpy(trial, p, (size_t)step->row_count * sizeof *trial);
    for (int i = 0; good && i < step->block_count; i++) {
        const mor_block* b = &step->blocks[i];
        double x = trial[b->row];
        active[i] = b->kind == MOR_BLOCK_EQUATION || (b->kind == MOR_BLOCK_BOUNDED && ((x > b->lower && x < b->upper) || (x == 0.0 && b->lower < 0.0)));
    }
    for (int round = 0; good && round < GUESS_ROUNDS; round++) {
        for (int i = 0; i < step->block_count; i++)
            for (int d = 0; active[i] && d < step->blocks[i].dim; d++) trial[step->blocks[i].row + d] = 0.0;
        mor_step_velocity(step, trial, nu);
        mor_step_rows(step, nu, u);
        for (int i = 0; i < step->row_count; i++) u[i] = -u[i];
        good = solve_blocks(step, active, u, trial, arena);
        bool changed = false;
        for (int i = 0; good && i < step->block_count; i++) { /* beyond its bounds: it stays on one */
            const mor_block* b = &step->blocks[i];
            if (b->kind != MOR_BLOCK_BOUNDED || !active[i]) continue;
            double x = fmin(fmax(trial[b->row], b->lower), b->upper);
            if (x == trial[b->row]) continue;
            trial[b->row] = x;
            active[i] = false;
            changed = true;
        }
        if (!changed) break;
    }
    if (good) memcpy(p, trial, (size_t)step->row_count * sizeof *trial);
    mor_arena_release(arena, mark);
}
