/* Something to do for test_memory, apart because two headers have the same names. */
#ifndef MOREAU_TESTS_FAULTS_STORED_H
#define MOREAU_TESTS_FAULTS_STORED_H

#include "moreau/base.h"

/* Traces, a stored problem, iterates and tables in HDF5, written into a folder and read again; it has a table
 * motion.csv. */
mor_code faults_stored(const char* into, mor_error* error);

#endif
