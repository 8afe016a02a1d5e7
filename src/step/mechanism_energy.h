/* Mechanisms with contacts gain no energy from nothing (mechanism_energy.c). */
#ifndef MOREAU_STEP_MECHANISM_ENERGY_H
#define MOREAU_STEP_MECHANISM_ENERGY_H

#include "model/step.h"

/* Takes out of the velocities of the draft what an island with joints and contacts or limits gained. `world`: the state
 * before the step. MOR_SYSTEM: out of memory. */
mor_code mor_mechanisms_lose_energy(const mor_world* world, mor_step* step);

#endif
