/* Rows of a contact on free bodies (free_sides.c). */
#ifndef MOREAU_FORMULATION_FREE_SIDES_H
#define MOREAU_FORMULATION_FREE_SIDES_H

#include "moreau/math.h"

/* A free body at a contact. */
typedef struct mor_free_side {
    const double* inverse; /* of its mass, 6 x 6 */
    const double* nu;      /* its six velocities */
    mor_vec3 r;            /* from its centre of mass to the contact */
    double sign;           /* -1: body 0 of the contact, 1: body 1 */
    double *J, *Y;         /* to be written, dim x 6 each: rows and responses */
} mor_free_side;

/* Rows and responses of `count` sides (1 or 2) of a contact of `dim` (1 or 3) directions. W, dim x dim, is what they
 * have together, J Y' over the sides; returns `approach` plus the speeds J nu along the first direction. */
double mor_free_sides(const mor_vec3 direction[3], const mor_free_side* side, int count, int dim, double approach,
                      double* W);

#endif
