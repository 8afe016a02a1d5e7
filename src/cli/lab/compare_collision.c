/* moreau compare --collision a,b,c: collision methods on the same states (lab/collisions.h). */
#include "cli/lab/compare_collision.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "io/text/output.h"
#include "lab/collisions.h"

enum { MOST_KNOWN = 64 };

/* Cuts a,b,c into names; their number, -1: too many. */
static int cut(char* text, const char** names)
{
    int n = 0;
    for (char* word = strtok(text, ","); word; word = strtok(NULL, ",")) {
        if (n == MOR_COLLISION_METHODS) return -1;
        names[n++] = word;
    }
    return n;
}

/* 0 or the exit status. */
static int check_method(const mor_library* library, const char* name)
{
    if (mor_library_collision(library, name)) return 0;
    const char* known[MOST_KNOWN + 1] = { 0 };
    for (int k = 0; k < MOST_KNOWN && mor_library_collision_at(library, k); k++)
        known[k] = mor_library_collision_at(library, k)->name;
    const char* near = mor_did_you_mean(name, known);
    if (near) return mor_cli_usage("compare", "no collision method '%s'; did you mean '%s'?", name, near);
    return mor_cli_usage("compare", "no collision method '%s'%s", name,
                         strcmp(name, "bullet") == 0 ? "; `make bullet` builds it" : "");
}

/* 0 or the exit status. */
static int write_all(const mor_collisions* c, const mor_cli_collisions* a)
{
    mor_error error = { 0 };
    for (int k = 0; k < 2; k++) {
        const char* path = k ? a->csv : a->out;
        FILE* out = path ? mor_output_open(path, &error) : NULL;
        bool whole = true;
        if (out && k) mor_collisions_write_csv(c, out);
        else if (out) whole = mor_collisions_write_markdown(c, a->command, out);
        if (path && (!out || mor_output_close(out, path, whole, &error))) return mor_cli_fail(&error);
        if (!whole) return mor_fail(&error, MOR_SYSTEM, "%s: out of memory", path), mor_cli_fail(&error);
    }
    if (a->json) mor_collisions_write_json(c, stdout);
    else if (!a->quiet) mor_collisions_print(c, stdout);
    return 0;
}

int mor_cli_compare_collisions(const mor_cli_collisions* a)
{
    mor_collisions c = { .library = a->library,
                         .states = a->frames > 0 ? a->frames : 50,
                         .limit = a->scene_limit > 0.0 ? a->scene_limit : HUGE_VAL,
                         .stop = a->stop };
    char names[1024], path[4096];
    if (snprintf(names, sizeof names, "%s", a->names) >= (int)sizeof names ||
        (c.method_count = cut(names, c.methods)) < 1)
        return mor_cli_usage("compare", "--collision needs one to %d methods", MOR_COLLISION_METHODS);
    for (int i = 0; i < c.method_count; i++) {
        int status = check_method(c.library, c.methods[i]);
        if (status) return status;
    }
    size_t n = a->out ? strlen(a->out) : 0;
    if (a->out && (n < 3 || strcmp(a->out + n - 3, ".md") != 0))
        return mor_cli_usage("compare", "--out of --collision is a page in Markdown: FILE.md");
    mor_error error = { 0 };
    mor_code code = MOR_OK;
    for (int i = 0; i < a->problem_count && !code && !a->stop(); i++)
        code = mor_collisions_add(&c, mor_cli_scene_path(a->problems[i], path, sizeof path), &error);
    if (!code && c.scene_count == 0 && !a->stop())
        code = mor_fail(&error, MOR_BAD_INPUT, "%s: no scenes in it (files that end with .yaml)", a->problems[0]);
    int status = code ? mor_cli_fail(&error) : write_all(&c, a);
    mor_collisions_free(&c);
    if (!a->stop()) return status;
    fprintf(stderr, "moreau compare: interrupted; scenes that were not looked at are missing\n");
    return status ? status : 1;
}
