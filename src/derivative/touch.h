/* How the geometry of a contact changes when its two bodies move against each other. */
#ifndef MOREAU_DERIVATIVE_TOUCH_H
#define MOREAU_DERIVATIVE_TOUCH_H

#include "collision/pair_table.h"
#include "derivative/look.h"

/* A contact seen by its first body: what a motion of the second one does. Motions are (translation, rotation vector) at
 * the middle of the contact's two points. */
typedef struct mor_touch {
    mor_vec3 middle, direction[3];       /* as in the rows: normal and tangents */
    mor_vec3 middle_by[6], normal_by[6]; /* by the six numbers of the motion */
    double gap_by[6];
    mor_vec3 tangent_by[2][2]; /* tangents 1, 2 by turns of the normal towards tangents 1, 2 */
    bool known;
} mor_touch;

/* Of the contacts of the base step for which `wanted`; out[contact]. Each pair of shapes is tested on its own, moved to
 * both sides of where it is. *possible = false: a contact is not what the test of its two shapes finds (a seam, an
 * impact within the step), so this way is closed. *lost: a kept contact that slides is found on one side only. */
mor_code mor_touches(const mor_derivation* d, const bool* wanted, mor_touch* out, bool* possible, bool* lost);

/* Does a pair test iterate? Its normals are known to 1e-8 then, and differences must be long. */
bool mor_touch_iterates(mor_pair_test test);

#endif
