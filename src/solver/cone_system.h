/* Contacts as one variational inequality: what the projection methods on cones work with.
 *
 *     u(r) = W r + q,   find r in K with  u^(r)'(r' - r) >= 0 for all r' in K
 *
 * K is the product of friction cones (and of bounded and free rows), u^ = u + (sum of mu |u|) e_n (cone.h), or u
 * itself for the convex relaxation. FC and CQP give W as a matrix; a STEP gives it by G and M^-1 and never forms it.
 *
 * Every block has a weight d_c = 3/trace W_cc (first three rows), an impulse per velocity: in the metric sum
 * |r_c|^2/d_c all contacts weigh alike, whatever their masses, and projections on cones stay what they are, because d_c
 * is one number per contact. Rolling rows have another unit: they are weighed by beta^2 d_c, beta^2 = W_nn/W_RR, and
 * projections are made in (N, T, R/beta) with mu_roll/beta, which is the same cone seen in that metric. */
#ifndef MOR_SOLVER_CONE_SYSTEM_H
#define MOR_SOLVER_CONE_SYSTEM_H

#include "moreau/solver.h"
#include "problem/cone.h"
#include "solver/block_rows.h"

typedef struct mor_cone_block {
    int kind; /* mor_block_kind */
    int row, dim;
    mor_cone cone;
    double lower, upper;
    double weight;                /* d_c */
    double beta;                  /* rolling rows, else 1 */
    double normal, tangent, roll; /* 1/W_nn, 1/max W_TT, 1/max W_RR: r-factors of single rows */
} mor_cone_block;

typedef struct mor_cone_system {
    const mor_problem* problem;
    int n, count;
    mor_cone_block* blocks;
    mor_block_rows W; /* FC, CQP */
    double* weight;   /* n: d_c, or beta^2 d_c */
    bool convex;
    double* nu;   /* STEP: scratch */
    double drive; /* |q| in the metric */
} mor_cone_system;

/* MOR_SOLVED, or MOR_REFUSED (polygons) or MOR_NUMERICAL with *why. */
mor_status mor_cone_system_open(mor_cone_system* system, const mor_problem* problem, mor_arena* arena,
                                const char** why);
/* u = W r + q */
void mor_cone_system_velocity(const mor_cone_system* system, const double* r, double* u);
/* F = u^ from u. They may be the same array. */
void mor_cone_system_hat(const mor_cone_system* system, const double* u, double* F);
/* r := nearest point of K in the metric of the weights */
void mor_cone_system_project(const mor_cone_system* system, double* r);
/* sqrt(sum weight^power x^2): power -1 for impulses, +1 for velocities */
double mor_cone_system_norm(const mor_cone_system* system, const double* x, int power);

/* True when r has grown so far beyond d q that the relative error would flatter it: the problem has no solution, or the
 * method runs away along a self-stress. */
bool mor_cone_system_runaway(const mor_cone_system* system, const double* r, double tol);

#endif
