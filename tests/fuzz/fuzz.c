/* libFuzzer for one reader: MOREAU_READER=scene fuzz CORPUS. `make fuzz T=seconds` runs all of them. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/readers.h"

static const reader* chosen;
static char folder[] = "/dev/shm/moreau-fuzz-XXXXXX";

static void clean_up(void) { rmdir(folder); }

int LLVMFuzzerInitialize(int* argc, char*** argv);
int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

int LLVMFuzzerInitialize(int* argc, char*** argv)
{
    (void)argc, (void)argv;
    const char* name = getenv("MOREAU_READER");
    for (const reader* r = readers; r->name; r++)
        if (name && strcmp(r->name, name) == 0) chosen = r;
    if (!chosen) {
        fprintf(stderr, "fuzz: MOREAU_READER is one of");
        for (const reader* r = readers; r->name; r++) fprintf(stderr, " %s", r->name);
        fprintf(stderr, "\n");
        exit(2);
    }
    if (!mkdtemp(folder)) exit(3);
    atexit(clean_up);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size)
{
    reader_try(chosen, folder, (const char*)bytes, size);
    return 0;
}
