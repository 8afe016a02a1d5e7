/* Something to do for test_memory: files of HDF5. */
#ifndef MOREAU_TESTS_FAULTS_STORED_H
#define MOREAU_TESTS_FAULTS_STORED_H

#include "moreau/base.h"

extern char faults_folder[64]; /* where test_memory works; the caller makes it */
/* A file in it; the last two answers stay valid. */
const char* faults_at(const char* name);

/* Traces, a stored problem, iterates and tables in HDF5, written into the folder and read again; it has a table
 * motion.csv. */
mor_code faults_stored(mor_error* error);

#endif
