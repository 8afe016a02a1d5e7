/* Where a scene file is: the file itself, or the file of that name one folder further down.
 *
 * Scenes lie in folders that say what they are for (scenes/benchmark, scenes/mechanisms ...), and their names are
 * unique. A path that leaves the folder out, "scenes/s2.yaml", is therefore still a name for one file. A name that
 * occurs in two folders is refused: the reader does not choose. */
#include "moreau/scene.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_file(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

mor_code mor_scene_locate(const char* path, char* found, size_t size, mor_error* error)
{
    struct stat about;
    if ((size_t)snprintf(found, size, "%s", path) >= size)
        return mor_fail(error, MOR_BAD_INPUT, "the path of a scene is longer than %zu characters", size - 1);
    if (stat(path, &about) == 0) return MOR_OK;
    const char* slash = strrchr(path, '/');
    const char* name = slash ? slash + 1 : path;
    char folder[4096] = ".", candidate[8192], other[256] = "";
    if (slash) snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    DIR* directory = opendir(folder);
    mor_code code = MOR_OK;
    for (struct dirent* entry; directory && !code && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.') continue;
        int length = snprintf(candidate, sizeof candidate, "%s/%s/%s", folder, entry->d_name, name);
        if (length < 0 || (size_t)length >= size || (size_t)length >= sizeof candidate || !is_file(candidate)) continue;
        if (*other) {
            bool swap = strcmp(other, entry->d_name) > 0; /* the sentence is the same for any order of the folder */
            code = mor_fail(error, MOR_BAD_INPUT, "%s: there is one in the folder '%s' and one in '%s'; say which",
                            path, swap ? entry->d_name : other, swap ? other : entry->d_name);
        } else {
            snprintf(other, sizeof other, "%s", entry->d_name);
            memcpy(found, candidate, (size_t)length + 1);
        }
    }
    if (directory) closedir(directory);
    return code;
}
