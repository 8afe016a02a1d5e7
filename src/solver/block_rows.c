/* Rows of small dense blocks (block_rows.h). Building costs O(entries), or O(n^2) from a dense matrix; a row costs its
 * blocks. */
#include "solver/block_rows.h"

#include <math.h>
#include <string.h>

#include "base/inline.h"

enum { LARGEST_DIM = 5, FEW_ROWS = 30 };

/* The columns of block row c into `list`, ascending, the diagonal among them; returns how many. seen[j] == c marks. */
MOR_ALWAYS_INLINE int columns_of(const int dim, const mor_matrix* A, int c, int* seen, int* list)
{
    int n = 0;
    if (A->storage == MOR_DENSE) {
        for (int j = 0; j < A->rows / dim; j++) {
            double size = A->rows <= FEW_ROWS; /* looking would cost more than a few zeros */
            for (int l = 0; l < dim && A->rows > FEW_ROWS; l++)
                for (int i = 0; i < dim; i++) size += fabs(A->x[c * dim + i + (size_t)(j * dim + l) * (size_t)A->rows]);
            list[n] = j;
            n += j == c || size > 0.0;
        }
        return n;
    }
    seen[c] = c, list[n++] = c;
    for (int k = A->p[c * dim]; k < A->p[(c + 1) * dim]; k++) {
        int j = (int)((unsigned)A->i[k] / (unsigned)dim);
        if (seen[j] != c && A->x[k] != 0.0) seen[j] = c, list[n++] = j;
    }
    for (int i = 1; i < n; i++) { /* nearly in order */
        int v = list[i], k = i;
        for (; k > 0 && list[k - 1] > v; k--) list[k] = list[k - 1];
        list[k] = v;
    }
    return n;
}

MOR_ALWAYS_INLINE bool build(const int dim, mor_block_rows* B, const mor_matrix* A, mor_arena* arena)
{
    int n = A->rows / dim;
    *B = (mor_block_rows){ .count = n, .dim = dim };
    B->p = mor_arena_zero(arena, 2 * (size_t)n + 1, sizeof *B->p);
    int* seen = mor_arena_alloc(arena, (2 * (size_t)n + 1) * sizeof *seen);
    if (!B->p || !seen) return false;
    int* list = seen + n;
    B->own = B->p + n + 1;
    for (int c = 0; c < n; c++) seen[c] = -1;
    for (int c = 0; c < n; c++) B->p[c + 1] = B->p[c] + columns_of(dim, A, c, seen, list);
    B->j = mor_arena_alloc(arena, (size_t)B->p[n] * sizeof *B->j);
    B->x = mor_arena_zero(arena, (size_t)B->p[n] * (size_t)(dim * dim), sizeof *B->x);
    if (!B->j || !B->x) return false;
    for (int c = 0; c < n; c++) seen[c] = -1;
    for (int c = 0; c < n; c++) {
        int *j = B->j + B->p[c], count = columns_of(dim, A, c, seen, j);
        double* x = B->x + (size_t)B->p[c] * (size_t)(dim * dim);
        for (int k = 0; k < count; k++) list[j[k]] = k; /* where a block column went */
        B->own[c] = B->p[c] + list[c];
        if (A->storage == MOR_DENSE)
            for (int k = 0; k < count; k++)
                for (int l = 0; l < dim; l++)
                    for (int i = 0; i < dim; i++)
                        x[(k * dim + i) * dim + l] = A->x[c * dim + i + (size_t)(j[k] * dim + l) * (size_t)A->rows];
        else
            for (int i = 0; i < dim; i++)
                for (int k = A->p[c * dim + i]; k < A->p[c * dim + i + 1]; k++) {
                    if (A->x[k] == 0.0) continue;
                    int column = (int)((unsigned)A->i[k] / (unsigned)dim);
                    x[(list[column] * dim + i) * dim + A->i[k] - column * dim] = A->x[k];
                }
    }
    return true;
}

bool mor_block_rows_build(mor_block_rows* B, const mor_matrix* A, int dim, mor_arena* arena)
{
    return dim == 3 ? build(3, B, A, arena) : dim == 2 ? build(2, B, A, arena) : build(dim, B, A, arena);
}

/* q += sum of blocks first..last-1 times r */
MOR_ALWAYS_INLINE void add_dim(const int d, const mor_block_rows* B, int first, int last, const double* r, double* q)
{
    double sum[LARGEST_DIM];
    for (int i = 0; i < d; i++) sum[i] = q[i];
    for (int k = first; k < last; k++) {
        const double *x = B->x + (size_t)k * (size_t)(d * d), *y = r + (size_t)B->j[k] * (size_t)d;
        for (int i = 0; i < d; i++) {
            double s = x[i * d] * y[0];
            for (int l = 1; l < d; l++) s += x[i * d + l] * y[l];
            sum[i] += s;
        }
    }
    for (int i = 0; i < d; i++) q[i] = sum[i];
}

static void add(const mor_block_rows* B, int first, int last, const double* r, double* q)
{
    if (B->dim == 3) add_dim(3, B, first, last, r, q);
    else if (B->dim == 2) add_dim(2, B, first, last, r, q);
    else add_dim(B->dim, B, first, last, r, q);
}

void mor_block_rows_apply(const mor_block_rows* B, const double* r, const double* b, double* u)
{
    if (B->count > 0) memcpy(u, b, (size_t)(B->count * B->dim) * sizeof *u);
    for (int c = 0; c < B->count; c++) add(B, B->p[c], B->p[c + 1], r, u + c * B->dim);
}

MOR_ALWAYS_INLINE void add_others(const int d, const mor_block_rows* B, int c, const double* r, double* q)
{
    add_dim(d, B, B->p[c], B->own[c], r, q);
    add_dim(d, B, B->own[c] + 1, B->p[c + 1], r, q);
}

void mor_block_rows_others(const mor_block_rows* B, int c, const double* r, double* q)
{
    if (B->dim == 3) add_others(3, B, c, r, q);
    else if (B->dim == 2) add_others(2, B, c, r, q);
    else add_others(B->dim, B, c, r, q);
}
