/* An allocator that counts its calls, and fails from one of them on. */
#ifndef TESTS_COUNTER_H
#define TESTS_COUNTER_H

#include <stdbool.h>
#include <stdlib.h>

/* Counts calls of the allocator after `armed`. */
typedef struct counter {
    long calls;
    bool armed;
    long fail_at; /* 0: never; otherwise the call that fails */
} counter;

static inline void* counting_resize(void* user, void* block, size_t size)
{
    counter* c = user;
    if (size && c->armed) {
        c->calls++;
        if (c->fail_at && c->calls >= c->fail_at) return NULL;
    }
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

#endif
