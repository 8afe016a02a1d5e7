/* Which test belongs to which two kinds of shape. */
#ifndef MOR_COLLISION_PAIR_TABLE_H
#define MOR_COLLISION_PAIR_TABLE_H

#include "moreau/world.h"

/* The built-in test for shapes of kinds a and b; NULL if they never touch (two fixed kinds, 2-D with
 * 3-D, two particles) or a kind is custom. With *swap the test wants (b, a): call it so, then exchange
 * on_a and on_b and turn the normal of every point. */
mor_pair_test mor_pair_builtin(mor_shape_kind a, mor_shape_kind b, bool* swap);

/* Runs a test for (a, b) whichever way round it is stored; `swap` as mor_pair_builtin gave it. */
int mor_pair_run(mor_pair_test test, bool swap, const mor_geometry* a, const mor_pose* pose_a, const mor_geometry* b,
                 const mor_pose* pose_b, double reach, uint32_t cache[4], mor_point* points);

#endif
