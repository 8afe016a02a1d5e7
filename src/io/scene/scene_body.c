/* Bodies: what is written in one entry of `bodies` to a definition with shapes, material, mass and
 * motion. */
#include "base/elementary.h"
#include "io/scene/scene_def.h"

#include <stdio.h>
#include <string.h>

static mor_code read_quaternion(const mor_node* node, mor_quat* turn, mor_error* error)
{
    double q[4];
    mor_code code = mor_read_numbers(node, "orientation", q, 4, error);
    if (code) return code;
    double norm = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(norm > 1e-9))
        return mor_node_fail(node, error, "the quaternion is zero; give [w, x, y, z], for no rotation [1, 0, 0, 0]");
    *turn = mor_quat_normalize((mor_quat){ q[0], q[1], q[2], q[3] });
    return MOR_OK;
}

static mor_code read_angles(const mor_node* node, mor_quat* turn, mor_error* error)
{
    mor_raw_orientation raw;
    mor_code code = mor_keys_read(&mor_keys_orientation, node, 3, &raw, error);
    if (code) return code;
    const mor_node *rpy = mor_node_get(node, "rpy"), *axis = mor_node_get(node, "axis"),
                   *angle = mor_node_get(node, "angle");
    const double degree = 0.017453292519943295;
    if (rpy && (axis || angle))
        return mor_node_fail_key(axis ? axis : angle, error, "give either rpy or axis and angle, not both");
    if (rpy) { /* about the fixed axes x, then y, then z */
        mor_quat x = mor_quat_axis_angle(mor_v3(1, 0, 0), degree * raw.rpy.x),
                 y = mor_quat_axis_angle(mor_v3(0, 1, 0), degree * raw.rpy.y),
                 z = mor_quat_axis_angle(mor_v3(0, 0, 1), degree * raw.rpy.z);
        *turn = mor_quat_mul(z, mor_quat_mul(y, x));
        return MOR_OK;
    }
    if (!axis || !angle)
        return mor_node_fail(node, error, "orientation has no '%s'; give { axis, angle } or { rpy }",
                             axis ? "angle" : "axis");
    double norm = mor_norm(raw.axis);
    if (!(norm > 1e-9)) return mor_node_fail(mor_node_get(node, "axis"), error, "the axis has no length");
    *turn = mor_quat_axis_angle(mor_scale(1.0 / norm, raw.axis), degree * raw.angle);
    return MOR_OK;
}

mor_code mor_scene_read_turn(const mor_scene* scene, const mor_node* map, mor_quat* turn, mor_error* error)
{
    const mor_node *node = mor_node_get(map, "orientation"), *angle = mor_node_get(map, "angle");
    *turn = mor_quat_identity();
    if (node && angle) return mor_node_fail_key(angle, error, "give either the orientation or the angle");
    if (!node) node = angle;
    if (!node) return MOR_OK;
    if (scene->dimension == 2) {
        double radians;
        mor_code code = mor_read_number(node, node->key, &radians, error);
        if (code == MOR_OK) *turn = (mor_quat){ mor_cos(0.5 * radians), 0, 0, mor_sin(0.5 * radians) };
        return code;
    }
    if (node->kind == MOR_NODE_MAP) return read_angles(node, turn, error);
    if (node->kind == MOR_NODE_LIST) return read_quaternion(node, turn, error);
    return mor_node_fail(node, error,
                         "orientation must be a quaternion [w, x, y, z], { axis: [x, y, z], angle: degrees } or "
                         "{ rpy: [roll, pitch, yaw] } in degrees");
}

/* The material: named, or made from what is given in the body. */
static mor_code read_material(mor_scene* scene, const mor_node* node, const mor_raw_body* raw, mor_body_def* def,
                              mor_error* error)
{
    static const char* const own[] = { "friction", "restitution", "rolling", "drilling", "density" };
    const mor_node* first = NULL;
    for (size_t i = 0; i < sizeof own / sizeof *own && !first; i++) first = mor_node_get(node, own[i]);
    def->material = scene->default_material;
    if (raw->material) {
        if (first)
            return mor_node_fail_key(first, error, "give either a material or a %s of the body's own", first->key);
        def->material = mor_scene_material(scene, mor_node_get(node, "material"), raw->material, error);
        return def->material < 0 ? MOR_BAD_INPUT : MOR_OK;
    }
    if (!first) return MOR_OK;
    mor_material material = scene->materials[scene->default_material];
    snprintf(material.name, sizeof material.name, "%s", def->name);
    if (!isnan(raw->friction)) material.friction = raw->friction;
    if (!isnan(raw->restitution)) material.restitution = raw->restitution;
    if (!isnan(raw->rolling)) material.rolling = raw->rolling;
    if (!isnan(raw->drilling)) material.drilling = raw->drilling;
    if (!isnan(raw->density)) material.density = raw->density;
    def->material = scene->material_count;
    scene->materials[scene->material_count++] = material;
    return MOR_OK;
}

