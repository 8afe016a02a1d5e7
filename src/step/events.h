/* The event-driven integrator of planar bodies on fixed ground: what its parts share (event_driven.c says what it is).
 */
#ifndef MOREAU_STEP_EVENTS_H
#define MOREAU_STEP_EVENTS_H

#include "model/step.h"

enum { MOR_EVENT_CONTACTS = 4 }; /* closed contacts of a body at a time */

/* A side of the ground, solid on the side away from the normal. */
typedef struct mor_event_side {
    mor_vec3 from, to, normal;
    double friction, restitution;
    bool ridge[2];      /* its ends: may a body rest on them? */
    mor_vec3 beyond[2]; /* the far end of the next side there; its own where there is none */
} mor_event_side;

/* One body over the ground: constants of the step. */
typedef struct mor_event_body {
    int corners; /* of a convex polygon, from the centre of mass in body axes; 0: a disc (radius) or particle (0) */
    const mor_vec3* corner;
    double radius, size;  /* size: what lengths are compared with */
    double mass, inertia; /* infinite inertia: a particle */
    mor_vec3 gravity;     /* acceleration of free motion */
    double spin_up;       /* angular acceleration of free motion */
    int side_count;
    const mor_event_side* sides;
} mor_event_body;

/* x, y, angle and their rates. */
typedef struct mor_event_state {
    double q[3], v[3];
} mor_event_state;

/* A pair of features: a corner (or the disc) on a side, or the end of a side on an edge of the body (or the disc). */
typedef struct mor_event_pair {
    int side, end; /* end: -1 the side itself, 0 its beginning */
    int feature;   /* corner, or edge (from this corner to the next); discs: 0 */
} mor_event_pair;

/* Its gap and rows at a state. */
typedef struct mor_event_gap {
    double gap;
    bool valid;              /* the features face each other here */
    double n[3], t[3];       /* rows of the normal and the tangent */
    double curve_n, curve_t; /* d/dt of the rows times v, at constant v */
    double speed, slip;      /* n v, t v */
    double mu, e;
} mor_event_gap;

int mor_event_pair_count(const mor_event_body* body);
mor_event_pair mor_event_pair_at(const mor_event_body* body, int i);
mor_event_gap mor_event_gap_at(const mor_event_body* body, const mor_event_pair* pair, const mor_event_state* s);

enum { MOR_EVENT_OPEN, MOR_EVENT_STICK, MOR_EVENT_SLIDE };

/* What closed contacts do, and the acceleration, or the jump of the velocity, that comes of it. */
typedef struct mor_event_mode {
    int count;
    int pair[MOR_EVENT_CONTACTS];
    int what[MOR_EVENT_CONTACTS], direction[MOR_EVENT_CONTACTS]; /* of the slip, -1 or 1 */
    double force[MOR_EVENT_CONTACTS][2];                         /* along the normal and the tangent */
    double change[3];
} mor_event_mode;

/* The forces and accelerations of a given mode (what, direction); false: it has none. */
bool mor_event_forces(const mor_event_body* body, const mor_event_gap* gaps, mor_event_mode* mode);
/* Finds the one mode that fits: acceleration level, or (impact) velocity level with the least normal speeds `target`.
 * How many different answers fit: 1 is right. */
int mor_event_find_mode(const mor_event_body* body, const mor_event_gap* gaps, const double* target,
                        mor_event_mode* mode);

/* Takes rounding out of a state: positions to gap 0, or velocities to speed (stick: and slip) 0, of contacts that hold.
 */
void mor_event_settle(const mor_event_body* body, const mor_event_gap* gaps, const mor_event_mode* mode, bool positions,
                      double* x);

extern const mor_integrator mor_integrator_event_driven;
/* Moves the draft by h. MOR_STOPPED: it cannot, step->plan.detail says why. */
mor_code mor_event_driven_step(mor_step* step);

#endif
