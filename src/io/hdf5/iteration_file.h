/* The iterates of one solve in HDF5: plain vectors, one entry per iteration, and the solutions themselves. */
#ifndef MOR_IO_ITERATION_FILE_H
#define MOR_IO_ITERATION_FILE_H

#include "moreau/problem.h"

typedef struct mor_iterate {
    int iteration;
    double time_s; /* the solver's, without the judge */
    mor_residual residual;
    double user_error;           /* of a plug-in; NAN: none */
    int sticking, sliding, open; /* contacts; -1: not told by this form */
} mor_iterate;

typedef struct mor_iterations {
    int size; /* unknowns */
    int count, capacity;
    mor_iterate* lines;
    double* z; /* count x size */
} mor_iterations;

/* False: out of memory; what is there stays. */
bool mor_iterations_add(mor_iterations* all, const mor_iterate* line, const double* z);
void mor_iterations_free(mor_iterations* all);
/* /z (iterations x unknowns), /iteration, /time_s, /total_error_fb, /total_error_cck, /natural, /velocity, /relative,
 * /normal_error, /friction_error, /user_error,
 * /sticking, /sliding, /open; attributes problem, formulation, solver of the root's /meta. Never over an existing file.
 * */
mor_code mor_iterations_write(const char* path, const mor_iterations* all, const char* problem, const char* formulation,
                              const char* solver, mor_error* error);

#endif
