#include "common/random_step.h"

#include "base/elementary.h"

#include <string.h>

static double uniform(mor_rng* rng, double a, double b) { return a + (b - a) * mor_rng_uniform(rng); }

mor_problem random_step_make(const random_step* s, uint64_t seed, mor_arena* arena)
{
    mor_rng rng = { seed };
    int blocks = s->contacts + s->equations + s->bounded, rows = s->contacts * s->dim + 2 * s->equations + s->bounded;
    int d = s->dof, n = s->trees * d;
    mor_tree_block* trees = mor_arena_zero(arena, (size_t)s->trees, sizeof *trees);
    double* nu = mor_arena_zero(arena, (size_t)n, sizeof *nu);
    mor_block* B = mor_arena_zero(arena, (size_t)blocks, sizeof *B);
    mor_entry* E = mor_arena_zero(arena, 2 * (size_t)blocks, sizeof *E);
    double* J = mor_arena_zero(arena, 2 * (size_t)(rows * d), sizeof *J);
    double* Y = mor_arena_zero(arena, 2 * (size_t)(rows * d), sizeof *Y);
    double* W = mor_arena_zero(arena, (size_t)blocks * 36, sizeof *W);
    int* start = mor_arena_zero(arena, (size_t)blocks, sizeof *start);
    double* bias = mor_arena_zero(arena, (size_t)rows, sizeof *bias);
    for (int t = 0; t < s->trees; t++) { /* a diagonal mass block with one coupling */
        double* M = mor_arena_zero(arena, (size_t)(d * d), sizeof *M);
        double* I = mor_arena_zero(arena, (size_t)(d * d), sizeof *I);
        double m = s->trees > 1 ? mor_pow(s->mass_ratio, (double)t / (s->trees - 1)) : 1.0;
        for (int k = 0; k < d; k++) M[k * d + k] = m * uniform(&rng, 0.5, 1.5);
        for (int k = 0; k < d; k++) I[k * d + k] = 1.0 / M[k * d + k];
        double a = M[0], c = M[d + 1], b = 0.2 * m, det = a * c - b * b;
        M[1] = M[d] = b;
        I[0] = c / det, I[d + 1] = a / det, I[1] = I[d] = -b / det;
        trees[t] = (mor_tree_block){ d, t * d, M, I };
        for (int k = 0; k < d; k++) nu[t * d + k] = uniform(&rng, -1, 1);
    }
    int row = 0, entry = 0, at = 0, w = 0;
    for (int c = 0; c < blocks; c++) {
        bool contact = c < s->contacts, equation = !contact && c < s->contacts + s->equations;
        mor_block* b = &B[c];
        b->kind = contact ? MOR_BLOCK_CONTACT : equation ? MOR_BLOCK_EQUATION : MOR_BLOCK_BOUNDED;
        b->dim = contact ? s->dim : equation ? 2 : 1;
        b->row = row, b->entry = entry;
        b->mu = contact ? s->mu : 0.0;
        b->mu_roll = contact && s->dim >= 5 ? 0.5 * s->mu : 0.0;
        b->mu_drill = contact && s->dim == 6 ? 0.3 * s->mu : 0.0;
        b->directions = contact && s->dim == 3 ? s->directions : 0;
        int kind = c % 3;
        b->lower = kind == 1 ? -INFINITY : -0.3, b->upper = kind == 2 ? INFINITY : 0.4;
        int t1 = (int)(mor_rng_uniform(&rng) * s->trees), t2 = c % s->trees;
        b->entry_count = t1 == t2 ? 1 : 2;
        start[c] = w;
        for (int e = 0; e < b->entry_count; e++, entry++) {
            int tree = e == 0 ? t1 : t2;
            E[entry] = (mor_entry){ tree, at };
            for (int r = 0; r < b->dim; r++)
                for (int k = 0; k < d; k++) J[at + r * d + k] = uniform(&rng, -1, 1);
            for (int r = 0; r < b->dim; r++)
                for (int k = 0; k < d; k++)
                    for (int l = 0; l < d; l++)
                        Y[at + r * d + k] += J[at + r * d + l] * trees[tree].mass_inverse[l * d + k];
            for (int r = 0; r < b->dim; r++)
                for (int q = 0; q < b->dim; q++)
                    for (int k = 0; k < d; k++) W[w + r * b->dim + q] += J[at + r * d + k] * Y[at + q * d + k];
            at += b->dim * d;
        }
        if (contact) bias[row] = uniform(&rng, 0.0, 0.2);
        row += b->dim, w += b->dim * b->dim;
    }
    mor_problem p = { .form = s->directions || s->dim < 3 ? MOR_STEP_PYRAMID : MOR_STEP_CONE, .size = rows };
    p.step = (mor_step_form){ s->trees, n, trees, nu, blocks, rows, B, E, J, Y, W, start, bias };
    return p;
}

void random_step_dense(const mor_problem* problem, double* W, double* q)
{
    const mor_step_form* s = &problem->step;
    int n = s->row_count;
    memset(W, 0, (size_t)n * n * sizeof *W);
    memcpy(q, s->bias, (size_t)n * sizeof *q);
    for (int a = 0; a < s->block_count; a++)
        for (int e = s->blocks[a].entry; e < s->blocks[a].entry + s->blocks[a].entry_count; e++) {
            const mor_tree_block* t = &s->trees[s->entries[e].tree];
            for (int r = 0; r < s->blocks[a].dim; r++)
                for (int k = 0; k < t->dof; k++)
                    q[s->blocks[a].row + r] +=
                        s->jacobian[s->entries[e].start + r * t->dof + k] * s->nu_free[t->offset + k];
            for (int b = 0; b < s->block_count; b++)
                for (int f = s->blocks[b].entry; f < s->blocks[b].entry + s->blocks[b].entry_count; f++) {
                    if (s->entries[f].tree != s->entries[e].tree) continue;
                    for (int r = 0; r < s->blocks[a].dim; r++)
                        for (int c = 0; c < s->blocks[b].dim; c++)
                            for (int k = 0; k < t->dof; k++)
                                for (int l = 0; l < t->dof; l++)
                                    W[(s->blocks[a].row + r) * n + s->blocks[b].row + c] +=
                                        s->jacobian[s->entries[e].start + r * t->dof + k] *
                                        t->mass_inverse[k * t->dof + l] *
                                        s->jacobian[s->entries[f].start + c * t->dof + l];
                }
        }
}
