/* Traces of solvers in HDF5: one group per problem and solver, plain vectors, one entry per iteration. */
#ifndef MOR_IO_TRACE_FILE_H
#define MOR_IO_TRACE_FILE_H

#include "moreau/problem.h"

typedef struct mor_trace_file mor_trace_file;

/* Writes under a temporary name; mor_trace_file_close renames it. */
mor_code mor_trace_file_create(const char* path, mor_trace_file** file, mor_error* error);
/* Group /<problem>/<solver> with iteration, time_s, step_length, relative, absolute, velocity, natural, fb, cck,
 * normal_error, friction_error, friction_power. */
mor_code mor_trace_file_add(mor_trace_file* file, const char* problem, const char* solver, const mor_trace* trace,
                            mor_error* error);
mor_code mor_trace_file_close(mor_trace_file* file, mor_error* error);

#endif
