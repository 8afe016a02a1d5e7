/* The end of a robot's step, as its slopes (robot_slopes.c) and their transposed (robot_pull.c) see it. */
#ifndef MOREAU_DERIVATIVE_ROBOT_END_H
#define MOREAU_DERIVATIVE_ROBOT_END_H

#include "derivative/look.h"

#define MOR_ROBOT_SLOW 1e-4 /* rad, as in model/robot_motion.c: below, nu_m = nu */

typedef struct mor_base_end {
    const mor_robot *r, *after; /* and at the end of the step */
    const double *M, *M_after;  /* base rows */
    const double* turned;       /* M_b nu_end by q+, 6 x N */
    double P[6], L[36];         /* momentum of the step, about the base; factor of the base block of M_after */
    mor_vec3 arm, arm_after, weight;
    mor_mat3 turn, turn_by; /* rotation of the base at the end by that at the start, and by its velocity */
} mor_base_end;

/* What is known at the end of the step, by the step that follows (d->after), or by advancing the robot of the base step
 * to its end; `turned` is left NULL. *done = false: the
 * step does more than the equations of robot_slopes.c say. MOR_SYSTEM: out of memory. */
mor_code mor_robot_end(mor_derivation* d, int tree, mor_base_end* end, bool* done);
/* Half of the fastest turn of a link in the step [rad]. */
double mor_robot_half_turn(const mor_robot* robot, double h);
/* Adds applied forces to those that move along with the links, 6 per link. */
void mor_robot_link_forces(const mor_derivation* d, const mor_robot* robot, double* wrenches);

#endif
