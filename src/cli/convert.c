/* moreau convert: models and scenes to URDF, MJCF, or a scene to go on with. */
#include "cli/cli.h"
#include "cli/options.h"
#include "cli/robot_checks.h"
#include "io/mjcf/mjcf.h"
#include "io/scene/scene_model.h"
#include "io/sdf/sdf.h"
#include "io/text/output.h"
#include "io/urdf/urdf.h"
#include "moreau/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { NOTES = 1 << 16 };

typedef struct arguments {
    const char *from, *to, *tree;
} arguments;

static int take_word(void* user, char* word)
{
    arguments* a = user;
    if (a->from && a->to) return mor_cli_usage("convert", "two files, not also '%s'", word);
    *(a->from ? &a->to : &a->from) = word;
    return 0;
}

static const mor_cli_option options[] = {
    { "--tree", "BODY", "to URDF, from an MJCF file: the tree of bodies whose root this is (default: the first)",
      MOR_CLI_TEXT, .offset = offsetof(arguments, tree) },
    { .name = NULL },
};

static const mor_cli_command command = {
    .name = "convert",
    .usage = "FROM.urdf|FROM.xml|FROM.yaml TO.urdf|TO.xml|TO.yaml",
    .about = "Writes a robot or a scene in another format, by the endings of the files.\n",
    .options = options,
    .more =
        "To .urdf: one robot, its meshes beside it. To .xml: an MJCF model of all of it, with the state as keyframe\n"
        "`home`. To .yaml: a scene that holds the model, to go on with. What the other format has no word for is\n"
        "told on standard error.\n",
    .operand = take_word,
};

static bool ends(const char* path, const char* ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcasecmp(path + n - m, ending) == 0;
}

/* The model of a file that holds one robot. */
static mor_robot_model* read_robot(const arguments* a, char* notes, mor_error* error)
{
    if (mor_mjcf_is(a->from) || mor_sdf_is(a->from))
        return mor_cli_mjcf_tree(a->from, a->tree, true, notes, NOTES, error);
    mor_urdf_options o = mor_urdf_options_default();
    o.packages = getenv("ROS_PACKAGE_PATH");
    o.shapes = true;
    return mor_urdf_read(a->from, &o, notes, NOTES, error);
}

static mor_code to_urdf(const arguments* a, char* notes, mor_error* error)
{
    if (ends(a->from, ".yaml"))
        return mor_fail(error, MOR_BAD_INPUT, "%s: a scene does not fit into a URDF file; convert to .xml", a->from);
    mor_robot_model* m = read_robot(a, notes, error);
    if (!m) return error->code;
    char name[256], more[1000];
    const char* slash = strrchr(a->from, '/');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(slash ? slash + 1 : a->from, "."), slash ? slash + 1 : a->from);
    mor_code code = mor_urdf_write(m, name, a->to, more, sizeof more, error);
    fputs(more, stderr);
    mor_robot_destroy(m);
    return code;
}

/* The robot of a URDF file alone: no floor, where the file places it. */
static mor_scene* urdf_scene(const char* path, mor_error* error)
{
    bool fixed = false;
    if (mor_urdf_base(path, &fixed, error)) return NULL;
    char text[4600];
    snprintf(text, sizeof text, "moreau: 1\nrobots: [{ urdf: \"%s\", base: %s, name: robot }]\n", path,
             fixed ? "fixed" : "floating");
    return mor_scene_parse(text, strlen(text), "scene.yaml", NULL, NULL, error);
}

/* A world of whatever the file holds. */
static mor_code to_mjcf(const arguments* a, char* notes, mor_error* error)
{
    mor_code code = MOR_OK;
    mor_scene* scene =
        ends(a->from, ".urdf") ? urdf_scene(a->from, error) : mor_scene_load(a->from, NULL, mor_cli_library(), error);
    mor_world* world = scene ? mor_scene_build(scene, 1, error) : NULL;
    if (scene) fputs(mor_scene_notes(scene), stderr);
    if (world) code = mor_mjcf_write(world, a->to, notes, NOTES, error);
    else code = error->code;
    mor_world_destroy(world);
    mor_scene_destroy(scene);
    return code;
}

/* The way from the folder of one file to another file. */
static void relative(const char* from, const char* to, char* out, size_t size)
{
    const char* slash = strrchr(from, '/');
    if (to[0] == '/' || !slash) snprintf(out, size, "%s", to);
    else {
        size_t n = (size_t)(slash + 1 - from);
        if (strncmp(from, to, n) == 0) snprintf(out, size, "%s", to + n);
        else {
            char here[4096];
            snprintf(out, size, "%s/%s", getcwd(here, sizeof here) ? here : ".", to);
        }
    }
}

static mor_code to_scene(const arguments* a, mor_error* error)
{
    char path[4200];
    relative(a->to, a->from, path, sizeof path);
    const char* note;
    char* text = mor_model_scene(a->from, path, !mor_mjcf_is(a->from) && !mor_sdf_is(a->from), &note, error);
    if (!text) return error->code;
    if (note) fprintf(stderr, "moreau: note: %s: %s\n", a->from, note);
    mor_code code = mor_output_write(a->to, text, strlen(text), error);
    free(text);
    return code;
}

int mor_cli_convert(int argc, char** argv)
{
    arguments a = { 0 };
    int status = mor_cli_parse(&command, argc, argv, &a);
    if (status) return status;
    if (!a.from || !a.to) return mor_cli_usage("convert", "from which file to which?");
    mor_error error = { 0 };
    char* notes = calloc(1, NOTES);
    if (!notes) return mor_fail(&error, MOR_SYSTEM, "out of memory"), mor_cli_fail(&error);
    mor_code code = MOR_OK;
    if (ends(a.to, ".urdf")) code = to_urdf(&a, notes, &error);
    else if (ends(a.to, ".xml")) code = to_mjcf(&a, notes, &error);
    else if (ends(a.to, ".yaml") && !ends(a.from, ".yaml")) code = to_scene(&a, &error);
    else code = MOR_OK - 1;
    fputs(notes, stderr);
    free(notes);
    if ((int)code < 0) return mor_cli_usage("convert", "%s: give a file that ends with .urdf, .xml or .yaml", a.to);
    return code ? mor_cli_fail(&error) : 0;
}
