/* H, g and the friction pyramid of one island: the QP that Gauss' principle asks for.
 *
 * In impulses p = h f and velocities (docs/methods/gauss.md), for the contact and bounded rows c and the equations e
 * (loops, joints), W = G'M^-1 G and a base velocity nu:
 *
 *     H = W_cc - W_ce W_ee^+ W_ec,     q = u_c - W_ce W_ee^+ u_e,     u = G'nu + b
 *     minimise p'Hp/2 + q'p,   p_e = -W_ee^+ (u_e + W_ec p_c)
 *
 * with p_n >= 0 and the polygon of friction, bounded rows in their bounds. W_ee^+: Cholesky with diagonal pivoting on
 * the rows that are independent to 1e-11 and no rounding (dependent rows get no impulse; H and q do not depend on which
 * are left out), or, with damping k, W_ee (W_ee^2 + k^2)^-1 as the original does.
 *
 * The polygon with n_d corners mu p_n d_j has the sides e_j . p_T <= mu cos(pi/n_d) p_n, e_j at half angles; tangents
 * are turned so that one corner opposes the slip that was predicted: a sliding contact then has exactly mu p_n against
 * its motion, and a sticking one resists as Coulomb's circle does in the direction that matters. `square` is the
 * original's |p_t|, |p_o| <= mu p_n.
 *
 * Cost: O(n^2 dof + e^3) to build; memory n^2. */
#include "base/elementary.h"
#include "formulation/gauss.h"

#include "formulation/step_problem.h"
#include "formulation/unknowns.h"
#include "linalg/dense.h"
#include "problem/convert.h"
#include "problem/step.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define DEPENDENT 1e-11 /* of the largest diagonal of W_ee */
#define NOISE                                                                                                          \
    1e-9 /* of the largest diagonal of W_cc: where all rows of the loops vanish but for rounding (a bar
                           between links that cannot come nearer) */

static void visit(void* user, int a, int b, const double* W)
{
    mor_gauss* g = user;
    const mor_block *A = &g->problem.step.blocks[a], *B = &g->problem.step.blocks[b];
    for (int r = 0; r < A->dim; r++)
        for (int c = 0; c < B->dim; c++) {
            int i = g->unknown[A->row + r], j = g->unknown[B->row + c];
            double x = W[r * B->dim + c];
            if (i >= 0 && j >= 0) g->H[i + (size_t)j * g->n] = x;
            else if (i < 0 && j < 0) g->Wee[(-1 - i) + (size_t)(-1 - j) * g->e] = x;
            else if (i < 0) g->Wec[(-1 - i) + (size_t)j * g->e] = x;
        }
}

/* y := W_ee^+ y */
static void pseudo_inverse(const mor_gauss* g, double* y)
{
    int e = g->e, k = g->rank;
    double* x = g->work;
    if (g->damping > 0.0) { /* W (W^2 + k^2)^-1 y */
        mor_cholesky_solve(e, g->L, y);
        mor_dense_apply(e, e, g->Wee, y, x);
        memcpy(y, x, (size_t)e * sizeof *y);
        return;
    }
    for (int i = 0; i < k; i++) {
        x[i] = y[g->order[i]];
        for (int j = 0; j < i; j++) x[i] -= g->L[i + (size_t)j * e] * x[j];
        x[i] /= g->L[i + (size_t)i * e];
    }
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) x[i] -= g->L[j + (size_t)i * e] * x[j];
        x[i] /= g->L[i + (size_t)i * e];
    }
    memset(y, 0, (size_t)e * sizeof *y);
    for (int i = 0; i < k; i++) y[g->order[i]] = x[i];
}

