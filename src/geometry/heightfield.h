/* Height fields: ground over a rectangle, given by its height at the points of a grid, as convex pieces. */
#ifndef GEOMETRY_HEIGHTFIELD_H
#define GEOMETRY_HEIGHTFIELD_H

#include "geometry/geometry.h"

/* The field is centred at the origin; x grows along a row, y from row to row: point (i, j) is at
 * (-size[0]/2 + i dx, -size[1]/2 + j dy, heights[j columns + i]). The ground reaches `depth` below the lowest point. */
typedef struct mor_heightfield {
    int columns, rows; /* points, at least 2 each */
    double size[2];    /* m */
    const double* heights;
    double depth; /* m, positive */
} mor_heightfield;

/* Cells first[0] <= i < last[0], first[1] <= j < last[1]. half 0: all of them, and they lie in one plane; 1, 2: the
 * triangle of one cell right of, left of its diagonal from (i, j) to (i+1, j+1). */
typedef struct mor_field_piece {
    int first[2], last[2], half;
} mor_field_piece;

/* Cuts the field. `taken` is zeroed scratch of (columns-1)(rows-1) bytes; `pieces` has room for `capacity`. Returns the
 * number of pieces, or -1 if there are more. */
int mor_heightfield_cut(const mor_heightfield* field, unsigned char* taken, mor_field_piece* pieces, int capacity);
/* Where the ground ends: depth below the lowest point. */
double mor_heightfield_floor(const mor_heightfield* field);
/* One piece down to `floor`, about the middle of its bounds, which is `*centre` in the frame of the field. One
 * reference. */
mor_geometry* mor_heightfield_piece(const mor_heightfield* field, const mor_field_piece* piece, double floor,
                                    mor_vec3* centre, mor_error* error);
/* Is it such a piece? z of its frame is up: one face looks up, one down, the others are walls. */
static inline bool mor_is_ground(const mor_geometry* g) { return g->kind == MOR_POLYHEDRON && g->size[0] != 0.0; }

#endif
