/* Places of a program that allocate: the innermost three calls inside the program itself, as a hash of their addresses
 * from its start. What a library allocates counts where the program called it. Needs _GNU_SOURCE. */
#ifndef MOREAU_TESTS_FAULTS_PLACES_H
#define MOREAU_TESTS_FAULTS_PLACES_H

#include <execinfo.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>

enum { PLACES_MOST = 1 << 16, PLACES_FRAMES = 40, PLACES_CALLS = 3 };
static uint64_t places_known[PLACES_MOST]; /* hash table, 0: empty */
static uintptr_t places_start, places_end;
static _Thread_local bool places_looking; /* what is allocated now is not the program's */

static int places_find_program(struct dl_phdr_info* info, size_t size, void* user)
{
    (void)size, (void)user;
    places_start = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > places_end) places_end = end;
    }
    places_end += places_start;
    return 1; /* the first is the program */
}

/* Once, before the others. */
static void places_begin(void)
{
    void* frame;
    dl_iterate_phdr(places_find_program, NULL);
    backtrace(&frame, 1); /* loads what it needs */
}

static bool places_own(const void* address)
{
    return (uintptr_t)address >= places_start && (uintptr_t)address < places_end;
}

/* The place of this call, 0: not in the program. It begins at the address `from` of the stack, given by programs that
 * allocate by functions of their own (NULL: at the innermost call). `direct` (may be NULL): whether the call after the
 * innermost one is of the program, too. */
static uint64_t places_here(const void* from, bool* direct)
{
    void* frames[PLACES_FRAMES];
    places_looking = true;
    int count = backtrace(frames, PLACES_FRAMES), own = 0;
    uint64_t place = 14695981039346656037u;
    for (int i = 0; i < count && own < PLACES_CALLS; i++) {
        if (frames[i] == from) from = NULL;
        if (from || !places_own(frames[i])) continue;
        if (own++ == 0 && direct) *direct = i + 1 < count && places_own(frames[i + 1]);
        place = (place ^ ((uintptr_t)frames[i] - places_start)) * 1099511628211u;
    }
    places_looking = false;
    return own ? place : 0;
}

/* Is the place one that was not asked for before? */
static bool places_new(uint64_t place)
{
    size_t k = place % PLACES_MOST;
    while (places_known[k] && places_known[k] != place) k = (k + 1) % PLACES_MOST;
    bool fresh = place && !places_known[k];
    places_known[k] = place;
    return fresh;
}

#endif
