/* Shared objects, see shared_object.h. */
#define _GNU_SOURCE /* dladdr1 */
#include "io/text/shared_object.h"
#include "io/text/text_file.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void* mor_shared_open(const char* path, char* why, size_t size)
{
    char here[4200];
    snprintf(here, sizeof here, "%s%s", strchr(path, '/') ? "" : "./", path); /* dlopen would look elsewhere */
    if (access(here, F_OK) == 0 && !mor_file_is_regular(here)) {
        snprintf(why, size, "%s: not a regular file that can be read", path);
        return NULL;
    }
    void* handle = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    if (!handle) snprintf(why, size, "%s", dlerror());
    return handle;
}

bool mor_shared_is_function(void* symbol)
{
    Dl_info where;
    void* found = NULL;
    if (!dladdr1(symbol, &where, &found, RTLD_DL_SYMENT) || !found) return false;
    const ElfW(Sym)* entry = found;
    return (entry->st_info & 0xf) == STT_FUNC;
}
