/* What a scene says of one robot's motors, feet, sensors and links, to definitions; and into a world.
 *
 * Numbers by joint are a mapping `joint: value`, or one number for all joints. Motor couplings are the whole matrix, or
 * a list of { joints, matrix } blocks. A point of a foot with radius 0 becomes a tetrahedron standing on its tip: its
 * contact with anything flat is the point itself. */
#include "io/scene/scene_def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* joint_name(const mor_robot_model* m, int j)
{
    return mor_robot_link(m, mor_robot_link_of_joint(m, j))->joint_name;
}

int mor_scene_joint_number(const mor_robot_model* model, const mor_node* at, bool key, const char* name,
                           mor_error* error)
{
    int joint = mor_robot_find_joint(model, name);
    if (joint >= 0) return joint;
    const char* names[257];
    int k = 0;
    for (; k < 256 && k < mor_robot_joint_count(model); k++) names[k] = joint_name(model, k);
    names[k] = NULL;
    const char* near = mor_did_you_mean(name, names);
    mor_code (*fail)(const mor_node*, mor_error*, const char*, ...) = key ? mor_node_fail_key : mor_node_fail;
    if (near) fail(at, error, "the robot has no joint '%.60s'; did you mean '%s'?", name, near);
    else fail(at, error, "the robot has no joint '%.60s' that moves", name);
    return -1;
}

int mor_scene_frame_number(const mor_robot_model* model, const mor_node* at, const char* name, mor_error* error)
{
    int frame = mor_robot_find_frame(model, name);
    if (frame >= 0) return frame;
    const char* names[513];
    int k = 0;
    for (; k < 512 && k < mor_robot_frame_count(model); k++) names[k] = mor_robot_frame(model, k)->name;
    names[k] = NULL;
    const char* near = mor_did_you_mean(name, names);
    if (near) mor_node_fail(at, error, "the robot has no link '%.60s'; did you mean '%s'?", name, near);
    else mor_node_fail(at, error, "the robot has no link '%.60s'", name);
    return -1;
}

/* A number; .inf where it means "none". */
static mor_code read_one(const mor_node* node, const char* what, double* out, mor_error* error)
{
    if (node->kind == MOR_NODE_SCALAR && !node->quoted &&
        (strcmp(node->text, ".inf") == 0 || strcmp(node->text, "inf") == 0) && strstr(what, "limit")) {
        *out = INFINITY;
        return MOR_OK;
    }
    return mor_read_number(node, what, out, error);
}

mor_code mor_scene_by_joint(const mor_robot_model* model, const mor_node* node, const char* what, double* out,
                            mor_error* error)
{
    int n = mor_robot_joint_count(model);
    mor_code code = MOR_OK;
    if (!node) return MOR_OK;
    if (node->kind == MOR_NODE_SCALAR) {
        double x;
        if ((code = read_one(node, what, &x, error))) return code;
        for (int j = 0; j < n; j++) out[j] = x;
        return MOR_OK;
    }
    if (node->kind != MOR_NODE_MAP)
        return mor_node_fail(node, error, "%s must be a number or a mapping joint: number", what);
    for (const mor_node* v = node->first; v && code == MOR_OK; v = v->next) {
        int joint = mor_scene_joint_number(model, v, true, v->key, error);
        if (joint < 0) return MOR_BAD_INPUT;
        code = read_one(v, what, &out[joint], error);
    }
    return code;
}

/* A list of joint names as flags. */
static mor_code read_flags(const mor_robot_model* model, const mor_node* list, const char* what, bool* flags,
                           mor_error* error)
{
    mor_code code = mor_read_list(list, what, error);
    for (const mor_node* n = list->first; n && code == MOR_OK; n = n->next) {
        const char* name;
        if ((code = mor_read_text(n, "joint", &name, error))) return code;
        int joint = mor_scene_joint_number(model, n, false, name, error);
        if (joint < 0) return MOR_BAD_INPUT;
        flags[joint] = true;
    }
    return code;
}

/* A square matrix of `size` rows, placed at rows and columns `at` of out (n x n). */
static mor_code read_matrix(const mor_node* node, const char* what, int size, const int* at, int n, double* out,
                            mor_error* error)
{
    if (node->kind != MOR_NODE_LIST || node->count != size)
        return mor_node_fail(node, error, "%s must have %d rows, one per joint, not %d", what, size,
                             node->kind == MOR_NODE_LIST ? node->count : 0);
    int i = 0;
    for (const mor_node* row = node->first; row; row = row->next, i++) {
        double values[256];
        if (size > 256) return mor_node_fail(node, error, "%s is larger than 256", what);
        mor_code code = mor_read_numbers(row, what, values, size, error);
        if (code) return code;
        for (int j = 0; j < size; j++) out[at[i] * n + at[j]] = values[j];
    }
    return MOR_OK;
}

