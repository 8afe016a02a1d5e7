/* The smooth shapes and everything that works on any shape: counting references, bounds, support
 * points, scaling.
 *
 * Mass properties at density 1, m = volume (see docs of the headers; textbook results):
 *   sphere    m = 4/3 pi r^3          J = 2/5 m r^2
 *   cylinder  m = pi r^2 l            J_zz = m r^2/2,  J_xx = m (3 r^2 + l^2)/12
 *   cone      m = pi r^2 h/3          J_zz = 3/10 m r^2,  J_xx = 3/20 m r^2 + 3/80 m h^2,
 *             centre of mass h/4 above the base: the origin of its frame
 *   capsule   cylinder a, sphere b in two halves moved apart by l:
 *             J_zz = m_a r^2/2 + 2/5 m_b r^2,
 *             J_xx = m_a (3 r^2 + l^2)/12 + m_b (2/5 r^2 + l^2/4 + 3/8 l r)
 *   disc      m = pi r^2 (per area)   J_zz = m r^2/2,  J_xx = J_yy = m r^2/4
 *
 * Support of a polyhedron: all vertices when there are few, else uphill along edges; on a convex
 * polyhedron a vertex without a higher neighbour is highest. */
#include "geometry/geometry.h"
#include "base/elementary.h"
#include "geometry/mass.h"
#include "geometry/polyhedron.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

enum { CLIMB_FROM = 64, SIDES_MAX = 10000 };

/* ------------------------------------------------------------------------ shared helpers */

void mor_note(mor_notes* notes, const char* format, ...)
{
    if (!notes || !notes->text || notes->size == 0) return;
    size_t used = strlen(notes->text);
    if (used + 3 >= notes->size) return;
    if (used) used += (size_t)snprintf(notes->text + used, notes->size - used, "; ");
    va_list args;
    va_start(args, format);
    vsnprintf(notes->text + used, notes->size - used, format, args);
    va_end(args);
}

bool mor_length_ok(const char* shape, const char* what, double value, mor_error* error)
{
    if (!isfinite(value) || value <= 0.0) {
        mor_fail(error, MOR_BAD_INPUT, "%s: the %s is %g; it must be a positive, finite number of metres", shape, what,
                 value);
        return false;
    }
    if (value < MOR_LENGTH_MIN || value > MOR_LENGTH_MAX) {
        mor_fail(error, MOR_BAD_INPUT, "%s: the %s is %g m; lengths from %g to %g m are accepted (wrong unit?)", shape,
                 what, value, MOR_LENGTH_MIN, MOR_LENGTH_MAX);
        return false;
    }
    return true;
}

bool mor_points_ok(const char* shape, const mor_vec3* points, int count, mor_error* error)
{
    for (int i = 0; i < count; i++) {
        mor_vec3 p = points[i];
        double largest = mor_max(fabs(p.x), mor_max(fabs(p.y), fabs(p.z)));
        if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) {
            mor_fail(error, MOR_BAD_INPUT, "%s: point %d (%g, %g, %g) is not finite", shape, i, p.x, p.y, p.z);
            return false;
        }
        if (largest > MOR_LENGTH_MAX) {
            mor_fail(error, MOR_BAD_INPUT,
                     "%s: point %d (%g, %g, %g) is farther than %g m from the origin (wrong unit?)", shape, i, p.x, p.y,
                     p.z, MOR_LENGTH_MAX);
            return false;
        }
    }
    return true;
}

mor_geometry* mor_geometry_new(mor_shape_kind kind, int dimension, const char* label, mor_error* error)
{
    mor_geometry* g = calloc(1, sizeof *g);
    if (!g) {
        mor_fail(error, MOR_SYSTEM, "out of memory for a %s", label);
        return NULL;
    }
    g->kind = kind;
    g->dimension = dimension;
    g->references = 1;
    snprintf(g->label, sizeof g->label, "%s", label);
    return g;
}

static double farthest(const mor_vec3* points, int count)
{
    double largest = 0.0;
    for (int i = 0; i < count; i++) largest = mor_max(largest, mor_norm(points[i]));
    return largest;
}

