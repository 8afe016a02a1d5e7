/* Damage to XML texts by dice. */
#ifndef TESTS_COMMON_DAMAGE_H
#define TESTS_COMMON_DAMAGE_H

#include <string.h>

#include "moreau/base.h"

/* One change of a text by dice: a byte, a cut, a piece twice, another value between quotes. The new length. */
static inline size_t damage(mor_rng* rng, char* text, size_t n, size_t room)
{
    static const char* const values[] = { "1e308", "-1", "nan",   "inf",  "1e-320", "0",   "99999999999999999999",
                                          "x",     "",   "0 0 0", "true", "1 2",    "ball" };
    size_t at = (size_t)(mor_rng_uniform(rng) * (double)n);
    double kind = mor_rng_uniform(rng);
    if (kind < 0.15) text[at] = (char)(256 * mor_rng_uniform(rng));
    else if (kind < 0.2) return at + 1;
    else if (kind < 0.4) {
        size_t cut = (size_t)(mor_rng_uniform(rng) * 60.0);
        if (at + cut < n) memmove(text + at, text + at + cut, n - at - cut), n -= cut;
    } else if (kind < 0.5) {
        size_t piece = (size_t)(mor_rng_uniform(rng) * 200.0);
        if (at + piece < n && n + piece < room) memmove(text + at + piece, text + at, n - at), n += piece;
    } else {
        const char* word = values[(int)(mor_rng_uniform(rng) * 13.0)];
        char* from = memchr(text + at, '"', n - at);
        char* to = from ? memchr(from + 1, '"', n - (size_t)(from + 1 - text)) : NULL;
        if (!to) return n;
        size_t w = strlen(word), tail = n - (size_t)(to - text);
        if ((size_t)(from + 1 - text) + w + tail > room) return n;
        memmove(from + 1 + w, to, tail);
        memcpy(from + 1, word, w);
        n = (size_t)(from + 1 - text) + w + tail;
    }
    return n;
}

#endif
