/* One run of `moreau trust`: what is kept of it. */
#ifndef MOR_LAB_TRUST_RUN_H
#define MOR_LAB_TRUST_RUN_H

#include "lab/trust.h"

/* Begin of a touch. */
typedef struct mor_trust_touch {
    double time;
    int pair; /* first body x all bodies + second */
} mor_trust_touch;

/* Points of a body that are followed: the centre of mass, and half its length from there along two of its axes. A ball
 * shows no turn and a round body none about its axis: such points lie in the centre, or on the axis. */
enum { MOR_TRUST_POINTS = 3 };

/* What comes back from a process; the positions follow: (samples + 1) x bodies x points x 3 numbers. */
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
/* The longest edge of the boxes around the shapes of a body [m]. */
double mor_trust_size(const mor_world* world, mor_body_id body);
/* Runs the scene to `end`: `factor` scales all friction, `change` [m/s] the random part of the initial velocities. */
void mor_trust_run_one(const mor_trial* trial, const char* const* set, double end, double factor, double change,
                       uint64_t seed, mor_trust_record* record);
size_t mor_trust_record_size(int bodies);
/* Where the positions of a sample begin: those of the points of body 0, of body 1 ... */
static inline size_t mor_trust_at(int bodies, int sample)
{
    return (size_t)sample * (size_t)bodies * MOR_TRUST_POINTS * 3;
}

#endif
