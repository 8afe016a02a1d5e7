/* SDF files as the records of an MJCF model; see sdf.c. */
#ifndef MOREAU_IO_SDF_H
#define MOREAU_IO_SDF_H

#include "io/mjcf/mjcf.h"

/* Reads a model or a world; as mor_mjcf_read. */
mor_mjcf* mor_sdf_read(const char* path, const char* packages, bool shapes, char* notes, size_t notes_size,
                       mor_error* error);
bool mor_sdf_is(const char* path);
#endif
