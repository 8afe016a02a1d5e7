/* Files and `include`: reads what a scene includes and merges it.
 *
 * merge(included, including): a mapping in both is merged key by key, except a method that the
 * including file names anew; the lists of bodies, pairs, joints, robots, controllers, forces and
 * ignored pairs are the included entries followed by the including file's own; every other value is
 * the including file's. Later entries of an `include` list win over earlier ones. A file that
 * includes itself, directly or through others, is recognised by device and inode, so different
 * spellings of a path do not hide it. */
#include "io/scene/scene_document.h"
#include "io/scene/scene_fields.h"
#include "io/text/text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_CHAIN = 16 };
static const size_t max_file = (size_t)64 << 20;

/* The files being read, innermost first. */
typedef struct chain {
    const struct chain* outer;
    const char* name;
    bool known;
    dev_t device;
    ino_t inode;
    int depth;
} chain;

char* mor_read_file(mor_document* document, const char* path, size_t* length, const mor_node* asked, mor_error* error)
{
    char *text, *kept = NULL;
    mor_error why = { 0 };
    mor_code code = mor_text_read(path, max_file, &text, length, &why);
    if (!code && !(kept = mor_arena_alloc(document->arena, *length + 1)))
        code = mor_fail(&why, MOR_SYSTEM, "%.300s: out of memory", path);
    if (kept) memcpy(kept, text, *length + 1);
    free(text);
    size_t named = strlen(path) + 2; /* "path: ", which this sentence says in its own way */
    const char* reason =
        strlen(why.text) > named && strncmp(why.text, path, named - 2) == 0 ? why.text + named : why.text;
    if (code && asked) mor_node_fail(asked, error, "cannot read '%.300s': %s", path, reason);
    else if (code) mor_fail(error, code, "%.300s: cannot read this file: %s", path, reason);
    if (code && error) error->code = code;
    return kept;
}

const mor_source* mor_source_create(mor_document* document, const char* path, mor_error* error)
{
    const char* slash = strrchr(path, '/');
    mor_source* source = mor_arena_alloc(document->arena, sizeof *source);
    char* name = mor_document_text(document, path, strlen(path), error);
    char* directory = mor_document_text(document, path, slash ? (size_t)(slash - path) + 1 : 0, error);
    if (!source || !name || !directory) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    *source = (mor_source){ name, directory };
    return source;
}

const char* mor_path_from(mor_document* document, const mor_node* node, const char* path, mor_error* error)
{
    const char* directory = path[0] == '/' ? "" : node->source->directory;
    size_t n = strlen(directory), m = strlen(path);
    char* full = mor_arena_alloc(document->arena, n + m + 1);
    if (!full) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    memcpy(full, directory, n);
    memcpy(full + n, path, m + 1);
    return full;
}

static bool is_joined_list(const char* key)
{
    static const char* const keys[] = { "bodies",      "pairs",  "joints",       "robots",
                                        "controllers", "forces", "ignore_pairs", NULL };
    for (const char* const* k = keys; *k; k++)
        if (strcmp(*k, key) == 0) return true;
    return false;
}

/* Puts the entries of `front` before those of `list`. */
static void join_lists(mor_node* front, mor_node* list)
{
    if (!front->first) return;
    front->last->next = list->first;
    list->first = front->first;
    if (!list->last) list->last = front->last;
    list->count += front->count;
}

/* Merges the mapping `included` into `including`; bounded by the depth of the trees. */
static void merge(mor_node* included, mor_node* including, bool top)
{
    for (mor_node *n = included->first, *next; n; n = next) {
        next = n->next;
        mor_node* own = mor_node_get(including, n->key);
        if (!own) {
            mor_node_append(including, n);
        } else if (top && is_joined_list(n->key)) {
            if (n->kind == MOR_NODE_LIST && own->kind == MOR_NODE_LIST) join_lists(n, own);
            else if (own->kind == MOR_NODE_LIST) mor_node_replace(including, own, n); /* wrong: let it be seen */
        } else if (n->kind == MOR_NODE_MAP && own->kind == MOR_NODE_MAP && !mor_node_get(own, "name")) {
            merge(n, own, false);
        }
    }
}

static mor_node* load(mor_document* document, const char* text, size_t length, const mor_source* source,
                      const chain* link, mor_error* error);

static mor_code check_chain(const chain* link, const mor_node* asked, mor_error* error)
{
    const chain* twin = link->outer;
    while (twin && !(link->known && twin->known && twin->device == link->device && twin->inode == link->inode))
        twin = twin->outer;
    if (twin) {
        /* outermost first: a includes b includes a */
        const chain* order[MAX_CHAIN + 2];
        int n = 0;
        for (const chain* c = link; c && n < MAX_CHAIN + 2; c = c->outer) {
            order[n++] = c;
            if (c == twin) break;
        }
        char list[700] = "";
        size_t used = 0;
        while (n-- > 0) {
            int w = snprintf(list + used, sizeof list - used, "%s%s", used ? " includes " : "", order[n]->name);
            if (w > 0 && used + (size_t)w < sizeof list) used += (size_t)w;
        }
        return mor_node_fail(asked, error, "files include each other: %s", list);
    }
    if (link->depth > MAX_CHAIN) return mor_node_fail(asked, error, "files include files more than %d deep", MAX_CHAIN);
    return MOR_OK;
}

