/* Mass properties and collision shapes of the links of a URDF file, see urdf.c.
 *
 * Mass properties are checked where they are written: a negative mass or an inertia that is not positive
 * semidefinite is refused; a triangle inequality violated, an inertia without mass, a point mass are told. */
#include "io/urdf/urdf_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES_MAX = 256 };

#define POINT_RADIUS 1e-6 /* m, of spheres written with radius 0: far below any contact tolerance */

/* ---------------------------------------------------------------------------------------- masses */

/* The link's own inertial element as mass, first moment and inertia in the carrier's frame. */
mor_code mor_urdf_own_mass(mor_urdf_build* b, int link, mor_rigid* out)
{
    const mor_urdf_link* l = &b->urdf->links[link];
    *out = (mor_rigid){ 0 };
    if (!l->has_inertial) return MOR_OK;
    int line = l->inertial_line, column = l->inertial_column;
    const double* I = l->inertia;
    bool any = I[0] != 0 || I[1] != 0 || I[2] != 0 || I[3] != 0 || I[4] != 0 || I[5] != 0;
    if (!l->has_mass || l->mass == 0.0) {
        if (any)
            mor_urdf_note(b, line, column, "link '%s' has an inertia but no mass; the inertia is not used", l->name);
        return MOR_OK;
    }
    mor_mat3 inertia = { { { I[0], I[1], I[2] }, { I[1], I[3], I[4] }, { I[2], I[4], I[5] } } };
    if (!any) {
        mor_urdf_note(b, line, column, "link '%s' has the mass %g but no inertia; it is taken as a point", l->name,
                      l->mass);
    } else {
        double moment[3];
        mor_quat axes;
        mor_inertia_principal(&inertia, moment, &axes);
        double small = 1e-9 * moment[2] + 1e-14 * l->mass; /* (0.1 um)^2 m: rounding of a point */
        if (!(moment[0] >= -small) || !(moment[2] >= -small))
            return mor_fail_at(
                b->error, MOR_BAD_INPUT, b->urdf->path, line, column,
                "the inertia of link '%s' is not positive: its principal moments are %.4g, %.4g, %.4g kg m^2", l->name,
                moment[0], moment[1], moment[2]);
        if (!(moment[0] + moment[1] >= moment[2] * (1.0 - 1e-6) - small)) {
            char text[400];
            snprintf(text, sizeof text,
                     "the inertia of link '%s' is impossible: of its principal moments %.4g, %.4g, %.4g kg m^2 the "
                     "largest exceeds the sum of the others",
                     l->name, moment[0], moment[1], moment[2]);
            if (b->options->strict)
                return mor_fail_at(b->error, MOR_BAD_INPUT, b->urdf->path, line, column, "%s", text);
            mor_urdf_note(b, line, column, "%s", text);
        }
    }
    mor_pose pose = mor_pose_mul(&b->pose[link], &l->inertial_pose);
    mor_mat3 R = mor_quat_matrix(mor_quat_normalize(pose.rotation));
    mor_sym3 flat = mor_sym3_from(&inertia);
    *out = (mor_rigid){ l->mass, mor_scale(l->mass, pose.position),
                        mor_sym3_add(mor_sym3_rotate(&R, &flat), mor_sym3_point(l->mass, pose.position)) };
    return MOR_OK;
}

mor_mass mor_urdf_mass_of(const mor_rigid* r)
{
    if (!(r->m > 0.0)) return (mor_mass){ 0 };
    mor_vec3 com = mor_scale(1.0 / r->m, r->c);
    mor_sym3 I = mor_sym3_add(r->I, mor_sym3_point(-r->m, com));
    return (mor_mass){ r->m, com, mor_sym3_matrix(&I) };
}

/* A movable link that carries no mass at all makes the mass matrix singular. */
void mor_urdf_note_massless(mor_urdf_build* b)
{
    double* total = calloc((size_t)b->link_count, sizeof *total);
    if (!total) return;
    for (int i = b->link_count - 1; i >= 0; i--) {
        total[i] += b->mass[i].m;
        if (i > 0) total[b->links[i].parent] += total[i];
    }
    for (int i = 1; i < b->link_count; i++)
        if (!(total[i] > 0.0))
            for (int k = 0; k < b->urdf->joint_count; k++)
                if (b->number[k] == b->links[i].joint)
                    mor_urdf_note(
                        b, b->urdf->joints[k].line, b->urdf->joints[k].column,
                        "joint '%s' carries no mass; the mass matrix is singular, fix the joint or give link '%s' a "
                        "mass",
                        b->links[i].joint_name, b->links[i].name);
    free(total);
}

