/* Robots of a scene: URDF, base, start, loops; and into a world. */
#include "io/scene/scene_def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* joint name: number pairs into an array by joint. */
static mor_code read_values(const mor_robot_model* model, const mor_node* map, const char* what, double* out,
                            mor_error* error)
{
    if (!map) return MOR_OK;
    mor_code code = mor_read_map(map, what, error);
    for (const mor_node* n = map->first; n && code == MOR_OK; n = n->next) {
        int joint = mor_robot_find_joint(model, n->key);
        if (joint < 0) {
            const char* names[257];
            int k = 0;
            for (; k < 256 && k < mor_robot_joint_count(model); k++)
                names[k] = mor_robot_link(model, mor_robot_link_of_joint(model, k))->joint_name;
            names[k] = NULL;
            const char* near = mor_did_you_mean(n->key, names);
            if (near)
                return mor_node_fail_key(n, error, "the robot has no joint '%.60s'; did you mean '%s'?", n->key, near);
            return mor_node_fail_key(n, error, "the robot has no joint '%.60s' that moves", n->key);
        }
        code = mor_read_number(n, n->key, &out[joint], error);
    }
    return code;
}

static mor_code read_loop(mor_scene* scene, mor_scene_robot* robot, const mor_node* node, mor_error* error)
{
    mor_raw_loop raw;
    mor_code code = mor_keys_read(&mor_keys_loop, node, scene->dimension, &raw, error);
    if (code) return code;
    mor_scene_loop* l = &robot->loops[robot->loop_count++];
    *l = (mor_scene_loop){ .node = node,
                           .kind = raw.type == 0   ? MOR_JOINT_SPHERICAL
                                   : raw.type == 1 ? MOR_JOINT_FIXED
                                                   : MOR_JOINT_DISTANCE,
                           .length = raw.length };
    if (!raw.frames || raw.frames->kind != MOR_NODE_LIST || raw.frames->count != 2)
        return mor_node_fail(raw.frames ? raw.frames : node, error,
                             "a loop has 'frames': a list of two links; one may be world");
    for (int i = 0; i < 2; i++) {
        const char* name;
        const mor_node* at = mor_node_at(raw.frames, i);
        if ((code = mor_read_text(at, "frame", &name, error))) return code;
        l->frame[i] = strcmp(name, "world") == 0 ? -1 : mor_robot_find_frame(robot->model, name);
        int joint = l->frame[i] < 0 ? mor_robot_find_joint(robot->model, name) : -1; /* or the link a joint carries */
        if (joint >= 0)
            l->frame[i] = mor_robot_find_frame(
                robot->model, mor_robot_link(robot->model, mor_robot_link_of_joint(robot->model, joint))->name);
        if (l->frame[i] < 0 && strcmp(name, "world") != 0)
            return mor_node_fail(at, error, "the robot has no link '%.60s'", name);
    }
    if (!raw.at) return MOR_OK;
    if (raw.at->kind != MOR_NODE_LIST || raw.at->count != 2)
        return mor_node_fail(raw.at, error, "'at' is a list of two points, one in each frame");
    for (int i = 0; i < 2; i++)
        if ((code = mor_read_vector(mor_node_at(raw.at, i), "point", 3, &l->at[i], error))) return code;
    return MOR_OK;
}

/* link: { material: name } pairs. */
static mor_code read_links(mor_scene* scene, mor_scene_robot* robot, const mor_node* map, mor_error* error)
{
    if (!map) return MOR_OK;
    mor_code code = mor_read_map(map, "links", error);
    if (code) return code;
    int count = mor_robot_frame_count(robot->model);
    robot->materials = mor_scene_alloc(scene, (size_t)count + 1, sizeof *robot->materials, error);
    if (!robot->materials) return MOR_SYSTEM;
    for (int i = 0; i < count; i++) robot->materials[i] = -1;
    for (const mor_node* n = map->first; n; n = n->next) {
        int frame = mor_robot_find_frame(robot->model, n->key);
        if (frame < 0) return mor_node_fail_key(n, error, "the robot has no link '%.60s'", n->key);
        if ((code = mor_read_map(n, n->key, error))) return code;
        for (const mor_node* k = n->first; k; k = k->next) {
            const char* name;
            if (strcmp(k->key, "material") != 0)
                return mor_node_fail_key(k, error, "unknown key '%.60s' of a link; known: material", k->key);
            if ((code = mor_read_text(k, "material", &name, error))) return code;
            if ((robot->materials[frame] = mor_scene_material(scene, k, name, error)) < 0) return MOR_BAD_INPUT;
        }
    }
    return MOR_OK;
}

