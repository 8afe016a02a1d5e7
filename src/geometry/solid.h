/* A solid given by triangles that need not be convex: closed, with winding numbers, distances and mass properties. */
#ifndef GEOMETRY_SOLID_H
#define GEOMETRY_SOLID_H

#include "geometry/polyhedron.h"

/* A box of the tree over the triangles: two boxes, or the triangles order[first ... first + count - 1]. */
typedef struct mor_solid_box {
    mor_vec3 low, high;
    int first, count; /* count 0: the boxes first and first + 1 */
} mor_solid_box;

/* All arrays are in the arena. */
typedef struct mor_solid {
    mor_arena* arena;
    mor_vec3* points;
    int point_count;
    int (*faces)[3];
    int face_count;
    mor_vec3 low, high;
    double diagonal; /* of the bounds, m */
    double area;     /* m^2 */
    mor_mass unit;   /* at density 1 */
    int columns;     /* of triangles above a square of x, y: columns^2 of them */
    int *column_start, *column_faces;
    mor_solid_box* boxes;
    int box_count, *order;
} mor_solid;

/* Takes the faces of a mesh: welded, cut into triangles, turned so that neighbours agree and the volume is positive,
 * holes closed. What was repaired is told in the notes; what cannot be is refused. */
bool mor_solid_take(mor_solid* solid, mor_arena* arena, const mor_face_loops* in, mor_notes* notes, mor_error* error);
/* Makes neighbours agree, turns parts that are inside out and closes holes by fans (solid_repair.c). */
bool mor_solid_repair(mor_solid* solid, mor_notes* notes, mor_error* error);
/* The tables behind the two questions below (solid_search.c); false when out of memory. */
bool mor_solid_prepare(mor_solid* solid);
/* The winding number of the surface about p, by a ray upward: 0 outside, 1 inside. */
int mor_solid_winding(const mor_solid* solid, mor_vec3 p);
/* The distance of p from the surface; once it is known to be at most `enough`, some number between. */
double mor_solid_distance(const mor_solid* solid, mor_vec3 p, double enough);

/* Mass, first and second moment of a set of oriented triangles, joined with the point c. */
typedef struct mor_moments {
    mor_vec3 c, first;
    double volume;
    mor_mat3 second;
} mor_moments;
void mor_moments_add(mor_moments* sum, mor_vec3 a, mor_vec3 b, mor_vec3 d);
mor_mass mor_moments_mass(const mor_moments* sum);

#endif
