/* Builds the node tree from libyaml's events with an explicit stack: no recursion on the input.
 *
 * Every event carries its mark, so every key and value keeps its position. An alias becomes a copy
 * of the anchored value; copies count towards the limit on values, which stops documents that
 * double in size with every alias. Duplicate keys are found in a hash table per open mapping, which
 * doubles with the number of keys: the whole costs O(n). */
#include "io/scene/yaml_node.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

typedef struct anchor {
    const char* name;
    mor_node* node;
    struct anchor* next;
} anchor;

/* The keys of a mapping: open addressing, at most half full. */
typedef struct key_table {
    const mor_node** slots;
    int size, count; /* size: a power of two, or 0 */
} key_table;

typedef struct builder {
    mor_document* document;
    const mor_source* source;
    int column; /* of the first character of the text, 0-based */
    mor_error* error;
    mor_node* root;
    mor_node* open[MOR_YAML_DEPTH]; /* collections being read */
    key_table keys[MOR_YAML_DEPTH]; /* of mappings */
    int depth;
    bool has_key; /* in the innermost mapping a key has been read, its value comes next */
    const char* key;
    int key_line, key_column;
    anchor* anchors;
} builder;

static mor_code node_fail_args(const mor_node* node, int line, int column, mor_error* error, const char* format,
                               va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    return mor_fail_at(error, MOR_BAD_INPUT, node->source->name, line, column, "%s", text);
}

mor_code mor_node_fail(const mor_node* node, mor_error* error, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    mor_code code = node_fail_args(node, node->line, node->column, error, format, args);
    va_end(args);
    return code;
}

mor_code mor_node_pass(const mor_node* node, const mor_error* inner, mor_error* error)
{
    return inner->code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "%s", inner->text)
                                     : mor_node_fail(node, error, "%s", inner->text);
}

mor_code mor_node_fail_key(const mor_node* node, mor_error* error, const char* format, ...)
{
    va_list args;
    va_start(args, format);
    mor_code code = node->key ? node_fail_args(node, node->key_line, node->key_column, error, format, args)
                              : node_fail_args(node, node->line, node->column, error, format, args);
    va_end(args);
    return code;
}

const char* mor_node_describe(const mor_node* node, char buffer[80])
{
    if (node->kind == MOR_NODE_MAP) return "a mapping";
    if (node->kind == MOR_NODE_LIST) return "a list";
    if (!*node->text && !node->quoted) return "nothing";
    snprintf(buffer, 80, "'%.60s'", node->text);
    return buffer;
}

mor_node* mor_node_get(const mor_node* map, const char* key)
{
    for (mor_node* n = map->kind == MOR_NODE_MAP ? map->first : NULL; n; n = n->next)
        if (n->key[0] == key[0] && strcmp(n->key, key) == 0) return n;
    return NULL;
}

mor_node* mor_node_at(const mor_node* node, int index)
{
    mor_node* n = node->first;
    while (n && index-- > 0) n = n->next;
    return n;
}

void mor_node_append(mor_node* parent, mor_node* child)
{
    child->next = NULL;
    if (parent->last) parent->last->next = child;
    else parent->first = child;
    parent->last = child;
    parent->count++;
}

void mor_node_replace(mor_node* parent, const mor_node* old, mor_node* child)
{
    child->key = old->key;
    child->next = old->next;
    if (parent->last == old) parent->last = child;
    for (mor_node** at = &parent->first; *at; at = &(*at)->next)
        if (*at == old) {
            *at = child;
            return;
        }
}

