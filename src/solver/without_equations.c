/* A step on the velocities that its equations leave free (without_equations.h).
 *
 * With M = L L', v = L' nu, E the columns of the equations and C those of all other rows,
 *
 *   v = v_free + L^-1 (E l + C p),   E' L'^-1 v + b_E = 0.
 *
 * L^-1 E, its columns scaled to one, is factored Q [R; 0] by reflections with column pivoting. With Q = [Q1 Q2] the
 * velocities that the equations allow are v = v0 + Q2 y, where v0 fulfils them without any p, and
 *
 *   y = Q2' v_free + (Q2' L^-1 C) p,   u = (Q2' L^-1 C)' y + C' L'^-1 Q1 Q1' v0 + b_C :
 *
 * a step of one body of mass 1. Methods that regularise W meet equations through a compliance, which between bodies of
 * very different mass is as large as what they ask for; here they hold exactly, to the rounding of v: a body of 2 g
 * between bodies of 60 kg has an error 200 times that. Rows that depend on others to 1e-9 get no impulse.
 *
 * The impulses of the equations follow from those of the others: R1' R1 l = -(E' L'^-1 (v_free + L^-1 C p) + b_E),
 * twice, so that the second time takes out what rounding left.
 *
 * Cost: O(dof equations^2). Reference: Golub & Van Loan, Matrix Computations (4th ed.), sec. 6.2.3. */
#include "solver/without_equations.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "linalg/dense.h"
#include "linalg/reflections.h"
#include "problem/step.h"
#include "problem/step_matrix.h"

enum { MOST_DOF = 240, PIECE = 48 }; /* trees of what is left are cut: Newton's method takes 64 velocities */

#define DEPENDENT 1e-9 /* of the largest column of R */

/* x (dof) := L^-1 x; the factors are row-major, lower. */
static void to_roots(const mor_without_equations* w, double* x)
{
    for (int t = 0; t < w->step->tree_count; t++) {
        const int n = w->step->trees[t].dof;
        const double* L = w->roots + w->root[t];
        double* y = x + w->step->trees[t].offset;
        for (int i = 0; i < n; i++) y[i] = (y[i] - mor_inner(i, L + (size_t)i * n, y)) / L[(size_t)i * n + i];
    }
}

/* x (dof) := L' x */
static void times_roots(const mor_without_equations* w, double* x)
{
    for (int t = 0; t < w->step->tree_count; t++) {
        const int n = w->step->trees[t].dof;
        const double* L = w->roots + w->root[t];
        double* y = x + w->step->trees[t].offset;
        for (int i = 0; i < n; i++) {
            double s = 0.0;
            for (int k = i; k < n; k++) s += L[(size_t)k * n + i] * y[k];
            y[i] = s;
        }
    }
}

/* False: a mass block is not positive definite. */
static bool factor_masses(mor_without_equations* w)
{
    for (int t = 0; t < w->step->tree_count; t++) {
        const int n = w->step->trees[t].dof;
        const double* M = w->step->trees[t].mass;
        double* L = w->roots + w->root[t];
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double s = M[(size_t)i * n + j] - mor_inner(j, L + (size_t)i * n, L + (size_t)j * n);
                if (i == j && !(s > 0.0)) return false;
                L[(size_t)i * n + j] = i == j ? sqrt(s) : s / L[(size_t)j * n + j];
            }
    }
    return true;
}

/* x (dof) := L^-1 of column d of block b of G */
static void column_of(const mor_without_equations* w, const mor_block* b, int d, double* x)
{
    const mor_step_form* s = w->step;
    memset(x, 0, (size_t)s->dof * sizeof *x);
    for (int e = b->entry; e < b->entry + b->entry_count; e++) {
        const mor_tree_block* t = &s->trees[s->entries[e].tree];
        const double* J = s->jacobian + s->entries[e].start + (size_t)d * t->dof;
        for (int k = 0; k < t->dof; k++) x[t->offset + k] += J[k];
    }
    to_roots(w, x);
}

