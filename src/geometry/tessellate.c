/* Triangles of any bounded shape, for the eye: corners lie on the shape, faces
 * of polyhedra are cut into fans.
 *
 * Round shapes are turned about z: a profile (r, z) from the lower pole to the
 * upper, `ROUND` corners in a ring. */
#include "geometry/tessellate.h"
#include "base/elementary.h"

#include <assert.h>

enum { ROUND = 32, ARC = 8, PROFILE = 2 * ARC + 4 };
static const double PI = 3.14159265358979323846;

typedef struct profile {
    double r[PROFILE], z[PROFILE];
    int count;
} profile;

static void add(profile* p, double r, double z)
{
    p->r[p->count] = r;
    p->z[p->count++] = z;
}

/* A quarter of a circle of radius r about height z: from the pole (below) or to
 * it. */
static void add_arc(profile* p, double r, double z, bool upper)
{
    for (int i = 0; i <= ARC; i++) {
        double s, c;
        mor_sincos(0.5 * PI * i / ARC, &s, &c);
        add(p, upper ? r * c : r * s, upper ? z + r * s : z - r * c);
    }
}

static bool profile_of(const mor_geometry* g, profile* p)
{
    double r = g->size[0], l = g->size[1];
    switch (g->kind) {
    case MOR_SPHERE:
        add_arc(p, r, 0.0, false);
        add_arc(p, r, 0.0, true);
        return true;
    case MOR_ELLIPSOID:
        add_arc(p, 1.0, 0.0, false);
        add_arc(p, 1.0, 0.0, true);
        return true;
    case MOR_CAPSULE:
        add_arc(p, r, -0.5 * l, false);
        add_arc(p, r, 0.5 * l, true);
        return true;
    case MOR_CYLINDER:
        add(p, 0.0, -0.5 * l);
        add(p, r, -0.5 * l);
        add(p, r, 0.5 * l);
        add(p, 0.0, 0.5 * l);
        return true;
    case MOR_CONE:
        add(p, 0.0, -0.25 * l);
        add(p, r, -0.25 * l);
        add(p, 0.0, 0.75 * l);
        return true;
    default:
        return false;
    }
}

static bool turn(const mor_geometry* g, const profile* p, mor_arena* arena, mor_triangles* out)
{
    out->points = mor_arena_alloc(arena, (size_t)(p->count * ROUND) * sizeof *out->points);
    out->corners = mor_arena_alloc(arena, (size_t)(6 * (p->count - 1) * ROUND) * sizeof *out->corners);
    if (!out->points || !out->corners) return false;
    bool ellipsoid = g->kind == MOR_ELLIPSOID;
    for (int i = 0; i < p->count; i++)
        for (int k = 0; k < ROUND; k++) {
            double s, c;
            mor_sincos(2.0 * PI * k / ROUND, &s, &c);
            mor_vec3 x = mor_v3(p->r[i] * c, p->r[i] * s, p->z[i]);
            if (ellipsoid) x = mor_v3(x.x * g->size[0], x.y * g->size[1], x.z * g->size[2]);
            out->points[out->point_count++] = x;
        }
    for (int i = 0; i + 1 < p->count; i++)
        for (int k = 0; k < ROUND; k++) {
            int a = i * ROUND + k, b = i * ROUND + (k + 1) % ROUND, c = b + ROUND, d = a + ROUND;
            int* t = out->corners + 3 * out->count;
            if (p->r[i] > 0.0) {
                t[0] = a, t[1] = b, t[2] = c;
                t += 3;
                out->count++;
            }
            if (p->r[i + 1] > 0.0) {
                t[0] = a, t[1] = c, t[2] = d;
                out->count++;
            }
        }
    return true;
}

bool mor_tessellate(const mor_geometry* g, mor_arena* arena, mor_triangles* out)
{
    profile p = { .count = 0 };
    *out = (mor_triangles){ 0 };
    if (profile_of(g, &p)) return turn(g, &p, arena, out);
    const mor_polyhedron* P = g->polyhedron;
    if (!P) return true;
    int corners = P->face_start[P->face_count];
    out->points = P->vertices;
    out->point_count = P->vertex_count;
    out->corners = mor_arena_alloc(arena, 3 * (size_t)corners * sizeof *out->corners);
    if (!out->corners) return false;
    for (int f = 0; f < P->face_count; f++)
        for (int k = P->face_start[f] + 1; k + 1 < P->face_start[f + 1]; k++) {
            int* t = out->corners + 3 * out->count++;
            t[0] = P->face_vertices[P->face_start[f]];
            t[1] = P->face_vertices[k];
            t[2] = P->face_vertices[k + 1];
        }
    return true;
}