static mor_code read_kinematic(mor_scene* scene, const mor_node* node, mor_scene_body* body, mor_error* error)
{
    mor_raw_kinematic raw;
    const mor_node* kinematic = mor_node_get(node, "kinematic");
    mor_code code = mor_keys_read(&mor_keys_kinematic, kinematic, scene->dimension, &raw, error);
    if (code) return code;
    static const char* const moved[] = { "velocity", "angular_velocity" };
    for (int i = 0; i < 2; i++) {
        const mor_node* n = mor_node_get(node, moved[i]);
        if (n) return mor_node_fail_key(n, error, "the %s of a kinematic body goes into 'kinematic'", moved[i]);
    }
    body->def.velocity = raw.velocity;
    body->def.angular_velocity = raw.angular_velocity;
    if (!raw.motion) return MOR_OK;

    static const char* const replaced[] = { "position", "orientation", "angle", "grid", "repeat", "random" };
    for (int i = 0; i < 6; i++) {
        const mor_node* n = mor_node_get(node, replaced[i]);
        if (n) return mor_node_fail_key(n, error, "the motion says where the body is; leave out '%s'", replaced[i]);
    }
    for (int i = 0; i < 2; i++) {
        const mor_node* n = mor_node_get(kinematic, moved[i]);
        if (n) return mor_node_fail_key(n, error, "give either a motion or a %s", moved[i]);
    }
    body->motion = mor_motion_read(scene, mor_node_get(kinematic, "motion"), raw.motion, error);
    if (!body->motion) return MOR_BAD_INPUT;
    body->def.motion = mor_motion_pose;
    body->def.motion_user = body->motion;
    mor_motion_pose(body->motion, 0.0, &body->def.pose);
    return MOR_OK;
}

static mor_code read_support(const mor_scene* scene, const mor_node* node, mor_body_def* def, mor_error* error)
{
    mor_raw_support raw;
    mor_code code = mor_keys_read(&mor_keys_support, node, scene->dimension, &raw, error);
    if (code) return code;
    if (def->kind != MOR_DYNAMIC) return mor_node_fail_key(node, error, "only bodies that move freely have a support");
    def->support = (mor_body_support){ raw.friction, raw.radius, raw.kind == 1, raw.gravity };
    return MOR_OK;
}

/* dynamic, fixed or kinematic, and what each may have */
static mor_code read_kind(mor_scene* scene, const mor_node* node, const mor_raw_body* raw, mor_scene_body* body,
                          mor_error* error)
{
    body->def.kind = raw->fixed ? MOR_FIXED : raw->kinematic ? MOR_KINEMATIC : MOR_DYNAMIC;
    body->def.velocity = raw->velocity;
    body->def.angular_velocity = raw->angular_velocity;
    body->def.surface_velocity = raw->surface_velocity;
    mor_code code = raw->support ? read_support(scene, raw->support, &body->def, error) : MOR_OK;
    if (code) return code;
    if (raw->fixed && raw->kinematic)
        return mor_node_fail_key(raw->kinematic, error, "a body is either fixed or kinematic");
    if (raw->kinematic) return read_kinematic(scene, node, body, error);
    if (raw->fixed) {
        const mor_node* n = mor_node_get(node, "velocity");
        if (!n) n = mor_node_get(node, "angular_velocity");
        if (n)
            return mor_node_fail_key(
                n, error, "a fixed body has no %s; use 'kinematic' or, for a belt, 'surface_velocity'", n->key);
        return MOR_OK;
    }
    const mor_node* belt = mor_node_get(node, "surface_velocity");
    if (belt)
        return mor_node_fail_key(belt, error,
                                 "only fixed and kinematic bodies have a surface velocity; add 'fixed: true'");
    return MOR_OK;
}

static mor_code read_inertia(const mor_scene* scene, const mor_node* node, double mass, mor_body_def* def,
                             mor_error* error)
{
    double v[6] = { 0 };
    mor_code code;
    if (scene->dimension == 2) {
        if ((code = mor_read_number(node, "inertia", v, error))) return code;
        if (!(v[0] > 0)) return mor_node_fail(node, error, "inertia %.40s is not positive", node->text);
        def->inertia = mor_mat3_diag(v[0], v[0], v[0]);
        def->has_inertia = true;
        return MOR_OK;
    }
    if ((code = mor_read_numbers(node, "inertia", v, 6, error))) return code;
    def->inertia = (mor_mat3){ { { v[0], v[3], v[4] }, { v[3], v[1], v[5] }, { v[4], v[5], v[2] } } };
    def->has_inertia = true;
    mor_error inner = { 0 };
    const mor_mass whole = { mass, def->com, def->inertia };
    if (mor_mass_check(&whole, &inner)) return mor_node_fail(node, error, "%s", inner.text);
    return MOR_OK;
}

