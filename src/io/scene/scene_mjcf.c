/* MJCF models as robots of a scene. */
#include "io/scene/scene_def.h"
#include "io/sdf/sdf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of `mjcf` or `sdf`. */
static const mor_node* model_of(const mor_node* robot)
{
    const mor_node* mjcf = mor_node_get(robot, "mjcf");
    return mjcf ? mjcf : mor_node_get(robot, "sdf");
}

mor_code mor_scene_load_mjcfs(mor_scene* scene, const mor_node* list, int* trees, mor_error* error)
{
    enum { NOTES = 16384 };
    int count = 0;
    for (const mor_node* n = list->first; n; n = n->next) count += n->kind == MOR_NODE_MAP && model_of(n);
    scene->mjcfs = mor_scene_alloc(scene, (size_t)count + 1, sizeof *scene->mjcfs, error);
    char* notes = mor_scene_alloc(scene, NOTES, 1, error);
    if (!scene->mjcfs || !notes) return MOR_SYSTEM;
    for (const mor_node* n = list->first; n; n = n->next) {
        const mor_node* file = n->kind == MOR_NODE_MAP ? model_of(n) : NULL;
        const char* name;
        if (!file) continue;
        mor_code code = mor_read_text(file, "the model file", &name, error);
        if (code) return code;
        const char* path = mor_path_from(&scene->document, file, name, error);
        if (!path) return MOR_SYSTEM;
        const mor_node* collide = mor_node_get(n, "collide");
        bool shapes = !collide || collide->kind != MOR_NODE_SCALAR || strcmp(collide->text, "none") != 0;
        mor_error inner = { 0 };
        mor_mjcf* mjcf = mor_node_get(n, "sdf")
                             ? mor_sdf_read(path, getenv("GZ_SIM_RESOURCE_PATH"), shapes, notes, NOTES, &inner)
                             : mor_mjcf_read(path, shapes, notes, NOTES, &inner);
        if (!mjcf) {
            if (inner.code == MOR_SYSTEM) return mor_fail(error, MOR_SYSTEM, "%s", inner.text);
            if (!inner.line) return mor_node_fail(file, error, "%s", inner.text);
            *error = inner; /* the position in the model is the one to look at */
            return inner.code;
        }
        scene->mjcfs[scene->mjcf_count++] = (mor_scene_mjcf){ .node = n, .mjcf = mjcf };
        *trees += mjcf->trees_count;
        if (*notes && (code = mor_scene_note(scene, notes, error))) return code;
    }
    return MOR_OK;
}

/* controls: { actuator: number } */
static mor_code read_controls(mor_mjcf* m, const mor_node* map, mor_error* error)
{
    if (!map) return MOR_OK;
    mor_code code = mor_read_map(map, "controls", error);
    for (const mor_node* n = code ? NULL : map->first; n && !code; n = n->next) {
        int a = mor_mjcf_find_actuator(m, n->key);
        if (a < 0) return mor_node_fail_key(n, error, "the model has no actuator '%.60s'", n->key);
        code = mor_read_number(n, n->key, &m->actuators[a].control, error);
    }
    return code;
}

static mor_code check_keys(const mor_node* node, mor_error* error)
{
    static const char* const others[] = { "urdf",  "base",   "keep",     "material", "links",
                                          "loops", "motors", "actuated", NULL };
    for (int i = 0; others[i]; i++)
        if (mor_node_get(node, others[i]))
            return mor_node_fail_key(mor_node_get(node, others[i]), error,
                                     "'%s' is for URDF robots; the MJCF file says it", others[i]);
    return MOR_OK;
}

/* One tree; what the scene says of joints goes to the trees that have them. */
static mor_code read_tree(mor_scene* scene, const mor_scene_mjcf* x, int tree, const mor_raw_robot* raw,
                          mor_error* error)
{
    const mor_mjcf_tree* t = &x->mjcf->trees[tree];
    mor_scene_robot* robot = &scene->robots[scene->robot_count++];
    robot->node = x->node;
    robot->model = mor_robot_retain(t->model);
    mor_robot_def* d = &robot->def;
    *d = mor_robot_def_default();
    if (tree == 0) snprintf(d->name, sizeof d->name, "%s", x->name);
    else snprintf(d->name, sizeof d->name, "%.14s_%.14s", x->name, t->name);
    for (int i = 0; i < scene->robot_count - 1; i++)
        if (strcmp(scene->robots[i].def.name, d->name) == 0)
            snprintf(d->name, sizeof d->name, "%.20s_%d", x->name, scene->robot_count - 1);
    d->model = robot->model;
    d->pose = mor_pose_mul(&x->offset, &t->start);
    d->pose.rotation = mor_quat_normalize(d->pose.rotation);
    d->collide = raw->collide != 1;
    d->self_collision = mor_node_get(x->node, "self_collision") ? raw->self_collision : true;
    d->all_pairs = true;
    d->limits = raw->limits;
    d->damping = raw->damping;
    d->friction = raw->friction;
    d->material = scene->default_material;
    int n = mor_robot_joint_count(t->model), N = mor_robot_dof(t->model);
    double* s = mor_scene_alloc(scene, (size_t)(n + N) + 1, sizeof *s, error);
    if (!s) return MOR_SYSTEM;
    memcpy(s, t->s, (size_t)n * sizeof *s);
    memcpy(s + n, t->nu, (size_t)N * sizeof *s);
    for (int k = 0; N > n && k < 2; k++) { /* the base's velocities turn with the model */
        mor_vec3 v = mor_rotate(x->offset.rotation, mor_v3(t->nu[3 * k], t->nu[3 * k + 1], t->nu[3 * k + 2]));
        v = mor_add(v, tree == 0 ? (k ? raw->angular_velocity : raw->velocity) : mor_v3(0, 0, 0));
        memcpy(s + n + 3 * k, (double[3]){ v.x, v.y, v.z }, 3 * sizeof *s);
    }
    d->s = s;
    d->nu = s + n;
    const mor_node* maps[] = { raw->joints, raw->joint_velocities };
    for (int i = 0; i < 2; i++) {
        mor_code code = maps[i] ? mor_read_map(maps[i], i ? "joint_velocities" : "joints", error) : MOR_OK;
        for (const mor_node* k = maps[i] && !code ? maps[i]->first : NULL; k && !code; k = k->next) {
            int joint = mor_robot_find_joint(t->model, k->key);
            if (joint >= 0) code = mor_read_number(k, k->key, i ? &s[n + N - n + joint] : &s[joint], error);
        }
        if (code) return code;
    }
    robot->drop = raw->drop;
    if (tree > 0) return MOR_OK;
    return mor_scene_read_actuation(scene, robot, raw, error);
}

