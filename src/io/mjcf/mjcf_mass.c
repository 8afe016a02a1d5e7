/* Sizes and places of the geoms of an MJCF file, mass properties of its bodies.
 *
 * Bodies without <inertial> get their mass from their geoms: density 1000 kg/m^3 unless told. A shell has its mass on
 * its surface. Then boundmass, boundinertia, balanceinertia and settotalmass.
 *
 * Reference: MuJoCo documentation, XML reference (compiler/inertiafromgeom, boundmass, settotalmass; body/geom). */
#include "base/elementary.h"
#include "io/mjcf/mjcf.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------- geoms */

/* fromto of capsules, cylinders, ellipsoids and boxes: the axis z runs from the first point to the second. */
static mor_code place_between(mor_mjcf* m, mor_mjcf_geom* g)
{
    mor_vec3 a = mor_v3(g->fromto[0], g->fromto[1], g->fromto[2]), b = mor_v3(g->fromto[3], g->fromto[4], g->fromto[5]);
    mor_vec3 d = mor_sub(a, b); /* MuJoCo: z points to the first */
    double length = mor_norm(d);
    if (!(length > 1e-12)) return mor_xml_fail(g->at, m->error, "the two points of fromto are the same");
    if (g->type != MOR_MJCF_CAPSULE && g->type != MOR_MJCF_CYLINDER && g->type != MOR_MJCF_ELLIPSOID &&
        g->type != MOR_MJCF_BOX)
        return mor_xml_fail(g->at, m->error, "fromto is for capsules, cylinders, ellipsoids and boxes");
    mor_vec3 axis = mor_cross(mor_v3(0, 0, 1), d);
    double sine = mor_norm(axis) / length;
    mor_vec3 unit = sine > 1e-10 ? mor_scale(1.0 / (sine * length), axis) : mor_v3(1, 0, 0);
    /* half-angle form of the least turn from z */
    double cosine = d.z / length, c = sqrt(0.5 * (1.0 + cosine)), s = sqrt(0.5 * (1.0 - cosine));
    g->pose =
        (mor_pose){ mor_lerp(a, b, 0.5), mor_quat_normalize((mor_quat){ c, s * unit.x, s * unit.y, s * unit.z }) };
    int at = g->type == MOR_MJCF_CAPSULE || g->type == MOR_MJCF_CYLINDER ? 1 : 2;
    if (at == 2) g->size[1] = g->size[0];
    g->size[at] = 0.5 * length;
    g->size_count = at + 1;
    return MOR_OK;
}

mor_code mor_mjcf_place_geoms(mor_mjcf* m)
{
    static const int sizes[] = { 0, 0, 1, 2, 3, 2, 3, 0, 0 };
    for (int i = 0; i < m->geoms_count; i++) {
        mor_mjcf_geom* g = &m->geoms[i];
        mor_code code = g->has_fromto ? place_between(m, g) : MOR_OK;
        if (code) return code;
        if (g->mesh && !mor_mjcf_find_mesh(m, g->mesh))
            return mor_xml_fail(g->at, m->error, "there is no mesh '%.60s' in the assets", g->mesh);
        if (g->mesh && g->type != MOR_MJCF_MESH)
            return mor_xml_fail(g->at, m->error, "primitives fitted to a mesh are not supported; write the size");
        if (g->type == MOR_MJCF_SDF) return mor_xml_fail(g->at, m->error, "geoms of type sdf are not supported");
        for (int k = 0; k < sizes[g->type]; k++)
            if (k >= g->size_count || !(g->size[k] > 0.0))
                return mor_xml_fail(g->at, m->error, "the geom needs %d positive size%s", sizes[g->type],
                                    sizes[g->type] == 1 ? "" : "s");
        if (g->type == MOR_MJCF_PLANE && g->body != 0) {
            int b = g->body;
            while (b > 0 && m->bodies[b].joint_count == 0) b = m->bodies[b].parent;
            if (b > 0) return mor_xml_fail(g->at, m->error, "a plane belongs to a body that does not move");
        }
    }
    return MOR_OK;
}

