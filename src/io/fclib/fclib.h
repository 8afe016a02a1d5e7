/* FCLIB: contact problems in HDF5 (docs/bpmd.md), local and global, read and written. */
#ifndef MOR_IO_FCLIB_H
#define MOR_IO_FCLIB_H

#include "io/problem/problem_file.h"
#include "moreau/world.h"

/* A problem file of either format: FCLIB HDF5 or Siconos text. `kind` is for text only, as in mor_problem_read. */
mor_code mor_problem_load(const char* path, const char* kind, mor_problem_file* file, mor_error* error);
/* `file` has its arena (mor_problem_file_begin). */
mor_code mor_fclib_read(const char* path, mor_problem_file* file, mor_error* error);
/* A contact problem as a new FCLIB file. */
mor_code mor_fclib_write(const char* path, const mor_problem* problem, const char* title, mor_error* error);
/* The exact Coulomb problem of an assembled system: global, or local when joints have to be eliminated. */
mor_code mor_fclib_write_system(const char* path, const mor_system* system, const char* title, mor_error* error);

#endif
