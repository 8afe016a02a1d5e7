/* Products with the three kinds of matrix a problem may hold, and the entries of the two that are stored. */
#include "problem/entries.h"

#include <assert.h>
#include <string.h>

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

double mor_matrix_entry(const mor_matrix* A, int i, int j)
{
    if (A->storage == MOR_DENSE) return A->x[i + (size_t)j * (size_t)A->rows];
    for (int k = A->p[i]; k < A->p[i + 1]; k++)
        if (A->i[k] == j) return A->x[k];
    return 0.0;
}

void mor_matrix_get_row(const mor_matrix* A, int i, double* row)
{
    if (A->storage == MOR_DENSE)
        for (int j = 0; j < A->cols; j++) row[j] = A->x[i + (size_t)j * (size_t)A->rows];
    else
        for (int k = A->p[i]; k < A->p[i + 1]; k++) row[A->i[k]] = A->x[k];
}

void mor_matrix_get_principal(const mor_matrix* A, int k, const int* set, const int* place, double* P)
{
    memset(P, 0, (size_t)k * (size_t)k * sizeof *P);
    for (int r = 0; r < k; r++) {
        int i = set[r];
        if (A->storage == MOR_DENSE)
            for (int c = 0; c < k; c++) P[r + (size_t)c * k] = A->x[i + (size_t)set[c] * (size_t)A->rows];
        else
            for (int e = A->p[i]; e < A->p[i + 1]; e++)
                if (place[A->i[e]] >= 0) P[r + (size_t)place[A->i[e]] * k] = A->x[e];
    }
}
