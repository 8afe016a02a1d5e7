/* The description of a recording or a world for the viewer's page: one JSON object with the bodies,
 * their shapes in the frames and sizes of moreau/geometry.h, and what was simulated how. Names are
 * texts in JSON; the page never takes them for markup. */
#include <stdlib.h>
#include <string.h>

#include "base/failed.h"
#include "io/json/json.h"
#include "model/joint_places.h"
#include "io/scene/scene_visual.h"
#include "model/world.h"
#include "serve/edits.h"
#include "serve/frame.h"
#include "serve/visuals.h"
#include "step/set_joint.h"

static const char* const kind_names[] = { "sphere",   "plane", "capsule", "cylinder", "cone",      "polyhedron",
                                          "particle", "disc",  "polygon", "chain",    "ellipsoid", "custom" };
enum { KINDS = sizeof kind_names / sizeof *kind_names };

static void write_scalars(mor_json* json)
{
    mor_json_list(json, "scalars");
    for (int i = 0; i < MOR_VIEW_SCALARS; i++) {
        mor_json_object(json, NULL);
        mor_json_text(json, "name", mor_view_scalars[i].name);
        mor_json_text(json, "unit", mor_view_scalars[i].unit);
        mor_json_end(json);
    }
    mor_json_end(json);
}

static void shape_begin(mor_json* json, int body, int kind, const char* label, const double* size, const double* pose,
                        double radius)
{
    mor_json_object(json, NULL);
    mor_json_integer(json, "body", body);
    mor_json_text(json, "kind", kind >= 0 && kind < KINDS ? kind_names[kind] : "custom");
    if (label) mor_json_text(json, "label", label);
    mor_json_numbers(json, "size", size, 4);
    mor_json_numbers(json, "pose", pose, 7);
    mor_json_number(json, "radius", radius);
}

/* Points and axes are two rows of three numbers each: in the frames of the two bodies. */
static void write_joint(mor_json* json, const char* name, int kind, const int body[2], const double* point,
                        const double* axis)
{
    mor_json_text(json, "name", name);
    mor_json_text(json, "kind", kind >= 0 && kind < MOR_JOINT_KINDS ? mor_joint_kind_name((mor_joint_kind)kind) : "");
    mor_json_list(json, "bodies");
    for (int s = 0; s < 2; s++) mor_json_integer(json, NULL, body[s]);
    mor_json_end(json);
    mor_json_list(json, "points");
    for (int s = 0; s < 2; s++) mor_json_numbers(json, NULL, point + 3 * s, 3);
    mor_json_end(json);
    mor_json_list(json, "axes");
    for (int s = 0; s < 2; s++) mor_json_numbers(json, NULL, axis + 3 * s, 3);
    mor_json_end(json);
}

/* ------------------------------------------------------------------------------- recordings */

/* Older recordings have none. */
static mor_code write_joints(mor_json* json, const mor_recording* r, mor_error* error)
{
    enum { KIND_OF, BODIES_OF, POINTS, AXES, COUNT };
    static const struct {
        const char* path;
        int columns;
    } sets[COUNT] = { { "/joints/kind", 1 }, { "/joints/body", 2 }, { "/joints/point", 6 }, { "/joints/axis", 6 } };
    const mor_recording_info* info = mor_recording_get_info(r);
    double* t[COUNT] = { 0 };
    int rows[COUNT] = { 0 }, columns;
    mor_code code = MOR_OK;
    bool there = mor_recording_has(r, "/joints/body");
    for (int i = 0; there && !code && i < COUNT; i++) {
        t[i] = mor_recording_table(r, sets[i].path, &rows[i], &columns, error);
        if (!t[i]) code = mor_failed(error, MOR_BAD_INPUT);
        else if (rows[i] != rows[0] || (rows[i] > 0 && columns != sets[i].columns))
            code = mor_fail(error, MOR_BAD_INPUT, "%s:%s: rows of %d numbers, one per joint, are expected", info->path,
                            sets[i].path, sets[i].columns);
    }
    enum { NAME = 192 };
    char* names = NULL;
    if (there && !code) {
        names = mor_recording_texts(r, "/joints/name", NAME, (size_t)rows[0], error);
        if (!names) code = mor_failed(error, MOR_BAD_INPUT);
    }
    mor_json_list(json, "joints");
    for (int i = 0; !code && i < rows[0]; i++) {
        int body[2];
        for (int s = 0; s < 2; s++) {
            double b = t[BODIES_OF][2 * i + s];
            body[s] = b >= 0.0 && b < info->bodies ? (int)b : -1;
        }
        double kind = t[KIND_OF][i];
        mor_json_object(json, NULL);
        write_joint(json, names + (size_t)i * NAME, kind >= 0.0 && kind < MOR_JOINT_KINDS ? (int)kind : -1, body,
                    t[POINTS] + 6 * (size_t)i, t[AXES] + 6 * (size_t)i);
        mor_json_end(json);
    }
    mor_json_end(json);
    free(names);
    for (int i = 0; i < COUNT; i++) free(t[i]);
    return code;
}

