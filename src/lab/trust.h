/* Where a simulation can be trusted: the same scene with other steps, tolerances, friction and initial velocities.
 *
 *     mor_error error = { 0 };
 *     mor_trust trust;
 *     mor_trust_options options = mor_trust_options_default();
 *     mor_code code = mor_trust_make(&trust, "scenes/bounce.yaml", &options, &error);
 *     if (!code) puts(trust.sentence);
 *     mor_trust_free(&trust);
 *
 * The reference is the run with the finest step. Another run agrees with it until the first time at which a body is
 * further from its place in the reference than `goal`; its contact sequence agrees until the first touch of a pair of
 * bodies that the other run has not at about the same time. The spread of a set of runs whose initial velocities differ
 * by a random part is the largest deviation of a body's position from its mean; the motion is predictable until the
 * spread of the smallest change exceeds the goal. */
#ifndef MOR_LAB_TRUST_H
#define MOR_LAB_TRUST_H

#include <stdio.h>

#include "lab/trial.h"

enum {
    MOR_TRUST_SAMPLES = 200,
    MOR_TRUST_BODIES = 100,
    MOR_TRUST_TOUCHES = 400,
    MOR_TRUST_RUNS = 128,
    MOR_TRUST_LEVELS = 4
};

typedef struct mor_trust_options {
    const mor_library* library;
    const char* const* set; /* "key=value" for all runs, NULL at the end; may be NULL */
    int jobs;
    int members;       /* runs of each change of the initial velocities, default 8 */
    double goal;       /* m; 0: a hundredth of the longest way of a body, or of the largest body */
    double time_limit; /* s of a run; 0: none */
    uint64_t seed;
    bool (*progress)(void* user, long done, long count);
    void* user;
} mor_trust_options;

mor_trust_options mor_trust_options_default(void);

typedef enum mor_trust_kind { MOR_TRUST_STEP, MOR_TRUST_TOLERANCE, MOR_TRUST_FRICTION, MOR_TRUST_START } mor_trust_kind;

/* One run and what became of it. */
typedef struct mor_trust_run {
    mor_trust_kind kind;
    double value;          /* step [s], tolerance, factor of friction, size of the change */
    int member;            /* MOR_TRUST_START: which of them */
    int status;            /* of a trial */
    double reached;        /* s */
    double agrees_until;   /* s, against the reference; the end: to the end */
    double sequence_until; /* s, the same for touches */
    double error;          /* m: largest distance of a body from the reference up to the end of the predictable time */
    double* error_at;      /* samples + 1: largest distance at each sample */
    int outcome;           /* class of its end: 0 is that of the reference */
} mor_trust_run;

/* Runs whose start differs by random parts of one size. */
typedef struct mor_trust_level {
    double size;    /* of the change: this part of the typical speed */
    double* spread; /* m, at each sample */
    double until;   /* s: when it exceeds the goal; the end: never */
    int outcomes;   /* different ends */
    int other;      /* members that end otherwise than the reference */
} mor_trust_level;

/* How a body ends, over the members of the largest change. */
typedef struct mor_trust_body {
    char name[64];
    double mean[3], deviation[3]; /* of the final position [m] */
    int resting, turned;          /* members that are at rest; that have turned over */
    bool rests, turns;            /* the reference */
} mor_trust_body;

typedef struct mor_trust {
    char scene[200];
    double end, step, goal, way, size,
        speed; /* way: longest way of a body [m]; size: of the largest [m]; speed [m/s] */
    mor_trust_run runs[MOR_TRUST_RUNS];
    int run_count;
    mor_trust_level levels[MOR_TRUST_LEVELS];
    int level_count;
    mor_trust_body* bodies;
    int body_count, members;
    double horizon; /* s: predictable until; the end: to the end */
    double growth;  /* 1/s: rate at which small changes grow; NAN: they do not */
    double
        largest_step; /* s: of those that agree to the horizon in motion and sequence, and so do all smaller; 0: none */
    bool stopped;
    char sentence[1200];
} mor_trust;

/* Runs everything. Bad input: the scene cannot be read. MOR_SYSTEM: no memory, no processes. */
mor_code mor_trust_make(mor_trust* trust, const char* scene, const mor_trust_options* options, mor_error* error);
void mor_trust_free(mor_trust* trust);

/* trust_page.c */
void mor_trust_write_json(const mor_trust* trust, FILE* out);
void mor_trust_write_html(const mor_trust* trust, FILE* out);
/* "step", "tolerance", "friction", "start". */
const char* mor_trust_kind_name(mor_trust_kind kind);

#endif
