/* Krylov methods for A x = b when only products with A are known.
 *
 *   gmres      restarted, any A; right-preconditioned by a diagonal          work: (restart + 3) n + restart (restart +
 *   5)
 *   cg_normal  conjugate gradients on A'A x = A'b (CGNR); needs A' too       work: 4 n
 *   cg         conjugate gradients, A symmetric positive definite            work: 3 n
 *
 * All start from the x given, stop when |b - A x| <= tol |b|, and return the number of products with A. Nothing
 * allocates. References: Saad & Schultz (1986), GMRES: a generalized minimal residual algorithm; Hestenes & Stiefel
 * (1952), Methods of conjugate gradients for solving linear systems; Saad (2003), Iterative methods for sparse linear
 * systems, alg. 8.4, 9.5. */
#ifndef MOR_LINALG_KRYLOV_H
#define MOR_LINALG_KRYLOV_H

#include <stddef.h>

/* y = A x */
typedef void (*mor_product)(void* user, const double* x, double* y);

static inline size_t mor_gmres_work(int n, int restart)
{
    return (size_t)(restart + 3) * (size_t)n + (size_t)restart * (size_t)(restart + 5) + 8;
}

/* `diagonal` (n, or NULL): A diag^-1 is iterated. */
int mor_gmres(int n, mor_product A, void* user, const double* diagonal, const double* b, double* x, double tol,
              int restart, int max_products, double* work);
int mor_cg_normal(int n, mor_product A, mor_product At, void* user, const double* b, double* x, double tol,
                  int max_products, double* work);
int mor_cg(int n, mor_product A, void* user, const double* b, double* x, double tol, int max_products, double* work);

#endif
