/* Visuals of a scene: the visual elements of URDF robots, the geoms of MJCF and
 * SDF models that are for the eye.
 *
 * MJCF: geoms of the groups 0 to 2 are drawn, as MuJoCo's viewer does; 3 to 5 are usually collision shapes. A geom's
 * own rgba counts before that of its material. SDF: visuals are geoms of group 1, and collisions of a link that has
 * visuals of group 3. Bodies for which nothing is drawn show the shapes that touch.
 *
 * Colours. A visual's own material counts before those of its mesh file (mesh_materials.c). Faces with a texture have
 * the mean colour of its picture. */
#include "io/scene/scene_visual.h"
#include "geometry/tessellate.h"
#include "io/mesh/mesh.h"
#include "io/mesh/png_grey.h"
#include "io/scene/scene_def.h"
#include "io/text/text_file.h"
#include "io/urdf/urdf_visuals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_GROUP = 2, PICTURE_MAX = 64 << 20, PIXELS_MAX = 1 << 26 }; /* bytes and pixels of a texture */

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

/* ------------------------------------------------------------------------- colours of pictures */

/* The mean colour of a texture; false: it cannot be read. */
static bool picture_color(const char* path, double color[4])
{
    char* bytes = NULL;
    size_t size = 0;
    double rgb[3];
    bool ok = mor_text_read(path, PICTURE_MAX, &bytes, &size, NULL) == MOR_OK &&
              mor_png_mean(bytes, size, PIXELS_MAX, rgb, NULL) == MOR_OK;
    for (int k = 0; ok && k < 3; k++) color[k] *= rgb[k];
    free(bytes);
    return ok;
}

/* A picture that a mesh file names: as named, beside the file, or where models of Gazebo have them. */
static bool texture_color(const char* mesh, const char* texture, double color[4])
{
    static const char* const folders[] = { "", "../materials/textures/" };
    const char *slash = strrchr(mesh, '/'), *base = strrchr(texture, '/');
    int n = slash ? (int)(slash - mesh) + 1 : 0;
    char path[4800];
    snprintf(path, sizeof path, "%.*s%s", texture[0] == '/' ? 0 : n, mesh, texture);
    if (picture_color(path, color)) return true;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%.*s%s%s", n, mesh, folders[i], base ? base + 1 : texture);
        if (picture_color(path, color)) return true;
    }
    return false;
}

/* -------------------------------------------------------------------------------- mesh files */

/* The faces of one material as a visual (-2: all faces); a mirrored mesh is turned inside out back again. */
static bool set_faces(mor_visuals* v, mor_visual* item, const mor_mesh_file* file, const double scale[3], int material)
{
    size_t triangles = 0, corners_of = 0;
    for (int i = 0; i < file->face_count; i++) {
        if (material != -2 && file->face_materials[i] != material) continue;
        triangles += (size_t)(file->face_sizes[i] > 2 ? file->face_sizes[i] - 2 : 0);
        corners_of += (size_t)file->face_sizes[i];
    }
    size_t room = corners_of < (size_t)file->point_count ? corners_of : (size_t)file->point_count;
    int* place = mor_arena_zero(v->arena, (size_t)file->point_count + 1, sizeof *place); /* of each point, plus 1 */
    mor_vec3* points = mor_arena_alloc(v->arena, (room + 1) * sizeof *points);
    int *corners = mor_arena_alloc(v->arena, (3 * triangles + 1) * sizeof *corners), *t = corners, count = 0;
    if (!place || !points || !corners) return false;
    bool mirrored = scale[0] * scale[1] * scale[2] < 0.0;
    for (int i = 0, at = 0; i < file->face_count; at += file->face_sizes[i++]) {
        if (material != -2 && file->face_materials[i] != material) continue;
        for (int k = 0; k < file->face_sizes[i]; k++) {
            int p = file->corners[at + k];
            if (place[p]) continue;
            mor_vec3 x = file->points[p];
            points[count] = mor_v3(scale[0] * x.x, scale[1] * x.y, scale[2] * x.z);
            place[p] = ++count;
        }
        for (int k = 1; k + 1 < file->face_sizes[i]; k++, t += 3) {
            t[0] = place[file->corners[at]] - 1;
            t[1] = place[file->corners[at + (mirrored ? k + 1 : k)]] - 1;
            t[2] = place[file->corners[at + (mirrored ? k : k + 1)]] - 1;
        }
    }
    item->points = points;
    item->point_count = count;
    item->triangles = corners;
    item->triangle_count = (int)triangles;
    return true;
}

/* A file as visuals like `like`, one for each of its materials; `own`: the colour of `like` counts, whatever the file
 * says. */
