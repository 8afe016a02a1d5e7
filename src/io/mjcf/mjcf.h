/* A MuJoCo model file (MJCF) as records, and as robots of a world.
 *
 * mor_mjcf_read gives the records, mor_mjcf_tree the model of each tree.
 *
 * A tree is what moves together: every body on a free joint with what it carries, and all bodies that are joined to the
 * world. Bodies that cannot move are no part of a tree; their shapes are fixed bodies of a world. */
#ifndef MOREAU_IO_MJCF_H
#define MOREAU_IO_MJCF_H

#include "io/xml/xml.h"
#include "moreau/robot.h"
#include "moreau/world.h"

enum { MOR_MJCF_HINGE, MOR_MJCF_SLIDE, MOR_MJCF_BALL, MOR_MJCF_FREE };
enum {
    MOR_MJCF_PLANE,
    MOR_MJCF_HFIELD,
    MOR_MJCF_SPHERE,
    MOR_MJCF_CAPSULE,
    MOR_MJCF_ELLIPSOID,
    MOR_MJCF_CYLINDER,
    MOR_MJCF_BOX,
    MOR_MJCF_MESH,
    MOR_MJCF_SDF
};

enum { MOR_MJCF_LEGACY, MOR_MJCF_EXACT, MOR_MJCF_CONVEX, MOR_MJCF_SHELL };

/* A mesh of the assets: triangles in its own frame, scaled. */
typedef struct mor_mjcf_mesh {
    const mor_xml* at;
    const char *name, *path;
    double scale[3];
    mor_pose reference; /* refpos, refquat */
    int inertia;        /* MOR_MJCF_LEGACY ... */
    bool loaded;
    mor_vec3* points;
    int* triangles; /* 3 per face, indices into points */
    float* spots;   /* places of their corners on a picture, 6 per face; NULL: none */
    int point_count, triangle_count;
    mor_geometry* hull; /* made when it is asked for */
} mor_mjcf_mesh;

/* A height field of the assets. */
typedef struct mor_mjcf_field {
    const mor_xml* at;
    const char *name, *path;
    double size[4]; /* half extents in x and y, height, base [m] */
    int rows, columns;
    double* heights; /* m, rows from the lowest y; NULL: not loaded yet */
} mor_mjcf_field;

typedef struct mor_mjcf_geom {
    const mor_xml* at;
    const char *name, *mesh, *field, *material;
    int body, type, contype, conaffinity, condim, priority, group;
    double size[3], friction[3], fromto[6], mass, density; /* mass NAN: by density */
    int size_count;
    bool has_fromto, has_rgba, shell;
    double rgba[4];
    mor_pose pose;                     /* in the body */
    uint64_t type_bits, affinity_bits; /* contype and conaffinity, and above them the bits of explicit pairs */
    mor_geometry* geometry;            /* NULL: not for contacts */
    int surface;                       /* its material (mor_mjcf_surface) */
    int place;                         /* number among the shapes of its link or fixed body */
} mor_mjcf_geom;

typedef struct mor_mjcf_joint {
    const mor_xml* at;
    const char* name;
    int body, type, limited; /* limited: 0 auto, 1 true, 2 false */
    mor_vec3 pos, axis;
    double range[2], ref, springref, stiffness, damping, friction, armature;
    double force_range[2];
    int force_limited;
    bool has_range, has_force_range;
    int tree, number; /* its first joint in s of the tree; -1: free */
    int address;      /* of its first number in qpos */
} mor_mjcf_joint;

typedef struct mor_mjcf_body {
    const mor_xml* at;
    const char* name;
    int parent, joint, joint_count; /* bodies before it; its joints are consecutive */
    mor_pose pose;                  /* in its parent */
    bool has_inertial, mocap;
    mor_mass mass; /* body frame */
    mor_quat axes; /* of its inertia, and the moments about them */
    double moments[3];
    double gravcomp;
    int tree, link;   /* -1: does not move; the link whose frame carries it */
    mor_pose in_link; /* its frame there, or in the world */
    int frame;        /* in the tree's model */
    int moving;       /* the nearest body at or above it that has joints, -1: none */
} mor_mjcf_body;

typedef struct mor_mjcf_site {
    const mor_xml* at;
    const char* name;
    int body;
    mor_pose pose;
    int frame;
} mor_mjcf_site;

/* A fixed tendon: length = sum coef position. A spatial one: a path over sites (mjcf_push.c). */
typedef struct mor_mjcf_tendon {
    const mor_xml* at;
    const char* name;
    int first, count; /* of its terms */
    bool spatial, limited;
    const mor_xml* wraps; /* the first geom it runs around, or NULL */
    double range[2], rest;
    bool has_range;
    double stiffness, damping, spring[2]; /* spring: dead band of the length at rest; NAN: as at the reference */
} mor_mjcf_tendon;

