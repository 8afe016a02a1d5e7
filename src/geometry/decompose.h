/* Convex decomposition while it is made: pieces, what they lack, where to cut. */
#ifndef GEOMETRY_DECOMPOSE_H
#define GEOMETRY_DECOMPOSE_H

#include "geometry/part.h"

/* One convex piece of the answer. */
typedef struct mor_piece {
    mor_vec3* points; /* corners of the hull */
    int count;
    mor_mass unit; /* of the part of the solid it stands for, at density 1 */
} mor_piece;

/* A part of the solid and its hull. */
typedef struct mor_cut_piece {
    mor_part fine, coarse; /* of the solid, and of one with fewer triangles on which cuts are tried */
    mor_vec3* hull;
    int hull_count;
    double hull_volume;
    mor_mass mass;
    double distance; /* of the hull from the solid, m */
    double missed;   /* by which corners of the part lie outside the hull, m */
    bool last;       /* no cut helps */
} mor_cut_piece;

/* An edge where the surface is concave, and the planes of its two faces. */
typedef struct mor_notch {
    mor_vec3 middle;
    mor_plane plane[2];
    double weight; /* length times height of the neighbour above the face */
    int index;
} mor_notch;

typedef struct mor_decomposer {
    mor_arena *arena, *scratch;
    mor_solid solid, coarse;
    double goal;      /* distance, m */
    double tolerance; /* of hulls, m */
    double excess;    /* volume that hulls may add, m^3 */
    double balance;   /* price of unequal halves */
    mor_notch* notches;
    int notch_count;
    mor_cut_piece* pieces;
    int count;
} mor_decomposer;

/* The largest distance of points of a hull from the solid, sampled at `spacing`; from `least` on. */
double mor_piece_distance(const mor_decomposer* d, const mor_hull_measure* hull, const mor_vec3* points, double spacing,
                          double least);
/* The list of notches (decompose_cut.c). */
bool mor_decompose_notches(mor_decomposer* d);
/* The plane that leaves the least volume in the two hulls; false when none separates anything. */
bool mor_decompose_plane(mor_decomposer* d, const mor_cut_piece* piece, mor_plane* plane);
/* Joins pieces whose common hull is still good (decompose_merge.c). */
bool mor_decompose_merge(mor_decomposer* d);

/* The pieces in d->pieces, and the report. `arena` owns what is returned. */
mor_code mor_decompose_run(mor_arena* arena, const mor_face_loops* in, const mor_decompose_def* def, mor_piece** pieces,
                           mor_decomposition* report, mor_notes* notes, mor_error* error);
/* The geometry of a piece, all lengths times scale. */
mor_geometry* mor_piece_geometry(const mor_piece* piece, double scale, mor_error* error);

#endif
