/* Triangles of shapes, for pictures. */
#ifndef GEOMETRY_TESSELLATE_H
#define GEOMETRY_TESSELLATE_H

#include "moreau/geometry.h"

typedef struct mor_triangles {
    mor_vec3* points;
    int* corners; /* three numbers of points each */
    int point_count, count;
} mor_triangles;

/* The triangles of a shape, counter-clockwise from outside; none of planes, 2-D
 * and custom shapes. The points of a polyhedron are its own. False when out of
 * memory. */
bool mor_tessellate(const mor_geometry* geometry, mor_arena* arena, mor_triangles* out);

#endif
