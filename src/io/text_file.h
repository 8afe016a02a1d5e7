/* A whole file in memory. */
#ifndef MOR_IO_TEXT_FILE_H
#define MOR_IO_TEXT_FILE_H

#include "moreau/base.h"

/* Reads at most `most` bytes of a file into new memory (free it) that ends with a zero. A file that cannot be read or
 * is larger is bad input with a sentence that names it. */
mor_code mor_text_read(const char* path, size_t most, char** text, size_t* length, mor_error* error);

#endif
