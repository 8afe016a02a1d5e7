/* Robots with loops do not gain energy. */
#ifndef MOREAU_STEP_LOOP_ENERGY_H
#define MOREAU_STEP_LOOP_ENERGY_H

#include "model/step.h"

/* After the velocities of a step were made to fit the joints. */
void mor_loops_lose_energy(const mor_step* step);

#endif
