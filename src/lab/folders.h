/* Folders that shards of a command leave, put together. */
#ifndef MOR_LAB_FOLDERS_H
#define MOR_LAB_FOLDERS_H

#include "moreau/base.h"

/* Copies every regular file below `from` to the same place below `to`, which is made if need be; files that are there
 * must have the same bytes. Counts the files that `from` holds. Does nothing if both are the same folder. */
mor_code mor_folder_merge(const char* from, const char* to, int* files, mor_error* error);

#endif