/* The first height field among the shapes, or NULL. */
static const mor_node* ground_of(const mor_node* shape)
{
    if (shape->kind != MOR_NODE_LIST) return shape->kind == MOR_NODE_MAP ? mor_node_get(shape, "heightfield") : NULL;
    const mor_node* found = NULL;
    for (const mor_node* n = shape->first; n && !found; n = n->next)
        if (n->kind == MOR_NODE_MAP) found = mor_node_get(n, "heightfield");
    return found;
}

/* Mass, inertia, centre of mass; bodies that move need a shape that can move and a mass. */
static mor_code read_mass(const mor_scene* scene, const mor_node* node, const mor_raw_body* raw, mor_body_def* def,
                          mor_error* error)
{
    double mass = 0.0;
    const mor_node* ground = ground_of(raw->shape);
    if (ground && def->kind == MOR_DYNAMIC)
        return mor_node_fail_key(ground, error,
                                 "a height field cannot be a moving body; add 'fixed: true' to the body");
    for (int i = 0; i < def->shape_count; i++) {
        const mor_body_shape* shape = &def->shapes[i];
        mor_shape_kind kind = shape->geometry->kind;
        if (def->kind == MOR_DYNAMIC && (kind == MOR_PLANE || kind == MOR_CHAIN))
            return mor_node_fail(raw->shape, error, "a %s cannot be a moving body; add 'fixed: true' to the body",
                                 kind == MOR_PLANE ? "plane" : "chain");
        int material = shape->material < 0 ? def->material : shape->material;
        mass += scene->materials[material].density * shape->geometry->unit.mass;
    }
    def->mass = isnan(raw->mass) ? 0.0 : raw->mass;
    if (!isnan(raw->mass)) mass = raw->mass;
    if (def->kind == MOR_DYNAMIC && !(mass > 0.0))
        return mor_node_fail(node, error, "the body has no mass: its shape has no volume; give a 'mass' in kg");
    if (def->kind == MOR_DYNAMIC && mass < MOR_LEAST_MASS) {
        const mor_node* given = mor_node_get(node, "mass");
        return mor_node_fail(given ? given : node, error, "mass %g kg is too small; the limit is %g kg", mass,
                             MOR_LEAST_MASS);
    }
    if (!(mass <= MOR_HUGE))
        return mor_node_fail(node, error, "the mass %g kg from volume and density is too large; the limit is %g", mass,
                             MOR_HUGE);
    if (mor_node_get(node, "com")) {
        def->has_com = true;
        def->com = raw->com;
    }
    return raw->inertia ? read_inertia(scene, raw->inertia, mass, def, error) : MOR_OK;
}

static mor_code read_name(const mor_node* node, const mor_raw_body* raw, int index, mor_body_def* def, mor_error* error)
{
    if (!raw->name) {
        snprintf(def->name, sizeof def->name, "body_%d", index);
        return MOR_OK;
    }
    const mor_node* at = mor_node_get(node, "name");
    if (strlen(raw->name) >= sizeof def->name)
        return mor_node_fail(at, error, "the name has more than %d bytes", (int)sizeof def->name - 1);
    if (strcmp(raw->name, "world") == 0)
        return mor_node_fail(at, error, "the name 'world' is taken by the world itself");
    snprintf(def->name, sizeof def->name, "%s", raw->name);
    return MOR_OK;
}

static mor_code read_body(mor_scene* scene, const mor_node* node, int index, mor_error* error)
{
    mor_raw_body raw;
    mor_code code = mor_keys_read(&mor_keys_body, node, scene->dimension, &raw, error);
    if (code) return code;
    mor_scene_body* body = &scene->bodies[index];
    body->node = node;
    body->def = mor_body_def_default();
    body->def.pose.position = raw.position;
    body->def.no_collision = !raw.collide;
    body->drop = raw.drop;
    body->color[3] = 1.0;
    if ((code = mor_scene_read_color(raw.color, raw.opacity, body, error))) return code;
    if ((code = mor_scene_read_turn(scene, node, &body->def.pose.rotation, error))) return code;
    if ((code = read_name(node, &raw, index, &body->def, error))) return code;
    if ((code = read_material(scene, node, &raw, &body->def, error))) return code;
    if ((code = mor_scene_read_shapes(scene, raw.shape, &body->def, error))) return code;
    if ((code = read_kind(scene, node, &raw, body, error))) return code;
    if ((code = read_mass(scene, node, &raw, &body->def, error))) return code;
    return mor_scene_place(scene, index, &raw, body->def.pose, error);
}

mor_code mor_scene_read_bodies(mor_scene* scene, const mor_node* list, mor_error* error)
{
    mor_code code = mor_read_list(list, "bodies", error);
    if (code) return code;
    scene->bodies = mor_scene_alloc(scene, (size_t)list->count + 1, sizeof *scene->bodies, error);
    if (!scene->bodies) return MOR_SYSTEM;
    for (const mor_node* n = list->first; n && code == MOR_OK; n = n->next)
        code = read_body(scene, n, scene->body_count++, error);
    return code;
}
