/* LU of J_cj = L_c W_cj R_j + E_c (block_lu.h). Dense below 260 rows or above 15 % of blocks (measured crossover of
 * LAPACK and KLU on contact problems), else KLU on the pattern of W's blocks. */
#include "solver/scaled_lu.h"

#include "linalg/dense.h"

#include <string.h>

enum { DENSE_BELOW = 260, WIDEST = 5 };

bool mor_scaled_lu_open(mor_scaled_lu* lu, const mor_block_rows* W, mor_arena* arena)
{
    int d = W->dim, n = W->count * d;
    *lu = (mor_scaled_lu){ .W = W, .n = n };
    if (n <= DENSE_BELOW || (double)W->p[W->count] > 0.15 * W->count * (double)W->count) {
        lu->dense = mor_arena_alloc(arena, (size_t)n * n * sizeof(double));
        lu->pivot = mor_arena_alloc(arena, (size_t)n * sizeof(int));
        return lu->dense && lu->pivot;
    }
    size_t entries = (size_t)W->p[W->count] * d * d;
    lu->J = (mor_csr){ n, n, mor_arena_alloc(arena, ((size_t)n + 1) * sizeof(int)),
                       mor_arena_alloc(arena, entries * sizeof(int)), mor_arena_zero(arena, entries, sizeof(double)) };
    if (!lu->J.p || !lu->J.i || !lu->J.x) return false;
    int at = 0;
    for (int c = 0; c < W->count; c++)
        for (int i = 0; i < d; i++) {
            lu->J.p[c * d + i] = at;
            for (int k = W->p[c]; k < W->p[c + 1]; k++)
                for (int l = 0; l < d; l++) lu->J.i[at++] = W->j[k] * d + l;
        }
    lu->J.p[n] = at;
    lu->lu = mor_sparse_lu_create(&lu->J, NULL);
    return lu->lu != NULL;
}

/* C = A B, d x d row-major */
static void multiply(int d, const double* A, const double* B, double* C)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double s = 0.0;
            for (int k = 0; k < d; k++) s += A[i * d + k] * B[k * d + j];
            C[i * d + j] = s;
        }
}

bool mor_scaled_lu_factor(mor_scaled_lu* lu, const double* L, const double* R, const double* E)
{
    const mor_block_rows* W = lu->W;
    int d = W->dim, dd = d * d, n = lu->n;
    double a[WIDEST * WIDEST], b[WIDEST * WIDEST];
    if (lu->dense) memset(lu->dense, 0, (size_t)n * n * sizeof(double));
    for (int c = 0; c < W->count; c++)
        for (int k = W->p[c]; k < W->p[c + 1]; k++) {
            const double* x = W->x + (size_t)k * dd;
            int j = W->j[k];
            if (L) multiply(d, L + (size_t)c * dd, x, a), x = a;
            if (R) multiply(d, x, R + (size_t)j * dd, b), x = b;
            for (int i = 0; i < d; i++)
                for (int l = 0; l < d; l++) {
                    double value = x[i * d + l] + (j == c ? E[(size_t)c * dd + i * d + l] : 0.0);
                    if (lu->dense) lu->dense[c * d + i + (size_t)(j * d + l) * n] = value;
                    else lu->J.x[lu->J.p[c * d + i] + (k - W->p[c]) * d + l] = value;
                }
        }
    return lu->dense ? mor_lu_factor(n, lu->dense, lu->pivot) : mor_sparse_lu_factor(lu->lu, &lu->J);
}

void mor_scaled_lu_solve(mor_scaled_lu* lu, double* b)
{
    if (lu->dense) mor_lu_solve(lu->n, lu->dense, lu->pivot, b);
    else mor_sparse_lu_solve(lu->lu, 1, b);
}

void mor_scaled_lu_close(mor_scaled_lu* lu)
{
    if (lu->lu) mor_sparse_lu_destroy(lu->lu);
    lu->lu = NULL;
}
