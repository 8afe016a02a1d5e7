/* A chain as overlapping convex polygons, for exact contact.
 *
 * A chain bounds a solid on its right. It is cut into convex runs (rows of segments that turn right), which meet in
 * valleys, and each run becomes a closed polygon: its segments, two sides that go into the solid, and a floor.
 *
 *     valley    the last segment goes on along itself by delta, into the solid under the next run, and the side starts
 *               there, between the segment's direction and the bisector of the solid. So neighbours overlap: at the
 *               point of the valley a body sees the two segments and no side, and no gap opens below it
 *     cut       a run that turns by more than TURN, has more than EDGES segments, or whose polygon would leave the
 *               solid is cut at a ridge; the sides there go into the other half, so the halves overlap too
 *     open end  beyond it there is nothing, or the end of another chain, of which this one knows nothing. The side
 *               stands square to its own segment, or goes along the mean normal of the run if that leads farther in.
 *               Where two chains meet in a valley they overlap; in a ridge sharper than a right angle the side of one
 *               stands out of the slope of the other: draw such ground as one chain
 *
 * delta is a quarter of the distance from the valley to the nearest other segment. The floor lies 2 diameters down and
 * comes up by halves until no other segment of the chain is inside the polygon: cliffs, towers and overhangs keep their
 * air. Cost O(n^2) for n segments, once. */
#include "base/elementary.h"
#include "geometry/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EDGES = 40, HALVES_OF_RUN = 12, HALVES = 45 };
#define TURN 2.97 /* rad */
#define PI 3.14159265358979323846
#define SLANT 1.05 /* rad: most between a side at an open end and the mean normal */

typedef enum end_kind { END_OPEN, END_VALLEY, END_RIDGE } end_kind;

typedef struct cutter {
    const mor_polyline* C;
    bool closed; /* the last point is the first */
    double size;
    mor_chain_piece* pieces;
    mor_vec3 *points, *normals;
    int count, point_count;
} cutter;

static double cross2(mor_vec3 a, mor_vec3 b) { return a.x * b.y - a.y * b.x; }
static mor_vec3 unit(mor_vec3 v) { return mor_normalize(v, mor_v3(1, 0, 0)); }
/* Direction of segment i. */
static mor_vec3 along(const mor_polyline* C, int i) { return mor_v3(C->normals[i].y, -C->normals[i].x, 0); }

/* Segment before or after point i of the chain, or -1. */
static int segment_before(const cutter* k, int i) { return i > 0 ? i - 1 : k->closed ? k->C->edge_count - 1 : -1; }
static int segment_after(const cutter* k, int i) { return i < k->C->edge_count ? i : k->closed ? 0 : -1; }

static end_kind kind_of(const cutter* k, int i)
{
    int before = segment_before(k, i), after = segment_after(k, i);
    if (before < 0 || after < 0) return END_OPEN;
    return cross2(k->C->normals[before], k->C->normals[after]) >= 0.0 ? END_VALLEY : END_RIDGE;
}

static double distance_to(const mor_polyline* C, int i, mor_vec3 p)
{
    mor_vec3 e = mor_sub(C->points[i + 1], C->points[i]), d = mor_sub(p, C->points[i]);
    double t = mor_min(1.0, mor_max(0.0, mor_dot(d, e) / mor_dot(e, e)));
    return mor_norm(mor_madd(d, -t, e));
}

/* A quarter of the way from point i to the nearest segment that does not end there. */
static double room_at(const cutter* k, int i)
{
    int before = segment_before(k, i), after = segment_after(k, i);
    double least = k->size;
    for (int e = 0; e < k->C->edge_count; e++) {
        if (e == before || e == after) least = mor_min(least, mor_norm(mor_sub(k->C->points[e + 1], k->C->points[e])));
        else least = mor_min(least, distance_to(k->C, e, k->C->points[i]));
    }
    return 0.25 * least;
}

/* The side at an open end. */
static mor_vec3 open_side(mor_vec3 t, mor_vec3 up)
{
    mor_vec3 down = mor_neg(up), back = mor_neg(t), across = mor_madd(back, -mor_dot(back, down), down);
    if (!(mor_norm(across) > 1e-6)) return down;
    double between = mor_acos(mor_max(-1.0, mor_min(1.0, mor_dot(back, down))));
    double slant = mor_max(0.0, mor_min(SLANT, between - 0.5 * PI));
    return unit(mor_add(mor_scale(mor_cos(slant), down), mor_scale(mor_sin(slant), unit(across))));
}

/* Direction of the side at one end of a run: t leads out of the run along its own segment, out is the neighbour's
 * segment, leading away. `up` is the mean normal of the run. */
static mor_vec3 side_direction(end_kind kind, mor_vec3 t, mor_vec3 n, mor_vec3 neighbour, mor_vec3 neighbour_n,
                               mor_vec3 up)
{
    if (kind == END_OPEN) return open_side(t, up);
    mor_vec3 inward = mor_neg(mor_add(n, neighbour_n));
    inward = mor_norm(inward) > 1e-6 ? unit(inward) : t;
    return unit(mor_add(kind == END_VALLEY ? t : neighbour, inward));
}

/* Is some part of segment e inside the polygon by more than tol? */
static bool crosses(const mor_chain_piece* s, const mor_vec3* p, const mor_vec3* n, mor_vec3 a, mor_vec3 b, double tol)
{
    double from = 0.0, to = 1.0;
    for (int i = 0; i < s->count; i++) {
        double h0 = mor_dot(n[i], mor_sub(a, p[i])) + tol, h1 = mor_dot(n[i], mor_sub(b, p[i])) + tol;
        if (h0 >= 0.0 && h1 >= 0.0) return false;
        if (h0 < 0.0 && h1 < 0.0) continue;
        double t = h0 / (h0 - h1);
        if (h0 >= 0.0) from = mor_max(from, t);
        else to = mor_min(to, t);
        if (from >= to) return false;
    }
    return true;
}

