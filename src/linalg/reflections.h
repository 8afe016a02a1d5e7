/* Householder reflections, inline: for use inside functions made by MOR_WIDE, or as they are (rows.h).
 *
 * Reference: Golub & Van Loan, Matrix Computations (4th ed.), sec. 5.1. */
#ifndef MOR_LINALG_REFLECTIONS_H
#define MOR_LINALG_REFLECTIONS_H

#include <math.h>

#include "linalg/rows.h"

/* x (m) := (beta, v_1, v_2, ...) with (I - tau v v') x = beta e_0, v_0 = 1. Returns tau, 0 if x is a multiple of e_0.
 * */
MOR_ALWAYS_INLINE double mor_make_reflection(int m, double* x)
{
    double largest = 0.0;
    for (int i = 1; i < m; i++)
        if (fabs(x[i]) > largest) largest = fabs(x[i]);
    if (!(largest > 0.0)) return 0.0;
    if (fabs(x[0]) > largest) largest = fabs(x[0]);
    double sum = 0.0;
    for (int i = 0; i < m; i++) sum += x[i] / largest * (x[i] / largest);
    double beta = x[0] > 0.0 ? -largest * sqrt(sum) : largest * sqrt(sum), tau = (beta - x[0]) / beta;
    double inverse = 1.0 / (x[0] - beta);
    for (int i = 1; i < m; i++) x[i] *= inverse;
    x[0] = beta;
    return tau;
}

/* y := (I - tau v v') y */
MOR_ALWAYS_INLINE void mor_reflect(int m, double tau, const double* v, double* y)
{
    if (tau == 0.0) return;
    double s = tau * (y[0] + mor_inner(m - 1, v + 1, y + 1));
    y[0] -= s;
    mor_subtract(m - 1, s, v + 1, y + 1);
}

#endif
