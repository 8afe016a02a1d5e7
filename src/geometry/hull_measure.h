/* Hulls that are only measured: volume, planes, which points are corners. No polyhedron is built. */
#ifndef GEOMETRY_HULL_MEASURE_H
#define GEOMETRY_HULL_MEASURE_H

#include "geometry/geometry.h"

typedef struct mor_plane {
    mor_vec3 normal; /* unit, outward */
    double offset;   /* normal . x = offset on it */
} mor_plane;

typedef struct mor_hull_measure {
    double volume;       /* m^3; 0 when the points are flat */
    mor_plane* planes;   /* of the facets, in the arena; NULL when the points are flat */
    int (*triangles)[3]; /* the facets cut into triangles, numbers of points */
    int plane_count, triangle_count;
} mor_hull_measure;

/* False when out of memory. With `volume_only` the lists stay empty. */
bool mor_hull_measure_of(mor_arena* arena, const mor_vec3* points, int count, bool volume_only, mor_hull_measure* out);
/* A part of the points whose hull misses none of them by more than `tolerance`; kept[] gets their numbers in
 * increasing order. The count, 0 when the points are flat, -1 when out of memory. */
int mor_hull_coarse(mor_arena* arena, const mor_vec3* points, int count, double tolerance, int* kept);

#endif
