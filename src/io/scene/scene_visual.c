/* Visuals of a scene: the visual elements of URDF robots, the geoms of MJCF and
 * SDF models that are for the eye.
 *
 * MJCF: geoms of the groups 0 to 2 are drawn, as MuJoCo's viewer does; 3 to 5
 * are usually collision shapes. A geom's own rgba counts before that of its
 * material. Bodies for which nothing is drawn show the shapes that touch. */
#include "io/scene/scene_visual.h"
#include "geometry/tessellate.h"
#include "io/mesh/mesh.h"
#include "io/scene/scene_def.h"
#include "io/urdf/urdf_visuals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_GROUP = 2 };

static void note(mor_visuals* v, const char* format, const char* a, const char* b)
{
    size_t used = strlen(v->notes), room = sizeof v->notes - used;
    char line[600];
    snprintf(line, sizeof line, format, a, b);
    if (strstr(v->notes, line) || strlen(line) + 1 >= room) return;
    snprintf(v->notes + used, room, "%s\n", line);
}

static mor_visual* add(mor_visuals* v)
{
    if (v->count == v->room) {
        int room = v->room ? 2 * v->room : 32;
        mor_visual* more = mor_arena_zero(v->arena, (size_t)room, sizeof *more);
        if (!more) return NULL;
        if (v->count) memcpy(more, v->items, (size_t)v->count * sizeof *more);
        v->items = more;
        v->room = room;
    }
    return &v->items[v->count++];
}

static bool set_shape(mor_visuals* v, mor_visual* item, const mor_geometry* g)
{
    mor_triangles t;
    if (!mor_tessellate(g, v->arena, &t)) return false;
    mor_vec3* points = mor_arena_alloc(v->arena, ((size_t)t.point_count + 1) * sizeof *points);
    if (!points) return false;
    if (t.point_count) memcpy(points, t.points, (size_t)t.point_count * sizeof *points);
    item->points = points;
    item->point_count = t.point_count;
    item->triangles = t.corners;
    item->triangle_count = t.count;
    return true;
}

/* Triangles of a file; a mirrored one is turned inside out back again. */
static bool set_file(mor_visuals* v, mor_visual* item, const char* path, const double scale[3])
{
    mor_error why = { 0 };
    mor_mesh_file file = { .path = path, .error = &why, .flags = MOR_MESH_KEEP_AXES };
    bool ok = true;
    if (mor_mesh_open(&file) == MOR_OK) {
        size_t triangles = 0;
        for (int i = 0; i < file.face_count; i++)
            triangles += (size_t)(file.face_sizes[i] > 2 ? file.face_sizes[i] - 2 : 0);
        mor_vec3* points = mor_arena_alloc(v->arena, ((size_t)file.point_count + 1) * sizeof *points);
        int* corners = mor_arena_alloc(v->arena, (3 * triangles + 1) * sizeof *corners);
        bool mirrored = scale[0] * scale[1] * scale[2] < 0.0;
        ok = points && corners;
        for (int i = 0; ok && i < file.point_count; i++)
            points[i] = mor_v3(scale[0] * file.points[i].x, scale[1] * file.points[i].y, scale[2] * file.points[i].z);
        int* t = corners;
        for (int i = 0, at = 0; ok && i < file.face_count; at += file.face_sizes[i++])
            for (int k = 1; k + 1 < file.face_sizes[i]; k++, t += 3) {
                t[0] = file.corners[at];
                t[1] = file.corners[at + (mirrored ? k + 1 : k)];
                t[2] = file.corners[at + (mirrored ? k : k + 1)];
            }
        item->points = points;
        item->point_count = file.point_count;
        item->triangles = corners;
        item->triangle_count = (int)triangles;
    } else {
        note(v, "the visual mesh %.200s cannot be drawn: %.300s", path, why.text);
    }
    mor_mesh_close(&file);
    return ok;
}

/* -----------------------------------------------------------------------------------------
 * URDF */

typedef struct urdf_reading {
    mor_visuals* out;
    const mor_scene_robot* robot;
} urdf_reading;

