/* Traces of solvers in HDF5: one group per problem and solver, plain vectors, one entry per iteration. */
#ifndef MOR_IO_TRACE_FILE_H
#define MOR_IO_TRACE_FILE_H

#include "moreau/problem.h"

typedef struct mor_trace_file mor_trace_file;

/* Made in memory; mor_trace_file_close writes it, whole or not at all: not if no trace was added. */
mor_code mor_trace_file_create(const char* path, mor_trace_file** file, mor_error* error);
/* Group /<problem>/<solver> with iteration, time_s, step_length, relative, absolute, velocity, natural, fb, cck,
 * normal_error, friction_error, friction_power. */
mor_code mor_trace_file_add(mor_trace_file* file, const char* problem, const char* solver, const mor_trace* trace,
                            mor_error* error);
mor_code mor_trace_file_close(mor_trace_file* file, mor_error* error);

/* One group of a trace file, read back. */
typedef struct mor_trace_record {
    char problem[256], solver[64];
    int count;
    double *iteration, *time_s, *error; /* count each, in one block that `iteration` owns; error: relative, for time
                                           steps velocity */
} mor_trace_record;

/* All groups, problems and solvers in the order in which they were written; free them with mor_trace_records_free.
 * Other HDF5 files are bad input. */
mor_code mor_trace_file_read(const char* path, mor_trace_record** records, int* count, mor_error* error);
void mor_trace_records_free(mor_trace_record* records, int count);

#endif
