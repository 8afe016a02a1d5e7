/* The public face of scenes: load, parse, ask, destroy. Everything a scene holds lives in one
 * arena, except geometries, which are counted. */
#include "io/scene/scene_def.h"

#include <string.h>

/* What the file is called, without directory and ending: the default name of a scene. */
static const char* stem(mor_document* document, const char* path, mor_error* error)
{
    const char* slash = strrchr(path, '/');
    const char* start = slash ? slash + 1 : path;
    const char* dot = strrchr(start, '.');
    return mor_document_text(document, start, dot && dot > start ? (size_t)(dot - start) : strlen(start), error);
}

/* Checks names and options of methods on a world without bodies. */
static mor_code check_methods(const mor_scene* scene, mor_error* error)
{
    if (!scene->method) return MOR_OK;
    mor_world_def def = mor_world_def_default();
    def.dimension = scene->dimension;
    def.step = scene->step;
    def.library = scene->library;
    mor_world* world = mor_world_create(&def, error);
    if (!world) return MOR_SYSTEM;
    mor_code code = mor_scene_set_methods(scene, world, error);
    mor_world_destroy(world);
    return code;
}

static mor_scene* create(const mor_library* library, mor_error* error)
{
    mor_arena* arena = mor_arena_create(NULL);
    mor_scene* scene = arena ? mor_arena_zero(arena, 1, sizeof *scene) : NULL;
    if (!scene) {
        mor_arena_destroy(arena);
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    scene->document.arena = arena;
    scene->library = library;
    scene->notes = "";
    return scene;
}

static const char* join(mor_scene* scene, const char* const* lines, mor_error* error)
{
    size_t length = 1;
    for (int i = 0; lines && lines[i]; i++) length += strlen(lines[i]) + 1;
    char* text = mor_scene_alloc(scene, length, 1, error);
    for (int i = 0; text && lines && lines[i]; i++) {
        strcat(text, lines[i]);
        strcat(text, "\n");
    }
    return text;
}

/* From the tree of the file to the scene. */
static mor_code finish(mor_scene* scene, mor_node* root, const char* path, const char* const* overrides,
                       mor_error* error)
{
    scene->file = mor_document_text(&scene->document, path, strlen(path), error);
    scene->overrides = join(scene, overrides, error);
    if (!scene->file || !scene->overrides) return MOR_SYSTEM;
    for (; overrides && *overrides; overrides++) {
        mor_code code = mor_document_override(&scene->document, root, *overrides, error);
        if (code) return code;
    }
    mor_code code = mor_scene_read(scene, root, error);
    if (!code) code = mor_scene_look_at_units(scene, root, error);
    return code ? code : check_methods(scene, error);
}

static mor_code fill(mor_scene* scene, const char* text, size_t length, const char* path, const char* const* overrides,
                     mor_error* error)
{
    scene->text = text;
    scene->name = stem(&scene->document, path, error);
    const mor_source* source = scene->name ? mor_source_create(&scene->document, path, error) : NULL;
    if (!source) return MOR_SYSTEM;
    mor_node* root = mor_document_load(&scene->document, text, length, source, error);
    return root ? finish(scene, root, path, overrides, error) : MOR_BAD_INPUT;
}

mor_scene* mor_scene_parse(const char* text, size_t length, const char* name, const char* const* overrides,
                           const mor_library* library, mor_error* error)
{
    mor_scene* scene = create(library, error);
    if (!scene) return NULL;
    const char* copy = mor_document_text(&scene->document, text, length, error);
    if (!copy || fill(scene, copy, length, name, overrides, error)) {
        mor_scene_destroy(scene);
        return NULL;
    }
    return scene;
}

struct mor_scene_template {
    mor_document document;
    const char *text, *path, *name;
    mor_node* root;
};

mor_scene_template* mor_scene_template_create(const char* text, size_t length, const char* path, mor_error* error)
{
    mor_arena* arena = mor_arena_create(NULL);
    mor_scene_template* t = arena ? mor_arena_zero(arena, 1, sizeof *t) : NULL;
    if (!t) {
        mor_arena_destroy(arena);
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    t->document.arena = arena;
    t->text = mor_document_text(&t->document, text, length, error);
    t->path = mor_document_text(&t->document, path, strlen(path), error);
    t->name = stem(&t->document, path, error);
    const mor_source* source = t->text && t->path && t->name ? mor_source_create(&t->document, path, error) : NULL;
    t->root = source ? mor_document_load(&t->document, t->text, length, source, error) : NULL;
    if (t->root) return t;
    mor_scene_template_destroy(t);
    return NULL;
}

void mor_scene_template_destroy(mor_scene_template* t)
{
    if (t) mor_arena_destroy(t->document.arena);
}

mor_scene* mor_scene_of_template(const mor_scene_template* t, const char* const* overrides, const mor_library* library,
                                 mor_error* error)
{
    mor_scene* scene = create(library, error);
    if (!scene) return NULL;
    scene->text = t->text, scene->name = t->name;
    mor_node* root = mor_node_copy(&scene->document, t->root, error);
    if (!root || finish(scene, root, t->path, overrides, error)) {
        mor_scene_destroy(scene);
        return NULL;
    }
    return scene;
}

mor_scene* mor_scene_load(const char* path, const char* const* overrides, const mor_library* library, mor_error* error)
{
    mor_scene* scene = create(library, error);
    if (!scene) return NULL;
    size_t length = 0;
    char found[4096];
    const char* text = NULL;
    if (mor_scene_locate(path, found, sizeof found, error) == MOR_OK)
        text = mor_read_file(&scene->document, found, &length, NULL, error);
    if (text && text[strspn(text, " \t\r\n")] == '<') {
        text = mor_scene_of_model(scene, found, text, error);
        length = text ? strlen(text) : 0;
    }
    if (!text || fill(scene, text, length, found, overrides, error)) {
        mor_scene_destroy(scene);
        return NULL;
    }
    return scene;
}

void mor_scene_destroy(mor_scene* scene)
{
    if (!scene) return;
    for (const mor_scene_geometry* g = scene->geometries; g; g = g->next) mor_geometry_release(g->geometry);
    for (int i = 0; i < scene->robot_count; i++) mor_robot_destroy(scene->robots[i].model);
    for (int i = 0; i < scene->mjcf_count; i++) mor_mjcf_destroy(scene->mjcfs[i].mjcf);
    mor_arena_destroy(scene->document.arena);
}

const char* mor_scene_name(const mor_scene* scene) { return scene->name; }
const char* mor_scene_text(const mor_scene* scene) { return scene->text; }
double mor_scene_end(const mor_scene* scene) { return scene->end; }
int mor_scene_record_every(const mor_scene* scene) { return scene->record.every; }
bool mor_scene_record_contacts(const mor_scene* scene) { return scene->record.contacts; }
const char* mor_scene_record_bus(const mor_scene* scene, int i)
{
    const mor_node* n = scene->record.bus ? mor_node_at(scene->record.bus, i) : NULL;
    return n ? n->text : NULL;
}

const char* mor_scene_notes(const mor_scene* scene) { return scene->notes; }

const char* mor_scene_decomposition(const mor_scene* scene, int i, mor_decomposition* report)
{
    const mor_scene_cut* cut = scene->cuts;
    for (; cut && i > 0; i--) cut = cut->next;
    if (cut && report) *report = cut->report;
    return cut && i == 0 ? cut->file : NULL;
}
