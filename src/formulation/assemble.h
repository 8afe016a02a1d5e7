/* From contacts to systems: trees, rows and islands of one step. */
#ifndef MOREAU_FORMULATION_ASSEMBLE_H
#define MOREAU_FORMULATION_ASSEMBLE_H

#include "model/world.h"

/* Sorts the contacts, prepares all trees, finds the islands and writes their systems into the
 * world's arena. Sets world->out_of_memory on failure. */
void mor_assemble(mor_world* world);

/* The tangents t, o of a contact's rows, from the state at the start of the step. */
void mor_contact_tangents(const mor_world* world, const mor_contact* contact, mor_vec3* t, mor_vec3* o);

#endif
