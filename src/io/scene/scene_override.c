/* `--set a.b.c=value`: changes the tree of nodes before it is read, so that an override is checked
 * exactly like the file. A step of the path is a key of a mapping, or in a list the `name` of an
 * entry or its index from 0. The value is YAML. Messages name the override and the column within
 * it. */
#include "io/scene/scene_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct override {
    mor_document* document;
    const mor_source* source;
    const char* text;
    mor_error* error;
} override;

static mor_code fail(const override* o, const char* at, const char* sentence)
{
    return mor_fail_at(o->error, MOR_BAD_INPUT, o->source->name, 1, (int)(at - o->text) + 1, "%s", sentence);
}

/* The entry of a list by name or index; NULL if there is none. */
static mor_node* list_entry(const mor_node* list, const char* word)
{
    for (mor_node* n = list->first; n; n = n->next) {
        const mor_node* name = mor_node_get(n, "name");
        if (name && name->kind == MOR_NODE_SCALAR && strcmp(name->text, word) == 0) return n;
    }
    if (strspn(word, "0123456789") != strlen(word) || strlen(word) > 8) return NULL;
    return mor_node_at(list, atoi(word));
}

static mor_code fail_entry(const override* o, const mor_node* list, const char* word, const char* at)
{
    const char* names[257];
    int n = 0;
    for (const mor_node* e = list->first; e && n < 256; e = e->next) {
        const mor_node* name = mor_node_get(e, "name");
        if (name && name->kind == MOR_NODE_SCALAR) names[n++] = name->text;
    }
    names[n] = NULL;
    const char* near = mor_did_you_mean(word, names);
    char sentence[300];
    if (near) snprintf(sentence, sizeof sentence, "there is no '%.60s' here; did you mean '%.60s'?", word, near);
    else
        snprintf(sentence, sizeof sentence, "there is no '%.60s' here; give a name or an index below %d", word,
                 list->count);
    return fail(o, at, sentence);
}

static mor_node* add_child(const override* o, mor_node* map, const char* key, const char* at, mor_node* child)
{
    if (!child) return NULL;
    child->key = mor_document_text(o->document, key, strlen(key), o->error);
    child->key_line = 1;
    child->key_column = (int)(at - o->text) + 1;
    if (!child->key) return NULL;
    mor_node_append(map, child);
    return child;
}

static mor_node* new_map(const override* o, const char* at)
{
    return mor_node_create(o->document, MOR_NODE_MAP, o->source, 1, (int)(at - o->text) + 1, o->error);
}

/* A value that the path leads into: `solver: lemke` becomes `solver: { name: lemke }`, nothing
 * becomes a mapping. NULL with an error when it cannot be entered. */
static mor_node* enter(const override* o, mor_node* parent, mor_node* child, bool in_method, const char* at)
{
    if (child->kind != MOR_NODE_SCALAR) return child;
    bool empty = !*child->text && !child->quoted;
    if (!empty && !in_method) {
        fail(o, at, "the path goes into a single value; end it one word earlier");
        return NULL;
    }
    mor_node* map = new_map(o, at);
    if (!map) return NULL;
    map->key_line = child->key_line;
    map->key_column = child->key_column;
    mor_node_replace(parent, child, map);
    if (!empty) {
        child->key = "name";
        mor_node_append(map, child);
    }
    return map;
}

/* Digits, a point and an exponent at most: what sweeps set, and the same in YAML as here. */
static bool is_number(const char* text)
{
    if (*text == '-' || *text == '+') text++;
    if (!(*text >= '0' && *text <= '9')) return false;
    text += strspn(text, "0123456789");
    if (*text == '.') text += 1 + strspn(text + 1, "0123456789");
    if (*text == 'e' || *text == 'E') {
        text += 1 + (text[1] == '-' || text[1] == '+');
        text += strspn(text, "0123456789");
    }
    return *text == '\0';
}

static mor_node* parse_value(const override* o, const char* value)
{
    if (!*value) {
        fail(o, value, "there is no value after '='");
        return NULL;
    }
    size_t length = strlen(value);
    int column = (int)(value - o->text);
    if (!is_number(value)) return mor_yaml_parse(o->document, value, length, o->source, column, o->error);
    mor_node* node = mor_node_create(o->document, MOR_NODE_SCALAR, o->source, 1, column + 1, o->error);
    if (node) node->text = mor_document_text(o->document, value, length, o->error);
    return node && node->text ? node : NULL;
}

static mor_code put(const override* o, mor_node* node, const char* word, const char* at, mor_node* value)
{
    mor_node* old = node->kind == MOR_NODE_MAP ? mor_node_get(node, word) : list_entry(node, word);
    if (!old && node->kind == MOR_NODE_LIST) return fail_entry(o, node, word, at);
    if (!old) return add_child(o, node, word, at, value) ? MOR_OK : MOR_SYSTEM;
    value->key_line = 1;
    value->key_column = (int)(at - o->text) + 1;
    mor_node_replace(node, old, value);
    return MOR_OK;
}

mor_code mor_document_override(mor_document* document, mor_node* root, const char* text, mor_error* error)
{
    mor_error local;
    size_t length = strlen(text);
    mor_source* source = mor_arena_alloc(document->arena, sizeof *source);
    char* name = mor_arena_alloc(document->arena, length + 7);
    char* words = mor_document_text(document, text, length, error);
    if (!source || !name || !words) return mor_fail(error, MOR_SYSTEM, "out of memory");
    snprintf(name, length + 7, "--set %s", text);
    *source = (mor_source){ name, root->source->directory };
    const override o = { document, source, text, error ? error : &local };

    const char* equals = strchr(text, '=');
    if (!equals || equals == text) return fail(&o, text, "an override looks like key.key=value");
    mor_node* value = parse_value(&o, equals + 1);
    if (!value) return o.error->code;
    words[equals - text] = '\0';

    mor_node* node = root;
    bool in_method = false;
    for (char* word = words;;) {
        size_t n = strcspn(word, ".");
        bool last = word[n] == '\0';
        const char* at = text + (word - words);
        word[n] = '\0';
        if (n == 0) return fail(&o, at, "a word of the path is empty");
        if (word == words && strcmp(word, "include") == 0) return fail(&o, at, "include cannot be overridden");
        if (last) return put(&o, node, word, at, value);

        mor_node* child = node->kind == MOR_NODE_MAP ? mor_node_get(node, word) : list_entry(node, word);
        if (!child && node->kind == MOR_NODE_LIST) return fail_entry(&o, node, word, at);
        child = child ? enter(&o, node, child, in_method, at) : add_child(&o, node, word, at, new_map(&o, at));
        if (!child) return o.error->code;
        in_method = word == words && strcmp(word, "method") == 0;
        node = child;
        word += n + 1;
    }
}