/* `coupling` and `reflected_inertia` as matrices: whole, or blocks { joints, matrix }. */
static mor_code read_blocks(mor_scene* scene, const mor_robot_model* m, const mor_node* node, const char* what,
                            double* out, mor_error* error)
{
    int n = mor_robot_joint_count(m);
    int* at = mor_scene_alloc(scene, (size_t)n + 1, sizeof *at, error);
    if (!at) return MOR_SYSTEM;
    mor_code code = mor_read_list(node, what, error);
    if (code) return code;
    if (node->first && node->first->kind == MOR_NODE_LIST) {
        for (int j = 0; j < n; j++) at[j] = j;
        return read_matrix(node, what, n, at, n, out, error);
    }
    for (const mor_node* b = node->first; b && code == MOR_OK; b = b->next) {
        mor_raw_block raw;
        if ((code = mor_keys_read(&mor_keys_block, b, scene->dimension, &raw, error))) return code;
        if ((code = mor_read_list(raw.joints, "joints", error))) return code;
        int k = 0;
        for (const mor_node* j = raw.joints->first; j; j = j->next, k++) {
            const char* name;
            if ((code = mor_read_text(j, "joint", &name, error))) return code;
            int number = mor_scene_joint_number(m, j, false, name, error);
            if (number < 0) return MOR_BAD_INPUT;
            if (k < n) at[k] = number;
        }
        if (k > n) return mor_node_fail(raw.joints, error, "more joints than the robot has");
        code = read_matrix(raw.matrix, what, k, at, n, out, error);
    }
    return code;
}

static double* filled(mor_scene* scene, int n, double value, mor_error* error)
{
    double* x = mor_scene_alloc(scene, (size_t)n + 1, sizeof *x, error);
    for (int j = 0; x && j < n; j++) x[j] = value;
    return x;
}

/* A map of nothing says nothing. */
static const mor_node* said(const mor_node* n) { return n && n->kind == MOR_NODE_MAP && !n->first ? NULL : n; }

/* Reflected inertia, given or from rotors and gears, goes into the model. */
static mor_code read_inertia(mor_scene* scene, mor_scene_robot* robot, const mor_raw_motors* raw, const double* ratio,
                             const double* coupling, mor_error* error)
{
    const mor_robot_model* m = robot->model;
    int n = mor_robot_joint_count(m);
    double* matrix = mor_scene_alloc(scene, (size_t)(n * n) + 1, sizeof *matrix, error);
    double* diagonal = filled(scene, n, 0.0, error);
    if (!matrix || !diagonal) return MOR_SYSTEM;
    bool full = false;
    const mor_node *given = said(raw->reflected_inertia), *rotors = said(raw->rotor_inertia),
                   *at = given ? given : rotors;
    mor_code code = MOR_OK;
    if (given && rotors)
        return mor_node_fail(rotors, error,
                             "give rotor_inertia (with ratio and coupling) or reflected_inertia, not both");
    if (given && given->kind == MOR_NODE_LIST) {
        full = true;
        code = read_blocks(scene, m, given, "reflected_inertia", matrix, error);
    } else if (given) {
        code = mor_scene_by_joint(m, given, "reflected_inertia", diagonal, error);
    } else if (rotors) {
        double* rotor = filled(scene, n, 0.0, error);
        if (!rotor) return MOR_SYSTEM;
        if ((code = mor_scene_by_joint(m, rotors, "rotor_inertia", rotor, error))) return code;
        mor_error inner = { 0 };
        if (mor_reflected_inertia(n, ratio, rotor, coupling, matrix, &inner)) return mor_node_pass(at, &inner, error);
        full = coupling != NULL;
        for (int j = 0; j < n; j++) diagonal[j] = matrix[j * (n + 1)];
    } else {
        return MOR_OK;
    }
    if (code) return code;
    mor_error inner = { 0 };
    if (mor_robot_set_reflected(robot->model, full ? NULL : diagonal, full ? matrix : NULL, &inner))
        return mor_node_pass(at, &inner, error);
    return MOR_OK;
}

