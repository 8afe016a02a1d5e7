/* A merged document to a scene: the top of the file, materials, pairs, forces, ignored pairs.
 * Shapes, bodies and their copies are in scene_shape.c, scene_body.c and scene_place.c. Names are
 * found by bisection in a sorted list, so reading costs O(n log n) for n bodies. */
#include "base/elementary.h"
#include "io/scene/scene_def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void* mor_scene_alloc(mor_scene* scene, size_t count, size_t size, mor_error* error)
{
    void* block = mor_arena_zero(scene->document.arena, count, size);
    if (!block) mor_fail(error, MOR_SYSTEM, "out of memory");
    return block;
}

mor_code mor_scene_note(mor_scene* scene, const char* line, mor_error* error)
{
    size_t n = strlen(scene->notes), m = strlen(line);
    char* notes = mor_scene_alloc(scene, n + m + 2, 1, error);
    if (!notes) return MOR_SYSTEM;
    memcpy(notes, scene->notes, n);
    memcpy(notes + n, line, m);
    if (m == 0 || line[m - 1] != '\n') notes[n + m] = '\n';
    scene->notes = notes;
    return MOR_OK;
}

int mor_scene_material(const mor_scene* scene, const mor_node* node, const char* name, mor_error* error)
{
    const char* names[130];
    int n = 0;
    for (int i = 1; i < scene->material_count; i++) {
        if (strcmp(scene->materials[i].name, name) == 0) return scene->material_named[i] = true, i;
        if (n < 128) names[n++] = scene->materials[i].name;
    }
    if (strcmp(name, "default") == 0) return 0;
    names[n] = NULL;
    const char* near = mor_did_you_mean(name, names);
    if (near) mor_node_fail(node, error, "unknown material '%.60s'; did you mean '%s'?", name, near);
    else mor_node_fail(node, error, "unknown material '%.60s'; describe it under 'materials'", name);
    return -1;
}

/* Two bodies of the world at hand are compared by name, then by index: a total order. */
typedef struct named {
    const char* name;
    int index;
} named;

static int compare_names(const void* a, const void* b)
{
    const named *p = a, *q = b;
    int order = strcmp(p->name, q->name);
    return order ? order : (p->index > q->index) - (p->index < q->index);
}

static mor_code sort_names(mor_scene* scene, mor_error* error)
{
    size_t n = (size_t)scene->item_count;
    named* all = mor_scene_alloc(scene, n + 1, sizeof *all, error);
    scene->by_name = mor_scene_alloc(scene, n + 1, sizeof *scene->by_name, error);
    if (!all || !scene->by_name) return MOR_SYSTEM;
    for (size_t i = 0; i < n; i++) all[i] = (named){ scene->items[i].name, (int)i };
    qsort(all, n, sizeof *all, compare_names);
    for (size_t i = 0; i < n; i++) {
        scene->by_name[i] = all[i].index;
        if (i == 0 || strcmp(all[i].name, all[i - 1].name) != 0) continue;
        const mor_node* first = scene->bodies[scene->items[all[i - 1].index].body].node;
        const mor_node* second = scene->bodies[scene->items[all[i].index].body].node;
        const mor_node* at = mor_node_get(second, "name");
        return mor_node_fail(at ? at : second, error,
                             "a body called '%s' is there already, at %.200s:%d; names must differ", all[i].name,
                             first->source->name, first->line);
    }
    return MOR_OK;
}

