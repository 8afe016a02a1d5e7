/* The narrow phase of one detection: pairs of the broad phase, one after the other or by threads. */
#ifndef MOREAU_COLLISION_SCAN_H
#define MOREAU_COLLISION_SCAN_H

#include "collision/broad_phase.h"

typedef struct mor_scan {
    const mor_world* w;
    mor_broad_phase* bp;
    const mor_collision_options* o;
    int cursor; /* in last step's pair cache */
    mor_narrow_phase narrow;
    void* user; /* of narrow */
    double sweep;
    bool bounces; /* anything in the world */
    mor_found* found;
    mor_code code; /* of the first pair that failed */
    mor_error* error;
    mor_buffer *fresh, *touches; /* where cached pairs and touches go */
    const mor_kept_pairs* kept;  /* pairs at rest of the last detection, NULL: nothing is known of them */
    mor_kept_pairs* keep;        /* and of this one */
    int kept_cursor;
    bool* met;            /* by pair: has it contacts? NULL: nobody asks */
    const mor_vec3* blow; /* by body slot: how a blow may change its velocity, NULL: not at all */
} mor_scan;

/* Tests shapes i and j and adds their contacts. u: what pairs at rest are ordered by, i or, of a shape without bounds,
 * its place in the list. cached: the words of the pair are kept; such pairs come in ascending order. */
void mor_scan_pair(mor_scan* scan, int u, int i, int j, bool cached);

/* Pairs of the tree, in ascending order; by threads where there are many. */
void mor_scan_pairs(mor_scan* scan, const mor_index_pair* pairs, int count);

/* What a contact has of its pair: bodies, shapes, materials, belts; the rest is zero. */
void mor_pair_contact(const mor_world* world, const mor_near_pair* pair, mor_contact* contact);
/* Room for one more contact at the end of the list; NULL: out of memory. */
mor_contact* mor_found_next(mor_found* found);

#endif
