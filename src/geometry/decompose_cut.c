/* Where to cut a part: the plane that leaves the least volume in the two hulls.
 *
 * Candidates: planes across the axes of the mesh and across the principal axes of the part, at equal distances; and at
 * notches, the edges where the surface is concave, the planes of the two faces that meet there, which separate
 * polyhedra exactly, and the one between the two, which separates rings. Of the notches of a part those with the
 * greatest weight are taken and those that are cut near its centre of mass. The best of the equally spaced planes is
 * moved in halves of its distance to the neighbours.
 *
 * The cost of a plane is the volume that the two hulls have in excess, over that of the one before, and a little for
 * unequal halves: of two planes that remove the same the balanced one leaves fewer cuts to do. */
#include "base/elementary.h"
#include "geometry/decompose.h"
#include "geometry/surface.h"

#include <stdlib.h>

enum { PLACES = 5, NOTCHES = 2000, HEAVY = 3, CENTRAL = 3, REFINE = 3, CORNERS = 400 };
static const double SHARP = 0.85; /* cosine of the angle between faces: 32 degrees */

/* ------------------------------------------------------------------------------- notches */

static int compare_notches(const void* a, const void* b)
{
    const mor_notch *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static mor_plane plane_of(const mor_solid* s, int f)
{
    mor_vec3 a = s->points[s->faces[f][0]], b = s->points[s->faces[f][1]], c = s->points[s->faces[f][2]];
    mor_vec3 n = mor_normalize(mor_cross(mor_sub(b, a), mor_sub(c, a)), mor_v3(0, 0, 0));
    return (mor_plane){ n, mor_dot(n, a) };
}

bool mor_decompose_notches(mor_decomposer* d)
{
    const mor_solid* s = &d->coarse;
    int n = 3 * s->face_count;
    mor_edge_key* keys = mor_arena_alloc(d->arena, ((size_t)n + 1) * sizeof *keys);
    d->notch_count = 0;
    d->notches = mor_arena_alloc(d->arena, ((size_t)n / 2 + 1) * sizeof *d->notches);
    if (!keys || !d->notches) return false;
    for (int k = 0; k < n; k++) {
        int a = s->faces[k / 3][k % 3], b = s->faces[k / 3][(k + 1) % 3];
        keys[k] = (mor_edge_key){ a < b ? a : b, a < b ? b : a, k };
    }
    qsort(keys, (size_t)n, sizeof *keys, mor_compare_edge_keys);
    for (int i = 0; i + 1 < n; i++) {
        if (keys[i].low != keys[i + 1].low || keys[i].high != keys[i + 1].high) continue;
        int f = keys[i].index / 3, g = keys[i + 1].index / 3;
        mor_plane p = plane_of(s, f), q = plane_of(s, g);
        mor_vec3 top = s->points[s->faces[g][(keys[i + 1].index % 3 + 2) % 3]]; /* of g, across from the edge */
        double height = mor_dot(p.normal, top) - p.offset;
        mor_vec3 a = s->points[keys[i].low], b = s->points[keys[i].high];
        if (height > 1e-3 * s->diagonal && mor_norm(p.normal) > 0.5 && mor_norm(q.normal) > 0.5)
            d->notches[d->notch_count++] =
                (mor_notch){ mor_lerp(a, b, 0.5), { p, q }, height * mor_norm(mor_sub(b, a)), i };
        i++;
    }
    qsort(d->notches, (size_t)d->notch_count, sizeof *d->notches, compare_notches);
    if (d->notch_count > NOTCHES) d->notch_count = NOTCHES;
    return true;
}

/* ----------------------------------------------------------------------------- one plane */

typedef struct trial {
    mor_decomposer* d;
    const mor_cut_piece* piece;
    mor_vec3* side[2]; /* points of the two halves */
    double* height;    /* of the points above the plane */
    double excess;     /* volume of the hull beyond that of the part */
    double best;
    mor_plane plane;
    bool failed; /* out of memory */
} trial;

static double cost_of(trial* t, mor_plane plane)
{
    const mor_part* part = &t->piece->coarse;
    double eps = 1e-9 * t->d->solid.diagonal;
    int n[2] = { 0, 0 };
    for (int i = 0; i < part->point_count; i++) {
        double h = t->height[i] = mor_dot(plane.normal, part->points[i]) - plane.offset;
        if (h <= eps) t->side[0][n[0]++] = part->points[i];
        if (h >= -eps) t->side[1][n[1]++] = part->points[i];
    }
    for (int f = 0; f < part->face_count; f++)
        for (int k = 0; k < 3; k++) {
            int a = part->faces[f][k], b = part->faces[f][(k + 1) % 3];
            double ha = t->height[a], hb = t->height[b];
            if (a > b || !((ha < -eps && hb > eps) || (ha > eps && hb < -eps))) continue;
            mor_vec3 p = mor_lerp(part->points[a], part->points[b], ha / (ha - hb));
            t->side[0][n[0]++] = t->side[1][n[1]++] = p;
        }
    for (int i = 0; i < part->corner_count; i++) {
        double h = mor_dot(plane.normal, part->corners[i]) - plane.offset;
        if (h <= eps) t->side[0][n[0]++] = part->corners[i];
        if (h >= -eps) t->side[1][n[1]++] = part->corners[i];
    }
    mor_vec3 corners[CORNERS];
    int more = mor_part_corners(&t->d->solid, part, plane, corners, CORNERS);
    for (int i = 0; i < more; i++) t->side[0][n[0]++] = t->side[1][n[1]++] = corners[i];
    double volume[2];
    for (int k = 0; k < 2; k++) {
        mor_hull_measure hull;
        if (!mor_hull_measure_of(t->d->scratch, t->side[k], n[k], true, &hull)) t->failed = true;
        volume[k] = hull.volume;
    }
    double sum = volume[0] + volume[1], least = 1e-6 * t->piece->hull_volume;
    if (!(volume[0] > least) || !(volume[1] > least)) return INFINITY;
    return (sum - t->piece->hull_volume) / t->excess + t->d->balance * fabs(volume[0] - volume[1]) / sum;
}

static double try_plane(trial* t, mor_vec3 normal, double offset)
{
    mor_plane plane = { normal, offset };
    double cost = cost_of(t, plane);
    if (cost < t->best) {
        t->best = cost;
        t->plane = plane;
    }
    return cost;
}

static void try_axis(trial* t, mor_vec3 axis)
{
    const mor_part* part = &t->piece->coarse;
    double low = INFINITY, high = -INFINITY, best = INFINITY, place = 0.0;
    for (int i = 0; i < part->point_count; i++) {
        double h = mor_dot(axis, part->points[i]);
        low = mor_min(low, h);
        high = mor_max(high, h);
    }
    double step = (high - low) / (PLACES + 1);
    for (int k = 1; k <= PLACES; k++) {
        double cost = try_plane(t, axis, low + k * step);
        if (cost < best) {
            best = cost;
            place = low + k * step;
        }
    }
    if (!(best <= t->best)) return; /* another axis is better */
    for (int r = 0; r < REFINE; r++) {
        step *= 0.5;
        double middle = place;
        for (int side = -1; side <= 1; side += 2) {
            double cost = try_plane(t, axis, middle + side * step);
            if (cost < best) {
                best = cost;
                place = middle + side * step;
            }
        }
    }
}

/* The planes at a notch, without those tried before. */
static void try_notch(trial* t, const mor_notch* notch, mor_plane* tried, int* count)
{
    mor_vec3 between = mor_normalize(mor_sub(notch->plane[0].normal, notch->plane[1].normal), notch->plane[0].normal);
    mor_plane planes[3] = { notch->plane[0], notch->plane[1], { between, mor_dot(between, notch->middle) } };
    bool sharp = mor_dot(planes[0].normal, planes[1].normal) < SHARP;
    for (int k = sharp ? 0 : 2; k < 3; k++) {
        bool again = false;
        for (int j = 0; j < *count && !again; j++)
            again = mor_norm(mor_sub(tried[j].normal, planes[k].normal)) < 1e-3 &&
                    fabs(tried[j].offset - planes[k].offset) < 1e-3 * t->d->solid.diagonal;
        if (again) continue;
        tried[(*count)++] = planes[k];
        try_plane(t, planes[k].normal, planes[k].offset);
    }
}

static void try_notches(trial* t)
{
    const mor_part* part = &t->piece->coarse;
    double eps = 1e-6 * t->d->solid.diagonal, near[CENTRAL], heaviest = 0.0;
    mor_plane tried[3 * (HEAVY + CENTRAL)];
    const mor_notch* central[CENTRAL];
    int n = 0, heavy = 0, others = 0;
    for (int i = 0; i < t->d->notch_count; i++) {
        const mor_notch* notch = &t->d->notches[i];
        bool within = true;
        for (int k = 0; k < part->cell_count && within; k++)
            within = mor_dot(part->cell[k].normal, notch->middle) < part->cell[k].offset - eps;
        if (!within) continue;
        heaviest = mor_max(heaviest, notch->weight);
        if (notch->weight < 0.2 * heaviest) break; /* they are sorted */
        if (heavy++ < HEAVY) {
            try_notch(t, notch, tried, &n);
            continue;
        }
        mor_vec3 across = mor_sub(notch->plane[0].normal, notch->plane[1].normal);
        double distance = fabs(mor_dot(across, mor_sub(t->piece->mass.com, notch->middle))) / mor_norm(across);
        if (others == CENTRAL && distance >= near[CENTRAL - 1]) continue;
        int at = others < CENTRAL ? others++ : CENTRAL - 1;
        for (; at > 0 && near[at - 1] > distance; at--) {
            near[at] = near[at - 1];
            central[at] = central[at - 1];
        }
        near[at] = distance;
        central[at] = notch;
    }
    for (int i = 0; i < others; i++) try_notch(t, central[i], tried, &n);
}

bool mor_decompose_plane(mor_decomposer* d, const mor_cut_piece* piece, mor_plane* plane)
{
    size_t mark = mor_arena_mark(d->scratch);
    const mor_part* part = &piece->coarse;
    size_t room = (size_t)part->point_count + 3 * (size_t)part->face_count + (size_t)part->corner_count + CORNERS + 1;
    trial t = { .d = d, .piece = piece, .best = INFINITY };
    t.excess = mor_max(piece->hull_volume - piece->mass.mass, 1e-12 * piece->hull_volume);
    for (int k = 0; k < 2; k++) t.side[k] = mor_arena_alloc(d->scratch, room * sizeof **t.side);
    t.height = mor_arena_alloc(d->scratch, ((size_t)part->point_count + 1) * sizeof *t.height);
    if (t.side[0] && t.side[1] && t.height) {
        for (int k = 0; k < 3; k++) try_axis(&t, mor_v3(k == 0, k == 1, k == 2));
        double moments[3];
        mor_quat axes;
        mor_inertia_principal(&piece->mass.inertia, moments, &axes);
        mor_mat3 R = mor_quat_matrix(axes);
        if (moments[2] - moments[0] > 0.05 * moments[2])
            for (int k = 0; k < 3; k++) try_axis(&t, mor_v3(R.m[0][k], R.m[1][k], R.m[2][k]));
        try_notches(&t);
    }
    mor_arena_release(d->scratch, mark);
    *plane = t.plane;
    return !t.failed && t.best < INFINITY;
}
