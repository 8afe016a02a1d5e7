/* Shapes: one mapping, or a list of them for a compound, to geometries with poses. */
#include "io/scene/scene_def.h"

#include <stdio.h>
#include <string.h>

typedef struct shape_list {
    mor_body_shape* shapes;
    int count, capacity;
} shape_list;

/* Takes over one reference. */
static mor_code keep(mor_scene* scene, mor_geometry* geometry, mor_error* error)
{
    mor_scene_geometry* link = mor_scene_alloc(scene, 1, sizeof *link, error);
    if (!link) {
        mor_geometry_release(geometry);
        return MOR_SYSTEM;
    }
    *link = (mor_scene_geometry){ geometry, scene->geometries };
    scene->geometries = link;
    return MOR_OK;
}

static mor_code append(mor_scene* scene, shape_list* list, mor_body_shape shape, mor_error* error)
{
    if (list->count == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 4;
        mor_body_shape* larger = mor_scene_alloc(scene, (size_t)capacity, sizeof *larger, error);
        if (!larger) return MOR_SYSTEM;
        if (list->count) memcpy(larger, list->shapes, (size_t)list->count * sizeof *larger);
        list->shapes = larger;
        list->capacity = capacity;
    }
    list->shapes[list->count++] = shape;
    return MOR_OK;
}

static mor_code read_points(mor_scene* scene, const mor_node* node, mor_vec3** points, int* count, mor_error* error)
{
    mor_code code = mor_read_list(node, node->key, error);
    if (code) return code;
    *points = mor_scene_alloc(scene, (size_t)node->count + 1, sizeof **points, error);
    if (!*points) return MOR_SYSTEM;
    *count = 0;
    for (const mor_node* n = node->first; n && code == MOR_OK; n = n->next)
        code = mor_read_vector(n, "point", scene->dimension, &(*points)[(*count)++], error);
    return code;
}

/* The rotation that takes z to the unit vector n along the shortest way. */
static mor_quat from_z(mor_vec3 n)
{
    if (n.z < -1.0 + 1e-12) return (mor_quat){ 0, 1, 0, 0 };
    return mor_quat_normalize((mor_quat){ 1.0 + n.z, -n.y, n.x, 0 });
}

static mor_geometry* make_plane(const mor_node* node, mor_pose* local, mor_error* error)
{
    mor_raw_plane raw;
    if (node->kind == MOR_NODE_SCALAR && !*node->text) return mor_geometry_plane(error); /* `plane:` alone */
    if (mor_keys_read(&mor_keys_plane, node, 3, &raw, error)) return NULL;
    const mor_node* normal = mor_node_get(node, "normal");
    if (!normal) raw.normal = mor_v3(0, 0, 1);
    double length = mor_norm(raw.normal);
    if (!(length > 1e-9)) {
        mor_node_fail(normal, error, "the normal of a plane has no length; give a direction such as [0, 0, 1]");
        return NULL;
    }
    *local = (mor_pose){ raw.point, from_z(mor_scale(1.0 / length, raw.normal)) };
    return mor_geometry_plane(error);
}

static mor_geometry* make_round(const mor_node* node, mor_error* error)
{
    mor_raw_round raw;
    const mor_key_table* table = strcmp(node->key, "capsule") == 0    ? &mor_keys_capsule
                                 : strcmp(node->key, "cylinder") == 0 ? &mor_keys_cylinder
                                 : strcmp(node->key, "prism") == 0    ? &mor_keys_prism
                                                                      : &mor_keys_cone;
    if (mor_keys_read(table, node, 3, &raw, error)) return NULL;
    if (table == &mor_keys_capsule) return mor_geometry_capsule(raw.radius, raw.length, error);
    if (table == &mor_keys_cone) return mor_geometry_cone(raw.radius, raw.height, error);
    if (raw.sides == 1 || raw.sides == 2) {
        mor_node_fail(mor_node_get(node, "sides"), error,
                      "sides %d is too few; give 0 for a smooth cylinder or 3 or more", raw.sides);
        return NULL;
    }
    return mor_geometry_cylinder(raw.radius, raw.length, raw.sides, error);
}

