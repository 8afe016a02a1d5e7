/* Shared objects of others (plug-ins, functions of plans): opened as files, and only code is executed. */
#ifndef MOR_IO_SHARED_OBJECT_H
#define MOR_IO_SHARED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Loads the file at this path, never one of the system's folders, and keeps it until the program ends. NULL: `why` says
 * it in a sentence. A pipe or a device is refused: the loader would wait for it. */
void* mor_shared_open(const char* path, char* why, size_t size);
/* Is the symbol code? A variable of that name would be executed. */
bool mor_shared_is_function(void* symbol);

#endif
