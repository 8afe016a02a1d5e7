/* Friction of planar bodies with the plane they lie on (support.c). */
#ifndef MOREAU_MODEL_SUPPORT_H
#define MOREAU_MODEL_SUPPORT_H

#include "moreau/world.h"

/* The velocities nu = (v_x, v_y, w) of a body with mass m, inertia I at this angle after the friction of a step h. */
void mor_support_slow(const mor_body_support* support, double m, double I, double angle, double h, double nu[3]);
#endif
