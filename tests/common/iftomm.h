/* Answers to the IFToMM benchmarks that do not come from this library, and how far a world is from them. */
#ifndef MOREAU_TESTS_IFTOMM_H
#define MOREAU_TESTS_IFTOMM_H

#include "moreau/moreau.h"

/* A pendulum of 1 m that falls out of the horizontal at x = +1: its mass at time t, by Jacobi's functions. */
void iftomm_a01(double t, double xy[2]);
/* N four-bars out of the vertical with the tips at 1 m/s: tip of rod 0 at time t, by the equation for the common angle.
 * */
void iftomm_a02(int N, double t, double xy[2]);
/* The largest differences from the IVP test set's state at t = 0.03: angles and their rates, each against its own
 * value; multipliers against the largest. (The stored multipliers differ from those that the equations give for the
 * stored state, computed with 50 digits, by 7e-8 of the largest, and by 1.3e-6 of itself in the last.) */
void iftomm_a03(mor_world* world, double error[3]);
/* Height of the slider of the governor at times 0, dt, ... (count), by the equations for arm angle and slider. */
void iftomm_a05(double dt, int count, double* s);

#endif
