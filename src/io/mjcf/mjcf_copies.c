/* <replicate> and <attach>: parts of an MJCF file that are written once and stand there several times.
 *
 * Both work on the elements, before they are read (<attach>: mjcf_attach.c). A replica is a <frame> with a copy of what
 * the element holds; frame i is that of i-1 moved by `offset` and turned by `euler`, names get the separator and the
 * number i as suffix. Contact rules, equalities, tendons, actuators and sensors that speak of a copied name are copied
 * too.
 *
 * Reference: MuJoCo documentation, XML reference (body/replicate). */
#include "io/mjcf/mjcf_copies.h"

#include <stdio.h>
#include <string.h>

enum { COPIES_MAX = 10000, ELEMENTS_MAX = 2000000, DEPTH_MAX = 16 };

const char* const mor_mjcf_sections[] = { "contact", "equality", "tendon", "actuator", "sensor", NULL };

/* Attributes that name something, and what they name. */
static const struct {
    const char *attribute, *kind;
} references[] = {
    { "joint", "joint" },       { "joint1", "joint" },  { "joint2", "joint" },    { "jointinparent", "joint" },
    { "body", "body" },         { "body1", "body" },    { "body2", "body" },      { "geom", "geom" },
    { "geom1", "geom" },        { "geom2", "geom" },    { "site", "site" },       { "site1", "site" },
    { "site2", "site" },        { "sidesite", "site" }, { "slidersite", "site" }, { "cranksite", "site" },
    { "refsite", "site" },      { "tendon", "tendon" }, { "tendon1", "tendon" },  { "tendon2", "tendon" },
    { "actuator", "actuator" }, { "target", "body" },   { "mesh", "mesh" },       { "material", "material" },
    { "texture", "texture" },   { "hfield", "hfield" }, { "class", "class" },     { "childclass", "class" }
};

/* ------------------------------------------------------------------------------------- names */

/* The kind of name an element has. */
static const char* kind_of(const mor_xml* e, const char* section)
{
    static const char* const same[] = { "body", "geom", "site", "mesh", "material", "texture", "hfield", NULL };
    for (int i = 0; same[i]; i++)
        if (strcmp(e->name, same[i]) == 0) return same[i];
    if (section) return section; /* tendon, actuator, sensor, ... */
    if (strcmp(e->name, "joint") == 0 || strcmp(e->name, "freejoint") == 0) return "joint";
    return e->name;
}

static bool known(const mor_mjcf_names* l, const char* kind, const char* name)
{
    for (int i = 0; i < l->count; i += 2)
        if (strcmp(l->names[i], kind) == 0 && strcmp(l->names[i + 1], name) == 0) return true;
    return false;
}

bool mor_mjcf_remember(mor_mjcf_copier* c, const char* kind, const char* name)
{
    mor_mjcf_names* l = &c->names;
    if (!name || known(l, kind, name)) return true;
    if (l->count + 2 > l->room) {
        int room = l->room ? 2 * l->room : 64;
        const char** more = mor_arena_zero(c->m->arena, (size_t)room, sizeof *more);
        if (!more) return false;
        if (l->count) memcpy(more, l->names, (size_t)l->count * sizeof *more);
        l->names = more;
        l->room = room;
    }
    l->names[l->count++] = kind;
    l->names[l->count++] = name;
    return true;
}

bool mor_mjcf_remember_all(mor_mjcf_copier* c, const mor_xml* e, const char* section)
{
    if (!mor_mjcf_remember(c, kind_of(e, section), mor_xml_get(e, "name"))) return false;
    for (const mor_xml* k = e->first; k; k = k->next)
        if (!mor_mjcf_remember_all(c, k, section ? "" : NULL)) return false;
    return true;
}

/* What an attribute of an element names, or NULL. */
static const char* referred(const mor_xml* e, const char* attribute)
{
    for (size_t i = 0; i < sizeof references / sizeof *references; i++)
        if (strcmp(attribute, references[i].attribute) == 0) return references[i].kind;
    const char* type = strcmp(attribute, "objname") == 0   ? mor_xml_get(e, "objtype")
                       : strcmp(attribute, "refname") == 0 ? mor_xml_get(e, "reftype")
                                                           : NULL;
    return type && strcmp(type, "xbody") == 0 ? "body" : type;
}

/* Whether an element or one inside speaks of a name of the list; `all`: of none that is not there. */
bool mor_mjcf_speaks(const mor_mjcf_copier* c, const mor_xml* e, bool all)
{
    bool any = all;
    for (const char** a = e->attributes; a && *a; a += 2) {
        const char* kind = referred(e, a[0]);
        if (!kind || strcmp(kind, "class") == 0 || strcmp(kind, "material") == 0) continue;
        if (strcmp(kind, "body") == 0 && strcmp(a[1], "world") == 0) continue;
        bool there = known(&c->names, kind, a[1]);
        any = all ? any && there : any || there;
    }
    for (const mor_xml* k = e->first; k; k = k->next)
        any = all ? any && mor_mjcf_speaks(c, k, all) : any || mor_mjcf_speaks(c, k, all);
    return any;
}

