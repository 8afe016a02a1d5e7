/* `on: NAME` and `drop: true` of bodies and robots: set down until the lowest point touches. Bodies come in file order,
 * then robots, so that what is set on another body finds it in its place. */
#include "io/scene/scene_def.h"
#include "step/put_on.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The body to be set on, the null id for `drop: true`. */
static mor_code find_target(const mor_scene* scene, const mor_world* world, const mor_node* node, bool drop,
                            mor_body_id* on, mor_error* error)
{
    const mor_node* name = mor_node_get(node, "on");
    *on = (mor_body_id){ 0, 0 };
    if (name && drop) return mor_node_fail_key(name, error, "give either 'on' or 'drop', not both");
    if (!name) return MOR_OK;
    *on = mor_world_find_body(world, name->text);
    if (on->index1) return MOR_OK;
    /* a body that the scene has but the world not yet cannot be: bodies are all added first */
    return mor_scene_find(scene, name, name->text, error) < 0 ? MOR_BAD_INPUT : MOR_OK;
}

static bool is_asked(const mor_node* node, bool drop) { return drop || mor_node_get(node, "on"); }

static mor_code put(mor_world* world, const mor_node* node, const char* what, const mor_body_id* bodies, int count,
                    mor_body_id on, const bool* waiting, mor_error* error)
{
    mor_error inner = { 0 };
    mor_code code = mor_put_on(world, bodies, count, on, waiting, NULL, &inner);
    if (code == MOR_OK) return MOR_OK;
    const mor_node* key = mor_node_get(node, "on") ? mor_node_get(node, "on") : mor_node_get(node, "drop");
    return code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "%s", inner.text)
                              : mor_node_fail(key, error, "%s cannot be set down: %s", what, inner.text);
}

static mor_code rest_body(const mor_scene* scene, mor_world* world, int item, bool* waiting, mor_error* error)
{
    const mor_scene_body* body = &scene->bodies[scene->items[item].body];
    mor_body_id on, id = mor_world_body(world, item);
    char what[100];
    mor_code code = find_target(scene, world, body->node, body->drop, &on, error);
    if (code) return code;
    if (mor_body_get_kind(world, id) != MOR_DYNAMIC)
        return mor_node_fail(body->node, error, "'on' and 'drop' are for bodies that move freely");
    if (on.index1 == id.index1) return mor_node_fail(body->node, error, "a body cannot be set on itself");
    snprintf(what, sizeof what, "body '%s'", scene->items[item].name);
    code = put(world, body->node, what, &id, 1, on, waiting, error);
    waiting[item] = false;
    return code;
}

mor_code mor_scene_rest_bodies(const mor_scene* scene, mor_world* world, mor_error* error)
{
    mor_code code = MOR_OK;
    bool any = false, *waiting = calloc((size_t)scene->item_count + 1, sizeof *waiting); /* items are slots as yet */
    if (!waiting) return mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < scene->item_count; i++) {
        const mor_scene_body* body = &scene->bodies[scene->items[i].body];
        waiting[i] = is_asked(body->node, body->drop);
        any = any || waiting[i];
    }
    for (int i = 0; any && i < scene->item_count && code == MOR_OK; i++)
        if (waiting[i]) code = rest_body(scene, world, i, waiting, error);
    free(waiting);
    return code;
}

mor_code mor_scene_rest_robots(const mor_scene* scene, mor_world* world, mor_error* error)
{
    mor_code code = MOR_OK;
    for (int i = 0; i < scene->robot_count && code == MOR_OK; i++) {
        const mor_scene_robot* r = &scene->robots[i];
        mor_body_id on;
        char what[100];
        if (!is_asked(r->node, r->drop)) continue;
        if ((code = find_target(scene, world, r->node, r->drop, &on, error))) return code;
        int count = mor_robot_link_count(r->model), robot = mor_world_find_robot(world, r->def.name);
        mor_body_id* links = malloc(((size_t)count + 1) * sizeof *links);
        if (!links) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (int k = 0; k < count; k++) links[k] = mor_scene_link_body(world, robot, r, k);
        snprintf(what, sizeof what, "robot '%s'", r->def.name);
        code = put(world, r->node, what, links, count, on, NULL, error);
        free(links);
    }
    return code;
}
