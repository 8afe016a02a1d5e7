/* Implicit midpoint: Gauss collocation of one stage (collocation.c). Order 2, keeps quadratic invariants; on a
 * fixed-base tree without equations it is the variational integrator of the midpoint Lagrangian. */
#include "step/smooth.h"

static bool advance(mor_smooth* m, double h) { return mor_collocate(m, h, 1); }

const mor_integrator mor_integrator_midpoint = { "midpoint",
                                                 "implicit midpoint in momentum: Gauss collocation of one stage",
                                                 "hairer2006", 2, advance };