/* A joint of a fixed tendon; a site of a spatial one, or (site -1) a pulley with the divisor coef. */
typedef struct mor_mjcf_term {
    int joint;
    double coef;
    int site;
} mor_mjcf_term;

/* force = clamp(gain input + bias . (1, length, rate)); input: control or activation. */
typedef struct mor_mjcf_actuator {
    const mor_xml* at;
    const char* name;
    int joint, tendon, site; /* one of them at least 0 */
    double gear[6];
    int dyntype, gaintype, biastype; /* 0 none/fixed/none, 1 integrator/affine/affine, 2 filter, 3 filterexact */
    double gain[3], bias[3], time_constant;
    double control_range[2], force_range[2], act_range[2], inherit, dampratio;
    int control_limited, force_limited, act_limited; /* 0 auto, 1, 2 */
    bool has_control_range, has_force_range, has_act_range;
    const char* refused; /* what of it is not understood, or NULL */
    double control;      /* at the start */
} mor_mjcf_actuator;

typedef struct mor_mjcf_equality {
    const mor_xml* at;
    const char* name;
    int type;          /* 0 connect, 1 weld, 2 joint */
    int object[2];     /* bodies (0: the world) or joints (-1: none) */
    mor_pose frame[2]; /* what meets, in each body */
    double polynomial[5];
} mor_mjcf_equality;

typedef struct mor_mjcf_exclude {
    int body[2];
} mor_mjcf_exclude;

typedef struct mor_mjcf_pair {
    const mor_xml* at;
    int geom[2], condim; /* condim 0: of the geoms */
    double friction;     /* NAN: of the geoms */
} mor_mjcf_pair;

typedef struct mor_mjcf_key {
    const mor_xml* at;
    const char* name;
    double *qpos, *qvel, *ctrl; /* NULL: not given */
    int qpos_count, qvel_count, ctrl_count;
    double time;
} mor_mjcf_key;

typedef struct mor_mjcf_sensor {
    const mor_xml* at;
    const char* name;
    int kind;        /* mor_sensor_kind */
    int tree, frame; /* or */
    int joint;       /* number in s */
    double noise, threshold;
} mor_mjcf_sensor;

/* A kind of surface: what MuJoCo mixes friction from. */
typedef struct mor_mjcf_surface {
    double friction;
    int condim, priority;
    int pair; /* -1, or the geom it belongs to alone: of explicit pairs */
} mor_mjcf_surface;

/* What moves together. */
typedef struct mor_mjcf_tree {
    char name[MOR_NAME_SIZE];
    int root; /* body, -1: all that is joined to the world */
    bool floating;
    mor_robot_model* model;
    mor_pose base;  /* of the reference */
    double *s, *nu; /* the state at the start */
    mor_pose start;
} mor_mjcf_tree;

#define MOR_MJCF_LIST(type, name)                                                                                      \
    type* name;                                                                                                        \
    int name##_count, name##_room

struct mor_mjcf {
    mor_arena* arena;
    const char *path, *model;
    mor_error* error;
    char* notes;
    size_t notes_size, notes_length;
    /* compiler */
    bool degrees, autolimits, balance_inertia, strip_path, exact_mesh, discard_visual;
    int inertia_from_geom; /* 0 false, 1 true, 2 auto */
    double group_range[2], total_mass, bound_mass, bound_inertia;
    char euler[4];
    const char *mesh_dir, *texture_dir;
    /* option */
    mor_vec3 gravity, wind;
    double timestep, density, viscosity; /* s; kg/m^3 and Pa s of the fluid around */
    const mor_xml* ellipsoid;            /* a geom with the other model of the fluid */
    bool no_contact, no_limit, no_friction, no_equality, no_passive, no_actuation, no_filter_parent, no_gravity;
    bool sdf;                                /* read from an SDF file: of a pair the smaller friction counts */
    MOR_MJCF_LIST(const mor_xml*, defaults); /* <default> elements */
    MOR_MJCF_LIST(mor_mjcf_mesh, meshes);
    MOR_MJCF_LIST(mor_mjcf_field, fields);
    MOR_MJCF_LIST(const mor_xml*, materials); /* for the eye */
    MOR_MJCF_LIST(const mor_xml*, textures);
    MOR_MJCF_LIST(mor_mjcf_body, bodies);
    MOR_MJCF_LIST(mor_mjcf_joint, joints);
    MOR_MJCF_LIST(mor_mjcf_geom, geoms);
    MOR_MJCF_LIST(mor_mjcf_site, sites);
    MOR_MJCF_LIST(mor_mjcf_tendon, tendons);
    MOR_MJCF_LIST(mor_mjcf_term, terms);
    MOR_MJCF_LIST(mor_mjcf_actuator, actuators);
    MOR_MJCF_LIST(mor_mjcf_equality, equalities);
    MOR_MJCF_LIST(mor_mjcf_exclude, excludes);
    MOR_MJCF_LIST(mor_mjcf_pair, pairs);
    MOR_MJCF_LIST(mor_mjcf_key, keys);
    MOR_MJCF_LIST(mor_mjcf_sensor, sensors);
    MOR_MJCF_LIST(mor_mjcf_surface, surfaces);
    MOR_MJCF_LIST(mor_mjcf_tree, trees);
    MOR_MJCF_LIST(const char*, told); /* notes that were given already */
    int qpos_count;
    int key; /* the keyframe the state is of, -1: the reference */
};
typedef struct mor_mjcf mor_mjcf;

