/* How the faces of a mesh file look: the .mtl files of Wavefront objects, the effects of COLLADA.
 *
 * .mtl: newmtl NAME, then Kd (diffuse colour), d or Tr (opacity, transparency), map_Kd (picture).
 * COLLADA: <triangles material="symbol">; <instance_material symbol target="#material">; <material> names an effect by
 * <instance_effect url>; its <diffuse> is a <color> or a <texture> whose sampler and surface name an <image>. A symbol
 * that is bound nowhere is looked for as the id of a material.
 * Files that are missing or damaged leave their materials unknown: nothing but colours depends on them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/mesh/mesh.h"
#include "io/text/text_file.h"
#include "io/xml/xml.h"

enum { DEPTH = 64 };

static const size_t MTL_MAX = (size_t)4 << 20; /* bytes */

/* ------------------------------------------------------------------------------------------- .mtl */

static mor_mesh_material* named(mor_mesh_file* file, const char* name, size_t length)
{
    for (int i = 0; i < file->material_count; i++)
        if (strncmp(file->materials[i].name, name, length) == 0 && file->materials[i].name[length] == '\0')
            return &file->materials[i];
    return NULL;
}

/* The rest of a line from a word on, without blanks at its end. */
static int rest_of(const mor_lines* lines, const char* from)
{
    const char* end = lines->line_end;
    while (end > from && strchr(" \t\r\v", end[-1])) end--;
    return (int)(end - from);
}

static void read_mtl(mor_mesh_file* file, const char* path)
{
    mor_mesh_file mtl = { .path = path };
    if (mor_text_read(path, MTL_MAX, &mtl.text, &mtl.size, NULL)) return;
    mor_mesh_material* m = NULL;
    mor_word key, word, last;
    for (mor_lines lines = mor_lines_of(&mtl); mor_lines_next(&lines);) {
        const char* at = lines.line_begin;
        if (!mor_lines_word(&lines, &at, &key) || *key.at == '#') continue;
        if (mor_word_is(&key, "newmtl")) {
            m = mor_lines_word(&lines, &at, &word) ? named(file, word.at, (size_t)word.length) : NULL;
            continue;
        }
        if (!m) continue;
        double x;
        bool opacity = mor_word_is(&key, "d");
        if (mor_word_is(&key, "Kd")) {
            m->known = true;
            for (int i = 0; i < 3 && mor_lines_word(&lines, &at, &word) && mor_word_number(&word, &x); i++)
                m->color[i] = x;
        } else if (opacity || mor_word_is(&key, "Tr")) {
            if (mor_lines_word(&lines, &at, &word) && mor_word_number(&word, &x)) m->color[3] = opacity ? x : 1.0 - x;
        } else if (mor_word_is(&key, "map_Kd")) { /* options, then the picture, which may have blanks in its name */
            const char* begin = at;
            for (last = (mor_word){ .at = NULL }; mor_lines_word(&lines, &at, &word);) {
                if (!last.at) begin = word.at;
                last = word;
            }
            if (!last.at) continue;
            if (*begin == '-') begin = last.at;
            snprintf(m->texture, sizeof m->texture, "%.*s", rest_of(&lines, begin), begin);
            m->known = true;
        }
    }
    free(mtl.text);
}

static void read_libraries(mor_mesh_file* file)
{
    const char* slash = strrchr(file->path, '/');
    int folder = slash ? (int)(slash - file->path) + 1 : 0;
    mor_word key, word;
    for (mor_lines lines = mor_lines_of(file); mor_lines_next(&lines);) {
        const char* at = lines.line_begin;
        if (!mor_lines_word(&lines, &at, &key) || !mor_word_is(&key, "mtllib")) continue;
        if (!mor_lines_word(&lines, &at, &word)) continue;
        char path[4200];
        snprintf(path, sizeof path, "%.*s%.*s", folder, file->path, rest_of(&lines, word.at), word.at);
        read_mtl(file, path);
    }
}

/* ---------------------------------------------------------------------------------------- COLLADA */