static mor_code read_motors(mor_scene* scene, mor_scene_robot* robot, const mor_node* node, mor_error* error)
{
    const mor_robot_model* m = robot->model;
    int n = mor_robot_joint_count(m);
    mor_raw_motors raw;
    mor_code code = mor_keys_read(&mor_keys_motors, node, scene->dimension, &raw, error);
    if (code) return code;
    mor_motors* d = &robot->motors;
    const struct {
        const mor_node* node;
        const char* name;
        const double** out;
        double initial;
    } all[] = { { raw.ratio, "ratio", &d->ratio, 1.0 },
                { raw.kt, "kt", &d->kt, 0.0 },
                { raw.current_limit, "current_limit", &d->current_limit, INFINITY },
                { raw.torque_limit, "torque_limit", &d->torque_limit, INFINITY },
                { raw.speed_limit, "speed_limit", &d->speed_limit, INFINITY },
                { raw.viscous, "viscous", &d->viscous, 0.0 },
                { raw.coulomb, "coulomb", &d->coulomb, 0.0 },
                { raw.bandwidth, "bandwidth", &d->bandwidth, 0.0 },
                { raw.damping_ratio, "damping_ratio", &d->damping_ratio, 0.0 } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (!all[k].node) continue;
        double* x = filled(scene, n, all[k].initial, error);
        if (!x) return MOR_SYSTEM;
        for (int j = 0; k == 3 && j < n; j++) { /* joints that are not named keep the model's effort */
            double effort = mor_robot_link(m, mor_robot_link_of_joint(m, j))->effort;
            if (effort > 0.0) x[j] = effort;
        }
        if ((code = mor_scene_by_joint(m, all[k].node, all[k].name, x, error))) return code;
        *all[k].out = x;
    }
    if (raw.coupling) {
        double* T = filled(scene, n * n, 0.0, error);
        if (!T) return MOR_SYSTEM;
        for (int j = 0; j < n; j++) T[j * (n + 1)] = 1.0;
        if ((code = read_blocks(scene, m, raw.coupling, "coupling", T, error))) return code;
        d->coupling = T;
    }
    return read_inertia(scene, robot, &raw, d->ratio, d->coupling, error);
}

/* ------------------------------------------------------------------------------------- feet */

static mor_code add_point_shape(mor_scene* scene, mor_scene_robot* robot, const mor_node* at, int frame, mor_vec3 p,
                                double radius, mor_error* error)
{
    const mor_frame_def* f = mor_robot_frame(robot->model, frame);
    mor_error inner = { 0 };
    mor_geometry* g = radius > 0.0 ? mor_geometry_sphere(radius, &inner) : mor_geometry_point(&inner);
    if (!g) return mor_node_pass(at, &inner, error);
    mor_scene_geometry* owned = mor_scene_alloc(scene, 1, sizeof *owned, error);
    if (!owned) {
        mor_geometry_release(g);
        return MOR_SYSTEM;
    }
    *owned = (mor_scene_geometry){ g, scene->geometries };
    scene->geometries = owned;
    mor_link_shape shape = {
        .link = f->link, .geometry = g, .pose = { mor_pose_point(&f->pose, p), f->pose.rotation }, .frame = frame
    };
    if (mor_robot_add_shape(robot->model, &shape, &inner)) return mor_node_pass(at, &inner, error);
    return MOR_OK;
}

static mor_code read_foot(mor_scene* scene, mor_scene_robot* robot, const mor_node* node, bool shapes, mor_error* error)
{
    mor_raw_foot raw;
    mor_code code = mor_keys_read(&mor_keys_foot, node, scene->dimension, &raw, error);
    if (code) return code;
    int frame = mor_scene_frame_number(robot->model, mor_node_get(node, "link"), raw.link, error);
    if (frame < 0) return MOR_BAD_INPUT;
    robot->feet[robot->foot_count++] = frame;
    if (!shapes) {
        char note[240];
        snprintf(note, sizeof note,
                 "robot %.60s: the points of foot %.60s do not touch anything: its shapes do ('collide: feet' for the "
                 "points)",
                 robot->def.name, raw.link);
        return raw.points ? mor_scene_note(scene, note, error) : MOR_OK;
    }
    if (!raw.points) return mor_node_fail(node, error, "with 'collide: feet' a foot has 'points'; add them");
    if ((code = mor_read_list(raw.points, "points", error))) return code;
    for (const mor_node* p = raw.points->first; p && code == MOR_OK; p = p->next) {
        mor_vec3 x;
        if ((code = mor_read_vector(p, "point", 3, &x, error))) return code;
        code = add_point_shape(scene, robot, p, frame, x, raw.radius, error);
    }
    return code;
}

/* ---------------------------------------------------------------------------------- sensors */

