/* Mesh files: by the extension to a reader, then every piece to the polyhedron builder.
 *
 * A reader only collects points, faces and piece boundaries. Here the points of each piece are
 * gathered, equal ones made one (STL repeats every vertex), scaled, and given to mor_geometry_mesh; its
 * sentence is put behind the place where the piece begins. Numbers are read with a point as decimal
 * mark whatever the locale of the process. */
#include "io/mesh/mesh.h"
#include "base/number.h"
#include "io/text/text_file.h"
#include "geometry/polyhedron.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const size_t FILE_MAX = (size_t)256 << 20; /* bytes; a collision mesh has kilobytes */
enum { COUNT_MAX = 20000000 };                    /* points, faces, corners of a file */

/* ---------------------------------------------------------------------------- collecting */

static bool grow(mor_mesh_file* file, void** array, int* room, int count, size_t size)
{
    if (count < *room) return true;
    if (count >= COUNT_MAX) {
        mor_fail(file->error, MOR_BAD_INPUT, "%s: more than %d vertices or faces; simplify the mesh", file->path,
                 COUNT_MAX);
        return false;
    }
    int more = *room ? 2 * *room : 256;
    void* block = realloc(*array, (size_t)more * size);
    if (!block) {
        mor_fail(file->error, MOR_SYSTEM, "%s: out of memory", file->path);
        return false;
    }
    *array = block;
    *room = more;
    return true;
}

bool mor_mesh_point(mor_mesh_file* file, mor_vec3 point)
{
    if (!grow(file, (void**)&file->points, &file->point_room, file->point_count, sizeof point)) return false;
    file->points[file->point_count++] = point;
    return true;
}

bool mor_mesh_corner(mor_mesh_file* file, int point)
{
    if (!grow(file, (void**)&file->corners, &file->corner_room, file->corner_count, sizeof point)) return false;
    file->corners[file->corner_count++] = point;
    file->open_corners++;
    return true;
}

bool mor_mesh_spot(mor_mesh_file* file, double u, double v)
{
    while (file->spot_count < 2 * file->corner_count) {
        if (!grow(file, (void**)&file->spots, &file->spot_room, file->spot_count, sizeof(float))) return false;
        file->spots[file->spot_count++] = NAN;
    }
    file->spots[file->spot_count - 2] = (float)u;
    file->spots[file->spot_count - 1] = (float)v;
    return true;
}

bool mor_mesh_face_end(mor_mesh_file* file)
{
    if (!grow(file, (void**)&file->face_sizes, &file->face_room, file->face_count, sizeof(int)) ||
        !grow(file, (void**)&file->face_materials, &file->face_material_room, file->face_count, sizeof(int)))
        return false;
    file->face_materials[file->face_count] = file->material - 1;
    file->face_sizes[file->face_count++] = file->open_corners;
    file->open_corners = 0;
    return true;
}

bool mor_mesh_use_material(mor_mesh_file* file, const char* name, size_t length)
{
    mor_mesh_material one = { .color = { 0.75, 0.77, 0.8, 1 } };
    snprintf(one.name, sizeof one.name, "%.*s", (int)(length < sizeof one.name ? length : sizeof one.name - 1), name);
    for (file->material = 1; file->material <= file->material_count; file->material++)
        if (strcmp(file->materials[file->material - 1].name, one.name) == 0) return true;
    if (!grow(file, (void**)&file->materials, &file->material_room, file->material_count, sizeof one)) return false;
    file->materials[file->material_count++] = one;
    return true;
}

bool mor_mesh_piece_begin(mor_mesh_file* file, const char* name, size_t name_length, int line)
{
    int n = file->piece_count;
    if (n && file->pieces[n - 1].face_begin == file->face_count) file->piece_count = --n;
    if (!grow(file, (void**)&file->pieces, &file->piece_room, n, sizeof *file->pieces)) return false;
    mor_mesh_piece* piece = &file->pieces[file->piece_count++];
    *piece = (mor_mesh_piece){ .line = line, .face_begin = file->face_count, .corner_begin = file->corner_count };
    snprintf(piece->name, sizeof piece->name, "%.*s", (int)(name_length < 63 ? name_length : 63), name);
    return true;
}

/* ------------------------------------------------------------------- words on lines of text */

mor_lines mor_lines_of(const mor_mesh_file* file)
{
    return (mor_lines){ file->text, file->text + file->size, 0, file->text, file->text };
}

bool mor_lines_next(mor_lines* lines)
{
    if (lines->at >= lines->end) return false;
    for (const char* s = lines->line_begin; s < lines->line_end; s++) lines->line += *s == '\v'; /* joined lines */
    lines->line++;
    lines->line_begin = lines->at;
    const char* newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    lines->line_end = newline ? newline : lines->end;
    lines->at = newline ? newline + 1 : lines->end;
    return true;
}

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

