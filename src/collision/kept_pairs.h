/* Pairs at rest: what a pair test found is found again as long as neither shape moves (kept_pairs.c). */
#ifndef MOREAU_COLLISION_KEPT_PAIRS_H
#define MOREAU_COLLISION_KEPT_PAIRS_H

#include "collision/seams.h"
#include "model/world.h"

/* One pair of shapes at rest and its contacts, before seams are closed. */
typedef struct mor_kept_pair {
    int i, j;         /* pairs come in ascending order */
    int first, count; /* its contacts in the list */
    double deepest;   /* penetration, before psi_min; 0: none */
    mor_touch touch;  /* of a pair with contacts that may have seams; count 0: none */
} mor_kept_pair;

typedef struct mor_kept_pairs {
    mor_buffer pairs, contacts; /* mor_kept_pair, mor_contact */
} mor_kept_pairs;

/* The pair, which comes later than all asked for before with this cursor; NULL: it was not at rest. */
const mor_kept_pair* mor_kept_find(const mor_kept_pairs* kept, int* cursor, int i, int j);
/* The first pair that is not before (i, j). */
int mor_kept_from(const mor_kept_pairs* kept, int i, int j);

/* Adds a pair with `count` contacts. False: out of memory. */
bool mor_kept_add(const mor_allocator* allocator, mor_kept_pairs* kept, const mor_kept_pair* pair,
                  const mor_contact* contacts);
/* Appends all of `from`. False: out of memory. */
bool mor_kept_append(const mor_allocator* allocator, mor_kept_pairs* to, const mor_kept_pairs* from);

void mor_kept_empty(mor_kept_pairs* kept);
void mor_kept_free(const mor_allocator* allocator, mor_kept_pairs* kept);

#endif
