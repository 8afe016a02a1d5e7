/* Friction of planar bodies with the plane they lie on (support.c). */
#ifndef MOREAU_MODEL_SUPPORT_H
#define MOREAU_MODEL_SUPPORT_H

#include "model/step.h"

/* The velocities nu = (v_x, v_y, w) of a body with mass m, inertia I at this angle after the friction of a step h. */
void mor_support_slow(const mor_body_support* support, double m, double I, double angle, double h, double nu[3]);

/* The friction as part of the mass for a body that something acts on, linearised about the velocities `at`: with an
 * impulse Q of a contact its velocity is nu_free + M^-1 Q. `nu_free`: without friction on entry. M, Mi: 3 x 3. */
void mor_support_linearise(const mor_body_support* support, double m, double I, double angle, double h,
                           const mor_support_look* look, const double at[3], double nu_free[3], double M[9],
                           double Mi[9]);
/* How far the slip of the points changed from `at` to nu, as a part of it; 1 if a point began or ceased to stick, which
 * `sticks` has after it. */
double mor_support_change(const mor_body_support* support, double angle, double h, const double at[3],
                          const double nu[3], uint64_t* sticks);

/* support_step.c: which bodies with friction of this kind something may act on. */
void mor_support_mark(mor_step* step);
/* After a solve: true if the friction must be linearised anew, and the step solved again. */
bool mor_support_revise(mor_step* step);
/* The next step begins afresh. */
void mor_support_forget(mor_step* step);
#endif