char* mor_document_text(mor_document* document, const char* text, size_t length, mor_error* error)
{
    char* copy = mor_arena_alloc(document->arena, length + 1);
    if (!copy) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    if (length) memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

mor_node* mor_node_create(mor_document* document, mor_node_kind kind, const mor_source* source, int line, int column,
                          mor_error* error)
{
    if (++document->nodes > MOR_YAML_NODES) {
        mor_fail_at(error, MOR_BAD_INPUT, source->name, line, column,
                    "more than %d values; put large tables into mesh or motion files", (int)MOR_YAML_NODES);
        return NULL;
    }
    mor_node* node = mor_arena_zero(document->arena, 1, sizeof *node);
    if (!node) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    *node = (mor_node){ .kind = kind, .line = line, .column = column, .source = source };
    if (kind == MOR_NODE_SCALAR) node->text = "";
    return node;
}

mor_node* mor_node_copy(mor_document* document, const mor_node* from, mor_error* error)
{
    mor_node* node = mor_node_create(document, from->kind, from->source, from->line, from->column, error);
    if (!node) return NULL;
    node->quoted = from->quoted;
    node->key = from->key, node->text = from->text;
    node->key_line = from->key_line, node->key_column = from->key_column;
    for (const mor_node* child = from->first; child; child = child->next) { /* at most MOR_YAML_DEPTH deep */
        mor_node* twin = mor_node_copy(document, child, error);
        if (!twin) return NULL;
        mor_node_append(node, twin);
    }
    return node;
}

static int line_of(yaml_mark_t mark) { return (int)mark.line + 1; }
static int column_of(const builder* b, yaml_mark_t mark)
{
    return (int)mark.column + 1 + (mark.line == 0 ? b->column : 0);
}

static mor_code fail(builder* b, yaml_mark_t mark, const char* sentence)
{
    return mor_fail_at(b->error, MOR_BAD_INPUT, b->source->name, line_of(mark), column_of(b, mark), "%s", sentence);
}

/* Messages quote what stands in scenes and plans, not what stands in other files that somebody names. */
static bool is_ours(const builder* b)
{
    static const char* const begins[] = { "moreau", "moreau-sweep", "moreau-calibrate" };
    if (b->root->kind != MOR_NODE_MAP || !b->root->first) return false;
    for (int i = 0; i < 3; i++)
        if (strcmp(b->root->first->key, begins[i]) == 0) return true;
    return false;
}

/* The slot of a key: where it is or would be. */
static const mor_node** slot_of(const key_table* t, const char* key)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char* c = key; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
    uint32_t at = hash & (uint32_t)(t->size - 1);
    while (t->slots[at] && strcmp(t->slots[at]->key, key) != 0) at = (at + 1) & (uint32_t)(t->size - 1);
    return &t->slots[at];
}

