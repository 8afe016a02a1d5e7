/* An XML file as a tree of elements with positions, for formats whose elements refer to each other. */
#ifndef MOREAU_IO_XML_H
#define MOREAU_IO_XML_H

#include "moreau/base.h"

typedef struct mor_xml {
    const char* name;
    const char* file; /* for messages */
    int line, column;
    const char** attributes; /* name, value, ..., NULL */
    const char* text;        /* characters between its tags, children's left out */
    struct mor_xml *parent, *first, *last, *next;
} mor_xml;

/* The root element of a file. Everything lives in the arena. NULL and a sentence with position on bad input. */
mor_xml* mor_xml_read(mor_arena* arena, const char* path, mor_error* error);
/* Value of an attribute, or NULL. */
const char* mor_xml_get(const mor_xml* element, const char* name);
/* The first child of that name, or NULL; the next sibling of the same name, or NULL. */
const mor_xml* mor_xml_child(const mor_xml* element, const char* name);
const mor_xml* mor_xml_sibling(const mor_xml* element);
/* Bad input at the element. */
mor_code mor_xml_fail(const mor_xml* element, mor_error* error, const char* format, ...) MOR_PRINTF(3, 4);
/* Numbers of a text; `what` names it in messages. Between `least` and `most` finite ones; their count in *count (may be
 * NULL). */
mor_code mor_xml_parse_numbers(const mor_xml* element, const char* what, const char* text, int least, int most,
                               double* out, int* count, mor_error* error);
/* The same of an attribute; nothing happens (count 0) when it is not there. */
mor_code mor_xml_numbers(const mor_xml* element, const char* name, int least, int most, double* out, int* count,
                         mor_error* error);
/* What a parser stopped at: bad input with position, or no memory. */
struct XML_ParserStruct;
mor_code mor_xml_broken(struct XML_ParserStruct* parser, const char* path, mor_error* error);
/* A copy of a text in the arena. */
char* mor_xml_copy(mor_arena* arena, const char* text, size_t length);
/* directory of `file` / name, in the arena; absolute names stay. */
const char* mor_xml_path(mor_arena* arena, const char* file, const char* name);

#endif
