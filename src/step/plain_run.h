/* A run (moreau/run.h) that counts no more than how it went: for many short runs whose sums nobody asks for. A step of
 * one ball takes a microsecond; all the sums over steps take a thirtieth of it. */
#ifndef MOR_STEP_PLAIN_RUN_H
#define MOR_STEP_PLAIN_RUN_H

#include "moreau/run.h"

/* Sums over steps that a plain run counts as well. */
enum {
    MOR_SUMS_ENERGY = 1, /* energy: gains and works */
    MOR_SUMS_SIZES = 2,  /* residuals but their median, iterations, contacts, problem sizes, joint errors: largest */
    MOR_SUMS_PENETRATION = 4, /* max_penetration, max_raw_penetration */
};

/* As mor_run_create, but of the summary only these are filled: steps, failures, below_goal, approximate, cured, status,
 * detail, max_velocity_error, energy.initial and energy.final, momentum, final_penetration, max_drift, contacts,
 * contact_wrench, wall, cpu, state_hash, and what `sums` asks for. mor_run_start says nothing. */
mor_run* mor_run_create_plain(mor_world* world, int sums, mor_error* error);

#endif
