/* What the stages share. */
#ifndef MOREAU_STEP_STAGES_H
#define MOREAU_STEP_STAGES_H

#include "model/step.h"

/* Before a stage: MOR_BAD_INPUT with a sentence if the step has not come as far as `phase`, or the world is no longer the
 * one it began with; the draft takes over the methods of the world. */
mor_code mor_step_needs(const mor_world* world, mor_step* step, mor_step_phase phase, const char* stage,
                        const char* before, mor_error* error);
/* MOR_STOPPED with a sentence that says why the step is not taken. */
mor_code mor_step_not_taken(const mor_step* step, mor_error* error);
/* Fills step->report from the step and the world after it, or before it if it was not taken. */
void mor_step_fill_report(const mor_world* world, mor_step* step);
/* Calls the observers. */
void mor_step_observe(const mor_world* world, mor_step* step);

#endif
