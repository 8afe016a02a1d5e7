/* The systems of all islands of a step (island_systems.c). */
#ifndef MOREAU_FORMULATION_ISLAND_SYSTEMS_H
#define MOREAU_FORMULATION_ISLAND_SYSTEMS_H

#include "formulation/rows.h"
#include "model/step.h"

enum { MOR_MASS_DOF = 512 }; /* trees that give products cheaply have no larger dense mass blocks */

/* Trees, contacts and blocks of joint rows of every island: island i has list[start[i]] ... list[start[i + 1] - 1]. */
typedef struct mor_island_lists {
    int count;
    int* label; /* tree -> island, -1: nothing acts on it */
    int* local; /* tree -> its number in the island */
    int *tree_start, *tree_list;
    int *contact_start, *contact_list;
    int (*contact_trees)[2]; /* of every contact, -1: a body that nothing moves */
    int* row_start;
    mor_row_block** row_list;
    mor_row_block* rows;
    int contact_count, row_count;
    int coefficients, row_total, diagonals; /* of all islands together, or more */
} mor_island_lists;

/* Where `prepare` of a tree of the step shall write its mass block; NULL: into memory of the tree. Systems look at it
 * there, which saves copies as large as all else of a robot. Steps beside others have blocks of their own: what the
 * other looks at must stay. */
double* mor_prepared_mass(const mor_step* step, int tree);

/* Writes step->islands in the step's arena. False: out of memory, and there are none. */
bool mor_write_islands(mor_step* step, const mor_island_lists* lists);

#endif
