/* BPMD files: Benchmark Problems for Multibody Dynamics, one HDF5 group per time step with all that is needed
 * to build the step's problem in any formulation (docs/bpmd.md).
 *
 * A frame is the state of a step before its solve: bodies, forces, contacts, starting impulses; with the
 * answer of the run that stored it, if there is one. Writing: a recorder watches a world. Reading: our own files,
 * those of the ODE fork inside Gazebo, and the names of the paper. Rebuilding: a world that holds the frame's
 * bodies and contacts without shapes, assembled by the same code as every step.
 *
 * Y. Lu, J. Williams, J. Trinkle, C. Lacoursiere (2014), A framework for problem standardization and algorithm
 * comparison in multibody system, DETC2014-35041, Table 2. */
#ifndef MOR_IO_BPMD_H
#define MOR_IO_BPMD_H

#include "moreau/scene.h"

typedef struct mor_bpmd_body {
    int id; /* as in the file, from 1 */
    mor_body_kind kind;
    int dof; /* 6 in space, 3 in the plane, 2 for a particle, 0 if it is not dynamic */
    double mass;
    mor_mat3 inertia; /* about the centre of mass, axes of q */
    mor_vec3 x;       /* centre of mass */
    mor_quat q;
    double angle;     /* planar: unbounded rotation */
    mor_vec3 v, w;    /* start of the step, world */
    mor_vec3 L;       /* angular momentum, world */
    mor_vec3 force, torque; /* for the step, gravity included, gyroscopic terms not */
    double velocity[6];     /* end of the step, in frames with an answer */
} mor_bpmd_body;

typedef struct mor_bpmd_contact {
    int body[2];       /* index in the frame's bodies; -1 the world */
    mor_vec3 point[2]; /* on each body, world */
    mor_vec3 normal;   /* from body[0] to body[1] */
    double gap, friction, restitution;
    mor_vec3 surface_velocity; /* of body[1]'s surface relative to body[0]'s, beyond rigid motion */
    int group, plane;
    double guess[3];   /* starting impulses in rows n, t, o */
    double impulse[3]; /* the stored answer */
} mor_bpmd_contact;

typedef struct mor_bpmd_frame {
    char name[64];
    int step;
    double time, h;
    int dimension;
    mor_vec3 gravity;
    double v_rest, epsilon;
    int directions, friction_align;
    int body_count, contact_count;
    mor_bpmd_body* bodies;
    mor_bpmd_contact* contacts;
    bool answered; /* velocities and impulses below are those of the run that stored it */
    char formulation[32], solver[32];
    int status, iterations;
    double velocity_error;
} mor_bpmd_frame;

/* Frees the arrays. */
void mor_bpmd_frame_clear(mor_bpmd_frame* frame);

/* ------------------------------------------------------------------------------- writing */

typedef struct mor_bpmd_recorder mor_bpmd_recorder;

/* Watches `world` and writes every `every`-th step to a new file; an existing one is refused. The file on disk is a
 * complete HDF5 file at every instant: batches are appended to a copy that then takes its name, so whatever
 * kills the process, all written frames stay. Takes the world's user stage and one observer; close it before the world is
 * destroyed. */
mor_bpmd_recorder* mor_bpmd_record(const char* path, mor_world* world, const mor_scene* scene, int every, mor_error* error);
/* Keeps only steps in [from, to] and writes them all at the end, so that the bytes do not depend on the speed of the machine. */
void mor_bpmd_record_range(mor_bpmd_recorder* recorder, int from, int to);
/* Writes what is left. Any error since the opening is told here. */
mor_code mor_bpmd_close(mor_bpmd_recorder* recorder, mor_error* error);

/* What /meta says of the run. */
typedef struct mor_bpmd_meta {
    const char *scene_name, *scene_text;
    const char *formulation, *solver, *collision;
    const char *formulation_options, *solver_options; /* "name=value ..." */
    mor_vec3 gravity;
    int dimension;
} mor_bpmd_meta;

/* The two steps of the recorder, for other sources of frames. mor_bpmd_append numbers frames from `first` (from 1). */
mor_code mor_bpmd_create(const char* path, const mor_bpmd_meta* meta, mor_error* error);
mor_code mor_bpmd_append(const char* path, const mor_bpmd_frame* frames, int count, int first, mor_error* error);

/* ------------------------------------------------------------------------------- reading */

typedef enum mor_bpmd_dialect {
    MOR_BPMD_MOREAU,
    MOR_BPMD_GAZEBO, /* ODE's contact normals point into body 1 */
    MOR_BPMD_PAPER   /* names of Table 2; contact points from the centre of mass of body 1 */
} mor_bpmd_dialect;
const char* mor_bpmd_dialect_name(mor_bpmd_dialect dialect);

typedef struct mor_bpmd mor_bpmd;

/* NULL and a sentence with the path of the object for files that are no BPMD files. */
mor_bpmd* mor_bpmd_open(const char* path, mor_error* error);
void mor_bpmd_free(mor_bpmd* file);
mor_bpmd_dialect mor_bpmd_get_dialect(const mor_bpmd* file);
int mor_bpmd_count(const mor_bpmd* file);
const char* mor_bpmd_frame_name(const mor_bpmd* file, int index);
/* The scene that made it; "" if it is not told. */
const char* mor_bpmd_scene_name(const mor_bpmd* file);
const char* mor_bpmd_scene_text(const mor_bpmd* file);
/* An attribute of /meta as text ("" if absent): "solver_options" ... */
void mor_bpmd_meta_text(const mor_bpmd* file, const char* name, char* text, size_t size);
/* Reads and checks one frame. Errors name the dataset. Clear it afterwards. */
mor_code mor_bpmd_read(const mor_bpmd* file, int index, mor_bpmd_frame* frame, mor_error* error);

/* ---------------------------------------------------------------------------- rebuilding */

/* A world in the state of the frame, its systems assembled (mor_world_system), starting impulses as stored. `order`
 * (contact_count, may be NULL): the frame's contact behind each of the world's. */
mor_world* mor_bpmd_world(const mor_bpmd_frame* frame, const mor_library* library, int* order, mor_error* error);
/* The frame of a world whose systems are assembled: what mor_bpmd_world inverts. `before` is the state at the user
 * stage (bodies in world order), see the recorder. */
mor_code mor_bpmd_capture(const mor_world* world, const mor_bpmd_body* before, int before_count, mor_bpmd_frame* frame);
/* The state of all bodies now. */
mor_code mor_bpmd_capture_bodies(const mor_world* world, mor_bpmd_body** bodies, int* count);

#endif
