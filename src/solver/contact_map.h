/* Equations F(r, u) = 0 that say Coulomb's law of one contact, or one complementary pair, and their generalised
 * derivatives B = dF/dr, A = dF/du (d x d, row-major).
 *
 * Contacts, d = 2, 3, 5: rows (N; T; R). With rho = 1/W_NN, 1/max W_TT, 1/max W_RR and a = r_N - rho_N u_N:
 *   a <= 0               F = r                             (open)
 *   else                 F_N = rho_N u_N and for each disc (T, R, D; cone.h), t = r_T - rho_T u_T:
 *     |t| <= mu R        F_T = rho_T u_T                   (stick)
 *     else               F_T = r_T - mu R t/|t|            (slip)
 *   a polygon P with corners d_j instead of the disc (alart-curnier, d = 3): F_T = r_T - P_{mu R P}(t), the nearest
 *   point of the polygon of size mu R. alart-curnier: R = a; jean-moreau: R = max(r_N, 0).
 *   fischer, cck (lambda 0.7): F_N = phi(r_N, rho_N u_N) and the discs with R = max(r_N, 0).
 *   natural: F = r - P_K(r - rho u^), u^ = (u_N + mu |u_T|, u_T); d = 2, 3 only (d = 5: alart-curnier).
 * Pairs, d = 1:
 *   fischer: phi = r + u - sqrt(r^2 + u^2);  cck: lambda phi + (1 - lambda) r+ u+;  minmap: min(r, u).
 *
 * References: Alart & Curnier (1991), A mixed formulation for frictional contact problems prone to Newton like solution
 * methods; Christensen, Klarbring, Pang & Stromberg (1998), Formulation and comparison of algorithms for frictional
 * contact problems; Fischer (1992); Chen, Chen & Kanzow (2000), A penalized Fischer-Burmeister NCP-function. */
#ifndef MOR_SOLVER_CONTACT_MAP_H
#define MOR_SOLVER_CONTACT_MAP_H

#include "problem/cone.h"

#include <stdbool.h>

typedef enum mor_contact_map {
    MOR_MAP_ALART_CURNIER,
    MOR_MAP_JEAN_MOREAU,
    MOR_MAP_NATURAL,
    MOR_MAP_FISCHER,
    MOR_MAP_CCK,
    MOR_MAP_MINMAP
} mor_contact_map;

/* What does not change during a solve. */
typedef struct mor_contact_law {
    mor_cone cone;
    double rho[4];         /* N, T, R, D */
    int directions;        /* corners of the friction polygons; 0: discs */
    const double* corners; /* directions + 1 points of the unit circle, the last is the first */
} mor_contact_law;

/* F (d). With A and B not NULL the derivatives too. False if F = r and so A = 0, B = I (then A and B are not
 * written): the contact leaves the linear system. `parameter`: lambda of cck; for contacts, how far below zero a may be
 * for the contact to count as closed (at a = 0 both branches are generalised derivatives). */
bool mor_contact_map_eval(mor_contact_map map, int d, const mor_contact_law* law, double parameter, const double* r,
                          const double* u, double* F, double* A, double* B);

#endif
