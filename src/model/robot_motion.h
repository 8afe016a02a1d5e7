/* The motion of a tree of links over a step: what the velocity products, momentum and energy make of it. */
#ifndef MOREAU_MODEL_ROBOT_MOTION_H
#define MOREAU_MODEL_ROBOT_MOTION_H

#include "model/world.h"

/* The velocity at which the velocity products of the coming step are taken: `out` (dof). `solve` applies the inverse of
 * the step's mass block. */
void mor_robot_middle_velocity(const mor_robot* robot, double h, void (*solve)(const mor_robot* robot, double* x),
                               double* out);

/* Positions and velocities at the end of a step with velocities nu (nu_free without impulses). */
void mor_robot_finish(mor_world* world, const mor_tree* tree, const double* nu_free, const double* nu,
                      void (*solve)(const mor_robot* robot, double* x));

/* Takes kinetic energy out of a robot that has more than `allowed`, kinetic and potential together [J]: out of the
 * velocities of its joints, and out of all where that is not enough. Motions that close loops close them afterwards.
 * True: there was something to take out. */
bool mor_robot_lose_energy(const mor_world* world, mor_robot* robot, double allowed);

#endif
