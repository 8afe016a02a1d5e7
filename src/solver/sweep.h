/* Sweeps over a time step: the machinery that pgs, psor, jacobi and nsgs share.
 *
 * A visit to block c of a STEP computes, on the tree velocities nu,
 *
 *     u_c = G_c' nu + b_c,   p_c <- solution of the block's own problem with W_cc and q_c = u_c - W_cc p_c,
 *     nu <- nu + M^-1 G_c (p_c_new - p_c_old)
 *
 * so W = G' M^-1 G is never formed and a sweep costs O(number of Jacobian coefficients). What a visit needs is
 * gathered once per solve so that a sweep runs through memory in order.
 *
 * The second part does the same by single rows of a matrix (LCP and MLCP). */
#ifndef MOR_SOLVER_SWEEP_H
#define MOR_SOLVER_SWEEP_H

#include "moreau/solver.h"
#include "solver/local.h"

enum { MOR_SWEEP_ROWS = 6, MOR_SWEEP_SIDES = 4, MOR_SWEEP_DIRECTIONS = 256 };

typedef struct mor_visit {
    int kind, dim, row, entry_count, directions, state;
    bool regular; /* inverse is valid */
    double mu, lower, upper;
    const double* W;
    double inverse[9];
    double scale; /* |W_cc|: turns a change of impulse into m/s */
    struct {
        int offset, dof;
        const double *J, *Y;
    } side[MOR_SWEEP_SIDES];
    mor_cone cone;
    double root; /* where the last exact solve of a circular cone ended */
} mor_visit;

typedef struct mor_sweep {
    const mor_step_form* step;
    mor_visit* visits;
    const double* corners[MOR_SWEEP_DIRECTIONS + 1];
    double* nu;           /* dof: nu_free + M^-1 G p */
    mor_local_kind local; /* for circular cones */
    double relaxation;    /* p_c_old + relaxation (p_c - p_c_old); 1: the block's own solution */
} mor_sweep;

/* Gathers the visits. `cones`: circular and rolling cones are welcome. Returns MOR_SOLVED, or MOR_REFUSED or
 * MOR_NUMERICAL with *why set. */
mor_status mor_sweep_open(mor_sweep* sweep, const mor_step_form* step, bool cones, mor_arena* arena, const char** why);
/* nu = nu_free + M^-1 G p, from the impulses alone. */
void mor_sweep_restart(mor_sweep* sweep, const double* p);
/* u = G_c' nu + b_c of one block. */
void mor_visit_velocity(const mor_visit* visit, const double* b, const double* nu, double* u);
/* p (the old impulse on entry): the block's own solution at velocity u. */
void mor_visit_solve(const mor_sweep* sweep, mor_visit* visit, const double* u, double* p);

typedef enum mor_sweep_order { MOR_SWEEP_ALTERNATE, MOR_SWEEP_FORWARD } mor_sweep_order;

/* Gauss-Seidel until the judge is content: asked when the largest change of a sweep, in m/s, is within the tolerance,
 * and every 50 sweeps. */
mor_report mor_gauss_seidel_step(mor_sweep* sweep, mor_sweep_order order, mor_context* context, double* p);
/* The same, and with `least`, where impulses are not unique and decide the motion, those of least norm
 * (mor_tree_least): which answer sweeps end in depends on the order of the contacts. */
mor_report mor_gauss_seidel_answer(mor_sweep* sweep, mor_sweep_order order, bool least, const mor_problem* problem,
                                   mor_context* context, double* p);

/* Rows of an LCP or MLCP, stored one after the other, and their diagonal. */
typedef struct mor_rows {
    int n;
    const int *p, *i; /* compressed rows, or NULL: dense */
    const double* x;  /* dense: row-major */
    const double* diagonal;
    const double *b, *lower;
} mor_rows;

/* As mor_sweep_open. `report` is filled on refusal: an operator. */
bool mor_rows_open(mor_rows* rows, const mor_problem* problem, mor_arena* arena, mor_report* report);
/* Can row i be relaxed alone: is its diagonal entry positive (equations: not zero)? */
bool mor_rows_relax(const mor_rows* rows, int i);
/* (A z)_i */
double mor_rows_product(const mor_rows* rows, int i, const double* z);
/* True where z_i >= 0 and w_i >= 0 are complementary; false for equations. */
static inline bool mor_rows_signed(const mor_rows* rows, int i) { return !rows->lower || !isinf(rows->lower[i]); }

/* z_i <- max(0, z_i - relaxation w_i/A_ii), row after row (no max on equations), until the judge is content. Rows that
 * cannot be relaxed alone: by groups (row_groups.h). */
mor_report mor_gauss_seidel_rows(const mor_rows* rows, double relaxation, mor_context* context, double* z);

/* A report with a sentence. */
mor_report mor_ended(mor_status status, int iterations, const char* detail);

#endif
