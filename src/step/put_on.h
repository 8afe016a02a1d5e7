/* Setting bodies down, for scenes. */
#ifndef MOREAU_STEP_PUT_ON_H
#define MOREAU_STEP_PUT_ON_H

#include "model/world.h"

/* As mor_world_put_on; without `on`, bodies with waiting[slot] do not count: they are not in their place yet. */
mor_code mor_put_on(mor_world* world, const mor_body_id* bodies, int count, mor_body_id on, const bool* waiting,
                    double* lift, mor_error* error);

#endif
