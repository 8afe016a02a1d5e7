/* The laboratory (library moreau-lab): recordings in HDF5. docs/recording.md is the reference.
 *
 * Threads: a recorder belongs to one world and is called by the thread that steps it. Nothing here is called by the
 * workers of a world. Functions return a mor_code and a sentence; they never print. */
#ifndef MOREAU_LAB_H
#define MOREAU_LAB_H

#include "moreau/moreau.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mor_recorder mor_recorder;

/* Creates FILE.h5 (SWMR: readable while written, and after kill -9 up to the last flush). Refuses to
 * overwrite a file that is not a Moreau recording. The recorder belongs to the caller (mor_recorder_close); world and
 * scene must outlive it. */
MOR_API mor_recorder* mor_recorder_open(const char* path, const mor_world* world, const mor_scene* scene,
                                        mor_error* error);
/* An observer: mor_world_add_observer(world, mor_recorder_observe, recorder, &error). Frames are written in batches. */
MOR_API void mor_recorder_observe(void* recorder, const mor_world* world, const mor_step_report* report);
/* MOR_OK, or the first failure so far: a long run asks after every step whether the disk is full. mor_recorder_close
 * tells it too. */
MOR_API mor_code mor_recorder_state(const mor_recorder* recorder, mor_error* error);
/* Writes what is left, closes and frees the recorder. Any write error that happened since opening is reported here. */
MOR_API mor_code mor_recorder_close(mor_recorder* recorder, mor_error* error);

/* A measure of one's own for `moreau sweep`: a function of this type in a shared object, named in the plan
 * (docs/sweep.md). Called once at the end of every run, in several processes at once; the world may be asked, not
 * changed. NaN: there is no such number. */
typedef double (*mor_measure_function)(mor_world* world, const mor_run_summary* summary);

/* A value of an engine: what a plan calls engine.NAME. */
typedef struct mor_engine_value {
    const char* name; /* NAME */
    double value;     /* in the engine's own unit */
} mor_engine_value;

/* Another simulator as a method of `moreau calibrate`: the function `moreau_engine` of a shared object that a plan
 * names (docs/calibrate.md). It takes masses, states, gravity and step from `world`, which it must not change, and
 * writes the pose (frame of the body) of body b at times[k] [s, from the start] to poses[b * time_count + k].
 * Called by several threads at once. Anything but MOR_OK: the run failed; a sentence goes to `error`. */
typedef mor_code (*mor_engine_function)(const mor_world* world, const mor_body_id* bodies, int body_count,
                                        const double* times, int time_count, const mor_engine_value* values,
                                        int value_count, mor_pose* poses, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
