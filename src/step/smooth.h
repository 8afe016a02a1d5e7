/* Smooth motion of one island: trees, the equations between them, springs. What integrators are made of. */
#ifndef MOREAU_STEP_SMOOTH_H
#define MOREAU_STEP_SMOOTH_H

#include "model/step.h"

/* Trees that are coupled by equations or springs, or one tree alone. Vectors of velocities (dof) and rows (row_count)
 * run over all of them. Equations come first, then springs. */
typedef struct mor_smooth {
    mor_world* w; /* the draft of the step, whose trees are moved */
    mor_arena* arena;
    mor_code* code; /* MOR_SYSTEM: out of memory */
    int tree_count;
    const int* trees; /* world's numbers */
    int dof, size;    /* velocities; numbers of a configuration */
    int *dof_of, *size_of;
    double *q, *nu; /* the state: an integrator moves it from the start of its step to the end */

    int block_count, equation_blocks, row_count, equation_count, coefficients;
    int* joint_of; /* block -> joint, or -1 - mimic number */
    mor_block* blocks;
    mor_entry* entries;
    mor_tree_block* tree_blocks; /* tree_count, then one for each block, of as many dof as it has rows (see smooth.c) */
    struct {
        int tree, joint;
    } * mimics;
    int mimic_count;

    bool* dependent; /* equation_count: rows that the others imply, left out of the stages; NULL: none known */
    double* impulse; /* equation_count: summed over the step */
    double* path;    /* dof: displacement summed over the step */
    int iterations, halvings, rescued;
    bool damped;     /* a robot's joint has damping */
    char detail[96]; /* why the last try failed */
} mor_smooth;

/* The rows at one state. */
typedef struct mor_smooth_rows {
    double* jacobian; /* coefficients */
    double* phi;      /* row_count; springs: the coordinate minus its rest */
} mor_smooth_rows;

/* Room for rows, from the arena; false: out of memory. */
bool mor_smooth_rows_alloc(const mor_smooth* m, mor_smooth_rows* rows);
double* mor_smooth_vector(const mor_smooth* m, int count);

/* All trees at q (+) xi (NULL: q) with velocity nu. */
void mor_smooth_place(mor_smooth* m, const double* q, const double* xi, const double* nu);
void mor_smooth_get(const mor_smooth* m, double* q);
/* At the present state: p = M nu and the force without equations, springs and dampers included if `rows` are given. */
void mor_smooth_momentum(const mor_smooth* m, const mor_smooth_rows* rows, const double* nu, double* p, double* f);
void mor_smooth_rows_now(const mor_smooth* m, mor_smooth_rows* rows);
/* out = G' nu (row_count); f += G x (equations only). */
void mor_smooth_rates(const mor_smooth* m, const mor_smooth_rows* rows, const double* nu, double* out);
void mor_smooth_add(const mor_smooth* m, const mor_smooth_rows* rows, const double* x, double* f);

/* Solves M x = r + G y, G' x = s at the present configuration of the trees, where the mass is M + gh D + (gh c + gh^2
 * k) g g' of dampers and springs if gh > 0. s NULL: 0. False: out of memory, singular, or not finite. */
bool mor_smooth_solve(mor_smooth* m, const mor_smooth_rows* rows, double gh, const double* r, const double* s,
                      double* x, double* y);
/* For methods that carry the momentum of bodies and the velocity of robots (collocation.c). At the present state, given
 * the multipliers: the rate of what is carried (forces of bodies, accelerations of robots). Then, from the end y of
 * what is carried, the step x that takes velocity nu to it, constrained as above. `response` (coefficients) keeps M^-1
 * G. */
bool mor_smooth_rate(mor_smooth* m, const mor_smooth_rows* rows, const double* nu, const double* lambda, double* rate);
bool mor_smooth_correct(mor_smooth* m, const mor_smooth_rows* rows, double gh, const double* y, const double* nu,
                        const double* s, double* x, double* z, double* response);
/* rate += what more multipliers add, with the response kept. */
void mor_smooth_rate_add(const mor_smooth* m, const mor_smooth_rows* rows, const double* response, const double* lambda,
                         double* rate);
/* Finds the dependent rows at the state m->q, m->nu (small groups only). Rows that agree on phi = 0 contradict each
 * other off it, where stages are: enforced all the same they would stop the mechanism. */
bool mor_smooth_find_dependent(mor_smooth* m);
/* nu' and multipliers (may be NULL) at q (+) xi, nu, with the equations differentiated twice. Changes the state placed.
 * */
bool mor_smooth_accelerate(mor_smooth* m, const double* q, const double* xi, const double* nu, double* a,
                           double* lambda);
/* Moves q to phi = 0 and nu to G' nu = 0, along M^-1 G. False: it does not come closer. */
bool mor_smooth_project(mor_smooth* m, double* q, double* nu);

/* xi' of a velocity at xi, in place: dexp^-1 on rotations. */
void mor_smooth_chart(const mor_smooth* m, const double* xi, double* nu);
/* Takes over the end of a step of an integrator: q (+) xi and y, projected; impulse (equation_count or NULL) is added.
 * y holds velocities, momenta, or momenta of bodies and velocities of robots. False: nothing was changed. */
enum { MOR_END_VELOCITY, MOR_END_MOMENTUM, MOR_END_MIXED };
bool mor_smooth_finish(mor_smooth* m, const double* xi, const double* y, int kind, const double* impulse);

/* The smooth islands of a step. Plan: after the assembly, marks islands that need no solve (MOR_SYSTEM: out of memory).
 * Sort: after the solve, marks those whose bounded rows stayed idle and puts the others first; returns how many these
 * are. Step: moves the marked trees of the draft. MOR_STOPPED: the integrator failed, *status and plan.detail say how.
 * */
mor_code mor_smooth_plan(mor_step* step);
int mor_smooth_sort(mor_step* step);
mor_code mor_smooth_step(mor_step* step, mor_status* status);

/* One integrator each (one file each). */
extern const mor_integrator mor_integrator_semi_implicit, mor_integrator_rk4, mor_integrator_midpoint,
    mor_integrator_variational, mor_integrator_gauss6;

/* Gauss collocation of `stages` stages (1 or 3), see collocation.c. */
bool mor_collocate(mor_smooth* m, double h, int stages);

#endif
