/* Rows of a pivoting tableau: what Lemke's method, principal pivots, PATH's path search and the
 * elimination of free variables share.
 *
 * A tableau  basic = T nonbasic  has n rows of `stride` doubles (a multiple of 4, the tail zero), one after the other. */
#ifndef MOR_LINALG_TABLEAU_H
#define MOR_LINALG_TABLEAU_H

/* Exchanges the basic variable of row r with the nonbasic one of column s:
 *   row_r := -row_r / p with 1/p at the pivot p = T_rs,   row_i := row_i + T_is row_r  (T_is -> T_is/p).
 * Rows with T_is = 0 are skipped, and a sparse row_r is added by index: at most n * stride multiply-adds. The result
 * does not depend on the machine: the same operations in the same order with wide registers and without. `index`:
 * stride. */
void mor_tableau_pivot(int n, int width, int stride, double* T, int r, int s, int* index);

/* T_ij := R_i T_ij C_j for the n x n entries at T, R and C powers of two that bring the largest entry of each row and
 * column near 1 (Ruiz 2001, three rounds). `work`: 2n. */
void mor_tableau_equilibrate(int n, int stride, double* T, double* R, double* C, double* work);

/* Multiplies `row` (n entries, `stride` apart) by the power of two that brings its largest entry into [1/2, 1).
 * Returns that factor; 1 for a row of zeros. */
double mor_scale_row(int n, int stride, double* row);

#endif
