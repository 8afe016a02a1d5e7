/* Groups of contacts that threads may visit at the same time (pack_groups.c). */
#ifndef MOR_SOLVER_PACK_GROUPS_H
#define MOR_SOLVER_PACK_GROUPS_H

#include "moreau/problem.h"

enum { MOR_PACK_SLABS = 8, MOR_PACK_GROUPS = 2 * MOR_PACK_SLABS - 1 };

/* Group g has the contacts order[start[g]] ... order[start[g + 1] - 1], ascending. The first `inner` groups share no
 * tree with each other, nor do those after them. */
typedef struct mor_pack_groups {
    int* order;
    int start[MOR_PACK_GROUPS + 1];
    int count, inner;
} mor_pack_groups;

/* Groups of the first `contacts` blocks of the form, which are contacts; one group where they are few. They follow from
 * the form alone. False: out of memory. */
bool mor_pack_groups_find(mor_pack_groups* groups, const mor_step_form* form, int contacts, mor_arena* arena);

#endif