bool mor_lines_word(const mor_lines* lines, const char** at, mor_word* word)
{
    const char* s = *at;
    while (s < lines->line_end && blank(*s)) s++;
    if (s >= lines->line_end) return false;
    word->at = s;
    word->column = (int)(s - lines->line_begin) + 1;
    while (s < lines->line_end && !blank(*s)) s++;
    word->length = (int)(s - word->at);
    *at = s;
    return true;
}

bool mor_word_is(const mor_word* word, const char* text)
{
    return (size_t)word->length == strlen(text) && strncasecmp(word->at, text, (size_t)word->length) == 0;
}

bool mor_word_number(const mor_word* word, double* value)
{
    if (word->length <= 0 || isspace((unsigned char)*word->at)) return false;
    char* end;
    *value = mor_strtod(word->at, &end); /* the text ends with a zero and words with a blank */
    return end == word->at + word->length && isfinite(*value);
}

bool mor_word_int(const mor_word* word, int* value)
{
    if (word->length <= 0 || word->length > 11 || isspace((unsigned char)*word->at)) return false;
    char* end;
    errno = 0;
    long v = strtol(word->at, &end, 10);
    *value = (int)v;
    return end == word->at + word->length && errno == 0 && v >= -2000000000L && v <= 2000000000L;
}

/* ------------------------------------------------------------------------- file to pieces */

static mor_code load(mor_mesh_file* file)
{
    mor_code code = mor_text_read(file->path, FILE_MAX, &file->text, &file->size, file->error);
    if (!code && file->size == 0) code = mor_fail(file->error, MOR_BAD_INPUT, "%s: the file is empty", file->path);
    return code;
}

typedef struct point_key {
    mor_vec3 p;
    int index; /* of the corner where it is first used */
} point_key;

