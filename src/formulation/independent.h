/* Equations of a step that do not depend on each other. */
#ifndef MOREAU_FORMULATION_INDEPENDENT_H
#define MOREAU_FORMULATION_INDEPENDENT_H

#include "moreau/problem.h"

/* The same problem with those equations alone that do not depend on each other, row by row; `limit`: the pivot, of a
 * unit diagonal, below which a row does. rows[i]: what row i was.
 * False: there are none that depend, too many to look at, or out of memory. Lives in the arena, and so does *rows. */
bool mor_independent_problem(const mor_problem* problem, double limit, mor_problem* out, int** rows, mor_arena* arena);

/* Whether velocities nu meet all equations of the problem but for what redundant ones cannot agree on. */
bool mor_equations_agree(const mor_problem* problem, double limit, const double* nu, mor_arena* arena);

#endif
