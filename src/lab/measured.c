/* Reading of measured tables. */
#include "lab/measured.h"
#include "base/number.h"
#include "io/hdf5/h5.h"
#include "io/text/text_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 30, MOST_COLUMNS = 4096 };

static mor_code no_memory(mor_error* error) { return mor_fail(error, MOR_SYSTEM, "out of memory"); }

static mor_code bad(const mor_measured* t, int line, long column, mor_error* error, const char* format,
                    const char* word)
{
    char sentence[300];
    snprintf(sentence, sizeof sentence, format, word);
    return mor_fail(error, MOR_BAD_INPUT, "%.400s:%d:%ld: %s", t->path, line, column, sentence);
}

/* --------------------------------------------------------------------------------- CSV */

/* The cell that begins at p: without blanks and quotes around it; the end of it in the text. */
static const char* cell(const char* p, char separator, char* word, size_t size)
{
    size_t n = 0;
    bool quoted = false;
    while (*p == ' ') p++;
    for (; *p && *p != '\n' && *p != '\r' && (quoted || *p != separator); p++) {
        if (*p == '"') quoted = !quoted;
        else if (n + 1 < size) word[n++] = *p;
    }
    while (n > 0 && (word[n - 1] == ' ' || word[n - 1] == '\t')) n--;
    word[n] = '\0';
    return p;
}

static bool missing(const char* word)
{
    static const char* const words[] = { "", "nan", "NaN", "NAN", "NA", "na", "null" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) return true;
    return false;
}

static const char* next_line(const char* p)
{
    while (*p && *p != '\n') p++;
    return *p ? p + 1 : p;
}

static bool nothing(const char* p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r') p++;
    return *p == '\0' || *p == '\n' || *p == '#';
}

static mor_code read_names(mor_measured* t, const char* p, int line, char* separator, mor_error* error)
{
    const char* end = p;
    bool comma = false, semicolon = false, tab = false;
    int count = 1;
    for (; *end && *end != '\n'; end++) comma |= *end == ',', semicolon |= *end == ';', tab |= *end == '\t';
    *separator = comma ? ',' : semicolon ? ';' : tab ? '\t' : ',';
    for (const char* q = p; q < end; q++) count += *q == *separator;
    if (count > MOST_COLUMNS) return bad(t, line, 1, error, "more than 4096 columns%s", "");
    t->names = calloc((size_t)count, sizeof *t->names);
    if (!t->names) return no_memory(error);
    for (const char* q = p;; q++) {
        char* name = t->names[t->column_count];
        const char* from = q;
        q = cell(q, *separator, name, sizeof *t->names);
        if (!*name) return bad(t, line, from - p + 1, error, "a column has no name%s", "");
        char* rest;
        mor_strtod(name, &rest);
        if (!*rest)
            return bad(t, line, from - p + 1, error, "the first line must name the columns, not hold %.60s", name);
        if (mor_measured_column(t, name) >= 0)
            return bad(t, line, from - p + 1, error, "there are two columns '%.60s'", name);
        t->column_count++;
        if (*q != *separator) return MOR_OK;
    }
}

static mor_code read_row(mor_measured* t, const char* p, int line, char separator, double* row, mor_error* error)
{
    const char* from = p;
    for (int c = 0;; c++) {
        char word[128], *rest;
        const char* begin = p;
        p = cell(p, separator, word, sizeof word);
        if (c >= t->column_count)
            return bad(t, line, begin - from + 1, error, "more cells than the first line has names%s", "");
        if (missing(word)) {
            row[c] = NAN;
        } else {
            row[c] = mor_strtod(word, &rest);
            if (*rest || !isfinite(row[c]))
                return bad(t, line, begin - from + 1, error,
                           "'%.60s' is no number; leave the cell empty if it is missing", word);
        }
        if (*p == separator) {
            p++;
            continue;
        }
        if (c + 1 < t->column_count) {
            char sentence[120];
            snprintf(sentence, sizeof sentence, "the row has %d cells, the first line names %d", c + 1,
                     t->column_count);
            return bad(t, line, p - from + 1, error, "%s", sentence);
        }
        return MOR_OK;
    }
}