int mor_scene_find(const mor_scene* scene, const mor_node* node, const char* name, mor_error* error)
{
    int low = 0, high = scene->item_count;
    while (low < high) {
        int middle = (low + high) / 2;
        int order = strcmp(scene->items[scene->by_name[middle]].name, name);
        if (order == 0) return scene->by_name[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    const char* names[257];
    int n = 0;
    for (; n < 256 && n < scene->item_count; n++) names[n] = scene->items[n].name;
    names[n] = NULL;
    const char* near = mor_did_you_mean(name, names);
    if (near) mor_node_fail(node, error, "unknown body '%.60s'; did you mean '%s'?", name, near);
    else mor_node_fail(node, error, "unknown body '%.60s'", name);
    return -1;
}

static mor_code read_pair(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_pair raw;
    mor_code code = mor_keys_read(&mor_keys_pair, node, scene->dimension, &raw, error);
    if (code) return code;
    if (raw.materials->kind != MOR_NODE_LIST || raw.materials->count != 2)
        return mor_node_fail(raw.materials, error, "materials must be a list of two names");
    mor_scene_pair* pair = &scene->pairs[scene->pair_count++];
    for (int i = 0; i < 2; i++) {
        const char* name;
        const mor_node* n = mor_node_at(raw.materials, i);
        if ((code = mor_read_text(n, "material", &name, error))) return code;
        pair->material[i] = mor_scene_material(scene, n, name, error);
        if (pair->material[i] < 0) return MOR_BAD_INPUT;
    }
    const mor_material *a = &scene->materials[pair->material[0]], *b = &scene->materials[pair->material[1]];
    pair->friction = isnan(raw.friction) ? sqrt(a->friction * b->friction) : raw.friction;
    pair->rolling = isnan(raw.rolling) ? mor_max(a->rolling, b->rolling) : raw.rolling;
    pair->drilling = isnan(raw.drilling) ? mor_max(a->drilling, b->drilling) : raw.drilling;
    pair->restitution = isnan(raw.restitution) ? mor_max(a->restitution, b->restitution) : raw.restitution;
    return MOR_OK;
}

static mor_code read_impact(const mor_node* material, const char* name, int* law, mor_error* error)
{
    enum { MOST = 32 };
    const char* names[MOST + 1] = { 0 };
    for (int i = 0; i < MOST && mor_impact_law_at(i); i++) names[i] = mor_impact_law_name(mor_impact_law_at(i));
    *law = mor_impact_law_index(name);
    if (*law >= 0) return MOR_OK;
    const char* near = mor_did_you_mean(name, names);
    const mor_node* node = mor_node_get(material, "impact");
    if (near) return mor_node_fail(node, error, "unknown impact law '%.60s'; did you mean '%s'?", name, near);
    return mor_node_fail(node, error, "unknown impact law '%.60s'; `moreau list impacts` lists them", name);
}

mor_code mor_scene_read_materials(mor_scene* scene, const mor_raw_scene* raw, mor_error* error)
{
    mor_code code = MOR_OK;
    if (raw->materials && (code = mor_read_map(raw->materials, "materials", error))) return code;
    if (raw->pairs && (code = mor_read_list(raw->pairs, "pairs", error))) return code;
    size_t count = 1 + (size_t)(raw->materials ? raw->materials->count : 0) +
                   (size_t)(raw->bodies && raw->bodies->kind == MOR_NODE_LIST ? raw->bodies->count : 0);
    scene->materials = mor_scene_alloc(scene, count, sizeof *scene->materials, error);
    scene->material_named = mor_scene_alloc(scene, count, sizeof *scene->material_named, error);
    scene->pairs = mor_scene_alloc(scene, raw->pairs ? (size_t)raw->pairs->count + 1 : 1, sizeof *scene->pairs, error);
    if (!scene->materials || !scene->material_named || !scene->pairs) return MOR_SYSTEM;
    scene->materials[scene->material_count++] = mor_material_default();
    for (const mor_node* n = raw->materials ? raw->materials->first : NULL; n; n = n->next) {
        mor_raw_material m;
        mor_material* material = &scene->materials[scene->material_count];
        if (strlen(n->key) >= sizeof material->name || !*n->key)
            return mor_node_fail_key(n, error, "the name of a material has 1 to %d bytes",
                                     (int)sizeof material->name - 1);
        if ((code = mor_keys_read(&mor_keys_material, n, scene->dimension, &m, error))) return code;
        *material = (mor_material){ .friction = m.friction,
                                    .restitution = m.restitution,
                                    .density = m.density,
                                    .rolling = m.rolling,
                                    .drilling = m.drilling,
                                    .tangential = m.tangential };
        if (m.impact && (code = read_impact(n, m.impact, &material->impact, error))) return code;
        snprintf(material->name, sizeof material->name, "%s", n->key);
        if (strcmp(n->key, "default") == 0) scene->default_material = scene->material_count;
        scene->material_count++;
    }
    for (const mor_node* n = raw->pairs ? raw->pairs->first : NULL; n; n = n->next)
        if ((code = read_pair(scene, n, error))) return code;
    return MOR_OK;
}

/* --set makes a material that is not there. One that nothing has is a slip of the pen. */
static mor_code check_set_materials(const mor_scene* scene, const mor_node* materials, mor_error* error)
{
    const char* names[130];
    int count = 0, i = 1;
    for (const mor_node* n = materials->first; n && count < 128; n = n->next)
        if (strncmp(n->source->name, "--set ", 6) != 0) names[count++] = n->key;
    names[count] = NULL;
    for (const mor_node* n = materials->first; n; n = n->next, i++) {
        if (strncmp(n->source->name, "--set ", 6) != 0 || scene->material_named[i] || i == scene->default_material)
            continue;
        const char* near = mor_did_you_mean(n->key, names);
        if (near)
            return mor_node_fail_key(n, error, "nothing has the material '%.60s'; did you mean '%s'?", n->key, near);
        return mor_node_fail_key(n, error, "nothing has the material '%.60s'", n->key);
    }
    return MOR_OK;
}

static mor_code read_force(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_force raw;
    mor_code code = mor_keys_read(&mor_keys_force, node, scene->dimension, &raw, error);
    if (code) return code;
    int robot = -1, frame = -1, item = -1;
    if (raw.robot) {
        if (raw.body) return mor_node_fail(node, error, "a force acts on a body or on a link of a robot, not on both");
        for (int i = 0; i < scene->robot_count; i++)
            if (strcmp(scene->robots[i].def.name, raw.robot) == 0) robot = i;
        if (robot < 0) return mor_node_fail(mor_node_get(node, "robot"), error, "there is no robot '%.60s'", raw.robot);
        if (scene->maximal)
            return mor_node_fail(mor_node_get(node, "robot"), error, "forces on links need 'coordinates: minimal'");
        if (!raw.link) return mor_node_fail(node, error, "force on a robot has no 'link'; add it");
        frame = mor_scene_frame_number(scene->robots[robot].model, mor_node_get(node, "link"), raw.link, error);
        if (frame < 0) return MOR_BAD_INPUT;
    } else if (!raw.body) {
        return mor_node_fail(node, error, "force has no 'body'; add it");
    }
    const mor_node* at = mor_node_get(node, "body");
    if (robot < 0 && (item = mor_scene_find(scene, at, raw.body, error)) < 0) return MOR_BAD_INPUT;
    if (item >= 0 && scene->bodies[scene->items[item].body].def.kind != MOR_DYNAMIC)
        return mor_node_fail(at, error, "body '%s' is not dynamic: a force would do nothing", raw.body);
    if (!(raw.until > raw.from))
        return mor_node_fail(mor_node_get(node, "until"), error, "until must be later than from, which is %g",
                             raw.from);
    scene->forces[scene->force_count++] = (mor_scene_force){ .item = item,
                                                             .robot = robot,
                                                             .frame = frame,
                                                             .has_point = mor_node_get(node, "at") != NULL,
                                                             .body_frame = raw.frame == 1,
                                                             .force = raw.force,
                                                             .torque = raw.torque,
                                                             .point = raw.at,
                                                             .from = raw.from,
                                                             .until = raw.until };
    return MOR_OK;
}

static mor_code read_ignored(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_code code;
    if (node->kind != MOR_NODE_LIST || node->count != 2)
        return mor_node_fail(node, error, "an ignored pair is a list of two names of bodies");
    int* pair = scene->ignored[scene->ignored_count++];
    for (int i = 0; i < 2; i++) {
        const char* name;
        const mor_node* n = mor_node_at(node, i);
        if ((code = mor_read_text(n, "body", &name, error))) return code;
        if ((pair[i] = mor_scene_find(scene, n, name, error)) < 0) return MOR_BAD_INPUT;
    }
    if (pair[0] == pair[1]) return mor_node_fail(node, error, "a body does not touch itself; give two different names");
    return MOR_OK;
}

static mor_code read_forces(mor_scene* scene, const mor_raw_scene* raw, mor_error* error)
{
    mor_code code = MOR_OK;
    if (raw->forces && (code = mor_read_list(raw->forces, "forces", error))) return code;
    if (raw->ignore_pairs && (code = mor_read_list(raw->ignore_pairs, "ignore_pairs", error))) return code;
    scene->forces =
        mor_scene_alloc(scene, raw->forces ? (size_t)raw->forces->count + 1 : 1, sizeof *scene->forces, error);
    scene->ignored = mor_scene_alloc(scene, raw->ignore_pairs ? (size_t)raw->ignore_pairs->count + 1 : 1,
                                     sizeof *scene->ignored, error);
    if (!scene->forces || !scene->ignored) return MOR_SYSTEM;
    for (const mor_node* n = raw->forces ? raw->forces->first : NULL; n && code == MOR_OK; n = n->next)
        code = read_force(scene, n, error);
    for (const mor_node* n = raw->ignore_pairs ? raw->ignore_pairs->first : NULL; n && code == MOR_OK; n = n->next)
        code = read_ignored(scene, n, error);
    return code;
}

static mor_code read_method(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_method raw;
    mor_code code = mor_keys_read(&mor_keys_method, node, scene->dimension, &raw, error);
    if (code == MOR_OK && raw.coordinates) {
        const char* word;
        if ((code = mor_read_text(raw.coordinates, "coordinates", &word, error))) return code;
        scene->maximal = strcmp(word, "maximal") == 0;
        scene->articulate = strcmp(word, "minimal") == 0;
        if (!scene->maximal && strcmp(word, "minimal") != 0)
            return mor_node_fail(raw.coordinates, error, "coordinates are minimal or maximal, not '%.60s'", word);
    }
    scene->method = node;
    if (code == MOR_OK && raw.control_step &&
        (code = mor_read_number(raw.control_step, "control_step", &scene->control_step, error)) == MOR_OK &&
        !(scene->control_step > 0.0))
        return mor_node_fail(raw.control_step, error,
                             "control_step %.40s is not positive; give a number in s or leave it out",
                             raw.control_step->text);
    return code;
}

/* A number of `time` within its range; an absent one keeps what it is. */
static mor_code read_seconds(const mor_node* node, const char* key, double least, double greatest, double* value,
                             mor_error* error)
{
    if (!node) return MOR_OK;
    mor_code code = mor_read_number(node, key, value, error);
    if (code || (*value >= least && *value <= greatest)) return code;
    return mor_node_fail(node, error, "%s %.40s is out of range; give a number from %g to %g", key, node->text, least,
                         greatest);
}

static mor_code read_adaptive(mor_scene* scene, const mor_raw_time* raw, mor_error* error)
{
    mor_adaptive* a = &scene->adaptive;
    *a = mor_adaptive_default();
    mor_code code = read_seconds(raw->tolerance, "tolerance", 1e-12, 1.0, &a->tolerance, error);
    if (!code) code = read_seconds(raw->max, "max", 1e-9, 1e3, &a->max, error);
    if (raw->max && !raw->min) a->min = mor_min(a->min, a->max);
    if (!code) code = read_seconds(raw->min, "min", 1e-12, 1e3, &a->min, error);
    if (!code && a->min > a->max) return mor_node_fail(raw->min, error, "min %g s is above max %g s", a->min, a->max);
    scene->is_adaptive = true;
    scene->step = a->max;
    return code;
}

static mor_code read_time(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_time raw = { .end = 1.0 };
    scene->step = 0.01;
    if (node) {
        mor_code code = mor_keys_read(&mor_keys_time, node, scene->dimension, &raw, error);
        if (code) return code;
        bool word = raw.step && raw.step->kind == MOR_NODE_SCALAR && strcmp(raw.step->text, "adaptive") == 0;
        const mor_node* extra = raw.tolerance ? raw.tolerance : raw.min ? raw.min : raw.max;
        if (!word && extra) return mor_node_fail(extra, error, "tolerance, min and max go with `step: adaptive` only");
        code =
            word ? read_adaptive(scene, &raw, error) : read_seconds(raw.step, "step", 1e-9, 1e3, &scene->step, error);
        if (code) return code;
        if (raw.end / scene->step > 1e9)
            return mor_node_fail(node, error, "%g s in steps of %g s are more than 1e9 steps", raw.end, scene->step);
    }
    scene->end = raw.end;
    return MOR_OK;
}

/* The dimension decides how everything else is read. */
static mor_code read_dimension(mor_scene* scene, const mor_node* root, mor_error* error)
{
    const mor_node* node = mor_node_get(root, "dimension");
    scene->dimension = 3;
    if (!node) return MOR_OK;
    char text[80];
    bool scalar = node->kind == MOR_NODE_SCALAR && !node->quoted;
    if (!scalar || (strcmp(node->text, "2") != 0 && strcmp(node->text, "3") != 0))
        return mor_node_fail(node, error, "dimension must be 2 or 3, not %s", mor_node_describe(node, text));
    scene->dimension = node->text[0] - '0';
    return MOR_OK;
}

mor_code mor_scene_read(mor_scene* scene, const mor_node* root, mor_error* error)
{
    mor_raw_scene raw;
    mor_code code = read_dimension(scene, root, error);
    if (code) return code;
    if ((code = mor_keys_read(&mor_keys_scene, root, scene->dimension, &raw, error))) return code;
    if (raw.name) scene->name = raw.name;
    scene->ground = raw.ground;
    bool gravity = mor_node_get(root, "gravity") != NULL;
    scene->gravity = gravity ? raw.gravity : scene->dimension == 2 ? mor_v3(0, -9.81, 0) : mor_v3(0, 0, -9.81);
    if (raw.seed != floor(raw.seed))
        return mor_node_fail(mor_node_get(root, "seed"), error, "seed %.40s is not a whole number",
                             mor_node_get(root, "seed")->text);
    scene->rng.state = (uint64_t)raw.seed;
    if ((code = read_time(scene, raw.time, error))) return code;
    if (raw.method && (code = read_method(scene, raw.method, error))) return code;
    scene->record = (mor_raw_record){ 1, true, true, NULL };
    if (raw.record && (code = mor_keys_read(&mor_keys_record, raw.record, scene->dimension, &scene->record, error)))
        return code;
    if ((code = mor_scene_read_materials(scene, &raw, error))) return code;
    if (raw.bodies && (code = mor_scene_read_bodies(scene, raw.bodies, error))) return code;
    if ((code = sort_names(scene, error))) return code;
    if (raw.robots && (code = mor_scene_read_robots(scene, raw.robots, error))) return code;
    if (raw.joints && (code = mor_scene_read_joints(scene, raw.joints, error))) return code;
    if (raw.controllers && (code = mor_scene_read_controllers(scene, raw.controllers, error))) return code;
    if (raw.materials && (code = check_set_materials(scene, raw.materials, error))) return code;
    return read_forces(scene, &raw, error);
}
