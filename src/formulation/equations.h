/* The equations of a step solved alone: a start for any solver, and the corrections of joints. */
#ifndef MOREAU_FORMULATION_EQUATIONS_H
#define MOREAU_FORMULATION_EQUATIONS_H

#include "moreau/problem.h"

/* p with W_ee p = rhs for the rows of all equation blocks (rhs, p: row_count; rows of other blocks are left
 * alone). Dependent equations: a solution of the consistent part, of nearly least norm. False: out of memory or
 * not finite. */
bool mor_equations_solve(const mor_step_form* step, const double* rhs, double* p, mor_arena* arena);

/* The same in two parts, for several right-hand sides: the factor lives in the arena (NULL: out of memory, or not
 * finite). One solve leaves about 1e-9 of the right-hand side, or rounding: the caller looks at its rows, and asks
 * again for what is left of them. `bodies`: every tree is one body, and all are connected. */
typedef struct mor_equations mor_equations;
mor_equations* mor_equations_factor(const mor_step_form* step, bool bodies, mor_arena* arena);
/* W_ee + e D in place of W_ee, D its diagonal, e at least 1e-9: a damped step towards rows that may contradict each
 * other (step/close_joints.c). */
mor_equations* mor_equations_factor_damped(const mor_step_form* step, double e, mor_arena* arena);
void mor_equations_solve_once(const mor_step_form* step, mor_equations* equations, const double* rhs, double* p);

/* An answer with at most this error [m/s] needs no solver. */
void mor_equations_accept(mor_equations* equations, double error);
/* The impulses p and velocities nu of a step that has nothing but these equations, by the factor alone; returns the
 * error they may have to be taken as they are, 0: nothing was done. */
double mor_equations_answer(const mor_step_form* step, mor_equations* equations, double* p, double* nu);

/* Has the step equations, and nothing else? */
bool mor_equations_only(const mor_step_form* step);

/* Puts the equation rows of p, and bounded rows between their bounds, where they answer the other rows of p: exact if
 * the step has equations only. Where redundant equations contradict each other by a little, `bias` (the step's own) is
 * changed to what they agree on. `equations`: a factor of the same step if there is one, or NULL. */
void mor_equations_guess(const mor_step_form* step, mor_equations* equations, double* p, double* bias,
                         mor_arena* arena);

#endif
