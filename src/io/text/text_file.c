/* Whole files, see text_file.h. The size is not asked for first: pipes have none. */
#include "io/text/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads to the end or beyond `most`; false: out of memory. */
static bool read_all(FILE* file, size_t most, char** text, size_t* length)
{
    size_t room = 1 << 16, got = 0;
    *text = malloc(room + 1);
    *length = 0;
    while (*text && (got = fread(*text + *length, 1, room - *length, file)) > 0) {
        *length += got;
        if (*length > most) break;
        if (*length < room) continue;
        char* more = realloc(*text, 2 * room + 1);
        if (!more) free(*text);
        *text = more;
        room *= 2;
    }
    if (*text) (*text)[*length] = '\0';
    return *text != NULL;
}

mor_code mor_text_read(const char* path, size_t most, char** text, size_t* length, mor_error* error)
{
    *text = NULL;
    *length = 0;
    FILE* file = fopen(path, "rb");
    if (!file) return mor_fail(error, MOR_BAD_INPUT, "%s: cannot be opened: %s", path, strerror(errno));
    mor_code code = MOR_OK;
    errno = 0;
    if (!read_all(file, most, text, length)) code = mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
    else if (ferror(file)) code = mor_fail(error, MOR_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    else if (*length > most)
        code = mor_fail(error, MOR_BAD_INPUT, "%s: larger than %zu MB; such a file should be small", path, most >> 20);
    fclose(file);
    if (code) {
        free(*text);
        *text = NULL;
    }
    return code;
}

enum { MOST_PATH = 4200 };

/* PATH.part; false: too long. */
static bool part_name(const char* path, char part[MOST_PATH])
{
    return snprintf(part, MOST_PATH, "%s.part", path) < MOST_PATH;
}

FILE* mor_text_create(const char* path, mor_error* error)
{
    char part[MOST_PATH];
    FILE* file = part_name(path, part) ? fopen(part, "w") : NULL;
    if (!file) mor_fail(error, MOR_SYSTEM, "%.400s: cannot be written: %s", path, strerror(errno));
    return file;
}

mor_code mor_text_finish(FILE* file, const char* path, bool keep, mor_error* error)
{
    char part[MOST_PATH];
    part_name(path, part);
    mor_code code = MOR_OK;
    bool good = !ferror(file);
    good = fclose(file) == 0 && good;
    if (keep && (!good || rename(part, path) != 0))
        code = mor_fail(error, MOR_SYSTEM, "%.400s: cannot be written: %s", path, strerror(errno));
    if (!keep || code) remove(part);
    return code;
}
