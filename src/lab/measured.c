/* Reading of measured tables. */
#include "lab/measured.h"
#include "base/number.h"
#include "io/hdf5/h5.h"
#include "io/text/text_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    static const char* const words[] = {
        "", "nan", "-nan", "nan(ind)", "-nan(ind)", "na", "n/a", "#n/a", "null", "none"
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(word, words[i]) == 0) return true;
    return false;
}

static bool ends(char c) { return c == '\0' || c == '\n' || c == '\r'; }

/* Lines end with \n, \r\n or \r. */
static const char* next_line(const char* p)
{
    while (!ends(*p)) p++;
    if (*p == '\r' && p[1] == '\n') p++;
    return *p ? p + 1 : p;
}

static bool nothing(const char* p)
{
    while (*p == ' ' || *p == '\t') p++;
    return ends(*p) || *p == '#';
}

/* Goes on to the next cell of the line, if there is one. Several blanks are one separator. */
static bool another(const char** p, char separator)
{
    if (**p != separator) return false;
    ++*p;
    while (separator == ' ' && **p == ' ') ++*p;
    return separator != ' ' || !ends(**p);
}

static char find_separator(const char* p)
{
    static const char order[] = ",;\t ";
    for (const char* s = order; *s; s++)
        for (const char* q = p; !ends(*q); q++)
            if (*q == *s) return *s;
    return ',';
}

static mor_code read_names(mor_measured* t, const char* p, int line, mor_error* error)
{
    int count = 1;
    while (*p == ' ') p++;
    t->separator = find_separator(p);
    for (const char* q = p; !ends(*q); q++) count += *q == t->separator;
    if (count > MOST_COLUMNS) return bad(t, line, 1, error, "more than 4096 columns%s", "");
    t->names = calloc((size_t)count, sizeof *t->names);
    if (!t->names) return no_memory(error);
    const char* q = p;
    do {
        char *name = t->names[t->column_count], *rest;
        const char* from = q;
        q = cell(q, t->separator, name, sizeof *t->names);
        mor_strtod(name, &rest);
        if (*name && !*rest)
            return bad(t, line, from - p + 1, error, "the first line must name the columns, not hold %.60s", name);
        if (mor_measured_column(t, name) >= 0)
            return bad(t, line, from - p + 1, error, "there are two columns '%.60s'", name);
        t->column_count++;
    } while (another(&q, t->separator));
    return MOR_OK;
}

static mor_code keep_word(mor_measured* t, int column, size_t at, mor_error* error)
{
    if (t->word_count == t->word_capacity) {
        int capacity = t->word_capacity ? 2 * t->word_capacity : 256;
        mor_measured_word* words = realloc(t->words, (size_t)capacity * sizeof *words);
        if (!words) return no_memory(error);
        t->words = words, t->word_capacity = capacity;
    }
    t->words[t->word_count++] = (mor_measured_word){ t->row_count, column, at };
    return MOR_OK;
}

static mor_code read_row(mor_measured* t, const char* p, int line, double* row, mor_error* error)
{
    const char* from = p;
    int c = 0;
    do {
        char word[128], *rest;
        const char* begin = p;
        p = cell(p, t->separator, word, sizeof word);
        if (c == t->column_count && !*word && ends(*p)) return MOR_OK; /* a separator after the last cell */
        if (c >= t->column_count)
            return bad(t, line, begin - from + 1, error, "more cells than the first line has names%s", "");
        row[c] = missing(word) ? NAN : mor_strtod(word, &rest);
        if (!missing(word) && (*rest || !isfinite(row[c]))) {
            row[c] = NAN;
            mor_code code = keep_word(t, c, (size_t)(begin - t->text), error);
            if (code) return code;
        }
        c++;
    } while (another(&p, t->separator));
    if (c == t->column_count) return MOR_OK;
    char sentence[120];
    snprintf(sentence, sizeof sentence, "the row has %d cells, the first line names %d", c, t->column_count);
    return bad(t, line, p - from + 1, error, "%s", sentence);
}

