/* Seams: edges and faces of a shape that a flush neighbour covers are no obstacles (seams.c). */
#ifndef MOR_COLLISION_SEAMS_H
#define MOR_COLLISION_SEAMS_H

#include "collision/manifold.h"

/* Contacts of two shapes in this step, neighbours in the array of contacts. */
typedef struct mor_touch {
    int shape
        [2]; /* numbers of the shapes, the contact's bodies 0 and 1; shapes of one body have neighbouring numbers */
    int body[2];
    bool fixed[2]; /* the body never moves */
    const mor_geometry* geometry[2];
    mor_pose pose[2];
    int first, count;
    double reach;    /* m */
    double gap;      /* the least of its contacts; not a number: none is left */
    mor_vec3 normal; /* of that contact */
    mor_vec3 slip;   /* velocity of body 1 relative to body 0, of their centres of mass [m/s] */
    bool settled;    /* its contacts are those of a common surface */
} mor_touch;

/* Room for mor_seams, from the caller: `head` one number per shape, all -1 on entry and on return; `next` two per
 * touch. */
typedef struct mor_seam_lists {
    int *head, *next;
} mor_seam_lists;

/* May contacts of two such shapes be those of a seam? Others need not be noted. */
bool mor_may_have_seams(const mor_geometry* a, const mor_geometry* b);

/* Is one of the two shapes the ground, which a touch may change without any neighbour? */
bool mor_has_ground(const mor_touch* touch);

/* The largest number of contacts that mor_seams can make of `count`: a touch that may have seams becomes one of at most
 * eight points. */
int mor_seams_most(const mor_touch* touches, int touch_count, int count);

/* Takes the contacts that a seam pretends out of the list, or turns them into those of the common surface. Returns the
 * new number of contacts; the touches are used up. No contact is added beyond `capacity`. Touches come sorted by the
 * numbers of their shapes, lower one first. Deterministic. */
int mor_seams(mor_touch* touches, int touch_count, const mor_seam_lists* lists, mor_contact* contacts, int count,
              int capacity);

#endif
