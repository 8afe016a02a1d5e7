/* How the unknowns of a problem make impulses, where its form does not tell contacts from other rows (LCP, MLCP, QP). A
 * formulation sets mor_solve_stage.unknowns while it calls the solver; whoever follows the iterates reads it. */
#ifndef MOR_FORMULATION_UNKNOWNS_H
#define MOR_FORMULATION_UNKNOWNS_H

#include "moreau/world.h"

typedef struct mor_unknowns {
    const mor_problem* step; /* the same contacts as a STEP, which its impulses are judged in */
    /* z -> impulses of its rows (step->size). Scratch from `arena`, given back. */
    void (*impulses)(const struct mor_unknowns* unknowns, const double* z, double* p, mor_arena* arena);
    const void* data; /* of `impulses` */
} mor_unknowns;

#endif
