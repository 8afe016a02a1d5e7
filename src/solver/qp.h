/* A quadratic programme as the three qp-* methods see it, and what they share: products, proofs, polishing.
 *
 *   minimise z'Pz/2 + q'z,   l <= G z <= u,   G = [C; I]
 *
 * with the rows of C divided by their norms, P symmetric and semidefinite, everything dense. Multipliers y (one per row
 * of G) are signed: P z + q = G'y, y_i >= 0 where row i is at its lower bound, <= 0 at its upper one. */
#ifndef MOR_SOLVER_QP_H
#define MOR_SOLVER_QP_H

#include "moreau/solver.h"

typedef struct mor_qp {
    int n, m;        /* unknowns; rows of C. G has m + n rows */
    double* P;       /* n x n */
    const double* q; /* n */
    double* C;       /* m x n, row-major, unit rows (zero rows stay zero) */
    double *l, *u;   /* m + n */
    double size;     /* largest entry of P */
    double reach;    /* largest finite bound */
} mor_qp;

/* Copies the problem. False: `report` says refused (operator, not convex), no_solution (a zero row out of its bounds)
 * or numerical (memory). O(n^3) for the test of convexity. */
bool mor_qp_load(const mor_problem* problem, mor_qp* qp, mor_report* report, mor_arena* arena);
/* out = G x (m + n), out = G'y (n), g = P z + q */
void mor_qp_rows(const mor_qp* qp, const double* x, double* out);
void mor_qp_rows_transposed(const mor_qp* qp, const double* y, double* out);
void mor_qp_slope(const mor_qp* qp, const double* z, double* g);
double mor_qp_row_dot(const mor_qp* qp, int row, const double* x);

/* True if y proves that the rows contradict each other: G'y = 0 and l'y+ - u'y- > 0 (to rounding). `work`: n. */
bool mor_qp_proves_infeasible(const mor_qp* qp, const double* y, double* work);
/* True if d proves that the minimum is -infinity: P d = 0, q'd < 0, and G d points into no bound. `work`: m + 2n. */
bool mor_qp_proves_unbounded(const mor_qp* qp, const double* d, double* work);

/* Solves with the rows marked -1 (at lower) or 1 (at upper) as equations and the others ignored, starting from z: the
 * regularised KKT system by LDL' with refinement, which takes dependent rows and a singular P. z and y (m + n) are
 * overwritten. False if the factorisation broke down. O((n + k)^3). */
bool mor_qp_polish(const mor_qp* qp, const signed char* at, double* z, double* y, mor_arena* arena);
/* The proximal method of multipliers from x and y (n, m + n; both overwritten), for degenerate ends that no set of
 * active rows explains, then the equations of the rows it finds active (qp_refine.c). z = unit x (NULL: ones) is
 * overwritten if the judge's error falls below *least, which then becomes it. */
void mor_qp_refine(const mor_qp* qp, const mor_context* context, const double* unit, double* x, double* y,
                   double* least, double* z);

#endif
