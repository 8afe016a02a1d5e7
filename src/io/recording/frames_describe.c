/* What does not change in a recording: the scene and methods, bodies and their shapes; see frames.h. */
#include "io/recording/frames_describe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- what does not change */

mor_code mor_frames_describe(mor_h5* h5, const char* path, const char* unit, const char* help, mor_error* error)
{
    mor_code code = mor_h5_set_text(h5, path, "unit", unit, error);
    return code ? code : mor_h5_set_text(h5, path, "help", help, error);
}

mor_code mor_frames_write_meta(mor_h5* h5, const mor_frames_def* def, mor_error* error)
{
    const struct {
        const char *name, *text;
    } texts[] = {
        { "format", MOR_RECORDING_FORMAT }, { "producer", "moreau " MOR_VERSION_STRING },
        { "scene_name", def->scene_name },  { "formulation", def->formulation },
        { "solver", def->solver },          { "collision", def->collision },
        { "integrator", def->integrator },  { "stabilisation", def->stabilisation },
        { "ground", def->ground },
    };
    const struct {
        const char* name;
        int value;
    } numbers[] = {
        { "version", MOR_RECORDING_VERSION },
        { "dimension", def->dimension },
        { "every", def->every },
        { "contacts", def->contacts },
    };
    mor_code code = mor_h5_group(h5, "/meta", error);
    for (size_t i = 0; !code && i < sizeof texts / sizeof *texts; i++)
        if (texts[i].text) code = mor_h5_set_text(h5, "/meta", texts[i].name, texts[i].text, error);
    for (size_t i = 0; !code && i < sizeof numbers / sizeof *numbers; i++)
        code = mor_h5_set_int(h5, "/meta", numbers[i].name, numbers[i].value, error);
    if (!code) code = mor_h5_set_doubles(h5, "/meta", "step", &def->step, 1, error);
    if (!code) code = mor_h5_set_doubles(h5, "/meta", "gravity", &def->gravity.x, 3, error);
    size_t length = strlen(def->scene_text);
    if (!code)
        code = mor_h5_write_texts(h5, "/meta/scene_text", length ? def->scene_text : "", length ? length : 1, 1, error);
    return code;
}

static void copy_name(char* to, size_t width, const char* from)
{
    size_t n = strlen(from);
    memcpy(to, from, n < width ? n : width - 1);
}

mor_code mor_frames_write_bodies(mor_h5* h5, const mor_frames_def* def, mor_error* error)
{
    size_t n = (size_t)def->body_count, room = n ? n : 1;
    char* name = calloc(room, MOR_RECORDING_NAME);
    int32_t* kind = calloc(room, sizeof *kind);
    double* number = calloc(room, (1 + 3 + 9 + 3) * sizeof *number);
    mor_code code = MOR_OK;
    if (!name || !kind || !number) {
        code = mor_fail(error, MOR_SYSTEM, "out of memory");
    } else {
        double *mass = number, *com = mass + n, *inertia = com + 3 * n, *surface = inertia + 9 * n;
        for (size_t i = 0; i < n; i++) {
            const mor_frames_body* body = &def->bodies[i];
            copy_name(name + i * MOR_RECORDING_NAME, MOR_RECORDING_NAME, body->name);
            kind[i] = (int32_t)body->kind;
            mass[i] = body->mass.mass;
            memcpy(com + 3 * i, &body->mass.com, 3 * sizeof(double));
            memcpy(inertia + 9 * i, &body->mass.inertia, 9 * sizeof(double));
            memcpy(surface + 3 * i, &body->surface_velocity, 3 * sizeof(double));
        }
        code = mor_h5_group(h5, "/bodies", error);
        if (!code) code = mor_h5_write_texts(h5, "/bodies/name", name, MOR_RECORDING_NAME, n, error);
        if (!code) code = mor_h5_write(h5, "/bodies/kind", MOR_H5_INT, 1, &n, kind, error);
        if (!code) code = mor_h5_set_text(h5, "/bodies/kind", "values", "dynamic|fixed|kinematic", error);
        if (!code) code = mor_h5_write(h5, "/bodies/mass", MOR_H5_DOUBLE, 1, &n, mass, error);
        if (!code)
            code = mor_frames_describe(h5, "/bodies/mass", "kg", "mass; 0 for fixed and kinematic bodies", error);
        if (!code) code = mor_h5_write(h5, "/bodies/com", MOR_H5_DOUBLE, 2, (size_t[]){ n, 3 }, com, error);
        if (!code) code = mor_frames_describe(h5, "/bodies/com", "m", "centre of mass in the body frame", error);
        if (!code) code = mor_h5_write(h5, "/bodies/inertia", MOR_H5_DOUBLE, 3, (size_t[]){ n, 3, 3 }, inertia, error);
        if (!code)
            code = mor_frames_describe(h5, "/bodies/inertia", "kg m^2", "inertia about the centre of mass, body axes",
                                       error);
        if (!code)
            code = mor_h5_write(h5, "/bodies/surface_velocity", MOR_H5_DOUBLE, 2, (size_t[]){ n, 3 }, surface, error);
        if (!code) code = mor_frames_describe(h5, "/bodies/surface_velocity", "m/s", "of belts, world axes", error);
    }
    free(name);
    free(kind);
    free(number);
    return code;
}

