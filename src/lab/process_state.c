/* What the kernel says of a process, see process_state.h. */
#include "lab/process_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double mor_process_cpu(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0) return NAN;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool mor_process_asleep(pid_t pid)
{
    char path[64], text[300];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE* in = fopen(path, "r");
    if (!in) return false;
    size_t n = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    text[n] = '\0';
    const char* name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && name_end[2] == 'S';
}
