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
    double angle;           /* planar: unbounded rotation */
    mor_vec3 v, w;          /* start of the step, world */
    mor_vec3 L;             /* angular momentum, world */
    mor_vec3 force, torque; /* for the step, gravity included, gyroscopic terms not */
    double velocity[6];     /* end of the step, in frames with an answer */
    double free[6];         /* velocity without contacts and joints: forces and gyroscopic terms of the step */
    mor_mat3 free_inertia;  /* that the impulses act on, world axes: of the middle of the step */
    int tree;               /* index in the frame's trees; -1: none, or the frame has no trees */
    int link;               /* of an articulated tree: its block in link_jacobian; -1: a body of its own */
} mor_bpmd_body;

typedef struct mor_bpmd_contact {
    int body[2];       /* index in the frame's bodies; -1 the world */
    mor_vec3 point[2]; /* on each body, world */
    mor_vec3 normal;   /* from body[0] to body[1] */
    double gap, friction, restitution;
    double friction_2;         /* second column of the file; the same where there is one friction law */
    int stick;                 /* the stored answer: 1 sticks, 0 slides, -1 open */
    double epsilon;            /* of its pair of shapes; negative: the frame's */
    double recovery;           /* fastest speed at which penetration is undone [m/s]; infinite: within one step */
    mor_vec3 surface_velocity; /* of body[1]'s surface relative to body[0]'s, beyond rigid motion */
    int group, plane;
    int shape[2];
    uint64_t feature;
    bool held;         /* exact geometry: the pair was left on this plane by the last step */
    double guess[3];   /* starting impulses in rows n, t, o */
    double impulse[3]; /* the stored answer */
} mor_bpmd_contact;

typedef enum mor_bpmd_constraint_kind {
    MOR_BPMD_EQUATION, /* J v + bias = 0 */
    MOR_BPMD_BOUNDED,  /* lower <= p <= upper: limits, motors, dry friction */
    MOR_BPMD_LINK      /* equations of a robot's own joint: part of its tree in minimal coordinates, rows in maximal
                          ones */
} mor_bpmd_constraint_kind;

typedef struct mor_bpmd_constraint {
    mor_bpmd_constraint_kind kind;
    int body[2]; /* index in the frame's bodies; -1 the world */
    int row, rows;
} mor_bpmd_constraint;

typedef struct mor_bpmd_row {
    /* on the velocities of both bodies: linear, angular, linear, angular; NAN: has no such form */
    double body[12];
    int start, count;       /* on generalised velocities: columns and values of the frame */
    double violation, bias; /* bias: as the run used it, stabilisation included */
    double lower, upper, guess, impulse;
} mor_bpmd_row;

typedef struct mor_bpmd_tree {
    int dof;
    bool articulated; /* several bodies, mass and Jacobians as stored; else one body */
    int q, q_count;   /* in the frame's q: base position, quaternion (floating), joints */
} mor_bpmd_tree;

/* What a line of iterates holds: the number within its solve; the totals of eqs. 16 and 17 of the paper; the natural
 * map; largest errors of a contact; slip speed times friction impulse (docs/notation.md). */
enum {
    MOR_BPMD_ITERATION,
    MOR_BPMD_FB,
    MOR_BPMD_CCK,
    MOR_BPMD_NATURAL,
    MOR_BPMD_NORMAL,
    MOR_BPMD_FRICTION,
    MOR_BPMD_POWER,
    MOR_BPMD_MEASURES
};

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
    /* worlds with joints or robots; all counts 0 and all arrays NULL otherwise */
    int tree_count, dof, constraint_count, row_count, link_count, q_count;
    mor_bpmd_tree* trees;
    mor_bpmd_constraint* constraints;
    mor_bpmd_row* rows;
    int* columns;
    double* values;
    double* mass;                  /* dof x dof per articulated tree, row-major, in tree order */
    double *nu, *nu_free, *nu_new; /* dof; nu_new: the stored answer */
    double* q;
    /* per link of an articulated tree 6 x dof: velocity of the centre of mass, angular velocity */
    double* link_jacobian;
    int *contact_p, *contact_columns; /* contact rows n, t, o on generalised velocities, compressed rows; for readers of
                                         the file */
    double* contact_values;
    bool maximal;            /* set it before mor_bpmd_world: links as free bodies, their joints as rows */
    const mor_world* shapes; /* set it before mor_bpmd_world: bodies get the shapes of this world (mor_bpmd_shapes);
                                NULL: none */
    bool answered;           /* velocities and impulses below are those of the run that stored it */
    char formulation[32], solver[32];
    int status, iterations;
    double velocity_error;
    /* the stored answer: sums over the islands, largest (docs/notation.md) */
    double total_fb, total_cck, natural, friction_power, normal_error, friction_error;
    /* Every iterate of the run that stored it, the answer last; one line without --bpmd-iterations. Islands together:
     * one that has ended stays as it is. */
    int line_count;
    double* lines;          /* line_count x MOR_BPMD_MEASURES */
    signed char* states;    /* line_count x contact_count: 1 sticks, 0 slides, -1 open, -2 not told */
    char stored_by[64];     /* not "": impulses are those of another program, under this name */
    bool stored_velocities; /* they are not impulses but the velocities of the bodies at the end */
    char notes[3000];       /* what the reader found to deviate from the format, a line each, with the dataset's path */
} mor_bpmd_frame;

