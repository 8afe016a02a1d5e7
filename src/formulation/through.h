/* Contacts a body would go through within the step, for formulations whose contacts act only when they are near. */
#ifndef MOREAU_FORMULATION_THROUGH_H
#define MOREAU_FORMULATION_THROUGH_H

#include "moreau/world.h"

/* Would the contact, by its approach at the start of the step, end deeper than a quarter of what the thinner of its
 * shapes is thick, or deeper than `most` [m]? The system must have its geometry; without shapes `most` alone counts. */
bool mor_goes_through(const mor_system* system, int contact, double most);

#endif