/* ------------------------------------------------------------------------------------ copies */

static const char* renamed(const mor_mjcf_copier* c, const char* name)
{
    char text[600];
    snprintf(text, sizeof text, "%.250s%.300s%.40s", c->prefix, name, c->suffix);
    return mor_xml_copy(c->m->arena, text, strlen(text));
}

/* A deep copy with new names. NULL: out of memory, or too many elements. */
mor_xml* mor_mjcf_copy(mor_mjcf_copier* c, const mor_xml* e, mor_xml* parent)
{
    if (++c->elements > ELEMENTS_MAX) return NULL;
    mor_xml* to = mor_arena_zero(c->m->arena, 1, sizeof *to);
    int n = 0;
    while (e->attributes && e->attributes[n]) n++;
    const char** attributes = mor_arena_zero(c->m->arena, (size_t)n + 1, sizeof *attributes);
    if (!to || !attributes) return NULL;
    *to = *e;
    to->attributes = attributes;
    to->parent = parent;
    to->first = to->last = to->next = NULL;
    for (int i = 0; i < n; i += 2) {
        const char* kind = strcmp(e->attributes[i], "name") == 0 ? "name" : referred(e, e->attributes[i]);
        bool own = kind && strcmp(kind, "name") == 0;
        bool change = own || (kind && (*c->prefix ? strcmp(e->attributes[i + 1], "world") != 0
                                                  : known(&c->names, kind, e->attributes[i + 1])));
        attributes[i] = e->attributes[i];
        attributes[i + 1] = change ? renamed(c, e->attributes[i + 1]) : e->attributes[i + 1];
        if (!attributes[i + 1]) return NULL;
    }
    for (const mor_xml* k = e->first; k; k = k->next) {
        mor_xml* inside = mor_mjcf_copy(c, k, to);
        if (!inside) return NULL;
        if (to->last) to->last->next = inside;
        else to->first = inside;
        to->last = inside;
    }
    return to;
}

mor_code mor_mjcf_too_many(mor_mjcf_copier* c, const mor_xml* at)
{
    if (c->elements > ELEMENTS_MAX) return mor_xml_fail(at, c->m->error, "the copies have too many elements");
    return mor_fail(c->m->error, MOR_SYSTEM, "out of memory");
}

/* Puts `list` (linked by next, ending with `last`) in the place of e, which comes after `before`. */
void mor_mjcf_replace(mor_xml* parent, mor_xml* before, mor_xml* e, mor_xml* list, mor_xml* last)
{
    mor_xml* after = e->next;
    if (last) last->next = after;
    if (before) before->next = list ? list : after;
    else parent->first = list ? list : after;
    if (!after) parent->last = list ? last : before;
}

void mor_mjcf_append(mor_xml* parent, mor_xml* e)
{
    e->parent = parent;
    if (parent->last) parent->last->next = e;
    else parent->first = e;
    parent->last = e;
}

/* An empty element where `like` stands. */
mor_xml* mor_mjcf_element(mor_mjcf_copier* c, const mor_xml* like, const char* name, mor_xml* parent, int attributes)
{
    mor_xml* e = mor_arena_zero(c->m->arena, 1, sizeof *e);
    if (!e) return NULL;
    *e = (mor_xml){ .name = name, .file = like->file, .line = like->line, .column = like->column, .text = "" };
    e->parent = parent;
    e->attributes = mor_arena_zero(c->m->arena, 2 * (size_t)attributes + 1, sizeof *e->attributes);
    return e->attributes ? e : NULL;
}

bool mor_mjcf_set(mor_mjcf_copier* c, mor_xml* e, int k, const char* name, const char* value)
{
    e->attributes[2 * k] = name;
    return (e->attributes[2 * k + 1] = mor_xml_copy(c->m->arena, value, strlen(value))) != NULL;
}

/* --------------------------------------------------------------------------------- replicate */

/* Copies what speaks of the renamed, for all suffixes. */
static mor_code copy_speakers(mor_mjcf_copier* c, char (*suffixes)[24], int count)
{
    for (int s = 0; mor_mjcf_sections[s]; s++)
        for (mor_xml* list = c->root->first; list; list = list->next) {
            if (strcmp(list->name, mor_mjcf_sections[s]) != 0) continue;
            mor_xml* before = NULL;
            for (mor_xml* e = list->first; e; e = e->next) {
                if (!mor_mjcf_speaks(c, e, false)) {
                    before = e;
                    continue;
                }
                if (!mor_mjcf_remember(c, mor_mjcf_sections[s], mor_xml_get(e, "name"))) return mor_mjcf_too_many(c, e);
                mor_xml *first = NULL, *last = NULL;
                for (int i = 0; i < count; i++) {
                    c->suffix = suffixes[i];
                    mor_xml* replica = mor_mjcf_copy(c, e, list);
                    if (!replica) return mor_mjcf_too_many(c, e);
                    if (last) last->next = replica;
                    else first = replica;
                    last = replica;
                }
                mor_mjcf_replace(list, before, e, first, last);
                before = e = last;
            }
        }
    return MOR_OK;
}

