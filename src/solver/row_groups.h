/* Sweeps over an LCP or MLCP by rows, where rows without a diagonal of their own are taken together with those they
 * depend on (row_groups.c). */
#ifndef MOR_SOLVER_ROW_GROUPS_H
#define MOR_SOLVER_ROW_GROUPS_H

#include "solver/sweep.h"

typedef struct mor_row_groups {
    int count;
    int *first, *row;  /* count + 1; rows of each group, ascending */
    double** own;      /* per group: its own block, m x m by columns; NULL for single rows */
    bool* active;      /* per row: z_i > 0 in the last solution of its group */
    double *q, *x, *T; /* scratch of the largest group */
    int largest;
} mor_row_groups;

/* As mor_rows_open; `rows` need not have a diagonal. Refused: an equation without a diagonal, a group of more than 128
 * rows. */
bool mor_row_groups_open(mor_row_groups* groups, const mor_rows* rows, mor_arena* arena, mor_report* report);
/* x (rows of the group): the group's own solution, all other unknowns as in z. False: it has none. */
bool mor_row_group_solve(mor_row_groups* groups, const mor_rows* rows, int group, const double* z, double* x,
                         mor_arena* arena);

/* Gauss-Seidel and over-relaxation: z_g <- z_g + relaxation (x_g - z_g), group after group, until the judge is content.
 */
mor_report mor_gauss_seidel_groups(const mor_rows* rows, double relaxation, mor_context* context, double* z);
/* Jacobi: all groups at once; damping 0: for each group what its own rows are of the sum of all, at the least. */
mor_report mor_jacobi_groups(const mor_rows* rows, double damping, mor_context* context, double* z);

#endif
