/* Passes that solve a step again about its own end (relinearise.c). */
#ifndef MOREAU_STEP_RELINEARISE_H
#define MOREAU_STEP_RELINEARISE_H

#include "model/step.h"

/* After the islands are solved: as many passes as the option says; `again` assembles and solves. The contacts of the
 * step then have normals, points and gaps of its end. MOR_SYSTEM: out of memory. */
mor_code mor_relinearise(mor_step* step, mor_code (*again)(mor_step*), mor_error* error);

#endif
