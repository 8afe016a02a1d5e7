/* A COLLADA file between its two passes: what mesh_dae.c read and mesh_dae_pieces.c places. */
#ifndef MOR_IO_MESH_DAE_H
#define MOR_IO_MESH_DAE_H

#include "io/mesh/mesh.h"

#include <expat.h>
#include <string.h>

enum { DEPTH_MAX = 64, INSTANCES_MAX = 10000, ID_SIZE = 128 };

typedef struct transform {
    double m[3][4];
} transform;

/* A <source>: a named array of numbers read as points with a stride. */
typedef struct source {
    char id[ID_SIZE];
    double* values;
    int count, stride, offset;
} source;

/* <vertices>: a name for the source of positions. */
typedef struct alias {
    char id[ID_SIZE], positions[ID_SIZE];
} alias;

/* <triangles>, <polylist> or <polygons>. */
typedef struct primitive {
    int geometry, line, offset, stride;
    char vertices[ID_SIZE], material[ID_SIZE];
    char spots[ID_SIZE]; /* source of places on a picture; "": none */
    int spot_offset;
    int *indices, index_count;
    int *sizes, size_count; /* polylist: corners per face; polygons: one per <p>; triangles: none */
    bool polygons;
} primitive;

typedef struct geometry {
    char id[ID_SIZE], name[64];
    int line;
} geometry;

enum { USE_GEOMETRY, USE_NODE };

typedef struct use {
    int node, kind, line;
    char target[ID_SIZE];
} use;

typedef struct node {
    int parent;
    bool scene; /* a <visual_scene>: a root */
    char id[ID_SIZE], name[64];
    transform T;
} node;

typedef struct list {
    void* items;
    int count, room;
} list;

typedef struct dae {
    mor_mesh_file* file;
    XML_Parser parser;
    mor_code code;
    double unit;
    int up; /* 0 x, 1 y, 2 z */
    list sources, aliases, primitives, geometries, nodes, uses;
    char scene[ID_SIZE];
    int depth, node_at; /* innermost open node or -1 */
    bool in_primitive, in_vertices, in_source;
    bool collect; /* character data of interest */
    char* text;
    size_t text_length, text_room;
} dae;

#define LAST(type, l) (&((type*)(l).items)[(l).count - 1])
#define AT(type, l, i) (&((type*)(l).items)[i])

static inline bool is(const char* a, const char* b) { return strcmp(a, b) == 0; }

transform mor_dae_identity(void);
/* A then B seen from outside: the product A B. */
transform mor_dae_times(const transform* A, const transform* B);
/* Pass two: all instances as pieces of the mesh; failures are in d->code. */
void mor_dae_emit(dae* d);

#endif
