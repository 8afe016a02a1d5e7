/* Contacts that stay deep, and why (deep.c). */
#ifndef MOR_STEP_DEEP_H
#define MOR_STEP_DEEP_H

#include "moreau/run.h"

/* Looks at the contacts of the step that was taken, the run's `steps`-th. Adds to *deep; changes nothing else. */
void mor_deep_count(const mor_world* world, const mor_step_report* report, int steps, mor_run_deep* deep);

/* Is one of these contacts deeper than that? */
bool mor_deep_any(const mor_world* world, const mor_contact* contacts, int count);

#endif
