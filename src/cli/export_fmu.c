/* moreau export-fmu: a scene as a unit for co-simulation (FMI). */
#include "cli/cli.h"
#include "cli/options.h"
#include "fmi/export.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct arguments {
    const char *scene, *output;
    mor_cli_sets sets;
    int version;
} arguments;

static int take_scene(void* user, char* word)
{
    return mor_cli_one_scene("export-fmu", &((arguments*)user)->scene, word);
}

#define AT(member) .offset = offsetof(arguments, member)
static const mor_cli_option options[] = {
    { "--output", "FILE.fmu", "where the unit goes", MOR_CLI_TEXT, AT(output), .alias = "-o", .writes = true },
    { "--fmi", "2|3", "version of the standard (2)", MOR_CLI_WHOLE, AT(version), .min = 2, .max = 3,
      .expected = "2 or 3" },
    { "--formulation", "F", "how the step becomes a problem (moreau list formulations)", MOR_CLI_SET, AT(sets),
      .key = "method.formulation.name" },
    { "--solver", "S", "how the problem is solved (moreau list solvers)", MOR_CLI_SET, AT(sets),
      .key = "method.solver.name" },
    { "--step", "H", "time step in seconds", MOR_CLI_SET, AT(sets), .key = "time.step" },
    { "--set", "KEY=VALUE", "any value of the scene, as in moreau run", MOR_CLI_SET, AT(sets) },
    { .name = NULL },
};
#undef AT

static const mor_cli_command command = {
    .name = "export-fmu",
    .usage = "SCENE -o FILE.fmu [options]",
    .about =
        "Writes a unit for co-simulation (FMI 2.0 or 3.0) with the library, the scene and its files inside.\n"
        "Inputs: forces and torques on bodies, torques and targets of joints. Outputs: poses, velocities, contact\n"
        "forces, joint positions, energies. Parameters: step, gravity (docs/fmi.md).\n",
    .options = options,
    .operand = take_scene,
};

/* The shared object that goes into units: beside this program, or where moreau-lab is installed. */
static const char* find_library(char* path, size_t size)
{
    static const char* const places[] = { "fmu/moreau.so", "../libexec/moreau/fmu/moreau.so", "../fmu/moreau.so",
                                          "../lib/moreau/fmu/moreau.so" };
    char self[3000];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return NULL;
    self[n] = '\0';
    char* slash = strrchr(self, '/');
    if (slash) *slash = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s/%s", self, places[i]);
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

int mor_cli_export_fmu(int argc, char** argv)
{
    arguments a = { .version = 2 };
    int code = mor_cli_parse(&command, argc, argv, &a);
    if (code) return code;
    if (!a.scene) return mor_cli_usage("export-fmu", "which scene?");
    if (!a.output) return mor_cli_usage("export-fmu", "where to? give -o FILE.fmu");
    char path[4096], library[4096];
    mor_error error = { 0 };
    mor_fmu_export what = { .scene = mor_cli_scene_path(a.scene, path, sizeof path),
                            .overrides = a.sets.items,
                            .library = find_library(library, sizeof library),
                            .output = a.output,
                            .version = a.version };
    if (!what.library) {
        mor_fail(&error, MOR_SYSTEM,
                 "the library for units, fmu/moreau.so, is not beside this program; build the target "
                 "moreau_fmu, or install Moreau's other files");
        return mor_cli_fail(&error);
    }
    int count = 0;
    if (mor_fmu_write(&what, &count, &error)) return mor_cli_no_scene(a.scene, &error);
    printf("%s: FMI %d.0, %d variables\n", a.output, a.version, count);
    return 0;
}
