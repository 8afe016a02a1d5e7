/* Runs of robots that fall: nothing fails, and what is passive gains no energy in any step. */
#ifndef MOREAU_TESTS_DROPS_H
#define MOREAU_TESTS_DROPS_H

#include "common/worlds.h"
#include "moreau/run.h"

typedef struct drop_result {
    mor_run_summary summary;
    double scale;      /* J: largest kinetic energy of the run, or weight times size if larger */
    double speed;      /* m/s: fastest centre of mass of a link */
    char problem[300]; /* what the run must not do: a failed step, a gain; empty: nothing */
} drop_result;

/* Runs so many steps. `passive`: a step that gains more than 1e-6 of the scale is a problem. */
drop_result drop_try(mor_world* world, int steps, bool passive);

/* The same; a problem ends the test. */
drop_result drop_run(mor_world* world, int steps, bool passive, const char* what);

#endif
