/* The built-in formulations. Adding one is adding a file and one word to registry.c. */
#ifndef MOREAU_FORMULATION_REGISTRY_H
#define MOREAU_FORMULATION_REGISTRY_H

#include "moreau/world.h"

extern const mor_formulation mor_formulation_st, mor_formulation_ap, mor_formulation_ncp, mor_formulation_mncp,
    mor_formulation_convex, mor_formulation_implicit, mor_formulation_penalty, mor_formulation_hunt_crossley,
    mor_formulation_peg, mor_formulation_peg_heuristic, mor_formulation_gauss, mor_formulation_peg_exact,
    mor_formulation_sequential_impulses, mor_formulation_soft_step, mor_formulation_xpbd;

/* NULL-terminated. */
const mor_formulation* const* mor_formulations(void);

/* The bias of the Stewart-Trinkle rows: psi/h, drift and restitution (st.c). */
void mor_bias_stewart_trinkle(const mor_system* system, double* bias);

#endif