/* R, tau, order and rank. */
static void factor_equations(mor_without_equations* w)
{
    const mor_step_form* s = w->step;
    const int n = s->dof;
    int m = 0;
    for (int c = 0; c < s->block_count; c++)
        for (int d = 0; mor_block_is_free(&s->blocks[c]) && d < s->blocks[c].dim; d++) {
            double* x = w->R + (size_t)m * n;
            column_of(w, &s->blocks[c], d, x);
            const double size = mor_norm2(n, x);
            for (int i = 0; i < n && size > 0.0; i++) x[i] /= size;
            w->size[m] = size, w->order[m++] = s->blocks[c].row + d;
        }
    double first = 0.0;
    for (w->rank = 0; w->rank < m && w->rank < n; w->rank++) {
        const int k = w->rank;
        int best = k;
        double most = -1.0;
        for (int j = k; j < m; j++) {
            const double left = mor_norm2(n - k, w->R + (size_t)j * n + k);
            if (left > most) most = left, best = j;
        }
        if (k == 0) first = most;
        if (!(most > DEPENDENT * first)) break;
        double *x = w->R + (size_t)k * n, *y = w->R + (size_t)best * n;
        for (int i = 0; i < n && best != k; i++) {
            const double keep = x[i];
            x[i] = y[i], y[i] = keep;
        }
        const int row = w->order[k];
        const double size = w->size[k];
        w->order[k] = w->order[best], w->size[k] = w->size[best];
        w->order[best] = row, w->size[best] = size;
        w->tau[k] = mor_make_reflection(n - k, x + k);
        for (int j = k + 1; j < m; j++) mor_reflect(n - k, w->tau[k], x + k, w->R + (size_t)j * n + k);
    }
}

/* x := Q' x */
static void turn(const mor_without_equations* w, double* x)
{
    const int n = w->step->dof;
    for (int k = 0; k < w->rank; k++) mor_reflect(n - k, w->tau[k], w->R + (size_t)k * n + k, x + k);
}

/* x := Q x */
static void turn_back(const mor_without_equations* w, double* x)
{
    const int n = w->step->dof;
    for (int k = w->rank - 1; k >= 0; k--) mor_reflect(n - k, w->tau[k], w->R + (size_t)k * n + k, x + k);
}

/* l (rank): by column := R1'^-1 of what the rows u of the step still miss; then, with `twice`, R1^-1 of that. */
static void missing(const mor_without_equations* w, const double* u, bool twice, double* l)
{
    const int n = w->step->dof;
    for (int k = 0; k < w->rank; k++) {
        const double* column = w->R + (size_t)k * n;
        l[k] = (-u[w->order[k]] / w->size[k] - mor_inner(k, column, l)) / column[k];
    }
    for (int k = w->rank - 1; twice && k >= 0; k--) {
        const double* column = w->R + (size_t)k * n;
        l[k] /= column[k];
        for (int i = 0; i < k; i++) l[i] -= column[i] * l[k];
    }
}

static bool take_memory(mor_without_equations* w, mor_arena* arena)
{
    const mor_step_form* s = w->step;
    const size_t n = (size_t)s->dof, m = (size_t)w->equations;
    size_t roots = 0;
    w->root = mor_arena_take(arena, ((size_t)s->tree_count + 1) * sizeof *w->root);
    if (!w->root) return false;
    for (int t = 0; t < s->tree_count; t++) {
        w->root[t] = (int)roots;
        roots += (size_t)s->trees[t].dof * (size_t)s->trees[t].dof;
    }
    w->roots = mor_arena_take(arena, (roots + 1) * sizeof *w->roots);
    w->order = mor_arena_take(arena, m * sizeof *w->order);
    w->size = mor_arena_take(arena, m * sizeof *w->size);
    w->R = mor_arena_take(arena, n * m * sizeof *w->R);
    w->tau = mor_arena_take(arena, m * sizeof *w->tau);
    w->x = mor_arena_take(arena, n * sizeof *w->x);
    w->r = mor_arena_take(arena, (n + (size_t)s->row_count) * sizeof *w->r);
    return w->roots && w->order && w->size && w->R && w->tau && w->x && w->r;
}

