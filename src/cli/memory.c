/* Out of memory in the command: one sentence and exit status 3, at once.
 *
 * The library hands lack of memory to its caller. Libraries below it do not always: HDF5, cairo and others crash, hang
 * or call it a damaged file. A command has nobody to hand it to, so it ends as soon as a small allocation fails,
 * wherever that is. Files under way have no name yet (io/text/output.h) and go away; recordings stay readable, as after
 * a kill. A large allocation that fails is the caller's to explain: it may come from a number in a file.
 *
 * The functions stand before those of the C library because the program defines them. Not in builds with
 * sanitizers, which have their own. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "io/text/output.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { SMALL = 1 << 24 }; /* bytes */

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);

/* What stands behind us: the C library, or a tool that was loaded before it. Looked up by main, before there are
 * threads. */
static void* (*next_malloc)(size_t) = __libc_malloc;
static void* (*next_calloc)(size_t, size_t) = __libc_calloc;
static void* (*next_realloc)(void*, size_t) = __libc_realloc;

static bool unwatched;

void mor_cli_watch_memory(void)
{
    void* found[3] = { dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_NEXT, "calloc"), dlsym(RTLD_NEXT, "realloc") };
    if (!found[0] || !found[1] || !found[2]) return;
    memcpy(&next_malloc, &found[0], sizeof next_malloc);
    memcpy(&next_calloc, &found[1], sizeof next_calloc);
    memcpy(&next_realloc, &found[2], sizeof next_realloc);
#ifdef MOREAU_COVERAGE /* the answers of the library itself, and of commands on systems without this file */
    unwatched = getenv("MOREAU_UNWATCHED") != NULL;
#endif
}

static void* checked(void* block, size_t size)
{
    static const char text[] = "moreau: out of memory\n";
    if (block || size == 0 || size > SMALL || unwatched) return block;
    if (write(2, text, sizeof text - 1) < 0) errno = ENOMEM; /* nobody listens; the status says it too */
    mor_output_abandon();
    _exit(MOR_SYSTEM);
}

void* malloc(size_t size) { return checked(next_malloc(size), size); }

void* calloc(size_t count, size_t size)
{
    return checked(next_calloc(count, size), size && count > (size_t)-1 / size ? (size_t)-1 : count * size);
}

void* realloc(void* block, size_t size) { return checked(next_realloc(block, size), size); }
#else
void mor_cli_watch_memory(void) {}
#endif