/* Half edges along the axes of q of the box with the mass and moments of inertia of a body, for pictures; zeros for one
 * that does not move. */
mor_vec3 mor_bpmd_half_edges(const mor_bpmd_body* body);

/* Frees the arrays. */
void mor_bpmd_frame_clear(mor_bpmd_frame* frame);

/* ------------------------------------------------------------------------------- writing */

typedef struct mor_bpmd_recorder mor_bpmd_recorder;

/* Watches `world` and writes every `every`-th step to a new file; an existing one is refused. The file on disk is a
 * complete HDF5 file at every instant: batches are appended to a copy that then takes its name, so whatever
 * kills the process, all written frames stay. Takes the world's user stage and one observer; close it before the world
 * is destroyed. */
mor_bpmd_recorder* mor_bpmd_record(const char* path, mor_world* world, const mor_scene* scene, int every,
                                   mor_error* error);
/* The same in the names of the paper (bpmd_paper.c). */
mor_bpmd_recorder* mor_bpmd_record_paper(const char* path, mor_world* world, const mor_scene* scene, int every,
                                         mor_error* error);
/* Keeps only steps in [from, to] and writes them all at the end, so that the bytes do not depend on the speed of the
 * machine. */
void mor_bpmd_record_range(mor_bpmd_recorder* recorder, int from, int to);
/* When *flag becomes other than 0, frames that wait are not written any more; closing says so (MOR_STOPPED). */
void mor_bpmd_record_interrupt(mor_bpmd_recorder* recorder, const volatile int* flag);
/* Keeps up to `most` iterates of every step that is written, the answer among them (0: the answer alone): their
 * errors and the state of every contact, at most MOR_BPMD_STATES of these per frame. Judging an iterate costs about a
 * sweep. */
enum { MOR_BPMD_ITERATIONS = 1000, MOR_BPMD_STATES = 4000000 };
void mor_bpmd_record_iterations(mor_bpmd_recorder* recorder, int most);
/* MOR_OK, or the first failure so far. */
mor_code mor_bpmd_state(const mor_bpmd_recorder* recorder, mor_error* error);
/* Writes what is left. Any error since the opening is told here. */
mor_code mor_bpmd_close(mor_bpmd_recorder* recorder, mor_error* error);

/* What /meta says of the run. */
typedef struct mor_bpmd_meta {
    const char *scene_name, *scene_text;
    const char *formulation, *solver, *collision;
    const char *formulation_options, *solver_options; /* "name=value ..." */
    mor_vec3 gravity;
    int dimension;
    const char *scene_file, *scene_overrides; /* how the scene was read; may be NULL */
    bool paper;                               /* frames in the names of the paper, no /meta */
} mor_bpmd_meta;

/* The two steps of the recorder, for other sources of frames. mor_bpmd_append numbers frames from `first` (from 1). */
mor_code mor_bpmd_create(const char* path, const mor_bpmd_meta* meta, mor_error* error);
mor_code mor_bpmd_append(const char* path, const mor_bpmd_frame* frames, int count, int first, mor_error* error);
/* The same; MOR_STOPPED, and the file as it was, when *flag becomes other than 0. flag may be NULL. */
mor_code mor_bpmd_append_until(const char* path, const mor_bpmd_frame* frames, int count, int first,
                               const volatile int* flag, mor_error* error);

/* ------------------------------------------------------------------------------- reading */

typedef enum mor_bpmd_dialect {
    MOR_BPMD_MOREAU,
    MOR_BPMD_GAZEBO, /* ODE's contact normals point into body 1 */
    MOR_BPMD_PAPER   /* names of Table 2; contact points from the centre of mass of body 1 */
} mor_bpmd_dialect;

typedef struct mor_bpmd mor_bpmd;

