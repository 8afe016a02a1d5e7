/* Writes the frames of a recording from plain arrays: the layer under mor_recorder, which only copies
 * a world into it. docs/recording.md is the reference of the format.
 *
 *     mor_error error = { 0 };
 *     mor_frames_def def = { .scene_name = "", .scene_text = "" }; // and the rest of it
 *     mor_frames* frames = mor_frames_create("run.h5", &def, &error);
 *     double *pose, *velocity;
 *     mor_frame* f = mor_frames_begin(frames, 0, &pose, &velocity);
 *     f->time = 0.01; // fill f, pose (bodies x 7), velocity (bodies x 6); call mor_frames_contact for each contact
 *     mor_frames_end(frames);
 *     mor_frames_close(frames, &error); */
#ifndef MOR_IO_FRAMES_H
#define MOR_IO_FRAMES_H

#include "io/scene/scene_visual.h"
#include "model/joint_places.h"
#include "moreau/control.h"

#define MOR_RECORDING_FORMAT "moreau recording"
#define MOR_RECORDING_VERSION 1
#define MOR_RECORDING_NAME 64 /* bytes of a body name */

typedef struct mor_frames mor_frames;

typedef struct mor_frames_body {
    char name[MOR_RECORDING_NAME];
    mor_body_kind kind;
    mor_mass mass; /* com and inertia in the body frame */
    mor_vec3 surface_velocity;
} mor_frames_body;

typedef struct mor_frames_shape {
    int body;
    const mor_geometry* geometry; /* read during mor_frames_create only */
    mor_pose pose;                /* in the body frame */
} mor_frames_shape;

typedef struct mor_frames_def {
    const char *scene_name, *scene_text; /* "" if none */
    const char* ground;                  /* how it is drawn (scene_visual.h), NULL: not said */
    const char *formulation, *solver, *collision, *integrator, *stabilisation;
    double step; /* h at the start [s] */
    int dimension;
    mor_vec3 gravity;
    int every;     /* a frame is every k-th step */
    bool contacts; /* contacts are recorded one by one, not only their totals */
    int body_count;
    const mor_frames_body* bodies;
    int shape_count;
    const mor_frames_shape* shapes;
    int channel_count;
    const mor_bus_channel* channels; /* of the output bus: datasets /bus/NAME */
    int joint_count;
    const mor_joint_place* joints;
    const mor_visuals* visuals; /* NULL: none */
    const double* colors;       /* body_count x 4; NULL: none */
} mor_frames_def;

/* The numbers of one frame; columns of the same names in the file. */
typedef struct mor_frame {
    int step_number;
    double time, step_size;
    double kinetic, potential, total;
    double correction_work, contact_work, applied_work; /* since the frame before */
    double penetration;
    int status, iterations, contacts, islands, problem_size;
    int failures; /* since the frame before */
    double residual, velocity_error;
    double joint_error;
    mor_timing timing;
    double normal_total, normal_max, friction_total; /* impulses [N s] */
    int contact_count;                               /* filled by mor_frames_contact */
    int64_t contact_start;                           /* filled by mor_frames_begin */
} mor_frame;

/* Makes the file without frames, whole and synced, and opens it in SWMR mode: from then on `path` is a
 * readable recording at every instant. An existing file is replaced only if it is a Moreau recording
 * (or empty). NULL and a sentence on failure. */
mor_frames* mor_frames_create(const char* path, const mor_frames_def* def, mor_error* error);
/* The next frame, zeroed. `contact_count`: how many mor_frames_contact calls will follow at most. */
mor_frame* mor_frames_begin(mor_frames* frames, int contact_count, double** pose, double** velocity);
/* Where the numbers of a channel go in the frame that was begun. */
double* mor_frames_channel(mor_frames* frames, int channel);
/* Room for the positions of the frame's joints (def.joint_count). */
double* mor_frames_joints(mor_frames* frames);
/* `body`: indices of the two bodies in the recording, -1 for one that is not in it. */
void mor_frames_contact(mor_frames* frames, const mor_contact* contact, const int body[2]);
/* Ends the frame; writes and flushes when a batch is full or half a second has passed. */
void mor_frames_end(mor_frames* frames);
/* Writes what is in the batch now. */
void mor_frames_flush(mor_frames* frames);
/* Frames that are in the file for good: they survive kill -9. */
int64_t mor_frames_flushed(const mor_frames* frames);
/* MOR_OK, or the first failure so far. */
mor_code mor_frames_state(const mor_frames* frames, mor_error* error);
/* Writes the rest and closes. The first failure since the file was made is told here. */
mor_code mor_frames_close(mor_frames* frames, mor_error* error);

#endif