/* The trees of what is left: velocities in pieces, with the mass 1. */
static mor_tree_block* make_trees(int n, int* count, mor_arena* arena)
{
    *count = (n + PIECE - 1) / PIECE;
    const size_t piece = (size_t)(n < PIECE ? n : PIECE);
    mor_tree_block* trees = mor_arena_take(arena, (size_t)*count * sizeof *trees);
    double* one = mor_arena_zero(arena, piece * piece * (size_t)*count, sizeof *one);
    if (!trees || !one) return NULL;
    for (int t = 0; t < *count; t++) {
        const int dof = n - t * PIECE < PIECE ? n - t * PIECE : PIECE;
        for (int i = 0; i < dof; i++) one[(size_t)i * dof + i] = 1.0;
        trees[t] = (mor_tree_block){ .dof = dof, .offset = t * PIECE, .mass = one, .mass_inverse = one };
        one += piece * piece;
    }
    return trees;
}

/* Blocks, entries, Jacobian and W_cc of the rows that are left. */
static bool make_rows(mor_without_equations* w, mor_arena* arena)
{
    const mor_step_form* s = w->step;
    mor_step_form* to = &w->problem.step;
    const size_t n = (size_t)to->dof, rows = (size_t)to->row_count;
    mor_block* blocks = mor_arena_take(arena, (size_t)to->block_count * sizeof *blocks);
    mor_entry* entries = mor_arena_take(arena, (size_t)(to->block_count * to->tree_count) * sizeof *entries);
    double* J = mor_arena_take(arena, rows * n * sizeof *J);
    double* W = mor_arena_take(arena, 6 * rows * sizeof *W);
    int* start = mor_arena_take(arena, (size_t)to->block_count * sizeof *start);
    if (!blocks || !entries || !J || !W || !start) return false;
    to->blocks = blocks, to->entries = entries, to->jacobian = to->response = J;
    to->diagonal = W, to->diagonal_start = start;
    int count = 0, row = 0, at = 0, entry = 0, jacobian = 0;
    for (int c = 0; c < s->block_count; c++) {
        mor_block b = s->blocks[c];
        if (mor_block_is_free(&b)) continue;
        if (b.dim > 6) return false;
        const int from = entry;
        for (int t = 0; t < to->tree_count; t++) {
            entries[entry++] = (mor_entry){ t, jacobian };
            jacobian += b.dim * to->trees[t].dof;
        }
        for (int d = 0; d < b.dim; d++) {
            column_of(w, &b, d, w->x);
            turn(w, w->x);
            for (int t = 0; t < to->tree_count; t++)
                memcpy(J + entries[from + t].start + d * to->trees[t].dof, w->x + w->rank + to->trees[t].offset,
                       (size_t)to->trees[t].dof * sizeof *J);
        }
        memset(W + at, 0, (size_t)(b.dim * b.dim) * sizeof *W);
        for (int t = 0; t < to->tree_count; t++) {
            const double* rows_of = J + entries[from + t].start;
            mor_gram(b.dim, b.dim, to->trees[t].dof, rows_of, rows_of, W + at);
        }
        start[count] = at, at += b.dim * b.dim;
        b.row = row, b.entry = from, b.entry_count = to->tree_count;
        row += b.dim;
        blocks[count++] = b;
    }
    return true;
}

