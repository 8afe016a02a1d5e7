/* Scenes drawn at random, as a careless user might write them: shapes, masses over six decades, joints, overlap at the
 * start, any friction and step. The same number gives the same scene on every machine. */
#ifndef MOREAU_TESTS_DRAWN_SCENES_H
#define MOREAU_TESTS_DRAWN_SCENES_H

#include <stdint.h>

enum { DRAWN_BODIES = 16 };

typedef struct test_drawn {
    char text[16000];          /* the scene file */
    const char* kind;          /* what it is made of: "pile", "chain" ... */
    int count;                 /* bodies, the floor not counted */
    double size[DRAWN_BODIES]; /* half of the longest extent of body b0, b1, ... [m] */
    double mass[DRAWN_BODIES]; /* [kg] */
    double extent, weight;     /* of the whole scene [m], [N] */
} test_drawn;

void test_draw_scene(uint64_t seed, test_drawn* drawn);

#endif
