/* A small JSON reader: a file or text becomes a tree of values, each with its position.
 *
 *     mor_error error = { 0 };
 *     mor_json_document* d = mor_json_read_file("state.json", &error);
 *     const mor_json_value* states = mor_json_get(mor_json_root(d), "states");
 *     for (const mor_json_value* s = states->first; s; s = s->next) puts("a state");
 *     mor_json_free(d);
 *
 * RFC 8259; duplicate keys are an error. Objects and lists nest at most 64 deep. Values live as long as
 * the document. */
#ifndef MOREAU_IO_JSON_READ_H
#define MOREAU_IO_JSON_READ_H

#include "moreau/base.h"

typedef enum mor_json_kind {
    MOR_JSON_NULL,
    MOR_JSON_BOOL,
    MOR_JSON_NUMBER,
    MOR_JSON_TEXT,
    MOR_JSON_LIST,
    MOR_JSON_OBJECT
} mor_json_kind;

typedef struct mor_json_value {
    mor_json_kind kind;
    int line, column;
    const char* key;                     /* inside an object */
    double number;                       /* MOR_JSON_NUMBER; MOR_JSON_BOOL: 0 or 1 */
    const char* text;                    /* MOR_JSON_TEXT, UTF-8 */
    struct mor_json_value *first, *next; /* members; siblings */
    int count;                           /* members */
} mor_json_value;

typedef struct mor_json_document mor_json_document;

/* NULL and "file:line:column: ..." on bad input. `name` is the file's name in messages. */
mor_json_document* mor_json_read_text(const char* name, const char* text, size_t length, mor_error* error);
mor_json_document* mor_json_read_file(const char* path, mor_error* error);
void mor_json_free(mor_json_document* document);
/* An empty document for mor_json_begin_tree; NULL: out of memory. */
mor_json_document* mor_json_tree(const char* name);
/* The writer's side of it: opens or adds a value, ends an object or list. `text` may be NULL. */
void mor_json_tree_add(mor_json_document* tree, mor_json_kind kind, const char* key, double number, const char* text);
void mor_json_tree_end(mor_json_document* tree);
bool mor_json_tree_whole(const mor_json_document* tree);
const mor_json_value* mor_json_root(const mor_json_document* document);
/* The member called `key`, NULL if there is none or `object` is no object. */
const mor_json_value* mor_json_get(const mor_json_value* object, const char* key);
/* A failure at a value. */
mor_code mor_json_fail(const mor_json_document* document, const mor_json_value* value, mor_error* error,
                       const char* format, ...) MOR_PRINTF(4, 5);
/* Exactly `count` finite numbers of a list; `what` names it in messages. */
mor_code mor_json_numbers_of(const mor_json_document* document, const mor_json_value* list, const char* what, int count,
                             double* out, mor_error* error);

#endif