/* The first element of a name below e, with an attribute of that value (NULL: any). */
static const mor_xml* below(const mor_xml* e, const char* name, const char* key, const char* value, int depth)
{
    for (const mor_xml* c = e->first; c && depth < DEPTH; c = c->next) {
        const char* has = key ? mor_xml_get(c, key) : NULL;
        if (strcmp(c->name, name) == 0 && (!key || (has && strcmp(has, value) == 0))) return c;
        const mor_xml* found = below(c, name, key, value, depth + 1);
        if (found) return found;
    }
    return NULL;
}

static const char* without_mark(const char* url) { return url && *url == '#' ? url + 1 : url; }

/* The text of an element below e, without blanks around it. */
static bool text_below(const mor_xml* e, const char* name, char* out, size_t size)
{
    const mor_xml* c = e ? below(e, name, NULL, NULL, 0) : NULL;
    if (!c || !c->text) return false;
    const char* s = c->text + strspn(c->text, " \t\r\n");
    size_t n = strlen(s);
    while (n && strchr(" \t\r\n", s[n - 1])) n--;
    snprintf(out, size, "%.*s", (int)n, s);
    return n > 0 && n < size;
}

/* texture -> sampler -> surface -> image -> file; the steps between may be missing. */
static void find_picture(const mor_xml* root, const mor_xml* effect, const char* texture, mor_mesh_material* m)
{
    char name[256], next[256], file[512];
    snprintf(name, sizeof name, "%s", texture);
    for (int k = 0; k < 2; k++) {
        const mor_xml* param = below(effect, "newparam", "sid", name, 0);
        if (!param) break;
        if (!text_below(param, "source", next, sizeof next) && !text_below(param, "init_from", next, sizeof next))
            break;
        snprintf(name, sizeof name, "%s", next);
    }
    const mor_xml* image = below(root, "image", "id", name, 0);
    if (!text_below(image, "init_from", file, sizeof file)) return;
    const char* path = strncmp(file, "file://", 7) == 0 ? file + 7 : file;
    snprintf(m->texture, sizeof m->texture, "%s", path);
    m->known = true;
}

static void read_effect(const mor_xml* root, mor_mesh_material* m)
{
    const mor_xml* bound = below(root, "instance_material", "symbol", m->name, 0);
    const char* id = bound ? without_mark(mor_xml_get(bound, "target")) : m->name;
    const mor_xml* material = id ? below(root, "material", "id", id, 0) : NULL;
    const mor_xml* use = material ? mor_xml_child(material, "instance_effect") : NULL;
    const char* url = use ? without_mark(mor_xml_get(use, "url")) : NULL;
    const mor_xml* effect = url ? below(root, "effect", "id", url, 0) : NULL;
    const mor_xml* diffuse = effect ? below(effect, "diffuse", NULL, NULL, 0) : NULL;
    if (!diffuse) return;
    const mor_xml *color = mor_xml_child(diffuse, "color"), *texture = mor_xml_child(diffuse, "texture");
    double v[4] = { 0, 0, 0, 1 };
    if (color && color->text && !mor_xml_parse_numbers(color, "<color>", color->text, 3, 4, v, NULL, NULL)) {
        memcpy(m->color, v, sizeof v);
        if (!(m->color[3] > 0.0)) m->color[3] = 1.0; /* exporters write 0 there */
        m->known = true;
    } else if (texture && mor_xml_get(texture, "texture")) {
        find_picture(root, effect, mor_xml_get(texture, "texture"), m);
    }
}

void mor_mesh_read_materials(mor_mesh_file* file)
{
    const char* dot = strrchr(file->path, '.');
    if (!dot || file->material_count == 0) return;
    if (strcasecmp(dot, ".obj") == 0) read_libraries(file);
    if (strcasecmp(dot, ".dae") != 0) return;
    mor_arena* arena = mor_arena_create(NULL);
    const mor_xml* root = arena ? mor_xml_read(arena, file->path, NULL) : NULL;
    for (int i = 0; root && i < file->material_count; i++) read_effect(root, &file->materials[i]);
    mor_arena_destroy(arena);
}
