/* Interior point on tree velocities (ip_tree.c). */
#ifndef MOR_SOLVER_IP_TREE_H
#define MOR_SOLVER_IP_TREE_H

#include "moreau/solver.h"

/* Follows the central path of a STEP_CONE problem until the judge says `enough` or the tolerance, or rounding ends it.
 * p: the best answer; what it holds before is not used. Refused: polygons and rolling friction. */
mor_report mor_ip_tree(const mor_problem* problem, mor_context* context, double enough, double* p);

#endif
