/* Writing the rows of one island (contact_rows.c). */
#ifndef MOREAU_FORMULATION_CONTACT_ROWS_H
#define MOREAU_FORMULATION_CONTACT_ROWS_H

#include "formulation/rows.h"

/* What contacts of the same shapes along the same normal share. */
typedef struct mor_pair_rows {
    const mor_contact* of; /* the last one; NULL: none yet */
    mor_vec3 t, o;
    double size, epsilon; /* mor_contact_size, mor_contact_epsilon */
} mor_pair_rows;

/* An island under construction. Numbers in blocks and entries are relative to the island. */
typedef struct mor_row_builder {
    const mor_step* step;
    mor_contact_row* rows;
    mor_contact_geometry* geometry; /* NULL: not asked for */
    mor_block* blocks;
    mor_entry* entries;
    double *jacobian, *response, *diagonal, *bias;
    int* diagonal_start;
    const int* local;      /* world tree -> tree within its island */
    const int* world_tree; /* and back */
    int entry_count, coef_count, diagonal_count, row_count, block_count, contact_count;
    double* six;        /* responses of the six velocities of a body (mor_tree_kind.respond6), row by row, and scratch
                           for eight */
    const mor_body* of; /* whose they are; NULL: nobody's */
    mor_pair_rows pair; /* of the contact before */
    bool free_bodies;   /* nothing else is in the island: contacts without rolling get all of theirs at once */
    bool no_diagonals;  /* some block has none yet */
} mor_row_builder;

/* Adds contact number `index` of the step as the next block; `old` is the same contact in the last step, or NULL. */
void mor_add_contact_rows(mor_row_builder* builder, int index, const mor_contact* old);
/* Adds a block of joint rows. */
void mor_add_joint_rows(mor_row_builder* builder, const mor_row_block* from);
/* How many rows it has. */
int mor_contact_dim(const mor_world* world, const mor_contact* contact);
/* W_cc of all blocks from `first` on and the approach of the contacts; after the rows, which the processor has not yet
 * stored when they are just written. */
void mor_fill_diagonals(const mor_row_builder* builder, const mor_system* system, int first);

#endif