/* The tables of /shapes, all as doubles. */
enum { BODY, KIND, SIZE, POSE, RADIUS, VSTART, VCOUNT, VERTEX, FSTART, FCOUNT, LSTART, LSIZE, LOOP, TABLES };
static const struct {
    const char* path;
    int columns;
    bool per_shape;
} tables[TABLES] = {
    { "/shapes/body", 1, true },         { "/shapes/kind", 1, true },        { "/shapes/size", 4, true },
    { "/shapes/pose", 7, true },         { "/shapes/radius", 1, true },      { "/shapes/vertex_start", 1, true },
    { "/shapes/vertex_count", 1, true }, { "/shapes/vertex", 3, false },     { "/shapes/face_start", 1, true },
    { "/shapes/face_count", 1, true },   { "/shapes/loop_start", 1, false }, { "/shapes/loop_size", 1, false },
    { "/shapes/loop", 1, false },
};

static bool inside(double start, double count, int rows)
{
    return start >= 0.0 && count >= 0.0 && start + count <= rows;
}

static mor_code write_polyhedron(mor_json* json, double* const* t, const int* rows, int s, const char* path,
                                 mor_error* error)
{
    double first = t[VSTART][s], count = t[VCOUNT][s];
    if (!inside(first, count, rows[VERTEX]))
        return mor_fail(error, MOR_BAD_INPUT, "%s:/shapes/vertex_start: outside of the vertices", path);
    if (count > 0) mor_json_numbers(json, "vertices", t[VERTEX] + 3 * (size_t)first, 3 * (int)count);
    double face = t[FSTART][s], faces = t[FCOUNT][s];
    if (!(faces > 0.0)) return MOR_OK;
    if (!inside(face, faces, rows[LSTART]) || rows[LSIZE] < rows[LSTART])
        return mor_fail(error, MOR_BAD_INPUT, "%s:/shapes/face_start: outside of the faces", path);
    mor_json_list(json, "faces");
    for (int f = (int)face; f < (int)(face + faces); f++) {
        if (!inside(t[LSTART][f], t[LSIZE][f], rows[LOOP]))
            return mor_fail(error, MOR_BAD_INPUT, "%s:/shapes/loop_start: outside of the loops", path);
        const double* loop = t[LOOP] + (size_t)t[LSTART][f];
        for (int k = 0; k < (int)t[LSIZE][f]; k++)
            if (!(loop[k] >= 0.0 && loop[k] < count))
                return mor_fail(error, MOR_BAD_INPUT, "%s:/shapes/loop: a corner that is not there", path);
        mor_json_numbers(json, NULL, loop, (int)t[LSIZE][f]);
    }
    mor_json_end(json);
    return MOR_OK;
}

static mor_code read_tables(const mor_recording* r, double** t, int* rows, mor_error* error)
{
    const char* path = mor_recording_get_info(r)->path;
    for (int i = 0; i < TABLES; i++) {
        int columns;
        t[i] = mor_recording_table(r, tables[i].path, &rows[i], &columns, error);
        if (!t[i]) return mor_failed(error, MOR_BAD_INPUT);
        if ((rows[i] > 0 && columns != tables[i].columns) || (tables[i].per_shape && rows[i] != rows[0]))
            return mor_fail(error, MOR_BAD_INPUT, "%s:%s: wrong shape; rows of %d numbers, one per shape, are expected",
                            path, tables[i].path, tables[i].columns);
    }
    return MOR_OK;
}

/* Sensitivity bands of the plots of bodies. */
static void write_bands(mor_json* json, const mor_recording_bands* b)
{
    if (!b) return;
    mor_json_object(json, "bands");
    mor_json_text(json, "label", b->label);
    mor_json_numbers(json, "time", b->time, b->points);
    mor_json_list(json, "bodies");
    for (int i = 0; i < b->bodies; i++) {
        mor_json_object(json, NULL);
        mor_json_integer(json, "body", b->body[i]);
        mor_json_list(json, "half");
        for (int c = 0; c < 6; c++)
            mor_json_numbers(json, NULL, b->half + (6 * (size_t)i + (size_t)c) * (size_t)b->points, b->points);
        mor_json_end(json);
        mor_json_end(json);
    }
    mor_json_end(json);
    mor_json_end(json);
}

