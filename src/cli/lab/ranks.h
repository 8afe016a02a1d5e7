/* Ranks of mpirun, in builds with -DMOREAU_MPI=ON. */
#ifndef MOREAU_CLI_LAB_RANKS_H
#define MOREAU_CLI_LAB_RANKS_H

#include "lab/sweep.h"

/* Whether this process was started as one of several ranks (by the environment). */
bool mor_cli_ranks_many(void);
/* *ranks NULL: this process is alone. Bad input: one of several, in a build without MPI, where each would do all. */
mor_code mor_cli_ranks(const mor_ranks** ranks, mor_error* error);
void mor_cli_ranks_end(void);

#endif
