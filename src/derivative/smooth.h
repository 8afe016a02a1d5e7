/* The step with a smoothed contact law (smooth.c). */
#ifndef MOREAU_DERIVATIVE_SMOOTH_H
#define MOREAU_DERIVATIVE_SMOOTH_H

#include "derivative/active.h"

/* Replaces velocities d->nu and impulses d->p of the exact step by those of the smoothed law, all contacts kept, and
 * the laws of contacts by the slopes of the smoothed one. *moved: the largest change of a velocity. MOR_STOPPED: the
 * smoothed law could not be solved. */
mor_code mor_smooth_answer(mor_derivation* d, mor_law* laws, double* moved, mor_error* error);
/* Adds to the column of a body's mass what it does to the smoothed law of its contacts. */
void mor_smooth_mass(const mor_derivation* d, const mor_law* laws, int column, int body, mor_columns* c);

#endif
