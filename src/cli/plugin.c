/* --plugin FILE.so: loads methods from shared objects, for every command. `--collision NAME` looks for moreau-NAME.so
 * among the installed plug-ins when no method is called so. */
#include "cli/cli.h"
#include "io/text/shared_object.h"
#include "moreau/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static mor_library* library; /* lives as long as the program; NULL without plug-ins */

static mor_plugin_error error_function;
static const char* error_name = "user";

const mor_library* mor_cli_library(void) { return library; }

mor_plugin_error mor_cli_error_function(const char** name)
{
    *name = error_name;
    return error_function;
}

static mor_code load(const char* path, mor_error* error)
{
    char why[512];
    void* handle = mor_shared_open(path, why, sizeof why); /* never closed: its methods are in the library */
    if (!handle) return mor_fail(error, MOR_BAD_INPUT, "--plugin %s", why);
    void* symbol = dlsym(handle, "mor_plugin_entry");
    if (!symbol)
        return mor_fail(error, MOR_BAD_INPUT, "--plugin %s: it has no mor_plugin_entry; see moreau/plugin.h", path);
    if (!mor_shared_is_function(symbol))
        return mor_fail(error, MOR_BAD_INPUT, "--plugin %s: its mor_plugin_entry is not a function", path);
    mor_plugin_function entry;
    memcpy(&entry, &symbol, sizeof entry);
    const mor_plugin* p = entry();
    if (!p || p->version < 5 || p->version > MOR_PLUGIN_VERSION)
        return mor_fail(error, MOR_BAD_INPUT, "--plugin %s: made for plug-in version %u; this program has version %d",
                        path, p ? p->version : 0u, MOR_PLUGIN_VERSION);
    if (p->solver_size != sizeof(mor_solver) || p->formulation_size != sizeof(mor_formulation) ||
        p->collision_size != sizeof(mor_collision) || p->controller_size != sizeof(mor_controller) ||
        p->border != (uint32_t)MOR_PLUGIN_BORDER)
        return mor_fail(error, MOR_BAD_INPUT,
                        "--plugin %s: built with other headers than this program; compile it again", path);
    if (p->error) {
        if (error_function)
            return mor_fail(error, MOR_BAD_INPUT,
                            "--plugin %s: an error measure was given already ('%s'); one at a time", path, error_name);
        error_function = p->error;
        if (p->error_name) error_name = p->error_name;
    }
    if (!library && !(library = mor_library_create(error))) return MOR_SYSTEM;
    mor_code code = MOR_OK;
    for (int i = 0; p->solvers && p->solvers[i] && !code; i++)
        code = mor_library_add_solver(library, p->solvers[i], error);
    for (int i = 0; p->formulations && p->formulations[i] && !code; i++)
        code = mor_library_add_formulation(library, p->formulations[i], error);
    for (int i = 0; p->collisions && p->collisions[i] && !code; i++)
        code = mor_library_add_collision(library, p->collisions[i], error);
    for (int i = 0; p->controllers && p->controllers[i] && !code; i++)
        code = mor_library_add_controller(library, p->controllers[i], error);
    return code;
}

/* moreau-NAME.so, as it lies beside the programs in a build directory and beside moreau-lab when installed. */
static bool find_plugin(const char* name, char* path, size_t size)
{
    static const char* const places[] = { "", MOREAU_PLUGIN_PATH "/" };
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return false;
    self[n] = '\0';
    char* slash = strrchr(self, '/');
    if (slash) slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        int length = snprintf(path, size, "%s%smoreau-%s.so", self, places[i], name);
        if (length > 0 && (size_t)length < size && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* Collision methods that came with the program as plug-ins: a name of --collision that is not known yet. */
static mor_code load_collisions(const char* names, mor_error* error)
{
    char name[64], path[PATH_MAX + 128];
    for (const char* at = names; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        at += n;
        bool word = name[0] && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")];
        if (n >= sizeof name || !word || mor_library_collision(library, name)) continue;
        if (find_plugin(name, path, sizeof path) && load(path, error)) return error->code;
    }
    return MOR_OK;
}

int mor_cli_plugins(int* argc, char** argv)
{
    int kept = 0;
    mor_error error = { 0 };
    for (int i = 0; i < *argc; i++) {
        bool joined = strncmp(argv[i], "--plugin=", 9) == 0;
        if (!joined && strcmp(argv[i], "--plugin") != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        const char* path = joined ? argv[i] + 9 : i + 1 < *argc ? argv[++i] : "";
        if (!*path) return mor_cli_usage(argv[0], "--plugin needs a shared object");
        if (load(path, &error)) return mor_cli_fail(&error);
    }
    argv[kept] = NULL;
    *argc = kept;
    for (int i = 1; i < kept; i++) {
        const char* names = strncmp(argv[i], "--collision=", 12) == 0         ? argv[i] + 12
                            : i + 1 < kept && !strcmp(argv[i], "--collision") ? argv[i + 1]
                                                                              : "";
        if (load_collisions(names, &error)) return mor_cli_fail(&error);
    }
    return 0;
}
