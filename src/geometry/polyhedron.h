/* Building convex polyhedra with adjacency from face loops, and convex hulls. */
#ifndef GEOMETRY_POLYHEDRON_H
#define GEOMETRY_POLYHEDRON_H

#include "geometry/geometry.h"

/* Face loops: sizes[f] vertex indices each, concatenated, counter-clockwise from outside. */
typedef struct mor_face_loops {
    const mor_vec3* points;
    int point_count;
    const int* sizes;
    const int* vertices;
    int count;
} mor_face_loops;

/* Relative tolerances (times the diagonal of the bounding box) for welding and coplanarity. */
#define MOR_TOLERANCE_EXACT 1e-12 /* coordinates computed in double: boxes, prisms, Platonic solids */
#define MOR_TOLERANCE_HULL 1e-9   /* hulls of measured points */
#define MOR_TOLERANCE_MESH 1e-6   /* files: single precision, six digits */

/* Largest number of faces and of points of one piece: convexity is checked on every pair. */
#define MOR_PIECE_FACES_MAX 100000
#define MOR_PIECE_POINTS_MAX 300000

/* The polyhedron or NULL and a sentence. With `repair`, dents of the size of rounding errors are
 * closed by taking the convex hull, and told in the notes. Free with mor_polyhedron_free. */
mor_polyhedron* mor_polyhedron_build(const char* shape, const mor_face_loops* loops, double tolerance, bool repair,
                                     mor_notes* notes, mor_error* error);
/* The convex hull of points; faces closer to coplanar than tolerance * diagonal become one. */
mor_polyhedron* mor_polyhedron_hull(const char* shape, const mor_vec3* points, int count, double tolerance,
                                    mor_error* error);
/* The extent of points across the plane of three spread ones: about 0 when they are coplanar. */
double mor_points_thickness(const mor_vec3* points, int count);
/* A copy with all lengths times s; NULL when out of memory. */
mor_polyhedron* mor_polyhedron_scaled(const mor_polyhedron* polyhedron, double s);
double mor_polyhedron_volume(const mor_polyhedron* polyhedron);
void mor_polyhedron_free(mor_polyhedron* polyhedron);

#endif
