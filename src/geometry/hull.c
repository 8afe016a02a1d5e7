/* Convex hulls with Qhull, handed to the polyhedron builder.
 *
 * The points go to Qhull moved to the centre of their bounds and divided by the diagonal, so its
 * tolerances mean the same at any size. Default options: facets that rounding makes non-convex are
 * merged (C-0), nothing is random (no joggling). The facets come back as loops over the input points;
 * each is turned so that its normal points outward and starts at its lowest vertex, and the facets are
 * sorted, so the result depends on the points only. The builder then merges what is coplanar at our
 * tolerance and checks the result like any other mesh.
 *
 * A. Barber, D. Dobkin, H. Huhdanpaa (1996), The quickhull algorithm for convex hulls, ACM TOMS 22(4). */
#include "base/elementary.h"
#include "geometry/mass.h"
#include "geometry/polyhedron.h"
#include "geometry/qhull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double mor_polyhedron_volume(const mor_polyhedron* polyhedron) { return mor_mass_polyhedron(polyhedron).mass; }

double mor_points_thickness(const mor_vec3* p, int n)
{
    int b = 0;
    double best = -1.0;
    for (int i = 0; i < n; i++) {
        double distance = mor_norm(mor_sub(p[i], p[0]));
        if (distance > best) {
            best = distance;
            b = i;
        }
    }
    mor_vec3 ab = mor_normalize(mor_sub(p[b], p[0]), mor_v3(1, 0, 0)), normal = { 0, 0, 0 };
    best = -1.0;
    for (int i = 0; i < n; i++) {
        mor_vec3 c = mor_cross(ab, mor_sub(p[i], p[0]));
        if (mor_norm(c) > best) {
            best = mor_norm(c);
            normal = mor_normalize(c, mor_v3(0, 0, 0));
        }
    }
    double low = 0.0, high = 0.0;
    for (int i = 0; i < n; i++) {
        double d = mor_dot(normal, mor_sub(p[i], p[0]));
        low = mor_min(low, d);
        high = mor_max(high, d);
    }
    return high - low;
}

typedef struct facet_loop {
    int start, size;
    const int* vertices; /* of all facets */
} facet_loop;

static int compare_loops(const void* a, const void* b)
{
    const facet_loop *x = a, *y = b;
    for (int k = 0; k < x->size && k < y->size; k++) {
        int p = x->vertices[x->start + k], q = y->vertices[y->start + k];
        if (p != q) return p < q ? -1 : 1;
    }
    return (x->size > y->size) - (x->size < y->size);
}

/* The facets of a finished hull; the arrays are malloc'ed. */
typedef struct facet_list {
    int *sizes, *loops, count;
} facet_list;

static bool read_facets(qhT* qh, void* list)
{
    facet_list* out = list;
    int **sizes = &out->sizes, **loops = &out->loops;
    int faces = qh->num_facets, corners = 0;
    facetT* facet;
    vertexT *vertex, **vertexp;
    FORALLfacets corners += qh_setsize(qh, facet->vertices);
    int* raw = malloc(((size_t)corners + 1) * sizeof *raw);
    facet_loop* order = malloc(((size_t)faces + 1) * sizeof *order);
    *sizes = malloc(((size_t)faces + 1) * sizeof **sizes);
    *loops = malloc(((size_t)corners + 1) * sizeof **loops);
    bool ok = raw && order && *sizes && *loops;
    int n = 0, f = 0;
    if (ok) {
        FORALLfacets
        {
            setT* ring = qh_facet3vertex(qh, facet);
            int begin = n, lowest = 0;
            double turn = 0.0;
            coordT *first = NULL, *previous = NULL;
            FOREACHvertex_(ring)
            {
                if (n - begin >= qh_setsize(qh, facet->vertices)) break;
                coordT* x = vertex->point;
                if (!first) first = x;
                else if (previous != first) {
                    mor_vec3 a = mor_v3(previous[0] - first[0], previous[1] - first[1], previous[2] - first[2]);
                    mor_vec3 b = mor_v3(x[0] - first[0], x[1] - first[1], x[2] - first[2]);
                    turn += mor_dot(mor_cross(a, b), mor_v3(facet->normal[0], facet->normal[1], facet->normal[2]));
                }
                previous = x;
                raw[n++] = qh_pointid(qh, x);
            }
            qh_settempfree(qh, &ring);
            int size = n - begin;
            if (turn < 0.0)
                for (int i = begin, j = n - 1; i < j; i++, j--) {
                    int t = raw[i];
                    raw[i] = raw[j];
                    raw[j] = t;
                }
            for (int k = 1; k < size; k++)
                if (raw[begin + k] < raw[begin + lowest]) lowest = k;
            for (int k = 0; k < size; k++) (*loops)[begin + k] = raw[begin + (lowest + k) % size];
            order[f++] = (facet_loop){ begin, size, raw };
        }
        memcpy(raw, *loops, (size_t)n * sizeof *raw);
        qsort(order, (size_t)f, sizeof *order, compare_loops);
        n = 0;
        for (int i = 0; i < f; i++) {
            (*sizes)[i] = order[i].size;
            for (int k = 0; k < order[i].size; k++) (*loops)[n++] = raw[order[i].start + k];
        }
        out->count = f;
    }
    free(raw);
    free(order);
    return ok;
}

