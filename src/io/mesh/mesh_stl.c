/* .stl files, ASCII and binary.
 *
 * Binary: 80 bytes of anything, a 32-bit number n of triangles, then n times 12 floats (normal, three
 * corners) and a 16-bit word; little-endian; the file must be 84 + 50 n bytes long. ASCII: solids of
 *   facet normal x y z / outer loop / vertex x y z (three times) / endloop / endfacet.
 * Files of both kinds may begin with "solid": a file whose length fits the binary count is binary.
 * Normals are ignored, the order of the corners counts. Every solid is a piece.
 *
 * M. Burns (1993), Automated Fabrication, section 6.5. */
#include "io/mesh/mesh.h"

#include <string.h>
#include <strings.h>

static uint32_t word_at(const unsigned char* b)
{
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double float_at(const unsigned char* b)
{
    uint32_t bits = word_at(b);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static mor_code read_binary(mor_mesh_file* file, uint32_t n)
{
    if (!mor_mesh_piece_begin(file, "", 0, 0)) return file->error->code;
    const unsigned char* b = (const unsigned char*)file->text + 84;
    for (uint32_t i = 0; i < n; i++, b += 50) {
        for (int k = 0; k < 3; k++) {
            const unsigned char* c = b + 12 + 12 * k;
            mor_vec3 p = { float_at(c), float_at(c + 4), float_at(c + 8) };
            if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z))
                return mor_fail(file->error, MOR_BAD_INPUT, "%s: triangle %u has a corner (%g, %g, %g)", file->path,
                                (unsigned)i, p.x, p.y, p.z);
            if (!mor_mesh_point(file, p) || !mor_mesh_corner(file, file->point_count - 1)) return file->error->code;
        }
        if (!mor_mesh_face_end(file)) return file->error->code;
    }
    return MOR_OK;
}

typedef struct ascii {
    mor_mesh_file* file;
    mor_lines lines;
    const char* at;
    mor_word key;
} ascii;

/* The first word of the next line that has one. */
static bool next_key(ascii* a)
{
    while (mor_lines_next(&a->lines)) {
        a->at = a->lines.line_begin;
        if (mor_lines_word(&a->lines, &a->at, &a->key)) return true;
    }
    return false;
}

static mor_code expected(const ascii* a, bool there, const char* what)
{
    if (!there)
        return mor_fail_at(a->file->error, MOR_BAD_INPUT, a->file->path, a->lines.line, 1,
                           "the file ends where '%s' should follow: it is truncated", what);
    return mor_fail_at(a->file->error, MOR_BAD_INPUT, a->file->path, a->lines.line, a->key.column,
                       "'%.*s' where '%s' should follow", a->key.length > 40 ? 40 : a->key.length, a->key.at, what);
}

static mor_code read_facet(ascii* a)
{
    bool there = next_key(a);
    if (!there || !mor_word_is(&a->key, "outer")) return expected(a, there, "outer loop");
    for (int k = 0; k < 3; k++) {
        there = next_key(a);
        if (!there || !mor_word_is(&a->key, "vertex")) return expected(a, there, "vertex x y z");
        double x[3];
        for (int i = 0; i < 3; i++) {
            mor_word word;
            if (!mor_lines_word(&a->lines, &a->at, &word) || !mor_word_number(&word, &x[i]))
                return mor_fail_at(a->file->error, MOR_BAD_INPUT, a->file->path, a->lines.line, a->key.column,
                                   "a vertex needs three finite coordinates");
        }
        if (!mor_mesh_point(a->file, mor_v3(x[0], x[1], x[2])) || !mor_mesh_corner(a->file, a->file->point_count - 1))
            return a->file->error->code;
    }
    there = next_key(a);
    if (!there || !mor_word_is(&a->key, "endloop")) return expected(a, there, "endloop");
    there = next_key(a);
    if (!there || !mor_word_is(&a->key, "endfacet")) return expected(a, there, "endfacet");
    return mor_mesh_face_end(a->file) ? MOR_OK : a->file->error->code;
}

static mor_code read_ascii(mor_mesh_file* file)
{
    ascii a = { .file = file, .lines = mor_lines_of(file) };
    bool open = false;
    while (next_key(&a)) {
        if (!open) {
            if (!mor_word_is(&a.key, "solid")) return expected(&a, true, "solid");
            mor_word name = { "", 0, 0 };
            mor_lines_word(&a.lines, &a.at, &name);
            if (!mor_mesh_piece_begin(file, name.at, (size_t)name.length, a.lines.line)) return file->error->code;
            open = true;
        } else if (a.key.length >= 8 && strncasecmp(a.key.at, "endsolid", 8) == 0) { /* "endsolidName" exists */
            open = false;
        } else if (mor_word_is(&a.key, "facet")) {
            mor_code code = read_facet(&a);
            if (code != MOR_OK) return code;
        } else {
            return expected(&a, true, "facet or endsolid");
        }
    }
    return open ? expected(&a, false, "endsolid") : MOR_OK;
}

mor_code mor_mesh_read_stl(mor_mesh_file* file)
{
    const unsigned char* bytes = (const unsigned char*)file->text;
    uint32_t n = file->size >= 84 ? word_at(bytes + 80) : 0;
    uint64_t length = 84 + 50 * (uint64_t)n;
    if (file->size >= 84 && length == file->size) return read_binary(file, n);
    size_t blanks = 0;
    while (blanks < file->size && strchr(" \t\r\n", file->text[blanks]) && file->text[blanks]) blanks++;
    bool text = !memchr(file->text, '\0', file->size);
    if (text && strncasecmp(file->text + blanks, "solid", 5) == 0) return read_ascii(file);
    if (file->size < 84)
        return mor_fail(file->error, MOR_BAD_INPUT,
                        "%s: %zu bytes; a binary .stl file has at least 84, a text one begins with 'solid'", file->path,
                        file->size);
    if (length > file->size)
        return mor_fail(file->error, MOR_BAD_INPUT,
                        "%s: truncated, or not an .stl file: its %u triangles need %llu bytes but it has %zu",
                        file->path, (unsigned)n, (unsigned long long)length, file->size);
    return mor_fail(file->error, MOR_BAD_INPUT,
                    "%s: %zu bytes follow the %u triangles it announces; the count is wrong or it is not an .stl file",
                    file->path, (size_t)(file->size - length), (unsigned)n);
}
