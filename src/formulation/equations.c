/* W_ee p = rhs, W_ee = G_e' M^-1 G_e: the equations of joints, sparse and direct.
 *
 * W_ee couples joints that share a tree: for chains and trees of bodies it has almost no fill in a minimum
 * degree order, so the cost is linear in the joints where Gauss-Seidel needs a number of sweeps that grows with
 * the square of the chain's length. Redundant joints make W_ee singular; solved is therefore
 *
 *     p <- p + (W_ee + e D)^-1 (rhs - W_ee p),     e = 1e-9
 *
 * the proximal point iteration, whose limit solves the consistent part: each round multiplies the error of a mode w by
 * e/(w + e), so two rounds reach rounding unless modes are as small as e (a loop close to a dead centre); those get
 * more rounds while they help. Joints of free bodies that form a tree do not depend on each other: there e = 0, and one
 * round does. D is the diagonal of W_ee, so that rows on parts of very different mass (marker links of
 * a milligram beside motors) keep their own measure.
 *
 * Redundant rows agree on the constraint only. A mechanism that is off it by d (a step leaves d ~ h^2) has rows that
 * contradict each other by a little, and a mode of W_ee of the size d^2; to satisfy them exactly would be to stop:
 * Bricard's six-bar would not move. Modes far below e get no impulse, and what remains of their rows is taken out of
 * the bias, so that the problem handed to the solvers is the one that can be solved. The same carries loops over dead
 * centres. More than 1 % of the velocity the rows correct is not such a remainder but a contradiction, and stays for
 * the judge to see. Violations are measured on positions, whatever the rows say, and corrected there.
 *
 * As a start for the solvers, bounded rows that were between their bounds (motors, friction) count as equations; those
 * that come out beyond are put on their bound and the rest is solved again.
 *
 * Cost: O(fill); no memory but the arena's. */
#include "formulation/equations.h"

#include "base/arena.h"
#include "base/elementary.h"
#include "linalg/block_cholesky.h"
#include "linalg/rows.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 30, GUESS_ROUNDS = 4 };

#define DISAGREEMENT 1e-2 /* redundant rows may differ by this part of the largest velocity they correct */

#define SHIFT 1e-9 /* e above: far below what matters of W, far above its rounding */

struct mor_equations {
    int *number, *offset; /* of a block among those solved, -1: not one; of its rows among theirs */
    int n;
    mor_block_cholesky* factor;   /* NULL: no rows */
    double e;                     /* the shift, or more of it */
    double *shift, *x, *r, *room; /* e D; answer and right-hand side of the rows solved; dof + 3 n */
    double enough;                /* m/s: an answer with at most this error needs no solver; 0: it does */
};

/* Blocks of W_ee above the diagonal, and on it with the shift e D, into the factor. Every tree has a list of the
 * entries of blocks that were there before: each pair of blocks that share a tree is met once. */
MOR_ALWAYS_INLINE bool assemble_body(const mor_step_form* step, const mor_equations* q, int* first, int* next,
                                     int* block_of)
{
    const int* number = q->number;
    for (int t = 0; t < step->tree_count; t++) first[t] = -1;
    for (int b = 0; b < step->block_count; b++) {
        const mor_block* B = &step->blocks[b];
        const int n = B->dim;
        if (number[b] < 0) continue;
        double* own = mor_block_cholesky_at(q->factor, number[b], number[b]);
        if (!own) return false;
        if (step->diagonal) memcpy(own, step->diagonal + step->diagonal_start[b], (size_t)(n * n) * sizeof *own);
        for (int e = B->entry; e < B->entry + B->entry_count; e++) {
            const int tree = step->entries[e].tree, dof = step->trees[tree].dof;
            const double* Y = step->response + step->entries[e].start;
            if (!step->diagonal) mor_gram(n, n, dof, step->jacobian + step->entries[e].start, Y, own);
            for (int f = first[tree]; f >= 0; f = next[f]) {
                const int a = block_of[f];
                double* W = mor_block_cholesky_at(q->factor, number[a], number[b]);
                if (!W) return false;
                mor_gram(step->blocks[a].dim, n, dof, step->jacobian + step->entries[f].start, Y, W);
            }
        }
        for (int e = B->entry; e < B->entry + B->entry_count; e++) {
            const int tree = step->entries[e].tree;
            block_of[e] = b, next[e] = first[tree], first[tree] = e;
        }
        double* shift = q->shift + q->offset[number[b]];
        for (int d = 0; d < n; d++) {
            shift[d] = own[d * n + d] > 0.0 ? q->e * own[d * n + d] : 1.0;
            own[d * n + d] += shift[d];
        }
    }
    return true;
}

