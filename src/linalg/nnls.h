/* Least squares with sign conditions: minimise |g - E x|, x_j >= 0 for the columns that are not free.
 *
 * Active set of Lawson & Hanson (1974), Solving Least Squares Problems, ch. 23, on an orthonormal basis Q of the
 * chosen columns (Gram-Schmidt, done twice): adding a column costs O(n k), removing one O(n k^2). Columns that depend
 * on the chosen ones are never chosen, so E may have any rank. Deterministic: ties go to the lower index. */
#ifndef MOR_LINALG_NNLS_H
#define MOR_LINALG_NNLS_H

#include "moreau/base.h"

/* E: n x m, column-major; is_free: m flags or NULL. Writes x (m) and the residual g - E x (n). False: out of memory. */
bool mor_nnls(int n, int m, const double* E, const bool* is_free, const double* g, double* x, double* residual,
              mor_arena* arena);

#endif
