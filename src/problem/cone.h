/* The friction cone of one contact and the scalar complementarity functions.
 *
 *   K = { (N,T,R,D) : |T| <= mu N, |R| <= mu_roll N, |D| <= mu_drill N }
 *   dim 1: N >= 0; 2: one tangent; 3: two; 5: two tangents and two rolling rows; 6: a drilling row (spin about the
 *   normal) after these
 *   K* is its dual; Coulomb's law is K* contains u^ , orthogonal to r in K, with De Saxce's
 *   u^ = (u_N + mu |u_T| + mu_roll |u_R| + mu_drill |u_D|, u_T, u_R, u_D).
 *
 * References: De Saxce & Feng (1998), The bipotential method; Fischer (1992), A special Newton-type
 * optimization method; Chen, Chen & Kanzow (2000), A penalized Fischer-Burmeister NCP-function, eq. 3. */
#ifndef MOR_PROBLEM_CONE_H
#define MOR_PROBLEM_CONE_H

#include <math.h>

#include "base/elementary.h"

enum { MOR_CONE_ROWS = 6, MOR_CONE_DISCS = 3 };

/* The coefficients of the discs: sliding, rolling, drilling. */
typedef struct mor_cone {
    double mu[MOR_CONE_DISCS];
} mor_cone;

/* Discs of a contact of `dim` rows; disc i has mor_disc_size rows from mor_disc_row on. */
static inline int mor_disc_count(int dim) { return dim < 2 ? 0 : dim < 5 ? 1 : dim - 3; }
static inline int mor_disc_row(int disc) { return 1 + 2 * disc; }
static inline int mor_disc_size(int dim, int disc) { return dim == 2 || disc == 2 ? 1 : 2; }
/* The disc that row 1 ... belongs to. */
static inline int mor_disc_of(int row) { return (row - 1) / 2; }

/* x := the point of K nearest to x. */
void mor_cone_project(int dim, mor_cone cone, double* x);
/* What De Saxce's law adds to u_N: the sum of mu |u| over the discs. */
double mor_cone_shift(int dim, mor_cone cone, const double* u);
/* Natural map r - P_K(r - rho u^), written to `out` (dim). */
void mor_cone_natural(int dim, mor_cone cone, double rho, const double* r, const double* u, double* out);
/* The length of the natural map of a contact of three rows, mu its coefficient: the same bits without loops and arrays.
 * The judge asks for it several times for each contact of a step. */
static inline double mor_cone_off3(double mu, double rho, const double* r, const double* u)
{
    const double slip = sqrt(u[1] * u[1] + u[2] * u[2]);
    double N = r[0] - rho * (u[0] + mu * slip), x = r[1] - rho * u[1], y = r[2] - rho * u[2];
    const double t = sqrt(x * x + y * y);
    if (mu * t <= -N) {
        N = x = y = 0.0;
    } else if (!(N >= 0.0 && t <= mu * N)) {
        if (!(t <= mu * N)) N = (N + mu * t) / (1.0 + mu * mu);
        const double f = t > mu * N ? mu * N / t : 1.0;
        x *= f, y *= f;
    }
    const double a = r[0] - N, b = r[1] - x, c = r[2] - y;
    return sqrt(a * a + b * b + c * c);
}
/* mor_cone_natural for the convex relaxation: u itself in place of u^. */
void mor_cone_natural_convex(int dim, mor_cone cone, double rho, const double* r, const double* u, double* out);

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