static mor_code make_room(mor_measured* t, int* capacity, mor_error* error)
{
    if (t->row_count < *capacity) return MOR_OK;
    *capacity = *capacity ? 2 * *capacity : 1024;
    double* values = realloc(t->values, (size_t)*capacity * (size_t)t->column_count * sizeof *values);
    if (values) t->values = values;
    int* lines = values ? realloc(t->lines, (size_t)*capacity * sizeof *lines) : NULL;
    if (!lines) return no_memory(error);
    t->lines = lines;
    return MOR_OK;
}

static mor_code read_csv(mor_measured* t, mor_error* error)
{
    size_t length = 0;
    mor_code code = mor_text_read(t->path, MOST_BYTES, &t->text, &length, error);
    int line = 1, capacity = 0;
    if (!code && strlen(t->text) != length)
        code = mor_fail(error, MOR_BAD_INPUT, "%.400s: this is no text: it has a zero byte", t->path);
    const char* p = code ? "" : t->text;
    if (!code && strncmp(p, "\xef\xbb\xbf", 3) == 0) p += 3;
    for (; !code && *p; p = next_line(p), line++) {
        if (nothing(p)) continue;
        if (!t->names) {
            code = read_names(t, p, line, error);
            continue;
        }
        if ((code = make_room(t, &capacity, error))) break;
        t->lines[t->row_count] = line;
        code = read_row(t, p, line, t->values + (size_t)t->row_count * (size_t)t->column_count, error);
        t->row_count++;
    }
    if (code || t->word_count == 0) {
        free(t->text);
        t->text = NULL;
    }
    if (!code && t->row_count == 0) return bad(t, line, 1, error, "there are no rows%s", "");
    return code;
}

/* The entry of a cell among the words, or NULL; they are in the order of rows and columns. */
static const mor_measured_word* find_word(const mor_measured* t, int row, int column)
{
    int low = 0, high = t->word_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const mor_measured_word* w = &t->words[middle];
        if (w->row < row || (w->row == row && w->column < column)) low = middle + 1;
        else high = middle;
    }
    bool there = low < t->word_count && t->words[low].row == row && t->words[low].column == column;
    return there ? &t->words[low] : NULL;
}

bool mor_measured_text(const mor_measured* t, int row, int column, char* word, size_t size)
{
    const mor_measured_word* w = find_word(t, row, column);
    if (w) cell(t->text + w->at, t->separator, word, size);
    return w != NULL;
}

/* 0,25: a decimal comma. */
static bool has_comma(const char* word)
{
    char copy[128], *rest;
    snprintf(copy, sizeof copy, "%s", word);
    char* comma = strchr(copy, ',');
    if (!comma) return false;
    *comma = '.';
    mor_strtod(copy, &rest);
    return !*rest;
}

mor_code mor_measured_numbers(const mor_measured* t, int column, mor_error* error)
{
    for (int i = 0; i < t->word_count; i++) {
        const mor_measured_word* w = &t->words[i];
        if (w->column != column) continue;
        char word[128];
        cell(t->text + w->at, t->separator, word, sizeof word);
        long place = 1;
        for (const char* p = t->text + w->at; p > t->text && !ends(p[-1]); p--) place++;
        return bad(t, t->lines[w->row], place, error,
                   has_comma(word) ? "'%.60s' has a decimal comma; write decimal points"
                                   : "'%.60s' is no number; leave the cell empty if it is missing",
                   word);
    }
    return MOR_OK;
}

/* --------------------------------------------------------------------------------- HDF5 */

enum { LENGTHS = 16 };

typedef struct reader {
    mor_measured* t;
    const mor_h5* h5;
    mor_error* error;
    mor_code code;
    int pass; /* 0: how long datasets are; 1: how many columns; 2: numbers */
    int next;
    int length[LENGTHS], votes[LENGTHS], length_count;
} reader;

