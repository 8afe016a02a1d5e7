/* Functions of shared objects, see plugin_function.h. */
#include "lab/plugin_function.h"

#include "io/scene/scene_document.h"
#include "io/text/shared_object.h"

#include <dlfcn.h>

mor_code mor_plugin_function(mor_document* document, const mor_node* at, const char* file, const mor_node* named,
                             const char* name, void** symbol, mor_error* error)
{
    const char* path = mor_path_from(document, at, file, error);
    if (!path) return MOR_SYSTEM;
    char why[512];
    void* handle = mor_shared_open(path, why, sizeof why);
    if (!handle) return mor_node_fail(at, error, "%s", why);
    *symbol = dlsym(handle, name);
    if (!*symbol) return mor_node_fail(named, error, "%s exports no function '%.60s'", path, name);
    if (!mor_shared_is_function(*symbol))
        return mor_node_fail(named, error, "%s: '%.60s' is not a function", path, name);
    return MOR_OK;
}
