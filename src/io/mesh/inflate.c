/* Decompression of zlib streams: blocks that are stored, or coded with fixed or own Huffman codes, and the checksum.
 *
 * A canonical code is known by the number of its words of each length: words of one length are consecutive, and the
 * first of length n+1 is twice the one after the last of length n. So a word is read bit by bit until it is less than
 * that one, and its rank among all words is its place in the list of symbols sorted by length.
 *
 * References: P. Deutsch, RFC 1950 (zlib) and RFC 1951 (deflate). */
#include "io/mesh/png_grey.h"

#include <string.h>

enum { LONGEST = 15, LITERALS = 288, DISTANCES = 32, END = 256 };

typedef struct stream {
    const unsigned char* in;
    size_t length, at;
    uint32_t bits; /* not yet used */
    int bit_count;
    unsigned char* out;
    size_t size, used;
    bool damaged;
} stream;

typedef struct code {
    int count[LONGEST + 1]; /* of words by length */
    int symbols[LITERALS];
} code;

static int take(stream* s, int n)
{
    while (s->bit_count < n) {
        if (s->at == s->length) {
            s->damaged = true;
            return 0;
        }
        s->bits |= (uint32_t)s->in[s->at++] << s->bit_count;
        s->bit_count += 8;
    }
    int value = (int)(s->bits & ((1u << n) - 1u));
    s->bits >>= n;
    s->bit_count -= n;
    return value;
}

/* False if there are more words than fit, or, but for a single one, fewer. */
static bool make_code(code* c, const unsigned char* lengths, int n)
{
    int start[LONGEST + 2] = { 0 }, open = 1, words = 0;
    memset(c->count, 0, sizeof c->count);
    for (int k = 0; k < n; k++) c->count[lengths[k]]++;
    c->count[0] = 0;
    for (int length = 1; length <= LONGEST; length++) {
        open = 2 * open - c->count[length];
        if (open < 0) return false;
        start[length + 1] = start[length] + c->count[length];
        words += c->count[length];
    }
    for (int k = 0; k < n; k++)
        if (lengths[k]) c->symbols[start[lengths[k]]++] = k;
    return open == 0 || words <= 1;
}

static int symbol(stream* s, const code* c)
{
    int word = 0, first = 0, rank = 0;
    for (int length = 1; length <= LONGEST && !s->damaged; length++) {
        word = 2 * word + take(s, 1);
        first *= 2;
        if (word - first < c->count[length]) return c->symbols[rank + word - first];
        rank += c->count[length];
        first += c->count[length];
    }
    s->damaged = true;
    return END;
}

/* Repeats of length base + extra bits, by their symbol; distances likewise. */
static void run(stream* s, const code* literals, const code* distances)
{
    while (!s->damaged) {
        int word = symbol(s, literals);
        if (word == END) return;
        if (word < END) {
            if (s->used == s->size) s->damaged = true;
            else s->out[s->used++] = (unsigned char)word;
            continue;
        }
        word -= END + 1;
        if (word > 28) s->damaged = true;
        if (s->damaged) return;
        int extra = word < 8 || word == 28 ? 0 : word / 4 - 1;
        int count = word == 28 ? 258 : word < 8 ? word + 3 : ((4 + word % 4) << extra) + 3;
        count += take(s, extra);
        int step = symbol(s, distances);
        if (step > 29) s->damaged = true;
        if (s->damaged) return;
        extra = step < 4 ? 0 : step / 2 - 1;
        size_t back = (size_t)(step < 4 ? step + 1 : ((2 + step % 2) << extra) + 1);
        back += (size_t)take(s, extra);
        if (back > s->used || (size_t)count > s->size - s->used) s->damaged = true;
        for (int k = 0; k < count && !s->damaged; k++, s->used++) s->out[s->used] = s->out[s->used - back];
    }
}

static void stored(stream* s)
{
    s->bits = 0;
    s->bit_count = 0;
    int n = take(s, 16), check = take(s, 16);
    if (s->damaged || n != (check ^ 0xffff) || (size_t)n > s->length - s->at || (size_t)n > s->size - s->used) {
        s->damaged = true;
        return;
    }
    memcpy(s->out + s->used, s->in + s->at, (size_t)n);
    s->at += (size_t)n;
    s->used += (size_t)n;
}

static void fixed_codes(code* literals, code* distances)
{
    unsigned char lengths[LITERALS];
    for (int k = 0; k < LITERALS; k++) lengths[k] = k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8;
    make_code(literals, lengths, LITERALS);
    memset(lengths, 5, DISTANCES);
    make_code(distances, lengths, DISTANCES);
}

/* The lengths of both codes are themselves coded, with words for repeats. */
static void own_codes(stream* s, code* literals, code* distances)
{
    static const unsigned char order[19] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
    unsigned char lengths[LITERALS + DISTANCES] = { 0 };
    int n = take(s, 5) + 257, m = take(s, 5) + 1, given = take(s, 4) + 4;
    for (int k = 0; k < given; k++) lengths[order[k]] = (unsigned char)take(s, 3);
    if (s->damaged || n > 286 || m > 30 || !make_code(literals, lengths, 19)) {
        s->damaged = true;
        return;
    }
    memset(lengths, 0, sizeof lengths);
    for (int k = 0; k < n + m && !s->damaged;) {
        int word = symbol(s, literals), times = 1, length = word;
        if (word > 18 || (word == 16 && k == 0)) s->damaged = true;
        if (s->damaged) return;
        if (word == 16) length = lengths[k - 1], times = 3 + take(s, 2);
        else if (word > 16) length = 0, times = word == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
        if (times > n + m - k) s->damaged = true;
        while (times-- > 0 && !s->damaged) lengths[k++] = (unsigned char)length;
    }
    if (!lengths[END] || !make_code(literals, lengths, n) || !make_code(distances, lengths + n, m)) s->damaged = true;
}

static uint32_t adler(const unsigned char* bytes, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t k = 0; k < n; k++) {
        a = (a + bytes[k]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

bool mor_inflate(const unsigned char* in, size_t length, unsigned char* out, size_t size)
{
    /* deflate with a window of at most 32 KiB, no dictionary, and the check of these two bytes */
    if (length < 6 || (in[0] & 15) != 8 || in[0] >> 4 > 7 || (in[1] & 32) || (256 * in[0] + in[1]) % 31) return false;
    stream s = { .in = in, .length = length, .at = 2, .out = out, .size = size };
    code literals, distances;
    bool last = false;
    while (!last && !s.damaged) {
        last = take(&s, 1);
        int kind = take(&s, 2);
        if (s.damaged || kind == 3) return false;
        if (kind == 0) {
            stored(&s);
            continue;
        }
        if (kind == 1) fixed_codes(&literals, &distances);
        else own_codes(&s, &literals, &distances);
        if (!s.damaged) run(&s, &literals, &distances);
    }
    if (s.damaged || s.used != size || s.length - s.at < 4) return false;
    const unsigned char* check = in + s.at;
    return adler(out, size) ==
           ((uint32_t)check[0] << 24 | (uint32_t)check[1] << 16 | (uint32_t)check[2] << 8 | check[3]);
}
