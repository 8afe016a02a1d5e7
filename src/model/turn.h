/* Turning a free rigid body so that angular momentum and energy stay. */
#ifndef MOREAU_MODEL_TURN_H
#define MOREAU_MODEL_TURN_H

#include "moreau/math.h"

#include <stdbool.h>

/* What turning needs of a body: inertia about the centre of mass and its inverse, body axes. */
typedef struct mor_turning {
    const mor_mat3 *J, *inverse;
} mor_turning;

/* The same inertia about all axes: nothing depends on the orientation. */
bool mor_turns_alike(mor_turning body);

/* Rotational energy of angular momentum L (world) at orientation q, and the angular velocity in *w if not NULL. */
double mor_turn_energy(mor_turning body, mor_quat q, mor_vec3 L, mor_vec3* w);

/* Free motion over h: the new orientation. *mean (or NULL) receives the mean angular velocity of the step, world axes;
 * the guess is the present one. */
mor_quat mor_turn_free(mor_turning body, mor_quat q, mor_vec3 L, double h, mor_vec3 guess, mor_vec3* mean);

/* The nearest orientation with rotational energy `energy`. False, with *q as it was, if no turn of at most `most` rad
 * gets there; *angle (or NULL) receives the turn. */
bool mor_turn_to_energy(mor_turning body, mor_vec3 L, double energy, double tolerance, double most, mor_quat* q,
                        double* angle);

#endif
