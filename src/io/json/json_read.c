/* JSON by recursive descent turned into a loop over open containers: no recursion on user data. */
#include "io/json/json_read.h"
#include "base/number.h"
#include "io/text/text_file.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, CHUNK = 1 << 16, FILE_MAX = 1 << 29 };

typedef struct chunk {
    struct chunk* next;
    size_t used, size;
} chunk; /* the memory follows */

struct mor_json_document {
    char* name;
    chunk* chunks;
    mor_json_value* root;
    mor_json_value* open[DEPTH_MAX]; /* of a tree that is being made: objects and lists, and the last of each */
    mor_json_value* last[DEPTH_MAX];
    int depth;
    bool short_of_memory;
};

typedef struct reader {
    mor_json_document* document;
    const char *at, *end, *line_start;
    int line;
    mor_error* error;
} reader;

static void* take(mor_json_document* d, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!d->chunks || d->chunks->used + size > d->chunks->size) {
        size_t room = size > CHUNK ? size : CHUNK;
        chunk* c = malloc(sizeof *c + 16 + room);
        if (!c) return NULL;
        *c = (chunk){ d->chunks, 0, room };
        d->chunks = c;
    }
    char* base = (char*)d->chunks + ((sizeof(chunk) + 15) & ~(size_t)15);
    void* memory = base + d->chunks->used;
    d->chunks->used += size;
    return memory;
}

static mor_code fail(reader* r, const char* text)
{
    return mor_fail_at(r->error, MOR_BAD_INPUT, r->document->name, r->line, (int)(r->at - r->line_start) + 1, "%s",
                       text);
}

static void skip_space(reader* r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
            return;
        }
    }
}

static int hex4(const char* s)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = 16 * value + digit;
    }
    return value;
}

static char* put_utf8(char* out, unsigned c)
{
    if (c < 0x80) *out++ = (char)c;
    else if (c < 0x800) *out++ = (char)(0xC0 | c >> 6), *out++ = (char)(0x80 | (c & 63));
    else if (c < 0x10000)
        *out++ = (char)(0xE0 | c >> 12), *out++ = (char)(0x80 | (c >> 6 & 63)), *out++ = (char)(0x80 | (c & 63));
    else
        *out++ = (char)(0xF0 | c >> 18), *out++ = (char)(0x80 | (c >> 12 & 63)), *out++ = (char)(0x80 | (c >> 6 & 63)),
        *out++ = (char)(0x80 | (c & 63));
    return out;
}

/* A string from its opening quote. */
static mor_code read_string(reader* r, const char** text)
{
    const char* s = r->at + 1;
    while (s < r->end && *s != '"' && (unsigned char)*s >= 0x20) s += *s == '\\' && s + 1 < r->end ? 2 : 1;
    if (s >= r->end || *s != '"') return fail(r, "the string does not end on its line; close it with \"");
    char *out = take(r->document, (size_t)(s - r->at) + 1), *to = out;
    if (!out) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
    for (r->at++; r->at < s; r->at++) {
        if (*r->at != '\\') {
            *to++ = *r->at;
            continue;
        }
        static const char from[] = "\"\\/bfnrt", code[] = "\"\\/\b\f\n\r\t";
        char c = *++r->at;
        const char* known = c ? strchr(from, c) : NULL;
        if (known) {
            *to++ = code[known - from];
        } else if (c == 'u' && s - r->at > 4) {
            int u = hex4(r->at + 1);
            if (u < 0) return fail(r, "\\u is followed by four hexadecimal digits");
            r->at += 4;
            if (u >= 0xD800 && u < 0xDC00 && s - r->at > 6 && r->at[1] == '\\' && r->at[2] == 'u') {
                int low = hex4(r->at + 3);
                if (low >= 0xDC00 && low < 0xE000) {
                    u = 0x10000 + ((u - 0xD800) << 10) + (low - 0xDC00);
                    r->at += 6;
                }
            }
            to = put_utf8(to, u >= 0xD800 && u < 0xE000 ? 0xFFFD : (unsigned)u);
        } else {
            return fail(r, "unknown escape; known: \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX");
        }
    }
    *to = '\0';
    r->at++;
    *text = out;
    return MOR_OK;
}