mor_geometry* mor_geometry_of_polyhedron(mor_polyhedron* polyhedron, const char* label, mor_error* error)
{
    if (!polyhedron) return NULL;
    mor_geometry* g = mor_geometry_new(MOR_POLYHEDRON, 3, label, error);
    if (!g) {
        mor_polyhedron_free(polyhedron);
        return NULL;
    }
    g->polyhedron = polyhedron;
    g->unit = mor_mass_polyhedron(polyhedron);
    g->radius = farthest(polyhedron->vertices, polyhedron->vertex_count);
    return g;
}

mor_geometry* mor_geometry_of_polyline(mor_shape_kind kind, mor_polyline* polyline, mor_error* error)
{
    mor_geometry* g = mor_geometry_new(kind, 2, kind == MOR_CHAIN ? "chain" : "polygon", error);
    if (!g) {
        free(polyline->pieces);
        free(polyline);
        return NULL;
    }
    g->polyline = polyline;
    if (kind == MOR_POLYGON) g->unit = mor_mass_polygon(polyline->points, polyline->point_count);
    g->radius = farthest(polyline->points, polyline->point_count);
    return g;
}

/* --------------------------------------------------------------------------- the makers */

mor_geometry* mor_geometry_sphere(double radius, mor_error* error)
{
    if (!mor_length_ok("sphere", "radius", radius, error)) return NULL;
    mor_geometry* g = mor_geometry_new(MOR_SPHERE, 3, "sphere", error);
    if (!g) return NULL;
    double m = 4.0 / 3.0 * PI * radius * radius * radius, J = 0.4 * m * radius * radius;
    g->size[0] = g->radius = radius;
    g->unit = (mor_mass){ m, { 0, 0, 0 }, mor_mat3_diag(J, J, J) };
    return g;
}

mor_geometry* mor_geometry_point(mor_error* error) { return mor_geometry_new(MOR_SPHERE, 3, "point", error); }

mor_geometry* mor_geometry_plane(mor_error* error)
{
    mor_geometry* g = mor_geometry_new(MOR_PLANE, 3, "plane", error);
    if (g) g->radius = INFINITY;
    return g;
}

mor_geometry* mor_geometry_box(double x, double y, double z, mor_error* error)
{
    if (!mor_length_ok("box", "x length", x, error) || !mor_length_ok("box", "y length", y, error) ||
        !mor_length_ok("box", "z length", z, error))
        return NULL;
    mor_vec3 points[8];
    for (int i = 0; i < 8; i++)
        points[i] = mor_v3(i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2);
    static const int sizes[6] = { 4, 4, 4, 4, 4, 4 };
    static const int loops[24] = { 0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6 };
    mor_face_loops faces = { points, 8, sizes, loops, 6 };
    return mor_geometry_of_polyhedron(mor_polyhedron_build("box", &faces, MOR_TOLERANCE_EXACT, false, NULL, error),
                                      "box", error);
}

mor_geometry* mor_geometry_capsule(double radius, double length, mor_error* error)
{
    if (!mor_length_ok("capsule", "radius", radius, error) || !mor_length_ok("capsule", "length", length, error))
        return NULL;
    mor_geometry* g = mor_geometry_new(MOR_CAPSULE, 3, "capsule", error);
    if (!g) return NULL;
    double r = radius, l = length, a = PI * r * r * l, b = 4.0 / 3.0 * PI * r * r * r;
    double Jz = a * r * r / 2 + 0.4 * b * r * r;
    double Jx = a * (3 * r * r + l * l) / 12 + b * (0.4 * r * r + l * l / 4 + 0.375 * l * r);
    g->size[0] = r;
    g->size[1] = l;
    g->radius = l / 2 + r;
    g->unit = (mor_mass){ a + b, { 0, 0, 0 }, mor_mat3_diag(Jx, Jx, Jz) };
    return g;
}

static mor_geometry* prism(double radius, double length, int sides, mor_error* error)
{
    mor_vec3* points = malloc(2 * (size_t)sides * sizeof *points);
    int* sizes = malloc(((size_t)sides + 2) * sizeof *sizes);
    int* loops = malloc(6 * (size_t)sides * sizeof *loops);
    mor_polyhedron* P = NULL;
    if (points && sizes && loops) {
        for (int i = 0; i < sides; i++) {
            double angle = 2.0 * PI * i / sides;
            points[i] = mor_v3(radius * mor_cos(angle), radius * mor_sin(angle), -length / 2);
            points[sides + i] = mor_v3(points[i].x, points[i].y, length / 2);
            sizes[i] = 4;
            int j = (i + 1) % sides, *side = loops + 4 * i;
            side[0] = i;
            side[1] = j;
            side[2] = sides + j;
            side[3] = sides + i;
            loops[4 * sides + i] = sides - 1 - i; /* bottom, seen from below */
            loops[5 * sides + i] = sides + i;
        }
        sizes[sides] = sizes[sides + 1] = sides;
        mor_face_loops faces = { points, 2 * sides, sizes, loops, sides + 2 };
        P = mor_polyhedron_build("prism", &faces, MOR_TOLERANCE_EXACT, false, NULL, error);
    } else {
        mor_fail(error, MOR_SYSTEM, "out of memory for a prism with %d sides", sides);
    }
    free(points);
    free(sizes);
    free(loops);
    return mor_geometry_of_polyhedron(P, "prism", error);
}

