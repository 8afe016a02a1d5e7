/* Compares the runs of `moreau trust` and says what follows. */
#ifndef MOR_LAB_TRUST_LOOK_H
#define MOR_LAB_TRUST_LOOK_H

#include "lab/trust_run.h"

/* Run 0 has the finest step; `nominal` is the scene as it is. Fills errors, levels, outcomes, verdict and sentence.
 * MOR_SYSTEM: out of memory. */
mor_code mor_trust_look(mor_trust* trust, const mor_trust_record* const* records, int nominal, mor_error* error);
/* The time until which two runs touch alike; `end` if to the end. */
double mor_trust_sequence(const mor_trust_record* a, const mor_trust_record* b, double end);

#endif
