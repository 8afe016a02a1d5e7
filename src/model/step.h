/* What one step makes: a draft of the state, contacts, islands with their systems and answers, the plan of smooth
 * motion, scratch, timing, report.
 *
 * The draft is a world with the model of the world the step is of and a state of its own: bodies, trees, robots, joints
 * and the numbers of control are copies. Stages read the world and write the draft, so nothing of the world changes
 * until the stage `commit` copies the state back (step/draft.c). */
#ifndef MOREAU_MODEL_STEP_H
#define MOREAU_MODEL_STEP_H

#include "model/world.h"

struct mor_row_block;
struct mor_workers;

/* The stages, in their order (step/step.c has the table). A step is as far as the last stage that went well. */
typedef enum mor_stage {
    MOR_STAGE_NONE,
    MOR_STAGE_USER,
    MOR_STAGE_COLLIDE,
    MOR_STAGE_CONTROL,
    MOR_STAGE_ASSEMBLE,
    MOR_STAGE_SOLVE,
    MOR_STAGE_INTEGRATE,
    MOR_STAGE_STABILISE,
    MOR_STAGE_SENSE,
    MOR_STAGE_MEASURE,
    MOR_STAGE_COMMIT
} mor_stage;

/* One island with constraints: its system and the answer. */
typedef struct mor_island {
    mor_system system;
    mor_answer answer;
    double* bias;                /* system.bias, for what stabilises joints */
    const int* tree_of;          /* local tree -> world tree */
    struct mor_row_block** rows; /* blocks after the contacts */
    int row_block_count;
    mor_report report;
    double solve_time, formulate_time;
    double energy, kinetic;          /* of mechanisms before the step [J] (step/mechanism_energy.c) */
    struct mor_equations* equations; /* of an island with nothing but equations, or NULL (step/solve.c) */
    mor_trace* trace;                /* iterates of its solves go here; NULL: nobody follows them */
    bool free_bodies;                /* it has no other trees */
    int kept;                        /* which of the islands that are kept it repeats, or -1 */
    bool wide;                       /* joints of it are too far open for its rows (formulation/wide.c) */
    bool stuck;                      /* contacts keep its joints open by a little (formulation/wide.c) */
    bool one_sided, skip; /* integrators (step/smooth_step.c): it has contacts or bounded rows; it needs no solve */
} mor_island;

/* Which trees take the chosen integrator in this step (step/smooth_step.c). */
typedef struct mor_smooth_plan_of {
    int* group;   /* tree -> first tree of its group; NULL: the integrator is semi-implicit */
    bool* smooth; /* tree -> it takes the chosen integrator in this step */
    int groups, reduced, halvings, rescued, sweeps;
    char detail[160];
} mor_smooth_plan_of;

/* Forces that were in the world before the user function ran. */
typedef struct mor_applied {
    mor_vec3 force, torque;
    uint32_t generation;
} mor_applied;

/* An island at rest whose rows and answer are kept (formulation/kept_rows.c). */
typedef struct mor_kept_island_of {
    int tree_count, contact_count, row_count, entry_count, coefficient_count, diagonal_count;
    bool geometry;
    int at; /* where its arrays begin in kept_bytes[0], in units of 16 bytes */
    mor_report report;
} mor_kept_island_of;

enum { MOR_TRIALS = 3 }; /* one step, and its two halves */

struct mor_step {
    mor_allocator allocator;
    mor_world* w;    /* the draft */
    mor_world* of;   /* the world whose `last` this step is, or NULL */
    int from_step;   /* number of steps that world had taken when this one began */
    bool geometry;   /* systems have contact geometry whatever the formulation asks for */
    bool beside;     /* it works beside another step (mor_step_beside) */
    bool stout;      /* mass blocks of free bodies that turn less easily (formulation/stout.h) */
    bool equations;  /* systems have the equations of joints alone, and no diagonals of W */
    mor_stage phase; /* the last stage that went well */
    mor_status status;
    bool usable; /* after the solve: the answers may be applied */

