/* A scene to a world, through the public functions of world.h; and the scene's forces during the
 * run. */
#include "io/scene/scene_def.h"
#include "step/steady.h"

#include <stdio.h>
#include <string.h>

/* The world's sentence at a position of the scene file. */
static mor_code at_value(const mor_node* node, const mor_error* inner, mor_error* error)
{
    if (inner->code != MOR_BAD_INPUT) return mor_fail(error, inner->code, "%s", inner->text);
    return mor_node_fail(node, error, "%s", inner->text);
}

enum { MAX_OPTIONS = 96 };

/* The options that the chosen method of a stage has: a list that ends with NULL. */
static void option_names(const mor_world* world, const char* stage, const char* names[MAX_OPTIONS])
{
    const mor_library* library = mor_world_library(world);
    const char* method = mor_world_method(world, stage);
    const mor_field* tables[2] = { NULL, NULL };
    if (strcmp(stage, "method") == 0) {
        tables[0] = mor_world_fields();
    } else if (strcmp(stage, "formulation") == 0) {
        tables[0] = mor_library_formulation(library, method)->fields;
    } else if (strcmp(stage, "collision") == 0) {
        tables[0] = mor_library_collision(library, method)->fields;
    } else if (strcmp(stage, "integrator") == 0) {
        tables[0] = mor_world_integrator_fields();
    } else if (strcmp(stage, "stabilisation") == 0) {
        tables[0] = mor_world_stabilisation_fields(method);
    } else {
        tables[0] = mor_world_solver_fields();
        tables[1] = mor_library_solver(library, method)->fields;
    }
    int n = 0;
    for (int t = 0; t < 2; t++)
        for (const mor_field* f = tables[t]; f && f->name && n < MAX_OPTIONS - 1; f++) names[n++] = f->name;
    names[n] = NULL;
}

static mor_code check_option(const mor_world* world, const char* stage, const mor_node* node, mor_error* error)
{
    const char* names[MAX_OPTIONS];
    char list[400] = "none";
    size_t used = 0;
    option_names(world, stage, names);
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], node->key) == 0) return MOR_OK;
        int w = snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", names[i]);
        if (w > 0 && used + (size_t)w < sizeof list) used += (size_t)w;
    }
    const char* method = mor_world_method(world, stage);
    const char* near = mor_did_you_mean(node->key, names);
    if (near)
        return mor_node_fail_key(node, error, "unknown option '%.60s' of %s '%s'; did you mean '%s'?", node->key, stage,
                                 method ? method : "", near);
    return mor_node_fail_key(node, error, "unknown option '%.60s' of %s '%s'; known: %s", node->key, stage,
                             method ? method : "", list);
}

static mor_code set_option(mor_world* world, const char* stage, const mor_node* node, mor_error* error)
{
    mor_error inner = { 0 };
    char text[80];
    mor_code code = check_option(world, stage, node, error);
    if (code) return code;
    if (node->kind != MOR_NODE_SCALAR || !*node->text)
        return mor_node_fail(node, error, "%s must be a single value, not %s", node->key,
                             mor_node_describe(node, text));
    if (mor_world_set_option(world, stage, node->key, node->text, &inner)) return at_value(node, &inner, error);
    return MOR_OK;
}

/* `solver: pgs` or `solver: { name: pgs, tol: 1e-9 }`; without a name the default method gets the
 * options. */
static mor_code set_stage(mor_world* world, const mor_node* node, mor_error* error)
{
    mor_error inner = { 0 };
    if (node->kind == MOR_NODE_LIST)
        return mor_node_fail(node, error, "%s must be a name or { name, options }", node->key);
    const mor_node* name = node->kind == MOR_NODE_MAP ? mor_node_get(node, "name") : node;
    const char* word;
    if (name) {
        mor_code code = mor_read_text(name, node->key, &word, error);
        if (code) return code;
        if (mor_world_set_method(world, node->key, word, &inner)) return at_value(name, &inner, error);
    }
    if (node->kind != MOR_NODE_MAP) return MOR_OK;
    for (const mor_node* n = node->first; n; n = n->next) {
        mor_code code = n == name ? MOR_OK : set_option(world, node->key, n, error);
        if (code) return code;
    }
    return MOR_OK;
}

/* `accuracy: { goal: 1e-8, limit: 1e-6 }`: the solver's tol, and the limit of the world. */
static mor_code set_accuracy(mor_world* world, const mor_node* node, mor_error* error)
{
    if (node->kind != MOR_NODE_MAP)
        return mor_node_fail(node, error, "accuracy must be { goal: ..., limit: ... } in m/s");
    for (const mor_node* n = node->first; n; n = n->next) {
        bool goal = strcmp(n->key, "goal") == 0;
        mor_error inner = { 0 };
        if (!goal && strcmp(n->key, "limit") != 0)
            return mor_node_fail(n, error, "accuracy has no '%s'; it has goal and limit", n->key);
        if (n->kind != MOR_NODE_SCALAR || !*n->text)
            return mor_node_fail(n, error, "%s must be a number of m/s", n->key);
        if (mor_world_set_option(world, goal ? "solver" : "method", goal ? "tol" : "limit", n->text, &inner))
            return at_value(n, &inner, error);
    }
    return MOR_OK;
}

