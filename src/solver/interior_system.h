/* The blocks, the scaling and the Newton system (A + V^-2) dx = rhs of the interior-point method (interior_point.c). */
#ifndef MOR_SOLVER_INTERIOR_SYSTEM_H
#define MOR_SOLVER_INTERIOR_SYSTEM_H

#include "linalg/sparse.h"
#include "moreau/solver.h"

enum { MOR_INTERIOR_DIRECT, MOR_INTERIOR_CG, MOR_INTERIOR_GMRES };

typedef struct mor_interior {
    int n, count;
    int *start, *dim; /* blocks; dim 1 orthant, 2 or 3 Lorentz, 0: one free row */
    double* scale;    /* n: original z = scale x, original w = s/scale */
    mor_csr A;        /* scaled */
    double *b, *x, *s, *dx, *ds, *rp, *rc, *rhs;
    double* V2;      /* 9 per block: V^-2 */
    double *v, *eta; /* scaling: unit v (3 per block) and length eta: V = eta (2 v v' - J) */
    double* lambda;  /* n */
    bool plain;      /* this iteration linearises x o s itself */
    /* linear algebra */
    bool dense, symmetric;
    double *D, *LU; /* dense A, factor */
    int* pivot;
    mor_sparse_lu* lu;
    mor_csr K;           /* pattern of A with full diagonal blocks */
    int *from_A, *place; /* A.x[k] -> K.x; 9 per block -> K.x */
    int* diagonal_place; /* (i, i) -> K.x */
    double *work, *diagonal;
    double shift; /* added to the diagonal when the factorisation fails without */
    int method;
    double tol;
} mor_interior;

/* Blocks, scaled matrix and room for everything. n and method are set before. False: out of memory, or structurally
 * singular. Destroy `lu` afterwards. */
bool mor_interior_open(mor_interior* c, const mor_problem* problem, mor_arena* arena);
/* Of A + V^-2 (+ shift). False: singular. */
bool mor_interior_factor(mor_interior* c);
/* dx and ds from rp and rc. */
void mor_interior_direction(mor_interior* c);
/* The longest step along dx and ds that stays in the cones. */
double mor_interior_room(const mor_interior* c);

#endif
