/* A streaming JSON writer: what goes to `moreau ... --json` and to the viewer.
 *
 *     mor_json json = mor_json_begin(stdout);
 *     mor_json_object(&json, NULL);
 *     mor_json_number(&json, "step", 0.01);
 *     mor_json_list(&json, "bodies");
 *     mor_json_text(&json, NULL, "ball");
 *     mor_json_end(&json);
 *     mor_json_end(&json);
 *     bool written = mor_json_finish(&json);
 *
 * Every function takes the key of the value: a string inside an object, NULL inside a list and at
 * the top. Wrong nesting is the caller's mistake: an assert. Numbers have 17 digits and read back
 * exactly; NaN and infinities, which JSON has not, become null. Texts are escaped and bytes that
 * are not UTF-8 replaced by U+FFFD. */
#ifndef MOREAU_IO_JSON_H
#define MOREAU_IO_JSON_H

#include <stdio.h>

#include "moreau/base.h"

enum { MOR_JSON_DEPTH = 32 };

struct mor_json_document;

typedef struct mor_json {
    FILE* out;                      /* NULL: the values become a tree, without text */
    struct mor_json_document* tree; /* then */
    int depth;
    char kind[MOR_JSON_DEPTH];   /* '{' or '[' */
    int count[MOR_JSON_DEPTH];   /* values so far */
    bool broken[MOR_JSON_DEPTH]; /* members on lines of their own */
    bool done;
} mor_json;

MOR_API mor_json mor_json_begin(FILE* out);
/* The same calls make a document (json_read.h), as if what is written was read back; mor_json_finish says whether there
 * was memory for all of it. */
mor_json mor_json_begin_tree(struct mor_json_document* tree);
MOR_API void mor_json_object(mor_json* json, const char* key);
MOR_API void mor_json_list(mor_json* json, const char* key);
/* Ends the innermost object or list. */
MOR_API void mor_json_end(mor_json* json);
MOR_API void mor_json_number(mor_json* json, const char* key, double value);
MOR_API void mor_json_integer(mor_json* json, const char* key, long long value);
MOR_API void mor_json_bool(mor_json* json, const char* key, bool value);
MOR_API void mor_json_null(mor_json* json, const char* key);
MOR_API void mor_json_text(mor_json* json, const char* key, const char* value);
/* A list of numbers. */
MOR_API void mor_json_numbers(mor_json* json, const char* key, const double* values, int count);
/* Ends the document with a newline and flushes. False when the stream had an error. */
MOR_API bool mor_json_finish(mor_json* json);

#endif
