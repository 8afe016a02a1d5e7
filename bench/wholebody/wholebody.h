/* What the measurements of a humanoid on its feet share: one robot, alone (main.c) and many at once (batch.c). */
#ifndef BENCH_WHOLEBODY_H
#define BENCH_WHOLEBODY_H
#include <stdbool.h>

#include "moreau/moreau.h"
#ifdef HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

typedef struct robot {
    const char* label;
    mor_robot_model* model;
    int feet[2]; /* frames */
    mor_vec3 print[4];
    double height; /* of the base so that the lowest sphere touches */
} robot;

/* CPU time of the process [s]. */
double bench_cpu(void);

/* Ends the program with the sentence unless the code is MOR_OK. */
void bench_fine(mor_code code, const mor_error* error);

/* The model of a URDF file, with these joints only if `joints` is not NULL; NULL with a sentence: it cannot be read. */
mor_robot_model* bench_read_model(const char* path, const char* const* joints, int count);

/* A robot with four spheres under each of the frames `left` and `right`, at the corners x0 x1 y0 y1 of a sole. */
robot bench_make(const char* label, mor_robot_model* model, const char* left, const char* right, const double box[4]);

/* The robot on its feet; `scratch`: 3 dof + 1 numbers that live as long as the world. */
mor_world* bench_our_world(robot* r, const char* formulation, const char* solver, double* scratch);

#ifdef HAVE_MUJOCO
mjModel* bench_their_model(const robot* r, bool elliptic, bool motors);
void bench_their_steps(const mjModel* m, mjData* d, int count);
#endif

/* `count` robots at once on 1 and on all cores, in turns with MuJoCo; prints a table. */
void bench_batch(robot* r, int count, int rounds);
#endif