bool mor_qhull_run(double* coordinates, int count, mor_qhull_reader read, void* user, char* message,
                   size_t message_size)
{
    char* log = NULL;
    size_t log_size = 0;
    FILE* sink = open_memstream(&log, &log_size);
    if (!sink) return false;
    qhT qh;
    qh_zero(&qh, sink);
    char command[] = "qhull C-0 Pp";
    bool ok = qh_new_qhull(&qh, 3, count, coordinates, False, command, NULL, sink) == 0;
    ok = ok && read(&qh, user);
    int left, total;
    qh_freeqhull(&qh, !qh_ALL);
    qh_memfreeshort(&qh, &left, &total);
    fclose(sink);
    if (!ok && log && *log) snprintf(message, message_size, "%.*s", (int)strcspn(log, "\n"), log);
    free(log);
    return ok;
}

mor_polyhedron* mor_polyhedron_hull(const char* shape, const mor_vec3* points, int count, double tolerance,
                                    mor_error* error)
{
    if (count < 4) {
        mor_fail(error, MOR_BAD_INPUT, "%s: %d points; at least 4 are needed to enclose a volume", shape, count);
        return NULL;
    }
    if (count > 10 * MOR_PIECE_POINTS_MAX) {
        mor_fail(error, MOR_BAD_INPUT, "%s: %d points; at most %d are accepted", shape, count,
                 10 * MOR_PIECE_POINTS_MAX);
        return NULL;
    }
    if (!mor_points_ok(shape, points, count, error)) return NULL;
    mor_vec3 lower = points[0], upper = points[0];
    for (int i = 1; i < count; i++) {
        lower = mor_min3(lower, points[i]);
        upper = mor_max3(upper, points[i]);
    }
    double size = mor_norm(mor_sub(upper, lower));
    if (!mor_length_ok(shape, "diagonal of its bounds", size, error)) return NULL;
    double thick = mor_points_thickness(points, count);
    if (thick <= 10 * tolerance * size) {
        mor_fail(error, MOR_BAD_INPUT,
                 "%s: the %d points are flat: %g m thick at a size of %g m; a hull needs points that are not coplanar",
                 shape, count, thick, size);
        return NULL;
    }
    coordT* x = malloc(3 * (size_t)count * sizeof *x);
    facet_list list = { 0 };
    mor_polyhedron* P = NULL;
    char message[200] = "";
    if (x) {
        mor_vec3 centre = mor_lerp(lower, upper, 0.5);
        for (int i = 0; i < count; i++) {
            x[3 * i] = (points[i].x - centre.x) / size;
            x[3 * i + 1] = (points[i].y - centre.y) / size;
            x[3 * i + 2] = (points[i].z - centre.z) / size;
        }
    }
    if (x && mor_qhull_run(x, count, read_facets, &list, message, sizeof message)) {
        int *sizes = list.sizes, *loops = list.loops, faces = list.count;
        /* only the points on the hull, so that the builder's limits count what matters */
        int corners = 0, used = 0;
        for (int f = 0; f < faces; f++) corners += sizes[f];
        int* number = calloc((size_t)count, sizeof *number);
        mor_vec3* kept = malloc((size_t)count * sizeof *kept);
        if (number && kept) {
            for (int k = 0; k < corners; k++) number[loops[k]] = 1;
            for (int i = 0; i < count; i++)
                if (number[i]) {
                    kept[used] = points[i];
                    number[i] = used++;
                }
            for (int k = 0; k < corners; k++) loops[k] = number[loops[k]];
            mor_face_loops in = { kept, used, sizes, loops, faces };
            P = mor_polyhedron_build(shape, &in, tolerance, false, NULL, error);
        } else {
            mor_fail(error, MOR_SYSTEM, "%s: out of memory", shape);
        }
        free(number);
        free(kept);
    } else if (message[0]) {
        mor_fail(error, MOR_BAD_INPUT, "%s: no convex hull of the %d points: %s", shape, count, message);
    } else { /* Qhull has nothing against the points */
        mor_fail(error, MOR_SYSTEM, "%s: out of memory", shape);
    }
    free(x);
    free(list.sizes);
    free(list.loops);
    return P;
}
