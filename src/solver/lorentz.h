/* One block of a cone programme: an orthant's number (d = 1) or a Lorentz cone {x_0 >= |x_1|} of d = 2 or 3 rows.
 *
 * Jordan product x o s = (x's, x_0 s_1 + s_0 x_1); Nesterov-Todd scaling V = eta (2 v v' - J), J = diag(1, -1, -1), with
 * lambda = V^-1 x = V s. Reference: Vandenberghe (2010), The CVXOPT linear and quadratic cone program solvers, sec. 4;
 * Alizadeh & Goldfarb (2003), Second-order cone programming, sec. 7. */
#ifndef MOR_SOLVER_LORENTZ_H
#define MOR_SOLVER_LORENTZ_H

#include <stdbool.h>

/* Scaling of x and s, both inside: fills v (3), eta, V^-2 (rows of 3), lambda (d). False at the boundary. */
bool mor_lorentz_scaling(int d, const double* x, const double* s, double* v, double* eta, double* V2, double* lambda);
/* out := V x or, inverse, V^-1 x */
void mor_lorentz_scale(int d, const double* v, double eta, bool inverse, const double* x, double* out);
/* out := a o b */
void mor_lorentz_product(int d, const double* a, const double* b, double* out);
/* out: the solution of l o out = r */
void mor_lorentz_divide(int d, const double* l, const double* r, double* out);
/* V2 := L_x^-1 L_s, L_x y = x o y; rows of 3 */
void mor_lorentz_quotient(int d, const double* x, const double* s, double* V2);
/* Largest t with x + t d in the cone (n rows). */
double mor_lorentz_room(int n, const double* x, const double* d);

#endif
