/* Files of a folder that can hold problems: scenes (.yaml), BPMD and FCLIB (.h5, .hdf5), Siconos (.dat), up to four
 * folders deep, by name, without hidden ones. Only names are looked at. */
#ifndef MOR_LAB_LISTING_H
#define MOR_LAB_LISTING_H

#include <stdbool.h>

#include "lab/compare.h"

typedef struct mor_lab_listing {
    char** paths;
    int count, capacity;
    int scenes;
} mor_lab_listing;

/* All of `path`, a folder; a file is taken whatever its name. Asks options.reading of every folder, with files seen so
 * far; MOR_STOPPED if that says so. */
mor_code mor_lab_list(const mor_lab* lab, const char* path, mor_lab_listing* list, mor_error* error);
void mor_lab_listing_free(mor_lab_listing* list);
bool mor_lab_is_scene(const char* path);
/* Is there one who does not want to wait any longer? */
bool mor_lab_stopped(const mor_lab* lab, const mor_lab_look* at);

#endif
