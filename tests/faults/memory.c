/* A library for LD_PRELOAD in which one allocation fails: the N-th of the process, N = $FAULTS_ALLOCATION (0: none),
 * and with $FAULTS_FOREVER all after it. The number of allocations goes to the file $FAULTS_COUNT at the end. A process
 * that is started by this one counts anew.
 *
 * With $FAULTS_PLACES no allocation fails: for the first allocation of every place of the program a line "N PLACE" goes
 * to that file. A place is the innermost three calls inside the program itself, as a hash of their addresses from its
 * start: what a library allocates counts where the program called it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "places.h"

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static atomic_long seen;
static long wanted;
static bool for_ever, ready;

static int places_file = -1;

__attribute__((constructor)) static void begin(void)
{
    const char* places = getenv("FAULTS_PLACES");
    if (places) {
        places_begin();
        places_file = open(places, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
    }
    const char *n = getenv("FAULTS_ALLOCATION"), *all = getenv("FAULTS_FOREVER");
    wanted = n ? atol(n) : 0;
    for_ever = all && *all;
    ready = true;
}

__attribute__((destructor)) static void end(void)
{
    ready = false;
    const char* path = getenv("FAULTS_COUNT");
    int file = path ? open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666) : -1;
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&seen));
    if (file >= 0 && write(file, text, (size_t)n) == n) close(file);
}

static bool fails(void)
{
    if (!ready) return false;
    if (places_looking) return false;
    long k = atomic_fetch_add(&seen, 1) + 1;
    uint64_t place;
    if (places_file >= 0 && places_new(NULL, &place)) dprintf(places_file, "%ld %llx\n", k, (unsigned long long)place);
    if (!wanted || (for_ever ? k < wanted : k != wanted)) return false;
    errno = ENOMEM;
    return true;
}

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return size && fails() ? NULL : __libc_realloc(block, size); }
void* memalign(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }
void* aligned_alloc(size_t alignment, size_t size) { return fails() ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void** block, size_t alignment, size_t size)
{
    *block = fails() ? NULL : __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
