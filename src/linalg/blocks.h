/* Products and triangular solves of dense blocks: what the factorisations are made of.
 *
 * Column-major with leading dimensions (a distance, which may be negative to run backwards). Every entry of a result is
 * computed as its definition reads, one product after the other in the order of the index: c := c + a_0 b_0, c := c +
 * a_1 b_1, ... Blocking and vectors only run across independent entries. So the bits depend neither on the width of the
 * registers nor on the blocking, and a blocked factorisation gives the bits of the textbook loops. */
#ifndef MOR_LINALG_BLOCKS_H
#define MOR_LINALG_BLOCKS_H

#include <stddef.h>

/* C += alpha A B with alpha = 1 or -1, A (m x k), C (m x n), entry (l, j) of B at B[l row + j column]: row = 1 for B as
 * stored, column = 1 for its transpose. */
void mor_block_product(int m, int n, int k, double alpha, const double* A, ptrdiff_t lda, const double* B,
                       ptrdiff_t row, ptrdiff_t column, double* C, ptrdiff_t ldc);
/* B := L^-1 B, L lower triangular with ones on its diagonal (n x n), B n x m. */
void mor_block_solve_unit_lower(int n, int m, const double* L, ptrdiff_t ldl, double* B, ptrdiff_t ldb);
/* B := U^-1 B, U upper triangular. */
void mor_block_solve_upper(int n, int m, const double* U, ptrdiff_t ldu, double* B, ptrdiff_t ldb);
/* B := B L^-T, L lower triangular (n x n), B m x n. Divisions are products with the inverse of the diagonal. */
void mor_block_solve_right(int m, int n, const double* L, ptrdiff_t ldl, double* B, ptrdiff_t ldb);
/* Lower triangle of C (n x n) -= A A', A n x k. */
void mor_block_subtract_gram(int n, int k, const double* A, ptrdiff_t lda, double* C, ptrdiff_t ldc);

#endif
