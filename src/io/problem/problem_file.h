/* Problem files: Siconos text (.dat), read into a mor_problem that owns its memory. FCLIB HDF5 is the laboratory's
 * (io/fclib/fclib.h).
 *
 * Errors say file, line (or dataset) and what would be right. Truncated or corrupt files are errors, never crashes:
 * counts are checked against what the file can hold before anything is allocated. */
#ifndef MOR_IO_PROBLEM_FILE_H
#define MOR_IO_PROBLEM_FILE_H

#include "moreau/problem.h"

typedef struct mor_problem_file {
    mor_problem problem; /* problem.name: the file's name without its folder */
    /* numbers of z that belong to the file; less than size for a rectangular mlcp, which is padded */
    int columns;
    mor_arena* arena; /* owns everything above */
} mor_problem_file;

/* `kind`: "lcp", "mlcp", "fc2d", "fc3d", "gfc2d", "gfc3d", "rfc3d", "grfc3d", or NULL: taken from the folder's name
 * or from the name of the file (text files do not say). An HDF5 file is bad input here; mor_problem_load reads both. */
mor_code mor_problem_read(const char* path, const char* kind, mor_problem_file* file, mor_error* error);
void mor_problem_file_free(mor_problem_file* file);
/* Writes a Siconos text file (17 digits; matrices dense or triplets) under a temporary name and renames it. */
mor_code mor_problem_write(const char* path, const mor_problem* problem, mor_error* error);
/* The form called `kind`, or 0. */
mor_form mor_form_of_kind(const char* kind);

/* Does this file begin with HDF5's signature? False also when it cannot be read. */
bool mor_is_hdf5(const char* path);
/* For readers of other formats: an empty file with an arena; then, after reading, the check of the problem and its
 * name. A reader hands over its own `code`; on failure the file is freed. */
mor_code mor_problem_file_begin(mor_problem_file* file, mor_error* error);
mor_code mor_problem_file_end(mor_problem_file* file, const char* path, mor_code code, mor_error* error);

#endif
