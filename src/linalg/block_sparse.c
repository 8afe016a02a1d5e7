/* Block rows from scalar rows: pattern first (with its mirror), then order, then values. O(nnz + blocks log). */
#include "linalg/block_sparse.h"

#include <stdlib.h>
#include <string.h>

static int compare_int(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

static void sort_row(int* a, int n)
{
    if (n > 24) {
        qsort(a, (size_t)n, sizeof *a, compare_int);
        return;
    }
    for (int i = 1; i < n; i++) {
        int v = a[i], j = i;
        for (; j > 0 && a[j - 1] > v; j--) a[j] = a[j - 1];
        a[j] = v;
    }
}

/* Pattern of blocks of A and A', diagonal included, unordered columns. */
static bool block_pattern(const mor_csr* A, int d, int n, mor_csr* P, mor_arena* arena)
{
    int* count = mor_arena_zero(arena, (size_t)n + 2, sizeof *count);
    int* seen = mor_arena_alloc(arena, (size_t)n * sizeof *seen);
    if (!count || !seen) return false;
    memset(seen, -1, (size_t)n * sizeof *seen);
    for (int a = 0; a < n; a++)
        for (int r = a * d; r < (a + 1) * d; r++)
            for (int k = A->p[r]; k < A->p[r + 1]; k++) {
                int b = A->i[k] / d;
                if (b != a && seen[b] != a) seen[b] = a, count[a + 2]++, count[b + 2]++;
            }
    for (int a = 0; a <= n; a++) count[a + 1] += count[a];
    int* column = mor_arena_alloc(arena, ((size_t)count[n + 1] + (size_t)n) * sizeof *column);
    int* p = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof *p);
    if (!column || !p) return false;
    memset(seen, -1, (size_t)n * sizeof *seen);
    for (int a = 0; a < n; a++)
        for (int r = a * d; r < (a + 1) * d; r++)
            for (int k = A->p[r]; k < A->p[r + 1]; k++) {
                int b = A->i[k] / d;
                if (b != a && seen[b] != a) seen[b] = a, column[count[a + 1]++] = b, column[count[b + 1]++] = a;
            }
    /* count[a] ... count[a+1]: row a, most columns twice */
    memset(seen, -1, (size_t)n * sizeof *seen);
    int used = 0, *compact = mor_arena_alloc(arena, ((size_t)count[n] + (size_t)n) * sizeof *compact);
    if (!compact) return false;
    for (int a = 0; a < n; a++) {
        p[a] = used;
        compact[used++] = a;
        seen[a] = a;
        for (int k = count[a]; k < count[a + 1]; k++)
            if (seen[column[k]] != a) seen[column[k]] = a, compact[used++] = column[k];
    }
    p[n] = used;
    *P = (mor_csr){ .rows = n, .cols = n, .p = p, .i = compact };
    return true;
}

bool mor_bsr_from_csr(mor_bsr* B, const mor_csr* A, int d, bool reorder, int* order, mor_arena* arena)
{
    int n = A->rows / d;
    mor_csr P;
    int* rank = mor_arena_alloc(arena, (size_t)n * sizeof *rank);
    int* place = mor_arena_alloc(arena, (size_t)n * sizeof *place);
    if (!rank || !place || !block_pattern(A, d, n, &P, arena)) return false;
    for (int a = 0; a < n; a++) {
        order[a] = a;
        if (reorder) sort_row(P.i + P.p[a], P.p[a + 1] - P.p[a]);
    }
    if (reorder && n > 0 && !mor_csr_order(&P, order)) return false;
    for (int k = 0; k < n; k++) rank[order[k]] = k;
    *B = (mor_bsr){ .n = n, .d = d };
    B->p = mor_arena_alloc(arena, ((size_t)n + 1) * sizeof *B->p);
    B->i = mor_arena_alloc(arena, (size_t)P.p[n] * sizeof *B->i);
    B->x = mor_arena_zero(arena, (size_t)P.p[n], (size_t)(d * d) * sizeof *B->x);
    if (!B->p || !B->i || !B->x) return false;
    int used = 0;
    for (int k = 0; k < n; k++) {
        int a = order[k], start = used;
        B->p[k] = used;
        for (int l = P.p[a]; l < P.p[a + 1]; l++) B->i[used++] = rank[P.i[l]];
        sort_row(B->i + start, used - start);
        for (int l = start; l < used; l++) place[B->i[l]] = l;
        for (int r = 0; r < d; r++)
            for (int l = A->p[a * d + r]; l < A->p[a * d + r + 1]; l++) {
                int b = A->i[l] / d;
                B->x[((size_t)place[rank[b]] * d + r) * d + A->i[l] % d] += A->x[l];
            }
    }
    B->p[n] = used;
    return true;
}

bool mor_bsr_from_dense(mor_bsr* B, int rows, const double* A, int d, bool reorder, int* order, mor_arena* arena)
{
    mor_csr C;
    return mor_csr_from_dense(&C, rows, rows, A, arena) && mor_bsr_from_csr(B, &C, d, reorder, order, arena);
}

static inline void apply_fixed(const mor_bsr* B, int d, const double* restrict x, double* restrict y)
{
    for (int a = 0; a < B->n; a++) {
        double s[5] = { 0 };
        for (int k = B->p[a]; k < B->p[a + 1]; k++) {
            const double *block = B->x + (size_t)k * d * d, *v = x + (size_t)B->i[k] * d;
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) s[i] += block[i * d + j] * v[j];
        }
        for (int i = 0; i < d; i++) y[(size_t)a * d + i] = s[i];
    }
}

void mor_bsr_apply(const mor_bsr* B, const double* x, double* y)
{
    switch (B->d) {
    case 1:
        apply_fixed(B, 1, x, y);
        break;
    case 2:
        apply_fixed(B, 2, x, y);
        break;
    case 3:
        apply_fixed(B, 3, x, y);
        break;
    default:
        apply_fixed(B, B->d, x, y);
        break;
    }
}

void mor_bsr_apply_transposed(const mor_bsr* B, const double* x, double* y)
{
    int d = B->d;
    memset(y, 0, (size_t)B->n * d * sizeof *y);
    for (int a = 0; a < B->n; a++)
        for (int k = B->p[a]; k < B->p[a + 1]; k++) {
            const double *block = B->x + (size_t)k * d * d, *v = x + (size_t)a * d;
            double* out = y + (size_t)B->i[k] * d;
            for (int i = 0; i < d; i++)
                for (int j = 0; j < d; j++) out[j] += block[i * d + j] * v[i];
        }
}
