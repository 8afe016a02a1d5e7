/* Inverse dynamics along an observed motion, and values of the scene fitted to it without simulation.
 *
 *     mor_error error = { 0 };
 *     mor_inversion inversion;
 *     mor_observed motion = { 0 }; // of mor_observed_read
 *     mor_inversion_request request = { .scene = "scenes/incline.yaml", .options = mor_inverse_options_default() };
 *     mor_code code = mor_inversion_make(&inversion, &request, &motion, &error);
 *     mor_inversion_free(&inversion);
 */
#ifndef MOR_LAB_INVERSE_H
#define MOR_LAB_INVERSE_H

#include "lab/observed.h"
#include "moreau/inverse.h"
#include "moreau/scene.h"

#include <stdio.h>

enum { MOR_FIT_VALUES = 16 };

typedef struct mor_inversion_request {
    const char* scene;      /* file */
    const char* const* set; /* "key=value" or NULL */
    const mor_library* library;
    mor_inverse_options options;
    bool poses; /* velocities are differences of poses, even if the motion has them */
    bool check; /* take the forward step too */
    bool (*stop)(void* user);
    void* user;
} mor_inversion_request;

/* What a motion says, step by step. */
typedef struct mor_inversion {
    int steps, count;               /* steps, and numbers of nu */
    double *time, *h;               /* steps: at the start; length */
    double *force, *change;         /* steps x count: unknown forces; what they make of the velocities */
    double* normal;                 /* steps: sum of the normal impulses [N s] */
    int *contacts, shared, bounces; /* contacts of each step; steps whose impulses are not unique; impacts in all */
    double rms_change, largest_change;
    int largest_step, largest_number; /* where that is */
    double left;                      /* largest of all steps: what is not explained, rounding */
    double forward;                   /* largest difference of the forward step's velocities (check), NaN: not asked */
    int unsolved;                     /* forward steps that failed */
    bool stopped;
} mor_inversion;

mor_code mor_inversion_make(mor_inversion* inversion, const mor_inversion_request* request, const mor_observed* motion,
                            mor_error* error);
void mor_inversion_free(mor_inversion* inversion);
/* "box force x", "box torque z": what a number of nu is. */
void mor_inversion_label(const mor_world* world, int number, char* text, size_t size);

/* One value that is fitted. */
typedef struct mor_fit_value {
    const char* path; /* as in --set */
    double start, value, error;
    bool identified;
    char why[160]; /* if it is not */
} mor_fit_value;

/* Values with which the unknown forces are least: Gauss-Newton on the changes of the velocities that they make, those
 * of bodies weighed by the square roots of mass and mean moment of inertia at the start values. *before and *after:
 * root mean square of these [sqrt(J)]. */
mor_code mor_inversion_fit(const mor_inversion_request* request, const mor_observed* motion, mor_fit_value* values,
                           int count, double* before, double* after, int* iterations, mor_error* error);

#endif