static bool add_file(mor_visuals* v, const mor_visual* like, const char* path, const double scale[3], bool own)
{
    mor_error why = { 0 };
    mor_mesh_file file = { .path = path, .error = &why, .flags = MOR_MESH_KEEP_AXES };
    bool ok = true;
    if (mor_mesh_open(&file) == MOR_OK) {
        if (!own) mor_mesh_read_materials(&file);
        bool parts = !own && file.material_count > 0;
        for (int m = parts ? -1 : -2; ok && m < (parts ? file.material_count : -1); m++) {
            mor_visual* item = add(v);
            if (!(ok = item != NULL)) break;
            *item = *like;
            const mor_mesh_material* look = m >= 0 ? &file.materials[m] : NULL;
            if (look && look->known && !look->texture[0]) memcpy(item->color, look->color, sizeof item->color);
            if (look && look->texture[0]) {
                const double white[4] = { 1, 1, 1, 1 };
                memcpy(item->color, white, sizeof white);
                if (!texture_color(path, look->texture, item->color))
                    note(v, "the texture %.200s of %.300s cannot be read", look->texture, path);
            }
            ok = set_faces(v, item, &file, scale, m);
            if (ok && item->triangle_count == 0) v->count--;
        }
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
    mor_visual like = { 0 };
    snprintf(like.body, sizeof like.body, "%.30s/%.32s", r->robot->def.name,
             mor_robot_link(r->robot->model, f->link)->name);
    like.pose = mor_pose_mul(&f->pose, &x->pose);
    memcpy(like.color, x->color, sizeof like.color);
    if (x->file) return add_file(r->out, &like, path, x->scale, x->has_color) ? MOR_OK : MOR_SYSTEM;
    mor_visual* item = add(r->out);
    if (!item) return MOR_SYSTEM;
    *item = like;
    bool ok = set_shape(r->out, item, x->geometry);
    if (ok && item->triangle_count == 0) r->out->count--;
    return ok ? MOR_OK : MOR_SYSTEM;
}

/* -----------------------------------------------------------------------------------------
 * MJCF */

/* The colour of a texture of the file: of the picture, or the first one of a pattern. */
static void mjcf_texture(const mor_mjcf* m, mor_arena* arena, const char* texture, double color[4])
{
    for (int i = 0; i < m->textures_count; i++) {
        const mor_xml* e = m->textures[i];
        const char *name = mor_xml_get(e, "name"), *file = mor_xml_get(e, "file"), *base = file;
        if (file && strrchr(file, '/')) base = strrchr(file, '/') + 1;
        size_t n = base ? strcspn(base, ".") : 0;
        bool same = name   ? strcmp(name, texture) == 0
                    : base ? strlen(texture) == n && strncmp(base, texture, n) == 0
                           : false;
        if (!same) continue;
        double rgb[3];
        int count = 0;
        char full[4200];
        const char* dir = m->texture_dir;
        if (!file && mor_xml_numbers(e, "rgb1", 3, 3, rgb, &count, NULL) == MOR_OK && count)
            for (int k = 0; k < 3; k++) color[k] *= rgb[k];
        if (!file) return;
        snprintf(full, sizeof full, "%s%s%s", dir, *dir && dir[strlen(dir) - 1] != '/' ? "/" : "",
                 m->strip_path ? base : file);
        const char* path = mor_xml_path(arena, m->path, file[0] == '/' ? file : full);
        if (path) picture_color(path, color);
        return;
    }
}

static void color_of(const mor_mjcf* m, mor_arena* arena, const mor_mjcf_geom* g, double color[4])
{
    memcpy(color, g->rgba, sizeof g->rgba);
    if (g->has_rgba || !g->material) return;
    for (int i = 0; i < m->materials_count; i++) {
        const char* name = mor_xml_get(m->materials[i], "name");
        if (!name || strcmp(name, g->material) != 0) continue;
        const double white[4] = { 1, 1, 1, 1 };
        memcpy(color, white, sizeof white);
        mor_xml_numbers(m->materials[i], "rgba", 4, 4, color, NULL, NULL);
        const char* texture = mor_xml_get(m->materials[i], "texture");
        if (texture) mjcf_texture(m, arena, texture, color);
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
        if (mesh && x->mjcf->sdf) { /* its files have materials of their own */
            mor_visual like = { 0 };
            color_of(x->mjcf, out->arena, g, like.color);
            place(scene, x, g, &like);
            if (!add_file(out, &like, mesh->path, mesh->scale, g->has_rgba)) return false;
            continue;
        }
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
        color_of(x->mjcf, out->arena, g, item->color);
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
