/* A closed surface while it is made into a polyhedron: welded face loops with their neighbours. */
#ifndef GEOMETRY_SURFACE_H
#define GEOMETRY_SURFACE_H

#include "geometry/polyhedron.h"

typedef struct mor_half_edge {
    int tail, head, face, twin;
} mor_half_edge;

/* One directed edge in a sorted list that finds twins; compared by low, high, index. */
typedef struct mor_edge_key {
    int low, high, index;
} mor_edge_key;
int mor_compare_edge_keys(const void* a, const void* b);

typedef struct mor_face_plane {
    mor_vec3 normal;
    double offset, area, width; /* width: twice the area over the longest edge */
} mor_face_plane;
/* Newell's normal and the mean offset of a loop. */
mor_face_plane mor_plane_of_loop(const mor_vec3* points, const int* loop, int n);

/* All arrays are in the arena. */
typedef struct mor_surface {
    const char* shape;
    mor_arena* arena;
    mor_error* error;
    const mor_vec3* points;
    int point_count;
    double tolerance, size, t; /* relative; diagonal of the bounds, m; tolerance * size, m */
    int face_count, corner_count;
    int *start, *corners; /* loops of faces */
    int* source;          /* face of the caller */
    mor_half_edge* half;  /* one per corner: from it to the next */
    mor_face_plane* planes;
    double volume;
} mor_surface;

/* Welds, pairs and checks the faces: afterwards every half edge has a twin, the surface is one sphere
 * and faces outward. shape, arena, error, points, point_count and tolerance are set by the caller. */
bool mor_surface_take(mor_surface* m, const mor_face_loops* in, mor_notes* notes);
/* representative[i]: the first point within t of point i. False when out of memory. */
bool mor_points_weld(mor_arena* arena, const mor_vec3* points, int count, double t, int* representative);
/* Writes the sentence and returns false. */
bool mor_surface_out_of_memory(const mor_surface* m);

#endif
