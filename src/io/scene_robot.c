/* Robots of a scene: URDF, base, start, loops; and into a world. */
#include "io/scene_def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* joint name: number pairs into an array by joint. */
static mor_code read_values(const mor_robot_model* model, const mor_node* map, const char* what, double* out, mor_error* error)
{
    if (!map) return MOR_OK;
    mor_code code = mor_read_map(map, what, error);
    for (const mor_node* n = map->first; n && code == MOR_OK; n = n->next) {
        int joint = mor_robot_find_joint(model, n->key);
        if (joint < 0) {
            const char* names[257];
            int k = 0;
            for (; k < 256 && k < mor_robot_joint_count(model); k++) names[k] = mor_robot_link(model, mor_robot_link_of_joint(model, k))->joint_name;
            names[k] = NULL;
            const char* near = mor_did_you_mean(n->key, names);
            if (near) return mor_node_fail_key(n, error, "the robot has no joint '%.60s'; did you mean '%s'?", n->key, near);
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
    *l = (mor_scene_loop){ .node = node, .kind = raw.type == 0 ? MOR_JOINT_SPHERICAL : raw.type == 1 ? MOR_JOINT_FIXED : MOR_JOINT_DISTANCE, .length = raw.length };
    if (!raw.frames || raw.frames->kind != MOR_NODE_LIST || raw.frames->count != 2)
        return mor_node_fail(raw.frames ? raw.frames : node, error, "a loop has 'frames': a list of two links; one may be world");
    for (int i = 0; i < 2; i++) {
        const char* name;
        const mor_node* at = mor_node_at(raw.frames, i);
        if ((code = mor_read_text(at, "frame", &name, error))) return code;
        l->frame[i] = strcmp(name, "world") == 0 ? -1 : mor_robot_find_frame(robot->model, name);
        int joint = l->frame[i] < 0 ? mor_robot_find_joint(robot->model, name) : -1; /* or the link a joint carries */
        if (joint >= 0) l->frame[i] = mor_robot_find_frame(robot->model, mor_robot_link(robot->model, mor_robot_link_of_joint(robot->model, joint))->name);
        if (l->frame[i] < 0 && strcmp(name, "world") != 0) return mor_node_fail(at, error, "the robot has no link '%.60s'", name);
    }
    if (!raw.at) return MOR_OK;
    if (raw.at->kind != MOR_NODE_LIST || raw.at->count != 2) return mor_node_fail(raw.at, error, "'at' is a list of two points, one in each frame");
    for (int i = 0; i < 2; i++)
        if ((code = mor_read_vector(mor_node_at(raw.at, i), "point", 3, &l->at[i], error))) return code;
    return MOR_OK;
}

/* The number of a link's frame, or a sentence with the nearest name. */
static mor_code find_link(const mor_robot_model* model, const mor_node* at, const char* name, int* frame, mor_error* error)
{
    *frame = mor_robot_find_frame(model, name);
    if (*frame >= 0) return MOR_OK;
    const char* names[513];
    int k = 0;
    for (; k < 512 && k < mor_robot_frame_count(model); k++) names[k] = mor_robot_frame(model, k)->name;
    names[k] = NULL;
    const char* near = mor_did_you_mean(name, names);
    if (near) return mor_node_fail(at, error, "the robot has no link '%.60s'; did you mean '%s'?", name, near);
    return mor_node_fail(at, error, "the robot has no link '%.60s'", name);
}

static mor_code read_foot(mor_scene* scene, mor_scene_robot* robot, const mor_node* node, mor_foot_def* foot, mor_error* error)
{
    mor_raw_foot raw;
    mor_code code = mor_keys_read(&mor_keys_foot, node, scene->dimension, &raw, error);
    if (code || (code = find_link(robot->model, mor_node_get(node, "link"), raw.link, &foot->frame, error))) return code;
    foot->radius = raw.radius;
    if (!raw.points) return robot->def.collide_feet ? mor_node_fail(node, error, "with 'collide: feet' every foot has 'points', a list of [x, y, z]") : MOR_OK;
    if ((code = mor_read_list(raw.points, "points", error))) return code;
    mor_vec3* points = mor_scene_alloc(scene, (size_t)raw.points->count + 1, sizeof *points, error);
    if (!points) return MOR_SYSTEM;
    foot->points = points;
    for (const mor_node* p = raw.points->first; p && code == MOR_OK; p = p->next) code = mor_read_vector(p, "point", 3, &points[foot->point_count++], error);
    if (code == MOR_OK && robot->def.collide_feet && foot->point_count == 0) return mor_node_fail(raw.points, error, "the foot has no points");
    return code;
}

static mor_code read_feet(mor_scene* scene, mor_scene_robot* robot, const mor_node* node, const mor_node* list, mor_error* error)
{
    if (!list) return robot->def.collide_feet ? mor_node_fail(mor_node_get(node, "collide"), error, "'collide: feet' needs 'feet', a list with links and points") : MOR_OK;
    mor_code code = mor_read_list(list, "feet", error);
    if (code) return code;
    mor_foot_def* feet = mor_scene_alloc(scene, (size_t)list->count + 1, sizeof *feet, error);
    if (!feet) return MOR_SYSTEM;
    memset(feet, 0, ((size_t)list->count + 1) * sizeof *feet);
    robot->def.feet = feet;
    for (const mor_node* f = list->first; f && code == MOR_OK; f = f->next) code = read_foot(scene, robot, f, &feet[robot->def.foot_count++], error);
    return code;
}

/* The model, with the URDF's own sentence and position when it is wrong. */
static mor_code read_model(mor_scene* scene, const mor_node* node, const mor_raw_robot* raw, mor_scene_robot* robot, mor_error* error)
{
    enum { NOTES = 8192 };
    const char* path = mor_path_from(&scene->document, mor_node_get(node, "urdf"), raw->urdf, error);
    char* notes = mor_scene_alloc(scene, NOTES, 1, error);
    if (!path || !notes) return MOR_SYSTEM;
    mor_urdf_options o = mor_urdf_options_default();
    o.floating = raw->base == 1;
    o.shapes = raw->collide == 0;
    mor_error inner = { 0 };
    robot->model = mor_urdf_read(path, &o, notes, NOTES, &inner);
    if (!robot->model) return inner.code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "%s", inner.text) : mor_node_fail(mor_node_get(node, "urdf"), error, "%s", inner.text);
    return *notes ? mor_scene_note(scene, notes, error) : MOR_OK;
}

static mor_code read_robot(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_robot raw;
    mor_code code = mor_keys_read(&mor_keys_robot, node, scene->dimension, &raw, error);
    if (code) return code;
    mor_scene_robot* robot = &scene->robots[scene->robot_count++];
    robot->node = node;
    if ((code = read_model(scene, node, &raw, robot, error))) return code;
    mor_robot_def* d = &robot->def;
    *d = mor_robot_def_default();
    if (raw.name && strlen(raw.name) >= 30) return mor_node_fail(mor_node_get(node, "name"), error, "the name of a robot has at most 29 characters");
    if (raw.name) snprintf(d->name, sizeof d->name, "%s", raw.name);
    else snprintf(d->name, sizeof d->name, "robot_%d", scene->robot_count - 1);
    for (int i = 0; i < scene->robot_count - 1; i++)
        if (strcmp(scene->robots[i].def.name, d->name) == 0) return mor_node_fail(node, error, "there are two robots called '%s'", d->name);
    d->model = robot->model;
    d->pose.position = raw.position;
    if ((code = mor_scene_read_turn(scene, node, &d->pose.rotation, error))) return code;
    d->collide = raw.collide == 0;
    d->collide_feet = raw.collide == 2;
    d->self_collision = raw.self_collision;
    d->limits = raw.limits;
    d->damping = raw.damping;
    d->friction = raw.friction;
    d->material = scene->default_material;
    if (raw.material && (d->material = mor_scene_material(scene, mor_node_get(node, "material"), raw.material, error)) < 0) return MOR_BAD_INPUT;
    int n = mor_robot_joint_count(robot->model), N = mor_robot_dof(robot->model);
    double* s = mor_scene_alloc(scene, (size_t)(n + N) + 1, sizeof *s, error);
    if (!s) return MOR_SYSTEM;
    double* nu = s + n;
    d->s = s;
    d->nu = nu;
    if (N > n) memcpy(nu, (double[6]){ raw.velocity.x, raw.velocity.y, raw.velocity.z, raw.angular_velocity.x, raw.angular_velocity.y, raw.angular_velocity.z }, 6 * sizeof(double));
    if ((code = read_values(robot->model, raw.joints, "joints", s, error))) return code;
    if ((code = read_values(robot->model, raw.joint_velocities, "joint_velocities", nu + N - n, error))) return code;
    if ((code = read_feet(scene, robot, node, raw.feet, error))) return code;
    robot->assemble = raw.assemble;
    if (!raw.loops) return MOR_OK;
    if ((code = mor_read_list(raw.loops, "loops", error))) return code;
    robot->loops = mor_scene_alloc(scene, (size_t)raw.loops->count + 1, sizeof *robot->loops, error);
    if (!robot->loops) return MOR_SYSTEM;
    for (const mor_node* l = raw.loops->first; l && code == MOR_OK; l = l->next) code = read_loop(scene, robot, l, error);
    return code;
}

mor_code mor_scene_read_robots(mor_scene* scene, const mor_node* list, mor_error* error)
{
    mor_code code = mor_read_list(list, "robots", error);
    if (code) return code;
    if (list->count && scene->dimension != 3) return mor_node_fail(list, error, "robots need a 3-D scene");
    scene->robots = mor_scene_alloc(scene, (size_t)list->count + 1, sizeof *scene->robots, error);
    if (!scene->robots) return MOR_SYSTEM;
    for (const mor_node* n = list->first; n && code == MOR_OK; n = n->next) code = read_robot(scene, n, error);
    return code;
}

static mor_code add_loop(mor_world* world, int robot, const mor_scene_robot* r, const mor_scene_loop* l, int number, mor_error* error)
{
    mor_joint_def d = mor_joint_def_default();
    mor_robot_work* work = mor_robot_work_create(r->model);
    if (!work) return mor_fail(error, MOR_SYSTEM, "out of memory");
    snprintf(d.name, sizeof d.name, "%.40s/loop_%d", r->def.name, number);
    d.kind = l->kind;
    if (!isnan(l->length)) d.length = l->length;
    mor_robot_update(r->model, work, &r->def.pose, r->def.s, NULL);
    for (int i = 0; i < 2; i++) {
        d.point[i] = l->at[i];
        if (l->frame[i] < 0) continue;
        mor_pose pose = mor_robot_frame_pose(r->model, work, l->frame[i]);
        d.point[i] = mor_pose_point(&pose, l->at[i]);
        d.body[i] = mor_world_robot_link(world, robot, mor_robot_frame(r->model, l->frame[i])->link);
    }
    mor_robot_work_destroy(work);
    mor_error inner = { 0 };
    if (mor_world_add_joint(world, &d, &inner) < 0) return mor_node_fail(l->node, error, "%s", inner.text);
    return MOR_OK;
}

mor_code mor_scene_add_robots(const mor_scene* scene, mor_world* world, const int* material, mor_error* error)
{
    bool assemble = false;
    for (int i = 0; i < scene->robot_count; i++) {
        const mor_scene_robot* r = &scene->robots[i];
        mor_robot_def def = r->def;
        def.material = material[def.material];
        mor_error inner = { 0 };
        int robot = mor_world_add_robot(world, &def, &inner);
        if (robot < 0) return inner.code == MOR_SYSTEM ? mor_fail(error, MOR_SYSTEM, "%s", inner.text) : mor_node_fail(r->node, error, "%s", inner.text);
        for (int k = 0; k < r->loop_count; k++) {
            mor_code code = add_loop(world, robot, r, &r->loops[k], k, error);
            if (code) return code;
        }
        assemble = assemble || (r->assemble && r->loop_count > 0);
    }
    double left = assemble ? mor_world_assemble(world) : 0.0;
    if (!(left < 1e-6)) return mor_node_fail(scene->robots[0].node, error, "the loops do not close from this start: %.3g m are left; give better 'joints'", left);
    return MOR_OK;
}
