/* From contacts to systems: trees, rows and islands of one step. */
#ifndef MOREAU_FORMULATION_ASSEMBLE_H
#define MOREAU_FORMULATION_ASSEMBLE_H

#include "model/step.h"

/* Sorts the contacts, prepares all trees of the draft, finds the islands and writes their systems into the step's
 * arena. False: out of memory, and there are no islands. */
bool mor_assemble(mor_step* step);

/* The tangents t, o of a contact's rows, from the state at the start of the step. */
void mor_contact_tangents(const mor_world* world, const mor_contact* contact, mor_vec3* t, mor_vec3* o);
/* Distance within which contacts of its two shapes are reported (mor_pair_epsilon); infinite if that is left to the
 * method and a shape is not known [m]. */
double mor_contact_epsilon(const mor_world* world, const mor_contact* contact);

/* Radius of the smaller of the two shapes of a contact [m]; 1 where there are none. */
double mor_contact_size(const mor_world* world, const mor_contact* contact);
/* What a loop over contacts has found of the last choice of planes; begins as { -1 }. */
typedef struct mor_choice_depth {
    int contact; /* one of the choice */
    double depth;
} mor_choice_depth;

/* How deep in each other the two pieces of contact i of the list are [m], < 0 for a gap. Of contacts that offer a
 * choice of planes (group > 0) the plane that separates best counts, not each half-space alone; `last` keeps it for the
 * other contacts of the choice. */
double mor_contact_depth(const mor_contact* contacts, int count, int i, mor_choice_depth* last);
/* Fastest speed at which the rows of a step undo an overlap of something of that size, or of a limit [m/s, rad/s]. */
double mor_recovery(const mor_world* world, double size);
/* The same of a contact. 0 if the projection has left it deeper than it does where there is room: bodies pressed from
 * two sides would have to move both ways, which no velocity does. */
double mor_contact_recovery(const mor_world* world, const mor_contact* contact);
/* Contacts deeper than this share of the smaller shape's radius are moved apart after a step (step/project.c). */
#define MOR_PROJECTED 1e-4
/* The same of limits of joints: rad, and m for slides. */
#define MOR_PROJECTED_LIMIT 1e-4

#endif
