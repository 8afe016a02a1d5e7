/* Rows and answers of islands at rest, kept from step to step (kept_rows.c). */
#ifndef MOREAU_FORMULATION_KEPT_ROWS_H
#define MOREAU_FORMULATION_KEPT_ROWS_H

#include "model/step.h"

/* Trees and contacts of an island, in world order. */
typedef struct mor_members {
    const int *trees, *contacts;
    int tree_count, contact_count;
} mor_members;

/* Did the island leave its state as it was in the last step, and has nothing changed since? Its number among those that
 * are kept, or -1. `geometry`: the system must have it. */
int mor_kept_island(const mor_step* step, const mor_members* members, bool geometry);

/* Its rows become those of the system; `members` are its contacts in this step. */
void mor_kept_use(mor_step* step, int number, const mor_members* members, mor_system* system);
/* Its answer and report become those of the island. */
void mor_kept_answer(const mor_step* step, mor_island* island);

/* At the end of the step: `came_back` says of every island whether the state is what it was. False: out of memory. */
bool mor_kept_note(mor_step* step, const bool* came_back);

/* What detection finds of two contacts, and what a step adds, bit by bit. */
bool mor_contacts_found_alike(const mor_contact* a, const mor_contact* b);
bool mor_contacts_solved_alike(const mor_contact* a, const mor_contact* b);

#endif