/* Reads a model. `shapes`: also what is needed for contacts. NULL and a sentence with file:line:column on bad input and
 * for what would change the motion and is not understood. `notes` (may be NULL): what is passed over, a line each. */
mor_mjcf* mor_mjcf_read(const char* path, bool shapes, char* notes, size_t notes_size, mor_error* error);
void mor_mjcf_destroy(mor_mjcf* mjcf);
/* Sets the state at the start: the keyframe of that name; NULL: "home" if there is one, else the reference;
 * "reference": that, unless a keyframe has the name. */
mor_code mor_mjcf_start(mor_mjcf* mjcf, const char* key, mor_error* error);
/* Leaves out contacts within a mechanism that overlaps at the start (overlap.c); told in `notes`. */
mor_code mor_mjcf_part(mor_mjcf* mjcf, char* notes, size_t notes_size, mor_error* error);
/* Reads the elements of a model, files that it includes and parts that stand there several times in their places. `at`
 * names it, NULL: it is the model itself. */
mor_code mor_mjcf_open(mor_mjcf* m, const mor_xml* at, const char* path, int depth, mor_xml** root);
/* Puts replicas and attached models where they are asked for (mjcf_copies.c). */
mor_code mor_mjcf_copy_parts(mor_mjcf* m, mor_xml* root, int depth);
/* The rotation of three angles, as the compiler says. */
mor_quat mor_mjcf_euler(const mor_mjcf* m, const double angles[3]);
/* Whether the first element of a file is <name>. */
bool mor_xml_begins(const char* path, const char* name);
/* An empty model of a file: a world body, no more. */
mor_mjcf* mor_mjcf_create(const char* path, char* notes, size_t notes_size, mor_error* error);
/* Masses, trees and, if asked for, shapes of a model whose records are there; the start. */
mor_code mor_mjcf_finish(mor_mjcf* mjcf, bool shapes);
/* Ends the reading: the model, or NULL after a failure. */
mor_mjcf* mor_mjcf_give(mor_mjcf* mjcf, mor_code code);
/* Whether a file begins as an MJCF model. */
bool mor_mjcf_is(const char* path);

/* Forces for the coming step that are not a controller's: of actuators on sites, spatial tendons, a fluid, gravcomp of
 * floating bodies (mjcf_push.c). Call it from the user stage; the trees are the world's robots `first`, `first` + 1 ...
 */
void mor_mjcf_apply(const mor_mjcf* mjcf, mor_world* world, int first, const mor_pose* offset);
/* Whether the model has such forces. */
bool mor_mjcf_pushes(const mor_mjcf* mjcf);
/* Length of a spatial tendon at the reference [m]. */
double mor_mjcf_rest_length(const mor_mjcf* mjcf, const mor_mjcf_tendon* tendon);

/* Adds all that is not a robot itself, after the robots: `robots` has the world's number of every tree; `offset` is
 * where the model's world frame is. Static shapes become fixed bodies "name/body". */
mor_code mor_mjcf_add(const mor_mjcf* mjcf, mor_world* world, const char* name, const int* robots,
                      const mor_pose* offset, mor_error* error);

/* Writes a world as an MJCF file. What is lost is told in `notes` (may be NULL); what has no counterpart is refused. */
mor_code mor_mjcf_write(const mor_world* world, const char* path, char* notes, size_t notes_size, mor_error* error);

/* ------------------------------------------------------------------------ inside the reader */