static int compare_points(const void* a, const void* b)
{
    const point_key *x = a, *y = b;
    if (x->p.x != y->p.x) return x->p.x < y->p.x ? -1 : 1;
    if (x->p.y != y->p.y) return x->p.y < y->p.y ? -1 : 1;
    if (x->p.z != y->p.z) return x->p.z < y->p.z ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Gathers the points of a piece in order of first use; equal ones are one. Scratch of the size of
 * the corners. Returns their number. */
static int gather(const mor_mesh_file* file, const int* corners, int n, double scale, point_key* keys, int* first,
                  mor_vec3* points, int* local)
{
    for (int k = 0; k < n; k++) keys[k] = (point_key){ file->points[corners[k]], k };
    qsort(keys, (size_t)n, sizeof *keys, compare_points);
    for (int i = 0, lead = 0; i < n; i++) {
        point_key *a = &keys[lead], *b = &keys[i];
        if (a->p.x != b->p.x || a->p.y != b->p.y || a->p.z != b->p.z) lead = i;
        first[keys[i].index] = keys[lead].index;
    }
    int count = 0;
    for (int k = 0; k < n; k++) {
        if (first[k] == k) {
            points[count] = mor_scale(scale, file->points[corners[k]]);
            local[k] = count++;
        } else {
            local[k] = local[first[k]];
        }
    }
    return count;
}

static mor_geometry* make_piece(const mor_mesh_file* file, int index, double scale, char* notes, size_t notes_size)
{
    const mor_mesh_piece* piece = &file->pieces[index];
    bool last = index + 1 == file->piece_count;
    int faces = (last ? file->face_count : piece[1].face_begin) - piece->face_begin;
    int n = (last ? file->corner_count : piece[1].corner_begin) - piece->corner_begin;
    size_t room = (size_t)n + 1;
    point_key* keys = malloc(room * sizeof *keys);
    mor_vec3* points = malloc(room * sizeof *points);
    int *first = malloc(room * sizeof *first), *local = malloc(room * sizeof *local);
    mor_geometry* g = NULL;
    mor_error why = { MOR_SYSTEM, 0, 0, "out of memory" };
    if (keys && points && first && local) {
        int count = gather(file, file->corners + piece->corner_begin, n, scale, keys, first, points, local);
        if (file->flags & (MOR_MESH_HULL | MOR_MESH_ONE_HULL)) {
            g = mor_geometry_of_polyhedron(mor_polyhedron_hull("mesh", points, count, MOR_TOLERANCE_MESH, &why), "mesh",
                                           &why);
        } else {
            g = mor_geometry_mesh(points, count, file->face_sizes + piece->face_begin, local, faces, notes, notes_size,
                                  &why);
        }
    }
    free(keys);
    free(points);
    free(first);
    free(local);
    if (g) return g;
    char where[96] = "";
    if (piece->name[0]) snprintf(where, sizeof where, "'%s': ", piece->name);
    if (piece->line) mor_fail_at(file->error, why.code, file->path, piece->line, 1, "%s%s", where, why.text);
    else mor_fail(file->error, why.code, "%s: %s%s", file->path, where, why.text);
    return NULL;
}

static mor_code make_pieces(const mor_mesh_file* file, double scale, mor_geometry** pieces, int capacity, int* count,
                            char* notes, size_t notes_size)
{
    if (file->piece_count > capacity)
        return mor_fail(file->error, MOR_BAD_INPUT, "%s: it has %d objects; at most %d are accepted", file->path,
                        file->piece_count, capacity);
    size_t used = 0;
    for (int i = 0; i < file->piece_count; i++) {
        char told[512] = "";
        pieces[i] = make_piece(file, i, scale, told, sizeof told);
        if (!pieces[i]) {
            while (i > 0) mor_geometry_release(pieces[--i]);
            return file->error ? file->error->code : MOR_BAD_INPUT;
        }
        if (!told[0] || !notes || used + 1 >= notes_size) continue;
        const char* name = file->pieces[i].name;
        int n =
            snprintf(notes + used, notes_size - used, "%s%s%s%s", used ? "; " : "", name, name[0] ? ": " : "", told);
        used = n > 0 && used + (size_t)n < notes_size ? used + (size_t)n : notes_size;
    }
    *count = file->piece_count;
    return MOR_OK;
}

/* The reader for a file's extension, or NULL with the sentence written. */
static mor_code (*reader_of(const char* path, mor_error* error))(mor_mesh_file*)
{
    static const struct {
        const char* extension;
        mor_code (*read)(mor_mesh_file*);
    } formats[] = { { ".poly", mor_mesh_read_poly },
                    { ".obj", mor_mesh_read_obj },
                    { ".stl", mor_mesh_read_stl },
                    { ".dae", mor_mesh_read_dae } };
    const char* dot = strrchr(path, '.');
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (dot && strcasecmp(dot, formats[k].extension) == 0) return formats[k].read;
    mor_fail(error, MOR_BAD_INPUT, "%s: meshes are read from .poly, .obj, .stl and .dae files, not %s", path,
             dot && !strchr(dot, '/') ? dot : "files without extension");
    return NULL;
}

mor_code mor_mesh_open(mor_mesh_file* file)
{
    mor_code (*reader)(mor_mesh_file*) = reader_of(file->path, file->error);
    if (!reader) return MOR_BAD_INPUT;
    locale_t point = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    locale_t before = point ? uselocale(point) : (locale_t)0;
    mor_code code = load(file);
    if (code == MOR_OK) code = reader(file);
    if (point) {
        uselocale(before);
        freelocale(point);
    }
    if (code != MOR_OK) return code;
    int n = file->piece_count;
    if (n && file->pieces[n - 1].face_begin == file->face_count) file->piece_count--;
    if (file->piece_count == 0) return mor_fail(file->error, MOR_BAD_INPUT, "%s: no faces in the file", file->path);
    if (file->flags & MOR_MESH_ONE_HULL) file->piece_count = 1; /* which then has all faces */
    return MOR_OK;
}

void mor_mesh_close(mor_mesh_file* file)
{
    free(file->text);
    free(file->points);
    free(file->face_sizes);
    free(file->face_materials);
    free(file->materials);
    free(file->corners);
    free(file->spots);
    free(file->pieces);
}

mor_code mor_mesh_read(const char* path, double scale, mor_geometry** pieces, int capacity, int* count, char* notes,
                       size_t notes_size, mor_error* error)
{
    return mor_mesh_read_as(path, scale, 0, pieces, capacity, count, notes, notes_size, error);
}

mor_code mor_mesh_read_as(const char* path, double scale, unsigned flags, mor_geometry** pieces, int capacity,
                          int* count, char* notes, size_t notes_size, mor_error* error)
{
    *count = 0;
    if (notes && notes_size) notes[0] = '\0';
    if (!isfinite(scale) || scale <= 0.0)
        return mor_fail(error, MOR_BAD_INPUT, "%s: the scale is %g; it must be positive and finite", path, scale);
    mor_error own; /* the sentence decides the code also when the caller wants none */
    mor_mesh_file file = { .path = path, .error = error ? error : &own, .flags = flags };
    mor_code code = mor_mesh_open(&file);
    if (code == MOR_OK) code = make_pieces(&file, scale, pieces, capacity, count, notes, notes_size);
    mor_mesh_close(&file);
    return code;
}
