/* Where a run begins and what it leaves (run_start.c). */
#ifndef MOREAU_CLI_RUN_START_H
#define MOREAU_CLI_RUN_START_H

#include "moreau/world.h"

/* The state of a snapshot, or of a recording (.h5, .hdf5) at the frame nearest to `time`; negative: the last one. */
mor_code mor_cli_start_from(const char* path, double time, mor_world* world, mor_error* error);
/* Writes a snapshot of the world. */
mor_code mor_cli_snapshot(const char* path, const mor_world* world, mor_error* error);

#endif