/* The ragged part of the shapes: vertices of polyhedra, polygons and chains; face loops of polyhedra. */
typedef struct shape_table {
    size_t shapes, vertices, faces, corners;
    char* label;
    int32_t *body, *kind, *vertex_start, *vertex_count, *face_start, *face_count, *loop_start, *loop_size, *loop;
    double *size, *pose, *radius, *vertex;
} shape_table;

static int vertex_count(const mor_geometry* g)
{
    if (g->polyhedron) return g->polyhedron->vertex_count;
    return g->polyline ? g->polyline->point_count : 0;
}

static void fill_shapes(const mor_frames_def* def, shape_table* t)
{
    size_t v = 0, f = 0, c = 0;
    for (size_t i = 0; i < t->shapes; i++) {
        const mor_frames_shape* shape = &def->shapes[i];
        const mor_geometry* g = shape->geometry;
        const mor_polyhedron* p = g->polyhedron;
        t->body[i] = shape->body;
        t->kind[i] = (int32_t)g->kind;
        copy_name(t->label + i * sizeof g->label, sizeof g->label, g->label);
        memcpy(t->size + 4 * i, g->size, sizeof g->size);
        const double pose[7] = { shape->pose.position.x, shape->pose.position.y, shape->pose.position.z,
                                 shape->pose.rotation.w, shape->pose.rotation.x, shape->pose.rotation.y,
                                 shape->pose.rotation.z };
        memcpy(t->pose + 7 * i, pose, sizeof pose);
        t->radius[i] = g->radius;
        t->vertex_start[i] = (int32_t)v;
        t->vertex_count[i] = vertex_count(g);
        t->face_start[i] = (int32_t)f;
        t->face_count[i] = p ? p->face_count : 0;
        const mor_vec3* points = p ? p->vertices : g->polyline ? g->polyline->points : NULL;
        for (int k = 0; k < t->vertex_count[i]; k++, v++) memcpy(t->vertex + 3 * v, &points[k], 3 * sizeof(double));
        for (int k = 0; k < t->face_count[i]; k++, f++) {
            t->loop_start[f] = (int32_t)c;
            t->loop_size[f] = p->face_start[k + 1] - p->face_start[k];
            for (int j = p->face_start[k]; j < p->face_start[k + 1]; j++) t->loop[c++] = p->face_vertices[j];
        }
    }
}

