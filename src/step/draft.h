/* The draft of a step: taking the state of a world, and giving it back. */
#ifndef MOREAU_STEP_DRAFT_H
#define MOREAU_STEP_DRAFT_H

#include "model/step.h"

/* A step that only keeps a draft: it has no threads of its own. NULL: out of memory. */
mor_step* mor_step_create_plain(const mor_world* world);

/* Makes the draft of `step` the state of the world; contacts and systems of an earlier step are gone. MOR_SYSTEM: out
 * of memory, and the step is empty. */
mor_code mor_step_take(const mor_world* world, mor_step* step);
/* Writes the draft into the world: motion, joints, robots, control, time. */
void mor_step_give(mor_world* world, mor_step* step);
/* Motion of bodies and robots alone. */
void mor_step_give_motion(mor_world* world, const mor_step* step);
/* mor_world_set_step, but a world with variable steps keeps them. */
void mor_world_change_step(mor_world* world, double h);
/* The step is no longer its world's last; what it knows of that world is forgotten. */
void mor_step_leave(mor_step* step);
/* Methods and options of the draft follow the world's, which may be chosen between stages. */
void mor_step_follow(const mor_world* world, mor_step* step);

#endif
