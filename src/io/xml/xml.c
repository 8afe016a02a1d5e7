/* XML through expat into a tree. Elements nest at most 500 deep, so that code that walks the tree may recurse. */
#include "io/xml/xml.h"
#include "io/text/text_file.h"

#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 28, DEPTH_MAX = 500 };

typedef struct reader {
    XML_Parser xml;
    mor_arena* arena;
    const char* path;
    mor_error* error;
    mor_code code;
    mor_xml *root, *at;
    int depth;
    char* text; /* of the element at hand, since its last tag */
    size_t length, room;
} reader;

static void stop(reader* r, mor_code code, const char* sentence)
{
    if (r->code != MOR_OK) return;
    r->code = code == MOR_SYSTEM ? mor_fail(r->error, code, "%s: %s", r->path, sentence)
                                 : mor_fail_at(r->error, code, r->path, (int)XML_GetCurrentLineNumber(r->xml),
                                               (int)XML_GetCurrentColumnNumber(r->xml) + 1, "%s", sentence);
    XML_StopParser(r->xml, XML_FALSE);
}

char* mor_xml_copy(mor_arena* arena, const char* text, size_t length)
{
    char* copy = mor_arena_alloc(arena, length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* The characters so far belong to the open element. */
static void flush(reader* r)
{
    if (!r->at || r->length == 0) return;
    size_t before = r->at->text ? strlen(r->at->text) : 0;
    char* text = mor_arena_alloc(r->arena, before + r->length + 1);
    if (!text) {
        stop(r, MOR_SYSTEM, "out of memory");
        return;
    }
    if (before) memcpy(text, r->at->text, before);
    memcpy(text + before, r->text, r->length);
    text[before + r->length] = '\0';
    r->at->text = text;
    r->length = 0;
}

static void on_start(void* user, const char* name, const char** attributes)
{
    reader* r = user;
    if (r->code != MOR_OK) return;
    if (++r->depth > DEPTH_MAX) {
        stop(r, MOR_BAD_INPUT, "elements are nested more than 500 deep");
        return;
    }
    flush(r);
    int count = 0;
    while (attributes[2 * count]) count++;
    mor_xml* e = mor_arena_zero(r->arena, 1, sizeof *e);
    if (e) e->attributes = mor_arena_zero(r->arena, 2 * (size_t)count + 1, sizeof *e->attributes);
    bool ok = e && e->attributes && (e->name = mor_xml_copy(r->arena, name, strlen(name)));
    for (int i = 0; ok && i < 2 * count; i++)
        ok = (e->attributes[i] = mor_xml_copy(r->arena, attributes[i], strlen(attributes[i]))) != NULL;
    if (!ok) {
        stop(r, MOR_SYSTEM, "out of memory");
        return;
    }
    e->file = r->path;
    e->line = (int)XML_GetCurrentLineNumber(r->xml);
    e->column = (int)XML_GetCurrentColumnNumber(r->xml) + 1;
    e->parent = r->at;
    if (!r->at) r->root = e;
    else if (r->at->last) r->at->last->next = e;
    else r->at->first = e;
    if (r->at) r->at->last = e;
    r->at = e;
}

static void on_end(void* user, const char* name)
{
    (void)name;
    reader* r = user;
    if (r->code != MOR_OK) return;
    flush(r);
    r->depth--;
    r->at = r->at->parent;
}

static void on_text(void* user, const char* text, int length)
{
    reader* r = user;
    if (r->code != MOR_OK || !r->at) return;
    if (r->length + (size_t)length > r->room) {
        size_t room = 2 * (r->length + (size_t)length);
        char* larger = realloc(r->text, room);
        if (!larger) {
            stop(r, MOR_SYSTEM, "out of memory");
            return;
        }
        r->text = larger;
        r->room = room;
    }
    memcpy(r->text + r->length, text, (size_t)length);
    r->length += (size_t)length;
}

mor_code mor_xml_broken(XML_Parser parser, const char* path, mor_error* error)
{
    enum XML_Error what = XML_GetErrorCode(parser);
    if (what == XML_ERROR_NO_MEMORY) return mor_fail(error, MOR_SYSTEM, "%s: out of memory", path);
    return mor_fail_at(error, MOR_BAD_INPUT, path, (int)XML_GetCurrentLineNumber(parser),
                       (int)XML_GetCurrentColumnNumber(parser) + 1, "not well-formed XML: %s", XML_ErrorString(what));
}

mor_xml* mor_xml_read(mor_arena* arena, const char* path, mor_error* error)
{
    char* text = NULL;
    size_t length = 0;
    mor_error local = { 0 };
    if (!error) error = &local;
    if (mor_text_read(path, FILE_MAX, &text, &length, error) != MOR_OK) return NULL;
    reader r = { .arena = arena, .error = error };
    r.path = mor_xml_copy(arena, path, strlen(path));
    r.xml = r.path ? XML_ParserCreate(NULL) : NULL;
    if (!r.xml) {
        free(text);
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    if (length == 0) r.code = mor_fail(error, MOR_BAD_INPUT, "%s: the file is empty", path);
    XML_SetUserData(r.xml, &r);
    XML_SetElementHandler(r.xml, on_start, on_end);
    XML_SetCharacterDataHandler(r.xml, on_text);
    if (r.code == MOR_OK && XML_Parse(r.xml, text, (int)length, 1) != XML_STATUS_OK && r.code == MOR_OK)
        r.code = mor_xml_broken(r.xml, path, error);
    XML_ParserFree(r.xml);
    free(r.text);
    free(text);
    return r.code == MOR_OK ? r.root : NULL;
}

const char* mor_xml_get(const mor_xml* e, const char* name)
{
    for (const char** a = e->attributes; *a; a += 2)
        if (strcmp(a[0], name) == 0) return a[1];
    return NULL;
}

const mor_xml* mor_xml_child(const mor_xml* e, const char* name)
{
    for (const mor_xml* c = e ? e->first : NULL; c; c = c->next)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

const mor_xml* mor_xml_sibling(const mor_xml* e)
{
    for (const mor_xml* c = e->next; c; c = c->next)
        if (strcmp(c->name, e->name) == 0) return c;
    return NULL;
}

mor_code mor_xml_fail(const mor_xml* e, mor_error* error, const char* format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mor_fail_at(error, MOR_BAD_INPUT, e->file, e->line, e->column, "%s", text);
}

mor_code mor_xml_parse_numbers(const mor_xml* e, const char* what, const char* text, int least, int most, double* out,
                               int* count, mor_error* error)
{
    int found = 0;
    for (const char* s = text;;) {
        s += strspn(s, " \t\r\n,");
        if (!*s) break;
        char* end;
        double x = strtod(s, &end);
        if (end == s || !isfinite(x) || (*end && !strchr(" \t\r\n,", *end)))
            return mor_xml_fail(e, error, "%s is '%.60s'; expected %s", what, text, most == 1 ? "a number" : "numbers");
        if (found == most)
            return mor_xml_fail(e, error, "%s has more than %d number%s: '%.60s'", what, most, most == 1 ? "" : "s",
                                text);
        out[found++] = x;
        s = end;
    }
    if (found < least)
        return mor_xml_fail(e, error, "%s has %d number%s where %d %s expected: '%.60s'", what, found,
                            found == 1 ? "" : "s", least, least == 1 ? "is" : "are", text);
    if (count) *count = found;
    return MOR_OK;
}

mor_code mor_xml_numbers(const mor_xml* e, const char* name, int least, int most, double* out, int* count,
                         mor_error* error)
{
    const char* text = mor_xml_get(e, name);
    if (count) *count = 0;
    if (!text) return MOR_OK;
    char what[120];
    snprintf(what, sizeof what, "%.50s of <%.50s>", name, e->name);
    return mor_xml_parse_numbers(e, what, text, least, most, out, count, error);
}

const char* mor_xml_path(mor_arena* arena, const char* file, const char* name)
{
    const char* slash = strrchr(file, '/');
    size_t length = slash && name[0] != '/' ? (size_t)(slash - file) + 1 : 0, more = strlen(name);
    char* path = mor_arena_alloc(arena, length + more + 1);
    if (!path) return NULL;
    memcpy(path, file, length);
    memcpy(path + length, name, more + 1);
    return path;
}
