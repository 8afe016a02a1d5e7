/* Collision shapes of an MJCF file, which of them touch, and their surfaces.
 *
 * Two geoms touch if (contype_1 & conaffinity_2) or (contype_2 & conaffinity_1) is not 0, and their bodies are neither
 * excluded, nor one body, nor parent and child (bodies without joints count as their parent; the world is nobody's
 * parent here). Explicit pairs touch in any case: each group of pairs with one geom gets a bit of its own above the 32
 * of the file, a type bit of that geom and an affinity bit of the others. Geoms that can touch nothing are not made.
 *
 * Friction of a contact is that of the geom with the higher priority, or the larger of the two; condim 1 is without
 * friction. So every combination of friction, condim and priority is one material.
 *
 * Meshes touch with their convex hull, as in MuJoCo. */
#include "base/elementary.h"
#include "geometry/polyhedron.h"
#include "io/mjcf/mjcf.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------------------------------- geometry */

mor_code mor_mjcf_hull(mor_mjcf* m, mor_mjcf_mesh* mesh)
{
    mor_code code = mor_mjcf_load_mesh(m, mesh);
    if (code || mesh->hull) return code;
    mor_error why = { 0 };
    mesh->hull = mor_geometry_of_polyhedron(
        mor_polyhedron_hull("mesh", mesh->points, mesh->point_count, MOR_TOLERANCE_MESH, &why), "mesh", &why);
    if (mesh->hull) return MOR_OK;
    return why.code == MOR_SYSTEM ? mor_fail(m->error, MOR_SYSTEM, "%s", why.text)
                                  : mor_xml_fail(mesh->at, m->error, "the mesh '%.60s': %s", mesh->name, why.text);
}

/* An ellipsoid as a polyhedron whose corners lie on it: 24 round, 13 from pole to pole. */
static mor_geometry* ellipsoid(const double size[3], mor_error* error)
{
    enum { ROUND = 24, RINGS = 11 };
    mor_vec3 points[ROUND * RINGS + 2];
    int n = 0;
    const double pi = 3.14159265358979323846;
    for (int i = 1; i <= RINGS; i++)
        for (int k = 0; k < ROUND; k++) {
            double st, ct, sp, cp;
            mor_sincos(pi * i / (RINGS + 1), &st, &ct);
            mor_sincos(2.0 * pi * k / ROUND, &sp, &cp);
            points[n++] = mor_v3(size[0] * st * cp, size[1] * st * sp, size[2] * ct);
        }
    points[n++] = mor_v3(0, 0, size[2]);
    points[n++] = mor_v3(0, 0, -size[2]);
    return mor_geometry_hull(points, n, error);
}

static mor_code make_geometry(mor_mjcf* m, mor_mjcf_geom* g)
{
    const double* s = g->size;
    mor_error why = { 0 };
    mor_mjcf_mesh* mesh = g->mesh ? mor_mjcf_find_mesh(m, g->mesh) : NULL;
    switch (g->type) {
    case MOR_MJCF_PLANE:
        g->geometry = mor_geometry_plane(&why);
        break;
    case MOR_MJCF_SPHERE:
        g->geometry = mor_geometry_sphere(s[0], &why);
        break;
    case MOR_MJCF_CAPSULE:
        g->geometry = mor_geometry_capsule(s[0], 2.0 * s[1], &why);
        break;
    case MOR_MJCF_CYLINDER:
        g->geometry = mor_geometry_cylinder(s[0], 2.0 * s[1], 0, &why);
        break;
    case MOR_MJCF_BOX:
        g->geometry = mor_geometry_box(2.0 * s[0], 2.0 * s[1], 2.0 * s[2], &why);
        break;
    case MOR_MJCF_ELLIPSOID:
        g->geometry = ellipsoid(s, &why);
        break;
    case MOR_MJCF_MESH: {
        mor_code code = mor_mjcf_hull(m, mesh);
        if (code) return code;
        g->geometry = mor_geometry_retain(mesh->hull);
        break;
    }
    default:
        return mor_xml_fail(g->at, m->error, "geoms of type sdf are not supported");
    }
    if (g->geometry) return MOR_OK;
    return why.code == MOR_SYSTEM ? mor_fail(m->error, MOR_SYSTEM, "%s", why.text)
                                  : mor_xml_fail(g->at, m->error, "%s", why.text);
}

/* ---------------------------------------------------------------------------------- filters */

static mor_code pair_bits(mor_mjcf* m)
{
    int bit = 32;
    for (int i = 0; i < m->pairs_count; i++) {
        mor_mjcf_pair* p = &m->pairs[i];
        mor_mjcf_geom *a = &m->geoms[p->geom[0]], *b = &m->geoms[p->geom[1]];
        uint64_t there = a->type_bits & ~(uint64_t)0xffffffffu, other = b->type_bits & ~(uint64_t)0xffffffffu;
        if (there) b->affinity_bits |= there;
        else if (other) a->affinity_bits |= other;
        else if (bit < 64) {
            a->type_bits |= (uint64_t)1 << bit;
            b->affinity_bits |= (uint64_t)1 << bit++;
        } else {
            return mor_xml_fail(p->at, m->error, "more than 32 geoms with explicit pairs are not supported");
        }
    }
    return MOR_OK;
}

static int surface_of(mor_mjcf* m, const mor_mjcf_geom* g, int number)
{
    bool paired = false;
    for (int i = 0; i < m->pairs_count; i++)
        paired = paired || m->pairs[i].geom[0] == number || m->pairs[i].geom[1] == number;
    double friction = g->friction[0];
    for (int i = 0; i < m->surfaces_count; i++) {
        const mor_mjcf_surface* s = &m->surfaces[i];
        if (s->friction == friction && s->condim == g->condim && s->priority == g->priority && s->pair < 0 && !paired)
            return i;
    }
    mor_mjcf_surface* s = MOR_MJCF_ADD(m, surfaces);
    if (!s) return -1;
    *s = (mor_mjcf_surface){ friction, g->condim, g->priority, paired ? number : -1 };
    return m->surfaces_count - 1;
}

mor_code mor_mjcf_shapes(mor_mjcf* m)
{
    for (int i = 0; i < m->geoms_count; i++) {
        mor_mjcf_geom* g = &m->geoms[i];
        g->type_bits = (uint32_t)g->contype;
        g->affinity_bits = (uint32_t)g->conaffinity;
    }
    mor_code code = pair_bits(m);
    int written = m->geoms_count; /* those after them are pieces of height fields */
    for (int i = 0; i < written && !code; i++) {
        mor_mjcf_geom* g = &m->geoms[i];
        if (m->no_contact || (g->type_bits | g->affinity_bits) == 0) continue;
        if ((g->surface = surface_of(m, g, i)) < 0) return MOR_SYSTEM;
        if (g->type == MOR_MJCF_HFIELD) {
            code = mor_mjcf_cut_field(m, i);
            continue;
        }
        code = make_geometry(m, g);
        const mor_mjcf_body* b = &m->bodies[g->body];
        if (code || b->tree < 0) continue;
        mor_link_shape shape = { .link = b->link,
                                 .geometry = g->geometry,
                                 .pose = mor_pose_mul(&b->in_link, &g->pose) };
        shape.frame = b->frame;
        mor_robot_model* model = m->trees[b->tree].model;
        for (int k = 0; k < mor_robot_shape_count(model); k++) g->place += mor_robot_shape(model, k)->link == b->link;
        code = mor_robot_add_shape(model, &shape, m->error);
    }
    return code;
}
