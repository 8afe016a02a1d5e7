/* A running unit: what fmi2*.c and fmi3*.c of bindings/fmi call, without the types of the standard.
 *
 * Threads: a unit belongs to one thread at a time; different units are independent. */
#ifndef MOREAU_FMI_UNIT_H
#define MOREAU_FMI_UNIT_H

#include "fmi/variables.h"

typedef struct mor_fmu mor_fmu;

/* Reads resources/moreau.txt (fmi/export.h) in the folder `resources` and builds the scene it names. `token`: that of
 * modelDescription.xml; another one is bad input. */
mor_fmu* mor_fmu_create(const char* resources, const char* token, mor_error* error);
void mor_fmu_destroy(mor_fmu* unit);
/* Everything as after mor_fmu_create. */
mor_code mor_fmu_reset(mor_fmu* unit, mor_error* error);
/* The time at which the simulation begins [s]. */
void mor_fmu_start(mor_fmu* unit, double time);
/* From now on the step cannot be changed. */
void mor_fmu_initialised(mor_fmu* unit);
double mor_fmu_time(const mor_fmu* unit);

/* Bad input: no such variable, one that cannot be written (now), a number that is not finite. */
mor_code mor_fmu_get(mor_fmu* unit, unsigned number, double* value, mor_error* error);
mor_code mor_fmu_set(mor_fmu* unit, unsigned number, double value, mor_error* error);

/* Whole steps until `time`, and a shorter one for what is left; inputs are held. MOR_STOPPED: a step was not solved;
 * mor_fmu_time says how far it came. */
mor_code mor_fmu_advance(mor_fmu* unit, double time, mor_error* error);

/* The whole state, inputs included. With buffer NULL returns the size; 0 if it does not fit. */
size_t mor_fmu_save(const mor_fmu* unit, void* buffer, size_t size);
mor_code mor_fmu_restore(mor_fmu* unit, const void* buffer, size_t size, mor_error* error);

/* A path from the URI of a folder: "file:///a%20b" -> "/a b"; a plain path stays. Bad input: another scheme, a wrong
 * percent sign, no room. */
mor_code mor_fmu_path(const char* uri, char* path, size_t size, mor_error* error);

#endif
