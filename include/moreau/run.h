/* The numbers of a run: what `moreau run --json` says, for callers that step a world themselves.
 *
 *     mor_error error = { 0 };
 *     mor_scene* scene = mor_scene_load("scenes/bounce.yaml", NULL, NULL, &error);
 *     mor_world* world = mor_scene_build(scene, 1, &error);
 *     mor_run* run = mor_run_create(world, 1000, &error);
 *     mor_code code = mor_run_advance(run, 1000, &error);
 *     mor_run_summary s = mor_run_summarise(run);
 *     printf("%s: energy %g -> %g J\n", mor_run_status_name(s.status), s.energy.initial, s.energy.final);
 *     mor_run_destroy(run);
 *     mor_world_destroy(world);
 *     mor_scene_destroy(scene);
 *
 * A run watches one world from the moment it is made. It reads the world and changes nothing in it, so a run that is
 * watched has the bits of one that is not. Many worlds with a run each may live in one process.
 *
 * Threads: a run belongs to the thread that steps its world; two runs of two worlds may be used at the same time.
 * Ownership: the run keeps a pointer to the world. Destroy the run first.
 * ABI: mor_run is opaque. mor_run_summary is a plain struct that may grow at its end between minor versions. */
#ifndef MOREAU_RUN_H
#define MOREAU_RUN_H

#include "moreau/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mor_run mor_run;

/* How a run went, in the words of `moreau run --json`. */
typedef enum mor_run_status {
    MOR_RUN_OK,
    MOR_RUN_BELOW_GOAL, /* some steps missed the accuracy asked for, none the one that counts as failure */
    MOR_RUN_FAILED,     /* the error of at least one step is above what counts as failure */
    MOR_RUN_DIVERGED,   /* a velocity is not finite, or the kinetic energy is above 1e30 J */
    MOR_RUN_APPROXIMATE /* some steps were answered by a method with a fixed budget: max_velocity_error tells how */
} mor_run_status;

/* "ok", "below_goal", "failed", "diverged", "approximate". Static text. */
MOR_API const char* mor_run_status_name(mor_run_status status);

/* A joint outside its limits. */
typedef struct mor_start_limit {
    char joint[160]; /* "joint" or "robot/joint" */
    double by;       /* how far [rad, m] */
} mor_start_limit;

/* A joint whose frames are not together. */
typedef struct mor_start_open {
    char joint[160]; /* its name */
    double by;       /* how far it is open [m, rad] */
    double left;     /* what is left when bodies have been moved to close all joints; more than the tolerance of
                        method.stabilisation: joints exclude each other */
} mor_start_open;

/* What is wrong with a state before a step: bodies that overlap, joints outside their limits, joints that are open. */
typedef struct mor_start {
    double penetration;      /* deepest overlap [m], 0: none */
    char pair[2][64];        /* the bodies that overlap most; "": none do */
    int overlaps;            /* pairs of bodies that overlap */
    mor_start_limit* limits; /* limit_count of them; mor_start_free */
    int limit_count;         /* joints outside their limits */
    mor_start_open* open;    /* open_count of them; mor_start_free */
    int open_count;          /* joints that are open by more than their tolerance */
    bool exclusive;          /* some cannot be closed together: they stay open, and the run holds them so */
    int stays;               /* pairs whose overlap moving bodies does not undo: joints, welds or others hold them */
    double left;             /* the deepest of them then [m], 0: none */
    char held[2][64];        /* its bodies; "": none */
} mor_start;

/* Looks at the state now. Changes nothing but caches. Contacts of a collision stage of the caller's are not looked for.
 * MOR_BAD_INPUT: a pair of shapes has no test; MOR_SYSTEM: out of memory. */
MOR_API mor_code mor_world_look(mor_world* world, mor_start* start, mor_error* error);
/* Frees the lists. */
MOR_API void mor_start_free(mor_start* start);

/* Energies and works over the run [J]. docs/notation.md defines the works. */
typedef struct mor_run_energy {
    double initial, final;  /* kinetic and potential together */
    double max_gain;        /* largest E - initial - all works below after a step, >= 0 */
    double max_step_gain;   /* largest rise of E in one step, without its projection_work if that is > 0 */
    double applied_work;    /* of applied forces, motors and controllers */
    double contact_work;    /* of belts and kinematic bodies */
    double correction_work; /* of the terms that take penetration away */
    double projection_work; /* what undoing overlaps raised E by: the start, and later steps that rose by it */
} mor_run_energy;

/* What the chosen integrator did (mor_step_report), summed over the steps. */
typedef struct mor_run_integrator {
    double smooth, reduced;   /* groups of trees that took it; that took the semi-implicit step instead */
    int reduced_steps;        /* steps with at least one of the latter */
    double halvings, rescued; /* parts that were halved; parts that rk4 took instead */
    double sweeps;            /* iterations in all */
} mor_run_integrator;

/* Contacts deeper than 1e-3 of the radius of the smaller shape, after the first 20 steps: those may undo what a scene
 * overlaps at the start. The fields below `steps` describe the deepest one, relative to its size. */
