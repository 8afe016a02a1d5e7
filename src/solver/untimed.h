/* mor_solve for steps that take a microsecond or two. */
#ifndef MOR_SOLVER_UNTIMED_H
#define MOR_SOLVER_UNTIMED_H

#include "moreau/solver.h"

/* mor_solve without reading the clock where there is no time limit and no trace: the report's time_s is 0. */
mor_report mor_solve_untimed(const mor_solver* solver, const void* options, const mor_problem* problem,
                             const mor_solve_options* solve_options, double* z, mor_arena* arena);

#endif