MOR_WIDE(static, bool, assemble,
         (const mor_step_form* step, const mor_equations* q, int* first, int* next, int* block_of),
         (step, q, first, next, block_of))

/* y = W x on the active blocks, by products with G and M^-1 G. */
MOR_ALWAYS_INLINE void apply_body(const mor_step_form* step, const mor_equations* q, const double* x, double* nu,
                                  double* y)
{
    memset(nu, 0, (size_t)step->dof * sizeof *nu);
    memset(y, 0, (size_t)q->n * sizeof *y);
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < step->block_count; i++) {
            const mor_block* b = &step->blocks[i];
            if (q->number[i] < 0) continue;
            int at = q->offset[q->number[i]];
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                const mor_tree_block* t = &step->trees[step->entries[e].tree];
                if (pass) mor_rows(b->dim, t->dof, step->jacobian + step->entries[e].start, nu + t->offset, y + at);
                else mor_push(b->dim, t->dof, step->response + step->entries[e].start, x + at, nu + t->offset);
            }
        }
}

MOR_WIDE_VOID(static, apply,
              (const mor_step_form* step, const mor_equations* q, const double* x, double* nu, double* y),
              (step, q, x, nu, y))

static double largest_of(int n, const double* x)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) most = mor_max(most, fabs(x[i]));
    return most;
}

/* x += (W + e D)^-1 r, r = rhs - W x, from x = 0 until the rows are within `accuracy` or get no better. What the first
 * solve leaves is e D x but for rounding, so that a second one may follow before W is applied.
 * Returns what is left of the rows, INFINITY when nothing came of it. */
static double iterate(const mor_step_form* step, const mor_equations* q, double accuracy)
{
    int n = q->n;
    const double* rhs = q->r;
    double *x = q->x, *r = q->room, *y = r + n, *next = y + n, *nu = next + n, best = INFINITY,
           enough = accuracy * largest_of(n, rhs);
    memcpy(r, rhs, (size_t)n * sizeof *r);
    memset(x, 0, (size_t)n * sizeof *x);
    for (int round = 0; round < ROUNDS; round++) {
        mor_block_cholesky_solve(q->factor, r);
        for (int i = 0; i < n; i++) next[i] = x[i] + r[i];
        if (round == 0) {
            for (int i = 0; i < n; i++) r[i] = q->shift[i] * next[i];
            if (largest_of(n, r) > enough) {
                mor_block_cholesky_solve(q->factor, r);
                for (int i = 0; i < n; i++) next[i] += r[i];
            }
        }
        apply(step, q, next, nu, y);
        for (int i = 0; i < n; i++) r[i] = rhs[i] - y[i];
        double left = largest_of(n, r);
        if (!(left < best)) break;
        memcpy(x, next, (size_t)n * sizeof *x);
        bool slow = left > 0.9 * best;
        best = left;
        if (left <= enough || slow) break;
    }
    return best;
}

