/* Rank and conditioning of W = G' M^-1 G of one island. */
#ifndef MOR_LAB_SPECTRUM_H
#define MOR_LAB_SPECTRUM_H

#include "moreau/world.h"

/* Eigenvalues of the dense W: rank counts those above 1e-10 of the largest, condition is largest over smallest of
 * these. Cost 4/3 n^3. False: out of memory. */
bool mor_lab_spectrum(const mor_system* system, int* rank, double* condition);
/* The eigenvalues themselves, ascending; `values` has room for one per row. */
bool mor_lab_eigenvalues(const mor_system* system, double* values);

#endif
