/* The contacts of a step in the iterates of a solver, whatever form the formulation gave the problem. */
#ifndef MOR_FORMULATION_CONTACT_VIEW_H
#define MOR_FORMULATION_CONTACT_VIEW_H

#include "formulation/unknowns.h"
#include "problem/judge.h"

typedef struct mor_contact_view {
    const mor_problem* problem;   /* as it was handed to the solver */
    const mor_unknowns* unknowns; /* NULL: its unknowns are rows of contacts */
    int count;                    /* contacts it tells; 0: none, or its form does not tell them */
    int* contact;                 /* the system's number of each; NULL: not known */
} mor_contact_view;

/* `system` may be NULL: a problem of its own. Arrays from the arena; false: out of memory. */
bool mor_contact_view_make(mor_contact_view* view, const mor_system* system, const mor_problem* problem,
                           const mor_unknowns* unknowns, mor_arena* arena);
/* Judges the contacts of z into `out` (view->count); the contact measures of `residual` are set where the form of the
 * problem has none. False: out of memory. */
bool mor_contact_view_judge(const mor_contact_view* view, const double* z, mor_residual* residual,
                            mor_contact_verdict* out, mor_arena* arena);

#endif
