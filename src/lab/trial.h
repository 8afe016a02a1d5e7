/* One run of a scene in this process: values in, measures out.
 *
 *     mor_error error = { 0 };
 *     mor_trial trial;
 *     mor_code code = mor_trial_open(&trial, "scenes/bounce.yaml", NULL, &error);
 *     const char* set[] = { "time.step=0.001", "materials.rubber.restitution=0.5", NULL };
 *     mor_trial_result result = { 0 };
 *     if (!code) code = mor_trial_run(&trial, set, &result, &error);
 *     mor_trial_close(&trial);
 *
 * The file is read once; what it includes and its meshes are read in every run. Runs of one trial are independent of
 * each other and give the bits of `moreau run` with the same values after --set. */
#ifndef MOR_LAB_TRIAL_H
#define MOR_LAB_TRIAL_H

#include "lab/hash.h"
#include "lab/measure.h"
#include "moreau/scene.h"

/* How a trial ended: the words of a run, and three more. */
enum { MOR_TRIAL_REFUSED = MOR_RUN_APPROXIMATE + 1, MOR_TRIAL_CRASHED, MOR_TRIAL_TIME_LIMIT, MOR_TRIAL_STATUSES };
/* "ok" ... "approximate" (mor_run_status_name), "refused": the scene does not take these values, "crashed": its process
 * ended, "time_limit". */
const char* mor_trial_status_name(int status);
/* The number of such a word, -1: none of them. */
int mor_trial_status_of(const char* name);

typedef struct mor_trial {
    char file[4096]; /* of the scene, as found */
    char* text;      /* what it holds; NULL: a model in XML, read in every run */
    size_t length;
    struct mor_scene_template* parsed; /* NULL: it is not YAML, which every run says */
    uint64_t hash;                     /* of the file's bytes */
    const mor_library* library;
    const mor_measure* measures; /* borrowed */
    int measure_count;
    const double* times; /* of "samples" in the document [s], ascending; borrowed */
    int time_count;
} mor_trial;

typedef struct mor_trial_result {
    int status; /* mor_run_status or one of the above */
    uint64_t state_hash;
    double* values;   /* one for each measure, given by the caller; NAN: there is none */
    char detail[200]; /* of what went wrong; "": nothing */
} mor_trial_result;

/* Finds and reads the scene. `library` NULL: the built-in methods. Sets measures and times to none. */
mor_code mor_trial_open(mor_trial* trial, const char* scene, const mor_library* library, mor_error* error);
void mor_trial_close(mor_trial* trial);

/* One run with these "key=value" in front, NULL at the end. A scene that refuses the values is a result, not an error.
 * MOR_SYSTEM: out of memory. */
mor_code mor_trial_run(const mor_trial* trial, const char* const* overrides, mor_trial_result* result,
                       mor_error* error);
/* Whether the scene takes the values, and every measure is there, without a step. *measure: which one is not, -1 when
 * it is the scene. */
mor_code mor_trial_check(const mor_trial* trial, const char* const* overrides, int* measure, mor_error* error);
/* A world of the scene with these values. The caller destroys both, the world first. NULL: the values are refused. */
mor_world* mor_trial_world(const mor_trial* trial, const char* const* overrides, mor_scene** scene, mor_error* error);

#endif
