/* The scenes that came with the program: where they are, what they are called, and which one a name means.
 *
 * They lie in folders that say what they are for. A name without its folder is enough; links are second names of a
 * scene (`pyramid` is `s2`). */
#include "cli/cli.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char* mor_cli_scene_directory(char* path, size_t size)
{
    char self[3500];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = '\0';
        char* slash = strrchr(self, '/');
        if (slash) *slash = '\0';
        /* installed; moreau-lab installed; in the build directory */
        const char* beside[] = { "../share/moreau/scenes", "../../share/moreau/scenes", "../scenes" };
        for (int i = 0; i < 3; i++) {
            snprintf(path, size, "%s/%s", self, beside[i]);
            if (access(path, R_OK) == 0) return path;
        }
    }
    snprintf(path, size, "%s", "");
    return path;
}

const char* mor_cli_scene_path(const char* name, char* path, size_t size)
{
    char directory[4000], asked[4200];
    if (strcmp(name, "-") == 0) return mor_cli_file(name);
    if (access(name, F_OK) != 0 && !strchr(name, '/') && *mor_cli_scene_directory(directory, sizeof directory)) {
        const char* endings[] = { "", ".yaml" };
        for (int i = 0; i < 2; i++) {
            snprintf(asked, sizeof asked, "%s/%s%s", directory, name, endings[i]);
            if (mor_scene_locate(asked, path, size, NULL) == MOR_OK && access(path, R_OK) == 0) return path;
        }
    }
    if (mor_scene_locate(name, path, size, NULL)) snprintf(path, size, "%s", name);
    return path;
}

/* Scenes of this folder need robots that are not part of the project: they are found by name, but not listed. */
static const char needs_others[] = "shared";

static int by_name(const void* a, const void* b)
{
    return strcmp(((const mor_cli_scene*)a)->name, ((const mor_cli_scene*)b)->name);
}

/* The first line of the file without its "# ". */
static void read_summary(mor_cli_scene* s)
{
    FILE* f = fopen(s->path, "r");
    char line[sizeof s->summary];
    if (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        snprintf(s->summary, sizeof s->summary, "%s", line + strspn(line, "# "));
    }
    if (f) fclose(f);
}

/* A link is another name of the file it points to. */
static void read_link(mor_cli_scene* s)
{
    ssize_t n = readlink(s->path, s->same_as, sizeof s->same_as - 1);
    s->same_as[n > 0 ? n : 0] = '\0';
    char* dot = strrchr(s->same_as, '.');
    if (dot) *dot = '\0';
}

static mor_cli_scene* add_folder(mor_cli_scene* list, int* count, const char* root, const char* folder)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    DIR* d = opendir(path);
    for (struct dirent* e; d && (e = readdir(d));) {
        size_t length = strlen(e->d_name);
        if (length <= 5 || length >= sizeof list->name || strcmp(e->d_name + length - 5, ".yaml") != 0) continue;
        mor_cli_scene* more = realloc(list, (size_t)(*count + 1) * sizeof *list);
        if (!more) break;
        list = more;
        mor_cli_scene* s = &list[(*count)++];
        memset(s, 0, sizeof *s);
        snprintf(s->folder, sizeof s->folder, "%.*s", (int)sizeof s->folder - 1, folder);
        snprintf(s->name, sizeof s->name, "%.*s", (int)length - 5, e->d_name);
        snprintf(s->path, sizeof s->path, "%s/%.250s", path, e->d_name);
        read_summary(s);
        read_link(s);
    }
    if (d) closedir(d);
    return list;
}

mor_cli_scene* mor_cli_scenes(int* count)
{
    char root[4000];
    mor_cli_scene* list = NULL;
    *count = 0;
    if (!*mor_cli_scene_directory(root, sizeof root)) return NULL;
    list = add_folder(list, count, root, ".");
    DIR* d = opendir(root);
    for (struct dirent* e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strcmp(e->d_name, needs_others) != 0)
            list = add_folder(list, count, root, e->d_name);
    if (d) closedir(d);
    if (list) qsort(list, (size_t)*count, sizeof *list, by_name);
    return list;
}

static int is_model(const struct dirent* e)
{
    const char* const endings[] = { ".yaml", ".yml", ".xml", ".sdf", ".urdf" };
    const char* dot = strrchr(e->d_name, '.');
    for (size_t k = 0; dot && k < sizeof endings / sizeof *endings; k++)
        if (strcmp(dot, endings[k]) == 0) return 1;
    return 0;
}

static int is_visible(const struct dirent* e) { return e->d_name[0] != '.'; }

void mor_cli_near_file(const char* asked, bool models, char* near, size_t size)
{
    const char* slash = strrchr(asked, '/');
    const char* name = slash ? slash + 1 : asked;
    char folder[4096] = ".";
    if (slash) snprintf(folder, sizeof folder, "%.*s", slash == asked ? 1 : (int)(slash - asked), asked);
    struct dirent** files = NULL;
    int count = scandir(folder, &files, models ? is_model : is_visible, alphasort);
    const char** names = count > 0 ? calloc((size_t)count + 1, sizeof *names) : NULL;
    for (int i = 0; names && i < count; i++) names[i] = files[i]->d_name;
    const char* best = names ? mor_did_you_mean(name, names) : NULL;
    snprintf(near, size, "%.*s%s", best ? (int)(name - asked) : 0, asked, best ? best : "");
    for (int i = 0; i < count; i++) free(files[i]);
    free(files);
    free(names);
}

int mor_cli_no_scene(const char* asked, const mor_error* error)
{
    int count = 0;
    mor_error hinted = *error;
    const char* slash = strrchr(asked, '/');
    char name[256], file[4400];
    snprintf(name, sizeof name, "%s", slash ? slash + 1 : asked);
    bool missing = access(asked, F_OK) != 0 && strcmp(asked, "-") != 0;
    if (missing) mor_cli_near_file(asked, true, file, sizeof file);
    if (missing && *file && strcmp(file, asked) != 0) {
        mor_fail(&hinted, error->code, "%.600s; did you mean '%.600s'?", error->text, file);
        return mor_cli_fail(&hinted);
    }
    char* dot = strrchr(name, '.');
    if (dot) *dot = '\0';
    mor_cli_scene* list = missing ? mor_cli_scenes(&count) : NULL;
    const char** names = list ? calloc((size_t)count + 1, sizeof *names) : NULL;
    for (int i = 0; names && i < count; i++) names[i] = list[i].name;
    const char* near = names ? mor_did_you_mean(name, names) : NULL;
    if (near && strcmp(near, name) != 0)
        mor_fail(&hinted, error->code, "%.600s; did you mean '%s'? (moreau list scenes)", error->text, near);
    free(names);
    free(list);
    return mor_cli_fail(&hinted);
}

int mor_cli_one_scene(const char* command, const char** scene, const char* word)
{
    if (*scene) return mor_cli_usage(command, "two scenes, '%s' and '%s'", *scene, word);
    *scene = word;
    return 0;
}
