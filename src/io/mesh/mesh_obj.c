/* Wavefront .obj files: v, f, o, g.
 *
 * A face corner is v, v/vt, v//vn or v/vt/vn; v counts, from 1, or from -1 backwards from the last vertex read, and vt
 * as the place on a picture. "o name" and "g name" begin pieces, "usemtl name" says how faces look. Normals, smoothing
 * groups, lines and points are passed over; free-form surfaces are refused. A backslash at the end of a line joins the
 * next one. */
#include "io/mesh/mesh.h"

#include <stdlib.h>
#include <string.h>

/* The vt of a file: u and v. */
typedef struct spot_list {
    float* values;
    int count, room; /* of spots */
} spot_list;

static mor_code wrong(mor_mesh_file* file, const mor_lines* lines, int column, const char* what)
{
    return mor_fail_at(file->error, MOR_BAD_INPUT, file->path, lines->line, column, "%s", what);
}

/* Backslash-newline becomes blanks, one a vertical tab by which mor_lines_next counts the line. */
static void join_lines(mor_mesh_file* file)
{
    for (size_t i = 0; i + 1 < file->size; i++) {
        if (file->text[i] != '\\') continue;
        size_t newline = file->text[i + 1] == '\r' ? i + 2 : i + 1;
        if (newline >= file->size || file->text[newline] != '\n') continue;
        file->text[i] = file->text[i + 1] = ' ';
        file->text[newline] = '\v';
    }
}

static mor_code read_vertex(mor_mesh_file* file, const mor_lines* lines, const char* at)
{
    double x[3];
    mor_word word;
    for (int i = 0; i < 3; i++) {
        if (!mor_lines_word(lines, &at, &word)) return wrong(file, lines, 1, "a vertex needs three coordinates");
        if (!mor_word_number(&word, &x[i]))
            return mor_fail_at(file->error, MOR_BAD_INPUT, file->path, lines->line, word.column,
                               "'%.*s' is not a finite number", word.length > 40 ? 40 : word.length, word.at);
    }
    return mor_mesh_point(file, mor_v3(x[0], x[1], x[2])) ? MOR_OK : file->error->code;
}

/* A vt; one that is not two numbers counts, but as none. */
static mor_code read_spot(mor_mesh_file* file, const mor_lines* lines, const char* at, spot_list* spots)
{
    if (spots->count == spots->room) {
        int room = spots->room ? 2 * spots->room : 256;
        float* more = spots->room < 20000000 ? realloc(spots->values, 2 * (size_t)room * sizeof *more) : NULL;
        if (!more) return mor_fail(file->error, MOR_SYSTEM, "%s: out of memory", file->path);
        spots->values = more;
        spots->room = room;
    }
    double x[2] = { 0.0, 0.0 };
    mor_word word;
    for (int i = 0; i < 2 && mor_lines_word(lines, &at, &word); i++)
        if (!mor_word_number(&word, &x[i])) x[i] = 0.0;
    spots->values[2 * spots->count] = (float)x[0];
    spots->values[2 * spots->count++ + 1] = (float)x[1];
    return MOR_OK;
}

/* The vt of a face corner v/vt/vn, if it has one that is there. */
static bool take_spot(mor_mesh_file* file, const mor_word* word, const char* slash, const spot_list* spots)
{
    const char *begin = slash + 1, *end = word->at + word->length;
    const char* second = memchr(begin, '/', (size_t)(end - begin));
    mor_word number = { begin, (int)((second ? second : end) - begin), word->column };
    int v;
    if (number.length == 0 || !mor_word_int(&number, &v)) return true;
    int index = v > 0 ? v - 1 : spots->count + v;
    if (v == 0 || index < 0 || index >= spots->count) return true;
    return mor_mesh_spot(file, spots->values[2 * index], spots->values[2 * index + 1]);
}

static mor_code read_face(mor_mesh_file* file, const mor_lines* lines, const char* at, const spot_list* spots)
{
    mor_word word;
    int n = 0;
    for (; mor_lines_word(lines, &at, &word) && *word.at != '#'; n++) {
        const char* slash = memchr(word.at, '/', (size_t)word.length);
        mor_word number = word;
        if (slash) number.length = (int)(slash - word.at);
        int v;
        if (!mor_word_int(&number, &v))
            return mor_fail_at(file->error, MOR_BAD_INPUT, file->path, lines->line, word.column,
                               "'%.*s' is not a face corner such as 7, 7/1 or 7//2",
                               word.length > 40 ? 40 : word.length, word.at);
        int index = v > 0 ? v - 1 : file->point_count + v;
        if (v == 0 || index < 0 || index >= file->point_count)
            return mor_fail_at(file->error, MOR_BAD_INPUT, file->path, lines->line, word.column,
                               "the face names vertex %d; %d have been read so far (counted from 1)", v,
                               file->point_count);
        if (!mor_mesh_corner(file, index)) return file->error->code;
        if (slash && !take_spot(file, &word, slash, spots)) return file->error->code;
    }
    if (n < 3) return wrong(file, lines, 1, "a face has at least three vertices");
    return mor_mesh_face_end(file) ? MOR_OK : file->error->code;
}

static bool one_of(const mor_word* word, const char* const* words)
{
    for (; *words; words++)
        if (mor_word_is(word, *words)) return true;
    return false;
}

mor_code mor_mesh_read_obj(mor_mesh_file* file)
{
    static const char* const passed[] = { "vn",     "vp",         "s",         "mtllib",   "l",      "p",
                                          "mg",     "lod",        "bevel",     "c_interp", "usemap", "d_interp",
                                          "maplib", "shadow_obj", "trace_obj", NULL };
    static const char* const curved[] = { "cstype", "deg",  "bmat", "step", "curv", "curv2", "surf", "parm",
                                          "trim",   "hole", "scrv", "sp",   "end",  "con",   NULL };
    spot_list spots = { 0 };
    join_lines(file);
    mor_lines lines = mor_lines_of(file);
    mor_code code = mor_mesh_piece_begin(file, "", 0, 1) ? MOR_OK : file->error->code;
    while (code == MOR_OK && mor_lines_next(&lines)) {
        const char* at = lines.line_begin;
        mor_word key, name;
        if (!mor_lines_word(&lines, &at, &key) || *key.at == '#') continue;
        if (mor_word_is(&key, "v")) {
            code = read_vertex(file, &lines, at);
        } else if (mor_word_is(&key, "vt")) {
            code = read_spot(file, &lines, at, &spots);
        } else if (mor_word_is(&key, "f") || mor_word_is(&key, "fo")) {
            code = read_face(file, &lines, at, &spots);
        } else if (mor_word_is(&key, "o") || mor_word_is(&key, "g")) {
            bool named = mor_lines_word(&lines, &at, &name);
            if (!mor_mesh_piece_begin(file, named ? name.at : "", named ? (size_t)name.length : 0, lines.line))
                code = file->error->code;
        } else if (mor_word_is(&key, "usemtl")) {
            if (mor_lines_word(&lines, &at, &name) && !mor_mesh_use_material(file, name.at, (size_t)name.length))
                code = file->error->code;
        } else if (one_of(&key, curved)) {
            code = wrong(file, &lines, key.column, "free-form curves and surfaces are not read; export polygons");
        } else if (!one_of(&key, passed)) {
            code = wrong(file, &lines, key.column, "unknown word; is this a Wavefront .obj file?");
        }
    }
    free(spots.values);
    return code;
}
