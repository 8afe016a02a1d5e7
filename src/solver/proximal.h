/* The proximal point loop around the Newton kernel: shared by ppa and auto. */
#ifndef MOR_SOLVER_PROXIMAL_H
#define MOR_SOLVER_PROXIMAL_H

#include "solver/contact_newton.h"

typedef struct mor_proximal_settings {
    mor_contact_map map;
    double alpha;     /* first proximal weight */
    double shrink;    /* per successful outer iteration */
    double grow;      /* after a failed one */
    double least;     /* smallest weight */
    bool extrapolate; /* r + theta (r - r_c), theta doubling while the error falls; shrink -> sqrt(shrink) after a
                           failure */
    int max_outer, max_inner;
    int inner_total; /* Newton steps altogether */
} mor_proximal_settings;

/* Iterates from newton->r. *outer: outer iterations done. */
mor_newton_end mor_proximal_run(mor_contact_newton* newton, const mor_proximal_settings* settings, mor_context* context,
                                int* outer);

#endif
