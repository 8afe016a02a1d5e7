/* The contact law next to an answer: A_p dp + A_u du + g dmu = 0 for each kept block. */
#ifndef MOREAU_DERIVATIVE_LAW_H
#define MOREAU_DERIVATIVE_LAW_H

#include "moreau/problem.h"

typedef enum mor_contact_phase { MOR_PHASE_OPEN, MOR_PHASE_STICK, MOR_PHASE_SLIDE } mor_contact_phase;

typedef struct mor_law {
    double A_p[9], A_u[9], g[3]; /* row-major */
    mor_contact_phase phase;
    double slip[2]; /* tangential velocity [m/s] */
    double margin;  /* to the next change of phase [m/s] */
    bool weak;      /* nearer than the answer can tell */
} mor_law;

#define MOR_TORN 1e-6 /* of the largest right-hand side, at least of 1 m/s per unit: what rows cannot follow */

/* The laws of the kept blocks of a step. */
typedef struct mor_laws {
    mor_law* law;
    int* weak; /* kept blocks that are on an edge: they are looked at, dp = 0 */
    int weak_count;
    double slip; /* the slowest [m/s] */
} mor_laws;

/* p, u: impulse and velocity of a contact of 1 to 3 rows, W: its own block of G' M^-1 G (dim x dim), `edge`: velocities
 * below it are zero. directions: corners of the polygon, 0: the cone. relaxed: the convex law, with R on the diagonal.
 * */
mor_law mor_contact_law(int dim, const double* p, const double* u, double mu, const double* W, int directions,
                        bool relaxed, double R, double edge);

#endif
