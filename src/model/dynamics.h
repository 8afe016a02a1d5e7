/* Robots whose dynamics come from a table of functions. */
#ifndef MOREAU_MODEL_DYNAMICS_H
#define MOREAU_MODEL_DYNAMICS_H

#include "model/world.h"

extern const mor_tree_kind mor_tree_plugged;

/* Takes a copy of the table and makes room; false with a sentence if an entry is missing. */
bool mor_dynamics_take(mor_robot* robot, const mor_dynamics* table, mor_error* error);
/* Poses and velocities of the links, from the table. */
void mor_dynamics_write_bodies(mor_world* world, const mor_robot* robot);
/* Forces on links and joints as one generalised force, in robot->force (robots.c). */
void mor_robot_gather_forces(const mor_world* world, mor_robot* robot);
/* The integration of robots (robots.c), shared by both kinds. */
void mor_robot_advance_state(mor_world* world, const mor_tree* tree, const double* nu_free, const double* nu,
                             const double* mass);
void mor_robot_correct_state(mor_world* world, const mor_tree* tree, const double* delta, bool velocity);

#endif
