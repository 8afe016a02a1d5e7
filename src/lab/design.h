/* Designs of experiments: points in the unit cube, the same on every machine for the same seed.
 *
 *   random     independent uniform points
 *   latin      Latin hypercube: each of n equal slices of every axis holds one point (McKay, Beckman, Conover 1979)
 *   sobol      a Sobol sequence with the direction numbers of Joe and Kuo (2008), shifted by the seed
 *   saltelli   two Sobol samples A and B and their mixtures, for Sobol's first and total indices (Saltelli 2010)
 *   morris     trajectories on a grid of levels, one factor changed at a time (Morris 1991) */
#ifndef MOR_LAB_DESIGN_H
#define MOR_LAB_DESIGN_H

#include "moreau/base.h"

typedef enum mor_design {
    MOR_DESIGN_GRID, /* no point of its own: one */
    MOR_DESIGN_RANDOM,
    MOR_DESIGN_LATIN,
    MOR_DESIGN_SOBOL,
    MOR_DESIGN_SALTELLI,
    MOR_DESIGN_MORRIS
} mor_design;
#define MOR_DESIGN_WORDS "grid|random|latin|sobol|saltelli|morris"

enum { MOR_SOBOL_DIMENSIONS = 21 };

/* Points that `samples` of a design make in `dimension` axes: samples; saltelli samples x (dimension + 2); morris
 * samples x (dimension + 1). */
long mor_design_points(mor_design design, long samples, int dimension);
/* Fills points x dimension numbers in (0, 1); morris: in [0, 1]. `levels`: of morris, even. Sobol: at most
 * MOR_SOBOL_DIMENSIONS axes, saltelli half as many. MOR_SYSTEM: out of memory. */
mor_code mor_design_fill(mor_design design, long samples, int dimension, uint64_t seed, int levels, double* points,
                         mor_error* error);

/* The number below which a standard normal variable is with probability u in (0, 1). */
double mor_normal_quantile(double u);

#endif