/* --------------------------------------------------------------------------------------- shapes */

/* The hull of a piece with its coordinates multiplied one by one: scales that differ or mirror. */
static mor_geometry* stretch(const mor_geometry* piece, const double scale[3], mor_error* error)
{
    const mor_polyhedron* P = piece->polyhedron;
    mor_vec3* points = malloc((size_t)P->vertex_count * sizeof *points);
    if (!points) {
        mor_fail(error, MOR_SYSTEM, "out of memory");
        return NULL;
    }
    for (int i = 0; i < P->vertex_count; i++)
        points[i] = mor_v3(scale[0] * P->vertices[i].x, scale[1] * P->vertices[i].y, scale[2] * P->vertices[i].z);
    mor_geometry* g = mor_geometry_hull(points, P->vertex_count, error);
    free(points);
    return g;
}

static mor_code add_mesh(mor_urdf_build* b, mor_robot_model* model, const mor_urdf_shape* s, mor_link_shape shape)
{
    char path[4200];
    if (!s->file || !mor_urdf_find_file(b->urdf->path, b->options->packages, s->file, path, sizeof path)) {
        if (b->options->strict)
            return mor_fail_at(b->error, MOR_BAD_INPUT, b->urdf->path, s->line, s->column,
                               "the mesh '%.300s' of link '%s' is not found", s->file ? s->file : "",
                               b->urdf->links[s->link].name);
        mor_urdf_note(b, s->line, s->column, "the mesh '%.300s' of link '%s' is not found; the link does without",
                      s->file ? s->file : "", b->urdf->links[s->link].name);
        return MOR_OK;
    }
    bool even = s->scale[0] == s->scale[1] && s->scale[1] == s->scale[2] && s->scale[0] > 0.0;
    mor_geometry* pieces[PIECES_MAX];
    int count = 0;
    mor_error error = { 0 };
    mor_code code = mor_mesh_read_as(path, even ? s->scale[0] : 1.0, MOR_MESH_HULL | MOR_MESH_KEEP_AXES, pieces,
                                     PIECES_MAX, &count, NULL, 0, &error);
    if (code != MOR_OK) {
        if (b->options->strict || code == MOR_SYSTEM) return mor_fail(b->error, code, "%s", error.text);
        mor_urdf_note(b, s->line, s->column, "the mesh of link '%s' cannot be used: %.400s",
                      b->urdf->links[s->link].name, error.text);
        return MOR_OK;
    }
    for (int i = 0; i < count; i++) {
        mor_geometry* g = pieces[i];
        if (!even && code == MOR_OK) {
            mor_geometry* stretched = stretch(g, s->scale, b->error);
            mor_geometry_release(g);
            g = stretched;
            if (!g) {
                code = MOR_BAD_INPUT;
                continue;
            }
        }
        shape.geometry = g;
        if (code == MOR_OK) code = mor_robot_add_shape(model, &shape, b->error);
        mor_geometry_release(g);
    }
    return code;
}

mor_code mor_urdf_add_shapes(mor_urdf_build* b, mor_robot_model* model)
{
    const mor_urdf* u = b->urdf;
    mor_code code = MOR_OK;
    for (int i = 0; i < u->shape_count && code == MOR_OK; i++) {
        const mor_urdf_shape* s = &u->shapes[i];
        mor_link_shape shape = { .frame = s->link,
                                 .link = b->carrier[s->link],
                                 .pose = mor_pose_mul(&b->pose[s->link], &s->pose) };
        if (s->kind == MOR_URDF_MESH) {
            code = add_mesh(b, model, s, shape);
            continue;
        }
        bool point = s->kind == MOR_URDF_SPHERE && s->size[0] == 0.0;
        if (point)
            mor_urdf_note(b, s->line, s->column,
                          "a sphere of radius 0 marks a contact point; it is given the radius %g m", POINT_RADIUS);
        shape.geometry = s->kind == MOR_URDF_SPHERE ? mor_geometry_sphere(point ? POINT_RADIUS : s->size[0], b->error)
                         : s->kind == MOR_URDF_BOX  ? mor_geometry_box(s->size[0], s->size[1], s->size[2], b->error)
                         : s->kind == MOR_URDF_CYLINDER ? mor_geometry_cylinder(s->size[0], s->size[1], 0, b->error)
                                                        : mor_geometry_capsule(s->size[0], s->size[1], b->error);
        if (!shape.geometry) return MOR_BAD_INPUT;
        code = mor_robot_add_shape(model, &shape, b->error);
        mor_geometry_release(shape.geometry);
    }
    return code;
}
