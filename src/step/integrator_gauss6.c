/* Gauss collocation of three stages (collocation.c): order 6, symplectic on fixed-base trees, keeps momentum. */
#include "step/smooth.h"

static bool advance(mor_smooth* m, double h) { return mor_collocate(m, h, 3); }

const mor_integrator mor_integrator_gauss6 = {
    "gauss6", "Gauss collocation of three stages, order 6; halves the step where it does not converge", "ascher1991", 6,
    advance
};
