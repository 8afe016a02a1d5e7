/* Groups, planes and their open intervals in one step: what the exact-geometry formulations share (peg_planes.c). */
#ifndef MOREAU_FORMULATION_PEG_PLANES_H
#define MOREAU_FORMULATION_PEG_PLANES_H

#include "collision/features.h"
#include "formulation/append.h"

typedef struct mor_peg_plane {
    int first, count; /* its contacts in the system */
    int group;
    uint32_t id; /* number of the plane in its pair of shapes (collision/features.h) */
    bool open;   /* usable from the start of the step */
    bool held;   /* the pair was left on it */
    bool tried;
    bool shut;            /* not to be used in this step (peg_pinch.c) */
    double s;             /* least gap */
    double opens, closes; /* interval within the step, by the linear model */
} mor_peg_plane;

/* How far the rows of a pair have given way, and the bracket of the root (peg_yield.c). */
typedef struct mor_peg_yielding {
    double theta, low, high, above, below; /* lengths; e(low) = above > 0 >= below = e(high) */
    bool bracketed;
    int steps, side; /* side: which end moved last */
} mor_peg_yielding;

typedef struct mor_peg_group {
    int first, count;    /* its planes in the sorted list */
    double tol, tol_end; /* lengths */
    int choice;          /* plane that carries it, or -1 */
    int last;            /* plane that closes last */
    double until;        /* covered by open planes until this time; >= h: no collision */
    int switches;        /* between planes in this step */
    int checked;         /* how often its edge pair was replaced by rows of the trial state */
    bool own;            /* its own rows stay beside those */
    bool swept;          /* some of those are of a moment within the step: at its end the pair may be apart */
    int particle;        /* tree + 1 of the particle in it, or 0 */
    int particle_side;   /* 0: first body of its contacts */
    mor_peg_yielding yield;
} mor_peg_group;

typedef struct mor_peg {
    const mor_system* s;
    mor_peg_plane* planes; /* sorted by group */
    mor_peg_group* groups;
    int plane_count, group_count;
    double* speed;    /* per contact: G_n' nu + d(psi)/dt */
    const double* nu; /* the velocities these are of; the caller's */
    bool particles;   /* some group has one */
} mor_peg;

/* Finds groups and planes of the system; false when out of memory. Contacts without a group stand alone. */
bool mor_peg_build(const mor_system* system, mor_arena* arena, mor_peg* peg);
/* Row velocities of all contacts for a velocity nu. */
void mor_peg_speeds(mor_peg* peg, const double* nu);
/* Right-hand sides of the rows, max(psi, 0)/h and restitution; the speeds must be those of nu_free. */
void mor_peg_bias(const mor_peg* peg, double* bias);
/* Open intervals and coverage of a group for the present row velocities: sets `until` and `last`. */
void mor_peg_cover(mor_peg* peg, int group);
/* min_i max(psi_i,0) + h speed_i: least gap of a plane at the end of the step. */
double mor_peg_end_gap(const mor_peg* peg, const mor_peg_plane* plane);
/* By how much the linear model of a pair may be off at the end of the step, (h^2/2) (w^2 r + 2 w v), w the spins, v the
 * speed at the contact and r the arms: normals turn while points move. At most 1e-3 of the size: beyond that the true
 * geometry of the trial state is looked at (peg_trial.c). */
double mor_peg_bend(const mor_peg* peg, const mor_peg_group* group);
/* |nu - nu_free|^2 in the mass. */
double mor_peg_change(const mor_peg* peg, const double* nu);
/* Do two planes have the same normal and the same rows? */
bool mor_peg_same_rows(const mor_peg* peg, const mor_peg_plane* a, const mor_peg_plane* b);

/* Position projection of a step (peg_project.c), see mor_formulation.project. */
double mor_peg_project(mor_step* step, const void* options, double* work);

/* Makes `set` the plane of `all` with the largest s_k among those with normals within 45 degrees of n; unchanged and
 * false if there is none. */
bool mor_peg_nearest_plane(const mor_feature_set* all, mor_vec3 n, mor_feature_set* set);

/* Normal of the plane with that number in the set. */
mor_vec3 mor_peg_normal_of(const mor_feature_set* all, uint32_t id);

/* Replaces edge pairs that fail at the trial state (peg_trial.c). `trial->room` is a copy of the system with room for
 * more contacts, made on the first call; returns true if rows were added. */
typedef struct mor_peg_trial {
    mor_system_room room; /* with the added contacts at the end */
    double* impulses;     /* its rows */
    double* bias;
    bool* keep;
    int* group;          /* added contact -> group */
    mor_vec3* direction; /* added contact -> n, t, o */
    double slack;        /* how far bodies may move by what the solver has left open */
} mor_peg_trial;
bool mor_peg_validate(mor_peg* peg, const double* bias, mor_arena* arena, const mor_answer* answer,
                      mor_peg_trial* trial);
/* Solves the step on the blocks of `keep` and on the rows that were added; answer->impulses: the guess on entry, on
 * return with those of added rows at the first row of the pair's plane. The speeds are those of the answer. */
mor_report mor_peg_solve(mor_peg* peg, int directions, const double* bias, const bool* keep, mor_peg_trial* trial,
                         mor_solve_stage* stage, mor_answer* answer);
/* max_k s_k of a group at the trial state; -HUGE_VAL if it cannot be told (links of robots). */
double mor_peg_trial_separation(const mor_peg* peg, int group, const double* nu);

/* Does a particle pass between two pieces that touch (peg_pinch.c)? With `hold` the pieces get the planes that stop it,
 * and true means that the step must be solved again. */
bool mor_peg_pinch(mor_peg* peg, const double* nu, bool hold);

/* May a pair change from its choice to `plane`? Not if the plane is at 0 at the end (within the tolerance and `slack`)
 * and it has a particle that touches several pieces at the start or the end of the step, its choice bounds the sector
 * the particle comes from, and the plane does not. */
bool mor_peg_keeps_sector(const mor_peg* peg, int group, int plane, const double* nu, double slack);

/* Is the pair on a plane that does not bound the sector its particle comes from, though another of its planes does? */
bool mor_peg_astray(const mor_peg* peg, int group, const double* nu);

/* Holds particles that touch several pieces in the step on the plane their cover ends on, where it ends too soon; true
 * if any. For formulations that look at the end of the step only. */
bool mor_peg_hold_covered(mor_peg* peg);

/* Does the pair push on the plane? Measured as the velocity its impulses make. */
bool mor_peg_pushes(const mor_peg* peg, const double* impulses, const mor_peg_plane* plane);
/* Lets rows of pairs give way that push while another open plane separates them and cannot switch (peg_yield.c); true
 * if the step must be solved again. */
bool mor_peg_yield(mor_peg* peg, const mor_answer* answer, double* bias, mor_peg_trial* trial);

#endif
