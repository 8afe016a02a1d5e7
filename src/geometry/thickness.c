/* Least width of a shape.
 *
 * The width of a convex polyhedron is least between a face and a vertex, or between two edges; only the first is looked
 * at, which is at most twice as much. Where faces times vertices are many (MANY), its volume over the square of its
 * radius, times 0.3, is a bound that costs nothing. */
#include "geometry/thickness.h"

#include "base/elementary.h"

#include <math.h>

enum { MANY = 10000 };

static double between_faces(const mor_geometry* g)
{
    double least = HUGE_VAL;
    const int faces = g->polyhedron ? g->polyhedron->face_count : g->polyline->edge_count;
    for (int f = 0; f < faces; f++) {
        const mor_vec3* v = g->polyhedron ? g->polyhedron->vertices : g->polyline->points;
        mor_vec3 n = g->polyhedron ? g->polyhedron->normals[f] : g->polyline->normals[f];
        double top = g->polyhedron ? g->polyhedron->offsets[f] : mor_dot(n, g->polyline->points[f]), low = top;
        for (int i = 0; i < (g->polyhedron ? g->polyhedron->vertex_count : g->polyline->point_count); i++)
            low = mor_min(low, mor_dot(n, v[i]));
        least = mor_min(least, top - low);
    }
    return least;
}

double mor_geometry_thickness(const mor_geometry* g)
{
    switch (g->kind) {
    case MOR_SPHERE:
    case MOR_CAPSULE:
    case MOR_DISC:
        return 2.0 * g->size[0];
    case MOR_CYLINDER:
    case MOR_CONE:
        return mor_min(2.0 * g->size[0], g->size[1]);
    case MOR_ELLIPSOID:
        return 2.0 * mor_min(g->size[0], mor_min(g->size[1], g->size[2]));
    case MOR_POLYHEDRON:
        if (g->polyhedron->is_box)
            return 2.0 * mor_min(g->polyhedron->half.x, mor_min(g->polyhedron->half.y, g->polyhedron->half.z));
        if (g->polyhedron->face_count * g->polyhedron->vertex_count > MANY)
            return 0.3 * g->unit.mass / (g->radius * g->radius);
        return between_faces(g);
    case MOR_POLYGON:
        return between_faces(g);
    default:
        return HUGE_VAL;
    }
}
