/* The impulses of one island from the velocities at the end of a step. */
#ifndef MOREAU_DERIVATIVE_INVERSE_IMPULSES_H
#define MOREAU_DERIVATIVE_INVERSE_IMPULSES_H

#include "moreau/inverse.h"

typedef struct mor_inverse_island {
    const mor_system* s;
    const double* const* factor; /* of each tree: L of M = L L', dof x dof, row-major, lower */
    const double* nu;            /* dof: velocities at the end of the step */
    const double* impulse;       /* dof: M (nu - nu_free) */
    const mor_inverse_options* options;
    mor_arena* arena;
    double* p;    /* out, row_count */
    double* rest; /* out, dof: impulse - G p */
    bool unique;  /* out */
    int bounces;  /* out */
} mor_inverse_island;

/* False: out of memory. */
bool mor_inverse_impulses(mor_inverse_island* island);
/* x := L^-1 x (or, with `back`, L x) of one tree. */
void mor_inverse_whiten(int dof, const double* L, bool back, double* x);

#endif