/* Where the scene names no collision method: one that gives the formulation what it asks for. */
static mor_code set_fitting_collision(mor_world* world, mor_error* error)
{
    const mor_library* library = mor_world_library(world);
    const mor_formulation* f = mor_library_formulation(library, mor_world_method(world, "formulation"));
    const mor_collision* c = mor_library_collision(library, mor_world_method(world, "collision"));
    if (f->groups != 1 || c->planes) return MOR_OK;
    for (int i = 0; (c = mor_library_collision_at(library, i)); i++)
        if (c->planes) return mor_world_set_method(world, "collision", c->name, error);
    return MOR_OK;
}

mor_code mor_scene_set_methods(const mor_scene* scene, mor_world* world, mor_error* error)
{
    static const char* const stages[] = { "formulation", "solver", "collision", "stabilisation", "integrator", NULL };
    static const char* const options[] = {
        "relinearise", "rest",         "friction_directions", "friction_align", "sticking", "v_rest",
        "on_failure",  "max_failures", "gap_correction",      "recovery_speed", NULL
    };
    if (!scene->method) return MOR_OK;
    for (const char* const* s = stages; *s; s++) {
        const mor_node* node = mor_node_get(scene->method, *s);
        mor_code code = node ? set_stage(world, node, error) : MOR_OK;
        if (code) return code;
    }
    if (!mor_node_get(scene->method, "collision") && set_fitting_collision(world, error)) return error->code;
    const mor_node* accuracy = mor_node_get(scene->method, "accuracy");
    mor_code accurate = accuracy ? set_accuracy(world, accuracy, error) : MOR_OK;
    if (accurate) return accurate;
    for (const char* const* o = options; *o; o++) {
        const mor_node* node = mor_node_get(scene->method, *o);
        if (!node) continue;
        bool automatic = strcmp(*o, "v_rest") == 0 && node->kind == MOR_NODE_SCALAR && strcmp(node->text, "auto") == 0;
        mor_code code = automatic ? MOR_OK : set_option(world, "method", node, error);
        if (code) return code;
    }
    return MOR_OK;
}

/* Materials keep their order: the scene's i-th becomes the world's first_material + i. */
static mor_code add_materials(const mor_scene* scene, mor_world* world, int* index, mor_error* error)
{
    index[0] = 0;
    for (int i = 1; i < scene->material_count; i++) index[i] = mor_world_add_material(world, &scene->materials[i]);
    for (int i = 0; i < scene->pair_count; i++) {
        const mor_scene_pair* p = &scene->pairs[i];
        int a = index[p->material[0]], b = index[p->material[1]];
        mor_code code = mor_world_set_pair(world, a, b, p->friction, p->restitution, error);
        if (!code) code = mor_world_set_pair_turning(world, a, b, p->rolling, p->drilling, error);
        if (code) return code;
    }
    return MOR_OK;
}

static mor_code add_body(const mor_scene* scene, mor_world* world, const mor_scene_item* item, const int* material,
                         mor_body_shape* shapes, mor_error* error)
{
    const mor_scene_body* body = &scene->bodies[item->body];
    mor_body_def def = body->def;
    memcpy(def.name, item->name, sizeof def.name);
    def.pose = item->pose;
    def.material = material[def.material];
    for (int i = 0; i < def.shape_count; i++) {
        shapes[i] = body->def.shapes[i];
        if (shapes[i].material >= 0) shapes[i].material = material[shapes[i].material];
    }
    def.shapes = shapes;
    mor_error inner = { 0 };
    mor_body_id id = mor_world_add_body(world, &def, &inner);
    if (id.index1) return MOR_OK;
    return mor_node_pass(body->node, &inner, error);
}

static void on_user(void* scene, mor_world* world) { mor_scene_apply_forces(scene, world); }

/* Does no force of the scene depend on the state? */
static bool are_steady(const mor_scene* scene)
{
    for (int i = 0; i < scene->mjcf_count; i++)
        if (mor_mjcf_pushes(scene->mjcfs[i].mjcf)) return false;
    for (int i = 0; i < scene->force_count; i++)
        if (scene->forces[i].has_point || scene->forces[i].body_frame) return false;
    return true;
}

