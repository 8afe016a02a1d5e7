/* The iterates of one solve in HDF5: plain vectors, one entry per iteration, and the solutions themselves. */
#ifndef MOR_IO_ITERATION_FILE_H
#define MOR_IO_ITERATION_FILE_H

#include "moreau/problem.h"
#include "problem/judge.h"

typedef struct mor_iterate {
    int iteration;
    double time_s; /* the solver's, without the judge */
    mor_residual residual;
    double user_error;           /* of a plug-in; NAN: none */
    int sticking, sliding, open; /* contacts; -1: not told by this form */
} mor_iterate;

/* Of one island. */
typedef struct mor_iterations {
    int size;     /* unknowns */
    int contacts; /* that the problem tells; 0: none */
    int* contact; /* the frame's number of each, from 0; NULL: as they come */
    int count, capacity;
    mor_iterate* lines;
    double* z;                     /* count x size */
    mor_contact_verdict* verdicts; /* count x contacts */
} mor_iterations;

/* `verdicts`: one for each of all->contacts. False: out of memory; what is there stays. */
bool mor_iterations_add(mor_iterations* all, const mor_iterate* line, const double* z,
                        const mor_contact_verdict* verdicts);
void mor_iterations_free(mor_iterations* all);
/* One entry per iteration, for all islands together; the last is the answer; an island that has ended stays as it is:
 *
 *   /iteration /time_s
 *   /total_error_fb /total_error_cck /natural                sums over the islands
 *   /velocity /relative /normal_error /friction_error        largest; /friction_power: sum
 *   /user_error /sticking /sliding /open                     largest; sums
 *   /z                (iterations x unknowns)                island after island; /unknowns: how many of each
 *   /stick            (iterations x contacts)                1 sticks, 0 slides, -1 open
 *   /normal_errors /friction_errors (iterations x contacts)
 *   /contact          (contacts)                             the frame's number of each column, from 0
 *
 * with attributes problem, formulation, solver of /meta. Never over an existing file. */
mor_code mor_iterations_write(const char* path, const mor_iterations* islands, int island_count, const char* problem,
                              const char* formulation, const char* solver, mor_error* error);

#endif
