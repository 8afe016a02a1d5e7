/* How much of a measure's variation comes from which parameter, from the runs of a sweep.
 *
 * Saltelli's design: Sobol's first-order index S_i = V(E(y | x_i)) / V(y), by the estimator of Saltelli and others
 * (2010), and total index T_i = E(V(y | all but x_i)) / V(y), by Jansen (1999); 95 % intervals by 500 bootstrap samples
 * of the base points. Other drawn designs (random, latin, sobol): S_i from the runs that are there, by the means of
 * bins of x_i, with the variance of the means taken off. Morris: mean, mean of the absolute values and standard
 * deviation of the elementary effects in the unit cube (Campolongo, Cariboni, Saltelli 2007).
 *
 * Runs without the measure are left out, with the base point or trajectory that they belong to. */
#ifndef MOR_LAB_SENSITIVITY_H
#define MOR_LAB_SENSITIVITY_H

#include "lab/sweep.h"

typedef struct mor_sensitivity_index {
    int parameter; /* of the plan */
    double first, first_interval[2], total, total_interval[2];
    double mu, mu_star, sigma;
} mor_sensitivity_index;

typedef struct mor_sensitivity {
    mor_sensitivity_index* index; /* one for each drawn parameter */
    int count;
    bool morris, total; /* what is there */
    long used;          /* base points, runs or trajectories */
} mor_sensitivity;

/* One for each scene and combination of listed values. */
long mor_sensitivity_groups(const mor_sweep* sweep);
/* False: nothing can be said (no design, no variation, too few runs, no memory). */
bool mor_sensitivity_make(const mor_sweep* sweep, int measure, long group, mor_sensitivity* result);
void mor_sensitivity_free(mor_sensitivity* result);

#endif
