/* Problem files: Siconos text (.dat) and FCLIB HDF5, read into a mor_problem that owns its memory.
 *
 * Errors say file, line (or dataset) and what would be right. Truncated or corrupt files are errors, never crashes:
 * counts are checked against what the file can hold before anything is allocated. */
#ifndef MOR_IO_PROBLEM_FILE_H
#define MOR_IO_PROBLEM_FILE_H

#include "moreau/world.h"

typedef struct mor_problem_file {
    mor_problem problem; /* problem.name: the file's name without its folder */
    /* numbers of z that belong to the file; less than size for a rectangular mlcp, which is padded */
    int columns;
    mor_arena* arena; /* owns everything above */
} mor_problem_file;

/* `kind`: "lcp", "mlcp", "fc2d", "fc3d", "gfc2d", "gfc3d", "rfc3d", "grfc3d", or NULL: taken from the folder's name
 * or from the name of the file (text files do not say; HDF5 files do). */
mor_code mor_problem_read(const char* path, const char* kind, mor_problem_file* file, mor_error* error);
void mor_problem_file_free(mor_problem_file* file);
/* Writes a Siconos text file (17 digits; matrices dense or triplets) under a temporary name and renames it. */
mor_code mor_problem_write(const char* path, const mor_problem* problem, mor_error* error);
/* The form called `kind`, or 0. */
mor_form mor_form_of_kind(const char* kind);

/* fclib.c; `file` has its arena. */
mor_code mor_fclib_read(const char* path, mor_problem_file* file, mor_error* error);
/* fclib_write.c: a contact problem as a new FCLIB file. */
mor_code mor_fclib_write(const char* path, const mor_problem* problem, const char* title, mor_error* error);
/* The exact Coulomb problem of an assembled system: global, or local when joints have to be eliminated. */
mor_code mor_fclib_write_system(const char* path, const mor_system* system, const char* title, mor_error* error);

#endif
