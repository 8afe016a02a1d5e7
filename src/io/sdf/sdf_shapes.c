/* Shapes of SDF links: what touches (<collision>) and what is drawn (<visual>), as geoms of the records.
 *
 * A visual touches nothing and has no mass. Its colour is <material><diffuse>; without one, that of its mesh file. What
 * cannot be drawn (a mesh that is not found, a kind of shape that is not known) is noted, and the link shows its
 * collision shapes. */
#include "io/sdf/sdf_reader.h"
#include "io/urdf/urdf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VISUAL_GROUP = 1, HIDDEN_GROUP = 3 };

static mor_code read_mesh(reader* r, const mor_xml* e, mor_mjcf_geom* g)
{
    const char* uri = mor_sdf_text(r, e, "uri");
    char found[4200], name[40];
    if (!uri || !mor_urdf_find_file(e->file, r->packages, uri, found, sizeof found))
        return mor_xml_fail(e, r->m->error, "the mesh '%.200s' is not found", uri ? uri : "");
    mor_mjcf_mesh* mesh = MOR_MJCF_ADD(r->m, meshes);
    if (!mesh) return MOR_SYSTEM;
    *mesh = (mor_mjcf_mesh){ .at = e, .scale = { 1, 1, 1 }, .reference = mor_pose_identity(), .inertia = 1 };
    snprintf(name, sizeof name, "mesh_%d", r->m->meshes_count);
    mesh->name = g->mesh = mor_xml_copy(r->m->arena, name, strlen(name));
    mesh->path = mor_xml_copy(r->m->arena, found, strlen(found));
    if (!mesh->name || !mesh->path) return mor_fail(r->m->error, MOR_SYSTEM, "out of memory");
    g->type = MOR_MJCF_MESH;
    return mor_sdf_numbers(r, e, "scale", 3, mesh->scale);
}

/* Kind and size of a <geometry>'s first element. */
static mor_code read_shape(reader* r, const mor_xml* c, mor_mjcf_geom* g)
{
    double size[3] = { 1, 1, 1 };
    mor_code code = MOR_OK;
    bool round = strcmp(c->name, "sphere") == 0,
         tube = strcmp(c->name, "cylinder") == 0 || strcmp(c->name, "capsule") == 0;
    if (!code && strcmp(c->name, "box") == 0) {
        code = mor_sdf_numbers(r, c, "size", 3, size);
        g->type = MOR_MJCF_BOX;
        for (int i = 0; i < 3; i++) g->size[i] = 0.5 * size[i];
        g->size_count = 3;
    } else if (!code && (round || tube)) {
        code = mor_sdf_numbers(r, c, "radius", 1, &g->size[0]);
        if (!code && tube) code = mor_sdf_numbers(r, c, "length", 1, &g->size[1]);
        g->size[1] *= 0.5;
        g->size_count = 2;
        g->type = round ? MOR_MJCF_SPHERE : strcmp(c->name, "capsule") == 0 ? MOR_MJCF_CAPSULE : MOR_MJCF_CYLINDER;
    } else if (!code && strcmp(c->name, "ellipsoid") == 0) {
        code = mor_sdf_numbers(r, c, "radii", 3, g->size);
        g->type = MOR_MJCF_ELLIPSOID, g->size_count = 3;
    } else if (!code && strcmp(c->name, "plane") == 0) {
        double normal[3] = { 0, 0, 1 };
        code = mor_sdf_numbers(r, c, "normal", 3, normal);
        mor_vec3 z = mor_normalize(mor_v3(normal[0], normal[1], normal[2]), mor_v3(0, 0, 1));
        mor_pose turn = mor_pose_identity();
        turn.rotation =
            z.z < -0.999999 ? (mor_quat){ 0, 1, 0, 0 } : mor_quat_normalize((mor_quat){ 1 + z.z, -z.y, z.x, 0 });
        g->pose = mor_pose_mul(&g->pose, &turn);
        g->type = MOR_MJCF_PLANE;
    } else if (!code && strcmp(c->name, "mesh") == 0) {
        code = read_mesh(r, c, g);
    } else if (!code) {
        return mor_xml_fail(c, r->m->error, "geometry of kind <%.40s> is not supported", c->name);
    }
    return code;
}

