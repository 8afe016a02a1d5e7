/* A scene that runs in a thread of its own while browsers watch and command it. */
#ifndef MOREAU_SERVE_LIVE_H
#define MOREAU_SERVE_LIVE_H

#include "serve/frame.h"

typedef struct mor_live mor_live;

typedef struct mor_live_options {
    int threads; /* of the world */
    bool wait;   /* every frame reaches every browser: the simulation waits for them */
    bool paused; /* at the start */
} mor_live_options;

enum { MOR_LIVE_JOINTS = 128 };

/* What browsers are told about the run besides frames. */
typedef struct mor_live_state {
    uint64_t version; /* changes with everything below */
    bool running;
    char formulation[64], solver[64];
    char collision[64];
    double gravity, speed, step;
    double epsilon; /* of the collision method, negative: auto, NaN: it has none */
    int edits;      /* changes that a reset keeps */
    int joint_count;
    double joints[MOR_LIVE_JOINTS]; /* positions of the joints of the description, the first ones */
    double step_cpu, cpu;           /* processor time of the simulation's thread: inside of steps, and all of it [s] */
    char note[320];                 /* the last complaint, "" if none */
} mor_live_state;

/* Builds the world and starts the thread. The scene must outlive it. */
mor_live* mor_live_create(const mor_scene* scene, const mor_live_options* options, mor_error* error);
void mor_live_destroy(mor_live* live);
/* `wake` is called from the simulation's thread when there is something new. */
void mor_live_on_news(mor_live* live, void (*wake)(void* user), void* user);

/* These may be called from any thread. */

/* The description (JSON) is added to `out` if its number is larger than `seen`. Returns its number: 1, and one more
 * whenever bodies or their numbers are changed. */
uint64_t mor_live_description(mor_live* live, uint64_t seen, mor_bytes* out);
/* The newest frame as a message is added to `out` if its number is larger than `seen`. Returns the number of the newest
 * one; numbers count up by one. */
uint64_t mor_live_frame(mor_live* live, uint64_t seen, mor_bytes* out);
mor_live_state mor_live_get_state(mor_live* live);
/* Browsers come and go: how many are waited for. */
void mor_live_watchers(mor_live* live, int count);
/* One command of docs/viewer.md, e.g. "run", "solver pgs". Anything else is ignored. */
void mor_live_command(mor_live* live, const char* text, size_t length);

#endif