typedef struct mor_run_deep {
    int steps;        /* steps that began with such a contact; 0: none, and nothing else counts */
    int step;         /* of the deepest */
    double depth;     /* m */
    double relative;  /* depth over size */
    double size;      /* radius of the smaller shape [m] */
    char pair[2][64]; /* the bodies */
    char why[160];    /* the cause and what helps, one line */
} mor_run_deep;

typedef struct mor_run_summary {
    int steps;                  /* steps counted; a step that did not advance, or diverged, is not */
    int failures;               /* steps whose error is above what counts as failure */
    int below_goal;             /* steps that missed the accuracy asked for, but not so far */
    mor_run_status status;      /* how it went so far */
    char detail[192];           /* of the first failure; "": none */
    mor_run_energy energy;      /* where it came from and went to */
    double momentum[2][6];      /* start and end: linear [N s], angular about the origin [N m s] */
    double max_penetration;     /* deepest at the end of a step [m] */
    double max_raw_penetration; /* the same before position projections [m] */
    double final_penetration;   /* now [m] */
    double max_joint_error;     /* largest at the end of a step [m, rad] */
    double max_drift;           /* largest distance of a centre of mass from where it was at the start [m]; bodies that
                                    were added or removed since do not count */
    mor_joint_rank joints[2];   /* equations of joints at the start and at the end */
    int contacts, max_contacts; /* of the last step; most in one step */
    double contact_wrench[6];   /* mor_world_contact_wrench at the end */
    int max_problem_size;       /* rows of the largest problem */
    double max_residual;        /* largest relative residual of a step */
    double median_residual;     /* its median over the steps; beyond a million of them over evenly spread ones */
    double max_velocity_error;  /* m/s; counts the step at which a run stopped too */
    int max_iterations;         /* of one step */
    double mean_iterations;     /* per step */
    mor_run_integrator integrator; /* of the smooth motion */
    mor_timing timing;             /* sums over the steps [s] */
    double wall, cpu;              /* from mor_run_create to now [s]: monotonic clock; CPU time of the whole process */
    uint64_t state_hash;           /* mor_world_hash now */
    double min_step, max_step;     /* shortest and longest step [s]; 0: none was taken */
    int divided;                   /* steps that were taken in parts: whole, they were not solved or left bodies deep */
    int rejected, missed;          /* variable steps: trials that were refused; steps above the tolerance */
    int approximate;               /* steps with islands answered by a method with a fixed budget */
    int cured;                     /* steps that would have made energy: solved again, or velocities scaled */
    mor_run_deep deep;             /* contacts that stay deep */
} mor_run_summary;

/* Begins to watch a world that lives longer than the run. `steps`: for how many steps memory is set aside (8 bytes
 * each, at most 8 MiB); within them a watched step allocates nothing, beyond them the memory grows up to that. NULL:
 * out of memory. */
MOR_API mor_run* mor_run_create(mor_world* world, int steps, mor_error* error);
MOR_API void mor_run_destroy(mor_run* run); /* NULL is allowed */

/* What was wrong when the run began: valid as long as the run. The overlap counts in max_penetration. */
MOR_API const mor_start* mor_run_start(const mor_run* run);

/* One step of the world, counted. `report` may be NULL. Returns what mor_world_step returns. */
MOR_API mor_code mor_run_step(mor_run* run, mor_step_report* report, mor_error* error);
/* At most `steps` steps: fewer when the run stops. Returns the code of the last one. */
MOR_API mor_code mor_run_advance(mor_run* run, int steps, mor_error* error);
/* Steps until the time `end` [s] is reached, or the run stops. Fixed steps: to the one that ends nearest to it;
 * variable steps end at it. Returns the code of the last one. */
MOR_API mor_code mor_run_advance_to(mor_run* run, double end, mor_error* error);
/* For callers that step the world themselves: counts one step from its report. `advanced`: whether the step was taken
 * (mor_world_step_count rose). MOR_SYSTEM: out of memory. */
MOR_API mor_code mor_run_count(mor_run* run, const mor_step_report* report, bool advanced, mor_error* error);
/* True after a step that was not taken or diverged: going on makes no sense. */
MOR_API bool mor_run_stopped(const mor_run* run);

/* The numbers up to now; may be asked for at any time and as often as wanted. Sorts the residuals: O(steps log steps).
 * Without memory for that the median is NaN. Finds the rank of the joints' equations, which may need memory of the
 * world. */
MOR_API mor_run_summary mor_run_summarise(mor_run* run);

/* ------------------------------------------------------------------------ contact wrenches */

/* Force [N] and moment about the origin [N m], world axes, that fixed and kinematic bodies exerted on the dynamic ones
 * through contacts in the last step: its impulses divided by the step. */
MOR_API void mor_world_contact_wrench(const mor_world* world, double wrench[6]);
/* Force [N] and moment about its centre of mass [N m], world axes, of all contacts on one body in the last step. */
MOR_API void mor_body_contact_wrench(const mor_world* world, mor_body_id body, double wrench[6]);

#ifdef __cplusplus
}
#endif
#endif
