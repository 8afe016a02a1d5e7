/* Dense factorisations behind one header.
 *
 * All matrices are column-major without gaps: A[i + j*n]. Nothing allocates but
 * mor_least_norm. The same bits on every machine (blocks.h).
 *
 *   LU        P A = L U, partial pivoting                           2/3 n^3
 *   Cholesky  A = L L', A symmetric positive definite               1/3 n^3
 *   LDL       P A P' = L D L', A symmetric indefinite, D with 1x1
 *             and 2x2 blocks (Bunch-Kaufman)                        1/3 n^3
 *   semidefinite  P A P' = L L' with diagonal pivoting: the rank and whether A is semidefinite
 *
 * References: Golub & Van Loan, Matrix Computations (4th ed.), alg. 3.4.1, 4.2.1, sec. 4.4;
 * Bunch & Kaufman (1977), Some stable methods for calculating inertia. */
#ifndef MOR_LINALG_DENSE_H
#define MOR_LINALG_DENSE_H

#include "moreau/base.h"

#include <math.h>
#include <stdbool.h>

/* Factors in place. `pivot` has n entries. False if a pivot is zero or not finite. */
bool mor_lu_factor(int n, double* A, int* pivot);
/* b := A^-1 b */
void mor_lu_solve(int n, const double* LU, const int* pivot, double* b);
/* B (n x m, column-major) := A^-1 B */
void mor_lu_solve_many(int n, const double* LU, const int* pivot, int m, double* B);
/* Improves x towards A x = b by `steps` rounds x += A^-1 (b - A x), keeping a round only if the
 * residual falls. Returns the last max-norm residual. `work`: 2n. */
double mor_lu_refine(int n, const double* A, const double* LU, const int* pivot, const double* b, double* x, int steps,
                     double* work);

/* Least-squares solution of least norm of A x = b for a square A of any rank (QR with column pivoting; singular
 * values below `rcond` times the largest count as zero). A is overwritten, b becomes x. Scratch from the arena. Returns
 * the rank, -1 when memory is short or A is not finite. */
int mor_least_norm(int n, double* A, double* b, double rcond, mor_arena* arena);
/* Asked now and then by what may take seconds; true: it ends without an answer. */
typedef struct mor_stop {
    bool (*now)(const void* user);
    const void* user;
} mor_stop;
/* The same; -1 also when `stop` (NULL: never) says so. */
int mor_least_norm_until(int n, double* A, double* b, double rcond, const mor_stop* stop, mor_arena* arena);
/* The same for the `count` columns of B (n x count, column-major). */
int mor_least_norm_many(int n, double* A, int count, double* B, double rcond, mor_arena* arena);

/* Only the lower triangle of A is read and written. False if A is not positive definite. */
bool mor_cholesky_factor(int n, double* A);
void mor_cholesky_solve(int n, const double* L, double* b);

/* Lower triangle, LAPACK's layout of pivots. False if D is singular or not finite. */
bool mor_ldl_factor(int n, double* A, int* pivot);
void mor_ldl_solve(int n, const double* LD, const int* pivot, double* b);

/* Factors the lower triangle of a symmetric matrix with diagonal pivoting until the largest diagonal left is at
 * most `tolerance`. Returns the rank. *least, if not NULL, is the smallest diagonal entry of what is left: below
 * -tolerance A is not semidefinite. `order` (n): row k of the factor is row order[k] of A. `work`: n. */
int mor_semidefinite_factor(int n, double* A, int* order, double tolerance, double* least, double* work);
/* True if the symmetric part of A (n x n) has no eigenvalue below about -tolerance*max|A_ij|.
 * `work`: n*n + n; `order`: n. */
bool mor_symmetric_part_is_semidefinite(int n, const double* A, double tolerance, double* work, int* order);

/* y = A x, y = A' x (rows x cols, column-major) */
void mor_dense_apply(int rows, int cols, const double* A, const double* x, double* y);
void mor_dense_apply_transposed(int rows, int cols, const double* A, const double* x, double* y);
/* C += alpha A B with A (m x k), B (k x n), C (m x n), leading dimensions lda, ldb, ldc. */
void mor_dense_multiply_add(int m, int n, int k, double alpha, const double* A, int lda, const double* B, int ldb,
                            double* C, int ldc);

double mor_norm2(int n, const double* x);
double mor_norm_max(int n, const double* x);

/* ------------------------------------------------- six rows, symmetric, row-major, inline */

/* Cholesky of a symmetric positive definite 6 x 6 matrix: L lower. False if it is not positive definite. */
static inline bool mor_cholesky6(const double A[36], double L[36])
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j <= i; j++) {
            double s = A[i * 6 + j];
            for (int k = 0; k < j; k++) s -= L[i * 6 + k] * L[j * 6 + k];
            if (i == j) {
                if (!(s > 0.0)) return false;
                L[i * 6 + i] = sqrt(s);
            } else {
                L[i * 6 + j] = s / L[j * 6 + j];
                L[j * 6 + i] = 0.0;
            }
        }
    return true;
}

/* b := (L L')^-1 b */
static inline void mor_cholesky6_solve(const double L[36], double b[6])
{
    for (int i = 0; i < 6; i++) {
        double s = b[i];
        for (int k = 0; k < i; k++) s -= L[i * 6 + k] * b[k];
        b[i] = s / L[i * 6 + i];
    }
    for (int i = 5; i >= 0; i--) {
        double s = b[i];
        for (int k = i + 1; k < 6; k++) s -= L[k * 6 + i] * b[k];
        b[i] = s / L[i * 6 + i];
    }
}

#endif