/* The grammar of JSON numbers, then strtod, which accepts more. */
static mor_code read_number(reader* r, double* number)
{
    const char *s = r->at, *digits;
    char copy[400];
    if (s < r->end && *s == '-') s++;
    digits = s;
    while (s < r->end && *s >= '0' && *s <= '9') s++;
    bool ok = s > digits && (*digits != '0' || s == digits + 1);
    if (ok && s < r->end && *s == '.') {
        const char* fraction = ++s;
        while (s < r->end && *s >= '0' && *s <= '9') s++;
        ok = s > fraction;
    }
    if (ok && s < r->end && (*s == 'e' || *s == 'E')) {
        s++;
        if (s < r->end && (*s == '+' || *s == '-')) s++;
        const char* exponent = s;
        while (s < r->end && *s >= '0' && *s <= '9') s++;
        ok = s > exponent;
    }
    size_t length = (size_t)(s - r->at);
    if (!ok || length >= sizeof copy)
        return fail(r, "expected a value: a number, \"text\", [list], {object}, true, false or null");
    memcpy(copy, r->at, length);
    copy[length] = '\0';
    *number = mor_strtod(copy, NULL);
    if (!isfinite(*number)) return fail(r, "the number is too large");
    r->at = s;
    return MOR_OK;
}

static bool word(reader* r, const char* text)
{
    size_t n = strlen(text);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0) return false;
    r->at += n;
    return true;
}

/* One value; containers stay open. */
static mor_code read_value(reader* r, mor_json_value* v)
{
    char c = *r->at;
    if (c == '{' || c == '[') {
        v->kind = c == '{' ? MOR_JSON_OBJECT : MOR_JSON_LIST;
        r->at++;
        return MOR_OK;
    }
    if (c == '"') {
        v->kind = MOR_JSON_TEXT;
        return read_string(r, &v->text);
    }
    if (word(r, "true")) v->kind = MOR_JSON_BOOL, v->number = 1.0;
    else if (word(r, "false")) v->kind = MOR_JSON_BOOL;
    else if (word(r, "null")) v->kind = MOR_JSON_NULL;
    else {
        v->kind = MOR_JSON_NUMBER;
        return read_number(r, &v->number);
    }
    return MOR_OK;
}

