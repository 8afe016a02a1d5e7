/* The collision stage `manifold`: broad phase, pair tests, contacts. */
#ifndef MOREAU_COLLISION_DETECT_H
#define MOREAU_COLLISION_DETECT_H

#include "model/step.h"

typedef struct mor_broad_phase mor_broad_phase;

/* Memory of the methods that use the broad phase (mor_collision.create). NULL when out of memory. */
void* mor_broad_phase_create(const mor_allocator* allocator);
void mor_broad_phase_destroy(void* broad_phase);

/* Two shapes that may touch, earlier body first, as the narrow phase gets them. */
typedef struct mor_near_pair {
    const mor_body *a, *b;
    int slot_a, slot_b; /* of the bodies */
    int shape_a, shape_b;
    mor_pose pose_a, pose_b;
    double reach;    /* within which contacts are wanted */
    double motion;   /* how far the pair can move in the step */
    uint32_t* words; /* four, kept with the pair */
} mor_near_pair;

/* Another narrow phase: adds the contacts of the pair, or says by *done = false that it leaves the pair to the
 * library's pair tests. `user` is what mor_detect got. */
typedef mor_code (*mor_narrow_phase)(void* user, mor_found* found, const mor_collision_options* options,
                                     const mor_near_pair* pair, bool* done);

/* Finds all contacts of a state by the broad phase and the library's pair tests; `narrow` (may be NULL) is asked first.
 * `sweep` scales how far a pair may travel in the step when its reach is widened. */
mor_code mor_detect(mor_broad_phase* broad_phase, mor_found* found, const mor_collision_options* options,
                    mor_narrow_phase narrow, void* user, double sweep, mor_error* error);

/* Adds a contact of the pair, with materials and belts filled in. */
mor_code mor_near_pair_contact(mor_found* found, const mor_near_pair* pair, const mor_contact* contact);

#endif