    /* memory of the draft */
    mor_buffer bodies, trees, joints, contacts, ahead, applied, applied_tau;
    mor_buffer trial, start; /* of relinearise: contacts of the end and of the start */
    mor_robot** robots;
    int robot_count;
    struct mor_control* control;
    bool forced;                 /* the draft has applied forces */
    bool measured;               /* `ahead` holds the contacts of the draft */
    bool found_ahead;            /* `ahead` holds the contacts of the new state, for the next step that begins here */
    const mor_world* taken_from; /* where the draft was copied from last; only compared */
    uint32_t revision;           /* of that world, 0: none */
    bool unchanged;              /* the step begins with the state that this one committed last, and no forces */
    mor_buffer kept_of_tree;     /* int: tree -> its island among those that are kept, or -1 */
    mor_buffer kept_islands;     /* mor_kept_island_of */
    mor_buffer kept_bytes[2];    /* their arrays; scratch for the next time */

    /* scratch */
    mor_arena* arena;
    mor_arena** thread_arenas;
    int threads;
    struct mor_workers* workers;
    void* snapshot; /* for a step that is taken in parts */
    size_t snapshot_size;
    struct mor_step* trials[MOR_TRIALS]; /* steps that adaptive.c tries; NULL: none yet */
    struct mor_step* before;             /* the draft before it was assembled (surprise.c); NULL: never kept yet */
    bool may_surprise;                   /* `before` is that of this step */

    /* the assembled system, of all trees */
    const mor_contact* last; /* contacts of the last step: the guess */
    int last_count;
    const mor_contact** old; /* contact -> the same in the last step, or NULL */
    double *nu, *nu_free, *nu_new;
    double* nu_move;             /* velocities that positions move with, NaN: nu_new does; NULL: it does everywhere */
    double *mass, *mass_inverse; /* dof^2 blocks */
    int* mass_start;             /* tree -> offset of its block */
    bool* mass_shared;           /* tree -> it is one for all equal bodies, and written before the others */
    int dof;
    mor_island* islands;
    int island_count;
    int rough; /* islands that are not left to the integrator of smooth motion: the first ones */
    mor_smooth_plan_of plan;
    struct mor_trial_motion* tried; /* where a trial with the velocities tried_nu took the bodies (step/trial.c); NULL:
                                       nobody tried */
    double* tried_nu;

    /* what came of it */
    mor_timing timing;
    mor_timing earlier; /* of attempts before this one */
    mor_timing shares;  /* of the stages in the last step that was timed by them, each over the total, which is in s */
    bool whole;         /* this attempt is timed as a whole (step/step.c) */
    bool may_part;      /* if this attempt is not good enough, the step is taken in (more) parts */
    bool lifts;         /* the projection has lifted bodies by more than a step should (step/projection_energy.c) */
    bool in_parts;      /* one part of a step: observers wait for the last */
    double correction_work, contact_work, applied_work;
    double raw_penetration, projection_work; /* of the position projection */
    int projected;                           /* islands that it moved, over all passes */
    int struck;                              /* free bodies (model/tree.c) */
    int cured;                               /* mechanisms and robots (step/mechanism_energy.c, step/robot_energy.c) */
    bool relinearised;                       /* gaps of the contacts are those of step/relinearise.c */
    mor_step_report report;
};

/* Contacts as they are found. */
struct mor_found {
    const mor_world* world; /* whose state is looked at */
    mor_buffer* contacts;   /* mor_contact */
    const mor_contact* last;
    int last_count;
    double deepest;
    struct mor_workers* workers; /* NULL: one thread */
    const void* keeper;          /* for whom pairs at rest are kept (collision/kept_pairs.c); NULL: for nobody */
    bool unchanged;              /* since the last detection for `keeper` only bodies have moved */
};

/* A step beside `step`, for joints alone: the same draft, arenas and workers, no contacts and no systems yet. */
mor_step mor_step_beside(const mor_step* step);

#endif
