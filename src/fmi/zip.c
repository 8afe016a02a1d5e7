/* A zip archive without compression: local headers with the bytes, then the central directory (PKWARE APPNOTE 6.3,
 * sections 4.3.7 and 4.3.12 to 4.3.16). Files and archive below 4 GB. Times are those of 1980-01-01, so that the same
 * input gives the same bytes. */
#include "fmi/export.h"

#include "io/text/output.h"

#include <stdlib.h>
#include <string.h>

typedef struct entry {
    char name[512];
    uint32_t crc, size, offset;
} entry;

struct mor_zip {
    FILE* file;
    char path[4096];
    entry* entries;
    int count, capacity;
    uint64_t at;
    bool failed, no_memory;
};

static uint32_t crc_of(const unsigned char* data, size_t size)
{
    uint32_t table[256], crc = 0xffffffffu;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        table[i] = c;
    }
    for (size_t i = 0; i < size; i++) crc = table[(crc ^ data[i]) & 255] ^ crc >> 8;
    return ~crc;
}

mor_zip* mor_zip_open(const char* path, mor_error* error)
{
    mor_zip* z = calloc(1, sizeof *z);
    if (!z) return mor_fail(error, MOR_SYSTEM, "out of memory"), NULL;
    snprintf(z->path, sizeof z->path, "%s", path);
    z->file = mor_output_open(path, error);
    if (z->file) return z;
    free(z);
    return NULL;
}

static void put(mor_zip* z, const void* data, size_t size)
{
    fwrite(data, 1, size, z->file); /* mor_output_close says when bytes were lost, and why */
    z->at += size;
}

/* Little-endian numbers of 2 and 4 bytes, as the pattern says: "2" or "4" each. */
static void put_numbers(mor_zip* z, const char* pattern, const uint32_t* numbers)
{
    for (; *pattern; pattern++, numbers++) {
        unsigned char bytes[4] = { (unsigned char)*numbers, (unsigned char)(*numbers >> 8),
                                   (unsigned char)(*numbers >> 16), (unsigned char)(*numbers >> 24) };
        put(z, bytes, *pattern == '2' ? 2 : 4);
    }
}

enum { VERSION = 20, UTF8 = 0x0800, DATE = 0x0021 };

void mor_zip_add(mor_zip* z, const char* name, const void* data, size_t size)
{
    if (z->count == z->capacity) {
        int capacity = 2 * z->capacity + 16;
        entry* entries = realloc(z->entries, (size_t)capacity * sizeof *entries);
        if (!entries) {
            z->failed = z->no_memory = true;
            return;
        }
        z->entries = entries, z->capacity = capacity;
    }
    if (size > 0x7fffffff || z->at > 0x7fffffff || strlen(name) >= sizeof z->entries->name) {
        z->failed = true;
        return;
    }
    entry* e = &z->entries[z->count++];
    *e = (entry){ .crc = crc_of(data, size), .size = (uint32_t)size, .offset = (uint32_t)z->at };
    snprintf(e->name, sizeof e->name, "%s", name);
    put_numbers(
        z, "42222244422",
        (uint32_t[]){ 0x04034b50, VERSION, UTF8, 0, 0, DATE, e->crc, e->size, e->size, (uint32_t)strlen(name), 0 });
    put(z, name, strlen(name));
    put(z, data, size);
}

mor_code mor_zip_close(mor_zip* z, bool keep, mor_error* error)
{
    uint32_t start = (uint32_t)z->at;
    for (int i = 0; i < z->count; i++) {
        const entry* e = &z->entries[i];
        /* made on Unix: permissions rw-r--r--, shared objects rwxr-xr-x */
        size_t n = strlen(e->name);
        uint32_t mode = n > 3 && strcmp(e->name + n - 3, ".so") == 0 ? 0100755 : 0100644;
        put_numbers(z, "42222224442222244",
                    (uint32_t[]){ 0x02014b50, 3 << 8 | VERSION, VERSION, UTF8, 0, 0, DATE, e->crc, e->size, e->size,
                                  (uint32_t)n, 0, 0, 0, 0, mode << 16, e->offset });
        put(z, e->name, n);
    }
    uint32_t length = (uint32_t)z->at - start, count = (uint32_t)z->count;
    put_numbers(z, "42222442", (uint32_t[]){ 0x06054b50, 0, 0, count, count, length, start, 0 });
    bool good = keep && !z->failed;
    mor_code code = mor_output_close(z->file, z->path, good, error);
    if (keep && z->failed && !code)
        code =
            mor_fail(error, MOR_SYSTEM, "%s: %s", z->path, z->no_memory ? "out of memory" : "cannot write the archive");
    free(z->entries);
    free(z);
    return code;
}
