/* A system as a STEP problem: what st, ap and their kin hand to the solver. */
#ifndef MOREAU_FORMULATION_STEP_PROBLEM_H
#define MOREAU_FORMULATION_STEP_PROBLEM_H

#include "moreau/world.h"

/* The STEP problem of the blocks with keep[block] (NULL: all), rows renumbered without holes.
 * `bias` has the system's rows. row_of[k] (size row_count) tells which system row the problem's row k
 * is; the problem's bias is gathered accordingly. All arrays come from the arena; false when out of memory. */
bool mor_step_problem(const mor_system* system, int directions, const double* bias, const bool* keep, mor_arena* arena,
                      mor_problem* problem, int** row_of);

/* The rows of a system, with the velocity of the start for nu_free: what equations.h needs. */
mor_step_form mor_system_form(const mor_system* system);

/* Writes the bias of drifts (d(psi)/dt of all rows) into bias[row_count]. */
void mor_bias_drift(const mor_system* system, double* bias);

/* Solves the STEP problem of the blocks in `keep` with the stage's solver, from the guess in
 * answer->impulses, and fills impulses (zero for dropped blocks) and nu. */
mor_report mor_step_solve(const mor_system* system, int directions, const double* bias, const bool* keep,
                          mor_solve_stage* stage, mor_answer* answer);

/* The step of Stewart and Trinkle, with circular cones (directions 0) or polygons; once more without taking overlaps
 * back where they cannot be. */
mor_report mor_stewart_trinkle_solve(const mor_system* system, int directions, mor_solve_stage* stage,
                                     mor_answer* answer);

/* A report for a formulation that ran out of memory. */
mor_report mor_report_no_memory(void);

#endif
