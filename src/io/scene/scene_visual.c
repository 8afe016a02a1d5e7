/* Visuals of a scene: the visual elements of URDF robots; the geoms of MJCF and SDF models that are for the eye are in
 * scene_visual_mjcf.c. Bodies for which nothing is drawn show the shapes that touch.
 *
 * Colours. A visual's own material counts before those of its mesh file (mesh_materials.c). Faces with a texture show
 * its picture where the file says which place of it a corner has, else its mean colour. */
#include "io/scene/scene_visual_parts.h"
#include "geometry/tessellate.h"
#include "io/mesh/mesh.h"
#include "io/urdf/urdf_visuals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mor_visual_note(mor_visuals* v, const char* format, const char* a, const char* b)
{
    size_t used = strlen(v->notes), room = sizeof v->notes - used;
    char line[600];
    snprintf(line, sizeof line, format, a, b);
    if (strstr(v->notes, line) || strlen(line) + 1 >= room) return;
    snprintf(v->notes + used, room, "%s\n", line);
}

mor_visual* mor_visual_add(mor_visuals* v)
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

bool mor_visual_set_shape(mor_visuals* v, mor_visual* item, const mor_geometry* g)
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

/* -------------------------------------------------------------------------------- mesh files */

/* Points of the visual so far: those of one point of the file, which differ in their spots, are linked. */
typedef struct gathered {
    const mor_mesh_file* file;
    int *first, *next; /* plus 1; of each point of the file, of each point here */
    mor_vec3* points;
    float* spots; /* NULL: not asked for */
    int count;
} gathered;

/* The number of corner c in the visual. */
static int gather(gathered* g, const double scale[3], int c)
{
    const mor_mesh_file* file = g->file;
    int p = file->corners[c];
    const float none[2] = { 0.0f, 0.0f };
    const float* spot = 2 * c + 1 < file->spot_count && isfinite(file->spots[2 * c]) ? file->spots + 2 * c : none;
    for (int k = g->first[p]; k; k = g->next[k - 1])
        if (!g->spots || memcmp(g->spots + 2 * (k - 1), spot, sizeof none) == 0) return k - 1;
    mor_vec3 x = file->points[p];
    g->points[g->count] = mor_v3(scale[0] * x.x, scale[1] * x.y, scale[2] * x.z);
    if (g->spots) memcpy(g->spots + 2 * g->count, spot, sizeof none);
    g->next[g->count] = g->first[p];
    g->first[p] = ++g->count;
    return g->count - 1;
}

/* The faces of one material as a visual (-2: all faces); a mirrored mesh is turned inside out back again. */
static bool set_faces(mor_visuals* v, mor_visual* item, const mor_mesh_file* file, const double scale[3], int material)
{
    size_t triangles = 0, room = 0;
    for (int i = 0; i < file->face_count; i++) {
        if (material != -2 && file->face_materials[i] != material) continue;
        triangles += (size_t)(file->face_sizes[i] > 2 ? file->face_sizes[i] - 2 : 0);
        room += (size_t)file->face_sizes[i];
    }
    if (!item->picture && room > (size_t)file->point_count) room = (size_t)file->point_count;
    gathered g = { .file = file };
    g.first = mor_arena_zero(v->arena, (size_t)file->point_count + 1, sizeof *g.first);
    g.next = mor_arena_zero(v->arena, room + 1, sizeof *g.next);
    g.points = mor_arena_alloc(v->arena, (room + 1) * sizeof *g.points);
    if (item->picture) g.spots = mor_arena_alloc(v->arena, 2 * (room + 1) * sizeof *g.spots);
    int *corners = mor_arena_alloc(v->arena, (3 * triangles + 1) * sizeof *corners), *t = corners;
    if (!g.first || !g.next || !g.points || !corners || (item->picture && !g.spots)) return false;
    bool mirrored = scale[0] * scale[1] * scale[2] < 0.0;
    for (int i = 0, at = 0; i < file->face_count; at += file->face_sizes[i++]) {
        if (material != -2 && file->face_materials[i] != material) continue;
        for (int k = 1; k + 1 < file->face_sizes[i]; k++, t += 3) {
            t[0] = gather(&g, scale, at);
            t[1] = gather(&g, scale, at + (mirrored ? k + 1 : k));
            t[2] = gather(&g, scale, at + (mirrored ? k : k + 1));
        }
    }
    item->points = g.points;
    item->spots = g.spots;
    item->point_count = g.count;
    item->triangles = corners;
    item->triangle_count = (int)triangles;
    return true;
}

