/* Redundant equations beside contacts.
 *
 * Loops that are welded, planar or doubled give more equations than they take freedom away: of W_ee = G_e' M^-1 G_e,
 * scaled to a unit diagonal, some modes are zero in the closed position and of the size d^2 where the mechanism is off
 * it by d. The impulses of these modes are not determined, or come without bound, and solvers of contact problems stop
 * there. A subset of the rows says the same: those that a Cholesky factorisation with diagonal pivoting takes before
 * its pivots fall below e,
 *
 *     P D^-1/2 W_ee D^-1/2 P' = L L',    rows with L_kk^2 > e.
 *
 * A row that is left out differs from what the others say by a part sqrt(e) of its own velocity at most, which the
 * positions show and the stabilisation takes back (step/stabilise.c).
 *
 * Cost: (equations)^3/3 and the products of their rows. Reference: N. J. Higham, Accuracy and Stability of Numerical
 * Algorithms (2nd ed.), section 10.3. */
#include "formulation/independent.h"

#include "base/elementary.h"
#include "linalg/dense.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

enum { MOST = 400 }; /* equations; beyond, the cube is too much for one step */

#define DISAGREEMENT 1e-2 /* redundant rows may differ by this part of the largest velocity they correct */

/* Rows of all equations: block and row in it. */
typedef struct row {
    int block, of;
    double scale; /* D^-1/2 */
} row;

static double product(const mor_step_form* s, const row* a, const row* b)
{
    const mor_block *A = &s->blocks[a->block], *B = &s->blocks[b->block];
    double sum = 0.0;
    for (int e = A->entry; e < A->entry + A->entry_count; e++)
        for (int f = B->entry; f < B->entry + B->entry_count; f++) {
            if (s->entries[e].tree != s->entries[f].tree) continue;
            int dof = s->trees[s->entries[e].tree].dof;
            const double *J = s->jacobian + s->entries[e].start + a->of * dof,
                         *Y = s->response + s->entries[f].start + b->of * dof;
            for (int k = 0; k < dof; k++) sum += J[k] * Y[k];
        }
    return sum;
}

/* Marks the rows that depend on others; their number, -1: out of memory. */
static int find_dependent(const mor_step_form* s, int n, double limit, row* rows, bool* dependent, mor_arena* arena)
{
    double* W = mor_arena_alloc(arena, (size_t)n * (size_t)n * sizeof *W);
    double* work = mor_arena_alloc(arena, 2 * (size_t)n * sizeof *work);
    int* order = mor_arena_alloc(arena, (size_t)n * sizeof *order);
    if (!W || !work || !order) return -1;
    for (int i = 0; i < n; i++) {
        double own = product(s, &rows[i], &rows[i]);
        rows[i].scale = own > 0.0 ? 1.0 / sqrt(own) : 0.0;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            W[i + j * n] = W[j + i * n] = rows[i].scale * rows[j].scale * product(s, &rows[i], &rows[j]);
    double least;
    int rank = mor_semidefinite_factor(n, W, order, limit, &least, work);
    for (int k = 0; k < n; k++) dependent[order[k]] = k >= rank;
    return n - rank;
}

/* The rows that stay: equations one by one, other blocks as they are. */
static bool reduce(const mor_problem* in, const bool* dependent, mor_problem* out, int** rows, mor_arena* arena)
{
    const mor_step_form* s = &in->step;
    size_t n = (size_t)s->row_count;
    int entries = 0, blocks = 0, row = 0, squares = 0;
    for (int c = 0; c < s->block_count; c++) entries += s->blocks[c].entry_count * s->blocks[c].dim;
    mor_block* block = mor_arena_alloc(arena, n * sizeof *block);
    mor_entry* entry = mor_arena_alloc(arena, ((size_t)entries + 1) * sizeof *entry);
    int *start = mor_arena_alloc(arena, n * sizeof *start), *of = mor_arena_alloc(arena, n * sizeof *of);
    double* bias = mor_arena_alloc(arena, n * sizeof *bias);
    double* diagonal = mor_arena_alloc(arena, 9 * n * sizeof *diagonal);
    if (!block || !entry || !start || !of || !bias || !diagonal) return false;
    entries = 0;
    for (int c = 0, equation = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        bool split = b->kind == MOR_BLOCK_EQUATION;
        int width = split ? 1 : b->dim;
        for (int d = 0; d < b->dim; d += width) {
            if (split && dependent[equation++]) continue;
            mor_block* to = &block[blocks];
            *to = *b;
            to->dim = width;
            to->row = row;
            to->entry = entries;
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                entry[entries] = s->entries[e];
                entry[entries++].start += d * s->trees[s->entries[e].tree].dof;
            }
            const double* D = s->diagonal + s->diagonal_start[c];
            start[blocks++] = squares;
            for (int i = 0; i < width; i++, row++) {
                for (int j = 0; j < width; j++) diagonal[squares++] = D[(d + i) * b->dim + d + j];
                of[row] = b->row + d + i;
                bias[row] = s->bias[of[row]];
            }
        }
    }
    *out = *in;
    out->size = out->step.row_count = row;
    out->step.block_count = blocks;
    out->step.blocks = block;
    out->step.entries = entry;
    out->step.diagonal = diagonal;
    out->step.diagonal_start = start;
    out->b = out->step.bias = bias;
    *rows = of;
    return true;
}

