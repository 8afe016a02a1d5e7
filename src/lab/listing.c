/* See listing.h. A comparison of a folder begins with this list: it can be told before anything is read or run. */
#include "lab/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 4, MOST_FILES = 20000 };

static bool ends(const char* path, const char* ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

bool mor_lab_is_scene(const char* path) { return ends(path, ".yaml") || ends(path, ".yml") || ends(path, ".json"); }

bool mor_lab_stopped(const mor_lab* lab, const mor_lab_look* at)
{
    return lab->options.reading && !lab->options.reading(lab->options.reading_user, at);
}

static mor_code take(mor_lab_listing* list, const char* path, mor_error* error)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 64;
        char** grown = realloc(list->paths, (size_t)capacity * sizeof *grown);
        if (!grown) return mor_fail(error, MOR_SYSTEM, "out of memory");
        list->paths = grown;
        list->capacity = capacity;
    }
    if (!(list->paths[list->count] = strdup(path))) return mor_fail(error, MOR_SYSTEM, "out of memory");
    list->scenes += mor_lab_is_scene(path);
    list->count++;
    return MOR_OK;
}

static int by_name(const struct dirent** a, const struct dirent** b) { return strcmp((*a)->d_name, (*b)->d_name); }

static mor_code walk(const mor_lab* lab, const char* path, int depth, mor_lab_listing* list, mor_error* error)
{
    const mor_lab_look at = { .place = path, .count = list->count, .scenes = list->scenes };
    if (mor_lab_stopped(lab, &at)) return mor_fail(error, MOR_STOPPED, "%.600s: not read to its end", path);
    struct dirent** entries;
    int count = scandir(path, &entries, NULL, by_name);
    if (count < 0 && depth > 0 && errno == EACCES) return MOR_OK; /* somebody else's */
    if (count < 0) return mor_fail(error, MOR_BAD_INPUT, "%s: cannot list: %s", path, strerror(errno));
    mor_code code = MOR_OK;
    for (int i = 0; i < count; i++) {
        const char* name = entries[i]->d_name;
        char child[1024];
        struct stat status;
        bool known = ends(name, ".h5") || ends(name, ".hdf5") || ends(name, ".dat") || ends(name, ".yaml");
        bool there = !code && name[0] != '.' &&
                     snprintf(child, sizeof child, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", name) <
                         (int)sizeof child &&
                     stat(child, &status) == 0;
        if (there && S_ISDIR(status.st_mode) && depth < DEEPEST) code = walk(lab, child, depth + 1, list, error);
        else if (there && known && S_ISREG(status.st_mode)) code = take(list, child, error);
        free(entries[i]);
    }
    free(entries);
    if (!code && list->count > MOST_FILES)
        code = mor_fail(error, MOR_BAD_INPUT, "%.600s: more than %d files that may be problems; give a smaller folder",
                        path, MOST_FILES);
    return code;
}

mor_code mor_lab_list(const mor_lab* lab, const char* path, mor_lab_listing* list, mor_error* error)
{
    struct stat status;
    *list = (mor_lab_listing){ .paths = NULL };
    if (stat(path, &status) != 0) return mor_fail(error, MOR_BAD_INPUT, "%s: cannot open: %s", path, strerror(errno));
    return S_ISDIR(status.st_mode) ? walk(lab, path, 0, list, error) : take(list, path, error);
}

void mor_lab_listing_free(mor_lab_listing* list)
{
    for (int i = 0; i < list->count; i++) free(list->paths[i]);
    free(list->paths);
    *list = (mor_lab_listing){ .paths = NULL };
}
