/* Robots do not gain energy from loops and contacts. */
#ifndef MOREAU_STEP_ROBOT_ENERGY_H
#define MOREAU_STEP_ROBOT_ENERGY_H

#include "model/step.h"

/* After the velocities of a step were made to fit the joints. */
void mor_robots_lose_energy(mor_step* step);

#endif
