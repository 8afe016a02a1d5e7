/* Compressed rows and KLU. KLU wants compressed columns: our rows are the columns of A', so the
 * handle factors A' and solves with its transpose; no copy is made. */
#include "linalg/sparse.h"

#include <amd.h>
#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool allocate(mor_csr* A, int rows, int cols, int count, mor_arena* arena)
{
    A->rows = rows, A->cols = cols;
    A->p = mor_arena_zero(arena, (size_t)rows + 1, sizeof *A->p);
    A->i = mor_arena_alloc(arena, (size_t)count * sizeof *A->i);
    A->x = mor_arena_alloc(arena, (size_t)count * sizeof *A->x);
    return A->p && A->i && A->x;
}

bool mor_csr_from_triplets(mor_csr* A, int rows, int cols, int count, const int* row, const int* col, const double* x,
                           mor_arena* arena)
{
    if (!allocate(A, rows, cols, count, arena)) return false;
    size_t mark = mor_arena_mark(arena);
    int* by_column = mor_arena_alloc(arena, (size_t)count * sizeof(int));
    int* next = mor_arena_zero(arena, (size_t)(rows > cols ? rows : cols) + 1, sizeof(int));
    if (!by_column || !next) return false;
    /* stable counting sort by column, then by row: columns come out ascending in every row */
    for (int k = 0; k < count; k++) next[col[k] + 1]++;
    for (int j = 0; j < cols; j++) next[j + 1] += next[j];
    for (int k = 0; k < count; k++) by_column[next[col[k]]++] = k;
    for (int k = 0; k < count; k++) A->p[row[k] + 1]++;
    for (int i = 0; i < rows; i++) A->p[i + 1] += A->p[i];
    memcpy(next, A->p, (size_t)rows * sizeof(int));
    for (int k = 0; k < count; k++) {
        int t = by_column[k], at = next[row[t]]++;
        A->i[at] = col[t], A->x[at] = x[t];
    }
    int used = 0;
    for (int i = 0; i < rows; i++) {
        int begin = A->p[i], end = A->p[i + 1], start = used;
        A->p[i] = used;
        for (int k = begin; k < end; k++)
            if (used > start && A->i[used - 1] == A->i[k]) A->x[used - 1] += A->x[k];
            else A->i[used] = A->i[k], A->x[used++] = A->x[k];
    }
    A->p[rows] = used;
    mor_arena_release(arena, mark);
    return true;
}

bool mor_csr_transpose(mor_csr* B, const mor_csr* A, int* source, mor_arena* arena)
{
    int count = A->p[A->rows];
    if (!allocate(B, A->cols, A->rows, count, arena)) return false;
    for (int k = 0; k < count; k++) B->p[A->i[k] + 1]++;
    for (int j = 0; j < A->cols; j++) B->p[j + 1] += B->p[j];
    /* p is used as the running position and shifted back afterwards */
    for (int r = 0; r < A->rows; r++)
        for (int k = A->p[r]; k < A->p[r + 1]; k++) {
            int at = B->p[A->i[k]]++;
            B->i[at] = r, B->x[at] = A->x[k];
            if (source) source[at] = k;
        }
    for (int j = A->cols; j > 0; j--) B->p[j] = B->p[j - 1];
    B->p[0] = 0;
    return true;
}

void mor_csr_to_dense(const mor_csr* A, double* dense)
{
    memset(dense, 0, (size_t)A->rows * A->cols * sizeof *dense);
    for (int r = 0; r < A->rows; r++)
        for (int k = A->p[r]; k < A->p[r + 1]; k++) dense[r + (size_t)A->i[k] * A->rows] += A->x[k];
}

bool mor_csr_from_dense(mor_csr* A, int rows, int cols, const double* dense, mor_arena* arena)
{
    int count = 0;
    for (size_t k = 0; k < (size_t)rows * cols; k++) count += dense[k] != 0.0;
    if (!allocate(A, rows, cols, count, arena)) return false;
    count = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < cols; j++) {
            double x = dense[i + (size_t)j * rows];
            if (x != 0.0) A->i[count] = j, A->x[count++] = x;
        }
        A->p[i + 1] = count;
    }
    return true;
}

void mor_csr_apply(const mor_csr* A, const double* x, double* y)
{
    for (int r = 0; r < A->rows; r++) {
        double s = 0.0;
        for (int k = A->p[r]; k < A->p[r + 1]; k++) s += A->x[k] * x[A->i[k]];
        y[r] = s;
    }
}

