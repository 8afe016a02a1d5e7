/* Sparse matrices of square d x d blocks in compressed block rows: block row a holds block columns
 * i[p[a]] ... i[p[a+1]-1], ascending, with values x[k d d ...], row-major. The pattern is symmetric (a block and its
 * mirror are both stored), because orderings and factorisations want it so.
 *
 * Everything lives in the arena it was built in. */
#ifndef MOR_LINALG_BLOCK_SPARSE_H
#define MOR_LINALG_BLOCK_SPARSE_H

#include "linalg/sparse.h"

typedef struct mor_bsr {
    int n, d; /* blocks, block size */
    int* p;
    int* i;
    double* x;
} mor_bsr;

/* Blocks of a sparse matrix of n d rows. With `reorder` rows and columns are put in an approximate minimum degree order
 * of the blocks: block k of the result is block order[k] of A (`order`: n ints; without `reorder` it is 0, 1, ...). */
bool mor_bsr_from_csr(mor_bsr* B, const mor_csr* A, int d, bool reorder, int* order, mor_arena* arena);
/* The same of a dense column-major matrix. */
bool mor_bsr_from_dense(mor_bsr* B, int rows, const double* A, int d, bool reorder, int* order, mor_arena* arena);
/* y = B x, y = B' x */
void mor_bsr_apply(const mor_bsr* B, const double* x, double* y);
void mor_bsr_apply_transposed(const mor_bsr* B, const double* x, double* y);

#endif
