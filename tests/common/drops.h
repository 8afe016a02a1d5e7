/* Runs of robots that fall: nothing fails, and what is passive gains no energy in any step. */
#ifndef MOREAU_TESTS_DROPS_H
#define MOREAU_TESTS_DROPS_H

#include "common/worlds.h"
#include "moreau/run.h"

typedef struct drop_result {
    mor_run_summary summary;
    double scale; /* J: largest kinetic energy of the run, or weight times size if larger */
    double speed; /* m/s: fastest centre of mass of a link */
} drop_result;

/* Runs so many steps. Ends the test if a step fails; if `passive`, also if one gains more than 1e-6 of the scale. */
drop_result drop_run(mor_world* world, int steps, bool passive, const char* what);

#endif