mor_geometry* mor_geometry_cylinder(double radius, double length, int sides, mor_error* error)
{
    const char* name = sides ? "prism" : "cylinder";
    if (!mor_length_ok(name, "radius", radius, error) || !mor_length_ok(name, "length", length, error)) return NULL;
    if (sides != 0 && (sides < 3 || sides > SIDES_MAX)) {
        mor_fail(error, MOR_BAD_INPUT, "prism: %d sides; give 3 to %d, or 0 for a smooth cylinder", sides, SIDES_MAX);
        return NULL;
    }
    if (sides) return prism(radius, length, sides, error);
    mor_geometry* g = mor_geometry_new(MOR_CYLINDER, 3, "cylinder", error);
    if (!g) return NULL;
    double r = radius, l = length, m = PI * r * r * l, Jx = m * (3 * r * r + l * l) / 12;
    g->size[0] = r;
    g->size[1] = l;
    g->radius = sqrt(r * r + l * l / 4);
    g->unit = (mor_mass){ m, { 0, 0, 0 }, mor_mat3_diag(Jx, Jx, m * r * r / 2) };
    return g;
}

mor_geometry* mor_geometry_cone(double radius, double height, mor_error* error)
{
    if (!mor_length_ok("cone", "radius", radius, error) || !mor_length_ok("cone", "height", height, error)) return NULL;
    mor_geometry* g = mor_geometry_new(MOR_CONE, 3, "cone", error);
    if (!g) return NULL;
    double r = radius, h = height, m = PI * r * r * h / 3, Jx = m * (3.0 / 20 * r * r + 3.0 / 80 * h * h);
    g->size[0] = r;
    g->size[1] = h;
    g->radius = mor_max(0.75 * h, sqrt(r * r + h * h / 16));
    g->unit = (mor_mass){ m, { 0, 0, 0 }, mor_mat3_diag(Jx, Jx, 0.3 * m * r * r) };
    return g;
}

mor_geometry* mor_geometry_ellipsoid(double a, double b, double c, mor_error* error)
{
    if (!mor_length_ok("ellipsoid", "x semi-axis", a, error) || !mor_length_ok("ellipsoid", "y semi-axis", b, error) ||
        !mor_length_ok("ellipsoid", "z semi-axis", c, error))
        return NULL;
    double least = mor_min(a, mor_min(b, c)), most = mor_max(a, mor_max(b, c));
    if (most > 1000.0 * least) {
        mor_fail(error, MOR_BAD_INPUT, "ellipsoid: semi-axis %g m is more than 1000 times semi-axis %g m", most, least);
        return NULL;
    }
    mor_geometry* g = mor_geometry_new(MOR_ELLIPSOID, 3, "ellipsoid", error);
    if (!g) return NULL;
    double m = 4.0 / 3.0 * PI * a * b * c;
    g->size[0] = a, g->size[1] = b, g->size[2] = c;
    g->radius = most;
    g->unit = (mor_mass){ m,
                          { 0, 0, 0 },
                          mor_mat3_diag(m * (b * b + c * c) / 5, m * (a * a + c * c) / 5, m * (a * a + b * b) / 5) };
    return g;
}

mor_geometry* mor_geometry_hull(const mor_vec3* points, int count, mor_error* error)
{
    return mor_geometry_of_polyhedron(mor_polyhedron_hull("hull", points, count, MOR_TOLERANCE_HULL, error), "hull",
                                      error);
}

