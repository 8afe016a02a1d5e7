/* One-sided derivatives where contacts are on an edge (sided.c). */
#ifndef MOREAU_DERIVATIVE_SIDED_H
#define MOREAU_DERIVATIVE_SIDED_H

#include "derivative/active.h"

/* As mor_active_solve for all islands, along every column to one side (1, -1), when the kept blocks `weak` are on an
 * edge. *resolved = false: for some column no choice of laws holds. */
mor_code mor_sided_solve(mor_derivation* d, const mor_law* laws, const int* weak, int weak_count, int side,
                         mor_columns* c, bool* resolved);

#endif