/* A file as visuals like `like`, one for each of its materials; `own`: the colour of `like` counts, whatever the file
 * says. */
bool mor_visual_add_file(mor_visuals* v, const mor_visual* like, const char* path, const double scale[3], bool own)
{
    mor_error why = { 0 };
    mor_mesh_file file = { .path = path, .error = &why, .flags = MOR_MESH_KEEP_AXES };
    bool ok = true;
    if (mor_mesh_open(&file) == MOR_OK) {
        if (!own) mor_mesh_read_materials(&file);
        bool parts = !own && file.material_count > 0;
        for (int m = parts ? -1 : -2; ok && m < (parts ? file.material_count : -1); m++) {
            mor_visual* item = mor_visual_add(v);
            if (!(ok = item != NULL)) break;
            *item = *like;
            const mor_mesh_material* look = m >= 0 ? &file.materials[m] : NULL;
            if (look && look->known && !look->texture[0]) memcpy(item->color, look->color, sizeof item->color);
            if (look && look->texture[0]) {
                const double white[4] = { 1, 1, 1, 1 };
                memcpy(item->color, white, sizeof white);
                char picture[4800];
                if (!mor_visual_find_picture(path, look->texture, picture) ||
                    !mor_visual_show(v, item, file.spot_count > 0, picture))
                    mor_visual_note(v, "the texture %.200s of %.300s cannot be read", look->texture, path);
            }
            ok = set_faces(v, item, &file, scale, m);
            if (ok && item->triangle_count == 0) v->count--;
        }
    } else {
        mor_visual_note(v, "the visual mesh %.200s cannot be drawn: %.300s", path, why.text);
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
        mor_visual_note(r->out,
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
    if (x->file) return mor_visual_add_file(r->out, &like, path, x->scale, x->has_color) ? MOR_OK : MOR_SYSTEM;
    mor_visual* item = mor_visual_add(r->out);
    if (!item) return MOR_SYSTEM;
    *item = like;
    bool ok = mor_visual_set_shape(r->out, item, x->geometry);
    if (ok && item->triangle_count == 0) r->out->count--;
    return ok ? MOR_OK : MOR_SYSTEM;
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
    for (int i = 0; ok && i < scene->mjcf_count; i++) ok = mor_visual_take_mjcf(scene, &scene->mjcfs[i], v);
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

/* The names people type first; values as in CSS (gray and grey are one). */
static const struct {
    const char* name;
    unsigned rgb;
} color_names[] = {
    { "black", 0x000000 },  { "blue", 0x0000ff },    { "brown", 0xa52a2a },  { "cyan", 0x00ffff },
    { "gold", 0xffd700 },   { "gray", 0x808080 },    { "green", 0x008000 },  { "grey", 0x808080 },
    { "lime", 0x00ff00 },   { "magenta", 0xff00ff }, { "maroon", 0x800000 }, { "navy", 0x000080 },
    { "olive", 0x808000 },  { "orange", 0xffa500 },  { "pink", 0xffc0cb },   { "purple", 0x800080 },
    { "red", 0xff0000 },    { "silver", 0xc0c0c0 },  { "teal", 0x008080 },   { "white", 0xffffff },
    { "yellow", 0xffff00 },
};

static bool find_color(const char* text, unsigned* rgb)
{
    char end;
    if (strlen(text) == 7 && sscanf(text, "#%6x%c", rgb, &end) == 1) return true;
    for (size_t i = 0; i < sizeof color_names / sizeof *color_names; i++)
        if (strcmp(text, color_names[i].name) == 0) {
            *rgb = color_names[i].rgb;
            return true;
        }
    return false;
}

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
    if (node->kind != MOR_NODE_SCALAR || !find_color(node->text, &rgb))
        return mor_node_fail(node, error,
                             "a color is [red, green, blue] from 0 to 1, \"#rrggbb\" or a name: red, blue ...");
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
