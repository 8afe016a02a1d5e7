/* The position projection at the end of a step, in the derivative (projection.c). */
#ifndef MOREAU_DERIVATIVE_PROJECTION_H
#define MOREAU_DERIVATIVE_PROJECTION_H

#include "derivative/look.h"

/* What the projection did. */
typedef struct mor_projection_answer {
    bool same;       /* the step ends, before the projection, where looks at it end */
    int islands;     /* that were moved, over all passes */
    bool weak, lost; /* a contact is on the edge between moving the bodies and not; one is found on one side only */
    double distance; /* of the deepest contact to where the projection begins to act [m] */
} mor_projection_answer;

/* Takes the base step to its end and applies the derivative of the projection to the ends of the columns. */
mor_code mor_projection_columns(mor_derivation* d, mor_columns* c, mor_projection_answer* out, mor_error* error);
/* How far the deepest contact at the end of a step that was taken is from where the projection acts [m]; -1: it acted,
 * or this is not known. */
double mor_projection_distance(const mor_step* taken);

#endif