/* Writes the polygon of segments first ... end-1 with its floor `depth` below the lowest point; false if another
 * segment of the chain is inside, or it is not convex. */
static bool write_piece(cutter* k, int first, int end, double depth)
{
    const mor_polyline* C = k->C;
    const int edges = end - first, count = edges + 3;
    mor_chain_piece* s = &k->pieces[k->count];
    *s = (mor_chain_piece){ .first = k->point_count, .count = count, .edge = first, .edges = edges };
    mor_vec3 *p = k->points + k->point_count, *n = k->normals + k->point_count;
    mor_vec3 up = mor_normalize(mor_add(C->normals[first], C->normals[end - 1]), C->normals[first]);
    for (int i = 0; i <= edges; i++) p[i] = C->points[first + i];
    const int at[2] = { first, end };
    mor_vec3 d[2];
    for (int side = 0; side < 2; side++) {
        int own = side ? end - 1 : first, other = side ? segment_after(k, end) : segment_before(k, first);
        end_kind kind = kind_of(k, at[side]);
        mor_vec3 t = side ? along(C, own) : mor_neg(along(C, own)), out = t, normal = C->normals[own];
        if (other >= 0) out = side ? along(C, other) : mor_neg(along(C, other)), normal = C->normals[other];
        d[side] = side_direction(kind, t, C->normals[own], out, normal, up);
        if (kind == END_VALLEY) p[side ? edges : 0] = mor_madd(p[side ? edges : 0], room_at(k, at[side]), t);
    }
    double low = HUGE_VAL;
    for (int i = 0; i <= edges; i++) low = mor_min(low, mor_dot(up, p[i]));
    for (int side = 0; side < 2; side++) {
        double sink = -mor_dot(up, d[side]);
        mor_vec3 from = p[side ? edges : 0];
        if (sink < 1e-3 && edges > 1) return false;
        sink = mor_max(sink, 1e-3);
        p[side ? edges + 1 : edges + 2] = mor_madd(from, (mor_dot(up, from) - low + depth) / sink, d[side]);
    }
    for (int i = 0; i < count; i++) {
        mor_vec3 e = unit(mor_sub(p[i + 1 < count ? i + 1 : 0], p[i]));
        n[i] = i < edges ? C->normals[first + i] : mor_v3(-e.y, e.x, 0);
    }
    for (int i = 0; i < count;
         i++) /* every point behind every line: also what turns by more than a circle is refused */
        for (int j = 0; j < count; j++)
            if (mor_dot(n[i], mor_sub(p[j], p[i])) > 1e-9 * k->size) return false;
    const int before = segment_before(k, first), after = segment_after(k, end);
    for (int e = 0; e < C->edge_count; e++)
        if ((e < first || e >= end) && e != before && e != after &&
            crosses(s, p, n, C->points[e], C->points[e + 1], 1e-9 * k->size))
            return false;
    return true;
}

static void cut_run(cutter* k, int first, int end)
{
    double turn = 0.0;
    for (int i = first + 1; i < end; i++)
        turn += mor_acos(mor_max(-1.0, mor_min(1.0, mor_dot(k->C->normals[i - 1], k->C->normals[i]))));
    bool whole = end - first == 1 || (turn < TURN && end - first <= EDGES), done = false;
    double depth = 2.0 * k->size;
    for (int h = 0; whole && !done && h < (end - first == 1 ? HALVES : HALVES_OF_RUN); h++, depth *= 0.5)
        done = write_piece(k, first, end, depth);
    if (!done && end - first > 1) {
        int middle = (first + end) / 2;
        cut_run(k, first, middle);
        cut_run(k, middle, end);
        return;
    }
    /* a single segment is written in any case: its last polygon is thinner than rounding */
    mor_chain_piece* s = &k->pieces[k->count++];
    k->point_count += s->count;
    s->low = s->high = k->points[s->first];
    for (int i = s->first; i < s->first + s->count; i++) {
        s->low = mor_min3(s->low, k->points[i]);
        s->high = mor_max3(s->high, k->points[i]);
    }
}

mor_chain_pieces* mor_chain_cut(const mor_polyline* C)
{
    const int n = C->edge_count;
    size_t room = 4 * (size_t)n;
    mor_chain_pieces* all = malloc(sizeof *all + (size_t)n * sizeof(mor_chain_piece) + 2 * room * sizeof(mor_vec3));
    if (!all) return NULL;
    mor_vec3 lower = C->points[0], upper = lower;
    for (int i = 0; i < C->point_count; i++) {
        lower = mor_min3(lower, C->points[i]);
        upper = mor_max3(upper, C->points[i]);
    }
    all->points = (mor_vec3*)(all + 1);
    all->normals = all->points + room;
    all->pieces = (mor_chain_piece*)(all->normals + room);
    cutter k = { .C = C,
                 .size = mor_norm(mor_sub(upper, lower)),
                 .pieces = all->pieces,
                 .points = all->points,
                 .normals = all->normals };
    k.closed = n > 2 && mor_norm(mor_sub(C->points[n], C->points[0])) <= 1e-10 * k.size;
    for (int first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && kind_of(&k, end) == END_RIDGE;) end++;
        cut_run(&k, first, end);
    }
    all->count = k.count;
    return all;
}
