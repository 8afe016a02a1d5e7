/* Rows of small dense blocks (block_rows.h). Building costs O(entries), or O(n^2) from a dense matrix; a row costs its blocks. */
#include "solver/block_rows.h"

#include <string.h>

/* Blocks of block row c into `list` (unsorted, each once): returns how many. seen[j] == c marks. */
static int columns_of(const mor_matrix* A, int dim, int c, int* seen, int* list)
{
    int n = 0;
    seen[c] = c, list[n++] = c;
    for (int i = c * dim; i < (c + 1) * dim; i++) {
        if (A->storage == MOR_DENSE) {
            for (int k = 0; k < A->cols; k++)
                if (seen[k / dim] != c && A->x[i + (size_t)k * A->rows] != 0.0) seen[k / dim] = c, list[n++] = k / dim;
        } else {
            for (int k = A->p[i]; k < A->p[i + 1]; k++)
                if (seen[A->i[k] / dim] != c && A->x[k] != 0.0) seen[A->i[k] / dim] = c, list[n++] = A->i[k] / dim;
        }
    }
    for (int gap = n / 2; gap > 0; gap /= 2)
        for (int i = gap; i < n; i++) {
            int v = list[i], k = i;
            for (; k >= gap && list[k - gap] > v; k -= gap) list[k] = list[k - gap];
            list[k] = v;
        }
    return n;
}

bool mor_block_rows_build(mor_block_rows* B, const mor_matrix* A, int dim, mor_arena* arena)
{
    int n = A->rows / dim;
    *B = (mor_block_rows){ .count = n, .dim = dim };
    B->p = mor_arena_zero(arena, (size_t)n + 1, sizeof *B->p);
    B->own = mor_arena_alloc(arena, (size_t)n * sizeof *B->own);
    int* seen = mor_arena_alloc(arena, (size_t)n * sizeof *seen);
    int* list = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof *list);
    if (!B->p || !B->own || !seen || !list) return false;
    for (int c = 0; c < n; c++) seen[c] = -1;
    for (int c = 0; c < n; c++) B->p[c + 1] = B->p[c] + columns_of(A, dim, c, seen, list);
    B->j = mor_arena_alloc(arena, (size_t)B->p[n] * sizeof *B->j);
    B->x = mor_arena_zero(arena, (size_t)B->p[n] * dim * dim, sizeof *B->x);
    if (!B->j || !B->x) return false;
    for (int c = 0; c < n; c++) seen[c] = -1;
    for (int c = 0; c < n; c++) {
        int count = columns_of(A, dim, c, seen, B->j + B->p[c]);
        for (int k = 0; k < count; k++) list[B->j[B->p[c] + k]] = B->p[c] + k; /* where a block column went */
        B->own[c] = list[c];
        for (int i = 0; i < dim; i++) {
            int row = c * dim + i;
            if (A->storage == MOR_DENSE) {
                for (int k = 0; k < count; k++) {
                    int at = B->p[c] + k;
                    for (int l = 0; l < dim; l++)
                        B->x[((size_t)at * dim + i) * dim + l] = A->x[row + (size_t)(B->j[at] * dim + l) * A->rows];
                }
            } else {
                for (int k = A->p[row]; k < A->p[row + 1]; k++)
                    if (A->x[k] != 0.0) B->x[((size_t)list[A->i[k] / dim] * dim + i) * dim + A->i[k] % dim] = A->x[k];
            }
        }
    }
    return true;
}

/* q += sum of blocks first..last-1 times r, three rows */
static void add3(const mor_block_rows* B, int first, int last, const double* r, double* q)
{
    double a = q[0], b = q[1], e = q[2];
    for (int k = first; k < last; k++) {
        const double *x = B->x + 9 * (size_t)k, *y = r + 3 * (size_t)B->j[k];
        a += x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
        b += x[3] * y[0] + x[4] * y[1] + x[5] * y[2];
        e += x[6] * y[0] + x[7] * y[1] + x[8] * y[2];
    }
    q[0] = a, q[1] = b, q[2] = e;
}

static void add(const mor_block_rows* B, int first, int last, const double* r, double* q)
{
    int d = B->dim;
    if (d == 3) {
        add3(B, first, last, r, q);
        return;
    }
    for (int k = first; k < last; k++) {
        const double *x = B->x + (size_t)k * d * d, *y = r + (size_t)B->j[k] * d;
        for (int i = 0; i < d; i++)
            for (int l = 0; l < d; l++) q[i] += x[i * d + l] * y[l];
    }
}

void mor_block_rows_apply(const mor_block_rows* B, const double* r, const double* b, double* u)
{
    if (B->count > 0) memcpy(u, b, (size_t)(B->count * B->dim) * sizeof *u);
    for (int c = 0; c < B->count; c++) add(B, B->p[c], B->p[c + 1], r, u + c * B->dim);
}

void mor_block_rows_others(const mor_block_rows* B, int c, const double* r, double* q)
{
    add(B, B->p[c], B->own[c], r, q);
    add(B, B->own[c] + 1, B->p[c + 1], r, q);
}