static bool eliminate(mor_gauss* g)
{
    int e = g->e, n = g->n;
    size_t E = (size_t)e;
    double largest = 0.0;
    memcpy(g->L, g->Wee, E * E * sizeof *g->L);
    for (int i = 0; i < e; i++) largest = mor_max(largest, g->Wee[i + E * i]);
    for (int i = 0; i < n; i++) largest = mor_max(largest, NOISE * g->H[i + (size_t)i * n]);
    g->rank = e;
    if (g->damping > 0.0) {
        memset(g->L, 0, E * E * sizeof *g->L);
        mor_dense_multiply_add(e, e, e, 1.0, g->Wee, e, g->Wee, e, g->L, e);
        for (int i = 0; i < e; i++) g->L[i + E * i] += g->damping * g->damping;
        if (!mor_cholesky_factor(e, g->L)) return false;
    } else g->rank = mor_semidefinite_factor(e, g->L, g->order, DEPENDENT * largest, NULL, g->work);
    double* y = mor_arena_alloc(g->arena, (E + 1) * sizeof *y);
    if (!y) return false;
    for (int j = 0; j < n; j++) {
        memcpy(y, g->Wec + E * (size_t)j, E * sizeof *y);
        pseudo_inverse(g, y);
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < e; k++) sum += g->Wec[(size_t)k + E * (size_t)i] * y[k];
            g->H[i + (size_t)j * n] -= sum;
        }
    }
    return true;
}

/* Copies of the Jacobian and its response in which tangents (t, o) of contact blocks become (c t + s o, -s t + c o). */
static bool turn_tangents(mor_gauss* g, const double* turn)
{
    const mor_system* s = g->s;
    mor_step_form* f = &g->problem.step;
    int length = 0;
    for (int b = 0; b < s->block_count; b++)
        for (int k = s->blocks[b].entry; k < s->blocks[b].entry + s->blocks[b].entry_count; k++) {
            int end = s->entries[k].start + s->blocks[b].dim * s->trees[s->entries[k].tree].dof;
            if (end > length) length = end;
        }
    double* copy = mor_arena_alloc(g->arena, (2 * (size_t)length + 1) * sizeof *copy);
    if (!copy) return false;
    memcpy(copy, s->jacobian, (size_t)length * sizeof *copy);
    memcpy(copy + length, s->response, (size_t)length * sizeof *copy);
    int contact = 0; /* both in the order of blocks */
    for (int b = 0; b < f->block_count; b++) {
        const mor_block* block = &f->blocks[b];
        if (block->kind != MOR_BLOCK_CONTACT || block->dim != 3) continue;
        while (s->blocks[s->contacts[contact].block].row != g->row_of[block->row]) contact++;
        double c = turn[2 * contact], o = turn[2 * contact + 1], size = mor_hypot(c, o);
        if (!(size > 1e-12)) continue;
        g->cosine[b] = c /= size, g->sine[b] = o /= size;
        for (int k = block->entry; k < block->entry + block->entry_count; k++)
            for (int what = 0; what < 2; what++) {
                int dof = s->trees[s->entries[k].tree].dof;
                double *t = copy + what * (size_t)length + s->entries[k].start + dof, *u = t + dof;
                for (int m = 0; m < dof; m++) {
                    double x = t[m], y = u[m];
                    t[m] = c * x + o * y, u[m] = c * y - o * x;
                }
            }
        double* D = (double*)f->diagonal + f->diagonal_start[b]; /* R D R' on the tangents */
        double a[9];
        memcpy(a, D, sizeof a);
        const double R[9] = { 1, 0, 0, 0, c, o, 0, -o, c };
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double sum = 0.0;
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 3; l++) sum += R[3 * i + k] * a[3 * k + l] * R[3 * j + l];
                D[3 * i + j] = sum;
            }
    }
    f->jacobian = copy;
    f->response = copy + length;
    return true;
}

bool mor_gauss_build(mor_gauss* g, const mor_system* s, const bool* keep, int directions, bool square,
                     const double* turn, double damping, mor_arena* arena)
{
    *g = (mor_gauss){ .s = s, .arena = arena, .damping = damping, .sides = square ? 4 : directions, .square = square };
    double* zero = mor_arena_zero(arena, (size_t)s->row_count + 1, sizeof *zero);
    if (!zero || !mor_step_problem(s, directions, zero, keep, arena, &g->problem, &g->row_of)) return false;
    const mor_step_form* f = &g->problem.step;
    size_t rows = (size_t)f->row_count;
    g->unknown = mor_arena_alloc(arena, (rows + 1) * sizeof *g->unknown);
    g->row = mor_arena_alloc(arena, (rows + 1) * sizeof *g->row);
    g->cosine = mor_arena_alloc(arena, (2 * (size_t)f->block_count + 1) * sizeof *g->cosine);
    if (!g->unknown || !g->row || !g->cosine) return false;
    g->sine = g->cosine + f->block_count;
    for (int b = 0; b < f->block_count; b++) {
        g->cosine[b] = 1.0, g->sine[b] = 0.0;
        for (int d = 0; d < f->blocks[b].dim; d++) {
            int r = f->blocks[b].row + d;
            if (f->blocks[b].kind == MOR_BLOCK_EQUATION) g->unknown[r] = -1 - g->e++;
            else g->row[g->n] = r, g->unknown[r] = g->n++;
        }
    }
    return !turn || turn_tangents(g, turn);
}

