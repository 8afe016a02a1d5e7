/* What the readers of mesh files share: the file in memory, and the pieces they fill. */
#ifndef IO_MESH_H
#define IO_MESH_H

#include "moreau/geometry.h"

/* One object or group: faces [face_begin, next piece's face_begin). */
typedef struct mor_mesh_piece {
    char name[64];
    int line; /* where it begins; 0 in binary files */
    int face_begin, corner_begin;
} mor_mesh_piece;

/* How faces look: the name in the file and, after mor_mesh_read_materials, their colour. */
typedef struct mor_mesh_material {
    char name[128];
    bool known;        /* the file says how it looks */
    double color[4];   /* red, green, blue, opacity */
    char texture[512]; /* picture, beside or relative to the mesh file; "": none */
} mor_mesh_material;

/* Everything a file holds. Face corners are indices into points. */
typedef struct mor_mesh_file {
    const char* path;
    char* text; /* the bytes, with a zero behind them */
    size_t size;
    mor_error* error;
    unsigned flags; /* mor_mesh_flags */

    mor_vec3* points;
    int *face_sizes, *corners;
    mor_mesh_piece* pieces;
    int point_count, face_count, corner_count, piece_count;
    int point_room, face_room, corner_room, piece_room;
    int open_corners; /* of the face being read */
    mor_mesh_material* materials;
    int *face_materials, material_count, material_room, face_material_room; /* of each face, -1: none */
    int material; /* of the faces being read, plus 1; 0: none */
    float* spots; /* places on the picture, u and v of each corner, v upwards; NAN: none; NULL: of no corner */
    int spot_count, spot_room; /* numbers */
} mor_mesh_file;

/* false when out of memory or over the limits, with the sentence written */
bool mor_mesh_point(mor_mesh_file* file, mor_vec3 point);
bool mor_mesh_corner(mor_mesh_file* file, int point);
/* Where the corner added last is on the picture. */
bool mor_mesh_spot(mor_mesh_file* file, double u, double v);
bool mor_mesh_face_end(mor_mesh_file* file);
/* Faces from here on are of this material. */
bool mor_mesh_use_material(mor_mesh_file* file, const char* name, size_t length);
/* Begins a piece; one without faces is forgotten. */
bool mor_mesh_piece_begin(mor_mesh_file* file, const char* name, size_t name_length, int line);

/* Reads the file at `path`: points, faces and pieces. Close it in any case. */
mor_code mor_mesh_open(mor_mesh_file* file);
void mor_mesh_close(mor_mesh_file* file);

/* How the materials of an open file look, as far as its .mtl file or the COLLADA file says so (mesh_materials.c). */
void mor_mesh_read_materials(mor_mesh_file* file);

/* The readers, one per format. */
mor_code mor_mesh_read_poly(mor_mesh_file* file);
mor_code mor_mesh_read_obj(mor_mesh_file* file);
mor_code mor_mesh_read_stl(mor_mesh_file* file);
mor_code mor_mesh_read_dae(mor_mesh_file* file);

/* ------------------------------------------------------------------- words on lines of text */

typedef struct mor_word {
    const char* at;
    int length, column;
} mor_word;

typedef struct mor_lines {
    const char *at, *end;
    int line; /* of the line last returned, 1-based */
    const char* line_begin;
    const char* line_end;
} mor_lines;

mor_lines mor_lines_of(const mor_mesh_file* file);
/* Moves to the next line; false at the end. */
bool mor_lines_next(mor_lines* lines);
/* The next blank-separated word at or behind *at on the current line; false at its end. */
bool mor_lines_word(const mor_lines* lines, const char** at, mor_word* word);
bool mor_word_is(const mor_word* word, const char* text);
/* A finite number that fills the whole word. */
bool mor_word_number(const mor_word* word, double* value);
bool mor_word_int(const mor_word* word, int* value);

#endif