/* Area and inertia per mass and area of the surface of a primitive; false: of an ellipsoid. */
static bool shell_mass(const mor_mjcf_geom* g, double* area, mor_mat3* inertia)
{
    const double pi = 3.14159265358979323846;
    double a = g->size[0], b = g->size[1], c = g->size[2];
    if (g->type == MOR_MJCF_SPHERE) {
        *area = 4.0 * pi * a * a;
        double I = 2.0 / 3.0 * *area * a * a;
        *inertia = mor_mat3_diag(I, I, I);
    } else if (g->type == MOR_MJCF_BOX) {
        double x = 8.0 * b * c, y = 8.0 * a * c, z = 8.0 * a * b; /* both sides across each axis */
        double aa = a * a, bb = b * b, cc = c * c;
        *area = x + y + z;
        *inertia = mor_mat3_diag(x * (bb + cc) / 3.0 + y * (cc / 3.0 + bb) + z * (bb / 3.0 + cc),
                                 y * (aa + cc) / 3.0 + x * (cc / 3.0 + aa) + z * (aa / 3.0 + cc),
                                 z * (aa + bb) / 3.0 + x * (bb / 3.0 + aa) + y * (aa / 3.0 + bb));
    } else if (g->type == MOR_MJCF_CYLINDER || g->type == MOR_MJCF_CAPSULE) {
        double side = 4.0 * pi * a * b, across = side * (0.5 * a * a + b * b / 3.0), along = side * a * a, ends;
        if (g->type == MOR_MJCF_CYLINDER) { /* two discs at distance b */
            ends = 2.0 * pi * a * a;
            across += ends * (0.25 * a * a + b * b);
            along += 0.5 * ends * a * a;
        } else { /* two half spheres, their centres of mass at b + a/2 */
            ends = 4.0 * pi * a * a;
            across += ends * (5.0 / 12.0 * a * a + (b + 0.5 * a) * (b + 0.5 * a));
            along += 2.0 / 3.0 * ends * a * a;
        }
        *area = side + ends;
        *inertia = mor_mat3_diag(across, across, along);
    } else {
        return false;
    }
    return true;
}

/* Mass properties of a geom in its body; mass 0: none. */
static mor_code geom_mass(mor_mjcf* m, const mor_mjcf_geom* g, mor_mass* out)
{
    const double pi = 3.14159265358979323846, *s = g->size;
    *out = (mor_mass){ 0 };
    if (g->type == MOR_MJCF_PLANE || g->type == MOR_MJCF_HFIELD || g->mass == 0.0) return MOR_OK;
    if (isnan(g->mass) && g->density == 0.0) return MOR_OK;
    double a = s[0], b = s[1], c = s[2], V = 0.0;
    mor_mass unit = { 0 };
    if (g->type == MOR_MJCF_MESH) {
        mor_mjcf_mesh* mesh = mor_mjcf_find_mesh(m, g->mesh);
        mor_code code = mor_mjcf_mesh_mass(m, mesh, g->shell ? MOR_MJCF_SHELL : mesh->inertia, &unit);
        if (code) return code;
    } else if (g->shell) {
        if (!shell_mass(g, &V, &unit.inertia))
            return mor_xml_fail(g->at, m->error, "shellinertia of ellipsoids is not supported");
    } else if (g->type == MOR_MJCF_SPHERE) {
        V = 4.0 / 3.0 * pi * a * a * a;
        unit.inertia = mor_mat3_diag(0.4 * V * a * a, 0.4 * V * a * a, 0.4 * V * a * a);
    } else if (g->type == MOR_MJCF_ELLIPSOID) {
        V = 4.0 / 3.0 * pi * a * b * c;
        unit.inertia = mor_mat3_diag(V * (b * b + c * c) / 5.0, V * (a * a + c * c) / 5.0, V * (a * a + b * b) / 5.0);
    } else if (g->type == MOR_MJCF_BOX) {
        V = 8.0 * a * b * c;
        unit.inertia = mor_mat3_diag(V * (b * b + c * c) / 3.0, V * (a * a + c * c) / 3.0, V * (a * a + b * b) / 3.0);
    } else if (g->type == MOR_MJCF_CYLINDER) {
        double h = 2.0 * b, x = 0.0;
        V = pi * a * a * h;
        x = V * (3.0 * a * a + h * h) / 12.0;
        unit.inertia = mor_mat3_diag(x, x, 0.5 * V * a * a);
    } else { /* capsule: cylinder and two half spheres */
        double h = 2.0 * b, cylinder = pi * a * a * h, ball = 4.0 / 3.0 * pi * a * a * a;
        V = cylinder + ball;
        double x =
            cylinder * (3.0 * a * a + h * h) / 12.0 + ball * (2.0 * a * a / 5.0 + h * h / 4.0 + 3.0 * a * h / 8.0);
        unit.inertia = mor_mat3_diag(x, x, 0.5 * cylinder * a * a + 0.4 * ball * a * a);
    }
    if (g->type != MOR_MJCF_MESH) unit.mass = V;
    double density = isnan(g->mass) ? g->density : g->mass / unit.mass;
    unit.mass *= density;
    for (int i = 0; i < 9; i++) unit.inertia.m[i / 3][i % 3] *= density;
    *out = mor_mass_transform(&unit, &g->pose);
    return MOR_OK;
}

