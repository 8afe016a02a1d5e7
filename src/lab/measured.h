/* Measured tables: columns of numbers with names, from CSV or HDF5. */
#ifndef MOR_LAB_MEASURED_H
#define MOR_LAB_MEASURED_H

#include "moreau/base.h"

typedef struct mor_measured {
    char path[1024];
    int column_count, row_count;
    char (*names)[64];
    double* values; /* row by row; NaN: missing */
    int* lines;     /* of each row in the file, 1-based; NULL: no lines (HDF5) */
} mor_measured;

/* A CSV file: the first line names the columns; cells are numbers, or empty, `nan` or `NA` where a sample is missing.
 * Separators: comma, or semicolon or tab if the first line has no comma. Lines that begin with # and empty lines are
 * skipped. Every complaint has file:line:column. HDF5 (by its first bytes): every one-dimensional dataset of the root
 * is a column, and every column of a two-dimensional one NAME is NAME.0, NAME.1 ...; all of the same length. */
mor_code mor_measured_read(mor_measured* table, const char* path, mor_error* error);
void mor_measured_free(mor_measured* table);
/* The number of a column, or -1. */
int mor_measured_column(const mor_measured* table, const char* name);
/* The name most like this one, or NULL. */
const char* mor_measured_near(const mor_measured* table, const char* name);
static inline double mor_measured_at(const mor_measured* table, int row, int column)
{
    return table->values[(size_t)row * (size_t)table->column_count + (size_t)column];
}

#endif
