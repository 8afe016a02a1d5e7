/* Every reader of foreign bytes, under one roof: for the fuzzer (fuzz.c) and for the test of what it found
 * (tests/test_fuzz.c). */
#ifndef MOREAU_TESTS_READERS_H
#define MOREAU_TESTS_READERS_H

#include <stddef.h>

typedef struct reader {
    const char* name;   /* of the folder of its inputs */
    const char* ending; /* of files that it reads */
    /* Reads the bytes, which are also in the file `path`. Whatever they are, it comes back. */
    void (*read)(const char* path, const char* bytes, size_t size);
} reader;

/* Ends with the name NULL. */
extern const reader readers[];

/* Writes the bytes to a file in `folder` and has them read. */
void reader_try(const reader* r, const char* folder, const char* bytes, size_t size);

#endif