static mor_geometry* make_solid(const mor_node* node, mor_error* error)
{
    mor_raw_solid raw;
    if (mor_keys_read(&mor_keys_solid, node, 3, &raw, error)) return NULL;
    if (isnan(raw.edge) == isnan(raw.radius)) {
        mor_node_fail(node, error, "give either the edge or the radius of the %s", node->key);
        return NULL;
    }
    return mor_geometry_platonic(node->key, isnan(raw.edge) ? 0.0 : raw.edge, isnan(raw.radius) ? 0.0 : raw.radius,
                                 error);
}

static mor_geometry* make_box(const mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_vec3 v;
    if (mor_read_vector(node, "box", scene->dimension, &v, error)) return NULL;
    int i = 0;
    for (const mor_node* n = node->first; n; n = n->next, i++)
        if (!(mor_axis(v, i) > 0.0)) {
            mor_node_fail(n, error, "box edge %.40s is %s; give a positive number in m", n->text,
                          mor_axis(v, i) == 0.0 ? "zero" : "negative");
            return NULL;
        }
    if (scene->dimension == 3) return mor_geometry_box(v.x, v.y, v.z, error);
    double x = 0.5 * v.x, y = 0.5 * v.y;
    return mor_geometry_polygon((mor_vec3[]){ { -x, -y, 0 }, { x, -y, 0 }, { x, y, 0 }, { -x, y, 0 } }, 4, error);
}

static mor_geometry* make_ellipsoid(const mor_node* node, mor_error* error)
{
    mor_vec3 v;
    if (mor_read_vector(node, "ellipsoid", 3, &v, error)) return NULL;
    int i = 0;
    for (const mor_node* n = node->first; n; n = n->next, i++)
        if (!(mor_axis(v, i) > 0.0)) {
            mor_node_fail(n, error, "semi-axis %.40s is %s; give a positive number in m", n->text,
                          mor_axis(v, i) == 0.0 ? "zero" : "negative");
            return NULL;
        }
    return mor_geometry_ellipsoid(v.x, v.y, v.z, error);
}

static mor_geometry* make_from_points(mor_scene* scene, const mor_node* node, mor_error* error)
{
    mor_vec3* points;
    int count;
    if (read_points(scene, node, &points, &count, error)) return NULL;
    if (strcmp(node->key, "hull") == 0) return mor_geometry_hull(points, count, error);
    if (strcmp(node->key, "polygon") == 0) return mor_geometry_polygon(points, count, error);
    return mor_geometry_chain(points, count, error);
}

/* One geometry; errors of the makers have no position yet. */
static mor_geometry* make(mor_scene* scene, const mor_node* node, const mor_raw_shape* raw, mor_pose* local,
                          mor_error* error)
{
    const char* kind = node->key;
    if (strcmp(kind, "sphere") == 0) return mor_geometry_sphere(raw->sphere, error);
    if (strcmp(kind, "disc") == 0) return mor_geometry_disc(raw->disc, error);
    if (strcmp(kind, "particle") == 0) return mor_geometry_particle(error);
    if (strcmp(kind, "plane") == 0) return make_plane(node, local, error);
    if (strcmp(kind, "ellipsoid") == 0) return make_ellipsoid(node, error);
    if (strcmp(kind, "box") == 0) return make_box(scene, node, error);
    if (node == raw->hull || node == raw->polygon || node == raw->chain) return make_from_points(scene, node, error);
    if (node == raw->capsule || node == raw->cylinder || node == raw->prism || node == raw->cone)
        return make_round(node, error);
    return make_solid(node, error);
}

