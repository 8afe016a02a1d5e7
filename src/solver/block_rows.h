/* A square matrix by rows of small dense blocks: what contact-by-contact sweeps read.
 *
 * Block row c holds the blocks with columns j[p[c]] ... j[p[c+1]-1], ascending, each dim x dim row-major at x + k
 * dim^2; own[c] is the position of the diagonal block (always present, zero if need be). */
#ifndef MOR_SOLVER_BLOCK_ROWS_H
#define MOR_SOLVER_BLOCK_ROWS_H

#include "moreau/problem.h"

typedef struct mor_block_rows {
    int count, dim;
    int *p, *j, *own;
    double* x;
} mor_block_rows;

/* From a dense or sparse matrix; blocks that are all zero are dropped (not from dense matrices of a few rows). False:
 * out of memory. */
bool mor_block_rows_build(mor_block_rows* B, const mor_matrix* A, int dim, mor_arena* arena);
/* The diagonal block of row c. */
static inline const double* mor_block_rows_own(const mor_block_rows* B, int c)
{
    return B->x + (size_t)B->own[c] * B->dim * B->dim;
}
/* q += sum over j != c of B_cj r_j */
void mor_block_rows_others(const mor_block_rows* B, int c, const double* r, double* q);
/* u = B r + b */
void mor_block_rows_apply(const mor_block_rows* B, const double* r, const double* b, double* u);

#endif