/* nu_free and bias: where the equations hold without the impulses of the others. */
static bool make_start(mor_without_equations* w, mor_arena* arena)
{
    const mor_step_form* s = w->step;
    mor_step_form* to = &w->problem.step;
    double* free = mor_arena_take(arena, ((size_t)to->dof + 1) * sizeof *free);
    double* bias = mor_arena_take(arena, ((size_t)to->row_count + 1) * sizeof *bias);
    double *v = w->x, *l = w->r, *u = w->r + s->dof;
    if (!free || !bias) return false;
    /* v0 = v_free + Q1 R1'^-1 (what the equations miss); its part along Q2 is y's */
    mor_step_rows(s, s->nu_free, u);
    missing(w, u, false, l);
    memcpy(v, s->nu_free, (size_t)s->dof * sizeof *v);
    times_roots(w, v);
    turn(w, v);
    for (int k = 0; k < w->rank; k++) v[k] += l[k];
    for (int k = w->rank; k < s->dof; k++) free[k - w->rank] = v[k], v[k] = 0.0;
    turn_back(w, v);
    /* rows of what has none of y in it */
    for (int t = 0; t < s->tree_count; t++) { /* v := L'^-1 v */
        const int n = s->trees[t].dof;
        const double* L = w->roots + w->root[t];
        double* y = v + s->trees[t].offset;
        for (int i = n - 1; i >= 0; i--) {
            y[i] /= L[(size_t)i * n + i];
            for (int k = 0; k < i; k++) y[k] -= L[(size_t)i * n + k] * y[i];
        }
    }
    mor_step_rows(s, v, u);
    mor_without_equations_forward(w, u, bias);
    to->nu_free = free, to->bias = bias;
    return true;
}

bool mor_without_equations_open(const mor_problem* problem, mor_without_equations* w, mor_arena* arena)
{
    const mor_step_form* s = &problem->step;
    int rows = 0, blocks = 0;
    memset(w, 0, sizeof *w);
    w->step = s;
    for (int c = 0; c < s->block_count; c++) {
        if (mor_block_is_free(&s->blocks[c])) w->equations += s->blocks[c].dim;
        else blocks++, rows += s->blocks[c].dim;
    }
    for (int t = 0; t < s->tree_count; t++)
        if (!s->trees[t].mass) return false;
    if (w->equations == 0 || blocks == 0 || s->dof > MOST_DOF || !take_memory(w, arena) || !factor_masses(w))
        return false;
    factor_equations(w);
    mor_step_form* to = &w->problem.step;
    w->problem.form = problem->form, w->problem.size = rows;
    to->dof = s->dof - w->rank, to->row_count = rows, to->block_count = blocks;
    if (to->dof == 0) return false;
    to->trees = make_trees(to->dof, &to->tree_count, arena);
    return to->trees && make_rows(w, arena) && make_start(w, arena);
}

void mor_without_equations_forward(const mor_without_equations* w, const double* z, double* p)
{
    const mor_step_form* s = w->step;
    for (int c = 0; c < s->block_count; c++) {
        if (mor_block_is_free(&s->blocks[c])) continue;
        memcpy(p, z + s->blocks[c].row, (size_t)s->blocks[c].dim * sizeof *p);
        p += s->blocks[c].dim;
    }
}

void mor_without_equations_back(mor_without_equations* w, const double* p, double* z)
{
    enum { ROUNDS = 2 };
    const mor_step_form* s = w->step;
    double *nu = w->x, *l = w->r, *u = w->r + s->dof;
    for (int c = 0; c < s->block_count; c++) {
        const mor_block* b = &s->blocks[c];
        if (mor_block_is_free(b)) memset(z + b->row, 0, (size_t)b->dim * sizeof *z);
        else memcpy(z + b->row, p, (size_t)b->dim * sizeof *z), p += b->dim;
    }
    for (int round = 0; round < ROUNDS; round++) {
        mor_step_velocity(s, z, nu);
        mor_step_rows(s, nu, u);
        missing(w, u, true, l);
        for (int k = 0; k < w->rank; k++) z[w->order[k]] += l[k] / w->size[k];
    }
}
