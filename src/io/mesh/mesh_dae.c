/* COLLADA .dae files: the polygons of every geometry instance, placed by its nodes.
 *
 * Read are library_geometries (mesh/source/float_array, vertices, triangles, polylist, polygons),
 * library_visual_scenes and library_nodes (node with matrix, translate, rotate, scale,
 * instance_geometry, instance_node), and the asset's unit and up_axis. A point x of an instance is
 *     u U T_1 T_2 ... T_k x
 * with the transformations T of the nodes from the root down in the order written, U the rotation of
 * the file's up axis to z (not with MOR_MESH_KEEP_AXES), u the length of its unit in metres. Each instance is one
 * piece. A file without any instance gives each geometry once. Lines are passed over; strips, fans, holes, splines,
 * lookat and skew are refused.
 *
 * Pass one (expat) stores numbers, primitives and nodes; pass two walks the nodes.
 *
 * Khronos (2008), COLLADA Digital Asset Schema Release 1.4.1. */
#include "io/mesh/mesh_dae.h"
#include "base/number.h"

#include "base/elementary.h"
#include "io/xml/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void* list_add(dae* d, list* l, size_t size)
{
    if (l->count == l->room) {
        int room = l->room ? 2 * l->room : 16;
        void* items = realloc(l->items, (size_t)room * size);
        if (!items) {
            d->code = mor_fail(d->file->error, MOR_SYSTEM, "%s: out of memory", d->file->path);
            XML_StopParser(d->parser, XML_FALSE);
            return NULL;
        }
        l->items = items;
        l->room = room;
    }
    void* item = (char*)l->items + (size_t)l->count++ * size;
    memset(item, 0, size);
    return item;
}

static void fail_here(dae* d, const char* what)
{
    if (d->code != MOR_OK) return;
    d->code = mor_fail_at(d->file->error, MOR_BAD_INPUT, d->file->path, (int)XML_GetCurrentLineNumber(d->parser),
                          (int)XML_GetCurrentColumnNumber(d->parser) + 1, "%s", what);
    XML_StopParser(d->parser, XML_FALSE);
}

