/* A run (moreau/run.h) that counts no more than how it went: for many short runs whose sums nobody asks for. A step of
 * one ball takes a microsecond; all the sums over steps take a thirtieth of it. */
#ifndef MOR_STEP_PLAIN_RUN_H
#define MOR_STEP_PLAIN_RUN_H

#include "moreau/run.h"

/* As mor_run_create, but of the summary only these are filled: steps, failures, below_goal, approximate, cured, status,
 * detail, max_velocity_error, energy.initial and energy.final, momentum, final_penetration, max_drift, contacts,
 * contact_wrench, wall, cpu, state_hash. mor_run_start says nothing. */
mor_run* mor_run_create_plain(mor_world* world, mor_error* error);

#endif
