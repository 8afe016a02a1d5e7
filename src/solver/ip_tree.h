/* Interior point on tree velocities (ip_tree.c). */
#ifndef MOR_SOLVER_IP_TREE_H
#define MOR_SOLVER_IP_TREE_H

#include "moreau/solver.h"
#include "solver/tree_matrix.h"
#include "solver/tree_newton.h"

/* Rows from which a path that jams is worth much work; smaller problems are better left to other methods first. */
enum { MOR_IP_LARGE = 300 };

/* How a path is followed. All 0: with the sharp |u_T|, as fast as it goes. */
typedef struct mor_ip_path {
    double rounding; /* |u_T| is sqrt(|u_T|^2 + r^2) - r, r: this much of the mean complementarity */
    double balance;  /* the complementarity waits for r_u: it stays above this much of the largest */
    int patience;    /* iterations without progress of the error after which it ends */
} mor_ip_path;

/* The paths to try one after another for a problem of so many rows: *count of them. */
const mor_ip_path* mor_ip_paths(int rows, int* count);

/* Follows a central path of a STEP_CONE problem to the tolerance and, while it pays, to the aim, or until rounding
 * ends it. K: opened for the step. p: the best answer; what it holds before is not used. Refused: polygons and rolling
 * friction. */
mor_report mor_ip_tree(const mor_problem* problem, const mor_ip_path* path, mor_tree_matrix* K, mor_context* context,
                       double* p);

/* Newton's method from where the path ends, for a problem of so many rows. */
const mor_tree_newton_settings* mor_ip_tree_polish(int rows);

#endif
