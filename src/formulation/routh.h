/* Routh's impact of one contact, followed along its normal impulse (routh.c). */
#ifndef MOREAU_FORMULATION_ROUTH_H
#define MOREAU_FORMULATION_ROUTH_H

#include <stdbool.h>

/* What ends the impact. */
typedef enum mor_routh_end {
    MOR_ROUTH_POISSON, /* the normal impulse is 1 + e times that of compression */
    MOR_ROUTH_STRONGE  /* the normal force gave back e^2 of the work that compression took */
} mor_routh_end;

/* The impulse p of a contact whose velocity u (normal first, u[0] < 0) changes by W p. dim: 1 without friction, 2 in
 * the plane, 3 in space; W is symmetric, dim x dim in rows of `stride`. False: the path did not come to its end. */
bool mor_routh_impact(int dim, const double* W, int stride, double mu, double e, mor_routh_end end, const double* u,
                      double* p);
#endif