static mor_code take_urdf(void* user, const mor_urdf_visual* x)
{
    urdf_reading* r = user;
    int frame = mor_robot_find_frame(r->robot->model, x->link);
    if (frame < 0) return MOR_OK;
    char path[4200];
    if (x->file && !mor_urdf_find_file(r->robot->file, NULL, x->file, path, sizeof path)) {
        note(r->out,
             "the visual mesh '%.300s' of %.60s is not found; its collision shapes "
             "are drawn",
             x->file, r->robot->def.name);
        return MOR_OK;
    }
    const mor_frame_def* f = mor_robot_frame(r->robot->model, frame);
    mor_visual* item = add(r->out);
    if (!item) return MOR_SYSTEM;
    snprintf(item->body, sizeof item->body, "%.30s/%.32s", r->robot->def.name,
             mor_robot_link(r->robot->model, f->link)->name);
    item->pose = mor_pose_mul(&f->pose, &x->pose);
    memcpy(item->color, x->color, sizeof item->color);
    bool ok = x->file ? set_file(r->out, item, path, x->scale) : set_shape(r->out, item, x->geometry);
    if (ok && item->triangle_count == 0) r->out->count--;
    return ok ? MOR_OK : MOR_SYSTEM;
}

/* -----------------------------------------------------------------------------------------
 * MJCF */

static void color_of(const mor_mjcf* m, const mor_mjcf_geom* g, double color[4])
{
    memcpy(color, g->rgba, sizeof g->rgba);
    if (g->has_rgba || !g->material) return;
    for (int i = 0; i < m->materials_count; i++) {
        const char* name = mor_xml_get(m->materials[i], "name");
        if (!name || strcmp(name, g->material) != 0) continue;
        const double white[4] = { 1, 1, 1, 1 };
        memcpy(color, white, sizeof white);
        mor_xml_numbers(m->materials[i], "rgba", 4, 4, color, NULL, NULL);
    }
}

static mor_geometry* primitive(const mor_mjcf_geom* g)
{
    const double* s = g->size;
    switch (g->type) {
    case MOR_MJCF_SPHERE:
        return mor_geometry_sphere(s[0], NULL);
    case MOR_MJCF_CAPSULE:
        return mor_geometry_capsule(s[0], 2.0 * s[1], NULL);
    case MOR_MJCF_CYLINDER:
        return mor_geometry_cylinder(s[0], 2.0 * s[1], 0, NULL);
    case MOR_MJCF_BOX:
        return mor_geometry_box(2.0 * s[0], 2.0 * s[1], 2.0 * s[2], NULL);
    case MOR_MJCF_ELLIPSOID:
        return mor_geometry_ellipsoid(s[0], s[1], s[2], NULL);
    default:
        return NULL;
    }
}

/* The body of the world that a geom is drawn with, and where it is there. */
static void place(const mor_scene* scene, const mor_scene_mjcf* x, const mor_mjcf_geom* g, mor_visual* item)
{
    const mor_mjcf_body* b = &x->mjcf->bodies[g->body];
    item->pose = mor_pose_mul(&b->in_link, &g->pose);
    if (b->tree < 0) { /* drawn with the fixed body of the shapes, if it has any */
        bool touches = false;
        for (int i = 0; i < x->mjcf->geoms_count && !touches; i++)
            touches = x->mjcf->geoms[i].body == g->body && x->mjcf->geoms[i].geometry;
        item->pose = mor_pose_mul(&x->offset, &item->pose);
        if (!touches) return;
        item->pose = g->pose;
        snprintf(item->body, sizeof item->body, "%.30s/%.32s", x->name, b->name ? b->name : "static");
        return;
    }
    const mor_scene_robot* r = &scene->robots[x->first + b->tree];
    snprintf(item->body, sizeof item->body, "%.30s/%.32s", r->def.name, mor_robot_link(r->model, b->link)->name);
}