/* The key that says which shape it is; NULL with an error unless there is exactly one. */
static const mor_node* find_kind(const mor_node* node, mor_error* error)
{
    static const char* const others[] = { "decompose",   "scale", "axis",     "position",
                                          "orientation", "angle", "material", NULL };
    const mor_node* kind = NULL;
    for (const mor_node* n = node->first; n; n = n->next) {
        const char* const* o = others;
        while (*o && strcmp(*o, n->key) != 0) o++;
        if (*o) continue;
        if (kind) {
            mor_node_fail_key(n, error, "a shape is one thing, and this is %s and %s; make a list for a compound",
                              kind->key, n->key);
            return NULL;
        }
        kind = n;
    }
    if (!kind) mor_node_fail(node, error, "the shape has no kind; give one such as 'sphere: 0.5' or 'box: [1, 1, 1]'");
    return kind;
}

/* How a mesh file is taken. */
typedef struct mesh_use {
    const char* file;
    bool hull;                 /* all of it as one convex hull */
    const mor_node* decompose; /* or cut into convex pieces */
    double scale;
} mesh_use;

/* The pieces of a decomposition; it is remembered and told. */
static mor_code cut_mesh(mor_scene* scene, const mesh_use* use, const char* path, mor_geometry** pieces, int* count,
                         char* notes, size_t notes_size, mor_error* error, mor_error* inner)
{
    mor_decompose_def normal = mor_decompose_def_default();
    mor_raw_decompose raw = { normal.pieces, normal.concavity };
    const mor_node* node = use->decompose;
    bool bare = node->kind == MOR_NODE_SCALAR && (!*node->text || strcmp(node->text, "true") == 0);
    mor_code code = bare ? MOR_OK : mor_keys_read(&mor_keys_decompose, node, 3, &raw, error);
    mor_scene_cut* cut = code ? NULL : mor_scene_alloc(scene, 1, sizeof *cut, error);
    if (!cut) return code ? code : MOR_SYSTEM;
    mor_decompose_def def = { raw.pieces, raw.concavity };
    code =
        mor_mesh_decompose(path, use->scale, 0, &def, pieces, MOR_MESH_PIECES, &cut->report, notes, notes_size, inner);
    if (code) return code;
    cut->file = use->file;
    mor_scene_cut** last = &scene->cuts;
    while (*last) last = &(*last)->next;
    *last = cut;
    const mor_decomposition* r = &cut->report;
    *count = r->pieces;
    size_t used = strlen(notes);
    char told[400];
    snprintf(told, sizeof told,
             "%s%.200s: %d convex pieces, volume %.4g m^3 (mesh %.4g, %+.2g %%), Hausdorff distance %.3g m (%.2g %% of "
             "the diagonal)",
             used ? "; " : "", use->file, r->pieces, r->pieces_volume, r->volume,
             100.0 * (r->pieces_volume / r->volume - 1.0), r->hausdorff, 100.0 * r->hausdorff / r->diagonal);
    snprintf(notes + used, notes_size - used, "%s", told);
    return MOR_OK;
}

/* The pieces of a mesh file: its objects, their one hull, or what it is cut into. */
static mor_code add_mesh(mor_scene* scene, shape_list* list, const mor_node* node, const mesh_use* use,
                         mor_body_shape shape, mor_error* error)
{
    const char* path = mor_path_from(&scene->document, node, use->file, error);
    mor_geometry** pieces = mor_scene_alloc(scene, MOR_MESH_PIECES, sizeof *pieces, error);
    if (!path || !pieces) return MOR_SYSTEM;
    mor_error inner = { 0 };
    char notes[2048] = "";
    int count = 0;
    mor_code code;
    if (use->decompose) code = cut_mesh(scene, use, path, pieces, &count, notes, sizeof notes, error, &inner);
    else
        code = mor_mesh_read_as(path, use->scale, use->hull ? MOR_MESH_ONE_HULL : 0, pieces, MOR_MESH_PIECES, &count,
                                notes, sizeof notes, &inner);
    if (code && !inner.code) return code; /* the sentence is written */
    if (code == MOR_BAD_INPUT) return mor_node_fail(node, error, "%s", inner.text);
    if (code) return mor_fail(error, code, "%s", inner.text);
    for (int i = 0; i < count; i++) {
        mor_code kept = keep(scene, pieces[i], error);
        shape.geometry = pieces[i];
        if (kept == MOR_OK) kept = append(scene, list, shape, error);
        if (kept) code = kept;
    }
    if (code == MOR_OK && *notes) code = mor_scene_note(scene, notes, error);
    if (code == MOR_OK && count == 0) code = mor_node_fail(node, error, "the mesh has no pieces");
    return code;
}

