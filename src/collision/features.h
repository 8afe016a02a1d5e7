/* Feature geometry for exact contact: which planes separate two convex pieces, and where they would touch.
 *
 * The Minkowski difference of two convex polytopes A and B is a convex polytope. Its facets k are
 *     (i)   faces of A,      (ii)  faces of B,      (iii) pairs of edges whose arcs on the Gauss map cross,
 * each a plane with unit normal n_k (from A to B) and rows i (contact points) with gaps psi_ki, such that
 *     s_k = min_i psi_ki,      separated  <=>  max_k s_k >= 0.
 * In the plane (polygons, particles) only (i) and (ii) exist. A half-space is a polytope with one face.
 * Chains are cut into overlapping polygons (geometry/chain_pieces.c), each a piece of its own. */
#ifndef MOR_COLLISION_FEATURES_H
#define MOR_COLLISION_FEATURES_H

#include "collision/manifold.h"

enum { MOR_FACE_OF_A = 0, MOR_FACE_OF_B = 1, MOR_EDGE_PAIR = 2 };
#define MOR_NO_PLANE 0xffffffffu

/* Number of a plane within its pair of shapes, stable from step to step. */
static inline uint32_t mor_plane_id(int kind, int of_a, int of_b) { return mor_feature(kind, of_a, of_b); }
static inline int mor_plane_kind(uint32_t id) { return (int)(id >> 30); }
static inline int mor_plane_of_a(uint32_t id) { return (int)(id >> 15 & 0x7fffu); }
static inline int mor_plane_of_b(uint32_t id) { return (int)(id & 0x7fffu); }

#define MOR_MAX_PARTS 2048 /* vertices, edges or faces of a shape; larger ones are refused */
#define MOR_MAX_PLANES 96
#define MOR_MAX_ROWS 768

typedef struct mor_feature_plane {
    uint32_t id;
    mor_vec3 n; /* world, from A to B */
    double s;   /* least gap of its rows */
    int row, row_count;
} mor_feature_plane;

typedef struct mor_feature_row {
    mor_vec3 on_a, on_b; /* world */
    double gap;
    uint32_t feature; /* within the plane */
} mor_feature_row;

typedef struct mor_feature_query {
    double window; /* planes and rows farther from touching than this are left out */
    double motion; /* m: how far the pair may move in the step; the edge pairs' filter of nearness */
    double turn;   /* angle within which an edge pair is taken for an adjacent open face [rad] */
    uint32_t held; /* the plane used last step is always reported, or MOR_NO_PLANE */
} mor_feature_query;

typedef struct mor_feature_set {
    double separation; /* max_k s_k over all planes; HUGE_VAL when far */
    double size;       /* of the smaller piece, for tolerances */
    uint32_t best;     /* the plane that takes it */
    int plane_count, row_count;
    mor_feature_plane planes[MOR_MAX_PLANES];
    mor_feature_row rows[MOR_MAX_ROWS];
} mor_feature_set;

/* tolerances, relative to the size of the smaller piece (peg.c uses the same) */
#define MOR_OPEN_TOL 1e-9    /* a plane is open when s_k >= -this */
#define MOR_SUPPORT_TOL 1e-6 /* points this close to the lowest are one support feature */

/* What the code takes at most, if the shape has more parts than that; else NULL. */
const char* mor_features_too_large(const mor_geometry* geometry);
/* Can the pair be told by its planes? Polyhedra and half-spaces; in the plane particles, discs, polygons and chains. */
bool mor_features_exact(const mor_geometry* a, const mor_geometry* b);
/* Number of convex pieces of the pair: 1, or those of a chain; and the one a plane belongs to. */
int mor_features_pieces(const mor_geometry* a, const mor_geometry* b);
int mor_features_piece_of(const mor_geometry* a, const mor_geometry* b, uint32_t plane);
/* The planes of piece `piece` with their rows. `cache` may hold the number (+1) of a plane to try first. Nothing is
 * reported when some plane has s_k >= query->window. */
void mor_features_pair(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                       int piece, const mor_feature_query* query, uint32_t cache[4], mor_feature_set* set);
/* Rows of one plane only, with all gaps below `window`: plane_count is 1. separation is s_k. */
void mor_features_plane(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                        uint32_t id, double window, mor_feature_set* set);

/* Separation of two polyhedra along the normal of a plane of theirs, whether or not it still is a facet: >= 0 proves
 * them apart. -HUGE_VAL if it cannot be told so (planar shapes, half-spaces, edges that are parallel now). A tenth of
 * the cost of mor_features_pair. */
double mor_features_along(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                          uint32_t id);

/* The detection of the collision method `features`; options are mor_collision_options. */
mor_code mor_features_detect(void* memory, const mor_world* world, const void* options, mor_found* found,
                             mor_error* error);

/* Rows of face f of X, a polyhedron or half-space, against the polyhedron Y (features_faces.c). */
void mor_features_face_rows(const mor_placed* X, int f, const mor_placed* Y, uint32_t id, double window,
                            mor_feature_set* set);

/* the two worlds (features_polyhedron.c, features_planar.c) */
void mor_features_solid(const mor_placed* A, const mor_placed* B, const mor_feature_query* query, uint32_t cache[4],
                        mor_feature_set* set);
double mor_features_solid_along(const mor_placed* A, const mor_placed* B, uint32_t id);
void mor_features_solid_rows(const mor_placed* A, const mor_placed* B, uint32_t id, double window,
                             mor_feature_set* set);
void mor_features_planar(const mor_placed* A, const mor_placed* B, int piece, const mor_feature_query* query,
                         mor_feature_set* set);
void mor_features_planar_rows(const mor_placed* A, const mor_placed* B, uint32_t id, double window,
                              mor_feature_set* set);

/* The papers' contacts (features_vertex.c): every vertex of one shape against the faces of the other that are nearer
 * than epsilon (all faces of the body if `whole`), groups by vertex, and crossing edge pairs. */
int mor_features_vertex(const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b, const mor_pose* pose_b,
                        double epsilon, bool whole, mor_point* points, int capacity);

#endif
