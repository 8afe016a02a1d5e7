/* What gcc -fanalyzer is told beside the sources (scripts/lint): functions that write an error return the code they
 * are given, which is never MOR_OK. Without it every `code = x ? MOR_OK : mor_fail(...)` is followed as if it could be
 * 0. */
#include "moreau/base.h"

#define mor_fail(error, code, ...) ((mor_fail)((error), (code), __VA_ARGS__), (code))
#define mor_fail_at(error, code, file, line, column, ...)                                                              \
    ((mor_fail_at)((error), (code), (file), (line), (column), __VA_ARGS__), (code))