static mor_code read_sensor(mor_scene* scene, mor_scene_robot* robot, const mor_node* node, mor_error* error)
{
    mor_raw_sensor raw;
    mor_code code = mor_keys_read(&mor_keys_sensor, node, scene->dimension, &raw, error);
    if (code) return code;
    mor_sensor_def* d = &robot->sensors[robot->sensor_count++];
    *d = mor_sensor_def_default();
    d->kind = (mor_sensor_kind)raw.type;
    bool on_joint = d->kind == MOR_SENSOR_ENCODER || d->kind == MOR_SENSOR_TORQUE;
    const char *need = on_joint ? "joint" : "link", *wrong = on_joint ? "link" : "joint";
    if (!mor_node_get(node, need)) return mor_node_fail(node, error, "this sensor has no '%s'; add it", need);
    if (mor_node_get(node, wrong))
        return mor_node_fail_key(mor_node_get(node, wrong), error, "this sensor sits on a %s, not on a %s", need,
                                 wrong);
    if (on_joint) d->joint = mor_scene_joint_number(robot->model, mor_node_get(node, "joint"), false, raw.joint, error);
    else d->frame = mor_scene_frame_number(robot->model, mor_node_get(node, "link"), raw.link, error);
    if ((on_joint ? d->joint : d->frame) < 0) return MOR_BAD_INPUT;
    if (raw.name) snprintf(d->name, sizeof d->name, "%s", raw.name);
    d->noise = raw.noise;
    d->bias = raw.bias;
    d->resolution = raw.resolution;
    d->threshold = raw.threshold;
    /* a generator of its own, drawn from the scene's, so that sensors do not disturb each other */
    if (d->noise > 0.0 || d->bias > 0.0) {
        mor_rng_uniform(&scene->rng);
        d->seed = scene->rng.state;
    }
    return MOR_OK;
}

/* -------------------------------------------------------------------------------- all of it */

mor_code mor_scene_read_actuation(mor_scene* scene, mor_scene_robot* robot, const mor_raw_robot* raw, mor_error* error)
{
    mor_code code = MOR_OK;
    int n = mor_robot_joint_count(robot->model);
    if (raw->actuated) {
        bool* flags = mor_scene_alloc(scene, (size_t)n + 1, sizeof *flags, error);
        if (!flags) return MOR_SYSTEM;
        if ((code = read_flags(robot->model, raw->actuated, "actuated", flags, error))) return code;
        robot->motors.actuated = flags;
    }
    if (raw->motors && (code = read_motors(scene, robot, raw->motors, error))) return code;
    if (raw->feet) {
        if ((code = mor_read_list(raw->feet, "feet", error))) return code;
        robot->feet = mor_scene_alloc(scene, (size_t)raw->feet->count + 1, sizeof *robot->feet, error);
        if (!robot->feet) return MOR_SYSTEM;
        for (const mor_node* f = raw->feet->first; f && code == MOR_OK; f = f->next)
            code = read_foot(scene, robot, f, raw->collide == 2, error);
    } else if (raw->collide == 2) {
        return mor_node_fail(mor_node_get(robot->node, "collide"), error, "'collide: feet' needs 'feet' with points");
    }
    if (code || !raw->sensors) return code;
    if ((code = mor_read_list(raw->sensors, "sensors", error))) return code;
    robot->sensors = mor_scene_alloc(scene, (size_t)raw->sensors->count + 1, sizeof *robot->sensors, error);
    if (!robot->sensors) return MOR_SYSTEM;
    for (const mor_node* s = raw->sensors->first; s && code == MOR_OK; s = s->next)
        code = read_sensor(scene, robot, s, error);
    return code;
}

mor_code mor_scene_refuse_actuation(const mor_scene_robot* robot, mor_error* error)
{
    static const char* const keys[] = { "motors", "actuated", "sensors", "feet" };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        const mor_node* n = mor_node_get(robot->node, keys[k]);
        if (n) return mor_node_fail_key(n, error, "%s of robots need 'coordinates: minimal'", keys[k]);
    }
    return MOR_OK;
}

mor_code mor_scene_add_actuation(const mor_scene* scene, mor_world* world, int robot, mor_error* error)
{
    const mor_scene_robot* r = &scene->robots[robot];
    mor_error inner = { 0 };
    mor_code code = mor_world_watch_robot(world, robot, &inner);
    if (code == MOR_OK) code = mor_world_set_motors(world, robot, &r->motors, &inner);
    for (int i = 0; i < r->foot_count && code == MOR_OK; i++)
        if (mor_world_add_foot(world, robot, r->feet[i], &inner) < 0) code = inner.code;
    for (int i = 0; i < r->sensor_count && code == MOR_OK; i++) {
        mor_sensor_def d = r->sensors[i];
        d.robot = robot;
        if (mor_world_add_sensor(world, &d, &inner) < 0) code = inner.code;
    }
    if (code == MOR_OK) return MOR_OK;
    const mor_node* at = mor_node_get(r->node, "motors");
    return code == MOR_SYSTEM ? mor_fail(error, code, "%s", inner.text)
                              : mor_node_pass(at ? at : r->node, &inner, error);
}
