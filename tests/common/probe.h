/* Derivatives against central differences of whole steps: the world is moved, solved and stepped on both sides. Nothing
 * of the derivative's own code takes part in that. */
#ifndef MOREAU_TESTS_PROBE_H
#define MOREAU_TESTS_PROBE_H

#include "common/worlds.h"

#include "moreau/derivative.h"

/* Changes something of a world by an amount. */
typedef void (*test_change)(mor_world* w, double amount, void* user);

/* The world to be moved, and where it begins. */
typedef struct prober {
    mor_world* w;
    int Q, n;
    double *q, *nu, *ends[4];
    void* start;
    size_t size;
} prober;

prober probe_begin(mor_world* w);
void probe_end(prober* p); /* the world is as it was */
/* The start again, moved along number k of the state; q and nu get it. */
void probe_move(prober* p, int k, double amount, double* q, double* nu);
/* One step from the start, moved along number k of the state or by a function. */
void probe_step(prober* p, int k, test_change function, void* user, double amount, double* q, double* nu);
/* (a - b)/by, positions as the derivative has them. */
void probe_difference(const mor_world* w, const double* qa, const double* na, const double* qb, const double* nb,
                      double by, double* out);
/* Compares a column with differences of seven lengths, unit times 1e-3 to 1e-9, and if need be of those between them:
 * the best of them counts, as rounding spoils the short ones and curvature the long ones; where they do not agree to
 * 1e-7, also with extrapolations of a ladder of lengths. Returns the error relative to
 * the size of the column, at least `least`. */
double probe_error(prober* p, const mor_derivative* d, int j, test_change function, void* user, double unit,
                   double least);
void probe_set_state(mor_world* w, const double* q, const double* nu);

#endif
