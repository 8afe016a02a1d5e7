/* Interior point on tree velocities (ip_tree.c). */
#ifndef MOR_SOLVER_IP_TREE_H
#define MOR_SOLVER_IP_TREE_H

#include "moreau/solver.h"
#include "solver/tree_matrix.h"
#include "solver/tree_newton.h"

/* Follows the central path of a STEP_CONE problem to the tolerance and, while it pays, to the aim, or until rounding
 * ends it. K: opened for the step. p: the best answer; what it holds before is not used. Refused: polygons and rolling
 * friction. */
mor_report mor_ip_tree(const mor_problem* problem, mor_tree_matrix* K, mor_context* context, double* p);

/* Newton's method from where the path ends, for a problem of so many rows. */
const mor_tree_newton_settings* mor_ip_tree_polish(int rows);

#endif