mor_code mor_frames_write_shapes(mor_h5* h5, const mor_frames_def* def, mor_error* error)
{
    shape_table t = { .shapes = (size_t)def->shape_count };
    for (size_t i = 0; i < t.shapes; i++) {
        const mor_geometry* g = def->shapes[i].geometry;
        t.vertices += (size_t)vertex_count(g);
        if (!g->polyhedron) continue;
        t.faces += (size_t)g->polyhedron->face_count;
        t.corners += (size_t)g->polyhedron->face_start[g->polyhedron->face_count];
    }
    int32_t* ints = calloc(6 * t.shapes + 2 * t.faces + t.corners + 1, sizeof *ints);
    double* numbers = calloc(12 * t.shapes + 3 * t.vertices + 1, sizeof *numbers);
    t.label = calloc(t.shapes + 1, sizeof((mor_geometry*)0)->label);
    mor_code code = MOR_OK;
    if (!ints || !numbers || !t.label) {
        code = mor_fail(error, MOR_SYSTEM, "out of memory");
    } else {
        t.body = ints;
        t.kind = t.body + t.shapes;
        t.vertex_start = t.kind + t.shapes;
        t.vertex_count = t.vertex_start + t.shapes;
        t.face_start = t.vertex_count + t.shapes;
        t.face_count = t.face_start + t.shapes;
        t.loop_start = t.face_count + t.shapes;
        t.loop_size = t.loop_start + t.faces;
        t.loop = t.loop_size + t.faces;
        t.size = numbers;
        t.pose = t.size + 4 * t.shapes;
        t.radius = t.pose + 7 * t.shapes;
        t.vertex = t.radius + t.shapes;
        fill_shapes(def, &t);
        const struct {
            const char* path;
            mor_h5_type type;
            int rank;
            size_t dims[2];
            const void* data;
        } sets[] = {
            { "/shapes/body", MOR_H5_INT, 1, { t.shapes }, t.body },
            { "/shapes/kind", MOR_H5_INT, 1, { t.shapes }, t.kind },
            { "/shapes/size", MOR_H5_DOUBLE, 2, { t.shapes, 4 }, t.size },
            { "/shapes/pose", MOR_H5_DOUBLE, 2, { t.shapes, 7 }, t.pose },
            { "/shapes/radius", MOR_H5_DOUBLE, 1, { t.shapes }, t.radius },
            { "/shapes/vertex_start", MOR_H5_INT, 1, { t.shapes }, t.vertex_start },
            { "/shapes/vertex_count", MOR_H5_INT, 1, { t.shapes }, t.vertex_count },
            { "/shapes/vertex", MOR_H5_DOUBLE, 2, { t.vertices, 3 }, t.vertex },
            { "/shapes/face_start", MOR_H5_INT, 1, { t.shapes }, t.face_start },
            { "/shapes/face_count", MOR_H5_INT, 1, { t.shapes }, t.face_count },
            { "/shapes/loop_start", MOR_H5_INT, 1, { t.faces }, t.loop_start },
            { "/shapes/loop_size", MOR_H5_INT, 1, { t.faces }, t.loop_size },
            { "/shapes/loop", MOR_H5_INT, 1, { t.corners }, t.loop },
        };
        code = mor_h5_group(h5, "/shapes", error);
        for (size_t i = 0; !code && i < sizeof sets / sizeof *sets; i++)
            code = mor_h5_write(h5, sets[i].path, sets[i].type, sets[i].rank, sets[i].dims, sets[i].data, error);
        if (!code)
            code = mor_h5_set_text(
                h5, "/shapes/kind", "values",
                "sphere|plane|capsule|cylinder|cone|polyhedron|particle|disc|polygon|chain|ellipsoid|custom", error);
        if (!code)
            code = mor_h5_write_texts(h5, "/shapes/label", t.label, sizeof((mor_geometry*)0)->label, t.shapes, error);
    }
    free(ints);
    free(numbers);
    free(t.label);
    return code;
}