mor_geometry* mor_geometry_mesh(const mor_vec3* points, int point_count, const int* face_sizes,
                                const int* face_vertices, int face_count, char* notes, size_t notes_size,
                                mor_error* error)
{
    mor_notes out = { notes, notes_size };
    if (notes && notes_size) notes[0] = '\0';
    mor_face_loops faces = { points, point_count, face_sizes, face_vertices, face_count };
    return mor_geometry_of_polyhedron(mor_polyhedron_build("mesh", &faces, MOR_TOLERANCE_MESH, true, &out, error),
                                      "mesh", error);
}

mor_geometry* mor_geometry_particle(mor_error* error) { return mor_geometry_new(MOR_PARTICLE, 2, "particle", error); }

mor_geometry* mor_geometry_disc(double radius, mor_error* error)
{
    if (!mor_length_ok("disc", "radius", radius, error)) return NULL;
    mor_geometry* g = mor_geometry_new(MOR_DISC, 2, "disc", error);
    if (!g) return NULL;
    double m = PI * radius * radius, J = m * radius * radius / 4;
    g->size[0] = g->radius = radius;
    g->unit = (mor_mass){ m, { 0, 0, 0 }, mor_mat3_diag(J, J, 2 * J) };
    return g;
}

mor_geometry* mor_geometry_custom(const mor_custom_shape* custom, void* user, const mor_mass* unit, double radius,
                                  int dimension, mor_error* error)
{
    assert(custom && custom->name && custom->bounds);
    if (dimension != 2 && dimension != 3) {
        mor_fail(error, MOR_BAD_INPUT, "%s: the dimension is %d; it must be 2 or 3", custom->name, dimension);
        return NULL;
    }
    if (isnan(radius) || radius < 0.0) {
        mor_fail(error, MOR_BAD_INPUT, "%s: the bounding radius is %g; it must not be negative", custom->name, radius);
        return NULL;
    }
    mor_geometry* g = mor_geometry_new(MOR_CUSTOM, dimension, custom->name, error);
    if (!g) return NULL;
    g->custom = custom;
    g->user = user;
    if (unit) g->unit = *unit;
    g->radius = radius;
    return g;
}

/* -------------------------------------------------------------------------- scaled copies */

static mor_mass scaled_mass(const mor_mass* unit, double s, int dimension)
{
    double volume = dimension == 3 ? s * s * s : s * s;
    mor_mass out = { volume * unit->mass, mor_scale(s, unit->com), unit->inertia };
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) out.inertia.m[i][j] *= volume * s * s;
    return out;
}

mor_geometry* mor_geometry_scaled(const mor_geometry* geometry, double s, mor_error* error)
{
    if (!isfinite(s) || s <= 0.0) {
        mor_fail(error, MOR_BAD_INPUT, "%s: the scale is %g; it must be positive and finite", geometry->label, s);
        return NULL;
    }
    double radius = s * geometry->radius;
    if (isfinite(radius) && geometry->radius > 0.0 && !mor_length_ok(geometry->label, "scaled radius", radius, error))
        return NULL;
    mor_geometry* g = NULL;
    if (geometry->kind == MOR_CUSTOM) {
        mor_fail(error, MOR_BAD_INPUT, "%s: a custom shape cannot be scaled; make it at the size it should have",
                 geometry->label);
        return NULL;
    }
    if (geometry->polyline) {
        const mor_polyline* old = geometry->polyline;
        mor_vec3* points = malloc((size_t)old->point_count * sizeof *points);
        if (!points) {
            mor_fail(error, MOR_SYSTEM, "out of memory for a %s", geometry->label);
            return NULL;
        }
        for (int i = 0; i < old->point_count; i++) points[i] = mor_scale(s, old->points[i]);
        g = geometry->kind == MOR_CHAIN ? mor_geometry_chain(points, old->point_count, error)
                                        : mor_geometry_polygon(points, old->point_count, error);
        free(points);
        return g;
    }
    g = mor_geometry_new(geometry->kind, geometry->dimension, geometry->label, error);
    if (!g) return NULL;
    if (geometry->polyhedron) {
        g->polyhedron = mor_polyhedron_scaled(geometry->polyhedron, s);
        if (!g->polyhedron) {
            free(g);
            mor_fail(error, MOR_SYSTEM, "out of memory for a %s", geometry->label);
            return NULL;
        }
    }
    for (int i = 0; i < 4; i++) g->size[i] = s * geometry->size[i];
    g->unit = scaled_mass(&geometry->unit, s, geometry->dimension);
    g->radius = radius;
    return g;
}

