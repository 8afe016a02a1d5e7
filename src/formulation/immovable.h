/* Contacts that no motion opens or closes. */
#ifndef MOREAU_FORMULATION_IMMOVABLE_H
#define MOREAU_FORMULATION_IMMOVABLE_H

#include "model/step.h"

/* Takes contacts between links of one robot out of the list whose gap no joint can change, in the draft of the step.
 * False: out of memory. */
bool mor_drop_immovable(const mor_step* step, mor_buffer* contacts);

#endif
