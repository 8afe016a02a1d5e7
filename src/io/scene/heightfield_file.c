/* Files of heights: tables of numbers, and greyscale pictures in the formats PNG (png_grey.c) and PGM (P2 with numbers,
 * P5 with bytes).
 *
 * A grey g of 0 ... m becomes the height low + (high - low) g / m. Two bytes have the higher one first. The first row
 * of a picture is its upper edge, the highest y of the field. Errors in tables have their line and column there. */
#include "base/failed.h"
#include "base/number.h"
#include "io/mesh/png_grey.h"
#include "io/scene/scene_def.h"

#include <stdlib.h>
#include <string.h>

typedef struct reader {
    mor_scene* scene;
    const mor_node* node; /* that named the file */
    const char *file, *text, *end;
    mor_heightfield* field;
    mor_error* error;
} reader;

static double* room(const reader* r, long columns, long rows)
{
    if (columns < 2 || rows < 2) {
        mor_node_fail(r->node, r->error,
                      "'%.200s' has %ld columns and %ld rows; a height field needs at least two of each", r->file,
                      columns, rows);
        return NULL;
    }
    if (columns > MOR_FIELD_POINTS || rows > MOR_FIELD_POINTS || columns * rows > MOR_FIELD_POINTS) {
        mor_node_fail(r->node, r->error, "'%.200s' has %ld times %ld heights; the limit is %d", r->file, columns, rows,
                      (int)MOR_FIELD_POINTS);
        return NULL;
    }
    double* heights = mor_scene_alloc(r->scene, (size_t)(columns * rows), sizeof *heights, r->error);
    r->field->columns = (int)columns;
    r->field->rows = (int)rows;
    r->field->heights = heights;
    return heights;
}

/* ------------------------------------------------------------------------------------ pictures */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

/* The next whole number of a PGM file, at most 1e9; -1: there is none. */
static long next_number(const char** at, const char* end)
{
    const char* s = *at;
    while (s < end && (is_blank(*s) || *s == '#')) {
        if (*s == '#')
            while (s < end && *s != '\n') s++;
        else s++;
    }
    long value = s < end && *s >= '0' && *s <= '9' ? 0 : -1;
    for (; s < end && *s >= '0' && *s <= '9'; s++) value = value > 100000000 ? 1000000000 : 10 * value + (*s - '0');
    *at = s;
    return value;
}

static mor_code no_range(const reader* r)
{
    return mor_node_fail(r->node, r->error, "'%.200s' is a picture: give 'height: [low, high]', black and white in m",
                         r->file);
}

static mor_code read_png(const reader* r, const double* range)
{
    mor_grey_picture picture;
    mor_error inner = { 0 };
    mor_code code =
        mor_png_read(r->text, (size_t)(r->end - r->text), MOR_FIELD_POINTS, r->scene->document.arena, &picture, &inner);
    if (code == MOR_BAD_INPUT) return mor_node_fail(r->node, r->error, "'%.200s': %s", r->file, inner.text);
    if (code) return mor_fail(r->error, code, "%s", inner.text);
    if (!range) return no_range(r);
    double* heights = room(r, picture.width, picture.height);
    if (!heights) return r->error && r->error->code ? r->error->code : MOR_BAD_INPUT;
    for (long j = picture.height - 1; j >= 0; j--)
        for (long i = 0; i < picture.width; i++)
            heights[j * picture.width + i] =
                range[0] + (range[1] - range[0]) * ((double)*picture.values++ / (double)picture.white);
    return MOR_OK;
}

static mor_code read_pgm(const reader* r, const double* range)
{
    const char* at = r->text + 2;
    const bool plain = r->text[1] == '2';
    long head[3];
    for (int k = 0; k < 3; k++) head[k] = next_number(&at, r->end);
    if (head[0] < 0 || head[1] < 0 || head[2] < 1 || head[2] > 65535 || at == r->end || !is_blank(*at))
        return mor_node_fail(
            r->node, r->error,
            "'%.200s' is no PGM picture: after %.2s come width, height and the value of white, 1 to 65535", r->file,
            r->text);
    if (!range) return no_range(r);
    double* heights = room(r, head[0], head[1]);
    if (!heights) return r->error && r->error->code ? r->error->code : MOR_BAD_INPUT;
    at++;
    const int bytes = head[2] > 255 ? 2 : 1;
    for (long j = head[1] - 1; j >= 0; j--)
        for (long i = 0; i < head[0]; i++) {
            long grey = -1;
            if (plain) grey = next_number(&at, r->end);
            else if (r->end - at >= bytes) {
                grey = (unsigned char)*at++;
                if (bytes == 2) grey = 256 * grey + (unsigned char)*at++;
            }
            if (grey < 0 || grey > head[2])
                return mor_node_fail(r->node, r->error,
                                     "'%.200s': the value of column %ld, row %ld of the picture is %s", r->file, i + 1,
                                     head[1] - j, grey < 0 ? "missing" : "above that of white");
            heights[j * head[0] + i] = range[0] + (range[1] - range[0]) * ((double)grey / (double)head[2]);
        }
    return MOR_OK;
}

