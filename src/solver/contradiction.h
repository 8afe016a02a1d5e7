/* Rows of a step that contradict each other: no velocity fulfils them, whatever the impulses. */
#ifndef MOR_SOLVER_CONTRADICTION_H
#define MOR_SOLVER_CONTRADICTION_H

#include "moreau/problem.h"

/* True: it is proved that every velocity misses a row of the step by more than `limit` [m/s], but for velocities a
 * million times those of the data. False: there is no proof, or no memory. */
bool mor_step_contradicts(const mor_problem* problem, double limit, mor_arena* arena);

#endif
