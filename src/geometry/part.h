/* A part of a solid inside a convex cell, and how a plane cuts it. */
#ifndef GEOMETRY_PART_H
#define GEOMETRY_PART_H

#include "geometry/hull_measure.h"
#include "geometry/solid.h"

/* The part of a solid where normal . x <= offset for every plane of the cell. Arrays are in an arena. */
typedef struct mor_part {
    mor_vec3* points; /* of the surface */
    int point_count;
    int (*faces)[3];
    int face_count;
    mor_vec3 (*caps)[3]; /* oriented triangles on the planes of the cell that close the surface */
    int cap_count;
    mor_vec3* corners; /* where three planes meet inside the solid */
    int corner_count;
    mor_plane* cell;
    int cell_count;
} mor_part;

/* The whole solid as a part. */
mor_part mor_part_whole(const mor_solid* solid);
/* The part of it below a plane; false when out of memory. */
bool mor_part_clip(const mor_solid* solid, mor_arena* arena, const mor_part* part, mor_plane plane, mor_part* below);
/* Where a plane meets the edges of the cell inside the solid: at most `room` points. */
int mor_part_corners(const mor_solid* solid, const mor_part* part, mor_plane plane, mor_vec3* out, int room);
mor_mass mor_part_mass(const mor_part* part);

#endif
