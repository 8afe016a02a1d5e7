/* Copies of a few kilobytes. */
#ifndef MOREAU_BASE_COPY_H
#define MOREAU_BASE_COPY_H

#include <stddef.h>
#include <string.h>

/* memcpy in pieces of 2 KB: the C library moves longer ones by an instruction that takes long to start, which does not
 * pay for the states of a robot, copied twice in every step. */
static inline void mor_copy(void* to, const void* from, size_t bytes)
{
    const size_t piece = 2048;
    char* t = to;
    const char* f = from;
    for (; bytes > piece; bytes -= piece, t += piece, f += piece) memcpy(t, f, piece);
    memcpy(t, f, bytes);
}

#endif
