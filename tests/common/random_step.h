/* Random time steps in tree form, for tests of conversions, the judge and solvers. */
#ifndef MOR_TESTS_RANDOM_STEP_H
#define MOR_TESTS_RANDOM_STEP_H

#include "moreau/problem.h"

typedef struct random_step {
    int trees, dof;    /* dof per tree */
    int contacts, dim; /* rows per contact */
    int directions;    /* 0: circular */
    int equations;     /* blocks of two rows */
    int bounded;
    double mu;
    double mass_ratio; /* masses run from 1 to this */
} random_step;

/* Everything in the arena. Every contact has a feasible velocity: biases are not negative where nothing moves. */
mor_problem random_step_make(const random_step* spec, uint64_t seed, mor_arena* arena);
/* Dense W (row_count^2, row-major) and q = G' nu_free + b, by plain loops over all pairs. */
void random_step_dense(const mor_problem* problem, double* W, double* q);

#endif
