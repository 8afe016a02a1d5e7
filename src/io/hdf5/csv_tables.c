/* CSV tables to HDF5, column by column. Cells are separated by commas and not quoted, as our own writers leave them; a
 * file with lines of different length is refused. Cost: one pass to count, one per column to convert. */
#include "io/hdf5/csv_tables.h"
#include "base/number.h"
#include "io/hdf5/h5.h"
#include "io/text/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 64 };                    /* bytes of a text cell */
#define LARGEST_TABLE ((size_t)1 << 30) /* bytes */

/* The cell that starts at *at; *at moves to the start of the next one. Cut to WIDTH - 1 bytes. */
static void take_cell(const char** at, char cell[WIDTH])
{
    size_t n = strcspn(*at, ",\n"), kept = n < WIDTH - 1 ? n : WIDTH - 1;
    memset(cell, 0, WIDTH);
    memcpy(cell, *at, kept);
    *at += n + ((*at)[n] != '\0');
}

static int cells_of_line(const char* line)
{
    int n = 1;
    for (; *line && *line != '\n'; line++) n += *line == ',';
    return n;
}

static mor_code write_column(mor_h5* h5, const char* group, const char* name, const char* body, int columns, int column,
                             size_t rows, mor_error* error)
{
    double* numbers = malloc((rows + 1) * sizeof *numbers);
    char *texts = malloc((rows + 1) * WIDTH), cell[WIDTH], path[512];
    mor_code code = numbers && texts ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    bool numeric = rows > 0;
    const char* at = body;
    for (size_t r = 0; code == MOR_OK && r < rows; r++)
        for (int c = 0; c < columns; c++) {
            take_cell(&at, cell);
            if (c != column) continue;
            char* end;
            numbers[r] = mor_strtod(cell, &end);
            numeric = numeric && end != cell && *end == '\0';
            memcpy(texts + r * WIDTH, cell, WIDTH);
        }
    snprintf(path, sizeof path, "%s/%s", group, name);
    if (code == MOR_OK && numeric) code = mor_h5_write(h5, path, MOR_H5_DOUBLE, 1, &rows, numbers, error);
    else if (code == MOR_OK && rows > 0) code = mor_h5_write_texts(h5, path, texts, WIDTH, rows, error);
    free(numbers);
    free(texts);
    return code;
}

static mor_code write_table(mor_h5* h5, const char* file, const char* group, mor_error* error)
{
    char* text;
    size_t length;
    mor_code code = mor_text_read(file, LARGEST_TABLE, &text, &length, error);
    if (code) return code;
    int columns = cells_of_line(text);
    const char* body = strchr(text, '\n');
    size_t rows = 0;
    if (!body) code = mor_fail(error, MOR_BAD_INPUT, "%s: no line of column names", file);
    body = body ? body + 1 : text;
    for (const char* line = body; code == MOR_OK && *line; rows++) {
        if (cells_of_line(line) != columns)
            code = mor_fail(error, MOR_BAD_INPUT, "%s:%zu: %d cells; the first line names %d columns", file, rows + 2,
                            cells_of_line(line), columns);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    if (code == MOR_OK) code = mor_h5_group(h5, group, error);
    const char* at = text;
    for (int c = 0; code == MOR_OK && c < columns; c++) {
        char name[WIDTH];
        take_cell(&at, name);
        code = write_column(h5, group, name, body, columns, c, rows, error);
    }
    free(text);
    return code;
}

mor_code mor_csv_tables_write(const char* path, const char* const* files, const char* const* groups, int count,
                              mor_error* error)
{
    mor_h5 h5;
    mor_code code = mor_h5_begin(&h5, path, error);
    if (code != MOR_OK) return code;
    for (int i = 0; code == MOR_OK && i < count; i++) {
        /* the parent of "/figure-18/errors" first */
        char parent[512];
        snprintf(parent, sizeof parent, "%s", groups[i]);
        char* slash = strrchr(parent, '/');
        if (slash && slash != parent) {
            *slash = '\0';
            if (!mor_h5_exists(&h5, parent)) code = mor_h5_group(&h5, parent, error);
        }
        if (code == MOR_OK) code = write_table(&h5, files[i], groups[i], error);
    }
    return mor_h5_finish(&h5, code, error);
}
