/* Eigenvalues of dense symmetric matrices. */
#ifndef MOR_LINALG_EIGENVALUES_H
#define MOR_LINALG_EIGENVALUES_H

#include <stdbool.h>

/* All eigenvalues of the symmetric n x n matrix whose lower triangle is in A (column-major, overwritten), ascending.
 * `work`: 2n. False if A is not finite (or, never seen, without convergence). */
bool mor_symmetric_eigenvalues(int n, double* A, double* values, double* work);

#endif