static const char* attribute(const char** attributes, const char* name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

static void copy_id(char* to, const char* from)
{
    if (from && *from == '#') from++;
    snprintf(to, ID_SIZE, "%s", from ? from : "");
}

static int int_attribute(const char** attributes, const char* name, int otherwise)
{
    const char* text = attribute(attributes, name);
    if (!text) return otherwise;
    long v = strtol(text, NULL, 10);
    return v < 0 || v > 1000 ? otherwise : (int)v;
}

/* ------------------------------------------------------------------------- numbers in text */

/* All numbers of the collected text; *count < 0 when something else is there. Freed by the caller. */
static double* numbers(dae* d, int* count)
{
    int n = 0, room = 64;
    double* out = malloc((size_t)room * sizeof *out);
    char* s = d->text ? d->text : (char*)"";
    while (out) {
        s += strspn(s, " \t\r\n");
        if (!*s) break;
        char* end;
        double v = mor_strtod(s, &end);
        if (end == s || !isfinite(v) || (*end && !strchr(" \t\r\n", *end))) {
            *count = -1;
            return out;
        }
        s = end;
        if (n == room) {
            double* more = realloc(out, 2 * (size_t)room * sizeof *out);
            if (!more) free(out);
            out = more;
            room *= 2;
            if (!out) break;
        }
        out[n++] = v;
    }
    if (!out) d->code = mor_fail(d->file->error, MOR_SYSTEM, "%s: out of memory", d->file->path);
    *count = n;
    return out;
}

static int* append_ints(dae* d, int* to, int* to_count, const double* from, int count)
{
    int* all = realloc(to, ((size_t)*to_count + (size_t)count + 1) * sizeof *all);
    if (!all) {
        d->code = mor_fail(d->file->error, MOR_SYSTEM, "%s: out of memory", d->file->path);
        return to;
    }
    for (int i = 0; i < count; i++) {
        if (from[i] != floor(from[i]) || from[i] < 0 || from[i] > 1e8)
            fail_here(d, "an index or a number of corners must be a whole number, 0 or more");
        all[(*to_count)++] = d->code == MOR_OK ? (int)from[i] : 0;
    }
    return all;
}

/* ------------------------------------------------------------------------ pass one: the file */

static bool wanted(const char* name)
{
    static const char* const names[] = { "float_array", "p",     "vcount",  "matrix", "translate",
                                         "rotate",      "scale", "up_axis", NULL };
    for (int i = 0; names[i]; i++)
        if (is(name, names[i])) return true;
    return false;
}

static void begin_node(dae* d, const char** attributes, bool scene)
{
    node* n = list_add(d, &d->nodes, sizeof *n);
    if (!n) return;
    const char* name = attribute(attributes, "name");
    copy_id(n->id, attribute(attributes, "id"));
    snprintf(n->name, sizeof n->name, "%.63s", name ? name : n->id);
    n->parent = d->node_at;
    n->scene = scene;
    n->T = mor_dae_identity();
    d->node_at = d->nodes.count - 1;
}

static void begin_use(dae* d, int kind, const char** attributes)
{
    if (d->node_at < 0) return;
    use* u = list_add(d, &d->uses, sizeof *u);
    if (!u) return;
    u->node = d->node_at;
    u->kind = kind;
    u->line = (int)XML_GetCurrentLineNumber(d->parser);
    copy_id(u->target, attribute(attributes, "url"));
}

static void begin_primitive(dae* d, const char** attributes, bool polygons)
{
    primitive* p = list_add(d, &d->primitives, sizeof *p);
    if (!p) return;
    p->geometry = d->geometries.count - 1;
    p->line = (int)XML_GetCurrentLineNumber(d->parser);
    p->offset = -1;
    p->polygons = polygons;
    copy_id(p->material, attribute(attributes, "material"));
    d->in_primitive = true;
}

static void read_input(dae* d, const char** attributes)
{
    const char* semantic = attribute(attributes, "semantic");
    if (!semantic) return;
    if (d->in_vertices && is(semantic, "POSITION")) {
        copy_id(LAST(alias, d->aliases)->positions, attribute(attributes, "source"));
    } else if (d->in_primitive) {
        primitive* p = LAST(primitive, d->primitives);
        int offset = int_attribute(attributes, "offset", 0);
        if (offset + 1 > p->stride) p->stride = offset + 1;
        if (is(semantic, "TEXCOORD") && !p->spots[0]) {
            p->spot_offset = offset;
            copy_id(p->spots, attribute(attributes, "source"));
        }
        if (!is(semantic, "VERTEX")) return;
        p->offset = offset;
        copy_id(p->vertices, attribute(attributes, "source"));
    }
}

static void XMLCALL on_start(void* user, const char* name, const char** attributes)
{
    dae* d = user;
    if (++d->depth > 4 * DEPTH_MAX) {
        fail_here(d, "elements are nested too deeply");
        return;
    }
    d->collect = wanted(name);
    d->text_length = 0;
    if (d->text) d->text[0] = '\0';
    if (is(name, "unit")) {
        const char* meter = attribute(attributes, "meter");
        char* end = NULL;
        double v = meter ? mor_strtod(meter, &end) : 1.0;
        if (!isfinite(v) || v <= 0.0 || (end && *end)) fail_here(d, "the unit's length in metres must be positive");
        else d->unit = v;
    } else if (is(name, "geometry")) {
        geometry* g = list_add(d, &d->geometries, sizeof *g);
        if (!g) return;
        const char* title = attribute(attributes, "name");
        copy_id(g->id, attribute(attributes, "id"));
        snprintf(g->name, sizeof g->name, "%.63s", title ? title : g->id);
        g->line = (int)XML_GetCurrentLineNumber(d->parser);
    } else if (is(name, "source")) {
        source* s = list_add(d, &d->sources, sizeof *s);
        if (!s) return;
        copy_id(s->id, attribute(attributes, "id"));
        s->stride = 3;
        d->in_source = true;
    } else if (is(name, "accessor") && d->in_source) {
        LAST(source, d->sources)->stride = int_attribute(attributes, "stride", 1);
        LAST(source, d->sources)->offset = int_attribute(attributes, "offset", 0);
    } else if (is(name, "vertices")) {
        alias* a = list_add(d, &d->aliases, sizeof *a);
        if (!a) return;
        copy_id(a->id, attribute(attributes, "id"));
        d->in_vertices = true;
    } else if (is(name, "triangles") || is(name, "polylist") || is(name, "polygons")) {
        if (d->geometries.count == 0) fail_here(d, "polygons outside of a geometry");
        else begin_primitive(d, attributes, is(name, "polygons"));
    } else if (is(name, "tristrips") || is(name, "trifans") || is(name, "ph") || is(name, "spline") ||
               is(name, "convex_mesh")) {
        fail_here(d, "strips, fans, polygons with holes and splines are not read; export triangles");
    } else if (is(name, "lookat") || is(name, "skew")) {
        fail_here(d, "the transformations lookat and skew are not read; export a matrix");
    } else if (is(name, "input")) {
        read_input(d, attributes);
    } else if (is(name, "visual_scene") || is(name, "node")) {
        begin_node(d, attributes, is(name, "visual_scene"));
    } else if (is(name, "instance_geometry")) {
        begin_use(d, USE_GEOMETRY, attributes);
    } else if (is(name, "instance_node")) {
        begin_use(d, USE_NODE, attributes);
    } else if (is(name, "instance_visual_scene")) {
        copy_id(d->scene, attribute(attributes, "url"));
    }
}

static void XMLCALL on_text(void* user, const char* text, int length)
{
    dae* d = user;
    if (!d->collect) return;
    if (d->text_length + (size_t)length + 1 > d->text_room) {
        size_t room = 2 * (d->text_length + (size_t)length + 1);
        char* more = realloc(d->text, room);
        if (!more) {
            d->code = mor_fail(d->file->error, MOR_SYSTEM, "%s: out of memory", d->file->path);
            XML_StopParser(d->parser, XML_FALSE);
            return;
        }
        d->text = more;
        d->text_room = room;
    }
    memcpy(d->text + d->text_length, text, (size_t)length);
    d->text_length += (size_t)length;
    d->text[d->text_length] = '\0';
}

static void end_transform(dae* d, const char* name, const double* v, int n)
{
    if (d->node_at < 0) return;
    transform T = mor_dae_identity();
    if (is(name, "matrix") && n == 16) {
        for (int i = 0; i < 12; i++) T.m[i / 4][i % 4] = v[i];
        if (v[12] != 0 || v[13] != 0 || v[14] != 0 || v[15] != 1)
            fail_here(d, "the last row of a matrix must be 0 0 0 1");
    } else if (is(name, "translate") && n == 3) {
        for (int i = 0; i < 3; i++) T.m[i][3] = v[i];
    } else if (is(name, "scale") && n == 3) {
        for (int i = 0; i < 3; i++) T.m[i][i] = v[i];
    } else if (is(name, "rotate") && n == 4) {
        mor_vec3 axis = mor_normalize(mor_v3(v[0], v[1], v[2]), mor_v3(0, 0, 0));
        mor_mat3 R = mor_quat_matrix(mor_quat_axis_angle(axis, v[3] * mor_acos(-1.0) / 180.0));
        for (int i = 0; i < 9; i++) T.m[i / 3][i % 3] = R.m[i / 3][i % 3];
    } else {
        fail_here(d, "wrong number of values: matrix takes 16, translate and scale 3, rotate 4");
    }
    node* at = AT(node, d->nodes, d->node_at);
    at->T = mor_dae_times(&at->T, &T);
}

static void end_numbers(dae* d, const char* name)
{
    int n = 0;
    double* v = numbers(d, &n);
    if (v && n < 0) {
        fail_here(d, "this list holds something that is not a finite number");
    } else if (v && is(name, "float_array")) {
        if (d->in_source && !LAST(source, d->sources)->values) {
            LAST(source, d->sources)->values = v;
            LAST(source, d->sources)->count = n;
            v = NULL;
        }
    } else if (v && is(name, "p")) {
        if (d->in_primitive) {
            primitive* p = LAST(primitive, d->primitives);
            double size = p->stride > 0 ? n / p->stride : 0;
            p->indices = append_ints(d, p->indices, &p->index_count, v, n);
            if (p->stride == 0 || n % p->stride != 0)
                fail_here(d, "the number of indices is not a multiple of the number of inputs");
            if (p->polygons) p->sizes = append_ints(d, p->sizes, &p->size_count, &size, 1);
        }
    } else if (v && is(name, "vcount")) {
        if (d->in_primitive) {
            primitive* p = LAST(primitive, d->primitives);
            p->sizes = append_ints(d, p->sizes, &p->size_count, v, n);
        }
    } else if (v) {
        end_transform(d, name, v, n);
    }
    free(v);
}

static void XMLCALL on_end(void* user, const char* name)
{
    dae* d = user;
    d->depth--;
    if (d->code != MOR_OK) return;
    if (d->collect && is(name, "up_axis")) {
        const char* s = d->text ? d->text + strspn(d->text, " \t\r\n") : "";
        if (strncmp(s, "X_UP", 4) == 0) d->up = 0;
        else if (strncmp(s, "Z_UP", 4) == 0) d->up = 2;
        else if (strncmp(s, "Y_UP", 4) == 0) d->up = 1;
        else fail_here(d, "up_axis must be X_UP, Y_UP or Z_UP");
    } else if (d->collect && wanted(name)) {
        end_numbers(d, name);
    }
    d->collect = false;
    if (is(name, "source")) d->in_source = false;
    if (is(name, "vertices")) d->in_vertices = false;
    if (is(name, "triangles") || is(name, "polylist") || is(name, "polygons")) d->in_primitive = false;
    if ((is(name, "node") || is(name, "visual_scene")) && d->node_at >= 0)
        d->node_at = AT(node, d->nodes, d->node_at)->parent;
}

mor_code mor_mesh_read_dae(mor_mesh_file* file)
{
    dae d = { .file = file, .unit = 1.0, .up = 1, .node_at = -1 };
    d.parser = XML_ParserCreate(NULL);
    if (!d.parser) return mor_fail(file->error, MOR_SYSTEM, "%s: out of memory", file->path);
    XML_SetUserData(d.parser, &d);
    XML_SetElementHandler(d.parser, on_start, on_end);
    XML_SetCharacterDataHandler(d.parser, on_text);
    if (XML_Parse(d.parser, file->text, (int)file->size, 1) != XML_STATUS_OK && d.code == MOR_OK)
        d.code = mor_xml_broken(d.parser, file->path, file->error);
    if (d.code == MOR_OK) mor_dae_emit(&d);
    XML_ParserFree(d.parser);
    for (int i = 0; i < d.sources.count; i++) free(AT(source, d.sources, i)->values);
    for (int i = 0; i < d.primitives.count; i++) {
        free(AT(primitive, d.primitives, i)->indices);
        free(AT(primitive, d.primitives, i)->sizes);
    }
    free(d.sources.items);
    free(d.aliases.items);
    free(d.primitives.items);
    free(d.geometries.items);
    free(d.nodes.items);
    free(d.uses.items);
    free(d.text);
    return d.code;
}
