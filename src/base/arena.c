/* Scratch memory: one growing block, overflow chunks while it is too small, marks to return to.
 *
 * A first use overflows into extra chunks; mor_arena_reset then replaces everything by one block
 * that would have held it, so the same work done again touches the heap no more. */
#include "moreau/base.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, FIRST_CHUNK = 1 << 16 };

typedef struct chunk {
    struct chunk* previous;
    size_t begin; /* logical offset of its first byte */
    size_t size;
    unsigned char* data; /* aligned */
} chunk;

struct mor_arena {
    mor_allocator allocator;
    chunk* last;
    size_t used; /* logical offset: bytes handed out, with padding at chunk ends */
    size_t peak;
    bool overflowed; /* the first chunk was too small since the last reset */
};

static void* default_resize(void* user, void* block, size_t size)
{
    (void)user;
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

mor_allocator mor_allocator_default(void) { return (mor_allocator){ default_resize, NULL }; }

mor_arena* mor_arena_create(const mor_allocator* allocator)
{
    mor_allocator a = allocator && allocator->resize ? *allocator : mor_allocator_default();
    mor_arena* arena = a.resize(a.user, NULL, sizeof *arena);
    if (arena) *arena = (mor_arena){ .allocator = a };
    return arena;
}

static chunk* add_chunk(mor_arena* arena, size_t size)
{
    size_t total = sizeof(chunk) + ALIGN + size;
    if (total < size) return NULL;
    chunk* c = arena->allocator.resize(arena->allocator.user, NULL, total);
    if (!c) return NULL;
    uintptr_t start = ((uintptr_t)(c + 1) + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    *c = (chunk){ arena->last, arena->used, size, (unsigned char*)start };
    arena->last = c;
    return c;
}

static void drop_last(mor_arena* arena)
{
    chunk* c = arena->last;
    arena->last = c->previous;
    arena->allocator.resize(arena->allocator.user, c, 0);
}

void mor_arena_destroy(mor_arena* arena)
{
    if (!arena) return;
    while (arena->last) drop_last(arena);
    arena->allocator.resize(arena->allocator.user, arena, 0);
}

void* mor_arena_alloc(mor_arena* arena, size_t size)
{
    if (size > SIZE_MAX / 4) return NULL;
    size_t need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (need == 0) need = ALIGN;
    chunk* c = arena->last;
    if (!c || arena->used - c->begin + need > c->size) {
        size_t twice = c ? 2 * c->size : FIRST_CHUNK;
        arena->overflowed = c != NULL;
        c = add_chunk(arena, need > twice ? need : twice);
        if (!c) return NULL;
    }
    void* block = c->data + (arena->used - c->begin);
    arena->used += need;
    if (arena->used > arena->peak) arena->peak = arena->used;
    return block;
}

void* mor_arena_zero(mor_arena* arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return NULL;
    void* block = mor_arena_alloc(arena, count * size);
    if (block) memset(block, 0, count * size);
    return block;
}

size_t mor_arena_mark(const mor_arena* arena) { return arena->used; }

void mor_arena_release(mor_arena* arena, size_t mark)
{
    /* overflow chunks begun after the mark go; the reset makes one block of the peak size instead */
    while (arena->last && arena->last->begin > mark) drop_last(arena);
    arena->used = mark;
}

void mor_arena_reset(mor_arena* arena)
{
    arena->used = 0;
    if (!arena->overflowed) return;
    while (arena->last) drop_last(arena);
    arena->overflowed = false;
    add_chunk(arena, 2 * arena->peak);
}
