/* Initial states and constant forces that bring a world to a goal: least squares with the exact derivative.
 *
 *     mor_error error = { 0 };
 *     mor_scene* scene = mor_scene_load("scenes/teaching/puck.yaml", NULL, NULL, &error);
 *     mor_world* world = mor_scene_build(scene, 1, &error);
 *     mor_body_id puck = mor_world_find_body(world, "puck");
 *     int first = mor_body_span(world, puck).nu;
 *     mor_unknown unknowns[] = { { .kind = MOR_UNKNOWN_VELOCITY, .number = first } };
 *     mor_goal goals[] = { { .number = first, .value = 1.5, .weight = 1 } };
 *     mor_optimum best;
 *     double x[1];
 *     if (mor_world_optimise(world, 200, unknowns, 1, goals, 1, NULL, x, &best, &error) == MOR_OK)
 *         printf("%d simulations, misses by %g\n", best.simulations, best.miss);
 *     mor_world_destroy(world);
 *     mor_scene_destroy(scene);
 *
 * docs/methods/derivatives.md shows where this works, and where gradients mislead. */
#ifndef MOREAU_OPTIMISE_H
#define MOREAU_OPTIMISE_H

#include "moreau/derivative.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is looked for. */
typedef enum mor_unknown_kind {
    MOR_UNKNOWN_POSITION, /* number of nu (moreau/state.h) whose position is meant: no rotations */
    MOR_UNKNOWN_VELOCITY, /* number of nu */
    MOR_UNKNOWN_INPUT     /* MOR_INPUT_FORCE, _JOINT_FORCE or _GRAVITY, constant over the run */
} mor_unknown_kind;

typedef struct mor_unknown {
    mor_unknown_kind kind; /* what it is */
    int number;            /* in nu, of a position or a velocity */
    mor_input input;       /* of MOR_UNKNOWN_INPUT */
} mor_unknown;

/* What the end of the run shall be: weight (is - value) = 0. */
typedef struct mor_goal {
    int number;    /* in nu; no rotations as positions */
    bool velocity; /* the velocity of this number, else its position */
    double value;  /* what it shall be [m, rad, m/s, rad/s] */
    double weight; /* of the difference, not zero */
} mor_goal;

/* How it is looked for. */
typedef enum mor_search {
    MOR_SEARCH_GRADIENT,   /* Levenberg and Marquardt, with the derivative through contact */
    MOR_SEARCH_NELDER_MEAD /* a simplex of values alone, to compare with */
} mor_search;

typedef struct mor_optimise_options {
    mor_search search;    /* by slopes or by values */
    double tolerance;     /* of the miss */
    int most_simulations; /* and then it gives up */
    double first_step;    /* of the simplex, in each unknown */
} mor_optimise_options;

typedef struct mor_optimum {
    double miss;     /* root of the sum of squares of the goals */
    int simulations; /* runs of the world, those with derivatives included */
    int derivatives; /* of them, runs with derivatives */
    bool reached;    /* miss <= tolerance */
    int rough;       /* steps of the last run with derivatives that have none (a contact on an edge) */
    bool stalled;    /* no unknown changes any goal here: the derivative is zero */
} mor_optimum;

/* By slopes to 1e-6, at most 1000 simulations, first steps of 0.1. */
MOR_API mor_optimise_options mor_optimise_options_default(void);

/* One run of `steps` steps from the present state with unknowns x: the residuals of the goals (goal_count) and, if
 * not NULL, their derivatives by x (goal_count x count, row-major). The world is as before afterwards. *rough (or NULL)
 * receives the number of steps without a derivative. MOR_STOPPED: a step cannot be solved. */
MOR_API mor_code mor_world_residuals(mor_world* world, int steps, const mor_unknown* unknowns, int count,
                                     const double* x, const mor_goal* goals, int goal_count, double* residuals,
                                     double* slopes, int* rough, mor_error* error);
/* The present values of the unknowns: of the state, and zero for forces. */
MOR_API mor_code mor_world_unknowns(const mor_world* world, const mor_unknown* unknowns, int count, double* x,
                                    mor_error* error);
/* Looks for x: where it begins on entry, the best on return. Without `options` (NULL: the usual ones) it begins with
 * the present values of the world. The world is as before afterwards. */
MOR_API mor_code mor_world_optimise(mor_world* world, int steps, const mor_unknown* unknowns, int count,
                                    const mor_goal* goals, int goal_count, const mor_optimise_options* options,
                                    double* x, mor_optimum* optimum, mor_error* error);

#ifdef __cplusplus
}
#endif
#endif
