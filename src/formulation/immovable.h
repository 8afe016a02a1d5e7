/* Contacts that no motion opens or closes. */
#ifndef MOREAU_FORMULATION_IMMOVABLE_H
#define MOREAU_FORMULATION_IMMOVABLE_H

#include "model/step.h"

/* Finds which bodies welds hold together (mor_body.weld). */
void mor_find_welds(mor_body* bodies, int body_count, const mor_joint* joints, int joint_count);
/* Takes contacts out of the list whose gap nothing can change, in the draft of the step: between bodies that are welded
 * together, and between links of one robot. False: out of memory. */
bool mor_drop_immovable(const mor_step* step, mor_buffer* contacts);

#endif
