#define _XOPEN_SOURCE 700 /* realpath */
#include "cli/named_files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

/* Both do not exist yet: the same name in the same folder. */
static bool same_new_file(const char* a, const char* b)
{
    const char* names[2] = { a, b };
    char* folders[2] = { NULL, NULL };
    bool same = false;
    for (int k = 0; k < 2; k++) {
        const char* slash = strrchr(names[k], '/');
        char* folder = slash ? strndup(names[k], (size_t)(slash - names[k]) + 1) : strdup(".");
        folders[k] = folder ? realpath(folder, NULL) : NULL;
        free(folder);
        if (slash) names[k] = slash + 1;
    }
    if (folders[0] && folders[1]) same = strcmp(folders[0], folders[1]) == 0 && strcmp(names[0], names[1]) == 0;
    free(folders[0]), free(folders[1]);
    return same;
}

static bool same_file(const char* a, const char* b)
{
    struct stat one, other;
    bool there = stat(a, &one) == 0, also = stat(b, &other) == 0;
    if (there && also) return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
    return !there && !also && same_new_file(a, b);
}

int mor_cli_check_files(const char* command, const mor_cli_named_files* f)
{
    for (int k = 0; k < f->output_count; k++) {
        const char *option = f->outputs[k].option, *name = f->outputs[k].name;
        struct stat there;
        if (strcmp(name, "-") == 0) continue;
        for (int i = 0; i < f->input_count; i++)
            if (stat(name, &there) == 0 && same_file(f->inputs[i], name))
                return mor_cli_usage(command, "%s %s: this file is read, and would be overwritten", option, name);
        for (int i = 0; i < k; i++)
            if (same_file(f->outputs[i].name, name))
                return mor_cli_usage(command, "%s and %s both write %s", f->outputs[i].option, option, name);
    }
    return 0;
}