bool mor_independent_problem(const mor_problem* in, double limit, mor_problem* out, int** rows, mor_arena* arena)
{
    const mor_step_form* s = &in->step;
    int n = 0, at = 0;
    for (int c = 0; c < s->block_count; c++) {
        if (s->blocks[c].kind == MOR_BLOCK_EQUATION) n += s->blocks[c].dim;
        else if (s->blocks[c].dim > 3) return false;
    }
    if (n < 2 || n > MOST) return false;
    row* equations = mor_arena_alloc(arena, (size_t)n * sizeof *equations);
    bool* dependent = mor_arena_zero(arena, (size_t)n, sizeof *dependent);
    if (!equations || !dependent) return false;
    for (int c = 0; c < s->block_count; c++)
        for (int d = 0; s->blocks[c].kind == MOR_BLOCK_EQUATION && d < s->blocks[c].dim; d++)
            equations[at++] = (row){ c, d, 0.0 };
    return find_dependent(s, n, limit, equations, dependent, arena) > 0 && reduce(in, dependent, out, rows, arena);
}

/* Largest velocity of the equations' rows, and largest sum of what a row is made of. */
static void measure(const mor_step_form* s, const double* nu, const double* u, double* velocity, double* made_of)
{
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        for (int d = 0; b->kind == MOR_BLOCK_EQUATION && d < b->dim; d++) {
            double sum = 0.0;
            for (int e = b->entry; e < b->entry + b->entry_count; e++) {
                const mor_tree_block* t = &s->trees[s->entries[e].tree];
                const double* J = s->jacobian + s->entries[e].start + d * t->dof;
                for (int k = 0; k < t->dof; k++) sum += fabs(J[k] * nu[t->offset + k]);
            }
            *velocity = mor_max(*velocity, fabs(u[b->row + d]));
            *made_of = mor_max(*made_of, sum);
        }
    }
}

bool mor_equations_agree(const mor_problem* problem, double limit, const double* nu, mor_arena* arena)
{
    const mor_step_form* s = &problem->step;
    double *u = mor_arena_alloc(arena, (size_t)s->row_count * sizeof *u), missed = 0.0, corrected = 0.0, speed = 0.0;
    if (!u) return false;
    mor_step_rows(s, s->nu_free, u);
    measure(s, s->nu_free, u, &corrected, &speed);
    mor_step_rows(s, nu, u);
    measure(s, nu, u, &missed, &speed);
    return missed <= DISAGREEMENT * corrected + 10.0 * sqrt(limit) * speed;
}
