/* A motion that was observed: poses of bodies at times, and their velocities where they are known. */
#ifndef MOR_LAB_OBSERVED_H
#define MOR_LAB_OBSERVED_H

#include "moreau/world.h"

typedef struct mor_observed {
    int frames, bodies; /* bodies: all of the world, in its order */
    int dropped;        /* rows that were left out because a number is missing */
    bool velocities;    /* they are known */
    double* time;       /* frames [s] */
    double* pose;       /* frames x bodies x 7; bodies that do not move and are not in the file: as in the world */
    double* velocity;   /* frames x bodies x 6 */
} mor_observed;

typedef struct mor_observed_options {
    const char* time;    /* column of the times; NULL: `time`, `t` or `t_s` */
    const char* columns; /* of the one moving body: x,y,z,qw,qx,qy,qz or, in 2-D, x,y,angle; NULL: NAME.x ... */
    const char* rows;    /* COLUMN=VALUE: only rows with that value; NULL: all */
} mor_observed_options;

/* From a recording, or a table (CSV, HDF5) with columns as `moreau run --csv` writes them: NAME.x, .y, .z, .qw, .qx,
 * .qy, .qz (2-D also .angle in their place) and, if they are there for all bodies, .vx, .vy, .vz, .wx, .wy, .wz. */
mor_code mor_observed_read(mor_observed* motion, const char* path, const mor_world* world,
                           const mor_observed_options* options, mor_error* error);
void mor_observed_free(mor_observed* motion);

#endif
