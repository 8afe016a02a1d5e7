/* Errors, memory, options and method descriptors: what every other header builds on.
 *
 * Three kinds of failure are never mixed:
 *   - the caller's mistake (stale id, NULL, NaN handed to a function): an assert;
 *   - bad input (a scene, an option, a file): a mor_code and a sentence in mor_error that says
 *     where, what is wrong and what would be right;
 *   - a hard problem (no convergence, no solution): not an error but a mor_report (problem.h).
 * The library never exits, never prints and keeps no process-wide mutable state.
 *
 * Threads: functions without an object (clocks, tables of options, mor_fail) may be called from any thread. An object
 * (arena, world, recorder ...) belongs to one thread at a time; different objects may be used at the same time by
 * different threads. Reference counts of geometries and robot models are plain integers: make, share and release them
 * on one thread.
 * Ownership: `create`, `load` and `read` functions give an object to the caller, who ends it with the `destroy`,
 * `close` or `release` function of the same name. `const char*` results belong to the library or to the object that was
 * asked and live as long as it does. Arguments are copied unless a comment says that a reference is taken or that the
 * argument must outlive something.
 * ABI: structs are public and may grow in a minor version before 1.0: compile a program with the headers of the library
 * it is linked to, and make definition structs with their *_default function. docs/abi lists symbols and sizes of each
 * release. */
#ifndef MOREAU_BASE_H
#define MOREAU_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "moreau/math.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOR_VERSION_MAJOR 0
#define MOR_VERSION_MINOR 2
#define MOR_VERSION_PATCH 0
#define MOR_VERSION_STRING "0.2.0"

#if defined(__GNUC__)
#define MOR_API __attribute__((visibility("default")))
#define MOR_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define MOR_API
#define MOR_PRINTF(a, b)
#endif

/* The version of the library at run time, "major.minor.patch". */
MOR_API const char* mor_version(void);

/* ------------------------------------------------------------------------------- errors */

/* Values are the exit statuses of the command line. */
typedef enum mor_code {
    MOR_OK = 0,
    MOR_STOPPED = 1,   /* a step was not taken because its problem was not solved: the state is as before it */
    MOR_BAD_INPUT = 2, /* a file, option or argument is wrong */
    MOR_SYSTEM = 3     /* out of memory, disk full, cannot open for writing */
} mor_code;

/* Filled on failure, untouched on success. `text` is complete: "file:line:column: what is wrong;
 * what would be right" when there is a position, else only the sentence. */
typedef struct mor_error {
    mor_code code;    /* what the function returned, or why it returned NULL */
    int line, column; /* 1-based; 0 when there is no position */
    char text[1024];  /* one sentence, UTF-8, always terminated; cut when it is longer */
} mor_error;

/* Writes a sentence without a position. `error` may be NULL. Returns `code`, so that a function
 * can end with `return mor_fail(error, MOR_BAD_INPUT, "...");` */
MOR_API mor_code mor_fail(mor_error* error, mor_code code, const char* format, ...) MOR_PRINTF(3, 4);
/* The same with a position in front of it. */
MOR_API mor_code mor_fail_at(mor_error* error, mor_code code, const char* file, int line, int column,
                             const char* format, ...) MOR_PRINTF(6, 7);

/* ------------------------------------------------------------------------------- memory */

/* Where the library gets memory from. `resize` is realloc with a user pointer: size 0 frees, NULL
 * block allocates. A test that counts or fails allocations replaces this. */
typedef struct mor_allocator {
    void* (*resize)(void* user, void* block, size_t size); /* NULL when there is no memory; on the caller's thread and,
                                                              for scratch of a step, on the workers of a world */
    void* user;                                            /* handed to `resize` */
} mor_allocator;

/* malloc, realloc and free. */
MOR_API mor_allocator mor_allocator_default(void);

/* Scratch memory of one step or one solve. Opaque: `mor_arena_alloc` is all a method needs. Blocks
 * live until the arena is reset by its owner; grows between uses, so a warm step allocates nothing. */
