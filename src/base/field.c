/* Option tables: defaults, parsing with range checks, printing, "did you mean". */
#include "moreau/base.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void store(const mor_field* f, void* options, double value)
{
    char* at = (char*)options + f->offset;
    switch (f->type) {
    case MOR_TYPE_BOOL:
        *(bool*)at = value != 0.0;
        break;
    case MOR_TYPE_INT:
    case MOR_TYPE_CHOICE:
        *(int*)at = (int)value;
        break;
    case MOR_TYPE_DOUBLE:
        *(double*)at = value;
        break;
    }
}

void mor_fields_default(const mor_field* fields, void* options)
{
    for (const mor_field* f = fields; f && f->name; f++) store(f, options, f->initial);
}

/* Length of the k-th word of "a|b|c" and where it starts; NULL past the end. */
static const char* word(const char* choices, int k, size_t* length)
{
    const char* s = choices;
    for (; k > 0; k--) {
        s = strchr(s, '|');
        if (!s) return NULL;
        s++;
    }
    *length = strcspn(s, "|");
    return s;
}

/* A letter without its case; `_` and space count as `-`. The same for every locale. */
static char plain(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == '_' || c == ' ' ? '-' : c; }

/* How many letters must be changed, added, left out, or change places with their neighbour. */
static size_t edit_distance(const char* a, const char* b)
{
    size_t n = strlen(a), m = strlen(b), rows[3][65];
    if (n > 64 || m > 64) return 99;
    for (size_t i = 0; i <= n; i++) {
        size_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            if (i == 0) {
                row[j] = j;
                continue;
            }
            size_t change = last[j - 1] + (plain(a[i - 1]) != plain(b[j - 1]));
            size_t shift = (row[j - 1] < last[j] ? row[j - 1] : last[j]) + 1;
            row[j] = change < shift ? change : shift;
            bool swapped = i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) && plain(a[i - 2]) == plain(b[j - 1]);
            if (swapped && before[j - 2] + 1 < row[j]) row[j] = before[j - 2] + 1;
        }
    }
    return rows[n % 3][m];
}

const char* mor_did_you_mean(const char* text, const char* const* words)
{
    const char* best = NULL;
    size_t least = strlen(text) / 3 + 2; /* a third of the letters may be wrong */
    for (; *words; words++) {
        size_t d = edit_distance(text, *words);
        bool prefix = strlen(text) >= 3 && strncmp(text, *words, strlen(text)) == 0;
        if (prefix) d = 1;
        if (d < least) {
            least = d;
            best = *words;
        }
    }
    return best;
}

static mor_code unknown(const mor_field* fields, const char* name, mor_error* error)
{
    const char* names[64];
    char list[512] = "";
    size_t used = 0;
    int n = 0;
    for (const mor_field* f = fields; f && f->name && n < 63; f++) {
        names[n++] = f->name;
        int w = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", f->name);
        if (w > 0 && used + (size_t)w < sizeof list) used += (size_t)w;
    }
    names[n] = NULL;
    const char* near = mor_did_you_mean(name, names);
    if (near) return mor_fail(error, MOR_BAD_INPUT, "unknown option '%s'; did you mean '%s'?", name, near);
    return mor_fail(error, MOR_BAD_INPUT, "unknown option '%s'; known: %s", name, n ? list : "none");
}

mor_code mor_fields_set(const mor_field* fields, void* options, const char* name, const char* text, mor_error* error)
{
    const mor_field* f = fields;
    while (f && f->name && strcmp(f->name, name) != 0) f++;
    if (!f || !f->name) return unknown(fields, name, error);

    if (f->type == MOR_TYPE_BOOL) {
        if (strcmp(text, "true") == 0) store(f, options, 1.0);
        else if (strcmp(text, "false") == 0) store(f, options, 0.0);
        else return mor_fail(error, MOR_BAD_INPUT, "%s: '%s' is neither true nor false", name, text);
        return MOR_OK;
    }
    if (f->type == MOR_TYPE_CHOICE) {
        size_t length;
        for (int k = 0;; k++) {
            const char* w = word(f->choices, k, &length);
            if (!w) return mor_fail(error, MOR_BAD_INPUT, "%s: '%s' is not one of %s", name, text, f->choices);
            if (strlen(text) == length && strncmp(w, text, length) == 0) {
                store(f, options, k);
                return MOR_OK;
            }
        }
    }
    if (f->choices && strcmp(text, f->choices) == 0) { /* a number left to the method */
        store(f, options, -1.0);
        return MOR_OK;
    }
    char* end;
    double value = mor_strtod(text, &end);
    if (strcmp(text, ".inf") == 0 || strcmp(text, "-.inf") == 0) { /* YAML's spelling */
        value = text[0] == '-' ? -INFINITY : INFINITY;
        end = (char*)text + strlen(text);
    }
    if (end == text || *end || isnan(value))
        return mor_fail(error, MOR_BAD_INPUT, "%s: '%s' is not a number", name, text);
    if (f->type == MOR_TYPE_INT && value != floor(value))
        return mor_fail(error, MOR_BAD_INPUT, "%s: %s is not a whole number", name, text);
    if (!(value >= f->min && value <= f->max))
        return mor_fail(error, MOR_BAD_INPUT, "%s: %s is out of range; allowed: %g to %g%s%s", name, text, f->min,
                        f->max, f->unit && *f->unit ? " " : "", f->unit ? f->unit : "");
    store(f, options, value);
    return MOR_OK;
}

void mor_field_print(const mor_field* f, const void* options, char* text, size_t size)
{
    const char* at = (const char*)options + f->offset;
    size_t length = 0;
    switch (f->type) {
    case MOR_TYPE_BOOL:
        snprintf(text, size, "%s", *(const bool*)at ? "true" : "false");
        break;
    case MOR_TYPE_INT:
        snprintf(text, size, "%d", *(const int*)at);
        break;
    case MOR_TYPE_DOUBLE:
        if (f->choices && *(const double*)at == -1.0) snprintf(text, size, "%s", f->choices);
        else mor_print_number(text, size, *(const double*)at);
        break;
    case MOR_TYPE_CHOICE: {
        const char* w = word(f->choices, *(const int*)at, &length);
        snprintf(text, size, "%.*s", (int)length, w ? w : "");
        break;
    }
    }
}
