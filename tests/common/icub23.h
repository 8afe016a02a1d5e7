/* The 23-joint iCub of the whole-body simulator's configuration, from ../shared. */
#ifndef TESTS_COMMON_ICUB23_H
#define TESTS_COMMON_ICUB23_H

#include "moreau/world.h"

#define ICUB_ROBOTS MOREAU_SOURCE_DIR "/../shared/data/robots"

/* Joints in the simulator's order. */
extern const char* const icub23_joints[23];
/* Foot print of both soles (m, sole frame). */
extern const mor_vec3 icub23_print[4];

/* The model with the other joints locked at 0; with the reflected inertia of its motors if asked. NULL when ../shared
 * is not there. */
mor_robot_model* icub23_model(bool reflected, bool shapes);
/* n x n reflected inertia (T Gamma)^-T I_m (T Gamma)^-1. */
void icub23_reflected(double* matrix);

#endif
