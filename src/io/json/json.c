/* The writer keeps a stack of open objects and lists; commas and line breaks follow from it.
 *
 * Layout: members of objects near the top stand on lines of their own, everything deeper than two
 * levels stays on one line, so that a body is a line. */
#include "io/json/json.h"
#include "base/number.h"
#include "io/json/json_read.h"

#include <assert.h>
#include <string.h>

enum { BROKEN_LEVELS = 2 };

mor_json mor_json_begin(FILE* out)
{
    assert(out);
    return (mor_json){ .out = out };
}

mor_json mor_json_begin_tree(mor_json_document* tree)
{
    assert(tree);
    return (mor_json){ .tree = tree };
}

/* A value of a tree; what has no number in JSON is null. */
static void plant(mor_json* json, const char* key, mor_json_kind kind, double number, const char* text)
{
    if (kind == MOR_JSON_NUMBER && !isfinite(number)) kind = MOR_JSON_NULL, number = 0.0;
    mor_json_tree_add(json->tree, kind, key, number, text);
    json->done = true;
}

/* Length of the UTF-8 sequence at s, 0 if it is not one (Unicode 15, table 3-7). */
static size_t sequence(const unsigned char* s)
{
    if (s[0] < 0x80) return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) return (s[1] & 0xc0) == 0x80 ? 2 : 0;
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        unsigned low = s[0] == 0xe0 ? 0xa0 : 0x80, high = s[0] == 0xed ? 0x9f : 0xbf;
        return s[1] >= low && s[1] <= high && (s[2] & 0xc0) == 0x80 ? 3 : 0;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        unsigned low = s[0] == 0xf0 ? 0x90 : 0x80, high = s[0] == 0xf4 ? 0x8f : 0xbf;
        return s[1] >= low && s[1] <= high && (s[2] & 0xc0) == 0x80 && (s[3] & 0xc0) == 0x80 ? 4 : 0;
    }
    return 0;
}

static void put_text(FILE* out, const char* text)
{
    fputc('"', out);
    for (const unsigned char* s = (const unsigned char*)text; *s;) {
        size_t n = sequence(s);
        if (n == 0) {
            fputs("\xef\xbf\xbd", out);
            s++;
        } else if (n > 1) {
            fwrite(s, 1, n, out);
            s += n;
        } else {
            unsigned char c = *s++;
            switch (c) {
            case '"':
                fputs("\\\"", out);
                break;
            case '\\':
                fputs("\\\\", out);
                break;
            case '\n':
                fputs("\\n", out);
                break;
            case '\r':
                fputs("\\r", out);
                break;
            case '\t':
                fputs("\\t", out);
                break;
            default:
                if (c < 0x20 || c == 0x7f) fprintf(out, "\\u%04x", c);
                else fputc(c, out);
            }
        }
    }
    fputc('"', out);
}

static void break_line(mor_json* json)
{
    fputc('\n', json->out);
    for (int i = 0; i < json->depth; i++) fputs("  ", json->out);
}

/* Comma, line break and key in front of a value. */
static void lead(mor_json* json, const char* key)
{
    if (json->depth == 0) {
        assert(!json->done && "one value at the top");
        assert(!key);
        json->done = true;
        return;
    }
    int top = json->depth - 1;
    assert((key != NULL) == (json->kind[top] == '{') && "keys inside objects only");
    if (json->count[top]++) fputs(json->broken[top] ? "," : ", ", json->out);
    if (json->broken[top]) break_line(json);
    if (key) {
        put_text(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_value(mor_json* json, const char* key, char kind)
{
    assert(json->depth < MOR_JSON_DEPTH);
    if (json->tree) plant(json, key, kind == '{' ? MOR_JSON_OBJECT : MOR_JSON_LIST, 0.0, NULL);
    else {
        lead(json, key);
        fputc(kind, json->out);
    }
    json->kind[json->depth] = kind;
    json->count[json->depth] = 0;
    json->broken[json->depth] = json->depth < BROKEN_LEVELS;
    json->depth++;
}

void mor_json_object(mor_json* json, const char* key) { open_value(json, key, '{'); }
void mor_json_list(mor_json* json, const char* key) { open_value(json, key, '['); }

void mor_json_end(mor_json* json)
{
    assert(json->depth > 0 && "nothing is open");
    json->depth--;
    if (json->tree) {
        mor_json_tree_end(json->tree);
        return;
    }
    if (json->broken[json->depth] && json->count[json->depth]) break_line(json);
    fputc(json->kind[json->depth] == '{' ? '}' : ']', json->out);
}

static void put_number(FILE* out, double value)
{
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    char text[40];
    mor_print_number(text, sizeof text, value);
    for (char* s = text; *s; s++)
        if (*s == ',') *s = '.'; /* locales with a decimal comma */
    fputs(text, out);
}

void mor_json_number(mor_json* json, const char* key, double value)
{
    if (json->tree) {
        plant(json, key, MOR_JSON_NUMBER, value, NULL);
        return;
    }
    lead(json, key);
    put_number(json->out, value);
}

void mor_json_integer(mor_json* json, const char* key, long long value)
{
    if (json->tree) {
        plant(json, key, MOR_JSON_NUMBER, (double)value, NULL);
        return;
    }
    lead(json, key);
    fprintf(json->out, "%lld", value);
}

void mor_json_bool(mor_json* json, const char* key, bool value)
{
    if (json->tree) {
        plant(json, key, MOR_JSON_BOOL, value ? 1.0 : 0.0, NULL);
        return;
    }
    lead(json, key);
    fputs(value ? "true" : "false", json->out);
}

void mor_json_null(mor_json* json, const char* key)
{
    if (json->tree) {
        plant(json, key, MOR_JSON_NULL, 0.0, NULL);
        return;
    }
    lead(json, key);
    fputs("null", json->out);
}

void mor_json_text(mor_json* json, const char* key, const char* value)
{
    if (json->tree) {
        plant(json, key, MOR_JSON_TEXT, 0.0, value);
        return;
    }
    lead(json, key);
    put_text(json->out, value);
}

void mor_json_numbers(mor_json* json, const char* key, const double* values, int count)
{
    if (json->tree) {
        plant(json, key, MOR_JSON_LIST, 0.0, NULL);
        for (int i = 0; i < count; i++) plant(json, NULL, MOR_JSON_NUMBER, values[i], NULL);
        mor_json_tree_end(json->tree);
        return;
    }
    lead(json, key);
    fputc('[', json->out);
    for (int i = 0; i < count; i++) {
        if (i) fputs(", ", json->out);
        put_number(json->out, values[i]);
    }
    fputc(']', json->out);
}

bool mor_json_finish(mor_json* json)
{
    assert(json->depth == 0 && json->done && "an object or list is still open");
    if (json->tree) return mor_json_tree_whole(json->tree);
    fputc('\n', json->out);
    return fflush(json->out) == 0 && !ferror(json->out);
}