mor_code mor_view_describe_recording(FILE* out, const mor_recording* r, mor_error* error)
{
    const mor_recording_info* info = mor_recording_get_info(r);
    double* t[TABLES] = { 0 };
    int rows[TABLES], mass_rows = 0, mass_columns, com_rows = 0, com_columns;
    mor_code code = read_tables(r, t, rows, error);
    mor_error why = { 0 };
    double* mass = code ? NULL : mor_recording_table(r, "/bodies/mass", &mass_rows, &mass_columns, &why);
    double* com = mass ? mor_recording_table(r, "/bodies/com", &com_rows, &com_columns, &why) : NULL;
    if (!code && !com) code = mor_fail(error, why.code, "%s", why.text);
    if (!code && (mass_rows != info->bodies || com_rows != info->bodies || (com_rows > 0 && com_columns != 3)))
        code = mor_fail(error, MOR_BAD_INPUT, "%s:/bodies: one mass and one centre per body are expected", info->path);
    int color_rows = 0, color_columns = 0;
    bool colored = !code && mor_recording_has(r, "/bodies/color");
    double* color = colored ? mor_recording_table(r, "/bodies/color", &color_rows, &color_columns, error) : NULL;
    if (colored && (!color || color_rows != info->bodies || color_columns != 4))
        code = mor_fail(error, MOR_BAD_INPUT, "%s:/bodies/color: four numbers per body are expected", info->path);
    mor_json json = mor_json_begin(out);
    mor_json_object(&json, NULL);
    const char* slash = strrchr(info->path, '/');
    mor_json_text(&json, "file", slash ? slash + 1 : info->path);
    mor_json_text(&json, "name", info->scene_name);
    mor_json_text(&json, "producer", info->producer);
    mor_json_text(&json, "formulation", info->formulation);
    mor_json_text(&json, "solver", info->solver);
    mor_json_text(&json, "collision", info->collision);
    if (info->ground[0]) mor_json_text(&json, "ground", info->ground);
    mor_json_integer(&json, "dimension", info->dimension);
    mor_json_number(&json, "step", info->step);
    mor_json_numbers(&json, "gravity", &info->gravity.x, 3);
    mor_json_integer(&json, "frames", info->frames);
    double end = 0.0;
    if (!code && info->frames > 0) code = mor_recording_rows(r, "/time", (size_t)info->frames - 1, 1, 1, &end, error);
    mor_json_number(&json, "end", end);
    mor_json_bool(&json, "has_contacts", info->has_contacts);
    write_bands(&json, mor_recording_get_bands(r));
    write_scalars(&json);
    mor_json_list(&json, "bodies");
    for (int i = 0; !code && i < info->bodies; i++) {
        mor_json_object(&json, NULL);
        mor_json_text(&json, "name", mor_recording_body_name(r, i));
        mor_json_integer(&json, "kind", mor_recording_body_kind(r, i));
        mor_json_number(&json, "mass", mass[i]);
        mor_json_numbers(&json, "com", com + 3 * (size_t)i, 3);
        if (color) mor_view_color(&json, color + 4 * (size_t)i);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    mor_json_list(&json, "shapes");
    for (int s = 0; !code && s < rows[BODY]; s++) {
        if (!(t[BODY][s] >= 0 && t[BODY][s] < info->bodies)) {
            code = mor_fail(error, MOR_BAD_INPUT, "%s:/shapes/body: shape %d is of no body", info->path, s);
            break;
        }
        int kind = t[KIND][s] >= 0 && t[KIND][s] < KINDS ? (int)t[KIND][s] : KINDS;
        shape_begin(&json, (int)t[BODY][s], kind, NULL, t[SIZE] + 4 * (size_t)s, t[POSE] + 7 * (size_t)s, t[RADIUS][s]);
        code = write_polyhedron(&json, t, rows, s, info->path, error);
        if (!code) mor_json_end(&json);
    }
    if (!code) {
        mor_json_end(&json);
        code = write_joints(&json, r, error);
    }
    if (!code) code = mor_view_recorded_visuals(&json, r, error);
    if (!code) {
        mor_json_end(&json);
        if (!mor_json_finish(&json)) code = mor_fail(error, MOR_SYSTEM, "out of memory");
    }
    for (int i = 0; i < TABLES; i++) free(t[i]);
    free(mass);
    free(com);
    free(color);
    return code;
}

/* ------------------------------------------------------------------------------------ worlds */

static void write_points(mor_json* json, const char* key, const mor_vec3* points, int count)
{
    mor_json_numbers(json, key, count > 0 ? &points[0].x : NULL, 3 * count);
}

static void write_world_shape(mor_json* json, int body, mor_body_shape shape)
{
    const mor_geometry* g = shape.geometry;
    const double pose[7] = { shape.pose.position.x, shape.pose.position.y, shape.pose.position.z, shape.pose.rotation.w,
                             shape.pose.rotation.x, shape.pose.rotation.y, shape.pose.rotation.z };
    shape_begin(json, body, (int)g->kind, g->label, g->size, pose, g->radius);
    if (g->polyhedron) {
        const mor_polyhedron* p = g->polyhedron;
        write_points(json, "vertices", p->vertices, p->vertex_count);
        mor_json_list(json, "faces");
        for (int f = 0; f < p->face_count; f++) {
            mor_json_list(json, NULL);
            for (int k = p->face_start[f]; k < p->face_start[f + 1]; k++)
                mor_json_integer(json, NULL, p->face_vertices[k]);
            mor_json_end(json);
        }
        mor_json_end(json);
    } else if (g->polyline) {
        write_points(json, "vertices", g->polyline->points, g->polyline->point_count);
    }
    mor_json_end(json);
}

/* The methods one can change to while it runs. */
static void write_methods(mor_json* json, const mor_library* library)
{
    mor_json_list(json, "formulations");
    for (int i = 0; mor_library_formulation_at(library, i); i++)
        mor_json_text(json, NULL, mor_library_formulation_at(library, i)->name);
    mor_json_end(json);
    mor_json_list(json, "solvers");
    for (int i = 0; mor_library_solver_at(library, i); i++)
        mor_json_text(json, NULL, mor_library_solver_at(library, i)->name);
    mor_json_end(json);
    mor_json_list(json, "collisions");
    for (int i = 0; mor_library_collision_at(library, i); i++)
        mor_json_text(json, NULL, mor_library_collision_at(library, i)->name);
    mor_json_end(json);
}

bool mor_view_describe_world(FILE* out, const mor_world* w, const mor_scene* scene)
{
    mor_vec3 gravity = mor_world_gravity(w);
    mor_json json = mor_json_begin(out);
    mor_json_object(&json, NULL);
    mor_json_text(&json, "name", mor_scene_name(scene));
    mor_json_text(&json, "formulation", mor_world_method(w, "formulation"));
    mor_json_text(&json, "solver", mor_world_method(w, "solver"));
    mor_json_text(&json, "collision", mor_world_method(w, "collision"));
    mor_json_text(&json, "ground", mor_scene_ground(scene));
    mor_json_integer(&json, "equations", mor_world_joint_count(w));
    mor_json_integer(&json, "dimension", mor_world_dimension(w));
    mor_json_number(&json, "step", mor_world_get_step(w));
    mor_json_numbers(&json, "gravity", &gravity.x, 3);
    mor_json_integer(&json, "frames", 0);
    mor_json_bool(&json, "has_contacts", true);
    mor_json_bool(&json, "live", true);
    mor_json_number(&json, "end", mor_scene_end(scene));
    write_scalars(&json);
    write_methods(&json, mor_world_library(w));
    mor_json_list(&json, "bodies");
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        mor_mass mass = mor_body_mass(w, id);
        mor_json_object(&json, NULL);
        mor_json_text(&json, "name", mor_body_name(w, id));
        mor_json_integer(&json, "kind", mor_body_get_kind(w, id));
        mor_json_number(&json, "mass", mass.mass);
        mor_json_numbers(&json, "com", &mass.com.x, 3);
        mor_json_number(&json, "friction", mor_edit_friction(w, i));
        mor_json_bool(&json, "link", mor_body_at(w, id)->robot != 0);
        double color[4];
        if (mor_scene_color(scene, mor_body_name(w, id), color)) mor_view_color(&json, color);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    mor_json_list(&json, "shapes");
    for (int i = 0; i < mor_world_body_count(w); i++) {
        mor_body_id id = mor_world_body(w, i);
        for (int k = 0; k < mor_body_shape_count(w, id); k++) write_world_shape(&json, i, mor_body_get_shape(w, id, k));
    }
    mor_json_end(&json);
    int joints = mor_joint_places(w, NULL);
    mor_joint_place* places = calloc((size_t)joints + 1, sizeof *places);
    if (places) mor_joint_places(w, places);
    mor_json_list(&json, "joints");
    for (int i = 0; places && i < joints; i++) {
        double lower, upper;
        mor_json_object(&json, NULL);
        write_joint(&json, places[i].name, (int)places[i].kind, places[i].body, &places[i].point[0].x,
                    &places[i].axis[0].x);
        if (mor_joint_limits(w, i, &lower, &upper)) mor_json_numbers(&json, "limits", (double[2]){ lower, upper }, 2);
        mor_json_end(&json);
    }
    mor_json_end(&json);
    free(places);
    if (mor_view_scene_visuals(&json, w, scene, NULL)) return false;
    mor_json_end(&json);
    return mor_json_finish(&json);
}