typedef struct mor_arena mor_arena;
/* A new, empty arena. `allocator` is copied; NULL: mor_allocator_default. NULL: out of memory. */
MOR_API mor_arena* mor_arena_create(const mor_allocator* allocator);
/* Frees the arena and everything allocated from it. NULL is allowed. */
MOR_API void mor_arena_destroy(mor_arena* arena);
/* 64-byte aligned, uninitialised. NULL only when the system is out of memory or the size overflows. */
MOR_API void* mor_arena_alloc(mor_arena* arena, size_t size);
/* count * size bytes set to zero. NULL as above. */
MOR_API void* mor_arena_zero(mor_arena* arena, size_t count, size_t size);
/* A mark to return to with mor_arena_release. */
MOR_API size_t mor_arena_mark(const mor_arena* arena);
/* Releases everything that was allocated after the mark. Marks are released in the opposite order they were taken. */
MOR_API void mor_arena_release(mor_arena* arena, size_t mark);
/* Releases everything and, if the last use overflowed, grows so that the next one fits. */
MOR_API void mor_arena_reset(mor_arena* arena);

/* ------------------------------------------------------------------------ random numbers */

/* x <- 6364136223846793005 x + 1442695040888963407 mod 2^64, u = (x >> 11) / 2^53: the generator of
 * the benchmark scenes. The state is the seed. */
typedef struct mor_rng {
    uint64_t state; /* x; the seed before the first number */
} mor_rng;
/* Uniform in [0,1). */
MOR_API double mor_rng_uniform(mor_rng* rng);
/* Uniform rotation (Shoemake) from three numbers u1, u2, u3 in this order. */
MOR_API mor_quat mor_rng_rotation(mor_rng* rng);

/* Seconds on the monotonic clock. */
MOR_API double mor_clock(void);
/* CPU seconds of this process. */
MOR_API double mor_cpu_clock(void);

/* ------------------------------------------------------------------------------ arithmetic */

/* The promise "same input, same bits" holds for the arithmetic every program starts with: rounding to nearest, no
 * flushing of subnormal numbers to zero, no traps. A host (an interpreter, a co-simulation tool, a plug-in compiled
 * with -ffast-math) may have changed that. Code that is called by such a host puts its calls of the library, the
 * creation of worlds included, between these two:
 *
 *     mor_arithmetic host = mor_arithmetic_enter();
 *     double now = mor_cpu_clock(); // any calls of the library
 *     mor_arithmetic_leave(host);
 *     printf("%g s\n", now);
 *
 * Costs a few nanoseconds. Per thread; the workers of a world keep what held when the world was made. */
typedef struct mor_arithmetic {
    uint64_t control; /* the host's control word */
    bool changed;     /* it was not the usual one */
} mor_arithmetic;
/* Sets the usual arithmetic and returns what was there. */
MOR_API mor_arithmetic mor_arithmetic_enter(void);
/* Puts back what mor_arithmetic_enter returned. */
MOR_API void mor_arithmetic_leave(mor_arithmetic host);

/* -------------------------------------------------------------------- options of methods */

/* What an option is in the option struct of its method. */
typedef enum mor_type {
    MOR_TYPE_BOOL,   /* bool */
    MOR_TYPE_INT,    /* int */
    MOR_TYPE_DOUBLE, /* double; "inf", "-inf" allowed where the range allows it */
    MOR_TYPE_CHOICE  /* int: index into the |-separated words of `choices` */
} mor_type;

/* One option of a method: one line of a table that feeds the scene parser, range checks, --set,
 * `moreau list`, recordings and the documentation. Tables end with a NULL name. */
typedef struct mor_field {
    const char* name;    /* the word in scenes and after --set */
    mor_type type;       /* what lies at `offset` */
    size_t offset;       /* in the method's option struct */
    double initial;      /* default; for choices the index, for bools 0 or 1 */
    double min, max;     /* inclusive range; ignored for bools and choices */
    const char* choices; /* "a|b|c" for MOR_TYPE_CHOICE; "auto" for a number that may be left to the method: the word is
                            stored as -1 and not held against the range; else NULL */
    const char* unit;    /* "m", "s", "" ... */
    const char* help;    /* one sentence */
} mor_field;

/* Writes the defaults of a table into an option struct. */
MOR_API void mor_fields_default(const mor_field* fields, void* options);
/* Parses `text` and stores it in the option called `name`. On failure the option is unchanged and
 * the sentence names the known options or the allowed range ("did you mean"). */
MOR_API mor_code mor_fields_set(const mor_field* fields, void* options, const char* name, const char* text,
                                mor_error* error);
/* Writes the value of one option as text that mor_fields_set reads back exactly. */
MOR_API void mor_field_print(const mor_field* field, const void* options, char* text, size_t size);
/* The word of `words` (NULL-terminated) closest to `text`, or NULL if none is near. */
MOR_API const char* mor_did_you_mean(const char* text, const char* const* words);

#ifdef __cplusplus
}
#endif
#endif
