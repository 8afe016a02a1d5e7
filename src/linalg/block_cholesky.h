/* Cholesky factorisation of a sparse symmetric positive definite matrix of small dense blocks.
 *
 *     int dims[2] = { 1, 1 };
 *     double x[2] = { 3, 3 };
 *     mor_arena* arena = mor_arena_create(NULL);
 *     mor_block_cholesky* c = mor_block_cholesky_create(2, dims, arena);
 *     *mor_block_cholesky_at(c, 0, 0) = 2; // the block of a <= b, row-major dims[a] x dims[b]
 *     *mor_block_cholesky_at(c, 0, 1) = 1;
 *     *mor_block_cholesky_at(c, 1, 1) = 2;
 *     if (mor_block_cholesky_factor(c)) mor_block_cholesky_solve(c, x); // x becomes W^-1 x
 *
 * Blocks are eliminated in an order of least degree, ties by number, so the fill of chains and trees is nil and the
 * result does not depend on anything but the matrix. All memory comes from the arena. */
#ifndef MOR_LINALG_BLOCK_CHOLESKY_H
#define MOR_LINALG_BLOCK_CHOLESKY_H

#include "moreau/base.h"

#define MOR_BLOCK_DIM 6 /* largest block */

typedef struct mor_block_cholesky mor_block_cholesky;

/* NULL: out of memory. */
mor_block_cholesky* mor_block_cholesky_create(int count, const int* dims, mor_arena* arena);
/* The block of a <= b, row-major dims[a] x dims[b], zero when it is asked for the first time: to be added to. NULL: out
 * of memory. */
double* mor_block_cholesky_at(mor_block_cholesky* c, int a, int b);
/* False: a pivot block is not positive definite, or out of memory. */
bool mor_block_cholesky_factor(mor_block_cholesky* c);
/* x := A^-1 x; x holds the blocks one after the other. */
void mor_block_cholesky_solve(const mor_block_cholesky* c, double* x);

#endif
