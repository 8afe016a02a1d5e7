/* Islands at rest (rest.c). */
#ifndef MOREAU_STEP_REST_H
#define MOREAU_STEP_REST_H

#include "model/step.h"

/* After the solve of an island: speeds that are rounding become 0 where the contacts hold every body. */
void mor_rest_hold(const mor_world* draft, mor_island* island, mor_arena* arena);

/* May steps of this world repeat, as far as its methods go? */
bool mor_rest_may_skip(const mor_world* world);

/* At the end of a step, before the world takes it over: which islands left their state as it was. False: out of
 * memory. */
bool mor_rest_note(const mor_world* before, mor_step* step);

#endif
