/* What undoing overlaps gives a step is taken back (projection_energy.c). */
#ifndef MOREAU_STEP_PROJECTION_ENERGY_H
#define MOREAU_STEP_PROJECTION_ENERGY_H

#include "model/step.h"

/* Before the projections of a step. */
void mor_projection_energy_begin(const mor_step* step);
/* After an island was moved: it has `kinetic` J and was lifted by `work` J. */
void mor_projection_energy_add(mor_world* draft, const mor_island* island, double kinetic, double work);
/* After the projections: step->projection_work becomes what the step as a whole rose by, and that is taken out of the
 * velocities of what was lifted; `start` is the world that the step began with. step->cured counts. MOR_SYSTEM: out
 * of memory. */
mor_code mor_projection_energy_end(const mor_world* start, mor_step* step);

#endif