/* -------------------------------------------------------------------------------------- tables */

static bool separates(char c) { return c == ',' || c == ';' || (is_blank(c) && c != '\n'); }

/* Numbers of the line that begins at s; none in lines that are empty or begin with #. */
static long cells_of(const char* s, const char* end)
{
    long count = 0;
    bool inside = false;
    if (s < end && *s == '#') return 0;
    for (; s < end && *s != '\n'; s++) {
        if (!inside && !separates(*s)) count++;
        inside = !separates(*s);
    }
    return count;
}

static const char* next_line(const char* s, const char* end)
{
    const char* stop = memchr(s, '\n', (size_t)(end - s));
    return stop ? stop + 1 : end;
}

static mor_code read_line(const char* s, mor_node* at, long columns, double* heights, mor_error* error)
{
    const char* begin = s;
    for (long i = 0; i < columns; i++) {
        while (separates(*s)) s++;
        char* stop;
        at->column = (int)(s - begin) + 1;
        heights[i] = mor_strtod(s, &stop);
        if (stop == s || (*stop && *stop != '\n' && !separates(*stop)))
            return mor_node_fail(at, error, "'%.*s' is no height; give a number in m",
                                 (int)(strcspn(s, ",; \t\r\n") < 40 ? strcspn(s, ",; \t\r\n") : 40), s);
        if (!(fabs(heights[i]) <= MOR_HUGE))
            return mor_node_fail(at, error, "the height is not finite; give a number in m");
        s = stop;
    }
    return MOR_OK;
}

static mor_code read_table(const reader* r)
{
    const mor_source* source = mor_source_create(&r->scene->document, r->file, r->error);
    if (!source) return MOR_SYSTEM;
    mor_node at = { .source = source, .line = 1, .column = 1 };
    long columns = 0, rows = 0;
    for (const char* s = r->text; s < r->end; s = next_line(s, r->end), at.line++) {
        long cells = cells_of(s, r->end);
        if (!cells) continue;
        if (rows++ == 0) columns = cells;
        else if (cells != columns)
            return mor_node_fail(&at, r->error,
                                 "this row has %ld heights and the first one has %ld; all rows are equally long", cells,
                                 columns);
    }
    double* heights = room(r, columns, rows);
    if (!heights) return r->error && r->error->code ? r->error->code : MOR_BAD_INPUT;
    mor_code code = MOR_OK;
    at.line = 1;
    for (const char* s = r->text; s < r->end && code == MOR_OK; s = next_line(s, r->end), at.line++) {
        if (!cells_of(s, r->end)) continue;
        code = read_line(s, &at, columns, heights, r->error);
        heights += columns;
    }
    return code;
}

mor_code mor_heightfield_load(mor_scene* scene, const mor_node* node, const char* file, const double* range,
                              mor_heightfield* field, mor_error* error)
{
    const char* path = mor_path_from(&scene->document, node, file, error);
    size_t length;
    const char* text = path ? mor_read_file(&scene->document, path, &length, node, error) : NULL;
    if (!text) return mor_failed(error, MOR_SYSTEM);
    const reader r = { scene, node, path, text, text + length, field, error };
    if (length > 2 && text[0] == 'P' && (text[1] == '2' || text[1] == '5') && (is_blank(text[2]) || text[2] == '#'))
        return read_pgm(&r, range);
    if (mor_is_png(text, length)) return read_png(&r, range);
    if (memchr(text, '\0', length))
        return mor_node_fail(node, error,
                             "'%.200s' is neither a table of numbers nor a picture in the format PNG or PGM", file);
    if (range) return mor_node_fail(node, error, "'%.200s' is a table of heights in m; 'height' is for pictures", file);
    return read_table(&r);
}
