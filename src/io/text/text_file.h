/* A whole file in memory. */
#ifndef MOR_IO_TEXT_FILE_H
#define MOR_IO_TEXT_FILE_H

#include "moreau/base.h"

#include <stdio.h>

/* Reads at most `most` bytes of a file into new memory (free it) that ends with a zero. A file that cannot be opened or
 * is larger is bad input with a sentence that names it. So is a pipe that stays silent for ten seconds, and a pipe or a
 * device that gives more than 1 GiB. */
mor_code mor_text_read(const char* path, size_t most, char** text, size_t* length, mor_error* error);

/* Whose fault an error number is that opening or reading gave: MOR_BAD_INPUT, the file's, or MOR_SYSTEM. */
mor_code mor_file_fault(int reason);
/* A file to read line by line. NULL: errno, in words mor_file_reason; so for a pipe of which nothing comes. */
FILE* mor_file_stream(const char* path);
const char* mor_file_reason(int reason);
/* Is this a regular file that can be read? (Looking into a pipe would take from it what it holds.) */
bool mor_file_is_regular(const char* path);
/* The first bytes of a file, at most `count`: how many, or -1 with errno. A pipe is not read. */
long mor_file_head(const char* path, void* bytes, size_t count);
/* Does it begin with these bytes? False for what is no regular file. */
bool mor_file_begins(const char* path, const void* bytes, size_t count);

#endif
