/* The files a scene is made of: found by looking for words in their texts that name a file there.
 *
 * A scene names includes, meshes, robots and tables; a URDF file names meshes, also as package://NAME/path. Words end
 * at blanks, quotes and brackets. A word counts when it ends like a file of ours and the file is there, seen from the
 * folder of the text or, for packages, from a folder above it. What this misses is found when the copy is read back
 * (export.c). */
#define _XOPEN_SOURCE 700 /* realpath */
#include "fmi/export.h"

#include "io/text/text_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* const endings[] = { ".yaml", ".yml", ".json", ".urdf", ".xml", ".sdf",  ".obj",
                                       ".stl",  ".dae", ".poly", ".csv",  ".mtl", ".xacro" };
static const char* const texts[] = { ".yaml", ".yml", ".json", ".urdf", ".xml", ".sdf", ".obj", ".xacro" };

static bool ends_with(const char* word, const char* const* list, size_t count)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < count; i++) {
        size_t m = strlen(list[i]), k = 0;
        if (n <= m) continue;
        while (k < m && tolower((unsigned char)word[n - m + k]) == list[i][k]) k++;
        if (k == m) return true;
    }
    return false;
}

static mor_code add_file(mor_fmu_files* f, const char* path, mor_error* error)
{
    char* real = realpath(path, NULL);
    if (!real) return mor_fail(error, MOR_BAD_INPUT, "%s: no such file", path);
    for (int i = 0; i < f->count; i++)
        if (strcmp(f->paths[i], real) == 0) return free(real), MOR_OK;
    if (f->count == f->capacity) {
        int capacity = 2 * f->capacity + 16;
        char** paths = realloc(f->paths, (size_t)capacity * sizeof *paths);
        if (!paths) return free(real), mor_fail(error, MOR_SYSTEM, "out of memory");
        f->paths = paths, f->capacity = capacity;
    }
    f->paths[f->count++] = real;
    return MOR_OK;
}

/* The folder of a path, cut off in place; false at the root. */
static bool go_up(char* path)
{
    char* slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = '\0';
    return true;
}

/* A word in the text of `from`: takes the file it names, if there is one. */
static mor_code look_up(mor_fmu_files* f, const char* from, const char* word, mor_error* error)
{
    char folder[PATH_MAX], path[2 * PATH_MAX];
    snprintf(folder, sizeof folder, "%s", from);
    const char* scheme = strstr(word, "://");
    const char* rest = scheme ? scheme + 3 : word;
    if (!scheme || strncmp(word, "file", 4) == 0) {
        go_up(folder);
        if (*rest == '/') snprintf(path, sizeof path, "%s", rest);
        else snprintf(path, sizeof path, "%s/%s", folder, rest);
        return mor_file_is_regular(path) ? add_file(f, path, error) : MOR_OK;
    }
    const char* inside = strchr(rest, '/');
    while (go_up(folder)) {
        snprintf(path, sizeof path, "%s/%s", folder, rest);
        if (mor_file_is_regular(path)) return add_file(f, path, error);
        snprintf(path, sizeof path, "%s%s", folder, inside ? inside : "");
        if (inside && mor_file_is_regular(path)) return add_file(f, path, error);
    }
    return MOR_OK;
}

static mor_code look_through(mor_fmu_files* f, const char* path, mor_error* error)
{
    char* text;
    size_t length;
    mor_code code = mor_text_read(path, 256 << 20, &text, &length, error);
    if (code) return code;
    static const char stops[] = " \t\r\n\"'<>[]{},;=()";
    char *rest = text, *word;
    while (!code && (word = strtok_r(rest, stops, &rest))) {
        size_t n = strlen(word);
        if (n < PATH_MAX && ends_with(word, endings, sizeof endings / sizeof *endings))
            code = look_up(f, path, word, error);
    }
    free(text);
    return code;
}

mor_code mor_fmu_gather(const char* scene, mor_fmu_files* f, mor_error* error)
{
    *f = (mor_fmu_files){ 0 };
    mor_code code = add_file(f, scene, error);
    for (int i = 0; i < f->count && !code; i++)
        if (i == 0 || ends_with(f->paths[i], texts, sizeof texts / sizeof *texts))
            code = look_through(f, f->paths[i], error);
    if (code) return code;
    snprintf(f->base, sizeof f->base, "%s", f->paths[0]);
    go_up(f->base);
    for (int i = 1; i < f->count; i++)
        for (size_t n = strlen(f->base); strncmp(f->paths[i], f->base, n) != 0 || f->paths[i][n] != '/';
             n = strlen(f->base))
            if (!go_up(f->base)) {
                f->base[0] = '\0'; /* the root */
                break;
            }
    return MOR_OK;
}

void mor_fmu_files_free(mor_fmu_files* f)
{
    for (int i = 0; i < f->count; i++) free(f->paths[i]);
    free(f->paths);
    *f = (mor_fmu_files){ 0 };
}
