/* Sparse matrices in compressed rows, and a sparse LU behind one opaque handle (KLU inside).
 *
 * Row i of a mor_csr holds columns i[p[i]] ... i[p[i+1]-1], ascending and without repetition.
 * Arrays live in the arena they were built in. The LU separates the symbolic analysis (ordering and
 * pattern: once per pattern) from the numeric factorisation (once per set of values).
 *
 * Reference: Davis & Palamadai Natarajan (2010), Algorithm 907: KLU; Amestoy, Davis & Duff (2004),
 * Algorithm 837: AMD. */
#ifndef MOR_LINALG_SPARSE_H
#define MOR_LINALG_SPARSE_H

#include "moreau/base.h"

typedef struct mor_csr {
    int rows, cols;
    int* p;
    int* i;
    double* x;
} mor_csr;

/* Sums repeated entries; sorts each row. O(entries + rows + cols). False: out of memory. */
bool mor_csr_from_triplets(mor_csr* A, int rows, int cols, int count, const int* row, const int* col, const double* x,
                           mor_arena* arena);
/* B = A'. With `source` (nnz ints or NULL) B.x[k] = A.x[source[k]]. Also the way from compressed columns to compressed
 * rows. */
bool mor_csr_transpose(mor_csr* B, const mor_csr* A, int* source, mor_arena* arena);
/* Column-major dense copy (rows x cols, overwritten) and back, dropping exact zeros. */
void mor_csr_to_dense(const mor_csr* A, double* dense);
bool mor_csr_from_dense(mor_csr* A, int rows, int cols, const double* dense, mor_arena* arena);
/* y = A x, y = A' x */
void mor_csr_apply(const mor_csr* A, const double* x, double* y);
void mor_csr_apply_transposed(const mor_csr* A, const double* x, double* y);
/* C = A B. Row by row (Gustavson 1978): O(flops). */
bool mor_csr_multiply(mor_csr* C, const mor_csr* A, const mor_csr* B, mor_arena* arena);
/* Entry (row, col), 0 if not stored. */
double mor_csr_get(const mor_csr* A, int row, int col);
/* A fill-reducing order of a square matrix with the pattern of A + A' (approximate minimum degree):
 * order[k] = the row that comes k-th. False: out of memory. */
bool mor_csr_order(const mor_csr* A, int* order);

typedef struct mor_sparse_lu mor_sparse_lu;

/* Analyses the pattern of a square matrix. NULL if it is structurally singular or memory is short.
 * `order` (n, or NULL for our own choice): a symmetric fill-reducing order to use as given. The heap is used here and
 * in the first factorisation only. */
mor_sparse_lu* mor_sparse_lu_create(const mor_csr* pattern, const int* order);
void mor_sparse_lu_destroy(mor_sparse_lu* lu);
/* Values of the same pattern. Repeats the last pivot order when that is still stable, else pivots
 * anew. False if singular. */
bool mor_sparse_lu_factor(mor_sparse_lu* lu, const mor_csr* A);
/* b := A^-1 b for `count` right-hand sides of length n, one after the other. */
void mor_sparse_lu_solve(mor_sparse_lu* lu, int count, double* b);

#endif
