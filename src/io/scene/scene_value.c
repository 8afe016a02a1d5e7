/* Reads values: type, finiteness, range, and mappings by their tables of keys. */
#include "io/scene/scene_fields.h"
#include "base/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* .inf and .nan in YAML's spellings and C's. */
static bool parse_word(const char* s, double* value)
{
    const char* word = s + (*s == '+' || *s == '-');
    if (strcmp(word, ".inf") == 0 || strcmp(word, "inf") == 0 || strcmp(word, ".Inf") == 0) {
        *value = *s == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (strcmp(s, ".nan") == 0 || strcmp(s, "nan") == 0 || strcmp(s, ".NaN") == 0 || strcmp(s, "NaN") == 0) {
        *value = NAN;
        return true;
    }
    return false;
}

/* Numbers of YAML and JSON: decimal, and the words above. */
static bool parse_number(const mor_node* node, double* value)
{
    const char* s = node->text;
    if (node->quoted || !*s) return false;
    const char* word = s + (*s == '+' || *s == '-');
    if (!(*word >= '0' && *word <= '9') && parse_word(s, value)) return true;
    if (strspn(s, "0123456789+-.eE") != strlen(s)) return false;
    char* end;
    *value = mor_strtod(s, &end);
    return *end == '\0';
}

/* "give a positive number in kg or leave it out ..." */
static const char* advice(const mor_key* key, char text[160])
{
    const char* kind = key->min == MOR_POSITIVE ? "a positive number" : "zero or a positive number";
    bool unit = key->unit && *key->unit;
    snprintf(text, 160, "give %s%s%s%s%s", kind, unit ? " in " : "", unit ? key->unit : "", key->hint ? " or " : "",
             key->hint ? key->hint : "");
    return text;
}

static mor_code read_number(const mor_node* node, const mor_key* key, double* value, mor_error* error)
{
    char text[160];
    if (node->kind != MOR_NODE_SCALAR || !parse_number(node, value)) {
        bool unit = key->unit && *key->unit;
        return mor_node_fail(node, error, "%s must be a number%s%s, not %s%s", key->name, unit ? " in " : "",
                             unit ? key->unit : "", node->quoted ? "the text " : "", mor_node_describe(node, text));
    }
    bool open = key->min == 0 && key->max == 0; /* any number */
    double min = open ? -MOR_HUGE : key->min, max = open ? MOR_HUGE : key->max;
    const char* written = node->text;
    if (isnan(*value)) return mor_node_fail(node, error, "%s is not a number (NaN); give a finite number", key->name);
    if (isinf(*value) && !(*value > 0 && isinf(max)))
        return mor_node_fail(node, error, "%s %.40s is infinite; give a finite number", key->name, written);
    if (key->type == MOR_KEY_INT && *value != floor(*value))
        return mor_node_fail(node, error, "%s %.40s is not a whole number", key->name, written);
    if (min == MOR_POSITIVE && !(*value >= min))
        return mor_node_fail(node, error, "%s %.40s is %s; %s", key->name, written,
                             *value < 0    ? "negative"
                             : *value == 0 ? "zero"
                                           : "too small",
                             advice(key, text));
    if (min == 0 && *value < 0)
        return mor_node_fail(node, error, "%s %.40s is negative; %s", key->name, written, advice(key, text));
    if (max == MOR_HUGE && !(fabs(*value) <= MOR_HUGE))
        return mor_node_fail(node, error, "%s %.40s is too large; the limit is %g", key->name, written, MOR_HUGE);
    if (!(*value >= min && *value <= max))
        return mor_node_fail(node, error, "%s %.40s is out of range; allowed: %g to %g%s%s", key->name, written, min,
                             max, key->unit && *key->unit ? " " : "", key->unit ? key->unit : "");
    return MOR_OK;
}

mor_code mor_read_number(const mor_node* node, const char* name, double* value, mor_error* error)
{
    return read_number(node, &(mor_key){ .name = name, .type = MOR_KEY_NUMBER }, value, error);
}

static mor_code read_list_of(const mor_node* node, const mor_key* key, double* values, int count, mor_error* error)
{
    char text[80];
    if (node->kind != MOR_NODE_LIST)
        return mor_node_fail(node, error, "%s must be a list of %d numbers, not %s", key->name, count,
                             mor_node_describe(node, text));
    if (node->count != count)
        return mor_node_fail(node, error, "%s has %d number%s; give %d", key->name, node->count,
                             node->count == 1 ? "" : "s", count);
    int i = 0;
    for (const mor_node* n = node->first; n; n = n->next) {
        mor_code code = read_number(n, key, &values[i++], error);
        if (code) return code;
    }
    return MOR_OK;
}

mor_code mor_read_numbers(const mor_node* node, const char* name, double* values, int count, mor_error* error)
{
    return read_list_of(node, &(mor_key){ .name = name, .type = MOR_KEY_NUMBER }, values, count, error);
}

mor_code mor_read_vector(const mor_node* node, const char* name, int dimension, mor_vec3* value, mor_error* error)
{
    double v[3] = { 0, 0, 0 };
    mor_code code = mor_read_numbers(node, name, v, dimension, error);
    if (code == MOR_OK) *value = mor_v3(v[0], v[1], v[2]);
    return code;
}

mor_code mor_read_text(const mor_node* node, const char* name, const char** value, mor_error* error)
{
    if (node->kind != MOR_NODE_SCALAR)
        return mor_node_fail(node, error, "%s must be a text, not %s", name,
                             node->kind == MOR_NODE_MAP ? "a mapping" : "a list");
    if (!*node->text) return mor_node_fail(node, error, "%s is empty", name);
    *value = node->text;
    return MOR_OK;
}

mor_code mor_read_list(const mor_node* node, const char* name, mor_error* error)
{
    char text[80];
    if (node->kind == MOR_NODE_LIST) return MOR_OK;
    return mor_node_fail(node, error, "%s must be a list, not %s", name, mor_node_describe(node, text));
}

mor_code mor_read_map(const mor_node* node, const char* name, mor_error* error)
{
    char text[80];
    if (node->kind == MOR_NODE_MAP) return MOR_OK;
    return mor_node_fail(node, error, "%s must be a mapping (key: value), not %s", name, mor_node_describe(node, text));
}

static mor_code read_bool(const mor_node* node, const mor_key* key, bool* value, mor_error* error)
{
    char text[80];
    bool scalar = node->kind == MOR_NODE_SCALAR && !node->quoted;
    if (scalar && strcmp(node->text, "true") == 0) *value = true;
    else if (scalar && strcmp(node->text, "false") == 0) *value = false;
    else
        return mor_node_fail(node, error, "%s must be true or false, not %s", key->name, mor_node_describe(node, text));
    return MOR_OK;
}

static mor_code read_choice(const mor_node* node, const mor_key* key, int* value, mor_error* error)
{
    char text[80];
    int k = 0;
    for (const char* s = key->choices; node->kind == MOR_NODE_SCALAR && s; k++) {
        size_t length = strcspn(s, "|");
        if (strlen(node->text) == length && strncmp(node->text, s, length) == 0) {
            *value = k;
            return MOR_OK;
        }
        s = s[length] ? s + length + 1 : NULL;
    }
    return mor_node_fail(node, error, "%s must be one of %s, not %s", key->name, key->choices,
                         mor_node_describe(node, text));
}

static mor_code read_key(const mor_node* node, const mor_key* key, int dimension, char* at, mor_error* error)
{
    double v[3] = { 0, 0, 0 };
    mor_code code = MOR_OK;
    switch (key->type) {
    case MOR_KEY_NUMBER:
        if ((code = read_number(node, key, v, error)) == MOR_OK) *(double*)at = v[0];
        return code;
    case MOR_KEY_INT:
        if ((code = read_number(node, key, v, error)) == MOR_OK) *(int*)at = (int)v[0];
        return code;
    case MOR_KEY_BOOL:
        return read_bool(node, key, (bool*)at, error);
    case MOR_KEY_CHOICE:
        return read_choice(node, key, (int*)at, error);
    case MOR_KEY_TEXT:
        return mor_read_text(node, key->name, (const char**)at, error);
    case MOR_KEY_VECTOR:
        if ((code = read_list_of(node, key, v, dimension, error)) == MOR_OK) *(mor_vec3*)at = mor_v3(v[0], v[1], v[2]);
        return code;
    case MOR_KEY_SPIN:
        code = dimension == 2 ? read_number(node, key, &v[2], error) : read_list_of(node, key, v, 3, error);
        if (code == MOR_OK) *(mor_vec3*)at = mor_v3(v[0], v[1], v[2]);
        return code;
    case MOR_KEY_COUNTS: {
        mor_key whole = *key;
        whole.type = MOR_KEY_INT;
        v[2] = 1;
        if ((code = read_list_of(node, &whole, v, dimension, error)) == MOR_OK)
            for (int i = 0; i < 3; i++) ((int*)at)[i] = (int)v[i];
        return code;
    }
    case MOR_KEY_LATER: {
        bool empty = node->kind == MOR_NODE_SCALAR ? !*node->text && !node->quoted : node->count == 0;
        if (!empty)
            return mor_node_fail_key(node, error, "%s %s not supported by this version; leave %s out", key->name,
                                     key->name[strlen(key->name) - 1] == 's' ? "are" : "is",
                                     key->name[strlen(key->name) - 1] == 's' ? "them" : "it");
        return MOR_OK;
    }
    case MOR_KEY_NODE:
        *(const mor_node**)at = node;
        return MOR_OK;
    }
    return code;
}

/* The names of the keys, with commas between them. */
static const char* list_keys(const mor_key_table* table, int dimension, char* list, size_t size)
{
    size_t used = 0;
    *list = '\0';
    for (const mor_key* k = table->keys; k->name; k++) {
        if (k->dimension && k->dimension != dimension) continue;
        int w = snprintf(list + used, size - used, "%s%s", used ? ", " : "", k->name);
        if (w > 0 && used + (size_t)w < size) used += (size_t)w;
    }
    return list;
}

static mor_code fail_unknown(const mor_key_table* table, const mor_node* node, int dimension, mor_error* error)
{
    const char* names[64];
    char list[400];
    int n = 0;
    for (const mor_key* k = table->keys; k->name && n < 63; k++)
        if (!k->dimension || k->dimension == dimension) names[n++] = k->name;
    names[n] = NULL;
    const char* right = mor_word_of_scenes(table->title, node->key);
    if (right)
        return mor_node_fail_key(node, error, "unknown key '%.60s' in %s; write %s", node->key, table->title, right);
    const char* near = mor_did_you_mean(node->key, names);
    if (near)
        return mor_node_fail_key(node, error, "unknown key '%.60s' in %s; did you mean '%s'?", node->key, table->title,
                                 near);
    return mor_node_fail_key(node, error, "unknown key '%.60s' in %s; known: %s", node->key, table->title,
                             list_keys(table, dimension, list, sizeof list));
}

mor_code mor_keys_read(const mor_key_table* table, const mor_node* node, int dimension, void* result, mor_error* error)
{
    char* base = result;
    memset(base, 0, table->size);
    for (const mor_key* k = table->keys; k->name; k++) switch (k->type) {
        case MOR_KEY_NUMBER:
            *(double*)(base + k->offset) = k->initial;
            break;
        case MOR_KEY_INT:
        case MOR_KEY_CHOICE:
            *(int*)(base + k->offset) = (int)k->initial;
            break;
        case MOR_KEY_BOOL:
            *(bool*)(base + k->offset) = k->initial != 0.0;
            break;
        default:
            break;
        }

    char list[400], text[80];
    /* a file that is a text is none of ours: it is not quoted */
    bool whole = node->kind == MOR_NODE_SCALAR && node->line == 1 && node->column == 1;
    if (node->kind != MOR_NODE_MAP)
        return mor_node_fail(node, error, "%s must be a mapping (key: value), not %s; its keys: %s", table->title,
                             whole ? "a text" : mor_node_describe(node, text),
                             list_keys(table, dimension, list, sizeof list));
    mor_code code = MOR_OK;
    for (const mor_node* n = node->first; n && code == MOR_OK; n = n->next) {
        const mor_key* k = table->keys;
        while (k->name && (k->name[0] != n->key[0] || strcmp(k->name, n->key) != 0)) k++;
        if (!k->name) return fail_unknown(table, n, dimension, error);
        if (k->dimension && k->dimension != dimension)
            return mor_node_fail_key(n, error,
                                     "%s is only for %d-D worlds, and this one has dimension %d; known here: %s",
                                     k->name, k->dimension, dimension, list_keys(table, dimension, list, sizeof list));
        code = read_key(n, k, dimension, base + k->offset, error);
    }
    for (const mor_key* k = table->keys; k->name && code == MOR_OK; k++)
        if (k->required && !mor_node_get(node, k->name))
            code = mor_node_fail(node, error, "%s has no '%s'; add it", table->title, k->name);
    return code;
}
