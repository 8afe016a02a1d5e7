/* How long a solver takes: repeated runs of the solver alone. */
#ifndef MOR_SOLVER_MEASURE_H
#define MOR_SOLVER_MEASURE_H

#include "moreau/solver.h"

/* mor_solve with time_s in CPU seconds of the process: the solver alone is repeated from the same start until
 * `at_least` seconds have gone by (once if it needs more), and the mean is reported. Runs after the first are neither
 * traced nor judged. With a trace there is one run. */
mor_report mor_solve_measured(const mor_solver* solver, const void* options, const mor_problem* problem,
                              const mor_solve_options* solve_options, double* z, double at_least, mor_arena* arena);

#endif
