/* The nonsmooth Newton kernel shared by nsn, ppa, the scalar Newtons and auto.
 *
 * Problem: u = W r + q, a law per block of d rows (d = 1: 0 <= r _|_ u >= 0; 2, 3, 5: Coulomb), written as
 * F(r, u) = 0 by one of the maps of contact_map.h. One iteration:
 *
 *   [B + A (W + (a + p) I)] dr = -F,    F at u = W r + q + p (r - r_c),
 *   a = max(floor, kappa sigma |F|/|F_0|)
 *
 * a: residual-proportional regularisation, in the matrix only: a proximal step centred anew at every iteration, never
 * singular for rank-deficient W, superlinear at the end. kappa *= 1/2 after full steps, min(1, 10 kappa) after steps
 * below 1/4 (or kappa = 1 throughout). p, r_c: a true proximal term, for ppa. Line search: theta = |F|^2, t = 1, 1/2,
 * ..., 2^-11, accepted when theta(t) <= (1 - 1e-4 t) max(last `window` theta), else the best t tried; u is affine in t.
 *
 * Scaling: r = beta D r', u = beta u'/D with D_c = sqrt(3/trace W_cc) (d = 1: symmetric Ruiz equilibration) and
 * beta = |D q|: W_cc ~ I and |q| = 1, so that all constants are numbers. Open contacts (F = r) leave the linear system.
 * Direct solves: dense LU up to 260 rows or 15 % density, else multifrontal LU (contacts; if its pivots fail, and for
 * pairs, a sparse LU with threshold pivoting), with one fill-reducing order of the contact graph per problem. Iterative
 * solves (cg: normal equations; gmres) only use products with W.
 *
 * Cost per iteration: one factorisation of the active rows, one product with W. Memory: n^2 dense; the factor sparse.
 * Reference: facts of the experiments in docs/solvers/nsn.md; Alart & Curnier (1991); Grippo, Lampariello & Lucidi
 * (1986), A nonmonotone line search technique for Newton's method. */
#ifndef MOR_SOLVER_CONTACT_NEWTON_H
#define MOR_SOLVER_CONTACT_NEWTON_H

#include "linalg/front_lu.h"
#include "moreau/solver.h"
#include "solver/contact_map.h"

typedef enum mor_newton_linear { MOR_NEWTON_DIRECT, MOR_NEWTON_CG, MOR_NEWTON_GMRES } mor_newton_linear;

typedef struct mor_newton_settings {
    mor_contact_map map;
    double weight;       /* lambda of cck */
    double sigma, floor; /* regularisation */
    bool adapt;          /* kappa adapts; otherwise 1 */
    int window, max_iter;
    mor_newton_linear linear;
    double proximal;      /* p; 0: none */
    const double* centre; /* r_c, scaled, internal order */
    /* with a proximal term: stop when |F| <= inner p |r - r_c|; 0: run to the judge's tolerance */
    double inner;
    int give_up; /* stop after this many iterations without a new least |F|; 0: never */
} mor_newton_settings;

typedef enum mor_newton_end {
    MOR_NEWTON_SOLVED,  /* the judge is satisfied; z holds the answer */
    MOR_NEWTON_INNER,   /* the proximal subproblem is solved well enough */
    MOR_NEWTON_USED_UP, /* iterations */
    MOR_NEWTON_STUCK,   /* give_up reached, or F = 0 without the judge's consent */
    MOR_NEWTON_LATE,    /* deadline */
    MOR_NEWTON_BROKEN   /* singular whatever the regularisation, NaN, out of memory */
} mor_newton_end;

/* One problem, scaled, with its scratch memory. */
typedef struct mor_contact_newton {
    int n, d, blocks;
    bool dense;        /* W below; otherwise S (or products with the problem's operator) */
    bool free_product; /* operator: neither W nor S */
    double* W;         /* column-major, scaled */
    mor_bsr S;         /* scaled, blocks in `order` */
    int* order;        /* internal block k is block order[k] of the problem */
    const mor_matrix* given;
    mor_contact_law* law;
    double *scale, beta, *q; /* D by internal rows; scaled q */
    double *r, *u, *F;       /* the iterate, scaled, internal order; u without the proximal term */
    double *dr, *du, *trial, *trial_u, *z, *w, *spare;
    double *A, *B; /* blocks d d */
    int *active, *place, active_count;
    double *J, *rhs; /* linear system */
    int* pivot;
    mor_sparse_lu* lu; /* pairs: threshold pivoting */
    mor_csr C;
    mor_front_lu front_lu; /* contacts: fronts */
    mor_arena* fronts;     /* its memory, renewed with every active set */
    int* mirror;
    int *last, last_count; /* active set that the factor was analysed for */
    double alpha;          /* regularisation of the last step plus p */
    double *answer, best;  /* least judge's error so far and where, in the problem's units */
    int iterations;        /* over all runs */
    mor_arena* arena;
} mor_contact_newton;

/* Scales the problem (LCP, FC2D, FC3D, FC_ROLLING). False: out of memory. The iterate starts at r = 0; `answer` (n)
 * receives the best answer of all runs. */
bool mor_contact_newton_open(mor_contact_newton* newton, const mor_problem* problem, double* answer, mor_arena* arena);
void mor_contact_newton_close(mor_contact_newton* newton);
/* r := 0, or r := the scaled image of z. */
void mor_contact_newton_start(mor_contact_newton* newton, const double* z);
/* LCP: scales rows with a diagonal among each other, and the others to fit. False: all rows, or none, have one; nothing
 * changes. Begin again after it. */
bool mor_contact_newton_rescale(mor_contact_newton* newton);
/* Iterates from newton->r. */
mor_newton_end mor_contact_newton_run(mor_contact_newton* newton, const mor_newton_settings* settings,
                                      mor_context* context);
/* The status a solver reports for an end. */
mor_status mor_newton_status(mor_newton_end end);

#endif