static bool take_mjcf(const mor_scene* scene, const mor_scene_mjcf* x, mor_visuals* out)
{
    for (int i = 0; i < x->mjcf->geoms_count; i++) {
        const mor_mjcf_geom* g = &x->mjcf->geoms[i];
        if (g->group > LAST_GROUP || g->type == MOR_MJCF_PLANE) continue;
        mor_mjcf_mesh* mesh = g->mesh ? mor_mjcf_find_mesh(x->mjcf, g->mesh) : NULL;
        mor_code code = mesh ? mor_mjcf_load_mesh(x->mjcf, mesh) : MOR_OK;
        if (code == MOR_SYSTEM) return false;
        if (code || (mesh && mesh->triangle_count == 0)) {
            note(out,
                 "the visual mesh '%.200s' of %.60s cannot be drawn; collision "
                 "shapes are drawn",
                 mesh->name, x->name);
            continue;
        }
        mor_geometry* shape = mesh ? NULL : primitive(g);
        if (!shape && !mesh) continue;
        mor_visual* item = add(out);
        bool ok = item && (!shape || set_shape(out, item, shape));
        mor_geometry_release(shape);
        if (!ok) return false;
        if (mesh) {
            item->points = mesh->points;
            item->point_count = mesh->point_count;
            item->triangles = mesh->triangles;
            item->triangle_count = mesh->triangle_count;
        }
        color_of(x->mjcf, g, item->color);
        place(scene, x, g, item);
        if (item->triangle_count == 0) out->count--;
    }
    return true;
}

mor_visuals* mor_visuals_read(const mor_scene* scene)
{
    mor_visuals* v = calloc(1, sizeof *v);
    bool ok = v && (v->arena = mor_arena_create(NULL));
    for (int i = 0; ok && i < scene->robot_count; i++) {
        const mor_scene_robot* r = &scene->robots[i];
        urdf_reading reading = { v, r };
        if (r->file) ok = mor_urdf_visuals(r->file, v->arena, take_urdf, &reading, NULL) != MOR_SYSTEM;
    }
    for (int i = 0; ok && i < scene->mjcf_count; i++) ok = take_mjcf(scene, &scene->mjcfs[i], v);
    if (ok) return v;
    mor_visuals_free(v);
    return NULL;
}

void mor_visuals_free(mor_visuals* v)
{
    if (!v) return;
    mor_arena_destroy(v->arena);
    free(v);
}

/* ---------------------------------------------------------------------------------------
 * colours */

mor_code mor_scene_read_color(const mor_node* node, double opacity, mor_scene_body* body, mor_error* error)
{
    if (!isnan(opacity)) body->color[3] = opacity;
    body->colored = node || !isnan(opacity);
    if (!node) return MOR_OK;
    if (node->kind == MOR_NODE_LIST) {
        mor_code code = mor_read_numbers(node, "color", body->color, 3, error);
        for (int k = 0; k < 3 && !code; k++)
            if (!(body->color[k] >= 0.0 && body->color[k] <= 1.0))
                code = mor_node_fail(node, error, "the numbers of a color are red, green and blue from 0 to 1");
        body->has_hue = !code;
        return code;
    }
    unsigned rgb;
    char end;
    if (node->kind != MOR_NODE_SCALAR || strlen(node->text) != 7 || sscanf(node->text, "#%6x%c", &rgb, &end) != 1)
        return mor_node_fail(node, error, "a color is [red, green, blue] from 0 to 1 or \"#rrggbb\"");
    for (int k = 0; k < 3; k++) body->color[k] = (rgb >> (16 - 8 * k) & 255) / 255.0;
    body->has_hue = true;
    return MOR_OK;
}

bool mor_scene_color(const mor_scene* scene, const char* name, double color[4])
{
    int low = 0, high = scene->item_count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        const mor_scene_item* item = &scene->items[scene->by_name[middle]];
        int order = strcmp(name, item->name);
        if (order == 0) {
            const mor_scene_body* body = &scene->bodies[item->body];
            memcpy(color, body->color, sizeof body->color);
            if (!body->has_hue) color[0] = color[1] = color[2] = NAN;
            return body->colored;
        }
        if (order < 0) high = middle - 1;
        else low = middle + 1;
    }
    return false;
}

const char* mor_scene_ground(const mor_scene* scene)
{
    static const char* const styles[] = { "grid", "checker", "plain", "none" }; /* as in scene_fields.c */
    return styles[scene->ground];
}
