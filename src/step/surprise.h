/* A step that ends in a pair it did not look at: noticed, and taken back to where its forces are known. */
#ifndef MOREAU_STEP_SURPRISE_H
#define MOREAU_STEP_SURPRISE_H

#include "model/step.h"

/* Before the step is assembled: keeps the draft, if such a step may come of it. MOR_SYSTEM: out of memory. */
mor_code mor_surprise_keep(mor_step* step);
/* After `measure`: does the step end in a pair that it did not look at? Not asked twice in a step. */
bool mor_surprise_met(const mor_step* step);
/* The draft as it was kept, and how much farther `collide` looks now. MOR_SYSTEM: out of memory. */
mor_code mor_surprise_back(mor_step* step);

#endif
