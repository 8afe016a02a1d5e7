/* Greyscale PNG pictures: chunks with their checksums, the compressed pixels, and the filters of rows.
 *
 * A row is stored as differences from a prediction by its neighbours: left a, above b, left above c; the first byte of
 * the row says which: 0 none, 1 a, 2 b, 3 (a+b)/2, 4 the one of a, b, c nearest to a+b-c. Not read: palettes, fewer
 * than 8 bit, interlaced pictures, colours that are not grey, transparency. Corrections of brightness are passed over:
 * the stored values are the heights.
 *
 * Reference: W3C, Portable Network Graphics (PNG) Specification, second edition (ISO/IEC 15948). */
#include "io/mesh/png_grey.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char signature[8] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };

bool mor_is_png(const void* bytes, size_t size) { return size >= 4 && memcmp(bytes, signature, 4) == 0; }

static uint32_t word(const unsigned char* p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The remainder of the bytes as a polynomial over two elements. */
static uint32_t crc(const unsigned char* p, size_t n)
{
    uint32_t c = 0xffffffffu;
    for (size_t k = 0; k < n; k++) {
        c ^= p[k];
        for (int bit = 0; bit < 8; bit++) c = c & 1u ? c >> 1 ^ 0xedb88320u : c >> 1;
    }
    return ~c;
}

typedef struct layout {
    long width, height;
    int bytes, channels; /* of a value; 1 grey, 2 and alpha, 3 colours, 4 and alpha */
} layout;

static mor_code damaged(mor_error* error)
{
    return mor_fail(error, MOR_BAD_INPUT, "the PNG picture is damaged or cut short");
}

static mor_code read_layout(const unsigned char* head, long most, layout* l, mor_error* error)
{
    static const int channels[7] = { 1, 0, 3, 0, 2, 0, 4 };
    const uint32_t width = word(head), height = word(head + 4);
    const int depth = head[8], kind = head[9];
    if (width == 0 || height == 0 || width > 0x7fffffff || height > 0x7fffffff) return damaged(error);
    if (width > (uint32_t)most || height > (uint32_t)most || (uint64_t)width * height > (uint64_t)most)
        return mor_fail(error, MOR_BAD_INPUT, "the picture has %u times %u pixels; the limit is %ld", (unsigned)width,
                        (unsigned)height, most);
    if (kind > 6 || !channels[kind] || (depth != 8 && depth != 16))
        return mor_fail(error, MOR_BAD_INPUT, "the PNG picture has %s; save it as greyscale of 8 or 16 bit",
                        kind == 3 ? "a palette of colours" : "fewer than 8 bit");
    if (head[10] || head[11]) return damaged(error);
    if (head[12]) return mor_fail(error, MOR_BAD_INPUT, "the PNG picture is interlaced; save it without that");
    *l = (layout){ (long)width, (long)height, depth / 8, channels[kind] };
    return MOR_OK;
}

/* All chunks: the head into *l, the compressed pixels one after the other into `pixels`. */
static mor_code read_chunks(const unsigned char* p, size_t size, long most, layout* l, unsigned char* pixels,
                            size_t* length, mor_error* error)
{
    bool ended = false;
    size_t at = sizeof signature;
    *length = 0;
    if (size < at || memcmp(p, signature, at) != 0) return damaged(error);
    for (int chunk = 0; !ended; chunk++) {
        if (size - at < 12) return damaged(error);
        const unsigned char* name = p + at + 4;
        const size_t n = word(p + at);
        if (n > size - at - 12 || crc(name, n + 4) != word(name + 4 + n)) return damaged(error);
        const bool head = memcmp(name, "IHDR", 4) == 0;
        if (head != (chunk == 0) || (head && n != 13)) return damaged(error);
        mor_code code = head ? read_layout(name + 4, most, l, error) : MOR_OK;
        if (code) return code;
        if (memcmp(name, "IDAT", 4) == 0) {
            memcpy(pixels + *length, name + 4, n);
            *length += n;
        }
        ended = memcmp(name, "IEND", 4) == 0;
        at += n + 12;
    }
    return MOR_OK;
}

static int nearest(int a, int b, int c)
{
    int to_a = abs(b - c), to_b = abs(a - c), to_c = abs(a + b - 2 * c);
    return to_a <= to_b && to_a <= to_c ? a : to_b <= to_c ? b : c;
}

/* Undoes the prediction of a row of n bytes; `above` is NULL for the first one. */
static bool restore(unsigned char* row, const unsigned char* above, size_t n, size_t pixel, int filter)
{
    if (filter > 4) return false;
    for (size_t k = 0; k < n; k++) {
        int a = k >= pixel ? row[k - pixel] : 0, b = above ? above[k] : 0,
            c = above && k >= pixel ? above[k - pixel] : 0;
        const int guess[5] = { 0, a, b, (a + b) / 2, nearest(a, b, c) };
        row[k] = (unsigned char)(row[k] + guess[filter]);
    }
    return true;
}

/* The value of a pixel; -1: it is not grey, -2: not opaque. */
static long grey_of(const unsigned char* p, const layout* l)
{
    long v[4];
    for (int k = 0; k < l->channels; k++, p += l->bytes) v[k] = l->bytes == 1 ? p[0] : 256 * p[0] + p[1];
    if (l->channels > 2 && (v[1] != v[0] || v[2] != v[0])) return -1;
    if (l->channels % 2 == 0 && v[l->channels - 1] != (l->bytes == 1 ? 255 : 65535)) return -2;
    return v[0];
}

static mor_code read_pixels(unsigned char* rows, const layout* l, uint16_t* values, mor_error* error)
{
    const size_t pixel = (size_t)(l->bytes * l->channels), n = pixel * (size_t)l->width;
    for (long j = 0; j < l->height; j++) {
        unsigned char* row = rows + (size_t)j * (n + 1) + 1;
        if (!restore(row, j ? row - n - 1 : NULL, n, pixel, row[-1])) return damaged(error);
        for (long i = 0; i < l->width; i++) {
            long grey = grey_of(row + (size_t)i * pixel, l);
            if (grey < 0)
                return mor_fail(error, MOR_BAD_INPUT,
                                "the pixel of column %ld, row %ld is %s; save the picture as greyscale", i + 1, j + 1,
                                grey == -1 ? "not grey" : "transparent");
            values[j * l->width + i] = (uint16_t)grey;
        }
    }
    return MOR_OK;
}

/* The rows as stored, each behind the byte of its filter; free them. */
static mor_code unpack(const void* bytes, size_t size, long most, layout* l, unsigned char** rows, mor_error* error)
{
    unsigned char* packed = malloc(size + 1);
    size_t length = 0, total = 0;
    *rows = NULL;
    mor_code code = packed ? read_chunks(bytes, size, most, l, packed, &length, error)
                           : mor_fail(error, MOR_SYSTEM, "out of memory");
    if (code == MOR_OK) {
        total = (size_t)l->height * ((size_t)l->width * (size_t)(l->bytes * l->channels) + 1);
        *rows = malloc(total);
        if (!*rows) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    if (code == MOR_OK && !mor_inflate(packed, length, *rows, total)) code = damaged(error);
    free(packed);
    return code;
}

mor_code mor_png_read(const void* bytes, size_t size, long most, mor_arena* arena, mor_grey_picture* picture,
                      mor_error* error)
{
    unsigned char* rows = NULL;
    uint16_t* values = NULL;
    layout l = { 0 };
    mor_code code = unpack(bytes, size, most, &l, &rows, error);
    if (code == MOR_OK) {
        values = mor_arena_alloc(arena, (size_t)l.width * (size_t)l.height * sizeof *values);
        if (!values) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    if (code == MOR_OK) code = read_pixels(rows, &l, values, error);
    *picture = (mor_grey_picture){ l.width, l.height, l.bytes == 1 ? 255 : 65535, values };
    free(rows);
    return code;
}

mor_code mor_png_mean(const void* bytes, size_t size, long most, double rgb[3], mor_error* error)
{
    unsigned char* rows = NULL;
    layout l = { 0 };
    mor_code code = unpack(bytes, size, most, &l, &rows, error);
    const size_t pixel = (size_t)(l.bytes * l.channels), n = pixel * (size_t)l.width;
    double sum[2][3] = { { 0 } }, count[2] = { 0 }; /* of all pixels, of the opaque ones */
    for (long j = 0; j < l.height && code == MOR_OK; j++) {
        unsigned char* row = rows + (size_t)j * (n + 1) + 1;
        if (!restore(row, j ? row - n - 1 : NULL, n, pixel, row[-1])) code = damaged(error);
        for (long i = 0; i < l.width && code == MOR_OK; i++) {
            const unsigned char* p = row + (size_t)i * pixel;
            bool opaque = l.channels % 2 || p[pixel - (size_t)l.bytes] >= 128;
            for (int kind = 0; kind < 1 + opaque; kind++) {
                count[kind]++;
                for (int k = 0; k < 3; k++) sum[kind][k] += p[l.channels > 2 ? k * l.bytes : 0];
            }
        }
    }
    for (int k = 0, kind = count[1] > 0; k < 3 && code == MOR_OK; k++) rgb[k] = sum[kind][k] / (255.0 * count[kind]);
    free(rows);
    return code;
}
