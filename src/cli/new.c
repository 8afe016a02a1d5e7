/* moreau new: a commented scene to start from. The scenes lie in scenes/new, so that they are run like all others. */
#include "cli/cli.h"
#include "cli/options.h"
#include "io/text/output.h"
#include "io/text/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct arguments {
    const char *kind, *file, *urdf;
} arguments;

static const char* const kinds[] = { "stack", "robot", "mechanism", "planar", NULL };
/* The robot of scenes/new/new_robot.yaml. */
static const char own_robot[] = "../robots/arm2.urdf";

static int take_word(void* user, char* word)
{
    arguments* a = user;
    if (!a->kind) a->kind = word;
    else if (!a->file) a->file = word;
    else return mor_cli_usage("new", "unexpected '%s'", word);
    return 0;
}

static const mor_cli_option options[] = {
    { "--urdf", "FILE.urdf", "robot: your robot, instead of an arm with two joints", MOR_CLI_TEXT,
      .offset = offsetof(arguments, urdf) },
    { .name = NULL },
};

static const mor_cli_command command = {
    .name = "new",
    .usage = "stack|robot|mechanism|planar [FILE.yaml] [--urdf FILE.urdf]",
    .about = "Writes a commented scene to start from: KIND.yaml, or FILE.yaml, or `-` for standard output.\n"
             "A file that is there is not written over.\n",
    .options = options,
    .operand = take_word,
};

/* Writes `text` with the first `old` replaced by `by`; old NULL: as it is. */
static bool write_replaced(FILE* out, const char* text, const char* old, const char* by)
{
    const char* at = old ? strstr(text, old) : NULL;
    if (!at) return fputs(text, out) >= 0;
    return fprintf(out, "%.*s%s%s", (int)(at - text), text, by, at + strlen(old)) >= 0;
}

/* A file of the scene directory, into memory. */
static char* read_ours(const char* name, mor_error* error)
{
    char directory[4000], path[4200], *text = NULL;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", mor_cli_scene_directory(directory, sizeof directory), name);
    mor_text_read(path, 1 << 20, &text, &length, error);
    return text;
}

static int write_new(const char* path, const char* text, const char* old, const char* by, mor_error* error)
{
    if (access(path, F_OK) == 0) return mor_cli_usage("new", "%s is there already; give another name", path);
    FILE* out = mor_output_open(path, error);
    if (!out) return mor_cli_fail(error);
    bool good = write_replaced(out, text, old, by);
    return mor_output_close(out, path, good, error) || !good ? mor_cli_fail(error) : 0;
}

/* The robot that came with the program goes beside the scene, unless the user has one. */
static int write_robot(const char* path, const char* text, const char* urdf, mor_error* error)
{
    if (urdf) return write_new(path, text, own_robot, urdf, error);
    char beside[4200];
    const char* slash = strrchr(path, '/');
    snprintf(beside, sizeof beside, "%.*sarm2.urdf", slash ? (int)(slash + 1 - path) : 0, path);
    int status = write_new(path, text, own_robot, "arm2.urdf", error);
    if (status || access(beside, F_OK) == 0) return status;
    char* model = read_ours("robots/arm2.urdf", error);
    status = model ? write_new(beside, model, NULL, NULL, error) : mor_cli_fail(error);
    free(model);
    return status;
}

int mor_cli_new(int argc, char** argv)
{
    arguments a = { 0 };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.kind) return mor_cli_usage("new", "what? stack, robot, mechanism or planar");
    bool known = false, robot = strcmp(a.kind, "robot") == 0;
    for (int i = 0; kinds[i]; i++) known = known || strcmp(a.kind, kinds[i]) == 0;
    if (!known) return mor_cli_unknown("new", "kind", a.kind, kinds);
    if (a.urdf && !robot) return mor_cli_usage("new", "--urdf goes with 'robot'");
    if (a.urdf && access(a.urdf, R_OK) != 0) return mor_cli_usage("new", "--urdf %s: no such file", a.urdf);

    mor_error error = { 0 };
    char name[64], path[4096];
    snprintf(name, sizeof name, "new/new_%s.yaml", a.kind);
    char* text = read_ours(name, &error);
    if (!text) return mor_cli_fail(&error);
    snprintf(path, sizeof path, "%s%s", a.file ? a.file : a.kind, a.file ? "" : ".yaml");
    if (strcmp(path, "-") == 0) write_replaced(stdout, text, robot && a.urdf ? own_robot : NULL, a.urdf);
    else status = robot ? write_robot(path, text, a.urdf, &error) : write_new(path, text, NULL, NULL, &error);
    free(text);
    if (!status && strcmp(path, "-") != 0)
        printf("%s: run it with `moreau run %s`, look with `moreau view %s`\n", path, path, path);
    return status;
}
