/* Mechanisms gain no energy from nothing (mechanism_energy.c). */
#ifndef MOREAU_STEP_MECHANISM_ENERGY_H
#define MOREAU_STEP_MECHANISM_ENERGY_H

#include "model/step.h"

/* Kinetic and potential energy of the trees of an island [J]. */
void mor_island_energy(const mor_world* world, const mor_island* island, double* kinetic, double* potential);

/* Before the step: keeps the energies of islands with joints. */
void mor_mechanisms_begin(const mor_step* step);
/* Takes out of the velocities of the draft what an island with joints gained, and gives back what it lost if nothing
 * but joints acts; step->cured counts such islands. MOR_SYSTEM: out of memory. */
mor_code mor_mechanisms_lose_energy(const mor_world* start, mor_step* step);

#endif
