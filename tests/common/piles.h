/* Piles of spheres that rotate, as reduced contact problems: chains, planar sheets, towers. W = G' M^-1 G is built
 * contact by contact, without the rest of the library, so that solvers meet data made elsewhere. */
#ifndef MOREAU_TESTS_PILES_H
#define MOREAU_TESTS_PILES_H

#include "moreau/problem.h"

typedef enum pile_kind {
    PILE_CHAIN, /* a zigzag column: `width` spheres above one another; graph of contacts: a path */
    PILE_SHEET, /* a vertical hexagonal sheet, `width` spheres wide and `height` rows high, on the floor */
    PILE_TOWER  /* a straight column, the lightest below: each sphere `ratio^(1/(width-1))` times as heavy as the one
                   below */
} pile_kind;

typedef struct pile {
    mor_problem problem; /* FC3D, sparse */
    mor_arena* arena;
} pile;

/* Spheres of radius 0.5 m and density 1, time step 0.01 s, gravity. `ratio`: of masses (towers). `push`: horizontal
 * speed of the free motion. False: out of memory. */
bool pile_build(pile* pile, pile_kind kind, int width, int height, double mu, double ratio, double push);
void pile_free(pile* pile);

#endif
