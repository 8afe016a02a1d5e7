/* LU of a square matrix whose rows are zero outside of an interval (envelope.c). */
#ifndef MOR_LINALG_ENVELOPE_H
#define MOR_LINALG_ENVELOPE_H

#include "moreau/base.h"

#include <stdbool.h>

typedef struct mor_envelope {
    int n;
    double* A;         /* n x n, row-major, becomes L and U */
    double** rows;     /* in the order of the pivots */
    int* order;        /* which row of the matrix comes here */
    int *first, *last; /* entries of a row that are not zero */
} mor_envelope;

/* Room for n rows, all zero; false: out of memory. */
bool mor_envelope_create(int n, mor_arena* arena, mor_envelope* e);
/* Factors e->A with partial pivoting, from the entries that are not zero. *ratio: the least pivot over the largest, as
 * sizes. False: a pivot is zero or not finite. */
bool mor_envelope_factor(mor_envelope* e, double* ratio);
/* X := A^-1 B for m right-hand sides; both n x m, row-major, and not the same. */
void mor_envelope_solve(const mor_envelope* e, int m, const double* B, double* X);
/* x := A'^-1 b, one right-hand side; b is lost. */
void mor_envelope_solve_transposed(const mor_envelope* e, double* b, double* x);
/* C += A B over rows of length m: C (rows x m) += A (rows x k, entry i, j at A[i si + j sj]) B (k x m). */
void mor_rows_combine(int rows, int m, int k, const double* A, ptrdiff_t si, ptrdiff_t sj, const double* B,
                      ptrdiff_t ldb, double* C, ptrdiff_t ldc);

#endif