/* The pieces of a height field. */
static mor_code add_heightfield(mor_scene* scene, shape_list* list, const mor_node* node, double scale,
                                const mor_body_shape* at, mor_error* error)
{
    mor_heightfield field;
    mor_code code = mor_scene_read_heightfield(scene, node, scale, &field, error);
    if (code) return code;
    int cells = (field.columns - 1) * (field.rows - 1),
        capacity = cells < MOR_FIELD_PIECES ? 2 * cells : MOR_FIELD_PIECES;
    unsigned char* taken = mor_scene_alloc(scene, (size_t)cells, 1, error);
    mor_field_piece* pieces = mor_scene_alloc(scene, (size_t)capacity, sizeof *pieces, error);
    if (!taken || !pieces) return MOR_SYSTEM;
    int count = mor_heightfield_cut(&field, taken, pieces, capacity);
    if (count < 0)
        return mor_node_fail(node, error,
                             "the height field has %d cells and becomes more than %d convex pieces, two for each cell "
                             "that is not flat; take fewer points",
                             cells, (int)MOR_FIELD_PIECES);
    const double floor = mor_heightfield_floor(&field);
    for (int k = 0; k < count && code == MOR_OK; k++) {
        mor_error inner = { 0 };
        mor_pose local = mor_pose_identity();
        mor_geometry* geometry = mor_heightfield_piece(&field, &pieces[k], floor, &local.position, &inner);
        if (!geometry && inner.code == MOR_BAD_INPUT)
            return mor_node_fail(node, error, "cell %d of row %d: %s", pieces[k].first[0] + 1, pieces[k].first[1] + 1,
                                 inner.text);
        if (!geometry) return mor_fail(error, inner.code ? inner.code : MOR_SYSTEM, "%s", inner.text);
        code = keep(scene, geometry, error);
        mor_body_shape shape = { geometry, mor_pose_mul(&at->pose, &local), at->material };
        if (code == MOR_OK) code = append(scene, list, shape, error);
    }
    return code;
}

static mor_code scale_by(mor_scene* scene, mor_geometry** geometry, const mor_node* at, double scale, mor_error* error)
{
    if ((*geometry)->kind == MOR_PLANE || (*geometry)->kind == MOR_PARTICLE)
        return mor_node_fail(at, error, "a %s has no size to scale",
                             (*geometry)->kind == MOR_PLANE ? "plane" : "particle");
    mor_error inner = { 0 };
    mor_geometry* scaled = mor_geometry_scaled(*geometry, scale, &inner);
    if (!scaled) return mor_node_pass(at, &inner, error);
    *geometry = scaled;
    return keep(scene, scaled, error);
}

/* `shape: particle` and `shape: plane`, which have no sizes. */
static mor_code add_bare(mor_scene* scene, shape_list* list, const mor_node* node, mor_error* error)
{
    bool plane = strcmp(node->text, "plane") == 0;
    if (plane != (scene->dimension == 3))
        return mor_node_fail(node, error, "a %s is only for %d-D worlds, and this one has dimension %d; %s", node->text,
                             plane ? 3 : 2, scene->dimension,
                             plane ? "a long ground is { chain: [[-10, 0], [10, 0]] }"
                                   : "a small body is { sphere: 0.01 }");
    mor_geometry* geometry = plane ? mor_geometry_plane(error) : mor_geometry_particle(error);
    if (!geometry) return MOR_SYSTEM;
    mor_code code = keep(scene, geometry, error);
    return code ? code : append(scene, list, (mor_body_shape){ geometry, mor_pose_identity(), -1 }, error);
}

