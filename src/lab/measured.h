/* Measured tables: columns of numbers with names, from CSV or HDF5. */
#ifndef MOR_LAB_MEASURED_H
#define MOR_LAB_MEASURED_H

#include "moreau/base.h"

/* A cell that holds a word. */
typedef struct mor_measured_word {
    int row, column;
    size_t at; /* in the text of the file */
} mor_measured_word;

typedef struct mor_measured {
    char path[1024];
    int column_count, row_count;
    char (*names)[64];        /* "": a column without a name, as that of line numbers */
    double* values;           /* row by row; NaN: missing, or a word */
    int* lines;               /* of each row in the file, 1-based; NULL: no lines (HDF5) */
    mor_measured_word* words; /* row by row */
    int word_count, word_capacity;
    char* text; /* of the file, while there are words */
    char separator;
    char left_out[200]; /* HDF5: names of datasets with words, or of another length */
} mor_measured;

/* A CSV file: the first line names the columns; cells are numbers, or empty, `nan`, `NA`, `none` or `null` where a
 * sample is missing, or words in columns that nobody uses as numbers. Separators: comma, or semicolon, tab or blanks if
 * the first line has none of those before. Lines that begin with # and empty lines are skipped. Every complaint has
 * file:line:column. HDF5 (by its first bytes): every one-dimensional dataset of numbers in the root is a column, and
 * every column of a two-dimensional one NAME is NAME.0, NAME.1 ...; those of another length than most are left out. */
mor_code mor_measured_read(mor_measured* table, const char* path, mor_error* error);
void mor_measured_free(mor_measured* table);
/* The number of a column, or -1. */
int mor_measured_column(const mor_measured* table, const char* name);
/* MOR_BAD_INPUT, with the place of the first one: words stand in the column. */
mor_code mor_measured_numbers(const mor_measured* table, int column, mor_error* error);
/* The word in a cell; false: a number stands there, or nothing. */
bool mor_measured_text(const mor_measured* table, int row, int column, char* word, size_t size);
/* The name most like this one, or NULL. */
const char* mor_measured_near(const mor_measured* table, const char* name);
static inline double mor_measured_at(const mor_measured* table, int row, int column)
{
    return table->values[(size_t)row * (size_t)table->column_count + (size_t)column];
}

#endif
