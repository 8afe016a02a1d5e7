/* A library for LD_PRELOAD in which one allocation fails: the N-th of the process, N = $FAULTS_ALLOCATION (0: none),
 * and with $FAULTS_FOREVER all after it. The number of allocations goes to the file $FAULTS_COUNT at the end. A process
 * that is started by this one counts anew.
 *
 * With $FAULTS_PLACES no allocation fails: for the first allocation of every place of the program a line "N PLACE" goes
 * to that file. A place is the innermost three calls inside the program itself, as a hash of their addresses from its
 * start: what a library allocates counts where the program called it. With $FAULTS_OWN only places are told where the
 * program itself allocates, by a malloc of its own; $FAULTS_PLACE then is one of them: its first allocation in every
 * process fails. With $FAULTS_CALLS no allocation is a place, but the calls below are, which the program makes itself:
 * processes, pipes, folders, streams. A stream that cannot be flushed or closed has lost what was in it. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "places.h"

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static atomic_long seen;
static long wanted;
static bool for_ever, own_only, calls_only, ready;
static _Atomic uint64_t asked_for; /* 0: none */

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
    own_only = getenv("FAULTS_OWN") != NULL;
    calls_only = getenv("FAULTS_CALLS") != NULL;
    const char* place = getenv("FAULTS_PLACE");
    if (place) places_begin(), asked_for = strtoull(place, NULL, 16);
    ready = true;
}

/* Nothing fails from now on. */
__attribute__((visibility("default"))) void faults_rest(void) { ready = false; }

__attribute__((destructor)) static void end(void)
{
    faults_rest();
    const char* path = getenv("FAULTS_COUNT");
    int file = path ? open(path, O_CREAT | O_TRUNC | O_WRONLY, 0666) : -1;
    char text[32];
    int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&seen));
    if (file >= 0 && write(file, text, (size_t)n) == n) close(file);
}

/* Is this the place that is asked for, for the first time? */
static bool is_place(const void* caller)
{
    bool direct = false;
    if (!asked_for || !places_own(caller) || places_here(NULL, &direct) != asked_for || !direct) return false;
    asked_for = 0;
    return true;
}

static void tell_place(const void* caller, long k)
{
    bool direct = false;
    if (places_file < 0 || (own_only && !places_own(caller))) return;
    uint64_t place = places_here(NULL, &direct);
    if (places_new(place) && (direct || !own_only)) dprintf(places_file, "%ld %llx\n", k, (unsigned long long)place);
}

static bool fails_at(const void* caller)
{
    if (!ready || places_looking) return false;
    long k = atomic_fetch_add(&seen, 1) + 1;
    tell_place(caller, k);
    if (!is_place(caller) && (!wanted || (for_ever ? k < wanted : k != wanted))) return false;
    errno = ENOMEM;
    return true;
}

static bool fails(const void* caller) { return !calls_only && fails_at(caller); }

static bool call_fails(const void* caller, int reason)
{
    if (!calls_only || !fails_at(caller)) return false;
    errno = reason;
    return true;
}

/* The function of the C library. */
static void* next(const char* name)
{
    void* found = dlsym(RTLD_NEXT, name);
    if (!found) abort();
    return found;
}

/* A call NAME(PARAMETERS) of a type that fails with VALUE and the error number REASON; ARGUMENTS go on. */
#define CALL(type, name, parameters, arguments, value, reason)                                                         \
    type name parameters                                                                                               \
    {                                                                                                                  \
        union {                                                                                                        \
            void* found;                                                                                               \
            type(*call) parameters;                                                                                    \
        } real = { next(#name) };                                                                                      \
        return call_fails(__builtin_return_address(0), reason) ? value : real.call arguments;                          \
    }

CALL(pid_t, fork, (void), (), -1, EAGAIN)
CALL(int, pipe, (int ends[2]), (ends), -1, EMFILE)
CALL(char*, mkdtemp, (char* pattern), (pattern), NULL, EIO)
CALL(DIR*, opendir, (const char* path), (path), NULL, EMFILE)
CALL(FILE*, fopen, (const char* path, const char* mode), (path, mode), NULL, EMFILE)
CALL(FILE*, fdopen, (int file, const char* mode), (file, mode), NULL, ENOMEM)
CALL(FILE*, open_memstream, (char** text, size_t* size), (text, size), NULL, ENOMEM)
CALL(void*, mmap, (void* at, size_t size, int protection, int flags, int file, off_t from),
     (at, size, protection, flags, file, from), MAP_FAILED, ENOMEM)

int fflush(FILE* stream)
{
    union {
        void* found;
        int (*call)(FILE*);
    } real = { next("fflush") };
    int code = real.call(stream);
    return call_fails(__builtin_return_address(0), EIO) ? EOF : code;
}

int fclose(FILE* stream)
{
    union {
        void* found;
        int (*call)(FILE*);
    } real = { next("fclose") };
    int code = real.call(stream);
    return call_fails(__builtin_return_address(0), EIO) ? EOF : code;
}

void* malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size)
{
    return size && fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}
void* memalign(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size)
{
    *block = fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}
