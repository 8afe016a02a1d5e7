/* The linear system of the contacts and rows that act (active.c). */
#ifndef MOREAU_DERIVATIVE_ACTIVE_H
#define MOREAU_DERIVATIVE_ACTIVE_H

#include "derivative/law.h"
#include "derivative/look.h"

/* Solves for the kept blocks first .. last, all of one island, with their laws: c->V becomes dnu+; c->u stays. Sets
 * c->many and c->torn. */
mor_code mor_active_solve(mor_derivation* d, const mor_law* laws, int first, int last, mor_columns* c);
/* u += G' v over the rows of a kept block; v in the order of all trees. */
void mor_active_velocity(const mor_derivation* d, const mor_kept* kept, const double* v, double* u);

#endif
