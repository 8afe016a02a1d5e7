/* <attach>: another MJCF model as a part of this one.
 *
 * An attached model is a <frame> with its body (or all it has), names and references with a prefix; its classes hang
 * below a class of their own, its assets and sections join those here. What its compiler says must agree with what the
 * one here says, but for the folders of its files. Its options and keyframes are not taken.
 *
 * Reference: MuJoCo documentation, XML reference (body/attach, asset/model). */
#include "io/mjcf/mjcf_copies.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What both compilers must say alike, and what they say when they are silent. */
static mor_code same_compilers(mor_mjcf_copier* c, const mor_xml* at, const mor_xml* other)
{
    static const char* const words[][2] = {
        { "angle", "degree" },         { "autolimits", "true" }, { "eulerseq", "xyz" },
        { "inertiafromgeom", "auto" }, { "boundmass", "0" },     { "boundinertia", "0" },
        { "balanceinertia", "false" }, { "settotalmass", "-1" }, { "exactmeshinertia", "false" },
        { "inertiagrouprange", "0 5" }
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char* said[2] = { words[i][1], words[i][1] };
        for (int k = 0; k < 2; k++)
            for (const mor_xml* e = mor_xml_child(k ? other : c->root, "compiler"); e; e = mor_xml_sibling(e))
                if (mor_xml_get(e, words[i][0])) said[k] = mor_xml_get(e, words[i][0]);
        if (strcmp(said[0], said[1]) != 0)
            return mor_xml_fail(at, c->m->error, "the attached model has %s=\"%.40s\" and this one %s=\"%.40s\"",
                                words[i][0], said[1], words[i][0], said[0]);
    }
    return MOR_OK;
}

/* The path from the root folder. */
static const char* whole_path(mor_mjcf* m, const char* path)
{
    char folder[4096], whole[8400];
    if (path[0] == '/' || !getcwd(folder, sizeof folder)) return path;
    snprintf(whole, sizeof whole, "%s/%.4200s", folder, path);
    return mor_xml_copy(m->arena, whole, strlen(whole));
}

/* Files of assets by their whole path. */
static mor_code place_files(mor_mjcf_copier* c, const mor_xml* other, mor_xml* asset)
{
    for (mor_xml* e = asset->first; e; e = e->next) {
        const char *dir = "", *key = strcmp(e->name, "texture") == 0 ? "texturedir" : "meshdir";
        for (const mor_xml* k = mor_xml_child(other, "compiler"); k; k = mor_xml_sibling(k)) {
            if (mor_xml_get(k, "assetdir")) dir = mor_xml_get(k, "assetdir");
            if (mor_xml_get(k, key)) dir = mor_xml_get(k, key);
        }
        for (const char** a = e->attributes; *a; a += 2) {
            char full[4200];
            if (strcmp(a[0], "file") != 0 || a[1][0] == '/') continue;
            snprintf(full, sizeof full, "%s%s%s", dir, *dir && dir[strlen(dir) - 1] != '/' ? "/" : "", a[1]);
            const char* path = mor_xml_path(c->m->arena, other->file, full);
            path = path ? whole_path(c->m, path) : NULL;
            if (!path) return mor_mjcf_too_many(c, e);
            if (!mor_xml_get(e, "name") && !mor_mjcf_remember(c, e->name, mor_mjcf_stem(c->m, a[1])))
                return mor_mjcf_too_many(c, e);
            a[1] = path;
        }
    }
    return MOR_OK;
}

/* An asset without a name has that of its file: with the prefix it needs one. */
static mor_xml* named(mor_mjcf_copier* c, const mor_xml* e)
{
    const char* file = mor_xml_get(e, "file");
    mor_xml* to = mor_arena_zero(c->m->arena, 1, sizeof *to);
    int n = 0;
    while (e->attributes && e->attributes[n]) n++;
    if (!to) return NULL;
    *to = *e;
    if (mor_xml_get(e, "name") || !file) return to;
    to->attributes = mor_arena_zero(c->m->arena, (size_t)n + 3, sizeof *to->attributes);
    if (!to->attributes) return NULL;
    memcpy(to->attributes, e->attributes, (size_t)n * sizeof *to->attributes);
    to->attributes[n] = "name";
    to->attributes[n + 1] = mor_mjcf_stem(c->m, file);
    return to->attributes[n + 1] ? to : NULL;
}

/* A copy of an element with the class of the attached model if it has none. */
static mor_xml* classed(mor_mjcf_copier* c, const mor_xml* e, const char* class)
{
    mor_xml* to = mor_mjcf_copy(c, e, NULL);
    if (!to || mor_xml_get(e, "class")) return to;
    int n = 0;
    while (to->attributes[n]) n++;
    const char** attributes = mor_arena_zero(c->m->arena, (size_t)n + 3, sizeof *attributes);
    if (!attributes) return NULL;
    memcpy(attributes, to->attributes, (size_t)n * sizeof *attributes);
    attributes[n] = "class";
    attributes[n + 1] = class;
    to->attributes = attributes;
    return to;
}

/* Default classes of the attached model as one below ours. */
static mor_code take_defaults(mor_mjcf_copier* c, const mor_xml* at, const mor_xml* other, const char* class)
{
    for (const mor_xml* d = mor_xml_child(c->root, "default"); d; d = mor_xml_sibling(d))
        for (const mor_xml* k = d->first; k; k = k->next)
            if (strcmp(k->name, "default") != 0)
                return mor_xml_fail(at, c->m->error,
                                    "defaults outside of a class would act on the attached model; give them one");
    mor_xml *top = mor_mjcf_element(c, at, "default", c->root, 0),
            *own = top ? mor_mjcf_element(c, at, "default", top, 1) : NULL;
    if (!own || !mor_mjcf_set(c, own, 0, "class", class)) return mor_mjcf_too_many(c, at);
    mor_mjcf_append(c->root, top);
    mor_mjcf_append(top, own);
    for (const mor_xml* d = mor_xml_child(other, "default"); d; d = mor_xml_sibling(d))
        for (const mor_xml* k = d->first; k; k = k->next) {
            mor_xml* inside = mor_mjcf_copy(c, k, own);
            if (!inside) return mor_mjcf_too_many(c, at);
            mor_mjcf_append(own, inside);
        }
    return MOR_OK;
}