void mor_gauss_set(mor_gauss* g, const double* nu, const double* bias)
{
    mor_step_form* f = &g->problem.step;
    double* b = (double*)f->bias; /* made by mor_step_problem for us */
    f->nu_free = nu;
    for (int r = 0; r < f->row_count; r++) b[r] = bias[g->row_of[r]];
    for (int k = 0; k < f->block_count; k++) {
        double* t = b + f->blocks[k].row + 1;
        if (g->sine[k] == 0.0 && g->cosine[k] == 1.0) continue;
        double x = t[0], y = t[1];
        t[0] = g->cosine[k] * x + g->sine[k] * y, t[1] = g->cosine[k] * y - g->sine[k] * x;
    }
}

bool mor_gauss_reduce(mor_gauss* g, bool hold)
{
    const mor_step_form* f = &g->problem.step;
    mor_arena* arena = g->arena;
    size_t n = (size_t)g->n, e = (size_t)g->e;
    g->H = mor_arena_zero(arena, n * n + 1, sizeof(double));
    g->Wec = mor_arena_zero(arena, n * e + 1, sizeof(double));
    g->Wee = mor_arena_zero(arena, 2 * e * e + 1, sizeof(double));
    g->work = mor_arena_alloc(arena, (n + 3 * e + 1) * sizeof(double));
    g->order = mor_arena_alloc(arena, (e + 1) * sizeof(int));
    if (!g->H || !g->Wec || !g->Wee || !g->work || !g->order) return false;
    g->L = g->Wee + e * e;
    g->re = g->work + e, g->q = g->re + 2 * e;
    if (!mor_step_visit_W(f, visit, g, arena) || (g->e > 0 && !eliminate(g))) return false;
    double *u = mor_arena_alloc(g->arena, ((size_t)f->row_count + 1) * sizeof *u), *b = (double*)f->bias;
    if (!u) return false;
    mor_step_rows(f, f->nu_free, u);
    double* y = g->re + g->e;
    for (int r = 0; r < f->row_count; r++) {
        if (g->unknown[r] >= 0) g->q[g->unknown[r]] = u[r];
        else {
            if (hold) b[r] -= u[r], u[r] = 0.0;
            g->re[-1 - g->unknown[r]] = y[-1 - g->unknown[r]] = u[r];
        }
    }
    if (g->e == 0) return true;
    pseudo_inverse(g, y);
    for (int i = 0; i < g->n; i++)
        for (int k = 0; k < g->e; k++) g->q[i] -= g->Wec[(size_t)k + (size_t)i * g->e] * y[k];
    return true;
}

void mor_gauss_expand(const mor_gauss* g, const double* z, double* p)
{
    for (int i = 0; i < g->n; i++) p[g->row[i]] = z[i];
    if (g->e == 0) return;
    double* y = g->re + g->e;
    for (int k = 0; k < g->e; k++) {
        y[k] = -g->re[k];
        for (int i = 0; i < g->n; i++) y[k] -= g->Wec[(size_t)k + (size_t)i * g->e] * z[i];
    }
    pseudo_inverse(g, y);
    for (int r = 0; r < g->problem.step.row_count; r++)
        if (g->unknown[r] < 0) p[r] = y[-1 - g->unknown[r]];
}

void mor_gauss_rows(const mor_gauss* g, const double* p, double* nu, double* u)
{
    mor_step_velocity(&g->problem.step, p, nu);
    mor_step_rows(&g->problem.step, nu, u);
}

