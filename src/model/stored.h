/* A world made from a stored frame: trees whose mass and Jacobians are numbers, rows that are given (io/bpmd_trees.c).
 * */
#ifndef MOREAU_MODEL_STORED_H
#define MOREAU_MODEL_STORED_H

#include "model/world.h"

/* An articulated tree of which only the frame is known. */
typedef struct mor_stored_tree {
    int dof;
    const double *mass, *inverse; /* dof x dof, row-major */
    const double *nu, *nu_free;
    const double* links; /* 6 x dof per link: velocity of its centre of mass, angular velocity */
} mor_stored_tree;

struct mor_row_block;

typedef struct mor_stored {
    mor_arena* arena; /* owns all of it */
    mor_stored_tree* trees;
    int tree_count;
    const double* nu_free;      /* all trees of the world in order, NAN: as the tree says; NULL: none given */
    struct mor_row_block* rows; /* instead of those of joints and robots (formulation/rows.h) */
    int row_count;
} mor_stored;

extern const mor_tree_kind mor_tree_stored;
void mor_stored_free(mor_stored* stored);

#endif