static bool grow_keys(key_table* t, mor_arena* arena)
{
    key_table larger = { .size = t->size ? 2 * t->size : 32, .count = t->count };
    larger.slots = mor_arena_zero(arena, (size_t)larger.size, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (int i = 0; i < t->size; i++)
        if (t->slots[i]) *slot_of(&larger, t->slots[i]->key) = t->slots[i];
    *t = larger;
    return true;
}

/* A value got its key. */
static mor_code note_key(builder* b, const mor_node* node)
{
    key_table* t = &b->keys[b->depth - 1];
    if (2 * (t->count + 1) > t->size && !grow_keys(t, b->document->arena))
        return mor_fail(b->error, MOR_SYSTEM, "out of memory");
    *slot_of(t, node->key) = node;
    t->count++;
    return MOR_OK;
}

/* Hands a finished value, or the start of a collection, to the collection around it. */
static mor_code place(builder* b, mor_node* node, yaml_mark_t mark)
{
    if (b->depth == 0) {
        b->root = node;
        return MOR_OK;
    }
    mor_node* parent = b->open[b->depth - 1];
    if (parent->kind == MOR_NODE_MAP) {
        if (!b->has_key) return fail(b, mark, "a key must be a plain word, not a list, a mapping or an alias");
        node->key = b->key;
        node->key_line = b->key_line;
        node->key_column = b->key_column;
        b->has_key = false;
        mor_code code = note_key(b, node);
        if (code) return code;
    }
    mor_node_append(parent, node);
    return MOR_OK;
}

static mor_code remember(builder* b, const yaml_char_t* name, mor_node* node)
{
    if (!name) return MOR_OK;
    anchor* a = mor_arena_zero(b->document->arena, 1, sizeof *a);
    char* text = a ? mor_document_text(b->document, (const char*)name, strlen((const char*)name), b->error) : NULL;
    if (!text) return mor_fail(b->error, MOR_SYSTEM, "out of memory");
    *a = (anchor){ text, node, b->anchors };
    b->anchors = a;
    return MOR_OK;
}

/* Copies bounded by the depth of the tree: a copy below `depth` levels must still fit. */
static mor_node* copy(builder* b, const mor_node* from, int depth)
{
    if (depth >= MOR_YAML_DEPTH) {
        mor_node_fail(from, b->error, "nested more than %d levels deep", (int)MOR_YAML_DEPTH);
        return NULL;
    }
    mor_node* node = mor_node_create(b->document, from->kind, from->source, from->line, from->column, b->error);
    if (!node) return NULL;
    node->quoted = from->quoted;
    node->text = from->text;
    for (const mor_node* child = from->first; child; child = child->next) {
        mor_node* twin = copy(b, child, depth + 1);
        if (!twin) return NULL;
        twin->key = child->key;
        twin->key_line = child->key_line;
        twin->key_column = child->key_column;
        mor_node_append(node, twin);
    }
    return node;
}

static mor_code take_alias(builder* b, const yaml_event_t* event)
{
    const char* name = (const char*)event->data.alias.anchor;
    const anchor* a = b->anchors;
    while (a && strcmp(a->name, name) != 0) a = a->next;
    if (!a) return fail(b, event->start_mark, "this alias has no anchor before it");
    for (int i = 0; i < b->depth; i++)
        if (b->open[i] == a->node) return fail(b, event->start_mark, "an alias may not stand inside its own anchor");
    mor_node* node = copy(b, a->node, b->depth);
    return node ? place(b, node, event->start_mark) : b->error ? b->error->code : MOR_BAD_INPUT;
}

static mor_code take_key(builder* b, const char* text, size_t length, yaml_mark_t mark)
{
    mor_node* map = b->open[b->depth - 1];
    if (map->count >= MOR_YAML_KEYS) return fail(b, mark, "too many keys in one mapping");
    b->key = mor_document_text(b->document, text, length, b->error);
    if (!b->key) return MOR_SYSTEM;
    const key_table* t = &b->keys[b->depth - 1];
    const mor_node* twin = t->size ? *slot_of(t, b->key) : NULL;
    b->key_line = line_of(mark);
    b->key_column = column_of(b, mark);
    if (twin)
        return mor_fail_at(b->error, MOR_BAD_INPUT, b->source->name, b->key_line, b->key_column,
                           "key '%.60s' is given twice; the first is in line %d", is_ours(b) ? b->key : "...",
                           twin->key_line);
    b->has_key = true;
    return MOR_OK;
}

static mor_code take_scalar(builder* b, const yaml_event_t* event)
{
    const char* text = (const char*)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (strlen(text) != length) return fail(b, event->start_mark, "a text may not contain a zero byte");
    if (event->data.scalar.tag) return fail(b, event->start_mark, "tags ('!...') are not used in scene files");
    bool in_map = b->depth > 0 && b->open[b->depth - 1]->kind == MOR_NODE_MAP;
    if (in_map && !b->has_key) return take_key(b, text, length, event->start_mark);
    mor_node* node = mor_node_create(b->document, MOR_NODE_SCALAR, b->source, line_of(event->start_mark),
                                     column_of(b, event->start_mark), b->error);
    if (!node) return b->error ? b->error->code : MOR_BAD_INPUT;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    node->text = mor_document_text(b->document, text, length, b->error);
    if (!node->text) return MOR_SYSTEM;
    mor_code code = place(b, node, event->start_mark);
    return code ? code : remember(b, event->data.scalar.anchor, node);
}

static mor_code open_collection(builder* b, const yaml_event_t* event, mor_node_kind kind, const yaml_char_t* name,
                                const yaml_char_t* tag)
{
    if (tag) return fail(b, event->start_mark, "tags ('!...') are not used in scene files");
    if (b->depth >= MOR_YAML_DEPTH) return fail(b, event->start_mark, "nested too deeply");
    mor_node* node = mor_node_create(b->document, kind, b->source, line_of(event->start_mark),
                                     column_of(b, event->start_mark), b->error);
    if (!node) return b->error ? b->error->code : MOR_BAD_INPUT;
    mor_code code = place(b, node, event->start_mark);
    if (code) return code;
    b->keys[b->depth] = (key_table){ 0 };
    b->open[b->depth++] = node;
    return remember(b, name, node);
}

static mor_code take(builder* b, const yaml_event_t* event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return b->root ? fail(b, event->start_mark, "a second document begins here; only one is allowed") : MOR_OK;
    case YAML_ALIAS_EVENT:
        return take_alias(b, event);
    case YAML_SCALAR_EVENT:
        return take_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return open_collection(b, event, MOR_NODE_LIST, event->data.sequence_start.anchor,
                               event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return open_collection(b, event, MOR_NODE_MAP, event->data.mapping_start.anchor, event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return MOR_OK;
    default:
        return MOR_OK;
    }
}

/* Line and column of a byte: the reader of bytes runs ahead of the scanner and has no mark. */
static yaml_mark_t mark_of_byte(const char* text, size_t length, size_t offset)
{
    yaml_mark_t mark = { 0 };
    for (size_t i = 0; i < offset && i < length; i++) {
        if (text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            mark.column++;
        }
    }
    return mark;
}

/* Does a line begin with a tab, after spaces perhaps? */
static bool has_tab(const char* text, size_t length, size_t line)
{
    size_t i = 0;
    for (; i < length && line > 0; i++) line -= text[i] == '\n';
    while (i < length && text[i] == ' ') i++;
    return i < length && text[i] == '\t';
}

static mor_code fail_syntax(builder* b, const yaml_parser_t* parser, const char* text, size_t length)
{
    if (parser->error == YAML_MEMORY_ERROR) return mor_fail(b->error, MOR_SYSTEM, "out of memory");
    yaml_mark_t mark =
        parser->error == YAML_READER_ERROR ? mark_of_byte(text, length, parser->problem_offset) : parser->problem_mark;
    if (has_tab(text, length, mark.line)) return fail(b, mark, "the line begins with a tab; indent with spaces");
    return mor_fail_at(b->error, MOR_BAD_INPUT, b->source->name, line_of(mark), column_of(b, mark), "%s%s%s",
                       parser->problem ? parser->problem : "not YAML", parser->context ? ", " : "",
                       parser->context ? parser->context : "");
}

mor_node* mor_yaml_parse(mor_document* document, const char* text, size_t length, const mor_source* source, int column,
                         mor_error* error)
{
    mor_error local;
    builder b = { .document = document, .source = source, .column = column, .error = error ? error : &local };
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    yaml_parser_set_input_string(&parser, (const unsigned char*)text, length);
    mor_code code = MOR_OK;
    for (bool done = false; !done && code == MOR_OK;) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            code = fail_syntax(&b, &parser, text, length);
            break;
        }
        code = take(&b, &event);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    if (code == MOR_OK && !b.root) {
        code = mor_fail_at(error, MOR_BAD_INPUT, source->name, 1, 1 + column, "%s",
                           column ? "there is no value"
                                  : "the file is empty; a scene begins with 'moreau: 1', a plan with "
                                    "'moreau-sweep: 1' or 'moreau-calibrate: 1'");
    }
    return code == MOR_OK ? b.root : NULL;
}