/* The blocks with active[block]; NULL: the equations. */
static mor_equations* factor_blocks(const mor_step_form* step, const bool* active, double e, mor_arena* arena)
{
    mor_equations* q = mor_arena_zero(arena, 1, sizeof *q);
    int* dims = mor_arena_take(arena, (size_t)step->block_count * sizeof *dims);
    int count = 0, n = 0;
    if (!q || !dims) return NULL;
    q->e = e;
    q->number = mor_arena_take(arena, (size_t)step->block_count * sizeof *q->number);
    q->offset = mor_arena_take(arena, ((size_t)step->block_count + 1) * sizeof *q->offset);
    if (!q->number || !q->offset) return NULL;
    for (int i = 0; i < step->block_count; i++) {
        bool mine = active ? active[i] : step->blocks[i].kind == MOR_BLOCK_EQUATION;
        q->number[i] = mine ? count : -1;
        if (!mine) continue;
        if (step->blocks[i].dim > MOR_BLOCK_DIM) return NULL;
        q->offset[count] = n;
        dims[count++] = step->blocks[i].dim;
        n += step->blocks[i].dim;
    }
    q->n = n;
    if (n == 0) return q;
    q->shift = mor_arena_take(arena, (size_t)n * sizeof *q->shift);
    q->x = mor_arena_take(arena, (size_t)n * sizeof *q->x);
    q->r = mor_arena_take(arena, (size_t)n * sizeof *q->r);
    q->room = mor_arena_take(arena, ((size_t)step->dof + 3 * (size_t)n) * sizeof *q->room);
    int entries = 0;
    for (int i = 0; i < step->block_count; i++) {
        const mor_block* b = &step->blocks[i];
        if (b->entry + b->entry_count > entries) entries = b->entry + b->entry_count;
    }
    int* lists = mor_arena_take(arena, ((size_t)step->tree_count + 2 * (size_t)entries + 1) * sizeof *lists);
    q->factor = mor_block_cholesky_create(count, dims, arena);
    bool ok = q->shift && q->x && q->r && q->room && q->factor && lists &&
              assemble(step, q, lists, lists + step->tree_count, lists + step->tree_count + entries);
    return ok && mor_block_cholesky_factor(q->factor) ? q : NULL;
}

/* The rows that are solved, of all rows; and back. */
static void gather(const mor_step_form* step, const mor_equations* q, const double* all, double* x)
{
    for (int i = 0; i < step->block_count; i++) {
        if (q->number[i] < 0) continue;
        const double* from = all + step->blocks[i].row;
        double* to = x + q->offset[q->number[i]];
        for (int d = 0; d < step->blocks[i].dim; d++) to[d] = from[d];
    }
}

static void scatter(const mor_step_form* step, const mor_equations* q, const double* x, double* all)
{
    for (int i = 0; i < step->block_count; i++) {
        if (q->number[i] < 0) continue;
        const double* from = x + q->offset[q->number[i]];
        double* to = all + step->blocks[i].row;
        for (int d = 0; d < step->blocks[i].dim; d++) to[d] = from[d];
    }
}

/* *left: what is left of the rows, as part of the largest of rhs, 0 if that is rounding. */
static bool solve_rows(const mor_step_form* step, mor_equations* q, const double* rhs, double accuracy, double* p,
                       double* left)
{
    *left = 0.0;
    if (q->n == 0) return true;
    gather(step, q, rhs, q->r);
    double least = iterate(step, q, accuracy), scale = largest_of(q->n, q->r);
    if (!isfinite(least)) return false;
    if (least > 1e-10 * scale) *left = least / scale;
    scatter(step, q, q->x, p);
    return true;
}

static bool solve_blocks(const mor_step_form* step, const bool* active, const double* rhs, double accuracy, double* p,
                         double* left, mor_arena* arena)
{
    size_t mark = mor_arena_mark(arena);
    mor_equations* q = factor_blocks(step, active, SHIFT, arena);
    bool ok = q && solve_rows(step, q, rhs, accuracy, p, left);
    mor_arena_release(arena, mark);
    return ok;
}

/* Are the blocks a tree of bodies, on the ground at most once? The form is connected. */
static bool is_open(const mor_step_form* step)
{
    int inner = 0, ground = 0;
    for (int b = 0; b < step->block_count; b++)
        if (step->blocks[b].entry_count > 1) inner++;
        else ground++;
    return inner < step->tree_count && ground <= 1;
}

mor_equations* mor_equations_factor(const mor_step_form* step, bool bodies, mor_arena* arena)
{
    mor_equations* q = NULL;
    size_t mark = mor_arena_mark(arena);
    if (bodies && is_open(step) && !(q = factor_blocks(step, NULL, 0.0, arena))) mor_arena_release(arena, mark);
    return q ? q : factor_blocks(step, NULL, SHIFT, arena);
}

mor_equations* mor_equations_factor_damped(const mor_step_form* step, double e, mor_arena* arena)
{
    return factor_blocks(step, NULL, mor_max(e, SHIFT), arena);
}

void mor_equations_solve_once(const mor_step_form* step, mor_equations* q, const double* rhs, double* p)
{
    if (q->n == 0) return;
    gather(step, q, rhs, q->x);
    mor_block_cholesky_solve(q->factor, q->x);
    scatter(step, q, q->x, p);
}

void mor_equations_accept(mor_equations* q, double error) { q->enough = error; }

