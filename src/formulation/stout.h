/* Masses for projections of positions that would turn a thin body too far. */
#ifndef MOR_FORMULATION_STOUT_H
#define MOR_FORMULATION_STOUT_H

#include "model/step.h"

/* The 6 x 6 mass block M of a free body with more inertia, and its inverse. `out` may be M. */
void mor_stout_mass(const double* M, double* out, double* inverse);

/* Would dq turn a free body of the island by more than half a rad? */
bool mor_turns_far(const mor_world* world, const mor_island* island, const double* dq);

#endif
