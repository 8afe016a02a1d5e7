/* Does a child process still work? */
#ifndef MOR_LAB_PROCESS_STATE_H
#define MOR_LAB_PROCESS_STATE_H

#include <stdbool.h>
#include <sys/types.h>

/* Its CPU seconds; NaN: not known. */
double mor_process_cpu(pid_t pid);
/* Does the kernel say that it waits for something other than a core? False where it does not tell. */
bool mor_process_asleep(pid_t pid);

#endif
