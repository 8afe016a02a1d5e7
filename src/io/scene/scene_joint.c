/* Joints of a scene: what is written under `joints` and `repeat.joint`, to definitions; and into a world.
 *
 * Points and axes of `joints` are in world axes at the start; those of `repeat.joint` in the frame of each copy, which
 * is joined to the copy before it (the first one to `first`). A body of a joint may be `world`, a body, or a link of a
 * robot as robot/link. */
#include "io/scene/scene_def.h"

#include <stdio.h>
#include <string.h>

static mor_code read_kind(const mor_node* node, const char* type, mor_joint_kind* kind, mor_error* error)
{
    const char* names[MOR_JOINT_KINDS + 1] = { 0 };
    for (int i = 0; i < MOR_JOINT_KINDS; i++) {
        names[i] = mor_joint_kind_name((mor_joint_kind)i);
        if (strcmp(names[i], type) == 0) {
            *kind = (mor_joint_kind)i;
            return MOR_OK;
        }
    }
    const mor_node* at = mor_node_get(node, "type");
    const char* near = mor_did_you_mean(type, names);
    if (near) return mor_node_fail(at, error, "unknown type of joint '%.60s'; did you mean '%s'?", type, near);
    return mor_node_fail(at, error,
                         "unknown type of joint '%.60s'; known: fixed, revolute, prismatic, cylindrical, spherical, "
                         "universal, planar, distance, free",
                         type);
}

/* Limits of a distance are lengths; those of the joint are about its length. */
static mor_code limit_distance(const mor_raw_joint* raw, mor_joint_def* def, mor_error* error)
{
    if (!(def->lower >= 0.0 && def->upper > 0.0))
        return mor_node_fail(raw->limits, error, "limits of a distance are its least and its greatest length in m");
    if (isnan(raw->length)) def->length = def->upper;
    def->lower = def->lower > 0.0 ? def->lower - def->length : -INFINITY;
    def->upper -= def->length;
    return MOR_OK;
}

/* Everything but bodies, name and place. */
static mor_code read_common(const mor_node* node, int dimension, const mor_raw_joint* raw, mor_joint_def* def,
                            mor_error* error)
{
    mor_code code = read_kind(node, raw->type, &def->kind, error);
    if (code) return code;
    const mor_node* axis = mor_node_get(node, "axis");
    if (dimension == 2 && def->kind == MOR_JOINT_PRISMATIC && !axis)
        return mor_node_fail(node, error, "a prismatic joint in 2-D has an 'axis': [x, y]");
    if (dimension == 2 && def->kind != MOR_JOINT_PRISMATIC && axis)
        return mor_node_fail_key(axis, error, "in 2-D only prismatic joints have an axis; others turn about z");
    def->damping = raw->damping;
    def->friction = raw->friction;
    def->axis = raw->axis;
    def->axis2 = raw->axis2;
    if (!axis) def->axis = mor_v3(0, 0, 1);
    if (!mor_node_get(node, "axis2")) {
        mor_vec3 o;
        mor_tangents(mor_normalize(def->axis, mor_v3(0, 0, 1)), mor_v3(1, 0, 0), &def->axis2, &o);
    }
    bool one = def->kind == MOR_JOINT_REVOLUTE || def->kind == MOR_JOINT_PRISMATIC;
    static const char* const single[] = { "limits", "motor", "spring", "damping", "friction" };
    for (int i = 0; i < 5 && !one; i++) {
        const mor_node* n = mor_node_get(node, single[i]);
        bool distance = i == 0 || i == 2 || i == 3; /* what they have too */
        if (n && !(distance && def->kind == MOR_JOINT_DISTANCE))
            return mor_node_fail_key(n, error, "%s: only revolute and prismatic joints have it%s", single[i],
                                     distance ? ", and distances" : "");
    }
    if (raw->limits) {
        double limits[2];
        if ((code = mor_read_numbers(raw->limits, "limits", limits, 2, error))) return code;
        if (!(limits[0] <= limits[1]))
            return mor_node_fail(raw->limits, error, "the lower limit %g is above the upper limit %g", limits[0],
                                 limits[1]);
        def->lower = limits[0];
        def->upper = limits[1];
    }
    if (raw->spring) {
        mor_raw_spring s;
        if ((code = mor_keys_read(&mor_keys_spring, raw->spring, 3, &s, error))) return code;
        def->stiffness = s.stiffness;
        def->rest = s.rest;
    }
    if (raw->motor) {
        mor_raw_motor m;
        if ((code = mor_keys_read(&mor_keys_motor, raw->motor, 3, &m, error))) return code;
        def->motor = true;
        def->motor_speed = m.velocity;
        def->motor_force = m.max_torque;
    }
    if (def->kind == MOR_JOINT_DISTANCE && raw->points) {
        if (raw->points->kind != MOR_NODE_LIST || raw->points->count != 2)
            return mor_node_fail(raw->points, error, "points is a list of two points");
        for (int i = 0; i < 2; i++)
            if ((code = mor_read_vector(mor_node_at(raw->points, i), "point", dimension, &def->point[i], error)))
                return code;
    } else {
        def->point[0] = def->point[1] = raw->point;
        if (def->kind == MOR_JOINT_DISTANCE)
            return mor_node_fail(node, error, "a distance joint has 'points': %s",
                                 dimension == 2 ? "[[x, y], [x, y]]" : "[[x, y, z], [x, y, z]]");
    }
    if (!isnan(raw->length)) def->length = raw->length;
    return def->kind == MOR_JOINT_DISTANCE && raw->limits ? limit_distance(raw, def, error) : MOR_OK;
}