double mor_equations_answer(const mor_step_form* step, mor_equations* q, double* p, double* nu)
{
    if (q->n == 0 || !(q->enough > 0.0)) return 0.0;
    mor_step_rows(step, step->nu_free, p);
    for (int i = 0; i < step->row_count; i++) p[i] = -p[i];
    gather(step, q, p, q->x);
    mor_block_cholesky_solve(q->factor, q->x);
    if (q->e > 0.0) {
        for (int i = 0; i < q->n; i++) q->r[i] = q->shift[i] * q->x[i]; /* what it left, but for rounding */
        mor_block_cholesky_solve(q->factor, q->r);
        for (int i = 0; i < q->n; i++) q->x[i] += q->r[i];
    }
    scatter(step, q, q->x, p);
    mor_step_velocity(step, p, nu);
    return q->enough;
}

bool mor_equations_solve(const mor_step_form* step, const double* rhs, double* p, mor_arena* arena)
{
    double left;
    return solve_blocks(step, NULL, rhs, 1e-8, p, &left, arena); /* of a correction */
}

bool mor_equations_only(const mor_step_form* step)
{
    for (int i = 0; i < step->block_count; i++)
        if (step->blocks[i].kind != MOR_BLOCK_EQUATION) return false;
    return step->block_count > 0;
}

void mor_equations_guess(const mor_step_form* step, mor_equations* equations, double* p, double* bias, mor_arena* arena)
{
    bool any = false;
    for (int i = 0; i < step->block_count && !any; i++)
        any = step->blocks[step->block_count - 1 - i].kind != MOR_BLOCK_CONTACT;
    if (!any) return;
    size_t mark = mor_arena_mark(arena);
    double* trial = mor_arena_take(arena, (size_t)step->row_count * sizeof *trial);
    double* u = mor_arena_take(arena, (size_t)step->row_count * sizeof *u);
    double* nu = mor_arena_take(arena, (size_t)step->dof * sizeof *nu);
    bool* active = mor_arena_take(arena, (size_t)step->block_count * sizeof *active);
    bool good = trial && u && nu && active;
    double left = 0.0;
    if (good) memcpy(trial, p, (size_t)step->row_count * sizeof *trial);
    for (int i = 0; good && i < step->block_count; i++) {
        const mor_block* b = &step->blocks[i];
        double x = trial[b->row];
        active[i] = b->kind == MOR_BLOCK_EQUATION ||
                    (b->kind == MOR_BLOCK_BOUNDED && ((x > b->lower && x < b->upper) || (x == 0.0 && b->lower < 0.0)));
    }
    for (int round = 0; good && round < GUESS_ROUNDS; round++) {
        for (int i = 0; i < step->block_count; i++)
            for (int d = 0; active[i] && d < step->blocks[i].dim; d++) trial[step->blocks[i].row + d] = 0.0;
        mor_step_velocity(step, trial, nu);
        mor_step_rows(step, nu, u);
        for (int i = 0; i < step->row_count; i++) u[i] = -u[i];
        good = equations ? solve_rows(step, equations, u, 1e-13, trial, &left)
                         : solve_blocks(step, active, u, 1e-13, trial, &left, arena);
        bool changed = false;
        for (int i = 0; good && i < step->block_count; i++) { /* beyond its bounds: it stays on one */
            const mor_block* b = &step->blocks[i];
            if (b->kind != MOR_BLOCK_BOUNDED || !active[i]) continue;
            double x = mor_min(mor_max(trial[b->row], b->lower), b->upper);
            if (x == trial[b->row]) continue;
            trial[b->row] = x;
            active[i] = false;
            changed = true;
        }
        if (!changed) break;
    }
    if (good && left > 0.0 && left < DISAGREEMENT) { /* the rows do not agree: they are asked for what they agree on */
        mor_step_velocity(step, trial, nu);
        mor_step_rows(step, nu, u);
        for (int i = 0; i < step->block_count; i++)
            for (int d = 0; step->blocks[i].kind == MOR_BLOCK_EQUATION && d < step->blocks[i].dim; d++)
                bias[step->blocks[i].row + d] -= u[step->blocks[i].row + d];
    }
    if (good) memcpy(p, trial, (size_t)step->row_count * sizeof *trial);
    mor_arena_release(arena, mark);
}
