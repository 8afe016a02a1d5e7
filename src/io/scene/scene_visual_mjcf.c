/* Visuals of MJCF and SDF models.
 *
 * MJCF: geoms of the groups 0 to 2 are drawn, as MuJoCo's viewer does; 3 to 5 are usually collision shapes. A geom's
 * own rgba counts before that of its material; a mesh whose file has places on a picture shows its 2d texture. SDF:
 * visuals are geoms of group 1, and collisions of a link that has visuals of group 3. */
#include "io/mesh/mesh.h"
#include "io/scene/scene_visual_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LAST_GROUP = 2 };

/* A texture of the file, or NULL. */
static const mor_xml* find_texture(mor_mjcf* m, const char* texture)
{
    for (int i = 0; i < m->textures_count; i++) {
        const mor_xml* e = m->textures[i];
        const char *name = mor_xml_get(e, "name"), *file = mor_xml_get(e, "file");
        if (!name && file) name = mor_mjcf_stem(m, file);
        if (name && strcmp(name, texture) == 0) return e;
    }
    return NULL;
}

/* Paints an item with a texture: the picture, its mean colour, or the first colour of a pattern. */
static void paint(mor_visuals* out, mor_mjcf* m, const char* texture, bool placed, mor_visual* item)
{
    const mor_xml* e = find_texture(m, texture);
    const char *file = e ? mor_xml_get(e, "file") : NULL, *type = e ? mor_xml_get(e, "type") : NULL;
    double rgb[3];
    int count = 0;
    if (e && !file && mor_xml_numbers(e, "rgb1", 3, 3, rgb, &count, NULL) == MOR_OK && count)
        for (int k = 0; k < 3; k++) item->color[k] *= rgb[k];
    const char* path = file ? mor_mjcf_asset_path(m, m->texture_dir, file) : NULL;
    bool flat = type && strcmp(type, "2d") == 0;
    if (path && !mor_visual_show(out, item, placed && flat, path))
        mor_visual_note(out, "the texture %.200s of %.300s cannot be read", file, m->path);
}

/* The material of a geom, or NULL. */
static const mor_xml* material_of(const mor_mjcf* m, const mor_mjcf_geom* g)
{
    for (int i = 0; i < m->materials_count && g->material; i++) {
        const char* name = mor_xml_get(m->materials[i], "name");
        if (name && strcmp(name, g->material) == 0) return m->materials[i];
    }
    return NULL;
}

/* The texture of a material: its own, or that of its first layer with colours. */
static const char* texture_of(const mor_xml* material)
{
    if (mor_xml_get(material, "texture")) return mor_xml_get(material, "texture");
    for (const mor_xml* l = mor_xml_child(material, "layer"); l; l = mor_xml_sibling(l)) {
        const char* role = mor_xml_get(l, "role");
        if (role && (strcmp(role, "rgb") == 0 || strcmp(role, "rgba") == 0)) return mor_xml_get(l, "texture");
    }
    return NULL;
}

/* Colour and picture of a geom; `placed`: its corners know their places on a picture. */
static void color_of(mor_visuals* out, mor_mjcf* m, const mor_mjcf_geom* g, bool placed, mor_visual* item)
{
    const mor_xml* material = g->has_rgba ? NULL : material_of(m, g);
    memcpy(item->color, g->rgba, sizeof g->rgba);
    if (!material) return;
    for (int k = 0; k < 4; k++) item->color[k] = 1.0;
    mor_xml_numbers(material, "rgba", 4, 4, item->color, NULL, NULL);
    if (texture_of(material)) paint(out, m, texture_of(material), placed, item);
}

/* The triangles of a mesh, each corner by itself with its place on the picture. */
static bool set_corners(mor_visuals* out, const mor_mjcf_mesh* mesh, const mor_xml* material, mor_visual* item)
{
    size_t n = 3 * (size_t)mesh->triangle_count;
    mor_vec3* points = mor_arena_alloc(out->arena, (n + 1) * sizeof *points);
    float* spots = mor_arena_alloc(out->arena, 2 * (n + 1) * sizeof *spots);
    int* triangles = mor_arena_alloc(out->arena, (n + 1) * sizeof *triangles);
    if (!points || !spots || !triangles) return false;
    double repeat[2] = { 1.0, 1.0 };
    mor_xml_numbers(material, "texrepeat", 2, 2, repeat, NULL, NULL);
    for (size_t i = 0; i < n; i++) {
        points[i] = mesh->points[mesh->triangles[i]];
        triangles[i] = (int)i;
        for (int k = 0; k < 2; k++) {
            double x = mesh->spots[2 * i + (size_t)k];
            spots[2 * i + (size_t)k] = (float)(isfinite(x) ? repeat[k] * x : 0.0);
        }
    }
    item->points = points;
    item->spots = spots;
    item->triangles = triangles;
    item->point_count = (int)n;
    return true;
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

bool mor_visual_take_mjcf(const mor_scene* scene, const mor_scene_mjcf* x, mor_visuals* out)
{
    for (int i = 0; i < x->mjcf->geoms_count; i++) {
        const mor_mjcf_geom* g = &x->mjcf->geoms[i];
        if (g->group > LAST_GROUP || g->type == MOR_MJCF_PLANE) continue;
        mor_mjcf_mesh* mesh = g->mesh ? mor_mjcf_find_mesh(x->mjcf, g->mesh) : NULL;
        if (mesh && x->mjcf->sdf) { /* its files have materials of their own */
            mor_visual like = { 0 };
            color_of(out, x->mjcf, g, false, &like);
            place(scene, x, g, &like);
            if (!mor_visual_add_file(out, &like, mesh->path, mesh->scale, g->has_rgba)) return false;
            continue;
        }
        mor_code code = mesh ? mor_mjcf_load_mesh(x->mjcf, mesh) : MOR_OK;
        if (code == MOR_SYSTEM) return false;
        if (code || (mesh && mesh->triangle_count == 0)) {
            mor_visual_note(out,
                            "the visual mesh '%.200s' of %.60s cannot be drawn; collision "
                            "shapes are drawn",
                            mesh->name, x->name);
            continue;
        }
        mor_geometry* shape = mesh ? NULL : primitive(g);
        if (!shape && !mesh) continue;
        mor_visual* item = mor_visual_add(out);
        bool ok = item && (!shape || mor_visual_set_shape(out, item, shape));
        mor_geometry_release(shape);
        if (!ok) return false;
        if (mesh) {
            item->points = mesh->points;
            item->point_count = mesh->point_count;
            item->triangles = mesh->triangles;
            item->triangle_count = mesh->triangle_count;
        }
        color_of(out, x->mjcf, g, mesh && mesh->spots, item);
        if (item->picture && !set_corners(out, mesh, material_of(x->mjcf, g), item)) return false;
        place(scene, x, g, item);
        if (item->triangle_count == 0) out->count--;
    }
    return true;
}
