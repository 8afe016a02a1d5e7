/* The one way in which Moreau writes a file that somebody asked for by name.
 *
 * - A regular file, or one that is not there yet: it is there whole or not at all. The bytes go to a temporary file in
 *   the same folder, which has no name where the system can do that; they are synced to the disk, and then take the
 *   place of the old file in one step. The folder is synced too, so a power cut after mor_output_close loses nothing. A
 *   symbolic link stays one: the file it points to is replaced. Permissions of the old file are kept.
 * - A device, a pipe, a socket: written to directly, as it is.
 * - "-" and "/dev/stdout": standard output. */
#ifndef MOR_IO_OUTPUT_H
#define MOR_IO_OUTPUT_H

#include "moreau/base.h"

#include <stdio.h>

/* A stream whose bytes become `path`. NULL and a sentence when it cannot be made. */
FILE* mor_output_open(const char* path, mor_error* error);
/* For libraries that open files by name: where the temporary file lies until it is ended, TARGET.PROCESS.part. */
mor_code mor_output_place(FILE* file, const char* path, char* place, size_t size, mor_error* error);
/* Before the program ends on the spot: removes a temporary file that mor_output_place gave a name. */
void mor_output_abandon(void);
/* Ends it: with `keep`, and when all of it was written, it takes its name; else what was written goes away (what went
 * to a device, a pipe or standard output cannot). MOR_SYSTEM and a sentence when bytes were lost. */
mor_code mor_output_close(FILE* file, const char* path, bool keep, mor_error* error);
/* All of it at once. */
mor_code mor_output_write(const char* path, const void* data, size_t size, mor_error* error);

/* For formats that are written by others, under a name: the regular file that `path` means, links followed, whether it
 * is there or not. MOR_BAD_INPUT and a sentence when that is something else. */
mor_code mor_output_target(const char* path, char* target, size_t size, mor_error* error);
/* A finished temporary file becomes `target`: both and the folder are synced. It is removed on failure. `path` is for
 * the sentence. */
mor_code mor_output_replace(const char* temporary, const char* target, const char* path, mor_error* error);
/* What a finished file holds, and its name, go to the disk. */
mor_code mor_output_sync(const char* path, mor_error* error);
/* A journal, which one process writes at a time: opened for reading and writing at its end, emptied if `anew`. It is
 * this process's until it closes any stream of that file, or ends, however it ends. NULL and a sentence: MOR_BAD_INPUT,
 * another process writes it; MOR_SYSTEM, it cannot be written. Systems that know no locks let everybody write. */
FILE* mor_output_claim(const char* path, bool anew, mor_error* error);
/* Whether `path` is standard output. */
bool mor_output_is_standard(const char* path);

#endif
