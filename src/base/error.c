/* Errors with position, the version, clocks. */
#include "moreau/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

const char* mor_version(void) { return MOR_VERSION_STRING; }

mor_code mor_fail(mor_error* error, mor_code code, const char* format, ...)
{
    if (error) {
        error->code = code;
        error->line = error->column = 0;
        va_list args;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return code;
}

mor_code mor_fail_at(mor_error* error, mor_code code, const char* file, int line, int column, const char* format, ...)
{
    if (error) {
        error->code = code;
        error->line = line;
        error->column = column;
        int n = snprintf(error->text, sizeof error->text, "%s:%d:%d: ", file, line, column);
        if (n < 0 || n >= (int)sizeof error->text) return code;
        va_list args;
        va_start(args, format);
        vsnprintf(error->text + n, sizeof error->text - (size_t)n, format, args);
        va_end(args);
    }
    return code;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double mor_clock(void) { return seconds(CLOCK_MONOTONIC); }
double mor_cpu_clock(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }
