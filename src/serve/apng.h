/* Animated PNG (APNG 1.0, in the PNG standard since its third edition): several pictures of one size in one PNG file.
 * Browsers and many viewers play it; others show the first picture. */
#ifndef MOREAU_SERVE_APNG_H
#define MOREAU_SERVE_APNG_H

#include <stdio.h>

#include "serve/frame.h"

typedef struct mor_apng {
    FILE* file;
    uint32_t sequence, frames; /* chunks numbered so far; pictures written */
    uint32_t count;            /* pictures announced */
    unsigned char head[13];    /* IHDR of the first */
    unsigned delay;            /* of a picture: 1000 / rate ms */
} mor_apng;

/* `count` pictures will follow, `rate` per second, shown once. The caller keeps and closes the file. */
mor_apng mor_apng_begin(FILE* file, int count, double rate);
/* One more picture, a whole PNG file in memory; all of one size and kind. Bad input: it is none. The pixels stay
 * compressed as they are. */
mor_code mor_apng_add(mor_apng* film, const unsigned char* png, size_t size, mor_error* error);
/* After the last picture. */
mor_code mor_apng_end(mor_apng* film, mor_error* error);

#endif