/* The model, with the URDF's own sentence and position when it is wrong. */
static mor_code read_model(mor_scene* scene, const mor_node* node, const mor_raw_robot* raw, mor_scene_robot* robot,
                           mor_error* error)
{
    enum { NOTES = 8192 };
    const char* path = mor_path_from(&scene->document, mor_node_get(node, "urdf"), raw->urdf, error);
    char* notes = mor_scene_alloc(scene, NOTES, 1, error);
    if (!path || !notes) return MOR_SYSTEM;
    mor_urdf_options o = mor_urdf_options_default();
    o.floating = raw->base == 1;
    o.shapes = raw->collide == 0;
    const mor_node* list = raw->keep;
    mor_code code = list ? mor_read_list(list, "keep", error) : MOR_OK;
    const char** keep =
        list && code == MOR_OK ? mor_scene_alloc(scene, (size_t)list->count + 1, sizeof *keep, error) : NULL;
    for (const mor_node* n = keep ? list->first : NULL; n && code == MOR_OK; n = n->next)
        code = mor_read_text(n, "joint", &keep[o.joint_count++], error);
    if (code || (list && !keep)) return code ? code : MOR_SYSTEM;
    if (keep) o.joints = keep;
    mor_error inner = { 0 };
    robot->model = mor_urdf_read(path, &o, notes, NOTES, &inner);
    robot->file = path;
    if (!robot->model) return mor_node_pass(mor_node_get(node, "urdf"), &inner, error);
    return *notes ? mor_scene_note(scene, notes, error) : MOR_OK;
}

static mor_code read_robot(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_robot raw;
    mor_code code = mor_keys_read(&mor_keys_robot, node, scene->dimension, &raw, error);
    if (code) return code;
    if (raw.mjcf || raw.sdf) return mor_scene_read_mjcf(scene, node, &raw, error);
    if (!raw.urdf) return mor_node_fail(node, error, "a robot needs a file: give 'urdf', 'mjcf' or 'sdf'");
    mor_scene_robot* robot = &scene->robots[scene->robot_count++];
    robot->node = node;
    for (const mor_node* f = raw.feet && raw.feet->kind == MOR_NODE_LIST ? raw.feet->first : NULL; f; f = f->next)
        /* who gives points means them */
        if (!mor_node_get(node, "collide") && f->kind == MOR_NODE_MAP && mor_node_get(f, "points")) raw.collide = 2;
    if ((code = read_model(scene, node, &raw, robot, error))) return code;
    mor_robot_def* d = &robot->def;
    *d = mor_robot_def_default();
    if (raw.name && strlen(raw.name) >= 30)
        return mor_node_fail(mor_node_get(node, "name"), error, "the name of a robot has at most 29 characters");
    if (raw.name) snprintf(d->name, sizeof d->name, "%s", raw.name);
    else snprintf(d->name, sizeof d->name, "robot_%d", scene->robot_count - 1);
    for (int i = 0; i < scene->robot_count - 1; i++)
        if (strcmp(scene->robots[i].def.name, d->name) == 0)
            return mor_node_fail(node, error, "there are two robots called '%s'", d->name);
    d->model = robot->model;
    d->pose.position = raw.position;
    if ((code = mor_scene_read_turn(scene, node, &d->pose.rotation, error))) return code;
    d->collide = raw.collide != 1;
    d->self_collision = raw.self_collision;
    d->limits = raw.limits;
    d->damping = raw.damping;
    d->friction = raw.friction;
    d->material = scene->default_material;
    if (raw.material &&
        (d->material = mor_scene_material(scene, mor_node_get(node, "material"), raw.material, error)) < 0)
        return MOR_BAD_INPUT;
    if ((code = read_links(scene, robot, raw.links, error))) return code;
    int n = mor_robot_joint_count(robot->model), N = mor_robot_dof(robot->model);
    double* s = mor_scene_alloc(scene, (size_t)(n + N) + 1, sizeof *s, error);
    if (!s) return MOR_SYSTEM;
    double* nu = s + n;
    d->s = s;
    d->nu = nu;
    if (N > n)
        memcpy(nu,
               (double[6]){ raw.velocity.x, raw.velocity.y, raw.velocity.z, raw.angular_velocity.x,
                            raw.angular_velocity.y, raw.angular_velocity.z },
               6 * sizeof(double));
    if ((code = read_values(robot->model, raw.joints, "joints", s, error))) return code;
    if ((code = read_values(robot->model, raw.joint_velocities, "joint_velocities", nu + N - n, error))) return code;
    robot->assemble = raw.assemble;
    robot->drop = raw.drop;
    if ((code = mor_scene_read_actuation(scene, robot, &raw, error))) return code;
    if (!raw.loops) return MOR_OK;
    if ((code = mor_read_list(raw.loops, "loops", error))) return code;
    robot->loops = mor_scene_alloc(scene, (size_t)raw.loops->count + 1, sizeof *robot->loops, error);
    if (!robot->loops) return MOR_SYSTEM;
    for (const mor_node* l = raw.loops->first; l && code == MOR_OK; l = l->next)
        code = read_loop(scene, robot, l, error);
    return code;
}

