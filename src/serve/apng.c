/* Animated PNG from whole PNG pictures, see apng.h.
 *
 *     signature  IHDR  acTL(count, plays)  { fcTL  IDAT ... }  { fcTL  fdAT ... } ...  IEND
 *
 * Every picture replaces the whole of the one before. The compressed data of a picture goes over as it is: IDAT becomes
 * fdAT with a running number in front. */
#include "serve/apng.h"

#include <string.h>
#include <zlib.h>

static const unsigned char signature[8] = { 137, 'P', 'N', 'G', 13, 10, 26, 10 };

static uint32_t word(const unsigned char* p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_word(unsigned char* p, uint32_t x)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(x >> (24 - 8 * i));
}

/* A chunk of two parts; the second may be empty. */
static bool put_chunk(FILE* file, const char* type, const unsigned char* a, size_t na, const unsigned char* b,
                      size_t nb)
{
    unsigned char size[4], end[4];
    put_word(size, (uint32_t)(na + nb));
    uLong crc = crc32(0, (const Bytef*)type, 4);
    if (na) crc = crc32(crc, a, (uInt)na);
    if (nb) crc = crc32(crc, b, (uInt)nb);
    put_word(end, (uint32_t)crc);
    return fwrite(size, 1, 4, file) == 4 && fwrite(type, 1, 4, file) == 4 && (!na || fwrite(a, 1, na, file) == na) &&
           (!nb || fwrite(b, 1, nb, file) == nb) && fwrite(end, 1, 4, file) == 4;
}

mor_apng mor_apng_begin(FILE* file, int count, double rate)
{
    double ms = 1000.0 / rate;
    return (mor_apng){ .file = file,
                       .count = (uint32_t)count,
                       .delay = ms < 1.0       ? 1
                                : ms > 60000.0 ? 60000
                                               : (unsigned)(ms + 0.5) };
}

static bool put_control(mor_apng* a)
{
    unsigned char c[26] = { 0 };
    put_word(c, a->sequence++);
    memcpy(c + 4, a->head, 8); /* width, height; offsets 0 */
    c[20] = (unsigned char)(a->delay >> 8);
    c[21] = (unsigned char)a->delay;
    c[22] = 1000 >> 8;
    c[23] = 1000 & 255;
    return put_chunk(a->file, "fcTL", c, sizeof c, NULL, 0);
}

static bool put_head(mor_apng* a, const unsigned char* head)
{
    unsigned char control[8] = { 0 };
    memcpy(a->head, head, sizeof a->head);
    put_word(control, a->count);
    put_word(control + 4, 1);
    return fwrite(signature, 1, 8, a->file) == 8 && put_chunk(a->file, "IHDR", head, 13, NULL, 0) &&
           put_chunk(a->file, "acTL", control, 8, NULL, 0);
}

mor_code mor_apng_add(mor_apng* a, const unsigned char* png, size_t size, mor_error* error)
{
    if (size < 8 || memcmp(png, signature, 8) != 0) return mor_fail(error, MOR_BAD_INPUT, "a picture is no PNG");
    bool data = false, good = true;
    for (size_t at = 8; at + 12 <= size && good;) {
        size_t n = word(png + at);
        const unsigned char *type = png + at + 4, *body = png + at + 8;
        if (n > size - at - 12) break;
        if (memcmp(type, "IHDR", 4) == 0) {
            if (n != 13 || (a->frames > 0 && memcmp(body, a->head, 13) != 0))
                return mor_fail(error, MOR_BAD_INPUT, "the pictures of a film have different sizes");
            if (a->frames == 0) good = put_head(a, body);
            good = good && put_control(a);
        } else if (memcmp(type, "IDAT", 4) == 0) {
            unsigned char number[4];
            put_word(number, a->sequence);
            if (a->frames > 0) a->sequence++;
            good = a->frames == 0 ? put_chunk(a->file, "IDAT", body, n, NULL, 0)
                                  : put_chunk(a->file, "fdAT", number, 4, body, n);
            data = true;
        }
        at += 12 + n;
    }
    if (!good) return mor_fail(error, MOR_SYSTEM, "the film cannot be written");
    if (!data) return mor_fail(error, MOR_BAD_INPUT, "a picture has no pixels");
    a->frames++;
    return MOR_OK;
}

mor_code mor_apng_end(mor_apng* a, mor_error* error)
{
    if (a->frames == a->count && put_chunk(a->file, "IEND", NULL, 0, NULL, 0) && fflush(a->file) == 0) return MOR_OK;
    return mor_fail(error, MOR_SYSTEM, "the film cannot be written");
}