/* ------------------------------------------------------------------------------ lifetime */

mor_geometry* mor_geometry_retain(mor_geometry* geometry)
{
    assert(geometry && geometry->references > 0);
    geometry->references++;
    return geometry;
}

void mor_geometry_release(mor_geometry* geometry)
{
    if (!geometry) return;
    assert(geometry->references > 0);
    if (--geometry->references > 0) return;
    if (geometry->kind == MOR_CUSTOM && geometry->custom->destroy) geometry->custom->destroy(geometry->user);
    mor_polyhedron_free((mor_polyhedron*)geometry->polyhedron);
    if (geometry->polyline) free(geometry->polyline->pieces);
    free((mor_polyline*)geometry->polyline);
    free(geometry);
}

/* ------------------------------------------------------------------------- bounds, support */

static mor_aabb bounds_of_points(const mor_vec3* points, int count, const mor_pose* pose)
{
    mor_vec3 p = mor_pose_point(pose, points[0]);
    mor_aabb box = { p, p };
    for (int i = 1; i < count; i++) {
        p = mor_pose_point(pose, points[i]);
        box.lower = mor_min3(box.lower, p);
        box.upper = mor_max3(box.upper, p);
    }
    return box;
}

static mor_aabb bounds_about(mor_vec3 centre, mor_vec3 half)
{
    return (mor_aabb){ mor_sub(centre, half), mor_add(centre, half) };
}

/* The half-space is bounded on one side when its normal lies along a world axis. */
static mor_aabb bounds_of_plane(const mor_pose* pose)
{
    mor_vec3 n = mor_rotate(pose->rotation, mor_v3(0, 0, 1)), p = pose->position;
    mor_aabb box = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    if (n.y == 0 && n.z == 0) {
        if (n.x > 0) box.upper.x = p.x;
        else box.lower.x = p.x;
    } else if (n.x == 0 && n.z == 0) {
        if (n.y > 0) box.upper.y = p.y;
        else box.lower.y = p.y;
    } else if (n.x == 0 && n.y == 0) {
        if (n.z > 0) box.upper.z = p.z;
        else box.lower.z = p.z;
    }
    return box;
}

/* Half sizes of a disc of radius r with unit normal a: r sqrt(1 - a_i^2). */
static mor_vec3 disc_half(double r, mor_vec3 a)
{
    return mor_v3(r * sqrt(a.y * a.y + a.z * a.z), r * sqrt(a.x * a.x + a.z * a.z), r * sqrt(a.x * a.x + a.y * a.y));
}

mor_aabb mor_geometry_bounds(const mor_geometry* geometry, const mor_pose* pose)
{
    const mor_vec3 c = pose->position;
    const double r = geometry->size[0], l = geometry->size[1];
    mor_vec3 axis = { 0, 0, 0 }, along = axis;
    if (geometry->kind == MOR_CAPSULE || geometry->kind == MOR_CYLINDER || geometry->kind == MOR_CONE) {
        axis = mor_rotate(pose->rotation, mor_v3(0, 0, 1));
        along = mor_v3(fabs(axis.x) * l / 2, fabs(axis.y) * l / 2, fabs(axis.z) * l / 2);
    }
    switch (geometry->kind) {
    case MOR_SPHERE:
        return bounds_about(c, mor_v3(r, r, r));
    case MOR_DISC:
        return bounds_about(c, mor_v3(r, r, 0));
    case MOR_PARTICLE:
        return (mor_aabb){ c, c };
    case MOR_PLANE:
        return bounds_of_plane(pose);
    case MOR_CAPSULE:
        return bounds_about(c, mor_add(along, mor_v3(r, r, r)));
    case MOR_CYLINDER:
        return bounds_about(c, mor_add(along, disc_half(r, axis)));
    case MOR_CONE: {
        mor_aabb box = bounds_about(mor_madd(c, -0.25 * l, axis), disc_half(r, axis));
        mor_vec3 apex = mor_madd(c, 0.75 * l, axis);
        return (mor_aabb){ mor_min3(box.lower, apex), mor_max3(box.upper, apex) };
    }
    case MOR_ELLIPSOID: { /* half size along e_i: |D R' e_i| */
        mor_mat3 R = mor_quat_matrix(pose->rotation);
        double half[3];
        for (int i = 0; i < 3; i++)
            half[i] = mor_norm(mor_v3(R.m[i][0] * r, R.m[i][1] * l, R.m[i][2] * geometry->size[2]));
        return bounds_about(c, mor_v3(half[0], half[1], half[2]));
    }
    case MOR_POLYHEDRON: {
        const mor_polyhedron* P = geometry->polyhedron;
        if (!P->is_box) return bounds_of_points(P->vertices, P->vertex_count, pose);
        mor_mat3 R = mor_quat_matrix(pose->rotation);
        double half[3];
        for (int i = 0; i < 3; i++)
            half[i] = fabs(R.m[i][0]) * P->half.x + fabs(R.m[i][1]) * P->half.y + fabs(R.m[i][2]) * P->half.z;
        return bounds_about(c, mor_v3(half[0], half[1], half[2]));
    }
    case MOR_POLYGON:
    case MOR_CHAIN:
        return bounds_of_points(geometry->polyline->points, geometry->polyline->point_count, pose);
    default:
        return geometry->custom->bounds(geometry, pose);
    }
}