void mor_csr_apply_transposed(const mor_csr* A, const double* x, double* y)
{
    memset(y, 0, (size_t)A->cols * sizeof *y);
    for (int r = 0; r < A->rows; r++)
        if (x[r] != 0.0)
            for (int k = A->p[r]; k < A->p[r + 1]; k++) y[A->i[k]] += A->x[k] * x[r];
}

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

bool mor_csr_multiply(mor_csr* C, const mor_csr* A, const mor_csr* B, mor_arena* arena)
{
    /* pattern first, to allocate once */
    int* seen = mor_arena_alloc(arena, (size_t)B->cols * sizeof(int));
    double* sum = mor_arena_alloc(arena, (size_t)B->cols * sizeof(double));
    if (!seen || !sum) return false;
    memset(seen, -1, (size_t)B->cols * sizeof(int));
    long count = 0;
    for (int r = 0; r < A->rows; r++)
        for (int k = A->p[r]; k < A->p[r + 1]; k++)
            for (int l = B->p[A->i[k]]; l < B->p[A->i[k] + 1]; l++)
                if (seen[B->i[l]] != r) seen[B->i[l]] = r, count++;
    if (count > 2000000000L || !allocate(C, A->rows, B->cols, (int)count, arena)) return false;
    memset(seen, -1, (size_t)B->cols * sizeof(int));
    int used = 0;
    for (int r = 0; r < A->rows; r++) {
        int start = used;
        for (int k = A->p[r]; k < A->p[r + 1]; k++)
            for (int l = B->p[A->i[k]]; l < B->p[A->i[k] + 1]; l++) {
                int j = B->i[l];
                if (seen[j] != r) seen[j] = r, sum[j] = 0.0, C->i[used++] = j;
                sum[j] += A->x[k] * B->x[l];
            }
        qsort(C->i + start, (size_t)(used - start), sizeof(int), compare_int);
        for (int k = start; k < used; k++) C->x[k] = sum[C->i[k]];
        C->p[r + 1] = used;
    }
    return true;
}

double mor_csr_get(const mor_csr* A, int row, int col)
{
    int low = A->p[row], high = A->p[row + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (A->i[middle] < col) low = middle + 1;
        else high = middle;
    }
    return low < A->p[row + 1] && A->i[low] == col ? A->x[low] : 0.0;
}

bool mor_csr_order(const mor_csr* A, int* order) { return amd_order(A->rows, A->p, A->i, order, NULL, NULL) >= AMD_OK; }

struct mor_sparse_lu {
    klu_common common;
    klu_symbolic* symbolic;
    klu_numeric* numeric;
    int n;
};

mor_sparse_lu* mor_sparse_lu_create(const mor_csr* pattern, const int* order)
{
    mor_sparse_lu* lu = calloc(1, sizeof *lu);
    if (!lu) return NULL;
    klu_defaults(&lu->common);
    lu->n = pattern->rows;
    if (order) {
        lu->common.btf = 0;
        lu->symbolic = klu_analyze_given(lu->n, pattern->p, pattern->i, (int*)order, (int*)order, &lu->common);
    } else lu->symbolic = klu_analyze(lu->n, pattern->p, pattern->i, &lu->common);
    if (!lu->symbolic) {
        free(lu);
        return NULL;
    }
    return lu;
}

void mor_sparse_lu_destroy(mor_sparse_lu* lu)
{
    if (!lu) return;
    klu_free_numeric(&lu->numeric, &lu->common);
    klu_free_symbolic(&lu->symbolic, &lu->common);
    free(lu);
}

bool mor_sparse_lu_factor(mor_sparse_lu* lu, const mor_csr* A)
{
    if (lu->numeric) {
        /* the old pivots are good enough while no pivot has become tiny beside its column */
        if (klu_refactor(A->p, A->i, A->x, lu->symbolic, lu->numeric, &lu->common) &&
            klu_rgrowth(A->p, A->i, A->x, lu->symbolic, lu->numeric, &lu->common) && lu->common.rgrowth > 1e-6)
            return true;
        klu_free_numeric(&lu->numeric, &lu->common);
    }
    lu->numeric = klu_factor(A->p, A->i, A->x, lu->symbolic, &lu->common);
    return lu->numeric && lu->common.status == KLU_OK;
}

void mor_sparse_lu_solve(mor_sparse_lu* lu, int count, double* b)
{
    if (lu->n == 0 || count == 0) return;
    klu_tsolve(lu->symbolic, lu->numeric, lu->n, count, b, &lu->common);
}
