/* The optimisers of calibrations by name, for the laboratory and for `moreau list`, which has no optimiser inside. */
#ifndef MOREAU_BASE_OPTIMISERS_H
#define MOREAU_BASE_OPTIMISERS_H

/* OPTIMISER(name, algorithm of NLopt, or NUM_ALGORITHMS: one of our own, summary) */
#define MOR_OPTIMISERS(OPTIMISER)                                                                                      \
    OPTIMISER("sbplx", LN_SBPLX, "Subplex: Nelder and Mead on subspaces; local, robust on rough costs (default)")      \
    OPTIMISER("neldermead", LN_NELDERMEAD, "the simplex of Nelder and Mead with bounds; local")                        \
    OPTIMISER("cobyla", LN_COBYLA, "linear models in a trust region; local")                                           \
    OPTIMISER("bobyqa", LN_BOBYQA, "quadratic models in a trust region; local, for smooth costs")                      \
    OPTIMISER("crs2", GN_CRS2_LM, "controlled random search with local mutation; global")                              \
    OPTIMISER("direct", GN_DIRECT_L, "dividing rectangles, locally biased; global, without chance")                    \
    OPTIMISER("isres", GN_ISRES, "evolution strategy with stochastic ranking; global")                                 \
    OPTIMISER("gradient", NUM_ALGORITHMS,                                                                              \
              "Levenberg and Marquardt with slopes through contact; local, few evaluations on smooth costs")           \
    OPTIMISER("grid", NUM_ALGORITHMS, "every point of the grid that the parameters' steps give (the paper's method)")

#endif
