/* The broad phase: shapes in a tree of boxes that are widened by what they can travel, and what is kept from detection
 * to detection. Methods see detect.h. */
#ifndef MOREAU_COLLISION_BROAD_PHASE_H
#define MOREAU_COLLISION_BROAD_PHASE_H

#include "base/workers.h"
#include "collision/bvh.h"
#include "collision/detect.h"
#include "collision/kept_pairs.h"

/* runs of pairs for threads (scan_threads.c) */
enum { MOR_SCAN_PARTS = 32 };

typedef struct mor_shape_slot {
    int body, shape; /* body slot, or -1 when free */
    int proxy;       /* -1: unbounded */
    mor_pose pose;
    double speed, margin; /* of its surface; how far its box was widened */
    double arm;           /* farthest point from the centre of mass that turning moves */
    double epsilon;       /* half of what it asks for by itself */
    bool rests, stays;    /* its body has no velocity; nor had it at the last detection, in the same pose */
    bool placed, fixed;   /* its box was set in this detection; its body is fixed */
    bool fast;            /* it moves by a quarter of its radius or more in the step */
} mor_shape_slot;

typedef struct mor_body_slot {
    uint32_t generation; /* 0: not in the broad phase */
    int first, count;    /* ids in mor_shape_slot, in a chain of consecutive numbers */
} mor_body_slot;

typedef struct mor_cached_pair {
    int i, j;
    uint32_t words[4];
} mor_cached_pair;

/* What one thread finds in a run of pairs. */
typedef struct mor_scan_part {
    mor_buffer contacts, touches, cache; /* mor_contact, mor_touch, mor_cached_pair */
    mor_kept_pairs kept;
} mor_scan_part;

struct mor_broad_phase {
    mor_allocator allocator;
    mor_bvh* tree;
    mor_buffer shapes;     /* mor_shape_slot */
    mor_buffer bodies;     /* mor_body_slot, by body slot */
    mor_buffer unbounded;  /* int: shape ids */
    mor_buffer moved;      /* int: proxies */
    mor_buffer cache[2];   /* mor_cached_pair: last step's and this step's */
    mor_buffer touches;    /* mor_touch: pairs with contacts, of this step */
    mor_buffer head, next; /* int: lists of the seams */
    mor_buffer met, blow;  /* struck.h: bool by pair, whether it has contacts; mor_vec3 by body slot */
    /* pairs at rest, of shapes without bounds (first number: its place in `unbounded`) and of others: those of the last
     * detection, which was for `keeper`, and of this one */
    mor_kept_pairs kept_unbounded[2], kept[2];
    const void* keeper;
    mor_scan_part parts[MOR_SCAN_PARTS]; /* unused with one thread */
    bool admitted;                       /* bodies have come since the last update */
    bool fast;                           /* some shape is */
    uint32_t revision;                   /* of the world whose bodies it has; 0: not known */
    double epsilon;                      /* the option, then */
};

/* Bodies that came and went, poses, widened boxes and the list of what moved. False: out of memory. */
bool mor_broad_phase_update(const mor_world* world, mor_broad_phase* broad_phase, const mor_collision_options* options,
                            double sweep, mor_workers* workers);

#endif