/* A zeroed record at the end of a list, or NULL with the sentence written. */
void* mor_mjcf_grow(mor_mjcf* m, void** items, int* count, int* room, size_t size);
#define MOR_MJCF_ADD(m, list)                                                                                          \
    mor_mjcf_grow(m, (void**)&(m)->list, &(m)->list##_count, &(m)->list##_room, sizeof *(m)->list)

/* A line of the notes; said once for each `what`. */
void mor_mjcf_note(mor_mjcf* m, const mor_xml* at, const char* what, const char* format, ...) MOR_PRINTF(4, 5);
/* Known attributes of an element: others are refused, those that soften contacts and the like are noted. */
mor_code mor_mjcf_check(mor_mjcf* m, const mor_xml* e, const char* known, const char* noted, const char* refused);
/* Elements of the class `name` (NULL: main) and of the classes above it, main first; their number. */
mor_code mor_mjcf_classes(mor_mjcf* m, const mor_xml* at, const char* name, const mor_xml** out, int room, int* count);
enum { MOR_MJCF_CLASSES = 32 };
/* The class an element has: its own, or that of the body around it. */
const char* mor_mjcf_class(const mor_xml* e, const char* around);

/* Orientation and position attributes of an element into *pose; what is not there stays. */
mor_code mor_mjcf_pose(mor_mjcf* m, const mor_xml* e, mor_pose* pose);
/* A word out of a list ("a|b|c") as a number; nothing happens when the attribute is not there. */
mor_code mor_mjcf_choice(mor_mjcf* m, const mor_xml* e, const char* name, const char* choices, int* out);
mor_code mor_mjcf_bool(mor_mjcf* m, const mor_xml* e, const char* name, bool* out);
mor_code mor_mjcf_number(mor_mjcf* m, const mor_xml* e, const char* name, double* out);

/* The elements of bodies, with the defaults of their classes. */
mor_code mor_mjcf_read_world(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_read_assets(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_read_actuators(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_read_tendons(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_read_equalities(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_read_contacts(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_read_keys(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_read_sensors(mor_mjcf* m, const mor_xml* e);

/* By name; -1: there is none. */
int mor_mjcf_find_body(const mor_mjcf* m, const char* name);
int mor_mjcf_find_joint(const mor_mjcf* m, const char* name);
int mor_mjcf_find_geom(const mor_mjcf* m, const char* name);
int mor_mjcf_find_site(const mor_mjcf* m, const char* name);
int mor_mjcf_find_tendon(const mor_mjcf* m, const char* name);
int mor_mjcf_find_actuator(const mor_mjcf* m, const char* name);
mor_mjcf_mesh* mor_mjcf_find_mesh(mor_mjcf* m, const char* name);

/* Where the file of an asset is: below `dir`, seen from the model. The name of a file without folder and ending. NULL:
 * out of memory. */
const char* mor_mjcf_asset_path(mor_mjcf* m, const char* dir, const char* file);
const char* mor_mjcf_stem(mor_mjcf* m, const char* file);
/* An <hfield> of the assets; a geom of type hfield as one geom for each of its pieces. */
mor_code mor_mjcf_read_field(mor_mjcf* m, const mor_xml* e);
mor_code mor_mjcf_cut_field(mor_mjcf* m, int geom);
/* Mass properties of a mesh at density 1, by one of MOR_MJCF_LEGACY ... */
mor_code mor_mjcf_mesh_mass(mor_mjcf* m, mor_mjcf_mesh* mesh, int inertia, mor_mass* out);
/* The triangles of a mesh. */
mor_code mor_mjcf_load_mesh(mor_mjcf* m, mor_mjcf_mesh* mesh);
/* Makes the convex hull of a mesh. */
mor_code mor_mjcf_hull(mor_mjcf* m, mor_mjcf_mesh* mesh);
/* An inertia as MuJoCo keeps it. */
void mor_mjcf_principal(mor_mat3* inertia);
/* Mass properties of all bodies. */
mor_code mor_mjcf_masses(mor_mjcf* m);
/* Sizes and poses from fromto, geometries of the shapes that touch. */
mor_code mor_mjcf_place_geoms(mor_mjcf* m);
mor_code mor_mjcf_shapes(mor_mjcf* m);
/* Trees and their models; then what speaks of links and numbers of joints. */
mor_code mor_mjcf_grow_trees(mor_mjcf* m);
mor_code mor_mjcf_resolve(mor_mjcf* m);

/* Where a body is in the world at the reference. */
mor_pose mor_mjcf_reference_pose(const mor_mjcf* m, int body);

#endif
