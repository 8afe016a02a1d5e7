/* Joints that are far open: closed by moving bodies, as far as they can be (close_joints.c). */
#ifndef MOREAU_STEP_CLOSE_JOINTS_H
#define MOREAU_STEP_CLOSE_JOINTS_H

#include "step/stabilise.h"

/* Before the first step after a change of the world: joints that are open at the start are closed in `world` itself,
 * and what that took is added to its start_work; those that cannot be closed together are marked `apart`. `step` is
 * used as work space. MOR_SYSTEM: out of memory. */
mor_code mor_joints_begin(mor_world* world, mor_step* step);

/* The same on the draft of a step alone, from wherever it is. */
mor_code mor_joints_close(mor_step* step);

/* After positions were corrected by Newton's method from `before`: where that left joints open that this step did not
 * begin with, everything is put back to `before` and closed with damping. */
mor_code mor_close_lost_joints(mor_step* step, const mor_trial* before);

/* After a step: islands that are `wide` are brought nearer to closed joints; adds to projection_work. */
mor_code mor_close_wide_joints(mor_step* step);

#endif
