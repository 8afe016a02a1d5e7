/* LU of matrices made from W by blocks: what ADMM and the Newton methods on cones factor.
 *
 *     J_cj = L_c W_cj R_j + [c = j] E_c          L, R, E: one dim x dim matrix per contact, row-major
 *
 * (ADMM: W + shift; natural maps: (I - D) + D W; normal maps: W P' + (I - P').) Dense when small or full, else sparse
 * with one symbolic analysis per problem. */
#ifndef MOR_SOLVER_SCALED_LU_H
#define MOR_SOLVER_SCALED_LU_H

#include "linalg/sparse.h"
#include "solver/block_rows.h"

typedef struct mor_scaled_lu {
    const mor_block_rows* W;
    int n;
    double* dense; /* n x n, or NULL: sparse */
    int* pivot;
    mor_csr J;
    mor_sparse_lu* lu;
} mor_scaled_lu;

/* False: out of memory. */
bool mor_scaled_lu_open(mor_scaled_lu* lu, const mor_block_rows* W, mor_arena* arena);
/* L and R may be NULL: identity. False: singular. */
bool mor_scaled_lu_factor(mor_scaled_lu* lu, const double* L, const double* R, const double* E);
void mor_scaled_lu_solve(mor_scaled_lu* lu, double* b);
void mor_scaled_lu_close(mor_scaled_lu* lu);

#endif