static mor_code read_csv(mor_measured* t, mor_error* error)
{
    char *text = NULL, separator = ',';
    size_t length = 0;
    mor_code code = mor_text_read(t->path, MOST_BYTES, &text, &length, error);
    int line = 1, capacity = 0;
    if (!code && strlen(text) != length)
        code = mor_fail(error, MOR_BAD_INPUT, "%.400s: this is no text: it has a zero byte", t->path);
    const char* p = code ? "" : text;
    if (!code && strncmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    for (; !code && *p; p = next_line(p), line++) {
        if (nothing(p)) continue;
        if (!t->names) {
            code = read_names(t, p, line, &separator, error);
            continue;
        }
        if (t->row_count == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            double* values = realloc(t->values, (size_t)capacity * (size_t)t->column_count * sizeof *values);
            if (values) t->values = values;
            int* lines = values ? realloc(t->lines, (size_t)capacity * sizeof *lines) : NULL;
            if (!lines) {
                code = no_memory(error);
                break;
            }
            t->lines = lines;
        }
        t->lines[t->row_count] = line;
        code = read_row(t, p, line, separator, t->values + (size_t)t->row_count * (size_t)t->column_count, error);
        t->row_count++;
    }
    free(text);
    if (!code && t->row_count == 0) return bad(t, line, 1, error, "there are no rows%s", "");
    return code;
}

/* --------------------------------------------------------------------------------- HDF5 */

typedef struct reader {
    mor_measured* t;
    const mor_h5* h5;
    mor_error* error;
    mor_code code;
    bool fill; /* the second pass */
    int next;
} reader;

static void take_dataset(void* user, const char* name)
{
    reader* r = user;
    mor_measured* t = r->t;
    char path[300];
    int rank = 0;
    size_t dims[MOR_H5_RANK];
    mor_error ignored;
    snprintf(path, sizeof path, "/%.250s", name);
    if (r->code || mor_h5_dims(r->h5, path, &rank, dims, &ignored) || rank < 1 || rank > 2) return; /* a group */
    int columns = rank == 2 ? (int)dims[1] : 1;
    if (dims[1 - 1] > 100000000 || (rank == 2 && dims[1] > MOST_COLUMNS)) return;
    if (!r->fill) {
        if (t->column_count == 0) t->row_count = (int)dims[0];
        t->column_count += columns;
        if ((int)dims[0] != t->row_count)
            r->code = mor_fail(r->error, MOR_BAD_INPUT, "%.400s: %s has %d rows, others have %d", t->path, path,
                               (int)dims[0], t->row_count);
        return;
    }
    double* data = malloc(((size_t)columns * dims[0] + 1) * sizeof *data);
    r->code = data ? mor_h5_read_all(r->h5, path, MOR_H5_DOUBLE, (size_t)columns * dims[0], data, r->error)
                   : no_memory(r->error);
    for (int c = 0; c < columns && !r->code; c++, r->next++) {
        if (rank == 2) snprintf(t->names[r->next], sizeof *t->names, "%.50s.%d", name, c);
        else snprintf(t->names[r->next], sizeof *t->names, "%.63s", name);
        for (int i = 0; i < t->row_count; i++)
            t->values[(size_t)i * (size_t)t->column_count + (size_t)r->next] =
                data[(size_t)i * (size_t)columns + (size_t)c];
    }
    free(data);
}

static mor_code read_h5(mor_measured* t, mor_error* error)
{
    mor_h5 h5;
    mor_code code = mor_h5_open(&h5, t->path, error);
    if (code) return code;
    reader r = { .t = t, .h5 = &h5, .error = error };
    code = mor_h5_children(&h5, "/", take_dataset, &r, error);
    if (!code) code = r.code;
    if (!code && (t->column_count == 0 || t->row_count == 0))
        code = mor_fail(error, MOR_BAD_INPUT, "%.400s: there are no datasets with numbers in the root", t->path);
    if (!code) {
        t->names = calloc((size_t)t->column_count, sizeof *t->names);
        t->values = calloc((size_t)t->column_count * (size_t)t->row_count, sizeof *t->values);
        if (!t->names || !t->values) code = no_memory(error);
    }
    r.fill = true;
    if (!code) code = mor_h5_children(&h5, "/", take_dataset, &r, error);
    if (!code) code = r.code;
    mor_error closing;
    mor_code closed = mor_h5_close(&h5, code ? &closing : error);
    return code ? code : closed;
}

mor_code mor_measured_read(mor_measured* t, const char* path, mor_error* error)
{
    *t = (mor_measured){ 0 };
    if (strlen(path) >= sizeof t->path) return mor_fail(error, MOR_BAD_INPUT, "%.200s...: the path is too long", path);
    snprintf(t->path, sizeof t->path, "%s", path);
    mor_code code = mor_file_begins(path, "\x89HDF\r\n\x1a\n", 8) ? read_h5(t, error) : read_csv(t, error);
    if (code) mor_measured_free(t);
    return code;
}

void mor_measured_free(mor_measured* t)
{
    free(t->names);
    free(t->values);
    free(t->lines);
    *t = (mor_measured){ 0 };
}

int mor_measured_column(const mor_measured* t, const char* name)
{
    for (int c = 0; c < t->column_count; c++)
        if (strcmp(t->names[c], name) == 0) return c;
    return -1;
}

const char* mor_measured_near(const mor_measured* t, const char* name)
{
    const char** words = calloc((size_t)t->column_count + 1, sizeof *words);
    if (!words) return NULL;
    for (int c = 0; c < t->column_count; c++) words[c] = t->names[c];
    const char* near = mor_did_you_mean(name, words);
    free(words);
    return near;
}
