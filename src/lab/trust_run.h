/* One run of `moreau trust`: what is kept of it. */
#ifndef MOR_LAB_TRUST_RUN_H
#define MOR_LAB_TRUST_RUN_H

#include "lab/trust.h"

/* Begin of a touch. */
typedef struct mor_trust_touch {
    double time;
    int pair; /* first body x all bodies + second */
} mor_trust_touch;

/* What comes back from a process; the positions follow: (samples + 1) x bodies x 3 numbers. */
typedef struct mor_trust_record {
    int status, touch_count;
    double reached; /* s */
    double step;    /* s */
    bool rests[MOR_TRUST_BODIES], turned[MOR_TRUST_BODIES];
    mor_trust_touch touches[MOR_TRUST_TOUCHES];
    double positions[];
} mor_trust_record;

/* Bodies that can move, at most MOR_TRUST_BODIES; returns how many. */
int mor_trust_bodies(const mor_world* world, mor_body_id* bodies);
/* Runs the scene to `end`: `factor` scales all friction, `change` [m/s] the random part of the initial velocities. */
void mor_trust_run_one(const mor_trial* trial, const char* const* set, double end, double factor, double change,
                       uint64_t seed, mor_trust_record* record);
size_t mor_trust_record_size(int bodies);

#endif
