/* Functions of shared objects, see plugin_function.h. */
#include "lab/plugin_function.h"

#include "io/scene/scene_document.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

mor_code mor_plugin_function(mor_document* document, const mor_node* at, const char* file, const mor_node* named,
                             const char* name, void** symbol, mor_error* error)
{
    const char* path = mor_path_from(document, at, file, error);
    if (!path) return MOR_SYSTEM;
    char here[4200];
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path); /* dlopen would look elsewhere */
    void* handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return mor_node_fail(at, error, "%s", dlerror());
    *symbol = dlsym(handle, name);
    if (!*symbol) return mor_node_fail(named, error, "%s exports no function '%.60s'", path, name);
    return MOR_OK;
}
