/* A whole file in memory. */
#ifndef MOR_IO_TEXT_FILE_H
#define MOR_IO_TEXT_FILE_H

#include "moreau/base.h"

#include <stdio.h>

/* Reads at most `most` bytes of a file into new memory (free it) that ends with a zero. A file that cannot be read or
 * is larger is bad input with a sentence that names it. */
mor_code mor_text_read(const char* path, size_t most, char** text, size_t* length, mor_error* error);

/* A file that is there only when it is complete: written as PATH.part and renamed at the end. NULL and a sentence when
 * it cannot be made. */
FILE* mor_text_create(const char* path, mor_error* error);
/* Closes it and gives it its name if `keep` and all of it was written, else removes it. */
mor_code mor_text_finish(FILE* file, const char* path, bool keep, mor_error* error);

#endif
