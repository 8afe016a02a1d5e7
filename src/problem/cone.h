/* The friction cone of one contact and the scalar complementarity functions.
 *
 *   K = { (N,T,R) : |T| <= mu N, |R| <= mu_roll N }     dim 1: N >= 0; 2: one tangent; 3: two;
 *                                                       5: two tangents and two rolling rows
 *   K* is its dual; Coulomb's law is K* contains u^ , orthogonal to r in K, with De Saxce's
 *   u^ = (u_N + mu |u_T| + mu_roll |u_R|, u_T, u_R).
 *
 * References: De Saxce & Feng (1998), The bipotential method; Fischer (1992), A special Newton-type
 * optimization method; Chen, Chen & Kanzow (2000), A penalized Fischer-Burmeister NCP-function, eq. 3. */
#ifndef MOR_PROBLEM_CONE_H
#define MOR_PROBLEM_CONE_H

#include <math.h>

#include "base/elementary.h"

/* x := the point of K nearest to x. */
void mor_cone_project(int dim, double mu, double mu_roll, double* x);
/* Natural map r - P_K(r - rho u^), written to `out` (dim). */
void mor_cone_natural(int dim, double mu, double mu_roll, double rho, const double* r, const double* u, double* out);
/* The same for the convex relaxation: u itself in place of u^. */
void mor_cone_natural_convex(int dim, double mu, double mu_roll, double rho, const double* r, const double* u,
                             double* out);

/* Regular polygon in place of the disc: direction j of n_d is (cos 2 pi j/n_d, sin 2 pi j/n_d). */
void mor_polygon_direction(int directions, int j, double d[2]);
/* Writes T = beta_j d_j + beta_{j+1} d_{j+1} with the two directions around T: the decomposition with the
 * least sum of beta. Returns j; beta[0] belongs to j, beta[1] to (j+1) mod n_d. */
int mor_polygon_split(int directions, const double T[2], double beta[2]);

/* Fischer-Burmeister, phi = a + b - sqrt(a^2 + b^2), without cancellation. */
static inline double mor_fb(double a, double b)
{
    double r = sqrt(a * a + b * b), s = a + b;
    return s > 0.0 ? 2.0 * a * b / (s + r) : s - r;
}

/* Chen-Chen-Kanzow with the given weight (0.7 in every report). */
static inline double mor_cck(double a, double b, double lambda)
{
    return lambda * mor_fb(a, b) + (1.0 - lambda) * mor_max(a, 0.0) * mor_max(b, 0.0);
}

#endif