/* A dataset of the root that could be columns, its rank and dimensions; false: a group, words, or too much. */
static bool look(const reader* r, const char* path, int* rank, size_t dims[MOR_H5_RANK])
{
    mor_error ignored;
    double first;
    if (mor_h5_dims(r->h5, path, rank, dims, &ignored) || *rank < 1 || *rank > 2) return false;
    if (*rank == 1) dims[1] = 1;
    if (dims[0] < 1 || dims[0] > 100000000 || dims[1] < 1 || dims[1] > MOST_COLUMNS) return false;
    const size_t start[2] = { 0, 0 }, one[2] = { 1, 1 };
    return mor_h5_read(r->h5, path, MOR_H5_DOUBLE, *rank, start, one, &first, &ignored) == MOR_OK;
}

static void vote(reader* r, int length)
{
    int i = 0;
    while (i < r->length_count && r->length[i] != length) i++;
    if (i == LENGTHS) return;
    if (i == r->length_count) r->length[r->length_count++] = length;
    r->votes[i]++;
}

static void leave_out(mor_measured* t, const char* name)
{
    size_t used = strlen(t->left_out);
    snprintf(t->left_out + used, sizeof t->left_out - used, "%s%.60s", used ? ", " : "", name);
}

static void take_dataset(void* user, const char* name)
{
    reader* r = user;
    mor_measured* t = r->t;
    char path[300];
    int rank = 0;
    size_t dims[MOR_H5_RANK] = { 0 };
    snprintf(path, sizeof path, "/%.250s", name);
    if (r->code) return;
    bool good = look(r, path, &rank, dims);
    int columns = (int)dims[1];
    if (r->pass == 0) {
        for (int c = 0; c < columns && good; c++) vote(r, (int)dims[0]);
        return;
    }
    if (!good || (int)dims[0] != t->row_count) {
        if (r->pass == 1) leave_out(t, name);
        return;
    }
    if (r->pass == 1) {
        t->column_count += columns;
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

/* Most columns have this many rows, if several numbers are equally frequent the largest. */
static int most_frequent(const reader* r)
{
    int best = 0, votes = 0;
    for (int i = 0; i < r->length_count; i++)
        if (r->votes[i] > votes || (r->votes[i] == votes && r->length[i] > best))
            best = r->length[i], votes = r->votes[i];
    return best;
}

static mor_code read_h5(mor_measured* t, mor_error* error)
{
    mor_h5 h5;
    mor_code code = mor_h5_open(&h5, t->path, error);
    if (code) return code;
    reader r = { .t = t, .h5 = &h5, .error = error };
    for (r.pass = 0; r.pass < 3 && !code; r.pass++) {
        code = mor_h5_children(&h5, "/", take_dataset, &r, error);
        if (!code) code = r.code;
        if (r.pass == 0) t->row_count = most_frequent(&r);
        if (r.pass != 1 || code) continue;
        if (t->column_count == 0 || t->row_count == 0)
            code = mor_fail(error, MOR_BAD_INPUT, "%.400s: there are no datasets with numbers in the root", t->path);
        t->names = calloc((size_t)t->column_count + 1, sizeof *t->names);
        t->values = calloc((size_t)t->column_count * (size_t)t->row_count + 1, sizeof *t->values);
        if (!code && (!t->names || !t->values)) code = no_memory(error);
    }
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
    free(t->words);
    free(t->text);
    *t = (mor_measured){ 0 };
}

int mor_measured_column(const mor_measured* t, const char* name)
{
    for (int c = 0; c < t->column_count && *name; c++)
        if (strcmp(t->names[c], name) == 0) return c;
    return -1;
}

const char* mor_measured_near(const mor_measured* t, const char* name)
{
    const char** words = calloc((size_t)t->column_count + 1, sizeof *words);
    if (!words) return NULL;
    for (int c = 0, n = 0; c < t->column_count; c++)
        if (*t->names[c]) words[n++] = t->names[c];
    const char* near = mor_did_you_mean(name, words);
    free(words);
    return near;
}