/* `on` and `drop` move one tree; parts that belong to the world, or to other trees, would stay behind. */
static mor_code check_rest(const mor_mjcf* m, const mor_node* node, bool drop, mor_error* error)
{
    const mor_node* key = mor_node_get(node, "on") ? mor_node_get(node, "on") : mor_node_get(node, "drop");
    if (!key || (!drop && !mor_node_get(node, "on"))) return MOR_OK;
    if (m->trees_count != 1)
        return mor_node_fail_key(key, error, "'%s' sets one tree down and this model has %d; give 'position'", key->key,
                                 m->trees_count);
    if (!m->trees[0].floating)
        return mor_node_fail_key(key, error,
                                 "'%s' is for robots that move freely; the base of this model is fixed to the "
                                 "world: give 'position'",
                                 key->key);
    return MOR_OK;
}

static mor_code check_joints(const mor_mjcf* m, const mor_node* map, mor_error* error)
{
    for (const mor_node* k = map && map->kind == MOR_NODE_MAP ? map->first : NULL; k; k = k->next) {
        bool there = false;
        for (int i = 0; i < m->trees_count; i++) there = there || mor_robot_find_joint(m->trees[i].model, k->key) >= 0;
        if (!there) return mor_node_fail_key(k, error, "the model has no joint '%.60s'", k->key);
    }
    return MOR_OK;
}

mor_code mor_scene_read_mjcf(mor_scene* scene, const mor_node* node, const mor_raw_robot* raw, mor_error* error)
{
    int k = 0;
    while (scene->mjcfs[k].node != node) k++;
    mor_scene_mjcf* x = &scene->mjcfs[k];
    mor_mjcf* m = x->mjcf;
    mor_code code = check_keys(node, error);
    if (code) return code;
    mor_error inner = { 0 };
    if (mor_mjcf_start(m, raw->key, &inner)) return mor_node_pass(mor_node_get(node, "key"), &inner, error);
    if (raw->name && strlen(raw->name) >= 30)
        return mor_node_fail(mor_node_get(node, "name"), error, "the name of a robot has at most 29 characters");
    snprintf(x->name, sizeof x->name, "%.29s", raw->name ? raw->name : m->model);
    if (!raw->name && k > 0) snprintf(x->name, sizeof x->name, "%.24s_%d", m->model, k);
    x->offset = (mor_pose){ raw->position, { 1, 0, 0, 0 } };
    if ((code = mor_scene_read_turn(scene, node, &x->offset.rotation, error))) return code;
    if ((code = read_controls(m, raw->controls, error)) || (code = check_rest(m, node, raw->drop, error))) return code;
    if ((code = check_joints(m, raw->joints, error)) || (code = check_joints(m, raw->joint_velocities, error)))
        return code;
    enum { NOTES = 8192 };
    char* notes = mor_scene_alloc(scene, NOTES, 1, error);
    if (!notes) return MOR_SYSTEM;
    if ((code = mor_mjcf_part(m, notes, NOTES, error)) || (*notes && (code = mor_scene_note(scene, notes, error))))
        return code;
    x->first = scene->robot_count;
    x->assemble = raw->assemble;
    for (int i = 0; i < m->trees_count && !code; i++) code = read_tree(scene, x, i, raw, error);
    return code;
}

mor_code mor_scene_add_mjcfs(const mor_scene* scene, mor_world* world, const int* numbers, bool* assemble,
                             mor_error* error)
{
    for (int i = 0; i < scene->mjcf_count; i++) {
        const mor_scene_mjcf* x = &scene->mjcfs[i];
        if (scene->maximal) return mor_node_fail(x->node, error, "robots of MJCF files need minimal coordinates");
        mor_error inner = { 0 };
        mor_code code = mor_mjcf_add(x->mjcf, world, x->name, numbers + x->first, &x->offset, &inner);
        if (code == MOR_SYSTEM) return mor_fail(error, MOR_SYSTEM, "%s", inner.text);
        if (code && inner.line) *error = inner;
        else if (code) mor_node_fail(x->node, error, "%s", inner.text);
        if (code) return code;
        for (int k = 0; k < x->mjcf->equalities_count; k++)
            *assemble = *assemble || (x->assemble && !x->mjcf->no_equality);
    }
    return MOR_OK;
}

void mor_scene_push(const mor_scene* scene, int mjcf, mor_world* world)
{
    const mor_scene_mjcf* x = &scene->mjcfs[mjcf];
    int first = mor_world_find_robot(world, scene->robots[x->first].def.name); /* its trees come one after the other */
    if (first >= 0) mor_mjcf_apply(x->mjcf, world, first, &x->offset);
}
