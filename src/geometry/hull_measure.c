/* Volume and facets of convex hulls, and hulls of fewer points.
 *
 * Volume: with an inner point c the facets are bases of pyramids, V = sum of area * height / 3; Qhull keeps both.
 *
 * Fewer points: begin with the extremes along 13 axes. While some point lies farther than the tolerance outside the
 * hull of those taken, take for each facet the point farthest outside it. Every point is then within the tolerance of
 * each facet plane it lies outside of, and only corners of the full hull are ever taken. */
#include "geometry/hull_measure.h"
#include "base/elementary.h"
#include "geometry/polyhedron.h"
#include "geometry/qhull.h"

#include <stdlib.h>
#include <string.h>

static const double FLAT = 1e-7; /* thickness over size below which points span no volume */

typedef struct reading {
    mor_arena* arena;
    mor_hull_measure* out;
    mor_vec3 centre;
    double size;
    bool volume_only;
} reading;

static void read_ring(qhT* qh, facetT* facet, mor_hull_measure* out)
{
    vertexT *vertex, **vertexp;
    setT* ring = qh_facet3vertex(qh, facet);
    int first = -1, previous = -1;
    FOREACHvertex_(ring)
    {
        int p = qh_pointid(qh, vertex->point);
        if (first < 0) {
            first = p;
        } else if (previous != first) {
            int* t = out->triangles[out->triangle_count++];
            t[0] = first;
            t[1] = previous;
            t[2] = p;
        }
        previous = p;
    }
    qh_settempfree(qh, &ring);
}

static bool read_measure(qhT* qh, void* user)
{
    reading* r = user;
    mor_hull_measure* out = r->out;
    facetT* facet;
    qh_getarea(qh, qh->facet_list);
    out->volume = qh->totvol * r->size * r->size * r->size;
    if (r->volume_only) return true;
    size_t corners = 0;
    FORALLfacets corners += (size_t)qh_setsize(qh, facet->vertices);
    out->planes = mor_arena_alloc(r->arena, ((size_t)qh->num_facets + 1) * sizeof *out->planes);
    out->triangles = mor_arena_alloc(r->arena, (corners + 1) * sizeof *out->triangles);
    if (!out->planes || !out->triangles) return false;
    FORALLfacets
    {
        mor_vec3 n = mor_v3(facet->normal[0], facet->normal[1], facet->normal[2]);
        out->planes[out->plane_count++] = (mor_plane){ n, mor_dot(n, r->centre) - facet->offset * r->size };
        read_ring(qh, facet, out);
    }
    return true;
}

bool mor_hull_measure_of(mor_arena* arena, const mor_vec3* points, int count, bool volume_only, mor_hull_measure* out)
{
    *out = (mor_hull_measure){ 0 };
    if (count < 4) return true;
    mor_vec3 low = points[0], high = points[0];
    for (int i = 1; i < count; i++) {
        low = mor_min3(low, points[i]);
        high = mor_max3(high, points[i]);
    }
    double size = mor_norm(mor_sub(high, low));
    if (!(size > 0.0) || mor_points_thickness(points, count) <= FLAT * size) return true;
    size_t mark = mor_arena_mark(arena);
    double* x = malloc(3 * (size_t)count * sizeof *x);
    if (!x) return false;
    mor_vec3 centre = mor_lerp(low, high, 0.5);
    for (int i = 0; i < count; i++) {
        x[3 * i] = (points[i].x - centre.x) / size;
        x[3 * i + 1] = (points[i].y - centre.y) / size;
        x[3 * i + 2] = (points[i].z - centre.z) / size;
    }
    char message[100];
    reading r = { arena, out, centre, size, volume_only };
    if (!mor_qhull_run(x, count, read_measure, &r, message, sizeof message)) { /* as good as flat */
        *out = (mor_hull_measure){ 0 };
        mor_arena_release(arena, mark);
    }
    free(x);
    return true;
}

static int compare_ints(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    return (x > y) - (x < y);
}

static int farthest(const mor_vec3* points, int count, mor_vec3 direction)
{
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < count; i++) {
        double d = mor_dot(direction, points[i]);
        if (d > most) {
            most = d;
            best = i;
        }
    }
    return best;
}

int mor_hull_coarse(mor_arena* arena, const mor_vec3* points, int count, double tolerance, int* kept)
{
    bool* taken = mor_arena_zero(arena, (size_t)count + 1, sizeof *taken);
    mor_vec3* few = mor_arena_alloc(arena, ((size_t)count + 1) * sizeof *few);
    if (!taken || !few) return -1;
    int n = 0;
    for (int d = 0; d < 27; d++) {
        if (d == 13) continue;
        int p = farthest(points, count, mor_v3(d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1));
        if (taken[p]) continue;
        taken[p] = true;
        kept[n++] = p;
    }
    for (bool more = true; more;) {
        more = false;
        mor_hull_measure hull;
        for (int i = 0; i < n; i++) few[i] = points[kept[i]];
        if (!mor_hull_measure_of(arena, few, n, false, &hull)) return -1;
        if (!hull.planes) { /* too flat to have sides: all of them */
            for (n = 0; n < count; n++) kept[n] = n;
            return mor_hull_measure_of(arena, points, count, false, &hull) ? (hull.planes ? count : 0) : -1;
        }
        for (int f = 0; f < hull.plane_count; f++) {
            int p = farthest(points, count, hull.planes[f].normal);
            if (taken[p] || mor_dot(hull.planes[f].normal, points[p]) - hull.planes[f].offset <= tolerance) continue;
            taken[p] = more = true;
            kept[n++] = p;
        }
    }
    qsort(kept, (size_t)n, sizeof *kept, compare_ints);
    return n;
}