static mor_code mass_from_geoms(mor_mjcf* m, int body)
{
    mor_mjcf_body* b = &m->bodies[body];
    mor_mass* parts = mor_arena_alloc(m->arena, ((size_t)m->geoms_count + 1) * sizeof *parts);
    int n = 0, seen = 0, last = -1;
    if (!parts) return mor_fail(m->error, MOR_SYSTEM, "out of memory");
    for (int i = 0; i < m->geoms_count; i++) {
        const mor_mjcf_geom* g = &m->geoms[i];
        if (g->body != body || g->group < m->group_range[0] || g->group > m->group_range[1]) continue;
        mor_code code = geom_mass(m, g, &parts[n]);
        if (code) return code;
        seen++;
        if (parts[n].mass > 0.0) last = i, n++;
    }
    b->mass = n ? mor_mass_combine(parts, n) : (mor_mass){ 0 };
    b->axes = n == 1 && m->geoms[last].type != MOR_MJCF_MESH ? m->geoms[last].pose.rotation : (mor_quat){ 0 };
    if (n && seen > 1) mor_mjcf_principal(&b->mass.inertia);
    return MOR_OK;
}

/* boundmass, boundinertia and balanceinertia, in the body's principal axes. */
static void bound_mass(const mor_mjcf* m, mor_mass* mass)
{
    if (mass->mass < m->bound_mass) mass->mass = m->bound_mass;
    double moment[3];
    mor_quat axes;
    mor_inertia_principal(&mass->inertia, moment, &axes);
    bool change = false;
    for (int i = 0; i < 3; i++)
        if (moment[i] < m->bound_inertia) moment[i] = m->bound_inertia, change = true;
    if (m->balance_inertia && moment[0] + moment[1] < moment[2]) {
        double mean = (moment[0] + moment[1] + moment[2]) / 3.0;
        moment[0] = moment[1] = moment[2] = mean;
        change = true;
    }
    if (!change) return;
    mor_mat3 R = mor_quat_matrix(axes), D = mor_mat3_diag(moment[0], moment[1], moment[2]);
    mass->inertia = mor_mat3_rotate(&R, &D);
}

/* Axes of the inertia, as written if they are, and the moments about them. */
static void set_axes(mor_mjcf_body* b)
{
    if (b->axes.w == 0.0 && b->axes.x == 0.0 && b->axes.y == 0.0 && b->axes.z == 0.0) {
        mor_inertia_principal(&b->mass.inertia, b->moments, &b->axes);
        return;
    }
    mor_mat3 R = mor_quat_matrix(b->axes), back = mor_mat3_transpose(&R), I = mor_mat3_rotate(&back, &b->mass.inertia);
    for (int i = 0; i < 3; i++) b->moments[i] = I.m[i][i];
}

mor_code mor_mjcf_masses(mor_mjcf* m)
{
    double total = 0.0;
    for (int i = 1; i < m->bodies_count; i++) {
        mor_mjcf_body* b = &m->bodies[i];
        if (m->inertia_from_geom == 1 || (m->inertia_from_geom == 2 && !b->has_inertial)) {
            mor_code code = mass_from_geoms(m, i);
            if (code) return code;
        }
        bound_mass(m, &b->mass);
        total += b->mass.mass;
    }
    if (m->total_mass > 0.0 && !(total > 0.0))
        return mor_fail(m->error, MOR_BAD_INPUT, "%s: settotalmass of a model without mass", m->path);
    for (int i = 1; i < m->bodies_count; i++) {
        mor_mass* mass = &m->bodies[i].mass;
        double factor = m->total_mass > 0.0 ? m->total_mass / total : 1.0;
        mass->mass *= factor;
        for (int k = 0; k < 9; k++) mass->inertia.m[k / 3][k % 3] *= factor;
        set_axes(&m->bodies[i]);
    }
    return MOR_OK;
}
