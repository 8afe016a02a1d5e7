/* Shards of `dataset build` and `reproduce` leave whole files, written under a temporary name and renamed. So a merge
 * is a union of folders: the same for every number of shards, after kills and when a shard ran twice. What two shards
 * left under one name must have the same bytes; a difference is told and nothing is overwritten. Temporary files of a
 * shard that was killed (their names end with .part) are left out. */
#include "lab/folders.h"

#include "io/text/output.h"
#include "io/text/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 4 };
#define LARGEST_FILE ((size_t)1 << 36)

static mor_code make(const char* path, mor_error* error)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return MOR_OK;
    return mor_fail(error, MOR_SYSTEM, "%.600s: cannot be made: %s", path, strerror(errno));
}

static bool temporary(const char* name)
{
    size_t n = strlen(name);
    return name[0] == '.' || (n > 5 && strcmp(name + n - 5, ".part") == 0);
}

static mor_code copy_file(const char* from, const char* to, mor_error* error)
{
    char *text = NULL, *there = NULL;
    size_t length = 0, other = 0;
    struct stat s;
    mor_code code = mor_text_read(from, LARGEST_FILE, &text, &length, error);
    if (!code && stat(to, &s) == 0) {
        code = mor_text_read(to, LARGEST_FILE, &there, &other, error);
        if (!code && (length != other || memcmp(text, there, length) != 0))
            code = mor_fail(error, MOR_BAD_INPUT, "%.400s and %.400s differ: they are of other settings or versions",
                            from, to);
    } else if (!code) {
        FILE* out = mor_output_open(to, error);
        if (out) fwrite(text, 1, length, out);
        code = out ? mor_output_close(out, to, true, error) : error->code;
    }
    free(text), free(there);
    return code;
}

static mor_code merge(const char* from, const char* to, int depth, int* files, mor_error* error)
{
    struct dirent** names;
    mor_code code = make(to, error);
    int n = code ? -1 : scandir(from, &names, NULL, alphasort);
    if (code) return code;
    if (n < 0) return mor_fail(error, MOR_BAD_INPUT, "%.600s: no such folder: %s", from, strerror(errno));
    for (int i = 0; i < n; i++) {
        char source[4096], target[4096];
        struct stat s;
        int a = snprintf(source, sizeof source, "%s/%s", from, names[i]->d_name);
        int b = snprintf(target, sizeof target, "%s/%s", to, names[i]->d_name);
        bool skip = code || temporary(names[i]->d_name);
        if (!skip && (a >= (int)sizeof source || b >= (int)sizeof target))
            code = mor_fail(error, MOR_BAD_INPUT, "%.200s...: name too long", from);
        else if (!skip && stat(source, &s) == 0 && S_ISDIR(s.st_mode) && depth < DEEPEST)
            code = merge(source, target, depth + 1, files, error);
        else if (!skip && stat(source, &s) == 0 && S_ISREG(s.st_mode))
            code = copy_file(source, target, error), ++*files;
        free(names[i]);
    }
    free(names);
    return code;
}

mor_code mor_folder_merge(const char* from, const char* to, int* files, mor_error* error)
{
    struct stat a, b;
    bool same = stat(from, &a) == 0 && stat(to, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    *files = 0;
    return same ? MOR_OK : merge(from, to, 0, files, error);
}
