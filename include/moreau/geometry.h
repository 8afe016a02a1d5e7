/* Shapes: immutable, shared, reference counted geometry, with mass properties from the true shape.
 *
 * A geometry lives in its own frame: axis of cylinders, capsules, cones and prisms along z, centred;
 * first vertex of prisms on x. 2-D shapes lie in the plane z = 0. A body holds any number of
 * geometries, each with a pose in the body frame (a compound). Lengths are in metres.
 *
 * Threads: a geometry that nobody changes may be read by any number of threads; retain and release are not atomic, so
 * call them (and everything that takes a reference: bodies, robots) on one thread.
 * Ownership: a maker gives one reference; release it when you are done, also after handing it to a body, which takes
 * its own.
 * ABI: mor_geometry, mor_polyhedron and mor_polyline are made by the library only; read them, never copy them. */
#ifndef MOREAU_GEOMETRY_H
#define MOREAU_GEOMETRY_H

#include "moreau/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a geometry is; `size` as told here [m]. */
typedef enum mor_shape_kind {
    MOR_SPHERE,     /* size[0] radius */
    MOR_PLANE,      /* half-space z <= 0 of its frame; size unused; fixed bodies only */
    MOR_CAPSULE,    /* size[0] radius, size[1] length of the cylindrical part */
    MOR_CYLINDER,   /* size[0] radius, size[1] length; a smooth cylinder */
    MOR_CONE,       /* size[0] base radius, size[1] height; base at z = -height/4 so the frame is the COM */
    MOR_POLYHEDRON, /* convex: boxes, prisms, Platonic solids, hulls, meshes; size[0] the depth of the ground if it is a
                       piece of a height field, else 0 */
    MOR_PARTICLE,   /* 2-D: a point */
    MOR_DISC,       /* 2-D: size[0] radius */
    MOR_POLYGON,    /* 2-D: convex, counter-clockwise */
    MOR_CHAIN,      /* 2-D: open boundary, solid on the right-hand side when walked in order; fixed bodies only */
    MOR_ELLIPSOID,  /* size[0..2] semi-axes along x, y, z */
    MOR_CUSTOM,     /* user-defined, see mor_custom_shape; one kind per library handle is appended from here on */
    MOR_SHAPE_KINDS
} mor_shape_kind;

/* Mass, centre of mass (shape frame) and inertia about it (shape axes). */
typedef struct mor_mass {
    double mass;      /* kg */
    mor_vec3 com;     /* m */
    mor_mat3 inertia; /* kg m^2; 2-D: only [2][2] counts */
} mor_mass;

/* An edge: its ends, and the faces to the left and right of tail -> head seen from outside. */
typedef struct mor_edge {
    int tail, head, left, right; /* numbers of two vertices and two faces */
} mor_edge;

/* Convex polyhedron with merged coplanar faces and full adjacency. Face loops are counter-clockwise
 * seen from outside; face f lies in the plane normal[f] . x = offset[f]. */
typedef struct mor_polyhedron {
    int vertex_count, edge_count, face_count; /* lengths of the arrays below */
    mor_vec3* vertices;                       /* shape frame */
    mor_edge* edges;                          /* every edge once */
    int* face_start;                          /* face_count + 1 offsets into face_vertices and face_edges */
    int* face_vertices;                       /* loop of vertices */
    int* face_edges;                          /* edge from the loop's k-th vertex to the next */
    mor_vec3* normals;                        /* unit, outward */
    double* offsets;                          /* of the faces' planes */
    int* vertex_start;                        /* vertex_count + 1 offsets into vertex_edges */
    int* vertex_edges;                        /* edges at each vertex */
    bool is_box;                              /* an axis-aligned box centred at the origin; half sizes below */
    mor_vec3 half;                            /* of a box; unused otherwise */
    int direction_count;                      /* of edges: parallel ones (to 1e-14) share one */
    mor_vec3* directions;                     /* unit */
    int* edge_direction;                      /* of each edge d, or ~d if it runs against directions[d] */
    int box_edges[3][2][2]; /* of a box: its edge along an axis, on the lower or upper side of the next two */
} mor_polyhedron;

/* Convex polygon or chain in the plane: points[i].z = 0; edge i goes from point i to point i+1
 * (polygons: cyclically) and has the outward unit normal normals[i]. */
typedef struct mor_polyline {
    int point_count, edge_count;     /* a chain has one edge less than points */
    mor_vec3* points;                /* in order */
    mor_vec3* normals;               /* of the edges */
    struct mor_chain_pieces* pieces; /* chains: cut into overlapping convex polygons, for exact contact */
} mor_polyline;

/* One convex polygon of a chain: points first ... first+count-1, walked with the solid on the right. Line i goes from
 * point i to the next (cyclically); the first `edges` lines are those of the segments edge, edge+1 ... of the chain,
 * then come the two sides and the floor between them. */
typedef struct mor_chain_piece {
    int first, count;   /* its points in the list of all pieces */
    int edge, edges;    /* its segments of the chain */
    mor_vec3 low, high; /* bounds */
} mor_chain_piece;

