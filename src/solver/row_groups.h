/* Sweeps over an LCP or MLCP by rows, where rows without a diagonal of their own are taken together with those they
 * depend on (row_groups.c). */
#ifndef MOR_SOLVER_ROW_GROUPS_H
#define MOR_SOLVER_ROW_GROUPS_H

#include "solver/sweep.h"

/* Both refuse an equation without a diagonal and rows that tie more than 128 together.
 *
 * Gauss-Seidel and over-relaxation: z_g <- z_g + relaxation (x_g - z_g), group after group, until the judge is content.
 */
mor_report mor_gauss_seidel_groups(const mor_rows* rows, double relaxation, mor_context* context, double* z);
/* Jacobi: all groups at once; damping 0: for each group what its own rows are of the sum of all, at the least. */
mor_report mor_jacobi_groups(const mor_rows* rows, double damping, mor_context* context, double* z);

#endif