/* NULL and a sentence with the path of the object for files that are no BPMD files. */
mor_bpmd* mor_bpmd_open(const char* path, mor_error* error);
/* The same for a process that may die: a damaged file on which HDF5 crashes is not looked for beforehand. */
mor_bpmd* mor_bpmd_open_again(const char* path, mor_error* error);
void mor_bpmd_free(mor_bpmd* file);
mor_bpmd_dialect mor_bpmd_get_dialect(const mor_bpmd* file);
int mor_bpmd_count(const mor_bpmd* file);
/* The scene that made it; "" if it is not told. */
const char* mor_bpmd_scene_text(const mor_bpmd* file);
/* An attribute of /meta as text ("" if absent): "solver_options" ... */
void mor_bpmd_meta_text(const mor_bpmd* file, const char* name, char* text, size_t size);
/* Reads and checks one frame. Errors name the dataset. Clear it afterwards. */
mor_code mor_bpmd_read(const mor_bpmd* file, int index, mor_bpmd_frame* frame, mor_error* error);

/* ---------------------------------------------------------------------------- rebuilding */

/* A world in the state of the frame, its systems assembled (mor_world_system), starting impulses as stored. `order`
 * (contact_count, may be NULL): the frame's contact behind each of the world's. */
mor_world* mor_bpmd_world(const mor_bpmd_frame* frame, const mor_library* library, int* order, mor_error* error);
/* The world of the file's scene, for `shapes`; NULL if the scene cannot be read here or has other bodies. */
mor_world* mor_bpmd_shapes(const mor_bpmd* file, const mor_library* library);

/* Writes a recording (io/recording/recording.h) to `path`, which is not there or empty: frame `only` counted from 0, or
 * all if that is negative; `kept`: how many were written (bpmd_recording.c). */
mor_code mor_bpmd_to_recording(const mor_bpmd* file, int only, const mor_library* library, const char* path, int* kept,
                               mor_error* error);

/* What only the start of the step knows (bpmd_trees.c). */
typedef struct mor_bpmd_joint_rows {
    int body[2]; /* slots; -1 the world */
    int count;
    double row[6][12], phi[6];
    bool has_free; /* one-dof joints: the row of the coordinate */
    double free[12];
} mor_bpmd_joint_rows;
typedef struct mor_bpmd_lines { /* iterates of one island (bpmd_follow.c) */
    int count, capacity, contacts;
    double* values;      /* count x MOR_BPMD_MEASURES */
    signed char* states; /* count x contacts */
} mor_bpmd_lines;
typedef struct mor_bpmd_start {
    double *bias, *guess; /* of one island, as handed to the formulation last */
    int rows;
    mor_bpmd_lines lines; /* of the solves since then */
} mor_bpmd_start;
typedef struct mor_bpmd_before {
    mor_bpmd_body* bodies; /* in world order */
    int count;
    int joint_count, link_count, tree_count, q_count;
    mor_bpmd_joint_rows* joints; /* of the world's joints, then of the robots' in order */
    double *link_jacobian, *mass, *q;
    mor_bpmd_start* islands; /* room for one per tree */
    int island_room;
} mor_bpmd_before;

/* The state of all bodies now: at the user stage, before the step. */
mor_code mor_bpmd_capture_bodies(const mor_world* world, mor_bpmd_before* before);
mor_code mor_bpmd_capture_trees(const mor_world* world, mor_bpmd_before* before);
/* What an island is solved from. */
void mor_bpmd_capture_start(const mor_world* world, const mor_system* system, const mor_answer* answer,
                            mor_bpmd_before* before);
/* The formulation's step on an island, `most` of its iterates followed into `before`. */
mor_report mor_bpmd_follow(const mor_world* world, const mor_system* system, mor_solve_stage* stage, mor_answer* answer,
                           int most, mor_bpmd_before* before);
/* Lines of all islands into the frame, whose contacts and errors of the answer are there. */
mor_code mor_bpmd_capture_lines(const mor_world* world, const mor_bpmd_before* before, mor_bpmd_frame* frame);
void mor_bpmd_before_clear(mor_bpmd_before* before);
/* The frame of a step that has been made: what mor_bpmd_world inverts. */
mor_code mor_bpmd_capture(const mor_world* world, const mor_bpmd_before* before, mor_bpmd_frame* frame);
mor_code mor_bpmd_capture_rows(const mor_world* world, const mor_bpmd_before* before, mor_bpmd_frame* frame);
/* Gives a world under construction its stored trees and rows. `bodies`: frame body -> slot. */
mor_code mor_bpmd_store(mor_world* world, const mor_bpmd_frame* frame, mor_error* error);
mor_code mor_bpmd_store_rows(mor_world* world, const mor_bpmd_frame* frame, mor_error* error);

#endif
