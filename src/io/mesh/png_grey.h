/* Greyscale PNG pictures, for height fields. */
#ifndef IO_MESH_PNG_GREY_H
#define IO_MESH_PNG_GREY_H

#include "moreau/base.h"

typedef struct mor_grey_picture {
    long width, height;
    int white;              /* 255 or 65535 */
    const uint16_t* values; /* rows from the top */
} mor_grey_picture;

/* Is it a PNG file? */
bool mor_is_png(const void* bytes, size_t size);
/* Reads a PNG picture of 8 or 16 bit, not interlaced, whose pixels are grey (colours and alpha may be stored) and at
 * most `most`; its values lie in the arena. Sentences have no place yet and begin with a small letter. */
mor_code mor_png_read(const void* bytes, size_t size, long most, mor_arena* arena, mor_grey_picture* picture,
                      mor_error* error);
/* The mean colour of a PNG picture, red, green and blue from 0 to 1; opaque pixels count, all if none is. */
mor_code mor_png_mean(const void* bytes, size_t size, long most, double rgb[3], mor_error* error);
/* Decompresses a zlib stream of exactly `size` bytes; false if it is damaged or has another length. */
bool mor_inflate(const unsigned char* stream, size_t length, unsigned char* out, size_t size);

#endif
