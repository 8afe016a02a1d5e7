/* Variable steps: how long the next step is (moreau/world.h, mor_world_set_adaptive). */
#ifndef MOREAU_STEP_ADAPTIVE_H
#define MOREAU_STEP_ADAPTIVE_H

#include "model/step.h"

/* After the stage `user` of `step`: tries steps beside it and gives its draft the length that keeps the tolerance.
 * Nothing else of the step and nothing of the world changes. MOR_BAD_INPUT or MOR_SYSTEM: as the stages give them. */
mor_code mor_adaptive_choose(mor_step* step, mor_error* error);

/* Frees what the trials work in. */
void mor_adaptive_free(mor_step* step);

#endif