static chain link_to(const char* path, const char* name, const chain* outer)
{
    struct stat info;
    chain link = { .outer = outer, .name = name, .depth = outer ? outer->depth + 1 : 0 };
    if (stat(path, &info) == 0) {
        link.known = true;
        link.device = info.st_dev;
        link.inode = info.st_ino;
    }
    return link;
}

static mor_node* load_included(mor_document* document, const mor_node* asked, const chain* outer, mor_error* error)
{
    if (asked->kind != MOR_NODE_SCALAR || !*asked->text) {
        mor_node_fail(asked, error, "include must be a list of file names");
        return NULL;
    }
    const char* name = mor_path_from(document, asked, asked->text, error);
    if (!name) return NULL;
    const chain link = link_to(name, name, outer);
    if (check_chain(&link, asked, error)) return NULL;
    size_t length;
    const mor_source* source = mor_source_create(document, name, error);
    char* text = source ? mor_read_file(document, name, &length, asked, error) : NULL;
    return text ? load(document, text, length, source, &link, error) : NULL;
}

static mor_code check_version(const mor_node* root, bool required, mor_error* error)
{
    const mor_node* version = mor_node_get(root, "moreau");
    if (!version)
        return required ? mor_node_fail(root, error, "the scene has no 'moreau'; begin the file with 'moreau: 1'")
                        : MOR_OK;
    char text[80];
    if (version->kind != MOR_NODE_SCALAR || strcmp(version->text, "1") != 0)
        return mor_node_fail(version, error, "scene version %s is unknown; this program reads 'moreau: 1'",
                             mor_node_describe(version, text));
    return MOR_OK;
}

/* An included file may leave `moreau: 1` out. Its first key then says whether it is a part of a scene (one that is
 * nearly a scene's is a slip): messages do not quote other files, whose texts may be nobody's business. */
static mor_code check_part(const mor_node* root, mor_error* error)
{
    if (!root->first || mor_node_get(root, "moreau")) return MOR_OK;
    const char* names[64];
    int n = 0;
    for (const mor_key* k = mor_keys_scene.keys; k->name && n < 63; k++) {
        if (strcmp(k->name, root->first->key) == 0) return MOR_OK;
        names[n++] = k->name;
    }
    names[n] = NULL;
    if (mor_did_you_mean(root->first->key, names)) return MOR_OK;
    return mor_node_fail(root, error,
                         "an included file is a part of a scene, and the first key of this one is none of a scene's; "
                         "begin it with 'moreau: 1'");
}

static void remove_key(mor_node* map, const char* key)
{
    mor_node* last = NULL;
    for (mor_node** at = &map->first; *at;) {
        if (strcmp((*at)->key, key) == 0) {
            *at = (*at)->next;
            map->count--;
        } else {
            last = *at;
            at = &(*at)->next;
        }
    }
    map->last = last;
}

static mor_node* load(mor_document* document, const char* text, size_t length, const mor_source* source,
                      const chain* link, mor_error* error)
{
    mor_node* root = mor_yaml_parse(document, text, length, source, 0, error);
    if (!root) return NULL;
    bool nothing = root->kind == MOR_NODE_SCALAR && !*root->text;
    if (root->kind != MOR_NODE_MAP) {
        mor_node_fail(root, error, "a scene must be a mapping that begins with 'moreau: 1', not %s",
                      nothing                       ? "an empty file"
                      : root->kind == MOR_NODE_LIST ? "a list"
                                                    : "a text");
        return NULL;
    }
    if (check_version(root, link->outer == NULL, error) || check_part(root, error)) return NULL;
    const mor_node* include = mor_node_get(root, "include");
    if (!include) return root;

    if (include->kind == MOR_NODE_MAP) {
        mor_node_fail(include, error, "include must be a list of file names, not a mapping");
        return NULL;
    }
    mor_node* all = NULL;
    for (const mor_node* n = include->kind == MOR_NODE_LIST ? include->first : include; n; n = n->next) {
        mor_node* one = load_included(document, n, link, error);
        if (!one) return NULL;
        if (all) merge(all, one, true);
        all = one;
        if (include->kind == MOR_NODE_SCALAR) break;
    }
    remove_key(root, "include");
    if (all) merge(all, root, true);
    return root;
}

mor_node* mor_document_load(mor_document* document, const char* text, size_t length, const mor_source* source,
                            mor_error* error)
{
    const chain link = link_to(source->name, source->name, NULL);
    return load(document, text, length, source, &link, error);
}