static mor_code populate(const mor_scene* scene, mor_world* world, mor_arena* scratch, mor_error* error)
{
    int most = 0;
    for (int i = 0; i < scene->body_count; i++)
        if (scene->bodies[i].def.shape_count > most) most = scene->bodies[i].def.shape_count;
    int* material = mor_arena_zero(scratch, (size_t)scene->material_count, sizeof *material);
    mor_body_shape* shapes = mor_arena_zero(scratch, (size_t)most + 1, sizeof *shapes);
    if (!material || !shapes) return mor_fail(error, MOR_SYSTEM, "out of memory");

    mor_code code = mor_scene_set_methods(scene, world, error);
    if (code == MOR_OK) code = add_materials(scene, world, material, error);
    for (int i = 0; i < scene->item_count && code == MOR_OK; i++)
        code = add_body(scene, world, &scene->items[i], material, shapes, error);
    if (code == MOR_OK) code = mor_scene_rest_bodies(scene, world, error);
    if (code == MOR_OK) code = mor_scene_add_robots(scene, world, material, error);
    if (code == MOR_OK) code = mor_scene_rest_robots(scene, world, error);
    if (code == MOR_OK) code = mor_scene_add_joints(scene, world, error);
    if (code == MOR_OK && scene->articulate && mor_world_articulate(world, error) < 0) code = MOR_BAD_INPUT;
    if (code == MOR_OK) code = mor_scene_add_controllers(scene, world, error);
    for (int i = 0; i < scene->ignored_count && code == MOR_OK; i++)
        if (mor_world_ignore_pair(world, mor_world_body(world, scene->ignored[i][0]),
                                  mor_world_body(world, scene->ignored[i][1])))
            code = mor_fail(error, MOR_SYSTEM, "out of memory");
    bool pushed = scene->force_count > 0;
    for (int i = 0; i < scene->mjcf_count; i++) pushed = pushed || mor_mjcf_pushes(scene->mjcfs[i].mjcf);
    if (code == MOR_OK && pushed) mor_world_on_user(world, on_user, (void*)scene);
    if (are_steady(scene)) mor_world_user_is_steady(world);
    return code;
}

mor_world* mor_scene_build(const mor_scene* scene, int threads, mor_error* error)
{
    mor_world_def def = mor_world_def_default();
    def.dimension = scene->dimension;
    def.gravity = scene->gravity;
    def.step = scene->step;
    def.threads = threads;
    def.library = scene->library;
    mor_world* world = mor_world_create(&def, error);
    mor_arena* scratch = world ? mor_arena_create(NULL) : NULL;
    if (world && !scratch) mor_fail(error, MOR_SYSTEM, "out of memory");
    if (world && scene->is_adaptive) mor_world_set_adaptive(world, &scene->adaptive, NULL);
    if (!scratch || populate(scene, world, scratch, error) || mor_world_check_methods(world, error)) {
        mor_world_destroy(world);
        world = NULL;
    }
    mor_arena_destroy(scratch);
    return world;
}

/* The body of an item: at its place in the order unless bodies before it were removed. */
static bool find_body(const mor_scene* scene, const mor_world* world, int item, mor_body_id* body)
{
    const char* name = scene->items[item].name;
    if (item < mor_world_body_count(world)) {
        *body = mor_world_body(world, item);
        if (strcmp(mor_body_name(world, *body), name) == 0) return true;
    }
    *body = mor_world_find_body(world, name);
    return body->index1 != 0;
}

/* A wrench on a link: `at` and the axes are those of the named frame. */
static void apply_to_link(const mor_scene_force* f, mor_world* world)
{
    const mor_robot_model* model = mor_world_robot_model(world, f->robot);
    const mor_frame_def* frame = mor_robot_frame(model, f->frame);
    mor_body_id body = mor_world_robot_link(world, f->robot, frame->link);
    mor_body_state state = mor_body_get_state(world, body);
    mor_pose pose = mor_pose_mul(&state.pose, &frame->pose);
    mor_vec3 force = f->body_frame ? mor_rotate(pose.rotation, f->force) : f->force;
    mor_vec3 torque = f->body_frame ? mor_rotate(pose.rotation, f->torque) : f->torque;
    mor_body_apply(world, body, force, f->has_point ? mor_pose_point(&pose, f->point) : state.com);
    mor_body_apply_torque(world, body, torque);
}

void mor_scene_apply_forces(const mor_scene* scene, mor_world* world)
{
    for (int i = 0; i < scene->mjcf_count; i++)
        if (mor_mjcf_pushes(scene->mjcfs[i].mjcf)) mor_scene_push(scene, i, world);
    double t = mor_world_time(world), slack = 1e-6 * mor_world_get_step(world); /* of times n h */
    for (int i = 0; i < scene->force_count; i++) {
        const mor_scene_force* f = &scene->forces[i];
        mor_body_id body;
        if (t < f->from - slack) mor_world_limit_step(world, f->from); /* variable steps meet the switches */
        else if (t < f->until - slack) mor_world_limit_step(world, f->until);
        if (!(t >= f->from - slack && t < f->until - slack)) continue;
        if (f->robot >= 0) {
            apply_to_link(f, world);
            continue;
        }
        if (!find_body(scene, world, f->item, &body)) continue;
        const mor_body_state state = mor_body_get_state(world, body);
        mor_vec3 force = f->body_frame ? mor_rotate(state.pose.rotation, f->force) : f->force;
        mor_vec3 torque = f->body_frame ? mor_rotate(state.pose.rotation, f->torque) : f->torque;
        mor_body_apply(world, body, force, f->has_point ? mor_pose_point(&state.pose, f->point) : state.com);
        mor_body_apply_torque(world, body, torque);
    }
}