static const mor_xml* body_called(const mor_xml* e, const char* name)
{
    for (const mor_xml* k = e->first; k; k = k->next) {
        const char* own = mor_xml_get(k, "name");
        if (strcmp(k->name, "body") == 0 && own && strcmp(own, name) == 0) return k;
        const mor_xml* inside = body_called(k, name);
        if (inside) return inside;
    }
    return NULL;
}

/* Sections of the attached model: what speaks only of what was attached. */
static mor_code take_sections(mor_mjcf_copier* c, const mor_xml* at, const mor_xml* other, const char* class)
{
    for (const mor_xml* list = other->first; list; list = list->next) {
        bool asset = strcmp(list->name, "asset") == 0, section = false;
        for (int s = 0; mor_mjcf_sections[s]; s++) section = section || strcmp(list->name, mor_mjcf_sections[s]) == 0;
        if (strcmp(list->name, "keyframe") == 0)
            mor_mjcf_note(c->m, list, "attached keys", "keyframes of attached models are not taken");
        if (!asset && !section) continue;
        mor_xml* to = mor_mjcf_element(c, at, list->name, c->root, 0);
        if (!to) return mor_mjcf_too_many(c, at);
        mor_mjcf_append(c->root, to);
        for (const mor_xml* k = list->first; k; k = k->next) {
            bool plain = asset && (strcmp(k->name, "texture") == 0 || strcmp(k->name, "hfield") == 0);
            bool rule = strcmp(list->name, "sensor") == 0 || strcmp(k->name, "exclude") == 0;
            if (section && !mor_mjcf_speaks(c, k, true)) continue;
            if (section && !mor_mjcf_remember(c, list->name, mor_xml_get(k, "name"))) return mor_mjcf_too_many(c, at);
            const mor_xml* from = asset ? named(c, k) : k;
            mor_xml* inside = !from ? NULL : plain || rule ? mor_mjcf_copy(c, from, to) : classed(c, from, class);
            if (!inside) return mor_mjcf_too_many(c, at);
            mor_mjcf_append(to, inside);
        }
        mor_code code = asset ? place_files(c, other, to) : MOR_OK;
        if (code) return code;
    }
    return MOR_OK;
}

mor_code mor_mjcf_attach(mor_mjcf_copier* c, mor_xml* parent, mor_xml* before, mor_xml* e, mor_xml** last)
{
    mor_mjcf* m = c->m;
    const char *model = mor_xml_get(e, "model"), *body = mor_xml_get(e, "body"), *prefix = mor_xml_get(e, "prefix");
    mor_code code = mor_mjcf_check(m, e, "model body prefix", NULL, NULL);
    if (code) return code;
    if (!model || !prefix || !*prefix) return mor_xml_fail(e, m->error, "<attach> needs a model and a prefix");
    const mor_xml *asset = NULL, *inside = NULL;
    for (const mor_xml* a = mor_xml_child(c->root, "asset"); a; a = mor_xml_sibling(a))
        for (const mor_xml* k = mor_xml_child(a, "model"); k; k = mor_xml_sibling(k)) {
            const char *name = mor_xml_get(k, "name"), *file = mor_xml_get(k, "file");
            if (!name && file && !(name = mor_mjcf_stem(m, file)))
                return mor_fail(m->error, MOR_SYSTEM, "out of memory");
            if (name && strcmp(name, model) == 0) asset = k;
        }
    const char* file = asset ? mor_xml_get(asset, "file") : NULL;
    if (!file) return mor_xml_fail(e, m->error, "there is no model '%.60s' with a file in the assets", model);
    const char* path = mor_xml_path(m->arena, m->path, file);
    if (!path) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    mor_xml* other = NULL;
    if ((code = mor_mjcf_open(m, asset, path, c->depth + 1, &other))) return code;
    if ((code = same_compilers(c, e, other))) return code;
    char text[300];
    snprintf(text, sizeof text, "%.200smain", prefix);
    const char* class = mor_xml_copy(m->arena, text, strlen(text));
    mor_xml* frame = class ? mor_mjcf_element(c, e, "frame", parent, 1) : NULL;
    if (!frame || !mor_mjcf_set(c, frame, 0, "childclass", class)) return mor_mjcf_too_many(c, e);
    c->names.count = 0;
    c->prefix = prefix;
    c->suffix = "";
    for (const mor_xml* w = mor_xml_child(other, "worldbody"); w; w = mor_xml_sibling(w)) {
        const mor_xml* only = body ? body_called(w, body) : NULL;
        for (const mor_xml* k = body ? only : w->first; k; k = body ? NULL : k->next) {
            mor_xml* part = mor_mjcf_remember_all(c, k, NULL) ? mor_mjcf_copy(c, k, frame) : NULL;
            if (!part) return mor_mjcf_too_many(c, e);
            mor_mjcf_append(frame, part);
            inside = part;
        }
    }
    if (body && !inside) return mor_xml_fail(e, m->error, "the model '%.60s' has no body '%.60s'", model, body);
    mor_mjcf_replace(parent, before, e, frame, frame);
    *last = frame;
    if ((code = take_defaults(c, e, other, class))) return code;
    return take_sections(c, e, other, class);
}
