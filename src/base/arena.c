/* Scratch memory: one growing block, overflow chunks while it is too small, marks to return to.
 *
 * A first use overflows into extra chunks; mor_arena_reset then replaces everything by one block
 * that would have held it, so the same work done again touches the heap no more. */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = MOR_ARENA_ALIGN, FIRST_CHUNK = 1 << 16 };

typedef struct mor_arena_chunk {
    struct mor_arena_chunk* previous;
    size_t begin; /* logical offset of its first byte */
    size_t size;
    unsigned char* data; /* aligned */
} chunk;

/* Logical offset: bytes handed out, with padding at chunk ends. */
static size_t used(const mor_arena* arena)
{
    return arena->last ? arena->last->begin + (size_t)(arena->next - arena->last->data) : 0;
}

static void note_peak(mor_arena* arena)
{
    size_t now = used(arena);
    if (now > arena->peak) arena->peak = now;
}

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
    size = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    size_t total = sizeof(chunk) + ALIGN + size;
    chunk* c = arena->allocator.resize(arena->allocator.user, NULL, total);
    if (!c) return NULL;
    uintptr_t start = ((uintptr_t)(c + 1) + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    *c = (chunk){ arena->last, used(arena), size, (unsigned char*)start };
    arena->last = c;
    arena->next = c->data;
    arena->left = size;
    MOR_POISON(c->data, size);
    return c;
}

/* The one before is the last again; the caller says where in it the next piece begins. */
static void drop_last(mor_arena* arena)
{
    chunk* c = arena->last;
    arena->last = c->previous;
    MOR_UNPOISON(c->data, c->size);
    arena->allocator.resize(arena->allocator.user, c, 0);
}

void mor_arena_destroy(mor_arena* arena)
{
    if (!arena) return;
    while (arena->last) drop_last(arena);
    arena->allocator.resize(arena->allocator.user, arena, 0);
}

void* mor_arena_more(mor_arena* arena, size_t size)
{
    if (size > SIZE_MAX / 4) return NULL;
    const chunk* c = arena->last;
    size_t twice = c ? 2 * c->size : FIRST_CHUNK, need = ((size + ALIGN) & ~(size_t)(ALIGN - 1)) + MOR_GUARD;
    arena->overflowed = c != NULL;
    if (!add_chunk(arena, need > twice ? need : twice)) return NULL;
    return mor_arena_take(arena, size);
}

void* mor_arena_alloc(mor_arena* arena, size_t size) { return mor_arena_take(arena, size); }

void* mor_arena_zero(mor_arena* arena, size_t count, size_t size)
{
    /* a division takes longer than all the rest: only where the product may overflow */
    if ((count | size) > UINT32_MAX && size && count > SIZE_MAX / size) return NULL;
    void* block = mor_arena_take(arena, count * size);
    if (block) memset(block, 0, count * size);
    return block;
}

size_t mor_arena_mark(const mor_arena* arena) { return used(arena); }

/* The last chunk holds the offset: the next piece comes from there. */
static void go_back(mor_arena* arena, size_t offset)
{
    chunk* c = arena->last;
    if (!c) return;
    arena->next = c->data + (offset - c->begin);
    arena->left = c->size - (offset - c->begin);
    MOR_POISON(arena->next, arena->left);
}

void mor_arena_release(mor_arena* arena, size_t mark)
{
    note_peak(arena);
    /* overflow chunks begun after the mark go; the reset makes one block of the peak size instead */
    while (arena->last && arena->last->begin > mark) drop_last(arena);
    go_back(arena, mark);
}

void mor_arena_reset(mor_arena* arena)
{
    note_peak(arena);
    if (!arena->overflowed) {
        go_back(arena, 0);
        return;
    }
    while (arena->last) drop_last(arena);
    arena->overflowed = false;
    arena->next = NULL, arena->left = 0;
    add_chunk(arena, 2 * arena->peak);
}
