/* Products with the three kinds of matrix a problem may hold. */
#include "moreau/problem.h"

#include <assert.h>

#include "linalg/dense.h"
#include "linalg/sparse.h"

static mor_csr view(const mor_matrix* A) { return (mor_csr){ A->rows, A->cols, A->p, A->i, A->x }; }

void mor_matrix_apply(const mor_matrix* A, const double* x, double* y)
{
    if (A->storage == MOR_DENSE) mor_dense_apply(A->rows, A->cols, A->x, x, y);
    else if (A->storage == MOR_SPARSE) {
        mor_csr S = view(A);
        mor_csr_apply(&S, x, y);
    } else A->apply(A->user, x, y);
}

void mor_matrix_apply_transposed(const mor_matrix* A, const double* x, double* y)
{
    assert(A->storage != MOR_OPERATOR);
    if (A->storage == MOR_DENSE) mor_dense_apply_transposed(A->rows, A->cols, A->x, x, y);
    else {
        mor_csr S = view(A);
        mor_csr_apply_transposed(&S, x, y);
    }
}
