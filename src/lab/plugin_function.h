/* A function of the user's in a shared object that a plan names. */
#ifndef MOR_LAB_PLUGIN_FUNCTION_H
#define MOR_LAB_PLUGIN_FUNCTION_H

#include "io/scene/yaml_node.h"

/* The function `name` of the shared object `file`, which is named at `at` and is relative to its document; the object
 * stays loaded. Complaints about the object are at `at`, about the function at `named`. */
mor_code mor_plugin_function(mor_document* document, const mor_node* at, const char* file, const mor_node* named,
                             const char* name, void** symbol, mor_error* error);

#endif
