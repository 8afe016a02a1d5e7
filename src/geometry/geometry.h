/* What the makers of src/geometry share: allocation, range checks, notes. */
#ifndef GEOMETRY_GEOMETRY_H
#define GEOMETRY_GEOMETRY_H

#include "moreau/geometry.h"

/* Lengths outside this range (metres) are typing or unit mistakes: refused with a sentence. */
#define MOR_LENGTH_MIN 1e-9
#define MOR_LENGTH_MAX 1e9

/* A zeroed geometry with one reference; NULL when out of memory. */
mor_geometry* mor_geometry_new(mor_shape_kind kind, int dimension, const char* label, mor_error* error);
/* Wraps a polyhedron (ownership passes, also on failure): mass properties, bounding radius. */
mor_geometry* mor_geometry_of_polyhedron(mor_polyhedron* polyhedron, const char* label, mor_error* error);
/* The same for polylines. */
mor_geometry* mor_geometry_of_polyline(mor_shape_kind kind, mor_polyline* polyline, mor_error* error);

/* The convex pieces of a chain (chain_pieces.c), one block for free(); NULL when out of memory. */
mor_chain_pieces* mor_chain_cut(const mor_polyline* chain);

/* Finite, positive, within the range above. */
bool mor_length_ok(const char* shape, const char* what, double value, mor_error* error);
/* All coordinates finite and not absurd. */
bool mor_points_ok(const char* shape, const mor_vec3* points, int count, mor_error* error);

/* Text that collects repairs, separated by "; ". */
typedef struct mor_notes {
    char* text; /* may be NULL */
    size_t size;
} mor_notes;
void mor_note(mor_notes* notes, const char* format, ...) MOR_PRINTF(2, 3);

/* The farthest point of an ellipsoid in direction d, in its frame. */
mor_vec3 mor_ellipsoid_support(const mor_geometry* geometry, mor_vec3 d);

#endif