/* The convex polygons of a chain. */
typedef struct mor_chain_pieces {
    int count;                  /* of the pieces */
    mor_chain_piece* pieces;    /* along the chain */
    mor_vec3 *points, *normals; /* of all pieces */
} mor_chain_pieces;

/* A shape. Read only. */
typedef struct mor_geometry {
    mor_shape_kind kind;                   /* what it is */
    int dimension;                         /* 3 or 2 */
    double size[4];                        /* by kind, see mor_shape_kind */
    const mor_polyhedron* polyhedron;      /* MOR_POLYHEDRON */
    const mor_polyline* polyline;          /* MOR_POLYGON, MOR_CHAIN */
    mor_mass unit;                         /* mass properties at density 1 (2-D: per area); mass 0 for planes, chains */
    double radius;                         /* of the bounding sphere about the frame origin; inf for planes */
    const struct mor_custom_shape* custom; /* MOR_CUSTOM: its functions */
    void* user;                            /* MOR_CUSTOM: the caller's data */
    char label[32];                        /* what the user called it: "box", "prism", "mesh" ... */
    int references;                        /* owners; changed by retain and release only */
} mor_geometry;

/* What a custom shape must provide. Its collision tests are added to the pair table of a library. */
typedef struct mor_custom_shape {
    const char* name; /* for messages */
    /* Bounds in the world; called by the collision stage, on the thread that steps the world. */
    mor_aabb (*bounds)(const mor_geometry* geometry, const mor_pose* pose);
    void (*destroy)(void* user); /* called with the last release; may be NULL */
} mor_custom_shape;

/* Makers: NULL and a sentence on bad input (a size that is not positive and finite) or without memory. The result has
 * one reference. This one makes a sphere. */
MOR_API mor_geometry* mor_geometry_sphere(double radius, mor_error* error);
/* A sphere of radius 0: the vertex of a foot. No mass. */
MOR_API mor_geometry* mor_geometry_point(mor_error* error);
/* The half-space z <= 0 of its frame. */
MOR_API mor_geometry* mor_geometry_plane(mor_error* error);
MOR_API mor_geometry* mor_geometry_box(double x, double y, double z, mor_error* error); /* full edge lengths */
/* A cylinder of `length` between two half spheres, along z. */
MOR_API mor_geometry* mor_geometry_capsule(double radius, double length, mor_error* error);
/* sides 0: smooth; otherwise a prism with that many sides whose vertices lie on the circle, with the
 * prism's own mass properties. */
MOR_API mor_geometry* mor_geometry_cylinder(double radius, double length, int sides, mor_error* error);
/* A cone along z, its tip up; the frame's origin is the centre of mass. */
MOR_API mor_geometry* mor_geometry_cone(double radius, double height, mor_error* error);
/* An ellipsoid with semi-axes a, b, c along x, y, z, none more than 1000 times another. */
MOR_API mor_geometry* mor_geometry_ellipsoid(double a, double b, double c, mor_error* error);
/* Regular polyhedra "tetrahedron", "octahedron", "dodecahedron", "icosahedron"; give the edge length
 * or the circumradius, the other zero. (A cube is a box.) */
MOR_API mor_geometry* mor_geometry_platonic(const char* name, double edge, double radius, mor_error* error);
/* Convex hull of points (at least 4, not coplanar). */
MOR_API mor_geometry* mor_geometry_hull(const mor_vec3* points, int count, mor_error* error);
/* Closed convex mesh: face loops of vertex indices (0-based, concatenated, sizes in face_sizes),
 * counter-clockwise from outside. Duplicate vertices are welded, zero-area faces dropped, coplanar
 * faces merged, an inside-out mesh turned: each repair is told in `notes` (may be NULL). Open,
 * non-manifold and non-convex meshes are refused with a sentence that says where. */
MOR_API mor_geometry* mor_geometry_mesh(const mor_vec3* points, int point_count, const int* face_sizes,
                                        const int* face_vertices, int face_count, char* notes, size_t notes_size,
                                        mor_error* error);
/* 2-D: a point. A dynamic body made of it has no rotation; its mass must be given. */
MOR_API mor_geometry* mor_geometry_particle(mor_error* error);
/* 2-D: a disc. */
MOR_API mor_geometry* mor_geometry_disc(double radius, mor_error* error);
/* Convex. Clockwise points are turned (the first stays first), repeated and collinear ones left out. */
MOR_API mor_geometry* mor_geometry_polygon(const mor_vec3* points, int count, mor_error* error);
/* 2-D: an open or closed boundary of at least two points, solid on its right-hand side. Points that coincide and chains
 * that double back are refused. */
MOR_API mor_geometry* mor_geometry_chain(const mor_vec3* points, int count, mor_error* error);
/* A shape of the caller's: mass properties at density 1 and bounding radius are given. `custom` must outlive the
 * geometry; `user` belongs to it and is ended by custom->destroy. */
