/* The exam: experiments with answers from closed forms, or from reduced equations integrated to rounding, all run with
 * the default methods of a scene. `make exam` runs all and writes docs/results/exam.md; tests/test_exam.c runs the
 * quick ones. */
#ifndef MOREAU_TESTS_EXAM_H
#define MOREAU_TESTS_EXAM_H

#include "moreau/moreau.h"

#include <stdbool.h>
#include <stdio.h>

/* What an experiment works with: one world at a time, and what was counted on the way. */
typedef struct exam {
    mor_scene* scene;
    mor_world* world;
    double expected; /* the experiment writes it */
    double scale;    /* of the error; 0: |expected| */
    int steps, unsolved;
    char trouble[256]; /* the first reason why something could not be run */
} exam;

/* One row of the table. */
typedef struct experiment {
    const char *area, *name;
    const char* answer; /* where the expected value comes from */
    const char* unit;
    double step;                    /* h of the row [s]; the order is seen at h/2 */
    double tolerance;               /* of |got - expected| over the scale */
    double (*run)(exam*, double h); /* returns what was got */
    const char* wide;               /* why the tolerance is above 1 %; NULL: it is not */
    const char* cause;              /* why it is known to fail; NULL: it should not */
    bool slow;                      /* left out of the quick exam */
} experiment;

/* What came of it. */
typedef struct exam_row {
    const experiment* of;
    double expected, got, error, order; /* order: NaN where the error is rounding */
    int steps, unsolved;
    double seconds;
    bool right;
    char trouble[256];
} exam_row;

/* The tables, one per area; each ends with a row without a name. */
extern const experiment exam_statics[], exam_friction[], exam_impact[], exam_rolling[], exam_gyroscopic[],
    exam_mechanisms[], exam_robots[], exam_geometry[], exam_scales[], exam_long[], exam_grains[];
extern const experiment* const exam_areas[];

/* Runs one experiment at its step and at half of it. */
exam_row exam_run(const experiment* experiment, bool with_order);
/* The page of results with its picture (`picture`: file beside it). False: it cannot be written. */
bool exam_write(const char* page, const char* picture, const exam_row* rows, int count);

/* ------------------------------------------------------------------ for the experiments */

/* A world from the text of a scene after `moreau: 1` and its time step; ends the one before. */
void exam_open(exam* e, double h, const char* format, ...) MOR_PRINTF(3, 4);
void exam_end(exam* e);
void exam_step(exam* e);
/* Steps up to that time. */
void exam_until(exam* e, double time);
mor_body_state exam_body(const exam* e, const char* name);
/* Whether steps can still be taken, up to that time. */
bool exam_going(const exam* e, double time);
/* Impulse over h that the contacts of the last step put on a body, world axes [N]. */
mor_vec3 exam_force(const exam* e, const char* name);
/* The smallest parameter in (low, high) for which `holds` is true, which is false below: 20 bisections. */
double exam_threshold(exam* e, double h, double low, double high, bool (*holds)(exam*, double h, double parameter));
/* y of y' = f(t, y) at `time` from y at 0, n <= 16, by fixed fine steps of Runge and Kutta's method; returns false when
 * `stop` (may be NULL) became negative: y and *time are then those of the crossing. */
typedef void (*exam_rates)(double t, const double* y, double* f, const void* user);
bool exam_integrate(exam_rates f, const void* user, int n, double* y, double* time, int steps,
                    double (*stop)(const double* y, const void* user));
/* Complete elliptic integral of the first kind K(k), by the arithmetic-geometric mean. */
double exam_elliptic(double k);

/* A rattleback of 1 kg: half axes [m], principal moments of inertia [kg m^2] about axes turned by `skew` [rad] against
 * those of the surface, spin [rad/s] and tilt [rad] at the start. */
typedef struct exam_stone {
    double half[3], inertia[3], skew, spin, tilt;
} exam_stone;
/* When its spin reverses [s]; e->expected is the answer of rolling without slip, NaN: not within 20 s. */
double exam_rattleback(exam* e, double h, const exam_stone* stone);

#define EXAM_PI 3.14159265358979323846
#define EXAM_G 9.81
#define EXAM_FLOOR "  - { name: floor, shape: plane, fixed: true }\n"

#endif
