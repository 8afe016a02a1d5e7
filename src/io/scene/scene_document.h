/* From files and overrides to one tree of nodes. */
#ifndef MOREAU_IO_SCENE_DOCUMENT_H
#define MOREAU_IO_SCENE_DOCUMENT_H

#include "io/scene/yaml_node.h"

/* The whole file as text with a zero byte after it, in the document's memory, or NULL. `asked`, if
 * not NULL, is the value that named the file: messages then begin with its position. */
char* mor_read_file(mor_document* document, const char* path, size_t* length, const mor_node* asked, mor_error* error);
/* The name and directory of a file for messages and relative paths. */
const mor_source* mor_source_create(mor_document* document, const char* path, mor_error* error);
/* `path` as seen from the file that holds `node`. */
const char* mor_path_from(mor_document* document, const mor_node* node, const char* path, mor_error* error);

/* Parses a scene text and merges what it includes; the result is a mapping without `include`. */
mor_node* mor_document_load(mor_document* document, const char* text, size_t length, const mor_source* source,
                            mor_error* error);
/* Applies "a.b.c=value" to the tree. Missing mappings are made on the way, so that the reader
 * judges their keys; missing entries of lists are errors here. */
mor_code mor_document_override(mor_document* document, mor_node* root, const char* text, mor_error* error);

#endif