static mor_vec3 support_of_points(const mor_vec3* points, int count, mor_vec3 d)
{
    int best = 0;
    double most = mor_dot(points[0], d);
    for (int i = 1; i < count; i++) {
        double value = mor_dot(points[i], d);
        if (value > most) {
            most = value;
            best = i;
        }
    }
    return points[best];
}

static mor_vec3 climb(const mor_polyhedron* P, mor_vec3 d)
{
    int at = 0, next = 0;
    double most = mor_dot(P->vertices[0], d);
    do {
        at = next;
        for (int k = P->vertex_start[at]; k < P->vertex_start[at + 1]; k++) {
            const mor_edge* e = &P->edges[P->vertex_edges[k]];
            int other = e->tail == at ? e->head : e->tail;
            double value = mor_dot(P->vertices[other], d);
            if (value > most) {
                most = value;
                next = other;
            }
        }
    } while (next != at);
    return P->vertices[at];
}

/* The point of the circle of radius r in the plane z farthest in direction d. */
static mor_vec3 rim(double r, mor_vec3 d, double z)
{
    double n = sqrt(d.x * d.x + d.y * d.y);
    return n > 0.0 ? mor_v3(r * d.x / n, r * d.y / n, z) : mor_v3(r, 0, z);
}

mor_vec3 mor_ellipsoid_support(const mor_geometry* g, mor_vec3 d)
{
    const double* a = g->size;
    mor_vec3 s = mor_v3(a[0] * d.x, a[1] * d.y, a[2] * d.z);
    double length = mor_norm(s);
    return length > 0.0 ? mor_v3(a[0] * s.x / length, a[1] * s.y / length, a[2] * s.z / length) : mor_v3(a[0], 0, 0);
}

mor_vec3 mor_geometry_support(const mor_geometry* geometry, mor_vec3 direction)
{
    mor_vec3 d = direction;
    double r = geometry->size[0], l = geometry->size[1];
    switch (geometry->kind) {
    case MOR_SPHERE:
        return mor_scale(r, mor_normalize(d, mor_v3(1, 0, 0)));
    case MOR_CAPSULE: {
        mor_vec3 p = mor_scale(r, mor_normalize(d, mor_v3(1, 0, 0)));
        p.z += d.z >= 0.0 ? l / 2 : -l / 2;
        return p;
    }
    case MOR_CYLINDER:
        return rim(r, d, d.z >= 0.0 ? l / 2 : -l / 2);
    case MOR_CONE: {
        mor_vec3 base = rim(r, d, -0.25 * l), apex = mor_v3(0, 0, 0.75 * l);
        return mor_dot(apex, d) > mor_dot(base, d) ? apex : base;
    }
    case MOR_POLYHEDRON:
        return geometry->polyhedron->vertex_count > CLIMB_FROM
                   ? climb(geometry->polyhedron, d)
                   : support_of_points(geometry->polyhedron->vertices, geometry->polyhedron->vertex_count, d);
    case MOR_ELLIPSOID:
        return mor_ellipsoid_support(geometry, d);
    case MOR_PARTICLE:
        return mor_v3(0, 0, 0);
    case MOR_DISC:
        return rim(r, d, 0.0);
    case MOR_POLYGON:
        return support_of_points(geometry->polyline->points, geometry->polyline->point_count, d);
    default:
        assert(!"support points exist for convex bounded shapes only");
        return mor_v3(0, 0, 0);
    }
}
