/* Tables kept as CSV, gathered into one HDF5 file: the same numbers for programs that would rather not parse text. */
#ifndef MOR_IO_CSV_TABLES_H
#define MOR_IO_CSV_TABLES_H

#include "moreau/base.h"

/* Writes `path` anew with one group per CSV file, named groups[i]
 * ("/figure-18/errors"), and in it one dataset per column: doubles where every cell is a number (inf and nan count),
 * else strings. The first line of a file names the columns. */
mor_code mor_csv_tables_write(const char* path, const char* const* files, const char* const* groups, int count,
                              mor_error* error);

#endif
