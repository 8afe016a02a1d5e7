/* One contact's own small problem, solved exactly: the inner loop of Gauss-Seidel methods.
 *
 * Given W (dim x dim, row-major) and q, find p with u = W p + q and Coulomb's law between p and u. */
#ifndef MOREAU_SOLVER_LOCAL_H
#define MOREAU_SOLVER_LOCAL_H

#include "problem/cone.h"

#include "moreau/base.h"

/* Corners d_j = (cos 2 pi j/n, sin 2 pi j/n) of the friction polygon, j = 0..n (the first repeated),
 * with exact zeros and ones on the axes: corners[2 j], corners[2 j + 1]. */
void mor_polygon_corners(int n, double* corners);

/* The contact without friction. */
static inline void mor_local_normal(const double* W, const double* q, double* p)
{
    p[0] = q[0] < 0.0 && W[0] > 0.0 ? -q[0] / W[0] : 0.0;
}

/* One tangent: |p_t| <= mu p_n. */
void mor_local_interval(const double* W, const double* q, double mu, double* p);

/* Two tangents, p_T in mu p_n times the polygon with n corners. `inverse` is W^-1, or NULL if W is
 * singular (sticking is then tried by elimination). `state` remembers the last case: 0 stick, 1..n corner,
 * n+1..2n edge; start with 0. */
void mor_local_polygon(const double* W, const double* inverse, const double* q, double mu, int n, const double* corners,
                       int* state, double* p);

typedef enum mor_local_kind {
    MOR_LOCAL_EXACT,     /* to rounding: cases, and one scalar root for the circular cone */
    MOR_LOCAL_NEWTON,    /* Alart-Curnier Newton from the impulse given */
    MOR_LOCAL_PROJECTION /* one projection p <- P_K(p - rho u^) */
} mor_local_kind;

/* The circular cone (local_cone.c): dim 2 (an interval), 3, 5 with the rolling disc, 6 with drilling. `inverse`: W^-1
 * for dim 3, or NULL if W is singular. p: the old impulse on entry, used by every kind but EXACT for dim 2 and 3.
 * `root` remembers the scalar root |u_T|/|p_T| of dim 3; start with 0. */
void mor_local_cone(mor_local_kind kind, int dim, const double* W, const double* inverse, const double* q,
                    mor_cone cone, double* root, double* p);

/* -W^-1 q of a 3x3 block: by the inverse, or, when that is NULL, without the weakest tangent if the rest is consistent.
 * */
bool mor_local_stick(const double* W, const double* inverse, const double* q, double* p);

/* 3x3 inverse; false when W is singular to working precision. */
bool mor_local_inverse(const double* W, double* inverse);

#endif
