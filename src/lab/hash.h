/* FNV-1a (Fowler, Noll, Vo): a number made of bytes, for keys and checksums of journals. */
#ifndef MOR_LAB_HASH_H
#define MOR_LAB_HASH_H

#include <stddef.h>
#include <stdint.h>

#define MOR_HASH_BEGIN 14695981039346656037ull
/* Goes on from `hash`; begin with MOR_HASH_BEGIN. */
static inline uint64_t mor_hash_bytes(uint64_t hash, const void* bytes, size_t size)
{
    const unsigned char* b = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ b[i]) * 1099511628211ull;
    return hash;
}

#endif
