/* A system with room for more contacts, for formulations that add some while they solve a step (append.c). */
#ifndef MOREAU_FORMULATION_APPEND_H
#define MOREAU_FORMULATION_APPEND_H

#include "moreau/world.h"

typedef struct mor_system_room {
    mor_system system; /* of the first contacts and those added; its arrays are the ones below */
    int capacity, added;
    mor_contact_row* contacts;
    mor_block* blocks;
    mor_entry* entries;
    double *jacobian, *response, *diagonal;
    int* diagonal_start;
    int entry_count, coefficient_count, diagonal_count;
} mor_system_room;

/* One more contact between bodies that are trees of their own, or do not move. */
typedef struct mor_added_contact {
    mor_vec3 point;        /* world */
    mor_vec3 direction[3]; /* normal, t, o */
    int dim;               /* rows */
    mor_vec3 x[2];         /* centres of mass */
    mor_vec3 v[2], w[2];   /* of bodies that have no tree */
    int tree[2];           /* in the system, -1: none */
} mor_added_contact;

/* Copies the system, with room for `more` contacts, into the arena; false: out of memory. */
bool mor_system_make_room(const mor_system* system, int more, mor_arena* arena, mor_system_room* room);
/* Adds a contact as the last block, its row otherwise like `model`. Returns its row, whose drift is set; its gap is the
 * caller's to set. There must be room. */
mor_contact_row* mor_system_append_contact(mor_system_room* room, const mor_contact_row* model,
                                           const mor_added_contact* contact);

#endif
