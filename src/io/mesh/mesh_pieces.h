/* Convex pieces of a mesh, kept in a file so that they are computed once. */
#ifndef IO_MESH_PIECES_H
#define IO_MESH_PIECES_H

#include "geometry/decompose.h"

/* What a file of pieces holds. */
typedef struct mor_kept_pieces {
    mor_decomposition report;
    mor_piece* pieces; /* in the arena */
    const char* notes; /* of the mesh; "" if none */
} mor_kept_pieces;

/* Reads such a file; false when there is none or it is damaged. */
bool mor_pieces_read(const char* path, mor_arena* arena, mor_kept_pieces* out);
/* Writes it; MOR_SYSTEM and a sentence when that cannot be done. */
mor_code mor_pieces_write(const char* path, const mor_kept_pieces* kept, mor_error* error);

#endif