static mor_code read_all(reader* r)
{
    mor_json_value* open[DEPTH_MAX];
    mor_json_value** tail[DEPTH_MAX];
    int depth = 0;
    for (;;) {
        skip_space(r);
        mor_json_value* parent = depth ? open[depth - 1] : NULL;
        char close = parent && parent->kind == MOR_JSON_OBJECT ? '}' : ']';
        if (parent && r->at < r->end && *r->at == close && parent->count == 0) {
            r->at++;
            depth--;
        } else {
            if (r->at >= r->end) return fail(r, "the text ends too early");
            const char* name = NULL;
            mor_code code;
            if (parent && parent->kind == MOR_JSON_OBJECT) {
                if (*r->at != '"') return fail(r, "expected a \"key\"");
                if ((code = read_string(r, &name)) != MOR_OK) return code;
                if (parent->count < 64 && mor_json_get(parent, name))
                    return fail(r, "this key is in the object already");
                skip_space(r);
                if (r->at >= r->end || *r->at != ':') return fail(r, "expected ':' after the key");
                r->at++;
                skip_space(r);
                if (r->at >= r->end) return fail(r, "the text ends too early");
            }
            mor_json_value* v = take(r->document, sizeof *v);
            if (!v) return mor_fail(r->error, MOR_SYSTEM, "out of memory");
            *v = (mor_json_value){ .line = r->line, .column = (int)(r->at - r->line_start) + 1, .key = name };
            if ((code = read_value(r, v)) != MOR_OK) return code;
            if (parent) {
                *tail[depth - 1] = v;
                tail[depth - 1] = &v->next;
                parent->count++;
            } else {
                r->document->root = v;
            }
            if (v->kind == MOR_JSON_OBJECT || v->kind == MOR_JSON_LIST) {
                if (depth == DEPTH_MAX) return fail(r, "nested more than 64 deep");
                open[depth] = v;
                tail[depth++] = &v->first;
                continue;
            }
        }
        for (;;) { /* after a value: close what ends here */
            skip_space(r);
            if (depth == 0) return r->at < r->end ? fail(r, "expected the end of the text") : MOR_OK;
            if (r->at >= r->end) return fail(r, "the text ends too early");
            close = open[depth - 1]->kind == MOR_JSON_OBJECT ? '}' : ']';
            if (*r->at == ',') {
                r->at++;
                skip_space(r);
                if (r->at < r->end && *r->at == close) return fail(r, "a comma before the end; JSON has none there");
                break;
            }
            if (*r->at != close) return fail(r, close == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
            r->at++;
            depth--;
        }
    }
}

static char* copy(mor_json_document* d, const char* text)
{
    size_t size = strlen(text) + 1;
    char* to = take(d, size);
    return to ? memcpy(to, text, size) : NULL;
}

mor_json_document* mor_json_tree(const char* name)
{
    mor_json_document* d = calloc(1, sizeof *d);
    if (d && (d->name = copy(d, name))) return d;
    mor_json_free(d);
    return NULL;
}

void mor_json_tree_add(mor_json_document* d, mor_json_kind kind, const char* key, double number, const char* text)
{
    mor_json_value* v = d->short_of_memory || d->depth >= DEPTH_MAX ? NULL : take(d, sizeof *v);
    if (v) {
        *v = (mor_json_value){ .kind = kind, .number = number };
        v->key = key ? copy(d, key) : NULL;
        v->text = text ? copy(d, text) : NULL;
    }
    if (!v || (key && !v->key) || (text && !v->text)) {
        d->short_of_memory = true;
        return;
    }
    if (d->depth == 0) d->root = v;
    else {
        mor_json_value *parent = d->open[d->depth - 1], *last = d->last[d->depth - 1];
        if (last) last->next = v;
        else parent->first = v;
        d->last[d->depth - 1] = v;
        parent->count++;
    }
    if (kind != MOR_JSON_OBJECT && kind != MOR_JSON_LIST) return;
    d->open[d->depth] = v;
    d->last[d->depth++] = NULL;
}

void mor_json_tree_end(mor_json_document* d)
{
    if (!d->short_of_memory) d->depth--;
}

bool mor_json_tree_whole(const mor_json_document* d) { return !d->short_of_memory && d->root; }

mor_json_document* mor_json_read_text(const char* name, const char* text, size_t length, mor_error* error)
{
    mor_json_document* d = mor_json_tree(name);
    if (!d) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    reader r = { d, text, text + length, text, 1, error };
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) r.at += 3;
    if (read_all(&r) == MOR_OK) return d;
    mor_json_free(d);
    return NULL;
}

mor_json_document* mor_json_read_file(const char* path, mor_error* error)
{
    char* text;
    size_t length;
    if (mor_text_read(path, FILE_MAX, &text, &length, error) != MOR_OK) return NULL;
    mor_json_document* d = mor_json_read_text(path, text, length, error);
    free(text);
    return d;
}

void mor_json_free(mor_json_document* d)
{
    if (!d) return;
    for (chunk* c = d->chunks; c;) {
        chunk* next = c->next;
        free(c);
        c = next;
    }
    free(d);
}

const mor_json_value* mor_json_root(const mor_json_document* d) { return d->root; }

const mor_json_value* mor_json_get(const mor_json_value* object, const char* key)
{
    if (!object || object->kind != MOR_JSON_OBJECT) return NULL;
    for (const mor_json_value* v = object->first; v; v = v->next)
        if (strcmp(v->key, key) == 0) return v;
    return NULL;
}

mor_code mor_json_fail(const mor_json_document* d, const mor_json_value* v, mor_error* error, const char* format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return mor_fail_at(error, MOR_BAD_INPUT, d->name, v->line, v->column, "%s", text);
}

mor_code mor_json_numbers_of(const mor_json_document* d, const mor_json_value* list, const char* what, int count,
                             double* out, mor_error* error)
{
    if (list->kind != MOR_JSON_LIST || list->count != count)
        return mor_json_fail(d, list, error, "'%s' has %d numbers; expected a list of %d", what,
                             list->kind == MOR_JSON_LIST ? list->count : 0, count);
    int i = 0;
    for (const mor_json_value* v = list->first; v; v = v->next) {
        if (v->kind != MOR_JSON_NUMBER)
            return mor_json_fail(d, v, error, "'%s' holds something that is not a number", what);
        out[i++] = v->number;
    }
    return MOR_OK;
}
