#include "formulation/registry.h"

const mor_formulation* const* mor_formulations(void)
{
    static const mor_formulation* const all[] = { &mor_formulation_st,
                                                  &mor_formulation_ap,
                                                  &mor_formulation_ncp,
                                                  &mor_formulation_mncp,
                                                  &mor_formulation_convex,
                                                  &mor_formulation_implicit,
                                                  &mor_formulation_penalty,
                                                  &mor_formulation_peg,
                                                  &mor_formulation_peg_heuristic,
                                                  &mor_formulation_peg_exact,
                                                  &mor_formulation_gauss,
                                                  &mor_formulation_sequential_impulses,
                                                  &mor_formulation_soft_step,
                                                  &mor_formulation_xpbd,
                                                  &mor_formulation_hunt_crossley,
                                                  NULL };
    return all;
}