static mor_code replicate(mor_mjcf_copier* c, mor_xml* parent, mor_xml* before, mor_xml* e, mor_xml** last)
{
    mor_mjcf* m = c->m;
    double count = 0.0, v[3];
    int n = 0;
    mor_pose step = mor_pose_identity(), at = step;
    mor_code code = mor_mjcf_check(m, e, "count sep offset euler childclass", NULL, NULL);
    if (!code) code = mor_mjcf_number(m, e, "count", &count);
    if (!code && !(code = mor_xml_numbers(e, "offset", 3, 3, v, &n, m->error)) && n)
        step.position = mor_v3(v[0], v[1], v[2]);
    if (!code && !(code = mor_xml_numbers(e, "euler", 3, 3, v, &n, m->error)) && n)
        step.rotation = mor_mjcf_euler(m, v);
    if (code) return code;
    if (!(count >= 1.0 && count <= COPIES_MAX && count == (double)(int)count))
        return mor_xml_fail(e, m->error, "the count of <replicate> is a whole number from 1 to %d", (int)COPIES_MAX);
    const char *sep = mor_xml_get(e, "sep"), *class = mor_xml_get(e, "childclass");
    int digits = snprintf(NULL, 0, "%d", (int)count);
    char(*suffixes)[24] = mor_arena_zero(m->arena, (size_t)count, sizeof *suffixes);
    if (!suffixes) return mor_mjcf_too_many(c, e);
    c->names.count = 0;
    c->prefix = "";
    for (const mor_xml* k = e->first; k; k = k->next)
        if (!mor_mjcf_remember_all(c, k, NULL)) return mor_mjcf_too_many(c, e);
    mor_xml *first = NULL, *end = NULL;
    for (int i = 0; i < (int)count; i++, at = mor_pose_mul(&at, &step)) {
        char text[200];
        mor_xml* frame = mor_mjcf_element(c, e, "frame", parent, 3);
        snprintf(suffixes[i], sizeof suffixes[i], "%.8s%0*d", sep ? sep : "", digits, i);
        c->suffix = suffixes[i];
        snprintf(text, sizeof text, "%.17g %.17g %.17g", at.position.x, at.position.y, at.position.z);
        bool ok = frame && mor_mjcf_set(c, frame, 0, "pos", text);
        snprintf(text, sizeof text, "%.17g %.17g %.17g %.17g", at.rotation.w, at.rotation.x, at.rotation.y,
                 at.rotation.z);
        ok =
            ok && mor_mjcf_set(c, frame, 1, "quat", text) && (!class || mor_mjcf_set(c, frame, 2, "childclass", class));
        for (const mor_xml* k = e->first; k && ok; k = k->next) {
            mor_xml* inside = mor_mjcf_copy(c, k, frame);
            if ((ok = inside)) mor_mjcf_append(frame, inside);
        }
        if (!ok) return mor_mjcf_too_many(c, e);
        if (end) end->next = frame;
        else first = frame;
        end = frame;
    }
    mor_mjcf_replace(parent, before, e, first, end);
    *last = end;
    return copy_speakers(c, suffixes, (int)count);
}

/* --------------------------------------------------------------------------------------- all */

static mor_code walk(mor_mjcf_copier* c, mor_xml* e)
{
    mor_xml* before = NULL;
    for (mor_xml* k = e->first; k; k = k->next) {
        mor_code code = walk(c, k);
        mor_xml* last = k;
        if (!code && strcmp(k->name, "replicate") == 0) code = replicate(c, e, before, k, &last);
        else if (!code && strcmp(k->name, "attach") == 0) code = mor_mjcf_attach(c, e, before, k, &last);
        if (code) return code;
        before = k = last;
    }
    return MOR_OK;
}

mor_code mor_mjcf_copy_parts(mor_mjcf* m, mor_xml* root, int depth)
{
    mor_mjcf_copier c = { .m = m, .root = root, .prefix = "", .suffix = "", .depth = depth };
    if (depth > DEPTH_MAX) return mor_xml_fail(root, m->error, "models are attached to each other in a circle");
    for (mor_xml* w = root->first; w; w = w->next)
        if (strcmp(w->name, "worldbody") == 0) {
            mor_code code = walk(&c, w);
            if (code) return code;
        }
    return MOR_OK;
}
