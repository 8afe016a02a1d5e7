#include "common/worlds.h"
#include "common/scenes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCENES MOREAU_SOURCE_DIR "/scenes"

const char* scene_path(const char* name)
{
    static char paths[8][1200];
    static int next;
    char asked[1000];
    mor_error error = { 0 };
    char* path = paths[next++ % 8];
    snprintf(asked, sizeof asked, SCENES "/%s.yaml", name);
    if (mor_scene_locate(asked, path, sizeof *paths, &error)) fail_msg("%s", error.text);
    if (access(path, R_OK) != 0) fail_msg("there is no scene '%s'", name);
    return path;
}

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

char** scene_names(int* count)
{
    char** names = calloc(1, sizeof *names);
    *count = 0;
    DIR* root = opendir(SCENES);
    assert_non_null(root);
    for (struct dirent* folder; (folder = readdir(root));) {
        char path[1600];
        if (folder->d_name[0] == '.' || strcmp(folder->d_name, "shared") == 0) continue;
        snprintf(path, sizeof path, SCENES "/%s", folder->d_name);
        DIR* d = opendir(path);
        for (struct dirent* e; d && (e = readdir(d));) {
            size_t length = strlen(e->d_name);
            struct stat about;
            snprintf(path, sizeof path, SCENES "/%s/%s", folder->d_name, e->d_name);
            if (length <= 5 || strcmp(e->d_name + length - 5, ".yaml") != 0) continue;
            if (lstat(path, &about) != 0 || S_ISLNK(about.st_mode)) continue;
            names = realloc(names, (size_t)(*count + 2) * sizeof *names);
            names[*count] = strndup(e->d_name, length - 5);
            names[++*count] = NULL;
        }
        if (d) closedir(d);
    }
    closedir(root);
    qsort(names, (size_t)*count, sizeof *names, by_name);
    return names;
}

void scene_names_free(char** names)
{
    for (int i = 0; names[i]; i++) free(names[i]);
    free(names);
}
