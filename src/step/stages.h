/* The stages as the table in step.c has them. Each is called when those before it went well; the public functions
 * mor_stage_... see to that. MOR_SYSTEM comes without a sentence: the caller adds it. */
#ifndef MOREAU_STEP_STAGES_H
#define MOREAU_STEP_STAGES_H

#include "step/project.h"

mor_code mor_do_user(mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_collide(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_control(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_assemble(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_solve(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_integrate(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_stabilise(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_sense(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_measure(const mor_world* world, mor_step* step, mor_error* error);
mor_code mor_do_commit(mor_world* world, mor_step* step, mor_error* error);

/* The stage `measure`, with an observer (or NULL) of the position projection. */
mor_code mor_measure_observed(const mor_world* start, mor_step* step, const mor_projection_observer* observer,
                              mor_error* error);

/* All stages from `collide` to `measure`. */
mor_code mor_step_run_stages(const mor_world* world, mor_step* step, mor_error* error);

/* Are overlaps undone before the first step? */
bool mor_settles(const mor_world* world);
/* Undoes what the draft overlaps before the first step, by moving its bodies, where the methods do so; *deepest: before
 * it [m]. */
mor_code mor_settle_draft(mor_step* step, double* deepest, mor_error* error);

/* Finds the contacts of the draft as it is, into `contacts`. */
mor_code mor_step_detect(mor_step* step, mor_buffer* contacts, mor_error* error);

/* Has the library pair tests of its own? They run on the thread that steps the world. NULL: no. */
bool mor_library_has_pairs(const mor_library* library);

/* An island missed the accuracy asked for, but not so far that it counts as a failure. */
bool mor_report_below_goal(const mor_world* world, const mor_report* report);
/* Solved, below the goal, or by a method that promises no more: the step may be taken. */
bool mor_report_answers(const mor_world* world, const mor_report* report);

/* MOR_STOPPED with a sentence that says why the step is not taken. */
mor_code mor_step_not_taken(const mor_step* step, mor_error* error);
/* Whether a solver had no memory for an island: not a hard problem. */
bool mor_step_lacks_memory(const mor_step* step);

#endif