static mor_code add_shape(mor_scene* scene, shape_list* list, const mor_node* node, mor_error* error)
{
    if (node->kind == MOR_NODE_SCALAR && (strcmp(node->text, "particle") == 0 || strcmp(node->text, "plane") == 0))
        return add_bare(scene, list, node, error);
    mor_raw_shape raw;
    mor_code code = mor_keys_read(&mor_keys_shape, node, scene->dimension, &raw, error);
    if (code) return code;
    const mor_node* kind = find_kind(node, error);
    if (!kind) return MOR_BAD_INPUT;

    mor_body_shape shape = { NULL, mor_pose_identity(), -1 };
    shape.pose.position = raw.position;
    if ((code = mor_scene_read_turn(scene, node, &shape.pose.rotation, error))) return code;
    if (raw.material) {
        shape.material = mor_scene_material(scene, mor_node_get(node, "material"), raw.material, error);
        if (shape.material < 0) return MOR_BAD_INPUT;
    }
    const mor_node* axis = mor_node_get(node, "axis");
    if (axis && kind != raw.capsule && kind != raw.cylinder && kind != raw.prism && kind != raw.cone)
        return mor_node_fail_key(
            axis, error, "axis is for capsules, cylinders, prisms and cones; turn a %s by its orientation", kind->key);
    /* z to x by a cyclic permutation of the axes; z to y by a quarter turn about x */
    static const mor_quat turns[3] = { { 0.5, 0.5, 0.5, 0.5 },
                                       { 0.70710678118654757, -0.70710678118654757, 0, 0 },
                                       { 1, 0, 0, 0 } };
    if (raw.axis != 2) shape.pose.rotation = mor_quat_mul(shape.pose.rotation, turns[raw.axis]);

    if (raw.decompose && !raw.mesh)
        return mor_node_fail_key(raw.decompose, error, "decompose is for a mesh; a %s is convex as it is", kind->key);
    mesh_use use = { raw.mesh, false, raw.decompose, raw.scale };
    if (raw.mesh) return add_mesh(scene, list, kind, &use, shape, error);
    if (kind == raw.hull && kind->kind == MOR_NODE_MAP) {
        mor_raw_hull hull;
        if ((code = mor_keys_read(&mor_keys_hull, kind, 3, &hull, error))) return code;
        use = (mesh_use){ hull.mesh, true, NULL, raw.scale };
        return add_mesh(scene, list, mor_node_get(kind, "mesh"), &use, shape, error);
    }
    if (kind == raw.heightfield) return add_heightfield(scene, list, kind, raw.scale, &shape, error);
    mor_error inner = { 0 };
    mor_pose local = mor_pose_identity();
    shape.geometry = make(scene, kind, &raw, &local, &inner);
    if (!shape.geometry) {
        if (inner.line == 0 && inner.code == MOR_BAD_INPUT) return mor_node_fail(kind, error, "%s", inner.text);
        if (error) *error = inner;
        return inner.code ? inner.code : MOR_BAD_INPUT;
    }
    if ((code = keep(scene, shape.geometry, error))) return code;
    shape.pose = mor_pose_mul(&shape.pose, &local);
    const mor_node* scale = mor_node_get(node, "scale");
    if (scale && (code = scale_by(scene, &shape.geometry, scale, raw.scale, error))) return code;
    return append(scene, list, shape, error);
}

mor_code mor_scene_read_shapes(mor_scene* scene, const mor_node* node, mor_body_def* def, mor_error* error)
{
    shape_list list = { 0 };
    mor_code code = MOR_OK;
    if (node->kind == MOR_NODE_LIST) {
        if (node->count == 0) return mor_node_fail(node, error, "the list of shapes is empty");
        for (const mor_node* n = node->first; n && code == MOR_OK; n = n->next)
            code = add_shape(scene, &list, n, error);
    } else {
        code = add_shape(scene, &list, node, error);
    }
    def->shapes = list.shapes;
    def->shape_count = list.count;
    return code;
}
