/* What a step does to every tree by itself, on all its threads. */
#ifndef MOREAU_MODEL_EACH_TREE_H
#define MOREAU_MODEL_EACH_TREE_H

#include "model/step.h"

/* Calls task(step, tree) once for every tree of the step's world, on as many threads as the step has where that pays.
 * A task may write what belongs to its tree, and nothing else: then the order does not matter. Trees of plug-ins, of
 * springs and of stored problems are left to the caller's thread. */
void mor_step_each_tree(mor_step* step, void (*task)(mor_step* step, int tree));

#endif