mor_code mor_scene_read_robots(mor_scene* scene, const mor_node* list, mor_error* error)
{
    mor_code code = mor_read_list(list, "robots", error);
    if (code) return code;
    if (list->count && scene->dimension != 3) return mor_node_fail(list, error, "robots need a 3-D scene");
    int trees = 0;
    if ((code = mor_scene_load_mjcfs(scene, list, &trees, error))) return code;
    scene->robots = mor_scene_alloc(scene, (size_t)list->count + (size_t)trees + 1, sizeof *scene->robots, error);
    if (!scene->robots) return MOR_SYSTEM;
    for (const mor_node* n = list->first; n && code == MOR_OK; n = n->next) code = read_robot(scene, n, error);
    return code;
}

mor_body_id mor_scene_link_body(const mor_world* world, int robot, const mor_scene_robot* r, int link)
{
    if (robot >= 0) return mor_world_robot_link(world, robot, link);
    char name[64];
    snprintf(name, sizeof name, "%.30s/%.32s", r->def.name, mor_robot_link(r->model, link)->name);
    return mor_world_find_body(world, name);
}

static mor_code add_loop(mor_world* world, int robot, const mor_scene_robot* r, const mor_scene_loop* l, int number,
                         mor_error* error)
{
    mor_joint_def d = mor_joint_def_default();
    mor_robot_work* work = mor_robot_work_create(r->model);
    if (!work) return mor_fail(error, MOR_SYSTEM, "out of memory");
    snprintf(d.name, sizeof d.name, "%.40s/loop_%d", r->def.name, number);
    d.kind = l->kind;
    if (!isnan(l->length)) d.length = l->length;
    mor_robot_update(r->model, work, &r->def.pose, r->def.s, NULL);
    d.framed = l->kind == MOR_JOINT_FIXED; /* a weld brings the frames together, whatever they were at the start */
    for (int i = 0; i < 2; i++) {
        d.point[i] = l->at[i];
        d.rotation[i] = mor_pose_identity().rotation;
        if (l->frame[i] < 0) continue;
        mor_pose pose = mor_robot_frame_pose(r->model, work, l->frame[i]);
        d.rotation[i] = pose.rotation;
        d.point[i] = mor_pose_point(&pose, l->at[i]);
        d.body[i] = mor_scene_link_body(world, robot, r, mor_robot_frame(r->model, l->frame[i])->link);
    }
    mor_robot_work_destroy(work);
    mor_error inner = { 0 };
    if (mor_world_add_joint(world, &d, &inner) < 0) return mor_node_pass(l->node, &inner, error);
    return MOR_OK;
}

/* Adds one robot; its number in the world, -1 in maximal coordinates. */
static mor_code add_robot(const mor_scene* scene, mor_world* world, const mor_scene_robot* r, const int* material,
                          int* number, mor_error* error)
{
    mor_robot_def def = r->def;
    def.material = material[def.material];
    int* own = NULL;
    if (r->materials) {
        int count = mor_robot_frame_count(r->model);
        own = malloc(((size_t)count + 1) * sizeof *own);
        if (!own) return mor_fail(error, MOR_SYSTEM, "out of memory");
        for (int k = 0; k < count; k++) own[k] = r->materials[k] < 0 ? -1 : material[r->materials[k]];
        def.materials = own;
    }
    mor_error inner = { 0 };
    int robot = *number = -1;
    if (scene->maximal) mor_world_add_linkage(world, &def, &inner);
    else robot = mor_world_add_robot(world, &def, &inner);
    free(own);
    if (inner.code != MOR_OK) return mor_node_pass(r->node, &inner, error);
    *number = robot;
    mor_code code =
        robot >= 0 ? mor_scene_add_actuation(scene, world, robot, error) : mor_scene_refuse_actuation(r, error);
    for (int k = 0; k < r->loop_count && !code; k++) code = add_loop(world, robot, r, &r->loops[k], k, error);
    return code;
}

mor_code mor_scene_add_robots(const mor_scene* scene, mor_world* world, const int* material, mor_error* error)
{
    bool assemble = false;
    int* numbers = malloc(((size_t)scene->robot_count + 1) * sizeof *numbers);
    mor_code code = numbers ? MOR_OK : mor_fail(error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < scene->robot_count && !code; i++) {
        const mor_scene_robot* r = &scene->robots[i];
        code = add_robot(scene, world, r, material, &numbers[i], error);
        assemble = assemble || (r->assemble && r->loop_count > 0);
    }
    if (!code) code = mor_scene_add_mjcfs(scene, world, numbers, &assemble, error);
    free(numbers);
    if (code) return code;
    double left = assemble ? mor_world_assemble(world) : 0.0;
    if (!(left < 1e-6))
        return mor_node_fail(scene->robots[0].node, error,
                             "the loops do not close from this start: %.3g m are left; give better 'joints'", left);
    return MOR_OK;
}
