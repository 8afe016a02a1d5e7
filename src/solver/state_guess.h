/* The answer of a step from what its contacts did in the last one. */
#ifndef MOREAU_SOLVER_STATE_GUESS_H
#define MOREAU_SOLVER_STATE_GUESS_H

#include "moreau/problem.h"

enum { MOR_STATE_GUESS_ROWS = 96 }; /* larger steps are not worth a dense factor */

typedef bool (*mor_judged)(const void* user, const double* p);

/* Improves p (row_count) by solving the equations its states imply, until `good_enough` says so. fresh: p is zero, and
 * impulses that are not unique are not looked for; else the split of p is kept. False: not reached, too large, singular
 * or out of memory; p is unspecified then. Scratch from the arena, given back. */
bool mor_state_guess(const mor_problem* problem, bool fresh, mor_judged good_enough, const void* user, double* p,
                     mor_arena* arena);

/* Of an answer p that is not unique where contacts slide: the one of least norm, in at most four rounds. False: it is
 * unique, nothing slides, or `good_enough` did not find it among these; p is unspecified then. */
bool mor_state_least(const mor_problem* problem, mor_judged good_enough, const void* user, double* p, mor_arena* arena);

#endif
