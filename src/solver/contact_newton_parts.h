/* What the files of the Newton kernel share: contact_newton_load.c, contact_newton_linear.c, contact_newton.c. */
#ifndef MOR_SOLVER_CONTACT_NEWTON_PARTS_H
#define MOR_SOLVER_CONTACT_NEWTON_PARTS_H

#include "solver/contact_newton.h"

enum { MOR_NEWTON_DENSE_ROWS = 260 }; /* a dense LU up to here, whatever the pattern */

/* Entry (i, j) of the scaled diagonal block c; of operators, whose entries are unknown, that of the identity. */
double mor_newton_block_entry(const mor_contact_newton* newton, int c, int i, int j);
/* y = W x, scaled */
void mor_newton_product(const mor_contact_newton* newton, const double* x, double* y);
/* dr of the regularised system; the regularisation is raised until the factor exists. False: it never does. */
bool mor_newton_direction(mor_contact_newton* newton, const mor_newton_settings* settings, double alpha);

#endif