void mor_gauss_store(const mor_gauss* g, const double* p, double* impulses)
{
    const mor_step_form* f = &g->problem.step;
    for (int b = 0; b < f->block_count; b++) {
        const int* to = g->row_of + f->blocks[b].row;
        const double* x = p + f->blocks[b].row;
        bool turned = g->sine[b] != 0.0 || g->cosine[b] != 1.0;
        for (int d = 0; d < f->blocks[b].dim; d++) {
            double value = x[d];
            if (turned && d == 1) value = g->cosine[b] * x[1] - g->sine[b] * x[2];
            if (turned && d == 2) value = g->sine[b] * x[1] + g->cosine[b] * x[2];
            impulses[to[d]] += value;
        }
    }
}

static void impulses_of(const mor_unknowns* unknowns, const double* z, double* p, mor_arena* arena)
{
    (void)arena;
    mor_gauss_expand(unknowns->data, z, p);
}

mor_report mor_gauss_solve(mor_gauss* g, const double* extra, mor_solve_stage* stage, bool warm, double* z)
{
    const mor_step_form* f = &g->problem.step;
    int rows = 0, n = g->n;
    if (n == 0) return (mor_report){ .status = MOR_SOLVED };
    size_t mark = mor_arena_mark(g->arena);
    for (int b = 0; b < f->block_count; b++)
        if (f->blocks[b].kind == MOR_BLOCK_CONTACT)
            rows += f->blocks[b].dim == 3 ? g->sides : f->blocks[b].dim == 2 ? 2 : 0;
    size_t R = (size_t)rows, N = (size_t)n;
    double* x = mor_arena_alloc(g->arena, (3 * R + 2 * R + 3 * N + 1) * sizeof *x);
    int* p = mor_arena_alloc(g->arena, (R + 1 + 3 * R) * sizeof *p);
    if (!x || !p) return mor_report_no_memory();
    int* column = p + R + 1;
    double *c_lower = x + 3 * R, *c_upper = c_lower + R, *lower = c_upper + R, *upper = lower + N, *q = upper + N;
    int row = 0, k = 0;
    for (int i = 0; i < n; i++) q[i] = g->q[i] + (extra ? extra[i] : 0.0);
    for (int b = 0; b < f->block_count; b++) {
        const mor_block* block = &f->blocks[b];
        int i = g->unknown[block->row];
        if (block->kind == MOR_BLOCK_EQUATION) continue;
        if (block->kind == MOR_BLOCK_BOUNDED) {
            lower[i] = block->lower, upper[i] = block->upper;
            continue;
        }
        for (int d = 0; d < block->dim; d++) lower[i + d] = d ? -INFINITY : 0.0, upper[i + d] = INFINITY;
        int sides = block->dim == 3 ? g->sides : block->dim == 2 ? 2 : 0;
        double size = block->mu * (g->square || block->dim == 2 ? 1.0 : mor_cos(PI / sides));
        for (int j = 0; j < sides; j++, row++) { /* size p_n - e_j . p_T >= 0 */
            double angle = block->dim == 2 ? PI * j : PI * (2 * j + (g->square ? 0 : 1)) / sides;
            double a = g->square ? (double[]){ 1, 0, -1, 0 }[j & 3] : mor_cos(angle),
                   o = g->square ? (double[]){ 0, 1, 0, -1 }[j & 3] : mor_sin(angle);
            if (block->dim == 2) a = j ? -1.0 : 1.0;
            p[row] = k;
            column[k] = i, x[k++] = size;
            column[k] = i + 1, x[k++] = -a;
            if (block->dim == 3) column[k] = i + 2, x[k++] = -o;
            c_lower[row] = 0.0, c_upper[row] = INFINITY;
        }
    }
    p[row] = k;
    mor_problem qp = { .form = MOR_QP,
                       .size = n,
                       .A = { .storage = MOR_DENSE, .rows = n, .cols = n, .x = g->H },
                       .b = q,
                       .lower = lower,
                       .upper = upper,
                       .C = { .storage = MOR_SPARSE, .rows = rows, .cols = n, .x = x, .p = p, .i = column },
                       .c_lower = c_lower,
                       .c_upper = c_upper };
    const mor_unknowns unknowns = { &g->problem, impulses_of, g };
    stage->unknowns = &unknowns;
    mor_report report = stage->solve(stage, &qp, warm, z);
    stage->unknowns = NULL;
    mor_arena_release(g->arena, mark);
    return report;
}