static mor_mjcf_geom* add_geom(reader* r, const mor_xml* e, int body)
{
    mor_mjcf_geom* g = MOR_MJCF_ADD(r->m, geoms);
    if (g)
        *g = (mor_mjcf_geom){
            .at = e, .name = mor_xml_get(e, "name"), .body = body, .pose = mor_pose_identity(), .condim = 3
        };
    return g;
}

mor_code mor_sdf_collision(reader* r, const mor_xml* e, int body, unsigned own, bool self, bool hidden)
{
    const mor_xml *shapes = mor_xml_child(e, "geometry"), *c = shapes ? shapes->first : NULL;
    if (!c) return mor_xml_fail(e, r->m->error, "<collision> has no <geometry>");
    if (strcmp(c->name, "empty") == 0) return MOR_OK;
    mor_mjcf_geom* g = add_geom(r, e, body);
    if (!g) return MOR_SYSTEM;
    g->contype = (int)own;
    g->conaffinity = (int)(self ? 0x7fffffffu : 0x7fffffffu & ~own);
    g->friction[0] = 1.0;
    if (hidden) g->group = HIDDEN_GROUP;
    double mu = NAN;
    mor_code code = mor_sdf_pose(r, e, "", &g->pose, NULL);
    if (!code) code = read_shape(r, c, g);
    const mor_xml *s = mor_xml_child(e, "surface"), *f = s ? mor_xml_child(s, "friction") : NULL;
    const mor_xml* ode = f ? mor_xml_child(f, "ode") : NULL;
    if (!code && ode) code = mor_sdf_numbers(r, ode, "mu", 1, &mu);
    if (!code && !isnan(mu)) r->m->geoms[r->m->geoms_count - 1].friction[0] = mu;
    return code;
}

/* <material><diffuse>: three or four numbers. */
static bool read_diffuse(const mor_xml* visual, double color[4])
{
    const mor_xml *material = mor_xml_child(visual, "material"),
                  *d = material ? mor_xml_child(material, "diffuse") : NULL;
    int n = 0;
    if (!d || !d->text || mor_xml_parse_numbers(d, "<diffuse>", d->text, 3, 4, color, &n, NULL)) return false;
    if (n == 3) color[3] = 1.0;
    return true;
}

mor_code mor_sdf_visual(reader* r, const mor_xml* e, int body, bool* seen)
{
    const mor_xml *shapes = mor_xml_child(e, "geometry"), *c = shapes ? shapes->first : NULL;
    if (!c || strcmp(c->name, "empty") == 0) return MOR_OK;
    mor_error why = { 0 }, *outer = r->m->error;
    mor_mjcf_geom* g = add_geom(r, e, body);
    if (!g) return MOR_SYSTEM;
    const double grey[4] = { 0.75, 0.77, 0.8, 1 };
    double transparency = 0.0;
    memcpy(g->rgba, grey, sizeof grey);
    g->has_rgba = read_diffuse(e, g->rgba);
    g->group = VISUAL_GROUP;
    r->m->error = &why; /* what is wrong with it concerns the eye only */
    mor_code code = mor_sdf_pose(r, e, "", &g->pose, NULL);
    if (!code) code = read_shape(r, c, g);
    if (!code) code = mor_sdf_numbers(r, e, "transparency", 1, &transparency);
    r->m->error = outer;
    if (code == MOR_SYSTEM) return mor_fail(outer, MOR_SYSTEM, "out of memory");
    if (!code) {
        g->rgba[3] *= 1.0 - transparency;
        *seen = true;
        return MOR_OK;
    }
    r->m->geoms_count--;
    mor_mjcf_note(r->m, e, "visual", "a visual cannot be drawn: %s; collision shapes are", why.text);
    return MOR_OK;
}
