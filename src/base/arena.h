/* The inside of scratch memory (arena.c): handing out a piece is a few instructions, where a step of a small scene asks
 * for some fifty. */
#ifndef MOREAU_BASE_ARENA_H
#define MOREAU_BASE_ARENA_H

#include "base/inline.h"
#include "base/poison.h"
#include "moreau/base.h"

enum { MOR_ARENA_ALIGN = 64 };

/* Handing out touches `next` and `left` only. How much was used at most is seen when something is given back. */
struct mor_arena {
    unsigned char* next; /* in the last chunk, */
    size_t left;         /* and what is left of it; multiples of MOR_ARENA_ALIGN */
    struct mor_arena_chunk* last;
    size_t peak;
    bool overflowed; /* the first chunk was too small since the last reset */
    mor_allocator allocator;
};

/* A piece where the last chunk is too small, or there is none yet. NULL: out of memory. */
void* mor_arena_more(mor_arena* arena, size_t size);

/* mor_arena_alloc, in place. */
static inline void* mor_arena_take(mor_arena* arena, size_t size)
{
    if (size >= arena->left || arena->left - size <= MOR_GUARD) return mor_arena_more(arena, size);
    const size_t align = MOR_ARENA_ALIGN, need = ((size + (size == 0) + align - 1) & ~(align - 1)) + MOR_GUARD;
    void* block = arena->next;
    arena->next += need;
    arena->left -= need;
    MOR_UNPOISON(block, size);
    return block;
}

#endif