static mor_scene_joint* add(mor_scene* scene, const mor_node* node, mor_error* error)
{
    if (scene->joint_count == scene->joint_capacity) {
        int capacity = scene->joint_capacity ? 2 * scene->joint_capacity : 64;
        mor_scene_joint* larger = mor_scene_alloc(scene, (size_t)capacity, sizeof *larger, error);
        if (!larger) return NULL;
        if (scene->joint_count) memcpy(larger, scene->joints, (size_t)scene->joint_count * sizeof *larger);
        scene->joints = larger;
        scene->joint_capacity = capacity;
    }
    mor_scene_joint* j = &scene->joints[scene->joint_count++];
    *j = (mor_scene_joint){ .node = node, .def = mor_joint_def_default() };
    return j;
}

static mor_code read_joint(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_raw_joint raw;
    mor_code code = mor_keys_read(&mor_keys_joint, node, scene->dimension, &raw, error);
    if (code) return code;
    mor_scene_joint* j = add(scene, node, error);
    if (!j) return MOR_SYSTEM;
    if ((code = read_common(node, scene->dimension, &raw, &j->def, error))) return code;
    snprintf(j->def.name, sizeof j->def.name, "%.60s", raw.name ? raw.name : "");
    if (!raw.name) snprintf(j->def.name, sizeof j->def.name, "joint_%d", scene->joint_count - 1);
    if (!raw.bodies || raw.bodies->kind != MOR_NODE_LIST || raw.bodies->count != 2)
        return mor_node_fail(raw.bodies ? raw.bodies : node, error,
                             "a joint has 'bodies': a list of two names; one may be world");
    for (int i = 0; i < 2; i++) {
        const char* name;
        const mor_node* at = mor_node_at(raw.bodies, i);
        if ((code = mor_read_text(at, "body", &name, error))) return code;
        snprintf(j->body[i], sizeof j->body[i], "%.63s", name);
        bool elsewhere = strcmp(name, "world") == 0 || strchr(name, '/');
        if (!elsewhere && mor_scene_find(scene, at, name, error) < 0) return MOR_BAD_INPUT;
    }
    return MOR_OK;
}

mor_code mor_scene_chain_joints(mor_scene* scene, const mor_node* node, int first, int count, mor_error* error)
{
    mor_raw_joint raw;
    mor_code code = mor_keys_read(&mor_keys_chain_joint, node, scene->dimension, &raw, error);
    if (code) return code;
    for (int i = 0; i < count; i++) {
        if (i == 0 && !raw.first) continue;
        mor_scene_joint* j = add(scene, node, error);
        if (!j) return MOR_SYSTEM;
        if ((code = read_common(node, scene->dimension, &raw, &j->def, error))) return code;
        const mor_scene_item* item = &scene->items[first + i];
        snprintf(j->def.name, sizeof j->def.name, "%.50s_joint", item->name);
        snprintf(j->body[0], sizeof j->body[0], "%s", item->name);
        snprintf(j->body[1], sizeof j->body[1], "%.63s", i ? scene->items[first + i - 1].name : raw.first);
        for (int k = 0; k < 2; k++) j->def.point[k] = mor_pose_point(&item->pose, j->def.point[k]);
        j->def.axis = mor_rotate(item->pose.rotation, j->def.axis);
        j->def.axis2 = mor_rotate(item->pose.rotation, j->def.axis2);
    }
    return MOR_OK;
}

mor_code mor_scene_read_joints(mor_scene* scene, const mor_node* list, mor_error* error)
{
    mor_code code = mor_read_list(list, "joints", error);
    if (code) return code;
    for (const mor_node* n = list->first; n && code == MOR_OK; n = n->next) code = read_joint(scene, n, error);
    return code;
}

mor_code mor_scene_add_joints(const mor_scene* scene, mor_world* world, mor_error* error)
{
    for (int i = 0; i < scene->joint_count; i++) {
        const mor_scene_joint* j = &scene->joints[i];
        mor_joint_def def = j->def;
        for (int k = 0; k < 2; k++) {
            if (strcmp(j->body[k], "world") == 0) continue;
            def.body[k] = mor_world_find_body(world, j->body[k]);
            if (!def.body[k].index1)
                return mor_node_fail(j->node, error, "unknown body '%s' of joint '%s'", j->body[k], def.name);
        }
        mor_error inner = { 0 };
        if (mor_world_add_joint(world, &def, &inner) < 0) return mor_node_pass(j->node, &inner, error);
    }
    return MOR_OK;
}
