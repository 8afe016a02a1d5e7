/* One solve of a comparison: timed, and the problem guarded. */
#ifndef MOR_LAB_TIMED_H
#define MOR_LAB_TIMED_H

#include "moreau/solver.h"

typedef struct mor_lab_timing {
    double solve_s, total_s; /* CPU seconds of one solve: of the solver; with conversion and judging */
    bool changed;            /* the solver has changed the problem: its answer is none, the problem is damaged */
} mor_lab_timing;

/* CPU seconds of this thread. */
double mor_lab_cpu_clock(void);
/* CPU seconds of all threads of this process, to microseconds, also while a timer or limit counts them. */
double mor_lab_process_clock(void);

/* Solves from z, repeated from the same start if that is short; the answer and report are those of the first time. */
mor_report mor_lab_time_solve(const mor_solver* solver, const mor_problem* problem, const mor_solve_options* options,
                              double* z, mor_arena* arena, mor_lab_timing* timing);

#endif