MOR_API mor_geometry* mor_geometry_custom(const mor_custom_shape* custom, void* user, const mor_mass* unit,
                                          double radius, int dimension, mor_error* error);
/* A copy with all lengths multiplied by s > 0 (mass properties by s^3, s^5; 2-D by s^2, s^4). */
MOR_API mor_geometry* mor_geometry_scaled(const mor_geometry* geometry, double s, mor_error* error);

/* One more owner; returns its argument. */
MOR_API mor_geometry* mor_geometry_retain(mor_geometry* geometry);
/* One owner less; the last one frees it. NULL is allowed. */
MOR_API void mor_geometry_release(mor_geometry* geometry);

/* Bounds in the world of a geometry placed at `pose`. */
MOR_API mor_aabb mor_geometry_bounds(const mor_geometry* geometry, const mor_pose* pose);
/* The farthest point in a direction, shape frame. Convex bounded kinds only. */
MOR_API mor_vec3 mor_geometry_support(const mor_geometry* geometry, mor_vec3 direction);

/* Mass properties of a union of parts given in one frame (overlaps count twice, as documented). */
MOR_API mor_mass mor_mass_combine(const mor_mass* parts, int count);
/* The same mass seen from the parent frame of `pose`. */
MOR_API mor_mass mor_mass_transform(const mor_mass* mass, const mor_pose* pose);
/* Positive mass, symmetric positive definite inertia, triangle inequality of the principal moments:
 * MOR_OK or a sentence with the numbers. */
MOR_API mor_code mor_mass_check(const mor_mass* mass, mor_error* error);
/* Principal moments (ascending) and the rotation from principal axes to the frame. */
MOR_API void mor_inertia_principal(const mor_mat3* inertia, double moments[3], mor_quat* axes);

/* Reads a mesh file (.poly .obj .stl .dae). Every object or group of the file is one convex piece;
 * pieces[0..*count) get one reference each, at most `capacity`. Truncated, empty and unknown files
 * are refused with file and line. `notes` as in mor_geometry_mesh. */
MOR_API mor_code mor_mesh_read(const char* path, double scale, mor_geometry** pieces, int capacity, int* count,
                               char* notes, size_t notes_size, mor_error* error);

/* How to take a file, bits for mor_mesh_read_as. */
typedef enum mor_mesh_flags {
    MOR_MESH_HULL = 1,     /* every piece becomes its convex hull: for collision files that are open or not convex */
    MOR_MESH_ONE_HULL = 4, /* all pieces together become one convex hull */
    MOR_MESH_KEEP_AXES = 2 /* COLLADA: ignore up_axis, as the viewers of URDF robots do and their files rely on */
} mor_mesh_flags;
/* mor_mesh_read is this with no flags. */
MOR_API mor_code mor_mesh_read_as(const char* path, double scale, unsigned flags, mor_geometry** pieces, int capacity,
                                  int* count, char* notes, size_t notes_size, mor_error* error);

/* How a solid that is not convex is cut into convex pieces. */
typedef struct mor_decompose_def {
    int pieces; /* at most; 1 to 1024 */
    double
        concavity; /* the goal: Hausdorff distance over the diagonal of the bounds, and volume added over the volume */
} mor_decompose_def;
/* 64 pieces, concavity 0.015. */
MOR_API mor_decompose_def mor_decompose_def_default(void);

/* What came of it. */
typedef struct mor_decomposition {
    int pieces;           /* how many */
    int triangles;        /* of the mesh, repaired */
    double volume;        /* of the mesh, m^3 */
    double pieces_volume; /* sum of the pieces' */
    double hausdorff;     /* distance of the union of the pieces from the solid, sampled, m */
    double diagonal;      /* of the bounds, m */
    bool reached;         /* the goal */
    bool cached;          /* read from a file */
} mor_decomposition;

/* An approximate convex decomposition of a closed surface that need not be convex: it may have holes through it,
 * cavities, several parts. pieces[0..report->pieces) get one reference each, at most `capacity`. The mass properties of
 * the pieces are those of the parts of the solid they stand for: their sum is that of the mesh. Small faults of the
 * mesh are repaired and told in `notes`; the same input gives the same bits. `def` NULL: the default; `report` may be
 * NULL. */
MOR_API mor_code mor_geometry_decompose(const mor_vec3* points, int point_count, const int* face_sizes,
                                        const int* face_vertices, int face_count, const mor_decompose_def* def,
                                        mor_geometry** pieces, int capacity, mor_decomposition* report, char* notes,
                                        size_t notes_size, mor_error* error);
/* The same for a mesh file, all its objects together. The pieces are kept in a file beside it, or in the user's cache
 * folder when that cannot be written, under a hash of mesh and settings, and read from there the next time. */
MOR_API mor_code mor_mesh_decompose(const char* path, double scale, unsigned flags, const mor_decompose_def* def,
                                    mor_geometry** pieces, int capacity, mor_decomposition* report, char* notes,
                                    size_t notes_size, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
