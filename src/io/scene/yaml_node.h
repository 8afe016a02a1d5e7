/* A YAML document as a tree in which every value and every key knows its file, line and column. */
#ifndef MOREAU_IO_YAML_NODE_H
#define MOREAU_IO_YAML_NODE_H

#include "moreau/base.h"

typedef enum mor_node_kind { MOR_NODE_SCALAR, MOR_NODE_LIST, MOR_NODE_MAP } mor_node_kind;

/* Where text came from: the name used in messages and the directory that relative paths start at
 * ("" or ending with a slash). */
typedef struct mor_source {
    const char* name;
    const char* directory;
} mor_source;

typedef struct mor_node {
    mor_node_kind kind;
    bool quoted;                            /* a scalar in quotes is never a number */
    int line, column, key_line, key_column; /* 1-based */
    int count;                              /* of children */
    const mor_source* source;
    const char* key;  /* in a mapping, else NULL */
    const char* text; /* scalars */
    struct mor_node *first, *last, *next;
} mor_node;

/* Memory and limits shared by all files of one scene. */
typedef struct mor_document {
    mor_arena* arena;
    int nodes;
} mor_document;

/* The single document in `text`, or NULL and a positioned sentence: syntax errors, duplicate keys,
 * keys that are not plain values, tags, more than MOR_YAML_DEPTH levels or MOR_YAML_NODES values.
 * Anchors and aliases work (an alias is a copy). `column` is added to columns of the first line. */
mor_node* mor_yaml_parse(mor_document* document, const char* text, size_t length, const mor_source* source, int column,
                         mor_error* error);

enum { MOR_YAML_DEPTH = 48, MOR_YAML_NODES = 2000000, MOR_YAML_KEYS = 20000 };

/* The value of a key of a mapping, or NULL. */
mor_node* mor_node_get(const mor_node* map, const char* key);
/* The child at a position, or NULL. */
mor_node* mor_node_at(const mor_node* node, int index);
/* Puts `child` at the end of a list, or of a mapping under child->key. */
void mor_node_append(mor_node* parent, mor_node* child);
/* Replaces the child of a mapping or list; the key stays. */
void mor_node_replace(mor_node* parent, const mor_node* old, mor_node* child);
/* A new node, or NULL with an error. */
mor_node* mor_node_create(mor_document* document, mor_node_kind kind, const mor_source* source, int line, int column,
                          mor_error* error);
/* A copy of a node and all below it, whose texts are borrowed; NULL with an error. */
mor_node* mor_node_copy(mor_document* document, const mor_node* node, mor_error* error);
/* A copy of a string in the document's memory, or NULL with an error. */
char* mor_document_text(mor_document* document, const char* text, size_t length, mor_error* error);

/* Fails at the value (or at its key). */
mor_code mor_node_fail(const mor_node* node, mor_error* error, const char* format, ...) MOR_PRINTF(3, 4);
/* Hands on what a call said: at this place when the input is bad, as it is when memory was short. */
mor_code mor_node_pass(const mor_node* node, const mor_error* inner, mor_error* error);
mor_code mor_node_fail_key(const mor_node* node, mor_error* error, const char* format, ...) MOR_PRINTF(3, 4);
/* "a list", "a mapping", "'text'" for messages; writes into buffer when needed. */
const char* mor_node_describe(const mor_node* node, char buffer[80]);

#endif
